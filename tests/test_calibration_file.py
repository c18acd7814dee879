"""The calibration file: what stands in it, that it reads back as it was, and the error that a
damaged one raises."""

import json
from copy import deepcopy
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from podium import (
    DataError,
    Judge,
    UsageError,
    calibrate,
    rank,
    read_battles,
    read_calibration,
    simulate,
)
from podium.format_version import FORMAT_VERSION

SCHEMA = Path(__file__).parents[1] / "docs" / "calibration.schema.json"
JUDGE = Judge("rubric-judge", scale=2.0, noise=0.6, tie=0.2)


def record(**properties):
    """Return the schema of an object that needs all of these fields, and may have others."""
    return {"type": "object", "required": list(properties), "properties": properties}


NUMBER, WHOLE, TEXT = {"type": "number"}, {"type": "integer"}, {"type": "string"}
NUMBER_OR_NULL, TEXT_OR_NULL = {"type": ["number", "null"]}, {"type": ["string", "null"]}
FIGURES = dict.fromkeys(("mae", "spearman", "kendall"), NUMBER_OR_NULL)
ENDS = dict.fromkeys(("q", "coverage", "median_width"), NUMBER_OR_NULL)
CONFORMAL = record(level=NUMBER, n=WHOLE, **ENDS, splits=WHOLE)
RATINGS = dict.fromkeys(("human_elo", "hard_elo", "soft_elo", "hard_se", "soft_se"), NUMBER_OR_NULL)
STRENGTHS = dict.fromkeys(("human_theta", "hard_theta", "soft_theta"), NUMBER)
AGREEMENT = dict.fromkeys(("kappa", "mean_abs_margin", "agreement", "auc", "ece"), NUMBER_OR_NULL)
CONTRACT = record(
    podium=TEXT,
    judge=TEXT_OR_NULL,
    beta=NUMBER,
    beta_low=NUMBER_OR_NULL,
    beta_high=NUMBER_OR_NULL,
    beta_battles=WHOLE,
    regularization=NUMBER,
    se_method={"type": "string", "pattern": "^(sandwich|bootstrap:[0-9]+)$"},
    seed=WHOLE,
    loo=record(hard=record(**FIGURES), soft=record(**FIGURES, beta_mean=NUMBER_OR_NULL)),
    models={"type": "array", "items": record(model=TEXT, **RATINGS, battles=WHOLE)},
    anchors={"type": "array", "items": record(model=TEXT, **STRENGTHS)},
    conformal=record(soft=CONFORMAL, hard=CONFORMAL),
    agreement=record(**AGREEMENT, bins={"type": "array"}),
    provenance={"type": "object"},
)


def judgments(models, items=20, seed=1, **options):
    return simulate(models, items, seed=seed, spread=0.8).judgments(
        JUDGE, human=True, orders="ab", **options
    )


def with_criteria(frame):
    rng = np.random.default_rng(0)
    return frame.assign(
        margin_style=frame["margin"] + rng.normal(size=len(frame)), margin_depth=frame["margin"]
    )


def soft_credits(frame):
    return frame.assign(credit=1 / (1 + np.exp(-frame["margin"] / 2))).drop(columns="margin")


def unbeaten(frame):
    """Humans never let the first model lose: its human rating is unbounded."""
    won, lost = frame["model_a"] == "model-01", frame["model_b"] == "model-01"
    return frame.assign(human=frame["human"].mask(won, 1.0).mask(lost, 0.0))


@cache
def calibrated(which):
    """Return one of a few calibrations, each made once."""
    frame = judgments(6)
    frame_of, options = {
        "margin": (frame, {}),
        "row": (frame, {"cluster": "row", "level": 0.8, "scale_correction": False}),
        "scale-corrected": (judgments(7, 40, seed=3), {}),
        "criteria": (with_criteria(frame), {"target": "criteria"}),
        "smoothing": (frame, {"target": "smoothing"}),
        "constant": (frame, {"target": "smoothing", "constant": 0.7}),
        "credit": (soft_credits(frame), {}),
        "no judge": (frame.drop(columns="judge"), {}),
        "unbeaten": (unbeaten(frame), {}),
        "bridge": (judgments(5, 60, pairs=[(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)]), {}),
        "five": (judgments(5), {}),
        "five, 80%": (judgments(5), {"level": 0.8}),
        "twenty": (judgments(20), {}),
    }[which]
    return calibrate(read_battles(frame_of), bootstrap=20, **options)


