"""What is shown of agents, as far as it fits the contexts of the judges that are known."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from inspect_ai.model import Model, get_model_info

from podium.hosts.inspect_ai.call_settings import limits_of
from podium.hosts.inspect_ai.judge_models import judges_by_role
from podium.responses.transcripts import TOKENS, Mode, Show
from podium.scorers.judging import Judging
from podium.scorers.prompt import Texts, count_tokens

LOCAL_CONTEXT = 8_000
"""Tokens that the context of a local server is taken to have."""
FILLED = 0.75
"""Share of a context that prompts fill by the estimate of tokens: code and tables take up to a third more of them."""
LOCAL_PROVIDERS = ("hf", "vllm", "sglang", "ollama", "llama-cpp-python", "transformer_lens", "nnterp")
TIMEOUT = 2
"""Seconds."""
LOCAL_HOSTS = ("localhost", "127.", "0.0.0.0", "::1", "10.", "192.168.")


def choose_show(mode: Mode, tokens: int | None, how: Judging) -> tuple[Show, str]:
    """Return what is shown of agents within `tokens` and the judges' contexts, and why that is less than asked; tokens
    that the user gave are kept where a context is only assumed."""
    asked = Show(mode, TOKENS if tokens is None else tokens, responses=2 if how.is_pairwise else 1)
    if how.realization.template is None:
        return asked, ""
    bare, shaped = Texts("", ("",) * asked.responses, "", "", ("",)), replace(how.settings, transcript=True)
    words, smallest = count_tokens(replace(how, settings=shaped).schema_prompt(bare)), None
    why = limit = ""
    for model in judges_by_role():
        context, assumed = context_of(model)
        if context is None or (assumed and tokens is not None):
            continue
        room = int(FILLED * context - words - max(limit or 0 for limit in limits_of(how, model)[1:]))
        if smallest is None or room < smallest:
            remedy = "; -T transcript_tokens=N if it has more" if assumed else ""
            is_known = "is taken to have" if assumed else "has"
            smallest, why = room, f" (two have to fit {model}, which {is_known} {context:,} tokens{remedy})"
            limit = "" if assumed else f"more does not fit {model}, which has {context:,} tokens"
    asked = replace(asked, room=smallest, limit=limit)
    if smallest is None or smallest >= asked.responses * asked.tokens:
        return asked, ""
    return replace(asked, tokens=max(smallest // asked.responses, 1)), why


def context_of(model: Model) -> tuple[int | None, bool]:
    """Return the tokens of a model's context, None if unknown, and whether they are only assumed."""
    info = get_model_info(model)
    if info is not None and info.context_length:
        return info.context_length, False
    address = str(getattr(model.api, "base_url", None) or "")
    is_local_server = (urlsplit(address).hostname or "").startswith(LOCAL_HOSTS)
    if is_local_server and (context := _context_of_server(address)):
        return context, False
    is_local = is_local_server or str(model).partition("/")[0] in LOCAL_PROVIDERS
    return (LOCAL_CONTEXT, True) if is_local else (None, False)


def _context_of_server(address: str) -> int | None:
    """Ask a local server for the context of a call: vLLM and SGLang list it with the model, llama.cpp as a property."""
    root = address.rstrip("/").removesuffix("/v1")
    models, properties = ("data", 0, "max_model_len"), ("default_generation_settings", "n_ctx")
    for path, keys in (("/v1/models", models), ("/props", properties)):
        with suppress(OSError, ValueError, LookupError, TypeError), urlopen(root + path, timeout=TIMEOUT) as answer:
            entry: Any = json.load(answer)
            for key in keys:
                entry = entry[key]
            if isinstance(entry, int) and entry > 0:
                return entry
    return None
