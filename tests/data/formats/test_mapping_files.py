"""Mapping files: options of reading that are kept beside the data."""

import pandas as pd
import pytest

import podium
from podium.notices.notice_text import notice_texts

VOTES = "question,left_model,right_model,vote\nq1,A,B,L\nq2,A,B,draw\nq3,B,A,R\n"
MAPPING = """\
# who votes, and how
columns:
  item: question
  model_a: left_model
  model_b: right_model
  credit: vote
credit-map: {L: 1, draw: 0.5, R: 0}
shown: a
"""


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


def credits_of(*sources, **options):
    return podium.read_battles(*sources, **options).to_frame()["credit"].tolist()


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["votes.podium.yaml", "podium.yaml"])
def test_the_file_beside_the_data_is_found_and_named(votes, name):
    votes.with_name(name).write_text(MAPPING)
    battles = podium.read_battles(votes)
    assert battles.to_frame()["credit"].tolist() == [1, 0.5, 0]
    assert battles.to_frame()["order"].tolist() == ["ab"] * 3
    [line] = [text for text in notice_texts(battles.notes) if name in text]
    assert line == f"read as {votes.with_name(name)} declares (columns, credit_map, shown)"
    assert battles.reading["columns"]["item"] == "question"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["{}", "label={}", "{}/*.csv", "{}/v.csv.gz"])
def test_folders_globs_labels_and_compressed_files_have_one_too(tmp_path, form):
    pd.read_csv(pd.io.common.StringIO(VOTES)).to_csv(
        tmp_path / ("v.csv.gz" if form.endswith("gz") else "v.csv"), index=False
    )
    name = "v.podium.yaml" if form.endswith("gz") else "podium.yaml"
    (tmp_path / name).write_text(MAPPING)
    assert credits_of(form.format(tmp_path)) == [1, 0.5, 0]


def test_the_files_own_mapping_counts_and_not_that_of_the_folder(votes):
    votes.with_name("podium.yaml").write_text("columns: {item: nothing}\n")
    votes.with_name("votes.podium.yaml").write_text(MAPPING)
    assert credits_of(votes) == [1, 0.5, 0]


@pytest.mark.slow
def test_an_option_counts_and_not_the_key_of_the_file(votes):
    votes.with_name("podium.yaml").write_text(MAPPING)
    assert credits_of(votes, credit_map={"L": 0, "draw": 0.5, "R": 1}) == [0, 0.5, 1]
    assert credits_of(votes, where={"item": "q1"}) == [1]


@pytest.mark.slow
def test_a_file_can_be_named_or_left_out(votes, tmp_path):
    other = tmp_path / "elsewhere.yaml"
    other.write_text(MAPPING)
    assert credits_of(votes, mapping=str(other)) == [1, 0.5, 0]
    votes.with_name("podium.yaml").write_text("columns: {item: nothing}\n")
    with pytest.raises(podium.DataError, match="no known format"):
        podium.read_battles(votes, mapping="none")
    with pytest.raises(podium.UsageError, match=r"no such mapping file: .*gone\.yaml"):
        podium.read_battles(votes, mapping=str(tmp_path / "gone.yaml"))


@pytest.mark.slow
def test_conditions_of_the_file_and_of_the_option_both_count(votes):
    votes.with_name("podium.yaml").write_text(f"{MAPPING}where: {{left_model: A}}\n")
    with pytest.raises(podium.UsageError, match="no column 'left_model'"):
        podium.read_battles(votes)
    votes.with_name("podium.yaml").write_text(f"{MAPPING}where: {{model_a: A}}\n")
    assert credits_of(votes) == [1, 0.5]
    assert credits_of(votes, where={"item": "q2"}) == [0.5]


