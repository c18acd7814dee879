"""Settings of a run of judgments, and the conversion of logged replies to verdicts.

No calls are made here.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from podium.errors import UsageError, reject_stream, unknown_name_error
from podium.scorers import battle
from podium.scorers.battle import Judgment, Orders, Rule
from podium.scorers.identity import build_judge, prompt_hash
from podium.scorers.judge_record import SCHEMA_FIRST, JudgeRecord
from podium.scorers.probabilities import (
    MASS_OF_SCHEMA,
    MASS_OF_TEXT,
    FixedMode,
    Mode,
    grade_reply,
)
from podium.scorers.prompt import SLOT, Settings, Template, Texts
from podium.scorers.realization import Preference, Realization
from podium.scorers.reasoning import strip_reasoning
from podium.scorers.reply import Rating, Reply, Token, Verdict
from podium.scorers.schemas import ReplyForm

Replies = Literal["auto", "schema", "text"]
# A verdict is the first word of a reply or stands at its end. The tokens between are not logged.
FIRST_TOKENS = 8
"""Number of tokens that are logged from the start of a reply."""
LAST_TOKENS = 64
"""Number of tokens that are logged from the end of a reply."""
LONGEST_EXCERPT = 80
"""Largest number of characters of an unparsed reply that a row keeps; the rest is cut off."""
LOGGED_FIELDS = (
    "refused",
    "rejection",
    "structured",
    "cost",
    "failed",
    "withheld",
    "in_reasoning",
)
"""Fields of a reply, besides its text and tokens, that a log keeps if they are set."""
REMINDER = (
    "An earlier reply to this could not be read: its verdict was not in the form that is asked for."
    " Keep to it."
)
"""Paragraph that a prompt for a text reply has from the second attempt on."""


@dataclass(frozen=True, slots=True)
class Judging:
    """Settings of a run of judgments.

    Attributes:
        realization: how the judge is asked and its reply read.
        settings: what shapes every prompt.
        orders: the orders in which the two responses are shown (`battle.judgments`).
        repeats: number of judgments per order and judge.
        seed: chooses the random orders.
        replies: how replies are asked for: as `text`, or with a JSON `schema`. With `auto`, the
            realization decides (`Realization.schema_first`): either with the schema, and as text
            if the judge takes no schema; or as text, and with the schema if that is unparsed.
        logprobs: whether token probabilities grade the verdicts. With `auto`, they do if the first
            reply of the run has them.
        attempts: largest number of calls for one readable reply, the first call included.
        rule: how the verdicts of several judges are merged (`battle.merge_jury`).
        quorum: number of judges that must be readable; None for more than half.
        one_sided: what happens if only one of two orders is unparsed. With `unparsed`, the battle
            is unparsed. With `keep`, the verdict of the other order counts.
        identical: what happens if both responses are the same text. With `tie`, the battle is a
            tie, and no judge is asked. With `judge`, the judges are asked.
        on_bad_judge: whether a run stops or goes on if its judge is found to be unable to judge:
            no reply is parsed, or one position always wins.
        generation: generation settings of the run, such as the temperature. They are part of the
            judge's name.

    Raises:
        UsageError: a value is not allowed, or the realization does not support it.
    """

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
    identical: Literal["tie", "judge"] = "tie"
    on_bad_judge: Literal["stop", "continue"] = "stop"
    generation: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise UsageError if a value is not allowed or the realization does not support it."""
        self.realization.check(self.settings)
        for option, choices in CHOICES.items():
            value = getattr(self, option)
            if value not in choices:
                raise UsageError(
                    f"{option}={value}: there is no such choice; available: {', '.join(choices)}"
                )
        for option, problem in OPTIONS_OF_ONE_OR_MORE.items():
            value = getattr(self, option)
            if value is not None and value < 1:
                raise UsageError(f"{option}={value}: {problem}")
        self._check_form()

    def _check_form(self) -> None:
        """Check that the realization has the probabilities and the JSON form that are required.

        They are required by `logprobs=required` and by `replies=schema`.

        Raises:
            UsageError: one of them is required, and the realization does not have it.
        """
        name = self.realization.name
        form = self.realization.form
        can_be_graded = self.has_probabilities(structured=False) or self.has_probabilities(
            structured=True
        )
        if self.logprobs == "required" and not can_be_graded:
            hint = " in text; add replies=schema" if form and form.choices else ""
            raise UsageError(
                f"logprobs=required: the realization {name} has no letters to weigh{hint}"
            )
        if self.replies == "schema" and form is None:
            raise UsageError(
                f"replies=schema: the realization {name} has no JSON form; leave it out"
            )

    @property
    def is_pairwise(self) -> bool:
        """Whether the judge sees both responses at once."""
        return self.realization.kind == "pairwise"

    def adapted_to(self, *, transcript: bool) -> "Judging":
        """Return how the judge is asked about responses that are transcripts, or answers.

        A run over several tasks has both. Its judges have one name all the same, which says that
        agents are judged by their transcripts.

        Args:
            transcript: whether the responses are transcripts.

        Raises:
            UsageError: the template lacks a slot for such responses (`Realization.check`).
        """
        if self.settings.transcript == transcript:
            return self
        return replace(self, settings=replace(self.settings, transcript=transcript))

    @property
    def prompt_hash(self) -> str:
        """Hash of everything that shapes the prompts."""
        return prompt_hash(self.realization, self.settings, self._first_form)

    @property
    def form(self) -> ReplyForm | None:
        """The JSON form of replies; None if replies are never asked for with a schema."""
        return None if self.replies == "text" else self.realization.form

    @property
    def asks_schema_first(self) -> bool:
        """Whether the first reply to a prompt is asked for with a JSON schema.

        With `replies=auto`, it is True if the realization prefers schemas (`schema_first`) and has
        a JSON form.
        """
        if self.replies == "auto":
            return self.realization.schema_first and self.form is not None
        return self.replies == "schema"

    @property
    def _first_form(self) -> ReplyForm | None:
        """The form in which a first reply is asked for; None if it is asked for as text."""
        return self.form if self.asks_schema_first else None

    @property
    def needs_probabilities(self) -> bool:
        """Whether replies without token probabilities are unparsed.

        It is True with `logprobs=required`, or if the realization needs probabilities.
        """
        return self.logprobs == "required" or self.realization.probabilities == "needed"

    def has_probabilities(self, structured: bool) -> bool:
        """Return whether token probabilities are asked for with a reply.

        For a text reply, they are if the realization needs probabilities, or if probabilities can
        grade its verdict and `logprobs` is not `off`. For a JSON reply, they are if three
        conditions hold: its last field is a choice; `logprobs` is not `off`; and probabilities are
        also used in text replies, or every reply is asked for as JSON. (With `auto`, a judge that
        takes no schema replies as text.)

        Args:
            structured: whether the reply is asked for with a JSON schema, or as text.
        """
        use_in_text = self.realization.probabilities
        if not structured:
            may_soften = use_in_text == "soften" and self.logprobs != "off"
            return use_in_text == "needed" or may_soften
        is_choice = self.form is not None and self.form.choices is not None
        if self.logprobs == "off" or not is_choice:
            return False
        # If text replies cannot be graded, but the JSON replies of repeated calls could be, the
        # run would mix two kinds of credit.
        return use_in_text != "unused" or self.replies == "schema"

    def judgments(
        self, item: str, a: str, b: str, first: str | None = None
    ) -> tuple[Judgment, ...]:
        """Return the judge calls of a battle.

        The arguments are those of `battle.judgments`. A pointwise judge has one judgment per
        repeat, in which it rates both responses. The order of this judgment does not matter: the
        first reply is always about `a`, and the second one about `b` (`build_verdict_row`).
        """
        orders = self.orders if self.is_pairwise else "as-given"
        return battle.judgments(
            item, a, b, orders=orders, repeats=self.repeats, seed=self.seed, first=first
        )

    def calls(self, first: str | None = None) -> int:
        """Return the number of calls of one judge for one battle if no reply is unparsed.

        A judgment of a pointwise judge has two calls, one for each response.

        Args:
            first: name of the model that is shown first in every call, `a` or `b`; None for the
                orders of the run.
        """
        judgments = len(self.judgments("", "a", "b", first))
        return judgments if self.is_pairwise else 2 * judgments

    def judge(
        self,
        model: str,
        model_settings: Mapping[str, Any] | None = None,
        *,
        model_name: str | None = None,
    ) -> JudgeRecord:
        """Return the record of a judge.

        Args:
            model: name of the model that judges, with its provider.
            model_settings: generation settings of the model; those of the run override them.
            model_name: name of the model without its provider; None if unknown.

        Raises:
            UsageError: the realization cannot be asked with the settings of the run.
        """
        is_schema_first = self.replies == "auto" and self._first_form is not None
        return build_judge(
            model,
            self.realization,
            self.settings,
            {**(model_settings or {}), **self.generation},
            form=self._first_form,
            replies=SCHEMA_FIRST if is_schema_first else self.replies,
            model_name=model_name,
        )

    def schema_prompt(self, texts: Texts, *, brief: bool = False) -> str:
        """Return the prompt that asks for a JSON object; with `brief`, for one without reasons.

        If replies are never asked for as JSON, the paragraph about the object is missing.

        Raises:
            UsageError: the realization has no prompt, its template cannot be filled, or the item
                lacks a text that is to be shown.
        """
        paragraph = self.form.paragraph(self.settings, brief=brief) if self.form else ""
        return f"{self.realization.prompt(texts, self.settings).rstrip()}\n\n{paragraph}\n"

    def prompt(self, texts: Texts, attempt: int = 1) -> str:
        """Return the prompt that asks for a reply as text.

        From the second attempt on, a reminder follows. After the reminder, the last paragraph of
        the template is repeated, which describes the form of the reply. It is not repeated if it
        has a slot.

        Args:
            texts: the texts of the judgment.
            attempt: number of the call, from 1.

        Raises:
            UsageError: the realization has no prompt, its template cannot be filled, or the item
                lacks a text that is to be shown.
        """
        prompt = self.realization.prompt(texts, self.settings)
        if attempt == 1:
            return prompt
        paragraphs = [prompt.rstrip(), REMINDER]
        template = self.realization.words(self.settings).rstrip()
        last_paragraph = template.rpartition("\n\n")[2]
        if not SLOT.search(last_paragraph):
            paragraphs.append(last_paragraph)
        return "\n\n".join(paragraphs) + "\n"

    def reason(self, reply: Reply, mode: FixedMode) -> str | None:
        """Return why a reply is unparsed, as in the column `reason`; None if it is readable."""
        return self._read_graded(reply, mode).reason

    def verdict(self, reply: Reply, mode: FixedMode) -> Verdict:
        """Read the verdict of a pairwise judge, graded by token probabilities.

        It is graded if `mode` is `required` and the reply was asked for with probabilities
        (`has_probabilities`). If the realization needs probabilities, they are used in any mode.
        """
        return cast(Verdict, self._read_graded(reply, mode))

    def rating(self, reply: Reply, mode: FixedMode) -> Rating:
        """Read the rating of a pointwise judge, graded by token probabilities.

        It is graded if `mode` is `required` and the reply was asked for with probabilities
        (`has_probabilities`). If the realization needs probabilities, they are used in any mode.
        """
        return cast(Rating, self._read_graded(reply, mode))

    def write_reply(self, preference: Preference) -> Reply:
        """Return the reply of a stand-in judge with this preference.

        Raises:
            UsageError: the realization cannot write replies.
        """
        if self.realization.write_reply is None:
            raise UsageError(f"realization {self.realization.name!r} has no writer of replies")
        return self.realization.write_reply(preference, self.settings)

    def to_json(self, reply: Reply) -> Reply:
        """Convert a text reply of the stand-in judge to the JSON object that says the same.

        The probabilities of the last token become those of the letter at the end of the object. A
        reply without tokens becomes one without tokens. If replies are never asked for as JSON, the
        reply is returned unchanged.
        """
        form = self.form
        if form is None:
            return reply
        parsed = self.realization.read_reply(reply, self.settings)
        text = json.dumps(form.write(reply, parsed, self.settings))
        if not reply.tokens:
            return Reply(text)
        # The object ends with the letter, a quotation mark and a brace.
        letter_place = len(text) - len('A"}')
        letter_end = letter_place + 1
        alternatives = reply.tokens[-1].top.items()
        probabilities = {spelling.strip(): probability for spelling, probability in alternatives}
        before_letter = Token(text[:letter_place])
        letter = Token(text[letter_place:letter_end], probabilities)
        after_letter = Token(text[letter_end:])
        return Reply(text, tokens=(before_letter, letter, after_letter))

    def _read_graded(self, reply: Reply, mode: FixedMode) -> Verdict | Rating:
        """Read a reply in the form in which it was asked for.

        The result is graded by token probabilities if `mode` is `required` and the reply was asked
        for with probabilities (`has_probabilities`). A realization that needs probabilities uses
        them in any mode. A failed, filtered or refused reply is unparsed, whatever its text is.
        """
        if reply.reason_of_no_answer:
            return self._unparsed_verdict(reply.reason_of_no_answer)
        form = self.realization.form
        parsed: Verdict | Rating
        if reply.structured and form:
            verdict_or_reason = form.parse(reply, self.settings)
            if isinstance(verdict_or_reason, str):
                parsed = self._unparsed_verdict(verdict_or_reason)
            else:
                parsed = verdict_or_reason
        else:
            parsed = _read_text_reply(self.realization.read_reply, reply, self.settings)
        # A realization that needs probabilities has read them already.
        if mode == "off" or self.realization.probabilities == "needed":
            return parsed
        if not self.has_probabilities(reply.structured):
            return parsed
        return grade_reply(reply, parsed, self.realization, self.settings)

    def _unparsed_verdict(self, reason: str) -> Verdict | Rating:
        """Return an unparsed verdict (pairwise) or rating (pointwise) with this reason."""
        if self.is_pairwise:
            return Verdict(credit=None, reason=reason)
        return Rating(score=None, reason=reason)


