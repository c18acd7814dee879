"""`replies=` in lm-eval: through `--ranker_args`, and as a line of the filter in a task's YAML."""

import pytest

# The folder of these tests is called lm_eval, too.
pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")

import json
from pathlib import Path

from formed_judge import CALLS, NEXT_HABITS
from inspect_ai.log import read_eval_log
from judged_tasks import ITEMS, Recorded, evaluated, verdicts, write_opponents, write_task
from running import run

from podium import read_battles
from podium.errors import UsageError
from podium.hosts.lm_eval.filter import JudgeFilter
from podium.notices.notice_text import notice_texts

FORMS = {"schema": {True}, "text": {False}, "auto": {True}}
"""Whether calls are made with a schema, by `replies=`: `direct` is asked with one at once."""


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def with_schema():
    """Return whether the calls since the test began had a schema."""
    return {config.response_schema is not None for config, _ in CALLS}


@pytest.mark.slow
@pytest.mark.parametrize("replies", FORMS)
def test_ranker_args_say_how_replies_are_asked_for(monkeypatch, task_of_sums, server, replies):
    judge = (
        "--ranker",
        "win-rate",
        "--ranker_judge",
        "formed/takes",
        "--ranker_args",
        f"replies={replies}",
    )
    for model, more in (("ash-0.9", ()), ("elm-0.5", judge)):
        run(
            monkeypatch,
            task_of_sums,
            server,
            model,
            "-o",
            "out",
            "--log_samples",
            "--limit",
            "2",
            *more,
        )
    assert with_schema() == FORMS[replies]
    [log] = Path("out.podium").glob("*.eval")
    assert (
        read_eval_log(str(log), header_only=True).eval.metadata["podium_judging"]["replies"]
        == replies
    )


@pytest.mark.slow
def test_what_a_prompt_cache_served_is_said_after_the_run(monkeypatch, task_of_sums, server, capfd):
    judge = ("--ranker", "win-rate", "--ranker_judge", "formed/caches")
    judge += ("--ranker_args", "prices={'formed/caches': [10000, 0, 1000]}")
    for model, more in (("ash-0.9", ()), ("elm-0.5", judge)):
        reported = ("-o", "out", "--log_samples", "--limit", "2")
        run(monkeypatch, task_of_sums, server, model, *reported, *more)
    said = capfd.readouterr().err
    cached = "of formed/caches came from the provider's prompt cache, which saved"
    assert said.count(cached) == 1


@pytest.mark.slow
def test_runs_in_which_the_judge_took_a_schema_and_did_not_are_told(tmp_path):
    """The filter's verdicts are read from the samples of two runs of lm-eval."""
    asked = {
        "judge": "formed/moody",
        "against": write_opponents(tmp_path),
        "item": "id",
        "cache": False,
    }
    for habit in ("plain", "textual"):
        NEXT_HABITS["moody"] = [habit]
        model = Recorded({f"Question {k}?": f"{habit} {k}" for k in range(ITEMS)})
        found = evaluated(write_task(tmp_path, {**asked, "model": habit}), model)
        folder = tmp_path / "runs" / habit
        folder.mkdir(parents=True)
        path = folder / "samples_judged_2026-01-01T00-00-00.000000.jsonl"
        rows = found["samples"]["judged"]
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
    NEXT_HABITS.clear()
    battles = read_battles(str(tmp_path / "runs"))
    assert len(battles.judges) == 1
    [note] = [note for note in notice_texts(battles.notes) if "in a JSON schema" in note]
    assert note.index("plain/samples") < note.index("with text in") < note.index("textual/samples")


@pytest.mark.slow
@pytest.mark.parametrize("replies", FORMS)
def test_a_line_of_the_filter_says_how_replies_are_asked_for(tmp_path, replies):
    asked = {
        "judge": "formed/takes",
        "against": write_opponents(tmp_path),
        "item": "id",
        "replies": replies,
        # This judge has no reply that can be parsed, or prefers one position throughout.
        "on_bad_judge": "continue",
    }
    shown = [
        one for row in verdicts(evaluated(write_task(tmp_path, asked))) for one in row["battles"]
    ]
    assert with_schema() == FORMS[replies]
    assert len(shown) == 2 * ITEMS
    assert {battle["credit"] is None for battle in shown} == {replies == "text"}


def test_another_word_is_an_error_that_names_the_three(tmp_path):
    asked = {"judge": "formed/takes", "against": write_opponents(tmp_path), "item": "id"}
    with pytest.raises(UsageError, match="auto, schema, text"):
        JudgeFilter(**asked, replies="json")
