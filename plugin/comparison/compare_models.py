"""Compare candidates with a baseline.

The battles are read and split by question: a question is a task by a metric and a judge. On each
question, each candidate is tested against the baseline. Then the requirements are decided.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.check_results import Check
from podium.comparability.run_settings import differ_in_words
from podium.comparison import comparison_report  # noqa: F401 - registers the view
from podium.comparison.compared_pair import ELO, MEASURES, METHODS, SCORE, ComparedPair
from podium.comparison.comparison import Comparison
from podium.comparison.direct_battles import BattleColumns
from podium.comparison.gate import Requirement, decide_requirements, read_requirements
from podium.comparison.inputs import (
    find_responses,
    identical_items,
    items_of_identical,
    split_arguments,
)
from podium.comparison.outcomes import PairFinding
from podium.comparison.pair_data import finding_of
from podium.comparison.raters_of_pair import are_between, rater_check_of
from podium.data.battles import Battles
from podium.data.formats.compared_answers import comparing_answers
from podium.data.jury_verdicts import judged_once
from podium.data.reading.judgments import read_battles
from podium.data.reading.shared_metrics import why_lost
from podium.data.stopped_judges import are_of_stopped_judge
from podium.defaults import RANKER_OF_DECISIONS
from podium.diagnosis.checks.all_checks import (
    checks_of_comparison,
    doubt_about_judge,
    doubt_about_losses,
    doubt_about_scales,
    doubts_about_models,
    flagged_losses,
    unknown_loss,
)
from podium.diagnosis.checks.comparability_checks import are_questions_in_doubt
from podium.diagnosis.checks.group_checks import dependent_groups
from podium.diagnosis.checks.judge_relation_checks import doubt_about_relation
from podium.diagnosis.checks.order_checks import (
    IN_SLICES,
    ONE_ORDER,
    ORDER_DECIDES,
    check_orders_of_slice,
    doubt_about_one_order,
)
from podium.diagnosis.judge_checks import judge_warnings
from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.findings import ACCEPTED
from podium.frames import is_frame
from podium.known_names import find_name
from podium.notices.notice import Notice, select_codes
from podium.notices.option_forms import option_text
from podium.rankers.errors.intervals import check_level, holm
from podium.rankers.errors.raters import (
    MOST_OF_FEW_RATERS,
    count_raters,
    count_raters_of_models,
)
from podium.rankers.fit.coded import require_choice
from podium.rankers.ranking import build_provenance
from podium.ranking.rank_battles import rank, refuse_several_judges, require_verdicts
from podium.responses.collection import Responses
from podium.show.answers.lost_claims import unclaimed_models
from podium.show.answers.order_claims import explained_by_any_order

if TYPE_CHECKING:
    import pandas as pd


QUESTION_COLUMNS = ("task", "metric", "judge")
"""Columns that divide scores into questions: a question is a task by a metric and a judge."""
SUBJECT_FIELDS = ("question", *QUESTION_COLUMNS, "slice")
"""Fields of `PairFinding` that say what a finding is about."""
CODES_OF_RENAMED_ITEMS = (
    "ids-begin-anew",
    "ids-with-inputs-of-categories",
    "paired-by-input",
    "turns-are-items",
)
"""Codes of notes which say that the items are not the ids in the sources."""


def compare(
    *words: "str | Path | Battles | pd.DataFrame",
    baseline: str | None = None,
    candidates: Sequence[str] = (),
    by: str | None = None,
    measure: str = "auto",
    method: str = "auto",
    level: float = 0.95,
    require: str | Sequence[str] = (),
    requirements: str | Path | None = None,
    responses: Responses | str | Path | Sequence[str | Path] | None = None,
    pool: bool = False,
    **reading: Any,
) -> Comparison:
    """Test whether a model is better than another, by how much, and on which items.

    Args:
        words: the candidate, the baseline and sources (`compare("amber", "birch",
            "battles.csv")`), or two paths that hold one model each, the candidate's first. If
            `baseline` is given, sources alone. A source may also be a `DataFrame` or `Battles`.
        baseline: compare other models with this one.
        candidates: compare only these with the baseline; by default all other models.
        by: also compare on every value of this column, as slices of each finding.
        measure: `score` (in the metric's units), `elo`, `win-rate` (of battles between the two),
            or `auto`: scores if there are any, else Elo.
        method: `auto`: the test that suits the number and values of the items; or `betting`: a
            test of scores from 0 to 1, or of the win rate, that allows for losses on items so rare
            that the sample has none, and stays valid when items are added after looking.
        level: of intervals, and of the one-sided bounds behind requirements, in (0, 1).
        require: `better`, `not-worse=10elo`, `not-worse=2points`, `not-worse=0.02`; see
            `podium.comparison.gate`.
        requirements: a YAML or TOML file with several requirements.
        responses: the models' answers, if the sources do not hold them.
        pool: pool the verdicts of several judges, and the scores of several tasks and metrics.
        **reading: as for `read_battles`.

    Returns:
        A finding per candidate and question. A comparison that cannot be made is a sentence in
        `failures`, as long as another one can be made or there are requirements.

    Raises:
        UsageError: an unknown name, option or requirement.
        DataError: a malformed value, or models that were asked different things under one item id.
        NotIdentifiedError: verdicts are compared, there are several judges, and `pool` is False; or
            a model was lost in reading; or no comparison can be made, and nothing is required.
    """
    how = _checked_options(measure, level, method)
    required = read_requirements(require, requirements)
    names, sources, tables = _split_words(words, baseline, reading)
    battles = _read_all(sources, tables, reading)
    answers, unknown = _find_answers(() if tables else sources, responses, battles, reading)
    lost_responses = _lost_files_of_responses(answers, battles) if responses else ()
    named_pairs = _choose_pairs(battles, names, baseline, candidates)
    pairs = [_build_pair(name, other, answers, battles, how) for name, other in named_pairs]
    findings, failures = _compare_pairs(battles, pairs, by, pool)
    if not findings and not required:
        raise NotIdentifiedError("; ".join(failures))
    compared_models = set().union(*named_pairs)
    checks = checks_of_comparison(battles, compared_models)
    findings = _with_all_doubts(findings, battles, checks, by, level, pool)
    return Comparison(
        findings=tuple(findings),
        level=level,
        provenance=_comparison_provenance(battles, {**how, "by": by, "pool": pool}, required),
        gate=decide_requirements(required, findings, level) if required else None,
        warnings=(*_collect_warnings(battles, answers, findings, checks, by), *lost_responses),
        checks=checks,
        failures=tuple(failures),
        unknown_answers=unknown if any(pair.identical is None for pair in pairs) else None,
        lost=(*battles.lost, *lost_responses),
        accepted=battles.accepted,
    )


def _checked_options(measure: str, level: float, method: str) -> dict[str, Any]:
    """Return measure, level and method by name.

    Raises:
        UsageError: one of them has no such value.
    """
    check_level(level)
    require_choice("measure", measure, MEASURES)
    require_choice("method", method, METHODS)
    return {"measure": measure, "level": level, "method": method}


def _find_answers(
    places: Sequence[str],
    responses: Responses | str | Path | Sequence[str | Path] | None,
    battles: Battles,
    reading: Mapping[str, Any],
) -> tuple[Responses | None, str | None]:
    """Return the models' answers, or None and the reason why there are none (`find_responses`).

    Args:
        places: sources of the battles, in which answers are looked for if `responses` is None.
        responses: the answers, or where they are; None if none were named.
        battles: the battles, whose items may have other names than in the sources.
        reading: the options of `read_battles` that were given, of which `allow` counts here.
    """
    allowed_names: str | Sequence[str] = reading.get("allow", ())
    allowed = [allowed_names] if isinstance(allowed_names, str) else allowed_names
    is_renamed = _renames_items(battles)
    return find_responses(places, responses, items_renamed=is_renamed, allow=allowed)


def _lost_files_of_responses(answers: Responses | None, battles: Battles) -> tuple[Notice, ...]:
    """Return the notes on files of responses that could not be read.

    Files that the battles have lost, too, are left out, since their notes name them already.
    """
    lost = answers.lost_files if answers is not None else ()
    return tuple(note for note in lost if note not in battles.lost)


def _renames_items(battles: Battles) -> bool:
    """Return whether the battles may have other items than the ids in their sources.

    They may if a note says so, if rows of tables were paired by their inputs and some are alone, or
    if the option `ids` was given.
    """
    is_changed = any(finding.unshared and not finding.task for finding in battles.questions)
    is_told = bool(select_codes(battles.notes, CODES_OF_RENAMED_ITEMS))
    return is_told or is_changed or bool(battles.reading.get("ids"))


def _split_words(
    words: "Sequence[str | Path | Battles | pd.DataFrame]",
    baseline: str | None,
    reading: Mapping[str, Any],
) -> "tuple[list[str], list[str], list[Battles | pd.DataFrame]]":
    """Split the arguments of `compare` into names of models, paths of sources, and tables.

    Args:
        words: the arguments.
        baseline: the baseline; None if none was given.
        reading: the options of `read_battles` that were given.

    Returns:
        The names of candidate and baseline, which are empty if `baseline` is given; the paths; and
        the tables.

    Raises:
        UsageError: words are missing, a path does not exist, or both models are the same.
    """
    tables: list[Battles | pd.DataFrame] = []
    texts = []
    for word in words:
        if isinstance(word, Battles) or is_frame(word):
            tables.append(word)
        else:
            texts.append(str(word))
    # All names are known, and there are no words to tell from sources.
    if baseline is not None and tables and not texts:
        return [], [], tables
    # A table stands among the words as a source without a path.
    placeholders = ["battles"] * len(tables)
    are_joined = reading.get("names") == "joined"
    words_read = [*texts, *placeholders]
    names, sources = split_arguments(words_read, baseline, names_joined=are_joined)
    number_of_paths = len(sources) - len(tables)
    return [*names], [*sources[:number_of_paths]], tables


def _build_pair(
    candidate: str,
    baseline: str,
    answers: Responses | None,
    battles: Battles,
    how: Mapping[str, Any],
) -> ComparedPair:
    """Return two models to compare, with the items on which their answers are identical.

    If `answers` is None, or has no answers of one of the two models, the items are those whose
    battles say that the responses are identical (`items_of_identical`). If that is not known
    either, `identical` of the pair is None.

    Args:
        candidate: full name of the candidate.
        baseline: full name of the baseline.
        answers: the models' answers; None if there are none.
        battles: the battles.
        how: measure, level and method of the comparison, by name.
    """
    identical = None
    if answers is not None:
        identical = identical_items(answers, candidate, baseline)
    if identical is None:
        identical = items_of_identical(battles, candidate, baseline)
    return ComparedPair(candidate, baseline, identical=identical, **how)


def _comparison_provenance(
    battles: Battles, options: Mapping[str, Any], required: Sequence[Requirement]
) -> dict[str, Any]:
    """Return the provenance of a comparison.

    It has the sources, the options of reading and of `compare`, and the requirements as typed.
    """
    reading = {"reading": dict(battles.reading)}
    require = {"require": [requirement.text for requirement in required]}
    return build_provenance(battles.sources, {**reading, **options, **require})


def _checks_beside(
    checks: Sequence[Check], by: str | None, findings: Sequence[PairFinding]
) -> tuple[Check, ...]:
    """Return the checks that neither the answer nor the table of slices describes.

    Args:
        checks: the adjusted checks of the battles.
        by: column of the slices that are shown; None if there are none. Checks whose remedy is to
            rank by this column are left out.
        findings: what was compared. The answer describes why nothing is claimed, and the doubt of
            each about the judge, or else that about lost battles.
    """
    described: list[Check | None] = []
    for each in findings:
        described += [each.judge_doubt or each.loss_check, each.doubt]
    beside = [check for check in checks if check not in described]
    if by is not None:
        option_as_typed = option_text("by", by)
        beside = [check for check in beside if check.fields.get("option") != option_as_typed]
    return tuple(beside)


def _collect_warnings(
    battles: Battles,
    answers: Responses | None,
    findings: Sequence[PairFinding],
    checks: Sequence[Check],
    by: str | None,
) -> tuple[Notice, ...]:
    """Return the warnings of a comparison, each once.

    The warnings are about the reading of the battles, items whose instructions differ for no
    recorded reason, the judges, and flagged checks that concern the compared models. Notes on
    findings that the user accepted are left out.

    Args:
        battles: the battles.
        answers: the models' answers, whose notes name items with different instructions; None if
            there are no answers.
        findings: what was compared.
        checks: the adjusted checks of the battles.
        by: column of the slices that are shown; None if there are none.
    """
    # The answer says which findings were accepted.
    notes = [note for note in battles.notes if note.code != ACCEPTED]
    compared = {name for finding in findings for name in (finding.candidate, finding.baseline)}
    # If a recorded setting changes the words, the names of the models, a note or a check say so.
    compared_runs = [run for run in battles.runs if run.model in compared]
    if not differ_in_words(compared_runs):
        for note in select_codes(answers.notes if answers else (), ["different-words"]):
            notes.append(Notice("different-words-compared", note.fields))
    doubts = [
        Notice(check.kind.code, check.fields, template=check.kind.clause_template)
        for check in doubts_about_models(_checks_beside(checks, by, findings), compared)
    ]
    return tuple(dict.fromkeys([*notes, *judge_warnings(battles, {}), *doubts]))


def _read_all(
    sources: Sequence[str], tables: "Sequence[Battles | pd.DataFrame]", reading: Mapping[str, Any]
) -> Battles:
    """Read the battles of sources and frames; return a `Battles` object as it is.

    Raises:
        UsageError: a `Battles` object is given with other sources or with options for reading.
    """
    frames = [table for table in tables if is_frame(table)]
    if len(frames) == len(tables):
        with comparing_answers():
            return read_battles(*sources, *frames, **reading)
    if len(tables) > 1 or sources or reading:
        raise UsageError(
            "a Battles object cannot be compared together with other sources, or with options for "
            "reading: leave them out"
        )
    return next(table for table in tables if isinstance(table, Battles))


def _choose_pairs(
    battles: Battles, names: Sequence[str], baseline: str | None, candidates: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the pairs of candidate and baseline to compare, by full names, each pair once.

    Args:
        battles: the battles.
        names: candidate and baseline; used only if `baseline` is None.
        baseline: the baseline of all pairs, or None.
        candidates: the candidates; if empty, all other models of the battles.

    Raises:
        UsageError: candidates are given without a baseline, a model is unknown, or a model would
            be compared with itself.
        NotIdentifiedError: a model was lost in reading.
    """
    if baseline is None:
        if candidates:
            raise UsageError("candidates are compared with a baseline: name it (--baseline NAME)")
        candidate, baseline = names
        candidates = [candidate]
    models = battles.models
    full_baseline = _find_model(baseline, battles)
    chosen_candidates = [_find_model(name, battles) for name in candidates]
    if not chosen_candidates:
        chosen_candidates = [name for name in models if name != full_baseline]
    if full_baseline in chosen_candidates:
        raise UsageError(
            f"{full_baseline!r} would be compared with itself: name two different models"
        )
    return [(name, full_baseline) for name in dict.fromkeys(chosen_candidates)]


def _find_model(name: str, battles: Battles) -> str:
    """Return the full name of a model, which may be typed without its provider or settings.

    So `gpt-4o` finds `openai/gpt-4o` or `gpt-4o (shots=0)`.

    Raises:
        UsageError: there is no such model, or several fit the name.
        NotIdentifiedError: the model is in the sources and was lost, for a reason that is given.
    """
    try:
        return find_name("model", name, battles.models)
    except UsageError:
        why = why_lost(name, battles.lost)
        if why is None:
            raise
        raise NotIdentifiedError(f"{name} cannot be compared: {why}") from None


def _compare_pairs(
    battles: Battles, pairs: Sequence[ComparedPair], by: str | None, pool: bool
) -> tuple[list[PairFinding], list[str]]:
    """Compare each pair on each question, and on each value of the column `by`.

    Args:
        battles: all battles.
        pairs: the pairs.
        by: column of the slices; None for none.
        pool: whether verdicts of several judges, and scores of several metrics, are pooled.

    Returns:
        A finding per pair and question, and a sentence for each comparison that could not be made.
        The findings are adjusted by Holm's rule over all findings, and the slices of a finding over
        its slices.

    Raises:
        UsageError: there is no column `by`, a slice has no scores to compare, or no comparison
            could be made and at least one failed because of an option.
    """
    findings: list[PairFinding] = []
    failures: list[str] = []
    usage_errors: list[UsageError] = []
    for subject, part in _split_by_question(battles, pool):
        columns = BattleColumns(part)
        for pair in pairs:
            place = f"{pair.candidate} and {pair.baseline}"
            if subject["question"]:
                place = f"{subject['question']}: {place}"
            try:
                _refuse_stopped_judge(part)
                finding = finding_of(columns, pair, subject)
            except UsageError as error:
                usage_errors.append(error)
            except PodiumError as error:
                failures.append(f"{place}: {error}")
            else:
                slices, failures_of_slices = _compare_slices(part, pair, subject, by, place)
                failures += failures_of_slices
                rater_check = rater_check_of(columns, pair, finding)
                adjusted_slices = tuple(_adjust_by_holm(slices))
                findings.append(replace(finding, rater_check=rater_check, slices=adjusted_slices))
    if usage_errors and not findings:
        raise usage_errors[0]
    findings = [_with_likely_item(finding, battles.likely_item) for finding in findings]
    return _adjust_by_holm(findings), [*failures, *map(str, usage_errors)]


def _refuse_stopped_judge(battles: Battles) -> None:
    """Raise NotIdentifiedError if the judge of the battles was stopped as unable to judge."""
    if are_of_stopped_judge(battles):
        raise NotIdentifiedError(
            "the tournament was stopped because its judge cannot judge, so that its verdicts are "
            "not to be compared; take another judge"
        )


def _compare_slices(
    battles: Battles, pair: ComparedPair, subject: Mapping[str, Any], by: str | None, place: str
) -> tuple[list[PairFinding], list[str]]:
    """Compare a pair on each value of a column; both results are empty without a column.

    Args:
        battles: the battles of one question.
        pair: the two models.
        subject: what the comparison is about, as fields of `PairFinding`.
        by: name of the column; None for no slices.
        place: beginning of the sentence on a slice that cannot be compared.

    Returns:
        The findings, and a sentence for each slice that could not be compared.

    Raises:
        UsageError: there is no such column, or a slice has no scores to compare.
    """
    slices: list[PairFinding] = []
    failures: list[str] = []
    if not by:
        return slices, failures
    for value, part in battles.slices(by):
        try:
            slices.append(finding_of(BattleColumns(part), pair, {**subject, "slice": value}))
        except NotIdentifiedError as error:
            failures.append(f"{place}, {by}={value}: {error}")
    return slices, failures


def _with_likely_item(finding: PairFinding, column: str | None) -> PairFinding:
    """Return a finding whose field `likely_item` is `column`, also in its slices."""
    slices = tuple(replace(each, likely_item=column) for each in finding.slices)
    return replace(finding, likely_item=column, slices=slices)


def _find_unclaimed(
    battles: Battles, checks: Sequence[Check], level: float, pool: bool
) -> dict[str, tuple[str, ...]]:
    """Return the models about which a ranking claims nothing, by the name of the flagged check.

    Only two checks count: that models lose battles more often, and that a judge which read single
    orders favours the response shown first. The result is empty if neither is flagged.

    Args:
        battles: the battles.
        checks: the adjusted checks of the battles.
        level: confidence level.
        pool: whether verdicts of several judges are pooled.

    Returns:
        The names, as a ranking by `RANKER_OF_DECISIONS` has them. If the battles cannot be ranked
        together, it is all models whose battles are lost more often, and all models if the order
        of the responses may decide.
    """
    losses = flagged_losses(checks)
    order = doubt_about_one_order(checks)
    unclaimed_by_check: dict[str, tuple[str, ...]] = {}
    if losses is not None:
        unclaimed_by_check[losses.name] = losses.models
    if order is not None:
        unclaimed_by_check[order.name] = battles.models
    if not unclaimed_by_check:
        return {}
    once = battles if pool else judged_once(battles)
    try:
        ranking = rank(once, RANKER_OF_DECISIONS, level=level, pool=pool, answers=False)
    except PodiumError:
        return unclaimed_by_check
    if len(ranking.standings) > 1:
        return unclaimed_by_check
    if losses is not None:
        unclaimed_by_check[losses.name] = unclaimed_models(ranking.standings[0], once, losses)
    if order is not None:
        # The order of the responses may explain why these models are ahead or behind.
        unclaimed_by_check[order.name] = explained_by_any_order(ranking.standings[0], once, checks)
    return unclaimed_by_check


def _with_all_doubts(
    findings: Sequence[PairFinding],
    battles: Battles,
    checks: Sequence[Check],
    by: str | None,
    level: float,
    pool: bool,
) -> list[PairFinding]:
    """Return findings with the doubts about them and their slices, and the number of raters.

    Args:
        findings: what was compared.
        battles: the battles.
        checks: the adjusted checks of the battles.
        by: column with the slices; None if there are none.
        level: confidence level.
        pool: whether verdicts of several judges are pooled.
    """
    unclaimed_by_check = _find_unclaimed(battles, checks, level, pool)
    doubted = [_with_doubts(each, checks, battles, unclaimed_by_check) for each in findings]
    with_orders = _with_orders_of_slices(doubted, battles, by, level, pool)
    return _with_raters(with_orders, battles)


def _with_doubts(
    finding: PairFinding,
    checks: Sequence[Check],
    battles: Battles,
    unclaimed_by_check: Mapping[str, Sequence[str]],
) -> PairFinding:
    """Return a finding with the doubts that its attributes describe, also in its slices.

    A doubt is a check, or None if there is none. `questions_in_doubt` says whether both models were
    asked the same questions of the finding's task. If scores are compared, `doubt` says whether the
    scores of both models are in one unit, or else whether lost scores may explain the difference;
    if verdicts are, whether unparsed battles may explain the difference, and `judge_doubt` whether
    the order of the responses decides, or else whether a judge is one of the two or of the family
    of one. If unparsed battles cannot explain the difference, `loss_check` has them. If there is no
    other `doubt`, it says whether items are alike in groups that are not the unit. `loss_unknown`
    has the check of unparsed verdicts that cannot be made.

    The slices get the doubts of the whole. What is only a `loss_check` of the whole is the `doubt`
    of a slice, in which unparsed battles may explain the difference.

    Args:
        finding: what was compared.
        checks: the adjusted checks of the battles.
        battles: the battles.
        unclaimed_by_check: the models about which nothing can be claimed, by the name of the
            flagged check.
            It has each flagged check of losses or of single orders.
    """
    models = (finding.candidate, finding.baseline)
    runs = []
    for run in battles.runs:
        is_on_task = finding.task is None or finding.task == (run.verdict_task or run.task)
        if run.model in models and is_on_task:
            runs.append(run)
    compared = replace(battles, runs=tuple(runs))
    doubts: dict[str, Any] = {"questions_in_doubt": are_questions_in_doubt(compared)}
    if finding.measure == SCORE:
        question = {name: getattr(finding, name) for name in QUESTION_COLUMNS}
        about_scales = doubt_about_scales(checks, models, question)
        doubts["doubt"] = about_scales or doubt_about_losses(checks, models)
    else:
        losses = doubt_about_losses(checks, models)
        if losses is not None:
            is_open = not finding.is_distinguishable
            is_explained = is_open or not set(models).isdisjoint(unclaimed_by_check[losses.name])
            kind_of_doubt = "doubt" if is_explained else "loss_check"
            doubts[kind_of_doubt] = losses
        doubts["loss_unknown"] = unknown_loss(checks)
        doubts["judge_doubt"] = doubt_about_judge(checks)
        doubts |= _doubts_about_order(finding, checks, unclaimed_by_check, doubts)
    if doubts.get("doubt") is None:
        doubts["doubt"] = dependent_groups(checks)
    if doubts.get("judge_doubt") is None:
        # The empty mapping: `compare` has no option that names families of models.
        doubts["judge_doubt"] = doubt_about_relation(battles, {}, models)
    # What unparsed battles explain is known of all battles, not of a slice.
    in_slices = {**doubts, "doubt": doubts.get("doubt") or doubts.get("loss_check")}
    slices = tuple(replace(each, **in_slices) for each in finding.slices)
    return replace(finding, **doubts, slices=slices)


def _with_raters(findings: Sequence[PairFinding], battles: Battles) -> list[PairFinding]:
    """Return findings with the number of judges or voters of the compared verdicts or scores.

    One voter or judge who decides who is ahead is left out where nothing is claimed. An Elo
    difference also uses battles with other models, which may be the only ones of several voters. It
    speaks of the raters of the one of the two models that has fewer, if these are one or two; of a
    win rate by one of several voters, the number is 1. Scores of one judge have none, and so have
    differences whose errors include how raters differ.
    """
    all_raters = count_raters(battles)
    raters_of_model = {}
    if all_raters is not None:
        kind_of_rater, number_of_all = all_raters
        if number_of_all > MOST_OF_FEW_RATERS:
            raters_of_model = count_raters_of_models(battles, kind_of_rater)
    changed = []
    for finding in findings:
        includes_raters = finding.difference.raters is not None
        has_one_judge = finding.judge is not None
        raters = None if has_one_judge or includes_raters else all_raters
        if raters is not None and finding.measure != ELO:
            kind_of_rater, _ = raters
            raters = ("voter", 1) if kind_of_rater == "voter" else None
            pair = (finding.candidate, finding.baseline)
            battles_of_pair = battles.select(are_between(battles, pair))
            raters = count_raters(battles_of_pair) or raters
        elif raters is not None and raters_of_model:
            kind_of_rater, number_of_all = raters
            names = (finding.candidate, finding.baseline)
            fewest = min(raters_of_model.get(name, number_of_all) for name in names)
            if fewest <= MOST_OF_FEW_RATERS:
                raters = (kind_of_rater, fewest)
        is_shown = finding.is_distinguishable or includes_raters
        rater_check = finding.rater_check if is_shown and finding.doubt is None else None
        changed.append(replace(finding, raters=raters, rater_check=rater_check))
    return changed


def _with_orders_of_slices(
    findings: Sequence[PairFinding], battles: Battles, by: str | None, level: float, pool: bool
) -> list[PairFinding]:
    """Replace the doubts about the order in slices by those of the slices' own verdicts.

    In a slice whose verdicts show that the order has no effect, the doubt about all verdicts is
    dropped. Where the order decides, it is the `judge_doubt`; where a judge that read single orders
    favours the response shown first, and this may explain the difference, it is the `doubt`. Slices
    in which scores are compared are unchanged, and so are all findings without a column `by`.

    Args:
        findings: what was compared, with the doubts of all verdicts.
        battles: the battles.
        by: column with the slices; None if there are none.
        level: confidence level.
        pool: whether verdicts of several judges are pooled.
    """
    if by is None:
        return [*findings]
    doubts_of_slice: dict[str | None, tuple[tuple[Check, ...], Mapping[str, Sequence[str]]]] = {}
    for value, part in battles.slices(by):
        checks = check_orders_of_slice(part)
        flagged = [check for check in checks if check.name == ONE_ORDER and check.is_flagged]
        if checks:
            doubts_of_slice[value] = checks, _find_unclaimed(part, flagged, level, pool)
    changed = []
    for finding in findings:
        slices = []
        for finding_of_slice in finding.slices:
            if finding.measure != SCORE and finding_of_slice.slice in doubts_of_slice:
                checks, unclaimed_by_check = doubts_of_slice[finding_of_slice.slice]
                finding_of_slice = _with_own_order(finding_of_slice, checks, unclaimed_by_check)
            slices.append(finding_of_slice)
        changed.append(replace(finding, slices=tuple(slices)))
    return changed


def _with_own_order(
    finding: PairFinding, checks: Sequence[Check], unclaimed_by_check: Mapping[str, Sequence[str]]
) -> PairFinding:
    """Return the finding of a slice with the doubts about the order by its own verdicts.

    Args:
        finding: the finding, with the doubts of all verdicts.
        checks: the checks of the order in the slice; if empty, the finding is not changed.
        unclaimed_by_check: the models about which nothing can be claimed in the slice, by the name
            of the flagged check.
    """
    if not checks:
        return finding
    doubts: dict[str, Any] = {}
    for attribute in ("doubt", "judge_doubt", "loss_check"):
        check = getattr(finding, attribute)
        is_of_order = check is not None and check.name in (ORDER_DECIDES, ONE_ORDER, IN_SLICES)
        doubts[attribute] = None if is_of_order else check
    doubts["judge_doubt"] = doubt_about_judge(checks) or doubts["judge_doubt"]
    finding_of_slice = replace(finding, **doubts)
    doubts |= _doubts_about_order(finding_of_slice, checks, unclaimed_by_check, doubts)
    return replace(finding, **doubts)


def _doubts_about_order(
    finding: PairFinding,
    checks: Sequence[Check],
    unclaimed_by_check: Mapping[str, Sequence[str]],
    checks_of_models: Mapping[str, Check | None],
) -> dict[str, Check]:
    """Return the doubt that a judge which read single orders favours the response shown first.

    It is the `doubt` if that may explain why one of the two is clearly ahead of some model, the
    `judge_doubt` if the two are too close to call, and else the `loss_check`.

    Args:
        finding: what was compared.
        checks: the adjusted checks of the battles.
        unclaimed_by_check: the models about which nothing can be claimed, by the name of the
            flagged check.
        checks_of_models: the other doubts, which are kept.

    Returns:
        The doubt; empty if there is none, or if another doubt has its place.
    """
    order = doubt_about_one_order(checks)
    if order is None:
        return {}
    attribute = "loss_check"
    if not {finding.candidate, finding.baseline}.isdisjoint(unclaimed_by_check[order.name]):
        attribute = "doubt"
    elif not finding.is_distinguishable:
        attribute = "judge_doubt"
    return {} if checks_of_models.get(attribute) else {attribute: order}


def _split_by_question(battles: Battles, pool: bool) -> Iterator[tuple[dict[str, Any], Battles]]:
    """Yield the questions with their battles.

    All verdicts are one question; those of a jury are merged to one per battle, unless they are
    pooled. Scores are one question per task, metric and judge, or a single question if they are
    pooled. A question without battles is left out. The name of a question leaves out the task if
    the names of metrics begin with it.

    Yields:
        The question, as fields of `PairFinding`, and its battles. The field `question` is None if
        there is only one question.

    Raises:
        NotIdentifiedError: there are verdicts of several judges that are not one jury, and they are
            not pooled; or the only verdicts are ties of identical responses.
    """
    known_columns = battles.rows.battle_columns
    has_scores = {"score_a", "score_b"} <= known_columns
    is_scored = has_scores and not np.isnan(battles.numbers_of("score_a")).all()
    if not is_scored or pool:
        if not pool:
            refuse_several_judges(battles)
        require_verdicts(battles)
        compared = battles if pool else judged_once(battles)
        yield dict.fromkeys(SUBJECT_FIELDS), compared
        return
    question_columns = [name for name in QUESTION_COLUMNS if name in known_columns]
    columns = [name for name in question_columns if len(battles.values_of(name))]
    columns_with_several = [name for name in columns if len(battles.values_of(name)) > 1]
    has_tasks_and_metrics = {"task", "metric"}.issubset(columns_with_several)
    if has_tasks_and_metrics and _names_of_metrics_hold_tasks(battles):
        columns_with_several.remove("task")
    parts: Iterable[tuple[str | None, Battles]] = [(None, battles)]
    if columns_with_several:
        parts = battles.slices(",".join(columns_with_several))
    for question, part in parts:
        if len(part):
            # Each of these columns has one value in the part.
            values = {}
            for name in columns:
                values[name], *_ = part.values_of(name)
            subject = {
                "question": question,
                "task": values.get("task"),
                "metric": values.get("metric"),
                "judge": values.get("judge"),
                "slice": None,
                "known_metric": part.measure_of(values.get("metric", "")),
            }
            yield subject, part


def _names_of_metrics_hold_tasks(battles: Battles) -> bool:
    """Return whether the name of every metric begins with its task, as those of Inspect do.

    The result is False if nothing is known of a metric.
    """
    measures = [battles.measure_of(name) for name in battles.metrics]
    return all(measure is not None and measure.task_is_named for measure in measures)


def _adjust_by_holm(findings: Sequence[PairFinding]) -> list[PairFinding]:
    """Return copies of findings with the number of tests, and p-values adjusted by Holm's rule.

    Each finding counts as one test. The findings stay in their order.
    """
    adjusted = holm(np.array([finding.difference.p_value for finding in findings])).tolist()
    return [
        replace(finding, tests=len(findings), p_adjusted=p)
        for finding, p in zip(findings, adjusted, strict=True)
    ]
