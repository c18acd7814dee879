"""Reports of judge cards: the summary with a line per check, one section, or all sections."""

from collections.abc import Mapping

from podium.diagnosis.card import ACROSS, SECTIONS, Card, Diagnosis, Reply, Sections
from podium.diagnosis.card_summary import best_with_humans, check_lines
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.judges import Rejudged
from podium.diagnosis.jury import JuryWorth
from podium.errors import UsageError
from podium.report.model import Fact, Report, Section, Table
from podium.report.numbers import percent, reasons_text

MORE = "The figures behind a line: --section position · all of them: --full"
UNNAMED = "judge not named"


def summary_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Build the summary: the answer and a line per check for one judge, a row per judge for several."""
    if len(diagnosis.cards) > 1:
        return (_judges_report(diagnosis),)
    (card,) = diagnosis.cards
    rows = tuple((line.name, line.figure, line.verdict) for line in check_lines(card.answers))
    table = Table("", ("check", "found", "verdict"), rows, align="lll", words=True)
    return (Report(_title(card), card.answer, table, (_sizes(card), MORE)),)


def section_reports(diagnosis: Diagnosis, name: str) -> tuple[Report, ...]:
    """Build a report of one section for every card; raises UsageError for an unknown name."""
    if name in ACROSS:
        return (Report("all judges", sections=_sections({name: ACROSS[name]}, diagnosis.across)),)
    if name not in SECTIONS:
        raise UsageError(f"no section called {name!r}; available: {', '.join([*SECTIONS, *ACROSS])}")
    section = {name: SECTIONS[name]}
    return tuple(Report(_title(card), sections=_sections(section, card.answers)) for card in diagnosis.cards)


def card_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Build a report per card, and one for the comparisons between judges."""
    reports = []
    for card in diagnosis.cards:
        sections = _sections(SECTIONS, card.answers)
        reports.append(Report(_title(card), card.answer, notes=(_sizes(card),), sections=sections))
    if len(reports) > 1 or any(not isinstance(answer, Missing) for answer in diagnosis.across.values()):
        reports.append(Report("all judges", sections=_sections(ACROSS, diagnosis.across)))
    return tuple(reports)


def _judges_report(diagnosis: Diagnosis) -> Report:
    """Build the report with a row per judge."""
    cards = {card.subject.judge or UNNAMED: card for card in diagnosis.cards}
    lines = {name: check_lines(card.answers) for name, card in cards.items()}
    header = ("judge", *(line.name for line in next(iter(lines.values()))))
    table = Table("", header, tuple((name, *(line.short for line in own)) for name, own in lines.items()))
    best = best_with_humans(cards)
    answers = (best,) if best else tuple(f"{name}: {card.answer[0]}" for name, card in list(cards.items())[:3])
    rejudged, worth = diagnosis.across["rejudged"], diagnosis.across["jury"]
    compared = [f"{rejudged.sentence}. The models: --section rejudged"] if isinstance(rejudged, Rejudged) else []
    if isinstance(worth, JuryWorth):
        compared.append(f"{worth.sentence[0].upper()}{worth.sentence[1:]}: --section jury")
    notes = (*compared, "One judge with its intervals: --where judge=NAME · all figures, side by side: --full")
    title = f"{len(cards)} judges · {percent(diagnosis.level)} intervals"
    return Report(title, answers, table, notes)


def _title(card: Card) -> str:
    """Return the title of a card."""
    return f"judge card · {card.subject.judge or UNNAMED} · {percent(card.subject.level)} intervals"


def _sizes(card: Card) -> str:
    """Write the numbers of models, items, judgments and battles of a card."""
    battles, counts = card.subject.battles, card.subject.battles.counts()
    return (
        f"{len(battles.models)} models, {counts.items:,} items, {counts.judgments:,} judgments, "
        f"{counts.battles:,} battles: {counts.readable:,} judged, {counts.unparsed:,} unparsed"
        f"{reasons_text(battles.unparsed_reasons())}"
    )


def _sections(sections: Sections, answers: Mapping[str, Reply]) -> tuple[Section, ...]:
    """Build a report section per answer, and two with the reasons of missing figures and the methods of intervals."""
    built = []
    missing: dict[tuple[str, str], dict[str, None]] = {}
    methods: dict[str, dict[str, None]] = {}
    for name, (title, _) in sections.items():
        answer = answers[name]
        lines = ((title, answer),) if isinstance(answer, Missing) else answer.labelled_values()
        for label, value in lines:
            if isinstance(value, Missing):
                missing.setdefault((value.why, value.remedy), {})[label.strip()] = None
            elif isinstance(value, Statistic):
                methods.setdefault(value.method, {})[label.strip()] = None
        if not isinstance(answer, Missing):
            facts = tuple(Fact(label, *((value,) if isinstance(value, str) else value.cells)) for label, value in lines)
            built.append(Section(name, title, facts, answer.tables()))
    remarks = {
        "not answered": [
            f"{'; '.join(labels)}: {why}" + (f". Remedy: {remedy}" if remedy else "")
            for (why, remedy), labels in missing.items()
        ],
        "how the intervals are made": [f"{method}: {'; '.join(labels)}" for method, labels in methods.items()],
    }
    return (*built, *(Section(title, title, notes=tuple(texts)) for title, texts in remarks.items() if texts))
