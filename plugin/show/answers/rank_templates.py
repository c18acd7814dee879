"""The sentences of a ranking's answer, as templates with named fields.

The modules `who`, `trust` and `sentences` choose among them.
"""

from math import ceil

from podium.wording import number_word, plural

# The first sentence if no model is called clearly ahead, and on models without a place.
SAME_SCORE = (
    "{models} have the same score and are too close to call: no test of their differences is known."
)
UNIT_UNKNOWN = (
    "Nobody is called clearly ahead, because it is not known which rows are about the same item."
)
ITEMS_DEPEND = "Nobody is called clearly ahead, because {units} of one {noun} are not independent."
JUDGE_STOPPED = (
    "This tournament was stopped because its judge cannot judge: its ranking is not to be used."
)
SCALES_UNLIKE = "Nothing is claimed, because the scores are not in one unit."
QUESTIONS_IN_DOUBT = "If equal ids are the same questions, which the inputs do not show: {answer}"
RANKS_UNKNOWN = "The {ranks} of {models} {are} unknown."
NOTHING_PLACED = "Nothing is claimed about {models}."
NEW_MODELS = (
    "Humans would rate {ratings}, with {level:g}% intervals, if new models resemble the "
    "calibrated ones."
)
NEW_MODEL = "{entry.model} at {entry.score:.0f} Elo ({interval})"

# The first sentence: which models lead, and which follow. `{evidence}` is the number of items.
ONE_LEADER = "{leader} is clearly ahead of all {others}{lead}."
LEAD = ": {gap} ({low} … {high}) above {second}"
"""Part of `ONE_LEADER`: the gap to the second model with its interval."""
LEAD_FROM = ": at least {low} above {second}"
"""Part of `ONE_LEADER` if the gap has no upper end."""
LEAD_IN_WINS = "{lead}, or a win rate of {least}{wins:.0%} counting ties as half"
"""Part of `ONE_LEADER`: the gap, and the win rate that it stands for."""
AT_LEAST = "at least "
"""Stands before the win rate of `LEAD_IN_WINS` if the gap has no upper end."""
OPEN_GROUP = "{models} lead and are too close to call {evidence}."
PARTLY_OPEN_GROUP = "{models} are clearly ahead of {rest}; first is {first}; {behind}."
THE_REST = "the rest"
"""Stands for several models below the leading group."""
MODEL_BEHIND = "{model} is clearly behind {better}"
MORE_MODELS_BEHIND = "{number} more {are} behind others"
MODEL_FOLLOWS = "{model} follows"
IS_LAST = "{model} is last"
MODELS_FOLLOW = "{models} follow"
FOLLOW_OPEN = "{models} follow, too close to call"
GROUPS_BETWEEN = "{groups} of {models} models are between"
NO_CUT = (
    "No place is certain: {open} of {pairs} pairs are too close to call; {better} clearly ahead "
    "of {worse}."
)
NEIGHBOURS_CLEAR = "Every model is clearly ahead of the next one."
NEIGHBOURS = "{open} of {pairs} neighbouring places {are} too close to call{apart}."
FIRST_APART = "; the first two that are separated are places {place} and {next}"
NEW_LEADER = (
    "To put {rival} first, at least {number} of the {items:,} {nouns} ({share}) would have to be "
    "left out."
)
NEW_LEADER_AT_ONCE = (
    "The first place is decided by {number} of the {items:,} {nouns}: without {them}, {rival} "
    "would be first."
)
NO_NEW_LEADER = "Whichever {nouns} are left out, no other model would lead."
NEW_LEADER_UNKNOWN = "How few {nouns} decide the first place is unknown: {reason}."
TWO_OPEN = "{models} are too close to call {evidence}."
ALL_OPEN = "All pairs of the {number} models are too close to call {evidence}."

# Parts of the second sentence: what the checks found.
IDENTICAL_BATTLES = "{number:,} of {battles} {are} of identical responses."
ALSO_FLAGGED = "also: {text}"
MORE_FLAGGED = "also flagged: {names}"
CAUTION = "caution: {text}"
UNKNOWN_CHECKS = "not known: {names}"

