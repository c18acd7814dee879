"""Build battles of Parquet files that Spark reads itself."""

from podium.data.battles import Battles
from podium.data.counting.spark import Spark
from podium.data.query import BattleQuery
from podium.data.reading.battles_of_tables import verdicts_of_query
from podium.data.reading.model_names import note_doubtful_names, require_distinct_names
from podium.data.reading.on_spark import COPIES, inputs_not_compared, is_parquet, scan_parquet
from podium.storage.remote import without_secrets


def spark_reads(query: BattleQuery) -> bool:
    """Return whether Spark can read the sources itself.

    It can if they are Parquet files and no option needs DuckDB. Options that choose, translate or
    rename rows need DuckDB, and so does a column of groups; names of columns, merging of orders and
    `ids` other than `per-category` do not.
    """
    foreign = query.foreign
    translated = (foreign.credit_map, foreign.shown, foreign.fill, foreign.matrix)
    selected = (query.format, query.where, query.human_judge, query.metric)
    named = (query.names != "exact", query.ids == "per-category", query.cluster)
    is_plain = query.lower_is_better is None and not any((*translated, *selected, *named))
    return is_parquet(query.sources) and is_plain


def scan_files(query: BattleQuery, counting: Spark) -> Battles:
    """Let Spark read the battles in Parquet files with podium's columns.

    Raises:
        UsageError: a file cannot be read, or a column that the query names is missing.
        DataError: a needed column is missing, a value is invalid, or two models or two judges have
            names that look the same.
    """
    places = [str(source) for source in query.sources]
    relation = scan_parquet(counting, places, query.foreign.columns)
    verdicts = require_distinct_names(verdicts_of_query(counting, relation, query))
    bare = note_doubtful_names(verdicts.models)
    copies = (COPIES,) if len(places) > 1 else ()
    sources = tuple(map(without_secrets, places))
    return Battles(
        rows=verdicts,
        missing=None,
        notes=(*bare, *verdicts.notes(), *copies),
        sources=sources,
        reading=query.recorded_options(),
        questions=() if query.ids == "global" else inputs_not_compared(counting, relation),
    )
