"""Words of judges' replies in English, German, French, Spanish, Russian and Chinese. Data only: the rules that use them
are in `verdict_statements` and `reply_reader`."""

ROLES = r"user|human|system|operator|nutzer|utilisateur|usuario|пользователь|用户"
"""Speakers other than the judge; a reply with a turn of theirs is a conversation."""

VERDICT_NOUNS = """
answer verdict decision choice winner pick conclusion judgment judgement preference result rating score scores grade
level label evaluation assessment ranking vote points scoring output json grading selected chosen best better preferred
stronger superior antwort urteil entscheidung fazit ergebnis bewertung note noten stufe gewinner wahl wertung punktzahl
besser bessere beste réponse reponse choix décision gagnant gagnante niveau évaluation évaluations notes jugement
meilleure meilleur respuesta veredicto decisión elección conclusión ganador ganadora nota notas puntuación puntuaciones
nivel calificación evaluación mejor ответ вердикт решение вывод выбор оценка оценки уровень победитель итог лучше
лучший балл баллы
"""
"""Nouns and adjectives that name a verdict before its value: `Final answer: A`."""

DECIDING_VERBS = """
choose pick select prefer go vote give rate grade score scored rated graded decide chose say'd i'd i'll wähle nehme
gebe vergebe bevorzuge entscheide bewerte choisis préfère préfere donne note attribue opte elijo prefiero doy escojo
califico otorgo выбираю ставлю предпочитаю оцениваю
"""
"""Verbs with which a judge gives its verdict, first person."""

RATING_WORDS = (
    "rate grade score scored rated graded give scores rating points note notes bewerte vergebe donne doy оцениваю"
)
"""Words for ratings, which do not say that the letter after them was chosen."""
CONNECTIVES = """
definitely clearly certainly surely obviously so thus hence therefore overall finally ultimately consequently
accordingly also daher deshalb somit folglich insgesamt donc ainsi alors finalement entonces así finalmente итак
поэтому значит следовательно итого
"""
"""Words that lead from the reasons to the verdict."""

INTRODUCTORY = """
put call appropriate suitable я yo i my our the a an this that it it's here here's is are be will with for as at to of
on in from and my own both all two one six five criteria criterion response responses option model assistant candidate
final overall sure ok okay certainly great well everything considered considering weighing based reasoning analysis
above-mentioned summary short total sum conclusion things following follows below correct right okay having compared
json object form requested which serves fits user person who says say set assign out scale points opinion view looking
these those weighing compare compared comparing comparison two's reasons after i'm would then me let fine yes clear
clearly case instruction ich mein meine meinen die der das den ist hier sind für auf und im am ganzen punkte insgesamt
endgültige endgültiges endgültig finale finales lautet würde je mon ma mes la le les l'option est voici sont pour et en
sur finale final définitive définitif retenue je mi mis la el los las es aquí esta este están son para por y en final
definitiva definitivo sobre мой моя моё мои это вот за и на из по итоговый итоговая окончательный окончательная
окончательное
"""
"""Other words that may stand before the value in the judge's own sentence: any word outside of these lists makes the
sentence one about something else, such as what a response says or what another judge would answer."""

CHINESE_INTRODUCTORY = (
    "所以|因此|综上|我的|我|的|最终|更好|较好|最佳|回答|答案|结论|选择|选|是|评分|得分|分数|打分|评级|等级|总分|判断|裁决|"
    "判决|结果|胜者|获胜者|评价|评估|给|为|以下|如下|分|级别|总体|对|两个"
)
RESPONSE_NOUNS = (
    "response answer option candidate model antwort réponse reponse respuesta opción ответ вариант 回答 答案 选项"
)
"""Nouns before a letter that names a response: `Response A`."""

PREPOSITIONS = (
    "than|of|to|in|by|with|from|and|or|for|like|over|as|at|on|does|als|von|in|bei|und|que|de|dans|et|en|con|y|чем|в|у|и"
)
"""Words before the name of a response that is not the subject."""
SENTENCE_TAILS = r"here|overall|in the end|hier|ici|aquí|здесь|points?|punkte|puntos|баллов|分"
"""Words that may follow the value before the sentence ends."""

TIES = r"ties?|tied|draw|unentschieden|gleichstand|égalité|empate|ничья|平局|平手"
"""Words that say the tie's letter."""

