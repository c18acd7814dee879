"""How to spend the calls of a jury: all judges on each battle, one judge, one judge per battle in
rotation, and the ranker judge-aware, over juries with known truth drawn by NumPy
(`tests/drawn_juries.py`).

    python benchmarks/juries.py errors            # RMSE at equal calls: about three minutes python
    benchmarks/juries.py coverage          # of 95% intervals: about two minutes python
    benchmarks/juries.py shared            # pairs of judges that share errors: about two minutes
    python benchmarks/juries.py recorded          # beside evaluatorq's fit_bt on recorded juries,
    if it is installed python benchmarks/juries.py errors --worlds 20 --markdown

Errors are in Elo, after the best common rescaling. `recorded` needs `pip install --no-deps
evaluatorq loguru` and a folder with tables of judges and humans (`--recorded FOLDER`).
"""

import argparse
import importlib.util
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import binomtest, kendalltau
from tables import show

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from drawn_juries import MODELS, Jury, play_world

import podium
from podium.defaults import REGULARIZATION
from podium.rankers.errors.intervals import t_quantile
from podium.rankers.errors.judge_slopes import JuryBattles, SlopeFit, fit_slopes
from podium.rankers.errors.one_truth import one_truth_test
from podium.rankers.errors.shared_errors import shared_errors
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.judge_aware import REJECTION_P

POINTS = 400 / np.log(10)
CALLS = 4200
CIRCLE = 2 * MODELS
"""Calls of one judge for a circle of all models in both orders."""
JURIES = {
    "item effects": Jury(),
    "strongly shared errors": Jury(shared=0.8),
    "few item effects": Jury(shared=0.15, own=0.1),
    "only 50 items": Jury(),
    "judges with tastes": Jury(taste=0.4),
}
WORLDS = {"judges with tastes": 300}
"""Worlds of each jury; 100 for others."""
PAIRS = ((0, 1), (0, 2), (1, 2))


def coded(frame: pd.DataFrame, judges: int) -> JuryBattles:
    """Return battles of a drawn table as the ranker takes them."""
    number = {
        side: frame[side].str[1:].astype(int).to_numpy() for side in ("item", "model_a", "model_b")
    }
    names = tuple(f"m{k}" for k in range(MODELS))
    battles = CodedBattles(
        number["model_a"],
        number["model_b"],
        frame["credit"].to_numpy(),
        np.ones(len(frame)),
        number["item"],
        int(number["item"].max()) + 1,
        "item",
        names,
    )
    judge = frame["judge"].str.rpartition("-")[2].astype(int).to_numpy()
    return JuryBattles(
        battles, judge, tuple(f"judge-{k}" for k in range(judges)), np.zeros(len(frame))
    )


def fits(data: JuryBattles, rng: np.random.Generator) -> tuple[SlopeFit, SlopeFit]:
    """Return the fit with equal slopes, and that which judge-aware chooses by its test."""
    plain = fit_slopes(data, np.zeros(MODELS), REGULARIZATION, equal=True)
    free = fit_slopes(data, plain.theta, REGULARIZATION)
    return plain, free if one_truth_test(free, rng).p_value >= REJECTION_P else plain


def error(fit: SlopeFit, truth: np.ndarray) -> float:
    """Return the root mean squared error in Elo after the best common rescaling."""
    scale = (fit.theta @ truth) / (fit.theta @ fit.theta)
    return float(POINTS * np.sqrt(np.mean((scale * fit.theta - truth) ** 2)))


def errors_in_world(name: str, jury: Jury, seed: int) -> dict[str, float]:
    """Return the error of each way to spend the calls in one world."""
    rng = np.random.default_rng(seed)
    strengths, tastes = jury.draw_world(rng)
    few, judges = name == "only 50 items", len(jury.slopes)
    sizes = {
        "all": CALLS // (CIRCLE * judges),
        "rotate": CALLS // CIRCLE,
        "overlap": int(CALLS / (CIRCLE * 1.2)),
    }
    items = dict.fromkeys(sizes, 50) if few else sizes

    def data_of(design: str, jury: Jury = jury, **how: object) -> JuryBattles:
        frame = play_world(
            jury, strengths + tastes, rng, items=items[design], every_pair=few, **how
        )
        return coded(frame, len(jury.slopes))

    best = replace(jury, slopes=jury.slopes[:1])
    rotated, overlapped = data_of("rotate"), data_of("overlap", overlap=0.1)
    plain, aware = fits(rotated, rng)
    return {
        "all judges, mean": error(fits(data_of("all", rotate=False), rng)[0], strengths),
        "the best judge alone": error(
            fit_slopes(data_of("rotate", best), np.zeros(MODELS), REGULARIZATION, equal=True),
            strengths,
        ),
        "rotation": error(plain, strengths),
        "rotation, judge-aware": error(aware, strengths),
        "rotation with overlap 0.1, judge-aware": error(fits(overlapped, rng)[1], strengths),
    }


