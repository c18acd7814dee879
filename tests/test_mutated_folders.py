"""Folders that the hosts and AlpacaEval write, one of their files damaged: named, or ranked with
what is left out.

`PODIUM_MUTATIONS=100` damages every kind of folder in a hundred ways instead of sixteen.
"""

import json
import os
import random
import shutil

import inspect_ai
import pandas as pd
import pytest
from damaged_bytes import KINDS, damage, read_and_rank
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    write_eval_log,
)
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, match
from inspect_ai.solver import solver
from lm_eval_output import scored, write_run

import podium
from podium.notices.notice_text import notice_texts

MUTATIONS = int(os.environ.get("PODIUM_MUTATIONS", "16"))
MODELS = ("weak", "fair", "good")


def write_lm_eval(folder):
    for k, model in enumerate(MODELS):
        write_run(
            folder, model, {"quiz": scored([float((q * 5 + k) % 3 < k + 1) for q in range(12)])}
        )


def write_alpaca_eval(folder):
    for k, model in enumerate(MODELS):
        rows = [
            {
                "instruction": f"question {q}",
                "generator_1": "baseline",
                "generator_2": model,
                "output_1": "a",
            }
            | {"output_2": "b", "preference": (1, 2, 1.5)[(q * 5 + k) % 3], "annotator": "judge"}
            for q in range(12)
        ]
        (folder / model / "weighted_alpaca_eval_gpt4_turbo").mkdir(parents=True)
        (folder / model / "weighted_alpaca_eval_gpt4_turbo" / "annotations.json").write_text(
            json.dumps(rows)
        )


@solver
def answering():
    """Answer without a model, some right and some wrong."""

    async def solve(state, generate):  # noqa: ARG001
        k = int(state.sample_id[1:])
        right = k * 5 % 3 <= MODELS.index(state.model.name)
        state.output = ModelOutput.from_content(state.model.name, "yes" if right else "no")
        state.completed = True
        return state

    return solve


def write_inspect(folder, kind):
    dataset = [Sample(id=f"q{k}", input=f"Question {k}?", target="yes") for k in range(12)]
    quiz = Task(dataset, solver=answering(), scorer=match(), name="quiz")
    models = [f"mockllm/{name}" for name in MODELS]
    logs = eval(quiz, model=models, log_dir=str(folder), log_format=kind, display="none")
    assert all(log.status == "success" for log in logs), logs[0].error


def write_inspect_of_fields(folder):
    """Write logs whose scores are dictionaries."""
    fields = ("tone", "facts", "form")
    for number, model in enumerate(MODELS):
        samples = []
        for k in range(12):
            value = {name: (k * 5 + number + len(name)) % 3 / 2 for name in fields}
            score = {"graded": Score(value=value)}
            asked = {"id": f"q{k}", "epoch": 1, "input": f"Question {k}?", "target": "t"}
            samples.append(EvalSample(**asked, scores=score))
        spec = EvalSpec(
            created="2026-01-01T00:00:00+00:00",
            task="quiz",
            dataset=EvalDataset(samples=len(samples)),
            model=f"lab/{model}",
            config=EvalConfig(),
            packages={"inspect_ai": inspect_ai.__version__},
        )
        log = EvalLog(eval=spec, status="success", samples=samples)
        write_eval_log(log, str(folder / f"{model}.eval"))


def write_lighteval(folder):
    """Write the details and results of lighteval, as its newer versions do."""
    time_of_run = "2025-11-05T14-43-47.148527"
    for number, model in enumerate(MODELS):
        rows = []
        for k in range(12):
            doc = {"query": f"Question {k}?", "choices": ["7", "8"], "gold_index": 1}
            rows.append({"doc": doc, "metric": {"em": float((k * 5 + number) % 3 < number + 1)}})
        details = folder / "details" / "lab" / model / time_of_run
        details.mkdir(parents=True)
        pd.DataFrame(rows).to_parquet(details / f"details_quiz|0_{time_of_run}.parquet")
        results = folder / "results" / "lab" / model
        results.mkdir(parents=True)
        named = {"model_name": f"lab/{model}"}
        summary = {"config_general": named, "results": {"all": {}}, "versions": {}}
        (results / f"results_{time_of_run}.json").write_text(json.dumps(summary))


WRITERS = {
    "lm-eval": write_lm_eval,
    "alpaca-eval": write_alpaca_eval,
    "inspect .eval": lambda folder: write_inspect(folder, "eval"),
    "inspect .json": lambda folder: write_inspect(folder, "json"),
    "inspect of fields": write_inspect_of_fields,
    "lighteval": write_lighteval,
}


@pytest.fixture(scope="module", params=WRITERS)
def whole(request, tmp_path_factory):
    """Return a folder of one kind, and how many verdicts lie in it."""
    folder = tmp_path_factory.mktemp("whole") / "votes"
    folder.mkdir()
    WRITERS[request.param](folder)
    error, ranked = read_and_rank(str(folder))
    assert error is None
    return folder, ranked[0].counts().judgments


def try_folder(tmp_path, folder, judgments, seed):
    """Damage one file of a copy, and read the copy."""
    rng = random.Random(f"{folder.name} {seed}")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    culprit = rng.choice(sorted(path for path in copy.rglob("*") if path.is_file()))
    content = culprit.read_bytes()
    culprit.write_bytes(damage(content, rng, KINDS[seed % len(KINDS)]))
    before = sorted(copy.rglob("*"))
    error, ranked = read_and_rank(str(copy))
    assert sorted(copy.rglob("*")) == before, "something was written"
    if error is not None:
        named = culprit.name in str(error) or str(copy) in str(error)
        assert named or isinstance(error, podium.NotIdentifiedError), error
        assert len(str(error)) < 2500
    elif ranked[0].counts().judgments < judgments:
        assert ranked[0].counts().missing or any(
            culprit.name in note for note in notice_texts(ranked[0].notes)
        )
    shutil.rmtree(copy)


@pytest.mark.slow
def test_four_damaged_folders_of_each_kind_are_named_or_ranked_whole(tmp_path, whole):
    for seed in range(4):
        try_folder(tmp_path, *whole, seed)


@pytest.mark.slow
def test_many_damaged_folders_of_each_kind_are_named_or_ranked_whole(tmp_path, whole):
    for seed in range(4, MUTATIONS):
        try_folder(tmp_path, *whole, seed)
