"""The scale of a ranking's scores: what a score is, and how scores and differences are written."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Zero = Literal["mean", "pin", "none"]
"""What fixes the zero of a scale; `Scale.zero` explains the values."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What a score of a ranker is and how it is written. A plug-in's ranker may define its own.

    Attributes:
        name: name of the scale in JSON and in sentences, for example `elo` or `win rate against
            birch`.
        kind: what a score is, without the model that it is relative to: `elo`, `win rate`, or
            another word. Scores of kind `elo` are ratings of a Bradley-Terry model in Elo points.
        heading: header of the column and title of the axis. If it is empty, `name` is used.
        unit: unit of a difference of two scores, for example `Elo`; empty for a plain number.
        unit_size: one unit, in scores. A difference of scores is divided by it before it is
            shown: 0.01 shows a difference of win rates of 0.043 as 4.3 points.
        zero: what fixes the zero of the scale: the `mean` of the models, a `pin` (the score that
            the user gave to one model), or `none` if zero has a meaning of its own.
        against: the one model that scores are relative to; None if there is no such model.
        format: format specification of a score in a table with its interval and its error.
        brief_format: format specification of a score without them, in tables of several rankings.
        axis_format: format specification of the ends of an axis.
        difference_format: format specification of a difference, in units.
        bounds: smallest and largest possible score; None if scores are unbounded.
    """

    name: str
    kind: str = "score"
    heading: str = ""
    unit: str = ""
    unit_size: float = 1.0
    zero: Zero = "none"
    against: str | None = None
    format: str = ".3f"
    brief_format: str = ".3f"
    axis_format: str = ".2f"
    difference_format: str = ".3g"
    bounds: tuple[float, float] | None = None

    @property
    def title(self) -> str:
        """Header of the column of scores, and title of their axis."""
        return self.heading or self.name

    @property
    def is_elo(self) -> bool:
        """Whether scores are Bradley-Terry ratings in Elo points."""
        return self.kind == "elo"

    def difference_number(self, difference: float) -> str:
        """Format a difference of scores in units, without the name of the unit."""
        return format(difference / self.unit_size, self.difference_format)

    def difference_text(self, difference: float) -> str:
        """Format a difference of scores with its unit, for example `85 Elo` or `4.3 points`."""
        number = self.difference_number(difference)
        return f"{number} {self.unit}" if self.unit else number

    def to_json(self) -> dict[str, Any]:
        """Return the fields that differ from the defaults, by name; `name` is left out."""
        # With the same name, the name is no difference.
        plain = asdict(Scale(self.name))
        return {field: value for field, value in asdict(self).items() if value != plain[field]}


ELO = Scale(
    "elo",
    kind="elo",
    heading="Elo",
    unit="Elo",
    zero="mean",
    format=".1f",
    brief_format=".0f",
    axis_format=".0f",
    difference_format=".0f",
)
"""Elo points, 1500 at the mean of the models."""
WIN_RATE = Scale(
    "win rate",
    kind="win rate",
    unit="points",
    unit_size=0.01,
    difference_format=".1f",
    bounds=(0.0, 1.0),
)
"""The mean credit over opponents, in [0, 1]. Differences are in points of 0.01."""


def win_rate_against(anchor: str | None) -> Scale:
    """Return the scale of win rates against one model, or against all others for None."""
    if anchor is None:
        return WIN_RATE
    return replace(WIN_RATE, name=f"win rate against {anchor}", against=anchor)


def as_scale(scale: Scale | str) -> Scale:
    """Return a `Scale` unchanged; for a text, a scale with this name and default fields."""
    return scale if isinstance(scale, Scale) else Scale(scale)
