"""The rubric's criteria for transcripts of agents: each takes the place of one for answers, which the reader knows."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from podium.scorers.prompt import Settings
from podium.scorers.reply import Reply, Verdict

PLACES = {
    "completion": "adherence",
    "groundedness": "factuality",
    "efficiency": "helpfulness",
    "safety": "completeness",
    "recovery": "fluency",
    "clarity": "clarity",
}
SWAPPED = PLACES | {name: own for own, name in PLACES.items()}
NAME = re.compile(rf"\b(?:{'|'.join(SWAPPED)})\b", re.IGNORECASE)


def swap_names(text: str, settings: Settings) -> str:
    """Return a text with the criteria of agents and of answers in each other's place, if transcripts are judged."""
    return NAME.sub(lambda name: SWAPPED[name[0].lower()], text) if settings.transcript else text


def read_for_agents(read: Callable[[Reply, Settings], Verdict]) -> Callable[[Reply, Settings], Verdict]:
    """Make a reader of the criteria for answers one of those for agents, where transcripts are judged."""

    def read_reply(reply: Reply, settings: Settings) -> Verdict:
        if not settings.transcript:
            return read(reply, settings)
        return name_criteria(read(replace(reply, text=swap_names(reply.text, settings)), settings), settings)

    return read_reply


def name_criteria(verdict: Verdict, settings: Settings) -> Verdict:
    """Return a verdict with `swap_names` of its criteria."""
    return replace(verdict, criteria={swap_names(name, settings): lead for name, lead in verdict.criteria.items()})


def swap_keys(scores: Mapping[str, Mapping[str, Any]], settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the scores of both responses with `swap_names` of their criteria."""
    return {side: {swap_names(name, settings): own for name, own in scores[side].items()} for side in scores}
