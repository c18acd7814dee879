"""The README says what the code does now."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from podium import Format, Ranker
from podium.plugins import catalogue

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language=""):
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
    return [block for written_in, block in found if written_in == language]


def printed_by(command, *, cwd=ROOT, **environment):
    """Run a command of the README with this Python; return all that it printed."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_first_commands_table_is_the_one_shown(tmp_path):
    """The tournament, with its log and its cache elsewhere."""
    pytest.importorskip("inspect_ai")
    command = blocks()[0].split("&&")[1].split()
    responses = next(part for part in command if part.startswith("responses="))
    command[command.index(responses)] = f"responses={ROOT / responses.removeprefix('responses=')}"
    module = ["inspect_ai", *command[1:], "--display", "none", "--log-dir", str(tmp_path / "logs")]
    printed = printed_by(module, cwd=tmp_path, INSPECT_CACHE_DIR=str(tmp_path / "cache"))
    assert blocks()[1].strip("\n") in "\n".join(line.rstrip() for line in printed.splitlines())


def test_the_table_of_recorded_verdicts_is_the_one_shown():
    position = next(k for k, block in enumerate(blocks()) if block.startswith("pip install . &&"))
    command = blocks()[position].split("&&")[1].split()
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    shown = [line.rstrip() for line in blocks()[position + 1].strip("\n").splitlines()]
    assert [line.rstrip() for line in done.stdout.strip("\n").splitlines()] == shown


def test_the_example_set_is_what_its_script_makes(tmp_path):
    folder = ROOT / "examples" / "simulated"
    script = tmp_path / "make.py"
    script.write_text((folder / "make.py").read_text())
    subprocess.run([sys.executable, str(script)], check=True)
    assert (tmp_path / "battles.csv").read_text() == (folder / "battles.csv").read_text()


def test_the_third_party_ranker_is_shown_whole():
    module = (ROOT / "examples" / "third_party_ranker" / "podium_copeland.py").read_text()
    assert module.strip() in README


@pytest.mark.parametrize("kind", [Ranker, Format])
def test_everything_plugged_in_by_podium_is_in_the_readme(kind):
    known = catalogue.extensions_of(kind)
    ours = [name for name, one in known.items() if one.origin.startswith("podium ")]
    assert [name for name in ours if f"`{name}`" not in README] == []


def test_every_hook_is_in_the_readme():
    from podium import hookspecs

    hooks = [name for name in vars(hookspecs) if name.startswith("podium_")]
    assert hooks
    assert [name for name in hooks if f"`{name}`" not in README] == []


def test_ci_calls_the_readmes_test_command():
    command = next(block for block in blocks() if "pytest" in block and "install" in block).strip()
    install, run = (part.strip() for part in command.split("&&"))
    script = (ROOT / ".ci" / "run").read_text()
    assert re.search(re.escape(install).replace("install", "install(?: --quiet)?") + r" && " + run, script)


def shown_after(command):
    """Return the README's block after that of a command, without the lines that only underline."""
    all_blocks = blocks()
    position = next(k for k, block in enumerate(all_blocks) if block.startswith(command))
    lines = [line.rstrip() for line in all_blocks[position + 1].splitlines()]
    return all_blocks[position].strip(), [line for line in lines if line.strip(" ─")]


@pytest.mark.parametrize("command", ["podium diagnose examples/simulated", "podium plan --entrants 20"])
def test_every_line_shown_of_a_report_is_printed_in_this_order(command):
    arguments, shown = shown_after(command)
    done = subprocess.run(
        [sys.executable, "-m", *arguments.split()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    printed = iter(line.rstrip() for line in done.stdout.splitlines())
    assert [line for line in shown if line not in printed] == []


@pytest.mark.slow
def test_the_python_shown_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    scope = {}
    for block in blocks("python")[:2]:
        exec(block, scope)
    assert scope["calibration"].entrants


@pytest.fixture(scope="module")
def calibration(tmp_path_factory):
    """Run the README's `podium calibrate` in a folder of its own; return what it printed and where it wrote."""
    command, _ = shown_after("podium calibrate examples/soft_elo")
    output = tmp_path_factory.mktemp("calibration") / "calibration.json"
    arguments = command.replace("calibration.json", str(output)).split()
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout, output


def test_every_line_shown_of_a_calibration_is_printed_in_this_order(calibration):
    _, shown = shown_after("podium calibrate examples/soft_elo")
    printed = iter(line.rstrip() for line in calibration[0].splitlines())
    assert [line for line in shown if line not in printed] == []


def test_every_line_shown_of_newcomers_is_printed_in_this_order(calibration):
    command, shown = shown_after("podium rank examples/soft_elo")
    arguments = command.replace("calibration.json", str(calibration[1])).split()
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    printed = iter(line[: len(shown[0])].rstrip() for line in done.stdout.splitlines())
    assert [line for line in shown if line not in printed] == []


@pytest.mark.slow
def test_the_figures_that_the_readme_gives_of_the_comparison_are_printed():
    command = [sys.executable, "-m", *["podium", "calibrate", "examples/soft_elo/labelled.csv", "--compare"]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    row = r"^ smoothing +a win earns ([\d.]+), given +[\d,]+ +([\d.]+)"
    found, text = dict(re.findall(row, done.stdout, re.MULTILINE)), " ".join(README.split())
    [fitted] = re.findall(r"^ smoothing +a win earns [\d.]+ +[\d,]+ +([\d.]+)", done.stdout, re.MULTILINE)
    assert f"fitted to the labels does as well as the margin ({fitted} against 26.4 Elo)" in text
    assert f"0.95 is nearly as far off as verdicts ({found['0.950']})" in text


@pytest.mark.parametrize("name", ["labelled.csv", "newcomers.csv", "entrants.csv"])
def test_the_soft_elo_tables_are_what_their_script_makes(name, soft_elo_tables):
    assert (soft_elo_tables / name).read_text() == (ROOT / "examples" / "soft_elo" / name).read_text()


@pytest.fixture(scope="module")
def soft_elo_tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soft_elo")
    (folder / "make.py").write_text((ROOT / "examples" / "soft_elo" / "make.py").read_text())
    subprocess.run([sys.executable, str(folder / "make.py")], check=True)
    return folder
