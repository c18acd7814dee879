"""A judge's signal: its opinion of each battle as numbers, from which human preferences follow.

The numbers are the features of a map to the probability that humans prefer model a.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from podium.data.battles import Battles
from podium.distributions import expit, logit
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.fit.coded import hard_credits, nothing_readable_error, require_choice
from podium.wording import quantity

Kind = Literal["margin", "smoothing", "criteria", "credit", "log-odds"]
"""Which signal is read; see `read_signal`."""
RIDGE = 10.0
"""Default ridge strength of `criteria`. It pulls each weight towards the mean weight about as
strongly as 40 battles would."""
LEAST_SHARE_OF_PROBABILITIES = 0.1
"""If at least this share of the credits are probabilities, and there are no margins, `credit` is
the default target."""
SMALLEST_PROBABILITY = 1e-4
"""Before log-odds are taken, probabilities are clipped to [SMALLEST_PROBABILITY,
1 - SMALLEST_PROBABILITY]. Probabilities are rounded, and the log-odds of a few
extreme ones would determine the fit."""
NO_COLUMN = ""
"""Name of a column that no table has: all its values are NaN."""
COMMON_DENOMINATOR = 24
"""A credit that is a multiple of 1/24 counts as the mean of 1, 2, 3, 4, 6, 8, 12 or 24 hard
verdicts and not as a probability."""


@dataclass(frozen=True, slots=True)
class Signal:
    """What a judge says of each battle, as numbers from the side of a.

    Attributes:
        kind: which signal it is; see `read_signal`.
        names: names of the features, as of `_feature_columns`.
        x: the features, NaN if unknown, shape (battles, features).
        ridge: strength of the penalty that pulls the weights of features to their mean.
    """

    kind: Kind
    names: tuple[str, ...]
    x: np.ndarray
    ridge: float = 0.0

    @property
    def is_known(self) -> np.ndarray:
        """Mask of the battles of which all features are known, shape (battles,)."""
        return ~np.isnan(self.x).any(axis=1)

    @property
    def penalty(self) -> np.ndarray:
        """Matrix P such that b' P b = ridge * sum (b - mean b)^2, shape (features, features)."""
        features = len(self.names)
        # This matrix subtracts the mean.
        centring = np.eye(features) - 1 / features
        return self.ridge * centring

    def predict(self, weights: np.ndarray) -> np.ndarray:
        """Return the probability that humans prefer a, NaN if unknown, shape (battles,).

        It is s(x b) for weights b (Soft-Elo, equation 5). The signal `credit` is this probability
        already.
        """
        if self.kind == "credit":
            return 0.5 + self.x[:, 0]
        return expit(self.x @ weights)


def beta_direction(kind: Kind, weights: np.ndarray) -> np.ndarray:
    """Return the vector whose product with the weights is beta, shape (features,).

    beta is the weight of the only feature or, for `criteria`, the sum of all weights.
    """
    if kind == "criteria":
        return np.ones(len(weights))
    direction = np.zeros(len(weights))
    direction[0] = 1.0
    return direction


def read_signal(
    battles: Battles, kind: Kind, ridge: float | None = None, *, credits_as_margins: bool = False
) -> Signal:
    """Read a judge's signal from the side of model a. Its features are NaN in unparsed battles.

    Args:
        battles: the battles.
        kind: the signal. `margin` is the judge's score of a minus its score of b, `smoothing` the
            hard verdict (1, 0 or -1), and `criteria` a margin for each criterion. `credit` is the
            soft credit minus 0.5, and `log-odds` the log-odds of the soft credit. Each kind but
            `criteria` has one feature.
        ridge: strength of the penalty of `criteria`; by default `RIDGE`.
        credits_as_margins: whether 2 * credit - 1 replaces the margins if no battle has a margin.

    Raises:
        NotIdentifiedError: no battle has such a signal, or none is readable.
        UsageError: an unknown kind, or a `ridge` that is negative or not finite, for any kind.
    """
    require_choice("target", kind, get_args(Kind))
    ridge = RIDGE if ridge is None else ridge
    if not 0 <= ridge < np.inf:
        raise UsageError(f"ridge={ridge:g} is not a finite number of 0 or more")
    columns = _feature_columns(battles, kind)
    if credits_as_margins and kind == "margin" and not has_margins(battles):
        columns = {"verdict": 2 * battles.numbers_of("credit") - 1}
    x = np.stack(list(columns.values()), axis=1).astype(np.float64)
    x[~battles.readable] = np.nan
    signal = Signal(
        kind=kind, names=tuple(columns), x=x, ridge=ridge if kind == "criteria" else 0.0
    )
    if not battles.readable.any():
        raise nothing_readable_error(battles)
    if not signal.is_known.any():
        raise NotIdentifiedError(_describe_missing_signal(battles, kind))
    return signal


