"""Rows that are not about the same thing: our own small inputs with the traits of public issues of
other projects, which each test names."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lm_eval_output
import numpy as np
import pytest
from asked_runs import simple_run, write_inspect_log, write_lm_eval_run
from inspect_ai.log import EvalLog, EvalPlanStep
from inspect_ai.model import GenerateConfig, ModelConfig
from shared_fixtures import Answer

Podium = Callable[..., Answer]
ITEMS = 30
GOOD = [float(k % 5 != 0) for k in range(ITEMS)]
"""24 of 30 are right."""
FAIR = [float(k % 3 != 1) for k in range(ITEMS)]
"""20 of 30 are right."""


@dataclass(frozen=True)
class Ranked:
    """What `podium rank` says in JSON."""

    scores: dict[str, float]
    counts: dict[str, int]
    flagged: dict[str, str]
    warnings: str


def ranked(podium: Podium, *words: object) -> Ranked:
    """Return what is said of the first ranking."""
    answer = podium("rank", *words, "--format", "json")
    assert answer.code == 0, answer.err
    [ranking, *_] = json.loads(answer.out)["rankings"]
    return Ranked(
        scores={one["model"]: one["score"] for one in ranking["models"]},
        counts=ranking["counts"],
        flagged={
            check["code"]: f"{check['text']} {check['fields']}"
            for check in ranking["checks"]
            if check["result"] == "flagged"
        },
        warnings=answer.err,
    )


def assert_settings_are_flagged(said: Ranked, *words: str) -> None:
    """Check that the setting and both of its values are named."""
    assert "same-settings" in said.flagged, said
    for word in words:
        assert word in said.flagged["same-settings"]


# Inspect


@pytest.mark.slow
def test_shuffled_and_limited_samples_are_paired_by_their_inputs(
    podium: Podium, tmp_path: Path
) -> None:
    """inspect_ai PR 3269: with another seed of the shuffle, a limit selects another part of the
    dataset under the same ids, 1 to 30."""
    scores: dict[str, dict[str, float]] = {}
    for model, seed, values in (("lab/a", 1, GOOD), ("lab/b", 2, FAIR)):
        places = np.random.default_rng(seed).permutation(50)[:ITEMS]
        inputs = tuple(f"What is {place}?" for place in places)
        write_inspect_log(replace(simple_run(model, values), inputs=inputs), tmp_path)
        scores[model] = dict(zip(inputs, values, strict=True))
    shared = scores["lab/a"].keys() & scores["lab/b"].keys()
    said = ranked(podium, tmp_path)
    assert said.counts["items"] == len(shared)
    for model, own in scores.items():
        assert said.scores[model] == pytest.approx(np.mean([own[given] for given in shared]))
    assert "same-question" in said.flagged


def test_ids_of_another_kind_are_paired_by_inputs(podium: Podium, tmp_path: Path) -> None:
    """deepeval 1034: results come in another order, under names that number them anew."""
    write_inspect_log(simple_run("lab/a", GOOD), tmp_path)
    order = np.random.default_rng(0).permutation(ITEMS).tolist()
    mixed = simple_run("lab/b", FAIR).with_items(order)
    ids = tuple(f"test_case_{place}" for place in range(ITEMS))
    write_inspect_log(replace(mixed, ids=ids), tmp_path)
    said = ranked(podium, tmp_path)
    assert said.counts["items"] == ITEMS
    assert said.scores == pytest.approx({"lab/a": 0.8, "lab/b": 2 / 3})
    assert said.flagged.keys() <= {"items"}


@pytest.mark.slow
def test_an_edited_question_alone_is_left_out(podium: Podium, tmp_path: Path) -> None:
    """ClawBench 28: a task was edited between two runs and kept its id."""
    write_inspect_log(simple_run("lab/a", GOOD), tmp_path)
    run = simple_run("lab/b", FAIR)
    write_inspect_log(replace(run, inputs=("What is one?", *run.inputs[1:])), tmp_path)
    said = ranked(podium, tmp_path)
    assert said.counts["items"] == ITEMS - 1
    assert "1 of " in said.flagged["same-question"]


def with_choices(choices: Callable[[int], list[str]]) -> Callable[[EvalLog], None]:
    """Return a function that makes samples of multiple choice of a log's samples."""

    def change(log: EvalLog) -> None:
        for place, sample in enumerate(log.samples or ()):
            sample.input = "Which is right?"
            sample.choices = choices(place)

    return change


