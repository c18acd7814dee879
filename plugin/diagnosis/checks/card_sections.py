"""What the checks of a judge card are made from, and the error rate of all tests together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from podium.data.battles import Battles
from podium.diagnosis.figures import Missing
from podium.diagnosis.judge_checks import is_judged

ERROR_RATE = 0.05
"""Probability that any test flags a ranking without faults, over all tests together.

With nine tests at 5% each, 37% of such rankings would be flagged.
"""


@dataclass(frozen=True, slots=True)
class CardSections:
    """The sections of the card of one judge or metric.

    Attributes:
        battles: the battles of the judge or metric.
        answers: the sections by name: each a `CardAnswer`, or `Missing`. Only the sections that
            were computed are there.
        families: families by pattern of models' names, as given by the user.
    """

    battles: Battles
    answers: Mapping[str, Any]
    families: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_judge(self) -> bool:
        """Whether a judge decided the battles; False for scores by a metric."""
        return is_judged(self.battles)

    def find_lacking(self, section: str, figure: str) -> Missing | None:
        """Return why a figure of a section, or the whole section, is missing; None if it is known.

        Args:
            section: name of the section, a key of `answers`.
            figure: name of an attribute of the section.

        Raises:
            KeyError: the section was not computed.
        """
        answer = self.answers[section]
        value = answer if isinstance(answer, Missing) else getattr(answer, figure)
        return value if isinstance(value, Missing) else None
