"""Tasks show their options: those of the rule in the signature, those of every tournament typed."""

import ast
import inspect
from dataclasses import fields

import pytest

from podium.hookspecs import Tournament
from podium.hosts.inspect_ai import tasks
from podium.hosts.inspect_ai.tournament.run_options import JudgeOptions, RunOptions
from podium.hosts.inspect_ai.tournament.tournament_request import RunSettings
from podium.plugins import catalogue
from podium.plugins.settings import parameters_of
from podium.scorers.judging import known_options

NOT_SHOWN = {"seed", "population", "rated"}
"""`seed` is an option of every tournament; the others are of no use in Inspect, which says so."""
RULES = sorted(catalogue.extensions_of(Tournament))


def own_options(name):
    """Return the options in a task's signature, beside responses and the options of all."""
    task = getattr(tasks, "recorded_task" if name == "recorded" else name)
    own = dict(inspect.signature(task).parameters)
    del own["responses"], own["kwargs"]
    return own


@pytest.mark.parametrize("name", RULES)
def test_a_task_shows_the_options_of_its_rule_with_their_defaults(name):
    rule = parameters_of(catalogue.tournament_rule(name))
    shown = own_options(name)
    unused = NOT_SHOWN | ({"until"} if name == "swim" else set())
    assert shown.keys() == rule.keys() - unused
    assert {key: own.default for key, own in shown.items()} == {
        key: rule[key].default for key in shown
    }


def test_options_of_every_tournament_are_those_that_a_run_and_its_judge_take():
    run = {own.name for own in fields(RunSettings)}
    assert JudgeOptions.__annotations__.keys() == known_options() - {"seed"}
    assert RunOptions.__annotations__.keys() == run | JudgeOptions.__annotations__.keys()


def test_further_options_are_named_as_the_oldest_supported_inspect_expects():
    for name in (*RULES, "tournament"):
        task = getattr(tasks, "recorded_task" if name == "recorded" else name)
        last = [*inspect.signature(task).parameters.values()][-1]
        assert (last.name, last.kind) == ("kwargs", last.VAR_KEYWORD)


@pytest.mark.parametrize("options", [JudgeOptions, RunOptions])
def test_each_option_has_a_description(options):
    body = ast.parse(inspect.getsource(options)).body[0].body
    for key, text in zip(body[1::2], body[2::2], strict=True):
        assert isinstance(key, ast.AnnAssign)
        assert isinstance(text, ast.Expr), f"{key.target.id} has no description"


def test_an_option_that_is_not_shown_says_why_it_cannot_be_used(write_responses):
    with pytest.raises(Exception, match="population=these-items"):
        tasks.ring(responses=write_responses(), population="these-items")
