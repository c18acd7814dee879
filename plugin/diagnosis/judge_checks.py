"""Warnings about judges: unparsed replies, and models of a judge's own family."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from podium.check_kinds import CHECKS
from podium.data.battles import VOTERS, Battles
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.data.formats.human_voters import VOTER
from podium.notices.notice import Notice
from podium.notices.notice_text import remedies_text
from podium.printable import shorten
from podium.scorers.judge_record import JudgeRecord
from podium.scorers.reply import (
    CUT_IN_REASONING,
    FAILED,
    FILTERED,
    NOT_SHOWN,
    ONE_ORDER_UNPARSED,
    UNSHOWN,
    UnparsedReason,
)
from podium.wording import plural, some

MAKERS: Mapping[str, tuple[str, ...]] = {
    "01.AI": ("yi-",),
    "AI Sweden": ("gpt-sw3",),
    "AI21": ("jurassic", "jamba", "j2-"),
    "Aleph Alpha": ("luminous",),
    "Allen AI": ("tulu", "olmo", "molmo"),
    "Alibaba": ("qwen", "qwq"),
    "Amazon": ("nova-", "titan"),
    "Anthropic": ("claude",),
    "BigCode": ("starcoder", "gpt-bigcode", "gpt_bigcode"),
    "Cerebras": ("cerebras-gpt",),
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
    "Nomic AI": ("gpt4all",),
    "Nous": ("nous", "hermes"),
    "NVIDIA": ("nemotron",),
    "OpenAI": ("gpt", "chatgpt", "openai", "davinci", "text-davinci", "o1", "o3", "o4"),
    "Stability": ("stablelm", "stable"),
    "Stanford": ("alpaca",),
    "TII": ("falcon",),
    "Together": ("redpajama", "gpt-neoxt", "gpt-jt"),
    "Tsinghua": ("glm", "chatglm"),
    "Upstage": ("solar",),
    "UW": ("guanaco",),
    "xAI": ("grok",),
}
"""Beginnings of words in the names of models, in lower case, by maker.

If several beginnings occur in a name, the one that stands first counts; of several that stand at
the same place, the longest. So `nemotron-llama` is by NVIDIA, and `gpt-neox` by EleutherAI, not
OpenAI.
"""
MISLEADING_WORDS = re.compile(r"alpaca[-_ ]?eval|openai-api|gpt-?4[-_ ]?x(?=[-_ ])")
"""Words that contain the name of a maker, but do not say that the model is by this maker.

