"""`podium lm_eval run ... --ranker` without a judge: the task's own metric decides, against runs on
disk."""

import json
from pathlib import Path

import pytest

pytest.importorskip("lm_eval.api")

from click.testing import CliRunner
from running import bare, calls, results, run

from podium.cli.main import podium
from podium.data.reading.judgments import read_battles
from podium.errors import UsageError
from podium.hosts.lm_eval.lm_eval_command import extend
from podium.ranking.rank_battles import rank

SCHEMA = Path(__file__).parents[3] / "docs" / "ranking.schema.json"
MODELS = ("ash-0.9", "elm-0.7", "fir-0.4")
TWO_METRICS = """\
include: sums.yaml
task: sums_twice
filter_list:
  - name: whole_text
    filter:
      - {function: take_first}
  - name: number
    filter:
      - {function: regex, regex_pattern: "answer is (\\\\d+)"}
      - {function: take_first}
"""
GROUP = """\
group: both
task: [sums, sums_again]
aggregate_metric_list:
  - {metric: exact_match, filter_list: number, weight_by_size: true}
"""


@pytest.fixture
def three(monkeypatch, task_of_sums, server, capfd):
    """Run three models with a script that adds `--ranker`; return what was printed, run by run."""
    printed = []
    for model in MODELS:
        assert (
            run(
                monkeypatch,
                task_of_sums,
                server,
                model,
                "-o",
                "out",
                "--ranker",
                "bradley-terry,win-rate",
            )
            == 0
        )
        printed.append(capfd.readouterr())
    return printed


@pytest.mark.slow
def test_the_third_run_says_what_podium_rank_says_of_the_folders(three, server, tmp_path):
    rows = results(tmp_path / "out" / "fir-0.4")
    by_hand = rank(read_battles("out"), ["bradley-terry", "win-rate"])
    [bradley_terry, win_rate] = by_hand.standings
    own = {
        one.ranker: next(entry for entry in one.entries if entry.model == "fir-0.4")
        for one in by_hand.standings
    }
    figures = rows["results"]["sums"]
    for name, entry in own.items():
        assert figures[f"{name},podium"] == entry.score
        assert figures[f"{name}_stderr,podium"] == entry.se
        assert rows["higher_is_better"]["sums"][name] is True
    assert rows["podium"]["rankings"] == json.loads(by_hand.to_json())["rankings"]
    assert bradley_terry.counts.battles == win_rate.counts.battles == 3 * 40
    assert calls(server, MODELS) == 3 * 40


@pytest.mark.slow
@pytest.mark.parametrize("has_judge", [False, True])
def test_the_first_run_of_a_task_without_a_metric_says_that_it_needs_a_judge(
    has_judge, monkeypatch, task_of_sums, server, capfd
):
    task = task_of_sums / "sums.yaml"
    text = task.read_text()
    assert "\nfilter_list:" in text
    task.write_text(text.partition("\nfilter_list:")[0] + "\nmetric_list: []\n")
    words = ("-o", "out", "--ranker", "win-rate")
    judge = ("--ranker_judge", "podium/offline") if has_judge else ()
    assert run(monkeypatch, task_of_sums, server, "ash-0.9", *words, *judge) == 0
    said = " ".join(capfd.readouterr().err.split())
    needs = "they have no metric to rank by: name a judge with --ranker_judge"
    assert (needs in said) != has_judge
    assert ("the next run can be ranked against it" in said) == has_judge
    if not has_judge:
        assert run(monkeypatch, task_of_sums, server, "elm-0.6", *words) == 0
        said = " ".join(capfd.readouterr().err.split())
        why = "not ranked: the tasks of this run have no metric to rank by: name a judge with"
        assert f"{why} --ranker_judge" in said


@pytest.mark.slow
def test_the_ranking_stands_in_the_hosts_table_and_whole_on_stderr(three):
    first, _, third = three
    assert "bradley-terry" not in first.out
    assert "not ranked: ash-0.9 is the first model in out" in first.err
    [row] = [line for line in third.out.splitlines() if "bradley-terry" in line]
    assert [cell.strip() for cell in row.split("|")][3:7] == ["podium", "0", "bradley-terry", "↑"]
    assert all(
        name in third.err
        for name in (*MODELS, "120 battles decided by scores", "informative items")
    )


