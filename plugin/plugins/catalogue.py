"""Find extensions: podium's own and those of installed plugins."""

import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import pluggy

from podium import hookspecs
from podium.errors import PluginError, PodiumError, unknown_name_error
from podium.hookspecs import Extension, Format, Ranker, Scorer, Tournament
from podium.package_versions import package_version
from podium.plugins import builtins

if TYPE_CHECKING:
    from podium.scorers.judging import Judging
    from podium.scorers.realization import Realization

GROUP = "podium"
"""The group of entry points that name plugins."""
KINDS: dict[type, str] = {
    Ranker: "ranker",
    Scorer: "scorer",
    Tournament: "tournament",
    Format: "format",
}
"""The noun for each class of extensions. The hook for `ranker` is called `podium_rankers`."""
OWN_ORIGIN = "podium "
"""How the origin of podium's own extensions begins; its version follows."""
HOOKS = tuple(f"podium_{noun}s" for noun in KINDS.values())
"""Names of the hooks that a plugin can have."""

Kind = TypeVar("Kind", bound=Extension)


class Registration(NamedTuple, Generic[Kind]):
    """An extension and the plugin that registered it.

    Attributes:
        extension: the extension.
        origin: package, version and entry point of the plugin; for podium's own, `OWN_ORIGIN` and
            its version.
    """

    extension: Kind
    origin: str


def extensions_of(kind: type[Kind]) -> dict[str, Registration[Kind]]:
    """Return all extensions of a kind by name, sorted.

    Args:
        kind: `Ranker`, `Scorer`, `Tournament` or `Format`.

    Raises:
        PluginError: a plugin cannot be loaded, its hook fails or returns something else, or two
            plugins register the same name.
    """
    noun = KINDS[kind]
    hook = f"podium_{noun}s"
    registered: dict[str, Registration[Kind]] = {}
    for implementation in getattr(_manager().hook, hook).get_hookimpls():
        origin = implementation.plugin_name
        try:
            additions = list(implementation.function())
        except Exception as error:
            raise PluginError(
                f"plugin {origin}: {hook}() failed: {type(error).__name__}: {error}"
            ) from error
        for addition in additions:
            if not isinstance(addition, kind):
                type_name = type(addition).__name__
                raise PluginError(
                    f"plugin {origin}: {hook}() must return {kind.__name__} objects, got "
                    f"{type_name}"
                )
            if addition.name in registered:
                raise PluginError(
                    f"two plugins register the {noun} {addition.name!r}: "
                    f"{registered[addition.name].origin} and {origin}; uninstall or rename one"
                )
            registered[addition.name] = Registration(addition, origin)
    return dict(sorted(registered.items()))


def extension(kind: type[Kind], name: str) -> Kind:
    """Return the extension of a kind with the given name.

    In the name, `-` and `_` are equivalent.

    Raises:
        UsageError: there is no such extension. The message suggests a similar name.
        PluginError: a plugin cannot be loaded, or two plugins register the same name.
    """
    registrations = extensions_of(kind)
    by_name_with_dashes = {registered.replace("_", "-"): registered for registered in registrations}
    registered_name: str | None = name
    if name not in registrations:
        registered_name = by_name_with_dashes.get(name.replace("_", "-"))
    if registered_name is None:
        raise unknown_name_error(KINDS[kind], name, registrations)
    return registrations[registered_name].extension


def load_extension(
    extension: Extension, noun: str = "function", check: Callable[[Any], bool] = callable
) -> Any:
    """Import and return the object that an extension refers to.

    Args:
        extension: the extension.
        noun: what the object must be, for the message.
        check: function that returns whether an object is of this kind.

    Raises:
        PluginError: the object cannot be imported, or `check` is false for it.
    """
    try:
        loaded = extension.load()
    except (ImportError, AttributeError, ValueError) as error:
        raise PluginError(f"{culprit_of(extension)} cannot be imported: {error}") from error
    if not check(loaded):
        raise PluginError(f"{culprit_of(extension)} is no {noun} but {loaded!r}")
    return loaded


