"""Rankings that were written as JSON, read back for a page."""

import json
from dataclasses import replace

from places import EXAMPLE

import podium
from podium.page.readings import read_ranking_file
from podium.page.report_page import plain_answer


def test_the_answer_of_a_ranking_is_read_back_as_it_was_written(tmp_path):
    ranking = podium.rank(str(EXAMPLE))
    path = tmp_path / "ranking.json"
    path.write_text(json.dumps(ranking.to_dict()), encoding="utf-8")
    found = read_ranking_file(path)
    assert found is not None
    assert found.standings[0].answer == ranking.standings[0].answer
    assert len(found.standings[0].answer) == 3


def test_a_rank_set_of_one_is_not_said_to_be_ahead_of_all_others():
    """Marginal rank sets bound one model's rank, not all gaps together."""
    first = podium.rank(str(EXAMPLE)).standings[0]
    alone = tuple(replace(entry, rank_low=1 + k, rank_high=6) for k, entry in enumerate(first.entries))
    assert plain_answer(replace(first, entries=alone)) == ("First is amber.",)
