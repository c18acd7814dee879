"""lm-eval 0.5's scorer gives the filter's numbers; only where that version is installed."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

# The folder of these tests is called lm_eval, too.
pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval.scorers", reason="needs lm-eval 0.5")

from judged_tasks import ITEMS, evaluated, quality, write_opponents, write_task
from stand_in import StandIn, preference

from podium.errors import UsageError
from podium.formats.lm_eval_judged import judge_names, judgment_rows, parse_verdicts
from podium.hosts.lm_eval.scorer import JudgeScorer
from podium.reading.judgments import read_battles
from podium.verbs.rank_battles import rank

SCORER = """\
scorer:
  type: !function podium.hosts.lm_eval.scorer.NAME
  kwargs:
"""


def write_scored(folder: Path, asked: dict[str, Any]) -> Path:
    """Write the task with the scorer in place of the filter."""
    tasks = write_task(folder, {})
    text = (tasks / "judged.yaml").read_text().partition("filter_list:")[0]
    asked = {**asked, "rankers": {"win_rate": {}, "bradley_terry": {}}}
    text += SCORER + "".join(f"    {name}: {json.dumps(value)}\n" for name, value in asked.items())
    (tasks / "judged.yaml").write_text(text)
    return tasks


def test_the_scorer_judges_all_at_once_and_reports_what_podiums_rankers_say(
    server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Closed form of the win rate: the stand-in's own probabilities. Oracle of the rest: `podium.rank`."""
    monkeypatch.setenv("STANDIN_API_KEY", "none")
    asked = {
        "judge": "openai-api/standin/judge",
        "judge_args": {"base_url": f"{server.address}/v1"},
        "against": write_opponents(tmp_path),
        "item": "id",
    }
    found = evaluated(write_scored(tmp_path, asked))
    told = found["results"]["judged"]
    kept = [parse_verdicts(row["filtered_resps"][0]) for row in found["samples"]["judged"]]
    assert len(server.calls()) == ITEMS * 4
    assert len(judge_names(kept)) == 1

    def credit(name: str, k: int) -> float:
        own, other = quality("own", k), quality(name, k)
        return (preference(own, other) + 1 - preference(other, own)) / 2

    expected = [credit(name, k) for name in ("elm", "fir") for k in range(ITEMS)]
    assert told["win_rate,none"] == pytest.approx(sum(expected) / len(expected), abs=1e-3)
    battles = read_battles(pd.DataFrame([row for one in kept for row in judgment_rows(one)]))
    own = next(one for one in rank(battles, "bradley-terry").standings[0].entries if one.model == "this model")
    assert told["bradley_terry,none"] == pytest.approx(own.score, abs=1e-9)
    assert told["bradley_terry_stderr,none"] == pytest.approx(own.se, rel=1e-9)
    assert (told["judged,none"], told["unparsed,none"], told["missing,none"]) == (ITEMS * 2, 0, 0)


def test_what_is_wrong_is_found_before_the_model_is_asked(tmp_path: Path):
    asked = {"judge": "podium/offline", "against": write_opponents(tmp_path), "judge_args": {"api_key": "secret"}}
    with pytest.raises(UsageError, match="environment variable"):
        JudgeScorer.from_dict({"name": "none", "filter": [], "metric_list": []}, **asked)