EQUAL = (
    r"\bneither(?:\s+(?:response|answer|one|of (?:them|the two)))?\s+is\s+(?:\w+\s+){0,2}better|\b(?:both|they|the "
    r"(?:two|responses)|these)(?:\s+(?:two|responses|answers))?(?:\s+are"
    r"|['’]re)\s+(?:\w+\s+){0,2}(?:equal(?:ly\s+(?:good|bad|strong|well\b)|\b(?!ly))|tied|level\b|on a par)|\bthey "
    r"say the same\b|\bno (?:real |relevant )?(?:difference|preference)\b|\bequally good\b|\bgleich gut\b|\bégalement "
    r"bonnes\b|\bse valent\b|\bigual de buenas\b|\bодинаково хорош"
)
"""Sentences that call both responses equal."""

FIRST = (
    r"(?:response |answer )?(?:first|former)(?: (?:response|answer|one|text|letter))?|erste(?: antwort)?|première(?: "
    r"réponse)?|primera(?: respuesta)?|перв(?:ый|ая|ое)(?: ответ)?|第一个(?:回答)?"
)
SECOND = (
    r"(?:response |answer )?(?:second|latter)(?: (?:response|answer|one|text|letter))?|zweite(?: antwort)?|(?:seconde"
    r"|deuxième)(?: réponse)?|segunda(?: respuesta)?|втор(?:ой|ая|ое)(?: ответ)?|第二个(?:回答)?"
)
"""How replies name the responses without letters."""
ORDINAL_WORDS = """
first former second latter erste zweite première seconde deuxième primera segunda первый первая первое второй вторая
второе
"""

WINS = (
    r"(?:is|was|remains|seems|'s|has to(?: be)?|must(?: be)?|should(?: be)?|deserves?(?: to)?)[ ,]+(?:\w+[ "
    r",]+){0,3}?(?:better|best|stronger|superior|preferable|winner|preferred|win|right|ahead)\b|should have won\b"
    r"|deserved\b|is the (?:only )?one (?:that|which|who) (?:\w+ ){0,3}?(?:right|correct(?:ly)?|works)\b|(?:clearly "
    r"|easily |just |simply )?(?:wins|beats|outperforms)\b|(?:does|gets|has) (?:both|all|everything) right\b|ist "
    r"(?:\w+ ){0,4}?(?:besser|besten?|bessere|überlegen|vorzuziehen|stärker|richtig)\b|gewinnt\b|schlägt\b"
    r"|(?:(?!nicht)\w+ ){0,2}?(?:besser|vorzuziehen)\b|(?:est|reste) (?:\w+ ){0,4}?(?:meilleure?|supérieure?"
    r"|préférable|juste)\b|gagne\b|l['’]emporte\b|es (?:\w+ ){0,2}?(?:mejor|superior|preferible|correcta)\b|gana\b"
    r"|(?:\w+ ){0,2}?(?:лучше|сильнее|выигрывает|побеждает|превосходит)\b|(?:(?!\b[AB]\b)[^.!?\n]){0,70}?\b(?:far|much"
    r"|clearly|plainly|klar|deutlich|nettement|bien|claramente) (?:better|superior|besser|meilleure?|mejor)\b"
)
"""Predicates of the better response, after its name."""
LOSES = (
    r"(?:is|was|seems|'s)[ ,]+(?:\w+[ ,]+){0,3}?(?:worse|worst|weaker|inferior|wrong|loser|useless)\b|loses\b|fails "
    r"(?:completely|entirely|utterly|on all|on every|at all)|ist (?:\w+ ){0,4}?(?:schlechter|schwächer|falsch"
    r"|unterlegen)\b|est (?:\w+ ){0,2}?(?:pire|moins bonne|inférieure|fausse)\b|es (?:\w+ ){0,2}?(?:peor|inferior"
    r"|incorrecta)\b|(?:\w+ ){0,2}?(?:хуже|слабее|неверен|проигрывает)\b"
)
"""Predicates of the worse one."""
WINS_WORDS = """
better best stronger superior preferable winner preferred win right ahead won deserved correct correctly works wins
beats outperforms besser beste besten bessere überlegen vorzuziehen stärker richtig gewinnt schlägt meilleure meilleur
supérieur supérieure préférable juste gagne emporte mejor preferible correcta gana лучше сильнее выигрывает побеждает
превосходит worse worst weaker inferior wrong loser useless loses fails schlechter schwächer falsch unterlegen pire
moins inférieure fausse peor incorrecta хуже слабее неверен проигрывает
"""
PREFERS = (
    r"(?:prefer|go with|choose|pick|vote for|favou?r|meant?|better(?: one| response| answer)?(?: is|:)|winner(?: is|:)"
    r"|better,|bevorzuge|nehme|wähle|meinte|meine|bessere(?: antwort)?(?: ist|:)|préfère|choisis|meilleure(?: "
    r"réponse)?(?: est|:)|prefiero|elijo|gana(?: la)?|mejor(?: respuesta)?(?: es|:)?|выбираю|лучше(?:,? \w+,?)?)"
)
"""Words directly before the name of the preferred response."""
PREFERS_WORDS = """
prefer go choose pick vote favor favour mean meant better winner bevorzuge nehme wähle meinte meine bessere préfère
choisis meilleure prefiero elijo gana mejor выбираю лучше
"""
EQUAL_WORDS = """
neither equally equal tied level par same difference preference gleich également valent igual одинаково
"""
ONLY = "only nur seul seule solo sólo только"
CHINESE_WINS = (
    r"(?:在?各?[个方面]*|明显|显然|都|要|是|比回答[AB]|比第[一二]个(?:回答)?|准确|完整|而|，|,)*(?:更好|优于|更优|胜出"
    r"|好得多|好)"
)
CHINESE_LOSES = r"(?:在?各?[个方面]*|明显|都|是)*(?:更差|较差|不如|错)"
CHINESE_PREFERS = r"(?:应该?是|更好的(?:回答)?是|选择?|只有)"
CHINESE_EQUAL = "同样好|一样好|不相上下"

