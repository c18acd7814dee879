"""Build the samples of a tournament (battles, packs, announced rounds), and read their outcomes.

A pack is a sample with all battles on an item. A round is announced by a sample that records its
battles, so that a retry plays the same ones.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from podium.data.pairings import NextRound, Outcome, Pairing, PairingsByItem
from podium.hosts.inspect_ai.inspect_ai_compatibility import kept_in_store
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import (
    AGAIN,
    BattleMetadata,
    BattleReplies,
    EarlierReplies,
    PackMetadata,
    PackVerdicts,
    PortionMetadata,
    RoundMetadata,
    SampleReplies,
    credit_in,
    parse_sample,
    was_judge_asked,
)
from podium.hosts.inspect_ai.media import input_of
from podium.names import names_without_provider
from podium.responses.collection import Responses, response_key
from podium.tournaments.judge_rotation import JudgeRotation
from podium.wording import plural, some


class SampleBuilder:
    """Builds the samples of a round: one per battle, or one per item (a pack).

    Args:
        responses: the responses; the attribute is replaced when models have answered.
        items_with_transcripts: the ids of the items whose responses are shown as transcripts.
        rotation: assigns judges to battles; None if all judges judge every battle.
    """

    def __init__(
        self,
        responses: Responses,
        items_with_transcripts: Collection[str],
        rotation: JudgeRotation | None = None,
    ) -> None:
        self.responses = responses
        self.items_with_transcripts = items_with_transcripts
        self.rotation = rotation
        self.items = {item.id: item for item in responses.items}
        self.short_names = names_without_provider(responses.models)

    def build_battle_samples(self, pairings: Sequence[Pairing], number: int) -> list[Sample]:
        """Return a sample per battle of round `number`, counted from 1.

        Battles without the texts of both responses are left out. If judges take turns, the battles
        are assigned to them, which changes `rotation` in place.
        """
        return [planned.build() for planned in self.plan_battle_samples(pairings, number)]

    def plan_battle_samples(
        self, pairings: Sequence[Pairing], number: int
    ) -> "Iterable[PlannedSample]":
        """Return the samples of `build_battle_samples`, each built when it is needed.

        The battles are assigned to judges now. The result may be iterated over several times.
        """
        if self.rotation:
            self.rotation.assign(pairings)
        return PlannedSamples(lambda: self._plan_battles(pairings, number))

    def _plan_battles(self, pairings: Sequence[Pairing], number: int) -> Iterator["PlannedSample"]:
        """Yield a planned sample per battle, as `build_battle_samples` builds them.

        Battles without the texts of both responses are left out. All battles must have been
        assigned to judges before.
        """
        short = self.short_names
        for pairing, judges in self._with_judges(pairings):
            # Ids have short names, because Inspect shows them in lists.
            first = None if pairing.first is None else short.get(pairing.first)
            short_pairing = pairing._replace(a=short[pairing.a], b=short[pairing.b], first=first)
            build = partial(self._build_battle, short_pairing.key, pairing, judges, number)
            yield PlannedSample(short_pairing.key, build)

    def _build_battle(
        self, sample_id: str, pairing: Pairing, judges: Sequence[str], number: int
    ) -> Sample:
        """Return the sample of a battle.

        Args:
            sample_id: id of the sample.
            pairing: the battle.
            judges: names of the judges whose turn it is; empty if all judges judge it.
            number: number of the round, from 1.
        """
        about = self._about_item(pairing.item, pairing.response, judges)
        about |= {"model_a": pairing.a, "model_b": pairing.b, "round": number}
        if pairing.first is not None:
            about["first"] = pairing.first
        about["response_a"] = self._text_of(pairing.a, pairing.item, pairing.response)
        about["response_b"] = self._text_of(pairing.b, pairing.item, pairing.response)
        return self._build_sample(sample_id, pairing.item, BattleMetadata(**about).to_log())

    def plan_packs(
        self, pairings: Sequence[Pairing], number: int, most: int | None = None
    ) -> "Iterable[PlannedSample]":
        """Plan a pack per item, number of the response, and judges.

        A pack holds each response only once. Battles without the texts of both responses are left
        out. A pack is built when it is needed; the battles are assigned to judges now.

        Args:
            pairings: the battles.
            number: number of the round, from 1.
            most: packs with more battles are divided; None for no limit.
        """
        if isinstance(pairings, PairingsByItem) and not self.rotation:
            packs = self._packs_of_pairs(pairings)
        else:
            packs = {}
            if self.rotation:
                self.rotation.assign(pairings)
            for pairing, judges in self._with_judges(pairings):
                key = (pairing.item, pairing.response, judges)
                packs.setdefault(key, []).append(_names_in_pack(pairing))
        planned = []
        for key, battles, part in _split_packs(packs, most):
            sample_id = self._pack_id(key, number, part)
            build = partial(self._build_pack, sample_id, key, battles, number)
            planned.append(PlannedSample(sample_id, build))
        return planned

    def _packs_of_pairs(self, pairings: PairingsByItem) -> "dict[PackKey, list[list[str]]]":
        """Return the battles of each item whose responses both have a text, by key of the pack.

        A battle is a list of both models. Items without such a battle are left out. Items with the
        same battles share one list.
        """
        shared: dict[int, list[list[str]]] = {}
        packs: dict[PackKey, list[list[str]]] = {}
        for item, pairs in pairings.pairs.items():
            if id(pairs) not in shared:
                shared[id(pairs)] = [*map(list, pairs)]
            battles = shared[id(pairs)]
            key = response_key(item, 1)
            texts = self.responses.texts
            models_without_text = {name for name in self.responses.models if key not in texts[name]}
            if models_without_text:
                battles = [battle for battle in battles if models_without_text.isdisjoint(battle)]
            if battles:
                packs[item, 1, ()] = battles
        return packs

    def _pack_id(self, key: "PackKey", number: int, part: int) -> str:
        """Return the id of a part of a pack in round `number`, both counted from 1.

        For example: `q7::round 2::response 2::judge 1::part 3`. The first response and the first
        part are not named, nor are judges that do not take turns.
        """
        item, response, judges = key
        sample_id = f"{item}::round {number}"
        if response > 1:
            sample_id += f"::response {response}"
        if self.rotation and len(judges) > 1:
            sample_id += "::all judges"
        elif self.rotation:
            sample_id += f"::judge {self.rotation.judges.index(judges[0]) + 1}"
        return f"{sample_id}::part {part}" if part > 1 else sample_id

    def _build_pack(
        self, sample_id: str, key: "PackKey", battles: list[list[str]], number: int
    ) -> Sample:
        """Return the sample of a pack in round `number`.

        Args:
            sample_id: its id.
            key: item, number of the response, and judges.
            battles: the battles as a pack records them; at least one.
            number: number of the round, from 1.
        """
        item, response, judges = key
        about = self._about_item(item, response, judges)
        names = sorted({name for a, b, *_ in battles for name in (a, b)})
        texts = {name: self._text_of(name, item, response) for name in names}
        metadata = PackMetadata(**about, round=number, battles=[], responses=texts).to_log()
        # The battles are set now, so that they are neither validated nor copied.
        metadata["battles"] = battles
        return self._build_sample(sample_id, item, metadata)

    def _with_judges(
        self, pairings: Iterable[Pairing]
    ) -> Iterator[tuple[Pairing, tuple[str, ...]]]:
        """Yield the pairings whose responses both have a text, with the judges whose turn it is.

        The names of judges are empty if all judges judge every battle. All pairings must have been
        assigned to judges before.
        """
        for pairing in filter(self.responses.has_both, pairings):
            judges = self.rotation.judges_of(pairing) if self.rotation else ()
            yield pairing, judges

    def _text_of(self, name: str, item: str, response: int) -> str:
        """Return the text of a model's response to an item that the judge is shown.

        Args:
            name: the model.
            item: the item.
            response: number of the response, from 1.
        """
        return self.responses.shown_text(
            name,
            response_key(item, response),
            as_transcript=(item in self.items_with_transcripts),
        )

    def _about_item(self, item_id: str, response: int, judges: Sequence[str]) -> dict[str, Any]:
        """Return the metadata that battles on an item share, by name of the field.

        Fields that are None or have their usual value (one response, no transcript, all judges) are
        left out.
        """
        item = self.items[item_id]
        about: dict[str, Any] = {"item": item.id}
        if item.responses > 1:
            about["response"] = response
        if item.id in self.items_with_transcripts:
            about["transcript"] = True
        if judges:
            about["judges"] = list(judges)
        for field in ("instruction", "category", "group", "reference", "system"):
            text = getattr(item, field)
            if text is not None:
                about[field] = text
        return about

    def _build_sample(self, sample_id: str, item_id: str, metadata: dict[str, Any]) -> Sample:
        """Return the sample of a battle or pack; its input is the item's instruction and media."""
        item = self.items[item_id]
        prompt_of_model = input_of(item.instruction, item.media)
        return Sample(
            id=sample_id, input=prompt_of_model, target=item.reference or "", metadata=metadata
        )


