"""Matrices of leaderboards, 0 or 1 by model and item: read either way round, and what is wrong in
them is named."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from places import ROOT

import podium
from podium.errors import DataError
from podium.notices.notice_text import notice_texts


@pytest.fixture
def matrix():
    """Return a matrix of 0 and 1, a row per item and a column per model."""
    solved = np.random.default_rng(3).random((60, 4)) < [0.3, 0.5, 0.6, 0.65]
    return pd.DataFrame(
        solved.astype(int), [f"q{k}" for k in range(60)], ["ash", "elm", "fir", "oak"]
    )


def entries_of(path):
    """Return what the ranker `mean` says of each model."""
    return podium.rank(podium.read_battles(path), "mean").standings[0].entries


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["item", "instance_id", "question_id", "task_id"])
def test_a_row_per_item(save, matrix, name):
    entries = entries_of(save("m.csv", matrix.rename_axis(name).to_csv()))
    assert {each.model: each.score for each in entries} == pytest.approx(matrix.mean().to_dict())


FACTS = {
    "reward, trial and texts": {"reward": [0.0, 1.0], "trial": [0, 0], "traj": ["a", "b"]},
    "score and latency": {"id": [1, 2], "score": [0.5, 1.0], "latency_s": [3, 2]},
    "cost and tokens": {"Cost": [0.1, 0.2], "total_tokens": [10, 20], "is_correct": [True, False]},
}


@pytest.mark.parametrize("facts", FACTS.values(), ids=FACTS)
def test_facts_of_one_models_results_are_no_models(save, facts):
    table = pd.DataFrame({"task_id": ["q1", "q2"], **facts})
    path = save("results.csv", table.to_csv(index=False))
    with pytest.raises(DataError) as refusal:
        podium.read_battles(path)
    score = next(name for name in ("reward", "score", "is_correct") if name in facts)
    named = "" if score == "score" else f",score={score}"
    command = f"`podium rank NAME={path} OTHER=FILE --columns item=task_id{named}`"
    assert f"if it has the scores of one model, label a file per model: {command}" in str(
        refusal.value
    )


def test_files_of_one_models_results_are_ranked_by_their_labels(save):
    places = []
    for name, scores in (("elm", [1.0, 1.0]), ("fir", [0.0, 1.0])):
        table = pd.DataFrame({"task_id": ["q1", "q2"], "reward": scores, "trial": [0, 0]})
        places.append(f"{name}={save(f'{name}.csv', table.to_csv(index=False))}")
    columns = {"item": "task_id", "score": "reward"}
    entries = podium.rank(podium.read_battles(*places, columns=columns), "mean").standings[0]
    assert {each.model: each.score for each in entries.entries} == {"elm": 1.0, "fir": 0.5}


def test_a_fact_beside_the_models_of_a_matrix_is_no_model(save, matrix):
    table = matrix.assign(difficulty=1.5).rename_axis("item")
    assert podium.read_battles(save("m.csv", table.to_csv())).models == ("ash", "elm", "fir", "oak")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model", "system", "submission"])
def test_a_row_per_model_is_the_same_matrix(save, matrix, name):
    turned = matrix.T.rename_axis(name).assign(org="lab")
    by_item = entries_of(save("m.csv", matrix.rename_axis("item").to_csv()))
    assert entries_of(save("t.csv", turned.to_csv())) == by_item


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Instance_ID", "Task_id"])
def test_the_name_of_the_first_column_has_any_case(save, matrix, name):
    assert entries_of(save("m.csv", matrix.rename_axis(name).to_csv())) == entries_of(
        save("n.csv", matrix.rename_axis("item").to_csv())
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["m.csv", "m.parquet", "m.jsonl"])
@pytest.mark.parametrize("turned", [False, True])
def test_true_and_false_are_1_and_0(save, matrix, tmp_path, kind, turned):
    plain = matrix.T.rename_axis("model") if turned else matrix.rename_axis("item")
    truths, path = plain.astype(bool).reset_index(), tmp_path / kind
    if kind == "m.csv":
        truths.to_csv(path, index=False)
    elif kind == "m.parquet":
        truths.to_parquet(path)
    else:
        truths.to_json(path, orient="records", lines=True)
    assert entries_of(path) == entries_of(save("n.csv", plain.to_csv()))


@pytest.mark.slow
def test_a_column_of_true_and_false_beside_scores_is_no_model(save, matrix):
    marked = matrix.rename_axis("item").assign(hard="true")
    assert len(entries_of(save("m.csv", marked.to_csv()))) == 4


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_a_column_of_true_and_false_beside_scores_is_noted(save, matrix, turned):
    mixed = (matrix.T.rename_axis("model") if turned else matrix.rename_axis("item")).astype(object)
    name = mixed.columns[-1]
    mixed[name] = mixed[name].astype(bool)
    battles = podium.read_battles(save("m.csv", mixed.to_csv()))
    assert any(f"are not read as scores: {name};" in note for note in notice_texts(battles.notes))
    alone = podium.read_battles(save("n.csv", matrix.rename_axis("item").astype(bool).to_csv()))
    assert [note.code for note in alone.notes] == ["columns-as-models"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, "problem", "Unnamed: 0"])
@pytest.mark.parametrize(("turned", "way"), [(False, "row per item"), (True, "row per model")])
def test_other_words_above_the_first_column_or_none(save, matrix, name, turned, way):
    other = (matrix.T if turned else matrix).astype(bool).rename_axis(name)
    battles = podium.read_battles(save("m.csv", other.to_csv()))
    assert podium.rank(battles).standings[0].entries == entries_of(
        save("n.csv", matrix.rename_axis("item").to_csv())
    )
    [note] = [note for note in notice_texts(battles.notes) if way in note]
    assert (
        "the first column, which has no name," in note
        if name is None
        else f"the first column ({name!r})" in note
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", [None, "Unnamed: 0"])
def test_an_index_of_pandas_beside_the_items_is_no_model(save, matrix, name):
    path = save("m.csv", matrix.rename_axis("item").reset_index().rename_axis(name).to_csv())
    assert len(entries_of(path)) == 4


def test_words_or_other_numbers_beside_an_unnamed_column_are_no_matrix(save, matrix):
    for other in ("yes", 3, 0.5):
        with pytest.raises(DataError, match="no known format"):
            podium.read_battles(save("m.csv", matrix.assign(ash=other).to_csv()))


@pytest.mark.slow
def test_missing_cells_are_counted_by_model_and_never_filled(save, matrix):
    gaps = matrix.astype(object).T.rename_axis("model")
    gaps.iloc[1, :3] = None
    ranking = podium.rank(podium.read_battles(save("m.csv", gaps.to_csv())), "mean").standings[0]
    assert {each.model: each.score for each in ranking.entries}["elm"] == pytest.approx(
        matrix["elm"].iloc[3:].mean()
    )
    assert "3 of 240 scores are missing (elm: q0, q1, q2)" in notice_texts(ranking.warnings)
    assert "models are scored on different items: elm on 57 of 60" in notice_texts(ranking.warnings)
    assert ranking.diagnostics["drop_out"] == {"unknown": "3 scores are missing"}


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["mean", "bradley-terry"])
def test_a_missing_score_is_no_unparsed_reply(save, matrix, ranker):
    gaps = matrix.rename_axis("item").astype(object).iloc[:8]
    gaps.iloc[7, 0] = None
    ranking = podium.rank(podium.read_battles(save("m.csv", gaps.to_csv())), ranker).standings[0]
    assert "1 of 32 scores is missing (ash: q7)" in notice_texts(ranking.warnings)
    assert (ranking.counts.battles, ranking.counts.unparsed, ranking.counts.missing) == (45, 0, 3)
    assert "unparsed_reasons" not in ranking.diagnostics
    assert "replies" not in " ".join([*ranking.answer, *notice_texts(ranking.warnings)])


@pytest.mark.slow
def test_means_rank_a_matrix_unless_a_ranker_is_named(podium, save, matrix):
    path = save("m.csv", matrix.rename_axis("item").to_csv())
    default, named = (
        json.loads(podium("rank", path, *more, "--format", "json").out)
        for more in ((), ("--ranker", "bradley-terry"))
    )
    assert [default["rankings"][0]["ranker"], named["rankings"][0]["ranker"]] == [
        "mean",
        "bradley-terry",
    ]
    answer = " ".join(default["rankings"][0]["answer"])
    assert "neighbouring places" in answer
    statements = "To put .* first, at least|The first place is decided by|How few items decide"
    assert re.search(statements, answer)


@pytest.mark.slow
def test_scores_of_judges_are_not_ranked_by_means_unless_asked(save):
    rows = [
        f"q{k},{model},{k % (2 + shift)},jo"
        for k in range(9)
        for shift, model in enumerate(("ash", "elm"))
    ]
    battles = podium.read_battles(save("s.csv", "\n".join(["item,model,score,judge", *rows])))
    assert battles.default_ranker == "bradley-terry"


def refusal_of(path):
    """Return the message with which a matrix is rejected."""
    with pytest.raises(DataError) as error:
        podium.read_battles(path)
    return str(error.value)


def test_what_is_wrong_is_named(save, matrix):
    text = matrix.rename_axis("item").to_csv()
    odd = matrix.rename_axis("item").astype(object)
    odd.loc["q7", "ash"] = 2
    message = refusal_of(save("odd.csv", odd.to_csv()))
    assert (
        "row 8: the score 2 of 'ash' on 'q7' is outside [0, 1], and most scores are 0 or 1"
        in message
    )
    message = refusal_of(save("twice.csv", text + "q7,0,1,1,0\n"))
    assert "row 8 and row 61: 'ash' has two scores on 'q7'" in message
    assert "column 'elm' appears twice" in refusal_of(save("same.csv", text.replace("ash", "elm")))


@pytest.mark.slow
def test_a_model_that_stands_twice_is_named(save, matrix):
    turned = matrix.T.rename_axis("model")
    with pytest.raises(DataError, match="row 2 and row 5: 'elm' has two scores on 'q0'"):
        podium.read_battles(save("m.csv", pd.concat([turned, turned.iloc[[1]]]).to_csv()))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["item", "model"])
def test_a_model_that_stands_twice_with_blanks_is_named(matrix, by):
    twice = matrix.assign(**{"ash ": matrix["ash"]})
    frame = twice.rename_axis("item") if by == "item" else twice.T.rename_axis("model")
    with pytest.raises(
        DataError,
        match=r"'ash' .* and 'ash ' .* differ only in Unicode form, invisible characters or blanks",
    ):
        podium.read_battles(frame.reset_index())


@pytest.mark.slow
def test_a_column_of_figures_among_the_items_is_named(save, matrix):
    turned = matrix.T.rename_axis("model").assign(parameters=7)
    with pytest.raises(DataError, match="the score 7 of 'ash' on 'parameters' is outside"):
        podium.read_battles(save("m.csv", turned.to_csv()))


def test_a_table_of_results_by_model_is_no_matrix(save):
    with pytest.raises(DataError, match="no known format"):
        podium.read_battles(save("r.csv", "model,size,score\nash,7,0.5\nelm,8,0.25\n"))


@pytest.mark.slow
def test_a_chain_of_scores_has_the_figures_of_all_pairs(save, matrix, monkeypatch):
    path = save("m.csv", matrix.rename_axis("item").to_csv())
    whole = podium.rank(podium.read_battles(path), "mean")
    monkeypatch.setattr("podium.data.formats.score_pairs.MOST_BATTLES", 100)
    battles = podium.read_battles(path, scores_only=True)
    assert len(battles) == 60 * 3
    chain = podium.rank(battles, "mean")
    pd.testing.assert_frame_equal(chain.to_frame(), whole.to_frame())
    assert chain.standings[0].counts.to_dict() == whole.standings[0].counts.to_dict()
    assert chain.standings[0].separation == whole.standings[0].separation


@pytest.mark.slow
def test_a_hundred_models_on_five_thousand_items_take_ten_seconds_and_a_gigabyte(tmp_path):
    solved = np.random.default_rng(0).random((5000, 100)) < np.linspace(0.3, 0.7, 100)
    path = tmp_path / "m.csv"
    pd.DataFrame(solved.astype(int), columns=[f"m{k:02d}" for k in range(100)]).rename_axis(
        "item"
    ).to_csv(path)
    code = (
        "import resource, sys; from pathlib import Path; from podium.cli.main import podium; "
        f"podium(['rank', {str(path)!r}, '--format', 'json'], standalone_mode=False); "
        "used = resource.getrusage(resource.RUSAGE_SELF); "
        # ru_maxrss would include the process that started this one.
        "peak = Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0]; "
        "print(used.ru_utime + used.ru_stime, int(peak) / 2**20, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, gigabytes = map(float, done.stderr.splitlines()[-1].split())
    assert (seconds <= 10, gigabytes <= 1) == (True, True), (
        f"{seconds:.1f} s of CPU, {gigabytes:.2f} GiB"
    )
    [standings] = json.loads(done.stdout)["rankings"]
    assert standings["counts"]["battles"] == 24_750_000
    assert all(model["rank_low"] for model in standings["models"])


def convert(folder, *results):
    """Run `examples/leaderboard/convert.py`; return the process and the table."""
    command = [
        sys.executable,
        ROOT / "examples" / "leaderboard" / "convert.py",
        *results,
        "-o",
        folder / "solved.csv",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done, pd.read_csv(
        folder / "solved.csv", index_col="item"
    ) if done.returncode == 0 else None


def write_json(place, content):
    """Write a JSON file, with its folders; return its path."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(content))
    return place


