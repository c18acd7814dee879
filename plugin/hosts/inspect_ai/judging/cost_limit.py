"""A limit on the cost of a tournament, for answers and verdicts together."""

from collections.abc import Mapping, Sequence

from inspect_ai.log import EvalSample
from inspect_ai.model import Model, ModelUsage

from podium.errors import PodiumError, UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import kept_in_store, usage_of_run
from podium.hosts.inspect_ai.judging.call_prices import (
    Prices,
    TokenPrices,
    cost_of_usage,
    price_of,
)
from podium.hosts.inspect_ai.judging.judge_models import judges_by_role
from podium.hosts.inspect_ai.judging.token_estimates import ESTIMATE, read_estimate
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import (
    REQUEST_KEY,
    BattleMetadata,
    PackMetadata,
    RequestMetadata,
    SampleReplies,
    has_failed,
    judgments_in,
    parse_sample,
    was_judge_asked,
)
from podium.notices.option_forms import option_text
from podium.scorers.prompt import CHARACTERS_PER_TOKEN
from podium.wording import some


class CostLimit:
    """A limit on the cost of a tournament, from which the number of samples is computed.

    The cost can exceed the limit only if a sample costs more than every sample before it could
    have cost.

    Args:
        most: the limit, in the currency of the prices.
        prices: prices that the user gave, by model.
        attempts: how often a judge is asked at most for a reply that can be parsed.
        price_by_model: prices by model, as given or as Inspect knows them. They price the estimated
            tokens of servers that send no usage.
    """

    def __init__(
        self, most: float, prices: Prices, attempts: int, price_by_model: Prices | None = None
    ) -> None:
        self.most = most
        self.prices = prices
        self.attempts = attempts
        self._prices_of_estimates = {**(price_by_model or {}), **prices}
        # Costs by unique id of the sample: from usages, and from estimated tokens.
        self._costs: dict[str, float] = {}
        self._estimated_costs: dict[str, float] = {}
        # The most that a sample of a kind could have cost so far. The key says whether the kind is
        # requests for answers (True) or battles (False).
        self._dearest: dict[bool, float] = {}
        # The kind of each failed sample, by its id and epoch.
        self._failed: dict[tuple[str, int], bool] = {}
        self._without_usage: set[str] = set()

    @property
    def money_spent(self) -> float:
        """Cost of all calls so far, also of failed samples and of retried runs.

        Raises:
            PodiumError: the price of a model that was called is unknown.
        """
        # Each of the two sums may lack calls of a killed run, so the larger one counts.
        cost_of_usage = max(sum(self._costs.values()), self._cost(usage_of_run()))
        return cost_of_usage + sum(self._estimated_costs.values())

    def add_cost(self, sample: EvalSample) -> list[str]:
        """Add the cost of a sample; return notes on models whose servers send no usage.

        A sample that was added before is replaced. Each model is noted once. Samples that make no
        calls are ignored.

        Raises:
            PodiumError: the price of a model that was called is unknown.
        """
        contents = parse_sample(sample.metadata or {})
        if not isinstance(contents, BattleMetadata | PackMetadata | RequestMetadata):
            # Samples that only announce a round or a portion make no calls.
            return []
        unique_id = sample.uuid or str(sample.id)
        key = (str(sample.id), sample.epoch)
        estimated = read_estimate(kept_in_store(sample, ESTIMATE))
        self._estimated_costs[unique_id] = self._cost(estimated, self._prices_of_estimates)
        self._costs[unique_id] = self._cost(sample.model_usage)
        requests_answers = REQUEST_KEY in sample.metadata
        attempts = [judgment["attempts"] for _, judgment in judgments_in(sample)]
        # `largest_cost` is what the sample could have cost: its cost without a provider's cache,
        # times the attempts per call that are allowed (at least 2, for a longer reply) over those
        # that were made, divided by the share of its judgments that were answered, and by the share
        # of its calls that were paid.
        uncached_cost = self._cost(sample.model_usage, is_cached=False)
        uncached_cost += self._estimated_costs[unique_id]
        calls_per_attempt = len(attempts) / sum(attempts) if attempts else 1
        factor = max(self.attempts, 2) * calls_per_attempt
        share = _share_answered(sample) * _share_paid(sample)
        largest_cost = uncached_cost * factor / share if share else 0.0
        # A sample that paid for no call does not show what samples of its kind cost.
        is_free = share > 0 and not sample.error
        if largest_cost or is_free:
            previous = self._dearest.get(requests_answers, 0.0)
            self._dearest[requests_answers] = max(largest_cost, previous)
        self._failed.pop(key, None)
        if sample.error:
            self._failed[key] = requests_answers
        newly_without_usage = sorted(estimated.keys() - self._without_usage)
        self._without_usage.update(newly_without_usage)
        return [_no_usage_text(self.most, model) for model in newly_without_usage]

    def _cost(
        self,
        usages: Mapping[str, ModelUsage],
        prices: Prices | None = None,
        *,
        is_cached: bool = True,
    ) -> float:
        """Return the cost of tokens.

        Args:
            usages: the tokens by model.
            prices: prices by model; by default those that the user gave. For a model without a
                price here, the cost that Inspect computed counts.
            is_cached: whether tokens from a provider's cache have their own price, if it was given.
                Otherwise they cost as much as other input tokens.

        Raises:
            PodiumError: a model has no price and no cost by Inspect.
        """
        cost = 0.0
        prices = self.prices if prices is None else prices
        for model, usage in usages.items():
            if model in prices:
                # The third price, if there is one, is that of cached tokens.
                price = prices[model] if is_cached else prices[model][:2]
                cost += cost_of_usage(usage, TokenPrices(*price))
            elif usage.total_cost is None:
                raise PodiumError(_no_price_text(self.most, [model]))
            else:
                cost += usage.total_cost
        return cost

    def samples_allowed(self, *, requests_answers: bool) -> int | None:
        """Return how many samples may be scheduled at once.

        Args:
            requests_answers: whether the samples are requests for answers, not battles.

        Returns:
            The number: 1 before the first sample of this kind, then as many as fit into what is
            left, and 0 if nothing is left. Money to repeat failed samples is not counted as left.
            None if such samples cost nothing, so that any number is allowed.
        """
        # The first sample of a kind is played alone. Then as many are allowed as fit into what is
        # left, if each costs as much as the dearest so far. Money is kept to repeat failed ones.
        for_repeats = sum(self._dearest.get(kind, 0.0) for kind in self._failed.values())
        money_left = self.most - self.money_spent - for_repeats
        dearest = self._dearest.get(requests_answers)
        if dearest is None:
            return int(money_left > 0)
        return max(int(money_left / dearest), 0) if dearest else None


