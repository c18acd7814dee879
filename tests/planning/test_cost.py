"""What designs cost: counts by the tournaments themselves, calls, tokens, money."""

import pytest

from podium import UsageError
from podium.planning.cost import battles_of
from podium.planning.plan_record import BattleCosts, Tariff
from podium.planning.plan_report import plan_reports
from podium.planning.planner import make_plan
from podium.planning.precision import assumed_verdicts, design_variance
from podium.show.report.terminal import terminal_text
from podium.tournaments.schedule import TournamentDesign

SEVEN = tuple("abcdefg")


@pytest.mark.fast_cases(16)
@pytest.mark.parametrize(
    ("name", "settings", "an_item"),
    [
        ("anchor", {"anchor": "c"}, 6),
        ("round_robin", {}, 21),
        ("swim", {}, 12),
        ("chain", {}, 6),
        ("ring", {}, 7),
    ],
)
@pytest.mark.parametrize("items", [1, 250, 1000, 1001, 4321])
def test_every_item_costs_what_the_papers_say(
    name: str, settings: dict[str, str], an_item: int, items: int
) -> None:
    """M - 1 for an anchor and a path, M for a circle, M (M - 1) / 2 for all pairs, 12 pairs of
    seven for SWIM."""
    assert battles_of(TournamentDesign(name, name, settings), SEVEN, items) == an_item * items


@pytest.mark.parametrize("items", [10, 500, 5000])
def test_a_pilot_of_ten_items_is_a_round_robin_on_them(items: int) -> None:
    assert (
        battles_of(TournamentDesign("anchor", "anchor"), SEVEN, items) == 10 * 21 + (items - 10) * 6
    )


def test_three_models_cost_as_much_as_an_anchor_from_outside() -> None:
    """Section 6: comparing all pairs of three models takes 3 N judgments."""
    assert (
        battles_of(TournamentDesign("round_robin", "round_robin"), ("a", "b", "c"), 750) == 3 * 750
    )


def test_costs_by_hand() -> None:
    """3 battles in both orders, twice: 12 calls of 1,000 tokens at 2.5 and 100 at 10 a million:
    0.03 + 0.012."""
    tariff = Tariff(repeats=2, tokens_in=1000, tokens_out=100, price_in=2.5, price_out=10)
    assert tariff.cost(3) == BattleCosts(3, 12, 12_000, 1200, pytest.approx(0.042))


@pytest.mark.parametrize(("orders", "calls"), [("both", 2), ("random", 1), ("as-given", 1)])
def test_both_orders_are_two_calls(orders: str, calls: int) -> None:
    assert Tariff(orders=orders).calls == calls


@pytest.mark.parametrize("unknown", ["tokens_in", "tokens_out", "price_in", "price_out"])
def test_without_one_of_four_numbers_there_is_no_sum(unknown: str) -> None:
    known = {"tokens_in": 1000, "tokens_out": 100, "price_in": 2.5, "price_out": 10}
    tariff = Tariff(**{**known, unknown: None})
    assert tariff.cost(3).money is None


def cached_cost(battles: int, items: int, **options: object) -> BattleCosts:
    """Return the cost of battles by calls of 2,000 tokens, of which 1,500 are shared."""
    known = {"tokens_in": 2000, "tokens_out": 100, "price_in": 2.5, "price_out": 10}
    return Tariff(**{**known, "tokens_shared": 1500, **options}).cost(battles, items)


def test_all_calls_on_an_item_but_the_first_can_be_cached() -> None:
    """Of 30 calls on 2 items, 28 share 1,500 of 2,000 tokens: 42,000 of 60,000."""
    cost = cached_cost(15, 2)
    assert cost.cached == 42_000
    assert cost.cached_share == pytest.approx(0.7)
    assert cost.money == pytest.approx(60_000 * 2.5e-6 + 3000 * 10e-6)


