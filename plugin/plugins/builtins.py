"""podium's own rankers, scorers, tournaments and formats: one row each."""

from typing import Any, NamedTuple

from podium.hookspecs import Format, Ranker, Scorer, Tournament, hookimpl


class RankerRow(NamedTuple):
    """One of podium's own rankers.

    Attributes:
        name: the ranker's name.
        function: where it is, `module:name` in `podium.rankers`.
        summary: what it does.
        several_judges: whether it takes the battles of several judges in one call.
    """

    name: str
    function: str
    summary: str
    several_judges: bool = False


class FormatRow(NamedTuple):
    """One of podium's own formats.

    Attributes:
        name: the format's name.
        reader: where its function is, `module:name` in `podium.data.formats`, or a full path.
        summary: what it reads.
        column_of_label: the column that gets the label of `LABEL=PATH`; None for `source`.
    """

    name: str
    reader: str
    summary: str
    column_of_label: str | None = None


RANKERS = (
    RankerRow(
        "bradley-terry", "bradley_terry:bradley_terry", "joint maximum likelihood, Elo scale"
    ),
    RankerRow(
        "soft-elo",
        "soft_elo:soft_elo",
        "Bradley-Terry on calibrated probabilities, Elo scale of humans",
    ),
    RankerRow(
        "structured-bradley-terry",
        "structured_bradley_terry:structured_bradley_terry",
        "few labels by humans joined with all verdicts, Elo scale of humans",
    ),
    RankerRow(
        "judge-aware",
        "judge_aware:judge_aware",
        "Bradley-Terry with a slope and a position effect per judge",
        several_judges=True,
    ),
    RankerRow("win-rate", "win_rate:win_rate", "mean credit against all, or against one anchor"),
    RankerRow("mean", "pointwise:mean", "mean pointwise score over items"),
    RankerRow("median", "pointwise:median", "median pointwise score over items"),
    RankerRow(
        "informativeness",
        "informativeness:informativeness",
        "how often each model, as anchor, distinguishes two others",
    ),
)
"""podium's own rankers."""
# podium's own judge scorers: rows of name, realization (`module:name` in `podium.scorers`) and
# summary.
SCORERS = (
    ("direct", "direct:DIRECT", "pairwise: one letter; graded where token probabilities are known"),
    (
        "cot",
        "direct:COT",
        "pairwise: reasons, then a letter; graded where token probabilities are known",
    ),
    ("labels", "levels:LABELS", "pairwise: five levels from A>>B to B>>A, with margins"),
    ("rubric", "rubric:RUBRIC", "pairwise: six criteria from 1 to 10 for both, with margins"),
    ("numeric", "levels:NUMERIC", "pointwise: a number from 0 to 100"),
    ("likert", "levels:LIKERT", "pointwise: one of five words"),
    ("token-probs", "token_probs:TOKEN_PROBS", "pointwise: the probability of yes"),
    ("reward", "reward:REWARD", "pointwise: a scalar from a reward model or any function"),
)
# podium's own tournaments: rows of name, rule (`module:name` in `podium.tournaments`) and summary.
TOURNAMENTS = (
    ("anchor", "anchor:Anchor", "all against one, named or chosen by a pilot, or a few"),
    ("chain", "chain:Chain", "each item plays a random path through all models"),
    (
        "recorded",
        "recorded:Recorded",
        "battles that are on record, or a sample of them, for another judge",
    ),
    (
        "ring",
        "ring:Ring",
        "each item plays a random circle, one order a pair; stops when the answer is known",
    ),
    ("round_robin", "round_robin:RoundRobin", "all pairs, on all items or a sample"),
    ("swim", "swim:Swim", "models join one by one and meet ever nearer neighbours"),
)

