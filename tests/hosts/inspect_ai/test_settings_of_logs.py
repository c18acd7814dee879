"""Runs with other settings: of one model, they are two models; between models, they are flagged or
noted."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalDataset, EvalLog, EvalRevision, read_eval_log, write_eval_log
from inspect_ai.log._log import EvalScorer
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ModelConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import match
from inspect_ai.solver import solver
from written_logs import build_log

import podium
from podium.hosts.inspect_ai.hook import rank_logs
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.logs.run_records import run_in_log
from podium.notices.notice_text import notice_texts
from podium.responses.read import read_responses
from podium.show.page.sources import costs_table

ITEMS = [f"q{k}" for k in range(30)]
Change = Callable[[EvalLog], None]


def log_of(model: str, right: int, *changes: Change, **options: object) -> EvalLog:
    """Return the log of a model that is right on the first items, with changes to it."""
    log = build_log(model, {item: (float(k < right),) for k, item in enumerate(ITEMS)}, **options)
    log.eval.task_id = f"{model}-{right}"
    for change in changes:
        change(log)
    return log


def save(log: EvalLog, name: str, folder: str = "evals") -> str:
    """Write a log into a folder, and return its path."""
    path = Path(folder) / f"{name}.eval"
    path.parent.mkdir(exist_ok=True)
    write_eval_log(log, str(path))
    return str(path)


def argument(**given: object) -> Change:
    """Return a change of the task's arguments."""

    def change(log: EvalLog) -> None:
        log.eval.task_args = log.eval.task_args_passed = dict(given)

    return change


def generation(**given: object) -> Change:
    """Return a change of the settings of generation."""

    def change(log: EvalLog) -> None:
        for name, value in given.items():
            setattr(log.plan.config, name, value)

    return change


def in_spec(**given: object) -> Change:
    """Return a change of fields of the log's header."""

    def change(log: EvalLog) -> None:
        for name, value in given.items():
            setattr(log.eval, name, value)

    return change


def prompt(template: str, system: str = "") -> Change:
    """Return a change of the messages before the answer."""

    def change(log: EvalLog) -> None:
        for sample in log.samples:
            asked = ChatMessageUser(content=template.format(input=sample.input))
            answer = ChatMessageAssistant(content="yes")
            before = [ChatMessageSystem(content=system)] if system else []
            sample.messages = [*before, asked, answer]

    return change


def earlier(log: EvalLog) -> None:
    """Let a run be a day older."""
    log.eval.created = "2025-12-31T00:00:00+00:00"


