"""Tournaments in shards: their logs together make the table of the single run."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import forked
import pytest
from played_logs import figures, place
from test_faults import IN_FLIGHT, ITEMS, MODELS, host, repeated_prompts  # noqa: F401

import podium
from podium.data.pairings import Field
from podium.errors import DataError, UsageError
from podium.hosts.inspect_ai.tasks import anchor, ring, round_robin, swim
from podium.notices.notice_text import notice_texts
from podium.tournaments.parts import Shard

EXAMPLES = Path(__file__).parents[3] / "examples"

THREE = {"ash": 1.2, "elm": 1.9, "oak": 2.4}
HALF = 9
"""Battles of three models on three of six items."""


def table_of(source, **options):
    """Return the figures of a ranking, and how many battles were read and are missing."""
    battles = podium.read_battles(source, **options)
    return figures(podium.rank(battles)), len(battles), battles.missing


def assert_same_table(source, other):
    """All figures agree to 1e-9."""
    (own, *counts), (expected, *expected_counts) = table_of(source), table_of(other)
    assert counts == expected_counts
    assert own.keys() == expected.keys()
    for key, row in expected.items():
        numbers = {name: value for name, value in row.items() if isinstance(value, float)}
        assert {**own[key], **numbers} == row
        assert {name: own[key][name] for name in numbers} == pytest.approx(
            numbers, rel=1e-9, abs=1e-9
        )


def words_of_script(folder, shard, *further, **environment):
    """Run the script of a Slurm task as a local process; return what it says to `inspect`."""
    stub = folder / "bin" / "inspect"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n')
    stub.chmod(0o755)
    task = {
        "SLURM_ARRAY_TASK_ID": str(shard),
        "SLURM_ARRAY_TASK_COUNT": "4",
        "LOGS": "parts",
        **environment,
    }
    path = {"PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}"}
    line = ["sh", str(EXAMPLES / "cluster" / "slurm.sh"), *further]
    done = subprocess.run(
        line, cwd=folder, env={**os.environ, **path, **task}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_four_shards_of_which_one_is_killed_and_retried_make_the_single_run_and_ask_nothing_twice(
    host,  # noqa: F811
):
    """The judge hangs after ten replies to the second shard, which is killed and restarted beside
    the others."""
    host.run("eval", "podium/round_robin")
    known = len(host.judge.calls())
    flight = [f"--max-{what}={IN_FLIGHT}" for what in ("connections", "samples")]
    given = {"RESPONSES": "responses", "JUDGE": "openai-api/standin/fair"}
    environment = {
        **os.environ,
        "STANDIN_BASE_URL": f"{host.judge.address}/v1",
        "STANDIN_API_KEY": "none",
        "INSPECT_CACHE_DIR": str(host.folder / "another cache"),
        "XDG_DATA_HOME": str(host.folder / "data"),
    }

    def start(shard):
        words = words_of_script(host.folder, shard, *flight, **given)
        streams = (host.folder / f"output {shard}.txt",) * 2
        return words[0], forked.start(
            "inspect", *words, folder=host.folder, environment=environment, streams=streams
        )

    command, process = start(2)
    while process.is_alive() and len(host.judge.calls()) < known + 10:
        time.sleep(0.005)
    host.judge.script(latency=60)
    time.sleep(1)
    process.kill()
    process.join()
    assert (command, process.exitcode) == ("eval", -9)
    finder = {call.key for call in host.judge.calls() if call.fate is None}
    host.judge.script(latency=0.02)
    commands, processes = zip(*map(start, (1, 2, 3, 4)), strict=True)
    for process in processes:
        process.join(timeout=180)
    assert commands == ("eval", "eval-retry", "eval", "eval")
    assert [process.exitcode for process in processes] == [0] * 4
    calls = host.judge.calls()[known:]
    assert set(repeated_prompts(calls)) == finder
    assert {call.key for call in calls} == {call.key for call in host.judge.calls()[:known]}
    scheduled = [Shard(k, 4).items_of(Field(MODELS, ITEMS, {}), 0) for k in (1, 2, 3, 4)]
    assert sorted(map(len, scheduled)) == [2, 2, 3, 3]
    assert_same_table(str(host.folder / "parts"), str(host.folder / "logs"))


@pytest.mark.slow
def test_the_eval_set_of_the_example_ranks_as_the_single_run(play, run_podium, tmp_path):
    shutil.copytree(EXAMPLES / "tournament", tmp_path / "examples" / "tournament")
    play(ring(responses="examples/tournament"), "podium/offline", log_dir="single")
    code = (EXAMPLES / "cluster" / "eval_set.py").read_text()
    for _ in range(2):
        done = forked.run(
            "python", "-c", code, "parts", folder=tmp_path, environment=dict(os.environ)
        )
        assert done.returncode == 0, done.stderr
    assert len(list(Path("parts").glob("*.eval"))) == 4
    assert_same_table("parts", "single")
    assert run_podium("rank", "parts")[0] == 0


@pytest.mark.slow
def test_a_shard_counts_once_one_not_seen_is_missing_and_other_divisions_and_plans_are_rejected(
    play, write_responses, run_podium
):
    paths = write_responses(THREE)

    def log_of(shard=None, **options):
        return place(
            play(round_robin(responses=paths, pack=True, shard=shard, **options), log_dir="all")
        )

    def folder(name, *logs):
        Path(name).mkdir()
        for log in logs:
            shutil.copy(log, name)
        return name

    first, second, whole, third = log_of("1/2"), log_of("2/2"), log_of(), log_of("1/3")
    alone = podium.read_battles(str(first))
    assert (len(alone), alone.missing) == (HALF, HALF)
    assert f"shard 2/2 is missing, and with it {HALF} battles of the plan" in " ".join(
        notice_texts(alone.notes)
    )
    twice = podium.read_battles(folder("twice", first, second, log_of("2/2", cache=False)))
    assert (len(twice), twice.missing) == (2 * HALF, 0)
    assert_same_table("twice", str(whole))
    for name, other in (("thirds", third), ("whole", whole)):
        with pytest.raises(
            DataError, match=r"the same battles would count twice: .*one of 2 shards"
        ):
            podium.read_battles(folder(name, first, other))
    plans = folder("plans", first, log_of("2/2", tie=True))
    code, _, err = run_podium("rank", plans)
    assert code == 1
    assert "shards of different plans" in err
    assert "differ in prompts, tie=" in err
    assert "give the shards of one plan" in err


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("task", "options", "words"),
    [
        (ring, {"shard": "0/4"}, "shard=0/4: write k/n"),
        (ring, {"shard": "5/4"}, "shard=5/4: write k/n"),
        (ring, {"shard": "1/9"}, "there are 6 items"),
        (swim, {"shard": "1/2"}, "play podium/ring"),
        (anchor, {"shard": "1/2"}, "play the pilot first"),
        (
            ring,
            {"shard": "1/2", "until": "top1"},
            "until=top1 decides by the verdicts of all shards",
        ),
        (ring, {"until": "top1", "look": 1}, "no option called 'look'"),
    ],
)
def test_what_cannot_be_played_in_parts_is_rejected_before_the_first_call(
    write_responses, task, options, words
):
    with pytest.raises(UsageError, match=words):
        task(responses=write_responses(THREE), **options)
