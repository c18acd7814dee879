"""The whole card: one per judge, missing figures are reported, JSON is pure."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from judged_worlds import FAULTY, OWN, world

from podium import Judge, NotIdentifiedError, UsageError, rank, read_battles
from podium.check_results import Result
from podium.diagnosis.card import (
    SECTIONS,
    answer_sections,
    diagnose,
    section_reports,
    summary_reports,
)
from podium.diagnosis.checks.effects import check_effect
from podium.diagnosis.figures import Missing, Statistic, Unit, as_dict
from podium.diagnosis.subject import Subject
from podium.diagnosis.transitivity import TripleGroup
from podium.scorers.judge_record import JudgeRecord


def diagnosed(frame, **options):
    return diagnose(read_battles(frame, merge=False), read_battles(frame), **options)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("filters", [{}, {"where": {"item": "item-01"}}])
def test_battles_with_merged_orders_are_diagnosed_by_the_judgments_that_were_read(filters):
    frame = world(3, 12).judgments(FAULTY)
    merged = read_battles(frame, **filters)
    wanted = diagnose(read_battles(frame, merge=False, **filters), merged)
    assert diagnose(merged, merged).to_dict() == wanted.to_dict()


def test_a_part_of_merged_battles_whose_judgments_are_not_known_is_diagnosed():
    merged = read_battles(world(3, 12).judgments(FAULTY))
    part = merged.select(np.arange(len(merged)) % 2 == 0)
    assert len(diagnose(part, part).cards) == 1


@pytest.fixture(scope="module")
def two_judges():
    other = Judge("acme/lm|rubric|3fa9c0de1122|temperature=0", scale=0.7)
    frame = world(3, 30).judgments(FAULTY, other, human=True)
    is_other = frame["judge"] == other.name
    frame.loc[is_other, ["judge_model", "judge_realization"]] = ["acme/lm", "rubric"]
    return diagnosed(frame)


@pytest.mark.slow
def test_every_judge_has_a_card_with_every_section(two_judges):
    assert [card.subject.judge for card in two_judges.cards] == [
        "acme/lm|rubric|3fa9c0de1122|temperature=0",
        "gpt-9",
    ]
    assert [card.subject.realization for card in two_judges.cards] == ["rubric", None]
    assert [card.subject.model for card in two_judges.cards] == ["acme/lm", "gpt-9"]
    for card in two_judges.cards:
        assert list(card.answers) == list(SECTIONS)
        assert len(card.subject.battles) == len(card.subject.others) == 15 * 30


@pytest.mark.parametrize(
    ("judge", "model", "realization"),
    [
        (None, None, None),
        ("gpt-x Likert", "gpt-x", "Likert"),
        ("gpt-x|rubric|1a2b", "gpt-x|rubric|1a2b", None),
        ("ann", None, None),
    ],
)
def test_what_is_known_of_a_judge_is_what_its_record_says(judge, model, realization):
    records = {
        "gpt-x Likert": JudgeRecord("gpt-x Likert", model="gpt-x", realization="Likert"),
        "ann": JudgeRecord("ann", "human"),
    }
    battles = replace(read_battles(world(1, 2).judgments()), judge_records=records)
    subject = Subject(judge, battles, battles)
    assert (subject.model, subject.realization) == (model, realization)


@pytest.mark.slow
def test_a_single_ring_is_one_ring():
    pairs = (("A", "B"), ("B", "C"), ("C", "A"))
    rows = [(f"{k}", a, b, float(k % 10 < 8)) for a, b in pairs for k in range(100)]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    answer = diagnosed(frame.assign(human=frame["credit"])).cards[0].answer
    assert answer[0].endswith("; cycles among the models: 1.")


def checks_of(frame):
    return {check.name: check for check in diagnosed(frame).cards[0].checks}


@pytest.mark.slow
def test_families_are_asked_for_only_where_they_would_help():
    alone = world(3, 5).judgments(Judge("gpt-9"))
    assert "--human-judge" in checks_of(alone)["self-preference"].remedy
    labelled = world(3, 5).judgments(Judge("my-judge"), human=True)
    assert checks_of(labelled)["self-preference"].row[1:] == (
        "not known",
        "the family of my-judge is not known: --families",
    )


@pytest.mark.slow
def test_a_judge_on_few_items_is_not_called_random():
    few = checks_of(world(3, 2).judgments(Judge("gpt-9", noise=3), human=True))["human"]
    assert (few.is_known, few.remedy) == (False, "judge more battles")


def verdicts_in_both_orders(first_wins: int, pairs: int, items: int) -> pd.DataFrame:
    """Return verdicts for the response shown first in so many pairs, and for the first model in the
    other pairs."""
    rows = [
        (
            f"q{k % items}",
            "a" if k % 2 else "b",
            "c",
            order,
            float(order == "ab" or k >= first_wins),
        )
        for k in range(pairs)
        for order in ("ab", "ba")
    ]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "order", "credit"])
    return frame.assign(repeat=frame.groupby(["item", "model_a", "order"]).cumcount())


@pytest.mark.slow
def test_eighteen_wins_of_the_first_response_on_two_items_are_not_fine():
    position = checks_of(verdicts_in_both_orders(18, 18, 2))["position"]
    rate = "the response shown first has a win rate of 100.0% (1.2 … 100.0)"
    assert position.row == ("position", "not known", f"{rate}: judge more battles")


@pytest.mark.slow
def test_a_position_is_fine_if_the_order_cannot_decide():
    position = checks_of(verdicts_in_both_orders(0, 120, 60))["position"]
    assert position.result is Result.OK


@pytest.mark.parametrize(
    ("low", "high", "result"),
    [
        (-0.05, 0.09, "ok"),
        (-0.05, 0.5, "not known"),
        (-0.5, 0.05, "not known"),
        (None, None, "not known"),
        (0.02, 0.05, "ok"),
        (0.02, 0.16, "not known"),
        (0.02, 0.5, "flagged"),
        (-0.5, -0.2, "flagged"),
    ],
)
def test_an_effect_is_ok_only_if_its_interval_contains_no_large_one(low, high, result):
    effect = Statistic((low or 0) / 2 + (high or 0) / 2, low, high, level=0.95, method="t", n=9)
    assert check_effect("length", effect, longer="longer", weight=1).result.value == result


@pytest.mark.slow
def test_cycles_of_pairs_that_met_on_few_items_are_not_known():
    few, many = (checks_of(world(3, items).judgments(Judge("gpt-9")))["cycle"] for items in (5, 30))
    assert (few.is_known, few.remedy) == (False, "judge every pair on 10 items")
    assert many.result is Result.OK


@pytest.mark.slow
def test_rows_without_a_judge_have_a_card_of_their_own():
    frame = world(3, 5).judgments(Judge("gpt-9"))
    frame.loc[::2, "judge"] = None
    cards = diagnosed(frame).cards
    assert [card.subject.judge for card in cards] == ["gpt-9", None]
    assert sum(len(card.subject.judgments) for card in cards) == len(frame)


@pytest.mark.slow
def test_single_judge_is_compared_with_human_labels(two_judges):
    assert two_judges.cards[1].answers["self_preference"].who == "human"


@pytest.mark.slow
def test_the_card_is_json_without_nan(two_judges):
    text = json.dumps(two_judges.to_dict(), allow_nan=False)
    found = json.loads(text)["cards"][1]
    assert found["counts"]["judgments"] == 2 * 15 * 30
    figure = found["sections"]["position"]["first_wins"]
    assert figure.keys() == {
        "value",
        "low",
        "high",
        "level",
        "method",
        "n",
        "of",
        "cluster",
        "clusters",
        "unit",
    }
    assert figure["low"] < figure["value"] < figure["high"]
    assert found["sections"]["consistency"]["retest"]["missing"]["remedy"].startswith("repeats=2")


@pytest.mark.slow
def test_the_same_input_gives_the_same_card_and_the_order_of_rows_changes_nothing():
    frame = world(3, 12).judgments(FAULTY, human=True)
    shuffled = frame.sample(frac=1, random_state=1)
    first, again, other = (diagnosed(each).cards[0].answers for each in (frame, frame, shuffled))
    for name in ("position", "consistency", "verbosity", "self_preference", "human"):
        assert as_dict(first[name]) == as_dict(again[name])
        assert _numbers(as_dict(other[name])) == pytest.approx(
            _numbers(as_dict(first[name])), rel=1e-9, abs=1e-12
        )


def _numbers(value):
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    inner = [number for part in parts for number in _numbers(part)]
    return [value] if isinstance(value, float | int) and not isinstance(value, bool) else inner


@pytest.mark.slow
def test_card_does_not_depend_on_model_names():
    frame = world(3, 12).judgments(FAULTY, human=True)
    names = {
        name: f"zz-{9 - k}"
        for k, name in enumerate(sorted(set(frame["model_a"]) | set(frame["model_b"])))
    }
    renamed = frame.replace({"model_a": names, "model_b": names})
    first, other = (diagnosed(each).cards[0].answers for each in (frame, renamed))
    for name in ("position", "consistency"):
        assert _numbers(as_dict(other[name])) == pytest.approx(
            _numbers(as_dict(first[name])), rel=1e-9, abs=1e-12
        )


def test_a_table_of_hard_verdicts_alone_is_answered_as_far_as_it_goes():
    frame = pd.DataFrame(
        {"model_a": ["x", "y", "x"], "model_b": ["y", "z", "z"], "credit": [1.0, 0.5, 0.0]}
    )
    answers = diagnosed(frame).cards[0].answers
    assert answers["consistency"].ties.value == pytest.approx(1 / 3)
    lacking = {name for name, stated in answers.items() if isinstance(stated, Missing)}
    assert {"position", "verbosity", "human"} <= lacking
    assert all(answers[name].remedy for name in lacking)


def test_nothing_readable_is_a_card_that_says_so():
    frame = pd.DataFrame(
        {"item": [1], "model_a": ["x"], "model_b": ["y"], "credit": [np.nan], "order": ["ab"]}
    )
    answers = diagnosed(frame).cards[0].answers
    assert answers["consistency"].unparsed.value == 1
    assert answers["position"].why == "no verdict could be read"


def test_a_question_that_the_data_cannot_support_is_missing_not_an_error():
    def refuse(_):
        raise NotIdentifiedError("the groups never met")

    battles = read_battles(world(1, 2).judgments())
    answers = answer_sections({"it": ("the title", refuse)}, Subject(None, battles, battles))
    assert answers["it"] == Missing("the groups never met", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"level": 1.0}, "level 1.0 is not between 0 and 1"),
        ({"near_tie": -1}, "near_tie=-1"),
        ({"near_tie": np.inf}, "near_tie=inf"),
    ],
)
def test_impossible_options_are_rejected(options, problem):
    with pytest.raises(UsageError, match=problem):
        diagnosed(world(1, 2).judgments(), **options)


def test_figures_are_written_with_their_unit():
    facts = {"method": "item-clustered t", "clusters": 953, "unit": Unit.SHARE}
    share = Statistic(0.4897, 0.483, 0.4965, level=0.95, n=38_544, of="judgments", **facts)
    assert share.cells == ("49.0%", "48.3 … 49.6", "38,544 judgments", "953 items")
    facts = {"method": "a single item: no interval", "clusters": 1, "unit": Unit.ELO}
    elo = Statistic(-0.04, level=0.95, n=6, of="models", **facts)
    assert elo.cells == ("0.0 Elo", "–", "6 models", "1 item")
    assert Missing("no", "more").brief == "–"


def test_dataclasses_nest_in_json():
    group = TripleGroup("it", Missing("b", "c"), Missing("e", "f"))
    assert as_dict(group)["hard"] == {"missing": {"why": "b", "remedy": "c"}}


@pytest.mark.slow
def test_own_family_is_that_of_the_judges_model():
    assert diagnosed(world(3, 5).judgments(FAULTY, human=True)).cards[0].answers[
        "self_preference"
    ].families["OpenAI"] == tuple(sorted(OWN))


def test_the_card_of_accuracies_speaks_of_no_judge():
    rows = [
        {"item": f"q{k}", "model": model, "score": float(k % step > 0)}
        for k in range(40)
        for model, step in (("ash", 3), ("elm", 2), ("oak", 4))
    ]
    diagnosis = diagnosed(pd.DataFrame(rows))
    [card] = diagnosis.cards
    assert card.answer == (
        "These battles compare scores that no judge gave, so no check of a judge applies.",
    )
    assert [check.name for check in card.checks] == ["cycle", "fit"]
    assert summary_reports(diagnosis)[0].title.startswith("card of scores")


def test_a_judge_that_scores_single_responses_has_no_check_of_their_order():
    rows = [
        {"item": f"q{k}", "model": model, "score": float(k % step > 0), "judge": "judge-x"}
        for k in range(40)
        for model, step in (("ash", 3), ("elm", 2), ("oak", 4))
    ]
    assert not checks_of(pd.DataFrame(rows)).keys() & {"position", "order decides", "one order"}


@pytest.mark.slow
def test_the_section_of_a_check_is_found_by_the_name_of_the_check():
    diagnosis = diagnosed(world(3, 5).judgments(Judge("gpt-9")))
    names = {check.name for check in diagnosis.cards[0].checks}
    assert all(section_reports(diagnosis, name) for name in names)
    with pytest.raises(UsageError, match="no section called 'size'"):
        section_reports(diagnosis, "size")


@pytest.mark.slow
def test_the_card_and_the_ranking_say_the_same_of_the_order():
    """One wording in both: what was found, and what to do."""
    frame = world(3, 30).judgments(Judge("judge-x", position_bias=0.8))
    answer = rank(read_battles(frame)).standings[0].answer[1]
    assert checks_of(frame)["position"].clause in answer
