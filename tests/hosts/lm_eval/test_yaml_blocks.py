"""Config only: a task's YAML, lm-eval's own command, and its output read by `podium rank`."""

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_commands import COMMANDS, printed_by, run_commands

# The folder of these tests is called lm_eval, too.
pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")

import lm_eval
from click.testing import CliRunner
from judged_tasks import ITEMS, evaluated, figure, verdicts, write_opponents, write_task
from lm_eval.api import registry
from running import bare, results
from stand_in import StandIn

import podium.hosts.lm_eval
from podium.cli.main import podium as podium_command
from podium.data.reading.judgments import read_battles
from podium.errors import DataError
from podium.hosts.lm_eval import metrics
from podium.notices.notice_text import notice_texts
from podium.ranking.rank_battles import rank
from podium.show.report.brief_view import MOST_LINES

ROOT = Path(__file__).parents[3]
BLOCK = Path(podium.hosts.lm_eval.__path__[0]) / "yaml" / "judged.yaml"
# No instruction has a demand that the stand-in judge can check, so it takes the first response.
OFFLINE = {"judge": "podium/offline", "item": "id", "on_bad_judge": "continue"}


def test_every_name_of_the_metric_list_is_registered():
    for entry in metrics.SOFT_METRICS:
        assert registry.get_metric(entry["metric"]) is not None
        assert registry.get_metric_aggregation(entry["metric"]) is registry.get_aggregation(
            entry["aggregation"]
        )
        assert registry.is_higher_better(entry["metric"]) is entry["higher_is_better"]


