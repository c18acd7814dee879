"""Davidson's model: strengths are those of a plain maximization, errors those of many worlds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.davidson import fit_davidson, outcome_masses

MODELS = 4
STRENGTHS = np.array([1.0, 0.3, -0.2, -1.1])


def draw(seed, items=400, log_nu=-0.3):
    """Return battles of a world by Davidson's model, four to an item."""
    rng = np.random.default_rng(seed)
    number = 4 * items
    a = rng.integers(0, MODELS, number)
    b = (a + rng.integers(1, MODELS, number)) % MODELS
    lead = (STRENGTHS[a] - STRENGTHS[b]) / 2
    odds = np.exp(np.stack([lead, np.full(number, log_nu), -lead]))
    shares = np.cumsum(odds / odds.sum(axis=0), axis=0)
    outcome = (rng.random(number) > shares).sum(axis=0)
    credit = np.array([1.0, 0.5, 0.0])[outcome]
    cluster = np.repeat(np.arange(items), 4)
    ones = np.ones(number)
    return CodedBattles(a, b, credit, ones, cluster, items, "item", tuple("abcd"))


def test_strengths_are_those_of_a_plain_maximization():
    coded = draw(1)

    def loss(parameters):
        theta = np.append(parameters[:-1], -parameters[:-1].sum())
        lead = (theta[coded.a] - theta[coded.b]) / 2
        logits = np.stack([lead, np.full(len(lead), parameters[-1]), -lead])
        mass = np.stack(outcome_masses(coded.credit))
        return -(mass * (logits - np.logaddexp.reduce(logits, axis=0))).sum()

    plain = minimize(loss, np.zeros(MODELS), tol=1e-12).x
    fit = fit_davidson(coded, regularization=0.0)
    assert fit.theta[:-1] == pytest.approx(plain[:-1], abs=1e-5)
    assert fit.log_nu == pytest.approx(plain[-1], abs=1e-5)


def test_strengths_of_the_world_are_found():
    fit = fit_davidson(draw(2, items=20_000))
    assert fit.theta == pytest.approx(STRENGTHS - STRENGTHS.mean(), abs=0.05)
    assert fit.log_nu == pytest.approx(-0.3, abs=0.05)


def test_a_credit_between_a_tie_and_a_win_is_half_of_each():
    win, tie, loss = outcome_masses(np.array([1.0, 0.75, 0.5, 0.25, 0.0]))
    assert win.tolist() == [1, 0.5, 0, 0, 0]
    assert tie.tolist() == [0, 0.5, 1, 0.5, 0]
    assert loss.tolist() == [0, 0, 0, 0.5, 1]


def test_errors_are_those_of_many_worlds():
    fits = [fit_davidson(draw(seed)) for seed in range(150)]
    spread = np.std([fit.theta for fit in fits], axis=0)
    stated = np.mean([np.sqrt((fit.influence**2).sum(axis=0)) for fit in fits], axis=0)
    assert stated == pytest.approx(spread, rel=0.2)
