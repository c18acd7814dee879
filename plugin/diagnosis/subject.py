"""The input of all sections of a judge card: a judge's verdicts, and what they are compared to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from podium.data.battles import LARGEST, Battles
from podium.data.formats.containers import read_records
from podium.data.reading.judgments import read_battles
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import Missing, attempt
from podium.diagnosis.ratings import (
    REFERENCE_REMEDY,
    AnyRatings,
    BattleRatings,
    GivenRatings,
    Ratings,
    fit_ratings,
)
from podium.errors import DataError
from podium.notices.notice import Notice
from podium.rankers.fit.coded import codes_of_items
from podium.score_scale import ELO, Scale
from podium.scorers.judge_record import JudgeRecord
from podium.storage.remote import named_file
from podium.text import text_of
from podium.wording import some

if TYPE_CHECKING:
    import pandas as pd


NEAR_TIE = 0.3
"""Default of the largest |margin| of a near-tie.

Source: Soft-Elo, appendix F.1, |s| <= 0.3 on scores from 1 to 10.
"""
CLOSE_CREDIT = 0.025
"""Largest distance of the soft credit of a near-tie from 0.5, used if there are no margins.

Source: Xu et al. 2025, thresholds 0.475 and 0.525.
"""
ROUNDING_ERROR = 1e-9
"""Rounding error that is allowed where a margin or a credit is compared with a bound."""
HARD_CREDITS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Credits that one hard verdict, or the mean of two, can have; all other credits are soft."""
GOLD_REMEDY = (
    "give a table with the columns model and score, a ranking of `podium rank --format json`, or "
    "battles (`podium convert` writes them from a foreign table)"
)
"""Which files `read_gold` reads."""
SCORE_COLUMNS = ("score", "elo", "rating")
"""Columns that may hold the scores of a ranking."""


@dataclass(frozen=True, slots=True)
class OrderPairs:
    """Pairs of responses that a judge read in both orders.

    In arrays of shape (pairs, 2), the columns are the earlier and the later judgment of a pair, by
    row number. In each of the two judgments, another response is shown first.

    Attributes:
        credit: credit of the response shown first in each judgment, shape (pairs, 2).
        outcome: the same by the parsed verdict alone, without probabilities, shape (pairs, 2).
        margin: margin of the response shown first, NaN if unknown, shape (pairs, 2).
        matchup: number that stands for item, response number and both models, shape (pairs,).
            Repeats of a pair have the same number.
        rows: the pairs as a sample.
    """

    credit: np.ndarray
    outcome: np.ndarray
    margin: np.ndarray
    matchup: np.ndarray
    rows: Clustered

    def __len__(self) -> int:
        return len(self.credit)

    def take(self, rows: np.ndarray) -> "OrderPairs":
        """Return some of the pairs, given by boolean mask or positions."""
        values = (self.credit[rows], self.outcome[rows], self.margin[rows], self.matchup[rows])
        return OrderPairs(*values, self.rows.take(rows))

    @property
    def wins(self) -> tuple[np.ndarray, np.ndarray]:
        """Win (1), tie (0) or loss (-1) of the response shown first, in both judgments of a pair.

        The two arrays have shape (pairs,). Another response is shown first in each judgment, so
        that the verdicts on a pair agree if one is the negative of the other.
        """
        earlier, later = np.sign(self.outcome - 0.5).T
        return earlier, later


