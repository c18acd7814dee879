"""Coverage of intervals and rank sets over simulated data sets, compared with wrong variants.

    python benchmarks/coverage.py                        # 1,000 data sets per case
    python benchmarks/coverage.py --worlds 200 --only newcomer
    python benchmarks/coverage.py --markdown

The seeds are 0, 1, 2, ... At a nominal level of .95, an interval must cover the true value in .92
of 1,000 data sets (.91 below 10 items); data sets that podium rejects are left out. The wrong
variant is an earlier formula of podium or the usual one. It must fall short of this coverage,
except in the tables whose title says that it covered before: there both must cover, and their
widths may differ by 2%.
"""

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tables import show

sys.path.append(str(Path(__file__).parents[1] / "tests" / "rankers"))

from figure_cases import FIGURES, HELD_FIGURES
from interval_cases import CASES, HELD, MEDIANS, Case, shares_of

TITLES: Mapping[str, Mapping[str, Case]] = {
    "The wrong variant does not cover": CASES,
    "Rank sets of the wrong variant do not cover": MEDIANS,
    "The wrong variant covered before": HELD,
    "Single figures": FIGURES,
    "Single figures that covered before": HELD_FIGURES,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--only", default="", help="only cases whose names contain this text")
    parser.add_argument(
        "--intervals", action="store_true", help="leave out rank sets, which take most of the time"
    )
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    for title, cases in TITLES.items():
        chosen = {name: case for name, case in cases.items() if options.only in name}
        if chosen:
            report(
                title,
                chosen,
                options.worlds,
                ranks=not options.intervals,
                markdown=options.markdown,
            )


def report(
    title: str, cases: Mapping[str, Case], number: int, *, ranks: bool, markdown: bool
) -> None:
    """Print a line per case and variant."""
    rows = []
    for name, case in cases.items():
        for variant, world in (("right", case.right), ("wrong", case.wrong)):
            start = time.perf_counter()
            found = shares_of(world, number, ranks=ranks and case.ranks)
            figures = [f"{share:.3f}" for share in (found.others, found.last, found.sets)]
            widths = [f"{width:.4g}" for width in (found.width, found.last_width)]
            rows.append(
                [
                    name,
                    variant,
                    str(found.worlds),
                    *figures,
                    *widths,
                    f"{time.perf_counter() - start:.0f}",
                ]
            )
    header = (
        "case",
        "variant",
        "worlds",
        "others",
        "last",
        "rank sets",
        "half-width",
        "of the last",
        "s",
    )
    show(title, header, rows, markdown=markdown)


if __name__ == "__main__":
    main()
