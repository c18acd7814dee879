"""Votes of humans without a verdict are no replies of a judge, in every command."""

import csv
import json
import random

import pytest

import podium as api
from podium.diagnosis.judge_checks import are_human_votes

POOL = ["--pool"]
COLUMNS = ("item", "model_a", "model_b", "credit", "voter", "judge")


def votes(judge):
    """Return 300 votes of 40 voters; 30% of those on battles of m0 have no verdict."""
    rng = random.Random(1)
    rows = []
    for k in range(300):
        pair = rng.sample(["m0", "m1", "m2"], 2)
        is_lost = "m0" in pair and rng.random() < 0.3
        credit = "" if is_lost else rng.choice([1, 0, 0.5])
        voter = f"arena_user_{k % 40}"
        rows.append([f"q{k}", *pair, credit, voter, judge or voter])
    return rows


def save_votes(tmp_path, form):
    """Write the votes: pooled, with a judge per voter, with voters only, or as Arena's file."""
    rows = votes({"pooled": "voters", "of a judge": "gpt-4"}.get(form))
    names = COLUMNS[:-1] if form == "voter column" else COLUMNS
    if form == "judge per voter":
        names = tuple(name for name in COLUMNS if name != "voter")
    if form == "arena":
        winners = {1: "model_a", 0: "model_b", 0.5: "tie", "": ""}
        records = []
        for item, a, b, credit, voter, _ in rows:
            about = {"question_id": item, "model_a": a, "model_b": b}
            records.append(about | {"winner": winners[credit], "judge": voter})
        path = tmp_path / "arena.json"
        path.write_text(json.dumps(records))
        return path
    path = tmp_path / "votes.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(dict(zip(COLUMNS, row, strict=True)) for row in rows)
    return path


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("form", ["pooled", "voter column", "judge per voter", "arena"])
@pytest.mark.parametrize(
    "command", [["rank"], ["compare", "m0", "m1"], ["diagnose"], ["rank", "--format", "json"]]
)
def test_no_command_speaks_of_a_judges_replies(podium, tmp_path, form, command):
    if form == "judge per voter":
        command = [
            *command,
            *(["--where", "judge=arena_user_0"] if "diagnose" in command else POOL),
        ]
    done = podium(*command, save_votes(tmp_path, form))
    said = " ".join(f"{done.out} {done.err}".split())
    assert "look at the votes without a verdict" in said
    assert "judge's replies" not in said
    assert "of the replies" not in said
    assert "those rows" not in said


@pytest.mark.slow
def test_the_page_does_not_speak_of_a_judges_replies(podium, tmp_path):
    page = tmp_path / "page.html"
    podium("report", save_votes(tmp_path, "pooled"), "-o", page)
    text = page.read_text()
    assert "of the votes are without a verdict" in text
    assert "judge's replies" not in text
    assert "judge&#39;s replies" not in text


def test_voters_of_a_named_judge_do_not_make_it_a_population_of_humans(podium, tmp_path):
    done = podium("rank", save_votes(tmp_path, "of a judge"))
    said = " ".join(f"{done.out} {done.err}".split())
    assert "of the judge's replies are unparsed" in said
    assert "votes" not in said


def test_a_human_by_its_record_votes_and_another_judge_beside_it_does_not(tmp_path):
    path = save_votes(tmp_path, "pooled")
    frame = api.read_battles(path).to_frame().drop(columns=["voter"])
    humans = frame.assign(judge="Ann", judge_kind="human")
    assert are_human_votes(api.read_battles(humans))
    humans.loc[humans.index[:50], ["judge", "judge_kind"]] = ["gpt-4", None]
    assert not are_human_votes(api.read_battles(humans))
