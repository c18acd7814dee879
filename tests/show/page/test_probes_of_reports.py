"""What the page of a report says of each probe: it has all those of an audit."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import podium as api
from podium.diagnosis import card as cards
from podium.notices.option_forms import typed_as, typed_in_command
from podium.ranking.audit_battles import audit_ranking
from podium.show.page.checks_without_battles import checks_table

EXAMPLE = Path(__file__).parents[3] / "examples" / "simulated" / "battles.csv"
ONLY_OF_AUDITS = ("ties", "time", "places", "voters", "judges", "elo")


def data_of(page):
    """Return the JSON that is embedded in a page."""
    text = page.read_text(encoding="utf-8")
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(match[1])


def probes_of(audit):
    """Return the probes of the only ranking of an audit, by name."""
    [board] = audit.boards
    return {probe.check.name: probe for probe in board.probes}


@pytest.mark.slow
def test_a_report_has_the_rows_of_the_audit_of_the_same_battles(podium, tmp_path):
    page = tmp_path / "report.html"
    done = podium("report", EXAMPLE, "--disclose", "-o", page)
    assert done.code == 0, done.err
    audited = json.loads(podium("audit", EXAMPLE, "--format", "json").out)["audits"]
    [of_audit] = audited
    [of_page] = data_of(page)["audits"]
    assert of_page["probes"] == of_audit["probes"]
    assert {*ONLY_OF_AUDITS} <= {probe["probe"] for probe in of_page["probes"]}
    beside = json.loads((tmp_path / "report.disclosure.json").read_text(encoding="utf-8"))
    assert beside["audits"] == data_of(page)["audits"]
    content = page.read_text(encoding="utf-8")
    table = content[content.index('<table class="probes">') :].partition("</table>")[0]
    assert table.count('<th scope="row">') == len(of_page["probes"]) == table.count('"asks"')
    assert f'<code class="command">podium diagnose {EXAMPLE} --section position</code>' in table
    assert "Use this ranking with care, one of 19 probes is flagged" in content


@pytest.mark.slow
def test_each_slice_of_a_report_has_its_probes(podium, tmp_path):
    page = tmp_path / "report.html"
    assert podium("report", EXAMPLE, "--by", "category", "-o", page).code == 0
    audited = json.loads(podium("audit", EXAMPLE, "--by", "category", "--format", "json").out)
    assert len(audited["audits"]) > 1
    assert data_of(page)["audits"] == audited["audits"]


def test_a_report_of_a_ranking_in_json_has_the_checks_that_need_no_battles(podium, tmp_path):
    podium("rank", EXAMPLE, "--format", "json", "-o", tmp_path / "ranking.json")
    page = tmp_path / "report.html"
    assert podium("report", tmp_path / "ranking.json", "-o", page).code == 0
    assert data_of(page)["audits"] is None
    assert "the page was made without battles" in page.read_text(encoding="utf-8")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("by", [None, "judge"])
def test_cards_that_are_made_already_are_not_computed_again(monkeypatch, by):
    world = api.simulate(models=4, items=40, seed=1)
    judges = (api.Judge(name="judge-1"), api.Judge(name="judge-2"))
    table = world.judgments(*judges if by else judges[:1])
    judgments = api.read_battles(table, merge=False)
    battles = api.read_battles(table)
    with typed_as(typed_in_command):
        diagnosis = api.diagnose(judgments, battles)
        ranking = api.rank(battles, by=by)
    expected = api.audit(battles, judgments=judgments, by=by).to_dict()["audits"]
    monkeypatch.setattr(cards, "answer_sections", lambda *_: pytest.fail("computed again"))
    found = audit_ranking(ranking, battles, judgments, by=by, diagnosis=diagnosis)
    assert found.to_dict()["audits"] == expected


@pytest.mark.slow
def test_probes_count_unparsed_replies_and_lost_battles():
    """A battle of which one order could not be read has lost one reply of two: the threshold is one
    of replies."""
    battles = api.simulate(4, 100, seed=1).battles(api.Judge(unparsed=0.02))
    audit = api.audit(battles)
    probes = probes_of(audit)
    counts, share = audit.boards[0].standings.counts, battles.counts().unparsed / 1200
    stated = (
        f"{counts.unparsed} of 600 battles are unparsed ({counts.unparsed / 600:.1%}); "
        f"{share:.1%} of the replies"
    )
    assert counts.unparsed / 600 > 0.03 > share
    assert not probes["unparsed"].check.is_flagged
    assert probes["unparsed"].finding_text == stated
    fit = probes["fit"].finding_text
    assert fit.startswith("the ratings explain the win rates of all 6 tested pairs")


def test_a_shared_first_place_is_no_passed_probe_of_the_first_place():
    rows = [
        {
            "item": f"q{k}",
            "model_a": a,
            "model_b": b,
            "credit": 0.5 if a + b == "xy" else 1.0 if b == "z" else 0.0,
        }
        for k in range(30)
        for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    probes = probes_of(api.audit(api.read_battles(pd.DataFrame(rows))))
    assert not probes["first place"].check.is_known


@pytest.mark.slow
@pytest.mark.parametrize("skill", [3.0, 0.0])
def test_an_audit_has_the_checks_that_the_answer_counts(skill):
    world = api.simulate(3, 60, seed=2, strengths=[skill, 0.0, 0.0])
    battles = world.battles(api.Judge())
    [standings] = api.rank(battles).standings
    assert {check.name for check in standings.checks} <= probes_of(api.audit(battles)).keys()


def test_checks_without_battles_have_one_row_for_all_others():
    [standings] = api.rank(api.simulate(3, 60, seed=2).battles(api.Judge())).standings
    rows = checks_table(standings).rows
    assert [name for name, *_ in rows] == ["unparsed", "items", "others"]
    assert rows[-1][1] == "not known"
