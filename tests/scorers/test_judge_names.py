"""Short names of judges: the model, and what tells judges of one model apart."""

from dataclasses import replace

from podium.scorers.judge_names import short_judge_names
from podium.scorers.judge_record import JudgeRecord

DIRECT = JudgeRecord(
    "m/x|direct|aaaa|temperature=0",
    kind="model",
    model="m/x",
    realization="direct",
    prompt="aaaa",
    replies="auto",
    settings=(("temperature", "0"),),
)


def test_judges_of_different_models_have_the_models_names():
    other = replace(
        DIRECT, name="m/y|rubric|bbbb", model="m/y", realization="rubric", prompt="bbbb"
    )
    assert short_judge_names([DIRECT, other]) == {DIRECT.name: "m/x", other.name: "m/y"}


def test_judges_of_one_model_have_what_differs():
    rubric = replace(DIRECT, name="m/x|rubric|bbbb", realization="rubric", prompt="bbbb")
    schema = replace(DIRECT, name="m/x|direct|cccc|replies=schema", replies="schema", prompt="cccc")
    assert [*short_judge_names([DIRECT, rubric]).values()] == [
        "m/x (realization=direct)",
        "m/x (realization=rubric)",
    ]
    assert [*short_judge_names([DIRECT, schema]).values()] == [
        "m/x (replies=auto)",
        "m/x (replies=schema)",
    ]


def test_a_setting_that_one_judge_lacks_is_the_default():
    plain = replace(DIRECT, name="m/x|direct|aaaa", settings=())
    names = short_judge_names([DIRECT, plain])
    assert [*names.values()] == ["m/x (temperature=0)", "m/x (temperature=default)"]


def test_the_hash_is_shown_only_if_nothing_else_differs():
    changed = replace(DIRECT, name="m/x|direct|bbbb|temperature=0", prompt="bbbb")
    names = short_judge_names([DIRECT, changed])
    assert [*names.values()] == ["m/x (prompt=aaaa)", "m/x (prompt=bbbb)"]


def test_judges_of_files_keep_their_names_whatever_they_look_like():
    given = JudgeRecord.from_name("gpt|direct|1d2d7160a0dc")
    assert short_judge_names([given]) == {given.name: given.name}
    namesake = JudgeRecord.from_name("m/x")
    assert short_judge_names([DIRECT, namesake]) == {DIRECT.name: DIRECT.name, "m/x": "m/x"}
