"""The text of each warning, by code.

`podium.notices.notice_text` fills a text with the fields of the notice:

- `{items:,}` is a number, and `{models}` a list whose elements are joined by commas.
- `{files:most 3}` shows at most three elements of a list, and `{sizes:most 10 #: @}` ten of a
  mapping, each as its key (`#`) and value (`@`). `{battles:most 5;}` puts semicolons between them.
- `{files:len}` is the length of a list.
- `{models:noun model}` is `model` or `models`, and `{lost:one is|are}` is `is` or `are`.
- `{why:? (#)}` is ` (TEXT)`, and `{limits:?; #}` is `; TEXT`, or nothing if the field is empty.
  All after `?` is written, blanks included, with the value in place of `#`.
- `{option:by=task}`, `{setting:pin=MODEL}` and `{argument:show=transcript}` are options, written
  as the user types them: in a shell, in Python or in a host (`podium.notices.option_forms`).
"""

# The text of each warning about files and tables of battles or scores, by code.
OF_READING = {
    # For `{x:?; #}` and the other formats, see the top of this file.
    "accepted": "{sentence}",
    "arena-rows": (
        "Arena's own scripts leave out {rows:,} of these {battles:,} battles, which count here "
        "({flags:most 5 @ without #}); {option:where={conditions}} leaves them out"
    ),
    "arena-rows-left-out": (
        "{rows:,} of {battles:,} battles are left out by {conditions}, as by Arena's own scripts"
    ),
    "attempts": (
        "{runs} attempts of {who} on {what}: the newest whole one counts ({chosen}), not "
        "{others:most 3}"
    ),
    "attempts-on-tasks": (
        "several attempts of {who} on each of {tasks:len} tasks ({tasks:most 3}): the newest whole "
        "one counts (on {what} {chosen}, not {others:most 1})"
    ),
    "bad-rows": (
        "{source}: {rows:,} {rows:noun row} left out: {places:most 5; #: @}. Repair the file, or "
        "remove {rows:one it|them}"
    ),
    "blank-items": (
        "{blank:,} of {rows:,} {rows:noun row} {blank:one has|have} no item, and "
        "{blank:one it counts|each of them counts} as an item of its own: fill in the items"
    ),
    "bare-names": (
        "models named with and without a provider may be the same: {names:most 5; # and @}; they "
        "are kept apart. If two are one model, write its name in one way"
    ),
    "complete-items": "complete items only: {kept} of {items} {items:noun item} kept",
    "copied-rows": (
        "{rows:,} {what} stand in several files: each counts as often as in the file that has it "
        "most often (a column repeat would mark them as repeated judgments)"
    ),
    "counts-repeat": (
        "{source}: {rows} {rows:noun row} of counts {rows:one repeats|repeat} another row in every "
        "column; the battles count again"
    ),
    "counts-unread": (
        "each row counts as one battle, whatever is in the column {column} (up to {largest:,.0f}): "
        "if a row stands for several battles, give their numbers as columns wins_a, wins_b and ties"
    ),
    "cut-off-line": "{path}, {place}: cut off, so its document is missing{task:?; run # again}",
    "copies-uncounted": (
        "rows that stand in two of the files count twice: Spark does not look for them, DuckDB does"
    ),
    "different-documents": (
        "{task}: not all have the same documents ({sizes:most 10 #: @}); {common:,} "
        "{common:one is|are} common to all"
    ),
    "different-targets": (
        "{documents:,} {documents:noun document} of {task} {documents:one has|have} different "
        "targets in different runs, and scores against different targets are not compared: {item} "
        "in {places:most 3; #}"
    ),
    "targets-differ": (
        "{items:,} {items:noun item} of {task} {items:one has|have} different targets in different "
        "runs, and scores against different targets are not compared: item {item} in "
        "{places:most 2}. Score the runs against the same targets; {option:allow=questions} "
        "compares them anyway"
    ),
    "different-words": (
        "{items:len} {items:noun item} {items:one was|were} put to models in different words; the "
        "judge is shown the shortest: {items:most 5}"
    ),
    "different-words-compared": (
        "{items:len} {items:noun item} {items:one was|were} put to models in different words"
    ),
    "documents-missing": (
        "{path} contains {documents:,} of {expected:,} {expected:noun document}; run {task} again"
    ),
    "documents-missing-alike": (
        "{files:len} {files:noun file} {files:one contains|contain} {documents:,} of "
        "{expected:,} {expected:noun document} each ({files:most 3}); run {tasks:most 3} again"
    ),
    "documents-missing-in-files": (
        "{files:len} {files:noun file} {files:one contains|contain} fewer documents than "
        "{files:one its|their} results count: {files:most 3}; run {tasks:most 3} again"
    ),
    "equal-files": (
        "{files:len} {files:noun file} without items {files:one holds|hold} the rows of another, "
        "so few that chance may do it: {files:one it counts|they count} apart; leave out what is a "
        "copy: {files:most 3}"
    ),
    "few-annotations": (
        "files with fewer annotations than the fullest: {files:most 20 # (@ of {most})}"
    ),
    "files-without-responses": (
        "{files:len} {files:noun file} {files:one holds|hold} no responses and "
        "{files:one was|were} skipped: {files:most 3}"
    ),
    "files-without-verdicts": (
        "{files:len} {files:noun file} {files:one holds|hold} no verdicts and {files:one was|were} "
        "skipped: {files:most 3}"
    ),
    "groups-of-log-unused": (
        "the log's own standard errors are clustered by {column}, and podium's are not: {why}"
    ),
    "human-labels": (
        "human labels: {votes:,} {votes:noun vote} by "
        "{judge}{unparsed:? (# more without verdict or item)}, on {pairs:,} {pairs:noun pair} of "
        "responses, label {labelled:,} of {battles:,} {battles:noun battle}; {rest:,} "
        "{rest:one has|have} no label"
    ),
    "ids-begin-anew": (
        "ids are numbers that begin anew in each {column}: {column} and id together are the item "
        "({items:,} {items:noun item}); {option:ids=global} takes the id alone"
    ),
    "ids-with-inputs-of-categories": (
        "ids have other inputs in each {column}: {column} and id together are the item "
        "({items:,} {items:noun item}); {option:ids=global} takes the id alone"
    ),
    "items-alike": (
        "{groups} {groups:noun group} of items {groups:one differs|differ} by white space, case or "
        "Unicode form alone (for example {first!r} and {second!r}): they count as different items"
    ),
    "judgments-appended": (
        "{source}: {rows:,} {rows:noun judgment}, the first in {row}, {rows:one repeats|repeat} "
        "question, models, judge and turn of an earlier one, as if another run was appended: the "
        "first counts"
    ),
    "judgments-unmerged": (
        "{judgments} {judgments:noun judgment} {judgments:one shares|share} item, pair, judge and "
        "repeat with more than one other, and {judgments:one is|are} not merged (a `repeat` column "
        "would say which belong together)"
    ),
    "ladder-error-assumed": (
        "no standard error is given for the {models:noun rating} of {models}, and {elo:g} Elo is "
        "assumed: write NAME:1500+-25, or +-0 for an exact rating"
    ),
    "ladder-unbounded": "{source}: without a bounded rating (`*`), so newcomers: {models}",
    "left-out": "left out: {why}{remedy:?. Remedy: #}",
    "likely-item": (
        "no item column: rows counted as independent; nobody is called clearly ahead, because "
        "{column} looks like the item; if {column} is the item, say {option:columns=item={column}}"
    ),
    "log-likelihood": (
        "{metric} of {task}: a document's value is its log-likelihood, higher is better"
    ),
    "log-unfinished": (
        "left out: {path}: its eval did not finish, its status is {status}; `inspect eval-retry` "
        "runs it again"
    ),
    "lone-models": "files that compare a model only with itself were skipped: {files:most 3}",
    "lower-is-better": (
        "{metric}{task:? of #}: lower is better, so scores are negated: -0.25 stands for 0.25"
    ),
    "lower-is-better-by-name": (
        "{metric}{task:? of #}: by its name lower is better, so scores are negated: -0.25 stands "
        "for 0.25; {option:lower_is_better=false} leaves them as they are"
    ),
    "margin-sign": (
        "{battles} {battles:noun battle} {battles:one has|have} a margin and no credit: the sign "
        "of the margin stands in"
    ),
    "total-rows": (
        "{source}: {rows:len} {rows:noun row} left out, whose scores are the means or sums of the "
        "others: {rows:most 5}"
    ),
    "columns-as-models": "{source}: columns read as models: {models:most 12}",
    "matrix-columns-left-out": (
        "{source}: left out, because the names are not those of models but of facts about rows: "
        "{columns}"
    ),
    "matrix-read-as": (
        "{source} is read as a row per {row} and a column per {column}; call the first column "
        "({name!r}) item or model"
    ),
    "matrix-read-without-name": (
        "{source} is read as a row per {row} and a column per {column}; call the first column, "
        "which has no name, item or model"
    ),
    "mean-of-shared": (
        "{metric} of {task} is a mean over the documents that other models have, too, and the "
        "figure of lm-eval is over all documents: {files:most 3 # (@)}"
    ),
    "mean-not-reported": (
        "the mean of {metric} over the documents is not the figure that lm-eval reports, which is "
        "aggregated otherwise: {files:most 3 # (@)}"
    ),
    "metric-direction": (
        "no results file says which {metric} of {task} is better: higher is taken to be"
    ),
    "metric-missing": (
        "{path} has no {metric} (it has {known}), so {model} is not compared on {task}"
    ),
    "verdicts-count": (
        "{task}: the verdicts of {scorers} count ({judged} models), and not the scores ({scored} "
        "{scored:noun model}); {option:metric={metric}} takes the scores"
    ),
    "scores-count": (
        "{task}: the scores count ({scored} models), and not the verdicts of {scorers} ({judged} "
        "models); {option:metric={scorer}} takes the verdicts"
    ),
    "models-without-verdicts": (
        "{models:most 10} {models:one is|are} not ranked on {task}, because no verdict of "
        "{scorers} is about {models:one it|them}; {option:metric={metric}} ranks by scores"
    ),
    "models-without-scores": (
        "{models:most 10} {models:one is|are} not ranked on {task}, because "
        "{models:one it has|they have} no scores; {option:metric={scorer}} ranks by verdicts"
    ),
    "battles-not-judged": "{path}: {scorers} judged no battle: {why}",
    "metric-of-no-run": (
        "{tasks:most 5} {tasks:one has|have} no {metrics} and {tasks:one is|are} left out"
    ),
    "names-joined": "names that look the same count as one: {names:most 10; @ as #}",
    "metric-of-one-model": (
        "{model} is not compared: its scores are by {metrics:most 5}, which no other model has "
        "(others have {known:most 5})"
    ),
    "mapping-file": "read as {file} declares ({keys:most 20})",
    "models-without-battles": (
        "{source}: all counts of {models:most 5} are 0, so {models:one it has|they have} no battle "
        "and {models:one is|are} not ranked"
    ),
    "no-item-column": "no item column: rows counted as independent",
    "no-judge-column": (
        "no judge column: the {raters} in {column} count as one judge; if {column} is the judge, "
        "say {option:columns=judge={column}}; if these are human voters, "
        "{option:columns=voter={column}}"
    ),
    "no-whole-row": ("{path}: no whole row of samples, so {model} is missing; run {task} again"),
    "no-such-column": "no column {column!r} in {files:most 3}: none of their rows kept",
    "one-model-samples": "{task}: only {model} has samples of it; comparing takes two models",
    "one-model-samples-of-tasks": (
        "only {model} has samples of {tasks:len} tasks ({tasks:most 3}); comparing takes two models"
    ),
    "orders-unknown": (
        "{rows} {rows:noun row} {rows:one compares|compare} (a, b) on an item that also has (b, "
        "a): if model_a was shown first, say {option:shown=a}, and the two orders are merged"
    ),
    "other-trials-scored": (
        "models were scored in different epochs or repeats on {unequal:,} of {items:,} "
        "{items:noun item}{task:? of #}: all scores of one are compared with all of the other, "
        "and means are over all scores"
    ),
    "repeated-pairs": (
        "{pairs:,} {pairs:noun pair} {pairs:one has|have} the id of an earlier pair; each is an "
        "item of its own"
    ),
    "paired-by-input": (
        "{ids:,} {ids:noun id} {ids:one stands|stand} for different {what} (column {column}), "
        "so rows are paired by these; {option:ids=global} pairs them by id"
    ),
    "repeats-numbered": (
        "the two orders have repeats of other numbers ({first:most 5} and {second:most 5}): the "
        "first of one is merged with the first of the other, and so on"
    ),
    "rows-by-id": (
        "{ids:,} {ids:noun id} {ids:one stands|stand} for different inputs ({reason:most 4}), so "
        "rows are paired by id"
    ),
    "rows-repeat": (
        "{rows} {rows:noun row} {rows:one repeats|repeat} another row in every column; "
        "{rows:one it counts as a repeat|they count as repeats}"
    ),
    "label-joins-settings": (
        "runs labelled {model} differ in {settings:most 5}, and the label makes them one model: "
        "give each setting a label of its own, or none"
    ),
    "runs-repeated": (
        "{who} was run {runs} times on {what}: {which} counts ({chosen}), not {others:most 3}"
    ),
    "runs-repeated-on-tasks": (
        "{who} was run several times on each of {tasks:len} tasks ({tasks:most 3}): {which} counts "
        "(on {what} {chosen}, not {others:most 1})"
    ),
    "samples-not-logged": (
        "{models:most 5} {models:one has|have} no samples beside {results:most 1}: run lm_eval "
        "with --log_samples"
    ),
    "samples-packed": (
        "{models:most 5} {models:one has|have} no samples beside {results:most 1}: unpack "
        "{models:one its|their} .gz files"
    ),
    "samples-without-verdicts": (
        "{files} samples {files:noun file} without verdicts {files:one is|are} left out"
    ),
    "scores-alone": (
        "{scores} {scores:noun score} {scores:one stands|stand} on items where no other model was "
        "scored: {scores:one it enters|they enter} no battle and no mean"
    ),
    "scores-averaged": (
        "{scores} {scores:noun score} of a model already scored on the same item "
        "{scores:one was|were} averaged with it"
    ),
    "scores-missing": (
        "{missing:,} of {scores:,} {scores:noun score} {missing:one is|are} missing "
        "({items:most 5; #: @})"
    ),
    "settings-differ": "{task}: models were run with settings of their own: {differences:most 4;}",
    "settings-name-models": (
        "runs of {model} with other settings count as different models: {names}"
    ),
    "names-in-spellings": (
        "models whose names differ in letter case, blanks, hyphens or underscores only may be the "
        "same: {names:most 5;}; they are kept apart. If two are one model, write its name in one "
        "way"
    ),
    "other-metrics": (
        "the eval's first metric counts ({chosen:most 5}); {option:metric=NAME} takes another "
        "({others:most 6})"
    ),
    "group-apart": (
        "the eval's figure of {group} ({metric}) is neither the mean over documents nor over "
        "tasks: its tasks are ranked alone"
    ),
    "tasks-without-metric": (
        "{tasks:len} {tasks:noun task} without {metrics} {tasks:one is|are} left out: "
        "{tasks:most 10}"
    ),
    "tasks-without-scorer": (
        "{tasks:len} {tasks:noun task} without a scorer {tasks:one is|are} left out: "
        "{tasks:most 10} ({logs} {logs:noun log}); a judge compares their responses: `{command}`"
    ),
    "tasks-without-numbers": (
        "{tasks} {tasks:noun task} {tasks:one is|are} left out, having no number per document: "
        "{why:most 3;}"
    ),
    "true-and-false": (
        "columns of true and false beside columns of numbers are not read as scores: {columns}; "
        "write 1 and 0 if they are scores"
    ),
    "turns-are-items": (
        "ids have rows of several turns: id and turn together are the item ({items:,} "
        "{items:noun item}); {option:ids=global} takes the id alone"
    ),
    "unequal-scores": (
        "models have different numbers of scores (epochs, repeats) on {unequal:,} of {items:,} "
        "{items:noun item}{task:? of #}: {numbers:most 5 #: @} scores an item; all scores of one "
        "are compared with all of the other, and means are over all scores"
    ),
    "unshared-documents": (
        "{path}: no document or target of {model} is in another's samples of {task}: another "
        "version, split or selection of the task? (documents that hold images hash differently in "
        "every run)"
    ),
    "votes-agree": (
        "of {battles:,} {battles:noun battle} with several votes, all votes agree on {share:.0%}"
    ),
    "win-matrices-skipped": (
        "tables of wins were skipped, because none says whose they are: {files:most 3}; say "
        "{option:matrix}"
    ),
    "voters-pooled": (
        "{voters:,} {voters:noun voter} gave {votes:,} {votes:noun verdict}, which count together "
        "as those of one population; the column voter names them"
    ),
    "win-matrix-columns-left-out": (
        "{source}: left out, because no row has the name of the column: {columns}"
    ),
    "win-matrix-rows-left-out": (
        "{source}: left out, because no column has the name of the row: {rows}"
    ),
    "win-matrix": (
        "{source}: each cell is read as the number of battles that its {whose}'s model won; ties "
        "are not in it"
    ),
}
# Warnings about the responses of models, and about the calls of a tournament.
OF_RESPONSES = {
    # For `{x:?; #}` and the other formats, see the top of this file.
    "batches-in-rounds": (
        "batches of a provider wait for one another: at most {rounds:,} rounds, each of which "
        "waits at least {seconds:g} seconds ({minutes:,.3g} minutes together), and up to 24 hours "
        "if its provider needs them ({days:,} days); answers, checklists and replies that cannot "
        "be parsed wait once more. podium/ring without until= plays all battles in one round"
    ),
    "batches-in-unknown-rounds": (
        "batches of a provider wait for one another: each round waits at least {seconds:g} "
        "seconds, and up to 24 hours if its provider needs them, and how many rounds there are is "
        "not known; answers, checklists and replies that cannot be parsed wait once more. "
        "podium/ring without until= plays all battles in one round"
    ),
    "no-batches": (
        "{models}: Inspect has no batches of this provider, so calls are made one by one, at full "
        "price"
    ),
    "choices-not-shown": (
        "{task}: {inputs:,} {inputs:noun input} {inputs:one has|have} choices, which are no part "
        "of the prompt"
    ),
    "conversations-as-text": (
        "{task}: {inputs:,} {inputs:one input is a conversation|inputs are conversations}; models "
        "are shown each as one text"
    ),
    "judges-own-answers": (
        "{models} judges its own answers: take another judge, or treat its rank with caution"
    ),
    "last-message-alone": (
        "{hidden:,} of {responses:,} {responses:noun response} {hidden:one holds|hold} {what}, and "
        "the judge is shown only the last message ({models}); {argument:show=transcript} shows all "
        "of it"
    ),
    "long-final-answers": (
        "{answers:,} final {answers:one answer is|answers are} longer than a transcript may be, "
        "and shown whole"
    ),
    "prompts-repeated": (
        "{prompts:,} {prompts:noun prompt} {prompts:one appears|appear} more than once and "
        "{prompts:one counts|count} once"
    ),
    "prompts-without-id": (
        "{prompts:,} {prompts:noun prompt} {prompts:one has|have} no id; a hash of "
        "{prompts:one its|their} text is {prompts:one its|their} id ({first} ...)"
    ),
    "instructions-differ": (
        "{items:len} {items:noun item} {items:one has|have} different instructions in different "
        "runs; the judge is shown the shortest: {items:most 5}"
    ),
    "models-differ-in-setting": "models were run with different settings: {difference}",
    "questions-by-category": (
        "{task}: ids stand for other questions in each category: category and id together are the "
        "item ({items:,} {items:noun item})"
    ),
    "questions-by-id": (
        "{task}: inputs differ between runs ({reason:most 4}), so items are paired by id"
    ),
    "questions-by-input": (
        "{task}: {ids:,} {ids:noun id} {ids:one stands|stand} for different inputs in different "
        "runs, so items are paired by input"
    ),
    "questions-unanswered": (
        "{questions:len} {questions:noun question} without a response {questions:one was|were} "
        "left out: {questions:most 5}"
    ),
    "reasoning-left-out": (
        "{reasoning:,} of {responses:,} {responses:noun response} {reasoning:one begins|begin} "
        "with reasoning, which the judge is not shown{unfinished:? (# hold nothing else)}; "
        "{argument:reasoning=keep} shows it"
    ),
    "responses-recorded": (
        "{model}: {recorded:,} {recorded:one response is|responses are} recorded; {pending:,} can "
        "be asked for"
    ),
    "responses-unasked": (
        "{responses:,} {responses:one response is|responses are} to none of the {prompts:,} "
        "{prompts:noun prompt}, and left out"
    ),
    "several-responses": (
        "{items:,} {items:noun item} {items:one has|have} up to {most} responses of a model "
        "(epochs, repeats): the first meets the first, the second the second, ..."
    ),
    "transcripts": (
        "{shown:,} of {responses:,} {responses:noun response} ({share:.0%}) {shown:one is|are} "
        "shown as transcripts of at most {tokens:,} tokens{context}: {models}; "
        "{argument:show=answer} shows the last message alone"
    ),
    "transcripts-as-recorded": (
        "{shown:,} of {responses:,} {responses:noun response} ({share:.0%}) {shown:one is|are} "
        "shown as transcripts, as the log holds them: {models}"
    ),
    "transcripts-cut": (
        "{cut:,} of {transcripts:,} {transcripts:noun transcript} {cut:one is|are} cut to fit "
        "({models}): {characters:,} characters are left out{limits:?; #}"
    ),
    "transcripts-cut-by-tokens": (
        "{cut:,} of {transcripts:,} {transcripts:noun transcript} {cut:one is|are} cut to fit "
        "({models}): {characters:,} characters are left out{limits:?; #}; "
        "{argument:transcript_tokens=N} shows more"
    ),
    "transcripts-cut-unevenly": (
        "transcripts of {most} are cut more often ({high:.0%}) than those of {least} ({low:.0%}): "
        "the judge sees less of its work"
    ),
}

