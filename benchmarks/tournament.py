"""A round robin inside Inspect: CPU per battle, memory and call rate, compared with bare Inspect.

    python benchmarks/tournament.py                    # about ten minutes
    python benchmarks/tournament.py --small            # half a minute
    python benchmarks/tournament.py --rounds 5         # only CPU per call compared with bare
                                                       # Inspect, five times
    python benchmarks/tournament.py --rounds 5 --http  # the same with a judge behind HTTP
    python benchmarks/tournament.py --huge             # 100,000 battles in packs as well
    python benchmarks/tournament.py --once single      # print the CPU seconds of one run
    python benchmarks/tournament.py --build            # build the task of a large round robin
    python benchmarks/tournament.py --markdown

Bare Inspect runs as many samples, with the same texts in them, whose solver makes the same two
calls at once and whose scorer compares a letter. Both run in a fresh process with Inspect's
defaults; imports are not counted. In the first table an instant judge answers within the process;
podium's own cost is the difference from bare Inspect. In the second a judge behind HTTP answers
after 100 ms, to 32 connections, and the rate is computed from the judge's own log, from the first
call to the last answer. One core makes all calls, so CPU per call limits the rate, also in bare
Inspect.
"""

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from tables import machine, show

STAND_IN = Path(__file__).parents[1] / "tests" / "hosts"
MODELS, PAIRS = 5, 10
GOAL_PACKED, GOAL_SINGLE = 0.8, 1.2
SPARED = (("log_realtime", False), ("score_display", False), ("log_model_api", False))
"""What `podium inspect` sets."""
GOAL_MS, GOAL_SHARE, GOAL_MIB = 12.0, 0.85, 1024
LATENCY, CONNECTIONS = 0.1, 32
TINY, SMALL, LARGE, HUGE, SERVED = 100, 2_000, 10_000, 100_000, 1_600
INSTANT, HTTP = "instant/judge", "openai-api/standin/fair"
SINGLE = (("pack", False),)
LENGTH = 800
"""Characters of a response."""
MOST_MODELS, MOST_ITEMS = 100, 500
"""Size of the round robin of `--build`, which has 2,475,000 battles."""
GOAL_BUILD_SECONDS, GOAL_BUILD_MIB = 10.0, 500


@dataclass(frozen=True, slots=True)
class Plan:
    """The run of one process.

    Attributes:
        name: for humans.
        battles: how many.
        judge: its full name.
        bare: without podium.
        task: arguments of the task.
        run: arguments of Inspect.
    """

    name: str
    battles: int
    judge: str
    bare: bool = False
    task: tuple[tuple[str, Any], ...] = ()
    run: tuple[tuple[str, Any], ...] = ()


ONCE = {
    "bare": Plan("bare Inspect", SMALL, INSTANT, bare=True),
    "bare-spared": Plan("bare Inspect, less logged", SMALL, INSTANT, bare=True, run=SPARED),
    "single": Plan("podium, pack=false", SMALL, INSTANT, task=SINGLE),
    "spared": Plan("podium inspect, pack=false", SMALL, INSTANT, task=SINGLE, run=SPARED),
    "packed": Plan("podium, pack=true", SMALL, INSTANT, task=(("pack", True),)),
}
"""The runs of `--once`, by name."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a run.

    Attributes:
        cpu, wall: seconds.
        peak: memory of the process, MiB.
        log: size of the log, MiB.
    """

    cpu: float
    wall: float
    peak: float
    log: float


