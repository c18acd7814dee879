"""Simulated worlds with known truth: models, items, judges with settable faults, human labels.

No model is called. The expected credit of every pair is known exactly. So is the result of a
Bradley-Terry fit to infinitely many items: the estimand that an interval should cover.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

from podium.data.battles import Battles
from podium.data.formats.verdict_cells import reasons_where
from podium.data.reading.judgments import read_battles
from podium.errors import UsageError
from podium.rankers.fit.pairs import pairs_from_matrices
from podium.rankers.fit.strengths import fit_strengths

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
"""Gauss-Hermite nodes and weights for a standard normal variable, shape (120,) each.

The weights do not sum to 1.
"""
LOGITS = np.arange(-40, 40.05, 0.1)
"""Nodes of a trapezoidal rule for a logistic variable.

The error of the rule falls exponentially with the step.
"""
LOGISTIC_WEIGHTS = 0.1 * expit(LOGITS) * expit(-LOGITS)
"""Step times density of the standard logistic distribution at `LOGITS`."""
UNPARSED_REASON = "simulated: unparsed"
"""Reason that is recorded for a simulated reply that is unparsed."""
JUDGMENT_COLUMNS = (
    "item",
    "model_a",
    "model_b",
    "credit",
    "margin",
    "order",
    "judge",
    "repeat",
    "human",
    "category",
    "length_a",
    "length_b",
    "reason",
)
"""Columns of a table of simulated judgments, in their order."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A simulated judge; the defaults give a judge without faults.

    The margin of the response shown first over the other is `scale * quality difference +
    length_bias * log-length difference + self_preference * (favoured - other favoured) +
    position_bias + noise * logistic error`. Here `favoured` is 1 for models that it favours, else
    0. The verdict is the sign of the margin plus `verbosity_bias * log-length difference`.

    Attributes:
        name: name of the judge, written into the column `judge`.
        scale: logits of margin per logit of quality; above 1 inflates differences.
        position_bias: logits in favour of the response shown first.
        length_bias: logits per unit of log-length.
        noise: scale of the logistic error, >= 0; 1 makes verdicts Bradley-Terry draws.
        tie: margins within +-tie are ties, >= 0.
        unparsed: share of replies that cannot be parsed, in [0, 1).
        verdicts: `hard` (win, tie, loss) or `soft` (the probability of a win, without error; needs
            noise > 0).
        verbosity_bias: logits per unit of log-length that the verdict adds to the margin.
        self_preference: logits in favour of the models that `favours` names.
        favours: names of the favoured models.

    Raises:
        UsageError: noise or tie is negative, unparsed is outside [0, 1), verdicts is another word,
            or verdicts are soft without noise.
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
        """Raise UsageError for impossible values, as the docstring of the class says."""
        is_negative = self.noise < 0 or self.tie < 0
        is_share = 0 <= self.unparsed < 1
        if is_negative or not is_share:
            raise UsageError(f"{self}: noise and tie are at least 0, unparsed lies in [0, 1)")
        is_known = self.verdicts in ("hard", "soft")
        lacks_noise = self.verdicts == "soft" and self.noise == 0
        if not is_known or lacks_noise:
            raise UsageError(f"{self}: verdicts are hard, or soft with noise above 0")

    def credit(self, margin: np.ndarray) -> np.ndarray:
        """Return the credit of the response shown first: 1, 0.75, 0.5, 0.25 or 0.

        It is 0.75 or 0.25 only for a margin of exactly `tie` or -`tie`, and 0.5 within these.

        Args:
            margin: margin of the response shown first, noise included, logits; any shape.

        Returns:
            An array of the same shape.
        """
        # Each of the two bounds of a tie adds a quarter if the margin is above it, and subtracts a
        # quarter if the margin is below it.
        sum_of_signs = np.sign(margin - self.tie) + np.sign(margin + self.tie)
        return sum_of_signs / 4 + 0.5

    def mean_credit(self, margin: np.ndarray) -> np.ndarray:
        """Return the expected credit of the response shown first, over the noise of the judge.

        Without noise, it is `credit`.

        Args:
            margin: margin of the response shown first before noise, logits; any shape.

        Returns:
            An array of the same shape, in [0, 1].
        """
        if self.noise == 0:
            return self.credit(margin)
        p_win = expit((margin - self.tie) / self.noise)
        p_not_loss = expit((margin + self.tie) / self.noise)
        return (p_win + p_not_loss) / 2


