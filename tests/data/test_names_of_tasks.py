"""--where finds a task by its whole name, and by the last part of it where that is unique."""

from pathlib import Path

import pytest

import podium

HEADER = "item,task,model_a,model_b,credit"


def write_tasks(path: Path, *tasks: str) -> Path:
    """Write a battle on each of these tasks."""
    rows = [f'q{k},"{task}",ash,elm,1' for k, task in enumerate(tasks)]
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["acme/advice", "advice"])
@pytest.mark.parametrize("value", ["acme/advice", "tournament of acme/advice"])
def test_a_task_is_found_by_its_name_and_by_the_last_part(
    tmp_path: Path, name: str, value: str
) -> None:
    path = write_tasks(tmp_path / "battles.csv", value, "acme/facts")
    battles = podium.read_battles(path, where={"task": name})
    assert [*battles.table["task"]] == [value]


@pytest.mark.parametrize("values", [("a/advice", "b/advice"), ("tournament of facts, a/advice",)])
def test_a_last_part_of_several_tasks_finds_none(tmp_path: Path, values: tuple[str, ...]) -> None:
    path = write_tasks(tmp_path / "battles.csv", *values)
    with pytest.raises(podium.UsageError, match="no row has task='advice'"):
        podium.read_battles(path, where={"task": "advice"})


def test_a_whole_name_is_no_last_part(tmp_path: Path) -> None:
    path = write_tasks(tmp_path / "battles.csv", "advice", "acme/advice")
    battles = podium.read_battles(path, where={"task": "advice"})
    assert [*battles.table["task"]] == ["advice"]
