"""Spark renames no items by their inputs, so different inputs of one id are not known to be one
question. The query is plain SQL, which DuckDB runs here."""

import pytest

from podium.data.counting.duck import Duck
from podium.data.reading.on_spark import inputs_not_compared


def finding_of(inputs, column="prompt"):
    """Return what is found in rows with the ids 0, 1, 2, 3, 0, 1, 2, 3 and these inputs."""
    engine = Duck()
    rows = ", ".join(f"('{k % 4}', '{text}')" for k, text in enumerate(inputs))
    engine.store("battles", f'select * from (values {rows}) as rows(item, "{column}")')
    return inputs_not_compared(engine, "battles")


@pytest.mark.parametrize("column", ["prompt", "input", "question"])
def test_ids_with_two_inputs_are_not_known_to_be_one_question(column):
    [finding] = finding_of("abcdefgh", column)
    assert (finding.pairing, finding.conflicts, finding.items) == ("undecided", 4, 4)
    assert finding.reason[0] == column


@pytest.mark.parametrize(
    ("inputs", "column"), [("abcdabcd", "prompt"), ("xxxxxxyy", "prompt"), ("abcdefgh", "note")]
)
def test_one_input_of_each_id_or_few_or_none_say_nothing(inputs, column):
    assert finding_of(inputs, column) == ()
