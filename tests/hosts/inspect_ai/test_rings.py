"""The ring inside Inspect: one call a battle, the answer in the log, and the same answer after a
retry."""

from collections import Counter
from hashlib import sha256

import pytest
from inspect_ai import eval_retry
from inspect_ai._cli.util import parse_cli_args
from inspect_ai.log import read_eval_log
from played_logs import battles, place

import podium
from podium.errors import UsageError
from podium.hosts.inspect_ai.tasks import chain, ring, swim, tournament

APART = {"ash": 0.0, "elm": 1.5, "fir": 3.0, "oak": 4.5}
ALIKE = {"ash": 1.5, "elm": 1.5, "fir": 1.5, "oak": 1.5}
LEGS = 4
"""Battles of a circle of four."""


def coin(prompt: str) -> str:
    """Answer at random, the same prompt always alike."""
    return "AB"[sha256(prompt.encode()).digest()[0] % 2]


def answer_in(log):
    [found] = [
        one.metadata["podium answer"] for one in log.samples if "podium answer" in one.metadata
    ]
    return found


def shown(log):
    """Return the item, first model and second model of each judgment."""
    own = [one.metadata for one in battles(log)]
    return [
        (row["item"], row["first"], ({row["model_a"], row["model_b"]} - {row["first"]}).pop())
        for row in own
    ]


@pytest.mark.slow
def test_a_flat_ring_asks_one_call_a_battle_and_shows_everyone_first_once_and_second_once(
    play, write_responses, record
):
    log = play(ring(responses=write_responses(APART)))
    assert log.status == "success"
    assert record.calls == len(battles(log)) == 6 * LEGS == max(record.times().values()) * 6 * LEGS
    assert Counter((item, first) for item, first, _ in shown(log)) == Counter(
        (item, second) for item, _, second in shown(log)
    )
    rows = podium.read_battles(str(place(log)), merge=False).table
    expected = {(item, *sorted((one, other)), one < other) for item, one, other in shown(log)}
    assert {(r.item, r.model_a, r.model_b, r.order == "ab") for r in rows.itertuples()} == expected


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_a_ring_that_stopped_says_so_in_the_log_the_ranking_and_the_table(
    play, write_responses, record, capfd, pack
):
    log = play(ring(responses=write_responses(APART, 60), until="order", start=25, pack=pack))
    answer = answer_in(log)
    assert (answer["reason"], answer["answered"], answer["open"]) == ("answered", True, [])
    assert record.calls == answer["calls"] == answer["battles"] < 60 * LEGS
    assert answer["decisions"][0] == (
        "In this order no model is better than one before it: oak, fir, elm, ash "
        f"(95% at all {answer['looks']} interim analyses)."
    )
    [standings] = log.results.metadata["podium"]["rankings"]
    assert standings["diagnostics"]["answer"] == answer
    reported = " ".join(capfd.readouterr().err.split())
    assert all(decision in reported for decision in answer["decisions"])
    assert (
        podium.rank(podium.read_battles(str(place(log)))).standings[0].diagnostics["answer"]
        == answer
    )


@pytest.mark.slow
def test_a_judge_that_answers_at_random_uses_up_the_items_and_settles_nothing(
    play, write_responses, behave, record
):
    """Repeats make each call several times; a second visit of an item uses the other order."""
    behave(scripted=coin)
    log = play(
        ring(
            responses=write_responses(ALIKE, 26), until="order", start=25, logprobs="off", repeats=2
        )
    )
    answer = answer_in(log)
    assert (answer["reason"], answer["answered"], len(answer["open"][0])) == ("items", False, 4)
    assert record.calls == answer["calls"] == 2 * answer["battles"]
    assert len(set(shown(log))) == len(shown(log)) == answer["battles"]
    assert "used up, each visited 2 times" in answer["decisions"][1]
    assert any(
        words in answer["decisions"][-1]
        for words in ("would separate them with 80% power, in", "is unknown")
    )


