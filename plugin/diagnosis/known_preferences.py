"""How often a judge agrees with known preferences, by category and by length of the responses."""

import numpy as np

from podium.diagnosis.clustered import cluster_battles
from podium.diagnosis.figures import Statistic
from podium.nouns.battles import Battles
from podium.rankers.coded import hard_credits
from podium.report.model import Report, Table
from podium.scorers.prompt import CHARACTERS_PER_TOKEN
from podium.text import as_text

BAND = 1_000
"""Tokens of the shortest responses; each further band is twice as long."""


def preference_report(battles: Battles, level: float = 0.95) -> Report:
    """Build a table of the share of battles that a judge gives to the response that is known to be better: in all, by
    category, and by tokens of the longer response. A tie, or another winner in each order, is no agreement."""
    credit, human = hard_credits(battles.table), battles.numbers_of("human")
    known = ~np.isnan(credit) & ~np.isnan(human)
    right, sample = (credit == human).astype(np.float64), cluster_battles(battles, level)
    categories = as_text(battles.table["category"]).to_numpy(object) if "category" in battles.table else None
    names = [] if categories is None else sorted({name for name in categories if isinstance(name, str)})
    slices = [("all", known), *((name, categories == name) for name in names), *_slice_lengths(battles)]
    rows = []
    for name, inside in slices:
        share = sample.share(right, among=known & inside)
        if isinstance(share, Statistic):
            rows.append((name, share.estimate, share.interval, f"{share.n:,}"))
    title = f"accuracy by known preferences · {level:.0%} intervals by item"
    header = ("battles", "accuracy", "interval", "number")
    legend = ("A tie, or a different winner in each order, counts as wrong. Lengths are of the longer response.",)
    return Report(title, table=Table("", header, tuple(rows), "lrrr", legend=legend))


def _slice_lengths(battles: Battles) -> list[tuple[str, np.ndarray]]:
    """Return the battles of each band of length, as masks: of transcripts if there are any, else of answers."""
    prefix = "transcript_length" if "transcript_length_a" in battles.table else "length"
    lengths = [battles.numbers_of(f"{prefix}_{side}") for side in "ab"]
    tokens = np.fmax(*lengths) / CHARACTERS_PER_TOKEN
    band = np.ceil(np.log2(np.maximum(tokens, 1) / BAND)).clip(0)
    bands = []
    for number in np.unique(band[~np.isnan(band)]).astype(int).tolist():
        high = BAND * 2**number
        name = f"up to {high:,} tokens" if number == 0 else f"{high // 2:,} to {high:,} tokens"
        bands.append((name, band == number))
    return bands
