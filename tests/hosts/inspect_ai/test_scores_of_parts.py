"""Scores that are dictionaries have a metric per field; scores that are lists are named."""

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import Score
from made_logs import RIGHT, write_quiz

import podium
from podium.errors import PodiumError
from podium.notices.notice_text import notice_texts


def write_logs(folder, values_of):
    """Write the logs of three models. `values_of` gives the scores by scorer, 1 if right."""
    for model, right in RIGHT.items():
        path = write_quiz(folder, model, right)
        log = read_eval_log(str(path))
        for sample in log.samples:
            values = values_of(int(sample.scores["match"].value == "C"))
            sample.scores = {name: Score(value=value) for name, value in values.items()}
        write_eval_log(log, str(path))
    return folder


@pytest.mark.slow
def test_each_field_of_a_dictionary_is_a_metric(tmp_path):
    logs = write_logs(tmp_path, lambda v: {"match": {"exact": v, "wrong": 1 - v}})
    names = {"quiz match exact", "quiz match wrong"}
    assert {*podium.read_battles(logs, metric="all").metrics} == names
    leaders = {}
    for name in ("exact", "wrong"):
        battles = podium.read_battles(logs, metric=f"match {name}")
        leaders[name] = podium.rank(battles, "mean").standings[0].entries[0].model
    assert leaders == {"exact": "lab/good", "wrong": "lab/weak"}


@pytest.mark.slow
def test_a_field_with_words_is_no_metric(tmp_path):
    logs = write_logs(tmp_path, lambda v: {"match": {"exact": v, "why": "because", "no": None}})
    assert podium.read_battles(logs).metrics == ("quiz match exact",)


def test_scores_that_are_lists_are_named_as_such(tmp_path):
    logs = write_logs(tmp_path, lambda v: {"match": [v, 1]})
    with pytest.raises(PodiumError) as caught:
        podium.read_battles(logs)
    text = str(caught.value)
    assert "scores of match in quiz are lists and are not ranked" in text
    assert "each field is a metric" in text
    assert "eval-retry" not in text
    assert "Remedy: score the logs again with `inspect score`" in text
    assert "no metric" not in text


@pytest.mark.slow
def test_lists_beside_numbers_are_named_and_the_numbers_are_ranked(tmp_path):
    logs = write_logs(tmp_path, lambda v: {"match": v, "steps": [v, v]})
    battles = podium.read_battles(logs)
    assert battles.metrics == ("quiz match",)
    [text] = [text for text in notice_texts(battles.notes) if "lists" in text]
    assert "scores of steps in quiz" in text
