"""podium rank: exit codes, streams, formats and options, as the contract has them."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs" / "ranking.schema.json"
Podium = Callable[..., Any]
Table = Callable[..., Path]

TRIANGLE = (
    "i1,a,b,1",
    "i1,b,c,1",
    "i1,c,a,1",
    "i2,a,b,1",
    "i2,b,c,1",
    "i2,a,c,1",
    "i3,a,b,0",
    "i3,b,c,.5",
)
SEVERAL_JUDGES = tuple(f"{row},{judge}" for judge in ("strict", "kind") for row in TRIANGLE)
WITH_JUDGE = "item,model_a,model_b,credit,judge"
WITH_CATEGORY = "item,model_a,model_b,credit,category"
ESCAPE = "\x1b"


def models(text: str) -> dict[str, dict[str, Any]]:
    """Return the rows of the first ranking of a JSON document, by model."""
    return {row["model"]: row for row in json.loads(text)["rankings"][0]["models"]}


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def with_names(*names: str) -> tuple[str, ...]:
    """Return the triangle with other names for a, b and c."""
    new = dict(zip("abc", (f'"{name}"' for name in names), strict=True))
    split = (row.split(",") for row in TRIANGLE)
    return tuple(f"{item},{new[a]},{new[b]},{credit}" for item, a, b, credit in split)


def test_a_ranking_of_all_that_was_asked_exits_with_0(podium: Podium, example: Path) -> None:
    assert podium("rank", example, "--ranker", "win-rate,bradley-terry").code == 0


def test_unparsed_rows_do_not_change_the_exit_code(podium: Podium, table: Table) -> None:
    answer = podium("rank", table(*TRIANGLE, "i4,a,b,"), "--ranker", "win-rate")
    assert (answer.code, "1 unparsed" in answer.out) == (0, True)


def test_battles_that_never_join_exit_with_1_and_the_battles_that_would_join_them(
    podium: Podium, table: Table
) -> None:
    answer = podium(
        "rank", table("i1,a,b,1", "i2,a,b,0", "i1,c,d,1", "i2,c,d,0"), "--ranker", "bradley-terry"
    )
    assert (answer.code, answer.out, "join them: " in answer.err) == (1, "", True)


def test_a_table_without_a_readable_verdict_exits_with_1(podium: Podium, table: Table) -> None:
    answer = podium("rank", table("i1,a,b,", "i2,a,b,"), "--ranker", "win-rate")
    assert (answer.code, "readable verdict" in answer.err) == (1, True)


def test_an_unknown_ranker_exits_with_2_and_the_nearest_name(podium: Podium, example: Path) -> None:
    answer = podium("rank", example, "--ranker", "bradley-tery")
    assert (answer.code, "did you mean 'bradley-terry'?" in answer.err) == (2, True)


def test_a_file_that_is_not_there_exits_with_2(podium: Podium) -> None:
    answer = podium("rank", "absent.csv", "--ranker", "win-rate")
    assert (answer.code, "no such file or directory: absent.csv" in answer.err) == (2, True)


@pytest.mark.slow
def test_one_ranker_of_two_without_an_answer_exits_with_3(podium: Podium, example: Path) -> None:
    assert podium("rank", example, "--ranker", "win-rate,mean").code == 3


@pytest.mark.slow
def test_the_ranker_that_can_answer_is_printed_when_another_cannot(
    podium: Podium, example: Path
) -> None:
    titles = [
        line
        for line in podium("rank", example, "--ranker", "mean,win-rate").out.splitlines()
        if " · " in line
    ]
    assert titles[0].startswith("win-rate · ")


@pytest.mark.slow
def test_stderr_says_which_ranker_is_missing_and_why(podium: Podium, example: Path) -> None:
    answer = podium("rank", example, "--ranker", "win-rate,mean")
    assert "podium: not ranked: mean: no pointwise scores" in answer.err


def test_a_slice_that_cannot_be_ranked_exits_with_3_and_is_named(
    podium: Podium, table: Table
) -> None:
    rows = [f"{row},good" for row in TRIANGLE] + ["i1,a,b,,lost"]
    answer = podium(
        "rank", table(*rows, header=WITH_CATEGORY), "--ranker", "win-rate", "--by", "category"
    )
    assert (answer.code, "not ranked: win-rate [lost]: none of the 1 battle" in answer.err) == (
        3,
        True,
    )


@pytest.mark.slow
def test_an_anchor_that_is_absent_from_one_slice_costs_that_slice_only(
    podium: Podium, table: Table
) -> None:
    rows = [f"{row},all" for row in TRIANGLE] + ["i1,b,c,1,few", "i2,b,c,0,few"]
    path = table(*rows, header=WITH_CATEGORY)
    answer = podium("rank", path, "--ranker", "win-rate", "--set", "anchor=a", "--by", "category")
    assert (answer.code, "not ranked: win-rate [few]" in answer.err) == (3, True)


@pytest.mark.slow
def test_an_anchor_that_no_slice_knows_exits_with_2(podium: Podium, example: Path) -> None:
    answer = podium(
        "rank", example, "--ranker", "win-rate", "--set", "anchor=ambr", "--by", "category"
    )
    assert (answer.code, "did you mean 'amber'?" in answer.err) == (2, True)


def test_a_mistyped_anchor_exits_with_2_though_another_ranker_could_answer(
    podium: Podium, example: Path
) -> None:
    assert (
        podium("rank", example, "--ranker", "bradley-terry,win-rate", "--set", "anchor=ambr").code
        == 2
    )


def test_tables_go_to_stdout_and_warnings_to_stderr(podium: Podium, table: Table) -> None:
    answer = podium("rank", table(*TRIANGLE, "i4,a,b,"), "--ranker", "win-rate")
    unparsed = "1 of 9 battles is unparsed"
    assert (unparsed in answer.out, f"podium: warning: {unparsed}" in answer.err) == (False, True)


def test_a_warning_that_all_standings_share_is_written_once(podium: Podium, table: Table) -> None:
    """The item of which nothing was read is none of the three that the answer counts."""
    answer = podium("rank", table(*TRIANGLE, "i4,a,b,"), "--ranker", "win-rate,bradley-terry")
    assert answer.err.count("1 of 9 battles is unparsed") == 1
    assert (answer.out + answer.err).lower().count("only 3 items") == 1


def test_few_items_are_mentioned_once_in_all_output(podium: Podium, table: Table) -> None:
    answer = podium("rank", table(*TRIANGLE), "--ranker", "win-rate,bradley-terry")
    assert (answer.out + answer.err).lower().count("only 3 items") == 1


def test_json_on_stdout_is_nothing_but_json(podium: Podium, table: Table) -> None:
    answer = podium("rank", table(*TRIANGLE), "--ranker", "win-rate,mean", "--format", "json")
    assert [one["ranker"] for one in json.loads(answer.out)["rankings"]] == ["win-rate"]


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate", "informativeness"])
def test_json_follows_the_schema(podium: Podium, example: Path, ranker: str) -> None:
    import jsonschema

    answer = podium("rank", example, "--ranker", ranker, "--by", "category", "--format", "json")
    jsonschema.validate(json.loads(answer.out), json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_json_of_unbounded_and_unparsed_models_follows_the_schema(
    podium: Podium, table: Table
) -> None:
    import jsonschema

    path = table(*TRIANGLE, "i1,best,a,1", "i2,best,b,1", "i1,mute,a,")
    answer = podium("rank", path, "--ranker", "bradley-terry,informativeness", "--format", "json")
    jsonschema.validate(json.loads(answer.out), json.loads(SCHEMA.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_a_model_without_a_readable_battle_is_shown_beside_extra_columns(
    podium: Podium, table: Table, example: Path
) -> None:
    header, *rows = example.read_text(encoding="utf-8").splitlines()
    mute = "item-00,amber,mute,,,ab,simulated-judge,,code,,,"
    answer = podium("rank", table(*rows, mute, header=header), "--ranker", "informativeness")
    assert (answer.code, "mute" in answer.out) == (0, True)


@pytest.mark.slow
def test_csv_has_one_row_per_model_slice_and_ranker(podium: Podium, example: Path) -> None:
    answer = podium(
        "rank", example, "--ranker", "win-rate,bradley-terry", "--by", "category", "--format", "csv"
    )
    keys = {(row["model"], row["slice"], row["ranker"]) for row in rows_of(answer.out)}
    assert (len(rows_of(answer.out)), len(keys)) == (24, 24)


@pytest.mark.slow
def test_csv_leaves_the_slice_empty_without_by(podium: Podium, example: Path) -> None:
    answer = podium("rank", example, "--ranker", "win-rate", "--format", "csv")
    assert {row["slice"] for row in rows_of(answer.out)} == {""}


@pytest.mark.slow
def test_markdown_has_a_row_per_model(podium: Podium, example: Path) -> None:
    answer = podium("rank", example, "--ranker", "win-rate", "--format", "md")
    assert sum(line.startswith("| ") for line in answer.out.splitlines()) == 1 + 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "start"),
    [("json", "{"), ("csv", "ranker,slice"), ("md", "amber, birch"), ("txt", "amber, birch")],
)
def test_the_suffix_of_the_output_file_decides_its_format(
    podium: Podium, example: Path, tmp_path: Path, suffix: str, start: str
) -> None:
    podium("rank", example, "--ranker", "win-rate", "-o", tmp_path / f"ranking.{suffix}")
    assert (tmp_path / f"ranking.{suffix}").read_text(encoding="utf-8").startswith(start)


@pytest.mark.slow
def test_format_overrides_the_suffix(podium: Podium, example: Path, tmp_path: Path) -> None:
    podium(
        "rank", example, "--ranker", "win-rate", "--format", "json", "-o", tmp_path / "ranking.log"
    )
    assert json.loads((tmp_path / "ranking.log").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_an_output_file_leaves_stdout_empty(podium: Podium, example: Path, tmp_path: Path) -> None:
    assert podium("rank", example, "--ranker", "win-rate", "-o", tmp_path / "ranking.csv").out == ""


def test_a_suffix_without_a_format_is_rejected(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    answer = podium("rank", example, "--ranker", "win-rate", "-o", tmp_path / "ranking.xlsx")
    assert (answer.code, "cannot tell the format from 'ranking.xlsx'" in answer.err) == (2, True)


def test_an_output_folder_that_is_not_there_is_rejected(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    answer = podium(
        "rank", example, "--ranker", "win-rate", "-o", tmp_path / "absent" / "ranking.csv"
    )
    assert (answer.code, "there is no folder" in answer.err) == (2, True)


@pytest.mark.slow
def test_slices_share_a_scale_centred_on_the_models_common_to_all(
    podium: Podium, table: Table
) -> None:
    rows = [f"{row},one" for row in TRIANGLE] + [
        f"{row},two" for row in (*TRIANGLE, "i1,a,d,1", "i2,d,b,1", "i2,a,d,0")
    ]
    path = table(*rows, header=WITH_CATEGORY)
    answer = podium(
        "rank", path, "--ranker", "bradley-terry", "--by", "category", "--format", "csv"
    )
    common = [
        float(row["score"])
        for row in rows_of(answer.out)
        if row["slice"] == "two" and row["model"] in "abc"
    ]
    assert sum(common) / 3 == pytest.approx(1500)


@pytest.mark.slow
def test_a_slice_without_verdicts_does_not_cost_the_others_their_common_centre(
    podium: Podium, table: Table
) -> None:
    more = (*TRIANGLE, "i1,a,d,1", "i2,d,b,1", "i2,a,d,0")
    rows = [f"{row},one" for row in TRIANGLE] + [f"{row},two" for row in more] + ["i1,a,b,,lost"]
    path = table(*rows, header=WITH_CATEGORY)
    answer = podium(
        "rank", path, "--ranker", "bradley-terry", "--by", "category", "--format", "csv"
    )
    common = [
        float(row["score"])
        for row in rows_of(answer.out)
        if row["slice"] == "two" and row["model"] in "abc"
    ]
    assert sum(common) / 3 == pytest.approx(1500)


@pytest.mark.slow
def test_slices_without_a_common_model_warn_against_comparison(
    podium: Podium, table: Table
) -> None:
    rows = [f"{row},one" for row in TRIANGLE] + [f"{row},two" for row in with_names("d", "e", "f")]
    answer = podium(
        "rank", table(*rows, header=WITH_CATEGORY), "--ranker", "bradley-terry", "--by", "category"
    )
    assert "warning: no model is in every slice" in answer.err


def test_battles_without_a_value_of_by_are_counted_in_a_warning(
    podium: Podium, table: Table
) -> None:
    rows = [f"{row},one" for row in TRIANGLE] + ["i9,a,b,1,", "i9,a,c,1,"]
    answer = podium(
        "rank", table(*rows, header=WITH_CATEGORY), "--ranker", "win-rate", "--by", "category"
    )
    assert "2 of 10 battles have no category and are in no slice" in answer.err


def test_by_an_unknown_column_exits_with_2_and_the_columns_there_are(
    podium: Podium, example: Path
) -> None:
    answer = podium("rank", example, "--ranker", "win-rate", "--by", "colour")
    assert (answer.code, "no column called 'colour'; available: " in answer.err) == (2, True)


@pytest.mark.slow
def test_kept_battles_with_one_order_unparsed_are_counted_among_the_judged(
    podium: Podium, example: Path
) -> None:
    answer = podium("rank", example, "--one-sided", "keep")
    assert "600 battles: 600 judged (one order unparsed: 26), 0 unparsed" in answer.out


@pytest.mark.slow
def test_where_keeps_the_rows_with_that_value(podium: Podium, example: Path) -> None:
    answer = podium(
        "rank", example, "--ranker", "win-rate", "--where", "category=code", "--format", "json"
    )
    assert json.loads(answer.out)["rankings"][0]["counts"]["items"] == 20


def test_where_without_a_value_exits_with_2(podium: Podium, example: Path) -> None:
    answer = podium("rank", example, "--ranker", "win-rate", "--where", "category")
    assert (answer.code, "write COLUMN=VALUE" in answer.err) == (2, True)


def test_several_judges_are_rejected_with_exit_code_1_and_the_three_ways_on(
    podium: Podium, table: Table
) -> None:
    answer = podium("rank", table(*SEVERAL_JUDGES, header=WITH_JUDGE), "--ranker", "win-rate")
    assert (
        answer.code,
        [way in answer.err for way in ("--where judge=", "--by judge", "--pool")],
    ) == (1, [True] * 3)


def test_pool_ranks_several_judges_together(podium: Podium, table: Table) -> None:
    path = table(*SEVERAL_JUDGES, header=WITH_JUDGE)
    answer = podium("rank", path, "--ranker", "win-rate", "--pool", "--format", "json")
    assert json.loads(answer.out)["rankings"][0]["counts"]["battles"] == 16


def test_where_judge_ranks_one_of_several_judges(podium: Podium, table: Table) -> None:
    path = table(*SEVERAL_JUDGES, header=WITH_JUDGE)
    answer = podium(
        "rank", path, "--ranker", "win-rate", "--where", "judge=kind", "--format", "json"
    )
    assert json.loads(answer.out)["rankings"][0]["counts"]["battles"] == 8


def test_by_judge_ranks_each_judge(podium: Podium, table: Table) -> None:
    path = table(*SEVERAL_JUDGES, header=WITH_JUDGE)
    answer = podium("rank", path, "--ranker", "win-rate", "--by", "judge", "--format", "json")
    assert [one["slice"] for one in json.loads(answer.out)["rankings"]] == ["kind", "strict"]


@pytest.mark.slow
def test_a_setting_reaches_the_ranker_with_the_type_it_declares(
    podium: Podium, example: Path
) -> None:
    settings = ("--set", "interval=bootstrap", "--set", "resamples=50")
    answer = podium("rank", example, "--ranker", "win-rate", *settings, "--format", "json")
    assert (
        json.loads(answer.out)["rankings"][0]["interval"]
        == "item bootstrap, percentile, 50 resamples"
    )


@pytest.mark.slow
def test_a_setting_with_a_rankers_name_reaches_that_ranker_only(
    podium: Podium, example: Path
) -> None:
    words = ("--ranker", "win-rate,bradley-terry", "--set", "win-rate.interval=bootstrap")
    answer = podium("rank", example, *words, "--set", "win-rate.resamples=50", "--format", "json")
    methods = [one["interval"] for one in json.loads(answer.out)["rankings"]]
    assert methods == ["item bootstrap, percentile, 50 resamples", "item-clustered sandwich"]


@pytest.mark.slow
def test_a_setting_with_a_rankers_name_wins_over_the_general_one_typed_later(
    podium: Podium, example: Path
) -> None:
    words = ("--ranker", "win-rate", "--set", "win-rate.cluster=row", "--set", "cluster=item")
    answer = podium("rank", example, *words, "--format", "json")
    assert json.loads(answer.out)["rankings"][0]["interval"] == "row-clustered sandwich"


def test_an_unknown_setting_exits_with_2_and_the_nearest_one(podium: Podium, example: Path) -> None:
    answer = podium("rank", example, "--ranker", "win-rate", "--set", "ancor=amber")
    assert (answer.code, "did you mean 'anchor'?" in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("resamples=many", "resamples='many' is not a whole number"),
        ("regularization=nan", "regularization='nan' is not a number"),
        ("labels=medium", "labels='medium' is unknown; use one of soft, hard"),
        ("labels", "write KEY=VALUE or RANKER.KEY=VALUE"),
        ("win-rate.labels=hard", "no ranker in this call called 'win-rate'"),
    ],
)
def test_a_setting_of_the_wrong_kind_exits_with_2(
    podium: Podium, example: Path, setting: str, complaint: str
) -> None:
    answer = podium("rank", example, "--ranker", "bradley-terry", "--set", setting)
    assert (answer.code, complaint in answer.err) == (2, True)


@pytest.mark.slow
def test_a_pin_moves_scores_and_is_itself_exact(podium: Podium, example: Path) -> None:
    free = models(podium("rank", example, "--ranker", "bradley-terry", "--format", "json").out)
    pin = ("--set", "pin=amber:1000")
    pinned = models(
        podium("rank", example, "--ranker", "bradley-terry", *pin, "--format", "json").out
    )
    shift = 1000 - free["amber"]["score"]
    expected = {name: row["score"] + shift for name, row in free.items()}
    assert {name: row["score"] for name, row in pinned.items()} == pytest.approx(expected)
    assert [name for name, row in pinned.items() if row["se"] == 0] == ["amber"]


@pytest.mark.slow
def test_a_higher_level_gives_wider_intervals(podium: Podium, example: Path) -> None:
    def width(level: str) -> float:
        answer = podium(
            "rank", example, "--ranker", "win-rate", "--level", level, "--format", "json"
        )
        return models(answer.out)["cedar"]["high"] - models(answer.out)["cedar"]["low"]

    assert width("0.99") > width("0.9")


@pytest.mark.slow
def test_the_title_shows_the_level_unrounded(podium: Podium, example: Path) -> None:
    assert (
        "99.9% intervals" in podium("rank", example, "--ranker", "win-rate", "--level", "0.999").out
    )


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    "option", [("--level", "95"), ("--level", "0"), ("--level", "nan"), ("--seed", "-1")]
)
def test_a_level_or_seed_out_of_range_exits_with_2(
    podium: Podium, example: Path, option: tuple[str, str]
) -> None:
    assert podium("rank", example, "--ranker", "win-rate", *option).code == 2


def bootstrapped(podium: Podium, example: Path, seed: int) -> str:
    settings = ("--set", "interval=bootstrap", "--set", "resamples=50", "--seed", seed)
    return str(podium("rank", example, "--ranker", "win-rate", *settings, "--format", "csv").out)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_output(podium: Podium, example: Path) -> None:
    assert bootstrapped(podium, example, 3) == bootstrapped(podium, example, 3)


@pytest.mark.slow
def test_another_seed_gives_other_draws(podium: Podium, example: Path) -> None:
    assert bootstrapped(podium, example, 3) != bootstrapped(podium, example, 4)


@pytest.mark.slow
def test_ranker_names_may_be_followed_by_spaces_and_count_once(
    podium: Podium, example: Path
) -> None:
    answer = podium(
        "rank", example, "--ranker", "win-rate, bradley-terry,win-rate", "--format", "json"
    )
    assert [one["ranker"] for one in json.loads(answer.out)["rankings"]] == [
        "win-rate",
        "bradley-terry",
    ]


def test_a_long_name_is_never_cut(podium: Podium, table: Table) -> None:
    name = "a-model-with-a-very-long-name-" * 8
    assert (
        name in podium("rank", table(*with_names(name, "b", "c")), "--ranker", "bradley-terry").out
    )


def test_a_name_of_wide_characters_is_never_cut(podium: Podium, table: Table) -> None:
    name = "模型" * 40
    assert (
        name in podium("rank", table(*with_names(name, "b", "c")), "--ranker", "bradley-terry").out
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["[bold]x[/bold]", "[/]", ":smile:", "ünïcode-模型-🦙", "a|b"])
@pytest.mark.parametrize("style", ["table", "csv"])
def test_a_name_is_shown_as_it_is(podium: Podium, table: Table, name: str, style: str) -> None:
    answer = podium(
        "rank", table(*with_names(name, "b", "c")), "--ranker", "win-rate", "--format", style
    )
    assert (answer.code, name in answer.out) == (0, True)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a|b", r"a\|b"),
        ("[bold]x", r"\[bold]x"),
        ("**x**", r"\*\*x\*\*"),
        ("_x_", r"\_x\_"),
        ("gpt_4", "gpt_4"),
    ],
)
def test_a_name_is_no_markup_in_markdown(
    podium: Podium, table: Table, name: str, escaped: str
) -> None:
    answer = podium(
        "rank", table(*with_names(name, "b", "c")), "--ranker", "win-rate", "--format", "md"
    )
    assert f"| {escaped} |" in answer.out


@pytest.mark.slow
def test_a_name_with_markup_is_shown_as_it_is_in_titles_and_headers(
    podium: Podium, table: Table
) -> None:
    rows = [f"{row},[red]" for row in with_names("[bold]", "b", "c")]
    path = table(*rows, header=WITH_CATEGORY)
    words = ("--ranker", "win-rate", "--by", "category", "--set", "anchor=[bold]")
    out = podium("rank", path, *words).out
    assert ("win-rate [[red]] · " in out, "win rate against [bold]" in out) == (True, True)


def test_control_characters_in_a_name_are_shown_as_escapes(podium: Podium, table: Table) -> None:
    out = podium("rank", table(*with_names("red\x1b[31m\nx", "b", "c")), "--ranker", "win-rate").out
    assert (ESCAPE in out, r"red\x1b[31m\nx" in out) == (False, True)


@pytest.mark.slow
def test_no_line_of_a_table_ends_in_spaces(podium: Podium, example: Path) -> None:
    lines = podium("rank", example, "--ranker", "bradley-terry").out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.fixture
def parquet(podium: Podium, example: Path, tmp_path: Path) -> Path:
    """Return the example merged, as Parquet."""
    podium("convert", example, "--merge", "-o", tmp_path / "battles.parquet")
    return tmp_path / "battles.parquet"


@pytest.mark.slow
def test_battles_merged_and_kept_as_parquet_rank_as_their_source(
    podium: Podium, example: Path, parquet: Path
) -> None:
    kept, source = (
        models(podium("rank", path, "--ranker", "bradley-terry", "--format", "json").out)
        for path in (parquet, example)
    )
    assert {name: row["score"] for name, row in kept.items()} == pytest.approx(
        {name: row["score"] for name, row in source.items()}, rel=1e-9
    )


@pytest.mark.slow
def test_a_setting_with_the_rankers_name_is_heeded_where_battles_are_kept(
    podium: Podium, parquet: Path
) -> None:
    words = ("--set", "bradley-terry.pin=amber:1000", "--format", "json")
    assert (
        models(podium("rank", parquet, "--ranker", "bradley-terry", *words).out)["amber"]["score"]
        == 1000
    )


def shell(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m podium` with both streams piped."""
    command = [sys.executable, "-m", "podium", *map(str, words)]
    clean = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")
    }
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=clean | environment,
        check=False,
    )


