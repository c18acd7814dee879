"""Read recorded battles that are to be judged again, with the responses if logs hold them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inspect_ai.log import EvalSample

from podium.data.formats.run_folders import FiledRun
from podium.data.item_columns import values_by_item
from podium.data.pairings import Pairing, pairing
from podium.errors import DataError, UsageError, named_in_errors
from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments
from podium.hosts.inspect_ai.logs.folders import find_logs, task_prefixes, tasks_of
from podium.hosts.inspect_ai.logs.judged_runs import judged_runs
from podium.hosts.inspect_ai.logs.podium_entries import (
    BattleMetadata,
    is_tournament,
    parse_battles,
    read_tournament,
    verdict_rows_in,
)
from podium.hosts.inspect_ai.logs.responses_of_evals import responses_in_evals
from podium.hosts.inspect_ai.logs.stored_samples import whole_samples
from podium.hosts.inspect_ai.media import media_as_text
from podium.notices.notice import Notice
from podium.responses.answers import QuestionRow, ResponseRow
from podium.responses.assembly import assemble
from podium.responses.collection import AGREEING_FIELDS, Responses
from podium.responses.groups_of_responses import with_groups
from podium.responses.preference_pairs import PREFERRED_MODEL, read_pairs
from podium.responses.transcripts import AS_RECORDED, Show, work_in
from podium.wording import some_paths

RECORDED = "recorded"
"""The tournament that plays recorded battles."""


@dataclass(frozen=True, slots=True)
class RecordedBattles:
    """Battles to be re-judged.

    Attributes:
        pairings: the battles, each once, in the order in which they were found.
        repeats: number of repeats that each judge has already judged, by name of the judge; empty
            if no judge is known.
        responses: the responses; None if they are in other files.
        preferred: name of the model whose responses humans are known to prefer; None if no
            preferences are known.
        lacking: models without responses in the logs of their battles, if no battle has both.
        lost: notes on logs and files that could not be read.
    """

    pairings: tuple[Pairing, ...]
    repeats: dict[str, int]
    responses: Responses | None = None
    preferred: str | None = None
    lacking: tuple[str, ...] = ()
    lost: tuple[Notice, ...] = ()


def recorded_battles(*sources: str, show: Show) -> RecordedBattles:
    """Read the battles to re-judge.

    The first of these kinds that the sources have counts: battles in logs of tournaments; battles
    in logs of ordinary evals, which `pairwise` judged or scores decided; pairs of responses with a
    known preference; verdicts in any known format. Logs of the run that re-judges these sources are
    ignored.

    Args:
        *sources: files, folders or globs, each optionally `label=path`.
        show: what is shown of agents where logs do not say it.

    Raises:
        UsageError: there are no sources, or they have no battle.
        DataError: logs have different answers of a model to one item.
    """
    if not sources:
        raise UsageError(
            f"{RECORDED} needs battles to re-judge: "
            "-T battles=LOG (logs, or verdicts beside responses=)"
        )
    counted_logs = find_logs(sources)
    other_tournaments = [
        log
        for log in counted_logs.logs
        if is_tournament(log.header) and not _is_own_log(log, sources)
    ]
    if other_tournaments:
        return replace(_battles_in_logs(other_tournaments), lost=tuple(counted_logs.lost))
    evals = [log.path for log in counted_logs.logs if not is_tournament(log.header)]
    if evals:
        return _battles_in_evals(sources, evals, show)
    pairs = read_pairs(sources, show)
    if pairs:
        pairings = tuple(pairing(item.id, *pairs.models) for item in pairs.items)
        return RecordedBattles(
            pairings=pairings, repeats={}, responses=pairs, preferred=PREFERRED_MODEL
        )
    return _battles_in_tables(sources)


def _is_own_log(log: FiledRun, sources: Sequence[str]) -> bool:
    """Return whether a log belongs to the run that re-judges `sources`.

    Such a log is an unfinished log of the task `recorded`, or the log of a shard of this run.
    """
    spec = log.header.eval
    if spec.task.rpartition("/")[2] != RECORDED:
        return False
    if log.header.status != "success":
        return True
    typed = flatten_arguments(spec.task_args).get("battles") or ""
    own_sources = typed if isinstance(typed, str) else ",".join(typed)
    tournament = read_tournament(log.header)
    is_shard = tournament is not None and tournament.shard is not None
    return is_shard and own_sources == ",".join(sources)


def _battles_in_evals(sources: Sequence[str], paths: Sequence[Path], show: Show) -> RecordedBattles:
    """Read battles, the numbers of repeats, and responses from sources with logs of ordinary evals.

    If no battle has both responses, the result has no responses, and `lacking` names the models
    without any.

    Args:
        sources: the sources.
        paths: the logs of ordinary evals in them.
        show: what is shown of agents where logs do not say it.

    Raises:
        UsageError: no verdict names its item.
        DataError: a log is damaged, or logs have different answers of a model to one item.
    """
    record = _battles_in_tables(sources)
    responses = responses_in_evals(sources, paths, show)
    unanswered = responses.battles_without_answer(record.pairings)
    if len(unanswered) < len(record.pairings):
        return replace(record, responses=responses)
    models = {name for battle in record.pairings for name in (battle.a, battle.b)}
    models_without_text = sorted(name for name in models if not responses.texts.get(name))
    return replace(record, lacking=tuple(models_without_text))


def _battles_in_tables(sources: Sequence[str]) -> RecordedBattles:
    """Read battles, each once, and the numbers of repeats from verdicts in any known format.

    Verdicts without an item are left out. Without a column of judges, `repeats` is empty. Without a
    column of repeats, each judge has judged one. The result has no responses.

    Raises:
        UsageError: no verdict names its item.
    """
    from podium.data.reading.judgments import read_battles

    battles = read_battles(*sources, merge=False)
    table = battles.table
    table = table[table["item"].notna()] if battles.has_items else table[:0]
    if not len(table):
        raise UsageError(
            f"battles={some_paths(sources)}: no row names its item, which responses go by: "
            "name the column"
        )
    met = zip(table["item"], table["model_a"], table["model_b"], strict=True)
    distinct = dict.fromkeys(pairing(str(item), str(a), str(b)) for item, a, b in met)
    pairings = tuple(distinct)
    if "judge" not in table:
        return RecordedBattles(pairings, repeats={}, lost=battles.lost)
    if "repeat" not in table:
        table = table.assign(repeat=0)
    last = table["repeat"].fillna(0).groupby(table["judge"].astype(str)).max()
    repeats = {str(name): int(number) + 1 for name, number in last.items()}
    return RecordedBattles(pairings, repeats, lost=battles.lost)


def _responses_of(
    sample: EvalSample,
    battle: BattleMetadata,
    item: str,
    source: str,
    columns: Mapping[str, str],
) -> Iterator[ResponseRow]:
    """Yield the two responses of a battle, that of model_a first, as a sample of a log shows them.

    Args:
        sample: the sample.
        battle: one of its battles.
        item: id of the item, with the prefix of its task if the logs are of several tasks.
        source: name of the log.
        columns: the further columns of the item that the log keeps, by name.
    """
    facts_of_item = {name: getattr(battle, name) for name in AGREEING_FIELDS}
    facts_of_item["media"] = media_as_text(sample.input)
    question = QuestionRow(
        item, **facts_of_item, source=source, row=f"sample {sample.id}", columns=columns
    )
    for name, text in ((battle.model_a, battle.response_a), (battle.model_b, battle.response_b)):
        work = replace(work_in(text), limit=AS_RECORDED) if battle.transcript else None
        yield ResponseRow(
            question=question,
            model=name,
            text=text,
            reason=None,
            number=battle.response or 1,
            work=work,
        )


def _add_answer(
    answers: dict[tuple[str, str, int], ResponseRow], response: ResponseRow, item: str
) -> None:
    """Add a response to `answers`, unless they have one of the same item, model and number.

    Raises:
        DataError: they have another text of this item, model and number.
    """
    first = answers.setdefault((item, response.model, response.number), response)
    if first.text != response.text:
        than = f"than in {first.question.source}"
        raise DataError(
            f"another answer of {response.model!r} to {item!r} {than}",
            remedy="re-judge the logs one at a time: their answers differ",
        )


def _battles_in_logs(logs: Sequence[FiledRun]) -> RecordedBattles:
    """Read battles, repeats and responses from tournaments' logs.

    A battle comes once for each model that was set to be shown first in it. No response counts as
    missing.

    Raises:
        UsageError: no battle was played in the logs.
        DataError: a log is damaged, or logs have different answers of a model to one item.
    """
    prefix_of = task_prefixes(logs)
    pairings: dict[Pairing, None] = {}
    repeats: dict[str, int] = defaultdict(int)
    answers: dict[tuple[str, str, int], ResponseRow] = {}
    for log in logs:
        with named_in_errors(log.path):
            tournament = read_tournament(log.header)
            columns_of_items = values_by_item(tournament.item_columns) if tournament else {}
            for sample in whole_samples(log.path):
                for score in (sample.scores or {}).values():
                    for row in verdict_rows_in(score):
                        # Repeats count from 0.
                        repeats[row["judge"]] = max(repeats[row["judge"]], row["repeat"] + 1)
                for battle in parse_battles(sample.metadata):
                    item = f"{prefix_of[log.path]}{battle.item}"
                    played = pairing(item, battle.model_a, battle.model_b, battle.first)
                    pairings.setdefault(played)
                    columns_of_item = columns_of_items.get(battle.item, {})
                    for response in _responses_of(
                        sample, battle, item, str(log.path), columns_of_item
                    ):
                        _add_answer(answers, response, item)
    if not pairings:
        raise UsageError(
            f"no battle was played in {some_paths([log.path for log in logs])}: name another log"
        )
    responses = assemble(list(answers.values()), [])
    sources = tuple(str(log.path) for log in logs)
    tasks = {task for log in logs for task in tasks_of(log.header)}
    tournaments = [read_tournament(log.header) for log in logs]
    # Only recorded battles are played again, so responses to other items do not count as missing.
    missing: dict[str, dict[str, str]] = {name: {} for name in responses.models}
    whole = replace(responses, missing=missing, sources=sources, tasks=tuple(sorted(tasks)))
    facts = judged_runs((log.header, log.header.eval.task) for log in logs)
    whole = replace(whole, runs=facts.runs, questions=facts.questions, accepted=facts.accepted)
    columns_of_groups = {tournament.cluster for tournament in tournaments if tournament is not None}
    common_column = columns_of_groups.pop() if len(columns_of_groups) == 1 else None
    whole = with_groups(whole, common_column, required=False)
    return RecordedBattles(pairings=tuple(pairings), repeats=dict(repeats), responses=whole)
