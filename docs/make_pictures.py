"""Make the pictures of the documentation: a report and Inspect's viewer in headless Chromium.

Run from the repository's root: `python docs/make_pictures.py`. It needs playwright and Debian's
chromium, and runs

    inspect eval podium/round_robin -T responses=examples/tournament \\
        --model-role judge=podium/offline
    podium report logs/ -o report.html
    inspect view bundle --log-dir logs/ --output-dir view

A PNG keeps the text that it shows as its description. A test compares this text with a new report,
because the pixels also depend on the fonts of the machine.
"""

import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
HEAD = b"Description\0\0\0\0\0"
"""Of a PNG's chunk `iTXt`: keyword, not compressed, no language, no translated keyword."""
END = 12
"""Bytes of the chunk that ends a PNG."""


def main() -> None:
    """Write all pictures."""
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, png, words in pictures_of(browser, Path(folder)):
            (HERE / name).write_bytes(with_words(png, words))
        browser.close()


def pictures_of(browser: Any, folder: Path) -> Iterator[tuple[str, bytes, str]]:
    """Yield name, picture and words of a report and of the viewer; what they show is made in the
    folder."""
    responses = f"responses={HERE.parent / 'examples' / 'tournament'}"
    play = ["eval", "podium/round_robin", "-T", responses, "--model-role", "judge=podium/offline"]
    _podium(folder, "inspect", *play, "--log-dir", "logs", "--display", "none")
    _podium(folder, "report", "logs", "-o", "report.html")
    _podium(folder, "inspect", "view", "bundle", "--log-dir", "logs", "--output-dir", "view")
    yield from report_pictures(browser, folder / "report.html")
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder / "view"))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield from viewer_pictures(browser, f"http://127.0.0.1:{server.server_port}/")
    server.shutdown()


def _podium(folder: Path, *words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "podium", *words], check=True, capture_output=True, cwd=folder
    )


def viewer_pictures(browser: Any, address: str) -> Iterator[tuple[str, bytes, str]]:
    """Yield the table of models, and a battle with both answers and the judge's words."""
    page = browser.new_context(viewport={"width": 1000, "height": 720}).new_page()
    page.goto(address)
    page.get_by_text("All scoring").first.click()
    table = page.get_by_role("dialog")
    rows = [line for line in table.inner_text().splitlines() if "\t" in line]
    yield "view.png", page.screenshot(), "\n".join(rows)
    page.keyboard.press("Escape")
    page.get_by_text("acrostic::alder::sorrel").first.click()
    page.get_by_text("Scoring", exact=True).first.click()
    page.wait_for_selector("text=alder against sorrel")
    words = page.locator("body").inner_text()
    yield (
        "view_battle.png",
        page.screenshot(),
        words[words.index("alder against") :].partition("METADATA")[0],
    )
    page.context.close()


def report_pictures(browser: Any, report: Path) -> Iterator[tuple[str, bytes, str]]:
    """Yield the first screen, in light; and a battle, opened, in dark."""
    for name, height, scheme in (("report.png", 1180, "light"), ("report_battle.png", 900, "dark")):
        context = browser.new_context(
            viewport={"width": 900, "height": height}, color_scheme=scheme
        )
        page = context.new_page()
        page.goto(report.as_uri())
        page.wait_for_selector("#ranking .chart svg")
        shown = page.locator("header, #ranking")
        if name == "report_battle.png":
            page.locator("#list summary").first.click()
            page.evaluate("document.getElementById('battles').scrollIntoView()")
            shown = page.locator("#list details").first
        yield name, page.screenshot(), "\n".join(shown.all_inner_texts())
        context.close()


def with_words(png: bytes, words: str) -> bytes:
    """Return a PNG with a description."""
    body = b"iTXt" + HEAD + words.encode()
    chunk = (len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    return png[:-END] + chunk + png[-END:]


def words_in(png: bytes) -> str:
    """Return the description of a PNG that `with_words` made.

    Raises:
        ValueError: it has none.
    """
    start = png.index(b"iTXt" + HEAD)
    length = int.from_bytes(png[start - 4 : start], "big")
    return png[start + 4 + len(HEAD) : start + 4 + length].decode()


if __name__ == "__main__":
    main()
