"""The workflow of examples/ci: its podium lines run against local results, with the exit code that
it reads."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from lm_eval_output import sample, write_run
from places import ROOT

WORKFLOW = ROOT / "examples" / "ci" / "workflow.yml"


def rows(values, metric, filter_, name):
    return [
        sample(f"q{k}", {metric: float(value)}, filter_=filter_, place=k, resps=[[f"{name} {k}"]])
        for k, value in enumerate(values)
    ]


def write_runs(folder, new_share):
    """Write what lm-eval leaves of both tasks: main's samples, and those of the pull request."""
    rng = np.random.default_rng(3)
    solved = rng.random(400) < 0.7
    kept = solved & (rng.random(400) < new_share)
    for name, gsm8k in (("old", solved), ("new", kept)):
        tasks = {
            "gsm8k": rows(gsm8k, "exact_match", "strict-match", name),
            "arc_easy": rows(solved, "acc", "none", name),
        }
        write_run(folder / "runs" / name, "candidate", tasks)


def podium_lines():
    return re.findall(
        r"^ *(podium compare .+)$", WORKFLOW.read_text(encoding="utf-8"), re.MULTILINE
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "code", "word"), [(1.0, 0, "PASS"), (0.5, 4, "FAIL"), (0.97, 5, "UNDECIDED")]
)
def test_the_workflows_comparison_leaves_its_exit_code_and_a_summary(tmp_path, share, code, word):
    (line,) = podium_lines()
    write_runs(tmp_path, share)
    shutil.copytree(ROOT / "examples" / "ci", tmp_path / "examples" / "ci")
    script = line.replace("podium", f"{sys.executable} -m podium", 1) + "\necho code=$code"
    done = subprocess.run(
        ["bash", "-c", f"code=0\n{script}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip().endswith(f"code={code}"), done
    assert (tmp_path / "summary.md").read_text().startswith(f"<!-- podium -->\n\n**{word}: ")


def test_the_workflow_is_yaml_and_its_verdict_knows_every_exit_code():
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["evaluate"]["steps"]
    names = [step.get("name") for step in steps]
    assert names[-3:] == ["Compare", "Post the summary", "Verdict"]
    assert {"0)", "5)", "*)"} <= set(steps[-1]["run"].split())
