"""Second spec: a tournament over the answers, ranked when it ends. `JUDGE=provider/model flow run
tournament.py`"""

import os
from pathlib import Path

from inspect_flow import FlowSpec, FlowTask

ANSWERS = Path(__file__).parent / "answers"
JUDGE = os.environ.get("JUDGE", "openai/gpt-5")

FlowSpec(
    log_dir="verdicts",
    tasks=[
        FlowTask(
            name="podium/round_robin",
            args={"responses": str(ANSWERS)},
            model_roles={"judge": JUDGE},
        )
    ],
)
