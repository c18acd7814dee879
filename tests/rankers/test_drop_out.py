"""Drop-out robustness of the first place: brute force by fits of another kind, worlds in which the
answer is known."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.rankers.drop_out import drop_out_of_clusters, drop_out_robustness
from podium.rankers.fit.coded import CodedBattles


def table(rows: list[tuple[str, str, str, float]]) -> podium.Battles:
    return podium.read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


def close_pair(extra: list[tuple[str, str, str, float]]) -> podium.Battles:
    """Return ten items that each of two models wins half of, and more."""
    return table([(f"i{k}", "amber", "birch", float(k % 2)) for k in range(10)] + extra)


@pytest.mark.slow
def test_removing_the_one_deciding_item_changes_the_leader() -> None:
    robustness = drop_out_robustness(
        close_pair([("x", "amber", "birch", 1.0), ("i0", "amber", "birch", 1.0)])
    )
    assert (robustness.leader, robustness.new_leader, robustness.is_exact) == (
        "amber",
        "birch",
        True,
    )
    assert len(robustness.items) == 3, "without two wins both are level: nobody passes"
    one = drop_out_robustness(close_pair([("i1", "amber", "birch", 0.9)]))
    assert one.leader == "amber"
    assert len(one.items) == 1


def test_a_shared_first_place_has_no_removal() -> None:
    assert drop_out_robustness(close_pair([])).items == ()


def test_a_leader_who_wins_everywhere_falls_by_no_removal() -> None:
    robustness = drop_out_robustness(table([(f"i{k}", "amber", "birch", 1.0) for k in range(8)]))
    assert (robustness.new_leader, robustness.items) == (None, ())


@pytest.mark.slow
def test_drop_out_ignores_removals_that_disconnect_the_models() -> None:
    """Without item `bridge` no model plays cedar, and without a common scale there is no other
    leader."""
    rows = [(f"i{k}", "amber", "birch", 1.0 - 0.3 * (k % 2)) for k in range(6)]
    robustness = drop_out_robustness(table([*rows, ("bridge", "birch", "cedar", 0.6)]))
    assert robustness.leader == "amber"
    assert "bridge" not in robustness.items


@pytest.mark.slow
def test_no_more_items_are_looked_for_than_asked() -> None:
    battles = close_pair([("x", "amber", "birch", 1.0), ("i0", "amber", "birch", 1.0)])
    assert drop_out_robustness(battles, largest=1).items == ()
    assert drop_out_robustness(battles, largest=1, most_enumerated=0).items == ()


@pytest.mark.slow
def test_rows_without_an_item_are_called_by_their_number() -> None:
    credits = [1.0, 0.0, 1.0, 0.0, 0.9]
    frame = pd.DataFrame({"model_a": "amber", "model_b": "birch", "credit": credits})
    assert drop_out_robustness(podium.read_battles(frame)).items in (
        ("row 1",),
        ("row 3",),
        ("row 5",),
    )


@pytest.mark.slow
@pytest.mark.parametrize("enumerated", [12, 0])
def test_the_rest_is_led_by_the_rival_as_the_ranker_itself_says(enumerated: int) -> None:
    battles = podium.simulate(5, 12, seed=4, spread=0.4).battles()
    robustness = drop_out_robustness(battles, most_enumerated=enumerated)
    rest = battles.select(~battles.table["item"].isin(robustness.items).to_numpy())
    whole, without = (podium.rank(part).standings[0].entries[0].model for part in (battles, rest))
    assert robustness.items
    assert (whole, without) == (robustness.leader, robustness.new_leader)


def unbalanced_record(seed: int) -> CodedBattles:
    """Return battles of 3 to 6 models on 6 to 12 items, none to two of each pair and item."""
    rng = np.random.default_rng(seed)
    models, items = int(rng.integers(3, 7)), int(rng.integers(6, 13))
    theta = rng.normal(0, 0.7, models)
    theta[np.argmax(theta)] += rng.uniform(0, 1)
    item, a, b = np.nonzero(np.triu(np.ones((items, models, models)), 1))
    times = rng.binomial(2, 0.4, len(item))
    item, a, b = (np.repeat(column, times) for column in (item, a, b))
    credit = (rng.random(len(item)) < 1 / (1 + np.exp(theta[b] - theta[a]))) * 1.0
    present, cluster = np.unique(item, return_inverse=True)
    return CodedBattles(
        a, b, credit, np.ones(len(a)), cluster, len(present), "item", tuple("abcdef"[:models])
    )


@pytest.mark.slow
def test_the_greedy_search_finds_the_count_of_brute_force_in_95_percent_and_never_fewer() -> None:
    """The records are unbalanced."""
    counts = []
    for seed in range(1_000):
        try:
            counts.append(
                [
                    len(drop_out_of_clusters(unbalanced_record(seed), most_enumerated=n).items)
                    for n in (12, 0)
                ]
            )
        except podium.NotIdentifiedError:
            continue
        if len(counts) == 200:
            break
    exact, greedy = np.array(counts).T
    assert np.mean(exact == greedy) >= 0.95
    assert (greedy[greedy > 0] >= exact[greedy > 0]).all()
    assert not (exact[greedy > 0] == 0).any()
    assert {0, 1, 2, 3} <= set(exact.tolist()), "none is an answer, too"


@pytest.mark.slow
def test_an_item_that_is_called_like_a_row_is_an_item() -> None:
    frame = pd.DataFrame(
        [
            {"item": f"row {k}", "model_a": "a", "model_b": "b", "credit": float(k < 6)}
            for k in range(10)
        ]
    )
    assert not drop_out_robustness(podium.read_battles(frame)).are_rows
    assert drop_out_robustness(podium.read_battles(frame.drop(columns="item"))).are_rows
