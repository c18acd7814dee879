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
from podium.scorers.judging import Judging, build_verdict_row, merge_rows
from podium.scorers.prompt import final_answer
from podium.scorers.reasoning import Policy, strip_reasoning

if TYPE_CHECKING:
    from podium.responses.collection import Responses

REPEATED = ("item", "response", "model_a", "model_b", "first", "category", "length_a", "length_b")
"""Fields of a battle that are repeated in the metadata of its score."""
SCORER = "podium pairwise"
"""The beginning of messages that `pairwise` prints."""


@metric(name="judged", scores="unreduced")
def readable_battles() -> Metric:
    """Count the battles with a readable verdict.

    Inspect passes only scores with a value to metrics.
    """

    # The annotation tells Inspect that this metric takes scores with their samples.
    def count(scores: list[SampleScore]) -> float:
        return float(len(scores))

    return count


def _ratings_metric(ranker: str) -> Callable[[], Metric]:
    """Make a metric with each model's score by a ranker, under the key `RANKER MODEL`.

    If another ranker had to replace it, the key names that one. The metric is empty while nothing
    can be ranked.
    """
    name = ranker.replace("-", "_")

    def ratings(scores: list[SampleScore]) -> Value:
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
    """Score a battle by parsing the judges' replies: the credit of model_a, if it is known."""
    options = flatten_arguments(kwargs)
    judging_settings(**options)
    # Each scorer has its own cache, because a prompt file may change until the next run.
    settings_of = remember(lambda typed: judging_settings(**json.loads(typed)))

    async def score(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001
        sample = parse_sample(state.metadata)
        if not isinstance(sample, BattleMetadata | PackMetadata):
            return None
        if not state.store.get(NAMESPACE):
            is_other_epoch = sample.earlier is not None
            return (
                None
                if is_other_epoch
                else score_without_value("scoring_failed", "the judge was not asked")
            )
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
    reasoning: Policy = "strip",
    show: Mode = "auto",
    transcript_tokens: int | None = None,
    **kwargs: Any,
) -> Scorer:
    """Score each response of a log against the response of another log by a judge's verdict.

    The judge is the model of the role `judge` (`--model-role judge=MODEL`). A sample that the
    reference did not answer is not scored.

    Args:
        reference: the other log.
        cache: whether calls are answered from Inspect's cache.
        reasoning: whether reasoning in answers is removed (`strip`) or shown (`keep`).
        show: whether transcripts or last messages of agents are compared. With `auto`, transcripts
            are compared if the reference called tools.
        transcript_tokens: maximum number of tokens of a transcript; None for the default.
        kwargs: options of the judge, as for a tournament.
    """
    from podium.hosts.inspect_ai.judging.judge_context import choose_show
    from podium.hosts.inspect_ai.logs.sample_answers import build_agent_response

    with plain_errors(), typed_as(typed_in_score):
        options = flatten_arguments(kwargs)
        asked, why = choose_show(show, transcript_tokens, judging_settings(**options))
        asked = replace(asked, reasoning=reasoning)
        responses = _read_reference(reference, asked, why)
        [name] = responses.models
        transcripts = responses.has_transcripts
        several = {each.id for each in responses.items if each.responses > 1}
        run = Run(judging_settings(**{**options, "transcript": transcripts}), cache=cache)
        shown = replace(asked, mode="transcript" if transcripts else "answer")
        print_once = remember(partial(tell, who=SCORER))

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        response, work = build_agent_response(state, shown, len(state.input_text))
        if reasoning == "strip" and not work.shown:
            response = strip_reasoning(response)
        for note in _notes_on_sample(work):
            print_once(note)
        met = _key_in_reference(state, several)
        problem = _lack_of_response(responses, name, met, response)
        if problem:
            return score_without_value("scoring_failed", problem)
        other = responses.shown_text(name, met, transcripts)
        battle = _battle_of(state, response, name, other, transcripts)
        return _score_battle(battle, await ask_jury(run, battle), run.how)

    return score


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

    `name` is the reference's model, and `key` the key of its response.
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
    """Return the battle of a sample's response against a response of the reference.

    Args:
        state: the sample.
        response: its response.
        name: the reference's model.
        text: the response of the reference.
        transcript: whether both responses are transcripts.
    """
    media = media_in(state.input)
    own = str(state.model)
    more: dict[str, Any] = {}
    if state.epoch > 1:
        more["response"] = state.epoch
    if transcript:
        more["transcript"] = True
    shown = state.input_text
    if media:
        shown = "\n\n".join(text_with_places(cast(list[Any], state.input)))
    return BattleMetadata(
        item=str(state.sample_id),
        model_a=own,
        model_b=name if name != own else f"{name} (reference)",
        instruction=shown,
        reference=state.target.text or None,
        response_a=response,
        response_b=text,
        media=media,
        **more,
    )


