"""What `podium/pairwise` shows in Inspect: win rate, standard error, and counts of battles."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from fenced_texts import texts_in_fences
from inspect_ai import Epochs, Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match, mean
from played_logs import place
from scripted_judge import GARBAGE, strength

import podium
from podium.errors import DataError, UsageError
from podium.hosts.inspect_ai.judging import judge_monitor
from podium.hosts.inspect_ai.judging.pairwise_scorer import typed_in_score
from podium.inspect import pairwise

ITEMS = 12
EPOCHS = 2
LACKING = 3
UNREADABLE = 5
HOW = {"attempts": 1, "replies": "text", "logprobs": "off"}
OLD = {k: round(1 + k % 4 / 2, 1) for k in range(ITEMS)}
OLDER = dict.fromkeys(range(ITEMS), 0.0)


def quality_of(item: int, epoch: int) -> float:
    """Return how good the response of the model under test is."""
    return round((item * 7 + epoch * 5) % 11 / 3, 3)


def verdict_on(first: float, second: float) -> str:
    """Return the letter of a judge that prefers the second response only if it is much better."""
    return "B" if second - first > 1 else "A"


def reply(prompt: str) -> str:
    """Return the reply of the judge; about one item it says nothing that can be read."""
    if f"task {UNREADABLE}." in prompt:
        return GARBAGE
    shown = texts_in_fences(prompt)
    return verdict_on(strength(shown["response_a"]), strength(shown["response_b"]))


def credits_by_hand(item: int, epoch: int, reference: dict[int, float]) -> tuple[float, float]:
    """Return what the model under test earns when it is shown first, and when it is second."""
    own, other = quality_of(item, epoch), reference[item]
    return float(verdict_on(own, other) == "A"), float(verdict_on(other, own) == "B")


def write_reference(folder: Path, model: str, qualities: dict[int, float]) -> str:
    """Write the responses of a reference; return the path."""
    rows = [
        {"id": f"q{k}", "instruction": f"task {k}.", "model": model, "response": f"quality={own}"}
        for k, own in qualities.items()
    ]
    path = folder / f"{model}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def references(tmp_path: Path) -> dict[str, str]:
    """Return two references; the one called old lacks a response."""
    kept = {k: own for k, own in OLD.items() if k != LACKING}
    return {
        "old": write_reference(tmp_path, "old", kept),
        "older": write_reference(tmp_path, "older", OLDER),
    }


@pytest.fixture
def run(behave: Any) -> Any:
    """Return a way to run a task of the model under test with a scorer; it gives the log."""
    judge = behave(scripted=reply)

    def run_task(scorer: Any, status: str = "success", **options: Any) -> Any:
        outputs = []
        for item in range(ITEMS):
            for epoch in range(1, EPOCHS + 1):
                text = f"quality={quality_of(item, epoch)}"
                output = ModelOutput.from_content("new", text)
                output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
                outputs.append(output)
        samples = [Sample(id=f"q{k}", input=f"task {k}.", target="") for k in range(ITEMS)]
        # Epochs follow each other, so the outputs are sorted by epoch.
        ordered = [*outputs[::EPOCHS], *outputs[1::EPOCHS]]
        task = Task(samples, scorer=scorer, epochs=Epochs(EPOCHS), name="advice", **options)
        model = get_model("mockllm/new", custom_outputs=ordered)
        [log] = eval(task, model=model, model_roles={"judge": judge}, max_samples=1)
        assert log.status == status, log.error
        return read_eval_log(log.location)

    return run_task


def figures_in(log: Any, number: int = 0) -> dict[str, float]:
    """Return the metrics of a scorer by name."""
    return {name: own.value for name, own in log.results.scores[number].metrics.items()}


def battles_by_hand(
    reference: dict[int, float], lacking: int | None
) -> dict[int, list[tuple[float, float]]]:
    """Return the credits in both orders of the readable battles, one per epoch, by item."""
    return {
        item: [credits_by_hand(item, epoch, reference) for epoch in (1, 2)]
        for item in range(ITEMS)
        if item not in (lacking, UNREADABLE)
    }


def rate_by_hand(battles: dict[int, list[tuple[float, float]]]) -> tuple[float, float]:
    """Return the mean credit, and its error from sums of residuals by item (a ratio estimator)."""
    credits = {item: np.mean(own, axis=1) for item, own in battles.items()}
    rate = np.concatenate([*credits.values()]).mean()
    residuals = np.array([(own - rate).sum() for own in credits.values()])
    items = len(residuals)
    number = sum(map(len, credits.values()))
    return float(rate), math.sqrt(items / (items - 1) * (residuals**2).sum()) / number


@pytest.mark.slow
def test_figures_are_those_of_the_battles_by_hand(run, references):
    found = figures_in(run(pairwise(references["old"], **HOW)))
    battles = battles_by_hand(OLD, LACKING)
    rate, error = rate_by_hand(battles)
    pairs = [pair for own in battles.values() for pair in own]
    flips = sum(first != second for first, second in pairs)
    assert 0 < flips < len(pairs)
    assert found == pytest.approx(
        {
            "win_rate": rate,
            "stderr": error,
            "judged": len(pairs),
            "unparsed": EPOCHS,
            "missing": EPOCHS,
            "ties": flips,
            "identical": 0,
            "flips": flips,
            "both_orders": len(pairs),
            "flip_share": flips / len(pairs),
        }
    )
    assert found["judged"] + found["unparsed"] + found["missing"] == ITEMS * EPOCHS


@pytest.mark.slow
def test_figures_equal_those_of_rank_and_compare_on_the_log(run, references):
    log = run(pairwise(references["old"], **HOW))
    found = figures_in(log)
    battles = podium.read_battles(str(place(log)))
    counts = battles.counts()
    assert (found["judged"], found["unparsed"], found["missing"]) == (
        counts.readable,
        counts.unparsed,
        counts.missing,
    )
    [standings] = podium.rank(battles, "win-rate").standings
    [entry] = [each for each in standings.entries if each.model == "mockllm/new"]
    assert (found["win_rate"], found["stderr"]) == pytest.approx((entry.score, entry.se))
    [finding] = podium.compare("mockllm/new", "old", battles).findings
    assert found["win_rate"] == pytest.approx(finding.differences["win-rate"].value + 0.5)


@pytest.mark.slow
def test_values_of_unparsed_and_missing_battles_are_not_known(run, references):
    log = run(pairwise(references["old"], **HOW))
    values = {sample.id: sample.scores["pairwise"].value for sample in log.samples}
    unparsed, missing = values[f"q{UNREADABLE}"], values[f"q{LACKING}"]
    assert math.isnan(unparsed["credit"])
    assert math.isnan(unparsed["flip"])
    assert unparsed["unparsed"] == 1
    assert all(map(math.isnan, missing.values()))
    judged = [own for name, own in values.items() if own not in (unparsed, missing)]
    assert {own["unparsed"] for own in judged} == {0}
    assert {own["flip"] for own in judged} == {0, 1}


@pytest.mark.slow
def test_a_log_with_other_scorers_is_ranked_by_its_verdicts(run, references):
    log = run([match(), pairwise(references["old"], **HOW)])
    battles = podium.read_battles(str(place(log)))
    assert battles.models == ("mockllm/new", "old")
    assert (len(battles), battles.counts().missing) == ((ITEMS - 1) * EPOCHS, EPOCHS)


@pytest.mark.slow
def test_several_references_have_figures_of_their_own(run, references):
    log = run(pairwise([*references.values()], **HOW))
    found = figures_in(log)
    for name, qualities, lacking in (("old", OLD, LACKING), ("older", OLDER, None)):
        battles = battles_by_hand(qualities, lacking)
        own = (found[f"win_rate against {name}"], found[f"stderr against {name}"])
        assert own == pytest.approx(rate_by_hand(battles))
        assert found[f"judged against {name}"] == len(battles) * EPOCHS
    assert found["missing against old"] == EPOCHS
    assert found["missing against older"] == 0
    battles = podium.read_battles(str(place(log)))
    assert battles.models == ("mockllm/new", "old", "older")
    assert battles.counts().missing == EPOCHS
    value = log.samples[0].scores["pairwise"].value
    assert [*value] == [
        f"{part} against {name}" for name in references for part in ("credit", "flip", "unparsed")
    ]


@pytest.mark.slow
def test_the_credit_alone_is_a_number_and_counts_only_what_inspect_passes_on(run, references):
    log = run(pairwise(references["old"], value="credit", **HOW))
    found = figures_in(log)
    assert found["win_rate"] == pytest.approx(rate_by_hand(battles_by_hand(OLD, LACKING))[0])
    assert not {"unparsed", "missing"} & found.keys()
    result = log.results.scores[0]
    assert (result.scored_samples, result.unscored_samples) == (found["judged"], 2 * EPOCHS)


@pytest.mark.slow
def test_a_metric_of_the_task_takes_a_part_of_the_value(run, references):
    scorer = pairwise(references["old"], **HOW)
    log = run(scorer, metrics={"credit": [mean()]})
    [result] = log.results.scores
    battles = battles_by_hand(OLD, LACKING)
    assert result.name == "credit"
    assert result.metrics["mean"].value == pytest.approx(np.mean([*battles.values()]))


@pytest.mark.slow
def test_one_sided_verdicts_count_in_the_metric_as_in_the_scores(run, references, behave):
    def reply_in_one_order(prompt):
        shown = texts_in_fences(prompt)
        is_reference_first = strength(shown["response_a"]) == 0.0
        return GARBAGE if is_reference_first else reply(prompt)

    behave(scripted=reply_in_one_order)
    log = run(pairwise(references["older"], one_sided="keep", **HOW))
    found = figures_in(log)
    credits = [sample.scores["pairwise"].value["credit"] for sample in log.samples]
    readable = [credit for credit in credits if credit == credit]
    assert 0 < len(readable) < len(credits)
    assert found["judged"] == len(readable)
    assert found["win_rate"] == pytest.approx(np.mean(readable))


@pytest.mark.slow
def test_nothing_judged_is_no_win_rate(run, tmp_path):
    empty = write_reference(tmp_path, "absent", {99: 1.0})
    log = run(pairwise(empty, **HOW))
    found = figures_in(log)
    assert math.isnan(found["win_rate"])
    assert math.isnan(found["stderr"])
    assert (found["judged"], found["missing"]) == (0, ITEMS * EPOCHS)
    with pytest.raises(DataError, match="absent has no response to compare with"):
        podium.read_battles(str(place(log)))


def test_scoring_a_log_again_gives_the_same_figures(run, references):
    log = run(match())
    scorer = pairwise(references["old"], **HOW)
    again = score(log, scorer, action="append", model_roles={"judge": "scripted/judge"})
    rate, error = rate_by_hand(battles_by_hand(OLD, LACKING))
    found = figures_in(again, -1)
    assert (found["win_rate"], found["stderr"]) == pytest.approx((rate, error))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": ()}, "none is named: name its log, as -S reference=PATH"),
        ({"reference": " "}, "none is named"),
        ({"value": "both"}, "choose outcome or credit"),
    ],
)
def test_wrong_options_are_named(references, options, message):
    with pytest.raises(UsageError, match=message):
        pairwise(**{"reference": references["old"], **options})


def test_one_number_needs_one_reference(references):
    with pytest.raises(UsageError, match="there are 2 references"):
        pairwise([*references.values()], value="credit")


def test_references_of_one_name_are_named_apart(references):
    with pytest.raises(UsageError, match="name them apart"):
        pairwise([references["old"], references["old"]])
    pairwise([f"first={references['old']}", f"second={references['old']}"])


@pytest.mark.slow
def test_importing_podium_imports_no_part_for_inspect():
    code = (
        "import sys, podium, podium.cli.main\n"
        "print([name for name in ('podium.inspect', 'inspect_ai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_option_is_typed_as_the_scorer_takes_it_where_it_runs():
    assert typed_in_score("argument", "on_bad_judge", "continue") == (
        "pairwise(on_bad_judge='continue')"
    )
    for name, typed in (("score", "-S tokens=5"), ("eval", "pairwise(tokens=5)")):
        with click.Context(click.Command(name), info_name=name):
            assert typed_in_score("argument", "tokens", "5") == typed
            assert typed_in_score("option", "metric", "match") == "--metric match"


@pytest.mark.slow
def test_a_judge_of_one_position_is_stopped_with_the_option_of_the_scorer(
    run, references, behave, monkeypatch
):
    monkeypatch.setattr(judge_monitor, "FIRST_LOOK", 20)
    behave(scripted=lambda prompt: "A")
    stopped = run(pairwise(references["older"], **HOW), status="error")
    assert "pairwise(on_bad_judge='continue') goes on" in stopped.error.message.replace("\\", "")
    found = figures_in(run(pairwise(references["older"], on_bad_judge="continue", **HOW)))
    assert found["judged"] == ITEMS * EPOCHS
    assert found["flips"] == found["judged"] - found["identical"] > 20
