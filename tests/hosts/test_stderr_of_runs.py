"""What successful runs print on stderr to the very end of their process: podium's lines and the
host's, no other."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval.api")
pytest.importorskip("openai")

from stand_in import mark, stand_in

from podium import rank, read_battles
from podium.show.report.brief_view import brief_ranking_text

MODELS = {"ash": 0.9, "elm": 0.6}
TASK = """\
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: sums.jsonl}}
output_type: generate_until
test_split: test
doc_to_text: "{{question}}"
doc_to_target: "5"
generation_kwargs: {max_gen_toks: 64}
metric_list: [{metric: exact_match}]
"""
OF_INSPECT = (
    r"Monitor from another shell: inspect ctl task list.*",
    r"inspect_ai v[\d.]+",
    r"- hooks enabled: 1",
    r"  podium/podium_ranking: .*",
)
# The path of the socket of Inspect's control server can be too long in a test's folder.
OF_SOCKETS = r"WARNING +Control server failed to start"
OF_LM_EVAL = (
    r"\d{4}-\d\d-\d\d:\d\d:\d\d:\d\d (INFO|WARNING) +\[[\w.]+:\d+\].*",
    r".*\d+%\|.*",
    r"Generating test split:.*",
    r"fatal: not a git repository.*",
)

pytestmark = pytest.mark.slow


def foreign_lines(printed: str, table: str, *of_hosts: str) -> list[str]:
    """Return the lines that are neither podium's nor a host's."""
    own = "|".join(
        (r"podium[: ].*", r"bradley-terry \[.*", *map(re.escape, table.splitlines()), *of_hosts)
    )
    return [line for line in re.split(r"[\r\n]+", printed) if line and not re.fullmatch(own, line)]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a way to run podium in a process of its own, in an empty folder without network."""
    for name, folder in {
        "HF_HOME": "hf",
        "INSPECT_LOG_DIR": "logs",
        "XDG_DATA_HOME": "data",
    }.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))

    def run_podium(*words, **variables):
        command = [sys.executable, "-m", "podium", *words]
        environment = {**os.environ, **variables}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=180
        )
        assert done.returncode == 0, done.stderr
        return done

    return run_podium


@pytest.mark.parametrize("judge", ["podium/offline", "openai-api/standin/judge"])
def test_inspect_run_with_a_judge(judge, run, tmp_path):
    rows = [
        {
            "id": f"q{k}",
            "model": name,
            "instruction": "Do it.",
            "response": mark(f"q{k}", name, quality),
        }
        for name, quality in MODELS.items()
        for k in range(3)
    ]
    (tmp_path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = (
        "inspect",
        "eval",
        "podium/round_robin",
        "-T",
        "responses=responses.jsonl",
        "--display",
        "plain",
    )
    with stand_in() as server:
        address = {"STANDIN_BASE_URL": f"{server.address}/v1", "STANDIN_API_KEY": "none"}
        done = run(*words, "--model-role", f"judge={judge}", **address)
    table = run("rank", "logs").stdout
    assert "bradley-terry" in table
    assert foreign_lines(done.stderr, table, *OF_INSPECT) == []
    assert "WARNING" not in re.sub(OF_SOCKETS, "", done.stdout)


@pytest.mark.parametrize("judge", ["podium/offline", "openai-api/standin/judge"])
def test_lm_eval_run_with_a_judge(judge, run, tmp_path):
    (tmp_path / "tasks").mkdir()
    Path(tmp_path, "tasks", "sums.yaml").write_text(TASK)
    rows = [{"question": f"What is {k} plus {5 - k}?"} for k in range(3)]
    Path(tmp_path, "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = (
        "lm_eval",
        "run",
        "--model",
        "local-chat-completions",
        "--apply_chat_template",
        "--tasks",
        "sums",
    )
    with stand_in() as server:
        address = {"STANDIN_BASE_URL": f"{server.address}/v1", "STANDIN_API_KEY": "none"}
        for model, more in (
            ("ash-0.9", ("--log_samples",)),
            ("elm-0.6", ("--ranker", "bradley-terry", "--ranker_judge", judge)),
        ):
            told = (
                "--include_path",
                "tasks",
                "--model_args",
                f"model={model},base_url={server.chat}",
            )
            done = run(*words, *told, "-o", "out", *more, **address)
    ranking = brief_ranking_text(
        rank(read_battles(tmp_path / "out.podium")), ["elm-0.6"], is_judged=True
    )
    assert foreign_lines(done.stderr, ranking, *OF_INSPECT, *OF_LM_EVAL) == []