SMALL = [
    "margin",
    "scale-corrected",
    "row",
    "criteria",
    "smoothing",
    "constant",
    "credit",
    "no judge",
]
HOLES = ["unbeaten", "bridge", "five"]


@pytest.fixture
def document():
    """Return the content of a file, to be damaged."""
    return json.loads(calibrated("margin").to_json())


@pytest.fixture
def write(tmp_path):
    def written(content):
        path = tmp_path / "calibration.json"
        path.write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
        return path

    return written


@cache
def arrivals(calibrated_models=6, new=2):
    """Return battles of new models against all others."""
    frame = judgments(calibrated_models + new, seed=3).drop(columns="human")
    old = {f"model-{k + 1:02d}" for k in range(calibrated_models)}
    a, b = frame["model_a"].isin(old), frame["model_b"].isin(old)
    return read_battles(frame[a ^ b])


@pytest.mark.slow
@pytest.mark.parametrize("which", [*SMALL, *HOLES, "twenty"])
def test_a_calibration_reads_back_as_it_was(write, which):
    assert read_calibration(write(calibrated(which).to_json())) == calibrated(which)


@pytest.mark.slow
@pytest.mark.parametrize("which", [*SMALL, *HOLES, "twenty"])
def test_calibration_file_round_trips(write, which):
    text = calibrated(which).to_json()
    assert read_calibration(write(text)).to_json() == text


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("which", [*SMALL, *HOLES, "twenty"])
def test_a_file_has_the_fields_of_the_contract(which):
    jsonschema.validate(json.loads(calibrated(which).to_json()), CONTRACT)


@pytest.mark.parametrize("which", [*SMALL, *HOLES, "twenty"])
def test_a_file_follows_the_shared_schema(which):
    jsonschema.validate(
        json.loads(calibrated(which).to_json()), json.loads(SCHEMA.read_text(encoding="utf-8"))
    )


def test_the_contract_of_this_test_needs_what_the_shared_schema_needs():
    assert CONTRACT["required"] == json.loads(SCHEMA.read_text(encoding="utf-8"))["required"]


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("beta",), None),
        (("beta_battles",), 1.5),
        (("se_method",), "jackknife"),
        (("models", 0, "soft_elo"), "1500"),
        (("anchors", 0, "soft_theta"), None),
        (("conformal", "soft", "q"), "infinite"),
        (("conformal", "hard", "splits"), None),
        (("agreement", "bins"), None),
        (("loo", "soft", "beta_mean"), []),
    ],
)
def test_the_contract_of_this_test_would_notice_a_wrong_value(document, path, wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(document, path, wrong), CONTRACT)


@pytest.mark.parametrize("which", [*SMALL, *HOLES, "twenty"])
def test_neither_nan_nor_infinity_is_written(which):
    def refuse(word):
        raise AssertionError(word)

    assert (
        json.loads(calibrated(which).to_json(), parse_constant=refuse)["podium"] == FORMAT_VERSION
    )


def test_a_model_without_a_rating_is_written_with_nulls():
    [bridge] = [
        one
        for one in json.loads(calibrated("bridge").to_json())["models"]
        if one["soft_elo"] is None
    ]
    assert (bridge["model"], bridge["human_elo"], bridge["soft_se"]) == ("model-03", None, None)


def test_a_given_target_has_no_interval_of_beta():
    content = json.loads(calibrated("constant").to_json())
    figures = [content[name] for name in ("beta", "beta_low", "beta_high", "beta_battles")]
    assert figures == [pytest.approx(np.log(0.7 / 0.3)), None, None, 0]


@pytest.mark.parametrize("kind", ["soft", "hard"])
def test_five_models_give_an_infinite_quantile_at_90_percent_and_the_number_needed(kind):
    found = json.loads(calibrated("five").to_json())["conformal"][kind]
    assert (found["level"], found["n"], found["q"], found["needed"]) == (0.9, 5, None, 9)


@pytest.mark.slow
def test_five_models_give_a_finite_quantile_at_80_percent():
    found = json.loads(calibrated("five, 80%").to_json())["conformal"]["soft"]
    assert (found["needed"], found["q"] > 0) == (4, True)


