"""How Inspect's viewer lists the samples of a tournament, and those of a task with `pairwise`."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from podium.hosts.inspect_ai.inspect_ai_compatibility import untrusted_viewer
from podium.hosts.inspect_ai.judging.battle_outcomes import CREDIT, FLIP, UNPARSED
from podium.hosts.inspect_ai.judging.pairwise_metrics import AGAINST
from podium.names import names_without_provider

VERDICT = "verdict"
"""Name of the scorer of a tournament, and of its column."""
BATTLE = "battle"
"""Name of the scorer `battle`, whose value has a battle's models, flip and unparsed."""
PAIRWISE = "pairwise"
"""Name of the scorer of a task that compares its responses with those of references."""
LABELS = {
    VERDICT: "credit of A",
    "model_a": "model A",
    "model_b": "model B",
    FLIP: FLIP,
    UNPARSED: UNPARSED,
}
"""Headings of the columns, by name of the score. Columns are about as wide as their headings."""
CREDIT_SCALE = ScoreColorScale(palette="diverging", min=0, max=1)
"""Colours of credits: red 0, green 1."""
SCALES: dict[str, Any] = {CREDIT: CREDIT_SCALE, FLIP: {"1": "warn"}, UNPARSED: {"1": "bad"}}
"""Colours of the parts of a battle's outcome: a scale, or the colour of a value, by part."""
SELDOM_READ = ("epoch", "target", "tokens", "duration")
"""Columns that are hidden at first in all lists."""


def tournament_viewer(*, packed: bool) -> ViewerConfig:
    """Return the settings of the viewer for a tournament's log.

    A list of battles has a column for item and models together (the id), each model, credit, flip
    and unparsed. A list of packs has the share of readable verdicts; the battles are in the
    explanation of its score. Responses and judges' words are shown as plain text, because models
    wrote them. The columns that narrow windows cut off are the last ones, those without verdicts.

    Args:
        packed: whether a sample holds several battles.
    """
    return untrusted_viewer(_list_of_packs() if packed else _list_of_battles())


def pairwise_viewer(
    references: Sequence[str] = (), other_scores: Sequence[str] = ()
) -> ViewerConfig:
    """Return settings of Inspect's viewer for a task with the scorer `pairwise`.

    They are the argument `viewer` of a `Task`. The list of samples has the answer (the winner), and
    credit (red 0, green 1), flip and unparsed. If there are several references, the heading of a
    credit is the name of its reference, and its flip and unparsed follow. Beside other scores, the
    answer is hidden, because Inspect lists that of the task's first scorer. Responses and judges'
    words are shown as plain text, because models wrote them.

    Args:
        references: the names of the reference models if there are several; empty for a single
            reference, which the names of its scores lack.
        other_scores: names of further scores of the task that are shown.
    """
    short_names = names_without_provider(references)
    labels = {}
    scales = {}
    scores = []
    # The scores against a single reference do not name it.
    for reference in references or ("",):
        for part, scale in SCALES.items():
            score = f"{part}{AGAINST}{reference}" if reference else part
            labels[score] = part
            scales[score] = scale
            scores.append(TaskSamplesColumn.score(PAIRWISE, score))
        if reference:
            # Headings are cut after about 13 characters, so that the name has to come early.
            labels[f"{CREDIT}{AGAINST}{reference}"] = f"vs {short_names[reference]}"
    columns = [
        TaskSamplesColumn(id="sampleId"),
        TaskSamplesColumn(id="answer", visible=not other_scores),
        *scores,
        *(TaskSamplesColumn.score(name) for name in other_scores),
        *_last_columns(),
    ]
    view = TaskSamplesView(
        name="comparisons",
        columns=[*columns, *_hidden_columns(*SELDOM_READ)],
        multiline=False,
        score_labels=labels,
        score_color_scales=scales,
        color_scales_enabled=True,
    )
    return untrusted_viewer(view)


def _list_of_battles() -> TaskSamplesView:
    """Return the view of a log's samples if each sample is one battle."""
    columns = [
        TaskSamplesColumn(id="sampleId"),
        TaskSamplesColumn.score(BATTLE, "model_a"),
        TaskSamplesColumn.score(BATTLE, "model_b"),
        TaskSamplesColumn.score(VERDICT),
        TaskSamplesColumn.score(BATTLE, FLIP),
        TaskSamplesColumn.score(BATTLE, UNPARSED),
        *_last_columns(),
    ]
    return TaskSamplesView(
        name="battles",
        columns=[*columns, *_hidden_columns("answer", *SELDOM_READ)],
        multiline=False,
        score_labels=LABELS,
        score_color_scales={**SCALES, VERDICT: CREDIT_SCALE},
        color_scales_enabled=True,
    )


def _list_of_packs() -> TaskSamplesView:
    """Return the view of a log's samples if each sample is a pack: all battles on an item."""
    columns = [
        TaskSamplesColumn(id="sampleId"),
        TaskSamplesColumn(id="answer"),
        TaskSamplesColumn.score(VERDICT),
        *_last_columns(),
    ]
    return TaskSamplesView(
        name="packs",
        columns=[*columns, *_hidden_columns(*SELDOM_READ)],
        multiline=False,
        score_labels={VERDICT: "readable"},
        score_color_scales={VERDICT: ScoreColorScale(palette="good-high", min=0, max=1)},
        color_scales_enabled=True,
    )


def _last_columns() -> list[TaskSamplesColumn]:
    """Return the last columns of all lists, which narrow windows cut off."""
    return [TaskSamplesColumn(id=name) for name in ("sampleStatus", "input", "error")]


def _hidden_columns(*names: str) -> list[TaskSamplesColumn]:
    """Return columns that the reader of the list has to choose to see."""
    return [TaskSamplesColumn(id=name, visible=False) for name in names]