@pytest.mark.slow
def test_the_section_podium_follows_the_shared_schema(three, tmp_path):
    import jsonschema

    kept = results(tmp_path / "out" / "elm-0.7")["podium"]
    jsonschema.validate(kept, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert kept["provenance"]["sources"][-1].endswith("samples_sums_*.jsonl")


@pytest.mark.slow
def test_the_legacy_form_and_a_config_file_ask_for_the_same(
    three, monkeypatch, task_of_sums, server, tmp_path, capfd
):
    stated = results(tmp_path / "out" / "fir-0.4")["podium"]["rankings"]
    reported = {
        "model": "local-chat-completions",
        "model_args": {"model": "fir-0.4", "base_url": server.chat, "num_concurrent": 8},
        "tasks": ["sums"],
        "apply_chat_template": True,
        "include_path": str(task_of_sums),
        "output_path": "elsewhere",
        "ranker": {"name": ["bradley-terry", "win-rate"], "against": "out"},
    }
    Path("run.yaml").write_text(json.dumps(reported))
    assert bare(monkeypatch, "--config", "run.yaml", "--limit", "40") == 0
    asked = results(tmp_path / "elsewhere" / "fir-0.4")["podium"]["rankings"]
    # The check of settings names the limit of this run, which holds all documents.
    assert [{**one, "checks": None} for one in asked] == [{**one, "checks": None} for one in stated]
    assert "this run of fir-0.4 counts, not the earlier ones" in capfd.readouterr().err
    # An option typed counts more than the file.
    assert bare(monkeypatch, "run", "--config", "run.yaml", "--ranker", "mean", "-o", "third") == 0
    assert [
        one["ranker"] for one in results(tmp_path / "third" / "fir-0.4")["podium"]["rankings"]
    ] == ["mean"]


@pytest.mark.slow
def test_soft_elo_without_beta_is_saved_as_bradley_terry(
    three, monkeypatch, task_of_sums, server, tmp_path, capfd
):
    reported = ("-o", "out", "--ranker", "soft-elo,win-rate")
    assert run(monkeypatch, task_of_sums, server, "oak-0.5", *reported) == 0
    printed = capfd.readouterr().err
    assert printed.index("will be ranked by bradley-terry") < printed.index(
        "ranked by bradley-terry, not by soft-elo"
    )
    assert "`podium rank --ranker soft-elo --calibration FILE` uses them" in printed
    figures = results(tmp_path / "out" / "oak-0.5")["results"]["sums"]
    assert {"bradley-terry,podium", "win-rate,podium"} <= figures.keys()
    assert "soft-elo,podium" not in figures
    assert (
        run(monkeypatch, task_of_sums, server, "oak-0.5", *reported, "--ranker_set", "beta=0.5")
        == 0
    )
    [own] = [
        one
        for one in rank(read_battles("out"), "soft-elo", beta=0.5).standings[0].entries
        if "oak" in one.model
    ]
    assert results(tmp_path / "out" / "oak-0.5")["results"]["sums"]["soft-elo,podium"] == own.score


@pytest.mark.slow
@pytest.mark.parametrize("judge", [(), ("--ranker_judge", "podium/offline")])
def test_a_pin_on_an_absent_model_is_reported_before_the_run(
    judge, three, monkeypatch, task_of_sums, server, capfd
):
    reported = ("-o", "out", "--ranker", "bradley-terry", "--ranker_set", "pin=birch:1000", *judge)
    assert run(monkeypatch, task_of_sums, server, "oak-0.5", *reported) == 2
    assert "no model called 'birch'" in capfd.readouterr().err
    assert calls(server, ["oak-0.5"]) == 0


@pytest.mark.slow
def test_a_pin_on_this_runs_model_is_kept(three, monkeypatch, task_of_sums, server, tmp_path):
    reported = ("-o", "out", "--ranker", "bradley-terry", "--ranker_set", "pin=oak-0.5:1000")
    assert run(monkeypatch, task_of_sums, server, "oak-0.5", *reported) == 0
    assert results(tmp_path / "out" / "oak-0.5")["results"]["sums"]["bradley-terry,podium"] == 1000


@pytest.mark.slow
def test_trackers_get_the_figures_with_the_hosts_own(three, tmp_path):
    """As lm-eval's logger for Weights & Biases flattens them, without the service."""
    from lm_eval.loggers.wandb_logger import WandbLogger

    logger = WandbLogger.__new__(WandbLogger)
    logger.post_init(results(tmp_path / "out" / "fir-0.4"))
    _, figures = logger._sanitize_results_dict()
    assert {
        "sums/exact_match,number",
        "sums/win-rate,podium",
        "sums/win-rate_stderr,podium",
    } <= figures.keys()
    assert logger.results["podium"]["rankings"]


@pytest.mark.slow
def test_without_output_path_the_table_has_it_and_samples_are_not_dumped(
    three, monkeypatch, task_of_sums, server, capfd
):
    more = (
        "--ranker",
        "win-rate",
        "--ranker_against",
        "out",
        "--ranker_label",
        "newcomer",
        "--show_config",
    )
    assert run(monkeypatch, task_of_sums, server, "fir-0.4", *more, "--limit", "10") == 0
    out, err = capfd.readouterr()
    assert "win-rate" in out
    assert '"resps"' not in out
    assert "newcomer" in err
    assert "10 are common to all" in err
    assert not list(Path("out").rglob("*newcomer*"))


def test_a_run_without_ranker_is_the_hosts_alone(
    monkeypatch, task_of_sums, server, tmp_path, capfd
):
    assert run(monkeypatch, task_of_sums, server, "ash-0.9", "-o", "out") == 0
    assert "podium" not in results(tmp_path / "out" / "ash-0.9")
    assert not list(Path("out").rglob("samples_*"))
    assert "podium" not in "".join(capfd.readouterr()).replace("podium_", "")


@pytest.mark.slow
def test_tasks_and_groups_are_ranked_each_by_the_first_metric_where_none_is_named(
    monkeypatch, task_of_sums, server, tmp_path, capfd
):
    (task_of_sums / "again.yaml").write_text("include: sums.yaml\ntask: sums_again\n")
    (task_of_sums / "twice.yaml").write_text(TWO_METRICS)
    (task_of_sums / "both.yaml").write_text(GROUP)
    for model in ("ash-0.9", "elm-0.7"):
        reported = ("-o", "out", "--ranker", "win-rate")
        code = run(monkeypatch, task_of_sums, server, model, *reported, task="both,sums_twice")
    assert code == 0
    printed = capfd.readouterr().err
    for name in ("both", "sums", "sums_again", "sums_twice"):
        assert f"\nOn {name}: " in printed
    assert printed.index("On both: ") < printed.index("On sums: ")
    assert "4 tasks (both, sums, sums_again, sums_twice), each ranked alone" in printed
    figures = results(tmp_path / "out" / "elm-0.7")
    for name in ("sums", "sums_again", "sums_twice"):
        by_hand = rank(
            read_battles("out", where={"task": name}, metric="exact_match,number"), "win-rate"
        )
        [own] = [entry for entry in by_hand.standings[0].entries if entry.model == "elm-0.7"]
        assert figures["results"][name]["win-rate,podium"] == own.score
    assert (
        figures["groups"]["both"]["win-rate,podium"]
        == figures["results"]["both"]["win-rate,podium"]
    )
    slices = {(one["slice"], one["counts"]["battles"]) for one in figures["podium"]["rankings"]}
    assert slices == {
        ("sums", 40),
        ("sums_again", 40),
        ("both", 80),
        ("sums_twice", 40),
    }


@pytest.mark.slow
def test_unbounded_rating_is_omitted_from_the_table_and_reported(
    monkeypatch, task_of_sums, server, tmp_path, capfd
):
    for model in ("nil-0.0", "one-1.0"):
        assert (
            run(
                monkeypatch,
                task_of_sums,
                server,
                model,
                "-o",
                "out",
                "--ranker",
                "bradley-terry,win-rate",
            )
            == 0
        )
    figures = results(tmp_path / "out" / "one-1.0")["results"]["sums"]
    assert "bradley-terry,podium" not in figures
    assert figures["win-rate,podium"] == 1.0
    assert "no bradley-terry of one-1.0 on sums in lm-eval's table" in capfd.readouterr().err


@pytest.mark.slow
def test_ranking_failure_is_reported_after_results_are_saved(
    three, monkeypatch, task_of_sums, server, tmp_path, capfd
):
    (task_of_sums / "sums.jsonl").write_text('{"question": "What is 90 plus 9?", "answer": "99"}\n')
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "other"))
    ranked = ("-o", "out", "--ranker", "win-rate")
    assert run(monkeypatch, task_of_sums, server, "oak-0.5", *ranked, "--ranker_strict") == 3
    out, err = capfd.readouterr()
    rows = results(tmp_path / "out" / "oak-0.5")
    assert "exact_match" in out
    assert rows["n-samples"]["sums"]["effective"] == 1
    assert list((tmp_path / "out" / "oak-0.5").glob("samples_sums_*.jsonl"))
    assert "this run/samples_sums" in err
    assert "oak-0.5 has another input" in err
    assert "the runs of sums share no input" in err
    assert "accept it with --ranker_allow questions" in err
    allowed = ("-o", "out", "--ranker", "win-rate", "--ranker_allow", "questions")
    assert run(monkeypatch, task_of_sums, server, "oak-0.5", *allowed) == 0
    said = " ".join(capfd.readouterr().err.split())
    accepted = "Accepted with --ranker_allow questions: oak-0.5 has another input"
    assert accepted in " ".join(said.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "code", "stated"),
    [
        (KeyboardInterrupt, 130, "stopped; lm-eval's own results are saved\n"),
        (KeyboardInterrupt("; go on so"), 130, "lm-eval's own results are saved; go on so\n"),
        (MemoryError, 0, "MemoryE"),
    ],
)
def test_results_are_saved_whatever_happens_to_the_ranking(
    three, error, code, stated, monkeypatch, task_of_sums, server, tmp_path, capfd
):
    def broken(*arguments, **options):
        raise error

    monkeypatch.setattr("podium.hosts.host_ranking.rank", broken)
    assert (
        run(monkeypatch, task_of_sums, server, "oak-0.5", "-o", "out", "--ranker", "win-rate")
        == code
    )
    assert results(tmp_path / "out" / "oak-0.5")["results"]["sums"]["exact_match,number"] > 0
    assert stated in capfd.readouterr().err


