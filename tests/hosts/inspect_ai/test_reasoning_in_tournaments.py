"""A tournament among models that think aloud, judged by one that does."""

import pytest
from played_logs import ITEMS, MODELS, battles, quality

from podium.hosts.inspect_ai.tasks import round_robin


@pytest.mark.slow
def test_reasoning_is_neither_judged_nor_parsed(play, behave, record, write_responses, capfd):
    behave(scripted=lambda prompt: "<think>Verdict: B, or B after all</think>\n\nA")
    aloud = {
        (name, item): f"<think>SECRET plan</think>answer {item} quality={quality(name, item)}"
        for name in MODELS
        for item in range(ITEMS)
    }
    log = play(round_robin(responses=write_responses(texts=aloud), logprobs="off"))
    assert (
        "24 of 24 responses begin with reasoning, which the judge is not shown; reasoning='keep'"
        in capfd.readouterr().err
    )
    assert not any("SECRET" in prompt for _, prompt in record.prompts)
    labels = [
        row["label"]
        for sample in battles(log)
        for row in sample.scores["verdict"].metadata["podium"]["judgments"]
    ]
    assert labels == ["A"] * 72
    record.prompts.clear()
    play(round_robin(responses=write_responses(texts=aloud), logprobs="off", reasoning="keep"))
    assert all("SECRET" in prompt for _, prompt in record.prompts)
