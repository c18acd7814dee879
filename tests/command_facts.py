"""What podium's commands say about a file, taken from what they print, so that two commands can be
held together."""

import io
import json
import math
import re
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

COLUMNS = re.compile(r"\s{2,}")
COUNT = re.compile(r"([\d,]+) (items|judgments|battles|judged|unparsed|missing)\b")


@dataclass(frozen=True)
class Facts:
    """What one command says about a file.

    Attributes:
        code: the exit code.
        cause: the error, if the file is refused, else empty.
        answer: the sentences, joined.
        leaders: the models on the first place.
        order: all models, by place.
        rank_sets: the rank set of each model as it is printed: `1`, `1–3`, or `–` if it is unknown.
        scores: the score of each model, rounded as the command rounds it.
        counts: how many items, judgments and battles there are, and how many are judged, unparsed
            and missing.
        warnings: all messages.
    """

    code: int
    cause: str = ""
    answer: str = ""
    leaders: frozenset[str] = frozenset()
    order: tuple[str, ...] = ()
    rank_sets: dict[str, str] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    warnings: str = ""


@dataclass(frozen=True)
class Comparison:
    """What `podium compare` says about two models.

    Attributes:
        code, cause, answer, warnings: as those of `Facts`.
        difference: of the two, in the measure that was chosen; infinite where it is unbounded.
        is_claimed: whether one is clearly ahead.
        by_item: wins, losses and ties by item.
        counts: how many items and unparsed battles there are.
    """

    code: int
    cause: str = ""
    answer: str = ""
    difference: float = 0.0
    is_claimed: bool = False
    by_item: tuple[int, int, int] = (0, 0, 0)
    counts: dict[str, int] = field(default_factory=dict)
    warnings: str = ""


@cache
def run_command(folder: Path, *words: str) -> tuple[int, str, str]:
    """Run `podium WORDS...` in a folder, in this process; return the exit code, stdout and
    stderr."""
    from podium.cli.main import main

    printed, told = io.StringIO(), io.StringIO()
    before, code = sys.argv, 0
    try:
        sys.argv = ["podium", *words]
        with chdir(folder), redirect_stdout(printed), redirect_stderr(told):
            main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.argv = before
    return code, printed.getvalue(), told.getvalue()


def cause_of(code: int, told: str) -> str:
    """Return the error that a command ended with; empty if it answered."""
    if code in (0, 3):
        return ""
    messages = [
        line.removeprefix("podium: ") for line in told.splitlines() if line.startswith("podium: ")
    ]
    errors = [line for line in messages if not line.startswith("warning:")]
    return errors[-1] if errors else told.strip()


def facts_of_json(folder: Path, *words: str) -> Facts:
    """Return what `podium rank --format json` says."""
    code, printed, told = run_command(folder, "rank", *words, "--format", "json")
    if code not in (0, 3):
        return Facts(code, cause_of(code, told), warnings=told)
    ranking = json.loads(printed)["rankings"][0]
    models = [one for one in ranking["models"] if one["score"] is not None]
    counts = {name: number for name, number in ranking["counts"].items() if number is not None}
    return Facts(
        code,
        answer=" ".join(ranking["answer"]),
        leaders=frozenset(one["model"] for one in models if one["rank"] == 1),
        order=tuple(one["model"] for one in models),
        rank_sets={one["model"]: rank_set_of(one) for one in models},
        scores={one["model"]: one["score"] for one in models},
        counts=counts,
        warnings=told,
    )


def rank_set_of(model: dict[str, Any]) -> str:
    """Return a model's rank set in the JSON as tables print it."""
    low, high = model["rank_low"], model["rank_high"]
    if low is None or high is None:
        return "–"
    return str(low) if low == high else f"{low}–{high}"


def facts_of_table(folder: Path, *words: str) -> Facts:
    """Return what the table of `podium rank` says."""
    code, printed, told = run_command(folder, "rank", *words)
    if code not in (0, 3):
        return Facts(code, cause_of(code, told), warnings=told)
    answer, _, rest = printed.partition("\n\n")
    lines = rest.splitlines()
    start = next(
        place
        for place, line in enumerate(lines)
        if COLUMNS.split(line.strip())[:2] == ["rank", "model"]
    )
    header = COLUMNS.split(lines[start].strip())
    rows = []
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        rows.append(COLUMNS.split(line.strip()))
    return facts_of_rows(code, " ".join(answer.split()), header, rows, rest, told)


