"""The content of a page: rankings, the battles behind them, and everything computed from both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from podium.answers.trust_checks import MOST_BATTLES
from podium.diagnosis.card import diagnose
from podium.diagnosis.card_report import card_reports
from podium.errors import PodiumError
from podium.nouns.battles import Battles
from podium.nouns.calibration import Calibration
from podium.nouns.ranking import Ranking
from podium.page.checks_table import checks_table
from podium.page.listed_battles import ListedBattles, list_battles
from podium.page.texts import BattleTexts
from podium.rankers.cells import pair_sums_with_items, prepare_battles
from podium.rankers.head_to_head import matchup_table, rank_probabilities
from podium.rankers.identification import fit_identified
from podium.report.model import Report, Table


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of a report page; None or empty parts are not shown, and `missing` gives the reason.

    Attributes:
        ranking: its first standings are the answer.
        meetings: who beats whom, of `matchup_table`.
        names: models with battles, in ranking order.
        rank_probabilities: how often each takes each rank, in that order, shape (models, models).
        listed: battles.
        has_texts: whether texts were asked for.
        calibration: of the judge.
        judge: reports of the judge cards.
        command: that makes the page again.
        missing: by section, why it is not there.
        notes: of the texts.
        checks: whether the ranking may be trusted, a row a check.
        costs: of the models' answers; None where no source says.
        home: the page of all rankings, where this is one of a site.
    """

    ranking: Ranking
    meetings: pd.DataFrame | None = None
    names: Sequence[str] = ()
    rank_probabilities: np.ndarray | None = None
    listed: ListedBattles | None = None
    has_texts: bool = True
    calibration: Calibration | None = None
    judge: Sequence[Report] = ()
    command: str = ""
    missing: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    checks: Table | None = None
    costs: Table | None = None
    home: str = ""


def add_battles_to_page(
    material: PageContent,
    battles: Battles,
    judgments: Battles,
    texts: BattleTexts | None,
    *,
    families: Mapping[str, str],
    level: float,
    seed: int,
) -> PageContent:
    """Add everything that is computed from the battles; what they cannot answer goes to `missing`.

    Args:
        battles: of the ranking, the two orders merged.
        judgments: the same, the two orders apart.
        texts: None to leave them out.
        families: models and judges to their family, as given; the rest is guessed from names.
        level, seed: of the judge cards' intervals, and of everything random.
    """
    missing = dict(material.missing)
    meetings = shares = None
    names: list[str] = []
    judge: Sequence[Report] = ()
    try:
        meetings = matchup_table(prepare_battles(battles))
        met = set(meetings["model"])
        names = [entry.model for entry in material.ranking.standings[0].entries if entry.model in met]
        shares = _rank_shares(battles, names, seed)
    except PodiumError as error:
        missing["ranks"] = str(error)
    if len(battles) > MOST_BATTLES:
        missing["judge"] = "Too many battles for a card beside them: `podium diagnose` makes it."
    try:
        if "judge" not in missing:
            judge = card_reports(diagnose(judgments, battles, families=families, level=level, seed=seed))
    except PodiumError as error:
        missing["judge"] = str(error)
    return replace(
        material,
        meetings=meetings,
        names=names,
        rank_probabilities=shares,
        listed=list_battles(battles, judgments, texts, seed),
        has_texts=texts is not None,
        judge=judge,
        missing=missing,
        notes=texts.notes if texts else (),
        checks=checks_table(material.ranking.standings[0], battles, families),
    )


def _rank_shares(battles: Battles, names: Sequence[str], seed: int) -> np.ndarray:
    """Estimate how often each model takes each rank, from draws of Bradley-Terry ratings."""
    summed = prepare_battles(battles)
    strengths = fit_identified(summed.models, pair_sums_with_items(summed), summed.battles_by_model())
    codes = [summed.models.index(name) for name in names]
    covariance = strengths.covariance(summed)[np.ix_(codes, codes)]
    return rank_probabilities(strengths.theta[codes], covariance, np.random.default_rng(seed))
