"""The sentences about the leaders, tested on constructed sets of distinguishable pairs."""

from itertools import combinations, pairwise
from math import inf

import pandas as pd
import pytest

import podium
from podium.data.counts import Counts
from podium.notices.notice_text import notice_texts
from podium.rankers.errors.rank_sets import further_items
from podium.rankers.errors.repeated_tests import error_of_two_tests
from podium.rankers.ranking import Entry, Separation, Standings
from podium.score_scale import ELO, Scale
from podium.show.answers.sentences import next_sentence
from podium.show.answers.who import leading_group, who_sentence

NAMES = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")


def standings(
    pairs: set[tuple[int, int]],
    models: int = 6,
    lead: tuple[float, float, float] | None = None,
    z: float = 2.0,
) -> Standings:
    """Return standings in which the first model of each pair is clearly ahead of the second."""
    beats = tuple(tuple(b for b in range(models) if (a, b) in pairs) for a in range(models))
    cuts = [
        k
        for k in range(1, models)
        if all((a, b) in pairs for a in range(k) for b in range(k, models))
    ]
    separation = Separation(NAMES[:models], tuple(cuts), beats, 2.9, 40, 72.0, z, lead)
    entries = tuple(
        Entry(name, k + 1, 1, models, 1500.0 - k, None, None, None, 1)
        for k, name in enumerate(NAMES[:models])
    )
    return Standings(
        "bradley-terry",
        ELO,
        0.95,
        "x",
        entries,
        Counts(40, 1, 1, 0, 0, None, None),
        separation=separation,
    )


def across(*ends: int, models: int = 6) -> set[tuple[int, int]]:
    """Return the pairs that are distinguishable if groups are cut at these places."""
    return {(a, b) for a, b in combinations(range(models), 2) if any(a < end <= b for end in ends)}


def test_leader_distinguishable_from_all_is_ahead_by_its_gap_interval() -> None:
    sentence = who_sentence(standings(across(1, 3), lead=(71.0, 34.0, 108.0)))
    assert sentence == (
        "amber is clearly ahead of all others: 71 Elo (34 … 108) above birch, or a win rate of "
        "60% counting ties as half."
    )


def test_an_unbounded_lead_has_its_lower_end_only() -> None:
    sentence = who_sentence(standings(across(1, 3), lead=(inf, 200.0, inf)))
    assert sentence == (
        "amber is clearly ahead of all others: at least 200 Elo above birch, or a win rate of at "
        "least 76% counting ties as half."
    )


def test_groups_that_nothing_distinguishes_inside() -> None:
    assert who_sentence(standings(across(3, 5))) == (
        "amber, birch and cedar lead and are too close to call on these 40 items. dune and ember "
        "follow, too close to call; fjord is last."
    )


def test_answer_lists_differences_inside_the_leading_group() -> None:
    assert who_sentence(standings(across(3, 5) | {(0, 2)})) == (
        "amber, birch and cedar are clearly ahead of the rest; first is amber or birch; cedar is "
        "clearly behind amber. dune and ember follow, too close to call; fjord is last."
    )


def test_answer_names_two_models_behind_the_leader_and_counts_the_rest() -> None:
    inside = {(0, k) for k in (2, 3, 4)} | {(1, 4)}
    assert who_sentence(standings(across(5) | inside)) == (
        "amber, birch, cedar, dune and ember are clearly ahead of fjord; first is amber or birch; "
        "cedar is clearly behind amber; dune is clearly behind amber; 1 more is behind others."
    )


def test_without_a_cut_the_pairs_are_counted_and_the_largest_block_is_named() -> None:
    pairs = {(a, b) for a in (0, 1, 2) for b in (4, 5)} | {(0, 3), (1, 5)}
    assert who_sentence(standings(pairs)) == (
        "No place is certain: 8 of 15 pairs are too close to call; amber, birch and cedar are "
        "each clearly ahead of ember and fjord."
    )


def test_answer_reports_that_no_pair_is_distinguishable() -> None:
    assert who_sentence(standings(set())) == (
        "All pairs of the six models are too close to call on these 40 items."
    )
    assert who_sentence(standings(set(), models=2)) == (
        "amber and birch are too close to call on these 40 items."
    )


def test_of_more_than_three_groups_two_and_the_last_are_named() -> None:
    assert who_sentence(standings(across(2, 3, 4, 5))) == (
        "amber and birch lead and are too close to call on these 40 items. cedar follows; 2 "
        "groups of 2 models are between; fjord is last."
    )


