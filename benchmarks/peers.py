"""Podium compared with evalica, choix, statsmodels and arena-rank: speed, exactness, intervals,
sparse designs, memory.

    python benchmarks/peers.py             # about ten minutes on two cores
    python benchmarks/peers.py --quick     # a tenth of the battles; goals are for the full size
    python benchmarks/peers.py --markdown  # tables as Markdown

Seconds are the median of up to eleven runs after a warm-up (fewer where they take long), the best
run in brackets. Everything is seeded.
"""

import argparse
import multiprocessing
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from contenders import (
    Problem,
    Tool,
    arena_rank,
    evalica_public,
    exact,
    installed,
    podium_input,
    wins,
)
from tables import Timing, machine, show, timed, timed_in_turn

from podium import rank, read_battles
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.errors.intervals import resample
from podium.rankers.fit.pairs import cells_by_cluster, pair_sums
from podium.rankers.fit.strengths import Strengths, fit_strengths

POINTS = 400 / np.log(10)
SEED = 20240501


@dataclass(frozen=True, slots=True)
class Goal:
    """What podium should reach, and what it did."""

    what: str
    target: str
    measured: str
    met: bool


@dataclass(frozen=True, slots=True)
class Speed:
    """Timings of one tool: on its own input, from coded arrays, from string columns."""

    own: Timing
    arrays: Timing
    strings: Timing