def _score_battle(battle: BattleMetadata, kept: BattleReplies, how: Judging) -> Score:
    """Return the score of a battle: the credit of model_a, with every verdict as metadata."""
    texts = {"transcript_length_a": battle.response_a, "transcript_length_b": battle.response_b}
    lengths = {column: len(text) for column, text in texts.items() if battle.transcript}
    rows = [cast(VerdictRow, build_verdict_row(shown, how) | lengths) for shown in kept.judgments]
    whole = merge_rows(rows, how)
    known: dict[str, Any] = {}
    for name in REPEATED:
        value = getattr(battle, name)
        if value is not None:
            known[name] = value
    # Judgments that were carried over from another sample of the log are in that sample's score.
    own = [
        row
        for judgment, row in zip(kept.judgments, rows, strict=True)
        if not judgment.get("carried")
    ]
    verdict = BattleVerdict(
        **known,
        margin=whole.margin,
        prompt_hash=how.prompt_hash,
        judges=kept.judges,
        judgments=own,
    )
    metadata = {NAMESPACE: verdict.to_log(), **_fold_transcripts(battle)}
    explanation = _explain_battle(battle, kept, rows)
    if whole.credit is None:
        return score_without_value(
            "grader_failed", explanation, answer="unparsed", metadata=metadata
        )
    won = whole.outcome or 0.0
    answer = "tie"
    if won > 0.5:
        answer = battle.model_a
    elif won < 0.5:
        answer = battle.model_b
    return Score(value=whole.credit, answer=answer, explanation=explanation, metadata=metadata)


def _score_pack(
    battles: Sequence[BattleMetadata], kept: Sequence[BattleReplies], how: Judging
) -> Score:
    """Return the score of a pack (several battles in one sample): its share of readable battles.

    The metadata of the score hold the verdicts.
    """
    verdicts = []
    lines = []
    for battle, replies in zip(battles, kept, strict=True):
        score = _score_battle(battle, replies, how)
        whole = BattleVerdict(**(score.metadata or {})[NAMESPACE], credit=credit_in(score))
        verdicts.append(whole)
        orders = ", ".join(f"{row['order']} {_credit_text(row)}" for row in whole.judgments)
        credit = "unparsed" if whole.credit is None else f"{whole.credit:.3g}"
        lines.append(f"{battle.model_a} against {battle.model_b}: {credit} ({orders})")
    readable = sum(verdict.credit is not None for verdict in verdicts)
    answer = f"{readable} of {len(verdicts)} battles have a readable verdict"
    metadata = {NAMESPACE: PackVerdicts.from_verdicts(verdicts).to_log()}
    words = "\n".join([answer, *lines])
    return Score(
        value=readable / len(verdicts), answer=answer, explanation=words, metadata=metadata
    )


def _explain_battle(battle: BattleMetadata, kept: BattleReplies, rows: Sequence[VerdictRow]) -> str:
    """Return a battle as Markdown: models, credits, the judges' replies, and both responses."""
    a = battle.model_a
    b = battle.model_b
    parts = [f"**{a}** against **{b}**"]
    for judgment, row in zip(kept.judgments, rows, strict=True):
        first = b if row["order"] == "ba" else a
        credit = _credit_text(row, f"{a} earned ")
        parts.append(f"{first} first: {credit} ({row['judge']})")
        parts += [
            _quote(reply["text"] or reply.get("refused", "")) for reply in judgment["replies"]
        ]
    for name, response in ((a, battle.response_a), (b, battle.response_b)):
        if battle.transcript:
            work = work_in(response)
            less = f"; {work.cut:,} characters are left out" if work.cut else ""
            did = f"{work.turns} turns, {work.calls} tool calls: below, in METADATA{less}"
            parts += [
                f"**{name}** ({did}), final answer:",
                _quote(final_answer(response)) or "none",
            ]
        else:
            parts += [f"**{name}**:", _quote(response)] if response else []
    return "\n\n".join(part for part in parts if part)


def _fold_transcripts(battle: BattleMetadata) -> dict[str, Any]:
    """Return the pieces of both transcripts by model and turn, as Inspect's viewer can fold them.

    Empty if the responses are not transcripts.
    """
    folded: dict[str, dict[str, Any]] = {}
    for name, response in (
        (battle.model_a, battle.response_a),
        (battle.model_b, battle.response_b),
    ):
        turns = folded.setdefault(name, {})
        for piece, text in read_pieces(response) if battle.transcript else ():
            # The name of a piece begins with its kind and turn: `turn 3`, `call 3.1`.
            numbered = re.fullmatch(r"[a-z]+ ([0-9]+)[0-9.]*", piece)
            turns.setdefault(f"turn {numbered[1]}" if numbered else piece, {})[piece] = text
    return {"transcripts": folded} if battle.transcript else {}


def _quote(text: str) -> str:
    """Return the first 2,000 characters of a text with a bar before each line.

    The bar marks a quotation, because Inspect's viewer does not format quotations.
    """
    shown = text
    if len(text) > 2000:
        shown = f"{text[:2000]}… ({len(text) - 2000:,} more characters)"
    return "\n".join(f"│ {line}" for line in shown.strip().splitlines())


def _credit_text(row: Mapping[str, Any], prefix: str = "") -> str:
    """Return `prefix` and the credit of a judgment, or why the judgment is unparsed."""
    return (
        f"unparsed ({row['reason']})" if row["credit"] is None else f"{prefix}{row['credit']:.3g}"
    )