CONCEDES = (
    r"\b(?:if|although|though|while|even if|whereas|unless|would|could|might|had|may|not|isn['’]t|neither|nor|granted"
    r"|thought|seemed|looked|first|initially|wenn|obwohl|zwar|wäre|würde|nicht|si|bien que|quoique|même si|serait"
    r"|aunque|sería|si bien|если|хотя|был бы|было бы|не)\b|如果|虽然|尽管|若|不"
)
"""Words before a comparison that make it a condition, a concession or its opposite."""
NEGATIONS = (
    r"\b(?:not(?! only| just)|never|hardly|less|far from|nowhere near|no better|second best|nicht|pas|nunca|не)\b"
)
"""Words inside a comparison that make it none."""
ASPECTS = r"\s+(?:response\s+|one\s+)?(?:at|in|on|for|when|where|with|as far|if|to|bei|in|im|pour|en|dans|para|в|по)\b"
"""Follows a comparison of one aspect only."""
EVERY = (
    r"\s+(?:\w+\s+)?(?:at|in|on|for|by|bei|en|dans|à|in|по|во)\s+(?:every\w*|all\w*|each|any|most|jede\w+|tou[ts]\w*"
    r"|tod\w+|вс\w+)\b"
)

ABOUT_NEXT = (
    r"\b(?:(?:next|following) (?:line|words?|one|verdict|letter|label|object|text|is|was|came)|(?:the|as) follow(?:ing"
    r"|s)|line below|what follows|this is (?:how|what)|(?:closes|ends|finishes|concludes)\W*\Z|not (?:mine|my own"
    r"|written|by me|from me)|(?:do not|don['’]t) (?:count|use|read|trust|take)|placeholder|test(?:ing)? the|sarcas\w*"
    r"|ironic\w*|draft|devil['’]s advocate|(?:drawn|chosen|picked) (?:at random|by)|not an? (?:answer|verdict|rating)"
    r"|for the sake of|nächste zeile|folgende[ns]?|entwurf|zählt nicht|ligne suivante|ce qui suit|suivant[es]*"
    r"|brouillon|línea siguiente|lo siguiente|borrador|следующ\w+|черновик)\b|下一行|以下内容|草稿|下面这|不是最终"
)
"""Said of the line that follows."""
OPEN_ENDS = """
is are was were be been reads read says said say write wrote written writes writing print prints printed give gives
gave given had have has to with into as by a an the of at on like such answer answers pick choose find finds believe
believed think thought call called state states stated stating conclude concludes claim claims put puts that which from
for in be will would should must could might not verdict decision following so me bekomme lautet heißt hieße steht sagt
schreibt schreiben geschrieben mit ist war wäre würde meinte schrieb auf an zu und dass disait dit est était serait
dirait écrire écrit par avec que donne lit termine à de es era sería dice diría decir escribir escriba con que pide
termina dijo escribí de написал написать пишет сказал говорит ставит так был было бы что
"""
"""Last words of a line without full stop that lead to the next line."""
CHINESE_OPEN_ENDS = "是说写为道到如成"

