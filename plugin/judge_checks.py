"""What a ranking's reader must know of its judge: that it was hard to read, or is related to those it judges."""

import re
from collections.abc import Mapping, Sequence

from podium.battles import Battles
from podium.checks import CHECKS
from podium.counting.relations import ONE_ORDER_UNREAD
from podium.families import family_of
from podium.plugins import catalogue
from podium.scorers.reply import UNSHOWN
from podium.text import some

JUSTRANK = frozenset({"anchor", "likert", "numeric", "reward", "tokenprobs"})
"""Realizations that JuStRank's data write after the judge."""
REMEDIES = {
    "truncated": "give it room: max_tokens=2000, or more",
    "refusal": "let another judge decide",
    "no log-probabilities": "choose a judge that gives them, or another realization",
    UNSHOWN: "take a judge that sees what the entrants saw",
    "failed": "mend what failed, and run it again",
}
"""What helps, by the reason that a battle is unread for."""
USUAL_REMEDY = "let the judge reason first (realization=cot), or take one that keeps to a form"
OF_A_TABLE = "look at those rows, and at how they were made (`podium convert` writes them with their reasons)"
"""What helps where podium did not ask the judge."""


def judge_warnings(battles: Battles, families: Mapping[str, str]) -> list[str]:
    """Say what must be known of the judges of some battles.

    Args:
        families: entrants and judges to their family, as given; the rest is guessed from names.
    """
    warnings = [_unread_alarm(battles)]
    # A metric of an eval is no judge, whatever its task is called after.
    are_scores = "score_a" in (battles.verdicts.columns if battles.verdicts else battles.table.columns)
    judges = [name for name in battles.judges if parts_of(name)[1] or not (are_scores or " " in name)]
    warnings += [_relation(judge, battles.entrants, families) for judge in judges]
    return [warning for warning in warnings if warning]


def _unread_alarm(battles: Battles) -> str | None:
    """Say how many battles are unread, what the judge wrote instead, and what helps; None up to the threshold.

    A battle of which one order could not be read has lost one reply of its two.
    """
    check, counts = CHECKS["unread"], battles.counts()
    if not counts.battles:
        return None
    halves = battles.unread_reasons().get(ONE_ORDER_UNREAD, 0)
    whole = (counts.unread - halves) * counts.presentations / counts.battles
    share = (max(halves, counts.one_sided) + whole) / counts.presentations
    if share <= check.threshold:
        return None
    written = [f"{reply!r} ({times:,})" for reply, times in battles.unread_texts("reply", 3)]
    reasons = battles.unread_texts("reason", 1)
    known = [remedy for reason, _ in reasons for start, remedy in REMEDIES.items() if reason.startswith(start)]
    return check.say(
        unread=f"{counts.unread:,}",
        battles=f"{counts.battles:,}",
        share=share,
        written=f"; most often the judge wrote {', '.join(written)}" if written else "",
        remedy=(known or [USUAL_REMEDY if any(parts_of(judge)[1] for judge in battles.judges) else OF_A_TABLE])[0],
    )


def _relation(judge: str, entrants: Sequence[str], families: Mapping[str, str]) -> str | None:
    """Say that a judge is one of those it judges, or of the family of some; None where it is neither."""
    model = parts_of(judge)[0]
    if own := same_model(entrants, model):
        return CHECKS["own model"].say(judge=model, entrant=own)
    family = family_of(model, families)
    if family is None:
        return None
    kin = [name for name in entrants if (known := family_of(name, families)) and known.name == family.name]
    if not kin or judge.startswith("jury:"):
        return None
    return CHECKS["own family"].say(judge=model, family=f"{family.name}, {family.how}", entrants=some(kin, most=5))


def same_model(entrants: Sequence[str], model: str) -> str | None:
    """Return the entrant that is a model: same name, but for provider, case and punctuation; None where none is.

    >>> same_model(("GPT-4o", "other"), "openai/gpt-4o")
    'GPT-4o'
    """
    bare_model, *bare_names = (re.sub("[^a-z0-9]", "", name.lower().rpartition("/")[2]) for name in (model, *entrants))
    return entrants[bare_names.index(bare_model)] if bare_model and bare_model in bare_names else None


def parts_of(judge: str | None) -> tuple[str, str | None]:
    """Split a judge's identity into model and realization.

    Args:
        judge: `model|realization|prompt`, or `model realization` where the last word is a known realization.

    >>> parts_of("gpt-x Likert"), parts_of("gpt-x|rubric|1a2b"), parts_of("ann")
    (('gpt-x', 'Likert'), ('gpt-x', 'rubric'), ('ann', None))
    """
    if judge is None:
        return "(no judge)", None
    pieces = judge.split("|")
    if len(pieces) > 2 and not judge.startswith("jury:"):
        return pieces[0], pieces[1]
    model, _, last = judge.rpartition(" ")
    known = JUSTRANK | {name.lower() for name in catalogue.scorers()}
    return (model, last) if model and last.lower() in known else (judge, None)
