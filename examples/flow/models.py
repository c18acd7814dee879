"""First spec: each model answers the instructions. `MODELS=provider/a,provider/b flow run
models.py`"""

import os

from inspect_flow import FlowSpec, FlowTask

MODELS = os.environ.get("MODELS", "openai/gpt-5-mini,anthropic/claude-haiku-4-5").split(",")

FlowSpec(
    log_dir="answers",
    tasks=[FlowTask(name="task.py@instructions", model=model) for model in MODELS],
)
