"""podium report: verdicts or a ranking in, one page to share out."""

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from podium.cli import options
from podium.cli.audit import typed_arguments
from podium.cli.output import show_progress, tell_notices
from podium.cli.rank import RankingOptions, params_of_ranking, rank_sources
from podium.data.query import BattleQuery
from podium.printable import tell
from podium.storage.remote import Place, place_of

if TYPE_CHECKING:
    from podium.data.battles import Battles
    from podium.show.page.material import PageContent

OPTIONS_LEFT_OUT = ("output", "style", "figure", "merge", "complete", "engine", "memory")
"""Options of `podium rank` that make no page."""
PAGE_OPTIONS = frozenset({"output", "responses", "no_texts", "disclose"})
"""Options that are not part of the commands of remedies."""


@options.command(
    "How to rank",
    "Make one page of a ranking to share: the answer, the checks, the battles.",
    params=params_of_ranking(OPTIONS_LEFT_OUT),
)
@options.responses(help="Files or folders with the responses that were compared.")
@click.option(
    "--no-texts", is_flag=True, help="Leave out instructions, responses and the judge's words."
)
@click.option(
    "--disclose",
    is_flag=True,
    help=(
        "Add how the ranking was made: versions, judges, sampling, counts, failures, seeds; also "
        "written as JSON beside the page."
    ),
)
@options.output_file(".html", help="Write the page to this file.", default="report.html")
def report(
    query: BattleQuery,
    how: RankingOptions,
    output: Place,
    responses: tuple[str, ...],
    no_texts: bool,
    disclose: bool,
) -> int:
    """Make one self-contained page of the battles in SOURCE..., or of a ranking that `podium rank`
    wrote as JSON.

    \b
    podium report battles.csv -o report.html
    podium report logs/ --ranker bradley-terry,win-rate
    podium report verdicts.csv --responses answers/ --calibration calibration.json
    podium report ranking.json
    podium report logs/ --disclose
    \f

    A single source that is a ranking in JSON is shown as it is; the options for reading and
    ranking, `responses` and `no_texts` then have no effect.

    Returns:
        The exit code: 3 if a part of the sources or of the responses could not be read, or a ranker
        failed; else 0.
    """
    from podium.rankers.json_files import read_ranking
    from podium.show.page.material import PageContent
    from podium.show.page.report_page import report_page
    from podium.show.report.disclosure import disclose as disclosure_of
    from podium.show.report.ranking_view import ranking_messages
    from podium.storage.atomic_files import write_text
    from podium.storage.remote import named_file, without_secrets

    command = without_secrets(shlex.join(["podium", *sys.argv[1:]]))
    is_partial = False
    with show_progress():
        sources = query.sources
        file = named_file(str(sources[0])) if len(sources) == 1 else None
        ranking = None if file is None else read_ranking(file)
        if ranking is not None:
            content = PageContent(ranking, command=command)
        else:
            content, is_partial = _content_of_battles(query, how, responses, no_texts, command)
        if disclose:
            content = replace(content, disclosure=disclosure_of(content.ranking, content.audit))
        page = report_page(content)
    for message in ranking_messages(content.ranking):
        tell(message)
    tell_notices(content.lost)
    write_text(output, page, errors="backslashreplace")
    tell(f"wrote {output}")
    if content.disclosure is not None:
        beside = place_of(f"{str(output).removesuffix('.html')}.disclosure.json")
        write_text(beside, content.disclosure.to_json() + "\n", errors="backslashreplace")
        tell(f"wrote {beside}")
    return 3 if is_partial or content.ranking.failures else 0


def _content_of_battles(
    query: BattleQuery,
    how: RankingOptions,
    responses: tuple[str, ...],
    no_texts: bool,
    command: str,
) -> "tuple[PageContent, bool]":
    """Read and rank battles, and build the content of their page.

    Args:
        query: the sources and how to read them.
        how: how to rank.
        responses: files or folders with the responses, beside those in the sources.
        no_texts: leave out instructions, responses and the judge's words.
        command: the command line that the page shows.

    Returns:
        The content, and whether a part of the sources or of the responses could not be read.
    """
    from podium.data.reading.judgments import read_query
    from podium.data.reading.side_tables import about_models, families_of
    from podium.rankers.json_files import read_calibration
    from podium.show.page.material import PageContent, add_battles_to_page
    from podium.show.page.sources import collect_texts, costs_table

    judgments = read_query(query.without_merging())
    ranking, battles = rank_sources(query, how)
    sources = [str(source) for source in query.sources]
    texts = None if no_texts else collect_texts(judgments, sources, responses, query.allow)
    content = PageContent(
        ranking,
        calibration=read_calibration(how.calibration) if how.calibration else None,
        command=command,
        costs=costs_table(ranking.standings[0], [*sources, *responses], battles.runs),
    )
    content = add_battles_to_page(
        content,
        battles,
        judgments,
        texts,
        families=families_of(about_models(how.models)),
        level=how.level,
        seed=how.seed,
    )
    content = _add_audit(content, battles, judgments, how)
    return content, bool(battles.lost or content.lost)


def _add_audit(
    content: "PageContent", battles: "Battles", judgments: "Battles", how: RankingOptions
) -> "PageContent":
    """Return the content of a page with the audit of its ranking.

    Args:
        content: the content, with the judge cards.
        battles: the battles, with the judgments of both orders merged.
        judgments: the same battles before merging, with one row per judgment.
        how: how the battles were ranked.
    """
    from podium.ranking.audit_battles import audit_ranking

    audit = audit_ranking(
        content.ranking,
        battles,
        judgments,
        level=how.level,
        seed=how.seed,
        by=how.by,
        pool=how.pool,
        models=how.models,
        diagnosis=content.diagnosis,
        arguments=typed_arguments(PAGE_OPTIONS),
    )
    return replace(content, audit=audit)
