"""The judging filter inside lm-eval: every response is compared, calls fail one by one, nothing is
asked twice."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

# The folder of these tests is called lm_eval, too.
pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")

import inspect_ai
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
from judged_tasks import (
    ITEMS,
    Recorded,
    battles,
    evaluated,
    figure,
    quality,
    response,
    verdicts,
    write_opponents,
    write_task,
)
from stand_in import StandIn, preference

from podium.data.formats.lm_eval_judged import judgment_rows, parse_verdicts
from podium.data.reading.judgments import read_battles
from podium.errors import UsageError
from podium.hosts.inspect_ai.judging.call_control import CALLS_BEFORE_STOPPING
from podium.hosts.inspect_ai.tasks import anchor
from podium.hosts.lm_eval.batch import NOT_ASKED_REASON
from podium.hosts.lm_eval.filter import JudgeFilter
from podium.ranking.rank_battles import rank

KEY = "very-secret-value-0123456789"


class Decoded:
    """What a data set holds of an image that is decoded."""

    __module__ = "PIL.PngImagePlugin"


@modelapi(name="indiscreet")
class Indiscreet(ModelAPI):
    """A judge that reveals its API key."""

    async def generate(self, input: list[Any], **more: Any) -> ModelOutput:
        if "q1" in input[-1].text:
            raise RuntimeError(f"the key {KEY} is not valid")
        return ModelOutput.from_content(self.model_name, f"A {KEY}")


@pytest.fixture
def asked(server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the filter is asked for: a judge of the server, two opponents on disk."""
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    return {
        "judge": "openai-api/standin/judge",
        "judge_args": {"base_url": f"{server.address}/v1"},
        "against": write_opponents(tmp_path),
        "item": "id",
        "max_retries": 0,
    }


@pytest.fixture
def unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the filter is asked for where no call is made."""
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    return {"judge": "podium/offline", "against": write_opponents(tmp_path), "item": "id"}


@pytest.mark.slow
def test_every_response_is_judged_in_both_orders_by_what_the_judge_thinks(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    """Closed form: the mean over both orders of the probability that the stand-in puts on this
    run's letter."""
    found = evaluated(write_task(tmp_path, asked))
    for k, one in enumerate(verdicts(found)):
        expected = []
        for name in ("elm", "fir"):
            own, other = quality("own", k), quality(name, k)
            expected.append((preference(own, other) + 1 - preference(other, own)) / 2)
        assert one["credit"] == pytest.approx(sum(expected) / 2, abs=1e-3)
    assert len(server.calls()) == ITEMS * 2 * 2


