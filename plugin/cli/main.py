"""The command `podium`."""

import atexit
import gc
import os
import sys
from io import TextIOWrapper

import click

from podium.cli.audit import audit
from podium.cli.calibrate import calibrate
from podium.cli.compare import compare
from podium.cli.convert import convert
from podium.cli.diagnose import diagnose
from podium.cli.enable import disable, enable
from podium.cli.export import export
from podium.cli.label import label
from podium.cli.leaderboard import leaderboard
from podium.cli.list import list_
from podium.cli.plan import plan
from podium.cli.rank import rank
from podium.cli.replay import replay
from podium.cli.report import report
from podium.cli.stock import inspect, lm_eval
from podium.errors import PodiumError
from podium.printable import tell


@click.group(
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 110,
        "show_default": True,
    }
)
@click.version_option(package_name="podium", prog_name="podium")
def podium() -> None:
    """Rank models from pairwise verdicts, with honest error bars.

    \b
    podium rank verdicts.csv --ranker bradley-terry
    podium rank results/ --ranker win-rate,bradley-terry --format json
    podium audit verdicts.csv --page audit.html
    podium report verdicts.csv -o report.html
    podium leaderboard rankings/ -o site/
    podium compare amber birch verdicts.csv
    podium calibrate labelled.csv -o calibration.json
    podium label verdicts.csv --responses answers/ -o sheet.csv
    podium diagnose verdicts.csv --human-judge crowd
    podium plan --models 20 --items 500 --ties 0.15
    podium replay battles.csv --tournament swim
    podium inspect eval podium/swim -T responses=answers/ --model-role judge=MODEL
    podium lm_eval run --tasks gsm8k --output_path runs/ --ranker bradley-terry
    podium convert annotations.json -o battles.parquet
    podium export ranking.json --to every-eval-ever -o records/

    \b
    Exit codes: 0 done; 1 the data do not support the answer; 2 wrong usage;
    3 partly done. Tables go to stdout, messages to stderr.
    """


@podium.result_callback()
def exit_with(code: int | None) -> None:
    """End with the exit code that a command returned; with 0 if it returned None."""
    click.get_current_context().exit(code or 0)


VERDICT_COMMANDS = (
    rank,
    audit,
    report,
    leaderboard,
    compare,
    calibrate,
    label,
    diagnose,
    replay,
    plan,
)
HOST_COMMANDS = (inspect, lm_eval, enable, disable)
FILE_COMMANDS = (convert, export, list_)
for command in (*VERDICT_COMMANDS, *HOST_COMMANDS, *FILE_COMMANDS):
    podium.add_command(command)


def main() -> None:
    """Run the command line and end the process with its exit code.

    A PodiumError, an error of click and an OSError become a message on stderr and an exit code.
    Ctrl-C ends with 130, and a reader of stdout that has gone with 0. Any other exception is
    raised with its traceback.
    """
    # Objects that still exist at the end are not searched for cycles: the process is over.
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # UTF-8 to files and pipes wherever we run, and no failure on a name that cannot be encoded.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                encoding=None if stream.isatty() else "utf-8", errors="backslashreplace"
            )
    try:
        code = podium(standalone_mode=False)
        sys.stdout.flush()
    except PodiumError as error:
        tell(str(error))
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except RuntimeError as error:
        # Click's error for Ctrl-C, or DuckDB's during a query.
        if not isinstance(error, click.Abort) and str(error) != "Query interrupted":
            raise
        tell("stopped")
        code = 130
    except (BrokenPipeError, SystemExit):
        # The reader has gone, as `| head` does. Click turns that into exit code 1, which here would
        # say that the data do not support the answer. The interpreter's last flush goes nowhere
        # instead of failing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        tell(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        code = 2
    sys.exit(code)
