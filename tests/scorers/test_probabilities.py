"""Token probabilities give soft credit, or say that they cannot."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import UsageError
from podium.plugins import catalogue
from podium.scorers.battle import swap_sides
from podium.scorers.judging import Judging, dump_reply, load_reply
from podium.scorers.probabilities import settle_mode, token_at
from podium.scorers.prompt import Settings
from podium.scorers.reply import Reply, Token, Verdict

TOP = {"A": 0.6, "B": 0.2, "The": 0.2}


def reply(
    *texts: str, top: dict[str, float] | None = None, at: int = -1, truncated: bool = False
) -> Reply:
    """Return a reply made of tokens, one of which has probabilities."""
    at %= len(texts)
    known = TOP if top is None else top
    tokens = tuple(Token(text, known if k == at else {text: 1.0}) for k, text in enumerate(texts))
    return Reply("".join(texts), truncated, tokens)


def softened(
    given: Reply, *, name: str = "direct", tie: bool = False, mode: str = "required"
) -> Verdict:
    return Judging(catalogue.find_realization(name), Settings(tie=tie)).verdict(given, mode)


def test_the_credit_is_the_share_of_the_first_letter() -> None:
    assert softened(reply("A")).credit == pytest.approx(0.75)


def test_the_letter_that_was_written_does_not_count_for_more() -> None:
    verdict = softened(reply("B"))
    assert (verdict.credit, verdict.label) == (pytest.approx(0.75), "B")


def test_tie_probability_is_split_equally() -> None:
    verdict = softened(reply("A", top={"A": 0.5, "B": 0.1, "C": 0.2}), tie=True)
    assert verdict.credit == pytest.approx(0.6 / 0.8)


def test_a_tie_that_was_not_to_choose_from_has_no_mass() -> None:
    assert softened(reply("A", top={"A": 0.5, "B": 0.1, "C": 0.4})).credit == pytest.approx(
        0.5 / 0.6
    )


@pytest.mark.parametrize(
    "spelling", [" A", "a", "[A", "[[A", "**A", "(A)", '"A"', "A.", "\nA", "\u0120A", "\u2581A"]
)
def test_spellings_of_a_letter_are_summed(spelling: str) -> None:
    assert softened(reply("A", top={"A": 0.3, spelling: 0.3, "B": 0.2})).credit == pytest.approx(
        0.75
    )


@pytest.mark.parametrize("spelling", ["\u0410", "AB", "Answer", "As", "1", "", " "])
def test_other_words_are_no_letters(spelling: str) -> None:
    assert softened(reply("A", top={"A": 0.6, spelling: 0.2, "B": 0.2})).credit == pytest.approx(
        0.75
    )


@pytest.mark.parametrize(
    ("top", "mass"),
    [
        ({"B": 0.3, "The": 0.7}, 0.3),
        ({"The": 1.0}, 0.0),
        ({"A": math.nan, "B": math.inf}, 0.0),
        ({"A": -1.0, "B": 0.4}, 0.4),
    ],
)
def test_with_less_than_half_of_the_mass_on_the_letters_the_parsed_verdict_counts(
    top: dict[str, float], mass: float
) -> None:
    verdict = softened(reply("A", top=top))
    assert (verdict.credit, verdict.parsed, verdict.mass) == (1.0, 1.0, pytest.approx(mass))


def test_half_of_the_mass_is_enough() -> None:
    assert softened(reply("A", top={"B": 0.5, "The": 0.5})).credit == 0.0


def test_the_parsed_verdict_is_kept_beside_the_graded_credit() -> None:
    verdict = softened(reply("B"))
    assert (verdict.parsed, verdict.outcome, verdict.mass) == (0.0, 0.0, pytest.approx(0.8))
    turned = swap_sides(verdict)
    assert (turned.credit, turned.parsed) == (pytest.approx(0.25), 1.0)


def test_without_a_verdict_the_first_token_counts_whatever_was_sampled() -> None:
    verdict = softened(
        reply("I", " prefer", " neither", at=0, top={"A": 0.45, "I": 0.35, "B": 0.2})
    )
    assert (verdict.credit, verdict.parsed, verdict.reason) == (
        pytest.approx(0.45 / 0.65),
        None,
        None,
    )


def test_an_article_at_the_beginning_of_a_reply_without_a_verdict_is_no_letter() -> None:
    assert softened(reply("A", " banana", " is", " yellow.", at=0)).reason == "no verdict"


def test_both_letters_missing_is_no_tie() -> None:
    assert softened(reply("Hello", " there", at=0, top={"Hello": 0.9})).reason == "no verdict"


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (("A", "\n\nVerdict: B"), "several verdicts"),
        (("A", "\n\nWait, no. I take that back."), "retracted"),
        (("I", "'m sorry, I cannot compare these."), "refusal"),
    ],
)
def test_no_probability_outweighs_what_the_reader_rejects(
    texts: tuple[str, ...], reason: str
) -> None:
    assert softened(reply(*texts, at=0)).reason == reason


def test_a_first_token_is_no_verdict_where_reasons_come_first() -> None:
    assert (
        softened(reply("Both", " are fine.", at=0, top={"A": 0.9}), name="cot").reason
        == "no verdict"
    )


def test_a_reply_without_tokens_is_unparsed_where_they_are_required() -> None:
    assert softened(Reply("A")).reason == "no log-probabilities"


@pytest.mark.parametrize("given_reply", [reply("A"), Reply("A")])
def test_without_probabilities_wanted_the_verdict_stays_hard(given_reply: Reply) -> None:
    assert softened(given_reply, mode="off").credit == 1.0


@pytest.mark.parametrize(("given_reply", "credit"), [(reply("A"), 0.75), (Reply("A"), 1.0)])
def test_auto_takes_what_the_reply_has(given_reply: Reply, credit: float) -> None:
    assert softened(given_reply, mode=settle_mode(given_reply)).credit == pytest.approx(credit)


def test_an_unparsed_reply_stays_unparsed_with_its_reason() -> None:
    assert softened(reply("A", " B")).reason == "several verdicts"


@pytest.mark.parametrize(
    ("first", "expected"),
    [(reply("A"), "required"), (Reply("A"), "off"), (Reply("B", tokens=(Token("B"),)), "off")],
)
def test_the_mode_is_settled_by_whether_any_token_has_probabilities(
    first: Reply, expected: str
) -> None:
    assert settle_mode(first) == expected


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(UsageError, match="available: auto, required, off"):
        Judging(catalogue.find_realization("direct"), logprobs="always")


@pytest.mark.parametrize(
    ("texts", "at"),
    [
        (("I", " think", " so", ".\n", "Verdict", ":", " A"), 6),
        (("A", " is better.\n\n", "Verdict:", " [", "A", "]"), 4),
        (("A", " is better.\n\n", "**", "Verdict", ": A", "**\n"), 4),
        (("B", "\n", "Verdict", ": ", "A", "<|eot_id|>"), 4),
    ],
)
def test_the_token_of_the_last_line_is_found(texts: tuple[str, ...], at: int) -> None:
    whole = reply(*texts, at=at)
    given_reply = Reply(whole.text.removesuffix("<|eot_id|>"), tokens=whole.tokens)
    assert softened(given_reply, name="cot").credit == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("texts", "at", "text"),
    [
        (("A",), 0, "A"),
        (("\n", "A", "\n"), 1, "A"),
        ((" A", "</s>"), 0, "A"),
        (("**", "A", "**"), 1, "**A**"),
        (("Response", " A"), 1, "Response A"),
        (("<think>", "B", "</think>", "A"), 3, "A"),
    ],
)
def test_the_token_of_a_single_letter_is_found(texts: tuple[str, ...], at: int, text: str) -> None:
    assert softened(Reply(text, tokens=reply(*texts, at=at).tokens)).credit == pytest.approx(0.75)


def test_tokens_of_another_text_are_not_used() -> None:
    verdict = softened(Reply("A", tokens=reply("B").tokens))
    assert (verdict.credit, verdict.mass) == (1.0, None)


def test_a_verdict_that_no_single_letter_says_is_not_graded() -> None:
    verdict = softened(
        reply("The", " first response", " is better.", at=0, top={"The": 0.9, "A": 0.1})
    )
    assert (verdict.credit, verdict.parsed) == (1.0, 1.0)


@given(st.lists(st.text(max_size=4), min_size=1, max_size=12), st.integers(0, 40))
def test_the_token_at_a_place_holds_that_character(texts: list[str], place: int) -> None:
    given_reply = reply(*texts)
    line_end = given_reply.text.find("\n", place)
    token = token_at(given_reply, place) if place < len(given_reply.text) else None
    if token is not None and line_end < 0:
        assert given_reply.text[place] in token.text


PROBABILITIES = st.dictionaries(
    st.sampled_from(["A", "B", "C", " A", "a", "The", "[B"]), st.floats(0, 1), max_size=5
)


@pytest.mark.slow
@given(PROBABILITIES, st.booleans())
def test_a_soft_credit_lies_between_0_and_1_and_is_turned_with_the_letters(
    top: dict[str, float], tie: bool
) -> None:
    turned = {name.translate(str.maketrans("ABab", "BAba")): mass for name, mass in top.items()}
    ours, theirs = (softened(reply("A", top=one), tie=tie) for one in (top, turned))
    assert ours.reason == theirs.reason
    assert ours.reason == "no log-probabilities" or 0 <= ours.credit <= 1
    if ours.mass is not None and ours.mass >= 0.5:
        assert ours.credit == pytest.approx(1 - theirs.credit)


def rated(given_reply: Reply):
    return catalogue.find_realization("token-probs").read_reply(given_reply, Settings())


def test_token_probs_looks_at_the_parsed_answer_if_the_first_token_is_another_word() -> None:
    rating = rated(reply("Answer", ":", " Yes", at=2, top={" Yes": 0.8, " No": 0.2}))
    assert (rating.score, rating.parsed, rating.mass) == (
        pytest.approx(0.8),
        1.0,
        pytest.approx(1.0),
    )


def test_token_probs_of_a_reply_that_contradicts_itself_is_unparsed() -> None:
    assert (
        rated(reply("Yes", "\n", "No", at=0, top={"Yes": 0.9, "No": 0.1})).reason
        == "several verdicts"
    )


def test_token_probs_is_the_share_of_yes() -> None:
    assert rated(reply("Yes", top={"Yes": 0.5, " yes": 0.1, "NO": 0.2})).score == pytest.approx(
        0.75
    )


def test_token_probs_looks_at_the_first_token_that_is_not_blank() -> None:
    assert rated(reply("\n", "No", "\n", at=1, top={"Yes": 0.1, "No": 0.9})).score == pytest.approx(
        0.1
    )


def test_token_probs_reads_a_reply_that_was_cut_off_after_its_first_token() -> None:
    assert rated(reply("Yes", top={"Yes": 1.0}, truncated=True)).score == 1.0


@pytest.mark.parametrize(
    ("given_reply", "reason"),
    [
        (Reply("Yes"), "no log-probabilities"),
        (Reply("Yes", tokens=(Token("Yes"),)), "no log-probabilities"),
        (reply("The", top={"The": 0.9, "Yes": 0.1}), "no log-probabilities"),
        (reply("I", "'m sorry, I can't.", at=0, top={"I": 1.0}), "refusal"),
        (Reply(""), "empty"),
        (Reply("", truncated=True), "truncated"),
    ],
)
def test_token_probs_says_why_it_is_unparsed(given_reply: Reply, reason: str) -> None:
    assert rated(given_reply).reason == reason


def tokens_of(*words: tuple[str, float]) -> tuple[Token, ...]:
    """Return tokens, each with the probability of yes at its place."""
    return tuple(Token(word, {"yes": chance, "no": 1 - chance}) for word, chance in words)


THOUGHTS = tokens_of(("No", 0.05), (",", 0.5), (" wait", 0.5), (".", 0.5))


@pytest.mark.parametrize("thoughts", [THOUGHTS, THOUGHTS * 3, tokens_of(("▁No", 0.05), ("Ċ", 0.5))])
@pytest.mark.parametrize("answer", ["yes", " yes", "▁yes"])
def test_token_probs_looks_at_the_answer_and_not_at_what_was_thought_before_it(
    thoughts: tuple[Token, ...], answer: str
) -> None:
    kept = load_reply(dump_reply(Reply("yes", tokens=(*thoughts, *tokens_of((answer, 0.99))))))
    assert rated(kept).score == pytest.approx(0.99)


def test_token_probs_reads_a_long_reply_whose_middle_is_not_kept() -> None:
    words = tokens_of(("yes", 0.9), *((f" word{k}", 0.5) for k in range(200)))
    long = Reply("".join(token.text for token in words), tokens=words)
    assert rated(load_reply(dump_reply(long))).score == pytest.approx(0.9)


def test_token_probs_of_thoughts_alone_is_unparsed() -> None:
    assert rated(Reply("yes", tokens=THOUGHTS)).reason == "no log-probabilities"
