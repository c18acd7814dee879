"""Groups of items that favour the same models are a flagged check that names `--cluster`."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.check_kinds import CHECKS
from podium.diagnosis.checks.group_checks import check_groups, why_no_groups
from podium.planning.plan_report import plan_reports
from podium.planning.planner import make_plan


def table_of(seed, *, effect, passages=20, items=5, models=4):
    """Return a round robin of equal models, whose strengths differ by passage (sd `effect`)."""
    rng = np.random.default_rng(seed)
    rows = []
    for passage in range(passages):
        strength = rng.normal(0, effect, models)
        for item in range(items):
            for a, b in combinations(range(models), 2):
                credit = float(rng.random() < 1 / (1 + np.exp(strength[b] - strength[a])))
                rows.append((f"{passage}-{item}", f"m{a}", f"m{b}", credit, f"p{passage}"))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "passage"])


@pytest.mark.slow
def test_groups_in_which_models_differ_alike_are_flagged():
    battles = podium.read_battles(table_of(1, effect=1.0))
    [check] = check_groups(battles)
    assert check.is_flagged
    assert check.fields["column"] == "passage"
    assert "cluster" in check.remedy
    ranking = podium.rank(battles)
    assert "groups" in [check.kind.code for check in ranking.standings[0].checks]
    assert "favour the same models" in " ".join(ranking.standings[0].answer)


def test_nothing_is_claimed_and_no_gate_passes_until_the_groups_are_the_unit():
    table = table_of(1, effect=1.0)
    table.loc[(table["model_a"] == "m0") & (table.index % 10 > 0), "credit"] = 1.0
    battles = podium.read_battles(table)
    standings = podium.rank(battles).standings[0]
    assert standings.answer[0] == (
        "Nobody is called clearly ahead, because items of one passage are not independent."
    )
    assert {(entry.rank_low, entry.rank_high) for entry in standings.entries} == {(1, 4)}
    compared = podium.compare("m0", "m1", battles, require="better")
    assert compared.gate.verdict == "UNDECIDED"
    assert compared.findings[0].doubt.kind.code == "groups"
    assert "cluster='passage'" in " ".join(compared.answer)
    assert not compared.findings[0].is_distinguishable
    by_passage = podium.read_battles(table, cluster="passage")
    assert podium.compare("m0", "m1", by_passage, require="better").gate.verdict == "PASS"
    assert "m0 is clearly ahead" in podium.rank(by_passage).standings[0].answer[0]


def test_the_card_of_a_judge_has_the_checks_of_groups_and_categories():
    table = table_of(1, effect=1.0)
    table["category"] = ["prose" if int(item[0]) % 2 else "code" for item in table["item"]]
    battles = podium.read_battles(table)
    [card] = podium.diagnose(battles, battles).cards
    checks = {check.name: check for check in card.checks}
    assert checks["groups"].is_flagged
    assert "categories" in checks


def test_the_card_counts_groups():
    table = table_of(1, effect=0.0)
    battles = podium.read_battles(table, cluster="passage")
    [card] = podium.diagnose(battles, battles).cards
    assert card.answers["consistency"].unparsed.cells[-1] == "20 passages"


def test_scores_are_looked_at_too():
    rng = np.random.default_rng(2)
    rows = []
    for passage in range(15):
        effect = rng.normal(0, 1, 3)
        for item in range(4):
            scores = effect + rng.normal(0, 0.5, 3)
            rows += [(f"{passage}-{item}", f"m{k}", scores[k], f"p{passage}") for k in range(3)]
    table = pd.DataFrame(rows, columns=["item", "model", "score", "passage"])
    [check] = check_groups(podium.read_battles(table))
    assert check.is_flagged


@pytest.mark.slow
def test_groups_of_given_groups_are_flagged():
    """Passages are the unit, and the models' strengths differ by document."""
    table = table_of(1, effect=1.0, items=6).rename(columns={"passage": "document"})
    number = table["item"].str.split("-").str[1].astype(int)
    table["passage"] = [f"{d}.{n // 2}" for d, n in zip(table["document"], number, strict=True)]
    ranking = podium.rank(podium.read_battles(table, cluster="passage"))
    [check] = [each for each in ranking.standings[0].checks if each.kind.code == "groups"]
    assert check.is_flagged
    assert check.fields["column"] == "document"
    assert "passages of one document are not independent" in ranking.standings[0].answer[0]
    assert check_groups(podium.read_battles(table, cluster="document")) == ()


@pytest.mark.slow
def test_the_check_is_made_for_no_given_groups_no_categories_and_no_facts_of_rows():
    table = table_of(1, effect=1.0)
    assert check_groups(podium.read_battles(table, cluster="passage")) == ()
    few = table_of(1, effect=1.0, passages=9)
    assert check_groups(podium.read_battles(few)) == ()
    of_rows = table.assign(passage=[f"p{k % 20}" for k in range(len(table))])
    assert check_groups(podium.read_battles(of_rows)) == ()
    with_gaps = table.assign(passage=table["passage"].where(table.index % 30 > 17))
    assert check_groups(podium.read_battles(with_gaps)) == ()
    assert check_groups(podium.read_battles(table.drop(columns="passage"))) == ()


