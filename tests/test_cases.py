"""Files of other projects' kinds: no two commands contradict one another about one of them, and the
answer is right.

Each file is asked of `podium rank` (as a table and as JSON), `podium compare` (of two of its
models), `podium report` and `podium diagnose`. What they say is held together (`command_facts`).
"""

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import command_facts
import pytest
from command_facts import Comparison, Facts

import podium
from podium.plugins.catalogue import find_realization
from podium.scorers.prompt import Settings
from podium.scorers.reply import Reply

CASES = Path(__file__).parents[2] / "shared" / "data" / "cases"
pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside this checkout"),
]


@dataclass(frozen=True)
class Case:
    """A file, and two of its models, the one that is first (or nobody is) before the other.

    Attributes:
        name: the file or folder.
        models: the two that are compared.
        options: what is typed with every command.
    """

    name: str
    models: tuple[str, str]
    options: tuple[str, ...] = ()


TABLE = [
    Case("00-compare-csv-works.csv", ("x1", "y1")),
    Case("00-compare-jsonl.jsonl", ("x1", "y1")),
    Case("00c-alpaca-annotations.json", ("gen1", "base1")),
    Case("01-inspect-unequal-epochs", ("mockllm/a", "mockllm/b")),
    Case("02-inspect-reducer-max", ("mockllm/a", "mockllm/b")),
    Case("03-inspect-shuffled-ids", ("mockllm/a", "mockllm/b")),
    Case("04-inspect-invalidated-samples", ("mockllm/a", "mockllm/b")),
    Case("06-lmeval-shots", ("org/A", "org/B")),
    Case("07-lmeval-task-version", ("org/A", "org/B")),
    Case("08-lmeval-rerun-other-shots", ("org/A (shots=0)", "org/B")),
    Case("09-win-matrix.csv", ("m0", "m7")),
    Case("10-mt-bench-turns.jsonl", ("alpha", "beta")),
    Case("11-lower-is-better.csv", ("good", "bad")),
    Case("12-percent-and-fraction.csv", ("new", "old")),
    Case("13-ids-per-category.jsonl", ("a", "b")),
    Case("14-arena-hard-reversed-labels.jsonl", ("m", "base")),
    Case("15-mt-bench-tie-inconsistent.jsonl", ("alpha", "beta")),
    Case("16-arena-filters.jsonl", ("x", "y")),
    Case("17-arena-voters.jsonl", ("x", "y")),
    Case("19-unicode-forms.csv", ("modéle", "b"), ("--names", "joined")),
    Case("20-rare-model-bootstrap.csv", ("a", "b")),
    Case("21-wildbench/ref=base/m.json", ("m", "base")),
    Case("22-utf16.csv", ("a", "b")),
    Case("22b.csv.xz", ("a", "b")),
    Case("23-comparia.csv", ("A1", "B1")),
    Case("statistics/passages.csv", ("m2", "m1"), ("--cluster", "passage")),
    Case("statistics/passages_equal.csv", ("m2", "m1"), ("--cluster", "passage")),
    Case("24-counts.csv", ("a", "b")),
    Case("judges/self_with_blank.csv", ("GPT-4 Turbo", "llama-3")),
    Case("judges/family_with_dash.csv", ("gpt-4o", "llama-3")),
    Case("statistics/3ties.csv", ("A", "B")),
    Case("statistics/all_right.csv", ("a100", "b60")),
    Case("statistics/champion.csv", ("champion", "birch")),
    Case("statistics/first_response_always.csv", ("x", "y")),
    Case("statistics/lost.csv", ("m0", "m1")),
    Case("statistics/mix.csv", ("m0", "m1")),
    Case("statistics/passages.csv", ("m0", "m1")),
    Case("statistics/passages_equal.csv", ("m0", "m1")),
    Case("statistics/slices_equal.csv", ("m0", "m1")),
    Case("statistics/ties.csv", ("A", "B")),
    Case("statistics/wbattle.csv", ("A", "B")),
    Case("statistics/wscore.csv", ("A", "B")),
]
SMALL = [one for one in TABLE if one.name.endswith((".csv", ".jsonl", ".json", ".xz"))]
SLOW = [pytest.param(one, id=one.name, marks=pytest.mark.slow) for one in TABLE]
QUICK = [
    pytest.param(one, id=one.name, marks=() if one in SMALL else pytest.mark.slow) for one in TABLE
]
"""Reading logs and making pages takes seconds."""


@cache
def ranked(case: Case) -> Facts:
    return command_facts.facts_of_json(CASES, case.name, *case.options)


