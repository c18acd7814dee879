"""Output folders as lm-eval 0.4.8 to 0.5 writes them with --log_samples, small ones."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

TIME = "2026-01-31T10-20-30.123456"
LATER = "2026-02-28T10-20-30.123456"

Row = dict[str, Any]
Run = Callable[..., Path]


def digest(text: str) -> str:
    """Hash as lm-eval does."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sample(
    question: str,
    metrics: Mapping[str, Any],
    *,
    target: Any = "yes",
    filter_: str = "none",
    place: int = 0,
    **more: Any,
) -> Row:
    """Return a row of samples; its document is the question."""
    doc = {"q": question}
    return {
        "doc_id": place,
        "doc": doc,
        "target": str(target),
        "arguments": {"gen_args_0": {"arg_0": question, "arg_1": {"until": ["\n"]}}},
        "resps": [["Yes."]],
        "filtered_resps": ["Yes."],
        "filter": filter_,
        "metrics": list(metrics),
        "doc_hash": digest(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": digest(question),
        "target_hash": digest(str(target)),
        **metrics,
        **more,
    }


def scored(values: Sequence[Any], metric: str = "acc", **more: Any) -> list[Row]:
    """Return a row per value, of the documents q0, q1 and so on."""
    return [sample(f"q{k}", {metric: value}, place=k, **more) for k, value in enumerate(values)]


def mean_figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return what lm-eval reports of metrics that are aggregated by their mean."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name in row["metrics"]:
            if isinstance(row[name], int | float):
                values.setdefault(f"{name},{row['filter']}", []).append(row[name])
    return {name: sum(found) / len(found) for name, found in values.items()}


def write_run(
    folder: Path,
    model: str,
    tasks: Mapping[str, Sequence[Row]],
    *,
    time: str = TIME,
    higher: Mapping[str, bool] | None = None,
    figures: Mapping[str, Mapping[str, float]] | None = None,
    arguments: Mapping[str, Any] | None = None,
    results: bool = True,
    samples: bool = True,
    one_folder: bool = False,
    generation: Mapping[str, Any] | str | None = None,
) -> Path:
    """Write one run as lm-eval does; return its folder."""
    home = folder if one_folder else folder / model.replace("/", "__")
    home.mkdir(parents=True, exist_ok=True)
    for task, rows in tasks.items() if samples else ():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (home / f"samples_{task}_{time}.jsonl").write_text(text, encoding="utf-8")
    if results:
        stem = "scores" if one_folder else "results"
        content = _results(model, tasks, higher, figures, arguments)
        content["config"]["gen_kwargs"] = generation
        (home / f"{stem}_{time}.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
    return home


def _results(
    model: str,
    tasks: Mapping[str, Sequence[Row]],
    higher: Mapping[str, bool] | None,
    figures: Mapping[str, Mapping[str, float]] | None,
    arguments: Mapping[str, Any] | None,
) -> dict[str, Any]:
    metrics = {
        task: sorted({name for row in rows for name in row["metrics"]})
        for task, rows in tasks.items()
    }
    sizes = {
        task: len({(row["doc_id"], row["doc_hash"]) for row in rows})
        for task, rows in tasks.items()
    }
    return {
        "results": {
            task: {"alias": task, **(figures or {}).get(task, mean_figures(rows))}
            for task, rows in tasks.items()
        },
        "group_subtasks": {},
        "configs": {task: {"task": task} for task in tasks},
        "versions": dict.fromkeys(tasks, 1.0),
        "higher_is_better": {
            task: {name: (higher or {}).get(name, True) for name in metrics[task]} for task in tasks
        },
        "n-samples": {task: {"original": size, "effective": size} for task, size in sizes.items()},
        "config": {
            "model": "hf",
            "model_args": {"pretrained": model} if arguments is None else dict(arguments),
        },
        "model_source": "hf",
        "model_name": model,
    }
