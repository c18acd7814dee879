"""The engine of all tournaments: responses in, a task out."""

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from podium.errors import UsageError
from podium.hookspecs import Tournament
from podium.hosts.inspect_ai.judge import judge
from podium.hosts.inspect_ai.log_format import LEFT_OUT, NAMESPACE
from podium.hosts.inspect_ai.logs import READER
from podium.hosts.inspect_ai.packing import PackedSource
from podium.hosts.inspect_ai.source import TournamentSource
from podium.hosts.inspect_ai.verdict import verdict
from podium.plugins import catalogue
from podium.plugins.catalogue import judging_settings
from podium.responses.collection import Item, Responses
from podium.responses.read import read_responses
from podium.scorers.asking import Texts
from podium.scorers.judging import Judging, known_options, refuse_unknown_options
from podium.text import some
from podium.tournaments.budget import Budget
from podium.tournaments.schedule import Outcome, Pairing, TournamentRule

CHARACTERS_PER_TOKEN = 4
PROMPTS_BUILT = 50
"""Prompts that are built to estimate their length."""
NOTHING = "none/none"
"""The model under test: a tournament generates nothing, and is not run once per `--model`."""


def tournament_task(
    name: str,
    responses: str | Sequence[str],
    settings: Mapping[str, Any],
    *,
    entrants: str | Sequence[str] | None = None,
    limit: int | None = None,
    category: str | Sequence[str] | None = None,
    seed: int = 0,
    max_battles: int | None = None,
    pack: bool = False,
    cache: bool = True,
    reask: str | None = None,
    **how: Any,
) -> Task:
    """Make the task of a tournament.

    Args:
        name: of the tournament, podium's own or a plugin's.
        responses: files, folders or globs, each optionally `label=path`.
        settings: of the tournament.
        entrants: only these.
        limit, category: only so many items, or of this category.
        seed: of everything drawn.
        max_battles: at most so many.
        pack: put all battles of an item and a round into one sample: smaller and faster logs for big tournaments.
        cache: take replies of earlier runs instead of new calls.
        reask: the log of an earlier run: what could be read there is taken from it, and only the rest is asked.
        **how: how the judge is asked; see `podium.plugins.catalogue.judging_settings`.

    Raises:
        UsageError, DataError: what was typed, or what a file holds, is not what it should be.
    """
    own = inspect.signature(tournament_task).parameters.keys() - {"name", "settings", "how"}
    refuse_unknown_options(how, own | settings.keys() | known_options())
    if seed < 0:
        raise UsageError(f"seed={seed} is below 0")
    read = _read(responses, entrants, limit, category, seed)
    rule = _rule(name, settings, seed, max_battles)
    judged = judging_settings(seed=seed, **how)
    _refuse_lacking(read, judged)
    source = _source(rule, read, pack=pack)
    if not source.first.pairings:
        raise UsageError(f"{name}: nothing can be played: {_lost(read) or 'fewer than two entrants'}")
    _announce(name, read, source, judged)
    return Task(
        dataset=source,
        solver=judge(seed=seed, cache=cache, reask=reask, **how),
        scorer=verdict(seed=seed, **how),
        model=NOTHING,
        name=name,
        version=read.digest()[:12],
        # Every battle is played, and a log in which some failed is not done: an eval set asks again for those.
        fail_on_error=True,
        continue_on_fail=True,
        metadata={
            f"{NAMESPACE}_entrants": list(read.entrants),
            f"{NAMESPACE}_missing": read.missing_reasons(),
            f"{NAMESPACE}_{LEFT_OUT}": source.first.left_out,
            f"{NAMESPACE}_sources": list(read.sources),
        },
    )


class Deck:
    """The samples of a tournament: one per battle, with everything that the judge is shown."""

    def __init__(self, responses: Responses) -> None:
        self.responses = responses
        self.items = responses.by_id()

    def battle(self, pairing: Pairing, number: int) -> Sample:
        """Return the sample of a battle.

        Args:
            number: of the round, from 1.
        """
        item = self.items[pairing.item]
        texts = {side: self.responses.texts[name][pairing.item] for side, name in _sides(pairing)}
        return Sample(
            id=pairing.key,
            input=item.instruction,
            target=item.reference or "",
            metadata={
                "item": pairing.item,
                "model_a": pairing.a,
                "model_b": pairing.b,
                "round": number,
                **_known(item),
                **{f"response_{side}": text for side, text in texts.items()},
                **{f"length_{side}": len(text) for side, text in texts.items()},
            },
        )


