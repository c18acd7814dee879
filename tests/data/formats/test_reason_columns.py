"""Why rows of a plain file have no verdict, by columns such as `error`."""

from pathlib import Path

import pytest

import podium


def table_of(column, lost, others="", credits="1,0,0.5"):
    """Return a CSV of 12 battles, a third of which have no credit and `lost` in a column."""
    rows = [f"item,model_a,model_b,judge,credit,{column}"]
    for k in range(12):
        credit = credits.split(",")[k % 3] if k % 3 else ""
        rows.append(f"i{k},x,y,g,{credit},{lost if k % 3 == 0 else others}")
    return "\n".join(rows) + "\n"


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("column", "lost", "others", "reason"),
    [
        ("error", "HTTP 500", "", "HTTP 500"),
        ("Error", "HTTP 500", "none", "HTTP 500"),
        ("error_message", "server busy", "", "server busy"),
        ("parse_error", "True", "False", "parse_error"),
        ("exception", "e" * 70, "", "e" * 60),
        ("finish_reason", "length", "stop", "truncated"),
        ("stop_reason", "max_tokens", "end_turn", "truncated"),
        ("finish_reason", "content_filter", "stop", "content filter"),
        ("finish_reason", "tool_calls", "stop", "finish_reason tool_calls"),
        ("reason", "HTTP 500", "", "HTTP 500"),
    ],
)
def test_the_reason_of_a_row_without_a_verdict_is_read(save, column, lost, others, reason):
    battles = podium.read_battles(save("votes.csv", table_of(column, lost, others)))
    assert battles.unparsed_reasons() == {reason: 4}
    assert battles.counts().unparsed == 4


def test_an_error_beside_a_verdict_is_no_reason(save):
    battles = podium.read_battles(save("votes.csv", table_of("error", "", "retried once")))
    assert battles.counts().unparsed == 4
    assert "retried once" not in battles.unparsed_reasons()


def test_a_reason_of_the_table_comes_before_an_error(save):
    rows = "item,model_a,model_b,credit,reason,error\n0,x,y,,refusal,HTTP 500\n1,x,y,1,,\n"
    battles = podium.read_battles(save("votes.csv", rows))
    assert battles.unparsed_reasons() == {"refusal": 1}


@pytest.mark.slow
@pytest.mark.parametrize("column", ["error", "reason"])
def test_the_advice_names_the_error_and_how_often_it_was(podium, save, column):
    path = save("votes.csv", table_of(column, "HTTP 500"))
    done = podium("rank", path)
    assert "look at those rows (HTTP 500, 4 times)" in done.err
    card = podium("diagnose", path, "--full").out
    assert "HTTP 500, 4 times" in " ".join(card.split())


@pytest.mark.slow
def test_the_advice_names_errors_in_every_command(podium, save, tmp_path):
    path = save("votes.csv", table_of("error", "HTTP 500"))
    page = str(tmp_path / "page.html")
    for words in (("compare", "x", "y", path), ("report", path, "-o", page)):
        done = podium(*words)
        assert "HTTP 500, 4 times" in done.err, words
    assert "HTTP 500, 4 times" in Path(page).read_text(encoding="utf-8")


def test_the_reason_of_a_blank_score_is_read(save):
    rows = ["item,model,score,error"]
    for k in range(8):
        rows += [f"i{k},x,1,", f"i{k},y,{0.5 if k else ''},{'' if k else 'HTTP 500'}"]
    battles = podium.read_battles(save("scores.csv", "\n".join(rows) + "\n"))
    assert battles.unparsed_reasons() == {"HTTP 500": 1}
