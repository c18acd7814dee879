"""Graded credits on the human scale: soft-elo fits beta to human labels and the log-odds of the
credits."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from podium import NotIdentifiedError, rank, read_battles

STRENGTHS = np.linspace(-1, 1, 6)
ELO = 400 / np.log(10)
FLATTENED = 0.4
"""Logits of the judge's probability per logit of difference: its graded credits are nearer to 0.5
than humans'."""


@pytest.fixture(scope="module")
def battles():
    """Return graded verdicts without error in both orders, with a preference for the first, and
    human labels."""
    rng, rows = np.random.default_rng(5), []
    first, second = np.triu_indices(len(STRENGTHS), 1)
    for item in range(200):
        gap = STRENGTHS[first] - STRENGTHS[second]
        human = (rng.random(len(gap)) < expit(gap)) * 1.0
        for order, bias in (("ab", 0.2), ("ba", -0.2)):
            names = {"item": str(item), "model_a": first.astype(str), "model_b": second.astype(str)}
            credit = expit(FLATTENED * gap + bias)
            parsed = {"credit": credit, "hard_credit": (credit > 0.5) * 1.0, "human": human}
            rows.append(pd.DataFrame({**names, "order": order, **parsed}))
    return read_battles(pd.concat(rows))


def slope(standings):
    """Return Elo by Elo of the truth."""
    score = {entry.model: entry.score for entry in standings.entries}
    return np.polyfit(ELO * STRENGTHS, [score[str(k)] for k in range(len(STRENGTHS))], 1)[0]


@pytest.mark.slow
def test_elo_of_graded_credits_is_compressed_and_says_so(battles):
    ranking = rank(battles, "bradley-terry", answers=False)
    assert slope(ranking.standings[0]) == pytest.approx(FLATTENED, abs=0.02)
    assert "compressed scale" in str(ranking)


def test_log_odds_and_human_labels_correct_the_scale(battles):
    ranking = rank(battles, "soft-elo", target="log-odds", answers=False)
    [standings] = ranking.standings
    assert standings.fit.beta_low < 1 / FLATTENED < standings.fit.beta_high
    assert slope(standings) == pytest.approx(standings.fit.beta * FLATTENED, abs=0.02)
    assert "compressed scale" not in str(ranking)


def test_log_odds_of_wins_and_losses_are_an_error(battles):
    hard = battles.to_frame().assign(credit=lambda table: table["hard_credit"])
    with pytest.raises(NotIdentifiedError, match="soft credit"):
        rank(read_battles(hard), "soft-elo", target="log-odds")
