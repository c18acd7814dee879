"""The compared tools, each with the same three functions, and an exact optimum as the reference."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from podium import read_battles
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.strengths import fit_strengths


@dataclass(frozen=True, slots=True)
class Problem:
    """Battles as coded arrays.

    Attributes:
        a, b: model codes, shape (battles,).
        credit: credit of a, in [0, 1], shape (battles,).
        item: item codes, shape (battles,).
        models: number of models.
        items: number of items.
    """

    a: np.ndarray
    b: np.ndarray
    credit: np.ndarray
    item: np.ndarray
    models: int
    items: int

    def frame(self) -> pd.DataFrame:
        """Return string columns; names sort like codes."""
        names = pd.Index([f"model-{k:04d}" for k in range(self.models)])
        items = pd.Index([f"item-{k:06d}" for k in range(self.items)])
        return pd.DataFrame(
            {
                "item": items[self.item],
                "model_a": names[self.a],
                "model_b": names[self.b],
                "credit": self.credit,
            }
        )


@dataclass(frozen=True, slots=True)
class Tool:
    """One way to fit log-strengths.

    Attributes:
        name: as shown.
        prepare: converts coded arrays to the tool's input.
        fit: from there to log-strengths by model code, shape (models,); NaN where it failed.
        from_frame: converts string columns to the tool's input.
        soft: whether credits between 0 and 1 can be given.
    """

    name: str
    prepare: Callable[[Problem], Any]
    fit: Callable[[Any], np.ndarray]
    from_frame: Callable[[pd.DataFrame], Any]
    soft: bool = True


def wins(problem: Problem) -> np.ndarray:
    """Return the summed credit of the row's model against the column's, shape (models, models)."""
    size = problem.models
    cell = problem.a * size + problem.b
    credit = np.bincount(cell, problem.credit, size * size).reshape(size, size)
    conceded = np.bincount(cell, 1 - problem.credit, size * size).reshape(size, size)
    return credit + conceded.T


def exact(won: np.ndarray, regularization: float = 0.0) -> np.ndarray:
    """Return the maximum by Newton steps whose gradient is summed in extended precision, mean zero.

    Shares no code with podium. The last step must be below 1e-14 logits.

    Args:
        won: from `wins`.

    Raises:
        RuntimeError: it is not.
    """
    won = won.astype(np.longdouble)
    met, theta = won + won.T, np.zeros(len(won), dtype=np.longdouble)
    for _ in range(100):
        chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
        gradient = (won - met * chance).sum(axis=1) - regularization * theta
        curvature = (met * chance * chance.T).astype(np.float64)
        hessian = np.diag(curvature.sum(axis=1) + regularization) - curvature
        step = np.linalg.solve(
            hessian + curvature.sum() / len(won) ** 2, gradient.astype(np.float64)
        )
        theta = theta + np.clip(step, -1, 1)
        theta -= theta.mean()
        if np.abs(step).max() < 1e-14:
            return theta.astype(np.float64)
    raise RuntimeError(f"no exact optimum: last step {np.abs(step).max():.1e}")


def coded(frame: pd.DataFrame) -> Problem:
    """Convert string columns to integer codes, for tools that accept only codes."""
    codes, names = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]), sort=True)
    a, b = np.split(codes, 2)
    return Problem(
        a, b, frame["credit"].to_numpy(), np.zeros(len(frame), dtype=np.int64), len(names), 1
    )


def podium() -> list[Tool]:
    """Podium, without regularization like the others."""

    return [
        Tool(
            "podium",
            prepare=podium_input,
            fit=lambda ours: fit_strengths(pair_sums(ours), 0.0).theta,
            from_frame=lambda frame: code_battles(read_battles(frame)),
        )
    ]


def podium_input(problem: Problem) -> Any:
    """Return podium's coded arrays."""

    names = tuple(f"model-{k:04d}" for k in range(problem.models))
    weight = np.ones(len(problem.a))
    return CodedBattles(
        problem.a, problem.b, problem.credit, weight, problem.item, problem.items, "item", names
    )


def evalica() -> list[Tool]:
    """Evalica's compiled Bradley-Terry, at its default tolerance and at a tight one."""
    from evalica import _brzo

    def fit(
        ours: tuple[list[int], list[int], list[int], list[float], int], **stop: float
    ) -> np.ndarray:
        xs, ys, winners, weights, total = ours
        scores, _ = _brzo.bradley_terry(
            xs=xs,
            ys=ys,
            winners=winners,
            weights=weights,
            total=total,
            win_weight=1.0,
            tie_weight=0.5,
            **stop,
        )
        return np.log(scores)

    default = Tool(
        "evalica",
        prepare=evalica_input,
        fit=lambda ours: fit(ours, tolerance=1e-6, limit=100),
        from_frame=lambda frame: evalica_input(coded(frame)),
    )
    tight = replace(
        default,
        name="evalica, tolerance 1e-12",
        fit=lambda ours: fit(ours, tolerance=1e-12, limit=100_000),
    )
    return [default, tight]


