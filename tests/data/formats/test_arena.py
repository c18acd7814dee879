"""FastChat and Arena battles: winner model_a, model_b or a tie in many spellings."""

import json
import re

import pandas as pd
import pytest

import podium
from podium.notices.notice_text import notice_texts

HEADER = "question_id,model_a,model_b,winner,language\n"


def credit(save, winner):
    return (
        podium.read_battles(save("battles.csv", f"{HEADER}q1,alpha,beta,{winner},English\n"))
        .table["credit"]
        .iloc[0]
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("winner", "expected"), [("model_a", 1.0), ("model_b", 0.0), ("tie", 0.5)])
def test_the_winner_earns_the_credit(save, winner, expected):
    assert credit(save, winner) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "spelling",
    ["tie (bothbad)", "tie(bothbad)", "tie (both bad)", "tie(all bad)", "both_bad", "bothbad"],
)
def test_both_bad_is_a_tie_in_every_spelling(save, spelling):
    assert credit(save, spelling) == 0.5


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("winner", ["", "error", "invalid"])
def test_a_battle_without_winner_is_unparsed_with_its_reason(save, winner):
    battles = podium.read_battles(save("battles.csv", f"{HEADER}q1,alpha,beta,{winner},English\n"))
    assert battles.unparsed_reasons() == {"no winner": 1}


def test_an_unknown_winner_is_an_error_that_names_file_row_and_value(save):
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(
            save("battles.csv", f"{HEADER}q1,alpha,beta,tie,English\nq2,alpha,beta,draw,English\n")
        )
    for part in ("battles.csv", "row 2", "'draw'", "Remedy", "--credit-map"):
        assert part in str(caught.value)


def test_an_arena_battle_is_not_merged_with_its_mirror(save):
    text = f"{HEADER}q1,alpha,beta,model_a,English\nq1,beta,alpha,model_a,English\n"
    assert podium.read_battles(save("battles.csv", text)).counts().battles == 2


def test_question_and_language_become_item_and_category(save):
    row = (
        podium.read_battles(save("battles.csv", f"{HEADER}q1,alpha,beta,tie,English\n"))
        .to_frame()
        .iloc[0]
    )
    assert (row["item"], row["category"]) == ("q1", "English")


def test_foreign_columns_of_battles_are_kept(save):
    rows = [{"id": 1, "model_a": "x", "model_b": "y", "winner": "tie", "anony": True, "turn": 2}]
    table = podium.read_battles(save("battles.json", rows)).table
    assert (table["anony"].tolist(), table["turn"].tolist()) == ([True], [2])


def test_a_category_beside_a_language_stays(save):
    rows = [
        {
            "id": 1,
            "model_a": "x",
            "model_b": "y",
            "winner": "tie",
            "language": "en",
            "category": "code",
        }
    ]
    table = podium.read_battles(save("battles.jsonl", rows)).table
    assert (table["category"].tolist(), table["language"].tolist()) == (["code"], ["en"])


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("flags", "expected"), [("1,0,0", 1.0), ("0,1,0", 0.0), ("0,0,1", 0.5)])
def test_three_indicator_columns_say_the_winner(save, flags, expected):
    header = "id,model_a,model_b,prompt,winner_model_a,winner_model_b,winner_tie\n"
    table = podium.read_battles(save("train.csv", f"{header}30192,alpha,beta,p,{flags}\n")).table
    assert table["credit"].tolist() == [expected]
    assert table["item"].tolist() == ["30192"]


@pytest.mark.parametrize("flags", ["1,1,0", "0,0,0", "2,-1,0", "0.5,0,0.5", "inf,-inf,1"])
def test_indicators_that_name_no_single_winner_are_an_error(save, flags):
    header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    with pytest.raises(
        podium.DataError, match=r"train.csv, row 1: winner indicators .* exactly one"
    ):
        podium.read_battles(save("train.csv", f"{header}1,alpha,beta,{flags}\n"))


def test_empty_indicators_are_unparsed(save):
    header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    battles = podium.read_battles(
        save("train.csv", f"{header}1,alpha,beta,,,\n2,alpha,beta,1,0,0\n")
    )
    assert battles.counts().unparsed == 1


