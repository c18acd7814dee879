"""Which items may have battles of identical responses."""

import json
from pathlib import Path

from podium.data.pairings import Pairing
from podium.responses.read import read_responses


def test_only_keys_with_equal_texts_have_identical_responses(tmp_path: Path) -> None:
    """White space at the ends does not count."""
    texts = {
        "amber": ["yes", "no", "maybe"],
        "birch": ["yes ", "yes", "never"],
        "cedar": ["a", "b", "c"],
    }
    for name, own in texts.items():
        rows = (
            {"id": f"q{k}", "instruction": f"Do {k}.", "response": text, "model": name}
            for k, text in enumerate(own)
        )
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    responses = read_responses(tmp_path)
    assert responses.keys_with_equal_texts() == {"q0"}
    pairs = [("amber", "birch"), ("amber", "cedar"), ("birch", "cedar")]
    battles = [Pairing(f"q{k}", a, b) for k in range(3) for a, b in pairs]
    assert [each for each in battles if responses.are_identical(each)] == [battles[0]]
    assert responses.identical_battles(battles) == [battles[0]]
