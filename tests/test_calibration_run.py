"""Calibrating a judge: errors, warnings, and figures that can be had another way."""

from dataclasses import asdict, replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from podium import (
    Judge,
    NotIdentifiedError,
    UsageError,
    calibrate,
    distributions,
    rank,
    read_battles,
    simulate,
)
from podium.defaults import MEAN
from podium.notices.notice_text import notice_texts
from podium.rankers.calibration.calibration_run import calibrate_targets, judge_agreement
from podium.rankers.fit.scale import POINTS
from podium.scorers.judge_record import JudgeRecord
from podium.show.report.calibration_view import calibration_reports

JUDGE = Judge("rubric-judge", scale=2.0, position_bias=0.6, noise=0.6, tie=0.3, unparsed=0.02)
COMPARED = ["margin", "criteria", "smoothing"]
CONSTANTS = [0.55, 0.65, 0.75, 0.85, 0.95]


@cache
def drawn(models=7, items=24, seed=4):
    """Merged battles with human labels, an eighth of them ties."""
    frame = read_battles(
        simulate(models, items, seed=seed, spread=0.8).judgments(JUDGE, human=True)
    ).to_frame()
    luck = np.random.default_rng(seed).random(len(frame))
    return frame.assign(human=frame["human"].mask(luck < 0.125, 0.5))


def labelled(*args):
    return drawn(*args).copy()


def run(frame, **options):
    return calibrate(read_battles(frame), **{"bootstrap": 20, **options})


@cache
def calibrated():
    return run(labelled())


def refusal(frame, error=NotIdentifiedError, **options):
    with pytest.raises(error) as caught:
        run(frame, **options)
    return str(caught.value)


def warning_with(calibration, words):
    """Return the one warning with these words."""
    [found] = [warning for warning in notice_texts(calibration.warnings) if words in warning]
    return found


def held_out(calibration, kind):
    return {one.model: getattr(one, f"{kind}_elo") for one in calibration.models}


def hard_label(frame):
    """The judge's hard verdict; a flip is a tie."""
    return np.where(frame["swap"] == "flip", 0.5, (np.sign(frame["credit"] - 0.5) + 1) / 2)


@pytest.mark.parametrize("human", [None, np.nan])
def test_without_human_labels_it_is_rejected_with_both_ways_to_give_them(human):
    frame = labelled().drop(columns="human") if human is None else labelled().assign(human=human)
    message = refusal(frame)
    assert [
        words in message for words in ("no human labels", "column `human`", "--human-judge")
    ] == [True] * 3


def test_several_judges_are_rejected_with_the_ways_on():
    frame = labelled()
    message = refusal(frame.assign(judge=np.where(np.arange(len(frame)) % 2, "strict", "kind")))
    told = (
        "verdicts of 2 judges in one table (kind, strict): calibrate one at a time, with --where "
        "judge=NAME"
    )
    assert told in message


@pytest.mark.slow
def test_verdicts_without_margins_are_margins_of_twice_the_credit_less_one():
    frame = labelled().drop(columns="margin")
    by_verdict, by_margin = run(frame), run(frame.assign(margin=2 * frame["credit"] - 1))
    assert by_verdict.target.weights == {"verdict": by_margin.target.weights["margin"]}
    assert by_verdict.accuracy == by_margin.accuracy


def test_a_single_margin_makes_verdicts_no_margins():
    frame = labelled()
    frame.loc[frame.index[1:], "margin"] = np.nan
    with pytest.raises(
        NotIdentifiedError, match="models have battles with human labels, verdicts and signals"
    ):
        run(frame)


@pytest.mark.slow
def test_hard_verdicts_without_margins_can_be_smoothed():
    frame = labelled().drop(columns="margin")
    assert run(frame, target="smoothing").target.kind == "smoothing"


def test_two_models_are_too_few():
    frame = labelled()
    pair = frame[(frame["model_a"] == "model-01") & (frame["model_b"] == "model-02")]
    message = refusal(pair)
    assert ("2 of 2 models have battles" in message, "needs at least 3" in message) == (True, True)


