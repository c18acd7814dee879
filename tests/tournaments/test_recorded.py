"""Tournaments replayed on the recorded round robin of a real judge: 7 models, 953 items, GPT-4."""

import json
from pathlib import Path

import numpy as np
import pytest

from podium import Battles, rank, read_battles, replay
from podium.data.pairings import Outcome
from podium.notices.notice_text import notice_texts
from podium.planning.replays import play, recording_of
from podium.planning.tournament_table import TournamentTable, compare_tournaments
from podium.tournaments.anchor import Anchor

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the recorded judgments are not beside this checkout"
    ),
]
BEST = "gpt4"


@pytest.fixture(scope="module")
def battles() -> Battles:
    return read_battles(
        DATA / "roundrobin_qlora_oa_gpt4.parquet",
        columns={"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"},
        credit_map={"1": 1, "0": 0.5, "-1": 0},
        shown="a",
    )


@pytest.fixture(scope="module")
def table(battles: Battles) -> TournamentTable:
    """All tournaments at the price of one anchor, 20 seeds."""
    return compare_tournaments(battles, seeds=20, budgets=(953 * 6,))


@pytest.mark.slow
def test_round_robin_reproduces_the_direct_ranking_exactly(battles: Battles) -> None:
    direct, found = (
        one.standings[0] for one in (rank(battles, "bradley-terry"), replay(battles).ranking)
    )
    assert (direct.entries, direct.fit, notice_texts(direct.warnings)) == (
        found.entries,
        found.fit,
        notice_texts(found.warnings),
    )


@pytest.mark.slow
def test_round_robin_costs_all_40026_calls(battles: Battles) -> None:
    price = replay(battles).price
    assert (price.battles, price.calls, price.pairs, price.missing) == (20_013, 40_026, 21, 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_swim_plays_12_pairs_of_models(battles: Battles, seed: int) -> None:
    price = replay(battles, "swim", seed=seed).price
    assert (price.pairs, price.rounds, price.battles) == (12, 12, 12 * 953)


@pytest.mark.slow
def test_anchors_reproduce_the_references_win_rates(battles: Battles) -> None:
    """The reference rounds merged verdicts to win, tie, loss: hard labels."""
    complete = battles.complete_items()
    references = json.loads((DATA / "references.json").read_text())["qlora_anchor"][
        "win_rate_vs_anchor"
    ]
    assert len(references) == 7
    for anchor, expected in references.items():
        found = replay(complete, "anchor", "win-rate", anchor=anchor, labels="hard").ranking
        rates = {
            entry.model: entry.score
            for entry in found.standings[0].entries
            if entry.model != anchor
        }
        assert rates == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_a_newcomer_to_the_other_six_costs_three_opponents(battles: Battles) -> None:
    others = tuple(name for name in battles.models if name != "vicuna-13b")
    price = replay(battles, "swim", rated=others).price
    assert (price.pairs, price.battles, price.given) == (3, 3 * 953, 15 * 953)


@pytest.mark.slow
def test_the_pilot_never_chooses_the_best_model(battles: Battles) -> None:
    record = recording_of(battles)
    rounds = [play(Anchor(seed=seed, items=11), record).rounds for seed in range(40)]
    assert BEST not in {anchor_of(second.outcomes) for _, second in rounds}


def anchor_of(outcomes: tuple[Outcome, ...]) -> str:
    [name] = set.intersection(*({one.pairing.a, one.pairing.b} for one in outcomes))
    return name


@pytest.mark.slow
def test_the_best_model_is_clearly_the_worst_anchor(table: TournamentTable) -> None:
    """Its error and tau are worst by a wide margin, on all items and with any seed."""
    named = {
        row.tournament.removeprefix("anchor "): row
        for row in table.rows
        if row.tournament.startswith("anchor ")
    }
    worst, others = named.pop(BEST), [row for name, row in named.items() if name != "auto"]
    assert (len(others), worst.tau) == (6, pytest.approx(0.62, abs=0.005))
    assert min(row.tau for row in others) == 1
    assert worst.error > 1.3 * max(row.error for row in others)


@pytest.mark.slow
def test_chain_error_is_small_for_every_seed(table: TournamentTable) -> None:
    """At one anchor's price: better than the mean over anchors, with any seed far better than the
    worst."""
    rows = {row.tournament: row for row in table.rows}
    anchors = [
        row.error
        for name, row in rows.items()
        if name.startswith("anchor ") and name != "anchor auto"
    ]
    chain = rows["chain"]
    assert chain.battles == rows[f"anchor {BEST}"].battles == 5718
    assert chain.error < 0.7 * np.mean(anchors)
    assert chain.error + 5 * chain.error_sd < rows[f"anchor {BEST}"].error


@pytest.mark.slow
def test_at_equal_cost_the_chain_errs_least_of_designs_without_an_anchor(
    table: TournamentTable,
) -> None:
    rows = {row.tournament: row.error for row in table.rows}
    assert rows["chain"] < rows["swim"] < rows["round_robin"]
