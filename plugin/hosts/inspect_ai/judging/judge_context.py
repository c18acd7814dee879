"""Choose what judges are shown of agents' work so that it fits their contexts.

Also write notes on what they are not shown.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from inspect_ai.model import Model, get_model_info

from podium.hosts.inspect_ai.judging.call_settings import limits_of
from podium.hosts.inspect_ai.judging.judge_models import judges_by_role
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.responses.collection import Responses
from podium.responses.transcripts import AS_RECORDED, TOKENS, AgentWork, Mode, Show
from podium.scorers.judging import Judging
from podium.scorers.prompt import Texts, count_tokens
from podium.wording import some

LOCAL_CONTEXT = 8_000
"""Assumed size, in tokens, of the context of a local model whose server does not report it."""
FILLED = 0.75
"""Prompts may fill at most this share of a context by the estimated number of tokens.

The rest is a reserve, because code and tables take up to a third more tokens than estimated.
"""
# Providers of Inspect that run models on this machine.
LOCAL_PROVIDERS = (
    "hf",
    "vllm",
    "sglang",
    "ollama",
    "llama-cpp-python",
    "transformer_lens",
    "nnterp",
)
TIMEOUT = 2
"""Seconds after which a local server that does not report its context is given up."""
# How the host names of local servers begin.
LOCAL_HOSTS = ("localhost", "127.", "0.0.0.0", "::1", "10.", "192.168.")
UNEVEN = 0.05
"""If two models' shares of cut transcripts differ by this or more, a warning names both models."""
Test = Callable[[AgentWork], bool]
"""A function that says whether an agent's work on one item has a property."""


def share_of_transcripts(responses: Responses, show: Show, context: str) -> Iterator[Notice]:
    """Yield a note on how many responses are shown as transcripts.

    Args:
        responses: the responses.
        show: what is shown of agents.
        context: why transcripts are shorter than asked for; empty if they are not.
    """
    whole = sum(map(len, responses.texts.values()))
    shown, models, _ = _count_work(responses, lambda work: work.shown)
    if shown:
        fields = {
            "shown": shown,
            "responses": whole,
            "share": shown / whole,
            "tokens": show.tokens,
            "context": context,
            "models": models,
        }
        is_recorded = _count_work(responses, lambda work: work.limit == AS_RECORDED)[0] > 0
        yield Notice("transcripts-as-recorded" if is_recorded else "transcripts", fields)


def notes_on_work(responses: Responses) -> Iterator[Notice]:
    """Yield warnings on what the judge is not shown of agents' work.

    If only last messages are shown, this is all that comes before them. If transcripts are shown,
    it is what was cut out of them.
    """
    whole = sum(map(len, responses.texts.values()))
    hidden, models, _ = _count_work(
        responses, lambda work: not work.shown and (work.calls > 0 or work.turns > 1)
    )
    if hidden:
        calls, _, _ = _count_work(responses, lambda work: not work.shown and work.calls > 0)
        what = "several turns"
        if calls:
            what = "tool calls" if calls == hidden else "tool calls or several turns"
        fields = {"hidden": hidden, "responses": whole, "what": what, "models": models}
        yield Notice("last-message-alone", fields)

    def is_shown(work: AgentWork) -> bool:
        return work.shown

    shown, _, _ = _count_work(responses, is_shown)
    cut, models, shares = _count_work(responses, lambda work: work.cut > 0, is_shown)
    if cut:
        all_work = [work for own in responses.work.values() for work in own.values() if work.cut]
        fields = {
            "cut": cut,
            "transcripts": shown,
            "models": models,
            "characters": sum(work.cut for work in all_work),
            "limits": sorted({work.limit for work in all_work if work.limit}),
        }
        by_tokens = any(not work.limit for work in all_work)
        yield Notice("transcripts-cut-by-tokens" if by_tokens else "transcripts-cut", fields)
        ascending = sorted(shares.items(), key=lambda share: share[1])
        least, low = ascending[0]
        most, high = ascending[-1]
        if high - low >= UNEVEN:
            often = {"most": most, "high": high, "least": least, "low": low}
            yield Notice("transcripts-cut-unevenly", often)
    long, _, _ = _count_work(responses, lambda work: not work.fits)
    if long:
        yield Notice("long-final-answers", {"answers": long})


