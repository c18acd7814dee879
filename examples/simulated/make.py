"""Make `battles.csv`: simulated verdicts on six models; no real judge was used.

Run from the repository's root: `python examples/simulated/make.py`.
"""

from pathlib import Path

from podium import Judge, simulate

NAMES = ("amber", "birch", "cedar", "dune", "ember", "fjord")
STRENGTHS = (1.2, 0.7, 0.6, 0.0, -0.4, -1.1)


def main() -> None:
    """Write the table into this folder, one row per judgment."""
    world = simulate(
        NAMES, items=40, seed=7, strengths=STRENGTHS, item_sd=1.0, categories=("code", "essay")
    )
    judge = Judge(
        "simulated-judge", scale=1.5, position_bias=0.5, length_bias=0.3, tie=0.4, unparsed=0.02
    )
    frame = world.judgments(judge, human=True).round({"margin": 3})
    frame.to_csv(Path(__file__).with_name("battles.csv"), index=False)


if __name__ == "__main__":
    main()
