"""Pointwise scores by item, model and voter or judge, and tests of models by raters alone.

A mean without a usable standard error, such as one of equal scores or of few raters, is compared
by tests that count clusters. These are the tests whose clusters are raters.
"""

from dataclasses import dataclass

import numpy as np

from podium.rankers.errors.difference import DifferenceTest, grouped_difference


@dataclass(frozen=True, slots=True)
class RaterScores:
    """Mean score of each model on each item by each rater.

    Attributes:
        score: the scores, sorted by model, then by item and rater, shape (cells,).
        place: code of the item times the number of raters, plus code of the rater, shape (cells,).
        first_cell: the cells of model k begin at element k and end before element k + 1, shape
            (models + 1,).
        raters: number of raters; battles without a named rater count as one more.
        item_weight: weight of each item, shape (items,).
        unit: what a rater is: `voter` or `judge`.
    """

    score: np.ndarray
    place: np.ndarray
    first_cell: np.ndarray
    raters: int
    item_weight: np.ndarray
    unit: str

    @classmethod
    def of_rows(
        cls,
        score: np.ndarray,
        item: np.ndarray,
        rater: np.ndarray,
        model: np.ndarray,
        models: int,
        item_weight: np.ndarray,
        unit: str,
    ) -> "RaterScores":
        """Return the mean scores of rows; a score may stand in several rows.

        Args:
            score: the scores, none of them NaN, shape (rows,).
            item: code of the item of each row, from 0, shape (rows,).
            rater: code of the rater of each row, from 0, shape (rows,).
            model: code of the model of each row, shape (rows,).
            models: number of models.
            item_weight: weight of each item, shape (items,).
            unit: what a rater is.
        """
        raters = int(rater.max()) + 1
        places = len(item_weight) * raters
        cells, cell = np.unique(
            model * np.int64(places) + item * raters + rater, return_inverse=True
        )
        first_cell = np.searchsorted(cells // places, np.arange(models + 1))
        mean = np.bincount(cell, score) / np.bincount(cell)
        return cls(
            score=mean,
            place=cells % places,
            first_cell=first_cell,
            raters=raters,
            item_weight=item_weight,
            unit=unit,
        )

    def raters_by_model(self) -> np.ndarray:
        """Return the number of raters who scored each model, shape (models,)."""
        models = len(self.first_cell) - 1
        numbers = np.zeros(models, dtype=np.int64)
        for model in range(models):
            place = self.place[self._cells_of(model)]
            numbers[model] = len(np.unique(place % self.raters))
        return numbers

    def difference(self, first: int, second: int) -> DifferenceTest | None:
        """Test the mean difference of two models, given by code, with raters as clusters.

        A rater contributes the weighted mean difference on the items where he or she scored both
        models. The raters of an item share its weight. The result is None if no rater scored both
        models on an item.
        """
        cells_of_first = self._cells_of(first)
        cells_of_second = self._cells_of(second)
        place, of_first, of_second = np.intersect1d(
            self.place[cells_of_first],
            self.place[cells_of_second],
            assume_unique=True,
            return_indices=True,
        )
        if not len(place):
            return None
        scores_of_first = self.score[cells_of_first][of_first]
        scores_of_second = self.score[cells_of_second][of_second]
        both = np.stack([scores_of_first, scores_of_second])
        largest = 1.0 if both.min() >= 0 and both.max() <= 1 else np.inf
        item = place // self.raters
        raters_of_item = np.bincount(item)[item]
        return grouped_difference(
            scores_of_first - scores_of_second,
            weight=self.item_weight[item] / raters_of_item,
            group=place % self.raters,
            largest=largest,
            unit=self.unit,
        )

    def _cells_of(self, model: int) -> slice:
        """Return the cells of a model, given by code."""
        return slice(int(self.first_cell[model]), int(self.first_cell[model + 1]))
