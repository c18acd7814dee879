"""Judge cards as reports: a card each, and one for what is said of all judges together."""

from collections.abc import Mapping, Sequence

from podium.diagnosis.card import ACROSS, QUESTIONS, Card, Diagnosis, Inquiry, Reply
from podium.diagnosis.figures import Missing, Statistic, Value
from podium.report.model import EMPTY, Fact, Form, Measure, Report, Section, notes_of
from podium.report.numbers import percent, reasons_text


def card_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Return a report per card, and one of all judges where anything is said of them together."""
    cards = [_card_report(card, diagnosis.level) for card in diagnosis.cards]
    if len(cards) > 1 or any(not isinstance(answer, Missing) for answer in diagnosis.across.values()):
        cards.append(Report("all judges", sections=_sections(ACROSS, diagnosis.across), form=Form.CARD))
    return tuple(cards)


def _card_report(card: Card, level: float) -> Report:
    battles = card.subject.battles
    counts = battles.counts()
    denominators = (
        f"{len(battles.entrants)} entrants, {counts.items:,} items, {counts.presentations:,} presentations, "
        f"{counts.battles:,} battles: {counts.readable:,} judged, {counts.unread:,} unread"
        f"{reasons_text(battles.unread_reasons())}"
    )
    return Report(
        title=f"judge card · {card.subject.judge or 'judge not named'} · {percent(level)} intervals",
        notes=notes_of(denominators),
        sections=_sections(QUESTIONS, card.answers),
        form=Form.CARD,
    )


def _sections(questions: Sequence[Inquiry], answers: Mapping[str, Reply]) -> tuple[Section, ...]:
    """Return a section for each answer; then say once for every reason what it leaves empty, for every method whose."""
    sections = []
    unanswered: dict[tuple[str, str], dict[str, None]] = {}
    methods: dict[str, dict[str, None]] = {}
    for question in questions:
        answer = answers[question.name]
        lines = ((question.title, answer),) if isinstance(answer, Missing) else answer.lines()
        for label, value in lines:
            if isinstance(value, Missing):
                unanswered.setdefault((value.why, value.remedy), {})[label.strip()] = None
            elif isinstance(value, Statistic):
                methods.setdefault(value.method, {})[label.strip()] = None
        if not isinstance(answer, Missing):
            facts = tuple(Fact(label, _shown_value(value)) for label, value in lines)
            sections.append(Section(question.name, question.title, facts, answer.tables()))
    remarks = {
        "not answered": [
            f"{'; '.join(labels)}: {why}" + (f". Remedy: {remedy}" if remedy else "")
            for (why, remedy), labels in unanswered.items()
        ],
        "how the intervals are made": [f"{method}: {'; '.join(labels)}" for method, labels in methods.items()],
    }
    return (*sections, *(Section(title, title, notes=notes_of(*texts)) for title, texts in remarks.items() if texts))


def _shown_value(value: Value) -> Measure | str:
    """Return a value as text; a dash where the answer is missing."""
    if isinstance(value, Statistic):
        return value.measure()
    return Measure(EMPTY) if isinstance(value, Missing) else value
