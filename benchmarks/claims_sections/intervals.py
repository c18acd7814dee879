"""Binomial intervals of shares of worlds."""

from scipy.stats import binomtest


def share_text(hits: int, worlds: int) -> str:
    """Format a share in percent with its 95% interval (Clopper and Pearson 1934)."""
    ends = binomtest(hits, worlds).proportion_ci(0.95, method="exact")
    return f"{100 * hits / worlds:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"
