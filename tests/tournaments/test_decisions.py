"""What a tournament says about decisions that contradict each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.data.pairings import Field, Round
from podium.tournaments.decisions import build_tournament_answer
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.stopping import Look, Progress

FIELD = Field(("a", "b", "c"), tuple(f"i{k}" for k in range(30)), {})


def look_with(settled: Sequence[Sequence[int]]) -> Look:
    """A look at three models, of strengths 0.2, 0.1 and 0, with these decisions."""
    pairs = ~np.eye(3, dtype=bool)
    return Look(
        theta=np.array([0.2, 0.1, 0.0]),
        covariance=np.eye(3),
        clusters=30,
        unit="item",
        is_bounded=np.ones(3, dtype=bool),
        check=None,
        number=1,
        planned=1,
        visits=30,
        battles=90,
        half_widths=np.ones(3),
        evidence=np.zeros((3, 3)),
        in_question=pairs,
        settled=np.array(settled),
        finished=pairs,
        critical=2.0,
    )


def decisions_of(settled: Sequence[Sequence[int]]) -> list[str]:
    """The sentences on the order of a tournament that ends with these decisions."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Decided(RoundRobin):
        """A round robin that has ended with the given decisions."""

        def progress_of(self, field: Field, played: Sequence[Round]) -> Progress:  # noqa: ARG002
            return Progress(field.items, (look_with(settled),), 30, 30, "answered", ())

    answer = build_tournament_answer(Decided(until="order"), FIELD, ())
    assert answer is not None
    return [sentence for sentence in answer.decisions if "order" in sentence]


def test_an_order_without_contradictions_claims_all_pairs() -> None:
    assert decisions_of([[0, 1, 1], [-1, 0, 1], [-1, -1, 0]]) == [
        "In this order no model is better than one before it: a, b, c (95%)."
    ]


def test_an_order_does_not_claim_the_pair_that_was_decided_against_it() -> None:
    # a over b, b over c, and c over a.
    assert decisions_of([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]) == [
        "In this order no model is better than one before it, except in 1 pair: a, b, c (95%).",
        "Against this order, a is not better than c (95%).",
    ]
