"""One judge's verdicts become the human labels of the other judges' battles."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.data.human_labels import human_ties
from podium.notices.notice_text import notice_texts

COLUMNS = ("item", "model_a", "model_b", "credit", "judge")


def frame_of(*rows, columns=COLUMNS):
    return pd.DataFrame(rows, columns=list(columns))


def read(*rows, columns=COLUMNS, human_judge="crowd", **options):
    return podium.read_battles(frame_of(*rows, columns=columns), human_judge=human_judge, **options)


def labels(battles):
    return battles.table["human"].tolist()


def refusal(*rows, error, columns=COLUMNS, **options):
    with pytest.raises(error) as caught:
        read(*rows, columns=columns, **options)
    return str(caught.value)


@pytest.mark.slow
def test_a_vote_labels_the_other_judges_battle_of_the_same_item_and_pair():
    assert labels(read(("i", "x", "y", 1.0, "gpt"), ("i", "x", "y", 0.0, "crowd"))) == [0.0]


def test_a_label_is_what_model_a_of_the_labelled_battle_earned():
    assert labels(read(("i", "x", "y", 1.0, "gpt"), ("i", "y", "x", 0.25, "crowd"))) == [0.75]


@pytest.mark.slow
def test_votes_are_averaged_in_either_response_order():
    votes = (
        ("i", "x", "y", 1.0, "crowd"),
        ("i", "y", "x", 0.0, "crowd"),
        ("i", "x", "y", 0.5, "crowd"),
    )
    assert labels(read(("i", "x", "y", 1.0, "gpt"), *votes, ("i", "y", "x", 0.5, "crowd"))) == [
        0.75
    ]


@pytest.mark.slow
def test_votes_count_by_their_weight():
    votes = ("i", "x", "y", 1.0, "crowd", 3.0), ("i", "x", "y", 0.0, "crowd", 1.0)
    assert labels(read(("i", "x", "y", 1.0, "gpt", 7.0), *votes, columns=(*COLUMNS, "weight"))) == [
        0.75
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("item", "model"), [("j", "y"), ("i", "z"), (None, "y")])
def test_a_battle_of_another_item_or_pair_has_an_empty_label(item, model):
    votes = ("i", "x", "y", 1.0, "crowd"), (None, "x", "y", 0.0, "crowd")
    battles = read(("i", "x", "y", 1.0, "gpt"), (item, "x", model, 1.0, "gpt"), *votes)
    np.testing.assert_array_equal(labels(battles), [1.0, np.nan])


def test_an_unparsed_vote_is_no_label():
    votes = ("i", "x", "y", None, "crowd"), ("j", "x", "y", 1.0, "crowd")
    battles = read(("i", "x", "y", 1.0, "gpt"), ("j", "x", "y", 1.0, "gpt"), *votes)
    np.testing.assert_array_equal(labels(battles), [np.nan, 1.0])


@pytest.mark.slow
def test_a_margin_without_credit_is_a_vote_by_its_sign():
    columns = (*COLUMNS, "margin")
    rows = ("i", "x", "y", 1.0, "gpt", 1.0), ("i", "x", "y", None, "crowd", -2.0)
    assert labels(read(*rows, columns=columns)) == [0.0]


@pytest.mark.slow
def test_an_unparsed_battle_is_labelled_too():
    battles = read(("i", "x", "y", None, "gpt"), ("i", "x", "y", 1.0, "crowd"))
    assert (battles.counts().unparsed, labels(battles)) == (1, [1.0])


def test_the_human_judges_own_rows_leave():
    assert read(("i", "x", "y", 1.0, "gpt"), ("i", "x", "y", 0.0, "crowd")).judges == ("gpt",)


def test_models_that_only_the_human_judge_saw_leave():
    battles = read(
        ("i", "x", "y", 1.0, "gpt"), ("i", "x", "y", 0.0, "crowd"), ("i", "a", "z", 0.0, "crowd")
    )
    assert battles.models == ("x", "y")


def test_labels_keep_their_orientation_when_models_are_dropped():
    votes = ("i", "y", "x", 0.25, "crowd"), ("i", "a", "z", 0.0, "crowd")
    assert labels(read(("i", "x", "y", 1.0, "gpt"), *votes)) == [0.75]


def test_all_other_judges_are_labelled():
    battles = read(*(("i", "x", "y", 1.0, judge) for judge in ("gpt", "claude", "crowd")))
    assert (battles.judges, labels(battles)) == (("claude", "gpt"), [1.0, 1.0])


def test_rows_without_a_judge_are_labelled_as_another_judges():
    assert labels(read(("i", "x", "y", 0.0, None), ("i", "x", "y", 1.0, "crowd"))) == [1.0]


@pytest.mark.slow
def test_both_orders_of_a_battle_get_one_label():
    columns = (*COLUMNS, "order")
    judged = ("i", "x", "y", 1.0, "gpt", "ab"), ("i", "y", "x", 0.5, "gpt", "ab")
    assert labels(read(*judged, ("i", "y", "x", 1.0, "crowd", None), columns=columns)) == [0.0]


@pytest.mark.slow
def test_unmerged_judgments_get_labels_in_their_own_orientation():
    columns = (*COLUMNS, "order")
    judged = ("i", "x", "y", 1.0, "gpt", "ab"), ("i", "y", "x", 0.5, "gpt", "ab")
    assert labels(
        read(*judged, ("i", "y", "x", 1.0, "crowd", None), columns=columns, merge=False)
    ) == [0.0, 1.0]


@pytest.mark.slow
def test_an_empty_column_of_human_labels_is_filled():
    rows = ("i", "x", "y", 1.0, "gpt", None), ("i", "x", "y", 0.0, "crowd", None)
    assert labels(read(*rows, columns=(*COLUMNS, "human"))) == [0.0]


@pytest.mark.slow
def test_votes_and_verdicts_may_lie_in_two_files(tmp_path):
    for judge, credit in (("gpt", 1), ("crowd", 0)):
        (tmp_path / f"{judge}.csv").write_text(
            f"{','.join(COLUMNS)}\ni,x,y,{credit},{judge}\n", encoding="utf-8"
        )
    assert labels(podium.read_battles(tmp_path, human_judge="crowd")) == [0.0]


@pytest.mark.slow
def test_where_judge_keeps_the_human_judge():
    battles = read(
        *(("i", "x", "y", 1.0, judge) for judge in ("gpt", "claude", "crowd")),
        where={"judge": "gpt"},
    )
    assert (battles.judges, labels(battles)) == (("gpt",), [1.0])


@pytest.mark.slow
def test_a_condition_on_another_column_holds_for_the_human_judge_too():
    columns = (*COLUMNS, "wave")
    votes = ("i", "x", "y", 1.0, "crowd", "crowd"), ("i", "x", "y", 0.0, "crowd", "second")
    battles = read(
        ("i", "x", "y", 1.0, "gpt", "second"), *votes, columns=columns, where={"wave": "second"}
    )
    assert labels(battles) == [0.0]


def test_a_condition_on_a_judge_that_does_not_exist_is_rejected_beside_a_human_judge():
    rows = ("i", "x", "y", 1.0, "gpt"), ("i", "x", "y", 1.0, "crowd")
    message = refusal(*rows, where={"judge": "gtp"}, error=podium.UsageError)
    assert message == "no row has judge='gtp'; values: crowd, gpt"


def test_two_conditions_on_the_judge_leave_no_battle_to_label():
    rows = [("i", "x", "y", 1.0, judge) for judge in ("gpt", "claude", "crowd")]
    message = refusal(*rows, where=[("judge", "gpt"), ("judge", "claude")], error=podium.UsageError)
    assert message == "no row has judge='claude'; values: crowd, gpt"


@pytest.mark.slow
def test_note_reports_votes_pairs_and_labels_with_denominators():
    votes = [("i", "x", "y", 1.0, "crowd")] * 2 + [
        ("j", "x", "z", 1.0, "crowd"),
        ("j", "x", "y", None, "crowd"),
    ]
    judged = [(item, "x", model, 1.0, "gpt") for item in "ijk" for model in "yz"]
    assert notice_texts(read(*judged, *votes).notes)[-2:] == (
        "human labels: 3 votes by crowd (1 more without verdict or item), on 2 pairs of responses, "
        "label 2 of 6 battles; 4 have no label",
        "of 1 battle with several votes, all votes agree on 100%",
    )


def test_the_human_judge_is_on_record():
    assert read(("i", "x", "y", 1.0, "gpt"), ("i", "x", "y", 0.0, "crowd")).reading == {
        "human_judge": "crowd"
    }


@pytest.mark.slow
def test_what_is_missing_is_not_known_after_labelling():
    columns = ("item", "model", "score", "judge")
    rows = [
        ("i", model, score, judge)
        for judge in ("gpt", "crowd")
        for model, score in (("x", 2), ("y", 1))
    ]
    battles = read(*rows, columns=columns)
    assert (labels(battles), battles.missing) == ([1.0], None)


def test_a_misspelt_human_judge_is_rejected_with_the_nearest():
    rows = ("i", "x", "y", 1.0, "gpt"), ("i", "x", "y", 1.0, "crowd")
    message = refusal(*rows, human_judge="crwod", error=podium.UsageError)
    assert message == "no judge called 'crwod'; did you mean 'crowd'? available: crowd, gpt"


def test_a_human_judge_in_a_table_without_judges_is_rejected():
    message = refusal(("i", "x", "y", 1.0), columns=COLUMNS[:4], error=podium.UsageError)
    assert "no column judge, so no human judge 'crowd': name it with --columns judge=" in message


@pytest.mark.slow
def test_a_human_judge_whose_rows_meet_no_condition_is_rejected():
    columns = (*COLUMNS, "category")
    rows = ("i", "x", "y", 1.0, "gpt", "code"), ("i", "x", "y", 1.0, "crowd", None)
    message = refusal(*rows, columns=columns, where={"category": "code"}, error=podium.UsageError)
    assert "no row of 'crowd' is left: conditions on other columns than judge apply" in message


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("where", [{}, {"judge": "crowd"}])
def test_a_human_judge_that_is_the_only_one_is_rejected(where):
    rows = [("i", "x", "y", 1.0, "crowd"), *([("i", "x", "y", 1.0, "gpt")] if where else [])]
    message = refusal(*rows, where=where, error=podium.NotIdentifiedError)
    assert "crowd is the only judge here, so there is nothing to label: add the verdicts" in message


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("side", ["gpt", "crowd"])
def test_human_labels_that_are_there_are_not_replaced(side):
    rows = [
        ("i", "x", "y", 1.0, judge, 1.0 if judge == side else None) for judge in ("gpt", "crowd")
    ]
    message = refusal(*rows, columns=(*COLUMNS, "human"), error=podium.UsageError)
    assert "1 battle has a human label already: leave out --human-judge" in message


def test_without_items_no_label_can_be_found():
    message = refusal(
        ("x", "y", 1.0, "gpt"),
        ("x", "y", 1.0, "crowd"),
        columns=COLUMNS[1:],
        error=podium.DataError,
    )
    assert "the data frame: no row of the verdicts has an item" in message
    assert "--columns item=COLUMN" in message


@pytest.mark.slow
def test_human_judge_without_readable_verdicts_is_rejected():
    rows = (
        ("i", "x", "y", 1.0, "gpt"),
        ("i", "x", "y", None, "crowd"),
        (None, "x", "y", 1.0, "crowd"),
    )
    message = refusal(*rows, error=podium.NotIdentifiedError)
    assert "no label to take: none of the 2 battles of crowd has an item and a verdict" in message


@pytest.mark.slow
def test_judges_that_have_no_battle_in_common_are_rejected_with_what_they_share():
    rows = ("i", "x", "y", 1.0, "gpt"), ("i", "X", "y", 1.0, "crowd"), ("j", "x", "y", 1.0, "crowd")
    message = refusal(*rows, error=podium.NotIdentifiedError)
    assert "none of the 1 battle of other judges" in message
    assert "in common are 1 item and 2 models: spell both alike" in message


@pytest.mark.slow
def test_two_judges_that_name_a_pair_the_other_way_round_are_no_two_orders():
    assert len(read(("i", "x", "y", 1.0, "gpt"), ("i", "y", "x", 0.25, "crowd")).notes) == 1


@pytest.mark.slow
def test_agreement_of_battles_with_several_votes_is_reported():
    votes = (
        ("i", "x", "y", 1.0),
        ("i", "x", "y", 1.0),
        ("j", "x", "y", 1.0),
        ("j", "x", "y", 0.0),
        ("k", "x", "y", 0.5),
    )
    rows = [(*vote, "crowd", repeat) for repeat, vote in enumerate(votes)]
    judged = [(item, "x", "y", 1.0, "gpt", 0) for item in "ijk"]
    battles = read(*judged, *rows, columns=(*COLUMNS, "repeat"))
    assert "of 2 battles with several votes, all votes agree on 50%" in notice_texts(battles.notes)
    assert "human labels: 5 votes by crowd, on 3 pairs" in notice_texts(battles.notes)[0]
    assert (battles.table["human"].tolist(), human_ties(battles).tolist()) == (
        [1, 0.5, 0.5],
        [False, False, True],
    )
    turned = [("i", "x", "y", 0.3, "crowd", 0), ("i", "y", "x", 0.7, "crowd", 1)]
    assert notice_texts(read(judged[0], *turned, columns=(*COLUMNS, "repeat")).notes)[-1].endswith(
        "all votes agree on 100%"
    )
    [note] = notice_texts(read(judged[0], rows[0], columns=(*COLUMNS, "repeat")).notes)
    assert "human labels: 1 vote by crowd, on 1 pair of" in note


ROWS = st.tuples(
    st.sampled_from(["i", "j", None]),
    st.sampled_from([("x", "y"), ("y", "z"), ("z", "x")]),
    st.sampled_from([1.0, 0.5, 0.0, 0.25, 0.3, None]),
    st.sampled_from(["gpt", "claude", "crowd"]),
    st.sampled_from([1.0, 2.0, 0.5]),
)
SURE = [("i", ("x", "y"), 1.0, "gpt", 1.0), ("i", ("y", "x"), 0.25, "crowd", 1.0)]
"""With these two rows there is always a label to find."""


@st.composite
def judged(draw):
    """Draw rows of three judges in any order of rows; at least one of them can be labelled."""
    rows = draw(st.permutations(SURE + draw(st.lists(ROWS, max_size=20))))
    columns = (*COLUMNS, "weight")
    return frame_of(
        *((item, *pair, credit, judge, weight) for item, pair, credit, judge, weight in rows),
        columns=columns,
    )


def for_the_first(table, column):
    """Return a credit as that of the model whose name comes first."""
    return np.where(
        table["model_a"] < table["model_b"], table[column], 1 - table[column].astype(float)
    )


def naive(frame):
    """Average the votes row by row, in plain Python."""
    credit = for_the_first(frame, "credit")
    where = [
        (item, frozenset(pair)) for item, *pair in frame[["item", "model_a", "model_b"]].values
    ]
    votes = {}
    for place, judge, earned, weight in zip(
        where, frame["judge"], credit, frame["weight"], strict=True
    ):
        if judge == "crowd" and not pd.isna(place[0]) and not np.isnan(earned):
            votes.setdefault(place, []).append((earned, weight))
    mean = {place: sum(c * w for c, w in of) / sum(w for _, w in of) for place, of in votes.items()}
    return [
        mean.get(place, np.nan)
        for place, judge in zip(where, frame["judge"], strict=True)
        if judge != "crowd"
    ]


def labels_of(frame):
    return for_the_first(podium.read_battles(frame, human_judge="crowd").to_frame(), "human")


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(frame=judged())
def test_labels_equal_a_plain_average(frame):
    np.testing.assert_allclose(labels_of(frame), naive(frame), atol=1e-12)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(frame=judged(), data=st.data())
def test_swapping_a_and_b_with_one_minus_the_credit_changes_no_label(frame, data):
    which = np.array(data.draw(st.lists(st.booleans(), min_size=len(frame), max_size=len(frame))))
    turned = frame.rename(columns={"model_a": "model_b", "model_b": "model_a"})[frame.columns]
    turned["credit"] = 1 - frame["credit"].astype(float)
    mixed = pd.concat([frame[~which], turned[which]]).sort_index()
    np.testing.assert_allclose(labels_of(mixed), labels_of(frame), atol=1e-12)
