"""Tournaments compare what models were asked, and with which settings."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalPlan,
    EvalSample,
    EvalSpec,
    write_eval_log,
)
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput
from played_logs import battles, place

import podium
from podium.errors import OtherQuestionError, UsageError
from podium.hosts.inspect_ai.logs.folders import plan_in
from podium.hosts.inspect_ai.logs.podium_entries import read_tournament
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.tasks import recorded_task, round_robin
from podium.notices.notice_text import notice_texts
from podium.responses.collection import Responses
from podium.responses.read import read_responses

CLEAN_VERSION = "de5318074e8d"
"""The version of the tournament over two clean logs before runs were recorded."""
QUESTIONS = tuple(f"What is {k} times 7?" for k in range(6))


def write_log(
    path: str,
    model: str,
    questions: Sequence[str] = QUESTIONS,
    *,
    arguments: dict[str, Any] | None = None,
    temperature: float | None = None,
    day: int = 1,
    key: str = "",
) -> str:
    """Write the log of an eval that numbers its samples, and return its path."""
    quality = sum(map(ord, model)) % 7
    samples = []
    for number, question in enumerate(questions, start=1):
        answer = f"{model} answers {question} quality={quality}"
        samples.append(
            EvalSample(
                id=number,
                epoch=1,
                input=question,
                target="yes",
                messages=[ChatMessageUser(content=question)],
                output=ModelOutput.from_content(model, answer),
            )
        )
    spec = EvalSpec(
        created=f"2026-01-0{day}T00:00:00+00:00",
        task="sums",
        task_id=Path(path).stem,
        dataset=EvalDataset(),
        model=model,
        config=EvalConfig(),
        task_args=arguments or {},
        task_args_passed=arguments or {},
        model_args={"api_key": key} if key else {},
    )
    plan = EvalPlan(config=GenerateConfig(temperature=temperature))
    log = EvalLog(status="success", eval=spec, plan=plan, samples=samples)
    Path(path).parent.mkdir(exist_ok=True)
    write_eval_log(log, path)
    return path


def question_by_item(read: Responses, model: str) -> dict[str, str]:
    """Return the question that each answer names, by item."""
    answers = read.texts[model].items()
    return {key: text.split(" quality")[0].split("answers ")[1] for key, text in answers}


def ranked(log: EvalLog) -> dict[str, Any]:
    """Return the ranking of a tournament's log as JSON."""
    ranking = podium.rank(podium.read_battles(str(place(log)))).to_dict()
    return {**ranking["rankings"][0], "provenance": ranking["provenance"]}


def checks_of(ranking: dict[str, Any]) -> dict[str, str]:
    """Return the results of the two checks of runs; those that are not listed are left out."""
    results = {own["code"].replace("-", " "): own["result"] for own in ranking["checks"]}
    return {name: results[name] for name in ("same question", "same settings") if name in results}


@pytest.mark.slow
def test_a_clean_folder_prints_nothing_and_both_checks_are_ok(behave, play, capfd) -> None:
    for name in "ab":
        write_log(f"evals/{name}.eval", f"lab/{name}")
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    assert not [line for line in capfd.readouterr().out.splitlines() if "note:" in line]
    assert checks_of(ranked(log)) == {"same question": "ok", "same settings": "ok"}


@pytest.mark.slow
def test_shuffled_ids_are_paired_by_input_and_this_is_said(behave, play, capfd) -> None:
    shuffled = random.Random(3).sample(QUESTIONS, len(QUESTIONS))
    write_log("evals/a.eval", "lab/a")
    write_log("evals/b.eval", "lab/b", shuffled, day=2)
    read = read_responses("evals", readers=(READER,))
    assert question_by_item(read, "lab/a") == question_by_item(read, "lab/b")
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    said = " ".join("".join(capfd.readouterr()).split())
    line = "5 ids stand for different inputs in different runs, so items are paired by input"
    assert said.count(f"podium round_robin: note: sums: {line}") == 1
    assert checks_of(ranked(log)) == {"same question": "ok", "same settings": "ok"}


