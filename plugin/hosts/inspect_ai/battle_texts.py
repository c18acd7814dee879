"""The texts in a tournament's log: what was asked, both responses, and every reply of the judges as it came."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podium.hosts.inspect_ai.log_format import (
    BATTLES,
    NAMESPACE,
    PRESENTATIONS,
    ROUND,
    battles_of,
    is_log,
    is_tournament,
)
from podium.scorers.judging import reply_of

UNUSED = {"events", "messages"}


def battle_texts(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a row per presentation of a tournament's log: item, models, texts, order, judge, words; none elsewhere.

    Raises:
        DataError: it is no whole log.
    """
    from podium.hosts.inspect_ai.logs import read_by_inspect

    if not is_log(path) or not is_tournament(read_by_inspect(path, header_only=True)):
        return
    log = read_by_inspect(path, resolve_attachments=True, exclude_fields=UNUSED)
    for sample in log.samples or []:
        kept = sample.store.get(NAMESPACE) or {}
        if ROUND in sample.metadata or not kept:
            continue
        # The store keeps the replies in the order of the battles.
        for battle, replies in zip(battles_of(sample.metadata), kept.get(BATTLES, [kept]), strict=False):
            for shown in replies[PRESENTATIONS]:
                words = "\n\n".join(reply_of(reply).text for reply in shown["replies"])
                yield {**battle, "order": shown["order"], "judge": shown["judge"], "words": words}
