"""The commands in the fenced blocks of a page, and whether they print what the page shows.

A block `sh` holds commands, the block `text` after it what they print, in this order. `[…]` in a
shown line stands for any text. A command that fails has its exit code as a remark: `# exit code 1`.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template

import forked

BLOCK = re.compile(
    r"^```(\w*)\n(.*?)^```$(\n\n<!-- (not run: .+?|run where there is .+?) -->)?",
    re.MULTILINE | re.DOTALL,
)
COMMANDS = ("podium", "inspect")
ASSIGNMENT = re.compile(r"^([A-Z]+)=(.*)$")
EXIT_CODE = re.compile(r"# exit code (\d+)$")


def blocks_of(page):
    """Return the language, text, and excuse of each block."""
    return [
        (found[1], found[2], found[4]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def commands_of(text):
    """Return a block's commands: lines joined where they go on, remarks and installations cut
    off, and variables that the block sets (`URL=...`) replaced by their values."""
    return [command for command, _ in commands_with_codes(text)]


def commands_with_codes(text):
    """Return a block's commands as `commands_of`, each with the exit code that it ends with."""
    values = {}
    commands = []
    for line in text.replace("\\\n", " ").strip().splitlines():
        whole = Template(line).safe_substitute(values)
        assignment = ASSIGNMENT.match(whole)
        if assignment:
            values[assignment[1]] = assignment[2].strip("'\"")
            continue
        words = shlex.split(whole, comments=True)
        code = EXIT_CODE.search(whole)
        if words:
            start = words.index("&&") + 1 if "&&" in words else 0
            commands.append((words[start:], int(code[1]) if code else 0))
    return commands


def printed_by(command, folder, variables=None):
    """Return the exit code and all output of a command, with logs and caches in the folder."""
    environment = {
        **os.environ,
        "INSPECT_CACHE_DIR": str(folder / "cache"),
        "INSPECT_DISPLAY": "none",
        **(variables or {}),
    }
    output = folder / "printed"
    output.unlink(missing_ok=True)
    process = forked.start(
        *command, folder=folder, environment=environment, streams=(output, output)
    )
    process.join(timeout=300)
    assert process.exitcode is not None, f"{shlex.join(command)} is still running"
    return process.exitcode, output.read_text(encoding="utf-8")


def lines_not_printed(shown, printed):
    """Return lines shown that were not printed in this order, except lines that only underline.

    A line is printed if a printed one begins with it, where `[…]` stands for any text.
    """
    remaining = iter(line.rstrip() for line in printed.splitlines())
    wanted = [line.rstrip() for line in shown.splitlines() if line.strip(" ─")]
    lost = []
    for line in wanted:
        begins = re.compile(".*".join(map(re.escape, line.split("[…]"))))
        if not any(begins.match(printed_line) for printed_line in remaining):
            lost.append(line)
    return lost


def run_commands(
    page: Path,
    folder: Path,
    *,
    is_to_be_run: Callable[[str | None], bool] = lambda excuse: not excuse,
    variables: Mapping[str, str] | None = None,
    replaced: tuple[str, str] = ("", ""),
    programs: Sequence[str] = COMMANDS,
) -> list[str]:
    """Run a page's commands one after another in a folder; return what went wrong.

    Args:
        page: the page.
        folder: where the commands run.
        is_to_be_run: whether a block with this excuse is run.
        variables: environment variables beside those of this process.
        programs: names of the programs whose commands are run.
        replaced: a text in the commands, and what it is replaced by.
    """
    wrong, printed = [], ""
    for language, text, excuse in blocks_of(page):
        if language == "text" and printed:
            wrong += [f"not printed: {line}" for line in lines_not_printed(text, printed)]
        printed = ""
        if language != "sh" or not is_to_be_run(excuse):
            continue
        for command, expected in commands_with_codes(
            text.replace(*replaced) if replaced[0] else text
        ):
            if command[0] not in programs:
                continue
            code, output = printed_by(command, folder, variables)
            printed += output
            if code != expected:
                wrong.append(f"{shlex.join(command)}: exit {code}: {output[-500:]}")
    return wrong
