"""What the name of a column says of its values: answers, measures or categories of the items.

Metadata of samples and fields of documents divide the items in many ways. Items of one answer, of
one number of steps or of one subject are not drawn together, as those of one passage are. If models
differ by such a column, the intervals are right, and the column is none of groups of items.
"""

import re

WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""The words of a name such as `answer_index`, `answerKey` or `subject name`."""
WORDS_OF_FORM = frozenset({"id", "ids", "idx", "index", "key", "letter", "name", "text", "value"})
"""Last words that say in which form the values are given, not what they are."""
SIDES = frozenset({"left", "right", "a", "b", "first", "second"})
"""Last words that say which response a value is of, as in `len_left`."""
ANSWERS = frozenset(
    {
        *("answer", "answers", "answerkey", "choice", "correct", "gold", "groundtruth", "label"),
        *("labels", "option", "solution", "target", "targets", "truth"),
    }
)
"""Last words of names of columns with the answers of items."""
MEASURES = frozenset(
    {
        *("age", "chars", "characters", "complexity", "count", "date", "depth", "difficulty"),
        *("duration", "grade", "height", "hops", "hour", "len", "length", "level", "lines"),
        *("month", "popularity", "position", "price", "rank", "rating", "score", "size", "steps"),
        *("time", "timestamp", "tokens", "version", "width", "words", "year"),
    }
)
"""Last words of names of columns with a measure of items, such as a difficulty or a length."""
NUMBER_OF = frozenset({"n", "num", "number", "nr"})
"""First words of names of columns with a number of things, such as `num_choices`."""
CATEGORIES = frozenset(
    {
        *("area", "capability", "category", "country", "discipline", "domain", "field", "format"),
        *("genre", "kind", "lang", "language", "locale", "modality", "region", "skill", "split"),
        *("style", "subcategory", "subdomain", "subfield", "subject", "subset", "subtype"),
        *("subtask", "task", "topic", "type"),
    }
)
"""Last words of names of columns with categories of items."""


def is_of_answers(column: str) -> bool:
    """Return whether a column, by its name, has the answers of items, such as `answer_index`.

    Only the name counts, whatever the values are.
    """
    return _noun_of_name(column) in ANSWERS


def is_of_measures(column: str) -> bool:
    """Return whether a column, by its name, has a measure of items.

    Examples are `level`, whose last word is a measure, and `num_hops`, whose first word stands for
    a number. Only the name counts.
    """
    words = _words_of_name(column)
    is_number = len(words) > 1 and words[0] in NUMBER_OF and words[-1] not in WORDS_OF_FORM
    return is_number or _noun_of_name(column) in MEASURES


def is_of_categories(column: str) -> bool:
    """Return whether a column, by its name, has categories of items, such as `subject`."""
    return _noun_of_name(column) in CATEGORIES


def _words_of_name(column: str) -> list[str]:
    """Return the words of a name in lower case; empty if it has none."""
    return [word.lower() for word in WORDS.findall(column)]


def _noun_of_name(column: str) -> str:
    """Return the last word of a name that says what the values are; empty without words.

    >>> [_noun_of_name(name) for name in ("answerKey", "gold_passage_id", "len_left", "id")]
    ['answer', 'passage', 'len', 'id']
    """
    words = _words_of_name(column)
    while len(words) > 1 and words[-1] in WORDS_OF_FORM | SIDES:
        words.pop()
    return words[-1] if words else ""
