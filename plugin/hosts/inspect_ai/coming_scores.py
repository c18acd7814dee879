"""Check when an eval begins whether its scorers give the scores by which it is to be ranked."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from inspect_ai.log import EvalSpec

from podium.data.formats.headline_metrics import ALL_METRICS
from podium.errors import UsageError
from podium.hosts.inspect_ai.logs.earlier_logs import no_scorer_text
from podium.hosts.inspect_ai.logs.epoch_scores import measure_of_part
from podium.hosts.ranker_options import RankerOptions
from podium.notices.option_forms import option_text
from podium.wording import some


def check_scorers(options: RankerOptions, spec: EvalSpec) -> None:
    """Check that the scorers of a coming eval declare the metrics that its user asks for.

    Inspect records what the scorers declare before the first call, when no hook can end the eval. A
    scorer may return parts that it does not declare, so an eval that fails the check may still be
    ranked.

    Args:
        options: podium's options of the run.
        spec: what Inspect has recorded of the eval.

    Raises:
        UsageError: models are ranked by scores, and the task has no scorer, or none that declares
            a metric that is asked for.
    """
    if options.judges:
        return
    if not spec.scorers:
        raise UsageError(no_scorer_text(spec.task))
    declared = [*_declared_parts(spec)]
    for asked_metric in options.reading.get("metric", ()):
        if asked_metric == ALL_METRICS:
            continue
        is_declared = any(
            _is_of_part(asked_metric, spec.task, scorer, part) for scorer, part in declared
        )
        if not is_declared:
            scorer_names = [" ".join(filter(None, names)) for names in declared]
            raise UsageError(
                f"{option_text('metric', asked_metric)}: the scorers of {spec.task} declare no "
                f"such metric (there are: {some(scorer_names, most=10)})"
            )


def _declared_parts(spec: EvalSpec) -> Iterator[tuple[str, str]]:
    """Yield pairs of a scorer's name and a part of its scores, one for each part that has metrics.

    The part is empty for metrics of the whole score, and for a scorer without metrics. It may be a
    pattern, as in `metrics={"*": [mean()]}`. The name is without the package of the scorer.
    """
    for scorer in spec.scorers or ():
        name = scorer.name.rpartition("/")[2]
        listed = [scorer.metrics] if isinstance(scorer.metrics, dict) else scorer.metrics or []
        parts: list[str] = []
        has_whole = False
        for metrics in listed:
            if isinstance(metrics, dict):
                parts += metrics
            else:
                has_whole = True
        if has_whole or not parts:
            yield name, ""
        for part in parts:
            yield name, part


def _is_of_part(asked_metric: str, task: str, scorer: str, part: str) -> bool:
    """Return whether a user's name of a metric is one of the names of a part of scores.

    Digits after the name of the scorer are ignored: Inspect numbers scorers of one name.

    Args:
        asked_metric: the name of the metric, as the user typed it.
        task: the task of the eval.
        scorer: name of the scorer.
        part: the part, which may be a pattern with `*`; empty for a plain value.
    """
    # Of two scorers of one name, Inspect numbers the second.
    name = re.sub(rf"(^|\s){re.escape(scorer)}\d+(?=\s|$)", rf"\1{scorer}", asked_metric)
    names = measure_of_part(task, scorer, part).names
    return any(fnmatchcase(word, pattern) for word in (asked_metric, name) for pattern in names)
