"""Runs of one model that were given without options: what is compared, or which command does it."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from asked_runs import simple_run, write_inspect_log, write_lm_eval_run

from podium.data.formats.run_folders import FiledRun, choose_runs, find_repeats

ITEMS = 30
GOOD = [1.0] * 20 + [0.0] * 10
FAIR = [1.0] * 10 + [0.0] * 20


@pytest.mark.slow
def test_two_equal_runs_are_named_with_the_command_that_compares_them(podium, tmp_path):
    one = write_inspect_log(simple_run("lab/a", GOOD), tmp_path)
    two = write_inspect_log(replace(simple_run("lab/a", FAIR), day=1), tmp_path)
    told = podium("rank", tmp_path)
    assert (told.code, told.out) == (1, "")
    assert "lab/a was run 2 times on quiz" in told.err
    assert f"`podium compare {one} {two}`" in told.err


def test_two_equal_runs_of_lm_eval_are_named_with_the_command_too(podium, tmp_path):
    for day, scores in enumerate((GOOD, FAIR)):
        write_lm_eval_run([replace(simple_run("lab/a", scores), day=day)], tmp_path)
    told = podium("rank", tmp_path)
    assert told.code == 1
    assert "lab/a was run 2 times on quiz" in told.err
    assert "compare two runs of lab/a with `podium compare " in told.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "write", [write_inspect_log, lambda run, path: write_lm_eval_run([run], path)]
)
def test_two_runs_on_two_tasks_each_are_named_with_the_command_too(podium, tmp_path, write):
    for day, scores in enumerate((GOOD, FAIR)):
        for task in ("quiz", "quiz2"):
            write(replace(simple_run("lab/a", scores, task=task), day=day), tmp_path)
    told = podium("rank", tmp_path)
    assert told.code == 1
    assert "lab/a was run several times on each of 2 tasks" in told.err
    assert "compare two runs of lab/a with `podium compare " in told.err


def test_runs_of_two_tasks_are_said_to_be_of_two_tasks(podium, tmp_path):
    one = write_inspect_log(simple_run("lab/a", GOOD), tmp_path)
    two = write_inspect_log(simple_run("lab/a", FAIR, task="quiz2"), tmp_path)
    compared = podium("compare", one, two)
    assert compared.code == 2
    assert "both are runs of lab/a, on quiz and on quiz2" in compared.err
    ranked = podium("rank", tmp_path)
    assert ranked.code == 1
    assert "its runs are of the tasks quiz and quiz2" in ranked.err


@pytest.mark.slow
def test_of_three_files_the_commands_that_take_them_are_named(podium, tmp_path):
    paths = []
    for style in ("plain", "formal", "poem"):
        paths.append(write_inspect_log(simple_run("lab/a", GOOD, style=style), tmp_path / style))
    told = podium("compare", *paths)
    assert told.code == 2
    assert "`podium rank " in told.err
    assert "--baseline NAME" in told.err
    ranking = json.loads(podium("rank", *paths, "--format", "json").out)["rankings"][0]
    assert {one["model"] for one in ranking["models"]} == {
        "lab/a (style=plain)",
        "lab/a (style=formal)",
        "lab/a (style=poem)",
    }


@pytest.mark.slow
def test_what_the_user_accepts_is_told_once(podium, tmp_path):
    write_inspect_log(simple_run("lab/a", GOOD), tmp_path)
    run = simple_run("lab/b", FAIR)
    other = tuple(f"Prove {7 * k + 100}." for k in range(ITEMS))
    write_inspect_log(replace(run, inputs=other), tmp_path)
    for words in (("rank", tmp_path), ("compare", "lab/a", "lab/b", tmp_path)):
        told = podium(*words, "--allow", "questions")
        said = told.out + told.err
        assert said.count("Accepted with --allow questions") == 1
        assert said.count("another input here") == 1


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("solver", ["generate", "system_message + generate"])
def test_a_prompt_that_an_argument_makes_is_told_with_the_argument(podium, tmp_path, solver):
    """A system instruction of a solver is one, too; that of the command line is told apart."""
    for model, style, scores in (("a", "plain", GOOD), ("b", "brief", FAIR)):
        run = simple_run(f"lab/{model}", scores, style=style, system=f"Be {style}.", solver=solver)
        write_inspect_log(run, tmp_path)
    said = " ".join(podium("rank", tmp_path).out.split())
    values = "style of quiz: brief (lab/b), plain (lab/a)"
    if solver == "generate":
        assert "system instruction of quiz: Be brief. (lab/b)" in said
        assert values in said
    else:
        assert f"{values}, and with it the system instruction" in said
        assert "Be brief." not in said


def test_only_the_family_of_the_judge_is_said_to_be_unknown(podium, save):
    rows = []
    for k in range(40):
        row = {"item": k, "model_a": "gpt-4o", "model_b": "claude-3", "credit": k % 2, "judge": "j"}
        rows.append(row)
    said = " ".join(podium("rank", save("votes.jsonl", rows)).out.split())
    assert "own family (the family of j is not known)" in said


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_inspect_log, lambda run, to: write_lm_eval_run([run], to)])
@pytest.mark.parametrize("asked", ["Kindly answer me: What is {}?", "Name river {}."])
def test_the_command_for_runs_with_other_inputs_works_as_it_is_printed(
    podium, tmp_path, write, asked
):
    place = tmp_path / "two prompts"
    first = simple_run("lab/a", GOOD)
    inputs = tuple(asked.format(k) for k in range(ITEMS))
    write(first, place)
    write(replace(simple_run("lab/a", FAIR), inputs=inputs, day=1), place)
    told = podium("rank", place)
    assert told.code == 1
    [command] = re.findall("`podium (compare [^`]*)`", told.err)
    assert command.endswith(" --allow questions")
    answer = podium(*shlex.split(command))
    assert answer.code == 0, answer.err
    assert answer.out.startswith("lab/a (2026-01-01T00")


@pytest.mark.parametrize(
    ("header", "proposed"),
    [
        (("question_id", "model", "accuracy"), "--columns item=question_id,score=accuracy"),
        (("id", "engine", "points"), "--columns item=id,model=engine,score=points"),
        (("item", "score"), "--columns 'model=?'"),
        (("id", "left", "right", "vote"), "item=id,model_a=left,model_b=right,credit=vote"),
    ],
)
def test_columns_of_scores_are_proposed_for_tables_of_scores(podium, tmp_path, header, proposed):
    path = tmp_path / "table.csv"
    rows = [(1, "a", 1, "a"), (1, "b", 0, "b"), (2, "a", 0, "a"), (2, "b", 1, "b")]
    lines = [",".join(map(str, row[: len(header)])) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n")
    told = podium("rank", path)
    assert told.code == 1
    assert proposed in told.err
    if "?" not in proposed and "vote" not in header:
        option = told.err.partition("--columns ")[2].partition(";")[0]
        assert podium("rank", path, "--columns", option).code == 0


def test_runs_of_one_model_are_told_before_that_there_is_no_other(podium, tmp_path):
    for day, scores in enumerate((GOOD, FAIR)):
        write_inspect_log(replace(simple_run("lab/a", scores), day=day), tmp_path)
    told = podium("rank", tmp_path)
    assert "lab/a was run 2 times on quiz" in told.err
    assert "no other model has scores" in told.err
    assert "scores of one model only" not in told.err


@pytest.mark.slow
def test_fewer_documents_of_one_run_are_told_once(podium, tmp_path):
    write_lm_eval_run([simple_run("lab/a", GOOD)], tmp_path)
    write_lm_eval_run([simple_run("lab/b", FAIR).with_items(range(25))], tmp_path)
    for words in (("rank", tmp_path), ("compare", "lab/a", "lab/b", tmp_path)):
        told = podium(*words).err
        assert "not all have the same documents (lab/a: 30, lab/b: 25)" in told
        assert "no other model was scored" not in told


def test_the_earlier_run_is_named_first_also_if_it_counts():
    runs = [
        FiledRun(Path("old"), "lab/a", "quiz", "q", "2026-01-01"),
        FiledRun(Path("new"), "lab/a", "quiz", "q", "2026-01-02", cut_to=5),
    ]
    chosen, _, notes = choose_runs(runs)
    assert chosen == runs[:1]
    assert find_repeats(notes) == ("lab/a", "old", "new")


def test_the_reason_why_another_run_than_the_newest_counts_is_named() -> None:
    def run(time: int, **facts: object) -> FiledRun:
        return FiledRun(Path(f"{time}.json"), "m", "t", "q", str(time), **facts)

    cases = {
        "the newest": [run(1), run(2)],
        "one that finished": [run(1), run(2, whole=False, done=3)],
        "the one with the most finished samples": [
            run(1, whole=False, done=5),
            run(2, whole=False, done=3),
        ],
        "the one on all items (the newest has 10)": [run(1), run(2, cut_to=10)],
        "the one on 20 items (the newest has 10)": [run(1, cut_to=20), run(2, cut_to=10)],
    }
    for reason, runs in cases.items():
        _, _, [note] = choose_runs(runs)
        assert note.fields["which"] == reason
    just_made = run(1, cut_to=10)
    _, _, [note] = choose_runs([just_made, run(2)], preferred={just_made.path})
    assert note.fields["which"] == "the one that was just made"
