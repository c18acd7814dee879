"""Words of judges' replies in English, German, French, Spanish, Russian and Chinese.

This file has only data: lists of words, and patterns with `|`. The rules that use them are in
`verdict_statements`, `comparisons` and `reply_reader`. The line breaks in patterns are only there
to wrap them and are deleted.
"""

ROLES = r"user|human|system|operator|nutzer|utilisateur|usuario|пользователь|用户"
"""Speakers other than the judge. A reply with a line such as `User:` is a conversation."""
VERDICT_NOUNS = """answer verdict decision choice winner pick conclusion judgment judgement
preference result rating score scores grade level label evaluation assessment ranking ratings
final total quality mark category word selection punkte vote summary sum point edge nod points
scoring output json letter selected chosen best better preferred stronger superior antwort urteil
entscheidung fazit ergebnis bewertung note stufe wahl wertung besser bessere beste réponse choix
niveau évaluation notes jugement meilleure meilleur respuesta veredicto nota notas puntuación
puntuaciones nivel calificación valoración mejor ответ вердикт решение вывод выбор оценка оценки
уровень итог лучше лучший gesamtpunktzahl gewinner décision gagnant gagnante decisión conclusión
ganador ganadora puntaje победитель балл баллы risposta verdetto giudizio scelta decisione migliore
punteggio voto valutazione resposta veredito decisão escolha melhor pontuação avaliação antwoord
oordeel keuze beter conclusie cijfer odpowiedź werdykt wybór lepsza ocena cevap yanıt karar puan
mean average noten punteggi beoordeling oceny الإجابة الجواب
verdikt vencedor vencedora vincitore winnaar 답 답변 판정 결론 점수 평가"""
"""Nouns and adjectives that name a verdict before its value: `Final answer: A`."""
# Verbs and phrases that give a verdict: `I choose A`.
DECIDING_VERBS = """choose select prefer go give rate scored rated graded decide chose i'd i'll
wähle nehme gebe vergebe entscheide bewerte choisis préfère préfere donne elijo prefiero выбираю
ставлю предпочитаю оцениваю it's that's say call deserves gets earns consider conclude place lean
arrive settle dirais diría makes"""
RATING_WORDS = (
    "rate grade score scored rated graded give scores rating point note notes bewerte vergebe donne"
)
"""Words for ratings. They do not say that a letter after them was chosen, as in `Score A: 7`."""
CONNECTIVES = """sure okay ok all short whole margin balance klar definitely clearly certainly
surely obviously still nevertheless nonetheless anyway so thus hence therefore overall finally
ultimately consequently accordingly also
daher deshalb donc ainsi así поэтому leaning think believe hmm together
consideration comparison quindi portanto dus zatem"""
"""Words that lead from the reasons to the verdict."""
INTRODUCTORY = """even put appropriate я yo i my our the a an this that it here here's is are be
will with for as at to of on in from and own both two one six five criteria criterion responses
assistant great well everything considered considering weighing based reasoning analysis things
following follows below correct right having compared object requested which serves fits user
person set out scale opinion view looking these those compare comparing comparison reasons after
i'm would then me let fine yes clear case think believe find feel now up between taking together
more most helpful accurate complete useful precise relevant careful only strong reason
consideration rubric have que de est meinung meiner nach sie there beider antworten réponses
respuestas ответов deux brief towards toward narrow slight bit should würde hier im format why
one's estas beide sind les ambas оба ответа slightly somewhat significantly considerably choisi much
marginally equally equal tie good weighed mit à cette está lui un ich mein meine die der das den
ist für auf und am ganzen lautet je mon ma mes la le voici sont pour et en sur définitive
définitif mi mis el los las es aquí esta este están son para por y definitiva sobre моя это вот за
и на из по критериям оценок
kriterien critères criterios noten notes line demandée ecco aqui estão comparing instruction taken
filled il è é o meu minha mio you asked
mia het mijn jest moja finale seconda prima due entrambe ambos"""
"""Other words that may stand before the value in the judge's own sentence.

A sentence with any word outside of these lists is about something else, such as what a response
says or what another judge would answer.
"""
# The same as `INTRODUCTORY`, in Chinese and Japanese.
CHINESE_INTRODUCTORY = """所以|综上|我的|我|的|最终|更好|回答|答案|结论|选择
|选|是|评分|得分|分数|打分|评级|等级|判断|裁决|胜者|获胜者|评价|评估|给|为
|以下|如下|分|对|两个|这个|判决|答え|判定|点数|評価|評点|結論|スコア|最終
|総合|勝者|の|は|が|です|よって|したがって|以上より|私の""".replace("\n", "")
RESPONSE_NOUNS = """response answer option candidate model antwort réponse respuesta ответ 回答
答案
risposta resposta antwoord odpowiedź cevap yanıt 응답"""
"""Nouns before a letter that names a response: `Response A`."""
PREPOSITIONS = """than|of|to|in|by|with|from|and|or|for|like|over|as|at|on
|does|als|von|in|bei|und|que|de|dans|et|en|con|y|чем|в|у|и""".replace("\n", "")
"""Words before the name of a response that is not the subject, as in `better than B`."""
SENTENCE_TAILS = (
    r"here|overall|in the end|it is|by (?:far|[\w ]{1,20} margin)|narrowly|hier|ici"
    r"|points?|punkten?|分"
)
"""Words that may stand between a verdict and the end of its sentence: `A by far.`"""
TIES = r"equivalent|(?:a )?ties?|tied|(?:a )?draw|equal"
"""Words for a tie in the place of a letter."""
# Sentences which say that neither response is better.
EQUAL = r"""\bneither(?: (?:response|answer|one|of (?:them|the two)))? is (?:\w+ ){0,2}better
|\b(?:both|they|the (?:two|responses)|these)(?: (?:two|responses|answers))?
(?: are|['’]re) (?:\w+ ){0,2}(?:equal(?:ly (?:good|bad|strong|helpful|well\b)|\b(?!ly))|tied
|level\b|on a par|the same\b|equivalent|identical)|\bthey say the same\b|\bno clear winner\b
|\bno (?:real |relevant )?(?:difference|preference)\b(?! for (?:response )?[abc]\b)
|\b(?:it|this|that)(?:['’]s| is) a (?:tie|draw)\b|(?:\A|(?<=\n))tie[,.!]
|(?:\A|(?<=\n))equally good\b|\bgleich gut\b|\bégalement bonnes\b
|\bse valent\b|\bigual de buenas\b|\bодинаково хорош\w*""".replace("\n", "")
FIRST = """(?:response |answer )?(?:first|former)(?: (?:response|answer|one|text|letter))?
|erste(?: antwort)?|première(?: réponse)?|primera(?: respuesta)?
|перв(?:ый|ая|ое)(?: ответ)?|第一个(?:回答)?""".replace("\n", "")
SECOND = """(?:response |answer )?(?:second|latter)(?: (?:response|answer|one|text|letter))?
|zweite(?: antwort)?|(?:seconde|deuxième)(?: réponse)?|segunda(?: respuesta)?
|втор(?:ой|ая|ое)(?: ответ)?|第二个(?:回答)?""".replace("\n", "")
"""Names of the responses without letters, such as `the first answer`: `FIRST` and `SECOND`."""
# Verbs such as `is` and `seems` between the name of a response and `better` or `worse`.
COPULAS = (
    "is|was|remains|seems|'s|has to(?: be)?|must(?: be)?|should(?: be)?|deserves?(?: to)?"
    "|ist|est|reste|es|è|é|jest"
)
BETTER = r"""better|best|stronger|superior|preferable|winner|preferred|ahead
|besser\w*|beste\w*|überlegen|vorzuziehen|stärker|meilleure?|supérieure?|préférable
|mejor|preferible|лучш\w+|сильнее|migliore|melhor|beter|lepsza""".replace("\n", "")
WINS = rf"""(?:{COPULAS})[ ,]+(?:not only \w+ but )?(?:(?!(?-i:[AB])\b|but\b|not\b)\w+[ ,]+){{0,4}}?
(?:{BETTER}|win|right(?! (?:but|and)\b)|richtig|juste|correcta)\b(?!-\w)
|(?:is|would be|wäre|ist|est|es) (?:my|meine?|mon|mi) (?:\w+ )?
(?:choice|pick|preference|favou?rite|wahl|choix|elección)\b
|is (?:what|the one)(?: that)? i(?:['’]d| would)? (?:pick|choose|prefer)\b|should have won\b
|deserved\b|is the (?:only )?one (?:that|which|who) (?:\w+ ){{0,3}}?(?:right|correct(?:ly)?|works)\b
|(?:(?:clearly|easily|just|simply) )?(?:wins|beats|outperforms|surpasses|gewinnt
|schlägt|gagne|l['’]emporte|gana|supera|выигрывает|побеждает|превосходит)\b
|(?:does|gets|has) (?:both|all|everything) right\b
|(?:gets|has|takes|deserves) (?:the|an?|my) (?:\w+ )?(?:nod|vote|edge|advantage|win)\b
|comes? out (?:ahead|on top)\b|(?:narrowly |just )?(?:edges|pulls|inches) (?:ahead|it)\b
|does (?:a|the) (?:\w+ )?better job\b|serves the \w+ (?:\w+ )?(?:better|best)\b
|(?:(?!nicht|wäre|würde)\w+ ){{0,2}}?(?:besser|vorzuziehen|лучше|сильнее)\b
|(?:(?!\b[AB]\b)[^.!?\n]){{0,70}}?\b(?:far|much|clearly|plainly|klar|deutlich|nettement
|bien|claramente) (?:better|superior|besser|meilleure?|mejor)\b""".replace("\n", "")
"""Predicates of the better response, such as `is clearly better`, after its name."""
# Predicates of the worse response, such as `is clearly worse`, after its name.
LOSES = rf"""(?:{COPULAS})[ ,]+(?:(?!(?-i:[AB])\b|but\b|not\b)\w+[ ,]+){{0,4}}?(?:worse|worst
|weaker|inferior|wrong|worthless|empty|(?:complete|total|utter) (?:failure|disaster)|loser|useless
|schlechter|schwächer|falsch|unterlegen|pire|moins bonne|inférieure|fausse|peor|incorrecta)\b
|loses\b|fails(?=[.,;]|\Z| but\b| and\b| while\b)
|(?:is|was) incorrect\b(?=[.,;]|\Z| but\b| and\b| while\b)|lost\b
|fails (?:\w+ ){{0,3}}?(?:completely|entirely|utterly|on all|on every|at all)
|(?:\w+ ){{0,2}}?(?:хуже|слабее|неверен|проигрывает)\b""".replace("\n", "")
# `better` before a name, as in `Better: A` or `The best answer is B`. The lookbehinds leave out
# `B is much better: A lists no steps`, where `better` is about the name before it.
BETTER_BEFORE_NAME = (
    r"(?<!\bis )(?<!\bfar )(?<!\bmuch )(?<!ly )(?:better|best)(?: one| response| answer| choice)?"
    r"(?: is|:)"
)
PREFERS = rf"""(?:prefer|go(?:ing)? (?:with|for)|choose|pick|take|select|vote for|give it to
|favou?r|choosing|picking|picked|chose|selected|preferred|meant?|served by|goes to
|{BETTER_BEFORE_NAME}|winner(?: is|:)|(?:es )?gewinnt|bevorzuge|nehme|wähle|meinte|meine
|bessere(?: antwort)?(?: ist|:)|préfère|choisis|meilleure(?: réponse)?(?: est|:)|prefiero|elijo
|gana(?: la)?|mejor(?: respuesta)?(?: es|:)?|выбираю|лучше(?:,? \w+,?)?)""".replace("\n", "")
"""Words directly before the name of the preferred response: `I prefer`, `the winner is`."""
# Words before the only response that does something: `only A works`.
ONLY = "only|nur|seul|seule|solo|sólo|только"
WINS_WORDS = """better best stronger superior preferable winner preferred win right ahead deserved
correct correctly works wins beats outperforms surpasses nod vote edge edges pulls inches
advantage top won besser
beste besten bessere überlegen vorzuziehen stärker richtig gewinnt schlägt meilleure meilleur
supérieur supérieure préférable juste gagne emporte mejor preferible correcta gana supera
migliore melhor beter lepsza лучше
лучший лучшая сильнее выигрывает побеждает превосходит worse worst weaker inferior wrong loser
useless worthless empty failure disaster loses fails lost incorrect schlechter schwächer falsch
unterlegen pire
moins inférieure fausse peor incorrecta хуже слабее неверен проигрывает choice pick wahl choix
elección"""
PREFERS_WORDS = """prefer preferred go going choose choosing chose pick picking picked take select
selected vote favor favour mean meant served goes give better best winner gewinnt bevorzuge nehme
wähle meinte meine bessere préfère choisis meilleure prefiero elijo gana mejor выбираю лучше"""
HYPOTHETICAL = r"""\b(?:best|highest|top|maximum|lowest|worst) (?:possible )?
(?:grade|score|rating|level|mark|label|number) (?:would|could|might)\b|\bwith(?:out)? (?:\w+ ){1,6}?
(?:it|this|the (?:response|answer|text)) (?:would|could|might)\b""".replace("\n", "")
"""Words before a value that state a possible value, as in `With sources it would be`."""
EQUAL_WORDS = """neither equally equal tied level par same difference preference tie draw clear
equivalent identical gleich également valent igual одинаково"""
"""Words of the three kinds of comparisons: `WINS_WORDS` (also of losing), `PREFERS_WORDS` and
`EQUAL_WORDS`. A sentence without any of them is no comparison."""
# The same as `WINS`, in Chinese and Japanese.
CHINESE_WINS = """(?:在?各?[个方面]*|明显|显然|都|要|是|の方が|のほうが
|がより|より|比回答[AB]|比第[一二]个(?:回答)?|准确|完整|而|，|,)*(?:良い
|よい|いい|優れ|更好|优于|更优|胜出|好得多|好)""".replace("\n", "")
CONCEDES = r"""\b(?:if|although|though|asks?|tells?|urges?|orders?|instructs?|begs?
|demands?|tries|attempts?|claims?|says|insists|argues?|in terms of|as regards|regarding
|when it comes to|while|even if|whereas|unless|would|could|might|had|may|tempted|not
|(?:is|would|wo|do|did|does|ca|could|should)n['’]t|cannot|neither|nor|granted|thought|seemed
|looked|first|initially|wenn|obwohl|zwar|wäre|würde|nicht|si|bien que|quoique|même si|serait
|aunque|sería|si bien|если|хотя|был бы|было бы|не)\b|如果|虽然|尽管|若|不""".replace("\n", "")
"""Words before a comparison that turn it into a condition or a concession, or negate it: `If`,
`although`, `isn't`."""
NEGATIONS = r"""\b(?:not(?! only| just)|never|hardly|by no means|in no way|no worse|less
|far from|nowhere near|no better|second best|nicht|pas|nunca|не)\b""".replace("\n", "")
"""Words inside a comparison that negate it: `not`, `no better`."""
# The other response after a comparison, if it is named: `than B`.
THAN = r"(?:\s+(?:than|to|als|que|чем)\s+(?:the other(?: one)?|(?:response\s+)?[AB]\b)[*_]*)?"
ASPECTS = rf"""{THAN}\s+(?:response\s+|one\s+)?(?:at|in|on|for|when|where|with|as far|if
|before|until|is|was|than (?:nothing|expected|usual|before|i)|to(?! (?:response )?[AB]\b)
|only|written|structured|formatted|worded|organi[sz]ed|laid out|looking|documented|presented
|phrased|sourced|explained|argued|known|bei|in|im|pour|en|dans|para|в|по)\b""".replace("\n", "")
"""Words after a comparison that limit it to one aspect: `A is better than B at grammar`."""
# Words after a comparison which say that it holds for all aspects: `A is better in every way`.
EVERY = rf"""{THAN}\s+(?:\w+\s+)?(?:at|in|on|for|by|bei|en|dans|à|in|по|во)\s+
(?:every\w*|all\w*|each|any|most|jede\w+|tou[ts]\w*|tod\w+|вс\w+)\b""".replace("\n", "")
ABOUT_NEXT = r"""\bi (?:won['’]t|can(?:no|['’])?t|refuse to|am (?:not able|unable) to
|will not|must not|do not|don['’]t|should not) (?:\w+ ){0,2}?(?:give|judge|score|rate
|choose|pick|decide|compare|answer|evaluate|assign|assess|say(?! that)|write|end|call)\b
|(?:\A|[.!?] )\W*(?:imagine|pretend|let['’]s say|suppose|assume)\b
|\b(?:(?:next|following) (?:line|words?|one|verdict|letter|label|object|text|is|was|came)
|(?:the|as) follow(?:ing|s)|line below|what follows|this is (?:how|what)
|(?:closes|ends|finishes|concludes)\W*\Z|(?:do|does) not concern
|(?:earlier|previous|other|another) (?:run|log|task|pair|evaluation)
|not (?:mine|my own|written|by me|from me)
|(?:do not|don['’]t) (?:count|use|read|trust|take(?! (?:this|that|it|them) (?:over|into)))
|placeholder|(?<!not )(?<!n['’]t )test(?:ing)? the|(?:of|by|from) (?:the |an? )?
(?:first|second|other|another|previous|earlier) (?:rater|judge|grader|reviewer)|still to come|draft
|devil['’]s advocate|(?:drawn|chosen|picked) (?:at random|by)|not an? (?:answer|verdict|rating)
|for the sake of|nächste zeile|folgende[ns]?|entwurf|zählt nicht|ligne suivante|ce qui suit
|suivant[es]*|brouillon|línea siguiente|lo siguiente|borrador|следующ\w+|черновик)\b
|(?:e\.g|z\. ?b|p\. ?ej)\.\W*\Z|下一行|以下内容|草稿|下面这|不是最终""".replace("\n", "")
"""Phrases which say that the next line is not the judge's own verdict, or that introduce it."""
OPEN_ENDS = """is are was were be been reads read says said say write wrote written writes writing
print prints printed give gives gave given had have has to with into as by a an the of at on like
such answer answers pick choose find finds believe believed think thought call called state states
stated stating conclude concludes claim claims put puts that which from for in will would should
must could might not verdict decision following so me bekomme lautet heißt hieße steht sagt
schreibt schreiben geschrieben mit ist war wäre würde meinte schrieb auf zu und dass disait dit
est était serait dirait écrire écrit par avec que donne lit termine à de es era sería dice diría
decir escribir escriba con pide termina dijo escribí написал написать пишет сказал говорит ставит
так был было бы что"""
"""Words, at the end of a line without a full stop, whose sentence goes on in the next line."""
# Words with which a judge speaks of itself.
SELF_REFERENCE = r"""\b(?:i|me|my|mine|myself|we|ich|mir|mich|mein\w*|je
|j['’]|moi|mon|yo|mi|he|я|мне|мой|моя|меня)(?!\w)|我|本人""".replace("\n", "")
# Phrases with such words that only explain the verdict: `I checked both`.
HARMLESS_SELF_REFERENCE = r"""\bi hope\b[^.!?\n]*|\blet me know\b[^.!?\n]*
|\b(?:i|we)(?:['’](?:ve|d))?(?: (?:have|had|would|could|did|do|can|might|must|should|also|still
|simply|just|only|then|\w+ly))*(?:(?:n['’]t| not)(?: (?:have|let|be))?(?: \w+ly)? (?:check
|count|verify|validate|confirm|run|test|execute|compile|open|access|measure|follow\w*
|(?:take|let) .{0,60} (?:into account|influence)|obey\w*|find|found|see|seen|consider\w*|tell)
| (?:(?:check|count|test|verif|notic|weigh|compar|look|lik|miss|scor|deduct|ignor|disregard
|valu|think|believ|add|read|expect|judg|evaluat|treat|grant|admit|search|consider)\w*
|ran|find|found|see|saw|(?:picked|chose|selected|preferred) (?:response )?[ab]\b
|(?:took|take) (?:\w+ )?(?:\w+ )?(?:points?|off)|gave|left?|leave|thought|say
|note|want|(?:would )?(?:am |['’]m )?(?:happy|glad) to (?:explain|elaborate|help)
|have (?:given|called|rated|scored|chosen|liked|wanted|preferred|called|wished)))\b
|\b(?:in|to) my (?:view|opinion|eyes|reading|mind)\b|\bmy (?:main )?reasons?\b
|\b(?:for|to) me\b|я проверил\w*""".replace("\n", "")
RETRACTION_STARTS = r"""(?:(?:\w+, )?if your
|(?:of course|sure|certainly|naturally|by all means)\W+(?:but )?(?:only )?if|signed|end of
|according to|says?|whoops|it depends|depends|as if|by the way|so (?:the|it|says|claims)
|the (?:letter|labels?|verdict|numbers?|figures?|object|token|judge?ment)
|(?:copied|quoted|taken|pasted|stolen) from
|(?:this is |that is |quoted |copied )?(?:from|by|in|inside) (?:response|answer)
|no(?=\W*(?:\Z|[,.!:;—–\n-]|no\b|wait\b))|nope
|no (?:verdict|rating|judg\w+|responses?|decision|scores?|grade|opinion|idea)|lol|ha|haha
|incorrect\W*\Z|or\b(?! (?:else|more))|meant|wait|oops|hold on|actually|correction|edit(?:ed)?
|update|erratum|errata|sorry|apologies|pardon|my bad|hm+|(?:just |only )?(?:kidding|joking)
|scratch|strike|ignore|disregard|forget|discard|delete|cancel|void|invalid|never mind
|don['’]t|do not|please(?! (?:let me|note|feel free|see))|kindly|upon|after a
|read (?:it|this|that)|treat|count|replace|change|on (?:second|reflection|closer)
|thinking about|then again|in the end|looking again|rereading|or rather|nb|ps
|(?:but |mais |aber |pero |но )?(?:only|seulement|nur|s[oó]lo|только) (?:if|when|si|wenn|если)
|not|as said|mistake|typo|wrong(?= (?:letter|label|word|way|order|one|response)|\W*\Z)
|the (?:opposite|reverse|other(?! (?:response|answer)))|quite the (?:opposite|contrary)
|unless|except|provided|assuming|if(?! (?:only|just|barely|narrowly|slightly|not by))
|but if|draft|it(?:['’]s| is| was) (?:not (?:mine|final|valid|my|so|true|the case)
|an? (?:typo|mistake|slip|joke|guess|tie)|wrong|false|the (?:opposite|reverse|other)
|(?:response )?(?-i:[AB])\b)|(?:this|these|that|those)(?: last| final)?
(?:['’]s| is| was| are| were| holds?| should| must| can)?(?! (?:because|why|is why|only one)\b)
(?: (?:not|no longer|only|just|merely|what|the))? ?(?:a guess|false|untrue|(?:response )?[ab]['’]s
|valid|mine|final|hold|holds|ranks?|filler|(?:the |an? )?(?:format|example|sample|template)
|random|what|placeholder|unless|label|letter|text|line|verdict|answer|judge?ment|score|scores
|rating|sheet|came|comes|came|was|were|should|stood|stands|means|applies)|nein|halt|moment
|korrektur|irrtum|vertan|ignorier\w*|vergiss|vergessen sie|streiche?|falsch|entschuldigung
|quatsch|eigentlich|doch nicht|eso es falso|das (?:war|ist) (?:falsch|ein|nicht|ironisch|nur)
|non|erreur|en fait|en réalité|c['’]est|ignorez|oubliez|rectification|correctif|plutôt|désolée?
|au contraire|ce n['’]est pas|perdón|error|corrección|mejor dicho|en realidad|rectifico
|al revés|al contrario|ni en broma|ja ja|mentira|olvid\w+|ignor\w+|нет|стоп|ошибка|исправлен\w+
|точнее|вернее|наоборот|на самом деле|извин\w+|простите|шучу|отмена|впрочем|забудьте|прошу
|не учитыва\w+|не считать|игнорируй\w*)(?!\w)|[\^]|不对|等等|错|更正|抱歉|对不起|其实|应为
|应该是|以上(?!です)|请忽略|不是|反话|当然|开玩笑|取消|作废|前面|上面""".replace("\n", "")
"""Sentences after a verdict that begin like this take it back: `Wait`, `Just kidding`."""
RETRACTIONS = r"""\b(?=\w)
(?:by mistake|(?:as|like|because|since) (?:the )?(?:response|answer|text|it|they)
(?: [ab])? (?:demands?|demanded|asks?|asked|says|requests?|requested|instructs?
|instructed|orders?|ordered|wants?|tells?|told|suggests?|insists)(?: (?:it|so|me|for|to))?
|own (?:words?|figures?|rating|scores?|numbers?|line|verdict|label)
|example only|not an? (?:judg|verdict|rating|answer)\w*
|the other (?:response|answer) (?:is|was) (?:\w+ )?(?:better|right|best)|mistake (?:on|of) my
|scratch that|strike that|just kidding|crossed out|withdraw\b|take (?:it|this|that) back
|retract\w*|revok\w*|no longer (?:my|valid)|the opposite|opposite is|mixed (?:the|them|up)
|mix(?:ed)?[- ]?up|swapp?ed|(?<!which is the )wrong (?:way|letter|label|order|one|response first)
|the other one(?=\W*(?:\Z|\n|[.!,]))|other way (?:a)?round
|injected(?! (?:instruction|prompt|text|line|command|request|note))|planted
|responses? (?:was|were) not (?:shown|given|displayed|provided)|not (?:by|from) (?:me|the judge)
|said nobody|(?:isn['’]t|not) mine|considered (?:invalid|void)|sarcas\w+|iron(?:y|ic)
|unrated|ungraded|unjudged|abstain\w*|leave (?:this|it|the \w+) (?:open|blank|undecided)
|invalid|null and void|placeholder|stand by|(?:line|letter|label|verdict|answer|object
|token|sentence|word|scores?|rating|grade|text|json|sheet)s? (?:above|before|preceding)
|(?:above|preceding|previous) (?:line|letter|label|verdict|answer|object|token
|scores?|rating|grade|json|word)|the above|told me|orders? (?:judges|me)|asked me
|tells? (?:me|the judge)|random(?:ly)? (?:letter|number|pick|choice|score|verdict|label)
|coin|dice|to be (?:checked|confirmed|revised)|provisional\w*
|tentative\w*|preliminary|the (?:reverse|contrary|inverse)|revers(?:ed|al)
|another (?:pair|task|item)|too (?:high|low|kind|harsh|generous|lenient)
|make (?:it|that)|(?:figures|values|numbers|ratings|marks) above
|(?:should|must|is to|are to) be (?:read|taken|treated|considered|ignored|replaced|counted)
|reconsider\w*|redo|chang(?:e|ed|ing) (?:it|this|that|my)|if you like your
|(?:says?|said|claims|claimed|wrote) (?:the )?response|as (?:if|though) that|yeah,? right
|so much for|as (?:demanded|ordered|told) (?:in|by)|(?:is|means) the (?:best|worst) score
|in which case|in that case|zurück|vertauscht|widerrufe|gegenteil|ungültig
|bitte ignorier\w*|annul\w*|inversée?s?|le contraire|trompée?|retir[eo]|me equivoqué
|retracto|anulo|lo contrario|invertid[ao]s|anterior|ошиб\w+|перепутал\w*
|отменяю|забираю|наоборот|беру .{0,20}назад|недействител\w+|выше не)(?!\w)
|(?:ed|written|taken|comes?|came|stems?|put|stands?|stood|inside|found) (?:\w+ ){0,2}?
(?:by|from|out of|inside) (?:the )?(?:text|author|responses?|answers?)\b|弄反|搞反|写错
|看错|说错|作废|收回|撤回|忽略|反话|改为|应为|不算|无效|颠倒|相反""".replace("\n", "")
"""Phrases anywhere after a verdict that take it back: `by mistake`, `example only`."""
# The beginning of an explanation after the verdict.
EXPLANATION = r"""\W*(?:definitely|clearly|obviously|easily
|certainly|no doubt|without (?:a |any )?doubt|explanations?|notes
|note(?=[*_ ]*[:：])|but (?:only|just|barely)(?! (?:if|when|for))
|(?:满分|max(?:imum|_score)?|(?:out )?of|von|sur)\W{0,4}\d+|[-*•+] |\d[.)](?: |\Z)
|n['’]hésitez pas|以上です|please (?:let me|feel free|note)|(?:any |(?:are|were) there (?:any )?)?
(?:(?:factual|safety|format(?:ting)?|other|open|remaining) )*(?:errors?|issues?|concerns?|problems?
|violations?|hallucinations?|mistakes?|flaws?|omissions?)(?: found| noted| seen)?[*_ ]*(?=[:?])
|confidence|caveats?|limitations?|there (?:is|are|was|were)|(?:key )?differences?
|reason\w*|rationale|justification|why|because|since|as|due|overall|summary|note that
|details?|comments?|analysis|strengths?|evaluation|i hope|let me know|correct\w*
|complete\w*|clear\w*|thanks?|thank you|(?:i )?hope (?:this|that|it) helps|erklärung
|weil|denn|da|car|justification|porque|理由|解释|因为)(?!\w)""".replace("\n", "")
SUBJECTS = r"""(?<![^\W_])[ABC](?![\w])|\b(?:good|well|overall|minor|weak|missing|errors?|more
|better|slightly|somewhat|it|its|narrowly|differences?|gap|sources?|dates?|mistakes?|steps?
|points?|parts?|structure|language|details?|examples?|lack\w*|wrong|incomplete|incorrect
|inaccurate|vague|short|long|no \w+|pros|cons|strengths?|weakness\w*|clear\w*|correct\w*|accura\w+
|complete\w*|concise|facts?|style|tone|content|close|it['’]s|both|neither|either|responses?
|answers?|instruction|user|person|question|task|reader|former|latter|one|the|sie|es|beide
|antwort\w*|aufgabe|der|die|das|eine?|le|les|une?|el|los|un[ao]?|половина|вопрос\w*|совет\w*
|la réponse|elle|les deux|réponses?|consigne|respuestas?|ambas|la|las|ответ\w*|оба|он)(?!\w)
|回答|两个|题目|用户|它""".replace("\n", "")
"""Topics of an explanation of the verdict."""
PRAISE = """flawless|without a single flaw|nothing to improve|nothing i would change
| perfect|best possible|best answer|best response|brilliant|outstanding|superb
|masterpiece|could not be better|fehlerlos|makellos|perfekt|parfait|impeccable
|perfecta|impecable|безупречн|идеальн|完美|无可挑剔""".replace("\n", "")
BLAME = """useless|worthless|worst answer|worst response|worst possible|nothing right
|nothing is right|wrong in every|entirely wrong|completely wrong|totally wrong|utterly wrong
|completely false|bottom of the scale|do worse|fails completely|lowest possible
|nonsense|garbage|not one true|not one correct|answer what|answer anything|not be worse
|every single statement in|insults|disaster|complete failure|total failure|utter failure
|every statement is false|every statement is wrong|every sentence is false|every sentence of it is
|every claim is false|every claim is wrong|insulting|catastroph|worse response is|worse answer is
|harder to imagine|hard to imagine|could hardly be worse|every statement in it is false
|nothing in it is|all wrong|nutzlos|unbrauchbar|völlig falsch|inutile|totalement fausse|inútil
|totalmente falsa|бесполез|полностью невер|毫无用处|完全错误|一无是处""".replace("\n", "")
"""Words that fit only a high score (`PRAISE`) or only a low score (`BLAME`), without case."""
