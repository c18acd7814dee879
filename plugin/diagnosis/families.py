"""Who made a model: given, or guessed from its name."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

MAKERS: Mapping[str, tuple[str, ...]] = {
    "01.AI": ("yi-",),
    "AI21": ("jurassic", "jamba", "j2-"),
    "Aleph Alpha": ("luminous",),
    "Allen AI": ("tulu", "olmo", "molmo"),
    "Alibaba": ("qwen", "qwq"),
    "Amazon": ("nova-", "titan"),
    "Anthropic": ("claude",),
    "BigCode": ("starcoder",),
    "Cohere": ("command", "aya-", "c4ai"),
    "Databricks": ("dolly", "dbrx"),
    "DeepSeek": ("deepseek",),
    "EleutherAI": ("gpt-j", "gpt-neo", "gptj", "gptneo", "pythia"),
    "Google": ("gemini", "gemma", "palm", "bard", "flan"),
    "IBM": ("granite",),
    "LMSYS": ("vicuna", "fastchat"),
    "Meta": ("llama", "code llama", "codellama", "opt-"),
    "Microsoft": ("phi-", "phi3", "phi4", "wizardlm", "orca"),
    "MiniMax": ("minimax",),
    "Mistral": ("mistral", "mixtral", "ministral", "magistral", "codestral"),
    "Moonshot": ("kimi",),
    "MosaicML": ("mpt-",),
    "Nous": ("nous", "hermes"),
    "NVIDIA": ("nemotron",),
    "OpenAI": ("gpt", "chatgpt", "openai", "davinci", "text-davinci", "o1", "o3", "o4"),
    "Stability": ("stablelm", "stable"),
    "Stanford": ("alpaca",),
    "TII": ("falcon",),
    "Together": ("redpajama", "gpt-neoxt"),
    "Tsinghua": ("glm", "chatglm"),
    "Upstage": ("solar",),
    "UW": ("guanaco",),
    "xAI": ("grok",),
}
"""How names begin that a maker gives its models, lower case. The longest that fits at the earliest place counts."""

NO_MODEL = re.compile(r"alpaca[-_ ]?eval|openai-api")
"""Names of tools that begin as a model's does: AlpacaEval calls its judges alpaca_eval_gpt4 and the like, and Inspect's
provider `openai-api` is any server that speaks as OpenAI's does."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family and how it is known: `given` or `guessed`."""

    name: str
    how: str


def family_of(model: str, given: Mapping[str, str]) -> Family | None:
    """Return the family of a model; None where nothing tells it.

    Guessed from the first word of the name that a maker is known by; the model's own part of the path first.

    Args:
        model: its name, which may begin with a provider (`openai/gpt-x`).
        given: patterns (as of file names, case ignored) to families; the first that fits counts.

    >>> family_of("openai/gpt-4o", {}), family_of("my-model", {"my-*": "mine"})
    (Family(name='OpenAI', how='guessed'), Family(name='mine', how='given'))
    """
    for pattern, family in given.items():
        if fnmatchcase(model.lower(), pattern.lower()):
            return Family(family, "given")
    name = NO_MODEL.sub("", model.lower())
    for part in (name.rpartition("/")[2], name):
        fits = [
            (place.start(), -len(sign), maker)
            for maker, signs in MAKERS.items()
            for sign in signs
            if (place := re.search(rf"(?<![a-z0-9]){re.escape(sign)}", part))
        ]
        if fits:
            return Family(min(fits)[2], "guessed")
    return None


def members(models: Iterable[str], given: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Sort models into families, by name; those of no known family are left out."""
    families: dict[str, list[str]] = {}
    for model in sorted(models):
        family = family_of(model, given)
        if family is not None:
            families.setdefault(family.name, []).append(model)
    return {name: tuple(families[name]) for name in sorted(families)}
