"""Check before an eval runs whether podium will be able to rank it."""

from podium.errors import UsageError
from podium.hosts.coming_battles import try_rankers
from podium.hosts.ranker_options import RankerOptions
from podium.notices.option_forms import option_text
from podium.plugins.settings import parse_settings

OF_EVALS = ("judges", "judge_args", "tournament", "args", "against")
"""Fields of `RankerOptions` for evals. A tournament that is a task has other options for them."""


def refuse_options_of_evals(options: RankerOptions) -> None:
    """Raise UsageError if options of evals are given to a tournament that is a task."""
    for name in OF_EVALS:
        if getattr(options, name):
            given = option_text("judge" if name == "judges" else name)
            raise UsageError(
                f"{given} is for an eval that is followed by a tournament: give a task podium/NAME "
                "its own -T responses=..., -T OPTION=VALUE and --model-role judge=MODEL"
            )


def check_eval_options(options: RankerOptions) -> list[str]:
    """Check options of a coming eval, and return notes on rankers that others will replace.

    Models and metrics are known only when the eval runs, so that settings of rankers that name a
    model are not checked.

    Raises:
        UsageError: an option is wrong, or a ranker cannot rank the eval.
    """
    from podium.hosts.inspect_ai.logs.earlier_logs import find_sources

    settings = parse_settings(options.settings, options.rankers)
    find_sources(options.against)
    if options.judges:
        from podium.hosts.inspect_ai.judged_run import check_tournament

        check_tournament(options)
    return try_rankers(options, settings, (), "one model")
