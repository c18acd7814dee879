"""Check before an eval runs whether podium will be able to rank it."""

from collections.abc import Sequence

from podium.data.formats.files import split_label
from podium.errors import UsageError, unknown_name_error
from podium.hosts.coming_battles import (
    is_typed,
    models_in_arguments,
    models_in_settings,
    try_rankers,
)
from podium.hosts.ranker_options import RankerOptions
from podium.notices.option_forms import option_text
from podium.plugins.settings import parse_settings
from podium.storage.remote import place_of

FIELDS_OF_EVALS = ("judges", "judge_args", "tournament", "args", "against")
"""Fields of `RankerOptions` for evals. A tournament that is a task has other options for them."""


def refuse_options_of_evals(options: RankerOptions) -> None:
    """Raise UsageError if options of evals are given to a tournament that is a task.

    These are the options in `FIELDS_OF_EVALS`, and `pin`.
    """
    for name in FIELDS_OF_EVALS:
        if getattr(options, name):
            option = "judge" if name == "judges" else name
            option_as_typed = option_text(option)
            raise UsageError(
                f"{option_as_typed} is for an eval that is followed by a tournament: give a task "
                "podium/NAME its own -T responses=..., -T OPTION=VALUE and --model-role "
                "judge=MODEL"
            )
    if options.pin:
        raise UsageError(
            f"{option_text('pin')} is for the logs of models: the log of a tournament has the "
            "ratings of all models"
        )


def check_reference_of_eval(
    options: RankerOptions, typed: Sequence[str], log_dir: str
) -> list[str]:
    """Check that the pinned reference will be among the models of a coming eval, and played.

    The models are not checked if no argument is `--model`.

    Args:
        options: podium's options of the run.
        typed: the arguments of Inspect's command.
        log_dir: the folder in which the eval's log will lie.

    Returns:
        notes: the reference of the folder is not among the models, or the tournament has another
        anchor than the rankers or the reference.

    Raises:
        UsageError: `--ranker-pin` names a model of which there is no log.
        DataError: the file of the pin is damaged, and the options name no model.
    """
    from podium.hosts.folder_pin import open_pin
    from podium.hosts.host_ranking import notes_on_anchors
    from podium.hosts.inspect_ai.logs.earlier_logs import models_of_logs, tournament_folder
    from podium.hosts.reference_pin import check_reference
    from podium.notices.notice_text import notice_texts

    # Only the folder of the log counts, so its name may be any.
    log = place_of(f"{log_dir.rstrip('/')}/any.eval")
    pin = open_pin(tournament_folder(log), options.pin)
    pinned = None if pin.pin is None else pin.pin.model
    settings = parse_settings(options.settings, options.rankers)
    notices = [*notes_on_anchors(options, settings, pinned)]
    coming_models = {*_typed_models(typed)}
    if pin.pin is not None and coming_models:
        if coming_models.isdisjoint((pin.pin.model, pin.pin.plain)):
            coming_models |= {*models_of_logs(options.against, log_dir)}
            coming_models |= {label for label, _ in map(split_label, options.against) if label}
        option_as_typed = option_text("pin", pin.pin.model)
        notices += check_reference(options.pin, pin.pin, coming_models, option_as_typed)
    return [*notice_texts(notices)]


def check_eval_options(options: RankerOptions) -> list[str]:
    """Check options of a coming eval, and return texts on rankers that others will replace.

    Models and metrics are known only when the eval runs, so that settings of rankers that name a
    model are not checked here (see `check_named_models`).

    Raises:
        UsageError: an option is wrong, or a ranker cannot rank the eval.
        DataError: the file of the calibration is damaged.
    """
    from podium.hosts.inspect_ai.logs.earlier_logs import require_logs

    settings = parse_settings(options.settings, options.rankers)
    require_logs(options.against)
    if options.judges:
        from podium.hosts.inspect_ai.judged_run import check_tournament

        check_tournament(options)
    return try_rankers(options, settings, models=(), placeholder="one model")


def check_named_models(options: RankerOptions, typed: Sequence[str], log_dir: str) -> None:
    """Raise UsageError if an option of a ranker or a tournament names a model that is not there.

    Such options are `pin` and `anchor`. A model is there if the last part of its name (`gpt-5` of
    `openai/gpt-5`) is a whole part (`is_typed`) of an argument, of a source of `--ranker-against`,
    or of the name of a model in a log that the eval may be ranked with. Nothing is checked if no
    argument is `--model`, or one is a file with settings, or names are joined, because the names in
    the ranking are not known then.

    Args:
        options: podium's options of the run.
        typed: the arguments of Inspect's command.
        log_dir: the folder in which the eval's log will lie.
    """
    models = _typed_models(typed)
    has_file = any(word.endswith((".yaml", ".yml", ".json")) for word in typed)
    if not models or has_file or "names" in options.reading:
        return
    named_models = [*typed, *options.against]
    earlier: list[str] | None = None
    settings = parse_settings(options.settings, options.rankers)
    for name in (*models_in_settings(settings), *models_in_arguments(options.args)):
        if any(is_typed(name, word) for word in named_models):
            continue
        if earlier is None:
            from podium.hosts.inspect_ai.logs.earlier_logs import models_of_logs

            earlier = models_of_logs(options.against, log_dir)
        if not any(is_typed(name, model) for model in earlier):
            raise unknown_name_error("model", name, dict.fromkeys([*models, *earlier]))


def _typed_models(typed: Sequence[str]) -> list[str]:
    """Return the names of the models that `--model` names, separated by commas, in order.

    Empty if `--model` is not given. The names of several `--model` are all returned.
    """
    names: list[str] = []
    for number, word in enumerate(typed):
        option, equals, value = word.partition("=")
        if option == "--model":
            following = typed[number + 1] if number + 1 < len(typed) else ""
            names += (value if equals else following).split(",")
    return [name for name in names if name]
