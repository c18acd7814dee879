"""Find documents of lm-eval that differ only in Unicode form or white space.

Their hashes differ, although they are the same question: `podium.comparability.questions` compares
inputs without such differences. Samples are read again only if one place in the data set has
documents with different hashes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podium.comparability.questions import hash_of_text
from podium.data.formats.lm_eval_documents import (
    prompt_of_row,
    words_of_document,
    words_of_value,
)
from podium.data.formats.lm_eval_layout import sample_rows
from podium.data.formats.lm_eval_scores import Scores


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """A document, as a row of samples writes it.

    Attributes:
        item: id of its item.
        words: the document as JSON, without differences in Unicode form and white space.
        target: hash of the words of the target.
        prompt: hash of the words of the prompt; empty if the row has no prompt.
    """

    item: str
    words: str
    target: str
    prompt: str


def join_equal_documents(scores: Sequence[Scores]) -> list[Scores]:
    """Give documents of a task that differ only in Unicode form or white space one id.

    The id is that of the first run. Their targets and prompts are then compared without such
    differences, too. A document that a run has twice in this sense keeps its id.

    Args:
        scores: the scores of the runs of one task.

    Returns:
        The scores, in the same order; unchanged if no documents are equal in this sense.
    """
    if not _differ_at_a_place(scores):
        return list(scores)
    written = [_documents_of(of_file) for of_file in scores]
    first: dict[str, str] = {}
    items: list[dict[str, WrittenDocument]] = []
    for of_run in written:
        numbers = Counter(document.words for document in of_run)
        own = {}
        for document in of_run:
            if numbers[document.words] == 1:
                name = first.setdefault(document.words, document.item)
                own[document.item] = replace(document, item=name)
        items.append(own)
    joined = {new.item for own in items for old, new in own.items() if old != new.item}
    renamed = []
    for of_file, own in zip(scores, items, strict=True):
        changed = {old: new for old, new in own.items() if new.item in joined}
        renamed.append(_with_documents(of_file, changed))
    return renamed


def _differ_at_a_place(scores: Sequence[Scores]) -> bool:
    """Return whether a place in the data set has documents with different hashes."""
    items: dict[str, set[str]] = defaultdict(set)
    for of_file in scores:
        for document in of_file.asked:
            if document.place and document.is_known:
                items[document.place].add(document.item)
    return any(len(own) > 1 for own in items.values())


def _documents_of(scores: Scores) -> list[WrittenDocument]:
    """Return the documents of a samples file; those that the file does not hold are left out."""
    item_of_line = {document.line: document.item for document in scores.asked}
    documents = []
    for line, row in sample_rows(scores.file.path):
        item = item_of_line.get(line)
        words = "" if row is None or item is None else words_of_document(row)
        if row is None or item is None or not words:
            continue
        target = words_of_value(row.get("target"))
        prompt = prompt_of_row(row)
        hashed = "" if prompt is None else str(hash_of_text(prompt))
        documents.append(WrittenDocument(item, words, str(hash_of_text(target)), hashed))
    return documents


def _with_documents(scores: Scores, documents: Mapping[str, WrittenDocument]) -> Scores:
    """Return scores with other ids, targets and prompts of some items.

    Args:
        scores: the scores of a run.
        documents: the documents by the present ids of their items.
    """
    if not documents:
        return scores
    new_items = {item: document.item for item, document in documents.items()}
    targets = {item: document.target for item, document in documents.items()}
    values = {}
    for metric, table in scores.values.items():
        old = table["item"]
        target = old.map(targets).fillna(table["target"])
        values[metric] = table.assign(item=old.map(new_items).fillna(old), target=target)
    asked = []
    for described in scores.asked:
        document = documents.get(described.item)
        if document is not None:
            prompt = document.prompt or described.prompt
            described = replace(described, item=document.item, prompt=prompt)
        asked.append(described)
    return replace(scores, values=values, asked=tuple(asked))
