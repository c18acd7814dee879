"""Words that a judge struck through, or put into a comment, are not its own."""

import pytest

from podium.scorers.reply_structure import MASK, own_words

STRUCK = [
    "~~A~~ foo <!-- x --> bar",
    "<!-- x --> foo ~~A~~ bar",
    "<!-- ~~A~~ x --> bar",
    "~~A <!-- x~~ y --> bar",
    "foo ~~A~~ <s>x</s> <!-- y --> ~~A~~ bar",
    "~~A~~ bar <!-- never closed",
]


@pytest.mark.parametrize("text", STRUCK)
def test_the_view_is_as_long_as_the_text_and_lacks_what_was_struck(text: str) -> None:
    view = own_words(text)
    assert view is not None
    assert len(view) == len(text)
    assert "A" not in view
    assert "x" not in view
    assert view.count("bar") == 1
    assert MASK in view
