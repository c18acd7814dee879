"""The judge card: its sections, a card per judge, and the reports on the cards."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from podium.check_results import CHECK_COLUMNS, Check
from podium.data.battles import Battles
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.data.counts import counts_text
from podium.data.stopped_judges import are_of_stopped_judge
from podium.diagnosis.card_summary import best_with_humans, card_answer
from podium.diagnosis.card_words import ANSWERS
from podium.diagnosis.checks.all_checks import checks_of_card
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.checks.sample_checks import check_unit
from podium.diagnosis.consistency import consistency, position
from podium.diagnosis.figures import CardAnswer, Missing, Statistic, Value, as_dict, attempt
from podium.diagnosis.fit import bradley_terry_fit, cycles
from podium.diagnosis.gold import gold_agreement
from podium.diagnosis.human_agreement import measure_human_agreement
from podium.diagnosis.judges import Rejudged, compare_rejudged, side_by_side
from podium.diagnosis.jury import JuryWorth, jury_worth
from podium.diagnosis.preferences import measure_self_preference, verbosity
from podium.diagnosis.subject import NEAR_TIE, Gold, Subject
from podium.diagnosis.transitivity import transitivity
from podium.documents import Document, View, register_view
from podium.errors import UsageError
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.notice_text import notices_to_json
from podium.numbers import percent
from podium.rankers.errors.intervals import check_level
from podium.rankers.ranking import build_provenance
from podium.tables import EMPTY, Fact, Report, Section, Table
from podium.text import as_text
from podium.wording import capitalize_first, plural

SectionAnswer: TypeAlias = CardAnswer | Missing
"""The answer of a section, or why it cannot be answered."""
Sections: TypeAlias = Mapping[str, tuple[str, Callable[[Any], SectionAnswer]]]
"""Sections by JSON key: the title, and the function that computes the answer."""
SECTIONS: Sections = {
    "position": ("position: the response shown first", position),
    "consistency": ("consistency: ties, repeats, margins", consistency),
    "verbosity": ("verbosity: longer responses", verbosity),
    "self_preference": ("self-preference: models of the judge's family", measure_self_preference),
    "human": ("agreement with humans", measure_human_agreement),
    "transitivity": (
        "transitivity on single items",
        lambda judge: transitivity(judge.battles, level=judge.level),
    ),
    "cycles": ("transitivity of whole models", cycles),
    "fit": (
        "fit of Bradley-Terry",
        lambda judge: bradley_terry_fit(judge.battles, level=judge.level),
    ),
    "gold": ("ranking compared with a gold standard", gold_agreement),
}
"""The sections of every card, in the order shown."""
SECTIONS_ACROSS_JUDGES: Sections = {
    "side_by_side": ("judges and realizations side by side", side_by_side),
    "jury": ("what the jury is worth", jury_worth),
    "rejudged": ("the same battles re-judged", compare_rejudged),
}
"""The sections that compare judges, in the order shown."""
HINT_OF_SECTION = "The figures behind a line: --section {name} · all of them: --full"
"""Note below the summary of one judge. `{name}` is the name of a check, quoted for a shell."""
HINT_OF_FIGURES = "All figures: --full"
"""Note below the summary of one judge if no section has figures."""
SECTIONS_OF_CHECKS = {
    "cycle": "cycles",
    "length": "verbosity",
    "own family": "self_preference",
    "own model": "self_preference",
    "repeated": "consistency",
    "self-preference": "self_preference",
    "unparsed": "consistency",
}
"""JSON key of the section with the figures of a check, by name of the check.

