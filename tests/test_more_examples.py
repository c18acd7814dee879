"""What small functions of rankers, scorers, tournaments and hosts return for one input each."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from podium.data.length_data import item_key
from podium.data.pairings import Pairing, pairing
from podium.errors import UsageError
from podium.notices.option_forms import option_text, typed_as
from podium.plugins.settings import ranker_names
from podium.rankers.errors.rank_sets import further_items, further_labels
from podium.rankers.fit.scale import origin_weights
from podium.scorers.judge_record import JudgeRecord, judges_with_other_prompts
from podium.scorers.offline import demands
from podium.scorers.prompt import escape_controls
from podium.scorers.reward import rating_of_value
from podium.scorers.verdict_statements import is_balanced
from podium.tournaments.parts import Shard, read_shard
from podium.tournaments.selection import parse_model_names
from podium.tournaments.swim import opponent_count


def test_rankers_separated_by_commas_are_named_once_each():
    assert ranker_names("win-rate, bradley-terry,win-rate") == ["win-rate", "bradley-terry"]


def test_further_items_detect_a_gap_and_are_unknown_below_one_standard_error():
    assert (further_items(40, 1.96, 2.0), further_items(40, 1.96, 0.9)) == (39, None)


def test_more_further_labels_are_needed_where_labels_alone_are_less_precise():
    needed = further_labels(200, 1.96, 2.0, 1.0, 1.0), further_labels(200, 1.96, 2.0, 1.0, 4.0)
    assert needed == (192, 768)


def test_a_whole_number_and_its_text_are_one_item():
    assert [item_key(value) for value in (3.0, "3", "q3")] == ["3", "3", "q3"]


def test_a_model_with_few_items_weighs_little_in_the_origin():
    weights = origin_weights(np.array([40, 40, 40, 2]), np.array([True, True, True, True]))
    assert weights.round(3).tolist() == [0.323, 0.323, 0.323, 0.032]


def test_judges_that_differ_in_the_prompt_hash_alone_are_grouped():
    asked = {"one": ("gpt-x", "3fa9"), "two": ("gpt-x", "00a9"), "three": ("gpt-y", "3fa9")}
    judges = [
        JudgeRecord(name, model=model, prompt=prompt) for name, (model, prompt) in asked.items()
    ]
    assert judges_with_other_prompts(judges) == [["one", "two"]]


def test_an_instruction_of_one_word_has_two_demands():
    assert [demand.name for demand in demands("Name a colour in one word.")] == [
        "answers",
        "one word",
    ]


def test_control_characters_are_escaped_and_newlines_stay():
    assert escape_controls("a\r\nb\x1b[2K") == "a\nb\\x1b[2K"


def test_a_line_is_balanced_if_brackets_quotes_and_emphasis_are_closed():
    assert [is_balanced(line) for line in ("**Verdict:** [A]", "[A", 'Verdict: B"')] == [
        True,
        False,
        False,
    ]


def test_what_is_no_finite_number_is_no_rating():
    reasons = [rating_of_value(value).reason for value in (float("nan"), None, "7")]
    assert reasons == ["out of range", "empty", "no verdict"]


def test_a_shard_is_read_from_its_number_and_their_count():
    assert read_shard("2/4") == Shard(number=2, of=4)


def test_a_pairing_has_its_models_in_sorted_order():
    assert pairing("q1", "b", "a") == Pairing(item="q1", a="a", b="b", response=1, first=None)


def test_a_model_whose_name_has_a_comma_can_be_named():
    models = ("a", "b", "x,y")
    assert (parse_model_names("b,a", models), parse_model_names("x,y", models)) == (
        ("b", "a"),
        ("x,y",),
    )


def test_a_newcomer_meets_as_many_as_the_logarithm_of_the_ranked_models():
    assert [opponent_count(ranked) for ranked in (1, 2, 3, 4, 5, 8, 9)] == [1, 1, 2, 2, 3, 3, 4]


def test_options_of_rankers_are_split_from_those_of_inspect():
    options = pytest.importorskip("podium.hosts.inspect_ai.inspect_options")
    split = options.split_ranker_options(
        ["eval", "task.py", "--ranker", "soft-elo", "--ranker=mean,median"]
    )
    assert split == (["eval", "task.py"], {"ranker": ["soft-elo", "mean,median"]})


def test_options_that_save_cpu_spare_those_that_the_user_decided():
    command = pytest.importorskip("podium.hosts.inspect_ai.inspect_command")
    arguments = ["eval", "podium/ring", "--log-model-api"]
    assert command.cpu_saving_flags(arguments, {"INSPECT_EVAL_SCORE_DISPLAY": "true"}) == [
        "--no-log-realtime"
    ]


def test_nested_arguments_are_flattened():
    compatibility = pytest.importorskip("podium.hosts.inspect_ai.inspect_ai_compatibility")
    nested = {"kwargs": {"kwargs": {"seed": 1}, "tie": True}}
    assert list(compatibility.flatten_arguments(nested).items()) == [("tie", True), ("seed", 1)]


def test_columns_of_rows_store_what_is_the_same_once_and_give_the_rows_back():
    contents = pytest.importorskip("podium.hosts.inspect_ai.logs.podium_entries")
    rows = [{"a": 1, "b": 2}, {"a": 1, "b": 3}]
    columns = contents.Columns.from_rows(rows)
    assert columns == contents.Columns(rows=2, same={"a": 1}, columns={"b": [2, 3]})
    assert [dict(row) for row in columns.to_rows()] == rows


def test_a_score_that_is_no_number_is_none():
    logs = pytest.importorskip("podium.hosts.inspect_ai.logs.judgment_rows")
    assert [logs.number_of(value) for value in ("C", "A>B", float("nan"))] == [1.0, None, None]


def test_the_sample_that_announces_a_round_is_named_by_number_and_revision():
    samples = pytest.importorskip("podium.hosts.inspect_ai.tournament.round_samples")
    assert (samples.round_id(2), samples.round_id(2, 1)) == ("round 002", "round 002 again 1")


@pytest.mark.parametrize(
    "role", [("--model-role", "judge=lm-eval:hf,x=y"), ("--model-role=judge=lm-eval:hf,x=y",)]
)
def test_a_judge_named_as_a_model_of_lm_eval_is_rejected_with_the_name_that_inspect_takes(role):
    command = pytest.importorskip("podium.hosts.inspect_ai.inspect_command")
    with pytest.raises(UsageError) as refusal:
        command.run(["eval", "podium/ring", *role])
    assert str(refusal.value) == (
        "judge lm-eval:hf: judges are models of Inspect: write hf/NAME, vllm/NAME or, for a "
        "server with an OpenAI-compatible API, openai-api/SERVICE/NAME with its base_url"
    )


@pytest.mark.parametrize("host", ["inspect", "lm_eval"])
@pytest.mark.parametrize(
    ("end", "code", "text"),
    [("stopped by the host", 1, "stopped by the host\n"), (3, 3, ""), (None, 0, "")],
)
def test_a_text_with_which_a_host_ends_is_printed(monkeypatch, host, end, code, text):
    from click.testing import CliRunner

    from podium.cli import stock

    def ends(*_):
        raise SystemExit(end)

    if host == "inspect":
        monkeypatch.setattr(
            pytest.importorskip("podium.hosts.inspect_ai.inspect_command"), "run", ends
        )
    else:
        command, cli = (
            pytest.importorskip("podium.hosts.lm_eval.lm_eval_command"),
            SimpleNamespace(parse_args=ends, execute=print),
        )
        monkeypatch.setattr(command, "build_command_line", lambda: cli)
        monkeypatch.setattr(command, "extend", lambda _: None)
    done = CliRunner().invoke(getattr(stock, host), ["run"])
    assert (done.exit_code, done.stderr) == (code, text)


def test_a_comma_within_a_value_of_old_gen_kwargs_divides_nothing():
    from podium.data.formats.lm_eval_layout import Results

    given = "temperature=0.5,until=['a', 'b'],do_sample=True, top_p = 1"
    assert Results(Path("results.json"), {"config": {"gen_kwargs": given}}).generation == {
        "temperature": "0.5",
        "until": "['a', 'b']",
        "do_sample": "True",
        "top_p": " 1",
    }


def test_opponents_of_lm_eval_become_sources_with_or_without_a_label():
    opponents_of_run = pytest.importorskip("podium.hosts.lm_eval.opponents")
    given = {"big": "runs/big"}, "runs/small"
    assert [opponents_of_run._format_sources(one) for one in given] == [
        ["big=runs/big"],
        ["runs/small"],
    ]


def test_a_section_of_a_config_file_becomes_options():
    options = pytest.importorskip("podium.hosts.lm_eval.lm_eval_options")
    section = options.section_of(
        {"ranker": {"name": "soft-elo", "against": "runs"}, "tasks": "gsm8k"}
    )
    assert section == {"ranker": "soft-elo", "ranker_against": "runs"}


def test_pairs_on_a_command_line_become_typed_options():
    options = pytest.importorskip("podium.hosts.ranker_options")
    pairs = options.parse_pairs(["realization=labels,models=a,b", "tie=true"])
    assert pairs == {"realization": "labels", "models": "a,b", "tie": True}


def test_options_are_written_as_lm_eval_takes_them():
    options = pytest.importorskip("podium.hosts.lm_eval.lm_eval_options")
    with typed_as(options.typed_in_lm_eval):
        typed = [
            option_text("metric"),
            option_text("beta", "NUMBER", "setting"),
            option_text("calibration", "FILE"),
        ]
    assert typed == ["--ranker_metric", "--ranker_set beta=NUMBER", "--ranker_calibration FILE"]


def test_names_of_keys_and_tokens_are_secret_but_not_of_counts():
    secrets = pytest.importorskip("podium.hosts.secrets")
    names = ("api_key", "X-API-Key", "HF_TOKEN", "max_tokens", "key_points")
    assert [secrets.is_secret_name(name) for name in names] == [True, True, True, False, False]
