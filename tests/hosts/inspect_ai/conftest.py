"""A scripted judge, entrants of known quality, and a place of its own for every test."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

import pandas as pd
import scripted_judge
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog, read_eval_log
from scripted_judge import Behaviour, Record, preferred

import podium
from podium.ranking import Ranking

Play = Callable[..., EvalLog]
ENTRANTS = {"ash": 1.2, "elm": 1.9, "fir": 0.7, "oak": 2.4}
ITEMS = 6
FOREIGN = ("PODIUM_RANKER", "INSPECT_EVAL_METADATA", "INSPECT_LOG_FORMAT", "INSPECT_EVAL_MODEL")


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test a folder, a cache and a log directory of its own."""
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def record() -> Iterator[Record]:
    """Return what is asked of the judges, empty at first."""
    scripted_judge.RECORD = Record()
    yield scripted_judge.RECORD


@pytest.fixture
def behave(record: Record) -> Callable[..., str]:
    """Return a way to say how a judge behaves; it gives the judge's full name."""

    def tell(name: str = "judge", **manner: Any) -> str:
        record.behaviours[name] = Behaviour(**manner)
        return f"scripted/{name}"

    return tell


def quality(entrant: str, item: int, entrants: Mapping[str, float] = ENTRANTS) -> float:
    """Return how good a response is: entrants differ, and do so from item to item."""
    wave = ((item * 7 + sum(map(ord, entrant))) % 11 - 5) / 5
    return round(max(0.0, entrants[entrant] + wave), 3)


@pytest.fixture
def write_responses(tmp_path: Path) -> Callable[..., list[str]]:
    """Return a writer of one file per entrant."""

    def write(
        entrants: Mapping[str, float] = ENTRANTS,
        items: int = ITEMS,
        texts: Mapping[tuple[str, int], str] | None = None,
        **columns: Any,
    ) -> list[str]:
        paths = []
        for name in entrants:
            rows = [
                {
                    "id": f"q{k}",
                    "instruction": f"Question {k}?",
                    "response": (texts or {}).get((name, k), f"answer {k} quality={quality(name, k, entrants)}"),
                    **{column: value(k) if callable(value) else value for column, value in columns.items()},
                }
                for k in range(items)
            ]
            path = tmp_path / f"{name}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            paths.append(str(path))
        return paths

    return write


@pytest.fixture
def play(record: Record) -> Play:
    """Return a way to play a task; it gives the log as it stands on disk."""

    def run(task: Task, judge: str | Sequence[Any] = "scripted/judge", **options: Any) -> EvalLog:
        [log] = eval(task, model_roles={"judge": judge}, **options)
        return read_eval_log(log.location)

    return run


def place(log: EvalLog) -> Path:
    """Return where a log lies."""
    return Path(log.location.removeprefix("file://"))


def battles(log: EvalLog) -> list[Any]:
    """Return the samples that are battles."""
    return [one for one in log.samples or [] if "model_a" in one.metadata]


def verdict_of(sample: Any) -> Any:
    """Return podium's score of a battle."""
    return sample.scores["verdict"]


def by_hand(pairings: Sequence[tuple[str, str, str]], bias: float = 0.3, soft: bool = True) -> pd.DataFrame:
    """Return the verdicts of the scripted judge, in both orders, worked out without podium's host."""
    rows = []
    for item, a, b in pairings:
        k = int(item[1:])
        ab = preferred(quality(a, k), quality(b, k), bias)
        ba = 1 - preferred(quality(b, k), quality(a, k), bias)
        for order, credit in (("ab", ab), ("ba", ba)):
            rows.append(
                {
                    "item": item,
                    "model_a": a,
                    "model_b": b,
                    "order": order,
                    "credit": credit if soft else float(credit > 0.5),
                }
            )
    return pd.DataFrame(rows)


def figures(ranking: Ranking | Mapping[str, Any]) -> dict[tuple[str, Any, str], dict[str, Any]]:
    """Return the rows of a ranking by ranker, slice and entrant."""
    told = ranking if isinstance(ranking, Mapping) else ranking.to_dict()
    return {(one["ranker"], one["slice"], row["model"]): row for one in told["rankings"] for row in one["models"]}


def assert_same_figures(found: Any, expected: Any) -> None:
    """Compare all figures of two rankings, but for the last digits."""
    found, expected = figures(found), figures(expected)
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        assert found[key].keys() == row.keys()
        for name, value in row.items():
            assert found[key][name] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value), name


def ranked(table: Any, rankers: Any = "bradley-terry", **options: Any) -> Ranking:
    """Rank a table of verdicts."""
    return podium.rank(podium.read_battles(table), rankers, **options)
