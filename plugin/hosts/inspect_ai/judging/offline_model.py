"""The provider `podium` of models for Inspect; importing this file registers it."""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="podium")
def offline() -> type[ModelAPI]:
    """Return the model API of `podium/offline`, a rule-based judge without key and network."""
    from podium.hosts.inspect_ai.judging.offline_api import OfflineAPI

    return OfflineAPI
