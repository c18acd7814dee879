"""Pages in a real browser: nothing is asked of the network, tables sort, battles open, data are saved, all can read."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import PHONE

from podium import rank, read_battles
from podium.calibration_run import calibrate
from podium.page.material import Material, with_battles
from podium.page.report_page import report_page
from podium.page.texts import texts_of

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def made_page(
    folder: Path, *sources: str, responses: tuple[str, ...] = (), rankers: str = "bradley-terry", **how: Any
) -> Path:
    """Write the report of some sources; return its path."""
    apart, battles = read_battles(*sources, merge=False, **how), read_battles(*sources, **how)
    material = Material(rank(battles, rankers), command="podium report")
    material = with_battles(material, battles, apart, texts_of(apart, sources, responses), level=0.95, seed=0)
    path = folder / "report.html"
    path.write_text(report_page(material), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of README's example."""
    battles = str(ROOT / "examples" / "simulated" / "battles.csv")
    return made_page(tmp_path_factory.mktemp("example"), battles, rankers="bradley-terry,win-rate")


def saved(page: Any, button: Any) -> str:
    """Return what a click on a button saves."""
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_the_readme_example_sorts_searches_opens_and_saves_without_a_request(
    example: Path, open_page: Callable[..., Any]
) -> None:
    seen = open_page(example)
    page = seen.page
    first = page.locator("#ranking table").first
    names = first.locator("tbody th")
    assert names.first.inner_text() == "amber"
    first.get_by_role("button", name="Elo").click()
    first.get_by_role("button", name="Elo").click()
    assert names.first.inner_text() == "fjord"
    page.fill("#search", "item-07")
    page.select_option("#model", "amber")
    page.select_option("#other", "birch")
    assert page.locator("#list details").count() == 1
    page.locator("#list summary").click()
    assert "amber first" in page.locator("#list details").inner_text()
    rows = list(csv.DictReader(io.StringIO(saved(page, page.locator("#beats figure button")))))
    assert len(rows) == 30
    assert {row["model"] for row in rows} == {"amber", "birch", "cedar", "dune", "ember", "fjord"}
    assert (seen.errors, seen.requests) == ([], [])


def test_a_click_on_the_heat_map_opens_the_battles_of_the_pair(example: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(example).page
    page.locator("#beats .chart svg .mark-rect path").nth(1).click(force=True)
    chosen = page.input_value("#model"), page.input_value("#other")
    assert len({*chosen}) == 2
    assert "" not in chosen
    assert "40 battles match" in page.locator("#matches").inner_text()


@pytest.mark.parametrize(("size", "scheme"), [((1280, 900), "light"), (PHONE, "dark")])
def test_axe_finds_no_violation_and_nothing_is_wider_than_the_window(
    example: Path,
    open_page: Callable[..., Any],
    violations: Callable[[Any], list[str]],
    size: tuple[int, int],
    scheme: str,
) -> None:
    page = open_page(example, size, scheme).page
    page.locator("#list summary").first.click()
    page.locator("#judge summary").first.click()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="print")
    assert page.locator("#battles").is_hidden()


HOSTILE = [
    '<img src=x onerror="window.hurt=1">',
    "</script><script>window.hurt=1</script>",
    "quote\"s and 'apostrophes' & {{ 7 * 7 }}",
    "emoji 🦜👩‍👩‍👧 and ‮turned‬",
    "long " + "x" * 195,
    "=HYPERLINK(1)",
]


def test_hostile_names_and_responses_inject_nothing_and_break_nothing(
    tmp_path: Path, open_page: Callable[..., Any], violations: Callable[[Any], list[str]]
) -> None:
    rows = []
    for item in range(6):
        for k, a in enumerate(HOSTILE):
            for b in HOSTILE[k + 1 :]:
                won = (item + k) % 3 != 0
                rows.append(
                    {
                        "item": f"<b>{item}</b></script>",
                        "model_a": a,
                        "model_b": b,
                        "credit": float(won),
                        "order": "ab",
                        "instruction": f"</script><script>window.hurt=1</script> {item} &lt;",
                        "response_a": a + "<svg onload=window.hurt=1>" + "word " * 40_000,
                        "response_b": f"<!--<script>{b}",
                    }
                )
    table = tmp_path / "hostile.csv"
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    seen = open_page(made_page(tmp_path, str(table)), PHONE)
    page = seen.page
    for k in range(3):
        page.locator("#list summary").nth(k).click()
    texts = page.locator("#list .text").all_inner_texts()
    assert any("</script><script>window.hurt=1</script>" in text for text in texts)
    assert any("more characters]" in text for text in texts)
    assert page.evaluate("window.hurt") is None
    assert (seen.errors, seen.requests, violations(page)) == ([], [], [])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_calibration_is_shown_over_peoples_ratings(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    battles = read_battles(str(ROOT / "examples" / "soft_elo" / "labelled.csv"))
    material = Material(rank(battles), calibration=calibrate(battles))
    path = tmp_path / "report.html"
    path.write_text(report_page(material), encoding="utf-8")
    seen = open_page(path)
    assert seen.page.locator("#people svg").count() == 2
    assert (seen.errors, seen.requests) == ([], [])
