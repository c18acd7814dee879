"""An audit: planted faults are flagged, the answer follows from the probes, and commands run."""

import re
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from planted_boards import CLEAN, KINDS, World, make_board

import podium
from podium.check_kinds import CHECKS
from podium.check_results import Result, make_check, not_known
from podium.cli.main import podium as command_line
from podium.diagnosis.audit_record import Probe
from podium.diagnosis.checks.absent_rows_of_audit import checks_of_absent
from podium.diagnosis.checks.audit_data import AuditData
from podium.diagnosis.checks.remedy_commands import TypedArguments, remedy_command
from podium.show.answers.audit_sentences import audit_answer
from podium.show.report.audit_view import QUESTIONS


def audit_of(board, **options):
    battles = podium.read_battles(board)
    judgments = podium.read_battles(board, merge=False)
    return podium.audit(battles, judgments=judgments, **options).boards[0]


def names_of(board):
    return [probe.check.name for probe in board.flagged_probes]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", list(KINDS))
def test_a_planted_fault_is_flagged_by_its_probe(name):
    kind = KINDS[name]
    board = audit_of(make_board(kind.world, 1), pool=len(kind.world.judges) > 1)
    assert kind.probe in names_of(board)


@pytest.mark.slow
def test_few_clean_boards_are_flagged():
    flagged = []
    for world in CLEAN.values():
        several = len(world.judges) > 1
        flagged += [names_of(audit_of(make_board(world, seed), pool=several)) for seed in (7, 8)]
    assert sum(map(bool, flagged)) <= 2


def test_checks_of_the_ranking_have_the_same_result_in_an_audit():
    table = make_board(KINDS["odd pair"].world, 2)
    board = audit_of(table)
    ranked = podium.rank(podium.read_battles(table)).standings[0]
    results = {probe.check.name: probe.check.result for probe in board.probes}
    shared = {check.name: check.result for check in ranked.checks if check.name != "first place"}
    assert shared.items() <= results.items()


@pytest.mark.slow
def test_descriptions_come_last_and_are_never_flagged():
    board = audit_of(make_board(KINDS["few items"].world, 1))
    kinds = [probe.is_descriptive for probe in board.probes]
    assert kinds == sorted(kinds)
    assert {probe.check.name for probe in board.probes if probe.is_descriptive} >= {"places", "elo"}
    described = [probe for probe in board.probes if probe.is_descriptive]
    assert not any(probe.check.is_flagged for probe in described)


@pytest.mark.slow
def test_pools_that_never_met_are_an_answer_and_no_error():
    board = audit_of(make_board(KINDS["two pools"].world, 1))
    assert board.answer[0].startswith("Do not use this ranking: 2 groups of models never met")


def test_battles_without_a_ranking_for_another_reason_are_an_error(tmp_path):
    path = tmp_path / "unread.csv"
    path.write_text("item,model_a,model_b,credit\nq1,a,b,\nq2,a,b,\n")
    with pytest.raises(podium.PodiumError):
        podium.audit(str(path))


def probe_of(name, result, **facts):
    if result is Result.NOT_KNOWN:
        return Probe(not_known(name, "no lengths"))
    return Probe(make_check(name, result is Result.FLAGGED, **facts))


@pytest.fixture(scope="module")
def standings():
    world = podium.simulate(models=3, items=60, seed=1)
    return podium.rank(world.battles()).standings[0]


def test_the_answer_of_a_ranking_without_flags_counts_what_is_ok_and_names_what_is_not_known(
    standings,
):
    probes = [
        probe_of("own model", Result.OK),
        probe_of("items", Result.OK, fields={"items": 60, "noun": "items", "intervals": ""}),
        probe_of("length", Result.NOT_KNOWN),
        probe_of("elo", Result.OK, fields={"whose": "those of this judge"}),
    ]
    answer = audit_answer(standings, probes)
    assert answer[0] == ("No probe is flagged: two of three are ok, and one is not known (length).")
    assert answer[1] == standings.answer[0]
    assert len(answer) <= 3


def test_the_answer_of_a_flagged_ranking_has_the_gravest_finding_and_what_to_do(standings):
    flagged = probe_of("own model", Result.FLAGGED, fields={"judge": "ash"})
    answer = audit_answer(standings, [flagged, probe_of("length", Result.NOT_KNOWN)])
    assert answer == (
        "Use this ranking with care, one of two probes is flagged: the judge ash judges itself.",
        standings.answer[0],
        "Next step: use another judge.",
    )


