"""Time to read 100,000 judgments of each format of others, beside a table of podium's own.

`python benchmarks/readers.py` prints the CPU seconds of each, and their ratio, in one run. All
files have as many judgments of battles, or as many scores. `--only NAME,NAME` reads some of them.
"""

import argparse
import json
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from tables import timed_in_turn

import podium

Record = dict[str, Any]
MODELS = tuple(f"model-{k}" for k in range(20))
CREDITS = (1.0, 0.5, 0.0)
WINNERS = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}


def battle(k: int) -> tuple[str, str, str, float]:
    """Return the item, both models, and the credit of the k-th battle."""
    first = k % len(MODELS)
    second = (first + 1 + k // len(MODELS) % (len(MODELS) - 1)) % len(MODELS)
    return f"item-{k // 190}", MODELS[first], MODELS[second], CREDITS[k % 3]


def own_row(k: int) -> Record:
    """Return a row of podium's own table."""
    item, a, b, credit = battle(k)
    return {"item": item, "model_a": a, "model_b": b, "credit": credit, "judge": "g"}


def wildbench_row(k: int) -> Record:
    """Return a row of WildBench's pairwise files."""
    item, a, b, credit = battle(k)
    choice = {1.0: "A+", 0.5: "A=B", 0.0: "B++"}[credit]
    models = {"generator": a, "ref_generator": b, "assignment": {"A": a, "B": b}}
    return {"session_id": item, **models, "parsed_result": {"choice": choice}}


def comparia_row(k: int) -> Record:
    """Return a vote of compar:IA."""
    item, a, b, credit = battle(k)
    chosen = {1.0: a, 0.5: None, 0.0: b}[credit]
    vote = {"chosen_model_name": chosen, "both_equal": credit == 0.5}
    return {"conversation_pair_id": item, "model_a_name": a, "model_b_name": b, **vote}


def counts_row(k: int) -> Record:
    """Return the counts of one battle."""
    _, a, b, credit = battle(k)
    counts = {"wins_a": credit == 1, "wins_b": credit == 0, "ties": credit == 0.5}
    return {"model_a": a, "model_b": b, **{name: int(n) for name, n in counts.items()}}


def human_row(k: int) -> Record:
    """Return a row of MT-bench's human judgments."""
    item, a, b, credit = battle(k)
    winner = {**WINNERS, 0.5: "tie (inconsistent)"}[credit]
    return {"question_id": item, "model_a": a, "model_b": b, "winner": winner, "judge": "g"}


def pair_row(k: int) -> Record:
    """Return a row of MT-bench's judgments by GPT-4, which has two judgments of a battle."""
    item, a, b, credit = battle(k)
    winner = {1.0: "model_1", 0.5: "tie", 0.0: "model_2"}[credit]
    judged = {"g1_winner": winner, "g2_winner": winner, "judge": ["gpt-4", "pair-v2"], "turn": 1}
    return {"question_id": f"{item}-{k}", "model_1": a, "model_2": b, **judged}


def arena_row(k: int) -> Record:
    """Return a battle of Arena with both conversations."""
    item, a, b, credit = battle(k)
    conversations = {}
    for side in "ab":
        asked = {"role": "user", "content": f"question {item}"}
        answered = {"role": "assistant", "content": f"answer {k} {side}"}
        conversations[f"conversation_{side}"] = [asked, answered]
    row = {"question_id": item, "model_a": a, "model_b": b, "winner": WINNERS[credit]}
    return {**row, "judge": f"arena_user_{k % 500}", **conversations}


def scored(k: int, rows: int) -> tuple[int, int, float]:
    """Return model, item and score of the k-th of all scores of two models."""
    item = k % (rows // 2)
    return k // (rows // 2), item, float((item * 7 + k) % 3 == 0)


def promptfoo_row(k: int, rows: int) -> Record:
    """Return a result of promptfoo."""
    model, item, score = scored(k, rows)
    grading = {"failureReason": 0, "gradingResult": {"pass": True, "score": score}}
    about = {"provider": {"id": MODELS[model]}, "vars": {"riddle": f"riddle {item}"}}
    return {"promptIdx": 0, "testIdx": item, **about, "score": score, **grading}


LINES: dict[str, Callable[[int], Record]] = {
    "podium": own_row,
    "wildbench": wildbench_row,
    "compar:IA": comparia_row,
    "counts": counts_row,
    "MT-bench": human_row,
    "MT-bench GPT-4": pair_row,
    "arena": arena_row,
}


JUDGMENTS_PER_ROW = {"MT-bench GPT-4": 2}
"""Number of judgments in each row of a reader, if it is not one. All files have as many."""


def write_lines(path: Path, rows: Iterable[Record]) -> Path:
    """Write records as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_split(path: Path, rows: int) -> Path:
    """Write podium's own table as pandas does with `orient="split"`."""
    pd.DataFrame([own_row(k) for k in range(rows)]).to_json(path, orient="split")
    return path


def write_index(path: Path, rows: int) -> Path:
    """Write podium's own table as pandas does with `orient="index"`."""
    pd.DataFrame([own_row(k) for k in range(rows)]).to_json(path, orient="index")
    return path


def write_scores(path: Path, rows: int) -> Path:
    """Write podium's own table of the scores of two models."""
    own = []
    for k in range(rows):
        model, item, score = scored(k, rows)
        own.append({"item": f"item-{item}", "model": MODELS[model], "score": score})
    return write_lines(path, own)


def write_promptfoo(path: Path, rows: int) -> Path:
    """Write the document of promptfoo."""
    results = [promptfoo_row(k, rows) for k in range(rows)]
    document = {"evalId": "e", "results": {"version": 3, "results": results}, "config": {}}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_lighteval(folder: Path, rows: int) -> Path:
    """Write the details of lighteval, a file per model."""
    time_of_run = "2025-11-05T14-43-47.148527"
    for number in range(2):
        details = folder / "details" / "lab" / MODELS[number] / time_of_run
        details.mkdir(parents=True)
        rows_of_model = []
        for k in range(number * (rows // 2), (number + 1) * (rows // 2)):
            _, item, score = scored(k, rows)
            doc = {"query": f"Question {item}?", "choices": ["7", "8"], "gold_index": 1}
            rows_of_model.append({"doc": doc, "metric": {"em": score}})
        file = details / f"details_quiz|0_{time_of_run}.parquet"
        pd.DataFrame(rows_of_model).to_parquet(file)
        results = folder / "results" / "lab" / MODELS[number]
        results.mkdir(parents=True)
        named = {"model_name": f"lab/{MODELS[number]}"}
        summary = {"config_general": named, "results": {"all": {}}, "versions": {}}
        (results / f"results_{time_of_run}.json").write_text(json.dumps(summary))
    return folder


def write_inspect(folder: Path, rows: int) -> Path:
    """Write logs of Inspect whose scores are dictionaries of five fields."""
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalSample,
        EvalSpec,
        write_eval_log,
    )
    from inspect_ai.scorer import Score

    fields = 5
    for number in range(2):
        samples = []
        for item in range(rows // 2 // fields):
            value = {f"f{k}": (item * 7 + k + number) % 3 / 2 for k in range(fields)}
            sample = Sample(id=item, input=f"question {item}", target="t")
            samples.append(
                EvalSample(
                    id=item,
                    epoch=1,
                    input=sample.input,
                    target="t",
                    scores={"graded": Score(value=value)},
                )
            )
        spec = EvalSpec(
            created="2026-01-01T00:00:00+00:00",
            task="quiz",
            dataset=EvalDataset(samples=len(samples)),
            model=f"lab/{MODELS[number]}",
            config=EvalConfig(),
            packages={"inspect_ai": inspect_ai.__version__},
        )
        log = EvalLog(eval=spec, status="success", samples=samples)
        write_eval_log(log, str(folder / f"{number}.eval"))
    return folder


FILES: dict[str, tuple[str, Callable[[Path, int], Path]]] = {
    "orient=split": ("split.json", write_split),
    "orient=index": ("index.json", write_index),
    "podium scores": ("scores.jsonl", write_scores),
    "promptfoo": ("promptfoo.json", write_promptfoo),
    "lighteval": ("lighteval", write_lighteval),
    "inspect": ("logs", write_inspect),
}
"""Name of the file or folder, and its writer, by reader."""
ZIP_AND_JSON = "zip and JSON"
"""Name of the time to unpack and parse the samples of the logs, which `inspect` need not do."""
OF_SCORES = ("promptfoo", "lighteval", "inspect", ZIP_AND_JSON)
"""Readers of scores. Their times are compared with that of podium's own table of scores."""
METRICS = {"inspect": "all"}
"""Metrics that are read, if they are not those of the host."""


def write_all(folder: Path, rows: int, names: Iterable[str]) -> dict[str, Path]:
    """Write the file of each reader, and return the paths by reader."""
    places = {}
    for name in names:
        if name in LINES:
            row = LINES[name]
            path = folder / f"{name.replace(':', '').replace(' ', '-')}.jsonl"
            number = rows // JUDGMENTS_PER_ROW.get(name, 1)
            places[name] = write_lines(path, (row(k) for k in range(number)))
            continue
        file, write = FILES[name]
        (folder / file).parent.mkdir(exist_ok=True)
        if "." not in file:
            (folder / file).mkdir()
        places[name] = write(folder / file, rows)
    return places


def parse_samples(folder: Path) -> None:
    """Unpack and parse each sample of logs, without using it."""
    for path in sorted(folder.glob("*.eval")):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.startswith("samples/"):
                    json.loads(archive.read(name))


def main() -> None:
    """Write a file of each format, read them in turn, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="names of readers, separated by commas")
    options = parser.parse_args()
    chosen = {*options.only.split(","), "podium", "podium scores"}
    names = [name for name in (*LINES, *FILES) if not options.only or name in chosen]
    print(f"{options.rows:,} rows; median CPU seconds (best), and the ratio to podium's own table")
    with tempfile.TemporaryDirectory() as folder:
        works = {}
        for name, path in write_all(Path(folder), options.rows, names).items():
            metric = METRICS.get(name, ())
            works[name] = lambda path=path, metric=metric: podium.read_battles(
                str(path), metric=metric
            )
            if name == "inspect":
                works[ZIP_AND_JSON] = lambda path=path: parse_samples(path)
        timings = timed_in_turn(works, repeats=options.repeats, budget=60, clock=time.process_time)
    for name, timing in timings.items():
        own = timings["podium scores" if name in OF_SCORES else "podium"]
        print(f"{name:14}  {timing!s:20}  {timing.median / own.median:.2f}")


if __name__ == "__main__":
    main()
