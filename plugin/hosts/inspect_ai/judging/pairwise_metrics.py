"""The metrics of `pairwise`: win rate with its standard error, and numbers of battles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspect_ai.scorer import Metric, SampleScore, Score, Value, metric

from podium.errors import NotIdentifiedError
from podium.hosts.inspect_ai.judging.battle_outcomes import UNKNOWN, has_shown_judgment
from podium.hosts.inspect_ai.logs.podium_entries import battles_in_score, verdict_rows_in

if TYPE_CHECKING:
    from podium.data.battles import Battles

AGAINST = " against "
"""Stands between a figure and the name of its reference if there are several references."""
NUMBERS = ("judged", "unparsed", "ties", "identical", "flips", "both_orders")
"""Names of the figures of a reference that count battles; see `_reference_figures`."""


@metric(name="pairwise_results", scores="unreduced")
def pairwise_results() -> Metric:
    """Return the metric of `pairwise`, whose value has the figures of `_reference_figures` by name.

    Win rate and error are those of `podium rank --ranker win-rate` with the same `--one-sided`.

    Epochs of a sample are one group of the standard error. If there are several references, each
    has its own figures, and their names end with ` against NAME`.
    """

    # The annotation tells Inspect that this metric takes scores with their samples.
    def results(scores: list[SampleScore]) -> Value:
        """Return the figures by name; with several references, the reference is part of the name.

        The figures are those of `_reference_figures`, and `missing`: the number of battles that no
        judge saw. `unparsed` and `missing` are left out if the value of a score is a single number.
        """
        plain_scores = [each.score for each in scores]
        # Inspect keeps scores from metrics whose value is a single NaN, so that unparsed and
        # missing battles can be counted only if each value has named parts.
        is_whole = all(isinstance(score.value, Mapping) for score in plain_scores)
        references = _battles_by_reference(plain_scores)
        figures: dict[str, float] = {}
        for name, battles in references.items():
            ending = f"{AGAINST}{name}" if len(references) > 1 else ""
            figures_of_reference = _reference_figures(battles, name)
            if is_whole:
                figures_of_reference |= {"missing": float(battles.missing)}
            else:
                figures_of_reference.pop("unparsed")
            figures |= {
                f"{figure}{ending}": value for figure, value in figures_of_reference.items()
            }
        return dict(figures)

    return results


@dataclass
class ReferenceBattles:
    """The battles against one reference.

    Attributes:
        rows: a row per judgment of a battle that a judge saw.
        missing: number of battles that no judge saw.
        merging: how judgments are merged, as the battles record it: the keys of `DEFAULT_MERGING`
            (`pairwise_scorer`) whose values differ from these defaults.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    missing: int = 0
    merging: dict[str, Any] = field(default_factory=dict)


def _battles_by_reference(scores: Sequence[Score]) -> dict[str, ReferenceBattles]:
    """Return the battles in scores by the name of the reference (model_b)."""
    references: dict[str, ReferenceBattles] = {}
    for score in scores:
        rows = verdict_rows_in(score)
        for battle in battles_in_score(score):
            name = battle["model_b"]
            battles = references.setdefault(name, ReferenceBattles())
            battles.merging |= battle.get("merging") or {}
            rows_of_reference = [row for row in rows if row["model_b"] == name]
            if has_shown_judgment(rows_of_reference):
                battles.rows += rows_of_reference
            else:
                battles.missing += 1
    return references


def _reference_figures(battles_of_reference: ReferenceBattles, reference: str) -> dict[str, float]:
    """Return win rate, standard error, and numbers of battles against a reference, by name.

    `win_rate` is the win rate of the other model, counting ties as half, and `stderr` its standard
    error. `judged` counts battles with a credit, ties of identical responses among them, and
    `unparsed` those without a readable verdict. `ties` counts battles whose verdict is a tie; of
    two orders with different winners, the verdict is a tie. `identical` counts battles of identical
    responses, `both_orders` those with a readable verdict in both orders, and `flips` those of them
    with different winners. `flip_share` is `flips` over `both_orders`.

    Without battles that a judge saw, all numbers are 0. `win_rate`, `stderr` and `flip_share` are
    NaN if they are not known.
    """
    if not battles_of_reference.rows:
        rates = {"win_rate": UNKNOWN, "stderr": UNKNOWN}
        numbers = dict.fromkeys(NUMBERS, 0.0)
        return {**rates, **numbers, "flip_share": UNKNOWN}
    battles = _read_rows(battles_of_reference)
    counts = battles.counts()
    swaps = battles.swaps()
    flips = swaps.flip if swaps else 0
    both_orders = swaps.readable if swaps else 0
    rate, error = _rate_with_error(battles, reference)
    return {
        "win_rate": rate,
        "stderr": error,
        "judged": float(counts.readable),
        "unparsed": float(counts.unparsed),
        "ties": float((battles.outcomes == 0.5).sum()),
        "identical": float(counts.identical),
        "flips": float(flips),
        "both_orders": float(both_orders),
        "flip_share": flips / both_orders if both_orders else UNKNOWN,
    }


def _read_rows(battles: ReferenceBattles) -> "Battles":
    """Return the battles of `battles.rows`, with their orders and the judges of a jury merged.

    Judgments are merged as `battles.merging` says. There must be at least one row.
    """
    import pandas as pd

    from podium.data.reading.judgments import read_battles
    from podium.tournaments.judge_rotation import jury_cells

    table = pd.DataFrame(battles.rows)
    judges = [*dict.fromkeys(table["judge"])]
    if len(judges) > 1:
        rule = battles.merging.get("rule") or "mean"
        table = table.assign(**jury_cells(judges, rule, battles.merging.get("quorum")))
    return read_battles(table, one_sided=battles.merging.get("one_sided"))


def _rate_with_error(battles: "Battles", reference: str) -> tuple[float, float]:
    """Return the win rate against a reference and its standard error; each NaN if unknown.

    The battles must be those of one model against the reference.
    """
    from podium.ranking.rank_battles import rank

    try:
        [standings] = rank(battles, "win-rate", anchor=reference).standings
    except NotIdentifiedError:
        # No verdict is readable.
        return UNKNOWN, UNKNOWN
    [entry] = [each for each in standings.entries if each.model != reference]
    rate = UNKNOWN if entry.score is None else entry.score
    error = UNKNOWN if entry.se is None else entry.se
    return rate, error
