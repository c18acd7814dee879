"""What is known of a model whose rows hold different responses to one item."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResponseFinding:
    """A model's name under which rows hold different responses to the same items.

    Responses that a column records as repeats are not compared with each other.

    Attributes:
        model: the name.
        differing: number of items to which the rows hold different responses.
        items: number of items to which several rows hold a response, among them those of
            `differing`.
        opponents: the models of its battles.
        item: the first item to which responses differ.
        examples: two responses to this item, by the file and row that hold them.
    """

    model: str
    differing: int
    items: int
    opponents: tuple[str, ...]
    item: str
    examples: Mapping[str, str]