@lru_cache(maxsize=64)
def _read_text_reply(
    read_reply: Callable[[Reply, Settings], Verdict | Rating], reply: Reply, settings: Settings
) -> Verdict | Rating:
    """Read a text reply, as `read_reply` of a realization does; equal replies are read once.

    In a tournament, a reply is read when it arrives, and again when its battle is scored. Only the
    last replies are remembered, because each of them may hold thousands of probabilities.

    Args:
        read_reply: function that reads the reply of a realization.
        reply: the reply.
        settings: what shapes the prompts of the run.
    """
    return read_reply(reply, settings)


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
    """Build the settings of a run from plain values, as they are typed and logged.

    Args:
        realization: how the judge is asked and its reply read.
        tie: whether the judge may call a tie.
        checklist: whether the judge is shown a checklist for the instruction.
        reference: whether the judge is shown the item's reference answer.
        system: whether the judge is shown the system prompt of the responses.
        template: path of a prompt that replaces the packaged one.
        temperature: temperature of the judge's replies.
        max_tokens: limit of the judge's output tokens.
        transcript: whether responses are transcripts. The run sets this, not the user.
        options: further fields of `Judging` by name, except `settings` and `generation`. A
            `logprobs` of False counts as `off`.

    Raises:
        UsageError: an option is unknown, a value is not allowed, or the template cannot be read.
    """
    refuse_unknown_options(options, known_options())
    if options.get("logprobs") is False:
        options["logprobs"] = "off"  # YAML reads the word `off` as False
    given_template = None if template is None else _read_template(template)
    generation = {"temperature": temperature, "max_tokens": max_tokens}
    return Judging(
        realization,
        Settings(
            tie=tie,
            checklist=checklist,
            reference=reference,
            system=system,
            template=given_template,
            transcript=transcript,
        ),
        generation={name: value for name, value in generation.items() if value is not None},
        **options,
    )


