"""podium calibrate and podium rank --calibration, through files only, as a user types them."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forked
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.optimize import brentq
from scipy.special import expit

from podium import Judge, UsageError, simulate
from podium.cli.main import podium as command_line
from podium.rankers.json_files import read_calibration

SCHEMAS = Path(__file__).parents[2] / "docs"
Podium = Callable[..., Any]

OLD, NEW, ITEMS = 20, 14, 20
JUDGE = Judge("rubric-judge", scale=2.0, position_bias=0.4, noise=0.6, tie=0.2, unparsed=0.01)
POINTS = 400 / np.log(10)


def shell(*words: object) -> subprocess.CompletedProcess[str]:
    """Run podium in a process of its own, neither stream on a terminal."""
    return forked.run("podium", *words)


def world() -> pd.DataFrame:
    """Return both orders of every pair of 34 models, with human labels, one in eight a tie."""
    frame = simulate(OLD + NEW, ITEMS, seed=5, spread=0.8).judgments(JUDGE, human=True)
    battle = frame.groupby(["item", "model_a", "model_b"], sort=False).ngroup()
    luck = np.random.default_rng(0).random(battle.max() + 1)
    return frame.assign(human=frame["human"].mask(luck[battle] < 0.125, 0.5))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a user: labelled.csv, new.csv (without labels),
    models.csv."""
    path, frame = tmp_path_factory.mktemp("calibrate"), world()
    known = [f"model-{k + 1:02d}" for k in range(OLD)]
    a, b = frame["model_a"].isin(known), frame["model_b"].isin(known)
    frame[a & b].to_csv(path / "labelled.csv", index=False)
    frame[a ^ b].drop(columns="human").to_csv(path / "new.csv", index=False)
    frame[a ^ b].to_csv(path / "truth.csv", index=False)
    few = frame["model_a"].isin(known[:5]) & frame["model_b"].isin(known[:5])
    frame[few].to_csv(path / "few.csv", index=False)
    frame[few].drop(columns="margin").to_csv(path / "hard.csv", index=False)
    frame[few].drop(columns="human").to_csv(path / "unlabelled.csv", index=False)
    names = sorted({*frame["model_a"], *frame["model_b"]})
    pd.DataFrame({"model": names, "family": "oak", "date": "2026-01-31"}).to_csv(
        path / "models.csv", index=False
    )
    pd.DataFrame({"model": names, "date": "2026-01-31"}).to_csv(path / "dates.csv", index=False)
    return path


@pytest.fixture(scope="module")
def calibrated(folder: Path) -> subprocess.CompletedProcess[str]:
    """Calibrate on labelled.csv into calibration.json, on the judge's own scale."""
    output = folder / "calibration.json"
    return shell(
        "calibrate",
        folder / "labelled.csv",
        "-o",
        output,
        "--bootstrap",
        "50",
        "--no-scale-correction",
        "--full",
    )


