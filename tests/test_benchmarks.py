"""The benchmarks still run against the code as it is; their figures are not tested."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from podium import read_battles

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
RECORDED = Path(__file__).parents[2] / "shared" / "data" / "roundrobin_qlora_oa_gpt4.parquet"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("speed.py", "--quick", "--rounds", "1", "--only", "start"),
        ("start_up.py", "--starts", "3", "--no-hosts"),
        ("leave_one_out.py", "--small", "--resamples", "20"),
        ("diagnose.py", "--judgments", "2100"),
        ("transitivity.py", "--small"),
        ("readers.py", "--rows", "1000", "--repeats", "1"),
        ("scale.py", "--rows", "1e5"),
        ("coverage.py", "--worlds", "2"),
        ("economy.py", "--models", "5", "--items", "60", "--worlds", "1"),
        ("information_bound.py", "--models", "4", "--items", "60", "--worlds", "1"),
        ("plan_errors.py", "--worlds", "60"),
        ("transcripts.py", "--samples", "3", "--turns", "20", "--characters", "50000"),
        ("graded.py", "--draws", "2000", "--worlds", "2"),
        *(("juries.py", section, "--worlds", "3") for section in ("errors", "coverage", "shared")),
        ("claims.py", "scores", "--worlds", "20"),
        ("claims.py", "ring", "--worlds", "1"),
        ("claims.py", "structured", "--worlds", "2"),
        ("claims.py", "ladder", "--worlds", "2"),
        ("claims.py", "signs"),
        ("claims.py", "groups", "--worlds", "2"),
        ("claims.py", "slices", "--worlds", "2"),
        ("claims.py", "loss", "--worlds", "1"),
        ("claims.py", "stopping_in_groups", "--worlds", "1"),
        ("claims.py", "voters", "--worlds", "1"),
        ("claims.py", "champions", "--worlds", "1"),
        ("claims.py", "selection", "--worlds", "1"),
        ("claims.py", "epochs", "--worlds", "1"),
        ("claims.py", "extrapolation", "--worlds", "1"),
        ("claims.py", "weights", "--worlds", "2"),
    ],
)
def test_a_short_benchmark_runs(command):
    done = subprocess.run(
        [sys.executable, *command], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_tournaments_are_measured_beside_bare_inspect_and_over_http():
    """Every run makes two calls a battle."""
    pytest.importorskip("inspect_ai")
    pytest.importorskip("openai")
    script = (
        "import tournament as benchmark\n"
        "if __name__ == '__main__':\n"
        "    benchmark.own_cost(benchmark.instantly(20)[:2], markdown=True)\n"
        "    benchmark.call_rate(benchmark.served(20)[:2], markdown=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines()]
    found = [
        (row[1], row[2]) for row in rows if len(row) > 2 and row[1] in ("bare Inspect", "podium")
    ]
    assert found == [
        ("bare Inspect", "20"),
        ("podium", "20"),
        ("bare Inspect", "40"),
        ("podium", "40"),
    ]


@pytest.mark.slow
def test_the_comparison_with_peers_still_knows_podium():
    """Its fit and its intervals on a small problem, without the peers."""
    script = (
        "import peers, contenders\n"
        "hard, soft = peers.drawn(4_000, 40, 6)\n"
        "tools = contenders.podium()\n"
        "peers.fits(tools, hard, soft, False)\n"
        "peers._podium_intervals(hard, 3, 4)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("items", [20, 40])
def test_the_enumerated_tests_of_right_or_wrong_scores_are_those_of_scipy_and_statsmodels(items):
    """One-sided p-values of all records with more wins than losses; t corrected for skewness is
    podium's own."""
    pytest.importorskip("statsmodels")
    script = (
        "import sys\n"
        "import numpy as np\n"
        "from scipy import stats\n"
        "from statsmodels.stats.contingency_tables import mcnemar\n"
        "from claims_sections.signs import Records\n"
        "from podium.rankers.errors.difference import paired_difference\n"
        "records = Records(int(sys.argv[1]))\n"
        "p, n, checked = records.p_values, records.items, 0\n"
        "for k, (won, lost) in enumerate(zip(*records.counts)):\n"
        "    if won <= lost or won == n: continue\n"
        "    table = [[0, won], [lost, n - won - lost]]\n"
        "    signs = np.repeat([1.0, -1.0, 0.0], [won, lost, n - won - lost])\n"
        "    exact = mcnemar(table, exact=True).pvalue / 2\n"
        "    expected = {\n"
        "        'exact': exact,\n"
        "        'mid-p': exact - stats.binom.pmf(won, won + lost, 0.5) / 2,\n"
        "        'score': mcnemar(table, exact=False, correction=False).pvalue / 2,\n"
        "        't': stats.ttest_1samp(signs, 0).pvalue / 2,\n"
        "        't corrected': paired_difference(signs).p_above(),\n"
        "    }\n"
        "    for name, value in expected.items():\n"
        "        np.testing.assert_allclose(p[name][k], value, rtol=1e-7, atol=1e-12, "
        "err_msg=name)\n"
        "    checked += 1\n"
        "print(checked)\n"
    )
    command = [sys.executable, "-c", script, str(items)]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > items


