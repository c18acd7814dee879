"""Bytes damaged at random, as disks, copies and killed writers damage them."""

import random
import warnings
from typing import Any

import podium

KINDS = ("flipped", "cut", "doubled")


def damage(content: bytes, rng: random.Random, kind: str) -> bytes:
    """Return bytes that are flipped, cut or doubled."""
    start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    if kind == "flipped":
        flipped = bytearray(content)
        for _ in range(rng.choice((1, 1, 3, 20))):
            flipped[rng.randrange(len(flipped))] = rng.randrange(256)
        return bytes(flipped)
    if kind == "cut":
        return content[:end] if rng.random() < 0.5 else content[:start] + content[end:]
    if kind == "doubled":
        return content[:end] + content[start:end] + content[end:]
    return content


def read_and_rank(source: str) -> tuple[podium.PodiumError | None, Any]:
    """Return the error, or the battles and their ranking."""
    with warnings.catch_warnings(record=True):
        try:
            read = podium.read_battles(source, merge=False)
            return None, (read, podium.rank(read, "win-rate", pool=True))
        except podium.PodiumError as error:
            return error, None
