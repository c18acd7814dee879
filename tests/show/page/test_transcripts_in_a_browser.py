"""Transcripts of 64 turns on a report page: folded by turn, calls and results apart, hostile
content as text."""

import pandas as pd
import pytest

from podium import rank, read_battles
from podium.responses.transcripts import Call, Show, Turn
from podium.show.page.material import PageContent, add_battles_to_page
from podium.show.page.report_page import report_page
from podium.show.page.sources import BattleTexts

pytestmark = pytest.mark.slow
HOSTILE = '<img src=x onerror="window.hurt=1"></script><script>window.hurt=1</script></details>'


def transcript(turns, tokens=100_000):
    """Return the transcript of an agent that searches, with hostile arguments, results and
    answer."""
    work = []
    for k in range(turns):
        work.append(
            Turn("assistant", f"Step {k}.", (Call(f"c{k}", "search", f'{{"query": "{HOSTILE}"}}'),))
        )
        work.append(Turn("tool", f"Found {k}: {HOSTILE} " + "word" * 500, call_id=f"c{k}"))
    return Show("transcript", tokens).build_response(work, f"Done: {HOSTILE}", 0)[0]


@pytest.fixture(scope="module")
def page_of_transcripts(tmp_path_factory):
    table = pd.DataFrame(
        [{"item": f"q{k}", "model_a": "ash", "model_b": "elm", "credit": k % 2} for k in range(4)]
    )
    battles, texts = read_battles(table), BattleTexts()
    for k in range(4):
        sides = {
            "model_a": "ash",
            "model_b": "elm",
            "response_a": transcript(64),
            "response_b": transcript(k and 64, 2_000),
        }
        texts.add_row({"item": f"q{k}", "instruction": "Search.", "transcript": True, **sides})
    content = PageContent(rank(battles, "win-rate"), command="podium report")
    content = add_battles_to_page(content, battles, battles, texts, families={}, level=0.95, seed=0)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_page(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(("size", "scheme"), [((1280, 900), "light"), ((390, 844), "dark")])
def test_turns_are_folded_calls_and_results_apart(
    page_of_transcripts, open_page, violations, size, scheme
):
    seen = open_page(page_of_transcripts, size, scheme)
    page = seen.page
    page.locator("#list summary").first.click()
    sides = page.locator("#list details").first.locator(".side")
    assert "Done: " + HOSTILE in sides.nth(0).inner_text()
    assert sides.nth(0).locator(".turn").count() == 64
    assert not sides.nth(0).locator(".turn").first.is_visible()
    assert sides.nth(1).locator(".turns").count() == 0
    sides.nth(0).locator(".turns > summary").click()
    assert sides.nth(0).locator(".turns > summary").inner_text() == "64 turns"
    turn = sides.nth(0).locator(".turn").nth(63)
    turn.locator("> summary").click()
    heads = turn.locator(".piece > summary")
    assert [head.partition(":")[0] for head in heads.all_inner_texts()] == [
        "turn 64",
        "call 64.1",
        "result 64.1",
    ]
    heads.nth(2).click()
    assert f"Found 63: {HOSTILE}" in turn.locator(".piece.result .text").inner_text()
    assert page.evaluate("window.hurt") is None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
    assert (seen.errors, seen.requests) == ([], [])


def test_turns_that_are_left_out_are_counted(page_of_transcripts, open_page):
    page = open_page(page_of_transcripts).page
    for head in page.locator("#list details.battle > summary").all():
        head.click()
    cut = page.locator("#list .side:nth-child(2) .turns")
    assert cut.count() == 3
    assert cut.locator("> summary").all_inner_texts() == ["64 turns"] * 3
    assert all(own.locator(".turn").count() < 64 for own in cut.all())


def test_the_search_finds_what_a_tool_returned(page_of_transcripts, open_page):
    page = open_page(page_of_transcripts).page
    page.fill("#search", "Found 41:")
    assert page.locator("#list details.battle").count() == 4
    page.fill("#search", "Found 64:")
    assert page.locator("#list details.battle").count() == 0
