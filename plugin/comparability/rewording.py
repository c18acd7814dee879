"""Decide by their words whether two sets of inputs put the same questions in other words."""

import re
from collections import Counter
from collections.abc import Mapping, Set
from math import log

MOST_COMPARED = 50
"""At most this many inputs are compared with each other."""
FEWEST = 4
"""With fewer inputs, nothing is decided."""
LEAST_SHARED = 0.7
"""Least share of the words of the shorter input that the other input of the question has, too."""
LEAST_MATCHED = 0.8
"""Least share of inputs that are closest to the other input of their own id."""
WORD = re.compile(r"\w+")


def are_reworded(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Return whether inputs with one id are about the same questions in other words.

    They are if most inputs share most of their words with the other input of their id, and are
    closer to it than to the input of any other id. Words that few inputs have weigh more.

    Args:
        first: inputs of one run by id.
        second: inputs of another run by id.

    Returns:
        Whether they are; False if too few ids are in both runs.
    """
    ids = [item for item in first if item in second][:MOST_COMPARED]
    if len(ids) < FEWEST:
        return False
    ours = [_words_of(first[item]) for item in ids]
    others = [_words_of(second[item]) for item in ids]
    numbers = Counter(word for words in others for word in words)
    weights = {word: log(len(ids) / number) for word, number in numbers.items()}
    matched = sum(_is_matched(words, others, place, weights) for place, words in enumerate(ours))
    return matched >= LEAST_MATCHED * len(ids)


def _words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case."""
    return frozenset(WORD.findall(text.lower()))


def _is_matched(
    words: Set[str], others: list[frozenset[str]], place: int, weights: Mapping[str, float]
) -> bool:
    """Return whether the input at a place is the one that is closest to these words.

    Args:
        words: words of the first input.
        others: words of the second inputs.
        place: the place of the second input with the same id.
        weights: weights of the words of the second inputs.
    """
    shared = words & others[place]
    if len(shared) < LEAST_SHARED * min(len(words), len(others[place])):
        return False
    closeness = [sum(weights[word] for word in words & other) for other in others]
    own = closeness.pop(place)
    return own > max(closeness)