# Warnings about logs of Inspect.
OF_LOGS = {
    # For `{x:?; #}` and the other formats, see the top of this file.
    "empty-shard": ("left out: {path}: its shard has no battle; give the logs of the other shards"),
    "scores-are-lists": (
        "scores of {scorers} in {task} are lists and are not ranked: let the scorer return a "
        "dictionary, of which each field is a metric, or one number"
    ),
    "answers-without-limit": (
        "{path}: {model} answered without the limit of output tokens that was asked for; {why}"
    ),
    "answers-without-temperature": (
        "{path}: {model} answered without the temperature that was asked for, at the one that its "
        "server chooses; {why}"
    ),
    "earlier-form": (
        "earlier={log}: its judge {judge} was asked for replies in another way than {now}, so the "
        "newcomers' verdicts may differ from those of the others; {argument:replies={replies}} "
        "asks as there"
    ),
    "forms-of-replies-differ": (
        "{judge} answered in a JSON schema in {schema:most 3}, and with text in {text:most 3}, "
        "because it took no schema there. These are two ways of asking, which may differ in their "
        "verdicts; {argument:replies=text} asks for text everywhere"
    ),
    "forms-of-replies-mixed": (
        "{path}: {judge} gave {schema:,} {schema:noun verdict} in a JSON schema and {text:,} with "
        "text, because it took no schema in a part of the run. These are two ways of asking, which "
        "may differ in their verdicts; {argument:replies=text} asks for text everywhere"
    ),
    "limits-differ": "runs of {model} on {task} have different limits ({limits:most 5})",
    "mean-differs-from-log": (
        "{path}: {metric} is {mean:.4g} here ({items:,} {items:noun item}) and {own:.4g} in the "
        "log's results{own_items:? (# items)}"
    ),
    "models-absent-from-task": "no battle of {models:most 5} is in this task",
    "one-sided-differs": (
        "battles with one readable order are unparsed here, though {files:most 3} "
        "{files:one keeps|keep} their verdict; {option:one-sided=keep} keeps it everywhere, and "
        "{option:one-sided=unparsed} nowhere"
    ),
    "models-absent": "no battle of {models:most 5} is there: no ranking of these logs has them",
    "no-logprobs": (
        "{path}: {judge} was asked without token probabilities, so that its credits are not "
        "graded; {why}"
    ),
    "no-max-tokens": "{path}: {judge} was asked without a limit of output tokens; {why}",
    "no-schema": "{path}: {judge} was asked for text, because it takes no JSON schema; {why}",
    "no-temperature": (
        "{path}: {judge} was asked without a temperature, so that its verdicts may vary from call "
        "to call; {why}"
    ),
    "other-reducers": (
        "{task} has scores reduced by {reducers:most 5} too, which are not read: the first reducer "
        "of a "
        "log counts"
    ),
    "run-cut": "{path}: the run ended with status {status}; its finished samples count",
    "run-failed": (
        "left out: {path}: no sample of it finished, its status is {status}; `inspect eval-retry` "
        "runs it again"
    ),
    "judge-cannot-judge": "{path}: {why}",
    "judge-stopped": "{path}: {why}",
    "judge-stopped-beside": "left out: {path}: {why}",
    "run-unfinished": (
        "{path}: {battles:,} {battles:noun battle} {battles:one was|were} not played and "
        "{battles:one is|are} missing; the run did not end, and `inspect eval-retry` on its log "
        "plays them"
    ),
    "runs-replaced": "this run of {model} counts, not the earlier ones in {place}",
    "samples-excluded": (
        "{path}: {left_out:len} of {samples:,} {samples:noun sample} with scores by {metric} "
        "{left_out:one is|are} not in the log's own figures (excluded from its metrics), and left "
        "out: {left_out:most 10}"
    ),
    "invalidated-unmarked": (
        "{path}: the log says that samples of {model} are invalidated and marks none of its "
        "{samples:,} {samples:noun sample}, so all of them count; mark wrong ones with "
        "inspect_ai.log.invalidate_samples"
    ),
    "samples-invalidated": (
        "{path}: {left_out:len} of {samples:,} {samples:noun sample} of {model} "
        "{left_out:one is|are} invalidated, and left out: {left_out:most 10}{reasons:? (#)}"
    ),
    "schedule-cut": (
        "{path}: {battles:,} {battles:noun battle} {battles:one was|were} not played and "
        "{battles:one is|are} missing; {options} cut the schedule: {argument:limit=N} plays N "
        "whole items"
    ),
    "schema-needed": (
        "{path}: {repeated:,} of {verdicts:,} {verdicts:noun verdict} {repeated:one was|were} "
        "parsed only when asked for again with a JSON schema; {argument:replies=schema} asks so at "
        "once, for fewer calls"
    ),
    "scores-reduced": (
        "the scores of {task} are reduced as in the logs, {reduction}: {means:most 5}; in brackets "
        "the mean over all epochs"
    ),
    "shards-missing": (
        "shard {shards:most 8} is missing, and with it {battles:,} {battles:noun battle} of the "
        "plan"
    ),
    "shown-of-agents": "{path}: {note}",
    "silent-judge": (
        "{path}: {judge} judged none of its {battles:,} {battles:noun battle}, which "
        "{battles:one is|are} missing; the other judges' are here; fix its error, then `inspect "
        "eval-retry` on the log asks for them"
    ),
    "unequal-estimates": (
        "{metric} is estimated from different numbers of epochs: a win rate is the chance that "
        "one "
        "model passes where the other does not, ties counted as half"
    ),
    "unshown": (
        "{path}: {battles:,} {battles:one battle is|battles are} missing: {why}; take a judge that "
        "sees what the models saw, with room for it"
    ),
}

