"""The study of a record: what each figure plays, and what it is compared with."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr
from scipy.stats import t as student

from podium import Battles, Judge, NotIdentifiedError, UsageError, rank, read_battles, replay, simulate
from podium.plugins.catalogue import make_tournament
from podium.rankers.informativeness import informativeness
from podium.study.laboratory import Cell, Workbench, run_study, spread_of
from podium.study.yardstick import Yardstick, scorer
from podium.tournaments.selection import draw_items
from podium.verbs.replays import in_one_order, play, recording_of

RECORDED = Path(__file__).parents[3] / "shared" / "data" / "roundrobin_qlora_oa_gpt4.parquet"
FEW = {"seeds": 3, "items": (10, 20)}


@pytest.fixture(scope="module")
def battles() -> Battles:
    """Six models, of whom the first is far better and the last far worse, on 40 items, a few replies unparsed."""
    strengths = (3.0, 0.5, 0.2, -0.2, -0.5, -3.0)
    return simulate(6, 40, seed=3, strengths=strengths, item_sd=0.5).battles(Judge(unparsed=0.03, tie=0.2))


@pytest.fixture(scope="module")
def found(battles: Battles):
    return run_study(battles, **FEW)


def one(found, **wanted):
    [point] = [p for p in found.points if all(getattr(p, name) == value for name, value in wanted.items())]
    return point


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
@pytest.mark.parametrize("options", [{}, {"labels": "hard"}])
def test_scores_from_pair_sums_are_the_rankers(battles: Battles, ranker: str, options: dict[str, str]) -> None:
    """Oracle: the ranker itself, on the whole, on some models and on a path."""
    score = scorer(battles, ranker, options)
    rng = np.random.default_rng(0)
    path = play(make_tournament("chain", {}), recording_of(battles)).rows
    for rows in (np.ones(len(battles), dtype=bool), rng.random(len(battles)) < 0.3, path):
        standings = rank(battles.select(rows), ranker, **options).standings[0]
        oracle = {entry.model: entry.score for entry in standings.entries}
        assert dict(zip(battles.models, score(rows), strict=True)) == pytest.approx(oracle, abs=1e-6)
        assert standings.scale == Yardstick(battles, ranker, options).scale


def test_models_without_a_battle_have_no_score(battles: Battles) -> None:
    rows = ~((battles.table["model_a"] == "model-02") | (battles.table["model_b"] == "model-02")).to_numpy()
    for ranker in ("bradley-terry", "win-rate"):
        assert np.isnan(scorer(battles, ranker, {})(rows)).tolist() == [False, True, False, False, False, False]


def test_parts_that_never_met_have_no_ratings(battles: Battles) -> None:
    pairs = [("model-01", "model-02"), ("model-03", "model-04")]
    table = battles.table
    rows = np.array([pair in pairs for pair in zip(table["model_a"], table["model_b"], strict=True)])
    assert np.isnan(scorer(battles, "bradley-terry", {})(rows)).all()


@pytest.mark.parametrize("anchors", [(), ("model-03",), ("model-01", "model-05")])
@pytest.mark.parametrize("items", [1, 17, 40])
def test_rows_by_mask_are_those_that_the_tournament_plays(
    battles: Battles, anchors: tuple[str, ...], items: int
) -> None:
    """Oracle: the tournament's own schedule, looked up in the record."""
    record = recording_of(battles)
    name, settings = ("anchor", {"anchor": anchors}) if anchors else ("round_robin", {})
    drawn = Workbench(record).draw(Cell("anchor", "", name, items, 6, settings), seed=5)
    played = play(make_tournament(name, {**settings, "items": items, "seed": 5}), record)
    assert (drawn.rows == played.rows).all()
    price = played.price
    assert (drawn.battles, drawn.calls, drawn.missing) == (price.battles, price.calls, price.missing)


def test_tournaments_that_stop_by_themselves_are_played_until_they_do() -> None:
    record = simulate(4, 120, seed=3, strengths=(3.0, 0.5, -0.5, -3.0)).battles()
    found = run_study(record, "win-rate", tournaments=["round_robin"], seeds=2, items=(60,), until="top1")
    point = one(found, figure="tournament", design="round_robin", items=120)
    rules = [make_tournament("round_robin", {"until": "top1", "seed": seed}) for seed in (0, 1)]
    battles = [play(rule, recording_of(record)).price.battles for rule in rules]
    assert (point.seeds, point.battles) == (2, np.mean(battles))
    assert max(battles) < len(record), "it stops before all is played"


def test_several_anchors_may_be_named_with_commas(battles: Battles) -> None:
    named, listed = (
        run_study(battles, "win-rate", tournaments=["anchor"], **FEW, anchor=anchors)
        for anchors in ("model-02,model-05", ["model-02", "model-05"])
    )
    assert named.points == listed.points
    assert one(named, figure="tournament", design="anchor", items=40).missing == 0


