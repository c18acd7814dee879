"""How instructions and responses are read: sentences, numbers, quoted words, units of text."""

import re

WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
"""
NUMBER_WORDS = WORDS.split()
NUMBER = rf"(?:\d{{1,6}}|{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})"
QUOTED = re.compile(r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|`([^`\n]{1,300})`|(?<!\w)'([^'\n]{1,300})'(?!\w)")
BULLET = re.compile(r"\s*[-*•+]\s+\S")
NUMBERED = re.compile(r"\s*(\d{1,4})[.)]\s+\S")


def number(text: str) -> int:
    """Read a number in digits or words.

    >>> number("12"), number("Three")
    (12, 3)
    """
    return NUMBER_WORDS.index(text.lower()) if text.lower() in NUMBER_WORDS else int(text)


def quoted(text: str) -> list[str]:
    """Return what stands in quotation marks.

    >>> quoted("say \\"so\\" or 'no', it's up to you")
    ['so', 'no']
    """
    return [next(part for part in match.groups() if part is not None) for match in QUOTED.finditer(text)]


LONGEST_CLAUSE = 600
"""Characters; of a longer sentence the rest is not read."""


def clauses(instruction: str) -> list[str]:
    """Split an instruction into sentences, not inside quotation marks.

    >>> clauses('Start with "Dear A. B." today. Be brief!')
    ['Start with "Dear A. B." today', 'Be brief']
    """
    masked = QUOTED.sub(lambda match: "\0" * len(match[0]), instruction)
    starts = [0]
    ends = []
    for match in re.finditer(r"[.!?;]+(?=\s|$)|\n+", masked):
        ends.append(match.start())
        starts.append(match.end())
    ends.append(len(instruction))
    parts = (instruction[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return [part[:LONGEST_CLAUSE] for part in parts if part]


def words(text: str) -> list[str]:
    """Return the words: what blanks separate and a letter or digit is in.

    >>> words("- It's half-done, 2 of 4.")
    ["It's", 'half-done', '2', 'of', '4']
    """
    parts = (part.strip("\"'“”‘’()[]{}<>*_.,;:!?…") for part in text.split())
    return [part for part in parts if any(sign.isalnum() for sign in part)]


def sentences(text: str) -> list[str]:
    """Return the sentences: what ends in a full stop, a question or exclamation mark, or a blank line.

    >>> sentences("It is 3.5 m. Is it? Yes")
    ['It is 3.5 m.', 'Is it?', 'Yes']
    """
    parts = re.split(r"(?<=[.!?])[\"'”’)]*\s+|\n\s*\n", text)
    return [part.strip() for part in parts if any(sign.isalnum() for sign in part)]


def lines(text: str) -> list[str]:
    """Return the lines that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def paragraphs(text: str) -> list[str]:
    """Return the blocks between blank lines."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def bullets(text: str) -> list[str]:
    """Return the lines that begin with a bullet, without it."""
    return [re.sub(r"^[-*•+]\s+", "", line) for line in lines(text) if BULLET.match(line)]


def numbered(text: str) -> list[str]:
    """Return the lines that begin with a number, without it."""
    return [re.sub(r"^\d{1,4}[.)]\s+", "", line) for line in lines(text) if NUMBERED.match(line)]


def listed(text: str) -> list[str]:
    """Return the entries of a list: bullets or numbers, else lines, else what commas separate."""
    marked = [*bullets(text), *numbered(text)]
    if marked:
        return marked
    rows = lines(text)
    return rows if len(rows) > 1 else [part.strip(" .") for part in text.split(",") if part.strip(" .")]
