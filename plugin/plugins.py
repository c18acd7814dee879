"""Find what is plugged in: podium's own rankers and formats, and those of other packages."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

import pluggy

from podium import __version__, builtins, hookspecs
from podium.errors import PluginError, unknown_name
from podium.hookspecs import Format, Ranker

GROUP = "podium"
HOOKS = ("podium_rankers", "podium_formats")
Extension = TypeVar("Extension", Ranker, Format)


@dataclass(frozen=True, slots=True)
class Registered(Generic[Extension]):
    """An extension and the package that brought it."""

    extension: Extension
    origin: str


def rankers() -> dict[str, Registered[Ranker]]:
    """Return all rankers by name.

    Raises:
        PluginError: a plugin is broken, or two register the same name.
    """
    return _registered("podium_rankers", "ranker", Ranker)


def formats() -> dict[str, Registered[Format]]:
    """Return all formats by name.

    Raises:
        PluginError: a plugin is broken, or two register the same name.
    """
    return _registered("podium_formats", "format", Format)


def ranker(name: str) -> Ranker:
    """Return the ranker of that name.

    Raises:
        UsageError: no ranker has that name; the nearest is suggested.
    """
    return _find("ranker", name, rankers())


def ranker_function(name: str) -> Callable[..., Any]:
    """Return the function of the ranker of that name, importing it now if it was given by name.

    Raises:
        UsageError: no ranker has that name; the nearest is suggested.
        PluginError: the function cannot be imported, or is none.
    """
    return _imported("ranker", ranker(name), rankers()[name].origin)


def reader(known: Format) -> Callable[..., Any]:
    """Return the function that reads a format, importing it now if it was given by name.

    Raises:
        PluginError: the function cannot be imported, or is none.
    """
    return _imported("format", known, formats()[known.name].origin)


def format_named(name: str) -> Format:
    """Return the format of that name.

    Raises:
        UsageError: no format has that name; the nearest is suggested.
    """
    return _find("format", name, formats())


def _imported(kind: str, extension: Ranker | Format, origin: str) -> Callable[..., Any]:
    try:
        function = extension.load()
    except (ImportError, AttributeError) as error:
        raise PluginError(f"plugin {origin}: {kind} {extension.name!r} cannot be imported: {error}") from error
    if not callable(function):
        raise PluginError(f"plugin {origin}: {kind} {extension.name!r} is no function but {function!r}")
    return function


def _find(kind: str, name: str, known: dict[str, Registered[Extension]]) -> Extension:
    if name not in known:
        raise unknown_name(kind, name, known)
    return known[name].extension


@cache
def _manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager("podium")
    manager.add_hookspecs(hookspecs)
    manager.register(builtins, name=f"podium {__version__}")
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        _register(manager, entry)
    return manager


def _register(manager: pluggy.PluginManager, entry: EntryPoint) -> None:
    origin = _origin(entry)
    try:
        plugin = entry.load()
        manager.register(plugin, name=origin)
        manager.check_pending()
    except Exception as error:
        raise PluginError(
            f"plugin {origin} cannot be loaded: {type(error).__name__}: {error}; repair or uninstall it"
        ) from error
    if not manager.get_hookcallers(plugin):
        raise PluginError(f"plugin {origin} adds nothing: mark {' or '.join(HOOKS)} with @podium.hookimpl")


def _origin(entry: EntryPoint) -> str:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown package"
    return f"{package} ({entry.name} = {entry.value})"


def _registered(hook: str, kind: str, expected: type[Extension]) -> dict[str, Registered[Extension]]:
    found: dict[str, Registered[Extension]] = {}
    manager = _manager()
    for implementation in manager.hook.__getattribute__(hook).get_hookimpls():
        origin = implementation.plugin_name
        for answer in _called(implementation.function, origin, hook):
            extension = _checked(answer, expected, origin, hook)
            if extension.name in found:
                raise PluginError(
                    f"two plugins register the {kind} {extension.name!r}: {found[extension.name].origin} "
                    f"and {origin}; uninstall or rename one"
                )
            found[extension.name] = Registered(extension, origin)
    return dict(sorted(found.items()))


def _called(function: object, origin: str, hook: str) -> Iterable[object]:
    try:
        return list(function())  # type: ignore[operator]
    except Exception as error:
        raise PluginError(f"plugin {origin}: {hook}() failed: {type(error).__name__}: {error}") from error


def _checked(answer: object, expected: type[Extension], origin: str, hook: str) -> Extension:
    if not isinstance(answer, expected):
        raise PluginError(
            f"plugin {origin}: {hook}() must return {expected.__name__} objects, got {type(answer).__name__}"
        )
    return answer
