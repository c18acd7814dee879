"""Judges that take turns: one per battle, balanced over pairs of models, items and orders, or all
for a share."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from hashlib import sha256
from typing import Any

from podium.data.pairings import Pairing
from podium.errors import UsageError

ROTATE = re.compile(r"rotate(?::(?P<weights>.*))?")
SAME = 1e-9
"""Difference up to which two judges are equally far behind."""
UNKNOWN = (
    "no battle is judged by two judges, so their agreement and the errors that they share cannot be known; with "
    "overlap=0.1 all judges judge a tenth of the battles"
)
SHARED = "a battle that several judges judge counts once per judge in the ranking"


def read_shares(
    judges: str | Sequence[Any] | Mapping[str, None], overlap: float, number: int
) -> tuple[float, ...]:
    """Parse `all`, `rotate` or `rotate:2,1,1` for a number of judges: each one's share of the
    battles alone, then that of all together; UsageError for wrong ones."""
    # Inspect splits values at commas, and reads a colon at the end as YAML.
    text = (
        judges
        if isinstance(judges, str)
        else ",".join(map(str, judges)) + ":" * isinstance(judges, Mapping)
    )
    if isinstance(overlap, bool) or not isinstance(overlap, int | float) or not 0 <= overlap <= 1:
        raise UsageError(f"overlap={overlap}: give a share of the battles from 0 to 1")
    if text == "all":
        if overlap:
            raise UsageError(
                f"overlap={overlap:g}: with judges=all every battle is judged by all; write judges=rotate"
            )
        return (*[0.0] * number, 1.0)
    if not (match := ROTATE.fullmatch(text)):
        raise UsageError(
            f"judges={text}: write all, rotate, or rotate with a weight per judge, as rotate:2,1,1"
        )
    if number < 2:
        raise UsageError(
            f"judges={text}: one judge cannot take turns; name two or more, or leave it out"
        )
    try:
        weights = (
            [1.0] * number
            if match["weights"] is None
            else [*map(float, match["weights"].split(","))]
        )
    except ValueError:
        weights = []
    if len(weights) != number or not all(0 < weight < float("inf") for weight in weights):
        raise UsageError(
            f"judges={text}: there are {number} judges; give a weight above 0 for each, as rotate:2,1,1"
        )
    return (*((1 - overlap) * weight / sum(weights) for weight in weights), float(overlap))


def name_jury(judges: Sequence[str]) -> str:
    """Return a name for judges that take turns, the same in whichever order they stand."""
    return f"{len(judges)} judges in turn, {sha256(chr(0).join(sorted(judges)).encode()).hexdigest()[:8]}"


@dataclass
class JudgeRotation:
    """Assigns judges to battles by minimization (Taves 1974; Pocock and Simon 1975).

    The new battles of a round are taken in an order drawn by the seed. Each goes to the judge that
    is furthest behind its share of all battles so far, and of those of the pair, of the item, and
    of the pair in this order.

    Attributes:
        shares: as `read_shares` returns them.
        first_shown: the model shown first in the only order of a battle; None if both orders are
            asked.
        by_item: whether all battles of an item have the same judge, who rates each response once.
    """

    judges: Sequence[str]
    shares: Sequence[float]
    _: KW_ONLY
    seed: int
    first_shown: Callable[[Pairing], str | None]
    by_item: bool = False

    def __post_init__(self) -> None:
        self._chosen: dict[Any, int] = {}
        self._counts: dict[Any, list[int]] = defaultdict(lambda: [0] * len(self.shares))

    def assign(self, pairings: Sequence[Pairing]) -> None:
        """Assign judges to the battles of a round that have none; rounds must come in their
        order."""
        drawn = {
            self._key_of(own): own for own in pairings if self._key_of(own) not in self._chosen
        }
        for own in sorted(drawn.values(), key=self._draw):
            rows = [self._counts[group] for group in self._groups_of(own)]
            ahead = [
                sum(row[k] - share * (sum(row) + 1) for row in rows) if share else float("inf")
                for k, share in enumerate(self.shares)
            ]
            nearest = [k for k, number in enumerate(ahead) if number < min(ahead) + SAME]
            chosen = self._chosen[self._key_of(own)] = nearest[self._draw(own)[-1] % len(nearest)]
            for row in rows:
                row[chosen] += 1

    def share_of(self, number: int) -> float:
        """Return the share of the battles that a judge judges, alone or with the others; judges
        count from 0."""
        return self.shares[number] + self.shares[-1]

    def judges_of(self, pairing: Pairing) -> tuple[str, ...]:
        """Return the judges of a battle that was assigned: one, or all."""
        chosen = self._chosen[self._key_of(pairing)]
        return tuple(self.judges) if chosen == len(self.judges) else (self.judges[chosen],)

    def _key_of(self, pairing: Pairing) -> Any:
        """Return what has judges of its own: the battle, or the responses to an item."""
        return (pairing.item, pairing.response) if self.by_item else pairing

    def _draw(self, pairing: Pairing) -> bytes:
        """Return random bytes of a battle, fixed by the seed."""
        named = pairing._replace(a="", b="", first=None) if self.by_item else pairing
        return sha256(f"{self.seed}\0{named.key}".encode(errors="surrogatepass")).digest()

    def _groups_of(self, pairing: Pairing) -> Iterator[Any]:
        """Yield the groups of battles over which the judges are balanced."""
        yield "all"
        if not self.by_item:
            yield "pair", pairing.a, pairing.b
            yield "item", pairing.item
            if first := self.first_shown(pairing):
                yield "order", pairing.a, pairing.b, first
