"""Of Inspect's scorers, an exact name says that lower is better; a log says no direction."""

import pytest
from written_logs import build_log, write

import podium
from podium.notices.notice_text import notice_texts

LOW = {"good": 0.1, "bad": 0.4}


def logs_of(name: str) -> str:
    """Write a log per model whose scores have one part, and return their folder."""
    folder = ""
    for model, score in LOW.items():
        scores = {f"q{k}": ({name: score + k / 100},) for k in range(6)}
        log = build_log(model, scores, status="cancelled").model_copy(update={"status": "success"})
        folder = write(log)
    return folder


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("name", "first", "metric"),
    [
        ("wer", "made/good", "quiz exact wer (negated)"),
        ("Edit Distance", "made/good", "quiz exact Edit Distance (negated)"),
        ("power", "made/bad", "quiz exact power"),
    ],
)
def test_an_exact_name_of_a_part_decides(name: str, first: str, metric: str) -> None:
    battles = podium.read_battles(logs_of(name))
    [standings] = podium.rank(battles, "mean").standings
    assert (standings.entries[0].model, battles.metrics) == (first, (metric,))
    texts = [text for text in notice_texts(battles.notes) if "lower is better" in text]
    assert len(texts) == ("negated" in metric)
    assert [own.metric for own in battles.measures] == [name]


@pytest.mark.slow
def test_the_option_decides_before_the_name() -> None:
    battles = podium.read_battles(logs_of("wer"), lower_is_better=False)
    assert podium.rank(battles, "mean").standings[0].entries[0].model == "made/bad"
    battles = podium.read_battles(logs_of("power"), lower_is_better=True)
    assert podium.rank(battles, "mean").standings[0].entries[0].model == "made/good"
    compared = podium.compare("good", "bad", logs_of("power"), lower_is_better=True)
    assert compared.findings[0].is_share
    assert compared.findings[0].difference.value == pytest.approx(0.3)