`alpaca_eval` in `alpaca_eval_gpt4` is the benchmark AlpacaEval, `openai-api` is a provider of
Inspect, and models such as `gpt4-x-vicuna` were trained on replies of GPT-4. These words are
removed before the maker is guessed.
"""
REMEDY_OF_REASON = {
    "truncated": "more-tokens",
    CUT_IN_REASONING: "more-tokens",
    "empty": "look-at-server",
    "refusal": "another-judge",
    "no log-probabilities": "judge-with-probabilities",
    FILTERED: "another-judge",
    UNSHOWN: "judge-that-sees",
}
"""Code of the remedy in the catalogue, by code of the reason why a judgment is unparsed."""
REASONS_WITHOUT_TEXT = (FAILED, FILTERED, *NOT_SHOWN)
"""Reasons of unparsed replies whose texts the judge did not write."""
POPULATIONS = frozenset({"crowd", "human", "humans", "voters", "annotators"})
"""Names of judges, in lower case, that stand for humans."""
MOST_REASONS = 10
"""Number of most frequent reasons for unparsed replies that the warning considers."""


class Family(NamedTuple):
    """The family of a model.

    Attributes:
        name: name of the family.
        how: `given` if the user gave it, `guessed` if it is from the model's name.
    """

    name: str
    how: str


def family_of(model: str, family_by_model: Mapping[str, str]) -> Family | None:
    """Return the family of a model.

    Args:
        model: name of the model.
        family_by_model: families by pattern of models' names, such as `my-*`, as of `fnmatch`. Case
            is ignored. The first pattern that matches the whole name counts.

    Returns:
        The given family, else the maker that is guessed from the name; None if unknown.
    """
    for pattern, family in family_by_model.items():
        if fnmatchcase(model.lower(), pattern.lower()):
            return Family(family, "given")
    # In `provider/model`, the maker is guessed from the model, and from the whole name if that
    # fails.
    name = MISLEADING_WORDS.sub("", model.lower())
    without_provider = name.rpartition("/")[2]
    maker = _guess_maker(without_provider) or _guess_maker(name)
    return Family(maker, "guessed") if maker else None


def _guess_maker(name: str) -> str | None:
    """Return the maker of a model by the words in its name (`MAKERS`); None if unknown.

    Of several words, the one that stands first counts, and at the same place the longest.

    Args:
        name: name of the model in lower case.
    """
    sort_keys = []
    for maker, beginnings in MAKERS.items():
        for beginning in beginnings:
            if beginning not in name:
                continue
            # At the beginning of a word: `phi-` matches in `phi-3`, not in `dolphi-3`.
            match = re.search(rf"(?<![a-z0-9]){re.escape(beginning)}", name)
            if match:
                sort_keys.append((match.start(), -len(beginning), maker))
    if not sort_keys:
        return None
    # The smallest key is of the match that stands first and, among those, of the longest one.
    _, _, first_maker = min(sort_keys)
    return first_maker


def group_by_family(
    models: Iterable[str], family_by_model: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return the models of each family; models of unknown family are left out.

    Args:
        models: names of the models.
        family_by_model: families by pattern of models' names, such as `my-*`; the family of any
            other model is guessed from its name.

    Returns:
        The names, sorted, by family; the families are sorted, too.
    """
    groups: dict[str, list[str]] = {}
    for model in sorted(models):
        family = family_of(model, family_by_model)
        if family:
            groups.setdefault(family.name, []).append(model)
    return {name: tuple(groups[name]) for name in sorted(groups)}


class Relation(NamedTuple):
    """Which of the judged models is a judge's own model, and which others are of its family.

    Humans and voters have no relation.

    Attributes:
        judge: name of the judge's model.
        own: the judged model that is the judge's own model; None if it was not judged.
        family: family of the judge; None if unknown.
        how: whether the family was `given` or `guessed`; None if unknown.
        kin: the other judged models of its family, sorted; empty if the family is unknown.
    """

    judge: str
    own: str | None
    family: str | None
    how: str | None
    kin: tuple[str, ...]


def judge_warnings(battles: Battles, families: Mapping[str, str]) -> list[Notice]:
    """Return warnings about unparsed replies, and about judges related to models they judge.

    There is at most one warning per judge: that it judges its own model or, if it does not, that it
    judges models of its family.

    Args:
        battles: the battles. Ties of identical responses, which no judge was asked about, are left
            out.
        families: families by pattern of models' names, such as `my-*`; the family of any other
            model is guessed from its name.

    Returns:
        The warnings: first at most one about unparsed replies, then those about judges, in the
        order of the judges.
    """
    battles = battles.asked_battles
    warnings = _unparsed_warnings(battles)
    for relation in relations_of(battles, families):
        if relation.own:
            fields: dict[str, Any] = {"judge": relation.judge, "model": relation.own}
            warnings.append(Notice(CHECKS["own model"].code, fields))
        elif relation.kin:
            fields = {
                "judge": relation.judge,
                "models": list(relation.kin),
                "family": relation.family,
                "how": relation.how,
            }
            warnings.append(Notice(CHECKS["own family"].code, fields))
    return warnings


