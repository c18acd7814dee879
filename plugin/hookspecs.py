"""What a plugin can add: rankers, scorers, tournaments and file formats.

A plugin is a module with hooks marked `@podium.hookimpl`, and an entry point in the group `podium`
that names the module. `examples/third_party_ranker` is a complete plugin.
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

    from podium.question_finding import QuestionFinding
    from podium.run_record import RunRecord
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
"""The names that plug-ins may import from this module. The others may change."""

hookspec = pluggy.HookspecMarker("podium")
hookimpl = pluggy.HookimplMarker("podium")


def load_target(target: Any) -> Any:
    """Import the object that `module:name` names; return anything else unchanged.

    Raises:
        ImportError: the module cannot be imported.
        AttributeError: the module has no such name.
        ValueError: the text is not of the form `module:name`.
    """
    return resolve_name(target) if isinstance(target, str) else target


class Extension:
    """Base of what a plugin adds.

    Attributes:
        target: name of the field that holds the plugin's object, or the text `module:name` to
            import it from.
        name: name by which users choose the extension.
        summary: one line for `podium list`.
    """

    __slots__ = ()
    target: ClassVar[str]
    name: str
    summary: str

    def load(self) -> Any:
        """Import the module of the target, and return the target.

        Raises:
            ImportError, AttributeError, ValueError: nothing has the name in the text `module:name`.
        """
        return load_target(getattr(self, self.target))


@dataclass(frozen=True, slots=True)
class Ranker(Extension):
    """A ranker: a function `(battles, *, level, rng, ...) -> Standings`.

    Its other keyword-only parameters are the options that `--set` accepts.

    Attributes:
        several_judges: whether the ranker takes the battles of several judges in one call. For
            other rankers, each judge is ranked alone unless the user gives `--pool`.
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
    """The files of one source that the user typed as `PATH` or `LABEL=PATH`.

    Attributes:
        label: the text before `=`; None if there is none.
        paths: the local files, sorted.
        searched: whether the files were found by searching a directory. Files without verdicts
            are then no error.
        remote: the objects below a URL, sorted. A format with `gathers` gets local copies of the
            objects that match one of its `names`.
    """

    label: str | None
    paths: "tuple[Path, ...]"
    searched: bool
    remote: "tuple[RemoteFile, ...]" = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The user's options for formats that read several files together.

    Attributes:
        metrics: names of the metrics to compare; empty if the format chooses.
        all_runs: whether all runs of a model count, as repeats. If not, only the newest counts.
        where: conditions (column, value) of `--where`. podium applies them to the rows that a
            format returns; a format may apply them earlier.
        allowed: names in `podium.findings.FINDINGS` that the user accepts.
        cluster: the column with the groups of items (`--cluster`); a format adds it to its rows if
            its files have it. None if the user named none.
        names_joined: whether names of models that look the same are names of one model. If not,
            podium rejects them later.
        human_judge: the judge or metric whose rows become human labels (`--human-judge`); None if
            there is none.
    """

    metrics: Sequence[str] = ()
    all_runs: bool = False
    where: Sequence[tuple[str, str]] = ()
    allowed: Sequence[str] = ()
    names_joined: bool = False
    cluster: str | None = None
    human_judge: str | None = None


@dataclass(frozen=True, slots=True)
class GatheredBattles:
    """The battles that a format read from files that belong together.

    Attributes:
        sheets: pairs of a source's name and a frame. The frame has columns of the battles table,
            or the columns item, model and score.
        claimed: all files of this format. No other format reads them.
        notes: messages on how the files were read.
        lost: messages on what could not be read or compared. The other battles are ranked.
        apart: a column whose values are ranked separately by default; None if there is none.
        accepted: sentences on the findings that the user accepted with `--allow`. The answer of
            the ranking repeats them.
        runs: the runs of lm-eval or Inspect whose scores are in the sheets.
        questions: how the items of these runs were paired, by task.
    """

    sheets: "Sequence[tuple[str, pd.DataFrame]]" = ()
    claimed: "AbstractSet[Path]" = frozenset()
    notes: Sequence[Notice] = ()
    lost: Sequence[Notice] = ()
    apart: str | None = None
    accepted: Sequence[str] = ()
    runs: "Sequence[RunRecord]" = ()
    questions: "Sequence[QuestionFinding]" = ()


@dataclass(frozen=True, slots=True)
class Format(Extension):
    """A reader of one file format.

    Attributes:
        signature: alternative sets of columns. A file is of this format if it has all columns of
            one set.
        read: a function from a frame of the file's records to a frame with columns of the battles
            table and the same index.
        column_of_label: the column of the file that gets the label of `LABEL=PATH`. If None, the
            label becomes the column `source`.
        suffixes: suffixes of files of this format that are not tables.
        selects: a function from a file's records in the database to the frame that `read` gets,
            for files with columns that are too large to read in full; None for all columns.
        gathers: a function `(files, reading) -> GatheredBattles` for files that belong together.
            It is called before any single file is read.
        names: glob patterns of the names of the files that `gathers` reads.
        texts: a function from a path to one row per judgment, with item, model_a, model_b,
            instruction, response_a, response_b, order, judge, and `words` (the judge's reply); if
            the file lacks the text of model_b, `reference` may name the file that has it. If a row
            names the model of the file's run, `run_model` is this name, in place of which the name
            in the record of the run (`runs`) counts.
        costs: a function from a path to one row per answer of a model, with `model`,
            `tokens in`, `tokens out`, `seconds` and `money`. A value is None if it is unknown.
        responses: a `podium.responses.response_files.FileReader` of the models' answers in such
            files.
        runs: a function `(sources, reading) -> records` that returns the records of the runs of
            evals in the files of the sources. The records have the names that the models have in a
            ranking of the sources.
    """

    target = "read"
    name: str
    signature: tuple[AbstractSet[str], ...]
    read: "Callable[[pd.DataFrame], pd.DataFrame] | str"
    summary: str
    column_of_label: str | None = None
    suffixes: tuple[str, ...] = ()
    selects: "Callable[[Any], pd.DataFrame] | str | None" = None
    gathers: Callable[[Sequence[SourceFiles], Reading], GatheredBattles] | str | None = None
    names: tuple[str, ...] = ("*",)
    texts: "Callable[[Path], Iterable[Mapping[str, Any]]] | str | None" = None
    costs: "Callable[[Path], Iterable[Mapping[str, Any]]] | str | None" = None
    responses: Any = None
    runs: "Callable[[Sequence[SourceFiles], Reading], Sequence[RunRecord]] | str | None" = None

    def gather(self, files: Sequence[SourceFiles], reading: Reading) -> GatheredBattles:
        """Read files that belong together by `gathers`.

        The result is empty if the format has no such function, or if no file is of this format.
        """
        if self.gathers is None:
            return GatheredBattles()
        read_files = load_target(self.gathers)
        return read_files(files, reading)

    def may_gather(self, files: Sequence[SourceFiles]) -> bool:
        """Return whether `gathers` may read one of the files, by the names alone.

        The result is True if a file (local or remote) has the suffix of one of `names`, or if one
        of `names` has no suffix. If it is False, the module of `gathers` need not be imported.
        """
        endings = tuple(f".{name.rpartition('.')[2]}" for name in self.names if "." in name)
        if len(endings) < len(self.names):
            # A pattern without a suffix may match any name.
            return True
        names = [path.name for place in files for path in place.paths]
        names += [each.name for place in files for each in place.remote]
        return any(name.endswith(endings) for name in names)

    def specificity(self, columns: frozenset[str]) -> int:
        """Return the size of the largest signature whose columns are all among the given ones.

        The number is 0 if there is no such signature. A file is read by the format with the largest
        number.
        """
        return max((len(names) for names in self.signature if names <= columns), default=0)


@hookspec
def podium_rankers() -> Sequence[Ranker]:  # type: ignore[empty-body]
    """Return the rankers that this plugin adds to those of podium."""


@hookspec
def podium_scorers() -> Sequence[Scorer]:  # type: ignore[empty-body]
    """Return the judge scorers that this plugin adds."""


@hookspec
def podium_tournaments() -> Sequence[Tournament]:  # type: ignore[empty-body]
    """Return the tournaments that this plugin adds."""


@hookspec
def podium_formats() -> Sequence[Format]:  # type: ignore[empty-body]
    """Return the file formats that this plugin adds."""
