"""Whom the filter compares a run's responses with: responses from disk, aligned with the documents of the task."""

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from podium.errors import UsageError
from podium.formats.lm_eval_layout import item_ids
from podium.hosts.inspect_ai.log_contents import RESPONSE, response_fields
from podium.hosts.inspect_ai.log_responses import READER
from podium.responses.answers import ABSENT, EMPTY, is_empty
from podium.responses.collection import Item, Responses, response_key
from podium.responses.plain import MEDIA
from podium.responses.read import read_responses
from podium.scorers.reasoning import Policy
from podium.text import some

IN_DOCUMENT = "media in the document, which the filter cannot show"
ENCODED = (("bytes", "path"), ("array", "sampling_rate"))
"""Keys under which datasets hold images and audio that are not decoded."""
DECODERS = ("PIL", "torchcodec", "decord")
"""Packages of what datasets hold decoded."""

log = logging.getLogger(__name__)

Against = str | Sequence[str] | Mapping[str, str]


class Opposition(NamedTuple):
    """What one document, by its name, is compared with: battles as a judge is asked for them, and why others lack."""

    item: str
    battles: list[dict[str, Any]]
    missing: Mapping[str, str]


def meet_opponents(
    against: Against,
    own: str,
    docs: Sequence[Mapping[str, Any]],
    texts: Sequence[Sequence[str]],
    *,
    field: str | None = None,
    task: str | None = None,
    reasoning: Policy = "strip",
) -> list[Opposition]:
    """Return what the response to each document is compared with.

    Args:
        against: output folders of lm-eval, or anything that podium reads responses from, each optionally
            `label=path`; or a mapping of labels to paths.
        own: the name of the run's model.
        docs, texts: the documents and the responses to each.
        field: the document's field that holds an item's id; None = documents are known by their content.
        task: the task whose samples count, where the opponents' folders hold several.
        reasoning: whether what the opponents thought before they answered is part of their responses (`keep`) or not.

    Raises:
        UsageError: a path that does not exist, an opponent that is called as the run's own model, or documents of
            which not one is known, or one in several tasks.
        DataError: a file is not what it should be.
    """
    responses = read_responses(*_sources(against), readers=(READER,), reasoning=reasoning)
    for note in responses.notes:
        log.warning("podium: %s", note)
    if own in responses.models:
        raise UsageError(
            f"an opponent is called {own!r}, as this run's own model: label it (other={own}), or say `model: NAME`"
        )
    items = responses.by_id()
    names = _item_names(docs, responses, items, field, task)
    seen = [shows_media(doc) for doc in docs]
    if not all(seen) and items.keys().isdisjoint(names):
        raise _no_such_items(names, responses, field)
    return [
        Opposition(name, [], dict.fromkeys(responses.models, IN_DOCUMENT))
        if is_seen
        else _opposition(name, items.get(name), said, own, responses)
        for name, said, is_seen in zip(names, texts, seen, strict=True)
    ]


def shows_media(value: Any) -> bool:
    """Whether a document, or what stands in it, holds or names images, audio or video, which a filter cannot show."""
    if isinstance(value, Mapping):
        named = any(not (is_empty(value[name]) or value[name] in ("", [])) for name in MEDIA if name in value)
        return named or any({*keys} <= value.keys() for keys in ENCODED) or any(map(shows_media, value.values()))
    if isinstance(value, list | tuple):
        return any(map(shows_media, value))
    return type(value).__module__.partition(".")[0] in DECODERS


def _opposition(name: str, item: Item | None, said: Sequence[str], own: str, responses: Responses) -> Opposition:
    """Return the battles of one document; sides by name, as tournaments have it, so that the cache is shared.

    The k-th response meets the k-th of an opponent; where opponents gave one, it meets all.
    """
    battles, missing = [], {}
    for other, (number, text) in product(responses.models, enumerate(said, 1)):
        key = response_key(name, number if item and item.responses > 1 else 1)
        which = other if number == 1 else f"{other} (response {number})"
        if not text.strip():
            missing[which] = f"{own}: {EMPTY}"
        elif key not in responses.texts[other]:
            missing[which] = responses.missing[other].get(key, ABSENT)
        elif item:
            texts = {own: text, other: responses.texts[other][key]}
            a, b = sorted(texts)
            asked = {field: getattr(item, field) for field in ("instruction", "reference", "system", "category")}
            sides = {"item": name, **({RESPONSE: number} if len(said) > 1 else {}), "model_a": a, "model_b": b}
            battles.append({**sides, **asked, **response_fields(texts[a], texts[b])})
    return Opposition(name, battles, missing)


def _item_names(
    docs: Sequence[Mapping[str, Any]], responses: Responses, known: Collection[str], field: str | None, task: str | None
) -> list[str]:
    """Return the name of each document: what its field says, else as the opponents' samples call its content."""
    if field is not None:
        for doc in docs:
            if field not in doc:
                raise UsageError(f"item: {field}: documents have no such field; fields: {some(sorted(doc))}")
        return [str(doc[field]) for doc in docs]
    from lm_eval.utils import handle_non_serializable, hash_string

    tasks = responses.categories if task is None else (task,)
    # As lm-eval writes documents into its samples.
    dumps = partial(json.dumps, indent=2, default=handle_non_serializable, ensure_ascii=False)
    places = [("", hash_string(dumps(doc)), place) for place, doc in enumerate(docs)]
    chosen = []
    for names in zip(*(item_ids(task, places) for task in dict.fromkeys(tasks or ("",))), strict=True):
        present = [name for name in names if name in known]
        if len(present) > 1:
            raise UsageError(f"a document is in several tasks of the opponents ({some(present)}): say `task: NAME`")
        chosen.append((present or names)[0])
    return chosen


def _no_such_items(names: Sequence[str], responses: Responses, field: str | None) -> UsageError:
    where = some(responses.sources)
    if field is not None:
        ids = some([item.id for item in responses.items], most=3)
        return UsageError(f"no document's {field!r} ({some(names, most=3)}) is an item of {where} ({ids})")
    held = some(responses.categories) or "none"
    return UsageError(
        f"none of the {len(names)} documents is in {where} (tasks there: {held}): compare runs of the same data "
        "with --log_samples, or say `item: FIELD` where the opponents are known by an id"
    )


def _sources(against: Against) -> list[str]:
    """Return the sources as they are typed on a command line.

    >>> _sources({"big": "runs/big"}), _sources("runs/small")
    (['big=runs/big'], ['runs/small'])
    """
    if isinstance(against, Mapping):
        return [f"{label}={path}" for label, path in against.items()]
    return [against] if isinstance(against, str) else list(map(str, against))
