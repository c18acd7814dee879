"""Pages in a real browser: nothing is asked of the network, tables sort, battles open, data are
saved, all can read."""

import csv
import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lm_eval_output import sample, write_run

from podium import audit, rank, read_battles
from podium.rankers.calibration.calibration_run import calibrate
from podium.show.page.material import PageContent, add_battles_to_page
from podium.show.page.report_page import report_page
from podium.show.page.sources import collect_texts

ROOT = Path(__file__).parents[3]
RECORD = ROOT.parent / "shared" / "data" / "roundrobin_qlora_oa_gpt4.parquet"
PHONE = (390, 844)
pytestmark = pytest.mark.slow


def made_page(
    folder: Path,
    *sources: str,
    responses: tuple[str, ...] = (),
    rankers: str = "bradley-terry",
    **how: Any,
) -> Path:
    """Write the report of some sources; return its path."""
    apart, battles = read_battles(*sources, merge=False, **how), read_battles(*sources, **how)
    material = PageContent(rank(battles, rankers), command="podium report")
    material = add_battles_to_page(
        material,
        battles,
        apart,
        collect_texts(apart, sources, responses),
        families={},
        level=0.95,
        seed=0,
    )
    material = replace(material, audit=audit(battles, rankers, judgments=apart))
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
    assert "amber shown first" in page.locator("#list details").inner_text()
    rows = list(csv.DictReader(io.StringIO(saved(page, page.locator("#beats figure button")))))
    assert len(rows) == 30
    assert {row["model"] for row in rows} == {"amber", "birch", "cedar", "dune", "ember", "fjord"}
    assert (seen.errors, seen.requests) == ([], [])


def test_a_click_on_the_heat_map_opens_the_battles_of_the_pair(
    example: Path, open_page: Callable[..., Any]
) -> None:
    page = open_page(example).page
    page.locator("#beats .chart svg .mark-rect path").nth(1).click(force=True)
    chosen = page.input_value("#model"), page.input_value("#other")
    assert len({*chosen}) == 2
    assert "" not in chosen
    assert "40 battles match" in page.locator("#matches").inner_text()


