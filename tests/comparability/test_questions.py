"""Rows of runs are paired by what was asked, not by ids alone."""

import random

import pytest

from podium.comparability.asked_items import AskedRun, ItemRecord
from podium.comparability.questions import PairedQuestions, notices_of_questions, pair_questions
from podium.errors import OtherQuestionError
from podium.notices.notice_text import notice_texts
from podium.run_record import RunRecord, settings_as_pairs


def asked(model: str, questions: dict[str, str], **settings: object) -> AskedRun:
    """Return a run that asked a question under each id; an empty question is unknown."""
    items = []
    for number, question in questions.items():
        known = (hash(question),) if question else ()
        items.append(ItemRecord(number, known, question))
    return AskedRun(RunRecord(model, "t", f"{model}.eval", **settings), items)


def numbered(questions: list[str]) -> dict[str, str]:
    """Return questions by their place, from 1."""
    return {str(place): question for place, question in enumerate(questions, start=1)}


def question_of_name(paired: PairedQuestions, runs: list[AskedRun]) -> list[dict[str, str]]:
    """Return the question of each item by its new name, for each run."""
    named = []
    for run, names in zip(runs, paired.names, strict=True):
        named.append({names.get(item.id, item.id): item.excerpt for item in run.items})
    return named


QUESTIONS = [f"question {k}" for k in range(20)]


def test_equal_inputs_are_paired_by_their_ids() -> None:
    runs = [asked(name, numbered(QUESTIONS)) for name in "ab"]
    paired = pair_questions("t", runs)
    assert (paired.finding.pairing, paired.finding.items) == ("id", 20)
    assert paired.names == ({}, {})
    assert not paired.accepted


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_ids_are_paired_by_their_inputs(seed: int) -> None:
    shuffled = random.Random(seed).sample(QUESTIONS, len(QUESTIONS))
    runs = [asked("a", numbered(QUESTIONS)), asked("b", numbered(shuffled))]
    paired = pair_questions("t", runs)
    ours, theirs = question_of_name(paired, runs)
    assert ours == theirs == numbered(QUESTIONS)
    assert (paired.finding.pairing, paired.finding.items) == ("input", 20)
    assert not paired.finding.unshared


def test_parts_of_shuffled_data_are_paired_where_they_meet() -> None:
    runs = [asked("a", numbered(QUESTIONS[:10])), asked("b", numbered(QUESTIONS[5:15]))]
    paired = pair_questions("t", runs)
    ours, theirs = question_of_name(paired, runs)
    shared = ours.keys() & theirs.keys()
    assert {ours[name] for name in shared} == {*QUESTIONS[5:10]}
    assert all(ours[name] == theirs[name] for name in shared)
    assert paired.finding.unshared == {"a": 5, "b": 5}


def test_a_changed_question_meets_no_other() -> None:
    changed = [*QUESTIONS[:-1], "question 19, mended"]
    runs = [asked("a", numbered(QUESTIONS)), asked("b", numbered(changed))]
    paired = pair_questions("t", runs)
    ours, theirs = question_of_name(paired, runs)
    assert len(ours.keys() & theirs.keys()) == 19
    assert (paired.finding.conflicts, paired.finding.unshared) == (1, {"a": 1, "b": 1})
    # The changed question counts once, although it stands for two items.
    assert (paired.finding.shared_ids, paired.finding.items) == (20, 21)
    assert paired.finding.example == {
        "item": "20",
        "inputs": {"a.eval": "question 19", "b.eval": "question 19, mended"},
    }


def test_a_recorded_prompt_explains_that_no_input_is_shared() -> None:
    framed = [f"Answer: {question}" for question in QUESTIONS]
    runs = [
        asked("a", numbered(QUESTIONS), task_arguments=settings_as_pairs({"style": "bare"})),
        asked("b", numbered(framed), task_arguments=settings_as_pairs({"style": "framed"})),
    ]
    paired = pair_questions("t", runs)
    assert paired.names == ({}, {})
    assert (paired.finding.pairing, paired.finding.reason) == ("other inputs", ("style",))


