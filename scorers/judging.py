"""Settings of a run of judgments, and the conversion of logged replies to verdicts. No calls are
made here."""

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args

from podium.errors import UsageError, reject_stream, unknown_name
from podium.scorers import battle
from podium.scorers.battle import Judgment, Orders, Rule
from podium.scorers.identity import judge_identity, prompt_hash
from podium.scorers.probabilities import MASS_CHECKS, FixedMode, Mode, grade_reply
from podium.scorers.prompt import SLOT, Settings, Template, Texts
from podium.scorers.realization import Preference, Realization
from podium.scorers.reasoning import strip_reasoning
from podium.scorers.reply import Rating, Reply, Token, Verdict
from podium.scorers.schemas import ReplyForm

Replies = Literal["auto", "schema", "text"]
HEAD, TAIL = 8, 64
"""First and last tokens of a reply that are logged: a verdict is its first word or stands at its
end."""
LONGEST = 80
"""Characters of an unparsed reply that a row keeps."""
KEPT = ("refused", "rejection", "structured", "cost", "failed", "withheld")
"""Fields of a reply that a log keeps where they are set, besides its text and tokens."""
REMINDER = "An earlier reply to this could not be read: its verdict was not in the form that is asked for. Keep to it."


@dataclass(frozen=True, slots=True)
class Judging:
    """Settings of a run: `replies` are asked for as text, by a JSON schema, or by the schema if a
    text was unparsed (`auto`); `logprobs` lets token probabilities grade verdicts, `attempts`
    counts the first one, `rule` and `quorum` merge judges, `one_sided` says whether a battle with
    one unparsed order keeps the other."""

    realization: Realization
    settings: Settings = field(default_factory=Settings)
    orders: Orders = "both"
    repeats: int = 1
    seed: int = 0
    replies: Replies = "auto"
    logprobs: Mode = "auto"
    attempts: int = 2
    rule: Rule = "mean"
    quorum: int | None = None
    one_sided: Literal["unparsed", "keep"] = "unparsed"
    generation: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.realization.check(self.settings)
        for name, known in CHOICES.items():
            if (value := getattr(self, name)) not in known:
                raise UsageError(
                    f"{name}={value}: there is no such choice; available: {', '.join(known)}"
                )
        for name, problem in AT_LEAST_ONE.items():
            if (value := getattr(self, name)) is not None and value < 1:
                raise UsageError(f"{name}={value}: {problem}")
        name, form = self.realization.name, self.realization.form
        if self.logprobs == "required" and not (
            self.has_probabilities(False) or self.has_probabilities(True)
        ):
            rest = " in text; add replies=schema" if form and form.choices else ""
            raise UsageError(
                f"logprobs=required: the realization {name} has no letters to weigh{rest}"
            )
        if self.replies == "schema" and form is None:
            raise UsageError(
                f"replies=schema: the realization {name} has no JSON form; leave it out"
            )

    @property
    def is_pairwise(self) -> bool:
        """Whether the judge sees both responses at once."""
        return self.realization.kind == "pairwise"

    @property
    def prompt_hash(self) -> str:
        """Hash of everything that shapes the prompts."""
        return prompt_hash(self.realization, self.settings, self._first_form)

    @property
    def form(self) -> ReplyForm | None:
        """The form of replies that are asked for with a schema; None if none are."""
        return None if self.replies == "text" else self.realization.form

    @property
    def _first_form(self) -> ReplyForm | None:
        """The form in which every reply is asked for; None if the first one is a text."""
        return self.form if self.replies == "schema" else None

    def has_probabilities(self, structured: bool) -> bool:
        """Return whether the token probabilities of text replies, or of replies with a schema, are
        asked for."""
        own = self.realization.probabilities
        if not structured or self.logprobs == "off":
            return not structured and (
                own == "needed" or (own == "soften" and self.logprobs != "off")
            )
        # Where text replies have no probabilities, those of repeated calls would mix two kinds of
        # credit.
        is_choice = self.form is not None and self.form.choices is not None
        return is_choice and (own != "unused" or self.replies == "schema")

    def judgments(
        self, item: str, a: str, b: str, first: str | None = None
    ) -> tuple[Judgment, ...]:
        """Return the judge calls of a battle; of a pointwise judge one per repeat, as given."""
        orders = self.orders if self.is_pairwise else "as-given"
        return battle.judgments(
            item, a, b, orders=orders, repeats=self.repeats, seed=self.seed, first=first
        )

    def calls(self, first: str | None = None) -> int:
        """Return the number of calls of one judge for one battle, if every reply is readable."""
        return len(self.judgments("", "a", "b", first)) * (1 if self.is_pairwise else 2)

    def judge_name(self, model: str, own: Mapping[str, Any] | None = None) -> str:
        """Return the identity of a judge; the run's generation settings override the model's
        (`own`)."""
        asked = {} if self.replies == "auto" else {"replies": self.replies}
        given = {**(own or {}), **self.generation, **asked}
        return judge_identity(model, self.realization, self.settings, given, self._first_form)

    def schema_prompt(self, texts: Texts, *, brief: bool = False) -> str:
        """Return the prompt that asks for a JSON object, without reasons if `brief`."""
        words = self.form.words(self.settings, brief=brief) if self.form else ""
        return f"{self.realization.prompt(texts, self.settings).rstrip()}\n\n{words}\n"

    def prompt(self, texts: Texts, attempt: int = 1) -> str:
        """Return the prompt that asks for a text; again, after one that could not be read, with the
        form named."""
        prompt = self.realization.prompt(texts, self.settings)
        if attempt == 1:
            return prompt
        form = self.realization.words(self.settings).rstrip().rpartition("\n\n")[2]
        return (
            "\n\n".join([prompt.rstrip(), REMINDER, *([] if SLOT.search(form) else [form])]) + "\n"
        )

    def reason(self, reply: Reply, mode: FixedMode) -> str | None:
        """Return why a reply is unparsed; None if it is readable."""
        return self._read_graded(reply, mode).reason

    def verdict(self, reply: Reply, mode: FixedMode) -> Verdict:
        """Read the verdict of a pairwise judge, graded by token probabilities if the run does
        so."""
        return cast(Verdict, self._read_graded(reply, mode))

    def rating(self, reply: Reply, mode: FixedMode) -> Rating:
        """Read the rating of a pointwise judge, graded as `verdict`."""
        return cast(Rating, self._read_graded(reply, mode))

    def write_reply(self, preference: Preference) -> Reply:
        """Return the reply of a judge with this preference; UsageError if the realization cannot
        write replies."""
        if self.realization.write_reply is None:
            raise UsageError(f"realization {self.realization.name!r} has no writer of replies")
        return self.realization.write_reply(preference, self.settings)

    def to_json(self, reply: Reply) -> Reply:
        """Convert a text reply of the stand-in judge to the JSON object that says the same, with
        its probabilities."""
        form, said = self.form, self.realization.read_reply(reply, self.settings)
        if form is None:
            return reply
        text = json.dumps(form.write(reply, said, self.settings))
        if not reply.tokens:
            return Reply(text)
        end = len(text) - len('"}')
        letter = Token(
            text[end - 1 : end],
            {key.strip(): chance for key, chance in reply.tokens[-1].top.items()},
        )
        return Reply(text, tokens=(Token(text[: end - 1]), letter, Token(text[end:])))

    def _read_graded(self, reply: Reply, mode: FixedMode) -> Verdict | Rating:
        """Read a reply in the form in which it was asked for, graded by token probabilities if the
        run does so."""
        if reply.reason_of_no_answer:
            return (Verdict if self.is_pairwise else Rating)(None, reason=reply.reason_of_no_answer)
        form = self.realization.form
        if reply.structured and form:
            answer = form.parse(reply, self.settings)
            said = (
                (Verdict if self.is_pairwise else Rating)(None, reason=answer)
                if isinstance(answer, str)
                else answer
            )
        else:
            said = self.realization.read_reply(reply, self.settings)
        if (
            mode == "off"
            or self.realization.probabilities == "needed"
            or not self.has_probabilities(reply.structured)
        ):
            return said
        return grade_reply(reply, said, self.realization, self.settings)


