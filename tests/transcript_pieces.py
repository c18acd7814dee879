"""The pieces of a transcript, read back line by line by the rule that a prompt states, without
podium's code."""

import re

NAME = re.compile(
    r"((?:turn|call|result|error|user|system) [0-9.]+|turns 1 to [0-9]+ left out|left out|answer): "
)


def pieces_in(text: str) -> list[tuple[str, str]]:
    """Return name and text of each piece; the line that says how much is cut belongs to the
    text."""
    pieces: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        name = NAME.match(line)
        if line.startswith("> "):
            pieces[-1][1].append(line[2:])
        elif name and name[1] == "left out":
            pieces[-1][1].append(line)
        else:
            assert name, line
            pieces.append((name[1], [line[name.end() :]]))
    return [(name, "\n".join(lines)) for name, lines in pieces]


def characters_left_out(text: str) -> int:
    """Return the sum of what the notes on cuts of a transcript say."""
    notes = re.findall(
        r"^(?:turns 1 to [0-9]+ )?left out: ([0-9,]+) characters", text, re.MULTILINE
    )
    return sum(int(number.replace(",", "")) for number in notes)
