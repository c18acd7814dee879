"""Points with their intervals over an axis of positions, drawn in text."""

from collections.abc import Sequence

Bar = tuple[float, float, float]
"""Low, middle, high."""


def drawn(bars: Sequence[Bar], labels: Sequence[str], height: int = 10, step: int = 7) -> list[str]:
    """Draw one column per bar: the middle as a dot, the interval as a line; labels below, values on the left.

    >>> print("\\n".join(drawn([(0, 1, 2), (2, 3, 4)], ["a", "b"], height=5, step=3)))
    4.00 ┤    │
    3.00 ┤    ●
    2.00 ┤ │  │
    1.00 ┤ ●
    0.00 ┤ │
         └─a──b─
    """
    least, most = min(low for low, _, _ in bars), max(high for _, _, high in bars)
    if least == most:
        least, most = least - 0.5, most + 0.5
    grid = [[" "] * (step * len(bars)) for _ in range(height)]
    for k, bar in enumerate(bars):
        low, middle, high = (round((most - value) / (most - least) * (height - 1)) for value in bar)
        place = k * step + step // 2
        for row in range(high, low + 1):
            grid[row][place] = "│"
        grid[middle][place] = "●"
    marks = [most - (most - least) * row / (height - 1) for row in range(height)]
    width = max(len(f"{mark:.2f}") for mark in marks)
    lines = [f"{mark:>{width}.2f} ┤{''.join(cells)}".rstrip() for mark, cells in zip(marks, grid, strict=True)]
    return [*lines, " " * width + " └" + "".join(label[: step - 1].center(step, "─") for label in labels)]
