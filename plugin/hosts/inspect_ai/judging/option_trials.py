"""Calls to models that answer on demand, without the options that their servers refuse."""

from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import TypeVar

from inspect_ai.model import GenerateConfig, Model

from podium.hosts.inspect_ai.judging.first_calls import FirstCalls
from podium.hosts.inspect_ai.judging.judge_models import has_batches
from podium.hosts.inspect_ai.judging.refused_options import (
    leave_out_refused,
    model_without,
    refused_option,
    without_options,
)

T = TypeVar("T")


class OptionTrials:
    """What the calls of a run have shown: which options each model refuses.

    Each option is tried once by model, and left out of all later calls.

    Attributes:
        refused: by name of the model, the options that it refuses, each with the server's words.
    """

    def __init__(self) -> None:
        self.refused: dict[str, dict[str, str]] = defaultdict(dict)
        self._first_calls: dict[str, FirstCalls] = defaultdict(FirstCalls)

    async def call(
        self,
        name: str,
        model: Model,
        config: GenerateConfig,
        ask: Callable[[Model, GenerateConfig], Awaitable[T]],
    ) -> T:
        """Make a call without the options that the model refuses, and return its answer.

        If the server refuses an option, the call is repeated without it, and a message is printed.
        Any other error is raised. A model's first call is made alone (`FirstCalls`), unless it
        comes into a batch.

        Args:
            name: name of the model in messages and in `refused`.
            model: the model, whose own settings may have options, too.
            config: settings of the call.
            ask: makes the call with a model and settings.
        """
        refused = self.refused[name]
        wait = self._first_calls[name].wait_for_first_call
        async with nullcontext() if has_batches(model) else wait():
            while True:
                plain = model_without(model, refused)
                tried = without_options(config, refused)
                try:
                    return await ask(plain, tried)
                except Exception as error:
                    option = refused_option(plain.config.merge(tried), error)
                    if option is None:
                        raise
                    leave_out_refused(refused, name, option, error)
