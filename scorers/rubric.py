"""rubric: both responses scored on six criteria; the margin is the mean difference.

Source: the Soft-Elo paper, appendix A.
"""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any

from podium.scorers.attributed_texts import attributes_text_before
from podium.scorers.comparisons import OTHER_RESPONSE, TIE, find_comparisons
from podium.scorers.contradictions import VerdictPlace, contradicts
from podium.scorers.echoed_prompts import without_echo
from podium.scorers.introduced_texts import is_introduced
from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reasoning import strip_reasoning
from podium.scorers.reply import Reply, Verdict, no_verdict, verdict_of_margin
from podium.scorers.reply_reader import reason_after, reason_around
from podium.scorers.reply_structure import BLOCK_QUOTE, Span, mask, own_words
from podium.scorers.schemas import ReplyForm
from podium.scorers.score_tables import ScoreTable, read_table, without_template
from podium.wording import NUMBER_WORDS

CRITERIA = ("adherence", "helpfulness", "factuality", "completeness", "clarity", "fluency")
AGENT_CRITERIA = ("completion", "efficiency", "groundedness", "safety", "clarity", "recovery")
"""The criteria for transcripts of agents. Each stands for the criterion of `CRITERIA` at its place.

Inside of this file, scores have the names of `CRITERIA`. `_swap_names` translates them where texts
are read and written.
"""
COUNTERPART = dict(zip(CRITERIA + AGENT_CRITERIA, AGENT_CRITERIA + CRITERIA, strict=True))
"""For each criterion, the one that stands for it in the other tuple."""
CRITERION = re.compile(rf"\b(?:{'|'.join(COUNTERPART)})\b", re.IGNORECASE)
"""The name of a criterion, such as `clarity`."""
# Range of the scores.
LOWEST_SCORE = 1
HIGHEST_SCORE = 10
SCORE_TEXTS = tuple(map(str, range(LOWEST_SCORE, HIGHEST_SCORE + 1)))
NUMBER = rf"(?:(?:10|\d)(?:\.\d+)?|{'|'.join(NUMBER_WORDS[1 : HIGHEST_SCORE + 1])})\b"
"""A score from 0 to 10 in digits or words, such as `7`, `7.5` or `seven`."""
SCORE = rf"{NUMBER}(?![ \t]+(?!and\b|on\b|for\b|points?\b|to\b|out\b)[a-z])"
"""A number of points: `7` and `7 points`, but not the number in `7 errors`."""
# Words before a number that make it a score.
SCORE_NOUN = rf"(?:{'|'.join(CRITERIA)}|overall|total|average|mean|scores?|rating)"
OTHER_SCORES = re.compile(
    rf"(?ma)\b{SCORE_NOUN}\b[^\n]{{0,60}}?\b{SCORE}"
    rf"|\b{NUMBER}[ \t]*(?:/|out of)[ \t]*(?:10|ten)\b"
    rf"|\b(?:response[ \t_-]*)?[ab]\b[\"'*_`)\]]*[ \t]*[:=|(–—-]+[ \t\"'*_`(\[{{]*{NUMBER}"
    rf"|^[ \t>|*\-\[(]*{NUMBER}(?:[ \t,;:|/\])]+{NUMBER})*[ \t|,;.\])]*$"
    rf"|<[^<>\n]{{1,20}}>[ \t]*{NUMBER}"
    rf"|\b(?:must|should|deserves?|gets?)\b[ \t]+(?:\w+[ \t]+){{0,2}}{SCORE}"
)
"""Scores outside of the JSON object. If there are any, the object may be a quotation.

The forms are, in this order: `clarity is 7`, `7/10`, `Response A: 7`, a line of numbers,
`<score> 7` and `should get a 7`. The pattern is searched in lower case, which is faster.
"""
# A verdict outside of the scores, such as `verdict: B` or `[[B]]`. It is searched in texts in lower
# case. It begins with literal characters, because the regex engine searches those as a set. So a
# lookbehind after each word checks that the word is not the end of a longer one.
OTHER_VERDICT = re.compile(
    r"(?:verdict(?<!\wverdict)|winner(?<!\wwinner)|better response(?<!\wbetter response)"
    r"|answer(?<!\wanswer)|\[\[[^\[\]\n]{1,40}\])"
    r"(?:(?<=\])\]|\b[^\w\n,{]+(?:is[^\w\n]+)?(?:response[^\w\n]+)?([ab])\b(?!['’]))"
)
LONGEST_OUTSIDE = 20_000
"""Largest number of characters around the scores. With more, the reply is unparsed, since the text
is too long for an explanation."""
SEARCHED_NEAR_SCORES = 400
"""Number of characters before and after scores that are searched for words against them."""
REPEATED_SCORE = re.compile(
    # Not `no 8 for`, `not a 10 for` or `full 10 for`, which do not repeat a score.
    rf"\b(?<!\bno )(?<!\bnot )(?<!\bnot a )(?<!full )(?P<score>{NUMBER})"
    rf"(?: rather than (?:an? )?{NUMBER})?"
    rf" (?:for|on|in) (?P<criterion>{'|'.join(CRITERIA)})\b"
)
"""A score that an explanation repeats, such as `8 rather than 10 for adherence`."""
NAMED_RESPONSE = re.compile(r"(?:[Rr]esponse |\A|[.;,] )(?P<side>[AB])\b(?!['’]?\w)")
"""The name of a response in an explanation: `Response A`, `. B`."""
SCORE_RANGE = re.compile(rf"\b{LOWEST_SCORE}[ \t]*(?:to|-|–)[ \t]*{HIGHEST_SCORE}\b")
"""The range of the scores, `1 to 10`, which is not a score."""
SCORE_OBJECT = re.compile(
    rf"\{{[^{{}}]{{0,40}}[\"'](?:[AB]|{'|'.join(CRITERIA)})[\"'][^{{}}]*\{{?", re.IGNORECASE
)
"""The beginning of another object with scores, quoted or not: `{"A": {`."""
# Words for another range of scores, such as `scores out of 5`.
OTHER_RANGE = re.compile(
    r"\b(?:each|all|scores?|scale|points|rated?)\W{1,2}(?:are )?(?:out of|of|from|von|sur) "
    r"(?:1 (?:to|[-–]) )?(?:five|5|100)\b"
)


