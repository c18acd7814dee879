"""Write battles as preference data: a prompt with the better and the worse of two responses.

The columns `prompt`, `chosen` and `rejected` are those that TRL's DPO trainer documents
(huggingface.co/docs/trl/dataset_formats), in its conversational or its standard format.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.battles import Battles
from podium.data.jury_verdicts import is_merging_jury, merge_jury_verdicts
from podium.data.task_names import tasks_by_value, tasks_of_battles
from podium.errors import UsageError
from podium.frames import is_missing
from podium.show.report.export_options import PreferenceOptions
from podium.storage.atomic_files import atomic_file
from podium.storage.remote import Place
from podium.text import as_text
from podium.wording import item_option

if TYPE_CHECKING:
    import pandas as pd

    from podium.show.page.sources import BattleTexts

FLIP = "flip"
"""Agreement of a pair whose two orders have different winners."""
MIXED = "mixed"
"""Agreement of a pair whose judges or repeats do not all agree alike with their other order."""
ONE_ORDER = "one order"
"""Agreement of a pair that was judged in one order only."""
UNPARSED = "unparsed"
"""Reason why a pair is withheld: no verdict of the pair was parsed."""
SCORELESS = "without a score"
"""Reason why a pair is withheld: a response has no score."""
TEXTLESS = "without the texts"
"""Reason why a pair is withheld: the instruction or a response is not known."""
AMBIGUOUS = "of an unknown one of several responses"
"""Reason why a pair is withheld: a model has several responses to the item, and verdicts do not say
which one was judged.
"""
MEDIA = "with images or other media"
"""Reason why a pair is withheld: the instruction has images or other media."""
TRANSCRIPTS = "of agents' transcripts"
"""Reason why a pair is withheld: a response is a transcript of an agent."""
IDENTICAL = "with identical responses"
"""Reason why a pair is withheld: both responses are the same."""
FLIPS = "flip"
"""Reason why a pair is withheld: the two orders have different winners."""
TIES = "tie"
"""Reason why a pair is withheld: its mean credit is that of a tie."""
REASONS = (UNPARSED, SCORELESS, TEXTLESS, AMBIGUOUS, MEDIA, TRANSCRIPTS, IDENTICAL, FLIPS, TIES)
"""Why a pair is withheld, in the order in which the reasons are looked for."""
REMEDIES_OF_REASONS = {
    UNPARSED: "fix the judge's replies first: `podium diagnose` says what is wrong with them",
    SCORELESS: "give verdicts of models that have scores",
    TEXTLESS: "name the files of the responses, as --responses answers/",
    AMBIGUOUS: "give verdicts that say which of several responses they are about",
    MEDIA: "give battles whose instructions are texts alone",
    TRANSCRIPTS: "play a tournament of the final answers, with -T show=answer",
    IDENTICAL: "give battles of different responses",
    FLIPS: "give verdicts that have a winner",
    TIES: "give verdicts that have a winner",
}
"""What to do if all pairs are withheld, by the most frequent reason."""
PAIR = ("task", "item", "response", "model_a", "model_b")
"""Columns that identify a pair of responses."""
SOURCE = ("judge", "metric")
"""Columns that say who or what decided a pair."""
TIE = 0.5
"""Mean credit of a tie."""


@dataclass(frozen=True, slots=True)
class PreferenceData:
    """Preferences, and what was withheld.

    Attributes:
        rows: the preferences, by column.
        withheld: number of pairs that are not among the rows, by reason (`REASONS`).
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    withheld: Counter[str] = field(default_factory=Counter)

    @property
    def pairs(self) -> int:
        """Number of all pairs, written or withheld."""
        return len(self.rows) + self.withheld.total()


