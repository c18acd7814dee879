"""Read foreign tables, which are in no known format.

The user's options name the columns and translate the verdicts.
"""

from collections.abc import Mapping
from dataclasses import replace

from podium.data.battles import COLUMNS, criterion_columns
from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.records import Column, Records, column_called
from podium.data.formats.verdict_cells import LABEL_CREDITS
from podium.data.query import Foreign
from podium.errors import DataError, UsageError, unknown_name_error
from podium.notices.option_forms import format_assignments
from podium.printable import shorten

TO_FILL_IN = "?"
"""Stands in a proposed option for a column or credit that is not known. The user replaces it."""
FIRST = "first"
"""Column with the model whose response was shown first, which is what `credit` is about."""
KNOWN_COLUMNS = frozenset({*COLUMNS, "model", "score", "length", "wins_a", "wins_b", "ties", FIRST})
"""Columns of a battles table, of a table of scores and of a table of counts, which `--columns` may
name, and `FIRST`."""
ORDER_SHOWN = {"a": "'ab'", "b": "'ba'", "unknown": "cast(null as varchar)"}
"""SQL of the column `order` for each value of the option `--shown`."""
MOST_PROPOSED = 20
"""Largest number of verdicts in a `--credit-map` that an error proposes."""
LIKELY_CREDIT: dict[str, float] = {
    **dict.fromkeys(
        ("win", "won", "a", "left", "first", "model_a", "model_1", "1", "true", "yes", "leftvote"),
        1,
    ),
    **dict.fromkeys(
        ("loss", "lose", "lost", "b", "right", "second", "model_b", "model_2", "0", "false", "no"),
        0,
    ),
    "rightvote": 0,
    **dict.fromkeys(("tie", "draw", "equal", "same", "both", "neither"), 0.5),
    **dict.fromkeys(("tievote", "bothbad_vote", "bothbad", "both_bad", "both bad"), 0.5),
}
"""Likely credit of each word, in lower case, for the `--credit-map` that an error proposes."""


def name_columns(records: Records, foreign: Foreign) -> Records:
    """Return records with the columns of `--columns` renamed and the columns of `--fill` added.

    If another column has one of the new names already, it is dropped. `--columns` may also name the
    values of a key in a column of objects, by a path such as `parsed_result.choice`.

    Raises:
        UsageError: a name is not one of podium's, there is no such column, or `--fill` names a
            column that the table has.
    """
    columns = foreign.columns or {}
    fill = foreign.fill or {}
    known_columns = KNOWN_COLUMNS | {*criterion_columns(columns)}
    unknown = [name for name in columns if name not in known_columns]
    unknown += [name for name in fill if name not in KNOWN_COLUMNS]
    if unknown:
        raise unknown_name_error("column of podium's table", unknown[0], KNOWN_COLUMNS)
    column_by_name = {name: column_called(records, name) for name in columns.values()}
    missing = [name for name, column in column_by_name.items() if column is None]
    if missing:
        raise UsageError(
            f"there is no column {missing[0]!r}; columns: {', '.join(records.columns)}"
        )
    # A column of objects or lists that has a name of podium's would be checked as such a column.
    holders = {name.partition(".")[0] for name in columns.values() if name not in records.columns}
    replaced = {*columns.values(), *columns, *(holders & KNOWN_COLUMNS)}
    named_columns = {
        name: column for name, column in records.columns.items() if name not in replaced
    }
    for new, old in columns.items():
        column = column_by_name[old]
        if column is not None:
            named_columns[new] = column
    for name, value in fill.items():
        if name in named_columns:
            raise UsageError(
                f"--fill {name}: the table has a column {name!r} already; "
                "name another with --columns"
            )
        named_columns[name] = Column(sql_literal(value))
    return replace(records, columns=named_columns)


