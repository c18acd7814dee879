"""What a ranking's reader must know of its judge: replies that cannot be read, and its kin among
the models."""

from pathlib import Path

import pandas as pd
import pytest
from lm_eval_output import scored, write_run

import podium
from podium.diagnosis.card import diagnose
from podium.diagnosis.checks.reply_checks import check_unparsed
from podium.diagnosis.judge_checks import judge_warnings, unparsed_share
from podium.notices.notice_text import notice_texts
from podium.scorers.reply import UnparsedReason

LETTER = "gpt-4o|direct|3fa9c0de1122"


def table(
    unparsed: int = 0, replies: tuple[str, ...] = (), judge: str = LETTER, **more: object
) -> pd.DataFrame:
    """Return 100 battles of two models, some unparsed, with what the judge wrote instead; the
    default judge is one that podium asked."""
    asked = {"judge_model": "gpt-4o", "judge_realization": "direct", "judge_prompt": "3fa9c0de1122"}
    more = (asked if judge == LETTER else {}) | more
    rows = []
    for k in range(100):
        row = {
            "item": f"q{k}",
            "model_a": "ash",
            "model_b": "elm",
            "judge": judge,
            "credit": float(k % 3 > 0),
            **more,
        }
        if k < unparsed:
            row |= {
                "credit": None,
                "reason": "no verdict",
                "reply": replies[k % len(replies)] if replies else None,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def warnings_of(frame: pd.DataFrame, **options: object) -> tuple[str, ...]:
    return notice_texts(podium.rank(podium.read_battles(frame), **options).standings[0].warnings)


@pytest.mark.slow
def test_many_unparsed_battles_raise_an_alarm_with_the_commonest_replies_and_what_helps() -> None:
    [alarm] = [
        text for text in warnings_of(table(40, ("Both.", "Both.", "Hm."))) if "unparsed" in text
    ]
    assert alarm == (
        "40 of 100 battles are unparsed, 40.0% of the replies; most often the judge wrote "
        "'Both.' (27), 'Hm.' (13). What helps: let the judge reason first (realization='cot'), "
        "or take one that keeps to a form"
    )


@pytest.mark.slow
def test_replies_that_a_content_filter_ended_are_no_words_of_the_judge() -> None:
    frame = failed_calls(ab=37)
    frame.loc[frame.reason.notna(), ["reason", "reply"]] = ["content filter", "A"]
    assert unparsed_alarm(frame) == (
        "37 of 200 battles are unparsed, 9.2% of the replies; most often by a content filter (37). "
        "What helps: let another judge decide"
    )


@pytest.mark.slow
def test_errors_of_failed_calls_are_no_words_of_the_judge() -> None:
    frame = failed_calls(ab=37)
    failed = frame.reason.notna()
    frame.loc[failed, ["reason", "reply"]] = ["failed: HTTP 500", "InternalServerError"]
    alarm = unparsed_alarm(frame)
    assert "InternalServerError" not in alarm
    assert "the judge wrote" not in alarm
    assert "HTTP 500, 37 times" in alarm
    frame.loc[frame.index[failed][:3], ["reason", "reply"]] = ["no verdict", "Both."]
    assert "most often the judge wrote 'Both.' (3)." in unparsed_alarm(frame)


@pytest.mark.slow
def test_the_check_of_failed_calls_says_what_the_warning_says() -> None:
    frame = failed_calls(ab=37)
    frame.loc[frame.reason.notna(), "reason"] = "failed: HTTP 500"
    [check] = check_unparsed(podium.read_battles(frame))
    assert check.is_flagged
    assert check.remedy.startswith("fix the error (HTTP 500, 37 times), then ask for what is miss")
    assert check.remedy in unparsed_alarm(frame)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("unparsed", "alarms"), [(0, 0), (3, 0), (4, 1)])
def test_up_to_three_in_a_hundred_are_no_alarm(unparsed: int, alarms: int) -> None:
    assert sum("unparsed" in text for text in warnings_of(table(unparsed))) == alarms


@pytest.mark.parametrize(("halves", "alarms"), [(6, 0), (7, 1)])
def test_a_battle_that_lost_one_order_has_lost_one_reply_of_two(halves: int, alarms: int) -> None:
    frame = pd.concat([table(halves, order="ab"), table(order="ba")])
    battles = podium.read_battles(frame)
    assert battles.counts().unparsed == halves
    assert sum("unparsed" in text for text in notice_texts(judge_warnings(battles, {}))) == alarms


