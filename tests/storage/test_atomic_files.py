"""Whoever is killed, interrupted or out of room while a file is written leaves the old file, or the
new one.

`PODIUM_KILLS=6` kills every command six times (some twelve), a hundred times in all, instead of
twice.
"""

import json
import multiprocessing
import os
import random
import shutil
import stat
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium.storage.atomic_files import atomic_file, atomic_folder, is_temporary, write_text

KILLS = int(os.environ.get("PODIUM_KILLS", "2"))
OLD = b"item,model_a,model_b,credit\nold,a,b,1\n"
FROM_A_SERVER = multiprocessing.get_context("forkserver")
"""A killed process is forked from one that has imported podium and run nothing: its start costs
nothing."""
COMMAND = """
import os, sys
for stream in (1, 2):
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
sys.argv = ["podium", *{words!r}]
from podium.cli.main import main
main()
"""
ENABLE = """
import sysconfig
import podium.cli.enable
sysconfig.get_path = lambda name: {folder!r}
podium.cli.enable.write_startup_file()
"""
RANK_LOG = """
import os
for stream in (1, 2):
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
os.environ["PODIUM_RANKER"] = "win-rate"
from inspect_ai.log import read_eval_log
from podium.hosts.inspect_ai.hook import rank_logs
rank_logs([read_eval_log({log!r}, header_only=True)])
"""
WRITE_RUN = """
import json
from pathlib import Path
from types import SimpleNamespace
from lm_eval.loggers.evaluation_tracker import GeneralConfigTracker
from podium.hosts.lm_eval.lm_eval_runs import write_run
about = GeneralConfigTracker()
about.log_experiment_args("dummy", "model=org/ash", "", "", "")
results = json.loads(Path({results!r}).read_text())
write_run(Path({folder!r}), results, SimpleNamespace(general_config_tracker=about))
"""


USUAL = ["podium.cli.main", "podium.data.reading.judgments"]
ALL = [
    *(
        "podium.ranking.rank_battles",
        "podium.rankers.bradley_terry",
        "podium.rankers.win_rate",
        "podium.show.report.terminal",
    ),
    *(
        "podium.show.report.ranking_view",
        "podium.rankers.calibration.calibration_run",
        "podium.diagnosis.card",
        "podium.planning.replays",
    ),
    *("podium.planning.planner", "podium.planning.tournament_table"),
    *(
        "podium.hosts.inspect_ai.registry",
        "podium.hosts.lm_eval.lm_eval_runs",
        "lm_eval.loggers.evaluation_tracker",
    ),
]


@pytest.fixture(scope="session", autouse=True)
def _server(request: pytest.FixtureRequest) -> None:
    is_slow = any(item.get_closest_marker("slow") for item in request.session.items)
    FROM_A_SERVER.set_forkserver_preload(USUAL + ALL if is_slow else USUAL)


@dataclass(frozen=True)
class Writer:
    """Something that writes.

    Attributes:
        code: what a process of its own runs.
        folder: where it writes.
        content: of what it wrote, in a form that is the same each time; None where it is absent.
        restore: puts the old files back.
    """

    code: str
    folder: Path
    content: Callable[[], object]
    restore: Callable[[], None]

    def run(self) -> None:
        """Run it to its end."""
        process = FROM_A_SERVER.Process(target=exec, args=(self.code, {}))
        process.start()
        process.join(120)
        assert process.exitcode == 0

    def kill(self, *, after: float | None) -> bool:
        """Run it and kill it, after some seconds or once there is a temporary file; return whether
        one was left."""
        process = FROM_A_SERVER.Process(target=exec, args=(self.code, {}))
        process.start()
        if after is None:
            while process.is_alive() and not self.temporaries():
                pass
        else:
            process.join(after)
        process.kill()
        process.join(60)
        return bool(self.temporaries())

    def temporaries(self) -> list[str]:
        """Return the temporaries that are there."""
        return [name for name in os.listdir(self.folder) if is_temporary(name)]


def files_writer(code: str, path: Path) -> Writer:
    """Return what writes one file, compared byte by byte."""
    return Writer(
        code,
        path.parent,
        lambda: path.read_bytes() if path.exists() else None,
        lambda: restore_old_content(path.parent, path),
    )


def restore_old_content(folder: Path, path: Path) -> None:
    """Leave nothing in a folder but a file with the old content."""
    for each in folder.iterdir():
        each.unlink()
    path.write_bytes(OLD)


