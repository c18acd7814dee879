"""What is typed behind `--ranker...` in Inspect's commands, in metadata and in the environment."""

import dataclasses
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from written_logs import build_log, write

from podium.data.query import BattleQuery
from podium.data.reading_options import ALL_READING_OPTIONS
from podium.errors import UsageError
from podium.hosts.inspect_ai import inspect_command
from podium.hosts.inspect_ai.coming_eval import check_named_models
from podium.hosts.inspect_ai.hook import _say_what_cannot_be_ranked, rank_logs
from podium.hosts.inspect_ai.inspect_options import (
    INSPECT_OPTIONS,
    metadata_in_arguments,
    require_ranker,
    split_ranker_options,
    to_environment,
    typed_in_inspect,
    typed_in_metadata,
    values_asked_for,
)
from podium.hosts.lm_eval.lm_eval_options import typed_in_lm_eval
from podium.hosts.ranker_options import options_from
from podium.notices.option_forms import OptionForm, option_text, typed_as

ITEMS = [f"{k}" for k in range(1, 9)]
GIVEN = {
    "where": ("judge=a,category=math", (("judge", "a"), ("category", "math"))),
    "human_judge": ("people", "people"),
    "metric": ("match", ("match",)),
    "runs": ("all", "all"),
    "allow": ("questions,epochs", ("questions", "epochs")),
    "names": ("joined", "joined"),
    "ids": ("global", "global"),
    "lower_is_better": ("false", False),
    "cluster": ("passage", "passage"),
    "human_labels": ("labels.csv", ("labels.csv",)),
    "complete": ("", True),
}
"""An option as it is typed, and its value in the query."""


@pytest.mark.parametrize(
    ("variables", "more"),
    [
        ({"PODIUM_RANKER_METRIC": "match"}, ()),
        ({"INSPECT_EVAL_METADATA": "ranker_metric=match"}, ()),
        ({}, ("--metadata", "ranker_metric=match")),
    ],
)
def test_a_metric_beside_a_judge_is_rejected_before_the_eval_wherever_it_stands(
    variables: dict[str, str], more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def eval_begins() -> None:
        pytest.fail("the eval has begun")

    monkeypatch.setattr(inspect_command, "_run_main", lambda *_, **__: eval_begins())
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        UsageError, match=r"ranker-metric is for a task's metric, and --ranker-judge"
    ):
        inspect_command.run(
            ["eval", "t.py", "--ranker=win-rate", "--ranker-judge=podium/offline", *more]
        )


def typed(name: str, value: str) -> list[str]:
    return [f"--ranker-{name.replace('_', '-')}", *([value] if value else [])]


def headers_of(inputs: str = "Question {}?", *, models=("one", "three"), **metadata: object):
    """Write a log of each model, the last with other inputs; return their headers.

    A model is right on more items the longer its name is.
    """
    for model in models:
        log = build_log(model, {item: (float(int(item) <= len(model)),) for item in ITEMS})
        log.eval.metadata = metadata
        for sample in log.samples or []:
            if model == models[-1]:
                sample.input = inputs.format(sample.id)
        write(log)
    paths = sorted(Path("evals").glob("*.eval"))
    return [read_eval_log(str(path), header_only=True) for path in paths]


def rankings_of(headers):
    """Return the rankings in the first log that holds any."""
    return read_eval_log(headers[0].location, header_only=True).results.metadata["podium"]


def test_inspect_has_every_option_of_reading():
    ours = {name.removeprefix("ranker_") for name in INSPECT_OPTIONS}
    assert {option.name for option in ALL_READING_OPTIONS} <= ours
    assert {option.name for option in ALL_READING_OPTIONS} <= {
        field.name for field in dataclasses.fields(BattleQuery)
    }


@pytest.mark.parametrize(
    ("text", "value"), [("", True), ("=true", True), ("=True", True), ("=false", False)]
)
@pytest.mark.parametrize("name", ["strict", "complete"])
def test_an_option_without_a_value_is_true_and_one_with_a_value_has_it(name, text, value):
    _, values = split_ranker_options(["eval", "--ranker", "mean", f"--ranker-{name}{text}"])
    for given in (values, values_asked_for({}, to_environment(values))):
        options = options_from(given)
        assert {"strict": options.strict, **options.reading}[name] is value


