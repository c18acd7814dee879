"""Private parts of Inspect: all in one file, and the test says by name which of them a version of
Inspect lacks."""

import ast
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

import podium.hosts.inspect_ai

ROOM = Path(podium.hosts.inspect_ai.__file__).parent


def private_parts(path):
    """Return the private modules of Inspect that a file names, each with the name that it takes
    from there."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("inspect_ai"):
            parts |= {
                (node.module, alias.name)
                for alias in node.names
                if "._" in f"{node.module}.{alias.name}"
            }
        if isinstance(node, ast.Import):
            parts |= {
                (alias.name, "") for alias in node.names if alias.name.startswith("inspect_ai._")
            }
        if isinstance(node, ast.Constant) and str(node.value).startswith("inspect_ai._"):
            parts |= {(node.value, "main"), (node.value, "inspect")}
    return parts


@pytest.mark.parametrize(
    ("module", "name"), sorted(private_parts(ROOM / "inspect_ai_compatibility.py"))
)
def test_each_private_part_of_inspect_is_where_podium_looks_for_it(module, name):
    has_name = hasattr(import_module(module), name)
    assert has_name, (
        f"inspect-ai {version('inspect-ai')} has no {name} in {module}: adapt "
        "inspect_ai_compatibility.py"
    )


@pytest.mark.parametrize(
    "path",
    sorted(
        {*ROOM.rglob("*.py"), ROOM.parent / "on_start.py"} - {ROOM / "inspect_ai_compatibility.py"}
    ),
    ids=lambda path: path.name,
)
def test_no_other_file_imports_a_private_part_of_inspect(path):
    assert not private_parts(path), (
        f"move these to inspect_ai_compatibility.py: {private_parts(path)}"
    )
