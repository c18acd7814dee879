"""How a judge leans and wavers, on purpose."""

import hashlib
from dataclasses import dataclass
from math import exp

from podium.errors import UsageError


@dataclass(frozen=True, slots=True)
class Manner:
    """Settings of the stand-in judge.

    Attributes:
        position_bias: added to the lead of the response shown first, in shares of the demands met; negative favours
            the second.
        noise: half the width of a uniform error of the lead, drawn from a hash of prompt and seed.
        seed: of the noise.
        tie: leads no larger than this are ties.
        sharpness: the slope of the logistic from leads to probabilities.
    """

    position_bias: float = 0.0
    noise: float = 0.0
    seed: int = 0
    tie: float = 0.0
    sharpness: float = 6.0

    def __post_init__(self) -> None:
        ranges = {"position_bias": (-2, 2), "noise": (0, 2), "tie": (0, 2), "sharpness": (0, 100)}
        for name, (low, high) in ranges.items():
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"{name}={getattr(self, name)}: the offline judge takes {low} to {high}")

    def lean(self, prompt: str) -> float:
        """Return what is added to the lead of the response shown first."""
        return self.position_bias + self.waver(prompt)

    def waver(self, prompt: str) -> float:
        """Return the error of this prompt: the same prompt and seed, the same error."""
        if not self.noise:
            return 0.0
        drawn = hashlib.sha256(f"{self.seed}\0{prompt}".encode("utf-8", "surrogatepass")).digest()
        return self.noise * (2 * int.from_bytes(drawn[:6], "big") / (2**48 - 1) - 1)

    def chances(self, lead: float, *, tie: bool) -> dict[str, float]:
        """Return the probabilities of A, B and, where there may be ties, C, which sum to 1.

        P(A) / P(B) = exp(sharpness * lead); C is as likely as a lead of `tie` would make the winner.
        """
        weights = {"A": exp(self.sharpness * lead / 2), "B": exp(-self.sharpness * lead / 2)}
        if tie:
            weights["C"] = exp(self.sharpness * self.tie / 2)
        total = sum(weights.values())
        return {letter: weight / total for letter, weight in weights.items()}

    def logistic(self, lead: float) -> float:
        """Return the probability that goes with a lead."""
        return 1 / (1 + exp(-self.sharpness * lead))