class PlannedSample(NamedTuple):
    """A sample that is built when it is needed.

    Attributes:
        id: its id.
        build: builds it.
    """

    id: str
    build: Callable[[], Sample]


@dataclass(frozen=True, slots=True)
class PlannedSamples:
    """Planned samples that are planned anew whenever they are iterated over.

    A round of many battles takes no memory for them.

    Attributes:
        plan: yields them.
    """

    plan: Callable[[], Iterator[PlannedSample]]

    def __iter__(self) -> Iterator[PlannedSample]:
        return self.plan()


def plan_built(samples: Iterable[Sample]) -> list[PlannedSample]:
    """Return samples that are built already as planned samples, in the same order."""
    return [PlannedSample(str(sample.id), partial(_as_built, sample)) for sample in samples]


def _as_built(sample: Sample) -> Sample:
    """Return a sample unchanged, as the function that builds a planned sample."""
    return sample


PackKey = tuple[str, int, tuple[str, ...]]
"""Identifies a pack: item, number of the response, and judges."""


def _names_in_pack(battle: Pairing) -> list[str]:
    """Return a battle as a pack records it: both models, and the one shown first if it is set."""
    if battle.first is None:
        return [battle.a, battle.b]
    return [battle.a, battle.b, battle.first]


def _split_packs(
    packs: Mapping[PackKey, list[list[str]]], most: int | None
) -> Iterator[tuple[PackKey, list[list[str]], int]]:
    """Divide packs into parts of at most `most` battles; do not divide them if `most` is None.

    Yields:
        Key, battles and number of each part. The parts of a pack are numbered from 1.
    """
    for key, battles in packs.items():
        size = most or len(battles)
        if len(battles) <= size:
            yield key, battles, 1
            continue
        for part, start in enumerate(range(0, len(battles), size), start=1):
            yield key, battles[start : start + size], part


