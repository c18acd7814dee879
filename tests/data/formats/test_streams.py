"""Pipes, sockets and devices are refused at once: opening one may wait for ever."""

import os
import socket

import pytest

import podium as package
from podium.responses.read import read_prompts, read_responses

BATTLES = "item,model_a,model_b,credit\n1,x,y,1\n2,x,y,0\n"


@pytest.fixture
def pipe(tmp_path):
    place = tmp_path / "pipe.json"
    os.mkfifo(place)
    return place


@pytest.fixture
def refused(podium):
    """Return a function that runs a command, which must end with exit code 2, and returns its
    message."""

    def run(*words):
        done = podium(*words)
        assert done.code == 2, done
        return " ".join(done.err.split())

    return run


@pytest.mark.parametrize(
    "command",
    [
        "rank",
        "diagnose",
        "report -o r.html",
        "convert -o b.csv",
        "calibrate -o c.json",
        "label --number 2",
    ],
)
def test_every_command_refuses_a_pipe_as_its_source(command, pipe, refused, monkeypatch):
    monkeypatch.chdir(pipe.parent)
    assert f"{pipe.name} is a pipe, not a file" in refused(*command.split(), pipe.name)


@pytest.mark.parametrize("command", ["compare x y", "replay --tournament chain"])
def test_commands_with_other_arguments_refuse_a_pipe_too(command, pipe, refused):
    name, *rest = command.split()
    assert "is a pipe" in refused(name, *rest, pipe)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "eval", "parquet"])
def test_a_pipe_is_refused_whatever_its_name(tmp_path, suffix):
    place = tmp_path / f"votes.{suffix}"
    os.mkfifo(place)
    with pytest.raises(
        package.UsageError, match=r"is a pipe, not a file: write its content to a file"
    ):
        package.read_battles(f"mine={place}")


def test_a_pipe_among_the_files_of_a_glob_is_refused(pipe):
    with pytest.raises(package.UsageError, match="is a pipe"):
        package.read_battles(pipe.parent / "*.json")


def test_a_pipe_in_a_folder_is_no_file_of_it(tmp_path):
    (tmp_path / "votes.csv").write_text(BATTLES)
    os.mkfifo(tmp_path / "samples_task_2025-01-01T00-00-00.0.jsonl")
    assert len(package.read_battles(tmp_path)) == 2


def test_a_device_is_refused():
    with pytest.raises(package.UsageError, match="/dev/zero is a device, not a file"):
        package.read_battles("/dev/zero")


def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("votes.csv")
        with pytest.raises(package.UsageError, match=r"votes.csv is a socket, not a file"):
            package.read_battles("votes.csv")


@pytest.mark.parametrize("read", [read_responses, read_prompts])
def test_responses_and_prompts_are_not_waited_for(read, pipe):
    with pytest.raises(package.UsageError, match="is a pipe"):
        read(pipe)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ["--ranker", "soft-elo", "--calibration"],
        ["--human-labels"],
        ["--models"],
        ["--ranker", "win-rate", "--set", "length_control=true", "--set", "length_data="],
    ],
)
def test_files_beside_the_battles_are_not_waited_for(options, pipe, tmp_path, refused):
    (tmp_path / "votes.csv").write_text(BATTLES)
    own = [*options[:-1], f"{options[-1]}{pipe}"] if options[-1].endswith("=") else [*options, pipe]
    assert "is a pipe" in refused("rank", tmp_path / "votes.csv", *own)


def test_requirements_in_a_pipe_are_not_waited_for(pipe, tmp_path, refused):
    (tmp_path / "votes.csv").write_text(BATTLES)
    place = pipe.rename(tmp_path / "gates.yaml")
    assert "is a pipe" in refused(
        "compare", "x", "y", tmp_path / "votes.csv", "--requirements", place
    )


def test_what_the_shell_opened_is_read():
    reader, writer = os.pipe()
    os.write(writer, BATTLES.encode())
    os.close(writer)
    assert len(package.read_battles(f"/dev/fd/{reader}")) == 2
    os.close(reader)
