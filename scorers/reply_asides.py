"""Parts of a judge's reply that say nothing about its verdict.

These are comments, polite closings and bars of tables.
"""

import re

COMMENT = re.compile(r"(?<![:\w\"'/])//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*$", re.DOTALL | re.MULTILINE)
"""A comment in a JSON object. A line that begins with `#` is one only outside of prose."""
LONGEST_JSON = 8_000
"""Largest number of characters of a reply in which comments are searched."""
JSON_REPLY = re.compile(r"\s*(?:```\w*\s*)?(?:(?://|#|/\*)[^\n]*\s*)*\{")
"""The beginning of a reply that is a JSON object, perhaps in a code block or after a comment."""
CLOSING_WORDS = (
    r"(?:i )?hope (?:this|that|these|the|it)\b"
    r"|(?:please |just )?let me know\b"
    r"|please (?:feel free|do not hesitate)\b"
    r"|feel free to\b"
    r"|if you (?:want|would like|['’]d like|need|wish|have) (?:me|any|more|further|to)\b"
    r"|(?:kind|best|warm) regards\b"
    r"|viele grüße\b|mit freundlichen grüßen\b|cordialement\b|saludos\b"
)
"""Polite words at the beginning of a last paragraph, such as `Let me know`."""
CLOSING_PARAGRAPH = re.compile(rf"\n\s*\n[ \t]*(?:{CLOSING_WORDS})[^\n]*\s*\Z", re.IGNORECASE)
"""A polite last paragraph, such as `I hope this helps! Let me know if you need more.`"""
LONGEST_CLOSING = 1000
"""Number of characters at the end of a reply that are searched for a polite last paragraph."""
STATEMENT = re.compile(
    r"(?i)\b(?:but|not|wrong|ignore|actually|mistake|response|verdict|winner|answer|level|label"
    r"|grade|score|rating|\d+|(?-i:[AB]))\b|[\[{<]"
)
"""Words and signs because of which a last paragraph is read, although it begins like a closing."""
TABLE_ROW = re.compile(
    r"^(?P<open>[ \t]*\|)(?P<name>[^|\n]*)(?:(?P<middle>\|)(?P<value>[^|\n]*))?"
    r"(?P<close>\|[ \t]*)$",
    re.MULTILINE,
)
"""A row of a table with one or two cells: `| Verdict | A |`."""
VALUE_NAME = re.compile(
    r"(?i)[\W_]*(?:(?:final|overall|my|total) )*(?:verdict|winner|level|label|grade|score|rating)"
    r"(?: \([\d –-]+\))?[\W_]*"
)
"""The first cell of a row whose second cell is the verdict: `**Final verdict**`."""
NOT_A_WORD = re.compile(r"[^A-Za-z ]")
"""Markup, and the allowed values, in the name of a verdict."""
LONE_VALUE = re.compile(r"[*_ \t]*\[\[[^\[\]\n]{1,20}\]\][*_ \t]*")
"""The only cell of a row that is a verdict in double square brackets: `[[A]]`."""


def without_asides(view: str) -> str:
    """Replace what says nothing about the verdict by blanks; the text keeps its length.

    These are comments in a reply that is a JSON object of at most 8,000 characters, a polite last
    paragraph, and the bars of a table's row that consists of the verdict and its name, or of the
    verdict alone. A last paragraph with a word such as `but` or `verdict`, or with a number, stays.

    Args:
        view: the reply without reasoning and tokens of a chat; quotations are not masked yet.
    """
    if "{" in view and len(view) <= LONGEST_JSON and JSON_REPLY.match(view):
        view = COMMENT.sub(lambda comment: _blank(comment[0]), view)
    closing = CLOSING_PARAGRAPH.search(view, max(0, len(view) - LONGEST_CLOSING))
    if closing and not STATEMENT.search(closing[0]):
        view = view[: closing.start()] + _blank(closing[0])
    if "|" in view:
        view = TABLE_ROW.sub(_row_as_line, view)
    return view


def _row_as_line(row: re.Match[str]) -> str:
    """Return a row that names a verdict as a line such as `Grade: 79`; other rows as they are.

    A row whose only cell is a verdict such as `[[A]]` becomes a line with this verdict. The text
    keeps its length.
    """
    has_one_cell = row["middle"] is None
    if has_one_cell:
        if not LONE_VALUE.fullmatch(row["name"]):
            return row[0]
        line = row["name"]
    else:
        if not VALUE_NAME.fullmatch(row["name"]):
            return row[0]
        name = NOT_A_WORD.sub(" ", row["name"])
        line = f"{name}:{row['value']}"
    return f"{_blank(row['open'])}{line}{_blank(row['close'])}"


def _blank(text: str) -> str:
    """Return blanks in place of a text, with its line breaks."""
    return re.sub(r"[^\n]", " ", text)