@pytest.mark.slow
def test_three_models_are_enough():
    assert len(run(labelled(3, 40)).models) == 3


def test_human_ties_alone_are_rejected_with_their_number():
    frame = labelled()
    message = refusal(frame.assign(human=0.5))
    assert (
        f"{len(frame)} of {len(frame)} have a human label, {len(frame)} of those are ties"
        in message
    )


def test_one_human_tie_is_rejected_as_one():
    frame = labelled()
    is_even = np.arange(len(frame)) % 2 == 0
    human = frame["human"].where(is_even & frame["human"].ne(0.5))
    is_tie = frame.index == frame.index[is_even & frame["human"].eq(0.5)][0]
    human = human.mask(is_tie, 0.5)
    margin = frame["margin"].where(human.isna() | is_tie)
    message = refusal(frame.assign(human=human, margin=margin))
    assert "1 of those is a tie or votes that cancel, and 1 has a signal beside it" in message


def test_labels_without_a_margin_beside_any_are_rejected():
    frame = labelled()
    even = np.arange(len(frame)) % 2 == 0
    message = refusal(
        frame.assign(human=frame["human"].where(even), margin=frame["margin"].mask(even))
    )
    assert f"{even.sum()} of {len(frame)} have a human label" in message
    assert "0 have a signal beside it" in message


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"level": 0.0}, "level 0"),
        ({"level": 1.0}, "level 1"),
        ({"level": 90}, "level 90"),
        ({"level": float("nan")}, "level nan"),
        ({"splits": 0}, "splits=0: at least one half split"),
        ({"bootstrap": 19}, "bootstrap=19 is too few; at least 20"),
        ({"regularization": -0.1}, "regularization=-0.1 is not a finite number"),
        ({"regularization": float("inf")}, "regularization=inf is not a finite number"),
        ({"regularization": float("nan")}, "regularization=nan is not a finite number"),
        ({"ridge": -1.0}, "ridge=-1"),
        ({"ridge": float("nan")}, "ridge=nan"),
        ({"target": "smoothing", "constant": 0.5}, "constant=0.5: the credit of a win"),
        ({"target": "smoothing", "constant": 1.0}, "constant=1: the credit of a win"),
        (
            {"target": "margin", "constant": 0.7},
            "constant is the credit of a win under target=smoothing",
        ),
        ({"target": "sign"}, "target='sign' is unknown; use one of margin, smoothing"),
        ({"cluster": "model"}, "cluster='model' is unknown; use one of item, row"),
    ],
    ids=str,
)
def test_an_impossible_option_says_what_is_possible(options, complaint):
    assert complaint in refusal(labelled(), UsageError, **options)


def test_a_constant_beside_soft_credits_is_rejected():
    frame = labelled()
    frame = frame.assign(credit=expit(frame["margin"])).drop(columns=["margin", "swap"])
    assert "constant" in refusal(frame, UsageError, target="credit", constant=0.7)


def test_labels_without_any_leave_one_out_beta_hold_out_no_model():
    """Humans agree with the sign of every margin in two pairs, and with none in the third."""
    sides = {"ab": (1.0, 2), "ac": (1.0, 3), "bc": (-0.5, 4)}
    drawn_sides = [
        (k, pair, size, -1.0 if k % every else 1.0)
        for k in range(12)
        for pair, (size, every) in sides.items()
    ]
    rows = [(k, *pair, size * side, float(side > 0)) for k, pair, size, side in drawn_sides]
    found = run(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "margin", "human"]))
    assert [one.soft_elo for one in found.models] == [None] * 3


def test_labels_that_give_no_beta_without_one_model_leave_that_one_out():
    """Without a's battles no label contradicts the sign of a margin, and no finite beta exists."""
    pairs = ("ab", "ac", "ad", "bc", "bd", "cd")
    sides = [
        (k, pair, 1.0 if k % (n + 2) else -1.0) for k in range(24) for n, pair in enumerate(pairs)
    ]
    rows = [
        (k, *pair, side, float((side > 0) != ("a" in pair and k % 5 == 0)))
        for k, pair, side in sides
    ]
    found = run(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "margin", "human"]))
    assert [one.model for one in found.models if one.soft_elo is None] == ["a"]
    assert "their labels give no beta: a" in warning_with(found, "cannot be held out")


