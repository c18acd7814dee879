"""The judging filter that a task's YAML names: a judge compares every response with those of
opponents."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from inspect_ai.model import GenerateConfig, Model
from lm_eval.api.filter import Filter

from podium.data.formats.lm_eval_judged import UNNAMED_MODEL, verdicts_as_text
from podium.errors import UsageError
from podium.hosts.inspect_ai.inspect_command import refuse_lm_eval_model
from podium.hosts.lm_eval.batch import judge_battles, judges_of_battles
from podium.hosts.lm_eval.judge import judge_model
from podium.hosts.lm_eval.lm_eval_compatibility import register
from podium.hosts.lm_eval.metrics import remember_verdicts
from podium.hosts.lm_eval.opponents import Against, pair_with_opponents
from podium.hosts.lm_eval.secrets import redact, refuse_secrets
from podium.plugins.catalogue import judging_settings
from podium.plugins.settings import parameters_of
from podium.scorers.judging import known_options, refuse_unknown_options
from podium.scorers.reasoning import Policy, check_policy, strip_reasoning
from podium.tournaments.judge_rotation import read_shares

log = logging.getLogger(__name__)


@register("filter", "podium_judge")
class JudgeFilter(Filter):
    """Replace the responses to each document with a judge's verdicts as JSON text, many battles at
    a time, both orders of each; a failed battle is unparsed, and a second run makes no calls
    (Inspect caches replies)."""

    def __init__(
        self,
        against: Against,
        judge: str | Sequence[str],
        *,
        judge_args: Mapping[str, Any] | None = None,
        model: str = UNNAMED_MODEL,
        item: str | None = None,
        task: str | None = None,
        concurrency: int = 10,
        max_retries: int = 3,
        timeout: int | None = 300,
        cache: bool = True,
        reasoning: Policy = "strip",
        judges: str = "all",
        overlap: float = 0.0,
        **options: Any,
    ) -> None:
        """Validate the options; nothing is read or called yet.

        Args:
            against: output folders of earlier runs, or any files of responses that podium reads,
                each optionally `label=path`; or a mapping of labels to paths.
            judge: an Inspect model, as `openai/...` or `podium/offline`; several are a jury.
            judge_args: arguments of that model, as `base_url`; no keys.
            item: the document's field with the id of an item in `against`; by default documents are
                matched by content.
            task: the task whose samples count, if folders in `against` hold several with the same
                documents.
            timeout: of one call, in seconds; `max_retries` are also of one call, `concurrency` is
                the most at once.
            reasoning: whether the judge is shown the reasoning before an answer (`keep`) or not
                (`strip`).
            judges: whether `all` judge each battle, or take turns, one per battle (`rotate`,
                `rotate:2,1,1`).
            overlap: share of the battles that all judge when they take turns.
            **options: of `podium.plugins.catalogue.judging_settings`: `realization`, `orders`,
                `repeats`, ...
        """
        super().__init__()
        refuse_secrets(
            {"against": against, "judge": judge, "judge_args": judge_args or {}, **options}
        )
        refuse_unknown_options(
            options, known_options() | parameters_of(JudgeFilter).keys() - {"options"}
        )
        for name, number in (
            ("concurrency", concurrency),
            ("timeout", 1 if timeout is None else timeout),
        ):
            if number < 1:
                raise UsageError(f"{name}={number}: give 1 or more")
        self.how = judging_settings(**options)
        self.judges = (judge,) if isinstance(judge, str) else tuple(judge)
        for name in self.judges:
            refuse_lm_eval_model(name, "judge:")
        read_shares(judges, overlap, len(self.judges))
        self.turns = (judges, overlap)
        self.judge_args = judge_args or {}
        self.concurrency, self.cache = concurrency, cache
        self.strips, self.reasoning = check_policy(reasoning), reasoning
        self.limits = GenerateConfig(
            max_connections=concurrency, max_retries=max_retries, attempt_timeout=timeout
        )
        self.against, self.model, self.item, self.task = against, model, item, task

    def apply(self, resps: Iterable[Any], docs: Sequence[Mapping[str, Any]]) -> list[str]:
        """Judge the responses and return, per document, the verdicts as JSON text."""
        texts = self._strip_reasoning(_texts_by_document(resps))
        matching: dict[str, Any] = {
            "field": self.item,
            "task": self.task,
            "reasoning": self.reasoning,
        }
        battles_of_documents = pair_with_opponents(
            self.against, self.model, docs, texts, **matching
        )
        battles = [battle for document in battles_of_documents for battle in document.battles]
        asked: dict[str, Any] = {
            "turns": self.turns,
            "concurrency": self.concurrency,
            "cache": self.cache,
        }
        rows = iter(judge_battles(self.how, battles, self._make_judges, **asked))
        documents = []
        for document in battles_of_documents:
            judged = [next(rows) for _ in document.battles]
            readable = [row for row in judged if row["credit"] is not None]
            credits = [
                row["credit"] if row["model_a"] == self.model else 1 - row["credit"]
                for row in readable
            ]
            credit = sum(credits) / len(credits) if credits else None
            counted = {
                "one_sided": self.how.one_sided,
                "missing": dict(document.missing),
                "judges": judges_of_battles(judged),
                "battles": judged,
            }
            documents.append(
                {"item": document.item, "model": self.model, "credit": credit, **counted}
            )
        _log_counts(documents, self.judges)
        return [remember_verdicts(redact(verdicts_as_text(document))) for document in documents]

    def _make_judges(self) -> list[Model]:
        """Return the judges as Inspect models with this filter's limits."""
        models = [judge_model(name, self.judge_args, "judge:") for name in self.judges]
        for model in models:
            model.config = model.config.merge(self.limits)
        return models

    def _strip_reasoning(self, responses: list[list[str]]) -> list[list[str]]:
        """Return the responses without reasoning, unless it is kept; log how many have some."""
        if not self.strips:
            return responses
        answers = [list(map(strip_reasoning, texts)) for texts in responses]
        if changed := sum(
            text != answer for text, answer in zip(chain(*responses), chain(*answers), strict=True)
        ):
            log.warning(
                "podium: %d responses begin with reasoning, which the judge is not shown", changed
            )
        return answers


def _texts_by_document(responses: Iterable[Any]) -> list[list[str]]:
    """Return the responses to each document; a task with `repeats` has several."""
    by_document = [
        list(given) or [""] if isinstance(given, list | tuple) else [given] for given in responses
    ]
    for text in chain(*by_document):
        if not isinstance(text, str):
            raise UsageError(
                f"a response to be judged is a {type(text).__name__}, not a text: only tasks with "
                "`output_type: generate_until` can be judged"
            )
    return by_document


def _log_counts(documents: Sequence[Mapping[str, Any]], judges: Sequence[str]) -> None:
    """Log how many battles were judged, and how many are unparsed or missing for which reason."""
    battles = [battle for document in documents for battle in document["battles"]]
    unparsed = Counter(battle["reason"] for battle in battles if battle["credit"] is None)
    missing = Counter(why for document in documents for why in document["missing"].values())
    lost = [f"{number} unparsed ({why})" for why, number in sorted(unparsed.items())]
    lost += [f"{number} not played ({why})" for why, number in sorted(missing.items())]
    counts = (
        f"{len(battles) - unparsed.total()} of {len(battles)} battles judged by {', '.join(judges)}"
    )
    level = logging.WARNING if lost else logging.INFO
    log.log(level, "podium: %d documents: %s", len(documents), "; ".join([counts, *lost]))
