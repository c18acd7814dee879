"""A site of many rankings: who leads where, a page of each, Markdown; and in a browser."""

import http.server
import itertools
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from podium import rank, read_battles
from podium.cli.main import podium
from podium.errors import DataError
from podium.rankers.ranking import Entry, Ranking, Standings
from podium.show.page.leaderboard_site import rankings_in, site_files

EXAMPLE = Path(__file__).parents[3] / "examples" / "simulated" / "battles.csv"


@pytest.fixture(scope="module")
def example() -> Ranking:
    """Return the ranking of README's example."""
    return rank(read_battles(str(EXAMPLE)))


def with_places(ranking: Ranking, places: dict[str, tuple[int | None, int | None]]) -> Ranking:
    """Return a ranking of these models with these rank sets, best first."""
    first = ranking.standings[0]
    entries = [
        Entry(name, k, low, high, 1500.0 - k, None, None, None, 10)
        for k, (name, (low, high)) in enumerate(places.items(), 1)
    ]
    return replace(ranking, standings=(replace(first, entries=tuple(entries), separation=None),))


def write_rankings(folder: Path, rankings: dict[str, Ranking]) -> Path:
    """Write rankings into a folder by their names; return it."""
    for name, ranking in rankings.items():
        path = folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ranking.to_json(), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_site_is_a_static_space_on_request(tmp_path: Path, example: Ranking) -> None:
    folder, site = write_rankings(tmp_path / "rankings", {"chat": example}), tmp_path / "site"
    plain = CliRunner().invoke(podium, ["leaderboard", str(folder), "-o", str(site)])
    assert (plain.exit_code, (site / "README.md").exists()) == (0, False)
    title = 'Who leads: "us"\n---\nsdk: docker'
    assert (
        CliRunner()
        .invoke(podium, ["leaderboard", str(folder), "-o", str(site), "--space", title])
        .exit_code
        == 0
    )
    readme = (site / "README.md").read_text(encoding="utf-8")
    _, front, body = readme.split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields == {
        "title": title.replace("\n", "\\n"),
        "emoji": "📊",
        "colorFrom": "gray",
        "colorTo": "blue",
        "sdk": "static",
        "app_file": "index.html",
        "pinned": False,
    }
    assert (site / fields["app_file"]).is_file()
    assert body.strip() == (site / "leaderboard.md").read_text(encoding="utf-8").strip()


def test_rankings_are_called_as_their_files_lie_and_the_newest_of_a_kind_comes_first(
    tmp_path: Path, example: Ranking
) -> None:
    names = ["chat/a/2026-11-01", "chat/a/2026-11-20", "code/a/2026-10-30", "chat/b/2026-11-01"]
    folder = write_rankings(tmp_path, dict.fromkeys(names, example))
    (tmp_path / "other.json").write_text('{"rankings": 3}')
    (tmp_path / "half.json").write_text('{"rankings": [{"ranker": "x"}]}')
    found, failures = rankings_in(folder)
    assert list(found) == [
        "chat/a/2026-11-20",
        "chat/a/2026-11-01",
        "chat/b/2026-11-01",
        "code/a/2026-10-30",
    ]
    assert len(failures) == 1
    assert "half.json" in failures[0]


def test_of_two_rankings_beside_one_log_the_newer_name_counts(
    tmp_path: Path, example: Ranking
) -> None:
    for ending in (".ranking", ".ranking.json"):
        (tmp_path / f"podium-quiz{ending}").write_text(example.to_json(), encoding="utf-8")
    assert list(rankings_in(tmp_path)[0]) == ["podium-quiz"]


def test_site_inside_the_input_folder_is_not_read(tmp_path: Path, example: Ranking) -> None:
    folder = write_rankings(tmp_path, {"chat": example, "site/rankings/chat": example})
    assert list(rankings_in(folder, folder / "site")[0]) == ["chat"]


def test_a_ranking_of_the_site_says_who_judged_and_its_own_answer(
    tmp_path: Path, example: Ranking
) -> None:
    found, _ = rankings_in(write_rankings(tmp_path, {"chat": example}))
    card = dict(itertools.islice(site_files(found), 2))["leaderboard.md"]
    assert "| chat | bradley-terry | simulated-judge | " in card
    assert "amber, birch and cedar lead and are too close to call on these 40 items." in card


