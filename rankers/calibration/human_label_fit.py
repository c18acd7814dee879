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
"""Error message for battles without a human label between the ranked models."""


@dataclass(frozen=True, slots=True)
class HumanLabelFit:
    """Human labels of battles between ranked models.

    Attributes:
        coded: one row per labelled battle. The credit is the mean of its votes, and the weight is
            their number.
        vote_count: number of votes, the sum of the weights.
        unranked: names of labelled models that are not ranked, because they have no verdicts.
        left_out: number of labels that are left out because of these models.
        is_labelled: mask of the judge's battles that have a human label, shape (battles,).
    """

    coded: CodedBattles
    vote_count: float
    unranked: tuple[str, ...]
    left_out: int
    is_labelled: np.ndarray

    def left_out_warning(self) -> Notice:
        """Return a warning that counts the labels left out and names their unranked models."""
        fields = {"labels": self.left_out, "models": list(self.unranked)}
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
    is_column = battles.votes is None
    source = battles if battles.votes is None else battles.votes
    means = mean_labels(source, "human" if is_column else "credit").reset_index()
    if items is not None:
        means = means[means["item"].isin(items)]
    codes = pd.Series(range(len(models)), index=pd.Index(models, dtype=object))
    first = means["first"].map(codes)
    second = means["second"].map(codes)
    unranked = {*means.loc[first.isna(), "first"], *means.loc[second.isna(), "second"]}
    is_ranked = (first.notna() & second.notna()).to_numpy()
    if not is_ranked.any():
        raise NotIdentifiedError(NO_LABELS)
    votes = means["weight"].astype(np.float64)
    if is_column:
        # In a column `human`, a label is repeated beside the verdict of each judge, but it is one
        # vote.
        votes = votes / means["judges"]
    cluster = _code_label_clusters(battles, means[is_ranked])
    coded = CodedBattles(
        a=first[is_ranked].to_numpy(dtype=np.int64),
        b=second[is_ranked].to_numpy(dtype=np.int64),
        credit=means["credit"][is_ranked].to_numpy(),
        weight=votes[is_ranked].to_numpy(),
        cluster=cluster,
        clusters=int(cluster.max()) + 1,
        unit=battles.unit if source.has_items else "row",
        models=models,
    )
    return HumanLabelFit(
        coded=coded,
        vote_count=float(coded.weight.sum()),
        unranked=tuple(sorted(unranked)),
        left_out=round(float(votes[~is_ranked].sum())),
        is_labelled=_labelled_battles(battles, means[is_ranked]),
    )


def _code_label_clusters(battles: Battles, means: "pd.DataFrame") -> np.ndarray:
    """Return the code of each label's cluster, from 0, shape (labels,).

    A cluster is the group of the item if the judge's battles have groups, else the item. An item
    whose group is unknown, because it has no battle, and a row without an item, are clusters of
    their own.

    Args:
        battles: the judge's battles.
        means: the labels, with the columns `item` and `row`. `row` is -1 for labels with an item,
            and the number of the row for others (`matchup_frame`).
    """
    keys = means[["item", "row"]].astype({"item": object})
    if battles.group is not None and "item" in battles.table:
        table = battles.table[["item", battles.group]].dropna().astype(object)
        group_of_item = dict(table.drop_duplicates("item").itertuples(index=False))
        group = keys["item"].map(group_of_item).map(str)
        is_grouped = keys["item"].isin(group_of_item.keys())
        # Labels of a group have equal keys: no item, and the group. Others have no group.
        keys = keys.assign(
            item=keys["item"].where(~is_grouped, ""), group=group.where(is_grouped, "")
        )
    return keys.groupby([*keys.columns], sort=True).ngroup().to_numpy()


def _labelled_battles(battles: Battles, labels: pd.DataFrame) -> np.ndarray:
    """Return the mask of the judge's battles that have one of these labels, shape (battles,).

    `labels` is a part of the table that `mean_labels` returns. Labels that were read from another
    table (`battles.votes`) and have no item are ignored, because they cannot be matched with
    battles.
    """
    if battles.votes is not None:
        # A label without an item has the number of its row, which is of the other table; a label
        # with an item has -1 (`matchup_frame`).
        has_item = labels["row"] == -1
        labels = labels[has_item]
    matchups = pd.MultiIndex.from_frame(matchup_frame(battles))
    is_labelled: np.ndarray = matchups.isin(pd.MultiIndex.from_frame(labels[MATCHUP_COLUMNS]))
    return is_labelled


