"""Files of every format, damaged in many ways: an error that names the file, or a ranking of all
that is there.

`PODIUM_MUTATIONS=100` damages every format in a hundred ways instead of sixteen.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import random
import re
import zipfile

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from damaged_bytes import KINDS, damage, read_and_rank
from verdicts_by_hand import invented_rows, unpacked

import podium

MUTATIONS = int(os.environ.get("PODIUM_MUTATIONS", "16"))
HOSTILE = (
    "'; drop table judgments_0; --",
    '"); copy (select 1) to "owned.csv"; --',
    "read_csv('/etc/passwd')",
    "{{7*7}}${7*7}",
    "=cmd|' /C calc'!A0",
    "../../owned",
    "\u202eevil",
    "a\tb",
    "\\N",
    "[red]x[/red]",
    "x" * 5000,
    "nan",
)
NOT_WHOLE = re.compile("not a whole (gzip|zstd|xz|bzip2|bz2|zip|UTF-16)")
"""Matches the problem of a damaged container."""
PAIRS = [("x", "y"), ("y", "z"), ("z", "x")]
OF_THE_FILE = (
    "the file is empty",
    "the file is binary",
    "no known format has the columns",
    "no rows",
    "not UTF-8 text",
    "scores of one model only",
    "no column",
    "the JSON is not a list of records",
    "the JSON object does not hold columns",
    "a record has two values of",
    "the columns fit",
    "nested too deeply",
    "cannot be read",
)
"""Problems that are no single row's."""


def battles(credit, **more):
    """Return 36 rows of three models on twelve items; `credit` gives the columns of the verdict."""
    rows = enumerate(PAIRS * 12)
    return [
        {"item": f"item-{k // 3}", "model_a": a, "model_b": b, **credit(k), **more}
        for k, (a, b) in rows
    ]


def renamed(rows, **names):
    return [{names.get(key, key): value for key, value in row.items()} for row in rows]


def of_names(*words):
    return lambda k: {"winner": words[k % len(words)]}


OWN = battles(lambda k: {"credit": (1, 0.5, 0)[k % 3]})
GAMES = battles(
    lambda k: {"games": [{"score": "A>B"}, {"score": ("A=B", "B>>A")[k % 2]}]}, judge="gpt"
)
VERDICTS = [
    {"judgment": {"judge_model": "g"}, "decision": "A>B"},
    {"judgment": {}, "decision": "B>A"},
]
TABLES = {
    "podium": OWN,
    "alpaca-eval": renamed(
        battles(lambda k: {"preference": (1, 2, 1.5)[k % 3], "output_1": "a", "output_2": "bc"}),
        item="instruction",
        model_a="generator_2",
        model_b="generator_1",
    ),
    "arena-hard": renamed(GAMES, item="uid", model_a="model", model_b="baseline"),
    "mt-bench": renamed(
        battles(
            lambda k: {
                "g1_winner": ("model_1", "tie")[k % 2],
                "g2_winner": "model_2",
                "judge": ["gpt", "pair"],
            }
        ),
        item="question_id",
        model_a="model_1",
        model_b="model_2",
    ),
    "arena": renamed(battles(of_names("model_a", "model_b", "tie")), item="question_id"),
    "soft-elo": battles(
        lambda k: {"judge_pref": k % 2, "scores_a": "{'c': 1}", "scores_b": "{'c': 0.5}"}
    ),
    "evalica": renamed(battles(of_names("left", "right", "tie")), model_a="left", model_b="right"),
    "900k": renamed(
        battles(
            lambda k: {"final_verdict": ("m1>m2", "m1=m2", "m2>>m1")[k % 3], "judge_model": "g"}
        ),
        item="uid",
        model_a="model_a_in_prompt",
        model_b="model_b_in_prompt",
    ),
    "judge-bench": [
        {"pair_id": k, "response_model": "m", "label": ("A>B", "B>A")[k % 2], "judgments": VERDICTS}
        for k in range(36)
    ],
    "pointwise": [
        {"item": f"item-{k // 3}", "model": "xyz"[k % 3], "score": k % 7} for k in range(36)
    ],
}
TABLES["mt-bench-single"] = [
    {
        "question_id": k // 3,
        "model": "xyz"[k % 3],
        "judge": ["gpt", "single"],
        "score": k % 7,
        "turn": 1,
        "judgment": "",
    }
    for k in range(36)
]
TABLES["wildbench"] = [
    {
        "session_id": row["item"],
        "generator": row["model_a"],
        "ref_generator": row["model_b"],
        "assignment": {"A": row["model_a"], "B": row["model_b"]},
        "parsed_result": {"choice": ("A++", "A=B", "B+", "N/A")[k % 4]},
    }
    for k, row in enumerate(OWN)
]
TABLES["comparia"] = [
    {
        "conversation_pair_id": row["item"],
        "model_a_name": row["model_a"],
        "model_b_name": row["model_b"],
        "both_equal": k % 3 == 1,
        "chosen_model_name": (row["model_a"], None, row["model_b"])[k % 3],
    }
    for k, row in enumerate(OWN)
]
TABLES["counts"] = [
    {"model_a": a, "model_b": b, "wins_a": k, "wins_b": 5, "ties": 1}
    for k, (a, b) in enumerate(PAIRS * 4)
]
TABLES["arena conversations"] = [
    {
        "question_id": row["item"],
        "model_a": row["model_a"],
        "model_b": row["model_b"],
        "winner": ("model_a", "tie (inconsistent)", "model_b")[k % 3],
        "judge": f"arena_user_{k % 5}",
        "dedup_tag": {"sampled": True},
        **{
            f"conversation_{side}": [
                {"role": "user", "content": "how?"},
                {"role": "assistant", "content": "é" * k},
            ]
            for side in "ab"
        },
    }
    for k, row in enumerate(OWN)
]
TABLES["promptfoo"] = [
    {
        "promptIdx": 0,
        "testIdx": k // 3,
        "provider": {"id": "xyz"[k % 3], "label": ""},
        "vars": {"riddle": f"riddle {k // 3}"},
        "score": k % 5 / 4,
        "failureReason": 0,
        "namedScores": {},
        "gradingResult": {"pass": True},
    }
    for k in range(36)
]
TABLES["mt-bench twice"] = [
    *TABLES["mt-bench"],
    *({**row, "g2_winner": "tie"} for row in TABLES["mt-bench"]),
]
TABLES["lists of categories"] = [
    {**row, "category": (["maths", "code"], ["code"], [])[k % 3]} for k, row in enumerate(OWN)
]
SCORES = ("pointwise", "promptfoo")
NESTED = (
    *("arena-hard", "mt-bench", "mt-bench-single", "judge-bench", "wildbench"),
    *("arena conversations", "promptfoo", "mt-bench twice", "lists of categories"),
)
ORIENTATIONS = {
    "split": lambda rows: {
        "columns": [*rows[0]],
        "index": [*range(len(rows))],
        "data": [[row.get(name) for name in rows[0]] for row in rows],
    },
    "index": lambda rows: {str(k): row for k, row in enumerate(rows)},
    "columns": lambda rows: {
        name: {str(k): row.get(name) for k, row in enumerate(rows)} for name in rows[0]
    },
    "document": lambda rows: {"results": {"version": 3, "results": rows}, "config": {}},
}
"""JSON documents of pandas and of promptfoo, by the suffix that the tests give them."""


