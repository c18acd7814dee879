"""The models of roles with numbers, such as `judge2`."""

import pytest
from inspect_ai.model import get_model

from podium.hosts.inspect_ai.judging import judge_models


def test_models_of_roles_are_in_the_order_of_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["judge10", "judge2", "judge", "judge1", "judges", "judge2b", "other3"]
    roles = {name: [get_model(f"mockllm/{name}")] for name in names}
    monkeypatch.setattr(judge_models, "model_roles", lambda: roles)
    found = [model.name for model in judge_models.models_of_role("judge")]
    assert found == ["judge", "judge1", "judge2", "judge10"]