def preference_data(
    battles: Battles, texts: "BattleTexts", options: PreferenceOptions
) -> PreferenceData:
    """Return the preferences of battles as rows of preference data.

    A row has the mean credit of all verdicts of a judge (of all judges with `pool`) on two
    responses to an item: both orders, repeats and votes. The first reason of `REASONS` that holds
    withholds a pair.

    Args:
        battles: the battles, with the two orders merged.
        texts: instructions and responses.
        options: which pairs are written, and how.

    Raises:
        UsageError: the battles have no items.
    """
    if not battles.has_items:
        option = f"--columns {item_option(battles.likely_item)}"
        raise UsageError(
            f"no item column: texts are matched by item and model; name it, as {option}"
        )
    data = PreferenceData()
    repeated = set[tuple[str, str]]()
    if "response" not in battles.columns:
        repeated = {(item, model) for item, number, model in texts.responses if number > 1}
    for cells in _merge_verdicts(battles, pool=options.pool).to_dict("records"):
        pair = {str(name): value for name, value in cells.items()}
        reason = _withholding_reason(pair, texts, repeated, options)
        if reason is None:
            data.rows.append(_build_row(pair, texts, options.form))
        else:
            data.withheld[reason] += 1
    return data


def _merge_verdicts(battles: Battles, *, pool: bool) -> "pd.DataFrame":
    """Return a row for each pair and judge, or for each pair with `pool`.

    Battles without an item are left out. If there are no others, the frame is empty and has no
    columns. Cells without a value are None. The columns are those of `PAIR` and `SOURCE` and these:

    - `category`;
    - `credit`: the mean credit of model_a, whose name sorts first, over the readable verdicts, by
      weight; None if no verdict is readable. Of a jury with `pool`, its rule gives the credit;
    - `agreement`: how the orders agree: `same`, `half`, `flip`, `one-sided`, `unparsed` or
      `ONE_ORDER` if all verdicts whose orders are known are alike in this, else `MIXED`; None if
      no order is known;
    - `identical`: whether the responses are identical;
    - `lacks`: True if all of these battles have no credit because a score is missing; False if any
      was read or is unparsed.
    """
    import pandas as pd

    rows = _judgments_of_pairs(battles)
    keys = [*PAIR] if pool else [*PAIR, *SOURCE]
    rows["read_weight"] = rows["weight"].where(rows["credit"].notna(), 0.0)
    rows["weighted"] = rows["credit"].fillna(0.0) * rows["read_weight"]
    groups = rows.groupby(keys, sort=False, dropna=False)
    merged = groups[["weighted", "read_weight"]].sum()
    merged["credit"] = merged["weighted"].div(merged["read_weight"].replace(0.0, np.nan))
    merged["agreement"] = groups["agreement"].agg(_joint_agreement)
    merged["category"] = groups["category"].first()
    merged["identical"] = groups["identical"].any()
    merged["lacks"] = groups["lacks"].all()
    if pool:
        for name in SOURCE:
            merged[name] = groups[name].agg(_join_sources)
    table = merged.reset_index()
    if pool and is_merging_jury(battles):
        keyed = table.drop(columns="credit").astype(dict.fromkeys(PAIR, object))
        table = keyed.merge(_credits_of_jury(battles), "left", [*PAIR])
    return table.astype(object).where(table.notna(), None) if len(table) else pd.DataFrame()


def _judgments_of_pairs(battles: Battles) -> "pd.DataFrame":
    """Return the columns of battles that preferences need, with model_a the first by name.

    Battles without an item are left out. The columns are `PAIR`, `SOURCE`, `category`, `credit` (of
    model_a), `weight` (1 if unknown), `agreement` (of the orders), `identical` and `lacks` (whether
    a score is missing).
    """
    import pandas as pd

    table = battles.table
    rows = pd.DataFrame(index=table.index)
    for name in (*PAIR, *SOURCE, "category"):
        rows[name] = as_text(table[name]) if name in table else None
    rows["task"] = _tasks_of_battles_in_rows(battles, rows["task"])
    rows["response"] = battles.responses
    rows["credit"] = table["credit"].astype(float)
    rows["weight"] = table["weight"].astype(float).fillna(1.0) if "weight" in table else 1.0
    rows["agreement"] = _order_agreements(table)
    rows["identical"] = table["identical"].eq(True) if "identical" in table else False
    rows["lacks"] = ~battles.readable & ~battles.is_unparsed
    is_sorted = rows["model_a"] <= rows["model_b"]
    first_by_name = rows["model_a"].where(is_sorted, rows["model_b"])
    rows["model_b"] = rows["model_b"].where(is_sorted, rows["model_a"])
    rows["model_a"] = first_by_name
    rows["credit"] = rows["credit"].where(is_sorted, 1 - rows["credit"])
    return rows[rows["item"].notna()]


