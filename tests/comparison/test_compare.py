"""Whether one model is better than another: answers, errors and messages."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from lm_eval_output import sample, scored, write_run
from places import EXAMPLE
from scipy import stats

import podium as api
from podium.comparison.compared_pair import ComparedPair
from podium.comparison.direct_battles import BattleColumns
from podium.comparison.equalized_credits import equalized_credits
from podium.errors import DataError, NotIdentifiedError, UsageError
from podium.rankers.errors.rank_sets import further_items

KINDS = ("by slice", "items that changed")


def test_two_tables_of_scores_are_compared_as_scipy_does(podium, scores):
    """Differences without skewness, which leaves nothing to correct."""
    rng = np.random.default_rng(1)
    old, half = rng.normal(1, 1, 150), rng.normal(0, 1.4, 75)
    new = old + 0.2 + np.concatenate([half, -half])
    answer = podium("compare", scores("new", new), scores("old", old), "--format", "json")
    found = json.loads(answer.out)["comparisons"][0]
    theirs = stats.ttest_rel(new, old)
    assert answer.code == 0
    assert (found["candidate"], found["baseline"], found["measure"]) == ("new", "old", "score")
    assert found["difference"] == pytest.approx(np.mean(new - old))
    assert found["p"] == pytest.approx(theirs.pvalue)
    assert (found["low"], found["high"]) == pytest.approx(
        tuple(theirs.confidence_interval(0.95)), abs=1e-6
    )
    assert found["wins"] == int((new > old).sum())
    assert len(found["item_results"]) == 150


@pytest.mark.slow
def test_answer_names_leader_gap_and_further_items_needed():
    found = api.compare("amber", "birch", EXAMPLE)
    first, items, further = found.answer
    assert first.startswith("amber is ahead of birch by 72 Elo (-")
    assert "), too close to call: p = ." in first
    assert items == "17 wins, 10 losses, 10 ties by item."
    assert further.startswith("If the true gap between amber and birch is the measured 72 Elo, ")
    assert further.endswith(
        " more items would separate them with 80% power. This number is for a test of these two "
        "models alone; a second test errs in 9%, not 5%, of cases: a tournament with until= plans "
        "both."
    )
    finding = found.findings[0]
    low, critical = finding.interval[0], stats.t.isf(0.025, finding.difference.items - 1)
    error = (finding.difference.value - low) / critical
    assert finding.further_items == further_items(40, critical, finding.difference.value / error)
    assert str(found).startswith(first)


@pytest.mark.slow
def test_a_gap_without_a_bound_above_is_said_to_be_at_least_its_lower_end():
    """Twelve wins of twelve bound the gap on one side: the win rate is at least .025^(1/12), which
    is 178 Elo."""
    swept = api.read_battles(
        pd.DataFrame(
            [{"item": f"q{k}", "model_a": "a", "model_b": "b", "credit": 1} for k in range(12)]
        )
    )
    ahead, behind = (api.compare(*pair, swept).answer[0] for pair in ("ab", "ba"))
    amount = "by at least 178 Elo: p < .001, exact sign test, paired by item."
    assert ahead == f"a is clearly ahead of b {amount}"
    assert behind == f"b is clearly behind a {amount}"


@pytest.mark.slow
def test_the_order_of_the_two_only_turns_the_sign():
    ahead, behind = (
        api.compare(*names, EXAMPLE).findings[0]
        for names in (("amber", "fjord"), ("fjord", "amber"))
    )
    assert behind.difference.value == pytest.approx(-ahead.difference.value)
    assert behind.interval == pytest.approx(
        tuple(-end for end in reversed(ahead.interval)), abs=1e-4
    )
    assert behind.tally[:2] == ahead.tally[1::-1]
    assert (
        api.compare("fjord", "amber", EXAMPLE)
        .answer[0]
        .startswith("fjord is clearly behind amber by ")
    )


@pytest.mark.slow
def test_several_candidates_are_corrected_by_holm_and_have_simultaneous_intervals():
    found = api.compare(EXAMPLE, baseline="birch")
    alone = [api.compare(own.candidate, "birch", EXAMPLE).findings[0] for own in found.findings]
    p = np.array([own.difference.p_value for own in alone])
    assert [own.p_adjusted for own in found.findings] == pytest.approx(list(api_holm(p)))
    for own, single in zip(found.findings, alone, strict=True):
        assert own.interval[0] < single.interval[0]
        assert own.interval[1] > single.interval[1]
    assert found.answer == (
        "Compared with birch, clearly behind: dune, ember, fjord; too close to call: amber, "
        "cedar (5 tests, Holm).",
    )
    chosen = api.compare(EXAMPLE, baseline="birch", candidates=["dune"])
    assert [own.candidate for own in chosen.findings] == ["dune"]


def api_holm(p):
    from statsmodels.stats.multitest import multipletests

    return multipletests(p, method="holm")[1]


@pytest.mark.slow
def test_details_of_several_candidates_name_each_and_report_unknowns_once(podium):
    out = podium(
        "compare", "examples/simulated/battles.csv", "--baseline", "birch", "--by", "category"
    ).out
    titles = [
        f"{kind}: {name}" for name in ("amber", "cedar", "dune", "ember", "fjord") for kind in KINDS
    ]
    assert [line for line in out.splitlines() if line.startswith(KINDS)] == titles
    assert out.count("identical answers are not counted") == 1


@pytest.mark.slow
def test_slices_show_where_it_wins():
    finding = api.compare("amber", "birch", EXAMPLE, by="category").findings[0]
    assert [own.slice for own in finding.slices] == ["code", "essay"]
    assert sum(own.difference.items for own in finding.slices) == finding.difference.items
    assert all(own.tests == 2 for own in finding.slices)


@pytest.mark.slow
def test_a_slice_without_verdicts_on_a_model_is_named_as_not_compared():
    table = pd.read_csv(EXAMPLE)
    is_amber = (table["model_a"] == "amber") | (table["model_b"] == "amber")
    found = api.compare(
        "amber", "birch", table[~(is_amber & (table["category"] == "code"))], by="category"
    )
    assert [own.slice for own in found.findings[0].slices] == ["essay"]
    assert found.failures == ("amber and birch, category=code: amber has no readable battle",)


@pytest.mark.slow
def test_identical_answers_differ_by_exactly_nothing_and_are_counted(tmp_path):
    """A judge gave the same answer two scores on three of eight items; those items count as even,
    and are not lost."""
    frame = pd.DataFrame({"item": [f"q{k}" for k in range(8)], "score": [1, 1, 1, 1, 0, 1, 0, 1.0]})
    other = frame.assign(score=[0, 0, 0, 1, 0, 0, 0, 0.0])
    frame.to_csv(tmp_path / "new.csv", index=False)
    other.to_csv(tmp_path / "old.csv", index=False)
    said = [{"item": f"q{k}", "instruction": f"Say {k}.", "response": f"{k}"} for k in range(8)]
    changed = [row if k < 3 else {**row, "response": f"no {k}"} for k, row in enumerate(said)]
    for name, rows in (("new", said), ("old", changed)):
        pd.DataFrame(rows).assign(model=name).to_json(
            tmp_path / f"{name}.jsonl", orient="records", lines=True
        )
    answers = [tmp_path / "new.jsonl", tmp_path / "old.jsonl"]
    found = api.compare(tmp_path / "new.csv", tmp_path / "old.csv", responses=answers).findings[0]
    assert found.identical == 3
    assert found.difference.items == 8
    assert found.difference.value == pytest.approx(2 / 8)
    assert found.tally == (2, 0, 6)
    without = api.compare(tmp_path / "new.csv", tmp_path / "old.csv").findings[0]
    assert without.identical is None
    assert without.difference.value == pytest.approx(5 / 8)


def test_identical_answers_get_equal_credit_in_every_battle():
    table = pd.DataFrame(
        {
            "item": ["q0", "q0", "q0", "q1", "q1"],
            "model_a": ["a", "c", "b", "a", "b"],
            "model_b": ["b", "a", "c", "c", "c"],
            "credit": [1.0, 0.2, 0.4, 1.0, 0.0],
        }
    )
    columns = BattleColumns(api.read_battles(table))
    credit = equalized_credits(columns, ComparedPair("a", "b", "auto", 0.95, {"q0"}))
    assert credit.tolist() == pytest.approx([0.5, 0.4, 0.6, 1.0, 0.0])


@pytest.mark.slow
def test_lm_eval_folders_of_one_model_are_two_runs_and_every_task_a_question(tmp_path, podium):
    tasks = {"gsm": [1, 0, 1, 1, 0] * 10, "arc": [1, 1, 1, 0, 0] * 10}
    runs = {"new": tasks, "old": {"gsm": [0, 0, 0, 1, 0] * 10, "arc": tasks["arc"]}}
    for name, own in runs.items():
        rows = {
            task: [
                sample(
                    f"q{k}",
                    {"acc": value},
                    place=k,
                    resps=[[f"{name} {k}" if task == "gsm" else str(k)]],
                )
                for k, value in enumerate(values)
            ]
            for task, values in own.items()
        }
        write_run(tmp_path / name, "same/model", rows)
    answer = podium("compare", tmp_path / "new", tmp_path / "old", "--format", "json")
    document = json.loads(answer.out)
    arc, gsm = document["comparisons"]
    assert (arc["task"], gsm["task"], gsm["metric"]) == ("arc", "gsm", "acc,none")
    assert (arc["identical"], gsm["identical"]) == (50, 0)
    assert gsm["difference"] == pytest.approx(0.4)
    assert gsm["p"] == pytest.approx(stats.binomtest(20, 20).pvalue)
    assert document["answer"] == [
        "new compared with old: clearly ahead on gsm; too close to call on arc (2 tests, Holm)."
    ]


@pytest.mark.slow
def test_compare_reports_different_prompts_and_rejects_different_items(tmp_path, podium):
    for name, start in (("new", "Q: "), ("old", "Question: ")):
        rows = [
            sample(
                f"q{k}",
                {"acc": k % 2},
                place=k,
                arguments={"gen_args_0": {"arg_0": f"{start}q{k}", "arg_1": {}}},
            )
            for k in range(6)
        ]
        write_run(tmp_path / name, "m", {"gsm": rows})
    answer = podium("compare", tmp_path / "new", tmp_path / "old")
    assert "6 items were put to models in different words" in answer.err
    write_run(
        tmp_path / "else", "m", {"gsm": [sample(f"z{k}", {"acc": 1}, place=k) for k in range(6)]}
    )
    answer = podium("compare", tmp_path / "new", tmp_path / "else")
    assert answer.code == 1
    assert "the runs of gsm share no input" in answer.err


@pytest.mark.slow
def test_compare_reports_a_metric_that_one_run_lacks(tmp_path, podium):
    write_run(tmp_path / "new", "m", {"gsm": scored([1, 0, 1]), "arc": scored([1, 1, 0])})
    write_run(
        tmp_path / "old", "m", {"gsm": scored([1, 0, 1]), "arc": scored([1, 1, 0], metric="f1")}
    )
    answer = podium("compare", tmp_path / "new", tmp_path / "old", "--metric", "acc")
    assert "has no acc,none" in answer.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("amber", "amber", EXAMPLE), "given twice"),
        (("ambre", "birch", EXAMPLE), "did you mean 'amber'"),
        (("amber", "birch"), "add their source: podium compare amber birch SOURCE"),
        (("amber",), "needs two models"),
        ((EXAMPLE, EXAMPLE), "given twice"),
    ],
)
def test_compare_names_the_misspelt_argument(words, complaint):
    with pytest.raises(UsageError, match=complaint):
        api.compare(*words)


@pytest.mark.slow
def test_compare_rejects_a_baseline_against_itself_and_candidates_without_a_baseline():
    with pytest.raises(UsageError, match="with itself"):
        api.compare(EXAMPLE, baseline="birch", candidates=["birch"])
    with pytest.raises(UsageError, match="name it"):
        api.compare("amber", "birch", EXAMPLE, candidates=["dune"])


def battles(*rows):
    return api.read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


@pytest.mark.slow
def test_models_that_nothing_connects_are_not_compared():
    apart = battles(
        ("q0", "a", "c", 1.0), ("q1", "a", "c", 0.0), ("q0", "b", "d", 1.0), ("q1", "b", "d", 0.0)
    )
    with pytest.raises(NotIdentifiedError, match=r"never met.*join"):
        api.compare("a", "b", apart)
    joined = [(f"q{k}", *pair, float(k % 2)) for k in range(8) for pair in (("a", "c"), ("c", "b"))]
    finding = api.compare("a", "b", battles(*joined)).findings[0]
    assert set(finding.differences) == {"elo"}
    assert not finding.is_distinguishable


def test_compare_rejects_battles_that_are_all_unparsed(podium, tmp_path):
    path = tmp_path / "unparsed.csv"
    path.write_text("item,model_a,model_b,credit\nq0,a,b,\nq1,a,b,\n")
    answer = podium("compare", "a", "b", path)
    assert answer.code == 1
    assert "none of the 2 battles has a readable verdict" in answer.err


def test_compare_reports_that_one_item_is_too_few(podium, scores):
    answer = podium("compare", scores("new", [1.0]), scores("old", [0.0]))
    assert answer.code == 0
    assert "too close to call: p = 1" in answer.out
    reason = "there are fewer than 8 items"
    assert f"How many more items would separate new from old is unknown: {reason}." in answer.out


def test_no_common_items_are_rejected(podium, scores, tmp_path):
    pd.DataFrame({"item": ["z1", "z2"], "score": [1.0, 0.0]}).to_csv(
        tmp_path / "old.csv", index=False
    )
    answer = podium("compare", scores("new", [1.0, 0.0]), tmp_path / "old.csv")
    assert answer.code == 1


def test_several_judges_are_rejected_unless_pooled():
    rows = [
        (f"q{k}", "a", "b", float(k % 3 > 0), judge) for k in range(9) for judge in ("one", "two")
    ]
    several = api.read_battles(
        pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "judge"])
    )
    with pytest.raises(NotIdentifiedError, match="2 judges"):
        api.compare("a", "b", several)
    assert api.compare("a", "b", several, pool=True).findings[0].difference.items == 9


def test_a_score_that_is_no_number_is_missing_and_counted(scores, tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("item,score\nq000,nan\nq001,0\nq002,1\n")
    finding = api.compare(scores("new", [1.0, 1.0, 1.0]), path).findings[0]
    assert (finding.unparsed, finding.missing, finding.difference.items) == (0, 1, 2)


@pytest.mark.slow
def test_models_asked_different_things_are_rejected(scores, tmp_path):
    for name, asked in (("new", "Add."), ("old", "Subtract.")):
        row = {"item": "q000", "instruction": asked, "response": "4", "model": name}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    answers = [tmp_path / "new.jsonl", tmp_path / "old.jsonl"]
    with pytest.raises(DataError, match="another input of item 'q000'"):
        api.compare(scores("new", [1.0]), scores("old", [0.0]), responses=answers)
    sources = (scores("new", [1.0]), scores("old", [0.0]))
    assert api.compare(*sources, responses=answers, allow="questions").findings


@pytest.mark.slow
def test_a_win_rate_is_asked_for_by_its_name():
    finding = api.compare("amber", "birch", EXAMPLE, measure="win-rate").findings[0]
    credit = finding.results.difference
    assert finding.difference.value == pytest.approx(credit.mean())
    assert "points" in api.compare("amber", "birch", EXAMPLE, measure="win-rate").answer[0]


@pytest.mark.slow
def test_a_frame_has_a_row_per_finding_and_slice():
    frame = api.compare(EXAMPLE, baseline="birch", by="category").to_frame()
    assert len(frame) == 5 * 3
    assert {"candidate", "difference", "low", "high", "p_adjusted", "slice"} <= set(frame)


def test_help_loads_neither_numpy_nor_a_host():
    code = (
        "import sys, podium.cli.main; print([m for m in ('numpy', 'inspect_ai', 'scipy') if m in "
        "sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_compare_explains_unknown_answers_under_the_table(podium, scores):
    answer = podium("compare", scores("new", np.arange(40) % 3), scores("old", np.arange(40) % 2))
    assert (
        "identical answers are not counted: no answers were found in the sources (add them with "
        "--responses)" in answer.out
    )


@pytest.mark.slow
def test_gate_output_calls_the_p_value_two_sided():
    """A gate uses one-sided bounds: it may pass where the two-sided test finds no difference."""
    required, plain = (
        api.compare("amber", "birch", EXAMPLE, require=own) for own in (["not-worse=200elo"], [])
    )
    assert "too close to call: two-sided p = " in required.answer[1]
    assert "too close to call: p = " in plain.answer[0]


def test_names_before_a_baseline_are_rejected_with_how_candidates_are_chosen() -> None:
    with pytest.raises(UsageError, match=r"directory: amber; with --baseline .* --candidate NAME"):
        api.compare("amber", EXAMPLE, baseline="dune")


@pytest.mark.slow
def test_missing_scores_are_missing_and_not_unparsed_as_in_rank(podium, tmp_path):
    """10 of the 50 scores of one model are missing."""
    path = tmp_path / "scores.csv"
    rows = [f"q{k},{k % 7},{'' if k < 10 else k % 5}" for k in range(50)]
    path.write_text("\n".join(["item,new,old", *rows]), encoding="utf-8")
    finding = api.compare("new", "old", path).findings[0]
    assert (finding.unparsed, finding.missing) == (0, 10)
    result = podium("compare", "new", "old", path)
    assert "40 items with both, 10 missing ·" in result.out
    comparison = json.loads(podium("compare", "new", "old", path, "--format", "json").out)[
        "comparisons"
    ][0]
    counts = json.loads(podium("rank", path, "--format", "json").out)["rankings"][0]["counts"]
    for name in ("unparsed", "missing"):
        assert comparison[name] == counts[name]


def test_scores_without_a_row_are_missing(tmp_path):
    rows = [f"q{k},{name},{k % size}" for name, size in (("new", 7), ("old", 5)) for k in range(50)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["item,model,score", *rows[:-10]]), encoding="utf-8")
    finding = api.compare("new", "old", path).findings[0]
    assert (finding.unparsed, finding.missing) == (0, 10)


def test_unparsed_verdicts_are_unparsed_and_not_missing(tmp_path):
    rows = [f"q{k},x,y,{'' if k < 3 else k % 2}" for k in range(20)]
    path = tmp_path / "verdicts.csv"
    path.write_text("\n".join(["item,model_a,model_b,credit", *rows]), encoding="utf-8")
    finding = api.compare("x", "y", path).findings[0]
    assert (finding.unparsed, finding.missing) == (3, None)
