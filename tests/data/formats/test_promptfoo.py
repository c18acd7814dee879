"""promptfoo: fields as src/types/index.ts names them (EvaluateResult, version 3)."""

import json

import pytest

import podium
from podium.data.counting.duck import Duck
from podium.data.formats.compared_answers import ANSWER_DIGEST, comparing_answers
from podium.data.formats.containers import open_records
from podium.data.formats.promptfoo import frame_of_results
from podium.notices.notice_text import notice_texts

MODELS = ("openai:gpt-a", "openai:gpt-b")


def result(test, prompt, score, *, provider=None, **more):
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "provider": {"id": provider or MODELS[prompt], "label": ""},
        "prompt": {"raw": f"Solve {test}", "label": "Solve {{riddle}}"},
        "vars": {"riddle": f"riddle {test}"},
        "response": {"output": "An echo."},
        "score": score,
        "success": score == 1,
        "failureReason": 0 if score == 1 else 1,
        "namedScores": {},
        "gradingResult": {"pass": score == 1, "score": score},
    } | more


def evaluation(*results):
    """Return the document that `promptfoo export` and `promptfoo eval -o` write."""
    summary = {"version": 3, "prompts": [], "results": list(results), "stats": {"errors": 0}}
    return {"evalId": "eval-1", "results": summary, "config": {}, "shareableUrl": None}


def eight_results():
    scores = [(1, 0.5), (0.75, 0.75), (1, 0), (0, 0)]
    return [result(test, k, scores[test][k]) for test in range(4) for k in range(2)]


def write(folder, content, *, indent=None, name="results.json"):
    path = folder / name
    path.write_text(json.dumps(content, indent=indent))
    return path


def means_of(path, **options):
    ranking = podium.rank(podium.read_battles(path, **options))
    return {entry.model: entry.score for entry in ranking.standings[0].entries}


@pytest.mark.slow
@pytest.mark.parametrize("indent", [None, 2])
def test_the_whole_document_is_a_score_per_test_and_provider(tmp_path, indent):
    path = write(tmp_path, evaluation(*eight_results()), indent=indent)
    battles = podium.read_battles(path)
    assert (battles.counts().items, battles.models) == (4, MODELS)
    assert battles.to_frame()["credit"].tolist() == [1.0, 0.5, 1.0, 0.5]
    assert means_of(path) == pytest.approx(dict(zip(MODELS, (0.6875, 0.3125), strict=True)))


@pytest.mark.slow
def test_a_summary_alone_and_json_lines_are_the_same(tmp_path):
    summary = write(tmp_path, evaluation(*eight_results())["results"], name="summary.json")
    lines = tmp_path / "results.jsonl"
    lines.write_text("\n".join(map(json.dumps, eight_results())))
    assert means_of(summary) == means_of(lines)


def test_two_files_of_the_same_tests_are_compared(tmp_path):
    rows = eight_results()
    one = write(tmp_path, evaluation(*rows[::2]), name="one.json")
    two = write(tmp_path, evaluation(*rows[1::2]), name="two.json")
    assert podium.read_battles(one, two).counts().battles == 4


def test_other_tests_under_the_same_number_are_not_compared_unasked(tmp_path):
    rows = eight_results()
    other = [row | {"vars": {"riddle": f"another {row['testIdx']}"}} for row in rows[1::2]]
    one = write(tmp_path, evaluation(*rows[::2]), name="one.json")
    two = write(tmp_path, evaluation(*other), name="two.json")
    with pytest.raises(podium.PodiumError):
        podium.read_battles(one, two)


@pytest.mark.slow
def test_a_failed_call_has_no_score(tmp_path):
    rows = eight_results()
    rows[1] |= {"failureReason": 2, "score": 0, "error": "API error: 500"}
    battles = podium.read_battles(write(tmp_path, evaluation(*rows)))
    assert battles.counts().missing == 1
    assert means_of(write(tmp_path, evaluation(*rows)))[MODELS[1]] == pytest.approx(0.25)


def test_a_failed_call_of_an_older_file_has_no_score_either(tmp_path):
    rows = [{k: v for k, v in row.items() if k != "failureReason"} for row in eight_results()]
    rows[1] |= {"gradingResult": None, "score": 0, "error": "API error: 500"}
    rows[3] |= {"error": "Expected output to contain echo"}
    assert podium.read_battles(write(tmp_path, evaluation(*rows))).counts().missing == 1


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("reason", [None, ""])
def test_a_failed_call_without_a_reason_beside_others_has_no_score(tmp_path, reason):
    rows = eight_results()
    rows[1] |= {"gradingResult": None, "score": 0, "error": "500", "failureReason": reason}
    rows[3] |= {"error": "Expected output to contain echo", "failureReason": reason}
    assert podium.read_battles(write(tmp_path, evaluation(*rows))).counts().missing == 1