@pytest.mark.slow
def test_a_process_that_has_no_results_ranks_nothing(monkeypatch, task_of_sums, server, tmp_path):
    import lm_eval.evaluator

    monkeypatch.setattr(lm_eval.evaluator, "simple_evaluate", lambda **options: None)
    assert (
        run(monkeypatch, task_of_sums, server, "ash-0.9", "-o", "out", "--ranker", "win-rate") == 0
    )
    assert not list(Path("out").rglob("*.json")) if Path("out").exists() else True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "stated"),
    [
        (("--ranker", "soft-eol", "-o", "out"), "did you mean 'soft-elo'?"),
        (("--ranker", "win-rate"), "name other runs with --ranker_against, or an --output_path"),
        (
            ("--ranker", "win-rate", "--ranker_against", "nowhere"),
            "no such file or directory: nowhere",
        ),
        (("--ranker", "win-rate", "--ranker_against", "tasks"), "there are no samples of lm-eval"),
        (
            ("--ranker", "win-rate", "-o", "out", "--predict_only"),
            "name a judge with --ranker_judge",
        ),
        (
            ("--ranker", "win-rate", "-o", "out", "--ranker_tournament", "swim"),
            "name a judge with --ranker_judge",
        ),
        (
            ("--ranker", "win-rate", "-o", "out", "--ranker_set", "ancor=x"),
            "did you mean 'anchor'?",
        ),
        (
            ("--ranker", "win-rate", "-o", "out", "--ranker_set", "anchor"),
            "--ranker_set 'anchor': write KEY=VALUE",
        ),
        (("--ranker", "soft-elo", "-o", "out", "--ranker_calibration", "none.json"), "none.json"),
        (("-o", "out", "--ranker_label", "x"), "has no effect without --ranker NAME"),
    ],
)
def test_wrong_usage_is_reported_before_the_run(
    typed, stated, monkeypatch, task_of_sums, server, capfd
):
    assert run(monkeypatch, task_of_sums, server, "ash-0.9", *typed) == 2
    assert stated in capfd.readouterr().err
    assert calls(server, MODELS) == 0


