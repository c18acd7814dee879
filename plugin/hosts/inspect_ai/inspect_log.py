"""The format `inspect`: verdicts, scores, texts and costs in logs, read by Inspect, which is loaded with the first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from podium.errors import DataError, UsageError
from podium.hookspecs import GatheredBattles, Reading, SourceFiles
from podium.hosts.inspect_ai.log_contents import (
    ASKED,
    BATTLES,
    JUDGMENTS,
    NAMESPACE,
    ROUND,
    battles_of,
    is_beside_logs,
    is_log,
    is_tournament,
)
from podium.scorers.judging import reply_of

SUFFIXES = (".eval", ".json")


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Refuse a table: logs are read as files."""
    del records
    raise DataError("no Inspect log", remedy="give a file that `inspect eval` wrote, .eval or .json")


def gather(sources: Sequence[SourceFiles], reading: Reading) -> GatheredBattles:
    """Read the logs among what was found, and leave the other files alone.

    A log of which nothing can be read is left out and said, unless it is the only one.

    Raises:
        UsageError: there are logs, and inspect-ai is not installed.
        DataError: the only log is not whole, or nothing in it is scored.
    """
    ours = {path: source.label for source in sources for path in source.paths if path.suffix in SUFFIXES}
    beside = {path for path in ours if is_beside_logs(path)}
    logs = {path: label for path, label in ours.items() if path not in beside and is_log(path)}
    if not logs:
        return GatheredBattles(claimed=beside)
    try:
        from podium.hosts.inspect_ai.folders import read_logs
    except ImportError as error:
        raise UsageError(f"{next(iter(logs))} is an Inspect log, and reading it needs inspect-ai ({error})") from None
    gathered = read_logs(logs, reading)
    return replace(gathered, claimed=gathered.claimed | beside)


def battle_texts(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a row per judgment of a tournament's log: item, models, texts, order, judge, words; none elsewhere.

    Raises:
        DataError: it is no whole log.
    """
    from podium.hosts.inspect_ai.logs import read_by_inspect

    if not is_log(path) or not is_tournament(read_by_inspect(path, header_only=True)):
        return
    log = read_by_inspect(path, resolve_attachments=True, exclude_fields={"events", "messages"})
    for sample in log.samples or []:
        kept = sample.store.get(NAMESPACE) or {}
        if ROUND in sample.metadata or not kept:
            continue
        # The store keeps the replies in the order of the battles.
        for battle, replies in zip(battles_of(sample.metadata), kept.get(BATTLES, [kept]), strict=False):
            for shown in replies[JUDGMENTS]:
                words = "\n\n".join(reply_of(reply).text for reply in shown["replies"])
                yield {**battle, "order": shown["order"], "judge": shown["judge"], "words": words}


def costs_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a row per answer of a model in a log: tokens in and out, working seconds, money; None where it is unknown.

    Of an ordinary eval every sample is an answer; of a tournament those that models were asked for on demand.

    Raises:
        DataError: it is no whole log.
    """
    if not is_log(path):
        return
    from inspect_ai.log import read_eval_log_sample_summaries

    from podium.hosts.inspect_ai.logs import read_by_inspect

    log = read_by_inspect(path, header_only=True)
    of_tournament = is_tournament(log)
    for sample in read_eval_log_sample_summaries(str(path)):
        names = sample.metadata.get(ASKED, ()) if of_tournament else (log.eval.model,)
        for name in () if sample.error or not sample.completed else names:
            usage = sample.model_usage.get(name)
            yield {
                "model": name,
                "tokens in": usage and usage.input_tokens,
                "tokens out": usage and usage.output_tokens,
                "seconds": sample.working_time if len(names) == 1 else None,
                "money": usage and usage.total_cost,
            }
