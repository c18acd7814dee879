"""Replies that are no answer, whatever their text: ended by the provider's filter, refused, or of a
failed call."""

import json

import pytest

from podium.hookspecs import Scorer
from podium.plugins import catalogue
from podium.plugins.catalogue import judging_settings
from podium.scorers.checklist import read_checklist
from podium.scorers.judging import dump_reply, load_reply
from podium.scorers.reply import FILTERED, Reply, Token

LETTER = Token("A", {"A": 0.9, "B": 0.1})


@pytest.mark.parametrize("name", sorted(catalogue.extensions_of(Scorer)))
@pytest.mark.parametrize("reason", [FILTERED, "refusal"])
def test_withheld_reply_is_unparsed_in_every_realization(name: str, reason: str) -> None:
    how = judging_settings(realization=name)
    for text in ("A", "Verdict: A", "[[A>B]]", "[[7]]", "yes", "0.7", json.dumps({"verdict": "A"})):
        reply = Reply(text, tokens=(LETTER,), withheld=reason)
        for mode in ("off", "required"):
            assert how.reason(reply, mode) == reason


def test_withheld_reply_is_unparsed_if_it_was_asked_for_with_a_schema() -> None:
    how = judging_settings(replies="schema")
    kept = dump_reply(Reply(json.dumps({"verdict": "A"}), structured=True, withheld=FILTERED))
    assert how.reason(load_reply(kept), "off") == FILTERED


def test_withheld_checklist_is_not_read() -> None:
    text = json.dumps({"questions": ["Is it short?"]})
    assert read_checklist(Reply(text)) == ("Is it short?",)
    assert read_checklist(Reply(text, withheld=FILTERED)) == FILTERED


def test_failed_call_is_unparsed_by_its_error_and_kept_in_the_log() -> None:
    how = judging_settings()
    kept = dump_reply(Reply("", failed="HTTP 500", refused="InternalServerError: Error code: 500"))
    reply = load_reply(json.loads(json.dumps(kept)))
    assert how.reason(reply, "off") == "failed: HTTP 500"
    assert reply.refused == "InternalServerError: Error code: 500"


@pytest.mark.parametrize(("cost", "is_kept"), [(0.0, True), (0.25, True), (None, False)])
def test_a_call_that_cost_nothing_is_not_a_call_of_unknown_cost(cost, is_kept):
    kept = dump_reply(Reply("A", cost=cost))
    assert ("cost" in kept) == is_kept
    assert load_reply(kept).cost == cost