def test_a_table_without_question_says_that_rows_are_independent(save):
    battles = podium.read_battles(
        save("battles.csv", "model_a,model_b,winner\nx,y,model_a\nx,y,model_a\n")
    )
    assert notice_texts(battles.notes) == ("no item column: rows counted as independent",)
    assert battles.counts().items == 2


@pytest.mark.slow
@pytest.mark.parametrize("flags", ["1,,0", "0,,1", ",1,0", "0,1,", ",0,1", "1,0,NaN"])
def test_a_row_with_any_empty_indicator_is_unparsed_and_has_no_credit(save, flags):
    header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    battles = podium.read_battles(
        save("train.csv", f"{header}1,alpha,beta,{flags}\n2,alpha,beta,1,0,0\n")
    )
    assert (battles.counts().unparsed, battles.unparsed_reasons()) == (1, {"no winner": 1})
    assert battles.table["credit"].isna().tolist() == [True, False]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("cell", ["NaN", "null", "<NA>", "  "])
@pytest.mark.parametrize(
    ("name", "header"), [("arena", "model_a,model_b,winner"), ("evalica", "left,right,winner")]
)
def test_a_winner_that_spells_an_empty_cell_is_unparsed(save, name, header, cell):
    battles = podium.read_battles(
        save(f"{name}.csv", f"{header}\nalpha,beta,{cell}\nalpha,beta,tie\n")
    )
    assert (battles.counts().unparsed, battles.unparsed_reasons()) == (1, {"no winner": 1})


def test_a_winner_none_is_an_error_because_it_may_mean_a_tie(save):
    with pytest.raises(podium.DataError, match="'none' is not a known verdict"):
        credit(save, "none")


def test_a_model_called_none_still_wins_by_its_name(save):
    battles = podium.read_battles(
        save("battles.csv", "model_a,model_b,winner\nnone,beta,none\nnone,beta,model_b\n")
    )
    assert battles.table["credit"].tolist() == [1.0, 0.0]


def arena_row(number, winner, **more):
    return {"question_id": f"q{number}", "model_a": "x", "model_b": "y", "winner": winner, **more}


def arena_rows():
    """Rows of which Arena's scripts count the first four, and leave out six."""
    counted = {"anony": True, "dedup_tag": {"high_freq": False, "sampled": True}}
    frequent = {"anony": True, "dedup_tag": {"high_freq": True, "sampled": False}}
    named = {"anony": False, "dedup_tag": {"high_freq": False, "sampled": True}}
    return [
        *(arena_row(k, "model_a", **counted) for k in range(4)),
        *(arena_row(k, "model_b", **frequent) for k in range(4, 6)),
        *(arena_row(k, "model_b", **named) for k in range(6, 10)),
    ]


@pytest.fixture(params=["json", "jsonl", "csv", "parquet"])
def arena_file(request, save, tmp_path):
    """The rows in a file of each kind. In a CSV file, Python printed the objects."""
    if request.param != "csv":
        return save(f"battles.{request.param}", arena_rows())
    path = tmp_path / "battles.csv"
    pd.DataFrame(arena_rows()).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_rows_that_arenas_scripts_leave_out_count_and_are_named(podium, arena_file):
    """lm-sys/FastChat, elo_analysis.py: only rows with `anony` are rated."""
    done = podium("rank", arena_file)
    assert "10 battles" in done.out
    [line] = [line for line in done.err.splitlines() if "Arena's own scripts" in line]
    assert "leave out 6 of these 10 battles" in line
    assert "4 without anony=true, 2 without dedup_tag.sampled=true" in line


@pytest.mark.slow
def test_the_option_in_the_line_leaves_them_out_and_says_how_many(podium, arena_file):
    line = podium("rank", arena_file).err
    option = re.search(r"--where .*true(?= leaves)", line)[0]
    done = podium("rank", arena_file, *option.split(), "--format", "json")
    ranking = json.loads(done.out)["rankings"][0]
    assert ranking["counts"]["battles"] == 4
    assert "6 of 10 battles are left out by anony=true, dedup_tag.sampled=true" in done.err
    assert "which count here" not in done.err


