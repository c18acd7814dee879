"""Sources in, responses out: find the files, recognise them, read, and put together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from podium.errors import DataError, UsageError
from podium.formats.containers import read_records
from podium.formats.files import find_files
from podium.responses import alpaca_eval, arena_hard, lm_eval, plain
from podium.responses.answers import Answer, Question
from podium.responses.assembly import assembled, renamed
from podium.responses.collection import Responses
from podium.responses.sheets import Sheet
from podium.text import some

QUESTIONS = "question.jsonl"
"""Where arena-hard keeps the questions: beside the folder of answers, or in it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A known shape of tables.

    Attributes:
        name: for people.
        fits: whether a file has it.
        read: its rows.
    """

    name: str
    fits: Callable[[Sheet], bool]
    read: Callable[[Sheet], Sequence[Answer | Question]]


SHAPES = (
    Shape("lm-eval samples of generated text", lm_eval.fits, lm_eval.read),
    Shape("arena-hard answers", arena_hard.holds_answers, arena_hard.read),
    Shape("AlpacaEval outputs", alpaca_eval.fits, alpaca_eval.read),
    Shape("a row per response (instruction or id, response, model)", plain.holds_responses, plain.read),
    Shape("arena-hard questions", arena_hard.holds_questions, arena_hard.read_questions),
    Shape("a row per item (id, instruction)", plain.holds_instructions, plain.read_instructions),
)
"""The first that fits is taken."""


@dataclass(frozen=True, slots=True)
class FileReader:
    """A reader of files that are no tables; hosts bring one for their own logs.

    Attributes:
        suffixes: of the files that it may claim, as `.eval`; folders are searched for them, too.
        claims: whether a file of such a suffix is its own.
        read: what is in the file. A question's `source` and `row` name the place, its `item` the id.
    """

    suffixes: tuple[str, ...]
    claims: Callable[[Path], bool]
    read: Callable[[Path], Iterable[Answer]]


def read_responses(*sources: str | Path, readers: Sequence[FileReader] = ()) -> Responses:
    """Read the responses of entrants, from files of any known shape.

    Args:
        sources: files, folders or globs, each optionally `label=path`; the label names the entrant. Files with a row
            per item and no responses say what was asked.
        readers: further readers, asked before the known shapes.

    Raises:
        UsageError: a path that does not exist, an entrant named twice, or nothing to compare.
        DataError: a file or a value in it is not what it should be.
    """
    rows: list[Answer | Question] = []
    files: list[str] = []
    skipped: list[str] = []
    owners: dict[str, str] = {}
    notes: list[str] = []
    for source in map(str, sources):
        part = _of_source(source, readers)
        _refuse_namesakes(owners, source, part.rows)
        rows, files = rows + part.rows, files + part.files
        skipped, notes = skipped + part.skipped, notes + part.notes
    answers = [one for one in rows if isinstance(one, Answer)]
    if not answers:
        told = f"in {some(sources)}" if sources else "were named: give files or folders (-T responses=...)"
        raise UsageError("; ".join([f"no responses {told}", *notes]))
    questions = [one for one in rows if isinstance(one, Question)]
    read = assembled(answers, questions + _questions_beside(answers, questions))
    notes += [f"{len(skipped)} files hold no responses and were skipped: {some(skipped)}"] if skipped else []
    return replace(read, sources=tuple(sorted(files)), notes=(*notes, *read.notes))


@dataclass(frozen=True, slots=True)
class Part:
    """What one source holds.

    Attributes:
        rows: all of them.
        files: where they are from.
        skipped: files that hold none.
        notes: what people should know.
    """

    rows: list[Answer | Question]
    files: list[str]
    skipped: list[str]
    notes: list[str]

    def add(self, path: Path, rows: Sequence[Answer | Question] | None) -> None:
        """Add a file's rows; None of a file that holds no responses."""
        (self.skipped if rows is None else self.files).append(str(path))
        self.rows.extend(rows or [])


