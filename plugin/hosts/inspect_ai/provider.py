"""The model `podium/offline`: the embedded judge, without a key and without a network."""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="podium")
def offline() -> type[ModelAPI]:
    """Return the API behind `podium/offline`."""
    from podium.hosts.inspect_ai.offline_api import OfflineAPI

    return OfflineAPI
