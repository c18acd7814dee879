"""Codes of texts that were found when a data frame was read, so that the database need not join
every row with the table of its names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class CodedTexts:
    """The texts of a column, each once.

    Attributes:
        codes: the position in `texts` by row, -1 if the cell is empty; shape (rows,).
        texts: the different texts in any order, the empty one left out. Each stands in some row.
    """

    codes: np.ndarray
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class CodedFrame:
    """The rows of a data frame in the database, with the texts of its columns.

    Attributes:
        table: the rows.
        selection: the SQL selection of a relation with the same rows.
        texts: texts by SQL expression of a column of this relation.
    """

    table: "pa.Table"
    selection: str
    texts: Mapping[str, CodedTexts]


def texts_of_dictionary(column: "pa.DictionaryArray") -> CodedTexts:
    """Return the texts of a column that has each different text once and a code by row.

    An empty text counts as an empty cell, with the code -1.
    """
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    texts = column.dictionary.to_pylist()
    if "" in texts:
        empty = texts.index("")
        del texts[empty]
        # The codes that follow the one of the empty text are one lower.
        codes = np.where(codes == empty, -1, codes - (codes > empty))
    return CodedTexts(codes, texts)


def code_by_name(columns: Sequence[CodedTexts]) -> tuple[list[str], list[np.ndarray]]:
    """Code several columns by the same names.

    Returns:
        The names in any of the columns, in the order of the database; and the codes of each column,
        which are positions among the names, -1 if the cell is empty; shape (rows,) each, four
        bytes.
    """
    # Python compares characters and the database bytes of UTF-8, which have the same order.
    names = sorted({text for column in columns for text in column.texts})
    code_of_name = {name: code for code, name in enumerate(names)}
    codes = []
    for column in columns:
        # The last one is at position -1, which stands for an empty cell.
        new_codes = [*(code_of_name[text] for text in column.texts), -1]
        codes.append(np.array(new_codes, dtype=np.int32)[column.codes])
    return names, codes
