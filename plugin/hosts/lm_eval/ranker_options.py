"""The options `--ranker...` of `lm_eval run`, and the section `ranker:` of a `--config` file."""

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from podium.errors import UsageError, unknown_name
from podium.hosts.lm_eval.secrets import is_secret_name, secrets_of
from podium.notices.option_forms import Kind, typed_in_command

TITLE = "ranking (podium)"
PREFIX = "ranker"
NEXT_SETTING = re.compile(r",(?=\s*[A-Za-z_][\w.]*=)")
"""Matches the comma between `key=value` and the next `key=`. Values may contain other commas."""


@dataclass(frozen=True, slots=True)
class RankerOptions:
    """The values of podium's options of a run; `OPTIONS` has their help.

    Attributes:
        rankers: names of rankers; empty if `--ranker` is not given.
        against: folders of other runs; empty for the runs in the output path.
        judges: names of Inspect models; empty to rank by the task's metric.
        judge_args: arguments of the judges' models, which may contain API keys.
        args: options of the tournament and of the judge's calls.
        settings: options of rankers, each as `key=value`.
        lower_is_better: the direction of the metric; None if the user does not say it.
    """

    rankers: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    judge_args: Mapping[str, Any] = field(default_factory=dict)
    tournament: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    calibration: str | None = None
    metric: str | None = None
    lower_is_better: bool | None = None
    label: str | None = None

    def secrets(self) -> list[str]:
        """Return the secret values among the judge's arguments."""
        return secrets_of(self.judge_args)


class Option(NamedTuple):
    """How a field of `RankerOptions` is parsed and shown.

    Attributes:
        name: name of the field.
        parse: converts the value that argparse or YAML gives.
        shown: the placeholder of the value in the help.
    """

    name: str
    parse: Callable[[Any], Any]
    shown: str
    help: str


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add podium's options as a group to the parser of `lm_eval run`."""
    group = parser.add_argument_group(TITLE)
    for typed, option in OPTIONS.items():
        is_single = option.parse in (str, _parse_truth)
        many: dict[str, Any] = {} if is_single else {"nargs": "+"}
        group.add_argument(
            f"--{typed}", metavar=option.shown, default=None, help=option.help, **many
        )


def take_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Remove podium's options from parsed arguments, in place.

    Returns:
        the options that were typed, by field of `RankerOptions`.
    """
    values = {option.name: vars(arguments).pop(typed, None) for typed, option in OPTIONS.items()}
    return {name: value for name, value in values.items() if value is not None}


def section_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return podium's options in a `--config` file, by field of `RankerOptions`.

    They are written `ranker: NAME`, as a section `ranker:`, or as keys named like the options.
    """
    ours = {name: value for name, value in config.items() if is_ours(name)}
    if isinstance(ours.get(PREFIX), Mapping):
        section = ours.pop(PREFIX)
        ours |= {
            PREFIX if name == "name" else f"{PREFIX}_{name}": value
            for name, value in section.items()
        }
    for name in ours:
        if name not in OPTIONS:
            raise unknown_name("key of the section ranker:", name, OPTIONS)
    return {OPTIONS[name].name: value for name, value in ours.items() if value is not None}


def is_ours(name: str) -> bool:
    """Return whether a key of a `--config` file is podium's."""
    return name == PREFIX or name.startswith(f"{PREFIX}_")


def options_from(values: Mapping[str, Any]) -> RankerOptions:
    """Build the options from the values that were typed or read.

    Raises:
        UsageError: an option has no effect, or options contradict each other.
    """
    typed = {option.name: f"--{typed}" for typed, option in OPTIONS.items()}
    given = [option for option in OPTIONS.values() if option.name in values]
    parsed = {option.name: option.parse(values[option.name]) for option in given}
    options = RankerOptions(**parsed)
    for name in ("judge_args", "tournament", "args"):
        if getattr(options, name) and not options.judges:
            raise UsageError(f"{typed[name]} is for tournaments: name a judge with --ranker_judge")
    if options.judges and options.metric:
        raise UsageError(
            "--ranker_metric ranks by a task's metric, --ranker_judge by a judge: "
            "leave out one of them"
        )
    if options.judges and options.lower_is_better is not None:
        raise UsageError(
            "--ranker_lower_is_better is for a task's metric, and --ranker_judge ranks by a "
            "judge: leave out one of them"
        )
    if not options.rankers and values:
        raise UsageError(f"{typed[next(iter(values))]} has no effect without --ranker NAME")
    return options