def test_an_anchor_that_a_pilot_finds_is_compared_with_all_seeds(battles: Battles) -> None:
    found = run_study(battles, "win-rate", tournaments=["anchor"], **FEW, anchor="auto")
    point = one(found, figure="tournament", design="anchor, by a pilot", items=40)
    assert point.seeds == 3


@pytest.mark.slow
def test_a_fixed_anchor_is_compared_seed_by_seed(battles: Battles, found) -> None:
    """Oracle: each seed replayed by the tournament, and compared by scipy; means, errors and Student's interval."""
    whole = {entry.model: entry.score for entry in rank(battles, "bradley-terry").standings[0].entries}
    taus, errors = [], []
    for seed in range(3):
        standings = replay(battles, "anchor", anchor="model-03", items=20, seed=seed).ranking.standings[0]
        score = {entry.model: entry.score for entry in standings.entries}
        taus.append(kendalltau([score[name] for name in whole], list(whole.values())).statistic)
        gaps = np.array([score[name] - whole[name] for name in whole])
        errors.append(np.abs(gaps - gaps.mean()).mean())
    point = one(found, figure="anchor", design="model-03", items=20, ranker="bradley-terry")
    assert (point.tau.mean, point.error.mean) == pytest.approx((np.mean(taus), np.mean(errors)), abs=1e-6)
    se = np.std(errors, ddof=1) / np.sqrt(3)
    ends = student.interval(0.95, 2, loc=np.mean(errors), scale=se)
    assert (point.error.se, point.error.low, point.error.high) == pytest.approx((se, *ends), abs=1e-5)
    assert (point.seeds, point.failed, point.battles) == (3, 0, 100)


def test_error_without_centring_would_be_another_number(battles: Battles) -> None:
    """The wrong variant: win rates against the best are all low, and most of the gap is that, not disorder."""
    score = scorer(battles, "win-rate", {})
    every = np.ones(len(battles), dtype=bool)
    anchored = ((battles.table["model_a"] == "model-01") | (battles.table["model_b"] == "model-01")).to_numpy()
    gaps = score(anchored) - score(every)
    assert np.abs(gaps).mean() > 1.2 * np.abs(gaps - gaps.mean()).mean()


@pytest.mark.slow
def test_all_pairs_on_all_items_are_the_reference(found) -> None:
    for ranker in ("bradley-terry", "win-rate"):
        point = one(found, figure="tournament", design="round_robin", items=40, ranker=ranker)
        assert (point.tau.mean, point.error.mean, point.seeds) == (pytest.approx(1), 0, 1)
        assert (point.tau.se, point.tau.low) == (None, None)


def test_all_anchors_but_one_play_all_pairs(found) -> None:
    point = one(found, figure="anchors", anchors=5, ranker="bradley-terry")
    assert (point.error.mean, point.battles) == (pytest.approx(0, abs=1e-9), 600)


def test_more_anchors_err_less(found) -> None:
    """Don-Yehiya et al. 2026, Figure 7."""
    errors = [one(found, figure="anchors", anchors=k, ranker="bradley-terry").error.mean for k in (1, 3, 5)]
    assert errors[0] > errors[1] > errors[2]


def test_extreme_anchors_are_the_worst(found) -> None:
    """Figure 1, on a world whose first and last models stand far out: the U is upside down."""
    error = {
        name: one(found, figure="anchor", design=name, items=40, ranker="win-rate").error.mean
        for name in (entry.anchor for entry in found.anchors)
    }
    ends = [error.pop("model-01"), error.pop("model-06")]
    assert min(ends) > 2 * max(error.values())


def test_the_mean_over_anchors_is_taken_seed_by_seed(found) -> None:
    """Figure 4: the mean of the anchors' means; its error is that of the seeds' means, not of single anchors."""
    points = [p for p in found.points if (p.figure, p.items, p.ranker) == ("anchor", 20, "bradley-terry")]
    point = one(found, figure="tournament", design="anchor, mean of all", items=20, ranker="bradley-terry")
    assert point.tau.mean == pytest.approx(np.mean([p.tau.mean for p in points]))
    assert (point.seeds, point.calls) == (3, None)


def test_places_and_informativeness_are_those_of_the_rankers(battles: Battles, found) -> None:
    entries = rank(battles, "bradley-terry").standings[0].entries
    shares = {e.model: e.score for e in informativeness(battles, rng=np.random.default_rng(0)).entries}
    assert [(a.anchor, a.place) for a in found.anchors] == [(e.model, e.rank) for e in entries]
    assert {a.anchor: a.informativeness for a in found.anchors} == pytest.approx(shares)


