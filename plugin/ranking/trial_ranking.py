"""Try rankers on made-up battles before a run, to know whether they can rank its battles."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from podium.data.battles import Battles
from podium.data.reading.judgments import read_battles
from podium.errors import NotConvergedError, NotIdentifiedError, PluginError, UsageError
from podium.plugins import catalogue
from podium.plugins.settings import parameters_of, ranker_options
from podium.ranking.rank_battles import (
    REPLACED_RANKER_KEY,
    choose_context,
    ranker_calls,
)
from podium.scorers.judging import Judging

if TYPE_CHECKING:
    from podium.rankers.calibration.calibration import Calibration

ITEMS = 30
"""Largest number of items of the made-up battles; fewer if `ROWS` would be exceeded."""
ROWS = 4000
"""Largest number of made-up judgments in one order.

It may be exceeded for many models, because there are always two items.
"""
METRIC = "a metric"
"""Name of the metric of made-up scores. Several metrics would be ranked alone each."""
OPTIONS_WITH_MODELS = ("pin", "anchor")
"""Options of rankers whose value names a model."""


@dataclass(frozen=True, slots=True)
class ComingBattles:
    """What is known of battles before they are played.

    Attributes:
        models: names of the models, two or more.
        judges: names of the judges; empty if models are ranked by scores that no judge gives.
        one_jury: whether the judges are one jury, as those of a tournament are.
        margins: whether verdicts may have margins.
        graded: whether verdicts may be graded, that is soft credits and not only win, tie or loss.
        may_be_plain: whether graded verdicts may turn out to be plain, if the judge gives no token
            probabilities.
        scores: whether each response gets a score.
        human: whether the battles come with human labels.
    """

    models: Sequence[str]
    judges: Sequence[str] = ()
    one_jury: bool = False
    margins: bool = True
    graded: bool = False
    may_be_plain: bool = False
    scores: bool = True
    human: bool = False


def coming_verdicts(
    models: Sequence[str],
    judges: Sequence[str],
    judging: Judging,
    *,
    one_jury: bool = False,
    human: bool = False,
) -> ComingBattles:
    """Return what is known of the battles of a run before it starts.

    Args:
        models: names of the models.
        judges: names of the judges.
        judging: how the judges will be asked.
        one_jury: whether the judges are one jury.
        human: whether the battles come with human labels.
    """
    realization = judging.realization
    has_soft_credits = realization.probabilities == "soften" and not realization.margins
    return ComingBattles(
        models=models,
        judges=judges,
        one_jury=one_jury,
        margins=realization.margins,
        graded=has_soft_credits and judging.logprobs != "off",
        may_be_plain=(judging.logprobs == "auto"),
        scores=not judging.is_pairwise,
        human=human,
    )


def names_model(setting: str) -> bool:
    """Return whether the value of an option (`pin`, `bradley-terry.pin`) names a model."""
    return setting.rpartition(".")[2] in OPTIONS_WITH_MODELS


def settings_without_models(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of rankers that name no model.

    They can be tried before the models are known.
    """
    return {name: value for name, value in settings.items() if not names_model(name)}