def test_choices_belong_to_the_question(podium: Podium, tmp_path: Path) -> None:
    """inspect_ai 618 for multiple choice: all inputs are alike, and the choices tell which
    question it is."""
    order = np.random.default_rng(0).permutation(ITEMS).tolist()
    first = with_choices(lambda place: [f"{place} is even", f"{place} is odd"])
    mixed = with_choices(lambda place: [f"{order[place]} is even", f"{order[place]} is odd"])
    write_inspect_log(simple_run("lab/a", GOOD), tmp_path, change=first)
    write_inspect_log(simple_run("lab/b", [GOOD[place] for place in order]), tmp_path, change=mixed)
    answer = podium("rank", tmp_path, "--format", "json")
    if answer.code:
        assert (answer.code, "--allow" in answer.err) == (1, True)
        return
    [ranking] = json.loads(answer.out)["rankings"]
    assert ranking["diagnostics"]["informative_items"] == 0


def test_choices_in_another_order_are_the_same_question(podium: Podium, tmp_path: Path) -> None:
    """inspect_ai 1921: the seed of shuffle_choices was wrong, and each run had another order."""
    one = with_choices(lambda place: [f"{place} is even", f"{place} is odd"])
    other = with_choices(lambda place: [f"{place} is odd", f"{place} is even"])
    write_inspect_log(simple_run("lab/a", GOOD), tmp_path, change=one)
    write_inspect_log(simple_run("lab/b", FAIR), tmp_path, change=other)
    said = ranked(podium, tmp_path)
    assert (said.counts["items"], said.flagged) == (ITEMS, {})


def test_versions_of_a_task_are_flagged(podium: Podium, tmp_path: Path) -> None:
    """inspect_ai PR 3014: an eval set reused logs of an older version of the task."""
    write_inspect_log(simple_run("lab/a", GOOD, version=1), tmp_path)
    write_inspect_log(simple_run("lab/b", FAIR, version=2), tmp_path)
    assert_settings_are_flagged(ranked(podium, tmp_path), "task version", "1 (lab/a)", "2 (lab/b)")


@pytest.mark.slow
def test_runs_on_datasets_of_other_names_are_flagged(podium: Podium, tmp_path: Path) -> None:
    """opik PR 295: experiments on different datasets were compared without a word."""
    write_inspect_log(simple_run("lab/a", GOOD, dataset="org/quiz"), tmp_path)
    write_inspect_log(simple_run("lab/b", FAIR, dataset="org/riddles"), tmp_path)
    said = ranked(podium, tmp_path)
    assert_settings_are_flagged(said, "dataset", "org/quiz (lab/a)", "org/riddles (lab/b)")


def test_options_of_a_scorer_are_flagged(podium: Podium, tmp_path: Path) -> None:
    """kibana 285723: the meaning of a score changed between runs, and its name did not."""

    def located(place: str) -> Callable[[EvalLog], None]:
        def change(log: EvalLog) -> None:
            assert log.eval.scorers
            log.eval.scorers[0].options = {"location": place}

        return change

    write_inspect_log(simple_run("lab/a", GOOD), tmp_path, change=located("any"))
    write_inspect_log(simple_run("lab/b", FAIR), tmp_path, change=located("end"))
    assert_settings_are_flagged(ranked(podium, tmp_path), "location", "any", "end")


def grader_in_options(grader: str) -> Callable[[EvalLog], None]:
    """Return a function that sets the grader as an argument of the scorer."""

    def change(log: EvalLog) -> None:
        assert log.eval.scorers
        log.eval.scorers[0].options = {"model": grader}

    return change


def grader_as_role(grader: str) -> Callable[[EvalLog], None]:
    """Return a function that sets the grader as a role."""

    def change(log: EvalLog) -> None:
        log.eval.model_roles = {"grader": ModelConfig(model=grader)}

    return change


