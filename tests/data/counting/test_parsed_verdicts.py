"""Graded credits beside parsed verdicts: the fit uses the credits; wins, ties and flips are those
of the verdicts."""

import numpy as np
import pandas as pd
import pytest

from podium import DataError, compare, rank, read_battles
from podium.diagnosis.card import diagnose
from podium.rankers.fit.coded import hard_credits

ORDERS = [
    # item, first shown, credit and parsed verdict of the first shown
    ("same", "elm", 0.9, 1.0),
    ("same", "oak", 0.2, 0.0),
    ("flip", "elm", 0.95, 1.0),
    ("flip", "oak", 0.6, 1.0),
    ("half", "elm", 0.55, 0.5),
    ("half", "oak", 0.4, 0.0),
    ("tie", "elm", 0.6, 0.5),
    ("tie", "oak", 0.45, 0.5),
    ("open", "elm", 0.7, None),
    ("open", "oak", 0.35, None),
    ("one", "elm", None, None),
    ("one", "oak", 0.4, 0.5),
]


def table(turn=False):
    """Return the judgments; with `turn`, every second row names the models the other way round."""
    rows = []
    for k, (item, first, credit, parsed) in enumerate(ORDERS):
        second = "oak" if first == "elm" else "elm"
        row = {"item": item, "model_a": first, "model_b": second, "order": "ab", "credit": credit}
        row |= {"hard_credit": parsed, "judge": "j", "reason": "empty" if credit is None else None}
        if turn and k % 2:
            about_b = {
                name: None if row[name] is None else 1 - row[name]
                for name in ("credit", "hard_credit")
            }
            row |= {"model_a": second, "model_b": first, "order": "ba", **about_b}
        rows.append(row)
    return pd.DataFrame(rows)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("is_read", [False, True])
def test_flips_and_ties_are_counted_from_the_verdicts(turn, is_read):
    battles = read_battles(table(turn))
    if is_read:  # as the data frame of merged battles, and not in the database
        battles = read_battles(battles.to_frame())
    swaps = battles.swaps()
    assert (swaps.same, swaps.half, swaps.flip, swaps.one_sided) == (3, 1, 1, 1)
    # decided: `same`, `half` (a tie and a win) and `open`; the flip and the tie are not
    assert battles.tally.decided == 3
    assert battles.tally.informative == 3
    assert battles.tally.graded == 4


@pytest.mark.slow
@pytest.mark.parametrize("turn", [False, True])
def test_credits_are_averaged_over_orders_beside_the_verdicts(turn):
    merged = read_battles(table(turn)).to_frame().set_index("item")
    assert merged.loc["same", ["credit", "hard_credit"]].tolist() == pytest.approx([0.85, 1.0])
    assert merged.loc["flip", ["credit", "hard_credit"]].tolist() == pytest.approx([0.675, 0.5])
    assert merged.loc["half", ["credit", "hard_credit"]].tolist() == pytest.approx([0.575, 0.75])
    kept = read_battles(table(turn), one_sided="keep").to_frame().set_index("item")
    about_elm = kept.loc["one", ["credit", "hard_credit"]].astype(float).to_numpy()
    assert (about_elm if kept.loc["one", "model_a"] == "elm" else 1 - about_elm) == pytest.approx(
        [0.6, 0.5]
    )


def test_hard_labels_are_the_parsed_verdicts():
    merged = read_battles(table())
    assert hard_credits(merged).tolist()[:5] == [1.0, 0.5, 1.0, 0.5, 1.0]
    assert np.isnan(hard_credits(merged)[5])


def test_the_response_shown_first_wins_as_often_as_the_verdicts_say():
    [shown] = read_battles(table()).first_shown().values()
    # same 1, flip 2, half 1/2, tie 1, open 1 of two each
    assert (shown.won.sum(), shown.number.sum(), shown.flips.sum()) == (5.5, 10, 1)


@pytest.mark.slow
def test_the_fit_uses_the_graded_credits():
    battles = read_battles(table())
    without = read_battles(table().drop(columns="hard_credit"))
    scores, plain = (
        [entry.score for entry in rank(each, "bradley-terry").standings[0].entries]
        for each in (battles, without)
    )
    assert scores == plain


@pytest.mark.slow
def test_the_ranking_says_that_its_scale_is_compressed():
    text = str(rank(read_battles(table()), "bradley-terry"))
    assert (
        "4 battles have graded credits; wins, ties and flips are those of the parsed verdicts"
        in text
    )
    assert "compressed scale" in text
    assert "flip 20.0% of 5" in text
    assert "compressed" not in str(
        rank(read_battles(table().drop(columns="hard_credit")), "bradley-terry")
    )


@pytest.mark.slow
def test_the_card_counts_the_verdicts():
    [card] = diagnose(read_battles(table(), merge=False), read_battles(table())).cards
    # 4 of the 11 parsed judgments are ties
    assert card.answers["consistency"].ties.value == pytest.approx(4 / 11)
    assert card.answers["position"].swaps.all.flip.value == pytest.approx(1 / 5)


def test_a_parsed_verdict_out_of_range_is_an_error():
    with pytest.raises(DataError, match=r"hard_credit 2.0 is outside \[0, 1\]"):
        read_battles(table().assign(hard_credit=2.0))


@pytest.mark.slow
def test_a_comparison_counts_the_items_won_by_the_verdicts():
    [finding] = compare("elm", "oak", read_battles(table())).findings
    # won: same, half, open; even: flip, tie
    assert finding.tally == (3, 0, 2)
    assert finding.results.difference.min() > 0
