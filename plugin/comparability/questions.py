"""Check that rows with one id are about the same question, and pair questions by their inputs.

An id of an item may stand for different questions in different runs: some hosts number samples
after shuffling them. The inputs then say which items are the same.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

from podium.comparability.asked_items import (
    AskedRun,
    InputParts,
    inputs_may_equal,
    is_known_input,
)
from podium.comparability.input_conflicts import Conflict, problem_of
from podium.comparability.item_names import names_by_input
from podium.comparability.rewording import are_reworded
from podium.comparability.run_settings import differing_settings
from podium.errors import OtherQuestionError
from podium.findings import accepted_sentence, remedy_with_option
from podium.notices.notice import Notice
from podium.question_finding import QuestionFinding
from podium.run_record import RunRecord, SettingKind

INPUT_KINDS: frozenset[SettingKind] = frozenset({"task argument", "prompt", "task version"})
"""Kinds of settings that may change the inputs while the ids remain those of the same questions."""
FINDING = "questions"
"""Name of the finding that `--allow` accepts."""
REMEDY = (
    "responses can be compared only where models were asked the same: give the samples ids of "
    "their own (Inspect numbers samples without ids, after shuffling them), or compare runs of the "
    "same samples"
)


@dataclass(frozen=True, slots=True)
class PairedQuestions:
    """The result of pairing the items of a task.

    Attributes:
        finding: how the items were paired.
        names: for each run, the new id of each item by the id in the file. It has only the ids that
            change.
        accepted: a sentence if the user accepted that inputs differ; else empty.
    """

    finding: QuestionFinding
    names: tuple[Mapping[str, str], ...]
    accepted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairedTasks:
    """The result of pairing the items of several tasks.

    Attributes:
        findings: how the items of each task were paired.
        names: for each run, the new id of each item by the id in the file. It has only the ids that
            change.
        accepted: a sentence for each task whose different inputs the user accepted.
    """

    findings: tuple[QuestionFinding, ...]
    names: tuple[Mapping[str, str], ...]
    accepted: tuple[str, ...] = ()


def pair_tasks(asked_runs: Sequence[AskedRun], allowed: Collection[str] = ()) -> PairedTasks:
    """Pair the items of the runs of several tasks, each task for itself; see `pair_questions`.

    Items of a task are paired by their ids if the inputs of each id are equal, else by their
    inputs.

    Args:
        asked_runs: the runs of all tasks.
        allowed: names of the findings that the user accepts.

    Raises:
        OtherQuestionError: runs of a task share no input, no recorded setting explains it, and the
            finding `questions` is not in `allowed`.
    """
    positions: dict[str, list[int]] = defaultdict(list)
    for position in sorted(
        range(len(asked_runs)), key=lambda k: time_and_source(asked_runs[k].run)
    ):
        positions[asked_runs[position].run.task].append(position)
    names: list[Mapping[str, str]] = [{} for _ in asked_runs]
    findings = []
    accepted: list[str] = []
    for task, positions_of_task in positions.items():
        paired = pair_questions(
            task, [asked_runs[position] for position in positions_of_task], allowed
        )
        for position, names_of_run in zip(positions_of_task, paired.names, strict=True):
            names[position] = names_of_run
        findings.append(paired.finding)
        accepted += paired.accepted
    return PairedTasks(findings=tuple(findings), names=tuple(names), accepted=tuple(accepted))


def time_and_source(run: RunRecord) -> tuple[str, str]:
    """Return the key by which runs are sorted: their time, then their source."""
    return run.time, run.source


def pair_questions(
    task: str,
    runs: Sequence[AskedRun],
    allowed: Collection[str] = (),
    *,
    option: str = "",
    remedy: str = REMEDY,
) -> PairedQuestions:
    """Pair the items of the runs of a task.

    Items are paired by their ids if the inputs of each id are equal. If not, or if an input has ids
    that only one run knows, they are paired by their inputs. If two runs share no input, but a
    recorded argument or prompt that may change inputs differs, their items are paired by the ids.

    Args:
        task: name of the task.
        runs: the runs, in an order that does not depend on the names of models. Where items are
            paired by inputs, they have the ids of the earliest run.
        allowed: names of the findings that the user accepts.
        option: the option that accepts the finding `questions`, as it is typed. If it is empty,
            `--allow questions`.
        remedy: what else to do if runs share no input.

    Raises:
        OtherQuestionError: runs share no input and no recorded setting explains it, and the finding
            `questions` is not in `allowed`.
    """
    conflicts = _conflicting_ids(runs)
    if not conflicts and not _have_other_ids(runs):
        return PairedQuestions(_finding_without_conflict(task, runs), tuple({} for _ in runs))
    groups = _groups_that_share_inputs(runs)
    reference = groups[0]
    names = names_by_input(runs, reference, taken={})
    reasons: dict[str, None] = {}
    accepted: dict[str, None] = {}
    for number, group in enumerate(groups[1:], start=1):
        names |= _names_by_id(runs, reference, group, names)
        for earlier in groups[:number]:
            conflict = _conflict_between(runs, earlier, group)
            if conflict is None:
                continue
            reason = _settings_that_change_inputs(runs, earlier, group)
            if not reason:
                accepted[_accept_other_inputs(task, conflict, allowed, option, remedy)] = None
            reasons.update(dict.fromkeys(reason))
    unshared = _unshared_items(runs, names, conflicts)
    finding = QuestionFinding(
        task,
        pairing="other inputs" if reasons or accepted else "input",
        items=_number_of_names(names),
        conflicts=len(conflicts),
        shared_ids=_number_of_shared_ids(runs),
        unshared=dict(Counter(runs[k].run.model for k, _ in unshared)),
        example=_example_of(runs, [*(item for _, item in unshared), *conflicts]),
        reason=tuple(reasons),
        is_reworded=bool(reasons) and _are_groups_reworded(runs, names, groups),
    )
    changed = tuple(_changed_names(names[k]) for k in range(len(runs)))
    return PairedQuestions(finding=finding, names=changed, accepted=tuple(accepted))


def _number_of_names(names: Mapping[int, Mapping[str, str]]) -> int:
    """Return the number of different names of items in all runs."""
    return len(set[str]().union(*(names_of_run.values() for names_of_run in names.values())))


def _are_groups_reworded(
    runs: Sequence[AskedRun],
    names: Mapping[int, Mapping[str, str]],
    groups: Sequence[Sequence[int]],
) -> bool:
    """Return whether the inputs of all groups put the questions of the first in other words.

    Args:
        runs: all runs.
        names: for each run, the names of its items by their ids.
        groups: groups of runs that share no input; the first run of each is compared.
    """
    inputs = []
    for group in groups:
        names_of_run = names[group[0]]
        inputs.append({names_of_run[item.id]: item.excerpt for item in runs[group[0]].items})
    return all(are_reworded(inputs[0], other) for other in inputs[1:])


def _finding_without_conflict(task: str, runs: Sequence[AskedRun]) -> QuestionFinding:
    """Return the finding for runs whose ids have equal inputs, or inputs that are unknown.

    The pairing is `id` if each run has an item with a known input, else `unknown`.
    """
    ids = {item.id for run in runs for item in run.items}
    have_known_inputs = []
    for run in runs:
        have_known_inputs.append(any(is_known_input(item.input) for item in run.items))
    is_known = all(have_known_inputs)
    return QuestionFinding(task, pairing="id" if is_known else "unknown", items=len(ids))


def _conflicting_ids(runs: Sequence[AskedRun]) -> list[str]:
    """Return the ids that have different inputs in different runs, in the order of the runs.

    An input that is not known conflicts with none.
    """
    first: dict[str, InputParts] = {}
    conflicts: dict[str, None] = {}
    # Runs with equal items share one list (`AskedInputs.keep`), which is read once.
    for items in {id(run.items): run.items for run in runs}.values():
        for item in items:
            first_input = first.setdefault(item.id, item.input)
            if not inputs_may_equal(first_input, item.input):
                conflicts[item.id] = None
            elif not is_known_input(first_input):
                # An input of which more is known may contradict those of later runs.
                first[item.id] = item.input
    return list(conflicts)


def _number_of_shared_ids(runs: Sequence[AskedRun]) -> int:
    """Return the number of ids that occur in several runs."""
    runs_of_id = Counter(item.id for run in runs for item in run.items)
    return sum(number > 1 for number in runs_of_id.values())


def _have_other_ids(runs: Sequence[AskedRun]) -> bool:
    """Return whether two runs have an input under different ids, neither of which is in both runs.

    The function is called only if no id has different inputs in two runs. Of runs with the same
    ids, one is looked at, since they have the same inputs.
    """
    run_of_ids = {}
    for run in runs:
        ids_of_run = frozenset(item.id for item in run.items)
        run_of_ids[ids_of_run] = run
    earlier_runs: list[tuple[AskedRun, Set[str]]] = []
    for ids, run in run_of_ids.items():
        for other, others in earlier_runs:
            only_of_run = _inputs_without_ids(run, others)
            if not only_of_run.isdisjoint(_inputs_without_ids(other, ids)):
                return True
        earlier_runs.append((run, ids))
    return False


def _inputs_without_ids(run: AskedRun, ids: Set[str]) -> set[InputParts]:
    """Return the known inputs of the items of a run whose id is not among these ids."""
    return {item.input for item in run.items if item.id not in ids and is_known_input(item.input)}


def _groups_that_share_inputs(runs: Sequence[AskedRun]) -> list[list[int]]:
    """Return positions of runs in groups. Runs of different groups share no inputs, or so few that
    they do not count (`_share_inputs`).

    The largest group is first; of equally large ones, the one with the earliest run. Positions
    ascend in each group.
    """
    inputs = []
    for run in runs:
        inputs.append({item.input for item in run.items if is_known_input(item.input)})
    groups: list[list[int]] = []
    for position in range(len(runs)):
        joined = [position]
        apart = []
        for group in groups:
            if any(_share_inputs(runs, inputs, other, position) for other in group):
                joined = [*group, *joined]
            else:
                apart.append(group)
        groups = [*apart, sorted(joined)]
    return sorted(groups, key=lambda group: (-len(group), group[0]))


def _share_inputs(
    runs: Sequence[AskedRun], inputs: Sequence[Set[InputParts]], first: int, second: int
) -> bool:
    """Return whether two runs asked the same inputs.

    One shared input suffices, unless a setting that may change inputs differs. A few inputs may
    then be equal by chance: they do not count if they are fewer than half of those of the smaller
    run, and have the same ids in both runs.

    Args:
        runs: all runs.
        inputs: the known inputs of each run.
        first: position of one run.
        second: position of the other run.
    """
    shared = inputs[first] & inputs[second]
    if not shared:
        return False
    smaller = min(len(inputs[first]), len(inputs[second]))
    if 2 * len(shared) >= smaller or not _settings_that_change_inputs(runs, [first], [second]):
        return True
    ids = {item.input: item.id for item in runs[first].items}
    return any(ids[item.input] != item.id for item in runs[second].items if item.input in shared)


def _names_by_id(
    runs: Sequence[AskedRun],
    reference: Sequence[int],
    group: Sequence[int],
    names: Mapping[int, Mapping[str, str]],
) -> dict[int, dict[str, str]]:
    """Name the items of a group by the ids of the reference group's earliest run.

    Within the group, equal inputs have one name.

    Args:
        runs: all runs.
        reference: positions of the runs of the reference group, the earliest first.
        group: positions of the runs to name.
        names: the names of the items of the runs of the reference group, by id.

    Returns:
        The names of the items of each run of the group, by position of the run and id of the item.
        An item whose id the reference does not have keeps the name that the group gives it.
    """
    names_of_inputs = names_by_input(runs, group, taken={})
    of_reference = names[reference[0]]
    names_by_position: dict[int, dict[str, str]] = {}
    for position, names_of_run in names_of_inputs.items():
        names_by_position[position] = {
            item: of_reference.get(name, name) for item, name in names_of_run.items()
        }
    return names_by_position


def _settings_that_change_inputs(
    runs: Sequence[AskedRun], reference: Sequence[int], group: Sequence[int]
) -> list[str]:
    """Return the texts of the settings in which two groups differ and that may have changed the
    inputs.

    The first run of the reference stands for its group. The result is empty if a run of the other
    group differs from it in no such setting.

    Args:
        runs: all runs.
        reference: positions of the runs of one group.
        group: positions of the runs of the other group.
    """
    first = runs[reference[0]].run
    reasons: dict[str, None] = {}
    for position in group:
        differing = differing_settings([first, runs[position].run])
        texts_of_settings = [setting.text for setting in differing if setting.kind in INPUT_KINDS]
        if not texts_of_settings:
            return []
        reasons.update(dict.fromkeys(texts_of_settings))
    return list(reasons)


def _conflict_between(
    runs: Sequence[AskedRun], reference: Sequence[int], group: Sequence[int]
) -> Conflict | None:
    """Return the first id that has different inputs in two groups of runs; None if there is none.

    `reference` and `group` are positions in `runs`. The conflict has the run of the reference as
    its earlier run.
    """
    for start in reference:
        items_of_first = {item.id: item for item in runs[start].items}
        for position in group:
            for item in runs[position].items:
                there = items_of_first.get(item.id)
                if there is not None and not inputs_may_equal(there.input, item.input):
                    return Conflict(
                        first=runs[start].run, other=runs[position].run, here=item, there=there
                    )
    return None


def _accept_other_inputs(
    task: str, conflict: Conflict, allowed: Collection[str], option: str, remedy: str
) -> str:
    """Return the sentence that says that different questions were accepted.

    Args:
        task: the task.
        conflict: an id with different inputs in two runs that share no input.
        allowed: names of the findings that the user accepts.
        option: the option that accepts this one, as it is typed; empty for `--allow questions`.
        remedy: what else to do, for the error.

    Raises:
        OtherQuestionError: the finding is not in `allowed`.
    """
    problem = f"{problem_of(conflict)}, and the runs of {task} share no input"
    if FINDING in allowed:
        return accepted_sentence(FINDING, problem, option)
    raise OtherQuestionError(
        problem,
        remedy=remedy_with_option(FINDING, remedy, option),
        source=conflict.other.source,
        row=conflict.here.place,
    )


def notices_of_questions(findings: Iterable[QuestionFinding]) -> list[Notice]:
    """Return a note on each task whose items were paired by inputs, or by ids of other inputs.

    There is no note on what is told elsewhere: changed questions that no other run has (by a
    check), different questions that the user accepted, and rows of a table in other words.
    """
    notices = []
    for finding in findings:
        fields = {"task": finding.task, "ids": finding.conflicts, "reason": list(finding.reason)}
        # If inputs paired no item with a conflicting id, a flagged check names these items.
        if finding.pairing == "input" and finding.pairs_conflicts:
            notices.append(Notice("questions-by-input", fields))
        elif finding.pairing == "other inputs" and finding.reason:
            code = "questions-by-id" if finding.task else "rows-by-id"
            # The reader of tables names the items that are put in other words.
            if finding.task or not finding.is_reworded:
                notices.append(Notice(code, fields))
    return notices


def _unshared_items(
    runs: Sequence[AskedRun], names: Mapping[int, Mapping[str, str]], conflicts: Collection[str]
) -> list[tuple[int, str]]:
    """Return the items with a conflicting id whose new name no other run has.

    A run whose items include all those of the others has more items, and no changed ones: its items
    do not count. An item is the position of its run and its id.
    """
    conflicting = set(conflicts)
    items_by_position = {
        position: set(names_of_run.values()) for position, names_of_run in names.items()
    }
    all_names = set().union(*items_by_position.values())
    runs_of_name = Counter(chain.from_iterable(items_by_position.values()))
    unshared = []
    for position, run in enumerate(runs):
        if items_by_position[position] == all_names:
            continue
        for item in run.items:
            is_alone = runs_of_name[names[position][item.id]] == 1
            if is_alone and item.id in conflicting:
                unshared.append((position, item.id))
    return unshared


def _example_of(runs: Sequence[AskedRun], conflicts: Sequence[str]) -> dict[str, Any]:
    """Return the first conflicting id (`item`), and the beginnings of two inputs (`inputs`).

    `inputs` has them by the source of their run. The result is empty if there is no such id.
    """
    if not conflicts:
        return {}
    item = conflicts[0]
    inputs: dict[str, str] = {}
    first: InputParts | None = None
    for run in runs:
        for asked_item in run.items:
            if asked_item.id != item:
                continue
            if first is None or not inputs_may_equal(first, asked_item.input):
                inputs[run.run.source] = asked_item.excerpt
            first = first or asked_item.input
    return {"item": item, "inputs": dict(list(inputs.items())[:2])}


def _changed_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names that differ from the ids, by id."""
    return {item: name for item, name in names.items() if item != name}
