"""Figures as people read them."""

from podium.diagnosis.answer import Figure, Missing, Unit

EMPTY = "–"
FACTOR = {Unit.SHARE: 100.0}
DIGITS = {Unit.SHARE: 1, Unit.ELO: 1, Unit.NATS: 5}
"""Decimals; 3 for others."""
SUFFIX = {Unit.SHARE: "%", Unit.ELO: " Elo", Unit.NATS: " nats"}


def number(figure: Figure) -> str:
    """Write the estimate.

    >>> number(Figure(0.49, 0.48, 0.5, 0.95, "t", 100, unit=Unit.SHARE))
    '49.0%'
    """
    return _written(figure.value, figure.unit) + SUFFIX.get(figure.unit, "")


def ends(figure: Figure) -> str:
    """Write the interval; a dash where there is none."""
    if figure.low is None or figure.high is None:
        return EMPTY
    return f"{_written(figure.low, figure.unit)} … {_written(figure.high, figure.unit)}"


def size_of(figure: Figure) -> tuple[str, str]:
    """Write the denominators: what the figure is made of, and how many clusters those are.

    >>> size_of(Figure(0.5, None, None, 0.95, "a single item: no interval", 1200, "pairs", 1))
    ('1,200 pairs', '1 item')
    """
    size = f"{figure.n:,} {figure.of}"
    if figure.clusters is None or "row-clustered" in figure.method:
        return size, ""
    return size, f"{figure.clusters:,} item{'' if figure.clusters == 1 else 's'}"


def brief(value: Figure | Missing) -> str:
    """Write estimate and interval in one cell."""
    if isinstance(value, Missing):
        return EMPTY
    return f"{number(value)} ({ends(value)})"


def _written(value: float, unit: Unit) -> str:
    digits = DIGITS.get(unit, 3)
    text = f"{FACTOR.get(unit, 1.0) * value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text