@pytest.mark.slow
def test_the_option_in_python_is_one_mapping(arena_file):
    [text] = [
        text for text in notice_texts(podium.read_battles(arena_file).notes) if "Arena" in text
    ]
    assert "where={'anony': 'true', 'dedup_tag.sampled': 'true'}" in text
    chosen = podium.read_battles(arena_file, where={"anony": "true", "dedup_tag.sampled": "true"})
    assert len(chosen) == 4


@pytest.mark.slow
def test_one_of_the_two_conditions_names_what_the_other_would_leave_out(podium, save):
    done = podium("rank", save("battles.json", arena_rows()), "--where", "anony=true")
    assert "4 of 10 battles are left out by anony=true" in done.err
    assert "leave out 2 of these 6 battles" in done.err


@pytest.mark.slow
def test_other_values_of_the_flags_are_conditions_like_any_other(podium, save):
    done = podium("rank", save("battles.json", arena_rows()), "--where", "anony=false")
    assert "4 battles" in done.out
    assert "Arena" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        [row for row in arena_rows() if not row["anony"]],
        [row | {"dedup_tag": {"sampled": True}, "anony": True} for row in arena_rows()],
        [{k: v for k, v in row.items() if k not in ("anony", "dedup_tag")} for row in arena_rows()],
    ],
    ids=["no row would remain", "every row counts", "no flags"],
)
def test_no_word_is_said_where_the_scripts_would_leave_out_all_rows_or_none(podium, save, rows):
    assert "Arena" not in podium("rank", save("battles.json", rows)).err


@pytest.mark.slow
def test_rows_without_the_field_are_left_out_as_by_the_notebook(podium, save):
    rows = arena_rows()
    rows[0]["dedup_tag"] = {"high_freq": False}
    rows[1]["dedup_tag"] = None
    path = save("battles.jsonl", rows)
    assert "leave out 8 of these 10" in podium("rank", path).err


def judged(winner, number, **more):
    row = {"question_id": number, "model_a": "x", "model_b": "y", "winner": winner}
    return row | {"judge": ["gpt-4", "pair-v2"]} | more


@pytest.mark.slow
def test_an_inconsistent_tie_is_a_tie_and_a_flip_and_the_others_agree(save):
    rows = [judged(w, k) for k, w in enumerate(["model_a", "tie", "tie (inconsistent)", "error"])]
    battles = podium.read_battles(save("battles.jsonl", rows))
    assert battles.table["credit"].tolist()[:3] == [1.0, 0.5, 0.5]
    report = battles.swaps()
    assert (report.same, report.half, report.flip, report.unparsed) == (2, 0, 1, 1)
    assert battles.counts().judgments == 8


def test_no_order_is_invented_where_no_tie_is_inconsistent(save):
    rows = [judged(w, k) for k, w in enumerate(["model_a", "tie"])]
    battles = podium.read_battles(save("battles.jsonl", rows))
    assert battles.swaps() is None
    assert "order" not in battles.table


def test_rows_without_a_question_are_not_turns_of_one_question(save):
    rows = [arena_row(k, "model_a", turn=k + 1) for k in range(4)]
    for row in rows[2:]:
        row["question_id"] = None
    battles = podium.read_battles(save("battles.jsonl", rows))
    assert battles.values_of("item") == ("q0", "q1")
    assert "question" not in battles.columns


def test_judges_that_are_lists_are_one_judge_with_its_templates(save):
    rows = [
        judged("model_a", 81, turn=1),
        judged("model_b", 81, turn=2, judge=["gpt-4", "pair-v2-multi-turn"]),
    ]
    battles = podium.read_battles(save("battles.jsonl", rows))
    assert battles.judges == ("gpt-4",)
    assert battles.judge_of("gpt-4").kind == "model"
    assert battles.table["template"].tolist() == ["pair-v2", "pair-v2-multi-turn"]


def votes(*voters):
    winners = ["model_a", "tie", "model_b", "model_a"]
    return [arena_row(k, winners[k % 4], judge=voter) for k, voter in enumerate(voters)]