def _read_template(path: str) -> Template:
    """Read the template of a prompt from a file.

    Raises:
        UsageError: the file cannot be read, is not UTF-8, or is a stream.
    """
    reject_stream(Path(path))
    try:
        return Template(Path(path).read_text(encoding="utf-8"), path)
    except OSError as error:
        raise UsageError(f"the prompt {path!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the prompt {path!r} is not UTF-8: save it in this encoding") from None


CHOICES = {
    "orders": battle.ORDERS,
    "replies": get_args(Replies),
    "logprobs": ("auto", "required", "off"),
    "rule": battle.RULES,
    "one_sided": ("unparsed", "keep"),
    "identical": ("tie", "judge"),
    "on_bad_judge": ("stop", "continue"),
}
"""Allowed values of each option. They are checked before the first paid call."""
OPTIONS_OF_ONE_OR_MORE = {
    "attempts": "a judge must be asked at least once",
    "repeats": "there must be at least one repeat",
    "quorum": "at least one judge must have been read",
}
"""Options whose value must be 1 or more, each with the message if it is below 1."""


def refuse_unknown_options(options: Iterable[str], available: Set[str]) -> None:
    """Check that all options are available.

    Raises:
        UsageError: an option is not available. The message names the first unavailable option in
            the order of the alphabet, and suggests the most similar name.
    """
    unknown = sorted(set(options) - available)
    if unknown:
        raise unknown_name_error("option", unknown[0], available)


