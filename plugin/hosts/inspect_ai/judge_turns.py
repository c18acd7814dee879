"""Judges that take turns, built from the options `judges` and `overlap`, the judges of a run and how they are asked."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import Model

from podium.errors import UsageError
from podium.hosts.inspect_ai.judge_models import identity, judges_by_role, jury_of
from podium.responses.collection import response_key
from podium.scorers.judging import Judging
from podium.tournaments.judge_rotation import JudgeRotation, read_shares
from podium.tournaments.schedule import Pairing


def build_rotation(
    judges: str | Sequence[Any], overlap: float, how: Judging, seed: int, jury: Sequence[Model] | None = None
) -> JudgeRotation | None:
    """Return what assigns judges (by role if none are given) to battles; None if all judge every battle, UsageError for
    options that do not fit."""
    jury = judges_by_role() if jury is None else jury
    if judges != "all" and not jury:
        raise UsageError(
            "judges=rotate: no judge is known when the task is made; name them with --model-role, in Python by "
            "eval('podium/NAME', task_args={...}, model_roles={'judge': [...]})"
        )
    shares = read_shares(judges, overlap, len(jury))
    if judges == "all":
        return None
    if how.quorum is not None:
        raise UsageError(f"quorum={how.quorum}: with judges=rotate most battles have one judge; leave it out")

    def first_shown(own: Pairing) -> str | None:
        if how.orders == "both" and own.first is None:
            return None
        return how.judgments(response_key(own.item, own.response), own.a, own.b, own.first)[0].first

    names = [identity(model, how) for model in jury_of(how, jury)]
    return JudgeRotation(names, shares, seed=seed, first_shown=first_shown, by_item=not how.is_pairwise)
