"""Draw battles for humans to judge, and forecast the error of ratings by number of labels."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.data.counting.relations import IDENTICAL
from podium.data.formats.label_sheet import SheetRow
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.calibration.accuracy import MEAN_OF_NORMAL
from podium.rankers.calibration.human_label_fit import HumanLabelFit, human_label_fit
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.random_effects import SPREAD_PRIOR, expected_errors, fit_random_effects
from podium.rankers.fit.scale import POINTS
from podium.responses.transcripts import plain_text
from podium.show.page.sources import BattleTexts
from podium.tables import Report, Table
from podium.tournaments.selection import draw_balanced
from podium.wording import item_option, plural, quantity, word_for

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_NUMBER = 100
"""Number of battles that are drawn unless the user says how many."""
UNINFORMATIVE_SPREAD = 10.0
"""Assumed distance of the judge's ratings from those of humans, in logits, for labels alone.

It is so large that the judge's ratings add nothing to the labels.
"""
Candidate = tuple[tuple[str, int], tuple[str, str]]
"""A battle that may be drawn: its item and the number of the response (from 1), and its models."""
Forecast = dict[int, tuple[float, float]]
"""Two mean absolute errors of ratings, in Elo, for each number of labels.

The keys are the numbers of labels. The first error is that of ratings by labels and the judge's
verdicts together, the second one that of ratings by labels alone.
"""


class LabelDraw(NamedTuple):
    """A sheet of battles for humans to judge, with a forecast of the error of ratings.

    Attributes:
        rows: the battles, with texts if they were given.
        labels_so_far: number of labels that the battles have already.
        per_model: fewest and most labels of a model, once the sheet is filled in.
        forecast: errors of ratings by total number of labels, those so far included.
        from_labels: whether the judge's distance from humans was estimated from labels. If not,
            the forecast rests on a prior assumption.
        identical: number of battles that are left out because both responses are the same text.
    """

    rows: tuple[SheetRow, ...]
    labels_so_far: int
    per_model: tuple[int, int]
    forecast: Forecast
    from_labels: bool
    identical: int = 0


def draw_labels(
    battles: Battles,
    number: int | None = None,
    *,
    by: str = "random",
    texts: BattleTexts | None = None,
    rng: np.random.Generator,
) -> LabelDraw:
    """Draw unlabelled battles for humans to judge, and forecast the error of ratings.

    The draw is random. It gives each model about the same number of labels, those that the battles
    have already included. If models gave several responses to an item (epochs), the battles of each
    are battles of their own. Battles of identical responses are ties by definition, and are left
    out.

    Args:
        battles: judged battles, with the labels that they have already.
        number: how many battles to draw; None for `DEFAULT_NUMBER`, or for all that can be drawn if
            these are fewer.
        by: how to draw; only `random` is supported.
        texts: texts to put into the sheet. If they are given, only battles with both responses are
            drawn.
        rng: source of all random choices.

    Raises:
        UsageError: `by` is another word, the battles have no items, `number` is below 1, or fewer
            battles can be drawn.
        NotIdentifiedError: no battle is readable, or the verdicts do not connect all models.
    """
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
    _require_items(battles)
    counts = labels.coded.battles_by_model() if labels else np.zeros(len(coded.models), np.int64)
    unlabelled = _select_unlabelled(battles, labels, texts, {*coded.models})
    candidates = _with_different_responses(unlabelled, battles, texts)
    identical = len(unlabelled) - len(candidates)
    number = _settle_number(number, len(candidates))
    if len(candidates) < number:
        why = _describe_shortage(battles, labels, texts, number, len(candidates))
        raise UsageError(why + _left_out_text(identical))
    drawn_rows, counts = draw_balanced(candidates, coded.models, number, rng, counts)
    so_far = round(labels.vote_count) if labels else 0
    rows = tuple(_sheet_row(*response, *pair, texts, rng) for response, pair in drawn_rows)
    forecast = _forecast(coded, labels, so_far, so_far + number)
    return LabelDraw(
        rows,
        labels_so_far=so_far,
        per_model=(int(counts.min()), int(counts.max())),
        forecast=forecast,
        from_labels=labels is not None,
        identical=identical,
    )


def _settle_number(number: int | None, drawable: int) -> int:
    """Return how many battles are drawn: by default `DEFAULT_NUMBER`, or all if there are fewer.

    Whether a given number can be drawn is not checked. If no battle can be drawn, the default is
    `DEFAULT_NUMBER`, so that the caller finds that there are too few.

    Raises:
        UsageError: the number is below 1.
    """
    if number is None:
        return min(DEFAULT_NUMBER, drawable) or DEFAULT_NUMBER
    if number < 1:
        raise UsageError(f"--number {number}: draw at least one battle")
    return number


def _require_items(battles: Battles) -> None:
    """Check that the battles have items.

    Raises:
        UsageError: they have none.
    """
    if not battles.has_items:
        option = f"--columns {item_option(battles.likely_item)}"
        raise UsageError(
            f"no item column: labels are matched by item and pair; name it, as {option}"
        )


def _select_unlabelled(
    battles: Battles,
    labels: HumanLabelFit | None,
    texts: BattleTexts | None,
    rated: AbstractSet[str],
) -> list[Candidate]:
    """Return the battles of rated models without a label, sorted, each once.

    With texts, only battles with both responses are returned.

    Args:
        battles: judged battles.
        labels: the labels so far; None if there are none.
        texts: the texts for the sheet; None if none are given.
        rated: names of the models with a readable battle.
    """
    candidates = _candidates_in(battles)
    if labels:
        candidates = candidates[~labels.is_labelled]
    selected = []
    for battle, pair in set(candidates.dropna()):
        are_rated = rated >= set(pair)
        has_texts = texts is None or _has_both_responses(texts, battle, pair)
        if are_rated and has_texts:
            selected.append((battle, pair))
    return sorted(selected)


def _candidates_in(battles: Battles) -> "pd.Series":
    """Return each battle as a `Candidate`.

    The two models are in the order of their names. Values are None for battles without an item. The
    index is that of the table of battles.
    """
    import pandas as pd

    table = battles.table
    names = table[["model_a", "model_b"]].astype(str).itertuples(index=False)
    candidates: list[Candidate | None] = []
    for item, number, (a, b) in zip(table["item"], battles.responses, names, strict=True):
        if pd.isna(item):
            candidates.append(None)
            continue
        response_to_item = (str(item), int(number))
        pair = (min(a, b), max(a, b))
        candidates.append((response_to_item, pair))
    return pd.Series(candidates, table.index, dtype=object)


def _has_both_responses(texts: BattleTexts, battle: tuple[str, int], pair: tuple[str, str]) -> bool:
    """Return whether the texts have the responses of both models in a battle.

    Args:
        texts: the texts for the sheet.
        battle: item and number of the response.
        pair: the models.
    """
    return all((*battle, model) in texts.responses for model in pair)


def _with_different_responses(
    candidates: Sequence[Candidate],
    battles: Battles,
    texts: BattleTexts | None,
) -> list[Candidate]:
    """Return the battles whose responses are not known to be the same text.

    Responses are compared without white space at their ends. If `texts` lack a response, the column
    `identical` and the texts in the files of verdicts decide. The order is kept.
    """
    tied = _identical_by_table(battles)
    different_rows = []
    for battle, pair in candidates:
        if texts is not None and _has_both_responses(texts, battle, pair):
            first, second = (texts.responses[(*battle, name)] for name in pair)
            is_identical = first.strip() == second.strip()
        else:
            has_identical_texts = battle[0] in battles.identical_responses.get(pair, ())
            is_identical = has_identical_texts or (battle, pair) in tied
        if not is_identical:
            different_rows.append((battle, pair))
    return different_rows


def _identical_by_table(battles: Battles) -> set[Candidate]:
    """Return the battles of which all rows say that the responses are identical.

    The set is empty if the table has no column `identical`.
    """
    table = battles.table
    if IDENTICAL not in table:
        return set()
    is_identical = table[IDENTICAL].eq(True)
    candidates = _candidates_in(battles)
    identical_in_some_row = {*candidates[is_identical].dropna()}
    different_in_some_row = {*candidates[~is_identical].dropna()}
    return identical_in_some_row - different_in_some_row


def _left_out_text(number: int) -> str:
    """Write how many battles of identical responses are left out, as the end of a message.

    The text begins with a semicolon; it is empty if there are none.
    """
    if not number:
        return ""
    return f"; {quantity(number, 'battle', 'is|are')} of identical responses, which are ties"


def _describe_shortage(
    battles: Battles,
    labels: HumanLabelFit | None,
    texts: BattleTexts | None,
    number: int,
    drawable: int,
) -> str:
    """Write the message that fewer battles can be drawn than were asked for.

    Args:
        battles: judged battles.
        labels: the labels so far; None if there are none.
        texts: the texts for the sheet; None if none are given.
        number: number of battles that were asked for.
        drawable: number of battles that can be drawn.
    """
    if drawable:
        have = word_for(drawable, "has", "have")
        shortage = f"{drawable:,} {have} no label yet (and both responses, if given)"
        return f"{quantity(number, 'battle', 'was|were')} asked for, and {shortage}: ask for fewer"
    if labels and labels.is_labelled.all():
        have = word_for(len(battles), "the only battle has", f"all {len(battles):,} battles have")
        return f"{have} a label: none is left to label"
    if texts is None:
        return "no battle without a label has an item and two models with a readable verdict each"
    problem = (
        "no battle without a label has both responses: --responses and SOURCE must name items and "
        "models alike; --responses 'NAME=PATH' gives a model the name that it has in the ranking"
    )
    return ". ".join([problem, *texts.notes])


def _sheet_row(
    item: str,
    number: int,
    first: str,
    second: str,
    texts: BattleTexts | None,
    rng: np.random.Generator,
) -> SheetRow:
    """Return the row of a battle with the two responses in random order.

    Without texts, they are empty.

    Args:
        item: name of the item.
        number: number of the responses to the item.
        first: one of the models.
        second: the other model.
        texts: the texts for the sheet; None if none are given.
        rng: random generator that draws the order.
    """
    left, right = (first, second) if rng.random() < 0.5 else (second, first)
    instruction = left_text = right_text = ""
    if texts is not None:
        instruction = texts.instructions.get(item, "")
        left_text = _response_text(texts, item, number, left)
        right_text = _response_text(texts, item, number, right)
    return SheetRow(
        item=item,
        instruction=instruction,
        model_1=left,
        model_2=right,
        response_1=left_text,
        response_2=right_text,
        response=number,
    )


def _response_text(texts: BattleTexts, item: str, number: int, model: str) -> str:
    """Return a model's response to an item in a form for humans.

    The pieces of a transcript stand apart.

    Raises:
        KeyError: the texts lack the response.
    """
    key = item, number, model
    text = texts.responses[key]
    return plain_text(text) if key in texts.transcripts else text


def _forecast(
    coded: CodedBattles, labels: HumanLabelFit | None, labels_so_far: int, planned: int
) -> Forecast:
    """Forecast the error of ratings for several total numbers of labels.

    The numbers are `labels_so_far` (if above 0), `planned`, and those of 25, 50, 100, 200, 500,
    1,000 and 2,000 that are above `labels_so_far`. How far the judge's ratings are from those of
    humans is estimated from the labels. If there are none, it is a prior assumption.

    Args:
        coded: the judged battles as arrays.
        labels: the labels so far; None if there are none.
        labels_so_far: number of labels so far.
        planned: number of labels once the sheet is filled in.

    Returns:
        The errors, by number of labels in ascending order.
    """
    phi = fit_battles(coded).theta
    if labels:
        fit = fit_random_effects(labels.coded, phi)
        theta = fit.theta
        tau, _, _ = fit.tau
        dispersion = fit.dispersion
        # Labels to come are taken to be spread over pairs like these battles.
        battles_like_labels = labels.coded
    else:
        theta = phi
        tau = SPREAD_PRIOR
        dispersion = 1.0
        battles_like_labels = coded
    numbers_of_labels = {planned}
    if labels_so_far:
        numbers_of_labels.add(labels_so_far)
    for round_number in (25, 50, 100, 200, 500, 1000, 2000):
        if round_number > labels_so_far:
            numbers_of_labels.add(round_number)
    numbers = tuple(sorted(numbers_of_labels))
    errors_with_judge = expected_errors(battles_like_labels, phi, theta, tau, dispersion, numbers)
    errors_of_labels = expected_errors(
        battles_like_labels,
        phi=phi,
        theta=theta,
        tau=UNINFORMATIVE_SPREAD,
        dispersion=dispersion,
        numbers=numbers,
    )
    # The mean absolute error of a normal variable, in Elo, for a standard error of one logit.
    elo_per_se = MEAN_OF_NORMAL * POINTS
    with_judge = (elo_per_se * np.array(errors_with_judge)).tolist()
    by_labels = (elo_per_se * np.array(errors_of_labels)).tolist()
    pairs_of_errors = zip(with_judge, by_labels, strict=True)
    return dict(zip(numbers, pairs_of_errors, strict=True))


def draw_reports(draw: LabelDraw) -> tuple[Report, ...]:
    """Return one report on the error of ratings, with a row per number of labels."""
    error_with_judge, error_of_labels = draw.forecast[draw.labels_so_far + len(draw.rows)]
    error_so_far = ""
    if draw.labels_so_far in draw.forecast:
        error_so_far = f", now {draw.forecast[draw.labels_so_far][0]:.0f}"
    labels_of_model = " to ".join(map(str, sorted({*draw.per_model})))
    sheet_labels = "this label" if len(draw.rows) == 1 else f"these {len(draw.rows)} labels"
    notes = [
        f"With {sheet_labels} the mean error of ratings is about {error_with_judge:.0f} Elo"
        f"{error_so_far}; with labels alone it would be {error_of_labels:.0f}.",
        "Drawn at random among battles without a label; each model then has "
        f"{labels_of_model} {plural('label', max(draw.per_model))}.",
    ]
    if draw.identical:
        notes.append(
            f"{quantity(draw.identical, 'battle', 'is|are')} left out: their responses are "
            "identical, which is a tie."
        )
    if not draw.from_labels:
        notes.append(
            "There is no label yet: the judge's distance from humans is a prior assumption (61 "
            "Elo)."
        )
    rows = tuple(
        (f"{number:,}", f"{with_judge:.1f}", f"{without_judge:.1f}")
        for number, (with_judge, without_judge) in draw.forecast.items()
    )
    table = Table(
        title="",
        header=("labels in all", "with the judge", "alone"),
        rows=rows,
        align="rrr",
        legend=("mean absolute error, Elo",),
    )
    return (Report("how many labels for which error", table=table, notes=tuple(notes)),)