def test_a_folder_without_a_ranking_is_rejected_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="podium rank --format json"):
        rankings_in(tmp_path)


@pytest.mark.parametrize(
    ("places", "stated"),
    [
        ({"wren": (1, 1), "lark": (2, 2)}, "Clear leaders in 1 ranking: wren in 1."),
        ({"wren": (1, 2), "lark": (1, 2)}, "In every ranking no model is known to lead clearly."),
        (
            {"wren": (None, None), "lark": (None, None)},
            "In every ranking no model is known to lead clearly.",
        ),
    ],
)
def test_leaderboard_card_names_a_sole_leader_or_none(
    example: Ranking, places: dict[str, tuple[int | None, int | None]], stated: str
) -> None:
    """One model whose rank set holds the first place leads; none leads where two share it or none
    has a rank set."""
    pytest.importorskip("altair")
    files = site_files({"chat": with_places(example, places)})
    page, card = next(files)[1], next(files)[1]
    assert card.startswith(stated)
    assert stated in page


@pytest.mark.slow
def test_models_that_a_ranking_lacks_have_no_place_there(example: Ranking) -> None:
    pytest.importorskip("altair")
    rankings = {
        "chat": with_places(example, {"wren": (1, 1), "lark": (2, 3)}),
        "code": with_places(example, {"wren": (1, 2)}),
    }
    files = dict(site_files(rankings))
    assert list(files) == [
        "index.html",
        "leaderboard.md",
        *(
            f"rankings/{name}.{kind}"
            for name in ("chat", "code")
            for kind in ("html", "json", "md")
        ),
    ]
    assert "| wren | 1499 (1) | 1499 (1–2) |" in files["leaderboard.md"]
    assert "| lark | 1498 (2–3) | – |" in files["leaderboard.md"]


@pytest.mark.slow
def test_a_server_serves_the_site_and_nothing_else_is_requested(
    tmp_path: Path, example: Ranking, chromium: Any, violations: Callable[[Any], list[str]]
) -> None:
    """Names with markup, spaces and signs of URLs lead to their pages, from the start page and
    back."""
    hostile = "a #1?%20&<b>x</b>/2026-11-01"
    first = example.standings[0]
    named = replace(first.entries[0], model="<img src=x onerror='window.hurt=1'>")
    turned = replace(example, standings=(replace(first, entries=(named, *first.entries[1:])),))
    write_rankings(tmp_path / "rankings", {"chat": example, hostile: turned})
    command = ["leaderboard", str(tmp_path / "rankings"), "-o", str(tmp_path / "site")]
    assert CliRunner().invoke(podium, command).exit_code == 0
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}/"
    errors: list[str] = []
    requests: list[str] = []
    for size, scheme in (((1280, 900), "light"), ((390, 844), "dark")):
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
        )
        page = context.new_page()
        page.on(
            "console",
            lambda stated: (
                errors.append(stated.text) if stated.type in ("error", "warning") else None
            ),
        )
        page.on(
            "request",
            lambda asked: (
                None if asked.url.startswith((here, "data:")) else requests.append(asked.url)
            ),
        )
        page.goto(here)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator("#rankings tbody tr").count() == 2
        table = page.locator("#rankings .wide")
        assert size[0] < 1280 or table.evaluate("table => table.scrollWidth <= table.clientWidth")
        page.get_by_role("button", name="models").click()
        page.get_by_role("link", name="a #1").click()
        page.wait_for_selector("#ranking .chart svg")
        assert "window.hurt" in page.locator("#ranking table").inner_text()
        page.get_by_role("link", name="All rankings").click()
        page.wait_for_selector("#rankings")
        for kind in ("JSON", "Markdown"):
            with page.expect_download() as saved:
                page.locator("#answers").get_by_role("link", name=kind).last.click()
            assert saved.value.path().stat().st_size > 500
        assert page.evaluate("window.hurt") is None
        context.close()
    server.shutdown()
    assert (errors, requests) == ([], [])


def test_the_json_of_a_ranking_keeps_what_a_site_needs(tmp_path: Path, example: Ranking) -> None:
    folder = write_rankings(tmp_path, {"chat": example})
    found: Standings = rankings_in(folder)[0]["chat"].standings[0]
    assert [entry.rank_low for entry in found.entries] == [
        entry.rank_low for entry in example.standings[0].entries
    ]
    assert json.loads(example.to_json())["rankings"][0]["answer"] == list(found.answer)
