"""Graded credits and scores of JSON replies: the mean of the allowed answers at the token of the
verdict."""

import json

import pytest

from podium.scorers.battle import compare_ratings, mean_verdict, merge_jury
from podium.scorers.direct import COT, DIRECT
from podium.scorers.judging import build_judging, build_verdict_row, dump_reply, load_reply
from podium.scorers.levels import LABELS, LIKERT, NUMERIC
from podium.scorers.reply import Rating, Reply, Token, Verdict


def structured(*parts, text=None):
    """Return a JSON reply of tokens: texts, or (text, alternatives)."""
    tokens = tuple(
        Token(part, {part: 1.0}) if isinstance(part, str) else Token(*part) for part in parts
    )
    return Reply(
        "".join(token.text for token in tokens) if text is None else text,
        tokens=tokens,
        structured=True,
    )


def graded(realization, reply, mode="required", **options):
    how = build_judging(realization, **{"replies": "schema", **options})
    kept = load_reply(dump_reply(reply))
    return how.verdict(kept, mode) if how.is_pairwise else how.rating(kept, mode)


AB = {"A": 0.3, "B": 0.1, "The": 0.6}


@pytest.mark.parametrize(
    "reply",
    [
        structured('{"', "verdict", '":', ' "', ("A", AB), '"}'),
        structured('{"verdict":', (' "A', {' "A': 0.3, ' "B': 0.1, ' "The': 0.6}), '"}'),
        structured("```json\n", '{"verdict": "', ("A", AB), '"}', "\n```", text='{"verdict":"A"}'),
        structured(
            '<think>{"verdict": "B"}</think>',
            '{ "verdict" : "',
            ("A", AB),
            '" }',
            text='{"verdict": "A"}',
        ),
        structured("{", "Ċ", 'Ġ"verdict":', 'Ġ"', ("A", AB), '"}', text='{\n "verdict": "A"}'),
    ],
)
def test_the_token_of_the_verdict_is_found_in_the_tokens(reply):
    verdict = graded(DIRECT, reply)
    assert (verdict.credit, verdict.parsed, verdict.mass) == pytest.approx((0.75, 1.0, 0.4))


def test_a_verdict_in_the_reasons_is_not_the_verdict():
    reasons = json.dumps('I was told "verdict": "B".')[1:-1]
    reply = structured('{"reasons": "', reasons, '", "verdict": "', ("A", AB), '"}')
    assert graded(COT, reply).credit == pytest.approx(0.75)


def test_with_less_than_a_twentieth_of_the_mass_the_parsed_verdict_counts():
    few = {"A": 0.01, "B": 0.03, "The": 0.9}
    verdict = graded(DIRECT, structured('{"verdict": "', ("A", few), '"}'))
    assert (verdict.credit, verdict.mass) == pytest.approx((1.0, 0.04))
    enough = {"A": 0.01, "B": 0.04, "The": 0.9}
    assert graded(DIRECT, structured('{"verdict": "', ("A", enough), '"}')).credit == pytest.approx(
        0.2
    )


def test_five_levels_earn_their_mean():
    five = {"A": 0.1, "B": 0.4, "C": 0.2, "D": 0.1, "E": 0.0}
    verdict = graded(LABELS, structured('{"verdict": "', ("B", five), '"}'))
    # (0.1 * 1 + 0.4 * 0.75 + 0.2 * 0.5 + 0.1 * 0.25) / 0.8, and (0.1 * 2 + 0.4 - 0.1) / 0.8
    assert (verdict.credit, verdict.margin, verdict.parsed, verdict.mass) == pytest.approx(
        (0.65625, 0.625, 1.0, 0.8)
    )


def test_without_mass_a_level_earns_its_place_on_the_same_scale():
    verdict = graded(LABELS, structured('{"verdict": "', ("B", {"Well": 1.0}), '"}'))
    assert (verdict.credit, verdict.margin, verdict.parsed) == pytest.approx((0.75, 1.0, 1.0))