# Warnings of rankers.
OF_RANKERS = {
    # For `{x:?; #}` and the other formats, see the top of this file.
    "all-separated": (
        "separated, rating set by the regularization ({regularization:g}) and unbounded by the "
        "data: every model. What would bound the ratings: battles that upset the order of some "
        "pair"
    ),
    "all-separated-unregularized": (
        "no finite maximum-likelihood rating with regularization=0: separated: every model. What "
        "would bound the ratings: battles that upset the order of some pair"
    ),
    "between-calibrated-models": (
        "{battles:,} {battles:noun battle} between calibrated models {battles:one is|are} left "
        "out: their ratings are fixed"
    ),
    "between-new-models": (
        "{battles:,} {battles:noun battle} between new models {battles:one is|are} left out: "
        "each is placed alone"
    ),
    "clusters": (
        "{clusters} {unit}s: a bootstrap interval needs {fewest}; {setting:interval=sandwich} "
        "gives one from 2 on"
    ),
    "compared-by-credit": (
        "{battles} {battles:noun battle} {battles:one has|have} no margin, so verdicts are "
        "compared by their credit only"
    ),
    "conformal-too-narrow": (
        "conformal interval too narrow: more battles, or smaller standard errors, than the "
        "calibrated models have ({least_se:.1f} to {most_se:.1f}, from {fewest:,} to {most:,} "
        "battles each), to which these are not exchangeable: {models:most 20 # (@)}. More battles "
        "do not shrink the judge's disagreement with humans; place them by about as many battles "
        "as the calibrated ones had"
    ),
    "outside-calibrated-models": (
        "{models:most 5} {models:one is|are} rated {side} all calibrated models, where the judge "
        "was not compared with humans: the conformal {models:noun interval} {models:one is|are} "
        "open on that side. Calibration with labelled models of such ratings would close it"
    ),
    "continuous-verdicts": ("continuous verdicts: informativeness compares win, tie and loss only"),
    "design": (
        "weakly identified: the pairs that met give {efficiency:.1%} of the precision of a "
        "balanced round robin with as many battles (rating differences vary {times:.0f} times as "
        "much)"
    ),
    "different-items": (
        "models are scored on different items: {models:most 5 # on @ of {items:,}}"
    ),
    "different-opponents": (
        "models met different opponents: win rates are not on one scale, bradley-terry's ratings "
        "are"
    ),
    "disconnected": (
        "the battles fall into {groups} groups that never met: win rates compare within a group "
        "only"
    ),
    "equal-medians": (
        "{models} {models:noun model} {models:one has|have} the same median as another: it does "
        "not separate them"
    ),
    "few-clusters-of-models": (
        "models in fewer than {fewest} {unit}s have no bootstrap interval: {models}"
    ),
    "few-in-resamples": (
        "no interval for {models}: most bootstrap resamples contain too few of their battles"
    ),
    "few-labels": (
        "{labels:,} {labels:noun label} for {models} models, fewer than {fewest} each: how far "
        "the judge is trusted rests on a prior (spread_prior); `podium label` draws more battles "
        "to label"
    ),
    "few-resamples": "too few usable resamples: no bootstrap interval",
    "infinite-conformal-interval": (
        "infinite conformal interval: {used} calibrated {used:one model stands|models stand} for "
        "it, and the level needs at least {needed}: {models}"
    ),
    "items": "only {items} {nouns} (fewer than {fewest}): the intervals are approximate",
    "items-below-models": (
        "only {items} {nouns} (fewer than the {models} models): the intervals are approximate"
    ),
    "items-of-a-model": (
        "in fewer than {fewest} {nouns}, so their intervals are too narrow: {models:most 20 # (@)}"
    ),
    "items-of-median": (
        "{clusters} {unit}s: a bootstrap interval needs {fewest}; a median has no other; "
        "{option:ranker=mean} gives one from 2 on"
    ),
    "judge-turned": (
        "human ratings fall as the judge's rise: is its sign turned? Their slope is {slope:.2f} "
        "({low:.2f} … {high:.2f}, 90%)"
    ),
    "judge-unrelated": (
        "the judge's ratings may be unrelated to human ratings: their slope is {slope:.2f} "
        "({low:.2f} … {high:.2f}, 90%); the column `human` does not rest on them"
    ),
    "judges-contradict": (
        "the judges contradict each other (slope below 0: {who}), so all slopes were set "
        "equal; leave out the wrong judge"
    ),
    "kept-ladder-unused": "{options}: the ratings that the log keeps are not used",
    "labels-are-ties": (
        "all labels are ties, or votes that cancel each other: labels say nothing of the order"
    ),
    "labels-left-out": (
        "{labels:,} {labels:noun label} of models without verdicts {labels:one is|are} left out: "
        "{models}"
    ),
    "labels-not-random": (
        "labels are no random sample: humans were asked where the judge was {where} (mean {what} "
        "{inside:.2f} where they labelled, {outside:.2f} elsewhere, {z:+.1f} standard errors); "
        "ratings are biased. What would help: labels of battles drawn at random (`podium label`)"
    ),
    "labels-unbounded": (
        "labels alone do not bound these, or do not join them to others: {models}"
    ),
    "ladder-rating": (
        "The ladder's rating of {model} is {drift:.0f} Elo too {side} for these battles: correct "
        "it or leave it out"
    ),
    "ladder-scale": (
        "the ladder is on another scale than these battles: their ratings rise by {slope:.2f} "
        "({low:.2f} … {high:.2f}) per point of the ladder, so nothing is claimed about {new}. "
        "What "
        "helps: ratings by this judge and prompt"
    ),
    "length-effect-of-few": (
        "strength and length predict nearly every winner: the effect of length rests on as few as "
        "{behind:.1f} of {clusters:,} {unit}s"
    ),
    "light-opponents": (
        "met on less than half as many items as others, so they count less in others' win rates: "
        "{models:most 20 # (as @ of an opponent)}"
    ),
    "misjudged-model": (
        "the judge rates {model} {elo:.0f} Elo {side} than human labels do, more than labels by "
        "chance and the judge's errors on other models explain (p = {p:.1g}): {model} is rated "
        "mainly by its labels; kappa and spread rest on the other models"
    ),
    "anchor-played-less": (
        "{anchor}, the anchor of the win rates, played {battles:,} {battles:noun battle}, {other} "
        "{most:,}: the tournament had another anchor; play it with {argument:anchor={anchor}}, or "
        "rank with {setting:anchor={other}}"
    ),
    "never-met-anchor": "{model} has no readable battle against {anchor}: no score",
    "no-common-opponent": (
        "never the common opponent of two others on one item, so without informativeness: {models}"
    ),
    "no-common-model": (
        "no model is in every slice: each slice is centred on its own models, compare scores "
        "within a slice only"
    ),
    "no-length-control": "{model}: no length-controlled win rate: {why}",
    "no-lengths": "{model} has no readable battle with lengths against {baseline}: no score",
    "no-signal": (
        "{left_out:,} of {judged:,} judged {judged:noun battle} {left_out:one has|have} no "
        "{missing} and {left_out:one is|are} left out"
    ),
    "no-variation": "no variation between items for {models}: their interval cannot be computed",
    "none-placed": (
        "no conformal intervals: no model that the calibration does not know has battles against "
        "models that it knows; all are rated together, by its beta{unused:?; without effect: #}"
    ),
    "not-placed": (
        "no battles against calibrated models, so no place and no conformal interval: {models}. "
        "What would help: battles against any of the calibrated ones"
    ),
    "one-beta-for-judges": (
        "one beta for {judges:len} judges, whose margins may differ in scale: {judges}"
    ),
    "one-ended-intervals": (
        "an interval has one end where bootstrap resamples do not bound the rating: "
        "{models:most 5 # (@ of {resamples:,})}"
    ),
    "one-truth": (
        "the judges do not share one truth (p = {p:.2g}): their own ratings differ beyond slopes "
        "and chance{who}. All slopes are equal, and the ratings are of this mix of judges"
    ),
    "placed-by-one": "a single {unit}, or no variation, gives no interval: {models}",
    "placed-on-shared-items": (
        "battles of {models} share items and the calibration draws battles, not items: the "
        "sampling interval is too narrow (`podium calibrate --cluster item` draws items)"
    ),
    "placed-separated": (
        "separated, the data do not bound the rating, the regularization does: {models}"
    ),
    "resamples-left-out": (
        "{lost} of {resamples} bootstrap resamples were separated or disconnected and are left out"
    ),
    "separated": (
        "separated, rating set by the regularization ({regularization:g}) and unbounded by the "
        "data, 1500 is the mean of the others: {models:; # (@)}. What would bound it: battles "
        "that go the other way, most likely {battles:most 5;}"
    ),
    "separated-unregularized": (
        "no finite maximum-likelihood rating with regularization=0: separated: {models:; # (@)}. "
        "What would bound it: battles that go the other way, most likely {battles:most 5;}"
    ),
    "shared-errors": (
        "{first} and {second} share errors: their residuals correlate at {own:.2f} on {battles:,} "
        "battles, those of the other pairs at {others:.2f}, so that together they count as less "
        "than two judges"
    ),
    "shared-errors-unknown": (
        "whether two judges share errors is unknown: too few battles were judged by three judges "
        "(overlap=0.1 plays some)"
    ),
    "silent-judges": "without a readable verdict, and not in this ranking: {judges}",
    "single-cluster": "a single {unit} gives no interval",
    "few-of-the-raters": (
        "judged by one or two of the {number} {units}, so that nothing is claimed of how all of "
        "them see it: {models:most 20 # (@)}"
    ),
    "busy-raters": (
        "few of the {number} {units} gave so many of the verdicts that all count as "
        "{effective:.1f} in the intervals, which tell little: rank a sample with as many verdicts "
        "of each"
    ),
    "few-raters-of-a-model": (
        "judged by too few {units} to be called clearly ahead or behind (fewer than {fewest} may "
        "agree by chance): {models:most 20 # (@)}"
    ),
    "single-rater": (
        "no interval for {models}: with a single {unit} there, how {units} differ is unknown"
    ),
    "slopes-not-identified": (
        "the battles do not identify the judges' slopes, and all are 1: let each judge all models "
        "and at least {fewest} battles, or leave out one that contradicts the others"
    ),
    "unbounded-to-pinned": (
        "no interval for {models}: the data do not bound their differences to {pinned}, which is "
        "pinned"
    ),
    "unknown-in-ladder": "ratings=: {why}",
    "unlabelled-models": "without a label, rated by the judge alone on human scale: {models}",
    "unranked": "{model} has no {lacking} and is not ranked",
    "verdicts-as-they-are": (
        "the judge's verdicts are taken as they are, for labels give no map of its margins: {why}"
    ),
}