def test_a_fault_that_makes_a_ranking_meaningless_is_the_whole_answer(standings):
    groups = probe_of("connected", Result.FLAGGED, fields={"groups": 2, "remedy": "judge more"})
    own = probe_of("own model", Result.FLAGGED, fields={"judge": "ash"})
    answer = audit_answer(standings, [groups, own])
    assert answer == (
        "Do not use this ranking: 2 groups of models never met (also flagged: own model).",
        "Next step: judge more.",
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", list(KINDS))
def test_commands_of_remedies_run(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    make_board(KINDS[name].world, 1).to_csv("board name.csv", index=False)
    several = len(KINDS[name].world.judges) > 1
    typed = TypedArguments("'board name.csv'", "--pool" if several else "")
    audit = podium.audit("board name.csv", pool=several, arguments=typed).boards[0]
    commands = [probe.command for probe in audit.flagged_probes if probe.command]
    assert audit.flagged_probes
    assert all(probe.remedy for probe in audit.flagged_probes)
    for command in commands:
        first, *words = shlex.split(command)
        if first == "inspect":
            # It needs responses and a judge, which only the user has.
            assert words[:2] == ["eval", "podium/round_robin"]
            continue
        assert first == "podium"
        done = CliRunner().invoke(command_line, words)
        assert done.exit_code == 0, (command, done.output)


SUBJECTS = (
    {"same question", "same settings", "same responses", "same items"},
    {"unit", "groups"},
    {"unparsed", "lost replies", "lost outcomes", "lost scores"},
    {"position", "one order", "order decides"},
    *({name} for name in ("length", "repeated", "self-preference", "cycle", "fit", "ties")),
    *({name} for name in ("voters", "judges", "categories", "items", "first place", "time")),
    {"places"},
    {"elo"},
)
"""The probes of an audit: of each of these sets, it has a row."""


def sources():
    """Return tables of many kinds: one pair, scores, a crowd, several judges, no columns."""
    board = make_board(KINDS["first slot"].world, 1)
    crowd = make_board(CLEAN["votes of 60 voters, random pairs"], 1)
    bare = board[["model_a", "model_b", "credit"]]
    solved = pd.DataFrame({"item": range(9), "ash": 1, "elm": 0, "fir": 0})
    mixed = pd.DataFrame({"item": range(9), "ash": [1, 0, 1] * 3, "elm": [0, 1, 1] * 3})
    dated = board.assign(created_at=board["created_at"].astype(object))
    dated.loc[dated.index[: len(dated) // 2], "created_at"] = "unknown"
    return {
        "small": make_board(World(items=3), 1),
        "one pair": board[
            board["model_a"].isin(["ash", "elm"]) & board["model_b"].isin(["ash", "elm"])
        ],
        "one order": make_board(World(both=False), 1),
        "no column of the order": board.drop(columns="order"),
        "bare": bare,
        "scores": mixed,
        "all won by one model": solved,
        "two judges": make_board(CLEAN["two judges, ties"], 1),
        "crowd": crowd,
        "dates of a half": dated,
        "no dates": board.drop(columns="created_at"),
    }


def tables_and_slices():
    """Return the name of each table alone, and with `judge` if the column divides it."""
    divided = [name for name, table in sources().items() if "judge" in table and name != "small"]
    return [(name, None) for name in sources()] + [(name, "judge") for name in divided]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("name", "by"), tables_and_slices())
def test_every_subject_has_rows_and_every_probe_one_row(tmp_path, name, by):
    table = sources()[name]
    table.to_csv(tmp_path / "board.csv", index=False)
    pool = name == "two judges" and by is None
    for board in podium.audit(str(tmp_path / "board.csv"), by=by, pool=pool).boards:
        names = [probe.check.name for probe in board.probes]
        assert len(names) == len(set(names))
        assert [subject for subject in SUBJECTS if subject.isdisjoint(names)] == []
        for probe in board.probes:
            assert probe.check.is_known or probe.check.reason


@pytest.mark.slow
def test_what_does_not_apply_is_not_counted_as_not_known(tmp_path):
    sources()["scores"].to_csv(tmp_path / "solved.csv", index=False)
    board = podium.audit(str(tmp_path / "solved.csv")).boards[0]
    absent = [probe for probe in board.probes if not probe.applies]
    assert {"position", "length", "judges"} <= {probe.check.name for probe in absent}
    assert not any(name in board.answer[0] for name in ("position", "length", "judges"))


@pytest.mark.slow
def test_no_command_is_given_for_what_does_not_apply(tmp_path):
    sources()["scores"].to_csv(tmp_path / "solved.csv", index=False)
    board = podium.audit(str(tmp_path / "solved.csv")).boards[0]
    assert [probe.command for probe in board.probes if not probe.applies and probe.command] == []


def test_a_command_sets_an_option_once():
    fields = {"option": "--by created_at:2"}
    check = make_check("time", True, fields=fields)
    typed = TypedArguments("'my board.csv' --cluster page", "--by task --level 0.9 --ranker elo")
    expected = (
        "podium rank 'my board.csv' --cluster page --level 0.9 --ranker elo --by created_at:2"
    )
    assert remedy_command(check, typed) == expected


def test_commands_of_a_slice_of_two_columns_read_this_slice():
    typed = TypedArguments("v.csv", "--by judge,category --level 0.9")
    part = typed.of_slice("judge,category", "lab/m, two words")
    assert part.reading == "v.csv --where judge=lab/m --where 'category=two words'"
    assert part.ranking == "--level 0.9"
    assert typed.of_slice("judge,category", "lab/m, a, b") == typed
    assert typed.of_slice("created_at:2", "2024-01-01 to 2024-01-02") == typed


def test_commands_about_several_judges_read_all_and_those_about_families_know_the_table():
    typed = TypedArguments("v.csv", "--models 'my models.csv' --by judge").of_slice("judge", "j1")
    judges = make_check("judges", False)
    assert remedy_command(judges, typed) == "podium diagnose v.csv --section side_by_side"
    family = make_check("own family", True)
    expected = "podium diagnose v.csv --where judge=j1 --section self_preference"
    assert remedy_command(family, typed) == f"{expected} --families 'my models.csv'"


def test_a_command_that_would_rank_as_before_is_not_given():
    check = make_check("length", True)
    typed = TypedArguments("v.csv", "--set length_control=true")
    assert remedy_command(check, typed) == ""
    assert remedy_command(check, replace(typed, ranking="")).endswith("--set length_control=true")


@pytest.mark.slow
def test_an_audit_checks_more_models_than_a_ranking():
    world = replace(KINDS["longer is better"].world, items=30)
    board = make_board(world, 1)
    parts = []
    for k in range(11):
        part = board.copy()
        for side in ("model_a", "model_b"):
            part[side] = part[side] + f"-{k}"
        part["item"] = part["item"] + f"-{k % 3}"
        parts.append(part)
    joined = pd.concat(parts)
    links = joined.sample(600, random_state=1).assign(item="link")
    links["model_b"] = links["model_b"].sample(frac=1, random_state=2).to_numpy()
    links["item"] = [f"link-{k}" for k in range(len(links))]
    table = pd.concat([joined, links[links["model_a"] != links["model_b"]]])
    rows = {probe.check.name: probe.check for probe in audit_of(table).probes}
    assert rows["length"].is_flagged
    ranked = podium.rank(podium.read_battles(table)).standings[0]
    lengths = [check.reason for check in ranked.checks if check.name == "length"]
    assert lengths == ["more than 60 models; `podium audit` checks it"]


def test_places_are_not_known_if_no_model_has_one_and_do_not_apply_without_errors():
    battles = podium.read_battles(make_board(World(items=3), 1))
    standings = podium.rank(battles).standings[0]
    entries = tuple(replace(entry, rank_low=None) for entry in standings.entries)
    reasons = {}
    for method in (standings.error_method, None):
        shown = replace(standings, separation=None, entries=entries, error_method=method)
        rows = checks_of_absent((), AuditData(battles, battles, battles, shown, ()))
        reasons[method] = next(row.reason for row in rows if row.name == "places")
    assert reasons == {
        standings.error_method: "fewer than two models have a place",
        None: "the ranker bradley-terry does not give it",
    }


def test_every_probe_has_a_question():
    assert QUESTIONS.keys() >= {name for name, kind in CHECKS.items() if kind.unit or kind.flagged}


def test_a_judge_called_crowd_is_humans_whom_no_tournament_can_ask_again():
    board = make_board(World(both=False), 1).assign(judge="crowd")
    audit = audit_of(board)
    rows = {probe.check.name: probe for probe in audit.probes}
    assert not {"own family", "own model", "human scale"} & rows.keys()
    assert not any("inspect eval" in probe.command for probe in audit.probes)


@pytest.mark.slow
def test_battles_alone_have_the_same_audit_as_with_their_judgments():
    board = make_board(KINDS["first slot"].world, 1)
    battles = podium.read_battles(board)
    alone = podium.audit(battles).boards[0]
    assert [probe.to_dict() for probe in alone.probes] == [
        probe.to_dict() for probe in audit_of(board).probes
    ]


VOTES = World(voters=60, both=False, items=60, share=0.8, tie=0.0)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "world",
    [
        replace(VOTES, first=3.0),
        replace(VOTES, ties_only=0.97),
        replace(VOTES, per_length=1.0),
        replace(VOTES, both=True, first=3.0),
        VOTES,
    ],
)
@pytest.mark.parametrize("judge", [None, "crowd"])
def test_no_word_of_an_audit_of_votes_names_a_judge(world, judge):
    board = make_board(world, 1)
    board.loc[::9, "credit"] = np.nan
    audit = audit_of(board if judge is None else board.assign(judge=judge))
    own = ("repeated", "self-preference", "judges", "decisive rater")
    for probe in audit.probes:
        texts = (probe.finding_text, probe.advice, QUESTIONS[probe.check.name])
        if probe.applies and probe.check.name not in own:
            assert not any(re.search(r"judges?\b", text) for text in texts), texts
