"""The scorers of tournaments (`verdict`) and of logs (`pairwise`), and a metric per ranker."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache as remember
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from podium.errors import PodiumError, UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import (
    flatten_arguments,
    plain_errors,
    score_without_value,
)
from podium.hosts.inspect_ai.judging.call_timeouts import CALL_TIMEOUT
from podium.hosts.inspect_ai.judging.judge_calls import Run, ask_jury
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import (
    BattleMetadata,
    BattleReplies,
    BattleVerdict,
    PackMetadata,
    PackVerdicts,
    SampleReplies,
    VerdictRow,
    credit_in,
    parse_sample,
    verdict_rows_in,
)
from podium.hosts.inspect_ai.media import media_in, text_with_places
from podium.notices.option_forms import Kind, typed_as, typed_in_command
from podium.plugins.catalogue import judging_settings
from podium.printable import tell
from podium.responses.transcripts import AgentWork, Mode, Show, read_pieces, work_in
from podium.scorers.judge_names import short_judge_names
from podium.scorers.judge_record import JudgeRecord
from podium.scorers.judging import Judging, build_verdict_row, merge_rows
from podium.scorers.prompt import final_answer
from podium.scorers.reasoning import Policy, strip_reasoning
from podium.wording import quantity, word_for

if TYPE_CHECKING:
    from podium.responses.collection import Responses

REPEATED = (
    "item",
    "response",
    "model_a",
    "model_b",
    "first",
    "category",
    "group",
    "length_a",
    "length_b",
)
"""Fields of a battle that are repeated in the metadata of its score."""
SCORER = "podium pairwise"
"""The beginning of messages that `pairwise` prints."""


@metric(name="judged", scores="unreduced")
def readable_battles() -> Metric:
    """Return a metric that counts the scores with a value: the battles with a readable verdict.

    Inspect passes only such scores to metrics. A pack of battles is one score.
    """

    # The annotation tells Inspect that this metric takes scores with their samples.
    def count(scores: list[SampleScore]) -> float:
        return float(len(scores))

    return count


def _ratings_metric(ranker: str) -> Callable[[], Metric]:
    """Make a metric with each model's score by a ranker, under the key `RANKER MODEL`.

    Several judges are ranked together. If another ranker had to replace it, the key names that
    one. The metric is empty while nothing can be ranked, and models without a score are left out.
    """
    name = ranker.replace("-", "_")

    def ratings(scores: list[SampleScore]) -> Value:
        """Rank the verdicts in the metadata of the scores."""
        import pandas as pd

        from podium.data.reading.judgments import read_battles
        from podium.ranking.rank_battles import rank

        rows = [row for score in scores for row in verdict_rows_in(score.score)]
        if not rows:
            return {}
        try:
            standings = rank(read_battles(pd.DataFrame(rows)), ranker, pool=True).standings[0]
        except PodiumError:
            return {}
        key = standings.ranker.replace("-", "_")
        return {
            f"{key} {entry.model}": entry.score
            for entry in standings.entries
            if entry.score is not None
        }

    return metric(name=name, scores="unreduced")(lambda: ratings)


bradley_terry = _ratings_metric("bradley-terry")
"""Metric: Bradley-Terry rating in Elo points, per model."""
soft_elo = _ratings_metric("soft-elo")
"""Metric: Soft-Elo rating per model, from graded credits or with human labels in the verdicts."""
win_rate = _ratings_metric("win-rate")
"""Metric: mean credit over opponents, per model."""


@scorer(metrics=[readable_battles()])
def verdict(**kwargs: Any) -> Scorer:
    """Score battles by parsing the judges' replies, which the solver `judge` has kept.

    The score of a battle is the credit of model_a; it has no value if the battle is unparsed or if
    the judge was not asked. The score of a pack is the share of its battles with a readable
    verdict. Samples without battles have no score, and neither have epochs in which no call of an
    earlier run is repeated.

    Args:
        kwargs: options of the judge. They replace those by which the judge was asked.

    Raises:
        UsageError: an option is unknown or has an impossible value.
    """
    options = flatten_arguments(kwargs)
    # It is called only for its error: wrong options must fail before the first sample.
    judging_settings(**options)
    # Each scorer has its own cache, because a prompt file may change until the next run.
    settings_of = remember(lambda options_as_json: judging_settings(**json.loads(options_as_json)))

    async def score(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001
        """Score one sample."""
        sample = parse_sample(state.metadata)
        if not isinstance(sample, BattleMetadata | PackMetadata):
            return None
        if not state.store.get(NAMESPACE):
            repeats_earlier_calls = sample.earlier is not None
            if repeats_earlier_calls:
                # Calls of other epochs are repeated, and none of this one.
                return None
            return score_without_value("scoring_failed", "the judge was not asked")
        kept = SampleReplies.parse(state.store.get(NAMESPACE))
        how = settings_of(json.dumps({**kept.options, **options}))
        if isinstance(sample, PackMetadata):
            return _score_pack(sample.to_battles(), kept.to_battles(), how)
        return _score_battle(sample, kept.to_battles()[0], how)

    return score


@scorer(metrics=[readable_battles()])
def pairwise(
    reference: str,
    cache: bool = True,
    call_timeout: float | None = CALL_TIMEOUT,
    reasoning: Policy = "strip",
    show: Mode = "auto",
    transcript_tokens: int | None = None,
    **kwargs: Any,
) -> Scorer:
    """Score each response of a log against the response of another log by a judge's verdict.

    The judge is the model of the role `judge` (`--model-role judge=MODEL`). The score is the
    credit of the sample's model. It has no value if the reference did not answer the sample, if
    the response is empty, or if the verdict is unparsed.

    Args:
        reference: the other log.
        cache: whether calls are answered from Inspect's cache.
        call_timeout: seconds that each attempt of a call may take; None for no limit.
        reasoning: whether reasoning in answers is removed (`strip`) or shown (`keep`).
        show: whether transcripts or last messages of agents are compared. With `auto`, transcripts
            are compared if the reference called tools.
        transcript_tokens: maximum number of tokens of a transcript; None for the default.
        kwargs: options of the judge, as for a tournament.

    Raises:
        UsageError: the reference has several models, the time limit is not positive, or an option
            is unknown or impossible.
    """
    from podium.hosts.inspect_ai.judging.judge_context import choose_show

    with plain_errors(), typed_as(typed_in_score):
        options = flatten_arguments(kwargs)
        asked, why = choose_show(show, transcript_tokens, judging_settings(**options))
        asked = replace(asked, reasoning=reasoning)
        responses = _read_reference(reference, asked, why)
        [name] = responses.models
        transcripts = responses.has_transcripts
        several = {each.id for each in responses.items if each.responses > 1}
        how = judging_settings(**{**options, "transcript": transcripts})
        run = Run(how, cache=cache, call_timeout=call_timeout)
        shown = replace(asked, mode="transcript" if transcripts else "answer")
        # The cache remembers the texts that were printed.
        print_once = remember(partial(tell, who=SCORER))

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        """Score one sample."""
        response, work = _shown_response(state, shown)
        for note in _notes_on_sample(work):
            print_once(note)
        key = _key_in_reference(state, several)
        problem = _lack_of_response(responses, name, key, response)
        if problem:
            return score_without_value("scoring_failed", problem)
        response_of_reference = responses.shown_text(name, key, transcripts)
        battle = _battle_of(state, response, name, response_of_reference, transcripts)
        return _score_battle(battle, await ask_jury(run, battle), run.how)

    return score


def _shown_response(state: TaskState, show: Show) -> tuple[str, AgentWork]:
    """Return a sample's response as the judge is shown it, and the agent's work."""
    from podium.hosts.inspect_ai.logs.sample_answers import build_agent_response

    response, work = build_agent_response(state, show, len(state.input_text))
    if show.reasoning == "strip" and not work.shown:
        response = strip_reasoning(response)
    return response, work


def typed_in_score(kind: Kind, name: str, value: str) -> str:
    """Write an option for `inspect score`, where a task's options are typed as `-S NAME=VALUE`."""
    return f"-S {name}={value}" if kind == "argument" else typed_in_command(kind, name, value)


