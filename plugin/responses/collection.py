"""Responses of several models to the same items.

The responses come from one file or from many. A response may be missing (the files have no text of
it) or pending (the model can still be asked for it).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any

from podium.data.item_columns import dividing_columns
from podium.data.pairings import Field, NextRound, Pairing, pairings_on_items
from podium.data.tasks_of_items import task_of_item
from podium.errors import UsageError
from podium.known_names import find_name
from podium.notices.notice import Notice, select_codes
from podium.question_finding import QuestionFinding
from podium.responses.answers import ABSENT
from podium.responses.transcripts import AgentWork, plain_text, render
from podium.run_record import RunRecord
from podium.wording import group_noun, some

AGREEING_FIELDS = ("instruction", "reference", "system", "category", "media", "group")
"""Fields on which all rows of an item must agree."""
CODES_OF_PAIRING = ("questions-by-input",)
"""Codes of notices that say that items of responses have other names than in their files."""
CODES_OF_LOST_FILES = ("left-out", "run-failed")
"""Codes of notices on files of responses that could not be read, or hold no finished sample."""


@dataclass(frozen=True, slots=True)
class Item:
    """An instruction, with the other texts and labels of its item.

    Attributes:
        id: id of the item.
        instruction: what the models were asked.
        category: label of the item; None if there is none.
        reference: a correct answer; None if there is none.
        system: the system prompt of the responses; None if there was none.
        media: images, audio or files that belong to the instruction, as the host's JSON.
        responses: the largest number of responses that a model gave to the item.
        group: the group of the item, such as a passage; None if items have no groups.
        columns: further short values of the item by column, such as a passage or a level.
    """

    id: str
    instruction: str
    category: str | None = None
    reference: str | None = None
    system: str | None = None
    media: str | None = None
    responses: int = 1
    group: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys (`response_key`) of a model's responses to the item."""
        return tuple(response_key(self.id, number) for number in range(1, self.responses + 1))


def response_key(item: str, number: int) -> str:
    """Return the key of a model's response to an item.

    The key of the first response is the id of the item. The key of a later response also has its
    number.
    """
    return item if number == 1 else f"{item}\0{number}"


