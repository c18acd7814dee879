"""Whether a judge prefers longer responses, and models of its own family."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from podium.data.battles import Battles
from podium.defaults import REGULARIZATION
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value, attempt
from podium.diagnosis.judge_checks import family_of, group_by_family
from podium.diagnosis.ratings import Ratings, bounded_by_all, error_sums, fit_line
from podium.diagnosis.subject import Subject, near_ties
from podium.rankers.calibration.signals import readable_margins
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.length_control.joint import fit_with_length, slope_influence
from podium.tables import EMPTY, Table
from podium.wording import some

LENGTHS = "give columns length_a and length_b, in characters"
MARGINS = "give a column margin (judge score of a minus that of b)"
MORE_LABELS = "give the reference more battles"
MOSTLY_CHANCE = "more than half of the variation of the reference ratings is chance"
ROUNDING = 1e-12
FEWEST_MODELS = 5
"""A partial correlation given one variable has a Fisher interval from n = 5 on: its variance is 1 /
(n - 4)."""
FEWEST_OUTSIDE = 3
"""Models of other families that a line needs: two would fit any line."""
NAME_FAMILIES = (
    "name the families: --families PATTERN=FAMILY,... or a file with the columns model and family"
)


@dataclass(frozen=True, slots=True)
class Verbosity(CardAnswer):
    """The effect of length on a judge's verdicts (logits per log-length), its ratings
    (`residuals`), and on humans: of answers' lengths, and on verdicts also of `transcripts`, if the
    judge was shown some."""

    longer: Figured
    longer_near_ties: Figured
    rule: str | None
    effect: Figured
    human: Figured
    residuals: Figured
    who: str | None
    transcripts: Figured | None = None

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        rule = f" ({self.rule})" if self.rule else ""
        against = f" against {self.who}" if self.who else ""
        of_answer = "" if self.transcripts is None else " of the answer"
        of_transcript = "  the same for the length of the transcript"
        return (
            ("longer response preferred", self.longer),
            ("  among near-ties" + rule, self.longer_near_ties),
            (f"length{of_answer}, log-odds per e-fold, strength fixed", self.effect),
            *([] if self.transcripts is None else [(of_transcript, self.transcripts)]),
            ("  the same for humans", self.human),
            (f"residual ratings{against} and length, given strength", self.residuals),
        )


def verbosity(subject: Subject) -> Verbosity | Missing:
    """Measure the effect of length on a judge's verdicts. Source: Soft-Elo, appendix F.1."""
    battles, ratio = subject.battles, log_ratio(subject.battles)
    known = battles.readable & ~np.isnan(ratio)
    if not known.any():
        return Missing("no readable battle has the lengths of both responses", LENGTHS)
    credit, sample = battles.numbers_of("credit"), cluster_battles(battles, subject.level)
    has_transcripts, of_transcripts = (
        "transcript_length_a" in battles.table,
        log_ratio(battles, "transcript_length"),
    )
    win = np.sign(battles.outcomes - 0.5)
    decisive, longer = known & (win != 0) & (ratio != 0), np.sign(ratio) == win
    near, rule = near_ties(credit, readable_margins(battles), subject.near_tie) or (None, None)
    why = "the verdicts have neither margins nor probabilities"
    in_near_ties: Figured = Missing(why, MARGINS)
    if near is not None:
        what = "decisive near-ties with different lengths"
        in_near_ties = sample.share(longer, what=what, among=decisive & near)
    human: Figured = Missing("there are no human labels", "give a column human, or --human-judge")
    if not np.isnan(subject.human_credit).all():
        human_credit = np.where(battles.readable, subject.human_credit, np.nan)
        human = length_weight(battles, human_credit, ratio, subject.level)
    return Verbosity(
        longer=sample.share(longer, what="decisive battles with different lengths", among=decisive),
        longer_near_ties=in_near_ties,
        rule=rule,
        effect=length_weight(battles, credit, ratio, subject.level),
        human=human,
        residuals=correlate_residuals(subject),
        who=None if isinstance(subject.reference, Missing) else subject.reference.who,
        transcripts=length_weight(battles, credit, of_transcripts, subject.level)
        if has_transcripts
        else None,
    )


