"""A Python environment of the test's own, with all packages of the one at hand: podium can be
enabled in it."""

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass, field
from pathlib import Path

FOREIGN = (
    "PYTHONPATH",
    "PODIUM_RANKER",
    "INSPECT_EVAL_METADATA",
    "INSPECT_LOG_FORMAT",
    "INSPECT_EVAL_MODEL",
)
OUTER = "zz_outer.pth"
"""Comes after podium's own file, so that podium is not importable yet when that one is read."""


@dataclass(frozen=True)
class Environment:
    """Where it is, and what its processes find in os.environ beyond the usual."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    @classmethod
    def made(cls, folder: Path, **variables: str) -> "Environment":
        """Make one that sees the packages of the environment at hand."""
        venv.create(folder, symlinks=os.name != "nt")
        made = cls(folder, variables)
        outer = sysconfig.get_path("purelib")
        (made.site_packages / OUTER).write_text(f"import site; site.addsitedir({outer!r})\n")
        for name, start in SCRIPTS.items():
            (made.scripts / name).write_text(f"import sys\n{start}\n")
        return made

    @property
    def scripts(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    @property
    def site_packages(self) -> Path:
        return Path(sysconfig.get_path("purelib", "venv", {"base": str(self.folder)}))

    def listing(self) -> list[tuple[str, bytes | None]]:
        """Return everything in site-packages, with its content."""
        every = sorted(self.site_packages.rglob("*"))
        return [(str(one), one.read_bytes() if one.is_file() else None) for one in every]

    def python(
        self, *words: object, path: Path | None = None, place: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run its Python; `path` is searched for modules before its own packages."""
        environment = {
            key: value for key, value in os.environ.items() if key not in FOREIGN
        } | self.variables
        if path is not None:
            environment["PYTHONPATH"] = str(path)
        command = [str(self.scripts / Path(sys.executable).name), *map(str, words)]
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=place, timeout=120
        )

    def script(
        self, name: str, *words: object, path: Path | None = None, place: Path | None = None
    ):
        """Run one of its commands, as a shell would."""
        return self.python(self.scripts / name, *words, path=path, place=place)

    def podium(self, *words: object):
        """Run podium in it."""
        return self.python("-m", "podium", *words)


def outcome(done: "subprocess.CompletedProcess[str]") -> tuple[int, str, str]:
    """Return all that a process leaves behind where it was typed."""
    return done.returncode, done.stdout, done.stderr


SCRIPTS = {
    "inspect": "from inspect_ai._cli.main import main\nsys.exit(main())",
    "lm_eval": "from lm_eval.__main__ import cli_evaluate\nsys.exit(cli_evaluate())",
}
"""What package installers write as the hosts' commands."""