# Warnings about calibrations of a judge by human labels.
OF_CALIBRATIONS = {
    # For `{x:?; #}` and the other formats, see the top of this file.
    "agreement-unweighted": (
        "kappa, agreement, AUC and ECE count each battle once, whatever its weight; the ratings "
        "and beta use weights"
    ),
    "beta-contains-zero": (
        "{of_file:?the calibration says: }no signal: the interval of beta, {low:.3g} to "
        "{high:.3g}, contains 0"
    ),
    "few-models": (
        "{models} {models:noun model} with a score: a {percent:g}% conformal interval needs "
        "{needed}, so it is infinite"
    ),
    "few-models-by-t": (
        "{models} {models:noun model} with a score: a {percent:g}% conformal interval needs "
        "{needed}, the interval is by t, which assumes normal disagreement"
    ),
    "flat-agreement": (
        "{of_file:?the calibration says: }agreement with humans hardly rises with |margin| (area "
        "under the curve {auc:.2f}{p:?, #}, {decisive:,} decisive {decisive:noun battle}): the "
        "margin's size says little"
    ),
    "hard-ratings-unbounded": (
        "by its hard labels the judge always prefers these, or never: they leave all hard ratings "
        "to the regularization, and none is compared; soft ratings are not affected: {models}"
    ),
    "hard-resamples-left-out": (
        "resamples of hard ratings without a win or without a loss are left out: {models}"
    ),
    "held-out-unbounded": (
        "the data do not bound these ratings, the regularization does; they are in no mean and no "
        "quantile: {models}"
    ),
    "held-out-without-error": (
        "a single {unit}, or no variation: no standard error and no score for {models}"
    ),
    "human-rating-unbounded": (
        "not calibrated, because humans always prefer them, or never: their human rating is "
        "unbounded: {models}"
    ),
    "items-of-beta": (
        "beta rests on human labels of {items} {unit}s only ({preferences} "
        "{preferences:noun preference}): its interval, and all that it softens, rest on little; "
        "label battles of more {unit}s"
    ),
    "judge-not-said": "no judge is named by {source}: a calibration holds for its own judge",
    "mostly-hard-credits": (
        "{hard:,} of {judged:,} credits are wins, ties and losses, and taken for probabilities "
        "because others are: nothing is softened there; with human labels, "
        "{setting:target=smoothing} softens verdicts by a constant"
    ),
    "no-signal-calibrated": (
        "{lost:,} of {judged:,} judged {judged:noun battle} {lost:one has|have} no signal: not in "
        "the soft fits"
    ),
    "not-calibrated": ("not calibrated, for lack of human labels, verdicts or signals: {models}"),
    "not-held-out": (
        "cannot be held out, because without them the others never met or their labels give no "
        "beta: {models}"
    ),
    "other-judge": (
        "another judge: calibrated on {calibrated!r}, the battles are of {judges:most 20 '#'}"
    ),
    "other-margins": (
        "margins of another size: mean |margin| is {now:.3g}, and was {before:.3g} when the judge "
        "was calibrated"
    ),
    "other-prompt": "the judge of these battles had another prompt than the calibrated one",
    "other-scale": (
        "human ratings are {factor:.2f} times ({low:.2f} … {high:.2f}) as far apart as the "
        "judge's: quote no distance without a calibration (ratings here are not scale-corrected: "
        "{option:scale_correction=false})"
    ),
    "other-scale-corrected": (
        "human ratings are {factor:.2f} times ({low:.2f} … {high:.2f}) as far apart as the "
        "judge's: quote no distance without a calibration (ratings here are scale-corrected)"
    ),
    "scale-unknown": (
        "{models} {models:one model is|models are} too few to estimate a scale correction: ratings "
        "are left as they are"
    ),
    "uninformative-judge": (
        "{of_file:?the calibration says: }the judge's soft ratings carry no information about "
        "human ratings: they do not rise with them, or may not; they are not scale-corrected, and "
        "a new model cannot be placed by them. Take another judge or another target"
    ),
    "verdicts-beside-the-target": (
        "{plain} verdicts err less than the target: {hard:.1f} Elo, not {soft:.1f} "
        "({interval:?#, }{known}): `podium calibrate --compare` sets all targets side by side"
    ),
    "weak-margins": (
        "{of_file:?the calibration says: }weak margin signal: beta x mean |margin| = {beta:.3g} "
        "x {size:.3g} = {strength:.2f} (below {weak}): soft targets stay near 0.5, and ratings "
        "are "
        "drawn together"
    ),
}

