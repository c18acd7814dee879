"""New models beside a calibration: each placed alone against fixed anchors, with a conformal
interval."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from conformal_ends import mirrored_ends
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit
from turned_battles import mirror

from podium import DataError, Judge, UsageError, calibrate, rank, read_battles, simulate
from podium.defaults import MEAN
from podium.notices.notice_text import notice_texts
from podium.rankers.fit.scale import POINTS
from podium.show.report.standings_notes import standings_notes

JUDGE = Judge("rubric-judge", scale=2.0, noise=0.6)
OLD = tuple(f"old-{k:02d}" for k in range(12))
NEW = ("new-a", "new-b", "new-c")


@cache
def played():
    """Return a battle of every pair on every item, in one order, with human labels."""
    return simulate([*OLD, *NEW], 20, seed=8, spread=0.8).judgments(JUDGE, human=True, orders="ab")


def is_old(frame):
    return frame["model_a"].isin(OLD), frame["model_b"].isin(OLD)


def among_old():
    a, b = is_old(played())
    return played()[a & b].copy()


@cache
def arrivals():
    """Return the battles of new models against calibrated ones."""
    a, b = is_old(played())
    return played()[a ^ b].drop(columns="human")


@cache
def battles_of_arrivals():
    return read_battles(arrivals())


def among_new():
    a, b = is_old(played())
    return played()[~a & ~b].drop(columns="human")


def without(frame, name):
    return frame[(frame["model_a"] != name) & (frame["model_b"] != name)]


@cache
def calibrated(**options):
    """Twelve calibrated models, enough for 90%, on the judge's own scale unless it is asked for
    otherwise."""
    options = {"scale_correction": False, **options}
    frame = among_old().assign(prompt_hash="abc") if options.pop("hashed", False) else among_old()
    return calibrate(read_battles(frame), bootstrap=25, **options)


def known():
    return calibrated()


def standings(*frames, calibration=None, **options):
    alone = len(frames) == 1 and frames[0] is arrivals()
    battles = battles_of_arrivals() if alone else read_battles(pd.concat(frames))
    return rank(battles, "soft-elo", calibration=calibration or known(), **options).standings[0]


def placed(*frames, **options):
    """Return the entries by model, without their rank, which depends on everyone."""
    return {one.model: replace(one, rank=0) for one in standings(*frames, **options).entries}


def measured(entry):
    """Return what a newcomer's battles against calibrated models say."""
    return (entry.score, entry.low, entry.high, entry.se, dict(entry.extra))


def warning_with(found, words):
    [warning] = [one for one in notice_texts(found.warnings) if words in one]
    return warning


def silent(found, words):
    return [one for one in notice_texts(found.warnings) if words in one] == []


def scores_of(models):
    return sorted(one.score("soft") for one in models)


def quantile(scores, level):
    """The smallest score that a share `level` of n + 1 lies below, the newcomer's own being
    infinite."""
    k = math.ceil(round(level * (len(scores) + 1), 9))
    return scores[k - 1] if k <= len(scores) else math.inf


def own_score(name, frame, calibration, kind="soft"):
    """The root of the score equation of one model against fixed anchors, in plain pandas."""
    theta = {one.model: getattr(one, f"{kind}_theta") for one in calibration.anchors}
    a, b = frame["model_a"] == name, frame["model_b"] == name
    mine = frame[(a | b) & (frame["model_a"].isin(theta) | frame["model_b"].isin(theta))]
    first = mine["model_a"] == name
    against = mine["model_b"].where(first, mine["model_a"]).map(theta)
    credit = expit(calibration.target.beta * mine["margin"]) if kind == "soft" else mine["credit"]
    earned = credit.where(first, 1 - credit)
    t = brentq(
        lambda t: np.sum(earned - expit(t - against)) - calibration.regularization * t,
        -30,
        30,
        xtol=1e-14,
        rtol=1e-14,
    )
    return MEAN + POINTS * t


