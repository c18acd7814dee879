"""Figures: rows that tables show, files of three kinds, and the message if libraries are
missing."""

import json
import subprocess
import sys
from pathlib import Path

import altair
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from podium import UsageError, rank, read_battles
from podium.cli.main import podium
from podium.rankers.fit.cells import prepare_battles
from podium.rankers.fit.coded import code_battles
from podium.rankers.head_to_head import matchup_table, rank_probabilities
from podium.show.pictures import style
from podium.show.pictures.charts import (
    bubble_rows,
    forest_rows,
    heat_map,
    matchup_rows,
    ranking_plot,
)

EXAMPLE = "examples/simulated/battles.csv"


def test_the_record_of_a_pair_is_the_mean_of_its_battles_and_its_error_that_of_clusters() -> None:
    """Beside plain pandas over the battles; the database's cells and battles in memory give the
    same."""
    battles = read_battles(EXAMPLE)
    table = battles.table.dropna(subset="credit")
    summed, coded = matchup_table(prepare_battles(battles)), matchup_table(code_battles(battles))
    pair = table[(table["model_a"] == "amber") & (table["model_b"] == "birch")]
    means = pair.groupby("item", observed=True)["credit"].agg(["sum", "count"])
    residuals = means["sum"] - pair["credit"].mean() * means["count"]
    se = np.sqrt(len(means) / (len(means) - 1) * (residuals**2).sum()) / len(pair)
    reach = t.ppf(0.975, len(means) - 1) * se
    for matchups in (summed, coded):
        record = matchups.set_index(["model", "against"]).loc[("amber", "birch")]
        back = matchups.set_index(["model", "against"]).loc[("birch", "amber")]
        assert record["share"] == pytest.approx(pair["credit"].mean())
        assert (record["low"], record["high"]) == pytest.approx(
            (record["share"] - reach, record["share"] + reach)
        )
        assert tuple(back[["share", "low", "high"]]) == pytest.approx(
            1 - record[["share", "high", "low"]]
        )
        assert (record["battles"], record["items"]) == (len(pair), len(means))
        assert (matchups["model"] != matchups["against"]).all()


def test_shares_of_ranks_of_two_are_the_normal_probability_of_their_gap() -> None:
    score, covariance = np.array([0.3, 0.0]), np.array([[0.04, 0.01], [0.01, 0.09]])
    shares = rank_probabilities(score, covariance, np.random.default_rng(1), draws=200_000)
    expected = norm.cdf(0.3 / np.sqrt(0.04 + 0.09 - 0.02))
    assert shares[0, 0] == pytest.approx(expected, abs=0.005)
    assert (shares.sum(axis=0), shares.sum(axis=1)) == (
        pytest.approx([1, 1]),
        pytest.approx([1, 1]),
    )


@pytest.mark.slow
def test_charts_hold_the_rows_of_the_ranking() -> None:
    battles = read_battles(EXAMPLE)
    standings = rank(battles).standings[0]
    rows = forest_rows(standings)
    assert [row["model"] for row in rows] == [entry.model for entry in standings.entries]
    assert rows[0]["rank set"] == "1–3"
    met = matchup_rows(matchup_table(prepare_battles(battles)), [row["model"] for row in rows])
    assert (
        len(met),
        met[0]["share"] + next(r for r in met if r["model"] == met[0]["against"])["share"],
    ) == (30, 1)
    assert bubble_rows(["a", "b"], np.array([[0.995, 0.005], [0.005, 0.995]])) == [
        {"model": "a", "rank": 1, "share": 0.995},
        {"model": "b", "rank": 2, "share": 0.995},
    ]


@pytest.mark.slow
def test_missing_library_is_reported_with_its_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(name: str) -> None:
        raise ImportError(name)

    monkeypatch.delitem(sys.modules, "podium.show.pictures.charts")
    monkeypatch.setattr(style, "import_module", fail)
    with pytest.raises(
        UsageError, match=r"altair, which is not installed: run pip install '.\[report\]'"
    ):
        rank(read_battles(EXAMPLE)).plot()


def test_help_loads_no_charting_library() -> None:
    code = (
        "import sys; from podium.cli.main import podium; podium(['report', '--help'], "
        "standalone_mode=False); "
    )
    code += (
        "sys.exit(any(name in sys.modules for name in ('altair', 'vl_convert', 'jinja2', 'numpy')))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )


@pytest.mark.slow
def test_the_command_draws_svg_png_and_pdf(tmp_path: Path) -> None:
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
    for suffix, start in starts.items():
        figure = tmp_path / f"ranking.{suffix}"
        with pytest.raises(SystemExit):
            podium(["rank", EXAMPLE, "--figure", str(figure)])
        assert figure.read_bytes().startswith(start)
    assert "amber" in (tmp_path / "ranking.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_figure_of_several_rankers_has_one_legend_with_colour_and_shape(tmp_path: Path) -> None:
    command = [
        "rank",
        EXAMPLE,
        "--ranker",
        "soft-elo,bradley-terry",
        "--figure",
        str(tmp_path / "two.svg"),
    ]
    podium(command, standalone_mode=False)
    drawn = (tmp_path / "two.svg").read_text()
    assert [drawn.count(f">{name}</text>") for name in ("soft-elo", "bradley-terry", "amber")] == [
        1,
        1,
        1,
    ]


@pytest.mark.slow
def test_an_interval_of_one_end_is_drawn_to_the_score_with_a_triangle() -> None:
    frame = pd.DataFrame({"item": range(12), "model_a": "A", "model_b": "B", "credit": 1.0})
    chart = json.dumps(ranking_plot(rank(frame)).to_dict())
    assert "triangle-right" in chart
    assert "triangle-left" in chart
    assert "triangle" not in json.dumps(ranking_plot(rank(read_battles(EXAMPLE))).to_dict())


def test_the_rows_of_a_heat_map_are_not_checked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Altair would check each row against the schema, which took seconds for a hundred models."""
    checked = []
    validate = altair.utils.schemapi.validate_jsonschema

    def counting(specification, *args, **options):
        checked.append(json.dumps(specification, default=str))
        return validate(specification, *args, **options)

    monkeypatch.setattr(altair.utils.schemapi, "validate_jsonschema", counting)
    ranking = rank(read_battles(EXAMPLE), "bradley-terry")
    names = [entry.model for entry in ranking.standings[0].entries]
    matchups = matchup_table(prepare_battles(read_battles(EXAMPLE)))
    specification = heat_map(matchups, names).to_dict(validate=False)
    [rows] = specification["datasets"].values()
    assert len(rows) == len(names) * (len(names) - 1)
    assert checked
    assert not any(names[0] in text and '"share": ' in text for text in checked)