@pytest.mark.parametrize("text", ["=", "=no", "=1"])
def test_any_other_value_of_an_option_that_is_true_or_false_is_an_error(text):
    _, values = split_ranker_options(["eval", "--ranker", "mean", f"--ranker-strict{text}"])
    with typed_as(typed_in_inspect), pytest.raises(UsageError, match="write true or false"):
        options_from(values)


@pytest.mark.parametrize("name", GIVEN)
def test_an_option_of_reading_is_the_same_in_a_command_the_environment_and_metadata(name):
    text, value = GIVEN[name]
    own, values = split_ranker_options(["eval", "t.py", "--ranker", "mean", *typed(name, text)])
    assert own == ["eval", "t.py"]
    through = values_asked_for({}, to_environment(values))
    in_metadata = {"ranker": "mean", f"ranker_{name}": text or True}
    for given in (values, through, values_asked_for(in_metadata, {})):
        options = options_from(given)
        assert (options.rankers, options.reading) == (("mean",), {name: value})
        assert getattr(BattleQuery((), **options.reading), name) == value


def test_an_option_may_follow_an_equals_sign_and_be_given_several_times():
    words = ["eval", "--ranker=mean", "--ranker", "win-rate", "--ranker-allow=epochs"]
    _, values = split_ranker_options([*words, "--ranker-allow", "questions"])
    through = options_from(values_asked_for({}, to_environment(values)))
    assert through.rankers == ("mean", "win-rate")
    assert through.reading == {"allow": ("epochs", "questions")}


def test_metadata_count_more_than_the_environment_and_that_more_than_usual_metadata():
    environment = {
        "INSPECT_EVAL_METADATA": "owner=me ranker=mean ranker_ids=global ranker_names=joined",
        "PODIUM_RANKER": "win-rate",
        "PODIUM_RANKER_IDS": "per-category",
    }
    values = values_asked_for({"ranker": "median"}, environment)
    assert values == {
        "ranker": "median",
        "ranker_ids": "per-category",
        "ranker_names": "joined",
    }
    assert values_asked_for({}, {"PODIUM_RANKER_IDS": "global"}) == {}


@pytest.mark.parametrize(
    ("words", "stated"),
    [
        (["--ranker-alow", "epochs"], "did you mean '--ranker-allow'?"),
        (["--ranker_allow", "epochs"], "did you mean '--ranker-allow'?"),
        (["--ranker-set"], "--ranker-set needs a value"),
        (["--ranker-allow", "everything"], "--ranker-allow='everything' is unknown"),
        (["--ranker-lower-is-better", "yes"], "--ranker-lower-is-better yes: write true or false"),
        (["--ranker-where", "math"], "--ranker-where math: write COLUMN=VALUE"),
        (["--ranker-ids", "none"], "--ranker-ids='none' is unknown"),
    ],
)
def test_a_wrong_option_is_named_as_it_is_typed(words, stated):
    with typed_as(typed_in_inspect), pytest.raises(UsageError, match=stated):
        options_from(split_ranker_options(["eval", "--ranker", "mean", *words])[1])


def test_an_option_without_a_ranker_is_rejected():
    with typed_as(typed_in_inspect), pytest.raises(UsageError, match="has no effect without"):
        options_from(split_ranker_options(["eval", "--ranker-names", "joined"])[1])


@pytest.mark.parametrize("words", [["--ranker-judge", "podium/offline"], ["--ranker-pin=m"]])
def test_a_command_with_options_and_without_a_ranker_ends_before_the_eval(words, monkeypatch):
    monkeypatch.delenv("PODIUM_RANKER", raising=False)
    with pytest.raises(UsageError, match=r"^--ranker-[a-z]+ has no effect without --ranker NAME$"):
        inspect_command.run(["eval", "task.py", "--model", "m", *words])