@cache
def printed(case: Case) -> Facts:
    return command_facts.facts_of_table(CASES, case.name, *case.options)


@cache
def reported(case: Case) -> Facts:
    return command_facts.facts_of_page(CASES, case.name, *case.options)


@cache
def compared(case: Case) -> Comparison:
    return command_facts.comparison_in_json(CASES, *case.models, case.name, *case.options)


def diagnosed(case: Case) -> tuple[int, str, str]:
    return command_facts.run_command(CASES, "diagnose", case.name, *case.options)


def case_of(name: str, *options: str) -> Case:
    """Return the case of a name, with these options."""
    [found] = [one for one in TABLE if one.name == name]
    return Case(found.name, found.models, options)


def is_refused(one: Facts | Comparison) -> bool:
    return one.code not in (0, 3)


def skip_if_refused(*what: Facts | Comparison) -> None:
    """Skip a test of answers where there is none; that all commands refuse alike has its own
    tests."""
    if any(is_refused(one) for one in what):
        pytest.skip("the file is refused")


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("case", QUICK)
def test_rank_and_compare_refuse_the_same_files_for_the_same_reason(case):
    one, other = ranked(case), compared(case)
    assert other.cause == one.cause
    assert is_refused(other) == is_refused(one)
    assert {one.code, other.code} <= ({1, 2} if is_refused(one) else {0, 3})


@pytest.mark.parametrize("case", SLOW)
def test_the_table_the_page_and_the_judge_card_refuse_what_the_json_refuses(case):
    expected = ranked(case)
    code, _, told = diagnosed(case)
    card = Facts(code, command_facts.cause_of(code, told))
    if "judges in one table" in expected.cause:
        # A card has a row for each judge: several of them are no error.
        assert card.code == 0
        card = expected
    for other in (printed(case), reported(case), card):
        assert (other.code, other.cause) == (expected.code, expected.cause)


@pytest.mark.parametrize("case", SLOW)
def test_the_table_and_the_page_have_the_answer_of_the_json(case):
    skip_if_refused(ranked(case))
    assert printed(case).answer == ranked(case).answer
    assert reported(case).answer == ranked(case).answer


@pytest.mark.parametrize("case", SLOW)
def test_the_table_and_the_page_have_the_places_rank_sets_and_scores_of_the_json(case):
    expected = ranked(case)
    skip_if_refused(expected)
    for shown in (printed(case), reported(case)):
        assert shown.order == expected.order
        assert shown.leaders == expected.leaders
        assert shown.rank_sets == expected.rank_sets
        for model, score in shown.scores.items():
            unit = 0.1 if abs(score) > 10 else 0.001
            assert score == pytest.approx(expected.scores[model], abs=0.51 * unit)


@pytest.mark.parametrize("case", SLOW)
def test_the_table_the_page_and_the_judge_card_have_the_counts_of_the_json(case):
    expected = ranked(case)
    skip_if_refused(expected)
    in_card = command_facts.counts_in(diagnosed(case)[1])
    for counts in (printed(case).counts, reported(case).counts, in_card):
        assert counts == {name: expected.counts[name] for name in counts}


@pytest.mark.parametrize("case", SLOW)
def test_the_page_has_the_warnings_of_the_table(case):
    skip_if_refused(ranked(case))
    assert set(printed(case).warnings.splitlines()) <= set(reported(case).warnings.splitlines())


@pytest.mark.parametrize("case", SLOW)
def test_a_check_has_one_result_in_all_commands(case):
    results = command_facts.results_of_checks(CASES, case.models, case.name, *case.options)
    assert command_facts.contradictions(results) == {}


@pytest.mark.fast_cases(8)
@pytest.mark.parametrize("case", QUICK)
def test_the_sign_of_the_difference_in_compare_is_that_of_the_scores_in_rank(case):
    ranking, comparison = ranked(case), compared(case)
    skip_if_refused(ranking, comparison)
    first, second = (ranking.scores[model] for model in case.models)
    assert sign_of(comparison.difference) == sign_of(first - second)


def sign_of(difference: float) -> int:
    return 0 if abs(difference) < 1e-9 else int(math.copysign(1, difference))


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("case", QUICK)
def test_who_has_a_rank_set_apart_in_rank_is_clearly_ahead_in_compare(case):
    ranking, comparison = ranked(case), compared(case)
    skip_if_refused(ranking, comparison)
    side = command_facts.side_claimed(ranking, *case.models)
    if side:
        assert comparison.is_claimed
        assert sign_of(comparison.difference) == side


