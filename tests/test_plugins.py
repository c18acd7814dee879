"""Plugins of other packages: found, shown with where they come from, and named when they are
broken."""

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import forked
import pytest

import podium
from podium import hookspecs
from podium.hookspecs import Scorer
from podium.plugins import catalogue

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "third_party_ranker"
BATTLES = ROOT / "examples" / "simulated" / "battles.csv"

HOOK = """
from podium import Format, Ranker, hookimpl

def ranker(battles, *, level, rng):
    return {returned}

@hookimpl
def {hook}():
    return {answer}
"""


def run(packages: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run podium where the packages of a folder are installed too."""
    return forked.run("podium", *words, environment=os.environ | {"PYTHONPATH": str(packages)})


def install(packages: Path, name: str, code: str) -> None:
    """Write a package with one module and one entry point, as an installer would leave it."""
    (packages / f"{name}.py").write_text(code, encoding="utf-8")
    about = packages / f"{name}-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text(f"[podium]\nmain = {name}\n", encoding="utf-8")


def install_without_metadata(packages: Path) -> None:
    """Write a package whose metadata are damaged: it has an entry point, and no name."""
    about = packages / "broken-1.dist-info"
    about.mkdir()
    (about / "entry_points.txt").write_text("[podium]\nmain = broken\n", encoding="utf-8")


def with_hook(
    *,
    hook: str = "podium_rankers",
    answer: str = "[Ranker('mine', ranker, 'mine')]",
    returned: str = "None",
) -> str:
    """Return the code of a plugin."""
    return HOOK.format(hook=hook, answer=answer, returned=returned)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example package for real, from a copy: a build writes into its folder."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(
        EXAMPLE,
        folder / "source",
        ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"),
    )
    alone = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        *alone,
        "--target",
        folder / "site",
        folder / "source",
    ]
    subprocess.run(command, check=True)
    return folder / "site"


@pytest.mark.slow
def test_the_example_ranker_is_listed_with_the_package_it_comes_from(site: Path) -> None:
    line = next(
        line for line in run(site, "list", "rankers").stdout.splitlines() if "copeland" in line
    )
    assert line.split("  ")[-1].strip() == "podium-copeland 1.0 (copeland = podium_copeland)"


@pytest.mark.slow
def test_the_example_format_is_listed(site: Path) -> None:
    assert "  duels " in run(site, "list", "formats").stdout


@pytest.fixture(scope="session")
def ranked(site: Path) -> dict[str, Any]:
    """Rank the example battles by the example ranker, with an option of its own."""
    words = ("--ranker", "copeland", "--set", "resamples=50", "--format", "json")
    return json.loads(run(site, "rank", BATTLES, *words).stdout)["rankings"][0]


@pytest.mark.slow
def test_the_example_ranker_ranks_the_example_battles(ranked: dict[str, Any]) -> None:
    scores = {row["model"]: row["score"] for row in ranked["models"]}
    assert scores == {"amber": 5, "birch": 4, "cedar": 3, "ember": 2, "dune": 1, "fjord": 0}


def test_an_option_of_the_example_ranker_is_read_as_the_type_of_its_default(
    ranked: dict[str, Any],
) -> None:
    assert ranked["interval"] == "item bootstrap, percentile, 50 resamples"


def test_a_table_of_the_example_format_is_recognised(site: Path, tmp_path: Path) -> None:
    (tmp_path / "duels.csv").write_text("winner,loser\na,b\na,c\nb,c\n", encoding="utf-8")
    answer = run(site, "rank", tmp_path / "duels.csv", "--ranker", "copeland", "--format", "csv")
    assert [line.split(",")[4] for line in answer.stdout.splitlines()[1:]] == ["a", "b", "c"]


def test_a_name_clash_is_an_error_that_names_both_plugins(tmp_path: Path) -> None:
    install(tmp_path, "first", with_hook())
    install(tmp_path, "second", with_hook())
    answer = run(tmp_path, "list")
    named = [name in answer.stderr for name in ("ranker 'mine'", "first 1.2", "second 1.2")]
    assert (answer.returncode, named) == (2, [True, True, True])


def test_a_clash_with_podiums_own_ranker_is_an_error(tmp_path: Path) -> None:
    install(tmp_path, "first", with_hook(answer="[Ranker('win-rate', ranker, 'mine')]"))
    assert "two plugins register the ranker 'win-rate': podium " in run(tmp_path, "list").stderr


def test_a_plugin_that_cannot_be_imported_is_an_error_that_names_it(tmp_path: Path) -> None:
    install(tmp_path, "broken", "import a_package_that_is_not_there")
    answer = run(tmp_path, "list")
    named = [name in answer.stderr for name in ("plugin broken 1.2", "a_package_that_is_not_there")]
    assert (answer.returncode, named) == (2, [True, True])


def test_a_package_without_metadata_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    install_without_metadata(tmp_path)
    answer = run(tmp_path, "list")
    assert answer.returncode == 2
    assert "cannot be loaded" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_two_spellings_of_a_name_are_one_package_and_the_first_counts(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, name in ((first, "my_plug"), (second, "my-plug")):
        folder.mkdir()
        install(folder, "my_plug", with_hook())
        about = folder / "my_plug-1.2.dist-info" / "METADATA"
        about.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    paths = f"{first}{os.pathsep}{second}"
    environment = os.environ | {"PYTHONPATH": paths}
    answer = forked.run("podium", "list", "rankers", environment=environment)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("mine") >= 1


def test_a_broken_plugin_gives_a_message_and_no_traceback(tmp_path: Path) -> None:
    install(tmp_path, "broken", "1 / 0")
    assert run(tmp_path, "list").stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("hook", "answer", "complaint"),
    [
        ("podium_rankers", "[ranker]", "podium_rankers() must return Ranker objects, got function"),
        (
            "podium_rankers",
            "[Format('f', (), ranker, '')]",
            "must return Ranker objects, got Format",
        ),
        ("podium_formats", "['duels']", "podium_formats() must return Format objects, got str"),
        ("podium_scorers", "[ranker]", "podium_scorers() must return Scorer objects, got function"),
        ("podium_rankers", "None", "podium_rankers() failed: TypeError"),
        ("podium_rankers", "1 / 0", "podium_rankers() failed: ZeroDivisionError"),
    ],
)
def test_a_hook_with_the_wrong_answer_is_an_error_that_names_plugin_and_hook(
    tmp_path: Path, hook: str, answer: str, complaint: str
) -> None:
    install(tmp_path, "wrong", with_hook(hook=hook, answer=answer))
    reported = run(tmp_path, "list")
    assert (
        reported.returncode,
        "plugin wrong 1.2" in reported.stderr,
        complaint in reported.stderr,
    ) == (2, True, True)


def test_an_unknown_hook_is_an_error_that_names_plugin_and_hook(tmp_path: Path) -> None:
    install(tmp_path, "typo", with_hook(hook="podium_ranker"))
    answer = run(tmp_path, "list")
    named = [name in answer.stderr for name in ("plugin typo 1.2", "'podium_ranker'")]
    assert (answer.returncode, named) == (2, [True, True])


def test_a_plugin_without_a_marked_hook_is_an_error(tmp_path: Path) -> None:
    install(tmp_path, "unmarked", "def podium_rankers():\n    return []")
    answer = run(tmp_path, "list")
    assert (
        answer.returncode,
        "plugin unmarked 1.2 (main = unmarked) adds nothing" in answer.stderr,
    ) == (2, True)


def test_a_ranker_that_returns_no_standings_is_an_error_that_names_it(tmp_path: Path) -> None:
    install(tmp_path, "wrong", with_hook(returned="[1, 2]"))
    answer = run(tmp_path, "rank", BATTLES, "--ranker", "mine")
    reported = "plugin wrong 1.2 (main = wrong): ranker 'mine' must return Standings, got list"
    assert (answer.returncode, reported in answer.stderr) == (2, True)


RANK, PLAY = ("rank", BATTLES, "--ranker", "mine"), ("replay", BATTLES, "--tournament", "mine")
TOURNAMENT = """
from podium import Tournament, hookimpl

class Rule:
    def next(self, field, played):
        {body}

    def size(self, field):
        return 1

@hookimpl
def podium_tournaments():
    return [Tournament('mine', Rule, 'mine')]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "words", "complaint"),
    [
        (
            with_hook(returned="{}['boom']"),
            ("rank", BATTLES, "--ranker", "mine"),
            "raised KeyError: 'boom' (wrong.py, l",
        ),
        (
            TOURNAMENT.format(body="return 1 / 0"),
            ("replay", BATTLES, "--tournament", "mine"),
            "raised ZeroDivisionError",
        ),
        (
            TOURNAMENT.format(body="return None"),
            ("replay", BATTLES, "--tournament", "mine"),
            "must return a NextRound, got No",
        ),
    ],
)
def test_what_a_plugin_raises_is_an_error_that_names_it(
    tmp_path: Path, code: str, words: tuple[object, ...], complaint: str
) -> None:
    install(tmp_path, "wrong", code)
    answer = run(tmp_path, *words)
    found = [
        text in answer.stderr
        for text in ("plugin wrong 1.2 (main = wrong): ", "'mine'", complaint, "Traceback")
    ]
    assert (answer.returncode, found) == (2, [True, True, True, False])


