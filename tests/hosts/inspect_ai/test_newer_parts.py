"""Inspect's newer parts: human ratings by `precomputed_scores()`, agreement of judges by
`krippendorff_alpha()`."""

import json
from collections import Counter
from typing import Any

import inspect_ai.scorer as inspect_scorer
import numpy as np
import pytest
from inspect_ai import Epochs, Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match, mean, multi_scorer, scorer
from played_logs import battles, place

import podium
from podium.errors import DataError
from podium.hosts.inspect_ai.judging.pairwise_scorer import pairwise
from podium.hosts.inspect_ai.tasks import round_robin

needs = pytest.mark.skipif(
    not all(hasattr(inspect_scorer, name) for name in ("precomputed_scores", "krippendorff_alpha")),
    reason="this version of inspect-ai has no precomputed_scores or krippendorff_alpha",
)


def write_ratings(folder: Any, ratings: dict[str, float]) -> str:
    """Write ratings by sample; return the path."""
    path = folder / "ratings.json"
    path.write_text(json.dumps([{"id": name, "value": value} for name, value in ratings.items()]))
    return str(path)


@pytest.mark.slow
@needs
def test_human_ratings_of_a_tournaments_battles_are_its_human_labels(
    play, behave, write_responses, tmp_path
):
    log = play(round_robin(responses=write_responses(items=3)), behave())
    ratings = {str(one.id): [0, 0.5, 1][k % 3] for k, one in enumerate(battles(log)) if k % 4}
    scored = score(
        log, inspect_scorer.precomputed_scores(write_ratings(tmp_path, ratings)), action="append"
    )
    write_eval_log(scored, log.location)
    table = podium.read_battles(str(place(log))).table
    sides = {
        (one.metadata["item"], one.metadata["model_a"], one.metadata["model_b"]): str(one.id)
        for one in battles(log)
    }
    found = {
        sides[row.item, row.model_a, row.model_b]: row.human
        for row in table.itertuples()
        if not np.isnan(row.human)
    }
    assert found == ratings


@pytest.mark.slow
@needs
def test_a_rating_outside_0_and_1_is_named(play, behave, write_responses, tmp_path):
    log = play(round_robin(responses=write_responses(items=1)), behave())
    ratings = {str(one.id): 4.0 for one in battles(log)}
    scored = score(
        log, inspect_scorer.precomputed_scores(write_ratings(tmp_path, ratings)), action="append"
    )
    write_eval_log(scored, log.location)
    with pytest.raises(DataError, match=r"human 4(\.0)? is outside \[0, 1\]"):
        podium.read_battles(str(place(log)))


@pytest.mark.slow
@needs
def test_human_ratings_of_answers_are_labels_of_another_scorers_battles(tmp_path):
    for model, answers in (("ash", "110100"), ("elm", "100000")):
        outputs = [answer_of(model, "yes" if one == "1" else "no") for one in answers]
        samples = [Sample(id=f"q{k}", input="Is it?", target="yes") for k in range(6)]
        ratings = write_ratings(
            tmp_path, {f"q{k}": float(k % 2) if model == "ash" else 0.0 for k in range(6)}
        )
        task = Task(
            samples, scorer=[match(), inspect_scorer.precomputed_scores(ratings)], name="yes_or_no"
        )
        eval(task, model=get_model("mockllm/" + model, custom_outputs=outputs), max_samples=1)
    table = podium.read_battles(
        str(tmp_path / "logs"), human_judge="yes_or_no precomputed_scores"
    ).table
    assert sorted(set(table["metric"])) == ["yes_or_no match"]
    by_item = dict(zip(table["item"], table["human"], strict=True))
    assert by_item == {f"q{k}": 1.0 if k % 2 else 0.5 for k in range(6)}


