"""The styles in which podium writes what it found: writers of reports, JSON and CSV; none is loaded here."""

REPORTS = {"table": ".txt", "md": ".md", "html": ".html", "latex": ".tex"}
"""Styles that `podium.report.writers.WRITERS` writes from reports, with the suffix that asks for each."""
FIGURES = {"json": ".json", "csv": ".csv"}
"""Styles of bare figures, for those who go on."""
PICTURES = (".svg", ".png", ".pdf")
"""Suffixes of figures."""
SUFFIXES = {suffix: style for style, suffix in (FIGURES | REPORTS).items()}


def styles_of(*, csv: bool) -> dict[str, str]:
    """Return the styles of a command with their suffixes, `table` first; CSV needs figures that are one table."""
    figures = FIGURES if csv else {name: suffix for name, suffix in FIGURES.items() if name != "csv"}
    return {"table": REPORTS["table"], **figures, **REPORTS}
