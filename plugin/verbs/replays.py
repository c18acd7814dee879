"""Replay a tournament: recorded verdicts stand in for the judge, and nothing is called."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.counting.verdicts import Verdicts, verdicts_of
from podium.errors import NotIdentifiedError, PluginError
from podium.nouns.battles import Battles
from podium.nouns.ranking import Ranking
from podium.plugins import catalogue
from podium.plugins.settings import assign_options, options_by_name, parameters_of, ranker_names
from podium.reading.judgments import read_battles
from podium.tournaments.decisions import build_answer
from podium.tournaments.schedule import Field, Outcome, Pairing, Round, TournamentRule
from podium.verbs.rank_battles import rank, refuse_several_judges


@dataclass(frozen=True, slots=True)
class Recording:
    """Recorded verdicts as a judge.

    Attributes:
        battles: as read, one judge's, both orders merged; or a row for each order, where the pairings of `codes` say
            who was shown first.
        field: all models, and the items in their order of appearance.
        codes: number of each battle that is on record, repeats of it counted once.
        outcomes: how it ended, by that number; repeats are averaged, unparsed ones left out.
        calls: judge calls recorded for it, both orders counted, by that number, shape (battles,).
        code_of_row: number of the battle of each row, -1 for a row without an item, shape (rows,).
    """

    battles: Battles
    field: Field
    codes: Mapping[Pairing, int]
    outcomes: tuple[Outcome, ...]
    calls: np.ndarray
    code_of_row: np.ndarray

    def code_of(self, pairing: Pairing) -> int | None:
        """Return the number of a battle; where the record says no order, of its verdict in whichever order it was."""
        code = self.codes.get(pairing)
        return self.codes.get(pairing._replace(first=None)) if code is None and pairing.first else code

    def rows_of(self, pairings: Sequence[Pairing]) -> np.ndarray:
        """Return the mask of the rows of battles, shape (rows,); a battle that is not on record has none."""
        # One more than there are battles: rows without an item have the code -1, and are never played.
        asked = np.zeros(len(self.outcomes) + 1, dtype=bool)
        asked[[code for pairing in pairings if (code := self.code_of(pairing)) is not None]] = True
        return asked[self.code_of_row]

    def gaps(self) -> list[str]:
        """Say what is lacking to a full round robin, in a warning, or none."""
        models = len(self.field.models)
        recorded = len({pairing._replace(first=None) for pairing in self.codes})
        share = recorded / (models * (models - 1) // 2 * len(self.field.items))
        return [f"the record is no full round robin: {share:.1%} of its battles are there"] if share < 1 else []


@dataclass(frozen=True, slots=True)
class TournamentDesign:
    """A tournament by its name, with its settings, what to call both, and battles that it is not to exceed."""

    label: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """What a tournament costs.

    Attributes:
        battles: asked for; of them `judged` have a readable verdict, `unparsed` none, and `missing` are not on record.
        calls: judge calls recorded for them, both orders counted.
        pairs: of models that were to meet.
        rounds: in which the battles were scheduled.
        given: battles that were on record before the tournament began; not paid for.
    """

    battles: int
    judged: int
    unparsed: int
    missing: int
    calls: int
    pairs: int
    rounds: int
    given: int = 0


@dataclass(frozen=True, slots=True)
class Playthrough:
    """The result of a tournament played on recorded verdicts, before ranking.

    Attributes:
        rounds: all that was scheduled, and how it ended; a missing battle has no credit.
        given: the battles that it found played.
        battles: those played and those given, as rows of the record.
        price: of those played.
        rows: mask of the record's rows that are in `battles`, shape (rows,).
    """

    rounds: tuple[Round, ...]
    given: tuple[Outcome, ...]
    battles: Battles
    price: Price
    rows: np.ndarray


@dataclass(frozen=True, slots=True)
class Replay(Playthrough):
    """A tournament that was played with recorded verdicts, its name and settings, and the ranking of `battles`."""

    tournament: str
    settings: Mapping[str, Any]
    ranking: Ranking


def replay(
    battles: Battles | pd.DataFrame | str | Path,
    tournament: str = "round_robin",
    rankers: str | Sequence[str] = "bradley-terry",
    *,
    level: float = 0.95,
    seed: int = 0,
    pool: bool = False,
    **options: Any,
) -> Replay:
    """Play a tournament with recorded verdicts as the judge, and rank what was played.

    A battle that is not on record is missing: it is counted, and never a tie. Where the tournament has newcomers join
    a ranking, the recorded battles of those ranked before are given to it, and ranked too, at no price.

    Args:
        battles: from `read_battles`; or what it reads: a data frame, or a path.
        tournament: its name.
        rankers: names, as a sequence or separated by commas.
        level: of intervals and rank sets, in (0, 1).
        seed: of the tournament and of the rankers.
        pool: take the verdicts of several judges together; of a battle, their mean counts.
        **options: of the tournament and of the rankers; `name.option` (through a dict) reaches one of them only.

    Raises:
        UsageError: an unknown tournament, ranker or option.
        NotIdentifiedError: several judges, no items, or what was played cannot be ranked.
        PluginError: the tournament asks for a battle twice, or for one that cannot be.
    """
    names = ranker_names(rankers)
    settings, others = divide_options(options, [tournament], names)
    own = seed_settings(tournament, settings[tournament], seed, level)
    rule = catalogue.make_tournament(tournament, own)
    played = play(rule, recording_of(battles, pool=pool, by_order=asks_order(rule)))
    ranking = rank(merge_orders(played.battles), names, level=level, seed=seed, pool=pool, **others)
    asked = {"tournament": tournament, "settings": own}
    price = {"replay": {**asked, **asdict(played.price)}}
    standings = tuple(replace(each, diagnostics={**each.diagnostics, **price}) for each in ranking.standings)
    how = {**ranking.provenance["options"], "replay": asked}
    ranking = replace(ranking, standings=standings, provenance={**ranking.provenance, "options": how})
    return Replay(played.rounds, played.given, played.battles, played.price, played.rows, tournament, own, ranking)


def asks_order(rule: Any) -> bool:
    """Tell whether the pairings of a tournament (or of its class) say who is shown first."""
    return bool(getattr(rule, "shows_first", False))


def in_one_order(battles: Battles) -> Battles:
    """Return a row for each judgment again, where reading merged the two orders and has kept them."""
    verdicts = battles.verdicts
    if not verdicts or not verdicts.merge:
        return battles
    return replace(battles, rows=Verdicts(verdicts.engine, verdicts.judgments, merge=False))


def merge_orders(battles: Battles) -> Battles:
    """Merge the two orders of each pair, where the rows are judgments, as reading does."""
    table = battles.rows
    if not isinstance(table, pd.DataFrame) or "order" not in table or "swap" in table:
        return battles
    keep = battles.reading.get("one_sided") == "keep"
    return replace(battles, rows=verdicts_of(battles.to_frame(), keep_one_sided=keep))


def recording_of(
    battles: Battles | pd.DataFrame | str | Path, *, pool: bool = False, by_order: bool = False
) -> Recording:
    """Look up battles by item and pair; with `by_order`, also by who was shown first, as far as the record says it.

    Raises:
        NotIdentifiedError: several judges and not `pool`, or no row says which item it is about.
    """
    battles = battles if isinstance(battles, Battles) else read_battles(battles)
    if not pool:
        refuse_several_judges(battles)
    if not battles.has_items:
        raise NotIdentifiedError("no item column: a tournament cannot be replayed without knowing which item is which")
    battles = in_one_order(battles) if by_order else battles
    pairings, code = _distinct_pairings(battles, by_order)
    credit, margin = _means_by_name(battles, code, len(pairings))
    calls = 1.0 + battles.table["swap"].notna().to_numpy() if "swap" in battles.table else np.ones(len(battles))
    return Recording(
        battles=battles,
        field=Field(battles.models, tuple(battles.table["item"].dropna().unique()), {}),
        codes={pairing: k for k, pairing in enumerate(pairings)},
        outcomes=tuple(map(Outcome, pairings, credit, margin)),
        calls=np.bincount(code + 1, calls, len(pairings) + 1)[1:],
        code_of_row=code,
    )


def play(tournament: TournamentRule, record: Recording) -> Playthrough:
    """Ask the tournament for battles until it is over, and look up how each ended.

    Raises:
        PluginError: the tournament asks for a battle twice, or for one that cannot be.
    """
    ranked_before = getattr(tournament, "ranked_before", None)
    ranked = frozenset(ranked_before(record.field)) if ranked_before else frozenset()
    rated = record.outcomes if ranked else ()
    given = tuple(outcome for outcome in rated if {outcome.pairing.a, outcome.pairing.b} <= ranked)
    before = (Round(given, "ranked before"),) if given else ()
    rounds: list[Round] = []
    seen: set[Pairing] = set()
    while (coming := tournament.next(record.field, (*before, *rounds))).pairings:
        if len(set(coming.pairings)) < len(coming.pairings) or not seen.isdisjoint(coming.pairings):
            # Such a schedule would never end.
            raise PluginError(f"{tournament!r} asks for a battle twice; a tournament must read what was played")
        seen.update(coming.pairings)
        rounds.append(Round(tuple(_outcome_of(pairing, record) for pairing in coming.pairings), coming.note))
    price = _price(record, rounds, len(given))
    claimed = build_answer(tournament, record.field, (*before, *rounds))
    answer = None if claimed is None else replace(claimed, calls=price.calls).to_dict()
    rows = record.rows_of([*seen, *(outcome.pairing for outcome in given)])
    battles = replace(record.battles.select(rows), missing=price.missing, answer=answer)
    return Playthrough(tuple(rounds), given, battles, price, rows)


def divide_options(
    options: Mapping[str, Any], tournaments: Sequence[str], rankers: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Give each tournament the options that are its own; return those, and what is left for the rankers.

    A general option that both a tournament and a ranker have goes to both, unless its value is the tournament's default
    (`anchor=auto`) or several names (`anchor=a,b`). Options are `option` or `name.option` to value.
    """
    known = options_by_name((), tournaments)
    usual = {name: parameter.default for own in known.values() for name, parameter in own.items()}
    ranked = {option for own in options_by_name(rankers).values() for option in own}
    ranked -= {name for name, default in usual.items() if options.get(name) == default or "," in str(options.get(name))}
    own, rest = assign_options(options, known)
    return own, {key: value for key, value in options.items() if key in rest or key in ranked}


