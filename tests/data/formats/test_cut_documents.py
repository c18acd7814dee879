"""A JSON document that was cut off is an error, not its first records."""

import json

import pytest

import podium

ROWS = [{"item": f"i{k}", "model_a": "x", "model_b": "y", "credit": k % 2} for k in range(12)]
LINES = ",\n".join(map(json.dumps, ROWS))


@pytest.mark.parametrize(
    "content",
    [
        f"[\n{LINES},\n",
        f"[\n{LINES}\n",
        f"[\n{LINES},\n]",
        f"[\n{LINES},",
        '{"0": {"item": "i0", "model_a": "x", "model_b": "y", "credit": 1},\n',
    ],
)
def test_a_list_or_an_object_that_does_not_end_is_an_error(tmp_path, content):
    path = tmp_path / "votes.json"
    path.write_text(content)
    with pytest.raises(podium.DataError, match=r"votes\.json"):
        podium.read_battles(str(path))


@pytest.mark.parametrize("end", ["]", "]\n\n", "\n ]  "])
def test_a_list_that_ends_is_read_whole(tmp_path, end):
    path = tmp_path / "votes.json"
    path.write_text(f"[{LINES}{end}")
    assert podium.read_battles(str(path)).counts().judgments == len(ROWS)
