"""`-T logprobs=off`, which Inspect reads as YAML does: as false."""

from podium.plugins.catalogue import judging_settings


def test_the_word_off_read_as_yaml_reads_it_is_off():
    assert judging_settings(logprobs=False).logprobs == "off"
