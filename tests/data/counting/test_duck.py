"""The embedded engine: its options, temporary files and rejected input."""

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from podium import read_battles
from podium.data.counting.duck import BATCH, Duck, arrays_of, copy_command, literal_path
from podium.data.counting.relations import sql_literal
from podium.data.counting.verdicts import start_engine
from podium.errors import DataError, UsageError


@pytest.mark.parametrize(
    "memory", ["much", "-1GB", "1 GB; drop table x", "", "700", "4Gi", "0MB", "0.0GB"]
)
def test_a_memory_that_is_no_size_is_rejected(memory):
    with pytest.raises(UsageError, match="write for example 700MB or 4GB"):
        start_engine(memory=memory)


@pytest.mark.parametrize(
    ("memory", "limit"), [("700MB", "667.5 MiB"), ("0.5GB", "476.8 MiB"), ("1 gib", "1.0 GiB")]
)
def test_memory_limit_is_respected(memory, limit):
    assert Duck(memory).rows("select current_setting('memory_limit')") == [(limit,)]


def test_database_leaves_no_temporary_files():
    duck = Duck()
    duck.store("numbers", "select range as number from range(1000)")
    folder = Path(duck.folder)
    assert folder.is_dir()
    del duck
    gc.collect()
    assert not folder.exists()


def test_count_reports_that_memory_limit_is_too_small():
    duck = Duck("20MB")
    with pytest.raises(DataError, match="do not fit into the memory that is allowed"):
        duck.table("select list(range) as everything from range(50000000)")


def test_variables_of_python_are_no_tables():
    secret = [1, 2, 3]
    with pytest.raises(Exception, match="secret"):
        Duck().rows("select * from secret")
    assert secret


def test_a_file_that_changes_while_it_is_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "votes.csv"
    rows = "\n".join(f"i{k},x,y,1" for k in range(100))
    path.write_text(f"item,model_a,model_b,credit\n{rows}\n")
    stored = Duck.store

    def append_and_store(duck, *query):
        with path.open("a") as stream:
            stream.write("i100,x,y,0\n")
        stored(duck, *query)

    monkeypatch.setattr(Duck, "store", append_and_store)
    with pytest.raises(
        DataError, match=r"votes\.csv: the file changed while it was read.*rank it again"
    ):
        read_battles(path)


def test_text_is_quoted_for_sql() -> None:
    assert sql_literal("it's") == "'it''s'"


@pytest.mark.slow
def test_numbers_in_batches_do_not_import_pandas():
    code = (
        "import sys\n"
        "from podium.data.counting.duck import BATCH, Duck\n"
        "duck = Duck()\n"
        "query = f'select range as whole, range / 2 as half from range({BATCH} + 5)'\n"
        "duck.store('numbers', query)\n"
        "batches = list(duck.batches('select * from numbers', 'whole', BATCH + 5))\n"
        "print(sum(len(each['whole']) for each in batches) - BATCH, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "False"]


@pytest.mark.slow
def test_batches_have_the_values_and_types_of_arrays():
    duck = Duck()
    duck.store(
        "cells",
        "select range as whole, cast(range as int) as code, range / 3 as part, range > 2 as over, "
        "case when range % 2 = 0 then range end as gaps, "
        "case when range % 2 = 0 then range / 3 end as holes, "
        f"case when range % 2 = 0 then 'x' || range end as name from range({BATCH} + 5)",
    )
    query = "select * from cells order by whole"
    every = duck.arrays(query)
    batches = list(duck.batches(query, "whole", BATCH + 5))
    for name, column in every.items():
        joined = np.concatenate([each[name] for each in batches])
        assert joined.dtype == column.dtype
        np.testing.assert_array_equal(joined, column)


def test_a_part_of_a_record_batch_has_the_numbers_of_its_rows():
    batch = pa.RecordBatch.from_pydict({"whole": [1, 2, 3, 4], "part": [0.5, 1.5, 2.5, 3.5]})
    arrays = arrays_of(batch.slice(1, 2))
    assert arrays["whole"].tolist() == [2, 3]
    assert arrays["part"].tolist() == [1.5, 2.5]


def test_rows_are_copied_to_a_file_whose_path_has_wildcards_and_quotes(tmp_path):
    folder = tmp_path / "it's [1]"
    folder.mkdir()
    file = folder / "rows.parquet"
    engine = Duck()
    engine.connection.execute(copy_command("select 7 as x", file))
    assert [each.name for each in folder.iterdir()] == ["rows.parquet"]
    assert engine.rows(f"select x from {literal_path(file)}") == [(7,)]
