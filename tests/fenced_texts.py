"""The texts between the fences of a prompt, read back as the prompt describes."""

import re

from podium.scorers.prompt import FENCE_LINE


def texts_in_fences(prompt: str) -> dict[str, str]:
    """Return the texts between the fences of a prompt, by name: what `fence_texts` was given,
    escapes left visible.

    The first fence of the prompt says the mark; lines that look like fences and bear another are
    text.
    """
    lines = list(FENCE_LINE.finditer(prompt))
    texts: dict[str, str] = {}
    opened: re.Match[str] | None = None
    for line in (line for line in lines if line["mark"] == lines[0]["mark"]):
        if opened is None and not line["slash"]:
            opened = line
        elif opened is not None and line["slash"] and line["slot"] == opened["slot"]:
            texts[opened["slot"]] = prompt[
                opened.end() + 1 : max(line.start() - 1, opened.end() + 1)
            ]
            opened = None
    return texts
