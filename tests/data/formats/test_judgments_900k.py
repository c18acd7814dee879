"""900K-Judgments: five levels, the model shown first is a."""

import pytest

import podium


def judgment(verdict, a="first", b="second", **more):
    return {
        "uid": "eval_1",
        "judge_model": "deepseek",
        "model_a_in_prompt": a,
        "model_b_in_prompt": b,
        "final_verdict": verdict,
    } | more


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verdict", "credit", "margin"),
    [
        ("m1>>m2", 1.0, 2.0),
        ("m1>m2", 1.0, 1.0),
        ("m1=m2", 0.5, 0.0),
        ("m2>m1", 0.0, -1.0),
        ("m2>>m1", 0.0, -2.0),
        ("m1<m2", 0.0, -1.0),
        ("m1<<m2", 0.0, -2.0),
    ],
)
def test_five_levels_give_credit_and_margin(save, verdict, credit, margin):
    row = podium.read_battles(save("all.jsonl", [judgment(verdict)])).to_frame().iloc[0]
    assert (row["model_a"], row["credit"], row["margin"], row["order"]) == (
        "first",
        credit,
        margin,
        "ab",
    )


@pytest.mark.slow
@pytest.mark.parametrize("verdict", [None, "", "INVALID"])
def test_an_empty_or_invalid_verdict_is_unparsed(save, verdict):
    battles = podium.read_battles(
        save("all.jsonl", [judgment(verdict), judgment("m1>m2", b="third")])
    )
    assert battles.unparsed_reasons() == {"no verdict": 1}


def test_an_unknown_verdict_is_an_error_with_the_known_ones(save):
    with pytest.raises(podium.DataError, match=r"all.jsonl, line 1: final_verdict 'A>B' .*m1>>m2"):
        podium.read_battles(save("all.jsonl", [judgment("A>B")]))


def test_one_pair_asked_in_one_order_is_a_battle(save):
    battles = podium.read_battles(save("all.jsonl", [judgment("m1>m2")]))
    assert (battles.counts().battles, battles.counts().unparsed) == (1, 0)


@pytest.mark.slow
def test_the_swapped_prompt_is_the_other_order_of_the_same_pair(save):
    """Both rows show their own a first, so that the reader calls both ab; names say that they are
    mirrored."""
    rows = [judgment("m1>m2"), judgment("m1>m2", a="second", b="first")]
    row = podium.read_battles(save("all.jsonl", rows)).table.iloc[0]
    assert (row["credit"], row["swap"]) == (0.5, "flip")


@pytest.mark.slow
def test_foreign_columns_of_900k_are_kept(save):
    table = podium.read_battles(save("all.jsonl", [judgment("m1=m2", benchmark="alpaca")])).table
    assert table["benchmark"].tolist() == ["alpaca"]
