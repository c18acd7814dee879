"""What every `inspect` command imports when podium is installed."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys, time
import inspect_ai, inspect_ai.dataset, inspect_ai.hooks, inspect_ai.log, inspect_ai.model
import inspect_ai.scorer, inspect_ai.solver, inspect_ai.tool, inspect_ai.util
before, start = set(sys.modules), time.process_time()
import podium.hosts.inspect_ai.registry as registry
seconds = time.process_time() - start
added = sorted(set(sys.modules) - before)
print(json.dumps({"added": added, "seconds": seconds, "names": registry.__all__}))
"""


@pytest.fixture(scope="module")
def imported():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["numpy", "pandas", "scipy", "pyarrow"])
def test_the_registry_imports_no_library_of_numbers(imported, library):
    assert not [name for name in imported["added"] if name.split(".")[0] == library]


@pytest.mark.slow
def test_the_registry_imports_only_podium_and_a_few_small_ones(imported):
    roots = {name.split(".")[0] for name in imported["added"]}
    assert "podium" in roots
    assert not roots & {"click", "rich", "jinja2", "lm_eval"}
    assert len([name for name in imported["added"] if name.startswith("podium")]) < 60


@pytest.mark.slow
def test_the_registry_loads_no_reader_of_replies(imported):
    """They compile patterns for longer than all else takes."""
    readers = {
        "comparisons",
        "direct",
        "levels",
        "offline",
        "reply_reader",
        "rubric",
        "verdict_statements",
    }
    assert not readers & {name.removeprefix("podium.scorers.") for name in imported["added"]}


@pytest.mark.slow
def test_the_registry_takes_little_time(imported):
    # 0.1 s measured on 2 busy cores; inspect-ai itself takes 2.6.
    assert imported["seconds"] < 0.6


@pytest.mark.slow
def test_everything_that_the_registry_names_can_be_found_by_inspect(imported):
    code = (
        "from inspect_ai._util.entrypoints import ensure_entry_points\n"
        "from inspect_ai._util.registry import registry_lookup\n"
        "ensure_entry_points()\n"
        "kinds = {'task': 'anchor chain round_robin swim tournament', 'scorer': 'verdict "
        "pairwise',\n"
        "         'solver': 'judge', 'metric': 'judged bradley_terry soft_elo win_rate', "
        "'hooks': 'podium_ranking'}\n"
        "named = [(kind, name) for kind, names in kinds.items() for name in names.split()]\n"
        "print([(kind, name) for kind, name in named if not registry_lookup(kind, 'podium/' + "
        "name)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout.strip() == "[]"
