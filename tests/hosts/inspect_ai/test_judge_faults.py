"""Providers that fail, replies that cannot be read, responses that are missing."""

import json

import pytest
from played_logs import (
    ITEMS,
    MODELS,
    battles,
    by_hand,
    credit_of,
    failed_battles,
    place,
    ranked,
    verdict_of,
)
from scripted_judge import GARBAGE, chance

import podium
from podium.hosts.inspect_ai.tasks import round_robin, swim

ALL = 6 * ITEMS


def counts(log):
    return log.results.metadata["podium"]["rankings"][0]["counts"]


@pytest.mark.slow
def test_failures_of_the_provider_are_sample_errors_and_the_rest_is_ranked(
    play, behave, record, write_responses
):
    behave(errors=0.1)
    log = play(round_robin(responses=write_responses()))
    failed = failed_battles(log)
    lost = {prompt for _, prompt in record.prompts if chance(prompt, "error") < 0.1}
    assert 0 < len(failed) < ALL
    assert len(failed) <= len(lost)
    assert record.calls == 2 * ALL
    assert all(
        "on fire" in one.error.message and not one.scores for one in log.samples if one.error
    )
    whole = [one.metadata for one in battles(log) if one.id not in failed]
    fine = [(own["item"], own["model_a"], own["model_b"]) for own in whole]
    assert counts(log)["judged"] == len(fine) == ALL - len(failed)
    assert counts(log)["unparsed"] == len(failed)
    reasons = (
        podium.read_battles(str(place(log)), merge=False).table.reason.value_counts().to_dict()
    )
    assert reasons == {"failed: RuntimeError": len(lost)}
    scores = {
        row["model"]: row["score"]
        for row in log.results.metadata["podium"]["rankings"][0]["models"]
    }
    expected = {one.model: one.score for one in ranked(by_hand(fine)).standings[0].entries}
    assert scores == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_unreadable_reply_is_requested_again_and_then_parsed(play, behave, record, write_responses):
    behave(unparsed_first=True)
    log = play(round_robin(responses=write_responses(), replies="text"))
    assert record.calls == 2 * 2 * ALL
    assert set(record.times().values()) == {2}
    assert counts(log)["judged"] == ALL
    assert counts(log)["unparsed"] == 0
    assert {one["attempts"] for s in battles(log) for one in s.store["podium"]["judgments"]} == {2}
    assert len(record.reminders) == 2 * ALL
    assert {form.split(": ")[0] for form in record.reminders} == {
        "Which response is better? Answer with one letter and nothing else"
    }
    rows = [row for one in battles(log) for row in verdict_of(one).metadata["podium"]["judgments"]]
    assert {row["attempts"] for row in rows} == {2}


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_unreadable_reply_is_unparsed_with_its_reason_after_all_attempts(
    play, behave, record, write_responses, attempts
):
    behave(garbage=0.15)
    log = play(round_robin(responses=write_responses(), attempts=attempts, replies="text"))
    spoilt = {prompt for _, prompt in record.prompts if chance(prompt, "garbage") < 0.15}
    assert len(spoilt) > 0
    assert record.calls == 2 * ALL + (attempts - 1) * len(spoilt)
    unparsed = [one for one in battles(log) if verdict_of(one).value != verdict_of(one).value]
    assert 0 < len(unparsed) <= len(spoilt)
    assert {verdict_of(one).reason for one in unparsed} == {"grader_failed"}
    rows = [row for one in unparsed for row in verdict_of(one).metadata["podium"]["judgments"]]
    assert sum(row["credit"] is None for row in rows) == len(spoilt)
    assert {row["reason"] for row in rows if row["credit"] is None} == {"no verdict"}
    assert {row.get("reply") for row in rows if row["credit"] is None} == {GARBAGE}
    warnings = log.results.metadata["podium"]["rankings"][0]["warnings"]
    assert any(
        f"most often the judge wrote {GARBAGE!r} ({len(spoilt)})" in own["text"] for own in warnings
    )
    assert counts(log)["unparsed"] == len(unparsed)
    assert counts(log)["judged"] == ALL - len(unparsed)
    reported = next(one for one in log.results.scores if one.name == "verdict")
    assert reported.metrics["judged"].value == reported.scored_samples == ALL - len(unparsed)
    assert reported.unscored_samples == len(unparsed)


@pytest.mark.slow
def test_a_battle_that_is_unparsed_says_so_in_the_viewer(play, behave, write_responses):
    behave(garbage=1.0)
    log = play(round_robin(responses=write_responses()))
    [text] = {verdict_of(one).answer for one in battles(log)}
    assert text == "unparsed"
    assert "unparsed (no verdict)" in verdict_of(battles(log)[0]).explanation


@pytest.mark.slow
def test_a_run_of_which_nothing_can_be_read_ends_without_a_ranking_and_says_why(
    play, behave, write_responses, capfd
):
    behave(garbage=1.0)
    log = play(round_robin(responses=write_responses()))
    assert log.status == "success"
    assert "podium" not in (log.results.metadata or {})
    assert "podium: not ranked" in capfd.readouterr().err


@pytest.mark.slow
def test_a_run_of_which_every_call_failed_ends_without_a_ranking_and_says_why(
    play, behave, write_responses, capfd
):
    behave(errors=1.0)
    log = play(round_robin(responses=write_responses()))
    assert all(one.error for one in battles(log))
    assert "podium: not ranked" in capfd.readouterr().err


