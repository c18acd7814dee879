"""Words of lines in a judge's reply that introduce a text of others or the judge's own verdict.

This file has only data, like `reply_words`. The rules that use it are in `introduced_texts`.
"""

SOURCES = r"""its|it(?= (?:\w+s|was|had|wrote|said|added|put|ended)\b)|(?<!each )response(?:_[ab])?
|(?<!each )answer|first|second|one|author|writer|rival|candidates?|texts?|lines?|words?|message
|passage|paragraph|sentence|block|session|log|transcript|comments?|docstring|code|function|script
|translat\w+|footnote|note|footer|ending|tail|quot\w+|dialogue|scene|email|letter|attempts?
|examples?|samples?|output|instruction|antwort|réponse|respuesta|risposta|resposta|ответ\w*""".replace(
    "\n", ""
)
"""Responses, their parts and other people, as the source of a text."""
PARTS = (
    "part|end|ending|excerpt|beginning|rest|tail|copy|copied|quoted|text|lines?|paragraph|section"
)
"""Parts of a response, in a heading such as `Response A (last part)`."""
CHINESE_SOURCES = "回答|原文|内容"
OWN_DECISIONS = r"""\b(?:my|our)
(?: \w+){0,3} (?:verdict|decision|answer|choice|level|label|grade|score|scores|scoring|rating
|evaluation|assessment|judge?ment|conclusion|reasons?|reasoning|analysis|number|marks?)\b
|\bi (?:have |therefore |hence |thus |now )?(?:decided?|choose|chose|compared?
|scored?|rated?|graded?|weigh(?:ed)?|evaluated?|prefer|pick|conclude|judged?)\b
|\bhere(?:['’]s| is| are) (?:the |an? )?(?:\w+ )?
(?:verdict|decision|scores?|rating|evaluation|assessment|json|grade|level|label)\b
|\bwhich (?:response|answer|one) is better\b
|\b(?:strengths?|weakness(?:es)?|pros|cons|advantages|reasons?|explanation|justification
|analysis|(?:key |main )?differences?|errors?|mistakes?|flaws?|faults?|problems?
|issues?|gaps?|shortcomings?|merits?|points?|observations?)\W*\Z""".replace("\n", "")
"""Words of a line that introduces the judge's own scores, reasons or verdict: `my verdict`,
`I chose`."""
COPIES = r"""line by line|by lines|word (?:for|by) word|verbatim|in full|copied
|as (?:it was )?given to me|(?:the )?following|these (?:lines|words)|as follows""".replace("\n", "")
"""Words which say that a text follows, although their sentence is complete: `verbatim`,
`as follows`."""
RESPONSES_OF_JUDGE = (
    r"(?:this|the|that) (?:response|answer|block|line|text)|responses|both|neither|the instruction"
)
"""Words with which a judge speaks of the responses, after the text of one of them: `this response`,
`both`."""
