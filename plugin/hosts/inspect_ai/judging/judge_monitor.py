"""Stop a run early if its judge cannot judge.

It cannot if no reply is parsed, one position always wins, or different responses always tie.

A judge is looked at after `FIRST_LOOK` judgments, and whenever their number has doubled.
"""

from typing import TYPE_CHECKING, NamedTuple

import anyio

from podium.hosts.inspect_ai.judging.call_control import SHUTDOWN_TIMEOUT, JudgeStoppedError
from podium.scorers.judging import excerpt_of

if TYPE_CHECKING:
    from podium.notices.notice import Notice

FIRST_LOOK = 20
"""Number of judgments after which a judge is looked at first."""
LEVEL = 0.001
"""Largest p-value at which a position that always wins is beyond chance.

The test is exact and two-sided: of n verdicts that are no ties, all are for one position with
probability 2^(1-n) if the position decides nothing. At least 11 such verdicts are needed. A judge
of which either position has won once is not tested again, so that few looks are made, and a judge
that the order does not decide is stopped in fewer than one of 1,000 runs.
"""
LEAST_TIED_BATTLES = 20
"""A judge that has only tied is stopped after the judgments of so many battles, on
`LEAST_TIED_ITEMS` items or more.

All are of different responses. A judge that ties 70% of such battles is stopped in fewer than one
of 1,000 runs (0.7^20 = 0.0008).
"""
LEAST_TIED_ITEMS = 10
"""The battles of one item may tie together, for example if its question has one right answer. A
judge that ties all battles of half of the items is stopped in one of 1,000 runs (0.5^10)."""
SHOWN_REPLIES = 2
"""Number of the judge's replies that a message quotes."""


class JudgedReply(NamedTuple):
    """What is known of a judgment that was made.

    Attributes:
        text: the judge's reply, or its server's words if it has none.
        is_parsed: whether it has a verdict.
        outcome: what the response shown first earned, 1, 0.5 or 0; of a pointwise judge, what the
            first model's response earned. None if that is not known.
        is_of_equals: whether both responses are the same text, so that a tie is right.
        item: id of the item.
    """

    text: str
    is_parsed: bool
    outcome: float | None = None
    is_of_equals: bool = False
    item: str = ""