def test_the_ranker_may_be_in_the_file_of_a_run(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("task: t.py\nmetadata:\n  ranker: [mean, win-rate]\n  ranker_pin: a\n")
    words = ["eval", "--run-config", str(path), "--metadata", "ranker_pin=b"]
    assert metadata_in_arguments(words) == {"ranker": ["mean", "win-rate"], "ranker_pin": "b"}
    require_ranker({"ranker_pin": "b"}, values_asked_for(metadata_in_arguments(words), {}))
    for text in ("- a", "metadata: 3", "a: [", "\x00"):
        path.write_text(text)
        assert metadata_in_arguments(words) == {"ranker_pin": "b"}


def test_metadata_without_a_ranker_are_said_when_the_eval_begins_and_the_environment_is_not(capfd):
    spec = build_log("one", {"1": (1.0,)}).eval
    spec.metadata = {"ranker_judge": "podium/offline"}
    _say_what_cannot_be_ranked(spec, is_first=True)
    said = capfd.readouterr().err
    assert "--metadata ranker_judge has no effect without --metadata ranker=NAME" in said
    spec.metadata = {"owner": "me"}
    _say_what_cannot_be_ranked(spec, is_first=True)
    require_ranker({}, values_asked_for({}, {"PODIUM_RANKER_JUDGE": "podium/offline"}))
    assert capfd.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_wrong_options_in_metadata_leave_the_exit_code_unless_strict(capfd, strict):
    headers = headers_of("Is it {}?", ranker="mean", ranker_alow="x", ranker_strict=strict)
    assert rank_logs(headers) is not strict
    assert "called 'ranker_alow'" in capfd.readouterr().err


def test_an_unknown_option_of_podium_in_the_metadata_is_rejected():
    with pytest.raises(UsageError, match="did you mean 'ranker_allow'"):
        values_asked_for({"ranker": "mean", "ranker_alow": "epochs"}, {})


def test_messages_write_options_as_the_command_or_the_metadata_take_them():
    with typed_as(typed_in_inspect):
        assert option_text("allow", "questions") == "--ranker-allow questions"
        assert option_text("lower_is_better", "false") == "--ranker-lower-is-better false"
        assert option_text("beta", "NUMBER", "setting") == "--ranker-set beta=NUMBER"
        assert option_text("show", "transcript", "argument") == "-T show=transcript"
        assert option_text("complete", "true") == "--ranker-complete"
        assert option_text("by", "judge") == "--by judge"
    with typed_as(typed_in_metadata):
        assert option_text("allow", "questions") == "--metadata ranker_allow=questions"
        assert option_text("pin", "MODEL", "setting") == "--metadata ranker_set=pin=MODEL"


@pytest.mark.slow
def test_other_questions_are_an_error_that_names_the_option_and_can_be_accepted(capfd, monkeypatch):
    headers = headers_of("Is it {}?", ranker="mean")
    assert rank_logs(headers)
    assert "accept it with --metadata ranker_allow=questions" in capfd.readouterr().err
    for name, value in to_environment({"ranker": ["mean"], "ranker_allow": ["questions"]}).items():
        monkeypatch.setenv(name, value)
    assert rank_logs(headers)
    said = " ".join(capfd.readouterr().err.split())
    assert "Accepted with --ranker-allow questions: made/three has another input here" in said


@pytest.mark.slow
def test_the_direction_of_scores_can_be_given():
    headers = headers_of(ranker="mean", ranker_lower_is_better=True)
    assert rank_logs(headers)
    [ranking] = rankings_of(headers)["rankings"]
    assert [(row["model"], row["score"]) for row in ranking["models"]] == [
        ("made/one", -3 / 8),
        ("made/three", -5 / 8),
    ]


@pytest.mark.slow
def test_names_that_look_the_same_are_an_error_or_joined(capfd):
    models = ("three", "one", "one\u200b")
    assert not rank_logs(headers_of(models=models, ranker="mean", ranker_strict=True))
    said = capfd.readouterr().err
    assert "count them as one with --metadata ranker_names=joined" in said


@pytest.mark.slow
def test_settings_and_rows_are_passed_to_the_ranking():
    headers = headers_of(
        ranker="bradley-terry", ranker_set="pin=made/one:1000", ranker_where="item=1"
    )
    assert rank_logs(headers)
    ranking = rankings_of(headers)
    assert ranking["rankings"][0]["counts"]["items"] == 1
    assert {row["model"]: row["score"] for row in ranking["rankings"][0]["models"]}[
        "made/one"
    ] == 1000


def check_pin(model: str, *typed: str, log_dir: str = "nowhere", **values: object) -> None:
    given = {"ranker": "bradley-terry", "ranker_set": f"pin={model}:1000", **values}
    check_named_models(options_from(given), typed, log_dir)


MODEL = ("eval", "t.py", "--model", "made/one,made/two")


@pytest.mark.parametrize("typed", [MODEL, ("eval-set", "t.py", "--model=made/one,made/two")])
def test_a_pinned_model_that_is_nowhere_is_an_error_before_the_eval(typed):
    with pytest.raises(UsageError, match=r"no model called 'ABSENT'.*made/one, made/two"):
        check_pin("ABSENT", *typed)
    for model in ("made/one", "one", "two", "made/one (shots=0)"):
        check_pin(model, *typed)


@pytest.mark.parametrize("model", ["on", "made/tw", "e", "made/one-mini", "ne,made"])
def test_a_part_of_a_models_name_names_no_model(model):
    with pytest.raises(UsageError, match=r"no model called .*made/one, made/two"):
        check_pin(model, *MODEL)


def test_a_part_of_the_name_of_an_earlier_model_names_no_model():
    write(build_log("three", {"1": (1.0,)}), "evals")
    with pytest.raises(UsageError, match=r"no model called 'made/thre'.*made/three"):
        check_pin("made/thre", *MODEL, log_dir="evals")


def check_anchor(names: str) -> None:
    """Check the anchor of a tournament that follows an eval of two models."""
    given = {"ranker": "win-rate", "ranker_judge": "made/judge", "ranker_tournament": "anchor"}
    options = options_from({**given, "ranker_args": f"anchor={names}"})
    check_named_models(options, MODEL, "nowhere")


@pytest.mark.parametrize("anchor", ["ABSENT", "made/one,ABSENT"])
def test_an_anchor_that_is_nowhere_is_an_error_before_the_eval(anchor):
    with pytest.raises(UsageError, match=r"no model called 'ABSENT'.*made/one, made/two"):
        check_anchor(anchor)
    for known in ("auto", "made/one", "one,two"):
        check_anchor(known)


def test_a_pinned_model_may_be_that_of_an_earlier_log():
    write(build_log("three", {"1": (1.0,)}), "evals")
    check_pin("made/three", *MODEL, log_dir="evals")
    check_pin("made/three", *MODEL, ranker_against="evals")
    check_pin("mine", *MODEL, ranker_against="mine=evals")
    with pytest.raises(UsageError, match=r"no model called 'made/four'.*made/three"):
        check_pin("made/four", *MODEL, log_dir="evals")
    with pytest.raises(UsageError, match="no model called 'made/three'"):
        check_pin("made/three", *MODEL)


@pytest.mark.parametrize(
    "typed", [("eval", "t.py"), (*MODEL, "--run-config", "run.yaml"), (*MODEL, "models.json")]
)
def test_nothing_is_said_of_a_pinned_model_if_the_models_of_the_eval_are_not_known(typed):
    check_pin("ABSENT", *typed)
    check_pin("ABSENT", *MODEL, ranker_names="joined")


def test_a_setting_that_names_no_model_is_not_checked():
    given = {"ranker": "bradley-terry", "ranker_set": "interval=bootstrap"}
    check_named_models(options_from(given), MODEL, "nowhere")


@pytest.mark.parametrize(
    ("form", "repeats"),
    [
        (typed_in_inspect, "--ranker-args repeats=2"),
        (typed_in_lm_eval, "--ranker_args repeats=2"),
    ],
)
def test_a_jury_with_a_judge_twice_is_rejected_before_the_run(
    form: OptionForm, repeats: str
) -> None:
    judges = ["a/b", "c/d", "a/b"]
    with typed_as(form), pytest.raises(UsageError) as refused:
        options_from({"ranker": "win-rate", "ranker_judge": judges})
    assert str(refused.value) == (
        f"the jury has a judge twice: a/b; {repeats} asks one judge twice"
    )
    assert options_from({"ranker": "win-rate", "ranker_judge": judges[:2]}).judges == ("a/b", "c/d")
