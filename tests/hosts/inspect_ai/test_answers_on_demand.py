"""Answers on demand: which models are called, how often, and what is reused."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import eval, eval_retry
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import GenerateConfig, get_model
from scripted_judge import Record

from podium.data.reading.judgments import read_battles
from podium.errors import DataError, UsageError
from podium.hosts.inspect_ai import tasks
from podium.hosts.inspect_ai.logs.sample_answers import responses_in
from podium.hosts.inspect_ai.tournament import answers_on_demand
from podium.hosts.inspect_ai.tournament.answers_on_demand import read_questions
from podium.notices.notice_text import notice_texts
from podium.responses.answers import id_of
from podium.responses.transcripts import ANSWER_ALONE

QUALITY = {"ash": 1.5, "elm": 0.5, "fir": -1.0, "oak": 0.0}
USUAL = ("ash", "elm", "fir")
PROMPTS = 5
Ask = Callable[..., EvalLog]


def write_prompts(path: Path, number: int = PROMPTS) -> str:
    """Write prompts; give the path."""
    rows = [{"id": f"q{k}", "instruction": f"Question {k}?"} for k in range(number)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def prompts(tmp_path: Path) -> str:
    """Return a file of five prompts."""
    return write_prompts(tmp_path / "prompts.jsonl")


@pytest.fixture
def ask(behave: Callable[..., str], record: Record) -> Ask:
    """Return a way to play a tournament of models that answer; it gives the log as it stands on
    disk."""
    for name, quality in QUALITY.items():
        behave(
            name,
            scripted=lambda prompt, name=name, quality=quality: f"{name} says quality={quality}",
        )

    def play(
        task: str = "round_robin", models: Any = USUAL, only: str | None = None, **arguments: Any
    ) -> EvalLog:
        roles = {
            "judge": arguments.pop("judge", "scripted/judge"),
            "models": [f"scripted/{name}" for name in models],
        }
        options = {"log_realtime": False, **arguments.pop("options", {})}
        arguments |= {"models": only} if only else {}
        [log] = eval(getattr(tasks, task), task_args=arguments, model_roles=roles, **options)
        return read_eval_log(log.location)

    return play


def asked(record: Record) -> Counter[tuple[str, str]]:
    """Count the calls of models by name and prompt."""
    return Counter({key: number for key, number in record.times().items() if key[0] != "judge"})


def judged(record: Record) -> int:
    """Count the calls of the judge."""
    return sum(name == "judge" for name, _ in record.prompts)


def verdicts(log: EvalLog) -> set[tuple[Any, ...]]:
    """Return items, models and credits of the battles."""
    table = read_battles(log.location).table
    return set(table[["item", "model_a", "model_b", "credit"]].itertuples(index=False, name=None))


@pytest.mark.slow
def test_each_model_is_called_once_per_item_and_a_second_run_makes_no_call(
    ask: Ask, prompts: str, record: Record, capfd: pytest.CaptureFixture[str]
) -> None:
    log = ask(prompts=prompts)
    assert log.status == "success", log.error
    answers, battles = 3 * PROMPTS, 3 * PROMPTS
    stated = capfd.readouterr().err
    assert f"at most {battles} battles, {2 * battles} calls per judge" in stated
    assert (
        f"at most {answers} answers are asked of scripted/ash, scripted/elm, scripted/fir" in stated
    )
    assert set(asked(record).values()) == {1}
    assert (len(asked(record)), judged(record)) == (answers, 2 * battles)
    assert len(verdicts(log)) == battles
    assert (log.eval.metadata or {})["podium_answers"]["models"] == {
        f"scripted/{name}": PROMPTS for name in USUAL
    }
    ask(prompts=prompts)
    assert record.calls == answers + 2 * battles


@pytest.mark.slow
@pytest.mark.parametrize("task", ["anchor", "swim", "chain", "ring"])
def test_every_tournament_asks_for_answers(
    ask: Ask, prompts: str, record: Record, task: str
) -> None:
    log = ask(task, prompts=prompts, pack=task in ("chain", "swim"))
    assert log.status == "success", log.error
    assert set(asked(record).values()) == {1}
    assert len(asked(record)) == 3 * PROMPTS
    assert len(verdicts(log)) >= 2 * PROMPTS


@pytest.mark.slow
def test_bought_answers_are_responses_of_the_next_tournament(
    ask: Ask, prompts: str, record: Record
) -> None:
    first = ask("chain", prompts=prompts)
    rows = responses_in(Path(first.location), ANSWER_ALONE)
    assert {(row.model, row.question.instruction) for row in rows} >= {
        ("scripted/ash", "Question 0?")
    }
    assert len(rows) == 3 * PROMPTS
    record.prompts.clear()
    log = ask("chain", models=("oak", "ash"), responses=first.location, cache=False)
    assert {name for name, _ in asked(record)} == {"oak"}
    assert (log.eval.metadata or {})["podium_models"] == [
        f"scripted/{name}" for name in sorted((*USUAL, "oak"))
    ]


@pytest.mark.slow
def test_recorded_responses_meet_answers_and_models_chooses_among_both(
    ask: Ask,
    prompts: str,
    record: Record,
    write_responses: Callable[..., list[str]],
    capfd: pytest.CaptureFixture[str],
) -> None:
    files = write_responses({"rowan": 2.0, "willow": -2.0}, items=PROMPTS + 2)
    log = ask(prompts=prompts, responses=files, only="rowan,scripted/ash,scripted/elm")
    assert {name for name, _ in asked(record)} == {"ash", "elm"}
    assert {name for row in verdicts(log) for name in row[1:3]} == {
        "rowan",
        "scripted/ash",
        "scripted/elm",
    }
    assert len(verdicts(log)) == 3 * PROMPTS
    assert "4 responses are to none of the 5 prompts, and left out" in capfd.readouterr().err


@pytest.mark.slow
def test_system_temperature_and_length_are_the_models(
    ask: Ask, prompts: str, record: Record
) -> None:
    log = ask(prompts=prompts, limit=1, system="Be terse.", temperature=0.7, max_tokens=99)
    samples = read_eval_log(log.location, resolve_attachments=True).samples or []
    calls = [event for sample in samples for event in sample.events if event.event == "model"]
    ours = [call for call in calls if call.model != "scripted/judge"]
    judges = [call for call in calls if call.model == "scripted/judge"]
    assert {(call.config.temperature, call.config.max_tokens) for call in ours} == {(0.7, 99)}
    assert {(call.config.temperature, call.config.max_tokens) for call in judges} == {(0.0, 64)}
    assert {call.input[0].text for call in ours} == {"Be terse."}
    assert all("Be terse." in call.input[-1].text for call in judges), (
        "who was told something is judged by it"
    )
    settings = (log.eval.metadata or {})["podium_answers"]["settings"]
    assert settings == {"temperature": 0.7, "max_tokens": 99, "system": "Be terse."}


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([("a/b/smol", {}), ("c/other", {"temperature": 1})], ["a/b/smol", "c/other"]),
        (
            [("a/b/smol", {"temperature": t, "max_tokens": 9}) for t in (0, 1.2)],
            ["temperature 0", "temperature 1.2"],
        ),
        (
            [("a/b/smol", {}), ("a/b/smol", {"max_tokens": 9, "temperature": 1})],
            ["", "temperature 1, max_tokens 9"],
        ),
        (
            [("a/smol", {"seed": k}) for k in (1, 2)] + [("b/smol", {"seed": 1})],
            ["a/smol, seed 1", "a/smol, seed 2"],
        ),
    ],
)
def test_names_are_short_and_unique(
    monkeypatch: pytest.MonkeyPatch, given: Any, names: list[str]
) -> None:
    """Several of one name are named by what differs: `smol, temperature 1.2`."""
    models = [
        get_model("mockllm/" + name, config=GenerateConfig(**own), memoize=False)
        for name, own in given
    ]
    monkeypatch.setattr(answers_on_demand, "models_of_role", lambda role: models)
    found = list(answers_on_demand.models_by_name())
    for name, expected in zip(found, names, strict=False):
        assert name.removeprefix("mockllm/") == (
            expected if "/" in expected else f"smol, {expected}".rstrip(", ")
        )
    assert len(set(found)) == len(given)


@pytest.mark.slow
def test_answers_first_asks_one_model_after_the_other(
    ask: Ask, prompts: str, record: Record
) -> None:
    ask("ring", models=("fir", "elm", "ash"), prompts=prompts, answers="first", items=3)
    order = [name for name, _ in record.prompts]
    assert order[:9] == ["fir"] * 3 + ["elm"] * 3 + ["ash"] * 3
    assert set(order[9:]) == {"judge"}


@pytest.mark.slow
def test_answers_bought_first_for_a_single_battle_are_played_in_shards(
    ask: Ask, prompts: str, record: Record
) -> None:
    bought = ask("chain", prompts=prompts, answers="first", max_battles=1)
    assert len(asked(record)) == 3 * PROMPTS
    assert judged(record) == 2
    record.prompts.clear()
    shard = ask(responses=bought.location, shard="1/2", cache=False)
    assert shard.status == "success"
    assert not asked(record)
    assert judged(record) > 0


@pytest.mark.slow
def test_an_empty_answer_is_missing_with_its_reason(ask: Ask, prompts: str, behave: Any) -> None:
    thought = "<think>hm</think>"
    behave(
        "fir",
        scripted=lambda prompt: "" if "3" in prompt else thought if "4" in prompt else "quality=1",
    )
    log = ask(prompts=prompts)
    assert log.status == "success"
    assert len(verdicts(log)) == 3 * PROMPTS - 2 * 2
    assert read_battles(log.location).counts().missing == 2 * 2
    reasons = {
        row.question.item: row.reason
        for row in responses_in(Path(log.location), ANSWER_ALONE)
        if row.reason
    }
    assert reasons == {"q3": "empty response"}, (
        "whether reasoning counts is for the next reader to say"
    )


@pytest.mark.slow
@pytest.mark.parametrize("task", ["round_robin", "ring"])
def test_a_failed_model_loses_nothing_of_the_others(
    ask: Ask,
    tmp_path: Path,
    record: Record,
    behave: Any,
    task: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Verdicts of the others are those of a tournament without it, to the last one."""
    behave("oak", errors=1.0)
    many = write_prompts(tmp_path / "many.jsonl", 12)
    log = ask(task, models=(*USUAL, "oak"), prompts=many, pack=True)
    assert log.status == "success", log.error
    stated = capfd.readouterr().err
    assert "scripted/oak is not asked any more: its first 10 calls all failed" in stated
    assert (
        stated.count("these answers and their battles are missing: scripted/oak (errored: 12)") == 1
    )
    assert any(
        "no battle of scripted/oak is there" in note
        for note in notice_texts(read_battles(log.location).notes)
    )
    assert sum(name == "oak" for name, _ in record.prompts) == 10
    without = ask(task, prompts=many, pack=True)
    assert verdicts(log) == verdicts(without)
    assert len(verdicts(log)) == 36
    counts = read_battles(log.location).counts()
    assert counts.missing == (36 if task == "round_robin" else 12)


