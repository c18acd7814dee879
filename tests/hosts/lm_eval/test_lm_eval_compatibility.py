"""What podium uses of lm-eval beyond its public interface: a new version that moves it is named
here."""

import argparse
import ast
import json
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("lm_eval.api")

import lm_eval
from lm_eval.loggers import EvaluationTracker

from podium.hosts.lm_eval import lm_eval_compatibility as compatibility

ROOM = Path(compatibility.__file__).parent
PUBLIC = {"lm_eval", "lm_eval.api.filter"}
SAMPLE = {
    "doc_id": 0,
    "doc": {"q": 1},
    "doc_hash": "d",
    "prompt_hash": "p",
    "target_hash": "t",
    "arguments": [],
    "resps": [],
}


def test_lm_eval_run_command_has_a_function():
    run = compatibility.find_run_parser(compatibility.build_command_line())
    assert "--output_path" in run.format_help()
    assert callable(run.get_default("func"))


@pytest.mark.parametrize(
    "cli", [SimpleNamespace(), SimpleNamespace(_parser=argparse.ArgumentParser())]
)
def test_lm_eval_command_without_run_is_reported(cli):
    with pytest.raises(LookupError, match="no command `run`"):
        compatibility.find_run_parser(cli)


def test_lm_eval_run_imports_simple_evaluate_at_run_time():
    """`call_after_evaluation` replaces `lm_eval.simple_evaluate`: the command must not have bound
    it before."""
    import lm_eval._cli.run as command

    assert "from lm_eval import simple_evaluate" in Path(command.__file__).read_text()
    assert not hasattr(command, "simple_evaluate")
    before = lm_eval.simple_evaluate
    with compatibility.call_after_evaluation(lambda results, tracker: None):
        assert lm_eval.simple_evaluate is not before
    assert lm_eval.simple_evaluate is before


def test_a_tracker_writes_results_and_samples_under_the_models_name(tmp_path):
    tracker = EvaluationTracker(output_path=None)
    tracker.general_config_tracker.log_experiment_args("hf", "pretrained=org/m", None, None, False)
    level = logging.getLogger("lm_eval.loggers.evaluation_tracker").level
    compatibility.write_results(
        tmp_path, {"results": {}, "configs": {}, "samples": {"t": [SAMPLE]}}, tracker
    )
    assert [path.parent.name for path in tmp_path.rglob("samples_t_*.jsonl")] == ["org__m"]
    [results] = tmp_path.rglob("results_*.json")
    assert json.loads(results.read_text())["model_name"] == "org/m"
    assert logging.getLogger("lm_eval.loggers.evaluation_tracker").level == level


def test_lm_eval_document_hash_equals_podiums():
    import lm_eval.evaluator as evaluator

    text = Path(evaluator.__file__).read_text()
    assert "hash_string" in text
    assert compatibility.hash_document({"b": 1, "a": "é"}) == lm_eval.utils.hash_string(
        '{\n  "b": 1,\n  "a": "é"\n}'
    )


def test_a_name_is_registered_once_and_another_packages_name_stays_its_own():
    def double(items):
        return 2 * sum(items)

    from lm_eval.api import registry

    for _ in range(2):
        assert compatibility.register("aggregation", "podium_test_double")(double) is double
    assert registry.get_aggregation("podium_test_double")([1, 2]) == 6
    with pytest.raises(ValueError, match="mean"):
        compatibility.register("aggregation", "mean")(double)


def imported_by(path):
    """Return the modules of lm-eval that a file imports, and the names that it takes from them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("lm_eval"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lm_eval"):
            yield node.module


def test_no_other_file_of_the_room_imports_what_is_not_public():
    others = [path for path in ROOM.glob("*.py") if path.name != "lm_eval_compatibility.py"]
    assert {name for path in others for name in imported_by(path)} <= PUBLIC
    assert "lm_eval._" not in (ROOM.parent / "on_start.py").read_text()
    assert len(set(imported_by(ROOM / "lm_eval_compatibility.py")) - PUBLIC) >= 4
