"""Audit boards with one known fault each, and boards without faults: python benchmarks/audit.py

Each kind of board has one planted fault of the size that its row states; the boards are made here,
by NumPy alone. The table says how many boards were flagged by the probe for this fault, and how
many clean boards by any probe, with Clopper-Pearson intervals. With `--arenakit PYTHON`, the Python
of an environment with arenakit audits the same boards (200 resamples), or the first of them
(`--arenakit-boards`), and its answers stand beside. Both bars, at least 90% of each kind and at
most 10% of the clean boards, are checked at the end.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta

import podium

MODELS = ("ash", "birch", "cedar", "dune", "elm", "fir")
STRENGTHS = np.array([1.2, 0.8, 0.4, 0.0, -0.4, -0.8])
"""Logits of the models."""
ITEM_SD = 0.4
"""Standard deviation of a model's strength over items, in logits."""
BARS = {"planted": 0.9, "clean": 0.1}
"""Least share of planted boards, and largest share of clean ones, that are flagged."""
ASK_ARENAKIT = """
import json, sys
from arenakit import Arena, load_battles, run_audit
for path in sys.argv[1:]:
    try:
        audit = run_audit(Arena(load_battles(path)), n_resamples=200)
        print(json.dumps([probe.name for probe in audit.triggered]))
    except Exception as error:
        print(json.dumps([f"error: {type(error).__name__}"]))
"""


@dataclass(frozen=True)
class World:
    """How the verdicts of a board come about; without changes, nothing is wrong.

    Attributes:
        items: number of items.
        strengths: logits of the models.
        both: whether each pair is judged in both orders, else in a random one.
        share: share of the pairs of an item that are judged.
        tie: logit of a tie of two equally good responses; None for no ties.
        first: logits that the response shown first gains.
        per_length: logits per factor e of a longer response.
        pair: logits that the first two models' battle gains.
        ring: logits by which three models beat each other in a circle.
        drift: logits that the second model gains from the first battle to the last.
        turn: logits that the first model gains in one category and loses in the other.
        passage_sd: standard deviation of a model's strength over passages.
        tied: probability that a battle of the last model is a tie.
        lost: probability that a reply on the second model is lost; others lose 2%.
        voters: number of voters; 0 for a judge.
        loud: share of the votes by one voter who prefers the second model to the first.
        judges: names of the judges, with the logits that each gives models named gpt.
        names: names of the models.
        against_humans: whether humans mostly prefer the other response.
        pools: whether the two halves of the models never meet.
        ties_only: probability that any verdict is a tie.
    """

    items: int = 80
    strengths: np.ndarray = field(default_factory=lambda: STRENGTHS)
    both: bool = True
    share: float = 1.0
    tie: float | None = None
    first: float = 0.0
    per_length: float = 0.0
    pair: float = 0.0
    ring: float = 0.0
    drift: float = 0.0
    turn: float = 0.0
    passage_sd: float = 0.0
    tied: float = 0.0
    lost: float = 0.02
    voters: int = 0
    loud: float = 0.0
    judges: tuple[tuple[str, float], ...] = (("judge-1", 0.0),)
    names: tuple[str, ...] = MODELS
    against_humans: bool = False
    pools: bool = False
    ties_only: float = 0.0


@dataclass(frozen=True)
class Kind:
    """A kind of boards with one fault.

    Attributes:
        size: the fault and its size in words.
        probe: name of the probe that should flag it.
        world: how the verdicts come about.
        theirs: names of arenakit's probes for this fault; empty if it has none.
    """

    size: str
    probe: str
    world: World
    theirs: tuple[str, ...] = ()


