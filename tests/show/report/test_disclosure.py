"""What a page discloses of how its ranking was made, and what it says is not known."""

import json

import pandas as pd
import pytest

import podium as api
from podium.run_record import RunRecord
from podium.show.report.disclosure import disclose, disclosure_reports, hash_of_file


def ranking_with(**provenance):
    """Return a ranking of two models whose provenance has further facts."""
    rows = [(f"q{k}", "ash", "elm", float(k % 3 > 0)) for k in range(30)]
    table = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    ranking = api.rank(api.read_battles(table), seed=4)
    return type(ranking)(ranking.standings, {**ranking.provenance, **provenance}, ("x: no",))


def run(model, **facts):
    return RunRecord(model=model, task="gsm8k", source=f"{model}.eval", **facts).to_json()


def test_runs_judges_counts_failures_seed_and_versions_are_disclosed():
    judge = {
        "kind": "model",
        "model": "openai/gpt-4o",
        "prompt": "ab12",
        "settings": {"temperature": "0"},
    }
    runs = [
        run("ash", task_version="2", failed=3, generation=(("temperature", "0.7"),)),
        run("elm", host_version="0.3.225"),
    ]
    found = disclose(
        ranking_with(judges=["gpt-4o"], judge_records={"gpt-4o": judge}, runs=runs)
    ).to_dict()["disclosure"]
    assert found["models"]["ash"][0]["task_version"] == "2"
    assert found["models"]["ash"][0]["generation"] == (("temperature", "0.7"),)
    assert found["judges"]["gpt-4o"]["prompt"] == "ab12"
    assert found["counts"]["bradley-terry"]["judgments"] == 30
    assert found["failures"][:2] == ["not ranked: x: no", "ash on gsm8k: samples 3 failed"]
    assert found["seed"] == 4
    assert found["hosts"] == [
        {"host": "Inspect", "version": None},
        {"host": "Inspect", "version": "0.3.225"},
    ]
    assert "python" in found["versions"]
    assert found["not_known"] == [
        "the version of Inspect that ran the evals",
        "revision of the code, of all runs",
    ]


def test_what_nothing_says_is_listed_once_and_by_name():
    found = disclose(
        ranking_with(judges=["gpt-4o", "Ann"], judge_records={"Ann": {"kind": "human"}})
    )
    assert found.unknown == (
        "how the models were run (versions, sampling, prompts): no file records runs",
        "of the judge gpt-4o: model, hash of its prompt, sampling",
    )


def test_files_have_the_hash_of_their_bytes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"abc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hash_of_file(str(path)) == digest
    assert hash_of_file("s3://bucket/a.csv") is None


@pytest.mark.slow
def test_report_adds_a_section_and_writes_json_beside_the_page(podium, tmp_path):
    example = tmp_path / "battles.csv"
    rows = "".join(f"q{k},ash,elm,{k % 2}\n" for k in range(30))
    example.write_text("item,model_a,model_b,credit\n" + rows)
    page = tmp_path / "page.html"
    done = podium("report", example, "--disclose", "-o", page)
    assert done.code == 0, done.err
    assert "<h2>Disclosure</h2>" in page.read_text(encoding="utf-8")
    assert "Not known: who judged: no row names a judge." in page.read_text(encoding="utf-8")
    content = json.loads((tmp_path / "page.disclosure.json").read_text())
    assert content["disclosure"]["sources"][str(example)] is not None
    podium("report", example, "-o", tmp_path / "plain.html")
    assert "Disclosure" not in (tmp_path / "plain.html").read_text(encoding="utf-8")
    assert not (tmp_path / "plain.disclosure.json").exists()


def test_a_host_is_named_only_if_the_file_says_it():
    names = ("samples_gsm8k_2026.jsonl", "results_2026.json", "log.eval", "table.csv", "log.json")
    runs = [RunRecord("ash", "gsm8k", f"out/{name}").to_json() for name in names]
    assert disclose(ranking_with(runs=runs)).hosts == (("lm-eval", None), ("Inspect", None))
    unknown = disclose(ranking_with(runs=runs[3:]))
    assert unknown.hosts == ()
    assert "what ran the evals" in unknown.unknown


def test_warnings_are_no_failures():
    rows = [(f"q{k}", "ash", "elm", 1.0) for k in range(9)]
    table = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    found = disclose(api.rank(api.read_battles(table)))
    assert found.failures == ()
    assert found.warnings
    [row, *_] = found.to_dict()["disclosure"]["warnings"]
    assert row["code"] == found.warnings[0].code
    assert row["text"]


def test_the_page_names_each_host_with_its_version_or_that_it_is_not_known():
    runs = [
        RunRecord("ash", "gsm8k", "ash.eval", host_version="0.3.225").to_json(),
        RunRecord("elm", "gsm8k", "out/results_2026.json").to_json(),
    ]
    [report] = disclosure_reports(disclose(ranking_with(runs=runs)))
    notes = report.sections[0].notes
    assert "Run by Inspect 0.3.225, lm-eval (version not known)." in notes
    assert "Not known: the version of lm-eval that ran the evals." in notes