@pytest.mark.fast_cases(11)
@pytest.mark.parametrize("case", QUICK)
def test_two_models_are_clearly_apart_in_both_commands_or_in_none(case):
    """With two models the ranking makes one comparison, so that the two commands answer one
    question."""
    ranking, comparison = ranked(case), compared(case)
    skip_if_refused(ranking, comparison)
    if len(ranking.order) > 2:
        pytest.skip("more than two models")
    assert (
        ("clearly" in ranking.answer) == comparison.is_claimed == ("clearly" in comparison.answer)
    )


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("case", QUICK)
def test_a_sole_leader_in_the_sentences_has_the_first_rank_set_alone(case):
    ranking = ranked(case)
    skip_if_refused(ranking)
    leads_alone = "clearly ahead of all others" in ranking.answer
    sets = list(ranking.rank_sets.values())
    assert leads_alone == (sets[0] == "1" and sets.count("1") == 1)


@pytest.mark.parametrize("case", QUICK)
def test_the_first_in_the_table_is_in_first_place_in_the_sentence(case):
    """Whoever is clearly ahead of all others stands first in the table."""
    ranking = ranked(case)
    skip_if_refused(ranking)
    ahead, said, _ = ranking.answer.partition(" is clearly ahead of all others")
    if said:
        assert {ahead} == ranking.leaders


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("case", QUICK)
def test_items_and_unparsed_battles_of_two_models_are_the_same_in_rank_and_compare(case):
    ranking, comparison = ranked(case), compared(case)
    skip_if_refused(ranking, comparison)
    if len(ranking.order) > 2:
        pytest.skip("more than two models")
    items, unparsed = ranking.counts["items"], ranking.counts["unparsed"]
    assert comparison.counts["unparsed"] == unparsed
    # `compare` counts the items with a verdict; an unparsed battle may be the only one of its item.
    assert items - unparsed <= comparison.counts["items"] <= items


# What is right, by an independent count of the file.


def scored(case: Case, *rankers: str) -> dict[str, dict[str, float]]:
    """Return the scores of each ranker, by model."""
    words = ("rank", case.name, *case.options, "--ranker", ",".join(rankers), "--format", "json")
    code, text, told = command_facts.run_command(CASES, *words)
    assert code in (0, 3), told
    rankings = json.loads(text)["rankings"]
    return {
        one["ranker"]: {model["model"]: model["score"] for model in one["models"]}
        for one in rankings
    }


@pytest.mark.parametrize("name", ["00-compare-csv-works.csv", "00-compare-jsonl.jsonl"])
def test_the_same_rows_are_compared_in_csv_and_in_jsonl(name):
    comparison = compared(case_of(name))
    assert comparison.difference == pytest.approx(107, abs=0.5)
    assert "107 Elo" in comparison.answer
    assert "p = .057" in comparison.answer
    assert comparison.by_item == (26, 14, 0)


def test_annotations_of_alpaca_eval_are_compared():
    comparison = compared(case_of("00c-alpaca-annotations.json"))
    assert comparison.by_item == (20, 10, 0)
    # The regularization (0.01) takes a tenth of an Elo.
    assert comparison.difference == pytest.approx(400 * math.log10(2), abs=0.2)


@pytest.mark.slow
def test_all_epochs_count_where_one_model_has_four_and_the_other_one():
    """By the logs themselves, a has .5 and b has .25."""
    case = case_of("01-inspect-unequal-epochs")
    assert compared(case).difference == pytest.approx(0.25)
    assert ranked(case).order == case.models
    assert scored(case, "mean")["mean"] == pytest.approx({"mockllm/a": 0.5, "mockllm/b": 0.25})
    code, _, _ = command_facts.run_command(
        CASES, "compare", *reversed(case.models), case.name, "--require", "better"
    )
    assert code in (4, 5)


@pytest.mark.slow
def test_the_reducer_of_the_logs_reduces_the_epochs():
    """By the logs themselves (reducer max), a has 1 and b has .5."""
    case = case_of("02-inspect-reducer-max")
    assert ranked(case).leaders == {"mockllm/a"}
    assert compared(case).difference == pytest.approx(0.5)
    assert scored(case, "mean")["mean"] == pytest.approx({"mockllm/a": 1.0, "mockllm/b": 0.5})