def translate_verdicts(records: Records, foreign: Foreign) -> Records:
    """Translate the column `credit` by `--credit-map`, and make the column `order`.

    Without `--credit-map`, labels such as `A>B` are translated (`_translate_labels`), and other
    credits stay as they are. If the column `order` has only booleans, they say whether model_a was
    shown first; other words stay. If there is no column `order`, the option `--shown` says for all
    rows which model was shown first. Without this option, no column is made.

    If `--columns` names the column `first`, verdicts are about the response of the model in it, as
    labels for A and B are: they are turned in the rows where that is model_b.

    Raises:
        UsageError: there is a map, and no column `credit`; or `first` is named beside `--shown`, or
            without both models.
        DataError: a verdict is not in the map, and `--unknown` is `error`; or a cell of `first` is
            neither of the two models.
    """
    order = _order_of_first(records, foreign) if FIRST in (foreign.columns or {}) else None
    if foreign.credit_map is not None:
        records = _translate_credit(records, foreign.credit_map, foreign.unknown, order)
    else:
        records = _translate_labels(records, foreign.shown)
    if order is not None:
        return _turn_verdicts(records, order, turns_credits=foreign.credit_map is None)
    columns = dict(records.columns)
    if "order" in columns:
        word = f"lower({columns['order'].text})"
        if not records.rows("1", f"where {word} not in ('true', 'false') limit 1"):
            order = f"case {word} when 'true' then 'ab' when 'false' then 'ba' end"
            columns["order"] = Column(order)
    elif foreign.shown is not None:
        columns["order"] = Column(ORDER_SHOWN[foreign.shown])
    return replace(records, columns=columns)


def _translate_credit(
    records: Records, credit_map: Mapping[str, float], unknown: str, order: str | None
) -> Records:
    """Translate the column `credit` by a map of verdicts.

    A verdict that is not in the map, but is the name of one of the two models, is a win of it.

    Args:
        records: the table.
        credit_map: credit by verdict.
        unknown: what happens to a verdict that is not in the map. With `unparsed`, the credit is
            empty and the reason is `unknown verdict`. With `error`, DataError is raised.
        order: SQL of the order of each row, if verdicts are about the response shown first; None if
            they are about model_a.

    Raises:
        UsageError: there is no column `credit`.
        DataError: a verdict is not in the map, and `unknown` is `error`.
    """
    if "credit" not in records.columns:
        raise UsageError(
            "--credit-map translates the column credit, which is missing; name it with --columns"
        )
    verdict = records.columns["credit"].text
    cases = " ".join(
        f"when {_number_or_text(sql_literal(word))} then {float(credit)!r}::double"
        for word, credit in credit_map.items()
    )
    credit = f"case {_number_or_text(verdict)} {cases} end"
    if order is not None:
        credit = f"case {order} when 'ba' then 1 - ({credit}) else {credit} end"
    credit = f"coalesce({credit}, {_credit_of_name(records, verdict)})"
    is_unknown = f"{verdict} is not null and {credit} is null"
    if unknown == "error":
        _reject_unknown_verdicts(records, verdict, is_unknown, credit_map)
    reason = records.columns["reason"].text if "reason" in records.columns else "null"
    reason_column = Column(f"case when {is_unknown} then 'unknown verdict' else {reason} end")
    return replace(
        records,
        columns={**records.columns, "credit": Column(credit, "DOUBLE"), "reason": reason_column},
    )


def _credit_of_name(records: Records, verdict: str) -> str:
    """Return SQL of the credit of a verdict that is the name of one of the models, else NULL.

    The credit is NULL, too, if both models have one name or the table lacks their columns.

    Args:
        records: the table.
        verdict: SQL of the verdicts.
    """
    model_a = records.columns.get("model_a")
    model_b = records.columns.get("model_b")
    if model_a is None or model_b is None:
        return "null"
    a, b = (model_a.text, model_b.text)
    is_winner = f"when {verdict} = {a} then 1.0 when {verdict} = {b} then 0.0"
    return f"case when {a} = {b} then null {is_winner} end"


