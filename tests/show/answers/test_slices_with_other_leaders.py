"""The answer about slices says whether the same models lead in them."""

import pandas as pd

import podium


def test_a_leader_of_one_slice_alone_is_not_said_to_lead_in_one_of_two():
    rows = []
    for slice_of_items, leader in (("easy", "ash"), ("hard", "elm")):
        for k in range(40):
            for a, b in (("ash", "elm"), ("ash", "fir"), ("elm", "fir")):
                credit = 1.0 if a == leader or (a == "elm" and k % 2) else 0.0
                item = f"{slice_of_items} {k}"
                rows.append(
                    {
                        "item": item,
                        "model_a": a,
                        "model_b": b,
                        "credit": credit,
                        "category": slice_of_items,
                    }
                )
    battles = podium.read_battles(pd.DataFrame(rows))
    answer = " ".join(podium.rank(battles, by="category").standings[0].answer)
    assert "In the other slice, other models lead." in answer
    assert "1 of 2 slices" not in answer