def seed_settings(name: str, settings: Mapping[str, Any], seed: int, level: float | None = None) -> dict[str, Any]:
    """Add seed and level to a tournament's settings, where it takes them and they are not given."""
    known = parameters_of(catalogue.tournament_rule(name))
    asks = "level" in known and level is not None and settings.get("until")
    usual = {**({"seed": seed} if "seed" in known else {}), **({"level": level} if asks else {})}
    return {**usual, **settings}


def _price(record: Recording, rounds: Sequence[Round], given: int) -> Price:
    """Count battles, judge calls, pairs and rounds of a replayed tournament."""
    asked = [outcome for played in rounds for outcome in played.outcomes]
    judged = sum(outcome.credit is not None for outcome in asked)
    on_record = [code for outcome in asked if (code := record.code_of(outcome.pairing)) is not None]
    in_one_order = [outcome.pairing.first is not None for outcome in asked]
    calls = len(on_record) if all(in_one_order) else int(record.calls[on_record].sum())
    return Price(
        battles=len(asked),
        judged=judged,
        unparsed=len(on_record) - judged,
        missing=len(asked) - len(on_record),
        calls=calls,
        pairs=len({(outcome.pairing.a, outcome.pairing.b) for outcome in asked}),
        rounds=len(rounds),
        given=given,
    )


