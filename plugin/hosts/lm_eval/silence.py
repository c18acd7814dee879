"""lm-eval without its progress bars and notes: every call of a judge would bring its own."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Hushed(threading.local):
    """Whether this thread is to be quiet; others go on as they are."""

    here = False


_HUSHED = _Hushed()


@contextmanager
def silence() -> Iterator[None]:
    """Let lm-eval's models, and what saves its results, say no more than warnings in this thread."""
    _teach_silence()
    before, _HUSHED.here = _HUSHED.here, True
    try:
        yield
    finally:
        _HUSHED.here = before


def _teach_silence() -> None:
    """Make lm-eval heed `silence`; once."""
    from lm_eval.loggers import evaluation_tracker
    from lm_eval.models import api_models

    if not isinstance(api_models.tqdm, _Bar):
        api_models.tqdm = _Bar(api_models.tqdm)
        for logger in (api_models.eval_logger, evaluation_tracker.eval_logger):
            logger.addFilter(lambda record: not _HUSHED.here or record.levelno >= logging.WARNING)


class _Bar:
    """A progress bar as lm-eval makes it, hidden where it is to be silent."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.bar(*arguments, **options, **({"disable": True} if _HUSHED.here else {}))
