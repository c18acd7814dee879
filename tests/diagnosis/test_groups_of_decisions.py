"""A tournament that took items as independent claims no decision if a column groups them."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.data.pairings import Outcome, Pairing, Round
from podium.diagnosis.groups_of_decisions import why_rounds_are_not_claimed

PASSAGES, ITEMS, MODELS = 20, 5, 4


def table_of(effect: float) -> pd.DataFrame:
    """Return a round robin in which m0 is best, and strengths differ by passage (sd `effect`)."""
    rng = np.random.default_rng(1)
    rows = []
    for passage in range(PASSAGES):
        strength = rng.normal(0, effect, MODELS) + np.array([1.5, 0, 0, 0])
        for item in range(ITEMS):
            for a, b in combinations(range(MODELS), 2):
                credit = float(rng.random() < 1 / (1 + np.exp(strength[b] - strength[a])))
                rows.append((f"{passage}-{item}", f"m{a}", f"m{b}", credit, f"p{passage}"))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "passage"])


def answer_of(table: pd.DataFrame, **how: str) -> dict:
    """Return the answer of a replayed tournament."""
    battles = podium.read_battles(table, **how)
    ranking = podium.replay(battles, "round_robin", until="top1").ranking
    return ranking.standings[0].diagnostics["answer"]


def test_decisions_by_items_are_not_claimed_if_items_of_a_passage_are_alike() -> None:
    answer = answer_of(table_of(effect=1.0))
    assert answer["decisions"][0] == (
        "No decision is claimed: items of one passage favour the same models (column passage), so "
        "that they are not independent. Play the tournament with cluster='passage'."
    )
    assert not answer["answered"]
    assert not any("95%" in sentence for sentence in answer["decisions"])
    assert answer["decisions"][1].startswith("Stopped as if the items were independent: ")


@pytest.mark.parametrize(("effect", "how"), [(1.0, {"cluster": "passage"}), (0.0, {})])
def test_decisions_are_claimed_by_groups_and_if_items_vary_independently(effect, how) -> None:
    answer = answer_of(table_of(effect), **how)
    assert "m0" in answer["decisions"][0]
    assert "interim analyses" in answer["decisions"][0]


def test_rounds_are_checked_with_the_columns_of_their_items() -> None:
    table = table_of(effect=1.0)
    outcomes = [
        Outcome(Pairing(r.item, r.model_a, r.model_b), r.credit) for r in table.itertuples()
    ]
    rounds = [
        Round(tuple(outcomes[:300])),
        Round((*outcomes[300:], outcomes[0]._replace(credit=None))),
    ]
    items = {
        value: sorted(set(rows["item"])) for value, rows in table.groupby("passage", sort=False)
    }
    assert "column passage" in why_rounds_are_not_claimed(rounds, {"passage": items})
    assert why_rounds_are_not_claimed(rounds, {}) == ""
    mixed = np.random.default_rng(2).permutation(sorted(set(table["item"]))).tolist()
    others = {f"p{k}": mixed[ITEMS * k : ITEMS * (k + 1)] for k in range(PASSAGES)}
    assert why_rounds_are_not_claimed(rounds, {"passage": others}) == ""
    assert why_rounds_are_not_claimed([Round(())], {"passage": items}) == ""