def test_words_of_yaml_for_truths_are_texts(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("item,model_a,model_b,credit\n1,x,y,yes\n2,x,y,no\n3,x,y,1\n")
    path.with_name("podium.yaml").write_text("credit_map: {yes: 1, no: 0, 1: 0.5}\n")
    assert credits_of(path) == [1, 0, 0.5]


REFUSALS = {
    "column: {item: q}": r"column: unknown key.*known keys: .*columns",
    "columns: q": "columns: 'q' is not a mapping of texts",
    "columns: {item: [q]}": "columns: .* is not a mapping of texts",
    "columns: {itm: q}": "column of podium's table.*itm",
    "credit_map: {L: win}": "credit_map: the credit 'win' of 'L' is not a number",
    "credit_map: {L: 1.5}": "credit_map: the credit '1.5' of 'L' is not a number in",
    "credit_map: {L: nan}": "credit_map: the credit 'nan'",
    "shown: c": "shown: 'c' is not one of a, b, unknown",
    "unknown: unparsed": "unknown=unparsed is for verdicts",
    "lower_is_better: perhaps": "lower_is_better: 'perhaps' is neither true nor false",
    "encoding: latin-99": "encoding='latin-99': Python knows no such encoding",
    "ids: local": "ids='local'",
    "columns: {a: b": "not YAML",
    "columns: {item: a, item: b}": "line 1: two values of 'item'",
    "columns: {item: a}\ncolumns: {item: b}": "line 2: two values of 'columns'",
    "from: arena\nformat: arena": "two values of 'format'",
    "human-judge: x\nhuman_judge: y": "two values of 'human_judge'",
    "- columns": "not a mapping file",
    "": "not a mapping file",
}


@pytest.mark.parametrize(("content", "said"), REFUSALS.items())
def test_errors_name_the_file_and_the_key(votes, content, said):
    votes.with_name("podium.yaml").write_text(content)
    with pytest.raises(podium.PodiumError, match=said) as caught:
        podium.read_battles(votes)
    assert "podium.yaml" in str(caught.value) or "itm" in content


def test_sources_with_different_files_are_refused(votes):
    votes.with_name("votes.podium.yaml").write_text(MAPPING)
    other = votes.with_name("own.csv")
    other.write_text("item,model_a,model_b,credit\n1,A,B,1\n")
    with pytest.raises(podium.UsageError, match=r"votes\.podium\.yaml is not for all sources"):
        podium.read_battles(votes, other)
    assert credits_of(other) == [1]


@pytest.mark.slow
def test_the_file_of_a_folder_is_not_for_human_labels_in_it(votes):
    votes.with_name("podium.yaml").write_text(MAPPING)
    labels = votes.with_name("labels.csv")
    labels.write_text("item,model_a,model_b,credit\nq1,A,B,1\n")
    battles = podium.read_battles(votes)
    assert battles.to_frame()["credit"].tolist() == [1, 0.5, 0]
    from podium.data.query import BattleQuery
    from podium.data.reading.judgments import read_query

    query = BattleQuery([str(votes)], human_labels=[str(labels)])
    assert read_query(query).to_frame()["human"].notna().sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["{}", "crowd={}"])
@pytest.mark.parametrize("files", [1, 2])
def test_files_of_human_labels_are_read_with_their_own_mapping_files(votes, typed, files):
    votes.with_name("votes.podium.yaml").write_text(MAPPING)
    votes.with_name("podium.yaml").write_text("columns: {item: absent}")
    places = []
    for number in range(files):
        labels = votes.with_name(f"labels{number}.csv")
        labels.write_text("id,left,right,won\nq1,A,B,1\n")
        keys = "columns: {item: id, model_a: left, model_b: right, credit: won}"
        labels.with_suffix(".podium.yaml").write_text(keys)
        places.append(typed.format(labels))
    from podium.data.query import BattleQuery
    from podium.data.reading.judgments import read_query

    labelled = read_query(BattleQuery([str(votes)], human_labels=places))
    assert labelled.to_frame()["human"].notna().sum() == 1


def test_a_glob_of_human_labels_whose_files_need_other_mappings_is_refused(votes):
    from podium.data.query import BattleQuery
    from podium.data.reading.judgments import read_query

    content = votes.read_text()
    votes.with_name("votes.podium.yaml").write_text(MAPPING)
    for name in ("labels1.csv", "labels2.csv"):
        votes.with_name(name).write_text(content)
    votes.with_name("labels1.podium.yaml").write_text("columns: {item: prompt}")
    labels = str(votes.with_name("labels*.csv"))
    with pytest.raises(podium.UsageError, match="name these files one by one"):
        read_query(BattleQuery([str(votes)], human_labels=[labels]))


@pytest.mark.slow
def test_the_error_for_an_unknown_file_prints_a_mapping_that_can_be_saved(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("prompt,left,right,verdict\n1,A,B,win\n2,A,B,a tie: both\n")
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(path)
    remedy = str(caught.value)
    guess = remedy.partition("save the guess as votes.podium.yaml: ")[2]
    assert guess == (
        "{columns: {item: prompt, model_a: left, model_b: right, credit: verdict}, "
        'credit_map: {"a tie: both": "?", win: 1}}'
    )
    path.with_name("votes.podium.yaml").write_text(guess)
    with pytest.raises(podium.DataError, match=r"the credit '\?' of 'a tie: both'"):
        podium.read_battles(path)
    path.with_name("votes.podium.yaml").write_text(guess.replace('"?"', "0.5"))
    assert credits_of(path) == [1, 0.5]
