"""One metric per ranker: Inspect's own table gets a number per entrant."""

from typing import cast

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from podium.hosts.inspect_ai.log_format import presentation_rows


@metric(name="judged", scores="unreduced")
def readable_battles() -> Metric:
    """How many battles have a readable verdict. Inspect shows no metric those without: it counts them as unscored."""

    def compute(scores: list[SampleScore]) -> float:
        return float(len(scores))

    return compute


@metric(scores="unreduced")
def bradley_terry() -> Metric:
    """Elo by Bradley-Terry, per entrant."""
    return _ratings_metric("bradley-terry")


@metric(scores="unreduced")
def soft_elo() -> Metric:
    """Soft-Elo, per entrant: from soft credits, or with human labels in the verdicts."""
    return _ratings_metric("soft-elo")


@metric(scores="unreduced")
def win_rate() -> Metric:
    """Mean credit over opponents, per entrant."""
    return _ratings_metric("win-rate")


def _ratings_metric(ranker: str) -> Metric:
    def compute(scores: list[SampleScore]) -> Value:
        return cast(Value, ratings(scores, ranker))

    return compute


def ratings(scores: list[SampleScore], ranker: str) -> dict[str, float]:
    """Return a score per entrant, keyed by ranker and name; nothing while the battles do not bound any."""
    import pandas as pd

    from podium.errors import PodiumError
    from podium.rank_battles import rank
    from podium.reading.judgements import read_battles

    rows = [row for score in scores for row in presentation_rows(score.score)]
    if not rows:
        return {}
    try:
        battles = read_battles(pd.DataFrame(rows))
        [standings] = rank(battles, ranker, pool=True).standings
    except PodiumError:
        return {}
    prefix = ranker.replace("-", "_")
    return {f"{prefix} {entry.model}": entry.score for entry in standings.entries if entry.score is not None}
