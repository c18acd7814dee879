"""What is said of a judge of `--ranker_judge` that cannot be made."""

import pytest
from inspect_ai._util.error import PrerequisiteError

from podium import UsageError
from podium.hosts.inspect_ai.judging import judge_of_option


def test_the_error_of_a_judge_without_its_package_begins_with_the_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str, **_: object) -> None:
        raise PrerequisiteError(f"[bold]ERROR[/bold]: {name} requires optional dependencies.")

    monkeypatch.setattr(judge_of_option, "get_model", refuse)
    with pytest.raises(UsageError) as refused:
        judge_of_option.judge_model("some/judge", {}, "--ranker_judge")
    assert str(refused.value) == (
        "--ranker_judge some/judge: some/judge requires optional dependencies."
    )
