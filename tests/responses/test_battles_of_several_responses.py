"""Battles of items to which models gave several responses: how many are played and left out."""

from itertools import combinations

import pytest

from podium.data.pairings import NextRound, Pairing
from podium.responses.collection import Item, Responses, response_key

MODELS = ("ash", "elm", "fir")


def responses_of(numbers: dict[str, int], absent: frozenset[str]) -> Responses:
    """Return the responses of three models; `fir` has none to the items in `absent`."""
    items = tuple(Item(name, f"Do {name}.", responses=number) for name, number in numbers.items())
    texts: dict[str, dict[str, str]] = {model: {} for model in MODELS}
    missing: dict[str, dict[str, str]] = {model: {} for model in MODELS}
    for item in items:
        for number in range(1, item.responses + 1):
            for model in MODELS:
                key = response_key(item.id, number)
                if model == "fir" and item.id in absent:
                    missing[model][key] = "its log has status error"
                else:
                    texts[model][key] = f"{model} {key}"
    return Responses(items, texts, missing)


@pytest.mark.parametrize("absent", [frozenset({"one"}), frozenset({"two"}), frozenset[str]()])
def test_battles_are_counted_by_the_responses_to_their_own_items(absent: frozenset[str]) -> None:
    responses = responses_of({"one": 1, "two": 2, "three": 3}, absent)
    played = []
    left_out = 0
    for item in responses.items:
        for a, b in combinations(MODELS, 2):
            if "fir" in (a, b) and item.id in absent:
                left_out += 1
            else:
                played.append(Pairing(item.id, a, b))
    whole = responses.in_all_responses(NextRound(tuple(played), "", left_out))
    by_hand = sum(item.responses * (2 if item.id in absent else 0) for item in responses.items)
    assert whole.left_out == by_hand
    assert len(whole.pairings) == 3 * 6 - by_hand
    assert round(len(played) * responses.mean_number()) == len(whole.pairings)
