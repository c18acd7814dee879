"""May it be trusted: one check at a time, and the tests among them together."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

import podium
from podium.check_results import Result, make_check, not_known
from podium.data.human_labels import label_by_table
from podium.diagnosis.checks.all_checks import adjust_tests, checks_of_battles
from podium.diagnosis.checks.card_sections import ERROR_RATE
from podium.diagnosis.checks.order_checks import check_position
from podium.show.answers.trust import trust_sentence

LENGTH = {"longer": "longer", "weight": 0.4, "option": "--set length_control=true"}
FIT = {"a": "ash", "b": "elm", "observed": 0.7, "expected": 0.5}


def test_two_flagged_checks_are_described_and_further_ones_are_named() -> None:
    fields = {
        "fit": FIT,
        "own model": {"judge": "ash"},
        "items": {"items": 3, "noun": "items", "intervals": "the intervals are approximate"},
        "cycle": {"a": "ash", "b": "elm", "c": "oak"},
    }
    flagged = [make_check(name, True, fields=own) for name, own in fields.items()]
    fit = "he ratings do not explain ash against elm: it wins 70%, the ratings predict 50%"
    own = "he judge ash judges itself: use another judge"
    assert trust_sentence(flagged[:1]) == f"T{fit}."
    assert trust_sentence(flagged[:2]) == f"T{own}; also: t{fit}."
    assert trust_sentence(flagged) == (
        f"Only 3 items: the intervals are approximate; also: t{own}; also flagged: cycle, fit."
    )


def test_unparsed_replies_are_a_caution_beside_what_was_found_and_no_passed_check() -> None:
    fields = {"share": 0.05, "replies": "the judge's replies are unparsed"}
    caution = make_check("unparsed", True, fields=fields)
    lost = "caution: 5.0% of the judge's replies are unparsed, and left out as if lost at random"
    fit = make_check("fit", True, fields=FIT, p=1e-9)
    human = not_known("human scale", "no human labels")
    assert trust_sentence([caution, fit]).endswith(f"the ratings predict 50%; {lost}.")
    unknown = "not known: whether distances match human ratings (no human labels)"
    assert trust_sentence([caution, human]) == f"No check passed; {lost}; {unknown}."
    assert trust_sentence([caution, make_check("items", False), human]) == (
        f"One of three checks passed; {lost}; not known: whether distances match human ratings (no "
        "human labels)."
    )


SHOWN = ["item", "model_a", "model_b", "order", "credit"]


def lossy_verdicts(
    seed: int, lost: float, bias: float = 0.0, lost_of_first: float | None = None
) -> pd.DataFrame:
    """Draw verdicts of six models on 60 items in both orders by NumPy: `bias` in log-odds for the
    response shown first, and a share of lost replies, another one (`lost_of_first`) in the battles
    of the first model."""
    rng = np.random.default_rng(seed)
    strength, (a, b) = (
        rng.normal(0, 0.7, (1, 6)) + rng.normal(0, 0.5, (60, 6)),
        np.triu_indices(6, 1),
    )
    shown_first = np.array([1, -1])[:, None, None]
    margin = strength[:, a] - strength[:, b] + bias * shown_first
    credit = (rng.logistic(size=margin.shape) < margin) * 1.0
    rate = np.where((a == 0) & (lost_of_first is not None), lost_of_first or 0.0, lost)
    credit[rng.random(credit.shape) < rate] = np.nan
    order, item, pair = (part.ravel() for part in np.indices(credit.shape))
    sides = {"model_a": np.char.mod("m%d", a[pair]), "model_b": np.char.mod("m%d", b[pair])}
    columns = {"item": np.char.mod("q%d", item), **sides, "order": np.array(["ab", "ba"])[order]}
    return pd.DataFrame(columns | {"credit": credit.ravel()})


def trust_of(frame: pd.DataFrame) -> str:
    return trust_sentence(adjust_tests(checks_of_battles(podium.read_battles(frame), {})))


@pytest.mark.slow
def test_replies_that_are_lost_at_random_are_no_finding_and_those_of_one_model_are() -> None:
    share = (
        r"caution: \d\.\d% of the judge's replies are unparsed, and left out as if lost at random"
    )
    assert re.match(
        rf"Six of nine checks passed; {share}; not known: ", trust_of(lossy_verdicts(1, 0.05))
    )
    found = (
        r"[\d.]+% of the battles of m0 are unparsed, and [\d.]+% of all: fix the judge's replies "
        r"first; "
    )
    assert re.fullmatch(
        found + share + r"\.", trust_of(lossy_verdicts(1, 0.03, lost_of_first=0.15))
    )


def test_loss_of_one_model_is_named_where_few_replies_are_unparsed_overall() -> None:
    trust = trust_of(lossy_verdicts(1, 0.0, lost_of_first=0.05))
    assert trust == (
        "10.7% of the battles of m0 are unparsed, and 3.6% of all: fix the judge's replies first."
    )


def test_calls_that_failed_are_to_be_asked_for_again() -> None:
    frame = lossy_verdicts(1, 0.0, lost_of_first=0.05)
    failed = frame.assign(
        reason=frame["credit"].isna().map({True: "failed: HTTP 500", False: None})
    )
    assert trust_of(failed).endswith("and 3.6% of all: ask for the failed calls again first.")


def test_lost_replies_of_two_models_are_no_check_as_their_battles_are_the_same() -> None:
    frame = lossy_verdicts(1, 0.05)
    pair = frame[frame["model_a"].eq("m0") & frame["model_b"].eq("m1")]
    assert "lost replies" not in [
        own.name for own in checks_of_battles(podium.read_battles(pair), {})
    ]


def test_lost_replies_of_too_many_battles_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    from podium.diagnosis.checks import size_limits

    monkeypatch.setattr(size_limits, "MOST_BATTLES", 10)
    battles = podium.read_battles(lossy_verdicts(1, 0.05))
    checks = {own.name: own for own in checks_of_battles(battles, {})}
    assert checks["lost replies"].result is Result.NOT_KNOWN
    assert checks["lost replies"].reason == "too many battles; `podium diagnose` checks it"


@pytest.mark.slow
def test_the_card_of_a_judge_names_position_bias_and_lost_replies() -> None:
    from podium.diagnosis.card import diagnose

    frame = lossy_verdicts(1, 0.05, bias=0.8)
    step = (
        diagnose(podium.read_battles(frame, merge=False), podium.read_battles(frame))
        .cards[0]
        .answer[-1]
    )
    lost = r"[\d.]+% of the judge's replies are unparsed, .*: look at those rows, and .*"
    order = r"\d\d% of verdicts flip when the responses change places, .*: keep both orders, .*"
    assert re.fullmatch(f"{lost}; {order}\\.", step)


@pytest.mark.slow
def test_lost_replies_hide_no_position_bias_in_any_of_25_worlds() -> None:
    """With 5% lost at random and 0.4 log-odds for the first, both are named; 12 of 25 biases were
    hidden before."""
    texts = [trust_of(lossy_verdicts(seed, 0.05, bias=0.4)) for seed in range(25)]
    assert all("of verdicts flip when the responses change places" in text for text in texts)
    assert all("of the judge's replies are unparsed" in text for text in texts)
    assert sum("fix the judge's replies first" in text for text in texts) <= 3


def test_checks_are_corrected_together_by_holm() -> None:
    """One p of 0.03 among four raises no alarm, alone it does; without Holm both would."""
    quiet = [make_check(name, False, p=0.5) for name in ("length", "cycle", "fit")]
    loud = make_check("position", True, p=0.03)
    assert [own.result for own in adjust_tests([loud, *quiet])] == [Result.OK] * 4
    assert trust_sentence(adjust_tests([loud, *quiet])) == "All four checks passed."
    assert adjust_tests([loud]) == [loud]
    assert loud.p is not None
    assert loud.p < ERROR_RATE


def test_a_check_that_could_not_be_made_is_no_pass() -> None:
    checks = [
        make_check("items", False),
        make_check("unparsed", False),
        not_known("length", "no lengths"),
        not_known("human scale", "no human labels"),
    ]
    assert trust_sentence(checks) == (
        "Two of four checks passed; not known: length (no lengths), whether distances match human "
        "ratings (no human labels)."
    )


def test_all_checks_passed_only_if_each_that_applies_did() -> None:
    both = [make_check("items", False), make_check("unparsed", False)]
    assert trust_sentence(both) == "Both checks passed."
    unknown = [not_known("items", "why")]
    assert trust_sentence(unknown) == "No check could be made; not known: items (why)."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tournament", "options", "is_played"),
    [
        ("ring", {"until": "order"}, False),
        ("ring", {"until": "order", "opponents": "open"}, True),
        ("chain", {"until": "top2"}, False),
        ("anchor", {"until": "top2", "anchor": "model-03"}, True),
        ("anchor", {"until": "order", "anchor": "model-03"}, False),
    ],
)
def test_decisions_that_rest_on_the_pairs_that_were_played_do_not_pass(
    tournament, options, is_played: bool
) -> None:
    frame = podium.simulate(5, 300, seed=2, strengths=[-2, -1, 0, 1, 2]).judgments(podium.Judge())
    found = podium.replay(podium.read_battles(frame), tournament, **options)
    said = f"What until={options['until']} decided is about the pairs that were played"
    assert (said in found.ranking.standings[0].answer[1]) == is_played


@pytest.mark.slow
def test_a_fit_is_unknown_if_many_pairs_never_met() -> None:
    """SWIM leaves pairs out, and no test of its battles sees what a judge says of these."""
    battles = podium.read_battles(podium.simulate(8, 60, seed=2).judgments(podium.Judge()))
    for tournament, unmet in (("swim", True), ("chain", False)):
        played = podium.replay(battles, tournament)
        said = played.ranking.standings[0].answer[1]
        assert ("pairs never met" in said) == unmet, said


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("judge", "stated"),
    [
        ("gpt-4o", "The judge gpt-4o is of the same family as gpt-3 and gpt-4 (OpenAI)"),
        ("gpt-3", "The judge gpt-3 judges itself"),
    ],
)
def test_related_judge_is_named(judge: str, stated: str) -> None:
    world = podium.simulate(["gpt-3", "gpt-4", "mine"], 60, seed=1)
    answer = podium.rank(world.battles(podium.Judge(name=judge, noise=0.5))).standings[0].answer
    assert answer[1].startswith(stated)


def test_a_judge_that_always_prefers_the_first_passes_no_check_of_check_position() -> None:
    """No item leans otherwise, so no error is known; by the sign test two such items may be chance,
    twenty are not."""
    frame = podium.simulate(3, 20, seed=1).judgments(podium.Judge())[
        ["item", "model_a", "model_b", "order"]
    ]
    first = frame.assign(credit=(frame["order"] == "ab").astype(float))
    [found] = check_position(podium.read_battles(first))
    assert "win rate of 100.0% (82.0 … 100.0), and 100% of verdicts flip" in trust_sentence([found])
    assert found.p == 2.0**-19
    on_two = first[first["item"].isin(first["item"].unique()[:2])]
    [few] = check_position(podium.read_battles(on_two))
    assert few.reason.startswith(
        "too few pairs in both orders: the response shown first has a win rate of 100.0% ("
    )
    [even] = check_position(podium.read_battles(first.assign(credit=0.5)))
    assert (even.p, even.result) == (1.0, Result.OK)


@pytest.mark.slow
def test_first_shown_is_what_the_card_says_of_both_orders() -> None:
    """Another way to the same figure: the judge card's, from judgments."""
    from podium.diagnosis.card import diagnose
    from podium.diagnosis.figures import Statistic

    path = "examples/simulated/battles.csv"
    battles = podium.read_battles(path)
    [shown] = battles.rows.first_shown.values()
    card = diagnose(podium.read_battles(path, merge=False), battles).cards[0].answers["position"]
    figure = card.first_win_rate
    assert isinstance(figure, Statistic)
    assert shown.won.sum() / shown.number.sum() == pytest.approx(figure.value, abs=1e-12)


