"""900K-Judgments: every pair of models judged with five-level verdicts."""

import pandas as pd

from podium.formats.verdicts import credit_of, reasons, translate

MARGIN = {"m1>>m2": 2.0, "m1>m2": 1.0, "m1=m2": 0.0, "m2>m1": -1.0, "m2>>m1": -2.0}
MARGIN |= {"m1<m2": -1.0, "m1<<m2": -2.0}
NAMES = {"uid": "item", "model_a_in_prompt": "model_a", "model_b_in_prompt": "model_b", "judge_model": "judge"}


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read one judgment per row, the model shown first as a; an empty or INVALID verdict is unparsed.

    Raises:
        DataError: an unknown verdict.
    """
    remedy = f"known verdicts: {', '.join(MARGIN)}"
    margin, unparsed = translate(records["final_verdict"], MARGIN, frozenset({"INVALID"}), remedy=remedy)
    frame = records.rename(columns=NAMES)
    return frame.assign(credit=credit_of(margin), margin=margin, order="ab", reason=reasons(unparsed, "no verdict"))
