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
    assert "is unknown: only one voter judged one of the two." in " ".join(found.answer)


def scores_with_champion(*, voters, voters_of_champion, items=60):
    """Return scores of 4 voters an item, and of a champion with the score 1 by few of them."""
    rng = np.random.default_rng(1)
    rows = []
    for item in range(items):
        for voter in rng.choice(voters, min(4, voters), replace=False):
            scores = {f"m{k}": float(rng.random() < 0.6) for k in range(4)}
            if voter < voters_of_champion:
                scores["champ"] = 1.0
            rows += [(f"i{item:02}", name, own, f"v{voter:02}") for name, own in scores.items()]
    return pd.DataFrame(rows, columns=["item", "model", "score", "voter"])


def votes_with_champion(*, voters, voters_of_champion):
    """Return votes of equal models, and of a champion that won all its battles by few voters."""
    crowd = unanimous_votes(voters=voters, votes=40, models=5)
    crowd = crowd[(crowd["model_a"] != "m0") & (crowd["model_b"] != "m0")]
    rng = np.random.default_rng(4)
    voter = np.repeat(np.arange(voters_of_champion), 40)
    columns = {
        "item": [f"i{k:04}" for k in range(len(voter))],
        "model_a": "champ",
        "model_b": [f"m{k}" for k in rng.integers(1, 5, len(voter))],
        "credit": 1.0,
        "voter": [f"v{k:02}" for k in voter],
    }
    return pd.concat([crowd, pd.DataFrame(columns)], ignore_index=True)


CHAMPIONS = {
    "bradley-terry": votes_with_champion,
    "win-rate": votes_with_champion,
    "mean": scores_with_champion,
}


@pytest.mark.parametrize("voters_of_champion", [1, 2])
@pytest.mark.parametrize("ranker", [*CHAMPIONS])
def test_a_champion_of_few_voters_is_not_clearly_ahead_and_the_answer_says_why(
    ranker, voters_of_champion
):
    table = CHAMPIONS[ranker](voters=20, voters_of_champion=voters_of_champion)
    standings = podium.rank(table, ranker).standings[0]
    assert not any(standings.separation.beats)
    few = {1: "only one voter judged champ", 2: "only two voters judged champ"}
    assert few[voters_of_champion] in " ".join(standings.answer)
    [notice] = [each for each in standings.warnings if each.code == "few-raters-of-a-model"]
    assert notice.fields["models"] == {"champ": voters_of_champion}


@pytest.mark.parametrize("voters_of_champion", [1, 2])
@pytest.mark.parametrize("ranker", [*CHAMPIONS])
def test_of_nine_voters_one_or_two_do_not_speak_for_all(ranker, voters_of_champion):
    table = CHAMPIONS[ranker](voters=9, voters_of_champion=voters_of_champion)
    standings = podium.rank(table, ranker).standings[0]
    assert entry_of(table, ranker, "champ").rank_low is None
    assert "Nothing is claimed about champ." in standings.answer[0]
    [notice] = [each for each in standings.warnings if each.code == "few-of-the-raters"]
    assert notice.fields["models"] == {"champ": voters_of_champion}


@pytest.mark.parametrize("voters", [2, 9])
def test_a_model_that_all_voters_judged_is_claimed_for_these_voters(voters):
    table = votes_with_champion(voters=voters, voters_of_champion=voters)
    standings = podium.rank(table).standings[0]
    assert "champ is clearly ahead" in standings.answer[0]


@pytest.mark.parametrize("voters_of_champion", [1, 2])
@pytest.mark.parametrize("measure", ["elo", "win-rate", "score"])
def test_a_comparison_with_a_champion_of_few_voters_is_too_close_to_call(
    measure, voters_of_champion
):
    make = scores_with_champion if measure == "score" else votes_with_champion
    table = make(voters=20, voters_of_champion=voters_of_champion)
    compared = podium.compare(table, "champ", "m1", measure=measure)
    [finding] = compared.findings
    assert not finding.is_distinguishable
    assert finding.difference.p_value >= 2 * 0.5**voters_of_champion
    assert f"only {['one voter', 'two voters'][voters_of_champion - 1]}" in compared.answer[-1]


@pytest.mark.parametrize("voters_of_champion", [1, 2])
def test_a_rating_by_one_or_two_of_nine_voters_speaks_of_these(voters_of_champion):
    table = votes_with_champion(voters=9, voters_of_champion=voters_of_champion)
    [finding] = podium.compare(table, "champ", "m1").findings
    assert finding.raters == ("voter", voters_of_champion)


def test_two_voters_who_agree_separate_no_two_models():
    """Both prefer m3 in 18 of 20 votes: t with one degree of freedom alone would call it ahead."""
    crowd = unanimous_votes(voters=12, votes=40, models=4)
    has_last = (crowd["model_a"] == "m3") | (crowd["model_b"] == "m3")
    rows = []
    for voter in range(2):
        for vote in range(400):
            rows.append((f"new {voter} {vote}", "m3", "m2", float(vote % 20 > 1), f"v{voter:02}"))
    few = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "voter"])
    table = pd.concat([crowd[~has_last], few], ignore_index=True)
    for measure in ("elo", "win-rate"):
        [finding] = podium.compare(table, "m3", "m2", measure=measure).findings
        assert finding.difference.p_value >= 0.5


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
