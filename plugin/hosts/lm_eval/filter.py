"""The judging filter, which a task names in its YAML.

A judge compares the responses of this run's model with responses of other models (opponents).
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Unpack

from inspect_ai.model import GenerateConfig, Model
from lm_eval.api.filter import Filter

from podium.data.formats.lm_eval_judged import IDENTICAL, UNNAMED_MODEL, verdicts_as_text
from podium.errors import UsageError
from podium.hosts.inspect_ai.judging.call_prices import Prices, check_prices
from podium.hosts.inspect_ai.judging.call_timeouts import CALL_TIMEOUT, check_call_timeout
from podium.hosts.inspect_ai.judging.judge_of_option import judge_model
from podium.hosts.inspect_ai.tournament.run_options import JudgeOptions
from podium.hosts.lm_eval.batch import judge_battles, pop_judges
from podium.hosts.lm_eval.lm_eval_compatibility import register
from podium.hosts.lm_eval.metrics import remember_verdicts
from podium.hosts.lm_eval.opponents import Against, DocumentBattles, pair_with_opponents
from podium.hosts.ranker_options import refuse_lm_eval_model
from podium.hosts.secrets import redact, refuse_secrets
from podium.plugins.catalogue import judging_settings
from podium.plugins.settings import parameters_of
from podium.scorers.judging import known_options, refuse_unknown_options
from podium.scorers.reasoning import Policy, check_policy, strip_reasoning
from podium.tournaments.judge_rotation import read_shares
from podium.wording import quantity

log = logging.getLogger(__name__)


class FilterOptions(JudgeOptions, total=False):
    """Options of the filter that say how the judge is asked."""

    seed: int
    """Seed of random orders and of judges in turn, 0 or more."""


@register("filter", "podium_judge")
class JudgeFilter(Filter):
    """Replaces the responses to each document by a judge's verdicts as JSON text.

    Many battles are judged at a time, in both orders. A battle whose calls fail is unparsed. A
    second run makes no calls, because Inspect caches the replies.
    """

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
        call_timeout: float | None = CALL_TIMEOUT,
        prices: Prices | None = None,
        cache: bool = True,
        reasoning: Policy = "strip",
        judges: str = "all",
        overlap: float = 0.0,
        **options: Unpack[FilterOptions],
    ) -> None:
        """Validate the options. No file is read and no call is made yet.

        Args:
            against: output folders of earlier runs, or any files of responses that podium reads,
                each optionally `label=path`; or a mapping of labels to paths.
            judge: name of an Inspect model, such as `openai/...` or `podium/offline`; or a list
                of names, which are a jury.
            judge_args: arguments of that model, for example `base_url`, but no API keys.
            model: the name of this run's model in the verdicts.
            item: the document's field with the id of an item in `against`; by default documents
                are matched by content.
            task: the task whose samples count, if folders in `against` hold several tasks with the
                same documents.
            concurrency: maximum number of calls at once, 1 or more.
            max_retries: maximum number of times that a failed call is repeated.
            call_timeout: seconds that each attempt of a call may take; None for no limit.
            prices: prices of a million input, output and (optional) cached input tokens by judge,
                as `{openai/gpt-5: [1.25, 10, 0.125]}`; they price what a prompt cache saved.
            cache: whether replies are taken from Inspect's cache.
            reasoning: whether the judge is shown the reasoning before an answer (`keep`) or not
                (`strip`).
            judges: whether all judges judge each battle (`all`), or one judge does in turn
                (`rotate`, or `rotate:2,1,1` with shares).
            overlap: share of the battles that all judges judge if they take turns.
            **options: how the judge is asked; `FilterOptions` describes each option.

        Raises:
            UsageError: an option is unknown or has a value that is not allowed, or an argument
                holds a secret.
        """
        super().__init__()
        values = {"against": against, "judge": judge, "judge_args": judge_args or {}, **options}
        refuse_secrets(values)
        refuse_unknown_options(options, _filter_options())
        _check_calls(concurrency, call_timeout, prices)
        self.judging = judging_settings(**options)
        self.judges = _judge_names(judge)
        read_shares(judges, overlap, len(self.judges))
        self.turns = (judges, overlap)
        self.judge_args = judge_args or {}
        self.concurrency = concurrency
        self.cache = cache
        self.reasoning = reasoning
        self.strips = check_policy(reasoning)
        self.call_timeout = call_timeout
        self.prices = prices
        self.limits = GenerateConfig(max_connections=concurrency, max_retries=max_retries)
        self.against = against
        self.model = model
        self.item = item
        self.task = task

    def apply(self, resps: Iterable[Any], docs: Sequence[Mapping[str, Any]]) -> list[str]:
        """Judge the responses and return, per document, the verdicts as JSON text.

        The texts hold no secrets. The numbers of judged and lost battles are logged.

        Args:
            resps: per document the response, or a list of responses for a task with `repeats`.
            docs: the documents of the task, in the same order.

        Raises:
            UsageError: a response is not a text, or the documents cannot be matched with the
                opponents' items, as `pair_with_opponents` says.
            DataError: a file of the opponents cannot be read, or its rows contradict each other.
        """
        texts = self._strip_reasoning(_texts_by_document(resps))
        documents = pair_with_opponents(
            self.against,
            self.model,
            docs,
            texts,
            field=self.item,
            task=self.task,
            reasoning=self.reasoning,
        )
        battles = [battle for document in documents for battle in document.battles]
        judged_battles = judge_battles(
            self.judging,
            battles,
            self._make_judges,
            turns=self.turns,
            concurrency=self.concurrency,
            cache=self.cache,
            call_timeout=self.call_timeout,
            prices=self.prices,
        )
        remaining = iter(judged_battles)
        verdicts = []
        for document in documents:
            of_document = list(islice(remaining, len(document.battles)))
            verdicts.append(self._verdicts_on_document(document, of_document))
        _log_counts(verdicts, self.judges)
        return [remember_verdicts(redact(verdicts_as_text(each))) for each in verdicts]

    def _verdicts_on_document(
        self, document: DocumentBattles, judged_battles: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the verdicts on one document in the form that the filter writes.

        `credit` is the mean credit of this run's model over readable battles; None if there are
        none. The records of judges are moved, in place, from the battles to `judges`.

        Args:
            document: the document, with the battles that could not be played.
            judged_battles: its battles, as `judge_battles` returns them.
        """
        credits = []
        for row in judged_battles:
            if row["credit"] is not None:
                is_first = row["model_a"] == self.model
                credits.append(row["credit"] if is_first else 1 - row["credit"])
        return {
            "item": document.item,
            "model": self.model,
            "credit": sum(credits) / len(credits) if credits else None,
            "one_sided": self.judging.one_sided,
            "missing": dict(document.missing),
            "judges": pop_judges(judged_battles),
            "battles": list(judged_battles),
        }

    def _make_judges(self) -> list[Model]:
        """Return the judges as Inspect models with this filter's limits on calls and retries."""
        models = [judge_model(name, self.judge_args, "judge:") for name in self.judges]
        for model in models:
            model.config = model.config.merge(self.limits)
        return models

    def _strip_reasoning(self, responses: list[list[str]]) -> list[list[str]]:
        """Return the responses without reasoning, unless it is kept, and log how many changed."""
        if not self.strips:
            return responses
        answers = [list(map(strip_reasoning, texts)) for texts in responses]
        pairs = zip(chain(*responses), chain(*answers), strict=True)
        changed_texts = sum(text != answer for text, answer in pairs)
        if changed_texts:
            log.warning(
                "podium: %d responses begin with reasoning, which the judge is not shown",
                changed_texts,
            )
        return answers


