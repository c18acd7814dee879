"""Notes on provider batches (`--batch`): what they cost in time, and which models have none."""

from collections.abc import Iterator, Sequence

from inspect_ai.model import Model

from podium.hosts.inspect_ai.inspect_ai_compatibility import batch_of, seconds_of_batch
from podium.hosts.inspect_ai.judging.judge_models import has_batches
from podium.notices.notice import Notice


def notes_on_batches(
    rounds: int | None, judges: Sequence[Model], models: Sequence[Model]
) -> Iterator[Notice]:
    """Yield a note on the time that rounds wait for batches, and one on models without batches.

    Nothing is yielded if no batches are asked for, or if there is one round and all models and
    judges have batches.

    Args:
        rounds: the maximum number of rounds; None if it is not known.
        judges: the judges.
        models: the models that are asked for answers.
    """
    asked_models = [*judges, *models]
    with_batches = [model for model in asked_models if has_batches(model)]
    if with_batches and rounds != 1:
        seconds = max(seconds_of_batch(batch_of(model)) for model in with_batches)
        if rounds is None:
            yield Notice("batches-in-unknown-rounds", {"seconds": seconds})
        else:
            # A batch of a provider may take up to a day.
            fields = {"rounds": rounds, "seconds": seconds, "days": rounds}
            yield Notice("batches-in-rounds", {**fields, "minutes": rounds * seconds / 60})
    named_with_batches = {*map(str, with_batches)}
    without = sorted({str(model) for model in asked_models if batch_of(model)} - named_with_batches)
    if without:
        yield Notice("no-batches", {"models": without})
