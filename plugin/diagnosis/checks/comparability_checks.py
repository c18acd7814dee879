"""Checks whether rows are about the same.

Were all models asked the same questions, in the same way? Does a name stand for one model?
"""

from collections.abc import Mapping, Sequence
from typing import Any

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check, not_known
from podium.comparability.input_conflicts import distinct_excerpts
from podium.comparability.questions import FINDING
from podium.comparability.run_settings import differences_of_models, undescribed_sources
from podium.data.battles import Battles
from podium.printable import shorten
from podium.question_finding import QuestionFinding
from podium.run_record import RunRecord
from podium.wording import plural, quantity, short_paths, some, word_for

LONGEST_INPUT = 40
"""Largest number of characters of an input or response in the text of a check."""

EXCEPT_NAMED_SETTINGS = ", apart from the settings in their names"
"""Ends the finding about runs of one model that are named by the settings in which they differ."""


def check_questions(battles: Battles) -> tuple[Check, ...]:
    """Check whether rows with one item are about the same input in all runs.

    Returns:
        The check. It is flagged if a model has inputs that no other run has; not known if inputs
        are not recorded, or if they differ between rows that are paired by ids; else ok. Empty if
        nothing was found out about inputs: if no task has runs of several models, and no table has
        a column of inputs that says that questions differ or may differ.
    """
    compared = _compared_tasks(battles)
    models = set(battles.models)
    findings = []
    for finding in battles.questions:
        is_of_table = not finding.task
        has_unshared = not models.isdisjoint(finding.unshared)
        if is_of_table or finding.task in compared or has_unshared:
            findings.append(finding)
    if not findings:
        return ()
    changed = [finding for finding in findings if finding.unshared]
    if changed:
        return (_flagged_questions(changed[0]),)
    unknown = [finding.task for finding in findings if finding.pairing == "unknown"]
    if unknown:
        tasks = [task for task in unknown if task]
        reason = f"the files of {some(tasks, most=3)} do not hold the inputs"
        if not tasks:
            reason = "some tables have a column of inputs, and others have none"
        return (not_known("same question", reason=reason),)
    undecided = [finding for finding in findings if finding.pairing == "undecided"]
    if undecided:
        return (not_known("same question", reason=_reason_of_column(undecided[0])),)
    others = [finding for finding in findings if finding.pairing == "other inputs"]
    if others:
        return (not_known("same question", reason=_reason_of_other_inputs(others[0])),)
    return (make_check("same question", is_flagged=False),)


def are_questions_in_doubt(battles: Battles) -> bool:
    """Return whether items with one id are paired although their inputs differ.

    The result is False if the inputs put the same questions in other words, if the user accepted
    that the questions may differ, or if only tasks differ of which one model has runs.
    """
    if FINDING in battles.reading.get("allow", ()):
        return False
    compared = _compared_tasks(battles)
    for finding in battles.questions:
        has_other_inputs = finding.pairing == "other inputs" and not finding.is_reworded
        is_compared = not finding.task or finding.task in compared
        if has_other_inputs and is_compared:
            return True
    return False


def _reason_of_other_inputs(finding: QuestionFinding) -> str:
    """Return why it is not known whether items with one id are the same question, as a clause."""
    why = some(finding.reason, most=3) or "accepted"
    if not finding.task:
        return f"the inputs differ between models or files ({why})"
    return f"the inputs of {finding.task} differ between runs ({why})"


def _reason_of_column(finding: QuestionFinding) -> str:
    """Return why a column of inputs does not settle whether rows with one id are one question.

    The `reason` of such a finding is a pair: the name of the column, and why the column is in
    doubt. The text is a clause.
    """
    ids = f"{finding.conflicts:,} of {quantity(finding.items, 'id')}"
    column, doubt = finding.reason
    have = word_for(finding.conflicts, "has", "have")
    return f"{ids} {have} different texts in the column {column}: {doubt}"


def _flagged_questions(finding: QuestionFinding) -> Check:
    """Return the flagged check for inputs that no other run has.

    The number of the check is the largest number of inputs of one model that no other run has, or
    the number of ids with several inputs if this is smaller.
    """
    number = min(finding.conflicts, max(finding.unshared.values()))
    fields = {
        "conflicts": number,
        "what": finding.compared,
        "ids": finding.shared_ids or finding.items,
        "task": finding.task,
        "of": f" of {finding.task}" if finding.task else "",
        "example": _example_in_words(finding.example),
    }
    models = tuple(finding.unshared)
    return make_check("same question", is_flagged=True, number=number, fields=fields, models=models)


def _example_in_words(example: Mapping[str, Any]) -> str:
    """Return the id of an item with its two inputs, quoted and shortened so that they differ.

    If both texts are equal, as those of documents that have the same question and other answers,
    the text is shown once.

    Args:
        example: the item (`item`) and its two texts by run (`inputs`).
    """
    texts = [*example["inputs"].values()]
    inputs = [repr(shorten(text, LONGEST_INPUT)) for text in texts]
    item = f"item {example['item']}"
    if len(set(texts)) == 1:
        return f"{item}: {inputs[0]}, which differs in what is not shown"
    if len(set(inputs)) == 1:
        inputs = [*map(repr, distinct_excerpts(texts[0], texts[1]))]
    return f"{item}: {' and '.join(inputs)}"


