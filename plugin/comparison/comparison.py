"""The answer to whether candidates are better than a baseline, all questions together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from podium.comparison.gate import Gate
from podium.comparison.outcomes import PairFinding
from podium.text import FORMAT_VERSION, Document, call


@dataclass(frozen=True)
class Comparison(Document):
    """The answer to whether candidates are better than a baseline.

    Attributes:
        findings: one per candidate and question.
        gate: what was required, and whether it holds; None where nothing was.
        warnings: what people should know of the data.
        failures: what could not be compared, and why.
        unknown_answers: why it is not known on which items the models answered the same; None where it is.
    """

    view = "podium.comparison.comparison_report:comparison_reports"
    findings: tuple[PairFinding, ...]
    level: float
    provenance: Mapping[str, Any]
    gate: Gate | None = None
    warnings: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    unknown_answers: str | None = None

    def __str__(self) -> str:
        return str(call("podium.comparison.comparison_report:comparison_text", self)).rstrip("\n")

    @property
    def answer(self) -> tuple[str, ...]:
        """The answer in at most three sentences."""
        return tuple(self.reports()[0].answer)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "podium": FORMAT_VERSION,
            "answer": list(self.answer),
            "gate": None if self.gate is None else self.gate.to_dict(),
            "comparisons": [finding.to_dict() for finding in self.findings],
            "warnings": list(self.warnings),
            "failures": list(self.failures),
            "provenance": dict(self.provenance),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row per finding and slice."""
        rows = [own.to_dict() for finding in self.findings for own in (finding, *finding.slices)]
        nested = {"measures", "slices", "item_results", "scores"}
        return pd.DataFrame([{name: value for name, value in row.items() if name not in nested} for row in rows])