def _order_of_first(records: Records, foreign: Foreign) -> str:
    """Return SQL of the order of each row, by the column `first`.

    It is `ab` if model_a was shown first, else `ba`. A cell has the name of one of the models, or
    `a`, `b`, `model_a` or `model_b`.

    Raises:
        UsageError: there are no columns with the models, or `--shown` says the order, too.
        DataError: a cell is empty, or something else.
    """
    columns = records.columns
    if not {FIRST, "model_a", "model_b"}.issubset(columns):
        raise UsageError(f"--columns {FIRST}=...: also name the columns model_a and model_b")
    if foreign.shown is not None:
        raise UsageError(f"--columns {FIRST}=... says which response was first: leave out --shown")
    first = columns[FIRST].text
    a, b = (columns["model_a"].text, columns["model_b"].text)
    order = (
        f"case when {first} = {a} then 'ab' when {first} = {b} then 'ba' "
        f"when lower({first}) in ('a', 'model_a') then 'ab' "
        f"when lower({first}) in ('b', 'model_b') then 'ba' end"
    )
    selection = f"count(*) as number, min({ROW}) as first_row, arg_min({first}, {ROW}) as word"
    ((count, row, word),) = records.rows(selection, f"where ({order}) is null")
    if count:
        cell_problem = (
            "is empty" if word is None else f"{shorten(repr(word))} is neither model of its row"
        )
        more = f" ({count} such rows)" if count > 1 else ""
        remedy = "write the name of the model that was shown first, or a or b"
        place = records.name_row(row)
        raise DataError(f"{FIRST} {cell_problem}{more}", row=place, remedy=remedy)
    return order


def _turn_verdicts(records: Records, order: str, *, turns_credits: bool) -> Records:
    """Return records with the column `order` instead of `first`, and margins about model_a.

    Args:
        records: the table. Its margins are about the response shown first.
        order: SQL of the order of each row.
        turns_credits: whether the credits are about the response shown first, too. Credits that are
            no numbers stay as they are, which is an error later.
    """
    columns = dict(records.columns)
    del columns[FIRST]
    columns["order"] = Column(order)
    if "margin" in columns:
        margin = columns["margin"].number
        turned = f"case {order} when 'ba' then -({margin}) else {margin} end"
        columns["margin"] = Column(turned, "DOUBLE")
    if turns_credits and "credit" in columns:
        credit = columns["credit"]
        has_words = records.rows("1", f"where {credit.non_number_condition} limit 1")
        if not has_words:
            number = credit.number
            turned = f"case {order} when 'ba' then 1 - ({number}) else {number} end"
            columns["credit"] = Column(turned, "DOUBLE")
    return replace(records, columns=columns)


def _translate_labels(records: Records, side_shown_first: str | None) -> Records:
    """Translate the column `credit` if all words in it are labels such as `A>B` or `[[B=A]]`.

    A is model_a. Numbers in the column stay credits. The table is returned as it is if there is
    another word, or if model_b was shown first in any row, because A may then be the response shown
    first.

    Args:
        records: the table.
        side_shown_first: which model was shown first in all rows of a table without orders; None if
            unknown.
    """
    if "credit" not in records.columns or records.columns["credit"].is_number:
        return records
    column = records.columns["credit"]
    words = records.rows(
        f"distinct {column.text}",
        f"where {column.non_number_condition} limit {len(LABEL_CREDITS) + 1}",
    )
    if not words or not {word for (word,) in words} <= LABEL_CREDITS.keys():
        return records
    order = records.columns.get("order")
    if order is None and side_shown_first == "b":
        return records
    if order is not None:
        is_second_first = f"lower({order.text}) in ('ba', 'false')"
        if records.rows("1", f"where {is_second_first} limit 1"):
            return records
    cases = " ".join(
        f"when {sql_literal(word)} then {credit!r}::double"
        for word, credit in sorted(LABEL_CREDITS.items())
    )
    credit = f"case {column.text} {cases} else {column.number} end"
    return replace(records, columns={**records.columns, "credit": Column(credit, "DOUBLE")})


