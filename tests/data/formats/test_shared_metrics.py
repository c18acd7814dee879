"""Models that are scored by different metrics, or by one metric after different filters, are named
and never joined.

EleutherAI/lm-evaluation-harness #2362 asks which of two filters a published figure is of.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest
from lm_eval_output import sample, write_run

import podium
from podium.notices.notice_text import notice_texts

STRICT = "strict-match"
FLEXIBLE = "flexible-extract"


def table_of(metrics: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Scores of models by the metrics of each."""
    rows = []
    for place, (model, own) in enumerate(metrics.items()):
        for metric in own:
            for k in range(6):
                score = float((place + k) % 3 > 0)
                rows.append({"item": f"q{k}", "model": model, "metric": metric, "score": score})
    return pd.DataFrame(rows)


def folder_of_runs(folder: Path, filters: Mapping[str, Sequence[str]]) -> Path:
    """Runs of lm-eval whose replies were filtered in different ways."""
    for place, (model, own) in enumerate(filters.items()):
        rows = []
        for name in own:
            for k in range(6):
                row = sample(f"q{k}", {"exact_match": float((place + k) % 3 > 0)}, place=k)
                rows.append({**row, "filter": name})
        write_run(folder, model, {"gsm": rows})
    return folder


@pytest.mark.parametrize("metric", [(), "exact_match"])
def test_two_models_that_differ_in_the_filter_are_named_with_both(
    tmp_path: Path, metric: str | tuple[str, ...]
) -> None:
    folder = folder_of_runs(tmp_path, {"A": [STRICT], "B": [FLEXIBLE]})
    with pytest.raises(podium.NotIdentifiedError) as raised:
        podium.read_battles(folder, metric=metric)
    text = str(raised.value)
    assert "no two models have one metric" in text
    assert f"A has only exact_match,{STRICT}, B has only exact_match,{FLEXIBLE}" in text
    assert "choose with" not in text


@pytest.mark.slow
def test_the_first_metric_that_two_models_have_counts(tmp_path: Path) -> None:
    folder = folder_of_runs(tmp_path, {"A": [FLEXIBLE], "B": [STRICT, FLEXIBLE], "C": [STRICT]})
    battles = podium.read_battles(folder)
    assert battles.metrics == (f"exact_match,{FLEXIBLE}",)
    [lost] = battles.lost
    assert lost.code == "metric-missing"
    assert lost.fields["model"] == "C"


@pytest.mark.slow
def test_a_comparison_says_why_a_model_of_the_sources_is_not_there(tmp_path: Path) -> None:
    folder = folder_of_runs(tmp_path, {"A": [STRICT], "B": [FLEXIBLE], "C": [FLEXIBLE]})
    with pytest.raises(podium.NotIdentifiedError) as raised:
        podium.compare("A", "B", folder, metric=f"exact_match,{FLEXIBLE}")
    assert f"no exact_match,{FLEXIBLE} (it has exact_match,{STRICT})" in str(raised.value)


def test_a_table_in_which_no_two_models_share_a_metric_is_rejected_with_both_names() -> None:
    with pytest.raises(podium.DataError, match="by one metric: A by s; B by f"):
        podium.read_battles(table_of({"A": ["s"], "B": ["f"]}))


@pytest.mark.slow
def test_a_model_that_shares_no_metric_is_a_stated_loss() -> None:
    battles = podium.read_battles(table_of({"A": ["s"], "B": ["f"], "C": ["f"]}))
    assert battles.models == ("B", "C")
    assert notice_texts(battles.lost) == (
        "A is not compared: its scores are by s, which no other model has (others have f)",
    )
    with pytest.raises(podium.NotIdentifiedError, match=r"A cannot be compared: .* by s"):
        podium.compare("A", "B", table_of({"A": ["s"], "B": ["f"], "C": ["f"]}))


def test_a_further_metric_of_one_model_is_no_loss() -> None:
    battles = podium.read_battles(table_of({"A": ["s", "f"], "B": ["f"]}))
    assert battles.lost == ()
