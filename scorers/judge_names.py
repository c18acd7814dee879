"""Short names of judges, for people: the model, and what tells judges of one model apart."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from podium.scorers.judge_record import JudgeRecord


def short_judge_names(judges: Iterable[JudgeRecord]) -> dict[str, str]:
    """Return a short name for each judge, by its full name.

    The short name is the name of the model. For judges of one model, the facts in which they differ
    follow, as in `openai/gpt-x (realization=rubric)`. The hash of a prompt is shown only if judges
    differ in nothing else. A judge that podium did not ask keeps its name, and so does a judge
    whose short name another judge has.
    """
    judges = list(judges)
    by_model: dict[str, list[JudgeRecord]] = {}
    for judge in judges:
        if judge.prompt is not None:
            by_model.setdefault(judge.shown_model, []).append(judge)
    short = {judge.name: judge.name for judge in judges}
    for model, alike in by_model.items():
        for judge, differences in zip(alike, _differences(alike), strict=True):
            short[judge.name] = f"{model} ({differences})" if differences else model
    taken = Counter(short.values())
    for name, short_name in short.items():
        if taken[short_name] > 1:
            short[name] = name
    return short


def shown_judge(jury: Mapping[str, Any], name: str) -> str:
    """Return the short name of a judge, or `name` if the judge has no short name.

    `jury` is `diagnostics["jury"]` of a ranking; the short name is `label` of the judge there.
    """
    label: str = jury["judges"].get(name, {}).get("label", name)
    return label


def _differences(judges: list[JudgeRecord]) -> list[str]:
    """Return the facts in which each judge differs from others, as `NAME=VALUE, NAME=VALUE`.

    The hash of the prompt is one of the facts only if two judges agree in all others. A text is
    empty if the judge is the only one.
    """
    facts_of_judges = [_facts_without_prompt(judge) for judge in judges]
    texts = _unlike_facts(facts_of_judges)
    if len(set(texts)) == len(judges):
        return texts
    for facts, judge in zip(facts_of_judges, judges, strict=True):
        facts["prompt"] = judge.prompt or ""
    return _unlike_facts(facts_of_judges)


def _unlike_facts(facts_of_judges: list[dict[str, str]]) -> list[str]:
    """Return the facts of each judge that not all judges share; `default` if a judge lacks one.

    Args:
        facts_of_judges: for each judge, its facts by name.

    Returns:
        One text for each judge, as `NAME=VALUE, NAME=VALUE`; empty if all facts are shared.
    """
    unlike = []
    for name in dict.fromkeys(name for facts in facts_of_judges for name in facts):
        values = {facts.get(name) for facts in facts_of_judges}
        if len(values) > 1:
            unlike.append(name)
    texts = []
    for facts in facts_of_judges:
        texts.append(", ".join(f"{name}={facts.get(name, 'default')}" for name in unlike))
    return texts


def _facts_without_prompt(judge: JudgeRecord) -> dict[str, str]:
    """Return how a judge was asked: the known facts without the prompt's hash, by name.

    They are `kind`, `realization` and `replies`, and the settings by the names of their options.
    """
    facts: Mapping[str, str | None] = {
        "kind": judge.kind,
        "realization": judge.realization,
        "replies": judge.replies,
        **dict(judge.settings),
    }
    return {name: value for name, value in facts.items() if value is not None}