def facts_of_rows(
    code: int, answer: str, header: list[str], rows: list[list[str]], rest: str, told: str
) -> Facts:
    """Return what a printed table says, its cells as texts; `rest` is the text that has the
    counts."""
    cells = [dict(zip(header, row, strict=False)) for row in rows if row and row[0].isdigit()]
    names = [one["model"].removesuffix(" *") for one in cells]
    score = header[2]
    return Facts(
        code,
        answer=answer,
        leaders=frozenset(
            name for name, one in zip(names, cells, strict=True) if one["rank"] == "1"
        ),
        order=tuple(names),
        rank_sets={name: one["rank set"] for name, one in zip(names, cells, strict=True)},
        scores={
            name: float(one[score].replace("−", "-"))
            for name, one in zip(names, cells, strict=True)
        },
        counts=counts_in(rest),
        warnings=told,
    )


def counts_in(text: str) -> dict[str, int]:
    """Return the numbers of the line of counts, the first line that names items and battles."""
    for line in text.splitlines():
        found = {name: int(number.replace(",", "")) for number, name in COUNT.findall(line)}
        if {"items", "judged", "unparsed"} <= found.keys():
            return found
    return {}


class _Page(HTMLParser):
    """The sentences, the first table and the notes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {"answer": [], "note": []}
        self.rows: list[list[str]] = []
        self.tables = 0
        self.kind = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where the text that follows belongs."""
        kind = dict(attrs).get("class") or ""
        if tag == "p":
            self.kind = kind if kind in self.texts else ""
            if self.kind:
                self.texts[self.kind].append("")
        self.tables += tag == "table"
        if self.tables == 1 and tag == "tr":
            self.rows.append([])
        if self.tables == 1 and tag in ("th", "td"):
            self.rows[-1].append("")
            self.kind = "cell"

    def handle_endtag(self, tag: str) -> None:
        """Note that a cell or a paragraph has ended."""
        if tag in ("p", "th", "td"):
            self.kind = ""

    def handle_data(self, data: str) -> None:
        """Add a text to the paragraph or the cell that it stands in."""
        if self.kind == "cell":
            self.rows[-1][-1] += data
        elif self.kind:
            self.texts[self.kind][-1] += data


def facts_of_page(folder: Path, *words: str) -> Facts:
    """Return what the page of `podium report` says."""
    with TemporaryDirectory() as place:
        page = Path(place, "page.html")
        code, _, told = run_command(folder, "report", *words, "-o", str(page))
        if code not in (0, 3):
            return Facts(code, cause_of(code, told), warnings=told)
        parser = _Page()
        parser.feed(page.read_text(encoding="utf-8"))
    header, *rows = parser.rows
    answer = " ".join(" ".join(parser.texts["answer"]).split())
    return facts_of_rows(code, answer, header, rows, "\n".join(parser.texts["note"]), told)


def comparison_in_json(folder: Path, first: str, second: str, *words: str) -> Comparison:
    """Return what `podium compare FIRST SECOND --format json` says."""
    code, printed, told = run_command(folder, "compare", first, second, *words, "--format", "json")
    if code not in (0, 3):
        return Comparison(code, cause_of(code, told), warnings=told)
    whole = json.loads(printed)
    one = whole["comparisons"][0]
    difference = one["difference"]
    if difference is None:
        # Unbounded: one of the two won all that was decided.
        difference = math.copysign(math.inf, one["wins"] - one["losses"])
    return Comparison(
        code,
        answer=" ".join(whole["answer"]),
        difference=difference,
        is_claimed=one["distinguishable"],
        by_item=(one["wins"], one["losses"], one["even"]),
        counts={"items": one["items"], "unparsed": one["unparsed"]},
        warnings=told,
    )


def comparison_in_table(folder: Path, first: str, second: str, *words: str) -> Comparison:
    """Return the exit code, the error and the sentences of `podium compare FIRST SECOND`."""
    code, printed, told = run_command(folder, "compare", first, second, *words)
    if code not in (0, 3):
        return Comparison(code, cause_of(code, told), warnings=told)
    return Comparison(code, answer=" ".join(printed.partition("\n\n")[0].split()), warnings=told)
