"""Requirements as a gate for CI: one passes if the one-sided lower bound of the difference exceeds
its threshold.

It fails if the upper bound is below it, and is otherwise undecided, which is never a pass. All must
pass, which needs no correction; one failure is enough, so upper bounds are corrected by Holm's rule
(Strassburger and Bretz 2008).
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from podium.comparison.outcomes import ELO, SCORE, WIN_RATE, PairFinding
from podium.errors import DataError, UsageError, reject_stream
from podium.rankers.errors.difference import DifferenceTest, parse_margin
from podium.rankers.errors.intervals import finite_or_none, holm

Verdict = Literal["PASS", "FAIL", "UNDECIDED"]
EXIT_CODES: dict[Verdict, int] = {"PASS": 0, "FAIL": 4, "UNDECIDED": 5}
WAYS = "write better, or not-worse=10elo, not-worse=2points, not-worse=0.02"
SCOPE = ("task", "metric", "candidate")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement on the findings in its scope; `unit` is `elo`, `points` (hundredths) or `units`
    of the metric."""

    text: str
    margin: float = 0.0
    unit: str = ""
    task: str | None = None
    metric: str | None = None
    candidate: str | None = None
    is_advisory: bool = False

    @property
    def scope(self) -> str:
        """The candidate, task and metric it is about, as text; empty for all."""
        return " ".join(part for part in (self.candidate, self.task, self.metric) if part)

    def is_about(self, finding: PairFinding) -> bool:
        """Return whether it applies to a finding; a metric may be named without lm-eval's
        filter."""
        metric = finding.metric or ""
        is_metric = self.metric in (
            None,
            metric,
            metric.partition(",")[0],
            metric.partition(" ")[2],
        )
        return (
            self.task in (None, finding.task)
            and is_metric
            and self.candidate in (None, finding.candidate)
        )


@dataclass(frozen=True)
class GateDecision:
    """The verdict on a requirement (no finding: nothing compared); `low` is one-sided, `high` holds
    for all at once."""

    requirement: Requirement
    finding: PairFinding | None
    verdict: Verdict
    threshold: float | None = None
    low: float | None = None
    high: float | None = None
    measure: str | None = None

    def to_dict(self) -> dict[str, Any]:
        known = {
            name: getattr(self, name) for name in ("verdict", "threshold", "low", "high", "measure")
        }
        about = self.finding or self.requirement
        names = {name: getattr(about, name) for name in ("candidate", "task", "metric")}
        return {
            "require": self.requirement.text,
            **names,
            "advisory": self.requirement.is_advisory,
            **known,
        }


@dataclass(frozen=True)
class Gate:
    """The decisions about all requirements."""

    decisions: tuple[GateDecision, ...]

    @property
    def verdict(self) -> Verdict:
        """FAIL if any requirement that is not advisory fails, else UNDECIDED if any is undecided,
        else PASS."""
        blocking = {own.verdict for own in self.decisions if not own.requirement.is_advisory}
        return "FAIL" if "FAIL" in blocking else "UNDECIDED" if "UNDECIDED" in blocking else "PASS"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        decisions = [own.to_dict() for own in self.decisions]
        return {"verdict": self.verdict, "exit_code": self.exit_code, "requirements": decisions}


def parse_requirement(text: str) -> Requirement:
    """Parse a requirement: `better`, or `not-worse=MARGIN` with its unit."""
    kind, equals, margin = (part.strip() for part in text.partition("="))
    if kind == "better" and not equals:
        return Requirement(text)
    if kind != "not-worse" or not equals:
        raise UsageError(f"requirement {text!r}: {WAYS}")
    return Requirement(text, *parse_margin(margin, f"requirement {text!r}"))