def _judge_names(judge: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the judges, in order.

    Raises:
        UsageError: a judge is a model of lm-eval.
    """
    names = (judge,) if isinstance(judge, str) else tuple(judge)
    for name in names:
        refuse_lm_eval_model(name, "judge:")
    return names


def _filter_options() -> set[str]:
    """Return the names of all options of the filter."""
    return {*known_options(), *parameters_of(JudgeFilter)} - {"options"}


def _check_calls(concurrency: int, call_timeout: float | None, prices: Prices | None) -> None:
    """Raise UsageError if the number of calls at once, their time limit or a price is invalid."""
    if concurrency < 1:
        raise UsageError(f"concurrency={concurrency}: give 1 or more")
    check_call_timeout(call_timeout)
    check_prices(prices)


def _texts_by_document(responses: Iterable[Any]) -> list[list[str]]:
    """Return the responses to each document as a list, which has several with `repeats`.

    A document without a response has one empty text.

    Raises:
        UsageError: a response is not a text.
    """
    by_document = []
    for texts_of_document in responses:
        texts = (
            list(texts_of_document)
            if isinstance(texts_of_document, list | tuple)
            else [texts_of_document]
        )
        # A document without a response counts as one with an empty response.
        by_document.append(texts or [""])
    for text in chain(*by_document):
        if not isinstance(text, str):
            raise UsageError(
                f"a response to be judged is a {type(text).__name__}, not a text: only tasks with "
                "`output_type: generate_until` can be judged"
            )
    return by_document


def _log_counts(documents: Sequence[Mapping[str, Any]], judges: Sequence[str]) -> None:
    """Log the numbers of battles: judged, ties of identical responses, unparsed and not played.

    Unparsed battles and those that were not played are counted by reason, and make the line a
    warning. Battles count as judged if they have a credit and are no ties of identical responses.

    Args:
        documents: the verdicts on each document, as the filter writes them.
        judges: names of the judges.
    """
    battles = [battle for document in documents for battle in document["battles"]]
    unparsed = Counter(battle["reason"] for battle in battles if battle["credit"] is None)
    missing = Counter(why for document in documents for why in document["missing"].values())
    lost = [f"{number} unparsed ({why})" for why, number in sorted(unparsed.items())]
    lost += [f"{number} not played ({why})" for why, number in sorted(missing.items())]
    identical = sum(bool(battle.get(IDENTICAL)) for battle in battles)
    readable = len(battles) - unparsed.total() - identical
    counts = f"{readable} of {quantity(len(battles), 'battle')} judged by {', '.join(judges)}"
    if identical:
        counts += f", {quantity(identical, 'tie')} of identical responses"
    level = logging.WARNING if lost else logging.INFO
    log.log(
        level, "podium: %s: %s", quantity(len(documents), "document"), "; ".join([counts, *lost])
    )