@pytest.mark.slow
def test_shuffled_ids_are_paired_by_their_inputs():
    """By input, a is right wherever b is, and on six questions more."""
    case = case_of("03-inspect-shuffled-ids")
    assert ranked(case).leaders == {"mockllm/a"}
    assert compared(case).difference == pytest.approx(0.1)
    assert compared(case).by_item == (6, 0, 54)
    battles = podium.read_battles(CASES / case.name)
    [standings] = podium.rank(battles, "bradley-terry").standings
    assert [entry.se for entry in standings.entries] == pytest.approx([6.9, 6.9], abs=0.05)
    for one in (ranked(case), printed(case), reported(case), compared(case)):
        assert "items are paired by input" in one.warnings


@pytest.mark.slow
def test_invalidated_samples_are_left_out_counted_and_named_by_every_command():
    """Six of the twelve samples of a are invalidated; of the others a has six right, and b has two
    of them right."""
    case = case_of("04-inspect-invalidated-samples")
    assert scored(case, "mean")["mean"]["mockllm/a"] == pytest.approx(1.0)
    assert ranked(case).leaders == {"mockllm/a"}
    for one in (ranked(case), printed(case), reported(case), compared(case)):
        assert "6 " in one.warnings
        assert "invalidated" in one.warnings


@pytest.mark.parametrize(
    ("name", "difference"),
    [
        ("06-lmeval-shots", "shots of gsm: 0 (org/A), 5 (org/B)"),
        ("07-lmeval-task-version", "task version of gsm: 2 (org/A), 3 (org/B)"),
    ],
)
def test_other_settings_of_two_models_in_lm_eval_are_named(name, difference):
    code, out, _ = command_facts.run_command(CASES, "rank", name)
    assert code == 0
    assert difference in " ".join(out.split())


@pytest.mark.slow
def test_two_settings_of_one_model_in_lm_eval_are_two_models():
    """By the results files, org/A has .5 without examples and .2 with five."""
    case = case_of("08-lmeval-rerun-other-shots")
    means = {"org/A (shots=0)": 0.5, "org/A (shots=5)": 0.2, "org/B": 0.35}
    assert scored(case, "mean")["mean"] == pytest.approx(means)


def test_a_win_matrix_is_refused_by_every_command_with_both_readings():
    case = case_of("09-win-matrix.csv")
    assert is_refused(ranked(case))
    assert "rows" in ranked(case).cause
    assert "columns" in ranked(case).cause


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reading", "first", "last"), [("rows", "m0", "m7"), ("columns", "m7", "m0")]
)
def test_a_win_matrix_is_ranked_by_the_reading_that_is_typed(reading, first, last):
    case = case_of("09-win-matrix.csv", "--matrix", reading)
    facts = ranked(case)
    assert not is_refused(facts), facts.cause
    assert (facts.order[0], facts.order[-1]) == (first, last)
    assert sign_of(compared(case).difference) == (1 if first == "m0" else -1)


@pytest.mark.slow
def test_with_the_option_the_lowest_score_is_first_in_every_command():
    case = case_of("11-lower-is-better.csv", "--lower-is-better")
    for one in (ranked(case), printed(case), reported(case)):
        assert one.order == case.models
    assert compared(case).difference == pytest.approx(4.0)
    words = ("compare", *case.models, case.name, *case.options, "--require", "better")
    assert command_facts.run_command(CASES, *words)[0] == 0
    words = ("compare", *reversed(case.models), case.name, *case.options, "--require", "better")
    assert command_facts.run_command(CASES, *words)[0] == 4


@pytest.mark.slow
def test_percent_beside_fractions_is_named_by_every_command():
    case = case_of("12-percent-and-fraction.csv")
    said = "cores of new look like fractions and those of old like percent"
    for one in (ranked(case), printed(case), reported(case), compared(case)):
        assert said in one.answer
    assert said.replace("cores", "scores", 1)[:40] in diagnosed(case)[1]
    words = ("compare", *reversed(case.models), case.name, "--require", "better")
    assert command_facts.run_command(CASES, *words)[0] == 5


def test_the_turns_of_mt_bench_are_items_and_no_repeats():
    case = case_of("10-mt-bench-turns.jsonl")
    assert ranked(case).counts["items"] == 40
    _, card, _ = command_facts.run_command(CASES, "diagnose", case.name, "--full")
    [line] = [
        line
        for line in card.splitlines()
        if line.strip().startswith("same verdict when repeated  ")
    ]
    assert line.split() == ["same", "verdict", "when", "repeated", "–"]


