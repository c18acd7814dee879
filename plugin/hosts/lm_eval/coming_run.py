"""Check before lm-eval runs whether the rankers will be able to rank the run."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from podium.hosts.coming_battles import models_in_settings, try_rankers
from podium.hosts.ranker_options import RankerOptions

THIS_RUN = "this run's model"
"""Stands for the name of this run's model, which lm-eval makes from the model's arguments."""


def check_coming(
    options: RankerOptions, settings: Mapping[str, Any], model: str, others: AbstractSet[str]
) -> list[str]:
    """Check that a run can be ranked, and return notes on rankers that others will replace.

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
    played = options.args.get("models")
    if isinstance(played, list) and played:
        models = list(map(str, played))
    elif played:
        models = str(played).split(",")
    return try_rankers(options, settings, models, model)


def named_model(settings: Mapping[str, Any], typed: str) -> str:
    """Return the name of this run's model, as far as it can be known before the run.

    If a setting of a ranker, such as `pin`, names a model whose last part occurs in `typed`, this
    is taken to be this run's model. Otherwise `THIS_RUN` is returned.

    Args:
        settings: settings of the rankers by name.
        typed: the model and its arguments as they were typed for lm-eval.
    """
    for model in models_in_settings(settings):
        # Runs of one model that differ in a setting are named `MODEL (setting=value)`.
        plain = model.partition(" ")[0].rpartition("/")[2]
        if plain and plain in typed:
            return model
    return THIS_RUN
