"""Decide by their words whether two sets of inputs put the same questions in other words."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

from podium.comparability.added_texts import templates_around_questions

MOST_COMPARED = 50
"""At most this many inputs are compared with each other."""
FEWEST_INPUTS = 4
"""With fewer inputs, nothing is decided."""
LEAST_SHARED = 0.7
"""Least share of the words of the shorter input that the other input of the question has, too."""
LEAST_MATCHED = 0.8
"""Least share of inputs that are closest to the other input of their own id."""
WORD = re.compile(r"\w+")
Words = frozenset[str]
"""The different words of an input, in lower case."""


def are_reworded(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Return whether inputs with one id are about the same questions in other words.

    They are if each run puts the same questions between texts of its own
    (`templates_around_questions`). They are, too, if the following holds for most ids: one input
    has all words of the other one, or the two share most of their words; and the two are closer to
    each other than to the input of any other id. Words that few inputs have weigh more. Where two
    inputs only share most of their words, numbers do not count: they may be those of the items.
    Only the first 50 ids in both runs are compared.

    Args:
        first: inputs of one run by id.
        second: inputs of another run by id.

    Returns:
        Whether they are; False if too few ids are in both runs.
    """
    ids = [item for item in first if item in second][:MOST_COMPARED]
    if len(ids) < FEWEST_INPUTS:
        return False
    compared = [{item: first[item] for item in ids}, {item: second[item] for item in ids}]
    if templates_around_questions(compared) is not None:
        return True
    words_of_first = [_words_of(first[item]) for item in ids]
    words_of_second = [_words_of(second[item]) for item in ids]
    names_of_first = [*map(_without_numbers, words_of_first)]
    names_of_second = [*map(_without_numbers, words_of_second)]
    matched = 0
    for place, (words, other) in enumerate(zip(words_of_first, words_of_second, strict=True)):
        if words <= other or other <= words:
            matched += _is_closest(words, words_of_second, place)
        elif _share_most(names_of_first[place], names_of_second[place]):
            matched += _is_closest(names_of_first[place], names_of_second, place)
    return matched >= LEAST_MATCHED * len(ids)


def _words_of(text: str) -> Words:
    """Return the different words of a text, in lower case."""
    return frozenset(WORD.findall(text.lower()))


def _without_numbers(words: Words) -> Words:
    """Return the words without those that consist of digits."""
    return frozenset(word for word in words if not word.isdigit())


def _share_most(words: Words, other: Words) -> bool:
    """Return whether two inputs share at least 70% of the different words of the shorter one."""
    return len(words & other) >= LEAST_SHARED * min(len(words), len(other))


def _is_closest(words: Words, others: Sequence[Words], place: int) -> bool:
    """Return whether the input at a place is closer to these words than any other input.

    Closeness is the sum of the weights of the shared words; a word that fewer of `others` have
    weighs more.

    Args:
        words: words of the first input.
        others: words of the second inputs.
        place: the place of the second input with the same id.
    """
    # A word weighs more if fewer inputs have it.
    inputs_with_word = Counter(word for other in others for word in other)
    weights = {word: log(len(others) / number) for word, number in inputs_with_word.items()}
    closeness = []
    for other in others:
        common_words = words & other
        closeness.append(sum(weights[word] for word in common_words))
    closest = closeness.pop(place)
    return closest > max(closeness)
