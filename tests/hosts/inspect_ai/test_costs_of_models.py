"""What the models' answers took, beside how good they are, on a page of a folder that holds their
own logs."""

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from podium import rank as rank_battles
from podium import read_battles
from podium.hosts.inspect_ai.tasks import round_robin
from podium.show.page.sources import costs_table

USAGE = {"amber": (10, 100, 0.25), "birch": (30, 300, None)}
"""Tokens in, tokens out and money, of every answer."""


def model(name):
    shown, written, money = USAGE[name]
    usage = ModelUsage(
        input_tokens=shown, output_tokens=written, total_tokens=shown + written, total_cost=money
    )
    answers = [ModelOutput.from_content(name, f"{name} quality={k % 3}") for k in range(3)]
    for answer in answers:
        answer.usage = usage
    return get_model(f"mockllm/{name}", custom_outputs=answers)


@pytest.fixture
def folder(behave, play):
    """Return a folder with the logs of two models and of their tournament."""
    dataset = [Sample(id=f"q{k}", input=f"quiz {k}?", target="yes") for k in range(3)]
    eval(
        Task(dataset, solver=generate(), name="quiz"),
        model=[model("amber"), model("birch")],
        log_dir="logs",
    )
    behave()
    play(round_robin(responses="logs"), log_dir="logs")
    return "logs"


@pytest.mark.slow
def test_costs_stand_beside_scores_and_what_is_unknown_is_no_zero(folder, run_podium, tmp_path):
    table = costs_table(rank_battles(read_battles(folder)).standings[0], [folder])
    head, rows = (
        table.header,
        {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows},
    )
    assert head[:5] == ("model", "score", "answers", "tokens in", "tokens out")
    assert [rows["mockllm/amber"][name] for name in ("answers", "tokens in", "tokens out")] == [
        "3",
        "10",
        "100",
    ]
    assert [rows["mockllm/birch"][name] for name in ("answers", "tokens in", "tokens out")] == [
        "3",
        "30",
        "300",
    ]
    assert rows["mockllm/birch"].get("money", "–") == "–"
    assert run_podium("report", folder, "-o", str(tmp_path / "page.html"))[0] in (0, 3)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Costs of the models" in page


def test_sources_that_say_nothing_of_costs_have_no_table(tmp_path):
    table = tmp_path / "battles.csv"
    table.write_text("item,model_a,model_b,credit\nq,a,b,1\nr,b,a,1\ns,a,b,1\n", encoding="utf-8")
    assert costs_table(rank_battles(str(table)).standings[0], [str(table)]) is None