def build_judging(
    realization: Realization,
    *,
    tie: bool = False,
    checklist: bool = False,
    reference: bool = False,
    system: bool = False,
    template: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    transcript: bool = False,
    **options: Any,
) -> Judging:
    """Build settings from plain values, as typed and logged; UsageError for a wrong one. `template`
    is the path of a prompt that replaces the packaged one, `options` are further fields of
    `Judging`; a run sets `transcript` itself."""
    refuse_unknown_options(options, known_options())
    if options.get("logprobs") is False:
        options["logprobs"] = "off"  # as YAML reads the word
    if template is not None:
        reject_stream(Path(template))
    try:
        given = (
            None
            if template is None
            else Template(Path(template).read_text(encoding="utf-8"), template)
        )
    except OSError as error:
        raise UsageError(f"the prompt {template!r} cannot be read: {error.strerror}") from None
    generation = {"temperature": temperature, "max_tokens": max_tokens}
    return Judging(
        realization,
        Settings(tie, checklist, reference, system, given, transcript),
        generation={name: value for name, value in generation.items() if value is not None},
        **options,
    )


CHOICES = {
    "orders": battle.ORDERS,
    "replies": get_args(Replies),
    "logprobs": ("auto", "required", "off"),
    "rule": battle.RULES,
    "one_sided": ("unparsed", "keep"),
}
"""Allowed values of options. They are checked before the first paid call."""
AT_LEAST_ONE = {
    "attempts": "a judge must be asked at least once",
    "repeats": "there must be at least one repeat",
    "quorum": "at least one judge must have been read",
}