@pytest.mark.slow
@pytest.mark.parametrize("graded_by", [grader_in_options, grader_as_role])
def test_scores_of_different_graders_are_flagged(
    podium: Podium, tmp_path: Path, graded_by: Callable[[str], Callable[[EvalLog], None]]
) -> None:
    """hyperdx PR 2710: a run kept the grades of an earlier grader, beside those of another one."""
    big, small = graded_by("openai/gpt-4o"), graded_by("openai/gpt-4o-mini")
    write_inspect_log(simple_run("lab/a", GOOD), tmp_path, change=big)
    write_inspect_log(simple_run("lab/b", FAIR), tmp_path, change=small)
    said = ranked(podium, tmp_path)
    assert_settings_are_flagged(said, "openai/gpt-4o", "openai/gpt-4o-mini", "(lab/a)", "(lab/b)")


def generation_of_eval(temperature: float) -> Callable[[EvalLog], None]:
    """Return a function that sets the temperature where `eval(temperature=)` records it."""

    def change(log: EvalLog) -> None:
        log.plan.config = GenerateConfig(temperature=temperature)

    return change


def generation_of_model(temperature: float) -> Callable[[EvalLog], None]:
    """Return a function that sets the temperature where `get_model(config=)` records it."""

    def change(log: EvalLog) -> None:
        log.eval.model_generate_config = GenerateConfig(temperature=temperature)

    return change


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("sampled_at", [generation_of_eval, generation_of_model])
def test_two_temperatures_of_a_model_are_two_models(
    podium: Podium, tmp_path: Path, sampled_at: Callable[[float], Callable[[EvalLog], None]]
) -> None:
    """inspect_ai PR 2704 and 1565: runs of one model that differ in settings of generation were
    taken for one."""
    write_inspect_log(simple_run("lab/a", GOOD), tmp_path, "cold.json", change=sampled_at(0.0))
    write_inspect_log(simple_run("lab/a", FAIR), tmp_path, "warm.json", change=sampled_at(1.0))
    said = ranked(podium, tmp_path)
    expected = {"lab/a (temperature=0.0)": 0.8, "lab/a (temperature=1.0)": 2 / 3}
    assert said.scores == pytest.approx(expected)


@pytest.mark.slow
def test_two_arguments_of_a_model_are_two_models(podium: Podium, tmp_path: Path) -> None:
    """inspect_ai 2784: runs that differ only in an argument of the model had one identifier."""

    def with_context(log: EvalLog) -> None:
        log.eval.model_args = {"betas": ["long-context"]}

    write_inspect_log(simple_run("lab/a", GOOD), tmp_path, "short.json")
    write_inspect_log(simple_run("lab/a", FAIR), tmp_path, "long.json", change=with_context)
    said = ranked(podium, tmp_path)
    [with_betas] = [name for name in said.scores if "betas=" in name]
    assert said.scores[with_betas] == pytest.approx(2 / 3)
    assert len(said.scores) == 2


def with_argument(name: str, value: str) -> Callable[[EvalLog], None]:
    """Return a function that gives a log an argument of the task."""

    def change(log: EvalLog) -> None:
        log.eval.task_args = {name: value}
        log.eval.task_args_passed = {name: value}

    return change


@pytest.mark.slow
def test_an_argument_that_selects_other_data_makes_the_answer_conditional(
    podium: Podium, tmp_path: Path
) -> None:
    """inspect_ai 2176: the argument of a task is its dataset, whose ids begin at 1, too."""
    easy = simple_run("lab/a", GOOD)
    hard = simple_run("lab/b", [0.0] * ITEMS)
    hard = replace(hard, inputs=tuple(f"Prove {7 * k + 100}." for k in range(ITEMS)))
    write_inspect_log(easy, tmp_path, change=with_argument("dataset", "easy"))
    write_inspect_log(hard, tmp_path, change=with_argument("dataset", "hard"))
    condition = (
        "If equal ids are the same questions, which the inputs do not show: lab/a is clearly"
    )
    for words in (("rank", tmp_path), ("compare", "lab/a", "lab/b", tmp_path)):
        answer = podium(*words, "--format", "json")
        assert answer.code == 0, answer.err
        said = json.loads(answer.out)
        [first, *_] = said["rankings"][0]["answer"] if "rankings" in said else said["answer"]
        assert first.startswith(condition), first
    gated = ("compare", "lab/a", "lab/b", tmp_path, "--require", "better")
    assert podium(*gated).code == 5
    assert podium(*gated, "--allow", "questions").code == 0