@pytest.mark.slow
def test_newcomers_join_at_ratings_as_inspects_command_line_hands_them_on(
    play, write_responses, record
):
    """Typed with commas they come as a list; rated models do not play one another."""
    typed = parse_cli_args(["ratings=elm:1490+-25,fir:1500±25,oak:1510", "until=error:90"])
    assert typed["ratings"] == ["elm:1490+-25", "fir:1500±25", "oak:1510"]
    log = play(ring(responses=write_responses(ALIKE, 30), start=25, **typed))
    assert log.status == "success"
    assert all("ash" in (first, second) for _, first, second in shown(log))
    assert answer_in(log)["decisions"][0].startswith("Rating of ash is known to ±")


@pytest.mark.slow
def test_a_log_keeps_the_ratings_and_is_ranked_on_their_scale(
    play, write_responses, tmp_path, capfd
):
    (tmp_path / "ladder.csv").write_text(
        "model,rating,se\nelm,1010,25\nfir,1000,25\noak,990,\n", encoding="utf-8"
    )
    log = play(
        ring(
            responses=write_responses(ALIKE, 30),
            start=25,
            ratings=str(tmp_path / "ladder.csv"),
            until="error:90",
        )
    )
    told = " ".join(capfd.readouterr().err.split())
    assert "no standard error is given for the rating of oak, and 30 Elo is assumed" in told
    [standings] = podium.rank(podium.read_battles(str(place(log)))).standings
    kept = log.results.metadata["podium"]["rankings"][0]
    assert kept["models"] == [entry.to_dict() for entry in standings.entries]
    assert kept["diagnostics"]["ladder"] == standings.diagnostics["ladder"]
    assert kept["diagnostics"]["ladder"]["rated"] == ["elm", "fir", "oak"]
    scores = {entry.model: entry.score for entry in standings.entries}
    assert all(abs(score - 1000) < 150 for score in scores.values())
    # The parts of one run hold the ratings once; without them, the table is centred at 1500.
    (tmp_path / "free.csv").write_text(
        podium.read_battles(str(place(log))).to_frame().to_csv(index=False)
    )
    free = podium.rank(podium.read_battles(str(tmp_path / "free.csv"))).standings[0]
    assert sum(entry.score for entry in free.entries) / 4 == pytest.approx(1500, abs=30)


@pytest.mark.slow
def test_a_log_of_newcomers_keeps_the_covariance_of_the_earlier_log(play, write_responses):
    """Its table is on the earlier scale, and as wide as the earlier ratings were uncertain
    together."""
    earlier = play(ring(responses=write_responses({"ash": 1.4, "elm": 1.5, "fir": 1.6}, 40)))
    log = play(ring(responses=write_responses(ALIKE, 40), earlier=str(place(earlier))))
    before = podium.rank(podium.read_battles(str(place(earlier)))).standings[0]
    own = podium.read_battles(str(place(log)))
    assert own.ladder.models == ("ash", "elm", "fir")
    assert own.ladder.elo == pytest.approx(
        [next(e.score for e in before.entries if e.model == n) for n in own.ladder.models]
    )
    assert own.ladder.se == pytest.approx(
        [next(e.se for e in before.entries if e.model == n) for n in own.ladder.models]
    )
    # Errors around the mean of all: in each row they cancel.
    assert [sum(row) for row in own.ladder.covariance] == pytest.approx(
        [0, 0, 0], abs=1e-6 * max(own.ladder.se) ** 2
    )
    after = {entry.model: entry.score for entry in podium.rank(own).standings[0].entries}
    assert sum(after[name] for name in own.ladder.models) / 3 == pytest.approx(1500, abs=1)


def test_ratings_and_an_earlier_log_exclude_each_other(write_responses):
    with pytest.raises(Exception, match="ratings= rates the same models"):
        ring(responses=write_responses(ALIKE, 30), ratings="elm:1500+-20", earlier="before.eval")


