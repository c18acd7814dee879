"""The options `--ranker...` of both hosts: one table of them, and the record that they fill.

A host's command writes them `--ranker_judge` (lm-eval) or `--ranker-judge` (Inspect). In metadata,
a section `ranker:` and the environment, they have the names of the table (`ranker_judge`).
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from podium.data.reading_options import ALL_READING_OPTIONS, ReadingOption
from podium.errors import UsageError, unknown_value_error
from podium.hosts.secrets import is_secret_name, secrets_of
from podium.notices.option_forms import (
    Kind,
    OptionForm,
    option_text,
    quoted_value,
    typed_in_command,
)

PREFIX = "ranker"
"""The beginning of the names of all options, and the whole name of the first."""
NEXT_SETTING = re.compile(r",(?=\s*[A-Za-z_][\w.]*=)")
"""Matches the comma between `key=value` and the next `key=`. Values may contain other commas."""


@dataclass(frozen=True, slots=True)
class RankerOptions:
    """The values of podium's options of a run; `OPTIONS` has their help.

    Attributes:
        rankers: names of rankers; empty if `--ranker` is not given.
        against: sources of other runs; empty for the runs beside this one.
        judges: names of Inspect models; empty to rank by the task's metric.
        judge_args: arguments of the judges' models, which may contain API keys.
        tournament: name of the tournament; None for the default, `round_robin`.
        args: options of the tournament and of the judge's calls.
        settings: options of rankers, each as `key=value`.
        calibration: a file made by `podium calibrate`; None if there is none.
        pin: the model against which win rates are written into the results; None for the one that
            is pinned in the folder.
        label: the name of this run's model in the ranking; None for its own name.
        strict: whether a run that cannot be ranked, or only in part, ends with an exit code of its
            own.
        reading: the options of reading that were given, by field of `BattleQuery`.
    """

    rankers: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    judge_args: Mapping[str, Any] = field(default_factory=dict)
    tournament: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    calibration: str | None = None
    pin: str | None = None
    label: str | None = None
    strict: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)

    def secrets(self) -> list[str]:
        """Return the secret values among the judge's arguments."""
        return secrets_of(self.judge_args)


class Option(NamedTuple):
    """How a field of `RankerOptions` is parsed and shown.

    Attributes:
        name: name of the field; of an option of reading, the key in `RankerOptions.reading`.
        parse: converts the value that a command line, YAML or the environment gives.
        shown: the placeholder of the value in the help; empty if the option takes no value.
        help: the text of the help.
        is_single: whether the option takes one value.
    """

    name: str
    parse: Callable[[Any], Any]
    shown: str
    help: str
    is_single: bool = False


def options_from(values: Mapping[str, Any]) -> RankerOptions:
    """Build the options from the values that were typed or read.

    Args:
        values: the values by name in `OPTIONS`, as a host, a file or the environment gave them.

    Raises:
        UsageError: a value is wrong, an option has no effect, or options contradict each other.
    """
    parsed = {
        option.name: option.parse(values[name])
        for name, option in OPTIONS.items()
        if name in values
    }
    reading = {name: parsed.pop(name) for name in READING if name in parsed}
    options = RankerOptions(**parsed, reading=reading)
    for name in ("judge_args", "tournament", "args"):
        if getattr(options, name) and not options.judges:
            judge = option_text("judge")
            raise UsageError(f"{option_text(name)} is for tournaments: name a judge with {judge}")
    score_options = [name for name in reading if READING[name].of_scores]
    if options.judges and score_options:
        raise UsageError(
            f"{option_text(score_options[0])} is for a task's metric, and {option_text('judge')} "
            "ranks by a judge: leave out one of them"
        )
    repeated = sorted({name for name in options.judges if options.judges.count(name) > 1})
    if repeated:
        raise UsageError(judge_twice_text(repeated, option_text("args", "repeats=2")))
    if not options.rankers and values:
        first_option = next(name for name in OPTIONS if name in values)
        ranker = option_text("ranker", "NAME")
        raise UsageError(f"{_typed_name(first_option)} has no effect without {ranker}")
    return options