def main() -> None:
    """Run every comparison and print the goals last."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the battles, items and resamples"
    )
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument(
        "--without", default="", help="tools to leave out, for example statsmodels,arena-rank"
    )
    arguments = parser.parse_args()
    tools, notes = installed(arguments.without.split(","))
    warnings.simplefilter("ignore")
    print(machine(*notes))
    part = 10 if arguments.quick else 1
    hard, soft = drawn(1_000_000 // part, 5_000 // part, 200)
    goals = [
        *fits(tools, hard, soft, arguments.markdown),
        *intervals(tools, hard, 100 // part, 1_000 // part, arguments.markdown),
        *sparse_designs(tools, arguments.markdown),
    ]
    memory(tools, hard, arguments.markdown)
    show(
        "Goals (podium, judged by the median)",
        ["goal", "target", "measured", "met"],
        [[one.what, one.target, one.measured, "yes" if one.met else "NO"] for one in goals],
        markdown=arguments.markdown,
    )


def drawn(battles: int, items: int, models: int) -> tuple[Problem, Problem]:
    """Draw random pairings with item-by-model effects; return wins and losses, and their
    probabilities."""
    rng = np.random.default_rng(SEED)
    a = rng.integers(0, models, battles)
    b = (a + rng.integers(1, models, battles)) % models
    item = rng.integers(0, items, battles)
    quality = rng.normal(0, 1, models) + rng.normal(0, 0.5, (items, models))
    chance = 1 / (1 + np.exp(quality[item, b] - quality[item, a]))
    hard = Problem(a, b, (rng.random(battles) < chance) * 1.0, item, models, items)
    return hard, replace(hard, credit=chance)


def fits(tools: list[Tool], hard: Problem, soft: Problem, markdown: bool) -> list[Goal]:
    """Compare the time and the error of maximum-likelihood fits."""
    optima = exact(wins(hard)), exact(wins(soft))
    speeds = _speeds(tools, hard)
    errors = {tool.name: _errors(tool, (hard, soft), optima) for tool in tools}
    show(
        f"Bradley-Terry fit of {len(hard.a):,} battles, {hard.items:,} items, {hard.models} "
        "models: seconds, and largest error of a log-strength",
        [
            "tool",
            "own input",
            "coded arrays",
            "string columns",
            "error, hard",
            "error, soft credits",
        ],
        [
            [name, str(one.own), str(one.arrays), str(one.strings), *map(_error, errors[name])]
            for name, one in speeds.items()
        ],
        markdown=markdown,
    )
    print(
        "\nown input: the fit alone, on what the tool's numerical core takes (podium: coded "
        "arrays; evalica: lists of codes;\nchoix: matrix of counts; statsmodels: pair counts and "
        "design; arena-rank: its dataset). `evalica.bradley_terry`\nis the public function; the "
        "rows above it call the compiled core directly."
    )
    return _fit_goals(speeds, errors)


def _speeds(tools: list[Tool], problem: Problem) -> dict[str, Speed]:
    frame = problem.frame()
    inputs = {tool.name: tool.prepare(problem) for tool in tools}
    own = timed_in_turn(
        {tool.name: partial(_fit, tool, inputs.__getitem__, tool.name) for tool in tools}
    )
    arrays = timed_in_turn(
        {tool.name: partial(_fit, tool, tool.prepare, problem) for tool in tools}, warm=False
    )
    strings = timed_in_turn(
        {tool.name: partial(_fit, tool, tool.from_frame, frame) for tool in tools}, warm=False
    )
    return {name: Speed(own[name], arrays[name], strings[name]) for name in own}


def _fit(tool: Tool, prepare: Callable[[Any], Any], given: Any) -> np.ndarray:
    return tool.fit(prepare(given))


def _errors(
    tool: Tool, problems: tuple[Problem, Problem], optima: tuple[np.ndarray, np.ndarray]
) -> list[float | None]:
    return [
        _deviation(tool.fit(tool.prepare(problem)), optimum)
        if tool.soft or problem is problems[0]
        else None
        for problem, optimum in zip(problems, optima, strict=True)
    ]


def _fit_goals(speeds: dict[str, Speed], errors: dict[str, list[float | None]]) -> list[Goal]:
    ours = speeds["podium"]
    seconds, strings = ours.arrays.median, ours.strings.median
    worst = max(error for error in errors["podium"] if error is not None)
    goals = [
        Goal("fit from coded arrays", "<= 0.05 s", f"{seconds:.3f} s", seconds <= 0.05),
        Goal("fit from string columns", "<= 0.8 s", f"{strings:.3f} s", strings <= 0.8),
        Goal("error of log-strengths, hard and soft", "<= 1e-9", f"{worst:.1e}", worst <= 1e-9),
    ]
    if "evalica" in speeds:
        core, public = speeds["evalica"], speeds["evalica.bradley_terry"]
        for what, theirs in (
            ("evalica.bradley_terry from coded arrays", public.arrays),
            ("evalica.bradley_terry, its lists of codes ready", public.own),
            ("evalica's core, its lists ready", core.own),
        ):
            ratio = theirs.median / seconds
            goals.append(Goal(f"faster than {what}", ">= 10x", f"{ratio:.1f}x", ratio >= 10))
    return goals


def intervals(tools: list[Tool], hard: Problem, few: int, many: int, markdown: bool) -> list[Goal]:
    """Compare covariances and bootstraps, whatever each tool treats as independent."""
    names = {tool.name for tool in tools}
    ours = _podium_intervals(hard, few, many)
    rows = [
        ["podium", "items", str(ours.covariance), str(ours.few), str(ours.many)],
        ["podium, whole ranking", "items", str(ours.standings), "", str(ours.bootstrapped)],
    ]
    if "evalica" in names:
        rows.append(["evalica", "rows", "none", f"{_evalica_bootstrap(hard).scaled(few)} *", ""])
    if "arena-rank" in names:
        covariance, bootstrap = _arena_intervals(hard)
        rows.append(["arena-rank", "rows", str(covariance), f"{bootstrap.scaled(few)} *", ""])
    show(
        "Covariance and bootstrap, seconds (fit and input not counted)",
        ["tool", "independent", "sandwich", f"{few} resamples", f"{many:,} resamples"],
        rows,
        markdown=markdown,
    )
    print(
        "\n* seconds of one resample times the number. `whole ranking`: from battles to "
        "standings with rank sets. choix has no intervals;\nstatsmodels clusters a GLM by items "
        "only on unaggregated rows, here a design of "
        f"{len(hard.a) * (hard.models - 1) * 8 / 1e9:.1f} GB (checked small, below)."
    )
    goals = [
        Goal(
            "item-clustered sandwich",
            "<= 0.2 s",
            f"{ours.covariance.median:.3f} s",
            ours.covariance.median <= 0.2,
        ),
        Goal(f"{few} item bootstraps", "<= 3 s", f"{ours.few.median:.2f} s", ours.few.median <= 3),
        Goal(
            f"{many:,} item bootstraps",
            "<= 30 s",
            f"{ours.many.median:.2f} s",
            ours.many.median <= 30,
        ),
    ]
    if "statsmodels GLM" in names:
        difference = _covariance_difference()
        goals.append(
            Goal(
                "sandwich as statsmodels, clustered",
                "<= 1e-6 relative",
                f"{difference:.1e}",
                difference <= 1e-6,
            )
        )
    return goals


@dataclass(frozen=True, slots=True)
class PodiumIntervals:
    """Timings of podium's intervals, and of whole rankings that contain them."""

    covariance: Timing
    few: Timing
    many: Timing
    standings: Timing
    bootstrapped: Timing


