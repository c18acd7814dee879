"""The record of a judge: what is known of the model, human or function that gave verdicts."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, get_args

from podium.names import seen_name

JudgeKind = Literal["model", "human", "reward", "rule"]
KINDS: tuple[str, ...] = get_args(JudgeKind)
"""The kinds of judges, in the order in which messages list them."""
SCHEMA_FIRST = "schema-first"
"""The field `replies` has this value if the judge is asked for replies with a JSON schema first.

A judge that takes no schema is then asked for text.
"""


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """What is known of a judge. None and an empty tuple mean: not known.

    `name` is never parsed. The code that makes the judgments, or reads them from a file, sets the
    other fields.

    Attributes:
        name: the text in the column `judge`, which tables and messages show.
        kind: `model` (a language model), `human`, `reward` (a reward model) or `rule` (a function).
        model: the judge's model as its host spells it, with the provider.
        model_name: the model without the provider, if the host gives both spellings.
        realization: how the judge is asked, for example `rubric`.
        prompt: a hash of everything that shapes the prompt, if podium asked the judge.
        replies: how replies are asked for: `schema`, `text`, `schema-first` (as text if the judge
            takes no schema) or `auto` (as text, and with a schema if that is unparsed).
        settings: the model's generation settings, pairs of name and value as text, sorted.
    """

    name: str
    kind: JudgeKind | None = None
    model: str | None = None
    model_name: str | None = None
    realization: str | None = None
    prompt: str | None = None
    replies: str | None = None
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_name(cls, name: str) -> Self:
        """Return the record of a judge whose source gives only a name.

        The name is also used as the model. All other fields are unknown.
        """
        return cls(name, model=name)

    @classmethod
    def from_json(cls, name: str, values: Mapping[str, Any]) -> Self:
        """Return the judge with this name that `to_json` wrote.

        Args:
            name: name of the judge.
            values: values by field; missing fields and None are not known, and other keys are
                ignored.

        Raises:
            ValueError: the kind is not one of `KINDS`.
        """
        facts_as_recorded = {
            field: values[field] for field in FACTS if values.get(field) is not None
        }
        if "kind" in facts_as_recorded and facts_as_recorded["kind"] not in KINDS:
            raise ValueError(
                f"kind is {facts_as_recorded['kind']!r}; available: {', '.join(KINDS)}"
            )
        settings = dict(facts_as_recorded.pop("settings", {}))
        return cls(name, **facts_as_recorded, settings=tuple(sorted(settings.items())))

    @property
    def is_human(self) -> bool:
        """Whether the judge is known to be a human."""
        return self.kind == "human"

    @property
    def has_facts(self) -> bool:
        """Whether the record differs from that of a source that gives only a name (`from_name`).

        It also differs if the model is None, as in a contradiction that `join_judges` found.
        """
        return self != JudgeRecord.from_name(self.name)

    @property
    def shown_model(self) -> str:
        """The model of the judge, or its name if no model is known, to be shown to people."""
        return self.model or self.name

    def is_called(self, word: str) -> bool:
        """Return whether a user's word looks like the name of this judge or of its model.

        Two names look alike if they are equal in Unicode form NFC, without invisible characters and
        blanks at the ends.
        """
        names_of_judge = (self.name, self.model, self.model_name)
        return seen_name(word) in {seen_name(name) for name in names_of_judge if name is not None}

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are known, except the name, as JSON for a file or a log."""
        values = {field: getattr(self, field) for field in FACTS}
        known_facts = {field: value for field, value in values.items() if value}
        # The record has pairs, and JSON an object.
        if self.settings:
            known_facts["settings"] = dict(self.settings)
        return known_facts


FACTS = tuple(field.name for field in fields(JudgeRecord) if field.name != "name")
"""The fields of a judge besides its name."""
COLUMN_OF = {fact: f"judge_{fact}" for fact in FACTS}
"""Columns of the battles table that describe the judge in the column `judge`, by field."""
REFUSED_OPTIONS = "refused_options"
"""Key of a judge in a log, besides the fields of the judge: the call options that it refused."""


