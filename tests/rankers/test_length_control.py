"""Length control: fits against statsmodels, intervals against simulated truth, rejected input."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from click.testing import CliRunner
from scipy.optimize import linprog
from scipy.special import expit

import podium
from podium.cli.main import podium as command
from podium.errors import DataError, NotIdentifiedError, UsageError
from podium.notices.notice_text import notice_texts
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.scale import POINTS
from podium.rankers.length_control.joint import length_separates

STRENGTHS = np.array([0.8, 0.1, -0.2, -0.7])
NAMES = ("ash", "elm", "fir", "oak")
WORDY = np.array([1.6, 1.0, 1.2, 0.7])


def world(rng, items=120, slope=0.9, strengths=STRENGTHS, wordy=WORDY):
    """Return battles of all pairs on every item by a judge that likes length, its sd taken from the
    battles."""
    lengths = np.exp(rng.normal(6, 0.5, (items, len(strengths)))) * wordy
    a, b = np.triu_indices(len(strengths), 1)
    lead = (lengths[:, a] - lengths[:, b]).ravel()
    sd = np.sqrt(np.mean(lead**2))
    gap = np.tile(strengths[a] - strengths[b], items) + slope * np.tanh(lead / sd)
    return pd.DataFrame(
        {
            "item": np.repeat([f"q{k}" for k in range(items)], len(a)),
            "model_a": np.tile([NAMES[k] for k in a], items),
            "model_b": np.tile([NAMES[k] for k in b], items),
            "credit": (rng.random(len(gap)) < expit(gap)).astype(float),
            "length_a": lengths[:, a].ravel(),
            "length_b": lengths[:, b].ravel(),
        }
    )


def against(frame, name="oak"):
    """Return the battles against one model."""
    return frame[(frame["model_a"] == name) | (frame["model_b"] == name)]


def ranked(frame, ranker="bradley-terry", **options):
    return podium.rank(
        podium.read_battles(frame), ranker, length_control=True, **options
    ).standings[0]


def scores(standings):
    return {one.model: one.score for one in standings.entries}


def clustered(model, frame):
    groups = frame["item"].astype("category").cat.codes.to_numpy()
    kinds = {"groups": groups, "use_correction": False}
    return model.fit(cov_type="cluster", cov_kwds=kinds, tol=1e-14, maxiter=200)


def joint_oracle(frame):
    """Return statsmodels' GLM with one column per model but the first, and one of length; the
    design, too."""
    lead = (frame["length_a"] - frame["length_b"]).to_numpy()
    design = np.zeros((len(frame), len(NAMES)))
    for sign, side in ((1, "model_a"), (-1, "model_b")):
        design[np.arange(len(frame)), frame[side].map(NAMES.index)] += sign
    design = np.column_stack([design[:, 1:], np.tanh(lead / np.sqrt(np.mean(lead**2)))])
    return clustered(
        sm.GLM(frame["credit"].to_numpy(), design, family=sm.families.Binomial()), frame
    )


def test_ratings_and_slope_are_those_of_statsmodels_with_its_clustered_errors():
    frame = world(np.random.default_rng(1))
    oracle, found = joint_oracle(frame), ranked(frame, regularization=0)
    items = frame["item"].nunique()
    mean = np.full((4, 4), -0.25) + np.eye(4)
    transform = POINTS * mean @ np.vstack([np.zeros(3), np.eye(3)])
    assert [scores(found)[name] for name in NAMES] == pytest.approx(
        1500 + transform @ oracle.params[:3], abs=1e-6
    )
    spread = transform @ oracle.cov_params()[:3, :3] @ transform.T * items / (items - 1)
    errors = {one.model: one.se for one in found.entries}
    assert [errors[name] for name in NAMES] == pytest.approx(np.sqrt(np.diag(spread)), rel=1e-6)
    used = found.diagnostics["length_control"]
    assert used["slope"] == pytest.approx(oracle.params[3], abs=1e-9)
    assert used["slope_se"] == pytest.approx(oracle.bse[3] * np.sqrt(items / (items - 1)), rel=1e-6)


@pytest.mark.slow
def test_who_is_called_a_changes_nothing():
    frame = world(np.random.default_rng(2))
    swapped = frame.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    swapped = swapped.assign(
        credit=1 - frame["credit"], length_a=frame["length_b"], length_b=frame["length_a"]
    )
    for ranker, rows, other, options in (
        ("bradley-terry", frame, swapped, {}),
        ("win-rate", against(frame), against(swapped), {"anchor": "oak"}),
    ):
        assert scores(ranked(rows, ranker, **options)) == pytest.approx(
            scores(ranked(other, ranker, **options))
        )


@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_a_bootstrap_is_rejected(ranker):
    with pytest.raises(
        UsageError, match="length_control=true cannot be combined with interval=bootstrap"
    ):
        ranked(against(world(np.random.default_rng(3))), ranker, interval="bootstrap")


def test_win_rate_against_a_baseline_equals_the_statsmodels_prediction_with_delta_method():
    frame = against(world(np.random.default_rng(4)))
    found = ranked(frame, "win-rate", anchor="oak")
    for one in found.entries:
        if one.model != "oak":
            value, se = predicted(
                frame[(frame["model_a"] == one.model) | (frame["model_b"] == one.model)]
            )
            assert (one.score, one.se) == pytest.approx((value, se), rel=1e-7)
    others = [one.score for one in found.entries if one.model != "oak"]
    assert scores(found)["oak"] == pytest.approx(1 - np.mean(others))


def predicted(own):
    """Return s(b0), and its HC2 standard error with leverages of statsmodels, of a model that is
    always a."""
    lead = (own["length_a"] - own["length_b"]).to_numpy()
    design = np.column_stack([np.ones(len(own)), np.tanh(lead / lead.std(ddof=1))])
    oracle = sm.GLM(own["credit"].to_numpy(), design, family=sm.families.Binomial()).fit(tol=1e-14)
    value, items = expit(oracle.params[0]), own["item"].nunique()
    assert items == len(own)
    followed = oracle.get_influence(observed=False).hat_matrix_diag
    moved = (
        oracle.resid_response[:, None]
        * design
        @ oracle.normalized_cov_params[:, 0]
        / np.sqrt(1 - followed)
    )
    return value, value * (1 - value) * np.sqrt(np.var(moved, ddof=1) * items)


def length_data(frame, rng, gamed=200):
    """Return difficulties of the items, and rows of gamed baselines, in the columns that AlpacaEval
    publishes."""
    items = frame["item"].unique()
    hard = dict(zip(items, rng.normal(size=len(items)), strict=True))
    drawn = rng.choice(items, gamed)
    lead = rng.normal(size=gamed)
    return pd.DataFrame(
        {
            "item": [*items, *drawn],
            "instruction_difficulty": [hard[one] for one in [*items, *drawn]],
            "std_delta_len": [*np.zeros(len(items)), *lead],
            "preference": [*np.full(len(items), 0.5), *expit(-lead)],
            "not_gamed_baseline": [*[True] * len(items), *[False] * gamed],
        }
    )


@pytest.mark.parametrize("gamed", [True, False])
def test_the_full_model_with_external_data_is_that_of_statsmodels(tmp_path, gamed):
    """Weights of gamed rows (0.2 / 2), no intercept in them, means over the model's own items."""
    rng = np.random.default_rng(5)
    frame = against(world(rng))
    extra = length_data(frame, rng)
    extra = extra if gamed else extra[["item", "instruction_difficulty"]].drop_duplicates()
    extra.to_csv(tmp_path / "extra.csv", index=False)
    found = ranked(frame, "win-rate", anchor="oak", length_data=str(tmp_path / "extra.csv"))
    hard = dict(zip(extra["item"], extra["instruction_difficulty"], strict=True))
    own = frame[frame["model_a"] == "elm"]
    lead = (own["length_a"] - own["length_b"]).to_numpy()
    difficulty = own["item"].map(hard).to_numpy()
    design, y = (
        [np.column_stack([np.ones(len(own)), np.tanh(lead / lead.std(ddof=1)), difficulty])],
        [own["credit"]],
    )
    weight = [np.ones(len(own))]
    if gamed:
        rows = extra[~extra["not_gamed_baseline"]]
        design.append(
            np.column_stack(
                [0 * rows["preference"], np.tanh(-rows["std_delta_len"]), rows.iloc[:, 1]]
            )
        )
        y.append(rows["preference"])
        weight.append(np.full(len(rows), 0.1))
    oracle = sm.GLM(
        np.concatenate(y),
        np.vstack(design),
        family=sm.families.Binomial(),
        freq_weights=np.concatenate(weight),
    ).fit(tol=1e-14)
    value = expit(oracle.params[0] + oracle.params[2] * difficulty).mean()
    assert scores(found)["elm"] == pytest.approx(value, abs=1e-9)
    assert ("gamed baselines" in found.diagnostics["length_control"]["model"]) == gamed


