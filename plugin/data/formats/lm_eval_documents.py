"""What a row of lm-eval's samples says of the question: the document and the prompt."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, overload

from podium.comparability.asked_items import normal_words
from podium.data.formats import lm_eval_layout as layout
from podium.text import text_of

MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
"""Pattern of the English name of a month, or of its abbreviation."""
DATE_FORMS = (
    r"\b\d{4}-\d\d-\d\d\b",
    rf"\b\d{{1,2}} {MONTH} \d{{4}}\b",
    rf"\b{MONTH} \d{{1,2}}, \d{{4}}\b",
)
"""Patterns of dates such as `2024-07-26`, `26 Jul 2024` and `July 26, 2024`."""
DATE_IN_PROMPT = re.compile("|".join(DATE_FORMS))
"""Matches a date. Some chat templates write the day of the run into the prompt."""
CHAT_PROMPT_START = "[{"
"""Beginning of a prompt that is a list of messages in JSON, as lm-eval sends it to a chat API."""
EXCERPT_LENGTH = 400
"""Number of characters of a document that are kept for messages."""


COLUMNS_OF_FIELDS = {"category": "document_category"}
"""Names of columns of the fields of documents whose own name is that of another column."""


@dataclass(frozen=True, slots=True)
class AskedDocument:
    """A document of a task, as a row of samples describes it.

    Attributes:
        item: id of its item, which is made from the hash of the document.
        place: its `doc_id`, the position in the data set; empty if unknown.
        line: the place of the row in the file, such as `line 3`.
        is_known: whether the row has the document or its hash. If not, `item` is made from the
            order of the rows.
        excerpt: the beginning of the document.
        prompt: hash of the prompt without dates; empty if unknown.
        words: the document as `words_of_document` writes it; empty if it was not asked for.
    """

    item: str
    place: str
    line: str
    is_known: bool
    excerpt: str = ""
    prompt: str = ""
    words: str = ""


class HashedDocuments(Sequence[AskedDocument]):
    """Documents of which a file has nothing but a text, from which the ids of items are made.

    An equal id is the same document, so that these documents need no further comparison. They are
    made when they are asked for.

    Attributes:
        items: the id of the item of each document; each occurs once.
        lines: the place of each document in the file.
    """

    def __init__(self, items: Sequence[str], lines: Sequence[str]) -> None:
        self.items = items
        self.lines = lines

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, position: int) -> AskedDocument: ...
    @overload
    def __getitem__(self, position: slice) -> "HashedDocuments": ...
    def __getitem__(self, position: int | slice) -> "AskedDocument | HashedDocuments":
        if isinstance(position, slice):
            return HashedDocuments(self.items[position], self.lines[position])
        return AskedDocument(
            item=self.items[position], place="", line=self.lines[position], is_known=True
        )


def asked_document(line: str, row: Mapping[str, Any]) -> AskedDocument:
    """Return the document of a row of samples. The id of its item is empty: the caller sets it.

    Args:
        line: the place of the row in the file.
        row: the row.
    """
    doc_id = row.get("doc_id")
    place = "" if doc_id is None else str(doc_id)
    return AskedDocument(
        item="",
        place=place,
        line=line,
        is_known="doc_hash" in row or "doc" in row,
        excerpt=_start_of_document(row.get("doc")),
        prompt=_undated_prompt_hash(row),
    )


def name_documents(
    documents: Iterable[AskedDocument], items: Iterable[str]
) -> tuple[AskedDocument, ...]:
    """Return documents with the ids of their items, each item once, in the order of the rows.

    Of several rows with one item, the first gives the document.

    Args:
        documents: the document of each row. A document has a row for each filter.
        items: the id of the item of each row.
    """
    document_by_item: dict[str, AskedDocument] = {}
    for document, item in zip(documents, items, strict=True):
        if item not in document_by_item:
            document_by_item[item] = replace(document, item=item)
    return tuple(document_by_item.values())


def words_of_document(row: Mapping[str, Any]) -> str:
    """Return the document of a row of samples as JSON whose texts are in `normal_words`.

    Documents that differ only in Unicode form or white space have the same text.

    Returns:
        The text. It is empty if the row has no document, or only a part of it: the document then
        has another hash than the row records, for example because images are left out.
    """
    document = row.get("doc")
    if document is None:
        return ""
    recorded_hash = row.get("doc_hash")
    computed_hash = layout.read_doc_hash({"doc": document})
    is_whole = recorded_hash is None or recorded_hash == computed_hash
    return words_of_value(document) if is_whole else ""


def words_of_value(value: Any) -> str:
    """Return a value of JSON as JSON whose texts are in `normal_words`."""
    return json.dumps(_with_normal_words(value), sort_keys=True, default=str)


def _with_normal_words(value: Any) -> Any:
    """Return a value of JSON with all texts in `normal_words`."""
    if isinstance(value, str):
        return normal_words(value)
    if isinstance(value, list):
        return [_with_normal_words(part) for part in value]
    if isinstance(value, dict):
        return {name: _with_normal_words(part) for name, part in value.items()}
    return value


def _start_of_document(document: Any) -> str:
    """Return the beginning of a document: of its first text, or of all of it as JSON.

    It has at most `EXCERPT_LENGTH` characters, and is empty if there is no document.
    """
    if document is None:
        return ""
    values = document.values() if isinstance(document, Mapping) else [document]
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    text = texts[0] if texts else json.dumps(document, default=str, ensure_ascii=False)
    return text[:EXCERPT_LENGTH]


def _undated_prompt_hash(row: Mapping[str, Any]) -> str:
    """Return the hash of a row's prompt. If the prompt has dates, it is computed without them.

    Otherwise, it is the hash that lm-eval recorded, if any. Empty if neither prompt nor hash is
    known.
    """
    prompt = prompt_of_row(row)
    recorded_hash = text_of(row.get("prompt_hash")) or ""
    if prompt is None:
        return recorded_hash
    undated_prompt = DATE_IN_PROMPT.sub("", prompt)
    if undated_prompt == prompt and recorded_hash:
        return recorded_hash
    return sha256(undated_prompt.encode("utf-8", "surrogatepass")).hexdigest()


def prompt_of_row(row: Mapping[str, Any]) -> str | None:
    """Return the prompt of a row's first request; None if the row does not have it.

    Without a request, the prompt is the field `input` of the row. Of a list, it is the first
    element.
    """
    request = request_of(row.get("arguments"))
    prompt = request[0] if request else row.get("input")
    if isinstance(prompt, list) and prompt:
        prompt = prompt[0]
    return prompt if isinstance(prompt, str) else None


def fields_of_document(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a row's document by name; empty if the row has none."""
    document = row.get("doc")
    return document if isinstance(document, Mapping) else {}


