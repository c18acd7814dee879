"""podium report: verdicts or a ranking in, one page to share out."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli import options
from podium.cli.rank import rank, rank_sources
from podium.printable import tell
from podium.storage.remote import Place

if TYPE_CHECKING:
    from podium.show.page.material import PageContent

NOT_HERE = ("output", "style", "figure", "no_merge", "complete", "engine", "memory")
"""Options of `podium rank` that make no page."""


@options.command(
    "How to rank",
    "Make one page of a ranking to share: the answer, trust checks, the battles.",
    params=[param for param in rank.params if param.name not in NOT_HERE],
)
@options.responses(help="Files or folders with the responses that were compared.")
@click.option(
    "--no-texts", is_flag=True, help="Leave out instructions, responses and the judge's words."
)
@options.output_file(".html", help="Write the page to this file.", default="report.html")
def report(output: Place, responses: tuple[str, ...], no_texts: bool, **arguments: Any) -> int:
    """Make one self-contained page of the battles in SOURCE..., or of a ranking that `podium rank`
    wrote as JSON.

    \b
    podium report battles.csv -o report.html
    podium report logs/ --ranker bradley-terry,win-rate
    podium report verdicts.csv --responses answers/ --calibration calibration.json
    podium report ranking.json
    """
    from podium.cli.output import announce, show_progress
    from podium.show.page.report_page import report_page
    from podium.storage.atomic_files import write_text

    with show_progress():
        material, whole = _build_page_content(arguments, responses, no_texts)
        page = report_page(material)
    announce(material.ranking)
    write_text(output, page, errors="backslashreplace")
    tell(f"wrote {output}")
    return 0 if whole and not material.ranking.failures else 3


def _build_page_content(
    arguments: dict[str, Any], responses: tuple[str, ...], no_texts: bool
) -> "tuple[PageContent, bool]":
    """Build the page content from the sources; also return whether all sources could be read."""
    from podium.rankers.json_files import read_calibration, read_ranking
    from podium.show.page.material import PageContent, add_battles_to_page
    from podium.storage.remote import without_secrets

    command = without_secrets(shlex.join(["podium", *sys.argv[1:]]))
    sources = arguments["sources"]
    ranking = read_ranking(Path(sources[0])) if len(sources) == 1 else None
    if ranking is not None:
        return PageContent(ranking, command=command), True
    from podium.data.reading.side_tables import about_models, families_of
    from podium.show.page.sources import collect_texts, costs_table

    how = {name: arguments[name] for name in ("level", "seed")}
    apart = options.read_sources(
        {name: arguments[name] for name in (*options.READ_BY, "sources")}, merge=False
    )
    ranking, battles = rank_sources(dict(arguments))
    texts = None if no_texts else collect_texts(apart, sources, responses)
    known = read_calibration(arguments["calibration"]) if arguments["calibration"] else None
    costs = costs_table(ranking.standings[0], [*sources, *responses])
    material = PageContent(ranking, calibration=known, command=command, costs=costs)
    families = families_of(about_models(arguments["models"]))
    content = add_battles_to_page(material, battles, apart, texts, families=families, **how)
    return content, not battles.lost
