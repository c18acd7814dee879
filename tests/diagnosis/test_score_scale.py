"""One model's scores in percent and another's in fractions: flagged, and legitimate scores are not.

The shapes are those of public data: grades from 1 to 10, MT-Bench's means of judges, sentence BLEU,
rewards of reward models, latencies, costs.
"""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.diagnosis.checks.score_scale_checks import check_score_scale, find_unlike_scales
from podium.notices.notice_text import notice_texts

PERCENT = [40.0, 45.0, 55.0, 62.0, 38.0, 71.0, 49.0, 50.0, 66.0, 43.0, 58.0, 61.0]
SHARES = [0.9, 0.86, 0.88, 0.91, 0.7, 0.82, 0.89, 0.93, 0.77, 0.85, 0.8, 0.84]
RNG = np.random.default_rng(7)
DRAWS = 200


def table_of(scores: dict[str, list[float]], **columns: str) -> pd.DataFrame:
    rows = []
    for model, own in scores.items():
        for k, score in enumerate(own):
            rows.append({"item": f"q{k}", "model": model, "score": score, **columns})
    return pd.DataFrame(rows)


def test_a_ranking_says_that_scores_are_in_different_units() -> None:
    table = table_of({"new": SHARES, "old": PERCENT, "twin": SHARES[::-1]})
    standings = podium.rank(podium.read_battles(table))
    answer = standings.standings[0].answer
    assert answer[0] == "Nothing is claimed, because the scores are not in one unit."
    sets = {(entry.rank_low, entry.rank_high) for entry in standings.standings[0].entries}
    assert sets == {(1, 3)}
    assert "first place" not in [own.name for own in standings.standings[0].checks]
    assert answer[1].startswith(
        "Scores of new and twin look like fractions and those of old like percent (0.9 and 40 on "
    )
    assert "write all scores in one unit" in answer[1]
    [check] = [own for own in standings.standings[0].checks if own.name == "score scale"]
    assert check.models == ("new", "twin", "old")
    assert check.to_dict()["fields"]["groups"] == [
        {"fractions": ["new", "twin"], "percent": ["old"]}
    ]


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["mean", "median", "win-rate", "bradley-terry"])
def test_scores_in_different_units_state_no_order(ranker: str) -> None:
    """The highest number is no first place, and a win of percent over a fraction is no win."""
    table = table_of({"new": SHARES, "old": PERCENT, "twin": SHARES[::-1]})
    [standings] = podium.rank(podium.read_battles(table), ranker).standings
    assert [entry.model for entry in standings.entries] == ["new", "old", "twin"]
    assert {(entry.rank, entry.win_rate) for entry in standings.entries} == {(1, None)}
    known = [entry.score is not None for entry in standings.entries]
    assert known == [ranker in ("mean", "median")] * 3


@pytest.mark.slow
def test_no_writer_states_an_order_of_scores_in_different_units(podium, tmp_path) -> None:
    path = tmp_path / "scores.csv"
    table_of({"new": SHARES, "old": PERCENT, "twin": SHARES[::-1]}).to_csv(path, index=False)
    printed = podium("rank", path).out
    rows = [line.split() for line in printed.splitlines() if " 1–3 " in line]
    assert [row[:2] for row in rows] == [["–", "new"], ["–", "old"], ["–", "twin"]]
    assert "1.000" not in printed
    page = tmp_path / "page.html"
    assert podium("report", path, "-o", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "Who beats whom</h2>" not in text
    assert "The scores are not in one unit" in text


@pytest.mark.slow
def test_a_comparison_says_it_and_decides_no_requirement() -> None:
    table = table_of({"new": SHARES, "old": PERCENT, "twin": SHARES[::-1]})
    compared = podium.compare("old", "new", table, require="better")
    assert compared.gate is not None
    assert compared.gate.verdict == "UNDECIDED"
    assert compared.answer[1].startswith("Nothing is claimed about old and new: scores of")
    assert "look like fractions" in compared.answer[1]
    assert "clearly ahead of" not in " ".join(compared.answer)
    alike = podium.compare("twin", "new", table)
    assert "look like" not in " ".join(alike.answer)
    assert not notice_texts(alike.warnings)


def test_the_doubt_is_about_its_own_metric() -> None:
    unlike = table_of({"new": SHARES, "old": PERCENT}, metric="f1")
    alike = table_of({"new": SHARES, "old": SHARES[::-1]}, metric="acc")
    compared = podium.compare("old", "new", pd.concat([unlike, alike]))
    assert {own.metric: own.doubt is not None for own in compared.findings} == {
        "acc": False,
        "f1": True,
    }
    assert compared.answer[-1].startswith("Scores by f1 of new look like fractions")


def test_negated_scores_are_checked_by_their_size() -> None:
    table = table_of({"new": SHARES, "old": PERCENT}, metric="wer")
    battles = podium.read_battles(table)
    assert battles.metrics == ("wer (negated)",)
    [check] = check_score_scale(battles)
    assert (check.fields["low"], check.fields["high"]) == (0.9, 40.0)


def test_zeros_and_ones_beside_zeros_and_hundreds_are_flagged() -> None:
    truths = [float(k % 3 > 0) for k in range(30)]
    table = table_of({"a": truths, "b": [100 * own for own in truths[::-1]]})
    [check] = check_score_scale(podium.read_battles(table))
    assert check.models == ("a", "b")
    assert (check.fields["low"], check.fields["high"]) == (1.0, 100.0)


@pytest.mark.slow
def test_the_judge_card_has_the_check_of_a_judges_scores() -> None:
    battles = podium.read_battles(table_of({"new": SHARES, "old": PERCENT}, judge="j"))
    [check] = check_score_scale(battles)
    card = podium.diagnose(battles, battles).cards[0]
    assert check in card.checks


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["latency", "Total Cost", "perplexity"])
def test_times_and_costs_are_no_shares(name: str) -> None:
    table = table_of({"new": SHARES, "old": PERCENT}, metric=name)
    assert check_score_scale(podium.read_battles(table)) == ()