@pytest.fixture(scope="module")
def ranked(folder: Path, calibrated: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Rank new.csv by soft-elo with that calibration."""
    assert calibrated.returncode == 0
    words = (
        "--ranker",
        "soft-elo",
        "--calibration",
        folder / "calibration.json",
        "--set",
        "hard=true",
    )
    return json.loads(shell("rank", folder / "new.csv", *words, "--format", "json").stdout)


def newcomers(ranked: dict[str, Any]) -> list[dict[str, Any]]:
    rows = ranked["rankings"][0]["models"]
    return [row for row in rows if row["model"] > f"model-{OLD:02d}"]


@pytest.mark.slow
def test_a_calibration_exits_with_0_and_says_what_it_wrote(
    folder: Path, calibrated: subprocess.CompletedProcess[str]
) -> None:
    wrote = f"podium: wrote {folder / 'calibration.json'}"
    assert (calibrated.returncode, calibrated.stderr.splitlines()[-1]) == (0, wrote)


@pytest.mark.slow
def test_the_file_and_the_ranking_by_it_follow_their_schemas(
    folder: Path, ranked: dict[str, Any]
) -> None:
    import jsonschema

    written = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
    for content, name in ((written, "calibration"), (ranked, "ranking")):
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
        jsonschema.validate(content, schema)


@pytest.mark.slow
def test_every_newcomer_has_a_sampling_interval_around_its_score(ranked: dict[str, Any]) -> None:
    rows = newcomers(ranked)
    assert [row["model"] for row in rows if not row["low"] < row["score"] < row["high"]] == []
    assert len(rows) == NEW


@pytest.mark.slow
def test_every_newcomer_has_a_conformal_interval_around_its_score(ranked: dict[str, Any]) -> None:
    rows = newcomers(ranked)
    for row in rows:
        ends = (row["conformal_low"], row["conformal_high"])
        assert ends[0] is None or ends[0] < row["score"]
        assert ends[1] is None or row["score"] < ends[1]
        assert ends != (None, None)
    assert {row["conformal_level"] for row in rows} == {0.9}


@pytest.mark.slow
def test_conformal_intervals_are_wider_than_sampling_ones_where_q_exceeds_the_t_quantile(
    ranked: dict[str, Any],
) -> None:
    """By the same factor for all: q over Student's quantile with 19 degrees of freedom."""
    q = {
        ranked["rankings"][0]["diagnostics"]["conformal"]["q"][row["model"]]
        for row in newcomers(ranked)
    }
    ratios = []
    for row in newcomers(ranked):
        # The interval of a model outside the calibrated ones has one end.
        side = "high" if row["conformal_low"] is None else "low"
        half = abs(row[f"conformal_{side}"] - row["score"])
        ratios.append(half / abs(row[side] - row["score"]))
    assert ratios == pytest.approx([q.pop() / 2.0930240544] * NEW)


def human_ratings(folder: Path) -> dict[str, float]:
    """Rate every newcomer alone by human labels against the human anchors of the file."""
    anchors = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))["anchors"]
    theta = {one["model"]: one["human_theta"] for one in anchors}
    rows = pd.read_csv(folder / "truth.csv").query("order == 'ab'")
    first = rows["model_a"].isin(theta)
    rows = rows.assign(
        new=rows["model_b"].where(first, rows["model_a"]),
        against=rows["model_a"].where(first, rows["model_b"]).map(theta),
        earned=(1 - rows["human"]).where(first, rows["human"]),
    )
    return {
        name: 1500
        + POINTS
        * brentq(lambda t, p=part: np.sum(p["earned"] - expit(t - p["against"])) - 0.01 * t, -9, 9)
        for name, part in rows.groupby("new")
    }


def covered(folder: Path, ranked: dict[str, Any], centre: str) -> float:
    """Return the share of newcomers whose human rating lies within the conformal half-width of a
    score."""
    human, rows = human_ratings(folder), newcomers(ranked)
    return float(
        np.mean(
            [
                abs(human[row["model"]] - row[centre]) <= row["conformal_high"] - row["score"]
                for row in rows
            ]
        )
    )


def test_conformal_intervals_hold_most_human_ratings_of_newcomers(
    folder: Path, ranked: dict[str, Any]
) -> None:
    """Nominal 90%; of 14 newcomers on one draw of calibrated models, four fifths are no
    contradiction."""
    assert covered(folder, ranked, "score") >= 0.8


def test_intervals_of_the_same_width_around_hard_scores_do_not(
    folder: Path, ranked: dict[str, Any]
) -> None:
    """The judge inflates differences: its verdicts lie further out than human ratings."""
    assert covered(folder, ranked, "hard") < 0.7


def test_calibrated_models_keep_the_files_rating(folder: Path, ranked: dict[str, Any]) -> None:
    anchors = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))["anchors"]
    scores = {row["model"]: row["score"] for row in ranked["rankings"][0]["models"]}
    assert all(
        scores[one["model"]] == pytest.approx(1500 + POINTS * one["soft_theta"]) for one in anchors
    )


