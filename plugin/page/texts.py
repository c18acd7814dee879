"""Collect the texts of battles (instructions, responses, judge replies) from their sources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.formats.files import find_files
from podium.hookspecs import load_target
from podium.nouns.battles import REPLIES, Battles
from podium.plugins import catalogue
from podium.responses.collection import Responses
from podium.responses.read import read_responses
from podium.text import text_of

ASKED = ("instruction", "prompt", "question")
SAID = (*REPLIES, "explanation", "rationale", "comment")
"""Columns of a table that may hold the instruction, and the judge's reply."""
Words = tuple[str, str, str]
"""Whose response was shown first (`ab`, `ba` or empty), the judge, and its reply."""


@dataclass(frozen=True, slots=True)
class BattleTexts:
    """Instructions, responses and the judges' words by item, number of the response and models; notes on lost ones."""

    instructions: dict[str, str] = field(default_factory=dict)
    responses: dict[tuple[str, int, str], str] = field(default_factory=dict)
    words: dict[tuple[str, int, str, str], list[Words]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add_row(self, row: Mapping[str, Any]) -> None:
        """Add the texts of one judgment, given as a row of the battles table."""
        if not row.get("item"):
            return
        item, number = str(row["item"]), int(row.get("response") or 1)
        if row.get("instruction"):
            self.instructions.setdefault(item, row["instruction"])
        for side in ("a", "b"):
            if row.get(f"response_{side}"):
                self.responses.setdefault((item, number, row[f"model_{side}"]), row[f"response_{side}"])
        if row.get("words"):
            said = (row.get("order") or "", row.get("judge") or "", row["words"])
            self.words.setdefault((item, number, row["model_a"], row["model_b"]), []).append(said)

    def add_responses(self, read: Responses) -> None:
        """Add the instructions and answers of response files."""
        for item in read.items:
            self.instructions.setdefault(item.id, item.instruction)
            for model, answers in read.texts.items():
                for number, key in enumerate(item.keys, 1):
                    if key in answers:
                        self.responses.setdefault((item.id, number, model), answers[key])


def collect_texts(battles: Battles, sources: Sequence[str], responses: Sequence[str] = ()) -> BattleTexts:
    """Collect texts from the columns of judgments, Inspect logs, lm-eval samples and response files."""
    texts = BattleTexts()
    for row in _rows_with_texts(battles):
        texts.add_row(row)
    for known in [known for known in catalogue.formats() if known.texts]:
        for path in [path for source in sources for path in files_in(source, known.suffixes)]:
            for row in load_target(known.texts)(path):
                texts.add_row(row)
    folders = [source for source in sources if not texts.responses and not Path(source).is_file()]
    if responses:
        texts.add_responses(read_responses(*responses))
    if folders:
        try:
            texts.add_responses(read_responses(*folders))
        except PodiumError as error:
            texts.notes.append(f"No texts of responses: {error}")
    return texts


def files_in(source: str, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files of a source with one of the suffixes; empty if the source cannot be listed."""
    try:
        return [path for path in find_files(source, suffixes).paths if path.name.endswith(suffixes)]
    except PodiumError:
        return []


def _rows_with_texts(battles: Battles) -> Iterator[dict[str, Any]]:
    """Yield the rows of the battles table with their instruction and the judge's words, if it has columns of texts."""
    table = battles.table
    asked, said = ([name for name in names if name in table] for names in (ASKED, SAID))
    sides = [name for name in ("response_a", "response_b") if name in table]
    if "item" not in table or not (asked or said or sides):
        return
    names = ["item", "model_a", "model_b", *(name for name in ("response", "order", "judge") if name in table)]
    for row in table[[*names, *asked, *said, *sides]].astype(object).to_dict("records"):
        cells = {str(name): text_of(cell) for name, cell in row.items()}
        instruction = next((cells[name] for name in asked if cells[name]), None)
        words = next((cells[name] for name in said if cells[name]), None)
        yield {**cells, "instruction": instruction, "words": words}
