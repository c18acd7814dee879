"""The responses that battles in logs of ordinary evals compare, those of references among them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.errors import DataError
from podium.hosts.inspect_ai.logs.inspect_format import battle_texts
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.responses.collection import Responses, response_key
from podium.responses.read import read_responses
from podium.responses.transcripts import AS_RECORDED, AgentWork, Show, work_in


def responses_in_evals(sources: Sequence[str], paths: Sequence[Path], show: Show) -> Responses:
    """Read the responses of models, and those of the references that `pairwise` compared.

    If battles in the logs hold the text of a reference, they decide whether responses are
    transcripts, whatever `show` says: all responses are transcripts if one such battle was judged
    by transcripts, else all are answers. No response counts as missing, because only recorded
    battles are played again.

    Args:
        sources: the sources, each optionally `label=path`.
        paths: the logs of ordinary evals in these sources.
        show: what is shown of agents if no battle holds the text of a reference.

    Raises:
        DataError: a log is damaged, or logs have different answers of a model to one item.
    """
    rows = [
        (str(path), row) for path in paths for row in battle_texts(path) if row.get("response_b")
    ]
    if rows:
        is_transcript = any(row.get("transcript") for _, row in rows)
        show = replace(show, mode="transcript" if is_transcript else "answer")
    read = read_responses(
        *sources, readers=(READER,), reasoning=show.reasoning, show=show, optional=True
    )
    texts = {model: dict(texts_of_model) for model, texts_of_model in read.texts.items()}
    work = {model: dict(work_of_model) for model, work_of_model in read.work.items()}
    for path, model, key, text, is_transcript in _texts_of_references(rows, read):
        before = texts.setdefault(model, {}).setdefault(key, text)
        if before.strip() != text.strip():
            item = key.partition("\0")[0]
            raise DataError(
                f"another answer of {model!r} to {item!r} than in the other logs",
                remedy="re-judge the logs one at a time: their answers differ",
                source=path,
            )
        if is_transcript:
            own_work: dict[str, AgentWork] = work.setdefault(model, {})
            own_work[key] = replace(work_in(text), limit=AS_RECORDED)
    missing: dict[str, dict[str, str]] = {model: {} for model in texts}
    return replace(read, texts=texts, work=work, missing=missing)


def _texts_of_references(
    rows: Sequence[tuple[str, Mapping[str, Any]]], read: Responses
) -> Iterator[tuple[str, str, str, str, bool]]:
    """Yield the response of the reference (model_b) in each battle.

    Each element has the log, the name of the reference, the key of the response (`response_key`),
    its text, and whether the text is a transcript. The id of an item of `read` may be the task and
    the id in the task (`TASK:ITEM`), or the latter alone. Battles on other items are left out.

    Args:
        rows: the log and the row of each battle, as `battle_texts` yields it.
        read: the responses of the models, whose items count.
    """
    items = {item.id for item in read.items}
    for path, row in rows:
        item_in_task = f"{row['task']}:{row['item']}"
        item = item_in_task if item_in_task in items else str(row["item"])
        if item in items:
            key = response_key(item, row.get("response") or 1)
            yield path, row["model_b"], key, row["response_b"], bool(row.get("transcript"))
