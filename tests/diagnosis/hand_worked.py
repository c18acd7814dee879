"""Small tables whose figures are worked out by hand."""

from collections.abc import Mapping, Sequence

import pandas as pd

from podium import Battles, read_battles
from podium.diagnosis.figures import Statistic
from podium.diagnosis.subject import Subject


def judgments(rows: Sequence[tuple], columns: str, **constant: object) -> Battles:
    """Return battles of x and y, unmerged, from rows of these columns; `constant` holds one value
    for all rows."""
    frame = pd.DataFrame(list(rows), columns=columns.split())
    fixed: Mapping[str, object] = {"model_a": "x", "model_b": "y", "judge": "j", **constant}
    return read_battles(
        frame.assign(**{name: value for name, value in fixed.items() if name not in frame}),
        merge=False,
    )


def subject_of(battles: Battles, judge: str | None = "j", **options: object) -> Subject:
    """Return a judge whose judgments and battles are the same table."""
    return Subject(judge, battles, battles, **options)


def values(**figures: object) -> dict[str, float]:
    """Return the estimates of figures."""
    found = {}
    for name, figure in figures.items():
        assert isinstance(figure, Statistic), (name, figure)
        found[name] = figure.value
    return found