def test_a_model_that_the_data_do_not_bound_is_not_behind_the_leader() -> None:
    found = standings(across(1, models=3), models=3)
    unbounded = Entry("zircon", 1, None, None, 1900.0, None, None, None, 5, separated=True)
    whole = Standings(
        **{name: getattr(found, name) for name in Standings.__slots__}
        | {"entries": (unbounded, *found.entries)}
    )
    assert who_sentence(whole) == (
        "amber is clearly ahead of all others that can be ranked. The rank of zircon is unknown."
    )


@pytest.mark.slow
def test_the_cut_of_the_sentence_is_that_of_the_rank_sets_and_of_the_rule_in_the_table() -> None:
    from podium.show.report.ranking_view import ranking_reports

    ranking = podium.rank("examples/simulated/battles.csv")
    found, table = ranking.standings[0], ranking_reports(ranking)[0].table
    assert table is not None
    assert leading_group(found) == {
        entry.model for entry in found.entries if (entry.rank_high or 9) <= 3
    }
    assert table.rules == {2, 4}


@pytest.mark.slow
@pytest.mark.parametrize("by_label", [False, True])
def test_names_and_the_order_of_rows_change_no_sentence_but_for_the_names(by_label: bool) -> None:
    frame = pd.read_csv("examples/simulated/battles.csv")
    new = {
        name: f"m{k}"
        for k, name in enumerate(["dune", "amber", "fjord", "birch", "ember", "cedar"])
    }
    turned = frame.sample(frac=1, random_state=1) if not by_label else frame.replace(new)
    one, other = (
        podium.rank(podium.read_battles(part)).standings[0].answer for part in (frame, turned)
    )
    if by_label:
        text = " ".join(other)
        for name, label in new.items():
            text = text.replace(label, name)
        assert text == " ".join(one)
    else:
        assert one == other


def test_more_items_are_those_of_the_formula_with_the_critical_value_of_the_rank_sets() -> None:
    items = further_items(40, 2.9, 2.0)
    share = error_of_two_tests(0.95, 40, items)
    assert next_sentence(standings(across(3))) == (
        f"If the true gap between amber and birch is the measured 72 Elo, {items} more items "
        "would separate them with 80% power. This number corrects for testing "
        f"15 pairs; a second test errs in {share:.0%}, not 5%, of cases: a tournament with "
        "until= plans both."
    )


def test_no_further_items_are_promised_for_a_gap_within_its_error_or_a_clear_leader() -> None:
    assert "is unknown" in str(next_sentence(standings(across(3), z=0.9)))
    assert next_sentence(standings(across(1))) is None


@pytest.mark.slow
def test_slices_say_in_how_many_the_same_lead() -> None:
    ranking = podium.rank("examples/simulated/battles.csv", by="category")
    assert ranking.standings[0].answer[-1] == "Nor is any place certain in the other slice."
    assert all(len(each.answer) == 3 for each in ranking.standings)


@pytest.mark.slow
def test_of_several_slices_each_answer_names_its_own_though_another_could_not_be_ranked() -> None:
    ranking = podium.rank("examples/simulated/battles.csv", by="category")
    assert [each.answer[0].partition(": ")[0] for each in ranking.standings] == [
        "On code",
        "On essay",
    ]
    frame = pd.read_csv("examples/simulated/battles.csv").drop(columns="margin")
    lone = podium.rank(
        frame.assign(credit=frame["credit"].where(frame["category"] == "code")), by="category"
    )
    assert [each.answer[0].partition(": ")[0] for each in lone.standings] == ["On code"]
    assert len(lone.failures) == 1


@pytest.mark.slow
def test_a_ranking_of_one_slice_does_not_name_it() -> None:
    frame = pd.read_csv("examples/simulated/battles.csv").query("category == 'code'")
    [only] = podium.rank(frame, by="category").standings
    assert only.answer[0].startswith("No place is certain")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (1, None),
        (2, "One battle would connect the two groups of models that never met"),
        (4, "Three battles would connect the four groups of models that never met"),
    ],
)
def test_battles_that_would_connect_are_one_less_than_the_groups(
    groups: int, said: str | None
) -> None:
    """Oracle: with as many battles the models are ranked, and with one less they are not."""
    rows = [
        (f"i{k}", f"{letter}1", f"{letter}2", k % 2) for letter in "abcd"[:groups] for k in range(8)
    ]
    table = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    answer = podium.rank(table, rankers=["win-rate"]).standings[0].answer
    assert (said is None and "would connect" not in answer[-1]) or answer[-1].startswith(str(said))
    if said is None:
        assert podium.rank(table).standings
        return
    joins = [("j", f"{one}1", f"{other}1", 1) for one, other in pairwise("abcd"[:groups])]
    with pytest.raises(
        podium.NotIdentifiedError, match=f"{len(joins)} battles? would join them: a1 vs b1"
    ):
        podium.rank(table)
    with pytest.raises(podium.NotIdentifiedError, match="1 battle would join them"):
        podium.rank(pd.concat([table, pd.DataFrame(joins[1:], columns=table.columns)]))
    assert podium.rank(pd.concat([table, pd.DataFrame(joins, columns=table.columns)])).standings


