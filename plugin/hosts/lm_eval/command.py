"""lm-eval's own command with `--ranker`: its parser and help, its run, its table and results file.

The path of the results, from the command to the standings in the results file:

1. `main` builds lm-eval's command line; `extend` adds the options to `run` and puts `run_and_rank` in its place (after
   `podium enable`, `hosts.on_start` calls `extend` in lm-eval's own command).
2. `run_and_rank` takes the options out of the arguments; they are checked before anything is run.
3. `_ranking_after_evaluation` lets lm-eval's `simple_evaluate` hand its results to `ranking.RunRanking.rank`.
4. `runs.write_run` writes this run as lm-eval writes it, and `runs.lay_out` lays out the others beside it.
5. `reading.judgments.read_battles` reads them as battles by the metric; with a judge, `tournament.play_tournament`
   plays them in Inspect, and the battles are read from its log.
6. `rank_battles.rank` ranks the battles of each task and group.
7. `ranking` puts scores, errors and the whole ranking into the results.
8. lm-eval saves the results and prints its table; `RunRanking.print_outcome` prints the standings on stderr.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import PodiumError, UsageError, install_hint
from podium.hosts.lm_eval.options import add_options, as_typed_here, is_ours, options_from, section_of, take_options
from podium.printable import tell

if TYPE_CHECKING:
    # `lm_eval --help` needs no tables.
    from podium.hosts.lm_eval.ranking import RunRanking

INSTEAD = "run lm_eval --log_samples, then podium rank OUTPUT_DIRS --ranker NAME"
Execute = Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str]) -> int:
    """Run `lm_eval` with these arguments; return its exit code."""
    try:
        import lm_eval  # noqa: F401
    except ImportError as error:
        raise UsageError(f"lm-eval is not installed ({error}): {install_hint('lm-eval')}") from None
    try:
        from lm_eval.__main__ import HarnessCLI, setup_logging
    except ImportError as error:
        raise UsageError(f"this lm-eval is too old or too new ({error}): {INSTEAD}") from None
    setup_logging()
    before, sys.argv = sys.argv, ["lm-eval", *arguments]
    try:
        cli = HarnessCLI()
        try:
            extend(cli)
        # Not extended, it is still good for all that lm-eval does itself.
        except (AttributeError, KeyError, StopIteration):
            if any(word.startswith("--ranker") for word in arguments):
                raise UsageError(f"this lm-eval's command line is not known to podium: {INSTEAD}") from None
        cli.execute(cli.parse_args())
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = before
    return 0


def extend(cli: Any) -> None:
    """Add `--ranker` and its options to lm-eval's command line, and let its runs honour them; once.

    Args:
        cli: a `HarnessCLI` as lm-eval builds it.

    Raises:
        AttributeError, KeyError, StopIteration: lm-eval's command line is built otherwise than podium knows.
    """
    commands = next(action for action in cli._parser._actions if isinstance(action, argparse._SubParsersAction))
    run = commands.choices["run"]
    if "--ranker" in run._option_string_actions:
        return
    execute = run.get_default("func")
    if not callable(execute):
        raise AttributeError("`lm_eval run` names no function to call")
    add_options(run)
    run.set_defaults(func=lambda arguments: run_and_rank(execute, arguments))


def run_and_rank(execute: Execute, arguments: argparse.Namespace) -> None:
    """Do what `lm_eval run` does; with `--ranker`, rank what was run before it is shown and saved.

    Raises:
        SystemExit: wrong usage (2), found before the run; or the run is done and saved, and could not be ranked (3),
            or the ranking was stopped (130).
    """
    typed = take_options(arguments)
    with _config_without_section(arguments) as config:
        try:
            values = section_of(config) | typed
            ranking = _prepare(values, config, arguments) if values else None
        except PodiumError as error:
            tell(str(error))
            sys.exit(error.exit_code)
        if ranking is None:
            execute(arguments)
            return
        with _ranking_after_evaluation(ranking):
            execute(arguments)
    if code := ranking.print_outcome():
        sys.exit(code)


def _prepare(values: Mapping[str, Any], config: Mapping[str, Any], arguments: argparse.Namespace) -> "RunRanking":
    """Check what is asked for before the run, and turn on what it needs."""
    from podium.hosts.lm_eval.ranking import RunRanking
    from podium.hosts.lm_eval.runs import other_samples
    from podium.plugins.settings import parse_settings

    options = options_from(values)
    try:
        settings = parse_settings(options.settings, options.rankers)
    except UsageError as error:
        raise UsageError(as_typed_here(str(error))) from None
    if options.calibration:
        from podium.nouns.calibration_file import read_calibration

        read_calibration(options.calibration)
    typed = vars(arguments)
    output_path = typed.get("output_path") or config.get("output_path")
    if options.against or not output_path:
        other_samples(options.against, output_path)
    predict_only = typed.get("predict_only") or config.get("predict_only", False)
    if options.judges:
        from podium.hosts.lm_eval.tournament import check_tournament

        check_tournament(options)
    elif predict_only:
        raise UsageError("--predict_only computes no metric to rank by: name a judge with --ranker_judge")
    keeps_samples = output_path or typed.get("log_samples") or config.get("log_samples", False) or predict_only
    if output_path:
        arguments.log_samples = True
    return RunRanking(options, output_path, settings, keeps_samples=bool(keeps_samples))


@contextmanager
def _ranking_after_evaluation(ranking: "RunRanking") -> Iterator[None]:
    """Let lm-eval's `simple_evaluate` rank what it has evaluated; lm-eval looks the name up when it runs."""
    import lm_eval
    from lm_eval.evaluator import simple_evaluate

    def evaluate_and_rank(*arguments: Any, **options: Any) -> Any:
        results = simple_evaluate(*arguments, **{**options, "log_samples": True})
        # Of several processes, one has the results.
        if results is not None:
            ranking.rank(results, options.get("evaluation_tracker"))
        return results

    lm_eval.simple_evaluate = evaluate_and_rank
    try:
        yield
    finally:
        del lm_eval.simple_evaluate


@contextmanager
def _config_without_section(arguments: argparse.Namespace) -> Iterator[Mapping[str, Any]]:
    """Give what the `--config` file holds; lm-eval, which refuses podium's keys, gets a copy without them."""
    import yaml

    path = getattr(arguments, "config", None)
    config: Mapping[str, Any] = {}
    # What cannot be read is nothing here: lm-eval says so better.
    with suppress(OSError, ValueError, yaml.YAMLError):
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8")) if path else None
        config = content if isinstance(content, Mapping) else {}
    theirs = {name: value for name, value in config.items() if not is_ours(str(name))}
    if len(theirs) == len(config):
        yield config
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, Path(arguments.config).name)
        copy.write_text(yaml.safe_dump(theirs), encoding="utf-8")
        arguments.config = str(copy)
        yield config