@pytest.mark.slow
def test_an_argument_that_frames_the_same_questions_leaves_the_answer_as_it_is(
    podium: Podium, tmp_path: Path
) -> None:
    """langwatch 5100: two prompts of one model are compared with no option."""
    plain = simple_run("lab/a", GOOD)
    polite = replace(plain, scores=((0.0,),) * ITEMS)
    polite = replace(polite, inputs=tuple(f"Please tell me: {own}" for own in plain.inputs))
    first = write_inspect_log(plain, tmp_path, "a.json", change=with_argument("style", "plain"))
    other = write_inspect_log(polite, tmp_path, "b.json", change=with_argument("style", "polite"))
    answer = podium("compare", first, other)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("lab/a (style=plain) is clearly ahead of lab/a (style=polite)")


def test_two_system_messages_of_a_model_are_two_models(podium: Podium, tmp_path: Path) -> None:
    """inspect_ai PR 2704: a solver with another system message was no other task."""

    def with_message(text: str) -> Callable[[EvalLog], None]:
        def change(log: EvalLog) -> None:
            given = {"template": text}
            step = EvalPlanStep(solver="system_message", params=given, params_passed=given)
            log.plan.steps.insert(0, step)

        return change

    kind, brief = with_message("Be kind."), with_message("Be brief.")
    write_inspect_log(simple_run("lab/a", GOOD), tmp_path, "kind.json", change=kind)
    write_inspect_log(simple_run("lab/a", FAIR), tmp_path, "brief.json", change=brief)
    said = ranked(podium, tmp_path)
    scores = {("kind" in name, "brief" in name): score for name, score in said.scores.items()}
    assert scores == pytest.approx({(True, False): 0.8, (False, True): 2 / 3})


@pytest.mark.slow
def test_of_a_run_and_its_repetition_the_newer_counts(podium: Podium, tmp_path: Path) -> None:
    """inspect_ai 3058: after a repetition of the whole task, samples of both runs were counted."""
    write_inspect_log(simple_run("lab/a", FAIR), tmp_path)
    write_inspect_log(replace(simple_run("lab/a", GOOD), day=1), tmp_path)
    write_inspect_log(simple_run("lab/b", FAIR), tmp_path)
    said = ranked(podium, tmp_path)
    assert said.scores == pytest.approx({"lab/a": 0.8, "lab/b": 2 / 3})
    assert (said.counts["judgments"], said.flagged) == (ITEMS, {})


# lm-eval


@pytest.mark.slow
def test_a_wrong_doc_id_pairs_no_other_documents(podium: Podium, tmp_path: Path) -> None:
    """lm-eval 4084: with an unsorted list of samples, rows have ids of other documents."""
    run = simple_run("lab/b", FAIR)
    ids = tuple(np.random.default_rng(0).permutation(ITEMS).tolist())
    for place, second in (("right", run), ("wrong", replace(run, ids=ids))):
        write_lm_eval_run([simple_run("lab/a", GOOD)], tmp_path / place)
        write_lm_eval_run([second], tmp_path / place)
    right, wrong = (podium("rank", tmp_path / place) for place in ("right", "wrong"))
    assert (wrong.code, wrong.out) == (0, right.out)
    [note] = wrong.err.splitlines()
    assert "paired by input" in note


def write_pair(folder: Path, *changes: Mapping[str, Any], **same: Any) -> None:
    """Write a run of lm-eval for each of two models, with these settings."""
    runs = (simple_run("lab/a", GOOD, **same), simple_run("lab/b", FAIR, **same))
    for run, own in zip(runs, changes, strict=True):
        write_lm_eval_run([run.change(**own)], folder)