def check_rankers(
    rankers: Sequence[str],
    coming: ComingBattles,
    settings: Mapping[str, Any] | None = None,
    calibration: "Calibration | None" = None,
) -> list[str]:
    """Try rankers on made-up battles, and return notes on those that another one will replace.

    A ranker of a plug-in that fails on them, or whose fit does not converge, is accepted, because
    the battles to come may suit it. So is a ranker with a calibration that cannot rank them.

    Args:
        rankers: names of the rankers.
        coming: what is known of the battles to come.
        settings: options of the rankers, by `option` or `ranker.option`.
        calibration: the calibration of the judge; None if there is none.

    Returns:
        Sentences without a full stop; empty if no ranker will be replaced.

    Raises:
        UsageError: a ranker cannot rank the battles to come, an option is unknown or names an
            absent model, or a calibration is given that no ranker uses.
    """
    functions = {name: catalogue.ranker_function(name) for name in rankers}
    # It is called here only for its error: a calibration that no ranker uses.
    choose_context(functions, whole=None, calibration=calibration)
    trials = [_made_up_battles(coming)]
    if coming.graded and coming.may_be_plain:
        trials.append(_made_up_battles(replace(coming, graded=False)))
    notes = []
    for name, options in ranker_options(rankers, settings or {}).items():
        used_calibration = None
        if "calibration" in parameters_of(functions[name]):
            used_calibration = calibration
        instead = None
        try:
            for battles in trials:
                instead = instead or _ranker_in_place(name, battles, used_calibration, options)
        except (PluginError, NotConvergedError):
            # A plugin may not be made for such battles.
            continue
        except NotIdentifiedError as error:
            if used_calibration is None:
                raise UsageError(f"{name} cannot rank this run: {error}") from None
            continue
        if instead:
            notes.append(
                f"verdicts that are not graded will be ranked by {instead}: "
                f"nothing gives beta to {name}"
            )
    return notes


def _ranker_in_place(
    name: str, battles: Battles, calibration: "Calibration | None", options: Mapping[str, Any]
) -> str | None:
    """Rank battles, and return the ranker that replaced the named one; None if none did.

    Args:
        name: name of the ranker.
        battles: the battles, which are ranked together.
        calibration: the calibration that the ranker gets; None for none.
        options: its options.

    Raises:
        PodiumError: the ranker cannot rank the battles.
    """
    [call] = ranker_calls([name], options, whole=battles, calibration=calibration)
    standings = call(battles)
    return standings.ranker if REPLACED_RANKER_KEY in standings.diagnostics else None


def _made_up_battles(coming: ComingBattles) -> Battles:
    """Return the battles of the judgments of `_made_up_rows`."""
    return read_battles(pd.DataFrame(_made_up_rows(coming)))


def _made_up_rows(coming: ComingBattles) -> Iterator[dict[str, Any]]:
    """Yield judgments of all pairs by all judges in both orders.

    Every model wins some and loses some. Scores without judges are of one metric, in one order.
    """
    pairs = [*combinations(enumerate(coming.models), 2)]
    # As many items as make at most `ROWS` rows, at least two.
    rows_per_pair = ROWS // max(len(pairs), 1)
    items = max(2, min(ITEMS, rows_per_pair))
    for k in range(items):
        for (i, a), (j, b) in pairs:
            # A pattern without meaning: over five items, each pair has two wins and three losses.
            won = (k * 7 + 3 * i + 5 * j) % 5 < 2
            row: dict[str, Any] = {"item": f"item {k}", "model_a": a, "model_b": b}
            row |= _made_up_verdict(coming, k, won)
            if not coming.judges:
                yield {**row, "metric": METRIC, "order": "ab"}
                continue
            row["length_a"] = 100 + (k * (i + 2)) % 37
            row["length_b"] = 100 + (k * (j + 3)) % 41
            for judge in coming.judges:
                for order in ("ab", "ba"):
                    yield {**row, "judge": judge, "order": order}


def _made_up_verdict(coming: ComingBattles, item: int, won: bool) -> dict[str, Any]:
    """Return the columns with the outcome of a battle, as far as `coming` has such columns.

    Args:
        coming: what is known of the battles.
        item: number of the item, from 0.
        won: whether the first model wins.
    """
    size = 1.0 + item % 3
    credit_if_graded = 0.9 if won else 0.2
    row: dict[str, Any] = {"credit": credit_if_graded if coming.graded else float(won)}
    if coming.margins:
        # The two criteria of a draw have margins of one sign and of different sizes.
        row["margin"] = size if won else -size
        row["margin_one"] = size if won else -1.0
        row["margin_two"] = 1.0 if won else -size
    if coming.scores:
        row["score_a"] = 5.0 + size * won
        row["score_b"] = 5.0 + size * (not won)
    if coming.human:
        # Humans and judge differ on each fifth item.
        humans_agree = item % 5 > 0
        row["human"] = float(won if humans_agree else not won)
    if coming.one_jury:
        row["jury"] = "jury"
    return row
