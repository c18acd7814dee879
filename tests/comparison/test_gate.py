"""Requirements: what they mean, how they are decided, and the exit code that a pipeline sees."""

import json

import forked
import numpy as np
import pandas as pd
import pytest
from lm_eval_output import scored, write_run
from places import EXAMPLE
from scipy import stats

import podium as api
from podium.comparison.gate import parse_requirement
from podium.errors import DataError, UsageError


@pytest.mark.parametrize(
    ("text", "margin", "unit"),
    [
        ("better", 0, ""),
        ("not-worse=10elo", 10, "elo"),
        ("not-worse=2points", 2, "points"),
        ("not-worse=1.5 points", 1.5, "points"),
        ("not-worse=0.02", 0.02, "units"),
        ("not-worse=3units", 3, "units"),
    ],
)
def test_a_requirement_is_read_with_its_unit(text, margin, unit):
    read = parse_requirement(text)
    assert (read.margin, read.unit) == (margin, unit)


def answer_of_gate(won: int, even: int) -> str:
    """Return the first sentence of a gate that requires `better`, from a's wins and ties with b."""
    credits = [1.0] * won + [0.5] * even
    rows = [
        {"item": f"q{k}", "model_a": "a", "model_b": "b", "credit": credit}
        for k, credit in enumerate(credits)
    ]
    comparison = api.compare("a", "b", api.read_battles(pd.DataFrame(rows)), require="better")
    return comparison.answer[0]


@pytest.mark.slow
def test_a_pass_beside_an_interval_that_contains_0_says_why() -> None:
    """Five wins of five: p = 1/32 on one side, 1/16 on two."""
    why = "the table's interval contains 0 Elo: it is two-sided, and the gate tests one side"
    assert answer_of_gate(5, 15).startswith("PASS")
    assert why in answer_of_gate(5, 15)
    assert answer_of_gate(9, 11).startswith("PASS")
    assert "the table's interval" not in answer_of_gate(9, 11)
    assert "the table's interval" not in answer_of_gate(4, 16)


@pytest.mark.parametrize(
    "text",
    [
        "not-worse=10",
        "not-worse",
        "not-worse=",
        "best",
        "not-worse=nan",
        "not-worse=-2points",
        "better=2points",
    ],
)
def test_a_requirement_without_a_unit_or_sense_is_rejected(text, podium):
    answer = podium("compare", "amber", "birch", EXAMPLE, "--require", text)
    assert answer.code == 2
    assert f"requirement {text!r}" in answer.err


@pytest.mark.slow
def test_a_unit_that_the_comparison_lacks_is_rejected(podium, scores):
    new, old = scores("new", [1.0, 5.0] * 9), scores("old", [2.0, 3.0] * 9)
    for text, complaint in (
        ("not-worse=10elo", "a metric has no Elo"),
        ("not-worse=2points", "hundredths of a share"),
    ):
        answer = podium("compare", new, old, "--require", text)
        assert answer.code == 2
        assert complaint in answer.err


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--method", "betting", "--measure", "win-rate")])
def test_a_requirement_in_points_of_two_models_that_never_met_says_why_it_cannot_be(
    tmp_path, podium, more
):
    rows = [f"q{k},{a},{b},{k % 3 // 2}" for k in range(30) for a, b in (("a", "c"), ("c", "b"))]
    battles = tmp_path / "battles.csv"
    battles.write_text("\n".join(["item,model_a,model_b,credit", *rows]) + "\n")
    answer = podium("compare", "a", "b", battles, "--require", "not-worse=2points", *more)
    # By betting, nothing is compared, so that the requirement is undecided.
    assert answer.code == (5 if more else 2)
    complaint = "no readable battle between the two" if more else "no readable battle with each"
    assert complaint in answer.err
    known = podium("compare", "a", "c", battles, "--require", "not-worse=2points")
    assert known.code in (0, 4, 5)
    unknown = ("--method", "betting", "--require", "not-worse=10elo")
    answer = podium("compare", "a", "c", battles, *unknown)
    assert (answer.code, "win rates are compared, which are no Elo" in answer.err) == (2, True)