def test_a_word_is_known_by_its_first_token():
    grades = {"good": 0.5, "ex": 0.25, "ter": 0.05, "fair": 0.0, "the": 0.2}
    rating = graded(LIKERT, structured('{"grade": "', ("good", grades), '"}'))
    assert (rating.score, rating.parsed, rating.mass) == pytest.approx(
        ((0.5 * 4 + 0.25 * 5 + 0.05) / 0.8, 4.0, 0.8)
    )


def test_numbers_of_one_token_earn_their_mean():
    numbers = {"85": 0.5, "90": 0.25, "7": 0.25}
    rating = graded(NUMERIC, structured('{"grade": "', ("85", numbers), ('"}', {'"}': 1.0})))
    assert (rating.score, rating.parsed) == pytest.approx((0.5 * 85 + 0.25 * 90 + 0.25 * 7, 85.0))


def test_numbers_of_several_tokens_earn_the_mean_over_their_digits():
    digits = (
        ("8", {"8": 0.75, "1": 0.25}),
        ("5", {"5": 0.5, "0": 0.25, '"}': 0.25}),
        ('"}', {'"}': 0.5, "0": 0.5}),
    )
    rating = graded(NUMERIC, structured('{"grade": "', *digits))
    eighties, tens = 0.5 * 85 + 0.25 * 80 + 0.25 * 8, 0.5 * 15 + 0.25 * (10 + 100) / 2 + 0.25 * 1
    assert (rating.score, rating.mass) == pytest.approx((0.75 * eighties + 0.25 * tens, 1.0))


def test_a_reply_that_is_no_json_is_unparsed_whatever_its_tokens_say():
    assert graded(DIRECT, structured('{"verdict": "', ("A", AB), '"')).reason == "bad JSON"


@pytest.mark.parametrize(("replies", "credit"), [("schema", 0.75), ("auto", 1.0)])
def test_where_texts_have_no_probabilities_a_repeated_reply_has_none_either(replies, credit):
    reply = structured('{"verdict": "', ("B", {"B": 1.0}), '"}')
    assert graded(LABELS, reply, replies=replies).credit == credit
    assert graded(LABELS, reply, mode="off").credit == 1.0


def test_a_reply_without_probabilities_where_they_are_required_is_unparsed():
    assert (
        graded(DIRECT, Reply('{"verdict": "A"}', structured=True)).reason == "no log-probabilities"
    )


@pytest.mark.parametrize("replies", ["schema", "auto"])
def test_required_probabilities_and_a_schema_go_together(replies):
    assert build_judging(DIRECT, replies=replies, logprobs="required").form is not None


def test_ratings_are_compared_by_their_means_and_keep_the_parsed_verdict():
    verdict = compare_ratings(Rating(3.9, parsed=4.0, mass=0.9), Rating(3.6, parsed=4.0, mass=0.7))
    assert (verdict.credit, verdict.margin, verdict.parsed, verdict.mass) == (
        1.0,
        pytest.approx(0.3),
        0.5,
        0.7,
    )


def test_orders_are_averaged_by_credit_and_a_majority_votes_by_verdict():
    both = mean_verdict([Verdict(0.9, parsed=1.0), Verdict(0.3, parsed=0.0)])
    assert (both.credit, both.outcome) == (pytest.approx(0.6), 0.5)
    assert merge_jury([both, both, Verdict(0.4, parsed=0.0)], "majority").credit == 0.5


def test_a_row_has_the_mass_and_both_credits_seen_from_model_a():
    how = build_judging(DIRECT, replies="schema")
    kept = dump_reply(structured('{"verdict": "', ("A", AB), '"}'))
    row = build_verdict_row(
        {"order": "ba", "repeat": 0, "judge": "j", "replies": [kept], "mode": "required"}, how
    )
    assert (row["credit"], row["hard_credit"], row["mass"]) == pytest.approx((0.25, 0.0, 0.4))
    assert "ungraded" not in row


def test_a_row_says_that_its_verdict_is_not_graded():
    how = build_judging(DIRECT)
    kept = dump_reply(Reply("A", tokens=(Token("A", AB),)))
    row = build_verdict_row(
        {"order": "ab", "repeat": 0, "judge": "j", "replies": [kept], "mode": "required"}, how
    )
    assert (row["credit"], row["mass"], row["ungraded"]) == (
        1.0,
        pytest.approx(0.4),
        "mass of text",
    )
