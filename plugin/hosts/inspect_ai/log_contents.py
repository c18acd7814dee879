"""What podium keeps in a log, and under which names. Imports no host: whoever only names things stays light."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score

NAMESPACE = "podium"
"""Key under which podium keeps its own in scores and results."""
ROUND = "podium round"
"""Sample metadata under which a round's schedule is recorded."""
ASKED = "podium asked"
"""Sample metadata under which stand the models that a sample asks for a response."""
REPLACED = "podium replaced"
"""Metadata of a round that is scheduled again, because answers failed: battles of the schedule before, and left out."""
ANSWER = "podium answer"
"""Sample metadata under which stands what a tournament found that stops by itself."""
LEFT_OUT = "left_out"
"""Metadata that counts the battles of a round that could not be played, because a response is absent."""
MODELS = f"{NAMESPACE}_models"
"""Metadata of a tournament: who takes part."""
TASKS, PROMPTS = f"{NAMESPACE}_tasks", f"{NAMESPACE}_prompts"
"""Metadata of a tournament: the tasks that its responses are of, and a hash of the judges' prompts."""
ANSWERS = f"{NAMESPACE}_answers"
"""Metadata of a tournament that says who is asked for how many responses on demand, and how."""
STOPPED = "the judge is not asked any more"
"""How an error begins that ends the whole run."""
SCHEDULED, PLANNED = f"{NAMESPACE}_scheduled", f"{NAMESPACE}_planned"
"""Metadata that count the battles of the first round (those of others stand where they are announced), and of all."""
SHARD = f"{NAMESPACE}_shard"
"""Metadata of a shard: its `number`, `of` how many; the `battles` of all shards, and those `left_out` of all."""
PLAYED_FOR = f"{NAMESPACE}_host"
"""Metadata of a tournament that another host's command plays: that command ranks it, by its own options."""
RANKER_VARIABLE = "PODIUM_RANKER"
"""Environment variable that asks for rankers, where a log's metadata do not."""
OPTIONS = "options"
"""Key beside the kept replies under which stands how they were asked for."""
BATTLES, RESPONSES = "battles", "responses"
"""Keys under which a pack names its pairs, keeps the replies about them and their verdicts; and its responses."""
LISTS = ("logs.json", "eval-set.json")
"""What Inspect calls its lists of the logs of an eval set."""
RANKING = ".ranking.json"
"""How the name of a ranking ends that lies beside its log."""
RESPONSE = "response"
"""Key under which a battle says which of the models' responses to the item meet in it, where they gave several."""
FIRST = "first"
"""Key under which a battle says whose response is shown first, where its tournament says so."""
JUDGMENTS = "judgments"
SAME, COLUMNS = "same", "columns"


def is_tournament(log: "EvalLog") -> bool:
    """Tell the log of a tournament from that of an ordinary eval."""
    return MODELS in (log.eval.metadata or {})


def reason_of_stop(record: "EvalLog | EvalSample") -> str | None:
    """Return why a judge is not asked any more, where that is the error of a log or a sample."""
    said = record.error.message if record.error else ""
    return said[said.index(STOPPED) :].rstrip("\"')") if STOPPED in said else None


def is_log(path: Path) -> bool:
    """Tell a log by its suffix, or by the first fields of its JSON."""
    if path.suffix == ".eval" or path.suffix != ".json" or path.name in LISTS:
        return path.suffix == ".eval"
    head = _head_of(path)
    return b'"version"' in head and b'"eval"' in head and b'"status"' in head


def is_beside_logs(path: Path) -> bool:
    """Tell what Inspect and podium write beside logs: lists of the logs of an eval set, rankings."""
    if path.name in LISTS:
        return any(word in _head_of(path) for word in (b'"eval_set_id"', b'"task_id"'))
    return path.name.startswith(f"{NAMESPACE}-") and path.name.endswith(RANKING)


def _head_of(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(4096)


def response_fields(response_a: str, response_b: str) -> dict[str, Any]:
    """Return both responses of a battle and their lengths in characters, as its metadata name them."""
    texts = {"response_a": response_a, "response_b": response_b}
    return {**texts, "length_a": len(response_a), "length_b": len(response_b)}


def battles_of(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the battles of a sample: the one that it is, or those of a pack as if each had a sample of its own."""
    if BATTLES not in metadata:
        return [dict(metadata)]
    common = {name: value for name, value in metadata.items() if name not in (BATTLES, RESPONSES)}
    texts = metadata[RESPONSES]
    return [
        {**common, "model_a": a, "model_b": b, **response_fields(texts[a], texts[b])}
        | ({FIRST: shown[0]} if shown else {})
        for a, b, *shown in metadata[BATTLES]
    ]


def answers_in(metadata: Mapping[str, Any], answers: Mapping[str, Any] | None) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what came of the answers that a sample asked for, by model and item.

    Args:
        answers: what the sample kept, by model; None of a failed sample.
    """
    failed = {"failed": "the sample failed"}
    return {(name, metadata["item"]): (answers or {}).get(name, failed) for name in metadata.get(ASKED, ())}


def credit_of(score: "Score") -> float | None:
    """Return what the first-named model earned by a battle's score; None where it is unparsed."""
    return None if score.value is None or score.value != score.value else score.as_float()


def judgment_rows(score: "Score") -> list[dict[str, Any]]:
    """Return the verdicts that podium's scorer keeps in a score, a row per judgment; none for other scores."""
    kept = (score.metadata or {}).get(NAMESPACE)
    if not isinstance(kept, Mapping):
        return []
    is_pack = BATTLES in kept
    battles = as_rows(kept[BATTLES]) if is_pack else [kept]
    rows = as_rows(kept[JUDGMENTS]) if is_pack else [{"battle": 0, **row} for row in kept[JUDGMENTS]]
    common = [_except(battle, JUDGMENTS, "credit", FIRST) for battle in battles]
    return [{**common[row["battle"]], **_except(row, "battle")} for row in rows]


def pack_verdicts(verdicts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the verdicts of a pack column by column, as its score keeps them: a fifth of the size of rows.

    Args:
        verdicts: a battle each, with its judgments.
    """
    rows = [{"battle": k, **row} for k, verdict in enumerate(verdicts) for row in verdict[JUDGMENTS]]
    own = [_except(verdict, JUDGMENTS) for verdict in verdicts]
    return {BATTLES: as_columns(own), JUDGMENTS: as_columns(rows)}


def as_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return rows as columns; what is the same in all of them is said once.

    >>> as_columns([{"a": 1, "b": 2}, {"a": 1, "b": 3}])
    {'rows': 2, 'same': {'a': 1}, 'columns': {'b': [2, 3]}}
    """
    columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    same = {name: values[0] for name, values in columns.items() if all(value == values[0] for value in values)}
    return {"rows": len(rows), SAME: same, COLUMNS: _except(columns, *same)}


def as_rows(kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of `as_columns`; what a row lacked is None.

    >>> as_rows({"rows": 2, "same": {"a": 1}, "columns": {"b": [2, 3]}})
    [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}]
    """
    columns = kept[COLUMNS].items()
    return [{**kept[SAME], **{name: values[row] for name, values in columns}} for row in range(kept["rows"])]


def _except(mapping: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name not in names}