def columns_of_document(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row's document by the name of their column.

    The field `category` is the column `document_category`: tables have the name of the task as
    their category. If the document has a field of this name, too, the column is that field, and the
    field `category` is left out.
    """
    fields = fields_of_document(row)
    renamed = {column: fields[name] for name, column in COLUMNS_OF_FIELDS.items() if name in fields}
    others = {name: value for name, value in fields.items() if name not in COLUMNS_OF_FIELDS}
    return renamed | others


def group_of_row(row: Mapping[str, Any], cluster: str | None) -> str | None:
    """Return the value of a row's document in the column `cluster` as text; None if there is none.

    The column is that of a field, as in `columns_of_document`, or has the name of a field.
    """
    if cluster is None:
        return None
    values = {**columns_of_document(row), **fields_of_document(row)}
    return text_of(values.get(cluster))


def request_of(arguments: Any) -> Sequence[Any]:
    """Return the arguments of the first request: the prompt, and perhaps generation settings.

    Current versions of lm-eval log the requests as a mapping, older versions as a list.

    Returns:
        The arguments; empty if there is no request. A first request of a list that is not a list
        itself counts as its only argument.
    """
    if isinstance(arguments, Mapping):
        request = arguments.get("gen_args_0")
        return list(request.values()) if isinstance(request, Mapping) else []
    if not isinstance(arguments, list) or not arguments:
        return []
    first = arguments[0]
    return first if isinstance(first, list) else [first]


def is_chat_file(file: layout.Samples) -> bool:
    """Return whether the first prompt of a file is a list of messages; False without a prompt."""
    row = layout.first_row(file.path)
    prompt = None if row is None else prompt_of_row(row)
    return prompt is not None and prompt.startswith(CHAT_PROMPT_START) and '"role"' in prompt
