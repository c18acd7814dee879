"""judge-aware: an optimiser, numerical derivatives, limits, and juries with known truth, drawn
without podium."""

import numpy as np
import pandas as pd
import pytest
from drawn_juries import Jury, play
from scipy.optimize import minimize
from scipy.special import expit

import podium
from podium.notices.notice_text import notice_texts
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.errors.judge_slopes import fit_slopes
from podium.rankers.errors.one_truth import one_truth_test
from podium.rankers.errors.shared_errors import shared_errors
from podium.rankers.fit.identification import fit_battles
from podium.rankers.judge_aware import judge_aware, jury_battles

LAMBDA = 0.01


def small_jury(seed=0, rows=400):
    """Return a table of one-order verdicts of two judges on four models, two battles an item."""
    rng = np.random.default_rng(seed)
    theta, slope, position = (
        np.array([0.9, 0.3, -0.2, -1.0]),
        np.array([1.6, 0.5]),
        np.array([0.4, -0.2]),
    )
    a = rng.integers(0, 4, rows)
    b = (a + rng.integers(1, 4, rows)) % 4
    judge, order = rng.integers(0, 2, rows), rng.choice([1, -1], rows)
    credit = rng.random(rows) < expit(
        slope[judge] * (theta[a] - theta[b]) + position[judge] * order
    )
    return pd.DataFrame(
        {
            "item": [f"i{k // 2}" for k in range(rows)],
            "model_a": [f"m{k}" for k in a],
            "model_b": [f"m{k}" for k in b],
            "credit": credit * 1.0,
            "judge": [f"j{k}" for k in judge],
            "order": np.where(order > 0, "ab", "ba"),
        }
    )


def silenced(frame, judge):
    """Return a table in which no reply of a judge can be parsed."""
    return frame.assign(credit=frame["credit"].mask(frame["judge"] == judge))


def loss(at, data):
    """Return minus the penalized log-likelihood, the first slope being free and the second
    following."""
    theta, first, position = at[:4], at[4], at[5:]
    shares = np.bincount(data.judge) / len(data.judge)
    slopes = np.array([first, (1 - shares[0] * first) / shares[1]])
    coded = data.coded
    logits = (
        slopes[data.judge] * (theta[coded.a] - theta[coded.b]) + position[data.judge] * data.order
    )
    fitted = np.sum(coded.credit * logits - np.logaddexp(0, logits))
    return -fitted + LAMBDA / 2 * (theta @ theta + np.sum((slopes - 1) ** 2) + position @ position)


def fitted(frame, merge=False, **options):
    data = jury_battles(podium.read_battles(frame, merge=merge))
    return data, fit_slopes(data, np.zeros(len(data.coded.models)), LAMBDA, **options)


