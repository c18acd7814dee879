"""AlpacaEval model_outputs.json: items are known by their instruction."""

from podium.notices.notice_text import notice_texts
from podium.responses.read import read_responses


def output(instruction, text, generator="wren"):
    return {"dataset": "koala", "instruction": instruction, "output": text, "generator": generator}


def test_the_generator_is_the_model_and_the_dataset_the_category(save):
    read = read_responses(save("model_outputs.json", [output("Say hi.", "Hi.")]))
    assert (read.models, read.items[0].category, read.items[0].instruction) == (
        ("wren",),
        "koala",
        "Say hi.",
    )


def test_two_models_meet_on_the_instruction_in_whatever_order(save):
    one = save("a/model_outputs.json", [output("Say hi.", "Hi."), output("Say bye.", "Bye.")])
    other = save(
        "b/model_outputs.json",
        [output("Say bye.", "Ciao.", "lark"), output("Say hi.", "Hello.", "lark")],
    )
    read = read_responses(one, other)
    hi = next(item.id for item in read.items if item.instruction == "Say hi.")
    assert (read.texts["wren"][hi], read.texts["lark"][hi]) == ("Hi.", "Hello.")


def test_a_null_output_is_missing(save):
    read = read_responses(
        save("model_outputs.json", [output("Say hi.", None), output("Say bye.", "Bye.")])
    )
    assert list(read.missing["wren"].values()) == ["empty response"]


def test_an_instruction_that_comes_twice_is_two_items(save):
    read = read_responses(
        save("model_outputs.json", [output("Say hi.", "Hi."), output("Say hi.", "Hello.")])
    )
    assert sorted(read.texts["wren"].values()) == ["Hello.", "Hi."]
    assert [one.id.endswith("#2") for one in read.items] == [False, True]


def test_results_tree_is_searched_and_other_files_are_reported(save, tmp_path):
    save("results/wren/model_outputs.json", [output("Say hi.", "Hi.")])
    save("results/lark/model_outputs.json", [output("Say hi.", "Hello.", "lark")])
    save("results/leaderboard.csv", "name,win_rate\nwren,50\n")
    read = read_responses(tmp_path / "results")
    assert read.models == ("lark", "wren")
    assert ["leaderboard.csv" in note for note in notice_texts(read.notes)] == [True]
