"""Rank battles by several rankers on several slices, and continue if one part fails."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.battles import MOST_SLICES, SOURCES, Battles
from podium.data.jury_verdicts import RULE, is_merging_jury, merge_jury_verdicts
from podium.data.reading.judgments import read_battles
from podium.data.reading.side_tables import (
    TableOfModels,
    about_models,
    families_of,
    read_length_data,
)
from podium.defaults import RANKER_OF_DECISIONS
from podium.diagnosis.checks.order_checks import order_warnings
from podium.diagnosis.checks.score_scale_checks import check_score_scale
from podium.diagnosis.judge_checks import is_judged, judge_warnings
from podium.errors import (
    NotIdentifiedError,
    PluginError,
    PodiumError,
    UnknownScaleError,
    UsageError,
)
from podium.findings import ACCEPTED, add_accepted
from podium.hookspecs import Ranker
from podium.notices.notice import Notice, select_codes
from podium.notices.notice_text import notice_text
from podium.notices.option_forms import (
    option_text,
    typed_as,
    typed_form,
    typed_in_python,
    typed_in_reading,
)
from podium.plugins import catalogue
from podium.plugins.settings import options_of, parameters_of, ranker_names, ranker_options
from podium.rankers.errors.raters import (
    FIXED_RATERS,
    MOST_OF_FEW_RATERS,
    count_raters,
    count_raters_of_models,
)
from podium.rankers.fit.cells import pair_sums_with_items, prepare_battles
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.identification import bounded_models
from podium.rankers.ranking import Ranking, Standings, build_provenance
from podium.rankers.standings import FEW_RATERS
from podium.ranking.measured import add_measured
from podium.ranking.plugin_scores import require_scores
from podium.ranking.unconnected_groups import order_within_groups
from podium.score_scale import as_scale
from podium.scorers.judge_record import judges_with_other_prompts, judges_with_other_replies
from podium.show.answers.sentences import add_answers
from podium.show.answers.who import withhold_ranks
from podium.tournaments.stopping_question import printed_level
from podium.wording import plural, quantity, some

if TYPE_CHECKING:
    import pandas as pd

    from podium.rankers.calibration.calibration import Calibration


Slice = tuple[str | None, Battles]
"""A value of the column that divides the battles, and the battles with this value.

The value is None if the battles are not divided.
"""

NOUNS_OF_SLICES = {"task": "task", "group": "task", "metric": "metric", "judge": "judge"}
"""What slices are called in sentences, by the column that divides the battles."""
RANKERS_OF_FIXED_RATERS = ("bradley-terry", "win-rate", "mean", "median")
"""Rankers that count the verdicts of all voters or judges alike. If intervals speak of these raters
alone, nothing is claimed about a model that one or two of them judged."""
REPLACED_RANKER_KEY = "replaces"
"""Key in the diagnostics of standings whose ranker replaces the one that was asked for.

Its value has the name of the ranker that was asked for (`ranker`) and the `reason`.
"""


def rank(
    battles: "Battles | pd.DataFrame | str | Path",
    rankers: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
    by: str | None = None,
    pool: bool = False,
    calibration: "Calibration | str | Path | None" = None,
    models: TableOfModels = None,
    answers: bool = True,
    **options: Any,
) -> Ranking:
    """Rank battles by one or more rankers.

    Args:
        battles: from `read_battles`; or what it reads: a data frame, or a path.
        rankers: names, as a sequence or separated by commas; default: `bradley-terry`; of scores
            that no judge gave, also where another task has verdicts, `mean`.
        level: of intervals and rank sets, in (0, 1).
        seed: of everything random; the same seed gives the same output.
        by: rank each value of this column separately, on a scale centred on the models common to
            all. Rank sets hold simultaneously for all of its values (Bonferroni).
        pool: rank the battles of several judges together.
        calibration: of the judge, or the path of its file; for rankers that soften verdicts.
        models: a table with the columns `model` and `family`, or its path.
        answers: whether to add the answer of each ranking, and its checks.
        **options: of the rankers; `ranker.option` (through a dict) reaches one ranker only.

    Returns:
        Standings of each ranker on each slice. A ranker that fails on a slice has a sentence in
        `failures` instead, and does not stop the others.

    Raises:
        UsageError: an unknown ranker, option or column, or a calibration that no ranker uses.
        DataError: the battles or the file of the calibration cannot be read.
        NotIdentifiedError: several judges that did not take turns, without `by` or `pool`; or no
            ranker has an answer.
    """
    if not isinstance(battles, Battles):
        battles = _read_by_default(battles, by)
    column, slices = split_slices(battles, by, pool)
    defaults = _default_rankers(battles, slices) if rankers is None else {}
    names = [*dict.fromkeys(defaults.values())] if rankers is None else ranker_names(rankers)
    merged = {} if pool else merge_juries(slices)
    pool = pool or battles.is_one_jury
    whole = None if _has_sources_apart(battles, column, pool) else battles
    calls = ranker_calls(names, options, whole, calibration, level=level, seed=seed)
    families = families_of_table(models)
    labels = _short_names_of_slices(battles) if column == "judge" else {}
    standings, failures = _rank_slices(
        slices, calls, families, merged, defaults, pool=pool or column in SOURCES, labels=labels
    )
    if answers:
        standings = add_answers(standings, dict(slices), families, merged, _noun_of(column))
        standings = _add_accepted_findings(standings, battles.accepted)
    details = _rank_each_judge(battles, calls) if merged and column is None else ()
    rank_options = {"level": level, "seed": seed, "by": column, "pool": pool}
    rank_options |= {"rankers_by_default": True} if len(defaults) > 1 else {}
    rank_options |= _paths_as_text({"calibration": calibration, "models": models})
    recorded = {"reading": dict(battles.reading), "rankers": names, **rank_options, **options}
    return Ranking(standings, _describe_sources(battles, recorded), failures, details)


def _read_by_default(source: "pd.DataFrame | str | Path", by: str | None) -> Battles:
    """Read battles with the default options, or with all metrics.

    In Python, errors name the function that takes the options of reading: `rank` takes none.

    Args:
        by: the column of which each value is ranked; `metric` reads all metrics.
    """
    form = typed_in_reading if typed_form() is typed_in_python else typed_form()
    with typed_as(form):
        return read_battles(source, metric="all" if by == "metric" else ())


def _describe_sources(battles: Battles, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance of a ranking: its sources, options, runs, metrics and judges."""
    provenance = build_provenance(battles.sources, options)
    sources = _describe_runs(battles) | _describe_metrics(battles) | _describe_judges(battles)
    return provenance | sources


