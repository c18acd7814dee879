"""The pinned reference of a folder: the model against which win rates are written into results.

It stands in a file beside the folder of the results or logs, so that later runs use it, too.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from podium.errors import DataError, UsageError
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.run_record import RunRecord
from podium.storage.atomic_files import write_text
from podium.storage.remote import Place, RemoteFile, local_file, place_of
from podium.wording import some

PIN_FILE = "pin.json"
"""Name of the file. It lies in the folder of podium's tournaments: `OUTPUT.podium/pin.json`."""
KINDS_WITH_SECRETS = frozenset({"model argument"})
"""Kinds of settings that may hold API keys, and are not written into the file."""
SettingRow = tuple[str, str, str, str]
"""Kind, name and scorer of a setting of a run (`podium.run_record.Setting`), and its value."""


@dataclass(frozen=True, slots=True)
class FirstRanking:
    """The first ranking of a task in which win rates were written against the reference.

    Attributes:
        task: name of the task.
        ranker: names of the rankers, separated by commas.
        by: names of the judges, or of the metric where no judge compared responses.
        date: when it was made, in ISO 8601 with the time zone.
    """

    task: str
    ranker: str
    by: tuple[str, ...]
    date: str


@dataclass(frozen=True, slots=True)
class ReferencePin:
    """The pinned reference of a folder.

    Attributes:
        model: name of the model in the first ranking, which may show settings.
        plain: the same name without settings.
        date: when it was pinned, in ISO 8601 with the time zone.
        settings: by task, the settings of its first run, by which it is found if its name changes,
            without arguments of the model; empty if none are known.
        rankings: the first ranking of each task.
    """

    model: str
    plain: str
    date: str
    settings: Mapping[str, tuple[SettingRow, ...]] = field(default_factory=dict)
    rankings: tuple[FirstRanking, ...] = ()


def pin_of_model(model: str, runs: Sequence[RunRecord] = ()) -> ReferencePin:
    """Return a new pin on a model, without rankings.

    Args:
        model: name of the model in a ranking. It counts as one with settings (`MODEL (shots=5)`)
            only if `runs` say that settings were added to it.
        runs: the runs of this ranking; empty if they are not known. The first run of the model on
            each task gives its settings.
    """
    runs_of_model = [run for run in runs if run.model == model]
    is_named = bool(runs_of_model) and bool(runs_of_model[0].named_settings)
    plain = model.partition(" (")[0] if is_named else model
    return with_settings(ReferencePin(model, plain, now()), model, runs)


def with_settings(pin: ReferencePin, name: str, runs: Sequence[RunRecord]) -> ReferencePin:
    """Return the pin with the settings of the reference on tasks that it does not know yet.

    Args:
        pin: the pin.
        name: name of the reference in the ranking.
        runs: the runs of the ranking. The first of the reference on a task counts.
    """
    settings_by_run = dict(pin.settings)
    for run in runs:
        if run.model != name or run.task in settings_by_run:
            continue
        rows = [
            (*setting, value)
            for setting, value in run.settings().items()
            if setting.kind not in KINDS_WITH_SECRETS
        ]
        if rows:
            settings_by_run[run.task] = tuple(sorted(rows))
    return replace(pin, settings=settings_by_run)


