"""The embedded engine: its options, temporary files and rejected input."""

import gc
from pathlib import Path

import pytest

from podium import read_battles
from podium.data.counting.duck import Duck
from podium.data.counting.relations import text
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
    assert text("it's") == "'it''s'"
