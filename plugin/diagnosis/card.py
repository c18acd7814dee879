"""The judge card: which sections there are, and one card per judge.

A section is one line of `SECTIONS` (about one judge) or `ACROSS` (about all of them): a name, a title, and a function
that returns an `Answer`, or a `Missing` where the data cannot answer. A function may also raise `NotIdentifiedError`
or `NotConvergedError`: its message becomes the section's `Missing`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from podium.battles import Battles
from podium.diagnosis.answer import Answer, Missing, as_dict
from podium.diagnosis.consistency import consistency
from podium.diagnosis.cycles import cycles
from podium.diagnosis.fit import bradley_terry_fit
from podium.diagnosis.gold import gold_agreement
from podium.diagnosis.gold_source import Gold
from podium.diagnosis.judge_names import model_of
from podium.diagnosis.people import people
from podium.diagnosis.position import position
from podium.diagnosis.self_bias import tested_together
from podium.diagnosis.self_preference import self_preference
from podium.diagnosis.side_by_side import side_by_side
from podium.diagnosis.subject import NEAR_TIE, Subject
from podium.diagnosis.transitivity import transitivity
from podium.diagnosis.verbosity import verbosity
from podium.errors import NotConvergedError, NotIdentifiedError, UsageError
from podium.rankers.intervals import check_level
from podium.ranking import FORMAT_VERSION, provenance
from podium.text import as_text

About = TypeVar("About")
Said: TypeAlias = Answer | Missing


@dataclass(frozen=True, slots=True)
class Section(Generic[About]):
    """One question of the card.

    Attributes:
        name: its key in JSON.
        title: what people read.
        ask: from what is known to the answer.
    """

    name: str
    title: str
    ask: Callable[[About], Said]


SECTIONS: tuple[Section[Subject], ...] = (
    Section(
        "position",
        "position: the response shown first",
        lambda one: position(one.presentations, near_tie=one.near_tie, level=one.level),
    ),
    Section("consistency", "answers", lambda one: consistency(one.presentations, level=one.level)),
    Section(
        "verbosity",
        "verbosity: longer responses",
        lambda one: verbosity(one.battles, reference=one.reference, near_tie=one.near_tie, level=one.level),
    ),
    Section(
        "self_preference",
        "self-preference: models of the judge's family",
        lambda one: self_preference(
            one.battles, judge=one.model, families=one.families, reference=one.reference, level=one.level
        ),
    ),
    Section("people", "agreement with people", lambda one: people(one.battles, level=one.level, rng=one.rng)),
    Section(
        "transitivity",
        "transitivity on single items",
        lambda one: transitivity(one.battles, level=one.level),
    ),
    Section("cycles", "transitivity of whole models", lambda one: cycles(one.battles, level=one.level, rng=one.rng)),
    Section("fit", "fit of Bradley-Terry", lambda one: bradley_terry_fit(one.battles, level=one.level)),
    Section(
        "gold",
        "ranking beside a gold standard",
        lambda one: gold_agreement(
            one.battles,
            one.gold,
            model=model_of(one.judge),
            tests=tested_together(one),
            level=one.level,
            rng=one.rng,
        ),
    ),
)
"""What is asked of every judge, in the order shown."""

ACROSS: tuple[Section[Sequence[Subject]], ...] = (
    Section(
        "side_by_side",
        "judges and realizations side by side",
        lambda all_: side_by_side(all_, level=all_[0].level, rng=all_[0].rng),
    ),
)
"""What is asked of all judges together, in the order shown."""


@dataclass(frozen=True, slots=True)
class Card:
    """What the data say of one judge.

    Attributes:
        subject: the judge and its verdicts.
        answers: by name of the section.
    """

    subject: Subject
    answers: Mapping[str, Said]

    def to_dict(self) -> dict[str, Any]:
        """Return the card for JSON."""
        subject = self.subject
        counts = subject.battles.counts()
        return {
            "judge": subject.judge,
            "realization": subject.realization,
            "entrants": len(subject.battles.entrants),
            "counts": {**asdict(counts), "judged": counts.judged},
            "unread_reasons": subject.battles.unread_reasons(),
            "sections": answers_dict(self.answers),
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The cards of all judges, and what is said of them together."""

    cards: tuple[Card, ...]
    across: Mapping[str, Said]
    level: float
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis for JSON; NaN and infinity never occur in it."""
        return {
            "podium": FORMAT_VERSION,
            "level": self.level,
            "cards": [card.to_dict() for card in self.cards],
            "across": answers_dict(self.across),
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }

    def to_json(self) -> str:
        """Return a JSON document without NaN or infinity."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)


def diagnose(
    presentations: Battles,
    battles: Battles,
    *,
    gold: Gold | None = None,
    families: Mapping[str, str] | None = None,
    level: float = 0.95,
    seed: int = 0,
    near_tie: float = NEAR_TIE,
) -> Diagnosis:
    """Make a card per judge.

    Args:
        presentations: verdicts of one or more judges, the two orders apart (`read_battles(..., merge=False)`).
        battles: the same, the two orders merged.
        gold: the gold standard.
        families: entrants and judges to their family.
        level: of intervals, in (0, 1).
        seed: of resampling.
        near_tie: margins up to this are near-ties.

    Raises:
        UsageError: an option's value is impossible.
    """
    check_level(level)
    if not 0 <= near_tie < np.inf:
        raise UsageError(f"near_tie={near_tie:g} is not a finite number of 0 or more (0.3 is the default)")
    options = {"gold": gold, "families": families or {}, "level": level, "seed": seed, "near_tie": near_tie}
    subjects = _subjects(presentations, battles, options)
    told = {"level": level, "seed": seed, "near_tie": near_tie, "families": dict(families or {})}
    return Diagnosis(
        cards=tuple(Card(one, {section.name: asked(section, one) for section in SECTIONS}) for one in subjects),
        across={section.name: asked(section, subjects) for section in ACROSS},
        level=level,
        warnings=tuple(dict.fromkeys(battles.notes)),
        provenance=provenance(battles.sources, {"reading": dict(battles.reading), **told}),
    )


def asked(section: Section[About], about: About) -> Said:
    """Ask one question; a question that the data cannot support is missing, not an error."""
    try:
        return section.ask(about)
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(section.title, str(error), "")


def answers_dict(answers: Mapping[str, Said]) -> dict[str, Any]:
    """Write answers for JSON."""
    return {
        name: {"missing": as_dict(said)} if isinstance(said, Missing) else said.to_dict()
        for name, said in answers.items()
    }


def _subjects(presentations: Battles, battles: Battles, options: Mapping[str, Any]) -> list[Subject]:
    """Split the verdicts by judge, sorted by name; rows that name none are one judge more."""
    if len(battles.judges) < 2:
        return [Subject(battles.judges[0] if battles.judges else None, presentations, battles, **options)]
    names = [None if name == "(no judge)" else name for name in battles.judges]
    apart, merged = (_by_judge(one) for one in (presentations, battles))
    return [
        Subject(
            name,
            presentations.select(apart == (name or "")),
            battles.select(merged == (name or "")),
            battles.select(merged != (name or "")),
            **options,
        )
        for name in names
    ]


def _by_judge(battles: Battles) -> np.ndarray:
    """Return the judge of each row, empty where it is not named, shape (rows,)."""
    return as_text(battles.table["judge"]).fillna("").to_numpy(dtype=object)
