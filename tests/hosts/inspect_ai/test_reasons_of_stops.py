"""The reason why a judge was stopped names options as they are typed where the log is read."""

import pytest
from inspect_ai.log import EvalError, EvalLog, read_eval_log, write_eval_log

import podium
from podium.hosts.inspect_ai.inspect_options import (
    typed_for_judge,
    typed_for_judge_in_metadata,
    typed_in_metadata,
)
from podium.hosts.inspect_ai.judging import judge_monitor
from podium.hosts.inspect_ai.judging.call_control import JudgeStoppedError
from podium.hosts.inspect_ai.logs.log_files import PLAYED_FOR
from podium.hosts.inspect_ai.logs.stop_reasons import HOW_TO_RESUME, STOP, reason_of_stop
from podium.hosts.inspect_ai.tasks import round_robin
from podium.hosts.lm_eval.lm_eval_options import typed_in_lm_eval
from podium.notices.notice import Notice
from podium.notices.option_forms import typed_as, typed_in_command, typed_in_python

FORMS = {
    "lm-eval": typed_in_lm_eval,
    "inspect": typed_for_judge,
    "metadata": typed_for_judge_in_metadata,
    "task by metadata": typed_in_metadata,
    "command": typed_in_command,
    "python": typed_in_python,
}
FOUND = Notice(
    "judge-unparsed-text", {"judge": "m", "judgments": 20, "replies": ["“-T realization=x”"]}
)


def log_of(error: JudgeStoppedError, kept: bool = True, **metadata: object) -> EvalLog:
    """Return a log that an error has ended, with its record or without, as of earlier versions."""
    log = EvalLog.model_validate(
        {
            "eval": {
                "eval_id": "e1",
                "created": "2026-01-01T00:00:00+00:00",
                "task": "round_robin",
                "dataset": {},
                "model": "m",
                "config": {},
            }
        }
    )
    log.eval.metadata = {**metadata}
    if kept:
        log.eval.metadata[STOP] = {**error.record.to_log(), "eval_id": "e1"}
    log.error = EvalError(message=f"PodiumError('{error}')", traceback="", traceback_ansi="")
    return log


@pytest.mark.parametrize("made", FORMS)
@pytest.mark.parametrize("read", FORMS)
def test_remedies_have_the_form_of_the_command_that_reads_the_log(made: str, read: str) -> None:
    with typed_as(FORMS[made]):
        log = log_of(JudgeStoppedError(finding=FOUND))
    with typed_as(FORMS[read]):
        reason = reason_of_stop(log)
        assert reason is not None
        assert reason.text == str(JudgeStoppedError(finding=FOUND))
    assert reason.cannot_judge
    assert "“-T realization=x”" in reason.text, "a reply is quoted as it was"
    assert str(reason) == reason.text


def test_logs_without_a_record_keep_the_text_of_their_error() -> None:
    with typed_as(typed_in_lm_eval):
        error = JudgeStoppedError(finding=FOUND)
    with typed_as(typed_in_python):
        reason = reason_of_stop(log_of(error, kept=False))
    assert reason is not None
    assert (reason.text, reason.cannot_judge) == (str(error), True)


def test_only_a_run_that_can_go_on_says_how() -> None:
    dead = JudgeStoppedError("no reply has arrived in 20 s")
    alone = reason_of_stop(log_of(dead))
    played = reason_of_stop(log_of(dead, **{PLAYED_FOR: "lm-eval"}))
    assert alone is not None
    assert played is not None
    assert (alone.resuming, played.resuming) == (HOW_TO_RESUME, "")
    assert not alone.cannot_judge


def test_the_record_of_an_eval_that_is_retried_is_not_that_of_its_next_log() -> None:
    log = log_of(JudgeStoppedError(finding=FOUND))
    log.eval.eval_id = "e2"
    log.error = EvalError(message="disk full", traceback="", traceback_ansi="")
    assert reason_of_stop(log) is None
    log.eval.eval_id = "e1"
    log.error = None
    assert reason_of_stop(log) is None, "a log without an error was not stopped"


@pytest.fixture
def looks(monkeypatch):
    """Look at judges as outside of tests."""
    monkeypatch.setattr(judge_monitor, "FIRST_LOOK", 20)


@pytest.mark.fast_cases(1)
@pytest.mark.usefixtures("looks")
@pytest.mark.parametrize("pack", [False, True])
def test_a_stopped_run_keeps_its_reason_as_data(play, behave, write_responses, pack):
    behave(garbage=1.0)
    log = play(round_robin(responses=write_responses(), pack=pack, replies="text"))
    header = read_eval_log(log.location, header_only=True)
    kept = header.eval.metadata[STOP]
    assert (kept["code"], kept["eval_id"]) == ("judge-unparsed-text", log.eval.eval_id)
    assert kept["fields"]["judgments"] == 20
    reason = reason_of_stop(header)
    assert reason.text in header.error.message
    with typed_as(typed_in_lm_eval):
        assert "--ranker_args on_bad_judge=continue" in reason_of_stop(header).text
    # A log of an earlier version has the text alone.
    del header.eval.metadata[STOP]
    write_eval_log(header, log.location, header_only=True)
    assert reason_of_stop(read_eval_log(log.location, header_only=True)) == reason


@pytest.mark.slow
@pytest.mark.usefixtures("looks")
def test_nothing_is_claimed_of_a_tournament_whose_judge_cannot_judge(
    play, behave, write_responses, run_podium
):
    behave(bias=9.0, probabilities=False)
    log = play(round_robin(responses=write_responses(), cache=False))
    code, printed, told = run_podium("rank", log.location)
    assert code == 3
    assert printed.startswith(
        "This tournament was stopped because its judge cannot judge: its ranking is not to be used."
    )
    assert told.count("because it cannot judge: the response shown first won in all 20") == 1
    battles = podium.read_battles(log.location)
    ranking = podium.rank(battles)
    [standings] = ranking.standings
    places = {(entry.rank_low, entry.rank_high) for entry in standings.entries}
    assert places == {(1, len(standings.entries))}
    assert standings.separation is None or not any(standings.separation.beats)
    first, second = battles.models[:2]
    code, _, told = run_podium("compare", first, second, log.location)
    assert code != 0
    assert "its verdicts are not to be compared" in told
    code, printed, _ = run_podium(
        "compare", first, second, log.location, "--require", "not-worse=900elo"
    )
    assert code == 5, "the gate is undecided, though the scores are equal"
    assert "PASS" not in printed
    code, printed, _ = run_podium("diagnose", log.location)
    assert code == 3
    assert printed.startswith("This judge may not rank: its tournament was stopped")