def parse_pairs(typed: Any) -> dict[str, Any]:
    """Parse `key=value,key2=value2`, several such texts, or a mapping.

    Values are parsed as YAML, as on the hosts' command lines: numbers, booleans, lists or texts.
    The value of `models=a,b` keeps its comma.
    """
    import yaml

    if isinstance(typed, Mapping):
        return dict(typed)
    values: dict[str, Any] = {}
    for part in _settings(typed):
        name, equals, text = part.partition("=")
        if not equals:
            raise UsageError("write key=value,key2=value2; there is a part without `=`")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            value = text
        # An API key that consists of digits stays a text.
        is_key = type(value) in (int, float) and is_secret_name(name.strip())
        values[name.strip()] = text if is_key else value
    return values


def _as_texts(typed: Any) -> tuple[str, ...]:
    """Return a value or a list of values as texts."""
    return tuple(map(str, typed)) if isinstance(typed, list | tuple) else (str(typed),)


def _parse_truth(typed: Any) -> bool:
    """Parse true or false; UsageError for anything else."""
    word = str(typed).lower()
    if word not in ("true", "false"):
        raise UsageError(f"--ranker_lower_is_better {typed}: write true or false")
    return word == "true"


def _parse_rankers(typed: Any) -> tuple[str, ...]:
    """Return names of rankers without repetitions, from a list or a text with commas."""
    from podium.plugins.settings import ranker_names

    return tuple(ranker_names(",".join(_as_texts(typed))))


def _settings(typed: Any) -> tuple[str, ...]:
    """Split options of rankers into texts `key=value`; a config file may hold a mapping."""
    if isinstance(typed, Mapping):
        return tuple(f"{name}={value}" for name, value in typed.items())
    return tuple(part for text in _as_texts(typed) for part in NEXT_SETTING.split(text))


# Help texts of the options.
RANKER = (
    "Rank this run's model among others: names of rankers, separated by spaces or commas; "
    "'podium list rankers' shows them. Turns on --log_samples if there is an --output_path"
)
AGAINST = (
    "Output folders of other runs, made with --log_samples "
    "(default: the other models in --output_path)"
)
JUDGE = (
    "Let an Inspect model judge the responses (openai/gpt-5, vllm/..., podium/offline), "
    "instead of ranking by the task's metric. Several are a jury"
)
JUDGE_ARGS = (
    "Arguments of the judge's model as `key=val,key2=val2` or `key=val` `key2=val2`; "
    "keys are never logged"
)
TOURNAMENT = (
    "Which battles the judge is asked for: round_robin (default), anchor, swim, chain, ring"
)
ARGS = "Options of the tournament and of the judge's calls, as `realization=labels,items=100`"
SET = "Options of rankers, as `pin=MODEL:1000` or `soft-elo.beta=0.5`"
CALIBRATION = "A file made by `podium calibrate`: beta and conformal intervals for soft-elo"
METRIC = (
    "The metric to rank by without a judge, as in the results file: `acc,none` "
    "(default: each of the task's)"
)
LOWER_IS_BETTER = (
    "Whether lower scores by the metric are better: true or false "
    "(default: as the task says, or as the metric is called)"
)
LABEL = "Name of this run's model in the ranking (default: the name of its folder in --output_path)"

OPTIONS = {
    "ranker": Option("rankers", _parse_rankers, "<name>", RANKER),
    "ranker_against": Option("against", _as_texts, "<dir>", AGAINST),
    "ranker_judge": Option("judges", _as_texts, "<model>", JUDGE),
    "ranker_judge_args": Option("judge_args", parse_pairs, "<arg>", JUDGE_ARGS),
    "ranker_tournament": Option("tournament", str, "<name>", TOURNAMENT),
    "ranker_args": Option("args", parse_pairs, "<arg>", ARGS),
    "ranker_set": Option("settings", _settings, "<arg>", SET),
    "ranker_calibration": Option("calibration", str, "<file>", CALIBRATION),
    "ranker_metric": Option("metric", str, "<metric,filter>", METRIC),
    "ranker_lower_is_better": Option(
        "lower_is_better", _parse_truth, "<true|false>", LOWER_IS_BETTER
    ),
    "ranker_label": Option("label", str, "<name>", LABEL),
}
"""The options by the name that the user types, without `--`."""


def typed_in_lm_eval(kind: Kind, name: str, value: str) -> str:
    """Write an option for `lm_eval run`, or for podium's command if lm-eval does not have it."""
    if kind == "setting":
        return f"--{PREFIX}_set {name}={value}"
    if kind == "argument":
        return f"--{PREFIX}_args {name}={value}"
    typed = name if name == PREFIX else f"{PREFIX}_{name}"
    return (
        f"--{typed} {value}".rstrip() if typed in OPTIONS else typed_in_command(kind, name, value)
    )
