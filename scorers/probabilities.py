"""Credits and scores graded by token probabilities.

These functions find the token at which a verdict begins, the probability that each allowed answer
had there, and the mean over all answers.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import isfinite
from typing import Any, Literal

from podium.check_kinds import CHECKS
from podium.scorers.prompt import Settings
from podium.scorers.realization import Realization
from podium.scorers.reply import Rating, Reply, Token, Verdict
from podium.scorers.schemas import Answers

NO_PROBABILITIES = "no log-probabilities"
"""Reason of an unparsed reply that needs token probabilities and has none."""
MASS_OF_TEXT = CHECKS["mass of text"]
"""Check of the total probability of the allowed answers in a text reply.

If the probabilities sum to less than its threshold, they do not grade the verdict, and the parsed
answer counts.
"""
MASS_OF_SCHEMA = CHECKS["mass of schema"]
"""Check of the total probability of the allowed answers in a JSON reply, like `MASS_OF_TEXT`."""
ALTERNATIVES = 20
"""Number of alternatives per token that a provider is asked for: the most that OpenAI gives."""
FEW_ALTERNATIVES = 5
"""Number of alternatives per token that every provider gives."""
IGNORED_SIGNS = " \t\r\n\"'()[]{}<>*_`#:;.,-▁Ġ"
"""Characters before and after an answer that are ignored. `▁` and `Ġ` stand for blanks."""
PLAIN_BLANKS = str.maketrans("▁ĠĊ", "  \n")
"""Translation of the signs that some tokenizers write for blanks and newlines."""
FIRST_MATCHED = 8
"""Number of tokens at the start of a reply that must match its text.

