"""Error messages of servers, and which option of a call each of them refuses."""

import pytest
from inspect_ai.model import GenerateConfig

from podium.hosts.inspect_ai.judging.refused_options import refused_option

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