def section(text: str, title: str) -> list[str]:
    """Return the lines below a title, up to the next blank line but one."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(title))
    ends = [k for k in range(start + 2, len(lines)) if not lines[k] and not lines[k - 1]] + [
        len(lines)
    ]
    return lines[start + 1 : ends[0]]


def figure(lines: list[str], words: str) -> str:
    [line] = [line for line in lines if line.strip().startswith(words)]
    return line.strip().removeprefix(words).strip()


def table(folder: Path) -> pd.DataFrame:
    """Return labelled.csv with a row per battle, in plain pandas: a battle needs both orders."""
    rows = pd.read_csv(folder / "labelled.csv")
    rows["margin"] = rows["margin"].where(rows["credit"].notna())
    keys = ["item", "model_a", "model_b"]
    return rows.groupby(keys, sort=False).agg(
        credit=("credit", lambda c: c.mean(skipna=False)),
        margin=("margin", lambda m: m.mean(skipna=False)),
        human=("human", "first"),
    )


@pytest.mark.slow
def test_summary_shows_its_denominators(
    folder: Path, calibrated: subprocess.CompletedProcess[str]
) -> None:
    merged, out = table(folder), calibrated.stdout
    human, judged = merged["human"], merged["credit"].notna()
    lines = section(out, "calibration · rubric-judge · target margin")
    assert figure(lines, "judged battles, of all") == f"{judged.sum():,} of {len(merged):,}"
    assert (
        figure(lines, "human labels, ties among them")
        == f"{len(human):,}, {(human == 0.5).sum():,}"
    )
    preferences = int((judged & (human != 0.5)).sum())
    assert figure(lines, "human preferences beside a signal") == f"{preferences:,}"
    assert preferences < judged.sum() < len(merged)


@pytest.mark.slow
def test_the_summary_counts_the_battles_behind_kappa(
    folder: Path, calibrated: subprocess.CompletedProcess[str]
) -> None:
    judged = int(table(folder)["credit"].notna().sum())
    lines = section(calibrated.stdout, "judge and humans")
    assert figure(lines, "battles with a verdict and a human label") == f"{judged:,}"


def test_the_summary_counts_the_models(calibrated: subprocess.CompletedProcess[str]) -> None:
    assert figure(section(calibrated.stdout, "ratings of models"), "models").split() == ["20", "20"]


@pytest.mark.parametrize(
    "title",
    [
        "judge and humans",
        "calibration · rubric-judge · target margin",
        "ratings of models that the fit knew nothing of",
        "90% conformal intervals for new models",
        "models, held out one by one",
        "is the signal a probability?",
        "beta from fewer human preferences",
    ],
)
def test_the_summary_has_a_section_for_every_question(
    calibrated: subprocess.CompletedProcess[str], title: str
) -> None:
    assert [line for line in section(calibrated.stdout, title) if line.strip()] != []


def test_the_summary_shows_the_figures_of_the_file(
    folder: Path, calibrated: subprocess.CompletedProcess[str]
) -> None:
    written = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
    beta = section(calibrated.stdout, "calibration · ")
    assert figure(beta, "beta") == f"{written['beta']:.3f}"
    assert (
        figure(beta, "90% interval ") == f"{written['beta_low']:.3f} … {written['beta_high']:.3f}"
    )
    accuracy = section(calibrated.stdout, "ratings of models")
    mae = [f"{written['loo'][kind]['mae']:.1f}" for kind in ("hard", "soft")]
    assert figure(accuracy, "mean absolute error, Elo").split() == mae
    q = [f"{written['conformal'][kind]['q']:.2f}" for kind in ("hard", "soft")]
    assert figure(section(calibrated.stdout, "90% conformal"), "q, standard errors").split() == q


def test_the_summary_has_a_row_per_model_best_human_rating_first(
    folder: Path, calibrated: subprocess.CompletedProcess[str]
) -> None:
    written = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))["models"]
    expected = [one["model"] for one in sorted(written, key=lambda one: -one["human_elo"])]
    lines = section(calibrated.stdout, "models, held out")
    assert [line.split()[0] for line in lines if line.strip().startswith("model-")] == expected


def test_no_line_of_the_summary_ends_in_spaces(
    calibrated: subprocess.CompletedProcess[str],
) -> None:
    assert [line for line in calibrated.stdout.splitlines() if line != line.rstrip()] == []


SHORT = ("--bootstrap", "20", "--no-scale-correction", "--full")


@pytest.fixture(scope="module")
def short(folder: Path) -> subprocess.CompletedProcess[str]:
    """Calibrate on five models, without -o."""
    return shell("calibrate", folder / "few.csv", *SHORT)


@pytest.mark.slow
def test_calibrate_without_output_file_reports_that_nothing_is_written(
    folder: Path, short: subprocess.CompletedProcess[str]
) -> None:
    note = "podium: not kept: -o calibration.json keeps the calibration for podium rank"
    assert (short.returncode, short.stderr.splitlines()[-1]) == (0, note)
    assert {path.name for path in folder.glob("*.json")} <= {"calibration.json"}


@pytest.mark.slow
def test_too_few_models_are_warned_of_on_stderr_and_shown_as_infinite(
    short: subprocess.CompletedProcess[str],
) -> None:
    assert (
        "podium: warning: 5 models with a score: a 90% conformal interval needs 9" in short.stderr
    )
    assert figure(section(short.stdout, "90% conformal"), "q, standard errors").split() == [
        "∞",
        "∞",
    ]
    assert "coverage and width over half splits need 18 models" in short.stdout


@pytest.mark.slow
def test_a_lack_of_criteria_prints_the_agreement_before_it_is_rejected(
    podium: Podium, folder: Path
) -> None:
    words = ("--target", "criteria", "-o", folder / "refused.json", *SHORT)
    answer = podium("calibrate", folder / "hard.csv", *words)
    assert (answer.code, "margin on every criterion" in answer.err) == (1, True)
    lines = section(answer.out, "judge and humans")
    assert math.isfinite(float(figure(lines, "kappa (win, tie, loss)")))
    assert not (folder / "refused.json").exists()


@pytest.mark.slow
def test_the_agreement_before_a_refusal_is_that_of_a_calibration(
    podium: Podium, folder: Path, short: subprocess.CompletedProcess[str]
) -> None:
    """Up to where margins are needed."""
    refused = section(podium("calibrate", folder / "hard.csv", *SHORT).out, "judge and humans")
    done = section(short.stdout, "judge and humans")
    for words in (
        "battles with a verdict and a human label",
        "kappa (win, tie, loss)",
        "same winner",
    ):
        assert figure(refused, words) == figure(done, words)


def test_battles_without_human_labels_exit_with_1_and_what_would_help(
    podium: Podium, folder: Path
) -> None:
    answer = podium("calibrate", folder / "unlabelled.csv", *SHORT)
    assert (
        answer.code,
        answer.out,
        "no human labels" in answer.err,
        "--human-judge" in answer.err,
    ) == (
        1,
        "",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("-o", "absent/calibration.json"), "there is no folder"),
        (("-o", "calibration.csv"), "name a .json file"),
        (("-o", "calibration"), "name a .json file"),
    ],
)
def test_an_impossible_output_file_is_rejected_before_the_work(
    podium: Podium,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, str],
    complaint: str,
) -> None:
    monkeypatch.chdir(folder)
    answer = podium("calibrate", folder / "few.csv", *words)
    assert (answer.code, answer.out, complaint in answer.err) == (2, "", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("--level", "1"),
        ("--level", "90"),
        ("--splits", "0"),
        ("--bootstrap", "19"),
        ("--seed", "-1"),
        ("--target", "sign"),
        ("--cluster", "model"),
        ("--target", "margin", "--constant", "0.7"),
        ("--target", "smoothing", "--constant", "1"),
        ("--regularization", "-1"),
        ("--target", "criteria", "--ridge", "-1"),
        ("--where", "judge"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(podium: Podium, folder: Path, words: tuple[str, ...]) -> None:
    assert podium("calibrate", folder / "few.csv", *words).code == 2


def test_a_file_that_is_not_there_exits_with_2(podium: Podium) -> None:
    answer = podium("calibrate", "absent.csv")
    assert (answer.code, "no such file or directory: absent.csv" in answer.err) == (2, True)


@pytest.mark.slow
def test_a_target_that_the_battles_do_not_allow_exits_with_1(podium: Podium, folder: Path) -> None:
    answer = podium("calibrate", folder / "few.csv", "--target", "criteria")
    assert (answer.code, "columns margin_<criterion>" in answer.err) == (1, True)


@pytest.mark.slow
def test_another_target_is_in_the_title_and_in_the_file(
    podium: Podium, folder: Path, tmp_path: Path
) -> None:
    words = ("--target", "smoothing", "--constant", "0.75", "-o", tmp_path / "c.json", *SHORT)
    answer = podium("calibrate", folder / "few.csv", *words)
    assert "calibration · rubric-judge · target smoothing" in answer.out
    assert json.loads((tmp_path / "c.json").read_text())["target"]["weights"] == {
        "verdict": pytest.approx(math.log(3))
    }


@pytest.mark.slow
def test_compare_prints_hard_and_every_target(podium: Podium, folder: Path) -> None:
    answer = podium("calibrate", folder / "few.csv", "--compare", *SHORT)
    titles = ("targets side by side", "90% intervals over models, each by itself", "difference ")
    compared, _, _ = answer.out.partition("judge and humans")
    side_by_side, by_itself, beyond_the_best = (
        targets_in(section(compared, title)) for title in titles
    )
    assert (answer.code, side_by_side) == (0, ["hard", "margin", *["smoothing"] * 6])
    assert by_itself == side_by_side
    assert set(beyond_the_best) <= set(side_by_side)
    assert len(beyond_the_best) == len(side_by_side) - 1, (
        "all but the best; five models bear no scale correction"
    )


def targets_in(lines: list[str]) -> list[str]:
    """Return the first words of a table's rows."""
    names = [
        line.split()[0]
        for line in lines
        if line.startswith(" ") and line.split() and line.split()[0].isalpha()
    ]
    return names[1 : names.index("target", 1) if "target" in names[1:] else None]


