"""What the item is: the id, category and id, or the input of the row."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import podium
import podium as package
from podium.check_results import Result
from podium.comparability.asked_items import normal_words
from podium.data.counting.duck import Duck
from podium.data.formats.records import records_of, words_of_column
from podium.diagnosis.checks.comparability_checks import check_questions
from podium.errors import DataError, OtherQuestionError
from podium.notices.notice_text import notice_texts

CODES = ("ids-begin-anew", "ids-with-inputs-of-categories", "paired-by-input")


def battle(item, credit=1.0, a="a", b="b", **more):
    return {"item": str(item), "model_a": a, "model_b": b, "credit": credit, **more}


def score(item, model, value=1.0, **more):
    return {"item": str(item), "model": model, "score": value, **more}


def drawn(ids, categories, seed=0, **more):
    """Return a battle of every id in every category, with credits at random."""
    rng = np.random.default_rng(seed)
    pairs = product(categories, ids)
    return [battle(k, float(rng.integers(2)), category=name, **more) for name, k in pairs]


def codes_of(battles):
    return [note.code for note in battles.notes if note.code in CODES]


@pytest.mark.parametrize("start", [0, 1])
def test_ids_that_begin_anew_in_each_category_are_items_of_the_category(save, start):
    path = save("battles.jsonl", drawn(range(start, start + 12), ["math", "code"]))
    made = podium.read_battles(path)
    assert made.counts().items == 24
    assert codes_of(made) == ["ids-begin-anew"]
    assert set(made.values_of("category")) == {"code", "math"}
    [text] = [text for text in notice_texts(made.notes) if "anew" in text]
    assert "24 items" in text
    assert "ids='global'" in text


@pytest.mark.slow
def test_the_option_in_the_note_takes_the_id_alone(podium, save):
    path = save("battles.jsonl", drawn(range(12), ["math", "code"]))
    told = podium("rank", path)
    assert "--ids global takes the id alone" in told.err
    taken = podium("rank", path, "--ids", "global")
    assert "12 items" in taken.out
    assert "anew" not in taken.err


@pytest.mark.slow
def test_the_option_names_items_by_category_whatever_their_ids_are(podium, save):
    path = save("battles.jsonl", drawn(["x", "y"], ["math", "code"]))
    assert "2 items" in podium("rank", path).out
    assert "4 items" in podium("rank", path, "--ids", "per-category").out
    bare = save("bare.jsonl", [battle("x"), battle("y", 0.0)])
    refused = podium("rank", bare, "--ids", "per-category")
    assert refused.code == 2
    assert "no column category" in refused.err


def test_the_category_may_be_called_subset_as_in_reward_bench(save):
    """allenai/reward-bench#273: the ids of RewardBench begin anew in each subset."""
    rng = np.random.default_rng(1)
    rows = []
    for subset, number in (("alpacaeval-easy", 15), ("refusals-offensive", 10), ("hep-cpp", 12)):
        for k, model in product(range(number), ("rm-1", "rm-2")):
            rows.append(score(k, model, float(rng.random()), subset=subset))
    made = podium.read_battles(save("scores.jsonl", rows))
    assert made.counts().items == 37
    assert codes_of(made) == ["ids-begin-anew"]


def test_reward_benchs_prompts_decide_where_the_file_has_them(save):
    """allenai/reward-bench#273, in the layout of its data: prompt, subset and id."""
    rng = np.random.default_rng(2)
    rows = []
    for subset, number, model in product(("easy", "hard"), range(8), ("rm-1", "rm-2")):
        prompt = f"Question {number} of the {subset} ones?"
        row = {"id": number + 30, "subset": subset, "prompt": prompt, "model": model}
        rows.append({**row, "score": float(rng.random())})
    path = save("scores.jsonl", rows)
    made = podium.read_battles(path, columns={"item": "id"})
    assert made.counts().items == 16
    assert codes_of(made) == ["ids-with-inputs-of-categories"]
    assert podium.read_battles(path, columns={"item": "id"}, ids="global").counts().items == 8