def test_the_correlation_with_informativeness_is_pearsons(found) -> None:
    """Oracle: scipy.stats.pearsonr with Fisher's interval (Figure 3)."""
    x = [a.informativeness for a in found.anchors]
    y = [one(found, figure="anchor", design=a.anchor, items=20, ranker="win-rate").tau.mean for a in found.anchors]
    oracle = pearsonr(x, y)
    result = found.correlation("win-rate", 20)
    assert (result.mean, result.low, result.high) == pytest.approx(
        (oracle.statistic, *oracle.confidence_interval(0.95))
    )


def test_fewer_models_are_compared_among_themselves(battles: Battles, found) -> None:
    """SWIM's Figure 6: three of six, drawn by the seed; the reference is the whole record's, of these three."""
    point = one(found, figure="models", design="round_robin", models=3, ranker="bradley-terry")
    record = recording_of(battles)
    bench, cell = Workbench(record), Cell("models", "", "round_robin", 20, 3)
    score = scorer(battles, "bradley-terry", {})
    whole = score(np.ones(len(battles), dtype=bool))
    taus = []
    for seed in range(3):
        drawn = bench.draw(cell, seed)
        assert (len(drawn.models), drawn.battles) == (3, 60)
        taus.append(kendalltau(score(drawn.rows)[drawn.models], whole[drawn.models]).statistic)
    assert point.tau.mean == pytest.approx(np.mean(taus))


def test_every_number_of_models_items_and_anchors_is_there(found) -> None:
    numbers = {
        name: sorted({getattr(p, name) for p in found.points if p.figure == figure})
        for figure, name in (("models", "models"), ("anchors", "anchors"), ("anchor", "items"))
    }
    assert numbers == {"models": [3, 4, 5, 6], "anchors": [1, 2, 3, 4, 5], "items": [10, 20, 40]}


@pytest.mark.slow
def test_a_gold_ranking_is_the_reference(battles: Battles) -> None:
    """Of the true order, reversed, tau changes its sign; the error is given on the gold ranking's scale only."""
    truth = {f"model-{k + 1:02d}": 1500.0 - 100 * k for k in range(6)}
    straight = run_study(battles, gold=truth, gold_name="truth", **FEW)
    reversed_ = run_study(battles, gold={name: -score for name, score in truth.items()}, gold_name="truth", **FEW)
    for a, b in zip(straight.points, reversed_.points, strict=True):
        assert a.tau.mean == pytest.approx(-b.tau.mean)
    assert all((p.error is None) == (p.ranker == "win-rate") for p in straight.points)
    assert straight.reference == "truth"


@pytest.mark.slow
def test_models_that_the_gold_ranking_does_not_know_are_said_and_not_compared(battles: Battles) -> None:
    gold = {"model-01": 3.0, "model-03": 2.0, "model-06": 1.0, "stranger": 9.0}
    found = run_study(battles, gold=gold, gold_scale="stars", **FEW)
    assert (found.known, found.models) == (3, 6)
    assert any("model-02, model-04, model-05" in text for text in found.warnings)
    assert {a.anchor: a.place for a in found.anchors}["model-02"] is None
    assert one(found, figure="tournament", design="round_robin", items=40, ranker="bradley-terry").tau.mean == 1


@pytest.mark.slow
def test_any_ranker_can_be_studied(battles: Battles) -> None:
    """A ranker that is not made of pair sums ranks every part in full."""
    found = run_study(battles, "bradley-terry", tournaments=["chain"], seeds=2, items=[20], cluster="row")
    plain = run_study(battles, "bradley-terry", tournaments=["chain"], seeds=2, items=[20])
    assert [p.tau.mean for p in found.points] == pytest.approx([p.tau.mean for p in plain.points])
    assert [p.error.mean for p in found.points] == pytest.approx([p.error.mean for p in plain.points], abs=1e-6)