def test_ids_that_are_unique_within_a_category_only_are_items_of_the_category():
    case = case_of("13-ids-per-category.jsonl")
    assert ranked(case).counts["items"] == compared(case).counts["items"] == 40
    words = ("rank", case.name, "--format", "json")
    code, text, told = command_facts.run_command(CASES, *words)
    assert code == 0, told
    [first, _] = json.loads(text)["rankings"][0]["models"]
    assert first["se"] == pytest.approx(30.3, abs=0.05)
    assert "--ids global" in told
    assert ranked(case_of(case.name, "--ids", "global")).counts["items"] == 20


def test_rows_that_arenas_scripts_leave_out_are_named_with_the_conditions_that_do_so():
    case = case_of("16-arena-filters.jsonl")
    for one in (ranked(case), printed(case), compared(case)):
        assert "leave out 26 of these 40 battles" in one.warnings
        assert "--where anony=true --where dedup_tag.sampled=true" in one.warnings
    counted = ("--where", "anony=true", "--where", "dedup_tag.sampled=true")
    chosen = case_of(case.name, *counted)
    assert ranked(chosen).counts["battles"] == 14
    assert "26 of 40 battles are left out" in ranked(chosen).warnings
    assert scored(chosen, "win-rate")["win-rate"] == {"x": 1.0, "y": 0.0}


def test_inconsistent_ties_of_mt_bench_are_ties_and_flips():
    """Two wins, three ties and a loss; two of the ties were inconsistent."""
    case = case_of("15-mt-bench-tie-inconsistent.jsonl")
    win_rates = {"alpha": 3.5 / 6, "beta": 2.5 / 6}
    assert scored(case, "win-rate")["win-rate"] == pytest.approx(win_rates)
    assert podium.read_battles(CASES / case.name).swaps().flip == 2
    assert compared(case).by_item == (2, 1, 3)


def test_voters_of_arena_are_one_population_in_every_command():
    case = case_of("17-arena-voters.jsonl")
    assert ranked(case).counts["battles"] == 36
    for one in (ranked(case), printed(case), compared(case)):
        assert "7 voters gave 36 verdicts" in one.warnings
        assert "jury" not in one.answer + one.warnings


def test_wildbench_says_who_is_a_beside_every_choice():
    """By the assignments, m earns 0, 1, .5, 0, 1, 1 and 1; one choice is N/A."""
    case = case_of("21-wildbench/ref=base/m.json")
    assert scored(case, "win-rate")["win-rate"]["m"] == pytest.approx(4.5 / 7)
    assert ranked(case).counts["unparsed"] == 1


def test_the_winner_of_comparia_is_a_name():
    """A1 won three, lost one, and two are ties: .75 of what was decided."""
    case = case_of("23-comparia.csv")
    assert scored(case, "win-rate")["win-rate"] == pytest.approx({"A1": 4 / 6, "B1": 2 / 6})
    assert compared(case).by_item == (3, 1, 2)
    _, table, _ = command_facts.run_command(CASES, "rank", case.name)
    assert "· ties count as half\n" in table


def test_headings_of_rankings_without_ties_say_nothing_of_ties():
    _, table, _ = command_facts.run_command(CASES, "rank", "statistics/champion.csv")
    assert "champion" in table
    assert "ties count" not in table


@pytest.mark.parametrize("name", ["22-utf16.csv", "22b.csv.xz"])
def test_utf_16_and_xz_are_read(name):
    assert scored(case_of(name), "win-rate")["win-rate"] == pytest.approx({"a": 0.75, "b": 0.25})


def test_counts_are_battles():
    case = case_of("24-counts.csv")
    assert ranked(case).counts["battles"] == 25 + 20 + 20
    table = podium.read_battles(CASES / case.name).to_frame()
    won = table.groupby(["model_a", "model_b"])["credit"].sum()
    assert won.to_dict() == {("a", "b"): 20.5, ("b", "c"): 15.0, ("a", "c"): 19.0}


def test_two_unicode_forms_of_a_name_are_an_error_and_one_model_if_joined():
    refused = ranked(case_of("19-unicode-forms.csv"))
    assert is_refused(refused)
    assert "Unicode form" in refused.cause
    joined = ranked(case_of("19-unicode-forms.csv", "--names", "joined"))
    assert set(joined.order) == {"modéle", "b"}


def test_the_labels_of_arena_hard_are_read_from_either_side():
    """u1 and u2 are won, u3 is even, u4 and u5 are lost."""
    case = case_of("14-arena-hard-reversed-labels.jsonl")
    assert scored(case, "win-rate")["win-rate"] == pytest.approx({"m": 0.5, "base": 0.5})
    assert ranked(case).counts["items"] == 5
    assert compared(case).by_item == (2, 2, 1)