def read_reply(reply: Reply, settings: Settings) -> Verdict:
    """Read the scores of both responses.

    The margin is the mean difference of the scores over the criteria, and the credit is 1, 0.5 or
    0 by its sign. `criteria` has the difference of each criterion.

    The verdict is unparsed if a score is missing (`bad JSON`) or not in 1 to 10 (`out of range`),
    if two scores for one criterion of a response differ (`several verdicts`), or if the text around
    the scores speaks against them (`_reason_outside`). A reply without scores and braces has the
    reason of `no_verdict`.
    """
    if reply.reason_of_silence:
        return Verdict(credit=None, reason=reply.reason_of_silence)
    text = _swap_names(strip_reasoning(reply.text), settings)
    text = without_template(without_echo(text))
    view = own_words(text)
    if view is None:
        return Verdict(credit=None, reason="no verdict")
    table = read_table(view, text, CRITERIA)
    if isinstance(table, str) and table != "no verdict":
        return Verdict(credit=None, reason=table)
    if isinstance(table, str) or not table.scores:
        # A reply without scores may still be a refusal (`no_verdict`).
        if "{" in text:
            return Verdict(credit=None, reason="bad JSON")
        return Verdict(credit=None, reason=no_verdict(text))
    if len(table.scores) < 2 * len(CRITERIA):
        return Verdict(credit=None, reason="bad JSON")
    if not all(LOWEST_SCORE <= score <= HIGHEST_SCORE for score in table.scores.values()):
        return Verdict(credit=None, reason="out of range")
    scores = {side: _scores_of_side(table, side) for side in "AB"}
    verdict = _verdict_of_scores(scores, settings)
    reason = _reason_outside(text, view, table, verdict)
    return Verdict(credit=None, reason=reason) if reason else verdict


