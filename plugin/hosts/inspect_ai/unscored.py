"""A sample without a score, with the reason in a field of its own where this Inspect has one (0.3.250 has none)."""

from inspect import signature
from typing import Any

from inspect_ai.scorer import Score

HAS_REASON = "reason" in signature(Score.unscored).parameters


def unscored(
    reason: str, explanation: str | None, *, answer: str | None = None, metadata: dict[str, Any] | None = None
) -> Score:
    """Return a score that Inspect leaves out of metrics.

    Args:
        reason: `grader_failed` or `scoring_failed`, Inspect's words.
    """
    more = {"reason": reason} if HAS_REASON else {}
    return Score.unscored(answer=answer, explanation=explanation, metadata=metadata, **more)
