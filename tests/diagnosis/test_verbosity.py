"""Longer responses among near-ties, the length term, and the partial correlation, against closed
forms and oracles."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from correlated_verdicts import covers
from hand_worked import judgments, subject_of
from judged_worlds import both, world
from scipy.optimize import minimize
from scipy.special import expit

from podium import Judge, NotIdentifiedError, read_battles, simulate
from podium.defaults import REGULARIZATION
from podium.diagnosis.figures import Missing
from podium.diagnosis.preferences import (
    correlate_residuals,
    length_effect,
    log_ratio,
    partial_correlation,
    verbosity,
)
from podium.diagnosis.ratings import bounded_by_all
from podium.diagnosis.subject import Subject
from podium.rankers.fit.coded import code_battles

ROWS = [
    (0, 1.0, 0.2, 300, 100),
    (1, 0.0, -0.3, 100, 400),
    (2, 0.0, 0.1, 500, 100),
    (3, 1.0, 2.0, 100, 900),
    (4, 0.5, 0.0, 100, 200),
    (5, 1.0, 0.1, 100, 100),
    (6, 1.0, np.nan, 300, 100),
]
"""Two near-ties go to the longer response, one to the shorter; a clear one, a tie, equal lengths,
and no margin."""


def card(rows=ROWS, columns="item credit margin length_a length_b", near_tie=0.3, **constant):
    return verbosity(subject_of(judgments(rows, columns, **constant), near_tie=near_tie))


@pytest.mark.slow
def test_the_longer_response_among_near_ties():
    found = card()
    assert (found.longer_near_ties.value, found.longer_near_ties.n) == (2 / 3, 3)
    assert (found.longer.value, found.longer.n) == (3 / 5, 5)
    assert found.longer_near_ties.value != found.longer.value


@pytest.mark.slow
def test_a_wider_band_takes_in_more_near_ties():
    assert card(near_tie=2.0).longer_near_ties.n == 4


@pytest.mark.slow
def test_hard_verdicts_without_margins_have_no_near_ties():
    found = card(
        [(item, credit, a, b) for item, credit, _, a, b in ROWS], "item credit length_a length_b"
    )
    assert isinstance(found.longer_near_ties, Missing)
    assert "margin" in found.longer_near_ties.remedy
    assert found.longer.n == 5


@pytest.mark.slow
def test_soft_credits_near_a_half_are_near_ties():
    rows = [(0, 0.52, 300, 100), (1, 0.49, 300, 100), (2, 0.9, 300, 100)]
    found = card(rows, "item credit length_a length_b")
    assert (found.longer_near_ties.value, found.longer_near_ties.n) == (0.5, 2)


def test_without_lengths_verbosity_is_missing():
    found = card([(0, 1.0), (1, 0.0)], "item credit")
    assert isinstance(found, Missing)
    assert "length_a and length_b" in found.remedy


@pytest.mark.slow
def test_without_a_reference_only_the_residuals_are_missing():
    found = card()
    assert found.residuals.why == "there are no human labels, no gold standard and no other judge"
    assert "--gold" in found.residuals.remedy


def played(items=60, judge=None):
    _, battles = both(world(3, items, item_sd=0.5), judge or Judge(verbosity_bias=0.6), repeats=1)
    return battles


def test_the_length_term_maximises_the_penalised_likelihood():
    """Oracle: scipy.optimize on the same likelihood; without the strengths the weight is another
    one."""
    battles = played(20)
    coded, z = code_battles(battles), log_ratio(battles)

    def loss(weights):
        logits = weights[coded.a] - weights[coded.b] + weights[-1] * z
        gain = coded.credit @ logits - np.logaddexp(0, logits).sum()
        return REGULARIZATION / 2 * weights[:-1] @ weights[:-1] - gain

    oracle = minimize(loss, np.zeros(7), method="BFGS", options={"gtol": 1e-7}).x
    assert length_effect(coded, z)[0] == pytest.approx(oracle[-1], abs=1e-5)
    alone = minimize(lambda w: np.logaddexp(0, w * z).sum() - coded.credit @ (w * z), 0.0).x[0]
    assert abs(alone - oracle[-1]) > 0.02


def test_the_error_of_the_length_term_is_the_clustered_one():
    """Oracle: statsmodels GLM with item-clustered covariance; it has no penalty."""
    battles = played(200)
    coded, z = code_battles(battles), log_ratio(battles)
    design = np.column_stack([(np.eye(6)[coded.a] - np.eye(6)[coded.b])[:, :-1], z])
    with np.errstate(all="ignore"):
        glm = sm.GLM(coded.credit, design, family=sm.families.Binomial())
        fit = glm.fit(cov_type="cluster", cov_kwds={"groups": coded.cluster})
    found = verbosity(subject_of(battles)).effect
    se = fit.bse[-1]
    assert found.value == pytest.approx(fit.params[-1], abs=2e-3)
    assert (found.high - found.low) / 2 == pytest.approx(1.972 * se, rel=0.02)


def test_length_effect_is_unknown_if_lengths_differ_only_between_models():
    battles = played(20)
    coded = code_battles(battles)
    lengths = np.array([1.0, 2.0, 0.5, 3.0, 1.5, 2.2])
    with pytest.raises(NotIdentifiedError, match="length and strength are confounded"):
        length_effect(coded, lengths[coded.a] - lengths[coded.b])


def test_the_partial_correlation_is_that_of_three_correlations():
    """Closed form: (r_xy - r_xz r_yz) / sqrt((1 - r_xz^2) (1 - r_yz^2))."""
    rng = np.random.default_rng(1)
    given = rng.normal(size=30)
    x, y = given + rng.normal(size=30), given + rng.normal(size=30)
    xy, xz, yz = (np.corrcoef(*pair)[0, 1] for pair in ((x, y), (x, given), (y, given)))
    found = partial_correlation(x, y, given, 0.95)
    assert found.value == pytest.approx((xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)))
    assert abs(found.value - xy) > 0.2
    assert (found.n, found.clusters) == (30, None)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_the_partial_correlation_does_not_depend_on_units(unit):
    given, x, y = np.random.default_rng(1).normal(size=(3, 30))
    expected = partial_correlation(x, y, given, 0.95)
    assert partial_correlation(x, unit * y, given, 0.95).value == pytest.approx(expected.value)


@pytest.mark.slow
@pytest.mark.parametrize("truth", [0.0, 0.6])
def test_the_partial_correlation_covers_what_is_true(truth):
    """2,000 draws of 12 models; the interval around the plain correlation does not."""
    rng = np.random.default_rng(int(10 * truth))
    covered = plain = 0
    for _ in range(2_000):
        given, left, own = rng.normal(size=(3, 12))
        x, y = 2 * given + left, truth * left - given + np.sqrt(1 - truth**2) * own
        found = partial_correlation(x, y, given, 0.95)
        covered += found.low <= truth <= found.high
        shift = np.corrcoef(x, y)[0, 1] - found.value
        plain += found.low + shift <= truth <= found.high + shift
    assert 0.935 < covered / 2_000 < 0.965
    assert plain / 2_000 < 0.8


def test_residual_ratings_follow_length_where_the_judge_does():
    """A judge with a length bias of 2 logits, against humans without."""
    battles = played(400, Judge(length_bias=2.0))
    found = verbosity(subject_of(battles))
    assert (found.who, found.residuals.n) == ("human", 6)
    assert found.residuals.value > 0.9


def test_a_length_bias_is_recovered_where_strengths_are_all_that_differs():
    """Truth: 0.7 + 0.5 logits; no bias is reported for humans, who have none."""
    judge = Judge(length_bias=0.7, verbosity_bias=0.5)
    _, battles = both(world(8, 300), judge, repeats=1)
    found = verbosity(subject_of(battles))
    assert covers(found.effect, 1.2)
    assert not covers(found.effect, 0.7)
    assert covers(found.human, 0.0)


def test_log_ratios_are_of_one_plus_the_length():
    battles = judgments([(0, 1.0, 0, 9)], "item credit length_a length_b")
    assert log_ratio(battles) == pytest.approx([-np.log(10)])
    assert expit(log_ratio(battles)) == pytest.approx([1 / 11])


@pytest.mark.slow
def test_models_that_never_met_leave_only_what_needs_ratings_missing():
    rows = [
        (k, credit, 0.1, 300, 100, *pair)
        for k, (credit, pair) in enumerate([(1.0, "ab"), (0.0, "cd"), (1.0, "ab")])
    ]
    battles = judgments(rows, "item credit margin length_a length_b model_a model_b", human=0.0)
    found = verbosity(subject_of(battles))
    assert found.longer_near_ties.value == pytest.approx(2 / 3)
    assert "human: " in found.residuals.why
    assert "--gold" in found.residuals.remedy


@pytest.mark.slow
def test_length_bias_is_not_reported_for_a_judge_that_exaggerates_gaps_of_longer_models():
    """200 worlds of twelve new models whose length follows strength; humans label each battle once.

    Truth: 0, whatever the scale. The errors of human ratings left in, the mean lies well above;
    strength not held fixed at all, most worlds accuse.
    """
    held, means, naive, plain = [], [], [], []
    for seed in range(200):
        played, rng = simulate(12, 12, seed=seed, item_sd=0.5), np.random.default_rng(seed + 10_000)
        lengths = 7 + 0.3 * played.strengths + rng.normal(0, 0.2, 12)
        longer = replace(
            played,
            length_means=lengths,
            log_length=played.log_length + lengths - played.length_means,
        )
        battles = read_battles(longer.judgments(Judge("j", scale=1.5), orders="ab", human=True))
        subject = subject_of(battles)
        found = correlate_residuals(subject)
        if isinstance(found, Missing):
            continue
        theirs, ours = bounded_by_all(subject.reference, subject.judge_ratings.ratings)
        judge, human = ours.elo, theirs.elo
        length = np.array([np.exp(lengths[longer.models.index(name)]) for name in ours.models])
        held.append(found.low <= 0 <= found.high)
        means.append(found.value)
        naive.append(partial_correlation(judge - human, length, human, 0.95).value)
        reach = np.arctanh(found.high) - np.arctanh(found.value)
        plain.append(abs(np.arctanh(np.corrcoef(judge - human, length)[0, 1])) <= reach)
    assert len(held) > 190
    assert 0.91 <= np.mean(held) <= 0.99
    assert abs(np.mean(means)) < 0.06
    assert np.mean(naive) > 0.1
    assert np.mean(plain) < 0.8


@pytest.mark.slow
def test_lengths_of_answers_and_of_transcripts_are_told_apart():
    rng = np.random.default_rng(5)
    of_answer, of_transcript = (rng.integers(50, 5_000, (2, 300)) for _ in range(2))
    credit = (np.log(of_transcript[0] / of_transcript[1]) + rng.logistic(size=300) > 0).astype(
        float
    )
    lengths = {"length_a": of_answer[0], "length_b": of_answer[1]}
    rows = {
        "item": [f"q{k}" for k in range(300)],
        "model_a": "ash",
        "model_b": "elm",
        "credit": credit,
        **lengths,
    }
    transcripts = {"transcript_length_a": of_transcript[0], "transcript_length_b": of_transcript[1]}
    found = verbosity(Subject(None, *[read_battles(pd.DataFrame({**rows, **transcripts}))] * 2))
    alone = verbosity(Subject(None, *[read_battles(pd.DataFrame(rows))] * 2))
    assert found.effect.low < 0 < found.effect.high
    assert found.transcripts.low > 0
    assert [label for label, _ in found.labelled_values()][2:4] == [
        "length of the answer, log-odds per factor e, strength fixed",
        "  the same for the length of the transcript",
    ]
    assert alone.transcripts is None
    assert alone.labelled_values()[2][0] == "length, log-odds per factor e, strength fixed"