def report_errors(worlds: int | None, markdown: bool) -> None:
    """Print the errors of all juries, and the paired comparisons."""
    tables = {}
    for name, jury in JURIES.items():
        number = worlds or WORLDS.get(name, 100)
        tables[name] = pd.DataFrame([errors_in_world(name, jury, seed) for seed in range(number)])
    ways = next(iter(tables.values())).columns
    rows = [[way, *(f"{table[way].mean():.1f}" for table in tables.values())] for way in ways]
    rows.append(["worlds", *(f"{len(table)}" for table in tables.values())])
    show(
        f"RMSE in Elo, {CALLS:,} calls (50 items: all pairs on each)",
        ["", *tables],
        rows,
        markdown=markdown,
    )
    pairs = (("rotation", "all judges, mean"), ("rotation, judge-aware", "rotation"))
    rows = []
    for first, second in pairs:
        for name, table in tables.items():
            gap = table[first] - table[second]
            half = 1.96 * gap.std() / np.sqrt(len(gap))
            ratio = table[first].mean() / table[second].mean()
            rows.append(
                [f"{first} / {second}", name, f"{ratio:.3f}", f"{gap.mean():+.2f} ± {half:.2f}"]
            )
    show(
        "ratio of mean RMSE, and paired difference with its 95% interval",
        ["", "jury", "ratio", "difference"],
        rows,
        markdown=markdown,
    )


