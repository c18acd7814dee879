"""A judge that cannot judge is stopped after 20 judgments; what it replied is kept and shown."""

import anyio
import pytest
from inspect_ai.log import read_eval_log
from played_logs import ITEMS, place

import podium
from podium.hosts.inspect_ai.judging import judge_monitor, reply_watch
from podium.hosts.inspect_ai.judging.call_control import (
    CircuitBreaker,
    DeadServerError,
    JudgeStoppedError,
)
from podium.hosts.inspect_ai.judging.judge_monitor import JudgedReply, JudgeMonitor
from podium.hosts.inspect_ai.judging.reply_watch import ReplyWatch
from podium.hosts.inspect_ai.tasks import round_robin

ALL = 6 * ITEMS
FIRST = JudgedReply("A", True, 1.0)
SECOND = JudgedReply("B", True, 0.0)
TIE = JudgedReply("C", True, 0.5)
EQUAL = JudgedReply("C", True, 0.5, is_of_equals=True)
UNPARSED = JudgedReply("I cannot decide.", False)


@pytest.fixture(autouse=True)
def looks(monkeypatch, own_place):
    """Look at judges as outside of tests."""
    monkeypatch.setattr(judge_monitor, "FIRST_LOOK", 20)


def judgments_made(replies, most=200, battles_of_item=2, **options):
    """Return how many judgments a judge makes that replies so in turn, and why it is stopped."""
    how = {"tests_position": True, "judgments": 2, "is_on": True, **options}

    async def judge():
        monitor = JudgeMonitor("m", **how)
        for k in range(most):
            try:
                await monitor.begin()
            except JudgeStoppedError as error:
                return k, str(error)
            reply = replies[k % len(replies)]
            battle = k // how["judgments"]
            item = f"q{battle // battles_of_item}"
            monitor.end(reply and reply._replace(item=item))
        return most, ""

    return anyio.run(judge)


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ([UNPARSED], "none of the first 20 judgments of m could be parsed (replies: “I cannot"),
        ([FIRST], "the response shown first won in all 20 of the first 20 judgments"),
        ([SECOND], "the response shown second won in all 20"),
        ([FIRST, TIE, UNPARSED], "won in all 14 of the first 40 judgments"),
    ],
)
def test_judge_that_cannot_judge_is_stopped_at_20_judgments_or_a_doubling(replies, words):
    made, why = judgments_made(replies)
    assert made in (20, 40)
    assert words in why
    assert "on_bad_judge" in why


@pytest.mark.parametrize(
    ("replies", "options"),
    [
        ([FIRST, SECOND], {}),
        ([*[FIRST] * 19, SECOND], {}),
        ([FIRST], {"tests_position": False}),
        ([EQUAL], {}),
        ([*[TIE] * 39, FIRST, SECOND], {}),
        ([TIE], {"is_on": False}),
        ([UNPARSED], {"is_on": False}),
        ([*[UNPARSED] * 19, FIRST, SECOND], {}),
    ],
)
def test_judge_that_decides_goes_on(replies, options):
    assert judgments_made(replies, **options) == (200, "")


@pytest.mark.parametrize(("replies", "judgments", "made"), [([TIE], 2, 40), ([TIE], 1, 20)])
def test_judge_that_only_ties_is_stopped_after_20_battles(replies, judgments, made):
    stopped = judgments_made(replies, judgments=judgments)
    assert stopped[0] == made
    assert f"all {made} of the first {made} judgments of m that have a verdict" in stopped[1]


def test_ties_of_few_items_stop_no_judge():
    made, why = judgments_made([TIE], battles_of_item=15)
    # Ten items with 15 battles each are 300 judgments; nothing is known before.
    assert (made, why) == (200, "")
    made, why = judgments_made([TIE], most=1_000, battles_of_item=15)
    assert made == 320
    assert "all 320 of the first 320" in why


def test_ties_of_identical_responses_and_unparsed_judgments_stop_no_judge():
    made, why = judgments_made([TIE, EQUAL, UNPARSED])
    assert made == 160
    assert "all 54 of the first 160" in why


def test_failed_calls_are_no_judgments():
    made, why = judgments_made([None, UNPARSED])
    assert made == 40
    assert "none of the first 20 judgments" in why


def test_no_more_judgments_are_begun_than_the_next_look_needs():
    async def begin_all():
        monitor = JudgeMonitor("m", tests_position=True, judgments=2, is_on=True)
        begun = 0

        async def begin():
            nonlocal begun
            await monitor.begin()
            begun += 1

        async with anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(begin)
            await anyio.wait_all_tasks_blocked()
            before = begun
            monitor.end(FIRST)
            monitor.end(SECOND)
            await anyio.wait_all_tasks_blocked()
            after = begun
        return before, after

    assert anyio.run(begin_all) == (20, 100)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_tournament_keeps_what_a_stopped_judge_replied(
    play, behave, record, write_responses, pack, capfd
):
    behave(garbage=1.0)
    log = play(round_robin(responses=write_responses(), pack=pack, replies="text"))
    assert log.status == "error"
    assert 40 <= record.calls <= 44
    assert "because it cannot judge: none of the first 20 judgments" in log.error.message
    shown = log.error.traceback_ansi
    assert "PodiumError" in shown
    assert "Traceback" not in shown, "Inspect's panel shows the same"
    printed = capfd.readouterr().err
    assert printed.count("Both have their merits") == 2
    assert "on_bad_judge=" in printed
    assert "Ask in another form (replies='schema', realization=NAME)" in printed
    kept = [one for one in log.samples if "podium" in one.store]
    assert kept


