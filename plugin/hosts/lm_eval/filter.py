"""The judging filter: a task's YAML names it, and every response of the run is compared with the opponents'."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from inspect_ai.model import GenerateConfig, Model
from lm_eval.api.filter import Filter

from podium.errors import UsageError
from podium.formats.lm_eval_judged import OWN, verdicts_as_text
from podium.hosts.lm_eval.batch import judge_battles
from podium.hosts.lm_eval.judge import judge_model, refuse_lm_eval_model
from podium.hosts.lm_eval.opponents import Against, meet_opponents
from podium.hosts.lm_eval.registry import issue_verdicts, register
from podium.hosts.lm_eval.secrets import redact, refuse_secrets
from podium.plugins.catalogue import judging_settings
from podium.scorers.judging import known_options, refuse_unknown_options
from podium.scorers.reasoning import Policy, check_policy, strip_reasoning

OWN_OPTIONS = frozenset(
    ("against", "judge", "judge_args", "model", "item", "task", "concurrency", "max_retries", "timeout", "cache")
) | {"reasoning"}

log = logging.getLogger(__name__)


@register("filter", "podium_judge")
class JudgeFilter(Filter):
    """Let a judge compare every response with those of the opponents; keep the verdicts as JSON, one per document.

    lm-eval hands over all responses of a task at once, so the judge is asked for many battles at a time, both orders
    of each. A battle that fails is unparsed, with its reason, and the others are judged. Replies are cached by Inspect,
    apart for every judge: a second run asks nothing.
    """

    def __init__(
        self,
        against: Against,
        judge: str | Sequence[str],
        *,
        judge_args: Mapping[str, Any] | None = None,
        model: str = OWN,
        item: str | None = None,
        task: str | None = None,
        concurrency: int = 10,
        max_retries: int = 3,
        timeout: int | None = 300,
        cache: bool = True,
        reasoning: Policy = "strip",
        **options: Any,
    ) -> None:
        """Check what is asked for; nothing is read or called yet.

        Args:
            against: output folders of earlier runs, or any files of responses that podium reads, each optionally
                `label=path`; or a mapping of labels to paths.
            judge: an Inspect model, as `openai/...` or `podium/offline`; several are a jury.
            judge_args: arguments of that model, as `base_url`; no keys.
            model: what to call this run's model.
            item: the document's field that is the items' id in `against`; by default documents are known by content.
            task: the task whose samples count, where folders in `against` hold several with the same documents.
            concurrency: calls at once, at most.
            max_retries: of one call.
            timeout: of one call, in seconds.
            cache: take replies of earlier runs instead of new calls.
            reasoning: whether the judge is shown what a model thought before it answered (`keep`) or not.
            **options: of `podium.plugins.catalogue.judging_settings`: `realization`, `orders`, `repeats`, ...
        """
        super().__init__()
        refuse_secrets({"against": against, "judge": judge, "judge_args": judge_args or {}, **options})
        refuse_unknown_options(options, known_options() | OWN_OPTIONS)
        for name, number in (("concurrency", concurrency), ("timeout", 1 if timeout is None else timeout)):
            if number < 1:
                raise UsageError(f"{name}={number}: give 1 or more")
        # YAML takes the word `off` for false.
        if options.get("logprobs") is False:
            options["logprobs"] = "off"
        self.how = judging_settings(**options)
        self.judges = (judge,) if isinstance(judge, str) else tuple(judge)
        for name in self.judges:
            refuse_lm_eval_model(name, "judge:")
        self.judge_args = judge_args or {}
        self.concurrency, self.cache = concurrency, cache
        self.strips, self.reasoning = check_policy(reasoning), reasoning
        self.limits: dict[str, Any] = {
            "max_connections": concurrency,
            "max_retries": max_retries,
            "attempt_timeout": timeout,
        }
        self.against, self.model, self.item, self.task = against, model, item, task

    def apply(self, resps: Iterable[Any], docs: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the verdicts on every response, as JSON.

        Args:
            resps: per document, its responses (each is judged) or what an earlier filter made of them.
            docs: the documents.

        Raises:
            UsageError: opponents that cannot be read or do not fit the documents, or an unknown judge.
        """
        responses = _texts_of_each(resps)
        if self.strips:
            whole, responses = responses, [list(map(strip_reasoning, texts)) for texts in responses]
            texts_and_answers = zip(chain(*whole), chain(*responses), strict=True)
            if changed := sum(text != answer for text, answer in texts_and_answers):
                log.warning("podium: %d responses begin with reasoning, which the judge is not shown", changed)
        met = meet_opponents(
            self.against, self.model, docs, responses, field=self.item, task=self.task, reasoning=self.reasoning
        )
        battles = [battle for opposition in met for battle in opposition.battles]
        rows = iter(judge_battles(self.how, battles, self._models, concurrency=self.concurrency, cache=self.cache))
        documents = []
        for opposition in met:
            own = [next(rows) for _ in opposition.battles]
            read = [row for row in own if row["credit"] is not None]
            earned = [row["credit"] if row["model_a"] == self.model else 1 - row["credit"] for row in read]
            documents.append(
                {
                    "item": opposition.item,
                    "model": self.model,
                    "credit": sum(earned) / len(earned) if earned else None,
                    "one_sided": self.how.one_sided,
                    "missing": dict(opposition.missing),
                    "battles": own,
                }
            )
        _log_counts(documents, self.judges)
        return [issue_verdicts(redact(verdicts_as_text(document))) for document in documents]

    def _models(self) -> list[Model]:
        models = [judge_model(name, self.judge_args, "judge:") for name in self.judges]
        for model in models:
            model.config = model.config.merge(GenerateConfig(**self.limits))
        return models


def _texts_of_each(responses: Iterable[Any]) -> list[list[str]]:
    """Return the responses to each document, of which there are several where a task asks for `repeats`.

    Raises:
        UsageError: one is no text.
    """
    by_document = [list(given) or [""] if isinstance(given, list | tuple) else [given] for given in responses]
    for text in chain(*by_document):
        if not isinstance(text, str):
            raise UsageError(
                f"a response to be judged is no text but {type(text).__name__}: only tasks with "
                "`output_type: generate_until` can be judged"
            )
    return by_document


def _log_counts(documents: Sequence[Mapping[str, Any]], judges: Sequence[str]) -> None:
    battles = [battle for document in documents for battle in document["battles"]]
    unparsed = Counter(battle["reason"] for battle in battles if battle["credit"] is None)
    missing = Counter(why for document in documents for why in document["missing"].values())
    lost = [f"{number} unparsed ({why})" for why, number in sorted(unparsed.items())]
    lost += [f"{number} not played ({why})" for why, number in sorted(missing.items())]
    counts = f"{len(battles) - unparsed.total()} of {len(battles)} battles judged by {', '.join(judges)}"
    level = logging.WARNING if lost else logging.INFO
    log.log(level, "podium: %d documents: %s", len(documents), "; ".join([counts, *lost]))
