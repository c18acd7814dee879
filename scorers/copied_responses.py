"""Replies that are a copy of a response, and no judgment."""

from collections.abc import Iterable
from dataclasses import replace

from podium.scorers.reply import Reply

SHORTEST_COPY = 40
"""Smallest number of characters of a reply that can be a copy; a run of blanks counts as one.

A shorter reply, such as `Response A is better.`, may say by chance what a response says.
"""
SHORTEST_COPY_OF_LINES = 20
"""Smallest number of characters of a copy of several lines, which says more than a verdict."""


def mark_copy(reply: Reply, responses: Iterable[str]) -> Reply:
    """Withhold a reply as `reported` if its whole text stands in one of the responses.

    A verdict in such a text is that of the response. Line breaks and numbers of blanks do not
    matter. All other replies are returned unchanged, and so are JSON replies, replies that are
    withheld already, and short replies: of fewer than 40 characters, or 20 if they have several
    lines.

    Args:
        reply: the reply of a judge.
        responses: the responses that the judge was shown.
    """
    text = _single_spaced(reply.text)
    has_lines = "\n" in reply.text.strip()
    shortest = SHORTEST_COPY_OF_LINES if has_lines else SHORTEST_COPY
    if reply.structured or reply.withheld or len(text) < shortest:
        return reply
    if any(text in _single_spaced(response) for response in responses):
        return replace(reply, withheld="reported")
    return reply


def _single_spaced(text: str) -> str:
    """Return a text whose words are separated by one blank each."""
    return " ".join(text.split())
