"""Lost replies and scores: no two commands say other numbers of them."""

import random
from pathlib import Path
from typing import Any

import command_facts
import pandas as pd
import pytest
from asked_runs import simple_run, write_inspect_log

from podium import read_battles
from podium.check_results import Result
from podium.diagnosis.checks.reply_checks import check_unparsed

MODELS = ("a", "b", "c")
ITEMS = 34
LOST = 6
"""The number of scores of b that are lost."""


def chance(*seed: object) -> float:
    return random.Random(repr(seed)).random()


def battles_in_two_orders(folder: Path) -> str:
    """Write battles of which one order of every fourth is unparsed."""
    rows = [
        {
            "item": item,
            "model_a": first,
            "model_b": second,
            "order": order,
            "judge": "j",
            "credit": None if order == "ab" and item % 4 == 0 else float(chance(item, first) < 0.5),
        }
        for item in range(ITEMS)
        for first, second in (("a", "b"), ("a", "c"), ("b", "c"))
        for order in ("ab", "ba")
    ]
    pd.DataFrame(rows).to_csv(folder / "battles.csv", index=False)
    return "battles.csv"


def scores(folder: Path, **columns: str) -> str:
    """Write scores, of which b lacks some in the middle of the table."""
    rows = [
        {
            "item": item,
            "model": model,
            "score": None if is_lost(model, item) else float(chance(model, item) < 0.5),
            **columns,
        }
        for model in MODELS
        for item in range(ITEMS)
    ]
    pd.DataFrame(rows).to_csv(folder / "scores.csv", index=False)
    return "scores.csv"


def is_lost(model: str, item: int) -> bool:
    return model == "b" and 9 < item <= 9 + LOST


def judged_scores(folder: Path) -> str:
    return scores(folder, judge="j")


def failed_samples(folder: Path) -> str:
    """Write logs of Inspect, of which b has samples that failed."""
    from inspect_ai.log import EvalError

    def fail(log: Any) -> None:
        for sample in log.samples[10 : 10 + LOST]:
            sample.error = EvalError(message="boom", traceback="", traceback_ansi="")
            sample.scores = None

    for model in MODELS:
        values = [float(chance(model, item) < 0.5) for item in range(ITEMS)]
        change = fail if model == "b" else (lambda _: None)
        write_inspect_log(simple_run(model, values), folder / "logs", change=change)
    return "logs"


INPUTS = [
    pytest.param(battles_in_two_orders, (), id="one order"),
    pytest.param(battles_in_two_orders, ("--one-sided", "keep"), id="one order kept"),
    pytest.param(scores, (), id="scores"),
    pytest.param(judged_scores, (), id="judged scores"),
    pytest.param(failed_samples, (), id="failed samples"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("write", "options"), INPUTS)
def test_all_commands_have_the_same_counts_claims_and_checks(write, options, tmp_path):
    name = write(tmp_path)
    ranked = command_facts.facts_of_json(tmp_path, name, *options)
    assert ranked.code in (0, 3), ranked.cause
    for shown in (
        command_facts.facts_of_table(tmp_path, name, *options),
        command_facts.facts_of_page(tmp_path, name, *options),
    ):
        assert shown.answer == ranked.answer
        assert shown.counts.items() <= ranked.counts.items()
    results = command_facts.results_of_checks(tmp_path, ("a", "c"), name, *options)
    assert set(results) == {"rank", "report", "compare", "diagnose"}
    assert not command_facts.contradictions(results)


@pytest.mark.slow
def test_scores_that_are_lost_are_named_with_and_without_a_judge(tmp_path):
    for write in (scores, judged_scores):
        facts = command_facts.facts_of_json(tmp_path, write(tmp_path))
        assert "Nothing is claimed about b" in facts.answer
        assert "17.6% of the scores of b are missing" in facts.answer
        assert (facts.counts["missing"], facts.counts["unparsed"]) == (2 * LOST, 0)
        command_facts.run_command.cache_clear()


def test_unparsed_replies_are_named_although_the_other_order_decides_every_battle(tmp_path):
    """In nine of 34 items one of two orders is unparsed: 9 / 68 of the replies, and no battle."""
    path = tmp_path / battles_in_two_orders(tmp_path)
    [check] = check_unparsed(read_battles(str(path), one_sided="keep"))
    assert check.result is Result.FLAGGED
    assert "0 of 102 battles are unparsed (0.0%); 13.2% of the replies" in check.row[2]