def first_shown(battles: Battles) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the verdict of each row as seen from the response shown first.

    Returns:
        Four arrays of shape (rows,): the credit of the response shown first; its credit by the
        parsed verdict alone; its margin; and whether both credit and order are known. Unknown
        values are NaN. If the order is merged or unknown, the figures are those of `model_a`.
    """
    credit = battles.numbers_of("credit")
    outcome = battles.outcomes
    margin = battles.numbers_of("margin")
    order = read_orders(battles)
    is_second = order == "ba"
    is_known = np.isin(order, ["ab", "ba"]) & ~np.isnan(credit)
    return (
        np.where(is_second, 1 - credit, credit),
        np.where(is_second, 1 - outcome, outcome),
        np.where(is_second, -margin, margin),
        is_known,
    )


def read_orders(battles: Battles) -> np.ndarray:
    """Return the column `order`, shape (rows,): `ab`, `ba`, `merged`, or None.

    Without this column, all values are None.
    """
    if "order" not in battles.rows.battle_columns:
        return np.full(len(battles), None)
    return battles.rows.texts_of("order")


def matchup_codes(battles: Battles, rows: np.ndarray) -> np.ndarray:
    """Return a number per row that stands for item, response number and pair of models.

    Two models have the same number whichever of them is `model_a`. A row without an item has a
    number of its own.

    Args:
        battles: the battles.
        rows: positions of the rows.

    Returns:
        The numbers, shape (len(rows),).
    """
    models = len(battles.models)
    a, b = (codes[rows] for codes in battles.model_codes)
    item = battles.items_with_responses(codes_of_items(battles))[rows]
    return (item * models + np.minimum(a, b)) * models + np.maximum(a, b)


def find_order_pairs(judgments: Battles, level: float) -> OrderPairs:
    """Find the pairs of readable judgments in the orders `ab` and `ba`.

    The two judgments of a pair have the same item, models, judge, repeat and response number. A
    pair of which one judgment has no credit is left out. There may be no pairs.

    Args:
        judgments: verdicts, one per order.
        level: confidence level of the sample `rows` of the result.
    """
    credit, outcome, margin, _ = first_shown(judgments)
    rows = judgments.rows.order_pairs()
    is_readable = ~np.isnan(credit[rows]).any(axis=1)
    rows = rows[is_readable]
    earlier = rows[:, 0]
    return OrderPairs(
        credit=credit[rows],
        outcome=outcome[rows],
        margin=margin[rows],
        matchup=matchup_codes(judgments, earlier),
        rows=cluster_battles(judgments, level).take(earlier),
    )


@dataclass(frozen=True)
class Gold:
    """A gold standard: either scores of the systems, or battles decided by humans.

    Attributes:
        source: name of the file with the gold standard.
        scores: score by system; None if there are battles.
        scale: scale of the scores; of no meaning if there are battles.
        battles: the battles; None if there are scores.
    """

    source: str
    scores: Mapping[str, float] | None = None
    scale: Scale = ELO
    battles: Battles | None = None

    @property
    def lost_files(self) -> tuple[Notice, ...]:
        """Notes on files of battles that could not be read; empty if there are scores."""
        return () if self.battles is None else self.battles.lost

    @cached_property
    def source_ratings(self) -> AnyRatings:
        """The ratings that the scores give, or that are fitted to the battles.

        Raises:
            NotIdentifiedError: no battle is readable, or the battles do not connect all models.
            NotConvergedError: the fit does not converge.
            ValueError: there are neither scores nor battles.
        """
        if self.scores is not None:
            names = tuple(sorted(self.scores))
            return GivenRatings(names, np.array([self.scores[name] for name in names]))
        if self.battles is None:
            raise ValueError("a gold standard holds scores or battles")
        return fit_ratings(self.battles)


@dataclass(frozen=True)
class Subject:
    """A judge with its verdicts, and what they are compared with.

    Attributes:
        judge: name of the judge; None if no row names it.
        judgments: its verdicts, one per order.
        battles: its verdicts with the orders merged.
        others: battles of the other judges; None if there is no other.
        gold: a gold standard; None if none was given.
        families: families of models by pattern of their names.
        level: confidence level, in (0, 1).
        seed: seed of resamples.
        near_tie: largest |margin| of a near-tie.
        label: short name of the judge for people; None if it is the name itself.
    """

    judge: str | None
    judgments: Battles
    battles: Battles
    others: Battles | None = None
    gold: Gold | None = None
    families: Mapping[str, str] = field(default_factory=dict)
    level: float = 0.95
    seed: int = 0
    near_tie: float = NEAR_TIE
    label: str | None = None

    @property
    def shown_judge(self) -> str | None:
        """The judge's name for people; None if no row names the judge."""
        return self.label or self.judge

    @property
    def rng(self) -> np.random.Generator:
        """A new random generator, which starts with `seed` at each use."""
        return np.random.default_rng(self.seed)

    @cached_property
    def human_credit(self) -> np.ndarray:
        """Credit of `model_a` by human labels, in [0, 1], NaN if unlabelled, shape (battles,)."""
        return self.battles.numbers_of("human")

    @cached_property
    def order_pairs(self) -> OrderPairs:
        """The pairs of responses that the judge read in both orders."""
        return find_order_pairs(self.judgments, self.level)

    @cached_property
    def judge_ratings(self) -> BattleRatings:
        """The ratings by the judge's verdicts.

        Raises:
            NotIdentifiedError: no battle is readable, or the battles do not connect all models.
            NotConvergedError: the fit does not converge.
        """
        return fit_ratings(self.battles)

    @cached_property
    def human_ratings(self) -> BattleRatings:
        """The ratings by human labels of the same battles.

        Raises:
            NotIdentifiedError: no battle is labelled, or the labelled battles do not connect all
                models.
            NotConvergedError: the fit does not converge.
        """
        return fit_ratings(self.battles, self.human_credit)

    @cached_property
    def reference(self) -> Ratings | Missing:
        """The ratings that the judge's ratings are compared with.

        The ratings are by the first of these sources to which they can be fitted: human labels, the
        gold standard, the other judges. Their `who` is `human`, `gold` or `other judges`. If no
        ratings can be fitted, `Missing` says why for each source that exists. Clusters with the
        same code in these ratings and in `judge_ratings` are the same item.
        """
        gold = self.gold
        others = self.others
        candidates: dict[str, Callable[[], Ratings]] = {}
        if np.isfinite(self.human_credit).any():
            candidates["human"] = lambda: self.human_ratings.ratings
        if gold is not None:
            candidates["gold"] = lambda: gold.source_ratings.ratings.separate_clusters()
        if others is not None:
            # Items have the same codes in the battles of all judges, and lower ones than rows
            # without an item.
            shared_items = len(others.table["item"].cat.categories) if others.has_items else 0
            candidates["other judges"] = lambda: fit_ratings(others).ratings.separate_clusters(
                shared_items
            )
        reasons = []
        for who, fit_reference in candidates.items():
            ratings = attempt(fit_reference, REFERENCE_REMEDY)
            if not isinstance(ratings, Missing):
                return replace(ratings, who=who)
            reasons.append(f"{who}: {ratings.why}")
        if not reasons:
            reasons.append("there are no human labels, no gold standard and no other judge")
        return Missing("; ".join(reasons), REFERENCE_REMEDY)

    @property
    def record(self) -> JudgeRecord | None:
        """The judge's realization, model and prompt as recorded; None if no row names the judge."""
        return None if self.judge is None else self.battles.judge_of(self.judge)

    @property
    def realization(self) -> str | None:
        """The name of the realization by which the judge was asked; None if unknown."""
        return self.record.realization if self.record else None

    @property
    def model(self) -> str | None:
        """The name of the judge's model as recorded.

        None for a human, if no row names the judge, or if the model is unknown.
        """
        return None if self.record is None else self.record.model


