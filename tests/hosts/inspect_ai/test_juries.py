"""Several judges of one battle."""

import json
from contextvars import copy_context

import pandas as pd
import pytest
from click.testing import CliRunner
from inspect_ai import eval
from inspect_ai.model import GenerateConfig, get_model
from played_logs import assert_same_figures, battles, by_hand, credit_of, place, ranked, verdict_of

import podium
from podium.cli.main import podium as command
from podium.errors import UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import set_model_roles
from podium.hosts.inspect_ai.tasks import round_robin


@pytest.fixture
def sat(play, behave, write_responses):
    judges = [behave("fair", bias=0.0), behave("first", bias=2.0)]
    return play(round_robin(responses=write_responses()), judges)


def pairings(log):
    return [
        (one.metadata["item"], one.metadata["model_a"], one.metadata["model_b"])
        for one in battles(log)
    ]


def tables(log):
    return {name: by_hand(pairings(log), bias) for name, bias in (("fair", 0.0), ("first", 2.0))}


@pytest.mark.slow
def test_every_judge_is_asked_in_both_orders_and_its_verdicts_are_kept(sat, record):
    assert record.calls == 2 * 2 * len(battles(sat))
    for sample in battles(sat):
        rows = verdict_of(sample).metadata["podium"]["judgments"]
        assert len(rows) == 4
        assert {row["judge"].split("|")[0] for row in rows} == {"scripted/fair", "scripted/first"}


@pytest.mark.slow
def test_a_jury_means_the_mean(sat):
    expected = (
        sum(
            table.groupby(["item", "model_a", "model_b"]).credit.mean()
            for table in tables(sat).values()
        )
        / 2
    )
    for sample in battles(sat):
        own = sample.metadata
        assert credit_of(sample) == pytest.approx(
            expected[own["item"], own["model_a"], own["model_b"]]
        )


@pytest.mark.slow
def test_a_majority_counts_wins_and_losses(play, behave, write_responses):
    judges = [behave(name, bias=bias) for name, bias in (("a", 0.0), ("b", 0.1), ("c", -0.1))]
    log = play(round_robin(responses=write_responses(), rule="majority"), judges)
    tables = [
        by_hand(pairings(log), bias).groupby(["item", "model_a", "model_b"]).credit.mean()
        for bias in (0, 0.1, -0.1)
    ]
    for sample in battles(log):
        own = sample.metadata
        key = own["item"], own["model_a"], own["model_b"]
        votes = [int(table[key] > 0.5) - int(table[key] < 0.5) for table in tables]
        assert verdict_of(sample).value == (sum(votes) > 0) + (sum(votes) == 0) / 2


@pytest.mark.slow
def test_a_quorum_that_is_not_there_leaves_the_battle_unparsed(play, behave, write_responses):
    judges = [behave("good"), behave("bad", garbage=1.0)]
    log = play(round_robin(responses=write_responses(), quorum=2), judges)
    assert {verdict_of(one).reason for one in battles(log)} == {"grader_failed"}
    log = play(round_robin(responses=write_responses(), quorum=1), judges)
    assert all(verdict_of(one).value == verdict_of(one).value for one in battles(log))


def merged_table(log):
    """Return the verdicts in the log's own scores: one per battle, as Inspect shows them."""
    rows = []
    for sample in battles(log):
        own = sample.metadata
        names = {name: own[name] for name in ("item", "model_a", "model_b")}
        rows.append({**names, "credit": credit_of(sample)})
    return pd.DataFrame(rows)


def figures_of_models(standings):
    return {row["model"]: (row["score"], row["se"]) for row in standings["models"]}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["mean", "majority"])
