"""Tables to count, drawn and recorded, and what must come of them: plain loops over their rows."""

from dataclasses import asdict
from pathlib import Path
from zlib import crc32

import naive_counting as naive
import numpy as np
import pandas as pd
import pytest

from podium.data.counting.battle_frame import BattleFrame
from podium.data.counting.verdicts import verdicts_of

DATA = Path(__file__).parents[4] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the recorded judgments are not beside this checkout"
)
MODELS = ("9", "10", "Model", "model", "1e3")
ITEMS = (
    None,
    "1",
    "01",
    "1.0",
    "9007199254740992",
    "9007199254740993",
    "True",
    "caf\u00e9",
    "cafe\u0301",
)
COLUMNS = ("item", "model_a", "model_b", "credit", *naive.OPTIONAL)
TIE_OF_IDENTICAL = {
    "identical": True,
    "credit": 0.5,
    "hard_credit": None,
    "margin": None,
    "reason": None,
    "swap": None,
}
"""The cells of a battle whose responses are the same text."""
SIXTEENTHS = tuple(k / 16 for k in range(17))
"""Credits whose sums are exact: whether a mean is a tie is then no matter of rounding."""


def drawn_rows(seed, number=140):
    """Draw judgments with every irregularity that a table may contain."""
    draws = np.random.default_rng(seed)

    def one(values, shares=None):
        return values[draws.choice(len(values), p=shares)]

    rows = []
    while len(rows) < number:
        a, b = draws.choice(len(MODELS), 2, replace=False)
        unparsed, merged = draws.random() < 0.2, draws.random() < 0.1
        row = {
            "item": one(ITEMS),
            "model_a": MODELS[a],
            "model_b": MODELS[b],
            "credit": None
            if unparsed
            else one((0.0, 0.5, 1.0))
            if draws.random() < 0.7
            else one(SIXTEENTHS),
            "hard_credit": None if unparsed or merged else one((None, 0.0, 0.5, 1.0)),
            "order": "merged" if merged else one(("ab", "ba", None), (0.45, 0.45, 0.1)),
            "margin": one((None, -2.0, 0.0, 1.0, 3.0)),
            "judge": one(("x", "y", None), (0.6, 0.2, 0.2)),
            "repeat": one((None, 1, 2), (0.6, 0.2, 0.2)),
            "weight": one((0.5, 1.0, 2.0)),
            "category": one(("c", "d", None)),
            "reason": one((None, "refusal", "cut off")) if unparsed else None,
            "swap": None,
            "length_a": one((None, 10, 20)),
            "length_b": one((None, 30, 40)),
            "identical": one((None, False)),
        }
        if merged:
            row["swap"] = (
                one(("one-sided", "unparsed")) if unparsed else one(("same", "half", "flip"))
            )
        rows.append(row)
        if draws.random() < 0.6 and not merged:
            rows.append(other_order(row, one, draws))
        if draws.random() < 0.05:
            rows.append(dict(rows[-1]))
    return [row | TIE_OF_IDENTICAL if are_identical(row) else row for row in rows]


def are_identical(row):
    """Return whether both responses are the same text, which all judgments of them agree on."""
    question = (row["item"], *sorted((row["model_a"], row["model_b"])))
    return crc32(repr(question).encode()) % 10 == 0


def other_order(row, one, draws):
    """Return the same question in the other order, the names turned half of the time."""
    order_pair = dict(
        row,
        order={"ab": "ba", "ba": "ab", None: None}[row["order"]],
        credit=one((None, 0.0, 0.5, 1.0)),
    )
    order_pair |= {"margin": one((None, -1.0, 2.0)), "category": one((row["category"], "d"))}
    order_pair["hard_credit"] = None if order_pair["credit"] is None else one((None, 0.0, 0.5, 1.0))
    order_pair["reason"] = (
        one((None, "refusal", "cut off")) if order_pair["credit"] is None else None
    )
    if draws.random() < 0.5:
        order_pair |= {"model_a": row["model_b"], "model_b": row["model_a"], "order": row["order"]}
    return order_pair


def with_columns(rows, columns):
    """Number the rows, and empty what is not in the table."""
    return [
        {name: row[name] if name in columns else None for name in COLUMNS} | {"row": k}
        for k, row in enumerate(rows)
    ]


def frame_of(rows, columns):
    frame = pd.DataFrame(
        {name: [row[name] for row in rows] for name in columns}, columns=list(columns)
    )
    numbers = {
        name: "Float64"
        for name in ("credit", "hard_credit", "margin", "weight", "length_a", "length_b")
        if name in columns
    }
    return frame.astype({name: str(kind).lower() for name, kind in numbers.items()}).astype(
        {"repeat": "Int64"} if "repeat" in columns else {}
    )


