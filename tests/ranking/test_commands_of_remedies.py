"""Commands of an audit: each one does something about its probe, or words say what to do."""

import shlex

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from planted_boards import KINDS, World, make_board

import podium
from podium.cli.main import podium as command_line
from podium.diagnosis.checks.remedy_commands import TypedArguments

BOARD = "board.csv"
PLACEHOLDERS = {"RESPONSES", "TABLE", "MODEL"}


def scores(items, factor=1.0):
    """Scores of three models; those of the last one are in another unit."""
    draws = np.random.default_rng(1)
    rows = []
    for item in range(items):
        for k, model in enumerate(("ash", "elm", "fir")):
            score = 0.1 + 0.2 * k + 0.5 * draws.random()
            rows.append((f"q{item}", model, round(score * (factor if model == "fir" else 1), 3)))
    return pd.DataFrame(rows, columns=["item", "model", "score"])


def wins():
    """A table of wins of three models."""
    cells = {
        "": ["ash", "elm", "fir"],
        "ash": ["", 18, 9],
        "elm": [30, "", 20],
        "fir": [40, 30, ""],
    }
    return pd.DataFrame(cells)


def unparsed_board():
    board = make_board(World(items=60), 1)
    board.loc[::4, "credit"] = np.nan
    return board


def never_complete():
    """A board of which every item lacks a verdict, those of one model more often."""
    board = make_board(KINDS["lost replies"].world, 1)
    first = board.groupby("item").head(2).index
    board.loc[first, "credit"] = np.nan
    return board


def of_two_models():
    board = make_board(World(items=60), 1)
    return board[board["model_a"].isin(["ash", "elm"]) & board["model_b"].isin(["ash", "elm"])]


def without_items():
    return make_board(World(items=40), 1)[["model_a", "model_b", "credit"]]


SOURCES = {
    "one order": (lambda: make_board(KINDS["first slot, one order"].world, 1), ()),
    "unparsed": (unparsed_board, ()),
    "lost replies": (lambda: make_board(KINDS["lost replies"].world, 1), ()),
    "never complete": (never_complete, ()),
    "few items": (lambda: make_board(World(items=12), 1), ()),
    "one item": (lambda: make_board(World(items=1), 1), ()),
    "two models": (of_two_models, ()),
    "ties": (lambda: make_board(KINDS["ties only"].world, 1), ()),
    "few scores": (lambda: scores(12), ()),
    "scores in two units": (lambda: scores(60, factor=100), ()),
    "wins": (wins, ("--matrix", "rows")),
    "no items": (without_items, ()),
}


def audit_of(folder, name):
    make, options = SOURCES[name]
    make().to_csv(folder / BOARD, index=False)
    typed = (BOARD, *options)
    read = {"matrix": options[1]} if options else {}
    battles = podium.read_battles(BOARD, **read)
    return podium.audit(battles, arguments=TypedArguments(shlex.join(typed))).boards[0]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", list(SOURCES))
def test_each_command_runs_and_each_flagged_probe_has_advice(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    audit = audit_of(tmp_path, name)
    for probe in audit.probes:
        assert probe.remedy or not probe.check.is_flagged, probe.check.name
        words = shlex.split(probe.command)
        if not words or words[0] != "podium" or PLACEHOLDERS.intersection(words):
            continue
        done = CliRunner().invoke(command_line, words[1:])
        assert done.exit_code == 0, (probe.check.name, probe.command, done.output)


def command_of(audit, name):
    [probe] = [probe for probe in audit.probes if probe.check.name == name]
    assert probe.check.is_flagged
    return probe.command


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("source", "name", "command"),
    [
        ("one order", "one order", "-T orders=both"),
        ("unparsed", "unparsed", f"podium convert {BOARD} -o verdicts.csv"),
        ("lost replies", "lost replies", f"podium rank {BOARD} --complete"),
        ("few items", "items", f"podium plan {BOARD}"),
        ("few scores", "items", "podium plan --difference 2points --spread"),
    ],
)
def test_a_command_is_about_its_probe(tmp_path, monkeypatch, source, name, command):
    monkeypatch.chdir(tmp_path)
    assert command in command_of(audit_of(tmp_path, source), name)


@pytest.mark.parametrize(
    ("source", "name", "words"),
    [
        ("scores in two units", "score scale", "write all scores in one unit"),
        ("never complete", "lost replies", "fix the judge's replies first"),
        ("one item", "items", "add more items"),
    ],
)
def test_words_stand_where_no_command_helps(tmp_path, monkeypatch, source, name, words):
    monkeypatch.chdir(tmp_path)
    audit = audit_of(tmp_path, source)
    assert command_of(audit, name) == ""
    [probe] = [probe for probe in audit.probes if probe.check.name == name]
    assert probe.remedy == words


@pytest.mark.parametrize("name", ["wins", "no items"])
def test_battles_without_items_have_no_plan_and_no_labels(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    commands = [probe.command for probe in audit_of(tmp_path, name).probes]
    assert not any(command.startswith(("podium plan", "podium label")) for command in commands)
