"""What Inspect shows of a battle beside its credit: who met, whether it is a flip or unparsed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from podium.hosts.inspect_ai.logs.podium_entries import (
    BattleMetadata,
    credit_in,
    parse_sample,
    round_for_lists,
    verdict_rows_in,
)
from podium.scorers.reply import NOT_SHOWN

CREDIT = "credit"
"""Key of the credit of the first model in the value of a score."""
FLIP = "flip"
"""Key of the share of order pairs with different winners in the value of a score."""
UNPARSED = "unparsed"
"""Key in the value of a score: 1 if the battle is unparsed, 0 if it has a credit."""
UNKNOWN = float("nan")
"""A figure that is not known. Inspect leaves it out of metrics and reducers."""


def has_shown_judgment(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a judge saw the responses of a battle, by the rows of its judgments.

    True if a row has no reason, or one that is not in `NOT_SHOWN`. False without rows.
    """
    return any(row.get("reason") not in NOT_SHOWN for row in rows)


def parts_of_outcome(score: Score) -> dict[str, float]:
    """Return credit, flip and unparsed of the battle in a score whose value is the credit.

    Returns:
        All three are NaN if no judge saw the responses. Else they are, by key:

        - `CREDIT`: the credit of the first model, in [0, 1]; NaN if the battle is unparsed.
        - `FLIP`: the share of the order pairs with different winners, in [0, 1]; NaN unless a judge
          gave a readable verdict in both orders.
        - `UNPARSED`: 1 if the battle is unparsed, 0 if it has a credit.
    """
    rows = verdict_rows_in(score)
    if not has_shown_judgment(rows):
        return {CREDIT: UNKNOWN, FLIP: UNKNOWN, UNPARSED: UNKNOWN}
    credit = credit_in(score)
    return {
        CREDIT: UNKNOWN if credit is None else round_for_lists(credit),
        FLIP: round_for_lists(share_of_flips(rows)),
        UNPARSED: float(credit is None),
    }


def share_of_flips(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return which share of the order pairs of a battle have different winners.

    Args:
        rows: a row per judgment. Those of identical responses, which no judge was asked about, are
            left out.

    Returns:
        A share in [0, 1]: 0 or 1 for one judge who was asked once in each order. An order pair is
        the two judgments of a judge in the same repeat; pairs with an unparsed judgment are left
        out. NaN if no pair is left.
    """
    pairs: dict[tuple[Any, Any], dict[str, float]] = {}
    for row in rows:
        credit = row["credit"] if row.get("hard_credit") is None else row["hard_credit"]
        if credit is not None and row["order"] in ("ab", "ba") and not row.get("identical"):
            pair = pairs.setdefault((row["judge"], row["repeat"]), {})
            pair[row["order"]] = credit
    whole = [pair for pair in pairs.values() if len(pair) == 2]
    if not whole:
        return UNKNOWN
    flips = 0
    for pair in whole:
        # The winners differ if one credit is above 0.5 and the other below.
        has_flipped = (pair["ab"] - 0.5) * (pair["ba"] - 0.5) < 0
        flips += has_flipped
    return flips / len(whole)


def _counting_metric(name: str, part: str) -> Callable[[], Metric]:
    """Make a metric that counts the battles of which a part of the value is above 0.

    Args:
        name: name of the metric.
        part: key of the part, which is NaN where it is not known.
    """

    # The annotation tells Inspect that this metric takes scores with their samples.
    def count(scores: list[SampleScore]) -> float:
        """Return the number of battles whose part is above 0. NaN does not count."""
        values = [_parts_of_value(each.score).get(part, UNKNOWN) for each in scores]
        return float(sum(value > 0 for value in values))

    return metric(name=name, scores="unreduced")(lambda: count)


def _parts_of_value(score: Score) -> Mapping[str, Any]:
    """Return the parts of a score's value by name; empty if the value is a number or a text."""
    return score.value if isinstance(score.value, Mapping) else {}


count_flips = _counting_metric("flips", FLIP)
"""Metric: number of battles of which the two orders have different winners."""
count_unparsed_battles = _counting_metric("unparsed", UNPARSED)
"""Metric: number of battles without a readable verdict."""


@scorer(metrics=[count_unparsed_battles(), count_flips()])
def battle(short_names: Mapping[str, str] | None = None) -> Scorer:
    """Show what the score of a battle by `verdict` does not: both models, flip and unparsed.

    They are columns of Inspect's list of samples. The scorer follows `verdict`, whose score it
    reads; samples without a single battle have no score by it.

    Args:
        short_names: names that are shown in place of models' whole names, because columns are
            narrow.
    """
    short = short_names or {}

    async def score(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001
        """Return the models of a battle and what came of it as one score.

        The result is None if the sample is not a single battle, or has no score by `verdict`.
        """
        sample = parse_sample(state.metadata)
        verdict = (state.scores or {}).get("verdict")
        if not isinstance(sample, BattleMetadata) or verdict is None:
            return None
        outcome = parts_of_outcome(verdict)
        value: dict[str, str | float | None] = {
            "model_a": short.get(sample.model_a, sample.model_a),
            "model_b": short.get(sample.model_b, sample.model_b),
            FLIP: outcome[FLIP],
            UNPARSED: outcome[UNPARSED],
        }
        where = f"The score by verdict is the credit of {sample.model_a}."
        return Score(value=cast(Value, value), answer=verdict.answer, explanation=where)

    return score
