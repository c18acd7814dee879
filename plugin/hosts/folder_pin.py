"""The pin of a folder during a run: which reference is used, what is said of it, and its file."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from podium.data.battles import Battles
from podium.errors import DataError
from podium.hosts.own_figures import WrittenFigure, depends_on_opponents, figures_of_models
from podium.hosts.reference_pin import (
    FirstRanking,
    ReferencePin,
    changes_of_reference,
    find_reference,
    now,
    pin_of_model,
    pin_place,
    read_pin,
    with_ranking,
    with_settings,
    write_pin,
)
from podium.notices.notice import Notice
from podium.rankers.ranking import Ranking
from podium.storage.remote import Place


@dataclass
class FolderPin:
    """The pin of a folder during a run, and what the run adds to it.

    Attributes:
        place: the file of the pin; None if the run has no folder for it.
        recorded: the pin in the file before the run; None if there was none.
        pin: the pin that is used; None if there is none.
        notes: what is said about the pin.
        lacks_pin: whether ratings were written without a pin.
    """

    place: Place | None
    recorded: ReferencePin | None
    pin: ReferencePin | None
    notes: list[Notice] = field(default_factory=list)
    lacks_pin: bool = False

    def name_among(self, models: Collection[str]) -> str | None:
        """Return the name of the pinned reference if it is in `models`; else None.

        A model of this name with settings added to it does not count, as its settings are not known
        here.
        """
        return None if self.pin is None else find_reference(self.pin, models)

    def written_figures(
        self, task: str, ranking: Ranking, battles: Battles, models: Collection[str]
    ) -> tuple[WrittenFigure, ...]:
        """Return the figures of some models in the ranking of a task, and record the ranking.

        The ranking is not recorded if no scores in it depend on the other models, as means of a
        model's own scores do not.
        If the pinned reference is not among the models of the ranking, or if there is none, win
        rates are against all models, and a note says so.

        Args:
            task: name of the task or group.
            ranking: the ranking.
            battles: its battles.
            models: the run's own models.
        """
        reference = None
        if self.pin is not None:
            reference = find_reference(self.pin, battles.models, battles.runs)
        if any(map(depends_on_opponents, ranking.standings)):
            self._record(task, ranking, battles, reference)
        written = figures_of_models(task, ranking, battles, models, reference)
        self.notes += written.notes
        return written.figures

    def _record(self, task: str, ranking: Ranking, battles: Battles, reference: str | None) -> None:
        """Add the ranking of a task to the pin, and note what has changed since its first one.

        If there is no pin, or no reference among the models, nothing is added, and this is noted.
        """
        if self.pin is None:
            self.lacks_pin = True
            return
        if reference is None:
            self.notes.append(Notice("pin-absent", {"task": task, "model": self.pin.model}))
            return
        if not self.pin.rankings:
            # Only a ranking shows the settings of the reference.
            self.pin = replace(pin_of_model(reference, battles.runs), date=self.pin.date)
        rankers = ",".join(dict.fromkeys(each.ranker for each in ranking.standings))
        first = FirstRanking(task=task, ranker=rankers, by=ranking.judges_or_metrics, date=now())
        changes = changes_of_reference(self.pin, reference, battles.runs)
        self.pin, notes = with_ranking(self.pin, first)
        self.pin = with_settings(self.pin, reference, battles.runs)
        self.notes += [*changes, *notes]

    def save(self, models: Collection[str]) -> list[Notice]:
        """Write the pin if the run has changed it, and return what is said about it.

        A pin without a ranking is written only if its model is one of the run's. A run without a
        folder writes none.

        Args:
            models: the run's own models.

        Raises:
            OSError, UsageError: the file cannot be written.
        """
        notes = list(dict.fromkeys(self.notes))
        if self.lacks_pin:
            notes.append(Notice("no-pin"))
        if self.place is None or self.pin is None or self.pin == self.recorded:
            return notes
        if self.pin.rankings or self.pin.model in models:
            if self.recorded is not None and self.recorded.plain != self.pin.plain:
                fields = {"before": self.recorded.model, "model": self.pin.model}
                notes.append(Notice("pin-changed", fields))
            write_pin(self.place, self.pin)
        return notes


def open_pin(folder: str | None, asked_model: str | None) -> FolderPin:
    """Return the pin of a folder of podium's tournaments. Nothing is written.

    Args:
        folder: the folder, a path or a URL; None if the run has none.
        asked_model: the model that the user asks to pin; None for the folder's. If the folder's pin
            is on this model, it is kept with its rankings; any other is replaced by a new one.

    Raises:
        DataError: the file of the pin is damaged, and the user names no model.
    """
    place = None if folder is None else pin_place(folder)
    recorded = None
    if place is not None:
        try:
            recorded = read_pin(place)
        except DataError:
            if asked_model is None:
                raise
    pin = recorded
    if asked_model is not None:
        is_recorded = recorded is not None and asked_model in (recorded.model, recorded.plain)
        if not is_recorded:
            pin = pin_of_model(asked_model)
    return FolderPin(place, recorded, pin)
