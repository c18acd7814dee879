"""Collect the texts of battles and the costs of answers from the sources of a page."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from podium.data.battles import REPLIES, Battles
from podium.data.formats.files import find_files
from podium.errors import DataError, PodiumError
from podium.hookspecs import Format, Reading, load_target
from podium.notices.notice import Notice, select_codes
from podium.numbers import cell_text
from podium.plugins import catalogue
from podium.rankers.ranking import Standings
from podium.responses.collection import CODES_OF_PAIRING, Responses
from podium.responses.read import read_responses
from podium.responses.transcripts import Show
from podium.responses.verdict_sources import read_responses_beside_verdicts, response_readers
from podium.run_record import RunRecord
from podium.storage.remote import without_secrets
from podium.tables import EMPTY, Table
from podium.text import text_of
from podium.wording import some, some_paths

INSTRUCTION_COLUMNS = ("instruction", "prompt", "question")
"""Columns of a table that may hold the instruction, the preferred one first."""
REPLY_COLUMNS = (*REPLIES, "explanation", "rationale", "comment")
"""Columns of a table that may hold the judge's reply, the preferred one first."""
COST_DECIMALS = {"tokens in": 0, "tokens out": 0, "seconds": 1, "money": 4}
"""The number of decimals with which the mean of each column of costs is shown."""
SHOWN = Show("auto")
"""What is shown of agents: the transcript if the model called tools, else the answer."""
FIRST_RESPONSES = (
    "Models gave several responses to an item (epochs, repeats). The first one of each model is "
    "shown; the verdicts may be of all of them."
)
"""Note if models have several responses to an item, and verdicts do not say of which."""
JudgeReply = tuple[str, str, str]
"""The order in which the responses were shown (`ab`, `ba` or empty), the judge, and its reply."""


