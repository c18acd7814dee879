"""A real browser for pages: Debian's chromium, driven by Playwright; skipped where there is
none."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
WIDE = (1280, 900)


@dataclass
class Opened:
    """A page in the browser, with its console messages and network requests."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start the browser; not for longer, as Playwright's event loop stands in the way of
    Inspect's."""
    sync_api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip("no chromium (apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Opened]]:
    """Return what opens a file, at a size and in a colour scheme; it is complete when its charts
    are drawn."""
    contexts = []

    def opened(path: Path, size: tuple[int, int] = WIDE, scheme: str = "light") -> Opened:
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            accept_downloads=True,
        )
        contexts.append(context)
        seen = Opened(context.new_page())
        seen.page.on(
            "console",
            lambda stated: (
                seen.errors.append(stated.text) if stated.type in ("error", "warning") else None
            ),
        )
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        local = ("file:", "data:", "blob:")
        seen.page.on(
            "request",
            lambda asked: None if asked.url.startswith(local) else seen.requests.append(asked.url),
        )
        seen.page.goto(path.as_uri())
        charts = (
            "[...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('svg, "
            "canvas'))"
        )
        until = time.monotonic() + 60
        while not seen.page.evaluate(charts) and time.monotonic() < until:
            seen.page.wait_for_timeout(50)
        assert seen.page.evaluate(charts)
        return seen

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def violations() -> Callable[[Any], list[str]]:
    """Return what lists the accessibility rules (axe-core) that a page breaks, with the first
    element of each."""
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()

    def broken(page: Any) -> list[str]:
        found = axe.run(page)["violations"]
        return [f"{rule['id']}: {rule['nodes'][0]['html'][:200]}" for rule in found]

    return broken
