"""A cap on what a tournament may cost, answers and verdicts together, by prices of tokens."""

from collections.abc import Mapping, Sequence

from inspect_ai.log import EvalSample
from inspect_ai.model import Model, ModelUsage, get_model_info

from podium.errors import PodiumError, UsageError
from podium.hosts.inspect_ai.judge_models import jury_named
from podium.hosts.inspect_ai.log_contents import ASKED
from podium.text import some

MILLION = 1e6
PORTIONS = 2
"""Samples that are scheduled together may cost this part of what is left, should each sample be as dear as
the dearest so far.
"""
Prices = Mapping[str, Sequence[float]]
"""By model: of a million tokens shown to it, and of a million that it writes."""


class CostLimit:
    """What may be spent, and what was.

    Samples are scheduled in portions that fit into half of what is left; where what is left is less than the dearest
    sample so far, none is. The first of a kind, answer or battles, goes alone. So the cap is passed only by a sample
    dearer than what was left, which was enough for all before it.

    Attributes:
        most: the cap, in the currency of the prices.
        prices: by model; of those that are not named Inspect's own count.
        money_spent: so far; replies of the cache cost nothing.
    """

    def __init__(self, most: float, prices: Prices) -> None:
        self.most = most
        self.prices = prices
        self._costs: dict[str, float] = {}
        self._dearest: dict[bool, float] = {}

    @property
    def money_spent(self) -> float:
        """What all samples cost so far, those of earlier attempts as well."""
        return sum(self._costs.values())

    def take(self, sample: EvalSample) -> None:
        """Note what a sample cost.

        Raises:
            PodiumError: the price of a model is not known.
        """
        cost = sum(self._cost(name, usage) for name, usage in sample.model_usage.items())
        self._costs[sample.uuid or str(sample.id)] = cost
        kind = ASKED in sample.metadata
        self._dearest[kind] = max(cost, self._dearest.get(kind, 0.0))

    def _cost(self, model: str, usage: ModelUsage) -> float:
        """Return what a model took; tokens of a provider's cache at the full price."""
        if model in self.prices:
            shown = usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
            price_in, price_out = self.prices[model]
            return (shown * price_in + usage.output_tokens * price_out) / MILLION
        if usage.total_cost is None:
            raise PodiumError(_no_price_text(self.most, [model]))
        return usage.total_cost

    def room(self, *, answers: bool) -> int | None:
        """Return how many samples may be scheduled at once; None for any number: none of them cost anything yet."""
        left, dearest = self.most - self.money_spent, self._dearest.get(answers)
        if dearest is None:
            return 1 if left > 0 else 0
        if not dearest:
            return None
        return 0 if left < dearest else max(int(left / dearest / PORTIONS), 1)


def build_cost_limit(most: float, prices: Prices | None, models: Sequence[Model]) -> CostLimit:
    """Return a limit of so much money.

    Args:
        most: the cap.
        prices: by model, as typed.
        models: models that are asked for answers; the judges are found by their role.

    Raises:
        UsageError: the cap is none, a price is no pair of numbers, or that of a model is not known.
    """
    if not most > 0:
        raise UsageError(f"max_cost={most:g}: give a sum above 0, in the currency of the prices")
    for name, price in (prices or {}).items():
        if not (
            isinstance(price, Sequence) and len(price) == 2 and all(isinstance(part, int | float) for part in price)
        ):
            raise UsageError(f"prices={name}: {price}: give two numbers, [INPUT, OUTPUT], of a million tokens each")
    unpriced = [model for model in (*models, *jury_named()) if str(model) not in (prices or {})]
    lacking = [str(model) for model in unpriced if getattr(get_model_info(model), "cost", None) is None]
    if lacking:
        raise UsageError(_no_price_text(most, sorted({*lacking})))
    return CostLimit(most, prices or {})


def _no_price_text(most: float, models: Sequence[str]) -> str:
    return (
        f"max_cost={most:g}: no price is known of {some(models)}; give -T prices='{{{models[0]}: [2.5, 10]}}' "
        "(a million tokens of input, of output)"
    )