def command(folder: Path, name: str, *words: object) -> Writer:
    """Return a command of podium's with `-o`."""
    own = folder / f"out-{len(list(folder.iterdir()))}"
    own.mkdir()
    path = own / name
    return files_writer(COMMAND.format(words=[*map(str, words), "-o", str(path)]), path)


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table large enough for its writing to take a while, with human verdicts."""
    folder = tmp_path_factory.mktemp("votes")
    rng = np.random.default_rng(5)
    n = 15_000
    pairs = rng.permuted(np.tile(np.arange(6), (n, 1)), axis=1)[:, :2]
    strength = np.linspace(-1, 1, 6)
    chance = 1 / (1 + np.exp(strength[pairs[:, 1]] - strength[pairs[:, 0]]))
    frame = pd.DataFrame(
        {
            "item": [f"i{k}" for k in range(n)],
            "model_a": [f"m{a}" for a in pairs[:, 0]],
            "model_b": [f"m{b}" for b in pairs[:, 1]],
            "credit": (rng.random(n) < chance).astype(float),
            "note": ["x" * 40] * n,
        }
    )
    frame.to_csv(folder / "large.csv", index=False)
    small = frame.iloc[:600].assign(
        margin=frame["credit"] * 2 - 1, human=(rng.random(n) < chance)[:600].astype(float)
    )
    small.to_csv(folder / "small.csv", index=False)
    return folder


@pytest.fixture
def writers(votes: Path, tmp_path: Path) -> dict[str, Writer]:
    """All commands that write, by name."""
    large, small, world = (
        votes / "large.csv",
        votes / "small.csv",
        podium.simulate(models=4, items=12, seed=1),
    )
    record = votes / "record.csv"
    world.battles().to_frame().to_csv(record, index=False)
    quick = ("--seeds", "2", "--ranker", "win-rate")
    swim = ("replay", record, "--tournament", "swim,anchor", *quick)
    commands = {
        "convert to csv": ("battles.csv", "convert", large),
        "convert to jsonl": ("battles.jsonl", "convert", large),
        "convert to parquet": ("battles.parquet", "convert", large),
        "rank as json": ("ranking.json", "rank", small),
        "rank as csv": ("ranking.csv", "rank", small),
        "rank as md": ("ranking.md", "rank", small),
        "calibrate": ("calibration.json", "calibrate", small, "--bootstrap", 20),
        "diagnose": ("card.json", "diagnose", record),
        "plan": ("plan.json", "plan", "--models", 4, "--items", 50, "--ties", 0.1),
        "replay": ("replay.json", "replay", record, "--tournament", "chain"),
        "replay side by side": ("table.csv", *swim),
    }
    made = {name: command(tmp_path, *words) for name, words in commands.items()}
    site = tmp_path / "site"
    site.mkdir()
    made["enable"] = files_writer(ENABLE.format(folder=str(site)), site / "podium_ranker.pth")
    return made


def check_after_kills(writer: Writer, times: int, rng: random.Random) -> int:
    """Kill a writer, compare the content with the old and the new; return how often a temporary
    file was left."""
    writer.restore()
    old, others, left = writer.content(), [], 0
    for k in range(times):
        # One in six at any moment, also without a temporary file; others wait again for a file that
        # is gone by then.
        for _ in range(1 if k % 6 == 1 else 5):
            writer.restore()
            if writer.kill(after=None if k % 6 != 1 else rng.uniform(0, 2)):
                left += 1
                break
        if (content := writer.content()) != old:
            others.append(content)
    if others:
        writer.restore()
        writer.run()
        assert all(content == writer.content() for content in others)
    return left


@pytest.mark.slow
def test_a_command_that_is_killed_leaves_the_old_file_or_the_new_one(
    writers: dict[str, Writer],
) -> None:
    writer = writers["convert to csv"]
    writer.restore()
    assert writer.kill(after=None)
    assert writer.content() == OLD
    writer.run()
    assert writer.content() not in (OLD, None)


@pytest.mark.slow
def test_kills_of_all_commands_leave_the_old_file_or_the_new_one(
    writers: dict[str, Writer], tmp_path: Path
) -> None:
    rng = random.Random(3)
    writers["a ranking in a log"] = log_writer(tmp_path)
    writers["a run of lm-eval"] = run_writer(tmp_path)
    times = {name: 2 * KILLS if name.startswith("convert") else KILLS for name in writers} | {
        "plan": 2
    }
    left = {name: check_after_kills(writer, times[name], rng) for name, writer in writers.items()}
    assert sum(times.values()) >= 16 * KILLS
    assert sum(left.values()) >= sum(times.values()) / 2, left


def log_writer(folder: Path) -> Writer:
    """Return what ranks a log of Inspect's and writes into it, and beside it."""
    from inspect_ai import eval as evaluate

    from podium.hosts.inspect_ai.tasks import round_robin

    folder = folder / "logs"
    answers = folder.parent / "answers.csv"
    names = ("ash", "elm", "oak")
    pd.DataFrame(
        [
            {
                "id": f"q{k}",
                "instruction": f"Say {k}.",
                "response": f"{k}" * (1 + k % 7 + j),
                "model": name,
            }
            for k in range(30)
            for j, name in enumerate(names)
        ]
    ).to_csv(answers, index=False)
    [log] = evaluate(
        round_robin(responses=str(answers)),
        model_roles={"judge": "podium/offline"},
        log_dir=str(folder),
        log_format="eval",
        display="none",
    )
    path = Path(log.location.removeprefix("file://"))
    beside = path.with_name(f"podium-{path.stem}.ranking")
    saved = folder.parent / "saved.eval"
    shutil.copyfile(path, saved)

    def restore() -> None:
        for name in os.listdir(folder):
            (folder / name).unlink()
        shutil.copyfile(saved, path)
        beside.write_text("{}")

    def content() -> object:
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            members = {name: archive.read(name) for name in archive.namelist()}
        return members, beside.read_text()

    return Writer(RANK_LOG.format(log=str(path)), folder, content, restore)