def limit_of(jury: Jury, theta: np.ndarray, *, equal: bool) -> np.ndarray:
    """Return the strengths of a fit on infinitely many items: to the expected credit of each judge
    and pair."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    spread = np.sqrt(2 * (jury.shared**2 + jury.own**2))
    a, b = np.triu_indices(MODELS, 1)
    gaps = (theta[:, a] - theta[:, b])[:, :, None] + spread * nodes
    logits = np.array(jury.slopes)[:, None, None] * gaps
    credit = (
        sum(expit(logits + sign * jury.position) for sign in (1, -1)) / 2 @ weights / weights.sum()
    )
    judges, names = len(jury.slopes), tuple(f"m{k}" for k in range(MODELS))
    cells = np.tile(a, judges), np.tile(b, judges), credit.ravel(), np.ones(credit.size)
    battles = CodedBattles(*cells, np.zeros(credit.size, dtype=int), 1, "item", names)
    judge = np.repeat(np.arange(judges), len(a))
    data = JuryBattles(
        battles, judge, tuple(f"judge-{k}" for k in range(judges)), np.zeros(credit.size)
    )
    plain = fit_slopes(data, np.zeros(MODELS), 0.0, equal=True)
    return (plain if equal else fit_slopes(data, plain.theta, 0.0)).theta


def report_coverage(worlds: int | None, markdown: bool) -> None:
    """Print how often 95% intervals of scores hold the limit of their own estimator."""
    rows = []
    for name, jury in JURIES.items():
        few, held = name == "only 50 items", {"rotation": [], "rotation, judge-aware": []}
        for seed in range(worlds or 200):
            rng = np.random.default_rng(10_000 + seed)
            strengths, tastes = jury.draw_world(rng)
            items = 50 if few else CALLS // CIRCLE
            data = coded(
                play_world(jury, strengths + tastes, rng, items=items, every_pair=few),
                len(jury.slopes),
            )
            for way, fit in zip(held, fits(data, rng), strict=True):
                limit = limit_of(jury, strengths + tastes, equal=fit.has_equal_slopes)
                se = np.sqrt(np.diag(fit.covariance())[:MODELS])
                held[way].extend(
                    np.abs(fit.theta - limit) <= t_quantile(data.coded.clusters, 0.95) * se
                )
        rows += [
            [name, way, f"{np.mean(inside):.3f}", f"{len(inside):,}"]
            for way, inside in held.items()
        ]
    show(
        "coverage of 95% intervals",
        ["jury", "ranker", "coverage", "intervals"],
        rows,
        markdown=markdown,
    )


def share(hits: int, number: int) -> str:
    """Format a share with its 95% interval."""
    ends = binomtest(hits, number).proportion_ci()
    return f"{hits / number:.0%} [{ends.low:.0%}, {ends.high:.0%}]"


def report_shared(worlds: int | None, markdown: bool) -> None:
    """Print how often a pair of judges is named: 400 battles judged by all, the rest of the calls
    in rotation."""
    number, rows = worlds or 100, []
    cases = {
        f"two judges, {name}": replace(JURIES[name], copied=0.65)
        for name in ("few item effects", "item effects")
    }
    cases |= {
        f"none, {name}": JURIES[name]
        for name in ("item effects", "strongly shared errors", "few item effects")
    }
    for name, case in cases.items():
        hits = others = 0
        correlations = []
        for seed in range(number):
            pair = PAIRS[seed % 3] if case.copied else None
            planted, jury = {f"judge-{k}" for k in pair or ()}, replace(case, copies=pair)
            rng = np.random.default_rng(20_000 + seed)
            strengths, tastes = jury.draw_world(rng)
            items = CALLS // CIRCLE
            data = coded(
                play_world(jury, strengths + tastes, rng, items=items, overlap=400 / (8 * items)), 3
            )
            found = shared_errors(fit_slopes(data, np.zeros(MODELS), REGULARIZATION))
            named = [set(pair.judges) for pair in found if pair.is_named]
            correlations += [
                pair.correlation for pair in found if not planted or set(pair.judges) == planted
            ]
            hits += planted in named
            others += any(pair != planted for pair in named)
        own = share(hits, number) if case.copied else ""
        rows.append([name, own, share(others, number), f"{np.mean(correlations):.2f}", f"{number}"])
    header = [
        "pair that shares errors",
        "named",
        "another pair named",
        "its correlation, or the mean",
        "worlds",
    ]
    show("shared errors", header, rows, markdown=markdown)


def report_recorded(folder: Path, markdown: bool) -> None:
    """Print Kendall's tau with human ratings and seconds, beside evaluatorq's fit_bt."""
    spec = importlib.util.find_spec("evaluatorq")
    if spec is None or spec.origin is None:
        sys.exit("evaluatorq is not installed: pip install --no-deps evaluatorq loguru")
    where = importlib.util.spec_from_file_location(
        "evaluatorq_ranking", Path(spec.origin).with_name("ranking.py")
    )
    ranking = importlib.util.module_from_spec(where)
    sys.modules["evaluatorq_ranking"] = ranking
    where.loader.exec_module(ranking)
    rows = []
    for path in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(path)
        votes = frame.dropna(subset=["human"]).drop_duplicates(["item", "model_a", "model_b"])
        human = scores_of(
            votes.assign(credit=votes["human"])[["item", "model_a", "model_b", "credit"]],
            "bradley-terry",
        )
        began = time.perf_counter()
        own = scores_of(frame[["item", "model_a", "model_b", "credit", "judge"]], "judge-aware")
        seconds = time.perf_counter() - began
        cells = frame.groupby(
            ["judge", "model_a", "model_b", "credit"], as_index=False, observed=True
        ).size()
        began = time.perf_counter()
        given = [
            ranking.JudgedComparison(item_a=a, item_b=b, judge=judge, p_a=credit, weight=float(n))
            for judge, a, b, credit, n in cells.itertuples(index=False)
        ]
        skills = ranking.fit_bt(given).skills
        theirs = time.perf_counter() - began
        names = sorted(human)
        taus = [
            kendalltau([human[n] for n in names], [known[n] for n in names]).statistic
            for known in (own, skills)
        ]
        rows.append(
            [
                path.stem,
                *(f"{tau:.3f}" for tau in taus),
                f"{seconds:.2f}",
                f"{theirs:.2f}",
                f"{seconds / theirs:.2f}",
            ]
        )
    header = [
        "recorded jury",
        "tau, judge-aware",
        "tau, fit_bt",
        "seconds, judge-aware",
        "seconds, fit_bt",
        "ratio",
    ]
    show(
        "Kendall's tau with human ratings; judge-aware with intervals and tests, fit_bt without",
        header,
        rows,
        markdown=markdown,
    )


def scores_of(frame: pd.DataFrame, ranker: str) -> dict[str, float]:
    """Return the scores of a table by model."""
    standings = podium.rank(frame, [ranker], pool=True).standings[0]
    return {entry.model: entry.score for entry in standings.entries}


def main() -> None:
    """Print one section."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=["errors", "coverage", "shared", "recorded"])
    parser.add_argument(
        "--worlds", type=int, help="of each jury; by default as many as show the bar"
    )
    parser.add_argument("--recorded", type=Path, help="folder with tables")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.section == "recorded":
        if options.recorded is None:
            parser.error("recorded needs --recorded FOLDER")
        report_recorded(options.recorded, options.markdown)
        return
    sections = {"errors": report_errors, "coverage": report_coverage, "shared": report_shared}
    sections[options.section](options.worlds, options.markdown)


if __name__ == "__main__":
    main()
