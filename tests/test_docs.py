"""Every command of README and docs runs, prints what the page shows, and every link leads
somewhere.

A block `sh` holds commands, the block `text` after it what they print, in this order. After a
block, a comment `not run: WHY` excuses it, and `run where there is FILE` excuses it but in a
checkout with that record beside it. Commands of a page run one after another, in a folder with the
examples. A picture that the page shows is the one that a command of the page makes by the same
name.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from page_commands import (
    BLOCK,
    COMMANDS,
    blocks_of,
    commands_of,
    commands_with_codes,
    lines_not_printed,
    run_commands,
)

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RECORDS = ROOT.parent / "shared" / "data"
NEEDED = "run where there is "
PICTURE = re.compile(r"^!\[[^\]]+\]\(([^)\s]+)\)$", re.MULTILINE)
DRAWN = re.compile(r'aria-label="([^"]*)"|>([^<]+)<')
"""What an SVG says, and what each of its marks stands for: where they lie hangs on the fonts of the
machine, too."""


def pictures_of(page, suffix):
    """Return the files of one kind that a page shows."""
    shown = PICTURE.findall(page.read_text(encoding="utf-8"))
    return [(page.parent / path).resolve() for path in shown if path.endswith(suffix)]


def drawn_in(picture):
    """Return what an SVG says and draws; of a number six decimals, as the last of twelve is the
    machine's."""
    return DRAWN.findall(re.sub(r"(\.\d{6})\d+", r"\1", picture.read_text(encoding="utf-8")))


def pictures_not_made(page, folder):
    """Return the SVGs that a page shows and its commands did not make, or made otherwise."""
    wrong = []
    for picture in pictures_of(page, ".svg"):
        made = folder / picture.name
        drawn = [drawn_in(path) for path in (made, picture) if path.exists()]
        wrong += (
            []
            if len(drawn) == 2 and drawn[0] == drawn[1]
            else [f"not what a command made: {picture.name}"]
        )
    return wrong


def is_to_be_run(excuse, folder):
    """Return whether nothing excuses a block from being run; put the record that it needs into the
    folder."""
    name = (excuse or "").removeprefix(NEEDED)
    if not excuse or name == excuse or not (RECORDS / name).exists():
        return not excuse
    if not (folder / Path(name).name).exists():
        (folder / Path(name).name).symlink_to(RECORDS / name)
    return True


def run_page(page, folder):
    """Run a page's commands; return what went wrong."""
    wrong = run_commands(page, folder, is_to_be_run=lambda excuse: is_to_be_run(excuse, folder))
    return wrong + pictures_not_made(page, folder)


def is_run(page):
    return any(
        language == "sh"
        and not excuse
        and any(command[0] in COMMANDS for command in commands_of(text))
        for language, text, excuse in blocks_of(page)
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", list(filter(is_run, PAGES)), ids=lambda page: page.name)
def test_every_command_of_a_page_runs_and_prints_what_is_shown(page, tmp_path):
    pytest.importorskip("inspect_ai")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    assert run_page(page, tmp_path) == []


def test_a_line_that_is_not_printed_or_in_another_order_is_found():
    assert lines_not_printed("a\nb", "a 1\nb\n") == []
    assert lines_not_printed("b\na", "a\nb\n") == ["a"]
    assert lines_not_printed("c", "a\nb\n") == ["c"]
    assert lines_not_printed("a: […] is b", "a: x.eval is b, and c") == []
    assert lines_not_printed("a: […] is d", "a: x.eval is b, and c") == ["a: […] is d"]


def test_a_remark_gives_the_exit_code_of_a_command_that_fails():
    text = "A=3\npodium rank $A  # a remark\npodium rank \\\n  b  # exit code 2\n"
    assert commands_with_codes(text) == [(["podium", "rank", "3"], 0), (["podium", "rank", "b"], 2)]


def test_a_picture_that_no_command_made_or_with_another_figure_is_found(tmp_path):
    [picture] = pictures_of(PAGES[0], ".svg")
    assert pictures_not_made(PAGES[0], tmp_path) == ["not what a command made: ranking.svg"]
    made = tmp_path / picture.name
    made.write_text(picture.read_text(encoding="utf-8"), encoding="utf-8")
    assert pictures_not_made(PAGES[0], tmp_path) == []
    made.write_text(picture.read_text(encoding="utf-8").replace("1680", "1681"), encoding="utf-8")
    assert pictures_not_made(PAGES[0], tmp_path) == ["not what a command made: ranking.svg"]


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
        [sys.executable, str(page.with_name("make_options.py"))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert page.read_text(encoding="utf-8") == done.stdout, (
        "python docs/make_options.py > docs/options.md"
    )


def test_the_readme_is_short():
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= 150
