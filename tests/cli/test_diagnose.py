"""podium diagnose, as a user types it."""

import json
import re

import pytest

from podium import Judge, simulate
from podium.data.reading.judgments import read_battles
from podium.diagnosis.card import card_reports, diagnose
from podium.format_version import FORMAT_VERSION
from podium.show.report.terminal import terminal_text


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """Return a file of two judges with everything a card asks for."""
    path = tmp_path_factory.mktemp("judged") / "verdicts.csv"
    played = simulate(["gpt-4", "claude-3", "llama-2", "mistral-7b", "gemma-2"], 25, seed=4)
    judges = (Judge("gpt-9", position_bias=0.5, tie=0.2, unparsed=0.01), Judge("claude-9"))
    played.judgments(*judges, human=True, repeats=2).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_a_card_per_judge_with_its_sections(podium, verdicts):
    answer = podium("diagnose", verdicts, "--full")
    assert answer.code == 0
    assert re.findall(r"^judge card · (.*) · 95% intervals$", answer.out, re.M) == [
        "claude-9",
        "gpt-9",
    ]
    for line in (
        "shown first: wins",
        "unparsed",
        "longer response preferred",
        "same of win, tie, loss",
        "temperature",
    ):
        assert answer.out.count(f"  {line} ") == 2, line
    assert "5 models, 25 items, 1,000 judgments, 500 battles:" in answer.out


@pytest.mark.slow
def test_every_figure_shows_its_denominator_and_how_its_interval_was_made(podium, verdicts):
    out = podium("diagnose", verdicts, "--where", "judge=gpt-9", "--level", "0.9", "--full").out
    line = next(line for line in out.splitlines() if "first preferred" in line)
    assert re.search(r"\d\d\.\d%\s+\d\d\.\d … \d\d\.\d\s+[\d,]+ judgments, 25 items$", line)
    assert "90% intervals" in out
    assert "Wilson, item-clustered effective sample size, t: shown first: wins" in out


@pytest.mark.slow
def test_json_leaves_stdout_pure(podium, verdicts):
    answer = podium(
        "diagnose", verdicts, "--format", "json", "--families", "gem*=OpenAI", "--near-tie", "0.5"
    )
    found = json.loads(answer.out)
    assert [card["judge"] for card in found["cards"]] == ["claude-9", "gpt-9"]
    own = found["cards"][1]["sections"]["self_preference"]
    assert own["families"]["OpenAI"] == ["gemma-2", "gpt-4"]
    assert found["cards"][1]["sections"]["position"]["swaps"]["rule"].endswith("up to 0.5")
    options = found["provenance"]["options"]
    assert (options["near_tie"], options["families"]) == (0.5, {"gem*": "OpenAI"})


@pytest.mark.slow
def test_markdown_has_a_title_per_section(podium, verdicts, tmp_path):
    path = tmp_path / "card.md"
    answer = podium("diagnose", verdicts, "--where", "judge=gpt-9", "--full", "-o", path)
    assert (answer.code, answer.out) == (0, "")
    text = path.read_text(encoding="utf-8")
    assert "\n**judge card · gpt-9 · 95% intervals**\n" in text
    assert "\n**agreement with humans**\n" in text
    assert "| shown first: wins |" in text


@pytest.mark.slow
def test_three_sentences_and_a_line_a_check_fit_on_one_screen(podium, example):
    lines = podium("diagnose", example).out.splitlines()
    assert lines[:4] == [
        "This judge may rank: it agrees with humans on 79.2% of winners (75.1 … 82.8).",
        "Its Elo gaps are 1.26 times the human ones (0.962 … 1.553): calibrate before you quote "
        "Elo.",
        "19% of verdicts flip when the responses change places, and the response shown first has a "
        "win rate of 56.8%: keep both",
        "orders, which together cancel this preference.",
    ]
    assert len(lines) <= 24
    rows = {line[:16].strip(): line for line in lines[8:20]}
    assert [name for name, line in rows.items() if "not known" in line] == [
        "repeated",
        "length",
        "self-preference",
    ]
    assert "flagged     the response shown first has a win rate of 56.8%" in rows["position"]


