"""What is typed behind `--ranker...`, and what of it is secret."""

import argparse

import pytest

from podium.data.reading_options import ALL_READING_OPTIONS
from podium.errors import UsageError
from podium.hosts.inspect_ai.judged_run import _build_judged_task, check_tournament
from podium.hosts.lm_eval.lm_eval_options import (
    add_options,
    section_of,
    take_options,
    typed_in_lm_eval,
)
from podium.hosts.lm_eval.ranking_of_run import query_of_tasks
from podium.hosts.ranker_options import RankerOptions, options_from, parse_pairs
from podium.hosts.secrets import redact
from podium.notices.option_forms import typed_as

ARGUMENTS = (
    "api_key=xxx-secret,default_headers={'Authorization': 'Bearer zzz-secret-zzz', 'X': "
    "'yyy-secret'},seed=3"
)


def test_settings_are_read_as_values_and_a_value_may_hold_commas():
    assert parse_pairs(
        ["items=5,models=a,b", "tie=true", "temperature=0.5", "template=a/b.txt"]
    ) == {
        "items": 5,
        "models": "a,b",
        "tie": True,
        "temperature": 0.5,
        "template": "a/b.txt",
    }


def test_a_key_of_digits_stays_as_it_was_typed():
    assert parse_pairs("api_key=0123456789,timeout=10") == {"api_key": "0123456789", "timeout": 10}


def test_every_secret_of_the_judges_is_hidden_and_nothing_else():
    options = RankerOptions(
        judges=("openai/gpt-5",), judge_args=parse_pairs([ARGUMENTS, "add_bos_token=True"])
    )
    reported = redact(
        "True: zzz-secret-zzz and yyy-secret, xxx-secret of m, seed 3", options.secrets()
    )
    assert reported == "True: *** and ***, *** of m, seed 3"


def test_a_word_in_place_of_a_key_is_hidden_in_no_text():
    options = RankerOptions(judges=("openai-api/local/m",), judge_args=parse_pairs("api_key=none"))
    assert redact("none of 4 battles failed", options.secrets()) == "none of 4 battles failed"


@pytest.mark.parametrize(
    "config",
    [
        {"ranker": "win-rate,mean", "ranker_against": ["a", "b"]},
        {"ranker": {"name": ["win-rate", "mean"], "against": ["a", "b"]}},
        {"ranker": ["win-rate", "mean"], "ranker_against": ["a", "b"], "tasks": ["sums"]},
    ],
)
def test_a_config_file_says_the_same_in_three_ways(config):
    options = options_from(section_of(config))
    assert options == RankerOptions(rankers=("win-rate", "mean"), against=("a", "b"))


def test_options_of_rankers_may_be_a_mapping():
    reported = {"ranker": {"name": "win-rate", "set": {"anchor": "m", "win-rate.labels": "hard"}}}
    assert options_from(section_of(reported)).settings == ("anchor=m", "win-rate.labels=hard")


def test_a_setting_without_a_value_is_rejected_and_not_repeated():
    with pytest.raises(UsageError) as refused:
        parse_pairs(["sk-0123456789"])
    assert "sk-" not in str(refused.value)


def test_recorded_battles_are_no_tournament_of_a_run():
    with pytest.raises(UsageError, match="tournament recorded: this run has no recorded battles"):
        check_tournament(RankerOptions(tournament="podium/recorded", judges=("openai/gpt-5",)))


GIVEN = {
    "where": ("task=sums", (("task", "sums"),)),
    "human_judge": ("people", "people"),
    "metric": ("acc,none", ("acc,none",)),
    "runs": ("all", "all"),
    "allow": ("questions", ("questions",)),
    "names": ("joined", "joined"),
    "ids": ("global", "global"),
    "lower_is_better": ("true", True),
    "cluster": ("passage", "passage"),
    "human_labels": ("labels.csv", ("labels.csv",)),
    "complete": ("", True),
    "encoding": ("latin-1", "latin-1"),
    "mapping": ("none", "none"),
}
"""An option of reading as it is typed, and its value in the query."""


@pytest.mark.parametrize("option", ALL_READING_OPTIONS, ids=lambda option: option.name)
def test_every_option_of_reading_is_one_of_lm_eval_and_of_its_config_files(option):
    text, value = GIVEN[option.name]
    parser = argparse.ArgumentParser()
    add_options(parser)
    typed = [f"--ranker_{option.name}", *([text] if text else [])]
    arguments = parser.parse_args(["--ranker", "mean", *typed])
    taken = options_from(take_options(arguments))
    assert vars(arguments) == {}
    section = {"ranker": {"name": "mean", option.name: text or True}}
    assert options_from(section_of(section)) == taken
    assert taken.reading == {option.name: value}
    query = query_of_tasks(["out"], taken.reading, [])
    assert getattr(query, option.name) == (list(value) if option.name == "where" else value)


def test_rows_of_one_task_are_chosen_beside_those_that_the_user_chose():
    query = query_of_tasks(["out"], {"where": (("category", "x"),)}, ["sums"])
    assert query.where == [("category", "x"), ("task", "sums")]


@pytest.mark.parametrize("name", ["metric", "names", "ids", "runs", "lower_is_better", "cluster"])
def test_options_of_scores_contradict_a_judge(name):
    with typed_as(typed_in_lm_eval), pytest.raises(UsageError, match=f"--ranker_{name} is for a"):
        options_from({"ranker": "mean", "ranker_judge": "m", f"ranker_{name}": GIVEN[name][0]})


def test_what_is_allowed_reaches_the_tournament_of_a_judge(monkeypatch):
    given = []
    monkeypatch.setattr(
        "podium.hosts.inspect_ai.judged_run._task_function",
        lambda options: ("swim", lambda **how: given.append(how), frozenset()),
    )
    options = options_from({"ranker": "mean", "ranker_judge": "m", "ranker_allow": "questions"})
    _build_judged_task(options, ["out"], ["ash"])
    assert given == [{"responses": ["out"], "answered_by": ["ash"], "allow": ("questions",)}]
