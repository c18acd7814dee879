"""podium plan, as it is typed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from podium import make_plan
from podium.planning.plan_report import plan_reports
from podium.show.report.terminal import terminal_text

Podium = Callable[..., Any]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("   ") if cell.strip()]


def figures(text: str) -> set[str]:
    """Return the words with a digit, those of the picture's axis left out."""
    return {word for word in text.split() if any(map(str.isdigit, word))} - {"0%", "100%"}


def test_table_2_is_one_command(podium: Podium) -> None:
    answer = podium(
        "plan", "--models", "4", "--ties", "0.39", "--informativeness", "0.45", "--full"
    )
    rows = [cells(line) for line in answer.out.splitlines() if line.startswith(" 0.")]
    assert [(row[2], row[3], row[4]) for row in rows] == [
        ("617", "1,012", "1,372"),
        ("153", "251", "340"),
        ("67", "110", "149"),
        ("37", "61", "83"),
        ("23", "38", "52"),
    ]
    assert answer.code == 0


@pytest.mark.slow
def test_a_plan_from_a_pilot_names_anchor_designs_and_the_cheapest(
    podium: Podium, example: Path
) -> None:
    answer = podium("plan", example, "--items", "200", "--full")
    assert "pilot of 40 items: 574 of 600 battles judged" in answer.out
    candidates = (
        answer.out.split("candidates for the anchor")[1]
        .split("informative: ")[0]
        .strip()
        .splitlines()
    )
    assert [line.split()[0] for line in candidates[2:]] == [
        "dune",
        "ember",
        "birch",
        "cedar",
        "fjord",
        "amber",
    ]
    assert "cheapest: " in answer.out
    assert answer.code == 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [100, 120, 200])
def test_a_plan_is_as_wide_as_there_is_room_and_loses_no_figure(example: Path, width: int) -> None:
    """The picture of the candidates is there only where it fits; figures are the same at any
    width."""
    found = make_plan(example, items=200)
    text, wide = (terminal_text(plan_reports(found), width=columns) for columns in (width, 10_000))
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert ("●" in text) == (width > 100)
    assert figures(text) == figures(wide)


def test_the_reasoning_is_printed(podium: Podium) -> None:
    lines = podium("plan", "--models", "3", "--full").out.splitlines()
    assert lines[4] == (
        "are there at most 3 models? yes, 3: all pairs cost no more than an anchor from "
        "outside would"
    )
    assert lines[0] == "Compare all pairs."


def test_a_screen_has_the_answer_a_design_a_row_and_the_line_to_type(podium: Podium) -> None:
    out = podium("plan", "--models", "6", "--items", "50").out
    assert len(out.splitlines()) <= 40
    assert ("what 50 items cost and detect" in out, "wins: of decided items" in out) == (
        True,
        False,
    )
    play = "inspect eval podium/ring -T responses=PATH --model-role judge=MODEL"
    assert out.splitlines()[-2:-1] == [play]
    assert "--section NAME of samples, gaps, needed, assumptions" in out.splitlines()[-1]


@pytest.mark.slow
def test_a_section_is_asked_for_by_its_name(podium: Podium) -> None:
    words = ("plan", "--models", "6", "--items", "50")
    section, whole = (podium(*words, *more).out for more in (("--section", "gaps"), ("--full",)))
    assert section.splitlines()[2].startswith("the smallest edge that 50 items detect")
    assert set(section.splitlines()) <= set(whole.splitlines())
    assert "| when | decided | edge |" in podium(*words, "--section", "gaps", "--format", "md").out
    answer = podium(*words, "--section", "gasp")
    assert (answer.code, "did you mean 'gaps'?" in answer.err) == (2, True)


def test_money_needs_four_numbers_and_says_so(podium: Podium) -> None:
    out = podium(
        "plan", "--models", "3", "--items", "50", "--price-in", "2", "--tokens-in", "900"
    ).out
    assert (
        "tokens and money: not all tokens and prices of a call are known; give --tokens-out, "
        "--price-out" in out
    )


@pytest.mark.slow
def test_markdown_has_the_tables_without_pictures(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    podium("plan", example, "-o", tmp_path / "plan.md")
    text = (tmp_path / "plan.md").read_text(encoding="utf-8")
    assert "| anchor | advice | informative | interval | pairs | rank set |\n|---|---|---:|" in text
    assert "●" not in text


@pytest.mark.slow
def test_json_is_pure_and_whole(podium: Podium, example: Path) -> None:
    document = json.loads(podium("plan", example, "--items", "100", "--format", "json").out)
    assert document["plan"]["decision"]["design"] == "ranking"
    designs = [line["design"] for line in document["plan"]["lines"]]
    assert designs == ["anchor dune", "round_robin", "swim", "chain", "ring"]


@pytest.mark.slow
def test_what_a_pilot_cannot_answer_exits_with_3_and_the_rest_is_there(
    podium: Podium, table: Callable[..., Path]
) -> None:
    rows = []
    for k in range(8):
        rows += [f"q{k},a,b,{k % 2}", f"q{k},c,d,{k % 2}"]
    answer = podium("plan", table(*rows), "--full")
    assert answer.code == 3
    assert "informativeness of the candidates for the anchor: no item has readable" in answer.out
    assert "the battles fall into 2 groups that never met" in answer.out
    assert "617" in answer.out


@pytest.mark.slow
def test_a_plan_for_two_models_lacks_nothing_without_an_anchor(
    podium: Podium, table: Callable[..., Path]
) -> None:
    rows = [f"q{k},a,b,{k % 2}" for k in range(8)]
    answer = podium("plan", table(*rows), "--full")
    assert answer.code == 0
    assert answer.out.startswith("Compare the two models.")
    assert "informativeness" not in answer.out
    assert "617" in answer.out


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        ((), 2, "give a pilot, or the number of models"),
        (("--models", "1"), 2, "Invalid value for '--models'"),
        (("--models", "4", "--ties", "1"), 2, "Invalid value for '--ties'"),
        (("--models", "4", "--shown", "a"), 2, "--shown belongs to a pilot: name one"),
        (("--models", "4", "--pair", "a", "a"), 2, "a pair needs two different models"),
        (("--models", "4", "-o", "plan.csv"), 2, "cannot write 'plan.csv'"),
        (
            ("--models", "4", "--until", "top1"),
            2,
            "--until was removed: docs/stopping.md has a measured table",
        ),
        (("--models", "4", "--margin", "20"), 2, "--margin was removed: docs/stopping.md"),
        (
            ("--models", "4", "--simulations", "200"),
            2,
            "--simulations was removed: nothing is simulated",
        ),
    ],
)
def test_wrong_usage_is_rejected(
    podium: Podium, words: tuple[str, ...], code: int, complaint: str
) -> None:
    answer = podium("plan", *words)
    assert (answer.code, complaint in answer.err, answer.out) == (code, True, "")


def test_a_misspelt_baseline_is_corrected(podium: Podium, example: Path) -> None:
    answer = podium("plan", example, "--baseline", "ambre")
    assert (answer.code, "did you mean 'amber'" in answer.err) == (2, True)


def test_every_option_of_plan_says_what_it_does() -> None:
    import click

    from podium.cli.main import podium as group

    options = [one for one in group.commands["plan"].params if isinstance(one, click.Option)]
    assert [option.name for option in options if not option.help] == []
