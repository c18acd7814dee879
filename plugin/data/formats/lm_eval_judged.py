"""Verdicts in lm-eval's samples: podium's judging filter writes one text per document into
`filtered_resps`.

    {"podium_verdicts": 3, "item": ..., "model": ..., "credit": ..., "one_sided": ..., "missing":
    {opponent: why}, "judges": {name: JudgeRecord.to_json},
     "battles": [{"model_a": ..., "model_b": ..., "credit": ..., "margin": ..., "reason": ...,
     "length_a": ..., ...,
                  "judgments": [{"order", "repeat", "judge", "credit", "margin", "reason", ...,
                  "replies"}]}]}

The document's credit is that of the model whose response the row holds, a battle's that of
`model_a`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.comparability.questions import FINDING
from podium.data.asked_judges import notes_on_refused
from podium.data.formats.lm_eval_layout import SAMPLES_NAME, Samples, sample_rows
from podium.data.formats.lm_eval_questions import pair_documents
from podium.data.formats.lm_eval_scores import read_scores
from podium.data.formats.records import short_lines
from podium.errors import DataError, named_in_errors
from podium.hookspecs import GatheredBattles
from podium.notices.notice import Notice
from podium.question_finding import QuestionFinding
from podium.run_record import RunRecord
from podium.scorers.judge_record import JudgeRecord, refused_options
from podium.text import parse_json

if TYPE_CHECKING:
    import pandas as pd


VERDICTS_KEY = "podium_verdicts"
"""First key of a text with verdicts."""
FORM_VERSION = 3
"""Value of the key `VERDICTS_KEY`: the version of the text's form."""
UNNAMED_MODEL = "this model"
"""Name that the filter gives to the model if the user gives none."""
BATTLE_DETAILS = ("response", "category", "length_a", "length_b")
"""Fields of a battle that are copied to its rows."""
MERGED_VERDICT_FIELDS = ("credit", "hard_credit", "margin", "reason")
"""Fields of a battle with the merged verdict."""
IDENTICAL = "identical"
"""Field of a battle whose responses are the same text: a tie that no judge was asked about."""


def verdicts_as_text(document: Mapping[str, Any]) -> str:
    """Return the verdicts on one document as the text that lm-eval writes to its samples."""
    return json.dumps({VERDICTS_KEY: FORM_VERSION, **document}, ensure_ascii=False, allow_nan=False)


def parse_verdicts(response: Any) -> dict[str, Any] | None:
    """Parse the verdicts in a filtered response, or in a list of one.

    Returns:
        The verdicts; None if there are none, or if they have another version than `FORM_VERSION`.
    """
    if isinstance(response, list | tuple) and len(response) == 1:
        return parse_verdicts(response[0])
    # For example `{"podium_verdicts": 3,`, as `verdicts_as_text` writes it.
    beginning = f'{{"{VERDICTS_KEY}": {FORM_VERSION},'
    if not isinstance(response, str) or not response.startswith(beginning):
        return None
    try:
        return dict(parse_json(response))
    except ValueError:
        return None


def judgment_rows(document: Mapping[str, Any], model: str | None = None) -> list[dict[str, Any]]:
    """Return the verdicts on a document as rows of the battles table, one per judgment.

    The judge's replies are left out.

    Args:
        document: the verdicts, as `parse_verdicts` returns them: `item`, `model` and `battles`,
            each with its `judgments`.
        model: new name for the document's model; None to keep the name.
    """
    names = {document["model"]: model or document["model"]}
    rows = []
    for battle in document["battles"]:
        for judgment in battle["judgments"]:
            row = _shared_cells(document, battle, names)
            row |= {name: cell for name, cell in judgment.items() if name != "replies"}
            rows.append(row)
    return rows


