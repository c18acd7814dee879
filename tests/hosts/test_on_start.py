"""What an enabled environment does when Python starts, with hosts that are a few lines each.

Every fact is about whole processes, of two environments that differ in `podium enable` alone.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from environment import OUTER, Environment, outcome

from podium.cli import enable
from podium.hosts.lm_eval import lm_eval_compatibility as compatibility

Write = Callable[[dict[str, str]], Path]

LM_EVAL = {
    "lm_eval/__init__.py": "",
    "lm_eval/__main__.py": """
from lm_eval._cli import HarnessCLI
def cli_evaluate():
    cli = HarnessCLI()
    cli.execute(cli.parse_args())
if __name__ == "__main__":
    cli_evaluate()
""",
    "lm_eval/_cli/__init__.py": "from .harness import HarnessCLI",
    "lm_eval/_cli/harness.py": """
import argparse
class HarnessCLI:
    def __init__(self):
        self._parser = argparse.ArgumentParser(prog="lm-eval")
        commands = self._parser.add_subparsers(dest="command")
        run = commands.add_parser("run")
        run.add_argument("--tasks")
        run.set_defaults(func=lambda arguments: print("running", vars(arguments)["tasks"]))
    def parse_args(self):
        return self._parser.parse_args()
    def execute(self, arguments):
        arguments.func(arguments)
""",
}
"""A host with lm-eval's skeleton."""
INSPECT = {
    "inspect_ai/__init__.py": "",
    "inspect_ai/__main__.py": "from inspect_ai._cli.main import main\nmain()",
    "inspect_ai/_cli/__init__.py": "",
    "inspect_ai/_cli/main.py": """
import click
@click.group()
def inspect():
    pass
for name in ("eval", "eval-set", "eval-retry", "score", "list"):
    @inspect.command(name)
    @click.argument("task")
    def command(task):
        print("running", task)
def main():
    inspect(auto_envvar_prefix="INSPECT")
""",
}
"""A host with Inspect's skeleton."""


PLAIN_INSPECT = INSPECT | {
    "inspect_ai/_cli/main.py": """
import argparse
def main():
    parser = argparse.ArgumentParser(prog="inspect")
    parser.add_argument("command")
    parser.add_argument("task")
    print("running", parser.parse_args().task)
"""
}
"""The same without click."""


def changed(files: dict[str, str], *changes: tuple[str, str]) -> dict[str, str]:
    """Return a host in which something has another name, in the files and of the files."""
    for old, new in changes:
        assert any(old in name + text for name, text in files.items())
        files = {name.replace(old, new): text.replace(old, new) for name, text in files.items()}
    return files


