"""The record of how the items of a task were paired over several runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Pairing = Literal["id", "input", "other inputs", "unknown", "undecided"]
"""How the items of a task are paired.

`id`: by their ids, and the inputs are equal. `input`: by their inputs, because ids stand for
different ones. `other inputs`: by their ids, although the inputs differ. `unknown`: by their ids,
and the files do not hold the inputs. `undecided`: by their ids, in a table with a column of inputs
that may be questions or the prompts of a judge.
"""


@dataclass(frozen=True, slots=True)
class QuestionFinding:
    """How the items of a task were paired, and what does not fit.

    Attributes:
        task: the task.
        pairing: how the items were paired.
        items: number of different items in all runs.
        conflicts: number of ids that stand for different inputs in different runs.
        shared_ids: number of ids that stand in several runs, among them those of `conflicts`; 0 if
            not known.
        unshared: by model, the number of its items whose id is among those of `conflicts`, and
            whose input no other run has. Runs that have all inputs of the other runs are not
            counted: they have more items, and no changed ones.
        example: an id, with the beginning of its input in two runs, by the source of the run.
        reason: the settings that may have changed the inputs, if `pairing` is `other inputs`; the
            column and what else its texts may be, if it is `undecided`.
        is_reworded: whether, by their words, the inputs of each id put one question in other words,
            if `pairing` is `other inputs`.
        compared: noun for what was compared, such as `inputs`.
    """

    task: str
    pairing: Pairing
    items: int = 0
    conflicts: int = 0
    shared_ids: int = 0
    unshared: Mapping[str, int] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)
    reason: tuple[str, ...] = ()
    is_reworded: bool = False
    compared: str = "inputs"

    @property
    def pairs_conflicts(self) -> bool:
        """Whether items whose ids conflict found a partner by their inputs.

        If some model has as many unshared items as there are conflicting ids, none of its
        conflicting items has a partner: they are other questions, and not the same in other places.
        """
        most_without_partner = max(self.unshared.values(), default=0)
        return most_without_partner < self.conflicts
