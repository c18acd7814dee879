"""From verdicts to figures: what lm-eval reports is what podium's rankers say of the same
battles."""

import importlib
import json
import math
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

# The folder of these tests is called lm_eval, too.
pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")

from judged_tasks import Recorded, evaluated, figure, verdicts, write_opponents, write_task
from lm_eval.api import registry
from lm_eval.api.metrics import mean_stderr
from lm_eval.loggers.wandb_logger import WandbLogger

from podium.data.formats import lm_eval_judged
from podium.data.reading.judgments import read_battles
from podium.hosts.lm_eval import metrics
from podium.hosts.lm_eval.lm_eval_compatibility import register
from podium.ranking.rank_battles import rank


def kept(item: int, *credits: float | None, margin: float | None = None) -> str:
    """Return the filter's verdicts on a document: a battle with each opponent (o0, o1, ...), by
    credit."""
    battles = []
    for k, credit in enumerate(credits):
        verdict = {
            "credit": credit,
            "margin": margin,
            "reason": None if credit is not None else "no verdict",
        }
        shown = {"order": "merged", "repeat": 0, "judge": "j", **verdict}
        battles.append({"model_a": "me", "model_b": f"o{k}", **verdict, "judgments": [shown]})
    read = [one for one in credits if one is not None]
    earned = sum(read) / len(read) if read else None
    reported = {
        "item": f"q{item}",
        "model": "me",
        "credit": earned,
        "one_sided": "unparsed",
        "missing": {},
    }
    return metrics.remember_verdicts(
        lm_eval_judged.verdicts_as_text({**reported, "battles": battles})
    )


def items(*documents: tuple[float | None, ...], **options: Any) -> list[Any]:
    """Return what the metric makes of documents, by the credits of each."""
    return [
        metrics.earned_credit(predictions=[kept(k, *one)], **options)
        for k, one in enumerate(documents)
    ]


MIXED = (
    (1.0, 0.0),
    (0.5, 1.0),
    (0.0, 1.0),
    (1.0, 0.25),
    (0.75, None),
    (None, 0.5),
    (0.25, 0.0),
    (1.0, 1.0),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "ranker"), [("win_rate", "win-rate"), ("bradley_terry", "bradley-terry")]
)
def test_a_figure_and_its_error_are_those_of_podiums_ranker(metric: str, ranker: str):
    """Oracle: `podium.rank` on a plain table of the same credits, written here by hand."""
    rows = [
        {"item": f"q{k}", "model_a": "me", "model_b": f"o{j}", "credit": credit}
        for k, credits in enumerate(MIXED)
        for j, credit in enumerate(credits)
    ]
    frame = read_battles(pd.DataFrame(rows))
    own = next(one for one in rank(frame, ranker).standings[0].entries if one.model == "me")
    assert getattr(metrics, metric)(items(*MIXED)) == pytest.approx(own.score, abs=1e-9)
    assert getattr(metrics, f"{metric}_stderr")(items(*MIXED)) == pytest.approx(own.se, rel=1e-9)


@pytest.mark.slow
def test_the_error_of_a_win_rate_is_that_of_a_mean_over_documents():
    """Oracle: lm-eval's own standard error of a mean, on the documents' credits; battles of one are
    one cluster."""
    complete = [one for one in MIXED if None not in one]
    means = [sum(one) / 2 for one in complete]
    assert metrics.win_rate(items(*complete)) == pytest.approx(sum(means) / len(means))
    assert metrics.win_rate_stderr(items(*complete)) == pytest.approx(mean_stderr(means), rel=1e-9)
    single = [credit for one in complete for credit in one]
    assert mean_stderr(single) != pytest.approx(mean_stderr(means), rel=0.05)


@pytest.mark.slow
def test_a_document_without_a_readable_verdict_changes_nothing():
    more = (*MIXED, (None, None))
    assert items(*more)[-1] is None
    assert metrics.win_rate(items(*more)) == metrics.win_rate(items(*MIXED))
    assert metrics.bradley_terry_stderr(items(*more)) == metrics.bradley_terry_stderr(items(*MIXED))


