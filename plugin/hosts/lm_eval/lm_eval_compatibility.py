"""All uses of lm-eval's private names. Comments name the public way that was tried instead.

lm-eval is imported only where it is needed, because `lm_eval --help` loads this file.
"""

import argparse
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, TypeVar

# Public way tried: as for `find_run_parser`.
COMMAND_LINE = "lm_eval._cli.harness"
"""The module that defines `HarnessCLI`. podium extends the class when the module is loaded."""
Registered = TypeVar("Registered", bound=Callable[..., Any])


def build_command_line() -> Any:
    """Return lm-eval's command line, a `HarnessCLI`, with its logging set up."""
    # Public way tried: `lm_eval.__main__.cli_evaluate` builds, parses and runs in one call: no
    # option can be added.
    from lm_eval.__main__ import HarnessCLI, setup_logging

    setup_logging()
    return HarnessCLI()


def find_run_parser(cli: Any) -> argparse.ArgumentParser:
    """Return the parser of `lm_eval run`, whose default `func` runs the evaluation.

    Raises:
        LookupError: the parser is not where podium looks for it.
    """
    # Public way tried: none exists. lm-eval 0.4.13 has no plugins, and the entry-point groups
    # after it add no options.
    actions = getattr(getattr(cli, "_parser", None), "_actions", ())
    commands = [
        action.choices for action in actions if isinstance(action, argparse._SubParsersAction)
    ]
    run: argparse.ArgumentParser | None = commands[0].get("run") if commands else None
    if run is None or not callable(run.get_default("func")):
        raise LookupError(
            "lm-eval's command line has no command `run` with a function where podium looks for it"
        )
    return run


def extend_later_command_lines(
    module: Any, extend: Callable[[Any], None], attempt: Callable[..., bool]
) -> None:
    """Replace `HarnessCLI.__init__` so that each new command line of lm-eval is extended.

    Args:
        module: the module that defines `HarnessCLI`.
        extend: extends a command line.
        attempt: calls a function, and returns whether it raised no error.
    """
    # Public way tried: as for `find_run_parser`.
    build = module.HarnessCLI.__init__

    def build_and_extend(cli: Any, *arguments: Any, **named: Any) -> None:
        """Build a command line and extend it; if that fails, build it again as it was."""
        build(cli, *arguments, **named)
        if not attempt(lambda: extend(cli)):
            getattr(cli, "__dict__", {}).clear()
            build(cli, *arguments, **named)

    module.HarnessCLI.__init__ = build_and_extend


@contextmanager
def call_after_evaluation(process: Callable[[dict[str, Any], Any], None]) -> Iterator[None]:
    """Call `process(results, evaluation_tracker)` after each evaluation in the body.

    It is called before results are shown or saved, and only in the process that has the results.
    Samples are logged in each evaluation.
    """
    # Replaces `lm_eval.simple_evaluate`, which `lm_eval run` looks up when it runs. Public way
    # tried: to call it ourselves, which loses the command's own config, table, files and trackers.
    import lm_eval
    from lm_eval.evaluator import simple_evaluate

    def evaluate_and_process(*arguments: Any, **options: Any) -> Any:
        """Evaluate with samples logged, process the results and return them."""
        results = simple_evaluate(*arguments, **{**options, "log_samples": True})
        # If there are several processes, only one of them has the results.
        if results is not None:
            process(results, options.get("evaluation_tracker"))
        return results

    lm_eval.simple_evaluate = evaluate_and_process
    try:
        yield
    finally:
        del lm_eval.simple_evaluate


def write_results(folder: Path, results: Mapping[str, Any], tracker: Any) -> None:
    """Write results and samples into a folder as lm-eval writes them, without its messages.

    Args:
        folder: the folder.
        results: what an evaluation returns, with its samples by task.
        tracker: the `EvaluationTracker` of the run, which knows the model's name and settings.
    """
    # Public way tried: an `EvaluationTracker` of our own, which does not know the model's name.
    from lm_eval.loggers import EvaluationTracker

    samples = {}
    for task, rows in results["samples"].items():
        samples[task] = [dict(row) for row in rows]
    logger = logging.getLogger("lm_eval.loggers.evaluation_tracker")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        writer = EvaluationTracker(output_path=str(folder))
        # This has the model's name and settings. It is copied, as saving results changes it.
        writer.general_config_tracker = copy(tracker.general_config_tracker)
        plain = {name: value for name, value in results.items() if name != "samples"}
        writer.save_results_aggregated(results=plain, samples=samples)
        for task, rows in samples.items():
            writer.save_results_samples(task_name=task, samples=rows)
    finally:
        logger.setLevel(level)


def hash_document(document: Mapping[str, Any]) -> str:
    """Return the hash of a document, as lm-eval's samples store it."""
    # Public way tried: none exists. A filter is given documents without their samples.
    from lm_eval.utils import handle_non_serializable, hash_string

    text = json.dumps(document, indent=2, default=handle_non_serializable, ensure_ascii=False)
    return str(hash_string(text))


def register(kind: str, name: str, **more: Any) -> Callable[[Registered], Registered]:
    """Return a decorator that registers a function or class with lm-eval, and returns it.

    The decorator raises ValueError if another module has registered the name.

    Args:
        kind: `filter`, `metric` or `aggregation`.
        name: the name under which it is registered. The aggregation of a metric has its name.
        **more: further arguments of lm-eval's `register_metric`; ignored for other kinds.
    """
    # Public way tried: lm-eval's `register_...` alone, which raises when a module is imported a
    # second time. Only the registry itself shows which module has registered the name.
    from lm_eval.api import registry

    options = {"metric": name, "aggregation": name, **more} if kind == "metric" else {"name": name}

    def decorate(function: Registered) -> Registered:
        """Register the function and return it. It may be registered again by the same module.

        Raises:
            ValueError: another module has registered the name.
        """
        try:
            getattr(registry, f"register_{kind}")(**options)(function)
        except ValueError:
            owner = getattr(registry, f"{kind}_registry").get(name)
            if getattr(owner, "fn", owner).__module__ != function.__module__:
                raise
        return function

    return decorate
