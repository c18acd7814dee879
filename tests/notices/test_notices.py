"""Warnings are records: their texts stand in one catalogue, and nothing reads a text again."""

import ast
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pandas as pd
import pytest

import podium
from podium.check_kinds import CHECKS
from podium.errors import PluginError
from podium.hosts.lm_eval.lm_eval_options import typed_in_lm_eval
from podium.notices.catalogue_of_notices import NOTES, REMEDIES, TEMPLATES
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_from_json, notice_text, notice_texts, notices_to_json
from podium.notices.option_forms import option_text, typed_as, typed_in_command
from podium.plugins import catalogue
from podium.rankers.json_files import read_ranking

ROOT = Path(__file__).parents[2]
ROOMS = ("plugin", "scorers", "rankers")
WRITERS = ("notice_text", "notice_texts", "ranking_messages", "ranking_warnings")
"""Functions that write the text of warnings."""
READERS = {"startswith", "endswith", "partition", "rpartition", "split", "replace", "find", "index"}
"""Methods of a text by which one looks for something in it."""


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            if not path.is_symlink() and not any(own.is_symlink() for own in path.parents):
                yield path, ast.parse(path.read_text(encoding="utf-8"))


def texts_in(tree: ast.AST) -> set[str]:
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {node.value for node in constants if isinstance(node.value, str)}


@pytest.mark.slow
def test_every_code_in_the_source_has_a_text_and_every_text_is_used():
    used = {CHECKS[name].code for name in CHECKS}
    for path, tree in modules():
        if path.name == "catalogue_of_notices.py":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Notice":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    assert first.value in TEMPLATES, path
        used |= texts_in(tree)
    assert set(TEMPLATES) | set(REMEDIES) <= used
    assert set(TEMPLATES) >= NOTES


@pytest.mark.slow
def test_nothing_looks_for_words_in_the_text_of_a_warning():
    for path, tree in modules():
        for node in ast.walk(tree):
            held = []
            if isinstance(node, ast.Attribute) and node.attr in READERS:
                held = [node.value]
            elif isinstance(node, ast.Compare):
                held = [node.left, *node.comparators]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in (
                "match",
                "fullmatch",
                "search",
                "sub",
            ):
                held = node.args
            for part in held:
                name = getattr(part.func, "id", "") if isinstance(part, ast.Call) else ""
                assert name not in WRITERS, (path, node.lineno)


@pytest.mark.slow
def test_no_record_keeps_its_warnings_as_texts():
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "warnings":
                kept_by_reports = path.name == "tables.py"
                assert kept_by_reports or "str" not in ast.unparse(node.annotation), path


def test_numbers_lists_and_mappings_are_written_by_their_format():
    template = (
        "{n:,} {n:noun row}, {one:one is|are}, {names}, {many:most 2}, {sizes:most 1; # has @}, "
        "{some:len}, {empty:?(#)}{full:?(#)}"
    )
    fields = {
        "n": 1234,
        "one": 1,
        "names": ["a", "b"],
        "many": ["a", "b", "c"],
        "sizes": {"x": 1200, "y": 2},
        "some": [1, 2, 3],
        "empty": [],
        "full": 5000,
    }
    text = "1,234 rows, is, a, b, a, b, and 1 more, x has 1,200; and 1 more, 3, (5,000)"
    assert notice_text(Notice("own", fields, template=template)) == text


def test_a_text_says_most_before_the_number_of_elements_that_it_shows():
    """A bare number would be a width to everybody who knows `str.format`."""
    for code, template in TEMPLATES.items():
        for _, name, specification, _ in Formatter().parse(template):
            assert not (specification or "")[:1].isdigit(), (code, name)


def test_names_with_braces_and_signs_stay_as_they_are():
    names = ["{x}", "a#b@c", "%s"]
    notice = Notice("own", {"names": names, "of": {"#@": 1}}, template="{names} {of:most 9 # (@)}")
    assert notice_text(notice) == "{x}, a#b@c, %s #@ (1)"


def test_an_option_is_written_as_it_is_typed_where_podium_runs():
    notice = Notice("ranked-together", {"column": "task", "values": ["t", "u"]})
    assert "by='task' ranks each" in notice_text(notice)
    with typed_as(typed_in_command):
        assert "--by task ranks each" in notice_text(notice)
        assert option_text("columns", "item=my id") == "--columns 'item=my id'"
        assert option_text("scale_correction", "false") == "--no-scale-correction"
        assert option_text("show", "transcript", "argument") == "-T show=transcript"
    assert option_text("columns", "item=my id") == "columns={'item': 'my id'}"
    assert option_text("scale_correction", "false") == "scale_correction=False"
    with typed_as(typed_in_lm_eval):
        assert option_text("metric", "acc,none") == "--ranker_metric acc,none"
        assert option_text("labels", "hard", "setting") == "--ranker_set labels=hard"
        assert option_text("show", "transcript", "argument") == "--ranker_args show=transcript"
        assert option_text("by", "judge") == "--by judge"


