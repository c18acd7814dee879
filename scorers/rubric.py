"""rubric: both responses scored on six criteria (Soft-Elo, appendix A); the margin is the mean difference."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from podium.scorers.comparisons import find_comparisons
from podium.scorers.json_objects import objects_with_keys
from podium.scorers.levels import NUMBER_WORDS
from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import Reply, Verdict, verdict_of_margin
from podium.scorers.reply_reader import reason_around
from podium.scorers.schemas import ReplyForm

CRITERIA = ("adherence", "helpfulness", "factuality", "completeness", "clarity", "fluency")
SIDES = frozenset("AB")
LOW, HIGH = 1, 10
GRADES = tuple(map(str, range(LOW, HIGH + 1)))
NUMBER = rf"(?:\d{{1,2}}(?:\.\d+)?|{'|'.join(NUMBER_WORDS[1:])})\b"
SCORE = rf"{NUMBER}(?![ \t]+(?!and\b|on\b|for\b|points?\b|to\b|out\b)[a-z])"
"""A number that does not count anything else than points."""
NAMED = rf"(?:{'|'.join(CRITERIA)}|overall|total|average|mean|scores?|rating|points?)"
OTHER_SCORES = re.compile(
    rf"\b{NAMED}\b[^\n]{{0,60}}?\b{SCORE}"
    rf"|\b{NUMBER}[ \t]*(?:/|out of)[ \t]*(?:10|ten)\b"
    rf"|\b(?:response[ \t_-]*)?[AB]\b[\"'*_`)\]]*[ \t]*[:=|(–—-]+[ \t\"'*_`(\[{{]*{NUMBER}"
    rf"|^[ \t>|*\-\[(]*{NUMBER}(?:[ \t,;:|/\])]+{NUMBER})*[ \t|,;.\])]*$"
    rf"|<[^<>\n]{{1,20}}>[ \t]*{NUMBER}"
    rf"|\b(?:must|should|deserves?|gets?)\b[ \t]+(?:\w+[ \t]+){{0,2}}{SCORE}",
    re.IGNORECASE | re.MULTILINE | re.ASCII,
)
"""Scores outside the JSON object, which then may be a quotation."""
OTHER_VERDICT = re.compile(
    r"\b(?:verdict|winner|better response|answer)\b[^\w\n,]+(?:is[^\w\n]+)?(?:response[^\w\n]+)?[AB]\b(?!['’])"
    r"|\[\[[^\[\]\n]{1,40}\]\]",
    re.IGNORECASE,
)
LONGEST_OUTSIDE = 20_000
"""Characters around the JSON object; longer texts are no explanation."""
NUMBERS = re.compile(r"[0-9]")
WORD = re.compile(r"\w+")
SCALE = re.compile(rf"\b{LOW}[ \t]*(?:to|-|–)[ \t]*{HIGH}\b")
"""The range, which is not a score."""


def read_reply(reply: Reply, settings: Settings) -> Verdict:  # noqa: ARG001
    """Read the scores of both responses; the margin is the mean difference, the credit its sign."""
    matching = objects_with_keys(reply, SIDES)
    if isinstance(matching, str):
        return Verdict(None, reason=matching)
    scores = matching.objects[-1]
    ends = [0, *(place for span in matching.places for place in span), len(reply.text)]
    gaps = list(zip(ends[::2], ends[1::2], strict=True))
    outside = "\n".join(reply.text[start:end] for start, end in gaps)
    reason = _reason_of_scores(scores["A"]) or _reason_of_scores(scores["B"])
    if len(outside) > LONGEST_OUTSIDE or (not reason and _has_other_scores(_without_repeats(outside, scores))):
        return Verdict(None, reason="several verdicts")
    if reason := reason or reason_around(matching.view, matching.places):
        return Verdict(None, reason=reason)
    verdict = _verdict_of_scores(scores)
    other = {1.0: "B", 0.0: "A"}.get(verdict.credit or 0.0)
    if any(each.value == other for span in gaps for each in find_comparisons(matching.view, *span)):
        return Verdict(None, reason="several verdicts")
    return verdict


def _without_repeats(outside: str, scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Remove the range, and phrases that repeat the scores of a criterion."""
    low = outside.lower()
    for name in (name for name in CRITERIA if name in low):
        first, second = scores["A"][name], scores["B"][name]
        repeats = rf"\b(?i:{name})\W+{first}\W+{second}\b|\b(?:{first}|{second}) (?:for|in|on) {name}\b"
        outside = re.sub(repeats, "", outside)
    return SCALE.sub("", outside)


def _verdict_of_scores(scores: Mapping[str, Mapping[str, Any]], _: Settings | None = None) -> Verdict:
    """Return the verdict of valid scores of both responses, numbers or their digits."""
    # Fractions, so that rounding decides no tie.
    leads = {name: Fraction(scores["A"][name]) - Fraction(scores["B"][name]) for name in CRITERIA}
    mean = sum(leads.values(), Fraction()) / len(CRITERIA)
    return verdict_of_margin(mean, {name: float(lead) for name, lead in leads.items()})


def _has_other_scores(outside: str) -> bool:
    """Return whether the text around the JSON object states scores or a verdict."""
    has_numbers = NUMBERS.search(outside) or not set(NUMBER_WORDS[2:]).isdisjoint(WORD.findall(outside.lower()))
    return bool((has_numbers and OTHER_SCORES.search(outside)) or OTHER_VERDICT.search(outside))


def write_reply(preference: Preference, settings: Settings) -> Reply:  # noqa: ARG001
    """Return a reply with whole scores whose mean difference is (2 degree - 1) times the range; equal only at 0.5."""
    most = len(CRITERIA) * (HIGH - LOW)
    lead = round((preference.degree - 0.5) * most)
    if lead == 0 and preference.degree != 0.5:
        lead = 1 if preference.degree > 0.5 else -1
    middle = len(CRITERIA) * LOW + most // 2
    return Reply(json.dumps({"A": _scores_of_sum(middle + lead), "B": _scores_of_sum(middle - lead)}))


def _scores_of_sum(total: int) -> dict[str, int]:
    """Return whole scores of the criteria with this sum, as equal as possible."""
    each, rest = divmod(total, len(CRITERIA))
    return {name: each + (place < rest) for place, name in enumerate(CRITERIA)}


def _reason_of_scores(scores: Any) -> str | None:
    """Return why scores are unparsed; None if all criteria have a number in range."""
    if not isinstance(scores, dict) or scores.keys() != set(CRITERIA):
        return "bad JSON"
    if any(isinstance(score, bool) or not isinstance(score, int | Decimal) for score in scores.values()):
        return "bad JSON"
    return None if all(LOW <= score <= HIGH for score in scores.values()) else "out of range"


RUBRIC = Realization(
    name="rubric",
    kind="pairwise",
    template=partial(packaged_template, "rubric"),
    read_reply=read_reply,
    write_reply=write_reply,
    form=ReplyForm(
        fields=lambda _: {side: dict.fromkeys(CRITERIA, GRADES) for side in "AB"},
        read=_verdict_of_scores,
        write=lambda reply, *_: json.loads(reply.text, parse_int=str),
        tokens=400,
    ),
    tokens=1024,
)