def effects_of(*arguments):
    """Return partial eta squared, its interval, F and p by effect, as `judge_anova.py` prints
    them."""
    command = [sys.executable, "judge_anova.py", *map(str, arguments)]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [line.rsplit(maxsplit=6) for line in done.stdout.splitlines()[1:]]
    return {row[0].strip(): [float(cell) for cell in row[2:]] for row in rows}


@pytest.mark.slow
def test_justranks_analysis_of_variance_follows_from_its_table():
    """Appendix D: partial eta squared 0.81, 0.51, 0.78 and 0.02; F 36.0 (by SPSS, sums of type
    III), 26.6 and 10.1."""
    found, names = effects_of(), ("judge", "realization", "judge x realization", "aggregation")
    assert [round(found[name][0], 2) for name in names] == [0.81, 0.51, 0.78, 0.02]
    assert found["judge"][3] == pytest.approx(36.0, rel=0.035)
    assert [round(found[name][3], 1) for name in names[1:3]] == [26.6, 10.1]
    assert found["aggregation"][4] > 0.5


@pytest.mark.slow
def test_the_judge_explains_the_variance_where_realizations_do_not_differ(tmp_path):
    """Four judges with strengths in different orders, each twice with other noise."""
    frames, rng, names = [], np.random.default_rng(0), [f"m{k}" for k in range(6)]
    for judge, order in enumerate(
        ([0, 1, 2, 3, 4, 5], [3, 0, 5, 1, 4, 2], [1, 0, 3, 2, 5, 4], [5, 4, 3, 2, 1, 0])
    ):
        for realization in ("likert", "anchor"):
            rows = [(k, i, j) for k in range(60) for i in range(6) for j in range(i)]
            item, a, b = np.array(rows).T
            won = rng.random(len(rows)) < 1 / (1 + np.exp(np.array(order)[b] - np.array(order)[a]))
            sides = {
                "model_a": np.array(names)[a],
                "model_b": np.array(names)[b],
                "credit": won * 1.0,
            }
            frames.append(
                pd.DataFrame(
                    {"judge": f"j{judge}|{realization}|x", "item": item, "order": "merged", **sides}
                )
            )
    pd.concat(frames).to_csv(tmp_path / "verdicts.csv", index=False)
    pd.DataFrame({"model": names, "score": range(6)}).to_csv(tmp_path / "gold.csv", index=False)
    found = effects_of(tmp_path / "verdicts.csv", "--gold", tmp_path / "gold.csv")
    assert found["judge"][0] > 0.95
    assert found["judge"][4] < 0.01 < found["realization"][4]


@pytest.mark.slow
def test_leaving_one_out_agrees_with_a_transcription_of_algorithm_1():
    """Both tools get a line, and every rating is the same to 1e-4 Elo points."""
    script = (
        "import leave_one_out as benchmark\n"
        "found = benchmark.compare(300, 6, 20)\n"
        "benchmark.speed([found], 20, False)\n"
        "print(*(found.largest_difference(kind) for kind in ('human', 'hard', 'soft')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert {"podium", "transcription"} <= {line.split()[0] for line in lines if line}
    assert all(float(points) < 1e-4 for points in lines[-1].split())


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.skipif(
    not RECORDED.exists(), reason="the recorded judgments are not beside this checkout"
)
def test_the_anchor_study_prints_what_it_printed_before_on_recorded_verdicts_of_gpt_4(tmp_path):
    """The strongest anchor is the worst (Figure 1), and informativeness predicts tau (Figure 3).

    The rows are those that `podium replay --study` printed of this record before it was removed.
    """
    record = tmp_path / "gpt4.parquet"
    columns = {"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"}
    battles = read_battles(
        RECORDED, columns=columns, credit_map={"1": 1, "0": 0.5, "-1": 0}, shown="a", merge=False
    )
    battles.to_frame().to_parquet(record)
    command = [sys.executable, "anchor_study.py", str(record), "--items", "200", "--markdown"]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in done.stdout.splitlines()
        if "|" in line
    ]
    expected = [
        ["gpt4", "1", "38.1%", "36.2% … 40.0%", "0.686 ± 0.028", "0.686 ± 0.028"],
        ["guanaco-65b", "3", "64.7%", "63.3% … 66.1%", "0.924 ± 0.019", "0.919 ± 0.016"],
        ["bradley-terry", "0.92", "0.54 … 0.99"],
        ["mean of all", "bradley-terry", "0.859 ± 0.015", "0.946"],
        ["2", "20,966", "0.990 ± 0.007", "0.905 ± 0.020"],
    ]
    assert [row for row in expected if row not in rows] == []
