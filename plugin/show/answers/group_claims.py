"""Write which models lead in each of several groups that never met."""

from collections.abc import Sequence
from dataclasses import replace

from podium.rankers.ranking import Standings
from podium.show.answers import rank_templates
from podium.show.answers.fixed_raters import after_colon
from podium.show.answers.who import who_sentence, without_models
from podium.wording import number_word, some

MOST_DESCRIBED_GROUPS = 2
"""At most this many groups are described; the others are counted."""
MOST_NAMES = 6
"""At most this many models of a group are named."""


def groups_sentence(standings: Standings, *, is_partial: bool = False) -> str:
    """Write which models lead in each group of models that never met, the largest groups first.

    At most `MOST_DESCRIBED_GROUPS` groups are described; the text gives the number of the others.

    Args:
        standings: the standings, whose diagnostics name two groups or more.
        is_partial: whether models are left out about which nothing can be claimed.
    """
    groups = standings.unconnected_groups
    parts = [rank_templates.GROUPS_APART.format(groups=number_word(len(groups)).capitalize())]
    for number, group in enumerate(groups[:MOST_DESCRIBED_GROUPS], start=1):
        claims = who_sentence(_standings_of_group(standings, group), is_partial=is_partial)
        if claims is None:
            claims = rank_templates.NOTHING_PLACED.format(models=some(group, most=MOST_NAMES))
        names = some(group, most=MOST_NAMES)
        claims = after_colon(claims, group)
        parts.append(rank_templates.IN_GROUP.format(number=number, models=names, claims=claims))
    number_of_more = len(groups) - MOST_DESCRIBED_GROUPS
    if number_of_more > 0:
        parts.append(rank_templates.MORE_GROUPS.format(number=number_of_more))
    return " ".join(parts)


def _standings_of_group(standings: Standings, group: Sequence[str]) -> Standings:
    """Return standings of the models of one group that met.

    The number of items (or groups of items) is the largest number of a model in the group, if
    numbers by model are known; else it is that of the whole ranking.
    """
    others = {entry.model for entry in standings.entries if entry.model not in group}
    standings_of_models = without_models(standings, others)
    items_by_model = standings.diagnostics.get("items_by_model", {})
    units = max((items_by_model.get(name, 0) for name in group), default=0)
    if not units:
        return standings_of_models
    if standings_of_models.counts.groups is None:
        counts = replace(standings_of_models.counts, items=units)
    else:
        counts = replace(standings_of_models.counts, groups=units)
    return replace(standings_of_models, counts=counts)
