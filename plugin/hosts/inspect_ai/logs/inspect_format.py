"""The file format `inspect`: read verdicts, scores, texts and costs from logs.

Inspect is imported when the first log is read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import DataError, UsageError, import_failure, install_hint, named_in_errors
from podium.hookspecs import GatheredBattles, Reading, SourceFiles
from podium.hosts.inspect_ai.logs.log_files import LOG_SUFFIXES, is_beside_logs, is_log
from podium.run_record import RunRecord
from podium.scorers.judging import words_of_judgment

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.log import EvalLog


def read(records: "pd.DataFrame") -> "pd.DataFrame":
    """Raise DataError in any case: a table is not a log."""
    del records
    raise DataError(
        "no Inspect log", remedy="give a file that `inspect eval` wrote, .eval or .json"
    )


def gather(sources: Sequence[SourceFiles], reading: Reading) -> GatheredBattles:
    """Read the logs among some files.

    A log that cannot be read is left out with a message, unless it is the only one. The result is
    empty if there are no logs.

    Raises:
        UsageError: there is a log and Inspect cannot be imported, or no log has a metric that is
            asked for.
        DataError: the only log cannot be read, no log has rows, or logs contradict each other.
    """
    logs, beside = _logs_and_files_beside(sources)
    if not logs:
        return GatheredBattles(claimed=beside)
    try:
        from podium.hosts.inspect_ai.logs.folders import read_logs
    except Exception as error:
        missing = f"reading it needs inspect-ai: {install_hint('inspect')}"
        why = import_failure("inspect-ai", error) if find_spec("inspect_ai") else missing
        raise UsageError(f"{next(iter(logs))} is an Inspect log, and {why}") from None
    gathered = read_logs(logs, reading)
    return replace(gathered, claimed=gathered.claimed | beside)


def runs_in_logs(sources: Sequence[SourceFiles], reading: Reading) -> list[RunRecord]:
    """Return the records of the ordinary evals in logs that count, named as in a ranking.

    Which logs count, for example the newest of several of one model, is said by `choose_logs`.
    Logs of tournaments are ignored.

    Args:
        sources: files that are logs, and others, which are ignored.
        reading: says whether names that look the same are joined.

    Raises:
        DataError: the only log is damaged, or logs contradict each other (`choose_logs`).
        ImportError: there is a log, and Inspect cannot be imported.
    """
    logs, _ = _logs_and_files_beside(sources)
    if not logs:
        return []
    from podium.hosts.inspect_ai.logs.folders import choose_logs

    counted_logs = choose_logs(logs, names_joined=reading.names_joined)
    return [
        counted_logs.records[log.path]
        for log in counted_logs.logs
        if log.path in counted_logs.records
    ]


def _logs_and_files_beside(
    sources: Sequence[SourceFiles],
) -> tuple[dict[Path, str | None], frozenset[Path]]:
    """Return the logs among the files of sources, and the files that lie beside logs.

    Files that are neither are left out.

    Returns:
        The label of each log, or None, by path; and the files beside logs (`is_beside_logs`).
    """
    label_of_path = {}
    for source in sources:
        for path in source.paths:
            if path.suffix in LOG_SUFFIXES:
                label_of_path[path] = source.label
    beside = frozenset(path for path in label_of_path if is_beside_logs(path))
    logs = {
        path: label for path, label in label_of_path.items() if path not in beside and is_log(path)
    }
    return logs, beside


def battle_texts(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a row per battle and a row per judgment of a tournament's log; nothing for other files.

    Each row of a battle is followed by the rows of its judgments. It has the fields of
    `BattleMetadata`, `task` if all items are of one task, and `media`, the contents of the
    instruction beside its text as text. The row of a judgment has the same keys and `order`,
    `judge`, `words` (the judge's reply), and `carried`, which is True if an earlier log has the
    reply, too. Invalidated samples are left out. An ordinary eval that `pairwise` judged has a row
    per battle with the text of the reference; see `_reference_rows`.

    Raises:
        DataError: the log is damaged.
    """
    if not is_log(path):
        return
    from podium.hosts.inspect_ai.logs.podium_entries import (
        battles_with_replies,
        read_tournament,
    )
    from podium.hosts.inspect_ai.logs.stored_samples import read_by_inspect
    from podium.hosts.inspect_ai.media import media_as_text

    with named_in_errors(path):
        header = read_by_inspect(path, header_only=True)
        tournament = read_tournament(header)
        if tournament is None:
            yield from _reference_rows(path, header)
            return
        task = {"task": tournament.tasks[0]} if len(tournament.tasks) == 1 else {}
        unused = {"events", "messages"}
        log = read_by_inspect(path, resolve_attachments=True, exclude_fields=unused)
        valid = [sample for sample in log.samples or [] if sample.invalidation is None]
        for sample in valid:
            media = {"media": media_as_text(sample.input)}
            for battle, judgments in battles_with_replies(sample):
                about = {**battle.to_log(), **task, **media}
                yield about
                for judgment in judgments:
                    yield {
                        **about,
                        "order": judgment["order"],
                        "judge": judgment["judge"],
                        "words": words_of_judgment(judgment),
                        "carried": bool(judgment.get("carried")),
                    }


