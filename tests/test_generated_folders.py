"""What podium says of generated folders of both hosts: nothing of ids, names and files changes a
figure, every other setting is named, and ordinary differences are not warned of."""

from pathlib import Path

import numpy as np
import pytest
from generated_folders import (
    CHANGES,
    OTHER_WARNINGS,
    Folder,
    Said,
    change_one_setting,
    generate_folder,
    permute_ids,
    rank_sources,
    rename_models,
    run_again_with_one_setting,
    write_apart,
    write_folder,
    write_twice,
)

FEW = (3, 22, 24, 33)
"""Seeds of the fast tests: small folders, two of each host. Even seeds give those of Inspect."""
MANY = range(200)
"""Seeds of the slow tests."""


def said_of(folder: Folder, place: Path) -> Said:
    """Return what is said of a folder that is written to a place."""
    return rank_sources(write_folder(folder, place))


def assert_same_figures(said: Said, first: Said, names: dict[str, str] | None = None) -> None:
    """Check that the models have the figures that they had first, under these names."""
    expected = {
        (part, (names or {}).get(model, model)): own for (part, model), own in first.figures.items()
    }
    assert said.figures.keys() == expected.keys()
    for key, own in expected.items():
        np.testing.assert_allclose(said.figures[key], own, rtol=1e-9, atol=1e-9, err_msg=str(key))


def check_folder(seed: int, place: Path) -> None:
    """Check all properties of a generated folder."""
    folder = generate_folder(seed)
    first = said_of(folder, place / "first")
    check_that_it_is_normal(first)
    check_that_nothing_changes(folder, first, seed, place)
    check_that_a_setting_is_named(folder, seed, place)


def check_that_it_is_normal(said: Said) -> None:
    """Check that nothing is flagged or warned of that is about the runs."""
    assert said.checks.keys() >= {"same-settings"}
    assert {result for result, _ in said.checks.values()} == {"ok"}, said.checks
    assert said.warnings <= OTHER_WARNINGS, said.text


def check_that_nothing_changes(folder: Folder, first: Said, seed: int, place: Path) -> None:
    """Check one change of ids, names or files; the seed chooses it."""
    names = None
    kind = seed // 2 % 4
    if kind == 0:
        said = said_of(permute_ids(folder, seed), place / "permuted")
    elif kind == 1:
        renamed, names = rename_models(folder, seed)
        said = said_of(renamed, place / "renamed")
    elif kind == 2:
        said = rank_sources(write_apart(folder, place / "apart"))
    else:
        said = rank_sources(write_twice(folder, place / "twice"))
    assert_same_figures(said, first, names)


def check_that_a_setting_is_named(folder: Folder, seed: int, place: Path) -> None:
    """Check that a setting in which two models differ is flagged and named; or, in a third of the
    folders, that runs of one model that differ in it are two models, whose names show it."""
    fitting = [name for name, change in CHANGES.items() if folder.host in change.hosts]
    name = fitting[seed // 2 % len(fitting)]
    word = CHANGES[name].said
    folder = folder.of_models(folder.models[:2])
    if np.random.default_rng([seed, 1]).random() < 1 / 3:
        again, model = run_again_with_one_setting(folder, name, seed)
        said = said_of(again, place / "again")
        shown = {own for own in said.models if own.startswith(f"{model} (")}
        assert any(word in own for own in shown), (name, said)
        assert len(said.models) == len(folder.models) + 1, (name, said)
    else:
        said = said_of(change_one_setting(folder, name, seed), place / "changed")
        flagged = [text for result, text in said.checks.values() if result == "flagged"]
        assert any(word in text for text in flagged), (name, said)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("seed", FEW)
def test_a_generated_folder_keeps_its_figures_and_names_its_settings(
    seed: int, tmp_path: Path
) -> None:
    check_folder(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_generated_folders_keep_their_figures_and_name_their_settings(
    seed: int, tmp_path: Path
) -> None:
    check_folder(seed, tmp_path)
