"""Which checks apply to battles, and that those on the judge are made on all its verdicts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lm_eval_output import scored, write_run

import podium
from podium.check_results import Check
from podium.diagnosis.checks.all_checks import checks_of_battles
from podium.notices.notice_text import notice_texts


def judged(
    rates: dict[str, float], items: int = 40, models: str = "abc", seed: int = 0
) -> pd.DataFrame:
    """Draw verdicts of judges in both orders: each takes the response shown first at its rate, else
    the first model."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for k, a in enumerate(models) for b in models[k + 1 :]]
    rows = []
    for judge, rate in rates.items():
        for item in range(items):
            for a, b in pairs:
                for order in ("ab", "ba"):
                    by_order = rng.random() < rate
                    credit = float(order == "ab") if by_order else float(rng.random() < 0.6)
                    about = {
                        "item": f"q{item}",
                        "model_a": a,
                        "model_b": b,
                        "category": f"t{item % 2}",
                    }
                    rows.append({**about, "credit": credit, "order": order, "judge": judge})
    return pd.DataFrame(rows)


def checks_of(battles: podium.Battles) -> dict[str, Check]:
    return {own.name: own for own in checks_of_battles(battles, {})}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("options", [{}, {"by": "category"}, {"by": "judge"}])
def test_a_judge_that_takes_the_first_response_may_not_rank_in_any_slice(
    options: dict[str, str],
) -> None:
    ranking = podium.rank(podium.read_battles(judged({"judge-x": 0.9})), **options)
    refused = "this judge may not rank: the response shown first has a win rate of "
    assert all(refused in each.answer[1].lower() for each in ranking.standings)


def test_a_slice_with_few_pairs_has_the_figures_of_all_verdicts() -> None:
    battles = podium.read_battles(judged({"judge-x": 0.9}))
    few = battles.select(np.arange(len(battles)) < 4)
    assert checks_of(few)["order decides"] == checks_of(battles)["order decides"]


@pytest.mark.slow
def test_battles_that_are_not_merged_have_the_figures_of_the_judge() -> None:
    frame = judged({"judge-x": 0.9})
    apart, merged = (checks_of(podium.read_battles(frame, merge=merge)) for merge in (False, True))
    assert apart["order decides"] == merged["order decides"]


@pytest.mark.slow
def test_of_a_jury_the_judge_that_takes_the_first_response_is_named() -> None:
    frame = judged({"ann": 0.0, "bob": 0.9, "cas": 0.0, "dan": 0.0})
    ranking = podium.rank(podium.read_battles(frame), pool=True)
    assert (
        ranking.standings[0]
        .answer[1]
        .startswith("The judge bob may not rank: the response shown first has")
    )


@pytest.mark.slow
def test_judges_in_turn_are_checked_one_by_one() -> None:
    frame = judged({"ann": 0.0, "bob": 0.9})
    turn = frame["item"].str[1:].astype(int) % 2 == (frame["judge"] == "bob")
    ranking = podium.rank(podium.read_battles(frame[turn].assign(jury="ann, bob")))
    assert (
        ranking.standings[0]
        .answer[1]
        .startswith("The judge bob may not rank: the response shown first has")
    )


@pytest.mark.slow
def test_each_judge_of_a_slice_has_its_own_figures() -> None:
    ranking = podium.rank(podium.read_battles(judged({"ann": 0.0, "bob": 0.9})), by="judge")
    refused = {each.slice: "may not rank" in each.answer[1] for each in ranking.standings}
    assert refused == {"ann": False, "bob": True}


@pytest.mark.slow
def test_a_small_preference_of_one_of_several_judges_names_it() -> None:
    ranking = podium.rank(
        podium.read_battles(judged({"ann": 0.0, "bob": 0.3, "cas": 0.0}, items=80)), pool=True
    )
    assert (
        "of the verdicts of bob flip when the responses change places"
        in ranking.standings[0].answer[1]
    )


def test_a_repeated_pair_that_was_parsed_once_counts_once() -> None:
    rows = [
        ("q0", "a", "b", "ab", 0, 1.0),
        ("q0", "a", "b", "ba", 0, 0.0),
        ("q0", "a", "b", "ab", 1, 1.0),
        ("q0", "a", "b", "ba", 1, None),
    ]
    names = ["item", "model_a", "model_b", "order", "repeat", "credit"]
    [shown] = podium.read_battles(pd.DataFrame(rows, columns=names)).first_shown().values()
    assert (shown.won.tolist(), shown.number.tolist(), shown.flips.tolist()) == (
        [2.0],
        [2.0],
        [1.0],
    )


def test_checks_of_a_judge_are_not_listed_for_an_accuracy(tmp_path: Path) -> None:
    for name, right in (("ash", [1, 1, 0] * 12), ("elm", [1, 0, 0] * 12), ("oak", [1, 0, 1] * 12)):
        write_run(tmp_path, name, {"quiz": scored(right)})
    of_runs = {"same question", "same settings"}
    checks = checks_of(podium.read_battles(tmp_path))
    assert checks.keys() == {"items", "cycle", "fit", *of_runs}


def test_checks_of_three_models_are_not_listed_for_two() -> None:
    battles = podium.read_battles(judged({"judge-x": 0.0}, models="ab"))
    assert not checks_of(battles).keys() & {"cycle", "fit", "lost replies"}


def test_single_responses_that_a_judge_scored_have_no_first_one() -> None:
    rows = [
        {"item": f"q{k}", "model": model, "score": float(k % step > 0), "judge": "judge-x"}
        for k in range(40)
        for model, step in (("ash", 3), ("elm", 2), ("oak", 4))
    ]
    found = checks_of(podium.read_battles(pd.DataFrame(rows)))
    assert "position" not in found
    assert {"unparsed", "own model", "length", "human scale"} <= found.keys()


@pytest.mark.slow
def test_a_comparison_says_that_the_order_decides_the_verdicts_of_a_judge() -> None:
    found = podium.compare("a", "b", podium.read_battles(judged({"judge-x": 0.9})))
    assert "may not rank: the response shown first has a win rate of" in " ".join(found.answer)
    assert not any("may not rank" in text for text in notice_texts(found.warnings))


@pytest.mark.slow
def test_a_comparison_says_that_battles_of_a_model_that_it_compares_are_lost() -> None:
    frame = judged({"judge-x": 0.0}, models="abcde")
    frame.loc[
        frame["model_a"].eq("a") & frame["item"].isin([f"q{k}" for k in range(10)]), "credit"
    ] = None
    battles = podium.read_battles(frame)
    lost = [
        "of the battles of a" in " ".join(podium.compare(*pair, battles).answer)
        for pair in ("ab", "bc")
    ]
    assert lost == [True, False]


@pytest.mark.slow
def test_means_of_scores_are_no_fit_of_ratings() -> None:
    """Of accuracies 0, 50 and 100%, ratings predict one pair worse than by 2 points, and no mean
    rests on them."""
    rng = np.random.default_rng(5)
    rows = [
        {"item": f"q{k}", "model": model, "score": float(rng.random() < solved)}
        for k in range(50)
        for model, solved in (("ash", 0.0), ("elm", 0.5), ("oak", 1.0), ("yew", 1.0))
    ]
    battles = podium.read_battles(pd.DataFrame(rows))
    fitted, means = (
        podium.rank(battles, ranker).standings[0].answer for ranker in ("bradley-terry", "mean")
    )
    assert "do not explain" in fitted[1]
    assert means[1] == "Both checks passed."
    assert "is unknown: no difference was measured." in means[2]
