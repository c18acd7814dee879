"""Small functions, each with values that a reader can check at a glance."""

import numpy as np
import pytest

from podium.comparison.gate import parse_requirement
from podium.data.battles import criterion_columns
from podium.diagnosis.clustered import farther_ends
from podium.diagnosis.decisiveness import judge_curve, pair_agreement
from podium.diagnosis.figures import Statistic, Unit
from podium.diagnosis.judge_checks import Family, family_of, same_model
from podium.diagnosis.transitivity import WEAK_ORDERS, chance_of_no_order, deviation
from podium.errors import DataError, install_hint
from podium.format_version import require_format
from podium.known_names import find_name
from podium.numbers import percent, range_text
from podium.planning.compared_sizes import read_difference
from podium.planning.plan_record import elo_of_edge
from podium.planning.sample_size import informative_needed, items_needed, three_levels
from podium.printable import printable
from podium.rankers.calibration.calibration import models_needed
from podium.rankers.estimate import Estimate
from podium.show.answers.rank_templates import all_of, more_items_sentence
from podium.show.page.packing import pack_columns
from podium.show.report.markup import escape_latex
from podium.show.report.terminal import _wrap
from podium.text import json_text, text_of
from podium.wording import join_item_names, join_names, number_word, plural, some


def test_a_small_number_is_spelled_and_a_large_one_is_in_digits():
    assert (number_word(3), number_word(1200)) == ("three", "1,200")


def test_all_of_one_two_and_many_things():
    assert (all_of(1, "check"), all_of(2, "check"), all_of(9, "check")) == (
        "the one check",
        "both checks",
        "all nine checks",
    )


def test_names_are_joined_by_a_word():
    assert (join_names(["a", "b", "c"]), join_names(["a", "b"], "or")) == ("a, b and c", "a or b")


def test_items_are_named_and_a_row_without_an_item_is_called_by_its_number():
    assert (
        join_item_names(["backwards", "bullets"], are_rows=False) == "items backwards and bullets"
    )
    assert join_item_names(["row 3"], are_rows=True) == "row 3"


def test_one_more_item_is_in_the_singular_and_the_tests_it_is_for_are_named():
    gap, power = (
        "between wren and finch is the measured 72 Elo",
        "1 more item would separate them with 80% power",
    )
    texts = [
        more_items_sentence("wren", "finch", 1, "72 Elo", pairs=pairs, again="see below")
        for pairs in (1, 15)
    ]
    tests = (
        "is for a test of these two models alone",
        "corrects for testing 15 pairs",
    )
    assert texts == [
        f"If the true gap {gap}, {power}. This number {tested}; see below." for tested in tests
    ]


def test_a_requirement_has_a_margin_in_points():
    assert parse_requirement("not-worse=2points").margin == 2.0


def test_an_interval_reaches_to_the_farther_of_two_ends_within_its_bounds():
    assert farther_ends(0.8, (0.5, 0.85), (-1, 1)) == (0.5, 1)


def test_a_judge_of_decisiveness_one_has_the_gold_win_rates():
    assert judge_curve(np.array([0.2, 0.5]), 1.0).tolist() == [0.2, 0.5]


def test_a_win_rate_of_a_half_agrees_by_half():
    assert float(pair_agreement(np.array([0.9, 0.6]), np.array([0.8, 0.5]))) == 0.75


def test_a_statistic_is_written_with_its_interval():
    figure = Statistic(0.49, 0.48, 0.5, level=0.95, method="t", n=100, unit=Unit.SHARE)
    assert figure.brief == "49.0% (48.0 … 50.0)"


def test_a_family_is_given_by_a_pattern_or_guessed():
    assert family_of("openai/gpt-4o", {}) == Family(name="OpenAI", how="guessed")
    assert family_of("my-model", {"my-*": "mine"}) == Family(name="mine", how="given")


def test_a_model_is_found_whatever_its_provider_and_case():
    assert same_model(("GPT-4o", "other"), "openai/gpt-4o") == "GPT-4o"


def test_a_chain_of_wins_is_transitive_unless_its_ends_are_equal():
    assert ((2, 2, 2) in WEAK_ORDERS, (2, 2, 1) in WEAK_ORDERS) == (True, False)


