"""A whole plan: from numbers, from a pilot, and from data that cannot answer."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from podium import Battles, NotIdentifiedError, UsageError, rank, read_battles, simulate
from podium.planning.plan_record import Tariff
from podium.planning.plan_report import plan_reports
from podium.planning.planner import make_plan
from podium.planning.sample_size import smallest_edge

RECORDED = Path(__file__).parents[3] / "shared" / "data" / "roundrobin_qlora_oa_gpt4.parquet"


@pytest.fixture(scope="module")
def battles() -> Battles:
    return simulate(5, 30, seed=4, strengths=(2.5, 0.3, 0.0, -0.3, -0.5)).battles()


@pytest.fixture(scope="module")
def numbers():
    tariff = Tariff(tokens_in=1500, tokens_out=300, price_in=2.5, price_out=10)
    return make_plan(models=5, items=200, ties=0.39, informativeness=0.45, tariff=tariff)


@pytest.fixture(scope="module")
def piloted(battles: Battles):
    return make_plan(battles, items=200)


@pytest.mark.slow
def test_a_plan_from_numbers_prints_table_2(numbers) -> None:
    """Don-Yehiya et al. 2026, Table 2, with 341 as 340."""
    found = [(one.informative, one.direct.value, one.anchored.value) for one in numbers.samples]
    assert found == [(617, 1012, 1372), (153, 251, 340), (67, 110, 149), (37, 61, 83), (23, 38, 52)]


def test_a_plan_from_numbers_has_no_candidates_and_says_what_a_pilot_costs(numbers) -> None:
    [one] = numbers.missing
    assert (numbers.candidates, numbers.is_partial) == ((), False)
    assert "play 10 items (100 battles, 200 calls)" in one.remedy


def test_costs_are_those_of_the_tournaments(numbers) -> None:
    """By hand: 10 pairs; a path of 4; a circle of 5; of SWIM 1 + 1 + 2 + 2; 190 items against the
    anchor after 10."""
    anchored, *others = [line.planned.battles for line in numbers.lines]
    assert (anchored, others) == (100 + 190 * 4, [2000, 1200, 800, 1000])


def test_a_plan_opens_with_design_items_calls_and_price(numbers) -> None:
    """The design that the table of needed costs has cheapest, as it says there."""
    [stated] = plan_reports(numbers)[0].answer
    best = min(numbers.lines, key=lambda line: line.needed.money)
    assert stated.startswith(
        f"Play podium/{best.design} on all 200 items: {best.planned.calls:,} calls, "
    )
    assert f"{best.planned.money:,.2f} in money; it detects {best.gap.value:.0f} Elo." in stated
    assert (
        f"takes {best.items.value:,.0f} items and {best.needed.calls:,.0f} calls, "
        f"{best.needed.money:,.2f}" in stated
    )


@pytest.mark.slow
def test_plan_marks_the_cheapest_design(piloted) -> None:
    assert plan_reports(piloted)[0].answer[0].endswith(": the least of these designs.")
    [report] = plan_reports(
        replace(piloted, lines=piloted.lines[:1], cheapest=piloted.lines[0].design)
    )
    assert report.answer[0].endswith(" calls.")


def test_plan_with_a_baseline_opens_with_its_comparison() -> None:
    [report] = plan_reports(make_plan(models=5, items=200, baseline="old"))
    assert report.answer[0].startswith("Compare every model with old")


def test_money_is_tokens_times_prices(numbers) -> None:
    line = next(line for line in numbers.lines if line.design == "chain")
    assert line.planned.money == pytest.approx(1600 * (1500 * 2.5 + 300 * 10) / 1e6)


def test_the_cheapest_is_the_one_with_the_least_money(numbers) -> None:
    least = min(numbers.lines, key=lambda line: line.needed.money)
    assert numbers.cheapest == least.design


@pytest.mark.slow
def test_candidates_are_the_rankers_informativeness(battles: Battles, piloted) -> None:
    """Oracle: podium rank --ranker informativeness."""
    entries = rank(battles, "informativeness").standings[0].entries
    shares = [
        (one.anchor, one.informativeness.value, one.informativeness.low)
        for one in piloted.candidates
    ]
    assert shares == [(one.model, one.score, one.low) for one in entries]
    assert [one.rank_low for one in piloted.candidates] == [one.rank_low for one in entries]


def test_smallest_gaps_follow_from_the_standard_errors(piloted) -> None:
    """Closed form: the edge of 200 items times the share; the larger share detects the smaller
    edge."""
    direct, anchored = piloted.gaps
    ties = piloted.asked["ties"]
    assert direct.edge.value == smallest_edge(200, 1 - ties.value)
    assert (direct.edge.low, direct.edge.high) == (
        smallest_edge(200, 1 - ties.low),
        smallest_edge(200, 1 - ties.high),
    )
    assert anchored.edge.value == smallest_edge(200, piloted.candidates[0].informativeness.value)


def test_plan_reports_too_few_items() -> None:
    found = make_plan(models=4, items=3, ties=0.2)
    assert [gap.edge for gap in found.gaps] == [None, None]


def test_plan_advises_against_the_strongest_model_as_anchor(piloted) -> None:
    advice = {one.anchor: one.advice for one in piloted.candidates}
    assert advice["model-01"] == "avoid: less informative"
    assert advice[piloted.anchor].startswith("take it")


def test_items_through_the_anchor_follow_from_its_informativeness(piloted) -> None:
    share = piloted.candidates[0].informativeness
    [first, *_] = piloted.samples
    assert (first.anchored.value, first.anchored.low, first.anchored.high) == tuple(
        np.ceil(617 / end) for end in (share.value, share.high, share.low)
    )


@pytest.mark.slow
def test_a_pilots_ties_have_an_item_clustered_interval() -> None:
    """By hand: 4 items of 3 pairs with 0, 1, 1, 2 ties; deviations from a third over n: sd of sums
    0.816, n = 12."""
    rows = []
    for item, tied in enumerate((0, 1, 1, 2)):
        for k, (a, b) in enumerate((("a", "b"), ("a", "c"), ("b", "c"))):
            rows.append((f"q{item}", a, b, 0.5 if k < tied else float(item % 2)))
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    ties = make_plan(frame).asked["ties"]
    se = np.sqrt(4 / 3 * 2) / 12
    assert (ties.value, ties.high) == (
        pytest.approx(1 / 3),
        pytest.approx(1 / 3 + 3.182446 * se, abs=1e-6),
    )


@pytest.mark.slow
def test_a_named_baseline_is_the_anchor_of_all_figures(battles: Battles) -> None:
    found = make_plan(battles, baseline="model-02")
    share = next(one.informativeness for one in found.candidates if one.anchor == "model-02")
    assert (found.decision.design, found.anchor, found.asked["informativeness"]) == (
        "baseline",
        "model-02",
        share,
    )
    assert any(line.design == "anchor model-02" for line in found.lines)
    assert found.cheapest == "anchor model-02"


@pytest.mark.slow
def test_cost_of_chosen_pairs_follows_the_sign_test(battles: Battles) -> None:
    found = make_plan(
        battles, pairs=[("model-01", "model-02"), ("model-03", "model-04")], items=100
    )
    [line] = [line for line in found.lines if line.design == "pairs of interest"]
    first = next(one for one in found.samples if one.edge == 0.05)
    assert (line.planned.battles, line.items) == (200, first.direct)
    assert line.needed.battles == 2 * first.direct.value
    assert found.cheapest == "pairs of interest"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_plan(battles: Battles) -> None:
    one, other = (make_plan(battles, items=50, seed=5) for _ in range(2))
    assert one.to_json() == other.to_json()


@pytest.mark.slow
def test_the_order_of_the_rows_changes_nothing(battles: Battles, piloted) -> None:
    mixed = battles.to_frame().sample(frac=1, random_state=1)
    found = make_plan(read_battles(mixed.drop(columns="swap"), merge=False), items=200)
    assert [one.items for one in found.lines] == [one.items for one in piloted.lines]


def test_the_json_has_no_nan(numbers, piloted) -> None:
    for one in (numbers, piloted):
        assert json.loads(one.to_json())["plan"]["asked"]["models"] == 5


@pytest.mark.slow
def test_plan_from_a_single_anchor_pilot_predicts_every_design() -> None:
    """Oracle: the pilot in which all meet. Of other anchors than the one played nothing is
    known."""
    world = simulate(4, 400, seed=1, strengths=(0.6, 0.2, -0.2, -0.6))
    some_pairs, all_pairs = (
        make_plan(world.battles(pairs=pairs), items=100)
        for pairs in ([(0, 1), (0, 2), (0, 3)], None)
    )
    assert [one.anchor for one in some_pairs.candidates] == ["model-01"]
    for found, oracle in zip(some_pairs.lines[1:], all_pairs.lines[1:], strict=True):
        assert found.error.value == pytest.approx(oracle.error.value, rel=0.15)


@pytest.mark.slow
def test_plan_from_two_models_compares_no_anchors() -> None:
    found = make_plan(simulate(2, 40, seed=1).battles())
    assert (found.candidates, found.is_partial) == ((), False)
    assert found.samples[0].anchored is None
    assert found.samples[0].direct.value > 617


def table(*credits: float | None) -> pd.DataFrame:
    """Return three pairs an item; the first two of each item have the next credit, the third is a
    coin's."""
    rows = []
    for item, credit in enumerate(credits):
        rows += [
            (f"q{item}", "a", "b", credit),
            (f"q{item}", "a", "c", credit),
            (f"q{item}", "b", "c", item % 2),
        ]
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])


