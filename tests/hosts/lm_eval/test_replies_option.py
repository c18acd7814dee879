"""`replies=` in lm-eval: through `--ranker_args`, and as a line of the filter in a task's YAML."""

import pytest

# The folder of these tests is called lm_eval, too.
pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")

from pathlib import Path

from formed_judge import CALLS
from inspect_ai.log import read_eval_log
from judged_tasks import ITEMS, evaluated, verdicts, write_opponents, write_task
from running import run

from podium.errors import UsageError
from podium.hosts.lm_eval.filter import JudgeFilter

FORMS = {"schema": {True}, "text": {False}, "auto": {False, True}}
"""Whether calls are made with a schema, by `replies=`: the judge's text replies are all
unparsed."""


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
@pytest.mark.parametrize("replies", FORMS)
def test_a_line_of_the_filter_says_how_replies_are_asked_for(tmp_path, replies):
    asked = {
        "judge": "formed/takes",
        "against": write_opponents(tmp_path),
        "item": "id",
        "replies": replies,
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
