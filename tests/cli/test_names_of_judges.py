"""Names of judges of every form in every command: a name is shown, and nothing is read from it."""

import json
from pathlib import Path

import pandas as pd
import pytest

import podium as podium_package
from podium.scorers.judge_record import JudgeRecord

NAMES = [
    "gpt-4 Turbo likert",
    "org/model/with/slashes",
    "a:b::c",
    "gpt-x|rubric|3fa9c0de1122|temperature=0",
    "||",
    "人工 | 审判/模型: 7",
    "=HYPERLINK(1)",
]
RECORD = JudgeRecord(
    "x", "model", "人/模型|7", "模型|7", "rubric", "3fa9c0de1122", "auto", (("a", "|,="),)
)


def battles_of(judge: str, **more: object) -> pd.DataFrame:
    """Return the battles of three models, one of them called like a judge, in both orders."""
    rows = []
    for k in range(24):
        for n, (a, b) in enumerate((("ash", "elm"), ("elm", "gpt-x"), ("ash", "gpt-x"))):
            for order in ("ab", "ba"):
                row = {"item": f"q{k}", "model_a": a, "model_b": b, "order": order}
                credit = float((k + n + (order == "ba")) % 3 > 0)
                rows.append({**row, "credit": credit, "judge": judge, **more})
    return pd.DataFrame(rows)


