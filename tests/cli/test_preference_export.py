"""podium export --to preference: which pairs are written, with which texts, and which are not."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lm_eval_output import sample, write_run

Podium = Callable[..., Any]
COLUMNS = [
    *("prompt", "chosen", "rejected", "credit", "order_agreement", "judge", "metric"),
    *("chosen_model", "rejected_model", "task", "item", "response", "category"),
]
HEADER = (
    *("item", "instruction", "model_a", "model_b", "response_a", "response_b"),
    *("order", "judge", "credit", "reason"),
)
VERDICTS = (
    ("wins", 1, 1, "j1"),
    ("flips", 1, 0, "j1"),
    ("ties", 0.5, 0.5, "j1"),
    ("unparsed", "", "", "j1"),
    ("half", 0, 0.5, "j1"),
    ("one", 1, "", "j1"),
    ("wins", 0, 0, "j2"),
    ("half", 0, 0, "j2"),
)
"""Item, what ash earned with each response shown first, and the judge."""
HALF = (0.0, 0.0, 0.6, 0.7, 0.8, 0.9)
"""Credits whose mean is a half but for rounding."""


def write_verdicts(path: Path, *, with_texts: bool = True) -> Path:
    """Write the verdicts in both orders; with the texts of questions and responses if asked."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        for item, *credits, judge in VERDICTS:
            for order, credit in zip(("ab", "ba"), credits, strict=True):
                texts = (
                    (f"{item}?", f"ash on {item}", f"elm on {item}") if with_texts else ("",) * 3
                )
                question, ash, elm = texts
                reason = "no verdict" if credit == "" else ""
                names = ("ash", "elm")
                writer.writerow([item, question, *names, ash, elm, order, judge, credit, reason])
    return path


@pytest.fixture
def export(podium: Podium, tmp_path: Path) -> Callable[..., tuple[list[dict[str, Any]], Any]]:
    """Return a way to export preference data; it gives the rows and the answer of the command."""

    def run(*words: Any) -> tuple[list[dict[str, Any]], Any]:
        path = tmp_path / "preferences.jsonl"
        path.unlink(missing_ok=True)
        answer = podium("export", *words, "--to", "preference", "-o", path)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines], answer

    return run


