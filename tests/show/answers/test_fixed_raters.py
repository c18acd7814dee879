"""Answers and headings name the judges or voters that the intervals speak of."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.rankers.errors.raters import FIXED_RATERS

MODELS = ("ash", "box", "elm")


def verdicts(column: str, raters: int, items: int = 30) -> pd.DataFrame:
    """Draw a verdict of each rater on each pair of each item."""
    rng = np.random.default_rng(raters)
    rows = []
    for item in range(items):
        for first, second in (("ash", "box"), ("ash", "elm"), ("box", "elm")):
            for rater in range(raters):
                rows.append((f"q{item}", first, second, float(rng.random() < 0.6), f"r{rater}"))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", column])


def answer_of(rows: pd.DataFrame, **options) -> tuple[podium.Ranking, str]:
    """Rank the rows; return the ranking and its answer as one text."""
    ranking = podium.rank(podium.read_battles(rows), "bradley-terry", **options)
    return ranking, " ".join(ranking.standings[0].answer)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("column", "raters", "words"),
    [
        ("judge", 2, "these two judges"),
        ("judge", 4, "these four judges"),
        ("voter", 9, "these nine voters"),
    ],
)
def test_few_raters_are_named_in_answer_and_heading(column, raters, words):
    ranking, answer = answer_of(verdicts(column, raters), pool=True)
    assert answer.startswith(f"For {words}: ")
    assert f"sandwich, for {words}" in str(ranking)
    assert ranking.standings[0].diagnostics[FIXED_RATERS] == {"unit": column, "number": raters}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("rows", "options"),
    [
        pytest.param(verdicts("judge", 1), {}, id="one judge"),
        pytest.param(verdicts("judge", 3), {"by": "judge"}, id="each judge apart"),
        pytest.param(verdicts("voter", 12), {}, id="voters that vary in the intervals"),
        pytest.param(verdicts("judge", 2).drop(columns="judge"), {}, id="no judge named"),
    ],
)
def test_no_raters_are_named_where_they_limit_nothing(rows, options):
    ranking, answer = answer_of(rows, **options)
    assert "For these" not in answer
    assert ", for these" not in str(ranking)
    assert all(FIXED_RATERS not in each.diagnostics for each in ranking.standings)


def test_ranker_whose_intervals_leave_out_many_voters_names_them():
    rows = verdicts("voter", 12).assign(score_a=1.0, score_b=0.5)
    ranking = podium.rank(podium.read_battles(rows), "informativeness")
    assert ranking.standings[0].diagnostics[FIXED_RATERS] == {"unit": "voter", "number": 12}


def test_judges_without_a_readable_verdict_are_not_counted():
    rows = verdicts("judge", 3)
    rows.loc[rows["judge"] == "r2", "credit"] = np.nan
    ranking, answer = answer_of(rows, pool=True)
    assert answer.startswith("For these two judges: ")
    assert ranking.standings[0].diagnostics[FIXED_RATERS]["number"] == 2


def level_verdicts(names: tuple[str, str, str] = MODELS) -> pd.DataFrame:
    """Let every pair win and lose equally often, by two judges."""
    rows = []
    for k in range(12):
        for first, second in ((0, 1), (0, 2), (1, 2)):
            for judge in ("r0", "r1"):
                rows.append((f"q{k}", names[first], names[second], float(k % 2), judge, "code"))
                rows.append((f"q{k}", names[first], names[second], float(k % 2), judge, "math"))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "judge", "category"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "start"),
    [
        pytest.param({"pool": True}, "For these two judges: all pairs of", id="judges"),
        pytest.param({"by": "judge"}, "On r0: all pairs of", id="a slice"),
        pytest.param(
            {"by": "category", "pool": True},
            "On code, for these two judges: all pairs of",
            id="both",
        ),
    ],
)
def test_a_sentence_goes_on_in_lower_case_after_the_colon(options, start):
    _, answer = answer_of(level_verdicts(), **options)
    assert answer.startswith(start)


@pytest.mark.slow
@pytest.mark.parametrize("leader", ["Ash", "All", "No place"])
def test_a_model_that_begins_the_sentence_keeps_its_name(leader):
    rows = level_verdicts((leader, "box", "elm"))
    rows.loc[rows["model_a"] == leader, "credit"] = 1.0
    _, answer = answer_of(rows, pool=True)
    assert answer.startswith(f"For these two judges: {leader} is clearly ahead")


def test_a_model_whose_name_is_the_begin_of_a_word_does_not_keep_its_capital():
    _, answer = answer_of(level_verdicts(("Al", "box", "elm")), pool=True)
    assert answer.startswith("For these two judges: all pairs of")


@pytest.mark.parametrize(("raters", "named"), [(5, True), (12, False)])
def test_the_chart_of_a_report_names_the_raters_that_its_intervals_are_about(
    raters, named, tmp_path, podium
):
    verdicts("voter", raters).to_csv(tmp_path / "votes.csv", index=False)
    page = tmp_path / "page.html"
    reported = podium("report", tmp_path / "votes.csv", "-o", page)
    assert reported.code == 0, reported.err
    text = page.read_text(encoding="utf-8")
    words = ", for these five voters" if named else ""
    assert f"with intervals and rank sets{words}; the table has the figures." in text
