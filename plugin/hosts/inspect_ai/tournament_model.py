"""The model that a tournament's log names: a log names one model under test, and a tournament tests many."""

from typing import Any

from inspect_ai.model import ModelAPI, ModelOutput

from podium.errors import UsageError

PROVIDER = "OpenAI-API"
"""The converter of Every Eval Ever (0.3) accepts known providers only, in any case, and takes what follows this one for
developer and model. Inspect's `openai-api` has another case, and is another provider."""
MODEL = f"{PROVIDER}/podium/tournament"


class TournamentModel(ModelAPI):
    """A model that is never asked; the models under test are in the log's metadata, the judges in its roles."""

    async def generate(self, *_: Any, **__: Any) -> ModelOutput:
        """Raise UsageError."""
        raise UsageError(f"{MODEL} stands for the models of a tournament and answers nothing: name another model")