def by_pair(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return rows by item and judge."""
    found = {(row["item"], row["judge"]): row for row in rows}
    assert len(found) == len(rows)
    return found


def test_the_winner_is_chosen_and_what_has_no_winner_is_withheld_and_counted(
    export: Any, tmp_path: Path
) -> None:
    rows, answer = export(write_verdicts(tmp_path / "verdicts.csv"))
    found = by_pair(rows)
    assert set(found) == {("wins", "j1"), ("half", "j1"), ("wins", "j2"), ("half", "j2")}
    wins = found["wins", "j1"]
    assert list(wins) == COLUMNS
    assert wins["prompt"] == [{"role": "user", "content": "wins?"}]
    assert wins["chosen"] == [{"role": "assistant", "content": "ash on wins"}]
    assert wins["rejected"] == [{"role": "assistant", "content": "elm on wins"}]
    assert (wins["chosen_model"], wins["rejected_model"]) == ("ash", "elm")
    assert (wins["credit"], wins["order_agreement"], wins["metric"]) == (1.0, "same", None)
    half = found["half", "j1"]
    assert (half["chosen_model"], half["credit"], half["order_agreement"]) == ("elm", 0.75, "half")
    assert found["wins", "j2"]["chosen_model"] == "elm"
    assert answer.code == 0
    counted = "wrote 4 of 8 pairs to "
    withheld = "; withheld: 2 unparsed, 1 flip, 1 tie (--flips and --ties would write them)"
    assert counted in answer.err
    assert withheld in answer.err


def test_flips_and_ties_are_written_when_asked_for_and_unparsed_never(
    export: Any, tmp_path: Path
) -> None:
    rows, answer = export(write_verdicts(tmp_path / "verdicts.csv"), "--flips", "--ties")
    found = by_pair(rows)
    assert found["flips", "j1"]["order_agreement"] == "flip"
    assert found["ties", "j1"]["order_agreement"] == "same"
    assert found["flips", "j1"]["credit"] == found["ties", "j1"]["credit"] == 0.5
    assert "wrote 6 of 8 pairs" in answer.err
    assert "withheld: 2 unparsed" in answer.err
    assert not {"unparsed", "one"} & {item for item, _ in found}


@pytest.mark.slow
def test_a_verdict_in_one_readable_order_is_kept_when_asked_for(
    export: Any, tmp_path: Path
) -> None:
    rows, _ = export(write_verdicts(tmp_path / "verdicts.csv"), "--one-sided", "keep")
    one = by_pair(rows)["one", "j1"]
    assert (one["chosen_model"], one["order_agreement"]) == ("ash", "one-sided")


@pytest.mark.slow
def test_pooled_judges_make_one_row_per_pair_with_their_mean_credit(
    export: Any, tmp_path: Path
) -> None:
    rows, answer = export(write_verdicts(tmp_path / "verdicts.csv"), "--pool", "--ties")
    found = {row["item"]: row for row in rows}
    assert set(found) == {"wins", "ties", "half"}
    assert (found["half"]["judge"], found["half"]["credit"]) == ("j1, j2", 0.875)
    assert found["half"]["order_agreement"] == "mixed"
    assert (found["wins"]["credit"], found["wins"]["order_agreement"]) == (0.5, "same")
    assert "wrote 3 of 6 pairs" in answer.err


def test_repeats_of_a_judge_make_one_row(export: Any, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    header = "item,instruction,model_a,model_b,response_a,response_b,repeat,credit"
    rows = [f"q{k},Why {k}?,ash,elm,a{k},b{k},{n},{int(n < 2)}" for k in range(3) for n in range(3)]
    turned = ["q0,Why 0?,elm,ash,b0,a0,3,0"]
    table.write_text("\n".join([header, *rows, *turned]), encoding="utf-8")
    found, _ = export(table)
    assert {row["item"]: row["credit"] for row in found} == {
        "q0": 0.75,
        "q1": pytest.approx(2 / 3),
        "q2": pytest.approx(2 / 3),
    }
    assert {row["chosen_model"] for row in found} == {"ash"}


@pytest.mark.slow
def test_a_mean_of_a_half_is_a_tie_up_to_rounding(export: Any, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    header = "item,instruction,model_a,model_b,response_a,response_b,repeat,credit"
    rows = [f"q1,Why?,ash,elm,a,b,{n},{own}" for n, own in enumerate(HALF)]
    rows += [f"q2,Why?,ash,elm,a,b,{n},1" for n in range(3)]
    table.write_text("\n".join([header, *rows]), encoding="utf-8")
    assert sum(HALF) / len(HALF) != 0.5
    found, answer = export(table)
    assert [row["item"] for row in found] == ["q2"]
    assert "withheld: 1 tie" in answer.err


@pytest.mark.slow
def test_no_model_is_always_the_chosen_one_of_ties(export: Any, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    header = "item,instruction,model_a,model_b,response_a,response_b,credit"
    rows = [f"q{k},Why {k}?,ash,elm,a{k},b{k},0.5" for k in range(60)]
    table.write_text("\n".join([header, *rows]), encoding="utf-8")
    found, _ = export(table, "--ties")
    chosen = [row["chosen_model"] for row in found]
    assert 15 < chosen.count("ash") < 45
    again, _ = export(table, "--ties")
    assert again == found


@pytest.mark.slow
def test_the_standard_form_has_plain_texts(export: Any, tmp_path: Path) -> None:
    rows, _ = export(write_verdicts(tmp_path / "verdicts.csv"), "--form", "standard")
    wins = by_pair(rows)["wins", "j1"]
    texts = [wins[name] for name in ("prompt", "chosen", "rejected")]
    assert texts == ["wins?", "ash on wins", "elm on wins"]


@pytest.mark.slow
def test_a_system_prompt_is_a_message_before_the_question(export: Any, tmp_path: Path) -> None:
    table, answers = tmp_path / "verdicts.csv", tmp_path / "answers.jsonl"
    table.write_text("item,model_a,model_b,credit\nq1,ash,elm,1\n", encoding="utf-8")
    about = {"id": "q1", "instruction": "Why?", "system": "Be brief."}
    lines = [json.dumps({**about, "model": name, "response": name}) for name in ("ash", "elm")]
    answers.write_text("\n".join(lines), encoding="utf-8")
    [row], _ = export(table, "--responses", answers)
    assert row["prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
    ]
    [row], _ = export(table, "--responses", answers, "--form", "standard")
    assert row["prompt"] == "Be brief.\n\nWhy?"


@pytest.mark.slow
def test_responses_may_be_in_other_files_and_lacking_ones_are_counted(
    export: Any, tmp_path: Path
) -> None:
    table = write_verdicts(tmp_path / "verdicts.csv", with_texts=False)
    answers = tmp_path / "answers.jsonl"
    lines = [
        json.dumps({"id": item, "instruction": f"{item}?", "model": name, "response": f"{name}!"})
        for item in ("wins", "flips")
        for name in ("ash", "elm")
    ]
    answers.write_text("\n".join(lines), encoding="utf-8")
    rows, answer = export(table, "--responses", answers)
    assert set(by_pair(rows)) == {("wins", "j1"), ("wins", "j2")}
    assert answer.code == 3
    assert "wrote 2 of 8 pairs" in answer.err
    assert "withheld: 2 unparsed, 3 without the texts, 1 flip (--flips would" in answer.err


@pytest.mark.slow
def test_verdicts_without_texts_are_an_error_that_names_the_option(
    export: Any, example: Path, tmp_path: Path
) -> None:
    rows, answer = export(example)
    assert (rows, answer.code) == ([], 2)
    assert "no texts of responses in" in answer.err
    assert "--responses answers/" in answer.err
    answers = tmp_path / "answers.jsonl"
    about = {"id": "other", "instruction": "Why?", "response": "So."}
    lines = [json.dumps({**about, "model": name}) for name in ("amber", "birch")]
    answers.write_text("\n".join(lines), encoding="utf-8")
    _, answer = export(example, "--responses", answers)
    assert answer.code == 2
    assert "must name items and models alike" in answer.err


def test_identical_responses_are_no_preference(export: Any, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    header = "item,instruction,model_a,model_b,response_a,response_b,credit"
    rows = ["q1,Why?,ash,elm,So.,So. ,1", "q2,Why?,ash,elm,So.,No.,1"]
    table.write_text("\n".join([header, *rows]), encoding="utf-8")
    found, answer = export(table, "--ties")
    assert [row["item"] for row in found] == ["q2"]
    assert "withheld: 1 with identical responses" in answer.err


def test_no_preference_at_all_is_an_error_with_the_reasons(export: Any, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    header = "item,instruction,model_a,model_b,response_a,response_b,credit"
    table.write_text(f"{header}\nq1,Why?,ash,elm,So.,No.,0.5\n", encoding="utf-8")
    _, answer = export(table)
    assert answer.code == 1
    said = "no preference to write: 0 of 1 pair; withheld: 1 tie (--ties would write them)"
    assert said in answer.err


@pytest.mark.slow
def test_a_table_without_items_says_which_column_to_name(export: Any, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    header = "question,model_a,model_b,response_a,response_b,credit"
    rows = [f"Why {k}?,ash,elm,So.,No.,{k % 2}" for k in range(9)]
    table.write_text("\n".join([header, *rows]), encoding="utf-8")
    _, answer = export(table)
    assert (answer.code, "no item column" in answer.err) == (2, True)
    rows, answer = export(table, "--columns", "item=question")
    assert (len(rows), answer.code) == (9, 0), answer.err
    assert rows[0]["prompt"] == [{"role": "user", "content": "Why 0?"}]


def test_lm_eval_samples_give_preferences_by_a_metric(export: Any, tmp_path: Path) -> None:
    for model, share in (("org/ash", 3), ("org/elm", 2)):
        rows = [
            sample(
                f"q{k}",
                {"acc": int(k % 4 < share)},
                place=k,
                resps=[[f"{model} on {k}"]],
                filtered_resps=[f"{model} on {k}"],
            )
            for k in range(24)
        ]
        write_run(tmp_path / "runs", model, {"quiz": rows})
    rows, answer = export(tmp_path / "runs")
    assert len(rows) == 6
    assert {row["chosen_model"] for row in rows} == {"org/ash"}
    [row] = [row for row in rows if row["prompt"][0]["content"] == "q2"]
    assert row["chosen"][0]["content"] == "org/ash on 2"
    assert (row["metric"], row["judge"], row["task"]) == ("acc,none", None, "quiz")
    assert "wrote 6 of 24 pairs" in answer.err
    assert "18 ties" in answer.err


@pytest.mark.slow
def test_a_ranking_holds_no_battles(podium: Podium, example: Path, tmp_path: Path) -> None:
    ranking = tmp_path / "rn.json"
    podium("rank", example, "-o", ranking)
    to = ("--to", "preference", "-o", tmp_path / "x.jsonl")
    wrong = podium("export", ranking, *to)
    assert (wrong.code, "is a ranking, which holds no battles" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("to", "option", "others"),
    [
        ("preference", ("--dataset", "a/b"), "every-eval-ever and hf-eval-results"),
        ("preference", ("--organization", "us"), "every-eval-ever"),
        ("hf-eval-results", ("--organization", "us"), "every-eval-ever"),
        ("every-eval-ever", ("--task-id", "t"), "hf-eval-results"),
        ("every-eval-ever", ("--source-url", "https://example.org/r"), "hf-eval-results"),
        ("every-eval-ever", ("--flips",), "preference"),
        ("every-eval-ever", ("--responses", "answers"), "preference"),
        ("hf-eval-results", ("--where", "judge=x"), "preference"),
    ],
)
def test_an_option_without_effect_is_rejected(
    podium: Podium, example: Path, tmp_path: Path, to: str, option: tuple[str, ...], others: str
) -> None:
    wrong = podium("export", example, "--to", to, *option, "-o", tmp_path / "x.jsonl")
    assert wrong.code == 2
    assert f"{option[0]} has no effect on --to {to}: it is for {others}" in wrong.err


def test_other_suffixes_are_rejected(podium: Podium, example: Path, tmp_path: Path) -> None:
    wrong = podium("export", example, "--to", "preference", "-o", tmp_path / "x.csv")
    assert (wrong.code, "name a .jsonl, .parquet file" in wrong.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["conversational", "standard"])
def test_datasets_loads_jsonl_and_parquet_alike(podium: Podium, tmp_path: Path, form: str) -> None:
    datasets = pytest.importorskip("datasets")
    verdicts = write_verdicts(tmp_path / "verdicts.csv")
    loaded = {}
    for suffix, kind in ((".jsonl", "json"), (".parquet", "parquet")):
        path = tmp_path / f"preferences{suffix}"
        to = ("--to", "preference", "--form", form, "-o", path)
        assert podium("export", verdicts, *to).code == 0
        cache = str(tmp_path / kind)
        loaded[kind] = datasets.load_dataset(
            kind, data_files=str(path), split="train", cache_dir=cache
        )
    assert loaded["json"].to_list() == loaded["parquet"].to_list()
    assert loaded["parquet"].column_names == COLUMNS
    features = loaded["parquet"].features
    text = datasets.Value("string")
    for name in ("prompt", "chosen", "rejected"):
        message = {"role": text, "content": text}
        assert features[name] == (text if form == "standard" else datasets.List(message))
    assert features["metric"] == features["task"] == text
    assert features["credit"] == datasets.Value("float64")


@pytest.mark.slow
def test_a_text_that_utf8_cannot_encode_is_escaped(podium: Podium, tmp_path: Path) -> None:
    rows = [
        {
            **{"item": "q1", "instruction": "Why?", "model_a": "ash", "model_b": "elm"},
            **{"response_a": "half \ud83d", "response_b": "No.", "credit": 1},
        }
    ]
    table = tmp_path / "verdicts.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for suffix in (".jsonl", ".parquet"):
        to = ("--to", "preference", "-o", tmp_path / f"out{suffix}")
        done = podium("export", table, *to)
        assert done.code == 0, done.err