def test_exit_codes_of_a_pipeline(tmp_path):
    """Real commands, in processes of their own: 0 passes, 4 fails, 5 is undecided; the first word
    says it."""
    rng = np.random.default_rng(7)
    old = (rng.random(400) < 0.6).astype(float)
    worse = old * (rng.random(400) < 0.8)
    for name, values in (("old", old), ("same", old), ("worse", worse)):
        write_run(tmp_path / name, "m", {"gsm": scored(values.tolist(), resps=[[name]])})
    runs = [
        ("same", "not-worse=2points", 0, "PASS"),
        ("worse", "not-worse=2points", 4, "FAIL"),
        ("worse", "better", 4, "FAIL"),
        ("same", "better", 5, "UNDECIDED"),
        ("worse", "not-worse=12points", 5, "UNDECIDED"),
    ]
    for name, requirement, code, word in runs:
        paths = tmp_path / name, tmp_path / "old"
        done = forked.run("podium", "compare", *paths, "--require", requirement, "--format", "md")
        assert (done.returncode, done.stdout.split(":")[0]) == (code, word), (
            name,
            requirement,
            done,
        )


@pytest.mark.slow
def test_gate_passes_by_one_bound_and_fails_by_the_opposite_bound(scores):
    """Paired t without skewness: the bounds are those of scipy's one-sided intervals."""
    rng = np.random.default_rng(8)
    old, half = rng.normal(0, 1, 200), rng.normal(0, 1.4, 100)
    new = old - 0.05 + np.concatenate([half, -half])
    low = stats.ttest_rel(new, old, alternative="greater").confidence_interval(0.95).low
    high = stats.ttest_rel(new, old, alternative="less").confidence_interval(0.95).high
    paths = scores("new", new), scores("old", old)
    for margin, verdict in ((-low + 0.01, "PASS"), (-low - 0.01, "UNDECIDED")):
        gate = api.compare(*paths, require=f"not-worse={margin}units").gate
        assert gate.verdict == verdict
        assert gate.decisions[0].low == pytest.approx(low, abs=1e-6)
        assert gate.decisions[0].high == pytest.approx(high, abs=1e-6)


@pytest.mark.slow
def test_a_pass_on_scores_says_how_rare_a_loss_it_would_not_see(scores):
    """20 gains and no loss: with probability .95 a loss on one item in seven would be among
    them."""
    gains = np.linspace(0.1, 0.2, 20)
    paths = scores("new", 1 + gains), scores("old", np.ones(20))
    unseen = "; a loss on fewer than 1 in 7 items may not be in the sample."
    one, both = (
        api.compare(*paths, require=own) for own in ("better", ["better", "not-worse=3units"])
    )
    assert one.answer[0].startswith("PASS: new minus old is at least")
    assert one.answer[0].endswith(unseen)
    assert both.answer[0] == f"PASS: both requirements are met{unseen}"
    right = api.compare(
        scores("new", np.ones(20)), scores("old", np.arange(20) < 5), require="better"
    )
    assert right.answer[0].startswith("PASS")
    assert "may not be in the sample" not in str(right)


def requirements(tmp_path, text, suffix="toml"):
    path = tmp_path / f"gate.{suffix}"
    path.write_text(text)
    return path


@pytest.fixture
def runs(tmp_path):
    """Two lm-eval folders: gsm as before, arc much worse."""
    rng = np.random.default_rng(9)
    gsm, arc = ((rng.random(300) < share).astype(float) for share in (0.6, 0.8))
    write_run(
        tmp_path / "new",
        "m",
        {"gsm": scored(gsm), "arc": scored(arc * (rng.random(300) < 0.7), resps=[["new"]])},
    )
    write_run(tmp_path / "old", "m", {"gsm": scored(gsm), "arc": scored(arc)})
    return tmp_path / "new", tmp_path / "old"


