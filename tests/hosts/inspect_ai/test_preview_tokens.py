"""The estimate of input tokens counts the fences, whose codes take more tokens than words of their
length; the price of a judge's calls is written, or how to give it."""

import re
from contextvars import copy_context

import pytest
from inspect_ai.model import get_model

from podium.hosts.inspect_ai.inspect_ai_compatibility import set_model_roles
from podium.hosts.inspect_ai.inspect_options import (
    typed_for_judge,
    typed_for_judge_in_metadata,
)
from podium.hosts.inspect_ai.judging.call_settings import CallLimits
from podium.hosts.inspect_ai.tasks import round_robin
from podium.hosts.inspect_ai.tournament.preview import most_output
from podium.hosts.lm_eval.lm_eval_options import typed_in_lm_eval
from podium.notices.option_forms import option_text, typed_as, typed_in_command
from podium.plugins.catalogue import judging_settings


@pytest.mark.slow
def test_input_tokens_count_the_fences(play, write_responses, capfd):
    files = write_responses({"ash": 1.0, "elm": 2.0}, items=1)
    play(round_robin(responses=files, replies="text"), "scripted/judge")
    printed = re.search(r"2 calls per judge, about ([\d,]+) input", "".join(capfd.readouterr()))
    # 320 by SmolLM2's tokenizer; 287 by four characters a token.
    assert int(printed[1].replace(",", "")) / 2 == pytest.approx(320, rel=0.05)


def previewed(judge, **options):
    """Make a round robin with a judge, as Inspect's command does."""

    def make():
        names = [judge] if isinstance(judge, str) else judge
        models = [*map(get_model, names)]
        set_model_roles({"judge": models[0] if len(models) == 1 else models})
        round_robin(**options)

    copy_context().run(make)


def line_on_judge(text, judge):
    """Return what the preview says of a judge."""
    [line] = [line for line in text.splitlines() if f"round_robin: {judge}: " in line]
    return line.partition(f"{judge}: ")[2]


def test_the_preview_has_the_price_of_one_judge_or_says_how_to_give_it(write_responses, capfd):
    files = write_responses({"ash": 1.0, "elm": 2.0}, items=3)
    previewed("scripted/judge", responses=files, replies="text")
    unknown = line_on_judge(capfd.readouterr().err, "scripted/judge")
    assert unknown.startswith(
        "price not known (prices='{scripted/judge: [IN, OUT]}' per million tokens); "
    )
    prices = {"scripted/judge": [2_000, 8_000]}
    previewed("scripted/judge", responses=files, replies="text", prices=prices)
    printed = capfd.readouterr().err
    tokens = re.search(r"about ([\d,]+) input and at most ([\d,]+) output", printed)
    tokens_in, tokens_out = (int(number.replace(",", "")) for number in tokens.groups())
    price = re.match(r"at most about ([\d.]+) in money; ", line_on_judge(printed, *prices))
    by_hand = (tokens_in * 2_000 + tokens_out * 8_000) / 1e6
    assert float(price[1]) == pytest.approx(by_hand, abs=0.01)


WORDS = "word " * 1400
"""More than 1,024 tokens, and fewer than 4,096."""


@pytest.mark.parametrize(
    ("judges", "kept"),
    [
        (["scripted/judge"], "1,024"),
        (["scripted/claude-haiku-4-5"], "4,096"),
        (["scripted/judge", "scripted/claude-haiku-4-5"], "1,024 or 4,096"),
    ],
)
def test_the_preview_says_the_share_that_a_prompt_cache_can_serve_and_from_how_many_tokens_on(
    judges, kept, write_responses, capfd
):
    files = write_responses(
        dict.fromkeys("abc", 1.0), items=2, instruction=lambda k: f"{k} {WORDS}"
    )
    previewed(judges, responses=files, replies="text")
    [printed] = re.findall(
        r"tokens \((\S+) of the input can come from a provider's prompt cache, which keeps "
        r"beginnings of ([\d, or]+) tokens or more\)",
        capfd.readouterr().err,
    )
    assert printed[1] == kept
    # Three pairs in both orders are six calls on an item, of which five can be served.
    served = {"1,024": 5 / 6, "4,096": 0.0, "1,024 or 4,096": 5 / 12}[kept]
    share = 0.0 if printed[0] == "nothing" else float(printed[0].rstrip("%")) / 100
    assert share == pytest.approx(served, abs=0.05)


