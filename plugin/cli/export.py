"""podium export: rankings in, records of public collections out."""

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli import options
from podium.errors import DataError, UsageError
from podium.printable import tell
from podium.wording import plural

if TYPE_CHECKING:
    from podium.show.report.exports import ExportOptions

EEE = "every-eval-ever"
HUB = "hf-eval-results"
DATASET = re.compile(r"[\w.-]+/[\w.-]+")
LINK = re.compile(r"https?://[^\s/]+\S*")


@options.command("Options", "Write rankings as records of Every Eval Ever or of the HF hub.")
@click.argument(
    "rankings",
    nargs=-1,
    required=True,
    metavar="RANKING...",
    type=click.Path(exists=True, path_type=Path),
)
@options.choice_option("--to", f"{EEE} {HUB}", "The records to write.", required=True, default=None)
@options.output_folder(required=True)
@click.option(
    "--dataset", metavar="ID", help="The items' dataset on the Hugging Face hub, as openai/gsm8k."
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
def export(rankings: tuple[Path, ...], to: str, output: Path, **given: Any) -> int:
    """Write each model's scores in RANKING..., files of `podium rank --format json`, as records for
    others.

    \b
    podium export ranking.json --to every-eval-ever -o eee/
    podium export ranking.json --to hf-eval-results --dataset ORG/NAME -o cards/
    \f

    Args:
        rankings: the files of rankings.
        to: the records to write, `EEE` or `HUB`.
        output: the folder, which is made if it is missing.
        **given: the other options, by the names of the fields of `ExportOptions`.

    Returns:
        The exit code: 3 if a model has no score, so that no record of it was written, else 0.
    """
    from podium.show.report.exports import ExportOptions
    from podium.storage.atomic_files import write_text

    facts = ExportOptions(**given)
    _check_facts(to, facts)
    records = _collect_records(rankings, to, facts)
    for place, text in records.files.items():
        (output / place).parent.mkdir(parents=True, exist_ok=True)
        write_text(output / place, text, errors="backslashreplace")
    for name in records.unbounded:
        tell(f"not written: {name} has no score, because the data do not bound it")
    tell(f"wrote {len(records.files):,} {plural('file', len(records.files))} into {output}")
    return 3 if records.unbounded else 0


@dataclass(frozen=True, slots=True)
class ExportedRecords:
    """Records of rankings.

    Attributes:
        files: text by path, relative to the folder of `-o`.
        unbounded: models without a score as `MODEL (RANKER)`; they have no record by that ranker.
    """

    files: dict[str, str]
    unbounded: list[str]


def _check_facts(to: str, facts: "ExportOptions") -> None:
    """Raise UsageError if `to` is the hub's records and no dataset is named, or if the dataset or
    the link is malformed."""
    if to == HUB and facts.dataset is None:
        raise UsageError(
            f"--to {HUB}: name the benchmark's dataset on the hub, as --dataset openai/gsm8k"
        )
    if facts.dataset is not None and not DATASET.fullmatch(facts.dataset):
        raise UsageError(f"--dataset {facts.dataset!r}: write ORG/NAME, as openai/gsm8k")
    if facts.source_url is not None and not LINK.fullmatch(facts.source_url):
        raise UsageError(
            f"--source-url {facts.source_url!r}: write a web address, as "
            "https://example.org/ranking.html"
        )


def _collect_records(
    rankings: tuple[Path, ...], to: str, facts: "ExportOptions"
) -> ExportedRecords:
    """Read rankings, and make the records of each; a file that is named twice is read once.

    Raises:
        DataError: a file is not a ranking.
        UsageError: two different records would have the same path.
    """
    from podium.rankers.json_files import REMEDY, read_ranking
    from podium.show.report.exports import every_eval_ever_files, hub_result_files

    records = ExportedRecords({}, [])
    now = time.time()
    for path in {path.resolve(): path for path in rankings}.values():
        ranking = read_ranking(path)
        if ranking is None:
            raise DataError("is not a ranking", remedy=REMEDY, source=str(path))
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
    return records
