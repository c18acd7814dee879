"""Intervals drawn in text: in one line, or side by side over an axis of labels."""

from collections.abc import Sequence

from rich.cells import cell_len

from podium.printable import printable
from podium.report.model import Bar, Figure

PLAIN_WIDTH = 120
"""Columns where no terminal says how many there are."""
HEIGHT = 10
"""Lines of a plot."""
STEP, NARROW_STEP, MANY = 7, 4, 12
"""Columns of a bar, and of one where there are more than `MANY`."""


def interval_bar(bar: Bar, ends: tuple[float, float], width: int) -> str:
    """Draw an interval as text on a common axis; unknown ends are open.

    >>> interval_bar(Bar(1, 2, 3), (0, 4), 9)
    '  ├─●─┤  '
    >>> interval_bar(Bar(1, 2, 3, mark=4), (0, 4), 9)
    '  ├─●─┤ ◇'
    """
    cells = [" "] * width
    if bar.middle is None:
        return "".join(cells)
    middle = _cell(bar.middle, ends, width)
    if bar.low is not None and bar.high is not None:
        left, right = _cell(bar.low, ends, width), _cell(bar.high, ends, width)
        cells[left : right + 1] = ["─"] * (right + 1 - left)
        cells[left], cells[right] = "├", "┤"
    cells[middle] = "●" if bar.low is not None and bar.high is not None else "○"
    if bar.mark is not None:
        place = _cell(bar.mark, ends, width)
        cells[place] = "◆" if place == middle else "◇"
    return "".join(cells)


def plot_lines(bars: Sequence[Bar], labels: Sequence[str], height: int = HEIGHT) -> list[str]:
    """Draw one column per bar: the middle as a dot, the interval as a line; labels below, values on the left.

    A bar without an end is drawn as far as its middle, one without a middle not at all.

    >>> print("\\n".join(plot_lines([Bar(0, 1, 2), Bar(2, 3, 4)], ["a", "b"], height=5)))
    4.00 ┤          │
    3.00 ┤          ●
    2.00 ┤   │      │
    1.00 ┤   ●
    0.00 ┤   │
         └───a──────b───
    """
    step = STEP if len(bars) <= MANY else NARROW_STEP
    values = [value for bar in bars for value in (bar.low, bar.middle, bar.high) if value is not None]
    least, most = min(values), max(values)
    if least == most:
        least, most = least - 0.5, most + 0.5
    grid = [[" "] * (step * len(bars)) for _ in range(height)]
    for k, bar in enumerate(bars):
        if bar.middle is None:
            continue
        low, high = (bar.middle if end is None else end for end in (bar.low, bar.high))
        bottom, middle, top = (
            round((most - value) / (most - least) * (height - 1)) for value in (low, bar.middle, high)
        )
        place = k * step + step // 2
        for row in range(top, bottom + 1):
            grid[row][place] = "│"
        grid[middle][place] = "●"
    marks = [most - (most - least) * row / (height - 1) for row in range(height)]
    width = max(len(f"{mark:.2f}") for mark in marks)
    lines = [f"{mark:>{width}.2f} ┤{''.join(cells)}".rstrip() for mark, cells in zip(marks, grid, strict=True)]
    return [*lines, " " * width + " └" + "".join(printable(label)[: step - 1].center(step, "─") for label in labels)]


def figure_lines(figures: Sequence[Figure], width: int) -> list[str]:
    """Draw figures: two of them side by side, where there is room, else one below the other."""
    drawings = [[printable(figure.title), *plot_lines(figure.bars, figure.labels)] for figure in figures]
    if len(drawings) != 2 or sum(max(map(cell_len, lines)) for lines in drawings) + 4 > width:
        return [line for lines in drawings for line in [*lines, ""]][:-1]
    widest = max(map(cell_len, drawings[0]))
    left = [line + " " * (widest - cell_len(line)) for line in drawings[0]]
    return [f"{line}    {other}".rstrip() for line, other in zip(left, drawings[1], strict=True)]


def _cell(value: float, ends: tuple[float, float], width: int) -> int:
    """Return the text column of a value on an axis."""
    least, most = ends
    return round((value - least) / (most - least) * (width - 1))