def on_terminal(stream: str, *words: object, **environment: str) -> str:
    """Run `python -m podium` with one of its streams on a terminal; return what came there."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    clean = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")
    }
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | {stream: slave}
    command = [sys.executable, "-m", "podium", *map(str, words)]
    with subprocess.Popen(command, env=clean | {"TERM": "xterm"} | environment, **streams):
        os.close(slave)
        seen = b"".join(iter(lambda: _read(master), b""))
    os.close(master)
    return seen.decode("utf-8", errors="replace")


def _read(terminal: int) -> bytes:
    """Read what a terminal shows; Linux ends it with an error instead of an empty read."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


LONG = ("--ranker", "bradley-terry", "--set", "interval=bootstrap", "--set", "resamples=400")


@pytest.mark.slow
def test_a_terminal_gets_a_styled_table(example: Path) -> None:
    assert ESCAPE in on_terminal("stdout", "rank", example, "--ranker", "win-rate")


@pytest.mark.slow
def test_a_terminal_with_no_color_gets_a_plain_table(example: Path) -> None:
    shown = on_terminal("stdout", "rank", example, "--ranker", "win-rate", NO_COLOR="1")
    assert ("amber" in shown, ESCAPE in shown) == (True, False)


@pytest.mark.slow
def test_a_terminal_on_stderr_gets_a_progress_bar(example: Path) -> None:
    assert "bootstrap" in on_terminal("stderr", "rank", example, *LONG)


