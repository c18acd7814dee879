"""What an answer takes: tournaments that stop, compared in imagined worlds."""

from dataclasses import replace

import numpy as np
import pytest

from podium.errors import UsageError
from podium.planning.plan import AnsweredDesign, Bill
from podium.planning.plan_report import plan_reports
from podium.planning.planner import make_plan
from podium.planning.questions import ImaginedRun, imagined_run
from podium.report.terminal import terminal_text
from podium.tournaments.ring import Ring
from podium.tournaments.schedule import Pairing


def test_an_imagined_run_answers_each_judgment_as_its_table_says() -> None:
    run = imagined_run(4, 30, 0.3, seed=1)
    a, b = run.field.models[:2]
    ahead, behind = run.earned[5, 0, 1], run.earned[5, 1, 0]
    assert run.credits([5], [Pairing("item 5", a, b, first=a)])[0] == ahead
    assert run.credits([5], [Pairing("item 5", a, b, first=b)])[0] == 1 - behind
    assert run.credits([5], [Pairing("item 5", a, b)])[0] == (ahead + 1 - behind) / 2
    pairs = ~np.eye(4, dtype=bool)
    assert (run.earned[:, pairs] == 0.5).mean() == pytest.approx(0.3, abs=0.01)
    unparsed = ImaginedRun(run.field, np.full_like(run.earned, np.nan), run.truth)
    assert unparsed.credits([5], [Pairing("item 5", a, b)])[0] is None
    assert len(run.play(Ring())[0].outcomes) == 4 * 30


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"until": "top2"}, "--items"),
        ({"until": "top9", "items": 100}, "more than 9 models, and there are 5: ask for fewer"),
        ({"until": "order", "items": 20}, "needs 25 items"),
        ({"until": "best", "items": 100}, "write order, topK"),
        ({"margin": 5.0, "items": 100}, "margin 5 belongs to a question"),
    ],
)
def test_a_question_that_cannot_be_planned_for_is_refused(options, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        make_plan(models=5, **options)


@pytest.mark.slow
def test_a_plan_for_a_question_sets_the_designs_side_by_side() -> None:
    """The ring answers for the fewest calls; claims are wrong in none or one of ten runs."""
    plan = make_plan(models=6, items=100, until="top2", margin=30.0, simulations=100)
    lines = {line.design: line for line in plan.answers}
    assert list(lines) == ["ring", "round_robin", "chain", "anchor", "swim"]
    assert all(line.wrong <= 0.1 and 0 <= line.answered <= 1 for line in lines.values())
    assert all(line.usual.calls <= line.most.calls for line in lines.values())
    assert lines["swim"].usual.calls == 2 * 9 * 100
    assert lines["ring"].usual.calls < min(lines[name].usual.calls for name in lines if name != "ring")
    text = terminal_text(plan_reports(plan))
    assert "Play podium/ring until top2 within 30 Elo" in text
    assert "until top2 within 30 Elo, on 100 items at most" in text


def test_swim_which_cannot_be_asked_is_not_advised_and_of_equals_the_cheapest_is() -> None:
    """0.4 - 0.1 is a little more than 0.3: a ring that answers in three of ten runs is as good as one in four."""
    plan = make_plan(models=3, items=30, until="top1", simulations=100)
    shares = {
        "ring": (100, 0.3),
        "round_robin": (900, 0.4),
        "chain": (300, 0.2),
        "anchor": (50, 0.1),
        "swim": (60, 0.4),
    }
    answers = tuple(
        AnsweredDesign(name, Bill(calls, calls, None, None, None), Bill(calls, calls, None, None, None), share, 0.0, 10)
        for name, (calls, share) in shares.items()
    )
    text = terminal_text(plan_reports(replace(plan, answers=answers)))
    assert (
        "Play podium/ring until top1: about 100 calls (90% of runs within 100); 30% of runs get an answer, more on"
        in (" ".join(text.split()))
    )
    assert "inspect eval podium/ring -T responses=PATH -T until=top1" in text