def unparsed_share(battles: Battles) -> float:
    """Return the share of judgments that are unparsed; 0 if there are no judgments.

    A battle that was judged in two orders has two judgments, each of which may be unparsed.
    """
    counts = battles.counts()
    if not counts.judgments:
        return 0.0
    swaps = battles.swaps()
    # Battles with one unparsed order are counted once: as unparsed battles with the reason
    # ONE_ORDER_UNPARSED, or, with one_sided=keep, as readable battles in `one_sided`.
    rejected_one_sided = battles.unparsed_reasons().get(ONE_ORDER_UNPARSED, 0)
    one_sided = max(rejected_one_sided, counts.one_sided)
    unparsed = counts.unparsed - rejected_one_sided + one_sided
    # Battles with two unparsed orders are counted once so far.
    second_judgments = swaps.unparsed if swaps else 0
    return (unparsed + second_judgments) / counts.judgments


def relations_of(battles: Battles, families: Mapping[str, str]) -> list[Relation]:
    """Return the relation of each judge to the models.

    Humans and rows without a judge are left out. A judge without a known relation is included. The
    relations are in the order of `battles.judges`. If all verdicts are votes of humans, there are
    none.

    Args:
        battles: the battles.
        families: families by pattern of models' names, such as `my-*`; the family of any other
            model is guessed from its name.
    """
    if are_human_votes(battles):
        return []
    models_by_family = group_by_family(battles.models, families)
    relations = []
    for judge in _named_judges(battles):
        if judge.is_human:
            continue
        model = judge.shown_model
        same_name = same_model(battles.models, model)
        family = family_of(model, families)
        if family is None:
            relations.append(Relation(judge=model, own=same_name, family=None, how=None, kin=()))
        else:
            relatives = models_by_family.get(family.name, ())
            kin = tuple(name for name in relatives if name != same_name)
            relations.append(
                Relation(judge=model, own=same_name, family=family.name, how=family.how, kin=kin)
            )
    return relations


def is_judged(battles: Battles) -> bool:
    """Return whether a judge decided the battles; False for scores whose rows name no judge.

    Battles without scores count as decided by a judge, even if no row names the judge.
    """
    return "score_a" not in battles.columns or bool(_named_judges(battles))


def _named_judges(battles: Battles) -> list[JudgeRecord]:
    """Return the records of the judges that have a name, in the order of `battles.judges`."""
    return [battles.judge_of(name) for name in battles.judges if name != UNNAMED_JUDGE]


def are_human_votes(battles: Battles) -> bool:
    """Return whether all verdicts are votes of humans.

    The result is True if each judge is the population of voters (`VOTERS`), has the name of a voter
    or of a population (`POPULATIONS`), or is a human by its record. Without judges, it is True if
    the battles have a column `voter`.
    """
    if not battles.judges:
        return "voter" in battles.columns
    return all(
        name == VOTERS
        or VOTER.fullmatch(name)
        or name.casefold() in POPULATIONS
        or battles.judge_of(name).is_human
        for name in battles.judges
    )


def _unparsed_warnings(battles: Battles) -> list[Notice]:
    """Return the warning about unparsed judgments, if their share is above the threshold.

    The list has one warning or none. The warning quotes the three most frequent unparsed replies,
    without those whose reason is in `REASONS_WITHOUT_TEXT`. If the most frequent reason is that a
    provider's content filter ended the reply, the warning quotes no reply and names this reason.
    """
    check = CHECKS["unparsed"]
    counts = battles.counts()
    share = unparsed_share(battles)
    if share <= check.threshold:
        return []
    reasons = battles.unparsed_texts("reason", most=1)
    is_filtered = False
    if reasons:
        written, _ = reasons[0]
        is_filtered = UnparsedReason.parse(written).code == FILTERED
    replies = (
        ()
        if is_filtered
        else battles.unparsed_texts("reply", most=3, reasons_left_out=REASONS_WITHOUT_TEXT)
    )
    fields = {
        "unparsed": counts.unparsed,
        "battles": counts.battles,
        "share": share,
        "written": [_counted_text(repr(reply), times) for reply, times in replies],
        "reason": _counted_text(*reasons[0]) if is_filtered else "",
        "judgments": "votes" if are_human_votes(battles) else "replies",
        **_remedy_fields(battles),
    }
    return [Notice(check.code, fields)]


