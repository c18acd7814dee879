"""What other tools read in a ranking's frame."""

from places import EXAMPLE

import podium


def test_a_frame_has_the_columns_that_inspect_viz_draws_scores_by_task_from():
    """`scores_by_task(data, task_name="slice", score_value="score", score_stderr="se")`; `model` is
    its own default."""
    frame = podium.rank(str(EXAMPLE), by="category").to_frame()
    columns = frame[["model", "slice", "score", "se"]]
    assert columns.notna().all(axis=None)
    assert frame[["score", "se"]].dtypes.astype(str).tolist() == ["float64", "float64"]
    assert not columns[["model", "slice"]].duplicated().any()