def battles_determined_by_length(seed=1, items=60):
    """Return battles whose results are determined by strength and length, with wins of both models
    in every pair."""
    frame = world(np.random.default_rng(seed), items=items)
    lead = frame["length_a"] - frame["length_b"]
    theta = dict(zip(NAMES, (0.5, 0.1, -0.2, -0.4), strict=True))
    gap = (
        frame["model_a"].map(theta)
        - frame["model_b"].map(theta)
        + np.tanh(lead / np.sqrt(np.mean(lead**2)))
    )
    return frame.assign(credit=(gap > 0) * 1.0)


def test_a_joint_fit_without_an_exception_to_strength_and_length_is_rejected():
    """The penalty on strengths alone would hold the slope: 33.7 +- 2.6."""
    with pytest.raises(NotIdentifiedError, match="length and strength predict every winner"):
        ranked(battles_determined_by_length())


@pytest.mark.slow
def test_a_joint_fit_that_rests_on_one_exception_says_so():
    frame = battles_determined_by_length()
    frame.loc[5, "credit"] = 1 - frame.loc[5, "credit"]
    assert any(
        "rests on as few as 1.1 of 60 items" in text
        for text in notice_texts(ranked(frame).warnings)
    )
    healthy = ranked(world(np.random.default_rng(1), items=12))
    assert not any("rests on as much" in text for text in notice_texts(healthy.warnings))


