"""Judge cards as reports: a card each, and one for what is said of all judges together."""

from collections.abc import Mapping, Sequence

from podium.diagnosis.card import ACROSS, QUESTIONS, Diagnosis, Inquiry, Reply
from podium.diagnosis.figures import Missing, Statistic
from podium.report.model import Fact, Form, Report, Section, notes_of
from podium.report.numbers import percent, reasons_text


def card_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Return a report per card, and one of all judges where anything is said of them together."""
    reports = []
    for card in diagnosis.cards:
        battles = card.subject.battles
        counts = battles.counts()
        denominators = (
            f"{len(battles.entrants)} entrants, {counts.items:,} items, {counts.presentations:,} presentations, "
            f"{counts.battles:,} battles: {counts.readable:,} judged, {counts.unread:,} unread"
            f"{reasons_text(battles.unread_reasons())}"
        )
        title = f"judge card · {card.subject.judge or 'judge not named'} · {percent(diagnosis.level)} intervals"
        sections = _sections(QUESTIONS, card.answers)
        reports.append(Report(title, notes=notes_of(denominators), sections=sections, form=Form.CARD))
    if len(reports) > 1 or any(not isinstance(answer, Missing) for answer in diagnosis.across.values()):
        reports.append(Report("all judges", sections=_sections(ACROSS, diagnosis.across), form=Form.CARD))
    return tuple(reports)


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
            facts = tuple(Fact(label, value if isinstance(value, str) else value.measure()) for label, value in lines)
            sections.append(Section(question.name, question.title, facts, answer.tables()))
    remarks = {
        "not answered": [
            f"{'; '.join(labels)}: {why}" + (f". Remedy: {remedy}" if remedy else "")
            for (why, remedy), labels in unanswered.items()
        ],
        "how the intervals are made": [f"{method}: {'; '.join(labels)}" for method, labels in methods.items()],
    }
    return (*sections, *(Section(title, title, notes=notes_of(*texts)) for title, texts in remarks.items() if texts))
