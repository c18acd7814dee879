"""The texts of `podium/pairwise`: the sample has one response, its score that of the reference."""

import csv
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Epochs, Task, eval, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from inspect_ai.solver import solver
from played_logs import place

import podium
from podium.errors import DataError
from podium.hosts.inspect_ai.judging.scorers import _fold_transcripts
from podium.hosts.inspect_ai.logs.podium_entries import (
    BattleMetadata,
    BattleVerdict,
    PackVerdicts,
    reference_texts_in,
    verdict_rows_in,
)
from podium.hosts.inspect_ai.logs.recorded_battles import recorded_battles
from podium.inspect import pairwise, recorded
from podium.responses.collection import response_key
from podium.responses.transcripts import Call, Show, Turn, read_pieces, write_pieces
from podium.show.page.sources import JudgeReply, collect_texts

ITEMS = 8
PREFERENCES = ("--to", "preference", "--ties", "--flips", "-o")


def answer_of(item: str, epoch: int) -> str:
    """Return the response of the model under test."""
    return f"new answer {item} of epoch {epoch}. quality={1 + int(item[1:]) % 3}"


@solver
def answer():
    """Answer with a text that names item and epoch."""

    async def solve(state, generate):
        state.output.completion = answer_of(state.sample_id, state.epoch)
        return state

    return solve


@task
def advice(references: tuple[str, ...], epochs: int = 1) -> Task:
    """Return a task that is judged against references."""
    samples = [Sample(id=f"q{k}", input=f"task {k}.") for k in range(ITEMS)]
    judged = pairwise(reference=references, attempts=1, replies="text", logprobs="off")
    return Task(samples, solver=answer(), scorer=judged, epochs=Epochs(epochs))


def reference_text(name: str, item: str, number: int) -> str:
    """Return a response of a reference."""
    return f"{name} answer {item}, number {number}. quality=2"


def write_reference(folder: Path, name: str, *, responses: int = 1) -> str:
    """Write the log of a reference, with an epoch for each response to an item."""
    samples = [
        EvalSample(
            id=f"q{k}",
            epoch=number,
            input=f"task {k}.",
            target="",
            output=ModelOutput.from_content(name, reference_text(name, f"q{k}", number)),
        )
        for number in range(1, responses + 1)
        for k in range(ITEMS)
    ]
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="advice",
        dataset=EvalDataset(),
        model=name,
        config=EvalConfig(epochs=responses),
    )
    path = folder / f"{name}.eval"
    write_eval_log(EvalLog(status="success", eval=spec, samples=samples), str(path))
    return str(path)


@pytest.fixture
def run(behave: Any, tmp_path: Path) -> Callable[..., Path]:
    """Return a way to judge the model under test against references; it gives the log's path."""

    def judge(*references: str, epochs: int = 1) -> Path:
        [log] = eval(
            advice(references, epochs),
            model="mockllm/new",
            model_roles={"judge": behave()},
            log_dir=str(tmp_path / "logs"),
        )
        assert log.status == "success", log.error
        return place(log)

    return judge


def as_older_version(path: Path) -> Path:
    """Write a log without the texts of references, as older versions did."""
    log = read_eval_log(str(path))
    for sample in log.samples or []:
        for score in (sample.scores or {}).values():
            (score.metadata or {})["podium"].pop("response_b")
    older = path.with_name("older.eval")
    write_eval_log(log, str(older))
    path.unlink()
    return older


def pairs_in(path: Path) -> dict[tuple[str, int], dict[str, str]]:
    """Return the responses by model of each item and number, as preference data have them."""
    pairs = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        texts = {row[f"{side}_model"]: row[side][0]["content"] for side in ("chosen", "rejected")}
        pairs[row["item"], row["response"]] = texts
    return pairs


@pytest.mark.slow
def test_the_texts_of_a_judged_log_need_no_option(run, tmp_path, run_podium):
    log = run(write_reference(tmp_path, "old"))
    sheet = tmp_path / "sheet.csv"
    code, _, err = run_podium("label", str(log), "-o", str(sheet))
    assert code == 0, err
    with sheet.open() as stream:
        rows = [*csv.DictReader(stream)]
    shown = {(row["instruction"], row["response_1"], row["response_2"]) for row in rows}
    wanted = {
        (f"task {k}.", *sorted([answer_of(f"q{k}", 1), reference_text("old", f"q{k}", 1)]))
        for k in range(ITEMS)
    }
    assert {(asked, *sorted(texts)) for asked, *texts in shown} == wanted
    out = tmp_path / "pairs.jsonl"
    arguments = (*PREFERENCES, str(out))
    code, _, err = run_podium("export", str(log), *arguments)
    assert code == 0, err
    assert pairs_in(out)["q3", 1] == {
        "mockllm/new": answer_of("q3", 1),
        "old": reference_text("old", "q3", 1),
    }
    page = tmp_path / "page.html"
    code, _, err = run_podium("report", str(log), "-o", str(page))
    assert code == 0, err
    assert "No texts of responses" not in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("responses", [1, 2])
