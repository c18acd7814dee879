"""One judge's recorded verdicts, as every section of its card gets them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from podium.battles import Battles
from podium.diagnosis.answer import Missing
from podium.diagnosis.gold_source import Gold
from podium.diagnosis.judge_names import parts_of
from podium.diagnosis.reference import Reference, reference_of

NEAR_TIE = 0.3
"""Margins up to this are near-ties. Source: Soft-Elo, appendix F.1, |s| <= 0.3 on scores from 1 to 10."""


@dataclass(frozen=True)
class Subject:
    """A judge and what is known beside its verdicts.

    Attributes:
        judge: its identity; None where the table does not say.
        presentations: its verdicts, a row per call, the two orders apart.
        battles: the same, the two orders merged.
        others: merged battles of all other judges of the table; None when it is the only one.
        gold: the gold standard of `--gold`; None without.
        families: entrants and judges to their family, as given; the rest is guessed from names.
        level: of intervals, in (0, 1).
        seed: of resampling.
        near_tie: margins up to this are near-ties.
    """

    judge: str | None
    presentations: Battles
    battles: Battles
    others: Battles | None = None
    gold: Gold | None = None
    families: Mapping[str, str] = field(default_factory=dict)
    level: float = 0.95
    seed: int = 0
    near_tie: float = NEAR_TIE

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator: the same for every section."""
        return np.random.default_rng(self.seed)

    @cached_property
    def reference(self) -> Reference | Missing:
        """What its ratings are held against."""
        return reference_of(self.battles, self.gold, self.others)

    @property
    def realization(self) -> str | None:
        """How the judge is asked, where its identity says so; else None."""
        return parts_of(self.judge)[1]

    @property
    def model(self) -> str | None:
        """The judge's model, without realization and prompt; None of a jury, which has no single one."""
        return None if self.judge is None or self.judge.startswith("jury:") else parts_of(self.judge)[0]
