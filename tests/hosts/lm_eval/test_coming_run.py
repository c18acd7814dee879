"""Options of a ranking by lm-eval that cannot be followed are known before its run."""

import pytest

from podium import UsageError
from podium.hosts.folder_pin import FolderPin
from podium.hosts.lm_eval.coming_run import (
    THIS_RUN,
    check_coming,
    check_reference_of_run,
    named_model,
)
from podium.hosts.lm_eval.lm_eval_options import typed_in_lm_eval
from podium.hosts.ranker_options import RankerOptions
from podium.hosts.reference_pin import pin_of_model
from podium.notices.option_forms import typed_as

OTHERS = frozenset({"elm-0.7", "fir-0.4"})


def checked(
    settings,
    *,
    rankers=("bradley-terry",),
    others=OTHERS,
    typed="model=ash-0.9,base_url=u local",
    **options,
):
    return check_coming(
        RankerOptions(rankers, **options), settings, named_model(settings, typed), others
    )


@pytest.mark.parametrize("judges", [(), ("podium/offline",)])
def test_a_pin_on_an_absent_model_is_rejected_before_the_run(judges):
    with pytest.raises(UsageError, match=f"no model called 'birch'; available: .*{THIS_RUN}"):
        checked({"pin": "birch:1000"}, judges=judges)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["elm-0.7", "ash-0.9", "ash-0.9 (temperature=0)"])
def test_a_pin_on_this_or_another_runs_model_is_accepted(model):
    assert checked({"pin": f"{model}:1000"}) == []


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("pretrained=org/llama hf", "org/llama"),
        ("{'pretrained': 'org/llama', 'dtype': 'auto'} hf", "org/llama"),
        (r"pretrained=C:\models\llama hf", "org/llama"),
        (r"pretrained=C:\models\llama\hf hf", "org/llama"),
        (r"pretrained=C:\models\llama-70b hf", THIS_RUN),
        ("pretrained=org/llama-70b hf", THIS_RUN),
        ("pretrained=org/tinyllama hf", THIS_RUN),
        ("pretrained=org/llama.cpp hf", THIS_RUN),
    ],
)
def test_a_part_of_a_models_name_is_not_the_name(typed, name):
    assert named_model({"pin": "org/llama:1000"}, typed) == name


@pytest.mark.parametrize(("model", "is_of_run"), [("org/llama", True), ("org/llama-70b", False)])
def test_a_pinned_reference_is_known_by_its_whole_name(model, is_of_run):
    options = RankerOptions(("bradley-terry",))
    pin = FolderPin(None, None, pin_of_model("org/llama"))
    typed = f"pretrained={model} hf"
    notes = check_reference_of_run(pin, options, {}, typed, OTHERS)
    assert bool(notes) is not is_of_run


@pytest.mark.slow
def test_without_other_runs_no_name_can_be_wrong():
    assert checked({"pin": "birch:1000"}, others=frozenset()) == []


@pytest.mark.slow
def test_models_that_the_tournament_leaves_out_are_absent():
    with pytest.raises(UsageError, match=r"no model called 'fir-0\.4'"):
        checked(
            {"pin": "fir-0.4:1000"}, judges=("podium/offline",), args={"models": "ash-0.9,elm-0.7"}
        )


def test_a_metric_that_was_chosen_is_no_jury():
    with pytest.raises(UsageError, match="compares several judges"):
        checked({}, rankers=("judge-aware",), reading={"metric": ("acc,none",)})


@pytest.mark.slow
def test_a_calibration_without_a_ranker_that_uses_it_is_rejected(tmp_path):
    from podium import Judge, calibrate, simulate

    path = tmp_path / "calibration.json"
    labelled = simulate(5, 60, seed=0).battles(Judge(scale=2.0, noise=0.5), human=True)
    path.write_text(calibrate(labelled).to_json())
    with pytest.raises(UsageError, match="a calibration was given, and win-rate does not use one"):
        checked({}, rankers=("win-rate",), calibration=str(path))
    assert checked({}, rankers=("soft-elo",), calibration=str(path)) == []


@pytest.mark.slow
def test_the_remedy_of_a_rejected_target_names_the_options_of_lm_eval():
    options = r"--ranker_calibration FILE\), or --ranker_set beta=NUMBER"
    with typed_as(typed_in_lm_eval), pytest.raises(UsageError, match=options):
        checked({"target": "margin"}, rankers=("soft-elo",))


@pytest.mark.slow
def test_soft_elo_of_a_metric_is_announced_as_bradley_terry():
    [note] = checked({}, rankers=("soft-elo",))
    assert "ranked by bradley-terry" in note