def build_repeat(sample: Sample, failed: EarlierReplies) -> Sample:
    """Return the sample that repeats the failed calls of another sample.

    It is played in a later run. In a run that resumes a killed one, it is played at once.

    Args:
        sample: the sample whose calls failed.
        failed: the replies on all its battles, by each epoch with failed calls. Of a pack, only
            battles that have failed calls in any epoch are repeated. The new sample records the
            replies on these battles as earlier ones.

    Raises:
        TypeError: the sample has no battles.
        DataError: the metadata of the sample are damaged.
    """
    metadata = parse_sample(sample.metadata or {})
    if not isinstance(metadata, BattleMetadata | PackMetadata):
        raise TypeError(f"{sample.id}: only battles are repeated")
    if isinstance(metadata, PackMetadata):
        places = []
        for k in range(len(metadata.battles)):
            if any(replies[k].has_failed for replies in failed.values()):
                places.append(k)
        battles = [metadata.battles[k] for k in places]
        names = {name for battle in battles for name in battle}
        responses = {name: text for name, text in metadata.responses.items() if name in names}
        earlier = {}
        for epoch, replies in failed.items():
            earlier[epoch] = [replies[k] for k in places]
        again: BattleMetadata | PackMetadata = metadata.model_copy(
            update={"battles": battles, "responses": responses, "earlier": earlier}
        )
    else:
        again = metadata.model_copy(update={"earlier": failed})
    return sample.model_copy(update={"id": f"{sample.id}{AGAIN}", "metadata": again.to_log()})


def replies_if_any_failed(sample: EvalSample) -> Sequence[BattleReplies]:
    """Return the replies on all battles of a finished sample if one of its calls failed.

    Empty if no call failed, if the sample ended with an error, or if no judge was asked.

    Raises:
        DataError: the entry of podium in the store is damaged.
    """
    entry = kept_in_store(sample, NAMESPACE)
    if sample.error is not None or not was_judge_asked(entry):
        return ()
    replies = SampleReplies.parse(entry).to_battles()
    return replies if any(battle.has_failed for battle in replies) else ()


def missing_responses_text(missing: Mapping[str, Mapping[str, int]]) -> str:
    """Return a text on how many responses each model lacks and why; empty if none are missing.

    Of many models, only some are named.

    Args:
        missing: number of missing responses by model and reason (`Responses.missing_reasons`).
    """
    texts = []
    for name, reasons in missing.items():
        why = ", ".join(f"{reason}: {number}" for reason, number in reasons.items())
        texts.append(f"{name} ({why})")
    return some(texts, "; ")


