"""The rows of an audit for subjects of which no check was made, each with the reason.

Every subject of an audit has a row. If it cannot apply to the data, such as the order of the
responses to scores of single ones, the row says so and does not count as not known.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.data.reading.table import LIKELY_NAMES
from podium.data.reading.units import with_ids
from podium.diagnosis.checks.audit_data import AuditData
from podium.diagnosis.checks.category_checks import why_no_categories
from podium.diagnosis.checks.group_checks import why_no_groups
from podium.diagnosis.checks.size_limits import FEWEST_COMPARED, are_too_many, why_too_many
from podium.diagnosis.judge_checks import are_human_votes, is_judged
from podium.wording import quantity

NO_JUDGE = "no judge compared responses"
"""Why checks of a judge do not apply to scores."""
FEW_MODELS = "there are fewer than three models"
"""Why checks of ratings do not apply."""
HUMANS_VOTED = "humans voted, and no judge"
"""Why checks of judges do not apply to votes of humans."""


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """A subject of an audit.

    Attributes:
        names: names of the checks that are about the subject.
        absent: makes the row of the subject if none of these checks was made.
    """

    names: Collection[str]
    absent: Callable[[AuditData], Check]


def checks_of_absent(names: Collection[str], data: AuditData) -> list[Check]:
    """Make the rows of the subjects of an audit about which no check was made.

    Args:
        names: names of the checks that were made.
        data: the ranking.

    Returns:
        A row for each of `SUBJECTS` without a check, in the order of `SUBJECTS`.
    """
    made = {*names}
    return [subject.absent(data) for subject in SUBJECTS if made.isdisjoint(subject.names)]


def inapplicable_check(name: str, reason: str) -> Check:
    """Return the row of a check that cannot apply to data like these.

    The row is a check that is not known, with the given reason and with `applies` set to False
    among its fields.
    """
    return not_known(name, reason=reason, fields={"applies": False})


def _not_known_check(name: str, reason: str, battles: Battles) -> Check:
    """Return that a check is not known.

    The reason is that there are too many battles, if this is so, else the given one.
    """
    if are_too_many(battles):
        reason = why_too_many(battles)
    return not_known(name, reason=reason)


def _row_of_settings(_data: AuditData) -> Check:
    """Return the row of comparability of runs, which is not known.

    The reason is that the sources do not record how the models were run.
    """
    reason = "the sources do not record how the models were run"
    return not_known("same settings", reason=reason)


def _row_of_groups(data: AuditData) -> Check:
    """Return the row of groups of items.

    The row does not apply if groups are the unit already. Otherwise, it is not known, with the
    reason why no column was tested.
    """
    if data.battles.group is not None:
        return inapplicable_check("groups", reason=f"the unit is the {data.battles.group} already")
    return _not_known_check("groups", why_no_groups(data.battles), data.battles)


def _row_of_losses(data: AuditData) -> Check:
    """Return the row of lost battles or scores.

    The row is ok if all battles are made of scores that no judge gave, and none of these is
    missing. Otherwise, it is not known.
    """
    battles = data.battles
    is_complete = battles.tally.judged == len(battles) and not battles.missing
    if is_complete and not is_judged(battles):
        return make_check(
            "lost scores", is_flagged=False, fields={"results": "scores", "lost": "missing"}
        )
    name = "lost replies" if is_judged(battles) else "lost scores"
    return _not_known_check(name, "too little is lost, or too few models met", battles)


def _row_of_position(data: AuditData) -> Check:
    """Return the row of the order of the responses.

    It does not apply without a judge, or if the judge scored single responses; else it is not
    known.
    """
    if not is_judged(data.battles):
        return inapplicable_check("position", reason=NO_JUDGE)
    if "score_a" in data.battles.columns:
        return inapplicable_check("position", reason="the judge saw one response at a time")
    return not_known("position", reason="no column says which response was shown first")


def _row_maker_of_judge(name: str) -> Callable[[AuditData], Check]:
    """Return the function that makes the row of a check of judges that are no humans.

    The row does not apply to scores that no judge gave or to votes of humans; else it is not known.
    """

    def make_row(data: AuditData) -> Check:
        """Return the row of the check: it does not apply without a judge or to votes of humans.

        Otherwise it is not known, because the verdicts do not show it.
        """
        if not is_judged(data.battles):
            return inapplicable_check(name, reason=NO_JUDGE)
        if are_human_votes(data.battles):
            return inapplicable_check(name, reason=HUMANS_VOTED)
        return not_known(name, reason="the verdicts do not show it")

    return make_row


def _row_maker_of_ratings(name: str) -> Callable[[AuditData], Check]:
    """Return the function that makes the row of a check of ratings of three or more models.

    The row does not apply to fewer models, or to means and medians of scores. Otherwise, that of
    `ties` does not apply, because there are no ties or credits are graded; others are not known.
    """

    def make_row(data: AuditData) -> Check:
        """Return the row of the check, with the reason why it does not apply or is not known."""
        if len(data.battles.models) < FEWEST_COMPARED:
            return inapplicable_check(name, reason=FEW_MODELS)
        if data.standings.scale.name == "score":
            return inapplicable_check(
                name, reason="the ranking is of mean or median scores, not of ratings"
            )
        if name == "ties":
            return inapplicable_check(name, reason="no verdict is a tie, or credits are graded")
        return not_known(name, reason="the battles do not allow the test")

    return make_row


def _row_of_voters(data: AuditData) -> Check:
    """Return the row of voters.

    The row is not known if humans voted and the battles have a column with a usual name of voters
    that is not read as voters. Otherwise, the row does not apply.
    """
    columns = data.battles.columns
    usual = sorted(with_ids(LIKELY_NAMES["judge"]) & (columns - {"voter"}))
    if usual and are_human_votes(data.battles):
        [column, *_] = usual
        reason = f"the column {column} may name the voters, and is not read as such"
        return not_known("voters", reason=reason, fields={"column": column})
    reason = "no column names voters"
    if len((data.battles.whole or data.battles).judges) > 1:
        reason += ", and there are few judges"
    return inapplicable_check("voters", reason=reason)


def _row_of_judges(data: AuditData) -> Check:
    """Return the row of how judges agree.

    The row does not apply to votes of humans, to scores that no judge gave, and with one judge.
    With several judges it is not known: there are then too many to compare one by one.
    """
    if are_human_votes(data.battles):
        return inapplicable_check("judges", reason=HUMANS_VOTED)
    if not is_judged(data.battles):
        return inapplicable_check("judges", reason=NO_JUDGE)
    if len((data.battles.whole or data.battles).judges) > 1:
        return not_known("judges", reason="there are too many judges to compare one by one")
    return inapplicable_check("judges", reason="there is one judge")


def _row_of_categories(data: AuditData) -> Check:
    """Return the row of categories, which is not known, with the reason why none was tested."""
    return _not_known_check("categories", why_no_categories(data.battles), data.battles)


def _row_of_places(data: AuditData) -> Check:
    """Return the row of separated places.

    The row does not apply if the ranker gives no errors and no places. Otherwise, it is not known.
    The reason is that groups of models never met, that fewer than two models have a place, or that
    there are too many models to compare every pair: the check is left out in no other case.
    """
    standings = data.standings
    if standings.unconnected_groups:
        return not_known("places", reason="models of groups that never met have no common places")
    models_with_place = sum(entry.rank_low is not None for entry in standings.entries)
    if standings.error_method is None and not models_with_place:
        return inapplicable_check(
            "places", reason=f"the ranker {standings.ranker} does not give it"
        )
    if models_with_place < 2:
        return not_known("places", reason="fewer than two models have a place")
    # No other case is left: the ranking has places, and did not test which are separated.
    return not_known(
        "places", reason=f"{quantity(models_with_place, 'model')} are too many to test every pair"
    )


def _row_maker_of_ranker(name: str) -> Callable[[AuditData], Check]:
    """Return the function that makes the row of a description that some rankers lack.

    The row does not apply, because the ranker does not give the description.
    """

    def make_row(data: AuditData) -> Check:
        """Return the row, which does not apply: the ranker does not give the description."""
        return inapplicable_check(
            name, reason=f"the ranker {data.standings.ranker} does not give it"
        )

    return make_row


SUBJECTS = (
    AuditSubject(
        ("same question", "same settings", "same responses", "same items"), _row_of_settings
    ),
    AuditSubject(("unit", "groups"), _row_of_groups),
    AuditSubject(("unparsed", "lost replies", "lost outcomes", "lost scores"), _row_of_losses),
    AuditSubject(("position", "one order", "order decides"), _row_of_position),
    AuditSubject(("length",), _row_maker_of_judge("length")),
    AuditSubject(("repeated",), _row_maker_of_judge("repeated")),
    AuditSubject(("self-preference",), _row_maker_of_judge("self-preference")),
    AuditSubject(("cycle",), _row_maker_of_ratings("cycle")),
    AuditSubject(("fit",), _row_maker_of_ratings("fit")),
    AuditSubject(("ties",), _row_maker_of_ratings("ties")),
    AuditSubject(("voters",), _row_of_voters),
    AuditSubject(("judges",), _row_of_judges),
    AuditSubject(("categories",), _row_of_categories),
    AuditSubject(("first place",), _row_maker_of_ranker("first place")),
    AuditSubject(("places",), _row_of_places),
    AuditSubject(("elo",), _row_maker_of_ranker("elo")),
)
"""The subjects of an audit, beside the number of items and the time, which always have a row."""
