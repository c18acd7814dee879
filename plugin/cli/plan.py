"""podium plan: which comparisons, on how many items, at what cost."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from podium.cli import options
from podium.cli.options import Detail
from podium.cli.output import notice_lines, show_progress
from podium.data.query import BattleQuery
from podium.errors import UsageError
from podium.show.report.styles import Destination

if TYPE_CHECKING:
    from podium.data.battles import Battles

PILOT_PARAMETERS = frozenset({"sources", *options.READING_PARAMETERS, "one_sided", "pool"})
"""Names of the parameters that have an effect only with a pilot."""

REMEDY_OF_STOPPING = (
    "docs/stopping.md has a measured table of tournaments that stop when a question is answered, "
    "and podium replay "
    "--set until=top3 tries one on a record"
)
"""What replaces the options that planned tournaments which stop early."""
REMOVED_OPTIONS = dict.fromkeys(("--until", "--margin"), REMEDY_OF_STOPPING)
REMOVED_OPTIONS["--simulations"] = "nothing is simulated; the power of Wilcoxon's test is computed"
"""What replaces an option that an earlier version had, by option."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What to plan, as typed.

    `podium.make_plan` describes each option; the fields are its keyword arguments.
    """

    models: int | None
    items: int | None
    ties: float | None
    informativeness: float | None
    edge: float
    alpha: float
    power: float
    baseline: str | None
    pairs: tuple[tuple[str, str], ...]
    level: float
    seed: int
    pool: bool
    difference: str
    disagree: float | None
    spread: float | None


@dataclass(frozen=True, slots=True)
class TariffOptions:
    """What a battle costs, as typed: the fields of `podium.planning.plan_record.Tariff`."""

    orders: str
    repeats: int
    tokens_in: float | None
    tokens_out: float | None
    price_in: float | None
    price_out: float | None
    tokens_shared: float | None
    price_cached: float | None
    judges: str | None
    overlap: float
    realization: str | None
    judge_model: str | None


@options.command(
    "What to plan",
    "Plan a comparison: which battles, how many items, what cost.",
    removed=REMOVED_OPTIONS,
)
@click.argument("sources", nargs=-1, metavar="[PILOT...]")
@options.reading_options
@options.count_option(
    "--models", help="How many models will compete; by default those of the pilot.", least=2
)
@options.count_option("--items", help="How many items are planned.")
@options.number_option(
    "--ties",
    interval="[0,1)",
    help="Expected share of battles that end in a tie; by default the pilot's, else 0.15.",
)
@options.number_option(
    "--informativeness",
    interval="(0,1]",
    help="Share of items that distinguish two models through an anchor; by default the pilot's.",
)
@options.number_option(
    "--edge",
    interval="(0,0.5]",
    help="Difference to detect: the better model wins this share above one half of the decided "
    "items.",
    default=0.05,
)
@options.number_option(
    "--alpha", interval="(0,0.5)", help="Level of one-sided tests.", default=0.05
)
@options.number_option(
    "--power", interval="[0.5,1)", help="Chance of detecting a true difference.", default=0.8
)
@click.option(
    "--baseline", metavar="NAME", help="A natural baseline that every model is to be compared with."
)
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="NAME NAME",
    help="A pair of interest, if not all models are to be ranked; may be given several times.",
)
@click.option(
    "--difference",
    default="",
    metavar="2points|0.02|40elo",
    help="A difference for podium compare to detect.",
)
@options.number_option(
    "--disagree",
    interval="(0,1]",
    help="For a right-or-wrong metric: share of items on which just one of two models is right.",
)
@options.number_option(
    "--spread",
    interval="(0,]",
    help="For another metric: standard deviation over items of the difference.",
)
@options.choice_option(
    "--orders",
    values="both random as-given",
    help="Whether a battle is two calls, one in each order, or one.",
)
@options.count_option("--repeats", help="Repeats of each call.", default=1)
@click.option(
    "--judges",
    metavar="N|rotate:2,1,1",
    help=(
        "How many judges judge every battle, or the weights of judges that take turns, one per "
        "battle; by default those of the pilot's jury, else 1."
    ),
)
@click.option(
    "--realization",
    metavar="NAME",
    help=(
        "How judges are asked, as likert: one that grades single responses is called once about "
        "each; by default as in the pilot, else direct."
    ),
)
@options.number_option(
    "--overlap",
    interval="[0,1]",
    help="If judges take turns: share of the battles that all of them judge.",
    default=0.0,
)
@options.number_option("--tokens-in", interval="[0,]", help="Input tokens of a judge call.")
@options.number_option("--tokens-out", interval="[0,]", help="Output tokens of a judge call.")
@options.number_option(
    "--price-in", interval="[0,]", help="Price of a million input tokens, in any currency."
)
@options.number_option("--price-out", interval="[0,]", help="Price of a million output tokens.")
@options.number_option(
    "--tokens-shared",
    interval="[0,]",
    help="Input tokens, of --tokens-in, with which all calls on an item begin: rules and item.",
)
@options.number_option(
    "--price-cached",
    interval="[0,]",
    help="Price of a million input tokens from a provider's prompt cache.",
)
@click.option(
    "--judge-model",
    metavar="NAME",
    help=(
        "The judge's model, as anthropic/claude-haiku-4-5: some providers cache only beginnings of "
        "2,048 or 4,096 tokens; by default 1,024."
    ),
)
@options.pool(help="Take the verdicts of several judges in the pilot together.")
@options.one_sided
@options.level()
@options.seed(help="Seed of everything random.")
@options.detail
@options.output(csv=False)
@click.pass_context
def plan(
    context: click.Context,
    query: BattleQuery,
    how: PlanOptions,
    prices: TariffOptions,
    detail: Detail,
    destination: Destination,
) -> int:
    """Plan a comparison from numbers, or from the battles of a pilot.

    It prints which comparisons to make, which model would be a good anchor, how many items detect
    which difference, and what each tournament costs. Without a pilot the figures rest on
    assumptions, which are printed. No model is called.

    \b
    podium plan --models 20 --items 500 --ties 0.15
    podium plan pilot.csv --items 800 --tokens-in 1500 --tokens-out 300 --price-in 2.5 --price-out 10
    podium plan --models 7 --ties 0.39 --informativeness 0.45
    podium plan --difference 2points --disagree 0.15
    \f

    Returns:
        The exit code: 3 if the plan is partial or a part of the pilot could not be read, else 0.
    """  # noqa: E501
    from podium.planning.plan_record import Tariff
    from podium.planning.plan_report import select_reports
    from podium.planning.planner import make_plan
    from podium.show.report.writing import write_result

    tariff = Tariff(**asdict(prices))
    if not query.sources:
        _refuse_options_of_a_pilot(context)
    with show_progress():
        pilot = _read_battles_of_pilot(query) if query.sources else None
        comparison_plan = make_plan(pilot, tariff=tariff, **asdict(how))
    lost = pilot.lost if pilot else ()
    # Without --section, all styles but tables are full.
    full = detail.full or (destination.style != "table" and detail.section is None)
    write_result(
        comparison_plan,
        destination,
        messages=notice_lines(lost),
        view=lambda result: select_reports(result, detail.section, full=full),
    )
    return 3 if comparison_plan.is_partial or lost else 0


def _read_battles_of_pilot(query: BattleQuery) -> "Battles":
    """Return the battles of a pilot, as `read_query` reads them."""
    # Without a pilot, the reader and DuckDB are not imported.
    from podium.data.reading.judgments import read_query

    return read_query(query)


def _refuse_options_of_a_pilot(context: click.Context) -> None:
    """Raise UsageError if an option of `PILOT_PARAMETERS` was typed.

    It is called if no pilot was named.
    """
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if source is ParameterSource.COMMANDLINE and param.name in PILOT_PARAMETERS:
            raise UsageError(
                f"{param.opts[0]} belongs to a pilot: name one, or leave the option out"
            )
