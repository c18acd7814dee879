"""Error messages of servers, and which option of a call each of them refuses."""

import pytest
from inspect_ai.model import GenerateConfig, ResponseSchema
from inspect_ai.util import JSONSchema

from podium.hosts.inspect_ai.judging.call_control import JudgeStoppedError, name_of_failure
from podium.hosts.inspect_ai.judging.call_settings import is_about_schema, why_too_long
from podium.hosts.inspect_ai.judging.judge_calls import _rejection_by
from podium.hosts.inspect_ai.judging.refused_options import is_rejection, refused_option

WORDS = {
    "Unsupported parameter: 'temperature' is not supported with this model.": "temperature",
    "`temperature` may only be set to 1 when thinking is enabled.": "temperature",
    "temperature is deprecated for this model": "temperature",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.": "max_tokens",
    "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens": "max_tokens",
    "max_tokens is too large: 16384. This model supports at most 4096 tokens.": "max_tokens",
    "You are not allowed to request logprobs from this model.": "logprobs",
    "Logprobs is not enabled for models/some-model": "logprobs",
    "Argument not supported on this model: top_logprobs": "logprobs",
    "deepseek-reasoner does not support the parameter logprobs": "logprobs",
    "Malformed input request: #: extraneous key [temperature] is not permitted": "temperature",
    "The prompt is about the temperature of water.": None,
    "Rate limit reached: too many tokens": None,
}


class ServerError(RuntimeError):
    def __init__(self, words, status):
        super().__init__(words)
        self.status_code = status


@pytest.mark.parametrize(("words", "option"), WORDS.items())
def test_the_refused_option_is_the_one_that_the_message_names(words, option):
    config = GenerateConfig(temperature=0, max_tokens=64, logprobs=True, top_logprobs=20)
    assert refused_option(config, ServerError(words, 400)) == option


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
def test_other_failures_of_a_server_refuse_no_option(status):
    error = ServerError("temperature is not supported", status)
    assert refused_option(GenerateConfig(temperature=0), error) is None


def test_an_option_that_was_not_sent_cannot_be_refused():
    error = ServerError("temperature is not supported", 400)
    assert refused_option(GenerateConfig(max_tokens=3), error) is None


OF_SCHEMA = [
    "output_config.format: Extra inputs are not permitted",
    "output_format: This field is deprecated. Use 'output_config.format' instead.",
    "'claude-3-5-haiku-20241022' does not support output format.",
    "JSON mode is not enabled for models/gemma-3-27b-it",
    "Response format is not supported by this model",
    "structured-output is not available for this model",
    "controlled generation is not supported",
    "response_mime_type: allowed mimetypes are `text/plain`",
    "This model does not support response format `json_schema`",
    "guided decoding is disabled",
    "Failed to parse the grammar",
]


@pytest.mark.parametrize("words", OF_SCHEMA)
def test_a_refused_schema_is_known_by_the_words_of_servers(words):
    assert is_about_schema(ServerError(words, 400))


@pytest.mark.parametrize(
    "words", ["Unsupported parameter: 'temperature' is not supported with this model.", "Not found"]
)
def test_words_about_something_else_are_not_about_a_schema(words):
    assert not is_about_schema(ServerError(words, 400))


LENGTH = "the request exceeds the available context size (4096 tokens)"
SCHEMA = "response_format type must be one of text or json_object, but got: json_schema"
BUSY = [401, 404, 408, 409, 425, 429, 502, 503, 504, 529]


class AwsError(Exception):
    def __init__(self, words, status):
        super().__init__(words)
        self.response = {"Error": {}, "ResponseMetadata": {"HTTPStatusCode": status}}


class GoogleError(Exception):
    def __init__(self, words, status):
        super().__init__(words)
        self.code = status
        self.status = "SOME_NAME"


@pytest.mark.parametrize("kind", [ServerError, AwsError, GoogleError])
@pytest.mark.parametrize("status", BUSY)
def test_a_busy_server_has_not_said_that_a_prompt_is_too_long_or_a_schema_is_refused(status, kind):
    for words in (LENGTH, "Too many tokens, please wait before trying again."):
        assert why_too_long(kind(words, status)) == ""
    assert not is_about_schema(kind(SCHEMA, status))
    assert not is_rejection(kind("no images now", status))
    assert name_of_failure(kind(LENGTH, status)) == f"HTTP {status}"


@pytest.mark.parametrize("kind", [ServerError, AwsError, GoogleError])
@pytest.mark.parametrize("status", [400, 413, 422, 500, 501])
def test_a_server_that_rejects_a_call_says_that_a_prompt_is_too_long_or_a_schema_is_refused(
    status, kind
):
    assert LENGTH in why_too_long(kind(LENGTH, status))
    assert is_about_schema(kind(SCHEMA, status))


def test_an_error_without_a_status_is_taken_by_its_words():
    assert LENGTH in why_too_long(RuntimeError(LENGTH))
    assert is_about_schema(RuntimeError(SCHEMA))
    assert name_of_failure(RuntimeError(SCHEMA)) == "RuntimeError"


def test_a_judge_that_is_not_asked_any_more_has_rejected_nothing():
    error = JudgeStoppedError(f"its first 10 calls all failed by {LENGTH}; {SCHEMA}")
    assert why_too_long(error) == ""
    assert not is_about_schema(error)


@pytest.mark.parametrize("words", [LENGTH, SCHEMA], ids=["length", "schema"])
def test_a_call_that_a_busy_server_fails_is_no_rejection(words):
    config = GenerateConfig(
        response_schema=ResponseSchema(name="reply", json_schema=JSONSchema(type="object"))
    )
    assert _rejection_by(ServerError(words, 429), config) is None
    assert _rejection_by(ServerError(words, 400), config) is not None
