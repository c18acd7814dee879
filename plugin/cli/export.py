"""podium export: rankings or battles in, records of public collections or preference data out."""

import re
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from podium.cli import options
from podium.cli.output import tell_notices
from podium.data.query import BattleQuery
from podium.errors import DataError, UsageError
from podium.printable import tell
from podium.show.report.export_options import FORMS, ExportOptions, PreferenceOptions
from podium.storage.remote import Place, named_file, without_secrets
from podium.wording import plural, quantity, some_paths

if TYPE_CHECKING:
    from podium.show.page.sources import BattleTexts
    from podium.show.report.preference_data import PreferenceData

EEE = "every-eval-ever"
"""Value of `--to`: records of Every Eval Ever."""
HUB = "hf-eval-results"
"""Value of `--to`: evaluation results of the Hugging Face hub."""
PREFERENCE = "preference"
"""Value of `--to`: preference data for training."""
DATASET = re.compile(r"[\w.-]+/[\w.-]+")
"""Matches the id of a dataset on the Hugging Face hub, such as `tatsu-lab/alpaca_eval`."""
LINK = re.compile(r"https?://[^\s/]+\S*")
"""Matches a web address, such as `https://example.org/card`."""
OF_ALL = ("to", "output", "sources")
"""Parameters of every export."""
OF_RECORDS = {
    "dataset": (EEE, HUB),
    "task": (EEE, HUB),
    "task_id": (HUB,),
    "source_url": (HUB,),
    "developer": (EEE, HUB),
    "organization": (EEE,),
}
"""Parameters of exports of rankings, each with the values of `--to` that it is for.

All other parameters are for preference data.
"""


@options.command(
    "Options",
    "Write rankings as records of Every Eval Ever or of the HF hub, or battles as preference data.",
)
@options.sources
@options.choice_option(
    "--to", values=f"{EEE} {HUB} {PREFERENCE}", help="What to write.", required=True, default=None
)
@click.option(
    "-o",
    "output",
    metavar="PATH",
    required=True,
    help=f"A folder for records; a .jsonl or .parquet file for {PREFERENCE}.",
)
@click.option(
    "--dataset", metavar="ID", help="The items' dataset on the Hugging Face hub, as openai/gsm8k."
)
@click.option(
    "--task", metavar="NAME", help="The task of the items, where the ranking does not name it."
)
@click.option(
    "--task-id",
    metavar="ID",
    default="default",
    help=f"The task in the dataset's eval.yaml; for {HUB}.",
)
@click.option(
    "--source-url", metavar="URL", help=f"A link to verdicts or a page of the ranking; for {HUB}."
)
@click.option(
    "--developer",
    metavar="NAME",
    default="unspecified",
    help="Of models not named as DEVELOPER/MODEL.",
)
@click.option(
    "--organization",
    metavar="NAME",
    default="unknown",
    help=f"Who provides the records; for {EEE}.",
)
@options.choice_option(
    "--form",
    values=" ".join(FORMS),
    help=f"Texts as messages of a chat, or as plain texts; for {PREFERENCE}.",
)
@click.option(
    "--flips",
    is_flag=True,
    help=f"Also write pairs whose two orders have different winners; for {PREFERENCE}.",
)
@click.option("--ties", is_flag=True, help=f"Also write pairs without a winner; for {PREFERENCE}.")
@options.pool(help=f"One row for the verdicts of all judges on a pair; for {PREFERENCE}.")
@options.one_sided
@options.responses(help=f"Files or folders with the responses; for {PREFERENCE}.")
@click.pass_context
def export(
    context: click.Context,
    query: BattleQuery,
    to: str,
    output: str,
    facts: ExportOptions,
    how: PreferenceOptions,
    responses: tuple[str, ...],
) -> int:
    """Write each model's scores in rankings (files of `podium rank --format json`) as records for
    others, or battles as preference data (prompt, chosen, rejected) for training.

    \b
    podium export ranking.json --to every-eval-ever -o eee/
    podium export ranking.json --to hf-eval-results --dataset ORG/NAME -o cards/
    podium export logs/ --to preference -o preferences.jsonl
    podium export verdicts.csv --responses answers/ --to preference -o preferences.parquet
    \f

    Args:
        context: says which options were typed.
        query: the files of rankings, or the sources of battles and how to read them.
        to: what to write, `EEE`, `HUB` or `PREFERENCE`.
        output: a folder, or a file of preference data.
        facts: what is said about the source of records.
        how: which preferences are written and how.
        responses: files or folders with the responses of battles.

    Returns:
        The exit code: 3 if a model has no score, so that no record of it was written, or if a part
        of the sources could not be read or lacks texts; else 0.
    """
    _reject_options_of_others(context, to)
    if to != PREFERENCE:
        return _export_records([str(source) for source in query.sources], to, Path(output), facts)
    place = options.OutputFile((".jsonl", ".parquet")).convert(output, None, context)
    return _export_preferences(query, responses, place, how)