def log_ratio(battles: Battles, length: str = "length") -> np.ndarray:
    """Return log((1 + length of a) / (1 + length of b)) of each battle, NaN if unknown, shape
    (battles,)."""
    a, b = (np.log1p(battles.numbers_of(f"{length}_{side}")) for side in "ab")
    return a - b


def length_weight(battles: Battles, credit: np.ndarray, ratio: np.ndarray, level: float) -> Figured:
    """Estimate the weight of log-length in Bradley-Terry with a length term, in logits."""
    kept = ~np.isnan(credit) & ~np.isnan(ratio)
    known = np.where(kept, credit, np.nan)
    fit = attempt(lambda: length_effect(code_battles(battles, credit=known), ratio[kept]), LENGTHS)
    if isinstance(fit, Missing):
        return fit
    return (
        cluster_battles(battles, level).take(kept).linear(*fit, int(kept.sum()), unit=Unit.LOGITS)
    )


def length_effect(coded: CodedBattles, z: np.ndarray) -> tuple[float, np.ndarray]:
    """Fit logit P(a wins) = theta_a - theta_b + g z: g and each battle's influence on it; raises
    NotIdentifiedError."""
    fit = fit_with_length(coded, z, REGULARIZATION, np.zeros(len(coded.models)))
    return float(fit.coefficients[0]), slope_influence(fit)


def correlate_residuals(subject: Subject) -> Figured:
    """Return the partial correlation of the judge's ratings and mean length over models, given
    reference ratings."""
    reference = subject.reference
    if isinstance(reference, Missing):
        return reference
    both = attempt(
        lambda: bounded_by_all(subject.judge_ratings.ratings, reference), "join the groups"
    )
    if isinstance(both, Missing):
        return both
    length = _mean_length(subject.battles)
    names = tuple(name for name in both[0].models if name in length)
    if len(names) < FEWEST_MODELS:
        why = f"{len(names)} models have lengths and bounded ratings by both; {FEWEST_MODELS} are needed"
        return Missing(why, "add models")
    (judge, theirs), long = (
        (own.select(names) for own in both),
        np.array([length[name] for name in names]),
    )
    errors = error_sums(judge, theirs, long - long.mean())
    return partial_correlation(judge.elo, long, theirs.elo, subject.level, *errors)


def partial_correlation(
    x: np.ndarray,
    y: np.ndarray,
    given: np.ndarray,
    level: float,
    noise: float = 0.0,
    shared: float = 0.0,
) -> Figured:
    """Return the partial correlation of x and y given a third variable, corrected for its errors
    (see `error_sums`)."""
    y = y - y.mean()
    if not y.any():
        return Missing("all models write at the same mean length", "add models")
    fit, alone = (
        fit_line(x, given, y, noise, shared),
        fit_line(x, given, np.zeros(len(x)), noise, shared),
    )
    if fit is None or alone is None:
        return Missing(MOSTLY_CHANCE, MORE_LABELS)
    z = given - given.mean()
    left = x - alone.weights[0] - alone.weights[1] * given
    ours, theirs = float(left @ left), float(y @ y - (y @ z) ** 2 / (z @ z - noise))
    if min(ours, theirs) <= ROUNDING * max(float(x @ x), float(y @ y)):
        return Missing("one of the two does not vary beyond strength", "add models")
    r = float(fit.weights[2] * np.sqrt(theirs / ours))
    if abs(r) >= 1:
        return Missing(
            "too few models or battles to correct the errors of the reference", MORE_LABELS
        )
    # Source: Fisher 1924 (the variance of atanh r is 1 / (n - 1 - 3)); Fuller 1987 for errors in
    # `given`.
    reach = ndtri((1 + level) / 2) / np.sqrt(len(given) - 4)
    low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach])).tolist()
    method, unit = "Fisher z over models", Unit.CORRELATION
    return Statistic(r, low, high, level=level, method=method, n=len(given), of="models", unit=unit)


def _mean_length(battles: Battles) -> dict[str, float]:
    """Return the mean response length of each model that has lengths, counting each response
    once."""
    item = battles.items_with_responses(cluster_battles(battles).code)
    models = np.concatenate(battles.model_codes)
    lengths = np.concatenate([battles.numbers_of("length_a"), battles.numbers_of("length_b")])
    responses = pd.DataFrame(
        {"model": models, "item": np.tile(item, 2), "length": lengths}
    ).dropna()
    means = responses.drop_duplicates(["model", "item"]).groupby("model")["length"].mean()
    return {battles.models[code]: length for code, length in means.to_dict().items()}


