"""Reasoning is no answer: what stands between a model's own marks is taken from responses and from
replies."""

import json

import pytest

from podium.errors import UsageError
from podium.notices.notice_text import notice_texts
from podium.plugins import catalogue
from podium.responses.read import read_responses
from podium.scorers.judging import Judging, dump_reply, load_reply
from podium.scorers.prompt import Settings
from podium.scorers.reasoning import REASONING_MARKS, strip_reasoning
from podium.scorers.reply import Reply, Token, Verdict

HARMONY = (
    "<|channel|>analysis<|message|>Sum.<|end|>"
    "<|start|>assistant<|channel|>final<|message|>4<|return|>"
)


@pytest.mark.parametrize(("begin", "end"), REASONING_MARKS)
def test_the_marks_of_every_family_are_known(begin: str, end: str) -> None:
    assert strip_reasoning(f"{begin}A > B, so\n\nVerdict: A{end}\n\n4") == "4"
    assert strip_reasoning(f"\n{begin}first{end}{begin}second{end}4") == "4"
    assert strip_reasoning(f"{begin}never ends, Verdict: A") == ""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a template had begun it\n</think>\n\n4", "4"),
        ("<THINK>loud</THINK>4", "4"),
        (HARMONY, "4"),
        ("<|begin_of_thought|>s<|end_of_thought|><|begin_of_solution|>4<|end_of_solution|>", "4"),
        ("<think>\n\n</think>\n\n4", "4"),
    ],
)
def test_an_answer_after_its_reasoning_is_what_is_left(text: str, answer: str) -> None:
    assert strip_reasoning(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4",
        "  4\n",
        "Reasoning models write <think> first, then </think>, then the answer.",
        "Use this:\n```\n<think>steps</think>\n```",
        "[THINKING] hard",
        "<thinkpad> is a laptop",
    ],
)
def test_an_answer_that_speaks_of_marks_stays_as_it_is(text: str) -> None:
    assert strip_reasoning(text) == text


@pytest.mark.parametrize(
    ("text", "label", "reason"),
    [
        ("<think>B looks good. Verdict: B</think>\nA", "A", None),
        ("<think>Is it A or", None, "cut off while reasoning"),
        ("It is B because\n</think>\n\nA", "A", None),
    ],
)
def test_verdicts_inside_reasoning_are_ignored(
    text: str, label: str | None, reason: str | None
) -> None:
    how = Judging(catalogue.find_realization("direct"))
    verdict = how.verdict(load_reply(dump_reply(Reply(text))), "off")
    assert (verdict.label, verdict.reason) == (label, reason)


def test_a_verdict_after_thoughts_is_softened_by_the_token_that_says_it() -> None:
    words = (
        ("<think>", {}),
        ("B", {"B": 0.9, "A": 0.1}),
        ("</think>", {}),
        ("\n", {}),
        ("A", {"A": 0.8, "B": 0.2}),
    )
    reply = Reply("".join(text for text, _ in words), tokens=tuple(Token(*word) for word in words))
    how = Judging(catalogue.find_realization("direct"))
    assert how.verdict(load_reply(dump_reply(reply)), "required").credit == pytest.approx(0.8)


def rows_of(tmp_path, name, *texts):
    path = tmp_path / f"{name}.jsonl"
    rows = [
        {"id": f"q{k}", "instruction": "Sum 2 and 2.", "response": text}
        for k, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_reasoning_is_removed_from_responses_and_counted(tmp_path) -> None:
    sources = (
        rows_of(tmp_path, "wren", "<think>2+2</think>4", "<think>2+"),
        rows_of(tmp_path, "lark", "4", "5"),
    )
    read = read_responses(*sources)
    assert read.texts == {"wren": {"q0": "4"}, "lark": {"q0": "4", "q1": "5"}}
    assert read.missing["wren"] == {"q1": "only reasoning"}
    assert notice_texts(read.notes) == (
        "2 of 4 responses begin with reasoning, which the judge is not shown (1 hold nothing "
        "else); reasoning='keep' shows it",
    )
    kept = read_responses(*sources, reasoning="keep")
    assert kept.texts["wren"] == {"q0": "<think>2+2</think>4", "q1": "<think>2+"}
    assert notice_texts(kept.notes) == ()


def test_another_word_than_strip_or_keep_is_rejected(tmp_path) -> None:
    with pytest.raises(
        UsageError, match="reasoning=hide: there is no such choice; available: strip, keep"
    ):
        read_responses(rows_of(tmp_path, "wren", "4"), reasoning="hide")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("B is longer but A is right.</think>4", "4"),
        ("B is longer but A is right.</think> Verdict: 4", "Verdict: 4"),
        ("B is longer<|end|><|start|>assistant<|channel|>final<|message|>4", "4"),
        (
            "<|start|>assistant<|channel|>analysis<|message|>B<|end|><|start|>assistant<|channel|>final<|message|>4",
            "4",
        ),
        ("<|channel|>final<|message|>4<|return|>", "4"),
        (
            "<|channel|>analysis<|message|>B<|end|><|channel|>final <|constrain|>json<|message|>4",
            "4",
        ),
        ("<|channel|>commentary<|message|>B is", ""),
        ("<|channel>thought\nB is longer.<channel|>4", "4"),
        ("analysisB is longer but A is right.assistantfinal4", "4"),
    ],
)
def test_reasoning_that_the_chat_template_began_or_that_stands_in_channels_is_no_answer(
    text: str, answer: str
) -> None:
    assert strip_reasoning(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "The tag </think> ends it.",
        "End it with `</think>`. Then answer.",
        'It ends with "I win.</think>A".',
        "Reasoning ends at this mark: </think>, and the answer begins.",
        "analysis of both: A is right",
        "The final channel, <|channel|>final<|message|>, holds the answer.",
    ],
)
def test_a_sentence_about_a_closing_mark_is_part_of_the_answer(text: str) -> None:
    assert strip_reasoning(text) == text


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("labels", "B is longer but A is right.\n</think>\n\n[[A>B]]", 1.0),
        ("direct", "B is longer, so [[B>>A]]?\n</think>\n\nA", 1.0),
        ("cot", "Verdict: B, I would say.</think>Verdict: A", 1.0),
        (
            "direct",
            "<|channel|>analysis<|message|>B wins<|end|>"
            "<|start|>assistant<|channel|>final<|message|>A",
            1.0,
        ),
        ("likert", "It is flawless? No.\n</think>\n\n[[poor]]", 2.0),
        ("numeric", "Useless? No, I would say 20.\n</think>\n\n[[90]]", 90.0),
    ],
)
def test_every_reader_reads_only_what_stands_after_the_reasoning(
    name: str, text: str, value: float
) -> None:
    one = catalogue.find_realization(name)
    said = one.read_reply(Reply(text), Settings())
    assert (said.credit if isinstance(said, Verdict) else said.score) == value
