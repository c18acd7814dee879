"""The answer names a voter or judge whose removal changes which model is first."""

import pytest
from rater_votes import votes_of, votes_with_heavy_voter

import podium
from podium.check_results import Result
from podium.comparison.compare_models import compare
from podium.diagnosis.checks import rater_checks
from podium.errors import NotConvergedError
from podium.rankers import decisive_raters

SENTENCE = "Without voter arena_user_17 ({votes} votes), m0 leads instead of m1."


def sentence_on(table) -> str:
    """Return the sentence about the heavy voter of a table."""
    return SENTENCE.format(votes=(table["voter"] == "arena_user_17").sum())


@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_from_ten_voters_on_a_voter_who_decides_is_named(ranker) -> None:
    table = votes_with_heavy_voter()
    standings = podium.rank(table, ranker).standings[0]
    assert sentence_on(table) in standings.answer
    [check] = [each for each in standings.to_dict()["checks"] if each["code"] == "decisive-rater"]
    assert check["result"] == "flagged"
    assert check["fields"]["name"] == "arena_user_17"
    assert check["number"] == 1


@pytest.mark.slow
def test_of_few_judges_one_who_decides_a_clear_lead_is_named() -> None:
    table = votes_with_heavy_voter(crowd=4, kind="judge")
    answer = podium.rank(table, pool=True).standings[0].answer
    votes = (table["judge"] == "arena_user_17").sum()
    assert answer[0].startswith("For these five judges: m1 is clearly ahead")
    assert f"Without judge arena_user_17 ({votes} verdicts), m0 leads instead of m1." in answer


@pytest.mark.slow
def test_a_comparison_names_the_voter_as_a_ranking_does() -> None:
    table = votes_with_heavy_voter()
    for candidate, baseline in (("m1", "m0"), ("m0", "m1")):
        compared = compare(candidate, baseline, podium.read_battles(table))
        assert sentence_on(table) in compared.answer
        [finding] = compared.to_dict()["comparisons"]
        assert f"{finding['rater_check']}." == sentence_on(table).replace("Without", "without")


@pytest.mark.slow
def test_a_comparison_that_no_voter_decides_names_none() -> None:
    table = votes_of(2, models=3, voters=12, taste=0.1, lead=1.0)
    compared = compare("m2", "m0", podium.read_battles(table))
    assert not any("ithout voter" in sentence for sentence in compared.answer)
    assert compared.findings[0].rater_check is None
    assert "rater_check" not in compared.to_dict()["comparisons"][0]


def test_a_comparison_of_win_rates_names_the_voter_by_direct_battles() -> None:
    table = votes_with_heavy_voter()
    compared = compare("m1", "m0", podium.read_battles(table), measure="win-rate")
    direct = table[table["model_a"].ne("m2") & table["model_b"].ne("m2")]
    votes = (direct["voter"] == "arena_user_17").sum()
    assert SENTENCE.format(votes=votes) in compared.answer


def test_a_clear_lead_that_no_voter_decides_has_a_check_that_is_ok_and_no_sentence() -> None:
    table = votes_of(2, models=3, voters=12, taste=0.1, lead=1.0)
    standings = podium.rank(table).standings[0]
    assert not any("voter" in sentence.lower() for sentence in standings.answer)
    [check] = [each for each in standings.checks if each.name == "decisive rater"]
    assert check.finding_text == "without any one of 12 voters, m2 still leads"


@pytest.mark.slow
def test_a_close_lead_that_a_removal_changes_has_no_check() -> None:
    """Many removals change places of models that are level."""
    found = 0
    for seed in range(12):
        table = votes_of([9, seed], models=3, voters=12, taste=0.0)
        standings = podium.rank(table).standings[0]
        if standings.separation.z < 1:
            found += 1
            assert "decisive rater" not in [each.name for each in standings.checks]
    assert found


def test_a_failed_fit_makes_the_check_unknown(monkeypatch) -> None:
    def fail(_battles: podium.Battles) -> None:
        raise NotConvergedError("no optimum")

    monkeypatch.setattr(decisive_raters, "strengths_without_raters", fail)
    table = votes_of(2, models=3, voters=12, taste=0.1, lead=1.0)
    checks = podium.rank(table).standings[0].checks
    [check] = [each for each in checks if each.name == rater_checks.DECISIVE_RATER]
    assert check.result is Result.NOT_KNOWN
    assert check.reason == rater_checks.FAILED_FIT