def test_seeds_of_examples_are_flagged(podium: Podium, tmp_path: Path) -> None:
    """lm-eval 1906: the seed of examples was not set in some runs."""
    write_pair(tmp_path, {"fewshot_seed": 0}, {"fewshot_seed": 1234}, shots=5)
    assert_settings_are_flagged(ranked(podium, tmp_path), "seed", "0 (lab/a)", "1234 (lab/b)")


def test_a_seed_without_examples_is_not_flagged(podium: Podium, tmp_path: Path) -> None:
    """lm-eval 2089: without examples, another seed changes nothing."""
    write_pair(tmp_path, {"fewshot_seed": 0}, {"fewshot_seed": 1234}, shots=0)
    said = ranked(podium, tmp_path)
    assert (said.flagged, said.warnings) == ({}, "")


def test_prompts_are_flagged(podium: Podium, tmp_path: Path) -> None:
    """lm-eval 3438: the prompt of gsm8k was changed for one model; documents remain the same."""
    write_pair(tmp_path, {}, {"style": "End your answer with ####."})
    assert_settings_are_flagged(ranked(podium, tmp_path), "prompt")


def test_revisions_of_a_dataset_are_flagged(podium: Podium, tmp_path: Path) -> None:
    """mteb 5228: results on an old and a new revision of a dataset stood on one leaderboard."""

    def revised(revision: str) -> Callable[[dict[str, Any]], None]:
        def change(content: dict[str, Any]) -> None:
            content["configs"]["quiz"]["dataset_kwargs"] = {"revision": revision}

        return change

    write_lm_eval_run([simple_run("lab/a", GOOD)], tmp_path, change=revised("1c3f"))
    write_lm_eval_run([simple_run("lab/b", FAIR)], tmp_path, change=revised("9a7e"))
    assert_settings_are_flagged(
        ranked(podium, tmp_path), "revision", "1c3f (lab/a)", "9a7e (lab/b)"
    )


def test_runs_that_disagree_on_the_direction_are_rejected(podium: Podium, tmp_path: Path) -> None:
    """lm-eval PR 3993: ter was registered as better when higher, until a version mended it."""
    for model, values, is_higher in (("lab/a", GOOD, True), ("lab/b", FAIR, False)):
        rows = lm_eval_output.scored(values, "ter")
        lm_eval_output.write_run(tmp_path, model, {"wmt": rows}, higher={"ter": is_higher})
    answer = podium("rank", tmp_path)
    assert (answer.code, answer.out) == (1, "")
    assert "ter of wmt is better by" in answer.err


def test_percents_beside_fractions_are_flagged(podium: Podium, tmp_path: Path) -> None:
    """bigscience-workshop/lm-evaluation-harness 119: bleu was from 0 to 100, rouge from 0 to 1."""
    rng = np.random.default_rng(0)
    for model, factor in (("lab/a", 1.0), ("lab/b", 100.0)):
        rows = lm_eval_output.scored((factor * rng.random(ITEMS)).tolist(), "bleu")
        lm_eval_output.write_run(tmp_path, model, {"wmt": rows})
    said = ranked(podium, tmp_path)
    flagged = " ".join(said.flagged.values())
    assert "lab/a" in flagged
    assert "lab/b" in flagged


def test_a_metric_under_two_filters_is_named(podium: Podium, tmp_path: Path) -> None:
    """lm-eval 2362: one model has its figure with strict-match, another with flexible-extract."""
    for model, values, name in (
        ("lab/a", GOOD, "strict-match"),
        ("lab/b", FAIR, "flexible-extract"),
    ):
        rows = lm_eval_output.scored(values, "exact_match", filter_=name)
        lm_eval_output.write_run(tmp_path, model, {"gsm8k": rows})
    answer = podium("rank", tmp_path)
    told = answer.out + answer.err
    for word in ("filter", "strict-match", "flexible-extract", "lab/a", "lab/b"):
        assert word in told