def test_an_unknown_key_of_the_section_is_rejected(monkeypatch, capfd):
    Path("run.yaml").write_text("tasks: [sums]\nranker: {name: win-rate, agianst: out}\n")
    assert bare(monkeypatch, "run", "--config", "run.yaml") == 2
    assert "did you mean 'ranker_against'?" in capfd.readouterr().err


def test_the_hosts_help_shows_the_options_and_its_other_commands_are_as_they_were(
    monkeypatch, capfd
):
    assert bare(monkeypatch, "run", "--help") == 0
    shown = capfd.readouterr().out
    assert "ranking (podium):" in shown
    assert all(
        f"--{name}" in shown
        for name in ("ranker", "ranker_against", "ranker_judge", "ranker_args", "tasks")
    )
    for command in (("--help",), ("ls", "--help"), ("validate", "--help")):
        assert bare(monkeypatch, *command) == 0
        assert "ranker" not in capfd.readouterr().out
    assert bare(monkeypatch, "ls", "--ranker", "x") == 2


def test_extending_twice_adds_the_options_once(capfd):
    from lm_eval._cli.harness import HarnessCLI

    cli = HarnessCLI()
    extend(cli)
    extend(cli)
    cli._subparsers.choices["run"].print_help()
    assert capfd.readouterr().out.count("ranking (podium):") == 1