@pytest.mark.slow
def test_reports_of_swe_bench_become_a_matrix(tmp_path):
    names = ("resolved_ids", "unresolved_ids", "empty_patch_ids", "error_ids", "incomplete_ids")
    runs = {
        "ash.run": (["a", "b"], ["c"], ["d"], [], []),
        "elm.run": (["a"], [], [], ["b", "c"], ["d"]),
    }
    paths = [
        write_json(
            tmp_path / f"{run}.json", {**dict(zip(names, ids, strict=True)), "schema_version": 2}
        )
        for run, ids in runs.items()
    ]
    _, table = convert(tmp_path, *paths)
    assert table["ash.run"].to_dict() == {"a": 1, "b": 1, "c": 0, "d": 0}
    assert table["elm.run"].drop("d").to_dict() == {"a": 1, "b": 0, "c": 0}
    assert np.isnan(table.loc["d", "elm.run"])
    assert len(entries_of(tmp_path / "solved.csv")) == 2


@pytest.mark.slow
def test_submissions_to_swe_bench_become_a_matrix(tmp_path):
    found = {
        "ash": {"no_generation": ["d"], "no_logs": [], "resolved": ["a", "b"]},
        "elm": {"resolved": ["a", "c"]},
    }
    paths = [
        write_json(tmp_path / name / "results" / "results.json", content)
        for name, content in found.items()
    ]
    _, table = convert(tmp_path, paths[0], f"oak={paths[1]}")
    assert table.to_dict() == {
        "ash": {"a": 1, "b": 1, "c": 0, "d": 0},
        "oak": {"a": 1, "b": 0, "c": 1, "d": 0},
    }


