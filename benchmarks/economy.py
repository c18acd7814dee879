"""What answers cost: the ring and its questions beside SWIM, chain, anchor, round robin, a
knock-out and a naive stop.

    python benchmarks/economy.py                           # 20 models, 800 items, 20 worlds: some
    minutes python benchmarks/economy.py --models 8 --items 200 --worlds 10 python
    benchmarks/economy.py --strengths close --designs "open, order;z >" --worlds 500    # wrong
    decisions python benchmarks/economy.py --record FILE --worlds 40     # items of a record, drawn
    with replacement python benchmarks/economy.py --rounds --models 40 --items 500      # CPU
    seconds of each `next` of until=order

Worlds have a judge as often tied, turned and for the first as GPT-4 on the recorded round robin,
where swapping turns 12% of verdicts. Models lie at normal quantiles with a standard deviation of
120 Elo (`spread`), 1 Elo apart (`close`), or all alike (`equal`). The truth is the round robin's
Bradley-Terry on infinitely many items (of a record: on all its items). Calls are judge calls: one
a battle in the ring and the knock-out, two elsewhere.

RMSE is in Elo; wrong: worlds in which a decision on the order, at any look, or the set of the best
is (where all are alike, any decision); of `error`, intervals that miss; open: pairs asked about
that are not settled at the end, a mean over worlds.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau, norm
from tables import machine, show

from podium import read_battles, simulate
from podium.data.pairings import Field, Outcome, Round, pairing
from podium.rankers.fit.pairs import pairs_from_matrices
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths
from podium.tournaments.anchor import Anchor
from podium.tournaments.between_rounds import matchups_in, strengths_of_matchups
from podium.tournaments.chain import Chain
from podium.tournaments.ring import Ring
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.schedule import TournamentRule
from podium.tournaments.selection import generator
from podium.tournaments.stopping import Look, Stopping
from podium.tournaments.swim import Swim

sys.path.append(str(Path(__file__).parents[1] / "tests" / "tournaments"))

from close_worlds import ITEM_SD, LIKE_GPT_4
from imagined_run import ImaginedRun


@dataclass(frozen=True)
class Result:
    """Of one world: calls, strengths that were found (Elo), whether and how much is answered, and
    wrongly."""

    calls: int
    elo: np.ndarray
    answered: bool | None = None
    wrong: float | None = None
    open: int | None = None


Design = Callable[[ImaginedRun, int], Result]


def plays(
    make: Callable[[int, ImaginedRun], TournamentRule], calls: int, naive: bool = False
) -> Design:
    """Return how a tournament is played in a world; `naive` stops at z > 1.96 for every pair
    instead."""

    def play(run: ImaginedRun, seed: int) -> Result:
        rule = make(seed, run)
        rounds = rounds_of(run, rule)
        if not isinstance(rule, Stopping) or not rule.until:
            return Result(calls * number_of(rounds), parse_ratings(rounds, run))
        looks = rule.progress_of(run.field, rounds).looks
        if naive:
            return stop_naively(run, rounds, looks, calls)
        last = looks[-1]
        left = int(last.open.sum()) // 2
        return Result(
            calls * last.battles,
            parse_ratings(rounds, run),
            not last.open.any(),
            is_wrong(rule, last, run),
            left,
        )

    return play


def rounds_of(run: ImaginedRun, rule: TournamentRule, latest: list = []) -> list[Round]:  # noqa: B006
    """Play a tournament; two designs in a row that look at the same one share it."""
    if not latest or latest[0] is not run or latest[1] != rule:
        latest[:] = [run, rule, run.play(rule)]
    return latest[2]


def stop_naively(
    run: ImaginedRun, rounds: Sequence[Round], looks: Sequence[Look], calls: int
) -> Result:
    """Decide each pair at the first look at which z > 1.96, and stop when all are decided."""
    gap = run.truth[:, None] - run.truth
    decided = -np.eye(len(gap))
    for look in looks:
        fresh = (np.abs(look.evidence) > 1.96) & (decided == 0)
        decided[fresh] = np.sign(look.evidence)[fresh]
        last = look
        if decided.all():
            break
    is_wrong_somewhere = bool(((decided > 0) & (gap <= 0)).any())
    return Result(
        calls * last.battles,
        parse_ratings(rounds[: last.number], run),
        bool(decided.all()),
        is_wrong_somewhere,
    )


def is_wrong(rule: Stopping, last: Look, run: ImaginedRun) -> float:
    """Return 1 if a decision (on the order, or the set of the best) is wrong; of an error, the
    share of intervals."""
    gap = (run.truth[:, None] - run.truth) * POINTS
    if rule.error is not None:
        return float(np.mean(np.abs(last.theta - run.truth) * POINTS > last.half_widths))
    if rule.top_count is None:
        return bool(((last.settled > 0) & (gap <= -rule.margin)).any())
    inside = np.isin(np.arange(len(gap)), np.argsort(-last.theta, kind="stable")[: rule.top_count])
    return not last.open.any() and bool((gap[inside][:, ~inside] < -rule.margin).any())


def knock_out(run: ImaginedRun, seed: int) -> Result:
    """Play a knock-out on every item in one order each: M - 1 battles; a tie is drawn (Arena-Lite,
    2024)."""
    rounds = []
    for place, item in enumerate(run.field.items):
        rng = generator(seed, "knock-out", item)
        left = [run.field.models[k] for k in rng.permutation(len(run.field.models))]
        while len(left) > 1:
            pairs = [
                pairing(item, a, b, first=a) for a, b in zip(left[::2], left[1::2], strict=False)
            ]
            outcomes = tuple(map(Outcome, pairs, run.credits([place] * len(pairs), pairs)))
            rounds.append(Round(outcomes))
            won = [
                one.pairing.a if one.credit + rng.uniform(-0.1, 0.1) > 0.5 else one.pairing.b
                for one in outcomes
            ]
            left = won + left[2 * len(pairs) :]
    return Result(
        number_of(rounds),
        parse_ratings([Round(tuple(one for done in rounds for one in done.outcomes))], run),
    )


def number_of(rounds: Sequence[Round]) -> int:
    return sum(len(done.outcomes) for done in rounds)


def parse_ratings(rounds: Sequence[Round], run: ImaginedRun) -> np.ndarray:
    return POINTS * np.array(
        list(strengths_of_matchups(matchups_in(rounds), run.field.models).values())
    )


def middle(run: ImaginedRun) -> str:
    return run.field.models[int(np.argsort(run.truth)[len(run.truth) // 2])]


def items_for(run: ImaginedRun, rule: TournamentRule) -> int:
    """Return the items on which a tournament in both orders takes the calls of a flat ring on all
    of them."""
    return len(run.field.items) * Ring().size(run.field) // (2 * rule.size(run.field))


def open_ring(seed: int, **question: Any) -> Ring:
    """Return a ring whose remaining models meet one another only, with as few calls as possible."""
    return Ring(seed=seed, opponents="open", **question)


DESIGNS: dict[str, Design] = {
    "ring, flat": plays(lambda seed, _: Ring(seed=seed), 1),
    "ring, order within 30": plays(lambda seed, _: Ring(seed=seed, until="order", margin=30.0), 1),
    "ring, top3 within 20": plays(lambda seed, _: Ring(seed=seed, until="top3", margin=20.0), 1),
    "ring, top1": plays(lambda seed, _: Ring(seed=seed, until="top1"), 1),
    "ring, error 25": plays(lambda seed, _: Ring(seed=seed, until="error:25"), 1),
    "ring, order": plays(lambda seed, _: Ring(seed=seed, until="order"), 1),
    "open, order within 30": plays(lambda seed, _: open_ring(seed, until="order", margin=30.0), 1),
    "open, top3 within 20": plays(lambda seed, _: open_ring(seed, until="top3", margin=20.0), 1),
    "open, top1": plays(lambda seed, _: open_ring(seed, until="top1"), 1),
    "open, order": plays(lambda seed, _: open_ring(seed, until="order"), 1),
    "z > 1.96 at every look, order": plays(
        lambda seed, _: open_ring(seed, until="order"), 1, naive=True
    ),
    "chain": plays(lambda seed, _: Chain(seed=seed), 2),
    "chain, the flat ring's calls": plays(
        lambda seed, run: Chain(seed=seed, items=items_for(run, Chain())), 2
    ),
    "chain, top3 within 20": plays(lambda seed, _: Chain(seed=seed, until="top3", margin=20.0), 2),
    "anchor, the middle one": plays(lambda seed, run: Anchor(seed=seed, anchor=middle(run)), 2),
    "swim": plays(lambda seed, _: Swim(seed=seed), 2),
    "swim, the flat ring's calls": plays(
        lambda seed, run: Swim(seed=seed, items=items_for(run, Swim())), 2
    ),
    "round robin": plays(lambda seed, _: RoundRobin(seed=seed), 2),
    "round robin, order within 30": plays(
        lambda seed, _: RoundRobin(seed=seed, until="order", margin=30.0), 2
    ),
    "knock-out on each item": knock_out,
}


def worlds(options: argparse.Namespace) -> Iterator[ImaginedRun]:
    """Yield imagined worlds, or resamplings of a record's items."""
    for seed in range(options.worlds):
        if options.record is None:
            yield imagined_world(options.strengths, options.models, options.items, seed)
        else:
            yield resampled(options.record, seed)