def judge_answers(folder: Any, scorers: Any, **options: Any) -> Any:
    """Run a task of six answers, which judges compare with reference responses; return its log."""
    reference = folder / "reference.jsonl"
    answers = ["one two", "One. Two.", "nothing", "1\n2", "one", "two two two"]
    rows = [
        {"id": f"q{k}", "instruction": "?", "response": answer, "model": "old"}
        for k, answer in enumerate(answers)
    ]
    reference.write_text("".join(json.dumps(row) + "\n" for row in rows))
    samples = [
        Sample(id=f"q{k}", input="Write at most one word in lower case.", target="")
        for k in range(6)
    ]
    model = get_model(
        "mockllm/new",
        custom_outputs=[answer_of("new", each) for each in [*reversed(answers), *answers]],
    )
    task = Task(samples, scorer=scorers(str(reference)), **options)
    [log] = eval(task, model=model, model_roles={"judge": "podium/offline"}, max_samples=1)
    assert log.status == "success", log.error
    return log


def credit_by(reference: str, realization: str) -> Any:
    """Return a scorer whose scores are one number, as reducers of several scorers expect it."""
    return pairwise(reference, value="credit", realization=realization)


def scores_of(log: Any, name: str) -> np.ndarray:
    """Return the values of a scorer, by sample and epoch."""
    return np.array([sample.scores[name].value for sample in log.samples], dtype=float)


@pytest.mark.slow
@needs
def test_verdicts_of_two_judges_are_units_of_krippendorffs_alpha(tmp_path):
    @scorer(metrics=[inspect_scorer.krippendorff_alpha(level="interval")])
    def jury(reference):
        return multi_scorer(
            [credit_by(reference, name) for name in ("direct", "numeric")], "collect"
        )

    log = judge_answers(tmp_path, jury)
    values = scores_of(log, "jury")
    assert values.shape == (6, 2)
    assert len({*values.ravel()}) > 1
    assert log.results.scores[0].metrics["krippendorff_alpha"].value == pytest.approx(
        interval_alpha(values)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [("mean", np.mean), ("median", np.median), ("max", np.max), ("mode", None)],
)
def test_reducers_put_the_verdicts_of_several_judges_together(tmp_path, name, expected):
    @scorer(metrics=[])
    def jury(reference):
        return multi_scorer(
            [credit_by(reference, each) for each in ("direct", "numeric", "labels")],
            name,
        )

    def judges(reference):
        return [
            jury(reference),
            *(credit_by(reference, each) for each in ("direct", "numeric", "labels")),
        ]

    log = judge_answers(tmp_path, judges)
    names = [each for each in log.samples[0].scores if each != "jury"]
    alone = np.array([scores_of(log, each) for each in names])
    assert len(names) == 3
    assert len({*alone.ravel()}) > 1
    reduced = (
        expected(alone, axis=0)
        if expected
        else [Counter(own).most_common(1)[0][0] for own in alone.T]
    )
    assert scores_of(log, "jury") == pytest.approx(reduced)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"), [("mean", np.mean), ("max", np.max), ("at_least_1", np.max)]
)
def test_reducers_put_the_verdicts_of_epochs_together(tmp_path, name, expected):
    metrics = {"credit": [mean()]}
    log = judge_answers(tmp_path, pairwise, epochs=Epochs(2, name), metrics=metrics)
    epochs = {}
    for sample in log.samples:
        epochs.setdefault(sample.id, []).append(sample.scores["pairwise"].value["credit"])
    [reduced] = [each.samples for each in read_eval_log(log.location).reductions]
    found = {each.sample_id: each.value["credit"] for each in reduced}
    values = {
        key: own if name != "at_least_1" else np.array(own) >= 1 for key, own in epochs.items()
    }
    assert found == pytest.approx({key: float(expected(own)) for key, own in values.items()})


def answer_of(model: str, text: str) -> ModelOutput:
    """Return a model's answer with its usage, which Inspect would otherwise count with a downloaded
    vocabulary."""
    output = ModelOutput.from_content(model, text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def interval_alpha(values: np.ndarray) -> float:
    """Return Krippendorff's alpha of two ratings a unit with squared differences (Krippendorff
    2011, section C)."""
    pooled = values.ravel()
    observed = np.mean((values[:, 0] - values[:, 1]) ** 2)
    expected = ((pooled[:, None] - pooled) ** 2).sum() / (len(pooled) * (len(pooled) - 1))
    return float(1 - observed / expected)
