"""Parquet files of any size, read piece by piece: pair sums first, cluster scores in a second pass.

Nothing is merged (rows are battles), and items are hashed into a fixed number of clusters, so memory does not grow
with the number of rows. Only Bradley-Terry, whose likelihood needs no more than pair sums, is ranked this way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from podium.battles import Counts
from podium.errors import DataError, NotIdentifiedError, UsageError
from podium.progress import track
from podium.rankers.bradley_terry import label_strengths, sandwich
from podium.rankers.coded import Coded
from podium.rankers.defaults import LEVEL, REGULARIZATION
from podium.rankers.identification import bounded_entrants, fit_identified
from podium.rankers.pairs import Pairs, pairs_of_squares, squares, win_rates
from podium.rankers.scale import scale_of
from podium.rankers.standings import Exposure
from podium.ranking import Ranking, provenance

CLUSTERS = 4096
ROWS = 1 << 20
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
KEPT_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
MOST_KEPT = 32
"""Batches whose item hashes are kept apart before they are united."""
NEEDED = ("item", "model_a", "model_b", "credit")
OPTIONAL = ("judge", "weight")
TEXTS = ("item", "model_a", "model_b", "judge")


@dataclass(slots=True)
class Tally:
    """What the first pass adds up."""

    names: dict[str, int] = field(default_factory=dict)
    credit: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    weight: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    battles: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    items: list[np.ndarray] = field(default_factory=list)
    judges: set[str] = field(default_factory=set)
    rows: int = 0
    unread: int = 0

    def add(self, piece: "Piece") -> None:
        """Add a piece's sums; squares grow with the names."""
        size = len(self.names)
        coded = piece.coded
        grown = [(0, size - len(self.credit))] * 2
        earned, played = squares(coded)
        self.credit = np.pad(self.credit, grown) + earned
        self.weight = np.pad(self.weight, grown) + played
        self.battles = np.pad(self.battles, grown[0]) + coded.battles_of()
        self.items.append(piece.items)
        if len(self.items) > MOST_KEPT:
            self.items = [self.distinct_items()]
        self.judges |= piece.judges
        self.rows += piece.rows
        self.unread += piece.rows - len(coded.a)

    def distinct_items(self) -> np.ndarray:
        """Return the hashes of all items seen, sorted."""
        return np.unique(np.concatenate(self.items))


@dataclass(frozen=True, slots=True)
class Piece:
    """One batch of rows: its readable battles, and what was in it besides."""

    coded: Coded
    items: np.ndarray
    judges: set[str]
    rows: int


def rank_stream(
    sources: Sequence[str],
    rankers: Sequence[str],
    columns: Mapping[str, str] | None = None,
    *,
    level: float = LEVEL,
    seed: int = 0,
    regularization: float = REGULARIZATION,
    pin: str | None = None,
) -> Ranking:
    """Rank Parquet files too large for memory by Bradley-Terry.

    Args:
        sources: Parquet files or globs, with the battles table's columns.
        rankers: must be `["bradley-terry"]`.
        columns: contract's name to foreign name.
        level, seed, regularization, pin: as for the ranker.

    Raises:
        UsageError: another ranker, or a source that is no Parquet file.
        DataError: a missing column or an impossible value, with its row.
        NotIdentifiedError: several judges, or a graph that allows no fit.
    """
    if list(rankers) != ["bradley-terry"]:
        raise UsageError(f"--stream ranks by bradley-terry only, not by {', '.join(rankers)}")
    paths, names = _parquet_files(sources), dict(columns or {})
    tally = Tally()
    for piece in _pieces(paths, names, tally.names, "adding up pairs"):
        tally.add(piece)
    _refuse(tally)
    pairs = pairs_of_squares(tally.credit, tally.weight)
    exposure = _exposure(tally, pairs)
    strengths = fit_identified(exposure.entrants, pairs, exposure.battles, regularization)
    surplus = np.zeros((CLUSTERS, pairs.entrants))
    for piece in _pieces(paths, names, tally.names, "scores per item"):
        surplus += strengths.surpluses(piece.coded)
    used = surplus[_used_clusters(tally)]
    scale = scale_of(exposure.entrants, bounded_entrants(exposure.entrants, strengths.graph), pin)
    estimate = scale.pin_estimate(sandwich(strengths, used, scale, level=level, cluster="item"))
    standing = label_strengths(exposure, strengths, estimate, level=level, rng=np.random.default_rng(seed))
    options = {"rankers": list(rankers), "level": level, "seed": seed, "stream": True, "columns": names}
    options |= {"regularization": regularization, "pin": pin}
    return Ranking((standing,), provenance(tuple(map(str, paths)), options))