def _source(rule: TournamentRule, read: Responses, *, pack: bool) -> TournamentSource:
    if pack:
        return PackedSource(rule, Deck(read).battle, read)
    return TournamentSource(rule, read.field(), Deck(read).battle, outcome_of)


def outcome_of(sample: EvalSample) -> Outcome | None:
    """Return how a battle ended; None where its sample failed."""
    own = sample.metadata
    if "model_a" not in own or sample.error is not None or not sample.scores:
        return None
    score = next(iter(sample.scores.values()))
    value = score.as_float() if score.value is not None else float("nan")
    pairing = Pairing(own["item"], own["model_a"], own["model_b"])
    kept = (score.metadata or {}).get(NAMESPACE, {})
    return Outcome(pairing, None) if value != value else Outcome(pairing, value, kept.get("margin"))


def _sides(pairing: Pairing) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("a", pairing.a), ("b", pairing.b)


def _known(item: Item) -> dict[str, str]:
    told = {name: getattr(item, name) for name in ("instruction", "category", "reference", "system")}
    return {name: text for name, text in told.items() if text is not None}


def _read(
    responses: str | Sequence[str],
    entrants: str | Sequence[str] | None,
    limit: int | None,
    category: str | Sequence[str] | None,
    seed: int,
) -> Responses:
    read = read_responses(*_listed(responses), readers=(READER,))
    if entrants:
        read = read.of(_listed(entrants))
    return read.select(limit=limit, category=category, seed=seed) if limit is not None or category else read


def _rule(name: str, settings: Mapping[str, Any], seed: int, max_battles: int | None) -> TournamentRule:
    given = {key: value for key, value in settings.items() if value is not None}
    rule = catalogue.extension(Tournament, name.replace("_", "-")).load()(seed=seed, **given)
    return rule if max_battles is None else Budget(rule, max_battles)


def _refuse_lacking(read: Responses, how: Judging) -> None:
    """Refuse to show references that are not there: every battle of such an item would fail."""
    lacking = [item.id for item in read.items if item.reference is None] if how.settings.reference else []
    if lacking:
        raise UsageError(f"reference=true: {len(lacking)} items have no reference answer: {some(lacking, most=5)}")


def _announce(name: str, read: Responses, source: TournamentSource, how: Judging) -> None:
    """Say what will be played and what it will cost, before the first call."""
    battles = source.tournament.size(source.field)
    calls, lost = battles * how.calls(), _lost(read)
    tokens = calls * _prompt_length(source, how) / CHARACTERS_PER_TOKEN
    print(
        f"podium {name}: {len(read.entrants)} entrants, {len(read.items)} items; at most {battles:,} battles, "
        f"{calls:,} calls per judge, about {tokens:,.0f} input tokens" + (f"; {lost}" if lost else ""),
        *(f"podium {name}: note: {note}" for note in read.notes),
        sep="\n",
        file=sys.stderr,
    )


def _prompt_length(source: TournamentSource, how: Judging) -> float:
    """Return the mean length of some prompts, characters; a checklist that is not written yet counts nothing."""
    if how.realization.template is None:
        return 0.0
    pairings = source.first.pairings
    drawn = [source.battle(one, 1).metadata or {} for one in pairings[:: max(1, len(pairings) // PROMPTS_BUILT)]]
    plain = replace(how, settings=replace(how.settings, checklist=False))
    sides = ("response_a", "response_b")[: 2 if how.is_pairwise else 1]
    texts = [
        Texts(one["instruction"], tuple(one[side] for side in sides), one.get("reference", ""), one.get("system"))
        for one in drawn
    ]
    return sum(len(plain.prompt(one)) for one in texts) / len(texts)


def _lost(read: Responses) -> str:
    """Say whose responses are missing, and why: those battles are not played."""
    reasons = read.missing_reasons()
    parts = [f"{name} ({', '.join(f'{why}: {n}' for why, n in found.items())})" for name, found in reasons.items()]
    return f"left out for want of responses: {some(parts, '; ')}" if parts else ""


def _listed(names: str | Sequence[str]) -> list[str]:
    """Return names that Inspect passes as a list, or as one text with commas."""
    parts = names.split(",") if isinstance(names, str) else names
    return [str(one).strip() for one in parts if str(one).strip()]
