"""Check before lm-eval runs whether the rankers will be able to rank the run."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from podium.hosts.ranker_options import RankerOptions
from podium.plugins import catalogue
from podium.rankers.json_files import read_calibration
from podium.ranking.trial_ranking import (
    ComingBattles,
    check_rankers,
    coming_verdicts,
    names_model,
    settings_without_models,
)
from podium.scorers.judging import known_options

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
    calibration = read_calibration(options.calibration) if options.calibration else None
    models = sorted({model, *others})
    played = options.args.get("models")
    if isinstance(played, list) and played:
        models = list(map(str, played))
    elif played:
        models = str(played).split(",")
    if len(models) < 2:
        models = [model, "another model", "a third model"]
        settings = settings_without_models(settings)
    return check_rankers(options.rankers, _coming_battles(options, models), settings, calibration)


def named_model(settings: Mapping[str, Any], typed: str) -> str:
    """Return the name of this run's model, as far as it can be known before the run.

    If a setting of a ranker, such as `pin`, names a model whose last part occurs in `typed`, this
    is taken to be this run's model. Otherwise `THIS_RUN` is returned.

    Args:
        settings: settings of the rankers by name.
        typed: the model and its arguments as they were typed for lm-eval.
    """
    for name, value in settings.items():
        if names_model(name) and value:
            model = str(value).rpartition(":")[0] if name.endswith("pin") else str(value)
            # Runs of one model that differ in a setting are named `MODEL (setting=value)`.
            plain = model.partition(" ")[0].rpartition("/")[2]
            if plain and plain in typed:
                return model
    return THIS_RUN


def _coming_battles(options: RankerOptions, models: list[str]) -> ComingBattles:
    """Return what is known of the battles to come: verdicts of judges, or scores by metrics.

    Without judges, they are scores by one metric if it is named, else by several.
    """
    if not options.judges:
        return ComingBattles(models, metrics=1 if "metric" in options.reading else 2)
    judge_options = {name: value for name, value in options.args.items() if name in known_options()}
    in_turn = options.args.get("judges", "all") != "all"
    return coming_verdicts(
        models, options.judges, catalogue.judging_settings(**judge_options), one_jury=in_turn
    )