def _key_in_reference(state: TaskState, several: Collection[str]) -> str:
    """Return the key of the reference's response with which a sample's response is compared.

    Args:
        state: the sample.
        several: ids of items to which the reference has several responses.
    """
    from podium.responses.collection import response_key

    item = str(state.sample_id)
    # Epoch k is compared with epoch k. A single response of the reference is compared with all.
    return response_key(item, state.epoch if item in several else 1)


def _lack_of_response(responses: "Responses", name: str, key: str, response: str) -> str:
    """Return why a response cannot be compared with the reference's; empty if it can.

    Args:
        responses: the responses of the reference.
        name: the reference's model.
        key: the key of its response.
        response: the response of the sample, which must not be empty.
    """
    if key not in responses.texts[name]:
        reason = responses.missing[name].get(key, "no response")
        return f"{name} has no response to compare with: {reason}"
    return "" if response.strip() else "empty response"


def _notes_on_sample(work: AgentWork) -> Iterator[str]:
    """Yield sentences on what the judge is not shown of an agent's work."""
    if work.calls and not work.shown:
        yield (
            "samples hold tool calls, and the judge is shown only the last message; "
            "-S show=transcript shows all"
        )
    if work.cut:
        remedy = work.limit or "-S transcript_tokens=N shows more"
        yield f"transcripts of samples are cut to fit; {remedy}"


