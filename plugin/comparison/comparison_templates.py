"""The sentences of a comparison, with named fields; `comparison.answer` chooses among them.

Names in braces are fields that the caller fills. Templates that begin with a lower-case letter, a
blank or a punctuation mark are parts of other sentences.
"""

# Who is ahead: without a measured difference, not distinguishable, and distinguishable.
LEVEL = (
    "{candidate} and {baseline} are too close to call, with no difference measured{interval}: "
    "{test}."
)
OPEN = "{candidate} is {side} {baseline}{amount}{interval}{from_half}, too close to call: {test}."
CLEAR = "{candidate} is clearly {side} {baseline}{amount}{interval}{from_half}: {test}."
FROM_HALF = " {side} a win rate of 50%"
"""Field `from_half` of `OPEN` and `CLEAR` if win rates are compared; `side` is above or below."""
CHOSEN = (
    "This pair is one of {pairs:,}; if it was chosen after looking at the ranking, p {p} by "
    "Bonferroni's rule."
)
"""Sentence on a difference that is clear only if the pair was chosen before; `p` is `= .065`."""
CHOSEN_NOTE = "one of {pairs:,} pairs; if it was chosen after looking at the ranking: p {p}"
"""The same as `CHOSEN`, as a note below the table."""
UNIT_UNKNOWN = (
    "Neither {candidate} nor {baseline} is called clearly ahead: rows are counted as independent, "
    "but the column {column!r} looks like the item: say --columns {option}."
)
NOT_CALLED = "Nothing is claimed about {candidate} and {baseline}: {reason}."
NOT_KNOWN = "Not known: {question} ({reason})."
TALLY = "{wins}, {losses}, {ties} by item{weighed}{identical}{contrary}."
"""`17 wins, 10 losses, 10 ties by item.` The last three fields are those below, or empty."""
OTHER_BATTLES = "; {ahead} is ahead by Elo, which also counts battles with other models"
BY_CREDITS = "; {ahead} is ahead by Elo, which counts credits, not items won"
BY_WEIGHT = " (by weight {weights})"
IDENTICAL = "; on {number} of the ties the answers are identical"
# Sentence on the number of further items, and two reasons why it is unknown (field `reason`).
MORE_ITEMS_UNKNOWN = (
    "How many more {nouns} would separate {candidate} from {baseline} is unknown{reason}."
)
FEW_RATERS_OF_ONE = "only {raters} judged one of the two"
BY_BETTING = ", but {nouns} may be added and the test made again until it decides"
# `groups` are clauses such as `clearly ahead: amber, birch`, joined by `; `.
SEVERAL = "Compared with {baselines}, {groups} ({number} tests, Holm)."
BY_SLICE = "By {column}, {candidate} is {groups} ({number} tests, Holm)."
BY_SLICE_OF_SEVERAL = "By {column}, {label} is {groups}."
MORE_BY_SLICE = (
    "{number} more {are} clearly ahead on some values of {column} and clearly behind on others."
)
SEVERAL_QUESTIONS = "{candidate} compared with {baselines}: {groups} ({number} tests, Holm)."

# The first sentence of a comparison with requirements; `verdict` is PASS, FAIL or UNDECIDED.
ALL_ADVISORY = "{verdict}: every requirement is advisory."
ALL_MET = "PASS: {requirements} are met{wider}{unseen}."
WIDER_INTERVAL = (
    "; the table's interval contains {threshold}: it is two-sided{over_all_tests}, and the gate "
    "tests one side of one difference"
)
OVER_ALL_TESTS = " and over all {number} tests"
SOME_BLOCKING = "{verdict}: {number} of {all} requirements {outcome}: {names}."
NOT_COMPARED = "{verdict}: {requirement} cannot be decided, because nothing was compared."
BOUND = (
    "{verdict}: {candidate} minus {baseline} is at {side} {bound} ({level}, one-sided); more than "
    "{threshold} is required{wider}{unseen}."
)
WITHHELD = (
    "{verdict} because of the doubt below, although {candidate} minus {baseline} is at least "
    "{bound} ({level}, one-sided) and more than {threshold} is required."
)
UNSEEN_LOSS = "; a loss on fewer than 1 in {rarest:,} {nouns} may not be in the sample{remedy}"
BETTING_ALLOWS = " (--method betting allows for it)"
GATE_NOTE = (
    "at least: one-sided {level} bound; a requirement passes if this bound exceeds what is needed. "
    "at most: one-sided bound, simultaneous over all requirements (Holm); a requirement fails if "
    "this bound is below what is needed. Otherwise the requirement is undecided"
)
SLICES_NOTE = "p by Holm's rule over {slices}; intervals are simultaneous"
NOTHING_IN_SLICE = "nothing is claimed on {slice}: {reason}"
ITEMS_NOTE = "largest differences: {shown}; --format json has all"
UNKNOWN_ANSWERS = "identical answers are not counted: {reason}"
