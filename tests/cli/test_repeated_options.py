"""Options that take KEY=VALUE pairs and are typed several times: all pairs count, or an error."""

import pytest

HEADER = "q,left,right,v"
ROWS = ["1,x,y,L", "2,x,y,R", "3,x,y,L", "4,x,y,T"]
COLUMNS = ("--columns", "model_a=left,model_b=right", "--columns", "item=q,credit=v")
CREDITS = ("--credit-map", "L=1,R=0", "--credit-map", "T=0.5")


@pytest.fixture
def votes(table):
    return table(*ROWS, header=HEADER)


@pytest.mark.slow
def test_pairs_of_repeated_options_add_up(podium, votes):
    whole = ("--columns", "model_a=left,model_b=right,item=q,credit=v", "--credit-map")
    expected = podium("rank", votes, *whole, "L=1,R=0,T=0.5")
    typed_twice = podium("rank", votes, *COLUMNS, *CREDITS)
    assert expected.code == typed_twice.code == 0
    assert typed_twice.out == expected.out


@pytest.mark.parametrize(
    "typed",
    [
        (*COLUMNS, "--columns", "model_a=right"),
        ("--columns", "model_a=left,model_a=right"),
        (*COLUMNS, *CREDITS, "--credit-map", "L=0"),
        (*COLUMNS, *CREDITS, "--fill", "judge=g", "--fill", "judge=h"),
        (*COLUMNS, *CREDITS, "--set", "regularization=0.1", "--set", "regularization=0.2"),
    ],
)
def test_two_values_of_one_key_are_an_error(podium, votes, typed):
    answer = podium("rank", votes, *typed)
    assert answer.code == 2
    assert "has two values" in answer.err


def test_families_of_several_options_add_up(podium, table):
    rows = [
        f"{item},gem-1,rock-1,{credit},gem-2" for item, credit in zip("ijk", "101", strict=True)
    ]
    verdicts = table(*rows, header="item,model_a,model_b,credit,judge")
    given = ("--families", "gem*=Acme", "--families", "rock*=Stone", "--format", "json")
    answer = podium("diagnose", verdicts, *given)
    assert '"Acme"' in answer.out
    assert '"Stone"' in answer.out
    assert podium("diagnose", verdicts, *given, "--families", "gem*=Other").code == 2
