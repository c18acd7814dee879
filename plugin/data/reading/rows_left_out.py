"""Decide whether the bad rows of a file are few enough to be left out, and note them."""

from collections import Counter
from collections.abc import Sequence

from podium.data.formats.bad_rows import LARGEST_SHARE, BadRow
from podium.data.formats.records import Records
from podium.data.reading.rows import RecordTable
from podium.notices.notice import Notice

ROWS_THAT_DEPEND = ("win-matrix", "counts", "alpaca-eval")
"""Formats in which a row is many battles, or its position says what it is about."""


def require_few(bad_rows: Sequence[BadRow], records: Records, format: str) -> None:
    """Check that bad rows are at most `LARGEST_SHARE` of the rows of each model.

    A malformed row counts for the models whose names are in it, and for every model if a name may
    be lost: if it has fewer names than its rows have models.

    Args:
        bad_rows: the bad rows of a file.
        records: its other rows, with the columns of the battles table or of scores.
        format: name of its format. No malformed row is left out in `ROWS_THAT_DEPEND`.

    Raises:
        DataError: there are too many; it is the error of the first of them.
    """
    if not bad_rows:
        return
    good_rows = _rows_by_model(records)
    models = {*good_rows, *(row.model for row in bad_rows if row.model is not None)}
    bad = Counter[str]()
    names_of_row = 2 if "model_a" in records.columns else 1
    for row in bad_rows:
        named = [name for name in models if row.is_of(name)]
        has_all = row.model is not None or len(named) >= names_of_row
        bad.update(named if has_all else models)
    are_many = any(
        number > LARGEST_SHARE * (number + good_rows[name]) for name, number in bad.items()
    )
    if are_many or format in ROWS_THAT_DEPEND:
        raise bad_rows[0].error.with_place(records.source)


def _rows_by_model(records: Records) -> Counter[str]:
    """Return the number of rows of each model.

    In battles, a model is counted as model_a and as model_b, and the column `model` is not read.
    """
    rows = Counter[str]()
    for name in ("model", "model_a", "model_b"):
        if name == "model" and "model_a" in records.columns:
            continue
        if name in records.columns:
            cell = records.columns[name].text
            rows.update(dict(records.rows(f"{cell}, count(*)", "group by 1")))
    return rows


def notes_on_bad_rows(tables: Sequence[RecordTable]) -> list[Notice]:
    """Return a note for each file with rows that are left out.

    Its fields are `source`, `rows` (their number), and `places` (what is wrong with a row, by the
    name of the row).
    """
    notes = []
    for table in tables:
        if table.bad_rows:
            places = {}
            for row in table.bad_rows:
                places[row.error.row] = row.problem or row.error.problem
            fields = {"source": table.source, "rows": len(places), "places": places}
            notes.append(Notice("bad-rows", fields))
    return notes
