"""Which battles humans are asked about, and how many labels leave which error."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import podium
from podium import Judge, UsageError, read_battles, simulate
from podium.data.formats.label_sheet import sheet_table
from podium.data.human_labels import label_by_table
from podium.planning.label_draw import draw_labels, draw_reports
from podium.show.page.sources import BattleTexts


@cache
def frame():
    return simulate(6, 30, seed=2).judgments(Judge(), human=True, orders="ab")


def draw(number=60, seed=0, table=None, **how):
    table = frame().drop(columns="human") if table is None else table
    return draw_labels(read_battles(table), number, rng=np.random.default_rng(seed), **how)


def battles_of(drawn):
    return [(row.item, *sorted((row.model_1, row.model_2))) for row in drawn.rows]


@pytest.mark.slow
def test_no_battle_is_drawn_twice_and_models_are_balanced():
    drawn = draw(61)
    assert len({*battles_of(drawn)}) == 61
    assert drawn.per_model[1] - drawn.per_model[0] <= 1


@pytest.mark.slow
def test_label_draw_excludes_but_balances_existing_labels():
    known = frame()["human"].where(
        frame()["model_a"].eq("model-01") & frame()["item"].lt("item-05")
    )
    drawn = draw(60, table=frame().assign(human=known))
    labelled = frame()[known.notna()]
    before = {*zip(labelled["item"], labelled["model_a"], labelled["model_b"], strict=True)}
    assert not before & {*battles_of(drawn)}
    asked = sum("model-01" in battle for battle in battles_of(drawn))
    assert asked < 60 * 2 / 6
    assert drawn.labels_so_far == len(before)


@pytest.mark.slow
def test_label_draw_omits_models_without_verdicts_and_reports_too_few():
    table = frame().drop(columns="human")
    gone = (table[["model_a", "model_b"]] == "model-01").any(axis=1)
    table = table.assign(credit=table["credit"].mask(gone), margin=table["margin"].mask(gone))
    left = int((~gone).sum())
    assert not any("model-01" in battle for battle in battles_of(draw(left, table=table)))
    with pytest.raises(
        UsageError, match=f"{left + 1} battles were asked for, and {left} have no label"
    ):
        draw(left + 1, table=table)


@pytest.mark.slow
def test_label_draw_without_battles_left_gives_the_reason():
    with pytest.raises(UsageError, match="all 450 battles have a label") as refused:
        draw(10, table=frame())
    assert "ask for fewer" not in str(refused.value)
    elsewhere = BattleTexts(responses={("elsewhere", 1, "model-01"): "This."})
    with pytest.raises(UsageError, match="has both responses"):
        draw(10, texts=elsewhere)
    gone = (frame()[["model_a", "model_b"]] == "model-01").any(axis=1)
    rest = frame().assign(
        **{name: frame()[name].mask(gone) for name in ("credit", "margin", "human")}
    )
    with pytest.raises(UsageError, match="two models with a readable verdict") as unparsed:
        draw(10, table=rest)
    assert "--responses" not in str(unparsed.value)


@pytest.mark.slow
def test_label_draw_of_items_does_not_depend_on_verdicts():
    """Verdicts and margins that are turned round change no draw."""
    turned = (
        frame()
        .drop(columns="human")
        .assign(credit=1 - frame()["credit"], margin=-frame()["margin"])
    )
    assert battles_of(draw()) == battles_of(draw(table=turned))
    assert battles_of(draw()) != battles_of(draw(seed=1))


@pytest.mark.slow
def test_responses_are_shown_in_random_order():
    first = [row.model_1 < row.model_2 for row in draw(200).rows]
    assert 0.4 < np.mean(first) < 0.6


def test_uncertainty_is_rejected_with_what_it_costs():
    with pytest.raises(UsageError, match="three times the error"):
        draw(by="uncertainty")


def test_the_command_rejects_uncertainty_before_it_asks_for_texts(tmp_path, podium):
    frame().to_csv(tmp_path / "verdicts.csv", index=False)
    result = podium(
        "label", tmp_path / "verdicts.csv", "--by", "uncertainty", "-o", tmp_path / "sheet.csv"
    )
    assert (result.code, "three times the error" in result.err) == (2, True)


@pytest.mark.slow
def test_label_draw_reports_equal_labels_per_model_once():
    reported = draw_reports(draw(60))[0].notes
    assert any(text.endswith("each model then has 20 labels.") for text in reported)
    reported = draw_reports(draw(61))[0].notes
    assert any(text.endswith("each model then has 20 to 21 labels.") for text in reported)


def test_more_battles_than_there_are_are_rejected():
    with pytest.raises(UsageError, match=r"451 battles were asked for, and 450 have no label yet"):
        draw(451)


@pytest.mark.slow
def test_the_only_battle_that_can_be_drawn_has_no_label():
    known = frame()["human"].where(np.arange(len(frame())) > 0)
    with pytest.raises(UsageError, match=r"2 battles were asked for, and 1 has no label yet"):
        draw(2, table=frame().assign(human=known))


def test_texts_stand_in_the_sheet_and_battles_without_them_are_not_drawn():
    names, items = [f"model-{k:02d}" for k in range(1, 7)], [f"item-{k:02d}" for k in range(30)]
    texts = BattleTexts(
        {item: f"do {item}" for item in items},
        {(item, 1, name): f"{name} on {item}" for item in items[:20] for name in names},
    )
    drawn = draw(texts=texts)
    assert all(row.item < "item-20" and row.instruction == f"do {row.item}" for row in drawn.rows)
    assert all(row.response_1 == f"{row.model_1} on {row.item}" for row in drawn.rows)


@pytest.mark.slow
def test_the_forecast_falls_with_labels_and_is_lower_with_the_judge():
    drawn = draw(
        table=frame().assign(human=frame()["human"].where(np.arange(len(frame())) % 5 == 0))
    )
    errors = np.array([*drawn.forecast.values()])
    assert (np.diff(errors, axis=0) < 0).all()
    assert (errors[:, 0] < errors[:, 1]).all()
    assert drawn.labels_so_far == min(drawn.forecast) > 25


@pytest.mark.slow
def test_the_forecast_of_labels_alone_is_the_error_that_they_have():
    """Mean absolute error over draws of a number of labels, against the fit to infinitely many."""
    from podium.rankers.calibration.human_label_fit import human_label_fit, human_ratings
    from podium.rankers.fit.scale import POINTS

    errors, forecasts = [], []
    for seed in range(12):
        world = simulate(6, 200, seed=seed, item_sd=0.0)
        table = world.judgments(Judge(), human=True, orders="ab")
        kept = np.random.default_rng(seed).choice(len(table), 300, replace=False)
        battles = read_battles(
            table.assign(human=table["human"].where(np.isin(np.arange(len(table)), kept)))
        )
        theta, _ = human_ratings(human_label_fit(battles, battles.models).coded, 0.0)
        errors.append(POINTS * np.abs(theta - world.strengths).mean())
        drawn = draw_labels(battles, 10, rng=np.random.default_rng(seed))
        forecasts.append(drawn.forecast[300][1])
    assert np.mean(forecasts) == pytest.approx(np.mean(errors), rel=0.2)


@pytest.mark.slow
def test_without_a_number_a_hundred_battles_are_drawn_or_all_if_there_are_fewer():
    world = podium.simulate(3, 60, seed=0)
    for items, number in ((60, 100), (10, 30)):
        battles = world.battles(podium.Judge())
        names = [f"{name}" for name in battles.table["item"].cat.categories[:items]]
        kept = battles.select(battles.table["item"].isin(names).to_numpy())
        draw = draw_labels(kept, rng=np.random.default_rng(0))
        assert len(draw.rows) == number


def test_a_draw_of_no_battle_is_rejected():
    battles = podium.simulate(3, 10, seed=0).battles(podium.Judge())
    with pytest.raises(UsageError, match="--number 0: draw at least one battle"):
        draw_labels(battles, 0, rng=np.random.default_rng(0))


def of_two_responses() -> "podium.Battles":
    """Return battles of two models on six items, two responses to each."""
    rows = []
    for item in range(6):
        for number in (1, 2):
            about = {"item": f"q{item}", "model_a": "amber", "model_b": "birch"}
            credit = float(item % 3 > 0)
            rows += [{**about, "response": number, "order": "ab", "credit": credit}]
    return read_battles(pd.DataFrame(rows))


def test_each_response_of_an_item_is_a_battle_with_its_own_texts():
    battles = of_two_responses()
    texts = BattleTexts(
        instructions={f"q{item}": "Do it." for item in range(6)},
        responses={
            (f"q{item}", number, name): f"{name} {item} {number}"
            for item in range(6)
            for number in (1, 2)
            for name in ("amber", "birch")
        },
    )
    drawn = draw_labels(battles, 12, texts=texts, rng=np.random.default_rng(0))
    assert {(row.item, row.response) for row in drawn.rows} == {
        (f"q{item}", number) for item in range(6) for number in (1, 2)
    }
    for row in drawn.rows:
        assert row.response_1 == f"{row.model_1} {row.item[1:]} {row.response}"
        assert row.response_2 == f"{row.model_2} {row.item[1:]} {row.response}"


def test_a_response_that_has_its_text_is_drawn_although_the_first_has_none():
    texts = BattleTexts(responses={("q3", 2, name): name for name in ("amber", "birch")})
    drawn = draw_labels(of_two_responses(), texts=texts, rng=np.random.default_rng(0))
    assert [(row.item, row.response) for row in drawn.rows] == [("q3", 2)]


def test_labels_of_a_second_response_label_its_battle_alone():
    battles = of_two_responses()
    drawn = draw_labels(battles, 12, rng=np.random.default_rng(0))
    second = [row for row in drawn.rows if row.response == 2]
    labels = read_battles(sheet_table(second).assign(verdict="1"))
    labelled = label_by_table(battles, labels).table
    human = labelled.loc[labelled["human"].notna()]
    assert (len(human), {*human["response"]}) == (6, {2})
    assert {*human["human"]} <= {0.0, 1.0}


def test_identical_second_responses_are_left_out_and_the_first_are_drawn():
    battles = of_two_responses()
    texts = BattleTexts(
        responses={
            (f"q{item}", number, name): name if number == 1 else "the same"
            for item in range(6)
            for number in (1, 2)
            for name in ("amber", "birch")
        }
    )
    drawn = draw_labels(battles, texts=texts, rng=np.random.default_rng(0))
    assert ({row.response for row in drawn.rows}, drawn.identical) == ({1}, 6)