@dataclass(frozen=True, slots=True)
class Responses:
    """The responses of models to items. Each response has a text, is missing, or is pending.

    Attributes:
        items: the items.
        texts: texts of the responses, by model and `response_key`.
        missing: reasons of the missing responses, by model and `response_key`.
        sources: the files that were read.
        notes: notes for the user about the reading.
        tasks: names of the tasks of the responses.
        pending: keys of the responses that can still be asked for, by model.
        work: what the model did for a response, by model and `response_key`. Responses whose file
            does not say so are left out.
        runs: the runs that gave the responses. Empty if no host recorded a run and no setting is
            known to differ.
        questions: how the items of these runs were paired, by task.
        accepted: sentences on findings that the user accepted by name.
        cluster: the column with the groups of items; None if each item is independent.
    """

    items: tuple[Item, ...]
    texts: Mapping[str, Mapping[str, str]]
    missing: Mapping[str, Mapping[str, str]]
    sources: tuple[str, ...] = ()
    notes: tuple[Notice, ...] = ()
    tasks: tuple[str, ...] = ()
    pending: Mapping[str, frozenset[str]] = field(default_factory=dict)
    work: Mapping[str, Mapping[str, AgentWork]] = field(default_factory=dict)
    runs: tuple[RunRecord, ...] = ()
    questions: tuple[QuestionFinding, ...] = ()
    accepted: tuple[str, ...] = ()
    cluster: str | None = None

    def __repr__(self) -> str:
        lost = sum(len(reasons) for reasons in self.missing.values())
        return f"Responses({len(self.models)} models, {len(self.items)} items, {lost} missing)"

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, sorted."""
        return tuple(sorted(self.texts))

    @property
    def lost_files(self) -> tuple[Notice, ...]:
        """The notes on files that were left out because they could not be used."""
        return select_codes(self.notes, CODES_OF_LOST_FILES)

    @property
    def has_transcripts(self) -> bool:
        """Whether a judge is shown the transcript of any response."""
        for work_of_model in self.work.values():
            if any(work.shown for work in work_of_model.values()):
                return True
        return False

    def items_with_transcripts(self) -> frozenset[str]:
        """Return the ids of the items whose responses a judge is shown as transcripts.

        They are the items of the tasks in which any response is a transcript, so that the judge is
        asked alike about all items of a task. Without several tasks, they are all items or none.
        """
        task_of = {item.id: self._task_of(item.id) for item in self.items}
        keys_of_transcripts = set()
        for name, by_key in self.work.items():
            keys_of_transcripts |= {key for key in by_key if self.is_transcript(name, key)}
        tasks_of_agents = set()
        for item in self.items:
            if not keys_of_transcripts.isdisjoint(item.keys):
                tasks_of_agents.add(task_of[item.id])
        return frozenset(item for item, task in task_of.items() if task in tasks_of_agents)

    def _task_of(self, item: str) -> str:
        """Return the task whose name begins the id of an item; empty without several tasks.

        It is also empty for an item that no source gave a task.
        """
        return task_of_item(item, self.tasks) if len(self.tasks) > 1 else ""

    def shown_text(self, name: str, key: str, *, as_transcript: bool) -> str:
        """Return a model's response in the form that a judge is shown.

        The response must have a text.

        Args:
            name: name of the model.
            key: the response's key.
            as_transcript: whether responses to the item are shown as transcripts. If so, an answer
                is also written as a transcript.
        """
        text = self.texts[name][key]
        if as_transcript and not self.is_transcript(name, key):
            return render((), text)
        return text

    def plain_text(self, name: str, key: str) -> str:
        """Return a model's response in a form for humans.

        The pieces of a transcript stand under their names (`transcripts.plain_text`); an answer is
        unchanged. The response must have a text.
        """
        text = self.texts[name][key]
        return plain_text(text) if self.is_transcript(name, key) else text

    def is_transcript(self, name: str, key: str) -> bool:
        """Return whether a judge is shown the transcript of a response.

        False for an answer alone, and if the response is missing or pending.
        """
        work = self.work.get(name, {}).get(key)
        return work is not None and work.shown

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the categories, sorted."""
        categories = {item.category for item in self.items if item.category is not None}
        return tuple(sorted(categories))

    def field(self) -> Field:
        """Return the models and items as the field of a tournament.

        `Field.absent` has the models without a response to an item: all their responses to it are
        missing. A pending response counts as a response.
        """
        models = self.models
        absent = {}
        for item in self.items:
            keys = {*item.keys}
            names = [name for name in models if self.missing[name].keys() >= keys]
            if names:
                absent[item.id] = frozenset(names)
        groups = {item.id: item.group for item in self.items if item.group is not None}
        items = tuple(item.id for item in self.items)
        if self.cluster is None:
            return Field(models, items, absent)
        return Field(
            models=models, items=items, absent=absent, groups=groups, unit=group_noun(self.cluster)
        )

    def dividing_columns(self) -> dict[str, dict[str, list[str]]]:
        """Return the further columns that divide the items, such as passages.

        They are found by `item_columns.dividing_columns`: a column with at least two values, enough
        items of each, and few items without a value. The result has the ids of the items, by column
        and value. The column of the groups (`cluster`) and the category, which are fields of items,
        are left out.
        """
        columns = dividing_columns({item.id: item.columns for item in self.items})
        fields = ("category", self.cluster)
        return {column: items for column, items in columns.items() if column not in fields}

    def mean_number(self, *, of_left_out: bool = False) -> float:
        """Return the mean number of responses to the item of a battle, over all possible battles.

        An item counts as often as two models with responses to it can meet. Without such a pair,
        the mean is over items.

        Args:
            of_left_out: whether the mean is over the pairs that cannot meet, because a model has no
                response to the item.
        """
        absent = self.field().absent
        models = len(self.models)
        pairs = []
        for item in self.items:
            playable = comb(models - len(absent.get(item.id, ())), 2)
            if of_left_out:
                pairs.append(comb(models, 2) - playable)
            else:
                pairs.append(playable)
        if not any(pairs):
            pairs = [1] * len(self.items)  # every item counts once
        numbers = [item.responses for item in self.items]
        total = sum(pair * number for pair, number in zip(pairs, numbers, strict=True))
        return total / max(sum(pairs), 1)

    def in_all_responses(self, next_round: NextRound) -> NextRound:
        """Repeat each battle of a round for every number of a response to its item.

        A number is left out, and counted in `left_out`, if one of the models neither has the
        response with this number nor can be asked for it. If all numbers are left out, the battle
        stays once. The battles that the round left out before are counted for every number, too.
        The round is returned unchanged if no item has several responses.
        """
        if all(item.responses == 1 for item in self.items):
            return next_round
        items = {item.id: item for item in self.items}
        pairings: list[Pairing] = []
        left_out = round(next_round.left_out * self.mean_number(of_left_out=True))
        left_out_of = Counter[str]()
        for item, number in next_round.left_out_of.items():
            left_out_of[item] += number * items[item].responses
        for pairing in next_round.pairings:
            numbers = range(1, items[pairing.item].responses + 1)
            battles = [pairing._replace(response=number) for number in numbers]
            playable = [battle for battle in battles if self.can_play(battle)]
            # If nothing can be played, the battle stays once and will count as missing.
            battles_to_play = playable or [pairing]
            pairings += battles_to_play
            unplayed = len(battles) - len(battles_to_play)
            left_out += unplayed
            left_out_of[pairing.item] += unplayed
        # `+` leaves out the items of which no battle was left out.
        return NextRound(
            pairings=tuple(pairings),
            note=next_round.note,
            left_out=left_out,
            left_out_of=+left_out_of,
        )

    def can_play(self, battle: Pairing) -> bool:
        """Return whether each of the two models has, or can be asked for, its response of a battle.

        The response is that to the battle's item with the battle's number. A model can be asked for
        a response that is pending.
        """
        key = response_key(battle.item, battle.response)
        for name in (battle.a, battle.b):
            has_response = key in self.texts[name]
            can_be_asked = key in self.pending.get(name, ())
            if not has_response and not can_be_asked:
                return False
        return True

    def has_both(self, battle: Pairing) -> bool:
        """Return whether both models have the response of a battle already."""
        key = response_key(battle.item, battle.response)
        return key in self.texts[battle.a] and key in self.texts[battle.b]

    def keys_with_equal_texts(self) -> set[str]:
        """Return the keys of responses that two models may give with the same text.

        Battles of other keys are never of identical responses (see `are_identical`).
        """
        places_so_far: set[tuple[str, str]] = set()
        equal = set()
        for name, texts in self.texts.items():
            for key in texts:
                texts_in_forms = [
                    self.shown_text(name, key, as_transcript=form) for form in (True, False)
                ]
                places = {(key, text.strip()) for text in texts_in_forms}
                if not places_so_far.isdisjoint(places):
                    equal.add(key)
                places_so_far |= places
        return equal

    def identical_battles(self, battles: Sequence[Pairing]) -> list[Pairing]:
        """Return the battles in which the judge would be shown one text twice, in their order.

        White space at the ends of the texts makes no difference.
        """
        keys = self.keys_with_equal_texts()
        items = {item.id for item in self.items if not keys.isdisjoint(item.keys)}
        return [
            battle
            for battle in pairings_on_items(battles, items)
            if response_key(battle.item, battle.response) in keys and self.are_identical(battle)
        ]

    def are_identical(self, battle: Pairing) -> bool:
        """Return whether the judge would be shown the same text twice.

        White space at the ends makes no difference. False if a response is missing or pending.
        """
        if not self.has_both(battle):
            return False
        key = response_key(battle.item, battle.response)
        names = (battle.a, battle.b)
        as_transcript = any(self.is_transcript(name, key) for name in names)
        a, b = (self.shown_text(name, key, as_transcript=as_transcript) for name in names)
        return a.strip() == b.strip()

    def battles_without_answer(self, battles: Iterable[Pairing]) -> list[Pairing]:
        """Return the battles in which at least one model has no text of a response to the item.

        A model or item that is unknown here has no text, and a pending response does not count.
        """
        keys = {item.id: item.keys for item in self.items}

        def has_answer(name: str, item: str) -> bool:
            """Return whether a model has a response to the item, of any number."""
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
        """Return a copy in which pending responses are replaced by answers.

        Args:
            answers: for each model and `response_key`, a text and an empty reason, or None and the
                reason why there is no text. Pending responses without an answer stay pending.
        """
        texts = {name: dict(by_key) for name, by_key in self.texts.items()}
        missing = {name: dict(by_key) for name, by_key in self.missing.items()}
        for (name, key), (text, reason) in answers.items():
            if text is None:
                missing[name][key] = reason
            else:
                texts[name][key] = text
        pending = {}
        for name, keys in self.pending.items():
            pending[name] = frozenset(key for key in keys if (name, key) not in answers)
        return replace(self, texts=texts, missing=missing, pending=pending)

    def missing_reasons(self) -> dict[str, dict[str, int]]:
        """Return the number of missing responses, by model and reason.

        Models without missing responses are left out.
        """
        by_model = {}
        for name in self.models:
            counts = Counter(self.missing[name].values())
            if counts:
                by_model[name] = dict(sorted(counts.items()))
        return by_model

    def digest(self) -> str:
        """Return a hash of items and responses that does not depend on their order.

        The hash covers the items' ids, instructions, references, system prompts and media, the
        texts, the reasons of missing responses, and the keys of pending responses. Categories do
        not count.
        """
        items = []
        for item in self.items:
            fields = [item.id, item.instruction, item.reference, item.system]
            if item.media:
                fields.append(item.media)
            items.append(fields)
        responses = []
        for name in self.models:
            texts = sorted(self.texts[name].items())
            reasons = sorted(self.missing[name].items())
            responses.append([name, texts, reasons])
        content: list[Any] = [sorted(items), responses]
        pending = []
        for name, keys in sorted(self.pending.items()):
            if keys:
                pending.append([name, sorted(keys)])
        if pending:
            content.append(pending)
        return hashlib.sha256(json.dumps(content).encode("ascii")).hexdigest()

    def select_models(self, models: Sequence[str]) -> "Responses":
        """Return a copy with the responses and runs of the named models. All items stay.

        Args:
            models: names, which may lack the provider; see `find_name`.

        Raises:
            UsageError: there is no model of one of these names, or there are several.
        """
        selected = {find_name("model", name, self.texts) for name in models}

        def keep_models(by_model: Mapping[str, Any]) -> dict[str, Any]:
            """Return the entries of those models that are selected, by model."""
            return {name: value for name, value in by_model.items() if name in selected}

        return replace(
            self,
            texts=keep_models(self.texts),
            missing=keep_models(self.missing),
            pending=keep_models(self.pending),
            work=keep_models(self.work),
            runs=tuple(run for run in self.runs if run.model in selected),
        )

    def select(
        self,
        *,
        models: Sequence[str] = (),
        limit: int | None = None,
        category: str | Sequence[str] | None = None,
        seed: int | None = None,
        answered_by: str | Sequence[str] | None = None,
    ) -> "Responses":
        """Select models, items, and the responses to them.

        Args:
            models: names of the models; all by default.
            limit: largest number of items, 1 or more; all by default.
            category: one category or several; all by default.
            seed: seed with which items are drawn if there are more than the limit. If it is None,
                the first items are taken.
            answered_by: name of a model, or several names. Only items to which one of these models
                has a response in the files are selected, even if the response has no text. A
                pending response counts, too.

        Raises:
            UsageError: the limit is below 1, or no item has the category, or no model has the name.
        """
        if models:
            return self.select_models(models).select(
                limit=limit, category=category, seed=seed, answered_by=answered_by
            )
        if limit is None and not category and not answered_by:
            return self
        if limit is not None and limit < 1:
            raise UsageError(f"limit={limit}: give a number of items, 1 or more")
        categories = [category] if isinstance(category, str) else category
        items = self.items if categories is None else self._items_of_categories(categories)
        if answered_by:
            items = self._items_answered_by(answered_by, items)
        if limit is not None and limit < len(items) and seed is not None:
            import numpy as np

            ids = sorted(item.id for item in items)
            order = np.random.default_rng(seed).permutation(len(ids))
            drawn_ids = {ids[k] for k in order[:limit]}
            items = tuple(item for item in items if item.id in drawn_ids)
        return self._with_items(items[:limit])

    def _items_answered_by(
        self, models: str | Sequence[str], items: Sequence[Item]
    ) -> tuple[Item, ...]:
        """Return the items to which a model, or one of several models, has a response in the files.

        A response without a text counts, and so does a pending one.

        Raises:
            UsageError: no model has one of the names.
        """
        names = [models] if isinstance(models, str) else models
        missing_of_models = [self.missing[find_name("model", name, self.texts)] for name in names]
        answered = []
        for item in items:
            for reasons in missing_of_models:
                if any(reasons.get(key) != ABSENT for key in item.keys):
                    answered.append(item)
                    break
        return tuple(answered)

    def _items_of_categories(self, categories: Sequence[str]) -> tuple[Item, ...]:
        """Return the items whose category is among these.

        If no item has a category and all items are of one task, the name of this task selects all
        items. (If there are several tasks, they are the categories of their items.)

        Raises:
            UsageError: there is a category that no item has.
        """
        if not self.categories and len(self.tasks) == 1:
            task = self.tasks[0]
            if all(name == task or task.endswith(f"/{name}") for name in categories):
                return self.items
        category_names = {self._find_category(name) for name in categories}
        return tuple(item for item in self.items if item.category in category_names)

    def _find_category(self, name: str) -> str:
        """Return the category of this name, or the only one that ends with `/NAME`.

        So `advice` finds the task `acme/advice` of Inspect.

        Raises:
            UsageError: there is no such category, or there are several.
        """
        if name in self.categories:
            return name
        ending = [whole for whole in self.categories if str(whole).endswith(f"/{name}")]
        if len(ending) == 1:
            return ending[0]
        available = some(self.categories or self.tasks) or "none: no source says any"
        raise UsageError(f"no item has category {name!r}; categories: {available}")

    def _with_items(self, items: tuple[Item, ...]) -> "Responses":
        """Return a copy with only these items and the responses to them.

        The note on items with several responses is written anew; all other notes stay.
        """
        kept_keys = {key for item in items for key in item.keys}

        def keep_items(by_model: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
            """Return the entries of the kept items, for each model."""
            selected = {}
            for name, by_key in by_model.items():
                selected[name] = {key: value for key, value in by_key.items() if key in kept_keys}
            return selected

        numbers = select_codes(note_numbers(items, ()), ["several-responses"])
        others = [note for note in self.notes if note.code != "several-responses"]
        return replace(
            self,
            items=items,
            notes=(*others, *numbers),
            texts=keep_items(self.texts),
            missing=keep_items(self.missing),
            pending={name: keys & kept_keys for name, keys in self.pending.items()},
            work=keep_items(self.work),
        )


def note_numbers(items: Sequence[Item], unanswered: Sequence[str]) -> Iterator[Notice]:
    """Yield notes on items without a response and on items with several responses of a model.

    Args:
        items: the items that have a response.
        unanswered: ids of the items without a response.
    """
    if unanswered:
        yield Notice("questions-unanswered", {"questions": list(unanswered)})
    response_counts = [item.responses for item in items if item.responses > 1]
    if response_counts:
        yield Notice(
            "several-responses", {"items": len(response_counts), "most": max(response_counts)}
        )
