"""Parse what was typed for a tournament: its settings, and options of its run and its judge."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, Literal, Unpack

from podium.errors import UsageError
from podium.findings import check_findings
from podium.hosts.inspect_ai.judging.call_prices import Prices, check_prices
from podium.hosts.inspect_ai.judging.call_timeouts import CALL_TIMEOUT, check_call_timeout
from podium.hosts.inspect_ai.judging.judge_models import NO_JUDGE, has_judge, roles_are_known
from podium.hosts.inspect_ai.logs.recorded_battles import RECORDED
from podium.hosts.inspect_ai.tournament.run_options import RunOptions
from podium.plugins import catalogue
from podium.plugins.settings import parameters_of
from podium.printable import tell
from podium.responses.transcripts import Mode
from podium.scorers.judging import known_options, refuse_unknown_options
from podium.scorers.reasoning import Policy

PACKED_FROM = 1000
"""With this many battles or more, `pack=auto` builds a sample per item (pack), not per battle."""
LEAST_VALUES = {"seed": 0, "limit": 1, "max_battles": 1}
"""The smallest allowed value of each option that must be a whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Options of a run with their defaults. `RunOptions` describes each of them.

    Raises:
        UsageError: a number is not whole or too small, the time limit is not positive, the value of
            `pack` is unknown, a price is invalid, or a name in `allow` is not the name of a
            finding.
    """

    shard: str | None = None
    models: str | Sequence[str] | None = None
    answered_by: str | Sequence[str] | None = None
    limit: int | None = None
    category: str | Sequence[str] | None = None
    seed: int = 0
    max_battles: int | None = None
    pack: bool | Literal["auto"] = "auto"
    cache: bool = True
    call_timeout: float | None = CALL_TIMEOUT
    reask: str | None = None
    earlier: str | None = None
    reasoning: Policy = "strip"
    show: Mode = "auto"
    transcript_tokens: int | None = None
    prompts: str | Sequence[str] = ()
    answers: str = "on-demand"
    max_cost: float | None = None
    prices: Prices | None = None
    judges: str | Sequence[Any] = "all"
    overlap: float = 0.0
    allow: str | Sequence[str] = ()
    cluster: str | None = None

    def __post_init__(self) -> None:
        for name, least in LEAST_VALUES.items():
            value = getattr(self, name)
            if value is None:
                continue
            is_whole = isinstance(value, Integral) and not isinstance(value, bool)
            is_valid = is_whole and value >= least
            if not is_valid:
                raise UsageError(f"{name}={value}: give a whole number, {least} or more")
        if self.pack not in (True, False, "auto"):
            raise UsageError(
                f"pack={self.pack}: write true, false or auto (packs from {PACKED_FROM:,} battles)"
            )
        check_call_timeout(self.call_timeout)
        check_prices(self.prices)
        check_findings(split_names(self.allow), "argument")


RUN_OPTIONS = frozenset(option.name for option in fields(RunSettings))
"""Names of the options that every tournament has, except those of the judge."""


@dataclass(frozen=True, slots=True)
class TournamentRequest:
    """A tournament as it was typed.

    Attributes:
        name: name of the tournament, for example `ring`.
        settings: the tournament's own options by name, without those that are None.
        options: options of the run.
        judge_options: the options of the judge that were given, by name. If the role `models` is
            given, some of them are settings of these models instead.
    """

    name: str
    settings: Mapping[str, Any]
    options: RunSettings
    judge_options: Mapping[str, Any]

    def say(self, text: str) -> None:
        """Print a message of this tournament on stderr."""
        tell(text, who=f"podium {self.name}")


def parse_request(
    name: str, settings: Mapping[str, Any], **options: Unpack[RunOptions]
) -> TournamentRequest:
    """Check the options, and divide them into those of the tournament, the run and the judge.

    Args:
        name: name of the tournament.
        settings: the tournament's own options by name; those that are None count as not given.
        **options: options of the run and of the judge, also those whose value is None.

    Raises:
        UsageError: the tournament or an option is unknown, or a run's option has a wrong value; or
            Inspect has set the roles and there is no judge; or recorded battles are among
            `options`, because only the tournament `recorded` takes them, among its `settings`.
    """
    arguments: dict[str, Any] = {**options}
    battles = arguments.get("battles")
    if battles:
        remedy = f"podium/{RECORDED} plays recorded ones"
        raise UsageError(f"battles={battles}: {name} schedules its battles; {remedy}")
    if roles_are_known() and not has_judge():
        raise UsageError(NO_JUDGE)
    known_arguments = RUN_OPTIONS | {"responses"} | setting_names(name) | known_options()
    refuse_unknown_options({**settings, **arguments}, known_arguments)
    run_options = {key: value for key, value in arguments.items() if key in RUN_OPTIONS}
    judge_options = {key: value for key, value in arguments.items() if key not in RUN_OPTIONS}
    of_tournament = {key: value for key, value in settings.items() if value is not None}
    return TournamentRequest(
        name=name,
        settings=of_tournament,
        options=RunSettings(**run_options),
        judge_options=judge_options,
    )


def split_options(name: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into the own settings of a tournament and the others.

    `seed` is always among the others, and so are unknown options.

    Args:
        name: name of the tournament.
        options: values by name.

    Raises:
        UsageError: there is no such tournament.
    """
    settings_of_rule = setting_names(name) - {"seed"}
    settings = {key: value for key, value in options.items() if key in settings_of_rule}
    others = {key: value for key, value in options.items() if key not in settings_of_rule}
    return settings, others


def split_names(names: str | Sequence[str] | None) -> list[str]:
    """Return the names in a list, or in a text separated by commas, without outer spaces.

    Empty names are left out. Names in a list are not split at commas.

    >>> split_names("oak, elm,"), split_names(None)
    (['oak', 'elm'], [])
    """
    parts = names.split(",") if isinstance(names, str) else (names or ())
    stripped = [str(part).strip() for part in parts]
    return [name for name in stripped if name]


def setting_names(name: str) -> AbstractSet[str]:
    """Return the names of a tournament's own options, with `seed` if it takes one.

    Raises:
        UsageError: there is no such tournament.
    """
    return parameters_of(catalogue.tournament_rule(name)).keys()