@pytest.mark.parametrize("which", ["five", "five, 80%"])
def test_halves_that_are_too_small_give_no_coverage_and_the_number_needed(which):
    found = json.loads(calibrated(which).to_json())["conformal"]["soft"]
    assert (found["coverage"], found["median_width"], found["needed_for_splits"]) == (
        None,
        None,
        2 * found["needed"],
    )


def test_twenty_models_are_enough_for_halves():
    found = json.loads(calibrated("twenty").to_json())["conformal"]["soft"]
    assert (found["needed_for_splits"], 0 <= found["coverage"] <= 1, found["median_width"] > 0) == (
        18,
        True,
        True,
    )


def stripped(content, schema):
    """Keep only the fields that the contract knows."""
    if schema.get("type") == "array" and "items" in schema:
        return [stripped(one, schema["items"]) for one in content]
    if "properties" not in schema:
        return content
    return {name: stripped(content[name], part) for name, part in schema["properties"].items()}


@pytest.mark.slow
def test_a_file_with_the_contracts_fields_alone_ranks_as_the_whole_one(write):
    """Without a word on clusters, errors are those of single battles, as in the paper."""
    whole = calibrated("row")
    alone = stripped(json.loads(whole.to_json()), CONTRACT)
    found, expected = (
        rank(arrivals(), "soft-elo", calibration=one) for one in (write(alone), whole)
    )
    assert found.to_frame()["conformal_level"].notna().sum() == 2
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


def test_a_file_with_the_contracts_fields_alone_lacks_podiums_own():
    content = json.loads(calibrated("row").to_json())
    alone = stripped(content, CONTRACT)
    left_out = {
        "answer",
        "beta_level",
        "target",
        "se_cluster",
        "stability",
        "scale_correction",
        "is_uninformative",
        "warnings",
    }
    assert content.keys() - alone.keys() == left_out
    assert content["models"][0].keys() - alone["models"][0].keys() >= {"weights", "separated"}
    assert content["conformal"]["soft"].keys() - alone["conformal"]["soft"].keys() >= {
        "needed",
        "median_se",
    }


def test_fields_that_a_later_version_adds_are_passed_over(write, document):
    for part in (
        document,
        document["models"][0],
        document["conformal"]["soft"],
        document["loo"]["hard"],
    ):
        part["novelty"] = {"x": 1}
    assert read_calibration(write(document)) == calibrated("margin")


def changed(document, path, value):
    """Return a copy with one value replaced."""
    content = deepcopy(document)
    *parents, last = path
    part = content
    for name in parents:
        part = part[name]
    part[last] = value
    return content


def lacking(document, path):
    content = deepcopy(document)
    *parents, last = path
    part = content
    for name in parents:
        part = part[name]
    del part[last]
    return content


def refusal(path):
    """Return the error messages of reading a damaged file and of ranking with it."""
    with pytest.raises(DataError) as caught:
        rank(arrivals(), "soft-elo", calibration=path)
    assert str(path) in str(caught.value)
    assert "Remedy: " in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path):
    with pytest.raises(
        UsageError, match=r"no calibration file '.*absent\.json'; `podium calibrate` makes one"
    ):
        read_calibration(tmp_path / "absent.json")


@pytest.mark.parametrize("text", ["", "{", '{"podium": "0.3",', "not JSON", "\0"])
def test_what_is_no_json_is_named_with_the_remedy(write, text):
    told = refusal(write(text))
    assert ("cannot be read as JSON" in told, "podium calibrate" in told) == (True, True)


def test_a_file_in_another_encoding_is_named_with_the_remedy(tmp_path):
    (tmp_path / "latin.json").write_bytes('{"judge": "jügé"}'.encode("latin-1"))
    assert "cannot be read as JSON" in refusal(tmp_path / "latin.json")


def test_a_folder_is_no_calibration_file(tmp_path):
    assert "cannot be read (Is a directory)" in refusal(tmp_path)


@pytest.mark.parametrize("content", [[], 5, None, "calibration", [{}]], ids=str)
def test_json_that_is_no_object_is_named_with_the_remedy(write, content):
    assert "is not a calibration: no JSON object. Remedy: make the file again" in refusal(
        write(json.dumps(content))
    )


