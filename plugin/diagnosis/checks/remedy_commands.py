"""The command that helps with a check: what to type if it is flagged, or cannot be made."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from podium.check_results import Check
from podium.data.times import PERIODS

NEW_TOURNAMENT = "inspect eval podium/round_robin -T responses=RESPONSES --model-role judge=MODEL"
"""Plays a tournament; words in capitals stand for what only the user knows."""


@dataclass(frozen=True, slots=True)
class TypedArguments:
    """What was typed to read and rank the battles, so that other commands get the same.

    Attributes:
        reading: the sources with the options of reading, quoted for a shell.
        ranking: the other options of `podium rank`, quoted; empty if there are none.
        are_votes: whether humans voted, so that no tournament can ask them again.
        are_scores: whether scores are ranked, for which there is no plan of judge calls.
        has_items: whether the battles name their items, by which labels of humans are matched.
        can_plan: whether `podium plan` takes the battles as a pilot.
        can_calibrate: whether `podium calibrate` may take the battles: of one judge, of three
            models or more, and of as many items as a plan needs.
        spread: of scores from 0 to 1, the option of `podium plan` with how much the scores of two
            models differ; empty if it is not known, or if items have groups, which a plan without
            a pilot does not know.
        are_pooled: whether the verdicts of several judges are ranked together.
        undivided: what was typed to read the battles of all judges, if only those of one judge are
            read; empty if `reading` reads all.
    """

    reading: str
    ranking: str = ""
    are_votes: bool = False
    are_scores: bool = False
    has_items: bool = True
    can_plan: bool = True
    can_calibrate: bool = True
    spread: str = ""
    are_pooled: bool = False
    undivided: str = ""

    @property
    def families(self) -> str:
        """The option `--families` of `podium diagnose`, with a space before it.

        Its value is the table of models that was given with `--models`; the text is empty if none
        was.
        """
        words = shlex.split(self.ranking)
        if "--models" not in words[:-1]:
            return ""
        path = words[words.index("--models") + 1]
        return " " + shlex.join(("--families", path))

    @property
    def rank_arguments(self) -> str:
        """Everything that was typed to read and to rank the battles, as `podium rank` takes it."""
        return f"{self.reading} {self.ranking}".rstrip()

    def of_slice(self, column: str | None, value: str | None) -> "TypedArguments":
        """Return the arguments that read one slice only.

        They are unchanged if there are no slices, or if no options of reading keep this slice: one
        of periods, or one of several columns whose values have commas.

        Args:
            column: the column that divides the battles, or several separated by commas.
            value: the value of the slice, as people read it; those of several columns with commas
                between.
        """
        if column is None or value is None:
            return self
        names = [name.strip() for name in column.split(",")]
        values = value.split(", ") if len(names) > 1 else [value]
        if len(names) != len(values) or any(map(PERIODS.fullmatch, names)):
            return self
        options: list[str] = []
        for name, text_of_value in zip(names, values, strict=True):
            if name == "metric":
                options += ("--metric", text_of_value)
            else:
                options += ("--where", f"{name}={text_of_value}")
        return replace(
            self,
            reading=f"{self.reading} {shlex.join(options)}",
            ranking=_drop_replaced(self.ranking, "--by"),
            undivided=self.reading if "judge" in names else "",
        )


RANKING_COMMANDS = {
    "unit": "podium rank {all} --columns {option}",
    "groups": "podium rank {all} {option}",
    "categories": "podium rank {all} {option}",
    "order in slices": "podium rank {all} {option}",
    "length": "podium rank {all} --set length_control=true",
    "lost replies": "podium rank {all} --complete",
    "lost scores": "podium rank {all} --complete",
    "same items": "podium rank {all} --ranker win-rate",
    "time": "podium rank {all} {option}",
    "ladder scale": "podium rank {reading}",
    "ladder rating": "podium rank {reading}",
}
"""By name of a flagged check, the template of a command that ranks without the fault.

