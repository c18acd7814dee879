"""The results of checks: what a check says of itself in sentences, tables and JSON."""

import json
import math

import pytest

from podium.check_kinds import GRAVITY
from podium.check_results import Check, Result, make_check, not_known


@pytest.mark.parametrize("name", list(GRAVITY))
def test_a_check_that_is_not_known_says_why_and_is_neither_ok_nor_flagged(name: str) -> None:
    check = not_known(name, "no lengths", "give lengths")
    assert (check.is_flagged, check.is_known) == (False, False)
    assert check.row == (name, "not known", "no lengths: give lengths")
    assert not check.short_figure


def test_a_flagged_check_says_what_was_found_and_what_to_do() -> None:
    check = make_check("own model", True, fields={"judge": "ash"})
    assert check.clause == "the judge ash judges itself: use another judge"
    assert check.start_sentence(check.clause).startswith("The judge ash")
    assert check.row == ("own model", "flagged", check.clause)


def test_a_name_that_begins_a_sentence_is_written_as_it_is() -> None:
    check = make_check("cycle", True, fields={"a": "ash", "b": "elm", "c": "oak"})
    assert check.start_sentence(check.clause).startswith("ash beats elm")


def test_the_figure_with_its_interval_stands_for_the_finding_where_all_its_fields_are_known() -> (
    None
):
    fields = {"longer": "longer", "weight": 0.4, "option": "", "estimate": "0.4"}
    alone = make_check("length", False, fields=fields)
    assert alone.figure == "neither longer nor shorter responses are favoured beyond chance"
    known = make_check("length", False, fields={**fields, "interval": "0.1 … 0.7"})
    assert known.figure.endswith("per factor e in length: 0.4 (0.1 … 0.7)")


def test_a_check_in_json_has_no_infinity_and_no_missing_threshold() -> None:
    fields = {"slope": 2.0, "low": 1.5, "high": math.inf, "new": "ash"}
    scale = make_check("ladder scale", True, number=2.0, interval=(1.5, math.inf), fields=fields)
    repeated = Check(name="repeated", result=Result.OK, fields={"estimate": 1, "interval": 2})
    rows = json.loads(json.dumps([scale.to_dict(), repeated.to_dict()], allow_nan=False))
    assert (rows[0]["code"], rows[0]["low"], rows[0]["high"]) == ("ladder-scale", 1.5, None)
    assert (rows[1]["result"], rows[1]["threshold"]) == ("ok", None)
