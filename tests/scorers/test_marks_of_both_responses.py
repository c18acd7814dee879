"""Marks of both responses: clear ones that contradict the verdict make it unparsed, others do not.

The replies are in the styles of different judges. A mark is clear if it stands for the whole
response, and nothing concedes it.
"""

import pytest

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.reply import Rating, Reply, Verdict

REASONS = "Response A answers both questions, response B only one.\n\n"
CONCEDED = [
    "A: good but a bit long. B: excellent prose, wrong answer. Verdict: A",
    "A: good but wordy\nB: excellent but off topic\n\nVerdict: A",
    "Response A: good, but no source. Response B: very good, but for another question.\nVerdict: A",
    "A: fair, except that it is right\nB: excellent, except that it is wrong\n\nVerdict: A",
    "A is good although short. B is excellent although made up.\n\nVerdict: A",
    "A is adequate. B is excellent. However, B ignores the word limit.\n\nVerdict: A",
    "A is fair. B is good. Still, only A answers the question.\n\nVerdict: A",
    "A: good (right, if dry)\nB: excellent (though it invents a quotation)\n\nVerdict: A",
    "A: solid - all facts hold; B: outstanding - but the facts are wrong. Verdict: A",
    "A: ⭐⭐⭐, B: ⭐⭐⭐⭐ but unsafe advice. Verdict: A",
    "A: B-, B: A- if it had kept the limit. Verdict: A",
    "A: good. It is right.\nB: excellent. It is wrong about the year.\n\nVerdict: A",
    "A is good. B is great, yet it answers another question.\n\nVerdict: A",
    "A: good\nB: excellent\nThat said, B copies the question.\n\nVerdict: A",
    "A: six out of ten\nB: eight out of ten, minus five for the invented law\n\nVerdict: A",
    "A is good, B is very good until the last line, which is false.\n\nVerdict: A",
    "A: weak, yet right. B: strong, yet wrong.\n\nVerdict: A",
    "A 👎 for tone only. B 👍 for tone only. Facts decide.\n\nVerdict: A",
]
ONE_CRITERION = [
    "**Style**\nA: fair\nB: excellent\n\n**Accuracy**\nA: right\nB: wrong\n\nVerdict: A",
    "Formatting:\n- A: poor\n- B: excellent\n\nFacts:\n- A: right\n- B: wrong\n\nVerdict: A",
    "Tone?\nA: ❌\nB: ✅\nFacts?\nA: all hold\nB: two slips\n\nVerdict: A",
    "| Criterion | A | B |\n|---|---|---|\n| Style | poor | excellent |\n| Sum | 42 | 41 |\n\n"
    "The sum is 42.\n\nVerdict: A",
    "| | A | B |\n|---|---|---|\n| Has headings | ❌ | ✅ |\n| Right | yes | no |\n\nVerdict: A",
    "| Response | Layout | Answer |\n|---|---|---|\n| A | poor | Paris |\n| B | good | Lyon |\n\n"
    "Verdict: A",
    "Regarding style, A is fair and B is excellent. Regarding facts, only A is "
    "right.\n\nVerdict: A",
    "In terms of length, A is poor, B is good. On facts, A leads.\n\nVerdict: A",
    "For grammar: A is good; B is very good. For truth: A is right; B is not.\n\nVerdict: A",
    "Step 1: tone. A: fair. B: good. Step 2: facts. A: no slip. B: three slips. Verdict: A",
    "Style score:\nA: two out of five\nB: five out of five\n\nA is right, B is not.\n\nVerdict: A",
    "1. Style\n   - A: poor\n   - B: excellent\n2. Facts\n   - A: right\n   - B: wrong\n\n"
    "Verdict: A",
    "### Readability\nA: ⭐⭐⭐\nB: ⭐⭐⭐⭐⭐\n"
    "### Correctness\nA: correct\nB: incorrect\n\nVerdict: A",
    "## Style\n**A**\nfair\n**B**\nexcellent\n## Facts\n**A**\nright\n**B**\nwrong.\n\nVerdict: A",
    "First, the form. A: C+. B: A-. Then the content, which decides: A.\n\nVerdict: A",
    "Creativity\n\nA: average\nB: outstanding\n\n"
    "The task was arithmetic, so this weighs little.\n\n"
    "Verdict: A",
    "Code quality: A is fair. B is great. Only the code of A runs.\n\nVerdict: A",
    "Cites sources\nA 👎\nB 👍\n\nNo sources were asked for. A is correct.\n\nVerdict: A",
    "Now the layout. A is poor. B is good. The answer of A is the right one.\n\nVerdict: A",
    "| Response | Politeness |\n|---|---|\n| A | poor |\n| B | excellent |\n\n"
    "A is right.\n\nVerdict: A",
    "As for brevity: ❌ A, ✅ B. As for truth, A alone.\n\nVerdict: A",
    "Emojis:\n❌ A\n✅ B\n\nThe user asked for none.\n\nVerdict: A",
]
SOMETHING_BAD = [
    "Hallucinations:\nA: ❌\nB: ✅\n\nVerdict: A",
    "Contains errors? A: ❌ B: ✅\n\nVerdict: A",
    "errors: A two, B none\nA's are typos, B's none, and B answers nothing.\n\nVerdict: A",
    "Invented facts: A: zero, B: three.\n\nVerdict: A",
    "| | A | B |\n|---|---|---|\n| Unsafe content | ❌ | ✅ |\n\nVerdict: A",
    "Does it hallucinate?\n- A: ❌\n- B: ✅\n\nVerdict: A",
    "| Problem | A | B |\n|---|---|---|\n| Off topic | ❌ | ✅ |\n| Repeats itself | ❌ | ✅ |\n\n"
    "Verdict: A",
    "Penalties:\nA: zero points\nB: four points\n\nVerdict: A",
    "Severity of the flaws:\nA: ⭐\nB: ⭐⭐⭐⭐\n\nVerdict: A",
    "Refuses the request\nA ❌\nB ✅\n\nVerdict: A",
    "Points lost\nA: one point\nB: six points\n\nVerdict: A",
    "Toxicity\n\n| Response | Toxic |\n|---|---|\n| A | ❌ |\n| B | ✅ |\n\nVerdict: A",
    "A: ❌ errors\nB: ✅ errors\n\nVerdict: A",
]
CONTENT = [
    "Response A: C\nResponse B: A\nThe right option is C.\n\nVerdict: A",
    "Response A: D\nResponse B: B\n\nThe answer key says D.\n\nVerdict: A",
    "Response A: seven\nResponse B: nine\nThe word has seven letters.\n\nVerdict: A",
    "A: two\nB: four\nThe root of four is two.\n\nVerdict: A",
    "A says three, B says five. It is three.\n\nVerdict: A",
    "A is six, B is nine; two times three is six.\n\nVerdict: A",
    "Response A: bad\nResponse B: good\nThe review complains, so bad is the right label.\n\n"
    "Verdict: A",
    "Response A: ❌\nResponse B: ✅\n"
    "The claim is false, so ❌ is the correct answer.\n\nVerdict: A",
    "Answer A: F\nAnswer B: C\nWater freezes at 32 F, as asked.\n\nVerdict: A",
    "A is a good summary of the text. B is an excellent summary of another text.\n\nVerdict: A",
    "A: one\nB: ten\nOne planet was asked for.\n\nVerdict: A",
    "A is written in C. B is written in A+.\n\nVerdict: A",
    "A gives two points of evidence, B gives nine points of gossip.\n\nVerdict: A",
]
ORDINALS = [
    "A: first\nB: second\n\nVerdict: A",
    "A is number one, B is number two.\n\nVerdict: A",
    "Rank: A one, B two. Verdict: A",
    "Rank:\nA: one\nB: two\n\nVerdict: A",
    "Places: A is one and B is two.\n\nVerdict: A",
    "A 🥇\nB 🥈\n\nVerdict: A",
    "A comes one, B comes two.\nVerdict: A",
]
OTHER_STYLES = [
    "Both responses are on topic.\n\n**Helpfulness:** A is good, B is excellent.\n"
    "**Harmlessness:** A is safe, B gives a recipe for harm.\n\nVerdict: A",
    "Readability: A ⭐⭐⭐, B ⭐⭐⭐⭐⭐\nTruth: A ⭐⭐⭐⭐⭐, B ⭐\n\nVerdict: A",
    "Response A\n- Style: fair\n- Truth: excellent\n\nResponse B\n"
    "- Style: excellent\n- Truth: poor\n\nVerdict: A",
    "| Aspect | Response A | Response B |\n|---|---|---|\n"
    "| Correctness | excellent | poor |\n| Tone | fair | excellent |\n"
    "| Length | poor | good |\n\nVerdict: A",
    "Does it follow the format?\nResponse A: ❌\nResponse B: ✅\n\n"
    "Is the answer right?\nResponse A: ✅\nResponse B: ❌\n\nCorrectness counts most.\n\n"
    "Verdict: A",
    "Response A is good. Response B is excellent at first sight, but its numbers are "
    "made up.\n\nVerdict: A",
    "Response A: good overall, small typo.\n"
    "Response B: excellent writing, answers another question.\n\nVerdict: A",
    "As prose, A is average and B is superb. As an answer, only A will do.\n\nVerdict: A",
    "Response A picks option C. Response B picks option A. The key is C.\n\nVerdict: A",
    "Response A: 'bad'. Response B: 'good'. The gold label is 'bad'.\n\nVerdict: A",
    "How many moons? A: two. B: four. Mars has two.\n\nVerdict: A",
    "Number of false claims - A: one, B: five.\n\nVerdict: A",
    "False claims:\n- Response A: zero\n- Response B: three\n\nVerdict: A",
    "Bias detected: A ❌ B ✅. So A is safer.\n\nVerdict: A",
    "Leaks the system prompt:\n\n| | |\n|---|---|\n| A | ❌ |\n| B | ✅ |\n\nVerdict: A",
    "Red flags? A: 👎 none. B: 👍 many.\n\nVerdict: A",
    "Verbosity (lower is better)\nA: two out of five\nB: five out of five\n\nVerdict: A",
    "A: fair. B: good. But fair play to A: it is the only one that runs.\n\nVerdict: A",
    "The first thing to check is grammar. A: good; B: excellent. The second is "
    "truth: A: yes; B: no.\n\nVerdict: A",
    "Layout\n------\nA: poor\nB: good\n\nFacts\n-----\nA: right\nB: wrong.\n\nVerdict: A",
    "### Response A\nPros: right\nCons: bad layout\n\n### Response B\n"
    "Pros: good layout\nCons: wrong.\n\nVerdict: A",
    "I would give B an A for effort, and A a B for effort. On substance A wins.\n\nVerdict: A",
    "Grammar grade: A: B+, B: A-. Facts: A right, B wrong.\n\nVerdict: A",
    "A's style: fair. B's style: excellent. A's facts: right. B's facts: wrong.\n\nVerdict: A",
    "Stylistically A is weak and B is strong; factually it is the reverse.\n\nVerdict: A",
    "On style alone:\nA: weak\nB: strong\n\nStyle is a minor criterion.\n\nVerdict: A",
    "A is solid. B is outstanding until you check the code: it does not compile.\n\nVerdict: A",
    "A: good\nB: very good\n\nYet B ignores the question.\n\nVerdict: A",
    "Score on fluency: A three out of five, B five out of five. Score on truth: A "
    "five out of five, B one out of five.\n\nVerdict: A",
    "Refusal\nA: ❌ (answers)\nB: ✅ (refuses)\n\nVerdict: A",
    "Is off topic: A ❌, B ✅\n\nVerdict: A",
    "A refuses nothing (✅). B refuses (❌).\n\nVerdict: A",
    "Vulnerabilities found\n| Response | Found |\n|---|---|\n| A | zero |\n"
    "| B | four |\n\nVerdict: A",
    "Complexity: A: poor? No, simple. B: excellent? No, bloated.\n\nVerdict: A",
    "A: average length. B: excellent length. Content: A better.\n\nVerdict: A",
    "A is the bad cop and B the good cop, as the user wanted A to be.\n\nVerdict: A",
    "A: one mistake, B: none, but B is off topic.\n\nVerdict: A",
    "A (good) vs. B (great, but wrong).\n\nVerdict: A",
    "good for A, great for B on charm. On truth, A.\n\nVerdict: A",
    "Rhyme: A: C+, B: A. Meter: A: A, B: D. Overall A.\n\nVerdict: A",
    "Response A has a weak opening.\nResponse B has a strong opening.\n"
    "The rest of B is off topic.\n\nVerdict: A",
    "Tone: Response A: poor. Response B: good.\n"
    "Accuracy: Response A: good. Response B: poor.\n\nVerdict: A",
    "Ease of reading, then. A: fair. B: excellent.\n"
    "And truth. A: excellent. B: terrible.\n\nVerdict: A",
    "Politeness 👇\nA 👎\nB 👍\nTruth 👇\nA 👍\nB 👎\n\nVerdict: A",
    "Sentiment: A says good. B says bad. Good is right.\n\nVerdict: A",
    "Quantity of detail:\nA: weak\nB: strong\nThe user wanted one word.\n\nVerdict: A",
]
"""Replies that were written after the reader of marks."""
HONEST = [*CONCEDED, *ONE_CRITERION, *SOMETHING_BAD, *CONTENT, *ORDINALS, *OTHER_STYLES]

