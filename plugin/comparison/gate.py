"""Requirements as a gate for CI.

The gate has a verdict (PASS, FAIL or UNDECIDED) that sets the exit code. A requirement passes if
the one-sided lower bound of the difference exceeds its threshold. It fails if the upper bound is
below the threshold. Otherwise it is undecided.

The gate passes only if all requirements pass, so that lower bounds need no correction for several
tests. One failure is enough for it to fail, so that upper bounds are corrected by Holm's rule
(Strassburger and Bretz 2008).
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from podium.comparison.compared_pair import ELO, SCORE, WIN_RATE
from podium.comparison.outcomes import PairFinding
from podium.data.measure import metric_names
from podium.errors import DataError, UsageError, reject_stream
from podium.rankers.errors.difference import DifferenceTest, parse_margin
from podium.rankers.errors.intervals import finite_or_none, holm

Verdict = Literal["PASS", "FAIL", "UNDECIDED"]
EXIT_CODES: dict[Verdict, int] = {"PASS": 0, "FAIL": 4, "UNDECIDED": 5}
"""Exit code of the command by the verdict of the gate."""
FORMS_OF_REQUIREMENT = "write better, or not-worse=10elo, not-worse=2points, not-worse=0.02"
"""End of error messages: how a requirement is typed."""
SCOPE_FIELDS = ("task", "metric", "judge", "candidate")
"""Fields of a requirement in a file that limit what it is about."""
FILE_REMEDY = (
    "write a list `requirements` of tables with require, and task, metric, judge, candidate, "
    "advisory as needed"
)
"""Remedy for a file that is not a list of requirements."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement on the findings in its scope.

    Attributes:
        text: the requirement as it was typed.
        margin: how much worse than the baseline the candidate may be, in `unit`; 0 for `better`.
        unit: `elo`, `points` (hundredths of a share), `units` of the metric; empty for `better`.
        task: the task that the requirement is about; None for all.
        metric: the metric that the requirement is about; None for all.
        judge: the judge whose scores the requirement is about; None for all.
        candidate: the candidate that the requirement is about; None for all.
        is_advisory: whether the gate's verdict ignores the requirement.
    """

    text: str
    margin: float = 0.0
    unit: str = ""
    task: str | None = None
    metric: str | None = None
    judge: str | None = None
    candidate: str | None = None
    is_advisory: bool = False

    @property
    def scope(self) -> str:
        """The candidate, task, metric and judge of the requirement, as text; empty for all."""
        parts = (self.candidate, self.task, self.metric, self.judge)
        return " ".join(part for part in parts if part)

    def is_about(self, finding: PairFinding) -> bool:
        """Return whether the requirement applies to a finding.

        Each of task, metric, judge and candidate must be None in the requirement, or be that of the
        finding. The requirement may name the metric without lm-eval's filter, and without Inspect's
        task.
        """
        metrics = (None, finding.metric, *metric_names(finding.known_metric))
        has_task = self.task in (None, finding.task)
        has_metric = self.metric in metrics
        has_judge = self.judge in (None, finding.judge)
        has_candidate = self.candidate in (None, finding.candidate)
        return has_task and has_metric and has_judge and has_candidate


@dataclass(frozen=True)
class GateDecision:
    """The verdict on a requirement for one finding.

    Attributes:
        requirement: the requirement.
        finding: the finding that it is about; None if nothing was compared.
        verdict: whether the requirement is met.
        threshold: what the difference must exceed; None if nothing was compared.
        low: one-sided lower bound of the difference; None if infinite or if nothing was compared.
        high: one-sided upper bound of the difference, simultaneous over all requirements; None if
            infinite or if nothing was compared.
        measure: `elo`, `win-rate` or `score`; None if nothing was compared.
    """

    requirement: Requirement
    finding: PairFinding | None
    verdict: Verdict
    threshold: float | None = None
    low: float | None = None
    high: float | None = None
    measure: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the decision for JSON, in plain Python values.

        `require` is the text of the requirement, and `advisory` its `is_advisory`. The keys
        `candidate`, `task`, `metric` and `judge` are those of the finding or, if nothing was
        compared, those of the requirement as they were typed. The other keys are attributes.
        """
        scope = self.finding or self.requirement
        return {
            "require": self.requirement.text,
            "candidate": scope.candidate,
            "task": scope.task,
            "metric": scope.metric,
            "judge": scope.judge,
            "advisory": self.requirement.is_advisory,
            "verdict": self.verdict,
            "threshold": self.threshold,
            "low": self.low,
            "high": self.high,
            "measure": self.measure,
        }