@pytest.mark.slow
@pytest.mark.parametrize("name", NEW)
def test_newcomers_score_solves_its_score_equation(name):
    found = placed(arrivals())[name].score
    assert found == pytest.approx(own_score(name, arrivals(), known()), rel=0, abs=1e-8)


@pytest.mark.slow
def test_a_joint_fit_would_give_other_scores():
    joint = rank(read_battles(arrivals()), "soft-elo", beta=known().target.beta).standings[0]
    apart = placed(arrivals())
    assert (
        max(abs(one.score - apart[one.model].score) for one in joint.entries if one.model in NEW)
        > 1
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NEW)
def test_newcomers_hard_score_is_fitted_against_the_hard_scores_of_calibrated_models(name):
    found = placed(arrivals(), hard=True)[name].extra["hard"]
    assert found == pytest.approx(own_score(name, arrivals(), known(), "hard"), rel=0, abs=1e-8)


@pytest.mark.slow
def test_human_labels_of_newcomers_do_not_move_them():
    a, b = is_old(played())
    assert placed(played()[a ^ b]) == placed(arrivals())


@pytest.mark.slow
@pytest.mark.parametrize("other", NEW)
def test_without_another_newcomer_the_rest_stays_as_it_was(other):
    every, fewer = placed(arrivals()), placed(without(arrivals(), other))
    assert {name: fewer[name] for name in NEW if name != other} == {
        name: every[name] for name in NEW if name != other
    }


@pytest.mark.slow
def test_battles_among_newcomers_change_no_score():
    every, more = placed(arrivals()), placed(arrivals(), among_new())
    assert [measured(more[name]) for name in NEW] == [measured(every[name]) for name in NEW]


@pytest.mark.slow
def test_battles_among_newcomers_are_in_no_count_of_theirs():
    every, more = placed(arrivals()), placed(arrivals(), among_new())
    assert {name: more[name] for name in NEW} == {name: every[name] for name in NEW}


@pytest.mark.slow
def test_battles_among_calibrated_models_move_no_newcomer():
    every, more = placed(arrivals()), placed(arrivals(), among_old().drop(columns="human"))
    assert {name: more[name] for name in NEW} == {name: every[name] for name in NEW}


@pytest.mark.slow
def test_result_does_not_depend_on_row_order_or_response_order():
    turned = np.random.default_rng(0).random(len(arrivals())) < 0.5
    swapped = pd.concat([arrivals()[~turned], mirror(arrivals()[turned])]).sample(
        frac=1, random_state=1
    )
    found, expected = placed(swapped), placed(arrivals())
    for name in NEW:
        assert found[name].score == pytest.approx(expected[name].score, abs=1e-8)
        assert found[name].se == pytest.approx(expected[name].se, abs=1e-6)


def test_another_seed_draws_other_errors_of_the_same_score():
    one, other = placed(arrivals()), placed(arrivals(), seed=5)
    assert [one[name].score for name in NEW] == [other[name].score for name in NEW]
    assert all(one[name].se != other[name].se for name in NEW)


