"""Share of the variance of Kendall's tau with a gold ranking that judge, realization and
aggregation explain.

    python benchmarks/judge_anova.py [TAUS.csv]
    python benchmarks/judge_anova.py VERDICTS... --gold RANKING.csv

TAUS.csv has a row per ranking with the columns judge, realization, aggregation and tau; by default
table 2 of JuStRank without its reward models. From verdicts of several judges, named
`model|realization|...`, tau is computed against the columns model and score of RANKING.csv. Sums of
squares are of type II; intervals invert the non-central F. Source: Gera et al. 2025 (JuStRank),
appendix D, whose F and partial eta squared follow from its table 2.
"""

import argparse
import warnings
from pathlib import Path

import pandas as pd
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.oneway import confint_noncentrality

import podium

INTERACTIONS = (("judge", "realization"), ("realization", "aggregation"))
FACTORS = ["judge", "realization", "aggregation"]
AGGREGATIONS = ("bradley-terry", "win-rate", "mean", "median")
TABLE_2 = Path(__file__).with_name("justrank_table_2.csv")


def compute_taus(sources: list[str], gold: pd.Series) -> pd.DataFrame:
    """Rank each judge's verdicts by every aggregation; one that ranks as another does for all
    judges is left out."""
    rows = []
    for name in podium.read_battles(*sources).judges:
        battles = podium.read_battles(*sources, where={"judge": name})
        for aggregation in AGGREGATIONS:
            try:
                ranking = podium.rank(battles, aggregation, answers=False).to_frame()
            except podium.NotIdentifiedError:
                continue
            tau = ranking.set_index("model")["score"].corr(gold, method="kendall")
            rows.append((*f"{name}||".split("|")[:2], aggregation, tau))
    taus = pd.DataFrame(rows, columns=[*FACTORS, "tau"]).dropna()
    table = taus.pivot_table("tau", FACTORS[:2], "aggregation").round(9)
    return taus[taus["aggregation"].isin(table.T.drop_duplicates().index)]


def analyse_variance(
    taus: pd.DataFrame, interactions: tuple[tuple[str, str], ...] = INTERACTIONS
) -> pd.DataFrame:
    """Return degrees of freedom, partial eta squared, the 95% interval of its true value, F and p
    per effect."""
    factors = [name for name in FACTORS if taus[name].nunique() > 1]
    terms = [(name,) for name in factors] + [
        pair for pair in interactions if set(pair) <= set(factors)
    ]

    def fit(chosen):
        return ols(
            " + ".join(["tau ~ 1", *(":".join(f"C({name})" for name in term) for term in chosen)]),
            taus,
        ).fit()

    whole, effects = fit(terms), {}
    if whole.df_resid < 1 and not interactions:
        raise SystemExit(
            "the factors explain every tau: give more judges, each in several realizations"
        )
    if whole.df_resid < 1:
        return analyse_variance(taus, interactions[:-1])
    for term in terms:
        others = [other for other in terms if not set(term) <= set(other)]
        without, within = fit(others), fit([*others, term])
        square, freedom = without.ssr - within.ssr, max(without.df_resid - within.df_resid, 1)
        f = square / freedom / (whole.ssr / whole.df_resid)
        ends = confint_noncentrality(f, (freedom, whole.df_resid))
        low, high = (end / (end + freedom + whole.df_resid + 1) for end in ends)
        partial, p = square / (square + whole.ssr), stats.f.sf(f, freedom, whole.df_resid)
        effects[" x ".join(term)] = (freedom, partial, low, high, f, p)
    return pd.DataFrame.from_dict(
        effects, "index", columns=["freedom", "partial", "low", "high", "F", "p"]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("sources", nargs="*", default=[TABLE_2])
    parser.add_argument("--gold")
    given = parser.parse_args()
    # Expected: not every aggregation exists for every realization. Degrees of freedom are those of
    # the rank.
    warnings.filterwarnings("ignore", "The design matrix is rank-deficient")
    gold = given.gold and pd.read_csv(given.gold).set_index("model")["score"]
    taus = pd.read_csv(given.sources[0]) if gold is None else compute_taus(given.sources, gold)
    print(analyse_variance(taus).round(4).to_string())
