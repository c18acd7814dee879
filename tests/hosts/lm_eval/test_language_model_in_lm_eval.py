"""`podium lm_eval run --model local-chat-completions` with a real language model as models and as
judge."""

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from running import results, run

from podium.data.reading.judgments import read_battles

pytestmark = [pytest.mark.llm, pytest.mark.slow]

ITEMS = 2
MODELS = {"smol-cold": 0.0, "smol-warm": 1.5}
"""Names, which the server does not look at, and temperatures."""


def test_tournament_of_two_temperatures(monkeypatch, task_of_sums, language_model, capfd):
    server = SimpleNamespace(chat=f"{language_model.address}/v1/chat/completions")
    words = ("-o", "out", "--log_samples", "--limit", str(ITEMS))
    judge = ("--ranker", "win-rate", "--ranker_judge", "openai-api/smol/smol")
    where = ("--ranker_judge_args", f"base_url={language_model.address}/v1,api_key=none")
    how = ("--ranker_args", "temperature=0,max_tokens=40")
    codes = []
    for model, temperature in MODELS.items():
        more = (*judge, *where, *how) if model == "smol-warm" else ()
        kwargs = ("--gen_kwargs", f"temperature={temperature},max_gen_toks=16,do_sample=True")
        codes.append(run(monkeypatch, task_of_sums, server, model, *words, *kwargs, *more))
    [log] = Path("out.podium").glob("*.eval")
    battles = read_battles(log)
    assert set(battles.models) == set(MODELS)
    counts = battles.counts()
    assert (len(battles), counts.missing) == (ITEMS, 0)
    assert int(battles.readable.sum()) == ITEMS - counts.unparsed
    if counts.unparsed == ITEMS:
        assert codes == [0, 3]
        assert f"{ITEMS} of {ITEMS} battles are unparsed" in capfd.readouterr().err
        return
    assert codes == [0, 0]
    kept = results(Path("out", "smol-warm"))
    [ranking] = kept["podium"]["rankings"]
    assert (ranking["counts"]["battles"], ranking["counts"]["unparsed"]) == (ITEMS, counts.unparsed)
    assert {row["model"] for row in ranking["models"]} == set(MODELS)
