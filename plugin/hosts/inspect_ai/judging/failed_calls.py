"""Say how many calls to judges failed in a tournament, and how to repeat them."""

from collections.abc import Iterator

from podium.check_kinds import CHECKS
from podium.data.battles import Battles
from podium.diagnosis.judge_checks import MOST_REASONS, unparsed_share
from podium.scorers.reply import FAILED, UnparsedReason
from podium.wording import plural, some


def failed_calls_texts(battles: Battles) -> Iterator[str]:
    """Yield a sentence on the judge's calls that failed, with their errors; nothing if none did.

    Nothing is yielded either if so many replies are unparsed that the check `unparsed` is flagged,
    as its warning names the errors and the remedy. Only the most frequent `MOST_REASONS` reasons
    of unparsed replies are searched for failed calls. A reason without a known number of replies is
    skipped.

    Args:
        battles: the battles of a tournament.
    """
    if unparsed_share(battles) > CHECKS["unparsed"].threshold:
        return
    failed = 0
    errors = []
    for written, times in battles.unparsed_texts("reason", MOST_REASONS):
        reason = UnparsedReason.parse(written)
        if reason.code == FAILED and times is not None:
            failed += times
            errors.append(f"{reason.details}, {times:,} {plural('time', times)}")
    if errors:
        calls = f"{failed:,} {plural('call', failed)} of the judge failed"
        yield f"{calls} ({some(errors, '; ')}): `inspect eval-retry` on the log repeats them alone"
