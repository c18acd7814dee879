"""No two commands contradict one another about small inputs of many kinds."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import command_facts
import pandas as pd
import pytest

Row = dict[str, Any]
NAMES = ("m0", "m1", "m2", "m3", "m4")


@dataclass(frozen=True)
class World:
    """Verdicts of a made-up judge on a round robin.

    Attributes:
        models: number of models.
        items: number of items.
        gap: Elo points between neighbouring models.
        lead: further Elo points of m0.
        orders: whose response is shown first: `ab`, `ba`, one of the two at random, or both.
        bias: log-odds that being shown first adds.
        lost: share of the battles that m0 lost whose replies are unparsed.
        seed: seed of the draws.
    """

    models: int = 3
    items: int = 40
    gap: float = 80
    lead: float = 0
    orders: str = "random"
    bias: float = 0.0
    lost: float = 0.0
    seed: int = 1

    def rows(self) -> list[Row]:
        draws = random.Random(self.seed)
        rows = []
        for item in range(self.items):
            for first in range(self.models):
                for second in range(first + 1, self.models):
                    rows += self._battle(draws, item, first, second)
        return rows

    def _battle(self, draws: random.Random, item: int, first: int, second: int) -> list[Row]:
        orders = ["ab", "ba"] if self.orders == "both" else [self.orders]
        if self.orders == "random":
            orders = [draws.choice(["ab", "ba"])]
        rows = []
        for order in orders:
            ahead = self.gap * (second - first) + self.lead * (first == 0)
            odds = 10 ** (ahead / 400)
            odds *= 2.718 ** (self.bias if order == "ab" else -self.bias)
            credit: float | None = float(draws.random() < odds / (1 + odds))
            if first == 0 and credit == 0 and draws.random() < self.lost:
                credit = None
            names = {"model_a": NAMES[first], "model_b": NAMES[second]}
            rows.append({"item": f"q{item}", **names, "credit": credit, "order": order})
        return rows


def verdicts(world: World) -> list[Row]:
    return [{**row, "judge": "J"} for row in world.rows()]


def wins(won: int, lost: int = 0) -> list[Row]:
    """Return battles of two models, an item each."""
    names = {"model_a": "m0", "model_b": "m1"}
    return [
        {"item": k, **names, "winner": "model_a" if k < won else "model_b"}
        for k in range(won + lost)
    ]


def ties(orders: str) -> list[Row]:
    return [{**row, "credit": 0.5} for row in verdicts(World(orders=orders))]


def with_lengths(effect: int, items: int) -> list[Row]:
    """Return verdicts in both orders; a winning response is longer by `effect` characters."""
    draws = random.Random(3)
    rows = []
    for row in verdicts(World(items=items, gap=0, orders="both")):
        for side, won in (("a", row["credit"] == 1), ("b", row["credit"] == 0)):
            row[f"length_{side}"] = 100 + draws.randrange(200) + effect * won
        rows.append(row)
    return rows


def unbeaten(name: str) -> list[Row]:
    """Return verdicts of which one model won, or lost, all."""
    credit = 1.0 if name == "m0" else 0.0
    side = "model_a" if name == "m0" else "model_b"
    return [
        {**row, "credit": 1 - credit if name != "m0" else credit} if row[side] == name else row
        for row in verdicts(World(gap=0))
    ]


def voters() -> list[Row]:
    draws = random.Random(5)
    return [
        {**row, "winner": draws.choice(["model_a", "model_a", "model_b", "tie"]), "voter": voter}
        for row in wins(40)
        for voter in ("v1", "v2")
    ]


def weighted() -> list[Row]:
    return [{**row, "weight": 5 if row["item"].endswith("0") else 1} for row in verdicts(World())]


def half_lost() -> list[Row]:
    return [
        {**row, "credit": None, "reason": "truncated"} if k % 2 else row
        for k, row in enumerate(verdicts(World()))
    ]


def failed_calls() -> list[Row]:
    """Return verdicts of which the calls about one pair often failed."""
    failed = {"credit": None, "reason": "failed: InternalServerError: 500"}
    return [
        {**row, **failed, "reply": "InternalServerError"} if k % 9 == 0 else row
        for k, row in enumerate(verdicts(World()))
    ]


def cycle() -> list[Row]:
    draws = random.Random(7)
    return [
        {"item": item, "model_a": a, "model_b": b, "credit": float(draws.random() < 0.85)}
        for item in range(50)
        for a, b in (("m0", "m1"), ("m1", "m2"), ("m2", "m0"))
    ]


def judged_by(judge: str, names: Sequence[str]) -> list[Row]:
    """Return verdicts in both orders of a judge on three models with given names."""
    renamed = dict(zip(NAMES, names, strict=False))
    return [
        {
            **row,
            "judge": judge,
            "model_a": renamed.get(row["model_a"], row["model_a"]),
            "model_b": renamed.get(row["model_b"], row["model_b"]),
        }
        for row in verdicts(World(orders="both"))
    ]


def scores(items: int, spread: float = 1.0) -> list[Row]:
    draws = random.Random(9)
    return [
        {"item": item, "model": name, "score": 0.2 * k + spread * draws.random()}
        for item in range(items)
        for k, name in enumerate(NAMES[:3])
    ]


def without_some_scores(*, blank: bool) -> list[Row]:
    """Return scores of which m0 lacks a third of those below its mean."""
    rows = []
    for k, row in enumerate(scores(60)):
        is_lost = row["model"] == "m0" and row["score"] < 0.5 and k % 3 == 0 and k % 2 == 0
        if is_lost and not blank:
            continue
        rows.append({**row, "score": None if is_lost else row["score"]})
    return rows


def without_lost_battles() -> list[Row]:
    """Return a round robin in which four in ten battles that m0 lost have no row."""
    rows = verdicts(World(models=4, items=60, gap=0))
    draws = random.Random(12)
    return [
        row for row in rows if row["model_a"] != "m0" or row["credit"] == 1 or draws.random() < 0.6
    ]


INPUTS: dict[str, Callable[[], Sequence[Row]]] = {
    "one order with a bias": lambda: verdicts(World(items=60, bias=1.5)),
    "one order without a bias": lambda: verdicts(World(items=60)),
    "one order, few items": lambda: verdicts(World(models=2, items=12)),
    "the better response always first": lambda: verdicts(World(gap=150, orders="ab")),
    "a model that never won": lambda: unbeaten("m2"),
    "both orders with a bias": lambda: verdicts(World(orders="both", bias=0.6)),
    "the order decides": lambda: verdicts(World(orders="both", bias=3)),
    "losses of one model": lambda: verdicts(World(models=5, items=80, gap=0, lost=0.5)),
    "losses of a strong model": lambda: verdicts(
        World(models=5, items=80, gap=0, lead=350, lost=0.5)
    ),
    "losses in both orders": lambda: verdicts(
        World(models=5, items=60, gap=0, orders="both", lost=0.4)
    ),
    "half of all replies lost": half_lost,
    "failed calls": failed_calls,
    "two voters": voters,
    "weights": weighted,
    "ties only": lambda: ties("random"),
    "ties only in both orders": lambda: ties("both"),
    "five items": lambda: verdicts(World(items=5)),
    "five wins of five": lambda: wins(5),
    "six wins of six": lambda: wins(6),
    "six wins of seven": lambda: wins(6, 1),
    "a model that never lost": lambda: unbeaten("m0"),
    "a cycle": cycle,
    "a judge that competes": lambda: judged_by("openai/m0", NAMES),
    "a judge of a model's family": lambda: judged_by("openai/gpt-4o", ["m0", "m1", "gpt-4"]),
    "longer responses win": lambda: with_lengths(400, 40),
    "lengths without an effect": lambda: with_lengths(0, 20),
    "scores": lambda: scores(40),
    "scores with blanks of one model": lambda: without_some_scores(blank=True),
    "scores without rows of one model": lambda: without_some_scores(blank=False),
    "lost battles without a row": without_lost_battles,
    "scores of five items": lambda: scores(5),
    "separate scores": lambda: scores(40, 0.01),
}
ALL = pytest.mark.parametrize("kind", INPUTS)


@cache
def folder_of(kind: str, place: Path) -> Path:
    """Write an input into a folder of its own; return the folder."""
    folder = place / kind.replace(" ", "-")
    folder.mkdir()
    pd.DataFrame(INPUTS[kind]()).to_csv(folder / "table.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inputs")


@pytest.mark.slow
@ALL
def test_a_check_has_one_result_in_all_commands(kind: str, place: Path) -> None:
    folder = folder_of(kind, place)
    results = command_facts.results_of_checks(folder, ("m0", "m1"), "table.csv")
    assert {*results} == {"rank", "report", "compare", "diagnose"}
    assert command_facts.contradictions(results) == {}


@pytest.mark.slow
@ALL
def test_the_table_and_the_page_say_what_the_json_says(kind: str, place: Path) -> None:
    folder = folder_of(kind, place)
    expected = command_facts.facts_of_json(folder, "table.csv")
    for shown in (
        command_facts.facts_of_table(folder, "table.csv"),
        command_facts.facts_of_page(folder, "table.csv"),
    ):
        assert shown.answer == expected.answer
        assert shown.order == expected.order
        assert shown.rank_sets == expected.rank_sets


@pytest.mark.parametrize("kind", ["one order with a bias", "losses of one model"])
def test_rank_compare_and_the_card_have_the_same_results(kind: str, place: Path) -> None:
    folder = folder_of(kind, place)
    name = "one-order" if kind.startswith("one") else "lost-replies"
    results = command_facts.results_of_checks(folder, ("m0", "m1"), "table.csv", page=False)
    assert [checks[name] for checks in results.values()] == ["flagged"] * 3


@pytest.mark.fast_cases(3)
@ALL
def test_who_is_clearly_ahead_in_rank_is_so_in_compare(kind: str, place: Path) -> None:
    folder = folder_of(kind, place)
    ranking = command_facts.facts_of_json(folder, "table.csv")
    comparison = command_facts.comparison_in_json(folder, "m0", "m1", "table.csv")
    side = command_facts.side_claimed(ranking, "m0", "m1")
    assert comparison.is_claimed or not side
    if side:
        assert comparison.difference * side > 0
    if "–" in (ranking.rank_sets["m0"], ranking.rank_sets["m1"]):
        assert not comparison.is_claimed


@pytest.mark.slow
def test_a_model_of_which_nothing_is_claimed_has_no_rank_set_anywhere(place: Path) -> None:
    folder = folder_of("losses of one model", place)
    shown = [
        command_facts.facts_of_json(folder, "table.csv"),
        command_facts.facts_of_table(folder, "table.csv"),
        command_facts.facts_of_page(folder, "table.csv"),
    ]
    for facts in shown:
        assert "Nothing is claimed about m0." in facts.answer
        assert facts.rank_sets["m0"] == "–"
    _, _, page = command_facts.read_page(folder, "table.csv")
    assert page.ranks == "Probabilities of ranks are left out: nothing is claimed about m0."


@pytest.mark.slow
def test_a_lead_that_lost_replies_do_not_explain_is_claimed_by_rank_and_compare(
    place: Path,
) -> None:
    folder = folder_of("losses of a strong model", place)
    ranking = command_facts.facts_of_json(folder, "table.csv")
    comparison = command_facts.comparison_in_json(folder, "m0", "m1", "table.csv")
    assert ranking.rank_sets["m0"] == "1"
    assert comparison.is_claimed
    for answer in (ranking.answer, comparison.answer):
        assert answer.startswith("m0 is clearly ahead")
        assert "of the battles of m0 are unparsed" in answer


@pytest.mark.slow
def test_a_page_gives_no_probability_of_ranks_below_eight_items(place: Path) -> None:
    folder = folder_of("five wins of five", place)
    _, _, page = command_facts.read_page(folder, "table.csv")
    assert page.ranks == "Probabilities of ranks are left out: there are fewer than 8 items."


@pytest.mark.slow
def test_the_first_place_is_not_checked_on_a_page_where_the_ranking_does_not(place: Path) -> None:
    folder = folder_of("longer responses win", place)
    results = command_facts.results_of_checks(folder, ("m0", "m1"), "table.csv")
    assert "first-place" not in results["rank"]
    assert "first-place" not in results["report"]


@pytest.mark.slow
def test_a_page_of_slices_gives_no_probability_of_ranks_over_all(place: Path) -> None:
    folder = folder_of("one order without a bias", place)
    _, _, page = command_facts.read_page(folder, "table.csv", "--by", "order")
    assert page.ranks == (
        "Probabilities of ranks are left out: the rankings are of parts of these battles."
    )
