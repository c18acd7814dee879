"""Choose what judges are shown of agents' work so that it fits their contexts.

Also write notes on what they are not shown.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from inspect_ai.model import Model, get_model_info

from podium.hosts.inspect_ai.judging.call_settings import limits_of
from podium.hosts.inspect_ai.judging.judge_models import judges_by_role
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.responses.collection import Responses
from podium.responses.transcripts import AS_RECORDED, DEFAULT_BUDGET, AgentWork, Mode, Show
from podium.scorers.judging import Judging
from podium.scorers.prompt import Texts, count_tokens
from podium.wording import some

LOCAL_CONTEXT = 8_000
"""Assumed size, in tokens, of the context of a local model whose server does not report it."""
FILLED_SHARE = 0.75
"""Prompts may fill at most this share of a context by the estimated number of tokens.

The rest is a reserve, because code and tables take up to a third more tokens than estimated.
"""
LOCAL_PROVIDERS = (
    "hf",
    "vllm",
    "sglang",
    "ollama",
    "llama-cpp-python",
    "transformer_lens",
    "nnterp",
)
"""Providers of Inspect that run models on this machine."""
TIMEOUT = 2
"""Seconds after which a local server that does not report its context is given up."""
LOCAL_HOSTS = ("localhost", "127.", "0.0.0.0", "::1", "10.", "192.168.")
"""How the host names of local servers begin."""
UNEVEN_SHARES = 0.05
"""If two models' shares of cut transcripts differ by this or more, a warning names both models."""
Test = Callable[[AgentWork], bool]
"""A function that says whether an agent's work on one item has a property."""


def note_on_transcripts(responses: Responses, show: Show, context: str) -> Iterator[Notice]:
    """Yield a note on how many responses are shown as transcripts; nothing if none is.

    Args:
        responses: the responses.
        show: what is shown of agents.
        context: why transcripts are shorter than asked for; empty if they are not.
    """
    number = sum(map(len, responses.texts.values()))
    texts_of_models, models, _ = _count_work(responses, lambda work: work.shown)
    if texts_of_models:
        fields = {
            "shown": texts_of_models,
            "responses": number,
            "share": texts_of_models / number,
            "tokens": show.tokens,
            "context": context,
            "models": models,
        }
        recorded, _, _ = _count_work(responses, lambda work: work.limit == AS_RECORDED)
        code = "transcripts-as-recorded" if recorded else "transcripts"
        yield Notice(code, fields)


def notes_on_work(responses: Responses) -> Iterator[Notice]:
    """Yield warnings on what the judge is not shown of agents' work.

    If only last messages are shown, a warning is about the tool calls and turns before them. If
    transcripts are shown, a warning is about what was cut out of them, and one about models whose
    transcripts are cut more often than those of others (`_notes_on_cuts`). The last warning is
    about final answers that do not fit.
    """
    number = sum(len(texts) for texts in responses.texts.values())
    hidden, models, _ = _count_work(responses, _is_hidden)
    if hidden:
        calls, _, _ = _count_work(responses, lambda work: not work.shown and work.calls > 0)
        what = "several turns"
        if calls:
            what = "tool calls" if calls == hidden else "tool calls or several turns"
        fields = {"hidden": hidden, "responses": number, "what": what, "models": models}
        yield Notice("last-message-alone", fields)

    yield from _notes_on_cuts(responses)
    too_long, _, _ = _count_work(responses, lambda work: not work.fits)
    if too_long:
        yield Notice("long-final-answers", {"answers": too_long})


def _notes_on_cuts(responses: Responses) -> Iterator[Notice]:
    """Yield a warning about transcripts that were cut; nothing if none was.

    A second one names the models whose transcripts were cut most and least often, if their shares
    differ by `UNEVEN_SHARES` or more.
    """

    def is_shown(work: AgentWork) -> bool:
        """Return whether the judge is shown the transcript."""
        return work.shown

    transcripts, _, _ = _count_work(responses, is_shown)
    cut, models, shares = _count_work(responses, lambda work: work.cut > 0, is_shown)
    if not cut:
        return
    cut_work = []
    for work_by_item in responses.work.values():
        cut_work += [work for work in work_by_item.values() if work.cut]
    fields = {
        "cut": cut,
        "transcripts": transcripts,
        "models": models,
        "characters": sum(work.cut for work in cut_work),
        "limits": sorted({work.limit for work in cut_work if work.limit}),
    }
    is_cut_by_tokens = any(not work.limit for work in cut_work)
    code = "transcripts-cut-by-tokens" if is_cut_by_tokens else "transcripts-cut"
    yield Notice(code, fields)
    ascending = sorted(shares, key=lambda model: shares[model])
    least_cut = ascending[0]
    lowest_share = shares[least_cut]
    most_cut = ascending[-1]
    highest_share = shares[most_cut]
    if highest_share - lowest_share >= UNEVEN_SHARES:
        often = {
            "most": most_cut,
            "high": highest_share,
            "least": least_cut,
            "low": lowest_share,
        }
        yield Notice("transcripts-cut-unevenly", often)


