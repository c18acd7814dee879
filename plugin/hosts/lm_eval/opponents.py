"""Read opponents' responses for the judging filter, and match them with a task's documents."""

import logging
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from podium.data.formats.lm_eval_layout import item_ids
from podium.errors import UsageError
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.lm_eval.lm_eval_compatibility import hash_document
from podium.notices.notice_text import notice_text
from podium.responses.answers import ABSENT, EMPTY_RESPONSE, is_empty
from podium.responses.collection import Item, Responses, response_key
from podium.responses.read import read_responses
from podium.responses.response_tables import MEDIA_COLUMNS
from podium.scorers.reasoning import Policy
from podium.wording import quantity, some, some_paths

MEDIA_IN_DOCUMENT = "media in the document, which the filter cannot show"
"""Why battles on a document with images, audio or video are missing."""
KEYS_OF_MEDIA = (("bytes", "path"), ("array", "sampling_rate"))
"""Keys of the dictionaries by which datasets hold images and audio that are not decoded."""
DECODERS = ("PIL", "torchcodec", "decord")
"""Packages whose objects datasets hold for decoded images, audio and video."""

log = logging.getLogger(__name__)

Against = str | Sequence[str] | Mapping[str, str]
"""Sources of opponents' responses: one or several, or a mapping from labels to sources."""


class DocumentBattles(NamedTuple):
    """The battles of one document.

    Attributes:
        item: id of the item.
        battles: the fields of `BattleMetadata` of each battle.
        missing: why a battle cannot be played, by name of the opponent.
    """

    item: str
    battles: list[dict[str, Any]]
    missing: Mapping[str, str]


def pair_with_opponents(
    against: Against,
    model: str,
    docs: Sequence[Mapping[str, Any]],
    texts: Sequence[Sequence[str]],
    *,
    field: str | None = None,
    task: str | None = None,
    reasoning: Policy = "strip",
) -> list[DocumentBattles]:
    """Read the opponents' responses, and build the battles of each document, in order.

    A document with media has no battles. Notes on the reading are logged as warnings.

    Args:
        against: sources of the opponents' responses.
        model: the name of this run's model.
        docs: the documents of the task.
        texts: the responses to each of them, one or several.
        field: the document's field with the id of the item; None to match documents by content.
        task: the task whose samples of the opponents are used; None for all tasks.
        reasoning: whether opponents' reasoning is removed (`strip`) or shown (`keep`).

    Raises:
        UsageError: an opponent has the name of this run's model, no document is among the
            opponents' items (unless all have media), a document has no `field`, or its content is
            in several of the opponents' tasks.
        DataError: a file cannot be read, or rows contradict each other.
    """
    responses = read_responses(*_format_sources(against), readers=(READER,), reasoning=reasoning)
    for note in responses.notes:
        log.warning("podium: %s", notice_text(note))
    if model in responses.models:
        raise UsageError(
            f"an opponent is called {model!r}, as this run's model: "
            f"label it (other={model}), or write `model: NAME`"
        )
    items = {item.id: item for item in responses.items}
    names = _find_item_ids(docs, responses, items, field, task)
    with_media = [shows_media(doc) for doc in docs]
    if not all(with_media) and items.keys().isdisjoint(names):
        raise _no_common_item_error(names, responses, field)
    documents = []
    for name, answers, has_media in zip(names, texts, with_media, strict=True):
        if has_media:
            missing = dict.fromkeys(responses.models, MEDIA_IN_DOCUMENT)
            documents.append(DocumentBattles(name, [], missing))
        else:
            battles = _battles_of_document(name, items.get(name), answers, model, responses)
            documents.append(battles)
    return documents


def _no_common_item_error(
    names: Sequence[str], responses: Responses, field: str | None
) -> UsageError:
    """Return the error for the case that no document is among the opponents' items.

    Args:
        names: ids of the documents' items.
        responses: the opponents' responses.
        field: the document's field with the id; None if documents are matched by content.
    """
    where = some_paths(responses.sources)
    if field is None:
        categories = some(responses.categories) or "none"
        return UsageError(
            f"none of the {quantity(len(names), 'document')} is in {where} (tasks there: "
            f"{categories}): compare runs of the same data with --log_samples, "
            "or write `item: FIELD` if the opponents are known by an id"
        )
    ids = some([item.id for item in responses.items], most=3)
    return UsageError(
        f"no document's {field!r} ({some(names, most=3)}) is an item of {where} ({ids})"
    )