def evalica_input(problem: Problem) -> tuple[list[int], list[int], list[int], list[float], int]:
    """Return evalica's lists; a soft credit becomes a weighted win and a weighted loss."""
    a, b, credit = problem.a, problem.b, problem.credit
    first, second, size = 1, 2, problem.models
    if np.isin(credit, (0.0, 0.5, 1.0)).all():
        winners = np.where(credit == 1, first, np.where(credit == 0, second, 0))
        return a.tolist(), b.tolist(), winners.tolist(), [1.0] * len(a), size
    winners = np.repeat([first, second], len(a))
    weights = np.concatenate([credit, 1 - credit])
    return np.tile(a, 2).tolist(), np.tile(b, 2).tolist(), winners.tolist(), weights.tolist(), size


def evalica_public() -> list[Tool]:
    """Evalica through `evalica.bradley_terry`, which indexes lists of names itself."""
    import evalica

    def fit(ours: tuple[list[Any], list[Any], list[Any]]) -> np.ndarray:
        return np.log(evalica.bradley_terry(*ours).scores.sort_index().to_numpy())

    def from_frame(frame: pd.DataFrame) -> tuple[list[Any], list[Any], list[Any]]:
        credit = frame["credit"].to_numpy()
        outcomes = np.array([evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X], dtype=object)
        winners = outcomes[(2 * credit).astype(int)]
        return frame["model_a"].tolist(), frame["model_b"].tolist(), winners.tolist()

    def prepare(problem: Problem) -> tuple[list[Any], list[Any], list[Any]]:
        return from_frame(
            pd.DataFrame({"model_a": problem.a, "model_b": problem.b, "credit": problem.credit})
        )

    return [Tool("evalica.bradley_terry", prepare, fit, from_frame, soft=False)]


def choix() -> list[Tool]:
    """Choix's iterative Luce spectral ranking on the matrix of counts, default and tight."""
    import choix

    def fit(won: np.ndarray, **stop: float) -> np.ndarray:
        try:
            return choix.ilsr_pairwise_dense(won, **stop)
        except RuntimeError:
            return np.full(len(won), np.nan)

    default = Tool("choix", prepare=wins, fit=fit, from_frame=lambda frame: wins(coded(frame)))
    return [
        default,
        replace(
            default, name="choix, tol 1e-12", fit=lambda won: fit(won, tol=1e-12, max_iter=2_000)
        ),
    ]


def statsmodels() -> list[Tool]:
    """A binomial GLM of statsmodels on pair counts, the first model as the reference."""
    from statsmodels.api import GLM, families

    def fit(ours: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        counts, design = ours
        return np.concatenate([[0.0], GLM(counts, design, family=families.Binomial()).fit().params])

    return [
        Tool(
            "statsmodels GLM",
            prepare=statsmodels_input,
            fit=fit,
            from_frame=lambda frame: statsmodels_input(coded(frame)),
        )
    ]


def statsmodels_input(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return wins and losses per pair, and the signed design."""
    won = wins(problem)
    low, high = np.nonzero(np.triu(won + won.T, 1))
    design = np.zeros((len(low), problem.models))
    rows = np.arange(len(low))
    design[rows, low], design[rows, high] = 1, -1
    return np.column_stack([won[low, high], won[high, low]]), design[:, 1:]


def arena_rank() -> list[Tool]:
    """Arena-Rank's Bradley-Terry (L-BFGS in JAX, double precision)."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    def from_frame(frame: pd.DataFrame) -> Any:
        return PairDataset.from_pandas(frame, outcome_col="credit", outcome_map=float)

    def fit(dataset: Any) -> np.ndarray:
        return np.asarray(BradleyTerry(dataset.n_competitors).fit(dataset).params["ratings"])

    def prepare(problem: Problem) -> Any:
        return from_frame(
            pd.DataFrame({"model_a": problem.a, "model_b": problem.b, "credit": problem.credit})
        )

    return [Tool("arena-rank", prepare, fit, from_frame)]


CONTENDERS = {
    "podium": podium,
    "evalica": lambda: [*evalica(), *evalica_public()],
    "choix": choix,
    "statsmodels": statsmodels,
    "arena-rank": arena_rank,
}
"""Distribution and its ways to fit."""


def installed(without: Collection[str] = ()) -> tuple[list[Tool], list[str]]:
    """Return the tools that can be imported, and a note per distribution: its version, or that it
    is missing."""
    tools, notes = [], []
    for name in [name for name in CONTENDERS if name not in without]:
        try:
            tools += CONTENDERS[name]()
            notes.append(f"{name} {version(name)}")
        except ImportError:
            notes.append(f"{name} not installed (skipped)")
    return tools, notes