@pytest.mark.slow
def test_a_form_of_replies_that_is_asked_for_is_no_remedy(play, behave, write_responses):
    behave(garbage=1.0)
    log = play(round_robin(responses=write_responses()))
    assert "none of the first 20 judgments" in log.error.message
    assert "Ask in another form (realization=NAME)" in log.error.message


@pytest.mark.slow
def test_judge_of_one_position_is_stopped_unless_the_user_goes_on(
    play, behave, record, write_responses
):
    behave(bias=9.0, probabilities=False)
    responses = write_responses()
    log = play(round_robin(responses=responses))
    assert "the response shown first won in all 20 of the first 20" in log.error.message
    assert record.calls == 20
    stopped = podium.read_battles(str(place(log)))
    [note] = [own for own in stopped.notes if own.code == "judge-cannot-judge"]
    assert stopped.lost == (note,)
    assert "the response shown first won in all 20 of the first 20" in note.fields["why"]
    counts = stopped.counts()
    assert (counts.battles, counts.unparsed, counts.missing) == (10, 0, ALL - 10)
    log = play(round_robin(responses=responses, on_bad_judge="continue"))
    assert log.status == "success"
    assert record.calls == 2 * ALL, "replies so far come from the cache"
    assert len(podium.read_battles(str(place(log)))) == ALL
    whole = podium.read_battles(str(place(log).parent))
    assert len(whole) == ALL, "the log of the stopped judge is left out beside a whole one"
    [lost] = whole.lost
    assert lost.code == "judge-stopped-beside"


@pytest.mark.slow
def test_judge_of_ties_only_is_stopped_in_a_tournament(play, behave, record, write_responses):
    behave(scripted=lambda _: "[[A=B]]")
    responses = write_responses(items=15)
    log = play(round_robin(responses=responses, realization="labels", replies="text"))
    # Six battles of an item are played together; the tenth item is reached by the look at 160.
    assert "all 160 of the first 160 judgments" in log.error.message
    assert record.calls == 160


@pytest.mark.slow
def test_order_as_given_says_nothing_of_the_position(play, behave, record, write_responses):
    behave(bias=9.0)
    log = play(round_robin(responses=write_responses(), orders="as-given"))
    assert read_eval_log(log.location).status == "success"


@pytest.fixture
def fast_watch(monkeypatch):
    """Let a server be dead, and silence be long, after a twentieth of a second."""
    monkeypatch.setattr(reply_watch, "DEAD_AFTER", 0.05)
    monkeypatch.setattr(reply_watch, "SECONDS_BETWEEN_LINES", 0.05)


REFUSED = ConnectionRefusedError(111, "Connection refused")


@pytest.mark.parametrize(
    ("failure", "status", "is_dead"),
    [
        (REFUSED, None, True),
        (RuntimeError("no such model"), 404, True),
        (RuntimeError("bad key"), 401, True),
        (RuntimeError("busy"), 429, False),
        (RuntimeError("internal"), 500, False),
    ],
)
def test_server_that_refuses_all_calls_is_dead(fast_watch, failure, status, is_dead):
    async def wait():
        watch = ReplyWatch("m")
        with watch.waiting_call() as scope:
            watch.note_failure(failure, status)
            await anyio.sleep(0.2)
        return scope.cancelled_caught, watch.is_dead

    assert anyio.run(wait) == (is_dead, is_dead)


def test_server_that_has_replied_once_is_never_dead(fast_watch):
    async def wait():
        watch = ReplyWatch("m")
        with watch.waiting_call() as scope:
            watch.note_reply()
            watch.note_failure(REFUSED, None)
            await anyio.sleep(0.2)
        return scope.cancelled_caught

    assert anyio.run(wait) is False


def test_dead_server_stops_its_judge_at_once():
    async def ask():
        raise DeadServerError("no reply has arrived")

    async def call():
        breaker = CircuitBreaker()
        for _ in range(2):
            with pytest.raises(JudgeStoppedError, match="no reply has arrived"):
                await breaker.call(ask)

    anyio.run(call)


def test_long_silence_is_told(fast_watch, capfd):
    async def wait():
        watch = ReplyWatch("openai/judge")
        with watch.waiting_call():
            watch.note_failure(RuntimeError("busy"), 429)
            await anyio.sleep(0.2)

    anyio.run(wait)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert lines[0] == (
        "podium: no reply from openai/judge for 0 seconds, 1 call waiting; the last failed: busy"
    )