def test_a_sample_without_a_ranking_is_counted_and_left_out() -> None:
    """Half of the items have no readable verdict of the last model: seeds that draw only those give no ranking."""
    rows = [
        (f"q{k}", a, b, None if b == "c" and k % 2 else float((k + (a == "b")) % 3 == 0))
        for k in range(8)
        for a, b in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    found = run_study(frame, "win-rate", tournaments=["round_robin"], seeds=30, items=[1])
    point = one(found, figure="tournament", design="round_robin", items=1)
    assert 5 < point.failed < 25
    assert any("no ranking of everyone" in text and f"{point.failed} of 30" in text for text in found.warnings)


@pytest.mark.slow
def test_missing_battles_are_counted() -> None:
    battles = simulate(4, 20, seed=1).battles(pairs=[(0, 1), (0, 2), (0, 3), (1, 2)])
    found = run_study(battles, "bradley-terry", **FEW)
    assert one(found, figure="tournament", design="round_robin", items=20).missing == 40
    assert any("no full round robin: 66.7%" in text for text in found.warnings)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_study_whatever_the_order_of_the_rows(battles: Battles, found) -> None:
    # A tournament that says who is shown first plays judgments: these are shuffled, and merged again.
    mixed = read_battles(in_one_order(battles).to_frame().sample(frac=1, random_state=0))
    again = run_study(mixed, **FEW)
    for a, b in zip(found.points, again.points, strict=True):
        assert (a.design, a.tau.mean) == (b.design, pytest.approx(b.tau.mean))


def test_items_of_a_seed_are_nested_and_shared(battles: Battles) -> None:
    record = recording_of(battles)
    small, large = (Workbench(record).draw(Cell("", "", "round_robin", k, 6), 4).rows for k in (10, 20))
    assert not (small & ~large).any()
    drawn = set(battles.table["item"][small])
    assert drawn == set(draw_items(record.field, 10, 4))


def test_the_json_of_findings_has_no_nan_and_the_table_a_row_per_point(found) -> None:
    document = json.loads(found.to_json())
    assert len(document["study"]["points"]) == len(found.to_frame()) == len(found.points)
    frame = found.to_frame()
    assert frame[frame["figure"] == "anchor"]["informativeness"].notna().all()
    assert frame[frame["figure"] != "anchor"]["place"].isna().all()


def test_the_monte_carlo_interval_covers_the_mean() -> None:
    """Coverage: 2,000 means of 20 draws, 95% intervals; binomial tolerance. With z for t they would cover 93.6%."""
    rng = np.random.default_rng(0)
    spreads = [spread_of(values, 0.95, (-np.inf, np.inf)) for values in rng.normal(0.3, 1, (2000, 20))]
    hits = np.mean([s.low <= 0.3 <= s.high for s in spreads])
    assert hits == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 2000))


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"items": (41,)}, "items=41: the record has 40"),
        ({"seeds": 0}, "seeds=0"),
        ({"rankers": "win-rat"}, "did you mean 'win-rate'"),
        ({"pilots": 3}, "pilots"),
        ({"swim.seed": 3}, "leave out the option seed"),
    ],
)
def test_wrong_wishes_of_a_study_are_refused(battles: Battles, wrong, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        run_study(battles, **wrong)


def test_two_models_are_no_laboratory() -> None:
    with pytest.raises(NotIdentifiedError, match="at least 3 models"):
        run_study(simulate(2, 10).battles())


def test_a_gold_ranking_of_strangers_is_refused(battles: Battles) -> None:
    with pytest.raises(NotIdentifiedError, match="scores 0 of the record's 6 models"):
        run_study(battles, gold={"x": 1.0, "y": 2.0})


def test_a_reference_that_tells_nobody_apart_is_refused(battles: Battles) -> None:
    """Ties only, or a gold ranking of one score: tau has no value, and no table of dashes stands in for it."""
    ties = read_battles(battles.table.assign(credit=0.5, margin=0.0))
    with pytest.raises(NotIdentifiedError, match="bradley-terry, from the whole record, puts all models level"):
        run_study(ties, **FEW)
    with pytest.raises(NotIdentifiedError, match="the gold ranking puts all models level"):
        run_study(battles, gold=dict.fromkeys(battles.models, 1200.0), **FEW)


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded judgments are not beside this checkout")
def test_the_inverted_u_on_recorded_verdicts_of_gpt_4() -> None:
    """Middling anchors are the best and the strongest by far the worst; informativeness tells (Figures 1 and 3)."""
    columns = {"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"}
    battles = read_battles(RECORDED, columns=columns, credit_map={"1": 1, "0": 0.5, "-1": 0}, shown="a")
    found = run_study(battles, seeds=10, items=[200], tournaments=["chain"])
    for ranker in ("bradley-terry", "win-rate"):
        points = [p for p in found.points if (p.figure, p.items, p.ranker) == ("anchor", 200, ranker)]
        error = {p.design: p.error.mean for p in points}
        best, *_, worst = sorted(error, key=error.get)
        assert best in ("guanaco-65b", "guanaco-33b")
        assert (worst, error["gpt4"] > 2 * error[best]) == ("gpt4", True)
        assert found.correlation(ranker, 200).low > 0
    weakest = one(found, figure="anchor", design="guanaco-7b", items=200, ranker="win-rate")
    assert weakest.error.low > 0.03 > 0.025 > max(error[name] for name in ("gpt35", "guanaco-65b", "guanaco-33b"))
