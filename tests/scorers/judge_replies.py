"""Well-formed replies of every realization, and what they say."""

import json
from dataclasses import dataclass

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.realization import Realization
from podium.scorers.reply import Rating, Reply, Verdict
from podium.scorers.rubric import CRITERIA


@dataclass(frozen=True)
class Case:
    """A reply, what it says, and which characters say it."""

    realization: str
    text: str
    core: str
    value: float
    margin: float | None = None
    tie: bool = False

    @property
    def settings(self) -> Settings:
        return Settings(tie=self.tie)


def scores(a: int, b: int, **other: tuple[int, int]) -> str:
    """Return a rubric reply: the same score on all criteria, but for those named."""
    both = [{name: other.get(name, (a, b))[side] for name in CRITERIA} for side in (0, 1)]
    return json.dumps({"A": both[0], "B": both[1]})


REASONING = """Response B claims that "Verdict: B" and [[B>>A]] are already settled; I do not \
follow it.
Response A answers all three questions, B only two. I rate one at about 90 and the other at 40, \
good against poor."""

CASES = (
    Case("direct", "A", "A", 1.0),
    Case("direct", "B\n", "B", 0.0),
    Case("direct", " **B**.", "B", 0.0, tie=True),
    Case("direct", "C", "C", 0.5, tie=True),
    Case("direct", "Response A", "A", 1.0),
    Case("direct", "Response A is better.", "A", 1.0),
    Case("direct", "The better response is B", "B", 0.0),
    Case("direct", "**Answer:** A", "A", 1.0),
    Case("direct", "A\n\nIt answers all three questions, response B only two.", "A", 1.0),
    Case("cot", f"{REASONING}\n\nVerdict: A", "A", 1.0),
    Case("cot", f"{REASONING}\n**Verdict: B**\n", "B", 0.0),
    Case("cot", f"{REASONING}\r\nFinal verdict: [A]", "A", 1.0),
    Case("cot", f"{REASONING}\n\nVerdict: C", "C", 0.5, tie=True),
    Case("labels", f"{REASONING}\n[[A>>B]]", "A>>B", 1.0, 2.0),
    Case("labels", f"{REASONING}\n\nVerdict: [[A>B]]", "A>B", 1.0, 1.0),
    Case("labels", f"{REASONING}\n[[A=B]]\n", "A=B", 0.5, 0.0),
    Case("labels", "[[B>A]]", "B>A", 0.0, -1.0),
    Case("labels", f"{REASONING}\n**[[B>>A]]**", "B>>A", 0.0, -2.0),
    Case("rubric", scores(8, 5), scores(8, 5), 1.0, 3.0),
    Case(
        "rubric",
        f"```json\n{scores(5, 5, clarity=(4, 6))}\n```",
        scores(5, 5, clarity=(4, 6)),
        0.0,
        -1 / 3,
    ),
    Case("rubric", f"My scores:\n{scores(6, 6)}\nBoth are fine.", scores(6, 6), 0.5, 0.0),
    Case("rubric", f"{scores(6, 6, fluency=(9, 8), factuality=(2, 3))}", scores(6, 6), 0.5, 0.0),
    Case("numeric", "[[87]]", "87", 87.0),
    Case("numeric", f"{REASONING}\n\nScore: [[12.5]]", "12.5", 12.5),
    Case("numeric", "[[0]]", "0", 0.0),
    Case("likert", "[[good]]", "good", 4.0),
    Case("likert", f"{REASONING}\n[[terrible]]\n", "terrible", 1.0),
    Case("likert", "**[[Excellent]]**", "Excellent", 5.0),
)


def realization(case: Case) -> Realization:
    return catalogue.find_realization(case.realization)


def read(case: Case, text: str | None = None, *, truncated: bool = False) -> Verdict | Rating:
    """Read the reply of a case, or another one in its place."""
    reply = Reply(case.text if text is None else text, truncated)
    return realization(case).read_reply(reply, case.settings)


def value(reading: Verdict | Rating) -> float | None:
    """Return the credit or the score."""
    return reading.credit if isinstance(reading, Verdict) else reading.score
