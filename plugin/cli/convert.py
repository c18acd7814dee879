"""podium convert: any known format in, podium's battles table out."""

import click

from podium.cli import options
from podium.cli.output import tell_notices, warn
from podium.data.query import BattleQuery
from podium.printable import tell
from podium.storage.remote import Place
from podium.wording import quantity


@click.command(
    cls=options.RecordCommand, short_help="Turn files of verdicts into podium's battles table."
)
@options.sources
@options.output_file(
    ".parquet", ".csv", ".jsonl", help="A .parquet, .csv or .jsonl file.", required=True
)
@click.option(
    "--merge",
    is_flag=True,
    help="Average the two orders of a pair; by default every judgment stays.",
)
def convert(query: BattleQuery, output: Place) -> int:
    """Write SOURCE... as one battles table, a row per judgment, foreign columns kept.

    \b
    podium convert annotations.json -o battles.parquet
    podium convert results/*.jsonl --from arena-hard -o battles.csv
    \f

    Returns:
        The exit code: 3 if a part of the sources could not be read, else 0.
    """
    from podium.data.formats.podium_table import write
    from podium.data.reading.judge_columns import with_judge_columns
    from podium.data.reading.judgments import read_query
    from podium.printable import formula_columns

    battles = read_query(query)
    frame = with_judge_columns(battles)
    write(frame, output)
    columns = formula_columns(frame) if output.suffix == ".csv" else []
    if columns:
        warn(
            f"a spreadsheet would run texts in {', '.join(columns)}, which begin with = + - or @: "
            "open it as text"
        )
    tell_notices(battles.notes)
    tell(
        f"wrote {quantity(len(battles), 'row')} to {output}: {battles.counts().unparsed:,} unparsed"
    )
    return 3 if battles.lost else 0
