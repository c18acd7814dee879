"""The reason why a judge was stopped names options as they are typed where the log is read."""

from types import SimpleNamespace

import pytest

from podium.hosts.inspect_ai.inspect_options import (
    typed_for_judge,
    typed_for_judge_in_metadata,
    typed_in_metadata,
)
from podium.hosts.inspect_ai.logs.podium_entries import BAD_JUDGE, reason_of_stop
from podium.hosts.lm_eval.lm_eval_options import typed_in_lm_eval
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_text
from podium.notices.option_forms import typed_as, typed_in_command, typed_in_python

FORMS = {
    "lm-eval": typed_in_lm_eval,
    "inspect": typed_for_judge,
    "metadata": typed_for_judge_in_metadata,
    "task by metadata": typed_in_metadata,
    "command": typed_in_command,
    "python": typed_in_python,
}
FOUND = Notice(
    "judge-unparsed-text", {"judge": "m", "judgments": 20, "replies": ["“realization=x”"]}
)


def message_in(form):
    """Return the message of a judge that was stopped, as a log has it."""
    with typed_as(form):
        return f"{BAD_JUDGE}: {notice_text(FOUND)}"


@pytest.mark.parametrize("made", FORMS)
@pytest.mark.parametrize("read", FORMS)
def test_remedies_have_the_form_of_the_command_that_reads_the_log(made, read):
    error = SimpleNamespace(message=f"JudgeStoppedError('{message_in(FORMS[made])}')")
    with typed_as(FORMS[read]):
        assert reason_of_stop(SimpleNamespace(error=error)) == message_in(FORMS[read])
