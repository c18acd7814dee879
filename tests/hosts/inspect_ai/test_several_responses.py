"""Evals with epochs as models: epoch k meets epoch k, an item is one cluster, and no judgment is a
repeat."""

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import solver
from played_logs import battles as battles_in
from played_logs import place

import podium
from podium.diagnosis.card import diagnose
from podium.diagnosis.figures import Missing
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.tasks import anchor, round_robin
from podium.notices.notice_text import notice_texts
from podium.responses.read import read_responses

QUALITY = {"ash": 1, "elm": 2, "oak": 3}


@solver
def answering(alike=False, fails=()):
    """Answer each epoch in other words, or alike; fail where (model, epoch) is named."""

    async def solve(state, generate):
        name = str(state.model).rpartition("/")[2]
        if (name, state.epoch) in fails:
            raise RuntimeError("out of memory")
        words = "always" if alike else f"in epoch {state.epoch}"
        state.output = ModelOutput.from_content(
            name, f"{state.sample_id} {words} quality={QUALITY[name]}"
        )
        state.completed = True
        return state

    return solve


def logs_of(*names, epochs=3, items=2, **how):
    dataset = [Sample(id=f"q{k}", input=f"Question {k}?", target="yes") for k in range(items)]
    task = Task(dataset, solver=answering(**how), scorer=match(), name="quiz", fail_on_error=False)
    models = [get_model(f"scripted/{name}") for name in names or QUALITY]
    return [str(place(log)) for log in eval(task, model=models, epochs=epochs, log_dir="evals")]


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_each_epoch_is_compared_with_the_same_epoch_and_is_no_retest(
    play, record, run_podium, pack
):
    log = play(round_robin(responses=logs_of(), pack=pack), log_dir="logs")
    assert record.calls == 2 * 3 * 3 * 2
    whole = podium.read_battles(str(place(log)))
    assert (len(whole), whole.missing, whole.counts().items) == (18, 0, 2)
    assert sorted(whole.table["response"].unique()) == [1, 2, 3]
    assert whole.swaps().readable == 18
    [card] = diagnose(podium.read_battles(str(place(log)), merge=False), whole).cards
    assert isinstance(card.answers["consistency"].retest, Missing)
    shown = log.results.metadata["podium"]["rankings"][0]
    assert (shown["counts"]["items"], shown["counts"]["battles"]) == (2, 18)
    code, _, err = run_podium("convert", str(place(log)), "-o", "battles.csv")
    assert code == 0, err
    again = podium.read_battles("battles.csv")
    assert (len(again), sorted(again.table["response"].unique())) == (18, [1, 2, 3])


@pytest.mark.slow
def test_alike_responses_are_judged_each_and_a_response_that_failed_is_missing(play, record):
    logs = logs_of("ash", "elm", epochs=2, items=1, alike=True)
    play(round_robin(responses=logs), log_dir="logs")
    assert record.calls == 4
    lost = logs_of("ash", "oak", epochs=2, items=2, fails=[("oak", 2)])
    log = play(round_robin(responses=lost), log_dir="more")
    assert log.eval.metadata["podium_missing"] == {"scripted/oak": {"errored": 2}}
    whole = podium.read_battles(str(place(log)))
    assert (len(whole), whole.missing) == (2, 2)


@pytest.mark.slow
def test_a_rule_in_rounds_and_a_judge_of_single_responses_take_all_epochs(play, record, behave):
    logs = logs_of(epochs=2)
    log = play(anchor(responses=logs, anchor="auto", pilot=1, items=2), log_dir="logs")
    battles = battles_in(log)
    assert len(battles) == (3 + 2) * 2
    assert all(sample.metadata["response"] in (1, 2) for sample in battles)
    asked = record.calls
    behave(form="numeric")
    play(round_robin(responses=logs, realization="numeric"), log_dir="more")
    # Each response once, however many battles it is in.
    assert record.calls - asked == 2 * 2 * 3


def test_responses_of_all_epochs_are_read_and_the_item_is_one():
    logs = logs_of("ash", "elm", epochs=2, items=1)
    read = read_responses(*logs, readers=(READER,))
    assert list(read.texts["scripted/ash"].values()) == [
        "q0 in epoch 1 quality=1",
        "q0 in epoch 2 quality=1",
    ]
    assert [item.responses for item in read.items] == [2]
    assert read.field().items == ("q0",)
    assert "1 item has up to 2 responses of a model" in notice_texts(read.notes)[0]


@pytest.mark.slow
def test_epochs_of_an_ordinary_eval_are_responses_and_no_retest(run_podium):
    logs_of("ash", "elm", epochs=2, items=3)
    battles = podium.read_battles("evals")
    assert sorted(battles.table["response"].unique()) == [1, 2]
    assert (len(battles), battles.counts().items) == (6, 3)