def _read_reference(reference: str, show: Show, context: str) -> "Responses":
    """Return the responses in the reference log, and print notes on what judges are shown of them.

    Args:
        reference: path of the log.
        show: what is shown of agents' work.
        context: why transcripts are shorter than asked for; empty if they are not.

    Raises:
        UsageError: the log has several models.
    """
    from podium.hosts.inspect_ai.judging.judge_context import notes_on_work, share_of_transcripts
    from podium.hosts.inspect_ai.logs.response_reader import READER
    from podium.notices.notice_text import notice_text
    from podium.responses.read import read_responses

    responses = read_responses(reference, readers=(READER,), reasoning=show.reasoning, show=show)
    names = responses.models
    if len(names) != 1:
        raise UsageError(
            f"{reference} contains {len(names)} models ({', '.join(names)}); name one reference"
        )
    for note in (*share_of_transcripts(responses, show, context), *notes_on_work(responses)):
        tell(notice_text(note), SCORER)
    return responses


def _battle_of(
    state: TaskState, response: str, name: str, text: str, transcript: bool
) -> BattleMetadata:
    """Return the battle of a sample's response (model_a) against a response of the reference.

    If both are by the same model, `(reference)` is added to the name of the second.

    Args:
        state: the sample.
        response: its response.
        name: the reference's model.
        text: the response of the reference.
        transcript: whether both responses are transcripts.
    """
    media = media_in(state.input)
    model = str(state.model)
    optional: dict[str, Any] = {}
    if state.epoch > 1:
        optional["response"] = state.epoch
    if transcript:
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


def _score_battle(battle: BattleMetadata, kept: BattleReplies, how: Judging) -> Score:
    """Return the score of a battle: the credit of model_a, with every verdict as metadata.

    The answer is the winner's name, `tie` or `unparsed`; an unparsed battle has no value.
    Judgments that were carried over count in the credit, but are left out of the metadata.
    """
    lengths = {}
    if battle.transcript:
        lengths["transcript_length_a"] = len(battle.response_a)
        lengths["transcript_length_b"] = len(battle.response_b)
    rows = [cast(VerdictRow, build_verdict_row(shown, how) | lengths) for shown in kept.judgments]
    whole = merge_rows(rows, how)
    repeated_fields: dict[str, Any] = {}
    for name in REPEATED:
        value = getattr(battle, name)
        if value is not None:
            repeated_fields[name] = value
    # Judgments that were carried over from another sample of the log are in that sample's score.
    new_rows = [
        row
        for judgment, row in zip(kept.judgments, rows, strict=True)
        if not judgment.get("carried")
    ]
    if kept.identical:
        repeated_fields["identical"] = True
    verdict = BattleVerdict(
        **repeated_fields,
        margin=whole.margin,
        prompt_hash=how.prompt_hash,
        judges=kept.judges,
        judgments=new_rows,
    )
    metadata = {NAMESPACE: verdict.to_log(), **_fold_transcripts(battle)}
    explanation = _explain_battle(battle, kept, rows)
    if whole.credit is None:
        return score_without_value(
            "grader_failed", explanation, answer="unparsed", metadata=metadata
        )
    outcome = whole.outcome or 0.0
    answer = "tie"
    if outcome > 0.5:
        answer = battle.model_a
    elif outcome < 0.5:
        answer = battle.model_b
    return Score(value=whole.credit, answer=answer, explanation=explanation, metadata=metadata)