def _count_work(
    responses: Responses, test: Test, among: Test | None = None
) -> tuple[int, str, dict[str, float]]:
    """Count the responses whose work passes a test.

    Args:
        responses: the responses.
        test: the test.
        among: only responses whose work passes this test are considered; None for all.

    Returns:
        the number, a text with the numbers of each model, and the share of each model's
        responses.
    """
    counts = {}
    for name, own in responses.work.items():
        number = len(responses.texts[name]) if among is None else sum(map(among, own.values()))
        if number:
            counts[name] = sum(map(test, own.values())), number
    words = some(
        [f"{name} {passed:,} of {number:,}" for name, (passed, number) in counts.items()], most=10
    )
    shares = {name: passed / number for name, (passed, number) in counts.items()}
    return sum(passed for passed, _ in counts.values()), words, shares


def choose_show(mode: Mode, tokens: int | None, how: Judging) -> tuple[Show, str]:
    """Choose what judges are shown of agents so that it fits the judges' contexts.

    Args:
        mode: whether the answer or the transcript is shown.
        tokens: the most tokens of a transcript; None for the default. If it is given, assumed
            contexts do not reduce it.
        how: how judges are asked.

    Returns:
        what is shown, and why it is less than asked for (empty if it is not less).
    """
    responses = 2 if how.is_pairwise else 1
    asked = Show(mode, TOKENS if tokens is None else tokens, responses=responses)
    if how.realization.template is None:
        return asked, ""
    # `words` counts the tokens of a prompt without any response.
    bare = Texts("", ("",) * asked.responses, "", "", ("",))
    shaped = replace(how, settings=replace(how.settings, transcript=True))
    words = count_tokens(shaped.schema_prompt(bare))
    smallest: int | None = None
    why = ""
    limit = ""
    for model in judges_by_role():
        context, assumed = context_of(model)
        if context is None or (assumed and tokens is not None):
            continue
        limits = limits_of(how, model)
        reply = max(limits.text or 0, limits.schema or 0)
        room = int(FILLED * context - words - reply)
        if smallest is None or room < smallest:
            more = option_text("transcript_tokens", "N", "argument")
            remedy = f"; {more} if it has more" if assumed else ""
            is_known = "is taken to have" if assumed else "has"
            smallest = room
            why = f" (two have to fit {model}, which {is_known} {context:,} tokens{remedy})"
            limit = "" if assumed else f"more does not fit {model}, which has {context:,} tokens"
    asked = replace(asked, room=smallest, limit=limit)
    if smallest is None or smallest >= asked.responses * asked.tokens:
        return asked, ""
    return replace(asked, tokens=max(smallest // asked.responses, 1)), why


def context_of(model: Model) -> tuple[int | None, bool]:
    """Return the size of a model's context in tokens, and whether it is only assumed.

    The size is None if nothing is known.
    """
    info = get_model_info(model)
    if info is not None and info.context_length:
        return info.context_length, False
    address = str(getattr(model.api, "base_url", None) or "")
    is_local_server = (urlsplit(address).hostname or "").startswith(LOCAL_HOSTS)
    context = _context_of_server(address) if is_local_server else None
    if context:
        return context, False
    is_local = is_local_server or str(model).partition("/")[0] in LOCAL_PROVIDERS
    return (LOCAL_CONTEXT, True) if is_local else (None, False)


def _context_of_server(address: str) -> int | None:
    """Ask a local server for the size of its context; None if it does not report one.

    vLLM and SGLang report it in the list of models, and llama.cpp in its properties.
    """
    root = address.rstrip("/").removesuffix("/v1")
    models: Any = ("data", 0, "max_model_len")
    for path, keys in (
        ("/v1/models", models),
        ("/props", ("default_generation_settings", "n_ctx")),
    ):
        with (
            suppress(OSError, ValueError, LookupError, TypeError),
            urlopen(root + path, timeout=TIMEOUT) as answer,
        ):
            context = reduce(getitem, keys, json.load(answer))
            if isinstance(context, int) and context > 0:
                return context
    return None