def refused_options(facts_by_name: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the options of calls that judges refused in a run, as a log keeps them.

    Args:
        facts_by_name: what the log keeps of each judge, by the judge's name.

    Returns:
        The server's message by option, such as `temperature`, for each judge that refused any.
    """
    return {
        name: dict(fields_of_judge[REFUSED_OPTIONS])
        for name, fields_of_judge in facts_by_name.items()
        if REFUSED_OPTIONS in fields_of_judge
    }


def judge_of_cells(name: str, cells: Mapping[str, str | None]) -> JudgeRecord:
    """Return the judge that the cells of a table describe.

    Args:
        name: the name of the judge.
        cells: text by field, as `cells_of` writes it; None if the cell is empty. Cells of anything
            but a field are ignored.

    Returns:
        The judge. Unless it is a human, a missing model is set to the name.

    Raises:
        ValueError: the kind is unknown, or the settings are not a JSON object.
    """
    known_cells: dict[str, Any] = {field: text for field, text in cells.items() if text is not None}
    if "settings" in known_cells:
        known_cells["settings"] = json.loads(known_cells["settings"])
        if not isinstance(known_cells["settings"], dict):
            raise ValueError("settings are no JSON object")
    if known_cells.get("kind") != "human":
        known_cells.setdefault("model", name)
    return JudgeRecord.from_json(name, known_cells)


def cells_of(judge: JudgeRecord) -> dict[str, str]:
    """Return the text of each known field of a judge, for the cells of a table.

    The name is left out, and the settings are written as a JSON object.
    """
    facts = judge.to_json()
    if "settings" in facts:
        facts["settings"] = json.dumps(facts["settings"], ensure_ascii=False)
    return facts


def join_judges(sources: Iterable[Mapping[str, JudgeRecord]]) -> dict[str, JudgeRecord]:
    """Join the judges of several sources, by name.

    A source that gives only a name adds nothing. If two other sources describe a judge
    differently, only its name is kept, without a model.
    """
    joined: dict[str, JudgeRecord] = {}
    for judges_of_source in sources:
        for name, judge in judges_of_source.items():
            judge_before = joined.setdefault(name, judge)
            if judge_before == judge or not judge.has_facts:
                continue
            joined[name] = JudgeRecord(name) if judge_before.has_facts else judge
    return joined


def judges_with_other_replies(judges: Iterable[JudgeRecord]) -> list[list[str]]:
    """Return groups of two or more judges that differ in how replies are asked for.

    A group is a list of the judges' names. Its judges have the same kind, model, realization and
    settings, and not all have the same `replies`. Their prompts may differ, too, because a prompt
    names the form of the reply. Judges without a known prompt are left out.
    """
    # For judges that are alike otherwise: the `replies` of each judge, by its name.
    groups: dict[tuple[Any, ...], dict[str, str | None]] = {}
    for judge in judges:
        if judge.prompt is not None:
            rest = (judge.kind, judge.model, judge.realization, judge.settings)
            groups.setdefault(rest, {})[judge.name] = judge.replies
    with_other_replies = []
    for replies_by_name in groups.values():
        if len(set(replies_by_name.values())) > 1:
            with_other_replies.append(list(replies_by_name))
    return with_other_replies


def judges_with_other_prompts(judges: Iterable[JudgeRecord]) -> list[list[str]]:
    """Return groups of two or more judges that differ in nothing but the prompt.

    A group is a list of the judges' names. The names, and the names of models without providers,
    may differ, too. Judges without a known prompt are left out.
    """
    groups: dict[tuple[Any, ...], list[str]] = {}
    for judge in judges:
        if judge.prompt is not None:
            rest = (judge.kind, judge.model, judge.realization, judge.replies, judge.settings)
            groups.setdefault(rest, []).append(judge.name)
    return [group for group in groups.values() if len(group) > 1]
