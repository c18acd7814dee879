"""Audits of recorded verdicts: a crowd, GPT-4 in both orders, and three judges of Arena."""

from pathlib import Path

import pytest

import podium

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.real_data,
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.exists(), reason="no recorded judgments beside the checkout"),
]


def audit_of(path, options, **how):
    battles = podium.read_battles(DATA / path, **options)
    judgments = podium.read_battles(DATA / path, merge=False, **options)
    return podium.audit(battles, judgments=judgments, **how).boards


def flags_of(board):
    return [probe.check.name for probe in board.flagged_probes]


def probe_of(board, name):
    return next(probe for probe in board.probes if probe.check.name == name)


def test_a_crowd_on_13_prompts_separates_no_two_of_59_models():
    columns = {
        **{"model_a": "left", "model_b": "right", "credit": "outcome_left", "item": "prompt"},
        **{"voter": "worker", "length_a": "len_left", "length_b": "len_right"},
    }
    options = {"columns": columns, "where": {"judge": "crowd"}}
    [board] = audit_of("llmfao.parquet", options)
    assert flags_of(board) == ["items"]
    assert board.answer[1] == "All pairs of the 59 models are too close to call on these 13 items."
    assert probe_of(board, "places").check.number == 0
    assert "124 voters" in probe_of(board, "voters").finding_text


def test_gpt_4_in_both_orders_has_a_leader_and_a_preference_for_the_first():
    options = {
        "columns": {"item": "prompt", "model_a": "model_1", "model_b": "model_2"}
        | {"credit": "verdict"},
        "credit_map": {"1": 1, "0": 0.5, "-1": 0},
        "shown": "a",
    }
    [board] = audit_of("roundrobin_qlora_oa_gpt4.parquet", options)
    assert flags_of(board) == ["lost replies", "position", "fit", "unparsed"]
    assert board.answer[0].startswith("Use this ranking with care, four of 17 probes are flagged")
    assert board.answer[1].startswith("gpt4 is clearly ahead of all others that can be ranked")
    assert not probe_of(board, "elo").check.fields["is_quotable"]


def test_three_judges_of_arena_have_an_audit_each():
    boards = audit_of("human_and_judges/arena20.parquet", {}, by="judge")
    flags = {board.standings.slice: flags_of(board) for board in boards}
    assert flags == {
        "claude-3-opus-20240229": ["own family"],
        "gpt-3.5-turbo": ["own model", "own family", "self-preference"],
        "gpt-4-0125-preview": ["own family", "self-preference", "fit"],
    }
    for board in boards:
        assert "gpt-3.5-turbo agrees least" in probe_of(board, "judges").finding_text