@pytest.mark.slow
def test_a_section_is_that_of_the_whole_card(podium, example):
    section, whole = (
        podium("diagnose", example, *words).out for words in (("--section", "human"), ("--full",))
    )
    figures = [line for line in section.splitlines() if "…" in line]
    assert len(figures) > 3
    assert set(figures) <= set(whole.splitlines())


@pytest.mark.slow
def test_comparison_of_judges_has_a_row_per_judge(podium, verdicts):
    lines = podium("diagnose", verdicts).out.splitlines()
    answer = " ".join(lines[:3])
    assert re.match(r"Humans agree most with (gpt|claude)-9 on \d\d\.\d% of winners", answer)
    assert re.search(r"\d points less \(-?\d+\.\d … \d+\.\d\)(, too close to call)?\.", answer)
    assert sum(line.startswith((" gpt-9  ", " claude-9  ")) for line in lines) == 2


@pytest.mark.slow
def test_without_labels_whether_it_may_rank_is_not_known(podium, table):
    rows = [
        f"{item},{a},{b},{(item + len(a + b)) % 2}"
        for item in range(30)
        for a, b in ("xy", "xz", "yz")
    ]
    out = podium("diagnose", table(*rows)).out
    assert out.startswith(
        "Whether this judge may rank is not known: no readable battle has a human label."
    )
    assert "Whether its Elo gaps match human ones is not known" in out


@pytest.mark.slow
def test_data_that_cannot_answer_say_what_would(podium, table):
    answer = podium("diagnose", table("1,x,y,1", "1,y,z,0.5", "2,x,z,0"), "--full")
    assert answer.code == 0
    assert "not answered" in answer.out
    for remedy in (
        "--shown a",
        "length_a and length_b",
        "--human-judge",
        "-T repeats=2 in a tournament",
        "--gold",
    ):
        assert remedy in " ".join(answer.out.split()), remedy
    assert re.search(r"ties\s+33\.3%", answer.out)


@pytest.mark.slow
def test_a_human_judge_becomes_the_labels(podium, table):
    rows = [
        f"{item},x,y,{credit},{judge}"
        for item in range(9)
        for judge, credit in (("crowd", item % 2), ("gpt", 1))
    ]
    answer = podium(
        "diagnose",
        table(*rows, header="item,model_a,model_b,credit,judge"),
        "--human-judge",
        "crowd",
        "--full",
    )
    assert answer.code == 0
    assert re.search(r"same of win, tie, loss\s+44\.4%", answer.out)
    assert "crowd" in answer.err
    assert "judge card · crowd" not in answer.out


@pytest.mark.slow
def test_a_gold_ranking_is_a_reference(podium, tmp_path):
    board = tmp_path / "board.csv"
    board.write_text(
        "model,score\ngpt-4,1300\nclaude-3,1200\nllama-2,1000\nmistral-7b,1100\ngemma-2,1050\n"
    )
    bare = tmp_path / "bare.csv"
    simulate(["gpt-4", "claude-3", "llama-2", "mistral-7b", "gemma-2"], 25, seed=4).judgments(
        Judge("gpt-9")
    ).to_csv(bare, index=False)
    assert "compared with: gold" in podium("diagnose", bare, "--gold", board, "--full").out


@pytest.mark.slow
@pytest.mark.parametrize("credits", [(0.5, 0.5), (1.0, 0.0)], ids=["ties", "flips"])
def test_a_judge_that_decides_nothing_has_a_card_beside_a_gold_ranking(
    podium, table, tmp_path, credits
):
    """Every battle is a tie or a flip: there is no win rate to compare, and the card says so."""
    pairs = [(a, b) for k, a in enumerate("abcd") for b in "abcd"[k + 1 :]]
    played = [(f"q{k}", a, b) for k in range(6) for a, b in pairs]
    rows = [
        f"{','.join(one)},{credit},{order}"
        for one in played
        for credit, order in zip(credits, ("ab", "ba"), strict=True)
    ]
    gold = tmp_path / "gold.csv"
    gold.write_text("model,score\na,1600\nb,1550\nc,1450\nd,1400\n")
    answer = podium(
        "diagnose",
        table(*rows, header="item,model_a,model_b,credit,order"),
        "--gold",
        gold,
        "--full",
    )
    text = " ".join(answer.out.split())
    assert (answer.code, "0 of 6 gold pairs judged" in text) == (0, True)
    assert "0 pairs have a win rate by the judge" in text


