"""Codes of the texts of data frames: the same battles as from a file, and no search for names."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from podium import Battles, read_battles
from podium.data.counting import relations
from podium.data.counting.coded_texts import CodedTexts, code_by_name, texts_of_dictionary

ROWS = 101_000


def drawn_frame() -> pd.DataFrame:
    """Return judgments with empty cells, equal rows, and names beyond ASCII."""
    rng = np.random.default_rng(5)
    models = np.array(["zebra", "Älm", "ash", "模型", "\U0001f333", "Z"], dtype=object)
    a = rng.integers(0, len(models), ROWS)
    b = (a + rng.integers(1, len(models), ROWS)) % len(models)
    items = np.array([None, "", *(f"q{k}" for k in range(5000))], dtype=object)
    judges = np.array(["j2", "j1", None], dtype=object)
    credit = rng.choice([1.0, 0.5, 0.0, 0.25, np.nan], ROWS)
    reason = np.where(np.isnan(credit), rng.choice(["refusal", "no verdict"], ROWS), None)
    columns = {
        "item": items[rng.integers(0, len(items), ROWS)],
        "model_a": models[a],
        "model_b": models[b],
        "judge": judges[rng.integers(0, len(judges), ROWS)],
        "order": rng.choice(np.array(["ab", "ba", None], dtype=object), ROWS),
        "credit": credit,
        "reason": reason,
    }
    frame = pd.DataFrame(columns)
    frame.iloc[500:900] = frame.iloc[:400].to_numpy()
    return frame


def facts_of(battles: Battles) -> Mapping[str, object]:
    """Return what is counted of battles."""
    return {
        "counts": battles.counts(),
        "swaps": battles.swaps(),
        "reasons": battles.unparsed_reasons(),
        "notes": battles.notes,
        "models": battles.models,
        "judges": battles.judges,
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Battles, Battles]:
    """Return the battles of a data frame and of a file with the same rows."""
    frame = drawn_frame()
    file: Path = tmp_path_factory.mktemp("coded") / "judgments.parquet"
    frame.to_parquet(file)
    return read_battles(frame), read_battles(str(file))


def test_a_data_frame_has_the_battles_of_a_file_with_its_rows(
    both: tuple[Battles, Battles],
) -> None:
    """Counts, notes, names, codes and pairs are the same."""
    of_frame, of_file = both
    assert facts_of(of_frame) == facts_of(of_file)
    for codes, others in zip(of_frame.model_codes, of_file.model_codes, strict=True):
        np.testing.assert_array_equal(codes, others)
    np.testing.assert_array_equal(of_frame.item_codes, of_file.item_codes)
    pairs = of_file.rows.pairs()  # type: ignore[union-attr]
    for name, column in of_frame.rows.pairs().items():  # type: ignore[union-attr]
        np.testing.assert_allclose(column, pairs[name], rtol=1e-12)


def test_equal_rows_of_a_data_frame_are_counted_as_those_of_a_file(
    both: tuple[Battles, Battles],
) -> None:
    """The drawn rows have equal ones, which both say."""
    numbers = [
        [note.fields["rows"] for note in battles.notes if note.code == "rows-repeat"]
        for battles in both
    ]
    assert numbers[0] == numbers[1]
    assert numbers[0][0] > 0


def test_names_of_a_data_frame_are_coded_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database neither looks for names nor joins rows with them."""

    def fail(judgments: str, *columns: str) -> str:
        raise AssertionError(f"{columns} of {judgments} are searched")

    monkeypatch.setattr(relations, "names_query", fail)
    battles = read_battles(drawn_frame())
    assert battles.counts().battles > 0


def test_some_rows_of_a_data_frame_are_coded_by_their_own_names() -> None:
    """A condition leaves rows out, and the names that only they have."""
    frame = drawn_frame()
    frame.loc[frame["judge"] == "j2", "item"] = "of j2"
    kept = read_battles(frame, where={"judge": "j1"})
    assert kept.judges == ("j1",)
    assert "of j2" not in kept.values_of("item")


def test_a_column_with_the_prefix_of_codes_is_kept() -> None:
    """Codes would hide the column of the user."""
    frame = drawn_frame()
    plain = facts_of(read_battles(frame))
    named = facts_of(read_battles(frame.assign(Podium_code_of_item=frame["item"])))
    assert named["counts"] == plain["counts"]


def test_the_empty_text_has_no_code() -> None:
    """Codes after it are one lower."""
    column = pa.array(["b", "", None, "a", "b"]).dictionary_encode()
    coded = texts_of_dictionary(column)
    assert coded.texts == ["b", "a"]
    assert coded.codes.tolist() == [0, -1, -1, 1, 0]


def test_columns_are_coded_by_names_in_the_order_of_the_database() -> None:
    """Names are sorted as bytes of UTF-8, and an empty cell keeps -1."""
    first = CodedTexts(np.array([1, 0, -1]), ["\U0001f333", "b"])
    second = CodedTexts(np.array([0, 0, 1]), ["Z", "\uffee"])
    names, codes = code_by_name([first, second])
    assert names == sorted(names, key=lambda name: name.encode())
    assert names == ["Z", "b", "\uffee", "\U0001f333"]
    assert [column.tolist() for column in codes] == [[1, 3, -1], [0, 0, 2]]