def test_a_limit_compares_the_documents_of_both(podium: Podium, tmp_path: Path) -> None:
    """lm-eval 2598: a limit takes the first documents, so means are of other documents."""
    write_lm_eval_run([simple_run("lab/a", GOOD[:20])], tmp_path)
    write_lm_eval_run([simple_run("lab/b", FAIR)], tmp_path)
    said = ranked(podium, tmp_path)
    assert said.counts["items"] == 20
    assert said.scores["lab/b"] == pytest.approx(np.mean(FAIR[:20]))
    assert "lab/a: 20, lab/b: 30" in said.warnings


@pytest.mark.slow
def test_a_split_that_one_model_lacks_is_named_and_not_counted(
    podium: Podium, tmp_path: Path
) -> None:
    """helm 2362: some runs had the splits valid and test, and the leaderboard counts test alone."""
    for model, splits in (("lab/a", ("test", "valid")), ("lab/b", ("test",))):
        run = f"mmlu:subject=anatomy,model={model.replace('/', '_')}"
        statistics = [
            {
                "instance_id": f"{split}{place}",
                "stats": [{"name": {"name": "exact_match", "split": split}, "mean": score}],
            }
            for split in splits
            for place, score in enumerate(GOOD)
        ]
        folder = tmp_path / run
        folder.mkdir()
        spec = {"name": run, "adapter_spec": {"model": model}}
        (folder / "run_spec.json").write_text(json.dumps(spec), encoding="utf-8")
        (folder / "per_instance_stats.json").write_text(json.dumps(statistics), encoding="utf-8")
    answer = podium("rank", tmp_path)
    assert answer.code == 0
    assert "--metric NAME takes another (exact_match,valid)" in answer.err
    both = {"lab/a": 0.8, "lab/b": 0.8}
    assert ranked(podium, tmp_path).scores == pytest.approx(both)
    chosen = ranked(podium, tmp_path, "--metric", "exact_match,test")
    assert chosen.scores == pytest.approx(both)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({"shots": 5}, "shots=5"),
        ({"system": "Be kind."}, "system instruction=Be kind."),
        ({"temperature": 0.7}, "temperature=0.7"),
        ({"version": 3}, "task version=3"),
    ],
)
def test_two_settings_of_a_model_in_lm_eval_are_two_models(
    podium: Podium, tmp_path: Path, change: dict[str, Any], label: str
) -> None:
    """EuroEval PR 2032: runs of one model with other parameters were stored as one."""
    first = simple_run("lab/a", GOOD, temperature=0.0)
    write_lm_eval_run([first], tmp_path)
    write_lm_eval_run([replace(simple_run("lab/a", FAIR), day=1).change(**change)], tmp_path)
    said = ranked(podium, tmp_path)
    assert any(f"{label}" in name for name in said.scores), said.scores
    assert sorted(said.scores.values()) == pytest.approx([2 / 3, 0.8])


# Tables


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_two_inputs_of_an_id_are_not_averaged(podium: Podium, tmp_path: Path) -> None:
    """sgl-eval PR 39: two examples with one id were taken for one."""
    rows = [
        {"item": f"q{place % 20}", "input": f"What is {place}?", "model": model, "score": score}
        for model, scores in (("a", GOOD), ("b", FAIR))
        for place, score in enumerate(scores)
    ]
    answer = podium("rank", write_table(tmp_path / "scores.csv", rows))
    assert (answer.code, answer.out) == (1, "")
    for said in ("item 'q0'", "'What is 0?'", "'What is 20?'", "--allow questions"):
        assert said in answer.err


@pytest.mark.slow
def test_shuffled_ids_of_a_table_are_paired_by_input(podium: Podium, tmp_path: Path) -> None:
    """deepeval 1034: predictions of two models, in another order, were mixed up."""
    order = np.random.default_rng(0).permutation(ITEMS).tolist()
    rows = [
        {"item": place, "input": f"What is {question}?", "model": model, "score": GOOD[question]}
        for model, questions in (("a", range(ITEMS)), ("b", order))
        for place, question in enumerate(questions)
    ]
    answer = podium("rank", write_table(tmp_path / "scores.csv", rows), "--format", "json")
    if answer.code:
        assert (answer.code, "--allow" in answer.err) == (1, True)
        return
    [ranking] = json.loads(answer.out)["rankings"]
    assert ranking["diagnostics"]["informative_items"] == 0