Fewer tokens could also match the beginning of a model's reasoning.
"""
GRADABLE_REASONS = (None, "no verdict", "out of range")
"""Reasons of replies whose first token may still be the verdict; None is a readable reply."""

Mode = Literal["auto", "required", "off"]
FixedMode = Literal["required", "off"]
"""Whether token probabilities grade the verdicts of a run: `auto` is replaced by one of these."""


def settle_mode(reply: Reply) -> FixedMode:
    """Decide the mode `auto` for a whole run by its first reply.

    All credits of a run must be of one kind. The mode is `required` (graded) if any token of this
    reply has probabilities of alternatives, else `off`.
    """
    return "required" if any(token.top for token in reply.tokens) else "off"


def masses_at(
    tokens: Sequence[Token], answers: Sequence[str], beginning_before: str = ""
) -> dict[str, float]:
    """Return the probability of each answer, from the alternatives at the first token.

    An alternative counts for the answers that begin with it, in any case and without the signs
    around it (`IGNORED_SIGNS`). The probabilities of all spellings of an answer are summed. An
    alternative such as `8` may begin several answers, such as `80` and `85`. Its probability is
    then divided between them in proportion to the alternatives at the next tokens. These are the
    alternatives after the token that was written, as no others are known.

    A probability that cannot be divided counts for no answer, and neither does that of an
    alternative that begins none. So the sum of the result may be below 1. At the last token, an
    alternative that begins several answers counts only for an answer that it spells completely.

    Args:
        tokens: the tokens from the start of the verdict on; without any, all results are 0.
        answers: the allowed answers.
        beginning_before: the beginning of the answer, in lower case, that stands before the tokens.

    Returns:
        A probability for each of `answers`.
    """
    masses = dict.fromkeys(answers, 0.0)
    if not tokens:
        return masses
    for spelling, probability in tokens[0].top.items():
        # `piece` is the part of an answer in this token, and `beginning` all that is known of it.
        piece = spelling.translate(PLAIN_BLANKS).strip(IGNORED_SIGNS).lower()
        beginning = beginning_before + piece
        is_possible = isfinite(probability) and probability > 0
        if not beginning or not is_possible:
            continue
        possible_answers = [answer for answer in answers if answer.lower().startswith(beginning)]
        # If no further letters are known, only an answer that is complete counts.
        is_ambiguous = len(tokens) == 1 and len(possible_answers) > 1
        is_end = not piece or is_ambiguous
        if is_end:
            possible_answers = [
                answer for answer in possible_answers if answer.lower() == beginning
            ]
        if not possible_answers:
            continue
        if len(possible_answers) == 1:
            divided_masses = {possible_answers[0]: 1.0}
        else:
            divided_masses = masses_at(tokens[1:], possible_answers, beginning)
        total = sum(divided_masses.values())
        if not total:
            continue
        for answer, divided_mass in divided_masses.items():
            masses[answer] += probability * divided_mass / total
    return masses


def tokens_of_field(reply: Reply, field: str) -> Sequence[Token]:
    """Return the tokens of a JSON reply, from the one that begins the value of a text field.

    The first token holds the first character of the value, and the last one ends the reply. If the
    field occurs several times, its last value counts. If it is missing, the result is empty.
    """
    # The tokens are what the model wrote; the completion may lack its fences and blanks.
    text = "".join(token.text.translate(PLAIN_BLANKS) for token in reply.tokens)
    starts = [match.end() for match in re.finditer(rf'"{field}"\s*:\s*"', text)]
    return _tokens_from(reply.tokens, starts[-1]) if starts else ()


def token_at(reply: Reply, place: int | None) -> Token | None:
    """Return the token that holds the character at a position of the reply's text.

    Returns:
        The token. None if the position is None, or if tokens and text do not match: the tokens
        neither end like the line from this position on, nor begin like the text with the position
        in their first 8 tokens.
    """
    if place is None:
        return None
    # The tokens may begin with reasoning and end with marks such as `<|end|>`. They match the text
    # if they end like its line. A log leaves out tokens in the middle. So they also match if they
    # begin like the text and the position lies within the first tokens.
    tokens = list(reply.tokens)
    while tokens and tokens[-1].text.startswith("<") and tokens[-1].text.endswith(">"):
        tokens.pop()
    spellings = [token.text.translate(PLAIN_BLANKS) for token in tokens]
    start = reply.text.rfind("\n", 0, place) + 1
    line = reply.text[start:].rstrip()
    token_text = "".join(spellings).rstrip()
    head = "".join(spellings[:FIRST_MATCHED])
    bare_head = head.lstrip()
    if token_text.endswith(line):
        token_place = len(token_text) - len(line) + place - start
    elif place < len(bare_head) and reply.text.startswith(bare_head):
        token_place = place + len(head) - len(bare_head)
    else:
        return None
    following = _tokens_from(tokens, token_place)
    return following[0] if following else None


def _tokens_from(tokens: Sequence[Token], place: int) -> Sequence[Token]:
    """Return the token that holds the character at a position, and all tokens after it.

    The position is counted in the joined texts of the tokens. If they are shorter, the result is
    empty.
    """
    ends = accumulate(len(token.text) for token in tokens)
    tokens_before = sum(end <= place for end in ends)
    return tokens[tokens_before:]


def first_token(reply: Reply) -> Token | None:
    """Return the token of the first character of the text that is not blank.

    The result is None if the text is blank, or if tokens and text do not match (`token_at`).
    """
    bare = reply.text.lstrip()
    return token_at(reply, len(reply.text) - len(bare)) if bare else None


def grade_reply(
    reply: Reply, parsed_answer: Verdict | Rating, realization: Realization, settings: Settings
) -> Verdict | Rating:
    """Replace a parsed credit or score by the weighted mean of all allowed answers.

    The weight of an answer is its probability at the token of the verdict. The parsed answer has
    all the weight if the probabilities sum to less than the threshold (`MASS_OF_TEXT` or
    `MASS_OF_SCHEMA`), or if the token is not found; an unparsed reply then stays unparsed. A text
    without a parsed letter can be graded by its first token. An unparsed JSON reply cannot be
    graded.

    Args:
        reply: the reply, with its tokens.
        parsed_answer: what was parsed from the reply.
        realization: how the judge was asked.
        settings: what shaped the prompt.

    Returns:
        The graded verdict or rating. `parsed` is the parsed credit or score, None if nothing was
        parsed. `mass` is the sum of the probabilities, None if the token was not found. Without
        any probabilities, a readable reply becomes unparsed with the reason `NO_PROBABILITIES`,
        and an unparsed one is returned unchanged.
    """
    if settle_mode(reply) == "off":
        if parsed_answer.reason:
            return parsed_answer
        return type(parsed_answer)(None, reason=NO_PROBABILITIES)
    form = realization.form
    if reply.structured and form and form.choices:
        last_field = list(form.fields(settings))[-1]
        tokens = () if parsed_answer.reason else tokens_of_field(reply, last_field)
        return _grade(parsed_answer, form.choices(settings), tokens, MASS_OF_SCHEMA.threshold)
    # Imported here because Inspect's registry loads this file without reading any reply.
    from podium.scorers.direct import letter_verdicts

    letters = letter_verdicts(settings)
    token = _token_of_letter(
        reply, parsed_answer, "".join(letters), has_reasons=realization.has_reasons(settings)
    )
    tokens = [token] if token else []
    return _grade(parsed_answer, letters, tokens, MASS_OF_TEXT.threshold)


def _token_of_letter(
    reply: Reply, parsed_answer: Verdict | Rating, letters: str, *, has_reasons: bool
) -> Token | None:
    """Return the token whose alternatives are the letters of the verdict.

    This is the token of the parsed letter. If no letter was parsed, it is the first token of the
    reply.

    Args:
        reply: the reply.
        parsed_answer: what was parsed from the reply.
        letters: the letters that the judge may choose.
        has_reasons: whether reasons stand before the verdict, so that the first token is not it.

    Returns:
        None if the token cannot be found, or if no letter was parsed and the first token cannot be
        the verdict.
    """
    if isinstance(parsed_answer, Verdict) and parsed_answer.place is not None:
        return token_at(reply, parsed_answer.place)
    if has_reasons or parsed_answer.reason not in GRADABLE_REASONS:
        return None
    first = first_token(reply)
    if first is None or parsed_answer.reason is None:
        return first
    # A letter that begins a reply without a verdict is the article: `A banana is yellow.`
    is_article = first.text.strip(IGNORED_SIGNS).upper() in letters
    return None if is_article else first


def _grade(
    parsed_answer: Verdict | Rating, answers: Answers, tokens: Sequence[Token], least_mass: float
) -> Verdict | Rating:
    """Return the mean of all answers, weighted by their probabilities at the first token.

    The result is a copy of `parsed_answer` with the means, `mass` (None without tokens), and
    `parsed`, the value that was parsed from the text.

    Args:
        parsed_answer: what was parsed from the reply.
        answers: verdict or rating by allowed answer.
        tokens: the tokens from the start of the answer on; empty if it was not found.
        least_mass: if the probabilities sum to less, or `tokens` is empty, the parsed answer has
            all the weight. If nothing was parsed either, the unparsed answer is returned with the
            mass.
    """
    weights: Mapping[str, float] = masses_at(tokens, list(answers))
    mass = sum(weights.values()) if tokens else None
    if mass is None or mass < least_mass:
        weights = {}
        if parsed_answer.reason is None:
            codes = [
                code for code, answer in answers.items() if answer.label == parsed_answer.label
            ]
            weights = dict.fromkeys(codes, 1.0)
    if not weights:
        return replace(parsed_answer, mass=mass)
    # Means by field: `score` of ratings, `credit` and perhaps `margin` of verdicts.
    means: Any = Counter()
    for code, weight in weights.items():
        share = weight / sum(weights.values())
        for name, value in _values_of_answer(answers, code).items():
            means[name] += share * value
    if isinstance(parsed_answer, Rating):
        return replace(parsed_answer, **means, reason=None, parsed=parsed_answer.score, mass=mass)
    means["credit"] = min(1.0, means["credit"])
    return replace(parsed_answer, **means, reason=None, parsed=parsed_answer.credit, mass=mass)


def _values_of_answer(answers: Answers, code: str) -> Mapping[str, float]:
    """Return the numbers of an answer that are averaged, by the name of their field.

    A rating has a score. A verdict has a credit and possibly a margin. With a margin, the credit is
    (1 + margin / m) / 2, where m is the largest |margin| of all answers, which must not be 0. The
    answers must be readable.
    """
    answer = answers[code]
    # The answers are readable: `or 0.0` is for the type checker alone.
    if isinstance(answer, Rating):
        return {"score": answer.score or 0.0}
    if answer.margin is None:
        return {"credit": answer.credit or 0.0}
    verdicts = [other for other in answers.values() if isinstance(other, Verdict)]
    largest_margin = max(abs(verdict.margin or 0.0) for verdict in verdicts)
    return {"credit": (1 + answer.margin / largest_margin) / 2, "margin": answer.margin}
