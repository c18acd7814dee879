"""Input that cannot be ranked raises an error, with the file, the row, the value and the remedy."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import podium
from podium.notices.notice_text import notice_texts

HEADER = "item,model_a,model_b,credit\n"


def refusal(*sources, error=podium.DataError, **options):
    with pytest.raises(error) as caught:
        podium.read_battles(*sources, **options)
    return str(caught.value)


def unranked(battles, ranker="bradley-terry", error=podium.NotIdentifiedError, **options):
    with pytest.raises(error) as caught:
        podium.rank(battles, ranker, **options)
    return str(caught.value)


def table(*rows, columns=("item", "model_a", "model_b", "credit")):
    return podium.read_battles(pd.DataFrame(rows, columns=list(columns)))


def standings(battles, ranker="bradley-terry", **options):
    return podium.rank(battles, ranker, **options).standings[0]


def circle(items=4):
    """Battles of x, y and z in which everyone wins and loses."""
    pairs = [("x", "y"), ("y", "z"), ("z", "x")]
    return [
        (f"i{k}", *pair, float(k % 2 or n == 0))
        for k in range(items)
        for n, pair in enumerate(pairs)
    ]


def test_records_that_are_no_frame_say_how_to_make_one():
    with pytest.raises(podium.UsageError, match="not a list"):
        podium.rank([{"item": "1", "model_a": "x", "model_b": "y", "credit": 1}])


def test_function_as_ranker_is_rejected_with_how_rankers_are_named(save):
    with pytest.raises(podium.UsageError, match="name rankers by text"):
        podium.rank(save("v.csv", "item,model_a,model_b,credit\n1,x,y,1\n"), len)


def test_unknown_verdicts_are_rejected_with_the_map_option(save):
    with pytest.raises(podium.UsageError, match="--credit-map"):
        podium.read_battles(save("v.csv", "left,right,winner\nx,y,error\n"), unknown="unparsed")


def test_a_missing_column_is_named_with_the_nearest_format(save):
    message = refusal(save("votes.csv", "item,model_a,credit\n1,x,1\n"))
    for part in ("votes.csv", "nearest: podium, which also needs model_b", "--columns"):
        assert part in message


def test_a_table_called_podium_without_credit_says_what_is_missing(save):
    message = refusal(save("votes.csv", "item,model_a,model_b\n1,x,y\n"), format="podium")
    assert "no column credit (or margin); found: item, model_a, model_b" in message
    assert "--columns" in message


def test_a_format_that_is_forced_on_a_file_names_the_column_it_needs(save):
    message = refusal(save("votes.csv", f"{HEADER}1,x,y,1\n"), format="evalica")
    assert "votes.csv: no column 'winner', which the format evalica needs" in message


@pytest.mark.parametrize("value", ["1.5", "-0.1", "2"])
def test_a_credit_outside_its_range_is_rejected_with_row_value_and_remedy(save, value):
    message = refusal(save("votes.csv", f"{HEADER}1,x,y,1\n2,x,y,{value}\n"))
    for part in ("votes.csv, row 2", f"credit '{value}' is outside [0, 1]", "--credit-map"):
        assert part in message


def test_a_credit_that_is_a_word_is_rejected(save):
    assert "votes.csv, row 1: credit 'win' is not a number" in refusal(
        save("votes.csv", f"{HEADER}1,x,y,win\n")
    )


def test_several_bad_rows_are_counted(save):
    message = refusal(save("votes.csv", f"{HEADER}1,x,y,7\n2,x,y,1\n3,x,y,8\n"))
    assert "row 1: credit '7' is outside [0, 1] (2 such rows)" in message


def test_a_data_frames_rows_are_named_too():
    with pytest.raises(
        podium.DataError, match=r"the data frame, row 2: credit 3.0 is outside \[0, 1\]"
    ):
        table(("1", "x", "y", 1.0), ("2", "x", "y", 3.0))


def test_battle_of_a_model_with_itself_is_rejected(save):
    message = refusal(save("votes.csv", f"{HEADER}1,x,y,1\n2,x,x,1\n"))
    assert "votes.csv, row 2: model_b 'x' plays against itself. Remedy: remove" in message


def test_a_model_without_a_name_is_rejected(save):
    assert "votes.csv, row 1: model_b is empty. Remedy:" in refusal(
        save("votes.csv", f"{HEADER}1,x,,1\n")
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("value", ["0", "-1"])
def test_a_weight_that_is_not_above_zero_is_rejected(save, value):
    message = refusal(save("votes.csv", f"model_a,model_b,credit,weight\nx,y,1,{value}\n"))
    assert f"row 1: weight '{value}' is not above 0" in message


def test_an_unknown_order_is_rejected(save):
    message = refusal(save("votes.csv", "model_a,model_b,credit,order\nx,y,1,first\n"))
    assert "row 1: order 'first' is unknown. Remedy: use one of ab, ba, merged" in message


@pytest.mark.slow
def test_duplicated_rows_are_kept_and_warned_about(save):
    battles = podium.read_battles(save("votes.csv", f"{HEADER}1,x,y,1\n1,x,y,1\n1,x,y,0\n"))
    assert len(battles) == 3
    assert notice_texts(battles.notes) == (
        "1 row repeats another row in every column; it counts as a repeat",
    )


def test_files_of_different_formats_are_rejected_by_name(save):
    message = refusal(
        save("own.csv", f"{HEADER}1,x,y,1\n"),
        save("food.csv", "left,right,winner\nx,y,left\n"),
        error=podium.UsageError,
    )
    assert "own.csv is podium" in message
    assert "food.csv is evalica" in message
    assert "podium convert" in message


def test_mixed_judges_are_rejected_with_the_three_remedies():
    columns = ("item", "model_a", "model_b", "credit", "judge")
    battles = table(("1", "x", "y", 1, "gpt"), ("2", "x", "y", 0, "claude"), columns=columns)
    message = unranked(battles)
    for part in ("2 judges", "claude, gpt", "--where judge=NAME", "--by judge", "--pool"):
        assert part in message


@pytest.mark.slow
def test_mixed_judges_can_be_pooled_split_or_chosen():
    columns = ("item", "model_a", "model_b", "credit", "judge")
    frame = pd.DataFrame(
        [(*row, judge) for row in circle() for judge in ("gpt", "claude")], columns=list(columns)
    )
    assert len(podium.rank(frame, "win-rate", pool=True).standings) == 1
    assert [one.slice for one in podium.rank(frame, "win-rate", by="judge").standings] == [
        "claude",
        "gpt",
    ]
    assert (
        len(podium.rank(podium.read_battles(frame, where=[("judge", "gpt")]), "win-rate").standings)
        == 1
    )


def test_one_model_only_is_rejected(save):
    assert "plays against itself" in refusal(save("votes.csv", f"{HEADER}1,x,x,1\n2,x,x,0\n"))


def test_battles_of_which_nothing_is_readable_are_rejected():
    message = unranked(table(("1", "x", "y", None), ("2", "x", "y", None)))
    assert "none of the 2 battles has a readable verdict" in message


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_a_single_item_gives_scores_without_interval(ranker):
    one = standings(table(*circle(1)), ranker)
    assert one.interval is None
    assert all((entry.low, entry.high, entry.se) == (None, None, None) for entry in one.entries)
    assert all(entry.score is not None for entry in one.entries)
    assert any(
        "a single item gives no interval" in warning for warning in notice_texts(one.warnings)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("ranker", "score"), [("bradley-terry", 1500.0), ("win-rate", 0.5)])
def test_all_ties_put_everyone_level(ranker, score):
    rows = [(item, a, b, 0.5) for item, a, b, _ in circle()]
    one = standings(table(*rows), ranker)
    assert [entry.score for entry in one.entries] == pytest.approx([score] * 3)
    assert {entry.rank for entry in one.entries} == {1}


def unbeaten():
    return table(
        *circle(), *((f"i{k}", "champion", other, 1.0) for k in range(4) for other in "xyz")
    )


@pytest.mark.slow
def test_an_unbeaten_model_is_flagged_with_a_lower_bound_alone_and_named():
    one = standings(unbeaten())
    champion = one.entries[0]
    assert (champion.model, champion.separated, champion.high) == ("champion", True, None)
    assert champion.low < champion.score
    assert any("champion (never lost)" in warning for warning in notice_texts(one.warnings))


@pytest.mark.slow
def test_the_models_below_an_unbeaten_one_keep_their_intervals():
    assert all(entry.low is not None for entry in standings(unbeaten()).entries[1:])


def test_an_unbeaten_model_without_regularization_is_rejected():
    message = unranked(unbeaten(), regularization=0)
    assert "champion (never lost)" in message
    assert "regularization=0" in message
    assert "What would bound it" in message


@pytest.mark.slow
def test_groups_that_never_met_are_rejected_with_the_battle_that_joins_them():
    rows = [*circle(), *((item, f"{a}2", f"{b}2", credit) for item, a, b, credit in circle())]
    message = unranked(table(*rows))
    assert "2 groups that never met" in message
    assert "x, y, z | x2, y2, z2" in message
    assert "1 battle would join them: x vs x2" in message


@pytest.mark.slow
def test_win_rates_of_groups_that_never_met_are_warned_about():
    rows = [*circle(), *((item, f"{a}2", f"{b}2", credit) for item, a, b, credit in circle())]
    assert any(
        "2 groups that never met" in warning
        for warning in notice_texts(standings(table(*rows), "win-rate").warnings)
    )


@pytest.mark.slow
def test_a_margin_that_is_nan_with_a_credit_is_only_without_margin():
    columns = ("item", "model_a", "model_b", "credit", "margin")
    counts = table(
        ("1", "x", "y", 1.0, math.nan), ("2", "x", "y", 0.0, -1.0), columns=columns
    ).counts()
    assert (counts.unparsed, counts.without_margin) == (0, 1)


@pytest.mark.slow
def test_a_margin_that_is_nan_without_a_credit_is_unparsed(save):
    lines = [
        {"item": k, "model_a": "x", "model_b": "y", "margin": margin}
        for k, margin in enumerate((math.nan, 1.0))
    ]
    battles = podium.read_battles(save("votes.jsonl", "\n".join(map(json.dumps, lines))))
    assert battles.counts().unparsed == 1


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("margin", [math.inf, -math.inf])
def test_an_infinite_margin_is_rejected(save, margin):
    line = {"item": 1, "model_a": "x", "model_b": "y", "margin": margin}
    message = refusal(save("votes.jsonl", json.dumps(line)))
    assert (
        f"line 1: margin {json.dumps(margin)} is infinite or too large. Remedy: leave the cell "
        "empty" in message
    )


def test_a_margin_on_a_criterion_that_is_a_word_is_rejected(save):
    message = refusal(
        save("votes.csv", "model_a,model_b,credit,margin_tone\nx,y,1,2.5\nx,y,1,warm\n")
    )
    assert "votes.csv, row 2: margin_tone 'warm' is not a number. Remedy: write a number" in message


def test_an_infinite_margin_on_a_criterion_is_rejected(save):
    message = refusal(save("votes.csv", "model_a,model_b,credit,margin_tone\nx,y,1,inf\n"))
    assert (
        "row 1: margin_tone 'inf' is infinite or too large. Remedy: leave the cell empty" in message
    )


def test_a_reason_beside_a_credit_is_a_contradiction_named_with_its_row(save):
    message = refusal(
        save(
            "v.csv",
            "item,model_a,model_b,credit,reason\n1,x,y,0,\n2,x,y,1,refusal\n3,x,y,,refusal\n",
        )
    )
    assert (
        "v.csv, row 2: reason 'refusal' contradicts the credit of its row. Remedy: empty one of "
        "the two, or rename" in message
    )


@pytest.mark.slow
def test_a_column_reason_of_explanations_is_kept_under_another_name(save):
    words = (
        "The first response answers all three parts of the question, the second only one of them"
    )
    battles = podium.read_battles(
        save(
            "v.csv",
            f"item,model_a,model_b,credit,reason\n1,x,y,1,{words.replace(',', ' -')}\n2,x,y,0,it "
            "is\n",
        )
    )
    assert (battles.counts().unparsed, battles.to_frame()["reason_"].notna().sum()) == (0, 2)


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("length_b", -5, "is below 0"),
        ("margin", 1e308, "is infinite or too large"),
        ("score_a", -1e308, "is infinite or too large"),
        ("margin_tone", 1e101, "is infinite or too large"),
    ],
)
def test_a_number_that_cannot_be_is_named_with_its_row(column, value, problem):
    frame = pd.DataFrame(circle(), columns=["item", "model_a", "model_b", "credit"]).assign(
        score_b=0.0, **{column: 1.0}
    )
    frame.loc[2, column] = value
    assert f"the data frame, row 3: {column} {float(value)} {problem}. Remedy: " in refusal(frame)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("margin", [1e10, 1e100])
def test_the_largest_margins_rank_without_a_warning_of_numpy(margin):
    rows = [(*row, margin * (2 * row[3] - 1), row[3], 3.0) for row in circle(8)]
    battles = table(
        *rows, columns=("item", "model_a", "model_b", "credit", "margin", "human", "length_a")
    )
    assert len(podium.rank(battles, "bradley-terry,soft-elo,win-rate", beta=1.0).standings) == 3


@pytest.mark.parametrize("cells", [("0,5", "1"), ("0,5", "0,5")])
def test_a_decimal_comma_in_a_comma_table_is_told_to_be_a_point(save, cells):
    rows = "".join(f'{k},x,y,"{cell}"\n' for k, cell in enumerate(cells))
    message = refusal(save("v.csv", HEADER + rows))
    assert "row 1: credit '0,5' is not a number" in message
    assert message.endswith("Remedy: write a number, as 0.5, or leave it empty")


def test_two_columns_of_one_criterion_are_rejected():
    frame = pd.DataFrame(
        [("x", "y", 1.0, 2.0)], columns=["model_a", "model_b", "margin_tone", "margin_tone"]
    )
    assert "two columns are called 'margin_tone'" in refusal(frame, format="podium")


def sparse(models, groups):
    """Return a random tree and random chords inside each group of models."""
    rng = np.random.default_rng(5)
    size = models // groups
    child = np.arange(1, size)
    chord = np.stack([rng.permutation(size), np.arange(size)])
    edges = np.concatenate(
        [np.stack([child, (rng.random(size - 1) * child).astype(int)]), chord], axis=1
    )
    edges = edges[:, edges[0] != edges[1]]
    pairs = np.concatenate([edges + group * size for group in range(groups)], axis=1)
    names = np.array([f"m{k:05d}" for k in range(models)], dtype=object)
    credit = rng.integers(0, 2, pairs.shape[1]) * 1.0
    item = np.arange(pairs.shape[1]) % 100
    return pd.DataFrame(
        {"item": item, "model_a": names[pairs[0]], "model_b": names[pairs[1]], "credit": credit}
    )


@pytest.fixture(scope="module")
def crowd():
    return standings(podium.read_battles(sparse(10_000, groups=1)))


@pytest.mark.slow
def test_ten_thousand_models_with_few_battles_each_are_ranked(crowd):
    assert len(crowd.entries) == 10_000
    assert crowd.fit.converged


@pytest.mark.slow
def test_memory_limit_of_ten_thousand_models_is_reported(crowd):
    assert any(
        "separated, rating set by the regularization" in text
        for text in notice_texts(crowd.warnings)
    )
    assert any(
        "only 100 items (fewer than the 10000 models)" in text
        for text in notice_texts(crowd.warnings)
    )


@pytest.mark.slow
def test_ten_thousand_models_in_two_groups_are_rejected():
    message = unranked(podium.read_battles(sparse(10_000, groups=2)))
    assert "2 groups that never met" in message
    assert len(message) < 1000


def test_a_path_that_does_not_exist_is_named(tmp_path):
    message = refusal(str(tmp_path / "nowhere.csv"), error=podium.UsageError)
    assert f"no such file or directory: {tmp_path / 'nowhere.csv'}" in message


def test_a_path_that_does_not_exist_is_named_whole_despite_an_equals_sign(tmp_path):
    path = str(tmp_path / "judge=gpt" / "nowhere.csv")
    assert path in refusal(path, error=podium.UsageError)


def test_a_glob_without_match_is_named(tmp_path):
    assert f"no file matches {tmp_path}/*.csv" in refusal(
        f"{tmp_path}/*.csv", error=podium.UsageError
    )


def test_an_empty_directory_is_named_with_the_suffixes(tmp_path):
    message = refusal(str(tmp_path), error=podium.UsageError)
    assert (
        f"the directory {tmp_path} contains no .csv, .tsv, .parquet, .json, .jsonl file" in message
    )


def test_a_directory_without_verdicts_is_rejected(save, tmp_path):
    save("config.json", json.dumps({"model": "x", "temperature": 0}, indent=1))
    assert f"no file with verdicts in {tmp_path}" in refusal(str(tmp_path), error=podium.UsageError)


def test_an_unknown_format_suggests_the_nearest(save):
    message = refusal(
        save("votes.csv", f"{HEADER}1,x,y,1\n"), format="alpaca-evl", error=podium.UsageError
    )
    assert "no format called 'alpaca-evl'; did you mean 'alpaca-eval'?" in message


def test_an_unknown_ranker_suggests_the_nearest():
    message = unranked(table(*circle()), "bradly-terry", error=podium.UsageError)
    assert "no ranker called 'bradly-terry'; did you mean 'bradley-terry'?" in message


def test_an_unknown_option_suggests_the_nearest():
    message = unranked(
        table(*circle()), "bradley-terry", error=podium.UsageError, regularisation=0.1
    )
    assert "no option called 'regularisation'; did you mean 'regularization'?" in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "value"),
    [("labels", "fuzzy"), ("interval", "jackknife"), ("cluster", "model"), ("regularization", -1)],
)
def test_an_unknown_value_of_an_option_is_a_usage_error(option, value):
    assert f"{option}={value!r}" in unranked(
        table(*circle()), error=podium.UsageError, **{option: value}
    )


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_outside_zero_and_one_is_a_usage_error(level):
    assert f"level {level} is not between 0 and 1" in unranked(
        table(*circle()), error=podium.UsageError, level=level
    )


def test_a_condition_on_an_unknown_column_lists_the_columns(save):
    message = refusal(
        save("v.csv", f"{HEADER}1,x,y,1\n"), where=[("jugde", "gpt")], error=podium.UsageError
    )
    assert "no column 'jugde' for --where; columns: credit, item, model_a, model_b" in message


def test_a_condition_that_no_row_meets_lists_the_values(save):
    message = refusal(
        save("v.csv", f"{HEADER}1,x,y,1\n"), where=[("model_a", "z")], error=podium.UsageError
    )
    assert "no row has model_a='z'; values: x" in message