def failed_calls(**lost: int) -> pd.DataFrame:
    """Return 200 battles in two orders of a judge of podium; so many lost the call in the order
    `ab` or `ba`."""
    rows = []
    for k in range(200):
        for order in ("ab", "ba"):
            is_lost = k < lost.get(order, 0)
            about = {
                "item": f"q{k}",
                "model_a": "ash",
                "model_b": "elm",
                "judge": LETTER,
                "order": order,
            }
            about["category"] = f"t{k % 2}"
            credit = None if is_lost else float(k % 3 > 0)
            rows.append(
                {**about, "credit": credit, "reason": "failed: HTTP 500" if is_lost else None}
            )
    return pd.DataFrame(rows)


def unparsed_alarm(frame: pd.DataFrame, **options: object) -> str:
    [alarm] = [text for text in warnings_of(frame, **options) if "are unparsed" in text]
    return alarm


@pytest.mark.slow
def test_the_share_of_replies_is_of_judgments_and_the_error_of_failed_calls_is_named() -> None:
    assert unparsed_alarm(failed_calls(ab=37)) == (
        "37 of 200 battles are unparsed, 9.2% of the replies. What helps: fix the error (HTTP "
        "500, 37 times), then ask for what is missing with `inspect eval-retry` on the log (in "
        "lm-eval, run again)"
    )


@pytest.mark.slow
def test_a_battle_that_lost_both_orders_has_lost_two_replies() -> None:
    battles = podium.read_battles(failed_calls(ab=40, ba=10))
    assert unparsed_share(battles) == 50 / 400
    again = podium.read_battles(battles.to_frame())
    assert unparsed_share(again) == 50 / 400


def test_packs_of_battles_in_one_order_and_in_two_count_each_reply_once() -> None:
    """Of 200 battles in two orders 10 lost one reply, and of 100 in one order 50: 60 of 500."""
    single = failed_calls(ab=50).query("order == 'ab'").head(100)
    frame = pd.concat([failed_calls(ab=10), single.assign(item=single["item"] + "x")])
    assert unparsed_share(podium.read_battles(frame)) == 60 / 500


def test_a_kept_verdict_of_one_order_has_lost_the_reply_of_the_other() -> None:
    assert unparsed_share(podium.read_battles(failed_calls(ab=37), one_sided="keep")) == 37 / 400


@pytest.mark.slow
def test_a_slice_names_the_error_of_failed_calls_though_its_orders_are_merged() -> None:
    assert "fix the error (HTTP 500), then ask" in unparsed_alarm(
        failed_calls(ab=37), by="category"
    )


@pytest.mark.slow
def test_failed_calls_are_named_beside_a_more_frequent_reason() -> None:
    frame = failed_calls(ab=37)
    frame.loc[frame.index[frame["reason"].notna()][:30], "reason"] = "truncated"
    assert unparsed_alarm(frame).partition("What helps: ")[2] == (
        "give it room: max_tokens=2000, or more; of the calls that failed: fix the error (HTTP "
        "500, 7 times), then ask for what is missing with `inspect eval-retry` on the log (in "
        "lm-eval, run again)"
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("truncated", "max_tokens=2000"),
        ("refusal", "let another judge decide"),
        ("failed: TimeoutError", "fix the error (TimeoutError, 40 times), then"),
        (
            "failed",
            "fix the error, then ask for what is missing with `inspect eval-retry` on the log",
        ),
        ("refusal / truncated", "let another judge decide"),
    ],
)
def test_the_remedy_fits_the_reason(reason: str, remedy: str) -> None:
    frame = table(40)
    frame.loc[frame["credit"].isna(), "reason"] = reason
    assert any(remedy in text for text in warnings_of(frame))


def test_a_judge_among_its_models_is_warned_of_with_what_to_do() -> None:
    frame = table(judge_model="openai/gpt-4o").replace({"ash": "GPT-4o"})
    [warning] = [text for text in warnings_of(frame) if "judges itself" in text]
    assert warning.startswith("the judge openai/gpt-4o judges itself (GPT-4o): use another judge")
    assert "self-preference" in warning


def test_a_judge_of_the_family_of_a_model_is_warned_of_with_what_to_do() -> None:
    [warning] = [
        text for text in warnings_of(table().replace({"ash": "gpt-3.5-turbo"})) if "family" in text
    ]
    assert warning.startswith(
        "the judge gpt-4o is of the same family as gpt-3.5-turbo (OpenAI, guessed)"
    )
    assert "add a judge of another family" in warning


@pytest.mark.slow
def test_a_table_of_models_corrects_the_family() -> None:
    frame = table().replace({"ash": "gpt-neo-acme"})
    about = pd.DataFrame({"model": ["gpt-neo-acme", "elm"], "family": ["Acme", "Acme"]})
    assert not any("family" in text for text in warnings_of(frame, models=about))
    kin = pd.DataFrame({"model": ["elm", "gpt-4o"], "family": ["OpenAI", "OpenAI"]})
    assert any(
        "of the same family as elm (OpenAI, given)" in text
        for text in warnings_of(frame, models=kin)
    )


