"""The check whether scores are in several units: fractions, percent, grades to 10; or times.

A model's scores look like fractions if all lie in [0, 1], and like percent if all lie in [0, 100]
and hardly any between 0 and 1, unless they look like those of a scale without an upper end. Only
models whose means then differ by a factor near 100 are named.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.check_results import Check, make_check
from podium.data.battles import Battles
from podium.data.known_metrics import is_amount, is_time
from podium.diagnosis.checks.size_limits import are_too_many
from podium.diagnosis.judge_checks import is_judged
from podium.wording import join_names, word_for

if TYPE_CHECKING:
    import pandas as pd


SCORE_SCALE = "score scale"
"""Name of the check."""
FEWEST_SCORES = 10
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
RATIOS_OF_TIMES = (300, 3000)
"""Ratio of medians between which times are taken for seconds and milliseconds."""
LEAST_CORRELATION = 0.5
"""Least correlation over items of scores on scales of which one is ten times the other."""
LARGEST_FACTOR = 1.5
"""Largest ratio, or its inverse, of means and of standard deviations on such scales."""
MOST_AMONG_OTHERS = 0.2
"""Largest share of scores on the larger scale that lie within the smaller one."""
GROUPS = ("task", "metric", "judge")
"""Columns that divide scores into those of one scale."""
SCORE_KEYS = ("model", "item", "repeat", "response")
"""Columns that identify a score of a group."""


@dataclass(frozen=True, slots=True)
class UnlikeScales:
    """Models whose scores are on a smaller scale than those of other models.

    Attributes:
        about: the values of `task`, `metric` and `judge` of the scores, by column; a column that is
            not known is left out.
        low_models: models with scores on the smaller scale: fractions, seconds or grades.
        high_models: models with scores on the larger scale: percent, milliseconds or grades.
        scores: scores of all these models, as a data frame with the columns of `SCORE_KEYS` and
            `score`.
        kinds: names of the two scales, such as `fractions` and `percent`, the smaller one first.
    """

    about: Mapping[str, str]
    low_models: tuple[str, ...]
    high_models: tuple[str, ...]
    scores: "pd.DataFrame"
    kinds: tuple[str, str] = ("fractions", "percent")


def check_score_scale(battles: Battles) -> tuple[Check, ...]:
    """Flag scores of one task, metric and judge that are on two scales.

    The scales are fractions and percent, two scales of which one is ten times the other, or, for
    metrics that are times, seconds and milliseconds.

    Returns:
        The flagged check, with the first such task or metric as example; empty if no scores look
        so, if there are no scores, or if a judge decided too many battles.
    """
    if not {"score_a", "score_b"}.issubset(battles.columns):
        return ()
    if is_judged(battles) and are_too_many(battles):
        return ()
    if not _may_have_two_units(battles):
        return ()
    groups = []
    for about, scores, are_times in _scores_by_group(battles):
        find = find_unlike_times if are_times else find_unlike_scales
        groups.append(find(scores, about))
    unlike = [group for group in groups if group is not None]
    if not unlike:
        return ()
    models = [name for scales in unlike for name in (*scales.low_models, *scales.high_models)]
    fields = _fields_of(unlike[0], len(unlike) - 1) | {
        "groups": [
            {
                **scales.about,
                "fractions": list(scales.low_models),
                "percent": list(scales.high_models),
            }
            for scales in unlike
        ]
    }
    return (
        make_check(
            SCORE_SCALE, is_flagged=True, fields=fields, models=tuple(dict.fromkeys(models))
        ),
    )


def compares_scales(
    check: Check, models: Collection[str], about: Mapping[str, str | None] | None = None
) -> bool:
    """Return whether the flagged check of scales says that some models have scores on two scales.

    The result is True if one of the models has scores on the smaller scale and another one on the
    larger scale, of the same task, metric and judge.

    Args:
        check: any check; the result is False unless this is the flagged check of scales.
        models: the compared models.
        about: the task, metric and judge of the compared scores; None for all scores.
    """
    if check.name != SCORE_SCALE or not check.is_flagged:
        return False
    compared = set(models)
    for group in check.fields["groups"]:
        has_low = not compared.isdisjoint(group["fractions"])
        has_high = not compared.isdisjoint(group["percent"])
        if has_low and has_high and _may_be_about(group, about or {}):
            return True
    return False


def _may_be_about(group: Mapping[str, Any], about: Mapping[str, str | None]) -> bool:
    """Return whether scores may be of the given task, metric and judge.

    The result is False only if one of these is known of both and differs.

    Args:
        group: the task, metric and judge of the scores, as far as they are known.
        about: the task, metric and judge of the others; None for those that are not known.
    """
    for name in GROUPS:
        wanted = about.get(name)
        if wanted is not None and name in group and group[name] != wanted:
            return False
    return True


def are_scales_unlike(checks: Iterable[Check]) -> bool:
    """Return whether the check of scales is flagged among some checks."""
    return any(check.name == SCORE_SCALE and check.is_flagged for check in checks)


def _may_have_two_units(battles: Battles) -> bool:
    """Return whether scores may be in two units.

    The result is True if a score lies outside [-1, 1], or if a metric is a time by its name. Other
    scores are all fractions, negated or not.
    """
    sides = [battles.numbers_of(f"score_{side}") for side in "ab"]
    if any((np.abs(scores) > 1).any() for scores in sides):
        return True
    names = {*battles.metrics}
    for measure in battles.measures:
        names |= {name for name in (measure.metric, measure.scorer) if name}
    return any(map(is_time, names))


def _scores_by_group(battles: Battles) -> "list[tuple[dict[str, str], pd.DataFrame, bool]]":
    """Divide the scores of both models of all battles by task, metric and judge.

    Columns that the battles lack do not divide; without any of them there is one part. A score that
    stands in several battles has a row for each of them. Rows without a score are left out. Negated
    scores get back the sign that they have in the files. Metrics that are costs, losses or
    distances, and no times, are left out.

    Returns:
        For each part: the known values of `task`, `metric` and `judge`, by column; the scores, with
        the columns `model`, `score`, `item` (empty without items), and `task`, `metric`, `judge`,
        `repeat`, `response` as far as they are known; and whether the metric is a time by its name.
    """
    import pandas as pd

    table = battles.table
    columns = [name for name in (*GROUPS, *SCORE_KEYS[1:]) if name in table]
    sides = []
    for side in "ab":
        scores = table[[f"model_{side}", f"score_{side}", *columns]]
        scores = scores.rename(columns={f"model_{side}": "model", f"score_{side}": "score"})
        sides.append(scores.assign(model=scores["model"].astype(str)))
    scores = pd.concat(sides, ignore_index=True).dropna(subset=["score"])
    if "item" not in scores:
        scores["item"] = ""
    divided = [name for name in GROUPS if name in scores]
    parts = [scores]
    if divided:
        parts = [part for _, part in scores.groupby(divided, dropna=False)]
    groups = []
    for part in parts:
        name = str(part["metric"].iloc[0]) if "metric" in part and len(part) else ""
        measure = battles.measure_of(name) if name else next(iter(battles.measures), None)
        metric = name
        if measure is not None:
            metric = measure.metric or measure.scorer or ""
        if is_amount(metric) and not is_time(metric):
            continue
        is_negated = measure is not None and measure.is_negated
        about = {each: str(part[each].iloc[0]) for each in divided if part[each].notna().any()}
        signed = part.assign(score=-part["score"]) if is_negated else part
        groups.append((about, signed, is_time(metric)))
    return groups


def find_unlike_scales(
    scores: "pd.DataFrame", about: Mapping[str, str] | None = None
) -> UnlikeScales | None:
    """Find models whose scores look like fractions or grades beside those of a larger scale.

    Args:
        scores: scores of one metric: columns `model`, `item`, `score`, and `repeat` and `response`
            if known. A score may stand in several rows.
        about: the task, metric and judge of the scores.

    Returns:
        The models; None if there is no such pair, if a score is below 0 or above 100, or if no
        score is above 1.
    """
    largest = scores["score"].max()
    if not 1 < largest <= 100 or scores["score"].min() < 0:
        return None
    identity = [name for name in SCORE_KEYS if name in scores]
    single = scores.drop_duplicates([*identity, "score"])
    unlike = _find_fractions_and_percent(single, about or {})
    return unlike or _find_tenfold_scales(single, about or {})


def _find_fractions_and_percent(
    scores: "pd.DataFrame", about: Mapping[str, str]
) -> UnlikeScales | None:
    """Find models whose scores look like fractions beside models whose scores look like percent.

    None if there are none, or if the scores of any model lie on both sides of 1 (`_spans_both`).
    """
    largest = scores.groupby("model")["score"].max()
    has_small = bool((largest <= 1).any())
    has_large = bool((largest > 1).any())
    if not has_small or not has_large:
        return None
    by_model = {
        str(name): rows_of_model["score"].to_numpy(float)
        for name, rows_of_model in scores.groupby("model")
    }
    if any(map(_spans_both, by_model.values())):
        return None
    fractions = {
        name: scores_of_model
        for name, scores_of_model in by_model.items()
        if _looks_like_fractions(scores_of_model)
    }
    percent = {
        name: scores_of_model
        for name, scores_of_model in by_model.items()
        if _looks_like_percent(scores_of_model)
    }
    pairs = []
    for low, less in fractions.items():
        for high, more in percent.items():
            if _are_of_one_kind(less, more):
                pairs.append((low, high))
    return _unlike_models(pairs, scores, about) if pairs else None


def _unlike_models(
    pairs: Sequence[tuple[str, str]], scores: "pd.DataFrame", about: Mapping[str, str]
) -> UnlikeScales:
    """Build the result for pairs of models.

    Args:
        pairs: names of the models; the second one of each pair has the larger scale.
        scores: scores of all models, of which those of these models are kept.
        about: the task, metric and judge of the scores.
    """
    lows = tuple(dict.fromkeys(low for low, _ in pairs))
    highs = tuple(dict.fromkeys(high for _, high in pairs))
    return UnlikeScales(
        about=about,
        low_models=lows,
        high_models=highs,
        scores=scores[scores["model"].isin([*lows, *highs])],
    )


def find_unlike_times(
    scores: "pd.DataFrame", about: Mapping[str, str] | None = None
) -> UnlikeScales | None:
    """Find models whose times look like seconds beside models whose times look like milliseconds.

    The median of the latter is about a thousand times as large, and no time of one model lies among
    those of the other. None if there are no such models.

    Args:
        scores: as for `find_unlike_scales`.
        about: the task, metric and judge of the scores.
    """
    return _find_by_pairs(scores, about or {}, ("seconds", "milliseconds"), _are_other_times)


def _find_tenfold_scales(scores: "pd.DataFrame", about: Mapping[str, str]) -> UnlikeScales | None:
    """Find models whose scores, ten times as large, are like those of other models on each item.

    The scales 0 to 1 and 0 to 10 are looked for first, then 0 to 10 and 0 to 100. Only the first
    two scales that are found are returned.

    Args:
        scores: scores of one metric, with the columns `model`, `item` and `score`.
        about: the task, metric and judge of the scores.

    Returns:
        The models of both scales; None if there are no such models.
    """
    for top in (1, 10):
        kinds = (f"those of a scale to {top}", f"those of a scale to {10 * top}")
        unlike = _find_by_pairs(scores, about, kinds, partial(_are_tenfold, top))
        if unlike is not None:
            return unlike
    return None


def _find_by_pairs(
    scores: "pd.DataFrame",
    about: Mapping[str, str],
    kinds: tuple[str, str],
    are_unlike: "Callable[[pd.Series, pd.Series], bool]",
) -> UnlikeScales | None:
    """Find the pairs of models whose mean scores by item are on two scales, by a function.

    The result is None if there is no such pair.

    Args:
        scores: scores of one metric.
        about: the task, metric and judge of the scores.
        kinds: names of the two scales, the smaller one first.
        are_unlike: takes the mean scores of two models, indexed by item; returns whether the second
            model is on the larger scale.
    """
    means = scores.groupby(["model", "item"])["score"].mean()
    by_model = {
        str(name): means_of_model.droplevel("model")
        for name, means_of_model in means.groupby("model")
    }
    pairs = []
    for low, less in by_model.items():
        for high, more in by_model.items():
            if low != high and are_unlike(less, more):
                pairs.append((low, high))
    if not pairs:
        return None
    return replace(_unlike_models(pairs, scores, about), kinds=kinds)


def _are_other_times(seconds: "pd.Series", others: "pd.Series") -> bool:
    """Return whether the first times look like seconds, and the others like milliseconds.

    The ratio of their medians is within `RATIOS_OF_TIMES`, all of the first times are smaller than
    all others, none is negative, and there are at least `FEWEST_SCORES` of each.
    """
    if min(len(seconds), len(others)) < FEWEST_SCORES or seconds.min() < 0:
        return False
    least, most = RATIOS_OF_TIMES
    is_thousandfold = least * seconds.median() <= others.median() <= most * seconds.median()
    return bool(is_thousandfold and seconds.max() < others.min())


def _are_tenfold(top: float, lows: "pd.Series", highs: "pd.Series") -> bool:
    """Return whether the second scores look like the first ones on a scale of ten times the size.

    On at least ten common items, ten times the first scores must have nearly the same mean and
    standard deviation as the second ones, and be correlated with them. Hardly any of the second
    scores may lie within the first scale.

    Args:
        top: the upper end of the first scale.
        lows: the first scores, by item.
        highs: the second scores, by item.
    """
    low, high = lows.align(highs, join="inner")
    is_in_both_scales = lows.max() <= top < highs.max() <= 10 * top
    if len(low) < FEWEST_SCORES or not is_in_both_scales:
        return False
    is_constant = low.std() == 0 or high.std() == 0
    share_in_first_scale = (highs <= top).mean()
    if is_constant or share_in_first_scale > MOST_AMONG_OTHERS:
        return False
    is_alike = (
        1 / LARGEST_FACTOR <= high.mean() / (10 * low.mean()) <= LARGEST_FACTOR
        and 1 / LARGEST_FACTOR <= high.std() / (10 * low.std()) <= LARGEST_FACTOR
    )
    return bool(is_alike and np.corrcoef(low, high)[0, 1] >= LEAST_CORRELATION)


def _looks_like_fractions(scores: np.ndarray) -> bool:
    """Return whether scores are at most 1, and look like those of a scale from 0 to 1.

    They do if ten or more are between 0 and 1 and the scale seems to end at 1 (`_has_end`), or if
    all are 0 or 1 and at least ten are 1. There must be at least one score.
    """
    if scores.max() > 1:
        return False
    is_continuous = _count_between(scores) >= FEWEST_SCORES and _has_end(scores, 1)
    return is_continuous or _is_binary(scores, 1)


def _looks_like_percent(scores: np.ndarray) -> bool:
    """Return whether scores look like percent.

    They do if the largest is above `LARGEST_GRADE`, at least ten are above 1 and hardly any between
    0 and 1, and the scale seems to end at 100 (`_has_end`). There must be at least one score.
    """
    is_beyond = scores.max() > LARGEST_GRADE and (scores > 1).sum() >= FEWEST_SCORES
    is_above = _count_between(scores) <= MOST_BELOW_ONE * len(scores)
    return bool(is_beyond and is_above and _has_end(scores, 100))


def _has_end(scores: np.ndarray, top: float) -> bool:
    """Return whether scores in [0, top] look like those of a scale that ends there.

    They do if many are 0 or `top` (`LEAST_AT_ENDS`), if their median is high (`LEAST_MEDIAN`), or
    if they spread little (`LARGEST_SPREAD`). Scores of an open scale, such as rewards, are mostly
    near 0, and few of them are much larger.
    """
    at_ends = np.isin(scores, (0, top)).mean()
    if at_ends >= LEAST_AT_ENDS or np.median(scores) >= LEAST_MEDIAN * top:
        return True
    return bool(scores.std() <= LARGEST_SPREAD * scores.mean())


def _spans_both(scores: np.ndarray) -> bool:
    """Return whether scores of one model lie on both sides of 1, as on one continuous scale.

    The result is True if a score is above 1, and more than `MOST_BELOW_ONE` of the scores are above
    0 and below 1.
    """
    return bool(scores.max() > 1 and _count_between(scores) > MOST_BELOW_ONE * len(scores))


def _are_of_one_kind(fractions: np.ndarray, percent: np.ndarray) -> bool:
    """Return whether fractions and percent may be of one metric, by their means and values.

    The mean of the percent over that of the fractions must lie within `RATIOS`. If the fractions
    are only 0 and 1, they may be low points on a scale to 100, and the result is False, unless all
    percent are 0 or 100.
    """
    are_whole = _count_between(fractions) == 0
    if are_whole and not _is_binary(percent, 100):
        return False
    least, most = RATIOS
    return bool(least * fractions.mean() <= percent.mean() <= most * fractions.mean())


def _count_between(scores: np.ndarray) -> int:
    """Return the number of scores above 0 and below 1."""
    return int(((scores > 0) & (scores < 1)).sum())


def _is_binary(scores: np.ndarray, top: float) -> bool:
    """Return whether all scores are 0 or `top`, and at least `FEWEST_SCORES` are `top`."""
    return bool(np.isin(scores, (0, top)).all() and (scores == top).sum() >= FEWEST_SCORES)


def _fields_of(unlike: UnlikeScales, others: int) -> dict[str, Any]:
    """Return the fields of the check's text: the models, and an example of each scale.

    The examples are the scores of the first two models on a common item, on which the score on the
    smaller scale is above 0; without such an item, their largest scores.

    Args:
        unlike: the scores that are described.
        others: number of further tasks, metrics or judges with scores on two scales.
    """
    first = unlike.low_models[0]
    second = unlike.high_models[0]
    is_first = unlike.scores["model"] == first
    is_second = unlike.scores["model"] == second
    low = unlike.scores[is_first].drop_duplicates("item").set_index("item")["score"]
    high = unlike.scores[is_second].drop_duplicates("item").set_index("item")["score"]
    shared_items = [
        name for name in low.index if name != "" and low[name] > 0 and name in high.index
    ]
    # Two scores of which the second is 0 would show no scale.
    telling = [name for name in shared_items if high[name] > 0]
    item = next(iter([*telling, *shared_items]), None)
    low_score = float(low.max() if item is None else low[item])
    high_score = float(high.max() if item is None else high[item])
    more = ""
    if others:
        other = word_for(others, "task or metric", "tasks or metrics")
        more = f"; so do scores of {others} other {other}"
    low_kind, high_kind = unlike.kinds
    return {
        "low_kind": low_kind,
        "high_kind": high_kind,
        "low_models": join_names(unlike.low_models),
        "high_models": join_names(unlike.high_models),
        "place": "at most" if item is None else f"on item {item!r}",
        "of_metric": f" by {unlike.about['metric']}" if "metric" in unlike.about else "",
        "more": more,
        "low": low_score,
        "high": high_score,
    }
