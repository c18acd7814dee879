"""podium replay --study: the record as a laboratory."""

from typing import TYPE_CHECKING, Any

from podium.cli.output import View

if TYPE_CHECKING:
    from podium.battles import Battles
    from podium.study.findings import Findings

RANKERS = ("bradley-terry", "win-rate")
SEEDS = 20


def run_typed_study(
    battles: "Battles", tournaments: list[str], rankers: list[str], arguments: dict[str, Any]
) -> tuple["Findings", View]:
    """Run the study that was typed; return what it found, and its view."""
    from podium.cli.progress_bar import show_progress
    from podium.study.laboratory import run_study
    from podium.study.study_report import study_reports

    with show_progress():
        findings = run_study(
            battles,
            rankers,
            tournaments=tournaments,
            items=arguments["items"] or (),
            seeds=arguments["seeds"] or SEEDS,
            seed=arguments["seed"],
            level=arguments["level"],
            pool=arguments["pool"],
            **_gold(arguments["gold"], arguments),
            **arguments["options"],
        )
    return findings, study_reports


def _gold(source: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of a gold ranking; gold battles are ranked by Bradley-Terry."""
    from podium.diagnosis.gold_source import read_gold
    from podium.rank_battles import rank

    if source is None:
        return {}
    gold = read_gold(source)
    if gold.scores is not None:
        return {"gold": gold.scores, "gold_scale": gold.scale, "gold_name": source}
    standings = rank(gold.battles, "bradley-terry", pool=arguments["pool"]).standings[0]
    scores = {entry.model: entry.score for entry in standings.entries if entry.score is not None}
    return {"gold": scores, "gold_scale": "elo", "gold_name": f"{source}, by bradley-terry"}
