"""How Inspect's viewer lists the samples of a tournament."""

from typing import Any

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from podium.hosts.inspect_ai.inspect_ai_compatibility import untrusted_viewer
from podium.hosts.inspect_ai.judging.battle_outcomes import FLIP, UNPARSED

VERDICT = "verdict"
"""Name of the scorer of a tournament, and of its column."""
BATTLE = "battle"
"""Name of the scorer whose value has the other columns of a battle."""
LABELS = {
    VERDICT: "credit of A",
    "model_a": "model A, credited",
    "model_b": "model B, opponent",
    FLIP: FLIP,
    UNPARSED: UNPARSED,
}
"""Headings of the columns, by name of the score. Columns are about as wide as their headings."""
SELDOM_READ = ("epoch", "target", "tokens", "duration")
"""Columns that are hidden at first in both lists."""


def build_viewer(*, packed: bool) -> ViewerConfig:
    """Return the settings of the viewer for a tournament's log.

    A list of battles has a column for item and models together (the id), each model, credit, flip
    and unparsed. A list of packs has the share of readable verdicts; the battles are in the
    explanation of its score. Responses and judges' words are shown as plain text, because models
    wrote them.

    Args:
        packed: whether a sample holds several battles.
    """
    return untrusted_viewer(_list_of_packs() if packed else _list_of_battles())


def _list_of_battles() -> TaskSamplesView:
    """Return the list of samples that are a battle each."""
    shown = [
        TaskSamplesColumn(id="sampleStatus"),
        TaskSamplesColumn(id="sampleId"),
        TaskSamplesColumn.score(BATTLE, "model_a"),
        TaskSamplesColumn.score(BATTLE, "model_b"),
        TaskSamplesColumn.score(VERDICT),
        TaskSamplesColumn.score(BATTLE, FLIP),
        TaskSamplesColumn.score(BATTLE, UNPARSED),
        TaskSamplesColumn(id="input"),
        TaskSamplesColumn(id="error"),
    ]
    scales: dict[str, Any] = {
        VERDICT: ScoreColorScale(palette="diverging", min=0, max=1),
        FLIP: {"1": "warn"},
        UNPARSED: {"1": "bad"},
    }
    return TaskSamplesView(
        name="battles",
        columns=[*shown, *_hidden_columns("answer", *SELDOM_READ)],
        multiline=False,
        score_labels=LABELS,
        score_color_scales=scales,
        color_scales_enabled=True,
    )


def _list_of_packs() -> TaskSamplesView:
    """Return the list of samples that hold all battles on an item."""
    shown = [
        TaskSamplesColumn(id="sampleStatus"),
        TaskSamplesColumn(id="sampleId"),
        TaskSamplesColumn(id="input"),
        TaskSamplesColumn(id="answer"),
        TaskSamplesColumn.score(VERDICT),
        TaskSamplesColumn(id="error"),
    ]
    return TaskSamplesView(
        name="packs",
        columns=[*shown, *_hidden_columns(*SELDOM_READ)],
        multiline=False,
        score_labels={VERDICT: "readable"},
        score_color_scales={VERDICT: ScoreColorScale(palette="good-high", min=0, max=1)},
        color_scales_enabled=True,
    )


def _hidden_columns(*names: str) -> list[TaskSamplesColumn]:
    """Return columns that the reader of the list has to choose to see."""
    return [TaskSamplesColumn(id=name, visible=False) for name in names]