def formats() -> list[Format]:
    """Return all file formats, podium's own and those of plugins, sorted by name.

    Raises:
        PluginError: a plugin cannot be loaded, or two formats have one name.
    """
    return [registration.extension for registration in extensions_of(Format).values()]


def ranker_function(name: str) -> Callable[..., Any]:
    """Return the function of the ranker with a name.

    Raises:
        UsageError: there is no such ranker.
        PluginError: it cannot be imported, or is no function.
    """
    return load_extension(extension(Ranker, name))


def tournament_rule(name: str) -> Callable[..., Any]:
    """Return the class or function that makes the tournament with a name.

    Raises:
        UsageError: there is no such tournament.
        PluginError: it cannot be imported, or cannot be called.
    """
    return load_extension(extension(Tournament, name))


def make_tournament(name: str, settings: Mapping[str, Any]) -> Any:
    """Return the `podium.tournaments.schedule.TournamentRule` with a name and settings.

    A plugin's tournament is wrapped in `PluginTournament`.

    Args:
        name: name of the tournament.
        settings: its settings, by option.

    Raises:
        UsageError: there is no such tournament, or a setting is impossible.
        TypeError: a setting is no option of the tournament, which is podium's own.
        PluginError: the plugin's code fails, or makes an object without `next` and `size`.
    """
    tournament_extension = extension(Tournament, name)
    rule = load_extension(tournament_extension)
    with name_plugin_in_errors(tournament_extension):
        tournament = rule(**settings)
    methods = [getattr(tournament, method, None) for method in ("next", "size")]
    if not all(map(callable, methods)):
        raise PluginError(
            f"{culprit_of(tournament_extension)} must have next and size, got {tournament!r}"
        )
    if is_own(tournament_extension):
        return tournament
    return PluginTournament(tournament, tournament_extension)