@pytest.mark.slow
def test_run_without_any_response_ends_with_the_error(ask: Ask, prompts: str, behave: Any) -> None:
    for name in USUAL:
        behave(name, errors=1.0)
    log = ask(prompts=prompts, pack=True)
    assert log.status == "error"
    assert log.error is not None
    assert "nothing can be played: scripted/ash (errored: 5)" in log.error.message
    assert "the first cause: " in log.error.message


@pytest.mark.slow
def test_retry_after_judge_failure_calls_only_the_judge(
    ask: Ask, prompts: str, record: Record, behave: Any
) -> None:
    behave("judge", errors=0.3, fails_first=True)
    log = ask("ring", prompts=prompts, cache=False)
    assert log.status == "error"
    [again] = eval_retry(log)
    assert again.status == "success", again.error
    assert set(asked(record).values()) == {1}
    assert (
        len(verdicts(again)) == len(responses_in(Path(again.location), ANSWER_ALONE)) == 3 * PROMPTS
    )


@pytest.mark.slow
def test_a_ring_until_top1_asks_those_who_left_no_more(
    ask: Ask, tmp_path: Path, record: Record, behave: Any
) -> None:
    """Two are alike and far ahead: a flat ring asks 4 x 60 answers, and two of these models are
    settled after 25."""
    for name, quality in {"ash": 3.0, "elm": 2.9, "fir": -3.0, "oak": -3.1}.items():
        behave(
            name,
            scripted=lambda prompt, name=name, own=quality: (
                f"{name} quality={own + len(prompt) % 3 / 10}"
            ),
        )
    many = write_prompts(tmp_path / "many.jsonl", 60)
    log = ask(
        "ring",
        models=QUALITY,
        prompts=many,
        until="top1",
        opponents="open",
        start=25,
        logprobs="off",
        pack=True,
    )
    assert log.status == "success", log.error
    assert set(asked(record).values()) == {1}
    by_name = Counter(name for name, _ in asked(record))
    assert by_name["fir"] == by_name["oak"] == 25
    assert by_name["ash"] == by_name["elm"] > 25


