"""SWIM: Algorithm 1 to the letter, and newcomers to an existing ranking."""

from collections import Counter
from itertools import combinations
from math import ceil, log2

import numpy as np
import pytest
from playing import Judge, battles, field_of, hard, pairs, play, soft
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from podium import UsageError
from podium.data.pairings import Field, Outcome, Pairing, Round, pairing
from podium.tournaments.between_rounds import matchups_in, strengths_of_matchups
from podium.tournaments.swim import Swim, opponent_count

Rows = list[tuple[str, str, float]]


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize(("models", "met"), [(2, 1), (3, 2), (7, 12), (20, 65)])
def test_the_number_of_pairs_is_that_of_the_paper(models: int, met: int) -> None:
    rounds = play(Swim(), field_of(models, 3))
    assert (len(pairs(rounds)), len(rounds), len(battles(rounds))) == (met, met, 3 * met)


def test_the_number_of_opponents_is_the_papers_formula() -> None:
    assert [opponent_count(s) for s in range(1, 1000)] == [
        ceil(max(log2(s), 1)) for s in range(1, 1000)
    ]


def coefficients(rows: Rows, names: list[str]) -> dict[str, float]:
    """Fit battle by battle with a general optimiser: log-likelihood minus 0.01 / 2 times the sum of
    squares."""
    code = {name: k for k, name in enumerate(names)}
    a, b = (np.array([code[row[k]] for row in rows]) for k in (0, 1))
    credit = np.array([row[2] for row in rows])

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        gap = theta[a] - theta[b]
        fit = (
            np.sum(credit * log_expit(gap) + (1 - credit) * log_expit(-gap)) - 0.005 * theta @ theta
        )
        surplus = credit - expit(gap)
        size = len(names)
        return -fit, -(np.bincount(a, surplus, size) - np.bincount(b, surplus, size) - 0.01 * theta)

    found = minimize(loss, np.zeros(len(names)), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    return dict(zip(names, found, strict=True))


def algorithm_1_transcription(
    order: list[str], first: dict[str, str], items: tuple[str, ...], judge: Judge
) -> list[tuple[str, str]]:
    """Algorithm 1 line by line; chance is given: the order of joining, and each one's first
    opponent."""

    def judged(p: str, x: str) -> Rows:
        return [(one.a, one.b, judge(one)) for one in (pairing(item, p, x) for item in items)]  # type: ignore[misc]

    ranked, played, rows = [order[0]], [], []
    for p in order[1:]:
        s = len(ranked)
        c = ceil(max(log2(s), 1))
        x = first[p]
        others = [name for name in ranked if name != x]
        rows += judged(p, x)
        played.append((p, x))
        beta = coefficients(rows, [*ranked, p])
        for _ in range(1, c):
            o = min(others, key=lambda name: abs(beta[name] - beta[p]))
            others.remove(o)
            rows += judged(p, o)
            played.append((p, o))
            beta = coefficients(rows, [*ranked, p])
        ranked.append(p)
    return played


def who_met(rounds: list[Round], order: list[str]) -> list[tuple[str, str]]:
    """Return each round as (new model, its opponents)."""
    return [tuple(sorted(pair, key=order.index, reverse=True)) for pair in pairs(rounds)]  # type: ignore[misc]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("judge", [soft, hard])
@pytest.mark.parametrize("seed", range(4))
def test_opponents_are_those_of_a_transcription_of_algorithm_1(judge: Judge, seed: int) -> None:
    field = field_of(11, 15)
    order = [field.models[k] for k in np.random.default_rng(seed).permutation(11)]
    found = who_met(play(Swim(seed=seed, order=order), field, judge), order)
    first = dict(reversed(found))
    assert found == algorithm_1_transcription(order, first, field.items, judge)


def test_the_order_of_joining_is_random_and_seeded() -> None:
    orders = [tuple(pairs(play(Swim(seed=seed), field_of(7, 1)))) for seed in (0, 1, 2, 0)]
    assert (len(set(orders)), orders[0] == orders[3]) == (3, True)


@pytest.mark.slow
def test_first_opponents_are_drawn_evenly_from_those_who_joined_before() -> None:
    """The last of six to join has five possible first opponents; bounds are five standard
    deviations of 1,000 draws."""
    field, order = field_of(6, 1), [f"m{k:02d}" for k in range(6)]
    first = Counter()
    for seed in range(1000):
        rounds = play(Swim(seed=seed, order=order), field, lambda _: 0.5)
        first[next(x for p, x in who_met(rounds, order) if p == "m05")] += 1
    assert (
        len(first),
        max(abs(number - 200) for number in first.values()) < 5 * np.sqrt(1000 * 0.2 * 0.8),
    ) == (
        5,
        True,
    )


def test_all_items_are_played_each_time() -> None:
    field = field_of(5, 9)
    assert all(
        {one.pairing.item for one in done.outcomes} == set(field.items)
        for done in play(Swim(), field)
    )


def test_ratings_between_the_rounds_are_those_of_a_general_optimiser() -> None:
    rounds = play(Swim(), field_of(9, 12))
    rows = [(one.pairing.a, one.pairing.b, one.credit) for done in rounds for one in done.outcomes]
    names = list(field_of(9, 1).models)
    found = strengths_of_matchups(matchups_in(rounds), names)
    assert found == pytest.approx(coefficients(rows, names), abs=1e-5)  # type: ignore[arg-type]


def test_unparsed_battles_count_as_played_and_leave_strengths_unchanged() -> None:
    rounds = play(Swim(), field_of(7, 3), lambda _: None)
    assert len(pairs(rounds)) == 12
    assert strengths_of_matchups(matchups_in(rounds), ["m00", "m01"]) == {"m00": 0.0, "m01": 0.0}


def test_recorded_opponents_are_not_recomputed() -> None:
    """Reversing all earlier verdicts changes the next opponents, never the earlier ones."""
    field = field_of(9, 10)
    rounds = play(Swim(), field)
    turned = [
        Round(tuple(one._replace(credit=1 - one.credit) for one in done.outcomes))
        for done in rounds
    ]  # type: ignore[operator]
    assert Swim().next(field, turned).pairings == ()
    for k in range(len(rounds)):
        joins = (
            who_joins(Swim().next(field, rounds[:k]).note),
            who_joins(Swim().next(field, turned[:k]).note),
        )
        assert joins[0] == joins[1]


def who_joins(note: str) -> str:
    return note.split(":")[0] + note.split(":")[1].split(",")[0]


@pytest.mark.parametrize(
    ("ranked", "cost"), [(1, 1), (2, 1), (4, 2), (7, 3), (8, 3), (9, 4), (20, 5)]
)
def test_a_newcomer_to_a_ranking_of_m_costs_the_papers_number_of_opponents(
    ranked: int, cost: int
) -> None:
    field = field_of(ranked + 1, 4)
    old = field.models[:ranked]
    met = [Pairing(item, a, b) for item in field.items for a, b in combinations(old, 2)]
    before = Round(tuple(Outcome(one, soft(one)) for one in met))
    earlier = [before] if before.outcomes else []
    rounds = continued(Swim(rated=old), field, earlier)
    newcomer = field.models[-1]
    assert (len(rounds), all(newcomer in pair for pair in pairs(rounds))) == (cost, True)
    assert Swim(rated=old).size(field) == cost * 4


def continued(tournament: Swim, field: Field, earlier: list[Round]) -> list[Round]:
    """Play on from earlier rounds; return the new ones."""
    rounds = list(earlier)
    while coming := tournament.next(field, rounds).pairings:
        rounds.append(Round(tuple(Outcome(one, soft(one)) for one in coming)))
    return rounds[len(earlier) :]


def test_newcomers_get_the_opponents_of_a_model_that_joined_last() -> None:
    field, old = field_of(9, 10), [f"m{k:02d}" for k in range(6)]
    new = ["m08", "m06", "m07"]
    whole = play(Swim(order=[*old, *new]), field)
    before = whole[: sum(opponent_count(s) for s in range(1, 6))]
    assert continued(Swim(rated=old, order=new), field, before) == whole[len(before) :]


def test_newcomers_are_placed_on_given_ratings() -> None:
    """m08 is far above all but m07: after a random opponent it meets its neighbours from the
    top."""
    field = field_of(9, 40)
    elo = {f"m{k:02d}": 1500 + 90 * k for k in range(8)}
    rounds = continued(Swim(ratings=elo), field, [])
    met = [x for _, x in who_met(rounds, list(field.models))]
    assert (len(met), set(met[1:]) <= {"m05", "m06", "m07"}) == (3, True)


def test_ratings_can_be_typed() -> None:
    field = field_of(5, 6)
    typed, listed, given = (
        Swim(ratings="m00:1500,m01:1600.5, m02:1400"),
        Swim(ratings=["m00:1500", "m01:1600.5", "m02:1400"]),
        Swim(ratings={"m00": 1500, "m01": 1600.5, "m02": 1400}),
    )
    assert (
        continued(typed, field, []) == continued(listed, field, []) == continued(given, field, [])
    )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"order": "m00,m01"}, "name each of these once: m00, m01, m02, m03"),
        ({"order": "m00,m01,m02,m9"}, "no model called 'm9'"),
        ({"rated": "m00,m01,m02"}, "rated=m00, m01, m02: no readable battle with others"),
        ({"rated": "x"}, "no model called 'x'"),
        ({"ratings": "m00:high"}, "write NAME:1500"),
        ({"ratings": "y:1500"}, "no model called 'y'"),
    ],
)
def test_impossible_options_are_rejected_with_a_remedy(
    options: dict[str, str], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        Swim(**options).next(field_of(4, 3), ())  # type: ignore[arg-type]


def test_a_pair_without_a_common_item_is_not_scheduled() -> None:
    absent = {"q00": frozenset({"m00"}), "q01": frozenset({"m01"})}
    assert ("m00", "m01") not in pairs(play(Swim(), field_of(5, 2, absent)))


def test_models_without_possible_opponents_are_skipped() -> None:
    absent = {item: frozenset({"m02"}) for item in ("q00", "q01", "q02")}
    found = pairs(play(Swim(), field_of(6, 3, absent)))
    assert {name for pair in found for name in pair} == {"m00", "m01", "m03", "m04", "m05"}
