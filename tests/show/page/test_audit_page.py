"""The page of an audit in a browser: it fits narrow and wide windows, and is accessible."""

from pathlib import Path

import pytest

import podium
from podium.show.page.audit_page import audit_page

EXAMPLE = Path(__file__).parents[3] / "examples" / "simulated" / "battles.csv"


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 700, 1400])
def test_a_page_fits_the_window_and_breaks_no_rule(tmp_path, open_page, violations, width):
    path = tmp_path / "audit.html"
    path.write_text(audit_page(podium.audit(str(EXAMPLE)), "podium audit battles.csv"))
    seen = open_page(path, (width, 900))
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert not violations(seen.page)
