"""Audit battles: rank them, and make every check of the ranking and of its judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.check_results import Check, Result, not_known
from podium.data.battles import Battles
from podium.data.reading.judgments import read_battles
from podium.data.reading.side_tables import TableOfModels
from podium.diagnosis.audit_record import Audit, BoardAudit, Probe
from podium.diagnosis.card import Diagnosis, judge_sections
from podium.diagnosis.checks.absent_rows_of_audit import checks_of_absent
from podium.diagnosis.checks.all_checks import (
    adjust_tests,
    checks_of_ranking,
    checks_only_of_audits,
    checks_only_of_cards,
)
from podium.diagnosis.checks.audit_data import AuditData
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.checks.loss_checks import LOSSES
from podium.diagnosis.checks.place_checks import describe_elo, nearest_open_places
from podium.diagnosis.checks.remedy_commands import TypedArguments, remedy_command
from podium.diagnosis.checks.sample_checks import check_connected_battles
from podium.diagnosis.checks.size_limits import (
    FEWEST_COMPARED,
    MOST_BATTLES,
    limits_of_audit,
    why_too_many,
)
from podium.diagnosis.judge_checks import are_human_votes, is_judged
from podium.diagnosis.pilot_facts import can_be_pilot, spread_of_shares
from podium.distributions import ndtr, ndtri
from podium.errors import NotIdentifiedError, PodiumError
from podium.notices.option_forms import quoted_sources, typed_as, typed_in_command
from podium.rankers.ranking import Ranking, Standings
from podium.ranking.rank_battles import Slice, families_of_table, merge_juries, rank, split_slices
from podium.show.answers.audit_sentences import audit_answer

if TYPE_CHECKING:
    import pandas as pd

    from podium.rankers.calibration.calibration import Calibration

RANKER_WITHOUT_CONNECTION = "win-rate"
"""The ranker of battles that do not connect all models."""
SECTIONS = ("consistency", "self_preference", "human", "transitivity")
"""Sections of a judge card that have checks which no ranking has."""
OPEN_EFFECT = "the effect is beyond chance for this judge alone, and not among all tests"
"""Why a flagged effect is not known after it was adjusted."""
CHECKS_OF_CARDS = ("repeated", "self-preference", "human", "transitivity")
"""Names of the checks of a judge card that no ranking has."""


def audit(
    battles: "Battles | pd.DataFrame | str | Path",
    rankers: str | Sequence[str] | None = None,
    *,
    judgments: Battles | None = None,
    level: float = 0.95,
    seed: int = 0,
    by: str | None = None,
    pool: bool = False,
    calibration: "Calibration | str | Path | None" = None,
    models: TableOfModels = None,
    arguments: TypedArguments | None = None,
    **options: Any,
) -> Audit:
    """Rank battles, and say what can be believed of the ranking.

    The probes are the checks of the ranking, those of the judges' cards, and some that only an
    audit has. The tests of the ranking share an error rate of 5% by Holm's rule, as in
    `podium.rank`; the further tests share another 5%.

    Args:
        battles: from `read_battles`; or what it reads: a data frame, or a path.
        rankers: names, as of `podium.rank`; the first one of each slice is audited.
        judgments: the same battles with one row per order (`read_battles(..., merge=False)`);
            by default those from which the battles were merged. They are ignored if `battles` is
            a data frame or a path.
        level: confidence level of intervals.
        seed: seed of everything random.
        by: audit the ranking of each value of this column.
        pool: rank the battles of several judges together.
        calibration: of the judge, or the path of its file.
        models: a table with the columns `model` and `family`, or its path.
        arguments: what was typed to read and rank the battles, for the commands of remedies.
        **options: of the rankers.

    Raises:
        PodiumError: as `podium.rank`, but battles that do not connect all models are audited.
    """
    if not isinstance(battles, Battles):
        judgments = read_battles(battles, merge=False)
        battles = read_battles(battles)
    how = {"level": level, "seed": seed, "models": models}
    rank_options = {**how, "by": by, "pool": pool, "calibration": calibration, **options}
    with typed_as(typed_in_command), limits_of_audit():
        # The remedies of an audit are commands, also in Python.
        return _audit_read(battles, judgments, rankers, rank_options, arguments)


def _audit_read(
    battles: Battles,
    judgments: Battles | None,
    rankers: str | Sequence[str] | None,
    rank_options: Mapping[str, Any],
    arguments: TypedArguments | None,
) -> Audit:
    """Rank battles and audit the ranking of each slice.

    Args:
        battles: the battles.
        judgments: the same battles with one row per order; None for those from which they were
            merged.
        rankers: names of rankers.
        rank_options: the options of `podium.rank`.
        arguments: what was typed to read and rank the battles.
    """
    ranking = _rank_or_fall_back(battles, rankers, rank_options)
    names = ("level", "seed", "by", "pool", "models")
    how = {name: rank_options[name] for name in names}
    if judgments is None:
        judgments = replace(battles, rows=battles.rows.separate_orders())
    return audit_ranking(ranking, battles, judgments, arguments=arguments, **how)


def audit_ranking(
    ranking: Ranking,
    battles: Battles,
    judgments: Battles,
    *,
    level: float = 0.95,
    seed: int = 0,
    by: str | None = None,
    pool: bool = False,
    models: TableOfModels = None,
    diagnosis: Diagnosis | None = None,
    arguments: TypedArguments | None = None,
) -> Audit:
    """Audit a ranking that was made already, each slice by its first ranker.

    Args:
        ranking: the ranking.
        battles: the battles that were ranked.
        judgments: the same battles with one row per order.
        level: confidence level of intervals.
        seed: seed of everything random.
        by: the column of which each value was ranked.
        pool: whether the battles of several judges were ranked together.
        models: a table with the columns `model` and `family`, or its path.
        diagnosis: the cards of the judges by the same level, seed and families, so that their
            sections are not computed again; None if there are none.
        arguments: what was typed to read and rank the battles, for the commands of remedies.
    """
    column, slices = split_slices(battles, by, pool)
    families = families_of_table(models)
    cards: Mapping[str, CardSections] = {}
    if diagnosis is not None and column in (None, "judge"):
        cards = diagnosis.sections_by_judge
    elif column == "judge":
        # The other judges are what a judge is compared with.
        cards = _cards_of_judges(judgments, battles, families, level, seed)
    request = _AuditRequest(
        ranking=ranking,
        column=column,
        judgments=judgments,
        families=families,
        cards=cards,
        merged={} if pool else merge_juries(slices),
        level=level,
        seed=seed,
        is_pooled=pool,
        arguments=arguments or TypedArguments(quoted_sources(battles.sources)),
    )
    with typed_as(typed_in_command), limits_of_audit():
        # The remedies of an audit are commands, also in Python.
        return request.audit_slices(slices)


def _rank_or_fall_back(
    battles: Battles, rankers: str | Sequence[str] | None, rank_options: Mapping[str, Any]
) -> Ranking:
    """Rank battles as asked; by win rates if the battles do not connect all models.

    Raises:
        PodiumError: the battles have no ranking for another reason.
    """
    try:
        return rank(battles, rankers, **rank_options)
    except NotIdentifiedError:
        connections = check_connected_battles(battles)
        if not connections or not connections[0].is_flagged:
            raise
    shared_options = {
        name: rank_options[name] for name in ("level", "seed", "by", "pool", "models")
    }
    return rank(battles, RANKER_WITHOUT_CONNECTION, **shared_options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AuditRequest:
    """What the audits of all slices share.

    Attributes:
        ranking: the rankings.
        column: the column that divides the battles; None if they are not divided.
        judgments: all verdicts, one per order.
        families: families of models by glob pattern of their names.
        cards: sections of the judges' cards, if they are of the battles of each slice or if the
            battles are divided by judge; else empty.
        merged: by slice, the battles of a jury with one verdict each.
        level: confidence level of intervals.
        seed: seed of resamples.
        is_pooled: whether the verdicts of several judges are ranked together.
        arguments: what was typed to read and rank the battles.
    """

    ranking: Ranking
    column: str | None
    judgments: Battles
    families: Mapping[str, str]
    cards: Mapping[str, CardSections]
    merged: Mapping[str | None, Battles]
    level: float
    seed: int
    is_pooled: bool
    arguments: TypedArguments

    def audit_slices(self, slices: Sequence[Slice]) -> Audit:
        """Audit the ranking of each slice.

        Returns:
            The audits of the slices that have a ranking, in the order of the slices.
        """
        boards = [self.audit_slice(value, part) for value, part in slices]
        warnings = [each for standings in self.ranking.standings for each in standings.warnings]
        return Audit(
            tuple(board for board in boards if board is not None),
            self.ranking.failures,
            tuple(dict.fromkeys(warnings)),
            self.ranking.provenance,
        )

    def audit_slice(self, value: str | None, battles: Battles) -> BoardAudit | None:
        """Audit the ranking of a slice; None if it has none.

        The checks of the ranking are followed by those of audits and of each judge, which are
        adjusted together, and by a row for each subject without a check.

        Args:
            value: value of the slice; None if there are no slices.
            battles: the battles of the slice.
        """
        standings = next((each for each in self.ranking.standings if each.slice == value), None)
        if standings is None:
            return None
        merged = self.merged.get(value)
        checks = self._probed_checks_of_ranking(standings, battles, merged)
        of_ranking = [*checks, *(each for each in standings.checks if each not in checks)]
        judgments = self._judgments_of(value, battles)
        data = AuditData(
            battles=battles,
            rated=merged or battles,
            judgments=judgments,
            standings=standings,
            checks=of_ranking,
        )
        checks_of_judges = self._checks_of_judges(judgments, battles)
        # One family of tests: that of the ranking has its own error rate already.
        checks_beside = [*checks_only_of_audits(data), *(check for _, check in checks_of_judges)]
        further = adjust_tests(checks_beside)
        # The adjusted checks of judges are the last ones, in the order of `checks_of_judges`.
        number = len(further) - len(checks_of_judges)
        judges = [judge for judge, _ in checks_of_judges]
        checks_by_judge = list(zip(judges, further[number:], strict=True))
        elo = describe_elo(replace(data, checks=[*of_ranking, *further]))
        listed = [("", check) for check in [*checks, *further[:number], *elo]]
        listed += _gravest_of_judges(checks_by_judge)
        names = {check.name for _, check in listed}
        listed += [("", check) for check in checks_of_absent(names, data)]
        probes = self._build_probes(listed, value, battles, standings)
        answer = audit_answer(standings, probes)
        return BoardAudit(
            standings=standings, probes=tuple(probes), answer=answer, source=self.arguments.reading
        )

    def _probed_checks_of_ranking(
        self, standings: Standings, battles: Battles, merged: Battles | None
    ) -> list[Check]:
        """Return the checks of a ranking that an audit lists; the first place has no row in it.

        Args:
            standings: the ranking of the slice.
            battles: the battles of the slice.
            merged: the battles of a jury with one verdict each; None without a jury.
        """
        checks = [
            check
            for check in checks_of_ranking(standings, battles, self.families, merged)
            if check.name != "first place"
        ]
        if standings.scale.name == "score":
            return checks
        # This check has an ok row, too, and names battles that would connect the groups.
        others = [check for check in checks if check.name != "connected"]
        return [*check_connected_battles(battles), *others]

    def _build_probes(
        self,
        listed: Sequence[tuple[str, Check]],
        value: str | None,
        battles: Battles,
        standings: Standings,
    ) -> list[Probe]:
        """Return the sorted probes of a slice, with the commands that help.

        Args:
            listed: the checks, each with the judge that it is about; empty for the whole ranking.
            value: value of the slice; None if there are no slices.
            battles: the battles of the slice.
            standings: the ranking of the slice.
        """
        arguments = self._arguments_of(value, battles, standings)
        probes = [
            _build_probe(judge, check, standings, arguments, battles) for judge, check in listed
        ]
        return sorted(probes, key=lambda probe: probe.place)

    def _arguments_of(
        self, value: str | None, battles: Battles, standings: Standings
    ) -> TypedArguments:
        """Return what was typed to read and rank a slice, and which remedies its battles allow.

        Args:
            value: value of the slice; None if there are no slices.
            battles: the battles of the slice.
            standings: the ranking of the slice.
        """
        are_scores = standings.scale.name == "score"
        can_plan = can_be_pilot(battles) and not standings.unconnected_groups
        has_enough_models = len(battles.models) >= FEWEST_COMPARED
        shown_slice = standings.shown_slice if value else None
        return replace(
            self.arguments.of_slice(self.column, shown_slice),
            are_votes=are_human_votes(battles),
            are_scores=are_scores,
            has_items=battles.has_items,
            can_plan=can_plan,
            can_calibrate=can_plan and has_enough_models and not self.is_pooled,
            spread=spread_of_shares(battles) if are_scores and battles.group is None else "",
            are_pooled=self.is_pooled,
        )

    def _judgments_of(self, value: str | None, battles: Battles) -> Battles:
        """Return the judgments of a slice.

        Without slices, they are all judgments. The battles are returned if the judgments cannot be
        divided as they are, or have no such slice.

        Args:
            value: value of the slice; None if there are no slices.
            battles: the battles of the slice.
        """
        if self.column is None:
            return self.judgments
        try:
            return dict(self.judgments.slices(self.column)).get(value or "", battles)
        except PodiumError:
            return battles

    def _checks_of_judges(self, judgments: Battles, battles: Battles) -> list[tuple[str, Check]]:
        """Make the checks of the judges' cards that no ranking has.

        Each check has the name of its judge, which is empty if there is one judge. With too many
        battles, all checks are not known. The list is empty for scores and for votes of humans.
        """
        if not is_judged(battles) or are_human_votes(battles):
            return []
        cards = self.cards
        if self.column is not None:
            short_names = {battles.short_judges.get(name, name) for name in battles.judges}
            cards = {name: card for name, card in self.cards.items() if name in short_names}
        if not cards:
            cards = _cards_of_judges(judgments, battles, self.families, self.level, self.seed)
        if not cards:
            return [("", not_known(name, reason=why_too_many(battles))) for name in CHECKS_OF_CARDS]
        checks = []
        for name, card in cards.items():
            judge = name if len(cards) > 1 else ""
            for check in checks_only_of_cards(card):
                checks.append((judge, _with_p_value(check, self.level, len(cards))))
        return checks


def _build_probe(
    judge: str,
    check: Check,
    standings: Standings,
    arguments: TypedArguments,
    battles: Battles,
) -> Probe:
    """Return the probe of a check, with the command that helps.

    A flagged check of losses has no command if no item has a readable battle of every pair: nothing
    would be left to rank.

    Args:
        judge: the judge that it is about; empty if there is one.
        check: the check.
        standings: the ranking.
        arguments: what was typed to read and rank the battles.
        battles: the battles of the ranking.
    """
    if check.is_flagged and check.name in LOSSES and not _has_complete_items(battles):
        return Probe(check, judge)
    more = {}
    nearest = nearest_open_places(standings)
    counts_items = standings.counts.unit == "item" and "raters" not in standings.diagnostics
    if check.name == "places" and nearest is not None and counts_items:
        _, further_items = nearest
        more["needed"] = str(standings.counts.units + further_items)
    return Probe(check, judge, remedy_command(check, arguments, more))


def _has_complete_items(battles: Battles) -> bool:
    """Return whether one or more items have a readable battle of every pair of models."""
    try:
        battles.complete_items()
    except PodiumError:
        return False
    return True


def _cards_of_judges(
    judgments: Battles, battles: Battles, families: Mapping[str, str], level: float, seed: int
) -> dict[str, CardSections]:
    """Compute the sections of the judges' cards that an audit needs, by name of the judge.

    The sections are those of `SECTIONS`. The dictionary is empty for more than `MOST_BATTLES`
    battles.
    """
    if len(battles) > MOST_BATTLES:
        return {}
    return judge_sections(judgments, battles, SECTIONS, families=families, level=level, seed=seed)


def _with_p_value(check: Check, level: float, judges: int) -> Check:
    """Return the effect of one judge's card as a test among those of all judges.

    Only a known check `self-preference` with a number and an interval gets a p-value. It is that of
    a normal distribution with the interval of the effect, times the number of judges, at most 1. If
    it is flagged, its reason becomes `OPEN_EFFECT`. Other checks are returned as they are.

    Args:
        check: the check.
        level: confidence level of the interval, in (0, 1).
        judges: number of judges.
    """
    if check.name != "self-preference" or not check.is_known or check.interval is None:
        return check
    low, high = check.interval
    error = (high - low) / (2 * float(ndtri((1 + level) / 2)))
    if check.number is None or error <= 0:
        return check
    # Two-sided, by Bonferroni over the judges.
    tail = float(ndtr(-abs(check.number) / error))
    p = min(1.0, 2 * judges * tail)
    return replace(check, p=p, reason=OPEN_EFFECT if check.is_flagged else check.reason)


def _gravest_of_judges(checks_by_judge: Sequence[tuple[str, Check]]) -> list[tuple[str, Check]]:
    """Return one check of each name, with the name of its judge.

    The check is a flagged one, else one that is not known, else one that is ok; of several, the
    first. No judge is named (the text is empty) if the check is not known for any judge, and for
    the same reason for all.

    Args:
        checks_by_judge: checks with the names of their judges.
    """
    order = (Result.FLAGGED, Result.NOT_KNOWN, Result.OK)

    def place_of_result(judge_and_check: tuple[str, Check]) -> int:
        """Return the place of a check's result in `order`."""
        _, check = judge_and_check
        return order.index(check.result)

    gravest = []
    for name in dict.fromkeys(check.name for _, check in checks_by_judge):
        checks_of_judges = [
            (judge, check) for judge, check in checks_by_judge if check.name == name
        ]
        judge, check = min(checks_of_judges, key=place_of_result)
        is_shared = all(other.finding_text == check.finding_text for _, other in checks_of_judges)
        has_reason = not check.is_known and is_shared
        gravest.append(("" if has_reason else judge, check))
    return gravest
