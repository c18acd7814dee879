"""The specs of examples/flow run in an environment of their own: inspect-flow bounds packages that
podium does not."""

import json
import os
import subprocess
import sys

import pytest
from places import copy_repository

ECHO = '''from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi


@modelapi(name="echo")
class Echo(ModelAPI):
    """Answers with the beginning of the question, the longer the longer the model's name is."""

    async def generate(self, input, tools, tool_choice, config):
        beginning = input[-1].text[: 30 * len(self.model_name)]
        output = ModelOutput.from_content(self.model_name, beginning)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output
'''


@pytest.fixture
def place(tmp_path):
    """Return a folder with the examples, a copy of the repository and an installed model API
    `echo`."""
    copy_repository(tmp_path / "podium")
    information = tmp_path / "site" / "echo-1.0.dist-info"
    information.mkdir(parents=True)
    (tmp_path / "site" / "echo.py").write_text(ECHO)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: echo\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[inspect_ai]\necho = echo\n")
    return tmp_path


@pytest.mark.slow
def test_the_specs_run_models_and_then_a_tournament(place):
    subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
    packages = ("inspect-flow==0.14.*", "uv", str(place / "podium"))
    install = [
        place / "venv" / "bin" / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "--retries",
        "0",
        *packages,
    ]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"inspect-flow cannot be installed: {done.stderr[-300:]}")
    folder = place / "podium" / "examples" / "flow"
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("INSPECT_", "PODIUM_"))
        },
        "PATH": f"{place / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(place / "site"),
        "MODELS": "echo/a,echo/abc",
        "JUDGE": "podium/offline",
    }
    for spec in ("models.py", "tournament.py"):
        command = ["flow", "run", spec, "--store", "none"]
        run = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    [ranking] = (folder / "verdicts").glob("*.ranking")
    [standings] = json.loads(ranking.read_text())["rankings"]
    assert {row["model"] for row in standings["models"]} == {"echo/a", "echo/abc"}
    assert standings["counts"]["battles"] == 14
