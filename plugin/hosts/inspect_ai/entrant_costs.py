"""What the models' own answers took, by the logs that hold them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podium.hosts.inspect_ai.log_format import ASKED, is_log, is_tournament


def costs_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a row per answer of a model in a log: tokens in and out, working seconds, money; None where it is unknown.

    Of an ordinary eval every sample is an answer; of a tournament those that entrants were asked for on demand.

    Raises:
        DataError: it is no whole log.
    """
    if not is_log(path):
        return
    from inspect_ai.log import read_eval_log_sample_summaries

    from podium.hosts.inspect_ai.logs import read_by_inspect

    log = read_by_inspect(path, header_only=True)
    of_tournament = is_tournament(log)
    for sample in read_eval_log_sample_summaries(str(path)):
        names = sample.metadata.get(ASKED, ()) if of_tournament else (log.eval.model,)
        for name in () if sample.error or not sample.completed else names:
            usage = sample.model_usage.get(name)
            yield {
                "model": name,
                "tokens in": usage and usage.input_tokens,
                "tokens out": usage and usage.output_tokens,
                "seconds": sample.working_time if len(names) == 1 else None,
                "money": usage and usage.total_cost,
            }
