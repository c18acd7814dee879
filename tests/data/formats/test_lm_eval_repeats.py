"""Votes of lm-eval's filters over repeats: comparable only if they are of equally many."""

import json

import pytest
from lm_eval_output import TIME, scored, write_run

import podium

VOTE = [{"function": "majority_vote"}, {"function": "take_first"}]
FIRST_8 = [{"function": "take_first_k", "k": 8}, *VOTE]


def write_votes(folder, model, repeats, steps):
    """Write a run whose filter `maj` has these steps."""
    home = write_run(folder, model, {"t": scored([1.0, 0.0, 1.0], filter_="maj")})
    path = home / f"results_{TIME}.json"
    content = json.loads(path.read_text())
    content["configs"]["t"] |= {
        "repeats": repeats,
        "filter_list": [{"name": "maj", "filter": steps}],
    }
    path.write_text(json.dumps(content))


def test_votes_over_different_numbers_of_repeats_are_an_error(tmp_path):
    write_votes(tmp_path, "org/a", 8, VOTE)
    write_votes(tmp_path, "org/b", 64, VOTE)
    with pytest.raises(
        podium.DataError, match="different numbers of repeats: org/a 8, org/b 64"
    ) as raised:
        podium.read_battles(tmp_path)
    assert "allow='epochs'" in str(raised.value)


@pytest.mark.slow
def test_allowed_votes_over_different_numbers_of_repeats_are_said_in_the_answer(tmp_path):
    write_votes(tmp_path, "org/a", 8, VOTE)
    write_votes(tmp_path, "org/b", 64, VOTE)
    battles = podium.read_battles(tmp_path, allow="epochs")
    said = (
        "Accepted with allow='epochs': acc,maj of t is of a majority vote over different numbers "
        "of repeats"
    )
    assert said in " ".join(podium.rank(battles).standings[0].answer)
    assert said in " ".join(podium.compare("a", "b", tmp_path, allow="epochs").answer)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((64, FIRST_8), (8, VOTE)),
        ((64, FIRST_8), (32, FIRST_8)),
        ((1, [{"function": "take_first"}]), (8, VOTE[1:])),
    ],
)
def test_other_filters_and_equal_numbers_of_votes_are_compared(tmp_path, first, second):
    write_votes(tmp_path, "org/a", *first)
    write_votes(tmp_path, "org/b", *second)
    assert len(podium.read_battles(tmp_path)) == 3