LEGITIMATE = {
    "right and wrong": lambda n: (RNG.binomial(1, 0.1, n), RNG.binomial(1, 0.9, n)),
    "grades 1 to 10, weak": lambda n: (RNG.integers(0, 2, n), RNG.integers(5, 11, n)),
    "mean grades, weak": lambda n: (RNG.uniform(0, 1, n).round(1), RNG.uniform(5, 10, n)),
    "whole points to 100, weak": lambda n: (RNG.integers(0, 2, n), RNG.integers(20, 101, n)),
    "percent": lambda n: (100 * RNG.beta(1, 9, n), 100 * RNG.beta(8, 2, n)),
    "fractions": lambda n: (RNG.beta(1, 9, n), RNG.beta(8, 2, n)),
    "rewards": lambda n: (RNG.normal(0, 1, n), RNG.normal(30, 5, n)),
    "nothing right": lambda n: (np.zeros(n), 100 * RNG.beta(2, 3, n)),
    "counts": lambda n: (RNG.poisson(0.2, n), RNG.poisson(30, n)),
    "beyond a hundred": lambda n: (RNG.uniform(0, 1, n), RNG.uniform(50, 200, n)),
}


REWARDS = {
    "both small and large": (lambda n: RNG.exponential(0.2, n), lambda n: RNG.exponential(20, n)),
    "large beside shares": (lambda n: RNG.beta(8, 2, n), lambda n: RNG.exponential(20, n)),
    "small beside percent": (lambda n: RNG.exponential(0.2, n), lambda n: 100 * RNG.beta(4, 6, n)),
    "skewed": (lambda n: RNG.lognormal(-2, 1, n), lambda n: RNG.lognormal(2.5, 1, n)),
}
"""Rewards without an upper end of one model or of both."""