def test_one_equal_input_is_chance_where_prompts_differ() -> None:
    framed = [f"Answer: {question}" for question in QUESTIONS]
    framed[7] = QUESTIONS[7]
    runs = [
        asked("a", numbered(QUESTIONS), prompt="{input}"),
        asked("b", numbered(framed), prompt="Answer: {input}"),
    ]
    paired = pair_questions("t", runs)
    assert (paired.finding.pairing, paired.names) == ("other inputs", ({}, {}))


def test_two_prompts_of_two_models_with_shuffled_ids_are_paired() -> None:
    """Within a prompt by inputs, between prompts by the ids of each prompt's first run."""
    framed = [f"Answer: {question}" for question in QUESTIONS]
    turned = [*reversed(framed)]
    runs = [
        asked("a", numbered(QUESTIONS), prompt="{input}"),
        asked("a2", numbered(framed), prompt="Answer: {input}"),
        asked("b", numbered(QUESTIONS), prompt="{input}"),
        asked("b2", numbered(turned), prompt="Answer: {input}"),
    ]
    ours, framed_first, same, framed_second = question_of_name(pair_questions("t", runs), runs)
    assert ours == same == numbered(QUESTIONS)
    assert framed_first == framed_second == numbered(framed)


def test_other_questions_under_the_same_ids_are_an_error() -> None:
    others = [f"other {k}" for k in range(20)]
    runs = [asked("a", numbered(QUESTIONS)), asked("b", numbered(others))]
    with pytest.raises(OtherQuestionError, match=r"b has another input here \('other 0'\)") as told:
        pair_questions("t", runs)
    assert (told.value.source, told.value.row) == ("b.eval", "sample 1")
    assert "allow='questions'" in told.value.remedy
    accepted = pair_questions("t", runs, ["questions"])
    assert accepted.names == ({}, {})
    assert accepted.accepted[0].startswith("Accepted with allow='questions': b has another input")


def test_settings_that_change_no_input_do_not_explain_other_questions() -> None:
    others = [f"other {k}" for k in range(20)]
    runs = [
        asked("a", numbered(QUESTIONS), generation=settings_as_pairs({"temperature": 0})),
        asked("b", numbered(others), generation=settings_as_pairs({"temperature": 1})),
    ]
    with pytest.raises(OtherQuestionError):
        pair_questions("t", runs)


def test_equal_questions_of_shuffled_runs_are_paired_in_their_order() -> None:
    """Also of a third run, whatever its order; items with one id and one input stay together."""
    ours = ["twice", "twice", "once", "more", "twice"]
    theirs = ["once", "twice", "more", "twice", "twice"]
    runs = [asked(n, numbered(q)) for n, q in (("a", ours), ("b", theirs), ("c", ours[::-1]))]
    paired = pair_questions("t", runs)
    first, second, third = question_of_name(paired, runs)
    assert first == second == third == numbered(ours)
    assert "2" not in paired.names[1]
    assert not paired.finding.unshared


def test_a_run_that_has_all_questions_of_another_is_asked_no_other_ones() -> None:
    runs = [asked("a", numbered(QUESTIONS)), asked("b", numbered(QUESTIONS[8:]))]
    paired = pair_questions("t", runs)
    ours, theirs = question_of_name(paired, runs)
    assert theirs.items() < ours.items()
    assert paired.finding.conflicts == 12
    assert not paired.finding.unshared


def test_a_question_that_occurs_more_often_in_a_run_is_not_paired_where_ids_differ() -> None:
    ours = ["twice", "twice", "once", "more"]
    theirs = ["once", "twice", "less", "more"]
    runs = [asked("a", numbered(ours)), asked("b", numbered(theirs))]
    paired = pair_questions("t", runs)
    first, second = question_of_name(paired, runs)
    shared = first.keys() & second.keys()
    assert sorted(first[name] for name in shared) == ["more", "once", "twice"]
    assert all(first[name] == second[name] for name in shared)


def test_unknown_inputs_are_paired_by_ids() -> None:
    runs = [asked("a", numbered([""] * 3)), asked("b", numbered([""] * 3))]
    paired = pair_questions("t", runs)
    assert (paired.finding.pairing, paired.names) == ("unknown", ({}, {}))


def test_three_runs_of_which_two_were_shuffled_meet_on_every_question() -> None:
    first = random.Random(1).sample(QUESTIONS, 20)
    second = random.Random(2).sample(QUESTIONS, 20)
    runs = [asked(n, numbered(q)) for n, q in (("a", QUESTIONS), ("b", first), ("c", second))]
    named = question_of_name(pair_questions("t", runs), runs)
    assert named[0] == named[1] == named[2]


