"""What it takes to answer a question: tournaments that stop by themselves, played in imagined worlds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from podium.errors import UsageError
from podium.planning.plan import AnsweredDesign, Draft
from podium.planning.precision import MOST_MODELS, SPREAD
from podium.planning.simulation import Judge, simulate
from podium.plugins.catalogue import make_tournament
from podium.progress import track
from podium.rankers.scale import POINTS
from podium.tournaments.schedule import Field, Outcome, Pairing, Round, TournamentRule
from podium.tournaments.selection import order_of_visits
from podium.tournaments.stopping import Look, Stopping
from podium.verbs.replays import asks_order

RUNS = 10
"""Imagined runs of each design."""
DESIGNS = ("ring", "round_robin", "chain", "anchor", "swim")


@dataclass(frozen=True, slots=True)
class ImaginedRun:
    """A world that answers any judgment: what the response shown first earns, shape (items, first, second).

    NaN is unparsed. `truth` are the log-strengths that a round robin on infinitely many such items would give.
    """

    field: Field
    earned: np.ndarray
    truth: np.ndarray

    def credits(self, places: Sequence[int], pairings: Sequence[Pairing]) -> list[float | None]:
        """Return what `a` earns: in the order that the pairing says, else in both; None where unparsed.

        Args:
            places: of the battles' items in the field.
        """
        code = {name: k for k, name in enumerate(self.field.models)}
        a, b = (np.array([code[getattr(own, side)] for own in pairings]) for side in ("a", "b"))
        ahead, behind = self.earned[places, a, b], 1 - self.earned[places, b, a]
        first = np.array([-1 if own.first is None else code[own.first] for own in pairings])
        credit = np.where(first < 0, (ahead + behind) / 2, np.where(first == a, ahead, behind))
        return [None if isnan(value) else value for value in credit.tolist()]

    def play(self, rule: TournamentRule) -> list[Round]:
        """Play until it is over."""
        places = {item: k for k, item in enumerate(self.field.items)}
        rounds: list[Round] = []
        while coming := rule.next(self.field, rounds).pairings:
            credits = self.credits([places[each.item] for each in coming], coming)
            rounds.append(Round(tuple(map(Outcome, coming, credits))))
        return rounds


def imagined_run(models: int, items: int, ties: float, seed: int) -> ImaginedRun:
    """Return a world of normal strengths and item effects, one logit each, with a share of ties in [0, 1)."""
    world = simulate(models, items, seed=seed, spread=SPREAD, item_sd=SPREAD)
    margin = world.margins_of_first(Judge())
    judge = Judge(tie=float(np.quantile(np.abs(margin[:, ~np.eye(models, dtype=bool)]), ties)))
    field = Field(tuple(sorted(world.models)), tuple(f"item {k}" for k in range(items)), {})
    return ImaginedRun(field, judge.credit(margin), world.estimand(judge))


def answered_designs(draft: Draft, until: str, margin: float) -> Iterator[AnsweredDesign]:
    """Yield what each design takes to answer a question, and how often it does, and is wrong.

    Raises:
        UsageError: no such question, no number of items, or too many models to imagine.
    """
    if draft.items is None:
        raise UsageError(f"--until {until} needs a number of items to play on at most (--items)")
    if draft.models > MOST_MODELS:
        raise UsageError(f"--until: worlds of more than {MOST_MODELS} models are not imagined; give fewer")
    question = Stopping(until=until, margin=margin, level=draft.level)
    seeds = range(draft.seed, draft.seed + RUNS)
    runs = [imagined_run(draft.models, draft.items, draft.ties.value, seed) for seed in track(seeds, "worlds")]
    question.refuse_unanswerable(runs[0].field, draft.items)
    for name in track(DESIGNS, "designs"):
        yield _answered_design(draft, name, question, runs)


def _answered_design(draft: Draft, name: str, question: Stopping, runs: Sequence[ImaginedRun]) -> AnsweredDesign:
    """Play a design in every world; one that has no looks is looked at once, when all is played."""
    battles, answers, errors = [], [], []
    tariff = draft.tariff
    for number, run in enumerate(runs):
        settings: dict[str, Any] = {"seed": draft.seed + number}
        if name != "swim":
            settings |= {"until": question.until, "margin": question.margin, "level": question.level}
        if name == "anchor":
            settings["anchor"] = run.field.models[int(np.argsort(run.truth)[len(run.truth) // 2])]
        rule = make_tournament(name, settings)
        tariff = replace(draft.tariff, orders="as-given") if asks_order(rule) else draft.tariff
        rounds = run.play(rule)
        last = _last_look(rule, question, run.field, rounds)
        battles.append(sum(len(done.outcomes) for done in rounds))
        answers.append(not last.open.any())
        errors.append(_is_wrong(question, last, run.truth))
    usual, most = round(float(np.mean(battles))), int(np.quantile(battles, 0.9, method="higher"))
    shares = float(np.mean(answers)), float(np.mean(errors))
    return AnsweredDesign(name, tariff.bill(usual), tariff.bill(most), *shares, len(battles))


def _last_look(rule: Any, question: Stopping, field: Field, rounds: Sequence[Round]) -> Look:
    if isinstance(rule, Stopping):
        return rule.progress_of(field, rounds).looks[-1]
    whole = Round(tuple(outcome for done in rounds for outcome in done.outcomes))
    order = order_of_visits(field, None, 0)
    return replace(question, start=max(len(order), question.start)).progress(field, order, [whole]).looks[-1]


def _is_wrong(question: Stopping, last: Look, truth: np.ndarray) -> bool:
    """Tell whether a claim is wrong; of a set only the set counts, of an error there is none."""
    gap = (truth[:, None] - truth) * POINTS
    if question.first is None:
        return bool(((last.settled > 0) & (gap < -question.margin)).any())
    inside = np.zeros(len(truth), dtype=bool)
    inside[np.argsort(-last.theta, kind="stable")[: question.first]] = True
    return not last.open.any() and bool((gap[inside][:, ~inside] < -question.margin).any())
