"""Find documents of lm-eval that differ only in Unicode form or white space.

Their hashes differ, although they are the same question: `podium.comparability.questions` compares
inputs without such differences. Samples are read again only if one place in the data set has
documents with different hashes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podium.comparability.asked_items import hash_of_text
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
    documents_of_runs = [_documents_of(file_scores) for file_scores in scores]
    first_items: dict[str, str] = {}
    new_documents: list[dict[str, WrittenDocument]] = []
    for documents_of_run in documents_of_runs:
        occurrences = Counter(document.words for document in documents_of_run)
        document_of_item = {}
        for document in documents_of_run:
            if occurrences[document.words] == 1:
                name = first_items.setdefault(document.words, document.item)
                document_of_item[document.item] = replace(document, item=name)
        new_documents.append(document_of_item)
    joined_items = set()
    for document_of_item in new_documents:
        joined_items |= {new.item for item, new in document_of_item.items() if item != new.item}
    renamed = []
    for file_scores, document_of_item in zip(scores, new_documents, strict=True):
        changed = {item: new for item, new in document_of_item.items() if new.item in joined_items}
        renamed.append(_with_documents(file_scores, changed))
    return renamed


def _differ_at_a_place(scores: Sequence[Scores]) -> bool:
    """Return whether a place in the data set has documents with different hashes.

    Documents whose place is not known, or whose row has neither document nor hash, do not count.
    """
    items_by_place: dict[str, set[str]] = defaultdict(set)
    for file_scores in scores:
        for document in file_scores.documents:
            if document.place and document.is_known:
                items_by_place[document.place].add(document.item)
    return any(len(items_at_place) > 1 for items_at_place in items_by_place.values())


def _documents_of(scores: Scores) -> list[WrittenDocument]:
    """Return the documents of a samples file; those that the file does not hold are left out."""
    item_of_line = {document.line: document.item for document in scores.documents}
    documents = []
    for line, row in sample_rows(scores.file.path):
        item = item_of_line.get(line)
        if row is None or item is None:
            continue
        words = words_of_document(row)
        if not words:
            continue
        target = words_of_value(row.get("target"))
        prompt = prompt_of_row(row)
        prompt_hash = "" if prompt is None else str(hash_of_text(prompt))
        documents.append(
            WrittenDocument(
                item=item, words=words, target=str(hash_of_text(target)), prompt=prompt_hash
            )
        )
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
        items = table["item"]
        target = items.map(targets).fillna(table["target"])
        values[metric] = table.assign(item=items.map(new_items).fillna(items), target=target)
    described_documents = []
    for described in scores.documents:
        document = documents.get(described.item)
        if document is not None:
            prompt = document.prompt or described.prompt
            described = replace(described, item=document.item, prompt=prompt)
        described_documents.append(described)
    return replace(scores, values=values, documents=tuple(described_documents))
