"""Responses of several models to the same items, of one file or many; some may be missing or can be
asked for."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from podium.data.pairings import Field, NextRound, Pairing
from podium.errors import DataError, OtherQuestionError, UsageError, find_name
from podium.notices.notice import Notice
from podium.responses.answers import ABSENT, QuestionRow, ResponseRow, Row, normal_text
from podium.responses.transcripts import AgentWork, plain_text, render
from podium.text import some

AGREE = ("instruction", "reference", "system", "category", "media")
"""Fields on which all rows of an item must agree."""
QUESTION = ("instruction", "reference", "media")
"""Those that make the question; the others are settings of a run, or labels."""
PENDING = "not asked yet"
"""Reason of a response that can still be asked for."""


@dataclass(frozen=True, slots=True)
class Item:
    """An instruction with what goes with it; `responses` is the largest number that a model
    gave."""

    id: str
    instruction: str
    category: str | None = None
    reference: str | None = None
    system: str | None = None
    media: str | None = None
    responses: int = 1

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the responses to the item."""
        return tuple(response_key(self.id, number) for number in range(1, self.responses + 1))


def response_key(item: str, number: int) -> str:
    """Return the key of a model's response to an item: the item's id, with the number from the
    second response on."""
    return item if number == 1 else f"{item}\0{number}"


