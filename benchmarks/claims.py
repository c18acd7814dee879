"""How often podium's claims are wrong, over worlds drawn by NumPy alone and not by podium's
simulator.

    python benchmarks/claims.py scores                  # compare on scores: about two minutes
    python benchmarks/claims.py scores --worlds 500
    python benchmarks/claims.py signs                   # right-or-wrong scores: half a minute
    python benchmarks/claims.py all --markdown

Each section is a module of `claims_sections` with a function `report(worlds, markdown)`, which
prints its tables; None for `worlds` is the number that shows its bars. Every row has its number of
worlds and a 95% interval, but for `signs`, which draws nothing.
"""

import argparse
from importlib import import_module
from pkgutil import iter_modules

import claims_sections

SECTIONS = [module.name for module in iter_modules(claims_sections.__path__)]


def main() -> None:
    """Print the tables of one section, or of all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=[*SECTIONS, "all"])
    parser.add_argument(
        "--worlds", type=int, help="of each row; by default as many as show the bar"
    )
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    for name in SECTIONS if options.section == "all" else [options.section]:
        import_module(f"claims_sections.{name}").report(options.worlds, options.markdown)


if __name__ == "__main__":
    main()
