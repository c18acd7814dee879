"""A draw of battles to label as reports: what it is worth, and what more labels would be."""

from podium.planning.label_draw import LabelDraw
from podium.report.model import Note, Report, Table


def draw_reports(draw: LabelDraw) -> tuple[Report, ...]:
    """Say what the labels of a sheet leave ratings to err, and others beside."""
    total = draw.known + len(draw.rows)
    at = {forecast.labels: forecast for forecast in draw.forecast}
    before = f", now {at[draw.known].joined:.0f}" if draw.known in at else ""
    fewest, most = draw.per_model
    notes = [
        f"With these {len(draw.rows)} labels ratings err about {at[total].joined:.0f} Elo{before}; labels alone would "
        f"err {at[total].alone:.0f}.",
        f"Drawn at random among battles without a label; each model then has {fewest} to {most} labels.",
    ]
    if not draw.from_labels:
        notes.append("No label is there yet: how far the judge is from people is a prior's guess (61 Elo).")
    rows = tuple(
        (f"{forecast.labels:,}", f"{forecast.joined:.1f}", f"{forecast.alone:.1f}") for forecast in draw.forecast
    )
    table = Table("", ("labels in all", "with the judge", "alone"), rows, "rrr", legend=("mean absolute error, Elo",))
    return (Report("how many labels for which error", table=table, notes=tuple(map(Note, notes))),)