def test_each_epoch_has_the_reference_text_that_it_was_judged_against(
    run, tmp_path, run_podium, responses
):
    log = run(write_reference(tmp_path, "old", responses=responses), epochs=2)
    out = tmp_path / "pairs.jsonl"
    code, _, err = run_podium("export", str(log), *PREFERENCES, str(out))
    assert code == 0, err
    pairs = pairs_in(out)
    assert len(pairs) == 2 * ITEMS
    for (item, number), texts in pairs.items():
        assert texts == {
            "mockllm/new": answer_of(item, number),
            "old": reference_text("old", item, min(number, responses)),
        }


@pytest.mark.slow
def test_the_texts_of_several_references_are_kept_apart(run, tmp_path, run_podium):
    log = run(write_reference(tmp_path, "old"), write_reference(tmp_path, "older"))
    out = tmp_path / "pairs.parquet"
    code, _, err = run_podium("export", str(log), *PREFERENCES, str(out))
    assert code == 0, err
    import pandas as pd

    table = pd.read_parquet(out)
    assert len(table) == 2 * ITEMS
    for row in table.to_dict("records"):
        for side in ("chosen", "rejected"):
            name = row[f"{side}_model"].rpartition("/")[2]
            assert row[side][0]["content"].startswith(f"{name} answer ")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["label", "export"])
def test_a_log_of_an_older_version_names_the_option_with_the_reference(
    run, tmp_path, run_podium, command
):
    reference = write_reference(tmp_path, "old")
    log = as_older_version(run(reference))
    out = tmp_path / ("sheet.csv" if command == "label" else "pairs.jsonl")
    more = ["-o"] if command == "label" else PREFERENCES
    code, _, err = run_podium(command, str(log), *more, str(out))
    option = f"--responses {shlex.quote(f'old={reference}')}"
    assert code == 2
    assert f"the judged log holds no texts of its reference; {option} adds them" in err
    code, _, err = run_podium(command, str(log), *more, str(out), *shlex.split(option))
    assert code == 0, err
    assert "old answer q3, number 1" in out.read_text()


@pytest.mark.slow
def test_the_page_of_an_older_log_names_the_option(run, tmp_path, run_podium):
    reference = write_reference(tmp_path, "old")
    log = as_older_version(run(reference))
    page = tmp_path / "page.html"
    code, _, err = run_podium("report", str(log), "-o", str(page))
    assert code == 0, err
    assert "the judged log holds no texts of its reference" in page.read_text()


def words_in(log: Path | str, **reading: Any) -> dict[tuple[str, int, str, str], list[JudgeReply]]:
    """Return the judge's replies on the battles of a log, as the page shows them."""
    battles = podium.read_battles(str(log), merge=False, **reading)
    assert {"words", "run_model"}.isdisjoint(battles.columns)
    return collect_texts(battles, [str(log)]).replies


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("label", ["", "mine"])
def test_the_judges_words_are_read_from_the_log(run, tmp_path, label):
    log = run(write_reference(tmp_path, "old"), write_reference(tmp_path, "older"), epochs=2)
    source = f"{label}={log}" if label else str(log)
    model = label or "mockllm/new"
    replies = words_in(source)
    assert len(replies) == 2 * 2 * ITEMS
    for item, reference, number in [("q2", "old", 1), ("q3", "older", 2)]:
        shown = replies[item, number, model, reference]
        assert [order for order, _, _ in shown] == ["ab", "ba"]
        # The quality of the response is 3 for q2 and 1 for q3; that of a reference is 2.
        better = ["A", "B"] if item == "q2" else ["B", "A"]
        assert [words for _, _, words in shown] == better
        assert {judge for _, judge, _ in shown} == {*podium.read_battles(str(log)).judges}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("label", ["", "mine"])
@pytest.mark.parametrize("responses", [1, 2])
def test_battles_against_a_reference_are_rejudged_without_an_option(
    run, tmp_path, label, responses
):
    references = [write_reference(tmp_path, name, responses=responses) for name in ("old", "older")]
    log = run(*references, epochs=2)
    source = f"{label}={log}" if label else str(log)
    model = label or "mockllm/new"
    record = recorded_battles(source, show=Show("auto"))
    assert {(own.item, own.a, own.b) for own in record.pairings} == {
        (f"q{k}", model, name) for k in range(ITEMS) for name in ("old", "older")
    }
    assert record.responses is not None
    for name in ("old", "older"):
        texts = record.responses.texts[name]
        for number in (1, 2):
            shown = reference_text(name, "q3", min(number, responses))
            assert texts[response_key("q3", number)] == shown
    own = record.responses.texts[model]
    assert own[response_key("q3", 2)] == answer_of("q3", 2)
    assert not record.responses.battles_without_answer(record.pairings)
    [played] = eval(
        recorded(battles=[source], attempts=1, replies="text", logprobs="off"),
        model_roles={"judge": "podium/offline"},
        log_dir=str(tmp_path / "again"),
    )
    assert played.status == "success", played.error
    assert len(podium.read_battles(str(place(played)))) == 2 * 2 * ITEMS


