"""podium export: metrics and tournaments of Inspect's logs, and preference data of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import agent_logs
import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import match
from inspect_ai.solver import solver
from made_logs import RIGHT, write_quiz
from played_logs import ITEMS, MODELS, battles, by_hand, credit_of, place
from written_logs import build_log, write

from podium.hosts.inspect_ai.tasks import round_robin

RunPodium = Callable[..., tuple[int, str, str]]
RED = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAE"
    "hQGAhKmMIQAAAABJRU5ErkJggg=="
)


def records_of(run_podium: RunPodium, folder: Path, *words: str) -> dict[str, dict[str, Any]]:
    """Rank sources (or take a ranking) and export it; return the only result of each model."""
    ranking = Path(words[0])
    if ranking.suffix not in (".json", ".ranking"):
        ranking = folder / "rn.json"
        run_podium("rank", *words, "-o", str(ranking))
    to = ("--to", "every-eval-ever", "-o", str(folder / "eee"))
    code, _, err = run_podium("export", str(ranking), *to)
    assert code == 0, err
    results = {}
    for path in (folder / "eee").rglob("*.json"):
        record = json.loads(path.read_text())
        [results[record["model_info"]["name"]]] = record["evaluation_results"]
    return results


def preferences_of(
    run_podium: RunPodium, folder: Path, *words: str
) -> tuple[list[dict[str, Any]], str]:
    """Export preference data; return the rows and what was said."""
    path = folder / "preferences.jsonl"
    path.unlink(missing_ok=True)
    code, _, err = run_podium("export", *words, "--to", "preference", "-o", str(path))
    assert code in (0, 3), err
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()], err


@pytest.mark.slow
def test_the_accuracy_of_a_log_is_exported_with_task_and_scorer(
    run_podium: RunPodium, tmp_path: Path
) -> None:
    for model, right in RIGHT.items():
        write_quiz(tmp_path, model, right)
    results = records_of(run_podium, tmp_path, str(tmp_path))
    assert {name: result["score_details"]["score"] for name, result in results.items()} == {
        model: pytest.approx(right / 12) for model, right in RIGHT.items()
    }
    result = results["lab/good"]
    metric = result["metric_config"]
    assert (result["evaluation_name"], metric["metric_id"]) == ("quiz", "accuracy")
    assert metric["evaluation_description"] == "accuracy (scorer match) of quiz: mean over items"
    assert metric["metric_parameters"] == {"aggregation": "mean", "scorer": "match"}


def test_an_error_rate_of_a_log_is_exported_as_the_log_has_it(
    run_podium: RunPodium, tmp_path: Path
) -> None:
    folder = ""
    for model, score in (("good", 0.1), ("bad", 0.4)):
        scores = {f"q{k}": ({"wer": score + k / 100},) for k in range(6)}
        log = build_log(model, scores, status="cancelled").model_copy(update={"status": "success"})
        folder = write(log)
    results = records_of(run_podium, tmp_path, folder)
    metric = results["made/good"]["metric_config"]
    assert (metric["metric_name"], metric["lower_is_better"]) == ("wer", True)
    assert results["made/good"]["score_details"]["score"] == pytest.approx(0.125)
    assert results["made/bad"]["score_details"]["score"] == pytest.approx(0.425)
    assert results["made/good"]["score_details"]["details"]["rank"] == "1"


@pytest.mark.slow
def test_a_tournament_of_logs_has_the_task_of_its_responses(
    play: Any, behave: Any, run_podium: RunPodium, tmp_path: Path
) -> None:
    folder = agent_logs.write_logs(tmp_path / "runs", agent_logs.only_answer, items=12)
    play(round_robin(responses=folder), behave())
    [ranking] = (tmp_path / "logs").glob("*.ranking")
    results = records_of(run_podium, tmp_path, str(ranking))
    result = results["mockllm/willow"]
    assert (result["evaluation_name"], result["source_data"]["dataset_name"]) == (
        "weather",
        "weather",
    )
    metric = result["metric_config"]
    assert (metric["metric_id"], metric["lower_is_better"]) == ("podium.bradley_terry", False)
    assert metric["llm_scoring"]["judges"][0]["model_info"]["name"].startswith("scripted/judge")
    assert "agents" not in preferences_of(run_podium, tmp_path, str(tmp_path / "logs"))[1]


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_a_tournament_is_a_preference_set_with_the_verdicts_worked_out_by_hand(
    play: Any, behave: Any, write_responses: Any, run_podium: RunPodium, tmp_path: Path, pack: bool
) -> None:
    log = play(round_robin(responses=write_responses(), pack=pack), behave())
    rows, said = preferences_of(run_podium, tmp_path, str(place(log)), "--flips", "--ties")
    names = sorted(MODELS)
    pairings = [
        (f"q{k}", a, b) for k in range(ITEMS) for n, a in enumerate(names) for b in names[n + 1 :]
    ]
    table = by_hand(pairings)
    credits = table.groupby(["item", "model_a", "model_b"]).credit.mean()
    assert len(rows) == len(credits)
    assert f"wrote {len(rows)} of {len(rows)} pairs" in said
    for row in rows:
        first, second = sorted((row["chosen_model"], row["rejected_model"]))
        credit = credits[row["item"], first, second]
        earned = credit if row["chosen_model"] == first else 1 - credit
        assert row["credit"] == pytest.approx(earned)
        assert row["credit"] >= 0.5
        number = row["item"][1:]
        assert row["prompt"] == [{"role": "user", "content": f"Question {number}?"}]
        assert row["chosen"][0]["content"].startswith(f"answer {number} quality=")
        assert row["judge"].startswith("scripted/judge|direct")
    kept, said = preferences_of(run_podium, tmp_path, str(place(log)))
    flips = [row for row in rows if row["order_agreement"] == "flip"]
    assert flips
    assert len(kept) <= len(rows) - len(flips)
    assert all(row["order_agreement"] != "flip" for row in kept)
    assert f"{len(flips)} flips" in said


@pytest.mark.slow
def test_logs_of_two_tasks_with_the_same_ids_keep_their_own_texts(
    play: Any, behave: Any, run_podium: RunPodium, tmp_path: Path
) -> None:
    for task in ("east", "west"):

        @solver
        def answering(name: str, task: str = task) -> Any:
            async def solve(state: Any, generate: Any) -> Any:
                text = f"{name} on {state.sample_id} in the {task}, quality={len(name)}"
                state.output = ModelOutput.from_content(name, text)
                return state

            return solve

        for name in ("ash", "willow"):
            samples = [Sample(id=f"q{k}", input=f"What is {k} in the {task}?") for k in range(3)]
            own = Task(samples, solver=answering(name), name=task)
            eval(own, model=f"mockllm/{name}", log_dir=str(tmp_path / task), display="none")
        play(round_robin(responses=str(tmp_path / task)), behave(), log_dir=str(tmp_path / "both"))
    rows, _ = preferences_of(run_podium, tmp_path, str(tmp_path / "both"))
    assert {row["task"] for row in rows} == {"east", "west"}
    assert len(rows) == 6
    for row in rows:
        assert row["item"].startswith(f"{row['task']}:")
        texts = (row["prompt"][0]["content"], row["chosen"][0]["content"])
        assert all(f"in the {row['task']}" in text for text in texts)


@pytest.mark.slow
def test_a_jury_has_a_row_per_judge_and_one_in_all_when_pooled(
    play: Any, behave: Any, write_responses: Any, run_podium: RunPodium, tmp_path: Path
) -> None:
    judges = [behave("fair", bias=0.0), behave("first", bias=2.0)]
    log = play(round_robin(responses=write_responses()), judges)
    every = ("--flips", "--ties")
    each, _ = preferences_of(run_podium, tmp_path, str(place(log)), *every)
    pooled, _ = preferences_of(run_podium, tmp_path, str(place(log)), *every, "--pool")
    assert len(each) == 2 * len(pooled)
    credit: dict[tuple[str, ...], list[float]] = {}
    for row in each:
        first, second = sorted((row["chosen_model"], row["rejected_model"]))
        earned = row["credit"] if row["chosen_model"] == first else 1 - row["credit"]
        credit.setdefault((row["item"], first, second), []).append(earned)
    for row in pooled:
        first, second = sorted((row["chosen_model"], row["rejected_model"]))
        mean = sum(credit[row["item"], first, second]) / 2
        assert row["credit"] == pytest.approx(max(mean, 1 - mean))
        assert len(row["judge"].split(", ")) == 2


@pytest.mark.slow
def test_a_pooled_jury_has_the_credit_of_its_own_rule(
    play: Any, behave: Any, write_responses: Any, run_podium: RunPodium, tmp_path: Path
) -> None:
    judges = [behave("fair", bias=0.0), behave("first", bias=2.0), behave("last", bias=-2.0)]
    log = play(round_robin(responses=write_responses(items=3), rule="majority"), judges)
    every = ("--flips", "--ties", "--pool")
    pooled, _ = preferences_of(run_podium, tmp_path, str(place(log)), *every)
    values = {
        (sample.metadata["item"], sample.metadata["model_a"], sample.metadata["model_b"]): (
            credit_of(sample)
        )
        for sample in battles(log)
    }
    assert len(pooled) == len(values)
    assert {row["credit"] for row in pooled} <= {0.5, 1.0}
    for row in pooled:
        first, second = sorted((row["chosen_model"], row["rejected_model"]))
        value = values[row["item"], first, second]
        assert row["credit"] == max(value, 1 - value)


@pytest.mark.slow
def test_transcripts_of_agents_are_withheld(
    play: Any, behave: Any, run_podium: RunPodium, tmp_path: Path
) -> None:
    folder = agent_logs.write_logs(tmp_path / "runs", agent_logs.two_tools)
    log = play(round_robin(responses=folder, show="transcript"), behave())
    to = ("--to", "preference", "-o", str(tmp_path / "x.jsonl"))
    code, _, err = run_podium("export", str(place(log)), *to)
    assert code == 1
    assert "withheld: 3 of agents' transcripts" in err


@pytest.mark.slow
def test_media_are_withheld_and_system_prompts_kept(
    play: Any, behave: Any, run_podium: RunPodium, tmp_path: Path
) -> None:
    @solver
    def describing() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            name = str(state.model).rpartition("/")[2]
            state.output = ModelOutput.from_content(name, f"Red, quality={len(name)}")
            return state

        return solve

    shown = {"text": [], "picture": [ContentImage(image=RED)]}
    samples = [
        Sample(
            id=name,
            input=[
                ChatMessageSystem(content="Be brief."),
                ChatMessageUser(content=[ContentText(text=f"Which {name}?"), *more]),
            ],
            target="red",
        )
        for name, more in shown.items()
    ]
    task = Task(samples, solver=describing(), scorer=match(), name="pictures")
    models = [get_model("scripted/ash"), get_model("scripted/maple")]
    logs = [str(place(log)) for log in eval(task, model=models, display="none")]
    played = play(round_robin(responses=logs), behave())
    [row], said = preferences_of(run_podium, tmp_path, str(place(played)))
    assert row["item"] == "text"
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert row["prompt"][0]["content"] == "Be brief."
    assert row["chosen_model"] == "scripted/maple"
    assert "withheld: 1 with images or other media" in said
