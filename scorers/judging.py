"""How a run judges: what is asked, how often, and how the kept replies become verdicts. No calls are made here."""

import inspect
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from podium.errors import UsageError, unknown_name
from podium.scorers.battle import (
    ORDERS,
    RULES,
    Judgment,
    Orders,
    Rule,
    compare_ratings,
    judgments,
    merge_jury,
    merge_orders,
    merge_repeats,
    swap_sides,
)
from podium.scorers.identity import judge_identity, prompt_hash
from podium.scorers.probabilities import Mode, Settled, soften_verdict
from podium.scorers.prompt import SLOT, Settings, Template, Texts
from podium.scorers.realization import Preference, Realization
from podium.scorers.reasoning import strip_reasoning
from podium.scorers.reply import Rating, Reply, Token, Verdict

HEAD, TAIL = 8, 64
"""Tokens kept of a reply: a verdict stands at its end, or is its first word."""
LONGEST = 80
"""Characters that a row keeps of a reply which could not be read."""
REMINDER = "An earlier reply to this could not be read: its verdict was not in the form that is asked for. Keep to it."


@dataclass(frozen=True, slots=True)
class Judging:
    """The settings of a run.

    Attributes:
        realization: how the judge is asked.
        settings: what shapes its prompts.
        orders, repeats, seed: which judgments make a battle.
        logprobs: whether token probabilities soften the verdict.
        attempts: how often an unreadable reply is asked for, at most.
        rule, quorum: how several judges make one verdict.
        one_sided: what a battle is of which one order could not be read.
        generation: settings of the judge's model, as temperature.
    """

    realization: Realization
    settings: Settings = field(default_factory=Settings)
    orders: Orders = "both"
    repeats: int = 1
    seed: int = 0
    logprobs: Mode = "auto"
    attempts: int = 2
    rule: Rule = "mean"
    quorum: int | None = None
    one_sided: Literal["unparsed", "keep"] = "unparsed"
    generation: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.realization.check(self.settings)
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                there = f"there is no such choice; available: {', '.join(known)}"
                raise UsageError(f"{name}={getattr(self, name)}: {there}")
        for name, problem in AT_LEAST_ONE.items():
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)}: {problem}")
        if self.logprobs == "required" and self.realization.probabilities == "unused":
            raise UsageError(f"logprobs=required: the realization {self.realization.name} has no letters to weigh")

    @property
    def is_pairwise(self) -> bool:
        """Whether the judge sees both responses at once."""
        return self.realization.kind == "pairwise"

    @property
    def prompt_hash(self) -> str:
        """What changes with everything that shapes a prompt."""
        return prompt_hash(self.realization, self.settings)

    @property
    def wants_probabilities(self) -> bool:
        """Whether the provider is asked for token probabilities."""
        return self.realization.probabilities == "needed" or (
            self.realization.probabilities == "soften" and self.logprobs != "off"
        )

    def judgments(self, item: str, a: str, b: str, first: str | None = None) -> tuple[Judgment, ...]:
        """Return the judgments of a battle; of a pointwise judge, one per repeat, as given."""
        orders = self.orders if self.is_pairwise else "as-given"
        return judgments(item, a, b, orders=orders, repeats=self.repeats, seed=self.seed, first=first)

    def calls(self, first: str | None = None) -> int:
        """Return the calls of one judge for one battle of a and b, every reply read at once."""
        return len(self.judgments("", "a", "b", first)) * (1 if self.is_pairwise else 2)

    def judge_name(self, model: str, own: Mapping[str, Any] | None = None) -> str:
        """Return the identity of a judge: model, realization, prompt, settings.

        `own`: settings that the model has of its own; those of the run override them.
        """
        return judge_identity(model, self.realization, self.settings, {**(own or {}), **self.generation})

    def prompt(self, texts: Texts, attempt: int = 1) -> str:
        """Return what the judge is asked; again, after a reply that could not be read, with the form named."""
        prompt = self.realization.prompt(texts, self.settings)
        if attempt == 1:
            return prompt
        form = self.realization.words(self.settings).rstrip().rpartition("\n\n")[2]
        return "\n\n".join([prompt.rstrip(), REMINDER, *([] if SLOT.search(form) else [form])]) + "\n"

    def reason(self, reply: Reply, mode: Settled) -> str | None:
        """Return why a reply is unparsed; None where it can be read."""
        return self.verdict(reply, mode).reason if self.is_pairwise else self.rating(reply).reason

    def verdict(self, reply: Reply, mode: Settled) -> Verdict:
        """Read what a pairwise judge said, softened by its token probabilities where the run does so."""
        verdict = cast(Verdict, self.realization.read_reply(reply, self.settings))
        if self.realization.probabilities != "soften":
            return verdict
        return soften_verdict(reply, verdict, mode, tie=self.settings.tie)

    def write_reply(self, preference: Preference) -> Reply:
        """Return what a judge with this preference answers; `verdict` or `rating` can read it."""
        if self.realization.write_reply is None:
            raise UsageError(f"realization {self.realization.name!r} has no writer of replies")
        return self.realization.write_reply(preference, self.settings)

    def rating(self, reply: Reply) -> Rating:
        """Read what a pointwise judge said."""
        return cast(Rating, self.realization.read_reply(reply, self.settings))