def _noun_of(column: str | None) -> str:
    """Return what a slice is called in sentences, by the column that divides the battles."""
    return NOUNS_OF_SLICES.get(column or "", "slice")


def _paths_as_text(options: Mapping[str, Any]) -> dict[str, str]:
    """Return paths among the options, and a calibration in memory, as text.

    Options that are None and tables of models in memory are left out.

    Args:
        options: `calibration` and `models`, as `rank` takes them.
    """
    texts = {}
    for name, value in options.items():
        is_calibration = name == "calibration" and value is not None
        if is_calibration or isinstance(value, str | Path):
            texts[name] = str(value)
    return texts


def _default_rankers(battles: Battles, slices: Sequence[Slice]) -> dict[str | None, str]:
    """Return the ranker of each slice if the user names none, by value of the slice.

    The ranker is the default ranker of all battles, with one exception: slices of scores that no
    judge gave are ranked by `mean`, also if other slices have verdicts. Scores and verdicts are
    never ranked by the same ranker without being asked for.
    """
    defaults = {}
    for value, part in slices:
        is_scored = value is not None and bool(part.metrics) and not is_judged(part)
        defaults[value] = "mean" if is_scored else battles.default_ranker
    return defaults


def merge_juries(slices: Sequence[Slice]) -> dict[str | None, Battles]:
    """Return the battles of juries with one verdict per battle, by value of the slice.

    Slices of one judge, and of judges that took turns, are left out.
    """
    return {value: merge_jury_verdicts(part) for value, part in slices if is_merging_jury(part)}


def _rank_each_judge(battles: Battles, rankers: "Sequence[RankerCall]") -> tuple[Standings, ...]:
    """Return the standings of each judge of a jury by each ranker.

    A ranker that fails on a judge is left out, and so are rankers that rank several judges
    together.
    """
    details = []
    labels = _short_names_of_slices(battles)
    for ranker in rankers:
        if catalogue.extension(Ranker, ranker.name).several_judges:
            continue
        for judge, part in battles.slices("judge", most=len(battles.judges)):
            label = labels.get(judge)
            with suppress(PodiumError):
                details.append(replace(ranker(part), slice=judge, slice_label=label))
    return tuple(details)


def _short_names_of_slices(battles: Battles) -> dict[str, str]:
    """Return the short names of judges by name; judges without another name are left out."""
    return {
        name: short_name for name, short_name in battles.short_judges.items() if short_name != name
    }


def _add_accepted_findings(
    standings: Sequence[Standings], accepted: Sequence[str]
) -> tuple[Standings, ...]:
    """Return standings whose answers also say which findings about the data were accepted.

    The warnings about accepted findings are left out, because the answers say the same.
    """
    answered = []
    for standings_of_slice in standings:
        warnings = tuple(note for note in standings_of_slice.warnings if note.code != ACCEPTED)
        answer = add_accepted(standings_of_slice.answer, accepted)
        answered.append(
            replace(standings_of_slice, answer=answer, accepted=tuple(accepted), warnings=warnings)
        )
    return tuple(answered)


