"""Checks of the runs of hosts' evals: were all models asked the same, in the same way?"""

from podium.checks import Check, make_check, not_known
from podium.comparability.questions import QuestionFinding
from podium.comparability.run_settings import differences_of_models, undescribed_sources
from podium.data.battles import Battles
from podium.printable import shorten
from podium.run_record import RunRecord
from podium.wording import some

LONGEST_INPUT = 40
"""Largest number of characters of an input in the text of a check."""


def check_questions(battles: Battles) -> tuple[Check, ...]:
    """Check whether rows with one item are about the same input in all runs.

    Returns:
        The check; empty if the battles are of no host's eval, or of the runs of one model.
    """
    compared = _compared_tasks(battles)
    models = set(battles.models)
    findings = []
    for own in battles.questions:
        if own.task in compared or own.unshared.keys() & models:
            findings.append(own)
    if not findings:
        return ()
    changed = [own for own in findings if own.unshared]
    if changed:
        return (_flagged_questions(changed[0]),)
    unknown = [own.task for own in findings if own.pairing == "unknown"]
    if unknown:
        reason = f"the files of {some(unknown, most=3)} do not hold the inputs"
        return (not_known("same question", reason),)
    others = [own for own in findings if own.pairing == "other inputs"]
    if others:
        return (not_known("same question", _reason_of_other_inputs(others[0])),)
    return (make_check("same question", False),)


def _reason_of_other_inputs(finding: QuestionFinding) -> str:
    """Return why it is not known whether items with one id and different inputs are the same."""
    why = some(finding.reason, most=3) or "accepted"
    return f"the inputs of {finding.task} differ between runs ({why})"


def _flagged_questions(finding: QuestionFinding) -> Check:
    """Return the flagged check for ids that stand for different inputs."""
    inputs = [repr(shorten(text, LONGEST_INPUT)) for text in finding.example["inputs"].values()]
    fields = {
        "conflicts": finding.conflicts,
        "ids": finding.shared_ids or finding.items,
        "task": finding.task,
        "example": f"item {finding.example['item']}: {' and '.join(inputs)}",
    }
    models = tuple(finding.unshared)
    number = finding.conflicts
    return make_check("same question", True, number=number, fields=fields, models=models)


def check_settings(battles: Battles) -> tuple[Check, ...]:
    """Check whether all models were run with the same settings.

    Returns:
        The check; empty if the battles are of no host's eval, or of the runs of one model.
    """
    runs = _runs_of_battles(battles)
    if len({run.model for run in runs}) < 2:
        return ()
    flagged = [own for own in differences_of_models(runs) if own.is_flagged]
    if flagged:
        models = dict[str, None]()
        for difference in flagged:
            for names in difference.models.values():
                models |= dict.fromkeys(names)
        fields = {"differences": some([own.text for own in flagged], "; ", most=3)}
        facts = {"number": len(flagged), "fields": fields, "models": tuple(models)}
        return (make_check("same settings", True, **facts),)
    unknown = undescribed_sources(runs)
    if unknown:
        lacks = "have no files" if len(unknown) > 1 else "has no file"
        whose = "their runs" if len(unknown) > 1 else "its run"
        reason = f"{some(unknown, most=2)} {lacks} with the settings of {whose}"
        return (not_known("same settings", reason),)
    return (make_check("same settings", False),)


def _compared_tasks(battles: Battles) -> set[str]:
    """Return the tasks of which several models have runs."""
    models: dict[str, set[str]] = {}
    for run in _runs_of_battles(battles):
        models.setdefault(run.task, set()).add(run.model)
    return {task for task, names in models.items() if len(names) > 1}


def _runs_of_battles(battles: Battles) -> list[RunRecord]:
    """Return the runs whose model and task are among the battles.

    If the battles are those of a tournament, its name is the task of its verdicts.
    """
    models = set(battles.models)
    tasks = set(battles.values_of("task")) if "task" in battles.columns else None
    runs = []
    for run in battles.runs:
        task = run.verdict_task or run.task
        if run.model in models and (tasks is None or task in tasks):
            runs.append(run)
    return runs
