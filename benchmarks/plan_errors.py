"""The standard errors of `podium plan`, compared with those of simulated tournaments.

    python benchmarks/plan_errors.py                                      # 6 models, 100 items, 150
    worlds: a minute python benchmarks/plan_errors.py --models 12 --items 200 --spread 2

Models lie at normal quantiles with a standard deviation of `--spread` logits; each item shifts each
model by a normal effect with a standard deviation of `--item-sd` logits; the judge has a logistic
error and returns a tie in a share `--ties` of its calls. Each tournament is played on every
simulated data set, and its Bradley-Terry ratings are fitted. "Simulated" is the standard deviation,
over data sets, of the difference of a typical pair. "Predicted" is the plan from a pilot of 2,000
simulated items. Tournaments have the same seed in all data sets: SWIM's ratings depend on the order
in which models join, and the standard error does not include this. The error of the ratio is the
Monte Carlo error. The exit code is 1 if a ratio is off by more than 10% and two of its errors.
"""

import argparse
import sys
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri
from tables import machine, show

from podium import Judge, World, simulate
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.planning.precision import design_variance, pilot_verdicts
from podium.planning.replays import recording_of
from podium.plugins.catalogue import make_tournament
from podium.rankers.fit.pairs import pairs_from_matrices
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths
from podium.tournaments.schedule import TournamentDesign

DESIGNS = ("round_robin", "anchor", "chain", "swim", "ring")
PILOT_ITEMS = 2000


def judge_with_ties(world: World, ties: float) -> Judge:
    """Return a judge that calls this share of its calls a tie."""
    margins = world.margins_of_first(Judge())[:, ~np.eye(len(world.models), dtype=bool)]
    return Judge(tie=float(np.quantile(np.abs(margins), ties)))


def answers_of(world: World, judge: Judge) -> Callable[[Pairing], float]:
    """Return the function that answers a pairing, in its order, or by the mean of both."""
    earned = judge.credit(world.margins_of_first(judge))
    place = {name: k for k, name in enumerate(world.models)}

    def credit(pairing: Pairing) -> float:
        item, a, b = int(pairing.item), place[pairing.a], place[pairing.b]
        shown = {pairing.a: earned[item, a, b], pairing.b: 1 - earned[item, b, a]}
        return float(shown[pairing.first] if pairing.first else np.mean([*shown.values()]))

    return credit


def play_and_fit(
    design: TournamentDesign, world: World, credit: Callable[[Pairing], float]
) -> np.ndarray:
    """Play a tournament in a simulated world; return the fitted log-strengths, shape (models,)."""
    field = Field(world.models, tuple(map(str, range(len(world.quality)))), {})
    rule, rounds = make_tournament(design.name, design.settings), list[Round]()
    place = {name: k for k, name in enumerate(world.models)}
    won, met = np.zeros((2, len(place), len(place)))
    while coming := rule.next(field, rounds).pairings:
        rounds.append(Round(tuple(Outcome(pairing, credit(pairing)) for pairing in coming)))
        for outcome in rounds[-1].outcomes:
            cell = place[outcome.pairing.a], place[outcome.pairing.b]
            won[cell] += outcome.credit
            met[cell] += 1
    return fit_strengths(pairs_from_matrices(won, met)).theta


def typical_error(theta: np.ndarray) -> float:
    """Return the root mean variance over pairs of the difference of two ratings, Elo; fits have
    shape (worlds, n)."""
    centred = theta - theta.mean(axis=1, keepdims=True)
    return float(POINTS * np.sqrt(2 * np.trace(np.cov(centred.T)) / (theta.shape[1] - 1)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=6)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--worlds", type=int, default=150)
    parser.add_argument("--ties", type=float, default=0.15)
    parser.add_argument(
        "--spread",
        type=float,
        default=1.0,
        help="standard deviation of the models' strengths, logits",
    )
    parser.add_argument(
        "--item-sd", type=float, default=1.0, help="standard deviation of an item's effects, logits"
    )
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    strengths = options.spread * ndtri((np.arange(options.models) + 0.5) / options.models)
    shape = {"strengths": strengths, "item_sd": options.item_sd}
    large = simulate(options.models, PILOT_ITEMS, seed=0, **shape)
    judge = judge_with_ties(large, options.ties)
    model, _ = pilot_verdicts(recording_of(large.battles(judge)))
    worlds = [
        simulate(options.models, options.items, seed=1 + k, **shape) for k in range(options.worlds)
    ]
    answers = [answers_of(world, judge) for world in worlds]
    middle = model.names[np.argsort(model.theta)[options.models // 2]]
    rows, is_off = [], False
    for name in DESIGNS:
        design = TournamentDesign(name, name, {"anchor": middle} if name == "anchor" else {})
        calls = 1 if name == "ring" else 2
        predicted = np.sqrt(design_variance(design, model, [], calls, 0.95).value / options.items)
        fits = [play_and_fit(design, *each) for each in zip(worlds, answers, strict=True)]
        simulated = typical_error(np.array(fits))
        ratio, doubt = predicted / simulated, 1 / np.sqrt(2 * options.worlds * (options.models - 1))
        is_off |= abs(ratio - 1) > 0.1 + 2 * doubt
        rows.append((name, f"{predicted:.1f}", f"{simulated:.1f}", f"{ratio:.3f} ± {doubt:.3f}"))
    print(machine())
    title = (
        f"{options.models} models, {options.items} items, {options.worlds} worlds: standard "
        "error, Elo"
    )
    show(title, ("design", "predicted", "simulated", "ratio"), rows, markdown=options.markdown)
    sys.exit(int(is_off))