# Warnings about judges.
OF_JUDGES = {
    # For `{x:?; #}` and the other formats, see the top of this file.
    "judge-of-position": (
        "the response shown {position} won in all {decided} of the first {judgments} judgments of "
        "{judge} that are no ties, though either was shown first (replies: {replies}). Take "
        "another judge, or let this one grade single responses ({argument:realization=likert}); "
        "{argument:on_bad_judge=continue} goes on, and replies so far come from the cache"
    ),
    "judge-of-ties": (
        "all {ties} of the first {judgments} judgments of {judge} that have a verdict and are of "
        "different responses are ties, which rank nothing (replies: {replies}). Take another "
        "judge, or ask it for finer grades ({argument:realization=numeric}); "
        "{argument:on_bad_judge=continue} goes on, and replies so far come from the cache"
    ),
    "judge-of-fine-ties": (
        "all {ties} of the first {judgments} judgments of {judge} that have a verdict and are of "
        "different responses are ties, which rank nothing (replies: {replies}). Take another "
        "judge; {argument:on_bad_judge=continue} goes on, and replies so far come from the cache"
    ),
    "judge-unparsed": (
        "none of the first {judgments} judgments of {judge} could be parsed (replies: {replies}). "
        "Ask in another form ({argument:realization=NAME}) or take another judge; "
        "{argument:on_bad_judge=continue} goes on, and replies so far come from the cache"
    ),
    "judge-unparsed-text": (
        "none of the first {judgments} judgments of {judge} could be parsed (replies: {replies}). "
        "Ask in another form ({argument:replies=schema}, {argument:realization=NAME}) or take "
        "another judge; {argument:on_bad_judge=continue} goes on, and replies so far come from the "
        "cache"
    ),
    "mass-of-schema": (
        "{path}: {number} of {verdicts:,} {verdicts:noun verdict} {number:one counts|count} as "
        "parsed, not graded: the allowed answers hold less than {mass:.0%} of the probability at "
        "their token in the JSON"
    ),
    "mass-of-text": (
        "{path}: {number} of {verdicts:,} {verdicts:noun verdict} {number:one counts|count} as "
        "parsed, not graded: the allowed answers hold less than {mass:.0%} of the probability at "
        "their token; with {argument:replies=schema}, more are graded"
    ),
    "own-model": (
        "the judge {judge} judges itself ({model}): use another judge, or remove the rows of "
        "{model}. `podium diagnose` measures its self-preference"
    ),
    "own-family": (
        "the judge {judge} is of the same family as {models:most 5} ({family}, {how}): add a judge "
        "of another family (`podium rank --by judge` ranks by each). `podium diagnose` measures "
        "self-preference; a table of the families ({option:models}) corrects a guess"
    ),
    "unparsed": (
        "{unparsed:,} of {battles:,} {battles:noun battle} {unparsed:one is|are} unparsed, "
        "{share:.1%} of the {judgments}{written:?; most often the judge wrote #}"
        "{reason:?; most often by a #}. What helps: {remedies:do}"
    ),
    "verdicts-unweighted": (
        "shares of a judge's verdicts count each verdict once, whatever its weight; ratings and "
        "fits use weights"
    ),
}