def test_a_judge_that_takes_turns_finds_only_its_own_battles_in_its_cache(write_responses, capfd):
    files = write_responses(
        dict.fromkeys("abc", 1.0), items=10, instruction=lambda k: f"{k} {WORDS}"
    )
    judges = ["scripted/one", "scripted/two", "scripted/three"]
    previewed(judges, responses=files, replies="text", judges="rotate")
    [share] = re.findall(r"tokens \((\S+)% of the input can", capfd.readouterr().err)
    # Three pairs on an item go to three judges: of the two orders of a battle, one can be served.
    assert float(share) / 100 == pytest.approx(1 / 2, abs=0.08)


def test_a_judge_of_whole_items_without_a_measured_one_has_the_share_of_all(write_responses, capfd):
    files = write_responses(
        dict.fromkeys("abcdefghijklmnop", 1.0), items=6, instruction=lambda k: f"{k} {WORDS}"
    )
    judges = ["scripted/one", "scripted/two", "scripted/three"]
    previewed(judges, responses=files, replies="text", judges="rotate", realization="numeric")
    [share] = re.findall(r"tokens \((\S+)% of the input can", capfd.readouterr().err)
    # The prompts of the 120 battles of an item differ only after the item.
    assert float(share) > 95


def test_the_preview_of_short_items_says_nothing_on_prompt_caches(write_responses, capfd):
    files = write_responses(dict.fromkeys("abc", 1.0), items=2)
    previewed("scripted/judge", responses=files, replies="text")
    assert "prompt cache" not in capfd.readouterr().err


def test_the_preview_says_what_a_prompt_cache_can_save_if_its_price_is_given(
    write_responses, capfd
):
    files = write_responses(
        dict.fromkeys("abc", 1.0), items=2, instruction=lambda k: f"{k} {WORDS}"
    )
    saved = {}
    for cached in ((), (2_000,), (200,)):
        prices = {"scripted/judge": [2_000, 8_000, *cached]}
        previewed("scripted/judge", responses=files, replies="text", prices=prices)
        printed = capfd.readouterr().err
        tokens, share = re.search(r"about ([\d,]+) input .* tokens \((\d+)% of", printed).groups()
        by_hand = int(tokens.replace(",", "")) * int(share) / 100 * (2_000 - 200) / 1e6
        less = re.search(r"in money, up to ([\d.]+) less with", line_on_judge(printed, *prices))
        saved[cached] = less and float(less[1])
    assert (saved[()], saved[2_000,]) == (None, 0)
    assert saved[200,] == pytest.approx(by_hand, rel=0.01)


@pytest.mark.parametrize(
    ("replies", "limit"), [("auto", 64), ("text", 16), ("schema", 64)], ids=str
)
def test_the_most_output_is_the_largest_limit_that_a_reply_may_have(
    replies, limit, write_responses, capfd
):
    files = write_responses({"ash": 1.0, "elm": 2.0}, items=3)
    options = {"replies": replies, "max_tokens": 16, "prices": {"scripted/judge": [0, 1e6]}}
    previewed("scripted/judge", responses=files, **options)
    printed = capfd.readouterr().err
    assert f" and at most {6 * limit} output tokens" in printed
    assert line_on_judge(printed, "scripted/judge").startswith(f"at most about {6 * limit}.00 in ")


@pytest.mark.parametrize(("replies", "limit"), [("auto", None), ("schema", 64)])
def test_a_text_without_a_limit_has_not_that_of_json(replies, limit):
    how = judging_settings(realization="direct", replies=replies)
    assert most_output(CallLimits(temperature=0, text=None, schema=64), how) == limit


def test_the_stand_in_judge_has_no_price(write_responses, capfd):
    files = write_responses({"ash": 1.0, "elm": 2.0}, items=1)
    previewed("podium/offline", responses=files)
    assert line_on_judge(capfd.readouterr().err, "podium/offline").startswith("replies=")


@pytest.mark.parametrize(
    ("form", "typed"),
    [
        (typed_in_command, "-T prices='{a/b: [IN, OUT]}'"),
        (typed_for_judge, "--ranker-args prices='{a/b: [IN, OUT]}'"),
        (typed_for_judge_in_metadata, "--metadata ranker_args=prices='{a/b: [IN, OUT]}'"),
        (typed_in_lm_eval, "--ranker_args prices='{a/b: [IN, OUT]}'"),
    ],
)
def test_a_mapping_is_quoted_once_in_every_form(form, typed):
    with typed_as(form):
        assert option_text("prices", "{a/b: [IN, OUT]}", "argument") == typed
