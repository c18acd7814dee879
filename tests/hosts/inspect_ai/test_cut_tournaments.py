"""Inspect's own options on a tournament: epochs are repeats, and what --limit and its like cut off
is missing."""

import pytest
from played_logs import place
from test_folders_of_logs import FEW

import podium
from podium.hosts.inspect_ai.tasks import round_robin, swim
from podium.notices.notice_text import notice_texts

THREE = {**FEW, "oak": 2.4}
PAIRS = {round_robin: 3, swim: 2}
ITEMS = 6


def played(play, write_responses, tournament, pack=False, **options):
    log = play(tournament(responses=write_responses(THREE), pack=pack), **options)
    return podium.read_battles(str(place(log)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tournament", "pack"), [(round_robin, False), (swim, False), (round_robin, True)]
)
def test_epochs_are_repeats_each_with_calls_of_its_own(
    play, behave, record, write_responses, tournament, pack
):
    behave()
    battles = played(play, write_responses, tournament, pack, epochs=3)
    pairs = PAIRS[tournament]
    assert record.calls == 2 * pairs * ITEMS * 3
    assert (len(battles), battles.missing, battles.counts().items) == (pairs * ITEMS * 3, 0, ITEMS)
    assert sorted(battles.table["repeat"].unique()) == [0, 1, 2]
    assert battles.swaps().readable == pairs * ITEMS * 3
    assert not notice_texts(battles.notes)
    # The first epoch's calls are those of a run without more.
    assert len(played(play, write_responses, tournament, pack)) == pairs * ITEMS
    assert record.calls == 2 * pairs * ITEMS * 3


@pytest.mark.slow
@pytest.mark.parametrize("tournament", [round_robin, swim])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"limit": 5}, "--limit"),
        ({"limit": 4, "sample_shuffle": 1}, "--limit and --sample-shuffle"),
        ({"sample_id": ["q0::ash::elm"]}, "--sample-id"),
    ],
)
def test_battles_of_a_cut_tournament_are_missing_and_reported(
    play, behave, write_responses, tournament, options, named, capfd
):
    behave()
    battles = played(play, write_responses, tournament, **options)
    assert len(battles)
    assert battles.missing == PAIRS[tournament] * ITEMS - len(battles) > 0
    [note] = [note for note in notice_texts(battles.notes) if "not played" in note]
    assert (
        f"{battles.missing} battles were not played and are missing; {named} cut the schedule: "
        "limit=N" in note
    )
    assert f"{battles.missing} battles were not played" in capfd.readouterr().err


@pytest.mark.slow
def test_a_limit_of_items_cuts_nothing(play, behave, write_responses):
    behave()
    log = play(round_robin(responses=write_responses(THREE), limit=2))
    battles = podium.read_battles(str(place(log)))
    assert (len(battles), battles.missing, notice_texts(battles.notes)) == (6, 0, ())


@pytest.mark.slow
def test_epochs_of_battles_that_fail_are_unparsed_each(play, behave, write_responses):
    behave(errors=0.3)
    battles = played(play, write_responses, round_robin, epochs=2)
    assert battles.counts().unparsed
    assert (len(battles), battles.missing) == (36, 0)
