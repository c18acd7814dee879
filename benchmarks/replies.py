"""Time to read replies of judges, beside one regular expression that takes the last letter or level
without any check.

    python benchmarks/replies.py [--markdown]

The goals: 10,000 replies of 2,000 characters in at most 2 seconds, and any reply of 1 million
characters, whatever it is made of, in at most 0.2 seconds.
"""

import argparse
import re
import sys
import time
from pathlib import Path

from tables import machine, show, timed_in_turn

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.realization import Realization
from podium.scorers.reply import Reply

sys.path.append(str(Path(__file__).parents[1] / "tests" / "scorers"))
from test_speed_of_readers import PIECES

LENGTH, COUNT = 2_000, 1_000
LARGE = 1_000_000
SCORES = (
    '{"adherence": 7, "helpfulness": 8, "factuality": 6, "completeness": 7, "clarity": 8, '
    '"fluency": 9}'
)
VERDICTS = {
    "direct": "Answer: A",
    "cot": "Verdict: A",
    "labels": "[[A>B]]",
    "numeric": "[[85]]",
    "likert": "[[good]]",
    "rubric": f'{{"A": {SCORES}, "B": {SCORES}}}',
}
REASONS = (
    'Response A names all three causes and gives a source for each. It says that "rates fell in '
    '2019", which the table '
    "shows.\nResponse B is shorter; it names two causes, and its second date isn't right. If the "
    "person wanted an "
    "overview only, B would be better.\n\n"
)
LAST = re.compile(r"(?s).*(\[\[[^\]]+\]\]|\b[ABC]\b|\})")


def main() -> None:
    """Time ordinary replies of each realization, then hostile ones of a million characters."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    print(machine())
    rows = [ordinary(name) for name in VERDICTS]
    show(
        f"10,000 replies of {LENGTH:,} characters, CPU seconds, median (best)",
        ["realization", "podium", "last letter or level"],
        rows,
        markdown=options.markdown,
    )
    slowest = [hostile(name) for name in VERDICTS]
    header = ["realization", "slowest, CPU seconds", "made of"]
    show(f"one reply of {LARGE:,} characters", header, slowest, markdown=options.markdown)


def ordinary(name: str) -> list[str]:
    """Return the row of a realization: seconds for 10,000 replies, each with reasons and a
    verdict."""
    one = catalogue.find_realization(name)
    verdict = VERDICTS[name]
    reasons = (REASONS * 10)[: LENGTH - len(verdict) - 3]
    replies = [Reply(f"{reasons}.\n\n{verdict}") for _ in range(COUNT)]
    works = {
        "podium": lambda: read_all(one, replies),
        "last": lambda: [LAST.match(reply.text) for reply in replies],
    }
    timings = timed_in_turn(works, repeats=5, clock=time.process_time)
    return [name, *(str(timings[work].scaled(10_000 / COUNT)) for work in works)]


def read_all(one: Realization, replies: list[Reply]) -> None:
    """Read all replies; a reply that is not readable would make the benchmark meaningless."""
    for reply in replies:
        if one.read_reply(reply, Settings()).reason:
            raise ValueError(f"not read: {reply.text[-100:]}")


def hostile(name: str) -> list[str]:
    """Return the row of a realization: the slowest of the hostile replies."""
    one, slowest = catalogue.find_realization(name), (0.0, "")
    for piece in PIECES:
        text = piece * (LARGE // len(piece))
        for whole in (text, f"{text}\n\n{VERDICTS[name]}", f"{VERDICTS[name]}\n{text}"):
            start = time.process_time()
            one.read_reply(Reply(whole), Settings())
            slowest = max(slowest, (time.process_time() - start, repr(piece)))
    return [name, f"{slowest[0]:.3f}", slowest[1]]


if __name__ == "__main__":
    main()