def judge_twice_text(names: Sequence[str], repeats: str) -> str:
    """Return the message that a jury has judges twice.

    Args:
        names: the names of these judges.
        repeats: the option to type instead, as it is typed.
    """
    return f"the jury has a judge twice: {', '.join(names)}; {repeats} asks one judge twice"


def refuse_lm_eval_model(name: str, option: str) -> None:
    """Raise UsageError for a judge `lm-eval:...`: judges are models of Inspect.

    Args:
        name: name of the judge; any other name passes.
        option: the option with the judge, for the error message.
    """
    if name.startswith("lm-eval:"):
        raise UsageError(
            f"{option} {name.partition(',')[0]}: judges are models of Inspect: write hf/NAME, "
            "vllm/NAME or, for a server with an OpenAI-compatible API, "
            "openai-api/SERVICE/NAME with its base_url"
        )


def _typed_name(name: str) -> str:
    """Return an option as it is typed in the host, for its name in `OPTIONS`."""
    return option_text(name.removeprefix(f"{PREFIX}_"))


def parse_pairs(typed: Any) -> dict[str, Any]:
    """Parse `key=value,key2=value2`, several such texts, or a mapping.

    Values are parsed as YAML, as on the hosts' command lines: numbers, booleans, lists or texts.
    The value of `models=a,b` keeps its comma. A value that is no YAML stays a text, and so does a
    number under the name of a secret. Blanks around names are removed. Of a mapping, a copy is
    returned.

    Raises:
        UsageError: a part has no `=`.
    """
    import yaml

    if isinstance(typed, Mapping):
        return dict(typed)
    values: dict[str, Any] = {}
    for part in split_settings(typed):
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


def split_settings(typed: Any) -> tuple[str, ...]:
    """Split `key=value,key2=value2`, or several such texts, into texts `key=value`.

    A text without `=` is one part. A mapping, as a config file may hold it, gives a text
    `key=value` for each of its keys.
    """
    if isinstance(typed, Mapping):
        return tuple(f"{name}={value}" for name, value in typed.items())
    return tuple(part for text in _as_texts(typed) for part in NEXT_SETTING.split(text))


def _as_texts(typed: Any) -> tuple[str, ...]:
    """Return a value, or each value of a list, as text."""
    return tuple(map(str, typed)) if isinstance(typed, list | tuple) else (str(typed),)


def _parse_rankers(typed: Any) -> tuple[str, ...]:
    """Return names of rankers without repetitions, from a list or a text with commas."""
    from podium.plugins.settings import ranker_names

    joined = ",".join(_as_texts(typed))
    return tuple(ranker_names(joined))


def _parse_reading(option: ReadingOption, typed: Any) -> Any:
    """Parse the value of an option of reading by its kind.

    Returns:
        True or False for an option that is on or off; a tuple of pairs of column and value for
        conditions; a tuple of texts for an option that takes several values (words are also split
        at commas); else the last text that was given.

    Raises:
        UsageError: a value is none of those that the option takes.
    """
    if option.kind in ("truth", "flag"):
        return _parse_truth(option.name, typed)
    text = option_text(option.name)
    if option.kind == "conditions":
        return tuple(_parse_condition(part, text) for part in split_settings(typed))
    values = _as_texts(typed)
    if option.kind == "words":
        values = tuple(word.strip() for each in values for word in each.split(","))
    for value in values:
        if option.words and value not in option.words:
            raise unknown_value_error(text, value, option.words)
    return values if option.kind in ("texts", "words", "files") else values[-1]


def _parse_truth(name: str, typed: Any) -> bool:
    """Return the value of an option that is true or false, in any case of letters.

    Raises:
        UsageError: the value is anything else. The error names the option.
    """
    word = str(typed).lower()
    if word not in ("true", "false"):
        raise UsageError(f"{option_text(name)} {typed}: write true or false")
    return word == "true"


def _parse_condition(typed: str, option: str) -> tuple[str, str]:
    """Parse `COLUMN=VALUE` as column, without blanks around it, and value.

    Args:
        typed: the text.
        option: the option as it is typed, for the error message.

    Raises:
        UsageError: there is no `=`.
    """
    column, equals, value = typed.partition("=")
    if not equals:
        raise UsageError(f"{option} {typed}: write COLUMN=VALUE")
    return column.strip(), value


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
PIN = (
    "Pin this model as the reference of the folder: results get the win rate against it in direct "
    "battles, which no other model changes. Later runs use it, too"
)
STRICT = "End with another exit code if an evaluated run is not ranked, or is ranked only in part"
LABEL = "Name of this run's model in the ranking (default: the name of its folder in --output_path)"


