"""Recorded battles on their way to be re-judged: who met whom on what, the answers, and how often judges were asked.

Logs of tournaments hold all of it. Verdicts in other files hold the pairings alone: the answers come beside them.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from podium.errors import DataError, UsageError
from podium.formats.runs import FiledRun
from podium.hosts.inspect_ai.folders import find_logs, task_prefixes, tasks_of
from podium.hosts.inspect_ai.log_contents import (
    FIRST,
    RESPONSE,
    ROUND,
    SHARD,
    battles_of,
    is_tournament,
    judgment_rows,
)
from podium.hosts.inspect_ai.logs import samples_with_media
from podium.hosts.inspect_ai.media import media_as_text
from podium.responses.answers import QuestionRow, ResponseRow
from podium.responses.assembly import assemble
from podium.responses.collection import Responses
from podium.text import some
from podium.tournaments.schedule import Pairing, pairing

RECORDED = "recorded"
"""The tournament that plays recorded battles."""


@dataclass(frozen=True, slots=True)
class RecordedBattles:
    """What is re-judged.

    Attributes:
        pairings: who met whom on which item; who was shown first, where the tournament said so.
        asked: how often each judge was asked about them at most: its next verdicts are repeats.
        responses: the answers that met; None where the source holds none.
    """

    pairings: tuple[Pairing, ...]
    asked: dict[str, int]
    responses: Responses | None = None

    def without_answers(self, responses: Responses) -> list[Pairing]:
        """Return the battles of which one side has no response here."""
        keys = {item.id: item.keys for item in responses.items}
        return [
            own
            for own in self.pairings
            if not all(
                any(key in responses.texts.get(name, {}) for key in keys.get(own.item, ())) for name in (own.a, own.b)
            )
        ]


def recorded_battles(*sources: str) -> RecordedBattles:
    """Read the battles of logs of tournaments, or else of verdicts in any known format.

    Raises:
        UsageError: no source is named, or none of them holds battles.
        DataError: two answers of a model to one item, which no one battle can hold.
    """
    if not sources:
        raise UsageError(
            f"{RECORDED} needs battles to judge again: -T battles=LOG (logs, or verdicts beside responses=)"
        )
    chosen = [log for log in find_logs(sources) if is_tournament(log.header) and not _is_own(log, sources)]
    return _battles_in_logs(chosen) if chosen else _battles_in_tables(sources)


def _is_own(log: FiledRun, sources: Sequence[str]) -> bool:
    """Whether a log, which may lie in the folder that battles are read from, is of the run that judges them again.

    It is, where it did not end, or is one of the shards of it.
    """
    spec = log.header.eval
    if spec.task.rpartition("/")[2] != RECORDED:
        return False
    typed = spec.task_args.get("battles") or ""
    is_same = (typed if isinstance(typed, str) else ",".join(typed)) == ",".join(sources)
    return log.header.status != "success" or (is_same and SHARD in (spec.metadata or {}))


def _battles_in_tables(sources: Sequence[str]) -> RecordedBattles:
    from podium.reading.judgments import read_battles

    battles = read_battles(*sources, merge=False)
    table = battles.table[battles.table["item"].notna()] if battles.has_items else battles.table[:0]
    if not len(table):
        raise UsageError(f"battles={','.join(sources)}: no row says its item, and answers go by item: name the column")
    met = zip(table["item"], table["model_a"], table["model_b"], strict=True)
    pairings = tuple(dict.fromkeys(pairing(str(item), str(a), str(b)) for item, a, b in met))
    if "judge" not in table:
        return RecordedBattles(pairings, {})
    repeat = table["repeat"].fillna(0) if "repeat" in table else 0 * table["credit"].fillna(0)
    last = repeat.groupby(table["judge"].astype(str)).max()
    return RecordedBattles(pairings, {str(name): int(number) + 1 for name, number in last.items()})


def _battles_in_logs(logs: Sequence[FiledRun]) -> RecordedBattles:
    prefix_of = task_prefixes(logs)
    pairings: dict[Pairing, None] = {}
    asked: dict[str, int] = defaultdict(int)
    answers: dict[tuple[str, str, int], ResponseRow] = {}
    for log in logs:
        samples = samples_with_media(log.path, {"events", "store", "attachments", "messages"})
        for sample in (sample for sample in samples if ROUND not in sample.metadata):
            for row in (row for score in (sample.scores or {}).values() for row in judgment_rows(score)):
                asked[row["judge"]] = max(asked[row["judge"]], row["repeat"] + 1)
            for battle in battles_of(sample.metadata):
                item, names = f"{prefix_of[log.path]}{battle['item']}", (battle["model_a"], battle["model_b"])
                pairings.setdefault(pairing(item, *names, battle.get(FIRST)))
                asked_of: dict[str, Any] = {name: battle.get(name) for name in ("category", "reference", "system")}
                asked_of |= {"row": f"sample {sample.id}", "media": media_as_text(sample.input)}
                question = QuestionRow(item, battle["instruction"], source=str(log.path), **asked_of)
                for name, text in zip(names, (battle["response_a"], battle["response_b"]), strict=True):
                    answer = ResponseRow(question, name, text, None, battle.get(RESPONSE) or 1)
                    first = answers.setdefault((item, name, answer.number), answer)
                    if first.text != text:
                        raise DataError(
                            f"another answer of {name!r} to {item!r} than in {first.question.source}",
                            source=str(log.path),
                            remedy="judge the logs again one at a time: their answers differ",
                        )
    if not pairings:
        raise UsageError(f"no battle was played in {some([str(log.path) for log in logs])}: name another log")
    responses = assemble(list(answers.values()), [])
    known = tuple(sorted({task for log in logs for task in tasks_of(log.header)}))
    nothing_missing: dict[str, dict[str, str]] = {name: {} for name in responses.models}
    sources = tuple(str(log.path) for log in logs)
    # Whoever did not meet on an item in the record does not meet now: there is nothing to miss.
    whole = replace(responses, missing=nothing_missing, sources=sources, tasks=known)
    return RecordedBattles(tuple(pairings), dict(asked), whole)