@dataclass(frozen=True, slots=True)
class SelfPreference(CardAnswer):
    """Elo points by which the judge rates families above a line on reference ratings; `excess` is
    its own family's."""

    family: str | None
    how: str | None
    who: str | None
    excess: Figured
    slope: Figured
    families: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...]
    excesses: Mapping[str, Figured]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        known = "not known" if self.family is None else f"{self.family} ({self.how})"
        against = (
            (("compared with", self.who), ("slope of its ratings on theirs", self.slope))
            if self.who
            else ()
        )
        return (
            ("family of the judge", known),
            *against,
            ("its family is rated higher by", self.excess),
        )

    def tables(self) -> tuple[Table, ...]:
        rows = tuple(
            (
                name,
                str(len(models)),
                self.excesses.get(name, self.excess).brief,
                some(models, most=3),
            )
            for name, models in self.families.items()
        )
        if self.unknown:
            rows += (("not known", str(len(self.unknown)), EMPTY, some(self.unknown, most=3)),)
        title = "families, given or guessed from names (--families corrects them)"
        return (Table(title, ("family", "models", "rated higher by", "which"), rows, words=True),)


def measure_self_preference(subject: Subject) -> SelfPreference:
    """Compare a judge's ratings of each family with a line fitted to reference ratings. Source:
    after Soft-Elo, F.1."""
    judge, reference, level = subject.model, subject.reference, subject.level
    own = family_of(judge, subject.families) if judge else None
    families = group_by_family(subject.battles.models, subject.families)
    known = {name for models in families.values() for name in models}
    unknown = tuple(name for name in subject.battles.models if name not in known)
    name, how = (own.name, own.how) if own else (None, None)
    if isinstance(reference, Missing):
        return SelfPreference(name, how, None, reference, reference, families, unknown, {})
    ours, theirs = bounded_by_all(subject.judge_ratings.ratings, reference)
    inside = {family: np.isin(ours.models, models) for family, models in families.items()}
    excesses = {
        family: _estimate_line(ours, theirs, mask, level, Unit.ELO)
        for family, mask in inside.items()
    }
    why = f"the family of {judge} is not known" if judge else "no row names the judge's model"
    if own:
        why = f"no model is known to be of the judge's family ({name})"
    excess = excesses.get(name or "", Missing(why, NAME_FAMILIES))
    own_family = inside.get(name or "", np.zeros(len(ours.models), dtype=bool))
    slope = _estimate_line(ours, theirs, own_family, level, Unit.NUMBER)
    return SelfPreference(name, how, reference.who, excess, slope, families, unknown, excesses)


def _estimate_line(
    judge: Ratings, reference: Ratings, inside: np.ndarray, level: float, unit: Unit
) -> Figured:
    """Estimate the excess of a family above the line (unit Elo), or the slope of the line (unit
    number)."""
    outside, step = int((~inside).sum()), unit is Unit.ELO
    if step and not inside.any():
        why = "no model of this family has a bounded rating by both"
        return Missing(why, "judge some of its models")
    if outside < FEWEST_OUTSIDE:
        why = f"{outside} models of other families have a bounded rating by both, a line needs {FEWEST_OUTSIDE}"
        return Missing(why, "add models of other families")
    if np.ptp(reference.elo[~inside]) == 0:
        return Missing("the reference rates all other models alike", "add models that differ")
    fit = fit_line(judge.elo, reference.elo, inside, *error_sums(judge, reference, inside))
    if fit is None:
        return Missing(MOSTLY_CHANCE, MORE_LABELS)
    term, rows = (
        1 + step,
        Clustered(np.concatenate([judge.rows.code, reference.rows.code]), judge.rows.unit, level),
    )
    ours, theirs = (
        judge.influence @ fit.by_judge[:, term],
        reference.influence @ fit.by_reference[:, term],
    )
    influence, method = np.concatenate([ours, theirs]), "line with error on both sides, {}"
    return rows.linear(float(fit.weights[term]), influence, len(inside), "models", unit, method)
