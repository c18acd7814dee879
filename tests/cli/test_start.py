"""What a small table does not need is not imported."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HEAVY = ("scipy", "pandas", "pyarrow")
IS_LAZY = int(np.__version__.partition(".")[0]) >= 2
"""Whether NumPy leaves out `numpy.ma` when it is imported."""
UNUSED = (
    *(("numpy.ma",) if IS_LAZY else ()),
    *("podium.cli.plan", "podium.rankers.calibration.calibration"),
)
"""Modules without which a small ranking or comparison starts a tenth sooner."""
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


def write_table(path: Path, items: int) -> None:
    """Write 1,200 verdicts between six models without ties, as CSV or JSON lines."""
    rng = np.random.default_rng(1)
    lines = ["item,model_a,model_b,credit"]
    for _ in range(1_200):
        a, b = rng.choice(6, 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp((a - b) / 3))
        lines.append(f"q{rng.integers(items)},m{a},m{b},{int(won)}")
    if path.suffix == ".jsonl":
        names = lines[0].split(",")
        rows = (dict(zip(names, line.split(","), strict=True)) for line in lines[1:])
        lines = [json.dumps(row | {"credit": int(row["credit"])}) for row in rows]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@pytest.mark.parametrize("items", [100, 60])  # with 100, most pairs of an item have one verdict
@pytest.mark.parametrize("command", ["rank", "diagnose", "compare m0 m1"])
def test_a_small_table_needs_neither_scipy_nor_pandas_nor_arrow(
    command: str, items: int, suffix: str, tmp_path: Path
) -> None:
    table = tmp_path / f"verdicts{suffix}"
    write_table(table, items)
    program = PROGRAM.format(words=[*command.split(), str(table)], heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stderr.splitlines()[-1] == "imported:"
    is_comparison = command.startswith("compare")
    assert ("15 pairs" if is_comparison else "1,200 battles: 1,200 judged") in done.stdout


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("command", ["rank", "compare m0 m1"])
def test_a_command_leaves_out_what_only_other_commands_need(command: str, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    write_table(table, items=100)
    program = PROGRAM.format(words=[*command.split(), str(table)], heavy=UNUSED)
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stderr.splitlines()[-1] == "imported:"
