"""Whom the filter compares a run's responses with: responses from disk, aligned with the documents of the task."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from podium.errors import UsageError
from podium.formats.lm_eval_layout import item_ids
from podium.hosts.inspect_ai.log_format import response_fields
from podium.hosts.inspect_ai.logs import READER
from podium.responses.answers import ABSENT, EMPTY
from podium.responses.collection import Item, Responses
from podium.responses.read import read_responses
from podium.text import some

log = logging.getLogger(__name__)

Against = str | Sequence[str] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Opposition:
    """What one document is compared with.

    Attributes:
        item: its name.
        battles: as a judge is asked for them.
        missing: why there is no battle with an opponent, by its name.
    """

    item: str
    battles: tuple[dict[str, Any], ...]
    missing: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Opponents:
    """The opponents of a run.

    Attributes:
        responses: theirs.
        own: the name of the run's entrant.
        field: the document's field that holds an item's id; None = documents are known by their content.
        task: the task whose samples count, where the opponents' folders hold several.
    """

    responses: Responses
    own: str
    field: str | None = None
    task: str | None = None

    def meet(self, docs: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[Opposition]:
        """Return what each document's response is compared with.

        Raises:
            UsageError: not one document is known, or one belongs to several tasks.
        """
        known = self.responses.by_id()
        names = self._names(docs, known)
        if docs and not any(name in known for name in names):
            raise self._no_such_items(names)
        return [self._opposition(name, known.get(name), text) for name, text in zip(names, texts, strict=True)]

    def _opposition(self, name: str, item: Item | None, text: str) -> Opposition:
        if not text.strip():
            return Opposition(name, (), dict.fromkeys(self.responses.entrants, f"{self.own}: {EMPTY}"))
        lacking = [other for other in self.responses.entrants if name not in self.responses.texts[other]]
        missing = {other: self.responses.missing[other].get(name, ABSENT) for other in lacking}
        present = [other for other in self.responses.entrants if other not in missing]
        return Opposition(name, tuple(self._battle(item, other, text) for other in present if item), missing)

    def _battle(self, item: Item, other: str, text: str) -> dict[str, Any]:
        """Return the battle with one opponent, sides by name: as tournaments have it, so that the cache is shared."""
        texts = {self.own: text, other: self.responses.texts[other][item.id]}
        a, b = sorted(texts)
        return {
            "item": item.id,
            "model_a": a,
            "model_b": b,
            "instruction": item.instruction,
            "reference": item.reference,
            "system": item.system,
            "category": item.category,
            **response_fields(texts[a], texts[b]),
        }

    def _names(self, docs: Sequence[Mapping[str, Any]], known: Mapping[str, Item]) -> list[str]:
        """Return the name of each document: what its field says, else as the opponents' samples call its content.

        Raises:
            UsageError: several tasks of the opponents have the same document, or a document has no such field.
        """
        if self.field is not None:
            for doc in docs:
                if self.field not in doc:
                    known_fields = some(sorted(doc))
                    raise UsageError(f"item: {self.field}: documents have no such field; fields: {known_fields}")
            return [str(doc[self.field]) for doc in docs]
        tasks = self.responses.categories if self.task is None else (self.task,)
        places = [("", doc_hash(doc), place) for place, doc in enumerate(docs)]
        by_task = {task: item_ids(task, places) for task in tasks or ("",)}
        chosen = []
        for names in zip(*by_task.values(), strict=True):
            present = [name for name in names if name in known]
            if len(present) > 1:
                raise UsageError(f"a document is in several tasks of the opponents ({some(present)}): say `task: NAME`")
            chosen.append((present or names)[0])
        return chosen

    def _no_such_items(self, names: Sequence[str]) -> UsageError:
        where = some(self.responses.sources)
        if self.field is not None:
            ids = some([item.id for item in self.responses.items], most=3)
            return UsageError(f"no document's {self.field!r} ({some(names, most=3)}) is an item of {where} ({ids})")
        held = some(self.responses.categories) or "none"
        return UsageError(
            f"none of the {len(names)} documents is in {where} (tasks there: {held}): compare runs of the same data "
            "with --log_samples, or say `item: FIELD` where the opponents are known by an id"
        )


def read_opponents(against: Against, own: str, *, field: str | None = None, task: str | None = None) -> Opponents:
    """Read the opponents.

    Args:
        against: output folders of lm-eval, or anything that podium reads responses from, each optionally
            `label=path`; or a mapping of labels to paths.

    Raises:
        UsageError: a path that does not exist, or an opponent that is called as the run's own entrant.
        DataError: a file is not what it should be.
    """
    responses = read_responses(*sources(against), readers=(READER,))
    for note in responses.notes:
        log.warning("podium: %s", note)
    if own in responses.entrants:
        raise UsageError(
            f"an opponent is called {own!r}, as this run's own model: label it (other={own}), or say `entrant: NAME`"
        )
    return Opponents(responses, own, field, task)


def sources(against: Against) -> list[str]:
    """Return the sources as they are typed on a command line.

    >>> sources({"big": "runs/big"}), sources("runs/small")
    (['big=runs/big'], ['runs/small'])
    """
    if isinstance(against, Mapping):
        return [f"{label}={path}" for label, path in against.items()]
    return [against] if isinstance(against, str) else list(map(str, against))


def doc_hash(doc: Any) -> str:
    """Return the hash of a document, as lm-eval writes it into its samples."""
    from lm_eval.utils import handle_non_serializable, hash_string

    return hash_string(json.dumps(doc, indent=2, default=handle_non_serializable, ensure_ascii=False))
