"""Sentences in which a judge says that a text before or after them is that of a response.

Such a sentence names a response or a part of it, has a word for wording (`reads`, `ends`, `claims`,
`copy`) and leaves out what is said: it points to the text, as `this` and `as follows` do, or ends
with the verb. A sentence that says it itself, such as `A claims that 7 is even.`, introduces
nothing.
"""

import re

from podium.scorers import attribution_words as words
from podium.scorers.reply_structure import MASK

LONGEST_SENTENCE = 300
"""Longer sentences are not searched: their patterns would take long."""
SOURCE = (
    rf"(?:(?:the |la |el |die |der |de |van |von |di |da )?(?:{words.RESPONSES})"
    r"(?:[ _]?(?-i:[AB])(?![A-Za-z0-9_]))?(?:['’]s)?"
    r"|(?<![\w'’])(?-i:[AB])(?![A-Za-z0-9_]|['’](?!s\b))(?:['’]s)?)"
)
"""A response by a noun, by its letter, or by both: `the response`, `A's`, `Response B`."""
PART_OF_SOURCE = (
    rf"(?:(?:{words.PARTS})(?: \w+)?(?: (?:of|from|in|de|von|van|di|da))? {SOURCE}"
    rf"|{SOURCE}(?<=['’]s) (?:\w+ ){{0,2}}(?:{words.PARTS}))(?!\w)"
)
"""A part of a response, such as `the end of response B` or `A's last line`."""
NAMES_SOURCE = re.compile(rf"(?i){SOURCE}")
"""A response, as `SOURCE`, in any case."""
WORDING = re.compile(
    rf"(?i)\b(?:{words.WORDING_VERBS}|{words.PARTS})(?!\w)|(?:{words.ASIAN_VERBS})"
)
"""A verb or noun with which somebody's words are told, such as `says` or `line`."""
STRONG_POINTER = re.compile(
    rf"(?i)\b(?:{words.STRONG_POINTERS})(?!\w)|(?:{words.ASIAN_STRONG_POINTERS})"
    rf"|\b(?:{words.DEMONSTRATIVES}) (?:{words.PARTS})\W*\Z"
)
"""Words that say that a text follows, whatever the verb of their sentence is: `as follows`."""
SPEAKING_END = re.compile(rf"(?i)\b(?:{words.SAYING_VERBS})(?: \w+){{0,3}}\W*\Z")
"""A verb before a colon, perhaps with the person it speaks to: `asks me`."""
POINTER = re.compile(
    rf"(?i)\b(?:{words.POINTERS})(?!\w)|(?:{words.ASIAN_POINTERS})"
    rf"|\b(?:{words.POINTERS_AT_END})\W*\Z"
)
"""Words that point to a text: `as follows` anywhere, `this` only at the end of the sentence."""
OPEN_VERB = re.compile(rf"(?i)\b(?:{words.SAYING_VERBS})[^\w.!?]*\Z")
"""A verb at the end of a line without a full stop, whose object is the text that follows."""
COPYING = re.compile(
    r"(?i)\b(?:i|let me|let us|to)(?:['’]\w+)?(?: (?!not\b)\w+){0,2}? "
    rf"(?:{words.COPYING_VERBS})\b"
    rf"[^.!?]*?{SOURCE}|\A\W*(?:{words.COPY_STARTS})(?!\w)[^.!?]*{SOURCE}"
    rf"|{SOURCE}[ ,(–—-]*(?:in full|unchanged|verbatim|word for word)\W*\Z"
)
"""`I copy the end of B`, `Excerpt from response A`, `Response A in full`."""
PLAYED_ROLE = re.compile(
    r"(?i)\A(?!.*(?:n['’]t|\bnot|\bnever)\b).*?"
    rf"{SOURCE}(?:[^.!?]* (?:{words.JUDGES})(?!\w)"
    rf"|(?: \w+){{0,2}}? (?:(?:{words.PRETENDING_VERBS})(?!\w)"
    rf"|(?:{words.ADDRESSING_VERBS}) (?:[^.!?]* )?(?:{words.JUDGE_WORDS})(?!\w)))"
)
"""A response plays the judge, speaks to it, or gives a verdict: `B asks me which is better`."""
FOUND_IN_SOURCE = re.compile(
    rf"(?i)\b(?:this|these|those|that|it|the following)\b[^.!?,;]{{0,40}}\b(?:in|from|of|at) "
    rf"(?:[^.!?,;]{{0,40}}\b(?:of|in) )?{SOURCE}\W*\Z"
)
"""A sentence that says where a text stands: `I found this in response B.`"""
PART_ALONE = re.compile(rf"(?i)\W*(?:the |a )?(?:\w+ ){{0,3}}?{PART_OF_SOURCE}\W*(?:\Z|[,(–—-])")
"""A line that only names a part of a response: `(the last line of response A, word for word)`."""
SOURCE_ALONE = re.compile(
    rf"(?i)\s*(?:--+|[—–]|-(?= ))\s*(?:from )?{SOURCE}\W*\Z"
    rf"|\W*(?:{words.COPY_STARTS})(?!\w)[^.!?\n]{{0,30}}?{SOURCE}\W*\Z"
)
"""A last line that names the author of the text above it: `-- Response A`, `Source: response A`."""
THAT_IS_SOURCE = re.compile(
    rf"(?i)[^\w\n]*(?:(?:{words.BACKWARD_POINTERS})(?: \w+){{0,2}}? |\A)?(?:is|are|was|were|stands?"
    r"|appears?|comes?|belongs?|occurs?)(?: (?:only|just|all|exactly|merely|also))*"
    rf" (?:(?:how|what|where|which) (?:\w+ )?{SOURCE}(?: \w+){{0,2}}?"
    rf" (?:{words.WORDING_VERBS})(?!\w)"
    rf"|(?:in |at |from )?(?:the )?(?:\w+ ){{0,2}}?{PART_OF_SOURCE}(?!\w)"
    rf"|(?:in|from|to) {SOURCE}|(?-i:[AB])['’]s\b|the (?:{words.RESPONSES})['’]s\b)"
    rf"|[^\w\n]*(?:{words.BACKWARD_ADVERBS})(?: \w+)? (?:{words.WORDING_VERBS})(?!\w)"
    rf"|[^\w\n]*(?:{words.BACKWARD_WORDS})\b[^.!?]*{SOURCE}|(?:{words.ASIAN_BACKWARD})"
)
"""A sentence that says whose words stand before it: `This is how response B ends.`"""
FINAL_SIGNS = f" \t\r*_`~{MASK}"
"""Blanks, emphasis and masks, which are removed from the end of a sentence."""
SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")