`{reading}` is what was typed to read the battles, `{all}` also what was typed to rank them,
`{verdicts}` the reading with `--pool` if judges were pooled; other names are fields of the check.
"""
DIAGNOSE = {
    "order decides": "position",
    "only ties": "consistency",
    "position": "position",
    "own model": "self_preference",
    "own family": "self_preference",
    "human": "human",
    "misjudged models": "human",
    "self-preference": "self_preference",
    "transitivity": "transitivity",
    "cycle": "cycles",
    "fit": "fit",
    "judges": "side_by_side",
    "judges contradict": "side_by_side",
    "one truth": "side_by_side",
    "shared errors": "side_by_side",
}
"""By name of a flagged check, the section of a judge card that has its figures."""
OTHER_COMMANDS = {
    "items": "podium plan {verdicts}",
    "first place": "podium plan {verdicts}",
    "places": "podium plan {verdicts} --items {needed}",
    "ties": "podium compare {a} {b} {verdicts}",
    "decisive rater": "podium convert {reading} --where {unit}={name} -o rater.csv",
    "played pairs": NEW_TOURNAMENT,
    "one order": f"{NEW_TOURNAMENT} -T orders=both",
    **dict.fromkeys(("unparsed", "lost outcomes"), "podium convert {reading} -o verdicts.csv"),
    **dict.fromkeys(
        ("same question", "same settings"), "podium report {reading} --disclose -o report.html"
    ),
}
"""By name of a flagged check, the template of a command that neither ranks nor diagnoses."""
WHAT_IS_MISSING = {
    "repeated": f"{NEW_TOURNAMENT} -T repeats=2",
    "position": f"{NEW_TOURNAMENT} -T orders=both",
    "one order": f"{NEW_TOURNAMENT} -T orders=both",
    "human": "podium label {reading} --responses RESPONSES -o sheet.csv",
    "human scale": "podium label {reading} --responses RESPONSES -o sheet.csv",
    "own family": "podium audit {all} --models TABLE",
    "self-preference": "podium audit {all} --models TABLE",
    "voters": "podium audit {all} --columns voter={column}",
}
"""By name of a check that is not known, the template of the command that makes it known."""
PLAN_OF_SCORES = "podium plan --difference 2points {spread}"
"""Takes the place of a plan with a pilot for scores: says how many items detect 2 points."""
REPLACED_OPTIONS = ("--cluster", "--by", "--ranker", "--models")
"""Options with one value, which a command does not repeat if its template sets them."""
CALIBRATE = "podium calibrate {reading} -o calibration.json"
"""Makes the check of the human scale known if there are human labels."""


def remedy_command(
    check: Check, arguments: TypedArguments, more: Mapping[str, str] | None = None
) -> str:
    """Return the command that helps with a check.

    The command can be copied into a shell. It is empty if the check needs none, if none is known,
    if a field of its template is lacking, or if it would fail or change nothing (`_is_useless`).

    Args:
        check: the check.
        arguments: what was typed to read and rank the battles.
        more: further values of the template, such as the number of items that are needed.
    """
    template = _command_template(check)
    if template.startswith("podium plan") and arguments.are_scores and check.is_flagged:
        template = PLAN_OF_SCORES if arguments.spread else ""
    fields = {name: shlex.quote(str(value)) for name, value in check.fields.items()}
    # An option is typed as it stands: it is quoted already.
    option = str(check.fields.get("option", ""))
    lacks_option = "{option}" in template and not option
    # What a template of `podium rank` adds after the typed arguments.
    own_options = template.partition("{all}")[2].replace("{option}", option)
    if lacks_option or _is_useless(template, own_options, check, arguments):
        return ""
    values = {
        **fields,
        **(more or {}),
        "option": option,
        "reading": arguments.reading,
        "undivided": arguments.undivided or arguments.reading,
        "families": arguments.families,
        "spread": arguments.spread,
        "all": _drop_replaced(arguments.rank_arguments, own_options),
        "verdicts": arguments.reading + (" --pool" if arguments.are_pooled else ""),
    }
    try:
        return template.format(**values)
    except KeyError:
        return ""


def _is_useless(template: str, own_options: str, check: Check, arguments: TypedArguments) -> bool:
    """Return whether a command would fail or change nothing, so that it is not shown.

    A command would fail if it plans from battles that are no pilot, draws battles without items for
    labels, calibrates battles that do not allow it, or takes a name of a model for an option. It
    would change nothing if it ranks the battles as they are ranked already. It is useless if it
    asks human voters again.

    Args:
        template: the template of the command.
        own_options: the options that the command adds to those that were typed.
        check: the check.
        arguments: what was typed to read and rank the battles.
    """
    typed = shlex.split(arguments.rank_arguments)
    is_ranked_so = bool(own_options) and set(shlex.split(own_options)) <= set(typed)
    asks_voters = arguments.are_votes and template.startswith(NEW_TOURNAMENT)
    needs_pilot = template.startswith("podium plan") and template != PLAN_OF_SCORES
    lacks_pilot = needs_pilot and (arguments.are_scores or not arguments.can_plan)
    lacks_items = template.startswith("podium label") and not arguments.has_items
    is_uncalibrated = template == CALIBRATE and not arguments.can_calibrate
    # `podium compare` takes names of models as arguments, of which none may look like an option.
    names = (str(check.fields.get("a", "")), str(check.fields.get("b", "")))
    is_comparison = template.startswith("podium compare")
    has_option_as_name = is_comparison and any(name.startswith("-") for name in names)
    would_fail = lacks_pilot or lacks_items or is_uncalibrated or has_option_as_name
    return is_ranked_so or asks_voters or would_fail


def _drop_replaced(arguments: str, own_options: str) -> str:
    """Return what was typed without the options that a command sets itself.

    Only options in `REPLACED_OPTIONS` that are also in `own_options` are dropped, each with its
    value. The result is quoted for a shell.

    Args:
        arguments: what was typed, quoted for a shell.
        own_options: the options that the command adds, quoted for a shell.
    """
    replaced = {word for word in shlex.split(own_options) if word in REPLACED_OPTIONS}
    kept_words = []
    is_value = False
    for word in shlex.split(arguments):
        if not is_value and word not in replaced:
            kept_words.append(word)
        is_value = word in replaced
    return shlex.join(kept_words)


def _command_template(check: Check) -> str:
    """Return the template of the command for a check; empty if there is none.

    A check that is ok has no command, except the descriptions `places` and `judges`. A check that
    does not apply to the data has none.
    """
    name = check.name
    if not check.fields.get("applies", True):
        return ""
    if not check.is_known:
        if name == "human scale" and check.fields.get("is_labelled"):
            return CALIBRATE
        if name == "self-preference" and not check.fields.get("needs_families"):
            return ""
        if name == "position" and check.answer:
            # Both orders are there already, and something else is lacking.
            return ""
        return WHAT_IS_MISSING.get(name, "")
    is_described = name in ("places", "judges")
    if not check.is_flagged and not is_described:
        return ""
    if name in DIAGNOSE:
        section = DIAGNOSE[name]
        reading = "{undivided}" if section == "side_by_side" else "{reading}"
        families = "{families}" if section == "self_preference" else ""
        return f"podium diagnose {reading} --section {section}{families}"
    return RANKING_COMMANDS.get(name) or OTHER_COMMANDS.get(name, "")
