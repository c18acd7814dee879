"""A ladder: ratings of models that are known before a run, with their errors; newcomers are placed
on its scale."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from podium.notices.notice import Notice

USUAL_SE = 30.0
"""Standard error, Elo, of a rating that is given without one."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Ratings of models with standard errors, Elo; an error of 0 is exact, and `assumed` names
    models without one.

    Errors are independent, unless there is a `covariance` (Elo squared, by model). `source` is a
    file, empty if typed, and `unbounded` names the models whose rating in it has no bound.
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
        full = self.covariance and tuple(tuple(self.covariance[k][j] for j in kept) for k in kept)
        assumed, unbounded = (
            tuple(n for n in given if n in models) for given in (self.assumed, self.unbounded)
        )
        elo, se = (tuple(values[k] for k in kept) for values in (self.elo, self.se))
        names = tuple(self.models[k] for k in kept)
        return Ladder(names, elo, se, full, assumed, self.source, unbounded) if kept else None

    def unknown_names(self, models: Collection[str]) -> list[str]:
        """Return the typed names that are no model's; a file may have ratings of other models,
        too."""
        return [] if self.source else [name for name in self.models if name not in models]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as a log keeps them."""
        return {name: value for name, value in asdict(self).items() if value}

    def warnings(self) -> tuple[Notice, ...]:
        """Return warnings of errors that are assumed, and of models whose ratings have no bound."""
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
