"""If the order of models depends on a recorded category, a flagged check names it and `--by`."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.diagnosis.checks.category_checks import check_categories

STRENGTHS = np.array([1.2, 0.8, 0.4, 0.0])
"""Logits of the models of the worlds."""


def world(seed, *, turn=0.0, sizes=(40, 40), scale=(1.0, 1.0), scored=False):
    """Return a round robin in which the first model is worse by `turn` logits in category c0.

    In category c1 it is better by as much. `scale` multiplies the strengths of a category. Items
    have strengths of their own (sd 0.5).
    """
    rng = np.random.default_rng(seed)
    rows = []
    for category, (size, factor) in enumerate(zip(sizes, scale, strict=True)):
        mean = factor * STRENGTHS
        mean[0] += turn if category else -turn
        for item in range(size):
            logits = mean + rng.normal(0, 0.5, len(mean))
            scores = np.round(logits + rng.normal(0, 1, len(mean)), 2)
            for a, b in combinations(range(len(mean)), 2):
                won = float(rng.random() < 1 / (1 + np.exp(logits[b] - logits[a])))
                values = (scores[a], scores[b]) if scored else (won,)
                rows.append((f"{category}-{item}", f"m{a}", f"m{b}", *values, f"c{category}"))
    names = ("score_a", "score_b") if scored else ("credit",)
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", *names, "category"])


def check_of(table):
    [check] = check_categories(podium.read_battles(table))
    return check


@pytest.mark.slow
@pytest.mark.parametrize("scored", [False, True])
def test_an_order_that_turns_between_categories_is_flagged_with_by(scored):
    battles = podium.read_battles(world(1, turn=1.5, scored=scored))
    ranking = podium.rank(battles)
    text = " ".join(ranking.standings[0].answer)
    assert "The order depends on the column category: " in text
    assert "by='category'" in text
    [check] = [check for check in ranking.standings[0].checks if check.name == "categories"]
    assert "m0" in check.models
    assert check.number == pytest.approx(0.002)


@pytest.mark.slow
def test_compare_names_the_category():
    comparison = podium.compare("m0", "m3", podium.read_battles(world(1, turn=1.5)))
    [check] = [check for check in comparison.checks if check.name == "categories"]
    assert check.is_flagged
    assert set(check.models) <= {"m0", "m1", "m2", "m3"}


@pytest.mark.slow
def test_the_text_says_who_leads_where():
    table = world(1, turn=1.5)
    check = check_of(table)
    first, second = check.fields["first"], check.fields["second"]
    a_first = table[(table["model_a"] == first) & (table["model_b"] == second)]
    b_first = table[(table["model_b"] == first) & (table["model_a"] == second)]
    credit = pd.concat([a_first["credit"], 1 - b_first["credit"]])
    category = pd.concat([a_first["category"], b_first["category"]])
    here = credit[category == check.fields["value"]].mean()
    there = credit[category == check.fields["others"]].mean()
    assert check.fields["here"] == f"win rate {here:.0%}"
    assert check.fields["there"] == f"win rate {there:.0%}"
    assert there < 0.5 < here


def test_an_order_that_stays_is_ok():
    check = check_of(world(1))
    assert not check.is_flagged
    assert "category" in check.finding_text


@pytest.mark.slow
def test_other_columns_count_if_items_have_several_battles():
    table = world(1, turn=1.5).rename(columns={"category": "topic"})
    assert check_of(table).fields["option"] == "by='topic'"
    alone = table[(table["model_a"] == "m0") & (table["model_b"] == "m1")]
    assert check_categories(podium.read_battles(alone)) == ()


@pytest.mark.slow
def test_no_check_without_items_or_with_one_category_or_one_of_a_battle():
    table = world(1, turn=1.5)
    assert check_categories(podium.read_battles(table.drop(columns="item"))) == ()
    assert check_categories(podium.read_battles(table.assign(category="c"))) == ()
    of_rows = table.assign(category=[f"c{k % 2}" for k in range(len(table))])
    assert check_categories(podium.read_battles(of_rows)) == ()
    few = world(1, turn=1.5, sizes=(7, 40))
    assert check_categories(podium.read_battles(few)) == ()


@pytest.mark.slow
def test_columns_are_adjusted_together():
    table = world(1, turn=1.5)
    rng = np.random.default_rng(0)
    items = table["item"].unique()
    topic = dict(zip(items, rng.choice(["x", "y"], len(items)), strict=True))
    both = check_of(table.assign(topic=table["item"].map(topic)))
    assert both.is_flagged
    assert both.fields["column"] == "category"
    assert both.number == pytest.approx(2 * check_of(table).number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("facts", "most"),
    [({}, 0.02), ({"sizes": (10, 70)}, 0.02), ({"scale": (2.0, 0.1)}, 0.05)],
)
def test_false_alarms_are_rare(facts, most):
    flagged = sum(check_of(world(seed, **facts)).is_flagged for seed in range(150))
    # The 99% upper end of a binomial with the largest rate.
    assert flagged <= np.ceil(150 * most + 2.33 * np.sqrt(150 * most * (1 - most)))


@pytest.mark.slow
def test_a_turned_order_is_found():
    flagged = sum(check_of(world(seed, turn=1.2)).is_flagged for seed in range(60))
    # 38 of 60 were found; 28 is the 99% lower end.
    assert flagged >= 28


def verdicts_by(first_wins, categories, passage=None):
    """Return battles of m0 and m1, one an item, that m0 wins where `first_wins` says so."""
    rows = pd.DataFrame({"credit": np.asarray(first_wins, dtype=float), "category": categories})
    rows["item"] = [f"q{k}" for k in range(len(rows))]
    rows["model_a"], rows["model_b"] = "m0", "m1"
    return rows if passage is None else rows.assign(passage=passage)


def test_an_order_that_turns_without_exception_is_flagged():
    categories = ["code"] * 80 + ["prose"] * 20
    check = check_of(verdicts_by([1] * 80 + [0] * 20, categories))
    assert check.is_flagged
    assert {check.fields["here"], check.fields["there"]} == {"win rate 100%", "win rate 0%"}


def test_equal_verdicts_without_exception_are_ok():
    check = check_of(verdicts_by([1] * 60, ["code"] * 30 + ["prose"] * 30))
    assert not check.is_flagged


def worlds_of_passages(seed, passages=10, items=20):
    """Return battles whose winner depends on the passage, and on its category only by chance."""
    rng = np.random.default_rng(seed)
    chance = 1 / (1 + np.exp(-rng.normal(0, 1.5, passages)))
    won = rng.random((passages, items)) < chance[:, None]
    passage = np.repeat([f"p{k}" for k in range(passages)], items)
    category = np.repeat(rng.permutation(["a", "b"] * (passages // 2)), items)
    return verdicts_by(won.ravel(), category, passage)


@pytest.mark.slow
def test_groups_of_items_are_the_units_of_the_test():
    grouped = alone = 0
    for seed in range(40):
        table = worlds_of_passages(seed, passages=20)
        battles = podium.read_battles(table, cluster="passage")
        grouped += any(check.is_flagged for check in check_categories(battles))
        alone += check_of(table).is_flagged
    assert grouped <= 2
    assert alone >= 8, "without groups, items of one passage are taken as independent"


def test_a_column_of_lists_is_not_tested():
    table = verdicts_by([1] * 40 + [0] * 40, [["code", "long"]] * 40 + [["prose", "short"]] * 40)
    assert check_categories(podium.read_battles(table)) == ()


def test_subjects_are_categories_even_if_there_are_many():
    """Each of 57 subjects has items with other strengths, and the first model fails in one."""
    rng = np.random.default_rng(3)
    rows = []
    for subject in range(57):
        strength = np.array([-3.0, 0.0, 0.0]) if subject == 8 else np.array([1.5, 0.0, 0.0])
        for item in range(25):
            solved = rng.random(3) < 1 / (1 + np.exp(-strength))
            named = (f"{subject}-{item}", f"subject {subject}")
            rows += [(f"m{k}", float(solved[k]), *named) for k in range(3)]
    table = pd.DataFrame(rows, columns=["model", "score", "item", "subject"])
    check = check_of(table)
    assert check.is_flagged
    assert check.fields["value"] == "subject 8"
    assert check_categories(podium.read_battles(table.rename(columns={"subject": "place"}))) == ()


def test_many_columns_do_not_hide_a_category():
    rng = np.random.default_rng(0)
    table = world(1, turn=2.5)
    items = table["item"].unique()
    for k in range(14):
        drawn = dict(zip(items, rng.integers(0, 3, len(items)), strict=True))
        table[f"other{k}"] = table["item"].map(drawn)
    check = check_of(table)
    assert check.is_flagged
    assert check.fields["column"] == "category"


def test_gaps_that_differ_without_a_change_of_order_are_said_to_differ():
    table = world(1, scale=(4.0, 0.1), sizes=(60, 60))
    table["length"] = [len(item) for item in table["item"]]
    check = check_of(table)
    assert check.number <= 0.02
    assert not check.is_flagged
    assert check.finding_text == (
        "gaps between models depend on category, but no two change places beyond chance "
        f"(p = {check.fields['p']})"
    )


def test_columns_are_named_as_a_list():
    rng = np.random.default_rng(0)
    table = world(2)
    items = table["item"].unique()
    for name in ("level", "topic"):
        drawn = dict(zip(items, rng.integers(0, 2, len(items)), strict=True))
        table[name] = table["item"].map(drawn)
    assert "depends on category, level or topic beyond chance" in check_of(table).finding_text
