"""Names of models and judges that look the same, and names with and without a provider."""

import pytest

import podium
from podium.known_names import find_name
from podium.names import escaped_name, names_alike, seen_name
from podium.notices.notice_text import notice_texts
from podium.responses.read import read_responses
from podium.scorers.judge_record import JudgeRecord

COMPOSED = "mod\u00e9le"
DECOMPOSED = "mode\u0301le"
SPELLINGS = {
    "form": DECOMPOSED,
    "zero-width space": "mod\u200b\u00e9le",
    "non-joiner": "mod\u200c\u00e9le",
    "joiner": "mod\u200d\u00e9le",
    "word joiner": "mod\u2060\u00e9le",
    "soft hyphen": "mod\u00ad\u00e9le",
    "byte order mark": "\ufeffmod\u00e9le",
    "blank": "mod\u00e9le ",
    "all of them": " mo\u00adde\u0301\u200ble\ufeff",
}
OTHER = [pytest.param(name, id=what) for what, name in SPELLINGS.items()]


def battles(*models, judge=None, credit=1):
    """Return a row per model, against `b`, on an item of its own."""
    rows = []
    for number, model in enumerate(models):
        row = {"item": f"q{number}", "model_a": model, "model_b": "b", "credit": credit}
        rows.append(row if judge is None else row | {"judge": judge[number]})
    return rows


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("other", OTHER)
def test_two_spellings_of_one_look_are_an_error_that_shows_what_cannot_be_seen(save, other):
    path = save("battles.jsonl", battles(COMPOSED, COMPOSED, other))
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(path)
    message = str(caught.value)
    assert escaped_name(COMPOSED) in message
    assert escaped_name(other) in message
    assert "line 1)" in message
    assert "line 3)" in message
    assert "names='joined'" in message


@pytest.mark.slow
@pytest.mark.parametrize("other", OTHER)
def test_two_spellings_are_joined_by_an_option_and_named_in_one_line(podium, save, other):
    path = save("battles.jsonl", battles(COMPOSED, other))
    refused = podium("rank", path)
    assert refused.code == 1
    assert "--names joined" in refused.err
    done = podium("rank", path, "--names", "joined", "--format", "json")
    assert done.code == 0
    assert f'"model": "{COMPOSED}"' in done.out
    [line] = [line for line in done.err.splitlines() if "count as one" in line]
    assert escaped_name(other) in line
    assert "\u200b" not in line


@pytest.mark.slow
def test_the_option_says_nothing_where_no_names_are_joined(podium, save):
    done = podium("rank", save("battles.jsonl", battles("a", "c")), "--names", "joined")
    assert "count as one" not in done.err


def test_a_value_that_the_option_does_not_have_is_an_error(save):
    path = save("battles.jsonl", battles("a"))
    with pytest.raises(podium.UsageError, match="exact, joined"):
        podium.read_battles(path, names="apart")
    with pytest.raises(podium.UsageError, match="auto, global, per-category"):
        podium.read_battles(path, ids="mine")


def test_letters_of_other_scripts_stay_readable_in_the_message():
    assert escaped_name("模型\u200b") == "'模型\\u200b'"
    assert escaped_name("a'b\\") == "'a\\'b\\\\'"


def test_names_that_differ_visibly_are_two():
    assert names_alike(["gpt-4", "gpt-4o", "GPT-4", "gpt\u20114"]) == {}
    assert seen_name("  a b ") == "a b"


def test_one_judge_in_two_spellings_is_an_error_and_one_judge_if_joined(save):
    path = save("battles.jsonl", battles("a", "c", judge=["j\u00fcry", "ju\u0308ry"]))
    with pytest.raises(podium.DataError, match=r"the judges .*ju\\u0308ry"):
        podium.read_battles(path)
    assert podium.read_battles(path, names="joined").judges == ("j\u00fcry",)


def test_what_is_known_of_a_judge_is_kept_when_its_names_are_joined(save):
    rows = battles("a", "c", judge=["jury", "jury "])
    path = save("battles.jsonl", [row | {"judge_kind": "human"} for row in rows])
    assert podium.read_battles(path, names="joined").judge_of("jury").is_human


def test_a_battle_of_a_model_with_itself_is_an_error_once_its_names_are_joined(save):
    row = {"item": "q", "model_a": "a", "model_b": "a ", "credit": 1}
    path = save("battles.jsonl", [*battles("a"), row])
    with pytest.raises(podium.DataError, match=r"line 2: 'a' plays against itself"):
        podium.read_battles(path, names="joined")


def test_scores_are_joined_too(save):
    rows = [
        {"item": "q1", "model": COMPOSED, "score": 1},
        {"item": "q2", "model": DECOMPOSED, "score": 1},
        {"item": "q1", "model": "b", "score": 0},
        {"item": "q2", "model": "b", "score": 0},
    ]
    path = save("scores.jsonl", rows)
    with pytest.raises(podium.DataError, match="Unicode form"):
        podium.read_battles(path)
    assert podium.read_battles(path, names="joined").models == ("b", COMPOSED)