@pytest.mark.slow
def test_drop_out_robustness_is_omitted_if_plain_bradley_terry_has_another_leader() -> None:
    """Items are left out of plain Bradley-Terry: of a ranking that length control turned round it
    knows nothing."""
    from dataclasses import replace

    from podium.diagnosis.checks.sample_checks import robustness_of

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
    assert plain.endswith("(length_control=True).")
    assert soft.endswith("(ranker='bradley-terry' length_control=True).")


def test_labels_that_are_joined_leave_what_the_order_does_to_verdicts_known() -> None:
    frame = podium.simulate(4, 60, seed=1).judgments(podium.Judge(position_bias=1.5), human=True)
    votes = frame.drop_duplicates(["item", "model_a", "model_b"])
    votes = podium.read_battles(votes[["item", "model_a", "model_b"]].assign(credit=votes["human"]))
    bare = podium.read_battles(frame.drop(columns="human"))
    joined = label_by_table(bare, votes)
    assert check_position(bare)[0].is_flagged
    assert check_position(joined) == check_position(bare)
    some_of_them = joined.select(np.arange(len(joined)) < 50)
    assert check_position(some_of_them) == check_position(bare)


def biased_verdicts(rate: float, **options) -> pd.DataFrame:
    """Simulate a judge that prefers the first of two equal responses at this rate."""
    world = podium.simulate(5, 60, seed=3, strengths=[-1.5, -0.7, 0, 0.7, 1.5])
    return world.judgments(podium.Judge(position_bias=float(logit(rate)), **options))