@pytest.mark.slow
def test_max_cost_caps_answers_and_verdicts_together(
    ask: Ask, prompts: str, record: Record, capfd: pytest.CaptureFixture[str]
) -> None:
    """A call shows 10 tokens and gets 1: 15 answers and 30 verdicts cost 45 x (10 x 10,000 + 1 x
    30,000) / 1e6."""
    prices = {f"scripted/{name}": [10_000, 30_000] for name in ("judge", *USUAL)}
    cap = 45 * 0.13 / 2
    log = ask(prompts=prompts, max_cost=cap, prices=prices)
    spent = record.calls * 0.13
    assert 0.7 * cap < spent <= cap
    assert log.status == "success"
    assert f"max_cost={cap:g} is reached" in capfd.readouterr().err
    assert read_battles(log.location).counts().missing == 3 * PROMPTS - len(verdicts(log)) > 0


@pytest.mark.parametrize(
    ("content", "items"),
    [
        ('{"id": "a", "instruction": "Say hi."}\n', ["a"]),
        (
            '{"prompt": "Say hi."}\n{"prompt": "Say ho."}\n{"prompt": "Say hi."}\n',
            [id_of("Say hi."), id_of("Say ho.")],
        ),
        ('{"id": "a", "instruction": "Say hi.", "response": "hi", "model": "m"}\n', ["a"]),
    ],
)
def test_prompts_are_the_instructions_of_whatever_responses_takes(
    tmp_path: Path, content: str, items: list[str]
) -> None:
    (tmp_path / "p.jsonl").write_text(content)
    found, notes = read_questions([str(tmp_path / "p.jsonl")])
    assert [*dict.fromkeys(row.item for row in found)] == items
    assert ("2 prompts have no id" in " ".join(notice_texts(notes))) == (len(items) == 2)
    assert ("1 prompt appears more than once" in " ".join(notice_texts(notes))) == (len(items) == 2)