@pytest.mark.slow
def test_the_answer_is_in_json_markdown_and_the_hosts_text() -> None:
    from podium.show.report.ranking_view import ranking_reports, ranking_text
    from podium.show.report.writing import styled_text

    ranking = podium.rank("examples/simulated/battles.csv")
    answer = list(ranking.standings[0].answer)
    assert ranking.to_dict()["rankings"][0]["answer"] == answer
    assert styled_text(ranking, "md", ranking_reports).startswith(" ".join(answer))
    assert ranking_text(ranking).startswith(answer[0][:60])


@pytest.mark.slow
def test_models_that_only_tied_are_too_close_to_call() -> None:
    """Ties give no standard error, and no evidence of a difference or of none."""
    frame = podium.simulate(4, 30, seed=1).judgments(podium.Judge()).assign(credit=0.5)
    [standings] = podium.rank(podium.read_battles(frame)).standings
    assert (
        standings.answer[0]
        == "All pairs of the four models are too close to call on these 30 items."
    )
    assert standings.answer[2].endswith("is unknown: no difference was measured.")
    assert {(entry.rank_low, entry.rank_high) for entry in standings.entries} == {(1, 4)}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_three_ties_are_not_level(ranker: str) -> None:
    rows = [(f"i{k}", *pair, 0.5) for k in range(3) for pair in combinations("ABC", 2)]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    assert podium.rank(frame, ranker).standings[0].answer[0] == (
        "All pairs of the three models are too close to call on these 3 items."
    )


def test_equal_scores_without_tests_are_too_close_to_call() -> None:
    entries = tuple(Entry(name, 1, None, None, 0.5, None, None, None, 1) for name in NAMES[:3])
    bare = Standings("own", Scale("score"), 0.95, None, entries, Counts(40, 1, 1, 0, 0, None, None))
    assert who_sentence(bare) == (
        "All three models have the same score and are too close to call: no test of their "
        "differences is known."
    )


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "category"])
def test_few_items_are_mentioned_once(by: str | None) -> None:
    """Where the printed answer, the first, mentions them, no warning repeats it; where it does not,
    a warning does."""
    frame = pd.read_csv("examples/simulated/battles.csv")
    few = podium.rank(
        frame[frame["item"].isin(frame["item"].unique()[:14])], ["bradley-terry", "win-rate"], by=by
    )
    said = [
        text
        for each in few.standings
        for text in notice_texts(each.warnings)
        if "items (fewer than" in text
    ]
    assert "items: the intervals are approximate" in few.standings[0].answer[1]
    assert bool(said) == (by is not None)
    assert not any("items (fewer than" in text for text in notice_texts(few.standings[0].warnings))
    unparsed = frame[frame["item"].isin(frame["item"].unique()[:14])].assign(reply="?")
    unparsed.loc[unparsed.index[::4], ["credit", "margin"]] = None
    [worse] = podium.rank(unparsed).standings
    assert worse.answer[1] == (
        "Only 14 items: the intervals are approximate; "
        "caution: 26.0% of the judge's replies are unparsed, and left out as if lost at random."
    )
    assert not any("items (fewer than" in text for text in notice_texts(worse.warnings))


def test_a_model_without_a_score_that_has_battles_is_named() -> None:
    """At equal length, a model that won all battles has no win rate."""
    found = standings(across(1, models=3), models=3)
    winner = Entry("zircon", 4, None, None, None, None, None, None, 40)
    fields = {name: getattr(found, name) for name in Standings.__slots__}
    whole = Standings(**fields | {"entries": (*found.entries, winner)})
    assert str(who_sentence(whole)).endswith(
        "all others that can be ranked. The rank of zircon is unknown."
    )
