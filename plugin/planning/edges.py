"""How many items tell an edge, by the sign test and by Wilcoxon's, and which edge the planned items tell."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from podium.errors import UsageError
from podium.planning.cost import items_for
from podium.planning.plan import Draft, Gap, SampleSize, SimulatedSize, elo_of_edge
from podium.planning.sample_size import (
    Differences,
    elo_of_lean,
    exact_power,
    exactly_needed,
    informative_needed,
    recorded_differences,
    select_edge,
    simulated_items,
    smallest_edge,
    three_levels,
)
from podium.progress import track

EDGES = (0.05, 0.10, 0.15, 0.20, 0.25)
"""Of the paper's Table 2."""
TRUSTED = 100
"""Items of a pilot from which on the distribution of a single pair is one to draw from."""


def sample_sizes(draft: Draft) -> Iterator[SampleSize]:
    """Yield the items that tell each edge of Table 2, and the one asked for."""
    edges = sorted({*EDGES, draft.edge})
    draft.methods["sign test"] = _sign_method(draft)
    near = _differences_by_edge(draft, edges)
    for edge in track(edges, "sample sizes"):
        informative = informative_needed(edge, **draft.test)
        yield SampleSize(
            edge=edge,
            informative=informative,
            exact_power=float(exact_power(informative, edge, alpha=draft.alpha)),
            exact=exactly_needed(edge, **draft.test),
            direct=items_for(informative, draft.share_decided),
            anchored=items_for(informative, draft.share) if draft.share else None,
            wilcoxon=_wilcoxon(draft, near[edge], edge),
        )


def _sign_method(draft: Draft) -> str:
    """Say where the intervals of the sign test come from, or why there are none."""
    if draft.record is None:
        return "the formula's, given the assumptions: no data, so no interval"
    shares = {"direct": draft.ties, "by anchor": draft.share}
    bare = [name for name, share in shares.items() if share is not None and share.low is None]
    single = len(draft.record.field.items) == 1
    why = "the pilot is a single item" if single else "the share was given, not measured"
    lacking = f"; none {' and '.join(bare)}: {why}" if bare else ""
    return f"{100 * draft.level:g}%, from that of the share that decides (by item){lacking}"


def _differences_by_edge(draft: Draft, edges: Sequence[float]) -> Mapping[float, Sequence[Differences]]:
    """Return what Wilcoxon's test is simulated with for each edge, nothing where nothing like it is known; say what."""
    interval = f"{100 * draft.level:g}% Monte-Carlo interval, {draft.simulations:,} samples a size; differences"
    if draft.record is None:
        source = "of win, tie and loss against an anchor in the middle, drawn apart"
        draft.methods["wilcoxon"] = f"{interval} {source}"
        return {edge: [_expected_differences(draft, edge)] if edge < 0.5 else [] for edge in edges}
    pool = list(recorded_differences(draft.record))
    # Those of single pairs are taken only where there are items enough.
    single = len(draft.record.field.items) >= TRUSTED
    chosen = {edge: select_edge(pool, edge, single=single) for edge in edges}
    own = [f"{edge:+.0%}" for edge, (_, is_recorded) in chosen.items() if is_recorded]
    if pool:
        recorded = f"as recorded for pairs with such an edge ({', '.join(own)}), else " if own else ""
        source = f"{recorded}as large as those of all pairs of the pilot, wins and losses alike"
        draft.methods["wilcoxon"] = f"{interval} {source}"
    else:
        why = "no item of the pilot has two readable verdicts against one anchor"
        draft.lack("items by Wilcoxon's test", why, "play several models on each item", unanswerable=True)
    return {edge: near for edge, (near, _) in chosen.items()}


def _expected_differences(draft: Draft, edge: float) -> Differences:
    differences = three_levels(draft.ties.value, edge)
    return differences.with_share(draft.share.value) if draft.share else differences


def _wilcoxon(draft: Draft, near: Sequence[Differences], edge: float) -> SimulatedSize | None:
    """Return the items by Wilcoxon's test, None where nothing like this edge is known or no number is enough."""
    if not near:
        return None
    size = simulated_items(near, **draft.test, level=draft.level, simulations=draft.simulations, seed=draft.seed)
    if size is None:
        why = f"of the pilot's {len(near)} pairs with this edge, some win more often but lose by more"
        remedy = "count signs, or play a larger pilot"
        draft.lack(f"items by Wilcoxon's test at {edge:+.0%}", why, remedy, unanswerable=True)
    return size


def smallest_gaps(draft: Draft) -> Iterator[Gap]:
    """Yield the smallest edges that the planned items tell, directly and through the anchor."""
    items = draft.items
    if items is None:
        draft.lack("the smallest gap at the planned size", "no number of items was given", "give --items")
        return

    def parse_ratings(edge: float) -> float | None:
        """Return an edge in Elo; None where it is out of reach."""
        try:
            direct = how == "direct"
            elo = elo_of_edge(edge, draft.ties.value) if direct else elo_of_lean(_expected_differences(draft, edge))
        except UsageError:
            return None
        return elo if np.isfinite(elo) else None

    for how, share in (("direct", draft.share_decided), ("anchor", draft.share)):
        if share is not None:
            # A larger share tells a smaller edge.
            edge_of = partial(smallest_edge, items, **draft.test)
            edge = share.through(edge_of, falling=True)
            elo = None if edge.value is None else edge.through(parse_ratings)
            yield Gap(how, share, None if elo is None else edge, elo if elo and elo.value is not None else None)
