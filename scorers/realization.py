"""A realization: how a judge is asked, and how its reply is read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Realization:
    """A template and a reader."""

    name: str
