"""Two judgments of one pair, one in each order, become one battle."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.data.battles import SwapReport
from podium.notices.notice_text import notice_texts

COLUMNS = ("item", "model_a", "model_b", "order", "credit")
NAMES = (
    "rank",
    "rank_low",
    "rank_high",
    "score",
    "low",
    "high",
    "se",
    "battles",
    "win_rate",
    "separated",
)


def read(*rows, columns=COLUMNS, **options):
    return podium.read_battles(pd.DataFrame(rows, columns=list(columns)), **options)


def only(battles):
    assert len(battles) == 1
    return battles.to_frame().iloc[0]


def test_one_of_each_order_becomes_one_battle_with_the_mean_credit():
    row = only(read(("i", "x", "y", "ab", 1.0), ("i", "x", "y", "ba", 0.5)))
    assert (row["model_a"], row["model_b"], row["credit"], row["order"]) == (
        "x",
        "y",
        0.75,
        "merged",
    )


def test_the_other_order_may_name_the_models_swapped():
    row = only(read(("i", "x", "y", "ab", 1.0), ("i", "y", "x", "ab", 0.25)))
    assert (row["model_a"], row["credit"]) == ("x", 0.875)


def test_swapped_names_in_the_same_shown_order_do_not_merge():
    """`x, y, ab` and `y, x, ba` both show x first: they are repeats of one order."""
    battles = read(("i", "x", "y", "ab", 1.0), ("i", "y", "x", "ba", 0.0))
    assert (len(battles), battles.swaps()) == (2, None)


@pytest.mark.slow
def test_margins_are_averaged_in_the_orientation_of_the_first_row():
    columns = (*COLUMNS, "margin")
    row = only(
        read(("i", "x", "y", "ab", 1.0, 3.0), ("i", "y", "x", "ab", 1.0, 1.0), columns=columns)
    )
    assert (row["credit"], row["margin"]) == (0.5, 1.0)


@pytest.mark.slow
def test_criterion_margins_are_averaged_in_the_orientation_of_the_first_row():
    columns = (*COLUMNS, "margin_tone", "margin_clarity")
    row = only(
        read(
            ("i", "x", "y", "ab", 1.0, 3.0, -2.0),
            ("i", "y", "x", "ab", 1.0, 1.0, -4.0),
            columns=columns,
        )
    )
    assert (row["margin_tone"], row["margin_clarity"]) == (1.0, 1.0)


@pytest.mark.slow
def test_a_margin_on_a_criterion_that_one_order_lacks_is_empty():
    columns = (*COLUMNS, "margin_tone")
    row = only(
        read(("i", "x", "y", "ab", 1.0, 3.0), ("i", "x", "y", "ba", 1.0, None), columns=columns)
    )
    assert np.isnan(row["margin_tone"])


@pytest.mark.slow
def test_a_margin_on_a_criterion_is_empty_where_one_order_is_unparsed():
    columns = (*COLUMNS, "margin_tone", "reason")
    rows = ("i", "x", "y", "ab", 1.0, 3.0, None), ("i", "x", "y", "ba", None, 1.0, "refusal")
    assert np.isnan(only(read(*rows, columns=columns))["margin_tone"])


@pytest.mark.slow
def test_one_sided_keep_uses_the_readable_orders_margin_on_a_criterion():
    columns = (*COLUMNS, "margin_tone", "reason")
    rows = ("i", "x", "y", "ab", None, 3.0, "refusal"), ("i", "y", "x", "ab", 1.0, 1.0, None)
    assert only(read(*rows, columns=columns, one_sided="keep"))["margin_tone"] == -1.0


@pytest.mark.slow
def test_criteria_named_like_paired_columns_change_sign_and_keep_their_names():
    columns = (*COLUMNS, "margin_part_a", "margin_part_b")
    row = only(
        read(
            ("i", "x", "y", "ab", 1.0, 3.0, 5.0),
            ("i", "y", "x", "ab", 0.0, -3.0, -5.0),
            columns=columns,
        )
    )
    assert (row["margin_part_a"], row["margin_part_b"]) == (3.0, 5.0)


@pytest.mark.slow
def test_paired_columns_are_swapped_with_their_models():
    columns = (*COLUMNS, "length_a", "length_b", "human", "tokens_a", "tokens_b")
    rows = (
        ("i", "x", "y", "ab", 1.0, 10, 20, 1.0, 1, 2),
        ("i", "y", "x", "ab", 0.0, 20, 10, 0.0, 2, 1),
    )
    row = only(read(*rows, columns=columns))
    assert (row["length_a"], row["length_b"], row["human"]) == (10, 20, 1.0)
    assert (row["tokens_a"], row["tokens_b"]) == (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "one", "other"),
    [
        ("item", "i", "j"),
        ("judge", "g", "h"),
        ("repeat", 0, 1),
        ("repeat", -1, None),
        ("model_b", "y", "z"),
    ],
)
def test_judgments_with_different_keys_are_not_merged(column, one, other):
    same = {"item": "i", "model_a": "x", "model_b": "y", "judge": "g", "repeat": 0, "credit": 1.0}
    frame = pd.DataFrame(
        [same | {column: one, "order": "ab"}, same | {column: other, "order": "ba"}]
    )
    battles = podium.read_battles(frame)
    assert len(battles) == 2
    assert battles.swaps() is None


@pytest.mark.slow
def test_rows_of_the_same_key_merge_within_their_repeat():
    columns = (*COLUMNS, "repeat")
    rows = [
        ("i", "x", "y", order, credit, repeat)
        for repeat, credit in ((0, 1.0), (1, 0.0))
        for order in ("ab", "ba")
    ]
    assert sorted(read(*rows, columns=columns).table["credit"]) == [0.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("order", [None, "merged"])
def test_rows_without_a_shown_order_stay_battles_of_their_own(order):
    assert len(read(("i", "x", "y", order, 1.0), ("i", "x", "y", order, 0.0))) == 2


def test_rows_without_item_stay_battles_of_their_own():
    assert len(read((None, "x", "y", "ab", 1.0), (None, "x", "y", "ba", 0.0))) == 2


def test_a_table_without_item_column_is_not_merged():
    assert len(read(("x", "y", "ab", 1.0), ("x", "y", "ba", 0.0), columns=COLUMNS[1:])) == 2


def test_a_single_order_that_was_asked_is_a_battle():
    battles = read(("i", "x", "y", "ba", 1.0))
    assert battles.table["credit"].tolist() == [1.0]
    assert (battles.counts().unparsed, battles.counts().one_sided) == (0, 0)


@pytest.mark.slow
def test_one_unreadable_order_makes_the_battle_unparsed_with_that_reason():
    battles = read(("i", "x", "y", "ab", 1.0), ("i", "x", "y", "ba", None))
    assert np.isnan(battles.table["credit"].iloc[0])
    assert battles.unparsed_reasons() == {"one order unparsed": 1}
    assert battles.counts().one_sided == 1


@pytest.mark.slow
@pytest.mark.parametrize("readable", [0, 1])
def test_one_sided_keep_uses_the_readable_order(readable):
    credits = [None, None]
    credits[readable] = 1.0
    battles = read(
        ("i", "x", "y", "ab", credits[0]), ("i", "x", "y", "ba", credits[1]), one_sided="keep"
    )
    assert battles.table["credit"].tolist() == [1.0]
    assert (battles.counts().unparsed, battles.counts().one_sided) == (0, 1)


@pytest.mark.slow
def test_one_sided_keep_orients_the_readable_order_to_the_battle():
    battles = read(("i", "x", "y", "ab", None), ("i", "y", "x", "ab", 1.0), one_sided="keep")
    assert (only(battles)["model_a"], only(battles)["credit"]) == ("x", 0.0)


def test_two_unreadable_orders_keep_their_reasons():
    columns = (*COLUMNS, "reason")
    battles = read(
        ("i", "x", "y", "ab", None, "timeout"),
        ("i", "x", "y", "ba", None, "refusal"),
        columns=columns,
    )
    assert battles.unparsed_reasons() == {"refusal / timeout": 1}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (1.0, 1.0, "same"),
        (0.5, 0.5, "same"),
        (0.9, 0.6, "same"),
        (1.0, 0.5, "half"),
        (0.5, 0.2, "half"),
        (1.0, 0.0, "flip"),
        (0.4, 0.9, "flip"),
        (1.0, None, "one_sided"),
        (None, None, "unparsed"),
    ],
)
def test_swap_report_gives_agreement_of_the_orders(first, second, kind):
    swaps = read(("i", "x", "y", "ab", first), ("i", "x", "y", "ba", second)).swaps()
    assert getattr(swaps, kind) == 1
    assert swaps.same + swaps.half + swaps.flip + swaps.one_sided + swaps.unparsed == 1


def test_shares_of_the_swap_report_are_of_readable_battles():
    rows = [("i", 1.0, 1.0), ("j", 1.0, 0.0), ("k", 1.0, None)]
    judgments = [
        (item, "x", "y", order, credit)
        for item, *both in rows
        for order, credit in zip(("ab", "ba"), both, strict=True)
    ]
    assert read(*judgments).swaps().shares() == {"same": 0.5, "half": 0.0, "flip": 0.5}


def test_shares_of_a_swap_report_without_readable_battles_are_not_known():
    shares = SwapReport(same=0, half=0, flip=0, one_sided=2, unparsed=1).shares()
    assert [*shares] == ["same", "half", "flip"]
    assert all(map(math.isnan, shares.values()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "orders", [("ab", "ab", "ba"), ("ab", "ba", "ba"), ("ab", "ab", "ba", "ba")]
)
def test_groups_with_more_than_one_of_an_order_stay_and_are_warned_about(orders):
    battles = read(*(("i", "x", "y", order, k % 2) for k, order in enumerate(orders)))
    assert len(battles) == len(orders)
    assert (
        f"{len(orders)} judgments share item, pair, judge and repeat with more than one other"
        in notice_texts(battles.notes)[-1]
    )


def test_repeats_of_one_order_stay_without_that_warning():
    battles = read(("i", "x", "y", "ab", 1.0), ("i", "x", "y", "ab", 0.0))
    assert (len(battles), notice_texts(battles.notes)) == (2, ())


@pytest.mark.slow
def test_an_ambiguous_group_leaves_others_to_merge():
    rows = [("i", "x", "y", order, 1.0) for order in ("ab", "ab", "ba")]
    battles = read(*rows, ("j", "x", "y", "ab", 1.0), ("j", "x", "y", "ba", 0.0))
    assert battles.counts().battles == 4
    assert battles.counts().judgments == 5


def test_without_merging_every_judgment_is_a_row():
    battles = read(("i", "x", "y", "ab", 1.0), ("i", "x", "y", "ba", 0.0), merge=False)
    assert battles.table["credit"].tolist() == [1.0, 0.0]


def test_foreign_columns_survive_a_merge_where_both_orders_agree():
    columns = (*COLUMNS, "colour", "reply")
    row = only(
        read(
            ("i", "x", "y", "ab", 1.0, "red", "A"),
            ("i", "x", "y", "ba", 1.0, "red", "B"),
            columns=columns,
        )
    )
    assert row["colour"] == "red"
    assert pd.isna(row["reply"])


@pytest.mark.slow
def test_hard_labels_make_a_flip_of_soft_credits_a_tie():
    rows = [
        (item, "x", "y", order, credit)
        for item in "ij"
        for order, credit in (("ab", 0.9), ("ba", 0.2))
    ]
    battles = read(*rows)
    soft, hard = (
        podium.rank(battles, "win-rate", labels=labels).standings[0] for labels in ("soft", "hard")
    )
    assert soft.entries[0].score == pytest.approx(0.55)
    assert [entry.score for entry in hard.entries] == [0.5, 0.5]


@pytest.mark.slow
def test_hard_labels_make_a_win_beside_a_tie_a_win():
    rows = [
        (item, "x", "y", order, credit)
        for item in "ij"
        for order, credit in (("ab", 1.0), ("ba", 0.5))
    ]
    assert podium.rank(read(*rows), "win-rate", labels="hard").standings[0].entries[0].score == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("margins", "credit"), [((3.0, -1.0), 1.0), ((1.0, -1.0), 0.5), ((-3.0, 1.0), 0.0)]
)
def test_the_sign_of_the_merged_margin_stands_in_where_no_credit_is(margins, credit):
    columns = ("item", "model_a", "model_b", "order", "margin")
    row = only(
        read(("i", "x", "y", "ab", margins[0]), ("i", "x", "y", "ba", margins[1]), columns=columns)
    )
    assert row["credit"] == credit


def test_margins_of_opposite_sign_are_a_flip():
    columns = ("item", "model_a", "model_b", "order", "margin")
    assert (
        read(("i", "x", "y", "ab", 3.0), ("i", "x", "y", "ba", -1.0), columns=columns).swaps().flip
        == 1
    )


@pytest.mark.slow
def test_a_margin_never_overrules_a_credit():
    columns = (*COLUMNS, "margin")
    row = only(
        read(("i", "x", "y", "ab", 0.0, 5.0), ("i", "x", "y", "ba", 0.0, 5.0), columns=columns)
    )
    assert (row["credit"], row["margin"]) == (0.0, 5.0)


@pytest.mark.slow
def test_an_order_with_only_a_margin_is_averaged_with_one_that_has_a_credit():
    columns = (*COLUMNS, "margin")
    row = only(
        read(("i", "x", "y", "ab", 1.0, None), ("i", "x", "y", "ba", None, -2.0), columns=columns)
    )
    assert (row["credit"], row["swap"]) == (0.5, "flip")


def test_a_margin_does_not_make_a_row_with_a_reason_readable():
    columns = (*COLUMNS, "margin", "reason")
    battles = read(
        ("i", "x", "y", "ab", None, 2.0, "refusal"),
        ("j", "x", "y", "ab", 1.0, 2.0, None),
        columns=columns,
    )
    assert battles.unparsed_reasons() == {"refusal": 1}


def test_merged_rows_stand_where_their_first_judgment_stood():
    rows = [
        ("i", "x", "y", "ab", 1.0),
        ("j", "x", "y", "ab", 0.0),
        ("j", "x", "y", "ba", 0.0),
        ("i", "x", "y", "ba", 1.0),
    ]
    assert read(*rows).to_frame()["item"].tolist() == ["i", "j"]


@st.composite
def judgments(draw):
    """Draw judgments of four models; 0.3 is a credit whose complement is rounded."""
    pairs = list(itertools.combinations("wxyz", 2))
    items = [f"i{k}" for k in range(draw(st.integers(2, 4)))]
    rows = []
    for item, (a, b), order in itertools.product(items, pairs, ("ab", "ba")):
        credit = draw(st.sampled_from([1.0, 0.5, 0.0, 0.25, 0.3, None]))
        margin = None if credit is None else draw(st.sampled_from([2.0, 0.5, 0.0, -1.0]))
        if draw(st.booleans()) or item == items[0]:
            rows.append((item, a, b, order, credit, margin))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "order", "credit", "margin"])


def mirrored(frame, which):
    """Swap a and b in the rows of a mask."""
    turned = frame.rename(columns={"model_a": "model_b", "model_b": "model_a"})[frame.columns]
    turned = turned.assign(
        credit=1 - frame["credit"].astype(float),
        margin=-frame["margin"].astype(float),
        order=frame["order"].map({"ab": "ba", "ba": "ab"}),
    )
    return pd.concat([frame[~which], turned[which]]).sort_index()


def figures(frame, ranker):
    try:
        one = podium.rank(frame, ranker, seed=3).standings[0]
    except podium.NotIdentifiedError as error:
        return type(error), None
    numbers = [[getattr(entry, name) for name in NAMES] for entry in by_name(one)]
    return one.counts, np.array(numbers, dtype=float)


def by_name(standings):
    return sorted(standings.entries, key=lambda entry: entry.model)


def assert_same(frame, other, ranker):
    (counts, numbers), (other_counts, other_numbers) = (
        figures(frame, ranker),
        figures(other, ranker),
    )
    assert counts == other_counts
    if numbers is not None:
        np.testing.assert_allclose(numbers, other_numbers, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(frame=judgments(), data=st.data())
def test_swapping_a_and_b_changes_nothing(frame, data):
    which = np.array(data.draw(st.lists(st.booleans(), min_size=len(frame), max_size=len(frame))))
    for ranker in ("bradley-terry", "win-rate"):
        assert_same(frame, mirrored(frame, which), ranker)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(frame=judgments(), seed=st.integers(0, 2**16))
def test_shuffling_rows_changes_nothing(frame, seed):
    for ranker in ("bradley-terry", "win-rate"):
        assert_same(frame, frame.sample(frac=1, random_state=seed), ranker)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(frame=judgments(), data=st.data())
def test_swapping_a_and_b_only_turns_the_margins_on_criteria(frame, data):
    frame["margin_tone"] = 2 * frame["margin"].astype(float) + 1
    which = np.array(data.draw(st.lists(st.booleans(), min_size=len(frame), max_size=len(frame))))
    turned = mirrored(frame, which).assign(
        margin_tone=frame["margin_tone"].where(~which, -frame["margin_tone"])
    )
    tones = [
        _by_first_model(podium.read_battles(one).to_frame(), "margin_tone")
        for one in (frame, turned)
    ]
    np.testing.assert_array_equal(*tones)


def _by_first_model(table, margin):
    """Return a margin as that of the model whose name comes first."""
    return table[margin].where(table["model_a"] < table["model_b"], -table[margin]).to_numpy()


def table_of(columns, *rows):
    return podium.read_battles(pd.DataFrame(list(rows), columns=columns))


def test_a_margin_derived_from_scores_does_not_replace_an_empty_credit():
    columns = ["item", "model_a", "model_b", "credit", "score_a", "score_b"]
    battles = table_of(columns, ("i", "x", "y", None, 7.0, 3.0), ("j", "x", "y", 1.0, 7.0, 3.0))
    assert battles.unparsed_reasons() == {"no verdict": 1}


def test_a_human_label_given_in_one_order_is_kept():
    columns = ["item", "model_a", "model_b", "credit", "order", "human"]
    battles = table_of(columns, ("i", "x", "y", 1.0, "ab", 1.0), ("i", "x", "y", 1.0, "ba", None))
    assert battles.table["human"].tolist() == [1.0]


def test_a_judges_own_swap_flag_is_a_foreign_column():
    battles = table_of(["item", "model_a", "model_b", "credit", "swap"], ("i", "x", "y", 1.0, True))
    assert battles.table["swap_"].tolist() == [True]


def test_rows_without_a_judge_beside_a_named_one_are_another_judge():
    battles = table_of(
        ["item", "model_a", "model_b", "credit", "judge"],
        ("i", "x", "y", 1, "j"),
        ("j", "y", "x", 1, None),
    )
    assert battles.judges == ("j", "(no judge)")
