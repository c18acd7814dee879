"""Packed files that swell, and disks that are full: a clear error, and nothing left behind."""

import gzip
import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import podium
from podium.data.formats import containers

IN_RANGES = (
    "import podium.data.counting.duck as duck; duck.ROWS_AT_ONCE = duck.ROWS_IN_ARRAYS = 50_000; "
    "duck.ROWS_IN_NUMBERS = 0; from podium.cli.main import main; main()"
)


def run(words, folder, largest, start=("-m", "podium")):
    """Run podium where no file can grow beyond `largest` bytes, with a folder of its own for what
    it spills."""
    spilled = folder / "spilled"
    spilled.mkdir()
    done = subprocess.run(
        [sys.executable, *start, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(spilled)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
        timeout=100,
    )
    assert list(spilled.iterdir()) == [], "something was left behind"
    return done


def rows(number):
    header = "item,model_a,model_b,order,credit\n"
    return header + "".join(
        f"item-{k // 6},model-{k % 3},model-{3 + k % 2},{'ab' if k % 2 else 'ba'},{k % 3 / 2}\n"
        for k in range(number)
    )


def test_a_file_that_swells_beyond_all_tables_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "UNPACKED_SIZE", 2**20)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"item,model_a,model_b,credit\n" + b"0" * 20_000_000))
    with pytest.raises(podium.DataError, match="it unpacks to more than 250 times its size"):
        podium.read_battles(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bomb.csv.zst", "bomb.jsonl.zst", "bomb.csv", "bomb.jsonl.gz"])
def test_a_file_of_endless_blank_lines_is_rejected_before_it_is_read_to_the_end(tmp_path, name):
    head = (
        b'{"doc_id":0,"doc":{},"arguments":[],"acc":1.0}'
        if "jsonl" in name
        else b"item,model_a,model_b,credit"
    )
    pack = {
        ".gz": gzip.compress,
        ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
    }
    content = head + b"\n" * 6_000_000 + b"1,x,y,1\n"
    (tmp_path / name).write_bytes(pack.get(Path(name).suffix, bytes)(content))
    with pytest.raises(
        podium.DataError, match=rf"{name}.*: more than 4,000,000 blank lines. Remedy: remove them"
    ):
        podium.read_battles(tmp_path / name)


def test_what_swells_out_of_a_pipe_is_rejected_as_well(monkeypatch):
    monkeypatch.setattr(containers, "UNPACKED_SIZE", 2**20)
    reader, writer = os.pipe()
    os.write(writer, gzip.compress(b"item,model_a,model_b,credit\n" + b"0" * 20_000_000))
    os.close(writer)
    with pytest.raises(podium.DataError, match="it unpacks to more than 250 times its size"):
        podium.read_battles(f"/dev/fd/{reader}")
    os.close(reader)


@pytest.mark.slow
def test_full_disk_while_unpacking_is_reported_and_cleaned_up(tmp_path):
    path = tmp_path / "votes.csv.gz"
    path.write_bytes(gzip.compress(rows(60_000).encode()))
    done = run(["rank", str(path)], tmp_path, 2**20)
    assert done.returncode == 1
    assert "votes.csv.gz: unpacked, it does not fit into" in done.stderr
    assert "set TMPDIR to a larger disk" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("start", [("-m", "podium"), ("-c", IN_RANGES)])
def test_full_disk_while_spilling_is_reported_and_cleaned_up(tmp_path, start):
    path = tmp_path / "votes.csv"
    path.write_text(rows(600_000))
    done = run(["rank", str(path), "--memory", "40MB"], tmp_path, 2**20, start)
    assert done.returncode == 1
    assert "disk space" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_insufficient_memory_is_reported(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(rows(20_000))
    done = run(["rank", str(path), "--memory", "1MB"], tmp_path, 2**30)
    assert done.returncode == 1
    assert "--memory" in done.stderr
    assert "Traceback" not in done.stderr
