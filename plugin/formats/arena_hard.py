"""arena-hard judgments: a model against a baseline, two games with the order swapped."""

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.verdicts import FIVE_LEVELS, credit_of, each_order, games_of, reasons, row_name

DEFAULT_BASELINE = "baseline"
MARGINS = {label: margin for label, (_, margin) in FIVE_LEVELS.items()}


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read two judgments per row, the model as a: game 0 shows the baseline as A, game 1 the model as A.

    A null game, or a game without a label, is unparsed. `A>>B` gives credit 1 with margin 2, `A>B` margin 1.

    Raises:
        DataError: a label that is none of the five, or a row that does not hold one or two games.
    """
    item = "uid" if "uid" in records else "question_id"
    plain = records.drop(columns=["games"]).rename(columns={item: "item", "model": "model_a", "baseline": "model_b"})
    if "model_b" not in plain:
        plain["model_b"] = DEFAULT_BASELINE
    games = games_of(records["games"], "score")
    judgments = []
    for order, rows, played, labels in each_order(plain, games, "score", ("ba", "ab")):
        shown_first = labels.map(MARGINS).to_numpy(dtype=np.float64)
        unknown = np.flatnonzero(labels.notna() & np.isnan(shown_first))
        if len(unknown):
            problem = f"score {str(labels.iloc[unknown[0]])[:60]!r} is not one of {', '.join(MARGINS)}"
            remedy = "repair the label, or set it to null if the judge gave none"
            raise DataError(problem, row=row_name(labels.index, unknown[0]), remedy=remedy)
        margin = -shown_first if order == "ba" else shown_first
        reason = reasons(np.isnan(margin), "no verdict")
        reason[[game is None for game in played]] = "no game"
        verdict = {"credit": credit_of(margin), "margin": margin, "reason": reason}
        judgments.append(rows.assign(order=order, label=labels, **verdict))
    return pd.concat(judgments)