KINDS = {
    "two pools": Kind(
        "the two halves never meet", "connected", World(pools=True), ("connectivity",)
    ),
    "few items": Kind("12 items", "items", World(items=12)),
    "first slot": Kind("0.4 logits, both orders", "position", World(first=0.4), ("position_bias",)),
    "first slot, one order": Kind(
        "0.6 logits",
        "one order",
        World(first=0.6, both=False),
        ("position_bias", "position_reordering"),
    ),
    "order decides": Kind("3 logits", "order decides", World(first=3.0), ("position_bias",)),
    "ties only": Kind("96% ties", "only ties", World(ties_only=0.96)),
    "lost replies": Kind("15% of one model's, else 2%", "lost replies", World(lost=0.15)),
    "longer is better": Kind("0.5 logits per factor e", "length", World(per_length=0.5)),
    "own family": Kind(
        "1 logit for two models of the judge's family",
        "self-preference",
        World(
            names=("gpt-4", "ash", "gpt-3.5-turbo", "dune", "elm", "fir"),
            judges=(("gpt-4o", 1.0), ("claude-3-opus", 0.0)),
        ),
    ),
    "against humans": Kind("humans prefer the other response", "human", World(against_humans=True)),
    "rock, paper, scissors": Kind(
        "1 logit around a circle of three", "cycle", World(ring=1.0), ("intransitivity",)
    ),
    "odd pair": Kind("1.2 logits in one pair", "fit", World(pair=1.2)),
    "draw-prone model": Kind(
        "the last model ties 85% of its battles, 400 items",
        "ties",
        World(tied=0.85, items=400, strengths=np.array([1.2, 0.8, 0.4, 0.0, -0.4, -1.6])),
        ("tie_convention",),
    ),
    "loud voter": Kind(
        "one of 30 voters, 40% of the votes",
        "decisive rater",
        World(
            voters=30,
            loud=0.4,
            both=False,
            items=600,
            share=0.4,
            strengths=np.array([1.0, 0.8, 0.0, -0.4, -0.8, -1.2]),
        ),
        ("annotator_influence",),
    ),
    "category turns": Kind("2 logits for one model", "categories", World(turn=2.0)),
    "passages": Kind(
        "sd 1 in 20 passages of 8 items",
        "groups",
        World(passage_sd=1.0, items=160),
        ("vote_clustering",),
    ),
    "drift": Kind("2 logits of one model", "time", World(drift=2.0)),
}
CLEAN = {
    "one judge, both orders": World(),
    "one judge, one order": World(both=False, items=150),
    "two judges, ties": World(judges=(("judge-1", 0.0), ("judge-2", 0.0)), tie=-0.5),
    "votes of 60 voters, random pairs": World(voters=60, both=False, items=300, share=0.3, tie=0.0),
}
"""Worlds without a fault."""


