"""Human labels as battles: ratings by labels alone, and a test of random sampling."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.data.human_labels import MATCHUP_COLUMNS, matchup_frame, mean_labels
from podium.errors import NotIdentifiedError
from podium.notices.notice import Notice
from podium.rankers.calibration.calibration import SMALLEST_SE
from podium.rankers.errors.intervals import centre_covariance
from podium.rankers.fit.coded import CodedBattles, cluster_codes
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths

LARGEST_Z = 3.0
"""If the judge's mean confidence in labelled battles differs from that in the others by more than
this many standard errors, a warning is given. By chance, this happens in 3 of 1,000 samples."""
NO_LABELS = (
    "no label by humans of any battle between these models: give them by --human-labels FILE "
    "(item, model_a, model_b, credit; `podium label` makes a sheet), by a column `human`, or by "
    "--human-judge NAME"
)


@dataclass(frozen=True, slots=True)
class HumanLabelFit:
    """Human labels of battles between ranked models.

    Attributes:
        coded: one row per labelled battle. The credit is the mean of its votes, and the weight is
            their number.
        votes: sum of the weights.
        unknown: names of labelled models that are not ranked, because they have no verdicts.
        left_out: number of labels that are left out because of these models.
        battles: mask of the judge's battles that have a human label, shape (battles,).
    """

    coded: CodedBattles
    votes: float
    unknown: tuple[str, ...]
    left_out: int
    battles: np.ndarray

    def left_out_warning(self) -> Notice:
        """Return a warning that names models whose labels are left out."""
        fields = {"labels": self.left_out, "models": list(self.unknown)}
        return Notice("labels-left-out", fields)


def human_label_fit(
    battles: Battles, models: tuple[str, ...], items: frozenset[str] | None = None
) -> HumanLabelFit:
    """Collect the human labels, and average the votes on each battle.

    The labels are those of `battles.votes` if there are any, else those of the column `human`.

    Args:
        battles: the judge's battles, with labels.
        models: names of the ranked models.
        items: items whose labels are used; None for all.

    Returns:
        The labels. Those of models that are not ranked are left out and counted.

    Raises:
        NotIdentifiedError: there is no label of a battle between ranked models.
    """
    if battles.votes is None and "human" not in battles.table:
        raise NotIdentifiedError(NO_LABELS)
    source = battles if battles.votes is None else battles.votes
    means = mean_labels(source, "human" if battles.votes is None else "credit").reset_index()
    if items is not None:
        means = means[means["item"].isin(items)]
    codes = pd.Series(range(len(models)), index=pd.Index(models, dtype=object))
    first, second = (means[side].map(codes) for side in ("first", "second"))
    unknown_first = means["first"][first.isna()]
    unknown_second = means["second"][second.isna()]
    unknown = {*unknown_first, *unknown_second}
    known = (first.notna() & second.notna()).to_numpy()
    if not known.any():
        raise NotIdentifiedError(NO_LABELS)
    votes = means["weight"].astype(np.float64)
    if battles.votes is None:
        # In a column `human`, a label is repeated beside the verdict of each judge, but it is one
        # vote.
        votes = votes / means["judges"]
    cluster = means[known].groupby(["item", "row"], sort=True).ngroup().to_numpy()
    coded = CodedBattles(
        a=first[known].to_numpy(dtype=np.int64),
        b=second[known].to_numpy(dtype=np.int64),
        credit=means["credit"][known].to_numpy(),
        weight=votes[known].to_numpy(),
        cluster=cluster,
        clusters=int(cluster.max()) + 1,
        unit="item" if source.has_items else "row",
        models=models,
    )
    left_out = round(float(votes[~known].sum()))
    labelled = _labelled_battles(battles, means[known])
    return HumanLabelFit(
        coded, float(coded.weight.sum()), tuple(sorted(unknown)), left_out, labelled
    )


def _labelled_battles(battles: Battles, labels: pd.DataFrame) -> np.ndarray:
    """Return the mask of the judge's battles that have one of these labels, shape (battles,).

    `labels` is a part of the table that `mean_labels` returns. Labels of another table that have
    no item are ignored, because they cannot be matched with battles.
    """
    if battles.votes is not None:
        labels = labels[labels["row"] < 0]
    matchups = pd.MultiIndex.from_frame(matchup_frame(battles))
    is_labelled: np.ndarray = matchups.isin(pd.MultiIndex.from_frame(labels[MATCHUP_COLUMNS]))
    return is_labelled


def human_ratings(labels: CodedBattles, regularization: float) -> tuple[np.ndarray, np.ndarray]:
    """Fit log-strengths to human labels alone.

    Returns:
        The log-strengths and their standard errors, shape (models,) each. They are NaN for models
        without labels or with ratings that the labels do not bound, and for all models if the
        labels do not connect those that have some. Standard errors are NaN, too, if all labels are
        on one item or leave no residuals.
    """
    size = len(labels.models)
    theta = np.full(size, np.nan)
    se = np.full(size, np.nan)
    met = labels.battles_by_model() > 0
    part = labels.battles_among(met)
    pairs = pair_sums(part)
    graph = comparison_graph(pairs)
    if graph.groups > 1:
        return theta, se
    strengths = fit_strengths(pairs, regularization)
    hidden = graph.separated
    theta[met] = np.where(hidden, np.nan, strengths.theta)
    variance = np.diag(centre_covariance(strengths.covariance(part)))
    # Labels that are all equal, as ties, leave no residuals: the error is unknown, not zero.
    unknown = hidden | (labels.clusters < 2) | (POINTS**2 * variance <= SMALLEST_SE**2)
    se[met] = np.where(unknown, np.nan, np.sqrt(np.maximum(variance, 0.0)))
    return theta, se


def sampling_warnings(battles: Battles, labelled: np.ndarray) -> Iterator[Notice]:
    """Yield a warning if the labelled battles seem not to be a random sample.

    They do not if the mean |margin| of the judge differs between labelled and other battles, by a
    z test clustered by item. Without margins, |2 credit - 1| is compared instead. There is no test
    with fewer than two labelled, or two other, battles. `labelled` is the mask of labelled
    battles, shape (battles,).
    """
    table = battles.table
    has_margins = "margin" in table and bool(table["margin"].notna().any())
    signal = 2 * table["credit"] - 1
    if has_margins:
        signal = table["margin"]
    sure = np.abs(signal).to_numpy(dtype=np.float64)
    known = ~np.isnan(sure)
    inside = known & labelled
    outside = known & ~labelled
    if min(inside.sum(), outside.sum()) < 2:
        return
    gap = float(sure[inside].mean() - sure[outside].mean())
    influence = np.where(inside, (sure - sure[inside].mean()) / inside.sum(), 0.0)
    influence -= np.where(outside, (sure - sure[outside].mean()) / outside.sum(), 0.0)
    codes = np.unique(cluster_codes(battles)[known], return_inverse=True)[1]
    sums = np.bincount(codes, influence[known])
    clusters = len(sums)
    error = float(np.sqrt(np.sum(sums**2) * clusters / max(clusters - 1, 1)))
    if abs(gap) > LARGEST_Z * error > 0:
        what = "|margin|" if has_margins else "share of decided verdicts"
        fields = {
            "where": "sure" if gap > 0 else "unsure",
            "what": what,
            "inside": float(sure[inside].mean()),
            "outside": float(sure[outside].mean()),
            "z": gap / error,
        }
        yield Notice("labels-not-random", fields)