@pytest.mark.slow
def test_empty_cells_do_not_hide_groups():
    table = table_of(1, effect=1.0)
    [whole] = check_groups(podium.read_battles(table))
    one_cell = table.assign(passage=table["passage"].where(table.index > 0))
    [check] = check_groups(podium.read_battles(one_cell))
    assert check.number == whole.number
    one_item = table.assign(passage=table["passage"].where(table["item"] != "0-0"))
    [check] = check_groups(podium.read_battles(one_item))
    assert check.is_flagged
    assert check.fields["groups"] == 21


@pytest.mark.slow
def test_several_columns_share_the_level():
    rng = np.random.default_rng(3)
    table = table_of(5, effect=0.0)
    [alone] = check_groups(podium.read_battles(table))
    drawn = dict(zip(table["item"].unique(), rng.integers(0, 20, 100), strict=True))
    others = table.assign(seed=[f"s{drawn[item]}" for item in table["item"]])
    [both] = check_groups(podium.read_battles(others))
    assert both.number <= 1.0
    assert both.number == 1.0 or both.number >= min(alone.number, 0.002)


@pytest.mark.slow
def test_independent_items_are_flagged_in_two_of_a_hundred_tables():
    flagged = 0
    for seed in range(300):
        [check] = check_groups(podium.read_battles(table_of(seed, effect=0.0, models=3)))
        flagged += check.is_flagged
    assert CHECKS["groups"].threshold == 0.02
    assert flagged <= 14


def rows_without_items(seed, effect, values=12, times=30):
    """Return battles of three models without items, whose results depend on `topic`."""
    rng, rows = np.random.default_rng(seed), []
    for value in range(values):
        strength = rng.normal(0, effect, 3) if effect else np.zeros(3)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            for won in rng.random(times) < 1 / (1 + np.exp(strength[b] - strength[a])):
                row = {"model_a": f"m{a}", "model_b": f"m{b}", "credit": float(won)}
                rows.append({**row, "topic": f"t{value}"})
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_rows_without_items_are_looked_at_as_items():
    [check] = check_groups(podium.read_battles(rows_without_items(0, 1.5)))
    assert check.is_flagged
    assert check.fields["column"] == "topic"


@pytest.mark.slow
def test_independent_rows_without_items_are_flagged_in_two_of_a_hundred_tables():
    flagged = 0
    for seed in range(200):
        [check] = check_groups(podium.read_battles(rows_without_items(seed, 0, times=4)))
        flagged += check.is_flagged
    assert flagged <= 12  # 4 are expected; more than 12 have a probability of .0003


def test_a_column_that_names_the_winner_or_the_rater_groups_nothing():
    rng = np.random.default_rng(1)
    pairs = [(a, b) for a in range(12) for b in range(a)]
    rows = [
        {"model_a": f"m{a}", "model_b": f"m{b}", "credit": float(rng.random() < 0.5)}
        for a, b in pairs * 3
    ]
    table = pd.DataFrame(rows)
    table["best"] = np.where(table["credit"] == 1, table["model_a"], table["model_b"])
    table["reviewer"] = [f"r{k % 10}" for k in range(len(table))]
    assert check_groups(podium.read_battles(table)) == ()


def test_a_plan_says_first_that_its_items_depend_on_each_other():
    table = table_of(1, effect=1.0)
    report, *_ = plan_reports(make_plan(podium.read_battles(table)))
    assert "favour the same models" in report.answer[0]
    assert report.answer[1].startswith("If items were independent: ")


@pytest.mark.parametrize("name", ["answer", "answer_index", "num_steps", "difficulty", "subject"])
def test_items_of_one_answer_measure_or_category_are_no_group(name):
    table = table_of(1, effect=1.0).rename(columns={"passage": name})
    battles = podium.read_battles(table)
    assert check_groups(battles) == ()
    assert why_no_groups(battles) == (
        f"no column puts items into groups, such as passages; {name} divides them otherwise"
    )


def test_a_column_of_many_topics_groups_items():
    table = table_of(1, effect=1.0, passages=70).rename(columns={"passage": "topic"})
    [check] = check_groups(podium.read_battles(table))
    assert check.is_flagged


def test_the_column_with_most_values_is_named_if_all_have_too_few():
    table = table_of(1, effect=1.0, passages=9)
    table["batch"] = ["b0" if item < "4" else "b1" for item in table["item"]]
    assert why_no_groups(podium.read_battles(table)) == (
        "the column passage puts items into 9 groups, and the test needs 10 or more"
    )


def test_many_columns_do_not_hide_groups():
    rng = np.random.default_rng(0)
    table = table_of(1, effect=1.5)
    items = table["item"].unique()
    for k in range(25):
        drawn = dict(zip(items, rng.integers(0, 20, len(items)), strict=True))
        table[f"other{k}"] = table["item"].map(drawn)
    [check] = check_groups(podium.read_battles(table))
    assert check.is_flagged
    assert check.fields["column"] == "passage"
