"""Rescoring a finished log: stored replies give the same scores without calls."""

import json
import math

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log, write_eval_log
from played_logs import assert_same_figures, battles, place, ranked, verdict_of

from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments
from podium.hosts.inspect_ai.judging.scorers import verdict
from podium.hosts.inspect_ai.tasks import anchor, round_robin, swim

FORMS = {
    "direct": "letter",
    "cot": "cot",
    "labels": "labels",
    "rubric": "rubric",
    "numeric": "numeric",
    "likert": "likert",
    "token-probs": "yes",
}


def values(log):
    reported = {one.id: (verdict_of(one).value, verdict_of(one).metadata) for one in battles(log)}
    return {
        name: (None if math.isnan(value) else value, kept)
        for name, (value, kept) in reported.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("realization", FORMS)
def test_rescoring_makes_no_call_and_gives_the_same_scores(
    play, behave, record, write_responses, realization
):
    behave(form=FORMS[realization], garbage=0.1)
    log = play(round_robin(responses=write_responses(), realization=realization))
    before = record.calls
    again = score(log, verdict(), action="overwrite")
    assert record.calls == before
    assert values(again) == values(log)


@pytest.mark.slow
def test_scorer_can_be_rebuilt_from_the_log(play, behave, record, write_responses):
    behave(form="cot", garbage=0.1)
    log = play(
        round_robin(
            responses=write_responses(), realization="cot", tie=True, repeats=2, one_sided="keep"
        )
    )
    before = record.calls
    reported = log.eval.scorers[0]
    again = score(log, verdict(**reported.options), action="overwrite")
    assert values(again) == values(log)
    assert record.calls == before


@pytest.mark.slow
def test_all_options_survive_the_log_as_json(play, write_responses):
    options = {
        "realization": "cot",
        "tie": True,
        "orders": "random",
        "repeats": 2,
        "seed": 7,
        "logprobs": "off",
        "attempts": 3,
        "rule": "majority",
        "quorum": 1,
        "one_sided": "keep",
        "temperature": 0.5,
        "max_tokens": 9,
    }
    log = play(swim(responses=write_responses(), items=3, order="oak,elm,fir,ash", **options))
    args = flatten_arguments(log.eval.task_args)
    assert json.loads(json.dumps(args)) == args
    assert {name: args[name] for name in options} == options
    # Without the prefix `podium/` where the tests run from a checkout whose egg-info hides the
    # installation.
    [solver] = [step for step in log.plan.steps if step.solver.removeprefix("podium/") == "judge"]
    assert {name: flatten_arguments(solver.params)[name] for name in options} == options
    assert {
        name: flatten_arguments(log.eval.scorers[0].options)[name] for name in options
    } == options


@pytest.mark.slow
def test_paths_may_be_path_objects(play, write_responses):
    from pathlib import Path

    log = play(round_robin(responses=[Path(one) for one in write_responses()]))
    assert json.dumps(log.eval.task_args)
    assert len(battles(log)) == 36


@pytest.mark.slow
def test_an_appended_score_of_the_same_scorer_does_not_count_verdicts_twice(play, write_responses):
    log = play(round_robin(responses=write_responses()))
    first = ranked(str(place(log)))
    write_eval_log(score(log, verdict(), action="append"))
    names = [*read_eval_log(log.location).samples[0].scores]
    assert names == ["verdict", "battle", "verdict1"]
    again = ranked(str(place(log)))
    assert_same_figures(again, first)


@pytest.mark.slow
def test_rescored_log_ranks_the_same(play, write_responses):
    log = play(anchor(responses=write_responses(), anchor="elm"))
    first = ranked(str(place(log)))
    write_eval_log(score(log, verdict(), action="overwrite"))
    assert_same_figures(ranked(str(place(log))), first)


@pytest.mark.slow
def test_the_ranking_in_the_log_survives_an_edited_score(play, write_responses):
    from inspect_ai.log import edit_score
    from inspect_ai.scorer import ScoreEdit

    log = play(round_robin(responses=write_responses()))
    edit_score(log, battles(log)[0].id, "verdict", ScoreEdit(value=0.0))
    write_eval_log(log)
    assert read_eval_log(log.location).results.metadata["podium"]["rankings"]


@pytest.mark.slow
def test_changed_parser_rule_is_applied_to_stored_replies(play, behave, record, write_responses):
    behave(garbage=0.15)
    log = play(round_robin(responses=write_responses()))
    before = record.calls
    kept = score(log, verdict(one_sided="keep"), action="overwrite")
    unparsed = [sum(value is None for value, _ in values(one).values()) for one in (log, kept)]
    assert unparsed[1] < unparsed[0]
    assert record.calls == before
