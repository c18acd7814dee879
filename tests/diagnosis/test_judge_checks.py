"""What a ranking's reader must know of its judge: replies that cannot be read, and its kin among the models."""

import pandas as pd
import pytest

import podium
from podium.diagnosis.judge_checks import judge_warnings

LETTER = "gpt-4o|direct|3fa9c0de1122"


def table(unparsed: int = 0, replies: tuple[str, ...] = (), judge: str = LETTER, **more: object) -> pd.DataFrame:
    """Return 100 battles of two models, some unparsed, with what the judge wrote instead."""
    rows = []
    for k in range(100):
        row = {"item": f"q{k}", "model_a": "ash", "model_b": "elm", "judge": judge, "credit": float(k % 3 > 0), **more}
        if k < unparsed:
            row |= {"credit": None, "reason": "no verdict", "reply": replies[k % len(replies)] if replies else None}
        rows.append(row)
    return pd.DataFrame(rows)


def warnings_of(frame: pd.DataFrame, **options: object) -> tuple[str, ...]:
    return podium.rank(podium.read_battles(frame), **options).standings[0].warnings


def test_many_unparsed_battles_raise_an_alarm_with_the_commonest_replies_and_what_helps() -> None:
    [alarm] = [text for text in warnings_of(table(40, ("Both.", "Both.", "Hm."))) if "unparsed" in text]
    assert alarm == (
        "40 of 100 battles are unparsed, 40.0% of the replies; most often the judge wrote 'Both.' (27), 'Hm.' (13). "
        "What helps: let the judge reason first (realization=cot), or take one that keeps to a form"
    )


@pytest.mark.parametrize(("unparsed", "alarms"), [(0, 0), (3, 0), (4, 1)])
def test_up_to_three_in_a_hundred_are_no_alarm(unparsed: int, alarms: int) -> None:
    assert sum("unparsed" in text for text in warnings_of(table(unparsed))) == alarms


@pytest.mark.parametrize(("halves", "alarms"), [(6, 0), (7, 1)])
def test_a_battle_that_lost_one_order_has_lost_one_reply_of_two(halves: int, alarms: int) -> None:
    frame = pd.concat([table(halves, order="ab"), table(order="ba")])
    battles = podium.read_battles(frame)
    assert battles.counts().unparsed == halves
    assert sum("unparsed" in text for text in judge_warnings(battles, {})) == alarms


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("truncated", "max_tokens=2000"),
        ("refusal", "let another judge decide"),
        ("failed: TimeoutError", "run again"),
    ],
)
def test_the_remedy_fits_the_reason(reason: str, remedy: str) -> None:
    frame = table(40)
    frame.loc[frame["credit"].isna(), "reason"] = reason
    assert any(remedy in text for text in warnings_of(frame))


def test_a_judge_among_its_models_is_warned_of_with_what_to_do() -> None:
    frame = table(judge="openai/gpt-4o|direct|3fa9c0de1122").replace({"ash": "GPT-4o"})
    [warning] = [text for text in warnings_of(frame) if "judges itself" in text]
    assert warning.startswith("the judge openai/gpt-4o judges itself (GPT-4o): use another judge")
    assert "self-preference" in warning


def test_a_judge_of_the_family_of_a_model_is_warned_of_with_what_to_do() -> None:
    [warning] = [text for text in warnings_of(table().replace({"ash": "gpt-3.5-turbo"})) if "family" in text]
    assert warning.startswith("the judge gpt-4o is of the same family as gpt-3.5-turbo (OpenAI, guessed)")
    assert "add a judge of another family" in warning


def test_a_table_of_models_corrects_the_family() -> None:
    frame = table().replace({"ash": "gpt-neo-acme"})
    about = pd.DataFrame({"model": ["gpt-neo-acme", "elm"], "family": ["Acme", "Acme"]})
    assert not any("family" in text for text in warnings_of(frame, models=about))
    kin = pd.DataFrame({"model": ["elm", "gpt-4o"], "family": ["OpenAI", "OpenAI"]})
    assert any("of the same family as elm (OpenAI, given)" in text for text in warnings_of(frame, models=kin))


@pytest.mark.parametrize("judge", ["mmlu_llama choice", "human", "jury:majority:2(gpt-4o|direct|1; phi-4|direct|1)"])
def test_metrics_humans_and_juries_have_no_family(judge: str) -> None:
    frame = table(judge=judge).replace({"ash": "llama-3", "elm": "gpt-4"})
    assert judge_warnings(podium.read_battles(frame), {}) == []


def test_checks_cover_every_judge_of_a_slice() -> None:
    frame = pd.concat([table(judge="gpt-4o|direct|1"), table(judge="claude-x|direct|1")])
    frame = frame.replace({"ash": "gpt-3.5-turbo"})
    ranking = podium.rank(podium.read_battles(frame), by="judge")
    kin = {each.slice: any("family" in text for text in each.warnings) for each in ranking.standings}
    assert kin == {"gpt-4o|direct|1": True, "claude-x|direct|1": False}


def test_a_judge_of_which_nothing_could_be_read_gets_the_alarm_in_the_error() -> None:
    with pytest.raises(podium.NotIdentifiedError, match=r"nothing to rank; 100 of 100 .*wrote 'Both.' \(100\).*=cot"):
        warnings_of(table(100, ("Both.",)))