def test_newcomers_of_the_same_battles_have_the_same_error_whatever_they_are_called():
    copy = arrivals().replace({"model_a": {"new-a": "copy"}, "model_b": {"new-a": "copy"}})
    found = placed(arrivals(), copy[(copy["model_a"] == "copy") | (copy["model_b"] == "copy")])
    assert found["copy"].score == pytest.approx(found["new-a"].score, abs=1e-8)
    assert found["copy"].se == pytest.approx(found["new-a"].se, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_conformal_ends_are_q_standard_errors_away_with_q_from_the_files_scores(level):
    q = quantile(scores_of(known().models), level)
    for name in NEW:
        entry = placed(arrivals(), conformal_level=level)[name]
        ends = mirrored_ends(entry)
        assert ends == pytest.approx(
            (entry.score - q * entry.se, entry.score + q * entry.se), abs=1e-9
        )
        assert entry.extra["conformal_level"] == level


@pytest.mark.slow
def test_the_conformal_level_is_by_default_that_of_the_file():
    assert (
        placed(arrivals(), calibration=calibrated(level=0.8))["new-a"].extra["conformal_level"]
        == 0.8
    )


def test_more_models_than_there_are_make_an_infinite_interval_with_their_number():
    found = standings(arrivals(), conformal_level=0.95)
    entry = {one.model: one for one in found.entries}["new-a"]
    assert (entry.extra["conformal_low"], entry.extra["conformal_high"]) == (None, None)
    assert warning_with(found, "infinite conformal interval") == (
        "infinite conformal interval: 12 calibrated models stand for it, and the level needs at "
        "least 19: new-a, new-b, new-c"
    )
    assert (
        found.diagnostics["conformal"]["needed"],
        found.diagnostics["conformal"]["q"]["new-a"],
    ) == (19, None)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_sampling_intervals_are_students_with_a_degree_less_than_items(level):
    for name in NEW:
        entry = placed(arrivals(), level=level)[name]
        reach = stats.t.ppf((1 + level) / 2, 20 - 1)
        assert (entry.low, entry.high) == pytest.approx(
            (entry.score - reach * entry.se, entry.score + reach * entry.se)
        )


def test_calibrated_models_keep_the_files_rating():
    found = placed(arrivals())
    kept = {one.model: MEAN + POINTS * one.soft_theta for one in known().anchors}
    assert {name: found[name].score for name in OLD} == pytest.approx(kept, abs=1e-9)


@pytest.mark.slow
def test_calibrated_models_have_no_interval_of_any_kind():
    rows = [placed(arrivals())[name] for name in OLD]
    assert {
        value for one in rows for value in (one.low, one.high, one.se, *one.extra.values())
    } == {None}


def test_all_are_ranked_by_their_score():
    entries = standings(arrivals()).entries
    assert [one.rank for one in entries] == list(range(1, 16))
    assert [one.score for one in entries] == sorted((one.score for one in entries), reverse=True)


def strangers(*rows):
    """Return battles of models that never met a calibrated one."""
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "margin"])
    return frame.assign(credit=(np.sign(frame["margin"]) + 1) / 2, judge="rubric-judge")


LONE = [("item-01", "lone", "lonely", 1.5), ("item-02", "lonely", "new-a", 0.5)]


@pytest.mark.slow
def test_models_that_never_met_a_calibrated_one_come_last_without_a_score():
    *_, one, other = standings(arrivals(), strangers(*LONE)).entries
    assert ({one.model, other.model}, one.rank, other.rank) == ({"lone", "lonely"}, 16, 16)
    assert {
        one.score,
        one.se,
        one.extra["conformal_low"],
        other.score,
        other.extra["conformal_level"],
    } == {None}


@pytest.mark.slow
def test_models_that_never_met_a_calibrated_one_are_named_with_what_would_help():
    warning = warning_with(standings(arrivals(), strangers(*LONE)), "no place")
    assert (
        "no place and no conformal interval: lone, lonely. What would help: battles against any"
        in warning
    )


@pytest.mark.slow
def test_battles_among_newcomers_are_counted_as_left_out():
    found = standings(arrivals(), among_new(), strangers(*LONE))
    assert warning_with(found, "between new") == (
        f"{len(among_new()) + 2} battles between new models are left out: each is placed alone"
    )


@pytest.mark.slow
def test_battles_among_calibrated_models_are_counted_as_left_out():
    found = standings(arrivals(), among_old().head(31))
    assert warning_with(found, "between calibrated") == (
        "31 battles between calibrated models are left out: their ratings are fixed"
    )


def test_complete_data_report_no_omissions():
    codes = [one.code for one in standings(arrivals()).warnings]
    assert codes == ["outside-calibrated-models"]  # new-b