@pytest.mark.slow
def test_families_come_from_a_file(podium, verdicts, tmp_path):
    families = tmp_path / "families.csv"
    families.write_text("model,family\ngpt-9,House\nllama-2,House\n")
    out = podium(
        "diagnose", verdicts, "--where", "judge=gpt-9", "--families", families, "--full"
    ).out
    assert "family of the judge: House (given)" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("--level", "1"), 2, "--level"),
        (("--near-tie", "-1"), 2, "--near-tie"),
        (("--families", "=x"), 2, "write KEY=VALUE"),
        (("--families", "no-such.csv"), 2, "no-such.csv"),
        (("--gold", "no-such.csv"), 2, "no-such.csv"),
        (("--where", "judge=nobody"), 2, "nobody"),
        (("-o", "card.csv"), 2, "card.csv"),
        (("--section", "posture"), 2, "available: position, consistency"),
        (("--section", "position", "--full"), 2, "leave out --section"),
    ],
)
def test_what_cannot_be_is_rejected(podium, verdicts, words, code, problem):
    answer = podium("diagnose", verdicts, *words)
    assert (answer.code, answer.out) == (code, "")
    assert problem in answer.err


def test_a_families_file_without_families_says_so(podium, verdicts, tmp_path):
    path = tmp_path / "about.csv"
    path.write_text("model,date\ngpt-4,2024\n")
    answer = podium("diagnose", verdicts, "--families", path)
    assert answer.code == 1
    assert "write the columns model and family" in answer.err


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(verdicts, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    found = diagnose(read_battles(verdicts, merge=False), read_battles(verdicts))
    text = terminal_text(card_reports(found), terminal=True)
    assert not [line for line in text.splitlines() if len(line) > width]
    assert not re.search(r"\d…", text)
    position = found.cards[1].answers["position"]
    assert f"{100 * position.swaps.all.same.value:.1f}%" in text


@pytest.mark.slow
def test_names_cannot_move_the_cursor(podium, table):
    rows = [f"{item},red\x1b[31m,y,1,ev\x1b[2Jil" for item in range(3)]
    answer = podium("diagnose", table(*rows, header="item,model_a,model_b,credit,judge"))
    assert "\x1b" not in answer.out
    assert r"ev\x1b[2Jil" in answer.out


def test_a_name_with_a_size_stays_on_one_line_where_a_table_is_too_wide(podium, table):
    """Only intervals go below their figures: `Dolly v2 (12B)` is a name."""
    names = [
        "Dolly v2 (12B)",
        "Vicuna v1.3 (7B)",
        "A model of which nobody would think that its name is so long (70B)",
    ]
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    rows = [f"q{k},{a},{b},{(k * 7 + len(a)) % 3 / 2}" for k in range(12) for a, b in pairs]
    lines = podium("diagnose", table(*rows), "--full").out.splitlines()
    assert max(map(len, lines)) <= 120
    pair = ("Dolly v2 (12B) - Vicuna v1.3 (7B)", "Vicuna v1.3 (7B) - Dolly v2 (12B)")
    assert [line for line in lines if any(name in line for name in pair)]


@pytest.mark.slow
def test_every_json_names_the_version_of_its_format(podium, example):
    """The contract's field `podium`, the same in rankings, cards, and plans."""
    asked = (
        ("rank", example, "--ranker", "win-rate"),
        ("diagnose", example),
        ("plan", example),
    )
    assert {json.loads(podium(*words, "--format", "json").out)["podium"] for words in asked} == {
        FORMAT_VERSION
    }
