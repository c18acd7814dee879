"""The scorers, `verdict` of a tournament's replies and `pairwise` against a reference; a metric per ranker."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache as remember
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from podium.errors import PodiumError, UsageError
from podium.hosts.inspect_ai.compatibility import flatten_arguments, plain_errors, score_without_value
from podium.hosts.inspect_ai.judge_calls import MEDIA, Run, ask_jury
from podium.hosts.inspect_ai.log_contents import (
    BATTLES,
    FIRST,
    JUDGMENTS,
    NAMESPACE,
    OPTIONS,
    RESPONSE,
    ROUND,
    battles_of,
    credit_of,
    judgment_rows,
    pack_verdicts,
    response_fields,
)
from podium.hosts.inspect_ai.media import media_in, text_with_places
from podium.plugins.catalogue import judging_settings
from podium.scorers.judging import Judging, merge_rows, verdict_row
from podium.scorers.reasoning import Policy, strip_reasoning

SHOWN = ("item", RESPONSE, "model_a", "model_b", FIRST, "category", "length_a", "length_b")
"""What a score repeats of its battle."""
LONGEST_QUOTATION = 2000
"""Characters of a response or of the judge's words that an explanation repeats."""


@metric(name="judged", scores="unreduced")
def readable_battles() -> Metric:
    """How many battles have a readable verdict. Inspect shows no metric those without: it counts them as unscored."""

    def compute(scores: list[SampleScore]) -> float:
        return float(len(scores))

    return compute


def _ratings_metric(ranker: str) -> Callable[[], Metric]:
    """Make the metric that is a score per model, keyed by ranker and name; nothing while no battle bounds any."""
    name = ranker.replace("-", "_")

    def ratings(scores: list[SampleScore]) -> Value:
        import pandas as pd

        from podium.reading.judgments import read_battles
        from podium.verbs.rank_battles import rank

        rows = [row for score in scores for row in judgment_rows(score.score)]
        try:
            entries = rank(read_battles(pd.DataFrame(rows)), ranker, pool=True).standings[0].entries if rows else ()
        except PodiumError:
            return {}
        return {f"{name} {entry.model}": entry.score for entry in entries if entry.score is not None}

    return metric(name=name, scores="unreduced")(lambda: ratings)


bradley_terry = _ratings_metric("bradley-terry")
"""Elo by Bradley-Terry, per model."""
soft_elo = _ratings_metric("soft-elo")
"""Soft-Elo, per model: from soft credits, or with human labels in the verdicts."""
win_rate = _ratings_metric("win-rate")
"""Mean credit over opponents, per model."""


