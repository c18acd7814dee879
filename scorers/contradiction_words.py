"""Words of judges' replies that speak against a verdict, or that somebody else says.

This file has only data, like `reply_words`. The rules that use it are in `contradictions`.
"""

DECISION_NOUNS = r"""verdict|winner|decision|(?:final )?answer|choice
|pick|better(?: (?:response|answer|one|option))?|judge?ment|preference
|best(?: (?:response|answer|one))?|urteil|entscheidung|gewinner|décision|gagnante?
|veredicto|ganadora?|decisión|вердикт|победитель|решение|裁决|胜者|结论""".replace("\n", "")
"""Nouns that name a verdict and nothing else, at the beginning of a line before a colon:
`Verdict`, `Final answer`."""
GRADE_NOUNS = "answer|score|rating|grade|verdict|bewertung|note|puntuación|nota|оценка|评分|评级"
"""Nouns that name the rating of one response, at the beginning of a line before a colon."""
UNDECIDED = r"""neither|none|nobody|no one|no winner|no verdict|nothing|undecided
|undetermined|undecidable|unclear|unknown|uncertain|inconclusive|(?:a )?tie
|tied|(?:a )?draw|both|equal|n/a|not applicable|null|pending|tbd|open|withheld
|unsure|depends|it depends|not (?:sure|possible|clear|decided|given|available)
|(?:i )?(?:can ?not|can['’]t) (?:say|tell|decide|judge)
|(?:impossible|hard) to (?:say|tell|decide)|weder|keine[rs]?|beide|unentschieden
|unklar|offen|aucune?|indécise?|égalité|les deux|ninguna|ninguno|ambas|empate
|indecis[oa]|ни один|никто|ничья|неясно|оба|都不|平局|无|不确定""".replace("\n", "")
"""Words in the place of a verdict that choose neither response: `neither`, `a tie`, `n/a`."""
CLOSING_WORDS = r"""final(?:ly)?|overall|result|outcome|conclusion
|in (?:the end|short|sum)|so|thus|or|actually|but|and|rather|there is|it is|it['’]s
|i (?:choose|pick|prefer|say)|fazit|ergebnis|résultat|resultado|итог""".replace("\n", "")
"""Words before an undecided value: `Final: neither`."""
DECIDING = r"""\b(?:final(?:ly)?|overall|results?|outcome|conclusion|verdict|winner
|decision|judge?ment|preference|preferred|prefer|choose|choice|pick|wins?|won|leads?
|loser|fazit|ergebnis|urteil|entscheidung|gewinner|résultat|décision|gagnante?
|resultado|veredicto|ganadora?|decisión|итог|вердикт|победитель|решение)(?!\w)
|\b(?:is|are|was|the) (?:much |clearly )?(?:better|best|worse|worst|stronger|weaker)\b
|\b(?:better|best|stronger) (?:one|response|answer|option)s?\b
|\b(?:which|what)(?: one| response| answer)? (?:is|was|will|should|would) (?:it|that)\b
|\bwho(?:m|se)?\b|\b(?:better|best|superior|preferable)(?: (?:here|overall|one|of|for|to
|than|the|this|two|both|or|worse|user|person|task|reader|instruction|[AB])\b){0,6}\W*\?
|\b(?:deserv|serv|satisf|benefit|recommend|favou?r|trust|rank)\w*
|\bhelp\w*\b[^?\n]{0,40}\b(?:more|most|best)\b
|\b(?:more|most) (?:helpful|useful|valuable|to the (?:user|person|reader))\b
|\banswer[\s*_]*[:：?]|裁决|胜者|结论""".replace("\n", "")
"""Words of a question or heading that asks for the verdict: `Which one is better?`, `Final:`."""
LOSER_WORDS = r"""loser|worse|worst|weaker|weakest|inferior|poorer|rejected
|eliminated|losing|disqualified|schlechtere?|schwächere?|verlierer(?:in)?
|pire|moins bonne|perdante?|peor|perdedora?|худший|слабее""".replace("\n", "")
"""Words that name the worse response: `Loser: A`, `the weaker one`."""
FAULTS = r"""worse|worst|weaker|weakest|inferior|poorer|loser|loses|lost|losing
|wrong|incorrect(?:ly)?|inaccurate|fails?|failed|misses|missed|missing|lacks?
|lacking|incomplete|off[- ]topic|irrelevant|unhelpful|useless|false|bad|poor
|too (?:long|short|vague|verbose|brief|wordy|generic|general)|to (?:be )?avoid(?:ed)?
|reject(?:ed)?|hallucinat\w+|invents|contradict(?:s|ory)|misleading
|confusing|nonsense|lower|second place|runner[- ]?up|eliminated|disqualified
|ignores? (?:the |all|half )?(?:question|instructions?|request|task|prompt|limit|format|user)
|(?:has|contains|makes|with|full of) (?:\w+ ){0,2}(?:errors?|mistakes?)
|less (?:helpful|accurate|complete|correct|useful|clear|relevant|precise|good)
|not (?:as )?(?:good|correct|right|helpful|accurate|complete|better|the|useful|acceptable)
|schlechter\w*|schwächer\w*|falsch\w*|fehlerhaft|pire|moins bonne|fausse|faux|incorrecte
|peor|incorrect[ao]|errónea|хуже|слабее|неверн\w+|ошибочн\w+""".replace("\n", "")
"""Words directly after a verdict that blame the response: `A: misses the point`."""
CHINESE_FAULTS = "更差|较差|错误|不如|不好"
FAULT_NEGATIONS = r"""no|never|nothing|without|fewer|avoids|fixes|corrects|none|neither
|though|although|even|despite|unlike|rather|than|instead|if|isn|doesn|hardly|free|beats
|over|ohne|keine?|sans|sin|без|trotz|obwohl|malgré|aunque|хотя""".replace("\n", "")
"""Words in the same clause that deny a fault or concede it: `A: no wrong dates`."""
INJECTED_INSTRUCTIONS = r"""dear (?:judge|evaluator|grader|reviewer|rater|ai)
|(?:attention|hey|hello|hi),? (?:judge|evaluator|grader)
|(?:an? )?(?:note|message|memo|instructions?|hint|reminder|notice) (?:to|for) (?:the |all |any )?
(?:judges?|evaluators?|graders?|ai|model|reviewers?|raters?)
|(?:the |any |all |as a |as the )?(?:judges?|evaluators?|graders?|raters?)
(?: must| should| shall| has to| have to| is to| are to|, (?:you|please|choose|output|write|answer))
|system (?:note|message|prompt|override|instruction|notice)
|\W*(?:system|admin|developer|override)[\])]? ?[:：]
|(?:please |now |you must )?(?:ignore|disregard|forget)
 (?:all |any |the |your |every |these |of )*(?:previous|prior|above|earlier|other|preceding) \w+
|you (?:must|should|have to|are to|will|need to) (?:choose|select|pick|rate|vote
|give|output|write|answer|print|reply|respond|prefer|declare|judge|conclude)
|(?:please |kindly |always |simply |just )(?:choose|select|pick|rate|vote
|give|output|write|answer|print|reply|respond|prefer|declare|judge|conclude)
|your (?:verdict|answer|output|reply|rating|decision|score) (?:must|should|has to|is to|shall|will)
|output (?:the following|exactly|only)|end of (?:the )?responses?\b""".replace("\n", "")
"""Beginnings of sentences with which somebody else tells the judge what to write: `Dear judge`."""
PAIR_WORDS = r"""both|either|neither|first|second|former|latter|other|two|responses
|answers|each|beide\w*|erste|zweite|andere|antworten?|les deux|réponses?|première|seconde
|ambas|respuestas?|primera|segunda|оба|ответ\w*|перв\w+|втор\w+""".replace("\n", "")
"""Words that speak of the two responses without their letters: `both`, `the former`."""
REPORTING_VERBS = (
    "reads|says|ends|ends with|states|writes|wrote|contains|includes|begins|concludes|closes"
)
"""Verbs after the name of a response that introduce its text."""
RATING_WORDS = """grade grades rating ratings score scores mark marks overall quality total totals
stars points verdict assessment assessments evaluation summary judgement judgment result results
bewertung bewertungen noten gesamt gesamtbewertung note notes globale puntuación nota notas total
оценка оценки 评分 总分"""
"""Words of a heading or label over marks that stand for whole responses: `Overall grades:`."""
TOTAL_WORDS = """overall total totals sum gesamt gesamtnote gesamtwertung gesamtbewertung insgesamt
global globale totale итого 总分 总体 总评"""
"""Words of a label whose marks stand for whole responses, whatever the heading is: `Overall`."""
LABEL_WORDS = """verdict final rating ratings score scores mark marks endnote"""
"""Words of the label of a row or column whose marks stand for whole responses: `Rating`."""
WORDS_IN_LABELS = """a an the my our your own of for in on both two out die der das meine für le la
les el mi pour und and et y per"""
"""Other words of such a label."""
CRITERIA = """accuracy accurate correct correctness complete completeness helpful helpfulness
clarity clear factual factuality facts relevant relevance style format formatting tone depth
adherence adheres follows instruction instructions grammar grammatical fluency fluent polite
politeness short concise conciseness brevity structure structured organized organization sources
cited citations readable readability useful usefulness honest honesty safe safety harmless
harmlessness quality creative creativity detail details detailed logic logical coherent coherence
consistent consistency precise precision reasoning explanation explanations language spelling
layout truth truthful truthfulness valid right works runs compiles faithful faithfulness thorough
thoroughness informative originality original engaging practical actionable up-to-date genauigkeit
korrektheit richtigkeit vollständigkeit klarheit stil ton form inhalt sprache verständlichkeit
exactitude clarté complétude précision claridad exactitud precisión"""
"""Words of a criterion of which more is better."""
TOPIC_NOUNS = """short reasoning explanation general question task review reasons answer analysis
comparison opinion"""
CLOSING_NOUNS = """quality summary grade grades points note notes result results assessment
evaluation"""
"""Words of a label that may name a criterion if another label does.

Those of `CLOSING_NOUNS` sum up if they stand last.
"""
HEADING_WORDS = """here's let's report table tables scoretable card scorecard scorecards
scoreboard sheet scoresheet cards overview matrix glance chart grid side by head-to-head
side-by-side recap rundown wrap wrap-up up outcome outcomes findings bottom line takeaway nutshell
step comparative full complete quick brief following below above gesamtübersicht übersicht tabelle
vergleich vergleichstabelle bewertungstabelle gesamtergebnis zusammenfassung tableau récapitulatif
résumé synthèse bilan aperçu tabla resumen cuadro таблица обзор итоги 表格 总览 总结 对比"""
"""Words of a heading over marks that names no criterion: `Score table`, `Step 3: totals`."""
NEUTRAL_WORDS = """a an the my our your own of for to in on both two each these those here is are
was so final finally short sum conclusion thus therefore hence and while whereas vs versus as
follows i i'd i'll we would will give gives gave award rate judge grade compare let me us now
responses answers outputs assistant analysis comparison review reasons reasoning explanation
question task prompt general whole then also that this it with at view opinion die der das meine
für und finale la le les el mi pour y et antworten réponses respuestas и"""
"""Other words of such a heading, and words before the name of a response: `So response A`."""
TOPIC_STARTS = r"""(?:(?:and|the|my|then) )*(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|next|now)
|as for|as to|regarding|concerning|with regard to|in terms of
|on the (?:one|other)|step|criterion|turning to|looking at""".replace("\n", "")
"""Beginnings of sentences that name a criterion: `As for the layout`."""
CONCESSIONS = """but|however|though|although|yet|still|except(?:ing)?
|apart from|aside|besides|if|unless|until|minus|less|despite|nevertheless
|nonetheless|otherwise|aber|jedoch|mais|cependant|pero|но""".replace("\n", "")
"""Words after a mark that limit it: `good, if dry`."""
OPPOSING_STARTS = """but|however|still|yet|that said|nevertheless|nonetheless|even so
|then again|aber|jedoch|mais|cependant|pero|sin embargo|но|однако""".replace("\n", "")
"""Beginnings of sentences that weigh something more than the marks before them."""
REDEEMING = r"""right|correct(?:ly)?|true|accurate|factual|only|works?|runs?|answers?
|follows?|on topic|richtig|korrekt|juste|exacte?|correct[ao]|верно""".replace("\n", "")
"""Words in a concession that make a low mark weigh little: `weak, yet right`."""
WORDS_FOR_BOTH = r"both|each|neither|all|either|two|they|beide[nr]?|les deux|amb[oa]s|оба|обе"
"""Words with which a sentence speaks of both responses alike."""
RIGHT_WORDS = "right|correct|true|expected|reference|gold|asked"
"""Words for what a response should say: `the right answer is`."""
