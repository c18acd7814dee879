"""The samples of a tournament: battles, packs and announced rounds, and what their ends say."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from podium.hosts.inspect_ai.log_contents import (
    BATTLES,
    FIRST,
    LEFT_OUT,
    NAMESPACE,
    REPLACED,
    RESPONSE,
    RESPONSES,
    ROUND,
    as_rows,
    credit_of,
    response_fields,
)
from podium.hosts.inspect_ai.media import input_of
from podium.responses.collection import Responses, response_key
from podium.text import some
from podium.tournaments.schedule import NextRound, Outcome, Pairing


class SampleBuilder:
    """Makes the samples of a round's pairings, with everything that the judge is shown: one per battle, or packs.

    A pack holds all battles of an item and a round, for tournaments of more than some thousands.
    """

    def __init__(self, responses: Responses) -> None:
        self.responses = responses
        self.items = responses.by_id()
        self.short_names = names_without_provider(responses.models)

    def build_battle_samples(self, pairings: Sequence[Pairing], number: int) -> list[Sample]:
        """Return a sample per battle of the round of this number, from 1."""
        samples = []
        for pairing in filter(self.responses.has_both, pairings):
            sides, short = (pairing.a, pairing.b), self.short_names
            # Inspect's lists show the id.
            named = pairing._replace(a=short[pairing.a], b=short[pairing.b], first=short.get(pairing.first or ""))
            own = {"model_a": pairing.a, "model_b": pairing.b, **_shown_first(pairing), "round": number}
            texts = response_fields(*(self._text(name, pairing) for name in sides))
            samples.append(self._sample(pairing, named.key, own, texts))
        return samples

    def build_packs(self, pairings: Sequence[Pairing], number: int) -> list[Sample]:
        """Return a sample per item, in which each model's response stands once; of several responses one each."""
        by_item: dict[tuple[str, int], list[Pairing]] = {}
        for pairing in filter(self.responses.has_both, pairings):
            by_item.setdefault((pairing.item, pairing.response), []).append(pairing)
        samples = []
        for (item, response), battles in by_item.items():
            names = sorted({name for battle in battles for name in (battle.a, battle.b)})
            texts = {name: self._text(name, battles[0]) for name in names}
            pairs = [[battle.a, battle.b, *_shown_first(battle).values()] for battle in battles]
            responses = {BATTLES: pairs, RESPONSES: texts}
            sample_id = f"{item}::round {number}" + (f"::response {response}" if response > 1 else "")
            samples.append(self._sample(battles[0], sample_id, {"round": number}, responses))
        return samples

    def _text(self, name: str, pairing: Pairing) -> str:
        return self.responses.texts[name][response_key(pairing.item, pairing.response)]

    def _sample(self, battle: Pairing, sample_id: str, own: dict[str, Any], responses: dict[str, Any]) -> Sample:
        item = self.items[battle.item]
        number = {RESPONSE: battle.response} if item.responses > 1 else {}
        shown = {field: getattr(item, field) for field in ("instruction", "category", "reference", "system")}
        asked = {field: text for field, text in shown.items() if text is not None}
        metadata = {"item": battle.item, **number, **own, **asked, **responses}
        return Sample(
            id=sample_id, input=input_of(item.instruction, item.media), target=item.reference or "", metadata=metadata
        )


def names_without_provider(names: Iterable[str]) -> dict[str, str]:
    """Return each name's last part, where no other name ends in the same; else the whole name.

    >>> names_without_provider(["openai/gpt-5", "azure/gpt-5", "vllm/me/small"])
    {'openai/gpt-5': 'openai/gpt-5', 'azure/gpt-5': 'azure/gpt-5', 'vllm/me/small': 'small'}
    """
    last = {name: name.rpartition("/")[2] for name in names}
    common = Counter([*last.values(), *last])
    return {name: short if common[short] == 1 + (short == name) else name for name, short in last.items()}


def missing_text(responses: Responses) -> str:
    """Say whose responses are missing, and why: those battles are not played; nothing where none are."""
    reasons = responses.missing_reasons()
    return some(
        [f"{name} ({', '.join(f'{why}: {n}' for why, n in own.items())})" for name, own in reasons.items()], "; "
    )


def _shown_first(pairing: Pairing) -> dict[str, str]:
    """Return whose response is shown first, as samples say it; nothing where the run's orders decide."""
    return {} if pairing.first is None else {FIRST: pairing.first}


def outcomes_of(sample: EvalSample) -> tuple[Outcome, ...]:
    """Return how the battles of a sample ended; nothing where it failed."""
    if sample.error is not None or not sample.scores:
        return ()
    score = next(iter(sample.scores.values()))
    kept = (score.metadata or {}).get(NAMESPACE, {})
    verdicts = [{**sample.metadata, "credit": credit_of(score), "margin": kept.get("margin")}]
    if BATTLES in sample.metadata:
        verdicts = as_rows(kept[BATTLES]) if BATTLES in kept else []
    return tuple(
        Outcome(
            Pairing(
                verdict["item"], verdict["model_a"], verdict["model_b"], verdict.get(RESPONSE) or 1, verdict.get(FIRST)
            ),
            verdict["credit"],
            None if verdict["credit"] is None else verdict["margin"],
        )
        for verdict in verdicts
    )


def announcement(upcoming: NextRound, number: int, again: int = 0, replaced: NextRound | None = None) -> Sample:
    """Return the sample that records what a round schedules.

    Args:
        number: of the round.
        again: how often it was scheduled anew, and what was `replaced`, because models did not answer.
    """
    pairings = []
    for own in upcoming.pairings:
        # What stands behind the names only where it says something.
        response = [own.response] if own.response > 1 or own.first is not None else []
        pairings.append([own.item, own.a, own.b, *response, *([] if own.first is None else [own.first])])
    note = upcoming.note or f"{len(pairings)} battles"
    metadata: dict[str, Any] = {ROUND: pairings, "note": note, LEFT_OUT: upcoming.left_out}
    if replaced:
        note = metadata["note"] = f"{note}, without the answers that failed"
        metadata[REPLACED] = [len(replaced.pairings), replaced.left_out]
    return Sample(id=round_id(number, again), input=f"Round {number}: {note}", metadata=metadata)


def round_id(number: int, again: int = 0) -> str:
    """Return the id of the sample that announces a round."""
    return f"round {number:03d}" + (f" again {again}" if again else "")


def schedule_in(announced: Mapping[str, Any]) -> NextRound:
    pairings = tuple(Pairing(*names) for names in announced[ROUND])
    return NextRound(pairings, str(announced.get("note", "")), int(announced.get(LEFT_OUT, 0)))
