"""Several judges side by side: how rankings agree, and how two differ on the same battles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from podium.data.battles import Battles
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.data.human_labels import is_turned, matchup_frame
from podium.diagnosis.clustered import KIND_OF_INTERVAL, Clustered, agreement_statistic
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value, attempt
from podium.diagnosis.gold import match_gold_pairs
from podium.diagnosis.ratings import (
    CONNECT_REMEDY,
    BattleRatings,
    Ratings,
    bounded_by_all,
    fit_ratings,
    kendall_taus,
    number_items,
)
from podium.diagnosis.subject import Subject
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.errors.intervals import resample
from podium.tables import EMPTY, Table
from podium.wording import quantity, word_for

if TYPE_CHECKING:
    import pandas as pd


RESAMPLES = 200
"""Default number of bootstrap resamples of the items."""
REJUDGE_OLD_RESPONSES = "re-judge the old responses: inspect eval podium/recorded -T battles=LOG"
"""Remedy if two judges share no battles, or if their ratings cannot be fitted."""
MATCHUP_COLUMNS = ["item", "first", "second", "response"]
"""Columns that identify what is compared; a matchup is one combination of their values."""
LENGTH_COLUMNS = ["length_first", "length_second"]
"""Columns of `_battles_by_matchup` with the lengths of both responses."""

Drift: TypeAlias = dict[str, Statistic] | Missing
"""Change of the rating in Elo by name of the model, or why it is unknown."""


class JudgeStanding(NamedTuple):
    """One judge among others.

    Attributes:
        judge: name of the judge.
        label: its short name for people.
        realization: how the judge was asked; None if unknown.
        battles: number of its battles with a verdict.
        tau: Kendall's tau of the judge's ranking with the gold standard.
    """

    judge: str
    label: str
    realization: str | None
    battles: int
    tau: Figured


class Correlation(NamedTuple):
    """How two judges' Bradley-Terry rankings agree.

    Attributes:
        first: name of the first judge.
        second: name of the second judge.
        tau: Kendall's tau of the two rankings.
    """

    first: str
    second: str
    tau: Figured


@dataclass(frozen=True, slots=True)
class JudgesSideBySide(CardAnswer):
    """Several judges, and how their rankings agree.

    Attributes:
        models: number of models that all judges rank.
        judges: the judges with a ranking, the highest tau with the gold standard first.
        correlations: Kendall's tau of each pair of these judges.
        mean: mean of these correlations.
    """

    models: int
    judges: tuple[JudgeStanding, ...]
    correlations: tuple[Correlation, ...]
    mean: Figured

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return two lines: the numbers of judges and models, and the mean tau."""
        return (
            ("judges", f"{len(self.judges):,}, {quantity(self.models, 'model')} ranked by all"),
            ("mean Kendall's tau between judges", self.mean),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the judges, and one of their correlations.

        The second table is there for 3 to 12 judges only.
        """
        rows = []
        for place, standing in enumerate(self.judges, start=1):
            figures = (standing.realization or EMPTY, f"{standing.battles:,}", standing.tau.brief)
            rows.append((f"{place}. {standing.label}", *figures))
        standings = Table(
            title="", header=("judge", "realization", "judged", "tau with gold"), rows=tuple(rows)
        )
        if 2 < len(self.judges) <= 12:
            return standings, self._correlation_table()
        return (standings,)

    def _correlation_table(self) -> Table:
        """Build the table of Kendall's tau with a row and a column per judge.

        Columns have the numbers of the rows. The diagonal has dashes.
        """
        tau = {}
        for pair in self.correlations:
            tau[pair.first, pair.second] = pair.tau.estimate
            tau[pair.second, pair.first] = pair.tau.estimate
        names = [standing.judge for standing in self.judges]
        rows = []
        for place, name in enumerate(names, start=1):
            taus = [tau.get((name, other), EMPTY) for other in names]
            label = self.judges[place - 1].label
            rows.append((f"{place}. {label}", *taus))
        numbers = [f"{place}." for place in range(1, len(names) + 1)]
        return Table(
            title="Rank correlations", header=("Kendall's tau", *numbers), rows=tuple(rows)
        )


def side_by_side(
    subjects: Sequence[Subject], *, resamples: int = RESAMPLES
) -> JudgesSideBySide | Missing:
    """Compare the rankings of several judges by Kendall's tau.

    Items that judges share are resampled together. Judges whose battles give no ranking are left
    out.

    Args:
        subjects: the judges.
        resamples: number of bootstrap resamples, at least 2.

    Returns:
        The judges, the nearest to the gold standard first; `Missing` if fewer than two give a
        ranking, or if they share fewer than three models.
    """
    if len(subjects) < 2:
        return Missing(
            "there is one judge only", "give the verdicts of several, named in a column judge"
        )
    ranking_judges, reasons = _ranking_judges(subjects)
    if len(ranking_judges) < 2:
        return Missing(f"fewer than two judges give a ranking: {reasons[0]}", "judge more battles")
    sources = [ratings for _, ratings in ranking_judges]
    common_names = set.intersection(*(set(source.models) for source in sources))
    names = tuple(sorted(common_names))
    if len(names) < 3:
        return Missing(
            f"{quantity(len(names), 'model', 'is|are')} ranked by all judges",
            "let all judge the same models",
        )
    theta, draws = _resample_strengths(sources, names, resamples, subjects[0].rng)
    standings = []
    for k, (subject, ratings) in enumerate(ranking_judges):
        standing = JudgeStanding(
            judge=subject.judge or UNNAMED_JUDGE,
            label=subject.shown_judge or UNNAMED_JUDGE,
            realization=subject.realization,
            battles=len(ratings.coded.credit),
            tau=_tau_with_gold(subject, theta[k], draws[:, k], names),
        )
        standings.append(standing)
    judges = [standing.judge for standing in standings]
    correlations, mean = _correlations(judges, theta, draws, subjects[0].level)
    standings.sort(key=_key_of_tau)
    return JudgesSideBySide(len(names), tuple(standings), correlations, mean)


def _ranking_judges(
    subjects: Sequence[Subject],
) -> tuple[list[tuple[Subject, BattleRatings]], list[str]]:
    """Fit a ranking to the verdicts of each judge.

    Returns:
        Pairs of judge and ratings for the judges with a ranking, in the given order. And a list of
        reasons, one for each judge without a ranking.
    """
    ranking_judges = []
    reasons = []
    for subject in subjects:
        try:
            ratings = subject.judge_ratings
        except (NotIdentifiedError, NotConvergedError) as error:
            reasons.append(str(error))
        else:
            ranking_judges.append((subject, ratings))
    return ranking_judges, reasons


def _correlations(
    judges: Sequence[str], theta: np.ndarray, draws: np.ndarray, level: float
) -> tuple[tuple[Correlation, ...], Figured]:
    """Return Kendall's tau of each pair of judges, and the mean over pairs.

    Pairs are in the order of `numpy.triu_indices`. `draws` may be empty: taus then have no
    interval.

    Args:
        judges: names of the judges.
        theta: strengths of the models, shape (judges, models).
        draws: strengths of the models in resamples, shape (draws, judges, models).
        level: confidence level.
    """
    first, second = np.triu_indices(len(judges), 1)
    values = kendall_taus(theta[first], theta[second])
    taus_of_draws = kendall_taus(draws[:, first], draws[:, second])
    models = theta.shape[1]
    correlations = []
    for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        tau = _tau_statistic(values[k], draws=taus_of_draws[:, k], n=models, level=level)
        correlations.append(Correlation(judges[i], judges[j], tau))
    mean = _tau_statistic(
        value=values.mean(),
        draws=taus_of_draws.mean(axis=1),
        n=len(first),
        level=level,
        of="pairs of judges",
    )
    return tuple(correlations), mean


def _key_of_tau(standing: JudgeStanding) -> tuple[float, str]:
    """Return the key that sorts judges by falling tau, then by name; an unknown tau counts as 0."""
    tau = standing.tau.value if isinstance(standing.tau, Statistic) else 0.0
    return -tau, standing.judge


def _resample_strengths(
    sources: Sequence[BattleRatings],
    names: tuple[str, ...],
    resamples: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-strengths of models by each judge, and their values in resamples.

    Args:
        sources: ratings by each judge; each judge rates all the models.
        names: names of the models.
        resamples: number of resamples.
        rng: random generator.

    Returns:
        The log-strengths in the sample, shape (judges, models), and in resamples of the items,
        shape (draws, judges, models). There are 0 draws if there is a single item.
    """
    items, positions = number_items(sources)
    places = []
    for source in sources:
        places.append(np.array([source.models.index(name) for name in names]))
    strengths = [source.strengths() for source in sources]
    theta = np.stack([values[place] for values, place in zip(strengths, places, strict=True)])
    if items < 2:
        return theta, np.full((0, *theta.shape), np.nan)

    def strengths_of_draws(counts: np.ndarray) -> np.ndarray:
        """Refit all judges to resampled items, shape (draws, judges, models)."""
        by_judge = []
        for source, items_of, place in zip(sources, positions, places, strict=True):
            by_judge.append(source.strengths(counts[:, items_of])[:, place])
        return np.stack(by_judge, axis=1)

    width = len(sources) * len(names) ** 2
    return theta, resample(strengths_of_draws, items, resamples, rng, width=width)


def _tau_with_gold(
    subject: Subject, theta: np.ndarray, draws: np.ndarray, names: tuple[str, ...]
) -> Figured:
    """Estimate a judge's tau with the gold standard, on the models that all judges rank.

    The gold standard is not resampled. Tau is `Missing` if there is no gold standard that gives
    ratings, if fewer than three of the models are in it, or if a ranking puts all models level.

    Args:
        subject: the judge.
        theta: log-strengths of the models by the judge, shape (models,).
        draws: log-strengths in resamples, shape (draws, models).
        names: names of the models.
    """
    gold = attempt(lambda: match_gold_pairs(subject), CONNECT_REMEDY)
    if isinstance(gold, Missing):
        return gold
    common = [name for name in names if name in gold.models]
    if len(common) < 3:
        return Missing(
            f"{quantity(len(common), 'model', 'is|are')} common to all",
            "rank more of them",
        )
    by_judge = np.array([names.index(name) for name in common])
    by_gold = [gold.models.index(name) for name in common]
    _, gold_theta = gold.strengths()
    tau = kendall_taus(theta[by_judge], gold_theta[by_gold])
    taus_of_draws = kendall_taus(draws[:, by_judge], gold_theta[by_gold])
    return _tau_statistic(tau, draws=taus_of_draws, n=len(common), level=subject.level)


def _tau_statistic(
    value: np.ndarray | float, draws: np.ndarray, n: int, level: float, of: str = "models"
) -> Figured:
    """Return Kendall's tau with its bootstrap interval; `Missing` if it is NaN in the sample.

    Args:
        value: tau in the sample, NaN if a ranking puts all models level.
        draws: tau in resamples, NaN if unknown, shape (draws,).
        n: sample size.
        level: confidence level.
        of: what the sample size counts.
    """
    tau = float(value)
    if np.isnan(tau):
        return Missing("a ranking puts all models level", "judge models that differ")
    usable = int((~np.isnan(draws)).sum())
    method = f"item bootstrap, each end the farther of percentile and reflected, {usable} resamples"
    return agreement_statistic(
        tau,
        draws=draws,
        within=(-1.0, 1.0),
        method=method,
        level=level,
        n=n,
        of=of,
        unit=Unit.CORRELATION,
    )


@dataclass(frozen=True, slots=True)
class Rejudged(CardAnswer):
    """Two judges on the battles that both judged.

    The drift of a model is its rating by the second judge minus its rating by the first.

    Attributes:
        first: name of the first judge.
        second: name of the second judge.
        labels: short names of the two for people.
        battles: number of matchups that both judged. Repeats of a matchup count once.
        most: number of matchups of the judge with more matchups.
        changed: number of battles in which a response changed its length, and so was generated
            anew; None if lengths are not known.
        agreement: share of battles on which both judges have the same verdict, among those with a
            verdict of both.
        judge: drift on battles with unchanged responses, which the judge alone causes.
        models: drift on battles with changed responses, minus the drift `judge`.
    """

    first: str
    second: str
    labels: tuple[str, str]
    battles: int
    most: int
    changed: int | None
    agreement: Figured
    judge: Drift
    models: Drift

    @property
    def drifts(self) -> tuple[tuple[str, Drift], ...]:
        """Label and value of the drift of the judge, then of the drift of the models."""
        return (("drift of the judge", self.judge), ("drift of the models", self.models))

    @property
    def sentence(self) -> str:
        """The comparison as text without a full stop.

        The text has the number of battles, the agreement and the drifts, each only if it is known,
        and names both judges.
        """
        parts = [f"re-judged: {self.battles:,} of {quantity(self.most, 'battle')}"]
        if isinstance(self.agreement, Statistic):
            parts[0] += f", the same verdict on {self.agreement.brief}"
        for label, drift in self.drifts:
            if not isinstance(drift, Missing):
                parts.append(_drift_sentence(label, drift))
        first, second = self.labels
        return "; ".join(parts) + f" (from {first} to {second})"

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return the lines on battles and agreement, and a line per missing drift."""
        responses = "whether the responses are the same is not known: no lengths"
        if self.changed is not None:
            same = f"{self.battles - self.changed:,} with the same responses"
            responses = f"{same}, {self.changed:,} with changed ones"
        return (
            ("battles re-judged", f"{self.battles:,} of {self.most:,}; {responses}"),
            ("same verdict", self.agreement),
            *((label, drift) for label, drift in self.drifts if isinstance(drift, Missing)),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the rating changes by model, the largest first.

        The tuple has one table; it is empty if the drift of the judge is missing. The column for
        changed responses is left out if there are none. Equal changes are sorted by name.
        """
        if isinstance(self.judge, Missing):
            return ()
        header = ["model", "by the judge"]
        drift_of_models: Mapping[str, Statistic] = {}
        if not isinstance(self.models, Missing) and self.models:
            header.append("by its responses")
            drift_of_models = self.models
        drift_by_judge = self.judge
        # A stable sort keeps the order of names among equal drifts.
        names = sorted(drift_by_judge)
        names.sort(key=lambda name: -abs(drift_by_judge[name].value))
        rows = []
        for name in names:
            drift = drift_by_judge[name]
            row = [name, drift.brief]
            if drift_of_models:
                row.append(drift_of_models[name].brief if name in drift_of_models else "-")
            rows.append(tuple(row))
        first, second = self.labels
        title = f"Elo by {second} less Elo by {first}"
        return (Table(title=title, header=tuple(header), rows=tuple(rows)),)


def compare_rejudged(subjects: Sequence[Subject]) -> Rejudged | Missing:
    """Compare two judges on the battles that both judged.

    Battles with changed responses are compared separately. A response counts as changed if its
    length is not the same in the battles of the two judges, and as unchanged if a length is
    unknown. Rows without an item are left out.

    Args:
        subjects: the judges, the earlier one first.

    Returns:
        The comparison; `Missing` unless there are exactly two judges that share battles.
    """
    if len(subjects) < 2:
        return Missing("there is one judge only", REJUDGE_OLD_RESPONSES)
    if len(subjects) > 2:
        return Missing(f"there are {len(subjects)} judges", "give the verdicts of two")
    if not all(subject.battles.has_items for subject in subjects):
        return Missing("no row names its item, which judges share", "give a column item")
    tables = [_battles_by_matchup(subject.battles) for subject in subjects]
    matchups = []
    for table in tables:
        # The column `row` is negative in rows with an item. Rows without one match nothing.
        rows_with_item = table[table["row"] < 0]
        by_matchup = rows_with_item.groupby(MATCHUP_COLUMNS, as_index=False)
        # Repeats of a matchup are averaged.
        matchups.append(by_matchup[["credit", *LENGTH_COLUMNS]].mean())
    common = matchups[0].merge(matchups[1], on=MATCHUP_COLUMNS, suffixes=("", "_second_judge"))
    if common.empty:
        return Missing("no battle was judged by both", REJUDGE_OLD_RESPONSES)
    lengths = common[LENGTH_COLUMNS].to_numpy()
    second_lengths = common[[f"{name}_second_judge" for name in LENGTH_COLUMNS]].to_numpy()
    has_all_lengths = ~np.isnan(lengths + second_lengths).any(axis=1)
    has_changed = has_all_lengths & (lengths != second_lengths).any(axis=1)
    wins = np.sign(common[["credit", "credit_second_judge"]].to_numpy() - 0.5)
    sample = Clustered(common["item"].factorize()[0], unit="item", level=subjects[0].level)
    models: Drift = Missing("the responses are the same: the judge alone changed", "")
    if has_changed.any():
        models = _drift(subjects, tables, common[has_changed], subtracted=common[~has_changed])
    return Rejudged(
        first=subjects[0].judge or UNNAMED_JUDGE,
        second=subjects[1].judge or UNNAMED_JUDGE,
        labels=_shown_judges(subjects[0], subjects[1]),
        battles=len(common),
        most=max(len(matchups_of_judge) for matchups_of_judge in matchups),
        changed=int(has_changed.sum()) if has_all_lengths.any() else None,
        agreement=sample.share(
            wins[:, 0] == wins[:, 1], "battles", among=~np.isnan(wins).any(axis=1)
        ),
        judge=_drift(subjects, tables, common[~has_changed]),
        models=models,
    )


def _shown_judges(first: Subject, second: Subject) -> tuple[str, str]:
    """Return the names of two judges for people; `UNNAMED_JUDGE` for a judge without a name."""
    return first.shown_judge or UNNAMED_JUDGE, second.shown_judge or UNNAMED_JUDGE


def _battles_by_matchup(battles: Battles) -> "pd.DataFrame":
    """Return `matchup_frame` of battles with columns of credit and lengths, a row per battle.

    The frame has the columns of `MATCHUP_COLUMNS`, and `row`, which is -1 if the battle has an
    item. The first model is the one whose name sorts first. The columns added are `credit`, which
    is the credit of the first model by the parsed verdict (NaN if unparsed), `length_first` and
    `length_second` (NaN if unknown).
    """
    turned = is_turned(battles.table).to_numpy()
    credit = battles.outcomes
    length_a = battles.numbers_of("length_a")
    length_b = battles.numbers_of("length_b")
    return matchup_frame(battles).assign(
        credit=np.where(turned, 1 - credit, credit),
        length_first=np.where(turned, length_b, length_a),
        length_second=np.where(turned, length_a, length_b),
    )


def _drift(
    subjects: Sequence[Subject],
    tables: "Sequence[pd.DataFrame]",
    matchups: "pd.DataFrame",
    subtracted: "pd.DataFrame | None" = None,
) -> Drift:
    """Estimate the rating changes from the first judge to the second judge on some matchups.

    Args:
        subjects: the two judges.
        tables: battles of each judge, as `_battles_by_matchup` returns them.
        matchups: the matchups on which ratings are compared.
        subtracted: further matchups, whose rating changes are subtracted; None to subtract nothing.

    Returns:
        The changes in Elo by model, centred on 0, for the models with bounded ratings in all fits.
        Their intervals hold for all models together. `Missing` if a fit is not identified or does
        not converge, or if fewer than two models have bounded ratings.
    """
    # The change is a sum of ratings. Each term has the sign of the ratings in the sum, the position
    # of the judge who gave them, and the matchups that they are fitted to.
    terms = [(-1, 0, matchups), (1, 1, matchups)]
    if subtracted is not None:
        terms += [(1, 0, subtracted), (-1, 1, subtracted)]
    try:
        fits = [_fit_matchups(subjects[k], tables[k], fitted) for _, k, fitted in terms]
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(str(error), REJUDGE_OLD_RESPONSES)
    ratings = bounded_by_all(*fits)
    names = ratings[0].models
    if len(names) < 2:
        return Missing(
            f"{quantity(len(names), 'model', 'has|have')} bounded ratings by both",
            "judge more battles",
        )
    level = subjects[0].level
    codes = np.concatenate([rated.rows.code for rated in ratings])
    # Each interval has a higher level, so that all of them together hold at `level` (Bonferroni).
    sample = Clustered(codes, "item", 1 - (1 - level) / len(names))
    signed_ratings = [(sign, rated) for (sign, _, _), rated in zip(terms, ratings, strict=True)]
    change = np.sum([sign * rated.elo for sign, rated in signed_ratings], axis=0)
    influence = np.concatenate([sign * rated.influence for sign, rated in signed_ratings])
    change = change - change.mean()
    influence = influence - influence.mean(axis=1, keepdims=True)
    method = f"{KIND_OF_INTERVAL}, Bonferroni over {len(names)} models"
    drifts = {}
    for k, name in enumerate(names):
        drift = sample.linear(
            float(change[k]), influence[:, k], len(matchups), "battles", Unit.ELO, method
        )
        # The level that is shown is that of all intervals together.
        drifts[name] = replace(drift, level=level)
    return drifts


def _fit_matchups(subject: Subject, table: "pd.DataFrame", matchups: "pd.DataFrame") -> Ratings:
    """Fit ratings to a judge's battles of some matchups.

    Args:
        subject: the judge.
        table: the battles of the judge, as `_battles_by_matchup` returns them.
        matchups: the matchups, with the columns `MATCHUP_COLUMNS`.

    Raises:
        NotIdentifiedError: the battles do not connect all models.
        NotConvergedError: the fit does not converge.
    """
    import pandas as pd

    is_chosen = pd.MultiIndex.from_frame(table[MATCHUP_COLUMNS]).isin(
        pd.MultiIndex.from_frame(matchups[MATCHUP_COLUMNS])
    )
    return fit_ratings(subject.battles.select(is_chosen)).ratings


def _drift_sentence(label: str, drift: Mapping[str, Statistic]) -> str:
    """Write how many ratings changed, and the two largest changes.

    The text has no full stop. A rating has changed if the interval of its change does not contain
    0. If none has, the text says that no model moves.
    """
    changed = [name for name, change in drift.items() if change.excludes(0.0)]
    changed.sort(key=lambda name: -abs(drift[name].value))
    if not changed:
        return f"{label}: no model moves"
    largest = [
        f"{name} {drift[name].value:+.0f} Elo ({drift[name].interval})" for name in changed[:2]
    ]
    verb = word_for(len(changed), "moves", "move")
    return (
        f"{label}: {len(changed)} of {quantity(len(drift), 'model')} {verb}, {', '.join(largest)}"
    )
