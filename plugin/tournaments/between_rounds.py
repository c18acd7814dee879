"""State between rounds: matchups played so far, and Bradley-Terry strengths."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from podium.data.ladder import Ladder
from podium.data.pairings import Field, Outcome, Round
from podium.errors import UsageError
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.pairs import pairs_from_matrices
from podium.rankers.fit.strengths import build_prior, fit_strengths

Matchups = Mapping[tuple[str, str], Sequence[float]]
"""The credits of the readable battles of each pair of models that met; empty if none was readable.

The model that comes first in the alphabet is the first of the pair, and the credits are its own.
"""


def strengths_of_matchups(
    matchups: Matchups, models: Sequence[str], ladder: Ladder | None = None
) -> dict[str, float]:
    """Fit Bradley-Terry log-strengths to the battles of some models with each other.

    The regularization is lambda = 0.01.

    Args:
        matchups: credits by pair of models.
        models: names of the models; battles with others are left out.
        ladder: known ratings that join the fit; None if there are none.

    Returns:
        Log-strengths (logits) by name, sorted; all 0 without battles and ladder.
    """
    code = {name: k for k, name in enumerate(sorted(models))}
    credit = np.zeros((len(code), len(code)))
    weight = np.zeros((len(code), len(code)))
    for (a, b), credits in matchups.items():
        if a in code and b in code:
            credit[code[a], code[b]] = sum(credits)
            weight[code[a], code[b]] = len(credits)
    prior = build_prior(ladder, list(code)) if ladder else None
    has_battles = bool(weight.any())
    if not has_battles and prior is None:
        return dict.fromkeys(code, 0.0)
    fit = fit_strengths(pairs_from_matrices(credit, weight), prior=prior)
    return dict(zip(code, fit.theta.tolist(), strict=True))


def code_rounds(
    played: Sequence[Round], models: Sequence[str], field: Field | None = None
) -> CodedBattles | None:
    """Encode the readable battles between some models as arrays; None if there are none.

    Args:
        played: the rounds.
        models: names of the models; a model's code is its position.
        field: has the groups of items, if these are the clusters; None if each item is a cluster.
    """
    names = {*models}
    readable = []
    for round_ in played:
        for outcome in round_.outcomes:
            is_between = outcome.pairing.a in names and outcome.pairing.b in names
            if is_between and outcome.credit is not None:
                readable.append(outcome)
    return code_outcomes(readable, models, field) if readable else None


def code_outcomes(
    readable: Sequence[Outcome], models: Sequence[str], field: Field | None = None
) -> CodedBattles:
    """Encode readable battles as arrays clustered by item or by its group, with weights of 1.

    Args:
        readable: the battles, each with a credit; at least one.
        models: names of the models; a model's code is its position.
        field: has the groups of items, if these are the clusters; None if each item is a cluster.
    """
    code = {name: k for k, name in enumerate(models)}
    names = [outcome.pairing.item for outcome in readable]
    if field and field.groups:
        names = [field.groups[item] for item in names]
    clusters, cluster = np.unique(names, return_inverse=True)
    return CodedBattles(
        a=np.array([code[outcome.pairing.a] for outcome in readable]),
        b=np.array([code[outcome.pairing.b] for outcome in readable]),
        credit=np.array([outcome.credit for outcome in readable], dtype=np.float64),
        weight=np.ones(len(readable)),
        cluster=cluster,
        clusters=len(clusters),
        unit=field.unit if field else "item",
        models=tuple(models),
    )


def weigh_as_round_robin(coded: CodedBattles, field: Field) -> CodedBattles:
    """Weigh battles so that each pair that met counts as in a round robin.

    In a round robin, a pair has a battle on each item with both responses. The weight of a battle
    is the number of these items divided by the number of battles of its pair. Weights are then
    scaled to the mean 1, and replace earlier ones.
    """
    # If no response is absent, all pairs have the same items, and one of them stands for all.
    items = field.items if field.absent else field.items[:1]
    has_response = []
    for name in coded.models:
        has_response.append([field.can_play(item, name) for item in items])
    present = np.array(has_response, dtype=np.float64)
    size = len(coded.models)
    # The position of each battle's pair in a flat matrix of models by models.
    pair = np.minimum(coded.a, coded.b) * size + np.maximum(coded.a, coded.b)
    items_of_pair = (present @ present.T).ravel()[pair]
    battles_of_pair = np.bincount(pair)[pair]
    weight = items_of_pair / battles_of_pair
    return replace(coded, weight=weight / weight.mean())


def matchups_in(played: Sequence[Round]) -> Matchups:
    """Collect the credits of readable battles by pair of models.

    The names of a pair are those of its pairing, sorted. A pair that met without a readable battle
    has an empty list.
    """
    matchups: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for round_ in played:
        for outcome in round_.outcomes:
            credits = matchups[outcome.pairing.a, outcome.pairing.b]
            if outcome.credit is not None:
                credits.append(outcome.credit)
    return matchups


def opponents_of(name: str, matchups: Matchups) -> frozenset[str]:
    """Return the models that a model has met, also if no battle with them was readable."""
    opponents = set()
    for a, b in matchups:
        if name in (a, b):
            opponents |= {a, b} - {name}
    return frozenset(opponents)


def refuse_unrated(before: Sequence[str], matchups: Matchups, ratings: object) -> None:
    """Raise UsageError if a model that was ranked before has no rating and no readable battle.

    Only battles with other models ranked before count. Nothing is refused if ratings are known, or
    if there are fewer than two such models.

    Args:
        before: names of the models that newcomers join.
        matchups: credits of the rounds so far.
        ratings: known ratings of these models; None if their battles rate them.
    """
    if ratings is not None or len(before) < 2:
        return
    unrated = set(before)
    for (a, b), credits in matchups.items():
        if credits and a in before and b in before:
            unrated -= {a, b}
    if unrated:
        raise UsageError(
            f"rated={', '.join(sorted(unrated))}: no readable battle with others of `rated`; give "
            "the rounds played before, or their ratings (ratings=NAME:1500,...)"
        )
