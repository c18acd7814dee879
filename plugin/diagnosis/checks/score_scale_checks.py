"""The check whether some scores are fractions and others percent.

A model's scores look like fractions if all lie in [0, 1], and like percent if all lie in [0, 100]
and hardly any between 0 and 1, unless they look like those of a scale without an upper end. Only
models whose means then differ by a factor near 100 are named.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.checks import Check, make_check
from podium.data.battles import Battles
from podium.data.known_metrics import is_amount
from podium.diagnosis.checks.size_limits import are_too_many
from podium.diagnosis.judge_checks import is_judged
from podium.wording import join_names

if TYPE_CHECKING:
    import pandas as pd


SCORE_SCALE = "score scale"
FEWEST = 10
"""Fewest scores that must show that a model's scores are fractions, or percent."""
MOST_BELOW_ONE = 0.05
"""Largest share of scores between 0 and 1 with which scores look like percent."""
LARGEST_GRADE = 10
"""Scores up to this may be grades, as from 1 to 10, of which a weak model got less than 1."""
RATIOS = (20, 500)
"""If means of percent and of fractions are of models of one kind, their ratio lies between these.

A model whose fractions have the mean 0.5 is compared with models from 10% to 100%.
"""
LEAST_AT_ENDS = 0.1
"""Least share of scores at the ends of a scale that shows that it ends there."""
LEAST_MEDIAN = 0.35
"""A median above this share of the scale shows that the scale ends near the largest score."""
LARGEST_SPREAD = 0.6
"""Rewards without an upper end, most of them near 0, have a larger ratio of standard deviation to
mean: about 1 if they are exponential."""
GROUPS = ("task", "metric", "judge")
"""Columns that divide scores into those of one scale."""
SCORED = ("model", "item", "repeat", "response")
"""Columns that identify a score of a group."""


@dataclass(frozen=True, slots=True)
class UnlikeScales:
    """Models whose scores look like fractions, and models whose scores look like percent.

    Attributes:
        about: the task, metric and judge of the scores, as far as columns name them.
        fractions: models with fractions.
        percent: models with percent.
        scores: scores of both kinds, as a data frame with the columns of `SCORED` and `score`.
    """

    about: Mapping[str, str]
    fractions: tuple[str, ...]
    percent: tuple[str, ...]
    scores: "pd.DataFrame"


def check_score_scale(battles: Battles) -> tuple[Check, ...]:
    """Flag scores of which some look like fractions and others like percent.

    Returns:
        The flagged check; empty if no scores look so, or if there are no scores.
    """
    if not {"score_a", "score_b"} <= battles.columns:
        return ()
    if is_judged(battles) and are_too_many(battles):
        return ()
    groups = [find_unlike_scales(own, about) for about, own in _scores_by_group(battles)]
    unlike = [group for group in groups if group is not None]
    if not unlike:
        return ()
    models = [name for own in unlike for name in (*own.fractions, *own.percent)]
    fields = _fields_of(unlike[0], len(unlike) - 1) | {
        "groups": [
            {**own.about, "fractions": list(own.fractions), "percent": list(own.percent)}
            for own in unlike
        ]
    }
    return (make_check(SCORE_SCALE, True, fields=fields, models=tuple(dict.fromkeys(models))),)


def compares_scales(
    check: Check, models: Collection[str], about: Mapping[str, str | None] | None = None
) -> bool:
    """Return whether, by a flagged check, some of the models have fractions and others percent.

    Args:
        check: any check. It is False for checks of something else.
        models: the compared models.
        about: the task, metric and judge of the compared scores; None for all scores.
    """
    if check.name != SCORE_SCALE or not check.is_flagged:
        return False
    compared = set(models)
    for group in check.fields["groups"]:
        is_other = about is not None and any(
            about.get(name) not in (None, group[name]) for name in GROUPS if name in group
        )
        kinds = (group["fractions"], group["percent"])
        if not is_other and not any(compared.isdisjoint(kind) for kind in kinds):
            return True
    return False


def are_scales_unlike(checks: Iterable[Check]) -> bool:
    """Return whether a check says that some scores look like fractions and others like percent."""
    return any(check.name == SCORE_SCALE and check.is_flagged for check in checks)


def _scores_by_group(battles: Battles) -> "list[tuple[dict[str, str], pd.DataFrame]]":
    """Return the scores of each task, metric and judge that may be shares.

    Negated scores get back the sign that they have in the files. Metrics that are known to be
    times, costs, losses or distances are left out.
    """
    import pandas as pd

    table = battles.table
    columns = [name for name in (*GROUPS, *SCORED[1:]) if name in table]
    sides = []
    for side in "ab":
        scores = table[[f"model_{side}", f"score_{side}", *columns]]
        scores = scores.rename(columns={f"model_{side}": "model", f"score_{side}": "score"})
        sides.append(scores.assign(model=scores["model"].astype(str)))
    scores = pd.concat(sides, ignore_index=True).dropna(subset=["score"])
    if "item" not in scores:
        scores["item"] = ""
    divided = [name for name in GROUPS if name in scores]
    parts = [own for _, own in scores.groupby(divided, dropna=False)] if divided else [scores]
    kept = []
    for own in parts:
        name = str(own["metric"].iloc[0]) if "metric" in own and len(own) else None
        measure = battles.measure_of(name) if name else next(iter(battles.measures), None)
        if is_amount(measure.metric or measure.scorer or "" if measure else name or ""):
            continue
        is_negated = measure is not None and measure.is_negated
        about = {each: str(own[each].iloc[0]) for each in divided if own[each].notna().any()}
        kept.append((about, own.assign(score=-own["score"]) if is_negated else own))
    return kept