def test_plan_reports_an_uninformative_baseline() -> None:
    """It beats both others on every item, so nothing distinguishes them through it; directly,
    something does."""
    found = make_plan(table(*[1.0] * 8), baseline="a")
    assert found.samples[0].anchored is None
    assert found.samples[0].direct.value == 617
    assert any(
        "verdicts against a distinguish no two models of the pilot" in one.why
        for one in found.missing
    )


@pytest.mark.slow
def test_a_pilot_without_ties_has_the_exact_bound() -> None:
    """Clopper and Pearson: of 8 items without any, 1 - 0.025^(1/8) at most."""
    ties = make_plan(table(*[1.0, 0.0] * 4)).asked["ties"]
    assert (ties.value, ties.low, ties.high) == (0, 0, pytest.approx(1 - 0.025 ** (1 / 8)))


def test_plan_rejects_a_pilot_of_ties_only() -> None:
    frame = table(0.5, 0.5)
    with pytest.raises(NotIdentifiedError, match="every readable verdict of the pilot is a tie"):
        make_plan(frame[frame["model_a"] == "a"])


def test_a_pilot_without_a_readable_verdict_is_rejected() -> None:
    frame = table(None, None)
    with pytest.raises(NotIdentifiedError, match="none of the 4 battles has a readable verdict"):
        make_plan(frame[frame["model_a"] == "a"])