def near_ties(
    credit: np.ndarray, margin: np.ndarray, near_tie: float
) -> tuple[np.ndarray, str] | None:
    """Find near-ties by their margins, or by their credits if there are no margins.

    Args:
        credit: credits, shape (rows,).
        margin: margins, NaN if unknown, shape (rows,).
        near_tie: largest |margin| of a near-tie.

    Returns:
        The mask of near-ties, shape (rows,), and their rule as a text such as `credit within 0.5 ±
        0.025`. If any row has a margin, a row without one is no near-tie. The result is None if
        there are neither margins nor soft credits.
    """
    if np.isfinite(margin).any():
        has_small_margin = np.abs(margin) <= near_tie + ROUNDING_ERROR
        return has_small_margin, f"|margin| of both orders' mean up to {near_tie:g}"
    if is_soft(credit):
        has_close_credit = np.abs(credit - 0.5) <= CLOSE_CREDIT + ROUNDING_ERROR
        return has_close_credit, f"credit within 0.5 ± {CLOSE_CREDIT:g}"
    return None


def is_soft(credit: np.ndarray) -> bool:
    """Return whether any credit is neither a hard verdict nor the mean of two (`HARD_CREDITS`).

    NaN is ignored; without credits the result is False.
    """
    return not np.isin(credit[~np.isnan(credit)], HARD_CREDITS).all()


def read_gold(source: str) -> Gold:
    """Read a gold standard.

    Args:
        source: path of a ranking in JSON, of a table with the columns model and score (or elo, or
            rating), or of battles. A table with a column item is read as battles.

    Returns:
        The gold standard. It has the battles, the scores of a table (on the Elo scale), or the
        scores of a ranking's first standing (models without a score are left out).

    Raises:
        DataError: the file is none of these, does not exist, or has unusable values.
    """
    path = named_file(source)
    if path is not None:
        from podium.rankers.json_files import read_ranking

        ranking = read_ranking(path, GOLD_REMEDY)
        if ranking is not None and ranking.standings:
            standing = ranking.standings[0]
            scores = {}
            for entry in standing.entries:
                if entry.score is not None:
                    scores[entry.model] = entry.score
            return Gold(source, scores, standing.scale)
        frame = read_records(path)
        column = next((name for name in SCORE_COLUMNS if name in frame), None)
        if column and "model" in frame and "item" not in frame:
            return Gold(source, _gold_scores(source, frame["model"], frame[column]))
    try:
        return Gold(source, battles=read_battles(source))
    except DataError as error:
        if error.row is not None:
            raise
        raise DataError(
            f"neither a ranking nor battles: {error.problem}", source=source, remedy=GOLD_REMEDY
        ) from None


def _gold_scores(source: str, models: "pd.Series", scores: "pd.Series") -> dict[str, float]:
    """Return the scores of a table by model.

    Args:
        source: name of the file in error messages.
        models: names of the models, one per row.
        scores: their scores, as numbers or text.

    Raises:
        DataError: a score is no number or beyond ±`LARGEST`, or a model is repeated.
    """
    import pandas as pd

    numbers = pd.to_numeric(scores, errors="coerce").to_numpy(dtype=np.float64)
    unusable = np.flatnonzero(np.isnan(numbers) | (np.abs(numbers) > LARGEST))
    if len(unusable):
        row = int(unusable[0])
        score = f"score {text_of(scores.iloc[row])!r} of {models.iloc[row]!r}"
        raise DataError(
            f"{score} is not a number, or too large",
            source=source,
            row=f"row {row + 1}",
            remedy="give every system a score, or leave its row out",
        )
    names = [str(text_of(model)) for model in models]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        problem = f"more than one score of {some(repeated)}"
        raise DataError(problem, source=source, remedy="keep one row per system")
    return dict(zip(names, map(float, numbers), strict=True))