@pytest.mark.slow
def test_compare_says_which_target_cannot_be_and_why(podium: Podium, folder: Path) -> None:
    answer = podium("calibrate", folder / "few.csv", "--compare", *SHORT)
    assert "podium: warning: criteria: none of the " in answer.err


def test_without_compare_no_targets_are_compared(short: subprocess.CompletedProcess[str]) -> None:
    assert "side by side" not in short.stdout


@pytest.mark.slow
def test_one_judge_of_two_can_be_the_human_one(
    podium: Podium, folder: Path, tmp_path: Path
) -> None:
    """The labels as a judge of their own give the calibration that the column gave."""
    rows = pd.read_csv(folder / "few.csv")
    human = rows.query("order == 'ab'").assign(
        judge="crowd", credit=lambda part: part["human"], order=None
    )
    both = pd.concat([rows, human.drop(columns=["margin", "reason"])]).drop(columns="human")
    both.to_csv(tmp_path / "both.csv", index=False)
    beta = []
    for words in (("few.csv",), ("both.csv", "--human-judge", "crowd")):
        home = folder if words[0] == "few.csv" else tmp_path
        podium("calibrate", home / words[0], *words[1:], "-o", tmp_path / "c.json", *SHORT)
        beta.append(json.loads((tmp_path / "c.json").read_text())["beta"])
    assert beta[0] == pytest.approx(beta[1], abs=1e-12)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_file(podium: Podium, folder: Path, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        podium("calibrate", folder / "few.csv", "-o", tmp_path / name, "--seed", "3", *SHORT)
    assert (tmp_path / "one.json").read_text() == (tmp_path / "two.json").read_text()


def test_help_imports_neither_numpy_nor_pandas() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "podium", "calibrate", "--help"]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    imported = {line.rsplit("|", 1)[-1].strip() for line in reported.splitlines()}
    assert ("click" in imported, imported & {"numpy", "pandas", "scipy", "pyarrow", "rich"}) == (
        True,
        set(),
    )


