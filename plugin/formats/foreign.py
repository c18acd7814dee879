"""Tables in no known format: the user names the columns and translates the verdicts."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from podium.counting.relations import ROW, text
from podium.errors import DataError, UsageError, unknown_name
from podium.formats.records import Column, Records, shorten
from podium.nouns.battles import COLUMNS, criterion_columns

NAMES = frozenset({*COLUMNS, "model", "score", "length"})
"""Columns of a battles table, and of a table of scores."""
ORDER_SHOWN = {"a": "'ab'", "b": "'ba'", "unknown": "cast(null as varchar)"}
WORDS: dict[str, float] = {
    **dict.fromkeys(("win", "won", "a", "left", "model_a", "model_1", "1", "true", "yes"), 1),
    **dict.fromkeys(("loss", "lose", "lost", "b", "right", "model_b", "model_2", "0", "false", "no"), 0),
    **dict.fromkeys(("tie", "draw"), 0.5),
}
"""What verdicts may mean, as a proposal: the user decides."""
LONGEST_WORD = 40


@dataclass(frozen=True, slots=True)
class Foreign:
    """How to read a table that is in no known format.

    Attributes:
        columns: the contract's name to the foreign one, for example `{"item": "prompt"}`.
        credit_map: foreign verdict to credit, for example `{"1": 1, "0": 0.5, "-1": 0}`; empty cells are unparsed.
        unknown: what a verdict outside the map is: an `error`, or `unparsed`.
        shown: whose response was shown first where no `order` column says it: `a`, `b` or `unknown`.
        fill: one value for every row, for columns that the table lacks, for example `{"model_b": "baseline"}`.
    """

    columns: Mapping[str, str] | None = None
    credit_map: Mapping[str, float] | None = None
    unknown: Literal["error", "unparsed"] = "error"
    shown: Literal["a", "b", "unknown"] | None = None
    fill: Mapping[str, str] | None = None


def name_columns(records: Records, foreign: Foreign) -> Records:
    """Give the columns that `--columns` names the contract's names, and add those of `--fill`.

    A column that bore such a name before gives way.

    Raises:
        UsageError: podium's table has no such column, the file has not, or has one that is filled.
    """
    columns, fill = foreign.columns or {}, foreign.fill or {}
    known = NAMES | {*criterion_columns(columns)}
    for name in columns:
        if name not in known:
            raise unknown_name("column of podium's table", name, NAMES)
    absent = [name for name in columns.values() if name not in records.columns]
    if absent:
        raise UsageError(f"there is no column {absent[0]!r}; columns: {', '.join(records.columns)}")
    gone = {*columns.values(), *columns}
    named = {name: column for name, column in records.columns.items() if name not in gone}
    named |= {new: records.columns[old] for new, old in columns.items()}
    for name, value in fill.items():
        if name not in NAMES:
            raise unknown_name("column of podium's table", name, NAMES)
        if name in named:
            raise UsageError(f"--fill {name}: the table has a column {name!r} already; name another with --columns")
        named[name] = Column(text(value))
    return replace(records, columns=named)


def translate_verdicts(records: Records, foreign: Foreign) -> Records:
    """Translate the column credit by `credit_map`, and say the order by a column of booleans, or by `shown`.

    Raises:
        UsageError: there is a map and no column credit.
        DataError: a verdict is not in the map, unless unknown ones are unparsed; or there is no map, and all are words.
    """
    if foreign.credit_map is not None:
        records = _translate_credit(records, foreign.credit_map, foreign.unknown)
    columns = dict(records.columns)
    if "order" in columns:
        columns["order"] = _order(records)
    elif foreign.shown is not None:
        columns["order"] = Column(ORDER_SHOWN[foreign.shown])
    return replace(records, columns=columns)


def _order(records: Records) -> Column:
    """Read a column of booleans as ab where true and ba where false; other columns stay as they are."""
    column = records.columns["order"]
    word = f"lower({column.text})"
    if records.rows("1", f"where {word} not in ('true', 'false') limit 1"):
        return column
    return Column(f"case {word} when 'true' then 'ab' when 'false' then 'ba' end")


def _translate_credit(records: Records, credit_map: Mapping[str, float], unknown: str) -> Records:
    if "credit" not in records.columns:
        raise UsageError("--credit-map translates the column credit, and there is none; name it with --columns")
    words = records.columns["credit"].text
    cases = " ".join(f"when {_key(text(word))} then {float(credit)!r}::double" for word, credit in credit_map.items())
    credit = f"case {_key(words)} {cases} end"
    strange = f"{words} is not null and {credit} is null"
    if unknown == "error":
        _refuse_strange(records, words, strange, credit_map)
    reason = records.columns["reason"].text if "reason" in records.columns else "null"
    explained = Column(f"case when {strange} then 'unknown verdict' else {reason} end")
    return replace(records, columns={**records.columns, "credit": Column(credit, "DOUBLE"), "reason": explained})


def _refuse_strange(records: Records, words: str, strange: str, credit_map: Mapping[str, float]) -> None:
    (count, row, word), *_ = records.rows(f"count(*), min({ROW}), arg_min({words}, {ROW})", f"where {strange}")
    if not count:
        return
    more = f" ({count} such rows)" if count > 1 else ""
    rest = [name for (name,) in records.rows(f"distinct {words}", f"where {strange} order by 1 limit 20")]
    whole = {**{name: f"{credit:g}" for name, credit in credit_map.items()}, **_proposal(rest)}
    problem = f"credit {shorten(repr(word))} is not in --credit-map{more}"
    remedy = f"add it, or pass --unknown unparsed; for example {_as_option(whole)}"
    raise DataError(problem, remedy=remedy, row=records.name_row(row))


def propose_map(records: Records, in_python: bool = False) -> str | None:
    """Return a `--credit-map` to copy, with the words that stand in the column credit; None where numbers do."""
    if "credit" not in records.columns or records.columns["credit"].is_number:
        return None
    column = records.columns["credit"]
    words = [word for (word,) in records.rows(f"distinct {column.text}", f"where {column.strange} order by 1 limit 20")]
    if not words:
        return None
    credit_of = _proposal(words)
    pairs = ", ".join(f"{word!r}: {credit}" for word, credit in credit_of.items())
    return f"credit_map={{{pairs}}}" if in_python else _as_option(credit_of)


def _proposal(words: list[str]) -> dict[str, str]:
    """Return what each word may mean; `?` where podium cannot guess."""
    words = [word for word in words if len(word) <= LONGEST_WORD and not {",", "="} & {*word}]
    return {word: f"{WORDS[word.lower()]:g}" if word.lower() in WORDS else "?" for word in words}


def _as_option(credit_of: Mapping[str, str]) -> str:
    pairs = ",".join(f"{word}={credit}" for word, credit in credit_of.items())
    return f"--credit-map {shlex.quote(pairs)}"


def _key(words: str) -> str:
    """Write numbers one way, so that the map's 1 finds a file's 1.0."""
    return f"coalesce(cast(try_cast({words} as double) as varchar), {words})"
