"""lm-eval itself in an environment where podium is enabled, beside one where it is not."""

import json
import re
import sys
from difflib import ndiff
from pathlib import Path

import pytest
from environment import Environment, outcome

pytest.importorskip("lm_eval.api")

TASK = """\
task: parity
dataset_path: json
dataset_kwargs:
  data_files:
    test: parity.jsonl
output_type: multiple_choice
test_split: test
doc_to_text: "{{question}}"
doc_to_choice: ["yes", "no"]
doc_to_target: label
metric_list:
  - metric: acc
"""
RUN = (
    "run",
    "--model",
    "dummy",
    "--model_args",
    "model=guess",
    "--tasks",
    "parity",
    "--include_path",
    "tasks",
)
PASSING = {
    "date",
    "start_time",
    "end_time",
    "total_evaluation_time_seconds",
    "transformers_version",
    "pretty_env_info",
}
"""What differs from run to run of one command: times, and the description of the machine, which
holds its load."""


@pytest.fixture
def parity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a task of lm-eval that needs no network."""
    for name, value in {
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "parity.yaml").write_text(TASK)
    rows = [{"question": f"Is {k} even?", "label": k % 2} for k in range(6)]
    (tmp_path / "parity.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.slow
def test_help_has_the_option_group_after_enable_and_not_after_disable(tmp_path: Path) -> None:
    environment = Environment.made(tmp_path / "environment")
    files = environment.listing()
    shown = []
    for step in (None, "enable", "disable"):
        assert step is None or environment.podium(step).returncode == 0
        shown.append(outcome(environment.script("lm_eval", "run", "--help")))
    assert shown[0][0] == 0
    assert shown[2] == shown[0]
    assert environment.listing() == files
    lines = [
        line for line in ndiff(shown[0][1].splitlines(), shown[1][1].splitlines()) if line[0] != " "
    ]
    assert {line[0] for line in lines} == {"+"}
    options = [line.split()[1] for line in lines if line.startswith("+   --")]
    assert "--ranker" in options
    assert all(one.startswith("--ranker") for one in options)


@pytest.mark.slow
def test_help_loads_no_slow_imports(on: Environment, off: Environment) -> None:
    """Of packages none but podium itself, and of podium nothing that ranks."""

    def loaded(environment: Environment) -> set[str]:
        reported = environment.python("-X", "importtime", "-m", "lm_eval", "run", "--help").stderr
        return {line.rsplit("|", 1)[-1].strip() for line in reported.splitlines()}

    extra = loaded(on) - loaded(off)
    assert "podium.hosts.lm_eval.lm_eval_command" in extra
    assert {name.partition(".")[0] for name in extra} - sys.stdlib_module_names == {"podium"}
    own = {name for name in extra if name.startswith("podium")}
    assert len(own) <= 15
    assert not {name for name in own if name.split(".")[1:2] in (["rankers"], ["ranking"])}


@pytest.mark.slow
def test_run_alone_shows_the_help_with_our_group(on: Environment) -> None:
    done = on.script("lm_eval", "run")
    assert (done.returncode, done.stdout.count("--ranker <")) == (0, 1)


@pytest.mark.slow
def test_run_without_ranker_prints_the_hosts_output_only(
    on: Environment, off: Environment, parity: Path
) -> None:
    """What is printed, the results and the samples, but for times."""
    printed, results, samples = [], [], []
    for environment in (off, on):
        folder = parity / "out"
        done = environment.script(
            "lm_eval", *RUN, "--log_samples", "--output_path", "out", place=parity
        )
        printed.append((done.returncode, steady(done.stdout), steady(done.stderr)))
        [aggregated] = folder.rglob("results_*.json")
        results.append(
            {
                name: one
                for name, one in json.loads(aggregated.read_text()).items()
                if name not in PASSING
            }
        )
        [each] = folder.rglob("samples_*.jsonl")
        samples.append(each.read_text())
        folder.rename(parity / f"out of {environment.folder.name}")
    assert printed[0][0] == 0, printed[0][2]
    assert "parity" in printed[0][1]
    assert printed[1] == printed[0]
    assert results[1] == results[0]
    assert samples[1] == samples[0]
    assert "acc,none" in results[0]["results"]["parity"]


def steady(text: str) -> str:
    """Return what a run prints without times, and without progress bars, which show speeds."""
    lines = [line for line in re.split(r"[\r\n]+", text) if "/s]" not in line]
    return "\n".join(re.sub(r"\d{4}-\d\d-\d\d:\d\d:\d\d:\d\d", "*", line) for line in lines)


@pytest.mark.slow
def test_podium_lm_eval_in_an_enabled_environment_has_the_options_once(on: Environment) -> None:
    shown = on.podium("lm_eval", "run", "--help")
    assert (shown.returncode, shown.stdout.count("--ranker <")) == (0, 1)


@pytest.mark.slow
def test_a_name_of_no_ranker_is_rejected_before_a_model_is_loaded(
    on: Environment, parity: Path
) -> None:
    done = on.script("lm_eval", *RUN, "--ranker", "bradly-terry", place=parity)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no ranker called 'bradly-terry'; did you mean 'bradley-terry'?" in done.stderr