def refuse_unknown_options(options: Iterable[str], known: Set[str]) -> None:
    """Raise UsageError for an unknown option, with the nearest known one."""
    unknown = sorted(set(options) - known)
    if unknown:
        raise unknown_name("option", unknown[0], known)


def known_options() -> Set[str]:
    """Return the names of all settings of a run that a user may choose."""
    plain = inspect.signature(build_judging).parameters.keys() - {"options", "transcript"}
    return plain | {field.name for field in fields(Judging)} - {"settings", "generation"}


def dump_reply(reply: Reply) -> dict[str, Any]:
    """Convert a reply to JSON for a log: its text, and its first and last tokens with their
    alternatives."""
    tokens = [
        [token.text, dict(token.top)] for token in reply.tokens[:HEAD] + reply.tokens[HEAD:][-TAIL:]
    ]
    more: dict[str, Any] = {
        "tokens": tokens,
        "refused": reply.refused,
        "rejection": reply.refused and reply.rejection,
    }
    more |= {
        "structured": reply.structured,
        "cost": reply.cost,
        "failed": reply.failed,
        "withheld": reply.withheld,
    }
    return {
        "text": reply.text,
        "truncated": reply.truncated,
        **{name: own for name, own in more.items() if own},
    }


def load_reply(kept: Mapping[str, Any]) -> Reply:
    """Return a logged reply without the reasoning before it; reasoning that never ends counts as
    truncated."""
    known = {name: kept[name] for name in KEPT if name in kept}
    text = kept["text"] if known.get("structured") else strip_reasoning(kept["text"])
    truncated = bool(kept.get("truncated")) or (not text and bool(kept["text"].strip()))
    return Reply(text, truncated, tuple(Token(*pair) for pair in kept.get("tokens", ())), **known)


def build_verdict_row(shown: Mapping[str, Any], how: Judging) -> dict[str, Any]:
    """Return the row of the battles table of one logged judgment, with one reply (pairwise) or one
    per response."""
    row = {name: shown[name] for name in ("order", "repeat", "judge")} | {
        "attempts": shown.get("attempts", 1)
    }
    replies = [load_reply(kept) for kept in shown["replies"]]
    own: dict[str, Any]
    if how.is_pairwise:
        verdict = how.verdict(replies[0], shown["mode"])
        about_a = verdict if shown["order"] == "ab" else battle.swap_sides(verdict)
        own, reasons = {"label": verdict.label}, [verdict.reason]
    else:
        a, b = (how.rating(reply, shown["mode"]) for reply in replies)
        about_a, row["order"] = battle.compare_ratings(a, b), "merged"
        own, reasons = {"score_a": a.score, "score_b": b.score}, [a.reason, b.reason]
    row |= {"credit": about_a.credit, "margin": about_a.margin, "reason": about_a.reason}
    costs = [reply.cost for reply in replies if reply.cost is not None]
    check = MASS_CHECKS[replies[0].structured]
    is_ungraded = about_a.parsed is not None and (about_a.mass or 0) < check.threshold
    more = {
        "hard_credit": about_a.parsed,
        "mass": about_a.mass,
        "cost": sum(costs) if costs and len(costs) == len(replies) else None,
        "ungraded": check.name if is_ungraded else None,
    }
    row |= {name: value for name, value in more.items() if value is not None}
    row |= {f"margin_{name}": value for name, value in about_a.criteria.items()} | own
    unparsed = [
        reply.text or reply.refused
        for reply, reason in zip(replies, reasons, strict=False)
        if reason
    ]
    excerpt = excerpt_of(unparsed[0]) if unparsed else ""
    repeated = how.replies == "auto" and any(reply.structured for reply in replies)
    return row | ({"reply": excerpt} if excerpt else {}) | ({"schema": True} if repeated else {})


def excerpt_of(text: str) -> str:
    """Return the beginning of an unparsed reply, or of an error, as a row keeps it."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def merge_rows(rows: Sequence[Mapping[str, Any]], how: Judging) -> Verdict:
    """Merge the judgments of a battle: orders first, then repeats, then judges."""
    judges: dict[str, dict[int, dict[str, Verdict]]] = {}
    for row in rows:
        criteria = {
            name.removeprefix("margin_"): row[name] for name in row if name.startswith("margin_")
        }
        said = (row["credit"], row["margin"], criteria, row.get("label"), row["reason"])
        verdict = Verdict(*said, parsed=row.get("hard_credit"))
        judges.setdefault(row["judge"], {}).setdefault(row["repeat"], {})[row["order"]] = verdict
    verdicts = []
    for repeats in judges.values():
        merged = [
            battle.average_orders(list(repeats[k].values()), one_sided=how.one_sided)
            for k in sorted(repeats)
        ]
        readable = [verdict for verdict in merged if verdict.credit is not None]
        verdicts.append(
            battle.mean_verdict(readable) if len(readable) > 1 else (readable or merged)[0]
        )
    return battle.merge_jury(verdicts, how.rule, quorum=how.quorum)
