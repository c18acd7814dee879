"""The estimate of input tokens counts the fences, whose codes take more tokens than words of their
length."""

import re

import pytest

from podium.hosts.inspect_ai.tasks import round_robin


@pytest.mark.slow
def test_input_tokens_count_the_fences(play, write_responses, capfd):
    files = write_responses({"ash": 1.0, "elm": 2.0}, items=1)
    play(round_robin(responses=files, replies="text"), "scripted/judge")
    printed = re.search(r"2 calls per judge, about ([\d,]+) input", "".join(capfd.readouterr()))
    # 320 by SmolLM2's tokenizer; 287 by four characters a token.
    assert int(printed[1].replace(",", "")) / 2 == pytest.approx(320, rel=0.05)
