"""Judgments become a battle by the rules of recorded battles; several judges' battles become
one."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.errors import UsageError
from podium.scorers.battle import (
    Judgment,
    average_orders,
    compare_ratings,
    judgments,
    merge_jury,
    swap_sides,
)
from podium.scorers.direct import DIRECT
from podium.scorers.judging import Judging
from podium.scorers.reply import Rating, Verdict
from podium.scorers.rubric import CRITERIA

WIN, TIE, LOSS, UNPARSED = Verdict(1.0), Verdict(0.5), Verdict(0.0), Verdict(None, reason="empty")
NUMBERS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
MARGINS = st.sampled_from([None, -3.0, 0.0, 1.5])
READ = st.builds(Verdict, NUMBERS, MARGINS)
VERDICTS = READ | st.sampled_from(["empty", "refusal", "several verdicts"]).map(
    lambda reason: Verdict(None, reason=reason)
)


def change_of_order(ab: Verdict, ba: Verdict) -> str:
    """Return what a change of order did: `same`, `half` (one tie), `flip`, `one-sided` or
    `unparsed`."""
    if ab.credit is None or ba.credit is None:
        return "unparsed" if ab.credit is None and ba.credit is None else "one-sided"
    x, y = ((credit > 0.5) - (credit < 0.5) for credit in (ab.credit, 1 - ba.credit))
    return "same" if x == y else "flip" if x == -y else "half"


def merged(ab: Verdict | None, ba: Verdict | None, **more: str) -> Verdict:
    """Return the battle of a verdict on x, shown first, and one on y, shown first; None = never
    asked."""
    about_x = [ab, None if ba is None else swap_sides(ba)]
    return average_orders([verdict for verdict in about_x if verdict is not None], **more)


def recorded(ab: Verdict, ba: Verdict, *, names_swapped: bool, one_sided: str) -> pd.Series:
    """Return the battle that a table with both judgments is read as, from x's point of view."""
    other = ba if names_swapped else swap_sides(ba)
    names, order = (("y", "x"), "ab") if names_swapped else (("x", "y"), "ba")
    columns = ["item", "model_a", "model_b", "order", "credit", "margin", "reason"]
    rows = [
        ["i", "x", "y", "ab", ab.credit, ab.margin, ab.reason],
        ["i", *names, order, other.credit, other.margin, other.reason],
    ]
    table = pd.DataFrame(rows, columns=columns).astype({"credit": float, "margin": float})
    return podium.read_battles(table, one_sided=one_sided).table.iloc[0]


def same(number: float | None, cell: float) -> bool:
    return (
        number is None and bool(np.isnan(cell))
        if number is None or np.isnan(cell)
        else number == cell
    )


@pytest.mark.slow
@settings(deadline=None)
@given(VERDICTS, VERDICTS, st.booleans(), st.sampled_from(["unparsed", "keep"]))
def test_a_battle_is_what_a_table_with_both_judgments_is_read_as(
    ab: Verdict, ba: Verdict, names_swapped: bool, one_sided: str
) -> None:
    ours, theirs = (
        merged(ab, ba, one_sided=one_sided),
        recorded(ab, ba, names_swapped=names_swapped, one_sided=one_sided),
    )
    assert same(ours.credit, theirs["credit"])
    assert same(ours.margin, theirs["margin"])
    assert ours.reason == (None if pd.isna(theirs["reason"]) else theirs["reason"])
    assert change_of_order(ab, ba) == theirs["swap"]


def test_margins_per_criterion_are_averaged_where_both_orders_have_them() -> None:
    ab = Verdict(1.0, 2.0, {"clarity": 3.0, "fluency": 1.0})
    ba = Verdict(1.0, 1.0, {"clarity": 1.0})
    assert merged(ab, ba).criteria == {"clarity": 1.0}


