"""The order of the battles on an item."""

from collections import deque
from collections.abc import Iterator, Sequence


def chain_pairs(models: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield all pairs of models, many of which begin with the last model of the pair before.

    A battle is judged in the order of its pair and then with the second model first. If the next
    pair begins with this model, the judge's prompts share its response, and a server that keeps
    only its last prompt need not compute it again. In a pair, the model that comes first in
    `models` is first, whatever came before.

    >>> [first + second for first, second in chain_pairs("abcd")]
    ['ab', 'bc', 'cd', 'ac', 'ad', 'bd']
    """
    # For each model, the later models with which its pair is still to come.
    coming = {}
    for place, model in enumerate(models):
        coming[model] = deque(models[place + 1 :])
    for start in models:
        while coming[start]:
            first = start
            while coming[first]:
                second = coming[first].popleft()
                yield first, second
                first = second
