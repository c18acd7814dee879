"""Replay a tournament: recorded verdicts stand in for the judge, and nothing is called."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.data.reading.judgments import read_battles
from podium.errors import NotIdentifiedError, PluginError
from podium.plugins import catalogue
from podium.plugins.settings import assign_options, options_by_name, parameters_of, ranker_names
from podium.rankers.ranking import Ranking
from podium.ranking.rank_battles import rank, refuse_several_judges
from podium.tournaments.decisions import build_tournament_answer
from podium.tournaments.schedule import TournamentRule, asks_order
from podium.tournaments.selection import ranked_before


@dataclass(frozen=True, slots=True)
class Recording:
    """Recorded verdicts as a judge: outcomes (repeats averaged) and calls by code; rows without an
    item have -1."""

    battles: Battles
    field: Field
    codes: Mapping[Pairing, int]
    outcomes: tuple[Outcome, ...]
    calls: np.ndarray
    code_of_row: np.ndarray

    def code_of(self, pairing: Pairing) -> int | None:
        """Return the number of a battle; if its order is not on record, that of its verdict in any
        order."""
        code = self.codes.get(pairing)
        return (
            self.codes.get(pairing._replace(first=None)) if code is None and pairing.first else code
        )


@dataclass(frozen=True, slots=True)
class Price:
    """What a tournament costs: battles asked for, and their judge calls; `given` ones were on
    record before, unpaid."""

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
    """A tournament played on recorded verdicts; `battles` are those played and given, the record's
    `rows` (a mask)."""

    rounds: tuple[Round, ...]
    battles: Battles
    price: Price
    rows: np.ndarray


@dataclass(frozen=True, slots=True)
class Replay(Playthrough):
    """A tournament that was played with recorded verdicts, its name and settings, and the ranking
    of `battles`."""

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

    A battle that is not on record counts as missing, never as a tie. If newcomers join a ranking,
    the recorded battles of the models ranked before are given to the tournament and ranked, too, at
    no price.

    Args:
        battles: from `read_battles`; or what it reads: a data frame, or a path.
        rankers: names, as a sequence or separated by commas.
        seed: of the tournament and of the rankers.
        pool: combine the verdicts of several judges; a battle has their mean.
        **options: of the tournament and of the rankers; `name.option` (through a dict) reaches one
            of them only.

    Raises:
        UsageError: an unknown tournament, ranker or option.
        NotIdentifiedError: several judges, no items, or what was played cannot be ranked.
        PluginError: the tournament asks for a battle twice, or for an impossible one.
    """
    names = ranker_names(rankers)
    settings, others = divide_options(options, [tournament], names)
    own = seed_settings(tournament, settings[tournament], seed, level)
    rule = catalogue.make_tournament(tournament, own)
    played = play(rule, recording_of(battles, pool=pool, by_order=asks_order(rule)))
    ranking = rank(merge_orders(played.battles), names, level=level, seed=seed, pool=pool, **others)
    asked = {"tournament": tournament, "settings": own}
    price = {"replay": {**asked, **asdict(played.price)}}
    standings = tuple(
        replace(each, diagnostics={**each.diagnostics, **price}) for each in ranking.standings
    )
    how = {**ranking.provenance["options"], "replay": asked}
    ranking = replace(
        ranking, standings=standings, provenance={**ranking.provenance, "options": how}
    )
    return Replay(
        played.rounds, played.battles, played.price, played.rows, tournament, own, ranking
    )


def in_one_order(battles: Battles) -> Battles:
    """Return the battles with one row per judgment, if reading merged the two orders."""
    return replace(battles, rows=battles.rows.separate_orders())


def merge_orders(battles: Battles) -> Battles:
    """Merge the two orders of each pair, if the rows are judgments."""
    rows = battles.rows.join_orders(keep_one_sided=battles.reading.get("one_sided") == "keep")
    return battles if rows is battles.rows else replace(battles, rows=rows, whole=None)


def recording_of(
    battles: Battles | pd.DataFrame | str | Path, *, pool: bool = False, by_order: bool = False
) -> Recording:
    """Return battles as a recording; with `by_order`, numbered by the model shown first, too."""
    battles = battles if isinstance(battles, Battles) else read_battles(battles)
    if not pool:
        refuse_several_judges(battles)
    if not battles.has_items:
        raise NotIdentifiedError(
            "no item column: a tournament is replayed by item; name it, as --columns item=prompt"
        )
    battles = in_one_order(battles) if by_order else battles
    rows, names, items = _rows_by_name(battles, by_order), battles.models, battles.table["item"]
    label, placed = items.cat.categories.tolist(), (rows["item"] >= 0).to_numpy()
    battle = rows[placed].groupby(["item", "a", "b", "shown"])
    code = np.full(len(rows), -1)
    code[placed] = battle.ngroup()
    means = battle[["credit", "margin"]].mean().astype(object)
    pairings = [
        Pairing(label[item], names[a], names[b], first=(None, names[a], names[b])[first])
        for item, a, b, first in means.index
    ]
    outcomes = map(
        Outcome, pairings, *(means[name].where(means[name].notna(), None) for name in means)
    )
    return Recording(
        battles=battles,
        field=Field(names, tuple(items.dropna().unique()), {}),
        codes={pairing: k for k, pairing in enumerate(pairings)},
        outcomes=tuple(outcomes),
        calls=battle["calls"].sum().to_numpy(),
        code_of_row=code,
    )