def _reject_options_of_others(context: click.Context, to: str) -> None:
    """Raise UsageError if an option was typed that is for other exports than `to`."""
    for param in context.command.params:
        name = param.name or ""
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not is_typed or name in OF_ALL:
            continue
        targets = OF_RECORDS.get(name, (PREFERENCE,))
        if to not in targets:
            raise UsageError(
                f"{param.opts[0]} has no effect on --to {to}: it is for {' and '.join(targets)}; "
                "leave it out"
            )


def _export_records(rankings: Collection[str], to: str, output: Path, facts: ExportOptions) -> int:
    """Write the records of rankings into a folder.

    Args:
        rankings: files of rankings.
        to: which records, `EEE` or `HUB`.
        output: the folder, which is made if it is missing.
        facts: what is said about the source of records.

    Returns:
        The exit code: 3 if a ranker gave a model no score, so that a record is missing; else 0.

    Raises:
        UsageError: `output` is a file, a fact is malformed, there is no such file of a ranking, or
            two different records would have the same path.
        DataError: a file is not a ranking.
    """
    from podium.storage.atomic_files import write_text

    if output.exists() and not output.is_dir():
        raise UsageError(f"-o {output}: name a folder, as --to {to} writes a file per model")
    _check_facts(facts)
    records = _collect_records(rankings, to, facts)
    for place, text in records.files.items():
        (output / place).parent.mkdir(parents=True, exist_ok=True)
        write_text(output / place, text, errors="backslashreplace")
    for name in records.unbounded:
        tell(f"not written: {name} has no score, because the data do not bound it")
    for name in records.without_task:
        tell(
            f"note: {name} does not say of which task its items are, so that its name stands for "
            "it: --task NAME says it"
        )
    tell(f"wrote {len(records.files):,} {plural('file', len(records.files))} into {output}")
    return 3 if records.unbounded else 0


@dataclass(frozen=True, slots=True)
class ExportedRecords:
    """Records of rankings.

    Attributes:
        files: text by path, relative to the folder of `-o`.
        unbounded: models without a score as `MODEL (RANKER)`; they have no record by that ranker.
        without_task: files of rankings whose records have the name of the file as task.
    """

    files: dict[str, str]
    unbounded: list[str]
    without_task: list[str]


def _check_facts(facts: ExportOptions) -> None:
    """Raise UsageError if the dataset or the link is malformed."""
    if facts.dataset is not None and not DATASET.fullmatch(facts.dataset):
        raise UsageError(f"--dataset {facts.dataset!r}: write ORG/NAME, as openai/gsm8k")
    if facts.source_url is not None and not LINK.fullmatch(facts.source_url):
        raise UsageError(
            f"--source-url {facts.source_url!r}: write a web address, as "
            "https://example.org/ranking.html"
        )


def _collect_records(rankings: Collection[str], to: str, facts: ExportOptions) -> ExportedRecords:
    """Read rankings, and make the records of each; a file that is named twice is read once.

    Args:
        rankings: files of rankings.
        to: which records, `EEE` or `HUB`.
        facts: what is said about the source of records.

    Raises:
        DataError: a file is not a ranking.
        UsageError: there is no such file, or two different records would have the same path.
    """
    from podium.rankers.json_files import REMEDY, read_ranking
    from podium.show.report.every_eval_ever import every_eval_ever_files
    from podium.show.report.exports import hub_result_files, task_of_standings

    records = ExportedRecords(files={}, unbounded=[], without_task=[])
    now = time.time()
    for path, name in _files_of_rankings(rankings).items():
        ranking = read_ranking(path)
        if ranking is None:
            raise DataError("is not a ranking", remedy=REMEDY, source=name)
        if to == EEE:
            files = every_eval_ever_files(path.stem, ranking, facts, now)
        else:
            files = hub_result_files(path.stem, ranking, facts)
        for place, text in files:
            if records.files.setdefault(place, text) != text:
                raise UsageError(
                    f"two results would be {place}: export one ranking at a time, each to its own "
                    "folder"
                )
        for standings in ranking.standings:
            for entry in standings.entries:
                if entry.score is None:
                    records.unbounded.append(f"{entry.model} ({standings.ranker})")
        tasks = [task_of_standings(each, facts) for each in ranking.standings]
        if None in tasks and facts.dataset is None:
            records.without_task.append(name)
    return records


def _files_of_rankings(sources: Iterable[str]) -> dict[Path, str]:
    """Return the names of the files of rankings as typed, by path.

    Of a file in a remote store, the path is that of a local copy. A file that is named twice is
    there once, with its first name. Secrets are removed from the names.

    Raises:
        UsageError: there is no such file.
    """
    files: dict[Path, str] = {}
    for source in sources:
        path = named_file(source)
        if path is None and not Path(source).exists():
            raise UsageError(f"no such file: {without_secrets(source)}")
        files.setdefault((path or Path(source)).resolve(), without_secrets(source))
    return files


