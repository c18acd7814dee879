"""The scorer that reads: kept replies in, one number in [0, 1] out; no calls, so reading again is free."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from podium.hosts.inspect_ai.arguments import flat
from podium.hosts.inspect_ai.log_format import BATTLES, NAMESPACE, OPTIONS, ROUND, packed
from podium.hosts.inspect_ai.metrics import judged
from podium.hosts.inspect_ai.unscored import unscored
from podium.plugins.catalogue import judging_settings
from podium.scorers.judging import Judging, merge_rows, verdict_row

SHOWN = ("category", "length_a", "length_b")


@scorer(metrics=[judged()])
def verdict(**kwargs: Any) -> Scorer:
    """Read what the judges replied; the value is what model_a earned, and no value where that cannot be read.

    Args:
        **kwargs: of `podium.plugins.catalogue.judging_settings`; what is not said is as when the replies were
            asked for.
    """
    options = flat(kwargs)
    judging_settings(**options)
    # Of this scorer alone: a prompt file may be another one by the next run.
    how_of = cache(lambda told: judging_settings(**json.loads(told)))

    async def score(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001
        if ROUND in state.metadata:
            return None
        kept = state.store.get(NAMESPACE)
        if not kept:
            return unscored("scoring_failed", "the judge was not asked")
        how = how_of(json.dumps({**kept.get(OPTIONS, {}), **options}))
        if BATTLES in state.metadata:
            return score_of_pack(state.metadata, kept[BATTLES], how)
        return score_of(state.metadata, kept, how)

    return score


def score_of_pack(metadata: Mapping[str, Any], kept: Sequence[Mapping[str, Any]], how: Judging) -> Score:
    """Return the score of a sample of many battles: the share that could be read, and every verdict beside it."""
    from podium.hosts.inspect_ai.packing import battles_of

    scores = [score_of(battle, one, how) for battle, one in zip(battles_of(metadata), kept, strict=True)]
    read = [one.as_float() for one in scores if one.value == one.value]
    verdicts = [{**(one.metadata or {})[NAMESPACE], "credit": _credit(one)} for one in scores]
    said = f"{len(read)} of {len(scores)} battles have a readable verdict"
    each = "\n".join(f"{one['model_a']} against {one['model_b']}: {_earned(one)}" for one in verdicts)
    return Score(
        value=len(read) / len(scores),
        answer=said,
        explanation=f"{said}\n{each}",
        metadata={NAMESPACE: packed(verdicts)},
    )


def _earned(verdict: Mapping[str, Any]) -> str:
    """Say what the first-named entrant earned, and in which order of presentation how much."""
    shown = ", ".join(
        f"{row['order']} " + (f"unread ({row['reason']})" if row["credit"] is None else f"{row['credit']:.3g}")
        for row in verdict["presentations"]
    )
    return ("unread" if verdict["credit"] is None else f"{verdict['credit']:.3g}") + f" ({shown})"


def _credit(score: Score) -> float | None:
    return None if score.value != score.value else score.as_float()


def score_of(battle: Mapping[str, Any], kept: Mapping[str, Any], how: Judging) -> Score:
    """Return the score of one battle.

    Args:
        battle: `item`, `model_a`, `model_b` and what else is known.
        kept: the presentations, with their replies and whether probabilities soften them.
        how: the settings of the run.
    """
    rows = [verdict_row(one, how) for one in kept["presentations"]]
    found = merge_rows(rows, how)
    known = {name: battle[name] for name in ("item", "model_a", "model_b", *SHOWN) if battle.get(name) is not None}
    metadata = {NAMESPACE: {**known, "margin": found.margin, "prompt_hash": how.prompt_hash, "presentations": rows}}
    said = explained(rows, battle["model_a"], battle["model_b"])
    if found.credit is None:
        return unscored("grader_failed", said, answer="unread", metadata=metadata)
    answer = battle["model_a"] if found.credit > 0.5 else battle["model_b"] if found.credit < 0.5 else "tie"
    return Score(value=found.credit, answer=answer, explanation=said, metadata=metadata)


def explained(rows: Sequence[Mapping[str, Any]], a: str, b: str) -> str:
    """Say a line per presentation: who was shown first, and what the first-named entrant earned."""
    return "\n".join(
        f"{b if row['order'] == 'ba' else a} first: "
        + (f"unread ({row['reason']})" if row["credit"] is None else f"{a} earned {row['credit']:.3g}")
        + f" ({row['judge']})"
        for row in rows
    )