@pytest.mark.slow
def test_an_input_that_one_model_alone_was_asked_is_flagged(behave, play) -> None:
    write_log("evals/a.eval", "lab/a")
    write_log("evals/b.eval", "lab/b", [*QUESTIONS[:-1], "What is 5 times 8?"])
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    assert checks_of(ranked(log))["same question"] == "flagged"
    assert log.eval.metadata["podium_questions"][0]["unshared"] == {"lab/a": 1, "lab/b": 1}


OTHERS = tuple(f"Name {k} rivers." for k in range(6))


@pytest.mark.slow
def test_other_questions_under_the_same_ids_are_an_error_until_they_are_accepted(
    behave, play, capfd
) -> None:
    write_log("evals/a.eval", "lab/a")
    write_log("evals/b.eval", "lab/b", OTHERS, day=2)
    with pytest.raises(OtherQuestionError) as told:
        round_robin(responses="evals")
    assert told.value.exit_code == 1
    parts = ("a.eval", "b.eval", "sample 1", "'What is 0 times 7?'", "'Name 0 rivers.'")
    text = str(told.value)
    assert [part for part in (*parts, "allow='questions'") if part not in text] == []
    behave()
    log = play(round_robin(responses="evals", allow="questions"), log_dir="logs")
    sentence = "Accepted with allow='questions': lab/b has another input here"
    assert sentence in " ".join("".join(capfd.readouterr()).split())
    assert any(sentence in text for text in ranked(log)["answer"])
    shown = {sample.metadata["instruction"] for sample in battles(log)}
    assert shown == {*OTHERS}, "the shortest is shown"


def test_an_unknown_finding_is_an_error() -> None:
    with pytest.raises(UsageError, match="no finding has this name"):
        round_robin(responses="evals", allow="question")


@pytest.mark.slow
def test_a_recorded_prompt_explains_other_inputs_and_both_are_said(behave, play, capfd) -> None:
    framed = [f"Answer briefly. {question}" for question in QUESTIONS]
    write_log("evals/a.eval", "lab/a", arguments={"prompt": "bare"})
    write_log("evals/b.eval", "lab/b", framed, arguments={"prompt": "brief"}, day=2)
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    said = " ".join("".join(capfd.readouterr()).split())
    assert "sums: inputs differ between runs (prompt), so items are paired by id" in said
    difference = "models were run with different settings: prompt of sums: bare (lab/a), brief"
    assert f"warning: {difference} (lab/b)" in said
    assert {sample.metadata["instruction"] for sample in battles(log)} == {*QUESTIONS}
    assert checks_of(ranked(log)) == {"same question": "not known", "same settings": "flagged"}
    assert difference[1:] in " ".join(ranked(log)["answer"])


@pytest.mark.slow
def test_settings_of_their_own_are_a_note(behave, play, capfd) -> None:
    write_log("evals/a.eval", "lab/a", temperature=0.0)
    write_log("evals/b.eval", "lab/b", temperature=1.0)
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    said = " ".join("".join(capfd.readouterr()).split())
    assert "note: sums: models were run with settings of their own: temperature 0.0" in said
    assert checks_of(ranked(log)) == {"same question": "ok", "same settings": "ok"}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("sources", [["evals"], ["evals/a.eval", "evals/b.eval"]])
def test_two_settings_of_one_model_are_two_models(behave, play, sources) -> None:
    write_log("evals/a.eval", "lab/a", temperature=0.0)
    write_log("evals/b.eval", "lab/a", temperature=1.0, day=2)
    behave()
    log = play(round_robin(responses=sources), log_dir="logs")
    names = ["lab/a (temperature=0.0)", "lab/a (temperature=1.0)"]
    assert log.eval.metadata["podium_models"] == names
    ranking = ranked(log)
    assert sorted(own["model"] for own in ranking["models"]) == names
    assert checks_of(ranking) == {"same question": "ok", "same settings": "ok"}


def test_labels_of_the_user_stay() -> None:
    write_log("evals/a.eval", "lab/a", temperature=0.0)
    write_log("evals/b.eval", "lab/a", temperature=1.0, day=2)
    read = read_responses("cold=evals/a.eval", "warm=evals/b.eval", readers=(READER,))
    assert read.models == ("cold", "warm")
    assert [run.model for run in read.runs] == ["cold", "warm"]