NONE_PLACED = (
    "no conformal intervals: no model that the calibration does not know has battles against "
    "models that it knows; all are rated together, by its beta"
)


@pytest.mark.slow
@pytest.mark.parametrize("frame", [among_old, among_new], ids=["all known", "none known"])
def test_without_anybody_to_place_all_are_rated_together_by_the_files_beta(frame):
    found = standings(frame())
    joint = rank(read_battles(frame()), "soft-elo", beta=known().target.beta).standings[0]
    expected = {one.model: one.score for one in joint.entries}
    assert {one.model: one.score for one in found.entries} == pytest.approx(expected, abs=1e-9)
    assert ({*found.entries[0].extra}, NONE_PLACED in notice_texts(found.warnings)) == (set(), True)


@pytest.mark.slow
def test_in_a_joint_fit_the_error_of_the_files_beta_is_in_the_intervals():
    found = {one.model: one.se for one in standings(among_old()).entries}
    joint = rank(read_battles(among_old()), "soft-elo", beta=known().target.beta).standings[0]
    assert all(found[one.model] > one.se for one in joint.entries)


@pytest.mark.slow
def test_newcomers_without_margins_are_rejected():
    frame = pd.concat([among_old(), arrivals().assign(margin=np.nan)])
    assert NONE_PLACED in notice_texts(standings(frame).warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{"pin": "new-a:1000"}, {"regularization": 0.01}, {"cluster": "row"}],
    ids=lambda one: next(iter(one)),
)
def test_what_the_calibration_decides_is_rejected_beside_placement(options):
    with pytest.raises(
        UsageError, match=f"{next(iter(options))}: new models are placed on the calibration's axis"
    ):
        standings(arrivals(), **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"pin": "old-00:1000"}, {"regularization": 0.05}, {"cluster": "row"}]
)
def test_same_input_is_accepted_without_newcomers(options):
    assert len(standings(among_old(), **options).entries) == 12


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"target": "margin"}, {"beta": 0.5}, {"constant": 0.7}])
@pytest.mark.parametrize("frame", [arrivals, among_old])
def test_another_map_beside_a_calibration_is_rejected(frame, options):
    with pytest.raises(
        UsageError, match="target, beta, constant and ridge say what the calibration says already"
    ):
        standings(frame(), **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": "human"}, "^of needs calibration=FILE"),
        ({"conformal_level": 0.8}, "^conformal_level needs calibration=FILE"),
        ({"conformal_level": 0.8, "of": "human"}, "^conformal_level and of need calibration=FILE"),
    ],
)
def test_options_of_conformal_intervals_need_a_calibration(options, message):
    with pytest.raises(UsageError, match=message):
        rank(read_battles(among_old()), "soft-elo", **options)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 90, float("nan")])
def test_a_conformal_level_outside_0_and_1_is_rejected(level):
    with pytest.raises(UsageError, match=f"level {level} is not between 0 and 1"):
        standings(arrivals(), conformal_level=level)


def test_a_table_of_models_that_names_a_model_twice_is_rejected():
    with pytest.raises(DataError, match="model 'old-00' has two rows"):
        standings(arrivals(), models=pd.DataFrame({"model": ["old-00", "old-00"], "family": "oak"}))


def test_a_table_of_models_without_a_column_model_is_rejected():
    with pytest.raises(DataError, match="no column model; found: family, size"):
        standings(arrivals(), models=pd.DataFrame({"family": ["oak"], "size": [7]}))


@pytest.mark.slow
def test_coverage_assumptions_are_reported_with_the_numbers_and_in_the_table():
    found = standings(arrivals())
    assumption, printed = (
        " ".join(text.split())
        for text in (found.diagnostics["conformal"]["assumption"], " ".join(standings_notes(found)))
    )
    assert "exchangeable with the calibrated models;" in assumption
    assert assumption in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cluster", "drawn"), [("item", "items independent"), ("row", "battles independent")]
)
def test_independence_assumption_of_standard_errors_is_reported(cluster, drawn):
    found = standings(arrivals(), calibration=calibrated(cluster=cluster))
    assert drawn in found.diagnostics["conformal"]["assumption"]
    assert found.interval == f"bootstrap:25 of own {cluster}s, anchors and beta held fixed"


