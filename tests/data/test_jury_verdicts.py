"""One verdict per battle of a jury: as a tournament merges the judgments of a battle."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.data.jury_verdicts import is_merging_jury, judged_once, merge_jury_verdicts
from podium.plugins.catalogue import judging_settings
from podium.scorers.judging import merge_rows
from podium.tournaments.judge_rotation import jury_cells

JUDGES = ("one", "two", "three")


def judgments(rule, quorum=None, seed=0):
    """Return random judgments of three judges in both orders, twice each, a fifth unparsed."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(12):
        for pair in combinations("xyz", 2):
            a, b = rng.permutation(pair)
            for judge in JUDGES:
                for repeat, order in ((0, "ab"), (0, "ba"), (1, "ab"), (1, "ba")):
                    credit = rng.choice([0, 0.5, 1, np.nan], p=[0.3, 0.2, 0.3, 0.2])
                    reason = "" if credit == credit else "no verdict"
                    names = {"item": f"q{item}", "model_a": a, "model_b": b, "judge": judge}
                    verdict = {"credit": credit, "margin": 2 * credit - 1, "reason": reason}
                    rows.append({**names, "order": order, "repeat": repeat, **verdict})
    return pd.DataFrame(rows).assign(**jury_cells(JUDGES, rule, quorum))


def merged_by_hand(rows, how):
    """Return the credit and margin of the model that is first by name, by battle."""
    merged = {}
    for (item, a, b), own in rows.groupby(["item", "model_a", "model_b"]):
        plain = own.astype(object).where(own.notna(), None).to_dict("records")
        verdict = merge_rows([{**row, "reason": row["reason"] or None} for row in plain], how)
        credit, margin = verdict.credit, verdict.margin
        if a > b and credit is not None:
            credit, margin = 1 - credit, None if margin is None else -margin
        merged[item, *sorted((a, b))] = (credit, margin)
    return merged


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("rule", ["mean", "majority"])
@pytest.mark.parametrize("quorum", [None, 1, 3])
def test_verdicts_are_merged_as_those_of_a_battle_in_a_tournament(rule, quorum):
    rows = judgments(rule, quorum)
    expected = merged_by_hand(rows, judging_settings(rule=rule, quorum=quorum))
    merged = merge_jury_verdicts(podium.read_battles(rows))
    assert len(merged) == len(expected) == 36
    assert merged.counts().judgments == len(rows)
    for row in merged.table.to_dict("records"):
        credit, margin = expected[row["item"], row["model_a"], row["model_b"]]
        assert row["credit"] == pytest.approx(np.nan if credit is None else credit, nan_ok=True)
        if "margin" in row:
            assert row["margin"] == pytest.approx(np.nan if margin is None else margin, nan_ok=True)


def test_judges_that_took_turns_and_single_judges_are_not_merged():
    rows = judgments("mean")
    alone = podium.read_battles(rows[rows.judge == "one"])
    in_turn = podium.read_battles(rows.drop(columns=["jury_rule", "jury_quorum"]))
    assert not is_merging_jury(alone)
    assert judged_once(in_turn) is in_turn


@pytest.mark.slow
def test_a_written_table_is_ranked_as_the_same_jury(tmp_path):
    battles = podium.read_battles(judgments("majority"))
    battles.to_frame().to_csv(tmp_path / "table.csv", index=False)
    before = podium.rank(battles, "bradley-terry")
    after = podium.rank(str(tmp_path / "table.csv"), "bradley-terry")
    for own, other in zip(before.standings[0].entries, after.standings[0].entries, strict=True):
        assert (own.model, own.score) == (other.model, pytest.approx(other.score))
    assert [each.slice for each in after.details] == sorted(JUDGES)
