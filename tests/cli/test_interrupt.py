"""Ctrl-C ends a command without a traceback."""

from typing import NoReturn

import pytest

from podium.cli import main


def test_ctrl_c_during_a_query_ends_with_one_line_and_code_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(**_options: bool) -> NoReturn:
        # As DuckDB words the interrupt of a query.
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(main, "podium", interrupted)
    with pytest.raises(SystemExit) as end:
        main.main()
    assert (end.value.code, capsys.readouterr().err) == (130, "podium: stopped\n")
