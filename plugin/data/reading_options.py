"""The options of reading that a ranking of scores or verdicts takes in every place.

Podium's commands make options of click of this table, `lm_eval run --ranker` options of argparse,
and `inspect eval --ranker` its own. This module does not import click, NumPy or pandas.
"""

from dataclasses import dataclass
from typing import Literal

from podium.data.query import ID_READINGS, NAME_READINGS
from podium.findings import FINDINGS

Kind = Literal["text", "texts", "word", "words", "truth", "flag", "conditions", "files"]
"""What an option takes: a text, or several; one of its words, or several; true or false, or nothing
(`flag`); several `COLUMN=VALUE`; several files."""


@dataclass(frozen=True, slots=True)
class ReadingOption:
    """An option of reading.

    Attributes:
        name: the field of `BattleQuery`. A command writes hyphens for its underscores.
        kind: what it takes.
        help: the text of the help.
        shown: what stands for the value in the help; empty for words.
        words: the words that it takes, of which the first is the default of kind `word`.
        of_scores: whether it is only for scores of a task's metrics, and not for verdicts.
    """

    name: str
    kind: Kind
    help: str
    shown: str = ""
    words: tuple[str, ...] = ()
    of_scores: bool = False


ALL_READING_OPTIONS = (
    ReadingOption(
        "where",
        kind="conditions",
        help="Keep only these rows; may be given several times.",
        shown="COLUMN=VALUE",
    ),
    ReadingOption(
        "human_judge",
        kind="text",
        help="This judge's verdicts become the human labels of the others' battles.",
        shown="NAME",
        of_scores=True,
    ),
    ReadingOption(
        "metric",
        kind="texts",
        help=(
            "Of lm-eval folders and Inspect logs: what to compare; may be given several times, or "
            "all. Default: of each task, the one that the host shows first."
        ),
        shown="NAME[,FILTER]",
        of_scores=True,
    ),
    ReadingOption(
        "runs",
        kind="word",
        help=(
            "Of a model or tournament run several times (lm-eval, Inspect): the newest counts, or "
            "all are repeats."
        ),
        words=("newest", "all"),
        of_scores=True,
    ),
    ReadingOption(
        "allow",
        kind="words",
        help="Accept a finding that is an error otherwise: "
        + "; ".join(f"{name}, {finding}" for name, finding in FINDINGS.items())
        + ".",
        words=tuple(FINDINGS),
    ),
    ReadingOption(
        "names",
        kind="word",
        help=(
            "Names of models or judges that look the same (Unicode forms, invisible characters, "
            "blanks at the ends): an error, or joined."
        ),
        words=NAME_READINGS,
        of_scores=True,
    ),
    ReadingOption(
        "ids",
        kind="word",
        help=(
            "Whether an id is one item in all categories (global) or another in each "
            "(per-category); auto: as inputs, or numbers that begin anew in each category, show."
        ),
        words=ID_READINGS,
        of_scores=True,
    ),
    ReadingOption(
        "lower_is_better",
        kind="truth",
        help=(
            "Of scores: lower is better, so they are negated. By default as the files say, or as "
            "the metric is called (wer, latency)."
        ),
        of_scores=True,
    ),
    ReadingOption(
        "cluster",
        kind="text",
        help=(
            "Items with one value of this column vary together (passage, document, seed, "
            "template): intervals, tests and sample sizes take such groups as the unit."
        ),
        shown="COLUMN",
        of_scores=True,
    ),
    ReadingOption(
        "encoding",
        kind="text",
        help="Encoding of the text files that are not UTF-8, as latin-1 or cp1252.",
        shown="NAME",
    ),
    ReadingOption(
        "mapping",
        kind="text",
        help=(
            "A file with these options for the data (YAML), or none. Default: NAME.podium.yaml or "
            "podium.yaml beside the data, if there is one."
        ),
        shown="FILE",
    ),
    ReadingOption(
        "human_labels",
        kind="files",
        help=(
            "Human labels: item, model_a, model_b, credit, or a filled-in sheet of `podium label`; "
            "one file a person."
        ),
        shown="FILE",
    ),
    ReadingOption(
        "complete",
        kind="flag",
        help="Only items on which every pair has a readable verdict.",
    ),
)
"""All options of reading."""
OPTIONS_BY_NAME = {option.name: option for option in ALL_READING_OPTIONS}
"""The options by name."""
