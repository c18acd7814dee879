"""What the page says of each check, passed ones too."""

import pandas as pd
import pytest

import podium
from podium.show.page.checks_table import checks_table


@pytest.mark.slow
def test_checks_table_counts_unparsed_replies_and_lost_battles() -> None:
    """A battle of which one order could not be read has lost one reply of two: the threshold is one
    of replies."""
    battles = podium.simulate(4, 100, seed=1).battles(podium.Judge(unparsed=0.02))
    [standings] = podium.rank(battles).standings
    found = {
        check: (verdict, stated)
        for check, verdict, stated in checks_table(standings, battles, {}).rows
    }
    counts, share = standings.counts, battles.counts().unparsed / 1200
    stated = (
        f"{counts.unparsed} of 600 battles are unparsed ({counts.unparsed / 600:.1%}); "
        f"{share:.1%} of the replies"
    )
    assert counts.unparsed / 600 > 0.03 > share
    assert found["unparsed"] == ("ok", stated)
    assert found["fit"][1].startswith("the ratings explain the win rates of all 6 tested pairs")


def test_a_shared_first_place_is_no_passed_check_of_the_first_place() -> None:
    rows = [
        {
            "item": f"q{k}",
            "model_a": a,
            "model_b": b,
            "credit": 0.5 if a + b == "xy" else 1.0 if b == "z" else 0.0,
        }
        for k in range(30)
        for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    battles = podium.read_battles(pd.DataFrame(rows))
    [standings] = podium.rank(battles).standings
    listed = [check for check, *_ in checks_table(standings, battles, {}).rows]
    assert "first place" not in listed


@pytest.mark.slow
def test_the_page_lists_the_checks_that_the_answer_counts() -> None:
    """A clear lead has the check of the first place; a close one has none."""
    for skill in (3.0, 0.0):
        world = podium.simulate(3, 60, seed=2, strengths=[skill, 0.0, 0.0])
        battles = world.battles(podium.Judge())
        [standings] = podium.rank(battles).standings
        listed = [check for check, *_ in checks_table(standings, battles, {}).rows]
        assert sorted(listed) == sorted(check.name for check in standings.checks)
        assert ("first place" in listed) == (skill > 0)
