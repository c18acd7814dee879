"""Tell apart items whose responses were scored against different targets in different runs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from podium.comparability.asked_items import AskedRun
from podium.comparability.questions import FINDING, time_and_source
from podium.errors import OtherQuestionError
from podium.findings import accepted_sentence, remedy_with_option
from podium.notices.notice import Notice
from podium.printable import shorten
from podium.wording import join_names, quantity, short_paths, word_for

REMEDY = "score the runs against the same targets"
"""What to do where targets differ."""
LONGEST_ITEM = 40
"""Largest number of characters of an item's id in a message."""
Names = Mapping[str, str]
"""New ids of the items of a run, by the ids in the file. It has only the ids that change."""


@dataclass(frozen=True, slots=True)
class SplitItems:
    """Items whose targets are equal in all runs.

    Attributes:
        names: for each run, the new ids of its items.
        notes: a note for each task of which targets differ.
        accepted: a sentence for each such task if the user accepted it; else empty.
    """

    names: tuple[Names, ...]
    notes: tuple[Notice, ...] = ()
    accepted: tuple[str, ...] = ()


def split_by_targets(
    asked_runs: Sequence[AskedRun], names: Sequence[Names], allowed: Collection[str] = ()
) -> SplitItems:
    """Give items with other targets than in the earliest run ids of their own.

    Scores against different targets say nothing of the models: such items are not compared. An
    unknown target is equal to any. Rubrics that differ only in the input that they quote, as those
    of two prompts do, are equal.

    Args:
        asked_runs: the runs of all tasks.
        names: for each run, the ids by which its items are paired.
        allowed: names of the findings that the user accepts. With `questions`, no id changes.

    Raises:
        OtherQuestionError: targets differ in a task, and no two of its runs have an item with the
            same target.
    """
    sources = _sources_by_target(asked_runs, names)
    differing = {
        key: sources_of_targets
        for key, sources_of_targets in sources.items()
        if len(sources_of_targets) > 1
    }
    if not differing:
        return SplitItems(tuple(names))
    items_by_task: dict[str, list[str]] = defaultdict(list)
    for task, name in differing:
        items_by_task[task].append(name)
    if FINDING in allowed:
        sentences = []
        for task, items in items_by_task.items():
            problem = _problem_of_targets(task, items, differing[task, items[0]])
            sentences.append(accepted_sentence(FINDING, problem))
        return SplitItems(tuple(names), accepted=tuple(sentences))
    notes = []
    for task, items in items_by_task.items():
        places = short_paths([*differing[task, items[0]].values()])
        fields = {"items": len(items), "task": task, "item": items[0], "places": places}
        notes.append(Notice("targets-differ", fields))
    split = [
        _names_by_target(run, names_of_run, differing)
        for run, names_of_run in zip(asked_runs, names, strict=True)
    ]
    for task, items in items_by_task.items():
        if not _shares_items(task, asked_runs, split):
            places = [*differing[task, items[0]].values()]
            raise OtherQuestionError(
                f"{_problem_of_targets(task, items, differing[task, items[0]])}, and no item has "
                "the same target in two runs",
                remedy=remedy_with_option(FINDING, REMEDY),
                source=places[-1],
            )
    return SplitItems(tuple(split), tuple(notes))


def _sources_by_target(
    asked_runs: Sequence[AskedRun], names: Sequence[Names]
) -> dict[tuple[str, str], dict[int, str]]:
    """Return the first source with each target of an item, by task and id of the item.

    Targets are in the order of the runs' times, without the inputs that they quote if fewer
    are then different.
    """
    sources: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    rubrics: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    read: dict[tuple[str, int], Names] = {}
    for position in sorted(
        range(len(asked_runs)), key=lambda k: time_and_source(asked_runs[k].run)
    ):
        run = asked_runs[position].run
        # Runs with equal items share one list, of which an older run has given all targets.
        task_and_items = run.task, id(asked_runs[position].items)
        if task_and_items in read and read[task_and_items] == names[position]:
            continue
        read[task_and_items] = names[position]
        for item in asked_runs[position].items:
            key = run.task, names[position].get(item.id, item.id)
            if item.target is not None:
                sources[key].setdefault(item.target, run.source)
            if item.rubric is not None:
                rubrics[key].setdefault(item.rubric, run.source)
    for key, sources_of_rubrics in rubrics.items():
        if len(sources_of_rubrics) < len(sources[key]):
            sources[key] = sources_of_rubrics
    return sources


def _names_by_target(
    run: AskedRun, names: Names, differing: Mapping[tuple[str, str], Mapping[int, str]]
) -> dict[str, str]:
    """Return the new ids of the items of a run: `ID@target2` for the second target, and so on.

    Items with the first target, or an unknown one, keep the ids that `names` gives them.

    Args:
        run: the run.
        names: the ids by which its items are paired.
        differing: the targets of the items with several, by task and id, in their order.
    """
    split = dict(names)
    for item in run.items:
        name = names.get(item.id, item.id)
        targets = [*differing.get((run.run.task, name), ())]
        ranks = [
            targets.index(target) for target in (item.target, item.rubric) if target in targets
        ]
        number = ranks[0] + 1 if ranks else 1
        if number > 1:
            split[item.id] = f"{name}@target{number}"
    return split


def _shares_items(task: str, asked_runs: Sequence[AskedRun], names: Sequence[Names]) -> bool:
    """Return whether two runs of a task have an item with one id, by the new ids in `names`."""
    items_so_far = set[str]()
    for run, names_of_run in zip(asked_runs, names, strict=True):
        if run.run.task != task:
            continue
        items = {names_of_run.get(item.id, item.id) for item in run.items}
        if not items_so_far.isdisjoint(items):
            return True
        items_so_far |= items
    return False


def _problem_of_targets(task: str, items: Sequence[str], sources: Mapping[int, str]) -> str:
    """Return a clause that says of how many items of a task targets differ, with an example.

    Args:
        task: the task.
        items: the items with different targets; the first is the example.
        sources: for the first item, a source of each target.
    """
    have = word_for(len(items), "has", "have")
    places = join_names(short_paths([*sources.values()]))
    return (
        f"{quantity(len(items), 'item')} of {task} {have} different targets in different runs "
        f"(item {shorten(items[0], LONGEST_ITEM)} in {places})"
    )
