"""Worlds with known truth: models, items, judges with settable faults, and human labels; no model
is called.

The expected credit of every pair is known exactly, and so is what a Bradley-Terry fit to infinitely
many items gives: the estimand that an interval should cover.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

from podium.data.battles import Battles
from podium.data.formats.verdict_files import reasons_where
from podium.data.reading.judgments import read_battles
from podium.errors import UsageError
from podium.rankers.fit.pairs import pairs_from_matrices
from podium.rankers.fit.strengths import fit_strengths

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
LOGITS = np.arange(-40, 40.05, 0.1)
"""Nodes of a trapezoidal rule for a logistic variable; its error falls exponentially with the
step."""
LOGISTIC_WEIGHTS = 0.1 * expit(LOGITS) * expit(-LOGITS)
UNPARSED = "simulated: unparsed"
COLUMNS = (
    *("item", "model_a", "model_b", "credit", "margin", "order", "judge", "repeat", "human"),
    *("category", "length_a", "length_b", "reason"),
)


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge; the defaults give one without faults.

    The margin of the response shown first over the other is `scale * quality difference +
    length_bias * log-length difference + self_preference * (own - other's own) + position_bias +
    noise * logistic error`, where own is 1 for models that it favours. The verdict is its sign,
    after adding `verbosity_bias * log-length difference`.

    Attributes:
        name: goes into the column `judge`.
        scale: logits of margin per logit of quality; above 1 inflates differences.
        position_bias: logits in favour of the response shown first.
        length_bias: logits per unit of log-length.
        noise: scale of the logistic error, >= 0; 1 makes verdicts Bradley-Terry draws.
        tie: margins within +-tie are ties, >= 0.
        unparsed: share of replies that cannot be read, in [0, 1).
        verdicts: `hard` (win, tie, loss) or `soft` (the probability of a win, without error; needs
            noise > 0).
        verbosity_bias: logits per unit of log-length that the verdict adds to the margin.
        self_preference: logits in favour of the models that `favours` names.
        favours: names of those.
    """

    name: str = "simulated"
    scale: float = 1.0
    position_bias: float = 0.0
    length_bias: float = 0.0
    noise: float = 1.0
    tie: float = 0.0
    unparsed: float = 0.0
    verdicts: Literal["hard", "soft"] = "hard"
    verbosity_bias: float = 0.0
    self_preference: float = 0.0
    favours: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (self.noise >= 0 and self.tie >= 0 and 0 <= self.unparsed < 1):
            raise UsageError(f"{self}: noise and tie are at least 0, unparsed lies in [0, 1)")
        if self.verdicts not in ("hard", "soft") or (self.verdicts == "soft" and self.noise == 0):
            raise UsageError(f"{self}: verdicts are hard, or soft with noise above 0")

    def credit(self, margin: np.ndarray) -> np.ndarray:
        """Return the credit of the response shown first given its margin, noise included: 1, 0.5 or
        0, any shape."""
        return (np.sign(margin - self.tie) + np.sign(margin + self.tie)) / 4 + 0.5

    def mean_credit(self, margin: np.ndarray) -> np.ndarray:
        """Return the mean credit of the response shown first given its margin before noise, any
        shape."""
        if self.noise == 0:
            return self.credit(margin)
        p_win = expit((margin - self.tie) / self.noise)
        p_not_loss = expit((margin + self.tie) / self.noise)
        return (p_win + p_not_loss) / 2


