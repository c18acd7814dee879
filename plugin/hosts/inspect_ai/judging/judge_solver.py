"""The solver of tournaments, which asks the judges.

Inspect loads this file with every command, and the judging itself only where a judge is asked.
"""

from typing import Any

from inspect_ai.solver import Generate, Solver, TaskState, solver

from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments
from podium.hosts.inspect_ai.judging.call_timeouts import CALL_TIMEOUT
from podium.hosts.inspect_ai.logs.stop_reasons import STOP
from podium.plugins.catalogue import judging_settings


@solver
def judge(
    *,
    cache: bool = True,
    call_timeout: float | None = CALL_TIMEOUT,
    reask: str | None = None,
    asked_before: dict[str, int] | None = None,
    rotating: int = 0,
    **kwargs: Any,
) -> Solver:
    """Ask the judges for every judgment of a sample's battles, and keep the replies.

    Nothing is asked for a sample without battles, or without calls to repeat in its epoch. Failed
    calls are kept as replies. If a sample got no answer at all to its own calls, the first error
    is raised.

    Args:
        cache: whether calls are answered from Inspect's cache.
        call_timeout: seconds that each attempt of a call may take; None for no limit.
        reask: log of an earlier run whose parsed judgments are kept; see `Run`.
        asked_before: number of repeats that were asked for before, by judge; see `Run`.
        rotating: number of the judges that take turns; 0 if all judge every battle.
        kwargs: options of the judge, which the log keeps.

    Raises:
        UsageError: an option is unknown or has an impossible value, `reask` is no log of a
            tournament, or the time limit is not positive.
        DataError: the log `reask` is damaged.
    """
    from podium.hosts.inspect_ai.judging.call_control import JudgeStoppedError
    from podium.hosts.inspect_ai.judging.judge_calls import Run, judge_sample

    options = flatten_arguments(kwargs)
    run = Run(
        judging_settings(**options),
        cache=cache,
        call_timeout=call_timeout,
        reask=reask,
        ends_run=True,
        asked_before=asked_before,
        rotating=rotating,
    )

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        """Ask the judges about one sample, and put their replies, or why the run stops, into its
        store.
        """
        try:
            return await judge_sample(run, state, options)
        except JudgeStoppedError as error:
            # The log's error has a text alone.
            state.store.set(STOP, error.record.to_log())
            raise

    return solve
