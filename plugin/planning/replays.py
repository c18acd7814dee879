"""Replay a tournament: recorded verdicts stand in for the judge, and nothing is called."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.data.counting.relations import IDENTICAL
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.data.reading.judgments import read_battles
from podium.diagnosis.groups_of_decisions import why_not_claimed
from podium.errors import NotIdentifiedError, PluginError
from podium.plugins import catalogue
from podium.plugins.settings import assign_options, options_by_name, parameters_of, ranker_names
from podium.rankers.ranking import Ranking
from podium.ranking.rank_battles import rank, refuse_several_judges
from podium.tournaments.decisions import TournamentAnswer, build_tournament_answer
from podium.tournaments.schedule import TournamentRule, fixes_first_shown
from podium.tournaments.selection import ranked_before
from podium.wording import item_option


@dataclass(frozen=True, slots=True)
class Recording:
    """Recorded verdicts that stand in for a judge.

    Attributes:
        battles: the recorded battles.
        field: the models and items.
        codes: code of each recorded pairing, from 0.
        outcomes: outcome of each pairing, by code; repeats are averaged.
        calls: number of judge calls for each pairing, by code, shape (pairings,).
        code_of_row: code of the pairing of each row of the battles, shape (rows,); -1 for rows
            without an item.
    """

    battles: Battles
    field: Field
    codes: Mapping[Pairing, int]
    outcomes: tuple[Outcome, ...]
    calls: np.ndarray
    code_of_row: np.ndarray

    def code_of(self, pairing: Pairing) -> int | None:
        """Return the code of a pairing; None if it is not on record.

        If the pairing fixes an order that is not on record, the code of the same battle with an
        unknown order is returned, if there is one.
        """
        code = self.codes.get(pairing)
        if code is None and pairing.first:
            code = self.codes.get(pairing._replace(first=None))
        return code


@dataclass(frozen=True, slots=True)
class Price:
    """What a tournament costs.

    Attributes:
        battles: battles that the tournament asked for: judged, unparsed and missing ones.
        judged: battles with a credit.
        unparsed: battles on record whose replies could not be parsed.
        missing: battles that are not on record.
        calls: judge calls of the battles on record. A battle that was judged in both orders took
            two calls, unless the tournament asked for one order.
        pairs: pairs of models that met.
        rounds: number of rounds.
        given: battles of models ranked before, given to the tournament at no price.
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
    """A tournament played on recorded verdicts.

    Attributes:
        rounds: the rounds with their outcomes, without the battles that were given.
        battles: the recorded battles that were played or given, with the tournament's answer.
        price: what the played battles cost.
        rows: mask of the played or given battles among the rows of the record, shape (rows,).
    """

    rounds: tuple[Round, ...]
    battles: Battles
    price: Price
    rows: np.ndarray


