"""A team's own Inspect project: its logs are ranked and compared without an option."""

import importlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspect_ai import eval
from page_commands import printed_by, run_commands

import podium
from podium.show.report.brief_view import MOST_LINES

PROJECT = Path(__file__).parents[3] / "examples" / "existing_project"
MODELS = ["sim/strong", "sim/mid", "sim/weak"]
TASKS = ("arithmetic", "advice", "files")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run the project's tasks with its three models; return the folder of the logs."""
    folder = tmp_path_factory.mktemp("project")
    sys.path.insert(0, str(PROJECT))
    try:
        importlib.import_module("acme._registry")
        tasks = importlib.import_module("acme.tasks")
        for name in TASKS:
            eval(getattr(tasks, name)(), model=MODELS, log_dir=str(folder), display="none")
        yield folder
    finally:
        sys.path.remove(str(PROJECT))


@pytest.mark.slow
def test_each_task_has_a_table_by_its_headline(logs: Path) -> None:
    ranking = json.loads(podium.rank(logs).to_json())
    assert [one["slice"] for one in ranking["rankings"]] == sorted(TASKS)
    assert {one["models"][0]["model"] for one in ranking["rankings"]} == {"sim/strong"}
    assert ranking["provenance"]["metrics"] == [
        "advice advice_figures useful",
        "arithmetic match",
        "files includes",
    ]


@pytest.mark.slow
def test_nothing_is_said_twice_of_several_tasks(logs: Path) -> None:
    """Each task's answer is printed, and two of them have few items."""
    ranking = podium.rank(logs)
    answers = [" ".join(table.answer) for table in ranking.standings]
    few = [answer for answer in answers if "nly " in answer and "items: the intervals" in answer]
    assert len(few) > 1
    assert not [
        note for table in ranking.standings for note in table.warnings if note.code == "items"
    ]
    assert not any("three tasks" in answer or "3 tasks" in answer for answer in answers)
    printed = str(ranking)
    assert printed.count("fewer than 30") == 0
    by_task = podium.rank(podium.read_battles(logs), by="task")
    shown = by_task.standings[0].slice
    warned = {
        table.slice
        for table in by_task.standings
        for note in table.warnings
        if note.code == "items"
    }
    assert warned
    assert shown not in warned, "of slices that were asked for, only the first answer is printed"


@pytest.mark.slow
def test_another_figure_is_ranked_where_it_is(logs: Path) -> None:
    battles = podium.read_battles(logs, metric="polite")
    ranking = podium.rank(battles)
    [standings] = ranking.standings
    [note] = [note for note in battles.notes if note.code == "metric-of-no-run"]
    assert note.fields["tasks"] == ["arithmetic", "files"]
    assert not battles.lost
    assert {entry.model for entry in standings.entries} == {*MODELS}
    assert ranking.provenance["metrics"] == ["advice advice_figures polite"]


@pytest.mark.slow
def test_two_models_are_compared_on_each_task(logs: Path) -> None:
    comparison = podium.compare("sim/strong", "sim/mid", logs)
    questions = [finding.question for finding in comparison.findings]
    assert questions == ["advice advice_figures useful", "arithmetic match", "files includes"]


@pytest.mark.slow
def test_free_text_is_judged_on_the_logs(logs: Path, tmp_path: Path) -> None:
    [log] = eval(
        "podium/round_robin",
        task_args={"responses": str(logs), "category": "advice"},
        model_roles={"judge": "podium/offline"},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    [standings] = podium.rank(tmp_path).standings
    assert [entry.model for entry in standings.entries] == MODELS
    both = podium.rank(podium.read_battles(logs, tmp_path))
    assert [(table.slice, table.ranker) for table in both.standings] == [
        ("advice", "mean"),
        ("arithmetic", "mean"),
        ("files", "mean"),
        ("tournament of advice", "bradley-terry"),
    ], "scores are not ranked as verdicts, and the tournament played one of three tasks"
    scores = podium.rank(logs).standings
    assert [table.entries for table in both.standings[:3]] == [table.entries for table in scores]


def install(project: Path, place: Path) -> None:
    """Install the project as pip does, where Inspect takes a folder for one of installed packages.

    Args:
        project: the project.
        place: a folder; the packages go into `site-packages` there.
    """
    packages = place / "site-packages"
    shutil.copytree(project / "acme", packages / "acme")
    about = packages / "acme-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text("[inspect_ai]\nacme = acme._registry\n")


@pytest.mark.slow
def test_the_readme_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(PROJECT.parent, tmp_path / "examples")
    install(PROJECT, tmp_path)
    paths = [str(tmp_path / "site-packages"), os.environ.get("PYTHONPATH", "")]
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "120"}
    assert run_commands(PROJECT / "README.md", tmp_path, variables=variables) == []


@pytest.mark.slow
@pytest.mark.parametrize("judged", [True, False])
def test_the_ranking_of_one_model_adds_at_most_twelve_lines(tmp_path: Path, judged: bool) -> None:
    """The streams are joined, and no terminal is there, as in a log of a build."""
    install(PROJECT, tmp_path)
    paths = [str(tmp_path / "site-packages"), os.environ.get("PYTHONPATH", "")]
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "INSPECT_DISPLAY": ""}
    task = "acme/advice" if judged else "acme/arithmetic"
    options = ["--ranker", "soft-elo", "--ranker-judge", "podium/offline"]
    if not judged:
        options = ["--ranker", "bradley-terry"]
    for number, model in enumerate(MODELS):
        words = ["podium", "inspect", "eval", task, "--model", model]
        code, plain = printed_by([*words, "--log-dir", "plain"], tmp_path, variables)
        assert code == 0, plain
        pin = [] if number else ["--ranker-pin", model]
        code, ranked = printed_by(
            [*words, "--log-dir", "ranked", *options, *pin], tmp_path, variables
        )
        assert code == 0, ranked
        own = ranked.splitlines()
        assert "podium" in ranked.removeprefix(plain[:200])
        assert len(own) - len(plain.splitlines()) <= MOST_LINES, ranked
        answers = [line for line in own if "podium: " in line or "podium round_robin: " in line]
        assert answers
        assert all(line.startswith("podium") for line in answers), "each has a line of its own"
        assert "replies=" not in ranked, "how the judge is asked is in the log"
        if number:
            assert f" {model} " in ranked


@pytest.mark.slow
def test_what_holds_of_several_tasks_is_printed_once(tmp_path: Path) -> None:
    install(PROJECT, tmp_path)
    paths = [str(tmp_path / "site-packages"), os.environ.get("PYTHONPATH", "")]
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    words = ["podium", "inspect", "eval", "acme/advice", "acme/files", "--log-dir", "logs"]
    models = ["--model", "sim/strong,sim/mid", "--ranker", "bradley-terry"]
    code, printed = printed_by([*words, *models], tmp_path, variables)
    assert code == 0
    told = [line for line in printed.splitlines() if line.startswith("podium: ")]
    assert sum("change as models join" in line for line in told) == 1
    assert len(told) == len({*told})