@pytest.mark.slow
def test_one_order_that_cannot_be_read_is_kept_where_that_is_requested(
    play, behave, write_responses
):
    behave(garbage=0.15)
    log = play(round_robin(responses=write_responses(), one_sided="keep"))
    half = [
        one
        for one in battles(log)
        if "one" in str(verdict_of(one).explanation)
        or "unparsed (" in str(verdict_of(one).explanation)
    ]
    assert half
    for sample in half:
        rows = verdict_of(sample).metadata["podium"]["judgments"]
        read = [row["credit"] for row in rows if row["credit"] is not None]
        value = credit_of(sample)
        assert value == pytest.approx(read[0]) if len(read) == 1 else value != value


@pytest.mark.slow
def test_a_log_that_keeps_one_readable_order_is_read_so(play, behave, write_responses, run_podium):
    behave(garbage=0.15)
    kept = str(place(play(round_robin(responses=write_responses(), one_sided="keep"))))
    recorded = podium.read_battles(kept)
    assert recorded.counts() == podium.read_battles(kept, one_sided="keep").counts()
    assert recorded.reading["one_sided"] == "keep"
    stricter = podium.read_battles(kept, one_sided="unparsed")
    assert stricter.counts().unparsed > recorded.counts().unparsed
    other = str(place(play(round_robin(responses=write_responses(), seed=7))))
    both = podium.read_battles(kept, other)
    assert [note.code for note in both.notes].count("one-sided-differs") == 1
    first, second = sorted(recorded.models)[:2]
    outputs = []
    for options in ((), ("--one-sided", "keep"), ("--one-sided", "unparsed")):
        code, out, _ = run_podium("compare", first, second, kept, "--format", "json", *options)
        assert code == 0
        outputs.append(json.loads(out)["comparisons"])
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.slow
def test_swim_goes_on_after_battles_that_failed(play, behave, write_responses):
    behave(errors=0.4, garbage=0.1)
    log = play(swim(responses=write_responses()))
    assert len(battles(log)) == 4 * ITEMS
    assert log.status == "error"
    assert any(one.error for one in battles(log))


@pytest.mark.slow
def test_missing_responses_are_reported_counted_and_left_out(play, record, write_responses, capfd):
    holes = {("elm", 0): "", ("elm", 3): "   ", ("oak", 5): ""}
    log = play(round_robin(responses=write_responses(texts=holes)))
    assert "elm (empty response: 2)" in capfd.readouterr().err
    assert log.eval.metadata["podium_missing"] == {
        "elm": {"empty response": 2},
        "oak": {"empty response": 1},
    }
    assert len(battles(log)) == ALL - 3 * 3
    assert not any("elm" in one.id for one in battles(log) if one.metadata["item"] in ("q0", "q3"))
    assert record.calls == 2 * (ALL - 9)
    assert (counts(log)["battles"], counts(log)["missing"]) == (ALL - 9, 9)
    assert podium.read_battles(str(place(log))).missing == 9
    assert podium.read_battles(str(place(log)), where={"item": "q1"}).missing is None


@pytest.mark.slow
def test_missing_battles_of_later_rounds_are_counted_too(play, write_responses):
    log = play(swim(responses=write_responses(texts={("elm", 0): ""})))
    assert counts(log)["battles"] + counts(log)["missing"] == 4 * ITEMS
    assert counts(log)["missing"] >= 1


@pytest.mark.slow
def test_responses_of_failed_samples_are_left_out(play, record, tmp_path):
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def answering(good: float):
        async def solve(state, generate):
            if good < 1 and state.sample_id == "q1":
                raise ValueError("no answer")
            state.output = ModelOutput.from_content("made", f"quality={good}")
            return state

        return solve

    dataset = [Sample(id=f"q{k}", input=f"Question {k}?") for k in range(3)]
    for name, good in (("weak", 0.5), ("strong", 2.0)):
        eval(
            Task(dataset, solver=answering(good), name="made"),
            model=f"scripted/{name}",
            log_dir="made",
            fail_on_error=False,
        )
    log = play(round_robin(responses="made"))
    assert {one.metadata["item"] for one in battles(log)} == {"q0", "q2"}
    assert log.eval.metadata["podium_missing"] == {"scripted/weak": {"errored": 1}}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("replies", ["auto", "schema", "text"])
def test_a_reply_that_the_content_filter_ended_is_not_asked_for_again(
    play, behave, record, write_responses, replies
):
    behave(filtered=0.1)
    log = play(round_robin(responses=write_responses(), replies=replies))
    assert record.calls == 2 * ALL
    assert not record.reminders
    filtered = [prompt for _, prompt in record.prompts if chance(prompt, "filter") < 0.1]
    assert filtered
    reasons = podium.read_battles(str(place(log)), merge=False).table.reason.value_counts()
    assert reasons.to_dict() == {"content filter": len(filtered)}


@pytest.mark.slow
def test_a_refusal_is_unparsed_and_no_loss(play, behave, write_responses):
    behave(scripted=lambda prompt: "I'm sorry, but I can't help with that.")
    log = play(round_robin(responses=write_responses()))
    reasons = {
        r["reason"] for one in battles(log) for r in verdict_of(one).metadata["podium"]["judgments"]
    }
    assert reasons == {"refusal"}


@pytest.mark.slow
def test_the_read_battles_of_a_log_count_as_the_log_says(play, behave, write_responses):
    behave(garbage=0.15, errors=0.05)
    log = play(round_robin(responses=write_responses()))
    found = podium.read_battles(str(place(log)))
    scored = [one for one in battles(log) if one.error is None]
    judged = sum(verdict_of(one).value == verdict_of(one).value for one in scored)
    assert int(found.readable.sum()) == judged == counts(log)["judged"]
    assert set(found.models) == set(MODELS)