@pytest.mark.slow
def test_separation_by_length_is_what_linear_programming_finds():
    rng, found = np.random.default_rng(3), []
    for _ in range(150):
        size = int(rng.integers(2, 9))
        a = rng.integers(0, 3, size)
        b = (a + rng.integers(1, 3, size)) % 3
        term, credit = (
            rng.normal(size=size).round(1),
            rng.choice([0.0, 0.5, 1.0], size, p=[0.45, 0.1, 0.45]),
        )
        coded = CodedBattles(a, b, credit, np.ones(size), np.arange(size), size, "item", NAMES[:3])
        rows = np.zeros((size, 3))
        rows[np.arange(size), a] += 1
        rows[np.arange(size), b] -= 1
        sides = [
            sign * np.column_stack([rows, term])[keep]
            for sign, keep in ((-1, credit > 0), (1, credit < 1))
        ]
        bounds = [[(None, None)] * 3 + [(slope, slope)] for slope in (1, -1)]
        feasible = [
            linprog(np.zeros(4), np.vstack(sides), np.zeros(sum(map(len, sides))), bounds=b)
            for b in bounds
        ]
        found.append(length_separates(coded, term))
        assert found[-1] == any(one.status == 0 for one in feasible)
    assert 20 < sum(found) < 130


@pytest.mark.slow
def test_battles_without_lengths_are_left_out_and_counted():
    frame = world(np.random.default_rng(6))
    holes = frame.copy()
    holes.loc[holes.index[:50], "length_a"] = np.nan
    holes.loc[holes.index[50:60], "credit"] = np.nan
    found = ranked(holes)
    assert found.diagnostics["length_control"]["left_out"] == 50
    assert scores(found) == pytest.approx(scores(ranked(frame.iloc[60:])))
    assert (found.counts.battles, found.counts.unparsed) == (len(frame), 10)


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_what_has_no_lengths_is_rejected(ranker):
    frame = against(world(np.random.default_rng(7)))
    with pytest.raises(NotIdentifiedError, match="length control needs lengths"):
        ranked(
            frame.drop(columns=["length_a"]),
            ranker,
            **({"anchor": "oak"} if ranker == "win-rate" else {}),
        )
    with pytest.raises(NotIdentifiedError, match="no readable battle has both lengths"):
        ranked(
            frame.assign(length_b=np.nan),
            ranker,
            **({"anchor": "oak"} if ranker == "win-rate" else {}),
        )


