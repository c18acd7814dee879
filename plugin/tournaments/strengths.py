"""Ratings between the rounds: Bradley-Terry on what was played so far."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum

import numpy as np

from podium.rankers.calibration.placement import place
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.pairs import Pairs
from podium.rankers.strengths import fit_strengths
from podium.tournaments.schedule import Round

Meetings = Mapping[tuple[str, str], Sequence[float]]
"""Readable credits of the first-named of two entrants who met, names sorted; empty where nothing could be read."""


def meetings(played: Sequence[Round]) -> Meetings:
    """Collect who met whom, and what was earned; credits are taken as they are, soft or not."""
    found: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for done in played:
        for one in done.outcomes:
            met = found[one.pairing.a, one.pairing.b]
            if one.credit is not None:
                met.append(one.credit)
    return found


def met_by(name: str, met: Meetings) -> frozenset[str]:
    """Return the entrants that this one met, read or not."""
    return frozenset(other for pair in met if name in pair for other in pair if other != name)


def fitted(entrants: Sequence[str], met: Meetings) -> dict[str, float]:
    """Return the log-strengths of entrants by Bradley-Terry on their battles with each other.

    Whoever has no readable battle is at the mean: the penalty alone speaks.
    """
    names = sorted(entrants)
    code = {name: k for k, name in enumerate(names)}
    known = [pair for pair in sorted(met) if met[pair] and pair[0] in code and pair[1] in code]
    if not known:
        return dict.fromkeys(names, 0.0)
    pairs = Pairs(
        low=np.array([code[a] for a, _ in known]),
        high=np.array([code[b] for _, b in known]),
        # Rounded once: the sum does not depend on the order of the battles.
        credit=np.array([fsum(met[pair]) for pair in known]),
        weight=np.array([float(len(met[pair])) for pair in known]),
        entrants=len(names),
    )
    theta = fit_strengths(pairs).theta
    return {name: float(theta[k]) for k, name in enumerate(names)}


def placed(fixed: Mapping[str, float], newcomers: Sequence[str], met: Meetings) -> dict[str, float]:
    """Return the log-strengths of entrants whose ratings are fixed, and of newcomers placed one after the other.

    Each newcomer is placed alone against those before it (Soft-Elo, Algorithm 1, line 7), on their scale.
    """
    known = dict(fixed)
    for name in newcomers:
        opponents = sorted(met_by(name, met) & known.keys())
        credits = [_earned(name, other, met) for other in opponents]
        theta = place(
            np.array([known[other] for other in opponents]),
            np.array([[fsum(one) for one in credits]]),
            np.array([[float(len(one)) for one in credits]]),
            REGULARIZATION,
        )
        known[name] = 0.0 if np.isnan(theta[0]) else float(theta[0])
    return known


def _earned(name: str, other: str, met: Meetings) -> Sequence[float]:
    return met[name, other] if name < other else [1 - credit for credit in met[other, name]]
