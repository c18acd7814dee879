"""podium label: which battles humans should judge next, as a sheet to fill in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from podium.cli import options
from podium.cli.output import tell_notices
from podium.data.query import BattleQuery
from podium.errors import UsageError
from podium.printable import tell
from podium.storage.remote import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podium.data.battles import Battles
    from podium.data.formats.label_sheet import SheetRow
    from podium.show.page.sources import BattleTexts


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """What to draw, as typed.

    Attributes:
        number: number of battles; None for the default.
        by: how battles are drawn, `random` or `uncertainty`.
        seed: seed of the draw and of the order of responses.
    """

    number: int | None
    by: str
    seed: int


@options.command(
    "What to draw", "Draw battles for humans to judge, and forecast what their labels are worth."
)
@options.sources
@options.human_labels
@options.count_option(
    "--number", help="Number of battles to draw; by default 100, or all if there are fewer."
)
@options.choice_option(
    "--by",
    values="random uncertainty",
    help="How to draw battles; uncertainty is not supported, and says why.",
)
@options.responses(help="Files or folders with the responses that humans read.")
@options.seed(help="Seed of the draw and of the order of responses.")
@options.one_sided
@options.output_file(
    ".csv", ".html", help="Write the sheet to this file: a table to fill in, or a page to vote on."
)
def label(
    query: BattleQuery, how: DrawOptions, output: Place | None, responses: tuple[str, ...]
) -> int:
    """Draw random battles of SOURCE... for humans to judge; without -o only a forecast is shown; -o
    needs the texts of the responses, in SOURCE (logs of an eval) or in --responses.

    \b
    podium label verdicts.csv --responses answers/ --number 200 -o sheet.csv
    podium label verdicts.csv --responses answers/ --number 200 -o label.html
    podium rank verdicts.csv --human-labels sheet.csv --ranker structured-bradley-terry

    Humans write 1, 2 or tie in the column verdict of the sheet; an empty one is not labelled. The
    page asks them one battle at a time, shows no model's name, and saves such a sheet.
    \f

    Returns:
        The exit code: 3 if a part of the sources or of the responses could not be read, else 0.
    """
    import numpy as np

    from podium.data.reading.judgments import read_query
    from podium.planning.label_draw import draw_labels, draw_reports
    from podium.show.report.writing import print_reports

    battles = read_query(query)
    texts = None
    writes_sheet = output is not None and how.by == "random"
    if responses or writes_sheet:
        texts = _texts_of_battles(battles, query, responses)
    rng = np.random.default_rng(how.seed)
    draw = draw_labels(battles, texts=texts, rng=rng, number=how.number, by=how.by)
    print_reports(draw_reports(draw))
    lost = [*battles.lost]
    if texts:
        lost += texts.lost
    tell_notices(lost)
    if texts:
        for note in texts.notes:
            tell(f"note: {note}")
    if output is None:
        tell("nothing written; -o sheet.csv writes the sheet")
    else:
        _write_sheet(draw.rows, output)
        tell(f"wrote {output}")
    return 3 if lost else 0


def _texts_of_battles(
    battles: "Battles", query: BattleQuery, responses: "Sequence[str]"
) -> "BattleTexts":
    """Return the texts of battles, from files of responses and from the sources of verdicts.

    Raises:
        UsageError: no model has a response; the message says why.
    """
    from podium.show.page.sources import collect_texts

    sources = [str(source) for source in query.sources]
    texts = collect_texts(battles, sources, responses, query.allow)
    if not texts.responses:
        reasons = " ".join(texts.notes)
        raise UsageError(f"-o: a sheet needs the texts of the responses. {reasons}")
    return texts


def _write_sheet(rows: "Sequence[SheetRow]", output: Place) -> None:
    """Write the battles to judge as a page to vote on (.html), or as a CSV table to fill in (any
    other suffix)."""
    from podium.data.formats.label_sheet import sheet_table
    from podium.storage.atomic_files import write_text

    if output.suffix == ".html":
        from podium.show.page.label_page import label_page

        write_text(output, label_page(rows), errors="backslashreplace")
    else:
        write_text(output, sheet_table(rows).to_csv(index=False))
