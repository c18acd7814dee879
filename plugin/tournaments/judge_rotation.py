"""Judges that take turns: one judge per battle, or all judges for a share of the battles.

The judges are balanced over pairs of models, items and orders.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from hashlib import sha256
from typing import Any

from podium.data.pairings import Pairing
from podium.errors import UsageError

ROTATE = re.compile(r"rotate(?::(?P<weights>.*))?")
"""Matches `rotate`, and `rotate:2,1,1` with the weights `2,1,1`."""
LEAD_ROUNDING = 1e-9
"""Largest difference in the leads of two judges that count as equal."""


def read_shares(
    judges: str | Sequence[Any] | Mapping[str, None], overlap: float, number: int
) -> tuple[float, ...]:
    """Parse `all`, `rotate` or `rotate:2,1,1`.

    Args:
        judges: the option; the hosts may have parsed it into a sequence or a mapping.
        overlap: share of the battles, in [0, 1], that all judges judge.
        number: number of judges.

    Returns:
        The share of the battles that each judge judges alone, then the share that all judge.

    Raises:
        UsageError: the option cannot be parsed or does not fit the number of judges, or the
            overlap is out of range.
    """
    # Inspect splits values at commas, and reads a colon at the end as YAML.
    text = judges if isinstance(judges, str) else ",".join(map(str, judges))
    if isinstance(judges, Mapping):
        text += ":"
    is_number = isinstance(overlap, int | float) and not isinstance(overlap, bool)
    if not is_number or not 0 <= overlap <= 1:
        raise UsageError(f"overlap={overlap}: give a share of the battles from 0 to 1")
    if text == "all":
        if overlap:
            raise UsageError(
                f"overlap={overlap:g}: with judges=all every battle is judged by all; write "
                "judges=rotate"
            )
        shares_alone = (0.0,) * number
        return (*shares_alone, 1.0)
    match = ROTATE.fullmatch(text)
    if not match:
        raise UsageError(
            f"judges={text}: write all, rotate, or rotate with a weight per judge, as rotate:2,1,1"
        )
    if number < 2:
        raise UsageError(
            f"judges={text}: one judge cannot take turns; name two or more, or leave it out"
        )
    weights = _read_weights(match["weights"], number)
    are_positive = all(0 < weight < float("inf") for weight in weights)
    if len(weights) != number or not are_positive:
        raise UsageError(
            f"judges={text}: there are {number} judges; give a weight above 0 for each, as "
            "rotate:2,1,1"
        )
    total = sum(weights)
    shares_alone = tuple((1 - overlap) * weight / total for weight in weights)
    return (*shares_alone, float(overlap))


def _read_weights(text: str | None, number: int) -> list[float]:
    """Parse weights that are separated by commas.

    Returns:
        The weights; 1 for each of `number` judges if the text is None, and an empty list if a
        weight is not a number.
    """
    if text is None:
        return [1.0] * number
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        return []


def name_jury(judges: Sequence[str]) -> str:
    """Return a name for judges that take turns, such as `3 judges in turn, 1f0a9c3e`.

    The last part is a hash of the names. The name does not depend on their order.
    """
    key = "\0".join(sorted(judges))
    return f"{len(judges)} judges in turn, {sha256(key.encode()).hexdigest()[:8]}"


def jury_cells(judges: Sequence[str], rule: str, quorum: int | None) -> dict[str, Any]:
    """Return the cells that the rows of a jury have if all of its judges judge every battle.

    Args:
        judges: names of the judges.
        rule: how their verdicts are merged, `mean` or `majority`.
        quorum: the fewest readable judges; None for more than half of them.

    Returns:
        `jury` (a name with a hash of rule and judges, which does not depend on their order),
        `jury_rule` and `jury_quorum` (a number in any case).
    """
    key = "\0".join([rule, *sorted(judges)])
    name = f"jury of {len(judges)}, {sha256(key.encode()).hexdigest()[:8]}"
    needed = len(judges) // 2 + 1 if quorum is None else quorum
    return {"jury": name, "jury_rule": rule, "jury_quorum": needed}


@dataclass
class JudgeRotation:
    """Assigns judges to battles by minimization (Taves 1974; Pocock and Simon 1975).

    The new battles of a round are taken in an order drawn by the seed. A battle belongs to several
    groups: all battles, those of its pair, those of its item, and those of its pair in its order.
    It goes to the judge with the smallest lead. The lead is the number of battles that the judge
    has more than its share, summed over these groups.

    Attributes:
        judges: names of the judges.
        shares: share of the battles of each judge alone, then the share that all judges judge; as
            `read_shares` returns them.
        seed: seed of the order in which the battles of a round are taken.
        first_shown: function that returns the model shown first in a battle; None if the battle is
            judged in both orders.
        by_item: whether all battles of an item have the same judge, who rates each response once.
    """

    judges: Sequence[str]
    shares: Sequence[float]
    _: KW_ONLY
    seed: int
    first_shown: Callable[[Pairing], str | None]
    by_item: bool = False

    def __post_init__(self) -> None:
        """Begin without any assigned battle."""
        self._chosen: dict[Any, int] = {}
        self._counts: dict[Any, list[int]] = defaultdict(lambda: [0] * len(self.shares))

    def assign(self, pairings: Sequence[Pairing]) -> None:
        """Assign judges to the battles of a round that have none, and remember the assignment.

        Each round changes later assignments, so that the rounds must come in their order.
        """
        without_judge = {}
        for pairing in pairings:
            key = self._key_of(pairing)
            if key not in self._chosen:
                without_judge[key] = pairing
        for pairing in sorted(without_judge.values(), key=self._draw):
            counts = [self._counts[group] for group in self._groups_of(pairing)]
            leads = [self._lead_of(k, counts) for k in range(len(self.shares))]
            smallest_lead = min(leads)
            furthest_behind = [
                k for k, lead in enumerate(leads) if lead < smallest_lead + LEAD_ROUNDING
            ]
            # If several judges have this lead, one of them is drawn by the last byte of the hash.
            *_, drawn_number = self._draw(pairing)
            chosen = furthest_behind[drawn_number % len(furthest_behind)]
            self._chosen[self._key_of(pairing)] = chosen
            for group_counts in counts:
                group_counts[chosen] += 1

    def _lead_of(self, number: int, counts: Sequence[Sequence[int]]) -> float:
        """Return how many battles a judge has more than its share, summed over groups.

        The battle that is to be assigned is counted in each group. The lead of a judge without a
        share is infinite.

        Args:
            number: position of the judge in `shares`; the last position stands for all judges.
            counts: for each group, the number of battles by position in `shares`.
        """
        share = self.shares[number]
        if not share:
            return float("inf")
        lead = 0.0
        for battles_by_position in counts:
            battles = sum(battles_by_position) + 1
            lead += battles_by_position[number] - share * battles
        return lead

    def share_of(self, number: int) -> float:
        """Return the share of the battles that a judge judges, alone or with the others.

        Args:
            number: position of the judge, from 0.
        """
        share_alone = self.shares[number]
        share_of_all = self.shares[-1]
        return share_alone + share_of_all

    def judges_of(self, pairing: Pairing) -> tuple[str, ...]:
        """Return the names of the judges of a battle that was assigned: one, or all.

        Raises:
            KeyError: the battle was not assigned.
        """
        chosen = self._chosen[self._key_of(pairing)]
        # The position after the last judge stands for all judges.
        if chosen == len(self.judges):
            return tuple(self.judges)
        return (self.judges[chosen],)

    def _key_of(self, pairing: Pairing) -> Any:
        """Return the key of what is assigned to a judge: the battle, or the item if `by_item`."""
        return (pairing.item, pairing.response) if self.by_item else pairing

    def _draw(self, pairing: Pairing) -> bytes:
        """Return pseudo-random bytes that depend only on the seed and the battle.

        If `by_item`, all battles of an item have the same bytes.
        """
        drawn_pairing = pairing._replace(a="", b="", first=None) if self.by_item else pairing
        return sha256(f"{self.seed}\0{drawn_pairing.key}".encode(errors="surrogatepass")).digest()

    def _groups_of(self, pairing: Pairing) -> Iterator[Any]:
        """Yield the keys of the groups that a battle belongs to, over which judges are balanced.

        If `by_item`, this is only the group of all battles.
        """
        yield "all"
        if not self.by_item:
            yield "pair", pairing.a, pairing.b
            yield "item", pairing.item
            first = self.first_shown(pairing)
            if first:
                yield "order", pairing.a, pairing.b, first