def test_ids_of_several_files_begin_anew_as_in_one(save):
    rng = np.random.default_rng(5)
    paths = []
    for model in ("a", "b"):
        rows = [
            score(k, model, float(rng.random()), category=c)
            for c, k in product(("x", "y"), range(9))
        ]
        paths.append(save(f"{model}.jsonl", rows))
    made = podium.read_battles(*paths)
    assert made.counts().items == 18


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("ids", "why"),
    [
        (["a", "b", "c"], "ids that are no numbers"),
        ([0, 1, 3, 4], "a gap"),
        ([81, 82, 83], "numbers that begin elsewhere"),
    ],
)
def test_other_ids_are_items_whatever_the_category_is(save, ids, why):
    made = podium.read_battles(save("battles.jsonl", drawn(ids, ["math", "code"])))
    assert made.counts().items == len(ids), why
    assert codes_of(made) == []


def test_numbers_that_go_on_in_the_next_category_are_items(save):
    rows = drawn(range(10), ["math"]) + drawn(range(10, 20), ["code"])
    made = podium.read_battles(save("battles.jsonl", rows))
    assert made.counts().items == 20
    assert codes_of(made) == []


def test_an_item_in_several_categories_stays_one_item(save):
    """Its rows are copies of each other."""
    rng = np.random.default_rng(3)
    credits = [float(rng.integers(2)) for _ in range(12)]
    rows = [battle(k, credits[k], category=c) for c, k in product(("math", "hard"), range(12))]
    made = podium.read_battles(save("battles.jsonl", rows))
    assert made.counts().items == 12
    assert codes_of(made) == []


def test_a_category_that_is_a_property_of_the_battle_changes_nothing(save):
    """The two responses of an item are of the same lengths in both categories."""
    rows = [
        battle(k, float((k * n) % 3 == 0), category=c, length_a=100 + 7 * k, length_b=90 + k)
        for (n, c), k in product(enumerate(("polite", "right")), range(15))
    ]
    made = podium.read_battles(save("battles.jsonl", rows))
    assert made.counts().items == 15
    assert codes_of(made) == []


def test_a_criterion_in_the_column_category_changes_nothing(save):
    """The verdicts of an item agree over criteria far more often than by chance."""
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=60)
    rows = []
    for criterion, k in product(("clear", "right", "short"), range(60)):
        flipped = rng.random() < 0.15
        rows.append(battle(k, float(truth[k] ^ flipped), category=criterion))
    made = podium.read_battles(save("battles.jsonl", rows))
    assert made.counts().items == 60
    assert codes_of(made) == []


def test_one_input_per_id_is_one_item_even_if_ids_begin_anew(save):
    rows = [
        battle(k, float((k + n) % 2), category=c, question=f"What is {k}?")
        for (n, c), k in product(enumerate(("math", "code")), range(12))
    ]
    made = podium.read_battles(save("battles.jsonl", rows))
    assert made.counts().items == 12
    assert codes_of(made) == []


def shuffled(models, number=12, column="question", **more):
    """Return scores of models, each with ids of its own for the same questions."""
    rows = []
    for shift, model in enumerate(models):
        for k in range(number):
            asked = {column: f"What is the number {(k + shift) % number}?"}
            rows.append(score(k, model, (k + shift) % number / number, **asked, **more))
    return rows


@pytest.mark.slow
def test_ids_that_were_shuffled_between_models_are_paired_by_input(save):
    path = save("scores.jsonl", shuffled(["a", "b", "c"]))
    made = podium.read_battles(path)
    assert codes_of(made) == ["paired-by-input"]
    assert made.counts().items == 12
    assert (made.table["credit"] == 0.5).all()
    by_id = podium.read_battles(path, ids="global")
    assert codes_of(by_id) == []
    assert not (by_id.table["credit"] == 0.5).all()


