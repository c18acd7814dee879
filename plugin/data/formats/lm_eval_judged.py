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
from typing import Any

import pandas as pd

from podium.data.formats.lm_eval_layout import Samples, sample_rows
from podium.data.formats.records import short_lines
from podium.errors import DataError, named_in_errors
from podium.hookspecs import GatheredBattles
from podium.notices.notice import Notice
from podium.scorers.judge_record import JudgeRecord
from podium.text import parse_json

MARK = "podium_verdicts"
VERSION = 3
UNNAMED_MODEL = "this model"
"""Name that the filter gives to the model if the user gives none."""
BATTLE_DETAILS = ("response", "category", "length_a", "length_b")
VERDICT = ("credit", "hard_credit", "margin", "reason")


def verdicts_as_text(document: Mapping[str, Any]) -> str:
    """Return the verdicts on one document as the text that lm-eval keeps."""
    return json.dumps({MARK: VERSION, **document}, ensure_ascii=False, allow_nan=False)


def parse_verdicts(kept: Any) -> dict[str, Any] | None:
    """Parse the verdicts in a filtered response; None if it is something else."""
    if isinstance(kept, list | tuple) and len(kept) == 1:
        return parse_verdicts(kept[0])
    if not isinstance(kept, str) or not kept.startswith(f'{{"{MARK}": {VERSION},'):
        return None
    try:
        return dict(parse_json(kept))
    except ValueError:
        return None


def judgment_rows(document: Mapping[str, Any], model: str | None = None) -> list[dict[str, Any]]:
    """Return the verdicts on a document as rows of the battles table, one per judgment; `model`
    renames its model."""
    names = {document["model"]: model or document["model"]}
    return [
        {
            **_sides(document, battle, names),
            **{name: cell for name, cell in shown.items() if name != "replies"},
        }
        for battle in document["battles"]
        for shown in battle["judgments"]
    ]


def _sides(
    document: Mapping[str, Any], battle: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return item, renamed models, lengths and category of a battle."""
    sides = {side: names.get(battle[side], battle[side]) for side in ("model_a", "model_b")}
    return {
        "item": document["item"],
        **sides,
        **{name: battle[name] for name in BATTLE_DETAILS if name in battle},
    }


def battles_table(documents: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the verdicts on some documents as an unmerged battles table; of a jury, a row per
    battle."""
    documents = list(documents)
    battles = [(document, battle) for document in documents for battle in document["battles"]]
    if len({shown["judge"] for _, battle in battles for shown in battle["judgments"]}) <= 1:
        return pd.DataFrame([row for document in documents for row in judgment_rows(document)])
    verdicts = [{name: battle.get(name) for name in VERDICT} for _, battle in battles]
    rows = [
        {**_sides(*both, {}), **own, "order": "merged"}
        for both, own in zip(battles, verdicts, strict=True)
    ]
    return pd.DataFrame(rows)


def gather_verdicts(files: Sequence[Samples]) -> GatheredBattles:
    """Read the verdicts in samples files, a row per judgment and a sheet per file that holds
    some."""
    lost, sheets = list[Notice](), []
    for file in files:
        # Most files hold none: searching their bytes is faster than parsing them.
        with file.path.open("rb") as stream, named_in_errors(file.path):
            is_judged = any(MARK.encode() in line for line in short_lines(stream))
        judges: dict[str, JudgeRecord] = {}
        rows = list(_read_judgments(file, lost, judges)) if is_judged else []
        if rows:
            frame = pd.DataFrame(rows).set_index("line")
            frame.attrs["judges"] = judges
            sheets.append((str(file.path), frame))
    rest = len(files) - len(sheets)
    notes = (Notice("samples-without-verdicts", {"files": rest}),) if rest else ()
    return GatheredBattles(tuple(sheets), notes=notes, lost=tuple(lost))


def _read_judgments(
    file: Samples, lost: list[Notice], judges: dict[str, JudgeRecord]
) -> Iterator[dict[str, Any]]:
    """Yield a row per judgment in a file, with its line; append a cut-off line to `lost`, and add
    the judges by name."""
    for place, row in sample_rows(file.path):
        if row is None:
            lost.append(
                Notice("cut-off-line", {"path": str(file.path), "place": place, "task": ""})
            )
            continue
        # Text that the model itself wrote is a response, even if it looks like verdicts.
        said, kept = (
            list(_flatten_texts(row.get("resps"))),
            list(_flatten_texts(row.get("filtered_resps"))),
        )
        document = parse_verdicts(row.get("filtered_resps"))
        if document is None or any(verdicts in text for verdicts in kept for text in said):
            continue
        # The user's label comes first, then the filter's name, then lm-eval's.
        model = (
            file.model
            if file.has_label or document["model"] == UNNAMED_MODEL
            else str(document["model"])
        )
        for name, kept in document.get("judges", {}).items():
            judges[name] = JudgeRecord.from_json(name, kept)
        for shown in judgment_rows(document, model):
            if shown["model_a"] == shown["model_b"]:
                problem = f"{shown['model_a']!r} is the name of both sides"
                remedy = (
                    f"label the run (name={file.path.parent}), or its opponent in the filter's "
                    "`against`"
                )
                raise DataError(problem, remedy=remedy, source=str(file.path), row=place)
            yield {"line": place.removeprefix("line "), **shown}


def _flatten_texts(value: Any) -> Iterator[str]:
    """Yield the texts in nested lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _flatten_texts(inner)