@pytest.mark.slow
def test_a_failed_call_is_missing_in_the_named_scores_of_its_test(tmp_path):
    rows = [result(test, model, 1) for test in range(4) for model in range(2)]
    rows += [result(test, 2, 0, provider="openai:gpt-c") for test in range(4)]
    for row in rows:
        row["namedScores"] = {"tone": row["testIdx"] % 2}
    for row in rows[8:]:
        row |= {"failureReason": 2, "error": "API error: 500", "namedScores": {}}
    path = write(tmp_path, evaluation(*rows))
    for metric in ("score", "tone"):
        battles = podium.read_battles(path, where={"metric": metric})
        assert battles.models == (*MODELS, "openai:gpt-c")
        assert battles.counts().missing == 8


def test_a_failed_call_is_not_missing_where_its_test_has_no_such_score(tmp_path):
    rows = [row | {"namedScores": {"tone": 1}} for row in eight_results()]
    for row in rows[:2]:
        row["namedScores"] = None
    rows[1] |= {"failureReason": 2, "score": 0, "error": "API error: 500"}
    path = write(tmp_path, evaluation(*rows))
    assert podium.read_battles(path, where={"metric": "tone"}).counts().missing == 0


@pytest.mark.slow
def test_named_scores_are_metrics_of_their_own(tmp_path):
    rows = [row | {"namedScores": {"tone": row["testIdx"] % 2}} for row in eight_results()]
    path = write(tmp_path, evaluation(*rows))
    assert podium.read_battles(path).metrics == ("score", "tone")
    assert means_of(path, where={"metric": "score"}) == means_of(
        write(tmp_path, evaluation(*eight_results()), name="plain.json")
    )


@pytest.mark.slow
def test_a_provider_with_several_prompts_is_a_model_for_each(tmp_path):
    rows = [result(t, k, (t + k) % 2, provider="openai:gpt-a") for t in range(4) for k in range(2)]
    for row in rows:
        row["prompt"]["label"] = ("short", "long")[row["promptIdx"]]
    names = ("openai:gpt-a (prompt=long)", "openai:gpt-a (prompt=short)")
    assert podium.read_battles(write(tmp_path, evaluation(*rows))).models == names
    for row in rows:
        row["prompt"]["label"] = "same"
    names = ("openai:gpt-a (prompt=no. 0)", "openai:gpt-a (prompt=no. 1)")
    assert podium.read_battles(write(tmp_path, evaluation(*rows))).models == names


def test_a_label_of_a_provider_is_its_name(tmp_path):
    rows = eight_results()
    for row in rows:
        row["provider"]["label"] = "ab"[row["promptIdx"]]
    assert podium.read_battles(write(tmp_path, evaluation(*rows))).models == ("a", "b")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"provider": {}}, r"results.json, row 2: provider '\{\}' has neither an id nor a label"),
        ({"score": "good"}, r"results.json, row 2: score 'good' is not a number"),
        ({"namedScores": "tone 1"}, r"results.json, row 2: namedScores 'tone 1' is not an object"),
        ({"namedScores": [1]}, r"results.json, row 2: namedScores '?\[1\]'? is not an object"),
    ],
)
def test_what_cannot_be_read_names_file_row_and_value(tmp_path, change, message):
    rows = eight_results()
    rows[1] |= change
    with pytest.raises(podium.DataError, match=message):
        podium.read_battles(write(tmp_path, evaluation(*rows)))


def test_nothing_is_said_of_clean_results(tmp_path):
    battles = podium.read_battles(write(tmp_path, evaluation(*eight_results())))
    assert notice_texts(battles.notes) == ()


@pytest.mark.slow
@pytest.mark.parametrize("other", [{"riddle": "riddle 0", "tone": ["dry", 1.5]}, {"tone": "ü\n"}])
def test_variables_are_the_same_in_any_order_and_without_those_of_promptfoo(tmp_path, other):
    one, two = result(0, 0, 1), result(0, 1, 0)
    one["vars"] = other
    two["vars"] = {"sessionId": "s7", **dict(reversed(other.items())), "_conversation": [1]}
    for name, row in (("one", one), ("two", two)):
        write(tmp_path, evaluation(row), name=f"{name}.json")
    battles = podium.read_battles(tmp_path / "one.json", tmp_path / "two.json")
    assert battles.to_frame()["credit"].tolist() == [1.0]


