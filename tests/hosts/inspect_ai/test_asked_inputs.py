"""Samples of one id and task must ask the same: other inputs are rejected by every command, by the
same message."""

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
)
from written_logs import build_log, invalidate, write

import podium
from podium.errors import OtherQuestionError
from podium.hosts.inspect_ai.logs.asked_inputs import Place, TaskInputs

ITEMS = [f"{k}" for k in range(1, 9)]
RED, BLUE = "data:image/png;base64,UkVE", "data:image/png;base64,Qkx1"


def log_with_inputs(model: str, inputs: dict[str, object], **options: object) -> EvalLog:
    """Return the log of a model whose samples have other inputs than their ids say, by id."""
    log = build_log(model, {item: (float(int(item) > len(model)),) for item in ITEMS}, **options)
    for sample in log.samples:
        sample.input = inputs.get(sample.id, sample.input)
    return log


def folder_of(ours: dict[str, object], theirs: dict[str, object], suffix: str = ".eval") -> str:
    """Return a folder with the logs of two models."""
    write(log_with_inputs("one", ours), suffix=suffix)
    return write(log_with_inputs("three", theirs), suffix=suffix)


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_samples_of_one_id_with_different_inputs_are_rejected(suffix):
    folder = folder_of({"3": "What is blue?"}, {"3": "What is red?"}, suffix)
    with pytest.raises(OtherQuestionError) as raised:
        podium.read_battles(folder)
    for said in (
        "sample 3",
        "made/one",
        "made/three",
        "'What is blue?'",
        "'What is red?'",
        "were asked the same",
    ):
        assert said in str(raised.value)


def test_every_command_rejects_them_with_exit_code_1_and_the_same_message(run_podium):
    folder = folder_of({"3": "What is blue?"}, {"3": "What is red?"})
    said = set()
    for words in (
        ("rank", folder),
        ("report", folder, "-o", "page.html"),
        ("diagnose", folder),
        ("replay", folder, "--tournament", "round_robin", "--ranker", "bradley-terry"),
        ("compare", "one", "three", folder),
    ):
        code, _, told = run_podium(*words)
        assert code == 1, words
        said.add(told)
    assert len(said) == 1


def test_epochs_of_one_log_with_different_inputs_are_rejected():
    log = build_log("one", dict.fromkeys(ITEMS, (1.0, 0.0)))
    log.samples[1].input = "Another question?"
    write(log)
    folder = write(build_log("two", dict.fromkeys(ITEMS, (0.0, 0.0))))
    with pytest.raises(OtherQuestionError, match="Another question"):
        podium.read_battles(folder)


@pytest.mark.slow
def test_samples_of_different_tasks_may_have_one_id():
    write(log_with_inputs("one", {}))
    write(log_with_inputs("two", {}))
    write(log_with_inputs("one", dict.fromkeys(ITEMS, "Sing!"), task="song"))
    folder = write(log_with_inputs("two", dict.fromkeys(ITEMS, "Sing!"), task="song"))
    assert len(podium.read_battles(folder).table) == 2 * len(ITEMS)


def test_the_words_of_a_message_show_where_long_inputs_differ():
    beginning = "word " * 50
    folder = folder_of({"3": f"{beginning}blue"}, {"3": f"{beginning}red"})
    with pytest.raises(OtherQuestionError, match=r"word red'\) than in .* word blue'"):
        podium.read_battles(folder)


CHAT = [
    ChatMessageUser(content="Hello."),
    ChatMessageAssistant(content="I am one."),
    ChatMessageUser(content="Why?"),
]
OTHER_CHAT = [
    ChatMessageUser(content="Hello."),
    ChatMessageAssistant(content="I am 3."),
    ChatMessageUser(content="Why?"),
]
ALIKE = {
    "outer blanks": ("What?", " What?\r\n"),
    "a text and a message": ("What?", [ChatMessageUser(content="What?")]),
    "a text and the parts of a message": (
        "a\nb",
        [ChatMessageUser(content=[ContentText(text="a"), ContentText(text="b")])],
    ),
    "system prompts": (
        "What?",
        [ChatMessageSystem(content="Be brief."), ChatMessageUser(content="What?")],
    ),
    "a model's own turns": (CHAT, OTHER_CHAT),
    "places of an image": (
        [ChatMessageUser(content=[ContentText(text="See"), ContentImage(image="/a/red.png")])],
        [ChatMessageUser(content=[ContentText(text="See"), ContentImage(image="/b/red.png")])],
    ),
    "one image": (
        [ChatMessageUser(content=[ContentText(text="See"), ContentImage(image=RED)])],
        [ChatMessageUser(content=[ContentText(text="See"), ContentImage(image=RED)])],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
@pytest.mark.parametrize("name", ALIKE)
def test_inputs_that_differ_by_nature_are_ranked_and_compared(name, suffix):
    ours, theirs = ALIKE[name]
    folder = folder_of({"3": ours}, {"3": theirs}, suffix)
    assert len(podium.read_battles(folder).table) == len(ITEMS)
    assert len(podium.compare("one", "three", folder).findings[0].results) == len(ITEMS)


OTHERS = {
    "chats with other last messages": (CHAT, [*CHAT[:2], ChatMessageUser(content="How?")]),
    "other images": (
        [ChatMessageUser(content=[ContentText(text="See"), ContentImage(image=RED)])],
        [ChatMessageUser(content=[ContentText(text="See"), ContentImage(image=BLUE)])],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_chats_and_images_that_differ_are_rejected(name):
    ours, theirs = OTHERS[name]
    with pytest.raises(OtherQuestionError):
        podium.read_battles(folder_of({"3": ours}, {"3": theirs}))


def test_an_attachment_that_a_log_does_not_hold_is_not_known(tmp_path):
    inputs = TaskInputs()
    for text, attachments in (
        ("attachment://1", {}),
        ("attachment://2", {"2": "What?"}),
        ("What?", {}),
    ):
        inputs.add("3", [{"role": "user", "content": text}], attachments, Place(tmp_path, "one"))


def test_attachments_are_compared_by_their_contents(tmp_path):
    inputs = TaskInputs()
    inputs.add("3", "What?", {}, Place(tmp_path, "one"))
    given = [{"role": "user", "content": "attachment://1"}]
    with pytest.raises(OtherQuestionError, match="'How"):
        inputs.add("3", given, {"1": "How?"}, Place(tmp_path, "two"))


def test_a_message_says_if_inputs_differ_behind_what_it_shows():
    beginning = "word " * 500
    folder = folder_of({"3": f"{beginning}blue"}, {"3": f"{beginning}red"})
    with pytest.raises(OtherQuestionError, match="differ after the first 400 characters"):
        podium.read_battles(folder)


def test_invalidated_samples_are_not_compared():
    write(invalidate(log_with_inputs("one", {"3": "Another question?"}), "3-1"))
    folder = write(log_with_inputs("three", {}))
    assert len(podium.read_battles(folder).table.dropna(subset="credit")) == len(ITEMS) - 1
