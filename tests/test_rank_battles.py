"""Ranking from Python: defaults, and which ranker gets which option."""

import re
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium import UsageError, rank, simulate
from podium.plugins.settings import assign_options, ranker_options


@pytest.mark.slow
def test_without_a_ranker_battles_are_rated_by_bradley_terry() -> None:
    battles = simulate(models=3, items=30, seed=2).battles()
    assert rank(battles).to_json() == rank(battles, "bradley-terry").to_json()


def test_ranker_option_overrides_a_general_one_and_others_are_kept() -> None:
    known = {"swim": {"items", "seed"}, "anchor": {"items"}}
    dealt, rest = assign_options(
        {"swim.items": 3, "items": 5, "labels": "human", "chain.items": 1}, known
    )
    assert dealt == {"swim": {"items": 3}, "anchor": {"items": 5}}
    assert rest == {"labels": "human", "chain.items": 1}


def test_an_option_of_a_ranker_that_is_not_asked_is_rejected() -> None:
    with pytest.raises(UsageError, match="ranker in this call"):
        ranker_options(["bradley-terry"], {"win-rate.anchor": "wren"})


def test_provenance_lists_at_most_ten_calls() -> None:
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    way = text[text.index("- `podium rank`") : text.index("- A tournament, from")]
    calls = re.findall(r"`(podium[\w.]*):(\w+)`", way)
    assert 0 < len(calls) <= 10
    assert all(hasattr(import_module(module), name) for module, name in calls)


@pytest.mark.slow
def test_foreign_frame_message_names_columns_and_verdicts_to_map() -> None:
    frame = pd.DataFrame(
        {
            "prompt": ["p", "q"] * 20,
            "model_1": "ash",
            "model_2": "elm",
            "vote": ["model_1", "model_2", "draw", "?"] * 10,
        }
    )
    with pytest.raises(podium.DataError) as columns:
        podium.rank(frame)
    call = columns.value.remedy.split(": ", 1)[1].split(";")[0]
    assert call == (
        "podium.read_battles(frame, columns={'item': 'prompt', 'model_a': 'model_1', 'model_b': "
        "'model_2', 'credit': 'vote'})"
    )
    with pytest.raises(podium.DataError) as words:
        eval(call, {"podium": podium, "frame": frame})
    assert words.value.remedy.endswith(
        "credit_map={'?': ?, 'draw': 0.5, 'model_1': 1, 'model_2': 0}"
    )
    named = {"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "vote"}
    mapped = {"draw": 0.5, "model_1": 1, "model_2": 0}
    battles = podium.read_battles(frame, columns=named, credit_map=mapped, unknown="unparsed")
    assert podium.rank(battles).standings[0].counts.readable == 30


def test_frame_with_unknown_columns_gets_a_call_with_placeholders() -> None:
    with pytest.raises(
        podium.DataError, match=r"columns=\{'model_a': '\?', 'model_b': '\?', 'credit': '\?'\}"
    ):
        podium.rank(pd.DataFrame({"x": ["p"], "y": ["q"]}))


def test_a_ranking_that_is_printed_shows_its_answer_and_its_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ranking = podium.rank(podium.simulate(models=3, items=20, seed=1).battles())
    print(ranking)
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    best = ranking.standings[0].entries[0]
    assert ["1", best.model, f"{best.score:.1f}"] in [row[:3] for row in rows]
    assert ("Only 20 items" in out, "warning: only 20 items" in out) == (True, False)
    assert repr(ranking) == "Ranking(bradley-terry: 3 models)"