def test_no_parsed_verdict_gives_no_number(caplog: pytest.LogCaptureFixture):
    none = items((None, None), (None, None))
    assert math.isnan(metrics.win_rate(none))
    assert metrics.win_rate_stderr(none) == "N/A"
    assert "no battle has a readable verdict" in caplog.text


@pytest.mark.slow
def test_model_with_only_wins_has_no_finite_rating(caplog: pytest.LogCaptureFixture):
    won = items(*([(1.0, 1.0)] * 5))
    assert metrics.win_rate(won) == 1
    assert math.isnan(metrics.bradley_terry(won))
    assert metrics.bradley_terry_stderr(won) == "N/A"
    assert "unbounded by the data: every model" in caplog.text


def test_soft_elo_takes_its_options_from_the_metric_list():
    """Closed form: with margin 1 everywhere, beta is the difference in logits, here between two
    models."""
    same = [
        metrics.earned_credit(predictions=[kept(k, 1.0, margin=1.0)], beta=0.5, regularization=0)
        for k in range(4)
    ]
    points = 400 / math.log(10)
    assert metrics.soft_elo(same) == pytest.approx(1500 + 0.5 * points / 2, abs=1e-6)


@pytest.mark.slow
def test_soft_elo_without_calibration_is_no_number(caplog: pytest.LogCaptureFixture):
    hard = [
        metrics.earned_credit(predictions=[kept(k, float(k % 2), margin=1.0)]) for k in range(6)
    ]
    assert math.isnan(metrics.soft_elo(hard))
    assert "no soft-elo:" in caplog.text


def test_what_a_model_says_is_never_taken_for_a_verdict():
    """A response that looks like the filter's JSON is a response."""
    forged = kept(99, 1.0).replace("q99", "q98")
    assert metrics.earned_credit(predictions=[forged]) is None
    assert metrics.count_judged(predictions=[forged]) is None


def test_a_plain_number_from_lm_eval_is_rejected(caplog: pytest.LogCaptureFixture):
    """lm-eval makes 1.0 or 0.0 of any metric where a task's target is a list."""
    assert math.isnan(metrics.win_rate([1.0, 0.0, 1.0]))
    assert "doc_to_target" in caplog.text


def test_document_credit_is_a_picklable_number():
    """lm-eval gathers values of several processes by pickling them, and writes them as JSON."""
    one = items((1.0, 0.5))[0]
    again = pickle.loads(pickle.dumps(one))
    assert (json.dumps(one), again.verdicts, again.options) == ("0.75", one.verdicts, one.options)


def test_repeated_loading_registers_metric_names_once():
    importlib.import_module("podium.hosts.lm_eval.filter")
    before = registry.get_metric("win_rate")
    importlib.reload(metrics)
    assert registry.get_metric("win_rate") is before
    assert registry.get_filter("podium_judge").__name__ == "JudgeFilter"


def test_metric_name_of_another_package_is_reported():
    with pytest.raises(ValueError, match="acc"):
        register("metric", "acc", higher_is_better=True)(metrics.earned_credit)


@pytest.mark.slow
def test_the_samples_can_be_shown_by_weights_and_biases(tmp_path: Path):
    """Its table takes every metric of the list from every sample: none may be absent, none a
    function."""
    judge = {"judge": "podium/offline", "on_bad_judge": "continue"}
    asked = {**judge, "against": write_opponents(tmp_path), "item": "id"}
    model = Recorded()
    model.responses["Question 5?"] = ""
    found = evaluated(write_task(tmp_path, asked), model)
    config = found["configs"]["judged"]
    shown = WandbLogger._generate_dataset(
        object.__new__(WandbLogger), found["samples"]["judged"], config
    )
    assert shown["judged"].tolist() == [2, 2, 2, 2, 2, 0, 2, 2]
    assert shown["win_rate"].isna().tolist() == [False] * 5 + [True] + [False] * 2
    assert figure(found, "missing") == 2
    assert len(verdicts(found)) == 8
