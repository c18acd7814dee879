"""The scorer of tournaments (`verdict`), the scores of battles, and a metric per ranker."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache as remember
from typing import Any, cast

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from podium.errors import PodiumError
from podium.hosts.inspect_ai.inspect_ai_compatibility import (
    flatten_arguments,
    score_without_value,
)
from podium.hosts.inspect_ai.judging.pack_table import credit_text, pack_table
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import (
    TRANSCRIPTS,
    BattleMetadata,
    BattleReplies,
    BattleVerdict,
    PackMetadata,
    PackVerdicts,
    SampleReplies,
    VerdictRow,
    parse_sample,
    round_for_lists,
    verdict_rows_in,
)
from podium.plugins.catalogue import judging_settings
from podium.responses.transcripts import read_pieces, work_in
from podium.scorers.judge_names import short_judge_names
from podium.scorers.judge_record import JudgeRecord
from podium.scorers.judging import Judging, build_verdict_row, merge_rows
from podium.scorers.prompt import final_answer
from podium.wording import quantity, word_for

REPEATED_FIELDS = (
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


@metric(name="judged", scores="unreduced")
def readable_battles() -> Metric:
    """Return a metric that counts the scores with a value: the battles with a readable verdict.

    Inspect passes only such scores to metrics. A pack of battles is one score.
    """

    # The annotation tells Inspect that this metric takes scores with their samples.
    def count(scores: list[SampleScore]) -> float:
        """Return the number of samples that have a score."""
        return float(len(scores))

    return count


def _ratings_metric(ranker: str) -> Callable[[], Metric]:
    """Make a metric whose value has each model's score by a ranker.

    The keys are `RANKER MODEL`, with underscores in the name of the ranker. Verdicts of several
    judges are ranked together. If another ranker had to replace the given one, the key names that
    one. The value is empty while nothing can be ranked, and models without a score are left out.
    """
    name = ranker.replace("-", "_")

    def ratings(scores: list[SampleScore]) -> Value:
        """Rank the verdicts in the metadata of the scores, and return the score of each model."""
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
def verdict(short_names: Mapping[str, str] | None = None, **kwargs: Any) -> Scorer:
    """Score battles by parsing the judges' replies, which the solver `judge` has kept.

    The score of a battle is the credit of model_a; it has no value if the battle is unparsed or if
    the judge was not asked. The score of a pack is the share of its battles with a readable
    verdict. Samples without battles have no score, and neither have epochs in which no call of an
    earlier run is repeated.

    Args:
        short_names: names that the table of a pack shows in place of models' whole names.
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
        """Return the score of the verdicts that the judge's solver stored.

        The result is None if the sample holds no battles, or only repeats calls of other epochs. It
        has no value if the judge was not asked.
        """
        sample = parse_sample(state.metadata)
        if not isinstance(sample, BattleMetadata | PackMetadata):
            return None
        if not state.store.get(NAMESPACE):
            repeats_earlier_calls = sample.earlier is not None
            if repeats_earlier_calls:
                # Calls of other epochs are repeated, and none of this one.
                return None
            return score_without_value(
                reason="scoring_failed", explanation="the judge was not asked"
            )
        replies = SampleReplies.parse(state.store.get(NAMESPACE))
        judging = settings_of(json.dumps({**replies.options, **options}))
        if isinstance(sample, PackMetadata):
            return _score_pack(
                sample.to_battles(), replies.to_battles(), judging, short_names or {}
            )
        return score_battle(sample, replies.to_battles()[0], judging)

    return score


def score_battle(battle: BattleMetadata, replies: BattleReplies, judging: Judging) -> Score:
    """Return the score of a battle: the credit of model_a, with every verdict as metadata.

    The answer is the winner's name, `tie` or `unparsed`; an unparsed battle has no value. The value
    has three decimals, and the metadata hold the full credit. Judgments that were carried over from
    another sample of the log count in the credit, but are left out of the metadata.

    Args:
        battle: the battle.
        replies: the replies of the judges.
        judging: how the judges were asked, by which the replies are parsed.
    """
    lengths = _lengths_of_transcripts(battle)
    adapted = judging.adapted_to(transcript=battle.transcript)
    rows = [
        cast(VerdictRow, build_verdict_row(stored_judgment, adapted) | lengths)
        for stored_judgment in replies.judgments
    ]
    whole = merge_rows(rows, judging)
    repeated_fields: dict[str, Any] = {}
    for name in REPEATED_FIELDS:
        value = getattr(battle, name)
        if value is not None:
            repeated_fields[name] = value
    # Judgments that were carried over from another sample of the log are in that sample's score.
    new_rows = [
        row
        for judgment, row in zip(replies.judgments, rows, strict=True)
        if not judgment.get("carried")
    ]
    if replies.identical:
        repeated_fields["identical"] = True
    verdict = BattleVerdict(
        **repeated_fields,
        margin=whole.margin,
        prompt_hash=judging.prompt_hash,
        judges=replies.judges,
        judgments=new_rows,
        credit=whole.credit,
    )
    metadata = {NAMESPACE: verdict.to_log(), **_fold_transcripts(battle)}
    explanation = _explain_battle(battle, replies, rows)
    if whole.credit is None:
        return score_without_value(
            reason="grader_failed", explanation=explanation, answer="unparsed", metadata=metadata
        )
    credit = round_for_lists(whole.credit)
    answer = _winner_or_tie(battle, whole.outcome or 0.0)
    return Score(value=credit, answer=answer, explanation=explanation, metadata=metadata)


