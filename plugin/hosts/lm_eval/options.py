"""The options of `--ranker` and the section `ranker:` of a `--config` file: what a run of lm-eval is asked for."""

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from podium.errors import UsageError, unknown_name
from podium.hosts.lm_eval.secrets import is_secret_name

TITLE = "ranking (podium)"
PREFIX = "ranker"
LM_EVAL = "lm-eval:"
"""How the name of a judge begins that is a model of lm-eval."""
NEXT_SETTING = re.compile(r",(?=\s*[A-Za-z_][\w.]*=)")
"""Where one `key=value` ends and the next begins: a value may hold commas."""


@dataclass(frozen=True, slots=True)
class RankerOptions:
    """What is asked for.

    Attributes:
        rankers: their names; none = the run is lm-eval's alone.
        against: output folders of the runs to compare with, each optionally `label=path`.
        judges: model names of Inspect, or `lm-eval:TYPE,key=value,...`; none = the task's own metric decides.
        judge_args: arguments of the judges' models; they may hold keys.
        tournament: which battles a judge is asked for; None = all pairs.
        args: settings of the tournament and of how the judge is asked.
        settings: options of the rankers, each `KEY=VALUE` or `RANKER.KEY=VALUE`.
        calibration: file of a judge's calibration, for soft-elo.
        metric: which metric decides, without a judge; None = each of the task's.
        label: the name of this run's model; None = as lm-eval names its folder.
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


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the group of options to the parser of `lm_eval run`; once."""
    if "--ranker" in parser._option_string_actions:
        return
    group = parser.add_argument_group(TITLE)
    many: dict[str, Any] = {"nargs": "+", "default": None}
    group.add_argument("--ranker", metavar="<name>", help=RANKER, **many)
    group.add_argument("--ranker_against", metavar="<dir>", help=AGAINST, **many)
    group.add_argument("--ranker_judge", metavar="<model>", help=JUDGE, **many)
    group.add_argument("--ranker_judge_args", metavar="<arg>", help=JUDGE_ARGS, **many)
    group.add_argument("--ranker_tournament", metavar="<name>", default=None, help=TOURNAMENT)
    group.add_argument("--ranker_args", metavar="<arg>", help=ARGS, **many)
    group.add_argument("--ranker_set", metavar="<arg>", help=SET, **many)
    group.add_argument("--ranker_calibration", metavar="<file>", default=None, help=CALIBRATION)
    group.add_argument("--ranker_metric", metavar="<metric,filter>", default=None, help=METRIC)
    group.add_argument("--ranker_label", metavar="<name>", default=None, help=LABEL)


RANKER = (
    "Rank this run's model among others: space (or comma-separated) names of rankers, as 'podium list rankers' shows "
    "them. Turns on --log_samples where there is an --output_path"
)
AGAINST = "Output folders of other runs, made with --log_samples (default: the other models in --output_path)"
JUDGE = (
    "Let a model judge the responses, instead of the task's own metric: any Inspect model name (openai/gpt-5, "
    "vllm/..., podium/offline), or lm-eval:<type>,<arg>=<value>,... for a model of lm-eval. Several are a jury"
)
JUDGE_ARGS = "Arguments of the judge's model as `key=val,key2=val2` or `key=val` `key2=val2`; keys are never logged"
TOURNAMENT = "Which battles the judge is asked for: round_robin (default), anchor, swim, chain"
ARGS = "Settings of the tournament and of how the judge is asked, as `realization=labels,items=100`"
SET = "Options of rankers, as `pin=MODEL:1000` or `soft-elo.beta=0.5`"
CALIBRATION = "A file made by `podium calibrate`: beta and conformal intervals for soft-elo"
METRIC = "Which metric decides where nobody judges, as in the results file: `acc,none` (default: each of the task's)"
LABEL = "Name of this run's model in the ranking (default: the name of its folder in --output_path)"


def taken_from(arguments: argparse.Namespace) -> dict[str, Any]:
    """Take our options out of parsed arguments; return those that were given, by the names of `RankerOptions`."""
    found = {name: vars(arguments).pop(typed, None) for typed, name in NAMES.items()}
    return {name: value for name, value in found.items() if value is not None}


