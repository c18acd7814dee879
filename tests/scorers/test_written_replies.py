"""What a realization writes is what its strict reader reads: in every form, for every degree of
preference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.hookspecs import Scorer
from podium.plugins import catalogue
from podium.scorers.judging import Judging
from podium.scorers.levels import grades, labels, points
from podium.scorers.prompt import Settings
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import Rating, Verdict

SEVEN = dict.fromkeys(("A>>>B", "A>>B", "A>B", "A=B", "B>A", "B>>A", "B>>>A"), "so much")
OWN = [catalogue.find_realization(name) for name in catalogue.extensions_of(Scorer)]
PLUGGED_IN = [
    points("points-7", 7),
    grades("marks", ("failed", "passed")),
    labels("labels-7", SEVEN),
]
CASES = [
    pytest.param(realization, Settings(tie=tie), id=f"{realization.name}{'-tie' if tie else ''}")
    for realization in [*OWN, *PLUGGED_IN]
    for tie in ([False, True] if "tie" in realization.options else [False])
]
PAIRWISE = [case for case in CASES if case.values[0].kind == "pairwise"]
LINES = {
    "direct": [("A", 1.0, "A"), ("B", 0.0, "B")],
    "cot": [("Verdict: A", 1.0, "A"), ("Verdict: B", 0.0, "B")],
    "labels": [
        ("[[A>>B]]", 1.0, 2.0),
        ("[[A>B]]", 0.75, 1.0),
        ("[[A=B]]", 0.5, 0.0),
        ("[[B>>A]]", 0.0, -2.0),
    ],
    "likert": [("[[terrible]]", 0.0, 1.0), ("[[fair]]", 0.5, 3.0), ("[[excellent]]", 1.0, 5.0)],
    "numeric": [("[[0]]", 0.0, 0.0), ("[[73]]", 0.73, 73.0), ("[[100]]", 1.0, 100.0)],
    "reward": [("0.73", 0.73, 0.73)],
    "points-7": [("[[1]]", 0.0, 1.0), ("[[4]]", 0.5, 4.0), ("[[7]]", 1.0, 7.0)],
    "labels-7": [("[[A>>>B]]", 1.0, 3.0), ("[[A=B]]", 0.5, 0.0), ("[[B>A]]", 0.4, -1.0)],
}


def verdict(realization: Realization, settings: Settings, degree: float) -> Verdict | Rating:
    reply = realization.write_reply(Preference(degree, degree, "Because."), settings)
    return realization.read_reply(reply, settings)


def degree_of(realization: Realization, read: Verdict | Rating, settings: Settings) -> float:
    """Return the degree that a verdict or rating says, between the least and the most that can be
    written."""
    if realization.name in ("direct", "cot"):
        return read.credit
    value, least, most = (
        one.margin if isinstance(one, Verdict) else one.score
        for one in (read, verdict(realization, settings, 0.0), verdict(realization, settings, 1.0))
    )
    return (value - least) / (most - least)


@pytest.mark.slow
@pytest.mark.parametrize(("realization", "settings"), CASES)
@given(degree=st.floats(0, 1))
def test_parsed_verdict_round_trips(
    realization: Realization, settings: Settings, degree: float
) -> None:
    read = verdict(realization, settings, degree)
    assert read.reason is None
    assert verdict(realization, settings, degree_of(realization, read, settings)) == read


@pytest.mark.slow
@pytest.mark.parametrize(("realization", "settings"), PAIRWISE)
@given(degree=st.floats(0, 1))
def test_the_response_that_is_preferred_wins_and_the_other_way_round(
    realization: Realization, settings: Settings, degree: float
) -> None:
    credit = verdict(realization, settings, degree).credit
    ties = settings.tie or realization.name not in ("direct", "cot")
    assert credit == (0.5 if degree == 0.5 and ties else float(degree >= 0.5))
    if ties or degree != 0.5:
        assert (
            verdict(realization, settings, 1 - degree).credit == pytest.approx(1 - credit)
            or 1 - degree == 0.5
        )


@pytest.mark.slow
@pytest.mark.parametrize(("realization", "settings"), CASES)
@given(degrees=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_more_preference_is_never_a_lower_verdict(
    realization: Realization, settings: Settings, degrees: tuple[float, float]
) -> None:
    low, high = (verdict(realization, settings, degree) for degree in sorted(degrees))
    assert degree_of(realization, low, settings) <= degree_of(realization, high, settings)


@pytest.mark.parametrize("name", LINES)
def test_written_verdicts_have_their_credits(name: str) -> None:
    realization = next(case.values[0] for case in CASES if case.values[0].name == name)
    for line, degree, value in LINES[name]:
        reply = realization.write_reply(Preference(degree, degree), Settings())
        read = realization.read_reply(reply, Settings())
        worth = (
            read.label
            if isinstance(value, str)
            else read.margin
            if isinstance(read, Verdict)
            else read.score
        )
        assert (reply.text, worth) == (line, value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["direct", "cot", "token-probs"])
@pytest.mark.parametrize("tie", [False, True])
@given(chance=st.floats(0.001, 0.999))
def test_soft_credit_equals_the_given_probability(name: str, tie: bool, chance: float) -> None:
    how = Judging(catalogue.find_realization(name), Settings(tie=tie and name != "token-probs"))
    reply = how.write_reply(Preference(chance, chance))
    soft = (
        how.verdict(reply, "required").credit
        if how.is_pairwise
        else how.rating(reply, "required").score
    )
    assert soft == pytest.approx(chance)


def test_levels_say_in_the_prompt_what_there_is_to_choose() -> None:
    asked = [realization.words(Settings()) for realization in PLUGGED_IN]
    stated = [
        "a whole number from 1 (worthless) to 7",
        "one of two words, from worst to best: failed, passed.",
        "A>>>B  so",
    ]
    assert [words in prompt for words, prompt in zip(stated, asked, strict=True)] == [True] * 3
