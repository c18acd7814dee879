"""An interval drawn in one line of text."""


def interval_bar(
    low: float | None,
    score: float | None,
    high: float | None,
    bounds: tuple[float, float],
    width: int,
    mark: float | None = None,
) -> str:
    """Draw low, score and high between the bounds, and a mark; an unknown end is open.

    >>> interval_bar(1, 2, 3, (0, 4), 9)
    '  ├─●─┤  '
    >>> interval_bar(1, 2, 3, (0, 4), 9, mark=4)
    '  ├─●─┤ ◇'
    """
    cells = [" "] * width
    if score is None:
        return "".join(cells)
    middle = _cell(score, bounds, width)
    if low is not None and high is not None:
        left, right = _cell(low, bounds, width), _cell(high, bounds, width)
        cells[left : right + 1] = ["─"] * (right + 1 - left)
        cells[left], cells[right] = "├", "┤"
    cells[middle] = "●" if low is not None and high is not None else "○"
    if mark is not None:
        place = _cell(mark, bounds, width)
        cells[place] = "◆" if place == middle else "◇"
    return "".join(cells)


def _cell(value: float, bounds: tuple[float, float], width: int) -> int:
    least, most = bounds
    return round((value - least) / (most - least) * (width - 1))
