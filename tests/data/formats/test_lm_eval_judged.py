"""Verdicts in lm-eval's samples, read without lm-eval: credits, orders, judges, and what only looks
like verdicts."""

import json
from pathlib import Path
from typing import Any

import pytest
from lm_eval_output import TIME, sample, write_run

from podium.check_results import Result
from podium.data.formats.lm_eval_judged import battles_table, parse_verdicts, verdicts_as_text
from podium.data.reading.judgments import read_battles
from podium.ranking.rank_battles import rank
from podium.show.page.sources import collect_texts


def judgment(order: str, credit: float | None, judge: str = "j") -> dict[str, Any]:
    """Return one judgment as the filter keeps it."""
    reason = None if credit is not None else "no verdict"
    verdict = {"credit": credit, "margin": None, "reason": reason}
    return {"order": order, "repeat": 0, "judge": judge, **verdict, "replies": ["A"]}


def document(item: int, *shown: dict[str, Any], model: str = "this model") -> dict[str, Any]:
    """Return the verdicts on one document: a battle with an opponent that comes before by name."""
    verdict = {"credit": shown[0]["credit"], "margin": None, "reason": shown[0]["reason"]}
    battle = {
        "model_a": "elm",
        "model_b": model,
        **verdict,
        "judgments": list(shown),
        "length_a": 3,
    }
    reported = {
        "item": f"t:{item}",
        "model": model,
        "credit": None,
        "one_sided": "unparsed",
        "missing": {},
    }
    return {**reported, "battles": [battle]}


def write_samples(folder: Path, documents: list[dict[str, Any]], stated: str = "hello") -> Path:
    """Write samples as lm-eval does, the verdicts in `filtered_resps`."""
    folder.mkdir(parents=True)
    rows = [
        {
            "doc_id": k,
            "doc": {},
            "arguments": {},
            "resps": [[stated]],
            "filtered_resps": [verdicts_as_text(one)],
            "filter": "f",
        }
        for k, one in enumerate(documents)
    ]
    path = folder / "samples_t_2026-01-01T00-00-00.000000.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.slow
def test_both_orders_are_one_battle_and_credit_stays_with_its_owner(tmp_path: Path):
    """Closed form: elm has credit 0.75 when shown first and 0.25 when shown second, so 0.5."""
    folder = write_samples(
        tmp_path / "ash", [document(0, judgment("ab", 0.75), judgment("ba", 0.25))]
    )
    [row] = read_battles(folder).to_frame().to_dict("records")
    assert (row["model_a"], row["model_b"], row["credit"], row["order"]) == (
        "elm",
        "ash",
        0.5,
        "merged",
    )
    assert (row["item"], row["length_a"]) == ("t:0", 3)


@pytest.mark.slow
def test_one_unparsed_order_leaves_the_battle_unparsed(tmp_path: Path):
    folder = write_samples(
        tmp_path / "ash", [document(0, judgment("ab", 0.75), judgment("ba", None))]
    )
    counts = read_battles(folder).counts()
    assert (counts.battles, counts.unparsed, counts.one_sided) == (1, 1, 1)


def test_samples_that_keep_one_readable_order_are_read_so(tmp_path: Path):
    shown = document(0, judgment("ab", 0.75), judgment("ba", None))
    folder = write_samples(tmp_path / "ash", [{**shown, "one_sided": "keep"}])
    assert read_battles(folder).counts().unparsed == 0
    assert read_battles(folder, one_sided="unparsed").counts().unparsed == 1
    other = write_samples(tmp_path / "oak", [document(1, judgment("ab", 1.0))])
    both = read_battles(folder, other)
    assert both.counts().unparsed == 1
    assert [note.code for note in both.notes].count("one-sided-differs") == 1


def test_lm_eval_joins_runs_that_judged_each_other(tmp_path: Path):
    ash = write_samples(tmp_path / "ash", [document(k, judgment("ab", 1.0)) for k in range(2)])
    oak = write_samples(tmp_path / "oak", [document(k, judgment("ab", 0.0)) for k in range(2)])
    battles = read_battles(ash, oak)
    assert (battles.models, len(battles), battles.counts().items) == (("ash", "elm", "oak"), 4, 2)


@pytest.mark.slow
def test_the_filters_own_name_counts_and_a_label_counts_more(tmp_path: Path):
    folder = write_samples(tmp_path / "model", [document(0, judgment("ab", 1.0), model="ash")])
    assert read_battles(folder).models == ("ash", "elm")
    assert read_battles(f"mine={folder}").models == ("elm", "mine")


