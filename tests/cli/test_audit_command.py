"""podium audit: the answer, the table of probes, the formats, and the page."""

import csv
import json
import shlex
from io import StringIO

import pytest
from planted_boards import KINDS, make_board

from podium.check_results import make_check
from podium.diagnosis.checks.remedy_commands import TypedArguments, remedy_command

COMMAND = "podium diagnose board.csv --columns credit=won --section position"


def save_board(folder, name="first slot"):
    path = folder / "board.csv"
    make_board(KINDS[name].world, 1).rename(columns={"credit": "won"}).to_csv(path, index=False)
    return path


def test_the_answer_comes_first_then_a_row_per_probe(podium, example):
    done = podium("audit", example)
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0].startswith("Use this ranking with care, one of 19 probes is flagged: 19% of")
    [header] = [line for line in lines if line.lstrip().startswith("probe ")]
    assert header.split()[:5] == ["probe", "result", "number", "interval", "threshold"]
    [row] = [line for line in lines if line.startswith(" position ")]
    assert "flagged" in row
    assert "2.5 points" in row


@pytest.mark.slow
def test_commands_repeat_what_was_typed_to_read_the_battles(podium, tmp_path, monkeypatch):
    save_board(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ("audit", "board.csv", "--columns", "credit=won", "--level", "0.9", "--format", "json")
    content = json.loads(podium(*words).out)
    [position] = [each for each in content["audits"][0]["probes"] if each["probe"] == "position"]
    assert position["command"] == COMMAND
    assert f"`{COMMAND}`" in content["audits"][0]["answer"][-1]


@pytest.mark.slow
def test_options_of_ranking_stand_in_commands_that_rank(podium, tmp_path, monkeypatch):
    save_board(tmp_path, "longer is better")
    monkeypatch.chdir(tmp_path)
    words = ("audit", "board.csv", "--columns", "credit=won", "--seed", "3", "--format", "json")
    content = json.loads(podium(*words).out)
    [length] = [each for each in content["audits"][0]["probes"] if each["probe"] == "length"]
    assert length["command"] == (
        "podium rank board.csv --columns credit=won --seed 3 --set length_control=true"
    )


@pytest.mark.slow
def test_json_has_figures_and_says_which_probes_are_descriptions(podium, example):
    [content] = json.loads(podium("audit", example, "--format", "json").out)["audits"]
    probes = {each["probe"]: each for each in content["probes"]}
    assert content["flagged"] == ["position"]
    assert probes["position"]["number"] > probes["position"]["threshold"]
    assert (probes["places"]["descriptive"], probes["length"]["descriptive"]) == (True, False)
    assert probes["length"]["result"] == "not known"


@pytest.mark.slow
def test_csv_and_markdown_have_a_row_per_probe(podium, example):
    rows = list(csv.DictReader(StringIO(podium("audit", example, "--format", "csv").out)))
    assert {"probe", "result", "number", "threshold", "command"} <= rows[0].keys()
    text = podium("audit", example, "--format", "md").out
    assert sum(line.startswith("| ") for line in text.splitlines()) >= len(rows)


@pytest.mark.slow
def test_each_slice_has_an_audit_with_its_name(podium, example):
    done = podium("audit", example, "--by", "category")
    assert "code: " in done.out
    assert "essay: " in done.out


@pytest.mark.slow
def test_a_page_has_the_answer_the_probes_and_the_ranking(podium, example, tmp_path):
    page = tmp_path / "audit.html"
    done = podium("audit", example, "--page", page)
    content = page.read_text(encoding="utf-8")
    assert f"wrote {page}" in done.err
    assert done.out.splitlines()[0][:40] in content
    assert "Does the response shown first win more often?" in content
    assert content.index("19 probes: 1 flagged") < content.index("<h2>Ranking</h2>")
    assert "podium audit" in content


def test_a_page_escapes_names(podium, tmp_path):
    path = tmp_path / "board.csv"
    board = make_board(KINDS["odd pair"].world, 1)
    board.replace("ash", "<b>ash</b>").to_csv(path, index=False)
    podium("audit", path, "--page", tmp_path / "audit.html")
    content = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "<b>ash" not in content
    assert "&lt;b&gt;ash" in content


def test_a_source_is_needed(podium):
    done = podium("audit")
    assert done.code == 2
    assert "SOURCE" in done.err


def commands_of(podium, *words):
    """Return the commands of the probes of each audit, by name."""
    content = json.loads(podium("audit", *words, "--format", "json").out)
    return [
        {probe["probe"]: probe["command"] for probe in each["probes"]} for each in content["audits"]
    ]


@pytest.mark.slow
def test_commands_of_a_slice_read_this_slice(podium, tmp_path, monkeypatch):
    table = make_board(KINDS["first slot"].world, 1)
    half = sorted(set(table["item"]))[::2]
    table["category"] = ["code" if item in half else "prose" for item in table["item"]]
    table.to_csv(tmp_path / "board.csv", index=False)
    monkeypatch.chdir(tmp_path)
    for commands in commands_of(podium, "board.csv", "--by", "category"):
        own = [text for text in commands.values() if text.startswith("podium ")]
        assert own
        [asked] = {text.split("--where ")[1].split()[0] for text in own}
        assert asked in ("category=code", "category=prose")


@pytest.mark.slow
def test_commands_of_pooled_judges_pool_them_where_the_command_needs_it(
    podium, tmp_path, monkeypatch
):
    table = make_board(KINDS["few items"].world, 1)
    table["judge"] = [f"j{k % 3}" for k in range(len(table))]
    table.to_csv(tmp_path / "board.csv", index=False)
    monkeypatch.chdir(tmp_path)
    [commands] = commands_of(podium, "board.csv", "--pool")
    assert commands["items"] == "podium plan board.csv --pool"
    assert podium(*commands["items"].split()[1:]).code == 0


def test_scores_have_no_command_that_plans_judge_calls(podium, tmp_path, monkeypatch):
    rows = [f"q{k},{k % 2},{(k + 1) % 3 % 2}" for k in range(12)]
    (tmp_path / "solved.csv").write_text("item,ash,elm\n" + "\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    [commands] = commands_of(podium, "solved.csv")
    assert "items" in commands
    assert commands["items"].startswith("podium plan --difference 2points --disagree ")


@pytest.mark.slow
def test_further_voters_are_no_number_of_items(podium, tmp_path, monkeypatch):
    table = make_board(KINDS["first slot"].world, 1)
    table["voter"] = [f"v{k % 15}" for k in range(len(table))]
    table.to_csv(tmp_path / "board.csv", index=False)
    monkeypatch.chdir(tmp_path)
    [commands] = commands_of(podium, "board.csv")
    assert commands["places"] == ""


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("typed", [("--", "-x.csv"), ("./-x.csv",)])
def test_commands_for_a_file_that_begins_with_a_dash_run(podium, tmp_path, monkeypatch, typed):
    save_board(tmp_path).rename(tmp_path / "-x.csv")
    monkeypatch.chdir(tmp_path)
    words = ("audit", "--columns", "credit=won", "--format", "json", *typed)
    [audit] = json.loads(podium(*words).out)["audits"]
    commands = [each["command"] for each in audit["probes"] if "x.csv" in each["command"]]
    commands = [command for command in commands if "TABLE" not in command]
    assert commands
    for command in commands:
        assert " ./-x.csv" in command
        done = podium(*shlex.split(command)[1:])
        assert done.code in (0, 3), (command, done.err)


def test_other_messages_name_files_that_begin_with_a_dash(podium, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("-a.csv", "-b.csv", "-c d.csv"):
        save_board(tmp_path).rename(tmp_path / name)
    done = podium("compare", "--", "-a.csv", "-b.csv", "-c d.csv")
    assert "`podium rank ./-a.csv ./-b.csv './-c d.csv'`" in done.err


def test_no_command_has_a_name_of_a_model_that_looks_like_an_option():
    check = make_check("ties", is_flagged=True, fields={"a": "-m", "b": "dune"})
    assert remedy_command(check, TypedArguments("battles.csv")) == ""