def test_a_second_turn_is_not_averaged_with_the_first(podium: Podium, tmp_path: Path) -> None:
    """FastChat 1782: one table had both turns of MT-bench, another the first alone."""
    runs = [("a", 1, GOOD), ("a", 2, [0.0] * ITEMS), ("b", 1, FAIR)]
    rows = [
        {"item": f"q{place}", "turn": turn, "model": model, "score": score}
        for model, turn, scores in runs
        for place, score in enumerate(scores)
    ]
    said = ranked(podium, write_table(tmp_path / "scores.csv", rows))
    assert said.scores == pytest.approx({"a": 0.8, "b": 2 / 3})


@pytest.mark.slow
def test_one_name_of_two_references_is_named(podium: Podium, tmp_path: Path) -> None:
    """alpaca_eval PR 176: two files had different outputs under the name of one reference."""
    for model, reference in (("wren", "long"), ("finch", "short")):
        rows = [
            {
                "instruction": f"Question {place}?",
                "output_1": f"a {reference} answer to {place}",
                "output_2": f"{model} answers {place}",
                "generator_1": "reference",
                "generator_2": model,
                "annotator": "judge",
                "preference": 1 + int(score),
            }
            for place, score in enumerate(GOOD)
        ]
        folder = tmp_path / model
        folder.mkdir()
        (folder / "annotations.json").write_text(json.dumps(rows), encoding="utf-8")
    said = ranked(podium, tmp_path)
    assert "reference" in said.warnings + " ".join(said.flagged.values())


@pytest.mark.slow
def test_a_corrected_document_is_told_once(podium: Podium, tmp_path: Path) -> None:
    """lm-eval 1906: a wrong document of a dataset was corrected between two runs."""
    corrected = simple_run("lab/b", FAIR)
    corrected = replace(corrected, inputs=("Which is one?", *corrected.inputs[1:]))
    write_lm_eval_run([simple_run("lab/a", GOOD)], tmp_path)
    write_lm_eval_run([corrected], tmp_path)
    said = ranked(podium, tmp_path)
    assert "1 of 30 ids" in said.flagged["same-question"]
    # The only note is that the means are not those of lm-eval, which are over all documents.
    assert said.warnings.count("podium: ") == 1
    assert "the figure of lm-eval is over all documents" in said.warnings


@pytest.mark.slow
def test_runs_of_two_models_in_two_folders_are_named_by_the_models(
    podium: Podium, tmp_path: Path
) -> None:
    write_lm_eval_run([simple_run("lab/a", GOOD)], tmp_path / "one")
    write_lm_eval_run([simple_run("lab/b", [0.0] * ITEMS)], tmp_path / "two")
    said = podium("compare", tmp_path / "one", tmp_path / "two")
    assert said.out.startswith("lab/a is clearly ahead of lab/b")


@pytest.mark.slow
def test_the_name_of_a_model_shows_no_long_structure(podium: Podium, tmp_path: Path) -> None:
    """Outputs of Inspect's simulated model are an argument of it, and may be very long."""

    def with_outputs(word: str) -> Callable[[EvalLog], None]:
        def change(log: EvalLog) -> None:
            log.eval.model_args = {"custom_outputs": [{"content": f"{word} {k}"} for k in range(9)]}

        return change

    write_inspect_log(simple_run("lab/a", GOOD), tmp_path, "one.json", change=with_outputs("yes"))
    write_inspect_log(simple_run("lab/a", FAIR), tmp_path, "two.json", change=with_outputs("no"))
    names = [*ranked(podium, tmp_path).scores]
    assert len({*names}) == 2
    for name in names:
        assert name.startswith("lab/a (custom_outputs=9 values #")
        assert len(name) < 45