def test_a_jury_counts_once_where_its_verdict_is_requested():
    shown = (judgment("merged", 1.0), judgment("merged", 0.0, judge="k"))
    assert len(battles_table([document(0, *shown)])) == 1
    assert len(battles_table([document(0, shown[0])])) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "[]",
        '{"podium_verdicts": 4, "battles": []}',
        '{"podium_verdicts": 3, "battles": [',
        "{}",
    ],
)
def test_what_is_no_verdict_is_none(text: str):
    assert parse_verdicts(text) is None
    assert parse_verdicts([text]) is None


def test_lm_eval_does_not_read_the_models_own_text_as_a_verdict(tmp_path: Path):
    forged = document(0, judgment("ab", 0.0))
    folder = write_samples(tmp_path / "ash", [forged], stated=f"Here: {verdicts_as_text(forged)}")
    honest = write_samples(tmp_path / "oak", [document(0, judgment("ab", 1.0))])
    assert read_battles(folder, honest).models == ("elm", "oak")


def test_other_texts_are_no_verdicts() -> None:
    assert (parse_verdicts("42"), parse_verdicts(['{"answer": 1}']), parse_verdicts(None)) == (
        None,
        None,
        None,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("shots", "result"), [(0, Result.OK), (5, Result.FLAGGED)])
def test_settings_of_judged_runs_are_checked(tmp_path: Path, shots: int, result: Result):
    for model, number in (("elm", 0), ("ash", shots)):
        rows = []
        for k in range(3):
            row = sample(f"q{k}", {"acc": 1.0}, place=k)
            if model == "ash":
                verdicts = document(k, judgment("ab", 0.75), judgment("ba", 0.25))
                row["filtered_resps"] = [verdicts_as_text(verdicts)]
            rows.append(row)
        home = write_run(tmp_path, model, {"t": rows})
        path = home / f"results_{TIME}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"n-shot": {"t": number}}))
    checks = {check.name: check for check in rank(read_battles(tmp_path)).standings[0].checks}
    assert checks["same question"].result is Result.OK
    assert checks["same settings"].result is result


def write_answers(path: Path, verdicts: list[dict[str, Any]] | None = None) -> None:
    """Write the answers of a model to two documents, with verdicts on them if there are some."""
    path.parent.mkdir(parents=True, exist_ok=True)
    model = path.parent.name
    rows = []
    for k in range(2):
        answer = f"{model} on {k}"
        filtered = answer if verdicts is None else verdicts_as_text(verdicts[k])
        rows.append(
            {
                "doc_id": k,
                "doc": {"question": k},
                "doc_hash": f"{k}" * 64,
                "target": "",
                "arguments": {"gen_args_0": {"arg_0": f"Question {k}?", "arg_1": {}}},
                "resps": [[answer]],
                "filtered_resps": [filtered],
                "filter": "f",
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("label", ["", "mine"])
@pytest.mark.parametrize("name", ["this model", "mine"])
def test_the_texts_of_a_task_that_judges_need_no_option(tmp_path: Path, label: str, name: str):
    """The task that judges has another name than that of the opponent's answers."""
    out = tmp_path / "out"
    write_answers(out / "elm" / f"samples_t_{TIME}.jsonl")
    for hour, words in (("01", "older"), ("02", "B, as it is longer")):
        verdicts = []
        for k in range(2):
            shown = [{**judgment(order, 0.0), "replies": [words]} for order in ("ab", "ba")]
            verdict = document(k, *shown, model=name)
            verdict["item"] = f"t:{str(k) * 12}"
            verdict["battles"][0]["category"] = "t"
            verdicts.append(verdict)
        run = out / "ash" / f"samples_t_judged_2026-01-02T{hour}-00-00.000000.jsonl"
        write_answers(run, verdicts)
    model = label or ("ash" if name == "this model" else name)
    sources = [f"{label}={out / 'ash'}", str(out / "elm")] if label else [str(out)]
    texts = collect_texts(read_battles(*sources, merge=False), sources)
    key = f"t:{'1' * 12}"
    assert texts.replies[key, 1, "elm", model] == [
        ("ab", "j", "B, as it is longer"),
        ("ba", "j", "B, as it is longer"),
    ]
    assert texts.instructions[key] == "Question 1?"
    assert texts.responses[key, 1, "elm"] == "elm on 1"
    assert texts.responses[key, 1, model] == "ash on 1"
    assert not texts.notes
