"""What pages show of the probes of an audit: a row each, and how many have which result."""

from typing import Any

from podium.diagnosis.audit_record import (
    DESCRIBED_TEXT,
    NOT_APPLICABLE_TEXT,
    BoardAudit,
    Probe,
)
from podium.show.report.audit_view import (
    QUESTIONS,
    board_title,
    interval_of_check,
    number_of_check,
    probe_title,
    threshold_of_probe,
)

SIGNS = {"flagged": "✗", "not known": "?", "ok": "✓", DESCRIBED_TEXT: "·", NOT_APPLICABLE_TEXT: "–"}
"""The sign beside a result, so that no colour is needed to tell results apart."""


def board_values(board: BoardAudit) -> dict[str, Any]:
    """Return what the template shows of the audit of one ranking, by name.

    The keys are `title`, `answer`, `counts` (a text) and `rows` (`_row_values`). In a row, `starts`
    is True for the first description after a test, before which the page draws a line.
    """
    tested = [probe for probe in board.probes if not probe.is_descriptive]
    numbers = []
    for result in ("flagged", "not known", "ok"):
        number = sum(probe.check.result.value == result for probe in tested)
        numbers.append(f"{number} {result}")
    described = [probe.is_descriptive for probe in board.probes]
    rows = [_row_values(probe) for probe in board.probes]
    # A table that begins with descriptions needs no mark.
    is_described_before = True
    for row, is_described in zip(rows, described, strict=True):
        row["starts"] = is_described and not is_described_before
        is_described_before = is_described
    return {
        "title": board.standings.shown_slice or board_title(board),
        "answer": board.answer,
        "counts": f"{len(tested)} probes: {', '.join(numbers)}",
        "rows": rows,
    }


def _row_values(probe: Probe) -> dict[str, Any]:
    """Return what the template shows of a probe, by name.

    All values are texts. `kind` is the result as the name of a CSS class; `sign` is that of
    `SIGNS`.
    """
    result = probe.result_text
    return {
        "title": probe_title(probe),
        "question": QUESTIONS[probe.check.name],
        "kind": result.replace(" ", "-"),
        "sign": SIGNS[result],
        "result": result,
        "number": number_of_check(probe.check),
        "interval": interval_of_check(probe.check),
        "threshold": threshold_of_probe(probe),
        "found": _start_sentence(probe),
        "advice": probe.advice,
        "command": probe.command,
    }


def _start_sentence(probe: Probe) -> str:
    """Return what was found, beginning with a capital.

    A text that begins with the name of a model or judge keeps its first letter.
    """
    text = probe.finding_text
    return text if probe.judge else probe.check.start_sentence(text)
