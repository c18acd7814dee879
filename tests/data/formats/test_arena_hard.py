"""arena-hard judgments: game 0 shows the baseline as A, game 1 the model."""

import numpy as np
import pytest

import podium

LABELS = ["A>>B", "A>B", "A=B", "B>A", "B>>A"]
CREDIT_OF_A = dict(zip(LABELS, [1.0, 1.0, 0.5, 0.0, 0.0], strict=True))
MARGIN_OF_A = dict(zip(LABELS, [2.0, 1.0, 0.0, -1.0, -2.0], strict=True))


def game(label):
    return (
        None
        if label is None
        else {"score": label, "judgment": {"answer": f"[[{label}]]"}, "prompt": []}
    )


def judgment(*labels, uid="u1", **more):
    return {
        "uid": uid,
        "category": "hard_prompt",
        "judge": "gpt-4.1",
        "model": "newcomer",
        "baseline": "o3-mini",
        "games": [game(label) for label in labels],
    } | more


def judgments(save, *labels):
    return podium.read_battles(
        save("newcomer.jsonl", [judgment(*labels)]), merge=False
    ).table.set_index("order")


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_in_game_zero_the_baseline_is_a(save, label):
    row = judgments(save, label, "A=B").loc["ba"]
    assert row["model_a"] == "newcomer"
    assert (row["credit"], row["margin"]) == (1 - CREDIT_OF_A[label], -MARGIN_OF_A[label])


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_in_game_one_the_model_is_a(save, label):
    row = judgments(save, "A=B", label).loc["ab"]
    assert row["model_a"] == "newcomer"
    assert (row["credit"], row["margin"]) == (CREDIT_OF_A[label], MARGIN_OF_A[label])


@pytest.mark.slow
def test_both_games_of_a_row_merge_into_one_battle(save):
    battles = podium.read_battles(save("newcomer.jsonl", [judgment("B>>A", "A>B")]))
    row = battles.table.iloc[0]
    assert (row["credit"], row["margin"], row["swap"], row["order"]) == (1.0, 1.5, "same", "merged")
    assert battles.counts().judgments == 2


@pytest.mark.slow
def test_a_verdict_for_the_first_place_in_both_games_is_a_flip(save):
    row = podium.read_battles(save("newcomer.jsonl", [judgment("A>B", "A>B")])).table.iloc[0]
    assert (row["credit"], row["margin"], row["swap"]) == (0.5, 0.0, "flip")


@pytest.mark.slow
def test_a_null_game_makes_the_battle_unparsed_with_one_order_unparsed(save):
    battles = podium.read_battles(save("newcomer.jsonl", [judgment(None, "A>B")]))
    assert battles.unparsed_reasons() == {"one order unparsed": 1}
    assert battles.counts().one_sided == 1


def test_two_null_games_say_no_game(save):
    battles = podium.read_battles(save("newcomer.jsonl", [judgment(None, None)]))
    assert battles.unparsed_reasons() == {"no game": 1}


@pytest.mark.slow
def test_a_game_without_a_label_says_no_verdict(save):
    row = judgment("A>B", "A>B") | {"games": [{"score": None}, {"score": None}]}
    assert podium.read_battles(save("newcomer.jsonl", [row])).unparsed_reasons() == {
        "no verdict": 1
    }


@pytest.mark.parametrize("label", ["A<<<B", "tie", "", "C"])
def test_an_unknown_label_is_an_error_that_names_line_and_value(save, label):
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(
            save("newcomer.jsonl", [judgment("A>B", "A>B"), judgment("A>B", label, uid="u2")])
        )
    assert "newcomer.jsonl, line 2" in str(caught.value)
    assert repr(label) in str(caught.value)
    assert "Remedy" in str(caught.value)


@pytest.mark.slow
def test_a_row_with_one_game_is_one_battle_of_one_order(save):
    battles = podium.read_battles(save("newcomer.jsonl", [judgment("B>A")]))
    assert battles.table["credit"].tolist() == [1.0]
    assert battles.counts().unparsed == 0


@pytest.mark.parametrize("games", [[], None, [game("A>B")] * 3])
def test_a_row_without_one_or_two_games_is_an_error(save, games):
    with pytest.raises(
        podium.DataError, match=r"line 1: games .* is not a list of one or two judgments"
    ):
        podium.read_battles(save("newcomer.jsonl", [judgment() | {"games": games}]))


@pytest.mark.slow
def test_the_old_version_without_uid_and_baseline_is_read(save):
    old = {
        "question_id": 7,
        "model": "newcomer",
        "judge": "gpt-4",
        "games": [game("B>A"), game("A>B")],
    }
    battles = podium.read_battles(save("newcomer.jsonl", [old]))
    assert battles.models == ("baseline", "newcomer")
    assert battles.table["item"].tolist() == ["7"]


@pytest.mark.slow
def test_foreign_columns_of_judgments_are_kept(save):
    table = podium.read_battles(save("newcomer.jsonl", [judgment("A>B", "B>A", tstamp=1.5)])).table
    assert table["tstamp"].tolist() == [1.5]


def test_a_label_renames_the_model(save):
    path = save("newcomer.jsonl", [judgment("B>A", "A>B")])
    assert podium.read_battles(f"ours={path}").models == ("o3-mini", "ours")


@pytest.mark.slow
def test_unparsed_games_have_neither_credit_nor_margin(save):
    row = judgments(save, None, "A>B").loc["ba"]
    assert np.isnan([row["credit"], row["margin"]]).all()


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("said", "label"),
    [("A<B", "B>A"), ("B<A", "A>B"), ("A<<B", "B>>A"), ("B<<A", "A>>B"), ("B=A", "A=B")],
)
def test_a_label_in_the_other_order_says_the_same(save, said, label):
    table = podium.read_battles(save("newcomer.jsonl", [judgment(said, "A=B")]), merge=False).table
    row = table.set_index("order").loc["ba"]
    assert (row["credit"], row["margin"]) == (1 - CREDIT_OF_A[label], -MARGIN_OF_A[label])