def test_warnings_in_json_have_code_fields_and_text_and_are_read_again(tmp_path):
    rows = [{"item": f"i{k}", "model_a": "a", "model_b": "b", "credit": k % 2} for k in range(8)]
    ranking = podium.rank(podium.read_battles(pd.DataFrame(rows)), "win-rate", answers=False)
    path = tmp_path / "ranking.json"
    path.write_text(ranking.to_json())
    [few] = json.loads(path.read_text())["rankings"][0]["warnings"]
    assert few == {
        "code": "items",
        "fields": {"items": 8, "nouns": "items", "fewest": 30},
        "text": "only 8 items (fewer than 30): the intervals are approximate",
    }
    read = read_ranking(path)
    assert read.standings[0].warnings == ranking.standings[0].warnings
    assert read.to_json() == ranking.to_json()


@pytest.mark.slow
def test_a_file_without_codes_of_warnings_is_rejected(tmp_path):
    rows = [{"item": f"i{k}", "model_a": "a", "model_b": "b", "credit": k % 2} for k in range(8)]
    document = podium.rank(podium.read_battles(pd.DataFrame(rows)), "win-rate").to_dict()
    document["rankings"][0]["warnings"] = ["only 8 items"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    with pytest.raises(podium.DataError, match=r"rankings.0.warnings.0 is 'only 8 items'"):
        read_ranking(tmp_path / "old.json")
    document["podium"] = "0.2"
    (tmp_path / "old.json").write_text(json.dumps(document))
    with pytest.raises(podium.DataError, match=r"of format 0.2; this podium reads format 0.3"):
        read_ranking(tmp_path / "old.json")


def test_json_has_null_for_an_infinite_field_and_text_that_says_it():
    fields = {"slope": 2.0, "low": 1.5, "high": float("inf"), "new": "x"}
    [kept] = notices_to_json([Notice("ladder-scale", fields)])
    assert kept["fields"]["high"] is None
    assert "(1.50 … inf)" in kept["text"]
    assert notice_text(notice_from_json(**kept)) == kept["text"]


def test_texts_in_fields_can_be_changed_wherever_they_are():
    notice = Notice("own", {"path": "/tmp/x", "all": ["/tmp/y", 3], "of": {"/tmp/z": "/tmp/w"}})
    changed = notice.map_texts(lambda text: text.replace("/tmp", "runs"))
    assert changed.fields == {"path": "runs/x", "all": ["runs/y", 3], "of": {"runs/z": "runs/w"}}


@pytest.fixture
def plugin_ranker(monkeypatch):
    """Register a ranker of a plug-in that gives its standings some warnings."""

    def register(*warnings: object) -> None:
        def own(battles, *, level=0.95, rng):
            plain = catalogue.ranker_function("win-rate")(battles, level=level, rng=rng)
            return replace(plain, warnings=warnings)

        known = catalogue.Registration(podium.Ranker("own", own, "of a plug-in"), "mine 1.0")
        real = catalogue.extensions_of
        everything = {**real(podium.Ranker), "own": known}
        monkeypatch.setattr(
            catalogue,
            "extensions_of",
            lambda kind: everything if kind is podium.Ranker else real(kind),
        )

    return register


def ranked_by_plugin() -> podium.Ranking:
    return podium.rank(podium.simulate(3, 40, seed=1).battles(), "own")


@pytest.mark.slow
def test_a_plugin_gives_a_warning_with_a_code_and_a_text_of_its_own(plugin_ranker):
    draws = Notice("mine-draws", {"draws": 3}, template="{draws} draws; see {option:by=judge}")
    plugin_ranker(draws)
    [kept] = ranked_by_plugin().to_dict()["rankings"][0]["warnings"]
    text = "3 draws; see by='judge'"
    assert kept == {"code": "mine-draws", "fields": {"draws": 3}, "text": text}
    assert notice_texts([draws]) == (text,)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("warning", "problem"),
    [
        ("few draws", "gave a str as warning: give a Notice"),
        (podium.Notice("mine-draws"), "gave a warning 'mine-draws' whose text cannot be written"),
        (podium.Notice("mine", template="{draws}"), "gave a warning 'mine' whose text cannot be"),
    ],
)
def test_a_warning_of_a_plugin_without_a_text_names_the_plugin(plugin_ranker, warning, problem):
    plugin_ranker(warning)
    with pytest.raises(PluginError, match=f"plugin mine 1.0: ranker 'own' {problem}"):
        ranked_by_plugin()
