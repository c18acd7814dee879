"""The file that `-o` names, checked before the work begins."""

import os
from pathlib import Path
from typing import Any

import click


class OutputFile(click.Path):
    """A path to write to, in a folder that exists, with a suffix that says how."""

    def __init__(self, suffixes: tuple[str, ...] = ()) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse a folder that is not there, and a suffix that is not known."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"there is no folder {str(path.parent)!r}", param, ctx)
        if self.suffixes and path.suffix not in self.suffixes:
            self.fail(f"cannot write {path.name!r}: name a {', '.join(self.suffixes)} file", param, ctx)
        return path
