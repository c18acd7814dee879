"""`inspect score LOG --ranker NAME` where podium is enabled: scoring calls no hook, so podium ranks
after it."""

import pytest
from inspect_ai.log import read_eval_log
from played_logs import place

from podium.hosts.inspect_ai.tasks import round_robin


@pytest.mark.slow
def test_inspect_score_adds_its_ranking(on, play, write_responses):
    log = play(round_robin(responses=write_responses(items=3)), "podium/offline")
    assert [one["ranker"] for one in log.results.metadata["podium"]["rankings"]] == [
        "bradley-terry"
    ]
    words = (
        "--scorer",
        "podium/verdict",
        "--action",
        "overwrite",
        "--overwrite",
        "--ranker",
        "win-rate",
    )
    done = on.script("inspect", "score", place(log), *words)
    assert done.returncode == 0, done.stderr
    again = read_eval_log(log.location, header_only=True)
    assert [one["ranker"] for one in again.results.metadata["podium"]["rankings"]] == [
        "bradley-terry",
        "win-rate",
    ]
