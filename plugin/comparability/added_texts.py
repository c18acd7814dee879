"""Find the texts that runs put around the same questions, where these are part of the inputs."""

import re
from collections.abc import Mapping, Sequence

from podium.comparability.asked_items import normal_words
from podium.wording import shared_length

FEWEST_QUESTIONS = 3
"""With fewer different questions in all runs, nothing is decided."""
QUESTION = "{input}"
"""Stands for the question in a template."""
BLANK = re.compile(r"\s")
"""A blank or line break."""
NUMBER = re.compile(r"\d+")


def templates_around_questions(inputs: Sequence[Mapping[str, str]]) -> list[str] | None:
    """Return the template by which each run made its inputs of the questions.

    An input is a text before the question, the question, and a text after it. The two texts are the
    same in all inputs of a run. The questions are the same in all runs, by id. What the texts of
    all runs have next to the question counts as part of the question.

    Args:
        inputs: some inputs of each run, by the ids of the items.

    Returns:
        The templates, in the order of the runs, in which `{input}` stands for the question. None if
        the inputs were not made so, if all runs have the same template, if too few ids are in all
        runs (`FEWEST_QUESTIONS`), if a question is empty, or if too few questions differ. Those
        that differ only in a number, which may be that of the item, count as one.
    """
    ids_in_all = set(inputs[0]).intersection(*inputs[1:])
    ids = [item for item in inputs[0] if item in ids_in_all]
    if len(ids) < FEWEST_QUESTIONS:
        return None
    texts = []
    for inputs_of_run in inputs:
        texts.append([inputs_of_run[item] for item in ids])
    before = _different_beginnings(texts)
    # The texts after the question are the beginnings of all texts read backwards.
    backwards = [_read_backwards(texts_of_run) for texts_of_run in texts]
    after = _read_backwards(_different_beginnings(backwards))
    questions = set[tuple[str, ...]]()
    templates = []
    for texts_of_run, first, last in zip(texts, before, after, strict=True):
        cores = []
        for text in texts_of_run:
            start = len(first)
            end = max(len(text) - len(last), start)
            cores.append(text[start:end])
        questions.add(tuple(map(normal_words, cores)))
        templates.append(normal_words(f"{first}{QUESTION}{last}"))
    if len(questions) > 1 or len(set(templates)) == 1:
        return None
    questions_of_all_runs = questions.pop()
    return templates if _are_questions(questions_of_all_runs) else None


def _are_questions(texts: Sequence[str]) -> bool:
    """Return whether texts are questions, at least `FEWEST_QUESTIONS` different ones.

    An empty text is no question. Texts that differ only in a number count as one, since it may be
    the number of the item, unless each text has several numbers.
    """
    have_several_numbers = all(len(NUMBER.findall(text)) > 1 for text in texts)
    compared = texts
    if not have_several_numbers:
        compared = [NUMBER.sub("", text) for text in texts]
    return all(texts) and len({*compared}) >= FEWEST_QUESTIONS


def _common_beginning(texts: Sequence[str]) -> str:
    """Return the longest text with which all texts begin."""
    # All texts begin as the first and the last of them in order do.
    first, last = min(texts), max(texts)
    return first[: shared_length(first, last)]


def _common_end(texts: Sequence[str]) -> str:
    """Return the longest text with which all texts end."""
    (end,) = _read_backwards([_common_beginning(_read_backwards(texts))])
    return end


def _read_backwards(texts: Sequence[str]) -> list[str]:
    """Return each text with its characters in reverse order."""
    return [text[::-1] for text in texts]


def _different_beginnings(texts: Sequence[Sequence[str]]) -> list[str]:
    """Return the text with which all texts of a run begin, for each run, as far as runs differ.

    The beginnings of the runs may have an end in common. This end belongs to the questions, and is
    left out. If it begins within a word of some run, only what follows its first blank is left out.
    """
    beginnings = [_common_beginning(texts_of_run) for texts_of_run in texts]
    end = _common_end(beginnings)
    different = [beginning.removesuffix(end) for beginning in beginnings]
    if any(beginning and not beginning[-1].isspace() for beginning in different):
        blank = BLANK.search(end)
        end_after_blank = end[blank.end() :] if blank else ""
        different = [beginning.removesuffix(end_after_blank) for beginning in beginnings]
    return different
