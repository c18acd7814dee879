"""The options of `--ranker` and the section `ranker:` of a `--config` file: what a run of lm-eval is asked for."""

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from podium.errors import UsageError, unknown_name
from podium.hosts.lm_eval.secrets import is_secret_name, secrets_of

TITLE = "ranking (podium)"
PREFIX = "ranker"
NEXT_SETTING = re.compile(r",(?=\s*[A-Za-z_][\w.]*=)")
"""Where one `key=value` ends and the next begins: a value may hold commas."""


@dataclass(frozen=True, slots=True)
class RankerOptions:
    """What is asked for, as the help in `OPTIONS` explains each; `judge_args` may hold keys.

    Without rankers the run is lm-eval's alone, without judges the task's own metric decides.
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
    label: str | None = None

    def secrets(self) -> list[str]:
        """Return the secret values among all arguments of the judges."""
        return secrets_of(self.judge_args)


class Option(NamedTuple):
    """How one of `RankerOptions` is typed, shown and explained; `parse` makes its value of what was typed."""

    name: str
    parse: Callable[[Any], Any]
    shown: str
    help: str


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the group of options to the parser of `lm_eval run`."""
    group = parser.add_argument_group(TITLE)
    for typed, option in OPTIONS.items():
        many: dict[str, Any] = {} if option.parse is str else {"nargs": "+"}
        group.add_argument(f"--{typed}", metavar=option.shown, default=None, help=option.help, **many)


def take_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Take our options out of parsed arguments; return those that were given, by the names of `RankerOptions`."""
    values = {option.name: vars(arguments).pop(typed, None) for typed, option in OPTIONS.items()}
    return {name: value for name, value in values.items() if value is not None}


def section_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a `--config` file says: `ranker: NAME`, a section `ranker:`, or keys as they are typed.

    >>> section_of({"ranker": {"name": "soft-elo", "against": "runs"}, "tasks": "gsm8k"})
    {'rankers': 'soft-elo', 'against': 'runs'}

    Raises:
        UsageError: a key is none.
    """
    ours = {name: value for name, value in config.items() if is_ours(name)}
    if isinstance(ours.get(PREFIX), Mapping):
        section = ours.pop(PREFIX)
        ours |= {PREFIX if name == "name" else f"{PREFIX}_{name}": value for name, value in section.items()}
    for name in ours:
        if name not in OPTIONS:
            raise unknown_name("key of the section ranker:", name, OPTIONS)
    return {OPTIONS[name].name: value for name, value in ours.items() if value is not None}


def is_ours(name: str) -> bool:
    """Whether a key of a `--config` file is podium's."""
    return name == PREFIX or name.startswith(f"{PREFIX}_")


def options_from(values: Mapping[str, Any]) -> RankerOptions:
    """Make the options from what was typed or read."""
    typed = {option.name: f"--{typed}" for typed, option in OPTIONS.items()}
    parse = {option.name: option.parse for option in OPTIONS.values()}
    options = RankerOptions(**{name: parse[name](value) for name, value in values.items()})
    idle = [name for name in ("judge_args", "tournament", "args") if getattr(options, name)]
    if idle and not options.judges:
        raise UsageError(f"{typed[idle[0]]} is for judged tournaments: name a judge with --ranker_judge")
    if options.judges and options.metric:
        raise UsageError("--ranker_metric is for rankings by a metric of the task, and --ranker_judge asks for a judge")
    if not options.rankers and values:
        raise UsageError(f"{typed[next(iter(values))]} does nothing without --ranker NAME")
    return options


def parse_pairs(typed: Any) -> dict[str, Any]:
    """Return settings from `key=value,key2=value2`, several such texts, or a mapping of a config file.

    Values are read as Inspect's and lm-eval's own command lines do: numbers, true and false, lists, else text.

    >>> parse_pairs(["realization=labels,models=a,b", "tie=true"])
    {'realization': 'labels', 'models': 'a,b', 'tie': True}
    """
    import yaml

    if isinstance(typed, Mapping):
        return dict(typed)
    values: dict[str, Any] = {}
    for part in _settings(typed):
        name, equals, text = part.partition("=")
        if not equals:
            raise UsageError("settings are written key=value,key2=value2; one has no `=`")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            value = text
        # A key may be all digits, and is no number.
        is_number = type(value) in (int, float)
        values[name.strip()] = text if is_number and is_secret_name(name.strip()) else value
    return values


def _texts(typed: Any) -> tuple[str, ...]:
    return tuple(map(str, typed)) if isinstance(typed, list | tuple) else (str(typed),)


def _ranker_names(typed: Any) -> tuple[str, ...]:
    from podium.plugins.settings import ranker_names

    return tuple(ranker_names(",".join(_texts(typed))))


def _settings(typed: Any) -> tuple[str, ...]:
    """Return options of rankers as texts; a config file may give them as a mapping."""
    if isinstance(typed, Mapping):
        return tuple(f"{name}={value}" for name, value in typed.items())
    return tuple(part for text in _texts(typed) for part in NEXT_SETTING.split(text))


RANKER = (
    "Rank this run's model among others: space (or comma-separated) names of rankers, as 'podium list rankers' shows "
    "them. Turns on --log_samples where there is an --output_path"
)
AGAINST = "Output folders of other runs, made with --log_samples (default: the other models in --output_path)"
JUDGE = (
    "Let a model judge the responses, instead of the task's own metric: any Inspect model name (openai/gpt-5, "
    "vllm/..., podium/offline). Several are a jury"
)
JUDGE_ARGS = "Arguments of the judge's model as `key=val,key2=val2` or `key=val` `key2=val2`; keys are never logged"
TOURNAMENT = "Which battles the judge is asked for: round_robin (default), anchor, swim, chain, ring"
ARGS = "Settings of the tournament and of how the judge is asked, as `realization=labels,items=100`"
SET = "Options of rankers, as `pin=MODEL:1000` or `soft-elo.beta=0.5`"
CALIBRATION = "A file made by `podium calibrate`: beta and conformal intervals for soft-elo"
METRIC = "Which metric decides where nobody judges, as in the results file: `acc,none` (default: each of the task's)"
LABEL = "Name of this run's model in the ranking (default: the name of its folder in --output_path)"

OPTIONS = {
    "ranker": Option("rankers", _ranker_names, "<name>", RANKER),
    "ranker_against": Option("against", _texts, "<dir>", AGAINST),
    "ranker_judge": Option("judges", _texts, "<model>", JUDGE),
    "ranker_judge_args": Option("judge_args", parse_pairs, "<arg>", JUDGE_ARGS),
    "ranker_tournament": Option("tournament", str, "<name>", TOURNAMENT),
    "ranker_args": Option("args", parse_pairs, "<arg>", ARGS),
    "ranker_set": Option("settings", _settings, "<arg>", SET),
    "ranker_calibration": Option("calibration", str, "<file>", CALIBRATION),
    "ranker_metric": Option("metric", str, "<metric,filter>", METRIC),
    "ranker_label": Option("label", str, "<name>", LABEL),
}
"""By what is typed."""


def as_typed_here(text: str) -> str:
    """Return a message with the options of `podium rank` called as they are here.

    >>> as_typed_here("choose with --metric, or --set beta=NUMBER (--calibration FILE)")
    'choose with --ranker_metric, or --ranker_set beta=NUMBER (--ranker_calibration FILE)'
    """
    return re.sub(r"--(set|metric|calibration)\b", rf"--{PREFIX}_\1", text)