def names_by_command(run_podium: Callable, *sources: str) -> dict[str, set[str]]:
    """Return the names of models that each command knows."""
    names = {}
    _, out, err = run_podium("rank", *sources, "--format", "json")
    assert out, err
    names["rank"] = {row["model"] for row in json.loads(out)["rankings"][0]["models"]}
    names["responses"] = {*read_responses(*sources, readers=(READER,), optional=True).models}
    names["battles"] = {*podium.read_battles(*sources).models}
    return names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "names"),
    [
        (generation(temperature=1.0), ("made/m", "made/m (temperature=1.0)")),
        pytest.param(
            argument(style="brief"), ("made/m", "made/m (style=brief)"), marks=pytest.mark.slow
        ),
        pytest.param(
            generation(system_message="Be kind."),
            ("made/m", "made/m (system instruction=Be kind.)"),
            marks=pytest.mark.slow,
        ),
        (prompt("Think. {input}"), ("made/m (prompt={input})", "made/m (prompt=Think. {input})")),
        pytest.param(
            in_spec(model_roles={"grader": ModelConfig(model="x/y")}),
            ("made/m", "made/m (grader=x/y)"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_two_settings_of_one_model_are_two_models_in_every_command(change, names, run_podium):
    paths = [save(log_of("m", 10), "a"), save(log_of("m", 20, change), "b")]
    for own in names_by_command(run_podium, "evals").values():
        assert own == set(names)
    for own in names_by_command(run_podium, *paths).values():
        assert own == set(names)
    code, out, err = run_podium("compare", *paths)
    assert code == 0, err
    assert " ".join(out.split()).startswith(f"{names[0]} is clearly behind {names[1]} by 33.3 poi")
    assert "warning" not in err
    found = podium.compare(*paths)
    assert not any(check.is_flagged for check in found.checks)
    assert found.unknown_answers is None
    by_name = podium.compare(*names, "evals").findings[0]
    assert by_name.difference.value == found.findings[0].difference.value
    for words in (("diagnose", "evals"), ("report", "evals", "-o", "page.html")):
        assert run_podium(*words)[0] == 0
    page = Path("page.html").read_text()
    assert names[1] in page.replace("&#39;", "'")


def test_an_argument_that_changes_the_prompt_names_the_runs_alone():
    brief = (argument(style="brief"), prompt("Briefly: {input}"))
    paths = [save(log_of("m", 10), "a"), save(log_of("m", 20, *brief), "b")]
    found = podium.compare(*paths)
    assert found.findings[0].baseline == "made/m (style=brief)"
    assert not any(check.is_flagged for check in found.checks)


@pytest.mark.slow
def test_the_newest_run_of_each_setting_counts():
    save(log_of("m", 5, earlier), "a")
    save(log_of("m", 10), "b")
    save(log_of("m", 15, earlier, generation(temperature=1.0)), "c")
    save(log_of("m", 20, generation(temperature=1.0)), "d")
    means = {
        entry.model: round(entry.score * len(ITEMS))
        for entry in podium.rank(podium.read_battles("evals"), "mean").standings[0].entries
    }
    assert means == {"made/m": 10, "made/m (temperature=1.0)": 20}
    every = podium.read_battles("evals", runs="all")
    assert {*every.models} == {*means}
    assert sorted(every.table["response"].unique()) == [1, 2]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "change",
    [
        generation(max_connections=5, max_retries=2, timeout=9, logprobs=True, cache_prompt=True),
        in_spec(revision=EvalRevision(type="git", origin="x", commit="abcdef0123")),
        in_spec(model_args={"device": "cuda:1"}),
    ],
)
def test_what_changes_no_answer_names_no_model_and_is_not_told(change, run_podium):
    save(log_of("m", 10, earlier), "a")
    save(log_of("m", 20, change), "b")
    save(log_of("other", 15), "c")
    code, _out, err = run_podium("rank", "evals")
    assert (code, "made/m was run 2 times on quiz: the newest counts" in err) == (0, True)
    assert "settings" not in err
    assert podium.read_battles("evals").models == ("made/m", "made/other")


@pytest.mark.slow
def test_a_trial_with_other_epochs_or_another_limit_is_no_other_setting():
    log = log_of("m", 10, earlier)
    log.eval.config.limit = 20
    save(log, "a")
    save(build_log("m", dict.fromkeys(ITEMS, (1.0, 0.0))), "b")
    save(log_of("other", 15), "c")
    battles = podium.read_battles("evals", runs="all")
    assert battles.models == ("made/m", "made/other")
    said = "runs of made/m on quiz have different limits (20, none)"
    assert said in notice_texts(battles.notes)


def test_a_run_with_a_limit_does_not_displace_one_on_more_samples():
    """The newest eval of `m` was asked five of thirty samples, the one before it ten."""
    save(log_of("m", 10, earlier), "a")
    for number, (name, change) in enumerate((("b", earlier), ("c", in_spec())), 1):
        asked = EvalDataset(samples=30, sample_ids=ITEMS[: 15 - 5 * number])
        cut = log_of("m", number, change, in_spec(dataset=asked))
        save(cut, name)
    save(log_of("other", 15), "d")
    battles = podium.read_battles("evals")
    by_model = {entry.model: entry.score for entry in podium.rank(battles).standings[0].entries}
    assert by_model["made/m"] == pytest.approx(10 / 30)
    told = "made/m was run 3 times on quiz: the one on all items (the newest has 5) counts"
    [note] = [text for text in notice_texts(battles.notes) if "made/m" in text]
    assert note.startswith(told)


@pytest.mark.slow
def test_the_run_that_was_just_made_is_ranked_also_with_a_limit(monkeypatch):
    """The hook ranks the new run; the earlier one on all samples is the one that `rank` takes."""
    monkeypatch.setenv("PODIUM_RANKER", "mean")
    save(log_of("m", 10, earlier), "a")
    asked = EvalDataset(samples=30, sample_ids=ITEMS[:5])
    path = save(log_of("m", 1, in_spec(dataset=asked)), "b")
    save(log_of("other", 15), "d")
    assert rank_logs([read_eval_log(path, header_only=True)])
    results = read_eval_log(path, header_only=True).results
    figures = {score.name: score.metrics["score"].value for score in results.scores[1:]}
    assert figures["mean"] == pytest.approx(1 / 30)


FLAGGED: Mapping[str, tuple[Change, str]] = {
    "version": (in_spec(task_version=2), "task version of quiz: 0 (made/one), 2 (made/two)"),
    "grader": (
        in_spec(model_roles={"grader": ModelConfig(model="x/y")}),
        "grader of quiz: default (made/one), x/y (made/two)",
    ),
    "scorer": (
        in_spec(scorers=[EvalScorer(name="exact", options={"strict": True})]),
        "strict of scorer exact of quiz: default (made/one), true (made/two)",
    ),
    "prompt": (prompt("Think. {input}"), "prompt of quiz: Think. {input} (made/two), {input}"),
    "argument": (argument(style="brief"), "style of quiz: brief (made/two), default (made/one)"),
    "instruction": (generation(system_message="Be kind."), "system instruction of quiz: Be kind."),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FLAGGED)
def test_models_that_were_not_asked_alike_are_flagged(name, run_podium):
    change, said = FLAGGED[name]
    save(log_of("one", 10), "a")
    save(log_of("two", 20, change), "b")
    code, out, err = run_podium("rank", "evals")
    shown = " ".join(out.split())
    assert (code, err) == (0, "")
    assert f"Models were run with different settings: {said}" in shown
    code, out, err = run_podium("compare", "one", "two", "evals", "--format", "json")
    assert (code, "models were run with different settings: " + said in err) == (0, True)
    [flagged] = [row for row in json.loads(out)["checks"] if row["result"] == "flagged"]
    assert (flagged["code"], {*flagged["models"]}) == ("same-settings", {"made/one", "made/two"})
    code, out, _ = run_podium("diagnose", "evals", "--format", "json")
    rows = [row for card in json.loads(out)["cards"] for row in card["checks"]]
    results = {row["code"]: row["result"] for row in rows}
    assert (results["same-question"], results["same-settings"]) == ("ok", "flagged")


@pytest.mark.slow
def test_a_comparison_is_not_flagged_for_settings_of_a_third_model():
    save(log_of("one", 10), "a")
    save(log_of("two", 20), "b")
    save(log_of("three", 20, argument(style="brief")), "c")
    assert not any(check.is_flagged for check in podium.compare("one", "two", "evals").checks)
    checks = podium.rank(podium.read_battles("evals")).standings[0].checks
    assert [check.name for check in checks if check.is_flagged] == ["same settings"]


def test_settings_of_a_model_are_a_note(run_podium):
    save(log_of("one", 10), "a")
    save(log_of("two", 20, generation(temperature=1.0)), "b")
    code, out, err = run_podium("rank", "evals")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("podium: note: quiz: models were run with settings of their own: temper")
    assert "All three checks passed." in out


@pytest.mark.slow
def test_nothing_is_printed_for_a_clean_folder(run_podium):
    save(log_of("one", 10), "a")
    save(log_of("two", 20, earlier), "b")
    code, out, err = run_podium("rank", "evals")
    assert (code, err) == (0, "")
    assert "All three checks passed." in out
    code, out, err = run_podium("compare", "one", "two", "evals")
    assert (code, err) == (0, "")
    assert "settings" not in out


@pytest.mark.slow
def test_runs_of_one_setting_are_named_by_their_revision_or_their_time():
    def of_revision(commit: str) -> Change:
        return in_spec(revision=EvalRevision(type="git", origin="x", commit=commit))

    first = save(log_of("m", 10, earlier, of_revision("abcdef0123")), "a")
    second = save(log_of("m", 20, of_revision("0123456789")), "b")
    third = save(log_of("m", 20), "c")
    found = podium.compare(first, second).findings[0]
    assert (found.candidate, found.baseline) == (
        "made/m (revision abcdef0)",
        "made/m (revision 0123456)",
    )
    found = podium.compare(first, third).findings[0]
    assert (found.candidate, found.baseline) == (
        "made/m (2025-12-31T00:00:00+00:00)",
        "made/m (2026-01-01T00:00:00+00:00)",
    )
    labelled = podium.compare(f"new={second}", f"old={first}").findings[0]
    assert (labelled.candidate, labelled.baseline) == ("new", "old")


def test_two_prompts_are_paired_by_id_where_the_dataset_frames_its_inputs(run_podium):
    """The prompt is in the inputs, so no input is shared; an argument says so."""
    framed = log_of("m", 20, argument(style="framed"))
    for sample in framed.samples:
        sample.input = f"Briefly: {sample.input}"
    code, out, err = run_podium("compare", save(log_of("m", 10), "a"), save(framed, "b"))
    assert code == 0
    assert "quiz: inputs differ between runs (style), so items are paired by id" in err
    assert "made/m (style=framed) by 33.3 points" in " ".join(out.split())


def test_a_log_is_ranked_by_the_hook_under_the_name_of_its_settings(capfd):
    """A flagged check changes no exit code."""
    paths = [
        save(log_of("m", 10, in_spec(metadata={"ranker": "mean"})), "a"),
        save(log_of("m", 20, in_spec(metadata={"ranker": "mean"}), argument(style="x")), "b"),
        save(log_of("other", 15, in_spec(metadata={"ranker": "mean"})), "c"),
    ]
    logs = [podium_log(path) for path in paths]
    assert rank_logs(logs)
    own = [
        [score.metrics["score"].value for score in log.results.scores if score.name == "mean"]
        for log in map(podium_log, paths)
    ]
    assert own == [[pytest.approx(1 / 3)], [pytest.approx(2 / 3)], [pytest.approx(1 / 2)]]
    assert "run with different settings: style of quiz" in " ".join(capfd.readouterr().err.split())


def test_costs_stand_beside_the_names_that_settings_give():
    def spent(tokens: int) -> Change:
        def change(log: EvalLog) -> None:
            usage = ModelUsage(input_tokens=tokens, output_tokens=tokens, total_tokens=2 * tokens)
            for sample in log.samples:
                sample.model_usage = {log.eval.model: usage}

        return change

    save(log_of("m", 10, spent(100)), "a")
    save(log_of("m", 20, spent(200), generation(temperature=1.0)), "b")
    battles = podium.read_battles("evals")
    table = costs_table(podium.rank(battles, "mean").standings[0], ["evals"], battles.runs)
    assert {row[0]: row[3] for row in table.rows} == {
        "made/m": "100",
        "made/m (temperature=1.0)": "200",
    }


@pytest.mark.slow
def test_two_prompts_are_compared_in_one_command_within_a_minute(run_podium):
    """Simulated models: the solver answers by itself."""
    logs = []
    for style, right in (("plain", 8), ("brief", 16)):
        [log] = eval(framed_quiz(style, right), model="mockllm/m", log_dir="logs")
        logs.append(log.location)
    begin = time.perf_counter()
    code, out, err = run_podium("compare", *logs)
    assert time.perf_counter() - begin < 60
    assert (code, "warning" in err) == (0, False)
    said = "mockllm/m (prompt={input}) is clearly behind mockllm/m (prompt=In one word: {input})"
    assert " ".join(out.split()).startswith(f"{said} by 40.0 points")


@pytest.mark.slow
def test_an_eval_of_two_prompts_is_ranked_by_the_hook():
    tasks = [framed_quiz("plain", 8), framed_quiz("brief", 16)]
    logs = eval(tasks, model="mockllm/m", log_dir="logs", metadata={"ranker": "mean"})
    scores = {}
    for log in logs:
        held = read_eval_log(log.location, header_only=True).results
        [own] = [score for score in held.scores if score.name == "mean"]
        scores[log.eval.task_id] = own.metrics["score"].value
    assert sorted(scores.values()) == pytest.approx([0.4, 0.8])


@solver
def frame(template: str):
    """Put the input into a template."""

    async def solve(state, generate):
        state.user_prompt.text = template.format(input=state.user_prompt.text)
        return state

    return solve


@solver
def answer_right(right: int):
    """Answer right on the first samples."""

    async def solve(state, generate):
        text = "yes" if int(state.sample_id) <= right else "no"
        state.output = ModelOutput.from_content("m", text)
        state.messages.append(state.output.message)
        state.completed = True
        return state

    return solve


def framed_quiz(style: str, right: int) -> Task:
    """Return a task whose prompt is made in the code."""
    template = {"plain": "{input}", "brief": "In one word: {input}"}[style]
    dataset = [Sample(input=f"Question {k}?", target="yes") for k in range(20)]
    solvers = [frame(template), answer_right(right)]
    return Task(dataset, solver=solvers, scorer=match(), name="quiz")


def podium_log(path: str) -> EvalLog:
    """Return the header of a log with its location."""
    return read_eval_log(path, header_only=True)


@pytest.mark.parametrize(
    ("change", "template"),
    [
        (prompt("{input}"), "{input}"),
        (prompt("Think. {input}\nAnswer:"), "Think. {input}\nAnswer:"),
        (prompt("{input}", system="Be kind."), "[system] Be kind.\n\n{input}"),
        (prompt("Something else"), None),
    ],
)
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_the_prompt_of_a_log_is_read_from_its_first_samples(change, template, suffix):
    log = log_of("m", 10, change)
    write_eval_log(log, f"a{suffix}")
    assert run_in_log(Path(f"a{suffix}"), log).prompt == template


def test_a_prompt_with_parts_of_a_single_sample_is_not_known():
    """The two samples show different templates, as with examples that are drawn for each."""
    log = log_of("m", 10)
    for sample in log.samples:
        sample.messages = [ChatMessageUser(content=f"{sample.id}: {sample.input}")]
    write_eval_log(log, "a.eval")
    assert run_in_log(Path("a.eval"), log).prompt is None


def test_an_old_log_has_the_options_of_its_scorers_in_its_results():
    log = log_of("m", 10, in_spec(scorers=None))
    log.results.scores[0].params = {"strict": True}
    write_eval_log(log, "a.eval")
    assert run_in_log(Path("a.eval"), log).scorers == (("exact", '{"strict": true}'),)


def test_a_model_that_grades_itself_is_named_as_grader():
    """Inspect asks the evaluated model where neither a model nor a grader is given."""

    def scorers_of(options, **roles):
        scorers = [EvalScorer(name="model_graded_qa", options=options)]
        roles = {name: ModelConfig(model=model) for name, model in roles.items()}
        log = log_of("m", 10, in_spec(scorers=scorers, model_roles=roles or None))
        return dict(run_in_log(Path("a.eval"), log).scorers)["model_graded_qa"]

    assert scorers_of({}) == '{"model": "made/m"}'
    assert scorers_of({"model": "x/y"}) == '{"model": "x/y"}'
    assert scorers_of({}, grader="x/y") == "{}"
    assert scorers_of({"model_role": "judge"}, grader="x/y") == (
        '{"model": "made/m", "model_role": "judge"}'
    )