@pytest.mark.slow
def test_pipes_get_a_plain_table_and_no_progress_bar_even_when_colour_is_forced(
    example: Path,
) -> None:
    answer = shell("rank", example, *LONG, FORCE_COLOR="1")
    assert ("amber" in answer.stdout, ESCAPE in answer.stdout, answer.stderr) == (True, False, "")


@pytest.mark.slow
def test_a_pipe_in_another_encoding_gets_utf8(table: Table) -> None:
    path = table(*with_names("ünïcode-模型", "b", "c"))
    assert (
        "ünïcode-模型"
        in shell("rank", path, "--ranker", "win-rate", PYTHONIOENCODING="ascii").stdout
    )


@pytest.mark.slow
@pytest.mark.parametrize("words", [("list",), ("rank", "EXAMPLE", "--ranker", "win-rate")])
def test_a_reader_that_leaves_early_sees_no_traceback_and_no_failure(
    example: Path, words: tuple[str, ...]
) -> None:
    command = [
        sys.executable,
        "-m",
        "podium",
        *(str(example) if word == "EXAMPLE" else word for word in words),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        complaint = process.stderr.read().decode()
    assert (complaint, process.returncode) == ("", 0)


def test_a_word_without_a_credit_is_named_with_what_to_do(podium, table):
    """Empty is no credit; the proposal of a map has question marks to fill in."""
    answer = podium("rank", table("1,a,b,good", "2,a,b,bad"), "--credit-map", "good=1,bad=")
    assert answer.code == 2
    assert "bad=: give the credit of model_a as a number" in answer.err
    assert "--unknown unparsed" in answer.err


@pytest.mark.slow
def test_a_ranking_does_without_the_slowest_imports(table: Table) -> None:
    """SciPy's statistics take longer to import than everything else that a small table needs."""
    code = (
        "import sys; from podium.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print([m for m in ('scipy.stats', 'altair', 'inspect_ai', 'lm_eval') if m in "
        "sys.modules], file=sys.stderr)"
    )
    path = str(table(*TRIANGLE))
    done = subprocess.run(
        [sys.executable, "-c", code, "rank", path], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_an_option_that_no_default_ranker_has_is_named_before_the_sources_are_read(
    podium: Podium, tmp_path: Path
) -> None:
    (tmp_path / "notes.csv").write_text("neither,verdicts\nnor,scores\n", encoding="utf-8")
    wrong = podium("rank", tmp_path / "notes.csv", "--set", "ancor=amber")
    assert (wrong.code, "no option called 'ancor'" in wrong.err) == (2, True), wrong.err


def test_an_option_of_bradley_terry_is_none_of_the_default_ranker_of_scores(
    podium: Podium, tmp_path: Path
) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text(
        "item,ash,elm\n" + "".join(f"q{k},{k % 2},{k % 3 // 2}\n" for k in range(40)),
        encoding="utf-8",
    )
    wrong = podium("rank", scores, "--set", "pin=ash:0")
    assert (wrong.code, "'pin' is an option of bradley-terry" in wrong.err) == (2, True)
    assert "not of mean" in wrong.err


def test_a_setting_that_only_one_default_ranker_takes_is_accepted_without_a_ranker(podium, save):
    """Which ranker is the default depends on the file: scores are ranked by `mean`."""
    rows = "".join(f"q{k},{k % 3 > 0:d},{k % 2:d}\n" for k in range(40))
    path = save("scores.csv", "item,x,y\n" + rows)
    answer = podium("rank", path, "--set", "interval=betting", "--format", "json")
    assert answer.code == 0
    assert "betting" in answer.out
    assert podium("rank", path, "--set", "interval=other").code == 2