@pytest.mark.slow
def test_one_rare_model_does_not_take_the_intervals_of_the_others():
    case = case_of("20-rare-model-bootstrap.csv")
    words = ("rank", case.name, "--set", "interval=bootstrap", "--format", "json")
    code, text, told = command_facts.run_command(CASES, *words)
    assert code == 0, told
    bounded = {
        one["model"]: one["low"] is not None for one in json.loads(text)["rankings"][0]["models"]
    }
    assert bounded == {"a": True, "b": True, "c": True, "rare": False}


def test_replies_are_read_as_the_column_of_credits_says():
    rows = [
        json.loads(line)
        for line in (CASES / "26-replies.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert rows
    assert [credit_of(row["realization"], row["reply"]) for row in rows] == [
        row["credit"] for row in rows
    ]


def credit_of(realization: str, reply: str) -> float | None:
    """Return the credit of the response shown first in a judge's reply, as a tournament parses
    it."""
    return find_realization(realization).read_reply(Reply(reply), Settings()).credit


@pytest.mark.parametrize("name", ["judges/self_with_blank.csv", "judges/family_with_dash.csv"])
def test_a_judge_of_a_models_name_or_family_is_named_by_every_command(name):
    case = case_of(name)
    judge = case.models[0] if "self" in name else "gpt-4-turbo"
    for one in (ranked(case), printed(case)):
        assert judge in one.answer
        assert "checks passed" not in one.answer


@pytest.mark.slow
def test_a_model_that_is_right_on_every_item_is_clearly_ahead():
    case = case_of("statistics/all_right.csv")
    for ranker in ("mean", "win-rate", "bradley-terry"):
        facts = ranked(case_of(case.name, "--ranker", ranker))
        assert facts.answer.startswith("a100 is clearly ahead of all others")
        assert facts.rank_sets["a100"] == "1"
    assert compared(case).is_claimed
    assert compared(case).difference == pytest.approx(0.4)


def test_a_model_that_won_every_battle_is_clearly_ahead():
    case = case_of("statistics/champion.csv")
    for ranker in ("bradley-terry", "win-rate"):
        facts = ranked(case_of(case.name, "--ranker", ranker))
        assert facts.answer.startswith("champion is clearly ahead of all others")
        assert facts.rank_sets["champion"] == "1"
    assert compared(case).is_claimed


def test_nothing_is_claimed_that_the_loss_of_one_models_battles_can_explain():
    """A fifth of the battles that m0 lost are unparsed; all ten models are equal."""
    facts = ranked(case_of("statistics/lost.csv"))
    assert "checks passed" not in facts.answer
    assert "m0" in facts.answer
    assert "m0 is clearly ahead" not in facts.answer


def test_a_judge_that_takes_the_first_response_may_not_rank_slices_either():
    whole = ranked(case_of("statistics/first_response_always.csv"))
    slices = printed(case_of("statistics/first_response_always.csv", "--by", "category"))
    for one in (whole, slices):
        assert "his judge may not rank" in one.answer
        assert "passed" not in one.answer


def test_weights_of_battles_count_in_every_figure():
    """A wins the rows of weight 9 and B those of weight 1: 9 to 1, whatever is printed."""
    case = case_of("statistics/wbattle.csv")
    assert scored(case, "win-rate")["win-rate"] == pytest.approx({"A": 0.9, "B": 0.1})
    assert compared(case).difference == pytest.approx(400 * math.log10(9), abs=0.5)
    by_share = compared(case_of(case.name, "--measure", "win-rate"))
    assert by_share.difference == pytest.approx(0.4)


def test_weights_of_scores_count_in_every_figure_or_are_refused_by_name():
    case = case_of("statistics/wscore.csv")
    if is_refused(ranked(case)):
        assert "weight" in ranked(case).cause
        return
    assert scored(case, "mean")["mean"] == pytest.approx({"A": 0.9, "B": 0.1})
    assert compared(case).difference == pytest.approx(0.8)


def test_thirty_wins_and_seventy_ties_are_not_sixty_five_wins():
    case = case_of("statistics/ties.csv")
    for answer in (ranked(case).answer, compared(case).answer):
        assert "wins in 100" not in answer


def test_three_ties_show_nothing():
    case = case_of("statistics/3ties.csv")
    for answer in (ranked(case).answer, compared(case).answer):
        assert " level" not in answer
