"""May it be trusted: one check at a time, and the tests among them together."""

import numpy as np
import pytest

import podium
from podium.answers.trust_checks import ERROR_RATE, ORDER, CheckResult, _check_position, trust_sentence
from podium.checks import CHECKS
from podium.nouns.human_labels import label_by_table


def test_every_finding_has_a_row_in_the_table_of_checks() -> None:
    assert {*ORDER} - {"human"} <= {*CHECKS}


def test_trust_sentence_names_only_the_gravest_finding() -> None:
    findings = [CheckResult("fit", "fit.", fails=True, p=1e-9), CheckResult("unparsed", "unparsed.", fails=True)]
    assert trust_sentence(findings) == "unparsed."


def test_trust_checks_are_corrected_together_by_holm() -> None:
    """One p of 0.03 among four worries nobody, alone it does: without Holm the first would, too."""
    quiet = [CheckResult(check, "", fails=False, p=0.5) for check in ("length", "cycle", "fit")]
    loud = CheckResult("position", "loud.", fails=True, p=0.03)
    assert trust_sentence([loud, *quiet]) == "All four checks passed."
    assert trust_sentence([loud]) == "loud."
    assert loud.p is not None
    assert loud.p < ERROR_RATE


def test_a_check_that_could_not_be_made_is_no_pass() -> None:
    findings = [CheckResult("items"), CheckResult("unparsed"), CheckResult("length", unknown="no lengths")]
    findings.append(CheckResult("human", unknown="no human labels"))
    assert trust_sentence(findings) == (
        "Both checks passed; unknown: length (no lengths), whether distances match human ratings (no human labels)."
    )


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("gpt-4o", "The judge gpt-4o is of the same family as gpt-3 and gpt-4 (OpenAI)"),
        ("gpt-3", "The judge gpt-3 judges itself"),
    ],
)
def test_related_judge_is_named(judge: str, said: str) -> None:
    world = podium.simulate(["gpt-3", "gpt-4", "mine"], 60, seed=1)
    answer = podium.rank(world.battles(podium.Judge(name=judge, noise=0.5))).standings[0].answer
    assert answer[1].startswith(said)


def test_a_judge_that_always_prefers_the_first_passes_no_check_of_check_position() -> None:
    """No item leans otherwise, so no error is known; by the sign test two such items are chance, twenty are not."""
    frame = podium.simulate(3, 20, seed=1).judgments(podium.Judge())[["item", "model_a", "model_b", "order"]]
    first = frame.assign(credit=(frame["order"] == "ab").astype(float))
    found = _check_position(podium.read_battles(first))
    assert trust_sentence([found]).startswith("100% of verdicts flip")
    assert found.p == 2.0**-19
    few = _check_position(podium.read_battles(first[first["item"].isin(first["item"].unique()[:2])]))
    assert few.p == 0.5
    even = _check_position(podium.read_battles(first.assign(credit=0.5)))
    assert (even.p, even.fails) == (1.0, False)


@pytest.mark.slow
def test_first_shown_is_what_the_card_says_of_both_orders() -> None:
    """Another way to the same figure: the judge card's, from judgments."""
    from podium.diagnosis.card import diagnose
    from podium.diagnosis.figures import Statistic

    path = "examples/simulated/battles.csv"
    battles = podium.read_battles(path)
    assert battles.verdicts is not None
    sums = battles.verdicts.first_shown()
    card = diagnose(podium.read_battles(path, merge=False), battles).cards[0].answers["position"]
    figure = card.first_win_rate
    assert isinstance(figure, Statistic)
    assert sums is not None
    assert sums[0].sum() / sums[1].sum() == pytest.approx(figure.value, abs=1e-12)


def test_drop_out_robustness_is_omitted_if_plain_bradley_terry_has_another_leader() -> None:
    """Items are left out of plain Bradley-Terry: of a ranking that length control turned round it knows nothing."""
    from dataclasses import replace

    from podium.answers.trust_checks import robustness_of

    battles = podium.read_battles("examples/simulated/battles.csv")
    standings = podium.rank(battles).standings[0]
    assert standings.separation is not None
    near = replace(standings.separation, z=0.5)
    turned = replace(near, names=(near.names[1], near.names[0], *near.names[2:]))
    robustness = robustness_of(battles, replace(standings, separation=near))
    assert robustness is not None
    assert robustness.leader == near.names[0]
    assert robustness_of(battles, replace(standings, separation=turned)) is None


def test_equal_length_is_advised_by_a_ranker_that_knows_it() -> None:
    """Every other ranker refuses `length_control`: the advice names one that does not."""
    battles = podium.simulate(5, 60, seed=1).battles(podium.Judge(length_bias=2.0))
    ranking = podium.rank(battles, ["bradley-terry", "soft-elo"], **{"soft-elo.beta": 1.0})
    plain, soft = (standings.answer[1] for standings in ranking.standings)
    assert plain.endswith("(--set length_control=true).")
    assert soft.endswith("(--ranker bradley-terry --set length_control=true).")


def test_labels_that_are_joined_leave_what_the_order_does_to_verdicts_known() -> None:
    frame = podium.simulate(4, 60, seed=1).judgments(podium.Judge(position_bias=1.5), human=True)
    votes = frame.drop_duplicates(["item", "model_a", "model_b"])
    votes = podium.read_battles(votes[["item", "model_a", "model_b"]].assign(credit=votes["human"]))
    bare = podium.read_battles(frame.drop(columns="human"))
    joined = label_by_table(bare, votes, must_meet=True)
    assert _check_position(bare).fails
    assert _check_position(joined) == _check_position(bare)
    some_of_them = joined.select(np.arange(len(joined)) < 50)
    assert _check_position(some_of_them).unknown == "the orders are merged already"
