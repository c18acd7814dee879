"""The record of a judge: what is known of who or what decided a battle."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, get_args

JudgeKind = Literal["model", "human", "reward", "rule"]
KINDS: tuple[str, ...] = get_args(JudgeKind)


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """A judge, as far as it is known. None and an empty tuple mean: not known.

    Nothing is ever read out of `name`. Whoever makes the judgments, or reads them, sets the other
    fields.

    Attributes:
        name: the text in the column `judge`, which tables and messages show.
        kind: `model` (a language model), `human`, `reward` (a reward model) or `rule` (a function).
        model: the judge's model as its host spells it, with the provider.
        model_name: the same without the provider, if the host tells the two apart.
        realization: how the judge is asked, for example `rubric`.
        prompt: a hash of everything that shapes the prompt. Only judges that podium asked have one.
        replies: how replies are asked for: `auto`, `schema` or `text`.
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
        """Return a judge of which a source gives the name alone; it is taken as the model, too."""
        return cls(name, model=name)

    @classmethod
    def from_json(cls, name: str, kept: Mapping[str, Any]) -> Self:
        """Return the judge of a name from `to_json` of it; ValueError for a kind that is none."""
        known = {own: kept[own] for own in FACTS if kept.get(own) is not None}
        if known.get("kind", KINDS[0]) not in KINDS:
            raise ValueError(f"kind is {known['kind']!r}; available: {', '.join(KINDS)}")
        pairs = known.pop("settings", {})
        return cls(name, **known, settings=tuple(sorted(dict(pairs).items())))

    @property
    def is_human(self) -> bool:
        """Whether the judge is known to be a human."""
        return self.kind == "human"

    @property
    def has_facts(self) -> bool:
        """Whether more is known than the name."""
        return self != JudgeRecord.from_name(self.name)

    @property
    def shown_model(self) -> str:
        """The model, or the name of a judge without one: the shortest text that names it."""
        return self.model or self.name

    def is_called(self, word: str) -> bool:
        """Return whether a user may mean this judge by a word: its name, or its model's name."""
        return word in (self.name, self.model, self.model_name)

    def to_json(self) -> dict[str, Any]:
        """Return what is known, without the name, for a file or a log."""
        known = {own: value for own in FACTS if (value := getattr(self, own))}
        return known | ({"settings": dict(self.settings)} if self.settings else {})


FACTS = tuple(field.name for field in fields(JudgeRecord) if field.name != "name")
"""The fields of a judge beside its name."""
COLUMN_OF = {fact: f"judge_{fact}" for fact in FACTS}
"""Columns of the battles table that describe the judge in column `judge`, by field."""


def judge_of_cells(name: str, cells: Mapping[str, str | None]) -> JudgeRecord:
    """Return the judge that the cells of a table describe, as `cells_of` writes them, by field.

    Raises:
        ValueError: a kind that there is not, or settings that are no JSON object.
    """
    kept: dict[str, Any] = {own: text for own, text in cells.items() if text is not None}
    if "settings" in kept:
        kept["settings"] = json.loads(kept["settings"])
        if not isinstance(kept["settings"], dict):
            raise ValueError("settings are no JSON object")
    if kept.get("kind") != "human":
        kept.setdefault("model", name)
    return JudgeRecord.from_json(name, kept)


def cells_of(judge: JudgeRecord) -> dict[str, str]:
    """Return the cells that describe a judge in a table, by field; of what is known only."""
    known = judge.to_json()
    if "settings" in known:
        known["settings"] = json.dumps(known["settings"], ensure_ascii=False)
    return known


def join_judges(parts: Iterable[Mapping[str, JudgeRecord]]) -> dict[str, JudgeRecord]:
    """Join the judges of several sources by name; of a name that two sources describe differently,
    the name alone is known."""
    joined: dict[str, JudgeRecord] = {}
    for part in parts:
        for name, judge in part.items():
            known = joined.setdefault(name, judge)
            if known == judge or not judge.has_facts:
                continue
            joined[name] = judge if not known.has_facts else JudgeRecord(name)
    return joined


def differ_in_prompt(judges: Iterable[JudgeRecord]) -> list[list[str]]:
    """Return the names of judges that differ in the prompt alone, two or more to a group."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for judge in judges:
        if judge.prompt is not None:
            rest = (judge.kind, judge.model, judge.realization, judge.replies, judge.settings)
            groups.setdefault(rest, []).append(judge.name)
    return [group for group in groups.values() if len(group) > 1]