def test_the_fit_is_that_of_a_general_optimiser():
    data, fit = fitted(small_jury())
    best = minimize(
        loss,
        np.append(np.zeros(4), [1.0, 0.0, 0.0]),
        args=(data,),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert fit.theta == pytest.approx(best.x[:4] - best.x[:4].mean(), abs=1e-6)
    assert fit.slopes[0] == pytest.approx(best.x[4], abs=1e-6)
    assert fit.position == pytest.approx(best.x[5:], abs=1e-6)
    assert fit.slopes @ np.bincount(data.judge) == pytest.approx(len(data.judge))


def test_the_sandwich_is_that_of_numerical_derivatives():
    data, fit = fitted(small_jury())
    at = np.concatenate([fit.theta, fit.slopes[:1], fit.position])

    def gradient(x, rows):
        part = type(data)(data.coded.take(rows), data.judge[rows], data.judges, data.order[rows])
        shares = np.bincount(data.judge) / len(data.judge)

        def value(y):
            slopes = np.array([y[4], (1 - shares[0] * y[4]) / shares[1]])
            logits = (
                slopes[part.judge] * (y[part.coded.a] - y[part.coded.b])
                + y[5:][part.judge] * part.order
            )
            return np.sum(part.coded.credit * logits - np.logaddexp(0, logits))

        return np.array([(value(x + h) - value(x - h)) / 2e-5 for h in 1e-5 * np.eye(len(x))])

    items = [data.coded.cluster == item for item in range(data.coded.clusters)]
    scores = np.array([gradient(at, rows) for rows in items])
    scores -= scores.mean(axis=0)
    step = 1e-4 * np.eye(len(at))
    both = [(i, j) for i in step for j in step]
    mixed = [
        loss(at + i + j, data) - loss(at + i - j, data) - loss(at - i + j, data) for i, j in both
    ]
    hessian = (np.array(mixed) + [loss(at - i - j, data) for i, j in both]).reshape(7, 7) / 4e-8
    bread = np.linalg.inv(hessian)
    groups = len(items)
    expected = groups / (groups - 1) * bread @ scores.T @ scores @ bread
    found = fit.covariance()
    keep = [0, 1, 2, 3, 4, 6, 7]
    gaps = np.eye(7) - np.outer(
        np.array([1, 1, 1, 1, 0, 0, 0]) / 4, np.array([1, 1, 1, 1, 0, 0, 0])
    )
    assert found[np.ix_(keep, keep)] == pytest.approx(gaps @ expected @ gaps.T, rel=2e-3, abs=1e-6)


@pytest.mark.slow
def test_equal_slopes_without_orders_are_bradley_terry():
    frame = small_jury().drop(columns="order")
    battles = podium.read_battles(frame, merge=False)
    _, fit = fitted(frame, equal=True)
    plain = {
        entry.model: entry.score
        for entry in bradley_terry(battles, rng=np.random.default_rng(0)).entries
    }
    assert 400 / np.log(10) * fit.theta + 1500 == pytest.approx(
        [plain[name] for name in sorted(plain)], abs=1e-5
    )


@pytest.mark.slow
def test_weights_count_in_the_mean_of_slopes_like_repeated_battles():
    frame = small_jury()
    weighted = frame.assign(weight=np.where(frame["judge"] == "j0", 3.0, 1.0))
    repeated = frame.loc[frame.index.repeat(weighted["weight"].astype(int))].reset_index(drop=True)
    _, fit = fitted(weighted)
    _, other = fitted(repeated)
    assert fit.parameters == pytest.approx(other.parameters, abs=1e-8)


def test_sides_of_rows_do_not_matter():
    frame = small_jury()
    swapped = frame.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    swapped = swapped.assign(
        credit=1 - frame["credit"], order=frame["order"].map({"ab": "ba", "ba": "ab"})
    )
    _, fit = fitted(frame)
    _, other = fitted(swapped)
    assert other.parameters == pytest.approx(fit.parameters, abs=1e-8)


def test_a_judge_that_contradicts_the_others_has_a_negative_slope():
    jury = Jury(slopes=(1.5, 1.5, -0.8), shared=0.2)
    standings = podium.rank(play(jury, items=150, seed=1), ["judge-aware"], pool=True).standings[0]
    rows = standings.diagnostics["jury"]["judges"]
    assert rows["judge-2"]["slope_high"] < 0 < rows["judge-0"]["slope_low"]
    assert "The judges contradict each other (slope below 0: judge-2)" in " ".join(standings.answer)


@pytest.mark.slow
def test_two_judges_of_opposite_verdicts_keep_the_scores_of_equal_slopes():
    frame = play(Jury(slopes=(1.5, 1.5)), items=150, seed=7)
    turned = frame.assign(
        credit=np.where(frame["judge"] == "judge-1", 1 - frame["credit"], frame["credit"])
    )
    standings = judge_aware(podium.read_battles(turned), rng=np.random.default_rng(0))
    assert standings.diagnostics["jury"]["equal_because"] in ("contradiction", "not identified")
    plain = bradley_terry(podium.read_battles(turned), rng=np.random.default_rng(0))
    scores = {entry.model: entry.score for entry in standings.entries}
    assert scores == pytest.approx({entry.model: entry.score for entry in plain.entries}, abs=1e-5)
    assert any("contradict" in text for text in notice_texts(standings.warnings))


def test_slopes_of_judges_without_common_pairs_are_not_identified():
    frame = play(Jury(slopes=(1.5, 1.5)), items=300, seed=8)
    low = {"m0", "m1", "m2", "m3"}
    parts = {"judge-0": low, "judge-1": {"m3", "m4", "m5", "m6", "m7"}}
    kept = [
        {a, b} <= parts[j]
        for a, b, j in zip(frame["model_a"], frame["model_b"], frame["judge"], strict=True)
    ]
    standings = judge_aware(podium.read_battles(frame[kept]), rng=np.random.default_rng(0))
    assert standings.diagnostics["jury"]["equal_because"] == "not identified"
    assert any(
        "do not identify the judges' slopes" in text for text in notice_texts(standings.warnings)
    )


@pytest.mark.slow
def test_a_single_item_and_a_judge_of_few_battles_have_no_intervals():
    frame = play(Jury(), items=1, seed=0)
    one = judge_aware(podium.read_battles(frame), rng=np.random.default_rng(0)).diagnostics["jury"]
    assert (one["equal_because"], one["one_truth_p"]) == ("not identified", None)
    frame = play(Jury(), items=60, seed=0)
    few = frame[(frame["judge"] != "judge-2") | (frame.groupby("judge").cumcount() < 5)]
    rows = judge_aware(podium.read_battles(few), rng=np.random.default_rng(0)).diagnostics["jury"][
        "judges"
    ]
    assert (rows["judge-2"]["slope_low"], rows["judge-2"]["p_value"]) == (None, None)


def two_models_and_three_judges(battles, seed):
    """Return one-order verdicts of three equal judges on two models 174 Elo apart, each judge on
    half of the items."""
    rng = np.random.default_rng(seed)
    rows = [(k, j) for k in range(2 * battles) for j in range(3) if rng.random() < 0.5]
    credit = rng.random(len(rows)) < expit(1)
    order = np.where(rng.random(len(rows)) < 0.5, "ab", "ba")
    frame = pd.DataFrame(rows, columns=["item", "judge"])
    return frame.assign(model_a="m0", model_b="m1", credit=credit * 1.0, order=order)


@pytest.mark.slow
@pytest.mark.parametrize("battles", [15, 24])
def test_few_battles_of_a_judge_identify_no_slopes_and_intervals_hold(battles):
    held = []
    for seed in range(100):
        frame = two_models_and_three_judges(battles, seed)
        standings = judge_aware(podium.read_battles(frame), rng=np.random.default_rng(0))
        best = next(entry for entry in standings.entries if entry.model == "m0")
        if best.low is not None:
            assert standings.diagnostics["jury"]["equal_because"] is not None
            held.append(best.low <= 1500 + 200 / np.log(10) <= best.high)
    assert len(held) > 80
    assert np.mean(held) >= 0.9


@pytest.mark.slow
def test_judges_of_one_truth_keep_their_slopes_and_others_do_not():
    one = judge_aware(
        podium.read_battles(play(Jury(), items=262, seed=1)), rng=np.random.default_rng(0)
    )
    tastes = judge_aware(
        podium.read_battles(play(Jury(taste=0.5), items=262, seed=1)), rng=np.random.default_rng(0)
    )
    assert one.diagnostics["jury"]["equal_because"] is None
    assert tastes.diagnostics["jury"]["equal_because"] == "no common truth"
    assert any("do not share one truth" in text for text in notice_texts(tastes.warnings))
    assert max(row["disagreement"] for row in tastes.diagnostics["jury"]["judges"].values()) > 20


@pytest.mark.slow
def test_two_judges_with_shared_errors_are_named_and_the_answer_says_so():
    jury = Jury(shared=0.3, copies=(0, 1), copied=0.7)
    ranking = podium.rank(play(jury, items=100, seed=5, overlap=0.5), ["judge-aware"], pool=True)
    named = [
        pair
        for pair in ranking.standings[0].diagnostics["jury"]["shared_errors"]
        if pair["is_named"]
    ]
    assert [pair["judges"] for pair in named] == [("judge-0", "judge-1")]
    assert "share errors" in " ".join(ranking.standings[0].answer)


def test_shared_errors_are_unknown_without_common_battles():
    standings = judge_aware(
        podium.read_battles(play(Jury(), items=80, seed=2)), rng=np.random.default_rng(0)
    )
    assert standings.diagnostics["jury"]["shared_errors"] == []
    assert any("overlap=0.1" in text for text in notice_texts(standings.warnings))


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (small_jury().drop(columns="judge"), "without a column `judge`: use bradley-terry"),
        (small_jury().assign(judge="alone"), r"of one judge \(alone\): use bradley-terry"),
        (silenced(small_jury(), "j1"), r"of one judge \(j0\): use bradley-terry"),
    ],
)
def test_one_judge_is_an_error(frame, message):
    with pytest.raises(podium.UsageError, match=message):
        podium.rank(frame, ["judge-aware"])


