"""Items that show images: the judge sees them in both orders, or the battle is unparsed and says
why."""

import json

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatMessageUser,
    ContentAudio,
    ContentImage,
    ContentText,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import match
from inspect_ai.solver import solver
from played_logs import battles, place, verdict_of

from podium.errors import DataError
from podium.hosts.inspect_ai.logs.judgment_rows import log_rows
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.tasks import round_robin
from podium.responses.read import read_responses

RED = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAE"
    "hQGAhKmMIQAAAABJRU5ErkJggg=="
)
SOUND = "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


@solver
def describing():
    async def solve(state, generate):
        name = str(state.model).rpartition("/")[2]
        state.output = ModelOutput.from_content(name, f"It is red, quality={len(name)}")
        state.completed = True
        return state

    return solve


@pytest.fixture
def logs():
    """Run two models on an item with an image, one with image and sound, and one of text."""
    parts = (
        [ContentImage(image=RED)],
        [ContentImage(image=RED), ContentAudio(audio=SOUND, format="wav")],
        [],
    )
    samples = [
        Sample(
            id=f"q{k}",
            input=[ChatMessageUser(content=[ContentText(text=f"What is {k}?"), *more])],
            target="red",
        )
        for k, more in enumerate(parts)
    ]
    task = Task(samples, solver=describing(), scorer=match(), name="pictures")
    return [
        str(place(log))
        for log in eval(task, model=[get_model("scripted/ash"), get_model("scripted/maple")])
    ]


@pytest.mark.slow
def test_responses_keep_the_media_of_their_item_and_say_where_they_stood(logs):
    items = read_responses(*logs, readers=(READER,)).items
    assert [item.instruction for item in items] == [
        "What is 0?\n[image 1]",
        "What is 1?\n[image 1]\n[audio 2]",
        "What is 2?",
    ]
    assert [[part["type"] for part in json.loads(item.media or "[]")] for item in items] == [
        ["image"],
        ["image", "audio"],
        [],
    ]
    assert json.loads(items[0].media)[0]["image"] == RED


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_the_judge_is_shown_media_in_both_orders(logs, play, record, pack):
    log = play(round_robin(responses=logs, pack=pack))
    assert sorted(record.media) == [
        [],
        [],
        ["image"],
        ["image"],
        ["image", "audio"],
        ["image", "audio"],
    ]
    assert (
        sum("[image 1]" in prompt and "It is data" in prompt for _, prompt in record.prompts) == 4
    )
    counts = log.results.metadata["podium"]["rankings"][0]["counts"]
    assert (counts["battles"], counts["unparsed"]) == (3, 0)


@pytest.mark.slow
def test_a_judge_that_rejects_media_leaves_those_battles_missing_with_the_reason(
    logs, play, behave
):
    behave(blind=True)
    log = play(round_robin(responses=logs))
    assert log.status == "success"
    ranking = log.results.metadata["podium"]["rankings"][0]
    assert (
        ranking["counts"]["missing"],
        ranking["counts"]["unparsed"],
        ranking["counts"]["battles"],
    ) == (2, 0, 1)
    assert any(
        "does not support image input" in own["text"] and "sees what the models saw" in own["text"]
        for own in ranking["warnings"]
    )
    rows = [row for one in battles(log) for row in verdict_of(one).metadata["podium"]["judgments"]]
    assert [row["reason"] for row in rows if row["credit"] is None] == ["media not shown"] * 4


@pytest.mark.slow
def test_a_judge_of_text_alone_rejects_media(logs, play):
    log = play(round_robin(responses=logs), "podium/offline")
    ranking = log.results.metadata["podium"]["rankings"][0]
    assert (ranking["counts"]["missing"], ranking["counts"]["unparsed"]) == (2, 0)
    with pytest.raises(DataError, match=r"no battle was judged.*media not shown.*shown text only"):
        log_rows(place(play(round_robin(responses=logs), "podium/offline", limit=2)))


@pytest.mark.slow
def test_an_error_that_may_pass_is_no_refusal(logs, play, behave):
    behave(errors=1.0)
    log = play(round_robin(responses=logs))
    assert log.status == "error"


@pytest.mark.slow
def test_media_that_a_log_does_not_hold_leave_the_responses_missing(logs, tmp_path):
    log = read_eval_log(logs[0], resolve_attachments=True)
    log.samples[0].input[0].content[1].image = "gone.png"
    log.samples[1].output.choices[0].message.content = [
        ContentText(text="Here:"),
        ContentImage(image=RED),
    ]
    from inspect_ai.log import write_eval_log

    write_eval_log(log, str(tmp_path / "other.json"), format="json")
    read = read_responses(str(tmp_path / "other.json"), readers=(READER,))
    assert read.missing == {
        "scripted/ash": {"q0": "media not in the log", "q1": "media in the response"}
    }


def test_tables_that_name_images_leave_their_responses_missing(tmp_path):
    rows = [
        {"id": "q0", "instruction": "What is it?", "response": "red", "image": "red.png"},
        {"id": "q1", "instruction": "What is 1 + 1?", "response": "2", "image": None},
    ]
    path = tmp_path / "wren.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_responses(path).missing == {"wren": {"q0": "media that are not in the file"}}