def test_of_two_runs_with_the_same_settings_the_newest_counts() -> None:
    write_log("evals/a.eval", "lab/a")
    write_log("evals/b.eval", "lab/a", QUESTIONS[:3], day=2)
    read = read_responses("evals", readers=(READER,))
    assert (read.models, len(read.items)) == (("lab/a",), 3)
    assert any("was run 2 times" in text for text in notice_texts(read.notes))


@pytest.mark.slow
def test_a_log_without_records_of_runs_is_read_as_before(behave, play) -> None:
    for name in "ab":
        write_log(f"evals/{name}.eval", f"lab/{name}", arguments={"style": name})
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    new = ranked(log)
    for name in ("runs", "questions"):
        del log.eval.metadata[f"podium_{name}"]
    log.results.metadata = {}
    write_eval_log(log)
    old = ranked(log)
    assert checks_of(old) == {}
    assert old["models"] == new["models"]
    assert not podium.read_battles(str(place(log))).runs


@pytest.mark.slow
def test_records_of_runs_come_back_from_the_log(behave, play) -> None:
    write_log("evals/a.eval", "lab/a", arguments={"style": "bare"}, temperature=0.0)
    write_log("evals/b.eval", "lab/a", arguments={"style": "bare"}, temperature=1.0)
    write_log("evals/c.eval", "lab/c", arguments={"style": "full"})
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    read = podium.read_battles(str(place(log)))
    competing = read_responses("evals", readers=(READER,))
    assert [replace(run, verdict_task="") for run in read.runs] == [*competing.runs]
    assert read.questions == competing.questions
    assert len({run.model for run in read.runs}) == 3


@pytest.mark.slow
def test_arguments_of_models_are_not_written_into_the_log(behave, play) -> None:
    for name in "ab":
        write_log(f"evals/{name}.eval", f"lab/{name}", key="sk-secret-0123456789")
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    assert "sk-secret" not in json.dumps(log.eval.metadata)


@pytest.mark.slow
def test_records_of_runs_are_no_part_of_the_plan(behave, play) -> None:
    for name in "ab":
        write_log(f"evals/{name}.eval", f"lab/{name}")
    behave()
    log = play(round_robin(responses="evals"), log_dir="logs")
    plan = plan_in(log, read_tournament(log))
    for name in ("runs", "questions"):
        del log.eval.metadata[f"podium_{name}"]
    assert plan == plan_in(log, read_tournament(log))
    accepted = round_robin(responses="evals", allow="questions")
    assert accepted.version == log.eval.task_version == CLEAN_VERSION


@pytest.mark.slow
def test_shards_of_one_tournament_have_its_runs_once(behave, play) -> None:
    for name in "ab":
        write_log(f"evals/{name}.eval", f"lab/{name}")
    behave()
    for number in (1, 2):
        play(round_robin(responses="evals", shard=f"{number}/2"), log_dir="logs")
    read = podium.read_battles("logs")
    assert (len(read.runs), len(read.questions), len(read)) == (2, 1, 6)


@pytest.mark.slow
def test_rejudged_battles_keep_the_runs_of_their_responses(behave, play) -> None:
    for name in "ab":
        write_log(f"evals/{name}.eval", f"lab/{name}", arguments={"style": name})
    behave()
    first = play(round_robin(responses="evals"), log_dir="logs")
    behave("other")
    again = play(recorded_task(battles=str(place(first))), "scripted/other", log_dir="again")
    assert checks_of(ranked(again)) == checks_of(ranked(first))
    assert checks_of(ranked(first))["same settings"] == "flagged"


@pytest.mark.slow
def test_a_table_beside_a_log_leaves_the_settings_unknown(behave, play) -> None:
    write_log("evals/a.eval", "lab/a")
    rows = [
        {"id": str(k), "instruction": question, "response": f"b {k} quality=1", "model": "b"}
        for k, question in enumerate(QUESTIONS, start=1)
    ]
    Path("b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    behave()
    log = play(round_robin(responses=["evals", "b.jsonl"]), log_dir="logs")
    assert checks_of(ranked(log)) == {"same question": "ok", "same settings": "not known"}


@pytest.mark.slow
def test_tables_alone_have_no_checks_of_runs(behave, play, write_responses) -> None:
    behave()
    log = play(round_robin(responses=write_responses()), log_dir="logs")
    assert checks_of(ranked(log)) == {}
    assert "podium_runs" not in log.eval.metadata