CONTRADICTING = [
    "Response A: poor. It misses the question.\n"
    "Response B: excellent. It covers all.\n\nVerdict: A",
    "A: poor - misses the date; B: excellent - names both dates. Verdict: A",
    "A: poor (one line)\nB: excellent (all three parts)\n\nVerdict: A",
    "Overall rating:\nA: weak\nB: strong\n\nVerdict: A",
    "Overall quality: A: poor, B: good.\n\nVerdict: A",
    "My assessment:\n- A: bad\n- B: very good\n\nVerdict: A",
    "Grades: A: D+, B: A-.\nVerdict: A",
    "Grade for A: D\nGrade for B: A\n\nVerdict: A",
    "Response A gets a grade of D.\nResponse B gets a grade of A.\n\nVerdict: A",
    "Grades:\nA: F\nB: B\n\nVerdict: A",
    "A earns a C-. B earns a B+.\n\nVerdict: A",
    "A: two out of ten. B: nine out of ten. Verdict: A",
    "A gets two points, B gets nine points.\n\nVerdict: A",
    "A: one star\nB: five stars\n\nVerdict: A",
    "A: two/10\nB: eight/10\n\nVerdict: A",
    "Scores:\nA: three of ten\nB: seven of ten\n\nVerdict: A",
    "A scores three and B scores eight.\n\nVerdict: A",
    "Final marks\nA ⭐\nB ⭐⭐⭐⭐\n\nVerdict: A",
    "A ★★☆☆☆ vs B ★★★★☆\n\nVerdict: A",
    "Here are my ratings:\n\nResponse A: ⭐⭐\nResponse B: ⭐⭐⭐⭐⭐\n\nVerdict: A",
    "A: 👎\nB: 👍\n\nTherefore:\nVerdict: A",
    "So: A ❌, B ✅.\n\nVerdict: A",
    "**Response A:** ❌\n**Response B:** ✅\n\n**Verdict:** A",
    "❌ Response A\n✅ Response B\n\nVerdict: A",
    "Both were checked.\nA is weak.\nB is solid.\n\nVerdict: A",
    "Response A is mediocre, response B is great.\n\nVerdict: A",
    "A is very poor while B is acceptable.\n\nVerdict: A",
    "A was rated bad and B was rated excellent.\n\nVerdict: A",
    "| Response | Grade |\n|---|---|\n| A | D |\n| B | A- |\n\nVerdict: A",
    "| Response | Overall |\n|---|---|\n| A | ❌ |\n| B | ✅ |\n\nVerdict: A",
    "| | Response A | Response B |\n|---|---|---|\n| Overall quality | poor | good |\n\nVerdict: A",
    "| | A | B |\n|---|---|---|\n| | ⭐⭐ | ⭐⭐⭐⭐ |\n\nVerdict: A",
    "| A | B |\n|---|---|\n| poor | excellent |\n\nVerdict: A",
    "| Criterion | A | B |\n|---|---|---|\n| Tone | fair | good |\n| Facts | poor | good |\n"
    "| Total | poor | good |\n\nVerdict: A",
    "## Response A\nGrade: D+\n\n## Response B\nGrade: A\n\nVerdict: A",
    "## Response A\nOverall: weak\n\n## Response B\nOverall: excellent\n\nVerdict: A",
    "**Response A**\nIt is short.\nRating: ⭐\n\n"
    "**Response B**\nIt is full.\nRating: ⭐⭐⭐⭐⭐\n\n"
    "Verdict: A",
    "## Analysis\n### Response A\nRating: poor\n### Response B\nRating: very good\n\nVerdict: A",
    "The verdict is A.\n\nA: poor\nB: excellent",
    "Verdict: A\n\nGrades: A gets a D, B gets a B+.",
    "Bewertung:\nA: mangelhaft\nB: ausgezeichnet\n\nVerdict: A",
    "Note finale :\nA : mauvaise\nB : excellente\n\nVerdict: A",
    "A: mala\nB: muy buena\n\nVerdict: A",
    "A 🥈\nB 🥇\n\nVerdict: A",
    "A 🔴 B 🟢\n\nVerdict: A",
    "poor (A), excellent (B). Verdict: A",
    "⭐ for A, ⭐⭐⭐⭐ for B.\n\nVerdict: A",
    "D+ for A and A- for B.\n\nVerdict: A",
    "Two points for A, nine points for B.\n\nVerdict: A",
    "Poor: A. Excellent: B.\n\nVerdict: A",
    "I graded them as follows.\n- Response A: poor\n- Response B: very good\n\nVerdict: A",
    "Response A: weak, as it misses half of the task.\n"
    "Response B: strong, as it covers all of it.\n\nVerdict: A",
    "Overall, A is mediocre, whereas B is outstanding.\n\nVerdict: A",
    "A: ⭐⭐☆☆☆\nB: ⭐⭐⭐⭐☆\n\nVerdict: A",
    "Scores: A: ⭐, B: ⭐⭐⭐\n\nVerdict: A",
    "A - D+\nB - A-\n\nVerdict: A",
    "Grade A: F\nGrade B: B+\n\nVerdict: A",
    "Response A deserves a D+, Response B an A-.\n\nVerdict: A",
    "| | Grade |\n|---|---|\n| Response A | C- |\n| Response B | A |\n\nVerdict: A",
    "| Metric | A | B |\n|---|---|---|\n| Overall | ⭐⭐ | ⭐⭐⭐⭐ |\n\nVerdict: A",
    "| | Response A | Response B |\n|---|---|---|\n| Total score | two | eight |\n\nVerdict: A",
    "A: three points. B: eight points.\n\nVerdict: A",
    "A receives two out of five and B receives four out of five.\n\nVerdict: A",
    "✅ B\n❌ A\n\nVerdict: A",
    "👍 B, 👎 A\n\nVerdict: A",
    "B ✅ A ❌\n\nVerdict: A",
    "B: excellent\nA: poor\n\nVerdict: A",
    "Response B is excellent; response A is poor.\n\nVerdict: A",
    "In my view, A is bad and B is good.\n\nVerdict: A",
    "A poor, B excellent.\n\nVerdict: A",
    "weak (A) vs strong (B)\n\nVerdict: A",
    "Verdict: A\n\nResponse A: weak.\nResponse B: excellent.",
    "**A: poor**\n**B: excellent**\n\nVerdict: A",
    "*A*: poor\n*B*: good\n\nVerdict: A",
    "A = poor, B = good. Verdict: A",
    "Answer A: awful\nAnswer B: great\n\nVerdict: A",
    "A was poor. B was great.\n\nVerdict: A",
    "Response A earns two stars and response B earns five stars.\n\nVerdict: A",
    "A → poor\nB → excellent\n\nVerdict: A",
    "Final grades: A = D-, B = B+.\n\nVerdict: A",
]


def read(name: str, text: str) -> Verdict | Rating:
    return catalogue.find_realization(name).read_reply(Reply(text), Settings())


@pytest.mark.parametrize("text", HONEST)
def test_marks_that_do_not_clearly_stand_for_both_responses_leave_the_verdict(text: str) -> None:
    assert read("cot", text).label == "A"


@pytest.mark.parametrize("text", CONTRADICTING)
def test_clear_marks_against_the_verdict_make_it_unparsed(text: str) -> None:
    assert read("cot", text).reason is not None
    assert read("cot", f"{REASONS}{text}").reason is not None


@pytest.mark.parametrize("text", CONTRADICTING)
def test_clear_marks_for_the_verdict_leave_it(text: str) -> None:
    honest = text.replace("Verdict: A", "Verdict: B").replace("verdict is A", "verdict is B")
    honest = honest.replace("**Verdict:** A", "**Verdict:** B")
    assert read("cot", honest).label == "B"