def _of_source(source: str, readers: Sequence[FileReader]) -> Part:
    found = find_files(source, tuple(suffix for one in readers for suffix in one.suffixes))
    files, rest, notes = lm_eval.find_samples(found)
    part = Part([], [], [], notes)
    repeated: list[str] = []
    for file in files:
        path, samples = file.path, lm_eval.read_rows(file)
        fits = lm_eval.fits(samples.sheet)
        if not fits and path in found.paths[-1:] and not found.searched and not part.files:
            raise _unrecognised(samples.sheet)
        part.add(path, _answers(samples.sheet) if fits else None)
        part.notes.extend(samples.notes if fits else [])
        repeated += [str(path)] if fits and samples.times > 1 else []
    for path in rest:
        part.add(path, _of_file(path, found.label, readers, optional=found.searched))
    if repeated:
        part.notes.append(
            f"of several responses to a document (repeats) the first is compared: {some(repeated, most=3)}"
        )
    return part


def _answers(sheet: Sheet) -> Sequence[Answer]:
    """Return the responses in samples of lm-eval."""
    try:
        return lm_eval.read(sheet)
    except UnicodeEncodeError as error:
        raise _half_a_character(sheet.path, error) from None


def _of_file(
    path: Path, label: str | None, readers: Sequence[FileReader], *, optional: bool
) -> Sequence[Answer | Question] | None:
    """Return what a file holds; None where it is nothing known and was not named.

    Raises:
        DataError: it is nothing known.
    """
    try:
        for one in readers:
            if path.name.endswith(one.suffixes) and one.claims(path):
                return renamed(one.read(path), label)
        sheet = Sheet(path, label, read_records(path))
        shape = next((shape for shape in SHAPES if len(sheet.frame) and shape.fits(sheet)), None)
        if shape is not None:
            return shape.read(sheet)
    except DataError as error:
        raise error.with_place(str(path)) from None
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    except UnicodeEncodeError as error:
        raise _half_a_character(path, error) from None
    if optional:
        return None
    raise _unrecognised(sheet)


def _half_a_character(path: Path, error: UnicodeEncodeError) -> DataError:
    return DataError(
        f"half a surrogate pair, which no text can hold: {error.object[error.start]!r}",
        source=str(path),
        remedy="replace it by U+FFFD, or write the response again with the whole character",
    )


def _unrecognised(sheet: Sheet) -> DataError:
    return DataError(
        f"no responses in the columns {some(sorted(sheet.columns)) or '(none)'}",
        source=str(sheet.path),
        remedy="give a row per response with the columns instruction (or id), response and model; or "
        + ", ".join(shape.name for shape in SHAPES[:3]),
    )


def _refuse_namesakes(owners: dict[str, str], source: str, rows: Iterable[Answer | Question]) -> None:
    """Remember which source an entrant is from.

    Raises:
        UsageError: an entrant is in two sources.
    """
    for name in sorted({one.entrant for one in rows if isinstance(one, Answer)}):
        if name in owners:
            raise UsageError(
                f"two sources hold an entrant {name!r}: {owners[name]} and {source}; "
                f"tell them apart with labels ({name}-1={_path(owners[name])} {name}-2={_path(source)}), or, if they "
                "are parts of one, give them as one folder or glob"
            )
        owners[name] = source


def _path(source: str) -> str:
    label, equals, path = source.partition("=")
    return path if equals and "/" not in label else source


def _questions_beside(answers: Sequence[Answer], questions: Sequence[Question]) -> list[Question]:
    """Read arena-hard's questions from where they lie, for answers that do not say what they answer."""
    known = {one.item for one in questions}
    lacking = [one.question for one in answers if one.question.instruction is None and one.question.item not in known]
    folders = sorted({Path(one.source).parent for one in lacking})
    places = {folder / QUESTIONS for start in folders for folder in (start, start.parent)}
    read = [_of_file(path, None, (), optional=True) or [] for path in sorted(places) if path.is_file()]
    return [one for rows in read for one in rows if isinstance(one, Question)]