def introduces_text(sentence: str) -> bool:
    """Return whether a sentence says that the text of a response follows.

    It does if it names a response and has words that point to a text, such as `I copy`, `as
    follows` or `reads` at its end, or if it only names a part of a response, or says where a text
    stands. The result is False for more than 300 characters.

    Args:
        sentence: the last sentence of a line, with its final sign.
    """
    bare = sentence.rstrip(FINAL_SIGNS)
    if len(bare) > LONGEST_SENTENCE or not NAMES_SOURCE.search(bare):
        return False
    if COPYING.search(bare) or OPEN_VERB.search(bare):
        return True
    if THAT_IS_SOURCE.match(bare) or PART_ALONE.match(bare) or FOUND_IN_SOURCE.search(bare):
        return True
    if STRONG_POINTER.search(bare):
        return True
    return WORDING.search(bare) is not None and POINTER.search(bare) is not None


def plays_judge(sentence: str) -> bool:
    """Return whether a sentence says that a response speaks as the judge, or to the judge.

    The result is False for a sentence of more than 300 characters.

    Args:
        sentence: the last sentence before a text that may be the response's.
    """
    return len(sentence) <= LONGEST_SENTENCE and PLAYED_ROLE.search(sentence) is not None


def speaks(clause: str) -> bool:
    """Return whether a clause before a colon says that a response speaks: `B then asks me`."""
    return NAMES_SOURCE.search(clause) is not None and SPEAKING_END.search(clause) is not None


def attributes_text_before(after: str) -> bool:
    """Return whether the first or the last sentence of a text says whose words stand before it.

    Args:
        after: the text after a verdict, from its end on.
    """
    sentences = [match[0] for match in SENTENCE.finditer(after) if match[0].strip(FINAL_SIGNS)]
    if not sentences:
        return False
    return _attributes(sentences[0]) or _attributes(sentences[-1])


def _attributes(sentence: str) -> bool:
    """Return whether a sentence says that the text before it is a response's.

    A sentence that would introduce a text after it (`introduces_text`) counts, too. The result is
    False for more than 300 characters.
    """
    if len(sentence) > LONGEST_SENTENCE:
        return False
    if THAT_IS_SOURCE.match(sentence) or SOURCE_ALONE.match(sentence):
        return True  # such a sentence need not name the response: `above you have its words`
    return introduces_text(sentence)