@pytest.mark.slow
def test_max_battles_ends_it_and_is_the_reason(play, write_responses, record):
    log = play(ring(responses=write_responses(ALIKE, 60), until="top1", start=25, max_battles=110))
    answer = answer_in(log)
    assert (answer["reason"], answer["answered"], answer["battles"], record.calls) == (
        "max_battles",
        False,
        110,
        110,
    )
    assert "max_battles=110" in " ".join(answer["decisions"])


@pytest.mark.slow
def test_a_retry_after_failures_asks_nothing_twice_and_meets_the_same(
    play, behave, record, write_responses
):
    """The judge's unparsed and failed replies are neither wins nor a reason to stop."""
    behave(errors=0.15, garbage=0.05, form="letter")
    log = play(
        ring(responses=write_responses(APART, 40), until="order", start=25, cache=False, attempts=1)
    )
    failed = {one.id for one in battles(log) if one.error}
    assert log.status == "error"
    assert failed
    before = Counter(record.times())
    behave(garbage=0.05, form="letter")
    [again] = eval_retry(log)
    again = read_eval_log(again.location)
    asked = Counter(record.times()) - before
    assert sum(asked.values()) == len(failed)
    assert set(shown(again)) == set(shown(log))
    assert answer_in(again) == answer_in(log)
    assert again.status == "success"


DEMAND = "Answer in exactly three words."
"""What the stand-in judge can count: a response of three words does it."""
DONE = {"ash": 1, "elm": 10, "fir": 20, "oak": 30}
"""On how many of 30 items a model does what is asked."""


def calls_in(log):
    """Return the number of calls in the log, over all judges."""
    return sum(event.event == "model" for one in log.samples for event in one.events)


def counted_responses(write_responses, done):
    """Write responses of three words on so many items, drawn by each model's own wheel, and of four
    on others."""
    texts = {
        (name, k): "one two three"
        if (k * 7 + 13 * sum(map(ord, name))) % 30 < number
        else "one two three four"
        for name, number in done.items()
        for k in range(30)
    }
    return write_responses(done, 30, texts, instruction=DEMAND)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["podium/offline", "scripted/judge"])
@pytest.mark.parametrize(
    ("options", "done", "reason"),
    [
        ({"until": "order", "margin": 400.0}, DONE, "answered"),
        ({"until": "order"}, dict.fromkeys(DONE, 15), "items"),
        ({"until": "order", "max_battles": 110}, dict.fromkeys(DONE, 15), "max_battles"),
    ],
)
def test_the_stand_in_judge_and_one_at_random_end_for_each_reason_and_calls_asked_are_calls_charged(
    play, behave, write_responses, judge, options, done, reason
):
    behave(scripted=coin)
    paths = counted_responses(write_responses, done)
    log = play(ring(responses=paths, start=25, logprobs="off", cache=False, **options), judge)
    answer = answer_in(log)
    assert (log.status, answer["reason"], answer["answered"]) == (
        "success",
        reason,
        reason == "answered",
    )
    identical = podium.read_battles(str(place(log)), merge=False).tally.identical
    assert calls_in(log) == answer["calls"] == answer["battles"] - identical
    assert answer["battles"] == len(battles(log))
    assert answer["battles"] <= options.get("max_battles", 2 * 30 * LEGS)
    if judge == "podium/offline" and reason == "answered":
        assert answer["decisions"][0].startswith(
            "In this order no model is better by more than 400 Elo than one before it: oak"
        )


