"""Self-preference against known truth: what a scale-corrected judge, a favoured family and chance
do to the line."""

import numpy as np
import pytest
from correlated_verdicts import covers
from hand_worked import subject_of
from judged_worlds import OWN, both, world

from podium import Judge, rank, read_battles
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.preferences import measure_self_preference
from podium.diagnosis.ratings import fit_line, fit_ratings
from podium.diagnosis.subject import Gold
from podium.rankers.fit.scale import POINTS

JUDGED = np.array([10.0, 35.0, -20.0, 40.0, -65.0])
HUMANS = np.array([5.0, 10.0, -10.0, 20.0, -25.0])
INSIDE = np.array([False, True, False, True, False])


def test_the_line_is_that_of_least_squares():
    """Oracle: numpy.linalg.lstsq; without the step for the family the slope is another one."""
    design = np.stack([np.ones(5), HUMANS, INSIDE], axis=1)
    oracle = np.linalg.lstsq(design, JUDGED, rcond=None)[0]
    assert fit_line(JUDGED, HUMANS, INSIDE).weights == pytest.approx(oracle)
    nobody = fit_line(JUDGED, HUMANS, np.zeros(5, dtype=bool)).weights
    assert nobody == pytest.approx(np.polyfit(HUMANS, JUDGED, 1)[::-1])
    assert nobody[1] != pytest.approx(oracle[1], rel=1e-3)


@pytest.mark.parametrize(("noise", "shared"), [(0.0, 0.0), (60.0, 25.0)])
def test_the_derivatives_of_the_line_are_finite_differences(noise, shared):
    fit, step = fit_line(JUDGED, HUMANS, INSIDE, noise, shared), 1e-5
    for k in range(5):
        up, down = (np.eye(5)[k] * sign * step for sign in (1, -1))
        for derivative, ends in (
            (
                fit.by_judge,
                [fit_line(JUDGED + end, HUMANS, INSIDE, noise, shared) for end in (up, down)],
            ),
            (
                fit.by_reference,
                [fit_line(JUDGED, HUMANS + end, INSIDE, noise, shared) for end in (up, down)],
            ),
        ):
            assert derivative[k] == pytest.approx(
                (ends[0].weights - ends[1].weights) / (2 * step), abs=1e-4
            )


@pytest.mark.slow
def test_the_references_error_does_not_flatten_the_line():
    """2,000 draws: truth is slope 1.5 and an excess of 100; plain least squares flattens and
    accuses."""
    rng = np.random.default_rng(0)
    truth = np.array([200.0, 150, 120, 90, 60, 20, -20, -50, -80, -110, -150, -230])
    inside, sd = np.arange(12) < 3, 30.0
    fits = []
    for _ in range(2_000):
        seen = truth + rng.normal(0, sd, 12)
        judged = 1.5 * truth + 100 * inside
        fits.append(
            [fit_line(judged, seen, inside, sd**2 * 10, 0.0), fit_line(judged, seen, inside)]
        )
    kept = np.array([[fit.weights[1:] for fit in pair] for pair in fits if pair[0] is not None])
    (slope, excess), (flat, accused) = np.median(kept, axis=0)
    assert slope == pytest.approx(1.5, abs=0.03)
    assert excess == pytest.approx(100, abs=8)
    assert flat < 1.4
    assert accused > 120


def test_a_reference_that_is_mostly_chance_gives_no_line():
    spread = np.sum((HUMANS - HUMANS.mean()) ** 2)
    assert fit_line(JUDGED, HUMANS, np.zeros(5, dtype=bool), 0.49 * spread) is not None
    assert fit_line(JUDGED, HUMANS, np.zeros(5, dtype=bool), 0.51 * spread) is None


def test_ratings_and_their_errors_are_those_of_the_ranker():
    """Oracle: `podium rank` with its item-clustered sandwich."""
    _, battles = both(world(4, 50, item_sd=1.0), Judge(), repeats=1)
    found = fit_ratings(battles).ratings
    standings = {
        entry.model: entry for entry in rank(battles, "bradley-terry").standings[0].entries
    }
    se = np.sqrt(np.sum(found.influence**2, axis=0) * 50 / 49)
    for k, name in enumerate(found.models):
        assert found.elo[k] + 1500 == pytest.approx(standings[name].score)
        assert se[k] == pytest.approx(standings[name].se)
    assert found.influence.sum(axis=0) == pytest.approx(np.zeros(6), abs=1e-8)


def card(judge, items=400, item_sd=0.0, seed=11, families=None, **reference):
    _, battles = both(world(seed, items, item_sd), judge, repeats=1)
    return measure_self_preference(
        subject_of(battles, judge.name, families=families or {}, **reference)
    )