@pytest.mark.slow
def test_judges_that_contradict_each_other_and_have_tastes_fail_both_checks():
    frame = play(Jury(slopes=(2.0, -1.5, 1.5), taste=0.8), items=200, seed=0)
    [standings] = podium.rank(frame, ["judge-aware"]).standings
    assert standings.diagnostics["jury"]["equal_because"] == "contradiction"
    starts = (
        "the judges contradict each other (slope below 0: judge-1)",
        "the judges do not share one truth (p = 0.002)",
    )
    assert all(
        any(text.startswith(start) for text in notice_texts(standings.warnings)) for start in starts
    )


@pytest.mark.slow
def test_judges_that_always_agree_share_one_truth():
    frame = play(Jury(), items=60, seed=0)
    [standings] = podium.rank(
        frame.assign(credit=1.0 * (frame["model_a"] < frame["model_b"])), ["judge-aware"]
    ).standings
    assert standings.diagnostics["jury"]["one_truth_p"] > 0.05


@pytest.mark.slow
def test_the_penalty_of_models_that_never_lose_is_no_sign_of_several_truths():
    """20 worlds of three equal judges without noise: net of the penalty in 1 of 20 at most, else in
    12."""
    rejected = 0
    for seed in range(20):
        data = jury_battles(
            podium.read_battles(play(Jury((200.0,) * 3, 0, 0, position=0), items=60, seed=seed))
        )
        fit = fit_slopes(data, fit_battles(data.coded).theta, LAMBDA)
        rejected += one_truth_test(fit, np.random.default_rng(seed)).p_value < 0.05
    assert rejected <= 1


@pytest.mark.slow
def test_a_judge_without_a_readable_verdict_is_named():
    frame = silenced(play(Jury(), items=80, seed=2), "judge-1")
    [standings] = podium.rank(frame, ["judge-aware"]).standings
    assert [*standings.diagnostics["jury"]["judges"]] == ["judge-0", "judge-2"]
    assert "without a readable verdict, and not in this ranking: judge-1" in notice_texts(
        standings.warnings
    )


@pytest.mark.slow
@pytest.mark.parametrize("jury", [Jury(), Jury(shared=0.15, own=0.1), Jury(shared=0.8)])
def test_one_truth_is_rejected_and_pairs_are_named_as_often_as_promised(jury):
    rejected = named = 0
    for seed in range(120):
        data = jury_battles(podium.read_battles(play(jury, items=160, seed=seed, overlap=0.3)))
        fit, rng = fit_slopes(data, np.zeros(8), LAMBDA), np.random.default_rng(seed)
        rejected += one_truth_test(fit, rng).p_value < 0.05
        named += any(pair.is_named for pair in shared_errors(fit))
    # 120 binomial draws at 5%: 13 or more have a probability of 1%.
    assert rejected <= 12
    assert named <= 12