def _scores_of_side(table: ScoreTable, side: str) -> dict[str, Any]:
    """Return the scores of the response `side` (A or B), by criterion; the table must have all."""
    return {name: table.scores[side, name] for name in CRITERIA}


def _swap_names(text: str, settings: Settings) -> str:
    """Swap the names of the criteria for agents and for answers in a text.

    The text is returned unchanged unless transcripts are judged.
    """
    if not settings.transcript:
        return text
    return CRITERION.sub(lambda name: COUNTERPART[name[0].lower()], text)


def _swap_keys(
    scores: Mapping[str, Mapping[str, Any]], settings: Settings
) -> dict[str, dict[str, Any]]:
    """Swap the names of the criteria for agents and for answers in the scores of both responses.

    The names stay unless transcripts are judged. `scores` has the scores by response and criterion.
    """
    swapped = {}
    for side, by_name in scores.items():
        swapped[side] = {_swap_names(name, settings): score for name, score in by_name.items()}
    return swapped


def _reason_outside(text: str, view: str, table: ScoreTable, verdict: Verdict) -> str | None:
    """Return the reason why text around the scores makes the reply unparsed; None if there is none.

    The text may say that the scores are somebody else's, take the scores back, or contradict them.
    More than `LONGEST_OUTSIDE` characters of text make the reply unparsed, too, with the reason
    `several verdicts`. Block quotes are ignored.

    Args:
        text: the reply.
        view: the judge's own words (`own_words` of the text).
        table: the scores and where they stand in the text.
        verdict: the verdict of the scores.
    """
    gaps = _gaps_between(table.places, len(text))
    gaps_near = [_near_scores(start, end) for start, end in gaps]
    preferred = _preferred_letter(verdict)
    outside = BLOCK_QUOTE.sub("", "".join(text[start:end] for start, end in gaps))
    start_of_first, _ = gaps_near[0]
    _, end_of_last = gaps_near[-1]
    searched_text = text[start_of_first:end_of_last].lower()
    letters = {letter.upper() for letter in OTHER_VERDICT.findall(searched_text)}
    if SCORE_OBJECT.search(outside) or letters - {preferred}:
        return "several verdicts"
    words_near = _without_repeated_scores(
        "\n".join(view[start:end] for start, end in gaps_near), table
    )
    if words_near is None or len(outside) > LONGEST_OUTSIDE:
        return "several verdicts"
    if _has_other_scores(words_near.lower()):
        return "several verdicts"
    # Remarks explain the scores. With `Reasons:` before it, a remark is read as an explanation.
    remarks = "\n".join(f"Reasons: {words}" for words in table.remarks)
    reason = reason_around(view, table.places) or reason_after(remarks)
    scores_start, _ = table.places[0]
    _, scores_end = table.places[-1]
    if is_introduced(text, view, scores_start) or attributes_text_before(view[scores_end:]):
        return "reported"
    place = VerdictPlace(
        start=scores_start, end=scores_end, form="marked", preferred=preferred, is_sentence=True
    )
    if contradicts(view, place):
        return "several verdicts"
    if reason or preferred == TIE:
        return reason
    comparisons = chain.from_iterable(find_comparisons(view, *span) for span in gaps_near)
    is_contradicted = any(statement.value == OTHER_RESPONSE[preferred] for statement in comparisons)
    return "several verdicts" if is_contradicted else None


def _preferred_letter(verdict: Verdict) -> str:
    """Return the response that a verdict of scores prefers: A, B, or C for neither."""
    if verdict.credit == 0.5:
        return TIE
    return "A" if verdict.credit == 1 else "B"


def _gaps_between(places: Sequence[Span], length: int) -> list[Span]:
    """Return the spans of a text before, between and after the given spans.

    Args:
        places: the spans, in order.
        length: length of the text.
    """
    starts = [0, *(end for _, end in places)]
    ends = [*(start for start, _ in places), length]
    return list(zip(starts, ends, strict=True))


def _near_scores(start: int, end: int) -> Span:
    """Return the part of a gap that is near to scores, at most 400 characters.

    Of the gap before the first scores, it is the end; of any other gap, the beginning.
    """
    if start == 0:
        return max(0, end - SEARCHED_NEAR_SCORES), end
    return start, min(end, start + SEARCHED_NEAR_SCORES)


