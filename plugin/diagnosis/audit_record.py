"""The record of an audit: the probes of each ranking, and an answer in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from podium.check_kinds import GRAVITY
from podium.check_results import Check, Result
from podium.diagnosis.checks.all_checks import CAUTIONS
from podium.diagnosis.checks.card_sections import ERROR_RATE
from podium.documents import Document, text_of_result
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.notice_text import notices_to_json
from podium.rankers.ranking import Standings

if TYPE_CHECKING:
    import pandas as pd

DESCRIPTIONS = ("places", "first place", "elo", "voters", "judges", "repeated", "human scale")
"""Names of descriptions, in the order in which tables show them."""
ADVICE = {
    "fit": "look at such pairs one by one",
    "own family": "see how it rates its family, and add a judge of another one",
    "items": "add more {nouns}",
    "first place": "add more {nouns}",
}
"""What helps, as a clause, by name of a flagged check.

It replaces the remedy of the check, which would name the command of the row once more, or is empty.
`{nouns}` is what varies independently, such as items or passages, from the fields of the check.
"""
WRITTEN_BY_CONVERT = (
    " (`podium convert` writes them with their reasons)",
    " (`podium convert` writes the rows with their reasons)",
)
"""Parts of remedies that are left out if the row shows this command."""
NOT_APPLICABLE_TEXT = "does not apply"
"""The result of a probe that cannot be made of such data."""
DESCRIBED_TEXT = "measured"
"""The result, in place of `ok`, of a probe that is never flagged."""
RESULTS_IN_ORDER = (Result.FLAGGED, Result.NOT_KNOWN, Result.OK)
"""The results, in the order in which tables show them."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One row of an audit: a check, of which judge it is, and what to type.

    Attributes:
        check: the check, with its adjusted p-value.
        judge: the judge that it is about; empty if it is about the whole ranking.
        command: the command that helps; empty if none is needed or known.
    """

    check: Check
    judge: str = ""
    command: str = ""

    @property
    def is_descriptive(self) -> bool:
        """Whether the probe reports a figure and passes or fails nothing.

        How few items decide the first place is a description, unless the ranking flags it. So is
        the row of a probe that cannot apply to the data.
        """
        if not self.applies or self.check.kind.is_descriptive:
            return True
        return self.check.name == "first place" and not self.check.is_flagged

    @property
    def result_text(self) -> str:
        """The result: ok, flagged, not known, measured, or does not apply."""
        if not self.applies:
            return NOT_APPLICABLE_TEXT
        if self.is_descriptive and self.check.result is Result.OK:
            return DESCRIBED_TEXT
        return self.check.result.value

    @property
    def applies(self) -> bool:
        """Whether the probe can be made of data like these; True unless the check says no."""
        return bool(self.check.fields.get("applies", True))

    @property
    def finding_text(self) -> str:
        """What was found, or why the result is not known, as a clause.

        The text begins with the name of the judge, if the probe is about one. The text of an ok
        check ends with its adjusted p-value if this is above 5%. The text of an ok check of lost
        replies also has the share of replies lost.
        """
        text = self.check.figure
        is_ok = self.check.result is Result.OK
        if is_ok and self.check.name == "lost replies" and self.check.number is not None:
            # The share is of one model, unlike those of `unparsed`.
            text = f"{text}: {self.check.number:.1%} of those of {self.check.fields['model']}"
        if is_ok and self.check.p is not None and self.check.p > ERROR_RATE:
            text = f"{text} (adjusted p {self.check.p:.2f})"
        return f"{self.judge}: {text}" if self.judge else text

    @property
    def advice(self) -> str:
        """What helps, as a clause without a command; empty if nothing is to be said.

        If the probe has a command and its check is not known, the advice is empty: the command
        makes it known. Otherwise, it is the remedy of the check, with one exception. If the check
        is flagged, and the probe has a command or the check has no remedy, the text of `ADVICE`
        replaces the remedy; a check that `ADVICE` does not name keeps its remedy, without the parts
        in `WRITTEN_BY_CONVERT`.
        """
        if self.command and not self.check.is_known:
            return ""
        keeps_remedy = bool(self.check.remedy) and not self.command
        if self.check.is_flagged and not keeps_remedy:
            advice = self.check.remedy
            if self.check.name in ADVICE:
                nouns = self.check.fields.get("nouns", "items")
                advice = ADVICE[self.check.name].format(nouns=nouns)
            # Not all remedies of unparsed replies name the command that writes them.
            for text in WRITTEN_BY_CONVERT:
                advice = advice.replace(text, "")
            return advice
        return self.check.remedy

    @property
    def remedy(self) -> str:
        """What helps as a clause, with the command in brackets; the command alone without advice.

        The text is empty if there is neither advice nor a command.
        """
        if not self.command:
            return self.advice
        command = f"`{self.command}`"
        return f"{self.advice} ({command})" if self.advice else command

    @property
    def place(self) -> tuple[bool, int, int]:
        """Key by which probes are sorted.

        Flagged probes come first, then those that are not known, then those that are ok. Within
        each of these, probes are in the order of gravity, and cautions follow all others.
        Descriptions follow, in the order of `DESCRIPTIONS`, and last the probes that do not apply.
        """
        name = self.check.name
        if not self.applies:
            return True, len(DESCRIPTIONS), GRAVITY[name]
        if self.is_descriptive:
            return True, DESCRIPTIONS.index(name), 0
        is_caution = name in CAUTIONS
        result = RESULTS_IN_ORDER.index(self.check.result)
        return False, result, GRAVITY[name] + (len(GRAVITY) if is_caution else 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the probe for JSON: the check, with the name of the probe, judge and command.

        The result is that of tables (`result_text`). The key `judge` is left out if the probe is
        about the whole ranking.
        """
        content = self.check.to_dict()
        content["result"] = self.result_text
        content["text"] = self.finding_text
        judge = {"judge": self.judge} if self.judge else {}
        return {
            "probe": self.check.name,
            **content,
            **judge,
            "descriptive": self.is_descriptive,
            "command": self.command,
        }


