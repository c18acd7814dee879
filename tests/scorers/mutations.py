"""What can happen to a judge's reply on its way, or in the judge's head: none of it may turn into
another verdict.

A mutation never edits the characters that say the verdict into those of another verdict, as no
reader could tell.
"""
# ruff: noqa: ARG001 (all mutations are called alike)

import random
from collections.abc import Callable

from judge_replies import CASES, Case

LOOK_ALIKES = str.maketrans('ABCaobe>=[]{}":.0158', "АВСаоƅеᐳ꞊［］｛｝”：．Ｏ１５８")
INVISIBLE = "\u200b\u200d\u2060\ufeff\u202e\u00ad\u2028\x00\x1b\x7f"
PROSE = (
    "I am sure.",
    "Sorry, that was hasty.",
    "A is good, B is not.",
    "[1]",
    "{x}",
    "```",
    ">",
    "**",
    "\u4e2d\u6587",
    "RTL \u05d0\u05d1",
)
OTHER = {
    "direct": ("A", "B", "C", "Verdict: B", "Response B"),
    "cot": ("Verdict: A", "Verdict: B", "Verdict: C", "B", "final verdict: b", "**Verdict: A**"),
    "labels": ("[[A>>B]]", "[[A=B]]", "[[B>A]]", "[[C]]", "[A>B]", "A>>B"),
    "numeric": ("[[1]]", "[[99.5]]", "[[1000]]", "50", "50/100"),
    "likert": ("[[poor]]", "[[excellent]]", "[[bad]]", "good"),
    "rubric": (
        *(case.core for case in CASES if case.realization == "rubric"),
        '{"A": 1}',
        "{",
        '{"A": {"B": 2}}',
    ),
}

Mutation = Callable[[Case, str, random.Random], str]


def truncate(case: Case, text: str, dice: random.Random) -> str:
    return text[: dice.randrange(len(text) + 1)]


def behead(case: Case, text: str, dice: random.Random) -> str:
    return text[_before_core(case, text, dice) :]


def double(case: Case, text: str, dice: random.Random) -> str:
    return text + dice.choice(["", "\n", " ", "\n\n"]) + text


def change_case(case: Case, text: str, dice: random.Random) -> str:
    return dice.choice([str.upper, str.lower, str.swapcase, str.title])(text)


def look_alike(case: Case, text: str, dice: random.Random) -> str:
    place = dice.randrange(len(text) + 1)
    return text[:place] + text[place : place + 1].translate(LOOK_ALIKES) + text[place + 1 :]


def all_look_alike(case: Case, text: str, dice: random.Random) -> str:
    return text.translate(LOOK_ALIKES)


def insert_other(case: Case, text: str, dice: random.Random) -> str:
    """Insert another verdict anywhere, but not between digits: two numbers glued together are a
    third."""
    core = text.rfind(case.core) if case.realization == "numeric" else len(text) + 1
    place = dice.choice([k for k in range(len(text) + 1) if not core <= k <= core + len(case.core)])
    other = dice.choice(OTHER[case.realization])
    return (
        text[:place]
        + dice.choice(["", " ", "\n"])
        + other
        + dice.choice(["", " ", "\n"])
        + text[place:]
    )


def append_other(case: Case, text: str, dice: random.Random) -> str:
    return text + dice.choice(["", " ", "\n"]) + dice.choice(OTHER[case.realization])


def prepend_other(case: Case, text: str, dice: random.Random) -> str:
    return dice.choice(OTHER[case.realization]) + "\n" + text


def insert_prose(case: Case, text: str, dice: random.Random) -> str:
    place = dice.randrange(len(text) + 1)
    return (
        text[:place]
        + dice.choice(["", " ", "\n"])
        + dice.choice(PROSE)
        + dice.choice(["", " ", "\n"])
        + text[place:]
    )


def insert_invisible(case: Case, text: str, dice: random.Random) -> str:
    place = dice.randrange(len(text) + 1)
    return text[:place] + dice.choice(INVISIBLE) + text[place:]


def drop_brackets(case: Case, text: str, dice: random.Random) -> str:
    sign = dice.choice('[]{}()*`:"')
    return text.replace(sign, "", dice.choice([1, -1]))


def swap_quotes(case: Case, text: str, dice: random.Random) -> str:
    return text.translate(str.maketrans("\"'", "'\""))


def drop_outside(case: Case, text: str, dice: random.Random) -> str:
    place = _before_core(case, text, dice)
    return text[: place - 1] + text[place:] if place else text


def join_lines(case: Case, text: str, dice: random.Random) -> str:
    return text.replace("\n", dice.choice(["", " ", "\r", "\r\n", "\\n"]))


def quote_lines(case: Case, text: str, dice: random.Random) -> str:
    mark = dice.choice(["> ", "- ", "    ", '"'])
    return "\n".join(mark + line for line in text.split("\n"))


def fence(case: Case, text: str, dice: random.Random) -> str:
    return f"```{dice.choice(['', 'json', 'text'])}\n{text}\n```"


def reverse_lines(case: Case, text: str, dice: random.Random) -> str:
    return "\n".join(reversed(text.split("\n")))


CUTS: tuple[Mutation, ...] = (truncate, behead)
DAMAGE: tuple[Mutation, ...] = (
    double,
    change_case,
    look_alike,
    all_look_alike,
    insert_prose,
    insert_invisible,
    drop_brackets,
    swap_quotes,
    drop_outside,
    join_lines,
    quote_lines,
    fence,
    reverse_lines,
)
OTHERS: tuple[Mutation, ...] = (insert_other, append_other, prepend_other)
MUTATIONS = CUTS + DAMAGE + OTHERS


def mutated(case: Case, dice: random.Random) -> str:
    """Return the reply of a case, damaged up to three times, or with other verdicts in or around
    it.

    Not both, and not cut at both ends: damage that removes the verdict and leaves another whole is
    a reply with another verdict.
    """
    damage = dice.choice([dice.sample(DAMAGE, 2), [dice.choice(CUTS), *dice.sample(DAMAGE, 2)]])
    others = dice.choice(
        [[insert_other], [append_other], [prepend_other], [prepend_other, append_other]]
    )
    text = case.text
    for mutation in dice.choice([damage[: dice.choice([1, 2, 3])], others]):
        text = mutation(case, text, dice)
    return text


def _before_core(case: Case, text: str, dice: random.Random) -> int:
    """Return a place before the last characters that say the verdict; 0 where they are gone."""
    return dice.randrange(max(text.rfind(case.core), 0) + 1)
