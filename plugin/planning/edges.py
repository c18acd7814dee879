"""How many items detect an edge, by the sign test and by Wilcoxon's, and which edge the planned items detect."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from podium.errors import UsageError
from podium.nouns.estimate import Estimate
from podium.planning.plan import PlanRequest, SampleSize, SmallestEdge, elo_of_edge
from podium.planning.sample_size import (
    Differences,
    elo_of_three_levels,
    exact_power,
    exactly_needed,
    informative_needed,
    items_needed,
    recorded_differences,
    select_edge,
    signed_rank_items,
    smallest_edge,
    three_levels,
)

EDGES = (0.05, 0.10, 0.15, 0.20, 0.25)
"""Of the paper's Table 2."""
ENOUGH_ITEMS = 100
"""Items of a pilot from which on the differences of single pairs are used as they are, not pooled."""


def sample_sizes(request: PlanRequest) -> Iterator[SampleSize]:
    """Yield the items that detect each edge of Table 2, and the edge asked about."""
    edges = sorted({*EDGES, request.edge})
    request.methods["sign test"] = _sign_test_intervals(request)
    differences = _differences_by_edge(request, edges)
    for edge in edges:
        informative, known = informative_needed(edge, **request.test), differences[edge]
        wilcoxon = signed_rank_items(known, **request.test) if known else None
        if known and wilcoxon is None:
            why = f"of the pilot's {len(known)} pairs with this edge, some win more often but lose by more"
            remedy = "count signs, or play a larger pilot"
            request.leave_out(f"items by Wilcoxon's test at {edge:+.0%}", why, remedy, unanswerable=True)
        yield SampleSize(
            edge=edge,
            informative=informative,
            exact_power=float(exact_power(informative, edge, alpha=request.alpha)),
            exact=exactly_needed(edge, **request.test),
            direct=items_with(informative, request.share_decided),
            anchored=items_with(informative, request.share) if request.share else None,
            wilcoxon=wilcoxon,
        )


def items_with(informative: int, share: Estimate) -> Estimate:
    """Return how many items contain so many informative ones, with the interval that follows from the share's."""
    return share.transform(lambda part: float(items_needed(informative, part)) if part else None, decreasing=True)


def _sign_test_intervals(request: PlanRequest) -> str:
    """Say what the intervals of the sign test's items come from, or why there is none."""
    if request.record is None:
        return "none without a pilot"
    shares = {"direct": request.ties, "by anchor": request.share}
    bare = [name for name, share in shares.items() if share is not None and share.low is None]
    single = len(request.record.field.items) == 1
    why = "the pilot is a single item" if single else "the share was given, not measured"
    lacking = f"; none {' and '.join(bare)}: {why}" if bare else ""
    return f"{100 * request.level:g}%, from that of the share of decided items (by item){lacking}"


def _differences_by_edge(request: PlanRequest, edges: Sequence[float]) -> Mapping[float, Sequence[Differences]]:
    """Return the differences that Wilcoxon's test is planned with by edge, empty if unknown, and note their source."""
    if request.record is None:
        request.methods["wilcoxon"] = "win, tie and loss against an anchor in the middle, independent of each other"
        return {edge: [_expected_differences(request, edge)] if edge < 0.5 else [] for edge in edges}
    pool = list(recorded_differences(request.record))
    single = len(request.record.field.items) >= ENOUGH_ITEMS
    chosen = {edge: select_edge(pool, edge, single=single) for edge in edges}
    own = [f"{edge:+.0%}" for edge, (_, is_recorded) in chosen.items() if is_recorded]
    if pool:
        recorded = f"as recorded for pairs with such an edge ({', '.join(own)}), else " if own else ""
        request.methods["wilcoxon"] = f"differences {recorded}as large as those of all pairs of the pilot"
    else:
        why = "no item of the pilot has two readable verdicts against one anchor"
        request.leave_out("items by Wilcoxon's test", why, "play several models on each item", unanswerable=True)
    return {edge: near for edge, (near, _) in chosen.items()}


def _expected_differences(request: PlanRequest, edge: float) -> Differences:
    """Return the differences of two models with an edge, without a pilot."""
    differences = three_levels(request.ties.value, edge)
    return differences.with_share(request.share.value) if request.share else differences


def smallest_edges(request: PlanRequest) -> Iterator[SmallestEdge]:
    """Yield the smallest edges that the planned items detect, directly and through the anchor."""
    if request.items is None:
        request.leave_out("the smallest gap at the planned size", "no number of items was given", "give --items")
        return
    for how, share in (("direct", request.share_decided), ("anchor", request.share)):
        if share is not None:
            # The larger the share, the smaller the edge.
            edge = share.transform(partial(smallest_edge, request.items, **request.test), decreasing=True)
            if edge.value is None:
                yield SmallestEdge(how, share, None, None)
                continue
            elo = edge.transform(partial(_edge_in_elo, request, how))
            yield SmallestEdge(how, share, edge, None if elo.value is None else elo)


def _edge_in_elo(request: PlanRequest, how: str, edge: float) -> float | None:
    """Return an edge in Elo; None if it cannot be reached."""
    try:
        direct = how == "direct"
        ties = request.ties.value
        elo = elo_of_edge(edge, ties) if direct else elo_of_three_levels(_expected_differences(request, edge))
    except UsageError:
        return None
    return elo if np.isfinite(elo) else None
