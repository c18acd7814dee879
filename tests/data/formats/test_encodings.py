"""Compressed files and texts in other encodings are read as the plain file is."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import random
import zipfile

import pyarrow as pa
import pytest
from damaged_bytes import KINDS, damage, read_and_rank

import podium
from podium.data.formats import containers

ROWS = [{"item": f"q{k}", "model_a": "é", "model_b": "z", "credit": k % 3 // 2} for k in range(30)]
CSV = "\n".join([",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)]) + "\n"
TEXTS = {
    "csv": CSV,
    "tsv": CSV.replace(",", "\t"),
    "jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS),
    "json": json.dumps(ROWS, ensure_ascii=False, indent=1),
}


def zipped(content, names=("votes",)):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._votes", b"\0")
        for name in names:
            archive.writestr(name, content)
    return packed.getvalue()


PACKERS = {
    "gz": gzip.compress,
    "zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zip": zipped,
}
ENCODERS = {
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16-be": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "utf-32": lambda text: text.encode("utf-32"),
    "carriage returns": lambda text: text.replace("\n", "\r").encode(),
    "both": lambda text: text.replace("\n", "\r").encode("utf-16"),
}


def assert_same_battles(path):
    battles = podium.read_battles(str(path))
    frame = battles.to_frame()
    assert [*frame["credit"]] == [row["credit"] for row in ROWS]
    assert {*frame["model_a"]} == {"é"}
    assert not battles.lost


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("packing", PACKERS)
def test_every_text_format_may_be_compressed(tmp_path, suffix, packing):
    path = tmp_path / f"votes.{suffix}.{packing}"
    path.write_bytes(PACKERS[packing](TEXTS[suffix].encode()))
    assert_same_battles(path)
    assert_same_battles(tmp_path)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("encoding", ENCODERS)
def test_every_text_format_may_be_in_another_encoding(tmp_path, suffix, encoding):
    path = tmp_path / f"votes.{suffix}"
    path.write_bytes(ENCODERS[encoding](TEXTS[suffix]))
    assert_same_battles(path)
    packed = tmp_path / f"packed.{suffix}.xz"
    packed.write_bytes(lzma.compress(path.read_bytes()))
    assert_same_battles(packed)


def test_a_zip_file_with_two_tables_names_both(tmp_path):
    path = tmp_path / "votes.zip"
    path.write_bytes(zipped(CSV, ("a.csv", "b.csv")))
    with pytest.raises(podium.DataError, match=r"votes\.zip: the zip file has 2 files: a.csv"):
        podium.read_battles(str(path))


def test_half_a_character_of_utf_16_is_an_error(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(CSV.encode("utf-16") + b"a")
    with pytest.raises(podium.DataError, match="not a whole UTF-16 text"):
        podium.read_battles(str(path))


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("packing", ["xz", "bz2", "zip"])
def test_a_file_that_unpacks_to_too_much_is_rejected(tmp_path, packing, monkeypatch):
    monkeypatch.setattr(containers, "UNPACKED_SIZE", 2**20)
    path = tmp_path / f"votes.csv.{packing}"
    path.write_bytes(PACKERS[packing](CSV.encode() + b"q1,x,y,1\n" * 2**20))
    with pytest.raises(podium.DataError, match="unpacks to more than 250 times"):
        podium.read_battles(str(path))


@pytest.mark.slow
@pytest.mark.parametrize("packing", PACKERS)
def test_many_damaged_compressed_files_are_named_or_read_as_they_are(tmp_path, packing):
    rng = random.Random(47)
    content = PACKERS[packing](CSV.encode("utf-16"))
    path = tmp_path / f"votes.csv.{packing}"
    models = {"é", "z"}
    for number in range(60):
        path.write_bytes(damage(content, rng, KINDS[number % len(KINDS)]))
        error, read = read_and_rank(str(path))
        if error is None and packing not in ("zst",):
            assert {*read[0].models} == models
            assert len(read[0]) % len(ROWS) == 0


def latin_1(text):
    return text.encode("latin-1")


@pytest.mark.fast_cases(10)
@pytest.mark.parametrize("packed", ["", *PACKERS])
@pytest.mark.parametrize("suffix", TEXTS)
def test_a_text_that_is_not_utf_8_is_read_in_the_encoding_that_is_named(tmp_path, suffix, packed):
    content = PACKERS.get(packed, bytes)(latin_1(TEXTS[suffix]))
    path = tmp_path / f"v.{suffix}{packed and '.'}{packed}"
    path.write_bytes(content)
    with pytest.raises(podium.DataError, match=r"v\..*not UTF-8 text.*encoding='latin-1'"):
        podium.read_battles(path)
    battles = podium.read_battles(path, encoding="latin-1")
    assert battles.models == ("z", "é")
    assert battles.reading["encoding"] == "latin-1"


def test_files_in_utf_8_stay_so_beside_those_in_another_encoding(tmp_path):
    (tmp_path / "one.csv").write_bytes(latin_1(TEXTS["csv"]))
    (tmp_path / "two.csv").write_bytes(TEXTS["csv"].replace("q", "p").encode())
    battles = podium.read_battles(tmp_path, encoding="latin-1")
    assert (battles.models, battles.counts().items) == (("z", "é"), 60)


def test_the_error_proposes_an_encoding_in_which_the_whole_file_can_be_read(tmp_path):
    path = tmp_path / "v.csv"
    path.write_bytes(TEXTS["csv"].encode("cp1252") + "q,é,“z”,1\n".encode("cp1252"))
    with pytest.raises(podium.DataError, match=r"row 1: not UTF-8 text.*encoding='cp1252'"):
        podium.read_battles(path)
    assert "“z”" in podium.read_battles(path, encoding="cp1252").models


def test_utf_16_without_a_mark_is_read_if_it_is_named(tmp_path):
    path = tmp_path / "v.csv"
    path.write_bytes(TEXTS["csv"].encode("utf-16-le"))
    with pytest.raises(podium.DataError, match=r"the file is binary.*encoding='utf-16-le'"):
        podium.read_battles(path)
    assert podium.read_battles(path, encoding="utf-16-le").models == ("z", "é")


@pytest.mark.fast_cases(7)
@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("marks", [2, 3])
def test_several_byte_order_marks_are_skipped(tmp_path, suffix, marks):
    """A program has written the mark before a text that had one."""
    path = tmp_path / f"votes.{suffix}"
    path.write_bytes(marks * codecs.BOM_UTF8 + TEXTS[suffix].encode())
    assert_same_battles(path)


def test_a_zip_file_without_files_says_so(tmp_path):
    path = tmp_path / "votes.zip"
    zipfile.ZipFile(path, "w").close()
    with pytest.raises(
        podium.DataError, match=r"has 0 files\. Remedy: give a file that holds rows"
    ):
        podium.read_battles(path)


def test_a_file_that_is_packed_twice_is_named(tmp_path):
    path = tmp_path / "votes.csv.gz"
    path.write_bytes(gzip.compress(lzma.compress(CSV.encode())))
    with pytest.raises(podium.DataError, match=r"second compressed file in it \(xz\)"):
        podium.read_battles(path)


def test_a_workbook_is_named(tmp_path):
    path = tmp_path / "votes.xlsx"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(podium.DataError, match=r"a workbook .*save the table as CSV"):
        podium.read_battles(path)


@pytest.mark.parametrize("name", ["latin-99", "base64", "a\0b", ""])
def test_an_encoding_that_does_not_exist_is_named(tmp_path, name):
    (tmp_path / "v.csv").write_bytes(latin_1(TEXTS["csv"]))
    with pytest.raises(podium.UsageError, match="Python knows no such encoding"):
        podium.read_battles(tmp_path / "v.csv", encoding=name)


def test_a_text_that_is_not_in_the_named_encoding_is_an_error(tmp_path):
    (tmp_path / "v.csv").write_bytes(latin_1(TEXTS["csv"]))
    with pytest.raises(podium.DataError, match=r"v\.csv.*not a whole ASCII text"):
        podium.read_battles(tmp_path / "v.csv", encoding="ascii")