# The third sentence: what to do next, what is unknown about that, and how other slices compare.
MORE_ITEMS = (
    "If the true gap between {first} and {second} is the measured {gap}, {items} would separate "
    "them with 80% power."
)
MORE_ITEMS_TESTED = "This number {tested}; {again}."
MORE_ITEMS_UNKNOWN = (
    "How many more {nouns} would separate {first} from {second} is unknown: {reason}."
)
GAP_UNBOUNDED = "the data do not bound their gap"
"""Reason why the number of further items is unknown."""
NO_GAP = "no difference was measured"
"""Reason why the number of further items is unknown."""
GAP_WITHIN_ERROR = "the gap is smaller than its standard error"
"""Reason why the number of further items is unknown."""
BUSY_RATERS = "a few of the {raters} gave most of the verdicts"
"""Reason why the number of further items is unknown."""
FEW_RATERS = "only {raters}"
"""Reason why the number of further items is unknown."""
FEW_ITEMS = "there are fewer than {least} {nouns}"
"""Reason why the number of further items is unknown."""
LABELS_UNBOUNDED = "the labels alone do not bound their ratings"
"""Reason why the number of further labels is unknown."""
RIVAL_LEADS = "without {items}, {rival} leads"
"""Reason why the number of further items is unknown."""
GROUPS_APART = "{groups} groups of models never met, and only models of one group are compared."
IN_GROUP = "In group {number} ({models}): {claims}"
MORE_GROUPS = "The table has {number} more."
CONNECTING_ITEMS = (
    "Scores of models of each group on the same items would connect the groups; until then, "
    "compare within a group only."
)
CONNECTING_BATTLES = (
    "{battles} would connect the {groups} groups of models that never met; until then, compare "
    "within a group only."
)
NO_LEADER_EITHER = "Nor is any place certain in {any_slice}."
LEADERS_IN_OTHERS = "In {slices}, some models lead."
LEADERS_IN_SOME = (
    "Of the {number} other {nouns}, {led} {have} leaders; in {open} no place is certain."
)
SAME_LEADERS_IN_SLICES = "The same {models} in {slices}."
OTHER_LEADERS_IN_SLICES = "In {slices}, other models lead."
NO_LEADER_IN_OTHERS = "In {slices}, no place is certain."
ORDER_DECIDES_IN_SLICES = (
    "The order of the responses decides on {slices}: the judge may not rank there."
)
OTHERS_LEAD_IN_SOME = (
    "Of the {number} other {nouns}, other models lead in {led}; in {open} no place is certain."
)


def all_of(number: int, noun: str) -> str:
    """Write how many things are meant by `all`, such as `both checks` or `all nine checks`.

    One thing is `the one check`.
    """
    if number == 1:
        return f"the one {noun}"
    if number == 2:
        return f"both {noun}s"
    return f"all {number_word(number)} {noun}s"


def further_items_text(raters: int, further_raters: int, items: int, unit: str) -> str:
    """Write how many further items go with further voters or judges, as ` with 90 further items`.

    The text begins with a space and follows the number of raters. Errors by item and by rater both
    shrink only if both numbers grow by the same factor.

    Args:
        raters: number of voters or judges so far.
        further_raters: number of further ones.
        items: number of items, or of their groups, so far.
        unit: what an item is, in the singular.
    """
    number = max(ceil(items * further_raters / raters), 1)
    return f" with {number:,} further {plural(unit, number)}"


def more_items_sentence(
    first: str,
    second: str,
    items: int,
    gap: str,
    noun: str = "item",
    *,
    pairs: int,
    again: str | None,
    beside: str = "",
) -> str:
    """Write how many more items would separate two models with 80% power.

    Args:
        first: the model ahead.
        second: the model behind.
        items: number of further items; below 1, it is written as 1.
        gap: measured gap between the two, with its unit.
        noun: what is counted, in the singular.
        pairs: number of pairs of models that are tested together.
        again: what a second test with these items is, as `tested_again_text` writes it; None to
            leave out for which tests the number holds.
        beside: what else has to grow by the same factor, as `further_items_text` writes it.
    """
    number = max(items, 1)
    more = f"{number:,} more {plural(noun, number)}{beside}"
    sentence = MORE_ITEMS.format(items=more, first=first, second=second, gap=gap)
    if again is None:
        return sentence
    tested = f"corrects for testing {pairs:,} pairs"
    if pairs == 1:
        tested = "is for a test of these two models alone"
    return f"{sentence} {MORE_ITEMS_TESTED.format(tested=tested, again=again)}"