# Warnings about rankings, slices and replays.
OF_RANKINGS = {
    # For `{x:?; #}` and the other formats, see the top of this file.
    "jury-merged": (
        "the verdicts of {judges:len} judges are merged by {rule}, one per battle; "
        "{option:by=judge} ranks each of them"
    ),
    "judges-in-turn": (
        "no battle is judged by two judges, so their agreement and the errors that they share "
        "cannot be known; with {argument:overlap=0.1} all judges judge a tenth of the battles"
    ),
    "outside-slices": (
        "{outside} of {battles} {battles:noun battle} {outside:one has|have} no {column} and "
        "{outside:one is|are} in no slice"
    ),
    "slices-overlap": (
        "a battle is in the slice of each {column} that it lists: {several:,} of {battles:,} "
        "{battles:noun battle} {several:one is|are} in several slices, which overlap"
    ),
    "plugin-without-score": "{plugin} gave no finite score for {models}: shown without a score",
    "ranked-alone": (
        "{values:len} {column}s ({values:most 5}), each ranked alone, as by {option:by={column}}; "
        "{option:pool=true} joins them"
    ),
    "tasks-ranked-alone": "{values:len} {column}s ({values:most 5}), each ranked alone",
    "ranked-alone-by-metric": (
        "{values:len} {column}s ({values:most 5}), each ranked alone, as by {option:by={column}}; "
        "they have different metrics"
    ),
    "ranked-together": (
        "{values:len} {column}s ({values:most 5}) are ranked together; {option:by={column}} ranks "
        "each"
    ),
    "replaced-ranker": "ranked by {instead}, not by {ranker}{idle:? (# without effect)}: {why}",
    "replay-not-scored": (
        "some seeds gave no score to some models and are left out of error and tau: {tournaments}"
    ),
    "replay-off-record": (
        "some battles asked for are not on record, so the scores rest on fewer: {tournaments}"
    ),
    "replay-part-of-round-robin": (
        "the record is no full round robin: it has {share:.1%} of the battles"
    ),
    "tables-hidden": (
        "{hidden} of {tables} tables {hidden:one is|are} not shown: {option:by={column}} shows "
        "all, {option:format=json} has all"
    ),
    "shared-battles": (
        "a battle that several judges judge counts once per judge in the ranking"
        "{battles:?: # battles}{shared:?, # of them by several judges}"
    ),
}

