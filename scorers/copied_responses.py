"""Replies that are a copy of a response, and no judgment."""

from collections.abc import Iterable
from dataclasses import replace

from podium.scorers.reply import Reply

SHORTEST_COPY = 40
"""Smallest number of characters, with blanks counted as one, of a reply that can be a copy. A
shorter one, such as `Response A is better.`, may say by chance what a response says."""


def mark_copy(reply: Reply, responses: Iterable[str]) -> Reply:
    """Return the reply, withheld as `reported` if its whole text stands in one of the responses.

    A verdict in such a text is that of the response. Line breaks and numbers of blanks do not
    matter. JSON replies, and replies of fewer than 40 characters, are returned unchanged.

    Args:
        reply: the reply of a judge.
        responses: the responses that the judge was shown.
    """
    text = _single_spaced(reply.text)
    if reply.structured or reply.withheld or len(text) < SHORTEST_COPY:
        return reply
    if any(text in _single_spaced(response) for response in responses):
        return replace(reply, withheld="reported")
    return reply


def _single_spaced(text: str) -> str:
    """Return a text whose words are separated by one blank each."""
    return " ".join(text.split())