def test_a_typing_error_in_an_option_is_not_blamed_on_a_plugin_that_was_not_asked_for(
    tmp_path: Path,
) -> None:
    install(tmp_path, "wrong", with_hook(answer="[Ranker('lost', 'absent_module:rank', 'lost')]"))
    answer = run(tmp_path, "rank", BATTLES, "--set", "foo=1")
    assert (answer.returncode, "no option called 'foo'" in answer.stderr) == (2, True)


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        ("'absent_module:rank'", "No module named 'absent_module'"),
        ("'wrong:rank'", "'rank'"),
        ("7", "no function but 7"),
    ],
)
def test_a_ranker_whose_function_is_not_there_is_an_error_that_names_it(
    tmp_path: Path, function: str, complaint: str
) -> None:
    install(tmp_path, "wrong", with_hook(answer=f"[Ranker('mine', {function}, 'mine')]"))
    answer = run(tmp_path, "rank", BATTLES, "--ranker", "mine")
    named = [
        text in answer.stderr
        for text in ("podium: plugin wrong 1.2 (main = wrong): ranker 'mine'", complaint)
    ]
    assert (answer.returncode, named) == (2, [True, True])


SCORER = """
from podium.hookspecs import Scorer, hookimpl
from podium.scorers.prompt import Template
from podium.scorers.direct import read_reply, write_reply
from podium.scorers.realization import Realization

WORDS = "{{rules}} {{instruction}} {{response_a}} {{response_b}} A or B?"
MINE = Realization("mine", "pairwise", lambda: Template(WORDS, "mine"), read_reply{writer})

@hookimpl
def podium_scorers():
    return [Scorer("mine", {realization}, "a question of my own")]
"""
ASK = """
from podium.plugins import catalogue
from podium.scorers.prompt import Settings, Texts
from podium.scorers.reply import Reply

mine = catalogue.find_realization("mine")
prompt = mine.prompt(Texts("q", ("x", "y")), Settings())
print(prompt.count("<response_"), mine.read_reply(Reply("B"), Settings()).credit)
"""


