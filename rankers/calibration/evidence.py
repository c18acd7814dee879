"""Battles with the judge's verdict, its signal and a human label: the data of a calibration."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from podium.data.battles import Battles
from podium.defaults import RANKER_OF_UNKNOWN_SCALE
from podium.distributions import expit
from podium.errors import NotConvergedError, NotIdentifiedError, UnknownScaleError
from podium.rankers.calibration.calibration import Stability
from podium.rankers.calibration.signals import Signal, beta_direction, readable_margins
from podium.rankers.fit.coded import (
    Cluster,
    CodedBattles,
    centred_gram,
    cluster_codes,
    hard_credits,
    order_of_battles,
)
from podium.rankers.fit.graph import comparison_graph, separated_models
from podium.rankers.fit.newton import MOST_STEPS, DesignMatrix, Likelihood, SingularError, maximize
from podium.rankers.fit.pairs import pair_sums
from podium.wording import quantity, word_for

FEWEST_MODELS = 3
"""A calibration needs at least this many models: one is held out, and the two others have a
difference of ratings."""
SUBSET_SIZES = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
"""Sizes of the random subsets of human preferences in `measure_stability`."""
SUBSETS_PER_SIZE = 20
"""Number of random subsets of each size."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Battles in a canonical order and orientation.

    The order does not depend on the order of the rows, on which model is a, or on the models'
    names. The first model of a battle is the one with the lower code.

    Attributes:
        first: lower code of the two models, shape (battles,).
        second: higher code of the two models, shape (battles,).
        hard: credit of first by the hard verdict (0, 0.5 or 1), NaN if unknown, shape (battles,).
        human: credit of first by human labels, NaN if unknown, shape (battles,).
        signal: the judge's signal from the side of first.
        margin: the judge's score of first minus its score of second, NaN if unknown, shape
            (battles,).
        weight: weights, shape (battles,).
        cluster: cluster codes, shape (battles,).
        unit: what a cluster is.
        models: names of the models, by code.
        dropped: names of the models that `select_calibratable` left out.
        unbounded: names of the dropped models whose ratings human labels do not bound.
    """

    first: np.ndarray
    second: np.ndarray
    hard: np.ndarray
    human: np.ndarray
    signal: Signal
    margin: np.ndarray
    weight: np.ndarray
    cluster: np.ndarray
    unit: str
    models: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    unbounded: tuple[str, ...] = ()

    @property
    def has_preference(self) -> np.ndarray:
        """Mask of battles with a signal and a human label that is no tie, shape (battles,)."""
        return self.signal.is_known & ~np.isnan(self.human) & (self.human != 0.5)

    def coded_by(self, credit: np.ndarray) -> CodedBattles:
        """Return the battles coded for a joint fit.

        `credit` is the credit of first, shape (battles,); battles with NaN are left out. Clusters
        get new codes, and models keep theirs.
        """
        rows = ~np.isnan(credit)
        present, cluster = np.unique(self.cluster[rows], return_inverse=True)
        return CodedBattles(
            a=self.first[rows],
            b=self.second[rows],
            credit=credit[rows],
            weight=self.weight[rows],
            cluster=cluster,
            clusters=len(present),
            unit=self.unit,
            models=self.models,
        )

    def take(self, rows: np.ndarray) -> "Evidence":
        """Select the battles of a mask or of positions; models and clusters keep their codes."""
        columns = ("first", "second", "hard", "human", "margin", "weight", "cluster")
        signal = replace(self.signal, x=self.signal.x[rows])
        taken = {name: getattr(self, name)[rows] for name in columns}
        return replace(self, signal=signal, **taken)

    def fit_weights(
        self, keep: np.ndarray | None = None, start: np.ndarray | None = None
    ) -> np.ndarray:
        """Fit the map from signal x to human preference y.

        The weights b maximize the sum over battles of w [y log s(x b) + (1 - y) log s(-x b)],
        minus b' P b / 2. Here w is the weight of the battle, s the logistic function and P the
        penalty of the signal.

        Args:
            keep: mask of the battles to use, shape (battles,); by default all.
            start: first guess of the weights, shape (features,).

        Returns:
            The weights, shape (features,).

        Raises:
            UnknownScaleError: no battle has both a signal and a preference, or the battles do not
                bound the weights.
            NotConvergedError: the fit did not reach its maximum.

        Source: Soft-Elo (Kargi and Salinas 2026), equation 6, for one feature and P = 0.
        """
        likelihood = self._likelihood(self._select_preferences(keep))
        try:
            return maximize(likelihood, start).parameters
        except (NotIdentifiedError, SingularError):
            raise UnknownScaleError(
                "the map from the judge's signal to human preferences has no finite maximum: the "
                "signal is always 0, or humans agree with its sign every time or never, or one "
                "of its parts repeats another; more battles with human labels would bound it, or "
                "fewer parts",
                instead=RANKER_OF_UNKNOWN_SCALE,
            ) from None
        except NotConvergedError:
            raise NotConvergedError(
                f"no map from the judge's signal to human preferences after {MOST_STEPS} Newton "
                "steps; a few signals may be very much larger than the others"
            ) from None

    def fit_with_covariance(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Fit the map to all battles.

        Returns:
            The weights, shape (features,); their cluster-robust covariance, shape (features,
            features), NaN for a single cluster; and the number of clusters that have a battle with
            both a signal and a preference.

        Raises:
            UnknownScaleError, NotConvergedError: as of `fit_weights`.
        """
        rows = self._select_preferences()
        weights = self.fit_weights()
        x = self.signal.x[rows]
        present, codes = np.unique(self.cluster[rows], return_inverse=True)
        clusters = len(present)
        bread = np.linalg.inv(self._likelihood(rows).information_at(weights))
        predicted = expit(x @ weights)
        surplus = self.weight[rows] * (self.human[rows] - predicted)
        # The gradient of the log-likelihood: of each battle, then summed over each cluster.
        gradient = surplus[:, None] * x
        scores = np.stack([np.bincount(codes, column) for column in gradient.T], axis=1)
        meat, _ = centred_gram([scores])
        correction = clusters / (clusters - 1) if clusters > 1 else np.nan
        covariance = correction * bread @ meat @ bread
        return weights, covariance, clusters

    def _likelihood(self, rows: np.ndarray) -> Likelihood:
        """Return the likelihood of the map's weights, given the battles of the mask `rows`.

        All these battles must have a signal and a human label. `rows` has shape (battles,).
        """
        weight = self.weight[rows]
        design = DesignMatrix(columns=self.signal.x[rows])
        return Likelihood(
            design=design,
            credit=weight * self.human[rows],
            weight=weight,
            penalty=self.signal.penalty,
        )

    def _select_preferences(self, keep: np.ndarray | None = None) -> np.ndarray:
        """Return the mask of battles in `keep` that have a signal and a human preference.

        `keep` is a mask, shape (battles,); None stands for all battles.

        Raises:
            UnknownScaleError: no battle has both.
        """
        rows = self.has_preference if keep is None else self.has_preference & keep
        if rows.any():
            return rows
        has_label = ~np.isnan(self.human)
        labelled, ties = int(has_label.sum()), int((self.human == 0.5).sum())
        beside = int((has_label & self.signal.is_known).sum())
        raise UnknownScaleError(
            f"no battle has both a signal ({self.signal.kind}) and a human preference: "
            f"{labelled:,} of {len(has_label):,} "
            f"{word_for(labelled, 'has', 'have')} a human label, "
            f"{ties:,} of those {word_for(ties, 'is a tie', 'are ties')} or votes that cancel, and "
            f"{beside:,} {word_for(beside, 'has', 'have')} a signal beside it",
            instead=RANKER_OF_UNKNOWN_SCALE,
        )