def _winner_or_tie(battle: BattleMetadata, outcome: float) -> str:
    """Return the name of the model that won, or `tie`; `outcome` is that of model_a, in [0, 1]."""
    if outcome == 0.5:
        return "tie"
    return battle.model_a if outcome > 0.5 else battle.model_b


def _lengths_of_transcripts(battle: BattleMetadata) -> dict[str, int]:
    """Return the lengths of both transcripts in characters; empty if there are no transcripts.

    The keys are the columns `transcript_length_a` and `transcript_length_b`.
    """
    if not battle.transcript:
        return {}
    return {
        "transcript_length_a": len(battle.response_a),
        "transcript_length_b": len(battle.response_b),
    }


def _score_pack(
    battles: Sequence[BattleMetadata],
    replies_by_battle: Sequence[BattleReplies],
    judging: Judging,
    short_names: Mapping[str, str],
) -> Score:
    """Return the score of a pack (several battles in one sample): its share of readable battles.

    The metadata of the score hold the verdicts of all its battles, and the explanation has a table
    of them.

    Args:
        battles: the battles of the pack, at least one.
        replies_by_battle: the replies on each battle, in the same order.
        judging: how the judges were asked.
        short_names: names that the table shows in place of models' whole names.
    """
    verdicts = []
    for battle, replies in zip(battles, replies_by_battle, strict=True):
        score = score_battle(battle, replies, judging)
        verdicts.append(BattleVerdict.parse((score.metadata or {})[NAMESPACE]))
    readable = sum(verdict.credit is not None for verdict in verdicts)
    answer = f"{readable} of {len(verdicts):,} readable"
    have = word_for(readable, "has", "have")
    readable_text = f"{readable} of {quantity(len(verdicts), 'battle')} {have} a readable verdict"
    metadata = {NAMESPACE: PackVerdicts.from_verdicts(verdicts).to_log()}
    explanation = f"{readable_text}; credits are those of model A\n\n"
    explanation += pack_table(verdicts, short_names)
    value = round_for_lists(readable / len(verdicts))
    return Score(value=value, answer=answer, explanation=explanation, metadata=metadata)


def _explain_battle(
    battle: BattleMetadata, replies: BattleReplies, rows: Sequence[VerdictRow]
) -> str:
    """Return a battle as text: models, credits, the judges' replies, and both responses.

    Nothing in it is marked up, because Inspect's viewer shows what models wrote as plain text.
    Replies and responses are cut to 2,000 characters. Of a transcript, only the final answer is
    quoted.

    Args:
        battle: the battle.
        replies: the replies.
        rows: the verdict of each judgment in `replies`, in the same order.
    """
    a = battle.model_a
    b = battle.model_b
    parts = [f"{a} against {b}"]
    if replies.identical:
        parts.append("a tie without a call: both responses are the same text")
    records = [JudgeRecord.from_json(name, record) for name, record in replies.judges.items()]
    short = short_judge_names(records)
    # Judgments of identical responses have no replies to quote.
    quoted = [] if replies.identical else [*zip(replies.judgments, rows, strict=True)]
    for judgment, row in quoted:
        order_text = "graded one by one"
        if row["order"] != "merged":
            shown_first = b if row["order"] == "ba" else a
            order_text = f"{shown_first} first"
        credit = credit_text(row, f"{a} earned ")
        parts.append(f"{order_text}: {credit} ({short.get(row['judge'], row['judge'])})")
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
                f"{name} ({size}), final answer:",
                _quote(final_answer(response)) or "none",
            ]
        else:
            parts += [f"{name}:", _quote(response)] if response else []
    return "\n\n".join(part for part in parts if part)


def _fold_transcripts(battle: BattleMetadata) -> dict[str, Any]:
    """Return the pieces of both transcripts by model and turn, as Inspect's viewer can fold them.

    The result has one key, `TRANSCRIPTS`. Under it are the texts by model, turn (`turn 3`) and name
    of the piece. A piece whose name has no number is a turn of its own. The result is empty if the
    responses are not transcripts.
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
    return {TRANSCRIPTS: folded}


def _quote(text: str) -> str:
    """Return the first 2,000 characters of a text with a bar before each line.

    The bar marks a quotation, because Inspect's viewer does not format quotations. Of a longer
    text, the end says how many characters are left out. A blank text gives an empty one.
    """
    shown_text = text
    if len(text) > 2000:
        shown_text = f"{text[:2000]}… ({quantity(len(text) - 2000, 'more character')})"
    return "\n".join(f"│ {line}" for line in shown_text.strip().splitlines())