def test_a_scorer_of_another_package_asks_and_reads(tmp_path: Path) -> None:
    install(tmp_path, "third", SCORER.format(realization="'third:MINE'", writer=""))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split() == ["2", "0.0"]
    line = next(
        line for line in run(tmp_path, "list", "scorers").stdout.splitlines() if " mine " in line
    )
    assert line.split() == [
        "mine",
        "a",
        "question",
        "of",
        "my",
        "own",
        "third",
        "1.2",
        "(main",
        "=",
        "third)",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("realization", "complaint"),
    [
        ("'third:YOURS'", "cannot be imported: module 'third'"),
        ("read_reply", "is no Realization but <function read_reply"),
    ],
)
def test_a_scorer_that_has_no_realization_is_an_error_that_names_it(
    tmp_path: Path, realization: str, complaint: str
) -> None:
    install(tmp_path, "third", SCORER.format(realization=realization, writer=""))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, env=environment, check=False
    )
    assert f"plugin third 1.2 (main = third): scorer 'mine' {complaint}" in done.stderr


ASK_OFFLINE = """
import asyncio

from inspect_ai.model import get_model
from podium.hosts.inspect_ai.judging.offline_api import pass_to_stand_in
from podium.plugins.catalogue import judging_settings
from podium.scorers.prompt import Texts

mine, texts = judging_settings("mine"), Texts("Answer in lower case.", ("LOUD", "quiet"))
with pass_to_stand_in(mine, texts):
    print(asyncio.run(get_model("podium/offline").generate(mine.prompt(texts))).completion)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("writer", "stated"),
    [
        (", write_reply", "B"),
        (
            "",
            "plugin third 1.2 (main = third): scorer 'mine' cannot be asked of podium/offline: "
            "its Realization has no ",
        ),
    ],
)
def test_the_stand_in_judge_answers_a_scorer_of_another_package_that_can_write(
    tmp_path: Path, writer: str, stated: str
) -> None:
    pytest.importorskip("inspect_ai")
    install(tmp_path, "third", SCORER.format(realization="'third:MINE'", writer=writer))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK_OFFLINE],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert stated in (done.stderr if done.returncode else done.stdout)


CODE = re.compile(r"^```python\n(\"\"\"mine\.py.*?)^```$", re.MULTILINE | re.DOTALL)
READ = """
from podium.plugins import catalogue
from podium.scorers.prompt import Settings, Texts
from podium.scorers.realization import Preference
from podium.scorers.reply import Reply
judge = catalogue.find_realization("customer")
print(judge.prompt(Texts("q", ("x", "y")), Settings()).count("<response_"))
replies = ("first.", "SECOND", "FIRST, or SECOND")
print(*[judge.read_reply(Reply(text), Settings()).credit for text in replies])
print(*[judge.write_reply(Preference(0.5, chance), Settings()).text for chance in (0.9, 0.1)])
"""


@pytest.mark.slow
def test_judges_and_tournament_of_the_docs_work(tmp_path: Path) -> None:
    install(
        tmp_path, "mine", CODE.search((ROOT / "docs" / "plugins.md").read_text(encoding="utf-8"))[1]
    )
    listed = run(tmp_path, "list", "scorers").stdout
    assert [name in listed for name in ("customer", "points-7", "mine 1.2")] == [True, True, True]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    read = subprocess.run(
        [sys.executable, "-c", READ], capture_output=True, text=True, env=environment, check=True
    )
    assert read.stdout.split() == ["2", "1.0", "0.0", "None", "FIRST", "SECOND"]
    played = run(
        tmp_path,
        "replay",
        BATTLES,
        "--tournament",
        "enough-items",
        "--set",
        "lead=5",
        "--format",
        "json",
    )
    counts = json.loads(played.stdout)["rankings"][0]["counts"] if played.stdout else played.stderr
    assert counts["battles"] == 150


@pytest.mark.slow
def test_a_reader_that_raises_is_an_error_that_names_the_plugin(tmp_path: Path) -> None:
    code = CODE.search((ROOT / "docs" / "plugins.md").read_text(encoding="utf-8"))[1]
    install(tmp_path, "mine", code.replace("    word = reply", "    word = 1 / 0 or reply"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", READ], capture_output=True, text=True, env=environment, check=False
    )
    assert (
        "plugin mine 1.2 (main = mine): scorer 'customer' raised ZeroDivisionError" in done.stderr
    )


def test_every_own_scorer_is_called_as_its_realization_is() -> None:
    found = {name: catalogue.find_realization(name) for name in catalogue.extensions_of(Scorer)}
    assert len(found) >= 8
    assert [name for name, one in found.items() if one.name != name or not one.write_reply] == []


def test_the_kind_of_every_own_scorer_begins_its_summary() -> None:
    lines = {name: one.extension.summary for name, one in catalogue.extensions_of(Scorer).items()}
    kinds = {name: catalogue.find_realization(name).kind for name in lines}
    assert [name for name, line in lines.items() if not line.startswith(f"{kinds[name]}: ")] == []


def test_every_hook_has_a_docstring() -> None:
    hooks = [
        one
        for name, one in inspect.getmembers(hookspecs, inspect.isfunction)
        if name.startswith("podium_")
    ]
    assert (len(hooks) > 0, [hook.__name__ for hook in hooks if not hook.__doc__]) == (True, [])


def test_the_hooks_that_an_error_suggests_are_those_there_are() -> None:
    hooks = [
        name
        for name, _ in inspect.getmembers(hookspecs, inspect.isfunction)
        if name.startswith("podium_")
    ]
    assert sorted(catalogue.HOOKS) == hooks


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "template", ['lambda: "Which is better?"', 'Template("Which is better?")', "lambda: None"]
)
def test_a_template_of_the_wrong_type_is_an_error_that_names_the_plugin(
    tmp_path: Path, template: str
) -> None:
    code = SCORER.format(realization="MINE", writer="").replace(
        'lambda: Template(WORDS, "mine")', template
    )
    install(tmp_path, "third", code)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, env=environment, check=False
    )
    assert (
        "plugin third 1.2 (main = third): scorer 'mine': its template must be a function that "
        "returns a" in done.stderr
    )


def test_what_a_scorer_is_made_of_is_public_and_documented() -> None:
    for name in ("Scorer", "Realization", "Template"):
        assert name in podium.__all__
        assert "Attributes:" in getattr(podium, name).__doc__


@pytest.mark.slow
def test_a_ranker_of_several_judges_gets_them_without_pool_and_the_others_are_rejected(
    tmp_path: Path,
) -> None:
    of_several = "[Ranker('mine', 'podium.rankers.win_rate:win_rate', 'mine', several_judges=True)]"
    install(tmp_path, "several", with_hook(answer=of_several))
    table = tmp_path / "battles.csv"
    rows = [f"q{k},ash,elm,{k % 2},{judge}" for k in range(8) for judge in ("kind", "harsh")]
    table.write_text("\n".join(["item,model_a,model_b,credit,judge", *rows]), encoding="utf-8")
    alone = run(tmp_path, "rank", table, "--ranker", "mine", "--format", "json")
    assert (alone.returncode, json.loads(alone.stdout)["rankings"][0]["counts"]["battles"]) == (
        0,
        16,
    )
    both = run(tmp_path, "rank", table, "--ranker", "mine,bradley-terry", "--format", "json")
    assert [own["ranker"] for own in json.loads(both.stdout)["rankings"]] == ["win-rate"]
    assert (both.returncode, "bradley-terry: verdicts of 2 judges" in both.stderr) == (3, True)


INFINITE = """
from dataclasses import replace

