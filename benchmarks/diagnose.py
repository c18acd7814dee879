"""Time of the judge card, by section.

    python benchmarks/diagnose.py [--judgments 40026] [--markdown]

A simulated round robin of seven models in both orders, with margins, lengths and human labels, so
that every section has data. The goal is the full card of 40,026 judgments within 10 seconds.
"""

import argparse

import tables

from podium import Battles, Judge, read_battles, simulate
from podium.diagnosis.card import SECTIONS, answer_sections, diagnose
from podium.diagnosis.subject import Subject

MODELS = ["gpt-4", "gpt-35", "claude-2", "vicuna-13b", "guanaco-65b", "guanaco-33b", "guanaco-7b"]
ORDERED_PAIRS = 42
GOAL = 10.0
"""Seconds."""


def verdicts(judgments: int) -> tuple[Battles, Battles]:
    """Simulate about this many judgments; return them with their battles."""
    judge = Judge("gpt-9", scale=1.4, position_bias=0.5, length_bias=0.2, tie=0.3, unparsed=0.03)
    world = simulate(
        MODELS, round(judgments / ORDERED_PAIRS), seed=0, categories=("code", "chat", "sums")
    )
    frame = world.judgments(judge, human=True)
    return read_battles(frame, merge=False), read_battles(frame)


def main() -> None:
    """Print the timings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judgments", type=int, default=40_026)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    judgments, merged = verdicts(options.judgments)
    whole = tables.timed(lambda: diagnose(judgments, merged), repeats=5)
    parts = {
        section[0]: tables.timed(
            lambda name=name, one=section: answer_sections(
                {name: one}, Subject("gpt-9", judgments, merged)
            ),
            repeats=5,
        )
        for name, section in SECTIONS.items()
    }
    rows = [[title, str(timing)] for title, timing in parts.items()]
    goal = f"goal {GOAL:g} s: {'met' if whole.median <= GOAL else 'MISSED'}"
    rows.append([f"full card ({goal})", str(whole)])
    title = f"judge card of {len(judgments):,} judgments, median (best)"
    tables.show(title, ["section", "time"], rows, markdown=options.markdown)


if __name__ == "__main__":
    main()
