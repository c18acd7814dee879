"""Which battles humans should judge next, and how many labels leave which error."""

from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.data.formats.label_sheet import SheetRow
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.calibration.accuracy import MEAN_OF_NORMAL
from podium.rankers.calibration.human_label_fit import HumanLabelFit, human_label_fit
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.random_effects import SPREAD_PRIOR, expected_errors, fit_random_effects
from podium.rankers.fit.scale import POINTS
from podium.responses.collection import Responses, response_key
from podium.tables import Report, Table
from podium.tournaments.selection import draw_balanced

Forecast = dict[int, tuple[float, float]]
"""By number of labels, the mean absolute error of ratings, Elo: joined with the judge's verdicts,
and alone."""


class LabelDraw(NamedTuple):
    """Battles to label, the labels so far, fewest and most labels of a model with the sheet, and
    the error forecast."""

    rows: tuple[SheetRow, ...]
    known: int
    per_model: tuple[int, int]
    forecast: Forecast
    from_labels: bool


def draw_labels(
    battles: Battles,
    number: int,
    *,
    by: str = "random",
    responses: Responses | None = None,
    rng: np.random.Generator,
) -> LabelDraw:
    """Draw unlabelled battles at random, balanced over models, and forecast the error that labels
    leave."""
    if by != "random":
        raise UsageError(
            f"--by {by} is not available: ratings from labels where the judge is unsure had three "
            "times the error when measured, and intervals that held 43% of the time instead of "
            "95%. Use --by random"
        )
    coded = code_battles(battles)
    try:
        labels = human_label_fit(battles, coded.models)
    except NotIdentifiedError:
        labels = None
    if not battles.has_items:
        raise UsageError(
            "no item column: labels are matched by item and pair; name it, as --columns item=prompt"
        )
    counts = (
        labels.coded.battles_by_model() if labels else np.zeros(len(coded.models), dtype=np.int64)
    )
    candidates = _select_unlabelled(battles, labels, responses, {*coded.models})
    if len(candidates) < number:
        raise UsageError(_too_few(battles, labels, responses, number, len(candidates)))
    drawn, counts = draw_balanced(candidates, coded.models, number, rng, counts)
    known = round(labels.votes) if labels else 0
    rows = tuple(_sheet_row(item, *pair, responses, rng) for item, pair in drawn)
    forecast = _forecast(coded, labels, known, known + number)
    return LabelDraw(
        rows,
        known,
        (int(counts.min()), int(counts.max())),
        forecast,
        from_labels=labels is not None,
    )


def _select_unlabelled(
    battles: Battles,
    labels: HumanLabelFit | None,
    responses: Responses | None,
    rated: AbstractSet[str],
) -> list[tuple[str, tuple[str, str]]]:
    """Return the battles of rated models without a label, sorted; with responses, those with both
    texts."""
    table = battles.table[~labels.battles] if labels else battles.table
    rows = (
        table[["item", "model_a", "model_b"]]
        .dropna(subset="item")
        .astype(str)
        .itertuples(index=False)
    )
    pairs = {(item, (min(a, b), max(a, b))) for item, a, b in rows}
    if responses is not None:
        texts = {name: responses.texts.get(name, {}) for name in battles.models}
        pairs = {
            (item, pair)
            for item, pair in pairs
            if all(response_key(item, 1) in texts[name] for name in pair)
        }
    return sorted((item, pair) for item, pair in pairs if rated >= set(pair))


def _too_few(
    battles: Battles,
    labels: HumanLabelFit | None,
    responses: Responses | None,
    number: int,
    left: int,
) -> str:
    """Write the message for fewer battles than were asked for."""
    if left:
        few = f"{left:,} have no label yet (and both responses, if given)"
        return f"{number:,} battles were asked for, and {few}: ask for fewer"
    if labels and labels.battles.all():
        return f"all {len(battles):,} battles have a label: none is left to label"
    if responses is None:
        return "no battle without a label has an item and two models with a readable verdict each"
    return (
        "no battle without a label has both responses: --responses and SOURCE must name items and "
        "models alike"
    )


def _sheet_row(
    item: str, first: str, second: str, responses: Responses | None, rng: np.random.Generator
) -> SheetRow:
    """Return a row with the two responses in random order."""
    left, right = (first, second) if rng.random() < 0.5 else (second, first)
    if responses is None:
        return SheetRow(item, "", left, right, "", "")
    key, shown = response_key(item, 1), responses.plain_text
    return SheetRow(
        item, responses.by_id()[item].instruction, left, right, shown(left, key), shown(right, key)
    )


def _forecast(
    coded: CodedBattles, labels: HumanLabelFit | None, known: int, planned: int
) -> Forecast:
    """Forecast the mean absolute Elo error by number of labels, with and without the judge; a prior
    if no labels."""
    phi = fit_battles(coded).theta
    theta, tau, dispersion, spread = phi, SPREAD_PRIOR, 1.0, coded
    if labels:
        fit = fit_random_effects(labels.coded, phi)
        theta, tau, dispersion, spread = fit.theta, fit.tau[0], fit.dispersion, labels.coded
    further = (number for number in (25, 50, 100, 200, 500, 1000, 2000) if number > known)
    numbers = tuple(sorted({*([known] if known else []), planned, *further}))
    # A judge with an error of 10 logits adds nothing to the labels.
    errors = [
        expected_errors(spread, phi, theta, error, dispersion, numbers) for error in (tau, 10.0)
    ]
    return dict(
        zip(
            numbers,
            zip(*(MEAN_OF_NORMAL * POINTS * np.array(errors)).tolist(), strict=True),
            strict=True,
        )
    )


def draw_reports(draw: LabelDraw) -> tuple[Report, ...]:
    """Return a report of the error that numbers of labels leave, with one row per number."""
    joined, alone = draw.forecast[draw.known + len(draw.rows)]
    before = f", now {draw.forecast[draw.known][0]:.0f}" if draw.known in draw.forecast else ""
    each = " to ".join(map(str, sorted({*draw.per_model})))
    these = "this label" if len(draw.rows) == 1 else f"these {len(draw.rows)} labels"
    notes = [
        f"With {these} the mean error of ratings is about {joined:.0f} Elo{before}; with labels "
        f"alone it would be {alone:.0f}.",
        f"Drawn at random among battles without a label; each model then has {each} labels.",
    ]
    if not draw.from_labels:
        notes.append(
            "There is no label yet: the judge's distance from humans is a prior assumption (61 "
            "Elo)."
        )
    rows = tuple(
        (f"{number:,}", *(f"{error:.1f}" for error in errors))
        for number, errors in draw.forecast.items()
    )
    table = Table(
        "",
        ("labels in all", "with the judge", "alone"),
        rows,
        "rrr",
        legend=("mean absolute error, Elo",),
    )
    return (Report("how many labels for which error", table=table, notes=tuple(notes)),)