def _pieces(paths: Sequence[Path], columns: Mapping[str, str], names: dict[str, int], what: str) -> Iterator[Piece]:
    groups = [(path, group) for path in paths for group in range(pq.read_metadata(path).num_row_groups)]
    start: dict[Path, int] = {}
    for path, group in track(groups, what):
        wanted = _columns_to_read(set(pq.read_schema(path).names), columns, path)
        texts = [old for name, old in wanted.items() if name in TEXTS]
        file = pq.ParquetFile(path, read_dictionary=texts)
        for batch in file.iter_batches(ROWS, [group], list(wanted.values())):
            table = {name: batch.column(old) for name, old in wanted.items()}
            yield _piece(table, batch.num_rows, names, path, start.get(path, 0))
            start[path] = start.get(path, 0) + batch.num_rows


def _columns_to_read(present: set[str], columns: Mapping[str, str], path: Path) -> dict[str, str]:
    wanted = {name: columns.get(name, name) for name in (*NEEDED, *OPTIONAL)}
    missing = [old for name, old in wanted.items() if name in NEEDED and old not in present]
    if missing:
        raise DataError(
            f"no column {', '.join(missing)}; found: {', '.join(sorted(present))}",
            source=str(path),
            remedy="name the columns with --columns, or `podium convert` the file first",
        )
    return {name: old for name, old in wanted.items() if old in present}


def _piece(table: Mapping[str, pa.Array], rows: int, names: dict[str, int], path: Path, start: int) -> Piece:
    try:
        credit = _floats(table["credit"])
    except DataError as error:
        raise error.with_place(str(path)) from None
    a, b = (_codes(table[side], names) for side in ("model_a", "model_b"))
    weight = np.nan_to_num(_floats(table["weight"]), nan=1.0) if "weight" in table else np.ones(rows)
    _refuse_rows(path, start, a, b, credit, weight)
    read = ~np.isnan(credit)
    if table["item"].null_count:
        first = int(np.argmax(table["item"].is_null().to_numpy(zero_copy_only=False)))
        row, remedy = f"row {start + first + 1}", "name the item, or rank without --stream"
        raise DataError("item is empty", source=str(path), row=row, remedy=remedy)
    cluster, items = _items(table["item"], read)
    judges = set(map(str, pc.unique(table["judge"]).drop_null().to_pylist())) if "judge" in table else set()
    coded = Coded(a[read], b[read], credit[read], weight[read], cluster[read], CLUSTERS, "item", tuple(names))
    return Piece(coded, items, judges, rows)


def _floats(column: pa.Array) -> np.ndarray:
    try:
        return pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"not a number: {error}", remedy="`podium convert` the file with a --credit-map first"
        ) from None


def _dictionary(column: pa.Array) -> pa.DictionaryArray:
    return column if pa.types.is_dictionary(column.type) else pc.cast(column, pa.string()).dictionary_encode()


def _codes(column: pa.Array, names: dict[str, int]) -> np.ndarray:
    """Return the code of each name, -1 for an empty one; new names get the next codes."""
    encoded = _dictionary(column)
    known = [names.setdefault(str(name), len(names)) for name in encoded.dictionary.to_pylist()]
    position = encoded.indices.fill_null(len(known)).to_numpy()
    return np.array([*known, -1], dtype=np.int64)[position]


