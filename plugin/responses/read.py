"""Read responses from sources: find the files, read them, pair their questions and assemble them.

A source is a file, a folder or a glob.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from podium.data.reading.model_names import note_doubtful_names
from podium.errors import UsageError
from podium.findings import check_findings
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.question_finding import QuestionFinding
from podium.responses.answers import ONLY_REASONING, QuestionRow, ResponseRow, Row
from podium.responses.assembly import assemble_rows
from podium.responses.collection import Responses
from podium.responses.groups_of_responses import with_groups
from podium.responses.question_pairing import AllowedFindings, PairedRows, pair_rows
from podium.responses.response_files import FileReader, RowForm
from podium.responses.source_rows import SourceRows, read_source_rows, why_unread
from podium.responses.transcripts import ANSWER_ALONE, Show
from podium.scorers.reasoning import Policy, check_policy, strip_reasoning
from podium.storage.remote import urls_in_errors, with_urls, without_secrets
from podium.wording import some_paths


@urls_in_errors()
def read_responses(
    *sources: str | Path,
    readers: Sequence[FileReader] = (),
    reasoning: Policy = "strip",
    prompts: Sequence[QuestionRow] = (),
    on_demand: Sequence[str] = (),
    show: Show = ANSWER_ALONE,
    optional: bool = False,
    allow: Collection[str] = (),
    allow_option: str = "",
    cluster: str | None = None,
) -> Responses:
    """Read responses from files, folders or globs of any known shape.

    Tables of questions, which have no responses, are read for the instructions. Responses to the
    same question have the same item; see `podium.responses.question_pairing`.

    Args:
        sources: the sources; each may be written `label=path`, with a name for the model.
        readers: readers of hosts' log files.
        reasoning: whether reasoning before an answer is removed (`strip`) or kept (`keep`).
        prompts: questions that are put to the models of `on_demand`; if empty, the questions of the
            sources.
        on_demand: names of models that can be asked for responses that are in no source.
        show: says whether a response of an agent is its answer or its transcript.
        optional: if False, it is an error if a named file or all sources have no responses. If
            True, such files are skipped, and the result may have no items. A few malformed rows of
            tables are then left out, too, as they are where verdicts are read.
        allow: names of findings, such as `questions`, that are not treated as errors. The result
            names them.
        allow_option: the option that accepts the finding `questions`, as it is typed. If it is
            empty, `--allow questions`.
        cluster: the column with the groups of items, such as the passage of a question; in a log of
            Inspect, a key of samples' metadata; in samples of lm-eval, a field of documents. If it
            is None and all files are logs whose own standard errors are clustered by one key, the
            groups are of this key.

    Raises:
        UsageError: the sources have no responses, two sources have models of the same name, or
            `cluster` gives no groups.
        DataError: a file cannot be read, or rows contradict each other.
        OtherQuestionError: files have different questions under the same ids.
    """
    allowed = AllowedFindings(check_findings(allow), allow_option)
    strips_reasoning = check_policy(reasoning)
    form = RowForm(replace(show, reasoning=reasoning), cluster, skips_bad_rows=optional)
    read = read_source_rows(sources, readers, form, optional=optional)
    paired = pair_rows([*prompts, *read.rows], read.runs, allowed)
    notes = [*read.notes, *paired.notes]
    # The prompts come first, as rows keep their order.
    prompts = [row.question for row in paired.rows[: len(prompts)]]
    rows = paired.rows[len(prompts) :]
    has_responses = any(isinstance(row, ResponseRow) for row in rows)
    has_questions = on_demand and paired.rows
    if not has_responses and not optional and not has_questions:
        reasons = [*why_unread(read.skipped, readers), *notice_texts(notes)]
        raise _no_responses_error(sources, on_demand, reasons)
    if strips_reasoning:
        rows, notes_on_reasoning = _without_reasoning(rows)
        notes += notes_on_reasoning
    responses, notes_on_pending = assemble_rows(rows, prompts, read.unanswered, on_demand)
    notes += notes_on_pending
    if read.skipped:
        notes.append(Notice("files-without-responses", {"files": [*map(str, read.skipped)]}))
    notes += [*responses.notes, *note_doubtful_names(responses.models)]
    noted = replace(responses, notes=tuple(note.map_texts(with_urls) for note in notes))
    whole = replace(_add_runs(noted, paired), sources=_sources_of(read))
    return with_groups(whole, read.cluster, required=cluster is not None)


def _sources_of(read: SourceRows) -> tuple[str, ...]:
    """Return the files that were read, sorted; local copies of URLs are named by their URLs."""
    return tuple(map(with_urls, sorted(map(str, read.files))))


def _add_runs(responses: Responses, paired: PairedRows) -> Responses:
    """Add the runs, the findings on questions and the accepted findings to responses.

    Local copies of URLs are named by their URLs.
    """
    return replace(
        responses,
        runs=tuple(replace(run, source=with_urls(run.source)) for run in paired.runs),
        questions=tuple(map(_with_urls_in_example, paired.findings)),
        accepted=tuple(map(with_urls, paired.accepted)),
    )


def _with_urls_in_example(finding: QuestionFinding) -> QuestionFinding:
    """Name the URLs in the example of a finding instead of their local copies."""
    inputs = finding.example.get("inputs")
    if not inputs:
        return finding
    examples = {with_urls(source): text for source, text in inputs.items()}
    return replace(finding, example={**finding.example, "inputs": examples})


def _no_responses_error(
    sources: Sequence[str | Path], on_demand: Sequence[str], reasons: Sequence[str]
) -> UsageError:
    """Return the error that there are no responses, or no prompts for models that can be asked.

    Its text ends with the reasons.
    """
    if sources:
        problem = f"no responses in {without_secrets(some_paths(sources))}"
    elif on_demand:
        problem = (
            "no prompts were named for the role models: give a file, a task or a dataset "
            "(-T prompts=...)"
        )
    else:
        problem = "no responses were named: give files or folders (-T responses=...)"
    return UsageError("; ".join([problem, *reasons]))


@urls_in_errors()
def read_prompts(
    *sources: str | Path, readers: Sequence[FileReader] = (), cluster: str | None = None
) -> tuple[list[QuestionRow], list[Notice]]:
    """Read the questions in sources, also those of responses.

    The sources are those that `read_responses` reads, and tables of prompts without ids. The same
    question may come several times. `cluster` is the column with the groups of items.

    Returns:
        The questions, and notes on the reading.

    Raises:
        UsageError: a source has no file.
        DataError: a file cannot be read, or has no prompts.
    """
    read = read_source_rows(sources, readers, RowForm(cluster=cluster), for_prompts=True)
    return [row.question for row in read.rows], [*read.notes]


def _without_reasoning(rows: Sequence[Row]) -> tuple[list[Row], list[Notice]]:
    """Remove the reasoning before answers.

    An answer that consists only of reasoning loses its text, and gets the reason `ONLY_REASONING`.
    Transcripts are not changed: `Show.build_response` has removed their reasoning.

    Returns:
        The rows, and a note on how many answers had reasoning; no note if none had.
    """
    changed_rows = list(rows)
    with_reasoning = 0
    without_answer = 0
    for k, row in enumerate(rows):
        if not isinstance(row, ResponseRow) or not row.text:
            continue
        is_transcript = row.work is not None and row.work.shown
        if is_transcript:
            continue  # it has no reasoning
        text = strip_reasoning(row.text)
        if text == row.text:
            continue
        with_reasoning += 1
        if text:
            changed_rows[k] = replace(row, text=text, reason=None)
        else:
            changed_rows[k] = replace(row, text=None, reason=ONLY_REASONING)
            without_answer += 1
    if not with_reasoning:
        return changed_rows, []
    fields = {
        "reasoning": with_reasoning,
        "responses": sum(isinstance(row, ResponseRow) for row in rows),
        "unfinished": without_answer,
    }
    return changed_rows, [Notice("reasoning-left-out", fields)]