def _shared_cells(
    document: Mapping[str, Any], battle: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the cells of a battle that its rows share: item, models, response, category, lengths.

    Args:
        document: the verdicts on a document.
        battle: the battle.
        names: new names of models, by name.
    """
    cells = {"item": document["item"]}
    for side in ("model_a", "model_b"):
        cells[side] = names.get(battle[side], battle[side])
    for name in (*BATTLE_DETAILS, IDENTICAL):
        if name in battle:
            cells[name] = battle[name]
    return cells


def verdicts_in_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the verdicts in a row of a samples file; None if it has none.

    A text that the model itself wrote only looks like verdicts, and counts as none.
    """
    verdicts = parse_verdicts(row.get("filtered_resps"))
    return None if verdicts is None or _is_filtered_text_of_model(row) else verdicts


def model_of_verdicts(file: Samples, verdicts: Mapping[str, Any]) -> str:
    """Return the name of the model whose responses a file holds, by the verdicts on a document.

    The user's label or a name by settings comes first, then the filter's, then lm-eval's.
    """
    is_named = file.has_label or file.named_settings
    has_filter_name = not is_named and verdicts["model"] != UNNAMED_MODEL
    return str(verdicts["model"]) if has_filter_name else file.model


def reply_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a row per judgment in a samples file, with the judge's reply; nothing for other files.

    A row has item, both models, `response`, order, judge, `words` (the reply), and `run_model`, the
    name that the filter gave to the file's model.
    """
    if not SAMPLES_NAME.match(path.name) or not _has_verdicts(path):
        return
    for _, row in sample_rows(path):
        verdicts = verdicts_in_row(row or {})
        if verdicts is None:
            continue
        for battle in verdicts["battles"]:
            shared = _shared_cells(verdicts, battle, {})
            shared["run_model"] = verdicts["model"]
            for judgment in battle["judgments"]:
                words = "\n\n".join(text for text in judgment.get("replies", ()) if text)
                order_and_judge = {"order": judgment["order"], "judge": judgment["judge"]}
                yield {**shared, **order_and_judge, "words": words}


def _has_verdicts(path: Path) -> bool:
    """Return whether a samples file may have verdicts.

    Most files have none. To search their bytes is faster than to parse them.
    """
    with path.open("rb") as stream, named_in_errors(path):
        return any(VERDICTS_KEY.encode() in line for line in short_lines(stream))


def battles_table(documents: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return the verdicts on some documents as a battles table.

    If there is only one judge, it has a row per judgment. If there are several, it has a row per
    battle with their merged verdict.
    """
    import pandas as pd

    documents = list(documents)
    battles = [(document, battle) for document in documents for battle in document["battles"]]
    judges = {judgment["judge"] for _, battle in battles for judgment in battle["judgments"]}
    if len(judges) <= 1:
        return pd.DataFrame([row for document in documents for row in judgment_rows(document)])
    rows = []
    for document, battle in battles:
        row = _shared_cells(document, battle, {})
        row |= {name: battle.get(name) for name in MERGED_VERDICT_FIELDS}
        row["order"] = "merged"
        rows.append(row)
    return pd.DataFrame(rows)


def gather_verdicts(files: Sequence[Samples]) -> GatheredBattles:
    """Read the verdicts in samples files.

    Each file with verdicts becomes a sheet with a row per judgment. Its `attrs` have the records of
    its `judges`, and what counts if only one order is readable (`one_sided`): `keep` if all of its
    verdicts were made so, else `unparsed`. A note counts the other files. If no file has verdicts,
    there are no sheets, runs and questions.

    Raises:
        DataError: both models of a battle have the same name, or a file cannot be read.
    """
    import pandas as pd

    lost: list[Notice] = []
    notes: list[Notice] = []
    sheets = []
    files_of_models = []
    for file in files:
        judges: dict[str, JudgeRecord] = {}
        refused: dict[str, dict[str, str]] = {}
        models: dict[str, None] = {}
        one_sided = set[str]()
        rows: list[dict[str, Any]] = []
        if _has_verdicts(file.path):
            rows = list(_read_judgments(file, lost, judges, refused, models, one_sided))
        notes += notes_on_refused(str(file.path), refused, judges)
        files_of_models += [replace(file, model=name) for name in models or (file.model,)]
        if rows:
            frame = pd.DataFrame(rows).set_index("line")
            frame.attrs["judges"] = judges
            frame.attrs["one_sided"] = "keep" if one_sided == {"keep"} else "unparsed"
            sheets.append((str(file.path), frame))
    without_verdicts = len(files) - len(sheets)
    if without_verdicts:
        notes.append(Notice("samples-without-verdicts", {"files": without_verdicts}))
    gathered = GatheredBattles(tuple(sheets), notes=tuple(notes), lost=tuple(lost))
    if sheets:
        runs, questions = _runs_and_questions(files_of_models)
        gathered = replace(gathered, runs=runs, questions=questions)
    return gathered


def _runs_and_questions(
    files: Sequence[Samples],
) -> tuple[tuple[RunRecord, ...], tuple[QuestionFinding, ...]]:
    """Return the records of the runs of some files, and a finding per task on their documents.

    Documents that differ are no error: a judge compared responses to one document. The records have
    no scorers.
    """
    compared = pair_documents([read_scores(file) for file in files], [FINDING])
    # A filter that judges has the folders of its opponents among its options, which differ.
    runs = [replace(run, scorers=()) for run in compared.runs]
    return tuple(runs), compared.findings


def _read_judgments(
    file: Samples,
    lost: list[Notice],
    judges: dict[str, JudgeRecord],
    refused: dict[str, dict[str, str]],
    models: dict[str, None],
    one_sided: set[str],
) -> Iterator[dict[str, Any]]:
    """Yield a row per judgment in a file, with its line.

    Rows of the file without verdicts are left out, and so are texts that the model itself wrote.

    Args:
        file: the file.
        lost: notes on losses so far; a line that is cut off is added in place.
        judges: records of judges by name; the judges of the file are added in place.
        refused: options that judges refused, by judge; those in the file are added in place.
        models: names of the file's model in order; those in the file are added in place.
        one_sided: settings for battles of which only one order is readable: `keep` its verdict, or
            `unparsed`; the settings in the file are added in place.

    Raises:
        DataError: both models of a battle have the same name.
    """
    for place, row in sample_rows(file.path):
        if row is None:
            fields = {"path": str(file.path), "place": place, "task": ""}
            lost.append(Notice("cut-off-line", fields))
            continue
        verdicts_of_document = verdicts_in_row(row)
        if verdicts_of_document is None:
            continue
        model = model_of_verdicts(file, verdicts_of_document)
        models[model] = None
        one_sided.add(verdicts_of_document.get("one_sided") or "unparsed")
        for name, record in verdicts_of_document.get("judges", {}).items():
            judges[name] = JudgeRecord.from_json(name, record)
        refused |= refused_options(verdicts_of_document.get("judges", {}))
        for judgment in judgment_rows(verdicts_of_document, model):
            if judgment["model_a"] == judgment["model_b"]:
                problem = f"{judgment['model_a']!r} is the name of both sides"
                remedy = (
                    f"label the run (name={file.path.parent}), "
                    "or its opponent in the filter's `against`"
                )
                raise DataError(problem, remedy=remedy, source=str(file.path), row=place)
            yield {"line": place.removeprefix("line "), **judgment}


def _is_filtered_text_of_model(row: Mapping[str, Any]) -> bool:
    """Return whether a filtered text of a row also stands in a response of the model.

    The model then wrote it, and it only looks like verdicts.
    """
    responses = list(_flatten_texts(row.get("resps")))
    for filtered_text in _flatten_texts(row.get("filtered_resps")):
        if any(filtered_text in response for response in responses):
            return True
    return False


def _flatten_texts(value: Any) -> Iterator[str]:
    """Yield the texts in nested lists, or a text itself; other values have none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _flatten_texts(inner)