def test_a_ranking_is_no_calibration(write):
    ranking = rank(read_battles(judgments(3)), "win-rate").to_json()
    assert "is not a calibration: no field" in refusal(write(ranking))


@pytest.mark.parametrize("name", [name for name in CONTRACT["required"] if name != "podium"])
def test_a_missing_field_is_named(write, document, name):
    assert f"is not a calibration: no field '{name}'" in refusal(write(lacking(document, (name,))))


@pytest.mark.parametrize(
    "path",
    [
        ("models", 2, "model"),
        ("models", 2, "soft_elo"),
        ("models", 2, "battles"),
        ("anchors", 1, "soft_theta"),
        ("conformal", "soft"),
        ("conformal", "soft", "level"),
        ("loo", "hard"),
        ("loo", "soft", "mae"),
    ],
)
def test_a_missing_field_within_is_named(write, document, path):
    assert f"no field '{'.'.join(map(str, path))}'" in refusal(write(lacking(document, path)))


NUMBERS = ["beta", "beta_battles", "regularization", "seed"]


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        *(((name,), "much") for name in NUMBERS),
        *(((name,), None) for name in NUMBERS),
        *(
            ((name,), 5)
            for name in ("loo", "models", "anchors", "conformal", "agreement", "provenance")
        ),
        (("models",), "abc"),
        (("models", 0), "model-01"),
        (("anchors", 0), ["model-01", 0.0, 0.0, 0.0]),
        (("anchors", 0, "soft_theta"), "high"),
        (("target",), "margin"),
        (("target", "weights"), 0.5),
        (("models",), {}),
        (("models", 0, "soft_elo"), "1500"),
        (("models", 0, "soft_se"), "wide"),
        (("beta_low",), "low"),
        (("conformal", "soft", "level"), "90%"),
        (("conformal", "soft", "level"), None),
        (("agreement",), []),
        (("agreement", "mean_abs_margin"), "large"),
        (("judge",), 5),
        (("is_uninformative",), "no"),
    ],
    ids=str,
)
def test_a_value_of_the_wrong_type_is_rejected(write, document, path, wrong):
    told = refusal(write(changed(document, path, wrong)))
    assert f"is not a calibration: {'.'.join(map(str, path))} is {wrong!r}: " in told


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (path, wrong)
        for path, wrong in [
            (("beta",), float("nan")),
            (("beta",), -1.0),
            (("regularization",), -1.0),
            (("anchors", 0, "soft_theta"), float("inf")),
            (("models", 0, "soft_se"), -3.0),
            (("models", 0, "soft_se"), float("nan")),
            (("conformal", "soft", "level"), 90),
            (("se_method",), "bootstrap:1"),
            (("models", 0, "soft_se"), 1e308),
            (("models", 0, "soft_se"), int("1" * 400)),
            (("models", 0, "soft_scale_correction"), 1e308),
            (("models", 0, "model"), "model-02"),
            (("anchors", 0, "model"), "model-02"),
            (("conformal", "soft", "q"), -1.0),
            (("conformal", "soft", "n"), -1),
            (("agreement", "agreement"), 80.0),
            (("provenance", "prompts"), 5),
            (("provenance", "human"), 5),
            (("provenance", "human", "labelled"), None),
            (("provenance", "counts", "judged"), None),
            (("provenance", "date"), float("nan")),
        ]
    ],
    ids=str,
)
def test_a_value_that_cannot_be_is_rejected(write, document, path, wrong):
    told = refusal(write(changed(document, path, wrong)))
    assert (f"is not a calibration: {path[0]}" in told, "podium calibrate" in told) == (True, True)


@pytest.mark.parametrize(
    "method",
    [
        "jackknife",
        "bootstrap",
        "bootstrap:",
        "bootstrap:many",
        "bootstrap:-5",
        "sandwich:200",
        200,
        None,
    ],
    ids=str,
)
def test_an_unknown_method_of_standard_errors_is_named_with_the_remedy(write, document, method):
    told = refusal(write(changed(document, ("se_method",), method)))
    assert f"is not a calibration: se_method is {method!r}" in told


def test_the_resamples_of_the_file_are_those_of_its_method(write, document):
    assert (
        read_calibration(write(changed(document, ("se_method",), "bootstrap:35"))).resamples == 35
    )
    assert read_calibration(write(changed(document, ("se_method",), "sandwich"))).resamples == 0