@dataclass(frozen=True, slots=True)
class BoardAudit:
    """The audit of one ranking.

    Attributes:
        standings: the ranking.
        probes: its probes, in the order of `Probe.place`: the flagged ones first.
        answer: at most three sentences: whether to use the ranking, which models lead, and what to
            do first.
        source: what was typed to read the battles, as in the commands of the probes.
    """

    standings: Standings
    probes: tuple[Probe, ...]
    answer: tuple[str, ...] = ()
    source: str = ""

    def __repr__(self) -> str:
        return f"BoardAudit({self.summary})"

    @property
    def summary(self) -> str:
        """A short text: the ranker, the slice, and how many probes are flagged.

        Descriptions are not counted among the probes.
        """
        of_slice = f" [{self.standings.shown_slice}]" if self.standings.slice else ""
        tested = sum(not probe.is_descriptive for probe in self.probes)
        flagged = len(self.flagged_probes)
        return f"{self.standings.ranker}{of_slice}: {flagged} of {tested} probes flagged"

    @property
    def flagged_probes(self) -> tuple[Probe, ...]:
        """The probes whose check is flagged, in the order of `probes`."""
        return tuple(probe for probe in self.probes if probe.check.is_flagged)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit of this ranking as plain Python values, for JSON.

        The keys are `ranker`, `slice`, `answer`, `flagged` (codes of the flagged checks) and
        `probes` (`Probe.to_dict` of each).
        """
        return {
            "ranker": self.standings.ranker,
            "slice": self.standings.slice,
            "answer": list(self.answer),
            "flagged": [probe.check.kind.code for probe in self.flagged_probes],
            "probes": [probe.to_dict() for probe in self.probes],
        }


@dataclass(frozen=True, slots=True)
class Audit(Document):
    """The audits of all rankings of some battles.

    Attributes:
        boards: an audit for each slice, by the first ranker.
        failures: why a slice has no ranking, a sentence each.
        warnings: warnings about the battles and the rankings.
        provenance: sources, options and package versions.
    """

    boards: tuple[BoardAudit, ...]
    failures: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Audit({'; '.join(board.summary for board in self.boards)})"

    def __str__(self) -> str:
        return text_of_result(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document as plain Python values: audits, warnings and provenance.

        The key `failures` is there only if a slice could not be ranked.
        """
        failures = {"failures": list(self.failures)} if self.failures else {}
        return {
            "podium": FORMAT_VERSION,
            "audits": [board.to_dict() for board in self.boards],
            "warnings": notices_to_json(self.warnings),
            "provenance": dict(self.provenance),
            **failures,
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per probe and slice, with the values of `Probe.to_dict`.

        The columns are `slice`, `judge` (empty if the probe is about the whole ranking), and the
        other keys of the dictionary except `fields` and `models`.
        """
        import pandas as pd

        rows = []
        for board in self.boards:
            for probe in board.probes:
                content = probe.to_dict()
                for name in ("fields", "models", "judge"):
                    content.pop(name, None)
                rows.append({"slice": board.standings.slice, "judge": probe.judge, **content})
        return pd.DataFrame(rows)