def _reference_rows(path: Path, header: "EvalLog") -> Iterator[dict[str, Any]]:
    """Yield a row per battle of `pairwise` in an ordinary eval, and a row per judgment.

    Nothing is yielded for other evals. Each row of a battle is followed by the rows of its
    judgments whose replies the score has. It has the keys of `reference_texts_in`, without
    `judgments`, and:

    - `task`: the task of the eval.
    - `run_model`: the name of model_a in this log. The reader of responses has its text under the
      name of its run.
    - `reference`: the file of the reference as the eval named it, if the log lacks its text
      (`response_b`); else None.

    The row of a judgment also has `order`, `judge` and `words`, the judge's reply.
    """
    from podium.hosts.inspect_ai.logs.podium_entries import reference_texts_in
    from podium.hosts.inspect_ai.logs.score_summaries import may_have_verdicts
    from podium.hosts.inspect_ai.logs.stored_samples import samples_of

    if not may_have_verdicts(path, header):
        return
    options = {scorer.name: scorer.options or {} for scorer in header.eval.scorers or ()}
    for sample in samples_of(path):
        if sample.invalidated is not None:
            continue
        for name, score in sample.scores.items():
            reference_option = options.get(name, {}).get("reference")
            reference_texts = (
                reference_option
                if isinstance(reference_option, str)
                else ",".join(map(str, reference_option or ()))
            )
            for row in reference_texts_in(score):
                judgments = row.pop("judgments")
                lacks = row["response_b"] is None
                task_and_model = {"task": header.eval.task, "run_model": header.eval.model}
                about = {**row, **task_and_model, "reference": reference_texts if lacks else None}
                yield about
                for judgment in judgments:
                    yield {**about, **judgment}


def costs_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a row per answer of a model, with its tokens, seconds and money.

    The keys are `model`, `tokens in`, `tokens out`, `seconds` (working time) and `money`. Values
    are None if unknown. Nothing is yielded for a file that is no log.

    In an ordinary eval, each sample has one answer. In a tournament, each sample that requested
    answers has one per model. The seconds of a sample with several answers are not those of one, so
    they are unknown. Samples that failed or did not complete are left out.

    Raises:
        DataError: the log is damaged.
    """
    if not is_log(path):
        return
    from podium.hosts.inspect_ai.logs.podium_entries import REQUEST_KEY, read_tournament
    from podium.hosts.inspect_ai.logs.stored_samples import read_by_inspect, summaries_of

    log = read_by_inspect(path, header_only=True)
    tournament = read_tournament(log)
    for sample in summaries_of(path):
        if sample.error or not sample.completed:
            continue
        names = sample.metadata.get(REQUEST_KEY, ()) if tournament else (log.eval.model,)
        for name in names:
            usage = sample.model_usage.get(name)
            yield {
                "model": name,
                "tokens in": usage.input_tokens if usage else None,
                "tokens out": usage.output_tokens if usage else None,
                "seconds": sample.working_time if len(names) == 1 else None,
                "money": usage.total_cost if usage else None,
            }