@pytest.mark.slow
def test_one_file_holds_several_requirements_and_an_advisory_one_decides_nothing(
    tmp_path, runs, podium
):
    text = """
[[requirements]]
task = "gsm"
require = "not-worse=2points"
[[requirements]]
task = "arc"
metric = "acc"
require = "not-worse=2points"
advisory = {}
"""
    for advisory, code, word in (("true", 0, "PASS"), ("false", 4, "FAIL")):
        path = requirements(tmp_path, text.format(advisory))
        answer = podium("compare", *runs, "--requirements", path, "--format", "json")
        document = json.loads(answer.out)
        assert (answer.code, document["gate"]["verdict"]) == (code, word)
        assert [own["verdict"] for own in document["gate"]["requirements"]] == ["PASS", "FAIL"]
        assert document["answer"][0].startswith(f"{word}: ")


@pytest.mark.slow
def test_a_required_task_that_is_absent_is_undecided(tmp_path, runs, podium):
    text = (
        "requirements:\n- require: not-worse=2points\n  task: gsm\n- require: better\n  task: "
        "mmlu\n"
    )
    pytest.importorskip("yaml")
    answer = podium("compare", *runs, "--requirements", requirements(tmp_path, text, "yaml"))
    assert answer.code == 5
    assert answer.out.startswith("UNDECIDED: 1 of 2 requirements undecided: better on mmlu.")


def test_nothing_compared_is_undecided_and_never_a_pass(tmp_path, podium):
    path = tmp_path / "unparsed.csv"
    path.write_text("item,model_a,model_b,credit\nq0,a,b,\nq1,a,b,\n")
    answer = podium("compare", "a", "b", path, "--require", "not-worse=10elo")
    assert answer.code == 5
    assert answer.out.startswith("UNDECIDED: not-worse=10elo cannot be decided")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("requirements = 3", "no list of requirements"),
        ("[[requirements]]\ntask = 'gsm'", "no text `require`"),
        ("[[requirements]]\nrequire = 'better'\ntsak = 'gsm'", "unknown field 'tsak'"),
        ("[[requirements]]\nrequire = 'better'\nadvisory = 'yes'", "write true or false"),
        ("requirements = [", "not TOML"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_named(tmp_path, text, complaint):
    with pytest.raises(DataError, match=complaint):
        api.compare("amber", "birch", EXAMPLE, requirements=requirements(tmp_path, text))


def test_a_requirement_without_a_unit_in_a_file_names_its_place(tmp_path):
    text = "[[requirements]]\nrequire = 'not-worse=10'"
    with pytest.raises(UsageError, match=r"gate.toml, requirement 1: .*10 has no unit"):
        api.compare("amber", "birch", EXAMPLE, requirements=requirements(tmp_path, text))


@pytest.mark.slow
def test_failing_is_by_holm_and_its_bounds_agree_with_it():
    """Five candidates: a requirement fails just where its simultaneous upper bound lies at or below
    what is needed."""
    gate = api.compare(EXAMPLE, baseline="birch", require="not-worse=10elo").gate
    verdicts = {own.finding.candidate: own.verdict for own in gate.decisions}
    assert verdicts == {
        "amber": "PASS",
        "cedar": "UNDECIDED",
        "dune": "FAIL",
        "ember": "FAIL",
        "fjord": "FAIL",
    }
    for own in gate.decisions:
        assert (own.high <= own.threshold) == (own.verdict == "FAIL")
        assert (own.low >= own.threshold) == (own.verdict == "PASS")
    assert gate.exit_code == 4


@pytest.mark.slow
def test_the_markdown_summary_opens_with_the_verdict_in_one_line(podium):
    answer = podium("compare", "fjord", "amber", EXAMPLE, "--require", "better", "--format", "md")
    first = answer.out.splitlines()[0]
    assert first.startswith("FAIL: fjord minus amber is at most -")
    assert "| fail | better | fjord |" in answer.out


def test_a_file_of_requirements_in_another_encoding_is_named(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_bytes("# für alle\n[[requirements]]\nrequire = 'better'\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"gate.toml: not UTF-8"):
        api.compare("amber", "birch", EXAMPLE, requirements=path)
