"""Items are told apart by the targets against which they were scored."""

import pytest

from podium.comparability.asked_items import AskedRun, ItemRecord
from podium.comparability.targets_of_runs import split_by_targets
from podium.errors import OtherQuestionError
from podium.notices.notice_text import notice_texts
from podium.run_record import RunRecord


def scored(model: str, targets: dict[str, int | None], task: str = "t", time: str = "") -> AskedRun:
    """Return a run with these targets by the ids of its items."""
    items = [ItemRecord(item, (1,), target=target) for item, target in targets.items()]
    return AskedRun(RunRecord(model, task, f"{model}.eval", time), items)


def test_an_item_with_another_target_gets_an_id_of_its_own():
    runs = [scored("a", {"1": 5, "2": 6, "3": 7}), scored("b", {"1": 5, "2": 9, "3": 7})]
    split = split_by_targets(runs, [{}, {}])
    assert split.names == ({}, {"2": "2@target2"})
    assert list(notice_texts(split.notes)) == [
        "1 item of t has different targets in different runs, and scores against different "
        "targets are not compared: item 2 in a.eval, b.eval. Score the runs against the same "
        "targets; allow='questions' compares them anyway"
    ]


def test_unknown_targets_are_no_difference_and_tasks_are_apart():
    runs = [scored("a", {"1": 5, "2": 6}), scored("b", {"1": None, "2": 6})]
    runs.append(scored("a", {"1": 8, "2": 8}, task="u"))
    assert split_by_targets(runs, [{}, {}, {}]).names == ({}, {}, {})
    assert not split_by_targets(runs, [{}, {}, {}]).notes


def test_items_are_those_that_inputs_pair_and_the_earliest_run_keeps_the_ids():
    runs = [
        scored("b", {"x": 3, "y": 4}, time="2026-02"),
        scored("a", {"1": 5, "2": 4}, time="2026-01"),
    ]
    assert split_by_targets(runs, [{"x": "1", "y": "2"}, {}]).names == (
        {"x": "1@target2", "y": "2"},
        {},
    )


def test_runs_without_one_common_target_are_an_error_that_can_be_accepted():
    runs = [scored("a", {"1": 5, "2": 6}), scored("b", {"1": 7, "2": 8})]
    with pytest.raises(OtherQuestionError) as raised:
        split_by_targets(runs, [{}, {}])
    assert "2 items of t have different targets" in str(raised.value)
    assert "allow=" in str(raised.value)
    accepted = split_by_targets(runs, [{}, {}], ("questions",))
    assert accepted.names == ({}, {})
    assert len(accepted.accepted) == 1
    assert "2 items of t have different targets" in accepted.accepted[0]


def test_rubrics_that_differ_in_quoted_inputs_alone_are_equal():
    rubrics = {
        "a": {"1": (5, 50), "2": (6, 60)},
        "b": {"1": (7, 50), "2": (8, 60)},
        "c": {"1": (9, 50), "2": (4, 40)},
    }
    runs = []
    for number, (model, own) in enumerate(rubrics.items()):
        items = []
        for item, (target, rubric) in own.items():
            items.append(ItemRecord(item, (number,), target=target, rubric=rubric))
        runs.append(AskedRun(RunRecord(model, "t", f"{model}.eval", ""), items))
    split = split_by_targets(runs, [{}, {}, {}])
    assert split.names == ({}, {}, {"2": "2@target2"})
    [text] = notice_texts(split.notes)
    assert text.startswith("1 item of t has different targets")


def test_equal_targets_stay_equal_where_one_happens_to_hold_its_input():
    """One of two inputs is a word of the target."""
    runs = []
    for model, rubric in (("a", 50), ("b", 5)):
        items = [ItemRecord("1", (rubric,), target=5, rubric=rubric)]
        runs.append(AskedRun(RunRecord(model, "t", f"{model}.eval", ""), items))
    assert split_by_targets(runs, [{}, {}]).names == ({}, {})