def test_every_option_says_what_it_does() -> None:
    import click

    from podium.cli.calibrate import calibrate

    options = [one for one in calibrate.params if isinstance(one, click.Option)]
    assert ([option.name for option in options if not option.help], len(options) > 15) == ([], True)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("--models", "models.csv"), "leave it out"),
        (("--target", "length"), "length_control"),
        (("--target", "jury"), "margin_JUDGE"),
    ],
)
def test_what_was_removed_names_what_replaces_it(
    podium: Podium, folder: Path, words: tuple[str, ...], instead: str
) -> None:
    answer = podium("calibrate", folder / "few.csv", *words)
    assert (answer.code, "was removed: " in answer.err, instead in answer.err) == (2, True, True)


@pytest.mark.parametrize(
    "setting", ["strata=family", "halflife=30", "target=length", "soft-elo.target=jury"]
)
def test_a_removed_setting_names_what_replaces_it(
    podium: Podium, folder: Path, setting: str
) -> None:
    answer = podium("rank", folder / "new.csv", "--ranker", "soft-elo", "--set", setting)
    assert (answer.code, "was removed: " in answer.err) == (2, True)


@pytest.mark.slow
def test_a_table_of_models_without_families_exits_with_2(podium: Podium, folder: Path) -> None:
    answer = podium("rank", folder / "new.csv", "--models", folder / "dates.csv")
    assert (answer.code, "give it the columns model and family" in answer.err) == (2, True)


