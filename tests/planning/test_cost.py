"""What designs cost: counts by the tournaments themselves, calls, tokens, money."""

import pytest

from podium import UsageError, read_battles, simulate
from podium.planning.cost import battles_of
from podium.planning.plan import Bill, Tariff
from podium.planning.planner import make_plan
from podium.planning.precision import precision_in_worlds, simulated_worlds
from podium.verbs.replays import TournamentDesign

SEVEN = tuple("abcdefg")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "an_item"),
    [("anchor", {"anchor": "c"}, 6), ("round_robin", {}, 21), ("swim", {}, 12), ("chain", {}, 6), ("ring", {}, 7)],
)
@pytest.mark.parametrize("items", [1, 250, 1000, 1001, 4321])
def test_every_item_costs_what_the_papers_say(name: str, settings: dict[str, str], an_item: int, items: int) -> None:
    """M - 1 for an anchor and a path, M for a circle, M (M - 1) / 2 for all pairs, 12 pairs of seven for SWIM."""
    assert battles_of(TournamentDesign(name, name, settings), SEVEN, items) == an_item * items


@pytest.mark.parametrize("items", [10, 500, 5000])
def test_a_pilot_of_ten_items_is_a_round_robin_on_them(items: int) -> None:
    assert battles_of(TournamentDesign("anchor", "anchor"), SEVEN, items) == 10 * 21 + (items - 10) * 6


def test_three_models_cost_as_much_as_an_anchor_from_outside() -> None:
    """Section 6: comparing all pairs of three models takes 3 N judgments."""
    assert battles_of(TournamentDesign("round_robin", "round_robin"), ("a", "b", "c"), 750) == 3 * 750


def test_a_bill_by_hand() -> None:
    """3 battles in both orders, twice: 12 calls of 1,000 tokens at 2.5 and 100 at 10 a million: 0.03 + 0.012."""
    tariff = Tariff(repeats=2, tokens_in=1000, tokens_out=100, price_in=2.5, price_out=10)
    assert tariff.bill(3) == Bill(3, 12, 12_000, 1200, pytest.approx(0.042))


@pytest.mark.parametrize(("orders", "calls"), [("both", 2), ("random", 1), ("as-given", 1)])
def test_both_orders_are_two_calls(orders: str, calls: int) -> None:
    assert Tariff(orders=orders).calls == calls


@pytest.mark.parametrize("unknown", ["tokens_in", "tokens_out", "price_in", "price_out"])
def test_without_one_of_four_numbers_there_is_no_sum(unknown: str) -> None:
    known = {"tokens_in": 1000, "tokens_out": 100, "price_in": 2.5, "price_out": 10}
    tariff = Tariff(**{**known, unknown: None})
    assert (tariff.bill(3).money, tariff.unknown_units) == (None, (unknown,))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"price_in": -1}, "price_in=-1"),
        ({"repeats": 0}, "at least one repeat, not 0"),
        ({"orders": "ab"}, "no orders called 'ab'"),
    ],
)
def test_a_tariff_that_no_judge_has_is_refused(options: dict, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Tariff(**options)


@pytest.mark.slow
def test_a_battle_of_a_ring_is_one_call_and_is_planned_with_the_verdict_of_its_order() -> None:
    """In whatever orders the others ask; the wrong variant: means of both orders, which err clearly less."""
    plan = make_plan(models=6, items=100, tariff=Tariff(orders="random"), simulations=100)
    ring = next(line for line in plan.lines if line.design == "ring")
    assert (ring.planned.battles, ring.planned.calls) == (600, 600)
    merged = simulated_worlds(6, ties=0.15)
    meaned = precision_in_worlds(lambda _: TournamentDesign("ring", "ring", {"seed": 0}), merged, level=0.95)
    assert ring.error.low > meaned.standard_error(100).high


@pytest.mark.slow
def test_a_pilot_in_one_order_or_two_says_how_precise_a_ring_is() -> None:
    """Where no pair was asked in both orders, its verdict stands for either: the error is about the same."""
    world = simulate(5, 60, seed=3)
    found = {}
    for orders in ("both", "ab"):
        plan = make_plan(world.battles(orders=orders), items=100, simulations=100)
        ring = next(line for line in plan.lines if line.design == "ring")
        assert ring.planned.calls == 500
        found[orders] = ring.error.value
    assert found["both"] == pytest.approx(found["ab"], rel=0.25)


@pytest.mark.slow
def test_means_of_both_orders_say_nothing_of_a_ring() -> None:
    table = simulate(5, 60, seed=3).battles().to_frame()
    plan = make_plan(read_battles(table, merge=False), items=100, simulations=100)
    ring = next(line for line in plan.lines if line.design == "ring")
    assert (ring.planned.calls, ring.error) == (500, None)
    assert any("means of both orders" in lacking.why for lacking in plan.missing)
    assert not plan.is_partial
