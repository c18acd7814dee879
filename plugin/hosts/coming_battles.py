"""Try the rankers of a run before it begins on battles like those to come."""

import re
from collections.abc import Mapping, Sequence
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
from podium.tournaments.anchor import AUTO

INSIDE_PART = r"""[^\s,=/\\'"{}\[\]]"""
"""Matches a character that does not end a part of what was typed: a name, a path or an argument.

Arguments may be a mapping of Python as text, which has quotes and brackets.
"""
PLACEHOLDERS = ("another model", "a third model")
"""Names that stand for the models of other runs if fewer than two models are known."""


def try_rankers(
    options: RankerOptions, settings: Mapping[str, Any], models: Sequence[str], placeholder: str
) -> list[str]:
    """Check that rankers can rank a run; return texts on rankers that others will replace.

    Args:
        options: podium's options of the run.
        settings: settings of the rankers. If fewer than two models are known, those that name a
            model are not checked.
        models: the models that are known before the run.
        placeholder: name that stands for this run's model if fewer than two models are known.

    Raises:
        UsageError: a ranker could not rank the run, or there is no file of the calibration.
        DataError: the file of the calibration is damaged, or has another format version.
    """
    calibration = read_calibration(options.calibration) if options.calibration else None
    if len(models) < 2:
        # A single known model is replaced, too: the trial needs models that can be told apart, and
        # no setting that names one is checked.
        models = [placeholder, *PLACEHOLDERS]
        settings = settings_without_models(settings)
    return check_rankers(options.rankers, _describe_battles(options, models), settings, calibration)


def models_in_settings(settings: Mapping[str, Any]) -> list[str]:
    """Return the models that settings of rankers name, as `pin=MODEL:1000` does, in their order.

    A model occurs as often as it is named. Empty values are left out.
    """
    names = []
    for name, value in settings.items():
        if names_model(name) and value:
            text = str(value)
            # A pin is `MODEL:RATING`.
            is_pin = name.endswith("pin")
            names.append(text.rpartition(":")[0] if is_pin else text)
    return names


def models_in_arguments(arguments: Mapping[str, Any]) -> list[str]:
    """Return the models that options of a tournament name as its anchors, in their order.

    Empty if the option `anchor` is not given, or is `auto`.
    """
    value = arguments.get("anchor", AUTO)
    names = value.split(",") if isinstance(value, str) else [str(name) for name in value]
    return [name.strip() for name in names if name.strip() not in ("", AUTO)]


def _describe_battles(options: RankerOptions, models: Sequence[str]) -> ComingBattles:
    """Return what is known of the battles to come: verdicts of judges, or scores by metrics.

    If the options name no metric, the scores count as those of two metrics.

    Args:
        options: podium's options of the run. If they name no judge, there will be scores.
        models: names of the models that will be ranked.
    """
    has_labels = bool({"human_judge", "human_labels"} & options.reading.keys())
    if not options.judges:
        return ComingBattles(models, human=has_labels)
    judging_options = {
        name: value for name, value in options.args.items() if name in known_options()
    }
    judging = catalogue.judging_settings(**judging_options)
    is_jury = len(options.judges) > 1
    return coming_verdicts(models, options.judges, judging, one_jury=is_jury, human=has_labels)


def is_typed(model: str, typed: str) -> bool:
    """Return whether the last part of a model's name (`last_part`) is a whole part of a text.

    Parts are divided by blanks, quotes, brackets and `,`, `=` or `/`: `llama` is one of
    `hf pretrained=org/llama`, and none of `hf pretrained=org/llama-70b`.

    Args:
        model: name of the model.
        typed: the model and its arguments as they were typed.
    """
    plain = last_part(model)
    whole = rf"(?<!{INSIDE_PART}){re.escape(plain)}(?!{INSIDE_PART})"
    return bool(plain) and re.search(whole, typed) is not None


def last_part(model: str) -> str:
    """Return the last part of a model's name, without settings: `m` of `org/m (shots=5)`."""
    # Runs of one model that differ in a setting are named `MODEL (setting=value)`.
    without_settings, _, _ = model.partition(" ")
    _, _, last = without_settings.rpartition("/")
    return last