def _without_repeated_scores(words_near: str, table: ScoreTable) -> str | None:
    """Return the text around the scores without the scores that this text repeats.

    A repeated score is one of the response that was named last, such as `8 rather than 10 for
    adherence`. It is replaced by blanks. The result is None if the table has another score for it.
    Scores in words, and scores before any name of a response, stay.
    """
    names = list(NAMED_RESPONSE.finditer(words_near))
    spans = []
    for repeated in REPEATED_SCORE.finditer(words_near):
        sides = [name["side"] for name in names if name.end() <= repeated.start()]
        if not sides or not repeated["score"][0].isdecimal():
            continue
        if table.scores[sides[-1], repeated["criterion"]] != Decimal(repeated["score"]):
            return None
        spans.append(repeated.span())
    return mask(words_near, spans, " ")


def _has_other_scores(outside: str) -> bool:
    """Return whether the text around the scores, in lower case, states other scores.

    The range of the scores, `1 to 10`, is ignored.
    """
    return bool(OTHER_RANGE.search(outside) or OTHER_SCORES.search(SCORE_RANGE.sub("", outside)))


def _verdict_of_scores(scores: Mapping[str, Mapping[str, Any]], settings: Settings) -> Verdict:
    """Return the verdict of valid scores of both responses.

    Args:
        scores: scores by response (A, B) and criterion of `CRITERIA`, as numbers or digits.
        settings: says whether the margins get the names of the criteria for agents.
    """
    # Fractions are exact: rounding cannot make a tie or break one.
    leads = {}
    for name in CRITERIA:
        leads[name] = _exact_number(scores["A"][name]) - _exact_number(scores["B"][name])
    mean = Fraction(sum(leads.values()), len(CRITERIA))
    margins = {_swap_names(name, settings): float(lead) for name, lead in leads.items()}
    return verdict_of_margin(mean, margins)


def _exact_number(score: Any) -> int | Fraction:
    """Return a score as an exact number: an integer, which is faster, or a fraction."""
    return int(score) if int(score) == score else Fraction(score)


def write_reply(preference: Preference, settings: Settings) -> Reply:
    """Return a reply with whole scores that fit a preference; its chance and reasons are ignored.

    The mean difference of the scores is close to (2 degree - 1) * (10 - 1). The sums of both
    responses are equal only if the degree is 0.5.
    """
    # The sums of both responses are middle + lead and middle - lead.
    largest_difference = len(CRITERIA) * (HIGHEST_SCORE - LOWEST_SCORE)
    lead = round((preference.degree - 0.5) * largest_difference)
    if lead == 0 and preference.degree != 0.5:
        lead = 1 if preference.degree > 0.5 else -1
    middle = len(CRITERIA) * LOWEST_SCORE + largest_difference // 2
    text = json.dumps({"A": _scores_of_sum(middle + lead), "B": _scores_of_sum(middle - lead)})
    return Reply(_swap_names(text, settings))


def _scores_of_sum(total: int) -> dict[str, int]:
    """Return whole scores of the criteria that sum to `total` and differ by at most 1."""
    score, rest = divmod(total, len(CRITERIA))
    scores = dict.fromkeys(CRITERIA, score)
    for name in CRITERIA[:rest]:
        scores[name] += 1
    return scores


def _form_fields(settings: Settings) -> Mapping[str, Any]:
    """Return the allowed scores in a JSON reply, by response and criterion."""
    return _swap_keys({side: dict.fromkeys(CRITERIA, SCORE_TEXTS) for side in "AB"}, settings)


RUBRIC = Realization(
    name="rubric",
    kind="pairwise",
    template=partial(packaged_template, "rubric"),
    read_reply=read_reply,
    write_reply=write_reply,
    form=ReplyForm(
        fields=_form_fields,
        read=lambda scores, settings: _verdict_of_scores(_swap_keys(scores, settings), settings),
        write=lambda reply, *_: json.loads(reply.text, parse_int=str),
        tokens=400,
    ),
    tokens=1024,
)