A check that is not listed has its figures in the section with its own name.
"""
RELATIONS = ("own model", "own family")
"""Names of the checks whether the judge is one of the models, or of their family."""
UNNAMED = "judge not named"
"""What tables show for rows that name no judge."""
UNNAMED_METRIC = "metric not named"
"""What titles show for scores if no metric, or several metrics, are named."""


@dataclass(frozen=True, slots=True)
class Card:
    """The answers of all sections about one judge.

    Attributes:
        subject: the judge with its verdicts.
        answers: the answers by JSON key of the section.
    """

    subject: Subject
    answers: Mapping[str, SectionAnswer]

    @property
    def sections(self) -> CardSections:
        """The answers and the judge's battles, from which checks are made."""
        return CardSections(self.subject.battles, self.answers, self.subject.families)

    @property
    def key(self) -> str:
        """The name of the judge in mappings of cards; empty if no row names the judge."""
        return self.subject.shown_judge or ""

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks that apply to the judge, flagged or not, in the order of `CHECKLIST`."""
        return checks_of_card(self.sections)

    @property
    def answer(self) -> tuple[str, ...]:
        """The summary in at most three sentences.

        The sentences say whether the judge may rank, whether its Elo gaps match human ones, and
        what to do. If it is not known which rows are about the same item, the first sentence says
        so, and only the sentence on whether the judge may rank follows. If the judge was stopped as
        unable to judge, a single sentence says so.
        """
        if are_of_stopped_judge(self.subject.battles):
            return (ANSWERS["judge stopped"],)
        sentences = card_answer(self.sections, self.checks)
        unit_checks = check_unit(self.subject.battles)
        if not unit_checks:
            return sentences
        unit_check = unit_checks[0]
        return (f"{unit_check.start_sentence(unit_check.clause)}.", *sentences[:1])

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain Python values, for JSON.

        The keys are `judge`, `realization`, `answer`, `checks`, `models` (their number), `counts`,
        `unparsed_reasons` and `sections`, by JSON key of the section.
        """
        subject = self.subject
        return {
            "judge": subject.judge,
            "realization": subject.realization,
            "answer": list(self.answer),
            "checks": [check.to_dict() for check in self.checks],
            "models": len(subject.battles.models),
            "counts": subject.battles.counts().to_dict(),
            "unparsed_reasons": subject.battles.unparsed_reasons(),
            "sections": {name: as_dict(answer) for name, answer in self.answers.items()},
        }


