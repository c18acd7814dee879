"""The p-value of a pair that was chosen from several models after looking at their ranking."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, ttest_rel

import podium


def write_scores(path, scores):
    """Write a table of scores, a column per model `m0`, `m1`, ..."""
    names = [f"m{k}" for k in range(scores.shape[1])]
    pd.DataFrame(scores, columns=names).assign(item=range(len(scores))).to_csv(path, index=False)
    return str(path)


@pytest.fixture
def chosen(tmp_path):
    """Return a function from a lead and a number of models to the comparison of the first two."""

    def compare(lead, models=6, **options):
        scores = np.random.default_rng(3).normal(size=(60, models))
        scores[:, 0] = scores[:, 1] + lead + np.resize([0.5, -0.5, 0.7, -0.7], 60)
        return podium.compare("m0", "m1", write_scores(tmp_path / "s.csv", scores), **options)

    return compare


def test_the_p_value_of_a_chosen_pair_is_that_of_the_pair_times_all_pairs(chosen):
    found = chosen(0.2)
    [finding] = found.findings
    assert finding.pairs == 15
    assert finding.p_if_chosen == pytest.approx(15 * finding.p_adjusted)
    assert "one of 15 pairs; if it was chosen after looking at the ranking: p = " in str(found)
    as_json = found.to_dict()["comparisons"][0]
    assert (as_json["pairs"], as_json["p_if_chosen"]) == (15, finding.p_if_chosen)


@pytest.mark.slow
def test_the_answer_says_so_if_the_choice_decides(chosen):
    words = "This pair is one of 15; if it was chosen after looking at the ranking, p = "
    assert any(sentence.startswith(words) for sentence in chosen(0.2).answer)
    for lead in (0.02, 0.6):
        assert not any(sentence.startswith(words) for sentence in chosen(lead).answer)


@pytest.mark.slow
def test_nothing_is_said_of_two_models_and_of_several_findings(chosen):
    assert chosen(0.2, models=2).findings[0].p_if_chosen is None
    assert "after looking" not in str(chosen(0.2, models=2))
    everybody = chosen(0.2)
    path = everybody.provenance["sources"][0]
    several = podium.compare(path, baseline="m1")
    assert [finding.p_if_chosen for finding in several.findings] == [None] * 5


@pytest.mark.slow
def test_the_best_of_equal_models_is_rarely_ahead_of_the_worst_by_the_p_value_of_a_chosen_pair(
    tmp_path,
):
    """300 worlds of six equal models: t finds best and worst different far more often."""
    rng = np.random.default_rng(9)
    false, by_t = 0, 0
    for _ in range(300):
        scores = rng.normal(size=(60, 6))
        mean = scores.mean(axis=0)
        best, worst = int(mean.argmax()), int(mean.argmin())
        by_t += ttest_rel(scores[:, best], scores[:, worst]).pvalue <= 0.05
        path = write_scores(tmp_path / "world.csv", scores)
        [finding] = podium.compare(f"m{best}", f"m{worst}", path).findings
        false += finding.p_if_chosen <= 0.05
    assert by_t > 60
    assert false <= binom.ppf(0.99, 300, 0.05)
