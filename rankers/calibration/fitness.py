"""Whether a calibration fits the battles at hand: the same judge, the same prompt, margins of the same size."""

import numpy as np

from podium.battles import Battles
from podium.calibration import Calibration
from podium.rankers.calibration.signals import margins

MOST_DRIFT = 1.5
"""Factor by which the mean |margin| may differ from that of the calibration before a warning says so."""


def prompt_hashes(battles: Battles) -> tuple[str, ...]:
    """Return the hashes of the judge's prompts, where the battles have a column `prompt_hash`."""
    return battles.values_of("prompt_hash") if "prompt_hash" in battles.table else ()


def mismatches(calibration: Calibration, battles: Battles) -> list[str]:
    """Say where the battles were judged otherwise than those that the calibration was made of."""
    return [*_judges(calibration, battles), *_prompts(calibration, battles), *_drift(calibration, battles)]


def _judges(calibration: Calibration, battles: Battles) -> list[str]:
    others = [name for name in battles.judges if name != calibration.judge]
    if calibration.judge is None or not battles.judges:
        silent = "the calibration" if calibration.judge is None else "the battles"
        both = calibration.judge is None and not battles.judges
        who = "neither the calibration nor the battles say" if both else f"{silent} do not say"
        return [
            f"{who.replace('calibration do', 'calibration does')} who judged: a calibration holds for its own judge"
        ]
    if not others:
        return []
    return [f"another judge: calibrated on {calibration.judge!r}, the battles are of {', '.join(map(repr, others))}"]


def _prompts(calibration: Calibration, battles: Battles) -> list[str]:
    known, here = set(calibration.provenance.get("prompts", [])), set(prompt_hashes(battles))
    if not known or not here or here <= known:
        return []
    return [f"another prompt: calibrated on {', '.join(sorted(known))}, the battles have {', '.join(sorted(here))}"]


def _drift(calibration: Calibration, battles: Battles) -> list[str]:
    before, size = calibration.agreement.get("mean_abs_margin"), np.abs(margins(battles))
    if not before or np.isnan(size).all():
        return []
    now = float(np.nanmean(size))
    if max(now / before, before / max(now, 1e-300)) <= MOST_DRIFT:
        return []
    return [f"margins of another size: mean |margin| is {now:.3g}, and was {before:.3g} when the judge was calibrated"]