@pytest.mark.slow
def test_length_effect_is_unidentified_if_length_is_constant_per_model():
    frame = world(np.random.default_rng(8))
    for side in "ab":
        frame[f"length_{side}"] = frame[f"model_{side}"].map(
            dict(zip(NAMES, (900, 700, 600, 500), strict=True))
        )
    pair = frame[frame["model_a"].isin(["ash"]) & frame["model_b"].isin(["elm"])]
    with pytest.raises(NotIdentifiedError, match="length and strength are confounded"):
        ranked(pair)
    with pytest.raises(NotIdentifiedError, match="lead in length is the same in all battles"):
        ranked(against(frame), "win-rate", anchor="oak")


@pytest.mark.slow
def test_length_control_rejects_verdicts_determined_by_length():
    frame = world(np.random.default_rng(9))
    frame["credit"] = (frame["length_a"] > frame["length_b"]).astype(float)
    with pytest.raises(NotIdentifiedError, match="no finite length term fits best"):
        ranked(frame)
    with pytest.raises(NotIdentifiedError, match="do not bound the coefficients"):
        ranked(against(frame), "win-rate", anchor="oak")


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 5, 100, 194, 199])
def test_next_to_no_losses_give_no_length_controlled_win_rate(place):
    """199 wins and a tie gave 0.99999999982 +- 7e-10 where the tie was among the longest, and no
    warning."""
    rng = np.random.default_rng(14)
    lead = np.sort(rng.integers(300, 2000, 200) - rng.integers(300, 2000, 200))
    credit = np.where(np.arange(200) == place, 0.5, 1.0)
    frame = pd.DataFrame(
        {
            "model_a": "new",
            "model_b": "base",
            "credit": credit,
            "length_a": 2000 + lead,
            "length_b": 2000,
        }
    )
    frame["item"] = [f"q{k}" for k in range(200)]
    with pytest.raises(NotIdentifiedError, match=r"0.5 of 200 battles lost .* needs at least 2"):
        ranked(frame, "win-rate", anchor="base")
    frame.loc[[20, 100, 180], "credit"] = 0.0
    entry = next(
        entry for entry in ranked(frame, "win-rate", anchor="base").entries if entry.model == "new"
    )
    assert entry.low < 0.97 < entry.high < 1


def test_a_model_without_a_fit_is_named_and_the_others_are_ranked():
    frame = against(world(np.random.default_rng(10)))
    frame.loc[frame["model_a"] == "ash", "credit"] = 1.0
    found = ranked(frame, "win-rate", anchor="oak")
    assert scores(found)["ash"] is None
    assert scores(found)["elm"] is not None
    assert any(
        one.startswith("ash: no length-controlled win rate") for one in notice_texts(found.warnings)
    )


@pytest.mark.slow
def test_a_baseline_must_be_named_unless_only_one_can_be_meant():
    frame = world(np.random.default_rng(11))
    with pytest.raises(UsageError, match=r"name it \(anchor=NAME\)"):
        ranked(frame, "win-rate")
    assert scores(ranked(against(frame), "win-rate")) == scores(
        ranked(against(frame), "win-rate", anchor="oak")
    )


