"""podium plan: which comparisons, on how many items, at what cost."""

from typing import Any

import click

from podium.cli import options
from podium.errors import UsageError

TARIFF = ("orders", "repeats", "tokens_in", "tokens_out", "price_in", "price_out")
READING = ("sources", *options.READ_BY, "one_sided")
"""Parameters that say how to read a pilot, and that only the reading needs."""


@click.command(short_help="Plan a comparison: which battles, how many items, what cost.")
@click.argument("sources", nargs=-1, metavar="[PILOT...]")
@options.reading_options
@click.option("--entrants", type=click.IntRange(min=2), help="How many will compete; by default those of the pilot.")
@click.option("--items", type=click.IntRange(min=1), help="How many items are planned.")
@click.option(
    "--ties",
    type=click.FloatRange(0, 1, max_open=True),
    help="Expected share of battles that end in a tie; by default the pilot's, else 0.15.",
)
@click.option(
    "--informativeness",
    type=click.FloatRange(0, 1, min_open=True),
    help="Share of items that tell two entrants apart through an anchor; by default the pilot's.",
)
@click.option(
    "--edge",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.05,
    help="Precision asked: tell an entrant that wins this share above one half of what is decided.",
)
@click.option("--alpha", type=options.share_between(0, 0.5), default=0.05, help="Level of one-sided tests.")
@click.option(
    "--power",
    type=click.FloatRange(0.5, 1, max_open=True),
    default=0.8,
    help="Chance with which a true difference is to be told.",
)
@click.option("--baseline", metavar="NAME", help="A natural baseline that every entrant is to be compared with.")
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="NAME NAME",
    help="A pair of interest, where not everyone is to be ranked; may be given several times.",
)
@click.option("--pilot-items", type=click.IntRange(min=1), help="Use so many items of the pilot, drawn at random.")
@click.option(
    "--orders",
    type=click.Choice(["both", "random", "as-given"]),
    default="both",
    help="Whether a battle is two calls, one for either order, or one.",
)
@click.option("--repeats", type=click.IntRange(min=1), default=1, help="Repeats of each call.")
@click.option("--tokens-in", type=click.FloatRange(min=0), help="Input tokens of a judge call.")
@click.option("--tokens-out", type=click.FloatRange(min=0), help="Output tokens of a judge call.")
@click.option("--price-in", type=click.FloatRange(min=0), help="Price of a million input tokens, in any currency.")
@click.option("--price-out", type=click.FloatRange(min=0), help="Price of a million output tokens.")
@options.pool(help="Take the verdicts of several judges in the pilot together.")
@options.one_sided
@options.level()
@options.seed(help="Seed of everything random.")
@click.option(
    "--simulations",
    type=click.IntRange(min=100),
    default=10_000,
    help="Simulated samples for each size that Wilcoxon's test is tried at.",
)
@options.output("table", "json", "md", suffixes=(".json", ".md", ".txt"))
@click.pass_context
def plan(context: click.Context, **arguments: Any) -> None:
    """Plan a comparison from numbers, or from the battles of a pilot.

    It says which comparisons to make, who would be a good anchor, how many items tell which difference, and what each
    tournament costs for that. Without a pilot the figures rest on assumptions, which are printed. No model is called.

    \b
    podium plan --entrants 20 --items 500 --ties 0.15
    podium plan pilot.csv --items 800 --tokens-in 1500 --tokens-out 300 --price-in 2.5 --price-out 10
    podium plan --entrants 7 --ties 0.39 --informativeness 0.45
    """
    from podium.cli.output import write_figures
    from podium.cli.progress_bar import show_progress
    from podium.planning.plan_report import plan_reports

    style, output = options.pop_output(arguments)
    with show_progress():
        comparison_plan = _make_plan(context, arguments)
    write_figures(comparison_plan, plan_reports, style, output)
    context.exit(3 if comparison_plan.is_partial else 0)


def _make_plan(context: click.Context, arguments: dict[str, Any]) -> Any:
    """Return the plan that was typed."""
    from podium.planning.plan import Tariff
    from podium.planning.planner import make_plan

    tariff = Tariff(**{name: arguments.pop(name) for name in TARIFF})
    reading = {name: arguments.pop(name) for name in READING}
    if reading["sources"]:
        pilot = options.read_sources(reading, one_sided=reading.pop("one_sided"))
        return make_plan(pilot, tariff=tariff, **arguments)
    for option in options.typed_options(context, {*READING, "pilot_items", "pool"}):
        raise UsageError(f"{option} says how to read a pilot, and none was named; name one, or leave it out")
    return make_plan(tariff=tariff, **arguments)
