"""rubric: both responses scored on six criteria (Soft-Elo, appendix A); the margin is the mean difference."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from podium.scorers.agent_criteria import name_criteria, read_for_agents, swap_keys, swap_names
from podium.scorers.comparisons import find_comparisons
from podium.scorers.json_objects import Objects, own_objects
from podium.scorers.levels import NUMBER_WORDS
from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import Reply, Verdict, no_verdict, verdict_of_margin
from podium.scorers.reply_reader import reason_after, reason_around
from podium.scorers.reply_structure import own_words
from podium.scorers.schemas import ReplyForm
from podium.scorers.verdict_statements import is_introductory, names_verdict

CRITERIA = ("adherence", "helpfulness", "factuality", "completeness", "clarity", "fluency")
LOW, HIGH = 1, 10
GRADES = tuple(map(str, range(LOW, HIGH + 1)))
SIDE = re.compile(r"(?:(?:response|answer|assistant|model|option)[ _-]*)?([AB])", re.IGNORECASE)
NAMES = re.compile(rf"{SIDE.pattern}|{'|'.join(CRITERIA)}", re.IGNORECASE)
"""Keys of an object with scores."""
REMARK = re.compile(
    r"total|sum|mean|average|overall|(?:overall )?(?:comments?|notes?|reason\w*|explanation|rationale)"
    r"|winner|verdict|better(?: response)?"
)
"""Further keys of such an object."""
POINTS = re.compile(r"(\d{1,3}(?:\.\d+)?)(?: ?/ ?10)?")
LABEL = re.compile(rf"(?:\A|\n)\W*(?:scores? (?:of|for) )?{SIDE.pattern}\W*\Z", re.IGNORECASE)
"""A line before an object with the scores of one response."""
ROW = re.compile(
    rf"\b({'|'.join(CRITERIA)})\b[ \t*_`\"':|=(–—-]+(?:A\W{{1,3}})?(\d+(?:\.\d+)?)(?:[ \t]*/[ \t]*10)?"
    r"(?:(?:[ \t]*\|[ \t*]*|[,; |]+B\W{1,3})(\d+(?:\.\d+)?))?(?![\d.])",
    re.IGNORECASE,
)
"""A line of a list or table: a criterion and one or two scores."""
NUMBER = rf"(?:(?:10|\d)(?:\.\d+)?|{'|'.join(NUMBER_WORDS[1:])})\b"
SCORE = rf"{NUMBER}(?![ \t]+(?!and\b|on\b|for\b|points?\b|to\b|out\b)[a-z])"
"""A number that does not count anything else than points."""
NAMED = rf"(?:{'|'.join(CRITERIA)}|overall|total|average|mean|scores?|rating)"
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
VERDICT = re.compile(
    r"\b(?:verdict|winner|better response|answer)\b[^\w\n,]+(?:is[^\w\n]+)?(?:response[^\w\n]+)?([AB])\b(?!['’])"
    r"|\[\[[^\[\]\n]{1,40}\]\]",
    re.IGNORECASE,
)
DEMAND = re.compile(r"[^.;\n]*\b(?:asks?|tries|demands?|requests?|tells?|claims?)\b[^.;\n]*(?![:\n])", re.IGNORECASE)
"""Sentences on what a response asks for."""
LONGEST_LABEL, LONGEST_OUTSIDE = 40, 20_000
"""Characters around the JSON object; longer texts are no explanation."""
NUMBERS = re.compile(r"[0-9]")
WORD = re.compile(r"\w+")
SCALE = re.compile(rf"\b{LOW}[ \t]*(?:to|-|–)[ \t]*{HIGH}\b")
"""The range, which is not a score."""

Table = dict[tuple[str, str], Any]


def read_reply(reply: Reply, settings: Settings) -> Verdict:  # noqa: ARG001
    """Read the scores of both responses; the margin is the mean difference, the credit its sign."""
    scored = own_objects(reply, NAMES) if "{" in reply.text else _scores_of_lines(reply)
    if isinstance(scored, str):
        return Verdict(None, reason=scored)
    table: Table = {}
    remarks: list[str] = []
    for number, (value, (start, stop)) in enumerate(zip(scored.objects, scored.places, strict=True)):
        label = LABEL.search(scored.view, max(0, start - LONGEST_LABEL), start)
        if label:
            scored.places[number] = (label.start(1), stop)
        scores = _table(value, label[1].upper() if label else "", remarks)
        if scores is None or any(table.get(key, score) != score for key, score in scores.items()):
            return Verdict(None, reason="several verdicts" if scores else "bad JSON")
        table |= scores
    if len(table) < 2 * len(CRITERIA) or None in table.values():
        return Verdict(None, reason="bad JSON")
    if not all(LOW <= score <= HIGH for score in table.values()):
        return Verdict(None, reason="out of range")
    verdict = _verdict_of_scores({side: {name: table[side, name] for name in CRITERIA} for side in "AB"})
    reason = _reason_outside(reply.text, scored, table, verdict, "\n".join(remarks))
    return Verdict(None, reason=reason) if reason else verdict


def _table(value: Mapping[str, Any], label: str, remarks: list[str]) -> Table | None:
    """Return the scores of an object, by response or by criterion, in a field or without names of responses; None if
    it has other fields than that and remarks, which are appended."""
    fields = {name.strip().lower().replace("_", " "): field for name, field in value.items()}
    inner = [name for name, field in fields.items() if isinstance(field, dict) and not NAMES.fullmatch(name)]
    if len(inner) == 1 and all(map(is_introductory, inner[0].split())):
        fields |= {name.strip().lower(): field for name, field in fields.pop(inner[0]).items()}
    if label and not any(isinstance(field, dict) for field in fields.values()):
        fields = {label: fields}
    table: Table = {}
    for outer, group in fields.items():
        for inner_name, score in group.items() if isinstance(group, dict) else [(outer, group)]:
            names = sorted((outer, inner_name.strip().lower()), key=CRITERIA.__contains__)
            side = SIDE.fullmatch(names[0])
            if side and names[1] in CRITERIA and (side[1].upper(), names[1]) not in table:
                table[side[1].upper(), names[1]] = _score_of(score)
            elif any(map(REMARK.fullmatch, names)) or names_verdict([names[1]]):
                remarks.append(f"{names[1]}: {score}" if isinstance(score, str) else "")
            else:
                return None
    return table


def _score_of(score: Any) -> Decimal | None:
    """Return a score that is a number, its digits with or without `/10`, or an object that has it."""
    if isinstance(score, dict):
        score = score.get("score")
    if isinstance(score, str) and (digits := POINTS.fullmatch(score.strip())):
        return Decimal(digits[1])
    return Decimal(score) if isinstance(score, int | Decimal) and not isinstance(score, bool) else None


def _scores_of_lines(reply: Reply) -> Objects | str:
    """Return the scores of a list or table of criteria as objects."""
    view = own_words(reply.text) if not reply.reason_of_silence else None
    if view is None or len(ROW.findall(view)) < len(CRITERIA):
        return reply.reason_of_silence or no_verdict(reply.text)
    objects, places, side = [], [], ""
    for line in re.finditer(r"[^\n]+", view):
        rows = [row for row in ROW.finditer(line[0]) if not row[3] or not side]
        label = re.match(rf"[^\w\n]*{SIDE.pattern}\b(?!\W*{SIDE.pattern}\b)", line[0], re.IGNORECASE)
        side = label[1].upper() if label else side
        for row in rows:
            pair = {"A": row[2], "B": row[3]} if row[3] else {side: row[2]}
            objects.append({row[1]: pair})
        if rows or label:
            places.append(line.span())
    return Objects(objects, [(places[0][0], places[-1][1])] * len(objects), view)


def _reason_outside(text: str, scored: Objects, table: Table, verdict: Verdict, remarks: str) -> str | None:
    """Return why the text around the scores makes them somebody else's or contradicts them."""
    spans = sorted(set(scored.places))
    ends = [0, *(place for span in spans for place in span), len(text)]
    gaps = list(zip(ends[::2], ends[1::2], strict=True))
    outside = "\n".join([*(text[start:end] for start, end in gaps), remarks])
    better = {1.0: "A", 0.0: "B"}.get(verdict.credit or 0.0)
    if len(outside) > LONGEST_OUTSIDE or _has_other_scores(_without_repeats(outside, table), better):
        return "several verdicts"
    if reason := reason_around(scored.view, spans) or reason_after(remarks):
        return reason
    compared = (each.value for span in gaps for each in find_comparisons(scored.view, *span))
    return "several verdicts" if better and {"A": "B", "B": "A"}[better] in compared else None


