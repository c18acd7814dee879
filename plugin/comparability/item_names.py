"""Name the items of runs so that equal inputs have one name."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from podium.comparability.asked_items import (
    AskedRun,
    InputParts,
    ItemRecord,
    inputs_may_equal,
    is_known_input,
)


def names_by_input(
    runs: Sequence[AskedRun], group: Sequence[int], taken: Mapping[str, InputParts]
) -> dict[int, dict[str, str]]:
    """Name the items of a group of runs so that equal inputs have one name.

    The name is the id in the earliest run, or this id with a number if another input has it. An
    input that occurs equally often in all runs that have it is the same question each time: its
    items are paired by id, and those without the id of another one by their order. An item whose
    input is unknown, or occurs more often in one run than in another, is not paired by input: it
    keeps its id, and so is paired by id, if no other input has this name.

    Args:
        runs: all runs.
        group: the positions in `runs` of the runs to name, the earliest first.
        taken: names that are in use, with their inputs.

    Returns:
        The names of the items of each run, by position of the run and id of the item.
    """
    ambiguous = _ambiguous_inputs(runs, group)
    input_of_name = dict(taken)
    names_of_input: dict[InputParts, dict[str, str]] = {}
    names: dict[int, dict[str, str]] = {}
    for position in group:
        names_of_run: dict[str, str] = {}
        names[position] = names_of_run
        alike: dict[InputParts, list[ItemRecord]] = defaultdict(list)
        for item in runs[position].items:
            key = item.input
            is_paired = is_known_input(key) and key not in ambiguous
            if is_paired:
                alike[key].append(item)
            if is_paired and key in names_of_input:
                # An earlier run has this input. The loop below gives its names.
                continue
            names_of_run[item.id] = _free_name(item, input_of_name)
            input_of_name.setdefault(names_of_run[item.id], key)
        for key, items in alike.items():
            if key in names_of_input:
                names_of_run |= _names_in_order(items, names_of_input[key])
            else:
                names_of_input[key] = {item.id: names_of_run[item.id] for item in items}
        _make_names_distinct(names_of_run)
    return names


def _names_in_order(items: Sequence[ItemRecord], names: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the items of a run with one input, by their ids.

    Args:
        items: the items.
        names: as many names for this input, by the ids of the run that gave them. An item with one
            of these ids has its name. The others have the other names, in order.
    """
    kept_names = {item.id: names[item.id] for item in items if item.id in names}
    rest = iter([name for name_of_first, name in names.items() if name_of_first not in kept_names])
    return kept_names | {item.id: next(rest) for item in items if item.id not in kept_names}


def _make_names_distinct(names: dict[str, str]) -> None:
    """Change the names of a run's items in place so that no two items have one name.

    Of items with one name, that whose id is the name becomes `ID@alone`, so that it is paired with
    no item of another run.

    Args:
        names: the names, by id of the item.
    """
    numbers = Counter(names.values())
    for item, name in names.items():
        if numbers[name] > 1 and item == name:
            numbers[name] -= 1
            names[item] = f"{item}@alone"


def _ambiguous_inputs(runs: Sequence[AskedRun], group: Sequence[int]) -> set[InputParts]:
    """Return the inputs that occur more often in one run of the group than in another.

    Only runs that have the input are compared. `group` are positions in `runs`.
    """
    ambiguous = set[InputParts]()
    first: dict[InputParts, int] = {}
    for position in group:
        numbers = Counter(item.input for item in runs[position].items)
        for key, number in numbers.items():
            if first.setdefault(key, number) != number:
                ambiguous.add(key)
    return ambiguous


def _free_name(item: ItemRecord, input_of_name: Mapping[str, InputParts]) -> str:
    """Return the id of an item or, if another input has this name, `ID@2`, `ID@3` and so on.

    A name is free if no input has it, or if the input that has it may equal that of the item.
    """
    name = item.id
    number = 2
    while name in input_of_name and not inputs_may_equal(input_of_name[name], item.input):
        name = f"{item.id}@{number}"
        number += 1
    return name
