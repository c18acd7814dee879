"""podium label from a shell: a sheet out, and its labels back into a ranking."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from asked_runs import simple_run, write_inspect_log

from podium import Judge, simulate

Podium = Callable[..., Any]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge's verdicts without labels."""
    path = tmp_path_factory.mktemp("label") / "verdicts.csv"
    simulate(5, 20, seed=1).judgments(Judge(scale=2), orders="ab").to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def responses(verdicts: Path) -> Path:
    """What each model answered to each item."""
    table, path = pd.read_csv(verdicts), verdicts.with_name("responses.csv")
    models, items = sorted({*table["model_a"], *table["model_b"]}), sorted({*table["item"]})
    rows = [
        (item, f"What of {item}?", model, f"{model} on {item}")
        for item in items
        for model in models
    ]
    pd.DataFrame(rows, columns=["item", "instruction", "model", "response"]).to_csv(
        path, index=False
    )
    return path


@pytest.mark.slow
def test_a_sheet_goes_out_and_comes_back_into_a_ranking(
    podium: Podium, verdicts: Path, responses: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.csv"
    done = podium("label", verdicts, "--responses", responses, "--number", "50", "-o", sheet)
    assert (done.code, "With these 50 labels the mean error of ratings is about" in done.out) == (
        0,
        True,
    )
    pd.read_csv(sheet).assign(verdict=["1", "2"] * 25).to_csv(sheet, index=False)
    words = ("--ranker", "structured-bradley-terry", "--human-labels", sheet, "--format", "json")
    ranked = podium("rank", verdicts, *words)
    [ranking] = json.loads(ranked.out)["rankings"]
    assert ranking["diagnostics"]["structured"]["labels"] == 50
    assert {"human", "judge", "labels", "pull"} <= ranking["models"][0].keys()


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["sheet.csv", "page.html"])
def test_humans_read_transcripts_piece_by_piece(
    podium: Podium, verdicts: Path, tmp_path: Path, name: str
) -> None:
    calls = [{"id": "c", "function": {"name": "look", "arguments": "{}"}}]

    def turns(model: str) -> list[dict[str, Any]]:
        """Return a call of a tool with its result, and an answer that names the model."""
        return [
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c", "content": "12 degrees"},
            {"role": "assistant", "content": f"Mild, says {model}."},
        ]

    table = pd.read_csv(verdicts)
    rows = [
        {
            "item": item,
            "model": model,
            "response": [{"role": "user", "content": item}, *turns(model)],
        }
        for item in sorted({*table["item"]})
        for model in sorted({*table["model_a"], *table["model_b"]})
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    podium(
        "label",
        verdicts,
        "--responses",
        tmp_path / "runs.jsonl",
        "--number",
        "5",
        "-o",
        tmp_path / name,
    )
    shown = (tmp_path / name).read_text()
    assert "[call 1.1]" in shown
    assert shown.count("12 degrees") == 10
    assert "call 1.1:" not in shown


def test_label_by_uncertainty_exits_with_2_and_the_reason(podium: Podium, verdicts: Path) -> None:
    refused = podium("label", verdicts, "--by", "uncertainty")
    assert (refused.code, "three times the error" in refused.err) == (2, True)


def test_labels_of_other_battles_calibrate_nothing(
    podium: Podium, verdicts: Path, tmp_path: Path
) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("item,model_a,model_b,credit\nelsewhere,model-01,model-02,1\n")
    refused = podium("calibrate", verdicts, "--human-labels", labels)
    assert (refused.code, "none of the" in refused.err) == (1, True)


@pytest.mark.slow
def test_two_sheets_are_votes_of_two_humans(podium: Podium, verdicts: Path, tmp_path: Path) -> None:
    rows = ["1,model-01,model-02,1", "2,model-01,model-03,0", "3,model-04,model-05,1"]
    sheets = [tmp_path / "ann.csv", tmp_path / "bob.csv"]
    items = sorted({*pd.read_csv(verdicts)["item"]})
    for sheet in sheets:
        cells = [f"{item}{row[1:]}" for item, row in zip(items, rows, strict=False)]
        sheet.write_text("\n".join(["item,model_a,model_b,credit", *cells]) + "\n")
    labels = ("--human-labels", sheets[0], "--human-labels", sheets[1])
    ranked = podium(
        "rank", verdicts, *labels, "--ranker", "structured-bradley-terry", "--format", "json"
    )
    [ranking] = json.loads(ranked.out)["rankings"]
    structured = ranking["diagnostics"]["structured"]
    assert (structured["battles"], structured["labels"]) == (3, 6)


@pytest.mark.slow
def test_two_humans_in_one_file_are_two_votes_beside_another_file(
    podium: Podium, tmp_path: Path
) -> None:
    """Oracle: two of three say that the first won; as the two orders of one judge they would say
    half as much."""
    verdicts = simulate(5, 20, seed=1).judgments(Judge(scale=2), orders="ab")
    verdicts.to_csv(tmp_path / "verdicts.csv", index=False)
    votes = verdicts[["item", "model_a", "model_b"]]
    both = [
        votes.assign(credit=1.0, judge=judge, order=order)
        for judge, order in (("ann", "ab"), ("bob", "ba"))
    ]
    pd.concat(both).to_csv(tmp_path / "two.csv", index=False)
    votes.assign(credit=0.0).to_csv(tmp_path / "one.csv", index=False)
    labels = [
        word for name in ("two.csv", "one.csv") for word in ("--human-labels", tmp_path / name)
    ]
    words = ("--ranker", "structured-bradley-terry", "--format", "json")
    [ranking] = json.loads(podium("rank", tmp_path / "verdicts.csv", *labels, *words).out)[
        "rankings"
    ]
    assert ranking["diagnostics"]["structured"]["labels"] == 3 * len(verdicts)
    assert f"{3 * len(verdicts)} votes by humans" in " ".join(
        own["text"] for own in ranking["warnings"]
    )


@pytest.mark.slow
def test_models_of_labels_that_no_verdict_knows_are_named(podium: Podium, tmp_path: Path) -> None:
    table = simulate(5, 20, seed=1).judgments(Judge(scale=2), human=True, orders="ab")
    table.drop(columns="human").to_csv(tmp_path / "verdicts.csv", index=False)
    votes = table[["item", "model_a", "model_b"]].assign(credit=table["human"])
    strange = pd.DataFrame([(table["item"][0], "model-01", "stranger", 1.0)], columns=votes.columns)
    pd.concat([votes, strange]).to_csv(tmp_path / "labels.csv", index=False)
    done = podium("calibrate", tmp_path / "verdicts.csv", "--human-labels", tmp_path / "labels.csv")
    assert (done.code, "1 label of models without verdicts is left out: stranger" in done.err) == (
        0,
        True,
    )


def test_label_sheet_without_readable_battles_is_not_written(
    podium: Podium, verdicts: Path, tmp_path: Path
) -> None:
    refused = podium("label", verdicts, "-o", tmp_path / "sheet.csv")
    assert (refused.code, "--responses" in refused.err, [*tmp_path.iterdir()]) == (2, True, [])


@pytest.mark.slow
def test_a_sheet_takes_the_responses_in_logs_of_an_eval(podium: Podium, tmp_path: Path) -> None:
    for model, scores in {"lab/amber": (1, 0, 1), "lab/birch": (0, 1, 1)}.items():
        write_inspect_log(simple_run(model, scores), tmp_path / "logs")
    sheet = tmp_path / "sheet.csv"
    assert podium("label", tmp_path / "logs", "--number", 3, "-o", sheet).code == 0
    for row in pd.read_csv(sheet).to_dict("records"):
        said = {row["response_1"], row["response_2"]}
        assert said == {f"lab/{own} answers {row['instruction']}" for own in ("amber", "birch")}


def write_answers(path: Path, answers: dict[str, dict[str, str]]) -> Path:
    """Write the responses of models to items."""
    rows = [
        {"item": item, "model": model, "instruction": f"{item}?", "response": text}
        for model, own in answers.items()
        for item, text in own.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("source", ["responses", "column", "texts"])
def test_battles_of_identical_responses_are_left_out_and_counted(
    podium: Podium, tmp_path: Path, source: str
) -> None:
    items = [f"q{k}" for k in range(8)]
    same = {"q0", "q1", "q2"}
    rows = pd.DataFrame(
        {"item": items, "model_a": "ash", "model_b": "elm", "credit": [0.5] * 3 + [1, 0, 1, 1, 0]}
    )
    if source == "column":
        rows["identical"] = rows["item"].isin(same)
    ash = {item: f"The answer to {item}." for item in items}
    elm = {item: f"{ash[item]} " if item in same else "Another." for item in items}
    words = ["--number", "5", "-o", tmp_path / "sheet.csv"]
    if source == "texts":
        rows["response_a"] = rows["item"].map(ash)
        rows["response_b"] = rows["item"].map(elm)
    if source == "responses":
        answers = write_answers(tmp_path / "answers.jsonl", {"ash": ash, "elm": elm})
        words += ["--responses", answers]
    if source == "column":
        words = words[:2]
    rows.to_csv(tmp_path / "verdicts.csv", index=False)
    drawn = podium("label", tmp_path / "verdicts.csv", *words)
    assert drawn.code == 0, drawn.err
    assert "3 battles are left out: their responses are identical" in drawn.out
    if source != "column":
        assert {*pd.read_csv(tmp_path / "sheet.csv")["item"]} == {*items} - same
    refused = podium("label", tmp_path / "verdicts.csv", "--number", "6", *words[2:])
    assert refused.code == 2
    assert "3 battles are of identical responses, which are ties" in refused.err
