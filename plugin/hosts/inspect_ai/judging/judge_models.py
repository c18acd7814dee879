"""The models of roles: which models judge, whose turn it is, and how judges are identified."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from inspect_ai.model import Model, get_model, model_roles

from podium.data.pairings import Pairing
from podium.errors import UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import (
    batch_of,
    has_active_model,
    is_batched,
)
from podium.scorers.judge_record import JudgeRecord
from podium.scorers.judging import Judging

if TYPE_CHECKING:
    from podium.tournaments.judge_rotation import JudgeRotation

ROLES = ("judge", "grader")
"""Roles whose models judge. The first one that is given counts."""
IN_PYTHON = "in Python by eval('podium/NAME', task_args={...}, model_roles={'judge': [...]})"
"""End of an error message: how judges are named in Python."""
NO_JUDGE = "no model is the judge; name one with --model-role judge=MODEL"
"""Error message of a tournament without a judge."""
SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "seed",
    "reasoning_effort",
    "reasoning_tokens",
)
"""Settings of a model that are part of a judge's identity."""


def jury_of(
    judging: Judging,
    judges: Sequence[Model] = (),
    only: Sequence[str] = (),
    *,
    name_of: Callable[[Model], str] | None = None,
) -> list[Model]:
    """Return the models of the judges, in the order of their roles.

    Args:
        judging: how they are asked.
        judges: the models. If there are none, these are the models of the roles `judge`, `judge2`
            and so on, or `grader` if there is no role `judge`.
        only: names of the judges to return; empty for all.
        name_of: function that returns the name of a judge, in place of `identity`, for a run that
            knows the names.

    Raises:
        UsageError: two models are the same judge, or a judge in `only` is missing.
        PrerequisiteError: there is no judge (an error of Inspect).
    """
    jury = list(judges) or judges_by_role()
    if not jury:
        get_model(role=ROLES[0], required=True)
    names = [name_of(model) if name_of else identity(model, judging) for model in jury]
    repeated = {
        str(model) for model, name in zip(jury, names, strict=True) if names.count(name) > 1
    }
    if repeated:
        # Imported here because Inspect's registry loads this file even if nothing is judged.
        from podium.hosts.ranker_options import judge_twice_text
        from podium.notices.option_forms import option_text

        repeats = option_text("repeats", "2", "argument")
        raise UsageError(judge_twice_text(sorted(repeated), repeats))
    unknown = [name for name in only if name not in names]
    if unknown:
        problem = (
            f"{unknown[0]} was assigned battles and is not among the judges ({', '.join(names)})"
        )
        raise UsageError(f"judges=rotate: {problem}; name the same judges, {IN_PYTHON}")
    if not only:
        return jury
    return [model for model, name in zip(jury, names, strict=True) if name in only]


def build_rotation(
    judges: str | Sequence[Any],
    overlap: float,
    judging: Judging,
    seed: int,
    jury: Sequence[Model] | None = None,
) -> "JudgeRotation | None":
    """Return the rotation that assigns judges to battles; None if all judges judge every battle.

    Args:
        judges: `all`, `rotate`, or the judges' shares of the battles.
        overlap: share of the battles that all judges judge, in [0, 1].
        judging: how judges are asked.
        seed: seed of the assignment.
        jury: the models; None for the models of the roles.

    Raises:
        UsageError: two models are the same judge, the shares do not fit the judges, the overlap is
            out of range, or judges take turns, and no judge is known or a quorum is asked for.
    """
    # Imported here because Inspect's registry loads this file even if no table is read.
    from podium.responses.collection import response_key
    from podium.tournaments.judge_rotation import JudgeRotation, read_shares

    jury = judges_by_role() if jury is None else jury
    if jury:
        # A jury with a judge twice is rejected before the first battle.
        jury_of(judging, jury)
    if judges != "all" and not jury:
        raise UsageError(
            f"judges=rotate: no judge is known yet; name them with --model-role, {IN_PYTHON}"
        )
    shares = read_shares(judges, overlap, len(jury))
    if judges == "all":
        return None
    if judging.quorum is not None:
        raise UsageError(
            f"quorum={judging.quorum}: with judges=rotate most battles have one judge; leave it out"
        )

    def first_shown(pairing: Pairing) -> str | None:
        """Return the model shown first in a battle; None if the battle is judged in both orders."""
        if judging.orders == "both" and pairing.first is None:
            return None
        key = response_key(pairing.item, pairing.response)
        judgments = judging.judgments(key, pairing.a, pairing.b, pairing.first)
        return judgments[0].first

    names = [identity(model, judging) for model in jury_of(judging, jury)]
    return JudgeRotation(
        names, shares, seed=seed, first_shown=first_shown, by_item=not judging.is_pairwise
    )


def judges_by_role() -> list[Model]:
    """Return the models of the roles `judge`, `judge2` and so on; empty if there are none.

    If there is no role `judge`, these are the roles `grader`, `grader2` and so on.
    """
    role = next((name for name in ROLES if name in model_roles()), ROLES[0])
    return models_of_role(role)


def models_of_role(role: str) -> list[Model]:
    """Return the models of a role, then those of the roles whose names add a number to its name.

    The numbered roles are in the order of their numbers. A role may have several models. The list
    is empty if there is no such role.
    """
    roles = model_roles()
    named_models: list[Model] = []
    numbered = [name for name in roles if re.fullmatch(f"{role}[0-9]+", name)]
    numbered.sort(key=lambda name: (int(name.removeprefix(role)), name))
    for name in (role, *numbered):
        models = roles.get(name)
        if isinstance(models, list):
            named_models += models
        elif name in roles:
            named_models.append(get_model(role=name))
    return named_models


def roles_are_known() -> bool:
    """Return whether Inspect has set the roles of this run.

    It has not yet if a task is made in Python before `eval` is called: no event loop runs then.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return has_active_model()


def has_judge() -> bool:
    """Return whether the role `judge` or `grader` has a model."""
    return any(role in model_roles() for role in ROLES)


def has_batches(model: Model) -> bool:
    """Return whether a model's calls wait for batches of its provider (`--batch`)."""
    return is_batched(model, batch_of(model))


def judge_of(model: Model, judging: Judging) -> JudgeRecord:
    """Return the record of a judge with the settings of its model.

    Of the model's arguments, which may be secret, the record holds only a hash.
    """
    arguments = json.dumps(model.model_args, sort_keys=True, default=str)
    digest = sha256(arguments.encode()).hexdigest()[:6] if model.model_args else None
    settings = {"temperature": 0, **settings_of(model), "args": digest}
    return judging.judge(str(model), settings, model_name=model.name)


def identity(model: Model, judging: Judging) -> str:
    """Return the name of a judge's record (`judge_of`), under which its verdicts are kept.

    Two models with one name differ in it if their settings differ.
    """
    return judge_of(model, judging).name


def settings_of(model: Model) -> dict[str, Any]:
    """Return the settings of a model in `SAMPLING` that are not None, by name."""
    settings = {name: getattr(model.config, name, None) for name in SAMPLING}
    return {name: value for name, value in settings.items() if value is not None}