def _items(column: pa.Array, read: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the cluster of each row, and the hashes of the items with a readable row."""
    encoded = _dictionary(column)
    hashes = _hashes(encoded.dictionary.cast(pa.large_string()))
    position = encoded.indices.to_numpy()
    used = np.bincount(position[read], minlength=len(hashes)) > 0
    return _cluster_of(hashes)[position], hashes[used]


def _cluster_of(hashes: np.ndarray) -> np.ndarray:
    """Return a cluster in [0, 4096): the highest bits, which are mixed best."""
    return (hashes >> np.uint64(64 - CLUSTERS.bit_length() + 1)).astype(np.int64)


def _hashes(texts: pa.Array) -> np.ndarray:
    """Return a 64-bit hash of each text, the same in every run and on every machine, shape (texts,).

    Eight bytes of UTF-8 at a time are mixed in by a multiplication; texts never become Python objects.
    """
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    padded = np.append(np.frombuffer(data or b"", dtype=np.uint8), np.zeros(8, dtype=np.uint8))
    words = np.ndarray(len(padded) - 7, "<u8", padded.data, strides=(1,))
    start, left = ends[:-1].copy(), np.diff(ends)
    hashes, active = left.astype(np.uint64), np.arange(len(texts))
    while len(active):
        mixed = (hashes[active] ^ (words[start[active]] & KEPT_BYTES[np.minimum(left[active], 8)])) * MULTIPLIER
        hashes[active] = mixed ^ (mixed >> np.uint64(32))
        start[active] += 8
        left[active] -= 8
        active = active[left[active] > 0]
    return hashes


def _refuse_rows(path: Path, start: int, a: np.ndarray, b: np.ndarray, credit: np.ndarray, weight: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):
        problems = {
            "an entrant's name is empty": (a < 0) | (b < 0),
            "a model plays against itself": (a == b) & (a >= 0),
            "credit is outside [0, 1]": (credit < 0) | (credit > 1),
            "weight is not above 0": ~(weight > 0),
        }
    for problem, bad in problems.items():
        if bad.any():
            first = int(np.argmax(bad))
            raise DataError(
                f"{problem} (credit {credit[first]}, weight {weight[first]})",
                source=str(path),
                row=f"row {start + first + 1}",
                remedy="repair or remove the row",
            )


def _refuse(tally: Tally) -> None:
    if len(tally.judges) > 1:
        raise NotIdentifiedError(
            f"verdicts of {len(tally.judges)} judges in one table: write one file per judge, or rank without --stream"
        )
    if tally.unread == tally.rows:
        raise NotIdentifiedError(f"none of the {tally.rows} battles has a readable verdict: nothing to rank")


def _used_clusters(tally: Tally) -> np.ndarray:
    return np.unique(_cluster_of(tally.distinct_items()))


def _exposure(tally: Tally, pairs: Pairs) -> Exposure:
    """Describe what was played; entrants of whom nothing could be read are refused, not guessed at."""
    silent = [name for name, number in zip(tally.names, tally.battles, strict=True) if number == 0]
    if silent:
        raise NotIdentifiedError(f"no readable battle of {', '.join(silent[:5])}: remove those rows and rank again")
    items = len(tally.distinct_items())
    counts = Counts(items, tally.rows, tally.rows, tally.unread, 0, None, None)
    note = (
        f"streamed: rows are battles, the two orders are not merged; {items:,} items hashed into {CLUSTERS:,} clusters"
    )
    clusters = len(_used_clusters(tally))
    return Exposure(tuple(tally.names), tally.battles, win_rates(pairs), clusters, (), counts, (note,))


def _parquet_files(sources: Sequence[str]) -> list[Path]:
    paths = [Path(name) for source in sources for name in sorted(glob(source)) or [source]]
    for path in paths:
        if not path.is_file() or path.suffix != ".parquet":
            raise UsageError(f"--stream reads Parquet files, and {path} is none; `podium convert` it first")
        try:
            pq.read_metadata(path)
        except pa.ArrowInvalid as error:
            problem = f"not a whole Parquet file ({error})"
            raise DataError(problem, source=str(path), remedy="write or copy the file again") from None
    return paths
