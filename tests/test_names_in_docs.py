"""Names of constants and private functions that docstrings and CONTRIBUTING.md mention exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("plugin", "scorers", "rankers")
CONSTANT = re.compile(r"`(?:\w+\.)*(_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)`")
"""Matches a name in upper case between backticks, also behind a module or a class."""
PRIVATE_FUNCTION = re.compile(r"`(?:\w+\.)*(_[a-z]\w{3,})`")
"""Matches the name of a private function; shorter ones are ends of column names, such as `_id`."""
WORDS_OF_USERS = frozenset(
    "A B C ARGUMENT BUT COLUMN MODEL PATH WAY PODIUM_RANKER PODIUM_RANKER_SET".split()  # noqa: SIM905
)
"""Words in upper case that stand for what users or judges write, and are no constants."""


@cache
def modules() -> tuple[tuple[Path, ast.Module], ...]:
    found = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if not any(each.is_symlink() for each in (path, *path.parents)):
                found.append((path, ast.parse(path.read_text(encoding="utf-8"))))
    return tuple(found)


def docstrings_in(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstrings, also those below constants."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


def names_in(tree: ast.Module) -> Iterator[str]:
    """Yield the names that the code has, and its texts, such as names of environment variables."""
    docstrings = {id(each) for each in docstrings_in(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield str(node.value)


@cache
def names_of_code() -> frozenset[str]:
    return frozenset(name for _, tree in modules() for name in names_in(tree)) | WORDS_OF_USERS


def texts_about_code() -> Iterator[tuple[str, str]]:
    """Yield each docstring and CONTRIBUTING.md, after its place."""
    for path, tree in modules():
        for docstring in docstrings_in(tree):
            yield f"{path.relative_to(ROOT)}:{docstring.lineno}", str(docstring.value)
    yield "CONTRIBUTING.md", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "pattern", [CONSTANT, PRIVATE_FUNCTION], ids=["constants", "private functions"]
)
def test_a_name_between_backticks_is_one_of_the_code(pattern) -> None:
    mentioned = [
        (place, name) for place, text in texts_about_code() for name in pattern.findall(text)
    ]
    assert len(mentioned) > 50
    assert [each for each in mentioned if each[1] not in names_of_code()] == []