@pytest.mark.slow
@pytest.mark.parametrize("column", ["input", "query", "problem", "messages"])
def test_shuffled_ids_of_questions_of_which_some_are_asked_twice_are_paired_by_input(save, column):
    """Whoever asks a question twice asks it under two ids, in every file."""
    questions = [f"What is {k}?" for k in range(18)] + ["What is one?"] * 2
    draws = np.random.default_rng(2)
    paths = []
    for model in "ab":
        order = draws.permutation(len(questions))
        rows = [
            score(k, model, float(asked % 2), **{column: questions[asked]})
            for k, asked in enumerate(order)
        ]
        paths.append(save(f"{model}.jsonl", rows))
    made = podium.read_battles(*paths)
    assert codes_of(made) == ["paired-by-input"]
    assert made.counts().items == 19
    # Every question is as hard for both, so the models have equal scores on each.
    assert set(made.table["credit"]) == {0.5}


@pytest.mark.slow
def test_ids_that_were_shuffled_between_files_are_paired_by_input(save):
    paths = []
    for n, opponent in enumerate(("b", "c")):
        rows = [
            battle(k, 1.0, b=opponent, instruction=f"Say {(k + n) % 9} again.") for k in range(9)
        ]
        paths.append(save(f"{opponent}.jsonl", rows))
    made = podium.read_battles(*paths)
    assert codes_of(made) == ["paired-by-input"]
    item = made.table.groupby("instruction", observed=True)["item"].nunique()
    assert (item == 1).all()
    assert made.counts().items == 9


def test_questions_that_only_one_model_has_keep_ids_of_their_own(save):
    rows = shuffled(["a", "b"])
    rows.append(score("new", "a", 1.0, question="What else?"))
    made = podium.read_battles(save("scores.jsonl", rows))
    assert codes_of(made) == ["paired-by-input"]
    assert made.counts().items == 12


@pytest.mark.slow
def test_one_changed_input_is_an_error_that_shows_both_rows(save):
    rows = [
        battle(k, 1.0, b=other, question=f"What is {k}?")
        for other, k in product(("b", "c"), range(5))
    ]
    rows[8]["question"] = "What is three?"
    with pytest.raises(OtherQuestionError) as caught:
        podium.read_battles(save("battles.jsonl", rows))
    message = str(caught.value)
    assert "item '3'" in message
    for part in ("'What is 3?'", "'What is three?'", "line 4", "line 9", "allow='questions'"):
        assert part in message
    assert podium.read_battles(save("battles.jsonl", rows), ids="global").counts().items == 5
    allowed = podium.read_battles(save("battles.jsonl", rows), allow="questions")
    assert allowed.counts().items == 5
    assert "What is three?" in allowed.accepted[0]


@pytest.mark.slow
def test_files_that_ask_other_questions_under_the_same_ids_are_an_error(save):
    paths = []
    for name, other in (("one", "b"), ("two", "c")):
        rows = [
            battle(k, float(n), b=other, input=f"{name}: what is {k}?")
            for k, n in product(range(5), range(2))
        ]
        paths.append(save(f"{name}.jsonl", rows))
    with pytest.raises(OtherQuestionError, match=r"one\.jsonl.*two\.jsonl"):
        podium.read_battles(*paths)


def test_two_examples_of_one_id_in_a_file_are_an_error(save):
    """sgl-project/sgl-eval#39: two examples with the id `dup` overwrite each other."""
    rows = [
        score(k, model, 1.0, question=f"What is {k}?")
        for k, model in product(("x", "y", "z", "dup"), ("a", "b"))
    ]
    rows += [score("dup", model, 0.0, question="What is the other?") for model in ("a", "b")]
    with pytest.raises(OtherQuestionError, match="item 'dup'"):
        podium.read_battles(save("scores.jsonl", rows))


def test_blanks_at_the_ends_of_an_input_are_no_difference(save):
    rows = [
        battle(k, 1.0, b=other, question=f"What is {k}?{end}")
        for (other, end), k in product((("b", ""), ("c", "\r\n")), range(5))
    ]
    assert podium.read_battles(save("battles.jsonl", rows)).counts().items == 5


