"""The file with a ranking beside Inspect's logs: no `*.json` over logs finds it, and podium reads
it, also under its older name."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from made_logs import RIGHT, write_quiz

from podium.hosts.inspect_ai.hook import rank_logs

pytestmark = pytest.mark.slow


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the ranking beside the logs of three models, which are in the folder `logs`."""
    monkeypatch.setenv("PODIUM_RANKER", "mean")
    (tmp_path / "logs").mkdir()
    logs = [write_quiz(tmp_path / "logs", model, right) for model, right in RIGHT.items()]
    rank_logs(read_eval_log(str(path), header_only=True) for path in logs)
    [ranking] = (tmp_path / "logs").glob("podium-*")
    return ranking


def test_no_pattern_over_logs_finds_a_ranking(beside: Path) -> None:
    logs = beside.parent
    assert [*logs.rglob("*.json"), *logs.rglob("*.jsonl")] == []
    assert [*logs.glob("*.eval")] != []
    assert beside.name not in {Path(log.name).name for log in list_eval_logs(str(logs))}


@pytest.mark.parametrize("ending", [".ranking", ".ranking.json"])
def test_a_ranking_is_read_and_is_no_log(
    beside: Path, ending: str, run_podium: Any, tmp_path: Path
) -> None:
    named = beside.rename(beside.with_name(beside.name.removesuffix(".ranking") + ending))
    page = tmp_path / "page.html"
    for source in ([str(named.parent)], [*map(str, named.parent.iterdir())]):
        code, out, err = run_podium("rank", *source, "--ranker", "mean")
        assert (code, named.name in err) == (0, False), err
        assert all(model in out for model in RIGHT)
    assert run_podium("report", str(named), "-o", str(page))[0] == 0
    assert run_podium("leaderboard", str(named.parent), "-o", str(tmp_path / "site"))[0] == 0
    assert run_podium("export", str(named), "--to", "every-eval-ever", "-o", str(tmp_path / "e"))[
        0
    ] in (0, 3)


def test_a_new_ranking_replaces_one_under_the_older_name(beside: Path) -> None:
    older = beside.rename(beside.with_name(f"{beside.name}.json"))
    logs = sorted(beside.parent.glob("*.eval"))
    rank_logs(read_eval_log(str(path), header_only=True) for path in logs)
    assert beside.exists()
    assert not older.exists()
