"""Write rankings as `.eval_results/*.yaml` of models on the Hugging Face hub (huggingface.co/docs/hub/eval-results)."""

import json
from collections.abc import Iterator

from podium.nouns.ranking import Entry, Ranking, Standings
from podium.printable import printable
from podium.report.exported_names import Facts, developer_and_name, portable_name
from podium.report.numbers import number_text, percent
from podium.report.ranking_view import standings_name
from podium.text import some


def hub_result_files(name: str, ranking: Ranking, facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield the path, `DEVELOPER/MODEL/.eval_results/NAME.yaml`, and the content of each result of each model."""
    for each in ranking.standings:
        file = portable_name(name if len(ranking.standings) == 1 else f"{name}-{standings_name(each)}")
        for entry in (entry for entry in each.entries if entry.score is not None):
            lines = [f"- dataset: {{id: {_yaml_text(facts.dataset or '')}, task_id: {_yaml_text(facts.task_id)}}}"]
            lines.append(f"  value: {entry.score:.6f}")
            if facts.source_url:
                lines.append(f"  source: {{url: {_yaml_text(facts.source_url)}, name: {_yaml_text(name)}}}")
            lines.append(f"  notes: {_yaml_text(_describe_result(ranking, each, entry))}")
            place = "/".join(developer_and_name(entry.model, facts.developer))
            yield f"{place}/.eval_results/{file}.yaml", "\n".join(lines) + "\n"


def _describe_result(ranking: Ranking, standings: Standings, entry: Entry) -> str:
    """Write method, interval, number of items and judges of a score."""
    parts = [f"{standings_name(standings)} ({standings.scale}) by podium"]
    if entry.low is not None and entry.high is not None:
        ends = f"{number_text(entry.low, 3)} to {number_text(entry.high, 3)}"
        parts.append(f"{percent(standings.level)} interval {ends} ({standings.interval})")
    parts.append(f"{standings.counts.items:,} items, {entry.battles:,} battles")
    judges = ranking.provenance.get("judges", ())
    return "; ".join([*parts, *([f"judged by {some(judges, most=3)}"] if judges else [])])


def _yaml_text(text: str) -> str:
    """Write a text as in JSON, which YAML reads, too."""
    return json.dumps(printable(text), ensure_ascii=False)
