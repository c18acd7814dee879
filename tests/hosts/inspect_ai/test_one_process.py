"""One process: packs by default, costly options off, batches passed on, rounds announced."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import eval
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi

import podium
from podium.hosts.inspect_ai.inspect_command import cpu_saving_flags
from podium.hosts.inspect_ai.tasks import anchor, chain, ring, round_robin, swim
from podium.hosts.inspect_ai.tournament import tournament_plan as plan_module
from podium.planning.replays import recording_of
from podium.plugins import catalogue
from podium.tournaments.schedule import rounds_of

SIMULATED = Path(__file__).parents[3] / "examples" / "simulated" / "battles.csv"
QUIET = ["--no-log-realtime", "--no-score-display", "--no-log-model-api"]


@pytest.mark.slow
def test_packs_are_dealt_from_so_many_battles_and_as_typed(write_responses, monkeypatch):
    monkeypatch.setattr(plan_module, "PACKED_FROM", 36)
    packs = {}
    for items, pack in ((5, "auto"), (6, "auto"), (6, False), (5, True)):
        first = round_robin(responses=write_responses(items=items), pack=pack).dataset
        packs[items, pack] = {"battles" in sample.metadata for sample in first} == {True}
    assert packs == {(5, "auto"): False, (6, "auto"): True, (6, False): False, (5, True): True}


@pytest.mark.slow
def test_pack_is_set_automatically_for_a_thousand_battles(write_responses):
    names = {f"m{k}": k / 5 for k in range(5)}
    scheduled = {
        items: round_robin(responses=write_responses(names, items)).dataset for items in (99, 100)
    }
    assert {items: len(source) for items, source in scheduled.items()} == {99: 990, 100: 100}


def test_unknown_value_of_pack_is_rejected(write_responses):
    with pytest.raises(Exception, match="pack=maybe: write true, false or auto"):
        round_robin(responses=write_responses(), pack="maybe")


def test_podium_inspect_turns_off_what_costs_of_a_tournament_and_of_nothing_else():
    assert cpu_saving_flags(["eval", "podium/swim"], {}) == QUIET
    assert cpu_saving_flags(["eval-set", "podium/swim", "mine.py"], {}) == QUIET
    for other in ([], ["eval"], ["eval", "mine.py"], ["score", "podium/x"], ["list", "tasks"]):
        assert cpu_saving_flags(other, {}) == []


def test_settings_of_the_user_are_kept():
    assert (
        cpu_saving_flags(["eval", "podium/swim", "--log-model-api", "--no-log-realtime"], {})
        == QUIET[1:2]
    )
    reported = {"INSPECT_EVAL_NO_LOG_REALTIME": "false", "INSPECT_EVAL_SCORE_DISPLAY": "true"}
    assert cpu_saving_flags(["eval", "podium/swim"], reported) == QUIET[2:]


@pytest.mark.slow
def test_podium_inspect_says_what_it_turned_off_and_the_log_has_it(write_responses, tmp_path):
    paths = ",".join(write_responses(items=2))
    words = (
        "inspect",
        "eval",
        "podium/swim",
        "-T",
        f"responses={paths}",
        "--model-role",
        "judge=podium/offline",
    )
    run = subprocess.run(
        [sys.executable, "-m", "podium", *words, "--log-format", "json"],
        capture_output=True,
        text=True,
        env={**os.environ, "INSPECT_DISPLAY": "none"},
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    assert " ".join(QUIET) in run.stderr
    assert "note: --log-format json takes" in run.stderr
    assert ", in at most 4 rounds" in run.stderr
    [log] = [
        path
        for path in Path(tmp_path, "logs").glob("*.json")
        if not path.name.startswith("podium-")
    ]
    assert '"log_realtime": false' in log.read_text()


BATCHES: list[object] = []
"""How the calls of the judge were batched, as they came."""


@modelapi(name="batching")
class BatchingJudge(ModelAPI):
    """Prefers what is shown first, and notes how it is batched."""

    async def generate(self, input, tools, tool_choice, config: GenerateConfig) -> ModelOutput:
        BATCHES.append(config.batch)
        return ModelOutput.from_content("batching/judge", "A")


def batches_of(paths, own=None, **options) -> list[object]:
    """Return how the calls of a round robin were batched."""
    BATCHES.clear()
    judge = get_model("batching/judge", config=GenerateConfig(batch=own), memoize=False)
    eval(round_robin(responses=paths, replies="text"), model_roles={"judge": judge}, **options)
    return BATCHES


@pytest.mark.slow
def test_batch_reaches_a_judge_given_by_role_unless_the_role_says_another(write_responses):
    paths = write_responses({"ash": 1.0, "elm": 2.0}, items=1)
    assert batches_of(paths, batch=50) == [50, 50]
    assert (
        batches_of(paths, own=7, batch=50, log_dir="other") == []
    )  # both replies are kept: a batch is no other call
    assert batches_of(write_responses({"ash": 1.0, "elm": 2.0}, items=2)[:2], own=7, batch=50) == [
        7,
        7,
    ]
    assert batches_of(write_responses({"ash": 1.0, "elm": 2.0}, items=3)) == [None, None]


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize(
    ("task", "options", "stated"),
    [
        (round_robin, {}, "in one round"),
        (chain, {}, "in one round"),
        (swim, {}, "in at most 4 rounds"),
        (anchor, {"anchor": "auto"}, "in at most 2 rounds"),
        (anchor, {"anchor": "oak"}, "in one round"),
        (ring, {"until": "order", "start": 25}, "in at most 3 rounds"),
        (ring, {"until": "error:20", "start": 25}, "output tokens\n"),
    ],
)
def test_number_of_rounds_is_announced(task, options, stated, write_responses, capsys):
    task(responses=write_responses(items=40), **options)
    assert stated in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("swim", {}),
        ("anchor", {}),
        ("chain", {}),
        ("ring", {"until": "order"}),
        ("anchor", {"until": "top1"}),
    ],
)
def test_replay_takes_at_most_the_announced_rounds(name, settings):
    record = recording_of(podium.read_battles(SIMULATED))
    rule = catalogue.make_tournament(name, settings)
    took = podium.replay(SIMULATED, name, **settings).price.rounds
    assert took <= rounds_of(rule, record.field)
    assert settings or took == rounds_of(rule, record.field)