def _is_hidden(work: AgentWork) -> bool:
    """Return whether tool calls, or several turns, come before an answer and are not shown."""
    has_work = work.calls > 0 or work.turns > 1
    return has_work and not work.shown


def _count_work(
    responses: Responses, test: Test, among: Test | None = None
) -> tuple[int, str, dict[str, float]]:
    """Count the responses whose work passes a test.

    Args:
        responses: the responses.
        test: the test.
        among: only responses whose work passes this test are the denominator; None for all
            responses, also those without work.

    Returns:
        The number that passes; a text with this number of each model, of at most ten models, such
        as `x 3 of 10, y 0 of 10`; and the share that passes by model. Models with a denominator of
        0 are left out of all three.
    """
    counts = {}
    for name, work_by_item in responses.work.items():
        work = work_by_item.values()
        number = len(responses.texts[name])
        if among is not None:
            number = sum(among(each) for each in work)
        if number:
            passed = sum(test(each) for each in work)
            counts[name] = (passed, number)
    texts = [f"{name} {passed:,} of {number:,}" for name, (passed, number) in counts.items()]
    shares = {name: passed / number for name, (passed, number) in counts.items()}
    passed_in_all = sum(passed for passed, _ in counts.values())
    return passed_in_all, some(texts, most=10), shares


def choose_show(mode: Mode, tokens: int | None, judging: Judging) -> tuple[Show, str]:
    """Choose what judges are shown of agents so that it fits the judges' contexts.

    Args:
        mode: whether the answer or the transcript is shown.
        tokens: the most tokens of a transcript; None for the default. If it is given, assumed
            contexts do not reduce it.
        judging: how judges are asked.

    Returns:
        What is shown, and why it is less than asked for (empty if it is not less). Each transcript
        has an equal part of the room in the smallest context, but never more tokens than asked for.
        A realization without a prompt, and judges whose contexts are unknown, are shown what was
        asked for.
    """
    responses = 2 if judging.is_pairwise else 1
    budget = DEFAULT_BUDGET if tokens is None else tokens
    asked_show = Show(mode, budget, responses=responses)
    if judging.realization.template is None:
        return asked_show, ""
    # The tokens of a prompt without any response.
    no_responses = ("",) * asked_show.responses
    without_texts = Texts("", no_responses, reference="", system="", checklist=("",))
    with_transcripts = replace(judging, settings=replace(judging.settings, transcript=True))
    prompt_tokens = count_tokens(with_transcripts.schema_prompt(without_texts))
    smallest_room: int | None = None
    why = ""
    limit = ""
    for model in judges_by_role():
        context, assumed = context_of(model)
        if context is None or (assumed and tokens is not None):
            continue
        limits = limits_of(judging, model=model)
        reply = max(limits.text or 0, limits.schema or 0)
        room = int(FILLED_SHARE * context - prompt_tokens - reply)
        if smallest_room is None or room < smallest_room:
            smallest_room = room
            why, limit = _texts_on_context(model, context, assumed)
    asked_show = replace(asked_show, room=smallest_room, limit=limit)
    if smallest_room is None or smallest_room >= asked_show.responses * asked_show.tokens:
        return asked_show, ""
    return replace(asked_show, tokens=max(smallest_room // asked_show.responses, 1)), why


def _texts_on_context(model: Model, context: int, assumed: bool) -> tuple[str, str]:
    """Write why transcripts are short, in brackets after a blank, and why they cannot be longer.

    Args:
        model: the judge with the smallest room.
        context: size of its context in tokens.
        assumed: whether this size is only assumed. The second text is then empty.
    """
    if assumed:
        option = option_text("transcript_tokens", "N", "argument")
        size = f"is taken to have {context:,} tokens; {option} if it has more"
        return f" (two have to fit {model}, which {size})", ""
    size = f"has {context:,} tokens"
    return f" (two have to fit {model}, which {size})", f"more does not fit {model}, which {size}"


def context_of(model: Model) -> tuple[int | None, bool]:
    """Return the size of a model's context in tokens, and whether it is only assumed.

    It is the size that Inspect knows, else the one that a local server reports, else
    `LOCAL_CONTEXT` for local models, which is only assumed. The size is None if nothing is known.
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

    vLLM and SGLang report it in the list of models, and llama.cpp in its properties. Each of these
    is waited for at most `TIMEOUT` seconds.
    """
    root = address.rstrip("/").removesuffix("/v1")
    models: Any = ("data", 0, "max_model_len")
    for path, keys in (
        ("/v1/models", models),
        ("/props", ("default_generation_settings", "n_ctx")),
    ):
        # A server that is not reached, or that answers in another form, reports nothing.
        with (
            suppress(OSError, ValueError, LookupError, TypeError),
            urlopen(root + path, timeout=TIMEOUT) as answer,
        ):
            context: Any = json.load(answer)
            for key in keys:
                context = context[key]
            if isinstance(context, int) and context > 0:
                return context
    return None
