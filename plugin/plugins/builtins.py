"""podium's own rankers, scorers, tournaments and formats: one line each."""

from podium.hookspecs import Format, Ranker, Scorer, Tournament, hookimpl


def _any_of(*alternatives: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(names.split()) for names in alternatives)


@hookimpl
def podium_rankers() -> list[Ranker]:
    """Return podium's own rankers."""
    home = "podium.rankers"
    return [
        Ranker("bradley-terry", f"{home}.bradley_terry:bradley_terry", "joint maximum likelihood, Elo scale"),
        Ranker(
            "soft-elo", f"{home}.soft_elo:soft_elo", "Bradley-Terry on calibrated probabilities, Elo scale of people"
        ),
        Ranker("win-rate", f"{home}.win_rate:win_rate", "mean credit against all, or against one anchor"),
        Ranker("mean", f"{home}.pointwise:mean", "mean pointwise score over items"),
        Ranker("median", f"{home}.pointwise:median", "median pointwise score over items"),
        Ranker(
            "informativeness",
            f"{home}.informativeness:informativeness",
            "how often each entrant, as anchor, tells two others apart",
        ),
    ]


@hookimpl
def podium_scorers() -> list[Scorer]:
    """Return podium's own judge scorers."""
    home = "podium.scorers"
    return [
        Scorer("direct", f"{home}.direct:DIRECT", "pairwise: one letter; soft where token probabilities are known"),
        Scorer("cot", f"{home}.cot:COT", "pairwise: reasons, then a letter; soft where token probabilities are known"),
        Scorer("labels", f"{home}.levels:LABELS", "pairwise: five levels from A>>B to B>>A, with margins"),
        Scorer("rubric", f"{home}.rubric:RUBRIC", "pairwise: six criteria from 1 to 10 for both, with margins"),
        Scorer("numeric", f"{home}.levels:NUMERIC", "pointwise: a number from 0 to 100"),
        Scorer("likert", f"{home}.levels:LIKERT", "pointwise: one of five words"),
        Scorer("token-probs", f"{home}.token_probs:TOKEN_PROBS", "pointwise: the probability of yes"),
        Scorer("reward", f"{home}.reward:REWARD", "pointwise: a scalar from a reward model or any function"),
    ]


@hookimpl
def podium_tournaments() -> list[Tournament]:
    """Return podium's own tournaments."""
    home = "podium.tournaments"
    return [
        Tournament("anchor", f"{home}.anchor:Anchor", "all against one, named or chosen by a pilot, or a few"),
        Tournament("chain", f"{home}.chain:Chain", "each item plays a random path through all entrants"),
        Tournament("round_robin", f"{home}.round_robin:RoundRobin", "all pairs, on all items or a sample"),
        Tournament("swim", f"{home}.swim:Swim", "entrants join one by one and meet ever nearer neighbours"),
    ]


@hookimpl
def podium_formats() -> list[Format]:
    """Return podium's own formats."""
    home = "podium.formats"
    return [
        Format(
            "podium",
            _any_of("model_a model_b credit", "model_a model_b margin", "model_a model_b score_a score_b"),
            f"{home}.podium_table:read",
            "podium's own battles table",
        ),
        Format(
            "alpaca-eval",
            _any_of("generator_1 generator_2 preference"),
            f"{home}.alpaca_eval:read",
            "AlpacaEval annotations.json, one file or a results tree",
            label_is="generator_2",
        ),
        Format(
            "arena-hard",
            _any_of("uid model games", "question_id model games"),
            f"{home}.arena_hard:read",
            "arena-hard judgement JSONL, two games a row",
            label_is="model",
        ),
        Format(
            "mt-bench-pair",
            _any_of("question_id model_1 model_2 g1_winner g2_winner"),
            f"{home}.mt_bench:read_pair",
            "MT-bench pairwise judgements",
        ),
        Format(
            "mt-bench-single",
            _any_of("question_id model judge score turn judgment"),
            f"{home}.mt_bench:read_single",
            "MT-bench single-answer grading",
            label_is="model",
        ),
        Format(
            "arena",
            _any_of("model_a model_b winner", "model_a model_b winner_model_a winner_model_b winner_tie"),
            f"{home}.arena:read",
            "FastChat and Arena battles",
        ),
        Format(
            "soft-elo",
            _any_of("model_a model_b judge_pref", "model_a model_b scores_a scores_b"),
            f"{home}.soft_elo:read",
            "Soft-Elo CSV: preferences, score dictionaries, human labels",
        ),
        Format("evalica", _any_of("left right winner"), f"{home}.evalica:read", "evalica CSV"),
        Format(
            "900k-judgements",
            _any_of("uid model_a_in_prompt model_b_in_prompt final_verdict"),
            f"{home}.judgements_900k:read",
            "900K-Judgements, five-level verdicts",
        ),
        Format(
            "judge-bench",
            _any_of("pair_id judgments response_model"),
            f"{home}.judge_bench:read",
            "JudgeBench outputs, both orders",
        ),
        Format(
            "inspect",
            _any_of("podium_log"),
            "podium.hosts.inspect_ai.inspect_log:drop_mark",
            "Inspect logs: verdicts of podium's tournaments, scores of any eval",
            suffixes=(".eval", ".json"),
            opens="podium.hosts.inspect_ai.inspect_log:open_log",
        ),
        Format(
            "lm-eval",
            _any_of("doc_id doc arguments filter"),
            f"{home}.lm_eval:read",
            "lm-eval output folders (--log_samples): any metric per document, battles document by document",
            gathers=f"{home}.lm_eval:gather",
            names=("samples_*.jsonl", "samples_*.jsonl.gz", "*_????-??-??T*.json"),
        ),
        Format(
            "pointwise",
            _any_of("item model score", "arena_hard_question_id system judge_model judgment_score"),
            f"{home}.pointwise:read",
            "one score per item and model (JuStRank), battles item by item",
            label_is="model",
        ),
    ]
