"""Collect the texts of battles (instructions, responses, judge replies) from their sources."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.formats.files import find_files
from podium.hookspecs import load_target
from podium.nouns.battles import REPLIES, Battles
from podium.plugins import catalogue
from podium.responses.read import read_responses
from podium.text import text_of

ASKED = ("instruction", "prompt", "question")
SAID = (*REPLIES, "explanation", "rationale", "comment")
"""Columns of a table that may hold what was asked, and what the judge said."""
Words = tuple[str, str, str]
"""Whose response was shown first (`ab`, `ba` or empty), the judge, and what it said."""


@dataclass(frozen=True, slots=True)
class BattleTexts:
    """Texts of battles: instructions by item, responses by item, number and model, and judge replies.

    Attributes:
        instructions: by item.
        responses: by item, number of the response, model.
        words: of judges, by item, number, model_a and model_b as the judgment names them.
        notes: where texts were looked for in vain.
    """

    instructions: dict[str, str] = field(default_factory=dict)
    responses: dict[tuple[str, int, str], str] = field(default_factory=dict)
    words: dict[tuple[str, int, str, str], list[Words]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def collect_texts(battles: Battles, sources: Sequence[str], responses: Sequence[str] = ()) -> BattleTexts:
    """Collect the texts of battles from table columns, Inspect logs, lm-eval samples and response files.

    Args:
        battles: judgments, the two orders apart.
        sources: that they were read from.
        responses: files or folders of responses, as `podium label` takes them.
    """
    texts = BattleTexts()
    _add_columns(texts, battles)
    for known in [known for known in catalogue.formats() if known.texts]:
        rows_in = load_target(known.texts)
        for path in [path for source in sources for path in files_in(source, known.suffixes)]:
            for row in rows_in(path):
                _add_row(texts, row)
    folders = [source for source in sources if not texts.responses and not Path(source).is_file()]
    for given in (list(responses), folders):
        if given:
            _add_responses(texts, given, is_asked=given is not folders)
    return texts


def files_in(source: str, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files of a source with one of the suffixes; empty if the source cannot be listed."""
    try:
        held = find_files(source, suffixes)
    except PodiumError:
        return []
    return [path for path in held.paths if path.name.endswith(suffixes)]


def _add_columns(texts: BattleTexts, battles: Battles) -> None:
    """Add texts from the columns of the battles table."""
    table = battles.table
    asked = [name for name in ASKED if name in table]
    said = [name for name in SAID if name in table]
    sides = [name for name in ("response_a", "response_b") if name in table]
    if "item" not in table or not (asked or said or sides):
        return
    names = ["item", "model_a", "model_b", *(n for n in ("response", "order", "judge") if n in table)]
    for row in table[[*names, *asked, *said, *sides]].astype(object).to_dict("records"):
        cells = {name: text_of(cell) for name, cell in row.items()}
        instruction = next((cells[name] for name in asked if cells[name]), None)
        words = next((cells[name] for name in said if cells[name]), None)
        _add_row(texts, {**cells, "instruction": instruction, "words": words})


def _add_row(texts: BattleTexts, row: dict[str, Any]) -> None:
    """Add the texts of one judgment, given as a row of the battles table."""
    if not row.get("item"):
        return
    item, number = str(row["item"]), int(row.get("response") or 1)
    if row.get("instruction"):
        texts.instructions.setdefault(item, row["instruction"])
    for side in ("a", "b"):
        if row.get(f"response_{side}"):
            texts.responses.setdefault((item, number, row[f"model_{side}"]), row[f"response_{side}"])
    if row.get("words"):
        said = (row.get("order") or "", row.get("judge") or "", row["words"])
        texts.words.setdefault((item, number, row["model_a"], row["model_b"]), []).append(said)


def _add_responses(texts: BattleTexts, sources: Iterable[str], *, is_asked: bool) -> None:
    """Add texts from response files; note files that contain none, unless they need not."""
    try:
        read = read_responses(*sources)
    except PodiumError as error:
        if is_asked:
            raise
        texts.notes.append(f"No texts of responses: {error}")
        return
    for item in read.items:
        texts.instructions.setdefault(item.id, item.instruction)
        for model, answers in read.texts.items():
            for number, key in enumerate(item.keys, 1):
                if key in answers:
                    texts.responses.setdefault((item.id, number, model), answers[key])