@pytest.mark.slow
@given(VERDICTS, VERDICTS)
def test_swapped_battle_has_complementary_credit(ab: Verdict, ba: Verdict) -> None:
    ours, theirs = merged(ab, ba), swap_sides(merged(ba, ab))
    assert (ours.credit, ours.margin, ours.reason) == (theirs.credit, theirs.margin, theirs.reason)


@given(VERDICTS)
def test_a_verdict_turned_twice_is_itself(verdict: Verdict) -> None:
    assert swap_sides(swap_sides(verdict)) == verdict


def test_an_order_that_was_never_asked_is_not_missed() -> None:
    assert (merged(WIN, None), merged(None, WIN).credit, merged(None, UNPARSED)) == (
        WIN,
        0.0,
        UNPARSED,
    )


def test_two_ratings_make_a_verdict() -> None:
    found = [compare_ratings(Rating(a), Rating(b)) for a, b in ((3.0, 1.0), (1.0, 1.0), (1.0, 3.0))]
    assert [(one.credit, one.margin) for one in found] == [(1.0, 2.0), (0.5, 0.0), (0.0, -2.0)]


def test_a_rating_that_is_unparsed_makes_the_verdict_unparsed() -> None:
    reasons = [
        compare_ratings(*pair).reason
        for pair in (
            (Rating(1.0), Rating(None, reason="empty")),
            (Rating(None, reason="refusal"), Rating(None, reason="empty")),
        )
    ]
    assert reasons == ["empty", "empty / refusal"]


@pytest.mark.parametrize(
    ("verdicts", "credit"),
    [
        ([WIN, WIN, LOSS], 1.0),
        ([WIN, LOSS, LOSS], 0.0),
        ([WIN, WIN, UNPARSED], 1.0),
        ([WIN, UNPARSED, UNPARSED], None),
        ([WIN, TIE, UNPARSED], None),
        ([WIN, TIE, TIE], 0.5),
        ([TIE, TIE, UNPARSED], 0.5),
        ([WIN, LOSS, TIE], 0.5),
        ([WIN, LOSS, UNPARSED], 0.5),
        ([WIN, WIN, TIE, TIE], None),
        ([UNPARSED, UNPARSED, UNPARSED], None),
        ([Verdict(0.6), Verdict(0.7), Verdict(0.1)], 1.0),
        ([WIN], 1.0),
    ],
)
def test_a_majority_needs_a_quorum_of_decisive_votes_or_of_ties(
    verdicts: list[Verdict], credit: float | None
) -> None:
    found = merge_jury(verdicts, "majority")
    assert (found.credit, found.reason) == (credit, None if credit is not None else "no quorum")


def test_the_label_of_a_majority_counts_the_votes() -> None:
    assert merge_jury([WIN, WIN, TIE, LOSS, UNPARSED], "majority").label == "2-1-1"


def test_a_mean_averages_credits_and_margins_of_the_judges_that_were_read() -> None:
    verdicts = [Verdict(1.0, 2.0, {"clarity": 2.0}), Verdict(0.5, 0.0, {"clarity": 1.0}), UNPARSED]
    found = merge_jury(verdicts)
    assert (found.credit, found.margin, found.criteria) == (0.75, 1.0, {"clarity": 1.5})


def test_a_mean_has_no_margin_where_a_judge_has_none() -> None:
    assert merge_jury([Verdict(1.0, 2.0), WIN]).margin is None


@pytest.mark.parametrize(("quorum", "reason"), [(None, "no quorum"), (1, None), (3, "no quorum")])
def test_a_mean_needs_a_quorum_of_judges_that_were_read(
    quorum: int | None, reason: str | None
) -> None:
    assert merge_jury([WIN, UNPARSED, UNPARSED], quorum=quorum).reason == reason


@pytest.mark.parametrize("quorum", [0, 4, -1])
def test_a_quorum_that_cannot_be_is_an_error(quorum: int) -> None:
    with pytest.raises(UsageError, match="the quorum of a jury of 3 cannot be"):
        merge_jury([WIN, WIN, WIN], quorum=quorum)


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(UsageError, match="available: mean, majority"):
        Judging(DIRECT, rule="median")


