"""lm-eval without its progress bars and notes: every call of a judge would bring its own."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

_HUSHED = ContextVar("hushed", default=False)
"""Whether this thread is to be quiet; others go on as they are."""


@contextmanager
def silence() -> Iterator[None]:
    """Let lm-eval's models, and what saves its results, say no more than warnings in this thread."""
    _teach_silence()
    before = _HUSHED.set(True)
    try:
        yield
    finally:
        _HUSHED.reset(before)


@cache
def _teach_silence() -> None:
    """Make lm-eval heed `silence`; once."""
    from lm_eval.loggers import evaluation_tracker
    from lm_eval.models import api_models

    bar = api_models.tqdm

    api_models.tqdm = lambda *own, **more: bar(*own, **{**more, **({"disable": True} if _HUSHED.get() else {})})
    for logger in (api_models.eval_logger, evaluation_tracker.eval_logger):
        logger.addFilter(lambda record: not _HUSHED.get() or record.levelno >= logging.WARNING)
