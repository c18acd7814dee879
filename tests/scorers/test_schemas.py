"""Replies as JSON: what a schema allows, what is parsed, and what is not."""

import json
from itertools import product

import jsonschema
import pytest

from podium.errors import UsageError
from podium.scorers.direct import COT, DIRECT
from podium.scorers.judging import build_judging, dump_reply, load_reply
from podium.scorers.levels import LABELS, LIKERT, NUMERIC, labels, points
from podium.scorers.prompt import Settings, Texts
from podium.scorers.reply import Reply
from podium.scorers.reward import REWARD
from podium.scorers.rubric import CRITERIA, RUBRIC
from podium.scorers.token_probs import TOKEN_PROBS

FORMS = (DIRECT, COT, LABELS, LIKERT, NUMERIC, RUBRIC, points("points-7", 7))
SCORES = dict.fromkeys(CRITERIA, "5")


def rubric(**first):
    return json.dumps({"A": {**SCORES, **first}, "B": SCORES})


def read(realization, text, **options):
    how = build_judging(realization, replies="schema", **options)
    reply = load_reply({"text": text, "structured": True})
    return how.verdict(reply, "off") if how.is_pairwise else how.rating(reply, "off")


@pytest.mark.parametrize(
    ("realization", "text", "value"),
    [
        (DIRECT, '{"verdict": "A"}', 1.0),
        (DIRECT, ' {\n "verdict":"B"}\n', 0.0),
        (COT, '{"reasons": "Verdict: B. {\\"verdict\\": \\"B\\"}", "verdict": "A"}', 1.0),
        (COT, '{"verdict": "B"}', 0.0),
        (LABELS, '{"verdict": "A"}', 2.0),
        (LABELS, '{"verdict": "C"}', 0.0),
        (LABELS, '{"verdict": "E"}', -2.0),
        (LIKERT, '{"grade": "fair"}', 3.0),
        (NUMERIC, '{"grade": "0"}', 0.0),
        (NUMERIC, '{"grade": "100"}', 100.0),
        (RUBRIC, rubric(clarity="8"), 0.5),
        (RUBRIC, rubric(clarity="10", fluency="1"), 1 / 6),
    ],
)
def test_the_object_that_is_asked_for_is_parsed(realization, text, value):
    said = read(realization, text)
    assert said.reason is None
    got = (
        said.score
        if realization.kind == "pointwise"
        else said.credit
        if said.margin is None
        else said.margin
    )
    assert got == pytest.approx(value)


@pytest.mark.parametrize(
    ("realization", "text"),
    [
        (DIRECT, "A"),
        (DIRECT, '{"verdict": "C"}'),
        (DIRECT, '{"verdict": "a"}'),
        (DIRECT, '{"verdict": ["A"]}'),
        (DIRECT, '{"verdict": "A", "verdict": "B"}'),
        (DIRECT, '{"verdict": "A", "reasons": "none"}'),
        (DIRECT, '{"verdict": "A"} {"verdict": "A"}'),
        (DIRECT, '```json\n{"verdict": "A"}\n```'),
        (DIRECT, '[{"verdict": "A"}]'),
        (DIRECT, "[" * 100_000),
        (COT, '{"reasons": {"verdict": "A"}}'),
        (COT, '{"reasons": 3, "verdict": "A"}'),
        (LABELS, '{"verdict": "A>>B"}'),
        (LIKERT, '{"grade": "[[fair]]"}'),
        (NUMERIC, '{"grade": 50}'),
        (NUMERIC, '{"grade": "101"}'),
        (NUMERIC, '{"grade": NaN}'),
        (RUBRIC, rubric(clarity="11")),
        (RUBRIC, json.dumps({"A": SCORES})),
        (RUBRIC, json.dumps({"A": SCORES, "B": SCORES, "C": SCORES})),
    ],
)
def test_anything_else_is_unparsed(realization, text):
    assert read(realization, text).reason == "bad JSON"


