"""A ladder: known ratings of models with their errors, on whose scale newcomers are placed."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from podium.notices.notice import Notice

USUAL_SE = 30.0
"""Standard error, Elo, of a rating that is given without one."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Ratings of models that are known before a run.

    Attributes:
        models: names of the models.
        elo: ratings, by model.
        se: standard errors, Elo, by model; 0 for an exact rating.
        covariance: covariances of the errors, Elo squared, by model; None if they are independent.
        assumed: names of the models whose standard error is assumed, not given.
        source: the file of the ratings; empty if they were typed.
        unbounded: names of the models whose rating in the file has no bound.
    """

    models: tuple[str, ...]
    elo: tuple[float, ...]
    se: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...] | None = None
    assumed: tuple[str, ...] = ()
    source: str = ""
    unbounded: tuple[str, ...] = ()

    def restrict_to(self, models: Collection[str]) -> "Ladder | None":
        """Return the part of the ladder about some models; None if it has none of them."""
        kept = [k for k, name in enumerate(self.models) if name in models]
        if not kept:
            return None
        covariance = None
        if self.covariance is not None:
            rows = [self.covariance[k] for k in kept]
            parts = [[row[k] for k in kept] for row in rows]
            covariance = tuple(map(tuple, parts))
        return Ladder(
            models=tuple(self.models[k] for k in kept),
            elo=tuple(self.elo[k] for k in kept),
            se=tuple(self.se[k] for k in kept),
            covariance=covariance,
            assumed=tuple(name for name in self.assumed if name in models),
            source=self.source,
            unbounded=tuple(name for name in self.unbounded if name in models),
        )

    def unknown_names(self, models: Collection[str]) -> list[str]:
        """Return the typed names that are not among `models`.

        A file may have ratings of other models, so its names are never unknown.
        """
        return [] if self.source else [name for name in self.models if name not in models]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as a log keeps them."""
        return {name: value for name, value in asdict(self).items() if value}

    def warnings(self) -> tuple[Notice, ...]:
        """Return warnings of assumed errors, and of models whose ratings have no bound."""
        warnings = []
        if self.assumed:
            assumed = {"models": list(self.assumed), "elo": USUAL_SE}
            warnings.append(Notice("ladder-error-assumed", assumed))
        if self.unbounded:
            newcomers = {"source": self.source, "models": list(self.unbounded)}
            warnings.append(Notice("ladder-unbounded", newcomers))
        return tuple(warnings)


def ladder_from_log(kept: Mapping[str, Any]) -> Ladder:
    """Build the ladder that a log keeps, as `Ladder.to_dict` wrote it."""
    columns = {
        name: tuple(kept.get(name, ())) for name in ("models", "elo", "se", "assumed", "unbounded")
    }
    covariance = tuple(map(tuple, kept["covariance"])) if kept.get("covariance") else None
    return Ladder(**columns, covariance=covariance, source=kept.get("source", ""))