@dataclass(frozen=True, slots=True)
class Replay(Playthrough):
    """A tournament played on recorded verdicts, with the ranking of what was played.

    Attributes:
        tournament: name of the tournament.
        settings: settings of the tournament, by option.
        ranking: the ranking of `battles`.
    """

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
    the recorded battles of the models ranked before are given to the tournament. They are ranked,
    too, and cost nothing.

    Args:
        battles: battles from `read_battles`, or what it reads: a data frame, or a path.
        tournament: name of the tournament.
        rankers: names of rankers, a sequence or separated by commas.
        level: confidence level, in (0, 1).
        seed: seed of the tournament and of the rankers.
        pool: whether verdicts of several judges count together; a battle then has their mean.
        **options: options of the tournament and of the rankers. An option that both have goes to
            both, unless its value has commas or is the default of the tournament: it then goes to
            the tournament alone. `name.option` (through a dict) reaches one of them only.

    Returns:
        The rounds, their price, and the ranking.

    Raises:
        UsageError: a tournament, ranker or option is unknown, or a value is impossible.
        NotIdentifiedError: the battles have several judges or no items, or what was played cannot
            be ranked.
        PluginError: the tournament asks for a battle twice, or for an impossible one.
    """
    names = ranker_names(rankers)
    settings_by_tournament, ranker_options = divide_options(options, [tournament], names)
    settings = seed_settings(tournament, settings_by_tournament[tournament], seed, level)
    rule = catalogue.make_tournament(tournament, settings)
    replayed = play(rule, recording_of(battles, pool=pool, by_order=fixes_first_shown(rule)))
    ranking = rank(
        merge_orders(replayed.battles), names, level=level, seed=seed, pool=pool, **ranker_options
    )
    return Replay(
        rounds=replayed.rounds,
        battles=replayed.battles,
        price=replayed.price,
        rows=replayed.rows,
        tournament=tournament,
        settings=settings,
        ranking=_record_replay(ranking, tournament, settings, replayed.price),
    )


def _record_replay(
    ranking: Ranking, tournament: str, settings: Mapping[str, Any], price: Price
) -> Ranking:
    """Return a ranking with the replay that it is from.

    The diagnostics of each standings table get the tournament, its settings and its price under
    the key `replay`, and the options in the provenance get the tournament and its settings.

    Returns:
        A copy of the ranking.
    """
    replay_options = {"tournament": tournament, "settings": settings}
    diagnostics_of_replay = {"replay": {**replay_options, **asdict(price)}}
    standings = []
    for each in ranking.standings:
        standings.append(replace(each, diagnostics={**each.diagnostics, **diagnostics_of_replay}))
    options = {**ranking.provenance["options"], "replay": replay_options}
    provenance = {**ranking.provenance, "options": options}
    return replace(ranking, standings=tuple(standings), provenance=provenance)


def separate_orders(battles: Battles) -> Battles:
    """Return the battles with one row per judgment, if reading merged the two orders.

    Battles in memory are returned unchanged, because their judgments are unknown.
    """
    return replace(battles, rows=battles.rows.separate_orders())


def merge_orders(battles: Battles) -> Battles:
    """Return the battles with the two orders of each pair merged, if their rows are judgments.

    The same object is returned if there is nothing to merge. Pairs with one unparsed order keep the
    verdict of the other order if the battles were read so (`one_sided`); otherwise they are
    unparsed.
    """
    rows = battles.rows.join_orders(keep_one_sided=(battles.reading.get("one_sided") == "keep"))
    # The rows themselves are returned if they have no orders, or were merged before.
    if rows is battles.rows:
        return battles
    return replace(battles, rows=rows, whole=None)


def _plan_from_numbers(battles: Battles) -> str:
    """Return the command that plans from the number of models and the share of ties."""
    verdicts = battles.table["credit"].dropna().to_numpy(dtype=float)
    ties = float((verdicts == 0.5).mean()) if len(verdicts) else 0.0
    # A plan takes a share of ties below 1.
    return f"podium plan --models {len(battles.models)} --ties {min(ties, 0.99):.2g}"


def recording_of(
    battles: Battles | pd.DataFrame | str | Path, *, pool: bool = False, by_order: bool = False
) -> Recording:
    """Return battles as a recording, from which a tournament is replayed.

    Battles without an item are left out. Several battles of a pair on an item are one pairing,
    whose outcome is their mean.

    Args:
        battles: battles, or what `read_battles` reads.
        pool: whether verdicts of several judges count together.
        by_order: whether the two orders of a pair are pairings of their own.

    Raises:
        NotIdentifiedError: the battles have several judges and `pool` is false, or no items.
    """
    if not isinstance(battles, Battles):
        battles = read_battles(battles)
    if not pool:
        refuse_several_judges(battles)
    if not battles.has_items:
        raise NotIdentifiedError(
            "no item column: plans and replays need to know which battles are about one item; name "
            f"the column, as --columns {item_option(battles.likely_item)}; if there is none, as in "
            f"a table of wins, plan from numbers: `{_plan_from_numbers(battles)}`"
        )
    if by_order:
        battles = separate_orders(battles)
    names = battles.models
    items = battles.table["item"]
    item_names = items.cat.categories.tolist()
    rows = _rows_by_name(battles, by_order)
    has_item = (rows["item"] >= 0).to_numpy()
    by_pairing = rows[has_item].groupby(["item", "a", "b", "shown"])
    code = np.full(len(rows), -1)
    code[has_item] = by_pairing.ngroup()
    means = by_pairing[["credit", "margin"]].mean().astype(object)
    pairings = []
    for item, a, b, number_shown_first in means.index:
        # `number_shown_first` is 0, 1 or 2: unknown, a first, or b first.
        first = (None, names[a], names[b])[number_shown_first]
        pairings.append(Pairing(item_names[item], names[a], names[b], first=first))
    means = means.where(means.notna(), None)
    fields_of_outcomes = zip(pairings, means["credit"], means["margin"], strict=True)
    return Recording(
        battles=battles,
        field=_field_of(battles),
        codes={pairing: k for k, pairing in enumerate(pairings)},
        outcomes=tuple(Outcome(*fields) for fields in fields_of_outcomes),
        calls=by_pairing["calls"].sum().to_numpy(),
        code_of_row=code,
    )


def _field_of(battles: Battles) -> Field:
    """Return the models, the items and, if there are any, the groups of items of battles."""
    items = tuple(battles.table["item"].dropna().unique())
    if battles.group is None:
        return Field(models=battles.models, items=items, absent={})
    groups = battles.table[["item", battles.group]].dropna().drop_duplicates("item")
    group_of_item = dict(zip(groups["item"], groups[battles.group].astype(str), strict=True))
    return Field(
        models=battles.models, items=items, absent={}, groups=group_of_item, unit=battles.unit
    )


def _rows_by_name(battles: Battles, by_order: bool) -> pd.DataFrame:
    """Return the rows of battles, turned so that `a` is the model that is first by name.

    The columns are `item` (code), `a` and `b` (codes of the models), `shown` (1 if `a` was shown
    first, 2 if `b` was, 0 if this is unknown or `by_order` is false), `credit` and `margin` of
    `a`, and `calls` (number of judge calls, 0 for a tie of identical responses). Credit and margin
    are NaN for unparsed battles.
    """
    table = battles.table
    a, b = battles.model_codes
    is_turned = a > b
    credit = table["credit"].to_numpy()
    margin = battles.numbers_of("margin")
    margin_of_a = np.where(is_turned, -margin, margin)
    number_shown_first = np.zeros(len(table), dtype=np.int64)
    if by_order and "order" in table:
        is_ab = table["order"].eq("ab").to_numpy(dtype=bool)
        is_ba = table["order"].eq("ba").to_numpy(dtype=bool)
        # In the order ab, the first model of the row was shown first: it is `a` unless turned.
        number_shown_first[np.where(is_turned, is_ba, is_ab)] = 1
        number_shown_first[np.where(is_turned, is_ab, is_ba)] = 2
    calls: Any = 1.0
    if "swap" in table:
        # A row with merged orders has a value in `swap` and took two calls.
        calls = np.where(table["swap"].notna(), 2.0, 1.0)
    columns = {
        "item": table["item"].cat.codes,
        "a": np.minimum(a, b),
        "b": np.maximum(a, b),
        "shown": number_shown_first,
        "credit": np.where(is_turned, 1 - credit, credit),
        "margin": np.where(np.isnan(credit), np.nan, margin_of_a),
        "calls": calls,
    }
    rows = pd.DataFrame(columns)
    if IDENTICAL in table:
        rows.loc[table[IDENTICAL].eq(True).to_numpy(dtype=bool), "calls"] = 0.0
    return rows


def play(tournament: TournamentRule, record: Recording) -> Playthrough:
    """Play a tournament on recorded verdicts until it is over.

    If newcomers join a ranking, the recorded battles of the models ranked before are given to the
    tournament as a round of their own, which is not in the result's rounds.

    Raises:
        PluginError: the tournament asks for a battle twice, or for an impossible one.
    """
    ladder = getattr(tournament, "ratings", None)
    given_outcomes = _given_outcomes(tournament, record)
    before = (Round(given_outcomes, "ranked before"),) if given_outcomes else ()
    rounds: list[Round] = []
    played_pairings: set[Pairing] = set()
    coming = tournament.next(record.field, before)
    while coming.pairings:
        is_repeated_in_round = len(set(coming.pairings)) < len(coming.pairings)
        was_played_before = not played_pairings.isdisjoint(coming.pairings)
        if is_repeated_in_round or was_played_before:
            # A tournament that ignores what was played would never end.
            raise PluginError(
                f"{tournament!r} asks for a battle twice; a tournament must read what was played"
            )
        played_pairings.update(coming.pairings)
        outcomes = tuple(_outcome_of(pairing, record) for pairing in coming.pairings)
        rounds.append(Round(outcomes, coming.note))
        coming = tournament.next(record.field, (*before, *rounds))
    price = _count_costs(record, rounds, len(given_outcomes))
    pairings = [*played_pairings, *(outcome.pairing for outcome in given_outcomes)]
    rows = np.isin(record.code_of_row, _codes_on_record(pairings, record))
    battles = record.battles.select(rows)
    claimed_answer = _claimed_answer(tournament, record.field, (*before, *rounds), battles)
    answer = None
    if claimed_answer is not None:
        answer = replace(claimed_answer, calls=price.calls).to_dict()
    battles = replace(battles, missing=price.missing, answer=answer, ladder=ladder)
    return Playthrough(tuple(rounds), battles, price, rows)


def _claimed_answer(
    tournament: TournamentRule, field: Field, played: Sequence[Round], battles: Battles
) -> TournamentAnswer | None:
    """Return the answer of a tournament, without decisions if a column groups items that are alike.

    None if the tournament has no stopping rule, or had no interim analysis.

    Args:
        tournament: the tournament.
        field: the models and items.
        played: the rounds.
        battles: the battles of these rounds, with the recorded columns of their items.
    """
    answer = build_tournament_answer(tournament, field, played)
    if answer is None:
        return None
    # The check of the groups takes longer than the answer, which few tournaments have.
    doubt = why_not_claimed(battles)
    if not doubt:
        return answer
    return build_tournament_answer(tournament, field, played, doubt=doubt)


def _given_outcomes(tournament: TournamentRule, record: Recording) -> tuple[Outcome, ...]:
    """Return the recorded outcomes between models that were ranked before the tournament.

    They are given to a tournament in which newcomers join a ranking. The order is that of the
    record. The tuple is empty for other tournaments, and if the ratings of the ranking are given.
    """
    ranked = {*ranked_before(tournament, record.field)}
    # If ratings are given, the battles are not given as well: the ratings may come from them, and
    # they must not count twice.
    if not ranked or getattr(tournament, "ratings", None) is not None:
        return ()
    return tuple(
        outcome
        for outcome in record.outcomes
        if ranked.issuperset((outcome.pairing.a, outcome.pairing.b))
    )


def _codes_on_record(pairings: Sequence[Pairing], record: Recording) -> list[int]:
    """Return the codes of the pairings that are on record, in their order.

    Pairings that are not on record are skipped.
    """
    codes = map(record.code_of, pairings)
    return [code for code in codes if code is not None]


def divide_options(
    options: Mapping[str, Any], tournaments: Sequence[str], rankers: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Divide options between tournaments and rankers.

    An option that both have goes to both. It goes to the tournament only if its value is the
    tournament's default, or has commas. An option that no tournament has goes to the rankers, also
    if they do not know it.

    Args:
        options: values by `option` or `name.option`.
        tournaments: names of the tournaments.
        rankers: names of the rankers.

    Returns:
        The options of each tournament by its name, and the options of the rankers.

    Raises:
        UsageError: there is no such tournament or ranker.
    """
    parameters_by_tournament = options_by_name((), tournaments)
    defaults = {}
    for parameters in parameters_by_tournament.values():
        for option, parameter in parameters.items():
            defaults[option] = parameter.default
    shared_options: set[str] = set()
    for parameters in options_by_name(rankers).values():
        shared_options |= parameters.keys()
    for option, default in defaults.items():
        value = options.get(option)
        has_several_values = "," in str(value)
        if value == default or has_several_values:
            shared_options.discard(option)
    by_tournament, unassigned = assign_options(options, parameters_by_tournament)
    ranker_options = {
        key: value for key, value in options.items() if key in unassigned or key in shared_options
    }
    return by_tournament, ranker_options


