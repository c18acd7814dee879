"""Work at the end of a command: errors in it are not taken for the way in which the command
ended."""

import click
import pytest

pytest.importorskip("inspect_ai")

from click.globals import pop_context
from click.testing import CliRunner
from httpx import ConnectError, Request
from inspect_ai.util._anyio import inner_exception

from podium.hosts.inspect_ai.end_of_command import call_at_end, raise_exit_code
from podium.hosts.inspect_ai.judging.call_control import _connection_failed_error


def exit_code_of(job, code):
    """Run a command of a program that asks for a job at its end; return the exit code."""

    @click.group()
    def program():
        """Have commands, as `inspect` has."""

    @program.command("run")
    @click.pass_context
    def run(context):
        call_at_end(job)
        context.exit(code)

    outcome = CliRunner().invoke(program, ["run"])
    # click does not leave its context if a job exits, as the process then ends.
    while click.get_current_context(silent=True) is not None:
        pop_context()
    return outcome.exit_code


@pytest.mark.parametrize("code", [0, 1])
def test_a_command_that_ends_by_an_exception_is_no_cause_of_errors_of_its_jobs(code):
    """`inspect eval-set` ends by `Context.exit`, and Inspect looks for the cause of a group."""
    causes = []

    def job():
        for number in range(20):
            try:
                raise ExceptionGroup("tasks", [ValueError(f"the judge {number} is down")])
            except ExceptionGroup as group:
                causes.append(inner_exception(group))

    assert exit_code_of(job, code) == code
    assert [type(cause) for cause in causes] == [ValueError] * 20


def test_a_job_sets_the_exit_code_of_a_command_that_ended_well():
    assert exit_code_of(lambda: raise_exit_code(3), 0) == 3


@pytest.mark.parametrize("code", [0, 1])
def test_the_reason_why_a_server_was_not_reached_is_that_of_its_error(code):
    """The text of the last cause is shown, which how the command ended is not."""
    reasons = []

    def job():
        try:
            raise ConnectError("no route", request=Request("GET", "http://127.0.0.1:9/v1"))
        except ConnectError as error:
            reasons.append(str(_connection_failed_error(error, None)))

    exit_code_of(job, code)
    assert reasons == ["no route: http://127.0.0.1:9/v1"]