def known_options() -> Set[str]:
    """Return the names of all options of `build_judging` that a user may choose.

    These are its arguments except `transcript`, and the fields of `Judging` except `settings` and
    `generation`.
    """
    plain_values = inspect.signature(build_judging).parameters.keys() - {"options", "transcript"}
    given_as_fields = {field.name for field in fields(Judging)} - {"settings", "generation"}
    return plain_values | given_as_fields


def dump_reply(reply: Reply) -> dict[str, Any]:
    """Convert a reply to JSON for a log.

    The text is kept whole. Of the tokens, the first 8 and the last 64 are kept, with their
    alternatives. All fields but `text` and `truncated` are left out if they are not set.
    """
    first_tokens = reply.tokens[:FIRST_TOKENS]
    further_tokens = reply.tokens[FIRST_TOKENS:]
    logged_tokens = first_tokens + further_tokens[-LAST_TOKENS:]
    # A kind of rejection is known only if there is a message of refusal.
    rejection = reply.rejection if reply.refused else None
    optional: dict[str, Any] = {
        "tokens": [[token.text, dict(token.top)] for token in logged_tokens],
        "refused": reply.refused,
        "rejection": rejection,
        "structured": reply.structured,
        "failed": reply.failed,
        "withheld": reply.withheld,
        "in_reasoning": reply.in_reasoning,
    }
    set_values = {name: value for name, value in optional.items() if value}
    if reply.cost is not None:
        set_values["cost"] = reply.cost
    return {"text": reply.text, "truncated": reply.truncated, **set_values}