def test_battles_without_items_are_reported_as_independent():
    found = standings(arrivals().drop(columns="item"))
    assert "own rows" in found.interval
    assert "battles independent" in found.diagnostics["conformal"]["assumption"]


@pytest.mark.slow
def test_a_calibration_of_single_battles_warns_where_battles_share_items():
    found = standings(arrivals(), calibration=calibrated(cluster="row"))
    assert warning_with(found, "too narrow").startswith(
        "battles of new-a, new-b, new-c share items"
    )


def test_a_single_item_gives_a_score_and_no_interval():
    found = standings(arrivals()[arrivals()["item"] == "item-03"])
    entry = {one.model: one for one in found.entries}["new-a"]
    assert (entry.score is not None, entry.se, entry.low, entry.extra["conformal_low"]) == (
        True,
        None,
        None,
        None,
    )
    assert warning_with(found, "a single item").endswith("no interval: new-a, new-b, new-c")


def test_battles_that_all_say_the_same_give_no_interval_of_no_width():
    same = strangers(*((f"item-{k:02d}", "zed", "old-00", 2.0) for k in range(20)))
    entry = placed(arrivals(), same)["zed"]
    assert (entry.score is not None, entry.low, entry.extra["conformal_low"]) == (True, None, None)


@pytest.mark.slow
def test_margins_of_a_size_that_saturates_are_separated_and_unbounded():
    won = strangers(*((f"item-{k:02d}", "zed", old, 1000.0) for k in range(20) for old in OLD))
    found = standings(arrivals(), won)
    zed = {one.model: one for one in found.entries}["zed"]
    assert (zed.separated, zed.low, zed.extra["conformal_high"]) == (True, None, None)
    assert "separated" in warning_with(found, "zed")


@pytest.mark.slow
def test_a_calibration_of_the_same_judge_prompt_and_margins_is_not_warned_of():
    found = standings(arrivals().assign(prompt_hash="abc"), calibration=calibrated(hashed=True))
    # The one new model that is rated above all others has an open interval, whatever the judge is.
    assert [notice.code for notice in found.warnings] == ["outside-calibrated-models"]


@pytest.mark.slow
def test_another_judge_is_warned_of_by_name():
    found = standings(arrivals().assign(judge="kind-judge"))
    assert warning_with(found, "another judge") == (
        "another judge: calibrated on 'rubric-judge', the battles are of 'kind-judge'"
    )


@pytest.mark.slow
def test_battles_that_do_not_say_their_judge_are_warned_of():
    assert warning_with(standings(arrivals().drop(columns="judge")), "no judge") == (
        "no judge is named by the battles: a calibration holds for its own judge"
    )


@pytest.mark.slow
def test_another_prompt_is_warned_of():
    found = standings(arrivals().assign(prompt_hash="def"), calibration=calibrated(hashed=True))
    assert (
        warning_with(found, "another prompt")
        == "the judge of these battles had another prompt than the calibrated one"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factor", "warned"), [(0.5, True), (0.8, False), (1.25, False), (2.0, True)]
)
def test_margins_of_another_size_are_warned_of_with_both_sizes(factor, warned):
    before, now = known().agreement.mean_abs_margin, factor * arrivals()["margin"].abs().mean()
    found = standings(arrivals().assign(margin=factor * arrivals()["margin"]))
    words = f"margins of another size: mean |margin| is {now:.3g}, and was {before:.3g}"
    assert any(one.startswith(words) for one in notice_texts(found.warnings)) == warned


