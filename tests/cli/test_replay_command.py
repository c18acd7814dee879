"""podium replay, as it is typed."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Podium = Callable[..., Any]


@pytest.mark.slow
def test_the_table_says_what_the_battles_cost(podium: Podium, example: Path) -> None:
    answer = podium("replay", example, "--tournament", "swim")
    line = answer.out.splitlines()[-1]
    assert (
        line
        == "replay of swim: 360 battles asked for, 720 judge calls, 9 pairs of models, 9 rounds"
    )
    assert answer.code == 0


@pytest.mark.slow
def test_a_round_robin_prints_the_table_of_podium_rank(podium: Podium, example: Path) -> None:
    ranked = podium("rank", example).out.splitlines()
    replayed = podium("replay", example, "--tournament", "round_robin").out.splitlines()
    rows = [line for line in ranked if "●" in line]
    assert (len(rows), [line for line in replayed if "●" in line]) == (6, rows)


@pytest.mark.slow
def test_json_is_a_ranking_with_its_price(podium: Podium, example: Path) -> None:
    document = json.loads(
        podium("replay", example, "--tournament", "chain", "--format", "json").out
    )
    assert document["rankings"][0]["diagnostics"]["replay"]["battles"] == 40 * 5
    assert document["provenance"]["options"]["replay"]["tournament"] == "chain"


@pytest.mark.slow
def test_settings_reach_tournament_and_ranker(podium: Podium, example: Path) -> None:
    words = (
        "--tournament",
        "anchor",
        "--ranker",
        "win-rate",
        "--set",
        "anchor=cedar",
        "--set",
        "items=20",
    )
    ranking = json.loads(podium("replay", example, *words, "--format", "json").out)["rankings"][0]
    assert (ranking["scale"], ranking["counts"]["battles"]) == ("win rate against cedar", 100)


@pytest.mark.slow
def test_replay_of_several_tournaments_prints_errors_by_cost(podium: Podium, example: Path) -> None:
    words = ("--tournament", "round_robin,swim,chain", "--seeds", "3")
    lines = podium("replay", example, *words).out.splitlines()
    assert re.match(
        r"(swim|chain) is nearest to the ranking of the whole record: [\d.]+ Elo off on average",
        lines[0],
    )
    title = lines.index("tournaments against all 600 battles of 40 items, by bradley-terry")
    assert [line.split()[:5] for line in lines[title + 4 : title + 7]] == [
        ["round_robin", "600", "1,200", "15", "1"],
        ["swim", "360", "720", "9", "9"],
        ["chain", "200", "400", "15", "1"],
    ]


@pytest.mark.slow
def test_replay_table_opens_with_the_cheapest_tournament_that_answers_the_question(
    podium: Podium, example: Path
) -> None:
    """All battles of 40 items identify the best model; a chain of one battle per model does not."""
    words = ("--set", "until=top1", "--seeds", "3")
    first = podium("replay", example, "--tournament", "chain,round_robin", *words).out.splitlines()[
        0
    ]
    assert (
        first
        == "round_robin answers the question in 100% of seeds, for 1,200 judge calls on average."
    )
    first = podium("replay", example, "--tournament", "chain", *words).out.splitlines()[0]
    assert first.startswith(
        "No tournament answers the question on these items: more items, or a margin, would help."
    )


@pytest.mark.slow
def test_a_budget_makes_costs_equal(podium: Podium, example: Path) -> None:
    words = (
        "--tournament",
        "round_robin,chain",
        "--seeds",
        "2",
        "--budget",
        "150,200",
        "--format",
        "csv",
    )
    rows = list(csv.DictReader(io.StringIO(podium("replay", example, *words).out)))
    assert [(row["tournament"], row["budget"], row["battles"]) for row in rows] == [
        ("round_robin", "150", "150.0"),
        ("round_robin", "200", "195.0"),
        ("chain", "150", "150.0"),
        ("chain", "200", "200.0"),
    ]


def test_markdown_has_a_row_per_anchor(podium: Podium, example: Path, tmp_path: Path) -> None:
    output = tmp_path / "study.md"
    podium("replay", example, "--tournament", "anchor", "--seeds", "1", "-o", output)
    rows = [
        line
        for line in output.read_text(encoding="utf-8").splitlines()
        if line.startswith("| anchor")
    ]
    assert [row.split("|")[1].strip() for row in rows] == [
        f"anchor {name}" for name in ("auto", "amber", "birch", "cedar", "dune", "ember", "fjord")
    ]


@pytest.mark.parametrize(
    "words",
    [("--study",), ("--items", "10"), ("--gold", "x.csv"), ("--full",), ("--section", "tau")],
)
def test_a_removed_option_names_the_benchmark_that_replaces_it(
    podium: Podium, example: Path, words: tuple[str, ...]
) -> None:
    answer = podium("replay", example, *words)
    assert (answer.code, answer.out) == (2, "")
    assert f"{words[0]} was removed: run benchmarks/anchor_study.py" in answer.err


@pytest.mark.fast_cases(9)
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "Missing option '--tournament'"),
        (("--tournament", "swin"), "no tournament called 'swin'; did you mean 'swim'"),
        (("--tournament", ","), "no tournament named"),
        (("--tournament", "recorded"), "a replay has their verdicts already"),
        (("--tournament", "swim", "--set", "calibration=x.json"), "give --calibration FILE"),
        (("--tournament", "swim", "--set", "items=few"), "items='few' is not a whole number"),
        (
            ("--tournament", "swim", "--set", "chain.items=3"),
            "no ranker or tournament in this call called 'chain'",
        ),
        (("--tournament", "swim", "--set", "pilot=3"), "'pilot' is an option of anchor, not of"),
        (("--tournament", "swim", "--budget", "1e3"), "write whole numbers above 0"),
        (("--tournament", "swim", "--budget", "5"), "too small for swim: one item takes 9"),
        (
            ("--tournament", "anchor", "--set", "anchor=ceder"),
            "no model called 'ceder'; did you mean 'cedar'",
        ),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(
    podium: Podium, example: Path, words: tuple[str, ...], complaint: str
) -> None:
    answer = podium("replay", example, *words)
    assert (answer.code, complaint in answer.err, answer.out) == (2, True, "")


def test_what_cannot_be_ranked_exits_with_1(podium: Podium, table: Callable[..., Path]) -> None:
    rows = ("q1,a,b,1", "q1,c,d,0")
    answer = podium("replay", table(*rows), "--tournament", "chain", "--seed", "1")
    assert answer.code == 1


def test_missing_battles_are_in_the_denominators(
    podium: Podium, table: Callable[..., Path]
) -> None:
    rows = ("q1,a,b,1", "q1,b,c,0.5", "q2,a,b,0", "q2,a,c,1", "q2,b,c,0")
    assert (
        "5 battles: 5 judged, 0 unparsed, 1 missing"
        in podium("replay", table(*rows), "--tournament", "round_robin").out
    )


def test_every_option_says_what_it_does() -> None:
    import click

    from podium.cli.main import podium as group

    options = [one for one in group.commands["replay"].params if isinstance(one, click.Option)]
    assert [option.name for option in options if not option.help] == []
