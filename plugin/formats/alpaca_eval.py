"""AlpacaEval annotations: one model against one baseline, preference between 1 and 2."""

from collections.abc import Collection
from pathlib import PurePath

import numpy as np
import pandas as pd

from podium.formats.verdicts import number, reasons, refuse

SILENT = -1.0
TIES = (0.0, 1.5)


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read output_2's model as a: preference 2 = it wins, 1 = it loses, in between = soft; 1.5 and 0 = tie.

    Null, NaN and -1 are unparsed. Items are joined by the instruction's text; the order shown is not recorded. Column
    `index` numbers the rows from 0, as AlpacaEval does where it looks up the difficulty of an instruction.

    Raises:
        DataError: a preference outside these.
    """
    preference = number(records["preference"])
    unparsed = np.isnan(preference) | (preference == SILENT)
    tie = np.isin(preference, TIES)
    bad = ~unparsed & ~tie & ((preference < 1) | (preference > 2))
    remedy = "preferences lie between 1 and 2 (1.5 or 0 = tie, -1 = unparsed)"
    refuse(records["preference"], bad, "is not a preference", remedy)
    credit = np.where(unparsed, np.nan, np.where(tie, 0.5, preference - 1))
    frame = records[["generator_2", "generator_1"]].set_axis(["model_a", "model_b"], axis=1)
    frame = frame.assign(credit=credit, reason=reasons(unparsed, "no preference"))
    kept = {new: old for new, old in _KEPT.items() if old in records and new not in records}
    frame = frame.assign(**{new: records[old] for new, old in kept.items()})
    for side, output in (("a", "output_2"), ("b", "output_1")):
        if output in records:
            frame[f"length_{side}"] = records[output].map(lambda text: len(text) if isinstance(text, str) else np.nan)
    if "index" not in records:
        frame["index"] = np.arange(len(records))
    foreign = [name for name in records if name not in {*kept.values(), *_USED, *frame}]
    return frame.join(records[foreign])


def folder_of_model(source: str, judges: Collection[str]) -> str | None:
    """Return the folder that names the model of `results/MODEL/ANNOTATOR/annotations.json`; None outside such a tree.

    >>> folder_of_model("results/gpt-4/judge/annotations.json", ["judge"]), folder_of_model("a/b/c.json", ["judge"])
    ('gpt-4', None)
    """
    folders = PurePath(source).parts[-3:-1]
    return folders[0] if len(folders) == 2 and [folders[1]] == list(judges) else None


_KEPT = {"item": "instruction", "judge": "annotator", "category": "dataset"}
_USED = {"generator_1", "generator_2", "preference", "output_1", "output_2"}