def _score_pack(
    battles: Sequence[BattleMetadata], kept: Sequence[BattleReplies], how: Judging
) -> Score:
    """Return the score of a pack (several battles in one sample): its share of readable battles.

    The metadata of the score hold the verdicts of all its battles, and the explanation has a line
    for each.
    """
    verdicts = []
    lines = []
    for battle, replies in zip(battles, kept, strict=True):
        score = _score_battle(battle, replies, how)
        verdict_on_battle = BattleVerdict(
            **(score.metadata or {})[NAMESPACE], credit=credit_in(score)
        )
        verdicts.append(verdict_on_battle)
        judgments = verdict_on_battle.judgments
        orders = ", ".join(f"{row['order']} {_credit_text(row)}" for row in judgments)
        if replies.identical:
            orders = "identical responses, no call"
        credit = "unparsed"
        if verdict_on_battle.credit is not None:
            credit = f"{verdict_on_battle.credit:.3g}"
        lines.append(f"{battle.model_a} against {battle.model_b}: {credit} ({orders})")
    readable = sum(verdict.credit is not None for verdict in verdicts)
    have = word_for(readable, "has", "have")
    answer = f"{readable} of {quantity(len(verdicts), 'battle')} {have} a readable verdict"
    metadata = {NAMESPACE: PackVerdicts.from_verdicts(verdicts).to_log()}
    explanation = "\n".join([answer, *lines])
    return Score(
        value=readable / len(verdicts), answer=answer, explanation=explanation, metadata=metadata
    )


def _explain_battle(battle: BattleMetadata, kept: BattleReplies, rows: Sequence[VerdictRow]) -> str:
    """Return a battle as Markdown: models, credits, the judges' replies, and both responses.

    Replies and responses are cut to 2,000 characters. Of a transcript, only the final answer is
    quoted.

    Args:
        battle: the battle.
        kept: the replies.
        rows: the verdict of each judgment in `kept`, in the same order.
    """
    a = battle.model_a
    b = battle.model_b
    parts = [f"**{a}** against **{b}**"]
    if kept.identical:
        parts.append("a tie without a call: both responses are the same text")
    records = [JudgeRecord.from_json(name, record) for name, record in kept.judges.items()]
    short = short_judge_names(records)
    for judgment, row in zip(() if kept.identical else kept.judgments, rows, strict=False):
        shown = "graded one by one"
        if row["order"] != "merged":
            shown = f"{b if row['order'] == 'ba' else a} first"
        credit = _credit_text(row, f"{a} earned ")
        parts.append(f"{shown}: {credit} ({short.get(row['judge'], row['judge'])})")
        parts += [
            _quote(reply["text"] or reply.get("refused", "")) for reply in judgment["replies"]
        ]
    for name, response in ((a, battle.response_a), (b, battle.response_b)):
        if battle.transcript:
            work = work_in(response)
            cut = f"; {quantity(work.cut, 'character', 'is|are')} left out" if work.cut else ""
            size = f"{quantity(work.turns, 'turn')}, {quantity(work.calls, 'tool call')}"
            size += f": below, in METADATA{cut}"
            parts += [
                f"**{name}** ({size}), final answer:",
                _quote(final_answer(response)) or "none",
            ]
        else:
            parts += [f"**{name}**:", _quote(response)] if response else []
    return "\n\n".join(part for part in parts if part)


def _fold_transcripts(battle: BattleMetadata) -> dict[str, Any]:
    """Return the pieces of both transcripts by model and turn, as Inspect's viewer can fold them.

    They are under the key `transcripts`. The result is empty if the responses are not transcripts.
    """
    if not battle.transcript:
        return {}
    folded: dict[str, dict[str, Any]] = {}
    for name, response in (
        (battle.model_a, battle.response_a),
        (battle.model_b, battle.response_b),
    ):
        turns = folded.setdefault(name, {})
        for piece, text in read_pieces(response):
            # The name of a piece begins with its kind and turn: `turn 3`, `call 3.1`.
            numbered = re.fullmatch(r"[a-z]+ ([0-9]+)[0-9.]*", piece)
            turn = f"turn {numbered[1]}" if numbered else piece
            turns.setdefault(turn, {})[piece] = text
    return {"transcripts": folded}


def _quote(text: str) -> str:
    """Return the first 2,000 characters of a text with a bar before each line.

    The bar marks a quotation, because Inspect's viewer does not format quotations.
    """
    shown = text
    if len(text) > 2000:
        shown = f"{text[:2000]}… ({quantity(len(text) - 2000, 'more character')})"
    return "\n".join(f"│ {line}" for line in shown.strip().splitlines())


def _credit_text(row: Mapping[str, Any], prefix: str = "") -> str:
    """Return `prefix` and the credit of a judgment, or why the judgment is unparsed."""
    if row["credit"] is None:
        return f"unparsed ({row['reason']})"
    return f"{prefix}{row['credit']:.3g}"
