"""What a plugin can add: rankers, scorers, tournaments and file formats.

A plugin is a module with hooks marked `@podium.hookimpl`, and an entry point in the group `podium`
that names it; a whole one is `examples/third_party_ranker`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

import pluggy

from podium.notices.notice import Notice

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from podium.data.run_record import RunRecord
    from podium.scorers.realization import Realization
    from podium.storage.remote import RemoteFile

__all__ = [
    "Format",
    "GatheredBattles",
    "Ranker",
    "Reading",
    "Scorer",
    "SourceFiles",
    "Tournament",
    "hookimpl",
]
"""What plug-ins may import from here; the rest may change."""

hookspec = pluggy.HookspecMarker("podium")
hookimpl = pluggy.HookimplMarker("podium")


def load_target(target: Any) -> Any:
    """Import the object that `module:name` names; return anything else unchanged."""
    return resolve_name(target) if isinstance(target, str) else target


class Extension:
    """What a plugin adds; `target` is the field with its object, or with where to import that from
    (`module:name`)."""

    __slots__ = ()
    target: ClassVar[str]
    name: str
    summary: str

    def load(self) -> Any:
        """Import and return the target."""
        return load_target(getattr(self, self.target))


@dataclass(frozen=True, slots=True)
class Ranker(Extension):
    """A ranker: a function `(battles, *, level, rng, ...) -> Standings`, whose keyword-only
    parameters `--set` sets.

    Attributes:
        several_judges: whether it ranks the battles of several judges together, without `--pool`.
    """

    target = "function"
    name: str
    function: Callable[..., Any] | str
    summary: str
    several_judges: bool = False


@dataclass(frozen=True, slots=True)
class Scorer(Extension):
    """A scorer: how to ask a judge and how to parse its reply.

    Attributes:
        realization: the prompt and the parser, or where to import them from (`module:name`).
    """

    target = "realization"
    name: str
    realization: "Realization | str"
    summary: str


@dataclass(frozen=True, slots=True)
class Tournament(Extension):
    """A tournament: a class or function `(*, seed, ...) ->
    podium.tournaments.schedule.TournamentRule`.

    Its keyword-only parameters are the options that `--set` accepts.
    """

    target = "rule"
    name: str
    rule: Callable[..., Any] | str
    summary: str


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The files of one source as typed by the user: sorted `paths`, and the text before `=` as
    `label`.

    Attributes:
        searched: whether a directory was searched, so that files without verdicts are no error.
        remote: sorted objects of a URL; a format with `gathers` gets local copies of those with
            one of its names.
    """

    label: str | None
    paths: "tuple[Path, ...]"
    searched: bool
    remote: "tuple[RemoteFile, ...]" = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The user's options for formats that read several files together.

    Attributes:
        metrics: names of metrics to compare; none if the format chooses.
        all_runs: whether all runs of a model count, as repeats, or only the newest.
        where: conditions (column, value), which are applied to the rows in any case.
        allowed: names of `podium.findings.FINDINGS` that are no errors.
    """

    metrics: Sequence[str] = ()
    all_runs: bool = False
    where: Sequence[tuple[str, str]] = ()
    allowed: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class GatheredBattles:
    """The battles that a format read from files that belong together.

    Attributes:
        sheets: name of a source, and a frame with columns of the battles table, or item, model,
            score.
        claimed: the files of this format, with or without a sheet; no other format reads them.
        lost: messages on what could not be read or compared, and what to do; the rest is ranked.
        apart: a column whose values are ranked separately by default.
        accepted: sentences on findings that would be errors if they were not allowed; the answer
            repeats them.
        runs: the runs of hosts' evals whose scores are in the sheets.
    """

    sheets: "Sequence[tuple[str, pd.DataFrame]]" = ()
    claimed: "AbstractSet[Path]" = frozenset()
    notes: Sequence[Notice] = ()
    lost: Sequence[Notice] = ()
    apart: str | None = None
    accepted: Sequence[str] = ()
    runs: "Sequence[RunRecord]" = ()


@dataclass(frozen=True, slots=True)
class Format(Extension):
    """A reader of one file format.

    Attributes:
        signature: alternative sets of columns; a file with all columns of one of them is of this
            format.
        read: `frame -> frame`, from foreign records to columns of the battles table with the same
            index.
        label_is: the foreign column that `label=path` fills in; None adds the label as column
            `source`.
        suffixes: of files of this format that are not tables.
        gathers: `(files, reading) -> GatheredBattles`, for files that belong together, called
            before any file is read.
        names: globs of the files that `gathers` reads.
        texts: `path -> rows`: per judgment in a file item, model_a, model_b, instruction,
            response_a, response_b, order, judge and `words`.
        costs: `path -> rows`: per answer in a file `model`, `tokens in`, `tokens out`, `seconds`
            and `money`, None if unknown.
        responses: a `podium.responses.read.FileReader` of models' answers in such files.
    """

    target = "read"
    name: str
    signature: tuple[AbstractSet[str], ...]
    read: "Callable[[pd.DataFrame], pd.DataFrame] | str"
    summary: str
    label_is: str | None = None
    suffixes: tuple[str, ...] = ()
    gathers: Callable[[Sequence[SourceFiles], Reading], GatheredBattles] | str | None = None
    names: tuple[str, ...] = ("*",)
    texts: "Callable[[Path], Iterable[Mapping[str, Any]]] | str | None" = None
    costs: "Callable[[Path], Iterable[Mapping[str, Any]]] | str | None" = None
    responses: Any = None

    def gather(self, files: Sequence[SourceFiles], reading: Reading) -> GatheredBattles:
        """Read files that belong together; empty if none is of this format."""
        return (
            GatheredBattles() if self.gathers is None else load_target(self.gathers)(files, reading)
        )

    def specificity(self, columns: frozenset[str]) -> int:
        """Return the number of matched columns of the best matching signature; 0 if none matches
        fully."""
        return max((len(names) for names in self.signature if names <= columns), default=0)


@hookspec
def podium_rankers() -> Sequence[Ranker]:  # type: ignore[empty-body]
    """Return the rankers that this plugin adds."""


@hookspec
def podium_scorers() -> Sequence[Scorer]:  # type: ignore[empty-body]
    """Return the judge scorers that this plugin adds."""


@hookspec
def podium_tournaments() -> Sequence[Tournament]:  # type: ignore[empty-body]
    """Return the tournaments that this plugin adds."""


@hookspec
def podium_formats() -> Sequence[Format]:  # type: ignore[empty-body]
    """Return the file formats that this plugin adds."""
