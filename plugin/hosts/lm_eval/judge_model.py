"""A model of lm-eval as a judge in Inspect: `lm-eval/TYPE/MODEL`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai.model import ModelAPI, modelapi

from podium.errors import UsageError
from podium.hosts.lm_eval.options import pairs

PROVIDER = "lm-eval"
NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
"""Arguments that say which model it is, in the order in which lm-eval asks for them."""
MODEL = "lm_model"
"""What its argument `model` is called in Inspect, which has one of its own."""


@modelapi(name=PROVIDER)
def lm_eval_model() -> type[ModelAPI]:
    """Return the API behind `lm-eval/...`."""
    from podium.hosts.lm_eval.judge_api import LmEvalAPI

    return LmEvalAPI


def name_and_arguments(spec: str, more: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return Inspect's name and the arguments of `TYPE,key=value,...`.

    >>> name_and_arguments("local-chat-completions,model=org/judge,num_concurrent=8", {})
    ('lm-eval/local-chat-completions/org/judge', {'num_concurrent': 8, 'lm_model': 'org/judge'})

    Args:
        more: arguments given elsewhere; those of the text count.

    Raises:
        UsageError: the text has no type, or nothing says which model it is.
    """
    kind, _, text = spec.partition(",")
    arguments = {**more, **(pairs(text) if text else {})}
    told = next((str(arguments[name]) for name in NAMES if name in arguments), None)
    if not kind or told is None:
        raise UsageError(
            "a judge of lm-eval is written lm-eval:<type>,<arg>=<value>,... with the model among the arguments, as "
            "lm-eval:local-chat-completions,model=NAME,base_url=http://localhost:8000/v1/chat/completions"
        )
    if "model" in arguments:
        arguments[MODEL] = arguments.pop("model")
    # Inspect keeps replies in a folder of this name: a path must not lead out of it. The whole path is an argument.
    plain = Path(told).name if Path(told).exists() else "/".join(part for part in told.split("/") if part.strip(". "))
    return f"{PROVIDER}/{kind}/{plain}", arguments
