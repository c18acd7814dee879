"""Comments on pull requests: what is open and what is folded, no links to people or issues, and at
most as many characters as GitHub accepts."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from podium.show.report.github_comment import MARKER, MOST_CHARACTERS, github_text
from podium.show.report.styles import suffix_style
from podium.tables import Report, Section, Table


def make_report(*sections: Section, answer=("PASS: all is met.", "amber leads.")) -> Report:
    """Return a report with a table of one model."""
    return Report("compare", answer, Table("", ("model",), (("amber",),)), sections=sections)


def section_of(name: str, rows: int = 1, cell: str = "q1") -> Section:
    """Return a section whose table has a number of equal rows."""
    return Section(name, f"title of {name}", tables=(Table("", ("item",), ((cell,),) * rows),))


def test_the_comment_opens_with_its_marker_and_the_answer_in_bold():
    lines = github_text([make_report()]).splitlines()
    assert lines[:5] == [MARKER, "", "**PASS: all is met.**", "", "amber leads."]


def test_the_gate_and_warnings_are_open_and_other_sections_fold():
    warning = Section("warnings", "warnings and notes", warnings=("take care",))
    text = github_text([make_report(section_of("gate"), section_of("items"), warning)])
    folded = re.findall(r"<details><summary>(.*?)</summary>\n\n(.*?)\n\n</details>", text, re.S)
    assert [title for title, _ in folded] == ["title of items"]
    assert "| q1 |" in folded[0][1]
    assert "#### title of gate\n\n| item |" in text
    assert text.endswith("#### warnings and notes\n\ntake care\n")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("@octocat", "@&#8203;octocat"),
        ("org/repo#12", "org/repo#&#8203;12"),
        ("GH-7", "GH-&#8203;7"),
        ("gh-7", "gh-&#8203;7"),
        ("é@octocat", "é@&#8203;octocat"),
        ("a@b.org", "a@&#8203;b.org"),
        ("&#64;octocat", "&amp;#&#8203;64;octocat"),
        ("&num;12", "&amp;num;12"),
        ("https://github.com/o/r/issues/11", "https://&#8203;github.com/o/r/issues/11"),
        ("www.example.org", "www&#8203;.example.org"),
        ("# 12", "# 12"),
    ],
)
def test_names_mention_no_person_and_link_to_no_issue(name, shown):
    folded = Section("items", name, tables=(Table("", ("item",), ((name,),)),), notes=(name,))
    text = github_text([make_report(folded, answer=(name,))])
    # The title of a folded section is HTML, and no Markdown.
    assert text.count(shown) == 4
    if shown != name:
        assert name not in text


def test_what_only_github_reads_as_markup_is_escaped():
    text = github_text([make_report(answer=("$a$ ~~b~~ :tada:",))])
    assert r"\$a\$ \~\~b\~\~ \:tada:" in text


def test_a_table_that_is_too_long_loses_its_last_rows_and_says_how_many():
    rows = tuple((f"model-{number:05}",) for number in range(6000))
    report = Report("compare", ("PASS: all is met.",), Table("", ("model",), rows))
    items = section_of("items", rows=10)
    text = github_text([replace(report, sections=(section_of("gate"), items))])
    assert len(text) <= MOST_CHARACTERS
    left_out = 6000 - text.count("| model-")
    assert text.splitlines()[-1].startswith(
        f"1 section and {left_out:,} lines of the longest table are left out"
    )
    assert "title of gate" in text
    assert "| model-00000 |" in text


def test_titles_of_folded_sections_are_html():
    [title] = re.findall("<summary>(.*)</summary>", github_text([make_report(section_of("<b>_"))]))
    assert title == "title of &lt;b&gt;_"


def test_sections_that_do_not_fit_are_left_out_from_the_end_and_counted():
    long = [section_of(f"s{number}", rows=3000) for number in range(4)]
    text = github_text([make_report(section_of("gate"), *long, section_of("warnings"))])
    assert MOST_CHARACTERS - 30_000 < len(text) <= MOST_CHARACTERS
    assert "title of s0" in text
    assert "title of s3" not in text
    left_out = sum(f"title of s{number}" not in text for number in range(4))
    assert f"{left_out} section" in text.splitlines()[-1]
    assert "title of warnings" in text


def test_a_comment_as_long_as_allowed_is_whole():
    text = github_text([make_report(section_of("items", rows=5000))])
    assert len(text) < MOST_CHARACTERS
    assert "left out" not in text


def test_the_suffix_of_markdown_is_that_of_plain_markdown():
    assert suffix_style(Path("summary.md")) == "md"
