"""Reports of judge cards: a summary with a line per check, and the full cards."""

from collections.abc import Mapping, Sequence

from podium.diagnosis.card import ACROSS, QUESTIONS, Card, CardSection, Diagnosis, Reply
from podium.diagnosis.card_summary import best_with_humans, check_lines
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.rejudged import Rejudged
from podium.errors import UsageError
from podium.report.model import Fact, Report, ReportLayout, Section, Table
from podium.report.numbers import percent, reasons_text

MORE = "The figures behind a line: --section position · all of them: --full"


def summary_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Build the short report: answer and a line per check for one judge, a row per judge for several."""
    if len(diagnosis.cards) > 1:
        return (_side_by_side(diagnosis),)
    reports = []
    for card in diagnosis.cards:
        rows = tuple((line.name, line.figure, line.verdict) for line in check_lines(card.answers))
        table = Table("", ("check", "found", "verdict"), rows, align="lll", words=True)
        notes = (_denominators(card), MORE)
        reports.append(Report(_title(diagnosis, card), card.answer, table, notes, form=ReportLayout.SHEET))
    return tuple(reports)


def section_reports(diagnosis: Diagnosis, name: str) -> tuple[Report, ...]:
    """Build a report of one section for every card.

    Raises:
        UsageError: there is no section of this name.
    """
    chosen, across = ([own for own in questions if own.name == name] for questions in (QUESTIONS, ACROSS))
    if across:
        return (Report("all judges", sections=_sections(across, diagnosis.across), form=ReportLayout.CARD),)
    if not chosen:
        names = [question.name for question in (*QUESTIONS, *ACROSS)]
        raise UsageError(f"no section called {name!r}; available: {', '.join(names)}")
    return tuple(
        Report(_title(diagnosis, card), sections=_sections(chosen, card.answers), form=ReportLayout.CARD)
        for card in diagnosis.cards
    )


def _side_by_side(diagnosis: Diagnosis) -> Report:
    """Build the table with a row per judge."""
    lines = {_name_of(card): check_lines(card.answers) for card in diagnosis.cards}
    header = ("judge", *(line.name for line in next(iter(lines.values()))))
    rows = tuple((judge, *(line.short for line in own)) for judge, own in lines.items())
    answers = [f"{_name_of(card)}: {card.answer[0]}" for card in diagnosis.cards]
    cards = {_name_of(card): card for card in diagnosis.cards}
    subjects = {name: card.subject for name, card in cards.items()}
    first = best_with_humans({name: card.answers for name, card in cards.items()}, subjects)
    again = diagnosis.across["rejudged"]
    compared = [f"{again.sentence}. The models: --section rejudged"] if isinstance(again, Rejudged) else []
    notes = (*compared, "One judge with its intervals: --where judge=NAME · all figures, side by side: --full")
    title = f"{len(rows)} judges · {percent(diagnosis.level)} intervals"
    return Report(
        title, (first,) if first else tuple(answers[:3]), Table("", header, rows), notes, form=ReportLayout.SHEET
    )


def _name_of(card: Card) -> str:
    """Return the judge's name, or a text for verdicts without one."""
    return card.subject.judge or "judge not named"


def _title(diagnosis: Diagnosis, card: Card) -> str:
    """Return the title of a card."""
    return f"judge card · {_name_of(card)} · {percent(diagnosis.level)} intervals"


def _denominators(card: Card) -> str:
    """Write the denominators of a card."""
    battles = card.subject.battles
    counts = battles.counts()
    return (
        f"{len(battles.models)} models, {counts.items:,} items, {counts.judgments:,} judgments, "
        f"{counts.battles:,} battles: {counts.readable:,} judged, {counts.unparsed:,} unparsed"
        f"{reasons_text(battles.unparsed_reasons())}"
    )


def card_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Build a report per card, and one for the comparisons between judges."""
    reports = []
    for card in diagnosis.cards:
        sections, notes = _sections(QUESTIONS, card.answers), (_denominators(card),)
        reports.append(
            Report(_title(diagnosis, card), card.answer, notes=notes, sections=sections, form=ReportLayout.CARD)
        )
    if len(reports) > 1 or any(not isinstance(answer, Missing) for answer in diagnosis.across.values()):
        reports.append(Report("all judges", sections=_sections(ACROSS, diagnosis.across), form=ReportLayout.CARD))
    return tuple(reports)


def _sections(questions: Sequence[CardSection], answers: Mapping[str, Reply]) -> tuple[Section, ...]:
    """Build a report section per answer; reasons and methods that repeat are written once."""
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
            facts = tuple(Fact(label, *((value,) if isinstance(value, str) else value.cells)) for label, value in lines)
            sections.append(Section(question.name, question.title, facts, answer.tables()))
    remarks = {
        "not answered": [
            f"{'; '.join(labels)}: {why}" + (f". Remedy: {remedy}" if remedy else "")
            for (why, remedy), labels in unanswered.items()
        ],
        "how the intervals are made": [f"{method}: {'; '.join(labels)}" for method, labels in methods.items()],
    }
    return (*sections, *(Section(title, title, notes=tuple(texts)) for title, texts in remarks.items() if texts))