@pytest.mark.parametrize("judge", ["human", "gpt-4"])
def test_humans_have_no_family_whatever_they_are_called(judge: str) -> None:
    frame = table(judge=judge, judge_kind="human").replace({"ash": "llama-3", "elm": "gpt-4"})
    assert judge_warnings(podium.read_battles(frame), {}) == []


@pytest.mark.parametrize(
    ("judge", "model"),
    [
        ("GPT-4 Turbo", "gpt-4-turbo"),
        ("Mistral Large", "mistral/Mistral Large"),
        ("通义千问", "通义千问"),
    ],
)
def test_a_judge_of_any_spelling_that_is_one_of_the_models_is_named(judge: str, model: str) -> None:
    frame = table(judge=judge).replace({"ash": model})
    assert [
        text.partition(":")[0]
        for text in notice_texts(judge_warnings(podium.read_battles(frame), {}))
    ] == [f"the judge {judge} judges itself ({model})"]


def test_a_judge_with_a_blank_in_its_name_has_a_family() -> None:
    [warning] = warnings_of(table(judge="GPT-4 Turbo").replace({"ash": "gpt-4o"}))
    assert warning.startswith(
        "the judge GPT-4 Turbo is of the same family as gpt-4o (OpenAI, guessed)"
    )


def test_a_judge_of_one_model_and_of_the_family_of_another_gets_both_findings() -> None:
    frame = table(judge="GPT-4 Turbo").replace({"ash": "gpt-4-turbo", "elm": "gpt-4o"})
    assert podium.rank(podium.read_battles(frame)).standings[0].answer[1] == (
        "The judge GPT-4 Turbo judges itself: use another judge; also: the judge GPT-4 Turbo is "
        "of the same family as gpt-4o (OpenAI): add a judge of another family."
    )


def test_a_judge_is_not_named_as_a_relative_of_itself() -> None:
    frame = table(judge="GPT-4 Turbo").replace({"ash": "gpt-4-turbo"})
    trust = podium.rank(podium.read_battles(frame)).standings[0].answer[1]
    assert trust.startswith("The judge GPT-4 Turbo judges itself: use another judge")
    assert "same family" not in trust


def scores(judge: str, **more: object) -> pd.DataFrame:
    """Return scores of two models on 100 items."""
    rows = [
        {"item": f"q{k}", "model": model, "score": float(k % step > 0), "judge": judge, **more}
        for k in range(100)
        for model, step in (("gpt-4", 3), ("llama-3", 2))
    ]
    return pd.DataFrame(rows)


def test_a_judge_that_scores_single_responses_is_named_if_it_is_one_of_the_models() -> None:
    [warning] = warnings_of(scores("gpt-4"))
    assert warning.startswith("the judge gpt-4 judges itself (gpt-4)")


def test_a_judge_that_scores_single_responses_has_a_family() -> None:
    [warning] = warnings_of(scores("GPT-4 Turbo"))
    assert warning.startswith(
        "the judge GPT-4 Turbo is of the same family as gpt-4 (OpenAI, guessed)"
    )


def test_a_metric_of_an_eval_that_was_converted_has_no_family() -> None:
    converted = scores("", metric="mmlu_llama choice", task="mmlu_llama").drop(columns="judge")
    assert warnings_of(converted) == ()


@pytest.mark.slow
def test_checks_cover_every_judge_of_a_slice() -> None:
    frame = pd.concat([table(judge="gpt-4o|direct|1"), table(judge="claude-x|direct|1")])
    frame = frame.replace({"ash": "gpt-3.5-turbo"})
    ranking = podium.rank(podium.read_battles(frame), by="judge")
    kin = {
        each.slice: any("family" in text for text in notice_texts(each.warnings))
        for each in ranking.standings
    }
    assert kin == {"gpt-4o|direct|1": True, "claude-x|direct|1": False}


def test_a_judge_of_which_nothing_could_be_read_gets_the_alarm_in_the_error() -> None:
    with pytest.raises(
        podium.NotIdentifiedError,
        match=r"nothing to rank; 100 of 100 .*wrote 'Both.' \(100\).*='cot'",
    ):
        warnings_of(table(100, ("Both.",)))


@pytest.mark.slow
def test_a_metric_of_an_eval_is_never_a_judge(tmp_path: Path) -> None:
    """Not even with the name of a model."""
    for name, right in (("gpt-4", [1, 1, 0] * 12), ("llama-3", [1, 0, 0] * 12)):
        write_run(tmp_path, name, {"mmlu_llama": scored(right, "gpt-4")})
    battles = podium.read_battles(tmp_path)
    assert (battles.judges, battles.metrics) == ((), ("gpt-4,none",))
    assert judge_warnings(battles, {}) == []
    [card] = diagnose(battles, battles).cards
    assert card.answers["self_preference"].family is None


