"""Read the scores of an eval from the summaries of its samples, where these are exact.

An `.eval` archive has a file per sample, and one file with a summary of each. Reading the summaries
takes a small part of the time. They lack whether a sample was invalidated, and long texts in them
are cut off.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog

from podium.data.formats.archives import opened_archive
from podium.hosts.inspect_ai.logs.asked_inputs import texts_of_target
from podium.hosts.inspect_ai.logs.eval_scores import metrics_in
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.message_texts import ATTACHMENT
from podium.hosts.inspect_ai.logs.sample_files import SampleFile, parse_bytes
from podium.hosts.inspect_ai.logs.stored_samples import (
    checked_log,
    first_samples,
    order_of_sample,
)

SUMMARIES = "summaries.json"
"""The file of the summaries in an archive. A log whose run was killed has none."""
FIRST_SAMPLES = 5
"""Number of samples in which verdicts are looked for."""
LARGEST_SUMMARIES = 2**28
"""Largest number of unpacked bytes of this file. If it has more, the samples are read instead."""
FIRST_VERSION = (0, 3, 156)
"""The first version of Inspect whose summaries have the choices of a sample."""
CUT_OFF = "(content truncated)"
"""End of a text that Inspect cut off."""

Summary = dict[str, Any]
"""Summary of a sample, as parsed JSON."""


def read_score_summaries(path: Path, header: EvalLog) -> list[Summary] | None:
    """Return the summaries of a log's samples, by epoch, then by id.

    The fields that callers may read are `id`, `epoch`, `input`, `choices`, `target`, `metadata`,
    `scores` and `error`. All but the first three may be missing.

    Args:
        path: the log.
        header: its header.

    Returns:
        The summaries. None if the samples themselves have to be read: the log is no archive, an
        older version of Inspect wrote it, podium scored it, samples are invalidated, it has no
        summaries or too many, a summary is not exact, or summaries are not those of the samples.

    Raises:
        DataError: the archive is damaged.
    """
    if path.suffix != ".eval" or header.invalidated or _has_podium_scorer(header):
        return None
    if _version_of(header) < FIRST_VERSION:
        return None
    with checked_log(path), opened_archive(path) as archive:
        names = {*archive.namelist()}
        if SUMMARIES not in names or archive.getinfo(SUMMARIES).file_size > LARGEST_SUMMARIES:
            return None
        content = archive.read(SUMMARIES)
        summaries = {_member_of(each): each for each in parse_bytes(content)}
        if summaries.keys() != {name for name in names if name.startswith("samples/")}:
            return None
        ordered = sorted(summaries, key=lambda name: _order_of(summaries[name]))
        # The first and the last sample are read as an example of all.
        for name in {*ordered[:1], *ordered[-1:]}:
            sample = SampleFile(archive, name).fields(("scores", "choices"))
            if _has_podium_score(sample):
                return None
            if _values_and_choices(sample) != _values_and_choices(summaries[name]):
                return None
        in_order = [summaries[name] for name in ordered]
        # Without these marks in any text, only the types of the inputs decide.
        has_marks = any(mark.encode() in content for mark in (CUT_OFF, ATTACHMENT, NAMESPACE))
        is_exact = _is_exact if has_marks else _has_whole_input
        return in_order if all(map(is_exact, in_order)) else None


def may_have_verdicts(path: Path, header: EvalLog) -> bool:
    """Return whether an ordinary eval may have verdicts: a scorer, its metrics or a score say so.

    Scores are looked for in the samples that the log stored first.

    Raises:
        DataError: one of these samples is damaged.
    """
    if _has_podium_scorer(header):
        return True
    return bool(scorers_of_verdicts(path))


def scorers_of_verdicts(path: Path) -> set[str]:
    """Return the names of the scorers whose scores hold verdicts, in the samples stored first.

    Raises:
        DataError: one of these samples is damaged.
    """
    names = set[str]()
    for sample in first_samples(path, FIRST_SAMPLES, frozenset({"scores"})):
        names.update(_scorers_with_judgments(sample))
    return names


def _has_podium_scorer(header: EvalLog) -> bool:
    """Return whether a scorer of podium, which stores judgments, ran in an eval.

    Summaries may lack the metadata of scores, where the judgments are. In a task's own list of
    scorers, `pairwise` has its bare name, and only its metric names podium.
    """
    scorers = header.eval.scorers or ()
    names = [scorer.name for scorer in scorers]
    names += [metric.name for scorer in scorers for metric in metrics_in(scorer.metrics)]
    if header.results is not None:
        names += [score.scorer for score in header.results.scores]
    return any(name.partition("/")[0] == NAMESPACE for name in names)


def _has_podium_score(sample: Mapping[str, Any]) -> bool:
    """Return whether a score of a sample, or of its summary, has podium's entry in its metadata."""
    return any(_scorers_with_judgments(sample))


def _scorers_with_judgments(sample: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the scores of a sample that have podium's entry in their metadata.

    The entry holds the judgments of a battle.
    """
    for name, score in (sample.get("scores") or {}).items():
        if NAMESPACE in (score.get("metadata") or ()):
            yield name


def _version_of(header: EvalLog) -> tuple[int, ...]:
    """Return the version of Inspect that ran an eval, such as `(0, 3, 156)`.

    Empty if the log does not have it.
    """
    numbers = re.match(r"\d+(\.\d+)*", header.eval.packages.get("inspect_ai", ""))
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _member_of(summary: Summary) -> str:
    """Return the name of the file of a sample in the archive."""
    return f"samples/{summary['id']}_epoch_{summary['epoch']}.json"


def _order_of(summary: Summary) -> tuple[int, str]:
    """Return the sort key of a summary, which is that of its sample."""
    return order_of_sample(summary["epoch"], str(summary["id"]))


def _values_and_choices(sample: Mapping[str, Any]) -> tuple[str, ...]:
    """Return two JSON texts: the values of a sample's scores by name, and its choices.

    The sample may also be the summary of one.

    The input is left out, because a sample may hold it as an attachment.
    """
    scores = sample.get("scores") or {}
    values = {name: score["value"] for name, score in scores.items()}
    return json.dumps(values, sort_keys=True), json.dumps(sample.get("choices"))


def _is_exact(summary: Summary) -> bool:
    """Return whether a summary has all that is read of its sample.

    False if a text of the input, the choices or the target is cut off or an attachment, if the
    input has media, or if podium wrote a score.
    """
    choices = summary.get("choices") or ()
    texts = [*_texts_of_input(summary["input"]), *choices, *texts_of_target(summary.get("target"))]
    return not _has_podium_score(summary) and all(map(_is_whole_text, texts))


def _has_whole_input(summary: Summary) -> bool:
    """Return whether the input of a summary has only texts."""
    sample_input = summary["input"]
    return isinstance(sample_input, str) or all(
        isinstance(text, str) for text in _texts_of_input(sample_input)
    )


def _texts_of_input(sample_input: Any) -> list[Any]:
    """Return the content of each message of an input, or the input itself if it is a text.

    The content of a message with media is a list of parts, and not a text.
    """
    return (
        [sample_input]
        if isinstance(sample_input, str)
        else [message["content"] for message in sample_input]
    )


def _is_whole_text(text: Any) -> bool:
    """Return whether a value is a text that is neither cut off nor the name of an attachment."""
    return isinstance(text, str) and not text.endswith(CUT_OFF) and not text.startswith(ATTACHMENT)