def test_a_command_line_that_is_built_otherwise_still_runs_and_says_what_to_use_instead(
    monkeypatch, capfd
):
    monkeypatch.setattr("lm_eval._cli.harness.Run.create", lambda commands: None)
    assert bare(monkeypatch, "ls", "--help") == 0
    assert "usage: lm-eval" in capfd.readouterr().out
    with pytest.raises(UsageError, match="podium rank OUTPUT_DIRS --ranker NAME"):
        bare(monkeypatch, "run", "--ranker", "win-rate")


def test_podium_passes_arguments_and_exit_code_on():
    reported = CliRunner().invoke(podium, ["lm_eval", "run", "--nonsense"])
    assert reported.exit_code == 2
    assert "unrecognized arguments: --nonsense" in reported.output


@pytest.mark.slow
def test_runs_of_one_model_with_other_settings_of_generation_are_ranked(
    monkeypatch, task_of_sums, server, tmp_path, capfd
):
    monkeypatch.chdir(tmp_path)
    for k, heat in enumerate(("0", "0.7")):
        more = ("--gen_kwargs", f"temperature={heat}", "--limit", "12", "--log_samples")
        assert run(monkeypatch, task_of_sums, server, "ash-0.9", *more, "-o", f"out/t{k}") == 0
    against = ("--ranker", "win-rate,mean", "--ranker_against", "out/t0", "out/t1")
    more = ("--gen_kwargs", "temperature=1", "--limit", "12", "-o", "out/t2")
    assert run(monkeypatch, task_of_sums, server, "ash-0.9", *more, *against) == 0
    rows = results(tmp_path / "out" / "t2" / "ash-0.9")
    names = {f"ash-0.9 (temperature={heat})" for heat in ("0", "0.7", "1")}
    assert {one["model"] for one in rows["podium"]["rankings"][0]["models"]} == names
    assert "win-rate,podium" in rows["results"]["sums"]
    said = capfd.readouterr().err
    assert f"with other settings count as different models: {', '.join(sorted(names))}" in said
    assert "not the earlier ones" not in said
    assert {
        one.model for one in rank(read_battles("out"), "win-rate").standings[0].entries
    } == names
    # The same settings once more: the run replaces the one before.
    assert run(monkeypatch, task_of_sums, server, "ash-0.9", *more, *against, "out/t2") == 0
    assert (
        "this run of ash-0.9 (temperature=1) counts, not the earlier ones" in capfd.readouterr().err
    )


@pytest.mark.slow
def test_earlier_runs_of_this_runs_model_count_as_repeats_if_the_user_says_so(
    three, monkeypatch, task_of_sums, server, tmp_path, capfd
):
    again = ("-o", "out", "--ranker", "mean", "--ranker_runs", "all")
    assert run(monkeypatch, task_of_sums, server, "fir-0.4", *again) == 0
    assert "not the earlier ones" not in capfd.readouterr().err
    ranking = results(tmp_path / "out" / "fir-0.4")["podium"]
    by_hand = rank(read_battles("out", runs="all"), "mean").to_dict()
    assert ranking["rankings"][0]["models"] == by_hand["rankings"][0]["models"]
    assert ranking["provenance"]["options"]["reading"]["runs"] == "all"
