"""Samples of a task are paired by what they asked. Logs that share no input are rejected by every
command, by the same message."""

from pathlib import Path

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
from podium.comparability.asked_items import AskedRun, ItemRecord, inputs_may_equal
from podium.comparability.questions import pair_questions
from podium.errors import OtherQuestionError
from podium.hosts.inspect_ai.logs.asked_inputs import AskedInputs, LogInputs, read_input
from podium.notices.notice_text import notice_texts
from podium.run_record import RunRecord

ITEMS = [f"{k}" for k in range(1, 9)]
COLORS = ("blue", "red")
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


def all_other(last: str = "?") -> dict[str, object]:
    """Return inputs that no sample has by its id."""
    return {item: f"What is red {item}{last}" for item in ITEMS}


@pytest.mark.slow
def test_unicode_forms_and_white_space_of_an_input_are_no_difference():
    ours = {item: f"Is the caf\u00e9 {item} open?" for item in ITEMS}
    theirs = {item: f" Is  the cafe\u0301\r\n{item}\u00a0open?" for item in ITEMS}
    battles = podium.read_battles(folder_of(ours, theirs))
    assert battles.counts().items == len(ITEMS)
    assert [finding.pairing for finding in battles.questions] == ["id"]


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_logs_that_share_no_input_are_rejected(suffix):
    others = all_other()
    folder = folder_of({**others, "1": "What is blue?"}, {item: f"Is it {item}?" for item in ITEMS})
    with pytest.raises(OtherQuestionError) as raised:
        podium.read_battles(folder)
    for said in (
        "sample 1",
        "made/one",
        "made/three",
        "'What is blue?'",
        "'Is it 1?'",
        "were asked the same",
        "allow='questions'",
    ):
        assert said in str(raised.value)


def test_other_questions_can_be_accepted_by_name(run_podium):
    folder = folder_of({}, all_other())
    code, out, _ = run_podium("rank", folder, "--allow", "questions")
    assert code == 0
    said = "Accepted with --allow questions: made/three has another input here"
    assert said in " ".join(out.split())


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_samples_with_shuffled_ids_are_paired_by_their_inputs(suffix, run_podium):
    turned = {item: f"Question {ITEMS[-1 - k]}?" for k, item in enumerate(ITEMS)}
    folder = folder_of({}, turned, suffix)
    battles = podium.read_battles(folder)
    table = battles.table.set_index("item")
    # Of "one", items above 3 score 1; of "three", items above 5, which are the turned ones below 4.
    assert table.loc[["1", "2", "3"], "score_b"].tolist() == [1.0] * 3
    assert table.loc[["6", "7", "8"], "score_a"].tolist() == [1.0] * 3
    assert table.loc[["6", "7", "8"], "score_b"].tolist() == [0.0] * 3
    paired = (
        "quiz: 8 ids stand for different inputs in different runs, so items are paired by input"
    )
    assert sum(paired in text for text in notice_texts(battles.notes)) == 1
    for words in (("rank", folder), ("compare", "one", "three", folder), ("diagnose", folder)):
        code, _, told = run_podium(*words)
        assert (code, told.count(paired)) == (0, 1), words
    answers = podium.compare("one", "three", folder)
    # Answers may be named by another run than scores, so identical ones are not counted.
    assert answers.unknown_answers == "items are paired by input"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_a_changed_question_is_flagged_and_not_compared(suffix):
    folder = folder_of({"3": "What is blue?"}, {"3": "What is red?"}, suffix)
    battles = podium.read_battles(folder)
    assert len(battles.table.dropna(subset="credit")) == len(ITEMS) - 1
    checks = podium.rank(battles).standings[0].checks
    [check] = [own for own in checks if own.name == "same question"]
    assert check.is_flagged
    assert set(check.models) == {"made/one", "made/three"}
    [finding] = battles.questions
    assert finding.example["item"] == "3"
    assert sorted(finding.example["inputs"].values()) == ["What is blue?", "What is red?"]


@pytest.mark.slow
def test_every_command_tells_of_a_changed_question(run_podium):
    folder = folder_of({"3": "What is blue?"}, {"3": "What is red?"})
    for words in (("rank", folder), ("compare", "one", "three", folder), ("diagnose", folder)):
        code, out, told = run_podium(*words)
        assert code == 0
        shown = " ".join((out + told).split())
        assert "uns differ in the inputs of 1 of 8 ids of quiz" in shown, words


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_the_error_names_both_logs(suffix):
    folder = folder_of({**all_other(), "1": "What is blue?"}, {}, suffix)
    with pytest.raises(OtherQuestionError) as raised:
        podium.read_battles(folder)
    assert all(f"quiz_{name}{suffix}" in str(raised.value) for name in ("one", "three"))


def test_every_command_rejects_them_with_exit_code_1_and_the_same_message(run_podium):
    folder = folder_of({}, all_other())
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
    folder = folder_of(*({item: f"{beginning}{word} {item}" for item in ITEMS} for word in COLORS))
    with pytest.raises(OtherQuestionError, match=r"word red 1'\) than in .* word blue 1'"):
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


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", OTHERS)
def test_chats_and_images_that_differ_are_other_inputs(name):
    ours, theirs = OTHERS[name]
    [finding] = podium.read_battles(folder_of({"3": ours}, {"3": theirs})).questions
    assert finding.conflicts == 1