WRITTEN_OTHERWISE = [
    "  Is  the\tcafe\u0301\r\n{}  open? ",
    "Is\u00a0the cafe\u0301\u2028{}\u3000\u3000\x1copen?\x85",
]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("answer", [{}, {"response": "Yes"}], ids=["scores", "with answers"])
@pytest.mark.parametrize("written", WRITTEN_OTHERWISE)
def test_unicode_forms_and_white_space_of_an_input_are_no_difference(save, written, answer):
    forms = {"a": "Is the caf\u00e9 {} open?", "b": written}
    rows = []
    for (model, question), k in product(forms.items(), range(5)):
        rows.append(score(k, model, 1.0, question=question.format(k), **answer))
    made = podium.read_battles(save("scores.jsonl", rows))
    assert made.counts().items == 5
    assert not codes_of(made)


@pytest.mark.parametrize("written", WRITTEN_OTHERWISE)
def test_inputs_of_files_and_of_tables_have_one_form(written):
    rows = [{"item": "x", "input": written}]
    engine = Duck()
    records = records_of(engine, pd.DataFrame(rows), "table")
    ((words,),) = records.rows(words_of_column(records.columns["input"]))
    assert words == normal_words(written) == "Is the caf\u00e9 {} open?"


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    "prompt",
    [
        lambda row: f"Compare {row['model_a']} and {row['model_b']} on {row['item']}",
        lambda row: f"Compare {row['item']} shown {row['order']} by {row['model_b']}",
        lambda row: f"pair-{row['order']}",
        lambda row: len(str(row)) + 2 * (row["order"] == "ab"),
    ],
    ids=["of the pair", "of the row", "name of a template", "number of tokens"],
)
def test_the_prompt_of_a_judge_is_not_the_question(save, prompt):
    rows = [
        battle(k, 1.0, b=other, order=order)
        for k, other, order in product(range(6), ("b", "c", "d"), ("ab", "ba"))
    ]
    path = save("battles.jsonl", [row | {"prompt": prompt(row)} for row in rows])
    made = podium.read_battles(path)
    assert made.counts().items == 6
    assert codes_of(made) == []


def test_the_prompt_of_a_judge_of_single_answers_is_not_the_question(save):
    rows = [
        score(k, model, 1.0, prompt=f"Grade what {model} said on {k}.")
        for k, model in product(range(6), ("a", "b", "c"))
    ]
    assert podium.read_battles(save("scores.jsonl", rows)).counts().items == 6


def test_ids_that_stand_for_questions_in_each_pair_are_paired_by_input(save):
    rows = [
        battle((k * (n + 1)) % 7, 1.0, b=other, question=f"What is {k}?")
        for (n, other), k in product(enumerate(("b", "c")), range(7))
    ]
    made = podium.read_battles(save("battles.jsonl", rows))
    assert codes_of(made) == ["paired-by-input"]
    assert made.counts().items == 7


@pytest.mark.slow
def test_labels_of_humans_meet_items_that_are_named_by_category(podium, save):
    rows = drawn(range(12), ["math", "code"])
    labels = drawn(range(12), ["math", "code"], seed=7)
    done = podium("rank", save("b.jsonl", rows), "--human-labels", save("l.jsonl", labels))
    assert "label 24 of 24 battles" in done.err


@pytest.mark.slow
def test_compare_takes_scores_with_answers_whose_ids_were_shuffled_as_rank_does(podium, save):
    rows = shuffled(["a", "b"], column="instruction")
    path = save("s.jsonl", [row | {"response": f"It is {row['score']}"} for row in rows])
    assert podium("rank", path).code == 0
    done = podium("compare", "a", "b", path)
    assert done.code == 0
    assert "0 wins, 0 losses, 12 ties" in done.out


def turns_of(number=6):
    return [
        battle(k, float(turn == 1), judge="gpt", turn=turn)
        for k, turn in product(range(number), (1, 2))
    ]


