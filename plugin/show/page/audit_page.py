"""An audit as one self-contained page: the answer, the probes, and the rankings."""

from podium.diagnosis.audit_record import Audit
from podium.notices.notice_text import notice_text
from podium.show.page.packing import render_page
from podium.show.page.probes_table import board_values
from podium.show.report.audit_view import LEGEND, board_title
from podium.show.report.html import section_body
from podium.show.report.ranking_view import standings_report


def audit_page(audit: Audit, command: str) -> str:
    """Render the page of an audit as one HTML document.

    If there are several rankings, the answer at the top only gives their number.

    Args:
        audit: the audit, with at least one ranking.
        command: the command that made the page.

    Raises:
        UsageError: a library of the extra `report` is not installed.
    """
    first = audit.boards[0]
    has_one = len(audit.boards) == 1
    answer = first.answer if has_one else (f"{len(audit.boards)} rankings were audited.",)
    failures = [f"not ranked: {failure}" for failure in audit.failures]
    notices = [f"{notice.severity}: {notice_text(notice)}" for notice in audit.warnings]
    return render_page(
        "audit",
        scripts=[],
        data={},
        title=f"{answer[0]} · podium",
        heading=f"podium audit · {board_title(first)}" if has_one else "podium audit",
        answer=answer,
        boards=[
            {
                **board_values(board),
                "ranking": section_body(standings_report(board.standings).parts[0]),
            }
            for board in audit.boards
        ],
        legend=LEGEND,
        warnings=[*failures, *notices],
        command=command,
    )