def _podium_intervals(problem: Problem, few: int, many: int) -> PodiumIntervals:

    ours = podium_input(problem)
    strengths = fit_strengths(pair_sums(ours), 0.0)
    battles = read_battles(problem.frame())

    def bootstrap(resamples: int) -> Callable[[], object]:
        def run() -> object:
            cells = cells_by_cluster(ours, strengths.pairs)
            rng = np.random.default_rng(SEED)
            return resample(
                lambda counts: strengths.resampled_theta(cells, counts),
                ours.clusters,
                resamples,
                rng,
            )

        return run

    def ranking(**options: object) -> object:
        return bradley_terry(
            battles, rng=np.random.default_rng(SEED), regularization=0.0, **options
        )

    return PodiumIntervals(
        covariance=timed(lambda: _covariance(ours, strengths)),
        few=timed(bootstrap(few), repeats=7),
        many=timed(bootstrap(many), repeats=3, budget=40, warm=False),
        standings=timed(ranking, repeats=7),
        bootstrapped=timed(
            lambda: ranking(interval="bootstrap", resamples=many), repeats=1, warm=False
        ),
    )


def _covariance(ours: Any, strengths: Strengths) -> np.ndarray:
    return strengths.covariance(ours)


def _evalica_bootstrap(problem: Problem) -> Timing:
    """Return the time of one resample: a bootstrap of 3 less one of 1, halved."""
    import evalica

    xs, ys, winners = evalica_public()[0].from_frame(problem.frame())

    def run(resamples: int) -> Timing:
        return timed(
            lambda: evalica.bootstrap(
                evalica.bradley_terry,
                xs,
                ys,
                winners,
                n_resamples=resamples,
                bootstrap_method="percentile",
                random_state=SEED,
            ),
            repeats=1,
            warm=False,
        )

    return Timing(((run(3).best - run(1).best) / 2,))


def _arena_intervals(problem: Problem) -> tuple[Timing, Timing]:
    """Return the times of a sandwich and of one resample, fitted in this process."""
    from arena_rank.models.bradley_terry import BradleyTerry, fit_single_bootstrap_sample

    dataset = arena_rank()[0].prepare(problem)
    model = BradleyTerry(problem.models).fit(dataset)
    sandwich = timed(lambda: np.asarray(model.compute_ratings_and_cis(dataset)["variances"]))
    one = timed(
        lambda: np.asarray(fit_single_bootstrap_sample(dataset.counts, model, dataset)["ratings"]),
        repeats=3,
    )
    return sandwich, one


def _covariance_difference() -> float:
    """Return the largest relative difference of standard errors from a GLM on rows clustered by
    item."""
    from statsmodels.api import GLM, families

    small, _ = drawn(20_000, 200, 20)
    ours = podium_input(small)
    ours_covariance = _covariance(ours, fit_strengths(pair_sums(ours), 0.0))
    design = np.zeros((len(small.a), small.models))
    rows = np.arange(len(small.a))
    design[rows, small.a], design[rows, small.b] = 1, -1
    groups = {"groups": small.item, "use_correction": False}
    fit = GLM(small.credit, design[:, 1:], family=families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds=groups
    )
    variance = np.diag(ours_covariance)[1:] + ours_covariance[0, 0] - 2 * ours_covariance[0, 1:]
    factor = np.sqrt(small.items / (small.items - 1))
    return float(np.abs(np.sqrt(variance) / (fit.bse * factor) - 1).max())