@dataclass(frozen=True, slots=True)
class World:
    """Models and items, whose responses have a quality and a length; see `simulate`.

    Attributes:
        strengths: true log-strengths, mean zero, shape (models,).
        quality: of each response, logits, shape (items, models).
        log_length: of each response, shape (items, models).
        length_means: mean log-length of each model, shape (models,).
        seed: of the judges' noise.
    """

    models: tuple[str, ...]
    strengths: np.ndarray
    quality: np.ndarray
    log_length: np.ndarray
    item_sd: float
    length_means: np.ndarray
    length_sd: float
    categories: tuple[str, ...]
    seed: int

    def __repr__(self) -> str:
        return f"World({len(self.models)} models, {len(self.quality)} items)"

    def judgments(
        self,
        *judges: Judge,
        orders: Literal["both", "ab"] = "both",
        human: bool = False,
        repeats: int = 1,
        pairs: Sequence[tuple[int, int]] | None = None,
    ) -> pd.DataFrame:
        """Return the judges' verdicts as a battles table, a row per judgment.

        Args:
            judges: one default judge when none is given.
            orders: `both`, or only the first-named model first.
            human: add one human label per battle, win or loss, drawn from the quality difference.
            repeats: how often each judge sees each judgment.
            pairs: model positions to compare on every item; all pairs by default.
        """
        rng = np.random.default_rng(self.seed)
        if pairs is None:
            pairs_to_play = np.transpose(np.triu_indices(len(self.models), 1))
        else:
            pairs_to_play = np.array(pairs)
        shape = (len(self.quality), len(pairs_to_play))
        item, pair = (positions.ravel() for positions in np.indices(shape))
        a, b = pairs_to_play[pair].T
        battles = self._battle_columns(item, a, b)
        if human:
            p_win = expit(self.quality[item, a] - self.quality[item, b])
            battles["human"] = (rng.random(len(item)) < p_win) * 1.0
        parts = []
        for judge in judges or (Judge(),):
            for repeat in range(repeats):
                for order in ("ab", "ba") if orders == "both" else ("ab",):
                    verdicts = self._verdict_columns(judge, item, a, b, order, rng)
                    parts.append(pd.DataFrame({**battles, **verdicts, "repeat": repeat}))
        left_out = set()
        if repeats <= 1:
            left_out.add("repeat")
        if not human:
            left_out.add("human")
        columns = [name for name in COLUMNS if name not in left_out]
        return pd.concat(parts, ignore_index=True)[columns]

    def _battle_columns(self, item: np.ndarray, a: np.ndarray, b: np.ndarray) -> dict[str, Any]:
        """Return item, models, category and lengths of battles as columns.

        Args:
            item: position of the item of each battle, shape (battles,).
            a: position of the model named first, shape (battles,).
            b: position of the model named second, shape (battles,).
        """
        digits = len(str(len(self.quality)))
        item_names = np.array([f"item-{k:0{digits}d}" for k in range(len(self.quality))])
        model_names = np.array(self.models, dtype=object)
        length = np.exp(self.log_length).round().astype(int)
        return {
            "item": item_names[item],
            "model_a": model_names[a],
            "model_b": model_names[b],
            "category": np.array(self.categories, dtype=object)[item],
            "length_a": length[item, a],
            "length_b": length[item, b],
        }

    def battles(self, *judges: Judge, **how: Any) -> Battles:
        """Return the same verdicts, the two orders merged; it takes what `judgments` takes."""
        return read_battles(self.judgments(*judges, **how))

    def margins_of_first(self, judge: Judge | None = None) -> np.ndarray:
        """Return margins of the response shown first, before `verbosity_bias`, shape (items, first,
        second)."""
        judge, rng = judge or Judge(), np.random.default_rng(self.seed)
        score = (
            judge.scale * self.quality + judge.length_bias * self.log_length + self._favour(judge)
        )
        lean = score[:, :, None] - score[:, None, :] + judge.position_bias
        return np.asarray(lean + judge.noise * rng.logistic(size=lean.shape))

    def expected_credits(
        self, judge: Judge | None = None, *, orders: Literal["both", "ab"] = "both"
    ) -> np.ndarray:
        """Return the exact mean credit of row against column over the population of items, shape
        (n, n)."""
        judge = judge or Judge()
        by_length = judge.length_bias + judge.verbosity_bias
        score = judge.scale * self.strengths + by_length * self.length_means + self._favour(judge)
        lean = np.subtract.outer(score, score)
        spread = np.sqrt(2) * np.hypot(judge.scale * self.item_sd, by_length * self.length_sd)
        first = _integrated_credit(judge, lean + judge.position_bias, spread)
        if orders == "ab":
            return np.triu(first, 1) + np.tril(1 - first.T, -1) + np.eye(len(lean)) / 2
        return (first + 1 - first.T) / 2

    def estimand(
        self, judge: Judge | None = None, *, orders: Literal["both", "ab"] = "both"
    ) -> np.ndarray:
        """Return the log-strengths that a Bradley-Terry fit to infinitely many items gives, shape
        (models,).

        This, not `strengths`, is what an interval should cover: item effects and biases move the
        two apart.
        """
        credit = np.triu(self.expected_credits(judge, orders=orders), 1)
        pairs = pairs_from_matrices(credit, np.triu(np.ones_like(credit), 1))
        return fit_strengths(pairs, regularization=0.0).theta

    def _favour(self, judge: Judge) -> np.ndarray:
        """Return the logits in favour of each model, shape (models,)."""
        return judge.self_preference * np.isin(self.models, judge.favours)

    def _verdict_columns(
        self,
        judge: Judge,
        item: np.ndarray,
        a: np.ndarray,
        b: np.ndarray,
        order: str,
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        """Return what a judge says of pairs on items in one order."""
        sign = 1.0 if order == "ab" else -1.0
        longer, favour = self.log_length[item, a] - self.log_length[item, b], self._favour(judge)
        lean = judge.scale * (self.quality[item, a] - self.quality[item, b])
        lean = (
            sign * (lean + judge.length_bias * longer + favour[a] - favour[b]) + judge.position_bias
        )
        beyond = sign * judge.verbosity_bias * longer
        if judge.verdicts == "soft":
            margin, credit = lean, judge.mean_credit(lean + beyond)
        else:
            margin = lean + judge.noise * rng.logistic(size=len(lean))
            credit = judge.credit(margin + beyond)
        lost = rng.random(len(item)) < judge.unparsed
        return {
            "credit": np.where(lost, np.nan, credit if order == "ab" else 1 - credit),
            "margin": np.where(lost, np.nan, sign * margin),
            "order": order,
            "judge": judge.name,
            "reason": reasons_where(lost, UNPARSED),
        }


def simulate(
    models: int | Sequence[str] = 7,
    items: int = 100,
    *,
    seed: int = 0,
    strengths: Sequence[float] | None = None,
    spread: float = 1.0,
    item_sd: float = 1.0,
    length_sd: float = 0.4,
    categories: Sequence[str] = ("all",),
) -> World:
    """Draw a world.

    Args:
        models: their number, or their names.
        seed: the same seed gives the same world and the same verdicts.
        strengths: true log-strengths; centred. By default normal draws with standard deviation
            `spread`.
        spread: logits.
        item_sd: standard deviation of item-by-model effects, logits.
        length_sd: standard deviation of log-lengths.
        categories: dealt to the items in turn.

    Raises:
        UsageError: fewer than 2 models, no items, or strengths of another number.
    """
    names = tuple(
        models if isinstance(models, Sequence) else (f"model-{k + 1:02d}" for k in range(models))
    )
    if len(set(names)) < max(2, len(names)) or items < 1:
        raise UsageError("a world needs at least two models with different names, and one item")
    if strengths is not None and len(strengths) != len(names):
        raise UsageError(f"{len(strengths)} strengths for {len(names)} models")
    rng = np.random.default_rng(seed)
    drawn = (
        rng.normal(0, spread, len(names))
        if strengths is None
        else np.array(strengths, dtype=np.float64)
    )
    theta, shape = drawn - drawn.mean(), (items, len(names))
    length_means = rng.normal(7.0, 0.3, len(names))
    return World(
        models=names,
        strengths=theta,
        quality=theta + rng.normal(0, item_sd, shape),
        log_length=length_means + rng.normal(0, length_sd, shape),
        item_sd=item_sd,
        length_means=length_means,
        length_sd=length_sd,
        categories=tuple(categories[k % len(categories)] for k in range(items)),
        seed=int(rng.integers(2**63)),
    )


def _integrated_credit(judge: Judge, lean: np.ndarray, spread: float) -> np.ndarray:
    """Return the mean credit over normal margins with these means and this standard deviation, same
    shape."""
    # The wider of normal margin and logistic error is integrated in closed form, so that the rule
    # for the other one meets a smooth function, and errs by less than 1e-9.
    if spread == 0:
        return judge.mean_credit(lean)
    if judge.noise > spread:
        return judge.mean_credit(lean[..., None] + spread * NODES) @ (WEIGHTS / WEIGHTS.sum())
    shifted = lean[..., None] + judge.noise * LOGITS
    won = (ndtr((shifted - judge.tie) / spread) + ndtr((shifted + judge.tie) / spread)) / 2
    return won @ LOGISTIC_WEIGHTS