def test_a_tie_is_allowed_only_where_the_run_allows_it():
    assert read(DIRECT, '{"verdict": "C"}', tie=True).credit == 0.5
    assert DIRECT.form.schema(Settings(tie=True))["properties"]["verdict"]["enum"] == [
        "A",
        "B",
        "C",
    ]


def test_a_reply_that_was_cut_off_is_never_parsed():
    how = build_judging(COT, replies="schema")
    assert (
        how.verdict(Reply('{"verdict": "A"}', truncated=True, structured=True), "off").reason
        == "truncated"
    )


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("realization", FORMS, ids=lambda one: one.name)
def test_what_is_parsed_is_what_the_schema_allows(realization):
    """Compare with jsonschema on all objects that replace one value of a valid one."""
    schema = realization.form.schema(Settings())
    schema_brief = realization.form.schema(Settings(), brief=True)
    texts = ["A", "B", "C", "E", "fair", "5", "0", "100", "10", "7", 5, None, [], {}, True]
    names = ["verdict", "grade", "reasons", "A"]
    objects = [{one: text} for one, text in product(names, texts)]
    objects += [{"reasons": text, "verdict": other} for text, other in product(texts, texts)]
    objects += [{"A": {**SCORES, "clarity": text}, "B": SCORES} for text in texts]
    parsed = 0
    for each in objects:
        allowed = any(
            jsonschema.Draft202012Validator(one).is_valid(each) for one in (schema, schema_brief)
        )
        assert (read(realization, json.dumps(each)).reason is None) == allowed, each
        parsed += allowed
    assert parsed


@pytest.mark.parametrize("realization", FORMS, ids=lambda one: one.name)
def test_the_prompt_shows_the_object_after_all_texts(realization):
    how = build_judging(realization, replies="schema")
    texts = Texts("Say hello.", ("hello", "hi")[: 2 if how.is_pairwise else 1])
    prompt = how.schema_prompt(texts)
    assert prompt.startswith(how.prompt(texts).rstrip())
    assert '"verdict"' in prompt or '"grade"' in prompt or '"adherence"' in prompt


def test_reasons_come_before_the_verdict_and_can_be_left_out():
    assert list(COT.form.schema(Settings())["properties"]) == ["reasons", "verdict"]
    assert list(COT.form.schema(Settings(), brief=True)["properties"]) == ["verdict"]


def test_a_structured_reply_is_kept_as_it_came():
    reply = Reply('{"reasons": "<think>", "verdict": "A"}', structured=True)
    assert load_reply(dump_reply(reply)) == reply


def test_another_way_of_asking_is_another_judge():
    judges = [build_judging(DIRECT, replies=way).judge("gpt") for way in ("auto", "schema", "text")]
    assert len({judge.name for judge in judges}) == 3
    assert build_judging(DIRECT).judge("gpt") in judges
    assert [judge.replies for judge in judges] == ["schema-first", "schema", "text"]


def test_labels_without_enough_letters_have_no_form():
    assert labels("labels-29", {f"L{k}": str(k) for k in range(29)}).form is None


@pytest.mark.parametrize("realization", [TOKEN_PROBS, REWARD], ids=lambda one: one.name)
def test_a_realization_without_a_form_rejects_the_schema(realization):
    with pytest.raises(UsageError, match=r"replies=schema: the realization .* has no JSON form"):
        build_judging(realization, replies="schema")


def test_options_that_exclude_each_other_are_rejected():
    with pytest.raises(UsageError, match=r"logprobs=required: .* rubric has no letters to weigh$"):
        build_judging(RUBRIC, replies="schema", logprobs="required")
    with pytest.raises(
        UsageError, match="labels has no letters to weigh in text; add replies=schema"
    ):
        build_judging(LABELS, logprobs="required")
    with pytest.raises(
        UsageError, match="replies=json: there is no such choice; available: auto, schema, text"
    ):
        build_judging(DIRECT, replies="json")


def test_a_template_in_another_encoding_is_named(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes("Größer {instruction}".encode("latin-1"))
    with pytest.raises(UsageError, match=r"mine.txt' is not UTF-8"):
        build_judging(COT, template=str(path))