def test_no_entry_point_is_declared_that_lm_eval_does_not_load():
    """lm-eval finds podium's names when a task's YAML imports them by `!function`."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    sources = Path(lm_eval.__path__[0]).rglob("*.py")
    loaded = "".join(path.read_text(encoding="utf-8") for path in sources)
    groups = [group for group in declared if group.startswith("lm_eval")]
    assert [group for group in groups if f'group="{group}"' not in loaded] == []


@pytest.mark.slow
def test_the_packaged_block_is_included_by_its_path(tmp_path: Path):
    tasks = write_task(tmp_path, {**OFFLINE, "against": write_opponents(tmp_path)})
    whole = (tasks / "judged.yaml").read_text()
    left = [
        line
        for line in whole.splitlines()
        if not line.startswith(("metric_list", "doc_to_target", "output_type"))
    ]
    (tasks / "judged.yaml").write_text("\n".join([f"include: {BLOCK}", *left]))
    assert figure(evaluated(tasks), "judged") == ITEMS * 2


@pytest.mark.slow
def test_a_part_of_the_metrics_is_a_list_of_ones_own(tmp_path: Path):
    tasks = write_task(tmp_path, {**OFFLINE, "against": write_opponents(tmp_path)})
    text = (tasks / "judged.yaml").read_text().partition("metric_list:")[0]
    (tasks / "judged.yaml").write_text(
        text + "metric_list:\n  - metric: win_rate\n  - metric: unparsed\n"
    )
    found = evaluated(tasks)["results"]["judged"]
    assert {"win_rate,judged", "unparsed,judged"} <= found.keys()
    assert "bradley_terry,judged" not in found


@pytest.mark.slow
def test_the_word_off_is_no_boolean(tmp_path: Path):
    """YAML reads `logprobs: off` as false."""
    tasks = write_task(
        tmp_path, {**OFFLINE, "against": write_opponents(tmp_path), "logprobs": False}
    )
    assert figure(evaluated(tasks), "judged") == ITEMS * 2


@pytest.mark.slow
def test_the_plain_filter_beside_the_judging_one_has_no_verdicts(tmp_path: Path):
    """lm-eval computes every metric for every filter: where none judged, nothing is reported as
    judged."""
    tasks = write_task(tmp_path, {**OFFLINE, "against": write_opponents(tmp_path)})
    text = (tasks / "judged.yaml").read_text()
    plain = "filter_list:\n  - name: plain\n    filter:\n      - function: take_first\n"
    (tasks / "judged.yaml").write_text(text.replace("filter_list:\n", plain))
    found = evaluated(tasks)["results"]["judged"]
    assert (found["judged,judged"], found["judged,plain"]) == (ITEMS * 2, 0)
    assert found["win_rate,plain"] != found["win_rate,plain"]


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    """Start the example's models; return their address."""
    command = [sys.executable, str(ROOT / "examples" / "lm_eval" / "serve.py"), "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().split()[-1]
    process.kill()
    process.wait()


def run_example(patch: pytest.MonkeyPatch, address: str, model: str, task: str, *more: str) -> int:
    """Run lm-eval's command as the example's README says."""
    command_line = ["--config", "examples/lm_eval/run.yaml", "--tasks", task]
    return bare(
        patch, "run", *command_line, "--model_args", f"model={model}", f"base_url={address}", *more
    )


@pytest.fixture
def example(models: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run the example: three earlier models, then one that is judged; return the output folder."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("linden", "nettle", "alder"):
        run_example(monkeypatch, models, name, "podium_instructions")
    run_example(monkeypatch, models, "rowan", "podium_instructions_judged")
    return tmp_path / "out"


@pytest.mark.slow
def test_the_example_runs_and_podium_rank_says_what_lm_evals_table_says(example: Path):
    reported = results(example / "rowan")["results"]["podium_instructions_judged"]
    assert (reported["judged,judged"], reported["unparsed,judged"], reported["missing,judged"]) == (
        40,
        0,
        2,
    )
    for ranker, metric in (("bradley-terry", "bradley_terry"), ("win-rate", "win_rate")):
        reported_text = CliRunner().invoke(
            podium_command, ["rank", str(example), "--ranker", ranker, "--format", "json"]
        )
        models = json.loads(reported_text.stdout)["rankings"][0]["models"]
        own = next(one for one in models if one["model"] == "rowan")
        assert reported[f"{metric},judged"] == pytest.approx(own["score"], abs=1e-9)
        assert reported[f"{metric}_stderr,judged"] == pytest.approx(own["se"], rel=1e-9)


def judged_folder(folder: Path, found: dict[str, Any], name: str = "own") -> Path:
    """Write samples as lm-eval does, into a folder of that name."""
    place = folder / name
    place.mkdir(parents=True)
    rows = [
        {**row, "arguments": {"gen_args_0": {"arg_0": "?"}}} for row in found["samples"]["judged"]
    ]
    path = place / "samples_judged_2026-01-01T00-00-00.000000.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


@pytest.fixture
def found(tmp_path: Path, server: StandIn, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the results of a run that a model judged."""
    monkeypatch.setenv("STANDIN_API_KEY", "none")
    judge = {
        "judge": "openai-api/standin/judge",
        "judge_args": {"base_url": f"{server.address}/v1"},
        "item": "id",
    }
    return evaluated(write_task(tmp_path, {**judge, "against": write_opponents(tmp_path)}))


@pytest.mark.slow
def test_verdicts_are_read_back_with_both_orders_merged(found: dict[str, Any], tmp_path: Path):
    battles = read_battles(judged_folder(tmp_path / "out", found))
    assert (battles.models, len(battles), battles.counts().judgments) == (
        ("elm", "fir", "own"),
        16,
        32,
    )
    entry = next(
        one for one in rank(battles, "win-rate").standings[0].entries if one.model == "own"
    )
    assert entry.score == pytest.approx(figure(found, "win_rate"), abs=1e-9)
    assert entry.se == pytest.approx(figure(found, "win_rate_stderr"), rel=1e-9)
    assert 0 < entry.score != 0.5


@pytest.mark.slow
def test_a_label_names_the_runs_own_model(found: dict[str, Any], tmp_path: Path):
    assert "mine" in read_battles(f"mine={judged_folder(tmp_path / 'out', found)}").models


@pytest.mark.slow
def test_a_model_called_as_its_opponent_is_rejected(found: dict[str, Any], tmp_path: Path):
    with pytest.raises(DataError, match="'elm' is the name of both sides"):
        read_battles(judged_folder(tmp_path / "out", found, "elm"))


@pytest.mark.slow
def test_a_metric_that_is_asked_for_is_read_instead(found: dict[str, Any], tmp_path: Path):
    first, second = (judged_folder(tmp_path / "out", found, name) for name in ("one", "two"))
    battles = read_battles(first, second, metric="win_rate,judged")
    assert battles.models == ("one", "two")


@pytest.mark.slow
def test_forged_verdicts_in_a_response_are_not_read(found: dict[str, Any], tmp_path: Path):
    """A plain filter passes on the response, which here imitates the judging filter's output."""
    for row in found["samples"]["judged"]:
        row["resps"] = [[row["filtered_resps"][0]]]
    with pytest.raises(DataError, match="only own has samples of it"):
        read_battles(judged_folder(tmp_path / "out", found))


@pytest.mark.slow
def test_truncated_line_is_reported_and_the_rest_is_read(found: dict[str, Any], tmp_path: Path):
    place = judged_folder(tmp_path / "out", found)
    path = next(place.glob("samples_*"))
    path.write_text(path.read_text()[:-40])
    battles = read_battles(place)
    assert len(battles) == 14
    assert any("cut off" in note for note in notice_texts(battles.notes))


@pytest.mark.slow
def test_verdicts_contain_the_judge_reply(found: dict[str, Any]):
    shown = [
        one for row in verdicts(found) for battle in row["battles"] for one in battle["judgments"]
    ]
    assert {one["order"] for one in shown} == {"ab", "ba"}
    assert all(len(one["replies"]) == 1 for one in shown)


@pytest.mark.slow
def test_the_readme_shows_what_its_commands_print(models: str, tmp_path: Path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    page = ROOT / "examples" / "lm_eval" / "README.md"
    address = "http://127.0.0.1:8123/v1/chat/completions"
    variables = {
        "COLUMNS": "120",
        "INSPECT_LOG_DIR": str(tmp_path / "logs"),
        "LOCAL_BASE_URL": models.removesuffix("/chat/completions"),
        "LOCAL_API_KEY": "none",
    }
    own = {"replaced": (address, models), "programs": (*COMMANDS, "lm_eval")}
    assert run_commands(page, tmp_path, variables=variables, **own) == []


def lines_of(printed: str) -> list[str]:
    """Return the lines without progress bars, which are drawn more often on a busy machine."""
    return [line for line in printed.splitlines() if "%|" not in line]


@pytest.mark.slow
def test_the_ranking_of_one_run_adds_at_most_twelve_lines(models: str, tmp_path: Path):
    """The streams are joined. lm-eval's own table has rows with podium's figures, which count."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    options = ["--ranker", "soft-elo", "--ranker_judge", "podium/offline"]
    variables = {"INSPECT_DISPLAY": ""}
    for number, model in enumerate(("linden", "nettle", "alder", "rowan")):
        words = ["podium", "lm_eval", "run", "--config", "examples/lm_eval/run.yaml"]
        words += ["--tasks", "podium_instructions"]
        words += ["--model_args", f"model={model}", f"base_url={models}"]
        pin = [] if number else ["--ranker_pin", model]
        code, plain = printed_by([*words, "--output_path", "plain"], tmp_path, variables)
        assert code == 0, plain
        code, ranked = printed_by(
            [*words, "--output_path", "ranked", *options, *pin], tmp_path, variables
        )
        assert code == 0, ranked
        assert len(lines_of(ranked)) - len(lines_of(plain)) <= MOST_LINES, ranked
        assert "hooks enabled" not in ranked
        assert "replies=" not in ranked, "how the judge is asked is in the log"
        if number:
            assert f" {model} " in ranked
