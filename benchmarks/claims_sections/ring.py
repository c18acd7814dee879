"""`podium/ring` with a judge that is not on one line: decisions that the round robin contradicts,
and calls.

8 models at normal quantiles with a standard deviation of 120 Elo, 400 items, margin 20. By the
dose, one model loses to the three models nearest to it by so much more, and beats the other four
by so much more, than its rating says. Where they are 20.5 Elo apart, neighbours in the round robin
differ by just over the margin. A decision is wrong if Bradley-Terry on a round robin of infinitely
many items contradicts it. Two groups of equal models, 300 Elo apart, are compared with margin 0:
each decision within a group is wrong in one direction or the other, so 10% are nominal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from claim_bars import share_text
from scipy.special import expit
from scipy.stats import norm
from tables import show

from podium import read_battles
from podium.data.battles import Battles
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.diagnosis.checks.all_checks import adjust_tests, checks_of_battles, flagged_checks
from podium.diagnosis.figures import Missing
from podium.diagnosis.fit import bradley_terry_fit
from podium.errors import NotIdentifiedError
from podium.tournaments.decisions import build_tournament_answer
from podium.tournaments.ring import Ring
from podium.tournaments.stopping import SPENDING_GROWTH, Look

WORLDS, EQUAL_WORLDS = 200, 600
ELO = 400 / np.log(10)
MODELS, ITEMS, MARGIN, SPREAD = 8, 400, 20.0, 120.0
ITEM_SD, PAIR_SD, POSITION, TIE = 0.95, 0.5, 0.3, 0.33
"""Of the judge, in logits: model on an item, pair on an item, lean to the first, threshold of a
tie."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
MARGINS = np.linspace(-14, 14, 4001)
Strengths = tuple[np.ndarray, np.ndarray]
"""Elo, shape (models,), and what each pair departs from it, antisymmetric, shape (models,
models)."""
Draw = Callable[[np.random.Generator], Strengths]
DrawElo = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True, slots=True)
class World:
    """Credits of the response shown first, shape (items, first, second), and Elo of the infinite
    round robin."""

    field: Field
    earned: np.ndarray
    truth: np.ndarray

    def play(self, rule: Ring) -> list[Round]:
        """Play until it is over."""
        model, item = (
            {name: k for k, name in enumerate(own)} for own in (self.field.models, self.field.items)
        )
        rounds: list[Round] = []

        def credit(own: Pairing) -> float:
            a, b, place = model[own.a], model[own.b], item[own.item]
            return float(
                self.earned[place, a, b] if own.first == own.a else 1 - self.earned[place, b, a]
            )

        while coming := rule.next(self.field, rounds).pairings:
            rounds.append(Round(tuple(Outcome(own, credit(own)) for own in coming)))
        return rounds


def expected_log_odds(margin: np.ndarray) -> np.ndarray:
    """Return the log-odds of the expected credit over items and both orders, given the mean margin
    in logits."""
    latent = margin[:, None] + np.sqrt(2 * ITEM_SD**2 + PAIR_SD**2) * NODES
    wins = (
        sum(expit(latent + side * POSITION + end * TIE) for side in (-1, 1) for end in (-1, 1)) / 4
    )
    credit = wins @ WEIGHTS / WEIGHTS.sum()
    return np.log(credit / (1 - credit))


LOG_ODDS = expected_log_odds(MARGINS)


def round_robin(log_odds: np.ndarray) -> np.ndarray:
    """Return the maximum-likelihood strengths of a round robin on infinitely many items, by
    Newton's method."""
    credit, pairs, theta = expit(log_odds), 1 - np.eye(len(log_odds)), np.zeros(len(log_odds))
    for _ in range(50):
        expected = expit(theta[:, None] - theta)
        hessian = -pairs * expected * (1 - expected)
        hessian -= np.diag(hessian.sum(axis=1))
        theta += np.linalg.lstsq(hessian, (pairs * (credit - expected)).sum(axis=1), rcond=None)[0]
    return theta - theta.mean()