def _reject_unknown_verdicts(
    records: Records, verdict: str, is_unknown: str, credit_map: Mapping[str, float]
) -> None:
    """Check that all verdicts are in the map.

    Args:
        records: the table.
        verdict: SQL of the verdicts.
        is_unknown: SQL condition that a verdict is not in the map.
        credit_map: credit by verdict.

    Raises:
        DataError: a verdict is not in the map. The message proposes a map with the known verdicts
            and the first `MOST_PROPOSED` others.
    """
    selection = f"count(*) as number, min({ROW}) as first_row, arg_min({verdict}, {ROW}) as word"
    ((count, row, word),) = records.rows(selection, f"where {is_unknown}")
    if not count:
        return
    unknown = records.rows(
        f"distinct {verdict}", f"where {is_unknown} order by 1 limit {MOST_PROPOSED}"
    )
    credits = {name: f"{credit:g}" for name, credit in credit_map.items()}
    credits |= likely_credits([name for (name,) in unknown])
    more = f" ({count} such rows)" if count > 1 else ""
    problem = f"credit {shorten(repr(word))} is not in --credit-map{more}"
    remedy = f"add it, or pass --unknown unparsed; for example {format_credit_map(credits)}"
    raise DataError(problem, remedy=remedy, row=records.name_row(row))


def propose_map(records: Records, in_python: bool = False) -> str | None:
    """Propose a credit map for the words in the column `credit`, as text that the user can copy.

    The result is None if `guess_credits` has none: there are no words, or too many numbers.

    Args:
        records: the table.
        in_python: whether to write the map as an argument in Python, and not as an option.
    """
    credits = guess_credits(records)
    if not credits:
        return None
    pairs = ", ".join(f"{word!r}: {credit}" for word, credit in credits.items())
    return f"credit_map={{{pairs}}}" if in_python else format_credit_map(credits)


def guess_credits(records: Records) -> dict[str, str]:
    """Return the likely credit of each word and number in the column `credit`, as text.

    The credits are guesses that the user must correct, and `?` for unknown words. The result is
    empty if there are no words that an option can hold, or more than `MOST_PROPOSED` numbers, which
    no map can list. Only the first `MOST_PROPOSED` words in sorted order are taken. A number from 0
    to 1 is its own credit, and any other number has the credit `?`.
    """
    if "credit" not in records.columns or records.columns["credit"].is_number:
        return {}
    column = records.columns["credit"]
    words = records.rows(
        f"distinct {column.text}",
        f"where {column.non_number_condition} order by 1 limit {MOST_PROPOSED}",
    )
    # A map must have all verdicts, the numbers, too.
    numbers = records.rows(
        f"distinct {column.text}",
        f"where {column.number} is not null order by 1 limit {MOST_PROPOSED + 1}",
    )
    if not words or len(numbers) > MOST_PROPOSED:
        return {}
    credits = likely_credits([word for (word,) in words])
    if not credits:
        return {}
    for (number,) in numbers:
        credits[number] = number if 0 <= float(number) <= 1 else TO_FILL_IN
    return credits


def likely_credits(words: list[str]) -> dict[str, str]:
    """Return the likely credit of each word, as text; `?` if it is unknown.

    Words with a comma, which cannot be written in an option, or with more than 40 characters are
    left out.
    """
    credits = {}
    for word in words:
        if len(word) > 40 or "," in word:
            continue
        credit = LIKELY_CREDIT.get(word.lower(), LABEL_CREDITS.get(word))
        credits[word] = TO_FILL_IN if credit is None else f"{credit:g}"
    return credits


def format_credit_map(credits: Mapping[str, str]) -> str:
    """Return the option `--credit-map` with these credits by verdict, quoted for a shell."""
    return format_assignments("credit-map", credits)


def _number_or_text(words: str) -> str:
    """Return SQL that writes equal numbers as equal text, so that 1 in a map matches 1.0.

    `words` is SQL of a text. A text that is no number is not changed.
    """
    return f"coalesce(cast(try_cast({words} as double) as varchar), {words})"