@pytest.mark.slow
def test_a_doubt_about_one_task_is_none_about_another(podium: Podium, tmp_path: Path) -> None:
    for model, scores, data in (("lab/a", GOOD, "easy"), ("lab/b", [0.0] * ITEMS, "hard")):
        run = simple_run(model, scores)
        if data == "hard":
            run = replace(run, inputs=tuple(f"Prove {7 * k + 100}." for k in range(ITEMS)))
        write_inspect_log(run, tmp_path, change=with_argument("dataset", data))
        write_inspect_log(simple_run(model, scores, task="riddles"), tmp_path)
    answer = podium(
        "compare", "lab/a", "lab/b", tmp_path, "--require", "better", "--format", "json"
    )
    findings = json.loads(answer.out)["comparisons"]
    assert {own["task"]: own["questions_in_doubt"] for own in findings} == {
        "quiz": True,
        "riddles": False,
    }


@pytest.mark.slow
def test_what_the_user_accepts_is_a_condition_in_no_command(podium: Podium, tmp_path: Path) -> None:
    easy = simple_run("lab/a", GOOD)
    hard = simple_run("lab/b", [0.0] * ITEMS)
    hard = replace(hard, inputs=tuple(f"Prove {7 * k + 100}." for k in range(ITEMS)))
    write_inspect_log(easy, tmp_path, change=with_argument("dataset", "easy"))
    write_inspect_log(hard, tmp_path, change=with_argument("dataset", "hard"))
    for words in (("rank", tmp_path), ("compare", "lab/a", "lab/b", tmp_path)):
        answer = podium(*words, "--allow", "questions")
        assert "If equal ids" not in answer.out


NFC, NFD = "lab/caf\u00e9", "lab/cafe\u0301"


@pytest.mark.slow
@pytest.mark.parametrize("host", ["inspect", "lm-eval"])
@pytest.mark.parametrize("shots", [2, 5])
def test_names_are_joined_before_runs_are_chosen_and_named(
    podium: Podium, tmp_path: Path, host: str, shots: int
) -> None:
    """Two spellings of a name are two runs of a model: the newer counts, or both by settings."""
    first = simple_run(NFC, GOOD, shots=2)
    second = replace(simple_run(NFD, [0.0] * ITEMS, shots=shots), day=4)
    for run in (first, second, simple_run("lab/b", FAIR, shots=2)):
        if host == "inspect":
            write_inspect_log(run, tmp_path)
        else:
            write_lm_eval_run([run], tmp_path)
    said = ranked(podium, tmp_path, "--names", "joined")
    assert "count as one" in said.warnings
    assert "averaged" not in said.warnings
    if shots == 2:
        assert said.scores == pytest.approx({NFC: 0.0, "lab/b": 2 / 3})
        assert said.flagged == {}
        assert "2 times" in said.warnings
    else:
        assert sorted(said.scores.values()) == pytest.approx([0.0, 2 / 3, 0.8])
        assert_settings_are_flagged(said, f"2 (lab/b, {NFC}", f"5 ({NFC}")


@pytest.mark.slow
def test_two_runs_of_joined_names_are_compared(podium: Podium, tmp_path: Path) -> None:
    one = write_inspect_log(simple_run(NFC, GOOD), tmp_path)
    run = replace(simple_run(NFD, [0.0] * ITEMS, style="formal"), day=4)
    two = write_inspect_log(run, tmp_path)
    answer = podium("compare", one, two, "--names", "joined")
    assert answer.out.startswith(f"{NFC} (style=plain) is clearly ahead of {NFC} (style=formal)")


@pytest.mark.slow
def test_a_field_of_one_results_file_only_is_not_recorded_in_the_other(
    podium: Podium, tmp_path: Path
) -> None:
    """A field of a task's metadata may be new in its file, and no option with a default."""

    def with_field(content: dict[str, Any]) -> None:
        content["configs"]["quiz"]["metadata"]["subset"] = "hard"

    write_lm_eval_run([simple_run("lab/a", GOOD)], tmp_path, change=with_field)
    write_lm_eval_run([simple_run("lab/b", FAIR)], tmp_path)
    flagged = ranked(podium, tmp_path)
    assert_settings_are_flagged(flagged, "subset of quiz: hard (lab/a), not recorded (lab/b)")
    compared = podium("compare", "lab/a", "lab/b", tmp_path)
    assert "not recorded (lab/b)" in compared.err + compared.out