def test_voters_are_pooled_counted_and_called_neither_judges_nor_a_jury(podium, save):
    path = save("votes.jsonl", votes(*(f"arena_user_{k % 3}" for k in range(12))))
    done = podium("rank", path)
    assert done.code == 0
    assert "12 battles" in done.out
    [line] = [line for line in done.err.splitlines() if "voter" in line]
    assert "3 voters gave 12 verdicts" in line
    shown = (done.out + done.err).lower()
    assert "jury" not in shown
    assert "judges" not in shown


def test_voters_are_humans_and_kept_in_a_column(save):
    battles = podium.read_battles(save("votes.jsonl", votes("arena_user_7", "arena_user_x")))
    assert battles.judges == ("voters",)
    assert battles.judge_of("voters").is_human
    assert battles.table["voter"].tolist() == ["arena_user_7", "arena_user_x"]


def test_votes_of_one_voter_can_be_chosen(save):
    path = save("votes.jsonl", votes("arena_user_7", "arena_user_x", "arena_user_7"))
    assert len(podium.read_battles(path, where={"voter": "arena_user_7"})) == 2


@pytest.mark.slow
def test_voters_of_several_files_are_one_population(save):
    paths = [save(f"{k}.jsonl", [arena_row(k, "model_a", judge=f"arena_user_{k}")]) for k in (1, 2)]
    battles = podium.read_battles(*paths)
    assert (battles.judges, len(battles)) == (("voters",), 2)


@pytest.mark.slow
def test_a_converted_table_keeps_its_voters(podium, save, tmp_path):
    path = save("votes.jsonl", votes("arena_user_7", "arena_user_x", "arena_user_7"))
    own = tmp_path / "own.csv"
    assert podium("convert", path, "-o", own).code == 0
    assert "2 voters gave 3 verdicts" in podium("rank", own).err


@pytest.mark.slow
def test_experts_who_agree_on_a_battle_are_two_votes_and_no_copies(save):
    rows = [
        {**arena_row(81, "model_a"), "judge": judge, "turn": 1}
        for judge in ("expert_1", "author_0")
    ]
    battles = podium.read_battles(save("human.jsonl", rows))
    assert (battles.judges, len(battles)) == (("voters",), 2)
    assert not [note for note in battles.notes if note.code == "rows-repeat"]
    one, two = (save(f"{k}.jsonl", [row]) for k, row in enumerate(rows))
    assert (len(podium.read_battles(one, two)), podium.read_battles(one, two).copies) == (2, 0)


def test_voters_beside_a_judge_are_two_sources(podium, save):
    done = podium("rank", save("votes.jsonl", votes("arena_user_1", "arena_user_2", "gpt-4")))
    assert done.code == 1
    assert "2 judges in one table (gpt-4, voters)" in done.err


def test_hashes_of_voters_stand_for_voters(save):
    rows = [arena_row(k, "model_a", judge_hash=f"{k % 2:x}") for k in range(4)]
    battles = podium.read_battles(save("votes.jsonl", rows))
    assert (battles.judges, battles.values_of("voter")) == (("voters",), ("0", "1"))


def talk(*answers):
    messages = []
    for answer in answers:
        messages += [{"role": "user", "content": "why?"}, {"role": "assistant", "content": answer}]
    return messages


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("cell", "length"),
    [
        (talk("abc", "de"), 5),
        (
            [
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "abcd"}, {"type": "image"}],
                }
            ],
            4,
        ),
        (["abc", None, "d"], 4),
        ([{"role": "user", "content": "why?"}], None),
        (None, None),
    ],
)
def test_the_length_of_a_conversation_is_that_of_its_answers(save, cell, length):
    rows = [arena_row(1, "model_a", conversation_a=cell, conversation_b=talk("abcdef"))]
    table = podium.read_battles(save("battles.jsonl", rows)).table
    lengths = [None if pd.isna(cell) else cell for cell in table["length_a"]]
    assert (lengths, table["length_b"].tolist()) == ([length], [6])
    assert "conversation_a" not in table


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("kind", ["json", "parquet", "csv"])
def test_lengths_are_the_same_in_every_kind_of_file(save, tmp_path, kind):
    rows = [
        arena_row(k, "model_a", conversation_a=talk("a" * k, "b"), conversation_b=talk("c"))
        for k in range(3)
    ]
    path = tmp_path / f"battles.{kind}"
    if kind == "csv":
        texts = [
            row | {name: json.dumps(row[name]) for name in ("conversation_a", "conversation_b")}
            for row in rows
        ]
        pd.DataFrame(texts).to_csv(path, index=False)
    else:
        path = save(path.name, rows)
    table = podium.read_battles(path).table
    assert table["length_a"].tolist() == [1, 2, 3]
    assert table["length_b"].tolist() == [1, 1, 1]