def build_evidence(battles: Battles, signal: Signal, cluster: Cluster = "item") -> Evidence:
    """Bring battles and their signal into the canonical order of `Evidence`.

    Args:
        battles: battles, with or without a column `human`.
        signal: the judge's signal about model a of each battle.
        cluster: what a cluster is; `item` stands for a group of items if there are groups. It is
            `row` if the battles have neither.
    """
    table = battles.table
    a, b = battles.model_codes
    is_swapped = a > b
    human = battles.numbers_of("human")
    hard = hard_credits(battles)
    unsorted = Evidence(
        first=np.minimum(a, b),
        second=np.maximum(a, b),
        hard=np.where(is_swapped, 1 - hard, hard),
        human=np.where(is_swapped, 1 - human, human),
        signal=replace(signal, x=np.where(is_swapped[:, None], -signal.x, signal.x)),
        margin=np.where(is_swapped, -1, 1) * readable_margins(battles),
        weight=table["weight"].to_numpy() if "weight" in table else np.ones(len(table)),
        cluster=cluster_codes(battles, cluster),
        unit=battles.unit if cluster == "item" else "row",
        models=battles.models,
    )
    evidence = unsorted.take(np.lexsort((order_of_battles(battles), unsorted.cluster)))
    _, cluster_code = np.unique(evidence.cluster, return_inverse=True)
    return replace(evidence, cluster=cluster_code)


