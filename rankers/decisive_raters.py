"""Voters or judges whose removal changes which model is first, or which of two models is ahead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from podium.data.battles import Battles
from podium.distinct_values import distinct_values
from podium.rankers.drop_out import strengths_without_each
from podium.rankers.errors.raters import Raters, raters_of
from podium.rankers.fit.cells import pair_sums_with_items
from podium.rankers.fit.coded import CodedBattles, code_battles, ratio_or_nan
from podium.rankers.fit.pairs import win_rates
from podium.rankers.pointwise import ScorePlaces, score_places
from podium.rankers.standings import SAME_SCORE

FEWEST_REMOVABLE = 2
"""With fewer voters or judges than this, nothing remains if one is left out."""
MOST_FITTED = 200
"""With up to this many voters or judges, scores are computed without each of them. With more, this
is done without those whose influence or number of verdicts is largest."""
MOST_ROWS = 2_000_000
"""Win rates and means without each rater read at most about this many rows in all."""
FEWEST_FITTED = 20
"""Win rates and means are computed without this many raters in any case, if there are as many."""


@dataclass(frozen=True, slots=True)
class DecisiveRater:
    """A voter or judge without whom another model is ahead.

    Attributes:
        unit: what the rater is: `voter` or `judge`.
        name: name of the rater, as in the column.
        verdicts: number of the rater's readable verdicts, or of scores if `of_scores`.
        of_scores: whether the models are compared by means of scores; else by verdicts.
        leader: the model that is ahead.
        new_leader: the model that is ahead without the rater.
        number: number of raters each of whose removal alone changes who is ahead.
    """

    unit: str
    name: str
    verdicts: int
    of_scores: bool
    leader: str
    new_leader: str
    number: int


@dataclass(frozen=True, slots=True)
class ScoresWithout:
    """Scores of models by all verdicts, and without each voter or judge.

    Attributes:
        raters: the voters or judges.
        verdicts: number of verdicts or scores of each, shape (raters,).
        models: names by code.
        score: the scores by all, shape (models,).
        without: the scores without each, NaN where unknown, shape (raters, models).
        of_scores: whether these are means of scores.
    """

    raters: Raters
    verdicts: np.ndarray
    models: tuple[str, ...]
    score: np.ndarray
    without: np.ndarray
    of_scores: bool = False

    def leads(self, leader: str, rivals: tuple[str, ...] = ()) -> bool:
        """Return whether a model is ahead of each rival by the scores of all raters.

        `rivals` are names of models with scores here; all other models if empty. The result is
        False if the leader is not among the models, if its score or that of a rival is NaN, or if
        it is level with a rival (a lead below `SAME_SCORE`).
        """
        if leader not in self.models:
            return False
        others = self._codes_of(leader, rivals)
        score_of_leader = self.score[self.models.index(leader)]
        return bool(self.score[others].max() <= score_of_leader - SAME_SCORE)

    def decisive_rater_of_pairs(self, pairs: Sequence[tuple[str, str]]) -> DecisiveRater | None:
        """Return the rater whose removal turns round who is ahead in one of several pairs.

        If there are several such raters or pairs, the result has the rater and the pair for which
        the lead of the model that was behind is largest. Of equal leads, the first rater counts.

        Args:
            pairs: names of models, the one that is ahead by all verdicts first (`pairs_in_order`).

        Returns:
            The rater; None if `pairs` is empty or no removal turns round a pair. `number` counts
            the raters each of whom turns round any of the pairs.
        """
        if not pairs:
            return None
        ahead = [self.models.index(first) for first, _ in pairs]
        behind = [self.models.index(second) for _, second in pairs]
        # Without each rater, the lead in each pair of the model that was behind, shape (raters,
        # pairs); -inf if unknown.
        leads = self.without[:, behind] - self.without[:, ahead]
        leads = np.where(np.isnan(leads), -np.inf, leads)
        place_of_largest = np.argmax(np.round(leads, 9))
        rater, pair = np.unravel_index(place_of_largest, leads.shape)
        if leads[rater, pair] <= SAME_SCORE:
            return None
        number_of_raters = int((leads.max(axis=1) > SAME_SCORE).sum())
        first, second = pairs[int(pair)]
        return self._describe_rater(
            int(rater), leader=first, new_leader=second, number=number_of_raters
        )

    def pairs_in_order(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Select the pairs whose first model is ahead by the scores of all raters, in their order.

        Pairs with a model that is not among `models` are left out. A pair is not turned round: if
        its second model is ahead, it is left out, too.
        """
        known_models = {*self.models}
        rated = [pair for pair in pairs if known_models.issuperset(pair)]
        return [pair for pair in rated if self._is_ahead(*pair)]

    def _is_ahead(self, first: str, second: str) -> bool:
        """Return whether a model is ahead of another by all verdicts, by at least `SAME_SCORE`.

        The result is False if a score is NaN.
        """
        score_of_first = self.score[self.models.index(first)]
        score_of_second = self.score[self.models.index(second)]
        return bool(score_of_second <= score_of_first - SAME_SCORE)

    def _describe_rater(
        self, rater: int, leader: str, new_leader: str, number: int
    ) -> DecisiveRater:
        """Return the record of a rater.

        Args:
            rater: code of the rater.
            leader: name of the model that is ahead by all verdicts.
            new_leader: name of the model that is ahead without the rater.
            number: number of raters each of whose removal alone changes who is ahead.
        """
        return DecisiveRater(
            unit=self.raters.unit,
            name=str(self.raters.names[rater]),
            verdicts=int(self.verdicts[rater]),
            of_scores=self.of_scores,
            leader=leader,
            new_leader=new_leader,
            number=number,
        )

    def _codes_of(self, leader: str, rivals: tuple[str, ...]) -> list[int]:
        """Return the codes of the rivals, or of all models but the leader if `rivals` is empty."""
        names = rivals or tuple(name for name in self.models if name != leader)
        return [self.models.index(name) for name in names]

    def decisive_rater(self, leader: str, rivals: tuple[str, ...] = ()) -> DecisiveRater | None:
        """Return the rater whose removal puts another model ahead of the leader.

        If several raters are decisive, the one without whom the lead of the new leader is largest
        is returned; of equal leads, the rater with the lowest code.

        Args:
            leader: the model that is ahead by the scores of all raters (see `leads`).
            rivals: the models that are compared with the leader; all others if empty.

        Returns:
            The rater; None if no removal changes who is ahead.
        """
        code = self.models.index(leader)
        others = self._codes_of(leader, rivals)
        # Without each rater, the lead of each rival over the leader, shape (raters, rivals); it is
        # -inf if unknown.
        leads = self.without[:, others] - self.without[:, [code]]
        leads = np.where(np.isnan(leads), -np.inf, leads)
        largest = leads.max(axis=1)
        rater = int(np.argmax(np.round(largest, 9)))
        if largest[rater] <= SAME_SCORE:
            return None
        code_of_new_leader = others[int(np.argmax(leads[rater]))]
        new_leader = self.models[code_of_new_leader]
        number_of_raters = int((largest > SAME_SCORE).sum())
        return self._describe_rater(rater, leader, new_leader, number_of_raters)