def test_a_pilot_of_one_item_has_no_precision() -> None:
    found = make_plan(simulate(4, 1, seed=1).battles(), items=50)
    [one] = [one for one in found.missing if "at least 4 items" in one.why]
    assert (one.part, one.unanswerable) == ("precision of the designs", True)
    assert [line.error for line in found.lines] == [None] * 5


@pytest.mark.slow
def test_plan_gives_the_reason_for_a_missing_interval() -> None:
    single = make_plan(simulate(4, 1, seed=1).battles())
    given = make_plan(simulate(4, 20, seed=1).battles(), informativeness=0.5)
    assert "the pilot is a single item" in single.methods["sign test"]
    assert "none by anchor: the share was given, not measured" in given.methods["sign test"]


def test_a_pilot_without_items_is_rejected() -> None:
    frame = pd.DataFrame([{"model_a": "a", "model_b": "b", "credit": 1.0}] * 3)
    with pytest.raises(NotIdentifiedError, match="no item column"):
        make_plan(frame)


@pytest.mark.slow
def test_more_models_than_precision_is_computed_for_are_still_priced() -> None:
    found = make_plan(models=201, items=2)
    assert {line.design: line.planned.battles for line in found.lines}[
        "round_robin"
    ] == 2 * 201 * 100
    assert any("computed for 200 models at most" in one.why for one in found.missing)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({}, "give a pilot, or the number of models"),
        ({"models": 1}, "models=1"),
        ({"models": 5, "items": 0}, "items=0"),
        ({"models": 5, "ties": 1.0}, "ties=1.0"),
        ({"models": 5, "edge": 0.7}, "edge=0.7"),
        ({"models": 5, "edge": 0.0}, "edge=0.0"),
        ({"models": 5, "alpha": 0.0}, "alpha=0.0"),
        ({"models": 5, "alpha": 0.5}, "alpha=0.5"),
        ({"models": 5, "power": 1.0}, "power=1.0"),
        ({"models": 5, "power": 0.3}, "power=0.3"),
        ({"models": 5, "informativeness": 0.0}, "informativeness=0.0"),
        ({"models": 5, "pairs": [("a", "a")]}, "two different models"),
    ],
)
def test_plan_rejects_impossible_options(wrong, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        make_plan(**wrong)


def test_a_baseline_that_is_not_in_the_pilot_is_rejected(battles: Battles) -> None:
    with pytest.raises(UsageError, match="did you mean 'model-01'"):
        make_plan(battles, baseline="model-1")


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.skipif(
    not RECORDED.exists(), reason="the recorded judgments are not beside this checkout"
)
def test_a_pilot_of_ten_real_items_finds_the_bad_anchor() -> None:
    """GPT-4 is the least informative anchor, with ten items as with 400 (reference figure: .384 of
    pairs)."""
    columns = {"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"}
    battles = read_battles(
        RECORDED, columns=columns, credit_map={"1": 1, "0": 0.5, "-1": 0}, shown="a"
    )
    item = battles.table["item"].astype(str)
    drawn = {
        number: np.random.default_rng(0).permutation(item.unique())[:number] for number in (10, 400)
    }
    ten, every = (
        make_plan(battles.select(item.isin(items).to_numpy())) for items in drawn.values()
    )
    assert ten.candidates[-1].anchor == every.candidates[-1].anchor == "gpt4"
    share = every.candidates[-1].informativeness
    assert share.low < 0.384 < share.high
    avoided = {one.anchor for one in every.candidates if one.advice.startswith("avoid")}
    assert avoided == {"guanaco-7b", "guanaco-13b", "gpt4"}


@pytest.mark.parametrize("baseline", [None, "model-05"])
def test_a_plan_for_fewer_models_than_the_pilot_has_keeps_the_anchor(
    battles: Battles, baseline: str | None
) -> None:
    """By hand: two others play the anchor on 50 items, for each of five anchors."""
    found = make_plan(battles, models=3, items=50, baseline=baseline)
    line = next(line for line in found.lines if line.design == f"anchor {found.anchor}")
    assert line.planned.battles == 2 * 50
    assert baseline in (None, found.anchor)
    assert any("the pilot has 5 models, the plan 3" in one.why for one in found.missing)


def command_of(plan, design: str) -> str:
    """Return the command that a plan prints when this design is its only one."""
    [line] = [line for line in plan.lines if line.design == design]
    [report] = plan_reports(replace(plan, lines=(line,), cheapest=design))
    [play] = [section for section in report.sections if section.name == "play"]
    return play.notes[0]


@pytest.mark.slow
def test_the_command_names_what_the_tournament_needs(numbers, battles: Battles) -> None:
    assert (
        command_of(numbers, "ring")
        == "inspect eval podium/ring -T responses=PATH --model-role judge=MODEL"
    )
    anchored = "inspect eval podium/anchor -T responses=PATH -T {} --model-role judge=MODEL"
    assert command_of(numbers, "anchor, by a pilot") == anchored.format("anchor=auto")
    named = read_battles(battles.to_frame().replace({"model-03": "my model"}), merge=False)
    plan = make_plan(named)
    assert plan.anchor == "my model"
    assert command_of(plan, "anchor my model") == anchored.format("'anchor=my model'")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["team, large", "one, by a pilot", "ring x"])
def test_an_anchor_with_a_comma_in_its_name_stays_whole(battles: Battles, name: str) -> None:
    named = read_battles(battles.to_frame().replace({"model-03": name}), merge=False)
    plan = make_plan(named, items=50)
    assert plan.anchor == name
    only = tuple(line for line in plan.lines if line.settings.get("anchor") == name)
    [report] = plan_reports(replace(plan, lines=only, cheapest=only[0].design))
    assert report.answer[0].startswith(f"Play podium/anchor {name} on all 50 items: ")
    assert f"-T 'anchor={name}'" in command_of(plan, f"anchor {name}")


def test_the_command_has_the_orders_and_repeats_that_were_planned() -> None:
    plan = make_plan(models=6, items=200, tariff=Tariff(orders="random", repeats=2))
    for design, options in {
        "ring": " -T repeats=2",
        "round_robin": " -T orders=random -T repeats=2",
    }.items():
        typed = f"inspect eval podium/{design} -T responses=PATH{options} --model-role judge=MODEL"
        assert command_of(plan, design) == typed