def _without_repeats(outside: str, table: Table) -> str:
    """Remove the range, phrases that repeat the scores of a criterion, their sums and means, and demands."""
    low = outside.lower()
    for name in (name for name in CRITERIA if name in low):
        first, second = table["A", name], table["B", name]
        repeats = rf"\b(?i:{name})\W+{first}\W+{second}\b|\b(?:{first}|{second}) (?:for|in|on) {name}\b"
        outside = re.sub(repeats, "", outside)
    for side in "AB":
        total = sum((table[side, name] for name in CRITERIA), Decimal())
        for number in (total, f"{total / len(CRITERIA):.2f}", f"{total / len(CRITERIA):.1f}"):
            outside = re.sub(rf"(?<![\d.]){re.escape(str(number))}(?!\d)", "", outside)
    return DEMAND.sub("", SCALE.sub("", outside))


def _verdict_of_scores(scores: Mapping[str, Mapping[str, Any]], _: Settings | None = None) -> Verdict:
    """Return the verdict of valid scores of both responses, numbers or their digits."""
    # Fractions, so that rounding decides no tie.
    leads = {name: Fraction(scores["A"][name]) - Fraction(scores["B"][name]) for name in CRITERIA}
    mean = sum(leads.values(), Fraction()) / len(CRITERIA)
    return verdict_of_margin(mean, {name: float(lead) for name, lead in leads.items()})


def _has_other_scores(outside: str, better: str | None) -> bool:
    """Return whether the text around the JSON object states other scores or another verdict."""
    if any(stated[1] is None or stated[1].upper() != better for stated in VERDICT.finditer(outside)):
        return True
    has_numbers = NUMBERS.search(outside) or not set(NUMBER_WORDS[2:]).isdisjoint(WORD.findall(outside.lower()))
    return bool(has_numbers and OTHER_SCORES.search(outside))


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


RUBRIC = Realization(
    name="rubric",
    kind="pairwise",
    template=partial(packaged_template, "rubric"),
    read_reply=read_for_agents(read_reply),
    write_reply=lambda wanted, settings: Reply(swap_names(write_reply(wanted, settings).text, settings)),
    form=ReplyForm(
        fields=lambda settings: swap_keys({side: dict.fromkeys(CRITERIA, GRADES) for side in "AB"}, settings),
        read=lambda scores, settings: name_criteria(_verdict_of_scores(swap_keys(scores, settings)), settings),
        write=lambda reply, *_: json.loads(reply.text, parse_int=str),
        tokens=400,
    ),
    tokens=1024,
)