@pytest.mark.slow
def test_results_of_livecodebench_become_a_matrix(tmp_path):
    found = {
        "ash": {"q1": [True, False], "q2": [True, True]},
        "elm": {"q1": [False, False], "q2": [True, False]},
    }
    paths = [
        write_json(
            tmp_path / model / "Scenario.codegeneration_2_0.2_eval_all.json",
            [
                {"question_id": q, "graded_list": own, "pass@1": sum(own) / 2}
                for q, own in graded.items()
            ],
        )
        for model, graded in found.items()
    ]
    _, table = convert(tmp_path, *paths)
    assert table.to_dict() == {"ash": {"q1": 0.5, "q2": 1}, "elm": {"q1": 0, "q2": 0.5}}
    assert len(entries_of(tmp_path / "solved.csv")) == 2


@pytest.mark.slow
def test_what_cannot_be_converted_is_named(tmp_path):
    done, _ = convert(tmp_path, write_json(tmp_path / "x.json", {"accuracy": 0.3}))
    assert (
        done.returncode,
        "x.json: not results of SWE-bench or LiveCodeBench" in done.stderr,
    ) == (2, True)
    path = write_json(tmp_path / "ash" / "results" / "results.json", {"resolved": []})
    done, _ = convert(tmp_path, path, path)
    assert (done.returncode, "two files are of ash" in done.stderr) == (2, True)
