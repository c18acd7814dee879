"""The responses that an existing log is compared with."""

from dataclasses import dataclass
from typing import Any

from inspect_ai.solver import TaskState

from podium.errors import UsageError
from podium.hosts.inspect_ai.logs import READER
from podium.responses.collection import Responses
from podium.responses.read import read_responses


@dataclass(frozen=True, slots=True)
class Reference:
    """One entrant's responses.

    Attributes:
        name: of the entrant.
        responses: its texts, by item.
    """

    name: str
    responses: Responses

    def battle(self, state: TaskState) -> dict[str, Any] | str:
        """Return the battle of a sample's own response with the reference, or why there is none."""
        item, own = str(state.sample_id), str(state.model)
        said, theirs = state.output.completion, self.responses.texts[self.name].get(item)
        if theirs is None:
            why = self.responses.missing[self.name].get(item, "no response")
            return f"{self.name} has no response to compare with: {why}"
        if not said.strip():
            return "empty response"
        name = self.name if self.name != own else f"{self.name} (reference)"
        return {
            "item": item,
            "model_a": own,
            "model_b": name,
            "instruction": state.input_text,
            "reference": state.target.text or None,
            "response_a": said,
            "response_b": theirs,
            "length_a": len(said),
            "length_b": len(theirs),
        }


def reference_of(source: str) -> Reference:
    """Read the reference.

    Raises:
        UsageError: it holds several entrants.
    """
    read = read_responses(source, readers=(READER,))
    if len(read.entrants) != 1:
        names = ", ".join(read.entrants)
        raise UsageError(f"{source} holds {len(read.entrants)} entrants ({names}); name one reference")
    return Reference(read.entrants[0], read)
