"""The same battles under other names, in another order, from the other side; and the figures of an
answer."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

SIDES = (("model_a", "model_b"), ("length_a", "length_b"), ("score_a", "score_b"))
COMPLEMENT, NEGATED = ("credit", "human"), "margin"
NAME = re.compile(r"model-[a-z]")


def new_names(names: list[str], seed: int) -> dict[str, str]:
    """Deal the names anew, each to another model where the draw says so."""
    return dict(zip(names, np.random.default_rng(seed).permutation(names).tolist(), strict=True))


def disguise(frame: pd.DataFrame, names: Mapping[str, str], seed: int) -> pd.DataFrame:
    """Return the same battles: renamed, rows permuted, a and b swapped in a random half of them."""
    rng = np.random.default_rng(seed)
    table = frame.copy()
    turned = rng.random(len(table)) < 0.5
    for a, b in SIDES:
        if a in table:
            table[a], table[b] = (
                frame[a].where(~turned, frame[b]),
                frame[b].where(~turned, frame[a]),
            )
    for column in table.columns:
        if column in COMPLEMENT:
            table[column] = frame[column].where(~turned, 1 - frame[column])
        elif column.startswith(NEGATED):
            table[column] = frame[column].where(~turned, -frame[column])
    if "order" in table:
        table["order"] = frame["order"].where(~turned, frame["order"].map({"ab": "ba", "ba": "ab"}))
    for side in SIDES[0]:
        table[side] = table[side].map(names)
    return table.iloc[rng.permutation(len(table))].reset_index(drop=True)


def figures_of(answer: Any, names: Mapping[str, str]) -> dict[tuple[str, ...], list[Any]]:
    """Flatten an answer: numbers, and words, by the keys that lead to them, with the names that
    they had before.

    Args:
        answer: as JSON has it.
        names: from the names before to those in the answer.
    """
    before = {new: old for old, new in names.items()}
    found: dict[tuple[str, ...], list[Any]] = defaultdict(list)

    def words(text: str) -> list[str]:
        return re.split(r"[\s,;:()]+", NAME.sub(lambda name: before.get(name[0], name[0]), text))

    def visit(value: Any, path: tuple[str, ...]) -> None:
        if isinstance(value, Mapping):
            whose = value.get("model") or value.get("models") or value.get("first")
            whose = [whose, value["second"]] if "second" in value else whose
            whose = [whose] if isinstance(whose, str) else whose
            if isinstance(whose, list | tuple) and all(isinstance(name, str) for name in whose):
                path = (*path, *sorted(words(" ".join(whose))))
            for key, part in value.items():
                visit(part, (*path, *words(str(key))))
        elif isinstance(value, list | tuple):
            for part in value:
                visit(part, path)
        elif isinstance(value, str):
            found[(*path, "words")] += words(value)
        else:
            found[path].append(np.nan if value is None else float(value))

    visit(answer, ())
    return {path: sorted(values) for path, values in found.items()}


def differences(
    first: Mapping[tuple[str, ...], list[Any]], second: Mapping[tuple[str, ...], list[Any]]
) -> list[str]:
    """Say which figures differ by more than 1e-9, relative to what is larger than 1."""
    apart = []
    for path in sorted(set(first) | set(second)):
        ours, theirs = first.get(path), second.get(path)
        if ours is None or theirs is None or len(ours) != len(theirs):
            same = False
        elif path[-1:] == ("words",):
            same = ours == theirs
        else:
            same = np.allclose(ours, theirs, rtol=1e-9, atol=1e-9, equal_nan=True)
        if not same:
            apart.append(f"{'.'.join(path)}: {ours} and {theirs}")
    return apart