def _tasks_of_battles_in_rows(battles: Battles, written: "pd.Series") -> "pd.Series":
    """Return the names of the tasks of each battle, separated by commas; None if unknown.

    Without a column `task`, each row has the names of the tasks of all battles. The index is that
    of `written`.

    Args:
        battles: the battles.
        written: their column `task`, with None where there is none.
    """
    import pandas as pd

    if "task" not in battles.columns:
        return pd.Series(", ".join(tasks_of_battles(battles)) or None, written.index, dtype=object)
    names = {value: ", ".join(tasks) or None for value, tasks in tasks_by_value(battles).items()}
    return written.map(names)


def _order_agreements(table: "pd.DataFrame") -> "pd.Series":
    """Return how the two orders of each battle agree, with the index of `table`.

    For merged orders, the value is that of the column `swap`: `same`, `half` (one order is a tie),
    `flip`, `one-sided` (one order is unparsed) or `unparsed` (both are). It is `ONE_ORDER` for a
    battle of one known order, and None if no order is known.
    """
    import pandas as pd

    unknown = pd.Series(None, table.index, dtype=object)
    swap = table["swap"].astype(object) if "swap" in table else unknown
    if "order" not in table:
        return swap.where(swap.notna(), None)
    is_one_order = table["order"].astype(object).isin(("ab", "ba"))
    return swap.where(swap.notna(), pd.Series(ONE_ORDER, table.index).where(is_one_order, None))


def _joint_agreement(values: "pd.Series") -> str | None:
    """Return the agreement of several verdicts on one pair.

    If all known values are alike, the result is this value, else `MIXED`. None if all are unknown.
    """
    distinct_values = {value for value in values if not is_missing(value)}
    if len(distinct_values) > 1:
        return MIXED
    return next(iter(distinct_values), None)


def _join_sources(values: "pd.Series") -> str | None:
    """Return the distinct names in a column as one text, sorted and joined by commas.

    The result is None if there is no name.
    """
    names = {str(value) for value in values if not is_missing(value)}
    return ", ".join(sorted(names)) or None


def _credits_of_jury(battles: Battles) -> "pd.DataFrame":
    """Return the credit of each pair by the rule of its jury.

    A frame with the columns of `PAIR` and `credit`, the credit of `model_a`. Battles without an
    item are left out.
    """
    merged = merge_jury_verdicts(battles)
    rows = _judgments_of_pairs(replace(merged, whole=None))[[*PAIR, "credit"]]
    return rows.astype(dict.fromkeys(PAIR, object))


def _withholding_reason(
    pair: Mapping[str, Any],
    texts: "BattleTexts",
    with_several: Iterable[tuple[str, str]],
    options: PreferenceOptions,
) -> str | None:
    """Return the first reason in `REASONS` why a pair is withheld; None if it is written.

    With `options.flips`, a pair whose orders have different winners is written even if its mean
    credit is that of a tie.

    Args:
        pair: a row of `_merge_verdicts`.
        texts: instructions and responses.
        with_several: pairs of item and model with several responses, if verdicts do not say of
            which response they are.
        options: which pairs are written.
    """
    if pair["credit"] is None:
        return SCORELESS if pair["lacks"] else UNPARSED
    item = pair["item"]
    models = (pair["model_a"], pair["model_b"])
    keys = [(item, pair["response"], model) for model in models]
    has_responses = all(key in texts.responses for key in keys)
    if item not in texts.instructions or not has_responses:
        return TEXTLESS
    if any((item, model) in with_several for model in models):
        return AMBIGUOUS
    if item in texts.media:
        return MEDIA
    if any(key in texts.transcripts for key in keys):
        return TRANSCRIPTS
    first, second = (texts.responses[key].strip() for key in keys)
    if pair["identical"] or first == second:
        return IDENTICAL
    if pair["agreement"] == FLIP:
        return None if options.flips else FLIPS
    if _is_tie(pair["credit"]) and not options.ties:
        return TIES
    return None


def _is_tie(credit: float) -> bool:
    """Return whether a mean credit is that of a tie, up to rounding."""
    return isclose(credit, TIE, abs_tol=1e-9)


