"""Logs of an ordinary eval, made without running one."""

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    HeadlineMetric,
    write_eval_log,
)
from inspect_ai.scorer import Score

RIGHT = {"lab/weak": 4, "lab/fair": 7, "lab/good": 10}
"""Right answers of twelve, by model."""
ITEMS = 12


def write_quiz(
    folder: Path, model: str, right: int, *, task: str = "quiz", scorers: Sequence[str] = ("match",)
) -> Path:
    """Write the log of a model that answers some of the items right, with a score per scorer and
    two metrics each."""
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task=task,
        dataset=EvalDataset(),
        model=model,
        config=EvalConfig(),
        task_id=f"{task}-{model}",
    )
    samples = [
        EvalSample(
            id=f"q{k}",
            epoch=1,
            input=f"Question {k}?",
            target="yes",
            scores={name: Score(value="C" if (k * 5) % ITEMS < right else "I") for name in scorers},
        )
        for k in range(ITEMS)
    ]
    accuracy = EvalMetric(name="accuracy", value=right / ITEMS)
    metrics = {"accuracy": accuracy, "stderr": EvalMetric(name="stderr", value=0.1)}
    scores = [EvalScore(name=name, scorer=name, metrics=metrics) for name in scorers]
    results = EvalResults(
        total_samples=ITEMS,
        completed_samples=ITEMS,
        scores=scores,
        headline=HeadlineMetric(scorer=scorers[-1], score=scorers[-1], metric="accuracy"),
        metadata={"own": "figure"},
    )
    log = EvalLog(status="success", eval=spec, results=results, samples=samples, stats=EvalStats())
    path = folder / f"2026-01-01T00-00-00_{task}_{model.rpartition('/')[2]}.eval"
    write_eval_log(log, str(path))
    return path