def main() -> None:
    """Run both parts and print a table each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="some hundred battles only")
    parser.add_argument(
        "--rounds", type=int, help=f"CPU per call alone: {SMALL:,} battles, so often in turn"
    )
    parser.add_argument("--battles", type=int, default=SMALL, help="of --rounds and --once")
    parser.add_argument("--http", action="store_true", help="--rounds with a judge behind HTTP")
    parser.add_argument(
        "--once", choices=ONCE, help="print the CPU seconds of one run, for speed.py"
    )
    parser.add_argument("--build", action="store_true", help="only build a large task")
    parser.add_argument("--huge", action="store_true", help=f"also {HUGE:,} battles in packs")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    if arguments.once:
        print(measured(replace(ONCE[arguments.once], battles=arguments.battles)).cpu)
        return
    import inspect_ai

    print(machine(f"inspect-ai {inspect_ai.__version__}"))
    if arguments.build:
        cost_of_building(markdown=arguments.markdown)
        return
    if arguments.rounds:
        with served_judge() if arguments.http else nullcontext():
            judge = HTTP if arguments.http else INSTANT
            times_bare(arguments.battles, arguments.rounds, judge, markdown=arguments.markdown)
        return
    sizes = [TINY] if arguments.small else [SMALL, LARGE]
    plans = [plan for battles in sizes for plan in instantly(battles)]
    plans += [Plan("podium, pack=true", HUGE, INSTANT, task=(("pack", True),))] * arguments.huge
    own_cost(plans, markdown=arguments.markdown)
    call_rate(served(TINY if arguments.small else SERVED), markdown=arguments.markdown)


def instantly(battles: int) -> list[Plan]:
    """Return the runs that are compared with an instant judge."""
    return [
        Plan("bare Inspect", battles, INSTANT, bare=True),
        Plan("podium", battles, INSTANT, task=SINGLE),
        Plan("podium, cache=false", battles, INSTANT, task=(*SINGLE, ("cache", False))),
        Plan(
            "podium, --no-log-realtime",
            battles,
            INSTANT,
            task=SINGLE,
            run=(("log_realtime", False),),
        ),
        Plan("podium, pack=true", battles, INSTANT, task=(("pack", True),)),
    ]


def served(battles: int) -> list[Plan]:
    """Return the runs that are compared with a judge behind HTTP."""
    connections = (("max_connections", CONNECTIONS),)
    return [
        Plan("bare Inspect", battles, HTTP, bare=True, run=connections),
        Plan("podium", battles, HTTP, task=SINGLE, run=connections),
        Plan(
            "podium, --no-log-realtime",
            battles,
            HTTP,
            task=SINGLE,
            run=(*connections, ("log_realtime", False)),
        ),
        Plan("podium, pack=true", battles, HTTP, task=(("pack", True),), run=connections),
    ]


def times_bare(battles: int, rounds: int, judge: str, *, markdown: bool) -> None:
    """Measure CPU per call (user and system) of runs, each while bare Inspect runs on the same
    machine."""
    packed, connections = (("pack", True),), (("max_connections", CONNECTIONS),)
    spared = (*connections, *SPARED)
    bare = Plan("bare Inspect", battles, judge, bare=True, run=connections)
    plans = [
        (Plan("podium, pack=false", battles, judge, task=SINGLE, run=connections), GOAL_SINGLE),
        (Plan("podium inspect, pack=false", battles, judge, task=SINGLE, run=spared), GOAL_SINGLE),
        (Plan("podium, pack=true", battles, judge, task=packed, run=connections), GOAL_PACKED),
        (Plan("podium inspect, pack=true", battles, judge, task=packed, run=spared), GOAL_PACKED),
    ]
    costs: list[list[tuple[float, float]]] = [[] for _ in plans]
    for _ in range(rounds):
        for (plan, _), own in zip(plans, costs, strict=True):
            both = measured_together(bare, plan)
            own.append((1000 * both[0].cpu / (2 * battles), 1000 * both[1].cpu / (2 * battles)))
            print(
                f"{plan.name}: {own[-1][1]:.2f} ms per call, bare at the same time "
                f"{own[-1][0]:.2f}",
                flush=True,
            )
    rows = []
    for (plan, goal), own in zip(plans, costs, strict=True):
        ratios = [cost / beside for beside, cost in own]
        ratio, spread = median(ratios), f"{min(ratios):.2f} to {max(ratios):.2f}"
        each = [f"{median(cost):.2f}" for cost in zip(*own, strict=True)]
        rows.append(
            [
                plan.name,
                f"{2 * battles:,}",
                *each,
                f"{ratio:.2f}",
                spread,
                f"<= {goal:g}",
                _met(ratio <= goal),
            ]
        )
    header = [
        "run",
        "calls",
        "bare, CPU ms per call",
        "CPU ms per call",
        "times bare",
        f"in {rounds} turns",
        "goal",
        "met",
    ]
    show(
        f"CPU of a judge call compared with bare Inspect, {judge}", header, rows, markdown=markdown
    )


def cost_of_building(*, markdown: bool) -> None:
    """Measure CPU and memory of building the task of a large round robin, in a fresh process."""
    [cost] = processes([(built, ())])
    battles = MOST_MODELS * (MOST_MODELS - 1) // 2 * MOST_ITEMS
    is_met = cost.cpu <= GOAL_BUILD_SECONDS and cost.peak <= GOAL_BUILD_MIB
    row = [
        f"{MOST_MODELS} models, {MOST_ITEMS} items",
        f"{battles:,}",
        f"{cost.cpu:.1f}",
        f"{cost.peak:,.0f}",
        f"<= {GOAL_BUILD_SECONDS:g} s, {GOAL_BUILD_MIB} MiB",
        _met(is_met),
    ]
    header = ["round robin", "battles", "CPU s", "peak MiB", "goal", "met"]
    show("Building a task", header, [row], markdown=markdown)


def built(sender: Connection) -> None:
    """Send the cost of building the task of a large round robin."""
    with own_place(MOST_MODELS, MOST_ITEMS) as responses:
        make = tournament(ONCE["single"], responses)
        start, used = time.perf_counter(), time.process_time()
        with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
            make()
        cpu, wall = time.process_time() - used, time.perf_counter() - start
        sender.send(Cost(cpu, wall, peak_memory(), 0.0))


def own_cost(plans: Sequence[Plan], *, markdown: bool) -> None:
    """Measure the CPU cost of runs with an instant judge."""
    rows, bare = [], {}
    for plan in plans:
        cost = measured(plan)
        per_battle = 1000 * cost.cpu / plan.battles
        own = per_battle - bare[plan.battles] if plan.battles in bare else None
        if plan.bare:
            bare[plan.battles] = per_battle
        figures = (f"{per_battle:.2f}", "" if own is None else f"{own:+.2f}", f"{cost.wall:.1f}")
        sizes = (f"{cost.peak:,.0f}", f"{cost.log:.1f}")
        rows.append(
            [plan.name, f"{plan.battles:,}", *figures, *sizes, *_cost_goal(plan, own, cost)]
        )
    header = [
        "run",
        "battles",
        "CPU ms per battle",
        "podium's own",
        "wall s",
        "peak MiB",
        "log MiB",
        "goal",
        "met",
    ]
    show("Cost of a battle, with an instant judge", header, rows, markdown=markdown)


def _cost_goal(plan: Plan, own: float | None, cost: Cost) -> tuple[str, str]:
    """Return the goal of a run, and whether it was met."""
    if plan.battles == HUGE:
        return f"peak <= {GOAL_MIB} MiB", _met(cost.peak <= GOAL_MIB)
    if plan.name == "podium" and own is not None:
        return f"own <= {GOAL_MS:g} ms", _met(own <= GOAL_MS)
    return "", ""


def _met(reached: bool) -> str:
    return "yes" if reached else "NO"


def call_rate(plans: Sequence[Plan], *, markdown: bool) -> None:
    """Measure the call rate, as a share of the rate that the judge could answer."""
    rows, bare = [], None
    for plan in plans:
        with served_judge() as server:
            cost = measured(plan)
            calls = server.calls()
        rate = len(calls) / (max(call.ended for call in calls) - min(call.begun for call in calls))
        bare = rate if plan.bare else bare
        share = rate / (CONNECTIONS / LATENCY)
        beside = f"{rate / bare:.0%}" if bare else ""
        figures = (
            f"{len(calls):,}",
            f"{rate:.0f}",
            f"{share:.0%}",
            beside,
            f"{1000 * cost.cpu / len(calls):.2f}",
        )
        goal = (
            (f">= {GOAL_SHARE:.0%} of the ideal", _met(share >= GOAL_SHARE))
            if plan.name == "podium"
            else ("", "")
        )
        rows.append([plan.name, *figures, *goal])
    title = f"Calls of a judge with {1000 * LATENCY:.0f} ms latency, {CONNECTIONS} connections"
    header = [
        "run",
        "calls",
        "calls per s",
        "of the ideal",
        "of bare Inspect",
        "CPU ms per call",
        "goal",
        "met",
    ]
    show(title, header, rows, markdown=markdown)


@contextmanager
def served_judge() -> Iterator[Any]:
    """Serve a judge on this machine that answers after `LATENCY` seconds."""
    sys.path.insert(0, str(STAND_IN))
    from stand_in import stand_in

    with stand_in() as server:
        server.script(latency=LATENCY)
        os.environ.update(STANDIN_BASE_URL=f"{server.address}/v1", STANDIN_API_KEY="none")
        yield server


def measured(plan: Plan) -> Cost:
    """Run in a fresh process."""
    return measured_together(plan)[0]


def measured_together(*plans: Plan) -> list[Cost]:
    """Run at the same time, each in a fresh process."""
    return processes([(spent, (plan,)) for plan in plans])


def processes(works: Sequence[tuple[Callable[..., None], tuple[Any, ...]]]) -> list[Cost]:
    """Run functions at the same time, each in a fresh process; return the costs that they send.

    Args:
        works: each function, and its arguments before the last one, which is a `Connection`.
    """
    context = multiprocessing.get_context("spawn")
    running = []
    for function, arguments in works:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=function, args=(*arguments, sender))
        process.start()
        sender.close()  # so that a run that dies ends the wait instead of lasting for ever
        running.append((process, receiver))
    costs = [receiver.recv() for _, receiver in running]
    for process, _ in running:
        process.join()
    return costs


def spent(plan: Plan, sender: Connection) -> None:
    """Send the cost of a run; a failed run sends nothing."""
    with own_place(MODELS, plan.battles // PAIRS) as responses:
        from inspect_ai import eval

        instant()
        make = bare(plan) if plan.bare else tournament(plan, responses)
        start, used = time.perf_counter(), time.process_time()
        with (
            Path(os.devnull).open("w") as nowhere,
            redirect_stdout(nowhere),
            redirect_stderr(nowhere),
        ):
            [log] = eval(
                make(),
                model_roles={"judge": plan.judge},
                display="none",
                log_dir="logs",
                **dict(plan.run),
            )
        cpu, wall = time.process_time() - used, time.perf_counter() - start
        if (
            log.status != "success"
            or not log.results
            or log.results.completed_samples != log.results.total_samples
        ):
            raise SystemExit(f"{plan.name}: the run failed: {log.error}")
        size = Path(log.location.removeprefix("file://")).stat().st_size / 2**20
        sender.send(Cost(cpu, wall, peak_memory(), size))


def peak_memory() -> float:
    """Return the largest memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def own_place(models: int, items: int) -> Iterator[Path]:
    """Work in a new folder with the responses in it; give their folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update(INSPECT_CACHE_DIR=f"{folder}/cache", XDG_DATA_HOME=f"{folder}/data")
        responses = Path(folder, "responses")
        responses.mkdir()
        for name in names(models):
            rows = [
                {
                    "id": f"q{k}",
                    "instruction": f"Do {k}.",
                    "response": response(k, name),
                    "model": name,
                }
                for k in range(items)
            ]
            (responses / f"{name}.jsonl").write_text(
                "".join(json.dumps(row) + "\n" for row in rows)
            )
        yield responses


def names(models: int) -> list[str]:
    """Return the names of some models."""
    return [f"model-{k}" for k in range(models)]


def response(item: int, name: str) -> str:
    """Return a response that contains the quality mark which the judge reads."""
    quality = (item * 7 + sum(map(ord, name)) * 13) % 101 / 101
    opening = f"[q{item} by {name}: quality={quality:.3f}] "
    return (opening + f"{name} says something about {item}. " * LENGTH)[:LENGTH]


def instant() -> None:
    """Register a judge that answers within the process, at once, by a hash of the prompt, with
    probabilities."""
    from inspect_ai.model import (
        Logprob,
        Logprobs,
        ModelAPI,
        ModelOutput,
        ModelUsage,
        TopLogprob,
        modelapi,
    )

    def logprobs_of(letter: str, prompt: str) -> Logprobs:
        """Return probabilities of both letters that differ from prompt to prompt.

        Replies that are equal in all parts would be read once for all battles, as in no real run.
        """
        chosen = -0.2 - hash(prompt) % 100_000 / 1e6
        tops = [
            TopLogprob(token=letter, logprob=chosen),
            TopLogprob(token="AB"[letter == "A"], logprob=-1.8),
        ]
        return Logprobs(content=[Logprob(token=letter, logprob=chosen, top_logprobs=tops)])

    @modelapi(name="instant")
    class Instant(ModelAPI):
        async def generate(
            self,
            input: Any,
            tools: Any,  # noqa: ARG002
            tool_choice: Any,  # noqa: ARG002
            config: Any,  # noqa: ARG002
        ) -> ModelOutput:
            prompt = input[-1].text
            letter = "AB"[hash(prompt) % 2]
            output = ModelOutput.from_content("instant/judge", letter)
            output.usage = ModelUsage(input_tokens=400, output_tokens=1, total_tokens=401)
            output.choices[0].logprobs = logprobs_of(letter, prompt)
            return output


def tournament(plan: Plan, responses: Path) -> Callable[[], Any]:
    """Return podium's task."""
    from podium.hosts.inspect_ai.tasks import round_robin
    from podium.hosts.inspect_ai.tournament import tournament_task  # noqa: F401 - imports are not counted

    return lambda: round_robin(responses=str(responses), **dict(plan.task))


