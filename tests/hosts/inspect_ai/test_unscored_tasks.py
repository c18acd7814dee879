"""Logs of tasks without a scorer: alone, beside scored tasks, and beside scored runs."""

import re
from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import solver

import podium
from podium.errors import DataError
from podium.hosts.inspect_ai.logs.unscored_tasks import no_scorer_problem
from podium.hosts.reference_pin import pin_of_model, pin_place, write_pin
from podium.notices.notice import Notice, note_of_error, split_remedies
from podium.notices.notice_text import notice_texts

COMMAND = "inspect eval podium/round_robin -T responses='logs/*_advice_*.eval'"


@solver
def answering():
    """Answer right on some items, on more of them the better the model."""

    async def solve(state, generate):
        right = int(state.sample_id[1:]) < (4 if "good" in str(state.model) else 2)
        state.output = ModelOutput.from_content("any", "yes" if right else "no")
        state.completed = True
        return state

    return solve


def run(name, *names, scorer=None):
    dataset = [Sample(id=f"q{k}", input=f"{name} {k}?", target="yes") for k in range(6)]
    task = Task(dataset, solver=answering(), scorer=scorer, name=name)
    models = [get_model(f"scripted/{own}") for own in names or ("good", "weak")]
    return eval(task, model=models, log_dir="logs")


@pytest.fixture(autouse=True)
def scripted(behave):
    """Register the scripted models."""
    behave()


@pytest.mark.slow
def test_a_task_without_a_scorer_beside_a_scored_one_is_no_failure(run_podium):
    for _ in range(2):
        run("advice")
    run("sums", scorer=match())
    for command in (("rank", "logs"), ("compare", "good", "weak", "logs"), ("diagnose", "logs")):
        code, out, err = run_podium(*command)
        assert (code, "good" in out or command[0] == "diagnose") == (0, True)
        assert "note: 1 task without a scorer is left out: advice (4 logs)" in err
        assert COMMAND in err
        assert "Remedy" not in err
        assert not re.search("advice: the newest counts", err)
    battles = podium.read_battles("logs")
    assert (battles.lost, set(battles.models)) == ((), {"scripted/good", "scripted/weak"})


def test_logs_of_a_task_without_a_scorer_alone_are_an_error_with_one_remedy(run_podium):
    [log, _] = run("advice")
    code, _, err = run_podium("rank", "logs")
    assert err.startswith("podium: nothing to rank in 2 logs: the task advice has no scorer. ")
    assert f"Remedy: let a judge compare the responses: `{COMMAND}" in err
    assert (code, err.count("Remedy")) == (1, 1)
    code, _, err = run_podium("rank", str(Path("logs", Path(log.location).name)))
    assert (code, "the task advice has no scorer" in err, err.count("Remedy")) == (1, True, 1)
    assert COMMAND in err


@pytest.mark.slow
def test_a_log_that_lacks_the_scores_of_its_task_is_lost(run_podium):
    run("sums", "good", "weak", scorer=match())
    run("sums", "fair")
    code, _, err = run_podium("rank", "logs")
    assert (code, "other logs of the task have scores" in err) == (3, True)


def test_failed_logs_beside_a_task_without_a_scorer_share_one_message():
    run("advice")
    for number in range(2):
        Path("logs", f"broken{number}.eval").write_bytes(b"PK")
    with pytest.raises(DataError, match="advice has no scorer") as caught:
        podium.read_battles("logs")
    assert str(caught.value).count("Remedy") == 1


def test_remedies_are_split_from_notices():
    errors = [DataError(f"a. Remedy: {k}", remedy="mend it", source="f") for k in range(2)]
    notices = [*map(note_of_error, errors), Notice("judge-stopped", {"path": "p", "why": "w"})]
    assert notice_texts(notices)[0] == "left out: f: a. Remedy: 0. Remedy: mend it"
    bare, remedies = split_remedies(notices)
    assert [note.fields["why"] for note in bare] == ["f: a. Remedy: 0", "f: a. Remedy: 1", "w"]
    assert notice_texts(bare)[0] == "left out: f: a. Remedy: 0"
    assert remedies == ["mend it"]


@pytest.mark.slow
@pytest.mark.parametrize("order", [("advice", "sums"), ("sums", "advice")])
def test_reruns_of_a_scored_task_are_told_beside_those_of_one_without_a_scorer(order):
    for name in order * 2:
        run(name, scorer=match() if name == "sums" else None)
    notes = podium.read_battles("logs").notes
    repeated = [note for note in notes if note.code.startswith("runs-repeated")]
    assert {note.code for note in repeated} == {"runs-repeated"}
    assert sorted((note.fields["who"], note.fields["what"]) for note in repeated) == [
        ("scripted/good", "sums"),
        ("scripted/weak", "sums"),
    ]


def test_the_pin_of_a_folder_is_not_called_a_file_without_verdicts():
    run("sums", scorer=match())
    write_pin(pin_place("logs"), pin_of_model("scripted/good"))
    assert not [text for text in notice_texts(podium.read_battles("logs").notes) if "pin" in text]


def test_several_tasks_without_a_scorer_are_named_in_one_statement():
    assert no_scorer_problem(["advice"]) == "the task advice has no scorer"
    assert no_scorer_problem(["advice", "tips"]) == "the tasks advice and tips have no scorer"