def make_board(world: World, seed: int) -> pd.DataFrame:
    """Return the verdicts of a world, one per order and judge, in the columns of podium."""
    rng = np.random.default_rng(seed)
    models = len(world.strengths)
    own = rng.normal(0, ITEM_SD, (world.items, models))
    passage = np.arange(world.items) // 8
    own += rng.normal(0, 1, (passage.max() + 1, models))[passage] * world.passage_sd
    lengths = np.exp(rng.normal(6.5, 0.5, (world.items, models)))
    rows = []
    voters = rng.integers(0, max(world.voters, 1), world.items * models**2)
    for item in range(world.items):
        for a, b in combinations(range(models), 2):
            if rng.random() > world.share or (
                world.pools and (a < models // 2) != (b < models // 2)
            ):
                continue
            for judge, bonus in world.judges:
                orders = (
                    [(a, b), (b, a)] if world.both else [(a, b) if rng.random() < 0.5 else (b, a)]
                )
                voter = int(voters[len(rows) % len(voters)])
                if world.loud and rng.random() < world.loud:
                    voter = 0
                for first, second in orders:
                    logit = _logit_of(world, own[item], lengths[item], item, first, second, bonus)
                    if world.loud and voter == 0 and {first, second} == {0, 1}:
                        logit = 4.0 if first == 1 else -4.0
                    verdict = {
                        "model_a": world.names[first],
                        "model_b": world.names[second],
                        "credit": _credit_of(world, rng, logit, first, second),
                        "human": _human_credit(world, rng, own[item], first, second),
                        "judge": judge,
                        "voter": f"v{voter:02d}",
                        "length_a": round(lengths[item, first]),
                        "length_b": round(lengths[item, second]),
                    }
                    rows.append({**verdict, **_columns_of_item(item, int(passage[item]))})
    return _with_columns_of(world, pd.DataFrame(rows))


def _columns_of_item(item: int, passage: int) -> dict[str, Any]:
    """Return the columns that all verdicts on an item share.

    Args:
        item: number of the item.
        passage: number of its passage.
    """
    return {
        "item": f"q{item:04d}",
        "order": "ab",
        "category": f"c{item % 2}",
        "passage": f"p{passage:03d}",
        "created_at": 1_700_000_000 + 3600 * item,
    }


def _logit_of(
    world: World,
    own: np.ndarray,
    lengths: np.ndarray,
    item: int,
    first: int,
    second: int,
    bonus: float,
) -> float:
    """Return the logit with which the response shown first beats the other."""
    strength = world.strengths + own
    strength[0] += world.turn * (1 if item % 2 else -1)
    strength[1] += world.drift * item / world.items
    strength += bonus * np.array([name.startswith("gpt") for name in world.names])
    logit = strength[first] - strength[second] + world.first
    logit += world.per_length * np.log(lengths[first] / lengths[second])
    if {first, second} == {0, 1}:
        logit += world.pair * (1 if first == 0 else -1)
    if world.ring and max(first, second) < 3:
        logit = world.ring * (1 if (second - first) % 3 == 1 else -1)
    return float(logit)


def _credit_of(
    world: World, rng: np.random.Generator, logit: float, first: int, second: int
) -> float:
    """Return a verdict on the response shown first: 1, 0.5, 0, or NaN if the reply is lost."""
    if rng.random() < (world.lost if 1 in (first, second) else 0.02) and not world.voters:
        return float("nan")
    is_last = len(world.strengths) - 1 in (first, second)
    if rng.random() < max(world.ties_only, world.tied * is_last):
        return 0.5
    weights = np.array([logit / 2, -logit / 2, -np.inf if world.tie is None else world.tie])
    chances = np.exp(weights - weights.max())
    return float(rng.choice([1.0, 0.0, 0.5], p=chances / chances.sum()))


def _human_credit(
    world: World, rng: np.random.Generator, own: np.ndarray, first: int, second: int
) -> float:
    """Return the vote of a human on the response shown first."""
    strength = world.strengths + own
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    return float(rng.random() < (1 - chance if world.against_humans else chance))


def _with_columns_of(world: World, board: pd.DataFrame) -> pd.DataFrame:
    """Leave out the columns that a board of this world does not record."""
    left_out = []
    if world.voters:
        left_out += ["judge", "human"]
    else:
        left_out.append("voter")
    if len(world.judges) > 1:
        left_out.append("human")
    if not world.both:
        left_out.append("passage")
    if world.passage_sd:
        left_out.append("category")
    return board.drop(columns=left_out)


def flags_of_podium(board: pd.DataFrame) -> list[str]:
    """Return the names of the probes that podium flags, over all judges together."""
    battles = podium.read_battles(board)
    judgments = podium.read_battles(board, merge=False)
    several = len(battles.judges) > 1
    audit = podium.audit(battles, judgments=judgments, pool=several)
    return [probe.check.name for board in audit.boards for probe in board.flagged_probes]


def flags_of_arenakit(python: str, boards: list[pd.DataFrame]) -> list[list[str]]:
    """Return the names of the probes that arenakit flags on each board."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for k, board in enumerate(boards):
            known = board[board["credit"].notna()]
            winner = known["credit"].map({1.0: "model_a", 0.0: "model_b", 0.5: "tie"})
            table = pd.DataFrame(
                {
                    "model_a": known["model_a"],
                    "model_b": known["model_b"],
                    "winner": winner,
                    "item_id": known["item"],
                }
            )
            if "voter" in known:
                table["voter_id"] = known["voter"]
            paths.append(Path(folder) / f"board-{k}.csv")
            table.to_csv(paths[-1], index=False)
        words = [python, "-c", ASK_ARENAKIT, *map(str, paths)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def share_text(hits: int, number: int) -> str:
    """Return a number of boards with its share and the 95% Clopper-Pearson interval."""
    low = beta.ppf(0.025, hits, number - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, number - hits) if hits < number else 1.0
    return f"{hits} of {number} ({low:.0%} to {high:.0%})"


@dataclass(frozen=True)
class Peer:
    """How arenakit is asked.

    Attributes:
        python: a Python that can import arenakit; None if it is not asked.
        boards: at most this many boards of each kind are audited.
    """

    python: str | None
    boards: int

    def share_of_flagged(self, made: list[pd.DataFrame], probes: tuple[str, ...] = ()) -> str:
        """Return how many of the first boards are flagged by some probes, or by any one."""
        if self.python is None:
            return "not asked"
        asked = made[: self.boards]
        flags = flags_of_arenakit(self.python, asked)
        hits = sum(bool({*each} & {*probes}) if probes else bool(each) for each in flags)
        return share_text(hits, len(asked))


def planted_rows(
    boards: int, theirs: Peer, names: list[str]
) -> Iterator[tuple[str, str, str, int, str]]:
    """Yield a row per kind: name, size, probe, number of flagged boards, and arenakit's answer."""
    for name in names:
        kind = KINDS[name]
        place = list(KINDS).index(name)
        made = [make_board(kind.world, 10_000 * (place + 1) + k) for k in range(boards)]
        hits = sum(kind.probe in flags_of_podium(board) for board in made)
        other = "has no such probe"
        if kind.theirs or theirs.python is None:
            other = theirs.share_of_flagged(made, kind.theirs)
        yield name, kind.size, kind.probe, hits, other


def clean_rows(boards: int, theirs: Peer) -> Iterator[tuple[str, list[list[str]], str]]:
    """Yield per clean world its name, the flags of podium on each board, and arenakit's answer."""
    for place, (name, world) in enumerate(CLEAN.items()):
        made = [make_board(world, 900_000 + 10_000 * place + k) for k in range(boards)]
        yield name, [flags_of_podium(board) for board in made], theirs.share_of_flagged(made)


def print_planted(boards: int, peer: Peer, names: list[str]) -> bool:
    """Print the table of planted faults; return whether the bar is met by each kind."""
    is_met = True
    print(f"| fault | size | probe | flagged of {boards} | arenakit |")
    print("|---|---|---|---|---|")
    for name, size, probe, hits, theirs in planted_rows(boards, peer, names):
        print(f"| {name} | {size} | {probe} | {share_text(hits, boards)} | {theirs} |", flush=True)
        is_met &= hits >= BARS["planted"] * boards
    return is_met


def print_clean(boards: int, peer: Peer) -> bool:
    """Print the table of clean boards; return whether the bar is met."""
    print("| clean boards | flagged by any probe | which | arenakit |")
    print("|---|---|---|---|")
    flagged = 0
    for name, flags, theirs in clean_rows(boards, peer):
        own = sum(map(bool, flags))
        flagged += own
        which = ", ".join(sorted({flag for each in flags for flag in each})) or "none"
        print(f"| {name} | {share_text(own, boards)} | {which} | {theirs} |", flush=True)
    total = boards * len(CLEAN)
    print(f"| all | {share_text(flagged, total)} | | |")
    return flagged <= BARS["clean"] * total


def main() -> int:
    """Print the tables; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boards", type=int, default=50, help="boards of each kind")
    parser.add_argument("--arenakit", metavar="PYTHON", help="a Python that can import arenakit")
    parser.add_argument(
        "--arenakit-boards",
        type=int,
        default=50,
        help="the first boards of each kind, for arenakit",
    )
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only these faults")
    parser.add_argument("--part", choices=["planted", "clean"], help="only one of the tables")
    typed = parser.parse_args()
    peer = Peer(typed.arenakit, typed.arenakit_boards)
    is_met = True
    if typed.part != "clean":
        is_met = print_planted(typed.boards, peer, typed.kind or list(KINDS))
        print()
    if typed.part != "planted":
        is_met &= print_clean(typed.boards, peer)
    print("\nall bars are met" if is_met else "\na bar is missed")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
