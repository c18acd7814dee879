"""The samples of a tournament: what stands in them, and how their battles ended."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from podium.hosts.inspect_ai.log_format import BATTLES, NAMESPACE, RESPONSES, as_rows, credit_of, response_fields
from podium.responses.collection import Responses
from podium.tournaments.schedule import Outcome, Pairing


class Deck:
    """Makes samples, with everything that the judge is shown: one per battle, or packs.

    A pack holds all battles of an item and a round, for tournaments of more than some thousands.
    """

    def __init__(self, responses: Responses) -> None:
        self.texts = responses.texts
        self.items = responses.by_id()

    def deal_battles(self, pairings: Sequence[Pairing], number: int) -> list[Sample]:
        """Return a sample per battle.

        Args:
            number: of the round, from 1.
        """
        return [self._battle(pairing, number) for pairing in pairings]

    def deal_packs(self, pairings: Sequence[Pairing], number: int) -> list[Sample]:
        """Return a sample per item, in which each response stands once."""
        by_item: dict[str, list[Pairing]] = {}
        for pairing in pairings:
            by_item.setdefault(pairing.item, []).append(pairing)
        return [self._pack(item, battles, number) for item, battles in by_item.items()]

    def _battle(self, pairing: Pairing, number: int) -> Sample:
        texts = (self.texts[name][pairing.item] for name in (pairing.a, pairing.b))
        own = {"item": pairing.item, "model_a": pairing.a, "model_b": pairing.b, "round": number}
        return self._sample(pairing.item, pairing.key, own, response_fields(*texts))

    def _pack(self, item: str, pairings: Sequence[Pairing], number: int) -> Sample:
        names = sorted({name for pairing in pairings for name in (pairing.a, pairing.b)})
        battles = [[pairing.a, pairing.b] for pairing in pairings]
        texts = {name: self.texts[name][item] for name in names}
        return self._sample(
            item, f"{item}::round {number}", {"item": item, "round": number}, {BATTLES: battles, RESPONSES: texts}
        )

    def _sample(self, name: str, sample_id: str, own: dict[str, Any], responses: dict[str, Any]) -> Sample:
        item = self.items[name]
        shown = {field: getattr(item, field) for field in ("instruction", "category", "reference", "system")}
        asked = {field: text for field, text in shown.items() if text is not None}
        metadata = {**own, **asked, **responses}
        return Sample(id=sample_id, input=item.instruction, target=item.reference or "", metadata=metadata)


def outcomes_of(sample: EvalSample) -> tuple[Outcome, ...]:
    """Return how the battles of a sample ended; nothing where it failed."""
    if sample.error is not None or not sample.scores:
        return ()
    score = next(iter(sample.scores.values()))
    kept = (score.metadata or {}).get(NAMESPACE, {})
    if BATTLES in sample.metadata:
        verdicts = as_rows(kept[BATTLES]) if BATTLES in kept else []
    else:
        verdicts = [{**sample.metadata, "credit": credit_of(score), "margin": kept.get("margin")}]
    return tuple(_outcome(verdict) for verdict in verdicts)


def _outcome(verdict: dict[str, Any]) -> Outcome:
    credit = verdict["credit"]
    pairing = Pairing(verdict["item"], verdict["model_a"], verdict["model_b"])
    return Outcome(pairing, credit, None if credit is None else verdict["margin"])