def test_merged_verdicts_are_the_ranking_and_each_judge_is_the_detail(
    play, behave, write_responses, rule
):
    judges = [behave(name, bias=bias) for name, bias in (("a", 0.0), ("b", 2.0), ("c", -2.0))]
    log = play(round_robin(responses=write_responses(), rule=rule), judges)
    reported = log.results.metadata["podium"]
    [standings] = reported["rankings"]
    by_hand = podium.rank(merged_table(log), "bradley-terry").to_dict()["rankings"][0]
    for model, figures in figures_of_models(by_hand).items():
        assert figures_of_models(standings)[model] == pytest.approx(figures)
    assert standings["slice"] is None
    assert standings["counts"]["battles"] == len(battles(log))
    assert standings["counts"]["judgments"] == 6 * len(battles(log))
    of_command = json.loads(
        CliRunner().invoke(command, ["rank", str(place(log)), "--format", "json"]).stdout
    )
    assert of_command["rankings"] == reported["rankings"]
    assert of_command["details"] == reported["details"]
    by_judge = ranked(str(place(log)), by="judge").to_dict()["rankings"]
    assert [row["slice"] for row in reported["details"]] == [row["slice"] for row in by_judge]
    for detail, alone in zip(reported["details"], by_judge, strict=True):
        assert figures_of_models(detail) == figures_of_models(alone)
    headline = log.results.scores[0]
    assert (headline.scorer, headline.name) == ("podium/bradley-terry", "ranking")


@pytest.mark.slow
def test_a_jury_is_ranked_without_an_option_and_can_be_divided_or_pooled(sat):
    run = CliRunner().invoke
    for option in ((), ("--by", "judge"), ("--pool",)):
        assert run(command, ["rank", str(place(sat)), *option]).exit_code == 0
    said = run(command, ["rank", str(place(sat))])
    assert "the verdicts of 2 judges are merged by mean, one per battle" in said.stderr
    assert run(command, ["compare", "ash", "elm", str(place(sat))]).exit_code == 0


@pytest.mark.slow
def test_pooling_puts_the_verdicts_of_all_judges_together(sat):
    both = pd.concat([table.assign(judge=name) for name, table in tables(sat).items()])
    assert_same_figures(
        podium.rank(podium.read_battles(str(place(sat))), "bradley-terry", pool=True),
        podium.rank(podium.read_battles(both), "bradley-terry", pool=True),
    )


@pytest.mark.slow
def test_the_same_model_at_two_temperatures_is_two_judges(play, record, write_responses):
    judges = [get_model("scripted/judge", config=GenerateConfig(temperature=t)) for t in (0.0, 1.0)]
    log = play(round_robin(responses=write_responses()), judges)
    names = {
        row["judge"]
        for one in battles(log)
        for row in verdict_of(one).metadata["podium"]["judgments"]
    }
    settings = {name.rpartition("|")[2].rpartition(",")[2] for name in names}
    assert settings == {"temperature=0", "temperature=1"}
    assert record.calls == 4 * len(battles(log))


@pytest.mark.slow
def test_the_same_judge_twice_is_rejected_not_merged(play, record, write_responses):
    log = play(round_robin(responses=write_responses()), ["scripted/judge", "scripted/judge"])
    assert record.calls == 0
    assert all("the jury has a judge twice" in one.error.message for one in battles(log))


def test_the_same_judge_twice_is_rejected_before_the_first_battle_of_a_command(write_responses):
    files = write_responses()
    roles = {"judge": get_model("scripted/judge"), "judge2": get_model("scripted/judge")}

    def make():
        set_model_roles(roles)
        with pytest.raises(UsageError, match="a judge twice: scripted/judge; repeats=2 asks"):
            round_robin(responses=files)

    copy_context().run(make)


@pytest.mark.slow
def test_the_role_grader_judges_where_no_judge_is_named(record, write_responses):
    [log] = eval(round_robin(responses=write_responses()), model_roles={"grader": "scripted/judge"})
    assert record.calls == 72
    assert log.status == "success"


@pytest.mark.slow
def test_a_jury_may_sit_in_numbered_roles(behave, write_responses, record):
    for name in ("fair", "first", "second"):
        behave(name)
    roles = {"judge": "scripted/fair", "judge2": "scripted/first", "judge3": "scripted/second"}
    [log] = eval(round_robin(responses=write_responses()), model_roles=roles)
    judges = {
        row["judge"].split("|")[0]
        for one in battles(log)
        for row in verdict_of(one).metadata["podium"]["judgments"]
    }
    assert judges == set(roles.values())
    assert record.calls == 3 * 2 * len(battles(log))
