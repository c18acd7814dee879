"""A ladder: known ratings of models with their errors, on whose scale newcomers are placed."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from podium.notices.notice import Notice

USUAL_SE = 30.0
"""Standard error in Elo that is assumed for a rating if none is given."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Ratings of models that are known before a run.

    Attributes:
        models: names of the models.
        elo: ratings in Elo, in the order of `models`.
        se: standard errors in Elo, in the order of `models`; 0 for an exact rating.
        covariance: covariance matrix of the errors, in Elo squared, in the order of `models`; None
            if the errors are independent.
        assumed: names of the models whose standard error was not given and is assumed.
        source: path of the file with the ratings; empty if the user typed them.
        unbounded: names of the models without a finite rating in the file. They are not in `models`
            and are placed as newcomers.
    """

    models: tuple[str, ...]
    elo: tuple[float, ...]
    se: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...] | None = None
    assumed: tuple[str, ...] = ()
    source: str = ""
    unbounded: tuple[str, ...] = ()

    def restrict_to(self, models: Collection[str]) -> "Ladder | None":
        """Return the part of the ladder about some models; None if no rating is of one of them.

        Models that the ladder does not rate are ignored.
        """
        positions = [k for k, name in enumerate(self.models) if name in models]
        if not positions:
            return None
        covariance = None
        if self.covariance is not None:
            kept_rows = [self.covariance[k] for k in positions]
            covariance = tuple(tuple(row[k] for k in positions) for row in kept_rows)
        return Ladder(
            models=tuple(self.models[k] for k in positions),
            elo=tuple(self.elo[k] for k in positions),
            se=tuple(self.se[k] for k in positions),
            covariance=covariance,
            assumed=tuple(name for name in self.assumed if name in models),
            source=self.source,
            unbounded=tuple(name for name in self.unbounded if name in models),
        )

    def unknown_names(self, models: Collection[str]) -> list[str]:
        """Return the names that the user typed and that are not among `models`.

        If the ratings come from a file, the result is empty: a file may rate other models.
        """
        if self.source:
            return []
        return [name for name in self.models if name not in models]

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes that are not empty, by name, for a log (`ladder_from_log`)."""
        return {name: value for name, value in asdict(self).items() if value}

    def warnings(self) -> tuple[Notice, ...]:
        """Return up to two warnings: on assumed errors, and on models without a finite rating."""
        warnings = []
        if self.assumed:
            assumed = {"models": list(self.assumed), "elo": USUAL_SE}
            warnings.append(Notice("ladder-error-assumed", assumed))
        if self.unbounded:
            newcomers = {"source": self.source, "models": list(self.unbounded)}
            warnings.append(Notice("ladder-unbounded", newcomers))
        return tuple(warnings)


def ladder_from_log(recorded: Mapping[str, Any]) -> Ladder:
    """Build a ladder from what `Ladder.to_dict` wrote into a log."""
    columns = {
        name: tuple(recorded.get(name, ()))
        for name in ("models", "elo", "se", "assumed", "unbounded")
    }
    covariance = tuple(map(tuple, recorded["covariance"])) if recorded.get("covariance") else None
    return Ladder(**columns, covariance=covariance, source=recorded.get("source", ""))