# Warnings about the pinned reference of a host's results.
OF_PINS = {
    # For `{x:?; #}` and the other formats, see the top of this file.
    "no-pin": (
        "ratings and win rates here change as models join; {option:pin=MODEL} writes the win rate "
        "against one model, which does not"
    ),
    "anchors-differ": (
        "{reasons} {number:one needs|need} battles against {anchor}, and the tournament plays all "
        "against {played}: {argument:anchor={anchor}} plays these battles"
    ),
    "pin-absent": (
        "{task}: {model}, the pinned reference, is not among the models: the win rate is against "
        "all of them; run it on this task, or pin another one with {option:pin=MODEL}"
    ),
    "pinned-win-rate": (
        "{model} has a win rate of {rate:.3f} (standard error {se}) against {reference}, the "
        "pinned reference, on {items} {items:noun item}"
    ),
    "pin-changed": (
        "the pinned reference is now {model}, and was {before}: win rates that were written before "
        "are against {before}"
    ),
    "pin-itself": "{model} is the pinned reference: it has no win rate against itself",
    "pin-judge-changed": (
        "{task}: win rates against the pinned reference are by {now}, the first ones here by "
        "{first}: do not compare them"
    ),
    "pin-met-in-part": (
        "{task}: {model} met {reference}, the pinned reference, on {met} of {items} "
        "{items:noun item}, which other models decide: {option:tournament=anchor} and round_robin "
        "play it on all"
    ),
    "pin-never-met": (
        "{task}: no win rate of {model} against {reference}, the pinned reference: no direct "
        "battle has a readable verdict"
    ),
    "pin-not-here": (
        "there is no run of {model}, the pinned reference, here (there are {known:most 5}): the "
        "win rate will be against all; {option:pin=MODEL} pins another one"
    ),
    "pin-settings-changed": (
        "{model}, the pinned reference, was run with other settings than when it was pinned: "
        "{changed:most 5 # @}; do not compare win rates of before and after"
    ),
}