def check(rows, columns, *, merge=True, keep_one_sided=False, engine=None):
    """Compare everything that is counted with plain loops over the rows."""
    rows = with_columns(rows, columns)
    verdicts = verdicts_of(
        frame_of(rows, columns), merge=merge, keep_one_sided=keep_one_sided, engine=engine
    )
    battles = naive.battles_of(rows, merge, keep_one_sided)
    tally = naive.tally_of(rows, battles)
    assert {
        name: number for name, number in asdict(verdicts.tally).items() if name != "crowded"
    } == tally
    assert verdicts.unparsed_reasons == naive.unparsed_reasons_of(battles)
    check_frame(BattleFrame(verdicts.table), verdicts, battles, tally)
    assert [next(iter(note.fields.values())) for note in verdicts.notes()] == naive.notes_of(
        rows, tally, columns, merge
    )
    models = tuple(sorted({row[side] for row in rows for side in ("model_a", "model_b")}))
    assert verdicts.models == models
    readable = {naive.cluster_of(battle) for battle in battles if battle["credit"] is not None}
    place = {cluster: k for k, cluster in enumerate(sorted(readable))}
    for hard in (False, True):
        pairs = naive.sums_of(
            battles, hard, lambda battle: tuple(map(models.index, naive.pair_of(battle)))
        )
        assert pairs_of(verdicts, hard) == {
            pair: pytest.approx(sums, abs=1e-9) for pair, sums in pairs.items()
        }
        cells = naive.sums_of(
            battles,
            hard,
            lambda battle: (
                place[naive.cluster_of(battle)],
                *map(models.index, naive.pair_of(battle)),
            ),
        )
        assert cells_of(verdicts, hard) == {
            cell: pytest.approx(sums, abs=1e-9) for cell, sums in cells.items()
        }
    table = verdicts.table
    for name in table:
        values = [None if pd.isna(value) else value for value in table[name]]
        expected = [battle[name] for battle in battles]
        assert values == [
            pytest.approx(value, abs=1e-9) if isinstance(value, float) else value
            for value in expected
        ]


def check_frame(frame, verdicts, battles, tally):
    """Compare what a data frame of the battles answers with plain loops, and with the database."""
    ours = asdict(frame.tally)
    # Of two averaged credits the frame does not know whether they were graded, lacked or ambiguous.
    known = ours.keys() - {"graded", "credit_by_margin", "ambiguous", "crowded"}
    assert {name: ours[name] for name in known} == {name: tally[name] for name in known}
    assert frame.unparsed_reasons == naive.unparsed_reasons_of(battles)
    assert (frame.models, frame.judges) == (verdicts.models, verdicts.judges)
    assert frame.has_items == verdicts.has_items
    names = {battle["category"] for battle in battles if battle["category"] is not None}
    for name in names:
        assert frame.values_of("category") == tuple(sorted(names))
        ours = frame.keep_where(["category"], [name])
        theirs = verdicts.keep_where(["category"], [name])
        number = sum(battle["category"] == name for battle in battles)
        assert len(ours) == len(theirs) == number
        assert ours.models == theirs.models


def pairs_of(verdicts, hard):
    sums = verdicts.pairs(hard=hard)
    columns = (sums[name].tolist() for name in ("first", "second", "credit", "weight", "judged"))
    return {(first, second): own for first, second, *own in zip(*columns, strict=True)}


def cells_of(verdicts, hard):
    """Return the sums of all blocks by cluster, numbered through."""
    cells, start = {}, 0
    for block in verdicts.blocks(hard=hard):
        assert block.cluster.tolist() == sorted(block.cluster.tolist())
        columns = (
            block.cluster + start,
            block.first,
            block.second,
            block.credit,
            block.weight,
            block.battles,
        )
        for cluster, first, second, credit, weight, number in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            own = cells.setdefault((cluster, first, second), [0.0, 0.0, 0])
            own[:] = own[0] + weight * credit, own[1] + weight, own[2] + number
        start += block.clusters
    return cells


def recorded_round_robin():
    """Return recorded judgments of 60 items, and which columns they have."""
    table = pd.read_parquet(DATA / "roundrobin_qlora_oa_gpt4.parquet")
    table = table[table["prompt"].isin(table["prompt"].unique()[:60])]
    credit = ((table["verdict"] + 1) / 2).astype(object).where(table["verdict"].notna(), None)
    columns = {
        "item": table["prompt"].map(str),
        "model_a": table["model_1"],
        "model_b": table["model_2"],
    }
    rows = pd.DataFrame({**columns, "credit": credit}).astype(object).to_dict("records")
    rows = [dict.fromkeys(COLUMNS) | row | {"order": "ab"} for row in rows]
    return rows, ("item", "model_a", "model_b", "credit", "order")


def recorded_votes():
    """Return recorded votes of several judges, and which columns they have."""
    table = pd.read_parquet(DATA / "llmfao.parquet").sample(3000, random_state=0)
    names = {
        "prompt": "item",
        "left": "model_a",
        "right": "model_b",
        "outcome_left": "credit",
        "judge": "judge",
    }
    rows = table[list(names)].rename(columns=names).astype(object).to_dict("records")
    rows = [dict.fromkeys(COLUMNS) | row | {"item": str(row["item"])} for row in rows]
    rows = [
        row | {"credit": None if pd.isna(row["credit"]) else float(row["credit"])} for row in rows
    ]
    return rows, ("item", "model_a", "model_b", "credit", "judge")