@dataclass(frozen=True, slots=True)
class Diagnosis(Document):
    """The cards of all judges and the comparisons between them.

    Attributes:
        cards: a card per judge.
        across: the answers of the sections that compare judges, by JSON key.
        level: confidence level of the intervals.
        warnings: warnings about the battles.
        provenance: the files and options that the diagnosis was made from.
    """

    cards: tuple[Card, ...]
    across: Mapping[str, SectionAnswer]
    level: float
    warnings: tuple[Notice, ...]
    provenance: Mapping[str, Any]

    @property
    def sections_by_judge(self) -> dict[str, CardSections]:
        """The sections of each card, by the name of the judge."""
        return {card.key: card.sections for card in self.cards}

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain Python values, for JSON.

        The keys are `podium` (the format version), `level`, `cards`, `across` (the comparisons of
        judges), `warnings` and `provenance`.
        """
        return {
            "podium": FORMAT_VERSION,
            "level": self.level,
            "cards": [card.to_dict() for card in self.cards],
            "across": {name: as_dict(answer) for name, answer in self.across.items()},
            "warnings": notices_to_json(self.warnings),
            "provenance": dict(self.provenance),
        }


def diagnose(
    judgments: Battles,
    battles: Battles,
    *,
    gold: Gold | None = None,
    families: Mapping[str, str] | None = None,
    level: float = 0.95,
    seed: int = 0,
    near_tie: float = NEAR_TIE,
) -> Diagnosis:
    """Build a card per judge, and compare the judges.

    Args:
        judgments: verdicts of one or more judges, one per order, as
            `read_battles(..., merge=False)` returns them. Of battles with merged orders, as
            `read_battles` returns them, the judgments that were read are taken.
        battles: the same verdicts with the two orders merged. Weights count in ratings and fits,
            but not in shares of verdicts; if battles differ in weight, a warning says so.
        gold: a gold standard for the ranking; None to use human labels.
        families: families of models by pattern of their names; a model that no pattern matches
            gets the family that its name suggests.
        level: confidence level of intervals, in (0, 1).
        seed: seed of the resamples.
        near_tie: largest |margin| of a near-tie, finite, 0 or more.

    Returns:
        The cards, sorted by judge, and the comparisons. A figure that cannot be computed is
        `Missing`.

    Raises:
        UsageError: `level` or `near_tie` is out of its range.
    """
    check_level(level)
    if not 0 <= near_tie < np.inf:
        raise UsageError(
            f"near_tie={near_tie:g} is not a finite number of 0 or more (0.3 is the default)"
        )
    options = {
        "level": level,
        "seed": seed,
        "near_tie": near_tie,
        "families": dict(families or {}),
    }
    judgments = replace(judgments, rows=judgments.rows.separate_orders())
    # A judge card is about what the judge was asked.
    subjects = _subjects(judgments.asked_battles, battles.asked_battles, {"gold": gold, **options})
    cards = [Card(subject, answer_sections(SECTIONS, subject)) for subject in subjects]
    warnings = list(battles.notes)
    if gold is not None:
        warnings += gold.lost_files
    if battles.has_weights:
        warnings.append(Notice("verdicts-unweighted"))
    given_options = {"reading": dict(battles.reading), **options}
    return Diagnosis(
        cards=tuple(cards),
        across=answer_sections(SECTIONS_ACROSS_JUDGES, subjects),
        level=level,
        warnings=tuple(dict.fromkeys(warnings)),
        provenance=build_provenance(battles.sources, given_options),
    )


def judge_sections(
    judgments: Battles,
    battles: Battles,
    names: Iterable[str],
    *,
    families: Mapping[str, str],
    level: float,
    seed: int,
) -> dict[str, CardSections]:
    """Compute some sections of the card of each judge.

    Args:
        judgments: verdicts of one or more judges, one per order.
        battles: the same verdicts with the two orders merged.
        names: keys of `SECTIONS`.
        families: families of models by pattern of their names.
        level: confidence level of intervals.
        seed: seed of the resamples.

    Returns:
        The answers to the given sections only, by the short name of the judge, sorted by judge; the
        name is empty for rows that name no judge. There is no gold standard, so that figures that
        need one are `Missing`.
    """
    options = {
        "gold": None,
        "level": level,
        "seed": seed,
        "near_tie": NEAR_TIE,
        "families": dict(families),
    }
    wanted = {name: SECTIONS[name] for name in names}
    sections = {}
    for subject in _subjects(judgments.asked_battles, battles.asked_battles, options):
        card = Card(subject, answer_sections(wanted, subject))
        sections[card.key] = card.sections
    return sections


def answer_sections(sections: Sections, subject: Any) -> dict[str, SectionAnswer]:
    """Compute the answers of sections.

    Args:
        sections: the sections.
        subject: the argument of the sections' functions: a `Subject` for `SECTIONS`, a list of
            all subjects for `SECTIONS_ACROSS_JUDGES`.

    Returns:
        The answers by JSON key. An answer whose figures cannot be identified or fitted is
        `Missing`.
    """
    answers = {}
    for name, (_, compute) in sections.items():
        answers[name] = attempt(partial(compute, subject), "")
    return answers


def _subjects(judgments: Battles, battles: Battles, options: Mapping[str, Any]) -> list[Subject]:
    """Return a subject per judge, sorted by name.

    Rows that name no judge form one more subject.

    Args:
        judgments: verdicts of all judges, one per order.
        battles: the same verdicts with the two orders merged.
        options: further fields of every subject, by name.
    """
    if len(battles.judges) < 2:
        judge = battles.judges[0] if battles.judges else None
        label = battles.short_judges.get(judge or "")
        return [Subject(judge, judgments, battles, label=label, **options)]
    judge_of_judgment = _judges_by_row(judgments)
    judge_of_battle = _judges_by_row(battles)
    subjects = []
    for name in battles.judges:
        judge = None if name == UNNAMED_JUDGE else name
        is_of_judge = judge_of_battle == (judge or "")
        judgments_of_judge = judgments.select(judge_of_judgment == (judge or ""))
        battles_of_judge = battles.select(is_of_judge)
        other_battles = battles.select(~is_of_judge)
        subject = Subject(
            judge=judge,
            judgments=judgments_of_judge,
            battles=battles_of_judge,
            others=other_battles,
            label=battles.short_judges.get(name),
            **options,
        )
        subjects.append(subject)
    return subjects


def _judges_by_row(battles: Battles) -> np.ndarray:
    """Return the name of each row's judge, shape (rows,).

    The name of a row without a judge is an empty text. The battles must have a column `judge`.
    """
    return as_text(battles.table["judge"]).fillna("").to_numpy(object)


def summary_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Build the summary: a tuple with one report.

    The report on one judge has the card's answer and a line per check (`_is_shown`). The report on
    several judges has a row per judge.
    """
    if len(diagnosis.cards) > 1:
        return (_judges_report(diagnosis),)
    (card,) = diagnosis.cards
    summary = card.answer
    rows = tuple(_row_below_summary(check, summary) for check in card.checks if _is_shown(check))
    table = Table(title="", header=CHECK_COLUMNS, rows=rows, align="lll", words=True)
    return (
        Report(
            title=_title(card),
            answer=summary,
            table=table,
            notes=(_counts_line(card), _hint_of_figures(card)),
        ),
    )