def strengths_without_raters(
    battles: Battles, credit: np.ndarray | None = None
) -> ScoresWithout | None:
    """Fit Bradley-Terry log-strengths to all battles, and without each voter or judge.

    With more than 200 raters (`MOST_FITTED`), fits are made without the 200 whose removal takes
    most from the lead of the first model; the scores without the others are NaN. So are the scores
    without a rater whose removal leaves models unconnected.

    Args:
        battles: the battles.
        credit: credits in place of those of the battles, shape (battles,).

    Returns:
        The log-strengths; None if there are fewer than two voters or judges.

    Raises:
        NotIdentifiedError: the battles do not connect the models.
        NotConvergedError: a fit did not reach its maximum.
    """
    raters = raters_of(battles, fewest=FEWEST_REMOVABLE)
    if raters is None:
        return None
    coded = _with_raters_as_clusters(code_battles(battles, credit=credit), raters)
    score, without = strengths_without_each(coded, MOST_FITTED)
    verdicts = np.bincount(raters.code)[: raters.number]
    return ScoresWithout(raters, verdicts, coded.models, score, without[: raters.number])


def _with_raters_as_clusters(coded: CodedBattles, raters: Raters) -> CodedBattles:
    """Return battles whose clusters are the raters; a battle without a rater is a cluster."""
    return replace(coded, cluster=raters.code, clusters=int(raters.code.max()) + 1)