def test_variables_in_a_table_are_texts(tmp_path):
    lines = ["promptIdx,testIdx,provider,vars,score"]
    lines += [f'{k},{test},{MODELS[k]},"{test} is it",{1 - k}' for test in range(3) for k in (0, 1)]
    path = tmp_path / "results.csv"
    path.write_text("\n".join(lines))
    assert podium.read_battles(path).counts().battles == 3


@pytest.mark.parametrize("twice", ['"results": []', '"evalId": "other"'])
def test_a_document_with_a_key_twice_is_an_error(tmp_path, twice):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(evaluation(*eight_results()))[:-1] + f", {twice}}}")
    with pytest.raises(podium.PodiumError, match="two values of"):
        podium.read_battles(path)


@pytest.mark.slow
def test_documents_are_read_by_the_database(tmp_path, monkeypatch):
    # Python reads them, too, but in three times the time.
    def read_document(path):
        raise AssertionError(f"Python reads {path}")

    monkeypatch.setattr("podium.data.formats.containers.read_document", read_document)
    document = evaluation(*eight_results())
    for name, content in (("whole", document), ("summary", document["results"])):
        assert podium.read_battles(write(tmp_path, content, name=f"{name}.json"))


def answered(test, prompt, score, output, **more):
    return result(test, prompt, score, **{"response": {"output": output}} | more)


def identical_in(*paths):
    return podium.compare(*MODELS, *map(str, paths)).findings[0].identical


def rows_with_answers():
    """Return six tests; the answers and scores of the first two are identical."""
    rows = []
    for test in range(6):
        is_same = test < 2
        rows.append(answered(test, 0, 1, f"says {test}"))
        rows.append(answered(test, 1, 1 if is_same else 0, f"says {test}" + "." * (not is_same)))
    return rows


@pytest.mark.slow
def test_identical_answers_are_counted_in_one_file_and_in_two(tmp_path):
    rows = rows_with_answers()
    both = write(tmp_path, evaluation(*rows))
    one = write(tmp_path, evaluation(*rows[::2]), name="one.json")
    two = write(tmp_path, evaluation(*rows[1::2]), name="two.json")
    assert identical_in(both) == identical_in(one, two) == 2


@pytest.mark.slow
def test_identical_answers_are_counted_beside_named_scores(tmp_path):
    rows = [row | {"namedScores": {"tone": 0.5}} for row in rows_with_answers()]
    path = write(tmp_path, evaluation(*rows))
    found = podium.compare(*MODELS, str(path), where={"metric": "tone"})
    assert found.findings[0].identical == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("second", "number"),
    [
        ({"output": {"city": "Rome"}}, 3),
        ({"output": '{"city":"Rome"}'}, 2),
        ({"output": None}, 2),
        ({}, 2),
    ],
)
def test_an_object_is_an_answer_and_a_missing_one_is_none(tmp_path, second, number):
    pair = [answered(6, 0, 1, {"city": "Rome"}), answered(6, 1, 1, "", response=second)]
    path = write(tmp_path, evaluation(*rows_with_answers(), *pair))
    assert identical_in(path) == number


def test_missing_answers_of_both_are_not_identical(tmp_path):
    pair = [result(6, k, 1, response={"output": None}) for k in range(2)]
    assert identical_in(write(tmp_path, evaluation(*rows_with_answers(), *pair))) == 2


@pytest.mark.slow
def test_the_answers_of_failed_calls_are_not_identical(tmp_path):
    pair = [answered(6, k, 0, "refused", failureReason=2, error="timeout") for k in range(2)]
    assert identical_in(write(tmp_path, evaluation(*rows_with_answers(), *pair))) == 2


@pytest.mark.slow
def test_identical_answers_with_other_scores_keep_their_difference(tmp_path):
    """An assertion on cost or latency may score one answer of two models differently."""
    pair = [answered(6, 0, 1, "the same"), answered(6, 1, 0.25, "the same")]
    path = write(tmp_path, evaluation(*rows_with_answers(), *pair))
    finding = podium.compare(*MODELS, str(path)).findings[0]
    results = finding.results
    assert finding.identical == 2
    assert results.difference[results.item == "6"].tolist() == [0.75]


def test_answers_are_read_only_to_compare_models(tmp_path):
    path = write(tmp_path, evaluation(*rows_with_answers()))
    records = open_records(path, Duck(), [])
    assert ANSWER_DIGEST not in frame_of_results(records)
    with comparing_answers():
        assert ANSWER_DIGEST in frame_of_results(records)
        assert ANSWER_DIGEST not in podium.read_battles(path).columns
