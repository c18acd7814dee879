"""A tournament over a task of agents and a task of plain answers: each is shown as it is."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import agent_logs
import pytest
from played_logs import battles, place, verdict_of
from transcript_pieces import pieces_in

import podium
from podium.hosts.inspect_ai.judging.judge_calls import readable_judgments
from podium.hosts.inspect_ai.tasks import round_robin
from podium.plugins.catalogue import judging_settings
from podium.scorers.prompt import count_tokens

pytestmark = pytest.mark.slow
RunPodium = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Return a folder with logs of two models on a task with tools, and on one without."""
    agent_logs.write_logs(tmp_path / "runs", agent_logs.two_tools)
    return agent_logs.write_logs(tmp_path / "runs", agent_logs.only_answer, task="facts")


def responses_of(log: Any) -> dict[str, list[str]]:
    """Return the responses in a log's battles or packs, by task."""
    by_task: dict[str, list[str]] = {"weather": [], "facts": []}
    for sample in log.samples:
        about = sample.metadata
        if "item" in about:
            texts = about.get("responses") or {side: about[f"response_{side}"] for side in "ab"}
            by_task[about["item"].partition(":")[0]] += texts.values()
    return by_task


@pytest.mark.parametrize("pack", [False, True])
def test_only_the_task_of_agents_has_transcripts(
    folder: str, pack: bool, record: Any, play: Any, behave: Any
) -> None:
    log = play(round_robin(responses=folder, pack=pack), behave())
    prompts = [prompt for _, prompt in record.prompts]
    assert len(prompts) == 12
    assert sum("A transcript consists of parts" in prompt for prompt in prompts) == 6
    texts = responses_of(log)
    assert all(len(pieces_in(text)) == 6 for text in texts["weather"])
    assert {text.partition(" ")[0] for text in texts["facts"]} == {"ash", "willow"}
    [judge] = podium.read_battles(str(place(log))).judges
    assert judge.startswith("scripted/judge")


def test_the_preview_counts_rules_of_transcripts_where_there_are_some(
    folder: str, record: Any, play: Any, behave: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    play(round_robin(responses=folder, pack=False, replies="text"), behave())
    [printed] = re.findall(r"12 calls per judge, about ([\d,]+) input", capfd.readouterr().err)
    asked = sum(count_tokens(prompt) for _, prompt in record.prompts)
    assert int(printed.replace(",", "")) == pytest.approx(asked, rel=0.01)


def test_answers_beside_agents_are_preference_data(
    folder: str, play: Any, behave: Any, run_podium: RunPodium, tmp_path: Path
) -> None:
    log = play(round_robin(responses=folder), behave())
    path = tmp_path / "preferences.jsonl"
    code, _, err = run_podium("export", str(place(log)), "--to", "preference", "-o", str(path))
    assert code == 0, err
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {row["task"] for row in rows} == {"facts"}
    assert len(rows) == 3
    assert rows[0]["chosen"][0]["content"].startswith("willow answers")
    assert "withheld: 3 of agents' transcripts" in err


def test_each_task_has_the_criteria_of_its_responses(folder: str, play: Any) -> None:
    log = play(round_robin(responses=folder, realization="rubric"), "podium/offline")
    scored = {sample.metadata["item"]: verdict_of(sample).value for sample in battles(log)}
    assert len(scored) == 6
    assert all(isinstance(value, float) and value == value for value in scored.values())
    how = judging_settings(realization="rubric", transcript=True)
    assert len(readable_judgments(str(place(log)), how)) == 12


def test_a_template_that_cannot_show_answers_fails_before_the_first_call(
    folder: str, tmp_path: Path
) -> None:
    template = tmp_path / "prompt.txt"
    template.write_text(
        "{rules}\n{instruction}\n{response_a}\nif transcript: {response_b}\nA or B?\n",
        encoding="utf-8",
    )
    with pytest.raises(podium.PodiumError, match=r"slot \{response_b\} is missing"):
        round_robin(responses=folder, template=str(template), realization="direct")


def test_pairs_of_transcripts_alone_name_the_remedy(
    play: Any, behave: Any, run_podium: RunPodium, tmp_path: Path
) -> None:
    runs = agent_logs.write_logs(tmp_path / "runs", agent_logs.two_tools)
    log = play(round_robin(responses=runs), behave())
    to = ("--to", "preference", "-o", str(tmp_path / "x.jsonl"))
    code, _, err = run_podium("export", str(place(log)), *to)
    assert code == 1
    assert "withheld: 3 of agents' transcripts" in err
    assert "-T show=answer" in err