import numpy as np

from podium import Ranker, hookimpl
from podium.rankers.from_pairs import from_pairs

def points(pairs):
    return np.bincount(pairs.first, pairs.credit, pairs.models)

def unbounded_points(pairs):
    scores = points(pairs)
    scores[0] = np.inf
    return scores

def of_pairs(battles, *, level, rng):
    options = {"level": level, "rng": rng, "resamples": 50}
    return from_pairs("mine", "points", unbounded_points, battles, **options)

def of_entries(battles, *, level, rng):
    done = from_pairs("mine", "points", points, battles, level=level, rng=rng, resamples=50)
    first, *others = done.entries
    return replace(done, entries=(replace(first, score=float("inf"), high=float("nan")), *others))

@hookimpl
def podium_rankers():
    return [Ranker("of-pairs", of_pairs, "mine"), Ranker("of-entries", of_entries, "mine")]
"""


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["of-pairs", "of-entries"])
def test_an_infinite_score_of_a_plugin_gets_a_warning_that_names_it(
    tmp_path: Path, ranker: str
) -> None:
    install(tmp_path, "infinite", INFINITE)
    table = run(tmp_path, "rank", BATTLES, "--ranker", ranker)
    answer = run(tmp_path, "rank", BATTLES, "--ranker", ranker, "--format", "json")
    ranking = json.loads(answer.stdout)["rankings"][0]
    scores = {row["model"]: row["score"] for row in ranking["models"]}
    warning = (
        f"plugin infinite 1.2 (main = infinite): ranker '{ranker}' gave no finite score for amber: "
        "shown without a score"
    )
    assert (table.returncode, answer.returncode) == (0, 0)
    assert f"podium: warning: {warning}\n" in table.stderr
    assert "RuntimeWarning" not in answer.stderr
    assert warning in [own["text"] for own in ranking["warnings"]]
    assert [model for model, score in scores.items() if score is None] == ["amber"]


PUBLIC = ("podium", "podium.hookspecs", "podium.rankers.from_pairs", "podium.scorers.levels")
"""Modules that docs/plugins.md names as public."""


def imported_names(code: str) -> set[tuple[str, str]]:
    """Return the modules of podium that code imports from, each with the imported name."""
    return {
        (node.module or "", alias.name)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("podium")
        for alias in node.names
    }


def test_plugins_of_docs_and_examples_import_public_names_only() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    code = [*blocks, (EXAMPLE / "podium_copeland.py").read_text(encoding="utf-8")]
    names = set().union(*map(imported_names, code))
    public = {(module, name) for module in PUBLIC for name in import_module(module).__all__}
    public.add(("podium.scorers", "levels"))
    assert len(names) > 10
    assert names <= public


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_there_and_on_the_page_of_plugins(module: str) -> None:
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    names = import_module(module).__all__
    assert all(hasattr(import_module(module), name) for name in names)
    assert f"| `{module}` |" in page
    if module != "podium":
        assert [name for name in names if f"`{name}`" not in page] == []
