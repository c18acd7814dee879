"""The models of roles: who judges, in which turn, under which identity, and with which settings."""

import asyncio
import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from inspect_ai.model import Model, get_model, model_roles

from podium.errors import UsageError
from podium.hosts.inspect_ai.compatibility import has_active_model
from podium.scorers.judging import Judging
from podium.tournaments.judge_rotation import JudgeRotation, read_shares
from podium.tournaments.schedule import Pairing

ROLES = ("judge", "grader")
IN_PYTHON = "in Python by eval('podium/NAME', task_args={...}, model_roles={'judge': [...]})"
NO_JUDGE = "no model is the judge; name one with --model-role judge=MODEL"
SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "seed",
    "reasoning_effort",
    "reasoning_tokens",
)
"""Settings that make a model another judge."""


def jury_of(how: Judging, given: Sequence[Model] = (), only: Sequence[str] = ()) -> list[Model]:
    """Return the judges, given or of the roles `judge` (else `grader`), `judge2` ...: all, or
    `only` the named ones."""
    jury = list(given) or judges_by_role()
    if not jury:
        get_model(role=ROLES[0], required=True)
    names = [identity(model, how) for model in jury]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"the jury has a judge twice: {', '.join(twice)}; for more verdicts of one, use repeats"
        )
    if lacking := [name for name in only if name not in names]:
        problem = (
            f"{lacking[0]} was assigned battles and is not among the judges ({', '.join(names)})"
        )
        raise UsageError(f"judges=rotate: {problem}; name the same judges, {IN_PYTHON}")
    return (
        [model for model, name in zip(jury, names, strict=True) if name in only] if only else jury
    )


def build_rotation(
    judges: str | Sequence[Any],
    overlap: float,
    how: Judging,
    seed: int,
    jury: Sequence[Model] | None = None,
) -> JudgeRotation | None:
    """Return what assigns judges (of the roles if none are given) to battles; None if all judge
    every battle."""
    # Inspect's registry loads this file, and reads no table.
    from podium.responses.collection import response_key

    jury = judges_by_role() if jury is None else jury
    if judges != "all" and not jury:
        raise UsageError(
            f"judges=rotate: no judge is known yet; name them with --model-role, {IN_PYTHON}"
        )
    shares = read_shares(judges, overlap, len(jury))
    if judges == "all":
        return None
    if how.quorum is not None:
        raise UsageError(
            f"quorum={how.quorum}: with judges=rotate most battles have one judge; leave it out"
        )

    def first_shown(own: Pairing) -> str | None:
        shown = how.judgments(response_key(own.item, own.response), own.a, own.b, own.first)
        return None if how.orders == "both" and own.first is None else shown[0].first

    names = [identity(model, how) for model in jury_of(how, jury)]
    return JudgeRotation(
        names, shares, seed=seed, first_shown=first_shown, by_item=not how.is_pairwise
    )


def judges_by_role() -> list[Model]:
    """Return the models of the role `judge` (else `grader`) and of `judge2` ...; an empty list
    without them."""
    return models_of_role(next((name for name in ROLES if name in model_roles()), ROLES[0]))


def models_of_role(role: str) -> list[Model]:
    """Return the models of a role and of the roles that add a number to its name; an empty list
    without them."""
    roles = model_roles()
    named: list[Model] = []
    for name in (role, *sorted(name for name in roles if re.fullmatch(f"{role}[0-9]+", name))):
        models = roles.get(name)
        named += (
            models if isinstance(models, list) else [get_model(role=name)] if name in roles else []
        )
    return named


def roles_are_known() -> bool:
    """Return whether Inspect has set the roles already, as on the command line; Python may make a
    task before."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return has_active_model()


def has_judge() -> bool:
    """Return whether the role `judge` or `grader` has a model."""
    return not {*ROLES}.isdisjoint(model_roles())


def identity(model: Model, how: Judging) -> str:
    """Return a judge's identity with the settings of its model; model arguments, which may be
    secret, as a hash."""
    arguments = json.dumps(model.model_args, sort_keys=True, default=str)
    digest = sha256(arguments.encode()).hexdigest()[:6] if model.model_args else None
    return how.judge_name(str(model), {"temperature": 0, **settings_of(model), "args": digest})


def settings_of(model: Model) -> dict[str, Any]:
    """Return the sampling settings of a model that are not None."""
    settings = {name: getattr(model.config, name, None) for name in SAMPLING}
    return {name: value for name, value in settings.items() if value is not None}
