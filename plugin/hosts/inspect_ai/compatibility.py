"""Where podium adapts to Inspect: to what older versions record or lack, and to how its command shows errors."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any

import click
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalResults, EvalSample, EvalScore
from inspect_ai.model import BatchConfig, Model
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.scorer import Score
from rich.markup import escape

from podium.errors import PodiumError
from podium.printable import printable

ATTACHMENT = "attachment://"
HAS_REASON = "reason" in signature(Score.unscored).parameters
"""Whether a sample without a score has a field for the reason: 0.3.250 has none."""


def flatten_arguments(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments as they were typed.

    Inspect 0.3.250 hands open-ended arguments over only under the name `kwargs`, and records `**kwargs` as one
    argument of that name, a level deeper with every replay of a log.

    >>> flatten_arguments({"kwargs": {"kwargs": {"seed": 1}, "tie": True}})
    {'tie': True, 'seed': 1}
    """
    own = {name: value for name, value in kwargs.items() if name != "kwargs"}
    inner = kwargs.get("kwargs")
    return {**own, **flatten_arguments(inner)} if isinstance(inner, Mapping) else dict(kwargs)


def score_without_value(
    reason: str, explanation: str, *, answer: str | None = None, metadata: dict[str, Any] | None = None
) -> Score:
    """Return a score that Inspect leaves out of metrics.

    Args:
        reason: `grader_failed` or `scoring_failed`, Inspect's words.
    """
    more = {"reason": reason} if HAS_REASON else {}
    return Score.unscored(answer=answer, explanation=explanation, metadata=metadata, **more)


def kept_in_store(sample: EvalSample, name: str) -> Any:
    """Return what a solver kept in a sample's store; None where it kept nothing.

    Of a sample that a killed run had ended and not yet written, Inspect restores the events, and not the store.
    """
    if name in sample.store or not sample.events:
        return sample.store.get(name)
    changes = [change for event in sample.events if event.event == "store" for change in event.changes]
    values = [change.value for change in changes if change.path == f"/{name}"]
    return _with_attachments(values[-1], sample.attachments) if values else None


def _with_attachments(value: Any, attachments: Mapping[str, str]) -> Any:
    """Return a value with the texts in their places that a log keeps apart because they are long."""
    if isinstance(value, Mapping):
        return {key: _with_attachments(part, attachments) for key, part in value.items()}
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT), value)
    return value


def set_headline(results: EvalResults, score: EvalScore, metric: str) -> None:
    """Make a metric the one that lists of logs show; 0.3.250 shows the first metric of the first score."""
    if "headline" in EvalResults.model_fields:
        from inspect_ai.log import HeadlineMetric

        results.headline = HeadlineMetric(scorer=score.scorer, score=score.name, metric=metric)


def batch_of(judge: Model) -> bool | int | BatchConfig | None:
    """Return how a judge's calls are batched: as its role says, else as `--batch`, which Inspect keeps from roles."""
    return active_generate_config().batch if judge.config.batch is None else judge.config.batch


def option_typed(name: str) -> Any:
    """Return an option of the command that runs now, as `log_format`; None where no command runs, or none was given."""
    command = click.get_current_context(silent=True)
    return None if command is None else command.params.get(name)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Let podium's own errors through as ones that Inspect prints without a traceback; they stay what they are."""
    try:
        yield
    except PodiumError as error:
        kind = type(type(error).__name__, (type(error), PrerequisiteError), {"__module__": type(error).__module__})
        plain: Exception = Exception.__new__(kind)
        plain.args = error.args
        plain.__dict__.update(error.__dict__, message=escape(printable(f"podium: {error}")))
        raise plain from None