@pytest.mark.slow
def test_external_data_that_cannot_be_used_are_rejected(tmp_path):
    frame, rng = against(world(np.random.default_rng(12))), np.random.default_rng(12)
    path = tmp_path / "extra.csv"
    good = length_data(frame, rng)
    for table, words in (
        (good.drop(columns=["instruction_difficulty"]), "give a column 'instruction_difficulty'"),
        (good.assign(item="other"), "no item of the battles is among"),
        (good.rename(columns={"item": "index"}), "no index of the battles is among"),
        (good.assign(preference=2.0), r"preference 2 lies outside \[0, 1\]"),
        (
            good.assign(instruction_difficulty="hard"),
            "instruction_difficulty 'hard' is not a number",
        ),
    ):
        table.to_csv(path, index=False)
        with pytest.raises(DataError, match=words):
            ranked(frame, "win-rate", anchor="oak", length_data=path)
    with pytest.raises(UsageError, match="no such file"):
        ranked(frame, "win-rate", anchor="oak", length_data="nowhere.csv")
    with pytest.raises(UsageError, match="length_data is used with length_control=true"):
        podium.rank(
            podium.read_battles(frame), "win-rate", anchor="oak", length_data=path_of(good, path)
        )


def path_of(table, path):
    table.to_csv(path, index=False)
    return str(path)


@pytest.mark.slow
def test_the_command_says_what_length_was_worth(tmp_path):
    world(np.random.default_rng(13)).to_csv(tmp_path / "battles.csv", index=False)
    reported = CliRunner().invoke(
        command, ["rank", str(tmp_path / "battles.csv"), "--set", "length_control=true"]
    )
    assert reported.exit_code == 0, reported.output
    assert "at equal lengths: bradley-terry with a length term" in reported.output
    assert "characters gains" in reported.output


@pytest.mark.slow
def test_the_length_of_transcripts_can_be_controlled_for_and_is_named():
    table = table_of_transcripts()
    answers = podium.rank(podium.read_battles(table), "bradley-terry", length_control=True)
    transcripts = podium.rank(
        podium.read_battles(table), "bradley-terry", length_control=True, length_of="transcript"
    )
    swapped = {"length_a": "transcript_length_a", "length_b": "transcript_length_b"}
    exchanged = table.rename(columns=swapped | {new: old for old, new in swapped.items()})
    same = podium.rank(podium.read_battles(exchanged), "bradley-terry", length_control=True)
    used = [
        each.standings[0].diagnostics["length_control"] for each in (answers, transcripts, same)
    ]
    assert used[1]["slope"] == pytest.approx(used[2]["slope"])
    assert used[0]["slope"] != pytest.approx(used[1]["slope"], abs=0.05)
    assert [each["lengths"] for each in used[:2]] == [
        "lengths of the answers",
        "lengths of the transcripts",
    ]


def test_without_transcripts_their_length_is_an_error():
    table = table_of_transcripts().drop(columns=["transcript_length_a", "transcript_length_b"])
    with pytest.raises(
        podium.NotIdentifiedError, match="needs a log whose judge was shown transcripts"
    ):
        podium.rank(
            podium.read_battles(table), "bradley-terry", length_control=True, length_of="transcript"
        )


def table_of_transcripts():
    """Return verdicts that prefer longer transcripts, whatever the length of the answers."""
    rng = np.random.default_rng(3)
    lengths = {
        name: rng.integers(100, 9_000, 400)
        for name in ("transcript_length_a", "transcript_length_b")
    }
    answers = {name: rng.integers(10, 90, 400) for name in ("length_a", "length_b")}
    lead = (lengths["transcript_length_a"] - lengths["transcript_length_b"]) / 4_000
    models = [("ash", "elm"), ("elm", "oak"), ("ash", "oak")] * 134
    return pd.DataFrame(
        {
            "item": [f"q{k}" for k in range(400)],
            "model_a": [a for a, _ in models[:400]],
            "model_b": [b for _, b in models[:400]],
            "credit": (rng.random(400) < 1 / (1 + np.exp(-lead))).astype(float),
            **lengths,
            **answers,
        }
    )
