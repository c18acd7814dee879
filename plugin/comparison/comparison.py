"""A comparison of candidates with a baseline: findings, decisions, and the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.check_results import Check
from podium.comparison.answer import comparison_answer
from podium.comparison.gate import Gate
from podium.comparison.outcomes import PairFinding
from podium.documents import Document, text_of_result
from podium.findings import add_accepted
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.notice_text import notices_to_json

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Comparison(Document):
    """The result of comparing candidates with a baseline: a finding per candidate and question.

    Attributes:
        findings: the findings.
        level: confidence level.
        provenance: sources and options.
        gate: the decisions about requirements; None if there are no requirements.
        warnings: what may be wrong with the comparison.
        failures: a sentence for each comparison that could not be made.
        unknown_answers: why identical answers are not counted; None if they are counted.
        lost: parts of the sources or of the named responses that could not be read; also among the
            warnings.
        accepted: sentences on findings that were accepted by name.
        checks: the checks of the verdicts; for scores, those of the runs that gave them.
    """

    findings: tuple[PairFinding, ...]
    level: float
    provenance: Mapping[str, Any]
    gate: Gate | None = None
    warnings: tuple[Notice, ...] = ()
    failures: tuple[str, ...] = ()
    unknown_answers: str | None = None
    lost: tuple[Notice, ...] = ()
    accepted: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()

    def __str__(self) -> str:
        return text_of_result(self)

    @property
    def answer(self) -> tuple[str, ...]:
        """The sentences of `comparison_answer`, with those on findings accepted by name added."""
        answer = comparison_answer(
            self.findings,
            self.gate,
            self.level,
            self.failures,
            by=self.provenance["options"].get("by"),
        )
        return add_accepted(answer, self.accepted)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain Python values, for JSON.

        The findings are under the key `comparisons`, and the version of the format under `podium`.
        `gate` is None without requirements. The other keys (`answer`, `checks`, `warnings`,
        `failures`, `provenance`) are attributes; no other attribute is written.
        """
        return {
            "podium": FORMAT_VERSION,
            "answer": list(self.answer),
            "gate": None if self.gate is None else self.gate.to_dict(),
            "comparisons": [finding.to_dict() for finding in self.findings],
            "checks": [check.to_dict() for check in self.checks],
            "warnings": notices_to_json(self.warnings),
            "failures": list(self.failures),
            "provenance": dict(self.provenance),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per finding, followed by a row for each of its slices.

        The columns are the keys of `PairFinding.to_dict`, without those that hold several values.
        """
        import pandas as pd

        nested = {"measures", "slices", "item_results", "scores", "by_weight"}
        rows = []
        for finding in self.findings:
            for finding_or_slice in (finding, *finding.slices):
                figures = finding_or_slice.to_dict()
                row = {name: value for name, value in figures.items() if name not in nested}
                rows.append(row)
        return pd.DataFrame(rows)
