"""What is typed behind `--ranker...`, and what of it is secret."""

import pytest

from podium.errors import UsageError
from podium.hosts.lm_eval.ranker_options import RankerOptions, options_from, parse_pairs, section_of
from podium.hosts.lm_eval.secrets import redact
from podium.hosts.lm_eval.tournament import check_tournament

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
    with pytest.raises(
        UsageError, match="tournament recorded: a run of lm-eval has no recorded battles"
    ):
        check_tournament(RankerOptions(tournament="podium/recorded", judges=("openai/gpt-5",)))
