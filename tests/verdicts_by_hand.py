"""Verdicts and scores in small files, read without podium: what a reader may find in them.

A reader may leave rows out, but must not return a row that is not among these.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import zipfile
from collections import Counter
from contextlib import suppress

import pandas as pd
import pyarrow as pa

WINNERS = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (inconsistent)": 0.5}
SIDES = {"left": 1.0, "right": 0.0, "tie": 0.5}
LABELS = {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.5, "B>A": 0.0, "B>>A": 0.0}
MODEL_LABELS = {label.replace("A", "m1").replace("B", "m2"): n for label, n in LABELS.items()}
CHOICES = {"A++": 1.0, "A+": 1.0, "A=B": 0.5, "B+": 0.0, "B++": 0.0}
PREFERENCES = {0.0: 0.5, 1.0: 0.0, 1.5: 0.5, 2.0: 1.0}


def unpacked(content, packed):
    """Return the content of a container as UTF-8; `packed` is its suffix, empty for none."""
    if packed == "gz":
        return gzip.decompress(content)
    if packed == "xz":
        return lzma.decompress(content)
    if packed == "bz2":
        return bz2.decompress(content)
    if packed == "utf16":
        return content.decode("utf-16").encode()
    if packed == "zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            [name] = archive.namelist()
            return archive.read(name)
    if packed:
        return pa.CompressedInputStream(pa.BufferReader(content), "zstd").read()
    return content


def first_values(pairs):
    """Return an object of JSON as a dictionary, in which the first value of a key counts."""
    return dict(reversed(pairs))


def records_of(content, suffix, make_object=dict):
    """Return the records in a file that another reader can parse, as dictionaries.

    `make_object` makes an object of the pairs of keys and values in JSON.
    """
    kind, _, packed = suffix.partition(".")
    content = unpacked(content, packed)
    if kind in ("csv", "tsv"):
        lines = io.StringIO(content.decode("utf-8-sig"), newline="")
        return [*csv.DictReader(lines, delimiter="\t" if kind == "tsv" else ",")]
    if kind == "jsonl":
        records = []
        for line in content.splitlines():
            with suppress(ValueError):
                records.append(json.loads(line, object_pairs_hook=make_object))
        return records
    if kind == "parquet":
        return pd.read_parquet(io.BytesIO(content)).to_dict("records")
    return _records_of_document(json.loads(content), kind)


def _records_of_document(document, kind):
    if kind == "split":
        return [dict(zip(document["columns"], row, strict=True)) for row in document["data"]]
    if kind == "index":
        return [*document.values()]
    if kind == "columns":
        rows = dict.fromkeys(row for column in document.values() for row in column)
        return [{name: column.get(row) for name, column in document.items()} for row in rows]
    return document["results"]["results"] if kind == "document" else document


def _number(cell):
    return float(cell) if cell not in (None, "") else None


def _one(a, b, credits):
    """Return a function that gives the verdict of a record, from the column of its key."""

    def verdicts(record):
        return [(record[a], record[b], credits(record))]

    return verdicts


def _games(record):
    second, first = record["games"][1]["score"], record["games"][0]["score"]
    pair = (record["model"], record["baseline"])
    return [(*pair, 1 - LABELS[first]), (*pair, LABELS[second])]


def _mt_bench(record):
    words = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5}
    pair = (record["model_1"], record["model_2"])
    return [(*pair, words[record[name]]) for name in ("g1_winner", "g2_winner")]


def _wildbench(record):
    sides = record["assignment"]
    choice = record["parsed_result"]["choice"]
    if choice == "N/A":
        return [(sides["A"], sides["B"], None)]
    return [(sides["A"], sides["B"], CHOICES[choice])]


def _comparia(record):
    pair = (record["model_a_name"], record["model_b_name"])
    if str(record["both_equal"]).lower() == "true":
        return [(*pair, 0.5)]
    return [(*pair, {pair[0]: 1.0, pair[1]: 0.0}[record["chosen_model_name"]])]


def _counts(record):
    pair = (record["model_a"], record["model_b"])
    verdicts = []
    for credit, name in ((1.0, "wins_a"), (0.0, "wins_b"), (0.5, "ties")):
        # An empty cell is a count of 0, which is named.
        is_empty = record[name] in ("", "nan", None)
        number = 0 if is_empty else int(float(record[name]))
        verdicts += [(*pair, credit)] * number
    return verdicts


VERDICTS = {
    "podium": _one("model_a", "model_b", lambda row: _number(row["credit"])),
    "lists of categories": _one("model_a", "model_b", lambda row: _number(row["credit"])),
    "alpaca-eval": _one(
        "generator_2", "generator_1", lambda row: PREFERENCES[_number(row["preference"])]
    ),
    "arena-hard": _games,
    "mt-bench": _mt_bench,
    "mt-bench twice": _mt_bench,
    "arena": _one("model_a", "model_b", lambda row: WINNERS[row["winner"]]),
    "arena conversations": _one("model_a", "model_b", lambda row: WINNERS[row["winner"]]),
    "soft-elo": _one("model_a", "model_b", lambda row: 1 - _number(row["judge_pref"])),
    "evalica": _one("left", "right", lambda row: SIDES[row["winner"]]),
    "900k": _one(
        "model_a_in_prompt",
        "model_b_in_prompt",
        lambda row: MODEL_LABELS[row["final_verdict"]],
    ),
    "wildbench": _wildbench,
    "comparia": _comparia,
    "counts": _counts,
}
"""Functions from a record to its verdicts (first model, second model, credit), by table."""


def _promptfoo_score(row):
    provider = row["provider"]
    name = provider if isinstance(provider, str) else provider["label"] or provider["id"]
    return row["testIdx"], name, row["score"]


def _mt_bench_score(row):
    return f"{row['question_id']} turn {row['turn']}", row["model"], row["score"]


SCORES = {
    "pointwise": lambda row: (row["item"], row["model"], row["score"]),
    "promptfoo": _promptfoo_score,
    "mt-bench-single": lambda row: (
        f"{row['question_id']} turn {row['turn']}",
        row["model"],
        row["score"],
    ),
}
"""Functions from a record to its item, model and score, by table."""


def _sided(first, second, credit):
    """Return a verdict as that of the two names in order, since a reader may turn it."""
    if credit is not None and credit != credit:
        credit = None
    first, second = str(first), str(second)
    if first <= second:
        return first, second, credit
    return second, first, None if credit is None else 1 - credit


def invented_rows(frame, table, content, suffix):
    """Return the rows of battles that no record of a file has.

    None if the file has no oracle: for some tables, and for Parquet that pandas cannot read.
    """
    if table not in VERDICTS | SCORES or suffix.startswith("duckdb"):
        return None
    try:
        records = [record for record in records_of(content, suffix) if isinstance(record, dict)]
    except pa.ArrowInvalid:
        return None
    if table in SCORES:
        return _invented_scores(frame, SCORES[table], records)
    there = Counter()
    for record in records:
        with suppress(KeyError, TypeError, ValueError, IndexError):
            there.update(_sided(*verdict) for verdict in VERDICTS[table](record))
    read = zip(frame["model_a"], frame["model_b"], frame["credit"], strict=True)
    # A reader may know less of a verdict than is there, but not more.
    found = Counter(verdict for verdict in (_sided(*row) for row in read) if verdict[2] is not None)
    if table == "arena conversations":
        # If a message has two contents, either may count.
        there.update(_lengths(records))
        there.update(_lengths(records_of(content, suffix, first_values)))
        found.update(length for side in "ab" for length in frame[f"length_{side}"].dropna())
    return [*(found - there)]


def _lengths(records):
    """Return the lengths of all answers in conversations."""
    for record in records:
        for side in "ab":
            with suppress(KeyError, TypeError):
                messages = record[f"conversation_{side}"]
                if isinstance(messages, str):
                    messages = [{"role": "assistant", "content": messages}]
                answers = [each for each in messages if each["role"] == "assistant"]
                yield float(sum(len(each["content"]) for each in answers))


def _invented_scores(frame, fields, records):
    """Return the scores of battles that are not between the lowest and highest of their item."""
    there = {}
    for record in records:
        with suppress(KeyError, TypeError, ValueError):
            item, model, score = fields(record)
            there.setdefault((str(item), str(model)), []).append(float(score))
    invented = []
    for side in "ab":
        for row in zip(frame["item"], frame[f"model_{side}"], frame[f"score_{side}"], strict=True):
            # promptfoo's tests of other variables get a number, and providers the prompt's.
            item, model = str(row[0]).partition("#")[0], str(row[1]).partition(" (prompt=")[0]
            scores = there.get((item, model), [])
            is_there = row[2] != row[2] or (scores and min(scores) <= row[2] <= max(scores))
            if not is_there:
                invented.append(row)
    return invented
