"""Two Inspect logs, compared: by the scores of an ordinary eval, paired on items."""

import json
from shutil import copyfile

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import solver
from played_logs import place
from scipy.stats import binomtest

ITEMS = 40
RIGHT = {"old": 5, "new": 9}
"""Of twelve items, how many a model answers rightly."""


@solver
def answering():
    async def solve(state, generate):
        k, name = int(state.sample_id[1:]), str(state.model).rpartition("/")[2]
        state.output = ModelOutput.from_content(name, "yes" if (k * 5) % 12 < RIGHT[name] else "no")
        state.completed = True
        return state

    return solve


@pytest.fixture
def logs(behave):
    """Return the logs of two models on the same items."""
    behave()
    dataset = [Sample(id=f"q{k}", input=f"quiz {k}?", target="yes") for k in range(ITEMS)]
    task = Task(dataset, solver=answering(), scorer=match(), name="quiz")
    return {
        name: place(eval(task, model=get_model(f"scripted/{name}"), log_dir="logs")[0])
        for name in RIGHT
    }


@pytest.mark.slow
def test_two_logs_are_compared_on_the_items_of_both(logs, run_podium):
    """Oracle: scipy's binomial test on the items that one alone has right; the same answer is no
    difference."""
    code, out, err = run_podium(
        "compare", f"new={logs['new']}", f"old={logs['old']}", "--format", "json"
    )
    assert code == 0, err
    document = json.loads(out)
    assert document["answer"][0].startswith("new is clearly ahead of old by 32.5 points")
    [found] = document["comparisons"]
    right = {name: [(k * 5) % 12 < most for k in range(ITEMS)] for name, most in RIGHT.items()}
    won = sum(new and not old for new, old in zip(right["new"], right["old"], strict=True))
    assert (found["wins"], found["losses"], found["identical"]) == (won, 0, ITEMS - won)
    assert found["difference"] == pytest.approx(won / ITEMS)
    assert found["p"] == pytest.approx(binomtest(won, won).pvalue)


@pytest.mark.slow
def test_logs_without_labels_are_called_by_their_models(logs, run_podium):
    code, out, err = run_podium("compare", str(logs["new"]), str(logs["old"]), "--format", "json")
    assert code == 0, err
    assert json.loads(out)["answer"][0].startswith(
        "scripted/new is clearly ahead of scripted/old by 32.5 points"
    )
    code, out, err = run_podium("compare", f"candidate={logs['new']}", str(logs["old"]))
    assert (code, out.split(" by ")[0]) == (0, "candidate is clearly ahead of scripted/old"), err


@pytest.mark.slow
def test_two_logs_of_one_model_are_called_by_their_files(logs, run_podium, tmp_path):
    for name in ("before", "after"):
        copyfile(logs["new"], tmp_path / f"{name}.eval")
    code, out, err = run_podium(
        "compare", str(tmp_path / "after.eval"), str(tmp_path / "before.eval")
    )
    assert (code, out.split(" (")[0]) == (
        0,
        "after and before are too close to call, with no difference measured",
    ), err
