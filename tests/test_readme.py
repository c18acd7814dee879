"""The README says what the code does now."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from podium import plugins

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language=""):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_the_first_commands_table_is_the_one_shown():
    command = blocks()[0].split("&&")[1].split()
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    shown = [line.rstrip() for line in blocks()[1].strip("\n").splitlines()]
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


@pytest.mark.parametrize("kind", ["rankers", "formats"])
def test_everything_plugged_in_by_podium_is_in_the_readme(kind):
    known = getattr(plugins, kind)()
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
