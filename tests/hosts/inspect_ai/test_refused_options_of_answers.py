"""Models that answer on demand, and whose servers refuse options of the call."""

import json

import pytest

pytest.importorskip("openai")

from inspect_ai import eval, eval_retry
from inspect_ai.log import read_eval_log
from inspect_ai.model import GenerateConfig, get_model
from played_logs import place
from refusing_server import refusing_server

import podium
from podium.hosts.inspect_ai import tasks
from podium.notices.notice_text import notice_texts

PROMPTS = 4
OPTIONS = {
    "temperature": ("no temperature", "without the temperature that was asked for"),
    "max_tokens": ("no limit of output tokens", "without the limit of output tokens"),
}
"""What is printed, and what the note of the log says, by option."""


@pytest.fixture
def server(monkeypatch):
    with refusing_server() as served:
        monkeypatch.setenv("REFUSING_BASE_URL", served.address)
        monkeypatch.setenv("REFUSING_API_KEY", "none")
        yield served


@pytest.fixture
def play_models(tmp_path):
    """Return a way to let models answer prompts and to judge the answers; it gives the log."""
    rows = [{"id": f"q{k}", "instruction": f"Question {k}?"} for k in range(PROMPTS)]
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def play(*models, log_dir="logs", **arguments):
        roles = {"judge": "podium/offline", "models": [*models]}
        [log] = eval(
            tasks.round_robin,
            task_args={"prompts": str(prompts), **arguments},
            model_roles=roles,
            log_dir=log_dir,
        )
        return read_eval_log(log.location)

    return play


def answers_of(server, model):
    """Return the requests to a model."""
    return [request for request in server.requests if request["model"] == model]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("option", OPTIONS)
def test_a_refused_option_is_tried_once_dropped_said_and_logged(play_models, server, capfd, option):
    refusing, plain = f"no-{option}", "plain"
    options = {"temperature": 0.3, "max_tokens": 50}
    models = [f"openai-api/refusing/{name}" for name in (refusing, plain)]
    log = play_models(*models, **options)
    assert log.status == "success", log.error
    assert len(answers_of(server, refusing)) == PROMPTS + 1
    assert sum(option in request for request in answers_of(server, refusing)) == 1
    assert all(option in request for request in answers_of(server, plain))
    printed, noted = OPTIONS[option]
    said = capfd.readouterr().err
    assert said.count(f"{models[0]} takes {printed} (its server says:") == 1
    notes = notice_texts(podium.read_battles(str(place(log))).notes)
    assert [models[0] in note for note in notes if noted in note] == [True]


@pytest.mark.slow
def test_a_temperature_of_the_role_is_dropped_too(play_models, server):
    models = [
        get_model(f"openai-api/refusing/{name}", config=GenerateConfig(temperature=0.5))
        for name in ("no-temperature", "plain")
    ]
    log = play_models(*models)
    assert log.status == "success", log.error
    asked = answers_of(server, "no-temperature")
    assert sum("temperature" in request for request in asked) == 1
    assert len(asked) == PROMPTS + 1


@pytest.mark.slow
def test_several_refused_options_are_tried_once_each(play_models, server):
    habits = "no-temperature+no-max_tokens"
    models = [f"openai-api/refusing/{name}" for name in (habits, "plain")]
    log = play_models(*models, temperature=0.3, max_tokens=50)
    assert log.status == "success", log.error
    asked = answers_of(server, habits)
    assert len(asked) == PROMPTS + 2
    assert not {"temperature", "max_tokens"} & asked[-1].keys()


@pytest.mark.slow
def test_packed_requests_drop_the_option_too(play_models, server):
    models = [f"openai-api/refusing/{name}" for name in ("no-temperature", "plain")]
    log = play_models(*models, temperature=0.3, pack=True)
    assert log.status == "success", log.error
    asked = answers_of(server, "no-temperature")
    assert sum("temperature" in request for request in asked) == 1


@pytest.mark.slow
def test_nothing_is_said_of_models_that_take_all_options(play_models, server, capfd):
    models = [f"openai-api/refusing/{name}" for name in ("plain", "plain+")]
    log = play_models(*models, temperature=0.3, max_tokens=50)
    assert "takes no" not in capfd.readouterr().err
    notes = notice_texts(podium.read_battles(str(place(log))).notes)
    assert not [note for note in notes if "answered without" in note]
    answers = [sample for sample in log.samples if str(sample.id).startswith("answer")]
    assert answers
    assert not [sample for sample in answers if "refused" in json.dumps(sample.store)]


@pytest.mark.slow
def test_a_retry_keeps_what_was_logged_of_the_first_run(play_models, server):
    models = [f"openai-api/refusing/{name}" for name in ("no-temperature", "plain")]
    log = play_models(*models, temperature=0.3)
    [again] = eval_retry(log)
    assert (
        sum(
            "without the temperature" in note
            for note in notice_texts(podium.read_battles(again.location).notes)
        )
        == 1
    )