def parts_of(given: object, attachments: dict[str, str]) -> tuple:
    """Return what is compared of an input."""
    return read_input(given, attachments)[0]


def test_an_attachment_that_a_log_does_not_hold_is_not_known():
    known = parts_of("What?", {})
    for text, attachments in (("attachment://1", {}), ("attachment://2", {"2": "What?"})):
        own = parts_of([{"role": "user", "content": text}], attachments)
        assert inputs_may_equal(own, known)


def test_attachments_are_compared_by_their_contents():
    given = [{"role": "user", "content": "attachment://1"}]
    assert not inputs_may_equal(parts_of(given, {"1": "How?"}), parts_of("What?", {}))


def test_logs_of_equal_inputs_share_the_memory_of_their_records():
    asked = AskedInputs()
    for name in "ab":
        log = LogInputs(RunRecord(name, "t", f"{name}.eval"), asked)
        for item in ITEMS:
            log.add(item, f"Question {item}?", {})
        log.finish()
    assert asked.by_log[Path("a.eval")] is asked.by_log[Path("b.eval")]


def test_a_message_says_if_inputs_differ_behind_what_it_shows():
    beginning = "word " * 500
    folder = folder_of(*({item: f"{beginning}{word} {item}" for item in ITEMS} for word in COLORS))
    with pytest.raises(OtherQuestionError, match="differs after the first 400 characters"):
        podium.read_battles(folder)


def test_a_message_claims_no_length_that_the_inputs_do_not_have():
    text = "What is in the image?"
    first, other = (
        AskedRun(RunRecord(name, "t", f"{name}.eval"), [ItemRecord("1", (5, number), text)])
        for number, name in enumerate("ab")
    )
    with pytest.raises(OtherQuestionError, match="differs in what is not shown"):
        pair_questions("t", [first, other])


def test_invalidated_samples_are_not_compared():
    write(invalidate(log_with_inputs("one", {"3": "Another question?"}), "3-1"))
    folder = write(log_with_inputs("three", {}))
    assert len(podium.read_battles(folder).table.dropna(subset="credit")) == len(ITEMS) - 1


def test_choices_in_another_order_are_the_same_question():
    own, said = read_input("Which is right?", {}, ["yes", "no"])
    turned, _ = read_input("Which is right?", {}, ["no", "yes"])
    other, _ = read_input("Which is right?", {}, ["no", "never"])
    unknown, _ = read_input("Which is right?", {}, ["no", "attachment://long"])
    assert own == turned
    assert inputs_may_equal(own, unknown)
    assert not inputs_may_equal(own, other)
    assert said == "Which is right? (yes / no)"


def folder_with_targets(ours: list[str], theirs: list[str], suffix: str, **choices: object) -> str:
    """Return a folder with the logs of two models that were scored against these targets.

    `choices` are those of each model's samples, by the model's name.
    """
    for model, targets in (("one", ours), ("three", theirs)):
        log = log_with_inputs(model, {})
        for sample, target in zip(log.samples, targets, strict=True):
            sample.target = target
            sample.choices = choices.get(model)
        folder = write(log, suffix=suffix)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_scores_against_other_targets_are_not_compared(suffix):
    ours = ["yes"] * len(ITEMS)
    folder = folder_with_targets(ours, ["no", "no", *ours[2:]], suffix)
    battles = podium.read_battles(folder)
    assert battles.counts().items == len(ITEMS) - 2
    [text] = [text for text in notice_texts(battles.notes) if "targets" in text]
    assert text.startswith("2 items of quiz have different targets in different runs")
    as_they_are = podium.read_battles(folder, allow=["questions"])
    assert as_they_are.counts().items == len(ITEMS)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_letters_of_choices_are_compared_by_the_choices(suffix):
    ours, theirs = ["A"] * len(ITEMS), ["B"] * len(ITEMS)
    same = folder_with_targets(ours, theirs, suffix, one=["red", "blue"], three=["blue", "red"])
    battles = podium.read_battles(same)
    assert battles.counts().items == len(ITEMS)
    assert not [text for text in notice_texts(battles.notes) if "targets" in text]


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_runs_without_a_common_target_are_rejected(suffix):
    choices = ["red", "blue"]
    folder = folder_with_targets(
        ["A"] * len(ITEMS), ["B"] * len(ITEMS), suffix, one=choices, three=choices
    )
    with pytest.raises(OtherQuestionError, match="no item has the same target in two runs"):
        podium.read_battles(folder)


def test_a_number_as_target_is_the_text_of_the_number():
    def hash_of(target: object) -> int | None:
        logs = AskedInputs()
        inputs = LogInputs(RunRecord("m", "quiz", "log.eval"), logs)
        inputs.add("1", "How many?", {}, (), target)
        return inputs.items["1"].target

    assert hash_of(7) == hash_of("7") == hash_of(["7", 7.0])
    assert hash_of(8) != hash_of("7")
    assert hash_of(None) is None