@dataclass(frozen=True, slots=True)
class PluginTournament:
    """Wraps a plugin's tournament, so that its errors name the plugin."""

    rule: Any
    extension: Tournament

    def next(self, field: Any, played: Any) -> Any:
        """Return the battles to play next.

        Raises:
            PluginError: the plugin fails, or returns an object without pairings.
        """
        with name_plugin_in_errors(self.extension):
            coming = self.rule.next(field, played)
        if not hasattr(coming, "pairings"):
            raise PluginError(
                f"{culprit_of(self.extension)}: next must return a NextRound, got "
                f"{type(coming).__name__}"
            )
        return coming

    def size(self, field: Any) -> int:
        """Return the maximum number of battles, as the plugin computes it.

        Raises:
            PluginError: the plugin fails.
        """
        with name_plugin_in_errors(self.extension):
            return self.rule.size(field)

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the rule.

        AttributeError is raised as the rule raises it.
        """
        return getattr(self.rule, name)


@contextmanager
def name_plugin_in_errors(extension: Extension) -> Iterator[None]:
    """Convert errors raised in a plugin's code to `PluginError` with the plugin's name.

    The message has the file and line of the error. podium's errors, and errors in its own
    extensions, are raised as they are.
    """
    try:
        yield
    except PodiumError:
        raise
    except Exception as error:
        if is_own(extension):
            raise
        last_frame = traceback.extract_tb(error.__traceback__)[-1]
        raise PluginError(
            f"{culprit_of(extension)} raised {type(error).__name__}: {error} "
            f"({Path(last_frame.filename).name}, line "
            f"{last_frame.lineno})"
        ) from error


def is_own(extension: Extension) -> bool:
    """Return whether an extension is podium's own, and not of a plugin.

    Raises:
        KeyError: no extension of its kind is registered by this name.
    """
    return extensions_of(type(extension))[extension.name].origin.startswith(OWN_ORIGIN)


def find_realization(name: str) -> "Realization":
    """Return the realization (prompt and parser of replies) of the scorer with a name.

    In the realization of a plugin, errors of the functions that read and write replies name the
    plugin.

    Raises:
        UsageError: there is no such scorer.
        PluginError: it cannot be imported or is no realization, or its template is no function
            that returns a `Template`.
    """
    from podium.scorers.prompt import Template
    from podium.scorers.realization import Realization

    scorer = extension(Scorer, name)
    realization: Realization = load_extension(
        scorer, "Realization", lambda loaded: isinstance(loaded, Realization)
    )
    if realization.template is not None:
        is_function = callable(realization.template)
        template = realization.template() if is_function else realization.template
        if not is_function or not isinstance(template, Template):
            raise PluginError(
                f"{culprit_of(scorer)}: its template must be a function that returns a "
                "podium.Template, and gives "
                f"{template!r:.60}"
            )
    if is_own(scorer):
        return realization
    # The context manager is used as a decorator.
    name_plugin = name_plugin_in_errors(scorer)
    write_reply = realization.write_reply
    return replace(
        realization,
        read_reply=name_plugin(realization.read_reply),
        write_reply=None if write_reply is None else name_plugin(write_reply),
    )


def culprit_of_realization(name: str) -> str:
    """Return how error messages name a realization.

    The text is that of `culprit_of`, or `realization 'NAME'` if no registered scorer has this name.
    """
    registrations = extensions_of(Scorer)
    if name not in registrations:
        return f"realization {name!r}"
    return culprit_of(registrations[name].extension)


def judging_settings(realization: str = "direct", **options: Any) -> "Judging":
    """Build the judging settings from a realization's name and plain option values.

    Args:
        realization: name of the scorer.
        **options: the options of `build_judging`, as a host or the command line gives them.

    Raises:
        UsageError: there is no such scorer, or an option is unknown or impossible.
        PluginError: the plugin of the scorer is damaged.
    """
    from podium.scorers.judging import build_judging

    return build_judging(find_realization(realization), **options)


def culprit_of(extension: Extension) -> str:
    """Return how error messages name an extension: its plugin, kind and name.

    For example: `plugin ratings 1.0 (ratings = ratings.hooks): ranker 'glicko'`. For podium's own
    extensions the plugin is podium with its version.

    Raises:
        KeyError: no extension of its kind is registered by this name.
    """
    kind = type(extension)
    return f"plugin {extensions_of(kind)[extension.name].origin}: {KINDS[kind]} {extension.name!r}"


def _entry_points() -> list[EntryPoint]:
    """Return the entry points in `GROUP` of all installed packages.

    `importlib.metadata.entry_points` finds the same, but parses the entry points of every package.
    Of packages with the same name, the first one on the path counts, whether it has the group or
    not. Names that differ only in case, `-`, `_` and `.` are the same (PEP 503). A damaged package
    without a name counts by itself.
    """
    packages: dict[str, Distribution] = {}
    for package in distributions():
        if f"[{GROUP}]" not in (package.read_text("entry_points.txt") or ""):
            continue
        # Metadata that are missing have no name, whatever the type says.
        name: str | None = package.name
        if name:
            packages[re.sub(r"[-_.]+", "-", name).lower()] = distribution(name)
        else:
            packages[f"package {len(packages)} without a name"] = package
    return [
        entry for package in packages.values() for entry in package.entry_points.select(group=GROUP)
    ]


@cache
def _manager() -> pluggy.PluginManager:
    """Return the plugin manager with all installed plugins registered; it is made once.

    Raises:
        PluginError: a plugin cannot be loaded, or has none of podium's hooks.
    """
    manager = pluggy.PluginManager("podium")
    manager.add_hookspecs(hookspecs)
    manager.register(builtins, name=f"{OWN_ORIGIN}{package_version('podium')}")
    for entry in sorted(_entry_points(), key=lambda entry: entry.name):
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown package"
        origin = f"{package} ({entry.name} = {entry.value})"
        try:
            plugin = entry.load()
            manager.register(plugin, name=origin)
            manager.check_pending()
        except Exception as error:
            raise PluginError(
                f"plugin {origin} cannot be loaded: {type(error).__name__}: {error}; repair or "
                "uninstall it"
            ) from error
        if not manager.get_hookcallers(plugin):
            raise PluginError(
                f"plugin {origin} adds nothing: mark {' or '.join(HOOKS)} with @podium.hookimpl"
            )
    return manager
