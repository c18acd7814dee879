"""Judges that take turns in lm-eval: in a tournament of `--ranker_judge`, and in the judging
filter."""

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from judged_tasks import ITEMS, evaluated, verdicts, write_opponents, write_task
from running import calls, results
from test_ranking_by_judge import FOLDER, KEY, newest_log, two  # noqa: F401

from podium.data.formats.lm_eval_judged import judgment_rows
from podium.data.reading.judgments import read_battles
from podium.errors import UsageError
from podium.hosts.lm_eval.filter import JudgeFilter
from podium.ranking.rank_battles import rank

THREE = ("kind", "harsh", "fair")
MODELS = [f"openai-api/standin/{name}" for name in THREE]


def asked_by_judge(server):
    """Return the number of calls of each of the three judges."""
    return [calls(server, [name]) for name in THREE]


@pytest.mark.slow
def test_a_list_of_ranker_judge_takes_turns_and_is_one_jury(two, server, capfd):  # noqa: F811
    where = f"base_url={server.address}/v1,api_key={KEY}"
    told = (
        "-o",
        "out",
        "--ranker",
        "win-rate",
        "--ranker_judge",
        *MODELS,
        "--ranker_judge_args",
        where,
    )
    assert two(*told, "--ranker_args", "judges=rotate") == 0
    assert asked_by_judge(server) == [8, 8, 8], "twelve battles in both orders, shared by three"
    assert "openai-api/standin/kind: about 8 calls" in capfd.readouterr().err
    [ranking] = results(FOLDER)["podium"]["rankings"]
    assert (ranking["slice"], ranking["counts"]["battles"], ranking["counts"]["items"]) == (
        None,
        12,
        12,
    )
    [again] = rank(read_battles(newest_log()), "win-rate").standings
    assert {own.model: own.score for own in again.entries} == {
        own["model"]: own["score"] for own in ranking["models"]
    }
    assert two(*told, "--ranker_args", "judges=rotate") == 0
    assert asked_by_judge(server) == [8, 8, 8], "no call twice"


@pytest.mark.slow
def test_weights_that_do_not_fit_are_rejected_before_the_run(two, server, capfd):  # noqa: F811
    before = len(server.calls())
    told = ("-o", "out", "--ranker", "win-rate", "--ranker_judge", *MODELS)
    assert two(*told, "--ranker_args", "judges=rotate:2,1") == 2
    assert (
        "judges=rotate:2,1: there are 3 judges; give a weight above 0 for each"
        in capfd.readouterr().err
    )
    assert len(server.calls()) == before


@pytest.mark.slow
def test_the_filter_shares_its_battles_among_the_judges(server, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    how = {
        "judge_args": {"base_url": f"{server.address}/v1"},
        "item": "id",
        "max_retries": 0,
        "judge": MODELS,
    }
    how |= {"against": write_opponents(tmp_path), "judges": "rotate"}
    found = verdicts(evaluated(write_task(tmp_path, how)))
    battles = 2 * ITEMS
    assert sum(asked_by_judge(server)) == 2 * battles
    assert all(abs(own - 2 * battles / 3) <= 2 for own in asked_by_judge(server))
    rows = [row for document in found for row in judgment_rows(document)]
    of_battle: dict[tuple, set[str]] = {}
    for row in rows:
        of_battle.setdefault((row["item"], row["model_a"], row["model_b"]), set()).add(row["judge"])
    assert set(map(len, of_battle.values())) == {1}
    assert len({row["jury"] for row in rows}) == 1
    server.script(faults={})
    overlapped = verdicts(evaluated(write_task(tmp_path, {**how, "overlap": 1})))
    judges = [{row["judge"] for row in judgment_rows(document)} for document in overlapped]
    assert Counter(map(len, judges)) == {3: ITEMS}


def test_the_filter_rejects_turns_of_one_judge(tmp_path: Path):
    with pytest.raises(UsageError, match="one judge cannot take turns"):
        JudgeFilter(against=write_opponents(tmp_path), judge="podium/offline", judges="rotate")


@pytest.mark.slow
def test_a_judge_of_the_filter_that_fails_throughout_leaves_the_others_to_judge(
    server, tmp_path: Path, monkeypatch
):
    """Most battles are the failing judge's: counted as failures in a row, they would end the
    batch."""
    monkeypatch.setattr("podium.hosts.lm_eval.batch.MAX_CONSECUTIVE_FAILURES", 11)
    for name, address in (("STANDIN", f"{server.address}/v1"), ("ABSENT", "http://127.0.0.1:9/v1")):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
        monkeypatch.setenv(f"{name}_BASE_URL", address)
    how = {
        "judge": ["openai-api/absent/judge", *MODELS[:2]],
        "judges": "rotate:14,1,1",
        "orders": "as-given",
    }
    how |= {"item": "id", "max_retries": 0, "concurrency": 1, "against": write_opponents(tmp_path)}
    rows = [
        row
        for document in verdicts(evaluated(write_task(tmp_path, how)))
        for row in judgment_rows(document)
    ]
    judged = Counter((row["judge"].split("|")[0], row["credit"] is not None) for row in rows)
    assert judged == {
        ("openai-api/absent/judge", False): 14,
        (MODELS[0], True): 1,
        (MODELS[1], True): 1,
    }