def judging_of(
    realization: Realization,
    *,
    tie: bool = False,
    checklist: bool = False,
    reference: bool = False,
    system: bool = False,
    template: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    **options: Any,
) -> Judging:
    """Make the settings of a run from plain values, as they are typed and as a log keeps them.

    `realization`: how the judge is asked; `tie`, `checklist`, `reference`, `system`: what the prompt offers and shows;
    `template`: path of a prompt to use instead of the packaged one; `temperature`, `max_tokens`: of the judge's model;
    by default its own; `**options`: `orders`, `repeats`, `seed`, `logprobs`, `attempts`, `rule`, `quorum`, `one_sided`.
    """
    refuse_unknown_options(options, known_options())
    if options.get("logprobs") is False:
        options["logprobs"] = "off"  # as YAML reads the word
    try:
        given = None if template is None else Template(Path(template).read_text(encoding="utf-8"), template)
    except OSError as error:
        raise UsageError(f"the prompt {template!r} cannot be read: {error.strerror}") from None
    generation = {"temperature": temperature, "max_tokens": max_tokens}
    return Judging(
        realization,
        Settings(tie, checklist, reference, system, given),
        generation={name: value for name, value in generation.items() if value is not None},
        **options,
    )


OPTIONS = frozenset(("orders", "repeats", "seed", "logprobs", "attempts", "rule", "quorum", "one_sided"))
CHOICES = {
    "orders": ORDERS,
    "logprobs": ("auto", "required", "off"),
    "rule": RULES,
    "one_sided": ("unparsed", "keep"),
}
"""Options of which only some words are known. A wrong one must not be found out by paid calls."""


AT_LEAST_ONE = {
    "attempts": "a judge must be asked at least once",
    "repeats": "there must be at least one repeat",
    "quorum": "at least one judge must have been read",
}


def refuse_unknown_options(options: Iterable[str], known: Set[str]) -> None:
    """Refuse an option that is none, with the nearest one."""
    unknown = sorted(set(options) - known)
    if unknown:
        raise unknown_name("option", unknown[0], known)


def known_options() -> Set[str]:
    """Return the names of all settings of a run."""
    return OPTIONS | (inspect.signature(judging_of).parameters.keys() - {"options"})


def kept_reply(reply: Reply) -> dict[str, Any]:
    """Return a reply as a log keeps it: its text, and the first and last tokens with what stood beside them."""
    ends = reply.tokens[:HEAD] + reply.tokens[HEAD:][-TAIL:]
    tokens = [[token.text, dict(token.top)] for token in ends]
    more = {"tokens": tokens, "refused": reply.refused}
    return {"text": reply.text, "truncated": reply.truncated, **{name: own for name, own in more.items() if own}}


def reply_of(kept: Mapping[str, Any]) -> Reply:
    """Return the reply that a log kept, without the reasoning before it; reasoning that never ends was cut off."""
    tokens = tuple(Token(text, top) for text, top in kept.get("tokens", ()))
    text = strip_reasoning(kept["text"])
    return Reply(
        text, bool(kept.get("truncated")) or (not text and bool(kept["text"].strip())), tokens, kept.get("refused", "")
    )


def verdict_row(shown: Mapping[str, Any], how: Judging) -> dict[str, Any]:
    """Return the row of the battles table that one kept judgment makes.

    `shown`: `order`, `repeat`, `judge`, its `mode` of token probabilities, and the replies: one (pairwise) or one per
    response (pointwise); `how`: the settings of the run.
    """
    common = {name: shown[name] for name in ("order", "repeat", "judge")} | {"attempts": shown.get("attempts", 1)}
    replies = [reply_of(kept) for kept in shown["replies"]]
    if how.is_pairwise:
        verdict = how.verdict(replies[0], shown["mode"])
        about_a = verdict if shown["order"] == "ab" else swap_sides(verdict)
        row = common | _verdict_columns(about_a) | {"label": verdict.label}
        return row | _unparsed_reply(replies[:1] if verdict.credit is None else ())
    a, b = (how.rating(reply) for reply in replies)
    row = common | {"order": "merged"} | _verdict_columns(compare_ratings(a, b))
    unparsed = [reply for reply, rating in zip(replies, (a, b), strict=True) if rating.score is None]
    return row | {"score_a": a.score, "score_b": b.score} | _unparsed_reply(unparsed)


def _unparsed_reply(replies: Sequence[Reply]) -> dict[str, str]:
    """Return how the first of some replies that could not be read begins, in one line; nothing without one."""
    line = " ".join((replies[0].text or replies[0].refused).split()) if replies else ""
    return {"reply": line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"} if line else {}


def merge_rows(rows: Sequence[Mapping[str, Any]], how: Judging) -> Verdict:
    """Return what all judgments of a battle say of a: orders averaged, then repeats, then judges."""
    judges: dict[str, dict[int, dict[str, Verdict]]] = {}
    for row in rows:
        criteria = {name.removeprefix("margin_"): row[name] for name in row if name.startswith("margin_")}
        verdict = Verdict(row["credit"], row["margin"], criteria, row.get("label"), row["reason"])
        judges.setdefault(row["judge"], {}).setdefault(row["repeat"], {})[row["order"]] = verdict
    verdicts = []
    for repeats in judges.values():
        battles = [merge_orders(list(repeats[k].values()), one_sided=how.one_sided) for k in sorted(repeats)]
        verdicts.append(merge_repeats(battles))
    return merge_jury(verdicts, how.rule, quorum=how.quorum)


def _verdict_columns(verdict: Verdict) -> dict[str, Any]:
    return {
        "credit": verdict.credit,
        "margin": verdict.margin,
        "reason": verdict.reason,
        **{f"margin_{name}": value for name, value in verdict.criteria.items()},
    }