def imagined_world(strengths: str, models: int, items: int, seed: int) -> ImaginedRun:
    """Return a world of models in this relation, and of a judge like GPT-4."""
    quantiles = norm.ppf((np.arange(models) + 0.5) / models)
    elo = {"spread": 120 * quantiles, "close": np.arange(models) * 1.0, "equal": np.zeros(models)}[
        strengths
    ]
    world = simulate(models, items, seed=seed, strengths=elo / POINTS, item_sd=ITEM_SD)
    margin = world.margins_of_first(LIKE_GPT_4)
    earned = (np.sign(margin - LIKE_GPT_4.tie) + np.sign(margin + LIKE_GPT_4.tie)) / 4 + 0.5
    field = Field(world.models, tuple(f"item {k}" for k in range(items)), {})
    return ImaginedRun(field, earned, world.estimand(LIKE_GPT_4))


def resampled(path: str, seed: int) -> ImaginedRun:
    """Return a record's items drawn with replacement, each draw an item of its own."""
    whole = recorded(path)
    items = len(whole.earned)
    drawn = np.random.default_rng(seed).integers(0, items, items)
    return replace(whole, earned=whole.earned[drawn])


def recorded(path: str, known: dict[str, ImaginedRun] = {}) -> ImaginedRun:  # noqa: B006
    """Return a record in both orders of all pairs, unparsed judgments as NaN."""
    if path not in known:
        columns = {
            "item": "prompt",
            "model_a": "model_1",
            "model_b": "model_2",
            "credit": "verdict",
        }
        how = {
            "columns": columns,
            "credit_map": {"1": 1, "0": 0.5, "-1": 0},
            "shown": "a",
            "merge": False,
        }
        table = read_battles(path, **how).table
        names = tuple(table["model_a"].cat.categories)
        items = table["item"].cat.categories
        earned = np.full((len(items), len(names), len(names)), np.nan)
        a, b = table["model_a"].cat.codes, table["model_b"].cat.codes
        ahead = (table["order"] == "ab").to_numpy()
        first, second = np.where(ahead, a, b), np.where(ahead, b, a)
        earned[table["item"].cat.codes, first, second] = np.where(
            ahead, table["credit"], 1 - table["credit"]
        )
        credit, read = np.nansum(earned, axis=0), (~np.isnan(earned)).sum(axis=0)
        fitted = fit_strengths(pairs_from_matrices(credit, read.astype(float)))
        field = Field(names, tuple(f"item {k}" for k in range(len(items))), {})
        known[path] = ImaginedRun(field, earned, fitted.theta)
    return known[path]