def select_calibratable(evidence: Evidence) -> Evidence:
    """Keep the models with labels, verdicts, signals and a bounded rating by humans.

    Leaving out a model may leave others without labels or unbounded, so the selection is repeated
    until it is stable. A battle between two kept models is kept even if it lacks a verdict, a
    signal or a label. Models get new codes.

    Raises:
        NotIdentifiedError: fewer than three models are left.
    """
    selected = _select_complete(evidence)
    dropped = tuple(name for name in evidence.models if name not in selected.models)
    unbounded: list[str] = []
    is_unbounded = _unbounded_models(selected)
    while is_unbounded.any():
        unbounded += [selected.models[k] for k in np.flatnonzero(is_unbounded)]
        selected = _select_complete(_restrict_models(selected, ~is_unbounded))
        is_unbounded = _unbounded_models(selected)
    if len(selected.models) < FEWEST_MODELS:
        raise NotIdentifiedError(
            f"{len(selected.models)} of {quantity(len(evidence.models), 'model')} "
            f"{word_for(len(selected.models), 'has', 'have')} battles with human labels, verdicts "
            "and signals against each other, and a rating by humans that these bound; "
            f"holding one out needs at least {FEWEST_MODELS}: label more battles "
            "(`podium label`), until each model wins some and loses some"
        )
    return replace(selected, dropped=dropped, unbounded=tuple(sorted(unbounded)))


def _restrict_models(evidence: Evidence, is_kept: np.ndarray) -> Evidence:
    """Return the battles between the models of the mask `is_kept`, shape (models,).

    Models get new codes in the same order; clusters keep their codes.
    """
    part = evidence.take(is_kept[evidence.first] & is_kept[evidence.second])
    code = np.cumsum(is_kept) - 1
    names = np.array(evidence.models, dtype=object)[is_kept]
    return replace(
        part,
        first=code[part.first],
        second=code[part.second],
        models=tuple(names),
    )


def _unbounded_models(evidence: Evidence) -> np.ndarray:
    """Return the mask of models whose ratings human labels do not bound, shape (models,).

    If the labels do not connect the models, or there are none, no model is in the mask: a joint
    fit will fail.
    """
    pairs = pair_sums(evidence.coded_by(evidence.human))
    if not len(pairs.first) or comparison_graph(pairs).groups > 1:
        return np.zeros(len(evidence.models), dtype=bool)
    return separated_models(pairs)


def _select_complete(evidence: Evidence) -> Evidence:
    """Keep the models that have human labels, verdicts and signals in battles among themselves.

    A model needs at least one battle with each of the three, not one battle with all three. Models
    get new codes, unless all are kept.
    """
    while True:
        is_kept = np.ones(len(evidence.models), dtype=bool)
        for is_known in (
            ~np.isnan(evidence.human),
            ~np.isnan(evidence.hard),
            evidence.signal.is_known,
        ):
            models_met = np.concatenate([evidence.first[is_known], evidence.second[is_known]])
            is_kept &= np.bincount(models_met, minlength=len(is_kept)) > 0
        if is_kept.all():
            return evidence
        evidence = _restrict_models(evidence, is_kept)


def measure_stability(evidence: Evidence, rng: np.random.Generator) -> list[Stability]:
    """Return mean and standard deviation of beta over random subsets of human preferences.

    There is a record for each subset size of 25, 50, 100, ... preferences (`SUBSET_SIZES`) that is
    below the number of all preferences. For each size, 20 subsets are drawn without replacement.
    The standard deviation is corrected for the battles that large subsets share.
    """
    rows = np.flatnonzero(evidence.has_preference)
    stability = []
    for size in SUBSET_SIZES:
        if size >= len(rows):
            break
        betas = []
        for _ in range(SUBSETS_PER_SIZE):
            keep = np.zeros(len(evidence.first), dtype=bool)
            keep[rng.choice(rows, size, replace=False)] = True
            with suppress(NotIdentifiedError, NotConvergedError):
                weights = evidence.fit_weights(keep)
                direction = beta_direction(evidence.signal.kind, weights)
                betas.append(float(direction @ weights))
        mean = None
        sd = None
        if len(betas) > 1:
            mean = float(np.mean(betas))
            # Large subsets, drawn without replacement, share most battles, and so vary too little.
            # The root is the correction for a finite population.
            share_not_drawn = 1 - size / len(rows)
            sd = float(np.std(betas, ddof=1) / np.sqrt(share_not_drawn))
        stability.append(
            Stability(
                battles=size,
                mean=mean,
                sd=sd,
                draws=len(betas),
                failed=SUBSETS_PER_SIZE - len(betas),
            )
        )
    return stability