def _option_of_reading(option: ReadingOption) -> Option:
    """Return the hosts' option for an option of reading: its parser, and what the help shows."""
    if option.kind == "flag":
        value_form = ""
    elif option.kind == "truth":
        value_form = "<true|false>"
    elif option.shown:
        value_form = f"<{option.shown.lower()}>"
    else:
        value_form = f"<{'|'.join(option.words)}>"
    is_single = option.kind in ("text", "word", "truth", "flag")
    text = option.help.rstrip(".")
    return Option(
        name=option.name,
        parse=partial(_parse_reading, option),
        shown=value_form,
        help=text,
        is_single=is_single,
    )


READING = {option.name: option for option in ALL_READING_OPTIONS}
"""The options of reading that the hosts' rankers take, by field of `BattleQuery`."""
OPTIONS = {
    "ranker": Option(name="rankers", parse=_parse_rankers, shown="<name>", help=RANKER),
    "ranker_against": Option(name="against", parse=_as_texts, shown="<dir>", help=AGAINST),
    "ranker_judge": Option(name="judges", parse=_as_texts, shown="<model>", help=JUDGE),
    "ranker_judge_args": Option(
        name="judge_args", parse=parse_pairs, shown="<arg>", help=JUDGE_ARGS
    ),
    "ranker_tournament": Option(
        name="tournament", parse=str, shown="<name>", help=TOURNAMENT, is_single=True
    ),
    "ranker_args": Option(name="args", parse=parse_pairs, shown="<arg>", help=ARGS),
    "ranker_set": Option(name="settings", parse=split_settings, shown="<arg>", help=SET),
    "ranker_calibration": Option(
        name="calibration", parse=str, shown="<file>", help=CALIBRATION, is_single=True
    ),
    "ranker_pin": Option(name="pin", parse=str, shown="<model>", help=PIN, is_single=True),
    "ranker_label": Option(name="label", parse=str, shown="<name>", help=LABEL, is_single=True),
    "ranker_strict": Option(
        name="strict", parse=partial(_parse_truth, "strict"), shown="", help=STRICT, is_single=True
    ),
} | {f"{PREFIX}_{name}": _option_of_reading(option) for name, option in READING.items()}
"""The options by their name in YAML and metadata; a host's command writes them its own way."""


ARGUMENTS_OF_TOURNAMENTS = ("cluster",)
"""The options of reading that a tournament takes as its arguments.

With a judge, a host refuses the option.
"""


def host_form(
    option: str,
    argument: str,
    absent: Collection[str] = (),
    arguments: Collection[str] = (),
) -> OptionForm:
    """Return the form in which a host takes podium's options.

    Options that the host does not have are written for podium's command.

    Args:
        option: the form of an option, with `{name}` for its name in `OPTIONS`, `{flag}` for this
            name with hyphens, and `{value}` for its value.
        argument: the form of an argument of a tournament, with `{name}` and `{value}`.
        absent: names in `OPTIONS` that the host does not have.
        arguments: names of options that are arguments of the tournament here, such as `cluster`.
    """

    def typed_in_host(kind: Kind, name: str, value: str) -> str:
        """Write an option as the host takes it, with its value quoted for a shell.

        An option that the host does not have is written as `typed_in_command` writes it.
        """
        if kind == "argument" or (kind == "option" and name in arguments):
            return argument.format(name=name, value=quoted_value(value))
        option_name, value_text = name, value
        if kind == "setting":
            option_name, value_text = "set", f"{name}={value}"
        if option_name != PREFIX:
            option_name = f"{PREFIX}_{option_name}"
        if option_name not in OPTIONS or option_name in absent:
            return typed_in_command(kind, name, value)
        if not OPTIONS[option_name].shown:
            value_text = ""
        flag = option_name.replace("_", "-")
        return option.format(name=option_name, flag=flag, value=quoted_value(value_text)).rstrip(
            " ="
        )

    return typed_in_host