def test_more_than_half_is_a_quorum() -> None:
    least = [
        next(
            k
            for k in range(1, judges + 1)
            if merge_jury([WIN] * k + [UNPARSED] * (judges - k)).credit is not None
        )
        for judges in (1, 2, 3, 4, 5)
    ]
    assert least == [1, 2, 2, 3, 3]


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["mean", "majority"])
@given(verdicts=st.lists(VERDICTS, min_size=1, max_size=5))
def test_jury_does_not_depend_on_judge_order_or_response_order(
    rule: str, verdicts: list[Verdict]
) -> None:
    found, backwards = merge_jury(verdicts, rule), merge_jury(verdicts[::-1], rule)
    mirrored = swap_sides(merge_jury([swap_sides(verdict) for verdict in verdicts], rule))
    assert found.reason == backwards.reason == mirrored.reason
    assert found.credit == pytest.approx(backwards.credit)
    assert found.credit == pytest.approx(mirrored.credit)


@given(st.lists(VERDICTS, min_size=1, max_size=5))
def test_jury_of_ties_and_unparsed_verdicts_makes_no_decision(verdicts: list[Verdict]) -> None:
    undecided = [TIE if verdict.credit == 0.5 else UNPARSED for verdict in verdicts]
    assert merge_jury(undecided, "majority").credit in (0.5, None)


def test_both_orders_are_shown_once_per_repeat() -> None:
    shown = judgments("i", "x", "y", repeats=2)
    assert shown == (
        Judgment("i", "x", "y", "ab", 0),
        Judgment("i", "y", "x", "ba", 0),
        Judgment("i", "x", "y", "ab", 1),
        Judgment("i", "y", "x", "ba", 1),
    )


def test_as_given_shows_the_first_first() -> None:
    assert judgments("i", "y", "x", orders="as-given", repeats=2) == (
        Judgment("i", "y", "x", "ab", 0),
        Judgment("i", "y", "x", "ab", 1),
    )


@pytest.mark.slow
@given(st.text(), st.text(), st.text(), st.integers())
def test_the_drawn_order_does_not_depend_on_who_is_named_first(
    item: str, a: str, b: str, seed: int
) -> None:
    ours, theirs = (
        judgments(item, *pair, orders="random", seed=seed)[0] for pair in ((a, b), (b, a))
    )
    assert (ours.first, ours.second) == (theirs.first, theirs.second)


def test_drawn_orders_are_even_and_differ_by_item_pair_seed_and_repeat() -> None:
    pairs = list(itertools.combinations("abcdefgh", 2))
    drawn = {
        (item, pair, seed): "".join(
            one.order[0]
            for one in judgments(str(item), *pair, orders="random", seed=seed, repeats=4)
        )
        for item, pair, seed in itertools.product(range(20), pairs, range(2))
    }
    ab = sum(orders.count("a") for orders in drawn.values()) / (4 * len(drawn))
    assert (abs(ab - 0.5) < 0.03, len(set(drawn.values()))) == (True, 16)
    assert any(drawn[0, pair, 0] != drawn[0, pair, 1] for pair in pairs)


@pytest.mark.parametrize("options", [{"orders": "all"}, {"repeats": 0}])
def test_impossible_orders_are_an_error(options: dict) -> None:
    with pytest.raises(UsageError):
        Judging(DIRECT, **options)


def test_a_whole_battle_from_two_rubric_replies() -> None:
    from judge_replies import scores

    from podium.plugins import catalogue
    from podium.scorers.prompt import Settings
    from podium.scorers.reply import Reply

    read = catalogue.find_realization("rubric").read_reply
    ab, ba = (read(Reply(text), Settings()) for text in (scores(9, 6), scores(7, 8)))
    battle = merged(ab, ba)
    assert (battle.credit, battle.margin, battle.criteria) == (
        1.0,
        2.0,
        dict.fromkeys(CRITERIA, 2.0),
    )