def load_reply(logged: Mapping[str, Any]) -> Reply:
    """Return a logged reply without the reasoning before its answer.

    If the reasoning never ends, or nothing follows it, the reply counts as truncated in its
    reasoning. JSON replies are returned whole.

    Args:
        logged: the reply as `dump_reply` wrote it.
    """
    fields_set = {name: logged[name] for name in LOGGED_FIELDS if name in logged}
    whole_text = logged["text"]
    text = whole_text if fields_set.get("structured") else strip_reasoning(whole_text)
    has_only_reasoning = not text and bool(whole_text.strip())
    is_truncated = bool(logged.get("truncated")) or has_only_reasoning
    if has_only_reasoning:
        fields_set["in_reasoning"] = True
    tokens = tuple(Token(*pair) for pair in logged.get("tokens", ()))
    return Reply(text, is_truncated, tokens, **fields_set)


def words_of_judgment(judgment: Mapping[str, Any]) -> str:
    """Return what the judge wrote in a logged judgment, without reasoning; empty if nothing.

    Of a pointwise judge, these are the replies about both responses.

    Args:
        judgment: the logged judgment, with its `replies`.
    """
    texts = (load_reply(logged).text for logged in judgment["replies"])
    return "\n\n".join(text for text in texts if text)


def build_verdict_row(judgment: Mapping[str, Any], judging: Judging) -> dict[str, Any]:
    """Return the row of the battles table of one logged judgment.

    Args:
        judgment: the logged judgment, with `order`, `repeat`, `judge`, `mode`, `replies` and,
            optionally, `attempts`. A pairwise judge has one reply. A pointwise judge has two
            replies: first the reply about `a`, then the reply about `b`, whatever `order` says. A
            judgment without replies is a tie of identical responses.
        judging: settings of the run.

    Returns:
        A value by column. Without replies, the columns are `order`, `repeat` and `judge` as logged,
        `attempts` (0), `credit` (0.5), `margin` (0, or None if the realization has no margins) and
        `reason` (None). With replies:

        - `credit` and all margins are about `a`.
        - `label` is the verdict as a pairwise judge wrote it. A pointwise judge has `score_a` and
          `score_b` instead.
        - `margin_NAME` is the margin of a criterion. `hard_credit`, `mass`, `cost` and `ungraded`
          are there if they are known (`_grade_columns`).
        - `order` is `merged` for a pointwise judge.
        - `reply` is the beginning of the first unparsed reply. It is missing if all are readable.
        - `schema` is True if a reply of a run with `replies=auto` was asked for as JSON. Otherwise,
          it is missing.
    """
    row: dict[str, Any] = {name: judgment[name] for name in ("order", "repeat", "judge")}
    row["attempts"] = judgment.get("attempts", 1)
    if not judgment["replies"]:
        margin = 0.0 if judging.realization.margins else None
        return row | {"attempts": 0, "credit": 0.5, "margin": margin, "reason": None}
    replies = [load_reply(logged) for logged in judgment["replies"]]
    columns_of_kind: dict[str, Any]
    if judging.is_pairwise:
        verdict = judging.verdict(replies[0], judgment["mode"])
        about_a = verdict if judgment["order"] == "ab" else battle.swap_sides(verdict)
        columns_of_kind = {"label": verdict.label}
        reasons = [verdict.reason]
    else:
        a, b = (judging.rating(reply, judgment["mode"]) for reply in replies)
        about_a = battle.compare_ratings(a, b)
        row["order"] = "merged"
        columns_of_kind = {"score_a": a.score, "score_b": b.score}
        reasons = [a.reason, b.reason]
    row["credit"] = about_a.credit
    row["margin"] = about_a.margin
    row["reason"] = about_a.reason
    row |= _grade_columns(about_a, replies)
    row |= {f"margin_{name}": value for name, value in about_a.criteria.items()}
    row |= columns_of_kind
    excerpt = _excerpt_of_unparsed(replies, reasons)
    if excerpt:
        row["reply"] = excerpt
    if judging.replies == "auto" and any(reply.structured for reply in replies):
        row["schema"] = True
    return row


