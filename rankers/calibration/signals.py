"""What a judge says of a battle, as features of a map to the probability that humans prefer a."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import expit, logit

from podium.errors import NotIdentifiedError, UsageError
from podium.nouns.battles import Battles
from podium.rankers.coded import hard_credits, require_choice

Kind = Literal["margin", "smoothing", "criteria", "length", "credit", "jury"]
"""Which signal is read; see `signal_of`."""
RIDGE = 10.0
"""Default strength of the ridge of `criteria`: that of about 40 battles that pull each criterion to the mean."""
FEWEST_SOFT = 0.1
"""Share of the credits that must be probabilities; with fewer, one odd credit would pass hard labels for soft ones."""
POOLED = ("criteria", "jury")
"""Kinds whose features are margins of one kind, drawn together by a ridge."""
VOTES = 24
"""Credits that are multiples of 1/24 are means of a few hard verdicts; any other is a probability."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Features of every battle; swapping a and b negates them.

    Attributes:
        kind: where they come from.
        names: of the features.
        x: shape (battles, features); NaN where the judge did not say.
        ridge: strength of the ridge of `criteria` and `jury` towards their mean.
    """

    kind: Kind
    names: tuple[str, ...]
    x: np.ndarray
    ridge: float = 0.0

    @property
    def is_known(self) -> np.ndarray:
        """Whether every feature is there, shape (battles,)."""
        return ~np.isnan(self.x).any(axis=1)

    @property
    def penalty(self) -> np.ndarray:
        """The penalty matrix of the fit, shape (features, features)."""
        size = len(self.names)
        if self.kind not in POOLED:
            return np.zeros((size, size))
        # Judges have margins of different sizes: their weights are drawn together where those are alike.
        size_of = np.sqrt(np.nanmean(self.x**2, axis=0)) if self.kind == "jury" else np.ones(size)
        return towards_mean(size, self.ridge) * np.outer(size_of, size_of)


def towards_mean(features: int, ridge: float) -> np.ndarray:
    """Return the penalty ridge * sum (b - mean b)^2, shape (features, features); the mean itself is free."""
    return ridge * (np.eye(features) - 1 / features)


def probability(kind: Kind, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the soft target of a, shape (battles,); NaN where the signal is unknown.

    Source: Soft-Elo, equation 5, s(beta * margin); `credit` is the target itself (Xu et al. 2025, appendix D).
    """
    return 0.5 + x[:, 0] if kind == "credit" else expit(x @ weights)


def slope(kind: Kind, weights: np.ndarray) -> np.ndarray:
    """Return beta's derivative by the weights, shape (features,); beta is this times the weights.

    For `criteria` and `jury`, beta is the slope on the mean of the margins; else that of the first feature.
    """
    return np.ones(len(weights)) if kind in POOLED else np.eye(len(weights))[0]


def constant_weights(constant: float) -> np.ndarray:
    """Return the weight that makes a decisive verdict worth `constant` to its winner, shape (1,).

    Raises:
        UsageError: it is not in (0.5, 1).

    Source: Soft-Elo, appendix H.1: beta = logit(c).
    """
    if not 0.5 < constant < 1:
        raise UsageError(f"constant={constant:g}: the credit of a win under label smoothing lies between 0.5 and 1")
    return np.array([logit(constant)])