@pytest.mark.slow
@pytest.mark.parametrize("until", ["order", "error:60"])
def test_a_newcomer_joins_the_tournament_of_an_earlier_log_whose_battles_count(
    play, write_responses, record, until
):
    """Earlier battles are not repeated; without them the newcomer could not be compared with the
    ranked models."""
    old = {name: quality for name, quality in APART.items() if name != "fir"}
    earlier = play(ring(responses=write_responses(old, 40)))
    asked = record.calls
    everyone = write_responses(APART, 40)
    log = play(ring(responses=everyone, until=until, start=25, earlier=str(place(earlier))))
    answer = answer_in(log)
    assert all("fir" in own[1:] for own in shown(log))
    assert record.calls - asked == len(battles(log)) == answer["calls"] == answer["battles"]
    assert max(record.times().values()) == 1
    if until == "order":
        assert answer["decisions"][0].startswith(
            "Against fir: oak not worse and elm, ash not better"
        )
    whole = podium.rank(podium.read_battles(str(place(earlier)), str(place(log)))).standings[0]
    assert [entry.model for entry in whole.entries] == ["oak", "fir", "elm", "ash"]
    assert whole.counts.judgments == 40 * 3 + answer["battles"]


@pytest.mark.slow
def test_a_newcomer_joins_the_newcomer_of_two_logs(play, write_responses):
    """A log of newcomers holds their own battles alone: the next ones are given it and the one
    before."""
    first = play(ring(responses=write_responses({"ash": 0.0, "elm": 1.5}, 40)))
    three = write_responses({"ash": 0.0, "elm": 1.5, "fir": 3.0}, 40)
    second = play(ring(responses=three, until="order", start=25, earlier=str(place(first))))
    both = f"{place(first)},{place(second)}"
    log = play(ring(responses=write_responses(APART, 40), until="order", start=25, earlier=both))
    assert all("oak" in own[1:] for own in shown(log))
    assert answer_in(log)["decisions"][0].startswith("Against oak: ")


@pytest.mark.slow
def test_earlier_log_without_room_for_newcomers_is_rejected_with_the_remedy(play, write_responses):
    paths = write_responses({"ash": 0.0, "elm": 1.5}, 26)
    earlier = str(place(play(ring(responses=paths))))
    with pytest.raises(Exception, match="all models are in it already"):
        ring(responses=paths, until="order", start=25, earlier=earlier)
    with pytest.raises(Exception, match="newcomers cannot join chain; play ring or swim"):
        chain(responses=paths, earlier=earlier)
    others = write_responses({"fir": 0.0, "oak": 1.5}, 26)
    with pytest.raises(Exception, match="contains no battle of fir, oak"):
        ring(responses=others, earlier=earlier)


@pytest.mark.slow
def test_orders_are_rejected_with_the_reason_and_so_are_ratings_of_single_responses(
    write_responses,
):
    with pytest.raises((UsageError, SystemExit, Exception), match="balances the orders itself"):
        ring(responses=write_responses(), orders="both")
    with pytest.raises(Exception, match="play round_robin"):
        ring(responses=write_responses(), realization="numeric")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (
            lambda paths: ring(responses=paths, until="order"),
            "needs 25 items to estimate an error, and there are 6",
        ),
        (lambda paths: ring(responses=paths, until="best"), "until=best: write order, topK"),
        (lambda paths: ring(responses=paths, until="order", margin=-1), "margin=-1"),
        (lambda paths: ring(responses=paths, until="order", start=10), "start=10"),
        (lambda paths: chain(responses=paths, until="top9"), "needs 25 items"),
        (lambda paths: swim(responses=paths, until="order"), "play ring"),
        (
            lambda paths: ring(responses=paths, until="order", population="these-items"),
            "about items like these",
        ),
        (
            lambda paths: ring(responses=paths, until="order", earlier="nowhere.eval"),
            "nowhere.eval",
        ),
        (
            lambda paths: tournament("ring", responses=paths, until="top4", limit=6),
            "needs 25 items",
        ),
        (lambda paths: ring(responses=paths, models="ash"), "fewer than two models"),
    ],
)
def test_what_cannot_be_answered_is_rejected_with_a_remedy(write_responses, make, complaint):
    with pytest.raises(Exception, match=complaint):
        make(write_responses())


def test_as_many_best_as_models_are_rejected(write_responses):
    with pytest.raises(Exception, match="more than 4 models, and there are 4"):
        ring(responses=write_responses(APART, 30), until="top4", start=25)
