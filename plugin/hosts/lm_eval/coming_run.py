"""Check before lm-eval runs whether the rankers will be able to rank the run."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from podium.hosts.coming_battles import is_typed, models_in_settings, try_rankers
from podium.hosts.folder_pin import FolderPin
from podium.hosts.host_ranking import notes_on_anchors
from podium.hosts.ranker_options import RankerOptions
from podium.hosts.reference_pin import check_reference
from podium.notices.notice_text import notice_texts
from podium.notices.option_forms import option_text

THIS_RUN = "this run's model"
"""Stands for the name of this run's model, which lm-eval makes from the model's arguments."""


def check_run(
    options: RankerOptions,
    settings: Mapping[str, Any],
    pin: FolderPin,
    typed: str,
    others: AbstractSet[str],
) -> list[str]:
    """Check that a run can be ranked, and return texts on rankers and on the pinned reference.

    Args:
        options: podium's options of the run.
        settings: settings of the rankers by name.
        pin: the pin of the output path.
        typed: the model and its arguments as they were typed for lm-eval.
        others: names of the models of other runs.

    Raises:
        UsageError: a ranker could not rank the run, or `--ranker_pin` names a model of which there
            is no run.
    """
    model = options.label or named_model(settings, typed)
    notes = check_coming(options, settings, model, others)
    return notes + check_reference_of_run(pin, options, settings, typed, others)


def check_coming(
    options: RankerOptions, settings: Mapping[str, Any], model: str, others: AbstractSet[str]
) -> list[str]:
    """Check that a run can be ranked, and return texts on rankers that others will replace.

    The rankers are tried on made-up verdicts or scores of the models.

    Args:
        options: podium's options of the run. If they name the models that play, these are tried
            instead of `model` and `others`.
        settings: settings of the rankers by name, as `pin` or `bradley-terry.pin`.
        model: name of this run's model.
        others: names of the models of other runs. If fewer than two models would be ranked, made-up
            ones are added, and settings that name a model are not checked.

    Raises:
        UsageError: a ranker could not rank the run.
    """
    models = sorted({model, *others})
    competitors = options.args.get("models")
    if isinstance(competitors, list) and competitors:
        models = list(map(str, competitors))
    elif competitors:
        models = str(competitors).split(",")
    return try_rankers(options, settings, models=models, placeholder=model)


def check_reference_of_run(
    pin: FolderPin,
    options: RankerOptions,
    settings: Mapping[str, Any],
    typed: str,
    others: AbstractSet[str],
) -> list[str]:
    """Check that the pinned reference will be among the models, and will be played.

    Args:
        pin: the pin of the output path.
        options: podium's options of the run.
        settings: settings of the rankers by name.
        typed: the model and its arguments as they were typed for lm-eval.
        others: names of the models of other runs.

    Returns:
        notes: the reference of the folder may not be among the models, or the tournament has
        another anchor than the rankers or the reference.

    Raises:
        UsageError: `--ranker_pin` names a model of which there is no run.
    """
    pinned = None if pin.pin is None else pin.pin.model
    notices = [*notes_on_anchors(options, settings, pinned)]
    if pin.pin is None:
        return [*notice_texts(notices)]
    is_this_run = options.label is None and is_typed(pin.pin.plain, typed)
    model = options.label or (pin.pin.model if is_this_run else THIS_RUN)
    option = option_text("pin", pin.pin.model)
    notices += check_reference(options.pin, pin.pin, {model, *others}, option)
    return [*notice_texts(notices)]


def named_model(settings: Mapping[str, Any], typed: str) -> str:
    """Return the name of this run's model, as far as it can be known before the run.

    Settings of rankers may name models, as `pin=MODEL:1000` does. The first of these models that
    was also typed for lm-eval (`is_typed`) is taken to be this run's model. The result is
    `THIS_RUN` if there is none.

    Args:
        settings: settings of the rankers by name.
        typed: the model and its arguments as they were typed for lm-eval.
    """
    for model in models_in_settings(settings):
        if is_typed(model, typed):
            return model
    return THIS_RUN