def test_ratings_that_are_all_the_same_have_no_rank_correlation():
    rows = [
        (k, *pair, -((-1.0) ** k) * (1 + k), k % 4 < 2 or k == 11)
        for k in range(12)
        for pair in ("ab", "bc", "ca")
    ]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "margin", "human"]).astype(
        {"human": float}
    )
    assert run(frame).accuracy["soft"].spearman is None


def clone(frame, name, margin):
    """Add a model that only ever met model-01, always with the same margin, and humans who cannot
    decide."""
    mine = [(f"item-{k:02d}", name, "model-01", margin, 1.0, float(k % 2)) for k in range(24)]
    rows = pd.DataFrame(mine, columns=["item", "model_a", "model_b", "margin", "credit", "human"])
    return pd.concat([frame, rows.assign(judge="rubric-judge")])


def test_a_model_whose_battles_all_say_the_same_has_no_score():
    found = run(clone(labelled(), "zed", 2.0))
    assert {one.model: one.score("soft") is None for one in found.models}["zed"]
    assert "zed" in warning_with(found, "no standard error and no score")


@pytest.mark.slow
def test_a_single_enormous_margin_that_human_agree_with_does_not_stop_it():
    frame = labelled()
    row = frame.index[(frame["margin"] > 1) & (frame["human"] == 1)][0]
    enormous = frame["margin"].mask(frame.index == row, 1e4)
    assert run(frame.assign(margin=enormous)).target.beta == pytest.approx(
        calibrated().target.beta, rel=0.05
    )


@pytest.mark.slow
def test_rows_without_a_margin_are_counted():
    frame = labelled()
    judged = frame["credit"].notna().to_numpy()
    lost = judged & (np.arange(len(frame)) % 3 == 0)
    found = run(frame.assign(margin=frame["margin"].mask(lost)))
    assert warning_with(found, "no signal") == (
        f"{lost.sum()} of {judged.sum()} judged battles have no signal: not in the soft fits"
    )


@pytest.mark.slow
def test_with_a_margin_in_every_row_none_is_counted():
    assert [
        warning for warning in notice_texts(calibrated().warnings) if "no signal" in warning
    ] == []


@pytest.mark.slow
def test_too_few_models_for_the_level_are_reported_with_the_number_needed():
    assert warning_with(run(labelled(), scale_correction=False), "infinite") == (
        "7 models with a score: a 90% conformal interval needs 9, so it is infinite"
    )


def test_few_scale_corrected_models_get_a_t_interval_with_its_assumption():
    assert warning_with(calibrated(), "conformal interval needs") == (
        "7 models with a score: a 90% conformal interval needs 9, the interval is by t, which "
        "assumes normal disagreement"
    )


def test_interval_by_t_is_named_if_the_first_model_has_no_soft_rating():
    frame = labelled()
    first, second, *_ = sorted({*frame["model_a"], *frame["model_b"]})
    is_of_both = (frame[["model_a", "model_b"]].isin([first, second])).all(axis=1)
    # Without the first model, no battle connects this one with the others.
    guest = frame[is_of_both].replace({"model_a": {second: "zz"}, "model_b": {second: "zz"}})
    calibration = run(pd.concat([frame, guest], ignore_index=True), bootstrap=None)
    assert calibration.models[0].soft_elo is None
    assert calibration.conformal["soft"].t is not None
    assert "the interval is by t" in warning_with(calibration, "conformal interval needs")


@pytest.mark.slow
def test_enough_models_for_the_level_are_not_warned_of():
    assert [
        warning
        for warning in notice_texts(run(labelled(), level=0.8).warnings)
        if "infinite" in warning
    ] == []


@pytest.mark.slow
def test_notes_of_reading_are_among_the_warnings():
    assert "no item column: rows counted as independent" in notice_texts(
        run(labelled().drop(columns="item")).warnings
    )


