"""Judge an existing log in place: every response against a reference log's response to the same sample."""

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from podium.hosts.inspect_ai.arguments import flat
from podium.hosts.inspect_ai.metrics import judged
from podium.hosts.inspect_ai.refusal import told_plainly
from podium.hosts.inspect_ai.unscored import unscored


@scorer(metrics=[judged()])
def pairwise(reference: str, cache: bool = True, **kwargs: Any) -> Scorer:
    """Compare every response of a log with that of a reference, by the role `judge`.

    `inspect score LOG --scorer podium/pairwise -S reference=OTHER.eval --model-role judge=MODEL`. A sample that the
    reference did not answer is not scored.

    Args:
        reference: responses to compare with: an Inspect log, or any file that podium reads, as `label=path`.
        cache: take replies of earlier runs instead of new calls.
        **kwargs: of `podium.plugins.catalogue.judging_settings`.
    """
    from podium.hosts.inspect_ai.judge import Run, ask_jury
    from podium.hosts.inspect_ai.references import reference_of
    from podium.hosts.inspect_ai.verdict import score_of
    from podium.plugins.catalogue import judging_settings

    with told_plainly():
        run, other = Run(judging_settings(**flat(kwargs)), cache=cache), reference_of(reference)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        battle = other.battle(state)
        if isinstance(battle, str):
            return unscored("scoring_failed", battle)
        return score_of(battle, await ask_jury(run, battle), run.how)

    return score
