"""A jury of several judges: joined by item and pair, weighed by labels, ranked with its calibration."""

import numpy as np
import pytest

from podium import DataError, Judge, NotIdentifiedError, calibrate, rank, read_battles, simulate
from podium.rankers.calibration.jury import jury_battles
from podium.verbs.calibration_run import compare

JUDGES = (Judge("keen", noise=0.8), Judge("dull", noise=4.0))


def frame():
    return simulate(6, 20, seed=1, spread=0.8).judgments(*JUDGES, orders="ab", human=True)


def test_a_jury_has_one_battle_an_item_and_pair_with_a_margin_a_judge():
    table = jury_battles(read_battles(frame())).table.set_index(["item", "model_a", "model_b"])
    one_judge = frame().query("judge == 'keen'").set_index(["item", "model_a", "model_b"])
    assert len(table) == len(one_judge)
    assert table["margin_keen"].to_numpy() == pytest.approx(one_judge["margin"].loc[table.index].to_numpy())


def test_labels_weigh_the_keen_judge_more_and_the_jury_ranks_by_its_file():
    known = calibrate(read_battles(frame()), target="jury")
    assert known.target.weights["keen"] > 2 * known.target.weights["dull"] > 0
    found = rank(read_battles(frame()), "soft-elo", calibration=known, pool=True).standings[0]
    assert np.isfinite([entry.score for entry in found.entries]).all()


@pytest.mark.slow
def test_judges_stand_beside_their_jury():
    names = [(each.target.kind, each.judge) for each in compare(read_battles(frame()))]
    assert names == [("jury", "jury: dull, keen"), ("margin", "dull"), ("margin", "keen")]


def test_a_jury_needs_items_and_several_judges():
    with pytest.raises(DataError, match="a jury's verdicts are joined by item and pair"):
        jury_battles(read_battles(frame().drop(columns="item")))
    with pytest.raises(NotIdentifiedError, match="a jury needs several judges"):
        calibrate(read_battles(frame().query("judge == 'keen'")), target="jury")