@pytest.mark.slow
def test_margins_on_other_criteria_are_rejected():
    frame = among_old().assign(
        margin_style=among_old()["margin"] + 0.1, margin_depth=among_old()["margin"]
    )
    calibration = calibrate(
        read_battles(frame), bootstrap=20, target="criteria", scale_correction=False
    )
    other = arrivals().assign(margin_style=arrivals()["margin"], margin_tone=arrivals()["margin"])
    with pytest.raises(Exception, match="another judge or another rubric"):
        standings(other, calibration=calibration)


@pytest.mark.slow
def test_slices_are_placed_on_the_same_axis():
    halves = arrivals().assign(half=np.where(arrivals()["item"] < "item-10", "first", "second"))
    ranking = rank(read_battles(halves), "soft-elo", calibration=known(), by="half")
    first, second = ({one.model: one.score for one in part.entries} for part in ranking.standings)
    assert [first[name] for name in OLD] == [second[name] for name in OLD]
    assert first["new-a"] == pytest.approx(
        own_score("new-a", halves[halves["half"] == "first"], known()), abs=1e-8
    )


def repeated(frame, times):
    """Return the battles repeated on a multiple of the items."""
    return pd.concat([frame.assign(item=frame["item"].astype(str) + f"/{k}") for k in range(times)])


@pytest.mark.slow
def test_a_newcomer_of_many_more_battles_than_the_calibrated_ones_is_warned_of():
    """Its standard error shrinks, the judge's disagreement with humans does not: the interval would
    be too narrow."""
    warning = warning_with(standings(repeated(arrivals(), 20)), "conformal interval too narrow")
    assert all(name in warning for name in NEW)


def test_newcomers_of_as_many_battles_are_not_warned_of():
    assert silent(standings(arrivals()), "too narrow")


def test_doubts_of_the_calibration_are_reported_by_the_ranking():
    agreement = replace(known().agreement, mean_abs_margin=0.01)
    weak = replace(known(), agreement=agreement, target=replace(known().target, low=-0.1))
    found = standings(arrivals(), calibration=weak)
    assert "contains 0" in warning_with(found, "no signal")
    assert "below 0.35" in warning_with(found, "weak margin signal")


def test_a_ridge_beside_a_calibration_is_rejected():
    with pytest.raises(UsageError, match="ridge say what the calibration says already"):
        standings(arrivals(), ridge=5.0)


def winning(share):
    """Return the arrivals of new-a alone, which wins this share of its battles."""
    frame = arrivals()
    own = frame[(frame["model_a"] == "new-a") | (frame["model_b"] == "new-a")].copy()
    wins = np.arange(len(own)) % 20 < round(20 * share)
    is_first = (own["model_a"] == "new-a").to_numpy()
    own["credit"] = np.where(wins == is_first, 1.0, 0.0)
    own["margin"] = np.where(wins == is_first, 4.0, -4.0)
    return own


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "open_end", "known_end", "side"),
    [
        (0.95, "conformal_high", "conformal_low", "above"),
        (0.05, "conformal_low", "conformal_high", "below"),
    ],
)
def test_interval_is_open_beyond_the_calibrated_models(share, open_end, known_end, side):
    found = standings(winning(share))
    [entry] = [one for one in found.entries if one.model == "new-a"]
    others = [one.score for one in found.entries if one.model != "new-a"]
    assert entry.score > max(others) if side == "above" else entry.score < min(others)
    assert entry.extra[open_end] is None
    assert np.isfinite(entry.extra[known_end])
    warning = warning_with(found, f"new-a is rated {side} all calibrated models")
    assert "the conformal interval is open on that side" in warning
    infinite = "… ∞)" if side == "above" else "(-∞ …"
    assert infinite in " ".join(found.answer)


@pytest.mark.slow
def test_interval_has_both_ends_within_the_calibrated_models():
    found = standings(winning(0.5))
    [entry] = [one for one in found.entries if one.model == "new-a"]
    assert entry.extra["conformal_low"] < entry.score < entry.extra["conformal_high"]
    assert silent(found, "all calibrated models, where")