REMEDIES = {
    "another-judge": "let another judge decide",
    "judge-that-sees": "take a judge that sees what the models saw",
    "judge-with-probabilities": "choose a judge that gives them, or another realization",
    "look-at-rows": (
        "look at those rows{errors:? (#)}, and at how they were made (`podium convert` writes "
        "them with their "
        "reasons)"
    ),
    "look-at-server": "see whether the judge's server works, since these replies have no text",
    "look-at-votes": (
        "look at the votes without a verdict{errors:? (#)}: add verdicts that were lost in the "
        "export, or ask for new votes (`podium convert` writes the rows with their reasons)"
    ),
    "more-tokens": "give it room: {argument:max_tokens=2000}, or more",
    "reason-first": (
        "let the judge reason first ({argument:realization=cot}), or take one that keeps to a form"
    ),
    "retry": (
        "fix the error{errors:? (#)}, then ask for what is missing with `inspect eval-retry` on "
        "the log (in lm-eval, run again)"
    ),
    "retry-failed": (
        "of the calls that failed: fix the error{errors:? (#)}, then ask for what is missing "
        "with `inspect eval-retry` on the log (in lm-eval, run again)"
    ),
}
"""Texts on what the user can do, by code. `{remedies:do}` joins the texts of a list of codes."""

TEMPLATES = {
    **OF_READING,
    **OF_RESPONSES,
    **OF_LOGS,
    **OF_RANKERS,
    **OF_CALIBRATIONS,
    **OF_JUDGES,
    **OF_RANKINGS,
    **OF_PINS,
}
"""The texts of all warnings, by code."""

RANKED_ALONE = ("ranked-alone", "ranked-alone-by-metric", "tasks-ranked-alone")
"""Codes of the note that tasks are ranked one by one although the user did not ask for it."""
NOTES = frozenset(
    {
        "accepted",
        "agreement-unweighted",
        "answers-without-limit",
        "arena-rows-left-out",
        "batches-in-rounds",
        "batches-in-unknown-rounds",
        "between-calibrated-models",
        "between-new-models",
        "columns-as-models",
        "complete-items",
        "human-labels",
        "ids-with-inputs-of-categories",
        "metric-of-no-run",
        "jury-merged",
        "log-likelihood",
        "names-joined",
        "other-metrics",
        "lower-is-better",
        "lower-is-better-by-name",
        "mapping-file",
        "matrix-columns-left-out",
        "no-logprobs",
        "no-max-tokens",
        "no-pin",
        "no-schema",
        "pin-itself",
        "pinned-win-rate",
        "prompts-without-id",
        "questions-by-category",
        "questions-by-id",
        "questions-by-input",
        "ranked-alone",
        "ranked-alone-by-metric",
        "tasks-ranked-alone",
        "ranked-together",
        "reasoning-left-out",
        "repeats-numbered",
        "responses-recorded",
        "rows-by-id",
        "scores-reduced",
        "settings-differ",
        "settings-name-models",
        "slices-overlap",
        "tables-hidden",
        "tasks-without-scorer",
        "several-responses",
        "transcripts",
        "transcripts-as-recorded",
        "turns-are-items",
        "unequal-estimates",
        "scores-count",
        "verdicts-count",
        "verdicts-unweighted",
        "votes-agree",
        "voters-pooled",
        "win-matrix",
        "win-matrix-columns-left-out",
        "win-matrix-rows-left-out",
    }
)
"""Codes that only say what was done with the data. All other codes are warnings."""
