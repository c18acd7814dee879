"""What a small table does not need is not imported."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HEAVY = ("scipy", "pandas", "pyarrow")
PROGRAM = """
import sys
from podium.cli.main import main
sys.argv = ["podium", *{words}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("imported:", *(name for name in {heavy} if name in sys.modules), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,200 verdicts between six models on 60 items, without ties."""
    rng = np.random.default_rng(1)
    lines = ["item,model_a,model_b,credit"]
    for _ in range(1_200):
        a, b = rng.choice(6, 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp((a - b) / 3))
        lines.append(f"q{rng.integers(60)},m{a},m{b},{int(won)}")
    path = tmp_path_factory.mktemp("start") / "verdicts.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("command", ["rank", "diagnose"])
def test_a_small_table_needs_neither_scipy_nor_pandas_nor_arrow(command: str, table: Path) -> None:
    program = PROGRAM.format(words=[command, str(table)], heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stderr.splitlines()[-1] == "imported:"
    assert "1,200 battles: 1,200 judged" in done.stdout
