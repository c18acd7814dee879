"""Token probabilities: kept as they came, read at the right token, settled once."""

import pytest
from played_logs import battles, by_hand, verdict_of
from scripted_judge import preferred, strength

from podium.hosts.inspect_ai.tasks import round_robin
from podium.plugins.catalogue import judging_settings
from podium.scorers.judging import dump_reply, load_reply
from podium.scorers.reply import Reply, Token

TWO = {"elm": 1.9, "oak": 2.4}


def rows_of(log):
    return [row for one in battles(log) for row in verdict_of(one).metadata["podium"]["judgments"]]


def reasons(log):
    return {row["reason"] for row in rows_of(log)}


def modes(log):
    return {one["mode"] for sample in battles(log) for one in sample.store["podium"]["judgments"]}


@pytest.mark.slow
@pytest.mark.parametrize("realization", ["direct", "cot"])
def test_soft_credits_are_the_probabilities_of_the_model(
    play, behave, write_responses, realization
):
    behave(form="cot" if realization == "cot" else "letter")
    log = play(round_robin(responses=write_responses(), realization=realization))
    assert modes(log) == {"required"}
    for sample in battles(log):
        own = sample.metadata
        expected = (
            by_hand([(own["item"], own["model_a"], own["model_b"])]).set_index("order").credit
        )
        for row in verdict_of(sample).metadata["podium"]["judgments"]:
            assert row["credit"] == pytest.approx(expected[row["order"]], abs=1e-14)


@pytest.mark.slow
def test_a_judge_without_probabilities_gives_hard_credits_throughout(play, behave, write_responses):
    behave(probabilities=False)
    log = play(round_robin(responses=write_responses()))
    assert modes(log) == {"off"}
    assert {row["credit"] for row in rows_of(log)} == {0.0, 1.0}


@pytest.mark.slow
def test_probabilities_that_are_switched_off_are_neither_asked_for_nor_read(play, write_responses):
    log = play(round_robin(responses=write_responses(), logprobs="off"))
    assert {row["credit"] for row in rows_of(log)} == {0.0, 1.0}
    assert not any(
        "tokens" in reply
        for s in battles(log)
        for one in s.store["podium"]["judgments"]
        for reply in one["replies"]
    )


@pytest.mark.slow
def test_required_probabilities_that_do_not_come_leave_the_battle_unparsed_with_the_reason(
    play, behave, write_responses
):
    behave(probabilities=False)
    log = play(round_robin(responses=write_responses(), logprobs="required"))
    assert reasons(log) == {"no log-probabilities"}
    assert all(verdict_of(one).value != verdict_of(one).value for one in battles(log))


@pytest.mark.slow
def test_a_first_reply_without_a_verdict_does_not_decide_that_there_are_no_probabilities(
    play, record, write_responses
):
    # A refusal or an empty reply often comes without tokens, from providers that give them
    # otherwise.
    judge = "scripted/judge"

    class Bare(type(record)):
        pass

    from scripted_judge import Behaviour

    manner = Behaviour(unparsed_first=True)
    record.behaviours["judge"] = manner
    import scripted_judge

    original = scripted_judge._probabilities
    scripted_judge._probabilities = lambda text, letter, p: (
        original(text, letter, p) if letter else None
    )
    try:
        log = play(round_robin(responses=write_responses()), judge)
    finally:
        scripted_judge._probabilities = original
    assert modes(log) == {"required"}
    assert len({row["credit"] for row in rows_of(log)}) > 2


@pytest.mark.slow
def test_each_judge_of_a_jury_settles_for_itself(play, behave, write_responses):
    with_them, without = behave("soft"), behave("hard", probabilities=False)
    log = play(round_robin(responses=write_responses()), [with_them, without])
    assert all(row["credit"] is not None for row in rows_of(log))
    hard = {row["credit"] for row in rows_of(log) if row["judge"].startswith(without)}
    soft = {row["credit"] for row in rows_of(log) if row["judge"].startswith(with_them)}
    assert hard == {0.0, 1.0}
    assert not soft & {0.0, 1.0}


def test_with_half_of_the_mass_elsewhere_the_parsed_verdict_counts():
    how = judging_settings()
    reply = Reply("A", False, (Token("A", {"A": 0.3, "B": 0.1, "I": 0.6}),))
    assert how.verdict(load_reply(dump_reply(reply)), "required").credit == 1.0


def test_the_first_token_of_a_long_reply_is_kept_for_token_probs():
    how = judging_settings("token-probs")
    long = (
        Token("yes", {"yes": 0.75, "no": 0.25}),
        *(Token(" blah", {" blah": 1.0}) for _ in range(500)),
    )
    reply = Reply("yes" + " blah" * 500, False, long)
    assert (
        how.rating(load_reply(dump_reply(reply)), "required").score
        == how.rating(reply, "required").score
        == 0.75
    )


def test_the_last_tokens_of_a_long_reply_are_kept_for_cot():
    how = judging_settings("cot")
    thoughts = tuple(Token("hm\n", {"hm\n": 1.0}) for _ in range(500))
    end = (Token("Verdict:", {"Verdict:": 1.0}), Token(" A", {" A": 0.8, " B": 0.2}))
    reply = Reply("hm\n" * 500 + "Verdict: A", False, thoughts + end)
    assert how.verdict(load_reply(dump_reply(reply)), "required").credit == 0.8
    assert len(dump_reply(reply)["tokens"]) < 100


def test_a_kept_reply_reads_as_the_reply_does():
    for p in (1e-12, 1 / 3, 0.1 + 0.2, 1 - 1e-12):
        reply = Reply("A", False, (Token("A", {"A": p, "B": 1 - p}),))
        assert judging_settings().verdict(
            load_reply(dump_reply(reply)), "required"
        ) == judging_settings().verdict(reply, "required")


@pytest.mark.slow
def test_yes_and_no_are_rated_by_their_probability(play, behave, write_responses):
    behave(form="yes")
    log = play(round_robin(responses=write_responses(TWO), realization="token-probs"))
    for sample in battles(log):
        [row] = verdict_of(sample).metadata["podium"]["judgments"]
        for side in "ab":
            own = strength(sample.metadata[f"response_{side}"])
            assert row[f"score_{side}"] == pytest.approx(preferred(own, 1.5, 0.0), abs=1e-14)
