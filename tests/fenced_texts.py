"""The texts between the fences of a prompt, read back as the prompt describes."""

import re

from podium.scorers.prompt import LINE


def texts_in_fences(prompt: str) -> dict[str, str]:
    """Return the texts between the fences of a prompt, by name: what `fence_texts` was given,
    escapes left visible.

    The first fence of the prompt says the mark; lines that look like fences and bear another are
    text.
    """
    lines = list(LINE.finditer(prompt))
    texts: dict[str, str] = {}
    opened: re.Match[str] | None = None
    for line in (line for line in lines if line[3] == lines[0][3]):
        if opened is None and not line[1]:
            opened = line
        elif opened is not None and line[1] and line[2] == opened[2]:
            texts[opened[2]] = prompt[opened.end() + 1 : max(line.start() - 1, opened.end() + 1)]
            opened = None
    return texts