NAMES = {
    "ranker": "rankers",
    "ranker_against": "against",
    "ranker_judge": "judges",
    "ranker_judge_args": "judge_args",
    "ranker_tournament": "tournament",
    "ranker_args": "args",
    "ranker_set": "settings",
    "ranker_calibration": "calibration",
    "ranker_metric": "metric",
    "ranker_label": "label",
}
"""What is typed, and what it is in `RankerOptions`."""


def section_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a `--config` file says: `ranker: NAME`, a section `ranker:`, or keys as they are typed.

    >>> section_of({"ranker": {"name": "soft-elo", "against": "runs"}, "tasks": "gsm8k"})
    {'rankers': 'soft-elo', 'against': 'runs'}

    Raises:
        UsageError: a key is none.
    """
    told = {name: value for name, value in config.items() if is_ours(name)}
    if isinstance(told.get(PREFIX), Mapping):
        section = told.pop(PREFIX)
        told |= {PREFIX if name == "name" else f"{PREFIX}_{name}": value for name, value in section.items()}
    for name in told:
        if name not in NAMES:
            raise unknown_name("key of the section ranker:", name, NAMES)
    return {NAMES[name]: value for name, value in told.items() if value is not None}


def is_ours(name: str) -> bool:
    """Whether a key of a `--config` file is podium's."""
    return name == PREFIX or name.startswith(f"{PREFIX}_")


def options_from(told: Mapping[str, Any]) -> RankerOptions:
    """Make the options from what was typed or read.

    Raises:
        UsageError: a value that cannot be read, or an option that nothing asks for.
    """
    read = {name: READERS[name](value) for name, value in told.items()}
    options = RankerOptions(**read)
    idle = [name for name in ("judge_args", "tournament", "args") if getattr(options, name)]
    if idle and not options.judges:
        raise UsageError(f"{_typed(idle[0])} is for judged tournaments: name a judge with --ranker_judge")
    if options.judges and options.metric:
        raise UsageError("--ranker_metric is for rankings by a metric of the task, and --ranker_judge asks for a judge")
    if not options.rankers and told:
        raise UsageError(f"{_typed(next(iter(told)))} does nothing without --ranker NAME")
    return options


def pairs(told: Any) -> dict[str, Any]:
    """Return settings from `key=value,key2=value2`, several such texts, or a mapping of a config file.

    >>> pairs(["realization=labels,entrants=a,b", "tie=true"])
    {'realization': 'labels', 'entrants': 'a,b', 'tie': True}

    Raises:
        UsageError: a part is no `key=value`. The part is not shown: it may be a key.
    """
    if isinstance(told, Mapping):
        return dict(told)
    found: dict[str, Any] = {}
    for text in _listed(told):
        for part in NEXT_SETTING.split(str(text)):
            name, equals, value = part.partition("=")
            if not equals:
                raise UsageError("settings are written key=value,key2=value2; one has no `=`")
            read = _value(value)
            # A key may be all digits, and is no number.
            found[name.strip()] = value if is_secret_name(name.strip()) and type(read) in (int, float) else read
    return found


def _value(text: str) -> Any:
    """Read a value as Inspect's and lm-eval's own command lines do: numbers, true and false, lists, else text."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in _listed(value))


def _names(value: Any) -> tuple[str, ...]:
    from podium.plugins.settings import ranker_names

    return tuple(ranker_names(",".join(_texts(value))))


def _settings(value: Any) -> tuple[str, ...]:
    """Return options of rankers as texts; a config file may give them as a mapping."""
    if isinstance(value, Mapping):
        return tuple(f"{name}={one}" for name, one in value.items())
    return tuple(part for text in _texts(value) for part in NEXT_SETTING.split(text))


READERS: dict[str, Any] = {
    "rankers": _names,
    "against": _texts,
    "judges": _texts,
    "judge_args": pairs,
    "tournament": str,
    "args": pairs,
    "settings": _settings,
    "calibration": str,
    "metric": str,
    "label": str,
}


def as_typed_here(text: str) -> str:
    """Return a message with the options of `podium rank` called as they are here.

    >>> as_typed_here("choose with --metric, or --set beta=NUMBER (--calibration FILE)")
    'choose with --ranker_metric, or --ranker_set beta=NUMBER (--ranker_calibration FILE)'
    """
    return re.sub(r"--(set|metric|calibration)\b", rf"--{PREFIX}_\1", text)


def _typed(name: str) -> str:
    return "--" + next(typed for typed, known in NAMES.items() if known == name)
