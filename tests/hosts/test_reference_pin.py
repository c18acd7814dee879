"""The pinned reference of a folder, and the figures that a host writes of its own models."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from podium.data.reading.judgments import read_battles
from podium.errors import DataError, UsageError
from podium.hosts.folder_pin import open_pin
from podium.hosts.host_ranking import notes_on_anchors, with_anchor
from podium.hosts.own_figures import figures_of_models
from podium.hosts.ranker_options import options_from
from podium.hosts.reference_pin import (
    check_reference,
    find_reference,
    pin_of_model,
    pin_place,
    read_pin,
)
from podium.notices.notice_text import notice_text, notice_texts
from podium.ranking.rank_battles import rank
from podium.run_record import RunRecord, Setting

MODELS = ("base", "step-1", "step-2", "step-3", "other", "third")


def battles_of(models, items=20, judge="judge"):
    """Return battles of all pairs; those of a pair are the same whichever other models play."""
    rows = []
    for a, b in combinations(models, 2):
        rng = np.random.default_rng([MODELS.index(a), MODELS.index(b)])
        for item in range(items):
            names = {"item": f"q{item}", "model_a": a, "model_b": b, "judge": judge}
            rows.append({**names, "credit": float(rng.choice([0, 0.5, 1]))})
    return read_battles(pd.DataFrame(rows))


def figures(models, reference="base", ranker="bradley-terry", own="step-1"):
    battles = battles_of(models)
    return figures_of_models("task", rank(battles, ranker), battles, [own], reference)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("number", [2, 4, 5, 6])
def test_a_win_rate_against_the_reference_is_the_same_among_any_number_of_models(number):
    [alone, _] = figures(MODELS[:2]).figures
    [win_rate, rating] = figures(MODELS[:number]).figures
    assert win_rate == alone
    assert (win_rate.name, win_rate.opponents, win_rate.items) == ("pinned-win-rate", ("base",), 20)
    assert rating.opponents == tuple(sorted({*MODELS[:number]} - {"step-1"}))


@pytest.mark.slow
def test_its_error_is_clustered_by_item():
    battles = battles_of(MODELS[:4])
    twice = pd.concat([battles.to_frame(), battles.to_frame().assign(response=2)])
    again = read_battles(twice)
    [once, _] = figures(MODELS[:4]).figures
    ranking = rank(again, "bradley-terry")
    [doubled, _] = figures_of_models("task", ranking, again, ["step-1"], "base").figures
    assert doubled.battles == 2 * once.battles
    assert (doubled.value, doubled.se) == (pytest.approx(once.value), pytest.approx(once.se))


@pytest.mark.slow
def test_without_a_reference_the_win_rate_is_against_all_and_a_mean_stands_alone():
    [win_rate, rating] = figures(MODELS[:4], reference=None).figures
    assert (win_rate.name, win_rate.opponents) == ("win-rate", ("base", "step-2", "step-3"))
    assert rating.name == "bradley-terry"
    [both] = figures(MODELS[:4], reference=None, ranker="win-rate").figures
    assert both == win_rate
    scores = [
        {"item": f"q{k}", "model": model, "score": float((k + MODELS.index(model)) % 3 > 0)}
        for k in range(12)
        for model in MODELS[:3]
    ]
    battles = read_battles(pd.DataFrame(scores))
    ranking = rank(battles, "mean")
    [mean] = figures_of_models("task", ranking, battles, ["step-1"], "base").figures
    assert (mean.name, mean.opponents) == ("mean", ())
    assert mean.value == next(
        entry.score for entry in ranking.standings[0].entries if entry.model == "step-1"
    )


def test_the_reference_has_no_win_rate_against_itself():
    found = figures(MODELS[:4], own="base")
    assert [figure.name for figure in found.figures] == ["bradley-terry"]
    assert notice_texts(found.notes) == (
        "base is the pinned reference: it has no win rate against itself",
    )


def test_battles_that_other_models_decide_are_said():
    table = battles_of(MODELS[:4]).to_frame()
    met = table["model_a"].eq("base") & table["model_b"].eq("step-1")
    few = read_battles(table[~met | table["item"].isin(["q1", "q2"])])
    ranking = rank(few, "bradley-terry")
    [note] = figures_of_models("task", ranking, few, ["step-1"], "base").notes
    assert (note.code, note.fields["met"], note.fields["items"]) == ("pin-met-in-part", 2, 20)
    never = read_battles(table[~met])
    ranking = rank(never, "bradley-terry")
    found = figures_of_models("task", ranking, never, ["step-1"], "base")
    assert [note.code for note in found.notes] == ["pin-never-met"]
    assert [figure.name for figure in found.figures] == ["bradley-terry"]


def written(folder, models, asked=None, judge="judge", task="task"):
    """Rank models in a folder; return the names of the figures and what is said of the pin."""
    pin = open_pin(str(folder), asked)
    battles = battles_of(models, judge=judge)
    own = pin.written_figures(task, rank(battles, "bradley-terry"), battles, [models[-1]])
    return [figure.name for figure in own], [note.code for note in pin.save([models[-1]])]


@pytest.mark.slow
def test_the_first_ranking_records_the_pin_and_later_ones_use_it(tmp_path):
    folder = tmp_path / "out.podium"
    assert written(folder, MODELS[:3]) == (["win-rate", "bradley-terry"], ["no-pin"])
    assert not folder.exists()
    assert written(folder, MODELS[:3], "base") == (["pinned-win-rate", "bradley-terry"], [])
    [first] = read_pin(pin_place(str(folder))).rankings
    assert (first.task, first.ranker, first.by) == ("task", "bradley-terry", ("judge",))
    assert written(folder, MODELS[:5])[0] == ["pinned-win-rate", "bradley-terry"]
    assert written(folder, MODELS[:3], task="second")[1] == []
    kept = read_pin(pin_place(str(folder)))
    assert [row.task for row in kept.rankings] == ["task", "second"]
    assert kept.rankings[0] == first


@pytest.mark.slow
def test_what_makes_values_incomparable_is_said(tmp_path):
    folder = tmp_path / "out.podium"
    written(folder, MODELS[:3], "base")
    assert written(folder, MODELS[:3], judge="another")[1] == ["pin-judge-changed"]
    assert written(folder, MODELS[1:4]) == (["win-rate", "bradley-terry"], ["pin-absent"])
    assert written(folder, MODELS[1:4], "step-1")[1] == ["pin-changed"]
    assert read_pin(pin_place(str(folder))).model == "step-1"


def run_of(model, temperature, named=False, task="task"):
    generation = (("temperature", json.dumps(temperature)),)
    settings = (Setting("generation", "temperature"),) if named else ()
    return RunRecord(model, task, "file", generation=generation, named_settings=settings)


def test_a_reference_that_is_named_by_its_settings_later_is_found_by_them():
    pin = pin_of_model("m", [run_of("m", 0), run_of("other", 0)])
    names = ("m (temperature=0)", "m (temperature=1)")
    runs = [run_of(name, k, named=True) for k, name in enumerate(names)]
    assert find_reference(pin, [*names, "other"], runs) == names[0]
    assert find_reference(pin, ["m", "other"], [run_of("m", 1)]) == "m"
    assert find_reference(pin, [names[1], "other"], runs[1:]) is None
    again = pin_of_model(names[1], runs)
    assert (again.plain, find_reference(again, names, runs)) == ("m", names[1])


@pytest.mark.slow
def test_a_reference_with_other_settings_is_said(tmp_path):
    said = []
    for temperature in (0, 0, 1):
        pin = open_pin(str(tmp_path), "base")
        battles = replace(battles_of(MODELS[:3]), runs=(run_of("base", temperature),))
        pin.written_figures("task", rank(battles, "bradley-terry"), battles, ["step-1"])
        said.append(pin.save(["step-1"]))
    assert read_pin(pin_place(str(tmp_path))).settings == {
        "task": (("generation", "temperature", "", "0"),)
    }
    assert said[:2] == [[], []]
    assert [note.fields["changed"] for note in said[2]] == [{"temperature": "0 → 1"}]


@pytest.mark.slow
def test_settings_are_compared_with_those_of_the_same_task(tmp_path):
    def said(task, temperature):
        pin = open_pin(str(tmp_path), "base")
        runs = (run_of("base", temperature, task=task),)
        battles = replace(battles_of(MODELS[:3]), runs=runs)
        pin.written_figures(task, rank(battles, "bradley-terry"), battles, ["step-1"])
        return [(note.code, note.fields["changed"]) for note in pin.save(["step-1"])]

    assert [said("sums", 0), said("capitals", 1), said("capitals", 1), said("sums", 0)] == [[]] * 4
    settings = read_pin(pin_place(str(tmp_path))).settings
    assert {task: rows[0][-1] for task, rows in settings.items()} == {"sums": "0", "capitals": "1"}
    changed = [("pin-settings-changed", {"temperature": "1 → 0"})]
    assert (said("capitals", 0), said("sums", 0)) == (changed, [])


def test_a_reference_is_found_on_another_task_by_the_settings_of_the_first():
    pin = pin_of_model("m", [run_of("m", 0)])
    runs = [run_of(f"m (temperature={k})", k, named=True, task="other") for k in (0, 1)]
    assert find_reference(pin, [run.model for run in runs], runs) == "m (temperature=0)"


@pytest.mark.parametrize("text", ["", "[]", '{"model": "a"}', '{"rankings": 3}', "\x00", "é"])
def test_a_damaged_file_is_an_error_unless_it_is_replaced(tmp_path, text):
    (tmp_path / "pin.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match="not a pinned reference of podium"):
        open_pin(str(tmp_path), None)
    assert open_pin(str(tmp_path), "base").pin.model == "base"


def test_an_absent_reference_is_known_before_the_run():
    with pytest.raises(UsageError, match="did you mean 'base'"):
        check_reference("bsae", None, ["base", "other"], "--ranker-pin bsae")
    [note] = check_reference(None, pin_of_model("base"), ["other"], "")
    assert note.code == "pin-not-here"
    assert check_reference("base", None, ["base"], "") == []


def options(**more):
    return options_from(
        {"ranker": "win-rate", "ranker_judge": "podium/offline", "ranker_tournament": "anchor"}
        | more
    )


def test_the_anchor_of_the_ranker_or_the_pin_is_the_tournaments():
    plain = options()
    assert with_anchor(plain, {"anchor": "a"}, "b", ["a", "b"]).args == {"anchor": "a"}
    assert with_anchor(plain, {}, "b", ["a", "b"]).args == {"anchor": "b"}
    assert with_anchor(plain, {"win-rate.anchor": "a"}, None, ["b"]) is plain
    named = options(ranker_args="anchor=c")
    assert with_anchor(named, {"anchor": "a"}, "b", ["a", "b", "c"]) is named
    notes = notes_on_anchors(named, {"anchor": "a"}, "c")
    assert [(note.fields["anchor"], note.fields["played"]) for note in notes] == [("a", "c")]
    [both] = notes_on_anchors(named, {"win-rate.anchor": "a"}, "a")
    assert notice_text(both).startswith("win-rate and the pinned reference need battles against a,")
    assert notes_on_anchors(named, {"anchor": "c"}, None) == ()
    assert notes_on_anchors(options(ranker_tournament="ring"), {"anchor": "a"}, None) == ()


def test_a_win_rate_against_a_model_that_was_not_the_anchor_is_said():
    table = battles_of(MODELS[:5]).to_frame()
    pilot = table["item"].isin(["q1", "q2"])
    anchored = table["model_a"].eq("base") | table["model_b"].eq("base")
    battles = read_battles(table[pilot | anchored])
    ranking = rank(battles, "win-rate", anchor="step-1")
    texts = notice_texts(ranking.standings[0].warnings)
    assert any(
        "step-1, the anchor of the win rates, played 26 battles, base 80" in t for t in texts
    )
    ranking = rank(battles, "win-rate", anchor="base")
    assert not any(
        "the anchor of the win rates" in t for t in notice_texts(ranking.standings[0].warnings)
    )
