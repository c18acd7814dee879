"""Other names, another order of the rows, other sides: every figure stays the same, to 1e-9."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from disguises import NAME, differences, disguise, figures_of, new_names

from podium import Judge, PodiumError, calibrate, diagnose, rank, read_battles, simulate
from podium.diagnosis.subject import Gold
from podium.rankers.calibration.accuracy import select_best
from podium.rankers.calibration.calibration_run import calibrate_targets

MODELS = tuple(f"model-{letter}" for letter in "abcdef")
FEW = {"interval": "bootstrap", "resamples": 40}
RANKERS = [
    ("bradley-terry", {}),
    ("bradley-terry", {"labels": "hard", "pin": "model-b:1000"}),
    ("bradley-terry", {"cluster": "row"}),
    ("bradley-terry", FEW),
    ("bradley-terry", {**FEW, "cluster": "row"}),
    ("bradley-terry", {"length_control": True}),
    ("soft-elo", {"hard": True}),
    ("soft-elo", {"target": "criteria"}),
    ("win-rate", {}),
    ("win-rate", FEW),
    ("win-rate", {"cluster": "row"}),
    ("win-rate", {"anchor": "model-c"}),
    ("win-rate", {"anchor": "model-c", "length_control": True}),
    ("informativeness", {}),
    ("informativeness", FEW),
    ("mean", {}),
    ("mean", FEW),
    ("median", {"resamples": 40}),
]
"""With options; names of models in them are dealt anew, too."""
TABLES = ("round robin", "some battles", "no items")
RANKED = (*TABLES, "newcomers")
"""For rankings: also with a model of few battles, one that won all of its few, and weights."""


@cache
def table_of(kind: str) -> pd.DataFrame:
    """Return judgments with everything that a table may hold."""
    world, rng = simulate(MODELS, 30, seed=5, spread=0.8), np.random.default_rng(7)
    judge = Judge(
        "gpt-x|rubric|1a", noise=0.7, length_bias=0.5, position_bias=0.3, tie=0.2, unparsed=0.03
    )
    table = world.judgments(judge, human=True, repeats=2)
    table["margin"] = table["margin"].round(1)
    seen = table["margin"].fillna(0)
    table["score_a"] = np.round(rng.normal(5, 1, len(table)) + seen / 2, 1)
    table["score_b"] = table["score_a"] - seen
    for criterion in ("tone", "truth"):
        table[f"margin_{criterion}"] = table["margin"] + rng.normal(0, 0.5, len(table))
    if kind == "some battles":
        return table.sample(frac=0.5, random_state=1).reset_index(drop=True)
    if kind == "newcomers":
        uneven = with_newcomers(table)
        return uneven.assign(weight=rng.choice([0.5, 1.0, 2.0], len(uneven)))
    if kind == "no items":
        alone = table[(table["order"] == "ab") & (table["repeat"] == 0)]
        return (
            alone.drop(columns=["item", "repeat"])
            .sample(frac=0.9, random_state=1)
            .reset_index(drop=True)
        )
    return table


def with_newcomers(table: pd.DataFrame) -> pd.DataFrame:
    """Leave one model four items and another six, all of which it wins."""
    one, lucky = (
        (table[["model_a", "model_b"]] == name).any(axis=1) for name in ("model-f", "model-e")
    )
    items = table["item"].unique()
    kept = (
        ~(one & ~table["item"].isin(items[:4]))
        & ~(lucky & ~table["item"].isin(items[4:10]))
        & ~(one & lucky)
    )
    table, lucky = table[kept].reset_index(drop=True), lucky[kept].to_numpy()
    side = np.where(table["model_a"] == "model-e", 1.0, -1.0)[lucky]
    for name in [name for name in table if name.startswith("margin")]:
        table.loc[lucky, name] = side
    table.loc[lucky, "credit"] = (side + 1) / 2
    table.loc[lucky, "reason"] = None
    table.loc[lucky, "score_a"], table.loc[lucky, "score_b"] = 5.5 + side / 2, 5.5 - side / 2
    return table


def moved(
    answer: Callable[[pd.DataFrame, dict[str, str]], Any], kind: str, disguised: Callable = disguise
) -> list[str]:
    """Return the figures of an answer that differ between a table and the same in disguise."""
    same, names, seed = (
        {name: name for name in MODELS},
        new_names(list(MODELS), 1),
        RANKED.index(kind),
    )
    found = figures_of(answer(table_of(kind), same), same)
    assert len(found) > 20
    return differences(
        found, figures_of(answer(disguised(table_of(kind), names, seed), names), names)
    )


def without_provenance(answer: Any) -> dict[str, Any]:
    return {name: value for name, value in answer.to_dict().items() if name != "provenance"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", RANKED)
@pytest.mark.parametrize(("ranker", "options"), RANKERS)
def test_ranking_does_not_depend_on_names_response_order_or_row_order(ranker, options, kind):
    def ranking(table, names):
        renamed = {
            key: NAME.sub(lambda name: names[name[0]], value) if isinstance(value, str) else value
            for key, value in options.items()
        }
        return without_provenance(rank(table, ranker, **renamed))

    if (ranker, kind) == ("informativeness", "no items"):
        with pytest.raises(PodiumError, match="item"):
            ranking(table_of(kind), {name: name for name in MODELS})
        return
    assert moved(ranking, kind) == []


@pytest.mark.slow
def test_a_disguise_that_forgets_the_credit_is_seen():
    """The wrong variant: sides are swapped, and credits stay."""

    def half_swapped(table, names, seed):
        swapped = disguise(table.assign(row=np.arange(len(table))), names, seed)
        return swapped.assign(credit=table["credit"].to_numpy()[swapped["row"]]).drop(columns="row")

    apart = moved(
        lambda table, _: without_provenance(rank(table, "bradley-terry")),
        "round robin",
        half_swapped,
    )
    assert any("score" in figure for figure in apart)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("gold", [False, True])
def test_judge_card_does_not_depend_on_names_response_order_or_row_order(kind, gold):
    def card(table, names):
        scores = {names[name]: 40.0 * k for k, name in enumerate(MODELS)}
        apart = read_battles(table, merge=False)
        given = Gold("gold", scores=scores) if gold else None
        return without_provenance(diagnose(apart, read_battles(table), gold=given))

    assert moved(card, kind) == []


CALIBRATIONS = [
    {},
    {"bootstrap": 30},
    {"cluster": "row"},
    {"target": "smoothing"},
    {"target": "criteria", "level": 0.5},
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("options", CALIBRATIONS, ids=str)
def test_calibration_does_not_depend_on_names_response_order_or_row_order(kind, options):
    """At half the level, six models are enough for half splits: their draws are looked at, too."""

    def calibration(table, _):
        return without_provenance(calibrate(read_battles(table), **options))

    assert moved(calibration, kind) == []


@pytest.mark.slow
@pytest.mark.parametrize("bootstrap", [None, 30])
def test_newcomer_scores_do_not_depend_on_names_response_order_or_row_order(bootstrap):
    def placed(table, names):
        new = names["model-d"]
        old = table[(table["model_a"] != new) & (table["model_b"] != new)]
        calibration = calibrate(read_battles(old), bootstrap=bootstrap, level=0.5)
        return without_provenance(rank(table, "soft-elo", calibration=calibration, hard=True))

    assert moved(placed, "round robin") == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES[:2])
def test_target_comparison_does_not_depend_on_names_response_order_or_row_order(kind):
    assert moved(lambda table, _: targets_of(read_battles(table)), kind) == []


def targets_of(battles):
    """Return what `calibrate --compare` shows: every target, and what each errs beyond the best."""
    targets = calibrate_targets(battles, level=0.5)
    choice = select_best(targets, 0.5)
    beyond = {
        f"{k} {one.calibration.target.kind}": {name: asdict(gap) for name, gap in gaps.items()}
        for k, (one, gaps) in enumerate(choice.others)
    }
    best = (choice.best.calibration.target.kind, choice.best.kind)
    return {"targets": [without_provenance(one) for one in targets], "best": best, "beyond": beyond}


@cache
def battles_of(*sources, **options):
    """Read files once for all commands."""
    return read_battles(*sources, **options)


COMMANDS = {
    ranker: lambda sources, ranker=ranker: rank(battles_of(*sources), ranker).to_dict()["rankings"]
    for ranker in ("bradley-terry", "soft-elo", "win-rate", "informativeness", "mean", "median")
}
SLOW_COMMANDS = {
    "compare": lambda sources: targets_of(battles_of(*sources)),
    "diagnose": lambda sources: without_provenance(
        diagnose(battles_of(*sources, merge=False), battles_of(*sources))
    ),
}


@pytest.fixture(scope="module")
def two_files(tmp_path_factory):
    """Return two files with the same rows, of each kind of table."""
    folder = tmp_path_factory.mktemp("files")
    sources = {
        kind: [folder / f"{kind} {name}.csv" for name in ("verdicts", "again")] for kind in TABLES
    }
    for kind, pair in sources.items():
        for source in pair:
            table_of(kind).to_csv(source, index=False)
    return sources


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(
    "command", [*COMMANDS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_COMMANDS)]
)
def test_the_same_file_as_two_sources_changes_no_figure(command, kind, two_files):
    if (command, kind) == ("informativeness", "no items"):
        pytest.skip("informativeness needs items")
    sources = two_files[kind]
    once, twice = ((COMMANDS | SLOW_COMMANDS)[command](given) for given in (sources[:1], sources))
    assert (
        differences(figures_of(without_notes(once), {}), figures_of(without_notes(twice), {})) == []
    )


def without_notes(answer):
    """Leave out notes about the sources themselves."""
    if isinstance(answer, dict):
        return {
            name: without_notes(part)
            for name, part in answer.items()
            if name not in ("warnings", "notes")
        }
    return [without_notes(part) for part in answer] if isinstance(answer, list) else answer