def shows_media(value: Any) -> bool:
    """Return whether a document holds or names images, audio or video at any depth.

    It names them if a field of `MEDIA_COLUMNS` is not empty. It holds them as a dictionary with the
    keys of `KEYS_OF_MEDIA`, or as an object of a package in `DECODERS`.
    """
    if isinstance(value, Mapping):
        media_cells = [value[name] for name in MEDIA_COLUMNS if name in value]
        is_named = any(not is_empty(each) and each not in ("", []) for each in media_cells)
        is_encoded = any({*keys} <= value.keys() for keys in KEYS_OF_MEDIA)
        return is_named or is_encoded or any(map(shows_media, value.values()))
    if isinstance(value, list | tuple):
        return any(map(shows_media, value))
    return type(value).__module__.partition(".")[0] in DECODERS


def _battles_of_document(
    name: str, item: Item | None, texts: Sequence[str], model: str, responses: Responses
) -> DocumentBattles:
    """Return the battles of one document, with every opponent.

    The k-th response is compared with the k-th of an opponent, or with the only one. A battle is
    missing if the response of this run is empty or the opponent has no response. The key in
    `missing` is then the opponent's name, as in `gpt (response 2)` from the second response on.

    Args:
        name: id of the document's item.
        item: the opponents' item of this id; None if they have none.
        texts: the responses of this run's model.
        model: name of this run's model.
        responses: the opponents' responses.
    """
    battles: list[dict[str, Any]] = []
    missing = {}
    has_several = item is not None and item.responses > 1
    for other, (number, text) in product(responses.models, enumerate(texts, 1)):
        key = response_key(name, number if has_several else 1)
        which = other if number == 1 else f"{other} (response {number})"
        if not text.strip():
            missing[which] = f"{model}: {EMPTY_RESPONSE}"
        elif key not in responses.texts[other]:
            missing[which] = responses.missing[other].get(key, ABSENT)
        elif item:
            response = {"response": number} if len(texts) > 1 else {}
            text_by_model = {model: text, other: responses.texts[other][key]}
            battles.append({"item": name, **response, **_shown_to_judge(item, text_by_model)})
    return DocumentBattles(name, battles, missing)


def _shown_to_judge(item: Item, text_by_model: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of `BattleMetadata` that say what a judge is shown, without the item's id.

    model_a is the model whose name comes first in the alphabet.

    Args:
        item: the item.
        text_by_model: the texts of two responses to it, by model.
    """
    # Models are sorted by name as in tournaments, so that both share the replies in the cache.
    model_a, model_b = sorted(text_by_model)
    return {
        "model_a": model_a,
        "model_b": model_b,
        "instruction": item.instruction,
        "reference": item.reference,
        "system": item.system,
        "category": item.category,
        "response_a": text_by_model[model_a],
        "response_b": text_by_model[model_b],
        "length_a": len(text_by_model[model_a]),
        "length_b": len(text_by_model[model_b]),
    }


def _find_item_ids(
    docs: Sequence[Mapping[str, Any]],
    responses: Responses,
    ids_of_responses: Collection[str],
    field: str | None,
    task: str | None,
) -> list[str]:
    """Return the item id of each document, in order.

    It is the value of `field` as text. If `field` is None, it is the id that opponents' samples
    have for a document with the same content. A document that no opponent has gets the id that it
    would have in the first of the tasks.

    Args:
        docs: the documents.
        responses: the opponents' responses, whose categories are tasks.
        ids_of_responses: ids of the opponents' items.
        field: name of the document's field with the id, or None.
        task: the opponents' task that counts; None for all.

    Raises:
        UsageError: a document has no `field`, or its content is in several tasks.
    """
    if field is not None:
        for doc in docs:
            if field not in doc:
                raise UsageError(
                    f"item: {field}: documents have no such field; fields: {some(sorted(doc))}"
                )
        return [str(doc[field]) for doc in docs]
    tasks = responses.categories if task is None else (task,)
    # `item_ids` takes filter, hash and position of each document; all are of one filter here.
    places = [("", hash_document(doc), place) for place, doc in enumerate(docs)]
    # If opponents name no task, ids have no task either.
    ids_by_task = [item_ids(name, places) for name in dict.fromkeys(tasks or ("",))]
    ids_of_documents = []
    # For each document, the ids that it would have in each task.
    for ids in zip(*ids_by_task, strict=True):
        present = [item_id for item_id in ids if item_id in ids_of_responses]
        if len(present) > 1:
            raise UsageError(
                f"a document is in several tasks of the opponents ({some(present)}): "
                "write `task: NAME`"
            )
        ids_of_documents.append(present[0] if present else ids[0])
    return ids_of_documents


def _format_sources(against: Against) -> list[str]:
    """Return the opponents as a list of sources, as on a command line: `path` or `label=path`."""
    if isinstance(against, Mapping):
        return [f"{label}={path}" for label, path in against.items()]
    return [against] if isinstance(against, str) else list(map(str, against))
