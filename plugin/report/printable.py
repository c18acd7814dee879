"""Names as they may be shown: a model's name is data, and must not move the cursor or break a row."""


def printable(text: str) -> str:
    r"""Write line breaks and control characters as escapes.

    >>> printable("red \x1b[31m")
    'red \\x1b[31m'
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