@dataclass(frozen=True)
class Gate:
    """The decisions about all requirements.

    Attributes:
        decisions: a decision per requirement and finding that it is about.
    """

    decisions: tuple[GateDecision, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict on a requirement that is not advisory: FAIL, UNDECIDED, or PASS.

        If all requirements are advisory, the verdict is PASS.
        """
        blocking = {
            decision.verdict for decision in self.decisions if not decision.requirement.is_advisory
        }
        if "FAIL" in blocking:
            return "FAIL"
        return "UNDECIDED" if "UNDECIDED" in blocking else "PASS"

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 (PASS), 4 (FAIL) or 5 (UNDECIDED)."""
        return EXIT_CODES[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Return the gate for JSON: `verdict`, `exit_code` and `requirements`, the decisions."""
        decisions = [decision.to_dict() for decision in self.decisions]
        return {"verdict": self.verdict, "exit_code": self.exit_code, "requirements": decisions}


def parse_requirement(text: str) -> Requirement:
    """Parse a requirement: `better`, or `not-worse=MARGIN` with its unit.

    Raises:
        UsageError: the text is neither, or the margin cannot be parsed.
    """
    word, equals, margin = (part.strip() for part in text.partition("="))
    if word == "better" and not equals:
        return Requirement(text)
    if word != "not-worse" or not equals:
        raise UsageError(f"requirement {text!r}: {FORMS_OF_REQUIREMENT}")
    size, unit = parse_margin(margin, f"requirement {text!r}")
    return Requirement(text, margin=size, unit=unit)


def read_requirements(typed: str | Sequence[str], file: str | Path | None) -> list[Requirement]:
    """Read the requirements that were typed and those of a YAML or TOML file, in this order.

    Args:
        typed: one requirement or several; an empty sequence for none.
        file: the file: a list of tables, or a table with such a list under `requirements`. None
            for no file.

    Raises:
        UsageError: a requirement cannot be parsed, or there is no such file.
        DataError: the file is not a list of requirements with known fields, or the list is empty.
    """
    texts = [typed] if isinstance(typed, str) else typed
    requirements = [parse_requirement(text) for text in texts]
    if file is None:
        return requirements
    content = _load_requirements(Path(file))
    rows = content.get("requirements") if isinstance(content, Mapping) else content
    is_list = isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows)
    if not rows or not is_list:
        raise DataError("no list of requirements", source=str(file), remedy=FILE_REMEDY)
    for k, row in enumerate(rows, 1):
        requirements.append(_parse_requirement_row(row, f"requirement {k}", str(file)))
    return requirements


def _parse_requirement_row(row: Mapping[str, Any], place: str, file: str) -> Requirement:
    """Parse a requirement of a file, with its scope and whether it is advisory.

    Args:
        row: the fields of the requirement.
        place: number of the requirement in the file, for error messages.
        file: the file, for error messages.

    Raises:
        DataError: a field is unknown, `require` is missing or `advisory` is not a boolean.
        UsageError: the text of `require` cannot be parsed.
    """
    unknown_fields = sorted(set(row) - {"require", *SCOPE_FIELDS, "advisory"})
    if unknown_fields:
        raise DataError(
            f"unknown field {unknown_fields[0]!r}", source=file, row=place, remedy=FILE_REMEDY
        )
    if not isinstance(row.get("require"), str):
        raise DataError("no text `require`", source=file, row=place, remedy=FILE_REMEDY)
    advisory = row.get("advisory", False)
    if not isinstance(advisory, bool):
        raise DataError(
            f"advisory={advisory!r}", source=file, row=place, remedy="write true or false"
        )
    try:
        parsed = parse_requirement(row["require"])
    except UsageError as error:
        raise UsageError(f"{file}, {place}: {error}") from None
    scope: dict[str, Any] = {}
    for name in SCOPE_FIELDS:
        if row.get(name) is not None:
            scope[name] = str(row[name])
    return replace(parsed, is_advisory=advisory, **scope)


def _load_requirements(path: Path) -> Any:
    """Read a file as TOML if its suffix is .toml, else as YAML.

    Raises:
        UsageError: there is no such file, it is a stream, or pyyaml is needed and not installed.
        DataError: the file is not UTF-8, or has a syntax error.
    """
    reject_stream(path)
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError("not UTF-8", source=str(path), remedy="save it in this encoding") from None
    if path.suffix == ".toml":
        return _parse_file_text(
            text, kind="TOML", parse=tomllib.loads, syntax_error=tomllib.TOMLDecodeError, path=path
        )
    try:
        import yaml
    except ImportError:
        raise UsageError(f"{path}: reading YAML needs pyyaml; install it, or write TOML") from None
    return _parse_file_text(
        text, kind="YAML", parse=yaml.safe_load, syntax_error=yaml.YAMLError, path=path
    )


def _parse_file_text(
    text: str, kind: str, parse: Callable[[str], Any], syntax_error: type[Exception], path: Path
) -> Any:
    """Parse the text of a file.

    Args:
        text: the text.
        kind: name of the format, for the message.
        parse: the parser.
        syntax_error: the exception that the parser raises for a syntax error.
        path: path of the file, for the message.

    Raises:
        DataError: the text has a syntax error.
    """
    try:
        return parse(text)
    except syntax_error as error:
        line = str(error).replace("\n", " ")
        problem = f"not {kind} ({line})"
        raise DataError(problem, source=str(path), remedy="fix the syntax") from None


def decide_requirements(
    requirements: Sequence[Requirement], findings: Sequence[PairFinding], level: float
) -> Gate:
    """Decide each requirement by one-sided bounds for each finding that it is about.

    A requirement that is about no finding is undecided. Advisory requirements count as tests in
    Holm's rule, too.

    Args:
        requirements: the requirements; the decisions have the same order.
        findings: what was compared.
        level: confidence level of the bounds, in (0, 1).

    Raises:
        UsageError: a finding has no difference in the unit of a requirement about it.
    """
    alpha = 1 - level
    decisions = []
    pairs = []
    for requirement in requirements:
        findings_in_scope = [finding for finding in findings if requirement.is_about(finding)]
        pairs += [(requirement, finding) for finding in findings_in_scope]
        if not findings_in_scope:
            decisions.append(GateDecision(requirement, finding=None, verdict="UNDECIDED"))
    tests = [_required_difference(requirement, finding) for requirement, finding in pairs]
    # A requirement is refuted if Holm's rule, over all requirements, rejects the hypothesis that
    # its difference is at least its threshold. The upper bounds of the others share alpha.
    p_below = [difference.p_below(threshold) for difference, threshold, _ in tests]
    is_refuted = holm(np.array(p_below)) <= alpha
    alpha_of_open = alpha / max(int((~is_refuted).sum()), 1)
    alpha_of_all = alpha / max(len(pairs), 1)
    for k, (requirement, finding) in enumerate(pairs):
        difference, threshold, measure = tests[k]
        if is_refuted[k]:
            # Unless Holm's rule rejects all hypotheses, it only shows that the difference lies
            # below its threshold. The Bonferroni bound may be smaller.
            high = min(difference.high(alpha_of_all), threshold)
        else:
            high = difference.high(alpha_of_open)
        is_met = difference.p_above(threshold) <= alpha
        decision = GateDecision(
            requirement=requirement,
            finding=finding,
            verdict=_verdict_of_tests(finding, threshold, is_refuted[k], is_met),
            threshold=threshold,
            low=finite_or_none(difference.low(alpha)),
            high=finite_or_none(high),
            measure=measure,
        )
        decisions.append(decision)
    # Those about no finding were decided first.
    decisions.sort(key=lambda decision: requirements.index(decision.requirement))
    return Gate(tuple(decisions))


def _verdict_of_tests(
    finding: PairFinding, threshold: float, is_refuted: bool, is_met: bool
) -> Verdict:
    """Return the verdict on a requirement.

    The verdict is FAIL if the requirement is refuted, PASS if it is met, and otherwise UNDECIDED.
    It is always UNDECIDED in eight cases: a column looks like the item although rows are counted as
    independent; items are alike in groups that are not the unit; one model's scores look like
    fractions and the other's like percent; unparsed battles may explain the difference; they may
    change it, and the requirement has a margin; the order of the responses decides the verdicts; a
    judge is one of the two models, or of the family of one; or the two models were asked different
    things under the same ids, and the user did not accept it.

    Args:
        finding: the finding.
        threshold: the requirement is met above it; 0 without a margin.
        is_refuted: whether a test shows that the difference is below the threshold.
        is_met: whether a test shows that the difference is above the threshold.
    """
    doubts = (finding.likely_item, finding.doubt, finding.judge_doubt)
    if finding.questions_in_doubt or any(doubt is not None for doubt in doubts):
        return "UNDECIDED"
    if finding.loss_check is not None and threshold != 0:
        return "UNDECIDED"
    if is_refuted:
        return "FAIL"
    return "PASS" if is_met else "UNDECIDED"


def _why_unmeasured(finding: PairFinding, measure: str) -> str:
    """Return a clause on why a finding lacks a measure, and on what to require instead."""
    if SCORE in finding.differences:
        return "a metric has no Elo; write points or 0.02"
    if measure == ELO:
        return "win rates are compared, which are no Elo; write 2points"
    return (
        f"{finding.candidate} and {finding.baseline} have no readable battle with each other, so "
        "they have no win rate against each other; write 10elo, which the battles with other "
        "models tell"
    )


def _required_difference(
    requirement: Requirement, finding: PairFinding
) -> tuple[DifferenceTest, float, str]:
    """Return the difference that a requirement is about, its threshold, and its measure.

    The requirement is met if the difference exceeds the threshold, which is minus its margin. For
    `better`, which has no unit, these are the main difference of the finding and 0.

    Raises:
        UsageError: the finding has no difference in the unit of the requirement, or the unit is
            points and results lie outside of [0, 1].
    """
    measures = finding.differences
    if not requirement.unit:
        return finding.difference, 0.0, finding.measure
    measure = ELO
    if requirement.unit != "elo":
        measure = SCORE if SCORE in measures else WIN_RATE
    if measure not in measures:
        raise UsageError(f"requirement {requirement.text!r}: {_why_unmeasured(finding, measure)}")
    if requirement.unit == "points" and not finding.is_share:
        raise UsageError(
            f"requirement {requirement.text!r}: points are hundredths of a share; write units "
            "instead"
        )
    scale = 0.01 if requirement.unit == "points" else 1.0
    return measures[measure], -requirement.margin * scale, measure