def _share_answered(sample: EvalSample) -> float:
    """Return the share of a sample's judgments for which this sample's own calls were answered.

    Judgments that failed, or that were carried over from an earlier sample, were not answered here.
    The share is 1 if the sample holds no judgment.
    """
    entry = kept_in_store(sample, NAMESPACE)
    if not was_judge_asked(entry):
        return 1.0
    judgments = []
    for battle in SampleReplies.parse(entry).to_battles():
        judgments += battle.judgments
    answered = [
        judgment
        for judgment in judgments
        if not judgment.get("carried") and not has_failed(judgment)
    ]
    return len(answered) / len(judgments) if judgments else 1.0


def _share_paid(sample: EvalSample) -> float:
    """Return the share of a sample's calls of models that were not answered from Inspect's cache.

    0 if the sample made no call, as with identical responses or replies that an earlier attempt
    kept.
    """
    sources = [event.cache for event in sample.events if event.event == "model"]
    paid = [source for source in sources if source != "read"]
    return len(paid) / len(sources) if sources else 0.0


def _no_usage_text(most: float, model: str) -> str:
    """Write that a server sends no usage, and how its tokens are estimated.

    Args:
        most: the cost limit, which the text names first.
        model: name of the model.
    """
    estimate = f"estimated, a token per {CHARACTERS_PER_TOKEN:g} characters of prompts and replies"
    return f"max_cost={most:g}: the server of {model} sends no usage; its tokens are {estimate}"


def build_cost_limit(
    most: float | None, prices: Prices | None, models: Sequence[Model], attempts: int
) -> CostLimit | None:
    """Return a cost limit; None if `most` is None.

    Args:
        most: the limit, in the currency of the prices.
        prices: prices that the user gave (`check_prices`), by model; None if there are none.
        models: the models that answer; judges are those of the roles.
        attempts: how often a judge is asked at most for a reply that can be parsed.

    Raises:
        UsageError: the limit is invalid, or the price of a model or judge is unknown.
    """
    if most is None:
        return None
    # NaN is not above 0, either.
    if not isinstance(most, int | float) or not most > 0:
        raise UsageError(f"max_cost={most}: give a sum above 0, in the currency of the prices")
    price_by_model = {
        str(model): price_of(model, prices or {}) for model in (*models, *judges_by_role())
    }
    unpriced = sorted(name for name, price in price_by_model.items() if price is None)
    if unpriced:
        raise UsageError(_no_price_text(most, unpriced))
    return CostLimit(
        most,
        prices or {},
        attempts,
        {name: price[:2] for name, price in price_by_model.items() if price},
    )


def _no_price_text(most: float, models: Sequence[str]) -> str:
    """Write that the prices of models are unknown, and how to give them.

    Args:
        most: the cost limit, which the text names first.
        models: names of the models, at least one.
    """
    option = option_text("prices", f"{{{models[0]}: [2.5, 10]}}", "argument")
    remedy = (
        f"give {option} (per million tokens of input, of output and, if you like, of cached input)"
    )
    return f"max_cost={most:g}: the price of {some(models)} is not known; {remedy}"
