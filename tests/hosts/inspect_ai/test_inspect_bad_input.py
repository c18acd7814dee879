"""Wrong input is reported before the first call."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from played_logs import MODELS

from podium.errors import DataError, UsageError
from podium.hosts.inspect_ai.tasks import anchor, chain, round_robin, swim, tournament

WRONG = {
    "an unknown realization": (
        {"realization": "directt"},
        "no scorer called 'directt'; did you mean 'direct'?",
    ),
    "an unknown model": ({"models": "oak,elmm"}, "no model called 'elmm'; did you mean 'elm'?"),
    "an unknown category": ({"category": "poetry"}, "no item has category 'poetry'"),
    "a limit of none": ({"limit": 0}, "limit=0: give a whole number, 1 or more"),
    "items of none": ({"items": 0}, "items=0"),
    "a budget of none": ({"max_battles": 0}, "max_battles=0"),
    "a negative budget": ({"max_battles": -1}, "max_battles=-1: give a whole number, 1 or more"),
    "a single model": ({"models": "oak"}, "nothing can be played: fewer than two models"),
    "no attempt": ({"attempts": 0}, "attempts=0: a judge must be asked at least once"),
    "unknown orders": (
        {"orders": "both-ways"},
        "orders=both-ways: there is no such choice; available: both, random, as-given",
    ),
    "no repeat": ({"repeats": 0}, "repeats=0: there must be at least one repeat"),
    "an unknown mode": ({"logprobs": "maybe"}, "logprobs=maybe: there is no such choice"),
    "an unknown rule": (
        {"rule": "vote"},
        "rule=vote: there is no such choice; available: mean, majority",
    ),
    "a quorum of none": ({"quorum": 0}, "quorum=0"),
    "an unknown way with one order": (
        {"one_sided": "drop"},
        "one_sided=drop: there is no such choice",
    ),
    "a prompt that is not there": (
        {"template": "none.txt"},
        "the prompt 'none.txt' cannot be read",
    ),
    "a setting of another realization": (
        {"realization": "labels", "tie": True},
        "has no setting 'tie'",
    ),
    "probabilities without letters": (
        {"realization": "rubric", "logprobs": "required"},
        "no letters to weigh",
    ),
    "references that are not there": ({"reference": True}, "6 items have no reference answer"),
    "a misspelt option": ({"repeat": 2}, "no option called 'repeat'; did you mean 'repeats'?"),
    "a misspelt option of the tournament": (
        {"limits": 2},
        "no option called 'limits'; did you mean 'limit'?",
    ),
    "a misspelt option of its rule": (
        {"item": 2},
        "no option called 'item'; did you mean 'items'?",
    ),
    "a negative seed": ({"seed": -1, "items": 2}, "seed=-1: give a whole number, 0 or more"),
    "a seed in words": ({"seed": "abc", "items": 2}, "seed=abc: give a whole number"),
    "half a battle": ({"max_battles": 1.5}, "max_battles=1.5: give a whole number"),
    "a sum in words": ({"max_cost": "abc"}, "max_cost=abc: give a sum above 0"),
    "a negative seed of a limit": ({"seed": -1, "limit": 2}, "seed=-1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_rejected_by_name_before_the_first_call(case, record, write_responses):
    options, words = WRONG[case]
    paths = (
        write_responses(category="prose") if case == "an unknown category" else write_responses()
    )
    with pytest.raises(UsageError, match=re.escape(words)):
        round_robin(responses=paths, **options)
    assert record.calls == 0


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("task", "options", "words"),
    [
        (anchor, {"anchor": "okk"}, "no model called 'okk'; did you mean 'oak'?"),
        (anchor, {"pilot": 0}, "pilot=0"),
        (anchor, {"anchor": "nobody"}, "no model called 'nobody'"),
        (swim, {"order": "oak,elm"}, "name each of these once"),
        (swim, {"ratings": "oak"}, "write NAME:1500"),
        (chain, {"items": -1}, "items=-1"),
    ],
)
def test_an_option_of_a_tournament_is_checked(task, options, words, write_responses):
    with pytest.raises(UsageError, match=re.escape(words)):
        task(responses=write_responses(), **options)


def test_a_tournament_without_its_name_says_how_to_give_it(write_responses):
    with pytest.raises(UsageError, match="-T name=NAME"):
        tournament(responses=write_responses())


def test_responses_to_other_instructions_under_the_same_ids_are_rejected(write_responses, tmp_path):
    paths = write_responses()
    rows = [json.loads(line) for line in Path(paths[0]).read_text().splitlines()]
    Path(paths[0]).write_text(
        "".join(json.dumps({**row, "instruction": "Other?"}) + "\n" for row in rows)
    )
    with pytest.raises(DataError, match="has another input of item 'q0' here"):
        round_robin(responses=paths)


def test_models_without_common_items_are_reported(tmp_path):
    for name, item in (("oak", "q1"), ("elm", "q2")):
        row = {"id": item, "instruction": f"{item}?", "response": "fine"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(
        UsageError,
        match=(
            r"nothing can be played: left out because responses are missing: elm \(no response: "
            r"1\)"
        ),
    ):
        round_robin(responses="oak.jsonl,elm.jsonl")


@pytest.mark.parametrize("responses", ["nowhere.jsonl", "nowhere/", "*.nothing", "", []])
def test_missing_response_file_is_reported(responses):
    with pytest.raises(UsageError, match=r"no such file|no file matches|no responses"):
        round_robin(responses=responses)


def test_notes_made_while_reading_are_shown(write_responses, tmp_path, capfd):
    write_responses()
    (tmp_path / "other.json").write_text('[{"unrelated": 1}]')
    round_robin(responses=str(tmp_path))
    assert "1 file holds no responses and was skipped" in capfd.readouterr().err


def test_cost_is_printed_before_the_first_call(write_responses, record, capfd):
    round_robin(responses=write_responses())
    reported = capfd.readouterr().err
    assert "4 models, 6 items; at most 36 battles, 72 calls per judge" in reported
    assert record.calls == 0


def inspect(*arguments, cwd):
    """Run the installed command."""
    command = [str(Path(sys.executable).with_name("inspect")), *arguments]
    environment = {**os.environ, "INSPECT_DISPLAY": "plain", "COLUMNS": "500"}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120
    )


def flat(text):
    return " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize("display", ["plain", "none"])
def test_the_command_says_what_is_wrong_and_fails(display, write_responses, tmp_path):
    write_responses()
    options = ["-T", "responses=ash.jsonl,elm.jsonl", "-T", "realization=directt"]
    options += ["--display", display]
    ended = inspect(
        "eval", "podium/round_robin", *options, "--model-role", "judge=podium/offline", cwd=tmp_path
    )
    reported = flat(ended.stdout + ended.stderr)
    assert ended.returncode != 0
    assert reported.count("podium: no scorer called 'directt'; did you mean 'direct'?") == 1
    assert "Traceback" not in reported


@pytest.mark.slow
def test_the_command_says_that_no_judge_was_named(write_responses, tmp_path):
    write_responses(dict(list(MODELS.items())[:2]), items=1)
    ended = inspect(
        "eval", "podium/round_robin", "-T", "responses=ash.jsonl,elm.jsonl", cwd=tmp_path
    )
    assert ended.returncode != 0
    reported = flat(ended.stdout + ended.stderr)
    assert "podium: no model is the judge; name one with --model-role judge=MODEL" in reported


@pytest.mark.slow
def test_the_command_plays_lists_and_ranks_without_a_key(write_responses, tmp_path):
    write_responses()
    options = [
        "-T",
        "responses=ash.jsonl,elm.jsonl",
        "-T",
        "items=2",
        "--model-role",
        "judge=podium/offline",
    ]
    ended = inspect("eval", "podium/round_robin", *options, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "2 models, 6 items; at most 2 battles" in flat(ended.stderr)
