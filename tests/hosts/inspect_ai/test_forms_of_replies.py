"""Judges that take a JSON schema in one log and none in another: no command pools them in silence.

The judge `formed/moody` behaves as `NEXT_HABITS` says: `plain` takes the schema, `textual` does
not.
"""

import pytest
from formed_judge import CALLS, NEXT_HABITS
from inspect_ai import eval, eval_retry
from inspect_ai.log import read_eval_log
from played_logs import place

from podium import read_battles
from podium.errors import NotIdentifiedError
from podium.hosts.inspect_ai.tasks import recorded_task, ring, round_robin
from podium.notices.notice_text import notice_texts
from podium.ranking.rank_battles import rank
from podium.scorers.judge_record import JudgeRecord, judges_with_other_replies

DIFFER = "answered in a JSON schema in"
MIXED = "verdicts in a JSON schema and"
MODELS = {"ash": 1.2, "elm": 1.9, "oak": 2.4}


@pytest.fixture
def behave_as():
    """Return a way to say how the judge behaves from now on: its next habits."""

    def tell(*habits):
        CALLS.clear()
        NEXT_HABITS["moody"] = [*habits]

    yield tell
    NEXT_HABITS.clear()


@pytest.fixture
def shards(play, write_responses, behave_as, tmp_path):
    """Play two shards of a tournament, one in JSON and one as text; return their folder."""
    files = write_responses(MODELS)
    for number, habit in ((1, "plain"), (2, "textual")):
        behave_as(habit)
        play(round_robin(responses=files, shard=f"{number}/2"), "formed/moody", log_dir="shards")
    return tmp_path / "shards"


def notes_of(*paths):
    """Return the texts of all notes on the form of replies."""
    notes = notice_texts(read_battles(*map(str, paths)).notes)
    return [note for note in notes if DIFFER in note or MIXED in note]


@pytest.mark.slow
def test_shards_of_which_one_judge_took_no_schema_are_told(shards):
    battles = read_battles(str(shards))
    assert len(battles.judges) == 1
    assert "replies=schema-first" in battles.judges[0]
    [note] = notes_of(shards)
    first, second = sorted(shards.glob("*.eval"), key=lambda log: log.stat().st_mtime)
    assert note.index(first.name) < note.index("with text in") < note.index(second.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("rank",), ("diagnose",), ("replay", "--tournament", "round_robin")]
)
def test_commands_print_that_shards_were_asked_in_two_ways(shards, run_podium, command):
    code, _, said = run_podium(*command, str(shards))
    assert code == 0, said
    assert " ".join(said.split()).count(DIFFER) == 1


@pytest.mark.slow
def test_logs_of_several_runs_are_told_apart(play, write_responses, behave_as, tmp_path):
    logs = []
    for habit in ("plain", "textual"):
        behave_as(habit)
        files = write_responses(MODELS, items=3)
        logs.append(place(play(round_robin(responses=files, cache=False), "formed/moody")))
    battles = read_battles(*map(str, logs), runs="all")
    assert [note for note in notice_texts(battles.notes) if DIFFER in note]
    assert not notes_of(logs[0])
    assert not notes_of(logs[1])


@pytest.mark.slow
def test_a_run_in_which_the_judge_stops_taking_the_schema_is_told(play, write_responses, behave_as):
    behave_as(*["plain"] * 9, "textual")
    log = play(round_robin(responses=write_responses(MODELS)), "formed/moody", max_connections=1)
    [note] = notes_of(place(log))
    assert f"gave 9 {MIXED} {6 * 6 - 9} with text" in note


@pytest.mark.slow
def test_a_retry_that_asks_for_text_is_told(play, write_responses, behave_as):
    """The server is broken for the last calls of the first run."""
    behave_as(*["plain"] * 9, "broken")
    first = play(
        round_robin(responses=write_responses(MODELS)),
        "formed/moody",
        max_connections=1,
        max_samples=1,
    )
    behave_as("textual")
    [log] = eval_retry(first)
    [note] = notes_of(place(read_eval_log(log.location)))
    assert f"{MIXED} " in note


@pytest.mark.slow
def test_battles_that_are_judged_again_as_text_are_told(play, write_responses, behave_as):
    files = write_responses(MODELS, items=3)
    behave_as("plain")
    first = place(play(round_robin(responses=files), "formed/moody"))
    behave_as("textual")
    again = place(play(recorded_task(battles=str(first), responses=files), "formed/moody"))
    assert notes_of(first, again)


@pytest.mark.slow
def test_newcomers_to_a_tournament_that_was_asked_as_text_are_told(
    play, write_responses, behave_as, capfd
):
    files = write_responses(MODELS)
    behave_as("plain")
    earlier = place(play(round_robin(responses=files[:2], replies="text"), "formed/moody"))
    capfd.readouterr()
    arguments = {"responses": files, "earlier": str(earlier)}
    roles = {"judge": "formed/moody"}
    eval(ring, task_args=arguments, model_roles=roles)
    said = " ".join(capfd.readouterr().err.split())
    # Before the first call, and with the ranking, because the log keeps it.
    assert said.count("was asked for replies in another way") == 2
    assert "replies='text' asks as there" in said or "replies=text asks as there" in said
    eval(ring, task_args={**arguments, "replies": "text"}, model_roles=roles)
    assert "in another way" not in capfd.readouterr().err


@pytest.mark.slow
def test_text_and_json_of_one_model_are_two_judges(play, write_responses, behave_as):
    files = write_responses(MODELS, items=3)
    behave_as("plain")
    logs = [
        place(play(round_robin(responses=files, replies=replies), "formed/moody"))
        for replies in ("auto", "text")
    ]
    battles = read_battles(*map(str, logs), runs="all")
    with pytest.raises(NotIdentifiedError, match="differ in how replies are asked for"):
        rank(battles, "win-rate")


def test_an_older_judge_that_was_asked_for_text_first_differs_in_replies():
    about = {"kind": "model", "model": "m", "realization": "direct"}
    older = JudgeRecord("old", **about, prompt="0" * 12, replies="auto")
    newer = JudgeRecord("new", **about, prompt="1" * 12, replies="schema-first")
    other = JudgeRecord("other", **about, prompt="2" * 12, replies="auto")
    assert judges_with_other_replies([older, newer]) == [["old", "new"]]
    assert judges_with_other_replies([older, other]) == []
