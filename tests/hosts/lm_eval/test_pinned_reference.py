"""`--ranker_pin`: results of lm-eval have the win rate against one model, which does not move."""

import json
from pathlib import Path

import pytest

pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from running import results, run

JUDGE = ("--ranker", "bradley-terry", "--ranker_judge", "openai-api/standin/judge")
MODELS = ("ash-0.9", "elm-0.7", "fir-0.4", "oak-0.5", "yew-0.3")


@pytest.fixture
def evaluate(monkeypatch, task_of_sums, server):
    """Return a function that runs a model on twelve items with more options."""
    key = ("--ranker_judge_args", f"base_url={server.address}/v1,api_key=x")

    def evaluate_model(model, *more, judged=True, folder="out"):
        how = (*JUDGE, *key) if judged else ("--log_samples",)
        words = ("-o", folder, "--limit", "12", *how, *more)
        return run(monkeypatch, task_of_sums, server, model, *words)

    return evaluate_model


def figures(model, folder="out"):
    return results(Path(folder, model))["results"]["sums"]


@pytest.mark.slow
def test_the_figure_of_a_model_is_the_same_among_four_five_and_six_models(evaluate, server, capfd):
    """The same responses and judge were three ratings in three results files."""
    for model in MODELS[:3]:
        evaluate(model, judged=False)
    pinned = []
    ratings = []
    for joining in (None, *MODELS[3:]):
        if joining:
            evaluate(joining, judged=False)
        assert evaluate("pine-0.6", *(() if joining else ("--ranker_pin", "ash-0.9"))) == 0
        own = figures("pine-0.6")
        pinned.append((own["pinned-win-rate,podium"], own["pinned-win-rate_stderr,podium"]))
        ratings.append(own["bradley-terry,podium"])
    assert len({*pinned}) == 1
    assert len({*ratings}) == 3
    shown = [
        one.probability if one.first == "pine-0.6" else 1 - one.probability
        for one in server.calls()
        if one.model == "judge" and {one.first, one.second} == {"pine-0.6", "ash-0.9"}
    ]
    assert pinned[0][0] == pytest.approx(sum(shown) / len(shown), abs=1e-3)
    [win_rate, rating] = results(Path("out", "pine-0.6"))["podium"]["provenance"]["figures"]
    assert win_rate["key"] == "pinned-win-rate,podium"
    assert (win_rate["reference"], win_rate["opponents"]) == ("ash-0.9", ["ash-0.9"])
    assert (win_rate["items"], win_rate["battles"]) == (12, 12)
    assert rating["opponents"] == sorted(MODELS)
    pin = json.loads(Path("out.podium", "pin.json").read_text())
    assert (pin["model"], [row["task"] for row in pin["rankings"]]) == ("ash-0.9", ["sums"])
    assert "ratings and win rates here change" not in capfd.readouterr().err