@pytest.mark.slow
@pytest.mark.parametrize("name", list(REWARDS))
def test_rewards_without_an_end_are_hardly_ever_flagged(name: str) -> None:
    draw_first, draw_second = REWARDS[name]
    flagged = 0
    for _ in range(DRAWS):
        scores = {"a": [*draw_first(20)], "b": [*draw_second(20)]}
        flagged += find_unlike_scales(table_of(scores)) is not None
    assert flagged <= 0.05 * DRAWS


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LEGITIMATE))
def test_legitimate_scores_are_never_flagged(name: str) -> None:
    for items in (3, 12, 40):
        for _ in range(DRAWS // 4):
            first, second = LEGITIMATE[name](items)
            scores = {"a": list(map(float, first)), "b": list(map(float, second))}
            assert find_unlike_scales(table_of(scores)) is None


def test_a_model_between_the_two_shows_that_the_scale_is_one() -> None:
    """Sentence BLEU in percent: a broken model has less than 1, a weak one less and more."""
    broken = RNG.uniform(0, 1, 40)
    weak = RNG.uniform(0, 8, 40)
    good = RNG.uniform(10, 90, 40)
    scores = {"broken": [*broken], "weak": [*weak], "good": [*good]}
    assert find_unlike_scales(table_of(scores)) is None


def test_fewer_than_ten_scores_show_nothing() -> None:
    scores = {"new": SHARES[:9], "old": PERCENT[:9]}
    assert find_unlike_scales(table_of(scores)) is None


@pytest.mark.slow
def test_different_units_are_found_in_nearly_all_files_of_forty_items() -> None:
    found = 0
    for _ in range(DRAWS):
        scores = {"new": [*RNG.beta(8, 2, 40)], "old": [*(100 * RNG.beta(4, 6, 40)).round(1)]}
        found += find_unlike_scales(table_of(scores)) is not None
    assert found >= 0.98 * DRAWS


def test_runs_before_and_after_a_change_of_the_unit_are_flagged() -> None:
    """IBM/unitxt #240, ivadomed/ivadomed #235: new runs have 0 to 1, old ones percent."""
    before = [0.0, 100.0, 66.7, 50.0, 33.3, 80.0, 100.0, 25.0, 57.1, 40.0, 75.0, 0.0] * 2
    after = [round(own / 100, 3) for own in before]
    [check] = check_score_scale(podium.read_battles(table_of({"before": before, "after": after})))
    assert check.fields["groups"] == [{"fractions": ["after"], "percent": ["before"]}]


def test_two_metrics_of_unlike_units_are_no_mistake() -> None:
    """bigscience-workshop/lm-evaluation-harness #119: BLEU is in percent, ROUGE in fractions."""
    bleu = table_of({"a": PERCENT, "b": PERCENT[::-1]}, metric="bleu")
    rouge = table_of({"a": SHARES, "b": SHARES[::-1]}, metric="rouge")
    assert check_score_scale(podium.read_battles(pd.concat([bleu, rouge]))) == ()


def test_grades_from_one_to_five_beside_fractions_are_not_called_percent() -> None:
    """AgentEvalHQ/AgentEval #85: some evaluators write 0 to 1, others 1 to 5."""
    grades = [1.0 + k % 5 for k in range(12)]
    battles = podium.read_battles(table_of({"new": SHARES, "old": grades}))
    assert check_score_scale(battles) == ()


def correlated(top: float, shift: float, seed: int) -> list[float]:
    """Return scores on a scale that ends at `top`, on items of which some are harder for all."""
    draws = np.random.default_rng(seed)
    ease = np.random.default_rng(0).uniform(0.2, 0.7, 40)
    return [*(np.clip(ease + shift + draws.normal(0, 0.1, 40), 0, 1) * top).round(2)]


@pytest.mark.slow
@pytest.mark.parametrize(("top", "seed"), [(1, 3), (10, 4), (1, 5), (10, 6)])
def test_scales_of_which_one_is_ten_times_the_other_are_flagged(top: float, seed: int) -> None:
    scores = {"a": correlated(top, 0.1, seed), "b": correlated(10 * top, 0.0, seed + 10)}
    battles = podium.read_battles(table_of({**scores, "c": correlated(top, 0.05, seed + 20)}))
    [check] = check_score_scale(battles)
    assert check.fields["groups"][0] == {"fractions": ["a", "c"], "percent": ["b"]}
    assert f"of b like those of a scale to {10 * top}" in check.to_dict()["text"]
    assert "nothing is claimed" in podium.rank(battles).standings[0].answer[0].lower()


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("top", [1, 10, 100])
def test_a_weak_model_is_of_the_same_scale_as_a_strong_one(top: float) -> None:
    """It has a tenth of the strong one's score, on the same items."""
    for seed in range(20):
        strong = correlated(top, 0.25, seed)
        weak = np.random.default_rng(seed).beta(1, 6, 40) * top * np.array(strong) / top
        scores = {"weak": [*weak.round(2)], "strong": strong}
        assert find_unlike_scales(table_of(scores)) is None


@pytest.mark.slow
def test_seconds_beside_milliseconds_are_flagged() -> None:
    draws = np.random.default_rng(2)
    seconds = [*draws.lognormal(0, 0.4, 30)]
    scores = {"a": seconds, "b": [*(1000 * draws.lognormal(0.2, 0.4, 30))]}
    [check] = check_score_scale(podium.read_battles(table_of(scores, metric="latency")))
    assert "of a look like seconds and those of b like milliseconds" in check.to_dict()["text"]
    slower = {"a": seconds, "b": [*(100 * draws.lognormal(0.2, 0.4, 30))]}
    for name, own in (("latency", slower), ("cost", scores)):
        assert check_score_scale(podium.read_battles(table_of(own, metric=name))) == ()


@pytest.mark.slow
def test_times_below_one_second_in_two_units_are_flagged() -> None:
    """Other scores below 1 are fractions."""
    draws = np.random.default_rng(2)
    scores = {
        "a": [*(0.0002 * draws.lognormal(0, 0.4, 30))],
        "b": [*(0.2 * draws.lognormal(0.2, 0.4, 30))],
    }
    assert max(map(max, scores.values())) < 1
    [check] = check_score_scale(podium.read_battles(table_of(scores, metric="latency")))
    assert check.is_flagged
    assert check_score_scale(podium.read_battles(table_of(scores, metric="acc"))) == ()