def test_a_self_preference_is_recovered_in_elo_points():
    """Truth: 0.5 logits, whatever the judge's scale; the raw difference of mean ratings is far from
    it."""
    judge = Judge("gpt-9", scale=1.4, self_preference=0.5, favours=OWN)
    found = card(judge)
    assert (found.family, found.how, found.who) == ("OpenAI", "guessed", "human")
    assert covers(found.excess, 0.5 * POINTS)
    assert not covers(found.excess, 0.0)
    assert covers(found.slope, 1.4)
    assert not covers(found.slope, 1.0)


def test_self_preference_is_not_reported_for_a_judge_that_exaggerates_gaps():
    """The family is strong and the scale 2: mean ratings above the reference's would be taken for
    self-preference."""
    judge = Judge("gpt-9", scale=2.0)
    played = world(12, 400)
    _, battles = both(played, judge, repeats=1)
    subject = subject_of(battles, "gpt-9")
    found = measure_self_preference(subject)
    assert covers(found.excess, 0.0)
    ours, theirs = subject.judge_ratings.ratings.select(OWN), subject.reference.select(OWN)
    raw = float((ours.elo - theirs.elo).mean())
    assert raw > 40 > abs(found.excess.value)


def test_families_are_shown_with_their_members_and_every_excess():
    found = card(Judge("gpt-9"))
    assert found.families["OpenAI"] == ("gpt-3", "gpt-4")
    assert (
        set(found.families)
        == set(found.excesses)
        == {"OpenAI", "Anthropic", "Meta", "Mistral", "Google"}
    )
    assert all(isinstance(one, Statistic) for one in found.excesses.values())


def test_given_families_stand_over_guessed_ones():
    found = card(Judge("gpt-9"), families={"llama": "OpenAI", "gpt-3": "somebody"})
    assert found.families["OpenAI"] == ("gpt-4", "llama")
    assert found.families["somebody"] == ("gpt-3",)


@pytest.mark.slow
def test_models_of_no_known_family_are_shown():
    names = {"llama": "our-model", "claude": "their-model"}
    frame = world(1, 5).judgments(Judge("gpt-9")).replace({"model_a": names, "model_b": names})
    found = measure_self_preference(subject_of(read_battles(frame), "gpt-9"))
    assert found.unknown == ("our-model", "their-model")
    assert found.tables()[0].rows[-1] == ("not known", "2", "–", "our-model, their-model")
    assert card(Judge("gpt-9")).unknown == ()


def test_a_judge_of_no_known_family_is_missing_one():
    found = card(Judge("my-judge"))
    assert found.family is None
    assert isinstance(found.excess, Missing)
    assert "my-judge" in found.excess.why
    assert "--families" in found.excess.remedy
    assert isinstance(found.excesses["OpenAI"], Statistic)


def test_a_family_without_models_is_missing():
    found = card(Judge("command-r"))
    assert "no model is known to be of the judge's family (Cohere)" in found.excess.why


def test_three_models_of_other_families_are_needed():
    found = card(Judge("gpt-9"), families={"claude": "OpenAI", "gemini": "OpenAI"})
    assert isinstance(found.excess, Missing)
    assert "2 models of other families" in found.excess.why


@pytest.mark.slow
def test_self_preference_is_unknown_without_human_labels_gold_or_other_judges():
    _, battles = both(world(1, 30), Judge("gpt-9"), repeats=1)
    alone = battles.table.drop(columns="human")
    found = measure_self_preference(subject_of(read_battles(alone), "gpt-9"))
    assert isinstance(found.excess, Missing)
    assert "--gold" in found.excess.remedy
    assert found.families["OpenAI"] == OWN[::-1]


@pytest.mark.slow
def test_a_gold_ranking_is_a_reference_without_error():
    """Truth: the strengths themselves as gold; the excess of a judge without self-preference is
    0."""
    played = world(9, 300)
    _, battles = both(played, Judge("gpt-9", scale=1.3), repeats=1)
    scores = {
        name: 1000 + POINTS * float(s)
        for name, s in zip(played.models, played.strengths, strict=True)
    }
    bare = read_battles(battles.table.drop(columns="human"))
    found = measure_self_preference(subject_of(bare, "gpt-9", gold=Gold("gold.csv", scores)))
    assert found.who == "gold"
    assert covers(found.excess, 0.0)
    assert covers(found.slope, 1.3)
    assert Gold("gold.csv", scores).source_ratings.ratings.influence.shape == (0, 6)


@pytest.mark.slow
def test_self_preference_uses_other_judges_without_labels_or_gold():
    """Truth: of two judges, one favours its family by 0.8 logits."""
    vain, fair = Judge("gpt-9", self_preference=0.8, favours=OWN), Judge("llama-9")
    together = read_battles(world(5, 300).judgments(vain, fair))
    ours, others = (dict(together.slices("judge"))[judge] for judge in ("gpt-9", "llama-9"))
    found = measure_self_preference(subject_of(ours, "gpt-9", others=others))
    assert found.who == "other judges"
    assert covers(found.excess, 0.8 * POINTS)
    assert not covers(found.excess, 0.0)