def draw_world(strengths: Strengths, rng: np.random.Generator) -> World:
    """Draw the judge's verdicts in both orders; each pair's log-odds over items are exactly gap +
    departure."""
    (elo, departure), size = strengths, len(strengths[0])
    log_odds = (elo[:, None] - elo + departure) / ELO
    own = rng.normal(0, ITEM_SD, (ITEMS, size))
    pair = np.triu(rng.normal(0, PAIR_SD, (ITEMS, size, size)), 1)
    latent = (
        np.interp(log_odds, LOG_ODDS, MARGINS)
        + own[:, :, None]
        - own[:, None]
        + pair
        - pair.transpose(0, 2, 1)
    )
    latent += POSITION + rng.logistic(size=latent.shape)
    earned = (np.sign(latent - TIE) + np.sign(latent + TIE)) / 4 + 0.5
    names, items = tuple(f"m{k}" for k in range(size)), tuple(f"q{k:04d}" for k in range(ITEMS))
    return World(Field(names, items, {}), earned, ELO * round_robin(log_odds))


def spread_out(rng: np.random.Generator) -> np.ndarray:
    """Return Elo at normal quantiles, in random order."""
    return SPREAD * rng.permutation(norm.ppf((np.arange(MODELS) + 0.5) / MODELS))


