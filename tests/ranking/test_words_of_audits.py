"""Words of an audit: results in machine formats, reasons, quotable gaps, and what print shows."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from planted_boards import KINDS, World, make_board

import podium
from podium.check_results import Result, make_check
from podium.diagnosis.audit_record import Probe
from podium.diagnosis.checks.audit_data import AuditData
from podium.diagnosis.checks.place_checks import describe_elo
from podium.show.page.probes_table import board_values


def audit_of(board, **options):
    return podium.audit(podium.read_battles(board), **options).boards[0]


def row_of(audit, name):
    [probe] = [probe for probe in audit.probes if probe.check.name == name]
    return probe


@pytest.mark.slow
def test_json_csv_and_page_have_the_results_of_the_table(podium, tmp_path):
    path = tmp_path / "board.csv"
    make_board(World(items=40), 1).to_csv(path, index=False)
    done = podium("audit", path, "--page", tmp_path / "page.html", "--format", "json")
    [content] = json.loads(done.out)["audits"]
    results = {each["probe"]: each["result"] for each in content["probes"]}
    assert results["places"] == "measured"
    assert results["judges"] == "does not apply"
    table = podium("audit", path, "--format", "csv").out
    assert "places,measured" in table
    assert "judges,does not apply" in table


@pytest.mark.slow
def test_data_frames_have_the_results_of_the_table():
    frame = podium.audit(make_board(World(items=40), 1)).to_frame().set_index("probe")
    assert frame.loc["places", "result"] == "measured"
    assert frame.loc["judges", "result"] == "does not apply"


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["own model", "self-preference", "items", "one order", "length"])
def test_no_gap_in_elo_is_quotable_beside_a_flagged_probe(name):
    battles = podium.read_battles(make_board(World(items=40), 1))
    standings = podium.rank(battles).standings[0]
    checks = (make_check(name, is_flagged=True),)
    data = AuditData(battles, battles, battles, standings, checks)
    [elo] = describe_elo(data)
    assert elo.fields["is_quotable"] is False
    assert elo.finding_text.endswith(f"{name} is flagged")
    harmless = replace(data, checks=(make_check("position", is_flagged=True),))
    assert describe_elo(harmless)[0].fields["is_quotable"] is True


@pytest.mark.slow
def test_few_items_and_a_judge_that_favours_its_family_leave_no_gap_quotable():
    few = audit_of(make_board(World(items=12), 1))
    assert "items" in row_of(few, "elo").finding_text
    family = audit_of(make_board(KINDS["own family"].world, 1), pool=True)
    assert "self-preference" in row_of(family, "elo").finding_text


def test_a_column_with_too_few_groups_or_items_is_named():
    board = make_board(World(items=12), 1)
    columns = ["item", "model_a", "model_b", "credit", "category"]
    audit = audit_of(board[columns])
    assert row_of(audit, "groups").check.reason == (
        "no column puts items into groups, such as passages; category divides them otherwise"
    )
    assert row_of(audit, "categories").check.reason == (
        "no category of the column category has 8 items or more in it and outside it"
    )
    bare = audit_of(board[columns[:-1]])
    assert row_of(bare, "groups").check.reason == "no column puts items into groups"
    assert row_of(bare, "categories").check.reason == "no column has categories of items"


def test_a_name_at_the_start_of_a_cell_keeps_its_letters():
    fields = dict.fromkeys(("estimate", "interval", "verdicts", "most"), "") | {"judge": "gpt-4o"}
    check = make_check("judges", is_flagged=False, fields=fields)
    assert check.start_sentence(Probe(check).finding_text).startswith("gpt-4o agrees least")
    assert make_check("items", is_flagged=False).start_sentence("only").startswith("Only")


@pytest.mark.slow
def test_cells_of_pages_do_not_capitalise_judges():
    board = make_board(World(judges=(("gpt-4o", 0.0), ("claude-3", 0.0))), 1)
    audit = audit_of(board, pool=True)
    [cell] = [row["found"] for row in board_values(audit)["rows"] if row["title"] == "judges"]
    assert cell.startswith(("gpt-4o", "claude-3"))


@pytest.mark.slow
def test_print_shows_the_table_and_repr_is_one_line():
    audit = podium.audit(make_board(World(items=40), 1))
    assert "what was found, and what to do" in str(audit)
    assert repr(audit).startswith("Audit(bradley-terry: ")
    assert repr(audit).endswith("probes flagged)")
    assert repr(audit.boards[0]).startswith("BoardAudit(bradley-terry: ")


@pytest.mark.slow
def test_a_calibration_makes_the_human_scale_known(podium, tmp_path):
    example = Path(__file__).parents[2] / "examples" / "simulated" / "battles.csv"
    calibration = tmp_path / "calibration.json"
    podium("calibrate", example, "-o", calibration)
    words = ("--ranker", "soft-elo", "--calibration", calibration, "--format", "json")
    [content] = json.loads(podium("audit", example, *words).out)["audits"]
    [row] = [each for each in content["probes"] if each["probe"] == "human scale"]
    assert row["result"] == "measured"
    assert row["low"] < row["number"] < row["high"]
    assert row["command"] == ""
    ranked = json.loads(podium("rank", example, *words).out)["rankings"][0]
    [check] = [each for each in ranked["checks"] if each["code"] == "human-scale"]
    assert check["result"] == Result.OK.value


def scores_in_passages(passages=20):
    """Return scores of three models on six items in each passage, of two categories each."""
    rows = []
    for passage in range(passages):
        for item in range(6):
            for model in range(3):
                score = (passage * 7 + item * 3 + model * model) % 4 >= 1 + (model == 2)
                named = (f"{passage}-{item}", f"m{model}", float(score))
                rows.append((*named, f"p{passage}", "xy"[item % 2]))
    return pd.DataFrame(rows, columns=["item", "model", "score", "passage", "kind"])


def test_rows_of_groups_of_items_speak_of_the_groups():
    battles = podium.read_battles(scores_in_passages(), cluster="passage")
    audit = podium.audit(battles).boards[0]
    assert row_of(audit, "categories").check.reason == (
        "passages have items of several categories (kind)"
    )
    items = row_of(audit, "items")
    assert items.check.is_flagged
    assert items.advice == "add more passages"
    # A plan without a pilot takes items as independent.
    assert items.command == ""
    few = scores_in_passages().assign(kind=lambda table: table["passage"].eq("p1").map(str))
    few_audit = podium.audit(podium.read_battles(few, cluster="passage")).boards[0]
    assert row_of(few_audit, "categories").check.reason == (
        "no category of the column kind has 8 passages or more in it and outside it"
    )


def votes_of(column):
    """Return a crowd's votes, with the voters in a column."""
    board = make_board(KINDS["loud voter"].world, 1).rename(columns={"voter": column})
    return board.assign(judge="crowd")


@pytest.mark.slow
def test_a_column_that_may_name_the_voters_is_proposed():
    audit = audit_of(votes_of("worker"))
    voters = row_of(audit, "voters")
    assert voters.check.result is Result.NOT_KNOWN
    assert voters.check.reason == "the column worker may name the voters, and is not read as such"
    assert voters.command.endswith("--columns voter=worker")
    read = podium.audit(podium.read_battles(votes_of("worker"), columns={"voter": "worker"}))
    assert row_of(read.boards[0], "voters").finding_text.startswith("30 voters: ")


def test_named_voters_are_not_said_to_count_as_one_judge():
    board = votes_of("voter").drop(columns="judge")
    codes = [notice.code for notice in podium.read_battles(board).notes]
    assert "no-judge-column" not in codes
    other = podium.read_battles(board.rename(columns={"voter": "worker"}))
    assert "no-judge-column" in [notice.code for notice in other.notes]
