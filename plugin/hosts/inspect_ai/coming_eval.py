"""Check before an eval runs whether podium will be able to rank it."""

from dataclasses import replace

from podium.hosts.ranker_options import RankerOptions
from podium.plugins.settings import parse_settings
from podium.rankers.json_files import read_calibration
from podium.ranking.trial_ranking import COMING_SCORES, check_rankers, settings_without_models


def check_eval_options(options: RankerOptions) -> list[str]:
    """Check options of a coming eval, and return notes on rankers that others will replace.

    Models and metrics are known only when the eval runs, so that settings of rankers that name a
    model are not checked.

    Raises:
        UsageError: an option is wrong, or a ranker cannot rank scores of an eval.
    """
    settings = settings_without_models(parse_settings(options.settings, options.rankers))
    calibration = read_calibration(options.calibration) if options.calibration else None
    has_labels = bool({"human_judge", "human_labels"} & options.reading.keys())
    coming = replace(COMING_SCORES, human=has_labels)
    return check_rankers(options.rankers, coming, settings, calibration)