def run_writer(folder: Path) -> Writer:
    """Return what writes a run as lm-eval does: a folder that is there with all of it, or not at
    all."""
    parent = folder / "runs"
    parent.mkdir()
    row = {
        "doc_id": 0,
        "doc": {"q": "?"},
        "arguments": [["?", {}]],
        "resps": [["!" * 900]],
        "filtered_resps": ["!"],
    }
    rows = [
        {**row, "doc_hash": f"{k}", "prompt_hash": "p", "target_hash": "t"} for k in range(3000)
    ]
    results = folder / "results.json"
    results.write_text(
        json.dumps({"results": {"sums": {}}, "configs": {"sums": {}}, "samples": {"sums": rows}})
    )
    run = parent / "this"

    def content() -> object:
        if not run.exists():
            return None
        [samples] = run.rglob("samples_sums_*.jsonl")
        [_] = run.rglob("results_*.json")
        return len(samples.read_text().splitlines())

    def restore() -> None:
        for name in os.listdir(parent):
            shutil.rmtree(parent / name)

    return Writer(WRITE_RUN.format(results=str(results), folder=str(run)), parent, content, restore)


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(OLD)

    def break_off() -> None:
        with atomic_file(path) as temporary:
            temporary.write_text("half of")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["out.csv"]


def test_rewritten_file_keeps_its_mode_and_new_file_gets_the_default(tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_bytes(OLD)
    old.chmod(0o640)
    write_text(old, "new")
    write_text(new, "new")
    (tmp_path / "usual").write_text("")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_symbolic_link_stays_one_and_leads_to_the_new_content(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "real.csv"
    target.parent.mkdir()
    target.write_bytes(OLD)
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["real.csv"]


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "new")
    reader.join(10)
    assert got == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_device_file_is_not_replaced() -> None:
    write_text(Path("/dev/null"), "new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_what_stands_in_a_redirected_standard_output_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("before\n")
    code = (
        "import pathlib, podium.storage.atomic_files as files; "
        "files.write_text(pathlib.Path('/dev/stdout'), 'x')"
    )
    assert os.system(f'{sys.executable} -c "{code}" >> {kept}') == 0
    assert kept.read_text() == "before\nx"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_file_that_may_not_be_written_is_not_replaced_either(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(OLD)
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="no file was changed"):
        write_text(path, "new")
    assert path.read_bytes() == OLD


def test_the_next_writer_removes_the_temporary_file_of_a_killed_one_and_not_that_of_a_living_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "out.csv"
    with atomic_file(path) as held:
        held.write_text("theirs")
        left = held.with_name(held.name[:-12] + "00000000.tmp")
        left.write_text("half of")
        for temporary in (held, left):
            os.utime(temporary, (1, 1))
        write_text(path, "mine")
        assert held.exists()
        assert not left.exists()
    assert path.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_fresh_temporary_file_without_lock_is_left_alone(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "out.csv") as held:
        fresh = held.with_name(held.name[:-12] + "00000000.tmp")
        fresh.write_text("")
        write_text(tmp_path / "out.csv", "mine")
        assert fresh.exists()


@pytest.mark.slow
def test_temporary_files_are_no_data_where_a_folder_is_searched(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_bytes(OLD)
    with (
        atomic_file(tmp_path / "more.csv") as temporary,
        atomic_folder(tmp_path / "runs") as folder,
    ):
        temporary.write_text("item,model_a,model_b,credit\nhalf,a,b,0\n")
        (folder / "run.csv").write_text("item,model_a,model_b,credit\nhalf,a,b,0\n")
        for source in (tmp_path, tmp_path / "*", tmp_path / ".*"):
            if source.name != ".*":
                assert podium.read_battles(source).table["item"].tolist() == ["old"]
            else:
                with pytest.raises(podium.UsageError, match="no file matches"):
                    podium.read_battles(source)


def test_a_folder_appears_with_all_that_is_in_it(tmp_path: Path) -> None:
    place = tmp_path / "more" / "runs"
    with atomic_folder(place) as temporary:
        (temporary / "a").mkdir()
        (temporary / "a" / "b.txt").write_text("b")
        assert not place.exists()
    assert (place / "a" / "b.txt").read_text() == "b"


def test_of_a_folder_that_was_not_finished_nothing_stays(tmp_path: Path) -> None:
    def break_off() -> None:
        with atomic_folder(tmp_path / "runs") as temporary:
            (temporary / "c.txt").write_text("c")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert not os.listdir(tmp_path)


@pytest.mark.slow
def test_of_two_writers_at_once_one_result_stands_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    texts = {letter * 300_000 for letter in "ab"}
    barrier = threading.Barrier(2)

    def write(text: str) -> None:
        for _ in range(20):
            barrier.wait()
            with atomic_file(path) as temporary, temporary.open("w") as stream:
                for start in range(0, len(text), 1000):
                    stream.write(text[start : start + 1000])

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    seen = set()
    while any(thread.is_alive() for thread in threads):
        seen |= {path.read_text()} if path.exists() else set()
    assert seen | {path.read_text()} <= texts
    assert os.listdir(tmp_path) == ["out.txt"]


FULL = """
import os, resource, sys
import podium.data.formats.podium_table as table
write = table.write
def write_little(*arguments):
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
    write(*arguments)
table.write = write_little
for stream in (1, 2):
    os.dup2(os.open({reported!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
sys.argv = ["podium", *{words!r}]
from podium.cli.main import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_that_grows_too_large_leaves_the_old_one_and_says_so(
    votes: Path, tmp_path: Path, suffix: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    path, reported = folder / f"battles.{suffix}", tmp_path / "told.txt"
    path.write_bytes(OLD)
    words = ["convert", str(votes / "large.csv"), "-o", str(path)]
    process = FROM_A_SERVER.Process(
        target=exec, args=(FULL.format(limit=50_000, reported=str(reported), words=words), {})
    )
    process.start()
    process.join(60)
    assert process.exitcode == 2
    assert (
        "cannot be written: File too large; no file was changed. Remedy: make room"
        in reported.read_text()
    )
    assert path.read_bytes() == OLD
    assert os.listdir(folder) == [path.name]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB, for those who may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=1m tmpfs {folder} 2>/dev/null") != 0:
        pytest.skip("only root may mount a small disk")
    yield folder
    os.system(f"umount {folder}")


def test_a_full_disk_leaves_the_old_file_and_says_so(small_disk: Path) -> None:
    path = small_disk / "out.txt"
    path.write_bytes(OLD)
    with pytest.raises(
        OSError, match=r"cannot be written: No space left on device; no file was changed"
    ):
        write_text(path, "x" * 3_000_000)
    assert path.read_bytes() == OLD
    assert os.listdir(small_disk) == ["out.txt"]


def test_temporary_files_are_known_by_their_names() -> None:
    assert (is_temporary(".podium-0beec7b5-5e1f00d5.tmp"), is_temporary("podium.csv")) == (
        True,
        False,
    )