def test_responses_of_the_competition_are_lists_in_a_csv_file(tmp_path):
    path = tmp_path / "train.csv"
    flags = {"winner_model_a": 1, "winner_model_b": 0, "winner_tie": 0}
    sides = {"model_a": "x", "model_b": "y", "response_a": '["abc","de"]', "response_b": '["f"]'}
    pd.DataFrame([{"id": 1, **sides, "prompt": '["why?"]', **flags}]).to_csv(path, index=False)
    table = podium.read_battles(path).table
    assert (table["length_a"].tolist(), table["length_b"].tolist()) == ([5.0], [1.0])


@pytest.mark.slow
def test_length_control_works_on_conversations(podium, save):
    rows = [
        arena_row(
            k,
            "model_a" if k % 3 else "model_b",
            conversation_a=talk("a" * (5 + 7 * k % 31)),
            conversation_b=talk("b" * 11),
        )
        for k in range(60)
    ]
    done = podium("rank", save("battles.jsonl", rows), "--set", "length_control=true")
    assert done.code == 0, done.err


ANSWERS = [
    ([("user", "how?"), ("assistant", "héllo\n")], 6),
    ([("assistant", "a\U0001f600"), ("user", "x"), ("assistant", "bc")], 4),
    ([("assistant", None)], 0),
    ([("assistant", [{"type": "text", "text": "abc"}, {"type": "image"}])], 3),
    ([("assistant", 12345)], 0),
    ([("user", "only a question")], None),
    ([], None),
]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("messages", "length"), ANSWERS)
def test_lengths_count_the_characters_of_the_answers_whatever_a_message_holds(
    save, messages, length
):
    said = [{"role": role, "content": content} for role, content in messages]
    plain = [{"role": "assistant", "content": "1234"}]
    rows = [
        {"question_id": k, "model_a": "x", "model_b": "y", "winner": "tie"}
        | {"conversation_a": each, "conversation_b": plain}
        for k, each in enumerate([plain, said, plain])
    ]
    frame = podium.read_battles(save("v.jsonl", rows)).to_frame()
    expected = [4, float("nan") if length is None else length, 4]
    assert frame["length_a"].tolist() == pytest.approx(expected, nan_ok=True)
    assert frame["length_b"].tolist() == [4, 4, 4]


def test_lists_of_texts_and_texts_are_measured_as_messages_are(save):
    rows = [
        {"question_id": k, "model_a": "x", "model_b": "y", "winner": "tie"}
        | {"conversation_a": each, "conversation_b": ["123", "45"]}
        for k, each in enumerate([["a", "bc"], "abcdef", '[{"role": "assistant", "content": "z"}]'])
    ]
    frame = podium.read_battles(save("v.jsonl", rows)).to_frame()
    assert frame["length_a"].tolist() == [3, 6, 1]
    assert frame["length_b"].tolist() == [5, 5, 5]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("written", "length"),
    [
        (json.dumps, 3.0),
        (str, 3.0),
        (lambda talk: str(talk).replace("},", "}\n"), None),
    ],
    ids=["as JSON", "as Python prints lists", "as NumPy prints lists"],
)
def test_conversations_in_texts_have_the_lengths_of_their_answers(save, written, length):
    """A text that cannot be parsed has no known length: its own would count the question, too."""
    talk = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "abc"}]
    rows = [
        {
            "question_id": k,
            "model_a": "x",
            "model_b": "y",
            "winner": "model_a",
            "conversation_a": written(talk),
            "conversation_b": written(talk),
        }
        for k in range(3)
    ]
    path = save("votes.csv", pd.DataFrame(rows).to_csv(index=False))
    lengths = podium.read_battles(path).to_frame()["length_a"]
    assert lengths.isna().all() if length is None else [*lengths] == [length] * 3
