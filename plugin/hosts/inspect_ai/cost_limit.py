"""A limit on what a tournament may cost, answers and verdicts together, by prices of tokens."""

from collections.abc import Mapping, Sequence

from inspect_ai.log import EvalSample
from inspect_ai.model import Model, ModelUsage, get_model_info

from podium.errors import PodiumError, UsageError
from podium.hosts.inspect_ai.compatibility import usage_of_run
from podium.hosts.inspect_ai.judge_models import judges_by_role
from podium.hosts.inspect_ai.log_contents import REQUESTED, judgments_in
from podium.text import some

Prices = Mapping[str, Sequence[float]]
"""By model: price of a million input tokens, and of a million output tokens."""


class CostLimit:
    """A limit on the cost of a tournament: only a sample with dearer calls than all before it can exceed it."""

    def __init__(self, most: float, prices: Prices, attempts: int) -> None:
        self.most, self.prices, self.attempts = most, prices, attempts
        self._costs: dict[str, float] = {}
        self._dearest: dict[bool, float] = {}

    @property
    def money_spent(self) -> float:
        """Cost of all calls so far, also those of failed samples and of retried runs; the cache costs nothing."""
        # A killed run has no record of its failed samples, but of those that it finished.
        return max(sum(self._costs.values()), self._cost(usage_of_run()))

    def add_cost(self, sample: EvalSample) -> None:
        """Add the cost of a sample."""
        cost = self._costs[sample.uuid or str(sample.id)] = self._cost(sample.model_usage)
        made = [shown["attempts"] for _, shown in judgments_in(sample)] or [1]
        # What it had cost at most: had all its calls been repeated, or had an answer been twice as long.
        dearest, kind = cost * max(self.attempts, 2) * len(made) / sum(made), REQUESTED in sample.metadata
        self._dearest[kind] = max(dearest, self._dearest.get(kind, 0.0))

    def _cost(self, usages: Mapping[str, ModelUsage]) -> float:
        """Return the cost of the tokens of some models; those of a provider's cache at the full price."""
        cost = 0.0
        for model, own in usages.items():
            if model in self.prices:
                tokens = own.input_tokens + (own.input_tokens_cache_read or 0) + (own.input_tokens_cache_write or 0)
                price_in, price_out = self.prices[model]
                cost += (tokens * price_in + own.output_tokens * price_out) / 1e6
            elif own.total_cost is None:
                raise PodiumError(_no_price_text(self.most, [model]))
            else:
                cost += own.total_cost
        return cost

    def samples_allowed(self, *, answers: bool) -> int | None:
        """Return how many samples may be scheduled at once, answers or battles; None if none of them cost anything."""
        # The first of a kind alone, then as many as fit if each is as dear as the dearest so far can be.
        left, dearest = self.most - self.money_spent, self._dearest.get(answers)
        if dearest is None:
            return int(left > 0)
        return max(int(left / dearest), 0) if dearest else None


def build_cost_limit(
    most: float | None, prices: Prices | None, models: Sequence[Model], attempts: int
) -> CostLimit | None:
    """Return a cost limit whose prices are checked before the first call; None for no limit."""
    if most is None:
        return None
    if not (isinstance(most, int | float) and most > 0):
        raise UsageError(f"max_cost={most}: give a sum above 0, in the currency of the prices")
    for name, price in (prices or {}).items():
        is_pair = isinstance(price, Sequence) and len(price) == 2
        if not (is_pair and all(isinstance(part, int | float) for part in price)):
            raise UsageError(f"prices={name}: {price}: give two numbers, [INPUT, OUTPUT], per million tokens")
    lacking = [str(model) for model in (*models, *judges_by_role()) if price_of(model, prices or {}) is None]
    if lacking:
        raise UsageError(_no_price_text(most, sorted({*lacking})))
    return CostLimit(most, prices or {}, attempts)


def price_of(model: Model, prices: Prices) -> Sequence[float] | None:
    """Return the prices of a model's million tokens, in and out, as given or as Inspect knows them; else None."""
    cost = getattr(get_model_info(model), "cost", None)
    return prices.get(str(model)) or ((cost.input, cost.output) if cost else None)


def _no_price_text(most: float, models: Sequence[str]) -> str:
    remedy = f"-T prices='{{{models[0]}: [2.5, 10]}}' (per million tokens of input and output)"
    return f"max_cost={most:g}: the price of {some(models)} is not known; give {remedy}"
