"""A run parses each reply once when it comes, and the scorer once more, from the log."""

from collections import Counter

import pytest

from podium.hosts.inspect_ai.tasks import round_robin
from podium.scorers.judging import Judging


@pytest.fixture
def parsed(monkeypatch) -> Counter:
    """Count how often each mode is used to parse a reply."""
    modes = Counter()
    parse = Judging._read_graded

    def count(judging, reply, mode):
        modes[mode] += 1
        return parse(judging, reply, mode)

    monkeypatch.setattr(Judging, "_read_graded", count)
    return modes


@pytest.mark.parametrize(("realization", "form"), [("direct", "letter"), ("likert", "likert")])
def test_each_reply_is_parsed_once_by_the_run_and_once_by_the_scorer(
    play, behave, record, write_responses, parsed, realization, form
):
    behave(form=form, probabilities=False)
    log = play(
        round_robin(responses=write_responses(items=3), realization=realization, logprobs="off")
    )
    assert log.status == "success"
    judgments = [
        judgment for sample in log.samples for judgment in sample.store["podium"]["judgments"]
    ]
    scored = sum(len(judgment["replies"]) for judgment in judgments)
    # The first reply settles whether probabilities are used, and is parsed once more for this. A
    # pointwise judge rates a response once, and the scorer reads the rating in several battles.
    assert parsed == {"off": 1 + record.calls + scored}
