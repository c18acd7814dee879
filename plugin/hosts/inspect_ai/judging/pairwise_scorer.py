"""The scorer of a log's responses against those of other logs (`pairwise`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache as remember
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import click
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from podium.errors import UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import (
    flatten_arguments,
    plain_errors,
    score_without_value,
)
from podium.hosts.inspect_ai.judging.battle_outcomes import (
    parts_of_outcome,
)
from podium.hosts.inspect_ai.judging.call_timeouts import CALL_TIMEOUT
from podium.hosts.inspect_ai.judging.pairwise_metrics import AGAINST, pairwise_results
from podium.hosts.inspect_ai.judging.scorers import score_battle
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import (
    TRANSCRIPTS,
    BattleMetadata,
    BattleReplies,
    BattleVerdict,
    PackVerdicts,
    credit_in,
)
from podium.hosts.inspect_ai.media import media_in, text_with_places
from podium.notices.option_forms import (
    Kind,
    option_text,
    quoted_value,
    typed_as,
    typed_in_command,
    typed_in_python,
)
from podium.plugins.catalogue import judging_settings
from podium.printable import tell
from podium.responses.transcripts import AgentWork, Mode, Show
from podium.scorers.judging import Judging, words_of_judgment
from podium.scorers.reasoning import Policy, strip_reasoning

if TYPE_CHECKING:
    from podium.hosts.inspect_ai.judging.judge_calls import Run
    from podium.responses.collection import Responses

SCORER = "podium pairwise"
"""The beginning of messages that `pairwise` prints."""
DEFAULT_MERGING = {"one_sided": "unparsed", "rule": "mean", "quorum": None}
"""Defaults of the options of the judge by which judgments are merged, by name of the option."""


@scorer(metrics=[pairwise_results()])
def pairwise(
    reference: str | Sequence[str] = (),
    value: Literal["outcome", "credit"] = "outcome",
    cache: bool = True,
    call_timeout: float | None = CALL_TIMEOUT,
    reasoning: Policy = "strip",
    show: Mode = "auto",
    transcript_tokens: int | None = None,
    **kwargs: Any,
) -> Scorer:
    """Score each response of a log against the response of another log by a judge's verdict.

    The judge is the model of the role `judge` (`--model-role judge=MODEL`). The value of a score
    has three parts: `credit`, what the sample's model earned; `flip`, 1 if the two orders have
    different winners, else 0; and `unparsed`, 1 if the verdict is unparsed, else 0. A part that is
    not known is NaN: the credit of an unparsed battle, the flip of a battle that was not read in
    both orders, and all three if the reference did not answer the sample, if the response is empty,
    or if the judge could not be shown the responses. If there are several references, the name of
    each part ends with ` against NAME`.

    Args:
        reference: the other log, or several, each as PATH or NAME=PATH.
        value: what a score is: all three parts (`outcome`), or the credit alone (`credit`), as
            reducers of several scorers and `krippendorff_alpha` expect it. Inspect then leaves
            samples without a credit out of the metrics, and they do not count unparsed and missing
            battles.
        cache: whether calls are answered from Inspect's cache.
        call_timeout: seconds that each attempt of a call may take; None for no limit.
        reasoning: whether reasoning in answers is removed (`strip`) or shown (`keep`).
        show: whether transcripts or last messages of agents are compared. With `auto`, transcripts
            are compared if the reference called tools.
        transcript_tokens: maximum number of tokens of a transcript; None for the default.
        kwargs: options of the judge, as for a tournament.

    Raises:
        UsageError: there is no reference, one has several models, two have models of the same name,
            `value=credit` is given with several references, the time limit is not positive, or an
            option is unknown or impossible.
        DataError: the log of a reference cannot be read.
    """
    from podium.hosts.inspect_ai.judging.judge_context import choose_show

    with plain_errors(), typed_as(typed_in_score):
        options = flatten_arguments(kwargs)
        sources = _split_sources(reference)
        _check_value(value, sources)
        judging = judging_settings(**options)
        chosen_show, why = choose_show(show, transcript_tokens, judging)
        references = _read_references(sources, replace(chosen_show, reasoning=reasoning), why)
        runs = _build_runs(references, options, cache=cache, call_timeout=call_timeout)
        # The cache remembers the texts that were printed.
        print_once = remember(partial(tell, who=SCORER))

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        """Judge the response of a sample against that of each reference, and return one score.

        With `value=credit`, its value is the credit, else the parts of all battles.
        """
        scores = []
        with typed_as(typed_in_score):
            for reference in references:
                run = runs[reference.has_transcripts]
                scores.append(await _score_sample(reference, run, state, print_once))
        return _whole_credit(scores[0]) if value == "credit" else _merge_scores(scores)

    return score


@dataclass(frozen=True, slots=True)
class Reference:
    """A log with whose responses those of samples are compared.

    Attributes:
        name: the name of its model.
        responses: its responses.
        several: ids of items to which it has several responses.
        show: what the judge is shown of agents' work.
    """

    name: str
    responses: "Responses"
    several: frozenset[str]
    show: Show

    @property
    def has_transcripts(self) -> bool:
        """Whether transcripts are compared, and not last messages."""
        return self.responses.has_transcripts


def _split_sources(reference: str | Sequence[str]) -> list[str]:
    """Return the references as a list, without blank texts.

    Raises:
        UsageError: no reference is left.
    """
    named_sources = [reference] if isinstance(reference, str) else [str(each) for each in reference]
    sources = [source for source in named_sources if source.strip()]
    if not sources:
        problem = "podium/pairwise compares with a reference, and none is named"
        raise UsageError(f"{problem}: name its log, as -S reference=PATH or pairwise(PATH)")
    return sources


def _check_value(value: str, sources: Sequence[str]) -> None:
    """Raise UsageError unless `value` is `outcome`, or `credit` with one reference."""
    if value not in ("outcome", "credit"):
        raise UsageError(f"value={value}: choose outcome or credit")
    if value == "credit" and len(sources) > 1:
        raise UsageError(
            f"value=credit is one number, and there are {len(sources)} references: name one "
            "reference for each scorer, or leave value= out"
        )


def _read_references(sources: Sequence[str], chosen_show: Show, context: str) -> list[Reference]:
    """Read the references, and return one per source, in the order of the sources.

    Args:
        sources: the logs, each as PATH or NAME=PATH.
        chosen_show: what is shown of agents' work.
        context: why transcripts are shorter than asked for; empty if they are not.

    Raises:
        UsageError: a log has several models or no responses, or two have models of the same name.
        DataError: a log cannot be read.
    """
    references: dict[str, Reference] = {}
    for source in sources:
        responses = _read_reference(source, chosen_show, context)
        [name] = responses.models
        if name in references:
            raise UsageError(
                f"two references are responses of {name}: name them apart, as reference=NAME=PATH"
            )
        mode: Mode = "transcript" if responses.has_transcripts else "answer"
        items_with_several = frozenset(each.id for each in responses.items if each.responses > 1)
        references[name] = Reference(
            name, responses, items_with_several, replace(chosen_show, mode=mode)
        )
    return [*references.values()]


def _build_runs(
    references: Sequence[Reference],
    options: Mapping[str, Any],
    *,
    cache: bool,
    call_timeout: float | None,
) -> "dict[bool, Run]":
    """Return a run of judges for transcripts (True), one for answers (False), or both.

    References that show the same share a run, and so the ratings of single responses.

    Args:
        references: the references, which need one of the runs or both.
        options: options of the judge by name.
        cache: whether calls are answered from Inspect's cache.
        call_timeout: seconds that each attempt of a call may take; None for no limit.

    Raises:
        UsageError: an option or the time limit has an impossible value.
    """
    from podium.hosts.inspect_ai.judging.judge_calls import Run

    runs = {}
    for as_transcripts in {each.has_transcripts for each in references}:
        options_of_run = {**options, "transcript": as_transcripts}
        settings = judging_settings(**options_of_run)
        runs[as_transcripts] = Run(settings, cache=cache, call_timeout=call_timeout)
    return runs


async def _score_sample(
    reference: Reference, run: "Run", state: TaskState, print_once: Callable[[str], object]
) -> Score:
    """Return the score of a sample against a reference.

    Args:
        reference: the reference.
        run: asks the judges.
        state: the sample.
        print_once: prints what the judge is not shown of an agent's work.
    """
    response, work = _shown_response(state, reference.show)
    for note in _notes_on_sample(work):
        print_once(note)
    return await _score_against(reference, run, _battle_of(state, response, reference), state)


async def _score_against(
    reference: Reference, run: "Run", battle: BattleMetadata, state: TaskState
) -> Score:
    """Return the score of a sample's response against that of a reference: its credit.

    It has no value if there is nothing to compare, or if the verdict is unparsed. Its metadata hold
    the battle under `NAMESPACE`, with the judge's words, with settings of merging that are not the
    defaults and, unless transcripts are compared, with the reference's response.

    Raises:
        Exception: the error of a call to the judge that failed.
    """
    from podium.hosts.inspect_ai.judging.judge_calls import ask_jury

    problem = _lack_of_response(reference, state, battle.response_a)
    if problem:
        verdict = BattleVerdict(
            item=battle.item,
            response=battle.response,
            model_a=battle.model_a,
            model_b=battle.model_b,
            missing=problem,
            judgments=[],
        )
        entry = {NAMESPACE: verdict.to_log()}
        return score_without_value(reason="scoring_failed", explanation=problem, metadata=entry)
    replies = await ask_jury(run, battle)
    score = score_battle(battle, replies, run.judging)
    entry = (score.metadata or {})[NAMESPACE]
    _keep_words(entry["judgments"], replies)
    merging = _merging_of(run.judging)
    if merging:
        entry["merging"] = merging
    if not battle.transcript:
        entry["response_b"] = battle.response_b
    return score


def _keep_words(judgments: Sequence[dict[str, Any]], replies: BattleReplies) -> None:
    """Add the judge's words to the judgments in a score, as no store of the sample has them.

    They are added under the key `words`. A judgment without words is not changed.

    Args:
        judgments: the judgments of a score, which are changed in place.
        replies: the replies, in the same order.
    """
    for judgment, stored_judgment in zip(judgments, replies.judgments, strict=True):
        words = words_of_judgment(stored_judgment)
        if words:
            judgment["words"] = words


def _merging_of(judging: Judging) -> dict[str, Any]:
    """Return the options of `DEFAULT_MERGING` whose values differ from it, by name."""
    settings = {name: getattr(judging, name) for name in DEFAULT_MERGING}
    return {name: value for name, value in settings.items() if value != DEFAULT_MERGING[name]}


def _whole_credit(score: Score) -> Score:
    """Return the score of a battle with all digits of its credit, because metrics take the value.

    A score without a value is returned as it is.
    """
    credit = credit_in(score)
    return score if credit is None else score.model_copy(update={"value": credit})


def _merge_scores(scores: Sequence[Score]) -> Score:
    """Return a score whose value has the parts of the battles in `scores`, one per reference.

    Of a single score, only the value is replaced. If there are several, the name of each part ends
    with the name of its reference, and answer, explanation and metadata hold all battles. A missing
    battle has parts that are NaN.
    """
    values = [parts_of_outcome(score) for score in scores]
    if len(scores) == 1:
        return scores[0].model_copy(update={"value": values[0]})
    verdicts = []
    merged: dict[str, float] = {}
    metadata: dict[str, Any] = {}
    answers = []
    for score, value in zip(scores, values, strict=True):
        metadata_of_score = score.metadata or {}
        verdict = BattleVerdict.parse(metadata_of_score[NAMESPACE])
        verdicts.append(verdict)
        merged |= {f"{part}{AGAINST}{verdict.model_b}": figure for part, figure in value.items()}
        transcripts = metadata.get(TRANSCRIPTS, {}) | metadata_of_score.get(TRANSCRIPTS, {})
        if transcripts:
            metadata[TRANSCRIPTS] = transcripts
        answers.append(f"{score.answer or 'missing'} ({verdict.model_b})")
    metadata[NAMESPACE] = PackVerdicts.from_verdicts(verdicts).to_log()
    explanations = [score.explanation or "" for score in scores]
    return Score(
        value=merged,
        answer="; ".join(answers),
        explanation="\n\n---\n\n".join(explanations),
        metadata=metadata,
    )


def _shown_response(state: TaskState, show: Show) -> tuple[str, AgentWork]:
    """Return a sample's response as the judge is shown it, and the agent's work.

    Reasoning is removed from a response that is no transcript, if `show.reasoning` is `strip`.
    """
    from podium.hosts.inspect_ai.logs.sample_answers import build_agent_response

    response, work = build_agent_response(state, show, len(state.input_text))
    if show.reasoning == "strip" and not work.shown:
        response = strip_reasoning(response)
    return response, work


def typed_in_score(kind: Kind, name: str, value: str) -> str:
    """Write an option of the judge (`argument`): `-S NAME=VALUE` while `inspect score` runs.

    Elsewhere, it is an argument of `pairwise` in the user's task. Other options are written for
    podium's command, as Inspect's commands have none of them.
    """
    if kind != "argument":
        return typed_in_command(kind, name, value)
    context = click.get_current_context(silent=True)
    if context is not None and context.info_name == "score":
        return f"-S {name}={quoted_value(value)}"
    return f"pairwise({typed_in_python(kind, name, value)})"


def _key_in_reference(state: TaskState, reference: Reference) -> str:
    """Return the key of the reference's response with which a sample's response is compared.

    It is made of item and number of the response (`response_key`). The number is the sample's epoch
    if the reference has several responses to the item, else 1. The reference may lack the key.
    """
    from podium.responses.collection import response_key

    item = str(state.sample_id)
    # Epoch k is compared with epoch k. A single response of the reference is compared with all.
    return response_key(item, state.epoch if item in reference.several else 1)


def _lack_of_response(reference: Reference, state: TaskState, response: str) -> str:
    """Return why a response cannot be compared with the reference's; empty if it can.

    Args:
        reference: the reference.
        state: the sample.
        response: the response of the sample. It cannot be compared if it is empty or blank.
    """
    key = _key_in_reference(state, reference)
    if key not in reference.responses.texts[reference.name]:
        reason = reference.responses.missing[reference.name].get(key, "no response")
        return f"{reference.name} has no response to compare with: {reason}"
    return "" if response.strip() else "empty response"


def _notes_on_sample(work: AgentWork) -> Iterator[str]:
    """Yield sentences on what the judge is not shown of an agent's work.

    There is one if tool calls are not shown, and one if a transcript was cut.
    """
    if work.calls and not work.shown:
        yield (
            "samples hold tool calls, and the judge is shown only the last message; "
            f"{option_text('show', 'transcript', 'argument')} shows all"
        )
    if work.cut:
        option = option_text("transcript_tokens", "N", "argument")
        remedy = work.limit or f"{option} shows more"
        yield f"transcripts of samples are cut to fit; {remedy}"


def _read_reference(reference: str, show: Show, context: str) -> "Responses":
    """Return the responses in the reference log, and print notes on what judges are shown of them.

    Args:
        reference: the log, as PATH or NAME=PATH.
        show: what is shown of agents' work.
        context: why transcripts are shorter than asked for; empty if they are not.

    Raises:
        UsageError: the log has several models, or no responses.
        DataError: the log cannot be read.
    """
    from podium.hosts.inspect_ai.judging.judge_context import note_on_transcripts, notes_on_work
    from podium.hosts.inspect_ai.logs.response_reader import READER
    from podium.notices.notice_text import notice_text
    from podium.responses.read import read_responses

    responses = read_responses(reference, readers=(READER,), reasoning=show.reasoning, show=show)
    names = responses.models
    if len(names) != 1:
        raise UsageError(
            f"{reference} contains {len(names)} models ({', '.join(names)}); name one reference"
        )
    for note in (*note_on_transcripts(responses, show, context), *notes_on_work(responses)):
        tell(notice_text(note), SCORER)
    return responses


def _battle_of(state: TaskState, response: str, reference: Reference) -> BattleMetadata:
    """Return the battle of a sample's response (model_a) against a response of a reference.

    If both are by the same model, `(reference)` is added to the name of the second. The second
    response is empty if the reference has none.

    Args:
        state: the sample.
        response: its response.
        reference: the reference.
    """
    media = media_in(state.input)
    model = str(state.model)
    name = reference.name
    key = _key_in_reference(state, reference)
    text = ""
    if key in reference.responses.texts[name]:
        text = reference.responses.shown_text(name, key, as_transcript=reference.has_transcripts)
    optional: dict[str, Any] = {}
    if state.epoch > 1:
        optional["response"] = state.epoch
    if reference.has_transcripts:
        optional["transcript"] = True
    instruction = state.input_text
    if media:
        instruction = "\n\n".join(text_with_places(cast(list[Any], state.input)))
    return BattleMetadata(
        item=str(state.sample_id),
        model_a=model,
        model_b=name if name != model else f"{name} (reference)",
        instruction=instruction,
        reference=state.target.text or None,
        response_a=response,
        response_b=text,
        media=media,
        **optional,
    )
