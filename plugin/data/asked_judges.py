"""Notes on how the judges of a file, and the models that answered, were asked."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from podium.notices.notice import Notice
from podium.scorers.judge_names import short_judge_names
from podium.scorers.judge_record import SCHEMA_FIRST, JudgeRecord, join_judges

if TYPE_CHECKING:
    import pandas as pd

CODES = {
    "temperature": "no-temperature",
    "logprobs": "no-logprobs",
    "max_tokens": "no-max-tokens",
    "schema": "no-schema",
}
"""Code of the note by option that a judge refused. Notes on other options have no text."""
CODES_OF_ANSWERS = {
    "temperature": "answers-without-temperature",
    "max_tokens": "answers-without-limit",
}
"""Code of the note by option that a model refused that answered on demand."""


def notes_on_refused(
    path: str,
    refused: Mapping[str, Mapping[str, str]],
    judges: Mapping[str, JudgeRecord],
) -> Iterator[Notice]:
    """Yield a note for each option of calls that a judge refused, and was asked without.

    Options without a note of their own (see `CODES`) are skipped.

    Args:
        path: the file.
        refused: the server's words, by judge and option.
        judges: the records of the file's judges, by name. A judge without a record is shown by
            its full name, others by their short names.
    """
    short = short_judge_names(judges.values())
    for judge, options in refused.items():
        for option, why in options.items():
            if option in CODES:
                yield Notice(
                    CODES[option], {"path": path, "judge": short.get(judge, judge), "why": why}
                )


def notes_on_answers(path: str, refused: Mapping[str, Mapping[str, str]]) -> Iterator[Notice]:
    """Yield a note for each option of calls that a model refused, and answered without.

    Options without a note of their own (see `CODES_OF_ANSWERS`) are skipped, such as token
    probabilities, which change no answer.

    Args:
        path: the file.
        refused: the server's words, by model and option.
    """
    for model, options in refused.items():
        for option, why in options.items():
            if option in CODES_OF_ANSWERS:
                yield Notice(CODES_OF_ANSWERS[option], {"path": path, "model": model, "why": why})


FEW_VERDICTS = 3
"""Fewest verdicts of a judge in the rarer form, JSON or text, for a note that a source has both.

A judge that takes a JSON schema may write noise before its first object, and is then asked for
text. So a few verdicts in text are no sign of a retry."""
SMALL_SHARE = 0.05
"""Smallest share of a judge's verdicts in the rarer form for a note that a source has both."""


def notes_on_forms(sheets: "Iterable[tuple[str, pd.DataFrame]]") -> Iterator[Notice]:
    """Yield notes on judges whose verdicts came as JSON in part, and as text in part.

    Only judges that are asked for JSON, and for text if they take no schema, can differ so under
    one name. There are two kinds of notes:

    - on one source that has enough verdicts in both forms (`FEW_VERDICTS`, `SMALL_SHARE`), as after
      a retry;
    - on sources that differ in the more frequent form, which is text if both are equally frequent.

    Args:
        sheets: the name of each source, and a row per judgment of it, with the records of its
            judges in `attrs`. Sources of other rows, such as scores, are skipped.
    """
    places: dict[str, dict[str, list[str]]] = {}
    sheets = list(sheets)
    records = join_judges(frame.attrs.get("judges") or {} for _, frame in sheets)
    short = short_judge_names(records.values())
    for source, frame in sheets:
        for judge, (structured, text) in _counts_of_forms(frame).items():
            fewer = min(structured, text)
            if fewer >= max(FEW_VERDICTS, SMALL_SHARE * (structured + text)):
                fields = {"path": source, "judge": short[judge], "schema": structured, "text": text}
                yield Notice("forms-of-replies-mixed", fields)
            form = "schema" if structured > text else "text"
            places_of_judge = places.setdefault(judge, {"schema": [], "text": []})
            places_of_judge[form].append(source)
    for judge, by_form in places.items():
        if by_form["schema"] and by_form["text"]:
            yield Notice("forms-of-replies-differ", {"judge": short[judge], **by_form})


def _counts_of_forms(frame: "pd.DataFrame") -> dict[str, tuple[int, int]]:
    """Return the numbers of verdicts as JSON and as text, by judge.

    Judges that are not asked for JSON first, and those without a verdict, are left out. Ties of
    identical responses, about which no judge is asked, do not count.
    """
    counts: dict[str, tuple[int, int]] = {}
    records = frame.attrs.get("judges") or {}
    for name, record in records.items():
        if record.replies != SCHEMA_FIRST or not {"judge", "credit"}.issubset(frame.columns):
            continue
        verdicts = frame[(frame["judge"] == name) & frame["credit"].notna()]
        if "attempts" in verdicts:
            verdicts = verdicts[verdicts["attempts"].ne(0)]
        structured = int(verdicts["schema"].eq(True).sum()) if "schema" in verdicts else 0
        if len(verdicts):
            counts[name] = (structured, len(verdicts) - structured)
    return counts
