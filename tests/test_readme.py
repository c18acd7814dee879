"""README and docs name what there is, and the examples are what their scripts make."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from podium import Format, Ranker
from podium.plugins import catalogue

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


DOCS = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))


@pytest.mark.slow
def test_the_example_set_is_what_its_script_makes(tmp_path):
    folder = ROOT / "examples" / "simulated"
    script = tmp_path / "make.py"
    script.write_text((folder / "make.py").read_text())
    subprocess.run([sys.executable, str(script)], check=True)
    assert (tmp_path / "battles.csv").read_text() == (folder / "battles.csv").read_text()


def test_the_third_party_ranker_is_shown_whole():
    module = (ROOT / "examples" / "third_party_ranker" / "podium_copeland.py").read_text()
    assert module.strip() in DOCS


@pytest.mark.parametrize("name", ["existing_project/run.yaml", "lm_eval/ranked.yaml"])
def test_the_config_files_of_hosts_are_shown_whole(name):
    assert (ROOT / "examples" / name).read_text() in DOCS


@pytest.mark.parametrize("kind", [Ranker, Format])
def test_everything_plugged_in_by_podium_is_in_the_docs(kind):
    known = catalogue.extensions_of(kind)
    ours = [name for name, one in known.items() if one.origin.startswith("podium ")]
    assert [name for name in ours if f"`{name}`" not in DOCS] == []


def test_every_hook_is_in_the_docs():
    from podium import hookspecs

    hooks = [name for name in vars(hookspecs) if name.startswith("podium_")]
    assert hooks
    assert [name for name in hooks if f"`{name}`" not in DOCS] == []


def test_ci_calls_the_readmes_test_command():
    command = next(
        line
        for line in README.splitlines()
        if line.startswith("pip install") and line.endswith("pytest")
    )
    install, run = (part.strip() for part in command.split("&&"))
    script = (ROOT / ".ci" / "run").read_text()
    assert re.search(
        re.escape(install).replace("install", "install(?: --quiet)?") + r" && " + run, script
    )


@pytest.mark.slow
def test_the_python_shown_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    scope = {}
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        exec(block, scope)
    assert scope["calibration"].models


@pytest.mark.slow
def test_the_figures_that_the_docs_give_of_the_comparison_are_printed():
    command = [
        sys.executable,
        "-m",
        *["podium", "calibrate", "examples/soft_elo/labelled.csv", "--compare"],
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    row = r"^ smoothing +a win earns ([\d.]+), given +[\d,]+ +([\d.]+)"
    found, text = dict(re.findall(row, done.stdout, re.MULTILINE)), " ".join(DOCS.split())
    [fitted] = re.findall(
        r"^ smoothing +a win earns [\d.]+ +[\d,]+ +([\d.]+)", done.stdout, re.MULTILINE
    )
    assert (
        f"a constant fitted to the labels has an error of {fitted} Elo and the margin 26.4" in text
    )
    assert f"a constant of 0.95 has {found['0.950']}" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["labelled.csv", "newcomers.csv"])
def test_the_soft_elo_tables_are_what_their_script_makes(name, soft_elo_tables):
    assert (soft_elo_tables / name).read_text() == (
        ROOT / "examples" / "soft_elo" / name
    ).read_text()


@pytest.fixture(scope="module")
def soft_elo_tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soft_elo")
    (folder / "make.py").write_text((ROOT / "examples" / "soft_elo" / "make.py").read_text())
    subprocess.run([sys.executable, str(folder / "make.py")], check=True)
    return folder
