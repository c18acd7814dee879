"""The result of one check of a ranking or of a judge: ok, flagged or not known.

Functions of `podium.diagnosis.checks` make a check and return a `Check`. Rankings, comparisons,
judge cards, pages and JSON show it. Its threshold and its words are those of its kind, see
`podium.check_kinds`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf, isfinite
from typing import Any

from podium.check_kinds import CHECKS, NAME_OF_CODE, CheckKind
from podium.wording import capitalize_first

NAMES_IN_FIELDS = ("judge", "model", "a")
"""Fields of checks that are names of models or judges, with which a text may begin."""
CHECK_COLUMNS = ("check", "result", "found")
"""The header of a table of checks."""


class Result(Enum):
    """The result of a check. A check that could not be made is `NOT_KNOWN` and does not pass."""

    OK = "ok"
    FLAGGED = "flagged"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check.

    Attributes:
        name: name of the `CheckKind` in `CHECKS`.
        result: ok, flagged or not known.
        reason: why the check could not be made; empty if it was made. If `adjust_tests` finds
            that a flagged check is not significant, its result becomes not known if it has a
            reason, else ok.
        answer: what the user can do so that the check can be made; empty if nothing helps, or if
            the check was made.
        number: the measured figure; None if there is none. It has the unit of the threshold,
            unless the threshold is an error rate (which is compared with `p`).
        interval: the confidence interval of `number`; None if there is none.
        p: p-value of the check if it is a test; None otherwise. `adjust_tests` adjusts it for all
            tests of a ranking together.
        fields: the values by which the templates of the `CheckKind` are filled, by name.
        models: the models whose ratings may be wrong because the check is flagged.
    """

    name: str
    result: Result = Result.OK
    reason: str = ""
    answer: str = ""
    number: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ()

    @property
    def kind(self) -> CheckKind:
        """The check's threshold and words."""
        return CHECKS[self.name]

    @property
    def is_flagged(self) -> bool:
        """Whether the check found something."""
        return self.result is Result.FLAGGED

    @property
    def is_known(self) -> bool:
        """Whether the check could be made."""
        return self.result is not Result.NOT_KNOWN

    def map_texts(self, change: Callable[[str], str]) -> "Check":
        """Return the check with a function applied to its reason, answer and fields that are texts.

        Fields of any other kind, such as lists of texts, are unchanged.
        """
        fields = {
            name: change(value) if isinstance(value, str) else value
            for name, value in self.fields.items()
        }
        return replace(self, reason=change(self.reason), answer=change(self.answer), fields=fields)

    @property
    def finding_text(self) -> str:
        """What was found, or why it is not known, as a part of a sentence."""
        if not self.is_known:
            return self.reason
        template = self.kind.flagged if self.is_flagged else self.kind.ok
        return template.format(**self.fields)

    @property
    def figure(self) -> str:
        """The measured figure with its interval.

        If the check has no such template, or lacks a field of it, this is `finding_text`.
        """
        try:
            return self.kind.figure.format(**self.fields) or self.finding_text
        except KeyError:
            return self.finding_text

    @property
    def short_figure(self) -> str:
        """The measured figure without its interval; empty if there is none or the check is not
        known."""
        return self.kind.number.format(**self.fields) if self.is_known else ""

    @property
    def remedy(self) -> str:
        """What to do about a flagged check, or `answer` for any other check."""
        return self.kind.remedy.format(**self.fields) if self.is_flagged else self.answer

    @property
    def clause(self) -> str:
        """What was found and what to do about it, as a part of a sentence.

        The remedy is left out if there is none, or if `remedy_apart` of the kind is set.
        """
        if self.kind.remedy_apart or not self.remedy:
            return self.finding_text
        return f"{self.finding_text}: {self.remedy}"

    @property
    def row(self) -> tuple[str, str, str]:
        """The row of a table of checks: name, result, and what was found with what to do."""
        text = f"{self.figure}: {self.remedy}" if self.remedy else self.figure
        return self.name, self.result.value, text

    def start_sentence(self, text: str) -> str:
        """Return a text of this check with a capital first letter, as a sentence begins.

        If the text begins with the name of a model or judge, it is unchanged.

        Args:
            text: the finding or the clause of this check.
        """
        names = (str(self.fields[key]) for key in NAMES_IN_FIELDS if self.fields.get(key))
        is_named = self.is_flagged and self.kind.starts_with_name
        begins_with_name = is_named or text.startswith(tuple(names))
        return text if begins_with_name else capitalize_first(text)

    def to_dict(self) -> dict[str, Any]:
        """Return the check for JSON; unknown and unbounded figures are None.

        The keys are `code`, `result` (`ok`, `flagged` or `not known`), `number` with the ends of
        its interval (`low`, `high`) and its `threshold`, `p`, `fields`, `models`, `text` (what was
        found) and `remedy`. If the check is not known, `text` is the reason why, and `remedy` is
        what the user can do so that it can be made.
        """
        low, high = self.interval or (None, None)
        return {
            "code": self.kind.code,
            "result": self.result.value,
            "number": _number_or_none(self.number),
            "low": _number_or_none(low),
            "high": _number_or_none(high),
            "threshold": _number_or_none(self.kind.threshold),
            "p": self.p,
            "fields": {name: _plain_field(value) for name, value in self.fields.items()},
            "models": list(self.models),
            "text": self.finding_text,
            "remedy": self.remedy,
        }


def _number_or_none(number: float | None) -> float | None:
    """Return a number for JSON: None if it is infinite or NaN."""
    return number if number is not None and isfinite(number) else None


def _plain_field(value: Any) -> Any:
    """Return a field for JSON; an infinite number or NaN becomes the text that templates show."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def make_check(name: str, is_flagged: bool, **facts: Any) -> Check:
    """Return a check that was made; `facts` are further attributes of `Check`."""
    return Check(name=name, result=Result.FLAGGED if is_flagged else Result.OK, **facts)


def find_flagged(checks: Iterable[Check], names: Collection[str]) -> Check | None:
    """Return the first check, in the order of `checks`, that is flagged and has one of the names.

    None if there is none.
    """
    return next((check for check in checks if check.name in names and check.is_flagged), None)


def not_known(name: str, reason: str, answer: str = "", **facts: Any) -> Check:
    """Return a check that could not be made.

    Args:
        name: name of the `CheckKind` in `CHECKS`.
        reason: why it could not be made.
        answer: what the user can do so that it can be made.
        facts: further attributes of `Check`.
    """
    return Check(name=name, result=Result.NOT_KNOWN, reason=reason, answer=answer, **facts)


def check_from_json(content: Mapping[str, Any]) -> Check:
    """Return the check that `Check.to_dict` wrote; KeyError if its code is unknown.

    An end of the interval that JSON writes as None is infinite. If both ends are None, there is no
    interval.
    """
    name = NAME_OF_CODE[content["code"]]
    result = Result(content["result"])
    low = content["low"]
    high = content["high"]
    interval = None
    if low is not None or high is not None:
        interval = (_end_or_infinite(low, -inf), _end_or_infinite(high, inf))
    is_known = result is not Result.NOT_KNOWN
    return Check(
        name=name,
        result=result,
        reason="" if is_known else content["text"],
        answer="" if is_known else content["remedy"],
        number=content["number"],
        interval=interval,
        p=content["p"],
        fields=content["fields"],
        models=tuple(content["models"]),
    )


def _end_or_infinite(end: float | None, infinite: float) -> float:
    """Return the end of an interval, or `infinite` if the end is None."""
    return infinite if end is None else end
