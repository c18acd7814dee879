"""Calls to models that answer on demand, without the options that their servers refuse."""

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
from inspect_ai.model import GenerateConfig, Model

from podium.hosts.inspect_ai.judging.call_control import cause_of
from podium.hosts.inspect_ai.judging.call_settings import FIRST_CALL_TIMEOUT, SHOWN_OPTIONS
from podium.hosts.inspect_ai.judging.judge_models import has_batches
from podium.hosts.inspect_ai.judging.refused_options import (
    model_without,
    refused_option,
    without_options,
)
from podium.printable import tell

T = TypeVar("T")


class OptionTrials:
    """What the calls of a run have shown: which options each model refuses.

    Each option is tried once by model, and left out of all later calls.

    Attributes:
        refused: the server's words by option, by name of the model.
    """

    def __init__(self) -> None:
        self.refused: dict[str, dict[str, str]] = defaultdict(dict)
        self._locks: dict[str, anyio.Lock] = defaultdict(anyio.Lock)
        self._has_called: set[str] = set()

    async def call(
        self,
        name: str,
        model: Model,
        config: GenerateConfig,
        ask: Callable[[Model, GenerateConfig], Awaitable[T]],
    ) -> T:
        """Make a call without the options that the model refuses, and return its answer.

        If the server refuses an option, the call is repeated without it, and a message is printed.
        Any other error is raised. A model's first call is made alone, so that not all calls that
        begin at the same time try the option, unless it comes into a batch. It is waited for 30
        seconds.

        Args:
            name: name of the model in messages and in `refused`.
            model: the model, whose own settings may have options, too.
            config: settings of the call.
            ask: makes the call with a model and settings.
        """
        refused = self.refused[name]
        async with self._first_alone(name, model):
            while True:
                plain = model_without(model, refused)
                tried = without_options(config, refused)
                try:
                    return await ask(plain, tried)
                except Exception as error:
                    option = refused_option(plain.config.merge(tried), error)
                    if option is None:
                        raise
                    why = f"its server says: {cause_of(error)}"
                if option not in refused:
                    shown = SHOWN_OPTIONS[option]
                    tell(f"{name} takes no {shown} ({why}): it is asked without in this run")
                refused[option] = why

    @asynccontextmanager
    async def _first_alone(self, name: str, model: Model) -> AsyncIterator[None]:
        """Let the body run alone if it makes a model's first call, outside of batches."""
        is_alone = False
        if name not in self._has_called and not has_batches(model):
            with anyio.move_on_after(FIRST_CALL_TIMEOUT):
                await self._locks[name].acquire()
                is_alone = True
        if is_alone and name in self._has_called:
            self._locks[name].release()
            is_alone = False
        try:
            yield
        finally:
            self._has_called.add(name)
            if is_alone:
                self._locks[name].release()
