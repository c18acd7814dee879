"""--encoding in every command that reads files: all of them are read in it, if not UTF-8."""

import pytest

HEADER = "item,model_a,model_b,credit,order\n"
ROWS = "".join(f"q{k},café,zoë,{k % 3 // 2},{order}\n" for k in range(12) for order in ("ab", "ba"))
ANSWERS = "".join(
    f"q{k},What?,{name},Voilà {name} {k}\n" for k in range(12) for name in ("café", "zoë")
)
COMMANDS = [
    ("rank",),
    ("rank", "--human-labels", "votes.csv", "--ranker", "win-rate"),
    ("compare", "café", "zoë"),
    ("diagnose",),
    ("plan", "--items", "50"),
    ("convert", "-o", "out.csv"),
    ("report", "--responses", "answers.csv", "-o", "out.html"),
    ("label", "--responses", "answers.csv", "--number", "5", "-o", "sheet.csv"),
    ("replay", "--tournament", "round-robin"),
]


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text(HEADER + ROWS, encoding="latin-1")
    answers = "item,instruction,model,response\n" + ANSWERS
    (tmp_path / "answers.csv").write_text(answers, encoding="latin-1")


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.usefixtures("places")
def test_every_command_reads_its_files_in_the_named_encoding(podium, command):
    refused = podium(*command, "votes.csv")
    assert (refused.code, "votes.csv, row 1: not UTF-8 text" in refused.err) == (1, True)
    assert "--encoding latin-1" in refused.err
    done = podium(*command, "votes.csv", "--encoding", "latin-1")
    assert done.code in (0, 3), done.err