def find_unlike_scales(
    scores: "pd.DataFrame", about: Mapping[str, str] | None = None
) -> UnlikeScales | None:
    """Find models whose scores look like fractions beside models whose scores look like percent.

    Args:
        scores: scores of one metric: columns `model`, `item`, `score`, and `repeat` and `response`
            if known. A score may stand in several rows.
        about: the task, metric and judge of the scores.

    Returns:
        The models; None if there is no such pair, or if the scores of a model span both scales.
    """
    ends = scores.groupby("model")["score"].agg(["min", "max"])
    is_possible = (ends["min"] >= 0).all() and (ends["max"] <= 100).all()
    if not is_possible or not ((ends["max"] <= 1).any() and (ends["max"] > 1).any()):
        return None
    identity = [name for name in SCORED if name in scores]
    single = scores.drop_duplicates([*identity, "score"])
    by_model = {str(name): own["score"].to_numpy(float) for name, own in single.groupby("model")}
    if any(map(_spans_both, by_model.values())):
        return None
    fractions = {name: own for name, own in by_model.items() if _looks_like_fractions(own)}
    percent = {name: own for name, own in by_model.items() if _looks_like_percent(own)}
    pairs = [
        (low, high)
        for low, less in fractions.items()
        for high, more in percent.items()
        if _are_of_one_kind(less, more)
    ]
    if not pairs:
        return None
    lows = tuple(dict.fromkeys(low for low, _ in pairs))
    highs = tuple(dict.fromkeys(high for _, high in pairs))
    return UnlikeScales(about or {}, lows, highs, single[single["model"].isin([*lows, *highs])])


def _looks_like_fractions(scores: np.ndarray) -> bool:
    """Return whether scores are in [0, 1]: ten or more between 0 and 1, or only 0 and 1."""
    if scores.max() > 1:
        return False
    is_continuous = _count_between(scores) >= FEWEST and _has_end(scores, 1)
    return is_continuous or _is_binary(scores, 1)


def _looks_like_percent(scores: np.ndarray) -> bool:
    """Return whether scores are beyond what grades are, and hardly any are between 0 and 1."""
    is_beyond = scores.max() > LARGEST_GRADE and (scores > 1).sum() >= FEWEST
    is_above = _count_between(scores) <= MOST_BELOW_ONE * len(scores)
    return bool(is_beyond and is_above and _has_end(scores, 100))


def _has_end(scores: np.ndarray, top: float) -> bool:
    """Return whether scores in [0, top] look like those of a scale that ends there.

    Scores of an open scale, such as rewards, are mostly near 0, and few of them are much larger.
    """
    at_ends = np.isin(scores, (0, top)).mean()
    if at_ends >= LEAST_AT_ENDS or np.median(scores) >= LEAST_MEDIAN * top:
        return True
    return bool(scores.std() <= LARGEST_SPREAD * scores.mean())


def _spans_both(scores: np.ndarray) -> bool:
    """Return whether scores of one model lie on both sides of 1, as on one continuous scale."""
    return bool(scores.max() > 1 and _count_between(scores) > MOST_BELOW_ONE * len(scores))


def _are_of_one_kind(fractions: np.ndarray, percent: np.ndarray) -> bool:
    """Return whether fractions and percent may be of one metric, by their means and values.

    Whole numbers up to 1 may be low points on a scale to 100, unless all others are 0 or 100.
    """
    if not _count_between(fractions) and not _is_binary(percent, 100):
        return False
    least, most = RATIOS
    return bool(least * fractions.mean() <= percent.mean() <= most * fractions.mean())


def _count_between(scores: np.ndarray) -> int:
    """Return the number of scores above 0 and below 1."""
    return int(((scores > 0) & (scores < 1)).sum())


def _is_binary(scores: np.ndarray, top: float) -> bool:
    """Return whether all scores are 0 or `top`, and at least ten are `top`."""
    return bool(np.isin(scores, (0, top)).all() and (scores == top).sum() >= FEWEST)


def _fields_of(unlike: UnlikeScales, others: int) -> dict[str, Any]:
    """Return the models and an example of each kind, of one item if they share one.

    Args:
        unlike: the scores that are described.
        others: number of further tasks, metrics or judges of which the same was unlike.
    """
    first = unlike.fractions[0]
    second = unlike.percent[0]
    is_first = unlike.scores["model"] == first
    is_second = unlike.scores["model"] == second
    low = unlike.scores[is_first].drop_duplicates("item").set_index("item")["score"]
    high = unlike.scores[is_second].drop_duplicates("item").set_index("item")["score"]
    shared = (name for name in low.index if name != "" and low[name] > 0 and name in high.index)
    item = next(shared, None)
    low_score = float(low.max() if item is None else low[item])
    high_score = float(high.max() if item is None else high[item])
    return {
        "low_models": join_names(unlike.fractions),
        "high_models": join_names(unlike.percent),
        "place": "at most" if item is None else f"on item {item!r}",
        "of_metric": f" by {unlike.about['metric']}" if "metric" in unlike.about else "",
        "more": f"; so do scores of {others} other tasks or metrics" if others else "",
        "low": low_score,
        "high": high_score,
    }