def _grade_columns(verdict: Verdict, replies: Sequence[Reply]) -> dict[str, Any]:
    """Return the columns `hard_credit`, `mass`, `cost` and `ungraded` of a judgment.

    `hard_credit` is the parsed credit of a graded verdict. `cost` is the sum of the costs of the
    replies, known only if every cost is known. `ungraded` names the check that fails because the
    probabilities of the allowed answers of a graded verdict sum to too little; an unknown sum
    counts as 0. Columns whose value is not known are left out.
    """
    costs = [reply.cost for reply in replies if reply.cost is not None]
    is_cost_known = len(costs) == len(replies)
    check = MASS_OF_SCHEMA if replies[0].structured else MASS_OF_TEXT
    mass = verdict.mass or 0
    is_ungraded = verdict.parsed is not None and mass < check.threshold
    columns = {
        "hard_credit": verdict.parsed,
        "mass": verdict.mass,
        "cost": sum(costs) if is_cost_known else None,
        "ungraded": check.name if is_ungraded else None,
    }
    return {name: value for name, value in columns.items() if value is not None}


def _excerpt_of_unparsed(replies: Sequence[Reply], reasons: Sequence[str | None]) -> str:
    """Return the beginning of the first unparsed reply, or of its error if it has no text.

    At most 80 characters are returned (`excerpt_of`). The result is empty if all replies are
    readable. `reasons` says for each reply why it is unparsed, None if it is readable.
    """
    for reply, reason in zip(replies, reasons, strict=False):
        if reason:
            return excerpt_of(reply.text or reply.refused)
    return ""


