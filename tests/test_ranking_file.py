"""Rankings that were written as JSON, read back."""

import json
from dataclasses import replace

import pytest
from places import EXAMPLE

import podium
from podium.diagnosis.subject import read_gold
from podium.errors import DataError
from podium.rankers.json_files import read_ranking
from podium.show.page.report_page import plain_answer


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
    alone = tuple(
        replace(entry, rank_low=1 + k, rank_high=6) for k, entry in enumerate(first.entries)
    )
    assert plain_answer(replace(first, entries=alone)) == ("First is amber.",)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("path", "wrong", "field"),
    [
        (("models", 0, "score"), "1612", "rankings.0.models.0.score is '1612': "),
        (("models", 1, "rank"), None, "rankings.0.models.1.rank is None: "),
        (("models", 1), 5, "rankings.0.models.1 is 5: "),
        (("counts", "items"), 2.5, "rankings.0.counts.items is 2.5: "),
        (("level",), float("nan"), "rankings.0.level is nan: "),
        (("fit",), [], "rankings.0.fit is []: "),
        (("models",), [], "rankings.0.models is []: "),
        (("models", 0, "model"), -1, "rankings.0.models.0.model is -1: "),
        (("models", 0, "model"), "birch", "rankings.0.models: 'birch' appears twice"),
        (("models", 0, "battles"), [], "rankings.0.models.0.battles is []: "),
        (("models", 0, "battles"), -1, "rankings.0.models.0.battles is -1: out of range"),
        (
            ("models", 0, "battles"),
            int("1" * 400),
            f"rankings.0.models.0.battles is {'1' * 60} ... {'1' * 15}: out of",
        ),
        (("models", 0, "rank"), 0, "rankings.0.models.0.rank is 0: out of range"),
        (("models", 0, "win_rate"), 75, "rankings.0.models.0.win_rate is 75.0: out of range"),
        (("models", 0, "score"), 1e308, "rankings.0.models.0.score is 1e+308: out of range"),
        (("models", 0, "figure"), float("nan"), "rankings.0.models.0.figure is nan: out of range"),
        (("counts", "items"), -5, "rankings.0.counts.items is -5: out of range"),
        (("level",), 95, "rankings.0.level is 95"),
        (("diagnostics", "swap"), -1, "rankings.0.diagnostics.swap is -1: "),
        (("diagnostics", "swap", "same"), None, "rankings.0.diagnostics.swap.same is None: "),
        (
            ("diagnostics", "unparsed_reasons"),
            "x",
            "rankings.0.diagnostics.unparsed_reasons is 'x': ",
        ),
        (
            ("diagnostics", "informative_items"),
            [],
            "rankings.0.diagnostics.informative_items is []: ",
        ),
        (
            ("diagnostics", "figure"),
            float("inf"),
            "rankings.0.diagnostics.figure is inf: out of range",
        ),
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


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["rankings", "provenance", "podium"])
def test_a_ranking_that_is_nested_too_deeply_is_named(tmp_path, name):
    document = podium.rank(str(EXAMPLE)).to_dict() | {name: "NESTED"}
    damaged = tmp_path / "damaged.json"
    for depth in (300, 1000, 100_000):
        damaged.write_text(
            json.dumps(document).replace('"NESTED"', "[" * depth + "]" * depth), encoding="utf-8"
        )
        for read in (read_ranking, read_gold):
            with pytest.raises(
                DataError, match=r"^\S+damaged\.json: [^\n]*nested too deeply[^\n]*$"
            ):
                read(damaged)


def test_a_ranking_without_a_table_or_of_an_endless_version_is_named_in_short(tmp_path):
    document = podium.rank(str(EXAMPLE)).to_dict()
    damaged = tmp_path / "damaged.json"
    for changes, said in (
        ({"rankings": []}, "rankings is \\[\\]"),
        ({"podium": "9" * 300_000}, "of format 9+ [.]{3} 9+;"),
    ):
        damaged.write_text(json.dumps(document | changes), encoding="utf-8")
        with pytest.raises(DataError, match=said) as error:
            read_ranking(damaged)
        assert len(str(error.value)) < 500


def test_every_ranking_is_read_back_as_it_was_written(tmp_path):
    ranking = podium.rank(str(EXAMPLE), "bradley-terry,win-rate,informativeness")
    path = tmp_path / "ranking.json"
    path.write_text(ranking.to_json(), encoding="utf-8")
    assert read_ranking(path).to_json() == ranking.to_json()


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    "diagnostics", [{}, {"own": {"figure": [1, 2]}}, {"own": 1, "informative_items": 3}]
)
def test_diagnostics_that_podium_does_not_know_are_read_back(tmp_path, diagnostics):
    document = podium.rank(str(EXAMPLE)).to_dict()
    document["rankings"][0]["diagnostics"] = diagnostics
    path = tmp_path / "ranking.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert read_ranking(path).standings[0].diagnostics == diagnostics
