"""Rankings that were written as JSON, read back."""

import json
from dataclasses import replace

import pytest
from places import EXAMPLE

import podium
from podium.errors import DataError
from podium.nouns.json_files import read_ranking
from podium.page.report_page import plain_answer


def test_the_answer_of_a_ranking_is_read_back_as_it_was_written(tmp_path):
    ranking = podium.rank(str(EXAMPLE))
    path = tmp_path / "ranking.json"
    path.write_text(json.dumps(ranking.to_dict()), encoding="utf-8")
    found = read_ranking(path)
    assert found is not None
    assert found.standings[0].answer == ranking.standings[0].answer
    assert len(found.standings[0].answer) == 3


def test_rank_set_of_one_is_not_reported_as_ahead_of_all_others():
    """Marginal rank sets bound one model's rank, not all gaps together."""
    first = podium.rank(str(EXAMPLE)).standings[0]
    alone = tuple(replace(entry, rank_low=1 + k, rank_high=6) for k, entry in enumerate(first.entries))
    assert plain_answer(replace(first, entries=alone)) == ("First is amber.",)


@pytest.mark.parametrize(
    ("path", "wrong", "field"),
    [
        (("models", 0, "score"), "1612", "rankings.0.models.0.score is '1612': "),
        (("models", 1, "rank"), None, "rankings.0.models.1.rank is None: "),
        (("models", 1), 5, "rankings.0.models.1 is 5: "),
        (("counts", "items"), 2.5, "rankings.0.counts.items is 2.5: "),
        (("level",), float("nan"), "rankings.0.level is nan: "),
        (("fit",), [], "rankings.0.fit is []: "),
    ],
    ids=str,
)
def test_a_damaged_ranking_names_file_and_field(tmp_path, path, wrong, field):
    document = podium.rank(str(EXAMPLE)).to_dict()
    *parents, last = path
    part = document["rankings"][0]
    for name in parents:
        part = part[name]
    part[last] = wrong
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_ranking(damaged)
    assert str(error.value).startswith(f"{damaged}: is not a ranking: {field}")


def test_every_ranking_is_read_back_as_it_was_written(tmp_path):
    ranking = podium.rank(str(EXAMPLE), "bradley-terry,win-rate,informativeness")
    path = tmp_path / "ranking.json"
    path.write_text(ranking.to_json(), encoding="utf-8")
    assert read_ranking(path).to_json() == ranking.to_json()