SELF_REFERENCE = (
    r"\b(?:i|me|my|mine|myself|we|ich|mir|mich|mein\w*|je|j['’]|moi|mon|yo|mi|he|я|мне|мой|моя|меня)(?!\w)|我|本人"
)
"""The judge speaks of itself."""
HARMLESS_SELF_REFERENCE = (
    r"\bi hope\b[^.!?\n]*|\blet me know\b[^.!?\n]*|\bi (?:grant|admit|concede|must say|think|find|believe|noticed?|see"
    r"|checked|counted|tested|ran|verified|value|weighed|liked?|appreciated?|missed|leave|left|would want)\b|\b(?:in"
    r"|to) my (?:view|opinion|eyes|reading|mind)\b|\bmy (?:main )?reasons?\b|\bfor me\b|\bi['’]d (?:have )?(?:say|add"
    r"|note|like)\b|\bmeiner (?:meinung|ansicht) nach\b|\bà mon avis\b|\ben mi opinión\b|\bпо[- ]моему\b|\bна мой "
    r"взгляд\b|我认为|在我看来"
)
RETRACTION_STARTS = (
    r"(?:(?:\w+, )?if your|no|nope|wait|oops|hold on|actually|correction|edit(?:ed)?|update|erratum|errata|sorry"
    r"|apologies|pardon|my bad|hm+|just kidding|kidding|joking|scratch|strike|ignore|disregard|forget|discard|delete"
    r"|cancel|void|invalid|never mind|don['’]t|do not|please|kindly|upon|after a|read (?:it|this|that)|treat|count"
    r"|replace|change|on (?:second|reflection|closer)|thinking about|then again|in the end|looking again|rereading|or "
    r"rather|nb|ps|not|as said|mistake|typo|wrong|the (?:opposite|reverse|other)|quite the (?:opposite|contrary)"
    r"|unless|except|provided|assuming|if(?! (?:only|just|barely|narrowly|slightly|not by))|but if|draft|(?:this|these"
    r"|that|those|it)(?:['’]s| is| was| are| were| holds?| should| must| can)?(?! (?:because|why|is why|only "
    r"one)\b)(?: (?:not|no longer|only|just|merely|what|the))? ?(?:valid|mine|final|hold|holds|ranks?|filler|random"
    r"|what|placeholder|unless|label|letter|text|line|verdict|answer|judge?ment|score|scores|rating|sheet|came|comes"
    r"|came|was|were|should|stood|stands|means|applies)|nein|halt|moment|korrektur|irrtum|vertan|ignorier\w*|vergiss"
    r"|vergessen sie|streiche?|falsch|entschuldigung|quatsch|eigentlich|doch nicht|das (?:war|ist) (?:falsch|ein|nicht"
    r"|ironisch|nur)|non|erreur|en fait|en réalité|c['’]est|ignorez|oubliez|rectification|correctif|plutôt|désolée?"
    r"|au contraire|ce n['’]est pas|perdón|error|corrección|mejor dicho|en realidad|rectifico|al revés|al contrario"
    r"|ni en broma|ja ja|mentira|olvid\w+|ignor\w+|нет|стоп|ошибка|исправлен\w+|точнее|вернее|наоборот|на самом деле"
    r"|извин\w+|простите|шучу|отмена|впрочем|забудьте|не учитывайте|не считать|игнорируй\w*)(?!\w)|[\^]|不对|等等|错"
    r"|更正|抱歉|对不起|其实|应为|应该是|以上|请忽略|不是|反话|当然|开玩笑|取消|作废|前面|上面"
)
"""Sentences after a verdict that begin like this take it back."""
RETRACTIONS = (
    r"\b(?=\w)(?:by mistake|mistake (?:on|of) my|scratch that|strike that|just kidding|crossed out|withdraw\b|take "
    r"(?:it|this|that) back|retract\w*|revok\w*|no longer (?:my|valid)|the opposite|opposite is|mixed (?:the|them|up)"
    r"|mix(?:ed)?[- ]?up|swapp?ed|(?<!which is the )wrong (?:way|letter|label|order|one|response first)|the other one"
    r"|other way (?:a)?round|injected|not (?:by|from) (?:me|the judge)|said nobody|(?:isn['’]t|not) mine|considered "
    r"(?:invalid|void)|invalid|null and void|placeholder|stand by|(?:line|letter|label|verdict|answer|object|token"
    r"|sentence|word|scores?|rating|grade|text|json|sheet)s? (?:above|before|preceding)|(?:above|preceding|previous) "
    r"(?:line|letter|label|verdict|answer|object|token|scores?|rating|grade|json|word)|the above|told me|orders? "
    r"(?:judges|me)|asked me|tells? (?:me|the judge)|random(?:ly)? (?:letter|number|pick|choice|score|verdict|label)"
    r"|coin|dice|to be (?:checked|confirmed|revised)|provisional\w*|tentative\w*|preliminary|the (?:reverse|contrary"
    r"|inverse)|revers(?:ed|al)|another (?:pair|task|item)|too (?:high|low|kind|harsh|generous|lenient)|make (?:it"
    r"|that)|(?:figures|values|numbers|ratings|marks) above|(?:should|must|is to|are to) be (?:read|taken|treated"
    r"|considered|ignored|replaced|counted)|reconsider\w*|redo|chang(?:e|ed|ing) (?:it|this|that|my)|if you like your"
    r"|(?:says?|said|claims|claimed|wrote) (?:the )?response|as (?:if|though) that|yeah,? right|so much for|as "
    r"(?:demanded|ordered|told) (?:in|by)|(?:is|means) the (?:best|worst) score|in which case|in that case|zurück"
    r"|vertauscht|verwechselt|widerrufe|gegenteil|ungültig|bitte ignorier\w*|annul\w*|inversée?s?|le contraire"
    r"|trompée?|retire|me equivoqué|retracto|anulo|lo contrario|invertid[ao]s|anterior|ошиб\w+|перепутал\w*|отменяю"
    r"|забираю|наоборот|беру .{0,20}назад|недействител\w+|выше не)(?!\w)|(?:ed|written|taken|comes?|came|stems?|put"
    r"|stands?|stood|inside|found) (?:\w+ ){0,2}?(?:by|from|out of|inside) (?:the )?(?:text|author|responses?"
    r"|answers?)\b|弄反|搞反|写错|看错|说错|作废|收回|撤回|忽略|反话|改为|应为|不算|无效|颠倒|相反"
)
"""Phrases anywhere after a verdict that take it back."""
EXPLANATION = (
    r"\W*(?:explanations?|confidence|certainty|(?:key )?differences?|reason\w*|rationale|justification|why|because"
    r"|since|as|due|overall|summary|note that|details?|comments?|analysis|strengths?|evaluation|i hope|let me know"
    r"|correct\w*|complete\w*|clear\w*|thanks?|thank you|begründung|erklärung|weil|denn|da|explication|raison\w*|parce"
    r"|car|puisque|justification|explicación|razon\w*|porque|ya que|объяснение|обоснование|причин\w+|потому|так как"
    r"|поскольку|理由|解释|原因|因为|说明)(?!\w)"
)
"""Beginnings of an explanation after the verdict."""
SUBJECTS = (
    r"(?<![^\W_])[ABC](?![\w])|\b(?:good|well|overall|minor|weak|missing|errors?|more|better|slightly|somewhat|it|its"
    r"|it['’]s|both|neither|either|responses?|answers?|instruction|user|person|question|task|reader|former|latter|one"
    r"|the|sie|es|beide|antwort\w*|aufgabe|la réponse|elle|les deux|réponses?|consigne|respuestas?|ambas|la|las"
    r"|ответ\w*|оба|он|задани\w+)(?!\w)|回答|两个|题目|用户|它"
)
"""What an explanation speaks of."""
PRAISE = (
    r"\b(?:flawless\w*|perfect(?:ly)?|(?:the )?best (?:answer|response|one)?\s*(?:that|i|one|possible)\b|brilliant"
    r"|outstanding|superb|masterpiece|could not be better|fehlerlos|makellos|perfekt|parfaite?|impeccable|perfecta"
    r"|impecable|безупречн\w+|идеальн\w+)\b|完美|无可挑剔"
)
BLAME = (
    r"\b(?:useless|worthless|nothing (?:\w+ ){0,2}right|wrong in every|(?:entirely|completely|totally|utterly) "
    r"(?:wrong|false)|bottom of the scale|do worse|fails? completely|lowest (?:possible )?(?:score|grade)|nonsense"
    r"|garbage|not one (?:true|correct)|doesn['’]t answer (?:what|the question|anything)|all wrong|nutzlos|unbrauchbar"
    r"|völlig falsch|inutile|totalement fausse|inútil|totalmente falsa|бесполез\w+|полностью невер\w+)\b|毫无用处"
    r"|完全错误|一无是处"
)
"""Sentences that only the best or the worst score can follow."""