def test_printed_page_names_its_columns_and_the_opponent_of_the_win_rates(
    example: Path, open_page: Callable[..., Any]
) -> None:
    """Heads of tables are buttons on the screen, and no decoration; the form that searches battles
    is."""
    page = open_page(example).page
    page.emulate_media(media="print")
    for name in ("Elo", "interval"):
        assert page.locator("#ranking thead").get_by_text(name, exact=True).first.is_visible()
    assert page.locator("#anchor").is_visible()
    assert not page.locator("#search").is_visible()
    assert not page.locator("figcaption button").first.is_visible()


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
    page.fill("#search", "turned")
    page.locator("#list summary").first.click()
    page.locator("#list h3").first.wait_for()
    written = page.evaluate(
        "[...document.querySelectorAll('#list .note, #list h3')].map((part) => part.textContent)"
    )
    named = [line for line in written if "turned" in line]
    assert named
    assert all(
        "\u2068emoji" in line and "turned\u2069" in line and "\u202e" not in line for line in named
    )
    assert page.evaluate("window.hurt") is None
    assert (seen.errors, seen.requests, violations(page)) == ([], [], [])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_calibration_is_shown_over_humans_ratings(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    battles = read_battles(str(ROOT / "examples" / "soft_elo" / "labelled.csv"))
    material = PageContent(rank(battles), calibration=calibrate(battles))
    path = tmp_path / "report.html"
    path.write_text(report_page(material), encoding="utf-8")
    seen = open_page(path)
    assert seen.page.locator("#human svg").count() == 2
    assert (seen.errors, seen.requests) == ([], [])


def test_the_round_robin_on_record_is_shown_with_what_is_not_listed(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    if not RECORD.exists():
        pytest.skip("the recorded judgments are not beside this checkout")
    columns = {"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"}
    how = {"columns": columns, "credit_map": {"1": 1, "0": 0.5, "-1": 0}, "shown": "a"}
    seen = open_page(made_page(tmp_path, str(RECORD), **how))
    page = seen.page
    assert (
        "5,000 of 20,013 battles are listed; 15,013 are not shown"
        in page.locator("#battles").inner_text()
    )
    page.locator("#list summary").first.click()
    assert "the two orders disagree" in page.locator("#list summary").first.inner_text()
    assert (seen.errors, seen.requests) == ([], [])


def test_an_inspect_tournament_is_shown_with_both_responses_and_the_judges_words(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    pytest.importorskip("inspect_ai")
    responses = f"responses={ROOT / 'examples' / 'tournament'}"
    play = [
        "inspect",
        "eval",
        "podium/ring",
        "-T",
        responses,
        "--model-role",
        "judge=podium/offline",
    ]
    command = [
        sys.executable,
        "-m",
        "podium",
        *play,
        "--log-dir",
        str(tmp_path / "logs"),
        "--display",
        "none",
    ]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    seen = open_page(made_page(tmp_path, str(tmp_path / "logs")))
    page = seen.page
    page.fill("#search", "Snow chains")
    page.locator("#list summary").first.click()
    shown = page.locator("#list details").first.inner_text()
    assert (
        "A warm winter coat" in shown,
        "the judge's words" in shown,
        "instruction" in shown,
    ) == (True, True, True)
    assert page.locator("#list .sides .text").count() == 2
    assert (seen.errors, seen.requests) == ([], [])


def test_the_pictures_of_the_docs_say_what_a_report_and_the_viewer_say_today(
    tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.syspath_prepend(ROOT / "docs")
    script = import_module("make_pictures")
    pictures = list(script.pictures_of(chromium, tmp_path))
    assert sorted(name for name, *_ in pictures) == sorted(
        path.name for path in (ROOT / "docs").glob("*.png")
    )
    for name, _, words in pictures:
        reported = script.words_in((ROOT / "docs" / name).read_bytes())
        assert words == reported, f"{name}: python docs/make_pictures.py"


def test_an_lm_eval_folder_is_shown_with_its_generated_texts(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    for model, right in (("amber", 0.8), ("birch", 0.5), ("cedar", 0.2)):
        rows = [
            sample(
                f"q{k}",
                {"exact_match": float((k * 7) % 10 < 10 * right)},
                place=k,
                resps=[[f"{model} says {k}"]],
            )
            for k in range(40)
        ]
        write_run(tmp_path / "runs", model, {"sums": rows})
    seen = open_page(made_page(tmp_path, str(tmp_path / "runs")))
    page = seen.page
    page.fill("#search", "cedar says 7")
    assert page.locator("#list details").count() >= 2
    page.locator("#list summary").first.click()
    assert "cedar says 7" in page.locator("#list .sides").inner_text()
    assert (seen.errors, seen.requests) == ([], [])


def test_two_hundred_models_and_a_million_battles_fit_and_open(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    """Sums of a million battles, and the five thousand that are listed; the rest of them is never
    in the page."""
    rng, size, total = np.random.default_rng(0), 200, 1_000_000
    names = [f"lab-{k % 7}/model-{k:03d}-instruct" for k in range(size)]
    strength = rng.normal(0, 1, size)
    a = rng.integers(0, size, total)
    b = (a + rng.integers(1, size, total)) % size
    won = rng.random(total) < 1 / (1 + np.exp(strength[b] - strength[a]))
    columns = {"item": rng.integers(0, 5000, total), "a": a, "b": b, "credit": won.astype(float)}
    table = tmp_path / "million.parquet"
    named = {"item": [f"item-{k}" for k in columns["item"]], "credit": columns["credit"]}
    frame = pd.DataFrame({**named, "model_a": np.array(names)[a], "model_b": np.array(names)[b]})
    frame.to_parquet(table)
    battles = read_battles(str(table))
    path = tmp_path / "report.html"
    material = add_battles_to_page(
        PageContent(rank(battles)), battles, battles, None, families={}, level=0.95, seed=0
    )
    path.write_text(report_page(material), encoding="utf-8")
    assert path.stat().st_size < 5_000_000
    seen = open_page(path)
    # The quickest of three: other tests run beside.
    opened = []
    for _ in range(3):
        seen.page.reload()
        opened.append(
            seen.page.evaluate(
                "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
            )
        )
    assert min(opened) < 3000
    assert "995,000 are not shown" in seen.page.locator("#battles").inner_text()
    assert (seen.errors, seen.requests) == ([], [])
