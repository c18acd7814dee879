"""Every command of README and docs runs, prints what the page shows, and every link leads somewhere.

A block `sh` holds commands, the block `text` after it what they print, in this order; a comment `not run: WHY` after a
block excuses it. Commands of a page run one after another, in a folder with the examples.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import forked
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$(\n\n<!-- not run: (.+?) -->)?", re.MULTILINE | re.DOTALL)
COMMANDS = ("podium", "inspect")


def blocks_of(page):
    """Return the language, text, and excuse of each block."""
    return [(found[1], found[2], found[4]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands_of(text):
    """Return a block's commands: lines joined where they go on, remarks and installations cut off."""
    lines = text.replace("\\\n", " ").strip().splitlines()
    commands = [shlex.split(line, comments=True) for line in lines]
    return [command[command.index("&&") + 1 :] if "&&" in command else command for command in commands]


def printed_by(command, folder):
    """Return the exit code and all output of a command, with logs and caches in the folder."""
    environment = {**os.environ, "INSPECT_CACHE_DIR": str(folder / "cache"), "INSPECT_DISPLAY": "none"}
    output = folder / "printed"
    output.unlink(missing_ok=True)
    process = forked.start(*command, folder=folder, environment=environment, streams=(output, output))
    process.join(timeout=300)
    assert process.exitcode is not None, f"{shlex.join(command)} is still running"
    return process.exitcode, output.read_text(encoding="utf-8")


def lines_not_printed(shown, printed):
    """Return lines shown that were not printed in this order, those that only underline apart."""
    remaining = iter(line.rstrip() for line in printed.splitlines())
    wanted = [line.rstrip() for line in shown.splitlines() if line.strip(" ─")]
    return [line for line in wanted if not any(printed_line.startswith(line) for printed_line in remaining)]


def run_page(page, folder):
    """Run a page's commands; return what went wrong."""
    wrong, printed = [], ""
    for language, text, excuse in blocks_of(page):
        if language == "text" and printed:
            wrong += [f"not printed: {line}" for line in lines_not_printed(text, printed)]
        printed = ""
        if language != "sh" or excuse:
            continue
        for command in commands_of(text):
            if command[0] not in COMMANDS:
                continue
            code, output = printed_by(command, folder)
            printed += output
            if code:
                wrong.append(f"{shlex.join(command)}: exit {code}: {output[-500:]}")
    return wrong


def is_run(page):
    return any(
        language == "sh" and not excuse and any(command[0] in COMMANDS for command in commands_of(text))
        for language, text, excuse in blocks_of(page)
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", filter(is_run, PAGES), ids=lambda page: page.name)
def test_every_command_of_a_page_runs_and_prints_what_is_shown(page, tmp_path):
    pytest.importorskip("inspect_ai")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    assert run_page(page, tmp_path) == []


def test_a_line_that_is_not_printed_or_in_another_order_is_found():
    assert lines_not_printed("a\nb", "a 1\nb\n") == []
    assert lines_not_printed("b\na", "a\nb\n") == ["a"]
    assert lines_not_printed("c", "a\nb\n") == ["c"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_what_it_is(page):
    assert [text[:60] for language, text, _ in blocks_of(page) if not language] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page):
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        name, _, heading = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (heading and heading not in anchors_of(path)):
            broken.append(target)
    assert broken == []


def anchors_of(page):
    """Return the headings of a page as links name them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.slow
def test_the_page_of_options_is_what_its_script_makes():
    page = ROOT / "docs" / "options.md"
    done = subprocess.run(
        [sys.executable, str(page.with_name("make_options.py"))], capture_output=True, text=True, check=True
    )
    assert page.read_text(encoding="utf-8") == done.stdout, "python docs/make_options.py > docs/options.md"


def test_the_readme_is_short():
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= 150