SIGNATURES = {
    "podium": "model_a model_b credit | model_a model_b margin | model_a model_b score_a score_b",
    "alpaca-eval": "generator_1 generator_2 preference",
    "arena-hard": "uid model games | question_id model games",
    "mt-bench-pair": "question_id model_1 model_2 g1_winner g2_winner",
    "mt-bench-single": "question_id model judge score turn judgment",
    "arena": "model_a model_b winner | model_a model_b winner_model_a winner_model_b winner_tie",
    "soft-elo": "model_a model_b judge_pref | model_a model_b scores_a scores_b",
    "evalica": "left right winner",
    "wildbench": "session_id assignment parsed_result | session_id model_A model_B parsed_result",
    "comparia": "model_a_name model_b_name chosen_model_name both_equal",
    "counts": "model_a model_b wins_a wins_b | model_a model_b a_wins b_wins",
    "label-sheet": "item response_1 response_2 verdict battle",
    "900k-judgments": "uid model_a_in_prompt model_b_in_prompt final_verdict",
    "judge-bench": "pair_id judgments response_model",
    "promptfoo": "promptIdx testIdx provider score",
    "inspect": "eval status samples",
    "lm-eval": "doc_id doc arguments filter",
    "pointwise": "item model score | arena_hard_question_id system judge_model judgment_score",
}
"""The signature of each format: sets of columns, separated by `|`.

A file is of the format if it has all columns of one set.
"""
INSPECT = "podium.hosts.inspect_ai.logs.inspect_format"
"""Module with the functions that read Inspect's logs."""
FORMATS = (
    FormatRow("podium", "podium_table:read", "podium's own battles table"),
    FormatRow(
        "alpaca-eval",
        "verdict_files:read_alpaca_eval",
        "AlpacaEval annotations.json, or a results tree",
        column_of_label="generator_2",
    ),
    FormatRow(
        "arena-hard",
        "verdict_files:read_arena_hard",
        "arena-hard judgment JSONL, two games a row",
        column_of_label="model",
    ),
    FormatRow("mt-bench-pair", "mt_bench:read_mt_bench_pairs", "MT-bench pairwise judgments"),
    FormatRow(
        "mt-bench-single",
        "mt_bench:read_mt_bench_scores",
        "MT-bench single-answer grading",
        column_of_label="model",
    ),
    FormatRow("arena", "arena_battles:read_arena", "FastChat and Arena battles"),
    FormatRow(
        "soft-elo",
        "verdict_files:read_soft_elo",
        "Soft-Elo CSV: preferences, score dictionaries, human labels",
    ),
    FormatRow("evalica", "verdict_files:read_evalica", "evalica CSV"),
    FormatRow("wildbench", "wildbench:read_wildbench", "WildBench's pairwise verdicts, A++ to B++"),
    FormatRow("comparia", "comparia_votes:read_comparia", "votes of compar:IA, winner by name"),
    FormatRow("counts", "counted_battles:read_counts", "counts of wins and ties of each pair"),
    FormatRow(
        "label-sheet",
        "label_sheet:read",
        "a sheet of `podium label` that humans have filled in",
    ),
    FormatRow(
        "900k-judgments",
        "verdict_files:read_900k_judgments",
        "900K-Judgments, five-level verdicts",
    ),
    FormatRow("promptfoo", "promptfoo:read_promptfoo", "results of promptfoo, a score per test"),
    FormatRow("judge-bench", "verdict_files:read_judge_bench", "JudgeBench outputs, both orders"),
    FormatRow(
        "inspect",
        f"{INSPECT}:read",
        "Inspect logs: verdicts of podium's tournaments, scores of any eval",
    ),
    FormatRow(
        "lm-eval",
        "lm_eval_folders:read",
        "folders of lm-eval (--log_samples), lmms-eval, lighteval, HELM, Open LLM Leaderboard: any "
        "metric, by document",
    ),
    FormatRow(
        "pointwise",
        "score_files:read",
        "one score per item and model (JuStRank), battles item by item",
        column_of_label="model",
    ),
)
"""podium's own file formats."""
OTHER_FILES: dict[str, dict[str, Any]] = {
    "arena": {"selects": "podium.data.formats.answer_lengths:frame_with_lengths"},
    "comparia": {"selects": "podium.data.formats.answer_lengths:frame_with_lengths"},
    "promptfoo": {"selects": "podium.data.formats.promptfoo:frame_of_results"},
    "inspect": {
        "suffixes": (".eval", ".json"),
        "gathers": f"{INSPECT}:gather",
        "names": ("*.eval", "*.json"),
        "texts": f"{INSPECT}:battle_texts",
        "costs": f"{INSPECT}:costs_in",
        "responses": "podium.hosts.inspect_ai.logs.response_reader:READER",
        "runs": f"{INSPECT}:runs_in_logs",
    },
    "lm-eval": {
        "gathers": "podium.data.formats.lm_eval_folders:gather",
        "texts": "podium.data.formats.lm_eval_judged:reply_rows",
        "runs": "podium.data.formats.lm_eval_folders:runs_in_folders",
        "names": (
            "*samples_*.jsonl",
            "*_????-??-??T*.json",
            "*_results.json",
            "details_*.parquet",
            "per_instance_stats.json",
            "run_spec.json",
            "results.json",
            "*__*_*.jsonl",
        ),
    },
}
"""Further fields of `Format`, for formats whose files are not tables, belong together, or have
columns that are not read in full."""


@hookimpl
def podium_rankers() -> list[Ranker]:
    """Return podium's own rankers."""
    return [
        Ranker(
            row.name,
            f"podium.rankers.{row.function}",
            row.summary,
            several_judges=row.several_judges,
        )
        for row in RANKERS
    ]


@hookimpl
def podium_scorers() -> list[Scorer]:
    """Return podium's own judge scorers."""
    return [
        Scorer(name, f"podium.scorers.{realization}", summary)
        for name, realization, summary in SCORERS
    ]


@hookimpl
def podium_tournaments() -> list[Tournament]:
    """Return podium's own tournaments."""
    return [
        Tournament(name, f"podium.tournaments.{rule}", summary)
        for name, rule, summary in TOURNAMENTS
    ]


@hookimpl
def podium_formats() -> list[Format]:
    """Return podium's own formats."""
    formats = []
    for row in FORMATS:
        signature = tuple(frozenset(columns.split()) for columns in SIGNATURES[row.name].split("|"))
        is_full_path = row.reader.startswith("podium.")
        location = row.reader if is_full_path else f"podium.data.formats.{row.reader}"
        further = OTHER_FILES.get(row.name, {})
        formats.append(
            Format(
                row.name,
                signature,
                location,
                row.summary,
                column_of_label=row.column_of_label,
                **further,
            )
        )
    return formats