def rates_without_raters(battles: Battles) -> ScoresWithout | None:
    """Compute win rates by all battles, and without each voter or judge.

    Of many raters, the rates are computed without those who have the most verdicts, and are NaN
    without the others (`MOST_FITTED`, `MOST_ROWS`).

    Returns:
        The rates; None if there are fewer than two voters or judges.

    Raises:
        NotIdentifiedError: no battle is readable.
    """
    raters = raters_of(battles, fewest=FEWEST_REMOVABLE)
    if raters is None:
        return None
    coded = code_battles(battles)
    verdicts = np.bincount(raters.code)[: raters.number]

    def rates_without(rater: int) -> np.ndarray:
        """Return the win rates without one rater, shape (models,)."""
        return win_rates(pair_sums_with_items(coded.take(raters.code != rater)))

    score = win_rates(pair_sums_with_items(coded))
    without = _without_most_active(
        verdicts=verdicts, scores_without=rates_without, models=len(score), rows=len(coded.a)
    )
    return ScoresWithout(raters, verdicts, coded.models, score, without)


def _without_most_active(
    verdicts: np.ndarray,
    scores_without: Callable[[int], np.ndarray],
    models: int,
    rows: int,
) -> np.ndarray:
    """Compute scores without each of the raters with the most verdicts, shape (raters, models).

    The scores without other raters are NaN, and so are the scores without a rater who gave all
    verdicts. At most `MOST_FITTED` raters are left out, fewer if `rows` is large, but up to
    `FEWEST_FITTED` in any case.

    Args:
        verdicts: number of verdicts of each rater, shape (raters,).
        scores_without: function of the code of a rater to the scores, shape (models,).
        models: number of models.
        rows: number of rows that the function reads.
    """
    without = np.full((len(verdicts), models), np.nan)
    most = min(MOST_FITTED, max(MOST_ROWS // rows, FEWEST_FITTED))
    most_active_first = np.argsort(-verdicts, kind="stable")
    for rater in most_active_first[:most].tolist():
        if verdicts[rater] < verdicts.sum():
            without[rater] = scores_without(rater)
    return without


def means_without_raters(battles: Battles) -> ScoresWithout | None:
    """Compute means over items of the scores of all voters or judges, and without each of them.

    The mean of a model without a rater is over the items on which other raters scored it. Of many
    raters, the means are computed without those who gave the most scores, and are NaN without the
    others (`MOST_FITTED`, `MOST_ROWS`).

    Returns:
        The means; None if there are fewer than two voters or judges with scores.

    Raises:
        NotIdentifiedError: there are no scores, or a model has none.
    """
    places = score_places(battles)
    raters = raters_of(battles, places.has_score, fewest=FEWEST_REMOVABLE)
    if raters is None:
        return None
    code_of_battle = np.full(len(battles), -1, dtype=np.int64)
    code_of_battle[places.has_score] = raters.code
    code = np.tile(code_of_battle, 2)
    models = len(battles.models)

    def means_without(rater: int) -> np.ndarray:
        """Return the means without one rater, shape (models,)."""
        return _means_over_items(places, places.is_known & (code != rater), models)

    verdicts = _count_scores(places, code, models)[: raters.number]
    score = _means_over_items(places, places.is_known, models)
    without = _without_most_active(
        verdicts=verdicts, scores_without=means_without, models=models, rows=len(code)
    )
    return ScoresWithout(raters, verdicts, battles.models, score, without, of_scores=True)


def _means_over_items(places: ScorePlaces, is_kept: np.ndarray, models: int) -> np.ndarray:
    """Return means over items of the kept scores, as of the ranker `mean`, shape (models,).

    The mean of a model without a kept score is NaN.

    Args:
        places: the scores.
        is_kept: mask of the scores that are kept, shape (2 battles,).
        models: number of models.
    """
    items = int(places.item.max()) + 1
    cell = places.item[is_kept] * models + places.model[is_kept]
    total = np.bincount(cell, places.score[is_kept], items * models)
    count = np.bincount(cell, minlength=items * models)
    values = ratio_or_nan(total, count).reshape(items, models)
    weight = np.ones(items) if places.weight is None else places.weight
    known_weight = weight[:, None] * ~np.isnan(values)
    return ratio_or_nan(np.nansum(weight[:, None] * values, axis=0), known_weight.sum(axis=0))


def _count_scores(places: ScorePlaces, rater: np.ndarray, models: int) -> np.ndarray:
    """Count the scores of each rater, shape (raters,).

    Several scores of one rater for one model on one item count once.

    Args:
        places: the scores.
        rater: code of the rater of each, shape (2 battles,).
        models: number of models.
    """
    cells = (int(places.item.max()) + 1) * models
    is_known = places.is_known
    cell = places.item[is_known] * models + places.model[is_known]
    cell_of_rater = distinct_values(rater[is_known] * np.int64(cells) + cell)
    return np.bincount(cell_of_rater // cells)