def test_prompts_are_the_inputs_of_a_dataset_or_a_task_by_name(tmp_path: Path) -> None:
    found, _ = read_questions(["security_guide"])
    assert len(found) == 16
    assert found[0].item == "1"
    assert found[0].reference
    (tmp_path / "sums.py").write_text(
        "from inspect_ai import Task, task\nfrom inspect_ai.dataset import "
        "Sample\n\n\n@task\ndef sums():\n"
        "    return Task(dataset=[Sample(input='2 + 2?', target='4', id='s1'), Sample(input='1 + "
        "1?')])\n"
    )
    rows, _ = read_questions([f"{tmp_path / 'sums.py'}@sums"])
    assert [(row.item, row.instruction, row.reference, row.task) for row in rows] == [
        ("s1", "2 + 2?", "4", "sums"),
        ("2", "1 + 1?", None, "sums"),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file is empty. Remedy: give a file that holds rows"),
        ("id,instruction\n", "no row below the header id, instruction"),
        ('{"question_text": "hi"}\n', "no prompts in the columns question_text"),
        ('{"id": "a", "instruction": null}\n', "item 'a' has no instruction"),
    ],
)
def test_prompts_that_are_none_are_rejected_with_the_file(
    tmp_path: Path, content: str, words: str
) -> None:
    file = tmp_path / ("p.csv" if content.startswith("id,") else "p.jsonl")
    file.write_text(content)
    with pytest.raises((DataError, UsageError), match=re.escape(words)) as error:
        read_questions([str(file)])
    assert file.name in str(error.value)


def test_prompts_without_models_are_rejected_with_the_role_to_type(prompts: str) -> None:
    with pytest.raises(
        UsageError, match=re.escape("name the models, --model-role models=[MODEL,MODEL]")
    ):
        tasks.ring(prompts=prompts)


@pytest.mark.parametrize(
    ("models", "options", "words"),
    [
        (("ash", "ash"), {}, "the role models names scripted/ash twice"),
        (("ash",), {}, "nothing can be played: fewer than two models"),
        (("ash", "elm"), {"answers": "last"}, "no choice for answers called 'last'"),
        (
            ("ash", "elm"),
            {"prompts": ()},
            "no prompts were named for the role models: give a file, a task",
        ),
        (("ash", "elm"), {"prompts": (), "responses": "none/"}, "none"),
        (
            ("ash", "elm"),
            {"max_cost": 1},
            "the price of scripted/ash, scripted/elm, scripted/judge is not known",
        ),
        (
            ("ash", "elm"),
            {"max_cost": 1, "prices": {"scripted/ash": 2}},
            "give two or three numbers, [INPUT, OUTPUT]",
        ),
        (("ash", "elm"), {"max_cost": 0}, "max_cost=0: give a sum above 0"),
        (("ash", "elm"), {"prompts": "none.jsonl"}, "none.jsonl"),
        (("ash", "elm"), {"shard": "1/2"}, "answers on demand are asked by one process"),
        (("ash",), {"answers": "first"}, "nothing can be played: fewer than two models"),
    ],
)
def test_what_cannot_be_asked_is_rejected_before_the_first_call(
    ask: Ask, prompts: str, record: Record, models: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        ask(models=models, **{"prompts": prompts, **options})
    assert record.calls == 0


@pytest.mark.slow
def test_model_that_is_also_the_judge_is_reported(
    ask: Ask, prompts: str, capfd: pytest.CaptureFixture[str]
) -> None:
    ask(models=("judge", "ash"), prompts=prompts, limit=1)
    assert "scripted/judge judges its own answers" in capfd.readouterr().err