@pytest.fixture(params=NAMES)
def named(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """Return a judge's name, and a table of its verdicts."""
    path = tmp_path / "verdicts.csv"
    battles_of(request.param).to_csv(path, index=False)
    return request.param, path


@pytest.mark.fast_cases(3)
def test_a_ranking_and_its_export_name_the_judge_as_it_is(podium, named, tmp_path) -> None:
    name, path = named
    ranking = tmp_path / "ranking.json"
    assert podium("rank", path, "-o", ranking).code == 0
    provenance = json.loads(ranking.read_text())["provenance"]
    assert (provenance["judges"], "judge_records" in provenance) == ([name], False)
    out = tmp_path / "out"
    assert podium("export", ranking, "--to", "every-eval-ever", "-o", out).code == 0
    [record, *_] = [json.loads(file.read_text()) for file in out.rglob("*.json")]
    config = record["evaluation_results"][0]["metric_config"]
    assert json.loads(config["additional_details"]["judges"]) == [name]
    assert "llm_scoring" not in config


@pytest.mark.slow
def test_a_judge_card_names_the_judge_as_it_is(podium, named) -> None:
    name, path = named
    card = json.loads(podium("diagnose", path, "--format", "json").out)["cards"][0]
    assert (card["judge"], card["realization"]) == (name, None)


@pytest.mark.slow
def test_comparisons_replays_and_pages_take_every_name(podium, named, tmp_path) -> None:
    name, path = named
    assert podium("compare", "ash", "elm", path).code == 0
    assert podium("compare", "ash", "elm", path, "--where", f"judge={name}").code == 0
    assert podium("replay", path, "--tournament", "round_robin").code == 0
    page = tmp_path / "page.html"
    assert podium("report", path, "-o", page).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_what_is_known_of_a_judge_survives_a_conversion(podium, tmp_path, suffix) -> None:
    source, again, last = (tmp_path / f"{name}.{suffix}" for name in ("one", "two", "three"))
    asked = {f"judge_{fact}": text for fact, text in RECORD.to_json().items() if fact != "settings"}
    frame = pd.concat(
        [
            battles_of("x", **asked, judge_settings=json.dumps(dict(RECORD.settings))),
            battles_of("gpt-x", judge_kind="human"),
        ]
    )
    frame.to_csv(tmp_path / "source.csv", index=False)
    assert podium("convert", tmp_path / "source.csv", "-o", source).code == 0
    assert podium("convert", source, "-o", again).code == 0
    assert podium("convert", again, "--merge", "-o", last).code == 0
    for path in (source, again, last):
        battles = podium_package.read_battles(path)
        assert (battles.judge_of("x"), battles.judge_of("gpt-x")) == (
            RECORD,
            JudgeRecord("gpt-x", "human"),
        )


def test_a_table_with_names_alone_gets_no_columns_that_describe_judges(podium, tmp_path) -> None:
    source, written = tmp_path / "one.csv", tmp_path / "two.csv"
    battles_of("gpt-x|rubric|3fa9c0de1122").to_csv(source, index=False)
    podium("convert", source, "-o", written)
    assert not [name for name in pd.read_csv(written) if name.startswith("judge_")]
    battles = podium_package.read_battles(written)
    assert battles.judge_of("gpt-x|rubric|3fa9c0de1122").realization is None


@pytest.mark.slow
def test_a_human_called_like_a_model_judges_nothing_of_its_own(podium, tmp_path) -> None:
    path = tmp_path / "votes.csv"
    battles_of("gpt-x").to_csv(path, index=False)
    assert "judges itself" in podium("rank", path).err
    battles_of("gpt-x", judge_kind="human").to_csv(path, index=False)
    assert "judges itself" not in podium("rank", path).err
    card = json.loads(podium("diagnose", path, "--format", "json").out)["cards"][0]
    assert card["judge"] == "gpt-x"


@pytest.mark.slow
def test_a_judge_is_selected_by_its_model_or_by_its_model_without_provider() -> None:
    frame = pd.concat(
        [
            battles_of("first", judge_model="openai/gpt-4 x", judge_model_name="gpt-4 x"),
            battles_of("second", judge_model="a|b:c"),
        ]
    )
    for word, name in (("gpt-4 x", "first"), ("openai/gpt-4 x", "first"), ("a|b:c", "second")):
        assert podium_package.read_battles(frame, where={"judge": word}).judges == (name,)
    with pytest.raises(podium_package.UsageError, match="no row has judge='b:c'"):
        podium_package.read_battles(frame, where={"judge": "b:c"})


def test_judges_that_two_files_describe_differently_are_known_by_name_alone() -> None:
    frames = [battles_of("x", judge_model=model, source=model) for model in ("one", "two")]
    battles = podium_package.read_battles(*frames)
    assert battles.judge_of("x") == JudgeRecord("x")


def test_cells_that_describe_no_judge_are_ignored() -> None:
    frame = battles_of("x", judge_kind="committee")
    assert podium_package.read_battles(frame).judge_of("x") == JudgeRecord.from_name("x")


HASH = "1d2d7160a0dc"


def two_asked_judges(path: Path, **second: str) -> Path:
    """Write the verdicts of two judges that podium asked, which differ as `second` says."""
    frames = []
    for k, own in enumerate(({}, second)):
        facts = {"model": "lab/m", "realization": "direct", "replies": "auto", **own}
        name = "|".join((facts["model"], facts["realization"], f"{HASH}{k}", facts["replies"]))
        columns = {f"judge_{fact}": value for fact, value in facts.items()}
        frames.append(battles_of(name, judge_kind="model", judge_prompt=f"{HASH}{k}", **columns))
    pd.concat(frames).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_people_read_short_names_of_judges_in_every_command(podium, tmp_path) -> None:
    path = two_asked_judges(tmp_path / "v.csv", model="lab/n")
    page = tmp_path / "page.html"
    outputs = [
        podium("rank", path),
        podium("rank", path, "--by", "judge"),
        podium("rank", path, "--ranker", "judge-aware"),
        podium("diagnose", path),
        podium("diagnose", path, "--full"),
        podium("compare", "ash", "elm", path),
        podium("report", path, "--by", "judge", "-o", page),
    ]
    for output in outputs:
        assert HASH not in output.out + output.err
    assert HASH not in page.read_text(encoding="utf-8")
    assert "verdicts of 2 judges in one table (lab/m, lab/n)" in outputs[0].err
    assert "bradley-terry [lab/m]" in outputs[1].out
    assert outputs[1].out.startswith("On lab/m: ")


@pytest.mark.slow
def test_json_keeps_the_whole_name_of_a_judge_and_its_sentences_the_short_one(
    podium, tmp_path
) -> None:
    path = two_asked_judges(tmp_path / "v.csv", model="lab/n")
    document = json.loads(podium("rank", path, "--by", "judge", "--format", "json").out)
    first = document["rankings"][0]
    assert first["slice"] == f"lab/m|direct|{HASH}0|auto"
    assert first["slice_label"] == "lab/m"
    for each in document["rankings"]:
        assert HASH not in json.dumps([each["answer"], each["warnings"], each["checks"]])


def test_a_short_name_selects_its_judge(podium, tmp_path) -> None:
    path = two_asked_judges(tmp_path / "v.csv", replies="schema")
    error = podium("rank", path).err
    assert "lab/m (replies=auto), lab/m (replies=schema)" in error
    battles = podium_package.read_battles(path, where={"judge": "lab/m (replies=schema)"})
    assert battles.judges == (f"lab/m|direct|{HASH}1|schema",)