def answer_and_card(frame: pd.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return the answer of a ranking, that of the judge card, and the order of the models."""
    from podium.diagnosis.card import diagnose

    battles = podium.read_battles(frame)
    standings = podium.rank(battles).standings[0]
    card = diagnose(podium.read_battles(frame, merge=False), battles).cards[0]
    return standings.answer, card.answer, [entry.model for entry in standings.entries]


@pytest.mark.slow
def test_a_judge_whose_verdicts_the_order_decides_may_not_rank_and_one_of_65_percent_may() -> None:
    refused = (
        r"This judge may not rank: the response shown first has a win rate of (\d\d\.\d)% \((.*) "
        r"… (.*)\), and "
    )
    for verdicts in ("hard", "soft"):
        ranking, card, _ = answer_and_card(biased_verdicts(0.9, verdicts=verdicts))
        rate, low, high = map(float, re.match(refused, ranking[1]).groups())
        assert low < rate < high < low + 10
        assert re.match(refused, card[0]).groups() == re.match(refused, ranking[1]).groups()
        assert card[2].startswith("Use another judge")
    ranking, card, order = answer_and_card(biased_verdicts(0.65))
    assert not [text for text in (*ranking, *card) if "may not rank" in text]
    assert order == [f"model-0{k}" for k in (5, 4, 3, 2, 1)]
    assert "keep both orders" in ranking[1]


@pytest.mark.slow
def test_order_decides_from_more_than_half_of_the_pairs_on() -> None:
    """Of 100 pairs some flip to the response shown first, and the same model wins the others in
    both orders."""
    for flips, fails in ((45, False), (48, False), (52, True), (90, True)):
        rows = [
            (f"q{k}", "x", "y", order, 1.0 if k % 100 >= flips or order == "ab" else 0.0)
            for k in range(100)
            for order in ("ab", "ba")
        ]
        [found] = check_position(podium.read_battles(pd.DataFrame(rows, columns=SHOWN)))
        assert found.name == ("order decides" if fails else "position")
        assert found.is_flagged


@pytest.mark.slow
@pytest.mark.parametrize("last", [False, True])
def test_human_labels_that_a_biased_judge_agrees_with_do_not_let_it_rank(last: bool) -> None:
    frame = biased_verdicts(0.95)
    frame["human"] = (frame["model_a"] > frame["model_b"]).astype(float)
    if last:
        frame["credit"] = 1 - frame["credit"]
    card = answer_and_card(frame)[1]
    assert card[0].startswith("This judge may not rank: the response shown first has a win rate of")
