"""A local server of models and judges, a task of sums, and a place of its own for every test."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from stand_in import StandIn, stand_in

FOREIGN = (
    "PODIUM_RANKER",
    "INSPECT_EVAL_METADATA",
    "INSPECT_LOG_FORMAT",
    "INSPECT_EVAL_MODEL",
    "OPENAI_API_KEY",
)
SUMS = tuple((3 * k % 17, 5 * k % 13) for k in range(1, 41))
"""What the task asks for."""


@pytest.fixture
def server() -> Iterator[StandIn]:
    """Return a server of models and judges that counts its calls; `chat` and `completions` are its
    addresses."""
    with stand_in() as running:
        yield running


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test a folder, a cache and a log directory of its own, and no network."""
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def task_of_sums(tmp_path: Path) -> Path:
    """Return the folder of a task `sums` of 40 sums: generated answers, exact match of the
    number."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    rows = [{"question": f"What is {a} plus {b}?", "answer": str(a + b)} for a, b in SUMS]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "sums.yaml").write_text(TASK.format(data=folder / "sums.jsonl"))
    return folder


TASK = """\
task: sums
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: ["\\n"]
  max_gen_toks: 64
filter_list:
  - name: number
    filter:
      - function: regex
        regex_pattern: "answer is (\\\\d+)"
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""
