"""Inspect's data frames of evals and samples before and after a tournament has ranked the evals."""

import pytest
from inspect_ai import Task, eval
from inspect_ai.analysis import evals_df, samples_df
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import Score, includes, mean, scorer
from inspect_ai.solver import solver

from podium.hosts.inspect_ai.eval_ranking import play_and_rank, rank_by_scores
from podium.hosts.inspect_ai.logs.earlier_logs import gather_logs
from podium.hosts.ranker_options import options_from

MOST_COLUMNS = 6


@solver
def writing():
    """Write four bullet points, as asked, or three."""

    async def solve(state, generate):
        skill = ("weak", "fair", "good").index(state.model.name)
        number = 4 if (3 * int(state.sample_id[1:]) + skill) % 5 <= skill else 3
        text = "The answer:" + "\n- some words" * number
        state.output = ModelOutput.from_content(state.model.name, text)
        state.completed = True
        return state

    return solve


@scorer(metrics={"right": [mean()], "length": [mean()]})
def by_aspect():
    """Give two numbers at once."""

    async def score(state, target):
        text = state.output.completion
        return Score(value={"right": float("answer" in text), "length": len(text)}, answer=text)

    return score


@pytest.mark.slow
@pytest.mark.parametrize("judge", [{}, {"ranker_judge": "podium/offline"}])
@pytest.mark.parametrize("ranker", ["soft-elo", "bradley-terry,win-rate"])
def test_every_value_stays_and_each_ranker_adds_at_most_six_columns(ranker, judge):
    samples = [
        Sample(id=f"q{k}", input=f"Give exactly four bullet points on {k}.", target="answer")
        for k in range(6)
    ]
    task = Task(samples, solver=writing(), scorer=[by_aspect(), includes()], epochs=2, name="free")
    models = [get_model(f"mockllm/{name}") for name in ("weak", "fair", "good")]
    logs = eval(task, model=models, log_dir="logs")
    before = (evals_df("logs", quiet=True), samples_df("logs", quiet=True))
    headers = [read_eval_log(log.location, header_only=True) for log in logs]
    options = options_from({"ranker": ranker, **judge})
    rank = play_and_rank if judge else rank_by_scores
    ranked = rank(headers, gather_logs(headers, options), options)
    assert len(ranked.ranking.standings[0].entries) == 3
    evals = evals_df("logs", quiet=True)
    for column in before[0].columns:
        assert evals[column].equals(before[0][column]), column
    added = evals.columns.difference(before[0].columns)
    rankers = {"win-rate", *(each.ranker for each in ranked.ranking.standings)}
    assert 0 < len(added) <= MOST_COLUMNS * len(ranker.split(","))
    assert all(name.startswith(tuple(f"score_{own}_" for own in rankers)) for name in added)
    after = samples_df("logs", quiet=True)
    assert [*after.columns] == [*before[1].columns]
    for column in after.columns:
        assert after[column].equals(before[1][column]), column
