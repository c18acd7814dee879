"""Temporary folders go when their process ends; those of killed processes go when the next process
needs one."""

import os
import subprocess
import sys
import tempfile

import pytest

from podium.storage import temporary_folders

CODE = (
    "import sys; from podium.storage.temporary_folders import make_folder; print(make_folder(), "
    "flush=True); "
)
FORK = """
import os
sys.stdin.read()
child = os.fork()
if child == 0:
    print(make_folder(), flush=True)
    sys.exit()
os.waitpid(child, 0)
print(sorted(os.listdir(sys.argv[1])), flush=True)
"""


def start(place, code="sys.stdin.read()"):
    """Start a process that makes a temporary folder and waits; return it once the folder is
    there."""
    environment = {**os.environ, "TMPDIR": str(place)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", CODE + code, place], env=environment, **pipes)
    folder = process.stdout.readline().strip()
    assert os.path.dirname(os.path.dirname(folder)) == str(place)
    return process


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return an empty folder for temporary files, in which this process has no folder yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary_folders, "_FOLDERS", {})
    return tmp_path


@pytest.mark.slow
def test_folders_of_twenty_killed_processes_are_removed_by_the_next_and_those_of_running_ones_stay(
    tmp_path,
):
    running = [start(tmp_path) for _ in range(21)]
    folders = set(os.listdir(tmp_path))
    assert len(folders) == 21
    survivor = running.pop()
    for process in running:
        process.kill()
        process.wait()
    assert set(os.listdir(tmp_path)) == folders
    later = start(tmp_path)
    assert len(os.listdir(tmp_path)) == 2
    survivor.communicate("")
    assert len(os.listdir(tmp_path)) == 1
    later.communicate("")
    assert os.listdir(tmp_path) == []


def test_forked_process_has_a_folder_of_its_own_and_leaves_that_of_its_parent(tmp_path):
    process = start(tmp_path, FORK)
    [parent] = os.listdir(tmp_path)
    child, left = process.communicate("")[0].splitlines()
    assert parent not in child
    assert left == str([parent])


def test_only_unlocked_folders_of_this_user_with_podiums_names_are_removed(own, monkeypatch):
    kept = own / "kept"
    for folder in (
        kept,
        own / "podium-results",
        own / "podium-abcdefgh",
        own / "podium-aaaaaaaa.tmp",
    ):
        folder.mkdir()
    (own / "podium-bbbbbbbb.tmp").symlink_to(kept)
    (own / "podium-cccccccc.tmp").write_text("a file")
    before = {*os.listdir(own)}
    user = os.getuid()
    with monkeypatch.context() as other:
        other.setattr(os, "getuid", lambda: user + 1)
        temporary_folders._remove_abandoned()
    assert {*os.listdir(own)} == before
    temporary_folders._remove_abandoned()
    assert {*os.listdir(own)} == before - {"podium-aaaaaaaa.tmp"}


def test_folder_that_is_removed_before_it_is_locked_is_made_again(own, monkeypatch):
    lock, removed = temporary_folders.lock, []

    def lock_after_removal(descriptor, **how):
        if not removed:
            [folder] = own.iterdir()
            folder.rmdir()
            removed.append(folder)
        return lock(descriptor, **how)

    monkeypatch.setattr(temporary_folders, "lock", lock_after_removal)
    folder = temporary_folders.make_folder()
    assert folder.is_dir()
    assert [folder.parent] == list(own.iterdir()) != removed


@pytest.mark.usefixtures("own")
def test_folder_of_a_block_goes_with_its_content_also_after_an_error():
    folders = []

    def fail_in_block():
        with temporary_folders.temporary_folder() as folder:
            (folder / "file").write_text("content")
            folders.append(folder)
            raise ValueError("in the block")

    with pytest.raises(ValueError, match="in the block"):
        fail_in_block()
    assert not folders[0].exists()