def test_credits_that_strengths_explain_do_not_deviate():
    assert float(round(deviation(0.6, 0.5, 0.6), 12)) == 0.0


def test_a_quarter_of_random_triples_without_ties_has_no_order():
    assert (round(chance_of_no_order(0), 12), round(27 * chance_of_no_order(1 / 3), 12)) == (
        0.25,
        14.0,
    )


def test_the_hint_for_an_extra_is_a_command():
    assert install_hint("report") == "run pip install '.[report]' in podium's checkout"


def test_a_name_is_found_without_its_provider_if_that_is_unique():
    assert find_name("model", "gpt-5", ["openai/gpt-5", "openai/gpt-5-mini"]) == "openai/gpt-5"


def test_a_document_of_another_format_is_rejected_with_a_remedy():
    with pytest.raises(DataError) as refusal:
        require_format("0.1", "a ranking", "old.json")
    assert str(refusal.value) == (
        "old.json: a ranking of format 0.1; this podium reads format 0.3. "
        "Remedy: run it again, or run `podium rank` on the verdicts"
    )


def test_columns_of_criteria_are_sorted_and_the_margin_is_none():
    names = ["item", "margin", "margin_tone", "margin_clarity"]
    assert criterion_columns(names) == ["margin_clarity", "margin_tone"]


def test_models_needed_grow_with_the_level():
    assert (models_needed(0.9), models_needed(0.95), models_needed(0.99)) == (9, 19, 99)


def test_a_decreasing_function_turns_an_interval_round():
    turned = Estimate(2.0, 1.0, 4.0).transform(lambda x: 1 / x, decreasing=True)
    assert turned == Estimate(value=0.5, low=0.25, high=1.0)


def test_texts_of_a_column_are_packed_as_codes():
    assert pack_columns([{"model": "wren", "rank": 1}, {"model": "wren", "rank": 2}]) == {
        "model": {"names": ["wren"], "codes": [0, 0]},
        "rank": [1, 2],
    }


def test_a_difference_is_in_points_or_elo():
    assert (read_difference("2points"), read_difference("40elo")) == ((0.02, False), (40.0, True))


def test_the_elo_of_a_small_edge():
    assert round(elo_of_edge(0.05, ties=0.0), 1) == 34.9


def test_ties_with_the_anchor_make_more_items_informative():
    assert round(three_levels(ties=0.0, edge=0.05).informative, 3) == 0.501
    assert round(three_levels(ties=0.15, edge=0.0).informative, 3) == 0.616


def test_informative_items_are_those_of_table_2():
    assert [informative_needed(edge) for edge in (0.05, 0.10, 0.15, 0.20, 0.25)] == [
        617,
        153,
        67,
        37,
        23,
    ]


def test_items_are_needed_for_those_that_are_not_informative_too():
    assert (items_needed(617, 0.61), items_needed(153, 1 - 0.55)) == (1012, 340)


def test_control_characters_are_escaped():
    assert printable("red \x1b[31m") == r"red \x1b[31m"


def test_special_characters_of_latex_are_escaped():
    assert escape_latex("a_b & 50%") == r"a\_b \& 50\%"


def test_a_level_is_written_with_all_its_digits():
    assert (percent(1 - 0.05 / 7), percent(0.99999)) == ("99.29%", "99.999%")


def test_a_range_is_written_with_a_dash_unless_its_ends_are_equal():
    assert (range_text(1, 3), range_text(2, 2)) == ("1–3", "2")


def test_a_wrapped_list_item_has_a_hanging_indent():
    assert _wrap(["- one two three"], 9) == ["- one two", "  three"]


def test_values_are_written_as_texts():
    values = 3.0, "a", float("nan"), {"b": 1}
    assert tuple(text_of(value) for value in values) == ("3", "a", None, '{"b": 1}')


def test_bidirectional_characters_are_escaped_in_json():
    assert json_text({"model": "gpt\u202e4"}) == '{\n "model": "gpt\\u202e4"\n}'


def test_a_noun_is_singular_for_one_only():
    assert (plural("label", 1), plural("label", 0)) == ("label", "labels")


def test_names_beyond_the_most_are_counted():
    assert some(["a", "b", "c"], most=2) == "a, b, and 1 more"