PARSER = ("self._parser", "self.parser")
OTHER_LM_EVALS = {
    "its parser has another name": changed(LM_EVAL, PARSER),
    "run has another name": changed(LM_EVAL, ('"run"', '"evaluate"')),
    "its class takes an argument": changed(
        LM_EVAL,
        PARSER,
        ("__init__(self)", "__init__(self, name)"),
        ("HarnessCLI()", "HarnessCLI('x')"),
    ),
    "its class has slots": changed(
        LM_EVAL, PARSER, ("class HarnessCLI:", "class HarnessCLI:\n    __slots__ = 'parser'")
    ),
    "its class is a function": changed(
        LM_EVAL,
        ("class HarnessCLI", "class Command"),
        ("import argparse", "import argparse\nHarnessCLI = lambda: Command()"),
    ),
    "its module has another name": changed(LM_EVAL, ("harness", "command_line")),
}
OTHER_INSPECTS = {
    "a command has another name": changed(INSPECT, ("eval-set", "set")),
    "its group has another name": changed(
        INSPECT, ("def inspect(", "def all("), ("@inspect.", "@all."), ("inspect(auto", "all(auto")
    ),
    "its commands are none of click": PLAIN_INSPECT,
    "its main has another name": changed(
        INSPECT, ("def main", "def start"), ("import main\nmain", "import start\nstart")
    ),
    "its module has another name": changed(
        INSPECT, ("_cli/main", "_cli/entry"), ("_cli.main", "_cli.entry")
    ),
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a writer of packages; it gives the folder to search for them."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / "packages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "packages"

    return write


@pytest.fixture(params=["its file is gone", "it is not importable", "it is broken"])
def without(
    request: pytest.FixtureRequest, tmp_path: Path, write: Write
) -> tuple[Environment, Path]:
    """Return an environment in which podium was enabled, and what podium has become since; and a
    folder to search."""
    made = Environment.made(tmp_path / "without")
    assert made.podium("enable").returncode == 0
    line = made.site_packages / enable.NAME
    if request.param == "its file is gone":
        line.write_text(line.read_text().replace("on_start.py", "gone.py"))
    if request.param == "it is broken":
        write({"podium/__init__.py": "raise RuntimeError('broken')"})
    else:
        (made.site_packages / OUTER).unlink()
    return made, tmp_path / "packages"


@pytest.mark.slow
def test_any_other_program_starts_as_if_podium_were_not_enabled(
    on: Environment, off: Environment
) -> None:
    """Whatever an interpreter has loaded or put in the way of imports when the program begins: no
    less, no more."""
    program = "import sys; print(sorted(sys.modules), [str(type(one)) for one in sys.meta_path])"
    assert outcome(on.python("-c", program)) == outcome(off.python("-c", program))


def test_startup_hook_loads_no_further_modules_in_a_host(on: Environment, off: Environment) -> None:
    def loaded(environment: Environment, module: str) -> set[str]:
        program = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
        return set(json.loads(environment.python("-c", program, "lm_eval").stdout))

    assert loaded(on, "json") - loaded(off, "importlib.machinery, typing") == set()


def test_startup_hook_is_installed_once_if_run_twice(on: Environment) -> None:
    program = (
        "import sys; print([type(one).__name__ for one in "
        "sys.meta_path].count('CommandLineFinder'))"
    )
    assert on.python("-c", program, "lm_eval", "--help").stdout == "1\n"


@pytest.mark.slow
@pytest.mark.parametrize("words", [("lm_eval", "run", "--tasks", "x"), ("inspect_ai", "eval", "x")])
def test_a_host_that_is_asked_for_no_ranker_and_no_help_loads_nothing_of_podium(
    on: Environment, write: Write, words: tuple[str, ...]
) -> None:
    def imported(*more: str) -> set[str]:
        told = on.python(
            "-X", "importtime", "-m", *words, *more, path=write(LM_EVAL | INSPECT)
        ).stderr
        return {line.rsplit("|", 1)[-1].strip().partition(".")[0] for line in told.splitlines()}

    assert ("podium" in imported(), "podium" in imported("--help")) == (False, True)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("short", ["-h", "--hel", "-Cx -h"])
def test_help_is_complete_in_all_its_forms(on: Environment, write: Write, short: str) -> None:
    host = changed(LM_EVAL, ('"--tasks"', '"-C"'))
    assert "--ranker" in on.script("lm_eval", "run", *short.split(), path=write(host)).stdout


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("how", [("lm_eval",), ("-m", "lm_eval")])
def test_the_options_are_in_the_help_of_lm_eval(
    on: Environment, off: Environment, write: Write, how
) -> None:
    def help_in(environment: Environment) -> str:
        words = how if how[0] == "-m" else (environment.scripts / how[0],)
        return environment.python(*words, "run", "--help", path=write(LM_EVAL)).stdout

    assert ("--ranker" in help_in(on), "--ranker" in help_in(off)) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["eval", "eval-set", "eval-retry", "score"])
def test_the_option_is_in_the_help_of_inspect(
    on: Environment, off: Environment, write: Write, command: str
) -> None:
    def help_in(environment: Environment) -> str:
        return environment.script("inspect", command, "--help", path=write(INSPECT)).stdout

    assert ("--ranker <name>" in help_in(on), "--ranker" in help_in(off)) == (True, False)


@pytest.mark.slow
def test_the_other_commands_of_inspect_stay_as_they_are(
    on: Environment, off: Environment, write: Write
) -> None:
    path = write(INSPECT)
    shown = [outcome(one.script("inspect", "list", "--help", path=path)) for one in (on, off)]
    assert shown[0] == shown[1]
    refused = on.script("inspect", "list", "tasks", "--ranker", "mean", path=path)
    assert refused.returncode == 2
    assert "not with list" in refused.stderr


@pytest.mark.slow
def test_a_name_of_no_ranker_is_rejected_before_the_host_runs(
    on: Environment, write: Write
) -> None:
    done = on.script("inspect", "eval", "task", "--ranker", "bradly-terry", path=write(INSPECT))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "podium: no ranker called 'bradly-terry'; did you mean 'bradley-terry'?"
    )


