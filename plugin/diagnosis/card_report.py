"""Judge cards as reports: a card each, and one for what is said of all judges together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from podium.diagnosis.answer import Figure, Missing, Row
from podium.diagnosis.card import ACROSS, SECTIONS, Card, Diagnosis, Said
from podium.diagnosis.wording import ends, number, size_of
from podium.report.model import EMPTY, Fact, Form, Measure, Report, Section, Table, notes_of
from podium.report.numbers import percent, reasons_text

Key = TypeVar("Key")
Block = tuple[str, str, Said]
"""A section's name and title, and what was said under it."""


def card_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Return a report per card, and one of all judges where anything is said of them together."""
    cards = [_card_report(card, diagnosis.level) for card in diagnosis.cards]
    blocks = _blocks(ACROSS, diagnosis.across)
    if any(not isinstance(said, Missing) for _, _, said in blocks) or (blocks and len(cards) > 1):
        cards.append(Report("all judges", sections=_sections(blocks), form=Form.CARD))
    return tuple(cards)


def _card_report(card: Card, level: float) -> Report:
    return Report(
        title=f"judge card · {card.subject.judge or 'judge not named'} · {percent(level)} intervals",
        notes=notes_of(_denominators(card)),
        sections=_sections(_blocks(SECTIONS, card.answers)),
        form=Form.CARD,
    )


def _denominators(card: Card) -> str:
    battles = card.subject.battles
    counts = battles.counts()
    return (
        f"{len(battles.entrants)} entrants, {counts.items:,} items, {counts.presentations:,} presentations, "
        f"{counts.battles:,} battles: {counts.judged:,} judged, {counts.unread:,} unread"
        f"{reasons_text(battles.unread_reasons())}"
    )


def _blocks(sections: Sequence, answers: Mapping[str, Said]) -> list[Block]:
    return [(section.name, section.title, answers[section.name]) for section in sections]


def _sections(blocks: Sequence[Block]) -> tuple[Section, ...]:
    """Return a section for each answer, then what was not answered, and how the intervals are made."""
    answered = [
        Section(name, title, tuple(map(_fact, said.rows())), tuple(map(_table, said.grids())))
        for name, title, said in blocks
        if not isinstance(said, Missing)
    ]
    remarks = {"not answered": _unanswered(blocks), "how the intervals are made": _methods(blocks)}
    return (*answered, *(Section(title, title, notes=notes_of(*lines)) for title, lines in remarks.items() if lines))


def _table(grid: Table) -> Table:
    return Table(grid.title, grid.header, grid.rows, words=grid.words)


def _fact(row: Row) -> Fact:
    """Return a row as text; a dash where the answer is missing."""
    if isinstance(row.value, str):
        return Fact(row.label, row.value)
    if isinstance(row.value, Missing):
        return Fact(row.label, Measure(EMPTY))
    return Fact(row.label, Measure(number(row.value), ends(row.value), *size_of(row.value)))


def _unanswered(blocks: Sequence[Block]) -> list[str]:
    """Say once for every reason which lines it leaves empty, and what would fill them."""
    lacking = [(label, value) for label, value in _values(blocks) if isinstance(value, Missing)]
    labels = _labels([(label, (value.why, value.remedy)) for label, value in lacking])
    return [
        f"{'; '.join(names)}: {why}" + (f". Remedy: {remedy}" if remedy else "")
        for (why, remedy), names in labels.items()
    ]


def _methods(blocks: Sequence[Block]) -> list[str]:
    """Say once for every method which lines it made."""
    labels = _labels([(label, value.method) for label, value in _values(blocks) if isinstance(value, Figure)])
    return [f"{method}: {'; '.join(names)}" for method, names in labels.items()]


def _values(blocks: Sequence[Block]) -> Iterator[tuple[str, Figure | Missing | str]]:
    """Yield label and value of every line; of a section that is missing, its title."""
    for _, title, said in blocks:
        if isinstance(said, Missing):
            yield title, said
        else:
            yield from ((row.label.strip(), row.value) for row in said.rows())


def _labels(pairs: Iterable[tuple[str, Key]]) -> dict[Key, dict[str, None]]:
    """Return the labels of each key, each once, in their order."""
    labels: dict[Key, dict[str, None]] = {}
    for label, key in pairs:
        labels.setdefault(key, {})[label] = None
    return labels