@pytest.mark.usefixtures("calibrated")
def test_a_calibration_that_no_ranker_uses_exits_with_2(podium: Podium, folder: Path) -> None:
    words = ("--ranker", "win-rate,bradley-terry", "--calibration", folder / "calibration.json")
    answer = podium("rank", folder / "new.csv", *words)
    assert (
        answer.code,
        "win-rate and bradley-terry does not use one; soft-elo does" in answer.err,
    ) == (2, True)


@pytest.mark.slow
@pytest.mark.usefixtures("calibrated")
def test_a_calibration_that_one_of_two_rankers_uses_is_used(podium: Podium, folder: Path) -> None:
    words = ("--ranker", "win-rate,soft-elo", "--calibration", folder / "calibration.json")
    answer = podium("rank", folder / "new.csv", *words)
    assert (answer.code, "beta " in answer.out, "conformal 90%" in answer.out) == (0, True, True)


def test_a_calibration_file_that_is_not_there_exits_with_2(podium: Podium, folder: Path) -> None:
    answer = podium(
        "rank", folder / "new.csv", "--ranker", "soft-elo", "--calibration", folder / "absent.json"
    )
    assert (answer.code, "`podium calibrate` makes one" in answer.err) == (2, True)


def test_a_damaged_calibration_file_exits_with_1_and_is_named(
    podium: Podium, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "cut.json").write_text('{"podium": "0.3", "beta"', encoding="utf-8")
    answer = podium(
        "rank", folder / "new.csv", "--ranker", "soft-elo", "--calibration", tmp_path / "cut.json"
    )
    assert (
        answer.code,
        "cut.json: cannot be read as JSON" in answer.err,
        "Remedy: " in answer.err,
    ) == (1, True, True)


@pytest.mark.slow
@pytest.mark.usefixtures("calibrated")
def test_options_of_conformal_intervals_are_settings(podium: Podium, folder: Path) -> None:
    words = (
        "--calibration",
        folder / "calibration.json",
        "--set",
        "conformal_level=0.8",
        "--format",
        "json",
    )
    answer = podium("rank", folder / "new.csv", "--ranker", "soft-elo", *words)
    levels = {row["conformal_level"] for row in newcomers(json.loads(answer.out))}
    assert levels == {0.8}


@pytest.mark.slow
@pytest.mark.usefixtures("calibrated")
def test_a_conformal_level_out_of_range_exits_with_2(podium: Podium, folder: Path) -> None:
    words = ("--calibration", folder / "calibration.json", "--set", "conformal_level=1")
    assert podium("rank", folder / "new.csv", "--ranker", "soft-elo", *words).code == 2


@pytest.mark.slow
@pytest.mark.usefixtures("calibrated")
def test_the_printed_ranking_says_what_conformal_intervals_rest_on(
    podium: Podium, folder: Path
) -> None:
    words = ("--ranker", "soft-elo", "--calibration", folder / "calibration.json")
    out = podium("rank", folder / "new.csv", *words).out
    assert "holds if a new model is exchangeable with the calibrated models" in out
    assert "from 20 calibrated models" in out


ORDERS = "prompt,model,reference,first,points\n"
"""Who was shown first is a column of booleans: true where it was `model`."""


def as_foreign(*more: str) -> tuple[str, ...]:
    columns = "item=prompt,model_a=model,order=first,credit=points"
    return ("--columns", columns, "--ranker", "bradley-terry", *more, "--format", "json")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("words", [("true", "false"), ("True", "False"), ("TRUE", "FALSE")])
def test_a_column_of_booleans_merges_both_orders(
    podium: Podium, tmp_path: Path, words: tuple[str, str]
) -> None:
    """Worked by hand: x wins in both orders on p1, is half ahead on p2, flips on p3; p4 was shown
    in one order."""
    yes, no = words
    rows = [
        f"p1,x,y,{yes},1",
        f"p1,x,y,{no},1",
        f"p2,x,y,{yes},1",
        f"p2,x,y,{no},0.5",
        f"p3,x,y,{yes},1",
    ]
    rows += [f"p3,x,y,{no},0", f"p4,x,y,{yes},0"]
    path = tmp_path / "orders.csv"
    path.write_text(ORDERS + "\n".join(rows) + "\n", encoding="utf-8")
    answer = podium("rank", path, *as_foreign("--fill", "model_b=y"))
    one = json.loads(answer.out)["rankings"][0]
    assert (one["counts"]["judgments"], one["counts"]["battles"]) == (7, 4)
    assert [one["diagnostics"]["swap"][name] for name in ("same", "half", "flip")] == [1, 1, 1]
    rates = {row["model"]: row["win_rate"] for row in one["models"]}
    assert rates == {"x": pytest.approx((1 + 0.75 + 0.5 + 0) / 4), "y": pytest.approx(1.75 / 4)}