def test_a_run_that_shares_no_id_meets_no_other() -> None:
    apart = {f"x{k}": f"other {k}" for k in range(5)}
    shuffled = [*reversed(QUESTIONS)]
    runs = [
        asked("a", numbered(QUESTIONS)),
        asked("b", numbered(shuffled)),
        asked("c", apart),
    ]
    named = question_of_name(pair_questions("t", runs), runs)
    assert named[2] == apart
    assert named[0] == named[1]


def test_how_items_were_paired_is_said_in_one_line() -> None:
    shuffled = [*reversed(QUESTIONS)]
    framed = [f"Answer: {question}" for question in QUESTIONS]
    plain = asked("a", numbered(QUESTIONS), prompt="{input}")
    others = {
        "b": asked("b", numbered(shuffled), prompt="{input}"),
        "c": asked("c", numbered(framed), prompt="Answer: {input}"),
        "d": asked("d", numbered(QUESTIONS), prompt="{input}"),
    }
    texts = {
        name: notice_texts(notices_of_questions([pair_questions("t", [plain, other]).finding]))
        for name, other in others.items()
    }
    assert texts == {
        "b": (
            "t: 20 ids stand for different inputs in different runs, so items are paired by input",
        ),
        "c": ("t: inputs differ between runs (prompt), so items are paired by id",),
        "d": (),
    }


def test_the_error_shows_where_long_inputs_differ() -> None:
    runs = [asked(name, {"1": "word " * 30 + name}) for name in "ab"]
    with pytest.raises(OtherQuestionError, match=r"word b'\) than in a.eval .* word a'\)"):
        pair_questions("t", runs)


def test_ids_of_another_kind_are_paired_by_inputs() -> None:
    others = {f"case_{k}": question for k, question in enumerate(QUESTIONS)}
    runs = [asked("a", numbered(QUESTIONS)), asked("b", others)]
    paired = pair_questions("t", runs)
    ours, theirs = question_of_name(paired, runs)
    assert ours == theirs == numbered(QUESTIONS)
    assert (paired.finding.pairing, paired.finding.conflicts) == ("input", 0)


def test_ids_that_only_one_run_has_are_paired_by_inputs() -> None:
    half = numbered(QUESTIONS[:10]) | {f"x{k}": QUESTIONS[k] for k in range(10, 20)}
    runs = [asked("a", numbered(QUESTIONS)), asked("b", half)]
    ours, theirs = question_of_name(pair_questions("t", runs), runs)
    assert ours == theirs == numbered(QUESTIONS)


def test_items_of_one_run_with_equal_inputs_keep_their_ids() -> None:
    runs = [asked(name, numbered(["same"] * 5)) for name in "ab"]
    assert pair_questions("t", runs).names == ({}, {})


def test_shuffled_parts_of_two_versions_are_paired_where_they_share_inputs() -> None:
    """Equal inputs under other ids are no chance, however few."""
    runs = [
        asked("a", numbered(QUESTIONS[:12]), task_version="1"),
        asked("b", numbered([*QUESTIONS[12:], *QUESTIONS[:4]]), task_version="2"),
    ]
    paired = pair_questions("t", runs)
    ours, theirs = question_of_name(paired, runs)
    shared = ours.keys() & theirs.keys()
    assert {ours[name] for name in shared} == {*QUESTIONS[:4]}
    assert all(ours[name] == theirs[name] for name in shared)
    assert paired.finding.pairing == "input"


def test_a_solver_does_not_explain_other_questions() -> None:
    others = [f"other {k}" for k in range(20)]
    runs = [
        asked("a", numbered(QUESTIONS), solver="generate"),
        asked("b", numbered(others), solver="chain_of_thought"),
    ]
    with pytest.raises(OtherQuestionError):
        pair_questions("t", runs)


def test_a_run_with_unknown_inputs_hides_no_contradiction_of_later_runs() -> None:
    others = [f"other {k}" for k in range(20)]
    unknown = numbered([""] * 20)
    runs = [asked("a", unknown), asked("b", numbered(QUESTIONS)), asked("c", numbered(others))]
    with pytest.raises(OtherQuestionError):
        pair_questions("t", runs)