@pytest.mark.slow
def test_without_items_the_bootstrap_draws_rows():
    assert (calibrated().se_cluster, run(labelled().drop(columns="item")).se_cluster) == (
        "item",
        "row",
    )


def test_the_hard_label_is_the_credit_where_the_sign_of_the_margin_says_otherwise():
    """Labels given to humans instead are rated by the same two steps: 12% of the battles are flips,
    with a margin."""
    frame = labelled()
    contradicted = (frame["swap"] == "flip") & (frame["margin"] != 0)
    as_human = run(frame.assign(human=hard_label(frame)), target="smoothing", constant=0.75)
    assert contradicted.mean() > 0.08
    assert held_out(calibrated(), "hard") == pytest.approx(held_out(as_human, "human"), abs=1e-9)


def test_the_sign_of_the_margin_would_give_another_hard_rating():
    frame = labelled()
    sign = frame.assign(human=(np.sign(frame["margin"]) + 1) / 2)
    wrong = held_out(run(sign, target="smoothing", constant=0.75), "human")
    assert max(abs(elo - wrong[model]) for model, elo in held_out(calibrated(), "hard").items()) > 5


@pytest.mark.slow
def test_flips_that_a_file_records_as_ties_are_ties():
    frame = labelled()
    recorded = frame.assign(
        credit=np.where(frame["credit"].isna(), np.nan, hard_label(frame))
    ).drop(columns="swap")
    assert (recorded["credit"].eq(0.5) & (recorded["margin"].abs() > 0.3)).sum() > 20
    assert held_out(run(recorded), "hard") == pytest.approx(
        held_out(calibrated(), "hard"), abs=1e-9
    )


def test_the_agreement_in_the_file_is_that_of_the_judge_battle_by_battle():
    apart, found = asdict(judge_agreement(read_battles(labelled()))), asdict(calibrated().agreement)
    for fitted in ("ece", "bins"):
        apart.pop(fitted), found.pop(fitted)
    assert found == apart
    assert 0 < found["kappa"] < 1


@pytest.mark.slow
def test_agreement_alone_needs_no_margins():
    frame = labelled()
    with_margins, without = (
        judge_agreement(read_battles(one))
        for one in (frame, frame.drop(columns="margin").assign(margin=np.nan))
    )
    assert (without.kappa, without.decisive, without.auc) == (
        with_margins.kappa,
        with_margins.decisive,
        None,
    )


def test_the_counts_of_human_labels_are_those_of_the_table():
    frame = labelled()
    human, margin = frame["human"], frame["margin"].where(frame["credit"].notna())
    counted = {
        "labelled": human.notna().sum(),
        "ties": (human == 0.5).sum(),
        "preferences": (human.notna() & (human != 0.5) & margin.notna()).sum(),
    }
    assert calibrated().provenance["human"] == counted
    assert 0 < counted["preferences"] < counted["labelled"] - counted["ties"]


@cache
def large():
    """1,980 battles of 12 models, all with a human preference."""
    frame = simulate(12, 30, seed=2, spread=0.8).judgments(JUDGE, human=True, orders="ab")
    return run(
        frame.assign(
            credit=frame["credit"].fillna(1), margin=frame["margin"].fillna(1), reason=None
        )
    )


@pytest.mark.slow
def test_beta_is_fitted_to_growing_subsets_of_the_human_preferences():
    sizes = [one.battles for one in large().stability]
    assert sizes == [25, 50, 100, 200, 400, 800, 1600]


def test_beta_varies_less_among_larger_subsets():
    spread = {one.battles: one.sd for one in large().stability}
    assert spread[25] > spread[100] > spread[400] > spread[1600]
    assert spread[25] > 5 * spread[1600]


def test_the_spread_of_beta_among_the_largest_subsets_is_no_smaller_than_its_error():
    """Subsets of nearly all labels share most of them; without a correction their spread tends to
    0."""
    found = large()
    error = found.target.covariance[0][0] ** 0.5
    assert (
        found.stability[-1].sd
        > 0.6 * error * (found.target.battles / found.stability[-1].battles) ** 0.5
    )