@pytest.mark.slow
def test_turns_of_a_question_are_items_and_no_repeats_in_a_table_of_any_project(podium, save):
    """OpenEuroLLM/JudgeArena#21: the two turns of MT-bench are judged by calls of their own."""
    path = save("battles.jsonl", turns_of())
    done = podium("rank", path)
    assert "12 items" in done.out
    assert "id and turn together are the item (12 items); --ids global" in done.err
    assert "no judgment was repeated" in podium("diagnose", path).out
    assert "6 items" in podium("rank", path, "--ids", "global").out


@pytest.mark.slow
def test_a_table_that_was_converted_keeps_its_items(podium, save, tmp_path):
    path = tmp_path / "whole.parquet"
    assert podium("convert", save("battles.jsonl", turns_of()), "-o", path).code == 0
    made = podium("rank", path)
    assert "12 items" in made.out
    assert "turn" not in made.err


def test_a_turn_that_is_the_length_of_a_conversation_changes_nothing(podium, save):
    rows = [battle(k, float(k % 2), turn=1 + k % 3) for k in range(9)]
    done = podium("rank", save("battles.jsonl", rows))
    assert "9 items" in done.out
    assert "turn" not in done.err


def in_orders(numbers, items=8, swapped=False):
    """Return a judgment of each item per order and repeat; `numbers` are those of each order."""
    rows = []
    for k, order in product(range(items), ("ab", "ba")):
        for number in numbers[order]:
            row = battle(k, float(k % 2), order=order, repeat=number)
            if swapped and order == "ba":
                row |= {"model_a": "b", "model_b": "a", "credit": 1 - row["credit"], "order": "ab"}
            rows.append(row)
    return rows


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    "numbers",
    [{"ab": (1, 2), "ba": (3, 4)}, {"ab": (1,), "ba": (2,)}, {"ab": (1, 3), "ba": (2, 4)}],
)
def test_orders_are_merged_where_their_repeats_are_counted_on(save, numbers, swapped):
    made = podium.read_battles(save("battles.jsonl", in_orders(numbers, swapped=swapped)))
    assert len(made) == 8 * len(numbers["ab"])
    assert made.swaps().same == len(made)
    assert "repeats-numbered" in [note.code for note in made.notes]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    "numbers", [{"ab": (1, 2), "ba": (1, 2)}, {"ab": (1, 2), "ba": (1,)}, {"ab": (1, 2), "ba": ()}]
)
def test_repeats_that_have_a_number_in_both_orders_keep_their_numbers(save, numbers):
    made = podium.read_battles(save("battles.jsonl", in_orders(numbers)))
    assert "repeats-numbered" not in [note.code for note in made.notes]


def test_models_without_a_common_item_are_told_so(save):
    rows = [score("a", "m"), score("b", "m", 0.0), score("c", "n"), score("d", "n")]
    with pytest.raises(DataError, match="no two models have a score of the same item"):
        podium.read_battles(save("scores.jsonl", rows))


def test_models_that_were_asked_other_questions_under_the_same_ids_are_an_error(save):
    rows = []
    for k in range(30):
        rows.append(score(k, "m", k % 2, input=f"question {k}"))
        rows.append(score(k, "n", 1.0, input=f"another question {k}"))
    with pytest.raises(OtherQuestionError, match="question"):
        podium.read_battles(save("scores.jsonl", rows))
    allowed = podium.read_battles(save("scores.jsonl", rows), allow="questions")
    assert allowed.counts().items == 30


def in_two_kinds(pairs, name="prompt", **more):
    """Return battles of six ids, each of which stands for two questions for every pair."""
    return [
        battle(k, float(kind == "What"), *pair, **{name: f"{kind} is {k}?"}, **more)
        for pair, kind, k in product(pairs, ("What", "Who"), range(6))
    ]