@pytest.mark.slow
def test_a_model_that_is_typed_in_the_other_form_is_found(podium, save):
    path = save("battles.jsonl", battles(COMPOSED, COMPOSED, COMPOSED))
    done = podium("compare", DECOMPOSED, "b", path)
    assert done.code == 0
    assert COMPOSED in done.out
    pinned = podium("rank", path, "--set", f"pin={DECOMPOSED}:1000")
    assert pinned.code == 0
    assert find_name("model", DECOMPOSED, [f"org/{COMPOSED}", "b"]) == f"org/{COMPOSED}"


@pytest.mark.slow
def test_a_condition_that_is_typed_in_the_other_form_selects_the_rows(save):
    path = save("battles.jsonl", battles(COMPOSED, "c", judge=["j\u00fcry", "other"]))
    assert len(podium.read_battles(path, where={"model_a": DECOMPOSED})) == 1
    assert len(podium.read_battles(path, where={"judge": "ju\u0308ry"})) == 1
    assert len(podium.read_battles(path, where={"judge": "other\u200b"})) == 1
    with pytest.raises(podium.UsageError, match="no row has"):
        podium.read_battles(path, where={"judge": "jury"})
    assert JudgeRecord("j", model="j\u00fcry").is_called("ju\u0308ry")


def test_a_human_judge_that_is_typed_in_the_other_form_is_found(save):
    rows = battles("a", judge=["j\u00fcry"]) + battles("a", judge=["gpt"])
    made = podium.read_battles(save("battles.jsonl", rows), human_judge="ju\u0308ry")
    assert made.judges == ("gpt",)
    assert made.table["human"].tolist() == [1.0]


@pytest.mark.slow
def test_human_labels_in_another_form_are_an_error_or_joined(podium, save):
    path = save("battles.jsonl", battles(COMPOSED, "c"))
    labels = save("labels.jsonl", battles(DECOMPOSED, "c", credit=0))
    words = ("rank", path, "--human-labels", labels)
    refused = podium(*words)
    assert refused.code == 1
    assert "mode\\u0301le" in refused.err
    done = podium(*words, "--names", "joined")
    assert "label 2 of 2 battles" in done.err


def test_responses_of_one_look_are_an_error(save):
    rows = [
        {"id": "q", "instruction": "?", "response": "x", "model": name}
        for name in (COMPOSED, DECOMPOSED)
    ]
    with pytest.raises(podium.DataError, match=r"mode\\u0301le.*mod\\xe9le|mod\\xe9le.*mode\\u03"):
        read_responses(save("answers.jsonl", rows))


def test_a_bare_name_beside_one_with_a_provider_is_warned_of_and_both_are_kept(save):
    made = podium.read_battles(save("battles.jsonl", battles("gpt-4o", "openai/gpt-4o")))
    assert made.models == ("b", "gpt-4o", "openai/gpt-4o")
    [text] = [text for text in notice_texts(made.notes) if "provider" in text]
    assert "gpt-4o and openai/gpt-4o" in text


@pytest.mark.parametrize(
    "models",
    [("openai/gpt-4o", "azure/gpt-4o"), ("openai/gpt-4o", "openrouter/openai/gpt-4o"), ("a", "c")],
)
def test_models_of_two_providers_are_two_without_a_word(save, models):
    made = podium.read_battles(save("battles.jsonl", battles(*models)))
    assert not [text for text in notice_texts(made.notes) if "provider" in text]


def test_four_providers_of_one_model_are_four_models(save):
    """diegosouzapw/OmniRoute#4517: four providers list one model under one display name."""
    names = [f"{provider}/gpt-5.5" for provider in ("gh", "cx", "zen", "api.28")]
    made = podium.read_battles(save("battles.jsonl", battles(*names)))
    assert len(made.models) == 5
    assert not [note for note in made.notes if note.code == "bare-names"]


@pytest.mark.slow
def test_a_name_with_a_mark_of_an_encoder_is_that_of_the_guide(save):
    """razzamatazm/mustarrd#290: a byte order mark, a zero-width space, or NFD in one of two lists
    keeps names from meeting."""
    for mark in ("\ufeffcaf\u00e9 HD", "caf\u00e9\u200b HD", "cafe\u0301 HD"):
        path = save("battles.jsonl", battles("caf\u00e9 HD", mark))
        with pytest.raises(podium.DataError, match="differ only"):
            podium.read_battles(path)
        assert podium.read_battles(path, names="joined").models == ("b", "caf\u00e9 HD")


def test_names_that_differ_in_case_or_separators_are_told_and_kept_apart(save):
    rows = [*battles("GPT-4o", "gpt-4o"), *battles("Claude 3", "claude-3"), *battles("m-1", "m1")]
    made = podium.read_battles(save("battles.jsonl", rows))
    assert {"GPT-4o", "gpt-4o", "Claude 3", "claude-3"} <= {*made.models}
    [note] = [note for note in made.notes if note.code == "names-in-spellings"]
    assert note.fields["names"] == ["Claude 3 and claude-3", "GPT-4o and gpt-4o"]
    assert "kept apart" in notice_texts([note])[0]
