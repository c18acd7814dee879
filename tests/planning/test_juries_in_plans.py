"""Plans for several judges: calls and cost, if all judge every battle or if they take turns."""

import pytest

from podium.errors import UsageError
from podium.planning.plan_record import Tariff
from podium.planning.plan_report import select_reports
from podium.planning.planner import make_plan

PRICES = {"tokens_in": 1000, "tokens_out": 100, "price_in": 1.0, "price_out": 10.0}
EACH = 0.002
"""Money for a call at these prices."""


@pytest.mark.parametrize(
    ("judges", "overlap", "calls"),
    [
        ("3", 0, 200 + 200 + 200),
        ("rotate:1,1", 0, 100 + 100),
        ("rotate:2,1,1", 0, 100 + 50 + 50),
        ("rotate:2,1,1", 0.2, 2 * (40 + 20) + 2 * (20 + 20) + 2 * (20 + 20)),
        ("rotate:1,1", 1, 200 + 200),
    ],
)
def test_calls_and_money_are_those_of_each_judges_share_of_the_battles(judges, overlap, calls):
    costs = Tariff(judges=judges, overlap=overlap, **PRICES).cost(100)
    assert (costs.battles, costs.calls) == (100, calls)
    assert costs.money == pytest.approx(EACH * calls)


def test_the_command_plays_the_turns():
    plan = make_plan(
        models=5, items=100, tariff=Tariff(judges="rotate:2,1,1", overlap=0.1, **PRICES)
    )
    [report] = select_reports(plan, None, full=True)
    [play] = [own for own in report.sections if own.name == "play"]
    [command] = play.notes
    assert (
        "-T judges=rotate:2,1,1 -T overlap=0.1 --model-role 'judge=[MODEL,MODEL,MODEL]'" in command
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"judges": "0"},
            "--judges 0: write a number of judges, or rotate:2,1,1 with a weight for each",
        ),
        ({"judges": "rotate"}, "--judges rotate: write a number of judges"),
        ({"judges": "all"}, "--judges all: write a number of judges"),
        ({"judges": "rotate:1"}, "one judge cannot take turns"),
        ({"judges": "rotate:1,-1"}, "give a weight above 0 for each"),
        ({"judges": "some"}, "judges=some: write all, rotate"),
        ({"judges": "3", "overlap": 0.1}, "--overlap is for judges that take turns"),
        (
            {"judges": "rotate:1,1", "overlap": 1.5},
            "overlap=1.5: give a share of the battles from 0 to 1",
        ),
    ],
)
def test_numbers_of_judges_that_do_not_fit_are_rejected_in_a_sentence(options, words):
    with pytest.raises(UsageError) as error:
        Tariff(**options)
    assert words in str(error.value)