def parser_of_worlds(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that `worlds` reads.

    Args:
        description: what the script measures, for `--help`.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--items", type=int, default=800)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--record")
    parser.add_argument("--strengths", choices=("spread", "close", "equal"), default="spread")
    return parser


def main() -> None:
    parser = parser_of_worlds(__doc__)
    parser.add_argument(
        "--designs", help="only those whose names are so, or begin so; with semicolons"
    )
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--rounds", action="store_true")
    options = parser.parse_args()
    if options.rounds:
        time_rounds(options.models, options.items)
        return
    chosen = designs_named([name.strip() for name in (options.designs or "").split(";")])
    results: dict[str, list[tuple[Result, ImaginedRun]]] = {name: [] for name in chosen}
    for seed, run in enumerate(worlds(options)):
        for name in chosen:
            results[name].append((DESIGNS[name](run, seed), run))
    rows = [row_of(name, own) for name, own in results.items()]
    kind = "a record" if options.record else options.strengths
    title = (
        f"{options.worlds} worlds ({kind}) of {len(run.truth)} models and {len(run.earned)} "
        f"items; {machine()}"
    )
    show(
        title,
        ("design", "calls", "RMSE", "tau", "answered", "wrong", "open"),
        rows,
        markdown=options.markdown,
    )


def designs_named(asked: Sequence[str]) -> list[str]:
    """Return the designs of these names, or whose names begin so where none is called so."""
    whole = [name for name in asked if name in DESIGNS]
    begun = tuple(name for name in asked if name not in whole)
    return [name for name in DESIGNS if name in whole or name.startswith(begun)]


def time_rounds(models: int, items: int) -> None:
    """Print the CPU seconds that each round of `until=order` takes to schedule, all models alike:
    no model leaves."""
    names = tuple(f"model {k:03d}" for k in range(models))
    field, rule = Field(names, tuple(f"item {k}" for k in range(items)), {}), Ring(until="order")
    rng, rounds = np.random.default_rng(0), []
    while True:
        begun = time.process_time()
        coming = rule.next(field, rounds)
        print(
            f"round {len(rounds) + 1}: {time.process_time() - begun:.2f} s for "
            f"{len(coming.pairings):,} battles"
        )
        if not coming.pairings:
            return
        credits = rng.integers(0, 3, len(coming.pairings)) / 2
        rounds.append(
            Round(
                tuple(
                    Outcome(own, float(y)) for own, y in zip(coming.pairings, credits, strict=True)
                )
            )
        )


def row_of(name: str, results: Sequence[tuple[Result, ImaginedRun]]) -> tuple[str, ...]:
    errors = [np.mean((own.elo - run.truth * POINTS) ** 2) for own, run in results]
    taus = [kendalltau(own.elo, run.truth).statistic for own, run in results]
    calls = f"{np.mean([own.calls for own, _ in results]):,.0f}"
    shares = [[getattr(own, column) for own, _ in results] for column in ("answered", "wrong")]
    said = ["" if None in share else f"{np.mean(share):.0%}" for share in shares]
    left = [own.open for own, _ in results]
    open_pairs = "" if None in left else f"{np.mean(left):.1f}"
    return (
        name,
        calls,
        f"{np.sqrt(np.mean(errors)):.1f}",
        f"{np.mean(taus):.3f}",
        *said,
        open_pairs,
    )


if __name__ == "__main__":
    main()