def now() -> str:
    """Return the current time in ISO 8601, in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def find_reference(
    pin: ReferencePin, models: Collection[str], runs: Sequence[RunRecord] = ()
) -> str | None:
    """Return the name of the pinned reference among the models of a ranking.

    The name of a model with several runs may show the settings in which they differ. The reference
    is then the model of this plain name whose shown settings are the pinned ones.

    Args:
        pin: the pin.
        models: names of the models.
        runs: the runs of the ranking.

    Returns:
        the name; None if the reference is not among the models, or if several may be it.
    """
    if pin.model in models:
        return pin.model
    matching = set()
    for run in runs:
        is_of_model = run.model == pin.plain or run.model.startswith(f"{pin.plain} (")
        if not is_of_model or run.model not in models:
            continue
        settings = run.settings()
        pinned = _values_on_task(pin, run.task)
        if all(
            settings.get(setting) == pinned.get(tuple(setting)) for setting in run.named_settings
        ):
            matching.add(run.model)
    return matching.pop() if len(matching) == 1 else None


def _values_on_task(pin: ReferencePin, task: str) -> dict[tuple[str, ...], str]:
    """Return the value of each setting of the pinned reference, by kind, name and scorer.

    The settings are those on `task`, or those on the first task if the reference was not ranked on
    `task`. Empty if none are known.
    """
    rows = pin.settings.get(task) or next(iter(pin.settings.values()), ())
    return {tuple(key): value for *key, value in rows}


def changes_of_reference(
    pin: ReferencePin, name: str, runs: Sequence[RunRecord]
) -> tuple[Notice, ...]:
    """Return a warning, as a tuple, if the reference was run with other settings than when pinned.

    The tuple is empty if no setting changed. Only settings that are known of both runs on a task
    are compared.

    Args:
        pin: the pin.
        name: name of the reference in the ranking.
        runs: the runs of the ranking.
    """
    changed = {}
    for run in runs:
        if run.model != name or run.task not in pin.settings:
            continue
        pinned = _values_on_task(pin, run.task)
        for setting, value in run.settings().items():
            before = pinned.get(tuple(setting))
            if before is not None and before != value:
                changed[setting.text] = f"{before} → {value}"
    if not changed:
        return ()
    return (Notice("pin-settings-changed", {"model": name, "changed": changed}),)


def with_ranking(pin: ReferencePin, ranking: FirstRanking) -> tuple[ReferencePin, list[Notice]]:
    """Return the pin with the ranking of a task, and a list with a warning, or an empty list.

    The first ranking of a task stays: a later one is not added. The warning says that the task was
    ranked first by other judges or metrics.
    """
    first = next(
        (pinned_ranking for pinned_ranking in pin.rankings if pinned_ranking.task == ranking.task),
        None,
    )
    if first is None:
        return replace(pin, rankings=(*pin.rankings, ranking)), []
    if first.by == ranking.by:
        return pin, []
    fields = {"task": ranking.task, "now": list(ranking.by), "first": list(first.by)}
    return pin, [Notice("pin-judge-changed", fields)]


def check_reference(
    asked_model: str | None,
    recorded: ReferencePin | None,
    models_here: Collection[str],
    option: str,
) -> list[Notice]:
    """Check before a run that the pinned reference will be among its models.

    The name without the settings in brackets counts, too.

    Args:
        asked_model: the model that the user asks to pin; None if the folder's pin is used.
        recorded: the folder's pin; None if there is none.
        models_here: names of the models of the run, and of the runs that it is ranked with.
        option: how the user types `asked_model`.

    Returns:
        A list with a note that the folder's reference is not in `models_here`; else an empty list.

    Raises:
        UsageError: the model that the user asks to pin is not in `models_here`.
    """
    names = []
    if asked_model is not None:
        names = [asked_model, asked_model.partition(" (")[0]]
    elif recorded is not None:
        names = [recorded.model, recorded.plain]
    if not names or not {*names}.isdisjoint(models_here):
        return []
    if asked_model is None:
        return [Notice("pin-not-here", {"model": names[0], "known": sorted(models_here)})]
    alike = get_close_matches(asked_model, models_here, n=1)
    guess = f"; did you mean {alike[0]!r}?" if alike else ""
    raise UsageError(
        f"{option}: this run is not of {asked_model}, and there is no earlier run of it "
        f"(there are {some(sorted(models_here))}){guess}"
    )


def pin_place(folder: str) -> Place:
    """Return the place of the pin in a folder of podium's tournaments, a path or a URL."""
    return place_of(f"{folder.rstrip('/')}/{PIN_FILE}")


def read_pin(place: Place) -> ReferencePin | None:
    """Read a pin; None if there is no such file. A remote file that cannot be read counts as none.

    Raises:
        DataError: the file is not one that `write_pin` wrote.
        OSError: a file on this machine cannot be read.
    """
    if not isinstance(place, RemoteFile) and not place.exists():
        return None
    try:
        content = local_file(place).read_bytes()
    # A store answers in its own way that there is no such file.
    except (OSError, UsageError):
        if isinstance(place, RemoteFile):
            return None
        raise
    try:
        return _parse_pin(json.loads(content))
    except (ValueError, TypeError, KeyError, AttributeError):
        pin = option_text("pin", "MODEL")
        raise DataError(
            f"{place}: not a pinned reference of podium", remedy=f"{pin} writes it anew"
        ) from None


def _parse_pin(document: Any) -> ReferencePin:
    """Return the pin in a parsed JSON document, as `write_pin` writes it.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: a field is missing or of another type.
    """
    rankings = []
    for row in document["rankings"]:
        by = tuple(map(str, row["by"]))
        rankings.append(
            FirstRanking(
                task=str(row["task"]), ranker=str(row["ranker"]), by=by, date=str(row["date"])
            )
        )
    settings = {}
    for task, rows in document["settings"].items():
        settings[str(task)] = tuple(
            (str(kind), str(name), str(scorer), str(value)) for kind, name, scorer, value in rows
        )
    model, plain, date = (str(document[name]) for name in ("model", "plain", "date"))
    return ReferencePin(model, plain, date, settings, tuple(rankings))


def write_pin(place: Place, pin: ReferencePin) -> None:
    """Write a pin as JSON, and make its folder if there is none.

    Raises:
        OSError, UsageError: the file cannot be written.
    """
    if not isinstance(place, RemoteFile):
        place.parent.mkdir(parents=True, exist_ok=True)
    document = {"podium": FORMAT_VERSION, **asdict(pin)}
    write_text(place, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
