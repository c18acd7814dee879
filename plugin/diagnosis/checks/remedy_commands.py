"""The command that helps with a check: what to type if it is flagged, or cannot be made."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from podium.checks import Check

NEW_TOURNAMENT = "inspect eval podium/round_robin -T responses=RESPONSES --model-role judge=MODEL"
"""Plays a tournament; words in capitals stand for what only the user knows."""


@dataclass(frozen=True, slots=True)
class TypedArguments:
    """What was typed to read and rank the battles, so that other commands get the same.

    Attributes:
        reading: the sources with the options of reading, quoted for a shell.
        ranking: the other options of `podium rank`, quoted; empty if there are none.
        are_votes: whether humans voted, so that no tournament can ask them again.
    """

    reading: str
    ranking: str = ""
    are_votes: bool = False

    @property
    def all(self) -> str:
        """All that `podium rank` takes."""
        return f"{self.reading} {self.ranking}".rstrip()


READ_AND_RANK = {
    "unit": "podium rank {all} --columns {option}",
    "groups": "podium rank {all} {option}",
    "categories": "podium rank {all} {option}",
    "order in slices": "podium rank {all} {option}",
    "length": "podium rank {all} --set length_control=true",
    "lost replies": "podium rank {all} --complete",
    "lost scores": "podium rank {all} --complete",
    "same items": "podium rank {all} --ranker win-rate",
    "time": "podium rank {all} {option}",
}
"""By check, the ranking that does without the fault."""
DIAGNOSE = {
    "order decides": "position",
    "only ties": "consistency",
    "position": "position",
    "lost outcomes": "consistency",
    "self-preference": "self_preference",
    "transitivity": "transitivity",
    "cycle": "cycles",
    "fit": "fit",
    "elo": "fit",
    "judges": "side_by_side",
    "judges contradict": "side_by_side",
    "one truth": "side_by_side",
    "shared errors": "side_by_side",
}
"""By check, the section of a judge card that has its figures."""
OTHERS = {
    "items": "podium plan {reading}",
    "first place": "podium plan {reading}",
    "places": "podium plan {reading} --items {needed}",
    "ties": "podium compare {a} {b} {reading}",
    "decisive rater": "podium convert {reading} --where {unit}={name} -o rater.csv",
    "misjudged models": "podium label {reading} --responses RESPONSES -o sheet.csv",
}
"""By check, the command of another kind."""
WHAT_IS_MISSING = {
    "repeated": f"{NEW_TOURNAMENT} -T repeats=2",
    "position": f"{NEW_TOURNAMENT} -T orders=both",
    "one order": f"{NEW_TOURNAMENT} -T orders=both",
    "human": "podium label {reading} --responses RESPONSES -o sheet.csv",
    "human scale": "podium label {reading} --responses RESPONSES -o sheet.csv",
    "own family": "podium audit {all} --models TABLE",
    "self-preference": "podium audit {all} --models TABLE",
    "fit": "podium plan {reading}",
    "elo": "podium diagnose {reading} --section fit",
}
"""By check, the command that makes it known."""
CALIBRATE = "podium calibrate {reading} -o calibration.json"
"""Makes the check of the human scale known if there are human labels."""


def remedy_command(
    check: Check, arguments: TypedArguments, more: Mapping[str, str] | None = None
) -> str:
    """Return the command that helps; empty if the check needs none, or if none is known.

    Args:
        check: the check.
        arguments: what was typed to read and rank the battles.
        more: further values of the template, such as the number of items that are needed.
    """
    template = _command_template(check)
    fields = {name: shlex.quote(str(value)) for name, value in check.fields.items()}
    # An option is typed as it stands: it is quoted already.
    option = str(check.fields.get("option", ""))
    values = {
        **fields,
        **(more or {}),
        "option": option,
        "reading": arguments.reading,
        "all": arguments.all,
    }
    if not template or ("{option}" in template and not option):
        return ""
    if arguments.are_votes and template.startswith(NEW_TOURNAMENT):
        return ""
    try:
        return template.format(**values)
    except KeyError:
        return ""


def _command_template(check: Check) -> str:
    """Return the template of the command for a check; empty if there is none."""
    name = check.name
    if not check.is_known:
        if name == "human scale" and check.fields.get("is_labelled"):
            return CALIBRATE
        if name == "self-preference" and not check.fields.get("needs_families"):
            return ""
        return WHAT_IS_MISSING.get(name, "")
    is_described = name in ("places", "judges")
    if not check.is_flagged and not is_described:
        return ""
    if name == "one order":
        return WHAT_IS_MISSING[name]
    if name in DIAGNOSE:
        return f"podium diagnose {{reading}} --section {DIAGNOSE[name]}"
    return READ_AND_RANK.get(name) or OTHERS.get(name, "")