def test_beta_of_large_subsets_is_that_of_all():
    last = large().stability[-1]
    assert last.mean == pytest.approx(large().target.beta, abs=3 * last.sd)


def test_draws_without_a_beta_are_counted():
    assert {one.draws + one.failed for one in large().stability} == {20}


def test_a_given_constant_has_no_stability():
    assert run(labelled(), target="smoothing", constant=0.7).stability == ()


def compared(frame, **options):
    reasons = []
    found = calibrate_targets(read_battles(frame), tell=reasons.append, bootstrap=20, **options)
    return found, reasons


def with_criteria(frame, seed=0):
    noise = np.random.default_rng(seed).normal(size=len(frame))
    return frame.assign(margin_style=frame["margin"] + noise, margin_depth=frame["margin"] - noise)


@pytest.mark.slow
def test_every_target_that_the_battles_allow_is_compared():
    found, reasons = compared(with_criteria(labelled()))
    assert [one.target.kind for one in found] == [*COMPARED, *["smoothing"] * len(CONSTANTS)]
    assert [expit(one.target.beta) for one in found[-5:]] == pytest.approx(CONSTANTS)
    assert reasons == []


@pytest.mark.slow
def test_incomparable_targets_are_reported_with_the_reason():
    found, reasons = compared(labelled())
    assert {one.target.kind for one in found} == {"margin", "smoothing"}
    [criteria] = reasons
    assert (criteria.startswith("criteria: none of the "), "margin_<criterion>" in criteria) == (
        True,
        True,
    )


@pytest.mark.slow
def test_a_compared_target_is_what_it_is_alone():
    found, _ = compared(labelled(), seed=7, level=0.8)
    assert found[0].models == run(labelled(), seed=7, level=0.8).models


@pytest.mark.slow
def test_soft_credits_are_compared_where_there_are_no_margins():
    frame = labelled()
    found, _ = compared(
        frame.assign(credit=expit(frame["margin"])).drop(columns=["margin", "swap"])
    )
    assert "credit" in {one.target.kind for one in found}


