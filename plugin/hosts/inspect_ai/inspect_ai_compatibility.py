"""All uses of Inspect's private names, and of what differs between its versions.

Comments name the public way that was tried instead. Inspect is imported only where it is needed,
because `inspect --help` loads this file first.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from podium.errors import PodiumError
from podium.printable import printable, tell

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalResults, EvalSample, EvalScore
    from inspect_ai.model import Model, ModelUsage
    from inspect_ai.scorer import Score
    from inspect_ai.viewer import TaskSamplesView, ViewerConfig

# Public way tried: click's context, which exists only once a command runs.
COMMAND_LINE = "inspect_ai._cli.main"
"""The module that defines `main` and the click group `inspect`.

podium extends both as soon as the module is loaded.
"""


def flatten_arguments(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments as they were typed.

    Some versions of Inspect nest them in a further `kwargs` with every replay of a log. Of a name
    that occurs at several levels, the innermost value counts.
    """
    outer = {name: value for name, value in kwargs.items() if name != "kwargs"}
    inner = kwargs.get("kwargs")
    return {**outer, **flatten_arguments(inner)} if isinstance(inner, Mapping) else dict(kwargs)


def score_without_value(
    reason: str,
    explanation: str,
    *,
    answer: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> "Score":
    """Return a score that Inspect leaves out of metrics.

    Args:
        reason: a short code of the reason, such as `scoring_failed`.
        explanation: the reason as a sentence.
        answer: what was scored; None if nothing was.
        metadata: further fields of the score.
    """
    from inspect_ai.scorer import Score

    return Score.unscored(reason=reason, answer=answer, explanation=explanation, metadata=metadata)


def untrusted_viewer(view: "TaskSamplesView") -> "ViewerConfig":
    """Return settings of Inspect's viewer: a list of samples, and contents shown as plain text.

    Inspect 0.3.262 has no such setting for contents, and shows them richly.
    """
    from inspect_ai.viewer import ViewerConfig

    has_trust = "trust_content" in ViewerConfig.model_fields
    more: dict[str, Any] = {"trust_content": False} if has_trust else {}
    return ViewerConfig(task_samples_view=view, **more)


def kept_in_store(sample: "EvalSample", name: str) -> Any:
    """Return what a solver wrote into a sample's store under a name; None if it wrote nothing.

    If the store lacks the name, the last value that the sample's events record counts.

    Args:
        sample: the sample, of a log or of a run.
        name: the key in the store.
    """
    # If a run was killed after a sample ended and before it was written, Inspect restores the
    # sample's events, but not its store.
    if name in sample.store or not sample.events:
        return sample.store.get(name)
    values = []
    for event in sample.events:
        if event.event == "store":
            values += [change.value for change in event.changes if change.path == f"/{name}"]
    if not values:
        return None
    last_value = values[-1]
    return _with_attachments(last_value, sample.attachments)


def _with_attachments(value: Any, attachments: Mapping[str, str]) -> Any:
    """Return a value in which names of attachments are replaced by their texts.

    Values of mappings are replaced at any depth, but not those in lists. The name of an unknown
    attachment stays.
    """
    if isinstance(value, Mapping):
        return {key: _with_attachments(part, attachments) for key, part in value.items()}
    if isinstance(value, str):
        return attachments.get(value.removeprefix("attachment://"), value)
    return value


def headline_score_of(results: "EvalResults") -> tuple[str, str] | None:
    """Return the scorer and the name of the score that the results name as their headline.

    None if they name none: the first score is then the headline. If they name the score but not its
    scorer, the scorer is that of the score of this name. If there is no such score, the scorer is
    given the name of the score.
    """
    headline = results.headline
    if headline is None or headline.score is None:
        return None
    scorers = {score.name: score.scorer for score in results.scores}
    scorer = headline.scorer or scorers.get(headline.score, headline.score)
    return scorer, headline.score


def set_headline(results: "EvalResults", score: "EvalScore", metric: str) -> None:
    """Make a metric of a score the headline of `results`, which Inspect shows in lists of logs."""
    from inspect_ai.log import HeadlineMetric

    results.headline = HeadlineMetric(scorer=score.scorer, score=score.name, metric=metric)


def set_model_roles(roles: "Mapping[str, Any]") -> None:
    """Set the models of roles in this context, as Inspect does when an eval starts."""
    from inspect_ai.model._model import init_model_roles

    init_model_roles(dict(roles))


def has_active_model() -> bool:
    """Return whether Inspect has set a model and its roles for this context."""
    # Public way tried: `model_roles()` is empty before Inspect sets the roles, but also if there
    # are none; `get_model()` creates a model.
    from inspect_ai.model._model import active_model

    return active_model() is not None


def usage_of_run() -> "Mapping[str, ModelUsage]":
    """Return the tokens of all calls of this run and of the runs that it retries, by model."""
    # Public way tried: a log's `stats`, which a source of samples sees only after the run.
    from inspect_ai.model._model import model_usage

    return model_usage()


def count_usage() -> "Mapping[str, ModelUsage]":
    """Return a dictionary to which Inspect adds the tokens of all later calls in this context.

    It is by model, and empty at first. It is for calls outside of an eval.
    """
    # Public way tried: an output's `usage` also counts tokens of replies from Inspect's cache.
    from inspect_ai.model._model import model_usage_context_var

    usage: dict[str, ModelUsage] = {}
    model_usage_context_var.set(usage)
    return usage


def is_registered_task(name: str) -> bool:
    """Return whether an installed package has a task of this name."""
    # Public way tried: `list_tasks` searches folders only.
    from inspect_ai._util.registry import registry_lookup

    return registry_lookup("task", name) is not None


def load_tasks(source: str) -> "list[Task]":
    """Return the tasks that a name or file stands for, as `inspect eval` finds and makes them."""
    # Public way tried: `eval` takes the name, but runs the task.
    from inspect_ai._eval.loader import load_tasks

    return load_tasks([source])


def batch_of(judge: "Model") -> Any:
    """Return how a judge's calls are batched: by its role's setting, or else by `--batch`.

    The value is that of Inspect's setting `batch`: a bool, a number, a `BatchConfig`, or None if
    nobody sets it.
    """
    # Public way tried: the `GenerateConfig` of the task, which is not used for models of roles.
    from inspect_ai.model._generate_config import active_generate_config

    return active_generate_config().batch if judge.config.batch is None else judge.config.batch


def is_batched(model: "Model", batch: Any) -> bool:
    """Return whether a model's calls wait for a batch of its provider.

    Args:
        model: the model.
        batch: how its calls are batched, as `batch_of` returns it. Inspect ignores this setting
            for providers that have no batches. A provider of another package is taken to have
            them.
    """
    if not batch:
        return False
    is_own = type(model.api).__module__.startswith("inspect_ai.")
    # Public way tried: nothing says which providers have batches. Those that do keep a batcher.
    return not is_own or any("batcher" in name for name in vars(model.api))


class BatchedRequestError(RuntimeError):
    """A provider rejected one request of a batch.

    Attributes:
        status_code: the HTTP status; None if the provider names none.
    """

    def __init__(self, status_code: int | None, message: str) -> None:
        self.status_code = status_code
        super().__init__(message)


@cache
def let_batched_requests_fail_alone() -> None:
    """Let Inspect keep the other replies of a batch when one request fails.

    Inspect's class is changed in place, once per process.

    Inspect 0.3.285 cannot read the line of a rejected request in OpenAI's and Together's results,
    and drops all replies of the batch.
    """
    # Public way tried: there is none; the error is raised in Inspect's own task.
    try:
        from inspect_ai.model._providers._openai_batch import OpenAIBatcher
    except ImportError:
        return
    parse = OpenAIBatcher._parse_jsonl_line

    def parse_or_fail(batcher: Any, line: dict[str, Any]) -> tuple[str, Any]:
        """Return the id and the reply of a request, or its error if it was rejected."""
        try:
            return parse(batcher, line)
        except Exception as error:
            name = str(line.get("custom_id") or "")
            if not name:
                raise
            return name, rejection_error(line) or error

    OpenAIBatcher._parse_jsonl_line = parse_or_fail  # type: ignore[method-assign, assignment]


def rejection_error(line: Mapping[str, Any]) -> BatchedRequestError | None:
    """Return the error in a line of OpenAI's results; None if the line has none.

    The error stands under `error` in the line, or in the body of its `response`. The HTTP status is
    that of the response, else the code of the error if this is a number.
    """
    response = line.get("response") or {}
    body = response.get("body") or {}
    error = line.get("error") or (body.get("error") if isinstance(body, Mapping) else None)
    if not isinstance(error, Mapping):
        return None
    status = response.get("status_code", error.get("code"))
    message = str(error.get("message") or error.get("code"))
    return BatchedRequestError(status if isinstance(status, int) else None, message)


def seconds_of_batch(batch: Any) -> float:
    """Return the seconds that a batch waits before it is sent and before its end is noticed.

    Both waits are added up. A wait that `batch` does not set counts as 15 seconds.

    Args:
        batch: how calls are batched, as `batch_of` returns it.
    """
    # Inspect's defaults, which have private names only: 15 seconds each.
    return sum(getattr(batch, name, None) or 15 for name in ("send_delay", "tick"))


def limits_of_retries(model: "Model") -> tuple[int | None, int | None]:
    """Return the most retries of a model's calls, and the seconds after which none is made.

    Each is None if there is no limit. `--max-retries` and `--timeout` win over the settings of the
    model's role, as in Inspect.
    """
    # Public way tried: the `GenerateConfig` of the task, which is not used for models of roles.
    from inspect_ai.model._generate_config import active_generate_config

    config = model.config.merge(active_generate_config())
    return config.max_retries, config.timeout


def value_of_option(name: str) -> Any:
    """Return the value of an option of the running command, which may be its default.

    None if no command runs, or if it has no such option or value.

    Args:
        name: name of the option's parameter, such as `log_format` for `--log-format`.
    """
    command = click.get_current_context(silent=True)
    return None if command is None else command.params.get(name)


def load_environment(arguments: Sequence[str]) -> None:
    """Set the variables of `.env` and of `--env NAME=VALUE`, as Inspect does when it begins.

    Judges are checked before that, and may need their keys.
    """
    # Public way tried: none; only a command of Inspect loads `.env`.
    with suppress(ImportError):
        from inspect_ai._util.dotenv import init_dotenv

        init_dotenv()
    assignments = [value for option, value in pairwise(arguments) if option == "--env"]
    assignments += [word.removeprefix("--env=") for word in arguments if word.startswith("--env=")]
    for text in assignments:
        name, equals, value = text.partition("=")
        if equals:
            os.environ[name] = value


def typed_metadata() -> dict[str, str]:
    """Return the values of `--metadata NAME=VALUE` of the running command, by name.

    Empty if no command runs.
    """
    words = (str(word).partition("=") for word in value_of_option("metadata") or ())
    return {name: value for name, _, value in words}


@contextmanager
def plain_errors() -> Iterator[None]:
    """Let Inspect print errors of podium in the body without a traceback.

    A PodiumError is raised again in a class that derives from its own and from Inspect's
    `PrerequisiteError`. With `--display none`, where Inspect prints no such error, podium does.
    Other errors are raised as they are.
    """
    # Public way tried: Inspect prints a traceback for every exception but its `PrerequisiteError`.
    try:
        yield
    except PodiumError as error:
        from inspect_ai._util.error import PrerequisiteError
        from rich.markup import escape

        if value_of_option("display") == "none":
            tell(str(error))
        kind = type(
            type(error).__name__,
            (type(error), PrerequisiteError),
            {"__module__": type(error).__module__},
        )
        plain: Exception = Exception.__new__(kind)
        plain.args = error.args
        plain.__dict__.update(error.__dict__, message=escape(printable(f"podium: {error}")))
        raise plain from None


class WithoutFrames:
    """Let Inspect show an error of podium that ends a run by its message, without a traceback.

    It is a context manager. Other errors keep their traceback.
    """

    # Public way tried: every error that ends a task is shown with its frames, also
    # `PrerequisiteError`; a task that is cancelled is shown without the reason. Inspect's panel is
    # written by rich, which leaves out the frames down to one with a variable of this name.

    def __enter__(self) -> None:
        """Begin the part whose errors are shown by their message."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raise an error of podium again from a frame that rich leaves out."""
        if isinstance(error, PodiumError):
            _rich_traceback_guard = True
            raise error.with_traceback(None) from None