def bare(plan: Plan) -> Callable[[], Any]:
    """Return a task of plain Inspect with the same calls."""
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.scorer import Score, accuracy, scorer
    from inspect_ai.solver import solver
    from inspect_ai.util import collect

    @solver
    def twice() -> Any:
        async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001
            model, config = get_model(role="judge"), GenerateConfig(logprobs=True, top_logprobs=5)
            own = state.metadata
            shown = [f"{own[one]}\n\n{own[other]}" for one, other in (("a", "b"), ("b", "a"))]
            replies = await collect(
                *[model.generate(f"{state.input_text}\n\n{text}", config=config) for text in shown]
            )
            state.store.set("replies", [reply.completion for reply in replies])
            state.completed = True
            return state

        return solve

    @scorer(metrics=[accuracy()])
    def letter() -> Any:
        async def score(state: Any, target: Any) -> Score:  # noqa: ARG001
            return Score(value=float(state.store.get("replies")[0] == "A"))

        return score

    models = names(MODELS)
    pairs = [(a, b) for k, a in enumerate(models) for b in models[k + 1 :]]
    samples = [
        Sample(
            id=f"q{k}::{a}::{b}",
            input=f"Do {k}.",
            metadata={"a": response(k, a), "b": response(k, b)},
        )
        for k in range(plan.battles // PAIRS)
        for a, b in pairs
    ]
    return lambda: Task(dataset=samples, solver=twice(), scorer=letter(), model="none/none")


if __name__ == "__main__":
    main()
