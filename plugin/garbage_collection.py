"""Pause Python's cyclic garbage collector while many objects are built."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Run the body without the cyclic garbage collector, if it is on.

    The collector scans all objects again and again while their number grows, which takes half of
    the time to parse a large JSON text. Objects without cycles are freed all the same.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