def signal_of(battles: Battles, kind: Kind, ridge: float | None = None, *, verdicts: bool = False) -> Signal:
    """Read a signal from the battles; unparsed battles have none.

    Args:
        kind: `margin` (judge score of a minus that of b), `smoothing` (the sign of the hard label), `criteria`
            (a margin per criterion), `length` (margin, and the log ratio of lengths), `credit` (soft credits), `jury`
            (a margin per judge, of `jury_battles`).
        ridge: of `criteria` and `jury`, at least 0; by default 10.
        verdicts: whether verdicts without any margin count as margins 2 * credit - 1.

    Raises:
        NotIdentifiedError: the columns it needs are not there; the message says which, and what would do instead.
        UsageError: an unknown kind.
    """
    require_choice("target", kind, get_args(Kind))
    ridge = RIDGE if ridge is None else ridge
    if not 0 <= ridge < np.inf:
        raise UsageError(f"ridge={ridge:g} is not a finite number of 0 or more")
    columns = _columns(battles, kind)
    if verdicts and kind == "margin" and not _has_margins(battles):
        columns = {"verdict": 2 * battles.numbers_of("credit") - 1}
    x = np.stack(list(columns.values()), axis=1).astype(np.float64)
    x[~battles.readable] = np.nan
    signal = Signal(kind, tuple(columns), x, ridge)
    if not signal.is_known.any():
        raise NotIdentifiedError(_describe_lack(battles, kind))
    return signal


def margins(battles: Battles) -> np.ndarray:
    """Return the margins of readable battles, NaN elsewhere, shape (battles,)."""
    return np.where(battles.readable, battles.numbers_of("margin"), np.nan)


def usual_kind(battles: Battles) -> Kind:
    """Return `margin`, or `credit` where there are no margins and the credits are probabilities."""
    soft = _probabilities(battles)
    return "credit" if not _has_margins(battles) and soft.any() and soft.mean() >= FEWEST_SOFT else "margin"


def has_soft_credits(battles: Battles) -> bool:
    """Whether credits are probabilities: some are not what 1, 2, 3, 4, 6 or 8 hard verdicts give."""
    return bool(_probabilities(battles).any())


def hard_among_soft(battles: Battles) -> tuple[int, int]:
    """Return how many readable credits are those of a few hard verdicts, and how many there are."""
    soft = _probabilities(battles)
    return int((~soft).sum()), len(soft)


def _probabilities(battles: Battles) -> np.ndarray:
    votes = VOTES * battles.table["credit"].to_numpy()[battles.readable]
    return np.abs(votes - np.round(votes)) > 1e-6


def _columns(battles: Battles, kind: Kind) -> dict[str, np.ndarray]:
    numbers_of = battles.numbers_of
    if kind == "smoothing":
        return {"verdict": 2 * hard_credits(battles.table) - 1}
    if kind in POOLED:
        return {name: numbers_of(f"margin_{name}") for name in battles.criteria} or {"none": numbers_of("")}
    if kind == "credit":
        return {"credit": numbers_of("credit" if has_soft_credits(battles) else "") - 0.5}
    lengths = [np.log1p(numbers_of(side)) for side in ("length_a", "length_b")] if kind == "length" else []
    return {"margin": numbers_of("margin"), **({"length": lengths[0] - lengths[1]} if lengths else {})}


def _has_margins(battles: Battles) -> bool:
    return not np.isnan(battles.numbers_of("margin")).all()


def _describe_lack(battles: Battles, kind: Kind) -> str:
    if not battles.readable.any():
        return f"none of the {len(battles):,} battles has a readable verdict"
    none = f"none of the {int(battles.readable.sum()):,} judged battles has a"
    instead = (
        "bradley-terry ranks hard verdicts as they are, and target=smoothing softens them by a constant that "
        "human labels give"
    )
    if kind == "credit":
        return f"{none} soft credit (a probability): all are wins, ties and losses; {instead}"
    if kind == "criteria":
        return f"{none} margin on every criterion (columns margin_<criterion>, as rubric judges give)"
    if kind == "jury":
        return f"{none} verdict of every judge: a jury needs several judges of the same items and pairs (column judge)"
    if kind == "length" and _has_margins(battles):
        return f"{none[:-2]} lengths of both responses (columns length_a, length_b)"
    if has_soft_credits(battles):
        return f"{none} margin; the credits are probabilities: target=credit takes them as they are"
    return (
        f"{none} margin (judge score of a minus that of b), and the verdicts are wins, ties and losses only: nothing "
        "says how clear each one was. A judge that scores both responses, or grades on five levels, or gives "
        f"probabilities, would; {instead}"
    )