def human_ratings(labels: CodedBattles, regularization: float) -> tuple[np.ndarray, np.ndarray]:
    """Fit log-strengths to human labels alone.

    Returns:
        The log-strengths and their standard errors, shape (models,) each. Both are NaN for models
        without labels, and for models whose ratings the labels do not bound. Both are NaN for all
        models if the labels do not connect the labelled models. Standard errors are also NaN if
        all labels are on one item or leave no residuals.

    Raises:
        NotIdentifiedError: the regularization is 0, and the labels do not bound a rating.
        NotConvergedError: the fit did not reach its maximum.
        UsageError: the regularization is negative or not finite.
    """
    size = len(labels.models)
    theta = np.full(size, np.nan)
    se = np.full(size, np.nan)
    has_label = labels.battles_by_model() > 0
    labelled = labels.battles_among(has_label)
    pairs = pair_sums(labelled)
    graph = comparison_graph(pairs)
    if graph.groups > 1:
        return theta, se
    strengths = fit_strengths(pairs, regularization)
    is_unbounded = graph.separated
    theta[has_label] = np.where(is_unbounded, np.nan, strengths.theta)
    variance = np.diag(centre_covariance(strengths.covariance(labelled)))
    # Labels that are all equal, as ties, leave no residuals: the error is unknown, not zero.
    lacks_se = is_unbounded | (labels.clusters < 2) | (POINTS**2 * variance <= SMALLEST_SE**2)
    se[has_label] = np.where(lacks_se, np.nan, np.sqrt(np.maximum(variance, 0.0)))
    return theta, se


def sampling_warnings(battles: Battles, is_labelled: np.ndarray) -> Iterator[Notice]:
    """Yield a warning if the labelled battles seem not to be a random sample.

    A z test clustered by item compares the judge's confidence in labelled battles with that in the
    other battles; the warning needs more than `LARGEST_Z` standard errors. The confidence is
    |margin|, and battles without a margin are left out; if no battle has one, it is |2 credit - 1|.
    There is no test for fewer than two labelled battles, for fewer than two others, or if the
    standard error is 0. `is_labelled` is the mask of labelled battles, shape (battles,).
    """
    table = battles.table
    has_margins = "margin" in table and bool(table["margin"].notna().any())
    signal = 2 * table["credit"] - 1
    if has_margins:
        signal = table["margin"]
    confidence = np.abs(signal).to_numpy(dtype=np.float64)
    is_known = ~np.isnan(confidence)
    is_in_sample = is_known & is_labelled
    is_in_rest = is_known & ~is_labelled
    if min(is_in_sample.sum(), is_in_rest.sum()) < 2:
        return
    difference = float(confidence[is_in_sample].mean() - confidence[is_in_rest].mean())
    # The influence of each battle on the difference of the two means.
    from_mean_of_sample = confidence - confidence[is_in_sample].mean()
    influence = np.where(is_in_sample, from_mean_of_sample / is_in_sample.sum(), 0.0)
    from_mean_of_rest = confidence - confidence[is_in_rest].mean()
    influence -= np.where(is_in_rest, from_mean_of_rest / is_in_rest.sum(), 0.0)
    _, codes = np.unique(cluster_codes(battles)[is_known], return_inverse=True)
    sums = np.bincount(codes, influence[is_known])
    clusters = len(sums)
    variance = np.sum(sums**2) * clusters / max(clusters - 1, 1)
    error = float(np.sqrt(variance))
    is_far = abs(difference) > LARGEST_Z * error
    if error > 0 and is_far:
        confidence_name = "|margin|" if has_margins else "share of decided verdicts"
        fields = {
            "where": "sure" if difference > 0 else "unsure",
            "what": confidence_name,
            "inside": float(confidence[is_in_sample].mean()),
            "outside": float(confidence[is_in_rest].mean()),
            "z": difference / error,
        }
        yield Notice("labels-not-random", fields)