def sparse_designs(tools: list[Tool], markdown: bool) -> list[Goal]:
    """Compare Elo errors if only models of neighbouring strength meet."""
    designs = {"4-neighbour ring": ring(200), "chain": chain(200)}
    problems = {name: neighbours(pairs, 500) for name, pairs in designs.items()}
    optima = {name: exact(wins(problem)) for name, problem in problems.items()}
    errors = {
        tool.name: [
            POINTS * _deviation(tool.fit(tool.prepare(problem)), optima[name])
            for name, problem in problems.items()
        ]
        for tool in tools
    }
    show(
        "Largest Elo error if only models of neighbouring strength meet: 200 models, 500 battles "
        "per edge",
        ["tool", *problems],
        [[name, *map(_error, row)] for name, row in errors.items()],
        markdown=markdown,
    )
    print(
        "\n"
        + "\n".join(
            f"podium on the {name}: {_design_note(problem)}" for name, problem in problems.items()
        )
    )
    worst = max(errors["podium"])
    return [Goal("Elo error on sparse designs", "<= 1e-6", f"{worst:.1e}", worst <= 1e-6)]


def ring(models: int) -> np.ndarray:
    """Return each model's pairs with the next two, around the circle, shape (pairs, 2)."""
    here = np.arange(models)
    return np.concatenate([np.column_stack([here, (here + step) % models]) for step in (1, 2)])


def chain(models: int) -> np.ndarray:
    """Return each model's pair with the next, shape (pairs, 2)."""
    return np.column_stack([np.arange(models - 1), np.arange(1, models)])


def neighbours(pairs: np.ndarray, battles: int) -> Problem:
    """Draw battles between models sorted by strength."""
    rng = np.random.default_rng(SEED)
    theta = np.sort(rng.normal(0, 1, pairs.max() + 1))
    a, b = np.repeat(pairs, battles, axis=0).T
    credit = (rng.random(len(a)) < 1 / (1 + np.exp(theta[b] - theta[a]))) * 1.0
    return Problem(a, b, credit, np.tile(np.arange(battles), len(pairs)), len(theta), battles)


def _design_note(problem: Problem) -> str:
    """Return the design efficiency and podium's warning about a weakly identified design."""
    standings = rank(problem.frame(), "bradley-terry", regularization=0.0).standings[0]
    warning = next(
        (one for one in standings.warnings if one.startswith("weakly identified")), "no warning"
    )
    return f"design efficiency {standings.diagnostics['design_efficiency']:.4f}; {warning}"


def memory(tools: list[Tool], hard: Problem, markdown: bool) -> None:
    """Compare the memory that a fit from string columns needs beyond the frame."""
    frame = hard.frame()
    size = frame.memory_usage(deep=True).sum() / 1e6
    path = Path(__file__).with_name("memory.tmp.parquet")
    try:
        frame.to_parquet(path)
        rows = [[tool.name, _peak(tool.name, path)] for tool in tools]
    finally:
        path.unlink(missing_ok=True)
    show(
        f"Peak memory of a fit from string columns beyond the frame's own {size:.0f} MB, process "
        "by process",
        ["tool", "MB"],
        rows,
        markdown=markdown,
    )


def _peak(name: str, path: Path) -> str:
    print(f"weighing {name}", file=sys.stderr)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_here, (name, str(path)))


def _peak_here(name: str, path: str) -> str:
    """Return the growth of resident memory during one fit after a small one has loaded all code."""
    tool = next(one for one in installed()[0] if one.name == name)
    warnings.simplefilter("ignore")
    small = drawn(2_000, 20, 10)[0].frame()
    tool.fit(tool.from_frame(small))
    frame = pd.read_parquet(path)
    try:
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmHWM")
        tool.fit(tool.from_frame(frame))
        return f"{(_status('VmHWM') - before) / 1e3:.0f}"
    except OSError:
        return "not known on this system"


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def _deviation(theta: np.ndarray, optimum: np.ndarray) -> float:
    return float(np.abs(theta - theta.mean() - optimum).max())


def _error(value: float | None) -> str:
    if value is None:
        return "not possible"
    return (
        "did not converge"
        if np.isnan(value)
        else f"{value:.1e}"
        if value < 0.01
        else f"{value:.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