def _rows_by_name(battles: Battles, by_order: bool) -> pd.DataFrame:
    """Return item code, model codes by name, shown first (1, 2, or 0 if unknown), credit, margin
    and calls by row."""
    table, (a, b) = battles.table, battles.model_codes
    turned, credit, margin = a > b, table["credit"].to_numpy(), battles.numbers_of("margin")
    order = table["order"] if by_order and "order" in table else pd.Series("", index=table.index)
    columns = {
        "item": table["item"].cat.codes,
        "a": np.minimum(a, b),
        "b": np.maximum(a, b),
        "shown": np.select([order == "ab", order == "ba"], [1 + turned, 2 - turned], 0),
        "credit": np.where(turned, 1 - credit, credit),
        "margin": np.where(np.isnan(credit), np.nan, np.where(turned, -margin, margin)),
        "calls": 1.0 + table["swap"].notna() if "swap" in table else 1.0,
    }
    return pd.DataFrame(columns)


def play(tournament: TournamentRule, record: Recording) -> Playthrough:
    """Play a tournament on recorded verdicts until it is over; PluginError for repeated or
    impossible battles."""
    ranked = {*ranked_before(tournament, record.field)}
    ladder = getattr(tournament, "ratings", None)
    # Given ratings may come from the same battles, which must not count twice.
    rated = record.outcomes if ranked and ladder is None else ()
    given = tuple(own for own in rated if ranked.issuperset((own.pairing.a, own.pairing.b)))
    before = (Round(given, "ranked before"),) if given else ()
    rounds: list[Round] = []
    seen: set[Pairing] = set()
    while (coming := tournament.next(record.field, (*before, *rounds))).pairings:
        if len(set(coming.pairings)) < len(coming.pairings) or not seen.isdisjoint(coming.pairings):
            # Such a schedule would never end.
            raise PluginError(
                f"{tournament!r} asks for a battle twice; a tournament must read what was played"
            )
        seen.update(coming.pairings)
        rounds.append(
            Round(tuple(_outcome_of(pairing, record) for pairing in coming.pairings), coming.note)
        )
    price = _count_costs(record, rounds, len(given))
    decided = build_tournament_answer(tournament, record.field, (*before, *rounds))
    answer = None if decided is None else replace(decided, calls=price.calls).to_dict()
    codes = map(record.code_of, [*seen, *(outcome.pairing for outcome in given)])
    rows = np.isin(record.code_of_row, [code for code in codes if code is not None])
    battles = replace(
        record.battles.select(rows), missing=price.missing, answer=answer, ladder=ladder
    )
    return Playthrough(tuple(rounds), battles, price, rows)


def divide_options(
    options: Mapping[str, Any], tournaments: Sequence[str], rankers: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the options (`option` or `name.option` to value) of each tournament, and those of the
    rankers."""
    known = options_by_name((), tournaments)
    usual = {name: parameter.default for own in known.values() for name, parameter in own.items()}
    # An option that both have goes to both, unless its value is the tournament's default or several
    # names.
    ranked = {option for own in options_by_name(rankers).values() for option in own}
    ranked -= {
        name
        for name, default in usual.items()
        if options.get(name) == default or "," in str(options.get(name))
    }
    own, rest = assign_options(options, known)
    return own, {key: value for key, value in options.items() if key in rest or key in ranked}


def seed_settings(
    name: str, settings: Mapping[str, Any], seed: int, level: float | None = None
) -> dict[str, Any]:
    """Return a tournament's settings with seed and level added, if it takes them and they are not
    given."""
    known = parameters_of(catalogue.tournament_rule(name))
    asks = "level" in known and level is not None and settings.get("until")
    usual = {**({"seed": seed} if "seed" in known else {}), **({"level": level} if asks else {})}
    return {**usual, **settings}


def _count_costs(record: Recording, rounds: Sequence[Round], given: int) -> Price:
    asked = [outcome for played in rounds for outcome in played.outcomes]
    judged = sum(outcome.credit is not None for outcome in asked)
    on_record = [code for outcome in asked if (code := record.code_of(outcome.pairing)) is not None]
    in_one_order = all(outcome.pairing.first for outcome in asked)
    calls = len(on_record) if in_one_order else int(record.calls[on_record].sum())
    pairs = len({(outcome.pairing.a, outcome.pairing.b) for outcome in asked})
    unparsed, missing = len(on_record) - judged, len(asked) - len(on_record)
    return Price(len(asked), judged, unparsed, missing, calls, pairs, len(rounds), given)


def _outcome_of(pairing: Pairing, record: Recording) -> Outcome:
    """Return the outcome of a battle, without a credit if it is not on record; PluginError for an
    impossible one."""
    code, sides = record.code_of(pairing), (pairing.a, pairing.b)
    if code is not None:
        return record.outcomes[code]._replace(pairing=pairing)
    if (
        {*sides} <= set(record.field.models)
        and pairing.a < pairing.b
        and pairing.first in (None, *sides)
    ):
        return Outcome(pairing, None)
    raise PluginError(
        f"no such battle: {pairing}; a pairing names two models of the field, the first by name "
        "first"
    )