@pytest.mark.slow
def test_a_second_run_asks_nothing_and_says_the_same(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    tasks = write_task(tmp_path, asked)
    first = evaluated(tasks)
    calls = len(server.calls())
    again = evaluated(tasks)
    assert (calls, len(server.calls())) == (ITEMS * 4, calls)
    assert verdicts(again) == verdicts(first)


@pytest.mark.slow
def test_another_judge_does_not_get_the_first_ones_replies(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    evaluated(write_task(tmp_path, asked))
    evaluated(write_task(tmp_path, {**asked, "judge": "openai-api/standin/judge-2"}))
    assert [one.model for one in server.calls()].count("judge-2") == ITEMS * 4


@pytest.mark.slow
def test_the_order_in_which_an_opponent_and_this_run_are_named_is_a_tournaments(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    """Who comes first by name is a: what a run asked is in the cache when its opponent asks the
    same of it."""
    evaluated(
        write_task(
            tmp_path, {**asked, "model": "own", "against": write_opponents(tmp_path, ["fir"])}
        )
    )
    calls = len(server.calls())
    fir = Recorded({f"Question {k}?": response("fir", k) for k in range(ITEMS)})
    found = evaluated(
        write_task(
            tmp_path, {**asked, "model": "fir", "against": write_opponents(tmp_path, ["own"])}
        ),
        fir,
    )
    assert len(server.calls()) == calls == ITEMS * 2
    assert figure(found, "judged") == ITEMS


@pytest.mark.slow
def test_a_tournament_of_the_same_models_by_the_same_judge_asks_nothing_more(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    found = evaluated(write_task(tmp_path, {**asked, "model": "own", "orders": "both"}))
    calls = len(server.calls())
    judge = get_model(asked["judge"], **asked["judge_args"])
    sources = write_opponents(tmp_path, ["own", "elm", "fir"])
    task = anchor(responses=sources, anchor="own")
    [log] = inspect_ai.eval(task, model_roles={"judge": judge}, display="none")
    assert (log.status, len(server.calls())) == ("success", calls)
    played = rank(read_battles(log.location.removeprefix("file://")), "bradley-terry").standings[0]
    own = next(one for one in played.entries if one.model == "own")
    assert figure(found, "bradley_terry") == pytest.approx(own.score, abs=1e-9)


@pytest.mark.slow
def test_calls_that_fail_leave_their_battle_unparsed_and_the_rest_judged(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    server.script(faults={"400": 0.25}, lasting=True)
    found = evaluated(write_task(tmp_path, asked))
    unparsed = [one for one in battles(found) if one["credit"] is None]
    assert {one["reason"] for one in unparsed} <= {"failed: HTTP 400", "one order unparsed"}
    assert 0 < len(unparsed) < ITEMS * 2
    assert (figure(found, "judged"), figure(found, "unparsed")) == (
        ITEMS * 2 - len(unparsed),
        len(unparsed),
    )


@pytest.mark.slow
def test_calls_without_an_answer_leave_their_battle_unparsed(
    server: StandIn, tmp_path: Path, asked: dict[str, Any], caplog: Any
):
    server.script(faults={"hang": 0.25}, lasting=True)
    found = evaluated(write_task(tmp_path, {**asked, "call_timeout": 2}))
    unparsed = [one for one in battles(found) if one["credit"] is None]
    why = "no answer within 2 seconds"
    assert {one["reason"] for one in unparsed} <= {f"failed: {why}", "one order unparsed"}
    assert 0 < len(unparsed) < ITEMS * 2
    assert f"{why}: openai-api/standin/judge at {server.address}/v1" in caplog.text


@pytest.mark.slow
def test_only_failed_calls_are_retried(server: StandIn, tmp_path: Path, asked: dict[str, Any]):
    tasks = write_task(tmp_path, asked)
    server.script(faults={"400": 0.25}, lasting=True)
    first = evaluated(tasks)
    failed = {
        (row["item"], one["model_b"])
        for row in verdicts(first)
        for one in row["battles"]
        if "error" in one
    }
    calls = len(server.calls())
    server.script()
    assert figure(evaluated(tasks), "unparsed") == 0
    # Opponents are elm and fir, so this model is b beside both.
    again = {(one.item, "this model") for one in server.calls()[calls:]}
    assert again == failed


@pytest.mark.slow
def test_garbage_is_unparsed_with_its_reason_and_is_no_tie(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    server.script(faults={"reply": 1.0})
    found = evaluated(write_task(tmp_path, {**asked, "logprobs": "off", "attempts": 1}))
    assert (figure(found, "judged"), figure(found, "unparsed")) == (0, ITEMS * 2)
    assert all(one["reason"] and one["credit"] is None for one in battles(found))


@pytest.mark.slow
def test_unavailable_judge_is_no_longer_called_after_repeated_failures(
    tmp_path: Path, asked: dict[str, Any], caplog: Any
):
    closed = {"base_url": "http://127.0.0.1:9/v1", "max_retries": 0}
    down = {**asked, "judge_args": closed, "concurrency": 1}
    down["against"] = [*down["against"], *write_opponents(tmp_path, ["own"])]
    found = evaluated(write_task(tmp_path, down))
    # Ties of identical responses need no judge.
    ties = [one["credit"] for one in battles(found) if one.get("identical")]
    assert ties == [0.5, 0.5]
    asked_for = ITEMS * 3 - len(ties)
    reasons = [one["reason"] for one in battles(found)]
    failed = reasons.count("failed: connection refused")
    assert (
        CALLS_BEFORE_STOPPING // 2 <= failed <= CALLS_BEFORE_STOPPING
    )  # of a battle's two calls one may have been cut off by the other
    assert reasons.count(NOT_ASKED_REASON) == asked_for - failed
    assert (figure(found, "judged"), figure(found, "unparsed")) == (len(ties), asked_for)
    assert (
        f"its first {CALLS_BEFORE_STOPPING} calls all failed by connection refused: http://127.0.0.1:9/v1"
        in caplog.text
    )


@pytest.mark.slow
def test_judge_calls_respect_the_concurrency_limit(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    server.script(latency=0.05)
    evaluated(write_task(tmp_path, {**asked, "concurrency": 4}))
    calls = server.calls()
    at_once = [sum(one.begun <= call.begun < (one.ended or 0) for one in calls) for call in calls]
    assert 2 <= max(at_once) <= 4


@pytest.mark.slow
def test_a_filter_works_while_an_event_loop_is_running(server: StandIn, asked: dict[str, Any]):
    docs = [{"id": f"q{k}"} for k in range(ITEMS)]

    async def inside() -> list[str]:
        return JudgeFilter(**asked).apply([[response("own", k)] for k in range(ITEMS)], docs)

    reported = [json.loads(one) for one in asyncio.run(inside())]
    assert [one["credit"] is not None for one in reported] == [True] * ITEMS


@pytest.mark.slow
def test_responses_that_are_not_there_are_missing_and_not_unparsed(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    lacking = {**asked, "against": write_opponents(tmp_path, lacking=[2, 3])}
    model = Recorded()
    model.responses["Question 5?"] = "  "
    found = evaluated(write_task(tmp_path, lacking), model)
    assert [figure(found, name) for name in ("judged", "unparsed", "missing")] == [
        ITEMS * 2 - 4,
        0,
        4,
    ]
    assert verdicts(found)[5]["missing"] == dict.fromkeys(
        ("elm", "fir"), "this model: empty response"
    )
    assert verdicts(found)[2]["missing"] == {"elm": "no response"}


@pytest.mark.slow
def test_a_jury_gives_one_verdict_and_every_judges_own(
    server: StandIn, tmp_path: Path, asked: dict[str, Any]
):
    found = evaluated(
        write_task(
            tmp_path, {**asked, "judge": ["openai-api/standin/judge", "openai-api/standin/judge-2"]}
        )
    )
    first = battles(found)[0]
    credits = [one["credit"] for one in first["judgments"]]
    assert (len(first["judgments"]), figure(found, "judged")) == (4, ITEMS * 2)
    assert first["credit"] == pytest.approx(sum(credits) / 4)
    assert figure(found, "bradley_terry") > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"judge_args": {"api_key": KEY}},
        {"judge_args": {"default_headers": {"Authorization": f"Bearer {KEY}"}}},
        {"judge_args": {"base_url": f"http://me:{KEY}@localhost/v1"}},
        {"judge_args": {"note": KEY}},
        {"judge": "openai/judge,api_key=abc"},
    ],
    ids=["by name", "in a header", "in an address", "by its value", "in a model's text"],
)
def test_a_key_in_the_yaml_is_rejected_and_not_repeated(
    unasked: dict[str, Any], wrong: dict[str, Any]
):
    with pytest.raises(UsageError, match="environment variable") as refused:
        JudgeFilter(**{**unasked, **wrong})
    assert KEY not in str(refused.value)


@pytest.mark.slow
def test_no_key_lands_in_results_samples_or_logs(
    tmp_path: Path, asked: dict[str, Any], caplog: pytest.LogCaptureFixture
):
    """The judge repeats its key, in replies and in errors, as some servers do."""
    caplog.set_level("DEBUG", logger="podium")
    found = evaluated(
        write_task(tmp_path, {**asked, "judge": "indiscreet/judge", "judge_args": {}})
    )
    reported = json.dumps(found, default=str)
    assert KEY not in reported
    assert KEY not in "".join(
        one.getMessage() for one in caplog.records if one.name.startswith("podium")
    )
    assert {one.get("error") for one in battles(found)} == {None, "the key *** is not valid"}
    assert '"replies": ["A ***"]' in json.dumps(verdicts(found))


@pytest.mark.parametrize(
    ("wrong", "stated"),
    [
        ({"ordrs": "both"}, "did you mean 'orders'"),
        ({"orders": "twice"}, "available: both, random, as-given"),
        ({"concurrency": 0}, "concurrency=0: give 1 or more"),
        ({"realization": "rubrik"}, "did you mean 'rubric'"),
        (
            {"judge": "lm-eval:hf,pretrained=m"},
            "judge: lm-eval:hf: judges are models of Inspect: write hf/NAME",
        ),
    ],
)
def test_a_wrong_option_is_named_with_the_right_one(
    unasked: dict[str, Any], wrong: dict[str, Any], stated: str
):
    with pytest.raises(UsageError, match=stated):
        JudgeFilter(**{**unasked, **wrong})


@pytest.mark.parametrize(
    ("wrong", "stated"),
    [
        ({"item": "name"}, "item: name: documents have no such field; fields: id"),
        ({"item": None}, "none of the 1 document is in"),
        ({"model": "elm"}, "an opponent is called 'elm'"),
        ({"against": "nowhere"}, "no such file or directory: nowhere"),
        ({"judge": "podium/nobody"}, "judge: podium/nobody"),
    ],
)
def test_incompatible_arguments_are_reported(
    unasked: dict[str, Any], wrong: dict[str, Any], stated: str
):
    with pytest.raises(UsageError, match=stated):
        JudgeFilter(**{**unasked, **wrong}).apply([["An answer."]], [{"id": "q0"}])


def test_of_several_responses_each_is_judged_and_they_are_distinguishable(unasked: dict[str, Any]):
    [kept] = JudgeFilter(**unasked).apply(
        [["An answer in one line.", "Another.", ""]], [{"id": "q0"}]
    )
    document = parse_verdicts(kept)
    assert [(battle["response"], battle["model_a"]) for battle in document["battles"]] == [
        (number, name) for name in ("elm", "fir") for number in (1, 2)
    ]
    assert document["missing"] == {
        f"{name} (response 3)": "this model: empty response" for name in ("elm", "fir")
    }
    assert {row["response"] for row in judgment_rows(document)} == {1, 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    "shown",
    [
        {"image": "cat.png"},
        {"pictures": [{"bytes": b"GIF89a", "path": None}]},
        {"sound": {"array": [0.1], "sampling_rate": 8000}},
        {"picture": Decoded()},
    ],
    ids=["named", "encoded", "sound", "decoded"],
)
def test_a_document_that_shows_media_is_missing_with_the_reason(
    unasked: dict[str, Any], shown: dict[str, Any], caplog: Any
):
    docs = [{"id": "q0", **shown}, {"id": "q1", "image": None}]
    kept = JudgeFilter(**unasked).apply([["An answer."], ["An answer."]], docs)
    seen, read = map(parse_verdicts, kept)
    assert (seen["battles"], seen["credit"]) == ([], None)
    assert seen["missing"] == dict.fromkeys(
        ("elm", "fir"), "media in the document, which the filter cannot show"
    )
    assert len(read["battles"]) == 2
    assert "2 not played (media in the document, which the filter cannot show)" in caplog.text


def test_notes_on_opponents_are_reported(unasked: dict[str, Any], tmp_path: Path, caplog: Any):
    (tmp_path / "questions.jsonl").write_text('{"id": "q99", "instruction": "Nobody answered?"}\n')
    against = [*unasked["against"], str(tmp_path / "questions.jsonl")]
    JudgeFilter(**{**unasked, "against": against}).apply(["An answer."], [{"id": "q0"}])
    assert "1 question without a response was left out" in caplog.text


def test_only_texts_can_be_judged(unasked: dict[str, Any]):
    with pytest.raises(UsageError, match="generate_until"):
        JudgeFilter(**unasked).apply([[(-1.5, True)]], [{"id": "q0"}])