def outcomes_of(sample: EvalSample) -> tuple[Outcome, ...]:
    """Return the outcomes of a finished sample's battles, by its first score.

    Empty if the sample ended with an error or without a score, or if it has no battles. The credit
    and margin of an unparsed battle are None.

    Raises:
        DataError: the metadata of the sample, or the entry of podium in the score, are damaged.
    """
    if sample.error is not None or not sample.scores:
        return ()
    contents = parse_sample(sample.metadata)
    score = next(iter(sample.scores.values()))
    entry = (score.metadata or {}).get(NAMESPACE) or {}
    rows: list[dict[str, Any]] = []
    if isinstance(contents, PackMetadata):
        rows = PackVerdicts.parse(entry).battles.to_rows() if entry else []
    elif isinstance(contents, BattleMetadata):
        verdict = {name: entry.get(name) for name in ("margin", "identical")}
        rows = [{**contents.to_log(), **verdict, "credit": credit_in(score)}]
    outcomes = []
    for row in rows:
        pairing = Pairing(
            item=row["item"],
            a=row["model_a"],
            b=row["model_b"],
            response=row.get("response") or 1,
            first=row.get("first"),
        )
        margin = None if row["credit"] is None else row["margin"]
        is_asked = not row.get("identical")
        outcomes.append(Outcome(pairing, credit=row["credit"], margin=margin, is_asked=is_asked))
    return tuple(outcomes)


def announce_round(
    upcoming: NextRound, number: int, revision: int = 0, replaced: NextRound | None = None
) -> Sample:
    """Return the sample that announces a round, that is, records its battles.

    Args:
        upcoming: the battles of the round.
        number: number of the round, from 1.
        revision: how often the round was scheduled anew because answers failed.
        replaced: the schedule that this one replaces; None if it is the first.
    """
    pairings: list[list[Any]] = []
    for pairing in upcoming.pairings:
        fields: list[Any] = [pairing.item, pairing.a, pairing.b]
        # The number of the response and the model shown first are left out if they are defaults.
        if pairing.first is not None:
            fields += [pairing.response, pairing.first]
        elif pairing.response > 1:
            fields.append(pairing.response)
        pairings.append(fields)
    note = upcoming.note or f"{len(pairings)} {plural('battle', len(pairings))}"
    before: Any = {}
    if replaced:
        note += ", without the answers that failed"
        before = {"replaced": (len(replaced.pairings), replaced.left_out)}
        before |= _left_out_by_item("replaced_of", replaced)
    before |= _left_out_by_item("left_out_of", upcoming)
    metadata = RoundMetadata(pairings=pairings, note=note, left_out=upcoming.left_out, **before)
    return Sample(
        id=round_id(number, revision), input=f"Round {number}: {note}", metadata=metadata.to_log()
    )


def _left_out_by_item(name: str, schedule: NextRound) -> dict[str, dict[str, int]]:
    """Return a field of `RoundMetadata`: the numbers of battles that a round leaves out, by item.

    Args:
        name: name of the field, the only key of the result.
        schedule: the round. Items of which it leaves out no battle are missing in the result, which
            is empty if there are no other items.
    """
    numbers = {item: number for item, number in schedule.left_out_of.items() if number}
    return {name: numbers} if numbers else {}


def announce_portion(round_name: str, number: int, size: int) -> Sample:
    """Return the sample that announces a portion: how many samples the cost limit allows next.

    Args:
        round_name: name of the round or of its requests for answers.
        number: number of the portion, from 1.
        size: the number of samples in the portion.
    """
    metadata = PortionMetadata(portion=size)
    return Sample(
        id=portion_id(round_name, number),
        input=f"Portion {number} of {round_name}: {size} {plural('sample', size)}",
        metadata=metadata.to_log(),
    )


def portion_id(round_name: str, number: int) -> str:
    """Return the id of the sample that announces a portion: `round 002 portion 1`."""
    return f"{round_name} portion {number}"


def schedule_in(announced: RoundMetadata) -> NextRound:
    """Return the schedule that an announced round records."""
    pairings = tuple(Pairing(*names) for names in announced.pairings)
    return NextRound(pairings, announced.note, announced.left_out, announced.left_out_of)


def round_id(number: int, revision: int = 0) -> str:
    """Return the id of the sample that announces a round: `round 002`, or `round 002 again 1`."""
    return f"round {number:03d}" + (f" again {revision}" if revision else "")
