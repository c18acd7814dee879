"""Make `solved.csv`: which of 300 items eight simulated models solve.

Run from the repository's root: `python examples/leaderboard/make.py`.
"""

from pathlib import Path

import numpy as np

EXPONENTS = {
    "alder": 0.7,
    "birch": 0.9,
    "cedar": 0.95,
    "dune": 1,
    "elm": 1,
    "fir": 1.05,
    "gorse": 1.4,
    "hazel": 4,
}
"""By which the chance of solving an item falls: the larger, the weaker the model."""


def main() -> None:
    """Write the table into this folder, a row per item and a column per model."""
    chance = np.random.default_rng(7)
    solved = chance.random((300, len(EXPONENTS))) < chance.beta(2, 2, (300, 1)) ** np.array(
        [*EXPONENTS.values()]
    )
    rows = [
        ",".join([f"item{number:03d}", *map(str, row)])
        for number, row in enumerate(solved.astype(int), 1)
    ]
    text = "\n".join([",".join(["item", *EXPONENTS]), *rows, ""])
    Path(__file__).with_name("solved.csv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