def read_requirements(typed: str | Sequence[str], file: str | Path | None) -> list[Requirement]:
    """Read the requirements that were typed and those of a YAML or TOML file."""
    texts = list(map(parse_requirement, [typed] if isinstance(typed, str) else typed))
    if file is None:
        return texts
    remedy = (
        "write a list `requirements` of tables with require, and task, metric, candidate, "
        "advisory as needed"
    )
    content = _load(Path(file))
    rows = content.get("requirements") if isinstance(content, Mapping) else content
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise DataError("no list of requirements", source=str(file), remedy=remedy)
    for k, row in enumerate(rows, 1):
        place = f"requirement {k}"
        if strange := sorted(set(row) - {"require", *SCOPE, "advisory"}):
            raise DataError(
                f"unknown field {strange[0]!r}", source=str(file), row=place, remedy=remedy
            )
        if not isinstance(row.get("require"), str):
            raise DataError("no text `require`", source=str(file), row=place, remedy=remedy)
        advisory = row.get("advisory", False)
        if not isinstance(advisory, bool):
            raise DataError(
                f"advisory={advisory!r}", source=str(file), row=place, remedy="write true or false"
            )
        try:
            parsed = parse_requirement(row["require"])
        except UsageError as error:
            raise UsageError(f"{file}, {place}: {error}") from None
        task, metric, candidate = (
            None if row.get(name) is None else str(row[name]) for name in SCOPE
        )
        texts.append(
            replace(parsed, is_advisory=advisory, task=task, metric=metric, candidate=candidate)
        )
    return texts


def _load(path: Path) -> Any:
    reject_stream(path)
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return _parse(text, "TOML", tomllib.loads, tomllib.TOMLDecodeError, path)
    try:
        import yaml
    except ImportError:
        raise UsageError(f"{path}: reading YAML needs pyyaml; install it, or write TOML") from None
    return _parse(text, "YAML", yaml.safe_load, yaml.YAMLError, path)


def _parse(
    text: str, kind: str, parse: Callable[[str], Any], mistake: type[Exception], path: Path
) -> Any:
    """Parse the text of a file; DataError if the parser finds a mistake."""
    try:
        return parse(text)
    except mistake as error:
        line = str(error).replace("\n", " ")
        raise DataError(f"not {kind} ({line})", source=str(path), remedy="fix the syntax") from None


def decide_requirements(
    requirements: Sequence[Requirement], findings: Sequence[PairFinding], level: float
) -> Gate:
    """Decide each requirement, by one-sided bounds, for each finding it is about; without a finding
    it is undecided."""
    alpha = 1 - level
    pairs = [
        (own, finding) for own in requirements for finding in findings if own.is_about(finding)
    ]
    measured = [_measure_of(*pair) for pair in pairs]
    refuted = (
        holm(np.array([difference.p_below(threshold) for difference, threshold, _ in measured]))
        <= alpha
    )
    share_of_open, share_of_all = alpha / max(int((~refuted).sum()), 1), alpha / max(len(pairs), 1)
    decided = [
        GateDecision(own, None, "UNDECIDED")
        for own in requirements
        if not any(map(own.is_about, findings))
    ]
    for pair, (difference, threshold, measure), fails in zip(pairs, measured, refuted, strict=True):
        # Unless Holm's rule rejects all, a rejected difference is only known to lie below its
        # threshold.
        high = (
            min(difference.high(share_of_all), threshold)
            if fails
            else difference.high(share_of_open)
        )
        passes = difference.p_above(threshold) <= alpha
        if pair[1].likely_item is not None:
            fails = passes = False
        verdict: Verdict = "FAIL" if fails else "PASS" if passes else "UNDECIDED"
        ends = finite_or_none(difference.low(alpha)), finite_or_none(high)
        decided.append(GateDecision(*pair, verdict, threshold, *ends, measure))
    return Gate(tuple(sorted(decided, key=lambda each: requirements.index(each.requirement))))


def _measure_of(
    requirement: Requirement, finding: PairFinding
) -> tuple[DifferenceTest, float, str]:
    """Return the difference that a requirement is about, the threshold it must exceed, and its
    measure."""
    measures = finding.differences
    if not requirement.unit:
        return finding.difference, 0.0, finding.measure
    wanted = ELO if requirement.unit == "elo" else SCORE if SCORE in measures else WIN_RATE
    if wanted not in measures:
        scored, rated = (
            "a metric has no Elo; write points or 0.02",
            "ratings are compared; write 10elo",
        )
        raise UsageError(
            f"requirement {requirement.text!r}: {scored if SCORE in measures else rated}"
        )
    if requirement.unit == "points" and not finding.is_share:
        raise UsageError(
            f"requirement {requirement.text!r}: points are hundredths of a share; write units "
            "instead"
        )
    scale = 0.01 if requirement.unit == "points" else 1.0
    return measures[wanted], -requirement.margin * scale, wanted
