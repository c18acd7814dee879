"""The pieces of a transcript, read back by the rule that a prompt states, without podium's code."""

import re

FENCE = re.compile(r"<(/?)([a-z0-9_]+)_([0-9a-f]{8})>")


def pieces_in(text: str, mark: str | None = None) -> list[tuple[str, str]]:
    """Return name and text of each outermost piece of a mark, by default that of the first line."""
    lines = text.split("\n")
    mark = mark or FENCE.fullmatch(lines[0])[3]
    pieces, name, held = [], None, []
    for line in lines:
        fence = FENCE.fullmatch(line)
        if fence and fence[3] == mark and name is None:
            assert not fence[1], line
            name, held = fence[2], []
        elif fence and fence[3] == mark and fence[1] and fence[2] == name:
            pieces.append((name, "\n".join(held)))
            name = None
        else:
            assert name is not None, line
            held.append(line)
    assert name is None
    return pieces


def characters_left_out(text: str) -> int:
    """Return the sum of what the notes on cuts of a transcript say."""
    mark = FENCE.match(text)[3]
    note = rf"left_out_{mark}>\n([0-9,]+) characters(?:; tool calls: [0-9,]+)?\n<"
    return sum(int(number.replace(",", "")) for number in re.findall(note, text))
