"""No message says `1 items` or `1 are`: nouns and verbs come from `quantity`, `plural`, `word_for`.

The texts of the source are read, so that messages which no test prints are checked, too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from podium.notices import catalogue_of_notices
from podium.show.answers.sentences import identical_sentence
from podium.wording import quantity, word_for

ROOT = Path(__file__).parents[1]
NOUNS = (
    "answers battles calls categories characters columns documents files flips groups ids inputs "
    "items judges judgments labels logs models opponents pairs preferences prompts replies "
    "responses rows samples scores seeds shards slices tasks ties triples turns verdicts votes"
).replace(" ", "|")
VERB = r"(?:of those )?(?:are|have|were)\b"
COUNTED = re.compile(rf"^ (?:(?:[a-z]+ )?(?:{NOUNS})\b|{VERB})")
IN_TEMPLATE = re.compile(rf"\{{\w+(?::,|:len)\}} (?:(?:[a-z]+ )?(?:{NOUNS})\b|{VERB})")
SEVERAL = {
    "len(words) files": "one file is compared by another rule",
    "len(members) files": "one file is read",
    "len(names) models": "two models at least",
    "len(coded.models) models": "too many models",
    "models models": "too many models",
    "categories categories": "too many categories",
    "len(subjects) judges": "two judges have a text of their own",
    "len(judges) judges": "one judge is ranked",
    "len(battles.judges) judges": "one judge is calibrated",
    "self.calls calls": "the labels of a jury",
    "len(source.field.models) models": "two models at least",
    "len(record.field.models) models": "two models at least",
    "len(without_group) groups": "two groups at least",
    "len(draw.rows) labels": "one label has a text of its own",
    "best.items.value items": "an estimate for a small difference",
    "size battles": "the battles of ten items",
    "calls calls": "the calls of ten items",
    "nearest.calls judge calls": "the calls of a tournament, on average",
    "cheapest.calls calls": "the calls of a tournament, on average",
    "best.calls judge calls": "the calls of a tournament, on average",
    "pairs pairs": "one pair has a text of its own",
    "number rows": "one row has a text of its own",
    "number items": "one item has a text of its own",
    "len(slices) slices": "one slice has a text of its own",
    "control['sd'] characters": "a standard deviation",
    "len(groups) groups": "two groups at least",
    "len(battles) battles": "one battle has a text of its own",
    "self.samples samples": "one sample has a text of its own",
    "to_first.n flips": "one flip has a text of its own",
    "len(self.models) models": "a repr",
    "len(models) models": "a repr",
    "len(self.quality) items": "a repr",
    "len(self.pairs) items": "a repr",
    "len(standings.unconnected_groups) groups": "two groups at least",
    "len(self.items) items": "a repr",
    "len(self.rows) rows": "an error inside podium",
}
"""Why a number that stands before a noun in the plural is not 1."""
NEVER_ONE = {
    "arena-rows": "votes of Arena, of which there are thousands",
    "arena-rows-left-out": "votes of Arena, of which there are thousands",
    "attempts-on-tasks": "several tasks",
    "conformal-too-narrow": "the most battles of a model",
    "few-labels": "two models at least",
    "items-below-models": "fewer items than models",
    "judge-of-fine-ties": "twenty judgments or more",
    "judge-of-position": "twenty judgments or more",
    "judge-of-ties": "twenty judgments or more",
    "judge-unparsed": "twenty judgments or more",
    "jury-merged": "two judges at least",
    "one-beta-for-judges": "two judges at least",
    "one-model-samples-of-tasks": "several tasks",
    "runs-repeated-on-tasks": "several tasks",
    "shared-errors": "too few battles show nothing",
    "transcripts-cut": "characters of long transcripts",
    "transcripts-cut-by-tokens": "characters of long transcripts",
}
"""Why the numbers in the text of a notice are not 1."""


def counts_in(path: Path) -> Iterator[str]:
    """Yield the numbers in f-strings that stand before a noun in the plural, with the noun.

    A number is the length of something, or is written with commas between thousands.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, text in zip(node.values, node.values[1:], strict=False):
            if not (isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)):
                continue
            source = ast.unparse(value.value)
            has_commas = value.format_spec is not None and "," in ast.unparse(value.format_spec)
            noun = COUNTED.match(text.value)
            if noun and not source.isupper() and (has_commas or source.startswith("len(")):
                yield f"{source}{noun[0]}"


@pytest.mark.slow
def test_numbers_before_nouns_in_the_plural_are_never_one():
    found = {}
    for room in ("plugin", "rankers", "scorers"):
        for path in (ROOT / room).rglob("*.py"):
            found |= dict.fromkeys(counts_in(path), path.relative_to(ROOT).as_posix())
    assert {text: where for text, where in found.items() if text not in SEVERAL} == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('f"{len(rows)} items"', ["len(rows) items"]),
        ('f"{n:,} judged battles, {LEAST:,} items"', ["n judged battles"]),
        ("f\"{quantity(n, 'item')} of {LEAST:,} items\"", []),
        ('f"{share:.1%} of verdicts"', []),
        ('f"{n:,} have a label, {tied:,} of those are ties"', ["n have", "tied of those are"]),
    ],
)
def test_the_check_finds_a_count_without_the_helper(text, found, tmp_path):
    file = tmp_path / "made.py"
    file.write_text(f"text = {text}\n")
    assert [*counts_in(file)] == found


def test_the_texts_of_notices_have_the_noun_of_their_numbers():
    found = {}
    for name, texts in vars(catalogue_of_notices).items():
        if name.startswith("OF_"):
            found |= {code: text for code, text in texts.items() if IN_TEMPLATE.search(text)}
    assert {code: text for code, text in found.items() if code not in NEVER_ONE} == {}


@pytest.mark.parametrize(
    ("identical", "sentence"),
    [
        (0, ""),
        (1, "1 of 4 battles is a tie of identical responses."),
        (2, "2 of 4 battles are ties of identical responses."),
    ],
)
def test_the_sentence_on_identical_responses_agrees_with_their_number(identical, sentence):
    battles = MagicMock()
    battles.tally.identical = identical
    battles.__len__.return_value = 4
    assert identical_sentence(battles) == sentence


def test_a_quantity_has_the_noun_and_the_verb_of_its_number():
    numbers = (0, 1, 1200)
    assert [quantity(number, "reply") for number in numbers] == [
        "0 replies",
        "1 reply",
        "1,200 replies",
    ]
    assert [word_for(number, "is", "are") for number in numbers] == ["are", "is", "are"]