def as_signs(frame):
    """Replace every margin by the sign of the hard label."""
    return frame.assign(margin=2 * hard_label(frame) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("constant", CONSTANTS)
def test_smoothing_by_a_constant_is_a_margin_of_the_verdicts_sign(constant):
    """Soft-Elo, appendix H.1: beta = logit(c), to the last bit."""
    beta = float(distributions.logit(constant))
    assert beta == pytest.approx(float(logit(constant)), rel=1e-15)
    smoothed = rank(read_battles(labelled()), "soft-elo", constant=constant, hard=True)
    signs = rank(read_battles(as_signs(labelled())), "soft-elo", beta=beta, hard=True)
    assert smoothed.standings[0].entries == signs.standings[0].entries


@pytest.mark.slow
def test_calibrating_a_constant_gives_the_anchors_of_ranking_by_it():
    """They differ only by the regularization, which is the same."""
    anchors = run(labelled(), target="smoothing", constant=0.75).anchors
    signs = rank(read_battles(as_signs(labelled())), "soft-elo", beta=float(logit(0.75)))
    scores = {entry.model: entry.score for entry in signs.standings[0].entries}
    assert scores == pytest.approx(
        {one.model: MEAN + POINTS * one.soft_theta for one in anchors}, abs=1e-9
    )


@pytest.mark.slow
def test_a_fitted_constant_is_a_beta_fitted_to_the_verdicts_sign():
    smoothed, signs = run(labelled(), target="smoothing"), run(as_signs(labelled()))
    assert held_out(smoothed, "soft") == held_out(signs, "soft")
    assert (smoothed.target.beta, smoothed.target.low) == (signs.target.beta, signs.target.low)
    assert smoothed.conformal == signs.conformal


@pytest.mark.slow
def test_the_sign_of_the_margin_itself_is_another_smoothing():
    frame = labelled()
    margins = run(frame.assign(margin=np.sign(frame["margin"])))
    smoothed = run(frame, target="smoothing")
    assert (
        max(
            abs(held_out(margins, "soft")[m] - elo) for m, elo in held_out(smoothed, "soft").items()
        )
        > 1
    )


@pytest.mark.slow
def test_criteria_under_a_huge_ridge_are_their_mean():
    frame = with_criteria(labelled())
    margin, criteria = run(frame), run(frame, target="criteria", ridge=1e9)
    assert held_out(criteria, "soft") == pytest.approx(held_out(margin, "soft"), abs=1e-6)
    assert criteria.target.beta == pytest.approx(margin.target.beta, abs=1e-8)


@pytest.mark.slow
def test_criteria_without_a_ridge_are_not_their_mean():
    frame = with_criteria(labelled())
    margin, criteria = run(frame), run(frame, target="criteria", ridge=0.0)
    assert (
        max(abs(held_out(margin, "soft")[m] - elo) for m, elo in held_out(criteria, "soft").items())
        > 1e-3
    )


def soft_credits():
    frame = labelled()
    return frame.assign(credit=expit(0.4 * frame["margin"])).drop(columns=["margin", "swap"])


def test_soft_credits_without_margins_are_targets_as_they_are():
    target = run(soft_credits()).target
    assert (target.kind, target.beta, target.low, target.battles) == ("credit", 1.0, None, 0)


@pytest.mark.slow
def test_soft_ratings_of_soft_credits_are_those_of_human_who_say_the_same():
    """Credits given to humans instead are rated by the same two steps."""
    frame = soft_credits()
    assert held_out(run(frame), "soft") == pytest.approx(
        held_out(run(frame.assign(human=frame["credit"])), "human"), abs=1e-9
    )


@pytest.mark.slow
def test_soft_credits_beside_margins_are_not_the_target():
    frame = labelled()
    assert run(frame.assign(credit=expit(frame["margin"]))).target.kind == "margin"


@pytest.mark.slow
def test_the_seed_changes_errors_and_no_rating():
    other = run(labelled(), seed=1)
    assert held_out(other, "soft") == held_out(calibrated(), "soft")
    assert [one.soft_se for one in other.models] != [one.soft_se for one in calibrated().models]


@pytest.mark.slow
def test_the_file_says_what_it_was_made_with():
    found = run(labelled(), level=0.8, splits=3, seed=9, bootstrap=25, regularization=0.02)
    options = found.provenance["options"]
    assert (found.se_method, found.seed, found.regularization) == ("bootstrap:25", 9, 0.02)
    assert (options["level"], options["splits"], options["target"]) == (0.8, 3, "margin")


@pytest.mark.slow
def test_uninformative_judge_is_reported_by_calibration_and_by_ranking_newcomers():
    """Its small error is that of ratings all alike."""
    frame = labelled()
    blind = frame.assign(human=np.random.default_rng(0).choice([0.0, 1.0], len(frame)))
    calibration = run(blind)
    assert calibration.answer[0] == (
        "The soft ratings carry no information about human ratings: take another judge or "
        "another target."
    )
    assert (
        len(calibration.answer),
        calibration.is_uninformative,
        calibrated().is_uninformative,
    ) == (3, True, False)
    found = rank(read_battles(blind.drop(columns="human")), "soft-elo", calibration=calibration)
    assert any(
        "says: the judge's soft ratings carry no information" in text
        for text in notice_texts(found.standings[0].warnings)
    )
    assert "no information" not in calibrated().answer[0]


@pytest.mark.slow
def test_a_judge_is_shown_by_its_short_name():
    name = "acme/x|direct|1d2d7160a0dc|replies=auto"
    battles = read_battles(drawn().assign(judge=name))
    asked = JudgeRecord(name, "model", "acme/x", realization="direct", prompt="1d2d7160a0dc")
    found = calibrate(replace(battles, judge_records={name: asked}))
    assert (found.judge, found.shown_judge) == (name, "acme/x")
    reports = calibration_reports(found)
    titles = [report.title for report in reports]
    assert "calibration · acme/x · target margin" in titles
    assert "1d2d7160a0dc" not in f"{titles} {found!r}"
    assert calibrate(battles).shown_judge == name, "a name that nothing explains is kept"
