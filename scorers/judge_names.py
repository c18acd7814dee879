"""Short names of judges, for people: the model, and what tells judges of one model apart."""

from collections.abc import Iterable, Mapping

from podium.scorers.judge_record import JudgeRecord


def short_judge_names(judges: Iterable[JudgeRecord]) -> dict[str, str]:
    """Return a short name for each judge, by its full name.

    It is the model. Judges of one model also have the facts in which they differ, as in
    `openai/gpt-x (realization=rubric)`. The hash of a prompt is shown only if judges differ in
    nothing else. A judge that podium did not ask keeps its name, and so does one whose short name
    another judge has.
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
    taken = list(short.values())
    return {name: own if taken.count(own) == 1 else name for name, own in short.items()}


def _differences(judges: list[JudgeRecord]) -> list[str]:
    """Return the facts in which each judge differs from others, as `NAME=VALUE, NAME=VALUE`."""
    facts = [_facts_without_prompt(judge) for judge in judges]
    texts = _unlike_facts(facts)
    if len({*texts}) == len(judges):
        return texts
    with_prompt = [
        {**own, "prompt": judge.prompt or ""} for own, judge in zip(facts, judges, strict=True)
    ]
    return _unlike_facts(with_prompt)


def _unlike_facts(facts: list[dict[str, str]]) -> list[str]:
    """Return the facts of each judge that not all judges share; `default` if a judge lacks one."""
    names = dict.fromkeys(name for own in facts for name in own)
    unlike = [name for name in names if len({own.get(name) for own in facts}) > 1]
    return [", ".join(f"{name}={own.get(name, 'default')}" for name in unlike) for own in facts]


def _facts_without_prompt(judge: JudgeRecord) -> dict[str, str]:
    """Return how a judge was asked, by name of the option, without facts that are not known."""
    facts: Mapping[str, str | None] = {
        "kind": judge.kind,
        "realization": judge.realization,
        "replies": judge.replies,
        **dict(judge.settings),
    }
    return {name: value for name, value in facts.items() if value is not None}