@dataclass(frozen=True, slots=True)
class BattleTexts:
    """Texts of battles.

    Attributes:
        instructions: the instruction of each item.
        responses: responses by item, number of the response (from 1), and model.
        replies: judges' replies by item, number of the response, model_a and model_b.
        notes: sentences that say why texts are missing.
        transcripts: keys in `responses` whose texts are transcripts of agents.
        systems: the system prompt of each item that has one.
        media: items whose instruction has images or other contents beside its text.
        references: files that have the responses of a model which the logs of its battles lack.
        lost: notes on files of `--responses` that could not be read.
    """

    instructions: dict[str, str] = field(default_factory=dict)
    responses: dict[tuple[str, int, str], str] = field(default_factory=dict)
    replies: dict[tuple[str, int, str, str], list[JudgeReply]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    transcripts: set[tuple[str, int, str]] = field(default_factory=set)
    systems: dict[str, str] = field(default_factory=dict)
    media: set[str] = field(default_factory=set)
    references: dict[str, str] = field(default_factory=dict)
    lost: list[Notice] = field(default_factory=list)

    def add_row(self, row: Mapping[str, Any]) -> None:
        """Add the texts of one judgment to these texts.

        A text that is known already is kept, except that every judge's reply is added, other than
        one that a log carried over from an earlier log which was read before. A row without an item
        is ignored.

        Args:
            row: `item`, `model_a`, `model_b` and, if known, `response` (1 by default),
                `instruction`, `system`, `media`, `response_a`, `response_b`, `transcript`
                (True if the responses are transcripts), `order`, `judge`, `words` (the judge's
                reply), `carried` (True if an earlier log has this reply, too), and `reference` (the
                file with the response of model_b, if the row lacks it).
        """
        if not row.get("item"):
            return
        item = str(row["item"])
        number = int(row.get("response") or 1)
        if row.get("instruction"):
            self.instructions.setdefault(item, row["instruction"])
        if row.get("system"):
            self.systems.setdefault(item, row["system"])
        if row.get("media"):
            self.media.add(item)
        for side in ("a", "b"):
            if row.get(f"response_{side}"):
                key = item, number, row[f"model_{side}"]
                self.responses.setdefault(key, row[f"response_{side}"])
                if row.get("transcript") is True:
                    self.transcripts.add(key)
        if row.get("reference"):
            self.references.setdefault(row["model_b"], row["reference"])
        if row.get("words"):
            key_of_battle = (item, number, row["model_a"], row["model_b"])
            reply = (row.get("order") or "", row.get("judge") or "", row["words"])
            replies = self.replies.setdefault(key_of_battle, [])
            is_repeat = row.get("carried") is True and reply in replies
            if not is_repeat:
                replies.append(reply)

    def add_responses(self, responses: Responses) -> None:
        """Add the instructions, system prompts and answers of response files, in place.

        Texts that are known already are kept. Responses to an item are numbered from 1 in the order
        of the item's keys.
        """
        for item in responses.items:
            self.instructions.setdefault(item.id, item.instruction)
            if item.system:
                self.systems.setdefault(item.id, item.system)
            if item.media:
                self.media.add(item.id)
            for model, answers in responses.texts.items():
                for number, key in enumerate(item.keys, 1):
                    response_key = item.id, number, model
                    if key in answers and response_key not in self.responses:
                        self.responses[response_key] = answers[key]
                        if responses.is_transcript(model, key):
                            self.transcripts.add(response_key)

    def models_without_texts(self, models: Iterable[str]) -> list[str]:
        """Return the given models of which no response is known, in the same order."""
        models_with_texts = {model for _, _, model in self.responses}
        return [model for model in models if model not in models_with_texts]


def collect_texts(
    battles: Battles,
    sources: Sequence[str],
    responses: Sequence[str] = (),
    allow: Sequence[str] = (),
) -> BattleTexts:
    """Collect the texts of battles.

    A text is taken from the first of these that has it: the table of battles, the texts of battles
    in logs, files of responses, and responses in the sources of verdicts (tables, folders, and
    logs of hosts). The last are read only if the others have no response of a model, or no
    instruction. A note says which models then still have no response, and why if responses cannot
    be read.

    Args:
        battles: the battles. Columns of their table may hold texts.
        sources: sources of the verdicts.
        responses: files of responses.
        allow: names of the findings about them that the user accepts.

    Raises:
        PodiumError: a file of responses that was named alone, or all of a folder, cannot be read.
    """
    texts = BattleTexts()
    rows_of_runs = _RowsOfRuns(battles, sources)
    items = {*battles.values_of("item")} if "item" in battles.columns else set()
    for row in _rows_with_texts(battles):
        texts.add_row(row)
    for path, row_of_file in _read_texts_or_costs("texts", sources):
        for row in rows_of_runs.row_as_ranked(path, row_of_file):
            texts.add_row(_with_task_in_item(row, items))
    if responses:
        readers = response_readers()
        read = read_responses(*responses, readers=readers, show=SHOWN, allow=allow)
        texts.add_responses(read)
        # A file of both is told once, among those of the battles.
        texts.lost.extend(note for note in read.lost_files if note not in battles.lost)
    if texts.models_without_texts(battles.models) or not texts.instructions:
        _add_responses_of_sources(texts, battles, sources, allow)
    if _is_response_unknown(texts, battles):
        texts.notes.append(FIRST_RESPONSES)
    return texts


class _RowsOfRuns:
    """Names the models in rows of texts as the battles name them.

    Args:
        battles: the battles.
        sources: sources of the verdicts.
    """

    def __init__(self, battles: Battles, sources: Sequence[str]) -> None:
        self.reading = battles.reading
        self.counted = {run.source: run.model for run in battles.runs}
        self.sources = sources

    def row_as_ranked(self, path: Path, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield a row with the name that the ranking gives to the model of the file's run.

        Rows that name no such model are yielded as they are. The row of a run that does not count
        is left out, as its texts would be taken for those of the newest run of the model; and if
        all runs count, so is the judge's reply, because the ranking numbers their responses anew.
        At most one row is yielded. If no runs are found in the sources, all rows stay as they are.
        """
        run_model = row.get("run_model")
        names = self._names if run_model else {}
        if not names:
            yield row
        elif str(path) in names:
            ranked = dict(row)
            for side in ("model_a", "model_b"):
                if row[side] == run_model:
                    ranked[side] = names[str(path)]
            if self.reading.get("runs") == "all":
                ranked.pop("words", None)
            yield ranked

    @cached_property
    def _names(self) -> dict[str, str]:
        """The name of the model of each run in the sources that counts, by its file.

        Of the runs that a format reads from the sources, those count that are among the battles'
        runs; if none is, all of them count. Formats that cannot read the sources add no name.
        """
        reading = Reading(names_joined=self.reading.get("names") == "joined")
        names: dict[str, str] = {}
        for each_format in catalogue.formats():
            if each_format.runs is None or each_format.texts is None:
                continue
            with suppress(PodiumError):
                files = [find_files(source, each_format.suffixes) for source in self.sources]
                runs = load_target(each_format.runs)(files, reading)
                of_format = {run.source: run.model for run in runs}
                path_to_counted = {
                    path: self.counted[path] for path in of_format if path in self.counted
                }
                names |= path_to_counted or of_format
        return names


def _with_task_in_item(row: dict[str, Any], items: Collection[str]) -> dict[str, Any]:
    """Return a row of a log whose item has the id that the battles give to this item.

    The ids of items in battles of several tasks are `TASK:ITEM`. If a battle is on an item of this
    name, a copy of the row has this id. Otherwise, the row is returned as it is.

    Args:
        row: texts of a judgment, as `BattleTexts.add_row` takes them.
        items: ids of the items of the battles.
    """
    item = f"{row.get('task')}:{row.get('item')}"
    return {**row, "item": item} if item in items else row


def _add_responses_of_sources(
    texts: BattleTexts, battles: Battles, sources: Sequence[str], allow: Sequence[str]
) -> None:
    """Add to `texts` the responses in sources of verdicts, and a note on models without responses.

    Nothing is added if the responses may be of other items than the battles (`_have_other_items`),
    or if they cannot be read; the note then says why. The arguments are those of `collect_texts`.
    """
    reason = (
        f"none were found in {without_secrets(some_paths(sources))} (--responses PATH adds them)"
    )
    try:
        in_sources = read_responses_beside_verdicts(sources, show=SHOWN, allow=allow)
    except PodiumError as error:
        reason = str(error)
    else:
        if _have_other_items(in_sources, battles):
            reason = "items are paired by input, and their names in the responses are not known"
        else:
            texts.add_responses(in_sources)
    models_without_texts = texts.models_without_texts(battles.models)
    if models_without_texts:
        of_models = f" of {some(models_without_texts)}" if texts.responses else ""
        references = [name for name in models_without_texts if name in texts.references]
        reasons = [] if len(references) == len(models_without_texts) else [reason]
        reasons += [_text_on_reference(name, texts) for name in references]
        texts.notes.append(f"No texts of responses{of_models}: {'; '.join(reasons)}.")


def _text_on_reference(model: str, texts: BattleTexts) -> str:
    """Return a clause on the missing responses of a reference, with the option that adds them.

    The reference is a model whose responses a judged log names by their file.
    """
    assignment = shlex.quote(f"{model}={texts.references[model]}")
    return f"the judged log holds no texts of its reference; --responses {assignment} adds them"


def _have_other_items(responses: Responses, battles: Battles) -> bool:
    """Return whether the ids of items in responses may be those of other items in battles.

    Items that are paired by input have the ids of the earliest run, so they are the same if both
    were read from the same runs.
    """
    if not select_codes(responses.notes, CODES_OF_PAIRING):
        return False
    return {run.source for run in responses.runs} != {run.source for run in battles.runs}


def _is_response_unknown(texts: BattleTexts, battles: Battles) -> bool:
    """Return whether the page cannot tell which of several responses was judged.

    This is so if models have several responses to an item and battles do not number them. Verdicts
    are then over several responses (epochs), or it is not known which response was judged; the page
    shows the first one.
    """
    if any(number > 1 for number in _response_numbers(battles)):
        return False
    return any(number > 1 for _, number, _ in texts.responses)


def _response_numbers(battles: Battles) -> set[int]:
    """Return the numbers of responses that occur in battles.

    The set is empty without a column `response`, or if all of its cells are empty.
    """
    if "response" not in battles.table:
        return set()
    return {int(number) for number in battles.table["response"].dropna().unique()}


def costs_table(
    standings: Standings, sources: Sequence[str], runs: Iterable[RunRecord] = ()
) -> Table | None:
    """Build a table with the mean costs of each model's answers.

    There is a row per model of the standings, in their order: its score, the number of answers
    whose costs are known, and the means of tokens, time and price. Columns without any value are
    left out. The result is None if no source records costs of these models.

    Args:
        standings: the ranking whose models and scores are shown.
        sources: sources of the verdicts.
        runs: the runs whose scores are ranked. They only say how a source's model is named in the
            ranking; costs are read from `sources` alone.
    """
    name_of_source = {run.source: run.model for run in runs}
    rows = []
    for path, row in _read_texts_or_costs("costs", sources):
        rows.append({**row, "model": name_of_source.get(str(path), row["model"])})
    ranked = [entry.model for entry in standings.entries]
    costs = pd.DataFrame(rows, columns=["model", *COST_DECIMALS]).astype(
        dict.fromkeys(COST_DECIMALS, float)
    )
    costs_of_model = costs.groupby("model")[list(COST_DECIMALS)]
    means = costs_of_model.mean().reindex(ranked).dropna(axis=1, how="all")
    counts_by_model = costs_of_model.count().max(axis=1)
    answers_of_model = counts_by_model.reindex(ranked).fillna(0)
    if not len(means.columns):
        return None
    table_rows = []
    for entry in standings.entries:
        score = cell_text(entry.score, standings.scale.brief_format)
        cells = [entry.model, score, f"{answers_of_model[entry.model]:,.0f}"]
        for name, value in means.loc[entry.model].items():
            decimals = COST_DECIMALS[str(name)]
            cells.append(EMPTY if pd.isna(value) else f"{value:,.{decimals}f}")
        table_rows.append(tuple(cells))
    legend = (
        "Means over a model's answers, from its own logs; the judge's costs are not included.",
    )
    return Table(
        title="",
        header=("model", "score", "answers", *means.columns),
        rows=tuple(table_rows),
        legend=legend,
    )


def _read_texts_or_costs(
    kind: str, sources: Sequence[str]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the rows that formats read from the files of sources, each with its file.

    Sources that cannot be listed are skipped, and so are files that no such format reads. Of a
    damaged file, the rows before the damage are yielded.

    Args:
        kind: name of the formats' reader, `texts` or `costs`. Formats without it are skipped.
        sources: files and folders.
    """
    for each_format in catalogue.formats():
        reader = getattr(each_format, kind)
        if not reader:
            continue
        read_rows = load_target(reader)
        for source in sources:
            for path in _files_of_format(source, each_format):
                # The readers of battles and responses have told of a damaged file, or raised it.
                with suppress(DataError):
                    for row in read_rows(path):
                        yield path, row


def _files_of_format(source: str, file_format: Format) -> list[Path]:
    """Return the files of a source that may be of a format.

    They have one of its suffixes, or, if the format has no suffixes, match one of the globs of its
    names. The list is empty if the source cannot be listed.
    """
    suffixes = file_format.suffixes
    try:
        paths = find_files(source, suffixes).paths
    except PodiumError:
        return []
    if suffixes:
        return [path for path in paths if path.name.endswith(suffixes)]
    return [path for path in paths if any(fnmatch(path.name, name) for name in file_format.names)]


def _rows_with_texts(battles: Battles) -> Iterator[dict[str, Any]]:
    """Yield the rows of the battles table, as `BattleTexts.add_row` takes them.

    Instruction and reply are from the first column with a text in this row, None if there is none.
    If the user took a column of instructions as the item, the item is the instruction, too.
    Nothing is yielded if the table has no column of texts or no items.
    """
    table = battles.table
    instructions = [name for name in INSTRUCTION_COLUMNS if name in table]
    if (battles.reading.get("columns") or {}).get("item") in INSTRUCTION_COLUMNS:
        instructions.append("item")
    replies = [name for name in REPLY_COLUMNS if name in table]
    responses = [name for name in ("response_a", "response_b") if name in table]
    text_columns = [*instructions, *replies, *responses]
    if "item" not in table or not text_columns:
        return
    further = [name for name in ("response", "order", "judge", "system") if name in table]
    names = ["item", "model_a", "model_b", *further]
    read = [*dict.fromkeys([*names, *text_columns])]
    for row in table[read].astype(object).to_dict("records"):
        cells = {str(name): text_of(cell) for name, cell in row.items()}
        yield {
            **cells,
            "instruction": _text_of_first_filled(cells, instructions),
            "words": _text_of_first_filled(cells, replies),
        }


def _text_of_first_filled(cells: Mapping[str, str | None], names: Sequence[str]) -> str | None:
    """Return the text of the first of the named cells that has one; None if none has."""
    for name in names:
        if cells[name]:
            return cells[name]
    return None
