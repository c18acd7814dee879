"""Write the answer of an audit: whether to use the ranking, which models lead, what to do first."""

from collections.abc import Sequence

from podium.diagnosis.audit_record import Probe
from podium.rankers.ranking import Standings
from podium.wording import join_names, number_word, word_for

FORBIDDING_CHECKS = frozenset(
    {
        "connected",
        "unit",
        "score scale",
        "same question",
        "order decides",
        "only ties",
        "judges contradict",
        "human",
        "transitivity",
    }
)
"""Names of the checks that make a ranking meaningless if they are flagged."""
DO_NOT_USE = "Do not use this ranking: {finding}{others}."
"""First sentence if a probe of `FORBIDDING_CHECKS` is flagged. `{others}` is empty or names further
probes in brackets.
"""
USE_WITH_CARE = (
    "Use this ranking with care, {flagged} of {number} probes {are} flagged: {finding}{others}."
)
"""First sentence if another probe is flagged."""
NOT_FLAGGED = "No probe is flagged: {ok} of {number} {are} ok{unknown}."
"""First sentence if no probe is flagged. `{unknown}` is empty or `UNKNOWN_PROBES`."""
UNKNOWN_PROBES = ", and {number} {are} not known ({names})"
"""Names the probes that are not known."""
DO_FIRST = "Next step: {remedy}."
"""Last sentence on what to do about the gravest flagged probe."""


def audit_answer(standings: Standings, probes: Sequence[Probe]) -> tuple[str, ...]:
    """Write at most three sentences on a ranking, as a tuple.

    The first sentence says whether to use the ranking, by the gravest flagged probe. The second one
    says which models lead; it is left out if a probe of `FORBIDDING_CHECKS` is flagged. The third
    one says what to do first: what helps with the gravest flagged probe for which something is
    known to help. If a probe of `FORBIDDING_CHECKS` is flagged, both sentences are about the
    gravest of these alone. If no probe is flagged, the third one is the ranking's own next step.
    Descriptions do not count.

    Args:
        standings: the ranking, with its answer.
        probes: its probes, the flagged ones first and then by gravity.
    """
    tested = [probe for probe in probes if not probe.is_descriptive]
    flagged = [probe for probe in tested if probe.check.is_flagged]
    if not flagged:
        sentences = [_sentence_without_flags(tested), *standings.answer[:1]]
        step = standings.next_in_brief
        return (*sentences, step) if step else tuple(sentences)
    forbidding = [probe for probe in flagged if probe.check.name in FORBIDDING_CHECKS]
    if forbidding:
        gravest = forbidding[0]
        finding = gravest.check.finding_text
        verdict = DO_NOT_USE.format(finding=finding, others=_others_text(flagged, gravest))
        return tuple(filter(None, (verdict, _step_sentence([gravest]))))
    gravest = flagged[0]
    verdict = USE_WITH_CARE.format(
        flagged=number_word(len(flagged)),
        number=number_word(len(tested)),
        are=word_for(len(flagged), "is", "are"),
        finding=gravest.check.finding_text,
        others=_others_text(flagged, gravest),
    )
    return tuple(filter(None, (verdict, *standings.answer[:1], _step_sentence(flagged))))


def _others_text(flagged: Sequence[Probe], gravest: Probe) -> str:
    """Name the flagged probes beside the gravest one in brackets; empty if there are none."""
    names = list(dict.fromkeys(probe.check.name for probe in flagged if probe is not gravest))
    return f" (also flagged: {join_names(names)})" if names else ""


def _sentence_without_flags(tested: Sequence[Probe]) -> str:
    """Write how many probes are ok, and name those that are not known.

    Args:
        tested: the probes that are no descriptions; none of these is flagged.
    """
    unknown = [probe.check.name for probe in tested if not probe.check.is_known]
    number_known = len(tested) - len(unknown)
    more = ""
    if unknown:
        number = number_word(len(unknown))
        are = word_for(len(unknown), "is", "are")
        more = UNKNOWN_PROBES.format(number=number, are=are, names=", ".join(unknown))
    return NOT_FLAGGED.format(
        ok=number_word(number_known),
        number=number_word(len(tested)),
        are=word_for(number_known, "is", "are"),
        unknown=more,
    )


def _step_sentence(flagged: Sequence[Probe]) -> str:
    """Write what to do about the first flagged probe that has a remedy.

    The text is empty if none has.
    """
    remedies = [probe.remedy for probe in flagged if probe.remedy]
    return DO_FIRST.format(remedy=remedies[0]) if remedies else ""
