"""What is said when an eval begins of metrics that its scorers do not declare."""

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, match, mean, scorer
from written_logs import build_log

from podium.errors import UsageError
from podium.hosts.inspect_ai.coming_scores import check_scorers
from podium.hosts.inspect_ai.inspect_options import typed_in_inspect
from podium.hosts.ranker_options import options_from
from podium.notices.option_forms import typed_as


@scorer(metrics={"right": [mean()], "short": [mean()]}, name="aspects")
def by_aspect():
    """Give two numbers at once."""

    async def score(state, target):
        return Score(value={"right": 1.0, "short": 0.5})

    return score


@scorer(metrics={"*": [mean()]}, name="open")
def by_any_aspect():
    """Give numbers that are not declared."""

    async def score(state, target):
        return Score(value={"right": 1.0})

    return score


def spec_of(*scorers):
    dataset = [Sample(id="q", input="Say yes.", target="yes")]
    task = Task(dataset, scorer=list(scorers) or None, name="quiz")
    [log] = eval(task, model="mockllm/model", log_dir="logs")
    return log.eval


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("scorers", "good", "bad"),
    [
        ([match()], ("match", "quiz match", "all"), ("nope", "accuracy", "includes")),
        ([match(), match(location="any")], ("match", "match1", "quiz match1"), ("match_1",)),
        (
            [by_aspect(), match()],
            ("right", "aspects short", "quiz aspects right", "match"),
            ("aspects", "aspects long", "quiz right"),
        ),
        ([by_any_aspect()], ("right", "anything", "open right"), ()),
    ],
)
def test_a_metric_is_known_by_every_name_that_rankings_take(scorers, good, bad):
    spec = spec_of(*scorers)
    for name in good:
        check_scorers(options_from({"ranker": "mean", "ranker_metric": name}), spec)
    for name in bad:
        options = options_from({"ranker": "mean", "ranker_metric": name})
        with pytest.raises(UsageError, match="the scorers of quiz declare no such metric"):
            check_scorers(options, spec)


@pytest.mark.slow
def test_an_unknown_metric_and_a_missing_scorer_are_said_before_the_first_call(capfd, monkeypatch):
    monkeypatch.setenv("PODIUM_OPTIONS_CHECKED", "true")
    metadata = {"ranker": "mean", "ranker_metric": "nope"}
    dataset = [Sample(id="q", input="Say yes.", target="yes")]
    for own in (match(), None):
        task = Task(dataset, scorer=own, name="quiz")
        eval(task, model=["mockllm/a", "mockllm/b"], log_dir="logs", metadata=metadata)
    said = [line for line in capfd.readouterr().err.splitlines() if "may not be ranked" in line]
    assert said == [
        "podium: this eval may not be ranked: --ranker-metric nope: the scorers of quiz declare "
        "no such metric (there are: match)",
        "podium: this eval may not be ranked: the task quiz has no scorer: name a judge with "
        "--ranker-judge MODEL",
    ]


def test_a_judge_needs_no_scorer():
    spec = build_log("one", {"1": (1.0,)}).eval
    spec.scorers = None
    check_scorers(options_from({"ranker": "mean", "ranker_judge": "podium/offline"}), spec)
    with typed_as(typed_in_inspect), pytest.raises(UsageError, match="--ranker-judge MODEL"):
        check_scorers(options_from({"ranker": "mean"}), spec)
