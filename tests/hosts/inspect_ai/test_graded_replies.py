"""Graded credits through a whole run: how many alternatives are asked for, and what the log and the
table hold."""

import json
import math

import pytest
from inspect_ai.model import (
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    TopLogprob,
    get_model,
    modelapi,
)
from played_logs import battles, verdict_of

from podium import rank, read_battles
from podium.hosts.inspect_ai.tasks import round_robin
from podium.hosts.lm_eval.batch import judge_battles
from podium.notices.notice_text import notice_texts
from podium.plugins.catalogue import judging_settings

CALLS = []
"""Configuration of every call."""
CHANCES = {"A": 0.27, "B": 0.09, "The": 0.64}
"""Probabilities at the verdict's token before the schema excludes other words."""
REFUSED = {("ash", 0): "I cannot help with that.", ("ash", 1): "I cannot help with that."}
"""Responses that the stand-in judge likes less."""


class RejectedError(RuntimeError):
    status_code = 400


@modelapi(name="graded")
class GradedJudge(ModelAPI):
    """Prefers the first response at 3 to 1, in JSON; `graded/few` gives at most five alternatives
    of a token."""

    def __init__(
        self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **model_args
    ):
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(self, input, tools, tool_choice, config):
        CALLS.append(config)
        if self.model_name == "few" and (config.top_logprobs or 0) > 5:
            raise RejectedError(
                "400: Requested sample logprobs of 20, which is greater than max allowed: 5"
            )
        parts = ['{"verdict": "', "A", '"}'] if config.response_schema else ["A"]
        output = ModelOutput.from_content("graded", "".join(parts))
        if config.logprobs:
            output.choices[0].logprobs = Logprobs(content=[token(part) for part in parts])
        return output


def token(text):
    chances = CHANCES if text == "A" else {text: 1.0}
    top = [TopLogprob(token=one, logprob=math.log(chance)) for one, chance in chances.items()]
    return Logprob(token=text, logprob=math.log(chances[text]), top_logprobs=top)


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def rows_of(log):
    return [row for one in battles(log) for row in verdict_of(one).metadata["podium"]["judgments"]]


@pytest.mark.slow
def test_json_verdicts_are_graded_and_their_mass_is_logged(play, write_responses):
    log = play(round_robin(responses=write_responses(items=2), replies="schema"), "graded/many")
    rows = rows_of(log)
    assert len(rows) == 24
    assert [row["mass"] for row in rows] == pytest.approx([0.36] * 24)
    assert {(row["order"], round(row["credit"], 9), row["hard_credit"]) for row in rows} == {
        ("ab", 0.75, 1.0),
        ("ba", 0.25, 0.0),
    }
    assert {config.top_logprobs for config in CALLS} == {20}
    assert {verdict_of(one).answer for one in battles(log)} == {"tie"}
    merged = read_battles(log.location)
    assert merged.table["credit"].tolist() == pytest.approx([0.5] * 12)
    assert merged.swaps().flip == 12


@pytest.mark.slow
def test_text_verdicts_with_little_mass_count_as_parsed_and_the_ranking_says_so(
    play, write_responses
):
    log = play(round_robin(responses=write_responses(items=2), replies="text"), "graded/many")
    assert {row["credit"] for row in rows_of(log)} == {0.0, 1.0}
    assert {config.top_logprobs for config in CALLS} == {20}
    note = (
        "24 of 24 verdicts count as parsed, not graded: the allowed answers hold less than 50% "
        "of the "
    )
    assert any(note in each for each in notice_texts(read_battles(log.location).notes))


@pytest.mark.slow
def test_a_server_with_few_alternatives_is_asked_for_few(play, write_responses):
    log = play(
        round_robin(responses=write_responses(items=3), replies="schema"),
        "graded/few",
        max_connections=1,
    )
    assert {round(row["credit"], 9) for row in rows_of(log)} == {0.25, 0.75}
    asked = [config.top_logprobs for config in CALLS]
    assert (asked.count(20), asked.count(5)) == (1, 36)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("realization", "options", "alternatives"),
    [
        ("cot", {"replies": "text"}, {5}),
        ("cot", {"replies": "schema"}, {20}),
        ("labels", {"replies": "schema"}, {20}),
        ("labels", {"replies": "text"}, {None}),
        ("rubric", {"replies": "schema"}, {None}),
        ("direct", {"replies": "schema", "logprobs": "off"}, {None}),
    ],
)
def test_alternatives_are_asked_for_where_they_are_read(
    play, write_responses, realization, options, alternatives
):
    play(
        round_robin(responses=write_responses(items=1), realization=realization, **options),
        "graded/many",
    )
    assert {config.top_logprobs for config in CALLS} == alternatives


@pytest.mark.slow
@pytest.mark.parametrize("replies", ["schema", "text"])
@pytest.mark.parametrize("realization", ["direct", "cot"])
def test_the_filter_of_lm_eval_gives_the_same_credits_as_a_tournament(
    play, write_responses, realization, replies
):
    options = {"realization": realization, "replies": replies}
    log = play(
        round_robin(responses=write_responses(items=2, texts=REFUSED), **options), "podium/offline"
    )
    judged = [sample.metadata for sample in battles(log)]
    how = judging_settings(**options)
    asked = {"turns": ("all", 0), "concurrency": 1, "cache": False}
    rows = judge_battles(how, judged, lambda: [get_model("podium/offline")], **asked)
    filtered = [judgment for row in rows for judgment in row["judgments"]]
    figures = ("order", "credit", "hard_credit", "mass")
    assert [[row[name] for name in figures] for row in filtered] == [
        [row[name] for name in figures] for row in rows_of(log)
    ]
    assert all(row["mass"] == pytest.approx(1.0) for row in filtered)
    assert {row["credit"] for row in filtered} - {0.0, 0.5, 1.0}
    assert json.dumps(filtered)


@pytest.mark.slow
def test_the_ranking_of_a_log_says_that_graded_elo_is_compressed(play, write_responses):
    files = write_responses(items=2, texts=REFUSED)
    log = play(round_robin(responses=files, replies="schema", realization="cot"), "podium/offline")
    assert "compressed scale" in str(rank(log.location))