def seed_settings(
    name: str, settings: Mapping[str, Any], seed: int, level: float | None = None
) -> dict[str, Any]:
    """Return a tournament's settings with seed and level, if it takes these.

    Args:
        name: name of the tournament.
        settings: settings of the tournament, by option; a seed or level in them is kept.
        seed: the seed.
        level: confidence level, which is added only to a tournament that stops early (`until`);
            None to add no level.

    Raises:
        UsageError: there is no such tournament.
    """
    parameters = parameters_of(catalogue.tournament_rule(name))
    defaults: dict[str, Any] = {}
    if "seed" in parameters:
        defaults["seed"] = seed
    if "level" in parameters and level is not None and settings.get("until"):
        defaults["level"] = level
    return {**defaults, **settings}


def _count_costs(record: Recording, rounds: Sequence[Round], given_battles: int) -> Price:
    """Count what the rounds cost.

    Args:
        record: the recorded verdicts.
        rounds: the rounds, without the battles that were given before.
        given_battles: number of battles that were given to the tournament before. They cost
            nothing; the number becomes `given` of the result.
    """
    requested = [outcome for round_played in rounds for outcome in round_played.outcomes]
    readable = sum(outcome.credit is not None for outcome in requested)
    on_record = _codes_on_record([outcome.pairing for outcome in requested], record)
    has_fixed_orders = all(outcome.pairing.first for outcome in requested)
    # Ties of identical responses took no calls. If every order was asked for by the tournament, any
    # other battle has one call.
    calls_of_battles = record.calls[on_record]
    calls = calls_of_battles.sum()
    if has_fixed_orders:
        calls = (calls_of_battles > 0).sum()
    return Price(
        battles=len(requested),
        judged=readable,
        unparsed=len(on_record) - readable,
        missing=len(requested) - len(on_record),
        calls=int(calls),
        pairs=len({(outcome.pairing.a, outcome.pairing.b) for outcome in requested}),
        rounds=len(rounds),
        given=given_battles,
    )


def _outcome_of(pairing: Pairing, record: Recording) -> Outcome:
    """Return the recorded outcome of a battle, with this pairing.

    Its credit is None if the battle is unparsed or not on record.

    Raises:
        PluginError: the battle is not on record, and a model is not in the field, the models are
            not sorted by name, or the model to be shown first is neither of them.
    """
    code = record.code_of(pairing)
    if code is not None:
        return record.outcomes[code]._replace(pairing=pairing)
    models = record.field.models
    pair = (pairing.a, pairing.b)
    is_in_field = pairing.a in models and pairing.b in models
    if is_in_field and pairing.a < pairing.b and pairing.first in (None, *pair):
        return Outcome(pairing, credit=None)
    raise PluginError(
        f"no such battle: {pairing}; a pairing names two models of the field, the first by name "
        "first"
    )