def _row_below_summary(check: Check, summary: Sequence[str]) -> tuple[str, str, str]:
    """Return the row of a check in the table.

    The remedy of a flagged check is left out if the summary above the table gives it.
    """
    if check.is_flagged and any(check.remedy in sentence for sentence in summary):
        return check.name, check.result.value, check.figure
    return check.row


def _hint_of_figures(card: Card) -> str:
    """Return how to ask for the figures of one line of the card.

    The line is that of `position` if its section has figures, else the first one with figures. If
    no line has figures, the hint is that for all figures. Only lines that the summary shows count
    (`_is_shown`).
    """
    shown_checks = [check for check in card.checks if _is_shown(check)]
    position_first = sorted(
        shown_checks, key=lambda check: 0 if check.kind.name == "position" else 1
    )
    for check in position_first:
        key = SECTIONS_OF_CHECKS.get(check.kind.name, check.kind.name)
        answer = card.answers.get(key)
        if answer is not None and not isinstance(answer, Missing):
            return HINT_OF_SECTION.format(name=shlex.quote(check.kind.name))
    return HINT_OF_FIGURES


def _is_shown(check: Check) -> bool:
    """Return whether the summary has a line for a check.

    Whether the judge is one of the models, or of their family, has a line only if it is: the line
    of `self-preference` says what is not known of families. The JSON has all checks.
    """
    return check.is_flagged or check.kind.name not in RELATIONS


def section_reports(diagnosis: Diagnosis, name: str) -> tuple[Report, ...]:
    """Build a report of one section for every card, or one report if it compares judges.

    Args:
        diagnosis: the cards and comparisons.
        name: the key of a section, or the name of a check, which stands for the section that has
            its figures.

    Returns:
        A report per card, in the order of the cards, or a tuple of one report on all judges. A
        report has the sections of `_report_sections`, also if the section has no answer.

    Raises:
        UsageError: no section and no check has this name.
    """
    name = SECTIONS_OF_CHECKS.get(name, name)
    if name in SECTIONS_ACROSS_JUDGES:
        sections = _report_sections({name: SECTIONS_ACROSS_JUDGES[name]}, diagnosis.across)
        return (Report("all judges", sections=sections),)
    if name not in SECTIONS:
        available = ", ".join([*SECTIONS, *SECTIONS_ACROSS_JUDGES])
        raise UsageError(f"no section called {name!r}; available: {available}")
    section = {name: SECTIONS[name]}
    return tuple(
        Report(_title(card), sections=_report_sections(section, card.answers))
        for card in diagnosis.cards
    )


def card_reports(diagnosis: Diagnosis) -> tuple[Report, ...]:
    """Build a report per card, and a report on the comparisons between judges.

    The report on comparisons is left out if there is a single card and no comparison.
    """
    reports = [
        Report(
            _title(card),
            card.answer,
            notes=(_counts_line(card),),
            sections=_report_sections(SECTIONS, card.answers),
        )
        for card in diagnosis.cards
    ]
    has_comparison = any(not isinstance(answer, Missing) for answer in diagnosis.across.values())
    if len(reports) > 1 or has_comparison:
        reports.append(
            Report(
                "all judges", sections=_report_sections(SECTIONS_ACROSS_JUDGES, diagnosis.across)
            )
        )
    return tuple(reports)


def _judges_report(diagnosis: Diagnosis) -> Report:
    """Build the report with a row per judge.

    The report's answer names the judges that humans agree with most. Without human labels, the
    answer is the first sentence of each of the first three cards. A sentence is added for each
    judge that is one of the models, or of their family.
    """
    cards = {card.subject.shown_judge or UNNAMED: card for card in diagnosis.cards}
    table = _judges_table(cards)
    best_judges = best_with_humans(cards)
    sentences = [best_judges]
    if not best_judges:
        first_cards = list(cards.items())[:3]
        sentences = [f"{name}: {card.answer[0]}" for name, card in first_cards]
    sentences += _sentences_on_relations(cards.values())
    notes = []
    rejudged = diagnosis.across["rejudged"]
    if isinstance(rejudged, Rejudged):
        notes.append(f"{rejudged.sentence}. The models: --section rejudged")
    worth = diagnosis.across["jury"]
    if isinstance(worth, JuryWorth):
        notes.append(f"{capitalize_first(worth.sentence)}: --section jury")
    notes.append(
        "One judge with its intervals: --where judge=NAME · all figures, side by side: --full"
    )
    title = f"{len(cards)} {plural('judge', len(cards))} · {percent(diagnosis.level)} intervals"
    return Report(title=title, answer=tuple(sentences), table=table, notes=tuple(notes))


