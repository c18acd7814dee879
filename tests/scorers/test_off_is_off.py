"""`-T logprobs=off`, which Inspect reads as YAML does: as false."""

from podium.plugins.catalogue import judging_settings


def test_off_as_a_yaml_boolean_is_accepted():
    assert judging_settings(logprobs=False).logprobs == "off"
