"""Find lm-eval's files of samples in sources, and read the responses in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from podium.data.formats import lm_eval_layout as layout
from podium.data.formats.lm_eval_judged import model_of_verdicts, verdicts_in_row
from podium.data.formats.lm_eval_run_records import run_of_samples
from podium.data.formats.lm_eval_selection import name_by_settings, select_runs
from podium.hookspecs import SourceFiles
from podium.notices.notice import Notice
from podium.responses.answers import Sheet
from podium.responses.response_files import FileRows, RowForm
from podium.responses.table_shapes import SHAPE_OF_SAMPLES, rows_of_sheet


class NewestSamples(NamedTuple):
    """The samples files of lm-eval in a source.

    Attributes:
        files: the samples of the newest run of each model and task. Details of leaderboards, whose
            responses are not read, are left out.
        others: the files of the source that are neither lm-eval's nor details.
        notes: notes on the runs.
    """

    files: list[layout.Samples]
    others: tuple[Path, ...]
    notes: list[Notice]


def find_newest_samples(sources: Sequence[SourceFiles]) -> list[NewestSamples]:
    """Find the samples files of lm-eval in each source, in the order of the sources.

    Runs of one model that differ in a setting are models of their own, in whichever sources they
    are. Notes on these names are with the first source.
    """
    runs = []
    for source in sources:
        runs.append(layout.find_runs(source.paths, source.label, searched=source.searched))
    all_files: list[layout.Samples] = []
    for files, _ in runs:
        all_files += files
    named_files, notes_on_names = name_by_settings(all_files)
    newest: list[NewestSamples] = []
    start = 0
    for source, (files, results) in zip(sources, runs, strict=True):
        samples = named_files[start : start + len(files)]
        start += len(files)
        notes = notes_on_names if not newest else []
        newest.append(_newest_samples_of_source(source, samples, results, notes))
    return newest


def _newest_samples_of_source(
    source: SourceFiles,
    samples: Sequence[layout.Samples],
    results: Sequence[layout.Results],
    notes_on_names: Sequence[Notice],
) -> NewestSamples:
    """Return the samples files of the newest run of each model and task in a source.

    A note names each run in whose folder no samples file is.

    Args:
        source: the source.
        samples: all its samples files.
        results: all its results files.
        notes_on_names: notes that precede those on the runs.
    """
    newest_files, left_out = select_runs(samples)
    notes = [*notes_on_names, *left_out]
    folders = {file.path.parent for file in samples}
    lacking = []
    for run in results:
        if run.path.parent not in folders:
            lacking.append((source.label or run.model or run.path.parent.name, run))
    notes += layout.notes_on_lacking_samples(lacking)
    paths_of_runs = {file.path for file in samples} | {run.path for run in results}
    paths_of_runs |= layout.files_beside_details([file.path for file in samples], source.paths)
    others = tuple(path for path in source.paths if path not in paths_of_runs)
    files = [file for file in newest_files if not layout.is_details(file.path)]
    return NewestSamples(sorted(files, key=lambda file: file.path), others, notes)


@dataclass(frozen=True, slots=True)
class SamplesFile:
    """A samples file of lm-eval that is read.

    Attributes:
        samples: the file with the results file of its run.
    """

    samples: layout.Samples

    @property
    def path(self) -> Path:
        """The file."""
        return self.samples.path

    def read(self, form: RowForm, *, optional: bool) -> FileRows:
        """Read the responses in the samples, with the names of their models set.

        `rows` of the result is None if the samples have log-likelihoods and `optional` is True. A
        note says if a line is cut off.

        Args:
            form: says how agents are shown, and which column has the groups of items.
            optional: whether a file without generated texts is skipped.

        Raises:
            DataError: the file cannot be read, or has no generated texts and is not optional.
        """
        sheet, notes = self._sheet(form)
        rows = rows_of_sheet(sheet, [SHAPE_OF_SAMPLES], optional=optional)
        if rows is None:
            return FileRows(self.path, None)
        return FileRows(self.path, rows, run_of_samples(self.samples), notes)

    def _sheet(self, form: RowForm) -> tuple[Sheet, list[Notice]]:
        """Return the table of the file, and a note if a line is cut off."""
        import pandas as pd

        row_of_line: dict[str, dict[str, Any]] = {}
        notes = []
        for place, row in layout.sample_rows(self.path):
            if row is None:
                fields = {"path": str(self.path), "place": place, "task": ""}
                notes.append(Notice("cut-off-line", fields))
            else:
                row_of_line[place.removeprefix("line ")] = row
        rows = list(row_of_line.values())
        frame = pd.DataFrame(rows, index=pd.Index(list(row_of_line), name="line"))
        verdicts_of_rows = map(verdicts_in_row, rows)
        first_verdicts = next((verdicts for verdicts in verdicts_of_rows if verdicts), None)
        model = self.samples.model
        if first_verdicts:
            model = model_of_verdicts(self.samples, first_verdicts)
        return Sheet(self.path, model, frame, show=form.show, cluster=form.cluster), notes
