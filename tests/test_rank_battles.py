"""Ranking from Python: what happens without a word about it, and who gets which option."""

import re
from importlib import import_module

import pytest

from podium import UsageError, rank, rank_battles, simulate
from podium.plugins.settings import deal_options, ranker_options


def test_without_a_ranker_battles_are_rated_by_bradley_terry() -> None:
    battles = simulate(entrants=3, items=30, seed=2).battles()
    assert rank(battles).to_json() == rank(battles, "bradley-terry").to_json()


def test_a_named_option_overrides_a_general_one_and_strangers_are_left() -> None:
    known = {"swim": {"items", "seed"}, "anchor": {"items"}}
    dealt, rest = deal_options({"swim.items": 3, "items": 5, "labels": "human", "chain.items": 1}, known)
    assert dealt == {"swim": {"items": 3}, "anchor": {"items": 5}}
    assert rest == {"labels": "human", "chain.items": 1}


def test_an_option_of_a_ranker_that_is_not_asked_is_refused() -> None:
    with pytest.raises(UsageError, match="ranker in this call"):
        ranker_options(["bradley-terry"], {"win-rate.anchor": "wren"})


def test_the_way_of_the_battles_names_at_most_ten_calls_that_there_are() -> None:
    calls = re.findall(r"`(podium[\w.]*):(\w+)`", rank_battles.__doc__ or "")
    assert 0 < len(calls) <= 10
    assert all(hasattr(import_module(module), name) for module, name in calls)
