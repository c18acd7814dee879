"""Which columns of a score table say what was asked: numbers, several columns, references."""

import numpy as np
import pytest

import podium as package
from podium.check_results import Result
from podium.diagnosis.checks.comparability_checks import check_questions
from podium.errors import OtherQuestionError

ITEMS = 30
GOOD = [float(k % 5 != 0) for k in range(ITEMS)]
FAIR = [float(k % 3 != 1) for k in range(ITEMS)]
ORDER = np.random.default_rng(1).permutation(ITEMS).tolist()
"""The question of each id of the second model, where ids were shuffled."""
REFERENCES = ("target", "reference", "answer", "ground_truth", "gold", "expected_output")


def without_columns(_):
    return {}


def numbered(k):
    return {"input": 1000 + 17 * k}


def of_a_passage(k):
    return {"question": f"What is said of bird {k % 6}?", "context": f"Passage {k} is on birds."}


def instructed(k):
    return {"instruction": "Add the numbers.", "input": f"{k} and {7 * k + 1}"}


def table(asked, order=ORDER):
    """Return the scores of two models; the second has ids in another order.

    Args:
        asked: a function from the number of a question to its cells.
        order: the question of each id of the second model.
    """
    first = [{"item": k, "model": "a", "score": GOOD[k], **asked(k)} for k in range(ITEMS)]
    second = [
        {"item": k, "model": "b", "score": FAIR[own % ITEMS], **asked(own)}
        for k, own in enumerate(order)
    ]
    return first + second


def paired_credits(battles):
    """Return the credits of a by the sorted pairs of scores."""
    rows = battles.table[["score_a", "score_b"]].astype(float)
    return sorted(map(tuple, rows.to_numpy().tolist()))


def kind_of_question(battles):
    checks = check_questions(battles)
    return checks[0].result if checks else None


EXPECTED = sorted(zip(GOOD, FAIR, strict=True))
"""The pairs of scores on each question."""


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("asked", [numbered, of_a_passage, instructed])
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_shuffled_questions_are_paired_by_all_columns_that_say_what_was_asked(save, asked, suffix):
    made = package.read_battles(save(f"scores.{suffix}", table(asked)))
    assert "paired-by-input" in [note.code for note in made.notes]
    assert paired_credits(made) == EXPECTED


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("column", REFERENCES)
@pytest.mark.parametrize("value", [int, "answer {}".format])
def test_shuffled_questions_are_paired_by_their_own_reference_answers(save, column, value):
    made = package.read_battles(save("scores.jsonl", table(lambda k: {column: value(3 * k)})))
    assert "paired-by-input" in [note.code for note in made.notes]
    assert paired_credits(made) == EXPECTED


@pytest.mark.slow
@pytest.mark.parametrize("column", [name for name in REFERENCES if name != "answer"])
def test_reference_answers_that_recur_and_differ_for_most_ids_are_an_error(podium, save, column):
    letters = np.random.default_rng(5).choice([*"ABCD"], ITEMS).tolist()
    path = save("scores.jsonl", table(lambda k: {column: letters[k]}))
    with pytest.raises(OtherQuestionError, match=f"in the column {column}, and another reference"):
        package.read_battles(path)
    for words in (
        ("rank", path),
        ("compare", "a", "b", path),
        ("report", path),
        ("diagnose", path),
    ):
        refused = podium(*words)
        assert (refused.code, "--allow questions" in refused.err) == (1, True)
    accepted = podium("rank", path, "--allow", "questions")
    assert accepted.code == 0
    assert "Accepted with --allow questions" in accepted.out


@pytest.mark.slow
def test_a_corrected_reference_answer_is_flagged_and_its_item_is_not_compared(podium, save):
    letters = np.random.default_rng(5).choice([*"ABCD"], ITEMS).tolist()
    rows = table(lambda k: {"target": letters[k]}, range(ITEMS))
    rows[-1]["target"] = "E"
    path = save("scores.jsonl", rows)
    made = package.read_battles(path)
    assert made.counts().items == ITEMS - 1
    assert kind_of_question(made) is Result.FLAGGED
    for words in (("rank", path), ("compare", "a", "b", path)):
        assert "1 of 30 ids" in " ".join((podium(*words).out + podium(*words).err).split())


def test_other_questions_about_other_contexts_are_an_error(save):
    path = save("scores.csv", table(of_a_passage, range(100, 100 + ITEMS)))
    with pytest.raises(OtherQuestionError, match="columns question and context"):
        package.read_battles(path)


@pytest.mark.slow
def test_other_numbers_may_be_questions_or_tokens(podium, save):
    """Two tokenizers count other numbers of tokens for one question."""
    path = save("scores.csv", table(numbered, range(100, 100 + ITEMS)))
    made = package.read_battles(path)
    assert kind_of_question(made) is Result.NOT_KNOWN
    assert made.counts().items == ITEMS
    assert "questions, or numbers of tokens" in " ".join(podium("rank", path).out.split())


def test_numbers_of_tokens_beside_those_of_outputs_say_nothing(save):
    rows = [{**row, "output": 10 + row["item"]} for row in table(numbered)]
    assert kind_of_question(package.read_battles(save("scores.csv", rows))) is None


def test_what_each_model_retrieved_is_no_other_question(save):
    """The context of a system with a search of its own differs between models."""
    rows = []
    for row in table(lambda k: {"question": f"Who wrote book {k}?"}, range(ITEMS)):
        rows.append({**row, "context": f"{row['model']} found page {row['item']}."})
    made = package.read_battles(save("scores.jsonl", rows))
    assert made.counts().items == ITEMS
    assert "paired-by-input" not in [note.code for note in made.notes]


def test_answers_of_models_are_no_references(save):
    rows = []
    for row in table(without_columns, range(ITEMS)):
        rows.append({**row, "answer": f"{row['model']} says {row['item'] * 7}"})
    made = package.read_battles(save("scores.jsonl", rows))
    assert (made.counts().items, kind_of_question(made)) == (ITEMS, None)


def test_several_references_of_an_item_say_nothing(save):
    rows = []
    for number in (1, 2):
        for row in table(without_columns, range(ITEMS)):
            rows.append({**row, "repeat": number, "reference": f"text {number} of {row['item']}"})
    made = package.read_battles(save("scores.jsonl", rows))
    assert (made.counts().items, kind_of_question(made)) == (ITEMS, None)


def test_reference_answers_tell_ids_of_categories_apart(save):
    rows = []
    for category in ("math", "code"):
        for row in table(without_columns, range(ITEMS)):
            target = f"{category} {row['item']}"
            rows.append({**row, "category": category, "target": target})
    assert package.read_battles(save("scores.jsonl", rows)).counts().items == 2 * ITEMS


def test_numbers_have_one_form_in_files_of_integers_and_of_floats(save):
    rows = table(numbered, range(ITEMS))
    whole = save("a.csv", rows[:ITEMS])
    floats = save("b.csv", [{**row, "input": float(row["input"])} for row in rows[ITEMS:]])
    made = package.read_battles(whole, floats)
    assert (made.counts().items, paired_credits(made)) == (ITEMS, EXPECTED)
    assert kind_of_question(made) is not Result.NOT_KNOWN
