"""Logs of evals that are written without running one; Inspect itself reduces their scores and
computes metrics."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    ProvenanceData,
    invalidate_samples,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.scorer import Score, mean, scorer


@scorer(metrics=[mean()])
def exact():
    """Return a scorer that is never asked: its scores are written."""

    async def score(state, target):
        raise NotImplementedError

    return score


def build_log(
    model: str,
    scores: Mapping[str, Sequence[object]],
    *,
    reducer: str | Sequence[str] | None = None,
    task: str = "quiz",
    status: str = "success",
) -> EvalLog:
    """Return a log whose samples have these values by item, one per epoch."""
    samples = [
        EvalSample(
            id=item,
            epoch=epoch,
            input=f"Question {item}?",
            target="yes",
            messages=[ChatMessageUser(content=f"Question {item}?")],
            output=ModelOutput.from_content(model, f"{model} on {item}, epoch {epoch}"),
            scores={"exact": Score(value=value)},
            uuid=f"{model}-{item}-{epoch}",
        )
        for item, values in scores.items()
        for epoch, value in enumerate(values, 1)
    ]
    reducers = [reducer] if isinstance(reducer, str) else reducer
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task=task,
        task_id=f"{task}-{model}",
        dataset=EvalDataset(),
        model=f"made/{model}",
        config=EvalConfig(epochs=max(map(len, scores.values())), epochs_reducer=reducers),
        scorers=[{"name": "exact", "metrics": [{"name": "mean"}]}],
    )
    log = EvalLog(status=status, eval=spec, samples=samples)
    recompute_metrics(log)
    if status != "success":
        log.results = log.reductions = None
    return log


def invalidate(log: EvalLog, *samples: str, reason: str | None = "the tool broke") -> EvalLog:
    """Return a log of which samples, as ITEM-EPOCH, are invalidated."""
    model = log.eval.model.removeprefix("made/")
    return invalidate_samples(
        log, [f"{model}-{one}" for one in samples], ProvenanceData(author="me", reason=reason)
    )


def write(log: EvalLog, folder: str = "evals", suffix: str = ".eval") -> str:
    """Write a log into a folder and return the folder."""
    path = (
        Path(folder)
        / f"2026-01-01T00-00-00-00-00_{log.eval.task}_{log.eval.model.rpartition('/')[2]}{suffix}"
    )
    path.parent.mkdir(exist_ok=True)
    write_eval_log(log, str(path))
    return folder
