"""Metrics of which lower values are better, by their exact names.

Case, blanks and the characters `-`, `_` and `.` in a name do not matter: `Word Error Rate` and
`word_error_rate` are one name. Parts of names decide nothing: `error_flag_accuracy` is no error.
"""

import re
from collections.abc import Collection

SEPARATORS = re.compile(r"[\s_.-]+")
"""Matches the characters in a name that do not matter."""
TIMES = frozenset(
    {
        "latency",
        "latency_s",
        "latency_sec",
        "latency_seconds",
        "latency_ms",
        "time",
        "time_s",
        "time_sec",
        "time_seconds",
        "time_ms",
        "total_time",
        "working_time",
        "runtime",
        "runtime_s",
        "runtime_seconds",
        "runtime_ms",
        "inference_time",
        "response_time",
        "elapsed_time",
        "wall_time",
        "wall_clock_time",
        "execution_time",
        "time_to_first_token",
        "ttft",
    }
)
"""Metrics that are times, in seconds or milliseconds."""
AMOUNTS = TIMES | frozenset(
    {
        # Costs.
        "cost",
        "costs",
        "cost_usd",
        "total_cost",
        "total_cost_usd",
        "cost_per_task",
        # Perplexities and losses.
        "perplexity",
        "ppl",
        "word_perplexity",
        "byte_perplexity",
        "token_perplexity",
        "target_perplexity",
        "bits_per_byte",
        "bpb",
        "bits_per_character",
        "loss",
        "log_loss",
        "cross_entropy",
        "cross_entropy_loss",
        "eval_loss",
        "nll",
        "negative_log_likelihood",
        # Distances and errors of numbers.
        "edit_distance",
        "levenshtein_distance",
        "hamming_distance",
        "mae",
        "mean_absolute_error",
        "absolute_error",
        "mse",
        "mean_squared_error",
        "squared_error",
        "rmse",
        "root_mean_squared_error",
    }
)
"""Metrics without an upper end, of which one model may have a hundred times as much as another."""
RATES = frozenset(
    {
        "error_rate",
        "wer",
        "word_error_rate",
        "cer",
        "character_error_rate",
        "char_error_rate",
        "mer",
        "match_error_rate",
        "ter",
        "translation_edit_rate",
        "translation_error_rate",
        "phoneme_error_rate",
        "token_error_rate",
        "sentence_error_rate",
        "diarization_error_rate",
        "equal_error_rate",
        "false_positive_rate",
        "false_negative_rate",
        "hallucination_rate",
        "normalized_edit_distance",
        "normalised_edit_distance",
        "normalized_levenshtein_distance",
        "normalised_levenshtein_distance",
        "mape",
        "mean_absolute_percentage_error",
        "brier",
        "brier_score",
        "ece",
        "expected_calibration_error",
        "calibration_error",
    }
)
"""Shares, which are written as fractions or in percent."""
LOWER_IS_BETTER = AMOUNTS | RATES
"""All metrics of which lower values are better, in any eval."""
HELM_LOWER_IS_BETTER = frozenset(
    {
        "absolute_value_difference",
        "bbq_metric_ambiguous_bias",
        "bbq_metric_unambiguous_bias",
        "bits_per_byte",
        "blacked_out_frac",
        "cer_score",
        "chinese_cer_score",
        "chinese_mer_score",
        "chinese_wer_score",
        "copyright_human",
        "decodingtrust_privacy_leakage_rate",
        "demographic_parity_difference",
        "denoised_runtime",
        "distance",
        "ece_10_bin",
        "ece_1_bin",
        "equalized_odds_difference",
        "error_rate",
        "expected_lpips_score",
        "expected_max_nsfw_score",
        "expected_max_toxicity",
        "expected_max_watermark_prob",
        "fid",
        "fractal_dimension_loss",
        "gender_imbalance",
        "inference_denoised_runtime",
        "inference_idealized_runtime",
        "inference_runtime",
        "kernel_inception_distance",
        "longest_common_prefix_length",
        "max_nsfw_probability",
        "max_toxicity_probability",
        "mer",
        "mer_score",
        "nsfw_frac",
        "nudity_frac",
        "perplexity",
        "platt_ece_10_bin",
        "platt_ece_1_bin",
        "skin_tone_imbalance",
        "toxic_frac",
        "toxic_prompt_openai",
        "toxic_prompt_perspective_api",
        "training_co2_cost",
        "training_energy_cost",
        "watermark_frac",
        "wer",
        "wer_score",
    }
)
"""HELM's metrics with `lower_is_better: true` in its schemas (`src/helm/benchmark/static/schema*`,
of June 2026), without the metrics of associations and of toxic prompts, which have no score per
instance.

`edit_similarity` is left out: in HELM's schemas of copyright lower is better, in others higher.
"""


def normalize_name(metric: str) -> str:
    """Return the name of a metric in lower case and without separators."""
    return SEPARATORS.sub("", metric.casefold())


_LOWER_NAMES = frozenset(map(normalize_name, LOWER_IS_BETTER))
_AMOUNTS = frozenset(map(normalize_name, AMOUNTS))
_TIMES = frozenset(map(normalize_name, TIMES))
"""The names of `LOWER_IS_BETTER`, `AMOUNTS` and `TIMES`, as `normalize_name` writes them."""


def is_lower_better(metric: str, others: Collection[str] = ()) -> bool:
    """Return whether a metric is known by its exact name to be better if it is lower.

    Args:
        metric: name of the metric, without task and filter.
        others: further names of such metrics, as of `HELM_LOWER_IS_BETTER`.
    """
    name = normalize_name(metric)
    return name in _LOWER_NAMES or any(name == normalize_name(other) for other in others)


def is_time(metric: str) -> bool:
    """Return whether a metric is a time (`TIMES`) by its exact name."""
    return normalize_name(metric) in _TIMES


def is_amount(metric: str) -> bool:
    """Return whether a metric is one of `AMOUNTS`, which have no upper end, by its exact name."""
    return normalize_name(metric) in _AMOUNTS
