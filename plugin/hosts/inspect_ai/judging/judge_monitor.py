"""Stop a run early if its judge cannot judge: no reply is parsed, or one position always wins.

A judge is looked at after `FIRST_LOOK` judgments, and whenever their number has doubled.
"""

from typing import TYPE_CHECKING, NamedTuple

import anyio

from podium.hosts.inspect_ai.judging.call_control import SHUTDOWN_TIMEOUT, JudgeStoppedError
from podium.hosts.inspect_ai.logs.podium_entries import BAD_JUDGE
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
SHOWN_REPLIES = 2
"""So many of the judge's replies are shown."""


class JudgedReply(NamedTuple):
    """What is known of a judgment that was made.

    Attributes:
        text: the judge's reply, or its server's words if it has none.
        is_parsed: whether it has a verdict.
        outcome: what the response shown first earned, 1, 0.5 or 0; None if that is not known, or
            if the design does not show either response first.
    """

    text: str
    is_parsed: bool
    outcome: float | None = None


class JudgeMonitor:
    """Lets a judge make judgments until it is found that it cannot judge.

    Until it is known that it can, no more judgments are begun than are needed for the next look. It
    is known when a reply was parsed and, if `tests_position`, both positions have won.

    Args:
        judge: name of the judge in the message.
        tests_position: whether the design shows either response first, so that no position should
            always win.
        is_on: whether the judge is looked at (`on_bad_judge=stop`).
        ends_run: whether the first error ends the run; see `CircuitBreaker`.
    """

    def __init__(
        self, judge: str, *, tests_position: bool, is_on: bool, ends_run: bool = False
    ) -> None:
        self.judge = judge
        self.tests_position = tests_position
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
        raise self._refusal

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
        if reply.outcome is not None and reply.outcome != 0.5:
            self._wins[reply.outcome < 0.5] += 1
        if self._is_parsed and (all(self._wins) or not self.tests_position):
            self._settle(None)
        elif self._done >= self._next_look:
            self._look()

    def _look(self) -> None:
        """Stop the judge if it cannot judge, else let it make as many judgments again."""
        # Imported here because Inspect's registry loads this file even if nothing is judged.
        from podium.notices.notice import Notice

        decided = sum(self._wins)
        # Different replies say more than the same one again.
        different = [*dict.fromkeys(self._replies), *self._replies]
        replies = [f"“{text}”" for text in different[:SHOWN_REPLIES]]
        fields = {"judge": self.judge, "judgments": self._done, "replies": replies}
        if not self._is_parsed:
            self._settle(Notice("judge-unparsed", fields))
        elif self.tests_position and 2 * 0.5**decided <= LEVEL:
            position = "first" if self._wins[0] else "second"
            fields |= {"decided": decided, "position": position}
            self._settle(Notice("judge-of-position", fields))
        else:
            for _ in range(self._next_look):
                self._permits.release()
            self._next_look *= 2

    def _settle(self, finding: "Notice | None") -> None:
        """Let the judge make all further judgments, or none if there is a finding."""
        from podium.notices.notice_text import notice_text

        self._is_settled = True
        if finding is not None:
            self._refusal = JudgeStoppedError(f"{BAD_JUDGE}: {notice_text(finding)}")
        self._permits.release()