def _read_options(rankers: Sequence[str], options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the options of each ranker, with the file of `length_data` read.

    Raises:
        UsageError: no ranker has one of the options.
    """
    settings = ranker_options(rankers, options)
    for options_of_ranker in settings.values():
        if isinstance(options_of_ranker.get("length_data"), str | Path):
            options_of_ranker["length_data"] = read_length_data(options_of_ranker["length_data"])
    return settings


def families_of_table(models: TableOfModels) -> Mapping[str, str]:
    """Return the family of each model in a table; empty without a table.

    The keys are globs that match only the name of the model.

    Raises:
        UsageError: the table names no family.
    """
    families = families_of(about_models(models))
    if models is not None and not families:
        raise UsageError(
            "the table of models names no family; give it the columns model and family, "
            "or leave it out"
        )
    return families


def _has_sources_apart(battles: Battles, column: str | None, pool: bool) -> bool:
    """Return whether slices are of different judges or metrics.

    The result is True if the column is one of `SOURCES`, or if the battles are divided, have
    several judges and are not pooled. Such slices are fitted separately, because each judge has a
    temperature of its own.

    Args:
        battles: all battles.
        column: the column that divides the battles; None if they are not divided.
        pool: whether judges are ranked together.
    """
    if column in SOURCES:
        return True
    return column is not None and not pool and len(battles.judges) > 1


def _describe_runs(battles: Battles) -> dict[str, Any]:
    """Return what is known of the runs of hosts' evals, as JSON values.

    The key is `runs`; the dictionary is empty if there are no runs.
    """
    if not battles.runs:
        return {}
    return {"runs": [run.to_json() for run in battles.runs]}


def _describe_metrics(battles: Battles) -> dict[str, Any]:
    """Return the names of the metrics of scores, and what is known of these.

    The keys are `metrics` and, if something is known, `measures`. The dictionary is empty if there
    are no metrics.
    """
    if not battles.metrics:
        return {}
    names = battles.metrics
    description: dict[str, Any] = {"metrics": [*names]}
    measures = [asdict(measure) for measure in battles.measures if measure.name in names]
    if measures:
        description["measures"] = measures
    return description


def _describe_judges(battles: Battles) -> dict[str, Any]:
    """Return the names of the judges, and what is known of these.

    The keys are `judges` and, if something is known, `judge_records`. The dictionary is empty if
    there are no judges.
    """
    if not battles.judges:
        return {}
    description: dict[str, Any] = {"judges": [*battles.judges]}
    judges = {name: battles.judge_of(name) for name in battles.judges}
    records = {name: judge.to_json() for name, judge in judges.items() if judge.has_facts}
    if records:
        description["judge_records"] = records
    return description


def without_order(standings: Standings) -> Standings:
    """Return standings that state no order, because the scores of models are in different units.

    Models are in the order of their names; all share the first rank and the widest rank set. Means
    of scores stay. Win rates and ratings, which compare scores, are unknown. Rows of models without
    a score stay as they are.
    """
    withheld = withhold_ranks(standings)
    entries = []
    for entry in sorted(withheld.entries, key=lambda entry: entry.model):
        if entry.score is None:
            entries.append(entry)
            continue
        unordered = replace(entry, rank=1, win_rate=None, extra={}, separated=False)
        if standings.scale.name != "score":
            unordered = replace(unordered, score=None, low=None, high=None, se=None)
        entries.append(unordered)
    separation = withheld.separation
    if separation is not None:
        names = tuple(sorted(separation.names))
        separation = replace(separation, names=names, gap=float("nan"), z=None)
    return replace(standings, entries=tuple(entries), separation=separation)


def split_slices(battles: Battles, by: str | None, pool: bool) -> tuple[str | None, list[Slice]]:
    """Return the column that divides the battles, and the slices.

    The column is `by`. If this is None and `pool` is false, it is the column whose values must be
    ranked separately (`Battles.apart`), if that has several values. Else it is None, and there is
    one slice with all battles. Notes are added to the slices: why the battles are divided, that
    judges are ranked as one jury, and how many battles are in no slice.

    Raises:
        UsageError: there is no column `by`, or it is empty or has too many values.
    """
    notes = []
    column = by
    apart: Sequence[str] = ()
    if by is None and battles.apart:
        apart = battles.values_of(battles.apart)
    if len(apart) > 1 and pool:
        notes.append(Notice("ranked-together", {"column": battles.apart, "values": list(apart)}))
    elif len(apart) > 1:
        column = battles.apart
        can_be_pooled = len(battles.metrics) < 2
        code = "ranked-alone" if can_be_pooled else "ranked-alone-by-metric"
        notes.append(Notice(code, {"column": column, "values": list(apart)}))
    elif by != "judge" and not pool and is_merging_jury(battles):
        rule = battles.values_of(RULE)[0]
        notes.append(Notice("jury-merged", {"judges": [*battles.judges], "rule": rule}))
    elif by != "judge" and battles.is_one_jury:
        notes.append(_note_on_jury(battles))
    slices: list[Slice] = [(None, battles)]
    if column:
        most = max(len(apart), MOST_SLICES)
        slices = list(battles.slices(column, most=most))
        notes += _notes_on_coverage(battles, column, slices)
    if by is not None:
        slices = _tested_together(slices)
    if not notes:
        return column, slices
    noted: list[Slice] = []
    for value, part in slices:
        noted.append((value, replace(part, notes=(*part.notes, *notes))))
    return column, noted


def _notes_on_coverage(battles: Battles, column: str, slices: Sequence[Slice]) -> list[Notice]:
    """Return notes on battles that are in several slices, and on those that are in none.

    Args:
        battles: all battles.
        column: the column that divides them, whose cells may list several values.
        slices: the slices.
    """
    notes = []
    outside = len(battles) - sum(len(part) for _, part in slices)
    if battles.has_lists(column):
        numbers = battles.count_slices_of_battles(column)
        outside = int((numbers == 0).sum())
        in_several = int((numbers > 1).sum())
        if in_several:
            fields = {"several": in_several, "battles": len(battles), "column": column}
            notes.append(Notice("slices-overlap", fields))
    if outside:
        fields = {"outside": outside, "battles": len(battles), "column": column}
        notes.append(Notice("outside-slices", fields))
    return notes


def _tested_together(slices: Sequence[Slice]) -> list[Slice]:
    """Return the slices, whose battles record how many slices there are (`slice_count`).

    Claims about one slice are corrected for as many tests.
    """
    number = len(slices)
    return [(value, replace(part, slice_count=number)) for value, part in slices]


def _note_on_jury(battles: Battles) -> Notice:
    """Return the note that several judges are ranked as one jury.

    The note says how many battles were judged by more than one of the judges. If none was, the note
    says that the judges took turns.
    """
    identifying = ("item", "response", "model_a", "model_b")
    columns = [name for name in identifying if name in battles.table]
    judges = battles.table.groupby(columns, observed=True, dropna=False)["judge"].nunique()
    shared_battles = int(judges.gt(1).sum())
    if not shared_battles:
        return Notice("judges-in-turn")
    return Notice("shared-battles", {"battles": len(judges), "shared": shared_battles})


@dataclass(frozen=True, slots=True)
class RankerCall:
    """A ranker with the arguments of a call.

    Attributes:
        name: name of the ranker.
        function: the ranker.
        settings: arguments of the call, by parameter: level, options, and the context of
            `choose_context` (`calibration` and `whole`, if the ranker takes them).
        seed: seed of the random generator that the ranker gets.
        warnings: warnings that are added to those of the ranker.
    """

    name: str
    function: Callable[..., Standings]
    settings: Mapping[str, Any]
    seed: int
    warnings: tuple[Notice, ...] = ()

    def __call__(self, battles: Battles) -> Standings:
        """Rank the battles with a new random generator.

        If the battles have the answer of a tournament, it is added to the diagnostics, and sets
        the level of the ranker of decisions. If the ranker cannot know the scale, the ranker that
        its error names replaces it.

        Raises:
            PluginError: a plug-in failed, or did not return standings with scores and notices.
            NotIdentifiedError: the battles give no ranking.
        """
        extension = catalogue.extension(Ranker, self.name)
        settings = dict(self.settings)
        if self.name == RANKER_OF_DECISIONS:
            settings["level"] = printed_level(settings["level"], battles.answer)
        try:
            with catalogue.name_plugin_in_errors(extension):
                result = self.function(battles, rng=np.random.default_rng(self.seed), **settings)
        except UnknownScaleError as error:
            return self._rank_by_replacement(battles, error)
        if not isinstance(result, Standings):
            culprit = catalogue.culprit_of(extension)
            raise PluginError(f"{culprit} must return Standings, got {type(result).__name__}")
        result = require_scores(replace(result, scale=as_scale(result.scale)), extension)
        _check_warnings(result, extension)
        answer = {} if battles.answer is None else {"answer": dict(battles.answer)}
        warnings = (*result.warnings, *self.warnings)
        return replace(result, warnings=warnings, diagnostics={**result.diagnostics, **answer})

    def _rank_by_replacement(self, battles: Battles, error: UnknownScaleError) -> Standings:
        """Rank by the ranker that the error names, and add a warning that it is a replacement.

        Settings that the replacement has no parameter for are left out. The warning names those of
        them that are options of the user.
        """
        function = catalogue.ranker_function(error.instead)
        parameters = parameters_of(function).keys()
        settings = {name: value for name, value in self.settings.items() if name in parameters}
        options = self.settings.keys() & options_of(self.function).keys()
        idle = sorted(options - parameters)
        fields = {"instead": error.instead, "ranker": self.name, "idle": idle, "why": str(error)}
        reason = Notice("replaced-ranker", fields)
        replacement = replace(self, name=error.instead, function=function, settings=settings)
        standings = replacement(battles)
        facts = {REPLACED_RANKER_KEY: {"ranker": self.name, "reason": notice_text(reason)}}
        return replace(
            standings,
            warnings=(*standings.warnings, reason),
            diagnostics={**standings.diagnostics, **facts},
        )


def _check_warnings(standings: Standings, ranker: Ranker) -> None:
    """Check that the warnings of standings are notices with texts.

    Raises:
        PluginError: a warning is not a `Notice`, or its text cannot be written.
    """
    for warning in standings.warnings:
        if not isinstance(warning, Notice):
            who = catalogue.culprit_of(ranker)
            raise PluginError(f"{who} gave a {type(warning).__name__} as warning: give a Notice")
        try:
            notice_text(warning)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            who = catalogue.culprit_of(ranker)
            what = f"a warning {warning.code!r} whose text cannot be written"
            raise PluginError(f"{who} gave {what}: {error!r}") from None


def _rank_slices(
    slices: Sequence[Slice],
    rankers: Sequence[RankerCall],
    families: Mapping[str, str],
    merged: Mapping[str | None, Battles],
    defaults: Mapping[str | None, str],
    *,
    pool: bool,
    labels: Mapping[str, str],
) -> tuple[tuple[Standings, ...], tuple[str, ...]]:
    """Rank every slice by every ranker; a ranker that fails on a slice does not stop the others.

    Ranks are withheld on slices of which it is not known which rows share an item. Standings of
    scores in two units state no order.

    Args:
        slices: the slices.
        rankers: the rankers.
        families: family by glob of the model's name (`families_of_table`).
        merged: by slice, the battles of a jury with one verdict each. Rankers that rank several
            judges together get the verdicts of all judges instead.
        defaults: by slice, the name of its only ranker; empty if all rankers rank all slices.
        pool: whether all rankers may rank several judges together.
        labels: what people read in place of the value of a slice.

    Returns:
        The standings with the warnings about their judges, and a sentence for each failure.

    Raises:
        PodiumError: no ranker gave standings, or a ranker raised UsageError on every slice.
    """
    warnings_of_slice = {value: _judge_warnings_of(part, families) for value, part in slices}
    in_two_units = {value for value, part in slices if check_score_scale(part)}
    standings: list[Standings] = []
    errors: list[tuple[str, PodiumError]] = []
    for ranker, slices_of_ranker in _slices_of_rankers(rankers, slices, defaults):
        number_before = len(standings)
        is_misused = True
        ranks_judges = catalogue.extension(Ranker, ranker.name).several_judges
        for value, part in slices_of_ranker:
            try:
                refuse_several_metrics(part)
                if not pool and not ranks_judges:
                    refuse_several_judges(part, can_divide=True)
                result = _rank_part(ranker, part, None if ranks_judges else merged.get(value))
                result = _withhold_order(result, part, in_two_units=(value in in_two_units))
                warnings = (*result.warnings, *warnings_of_slice[value])
                result = add_measured(result, part)
                standings.append(replace(result, slice=value, warnings=warnings))
            except PodiumError as error:
                is_misused &= isinstance(error, UsageError)
                name = _name_with_slice(ranker.name, value, labels)
                errors.append((name, _explain_failure(error, part, warnings_of_slice[value])))
        if len(standings) == number_before and is_misused:
            # It failed on every slice: the error of the first one is raised.
            _, first_error = errors[-len(slices_of_ranker)]
            raise first_error
    failures = tuple(f"{name}: {error}" for name, error in errors)
    if not standings:
        raise _combined_error(errors, failures)
    return (_merge_replacements(_label_slices(standings, labels)), failures)


def _combined_error(
    errors: Sequence[tuple[str, PodiumError]], failures: Sequence[str]
) -> PodiumError:
    """Return the error to raise if no ranker gave standings.

    If all errors have the same message, the result is the first one, else an error with all
    failures.
    """
    has_one_reason = len({str(error) for _, error in errors}) == 1
    _, first_error = errors[0]
    return first_error if has_one_reason else NotIdentifiedError("; ".join(failures))


def _name_with_slice(ranker: str, value: str | None, labels: Mapping[str, str]) -> str:
    """Return the name of a ranker with the slice in brackets, such as `mean [code]`.

    Without a slice (`value` is None), it is the ranker's name alone. `labels` has what people read
    in place of a slice's value, if it is not the value.

    Args:
        ranker: name of the ranker.
        value: value of the slice; None returns the ranker's name alone.
        labels: what people read in place of a slice's value, if that is not the value.
    """
    return ranker if value is None else f"{ranker} [{labels.get(value, value)}]"


def _label_slices(standings: Sequence[Standings], labels: Mapping[str, str]) -> list[Standings]:
    """Return standings that also have what people read in place of the value of their slice.

    Args:
        standings: the standings.
        labels: texts by value of the slice; a slice without a text gets None.
    """
    return [replace(each, slice_label=labels.get(each.slice or "")) for each in standings]


def _slices_of_rankers(
    rankers: Sequence[RankerCall],
    slices: Sequence[Slice],
    defaults: Mapping[str | None, str],
) -> Iterator[tuple[RankerCall, Sequence[Slice]]]:
    """Yield each ranker, centred on the models common to its slices, and the slices it ranks.

    Args:
        rankers: the rankers.
        slices: all slices.
        defaults: by slice, the name of its only ranker; empty if all rankers rank all slices.
    """
    if len({*defaults.values()}) < 2:
        for ranker in _centre_rankers(rankers, slices):
            yield ranker, slices
        return
    for ranker in rankers:
        slices_of_ranker = [
            (value, part) for value, part in slices if defaults[value] == ranker.name
        ]
        for centred in _centre_rankers([ranker], slices_of_ranker):
            yield centred, slices_of_ranker


def _judge_warnings_of(part: Battles, families: Mapping[str, str]) -> list[Notice]:
    """Return the warnings about a slice.

    The first one names the models that have no battle in the slice. Those about its judges follow
    (`judge_warnings`), then those about the order of responses over all verdicts of these judges
    (`order_warnings`).
    """
    absent = [Notice("models-absent-from-task", {"models": [*part.absent]})] if part.absent else []
    return [*absent, *judge_warnings(part, families), *order_warnings(part)]


def _withhold_order(standings: Standings, part: Battles, *, in_two_units: bool) -> Standings:
    """Return standings without what the data do not allow to say.

    Scores in two units have no order at all (`without_order`). If a column looks like the item
    although rows are counted as independent, no model is clearly ahead (`withhold_ranks`). Other
    standings are returned as they are.

    Args:
        standings: the ranking of a slice.
        part: the battles of the slice.
        in_two_units: whether the scores of models are in different units.
    """
    if in_two_units:
        return without_order(standings)
    return withhold_ranks(standings) if part.likely_item else standings


def _rank_part(ranker: RankerCall, part: Battles, merged: Battles | None) -> Standings:
    """Rank a slice, of a jury by its merged verdicts.

    How the verdicts in both orders agree is known of single judges alone, and is added to the
    diagnostics. So is the number of voters or judges whose differences no interval includes. If
    groups of models never met, only models of one group are compared.

    Args:
        ranker: the ranker.
        part: the battles of the slice.
        merged: the same battles with one verdict each; None if they are ranked as they are.

    Raises:
        NotIdentifiedError: the only verdicts are ties of identical responses, or the ranker cannot
            rank the battles.
    """
    require_verdicts(part)
    ranked = part if merged is None else merged
    standings = order_within_groups(ranker(ranked), ranked)
    facts: dict[str, Any] = {}
    # If nothing was merged, the ranker has added how both orders agree.
    swaps = None if merged is None else part.swaps()
    if swaps is not None:
        facts["swap"] = asdict(swaps)
    raters = None if "raters" in standings.diagnostics else count_raters(part)
    if raters is None:
        return replace(standings, diagnostics={**standings.diagnostics, **facts})
    unit, number = raters
    facts[FIXED_RATERS] = {"unit": unit, "number": number}
    few_raters = _models_of_few_fixed_raters(standings.ranker, part, unit, number)
    warnings = standings.warnings
    if few_raters:
        facts[FEW_RATERS] = few_raters
        fields = {"models": few_raters, "number": number, "units": plural(unit, 2)}
        warnings = (*warnings, Notice("few-of-the-raters", fields))
    return replace(standings, diagnostics={**standings.diagnostics, **facts}, warnings=warnings)


def _models_of_few_fixed_raters(
    ranker: str, part: Battles, unit: str, number: int
) -> dict[str, int]:
    """Return the number of raters of each model that one or two of three or more raters judged.

    It is empty for rankers other than `RANKERS_OF_FIXED_RATERS`.

    Args:
        ranker: name of the ranker.
        part: the battles of the slice.
        unit: what a rater is: `voter` or `judge`.
        number: number of raters of the slice.
    """
    if ranker not in RANKERS_OF_FIXED_RATERS or number <= MOST_OF_FEW_RATERS:
        return {}
    raters_of_model = count_raters_of_models(part, unit)
    return {name: few for name, few in raters_of_model.items() if few <= MOST_OF_FEW_RATERS}


def _explain_failure(
    error: PodiumError, battles: Battles, warnings: Sequence[Notice]
) -> PodiumError:
    """Return the error of a ranker, with the reason if no reply was parsed.

    The reason is the first of the warnings. Other errors are returned as they are.

    Args:
        error: the error.
        battles: the battles that were ranked.
        warnings: warnings about their judges.
    """
    if (
        isinstance(error, NotIdentifiedError)
        and warnings
        and not battles.asked_battles.tally.judged
    ):
        return NotIdentifiedError(f"{error}; {notice_text(warnings[0])}")
    return error


def _merge_replacements(standings: Sequence[Standings]) -> tuple[Standings, ...]:
    """Leave out standings by a replacement if the replacing ranker was asked for anyway.

    Example: `soft-elo` is replaced by `bradley-terry`, and both were asked for. The standings by
    `bradley-terry` are then kept once, and have the warning about the replacement.
    """
    # The ranker and slice of standings that were asked for, and the warning about the replacement
    # by ranker and slice of the others.
    asked_for = set()
    replacement_warnings = {}
    for standings_of_slice in standings:
        key = standings_of_slice.ranker, standings_of_slice.slice
        if REPLACED_RANKER_KEY in standings_of_slice.diagnostics:
            replacement_warnings[key] = select_codes(
                standings_of_slice.warnings, ["replaced-ranker"]
            )
        else:
            asked_for.add(key)
    merged = []
    for standings_of_slice in standings:
        key = standings_of_slice.ranker, standings_of_slice.slice
        if REPLACED_RANKER_KEY in standings_of_slice.diagnostics:
            if key not in asked_for:
                merged.append(standings_of_slice)
        elif key in replacement_warnings:
            warnings = (*standings_of_slice.warnings, *replacement_warnings[key])
            merged.append(replace(standings_of_slice, warnings=warnings))
        else:
            merged.append(standings_of_slice)
    return tuple(merged)


def _centre_rankers(rankers: Sequence[RankerCall], slices: Sequence[Slice]) -> list[RankerCall]:
    """Return rankers that centre scores on the models common to all slices.

    Slices can then be compared. Rankers without the parameter `centre`, and all rankers if there
    is one slice, are returned as they are. The common models have a bounded rating in every slice,
    and at least half the median number of items there. If no model has so many items, they are all
    models with bounded ratings. If there is no common model, the rankers get a warning instead.
    Slices without a verdict are ignored.
    """
    if len(slices) < 2:
        return list(rankers)
    models_with_bounds = []
    models_with_items = []
    for _, battles in slices:
        if not battles.tally.judged:
            continue
        part = prepare_battles(battles)
        names = np.array(part.models, dtype=object)
        items = part.clusters_by_model()
        graph = comparison_graph(pair_sums_with_items(part))
        models_with_bounds.append({*names[bounded_models(graph)]})
        models_with_items.append({*names[items >= np.median(items) / 2]})
    bounded = set.intersection(*models_with_bounds) if models_with_bounds else set()
    # If no model has enough items in all slices, all models with bounds are the centre.
    common = tuple(sorted(bounded.intersection(*models_with_items) or bounded))
    centre: dict[str, Any] = {"centre": common} if common else {}
    warnings = () if common else (Notice("no-common-model"),)
    centred = []
    for ranker in rankers:
        if "centre" in parameters_of(ranker.function):
            settings = {**ranker.settings, **centre}
            centred.append(replace(ranker, settings=settings, warnings=warnings))
        else:
            centred.append(ranker)
    return centred


def ranker_calls(
    rankers: Sequence[str],
    options: Mapping[str, Any],
    whole: Battles | None,
    calibration: "Calibration | str | Path | None",
    *,
    level: float = 0.95,
    seed: int = 0,
) -> list[RankerCall]:
    """Return rankers with the arguments of their calls.

    Args:
        rankers: names of the rankers.
        options: their options, by `option` or `ranker.option`.
        whole: all battles, from which a ranker may estimate what slices share; None if slices must
            be fitted separately.
        calibration: the calibration of the judge, or the path of its file; None if there is none.
        level: confidence level of intervals and rank sets, in (0, 1).
        seed: seed of the random generator that each ranker gets.

    Raises:
        UsageError: no ranker has one of the options, or a calibration was given that none uses.
        DataError: the file of the calibration is damaged.
    """
    functions = {name: catalogue.ranker_function(name) for name in rankers}
    settings = _read_options(rankers, options)
    context = choose_context(functions, whole, calibration)
    calls = []
    for name, function in functions.items():
        values = {"level": level, **context[name], **settings[name]}
        calls.append(RankerCall(name, function, values, seed))
    return calls


def choose_context(
    functions: Mapping[str, Callable[..., Any]],
    whole: Battles | None,
    calibration: "Calibration | str | Path | None",
) -> dict[str, dict[str, Any]]:
    """Return the context arguments of each ranker, by its name.

    The context is `calibration` and `whole`. A ranker gets those that are among its parameters;
    their values may be None.

    Args:
        functions: the rankers, by name.
        whole: all battles, from which a ranker may estimate what slices share; None if slices must
            be fitted separately.
        calibration: the calibration of the judge, or the path of its file; None if there is none.

    Raises:
        UsageError: a calibration was given that no ranker uses, or its file does not exist.
        DataError: the file of the calibration is damaged.
    """
    if isinstance(calibration, str | Path):
        from podium.rankers.json_files import read_calibration

        calibration = read_calibration(calibration)
    arguments = {"calibration": calibration, "whole": whole}
    context = {}
    for name, function in functions.items():
        parameters = arguments.keys() & parameters_of(function).keys()
        context[name] = {parameter: arguments[parameter] for parameter in sorted(parameters)}
    is_used = any("calibration" in options_of_ranker for options_of_ranker in context.values())
    if calibration is not None and not is_used:
        raise UsageError(
            f"a calibration was given, and {' and '.join(functions)} does not use one; "
            "soft-elo does"
        )
    return context


def refuse_several_judges(battles: Battles, *, can_divide: bool = False) -> None:
    """Check that the battles are of one judge, or of judges that are one jury.

    Args:
        battles: the battles.
        can_divide: whether the command also takes `--by judge`.

    Raises:
        NotIdentifiedError: there are several judges that are not one jury. The message says which
            of them differ in the prompt alone, and how to rank them.
    """
    judges = battles.judges
    if len(judges) < 2 or battles.is_one_jury:
        return
    short = battles.short_judges
    # Judges that differ from another one in the prompt alone.
    differing_in_prompt: list[str] = []
    for group in judges_with_other_prompts(map(battles.judge_of, judges)):
        differing_in_prompt += [short[name] for name in group]
    why = ""
    if differing_in_prompt:
        are_all = len(differing_in_prompt) == len(judges)
        which = "they" if are_all else some(differing_in_prompt)
        why = f" ({which} differ in the prompt alone, and a changed prompt makes another judge)"
    for group in judges_with_other_replies(map(battles.judge_of, judges)):
        # Text and JSON of one model: an older log, or another `replies=`.
        why += f" ({some([short[name] for name in group])} differ in how replies are asked for)"
    each = ", rank each with --by judge" if can_divide else ""
    raise NotIdentifiedError(
        f"verdicts of {len(judges)} judges in one table ({some([*short.values()], most=10)}){why}: "
        f"choose one with --where judge=NAME{each}, or put them together with --pool"
    )


def refuse_several_metrics(battles: Battles) -> None:
    """Check that scores are not of several metrics, which must not be mixed.

    Raises:
        NotIdentifiedError: there are several metrics.
    """
    metrics = battles.metrics
    if len(metrics) > 1:
        choice = option_text("where", "metric=NAME")
        each = option_text("by", "metric")
        raise NotIdentifiedError(
            f"scores of {len(metrics)} metrics in one table ({some(metrics, most=10)}): "
            f"choose one with {choice}, or rank each with {each}"
        )


def require_verdicts(battles: Battles) -> None:
    """Check that the verdicts are not only ties of identical responses.

    No judge is asked about these, so that they say nothing about the models if none of the judge's
    replies could be parsed. Battles without any verdict raise no error here: rankers reject them.

    Raises:
        NotIdentifiedError: the only verdicts are such ties, and no reply to other battles was
            parsed.
    """
    asked_battles = battles.asked_battles
    if battles.tally.identical and len(asked_battles) and not asked_battles.tally.judged:
        ties = quantity(battles.tally.identical, "tie")
        raise NotIdentifiedError(
            f"no readable verdict in {quantity(len(asked_battles), 'battle')}; {ties} of identical "
            "responses alone rank nobody"
        )


def ranked_apart(battles: Battles, rankers: Sequence[str]) -> str | None:
    """Return the column whose values must be ranked separately, for a host that cannot ask.

    The column is `metric` for scores of several metrics, and `judge` for several judges. The result
    is None for one judge, for one jury, and if all rankers can rank several judges together.
    """
    if len(battles.metrics) > 1:
        return "metric"
    if len(battles.judges) < 2 or battles.is_one_jury:
        return None
    ranks_together = all(catalogue.extension(Ranker, name).several_judges for name in rankers)
    return None if ranks_together else "judge"
