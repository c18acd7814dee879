"""podium convert: any known format in, podium's battles table out."""

from typing import Any

import click

from podium.cli import options
from podium.cli.output import warn
from podium.printable import tell


@click.command(short_help="Turn files of verdicts into podium's battles table.")
@options.sources
@options.output_file(
    ".parquet", ".csv", ".jsonl", help="A .parquet, .csv or .jsonl file.", required=True
)
@click.option(
    "--merge",
    is_flag=True,
    help="Average the two orders of a pair; by default every judgment stays.",
)
def convert(**arguments: Any) -> int:
    """Write SOURCE... as one battles table, a row per judgment, foreign columns kept.

    \b
    podium convert annotations.json -o battles.parquet
    podium convert results/*.jsonl --from arena-hard -o battles.csv
    """
    from podium.data.formats.podium_table import write
    from podium.printable import formula_columns

    output = arguments.pop("output")
    battles = options.read_sources(arguments, merge=arguments.pop("merge"))
    frame = battles.to_frame()
    write(frame, output)
    if output.suffix == ".csv" and (columns := formula_columns(frame)):
        warn(
            f"a spreadsheet would run texts in {', '.join(columns)}, which begin with = + - or @: open it as text"
        )
    for note in battles.notes:
        warn(note)
    counts = battles.counts()
    tell(f"wrote {len(battles):,} rows to {output}: {counts.unparsed:,} unparsed")
    return 3 if battles.lost else 0