def zipped(content):
    """Return a zip archive of one table."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table", content)
    return stream.getvalue()


PACKERS = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zip": zipped,
    "zst": lambda content: pa.Codec("zstd").compress(content, asbytes=True),
    "utf16": lambda content: content.decode().encode("utf-16"),
}
"""Functions that make a container of the content of a table, by its suffix."""
FILES = [
    *(
        (table, suffix)
        for table in TABLES
        for suffix in ("jsonl", "csv")
        if suffix == "jsonl" or table not in NESTED
    ),
    *(
        ("podium", suffix)
        for suffix in ("tsv", "json", "parquet", "duckdb", "csv.gz", "jsonl.zst", "csv.zst")
    ),
    *(
        (table, suffix)
        for table in ("podium", "comparia", "counts", "wildbench")
        for suffix in ("split", "index", "columns")
    ),
    ("promptfoo", "document"),
    *((table, "parquet") for table in ("wildbench", "comparia", "arena conversations")),
    *(("comparia", f"csv.{packed}") for packed in PACKERS),
    *(("counts", f"csv.{packed}") for packed in PACKERS),
    *(("wildbench", f"jsonl.{packed}") for packed in PACKERS),
    *(("arena conversations", f"jsonl.{packed}") for packed in ("xz", "utf16")),
    *(("promptfoo", f"document.{packed}") for packed in ("zip", "zst", "utf16")),
    ("arena-hard", "json"),
    ("arena-hard", "parquet"),
]


def content_of(rows, suffix, folder):
    """Return a table as the bytes of a file."""
    kind, _, packed = suffix.partition(".")
    if kind in ("csv", "tsv"):
        content = (
            pd.DataFrame(rows).to_csv(index=False, sep="\t" if kind == "tsv" else ",").encode()
        )
    elif kind in ORIENTATIONS:
        content = json.dumps(ORIENTATIONS[kind](rows)).encode()
    elif kind in ("json", "jsonl"):
        content = (
            json.dumps(rows, indent=0) if kind == "json" else "\n".join(map(json.dumps, rows))
        ).encode()
    elif kind == "parquet":
        stream = io.BytesIO()
        pa.parquet.write_table(pa.Table.from_pylist(rows), stream)
        content = stream.getvalue()
    else:
        path = folder / "written.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.register("rows", pa.Table.from_pylist(rows))
            connection.execute("create table votes as from rows")
        content = path.read_bytes()
        path.unlink()
    return PACKERS[packed](content) if packed else content


def hostile_rows(rows, rng):
    """Return rows of which some names, or the name of a column, are hostile."""
    rows = [dict(row) for row in rows]
    for _ in range(3):
        row = rng.choice(rows)
        row[rng.choice(list(row))] = rng.choice(HOSTILE)
    word = rng.choice(HOSTILE)
    return [{**row, word: k} for k, row in enumerate(rows)] if rng.random() < 0.5 else rows


def records_in(content, suffix):
    """Count the records as another reader sees them; None where it sees none."""
    kind, _, packed = suffix.partition(".")
    content = unpacked(content, packed)
    if kind in ("csv", "tsv"):
        lines = io.StringIO(content.decode("utf-8-sig"), newline="")
        return (
            sum(any(row) for row in csv.reader(lines, delimiter="\t" if kind == "tsv" else ",")) - 1
        )
    if kind == "jsonl":
        return sum(bool(line.strip()) for line in content.splitlines())
    return len(json.loads(content)) if kind == "json" else None


def try_file(folder, table, suffix, seed):
    """Damage one file and read it."""
    rng = random.Random(f"{table} {suffix} {seed}")
    kind = (*KINDS, "hostile")[seed % 4]
    rows = hostile_rows(TABLES[table], rng) if kind == "hostile" else TABLES[table]
    try:
        content = damage(content_of(rows, suffix, folder), rng, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return
    path = folder / f"votes.{suffix}"
    path.write_bytes(content)
    error, ranked = read_and_rank(f"{path}#votes" if suffix == "duckdb" else str(path))
    assert [each.name for each in folder.iterdir()] == [path.name], "something was written"
    if ranked:
        there = records_in(content, suffix)
        if there is not None and table not in (*NESTED, *SCORES, "counts"):
            assert ranked[0].counts().judgments == there
        assert not invented_rows(ranked[0].to_frame(), table, content, suffix)
        return
    reported = str(error)
    assert len(reported) < 2500
    if isinstance(error, podium.DataError) and suffix not in ("parquet", "duckdb"):
        assert path.name in reported
        packed = NOT_WHOLE.search(reported)
        assert error.row or packed or error.problem.startswith(OF_THE_FILE), reported
    elif not isinstance(error, podium.NotIdentifiedError):
        assert path.name in reported


def try_mapping(folder, seed):
    """Damage a mapping file, and read its table: an error that names one of both, or all rows."""
    rng = random.Random(f"mapping {seed}")
    rows = renamed(battles(of_names("L", "tie", "R")), item="q", model_a="left", model_b="right")
    (folder / "votes.csv").write_bytes(content_of(rows, "csv", folder))
    mapping = (
        "columns: {item: q, model_a: left, model_b: right, credit: winner}\n"
        "credit_map:\n  L: 1\n  tie: 0.5\n  R: 0\nshown: a\nwhere: {model_b: z}\n"
    )
    path = folder / "podium.yaml"
    path.write_bytes(damage(mapping.encode(), rng, KINDS[seed % len(KINDS)]))
    error, ranked = read_and_rank(str(folder / "votes.csv"))
    if ranked:
        assert ranked[0].counts().judgments in (12, 24, 36)
    else:
        assert len(str(error)) < 2500


@pytest.mark.slow
def test_damaged_mapping_files_are_named_or_read(tmp_path):
    for seed in range(max(MUTATIONS, 60)):
        try_mapping(tmp_path, seed)


@pytest.mark.fast_cases(7)
@pytest.mark.parametrize(("table", "suffix"), FILES)
def test_undamaged_files_rank(tmp_path, table, suffix):
    path = tmp_path / f"votes.{suffix}"
    path.write_bytes(content_of(TABLES[table], suffix, tmp_path))
    error, ranked = read_and_rank(str(path))
    assert error is None
    assert ranked[0].counts().judgments >= 36
    if table != "judge-bench" and suffix != "duckdb":
        content = path.read_bytes()
        assert invented_rows(ranked[0].to_frame(), table, content, suffix) == []
        # Without two records, their rows in the whole file are invented ones.
        rows = TABLES[table]
        number = 10 if table == "counts" else 34
        fewer = content_of([*rows[:number], *rows[number + 2 :]], suffix, tmp_path)
        assert invented_rows(ranked[0].to_frame(), table, fewer, suffix)


@pytest.mark.slow
@pytest.mark.parametrize(("table", "suffix"), FILES)
def test_four_damaged_files_of_each_format_are_named_or_ranked_whole(tmp_path, table, suffix):
    for seed in range(4):
        try_file(tmp_path, table, suffix, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("table", "suffix"), FILES)
def test_many_damaged_files_of_each_format_are_named_or_ranked_whole(tmp_path, table, suffix):
    for seed in range(4, MUTATIONS):
        try_file(tmp_path, table, suffix, seed)