def remedy_of_unparsed(battles: Battles) -> str:
    """Return what helps against the most frequent reason of unparsed judgments, as a text.

    The text is the first remedy in the warning about these judgments. If no reason is recorded, the
    text is the remedy for an unknown reason.
    """
    fields = _remedy_fields(battles)
    return remedies_text(fields["remedies"][:1], fields)


def _counted_text(text: str, times: int | None) -> str:
    """Return a text and how often it occurs, as `text (12)`; the text alone if that is unknown."""
    return text if times is None else f"{text} ({times:,})"


def _remedy_fields(battles: Battles) -> dict[str, Any]:
    """Return what to do about unparsed judgments, as fields of the warning.

    The field `remedies` has the code of the remedy for the most frequent reason and, if calls
    failed for a less frequent one, the code to retry them. The field `errors` is a text with at
    most three error messages of failed calls. If podium did not write the most frequent reason, the
    reasons that it did not write count as error messages, too. Only the `MOST_REASONS` most
    frequent reasons count.
    """
    texts = battles.unparsed_texts("reason", MOST_REASONS, [ONE_ORDER_UNPARSED])
    reasons = [(UnparsedReason.parse(written), times) for written, times in texts]
    most_frequent = UnparsedReason(code=None)
    if reasons:
        most_frequent, _ = reasons[0]
    errors = []
    for (written, times), (reason, _) in zip(texts, reasons, strict=True):
        is_unknown = reason.code is None and most_frequent.code is None
        message = shorten(written) if is_unknown else reason.details
        if message and (is_unknown or reason.code == FAILED):
            number = "" if times is None else f", {times:,} {plural('time', times)}"
            errors.append(f"{message}{number}")
    if most_frequent.code == FAILED and not are_human_votes(battles):
        remedies = ["retry"]
    else:
        remedies = [_remedy_of(most_frequent, battles)]
        if any(reason.code == FAILED for reason, _ in reasons):
            remedies.append("retry-failed")
    return {"remedies": remedies, "errors": some(errors, "; ", most=3)}


def _remedy_of(reason: UnparsedReason, battles: Battles) -> str:
    """Return the code of the remedy for replies that are unparsed for this reason.

    Votes of humans have a code of their own, whatever the reason. For a reason that is not in
    `REMEDY_OF_REASON`, the code depends on whether podium called the judge.
    """
    if are_human_votes(battles):
        return "look-at-votes"
    if reason.code in REMEDY_OF_REASON:
        return REMEDY_OF_REASON[reason.code]
    # If no prompt is recorded, podium did not call the judge: the user must look at the rows.
    is_called_by_podium = any(battles.judge_of(name).prompt for name in battles.judges)
    return "reason-first" if is_called_by_podium else "look-at-rows"


def same_model(models: Sequence[str], model: str) -> str | None:
    """Return the first of some models that has the same name as a given model.

    Provider, case and punctuation are ignored: `openai/GPT-4o` and `gpt4o` are the same.

    Args:
        models: names of the models to search.
        model: name of the given model.

    Returns:
        The name as it is in `models`; None if no model matches, or if the given name has neither
        letters nor digits.
    """
    bare_model = _bare_name(model)
    if bare_model:
        for name in models:
            if _bare_name(name) == bare_model:
                return name
    return None


def _bare_name(model: str) -> str:
    """Return a model's name without provider, case and punctuation.

    Case and all characters other than letters and digits are removed. The text is empty if nothing
    is left.
    """
    without_provider = model.casefold().rpartition("/")[2]
    return re.sub(r"[\W_]", "", without_provider)
