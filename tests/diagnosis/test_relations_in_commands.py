"""Rank, compare and the card of a judge say the same of a judge that is one of the models."""

import random

import pandas as pd
import pytest

import podium
from podium.diagnosis.card import diagnose, summary_reports


def judged_by(judge: str, models: tuple[str, ...], items: int = 40) -> pd.DataFrame:
    """Return verdicts in both orders, of which the first model wins three in four."""
    draw = random.Random(5)
    rows = []
    for item in range(items):
        for k, first in enumerate(models):
            for second in models[k + 1 :]:
                for order in ("ab", "ba"):
                    credit = float(draw.random() < (0.75 if k == 0 else 0.5))
                    names = {"item": f"q{item}", "model_a": first, "model_b": second}
                    rows.append({**names, "order": order, "credit": credit, "judge": judge})
    return pd.DataFrame(rows)


OWN = ("openai/gpt-4o", ("gpt-4o", "claude-3", "gemini-1"), "own model")
KIN = ("openai/gpt-4o", ("gpt-4-turbo", "claude-3", "gemini-1"), "own family")
UNKNOWN_FAMILY = ("amber", ("amber", "birch", "cedar"), "own model")
RELATED = pytest.mark.parametrize(("judge", "models", "name"), [OWN, KIN, UNKNOWN_FAMILY])


@pytest.mark.slow
@RELATED
def test_a_judge_that_competes_is_flagged_in_every_command(judge, models, name) -> None:
    frame = judged_by(judge, models)
    battles = podium.read_battles(frame)
    ranking = podium.rank(battles).standings[0].checks
    comparison = podium.compare(*models[:2], battles).checks
    card = diagnose(podium.read_battles(frame, merge=False), battles).cards[0].checks
    for checks in (ranking, comparison, card):
        [check] = [check for check in checks if check.name == name]
        assert check.is_flagged
        assert check.models == models[:1]


@pytest.mark.fast_cases(2)
@RELATED
@pytest.mark.parametrize("options", [{}, {"by": "judge"}])
def test_no_requirement_on_the_judge_or_its_family_is_decided(judge, models, name, options) -> None:
    found = podium.compare(*models[:2], judged_by(judge, models), require="better", **options)
    assert found.gate.verdict == "UNDECIDED"
    assert found.findings[0].judge_doubt.name == name
    assert found.answer[0].startswith("UNDECIDED because of the doubt below, although ")
    assert f"The judge {judge} " in found.answer[2]


@pytest.mark.fast_cases(2)
@RELATED
def test_a_requirement_on_two_other_models_is_decided(judge, models, name) -> None:
    del name
    found = podium.compare(*models[1:], judged_by(judge, models), require="not-worse=300elo")
    assert found.findings[0].judge_doubt is None
    assert found.gate.verdict == "PASS"


@pytest.mark.slow
def test_a_judge_of_the_family_of_both_models_prefers_neither_of_them() -> None:
    frame = judged_by("openai/gpt-4o", ("gpt-4-turbo", "gpt-3.5", "claude-3"))
    found = podium.compare("gpt-4-turbo", "gpt-3.5", frame, require="better")
    assert found.findings[0].judge_doubt is None
    assert found.gate.verdict == "PASS"
    against_other = podium.compare("gpt-3.5", "claude-3", frame, require="not-worse=300elo")
    assert against_other.gate.verdict == "UNDECIDED"


def test_scores_that_a_model_gave_itself_decide_no_requirement() -> None:
    draw = random.Random(6)
    rows = [
        {"item": f"q{item}", "model": model, "judge": "gpt-4o", "score": draw.random() + lead}
        for item in range(40)
        for model, lead in (("gpt-4o", 0.5), ("claude-3", 0.0))
    ]
    found = podium.compare("gpt-4o", "claude-3", pd.DataFrame(rows), require="better")
    assert found.gate.verdict == "UNDECIDED"
    assert "judges itself" in found.answer[2]


def test_the_second_related_judge_of_a_jury_is_a_doubt_too() -> None:
    models = ("gpt-4o", "claude-3", "gemini-1")
    frames = [judged_by(judge, models) for judge in ("claude-3", "gemini-1")]
    found = podium.compare(
        "gemini-1", "gpt-4o", pd.concat(frames), require="not-worse=300elo", pool=True
    )
    assert found.gate.verdict == "UNDECIDED"
    assert "The judge gemini-1 judges itself" in " ".join(found.answer)


@pytest.mark.fast_cases(1)
@RELATED
def test_the_printed_card_has_a_line_for_the_relation(judge, models, name) -> None:
    frame = judged_by(judge, models)
    diagnosis = diagnose(podium.read_battles(frame, merge=False), podium.read_battles(frame))
    [report] = summary_reports(diagnosis)
    rows = {row[0]: row[1] for row in report.table.rows}
    assert rows[name] == "flagged"


@pytest.mark.slow
@RELATED
def test_the_table_of_several_judges_names_the_one_that_competes(judge, models, name) -> None:
    frame = pd.concat([judged_by(judge, models), judged_by("mistral-large", models)])
    diagnosis = diagnose(podium.read_battles(frame, merge=False), podium.read_battles(frame))
    [report] = summary_reports(diagnosis)
    column = report.table.header.index(name)
    cells = {row[0]: row[column] for row in report.table.rows}
    assert cells[judge] == "flagged"
    assert cells["mistral-large"] != "flagged"
    assert any(sentence.startswith(f"The judge {judge} ") for sentence in report.answer)
