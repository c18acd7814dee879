"""A host that is installed and cannot be imported: podium says how to repair it and what works
without it."""

import subprocess
import sys

import pytest
from environment import Environment
from lm_eval_output import scored, write_run

REPAIR = "run pip install --force-reinstall "
RAISED = {
    "a library": ('raise ImportError("libfoo.so.1: no such file")', "libfoo.so.1: no such file"),
    "an error": ('raise RuntimeError("no such device")', "no such device"),
}


@pytest.fixture(params=RAISED)
def broken(request, tmp_path, monkeypatch):
    """Break both hosts; return why they cannot be imported."""
    code, why = RAISED[request.param]
    for host in ("inspect_ai", "lm_eval"):
        (tmp_path / "broken" / host).mkdir(parents=True)
        (tmp_path / "broken" / host / "__init__.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))
    monkeypatch.chdir(tmp_path)
    return why


def podium(*words):
    """Run podium in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "podium", *words], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("ranker", [(), ("--ranker", "win-rate")])
@pytest.mark.parametrize(
    ("words", "package", "without"),
    [
        (("inspect", "eval", "task.py"), "inspect-ai", "podium ranks tables without it"),
        (("lm_eval", "run", "--tasks", "x"), "lm-eval", "podium rank OUTPUT_DIRS --ranker NAME"),
    ],
)
def test_command_of_a_broken_host_ends_with_advice_that_does_not_need_it(
    words, package, without, ranker, broken
):
    done = podium(*words, *ranker)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith(
        f"podium: {package} cannot be imported ({broken}); {REPAIR}{package}; {without}"
    )


@pytest.mark.slow
def test_log_of_a_broken_inspect_is_reported_with_the_repair_and_other_results_are_ranked(
    broken, tmp_path
):
    (tmp_path / "run.eval").write_bytes(b"PK\3\4")
    done = podium("rank", "run.eval")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    why = f"inspect-ai cannot be imported ({broken}); {REPAIR}inspect-ai"
    assert line == f"podium: run.eval is an Inspect log, and {why}"
    (tmp_path / "battles.csv").write_text(
        "item,model_a,model_b,winner\n1,x,y,model_a\n2,x,y,model_b\n"
    )
    assert podium("rank", "battles.csv").returncode == 0
    for model, values in {"x": (1, 0, 1, 1), "y": (0, 1, 0, 1)}.items():
        write_run(tmp_path / "out", model, {"sums": scored(values)})
    assert podium("rank", "out", "--ranker", "win-rate").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(("host", "package"), [("inspect", "inspect-ai"), ("lm_eval", "lm-eval")])
def test_bare_command_of_a_broken_host_is_followed_by_the_repair(
    host, package, on: Environment, broken, tmp_path
):
    done = on.script(host, "eval", "--ranker", "win-rate", path=tmp_path / "broken")
    assert done.returncode == 1
    assert broken in done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"podium: {package} cannot be imported; {REPAIR}{package}")
