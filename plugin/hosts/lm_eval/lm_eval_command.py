"""lm-eval's own command, extended by `--ranker`."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import (
    PodiumError,
    UsageError,
    import_failure,
    install_hint,
    is_of_package,
    reject_stream,
)
from podium.hosts.lm_eval.lm_eval_compatibility import (
    build_command_line,
    call_after_evaluation,
    find_run_parser,
)
from podium.hosts.lm_eval.lm_eval_options import (
    add_options,
    is_ours,
    section_of,
    take_options,
    typed_for_judge_in_lm_eval,
    typed_in_lm_eval,
)
from podium.hosts.ranker_options import options_from
from podium.notices.option_forms import typed_as
from podium.printable import exit_code, tell
from podium.storage.temporary_folders import temporary_folder

if TYPE_CHECKING:
    # `lm_eval --help` loads this file, so pandas is not imported here.
    from podium.hosts.lm_eval.ranking_of_run import RunRanking

REMEDY_OF_RANKING = "run lm_eval --log_samples, then podium rank OUTPUT_DIRS --ranker NAME"
"""Remedy of the errors about an lm-eval that podium does not fit."""


def run_lm_eval(arguments: Sequence[str]) -> int:
    """Run `lm_eval` with these arguments, which may include `--ranker`; return its exit code.

    Raises:
        UsageError: lm-eval is not installed, cannot be imported, or is built differently and an
            option `--ranker...` was typed.
    """
    if find_spec("lm_eval") is None:
        raise UsageError(f"lm-eval is not installed: {install_hint('lm-eval')}")
    try:
        cli = build_command_line()
    except Exception as error:
        if not is_of_package(error, "lm_eval"):
            without = "podium rank OUTPUT_DIRS --ranker NAME ranks earlier runs without it"
            raise UsageError(f"{import_failure('lm-eval', error)}; {without}") from None
        raise UsageError(
            f"this lm-eval is too old or too new ({error}): {REMEDY_OF_RANKING}"
        ) from None
    try:
        extend(cli)
    except LookupError as error:
        # If the user gave no such option, lm-eval runs as usual.
        if any(word.startswith("--ranker") for word in arguments):
            raise UsageError(f"{error}: {REMEDY_OF_RANKING}") from None
    before = sys.argv
    sys.argv = ["lm-eval", *arguments]
    try:
        cli.execute(cli.parse_args())
    except SystemExit as end:
        return exit_code(end)
    finally:
        sys.argv = before
    return 0


def extend(cli: Any) -> None:
    """Add `--ranker` and its options to lm-eval's command line, and rank after its runs.

    A second call changes nothing.

    Args:
        cli: a `HarnessCLI`, which is changed in place.

    Raises:
        LookupError: its parser is not where podium looks for it.
    """
    run = find_run_parser(cli)
    execute = run.get_default("func")
    is_extended = isinstance(execute, partial) and execute.func is run_and_rank
    if not is_extended:
        add_options(run)
        run.set_defaults(func=partial(run_and_rank, execute))


@typed_as(typed_in_lm_eval)
def run_and_rank(
    execute: Callable[[argparse.Namespace], None], arguments: argparse.Namespace
) -> None:
    """Run the evaluation as `lm_eval run` does.

    With `--ranker`, models are ranked after the evaluation, before results are shown and saved.

    Args:
        execute: lm-eval's own function, which runs the evaluation.
        arguments: the parsed arguments, from which podium's options are removed in place.

    Raises:
        SystemExit: an option of podium is wrong, or the exit code of the ranking is not 0.
    """
    typed = take_options(arguments)
    with _config_without_section(arguments) as config:
        try:
            values = section_of(config) | typed
            ranking = _prepare_ranking(values, config, arguments) if values else None
        except PodiumError as error:
            tell(str(error))
            sys.exit(error.exit_code)
        if ranking is None:
            execute(arguments)
            return
        form = typed_for_judge_in_lm_eval if ranking.options.judges else typed_in_lm_eval
        with typed_as(form), call_after_evaluation(ranking.rank):
            execute(arguments)
    code = ranking.print_outcome()
    if code:
        sys.exit(code)


def _prepare_ranking(
    values: Mapping[str, Any], config: Mapping[str, Any], arguments: argparse.Namespace
) -> "RunRanking":
    """Check the options before the run, print notes on them, and turn on `--log_samples`.

    A ranking needs the samples. Without an output path, lm-eval saves none, and `--log_samples` is
    left as it is.

    Args:
        values: the options of podium by name in `OPTIONS`, typed or from the section.
        config: the content of the `--config` file.
        arguments: the parsed arguments; `log_samples` is changed in place.

    Returns:
        the object that ranks the run.

    Raises:
        UsageError: an option is not valid, or there will be nothing to rank by.
    """
    from podium.hosts.folder_pin import open_pin
    from podium.hosts.lm_eval.coming_run import check_run
    from podium.hosts.lm_eval.lm_eval_runs import find_other_samples, podium_folder
    from podium.hosts.lm_eval.ranking_of_run import RunRanking
    from podium.plugins.settings import parse_settings

    options = options_from(values)
    settings = parse_settings(options.settings, options.rankers)
    # Arguments on the command line win over the `--config` file.
    typed = dict(config) | {name: value for name, value in vars(arguments).items() if value}
    output_path = typed.get("output_path")
    predict_only = typed.get("predict_only")
    others = find_other_samples(options.against, output_path)
    if options.judges:
        from podium.hosts.inspect_ai.judged_run import check_tournament, quiet_console

        # Inspect would print its version and the names of its hooks.
        with quiet_console():
            check_tournament(options)
    elif predict_only:
        raise UsageError(
            "--predict_only computes no metric to rank by: name a judge with --ranker_judge"
        )
    folder = str(podium_folder(output_path)) if output_path else None
    pin = open_pin(folder, options.pin)
    model = f"{typed.get('model_args')} {typed.get('model')}"
    for note in check_run(options, settings, pin, model, {file.model for file in others}):
        tell(note)
    if output_path:
        arguments.log_samples = True
    return RunRanking(
        options,
        output_path,
        settings,
        keeps_samples=bool(output_path or typed.get("log_samples") or predict_only),
        pin=pin,
    )


@contextmanager
def _config_without_section(arguments: argparse.Namespace) -> Iterator[Mapping[str, Any]]:
    """Yield the content of the `--config` file as a mapping.

    It is empty if there is no such option, or if the file cannot be read or holds no mapping.
    lm-eval rejects podium's keys. If the file has such keys, `arguments.config` is changed in place
    to the path of a copy without them, which exists while the body runs.

    Raises:
        UsageError: the path of the file is a pipe, a socket or a device.
    """
    import yaml

    path = getattr(arguments, "config", None)
    if path:
        reject_stream(Path(path))
    config: Mapping[str, Any] = {}
    # If the file cannot be read, lm-eval itself reports it.
    with suppress(OSError, ValueError, yaml.YAMLError):
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8")) if path else None
        config = content if isinstance(content, Mapping) else {}
    options_of_lm_eval = {name: value for name, value in config.items() if not is_ours(str(name))}
    if len(options_of_lm_eval) == len(config):
        yield config
        return
    with temporary_folder() as folder:
        copy = folder / Path(arguments.config).name
        copy.write_text(yaml.safe_dump(options_of_lm_eval), encoding="utf-8")
        arguments.config = str(copy)
        yield config
