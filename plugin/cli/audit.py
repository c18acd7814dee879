"""podium audit: verdicts in, what can be believed of their ranking out."""

import shlex
from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from podium.cli import options
from podium.cli.output import notice_lines, show_progress
from podium.cli.rank import RankingOptions, params_of_ranking, rank_arguments
from podium.data.query import BattleQuery
from podium.printable import tell
from podium.show.report.styles import Destination
from podium.storage.remote import Place

if TYPE_CHECKING:
    from podium.diagnosis.audit_record import Audit
    from podium.diagnosis.checks.remedy_commands import TypedArguments

OPTIONS_LEFT_OUT = ("figure", "merge")
"""Options of `podium rank` that an audit does not have."""
OUTPUT_OPTIONS = frozenset({"output", "style", "page"})
"""Options that are not part of the commands of remedies."""


@options.command(
    "How to rank",
    "Say what can be believed of a ranking: one answer, and a row per probe.",
    params=params_of_ranking(OPTIONS_LEFT_OUT),
)
@click.option(
    "--page",
    metavar="FILE",
    type=options.OutputFile((".html",)),
    help="Write one HTML page with the answer and the probes to this file.",
)
def audit(
    query: BattleQuery, how: RankingOptions, destination: Destination, page: Place | None
) -> int:
    """Rank the models in SOURCE..., and check what can be believed of the ranking.

    Each probe is ok, flagged or not known, with its figure, its interval, its threshold, and the
    command that helps. Descriptions, such as which places are separated, are never flagged.

    \b
    podium audit battles.csv
    podium audit logs/ --page audit.html
    podium audit votes.parquet --where judge=crowd --columns model_a=left,model_b=right,credit=vote
    podium audit battles.csv --by category --format json
    \f

    Returns:
        The exit code: 3 if a part of the sources could not be read or ranked, else 0.
    """
    import podium.show.report.audit_view  # noqa: F401 - registers the view
    from podium.data.reading.judgments import read_query
    from podium.ranking.audit_battles import audit as audit_battles
    from podium.show.report.writing import write_result

    with show_progress():
        battles, names, settings = rank_arguments(query, how)
        judgments = read_query(query.without_merging())
        arguments = typed_arguments(OUTPUT_OPTIONS)
        result = audit_battles(battles, names, judgments=judgments, arguments=arguments, **settings)
    messages = [
        *notice_lines(result.warnings),
        *(f"not ranked: {each}" for each in result.failures),
    ]
    write_result(result, destination, messages=messages)
    if page is not None:
        _write_page(result, page)
    return 3 if battles.lost or result.failures else 0


def _write_page(result: "Audit", page: Place) -> None:
    """Write the page of an audit to a file, and print where it is."""
    from podium.show.page.audit_page import audit_page
    from podium.storage.atomic_files import write_text

    write_text(page, audit_page(result, options.typed_command()), errors="backslashreplace")
    tell(f"wrote {page}")


def typed_arguments(left_out: Collection[str]) -> "TypedArguments":
    """Return what was typed to read and to rank, for the commands of remedies.

    The two texts are quoted for a shell, and secrets are removed.

    Args:
        left_out: names of the parameters that neither read nor rank.
    """
    from podium.diagnosis.checks.remedy_commands import TypedArguments
    from podium.storage.remote import without_secrets

    reading, ranking = options.typed_by_group(left_out)
    return TypedArguments(
        without_secrets(shlex.join(reading)), without_secrets(shlex.join(ranking))
    )
