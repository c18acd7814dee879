"""What a log keeps of its judges: every field of the record, read from the log's own records."""

import pytest
from played_logs import place

import podium
from podium.check_kinds import CHECKS
from podium.hosts.inspect_ai.tasks import round_robin
from podium.scorers.judge_record import JudgeRecord


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("name", ["a b", "org/模型: 7|x", "gpt-4"])
def test_a_log_tells_all_of_its_judge_whatever_it_is_called(
    play, behave, write_responses, name, pack
):
    models = {"gpt-4": 1.0, "elm": 0.5}
    judge = behave(name, bias=0.3)
    played = play(
        round_robin(
            responses=write_responses(models), realization="direct", replies="text", pack=pack
        ),
        judge,
    )
    battles = podium.read_battles(str(place(played)))
    [known] = battles.judge_records.values()
    assert known == JudgeRecord(
        name=battles.judges[0],
        kind="model",
        model=f"scripted/{name}",
        model_name=name,
        realization="direct",
        prompt=known.prompt,
        replies="text",
        settings=(("temperature", "0"),),
    )
    assert len(known.prompt) == 12
    assert podium.read_battles(str(place(played)), where={"judge": name}).judges == battles.judges
    codes = {warning.code for warning in podium.rank(battles).standings[0].warnings}
    names_itself = CHECKS["own model"].code in codes
    assert names_itself == (name == "gpt-4")


@pytest.mark.slow
def test_a_converted_log_keeps_what_is_known_of_its_judge(
    play, behave, write_responses, tmp_path, run_podium
):
    played = play(round_robin(responses=write_responses()), behave("a | b: c/d", bias=0.3))
    table = tmp_path / "battles.csv"
    assert run_podium("convert", str(place(played)), "-o", str(table))[0] == 0
    from_log, from_table = (podium.read_battles(str(path)) for path in (place(played), table))
    assert from_table.judge_records == from_log.judge_records
    ratings = [
        [entry.score for entry in podium.rank(battles).standings[0].entries]
        for battles in (from_log, from_table)
    ]
    assert ratings[0] == ratings[1]