def test_orders_are_not_merged_without_the_boolean_column(podium: Podium, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(ORDERS + "p1,x,y,true,1\np1,x,y,false,0\np2,x,y,true,0\n", encoding="utf-8")
    columns = "item=prompt,model_a=model,credit=points"
    words = (
        "--columns",
        columns,
        "--fill",
        "model_b=y",
        "--ranker",
        "bradley-terry",
        "--format",
        "json",
    )
    assert json.loads(podium("rank", path, *words).out)["rankings"][0]["counts"]["battles"] == 3


def test_fill_gives_every_row_the_value(podium: Podium, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(ORDERS + "p1,x,y,true,1\np2,x,y,true,0\n", encoding="utf-8")
    answer = podium("rank", path, *as_foreign("--fill", "model_b=baseline,judge=someone"))
    assert {row["model"] for row in json.loads(answer.out)["rankings"][0]["models"]} == {
        "x",
        "baseline",
    }


@pytest.mark.parametrize(
    ("fill", "complaint"),
    [
        (
            "credit=1",
            "--fill credit: the table has a column 'credit' already; name another with --columns",
        ),
        ("model_a=x", "--fill model_a: the table has a column 'model_a' already"),
        ("jugde=x", "no column of podium's table called 'jugde'; did you mean 'judge'?"),
        ("colour=red", "no column of podium's table called 'colour'"),
        ("judge", "write KEY=VALUE, separated by commas"),
    ],
)
def test_an_impossible_fill_exits_with_2(
    podium: Podium, tmp_path: Path, fill: str, complaint: str
) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(ORDERS + "p1,x,y,true,1\np2,x,y,true,0\n", encoding="utf-8")
    answer = podium("rank", path, *as_foreign("--fill", fill))
    assert (answer.code, complaint in answer.err) == (2, True)


@pytest.mark.slow
def test_a_screen_has_the_answer_and_the_errors_and_a_section_its_own(podium, folder):
    words = ("calibrate", folder / "labelled.csv", "--bootstrap", "20", "--splits", "1")
    screen, section = podium(*words).out, podium(*words, "--section", "conformal").out
    assert len(screen.splitlines()) <= 40
    assert ("mean absolute error, Elo" in screen, "median width over the splits" in screen) == (
        True,
        False,
    )
    assert ("mean absolute error, Elo" in section, "median width over the splits" in section) == (
        False,
        True,
    )


def test_a_section_that_is_misspelt_is_rejected_before_anything_is_read(podium, tmp_path):
    unknown = podium("calibrate", tmp_path / "there_is_no_such.csv", "--section", "conformity")
    assert (
        unknown.code,
        "did you mean 'conformal'? available: accuracy, agreement" in unknown.err,
    ) == (2, True)


@pytest.mark.slow
def test_a_picture_that_cannot_be_drawn_loses_no_calibration(folder, tmp_path, monkeypatch):
    def fail(name):
        raise ImportError(name)

    monkeypatch.setattr("podium.show.pictures.style.import_module", fail)
    output, figure = tmp_path / "calibration.json", tmp_path / "figure.svg"
    words = ["calibrate", folder / "few.csv", "--splits", "1", "-o", output, "--figure", figure]
    done = CliRunner().invoke(command_line, list(map(str, words)))
    assert isinstance(done.exception, UsageError)
    assert (output.exists(), figure.exists()) == (True, False)


@pytest.mark.slow
def test_the_file_is_written_before_the_first_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `podium calibrate ... -o FILE | head -1` has it."""

    def closed(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("podium.show.report.writing.print_reports", closed)
    CliRunner().invoke(
        command_line, ["calibrate", str(folder / "labelled.csv"), "-o", str(tmp_path / "kept.json")]
    )
    assert len(read_calibration(tmp_path / "kept.json").models) == OLD
