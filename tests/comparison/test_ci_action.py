"""The composite action of examples/ci: linted, and its shell steps run on two logs."""

import os
import subprocess
import sys

import pytest
import yaml
from places import ROOT, copy_repository
from test_ci_example import write_runs

from podium.show.report.github_comment import MARKER

ACTION = ROOT / "examples" / "ci" / "action.yml"
METRIC = "--metric exact_match,strict-match"


@pytest.fixture
def steps():
    """Return the steps of the action by name."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    return {step["name"]: step for step in action["runs"]["steps"]}


def run_step(step, folder, inputs, **environment):
    """Run a step's shell lines as GitHub's runner does, its `env` filled from `inputs`.

    `inputs` has the values of inputs by name, and of other expressions by their text.
    """
    given = {
        name: inputs[value.removeprefix("${{ ").removesuffix(" }}").removeprefix("inputs.")]
        for name, value in step["env"].items()
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    whole = {**os.environ, **environment, **given}
    return subprocess.run(
        command, cwd=folder, env=whole, capture_output=True, text=True, check=False
    )


def place_podium(folder):
    """Put a command podium, this checkout's, into a folder; return the path with it."""
    folder.mkdir()
    (folder / "podium").write_text(f'#!/bin/sh\nexec {sys.executable} -m podium "$@"\n')
    (folder / "podium").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "code", "word"), [(1.0, 0, "PASS"), (0.5, 4, "FAIL"), (0.97, 5, "UNDECIDED")]
)
def test_the_comparison_writes_the_summary_and_fails_as_required(
    tmp_path, steps, share, code, word
):
    write_runs(tmp_path, share)
    inputs = {
        "new": "runs/new",
        "old": "runs/old",
        "require": "not-worse=2points",
        "options": METRIC,
    }
    files = {
        "GITHUB_OUTPUT": tmp_path / "output",
        "GITHUB_STEP_SUMMARY": tmp_path / "summary",
        "RUNNER_TEMP": tmp_path,
    }
    environment = {name: str(path) for name, path in files.items()} | {
        "PATH": place_podium(tmp_path / "bin")
    }
    done = run_step(steps["Compare"], tmp_path, inputs, **environment)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "output").read_text() == f"code={code}\n"
    summary = (tmp_path / "summary").read_text()
    assert summary.startswith(f"<!-- podium -->\n\n**{word}: ")
    assert summary == (tmp_path / "podium.md").read_text()
    verdict = run_step(steps["Verdict"], tmp_path, {"steps.compare.outputs.code": str(code)})
    assert verdict.returncode == (0 if code == 5 else code)
    assert ("::warning::undecided" in verdict.stdout) == (code == 5)


@pytest.mark.slow
def test_without_a_requirement_the_comparison_has_no_gate(tmp_path, steps):
    write_runs(tmp_path, 0.5)
    inputs = {"new": "runs/new", "old": "runs/old", "require": "", "options": METRIC}
    names = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
    files = {name: str(tmp_path / name) for name in names} | {"RUNNER_TEMP": str(tmp_path)}
    done = run_step(
        steps["Compare"], tmp_path, inputs, **files, PATH=place_podium(tmp_path / "bin")
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "GITHUB_OUTPUT").read_text() == "code=0\n"
    assert "**new is clearly behind old by " in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()


@pytest.mark.parametrize("call", ["--paginate", "POST"])
def test_a_comment_that_cannot_be_written_is_a_warning(tmp_path, steps, call):
    """As with the token of a fork, which may only read."""
    (tmp_path / "gh").write_text(f'#!/bin/sh\ncase "$*" in *{call}*) exit 1 ;; esac\n')
    (tmp_path / "gh").chmod(0o755)
    (tmp_path / "podium.md").write_text("<!-- podium -->\n")
    environment = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_REPOSITORY": "o/r",
    }
    inputs = {"token": "t", "github.event.number": "7"}
    done = run_step(steps["Comment"], tmp_path, inputs, **environment)
    assert done.returncode == 0, done.stderr
    assert "::warning::the comment could not be written" in done.stdout
    assert steps["Verdict"]["if"] == "${{ !cancelled() }}"


def test_without_an_exit_code_of_the_comparison_the_verdict_fails(tmp_path, steps):
    verdict = run_step(steps["Verdict"], tmp_path, {"steps.compare.outputs.code": ""})
    assert verdict.returncode == 1


GH = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in *--paginate*) printf '%s' "$COMMENTS" ;; esac
"""
"""Stands for GitHub's command: keeps its arguments, and prints the ids of podium's comments."""


@pytest.mark.parametrize(
    ("comments", "call"),
    [
        ("", "--method POST repos/o/r/issues/7/comments"),
        ("41\n42\n", "--method PATCH repos/o/r/issues/comments/42"),
    ],
)
def test_a_second_run_replaces_the_comment_of_the_first(tmp_path, steps, comments, call):
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    (tmp_path / "podium.md").write_text("<!-- podium -->\n")
    environment = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "COMMENTS": comments,
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_REPOSITORY": "o/r",
    }
    inputs = {"token": "t", "github.event.number": "7"}
    done = run_step(steps["Comment"], tmp_path, inputs, **environment)
    assert done.returncode == 0, done.stderr
    searched, written = (tmp_path / "calls").read_text().splitlines()
    assert searched.startswith("api --paginate repos/o/r/issues/7/comments --jq ")
    assert MARKER in searched
    assert written == f"api --silent {call} --field body=@{tmp_path}/podium.md"


@pytest.mark.slow
def test_inputs_are_never_run_as_shell(tmp_path, steps):
    hostile = "$(touch hacked); `touch hacked`"
    inputs = {"new": hostile, "old": hostile, "require": hostile, "options": hostile}
    files = {
        "GITHUB_OUTPUT": tmp_path / "output",
        "GITHUB_STEP_SUMMARY": tmp_path / "summary",
        "RUNNER_TEMP": tmp_path,
    }
    environment = {name: str(path) for name, path in files.items()} | {
        "PATH": place_podium(tmp_path / "bin")
    }
    done = run_step(steps["Compare"], tmp_path, inputs, **environment)
    assert (done.returncode, (tmp_path / "output").read_text()) == (0, "code=2\n")
    assert not (tmp_path / "hacked").exists()
    assert all("${{" not in step["run"] for step in steps.values())


@pytest.mark.slow
def test_the_installation_installs_the_repository(tmp_path, steps):
    copy_repository(tmp_path / "podium")
    how = {
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_TARGET": str(tmp_path / "target"),
    }
    how["PATH"] = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    how["GITHUB_ACTION_PATH"] = str(tmp_path / "podium" / "examples" / "ci")
    done = run_step(steps["Install podium"], tmp_path, {"podium": ""}, **how)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "target" / "podium" / "cli" / "main.py").is_file()


@pytest.mark.slow
def test_action_and_workflow_have_the_fields_that_github_knows(tmp_path):
    """check-jsonschema brings the schemas of schemastore.org."""
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--timeout",
        "5",
        "--retries",
        "0",
        "--target",
    ]
    if subprocess.run(
        [*install, tmp_path, "check-jsonschema"], capture_output=True, check=False
    ).returncode:
        pytest.skip("check-jsonschema cannot be downloaded")
    for kind, name in (("actions", "action.yml"), ("workflows", "workflow.yml")):
        schema = ["--builtin-schema", f"vendor.github-{kind}", ACTION.with_name(name)]
        command = [sys.executable, "-m", "check_jsonschema", *schema]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        checked = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
