"""The content of a report page: a ranking, its battles, and what is computed from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from podium.check_results import find_flagged
from podium.data.battles import Battles
from podium.diagnosis.audit_record import Audit
from podium.diagnosis.card import Diagnosis, diagnose
from podium.diagnosis.checks.all_checks import flagged_losses
from podium.diagnosis.checks.group_checks import dependent_groups
from podium.diagnosis.checks.order_checks import IN_SLICES, ONE_ORDER
from podium.diagnosis.checks.score_scale_checks import are_scales_unlike
from podium.diagnosis.checks.size_limits import MOST_BATTLES
from podium.errors import PodiumError
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.rankers.calibration.calibration import Calibration
from podium.rankers.errors.rank_sets import FEWEST_ITEMS
from podium.rankers.fit.cells import prepare_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.head_to_head import matchup_table, rank_probabilities
from podium.rankers.ranking import Ranking, Standings
from podium.show.page.listed_battles import ListedBattles, list_battles
from podium.show.page.sources import BattleTexts
from podium.show.report.disclosure import Disclosure
from podium.tables import Table
from podium.wording import join_names, plural

TWO_UNITS_TEXT = "The scores are not in one unit, so nothing that compares models by them is shown."
"""What the page says in place of win rates, probabilities and the judge card."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a report page shows. Parts that are None or empty are left out of the page.

    Attributes:
        matchups: win rates of pairs, as `matchup_table` returns them.
        names: the models of the first standings table that are in `matchups`, best first.
        rank_probabilities: share of draws in which a model (row, in the order of `names`) takes a
            rank (column), shape (models, models).
        has_texts: whether texts of battles were collected.
        diagnosis: the judge cards.
        audit: the probes of each ranking. Without it, the page has the checks that need no battles.
        command: the command that made the page.
        missing: why a part is missing, by name of the part.
        disclosure: how the ranking was made, for its readers; None to leave it out.
        home: link to the index of a site; empty for a page on its own.
        lost: notes on files of `--responses` that could not be read; also among `notes`.
        ranking: the ranking.
        listed: the battles that the page lists; None without battles.
        calibration: the calibration that the page shows; None for none.
        notes: sentences on texts that are missing.
        costs: mean costs of each model's answers; None if none are known.
    """

    ranking: Ranking
    matchups: pd.DataFrame | None = None
    names: Sequence[str] = ()
    rank_probabilities: np.ndarray | None = None
    listed: ListedBattles | None = None
    has_texts: bool = True
    calibration: Calibration | None = None
    diagnosis: Diagnosis | None = None
    audit: Audit | None = None
    command: str = ""
    missing: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    costs: Table | None = None
    disclosure: Disclosure | None = None
    home: str = ""
    lost: Sequence[Notice] = ()


def add_battles_to_page(
    content: PageContent,
    battles: Battles,
    judgments: Battles,
    texts: BattleTexts | None,
    *,
    families: Mapping[str, str],
    level: float,
    seed: int,
) -> PageContent:
    """Return the content with everything that is computed from battles.

    These are win rates of pairs, rank probabilities, the judge card, and the list of battles. A
    part that cannot be computed is left out, and `missing` says why: of scores in two units, all
    that compares them. The judge card is also left out for more than `MOST_BATTLES` battles. The
    audit is made by `podium.ranking`, which this package does not import.

    Args:
        content: the content of the page so far.
        battles: the battles, with the judgments of both orders merged.
        judgments: the same battles before merging, with one row per judgment.
        texts: texts of the battles; None if none were collected.
        families: families of models that the user gave, by glob pattern of the models' names.
        level: confidence level of the judge card.
        seed: seed of resamples and of the sample of battles.
    """
    if are_scales_unlike(content.ranking.standings[0].checks):
        missing = dict.fromkeys(("ranks", "judge"), TWO_UNITS_TEXT)
        content = replace(content, missing={**content.missing, **missing})
    else:
        content = _add_matchups(content, battles, seed)
        content = _add_judge_card(
            content, battles, judgments, families=families, level=level, seed=seed
        )
    collected = texts or BattleTexts()
    return replace(
        content,
        listed=list_battles(battles, judgments, collected, seed),
        has_texts=texts is not None,
        notes=(*collected.notes, *notice_texts(collected.lost)),
        lost=collected.lost,
    )


def _add_judge_card(
    content: PageContent,
    battles: Battles,
    judgments: Battles,
    *,
    families: Mapping[str, str],
    level: float,
    seed: int,
) -> PageContent:
    """Return the content with the judge card, or with the reason why there is none.

    There is none for more than `MOST_BATTLES` battles, or if a part of it cannot be computed.
    The arguments are those of `add_battles_to_page`.
    """
    if len(battles) > MOST_BATTLES:
        reason = "Too many battles for a judge card on this page: `podium diagnose` makes it."
        return replace(content, missing={**content.missing, "judge": reason})
    try:
        card = diagnose(judgments, battles, families=families, level=level, seed=seed)
        return replace(content, diagnosis=card)
    except PodiumError as error:
        return replace(content, missing={**content.missing, "judge": str(error)})


def _add_matchups(content: PageContent, battles: Battles, seed: int) -> PageContent:
    """Return the content with win rates of pairs and, if models are connected, rank probabilities.

    The probabilities are shares of draws of Bradley-Terry ratings. If they, or the win rates,
    cannot be computed, or contradict what the ranking leaves open, the key `ranks` of `missing`
    says why.
    """
    try:
        prepared = prepare_battles(battles)
        matchups = matchup_table(prepared)
        models_with_battles = set(matchups["model"])
        names = [
            entry.model
            for entry in content.ranking.standings[0].entries
            if entry.model in models_with_battles
        ]
        content = replace(content, matchups=matchups, names=names)
        reason = why_no_probabilities(content.ranking.standings[0], battles)
        if reason is not None:
            missing = {
                **content.missing,
                "ranks": f"Probabilities of ranks are left out: {reason}.",
            }
            return replace(content, missing=missing)
        strengths = fit_battles(prepared)
        codes = [prepared.models.index(name) for name in names]
        covariance = strengths.covariance(prepared)[np.ix_(codes, codes)]
        probabilities = rank_probabilities(
            strengths.theta[codes], covariance, np.random.default_rng(seed)
        )
        return replace(content, rank_probabilities=probabilities)
    except PodiumError as error:
        return replace(content, missing={**content.missing, "ranks": str(error)})


def why_no_probabilities(standings: Standings, battles: Battles) -> str | None:
    """Return why draws of ratings would claim more than a ranking does.

    The result is a clause, or None if probabilities of ranks can be shown. They are left out if the
    ranking is of a part of the battles; if places are by scores, not by ratings; if it is not known
    which items are independent; if nothing is claimed about a model, because its battles are
    unparsed or the order of the responses may decide; with fewer than `FEWEST_ITEMS` items; or if a
    model that won or lost everything has no place of its own. The first of these reasons is
    returned.
    """
    if standings.slice is not None:
        return "the rankings are of parts of these battles"
    if standings.scale.name == "score":
        return f"places are by the {standings.ranker} of the scores, not by ratings"
    groups = dependent_groups(standings.checks)
    if groups is not None and battles.has_items:
        units, noun = groups.fields["units"], groups.fields["noun"]
        return f"{units} of one {noun} are not independent"
    if battles.likely_item is not None or groups is not None:
        return "it is not known which rows are about the same item"
    losses = flagged_losses(standings.checks)
    withheld = [row.model for row in standings.entries if row.rank_low is None]
    unclaimed = [model for model in withheld if losses and model in losses.models]
    if find_flagged(standings.checks, [ONE_ORDER, IN_SLICES]):
        # The order of responses may be why any of them has no rank set.
        unclaimed = withheld
    if unclaimed:
        return f"nothing is claimed about {join_names(unclaimed)}"
    counts = standings.counts
    if counts.units < FEWEST_ITEMS:
        return f"there are fewer than {FEWEST_ITEMS} {plural(counts.unit, FEWEST_ITEMS)}"
    open_models = [
        row.model for row in standings.entries if row.separated and row.rank_low != row.rank_high
    ]
    if open_models:
        ratings = plural("rating", len(open_models))
        return f"the data do not bound the {ratings} of {join_names(open_models)}"
    return None