@scorer(metrics=[readable_battles()])
def verdict(**kwargs: Any) -> Scorer:
    """Read what the judges replied; the value is what model_a earned, and no value where that cannot be read.

    No calls are made, so reading again is free.

    Args:
        **kwargs: of `podium.plugins.catalogue.judging_settings`; what is not said is as when the replies were
            asked for.
    """
    options = flatten_arguments(kwargs)
    judging_settings(**options)
    # Of this scorer alone: a prompt file may be another one by the next run.
    settings_of = remember(lambda typed: judging_settings(**json.loads(typed)))

    async def score(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001
        if ROUND in state.metadata:
            return None
        kept = state.store.get(NAMESPACE)
        if not kept:
            return score_without_value("scoring_failed", "the judge was not asked")
        how = settings_of(json.dumps({**kept.get(OPTIONS, {}), **options}))
        if BATTLES in state.metadata:
            return score_pack(state.metadata, kept[BATTLES], how)
        return score_battle(state.metadata, kept, how)

    return score


@scorer(metrics=[readable_battles()])
def pairwise(reference: str, cache: bool = True, reasoning: Policy = "strip", **kwargs: Any) -> Scorer:
    """Compare every response of a log with that of a reference, by the role `judge`.

    `inspect score LOG --scorer podium/pairwise -S reference=OTHER.eval --model-role judge=MODEL`. A sample that the
    reference did not answer is not scored.

    Args:
        reference: responses to compare with: an Inspect log, or any file that podium reads, as `label=path`.
        cache: take replies of earlier runs instead of new calls.
        reasoning: whether the judge is shown what a model thought before it answered (`keep`) or not.
        **kwargs: of `podium.plugins.catalogue.judging_settings`.
    """
    from podium.hosts.inspect_ai.log_responses import READER
    from podium.responses.collection import response_key
    from podium.responses.read import read_responses

    with plain_errors():
        run = Run(judging_settings(**flatten_arguments(kwargs)), cache=cache)
        responses = read_responses(reference, readers=(READER,), reasoning=reasoning)
        several = {each.id for each in responses.items if each.responses > 1}
        if len(responses.models) != 1:
            names = ", ".join(responses.models)
            raise UsageError(f"{reference} holds {len(responses.models)} models ({names}); name one reference")
        [name] = responses.models
        texts, missing = responses.texts[name], responses.missing[name]

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        item, response = str(state.sample_id), state.output.completion
        response = strip_reasoning(response) if reasoning == "strip" else response
        # Epoch k meets epoch k; one response of the reference meets all.
        met = response_key(item, state.epoch if item in several else 1)
        if met not in texts:
            reason = missing.get(met, "no response")
            return score_without_value("scoring_failed", f"{name} has no response to compare with: {reason}")
        if not response.strip():
            return score_without_value("scoring_failed", "empty response")
        media, instruction = media_in(state.input), state.input_text
        if media and not isinstance(state.input, str):
            instruction = "\n\n".join(text_with_places(state.input))
        battle = {
            "item": item,
            "model_a": str(state.model),
            "model_b": name if name != str(state.model) else f"{name} (reference)",
            "instruction": instruction,
            "reference": state.target.text or None,
            **({RESPONSE: state.epoch} if state.epoch > 1 else {}),
            **response_fields(response, texts[met]),
        }
        return score_battle(battle, await ask_jury(run, {**battle, MEDIA: media}), run.how)

    return score


def score_battle(battle: Mapping[str, Any], kept: Mapping[str, Any], how: Judging) -> Score:
    """Return the score of one battle (`item`, `model_a`, `model_b` and what else is known) by its kept replies."""
    rows = [verdict_row(shown, how) for shown in kept[JUDGMENTS]]
    whole = merge_rows(rows, how)
    known = {name: battle[name] for name in SHOWN if battle.get(name) is not None}
    metadata = {NAMESPACE: {**known, "margin": whole.margin, "prompt_hash": how.prompt_hash, JUDGMENTS: rows}}
    a, b = battle["model_a"], battle["model_b"]
    explanation = explanation_of(battle, kept[JUDGMENTS], rows)
    if whole.credit is None:
        return score_without_value("grader_failed", explanation, answer="unparsed", metadata=metadata)
    answer = a if whole.credit > 0.5 else b if whole.credit < 0.5 else "tie"
    return Score(value=whole.credit, answer=answer, explanation=explanation, metadata=metadata)


def explanation_of(
    battle: Mapping[str, Any], shown: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> str:
    """Return, in Markdown, who met whom, what each judgment gave in the judge's words, and both responses."""
    a, b = battle["model_a"], battle["model_b"]
    parts = [f"**{a}** against **{b}**"]
    for judgment, row in zip(shown, rows, strict=True):
        parts.append(f"{b if row['order'] == 'ba' else a} first: {_credit_text(row, f'{a} earned ')} ({row['judge']})")
        parts += [_quote(reply["text"] or reply.get("refused", "")) for reply in judgment["replies"]]
    for name, response in ((a, battle.get("response_a")), (b, battle.get("response_b"))):
        parts += [f"**{name}**:", _quote(response)] if response else []
    return "\n\n".join(part for part in parts if part)


def _quote(text: str) -> str:
    """Return a text behind a bar, as the viewer knows no quotations; cut where it is long: the sample has the whole."""
    cut = len(text) - LONGEST_QUOTATION
    shown = f"{text[:LONGEST_QUOTATION]}… ({cut:,} more characters)" if cut > 0 else text
    return "\n".join(f"│ {line}" for line in shown.strip().splitlines())


def score_pack(metadata: Mapping[str, Any], kept: Sequence[Mapping[str, Any]], how: Judging) -> Score:
    """Return the score of a sample of many battles: the share that could be read, and every verdict beside it."""
    scores = [score_battle(battle, replies, how) for battle, replies in zip(battles_of(metadata), kept, strict=True)]
    verdicts = [{**(score.metadata or {})[NAMESPACE], "credit": credit_of(score)} for score in scores]
    lines = []
    for verdict in verdicts:
        orders = ", ".join(f"{row['order']} {_credit_text(row)}" for row in verdict[JUDGMENTS])
        credit = "unparsed" if verdict["credit"] is None else f"{verdict['credit']:.3g}"
        lines.append(f"{verdict['model_a']} against {verdict['model_b']}: {credit} ({orders})")
    readable = sum(verdict["credit"] is not None for verdict in verdicts)
    answer = f"{readable} of {len(scores)} battles have a readable verdict"
    return Score(
        value=readable / len(scores),
        answer=answer,
        explanation="\n".join([answer, *lines]),
        metadata={NAMESPACE: pack_verdicts(verdicts)},
    )


def _credit_text(row: Mapping[str, Any], prefix: str = "") -> str:
    return f"unparsed ({row['reason']})" if row["credit"] is None else f"{prefix}{row['credit']:.3g}"