def _distinct_pairings(battles: Battles, by_order: bool) -> tuple[list[Pairing], np.ndarray]:
    """Return the distinct battles, and the position of each row's among them, -1 without an item, shape (rows,)."""
    table, names = battles.table, battles.models
    item = table["item"].cat.codes.to_numpy(dtype=np.int64)
    a, b = battles.model_codes
    size, items = len(names), table["item"].cat.categories.tolist()
    low, high = np.minimum(a, b), np.maximum(a, b)
    # Who was shown first: 0 where nobody knows or asks, 1 for the first by name, 2 for the other.
    shown = np.zeros(len(table), dtype=np.int64)
    if by_order and "order" in table:
        order = table["order"].astype(object).to_numpy()
        leader = np.where(order == "ab", a, np.where(order == "ba", b, -1))
        shown = np.where(leader < 0, 0, np.where(leader == low, 1, 2))
    key = np.where(item < 0, -1, ((item * size + low) * size + high) * 3 + shown)
    distinct, code = np.unique(key, return_inverse=True)
    unplaced = int(distinct[0] == -1)
    pairings = []
    for cell, leads in zip(*(part.tolist() for part in np.divmod(distinct[unplaced:], 3)), strict=True):
        pair = (names[cell // size % size], names[cell % size])
        pairings.append(Pairing(items[cell // size**2], *pair, first=(None, *pair)[leads]))
    return pairings, code - unplaced


def _means_by_name(battles: Battles, code: np.ndarray, size: int) -> Iterator[list[float | None]]:
    """Yield mean credit and margin of whoever comes first by name, of each code but -1; None where nothing is read."""
    a, b = battles.model_codes
    in_order, credit, margin = a < b, battles.table["credit"].to_numpy(), battles.numbers_of("margin")
    parse_margin = np.where(np.isnan(credit), np.nan, np.where(in_order, margin, -margin))
    for values in (np.where(in_order, credit, 1 - credit), parse_margin):
        keep = (code >= 0) & ~np.isnan(values)
        total, number = np.bincount(code[keep], values[keep], size), np.bincount(code[keep], minlength=size)
        means = (total / np.maximum(number, 1)).tolist()
        yield [None if count == 0 else mean for mean, count in zip(means, number.tolist(), strict=True)]


def _outcome_of(pairing: Pairing, record: Recording) -> Outcome:
    """Return how a battle ended, without a credit where it is not on record; refuse one that cannot be."""
    code, sides = record.code_of(pairing), (pairing.a, pairing.b)
    if code is not None:
        known = record.outcomes[code]
        return Outcome(pairing, known.credit, known.margin)
    if {*sides} <= set(record.field.models) and pairing.a < pairing.b and pairing.first in (None, *sides):
        return Outcome(pairing, None)
    raise PluginError(f"no such battle: {pairing}; a pairing names two models of the field, the first by name first")