def kind_of_question(made):
    """Return the result of the check `same question`, None if it is not listed."""
    return next((check.result for check in check_questions(made)), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prompt", "input", "question", "instruction"])
def test_inputs_that_recur_for_other_pairs_are_questions_of_their_own(save, name):
    made = podium.read_battles(save("battles.jsonl", in_two_kinds(["ab", "ac", "bc"], name)))
    assert made.counts().items == 12
    assert codes_of(made) == ["paired-by-input"]
    as_one = podium.read_battles(
        save("battles.jsonl", in_two_kinds(["ab", "ac", "bc"], name)), ids="global"
    )
    assert as_one.counts().items == 6


def test_a_column_called_question_needs_no_other_pair(save):
    made = podium.read_battles(save("battles.jsonl", in_two_kinds(["ab"], "question")))
    assert made.counts().items == 12


@pytest.mark.slow
def test_categories_name_battles_where_their_inputs_show_it(save):
    rows = in_two_kinds(["ab", "ac"])
    rows = [row | {"category": row["prompt"].split()[0]} for row in rows]
    made = podium.read_battles(save("battles.jsonl", rows))
    assert codes_of(made) == ["ids-with-inputs-of-categories"]
    assert made.counts().items == 12


@pytest.mark.slow
def test_an_input_that_is_shorter_than_the_responses_holds_none_of_them(save):
    rows = in_two_kinds(["ab"], length_a=400, length_b=500)
    assert podium.read_battles(save("battles.jsonl", rows)).counts().items == 12


def test_inputs_of_scores_that_recur_for_other_models_are_questions_of_their_own(save):
    rows = [
        score(k, model, float(kind == "What"), prompt=f"{kind} is {k}?")
        for kind, k, model in product(("What", "Who"), range(6), "ab")
    ]
    made = podium.read_battles(save("scores.jsonl", rows))
    assert made.counts().items == 12


@pytest.mark.slow
def test_inputs_of_which_nothing_shows_what_they_are_are_not_known(podium, save):
    path = save("battles.jsonl", [*in_two_kinds(["ab"]), *in_two_kinds(["ab"])])
    made = package.read_battles(path)
    assert made.counts().items == 6
    assert kind_of_question(made) is Result.NOT_KNOWN
    said = podium("rank", path, "--format", "json").out
    assert "6 of 6 ids have different texts in the column prompt" in said
    said = podium("rank", path, "--ids", "global", "--format", "json").out
    assert "column prompt" not in said


def test_prompts_that_hold_the_responses_say_nothing_of_the_question(save):
    rows = []
    for k, (a, b) in product(range(6), ("ab", "ac", "bc")):
        texts = {
            f"response_{side}": f"{model} says at some length: {k}"
            for side, model in (("a", a), ("b", b))
        }
        prompt = f"Which is better? {' or '.join(texts.values())}"
        rows.append(battle(k, 1.0, a, b, prompt=prompt, **texts))
    made = podium.read_battles(save("battles.jsonl", rows))
    assert made.counts().items == 6
    assert kind_of_question(made) is None


def test_prompts_that_differ_between_orders_say_nothing_of_the_question(save):
    rows = [
        battle(k, 1.0, "a", b, order=order, prompt=f"{k}, {b}, {order}")
        for k, b, order in product(range(6), "bc", ("ab", "ba"))
    ]
    assert kind_of_question(podium.read_battles(save("battles.jsonl", rows))) is None


def in_words(model, words, **more):
    """Return scores of a model on eight prompts that are made of a word each."""
    nouns = ("river", "tower", "engine", "forest", "window", "bridge", "planet", "orchard")
    return [score(k, model, 1.0, prompt=words.format(noun), **more) for k, noun in enumerate(nouns)]


@pytest.mark.slow
def test_prompts_of_other_questions_are_no_other_words(podium, save):
    """Prompts have the ids of others, and nothing says that they ask the same."""
    rows = in_words("a", "Name a {}.")
    rows += [score(k, "b", 0.0, prompt=f"How many days has month {k}?") for k in range(8)]
    path = save("scores.jsonl", rows)
    [finding] = package.read_battles(path).questions
    assert (finding.pairing, finding.is_reworded, finding.conflicts) == ("other inputs", False, 8)
    done = podium("rank", path)
    assert "If equal ids are the same questions, which the inputs do not show" in done.out
    assert "different words" not in done.err
    gate = podium("compare", "a", "b", path, "--require", "better")
    assert gate.out.startswith("UNDECIDED")


@pytest.mark.slow
def test_prompts_in_other_words_are_the_same_questions(podium, save):
    rows = in_words("a", "Name a {}.") + in_words("b", "Think of it, then name a {}.")
    done = podium("rank", save("scores.jsonl", rows))
    assert "8 items were put to models in different words" in done.err
    assert "If equal ids" not in done.out


@pytest.mark.slow
def test_prompts_of_which_a_judge_may_be_asked_are_not_known(save):
    rows = in_words("a", "Name a {}.", judge="j")
    rows += [score(k, "b", 0.0, prompt=f"Grade {k}!", judge="j") for k in range(8)]
    made = package.read_battles(save("scores.jsonl", rows))
    assert [own.pairing for own in made.questions] == ["undecided"]


@pytest.mark.slow
@pytest.mark.parametrize("answer", [{}, {"response": "Yes"}], ids=["scores", "with answers"])
def test_a_few_changed_questions_of_a_model_are_flagged_and_not_compared(podium, save, answer):
    """The rule is that of the logs of hosts."""
    rows = [score(k, "a", 1.0, input=f"What is {k}?", **answer) for k in range(30)]
    for k in range(30):
        asked = f"Why {k}?" if k < 3 else f"What is {k}?"
        rows.append(score(k, "b", 0.0, input=asked, **answer))
    path = save("scores.jsonl", rows)
    made = package.read_battles(path)
    assert made.counts().items == 27
    assert kind_of_question(made) is Result.FLAGGED
    for words in (("rank", path), ("compare", "a", "b", path)):
        done = podium(*words)
        said = " ".join((done.err + done.out).split())
        assert done.code == 0
        assert "3 of 30 ids (item 0: 'What is 0?' and 'Why 0?')" in said
        assert "enter no battle" not in said


def test_tables_without_inputs_beside_others_are_not_known_to_ask_the_same(save):
    first = save("a.jsonl", [score(k, "a", 1.0, input=f"What is {k}?") for k in range(5)])
    second = save("b.jsonl", [score(k, "b", 1.0) for k in range(5)])
    third = save("c.jsonl", [score(k, "c", 1.0) for k in range(5)])
    assert kind_of_question(package.read_battles(first, second)) is Result.NOT_KNOWN
    assert kind_of_question(package.read_battles(second, third)) is None


@pytest.mark.slow
@pytest.mark.parametrize("chances", [(0.5, 0.5), (1.0, 0.5), (0.0, 0.5), (1.0, 0.0), (0.98, 0.98)])
def test_whether_ids_are_of_categories_does_not_depend_on_the_strength_of_models(chances):
    """A model that is always right is so on other questions, too."""
    numbers = []
    for seed in range(6):
        draws = np.random.default_rng(seed)
        rows = []
        for model, chance in zip("ab", chances, strict=True):
            for category in ("math", "code"):
                right = draws.random(20) < chance
                rows += [score(k, model, float(right[k]), category=category) for k in range(20)]
        numbers.append(podium.read_battles(pd.DataFrame(rows)).counts().items)
    assert numbers == [40] * 6


def test_equal_verdicts_of_one_model_show_one_question_beside_a_model_that_is_always_right():
    draws = np.random.default_rng(3)
    rows = []
    right = draws.random(20) < 0.5
    for category in ("math", "code"):
        rows += [score(k, "a", 1.0, category=category) for k in range(20)]
        rows += [score(k, "b", float(right[k]), category=category) for k in range(20)]
    assert podium.read_battles(pd.DataFrame(rows)).counts().items == 20