def _build_row(pair: Mapping[str, Any], texts: "BattleTexts", form: str) -> dict[str, Any]:
    """Return the row of a pair, with the response of higher credit as `chosen`.

    With credit 0.5, a hash of the pair decides which response stands in `chosen`, so that no model
    is always there.

    Args:
        pair: a row of `_merge_verdicts` with a credit.
        texts: instructions and responses, which have those of the pair.
        form: one of `export_options.FORMS`.
    """
    item = pair["item"]
    credit = pair["credit"]
    preferred = pair["model_a"]
    rejected = pair["model_b"]
    is_turned = credit < TIE
    if _is_tie(credit):
        pair_as_text = json.dumps([item, preferred, rejected])
        first_byte, *_ = sha256(pair_as_text.encode()).digest()
        is_turned = first_byte % 2 == 1
    if is_turned:
        preferred, rejected = rejected, preferred
    system = texts.systems.get(item)
    texts_of_pair = {
        "prompt": _prompt_in_form(texts.instructions[item], system, form),
        "chosen": _response_in_form(texts.responses[item, pair["response"], preferred], form),
        "rejected": _response_in_form(texts.responses[item, pair["response"], rejected], form),
    }
    return {
        **texts_of_pair,
        "credit": max(credit, 1 - credit),
        "order_agreement": pair["agreement"],
        "judge": pair["judge"],
        "metric": pair["metric"],
        "chosen_model": preferred,
        "rejected_model": rejected,
        "task": pair["task"],
        "item": item,
        "response": int(pair["response"]),
        "category": pair["category"],
    }


def _prompt_in_form(instruction: str, system: str | None, form: str) -> Any:
    """Return the prompt of a row in a form of `export_options.FORMS`.

    For `standard` the prompt is a text with the system prompt first, otherwise a list of messages.
    `system` is None if there is no system prompt.
    """
    if form == "standard":
        whole = instruction if system is None else f"{system}\n\n{instruction}"
        return _escape_surrogates(whole)
    messages = [] if system is None else [_chat_message("system", system)]
    return [*messages, _chat_message("user", instruction)]


def _response_in_form(text: str, form: str) -> Any:
    """Return a response of a row in a form of `export_options.FORMS`.

    For `standard` the response is a text, otherwise a list with one message of the assistant.
    """
    return _escape_surrogates(text) if form == "standard" else [_chat_message("assistant", text)]


def _chat_message(role: str, text: str) -> dict[str, str]:
    """Return a message of a chat: a dictionary with `role` and `content`."""
    return {"role": role, "content": _escape_surrogates(text)}


def _escape_surrogates(text: str) -> str:
    """Return a text in which what UTF-8 cannot encode (lone surrogates) is escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_preferences(rows: Sequence[Mapping[str, Any]], place: Place, form: str) -> None:
    """Write rows of preference data atomically, as JSON lines or as Parquet.

    Args:
        rows: the rows.
        place: the file; its suffix decides the format.
        form: one of `export_options.FORMS`, which decides the types of the columns in Parquet.

    Raises:
        OSError: the file cannot be written.
        UsageError: the place is remote, and nothing can be written there.
        DataError: the place is remote, and its store cannot be reached.
    """
    with atomic_file(place) as temporary:
        if place.suffix == ".parquet":
            _write_parquet(rows, str(temporary), form)
            return
        with temporary.open("w", encoding="utf-8") as stream:
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_parquet(rows: Sequence[Mapping[str, Any]], path: str, form: str) -> None:
    """Write rows of preference data as Parquet, with the same types whatever the rows are.

    Args:
        rows: the rows, as `_build_row` returns them.
        path: the file.
        form: one of `export_options.FORMS`. In `standard`, prompt and responses are texts, else
            lists of messages.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    message = pa.struct([("role", text), ("content", text)])
    type_of_texts = text if form == "standard" else pa.list_(message)
    types = {
        "prompt": type_of_texts,
        "chosen": type_of_texts,
        "rejected": type_of_texts,
        "credit": pa.float64(),
        "order_agreement": text,
        "judge": text,
        "metric": text,
        "chosen_model": text,
        "rejected_model": text,
        "task": text,
        "item": text,
        "response": pa.int64(),
        "category": text,
    }
    pq.write_table(pa.Table.from_pylist(list(rows), schema=pa.schema(types)), path)
