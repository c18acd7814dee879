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
    cells = [dict(zip(header, row, strict=False)) for row in rows if is_placed(row)]
    names = [one["model"].removesuffix(" *") for one in cells]
    score = header[2]
    return Facts(
        code,
        answer=answer,
        leaders=frozenset(
            name for name, one in zip(names, cells, strict=True) if one["rank"] in ("1", "–")
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


def is_placed(row: list[str]) -> bool:
    """Return whether a row has a place, or a score without a place.

    Tables show a dash as the place of models whose scores state no order. In the JSON, they share
    the first place.
    """
    if not row:
        return False
    has_score = len(row) > 2 and row[2][:1].isdigit()
    return row[0].isdigit() or (row[0] == "–" and has_score)


def counts_in(text: str) -> dict[str, int]:
    """Return the numbers of the line of counts, the first line that names items and battles."""
    for line in text.splitlines():
        found = {name: int(number.replace(",", "")) for number, name in COUNT.findall(line)}
        if {"items", "judged", "unparsed"} <= found.keys():
            return found
    return {}


class _Page(HTMLParser):
    """The sentences, the tables and the notes of a page.

    Attributes:
        texts: the paragraphs of the answer and of the notes.
        rows: the cells of each row of the first table.
        checks: the cells of each row of the table of probes.
        ranks: why there are no probabilities of ranks; empty if there are.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {"answer": [], "note": [], "ranks": []}
        self.section = ""
        self.tables: list[list[list[str]]] = []
        self.kind = ""

    @property
    def rows(self) -> list[list[str]]:
        return self.tables[0]

    @property
    def ranks(self) -> str:
        return "".join(self.texts["ranks"])

    @property
    def checks(self) -> list[list[str]]:
        found = [rows for rows in self.tables if rows[0][:2] == ["probe", "result"]]
        return found[0][1:]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where the text that follows belongs."""
        kind = dict(attrs).get("class") or ""
        if tag == "section":
            self.section = dict(attrs).get("id") or ""
        if tag == "p":
            kind = kind or self.section
            self.kind = kind if kind in self.texts else ""
            if self.kind:
                self.texts[self.kind].append("")
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")
            self.kind = "cell"

    def handle_endtag(self, tag: str) -> None:
        """Note that a cell or a paragraph has ended."""
        if tag in ("p", "th", "td"):
            self.kind = ""

    def handle_data(self, data: str) -> None:
        """Add a text to the paragraph or the cell that it stands in."""
        if self.kind == "cell":
            self.tables[-1][-1][-1] += data
        elif self.kind:
            self.texts[self.kind][-1] += data


@cache
def read_page(folder: Path, *words: str) -> tuple[int, str, _Page]:
    """Return the exit code, stderr and the page of `podium report WORDS...`."""
    parser = _Page()
    with TemporaryDirectory() as place:
        page = Path(place, "page.html")
        code, _, told = run_command(folder, "report", *words, "-o", str(page))
        if code in (0, 3):
            parser.feed(page.read_text(encoding="utf-8"))
    return code, told, parser


def facts_of_page(folder: Path, *words: str) -> Facts:
    """Return what the page of `podium report` says."""
    code, told, parser = read_page(folder, *words)
    if code not in (0, 3):
        return Facts(code, cause_of(code, told), warnings=told)
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


def results_of_checks(
    folder: Path, models: tuple[str, str], *words: str, page: bool = True
) -> dict[str, dict[str, str]]:
    """Return the result of each check, by command that made it and answered.

    The commands are `rank` (its JSON), `report` (the page), `compare` of two models (its JSON), and
    `diagnose` (its JSON) if it has one card. Without `page`, `report` is left out, which takes
    longest.
    """
    code, printed, _ = run_command(folder, "rank", *words, "--format", "json")
    results = {}
    if code in (0, 3):
        results["rank"] = _results(json.loads(printed)["rankings"][0]["checks"])
    if page:
        code, _, parser = read_page(folder, *words)
        if code in (0, 3):
            results["report"] = {row[0].replace(" ", "-"): row[1] for row in parser.checks}
    code, printed, _ = run_command(folder, "compare", *models, *words, "--format", "json")
    if code in (0, 3):
        results["compare"] = _results(json.loads(printed)["checks"])
    code, printed, _ = run_command(folder, "diagnose", *words, "--format", "json")
    cards = json.loads(printed)["cards"] if code in (0, 3) else []
    if len(cards) == 1:
        results["diagnose"] = _results(cards[0]["checks"])
    return results


def _results(checks: list[dict[str, Any]]) -> dict[str, str]:
    """Return the result of each check in a JSON, by its code."""
    return {check["code"]: check["result"] for check in checks}


ALWAYS_MADE = (
    "order-decides",
    "position",
    "one-order",
    "lost-replies",
    "own-model",
    "own-family",
)
"""Checks of a judge that every command makes, or none."""
OF_TWO_MODELS = "same-settings"
"""A check that a comparison makes of the two compared models only."""


def contradictions(results: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the checks that have different results in two commands, with each result.

    A check of `ALWAYS_MADE` that only some commands list is among them, as `not listed`.
    """
    lists = {command: dict(checks) for command, checks in results.items()}
    lists.get("compare", {}).pop(OF_TWO_MODELS, None)
    for checks in lists.values():
        if "unparsed" in checks:
            for name in ALWAYS_MADE:
                checks.setdefault(name, "not listed")
    found = {}
    for name in sorted({name for checks in lists.values() for name in checks}):
        of_check = {command: checks[name] for command, checks in lists.items() if name in checks}
        if len({*of_check.values()}) > 1:
            found[name] = of_check
    return found


def side_claimed(ranking: Facts, first: str, second: str) -> int:
    """Return 1 if the first model is ahead by the rank sets, -1 if the second one is, else 0."""
    sets = [ranking.rank_sets[model] for model in (first, second)]
    if "–" in sets:
        return 0
    ends = [[int(end) for end in text.split("–")] for text in sets]
    if ends[0][-1] < ends[1][0]:
        return 1
    return -1 if ends[1][-1] < ends[0][0] else 0