def _sentences_on_relations(cards: Iterable[Card]) -> list[str]:
    """Write a sentence on each judge that is one of the models, or of the family of some.

    A sentence says what was found and what to do. The sentences are in the order of the cards; the
    list is empty if no judge is related to the models.
    """
    sentences = []
    for card in cards:
        for check in card.checks:
            if check.is_flagged and check.kind.name in RELATIONS:
                finding = check.finding_text
                sentences.append(f"{capitalize_first(finding)}: {check.remedy}.")
    return sentences


def _judges_table(cards: Mapping[str, Card]) -> Table:
    """Build the table with a row per judge and a column per check that applies to any of them.

    A check without a figure shows its result. A cell is a dash if the check does not apply to the
    judge or is not known.

    Args:
        cards: the cards by name of the judge.
    """
    figures = {}
    columns: dict[str, None] = {}
    for name, card in cards.items():
        figures[name] = {check.kind.column: _cell_of_check(check) for check in card.checks}
        columns |= dict.fromkeys(figures[name])
    rows = []
    for name, by_column in figures.items():
        rows.append((name, *(by_column.get(column) or EMPTY for column in columns)))
    return Table(title="", header=("judge", *columns), rows=tuple(rows))


def _cell_of_check(check: Check) -> str:
    """Return the figure of a check, or its result if it has none; empty if it is not known."""
    if not check.is_known:
        return ""
    return check.short_figure or check.result.value


def _title(card: Card) -> str:
    """Return the title of a card.

    The title names the judge and the level of the intervals. A card of scores that no judge gave
    names their metric instead.
    """
    level = f"{percent(card.subject.level)} intervals"
    if card.sections.has_judge:
        return f"judge card · {card.subject.shown_judge or UNNAMED} · {level}"
    battles = card.subject.battles
    metrics = battles.metrics or tuple(measure.name for measure in battles.measures)
    metric = metrics[0] if len(metrics) == 1 else UNNAMED_METRIC
    return f"card of scores · {card.subject.shown_judge or metric} · {level}"


def _counts_line(card: Card) -> str:
    """Write the numbers of models, items, judgments and battles of a card, as one note."""
    battles = card.subject.battles
    counts = counts_text(battles.counts(), battles.unparsed_reasons())
    return f"{len(battles.models)} {plural('model', len(battles.models))}, {counts}"


def _report_sections(
    sections: Sections, answers: Mapping[str, SectionAnswer]
) -> tuple[Section, ...]:
    """Build a report section per answer, and up to two sections about all answers.

    Of the sections about all answers, the first one lists why figures are missing, and the second
    one how intervals are made. A section that would be empty is left out.
    """
    built = []
    labels_by_reason: dict[str, list[str]] = {}
    labels_by_method: dict[str, list[str]] = {}
    for name, (title, _) in sections.items():
        answer = answers[name]
        lines = ((title, answer),) if isinstance(answer, Missing) else answer.labelled_values()
        for label, value in lines:
            if isinstance(value, Missing):
                labels_by_reason.setdefault(_reason_text(value), []).append(label.strip())
            elif isinstance(value, Statistic):
                labels_by_method.setdefault(value.method, []).append(label.strip())
        if not isinstance(answer, Missing):
            facts = tuple(_fact(label, value) for label, value in lines)
            built.append(Section(name=name, title=title, facts=facts, tables=answer.tables()))
    reasons = [f"{_join_once(labels)}: {why}" for why, labels in labels_by_reason.items()]
    methods = [f"{method}: {_join_once(labels)}" for method, labels in labels_by_method.items()]
    for title, notes in (("not answered", reasons), ("how the intervals are made", methods)):
        if notes:
            built.append(Section(name=title, title=title, notes=tuple(notes)))
    return tuple(built)


def _reason_text(missing: Missing) -> str:
    """Write why a figure is missing, followed by the remedy if there is one."""
    return f"{missing.why}. Remedy: {missing.remedy}" if missing.remedy else missing.why


def _fact(label: str, value: Value) -> Fact:
    """Build a line of a report section: a label, and a text or the cells of a figure."""
    if isinstance(value, str):
        return Fact(label, value)
    # The cells of a figure are value, interval, size and clusters; of a missing one, two of them.
    return Fact(label, *value.cells)


def _join_once(labels: Iterable[str]) -> str:
    """Join labels by semicolons; a repeated label is written once."""
    return "; ".join(dict.fromkeys(labels))


register_view(Diagnosis, View(card_reports))