def _export_preferences(
    query: BattleQuery, responses: tuple[str, ...], place: Place, how: PreferenceOptions
) -> int:
    """Write the battles of a query as preference data.

    Args:
        query: the sources and how to read them.
        responses: files or folders with the responses, beside those in the sources.
        place: the file to write.
        how: which preferences are written and how.

    Returns:
        The exit code: 3 if a part of the sources or responses could not be read, or if a pair is
        withheld because its texts are missing; else 0.

    Raises:
        UsageError: a source is a ranking, or no pair has its texts.
        DataError: there is no preference to write.
    """
    from podium.data.reading.judgments import read_query
    from podium.show.page.sources import collect_texts
    from podium.show.report.preference_data import (
        TEXTLESS,
        preference_data,
        write_preferences,
    )

    _reject_rankings(query)
    battles = read_query(query)
    judgments = read_query(query.without_merging())
    sources = [str(source) for source in query.sources]
    texts = collect_texts(judgments, sources, responses, query.allow)
    data = preference_data(battles, texts, how)
    _require_texts(data, texts, sources, responses)
    _require_rows(data)
    write_preferences(data.rows, place, how.form)
    lost = [*battles.lost, *texts.lost]
    tell_notices(lost)
    if data.withheld[TEXTLESS]:
        for note in texts.notes:
            tell(f"note: {note}")
    missing = "" if not battles.missing else f"; {quantity(battles.missing, 'battle')} missing"
    tell(f"wrote {_describe_preferences(data, str(place))}{missing}")
    return 3 if lost or data.withheld[TEXTLESS] else 0


def _reject_rankings(query: BattleQuery) -> None:
    """Raise UsageError if a source is a ranking, which has no battles."""
    from podium.rankers.json_files import read_ranking

    for source in query.sources:
        path = named_file(source) if isinstance(source, str) else None
        if path is not None and read_ranking(path) is not None:
            raise UsageError(
                f"{without_secrets(str(source))} is a ranking, which holds no battles: give the "
                "verdicts that it ranks"
            )


def _require_texts(
    data: "PreferenceData",
    texts: "BattleTexts",
    sources: Collection[str],
    responses: Collection[str],
) -> None:
    """Raise UsageError if pairs have verdicts, and no pair has both texts and the question.

    Args:
        data: the preferences, and the numbers of pairs that are withheld.
        texts: the texts that were found.
        sources: sources of the verdicts, for the message.
        responses: files of responses that the user named, for the message.
    """
    from podium.show.report.preference_data import SCORELESS, TEXTLESS, UNPARSED

    decided = data.pairs - data.withheld[UNPARSED] - data.withheld[SCORELESS]
    if not decided or data.withheld[TEXTLESS] < decided:
        return
    if not texts.responses:
        raise UsageError(
            f"no texts of responses in {some_paths([*sources])}: preference data need them; name "
            "the files that hold them, as --responses answers/"
        )
    where = some_paths([*responses]) if responses else "the sources"
    problem = (
        f"none of {quantity(decided, 'pair')} has its question and both responses in {where}: "
        "responses and verdicts must name items and models alike; --responses 'NAME=PATH' gives a "
        "model the name that it has in the ranking"
    )
    raise UsageError(". ".join([problem, *texts.notes]))


def _require_rows(data: "PreferenceData") -> None:
    """Raise DataError if there is no preference to write, with the reasons.

    The remedy is that of the most frequent reason.
    """
    if data.rows:
        return
    from podium.show.report.preference_data import REMEDIES_OF_REASONS

    remedy = "give verdicts that have a winner"
    if data.withheld:
        [(most_frequent, _)] = data.withheld.most_common(1)
        remedy = REMEDIES_OF_REASONS[most_frequent]
    raise DataError(f"no preference to write: {_describe_preferences(data)}", remedy=remedy)


def _describe_preferences(data: "PreferenceData", place: str | None = None) -> str:
    """Write how many pairs are preferences, and how many are withheld for which reason.

    Args:
        data: the preferences.
        place: the file that they were written to; None if nothing was written.
    """
    from podium.show.report.preference_data import FLIPS, REASONS, TIES

    written = f"{len(data.rows):,} of {quantity(data.pairs, 'pair')}"
    if place is not None:
        written += f" to {place}"
    options_of_reasons = {FLIPS: "--flips", TIES: "--ties"}
    reasons = []
    for name in REASONS:
        number = data.withheld[name]
        # The other reasons are no nouns.
        words = plural(name, number) if name in options_of_reasons else name
        if number:
            reasons.append(f"{number:,} {words}")
    if not reasons:
        return written
    added = [flag for name, flag in options_of_reasons.items() if data.withheld[name]]
    also = f" ({' and '.join(added)} would write them)" if added else ""
    return f"{written}; withheld: {', '.join(reasons)}{also}"
