"""The options that messages propose work when they are typed on the file that provoked them.

Each file is given to each command without options. Every option that the output proposes with a
value, or that takes none, is then typed on the same file. Placeholders (`COLUMN`, `NAME`) and
options without their value are not typed.
"""

import re
import shutil
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from command_facts import cause_of, run_command
from test_cases import TABLE

from podium.cli.main import podium as commands

CASES = Path(__file__).parents[2] / "shared" / "data" / "cases"
PROPOSED = re.compile(r"(--[a-z][a-z-]*)(?:[ =]([^\s;:()`]+))?")
PLACEHOLDER = re.compile(r"[A-Z]{2,}|^corrects$|\?|=(?:left|outcome)\b")
COMMANDS = ("rank", "compare", "report", "diagnose")
NO_OPTION_OF_FILES = {"--help"}


def matrix(of_counts: bool) -> pd.DataFrame:
    """Return a win matrix of four models: counts of wins, or rates."""
    names = ["ash", "box", "elm", "fir"]
    rows = pd.DataFrame(index=names, columns=names, dtype=float)
    for (place, row), (other, column) in permutations(enumerate(names), 2):
        share = 0.5 + 0.1 * np.sign(other - place)
        rows.loc[row, column] = 10 * share if of_counts else share
    return rows.rename_axis("model").reset_index()


def verdicts(**columns: object) -> pd.DataFrame:
    """Return a round robin of three models on 40 items; a value may be a function of the row."""
    rng = np.random.default_rng(7)
    rows = []
    for item in range(40):
        for a, b in (("ash", "box"), ("ash", "elm"), ("box", "elm")):
            row = {"item": f"q{item}", "model_a": a, "model_b": b, "credit": rng.integers(0, 2)}
            rows.append(row)
    frame = pd.DataFrame(rows)
    for name, value in columns.items():
        frame[name] = value(frame) if callable(value) else value
    return frame


def accuracies() -> pd.DataFrame:
    """Return a table of three models' accuracies on five tasks."""
    rng = np.random.default_rng(2)
    values = rng.uniform(0.3, 0.9, (3, 5)).round(3)
    table = pd.DataFrame(values, columns=["arc", "boolq", "copa", "piqa", "rte"])
    return table.assign(model=["ash", "box", "elm"])


def by_turns(first: str, second: str):
    """Return a function that gives rows one name and the other in turn."""
    return lambda frame: np.where(np.arange(len(frame)) % 2, first, second)


OWN = {
    "counts.csv": matrix(of_counts=True),
    "rates.csv": matrix(of_counts=False),
    "accuracies.csv": accuracies(),
    "items.csv": verdicts().rename(columns={"item": "item_id"}),
    "questions.csv": verdicts().rename(columns={"item": "passage"}),
    "judges.csv": verdicts(judge=by_turns("gpt-4o", "claude-3")),
    "voters.csv": verdicts(voter=lambda frame: [f"v{k % 7}" for k in range(len(frame))]),
    "self.csv": verdicts(judge="ash"),
    "categories.csv": verdicts(category=by_turns("code", "prose")),
    "metrics.csv": pd.concat(
        [
            pd.DataFrame(
                {
                    "item": [f"q{k}" for k in range(30)],
                    "model": model,
                    "metric": metric,
                    "score": np.random.default_rng(len(model + metric)).random(30),
                }
            )
            for model in ("ash", "birch")
            for metric in ("acc", "rouge_l")
        ]
    ),
}


def models_of(name: str) -> tuple[str, str]:
    """Return two models of a file of `OWN`."""
    return ("ash", "birch") if name == "metrics.csv" else ("ash", "box")


def words_of(command: str, name: str, models: tuple[str, str]) -> list[str]:
    """Return what is typed for a command on a file."""
    if command == "compare":
        return [command, *models, name]
    return [command, name, "-o", "page.html"] if command == "report" else [command, name]


def options_of(command: str) -> dict[str, click.Option]:
    """Return the options of a command by their names."""
    found = commands.commands[command]
    return {
        form: parameter
        for parameter in found.params
        if isinstance(parameter, click.Option)
        for form in parameter.opts
    }


def proposals(text: str, command: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each option that a text proposes and that can be typed as it stands."""
    known = options_of(command)
    for name, value in dict.fromkeys(PROPOSED.findall(text.replace("/", " "))):
        if name not in known or name in NO_OPTION_OF_FILES:
            continue
        if known[name].is_flag:
            yield (name,)
        elif value and not PLACEHOLDER.search(value):
            yield (name, value.rstrip(".,'"))


def check_proposals(folder: Path, name: str, models: tuple[str, str]) -> list[str]:
    """Type what the commands propose about a file; return what does not work."""
    wrong = []
    for command in COMMANDS:
        words = words_of(command, name, models)
        code, printed, told = run_command(folder, *words)
        for typed in proposals(f"{printed}\n{told}", command):
            again, _, error = run_command(folder, *words, *typed)
            about = cause_of(again, error)
            if again == 2 or typed[0] in about:
                wrong.append(f"{' '.join([*words, *typed])}: exit {again} (before {code}): {about}")
    return wrong


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", OWN)
def test_proposed_options_work_on_own_files(name: str, tmp_path: Path):
    OWN[name].to_csv(tmp_path / name, index=False)
    assert check_proposals(tmp_path, name, models_of(name)) == []


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside this checkout")
def test_proposed_options_work_on_files_of_other_projects(tmp_path: Path):
    copies = tmp_path / "cases"
    shutil.copytree(CASES, copies)
    wrong = []
    for case in TABLE:
        if not case.options:
            wrong += check_proposals(copies, case.name, case.models)
    assert wrong == []
