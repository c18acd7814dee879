"""What an answer takes: tournaments that stop, compared in imagined worlds."""

import numpy as np
import pytest

from podium.errors import UsageError
from podium.planning.plan_report import plan_reports
from podium.planning.planner import make_plan
from podium.planning.questions import ImaginedRun, imagined_run
from podium.report.terminal import terminal_text
from podium.tournaments.ring import Ring
from podium.tournaments.schedule import Pairing


def test_an_imagined_run_answers_each_presentation_as_its_table_says() -> None:
    run = imagined_run(4, 30, 0.3, seed=1)
    a, b = run.field.entrants[:2]
    ahead, behind = run.earned[5, 0, 1], run.earned[5, 1, 0]
    assert run.credit(5, Pairing("item 5", a, b, first=a)) == ahead
    assert run.credit(5, Pairing("item 5", a, b, first=b)) == 1 - behind
    assert run.credit(5, Pairing("item 5", a, b)) == (ahead + 1 - behind) / 2
    pairs = ~np.eye(4, dtype=bool)
    assert (run.earned[:, pairs] == 0.5).mean() == pytest.approx(0.3, abs=0.01)
    unread = ImaginedRun(run.field, np.full_like(run.earned, np.nan), run.truth)
    assert unread.credit(5, Pairing("item 5", a, b)) is None
    assert len(run.play(Ring())[0].outcomes) == 4 * 30


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"until": "top2"}, "--items"),
        ({"until": "top9", "items": 100}, "more than 9 entrants, and there are 5: ask for fewer"),
        ({"until": "order", "items": 20}, "needs 25 items"),
        ({"until": "best", "items": 100}, "write order, topK"),
    ],
)
def test_a_question_that_cannot_be_planned_for_is_refused(options, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        make_plan(entrants=5, **options)


@pytest.mark.slow
def test_a_plan_for_a_question_sets_the_designs_side_by_side() -> None:
    """The ring answers for the fewest calls; claims are wrong in none or one of ten runs."""
    plan = make_plan(entrants=6, items=100, until="top2", margin=30.0, simulations=100)
    lines = {line.design: line for line in plan.answers}
    assert list(lines) == ["ring", "round_robin", "chain", "anchor", "swim"]
    assert all(line.wrong <= 0.1 and 0 <= line.answered <= 1 for line in lines.values())
    assert all(line.usual.calls <= line.most.calls for line in lines.values())
    assert lines["swim"].usual.calls == 2 * 9 * 100
    assert lines["ring"].usual.calls < min(lines[name].usual.calls for name in lines if name != "ring")
    text = terminal_text(plan_reports(plan))
    assert "Play podium/ring until top2 within 30 Elo" in text
    assert "until top2 within 30 Elo, on 100 items at most" in text
