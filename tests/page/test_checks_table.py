"""What the page says of each check, passed ones too."""

import podium
from podium.page.checks_table import checks_table


def test_checks_table_counts_unparsed_replies_and_lost_battles() -> None:
    """A battle of which one order could not be read has lost one reply of two: the threshold is one of replies."""
    battles = podium.simulate(4, 100, seed=1).battles(podium.Judge(unparsed=0.02))
    [standings] = podium.rank(battles).standings
    found = {check: (verdict, stated) for check, verdict, stated in checks_table(standings, battles, {}).rows}
    counts, share = standings.counts, battles.counts().unparsed / 1200
    stated = f"{counts.unparsed} of 600 battles are unparsed ({counts.unparsed / 600:.1%}); {share:.1%} of the replies"
    assert counts.unparsed / 600 > 0.03 > share
    assert found["unparsed"] == ("fine", stated)
    assert found["fit"][1].startswith("the ratings explain all pairs")