def one_departs(dose: float, draw: DrawElo = spread_out) -> Draw:
    """Return a draw of strengths in which one model departs from its rating, by the dose in Elo."""

    def strengths(rng: np.random.Generator) -> Strengths:
        elo, one, departure = draw(rng), int(rng.integers(MODELS)), np.zeros((MODELS, MODELS))
        nearest = np.argsort(np.abs(elo - elo[one]), kind="stable")
        departure[one, nearest] = np.where(np.arange(MODELS) < MODELS // 2, -dose, dose)
        departure[one, one] = 0
        return elo, departure - departure.T

    return strengths


def all_depart(draw: DrawElo = spread_out) -> Draw:
    """Return a draw of strengths with a random departure of each pair, sd 48 Elo."""

    def strengths(rng: np.random.Generator) -> Strengths:
        departure = np.triu(rng.normal(0, 48, (MODELS, MODELS)), 1)
        return draw(rng), departure - departure.T

    return strengths


def evenly_spread(rng: np.random.Generator) -> np.ndarray:
    """Return Elo in random order with gaps of the margin and half an Elo, the least at which a
    decision is wrong."""
    return (MARGIN + 0.5) * rng.permutation(MODELS)


def barely_wrong(draw: Draw) -> Draw:
    """Return a draw in which the round robin has exactly the drawn Elo, in spite of the
    departures."""

    def strengths(rng: np.random.Generator) -> Strengths:
        target, departure = draw(rng)
        elo = target
        for _ in range(60):
            elo = (
                elo
                + target
                - target.mean()
                - ELO * round_robin((elo[:, None] - elo + departure) / ELO)
            )
        return elo, departure

    return strengths


def two_groups(rng: np.random.Generator) -> Strengths:
    """Return Elo of two groups of equal models, 300 apart, without departures."""
    return np.repeat([0.0, 300.0], MODELS // 2)[rng.permutation(MODELS)], np.zeros((MODELS, MODELS))


EQUAL = "two groups of equal models"
CASES: Mapping[str, Draw] = {
    **{f"one departs by {dose}": one_departs(dose) for dose in (0, 45, 81, 148, 219)},
    "random departures, sd 48": all_depart(),
    "transitive, 20.5 apart": lambda rng: (evenly_spread(rng), np.zeros((MODELS, MODELS))),
    "one departs by 81, 20.5 apart": barely_wrong(one_departs(81, evenly_spread)),
    "random departures, 20.5 apart": barely_wrong(all_depart(evenly_spread)),
    EQUAL: two_groups,
}
SAME = 1e-6
"""Elo up to which two models are equal: with margin 0, a decision about them is wrong."""


def is_wrong(rule: Ring, look: Look, truth: np.ndarray) -> bool:
    """Return whether the truth contradicts a decision of a look, or the set of the best once it is
    answered."""
    above = truth[:, None] - truth < SAME - rule.margin
    if rule.top_count is None:
        return bool(((look.settled > 0) & above).any())
    best = np.isin(np.arange(MODELS), np.argsort(-look.theta, kind="stable")[: rule.top_count])
    return not look.open.any() and bool(above[np.ix_(best, ~best)].any())


def battles_of(rounds: Sequence[Round], rule: Ring, field: Field) -> Battles:
    """Return the battles of the log of a tournament."""
    rows = [(*one.pairing[:3], one.credit) for done in rounds for one in done.outcomes]
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    answer = build_tournament_answer(rule, field, rounds)
    return Battles(battles.rows, answer=answer.to_dict() if answer else None)


def misfit_look(rounds: Sequence[Round], rule: Ring, field: Field) -> int:
    """Return the first look at which a test of all pairs against the ratings fails, its 5% spent as
    the rule's."""
    shares = SPENDING_GROWTH ** np.arange(len(rule.planned_looks(rule.passes * ITEMS)))
    for number, share in enumerate(shares[: len(rounds)] / shares.sum(), start=1):
        try:
            fit = bradley_terry_fit(battles_of(rounds[:number], rule, field))
        except NotIdentifiedError:
            continue
        if (
            not isinstance(fit, Missing)
            and not isinstance(fit.whole, Missing)
            and fit.whole.p <= 0.05 * share
        ):
            return number
    return len(rounds) + 1


def figures_of(case: str, seed: int, until: str, opponents: str) -> tuple[float, ...]:
    """Return: wrong, wrong before a test of fit fails, battles, answered, no failed check in the
    ranking; of a run."""
    rng = np.random.default_rng([30, list(CASES).index(case), seed])
    world = draw_world(CASES[case](rng), rng)
    rule = Ring(until=until, margin=0 if case == EQUAL else MARGIN, opponents=opponents, seed=seed)
    rounds = world.play(rule)
    looks = rule.progress_of(world.field, rounds).looks
    wrong = [is_wrong(rule, look, world.truth) for look in looks]
    early = wrong[-1] and wrong.index(True) + 1 < misfit_look(rounds, rule, world.field)
    failed = flagged_checks(
        adjust_tests(checks_of_battles(battles_of(rounds, rule, world.field), {}))
    )
    return wrong[-1], early, looks[-1].battles, not looks[-1].open.any(), not failed


def report(worlds: int | None, markdown: bool) -> None:
    """Print a row per world, question and choice of opponents."""
    rows = []
    for case in CASES:
        number = worlds or (EQUAL_WORLDS if case == EQUAL else WORLDS)
        questions = ("order",) if case == EQUAL else ("order", "top3")
        for until, opponents in ((until, who) for until in questions for who in ("field", "open")):
            runs = np.array(
                [figures_of(case, seed, until, opponents) for seed in range(number)], dtype=float
            )
            (wrong, early, _, answered, clean), calls = (
                runs.sum(axis=0).astype(int),
                runs[:, 2].mean(),
            )
            shares = [share_text(int(hits), number) for hits in (answered, wrong, early, clean)]
            rows.append([case, until, opponents, str(number), f"{calls:,.0f}", *shares])
            print(*rows[-1], sep="; ", flush=True)
    header = ("world, Elo", "until", "opponents", "worlds", "calls", "answered, %", "wrong, %")
    header += ("wrong before the fit is rejected, %", "no check fails, %")
    show(
        f"ring, {MODELS} models, {ITEMS} items, margin {MARGIN:g}", header, rows, markdown=markdown
    )