def test_cached_tokens_have_a_price_of_their_own() -> None:
    cost = cached_cost(15, 2, price_cached=0.25)
    assert cost.money == pytest.approx(18_000 * 2.5e-6 + 42_000 * 0.25e-6 + 3000 * 10e-6)


@pytest.mark.parametrize(("shared", "cached"), [(1023, 0), (1024, 28 * 1024)])
def test_beginnings_below_the_minimum_of_providers_are_not_cached(
    shared: int, cached: float
) -> None:
    assert cached_cost(15, 2, tokens_shared=shared).cached == cached


def test_some_providers_cache_only_longer_beginnings_and_the_plan_says_so() -> None:
    assert cached_cost(15, 2, judge_model="anthropic/claude-haiku-4-5").cached == 0
    assert cached_cost(15, 2, judge_model="openai/gpt-5").cached == 42_000
    known = {"tokens_in": 5000, "judge_model": "anthropic/claude-haiku-4-5"}
    for shared, words in ((1500, "cacheable: nothing, as"), (4500, "4,500 tokens each (it keeps")):
        tariff = Tariff(**known, tokens_shared=shared)
        plan = make_plan(models=6, items=100, tariff=tariff)
        text = " ".join(terminal_text(plan_reports(plan)).split())
        assert words in text
        assert "beginnings of 4,096 tokens or more" in text
        assert plan.to_dict()["plan"]["provenance"]["options"]["tariff"]["least_cached"] == 4096


def test_every_judge_has_a_cache_of_its_own() -> None:
    assert cached_cost(15, 2, judges="2").cached == 2 * 42_000
    assert cached_cost(2, 5, judges="2", orders="as-given").cached == 0


def test_without_shared_tokens_or_items_the_share_is_unknown() -> None:
    assert cached_cost(15, 2, tokens_shared=None).cached_share is None
    assert Tariff(tokens_in=2000, tokens_shared=1500).cost(15).cached is None


def test_the_plan_says_the_cacheable_share_by_design() -> None:
    tariff = Tariff(tokens_in=2000, tokens_shared=1500)
    plan = make_plan(models=6, items=100, tariff=tariff)
    shares = {line.design: line.planned.cached_share for line in plan.lines}
    assert shares["round_robin"] == pytest.approx(29 / 30 * 0.75)
    assert shares["ring"] == pytest.approx(5 / 6 * 0.75)
    text = terminal_text(plan_reports(plan))
    assert "cacheable" in text
    assert "72%" in text
    assert "1,500 tokens each" in " ".join(text.split())


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"tokens_shared": 1500}, "part of --tokens-in, which is not given"),
        ({"tokens_shared": 1500, "tokens_in": 1000}, "--tokens-in, which is 1000"),
        ({"tokens_in": 1000, "price_cached": 1}, "--price-cached: give --tokens-shared"),
        ({"judge_model": "openai/gpt-5"}, "--judge-model: give --tokens-shared"),
        ({"tokens_in": 1000, "tokens_shared": -1}, "tokens_shared=-1"),
        ({"price_in": -1}, "price_in=-1"),
        ({"repeats": 0}, "at least one repeat, not 0"),
        ({"orders": "ab"}, "no orders called 'ab'"),
    ],
)
def test_a_tariff_that_no_judge_has_is_rejected(options: dict, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Tariff(**options)


@pytest.mark.slow
def test_a_battle_of_a_ring_is_one_call_and_is_planned_with_the_error_of_one() -> None:
    """In whatever orders the others ask; the wrong variant: means of both orders, which err clearly
    less."""
    both, random = (
        next(
            line
            for line in make_plan(models=6, items=100, tariff=Tariff(orders=orders)).lines
            if line.design == "ring"
        )
        for orders in ("both", "random")
    )
    assert (random.planned.battles, random.planned.calls) == (600, 600)
    assert both == random
    model = assumed_verdicts(tuple("abcdef"), 0.15)
    design = TournamentDesign("ring", "ring", {"seed": 0})
    assert both.error.value > 1.1 * (design_variance(design, model, [], 2, 0.95).value / 100) ** 0.5
