"""Models that won every battle have no standard error: their bounds count raters, too."""

import numpy as np
import pandas as pd
import pytest

import podium

VOTERS = 10


def unanimous_votes(*, voters=VOTERS, votes=30, models=4):
    """Return votes of voters who all prefer m0; the others are equal."""
    rng = np.random.default_rng(3)
    voter = np.repeat(np.arange(voters), votes)
    a = rng.integers(0, models, len(voter))
    b = (a + rng.integers(1, models, len(voter))) % models
    credit = (rng.random(len(voter)) < 0.5).astype(float)
    credit = np.select([a == 0, b == 0], [1.0, 0.0], credit)
    columns = {
        "item": [f"i{k:04}" for k in range(len(voter))],
        "model_a": [f"m{k}" for k in a],
        "model_b": [f"m{k}" for k in b],
        "credit": credit,
        "voter": [f"v{k:02}" for k in voter],
    }
    return pd.DataFrame(columns)


def entry_of(table, ranker, model="m0"):
    """Return a model's row of a ranking."""
    entries = podium.rank(table, ranker).standings[0].entries
    [entry] = [entry for entry in entries if entry.model == model]
    return entry


@pytest.mark.parametrize("voters", [10, 30])
def test_the_bound_of_a_win_rate_is_that_of_clopper_and_pearson_for_the_voters(voters):
    entry = entry_of(unanimous_votes(voters=voters), "win-rate")
    assert entry.low == pytest.approx(0.025 ** (1 / voters), rel=1e-12)
    assert entry.high == 1


@pytest.mark.slow
def test_the_bound_of_a_rating_is_that_with_voters_as_items():
    table = unanimous_votes()
    by_voter = entry_of(table.drop(columns="voter").assign(item=table["voter"]), "bradley-terry")
    by_item = entry_of(table.drop(columns="voter"), "bradley-terry")
    entry = entry_of(table, "bradley-terry")
    assert entry.low == pytest.approx(by_voter.low, rel=1e-9)
    assert entry.low < by_item.low - 100
    assert entry.high is None
    assert (entry.rank_low, entry.rank_high) == (1, 1)


@pytest.mark.parametrize("models", [2, 4])
@pytest.mark.parametrize("measure", ["elo", "win-rate"])
def test_ten_unanimous_voters_differ_at_the_level_of_ten_signs(measure, models):
    table = unanimous_votes(models=models)
    [finding] = podium.compare(table, "m0", "m1", measure=measure).findings
    assert finding.difference.p_value == pytest.approx(2 * 0.5**VOTERS)
    assert finding.difference.raters == ("voter", VOTERS)
    if measure == "win-rate":
        low, high = finding.difference.interval(0.95)
        assert low == pytest.approx(0.025 ** (1 / VOTERS) - 0.5)
        assert high == 0.5


def test_scores_that_always_differ_alike_are_as_significant_as_their_voters():
    rng = np.random.default_rng(1)
    voter = np.repeat(np.arange(VOTERS), 20)
    score = rng.integers(0, 5, len(voter)).astype(float)
    columns = {
        "item": [f"i{k:03}" for k in range(len(voter))],
        "model_a": "m0",
        "model_b": "m1",
        "score_a": score + 2,
        "score_b": score,
        "voter": [f"v{k:02}" for k in voter],
    }
    [finding] = podium.compare(pd.DataFrame(columns), "m0", "m1", measure="score").findings
    assert finding.difference.value == 2
    assert finding.difference.p_value == pytest.approx(2 * 0.5**VOTERS)


def test_few_voters_cannot_separate_many_pairs():
    """With 8 models there are 28 pairs; ten signs have a p-value of 0.001, above 0.025 / 28."""
    for ranker in ("win-rate", "bradley-terry"):
        entry = entry_of(unanimous_votes(models=8, votes=60), ranker)
        assert entry.rank_high > 1


def votes_for_a_champion(*, voters_of_last):
    """Return votes of 15 voters who all prefer m0; few of them judged m3."""
    table = unanimous_votes(voters=15)
    has_last = (table["model_a"] == "m3") | (table["model_b"] == "m3")
    may_judge_last = table["voter"] < f"v{voters_of_last:02}"
    return table[~has_last | may_judge_last]


@pytest.mark.parametrize("voters_of_last", [1, 2, 4])
def test_the_p_value_against_a_model_of_few_voters_is_that_of_their_signs(voters_of_last):
    """That 15 voters prefer m0 to other models tells nothing of how voters judge m3."""
    table = votes_for_a_champion(voters_of_last=voters_of_last)
    [finding] = podium.compare(table, "m0", "m3").findings
    assert finding.difference.p_value >= 2 * 0.5**voters_of_last
    assert not finding.is_distinguishable
    low, _ = finding.difference.interval(0.95)
    assert low <= 0


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
@pytest.mark.parametrize("voters_of_last", [1, 2, 4])
def test_a_model_of_few_voters_is_not_placed_below_one_that_never_lost(ranker, voters_of_last):
    table = votes_for_a_champion(voters_of_last=voters_of_last)
    assert entry_of(table, ranker, "m3").rank_low == 1
    assert entry_of(table, ranker, "m1").rank_low == 2


def test_an_answer_says_that_too_few_voters_judged_one_model():
    found = podium.compare(votes_for_a_champion(voters_of_last=1), "m0", "m3")
    assert "is unknown: too few voters judged one of the two." in " ".join(found.answer)


@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_votes_on_one_item_have_no_interval_for_want_of_items(ranker):
    table = unanimous_votes().assign(item="i0")
    standings = podium.rank(table, ranker).standings[0]
    [notice] = [each for each in standings.warnings if each.code == "single-cluster"]
    assert notice.fields["unit"] == "item"


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("ranker", ["win-rate", "bradley-terry"])
def test_votes_without_a_name_count_as_those_of_one_voter(ranker):
    """Half of the names are lost: the bound is at most that of one voter more."""
    table = unanimous_votes(voters=12)
    half = table.assign(voter=table["voter"].where(table.index % 2 == 0))
    thirteen = table.assign(voter=half["voter"].fillna("unnamed"))
    assert entry_of(half, ranker).low == pytest.approx(entry_of(thirteen, ranker).low, rel=1e-9)
    found = [
        podium.compare(each, "m0", "m1", measure="win-rate").findings[0].difference.p_value
        for each in (half, thirteen)
    ]
    assert found[0] == pytest.approx(found[1])
