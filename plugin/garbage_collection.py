"""Run Python's cyclic garbage collector less often while many objects are built."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_PER_COLLECTION = 300_000
"""New objects after which the collector runs in a command. They take some thirty megabytes."""


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Run the body with a collection only after `OBJECTS_PER_COLLECTION` new objects.

    A command imports hundreds of modules, whose objects stay. Scanning them again and again takes a
    tenth of the time of a small command.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(OBJECTS_PER_COLLECTION, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


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