@dataclass(frozen=True, slots=True)
class Responses:
    """The responses of models by `response_key`: a text, missing with a reason, or pending (can be
    asked for); `work` is what a model did for a response, where the source says so."""

    items: tuple[Item, ...]
    texts: Mapping[str, Mapping[str, str]]
    missing: Mapping[str, Mapping[str, str]]
    sources: tuple[str, ...] = ()
    notes: tuple[Notice, ...] = ()
    tasks: tuple[str, ...] = ()
    pending: Mapping[str, frozenset[str]] = field(default_factory=dict)
    work: Mapping[str, Mapping[str, AgentWork]] = field(default_factory=dict)

    def __repr__(self) -> str:
        lost = sum(map(len, self.missing.values()))
        return f"Responses({len(self.models)} models, {len(self.items)} items, {lost} missing)"

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, sorted."""
        return tuple(sorted(self.texts))

    @property
    def has_transcripts(self) -> bool:
        """Whether a judge is shown the transcript of any response."""
        return any(work.shown for own in self.work.values() for work in own.values())

    def shown_text(self, name: str, key: str, transcripts: bool) -> str:
        """Return a model's response as a judge is shown it: where others are `transcripts`, an
        answer is one, too."""
        text, work = self.texts[name][key], self.work.get(name, {}).get(key)
        return render((), text) if transcripts and not (work and work.shown) else text

    def plain_text(self, name: str, key: str) -> str:
        """Return a model's response as humans read it: a transcript piece by piece."""
        text, work = self.texts[name][key], self.work.get(name, {}).get(key)
        return plain_text(text) if work and work.shown else text

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the categories, sorted."""
        return tuple(sorted({item.category for item in self.items if item.category is not None}))

    def by_id(self) -> dict[str, Item]:
        """Return the items by their ids."""
        return {item.id: item for item in self.items}

    def field(self) -> Field:
        """Return the models, the items, and the models that have no response to an item."""
        models, absent = self.models, {}
        for item in self.items:
            if names := frozenset(
                name for name in models if self.missing[name].keys() >= {*item.keys}
            ):
                absent[item.id] = names
        return Field(models, tuple(item.id for item in self.items), absent)

    def mean_number(self) -> float:
        """Return the mean number of responses per item."""
        return sum(item.responses for item in self.items) / max(len(self.items), 1)

    def in_all_responses(self, coming: NextRound) -> NextRound:
        """Return a round with each battle repeated for every response that both have; unplayed if
        there is none."""
        if all(item.responses == 1 for item in self.items):
            return coming
        items, pairings, left_out = self.by_id(), [], round(coming.left_out * self.mean_number())
        for asked in coming.pairings:
            numbers = range(1, items[asked.item].responses + 1)
            battles = [asked._replace(response=number) for number in numbers]
            playable = [battle for battle in battles if self.can_play(battle)]
            pairings += playable or [asked]
            left_out += len(battles) - max(len(playable), 1)
        return NextRound(tuple(pairings), coming.note, left_out)

    def can_play(self, battle: Pairing) -> bool:
        """Return whether both models have this response, or can be asked for it."""
        key = response_key(battle.item, battle.response)
        return all(
            key in self.texts[name] or key in self.pending.get(name, ())
            for name in (battle.a, battle.b)
        )

    def has_both(self, battle: Pairing) -> bool:
        """Return whether both models have this response already."""
        key = response_key(battle.item, battle.response)
        return key in self.texts[battle.a] and key in self.texts[battle.b]

    def battles_without_answer(self, battles: Iterable[Pairing]) -> list[Pairing]:
        """Return the battles on whose item a model has no response."""
        keys = {item.id: item.keys for item in self.items}

        def has_answer(name: str, item: str) -> bool:
            texts = self.texts.get(name, {})
            return any(key in texts for key in keys.get(item, ()))

        return [
            battle
            for battle in battles
            if not (has_answer(battle.a, battle.item) and has_answer(battle.b, battle.item))
        ]

    def with_answers(
        self, answers: Mapping[tuple[str, str], tuple[str | None, str]]
    ) -> "Responses":
        """Return the responses with answers to pending ones: by model and key the text, or None and
        the reason."""
        texts, missing = (
            {name: dict(own) for name, own in cells.items()} for cells in (self.texts, self.missing)
        )
        for (name, key), (text, reason) in answers.items():
            if text is None:
                missing[name][key] = reason
            else:
                texts[name][key] = text
        left = {
            name: [key for key in keys if (name, key) not in answers]
            for name, keys in self.pending.items()
        }
        pending = {name: frozenset(keys) for name, keys in left.items()}
        return replace(self, texts=texts, missing=missing, pending=pending)

    def missing_reasons(self) -> dict[str, dict[str, int]]:
        """Return the number of missing responses by model and reason, for models that miss some."""
        counted = {
            name: dict(sorted(Counter(self.missing[name].values()).items())) for name in self.models
        }
        return {name: reasons for name, reasons in counted.items() if reasons}

    def digest(self) -> str:
        """Return a hash of items, responses, reasons of missing ones and pending ones, whatever
        their order."""
        every = [
            [item.id, item.instruction, item.reference, item.system, item.media]
            for item in self.items
        ]
        items = sorted(fields if fields[-1] else fields[:-1] for fields in every)
        said = [
            [name, sorted(self.texts[name].items()), sorted(self.missing[name].items())]
            for name in self.models
        ]
        asked = [[name, sorted(keys)] for name, keys in sorted(self.pending.items()) if keys]
        shown = [items, said, *([asked] if asked else [])]
        return hashlib.sha256(json.dumps(shown).encode("ascii")).hexdigest()

    def only(self, models: Sequence[str]) -> "Responses":
        """Return the responses of some models; UsageError for an unknown one."""
        kept = {find_name("model", name, self.texts) for name in models}

        def of_models(cells: Mapping[str, Any]) -> dict[str, Any]:
            return {name: own for name, own in cells.items() if name in kept}

        texts, missing, pending, work = map(
            of_models, (self.texts, self.missing, self.pending, self.work)
        )
        return replace(self, texts=texts, missing=missing, pending=pending, work=work)

    def select(
        self,
        *,
        models: Sequence[str] = (),
        limit: int | None = None,
        category: str | Sequence[str] | None = None,
        seed: int | None = None,
        answered_by: str | None = None,
    ) -> "Responses":
        """Select models, and of the items of a category that a model's files contain at most
        `limit`: the first, or drawn by a seed.

        Raises:
            UsageError: an unknown model or category, or a limit below 1.
        """
        if models:
            return self.only(models).select(
                limit=limit, category=category, seed=seed, answered_by=answered_by
            )
        if limit is None and not category and not answered_by:
            return self
        if limit is not None and limit < 1:
            raise UsageError(f"limit={limit}: give a number of items, 1 or more")
        categories = [category] if isinstance(category, str) else category
        unknown = [name for name in categories or () if name not in self.categories]
        if unknown:
            known = some(self.categories) or "none: no source says any"
            raise UsageError(f"no item has category {unknown[0]!r}; categories: {known}")
        items = tuple(
            item for item in self.items if categories is None or item.category in categories
        )
        if answered_by is not None:
            lost = self.missing[find_name("model", answered_by, self.texts)]
            items = tuple(
                item for item in items if any(lost.get(key) != ABSENT for key in item.keys)
            )
        if limit is not None and limit < len(items) and seed is not None:
            import numpy as np

            ids = sorted(item.id for item in items)
            drawn = {ids[k] for k in np.random.default_rng(seed).permutation(len(ids))[:limit]}
            items = tuple(item for item in items if item.id in drawn)
        kept = {key for item in items[:limit] for key in item.keys}

        def of_items(cells: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
            return {
                name: {key: cell for key, cell in row.items() if key in kept}
                for name, row in cells.items()
            }

        texts, missing, work = map(of_items, (self.texts, self.missing, self.work))
        pending = {name: keys & kept for name, keys in self.pending.items()}
        return replace(
            self, items=items[:limit], texts=texts, missing=missing, pending=pending, work=work
        )


def assemble(answers: Sequence[ResponseRow], questions: Sequence[QuestionRow]) -> Responses:
    """Assemble answers by item, model and number, with questions beside; DataError if rows
    contradict each other."""
    cells = _answers_by_model(answers)
    # Questions first, then the models by name, so that the order of sources does not matter.
    asked, times = defaultdict[str, list[QuestionRow]](list), dict[str, int]()
    for question in [
        *questions,
        *(each.question for each in sorted(answers, key=lambda each: each.model)),
    ]:
        asked[question.item].append(question)
    for answer in answers:
        times[answer.question.item] = max(times.get(answer.question.item, 1), answer.number)
    items = tuple(
        replace(_item_of(rows), responses=times[item])
        for item, rows in asked.items()
        if item in times
    )
    several, most = (
        sum(item.responses > 1 for item in items),
        max((item.responses for item in items), default=1),
    )
    silent = [item for item in asked if item not in times]
    notes = [Notice("questions-unanswered", {"questions": silent})] if silent else []
    if several:
        notes.append(Notice("several-responses", {"items": several, "most": most}))
    keys = [key for item in items for key in item.keys]
    reasons = {
        name: {key: row[key].reason if key in row else ABSENT for key in keys}
        for name, row in cells
    }
    pending = {
        name: frozenset(key for key, why in own.items() if why == PENDING)
        for name, own in reasons.items()
    }
    missing = {
        name: {key: why for key, why in own.items() if why and why != PENDING}
        for name, own in reasons.items()
    }
    return Responses(
        items=items,
        texts={
            name: {key: each.text for key, each in row.items() if each.text is not None}
            for name, row in cells
        },
        missing=missing,
        pending={name: keys for name, keys in pending.items() if keys},
        work={
            name: {key: each.work for key, each in row.items() if each.work and each.text}
            for name, row in cells
        },
        notes=(*notes, *_note_renderings(asked)),
    )


def _answers_by_model(answers: Sequence[ResponseRow]) -> list[tuple[str, dict[str, ResponseRow]]]:
    """Return the answers by response key of each model, sorted by model; DataError for a second one
    of the same key."""
    cells: dict[str, dict[str, ResponseRow]] = defaultdict(dict)
    for answer in answers:
        first = cells[answer.model].setdefault(
            response_key(answer.question.item, answer.number), answer
        )
        if first is not answer:
            problem = f"a second response of {answer.model!r} to item {answer.question.item!r}"
            remedy = "keep one of the two, or label the models: one=path other=path"
            raise answer.question.error(
                f"{problem}; the first is in {first.question.place}", remedy
            )
    return sorted(cells.items())


def _item_of(rows: Sequence[QuestionRow]) -> Item:
    """Return the item that its rows describe; DataError if they contradict each other."""
    fixed = [row for row in rows if not row.rendered]
    said = {
        name: _common_value(name, rows if name in ("reference", "category") else fixed)
        for name in AGREE
    }
    rendered = [row for row in rows if row.rendered and row.instruction is not None]
    if said["instruction"] is None and rendered:
        # The shortest rendering is nearest to the bare question, whatever the order of files.
        shortest = min(
            rendered,
            key=lambda row: (len(row.instruction or ""), row.instruction, row.system or ""),
        )
        said |= {"instruction": shortest.instruction, "system": said["system"] or shortest.system}
    instruction = said.pop("instruction")
    if instruction is None or not instruction.strip():
        remedy = "give the questions too: a file with a row per item that holds its id and its instruction"
        raise rows[0].error(f"item {rows[0].item!r} has no instruction", remedy)
    return Item(
        rows[0].item,
        instruction,
        said["category"],
        said["reference"],
        said["system"],
        said["media"],
    )


def _common_value(name: str, rows: Sequence[QuestionRow]) -> str | None:
    """Return the value of a field on which all rows agree, None if it is empty; DataError if they
    do not."""
    said = [(row, str(getattr(row, name))) for row in rows if getattr(row, name) is not None]
    for row, other in said[1:]:
        first, value = said[0]
        if normal_text(other) != normal_text(value):
            lines = (" ".join(text.split()) for text in (other, value))
            here, there = (repr(line if len(line) <= 60 else f"{line[:57]}...") for line in lines)
            problem = f"item {row.item!r} has another {name} here ({here}) than in {first.place} ({there})"
            remedy = "responses can be compared only where models were asked the same"
            kind = OtherQuestionError if name in QUESTION else DataError
            remedy += ": rename the ids, or give the right file"
            raise kind(problem, remedy=remedy, source=row.source or None, row=row.row or None)
    return said[0][1] if said else None


def _note_renderings(asked: dict[str, list[QuestionRow]]) -> list[Notice]:
    """Return a note on items whose instruction was rendered by different templates."""
    rendered = {
        item: [row.instruction for row in rows if row.rendered] for item, rows in asked.items()
    }
    several = [
        item
        for item, texts in rendered.items()
        if len({normal_text(text) for text in texts if text}) > 1
    ]
    return [Notice("different-words", {"items": several})] if several else []


def questions_in(rows: Iterable[Row]) -> list[QuestionRow]:
    """Return the questions of all rows."""
    return [row.question if isinstance(row, ResponseRow) else row for row in rows]


def add_pending(
    answers: Sequence[ResponseRow],
    questions: Sequence[QuestionRow],
    prompts: Sequence[QuestionRow],
    models: Sequence[str],
) -> tuple[list[ResponseRow], list[Notice]]:
    """Return the answers with a pending one for each item (of the prompts, if any) that a model
    lacks, and notes."""
    items: dict[str, QuestionRow] = {}
    for question in prompts or [*questions, *questions_in(answers)]:
        items.setdefault(question.item, question)
    known = [each for each in answers if each.question.item in items]
    unasked = {"responses": len(answers) - len(known), "prompts": len(items)}
    notes = [Notice("responses-unasked", unasked)] if len(known) < len(answers) else []
    rows = [each for each in known if each.text is not None or each.model not in models]
    for name in models:
        there = {each.question.item for each in rows if each.model == name and each.number == 1}
        if there:
            counts = {"recorded": len(there), "pending": len(items) - len(there)}
            notes.append(Notice("responses-recorded", {"model": name, **counts}))
        rows += [
            ResponseRow(asked, name, None, PENDING)
            for item, asked in items.items()
            if item not in there
        ]
    return rows, notes
