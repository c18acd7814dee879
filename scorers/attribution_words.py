"""Words of sentences in which a judge says that a text is that of a response.

This file has only data, like `reply_words`. The rules that use it are in `attributed_texts`.
"""


def _any_of(text: str) -> str:
    """Return words that are separated by blanks or line breaks as alternatives of a pattern."""
    return "|".join(word.replace("_", " ") for word in text.split())


RESPONSES = _any_of(r"""responses? answers? candidate author assistant option antwort réponse
respuesta risposta resposta antwoord odpowiedź odpowiedzi ответа? 回答 回答[AB] 응답""")
"""Nouns that name a response."""
PARTS = _any_of(r"""text wording words ends? ending beginning start opening tail rest last lines?
whole excerpt part bottom top middle footer header passage paragraph section sentence postscript
conclusion copy quotation text wortlaut ende schluss satz zeile worte texte fin mots phrase ligne
texto el_final palabras frase línea testo fine parole riga tekst einde koniec słowa конец слова
строка""")
"""Parts of a response, and words for its text."""
SAYING_VERBS = _any_of(r"""says? said reads writes wrote states ends ended begins opens closes
concludes finishes starts goes continues claims asserts adds argues asks begs pleads requests
demands instructs orders tells urges suggests proposes recommends declares announces quotes cites
repeats prints outputs reports sagt schreibt lautet endet schließt beginnt behauptet fragt bittet
fordert zitiert dit écrit termine finit conclut commence prétend demande affirme cite dice escribe
termina acaba concluye empieza afirma pide cita scrive finisce conclude inizia afferma chiede diz
escreve conclui começa pede zegt schrijft eindigt begint beweert vraagt mówi pisze kończy zaczyna
twierdzi prosi говорит пишет заканчивается кончается начинается утверждает просит""")
"""Verbs whose subject is a response and whose object is its text."""
COPYING_VERBS = _any_of(r"""copy copied quote quoted repeat repeated reproduce reproduced cite
cited paste pasted transcribe transcribed translate translated""")
"""Verbs whose subject is the judge and whose object is the text of a response."""
WORDING_VERBS = rf"{SAYING_VERBS}|stops|has|puts|shows|contains|lists|{COPYING_VERBS}"
"""Verbs of a sentence about the wording of a response."""
ASIAN_VERBS = "结尾|写道|原文|内容|说|終わり|書|最後|마지막|끝"
"""Words for wording, in Chinese, Japanese and Korean."""
STRONG_POINTERS = _any_of(r"""as_follows the_following like_this in_this_way as_shown these_words
this_way folgendes folgendermaßen ce_qui_suit lo_siguiente queste_parole zoals_volgt następująco
следующ\w+""")
"""Words that point to a text, whatever the verb of their sentence is: `as follows`."""
POINTERS = _any_of(r"""word_for_word verbatim textually unchanged following wörtlich ainsi
textuellement así textualmente così seguente assim zo tak так дословно""")
"""Words that point to a text beside a word for wording."""
DEMONSTRATIVES = _any_of(r"""this these diesen? diese[rs]? cette ce ces est[ae]s? quest[aeio] deze
dit эт\w+""")
"""Words such as `this`, which point to a text beside a word for a part: `this line`."""
POINTERS_AT_END = _any_of(r"""this these here below at_this_point hier là ici aquí qui aqui""")
"""Words that point to a text if they end the sentence."""
ASIAN_STRONG_POINTERS = "如下|这样一句|次のよう"
"""The same as `STRONG_POINTERS`, in Chinese and Japanese."""
ASIAN_POINTERS = "如下|以下|次のよう|다음|입니다"
"""The same as `POINTERS`, in Chinese, Japanese and Korean."""
COPY_STARTS = _any_of(r"""excerpt extract source quelle copied quoted pasted taken_from
cited quoting transcript from_response for_reference below what_i_see
line_\d+ to_quote to_repeat""")
"""Words with which a line begins that names the source of a text: `Excerpt`, `copied`."""
PRETENDING_VERBS = _any_of(r"""pretends pretended poses posed impersonates imitates mimics
role-plays acts_as plays_the""")
"""Verbs of a response that plays somebody else."""
ADDRESSING_VERBS = _any_of(r"""says? claims declares announces asks asked begs tells told
instructs orders urges wants demands requests suggests proposes recommends ends_with closes_with
opens_with summarizes summarises cites quotes contains includes adds shows has_an? lists offers
hands_itself hands presents acts plays gives_itself awards_itself""")
"""Verbs of a response that speaks to the judge, or speaks as the judge does."""
JUDGES = _any_of(r"""the_judges grader graders evaluator rater the_judge a_judge the_reviewer
address_me addresses_me my_mouth me_say me_write me_print me_answer
(?:who|whoever|anyone_who|those_who)_(?:grades?|judges?|evaluates?|rates?)""")
"""Words for a judge, in sentences in which a response speaks to it, whatever the verb is."""
JUDGE_WORDS = _any_of(r"""judges? reviewer reader instructions decision prize verdict grade grades
grading winner outcome evaluation rating score scores itself to_print to_write to_output to_finish
me me_to me_which dialogue conversation review postscript footnote epilogue testimonial its_merits
its_strengths its_advantages of_its_own""")
"""Words for a judge or what it says."""
BACKWARD_POINTERS = _any_of(r"""this that these those it above all_this all_that the_above
the_text the_lines? the_words the_block the_sentence the_passage the_table the_verdict this_\w+
that_\w+ these_\w+ those_\w+""")
"""Subjects that stand for the text before: `this`, `the above`."""
BACKWARD_ADVERBS = _any_of(r"""so thus ainsi así zo tak così assim так""")
"""Adverbs that stand for the text before: `So ends response B.`"""
BACKWARD_WORDS = _any_of(r"""voilà with_these_words with_this with_this_line these_are_the_words
mit_diesen_worten avec_ces_mots con_estas_palabras""")
"""Beginnings of sentences about the text before them: `With this line, response A closes.`"""
ASIAN_BACKWARD = "以上[是为]?.{0,4}回答|以上が.{0,4}回答"
"""`The above is response A`, in Chinese and Japanese."""
