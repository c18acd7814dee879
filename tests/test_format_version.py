"""Files that an older podium wrote are rejected by name and version, never misread."""

import json

import pytest

from podium.diagnosis.subject import read_gold
from podium.errors import DataError
from podium.format_version import FORMAT_VERSION
from podium.rankers.json_files import read_calibration, read_ranking

OLD_RANKING = {
    "podium": "0.1",
    "rankings": [{"models": [{"model": "amber", "score": 1000.0}], "scale": "elo"}],
}


@pytest.mark.parametrize("read", [read_gold, read_ranking])
@pytest.mark.parametrize("version", ["0.1", None])
def test_a_ranking_of_another_format_is_rejected(tmp_path, read, version):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(OLD_RANKING | {"podium": version}), encoding="utf-8")
    with pytest.raises(
        DataError, match=f"old.json: a ranking .*; this podium reads format {FORMAT_VERSION}.*run"
    ):
        read(str(path) if read is read_gold else path)


def test_a_calibration_of_another_format_is_rejected(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"podium": "0.1", "beta": 1.0}), encoding="utf-8")
    with pytest.raises(DataError, match=r"old.json: a calibration of format 0.1.*podium calibrate"):
        read_calibration(path)