@pytest.mark.slow
def test_older_logs_are_rejudged_with_the_responses_of_their_reference(run, tmp_path):
    reference = write_reference(tmp_path, "old")
    log = as_older_version(run(reference))
    given = {"battles": [str(log)], "replies": "text", "logprobs": "off"}
    with pytest.raises(PrerequisiteError, match=r"no responses of old: .*responses=") as error:
        recorded(**given)
    assert "zip" not in str(error.value)
    [played] = eval(
        recorded(**given, responses=[str(log), f"old={reference}"]),
        model_roles={"judge": "podium/offline"},
        log_dir=str(tmp_path / "again"),
    )
    assert len(podium.read_battles(str(place(played)))) == ITEMS


@pytest.mark.slow
def test_other_answers_of_one_reference_are_not_mixed(run, tmp_path):
    first = run(write_reference(tmp_path, "old"))
    other = read_eval_log(str(first))
    other.eval.task_id, other.eval.model = "another run", "mockllm/newest"
    for sample in other.samples or []:
        for score in (sample.scores or {}).values():
            battle = (score.metadata or {})["podium"]
            battle |= {"model_a": "mockllm/newest", "response_b": "another answer"}
    write_eval_log(other, str(first.with_name("other.eval")))
    with pytest.raises(DataError, match="another answer of 'old' to 'q0'"):
        recorded_battles(str(first.parent), show=Show("auto"))


@pytest.mark.slow
def test_runs_that_do_not_count_show_no_words(run, tmp_path):
    log = run(write_reference(tmp_path, "old"))
    newer = read_eval_log(str(log))
    newer.eval.created = "2030-01-01T00:00:00+00:00"
    newer.eval.task_id = "another run"
    for sample in newer.samples or []:
        for score in (sample.scores or {}).values():
            for judgment in (score.metadata or {})["podium"]["judgments"]:
                judgment["words"] = "newer"
    write_eval_log(newer, str(log.with_name("newer.eval")))
    replies = words_in(log.parent)
    assert {words for own in replies.values() for _, _, words in own} == {"newer"}
    assert not words_in(log.parent, runs="all"), "responses of all runs are numbered anew"


@pytest.mark.slow
def test_the_text_of_a_reference_is_no_column_of_battles(run, tmp_path):
    battles = podium.read_battles(str(run(write_reference(tmp_path, "old"))))
    assert "response_b" not in battles.columns


def verdict(model_b: str, text: str | None) -> BattleVerdict:
    """Return a verdict against a reference with its text; None for a transcript."""
    kept: dict[str, Any] = {} if text is None else {"response_b": text}
    row = {"order": "ab", "repeat": 0, "judge": "j", "credit": 1.0}
    return BattleVerdict(
        item="q1", model_a="new", model_b=model_b, judgments=[row], credit=1.0, **kept
    )


def test_texts_and_transcripts_of_references_are_read_from_one_score():
    turns = [
        Turn("assistant", "I look.\nturn 9: no piece", (Call("1", "look", '{"at": "x"}'),)),
        Turn("tool", "two\nlines", call_id="1"),
    ]
    transcript, _ = Show("transcript").build_response(turns, "done\nanswer: twice", 0)
    battle = BattleMetadata(
        item="q1",
        instruction="",
        model_a="new",
        model_b="agent",
        response_a=transcript,
        response_b=transcript,
        transcript=True,
    )
    pack = PackVerdicts.from_verdicts([verdict("old", "plain"), verdict("agent", None)])
    score = Score(value=1.0, metadata={"podium": pack.to_log(), **_fold_transcripts(battle)})
    rows = {row["model_b"]: row for row in reference_texts_in(score)}
    assert rows["old"]["response_b"] == "plain"
    assert rows["agent"]["transcript"] is True
    assert read_pieces(rows["agent"]["response_b"]) == read_pieces(transcript)
    assert not any("response_b" in row for row in verdict_rows_in(score))


def test_pieces_are_written_as_they_are_read():
    pieces = [("turn 1", "a\nb\n> c"), ("call 1.1", ""), ("answer", "x: y\n\nz")]
    assert read_pieces(write_pieces(pieces)) == pieces


def test_verdicts_that_do_not_say_of_which_epoch_they_are_have_a_note(tmp_path, run_podium):
    verdicts = tmp_path / "verdicts.csv"
    rows = [f"q{k},old,older,{k % 2}" for k in range(ITEMS)]
    verdicts.write_text("\n".join(["item,model_a,model_b,credit", *rows]) + "\n")
    responses = []
    for name in ("old", "older"):
        responses += ["--responses", write_reference(tmp_path, name, responses=2)]
    sheet = tmp_path / "sheet.csv"
    code, _, err = run_podium("label", str(verdicts), *responses, "-o", str(sheet))
    assert code == 0, err
    assert "note: Models gave several responses to an item (epochs, repeats). The first one" in err
    assert "number 2" not in sheet.read_text()