class JudgeMonitor:
    """Lets a judge make judgments until it is found that it cannot judge.

    Until it is known that it can, no more judgments are begun than are needed for the next look. It
    is known when a response has won or, if `tests_position`, when both positions have won.

    Args:
        judge: name of the judge in the message.
        tests_position: whether the design shows either response first, so that no position should
            always win.
        judgments: number of judgments of a battle by this judge.
        is_on: whether the judge is looked at (`on_bad_judge=stop`).
        ends_run: whether the first refused judgment ends the run. Later ones then wait
            `SHUTDOWN_TIMEOUT` seconds before they are refused.
        gives_fine_grades: whether no realization is finer (`FINEST_REALIZATIONS`).
        is_asked_for_text: whether the first call asks for text, though JSON could be asked for.
    """

    def __init__(
        self,
        judge: str,
        *,
        tests_position: bool,
        judgments: int,
        is_on: bool,
        ends_run: bool = False,
        gives_fine_grades: bool = False,
        is_asked_for_text: bool = False,
    ) -> None:
        self.judge = judge
        self.gives_fine_grades = gives_fine_grades
        self.is_asked_for_text = is_asked_for_text
        self.tests_position = tests_position
        self._ties_to_stop = LEAST_TIED_BATTLES * judgments
        self._ends_run = ends_run
        self._is_settled = not is_on
        self._refusal: JudgeStoppedError | None = None
        self._has_refused = False
        self._next_look = FIRST_LOOK
        # A judgment takes a permit when it begins, and returns it if it fails.
        self._permits = anyio.Semaphore(FIRST_LOOK)
        self._done = 0
        self._is_parsed = False
        # Numbers of verdicts for the response shown first, and for the other.
        self._wins = [0, 0]
        self._ties = 0
        self._tied_items: set[str] = set()
        self._replies: list[str] = []

    async def begin(self, *, waits: bool = True) -> None:
        """Begin a judgment, as soon as one may be begun.

        Args:
            waits: whether the judgment waits. One that comes into a provider's batch must not.

        Raises:
            JudgeStoppedError: the judge cannot judge.
        """
        if not self._is_settled and waits:
            await self._permits.acquire()
            if self._is_settled:
                # Let the next waiting judgment go on, too.
                self._permits.release()
        if self._refusal is None:
            return
        if self._ends_run and self._has_refused:
            await anyio.sleep(SHUTDOWN_TIMEOUT)
        self._has_refused = True
        raise self._refusal.copy()

    def end(self, reply: JudgedReply | None) -> None:
        """End a judgment, and look at the judge if it is time.

        Args:
            reply: what the judge replied; None if its call failed, so that it does not count.
        """
        if self._is_settled:
            return
        if reply is None:
            self._permits.release()
            return
        self._done += 1
        self._is_parsed |= reply.is_parsed
        self._replies.append(excerpt_of(reply.text))
        if reply.outcome == 0.5:
            self._count_tie(reply)
        elif reply.outcome is not None:
            position = 0 if reply.outcome > 0.5 else 1
            self._wins[position] += 1
        if all(self._wins) or (any(self._wins) and not self.tests_position):
            self._settle(None)
        elif self._done >= self._next_look:
            self._look()

    def _count_tie(self, reply: JudgedReply) -> None:
        """Count a tie, unless both responses are the same text."""
        if not reply.is_of_equals:
            self._ties += 1
            self._tied_items.add(reply.item)

    def _look(self) -> None:
        """Stop the judge if it cannot judge, else let it make as many judgments again.

        It cannot if no reply so far was parsed; if the response in one position won all decided
        judgments, and they are so many that chance does not explain it (two-sided sign test); or if
        nothing was decided, and the ties are of enough battles and items.
        """
        # Imported here because Inspect's registry loads this file even if nothing is judged.
        from podium.notices.notice import Notice

        decided = sum(self._wins)
        # Different replies say more than the same one again. If all are the same, it is repeated.
        different_first = [*dict.fromkeys(self._replies), *self._replies]
        replies = [f"“{text}”" for text in different_first[:SHOWN_REPLIES]]
        fields = {"judge": self.judge, "judgments": self._done, "replies": replies}
        if not self._is_parsed:
            code = "judge-unparsed-text" if self.is_asked_for_text else "judge-unparsed"
            self._settle(Notice(code, fields))
        elif self.tests_position and 2 * 0.5**decided <= LEVEL:
            position = "first" if self._wins[0] else "second"
            fields |= {"decided": decided, "position": position}
            self._settle(Notice("judge-of-position", fields))
        elif not decided and self._has_enough_ties():
            code = "judge-of-fine-ties" if self.gives_fine_grades else "judge-of-ties"
            self._settle(Notice(code, fields | {"ties": self._ties}))
        else:
            for _ in range(self._next_look):
                self._permits.release()
            self._next_look *= 2

    def _has_enough_ties(self) -> bool:
        """Return whether the ties are of enough battles and items for the judge to be stopped.

        Enough are `LEAST_TIED_BATTLES` and `LEAST_TIED_ITEMS`; ties of equal texts do not count.
        """
        has_battles = self._ties >= self._ties_to_stop
        return has_battles and len(self._tied_items) >= LEAST_TIED_ITEMS

    def _settle(self, finding: "Notice | None") -> None:
        """Let the judge make all further judgments, or none if there is a finding.

        Nothing is tested from now on, and a judgment that waits goes on.
        """
        self._is_settled = True
        if finding is not None:
            self._refusal = JudgeStoppedError(finding=finding)
        self._permits.release()
