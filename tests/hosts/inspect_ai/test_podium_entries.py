"""What podium keeps in logs: a log of another format or a damaged one is an error that names file
and field."""

import json
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import Score
from played_logs import MODELS, battles, place

import podium
from podium.errors import DataError, NotIdentifiedError
from podium.format_version import FORMAT_VERSION
from podium.hosts.inspect_ai.logs.podium_entries import (
    PackMetadata,
    TournamentMetadata,
    verdict_rows_in,
)
from podium.hosts.inspect_ai.tasks import round_robin
from podium.notices.notice_text import notice_texts


@pytest.fixture(scope="module")
def battle():
    return {"item": "q1", "instruction": "Say hi.", "model_a": "ash", "model_b": "oak", "round": 1}


def change_log(log, change):
    """Change a log on disk and return its file."""
    whole = read_eval_log(log.location)
    change(whole)
    write_eval_log(whole)
    return str(place(log))


def as_format_0_1(log):
    """Name the metadata as podium 0.1 did."""
    log.eval.metadata["podium_entrants"] = log.eval.metadata.pop("podium_models")
    del log.eval.metadata["podium_format"]


@pytest.mark.slow
def test_logs_of_another_format_are_rejected_by_name_and_version_with_what_to_do(
    play, write_responses, run_podium
):
    played = play(round_robin(responses=write_responses()))
    assert played.eval.metadata["podium_format"] == FORMAT_VERSION
    old = change_log(played, as_format_0_1)
    words = (
        f"{old}: an Inspect log of a tournament of format 0.1; this podium reads format "
        f"{FORMAT_VERSION}"
    )
    for read in (podium.read_battles, lambda path: round_robin(responses=path)):
        with pytest.raises(DataError) as error:
            read(old)
        assert words in str(error.value)
        assert "run `podium rank` on the verdicts" in str(error.value)
    code, out, err = run_podium("rank", old)
    assert (code, out) == (1, "")
    assert words in " ".join(err.split())
    play(round_robin(responses=write_responses(), seed=1))
    assert len(podium.read_battles(str(Path(old).parent))) == 36
    assert any(
        words in lost for lost in notice_texts(podium.read_battles(str(Path(old).parent)).lost)
    )


DAMAGES = {
    "podium_left_out": lambda log: log.eval.metadata.update(podium_left_out="many"),
    "response_b": lambda log: battles(log)[0].metadata.pop("response_b"),
    "judgments.1.order": lambda log: (
        battles(log)[0].scores["verdict"].metadata["podium"]["judgments"][1].pop("order")
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("field", DAMAGES)
def test_a_damaged_log_is_an_error_that_names_file_and_field(play, write_responses, field):
    log = change_log(play(round_robin(responses=write_responses())), DAMAGES[field])
    with pytest.raises(DataError) as error:
        podium.read_battles(log)
    assert str(error.value).startswith(f"{log}: podium's field {field!r} is damaged (")


@pytest.mark.parametrize("packed", [False, True])
def test_verdicts_of_format_0_1_in_a_score_are_rejected_by_field(battle, packed):
    kept = {**battle, "presentations": [], "margin": None, "prompt_hash": "0"}
    if packed:  # as podium 0.1 kept them: battles and judge calls column by column
        call = {"battle": 0, "order": "ab", "repeat": 0, "judge": "judge", "credit": 1.0}
        common = {
            name: kept[name] for name in ("item", "model_a", "model_b", "margin", "prompt_hash")
        }
        battles = {"rows": 1, "same": {**common, "credit": 1.0}, "columns": {}}
        kept = {"battles": battles, "presentations": {"rows": 1, "same": call, "columns": {}}}
    with pytest.raises(DataError, match="podium's field 'judgments' is damaged"):
        verdict_rows_in(Score(value=0.5, metadata={"podium": kept}))


def test_a_pack_holds_the_battles_of_its_samples_and_keys_are_as_in_the_log(battle):
    texts = {"ash": "hi", "oak": "hello"}
    shared = {name: battle[name] for name in ("item", "instruction", "round")}
    pack = PackMetadata.parse({**shared, "battles": [["ash", "oak", "oak"]], "responses": texts})
    [only] = pack.to_battles()
    texts = {"response_a": "hi", "response_b": "hello", "length_a": 2, "length_b": 5}
    assert only.to_log() == {**battle, "first": "oak", **texts}
    metadata = TournamentMetadata(format=FORMAT_VERSION, models=list(MODELS))
    assert metadata.to_log() == {"podium_format": FORMAT_VERSION, "podium_models": list(MODELS)}
    assert TournamentMetadata.parse(json.loads(json.dumps(metadata.to_log()))) == metadata


@pytest.mark.slow
def test_logs_of_one_judge_with_a_changed_prompt_are_not_pooled_and_the_message_says_why(
    play, write_responses, run_podium
):
    responses = write_responses()
    for tie in (False, True):
        play(round_robin(responses=responses, tie=tie), log_dir="both")
    with pytest.raises(NotIdentifiedError, match=r"2 judges .* differ in the prompt alone"):
        podium.rank(podium.read_battles("both"))
    code, _, err = run_podium("rank", "both")
    assert code == 1
    assert "differ in the prompt alone" in " ".join(err.split())