def test_a_judge_named_as_a_model_of_lm_eval_is_rejected_before_the_host_runs(
    on: Environment, write: Write
) -> None:
    words = ("eval", "task", "--ranker", "mean", "--model-role", "judge=lm-eval:hf,pretrained=x")
    done = on.script("inspect", *words, path=write(INSPECT))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "podium: judge lm-eval:hf: judges are models of Inspect: write hf/NAME"
    )


@pytest.mark.slow
def test_inspect_without_loadable_hook_is_rejected_before_the_run(
    on: Environment, write: Write
) -> None:
    done = on.script("inspect", "eval", "task", "--ranker", "mean", path=write(INSPECT))
    assert (done.returncode, done.stdout) == (2, "")
    assert "podium does not fit this inspect-ai" in done.stderr
    assert "`podium rank LOGS --ranker NAME`" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "words"),
    [
        *(
            (one, ("lm_eval", "evaluate" if "run has" in why else "run", "--tasks", "x"))
            for why, one in OTHER_LM_EVALS.items()
        ),
        *((one, ("inspect_ai", "eval", "x")) for one in OTHER_INSPECTS.values()),
    ],
    ids=[
        *(f"lm_eval: {why}" for why in OTHER_LM_EVALS),
        *(f"inspect: {why}" for why in OTHER_INSPECTS),
    ],
)
def test_a_host_that_has_changed_works_as_ever_and_ranker_says_what_to_use(
    on: Environment, off: Environment, write: Write, files: dict[str, str], words: tuple[str, ...]
) -> None:
    path = write(files)
    for more in ((), ("--help",)):
        plain, enabled = (outcome(one.python("-m", *words, *more, path=path)) for one in (off, on))
        assert plain[0] == 0
        assert enabled == plain
    plain, enabled = (
        outcome(one.python("-m", *words, "--ranker", "mean", path=path)) for one in (off, on)
    )
    assert enabled[:2] == plain[:2] == (2, "")
    told = enabled[2].removeprefix(plain[2])
    name = "lm_eval" if words[0] == "lm_eval" else "inspect"
    assert told.startswith("podium: --ranker is not known here (")
    assert f"`podium {name} ... --ranker NAME`" in told
    assert "`podium rank " in told


@pytest.mark.slow
def test_an_extension_that_fails_halfway_is_undone(
    on: Environment, off: Environment, write: Write
) -> None:
    halfway = """
def extend(cli):
    cli._parser.add_argument("--ranker")
    raise RuntimeError("halfway")
"""
    rooms = dict.fromkeys(
        ("podium/__init__.py", "podium/hosts/__init__.py", "podium/hosts/lm_eval/__init__.py"), ""
    )
    room = "podium/hosts/lm_eval"
    internals = Path(compatibility.__file__).read_text()
    path = write(
        LM_EVAL
        | rooms
        | {f"{room}/lm_eval_command.py": halfway, f"{room}/lm_eval_compatibility.py": internals}
    )
    plain, enabled = (outcome(one.script("lm_eval", "--help", path=path)) for one in (off, on))
    assert enabled == plain
    assert "(RuntimeError: halfway)" in on.script("lm_eval", "--ranker", "mean", path=path).stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [("lm_eval", "run", "--tasks", "x"), ("inspect_ai", "eval", "x")])
def test_hosts_work_silently_without_podium(
    without: tuple[Environment, Path], off: Environment, write: Write, words: tuple[str, ...]
) -> None:
    environment, _ = without
    path = write(LM_EVAL | PLAIN_INSPECT)
    done = environment.python("-m", *words, path=path)
    assert outcome(done) == (0, "running x\n", "")


@pytest.mark.slow
def test_without_podium_all_other_programs_start_in_silence(
    without: tuple[Environment, Path],
) -> None:
    environment, path = without
    assert outcome(environment.python("-c", "pass", "inspect", path=path)) == (0, "", "")


def test_a_program_that_is_no_host_keeps_its_own_ranker_option(
    on: Environment, write: Write, tmp_path: Path
) -> None:
    """It imports the hosts' command lines, and speaks of inspect and --ranker: neither is changed
    for it."""
    program = tmp_path / "report.py"
    program.write_text(
        "import inspect_ai._cli.main as one, lm_eval._cli.harness as other\n"
        "print([option.opts for option in one.inspect.commands['eval'].params])\n"
        "other.HarnessCLI()._parser.parse_args(['run', '--help'])\n"
    )
    done = on.python(
        program, "inspect", "lm_eval", "--ranker", "mean", path=write(LM_EVAL | INSPECT)
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "running" not in done.stdout
    assert "--ranker" not in done.stdout