def check_responses(battles: Battles) -> tuple[Check, ...]:
    """Check whether each model's name stands for one response to an item.

    A few responses that were made again are not flagged.

    Returns:
        The flagged check; empty if no model has other responses to more than the threshold's share
        of its items, or if no table holds responses.
    """
    models = {*battles.models}
    threshold = CHECKS["same responses"].threshold
    findings = []
    for responses in battles.other_responses:
        if responses.model in models and responses.differing > threshold * responses.items:
            findings.append(responses)
    if not findings:
        return ()
    first = max(findings, key=lambda own: own.differing)
    examples = []
    for place, response in first.examples.items():
        examples.append(f"{shorten(response, LONGEST_INPUT)!r} ({place})")
    number_of_others = len(findings) - 1
    fields = {
        "model": first.model,
        "differing": first.differing,
        "items": first.items,
        "example": f"item {shorten(first.item, LONGEST_INPUT)}: {' and '.join(examples)}",
        "more": f"; so have {number_of_others} other {plural('model', number_of_others)}"
        if number_of_others
        else "",
    }
    affected = dict.fromkeys(own.model for own in findings)
    for own in findings:
        affected |= dict.fromkeys(own.opponents)
    facts = {"number": first.differing / first.items, "fields": fields, "models": tuple(affected)}
    return (make_check("same responses", is_flagged=True, **facts),)


def check_settings(battles: Battles) -> tuple[Check, ...]:
    """Check whether all models were run with the same settings.

    Returns:
        The check. It is flagged if a setting differs that changes results; not known if a run has
        no files with its settings; else ok, with the differences that are not flagged. Empty if
        runs of fewer than two models are recorded, by a host's eval or by columns of settings.
    """
    runs = _runs_of_battles(battles)
    if len({run.model for run in runs}) < 2:
        return ()
    differences = differences_of_models(runs)
    flagged = [difference for difference in differences if difference.is_flagged]
    if flagged:
        models = dict[str, None]()
        for difference in flagged:
            for names in difference.models.values():
                models |= dict.fromkeys(names)
        fields = {"differences": some([each.text for each in flagged], "; ", most=3)}
        facts = {"number": len(flagged), "fields": fields, "models": tuple(models)}
        return (make_check("same settings", is_flagged=True, **facts),)
    unknown = short_paths(undescribed_sources(runs))
    if unknown:
        lacks = "have no files" if len(unknown) > 1 else "has no file"
        whose = "their runs" if len(unknown) > 1 else "its run"
        reason = f"{some(unknown, most=2)} {lacks} with the settings of {whose}"
        return (not_known("same settings", reason=reason),)
    is_named = any(run.named_settings for run in runs)
    fields = {"but": EXCEPT_NAMED_SETTINGS if is_named else ""}
    others = [*(difference.text for difference in differences), *_differences_of_limits(runs)]
    if others:
        fields["own"] = some(others, "; ", most=4)
    return (make_check("same settings", is_flagged=False, fields=fields),)


def _differences_of_limits(runs: Sequence[RunRecord]) -> list[str]:
    """Return a text on each task of which models have different limits of samples.

    Returns:
        A text per task, without a full stop, in the order of the runs; empty if no limits differ.
    """
    by_task: dict[str, dict[str, dict[str, None]]] = {}
    for run in runs:
        limits = by_task.setdefault(run.task, {})
        limits.setdefault(run.limit or "none", {})[run.model] = None
    texts = []
    for task, limits in by_task.items():
        models = {name for names in limits.values() for name in names}
        if len(limits) < 2 or len(models) < 2:
            continue  # the same limit for all, or a single model
        values = [f"{limit} ({some([*names], most=3)})" for limit, names in limits.items()]
        texts.append(f"limit of samples of {task}: {some(values, most=4)}")
    return texts


def _compared_tasks(battles: Battles) -> set[str]:
    """Return the names of the tasks of which several models have runs.

    The name is empty for runs that are read from columns of a table.
    """
    models: dict[str, set[str]] = {}
    for run in _runs_of_battles(battles):
        models.setdefault(run.task, set()).add(run.model)
    return {task for task, names in models.items() if len(names) > 1}


def _runs_of_battles(battles: Battles) -> list[RunRecord]:
    """Return the runs whose model and task are among the battles.

    If the battles are those of a tournament, its name is the task of its verdicts. Runs that are
    read from columns of a table have no task.
    """
    models = set(battles.models)
    tasks = set(battles.values_of("task")) if "task" in battles.columns else None
    runs = []
    for run in battles.runs:
        task = run.verdict_task or run.task
        is_of_task = tasks is None or not task or task in tasks
        if run.model in models and is_of_task:
            runs.append(run)
    return runs