@pytest.mark.slow
def test_a_metric_stays_a_metric_in_a_slice(tmp_path: Path) -> None:
    for name, right in (("gpt-4", [1, 1, 0] * 12), ("llama-3", [1, 0, 0] * 12)):
        write_run(tmp_path, name, {task: scored(right) for task in ("gpt_quiz", "llama_quiz")})
    for _, part in podium.read_battles(tmp_path).slices("task"):
        assert judge_warnings(part, {}) == []


@pytest.mark.slow
def test_the_remedy_of_replies_without_text_is_a_look_at_the_server() -> None:
    frame = table(40)
    frame.loc[frame["credit"].isna(), "reason"] = "empty"
    (alarm,) = judge_warnings(podium.read_battles(frame), {})
    assert alarm.fields["remedies"] == ["look-at-server"]
    assert "see whether the judge's server works" in " ".join(notice_texts([alarm]))


@pytest.mark.parametrize("reason", ["failed to parse", "refusal form filled in"])
def test_a_reason_that_only_begins_like_one_of_podium_has_no_remedy_of_its_own(reason: str) -> None:
    frame = table(40)
    frame.loc[frame["credit"].isna(), "reason"] = reason
    (alarm,) = judge_warnings(podium.read_battles(frame), {})
    assert alarm.fields["remedies"] == ["reason-first"]
    assert alarm.fields["errors"] == f"{reason}, 40 times"


@pytest.mark.parametrize(
    ("written", "code", "details"),
    [
        ("failed: HTTP 500: busy", "failed", "HTTP 500: busy"),
        ("failed", "failed", ""),
        ("truncated", "truncated", ""),
        ("truncated / refusal", "truncated", ""),
        ("somebody else's: words", None, ""),
    ],
)
def test_a_written_reason_is_a_code_with_details(
    written: str, code: str | None, details: str
) -> None:
    assert UnparsedReason.parse(written) == UnparsedReason(code, details)


@pytest.mark.parametrize("written", ["failed: HTTP 500", "failed", "refusal"])
def test_a_reason_is_written_as_it_was_read(written: str) -> None:
    assert str(UnparsedReason.parse(written)) == written


def tied(ties: int, decided: int = 0, flips: int = 0, **more: object) -> pd.DataFrame:
    """Return battles in both orders: with ties in both, with the winner `a` in both, and flips."""
    kinds = [(0.5, 0.5)] * ties + [(1.0, 1.0)] * decided + [(1.0, 0.0)] * flips
    rows = []
    for k, credits in enumerate(kinds):
        for order, credit in zip(("ab", "ba"), credits, strict=True):
            row = {"item": f"q{k}", "model_a": "ash", "model_b": "elm", "judge": LETTER}
            rows.append(row | {"order": order, "credit": credit, **more})
    return pd.DataFrame(rows)


def ties_found(frame: pd.DataFrame) -> list[str]:
    """Return the finding about ties of the ranking, after seeing that the card has the same."""
    battles = podium.read_battles(frame)
    [standings] = podium.rank(battles).standings
    found = [check.finding_text for check in standings.checks if check.name == "only ties"]
    [card] = diagnose(podium.read_battles(frame, merge=False), battles).cards
    assert [check.finding_text for check in card.checks if check.name == "only ties"] == found
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "share"),
    [
        ({"ties": 19, "decided": 1}, "95.0% of 20"),
        ({"ties": 40}, "100.0% of 40"),
        ({"ties": 18, "decided": 2}, ""),
        ({"ties": 19}, ""),
        ({"ties": 0, "flips": 40}, ""),
    ],
)
def test_a_judge_that_nearly_always_ties_is_named_and_flips_are_no_ties(
    world: dict[str, int], share: str
) -> None:
    found = ties_found(tied(**world, judge_model="gpt-4o"))
    texts = [f"the judge gpt-4o gave ties on {share} battles"]
    assert [text.partition(", which")[0] for text in found] == (texts if share else [])


@pytest.mark.slow
def test_of_two_judges_the_one_that_ties_is_named() -> None:
    other = tied(0, decided=30).assign(judge="strict")
    both = pd.concat([tied(30).assign(judge="lax"), other])
    [standings] = podium.rank(podium.read_battles(both), pool=True).standings
    [found] = [check.finding_text for check in standings.checks if check.name == "only ties"]
    assert found.startswith("the judge lax gave ties on 100.0% of 30 battles")
