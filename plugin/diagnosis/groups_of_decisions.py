"""Whether a tournament that took each item as independent may claim its decisions.

It may not if a recorded column puts items into groups that favour the same models, as the check
`groups` finds. The standard errors of its interim analyses are then too small.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from podium.data.battles import Battles
from podium.data.item_columns import add_columns
from podium.data.pairings import Round
from podium.data.reading.judgments import read_battles
from podium.diagnosis.checks.group_checks import check_groups, dependent_groups
from podium.errors import PodiumError
from podium.notices.option_forms import Kind, option_text

NOTHING_CLAIMED = (
    "No decision is claimed: {units} of one {noun} favour the same models (column {column}), so "
    "that they are not independent. Play the tournament with {option}."
)


def why_not_claimed(battles: Battles, kind: Kind = "option") -> str:
    """Return why decisions that take the items as independent are not claimed, and the remedy.

    Empty if no column groups items that favour the same models, if no row names its item, or if
    groups are the unit already.

    Args:
        battles: the battles of the tournament, with the recorded columns of their items.
        kind: how the remedy writes its option: `option` for a command, `argument` for the task of a
            tournament.
    """
    if battles.group is not None or not battles.has_items:
        return ""
    groups = dependent_groups(check_groups(battles))
    if groups is None:
        return ""
    option = option_text("cluster", groups.fields["column"], kind)
    return NOTHING_CLAIMED.format(**{**groups.fields, "option": option})


def why_rounds_are_not_claimed(
    played: Sequence[Round], columns: Mapping[str, Mapping[str, Sequence[str]]]
) -> str:
    """Return why decisions of some rounds are not claimed, as `why_not_claimed` of their battles.

    Only readable battles count. Empty also if there are none, or if reading them fails.

    Args:
        played: the rounds.
        columns: the items of each value, by column and value; nothing is checked without any.
    """
    if not columns:
        return ""
    rows = []
    for round_ in played:
        for outcome in round_.outcomes:
            if outcome.credit is not None:
                item, a, b = outcome.pairing.item, outcome.pairing.a, outcome.pairing.b
                rows.append((item, a, b, outcome.credit))
    if not rows:
        return ""
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    add_columns(frame, columns)
    try:
        return why_not_claimed(read_battles(frame), "argument")
    except PodiumError:
        return ""