def readable_margins(battles: Battles) -> np.ndarray:
    """Return the margins of readable battles, NaN elsewhere, shape (battles,)."""
    return np.where(battles.readable, battles.numbers_of("margin"), np.nan)


def default_kind(battles: Battles) -> Kind:
    """Return the default target: `credit` if there are no margins and enough credits are
    probabilities (`has_graded_credits`), else `margin`."""
    if has_margins(battles) or not has_graded_credits(battles):
        return "margin"
    return "credit"


def has_graded_credits(battles: Battles) -> bool:
    """Return whether at least 10% of the readable credits are probabilities.

    All credits may then be used as soft credits. The result is False without readable battles.
    """
    soft = are_probabilities(battles)
    return bool(soft.any() and soft.mean() >= LEAST_SHARE_OF_PROBABILITIES)


def are_probabilities(battles: Battles) -> np.ndarray:
    """Return the mask of credits that are probabilities, shape (readable battles,).

    They are the credits that cannot be the mean of a few hard verdicts (`COMMON_DENOMINATOR`).
    """
    sum_of_verdicts = COMMON_DENOMINATOR * battles.numbers_of("credit")[battles.readable]
    return np.abs(sum_of_verdicts - np.round(sum_of_verdicts)) > 1e-6


def _feature_columns(battles: Battles, kind: Kind) -> dict[str, np.ndarray]:
    """Return the features of a kind of signal by name, shape (battles,) each.

    - `margin`: `margin`.
    - `smoothing`: `verdict`, which is 1 (win of a), 0 (tie) or -1 (loss).
    - `criteria`: the margin on each criterion, by name of the criterion; `none` without criteria.
    - `credit`: `credit`, the credit minus 0.5.
    - `log-odds`: `log-odds`, those of the credit clipped by `SMALLEST_PROBABILITY`.

    A feature that the battles do not have is NaN everywhere. For the last two kinds, at least one
    credit of the battles must be a probability (`are_probabilities`): all credits are then used,
    and else all are NaN.
    """
    numbers_of = battles.numbers_of
    if kind == "smoothing":
        return {"verdict": 2 * hard_credits(battles) - 1}
    if kind == "criteria":
        margins = {name: numbers_of(f"margin_{name}") for name in battles.criteria}
        return margins or {"none": numbers_of(NO_COLUMN)}
    if kind in ("credit", "log-odds"):
        has_probabilities = are_probabilities(battles).any()
        credit = numbers_of("credit" if has_probabilities else NO_COLUMN)
        if kind == "credit":
            return {"credit": credit - 0.5}
        return {"log-odds": logit(credit.clip(SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY))}
    return {"margin": numbers_of("margin")}


def has_margins(battles: Battles) -> bool:
    """Return whether any battle, readable or not, has a margin."""
    return not np.isnan(battles.numbers_of("margin")).all()


def _describe_missing_signal(battles: Battles, kind: Kind) -> str:
    """Return the error message for battles without a signal of this kind.

    The message says what the signal needs, and which other targets or rankers remain.
    """
    no_battle_has = f"none of the {quantity(int(battles.readable.sum()), 'judged battle')} has a"
    alternatives = (
        "bradley-terry ranks hard verdicts as they are, and target=smoothing softens them by a "
        "constant fitted to human labels"
    )
    if kind in ("credit", "log-odds"):
        problem = f"{no_battle_has} soft credit (a probability): all are wins, ties and losses"
        return f"{problem}; {alternatives}"
    if kind == "criteria":
        columns = "columns margin_<criterion>, as rubric judges give"
        return f"{no_battle_has} margin on every criterion ({columns})"
    if are_probabilities(battles).any():
        remedy = "the credits are probabilities: target=credit takes them as they are"
        return f"{no_battle_has} margin; {remedy}"
    return (
        f"{no_battle_has} margin (judge score of a minus that of b), and the verdicts are wins, "
        "ties and losses only: nothing says how clear each one was. A judge that scores both "
        f"responses, grades on five levels or gives probabilities would; {alternatives}"
    )