@dataclass(frozen=True, slots=True)
class World:
    """Models and items, whose responses have a quality and a length; made by `simulate`.

    Attributes:
        models: names of the models.
        strengths: true log-strengths, mean zero, shape (models,).
        quality: quality of each response, logits, shape (items, models).
        log_length: natural logarithm of the length of each response, shape (items, models).
        item_sd: standard deviation of quality over the items of a model, logits.
        length_means: mean log-length of each model, shape (models,).
        length_sd: standard deviation of log-lengths over the items of a model.
        categories: category of each item.
        seed: seed of the judges' noise.
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
        """Return the judges' verdicts as a battles table with one row per judgment.

        The same arguments give the same verdicts.

        Args:
            judges: the judges; one default judge if there is none.
            orders: `both` shows each pair in both orders, `ab` shows the model named first as
                first.
            human: whether to add a human label per battle (1 or 0), drawn with probability
                `expit(quality difference)`; all judgments of a battle have the same label.
            repeats: how often each judge judges each pair in each order.
            pairs: positions in `models` of the pairs that are compared on every item; all pairs by
                default.

        Returns:
            A data frame with the columns of `JUDGMENT_COLUMNS`; `repeat` only with repeats above
            1, `human` only with human labels.
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
            battles["human"] = np.where(rng.random(len(item)) < p_win, 1.0, 0.0)
        orders_to_play = ("ab", "ba") if orders == "both" else ("ab",)
        parts = []
        for judge in judges or (Judge(),):
            for repeat in range(repeats):
                for order in orders_to_play:
                    verdicts = self._verdict_columns(judge, item, a, b, order, rng)
                    parts.append(pd.DataFrame({**battles, **verdicts, "repeat": repeat}))
        left_out = set()
        if repeats <= 1:
            left_out.add("repeat")
        if not human:
            left_out.add("human")
        columns = [name for name in JUDGMENT_COLUMNS if name not in left_out]
        return pd.concat(parts, ignore_index=True)[columns]

    def _battle_columns(self, item: np.ndarray, a: np.ndarray, b: np.ndarray) -> dict[str, Any]:
        """Return item, models, category and lengths of battles as columns.

        Args:
            item: position of the item of each battle, shape (battles,).
            a: position of the model named first, shape (battles,).
            b: position of the model named second, shape (battles,).

        Returns:
            Arrays of shape (battles,) by name of the column; lengths are in characters.
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
        """Return the verdicts of `judgments` as battles, the two orders of each pair merged.

        Args:
            judges: the judges; one default judge if there is none.
            **how: the keyword arguments of `judgments`: `orders`, `human`, `repeats`, `pairs`.
        """
        return read_battles(self.judgments(*judges, **how))

    def margins_of_first(self, judge: Judge | None = None) -> np.ndarray:
        """Draw the margin of each response over each other, before `verbosity_bias`.

        The judge's noise is drawn anew for each margin; no reply is unparsed.

        Args:
            judge: the judge; the default judge if there is none.

        Returns:
            Logits, shape (items, model shown first, model shown second). The diagonal, where a
            model meets itself, has no meaning.
        """
        judge = judge or Judge()
        rng = np.random.default_rng(self.seed)
        score = (
            judge.scale * self.quality
            + judge.length_bias * self.log_length
            + self._favour_of_models(judge)
        )
        score_of_first = score[:, :, None]
        score_of_second = score[:, None, :]
        mean_margin = score_of_first - score_of_second + judge.position_bias
        noise = judge.noise * rng.logistic(size=mean_margin.shape)
        return np.asarray(mean_margin + noise)

    def expected_credits(
        self, judge: Judge | None = None, *, orders: Literal["both", "ab"] = "both"
    ) -> np.ndarray:
        """Return the exact mean credit of each model against each other over all possible items.

        Args:
            judge: the judge; the default judge if there is none.
            orders: `both` for the mean of the two orders, `ab` for the model with the lower
                position shown first.

        Returns:
            Credit of row against column, shape (models, models), 0.5 on the diagonal.
        """
        judge = judge or Judge()
        length_slope = judge.length_bias + judge.verbosity_bias
        score = (
            judge.scale * self.strengths
            + length_slope * self.length_means
            + self._favour_of_models(judge)
        )
        mean_margin = np.subtract.outer(score, score)
        margin_sd = np.sqrt(2) * np.hypot(judge.scale * self.item_sd, length_slope * self.length_sd)
        # Credit of the row if it is shown first; 1 - shown_first.T is its credit shown second.
        shown_first = _integrated_credit(judge, mean_margin + judge.position_bias, margin_sd)
        shown_second = 1 - shown_first.T
        if orders == "ab":
            diagonal = np.eye(len(mean_margin)) / 2
            return np.triu(shown_first, 1) + np.tril(shown_second, -1) + diagonal
        return (shown_first + shown_second) / 2

    def estimand(
        self, judge: Judge | None = None, *, orders: Literal["both", "ab"] = "both"
    ) -> np.ndarray:
        """Return the log-strengths that a Bradley-Terry fit to infinitely many items gives.

        An interval should cover these values, not `strengths`: item effects and biases of the
        judge make the two differ.

        Args:
            judge: the judge; the default judge if there is none.
            orders: `both` for the mean of the two orders, `ab` for the model with the lower
                position shown first.

        Returns:
            Log-strengths, mean zero, shape (models,).
        """
        credit = np.triu(self.expected_credits(judge, orders=orders), 1)
        pairs = pairs_from_matrices(credit, np.triu(np.ones_like(credit), 1))
        return fit_strengths(pairs, regularization=0.0).theta

    def _favour_of_models(self, judge: Judge) -> np.ndarray:
        """Return the logits by which a judge favours each model, shape (models,).

        They are 0 for models that the judge does not favour.
        """
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
        """Return a judge's verdicts on battles in one order, as columns of shape (battles,).

        Credits and margins are those of the model at `a`, whichever response is shown first. They
        are NaN for unparsed replies, which have a reason.

        Args:
            judge: the judge.
            item: position of the item of each battle, shape (battles,).
            a: position of the model named first, shape (battles,).
            b: position of the model named second, shape (battles,).
            order: `ab` if the response of `a` is shown first, else `ba`.
            rng: random generator of the judge's noise.
        """
        # `sign` turns the margin of `a` into the margin of the response shown first, and back.
        sign = 1.0 if order == "ab" else -1.0
        length_difference = self.log_length[item, a] - self.log_length[item, b]
        favour = self._favour_of_models(judge)
        margin_of_a = judge.scale * (self.quality[item, a] - self.quality[item, b])
        margin_of_a = margin_of_a + judge.length_bias * length_difference + favour[a] - favour[b]
        mean_margin = sign * margin_of_a + judge.position_bias
        verbosity_margin = sign * judge.verbosity_bias * length_difference
        if judge.verdicts == "soft":
            margin = mean_margin
            credit = judge.mean_credit(mean_margin + verbosity_margin)
        else:
            margin = mean_margin + judge.noise * rng.logistic(size=len(mean_margin))
            credit = judge.credit(margin + verbosity_margin)
        is_unparsed = rng.random(len(item)) < judge.unparsed
        credit_of_a = credit if order == "ab" else 1 - credit
        return {
            "credit": np.where(is_unparsed, np.nan, credit_of_a),
            "margin": np.where(is_unparsed, np.nan, sign * margin),
            "order": order,
            "judge": judge.name,
            "reason": reasons_where(is_unparsed, UNPARSED_REASON),
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
    """Draw a world: strengths of the models, and quality and length of each response.

    Args:
        models: the number of models, or their names.
        items: the number of items.
        seed: seed of all draws; the same seed gives the same world and the same verdicts.
        strengths: true log-strengths, one per model; they are centred. By default they are normal
            draws with the standard deviation `spread`.
        spread: standard deviation of drawn log-strengths, logits.
        item_sd: standard deviation of item-by-model effects, logits.
        length_sd: standard deviation of log-lengths over the items of a model.
        categories: categories, assigned to the items in turn.

    Returns:
        The world; `World.judgments` and `World.battles` draw verdicts on it.

    Raises:
        UsageError: there are fewer than two models, two models of one name, no items, or another
            number of strengths than of models.
    """
    if isinstance(models, Sequence):
        names = tuple(models)
    else:
        names = tuple(f"model-{k + 1:02d}" for k in range(models))
    if len(names) < 2 or len(set(names)) < len(names) or items < 1:
        raise UsageError("a world needs at least two models with different names, and one item")
    if strengths is not None and len(strengths) != len(names):
        raise UsageError(f"{len(strengths)} strengths for {len(names)} models")
    rng = np.random.default_rng(seed)
    if strengths is None:
        drawn = rng.normal(0, spread, len(names))
    else:
        drawn = np.array(strengths, dtype=np.float64)
    theta = drawn - drawn.mean()
    shape = (items, len(names))
    length_means = rng.normal(loc=7.0, scale=0.3, size=len(names))  # exp(7) is 1,100 characters
    quality = theta + rng.normal(0, item_sd, shape)
    log_length = length_means + rng.normal(0, length_sd, shape)
    return World(
        models=names,
        strengths=theta,
        quality=quality,
        log_length=log_length,
        item_sd=item_sd,
        length_means=length_means,
        length_sd=length_sd,
        categories=tuple(categories[k % len(categories)] for k in range(items)),
        seed=int(rng.integers(2**63)),
    )


def _integrated_credit(judge: Judge, mean_margin: np.ndarray, margin_sd: float) -> np.ndarray:
    """Return the expected credit of the response shown first if margins are normally distributed.

    Args:
        judge: the judge.
        mean_margin: means of the margins before noise, logits; any shape.
        margin_sd: standard deviation of the margins before noise, logits.

    Returns:
        An array of the shape of `mean_margin`, in [0, 1].
    """
    # The credit is averaged over the normal margin and the logistic error of the judge. The wider
    # of the two is integrated in closed form, by the CDF. The other one is integrated by a sum
    # over nodes, which is accurate to 1e-9 because the function is then smooth.
    if margin_sd == 0:
        return judge.mean_credit(mean_margin)
    if judge.noise > margin_sd:
        margins = mean_margin[..., None] + margin_sd * NODES
        return judge.mean_credit(margins) @ (NODE_WEIGHTS / NODE_WEIGHTS.sum())
    shifted = mean_margin[..., None] + judge.noise * LOGITS
    mean_credit = (
        ndtr((shifted - judge.tie) / margin_sd) + ndtr((shifted + judge.tie) / margin_sd)
    ) / 2
    return mean_credit @ LOGISTIC_WEIGHTS