def excerpt_of(text: str) -> str:
    """Return an unparsed reply or an error on one line of at most 80 characters.

    Blanks and line breaks become single blanks. A longer text is cut, with `…` at its end. Halves
    of surrogate pairs become their escapes, because no terminal and no log can write them.
    """
    on_one_line = " ".join(text.split())
    # Surrogates, which no encoding can write, are escaped.
    line = on_one_line.encode("utf-8", "backslashreplace").decode()
    if len(line) <= LONGEST_EXCERPT:
        return line
    return f"{line[: LONGEST_EXCERPT - 1]}…"


def merge_rows(rows: Sequence[Mapping[str, Any]], judging: Judging) -> Verdict:
    """Merge the judgments of a battle: orders first, then repeats, then judges.

    Args:
        rows: rows of `build_verdict_row`, all of one battle. Of several rows of the same judge,
            repeat and order, the last one counts.
        judging: settings of the run.

    Returns:
        The verdict about a.

    Raises:
        UsageError: there are no rows, or the quorum is larger than the number of judges in `rows`.
    """
    # Verdicts about a by judge, repeat and order.
    judges: dict[str, dict[int, dict[str, Verdict]]] = {}
    for row in rows:
        repeats = judges.setdefault(row["judge"], {})
        orders = repeats.setdefault(row["repeat"], {})
        orders[row["order"]] = _verdict_of_row(row)
    verdicts = [_merge_repeats(repeats, judging) for repeats in judges.values()]
    return battle.merge_jury(verdicts, judging.rule, quorum=judging.quorum)


def _verdict_of_row(row: Mapping[str, Any]) -> Verdict:
    """Return the verdict about model_a in a row of `build_verdict_row`.

    The margins of criteria are in the columns whose names begin with `margin_`.
    """
    prefix = "margin_"
    criteria = {name.removeprefix(prefix): row[name] for name in row if name.startswith(prefix)}
    return Verdict(
        credit=row["credit"],
        margin=row["margin"],
        criteria=criteria,
        label=row.get("label"),
        reason=row["reason"],
        parsed=row.get("hard_credit"),
    )


def _merge_repeats(repeats: Mapping[int, Mapping[str, Verdict]], judging: Judging) -> Verdict:
    """Merge the verdicts of one judge: first the orders of each repeat, then the repeats.

    Unparsed repeats are left out. If all are unparsed, the result is that of the first repeat.

    Args:
        repeats: verdicts about a, by repeat and order.
        judging: settings of the run.
    """
    merged = []
    for repeat in sorted(repeats):
        about_a = list(repeats[repeat].values())
        merged.append(battle.average_orders(about_a, one_sided=judging.one_sided))
    readable = [verdict for verdict in merged if verdict.credit is not None]
    if not readable:
        return merged[0]
    if len(readable) == 1:
        return readable[0]
    return battle.mean_verdict(readable)
