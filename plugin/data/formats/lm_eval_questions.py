"""Check that the runs of lm-eval asked the same documents with the same prompts.

A document is identified by its hash, from which the ids of items are made. The hash of a prompt
never decides: it differs with the examples and the chat template.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from podium.comparability.asked_items import AskedRun, ItemRecord, hash_of_text
from podium.comparability.questions import pair_questions
from podium.comparability.run_settings import WORDING_KINDS
from podium.data.formats.lm_eval_documents import AskedDocument, HashedDocuments
from podium.data.formats.lm_eval_equal_documents import join_equal_documents
from podium.data.formats.lm_eval_run_records import choices_of_run, run_of_samples
from podium.data.formats.lm_eval_scores import Scores
from podium.question_finding import QuestionFinding
from podium.run_record import RunRecord, Setting, SettingKind

EXPLAINING_KINDS: frozenset[SettingKind] = WORDING_KINDS | {"dataset"}
"""Kinds of settings that explain why prompts of one document differ."""
NO_SHARED_DOCUMENT_REMEDY = "compare runs of one version of the dataset"
"""What to do if two runs of a task share no document."""


@dataclass(frozen=True, slots=True)
class ComparedDocuments:
    """Runs of lm-eval whose items are paired.

    Attributes:
        scores: the scores, with the ids of items by which they are paired.
        runs: the record of each run, in the order of the scores.
        findings: how the items of each task were paired.
        accepted: sentences on different questions that the user accepted.
    """

    scores: tuple[Scores, ...]
    runs: tuple[RunRecord, ...]
    findings: tuple[QuestionFinding, ...]
    accepted: tuple[str, ...]


def pair_documents(scores: Sequence[Scores], allowed: Collection[str]) -> ComparedDocuments:
    """Pair the documents of the runs of each task, so that a document has one id in all of them.

    The records of the runs get what the hashes of their prompts say; see `settle_prompts`. Two
    kinds of tasks are exceptions: if no file has more of its documents than a text
    (`HashedDocuments`), equal ids are equal documents, and nothing else is compared; and if the
    user accepts that documents differ, the prompts say nothing more.

    Args:
        scores: the runs of all tasks.
        allowed: names of the findings that the user accepts.

    Raises:
        OtherQuestionError: two runs of a task have no document in common, although they number
            documents alike, and no recorded setting explains it.
    """
    paired = list(scores)
    runs = [run_of_samples(file_scores.file) for file_scores in scores]
    findings = []
    accepted: list[str] = []
    for task, positions in _positions_by_task(scores).items():
        if all(isinstance(paired[k].documents, HashedDocuments) for k in positions):
            ids = set[str]().union(*(_items_of(paired[k]) for k in positions))
            findings.append(QuestionFinding(task, "id", items=len(ids)))
            continue
        joined = join_equal_documents([paired[k] for k in positions])
        for k, file_scores in zip(positions, joined, strict=True):
            paired[k] = file_scores
        asked_runs = _runs_with_documents(
            [paired[k] for k in positions], [runs[k] for k in positions]
        )
        questions = pair_questions(task, asked_runs, allowed, remedy=NO_SHARED_DOCUMENT_REMEDY)
        findings.append(questions.finding)
        accepted += questions.accepted
        if questions.finding.pairing == "other inputs":
            documents_of_task = [paired[k].documents for k in positions]
            new_ids_of_runs = items_by_name(documents_of_task, asked_runs, questions.names)
            are_accepted = bool(questions.accepted)
            for k, new_ids in zip(positions, new_ids_of_runs, strict=True):
                paired[k] = _rename_items(paired[k], new_ids, are_accepted=are_accepted)
        if questions.accepted:
            # Prompts differ because the documents do, so their hashes say nothing more.
            continue
        documents = [paired[k].documents for k in positions]
        choices = [choices_of_run(paired[k].file) for k in positions]
        with_prompts = settle_prompts(documents, choices, [runs[k] for k in positions])
        for k, run in zip(positions, with_prompts, strict=True):
            runs[k] = run
    return ComparedDocuments(
        scores=tuple(paired), runs=tuple(runs), findings=tuple(findings), accepted=tuple(accepted)
    )


def _positions_by_task(scores: Sequence[Scores]) -> dict[str, list[int]]:
    """Return the positions in `scores` of the runs of each task.

    They are ordered by time and documents, so that the names of models and the order of sources
    change nothing.
    """
    by_task: dict[str, list[int]] = defaultdict(list)
    number_by_time = Counter(file_scores.file.time for file_scores in scores)
    sort_keys = []
    for file_scores in scores:
        # Most files have a time of their own, and need no items as a key.
        items = sorted(_items_of(file_scores)) if number_by_time[file_scores.file.time] > 1 else []
        sort_keys.append((file_scores.file.time, items))
    for position in sorted(range(len(scores)), key=lambda k: sort_keys[k]):
        by_task[scores[position].file.task].append(position)
    return by_task


def _items_of(scores: Scores) -> Sequence[str]:
    """Return the ids of the items of the documents that a file describes."""
    documents = scores.documents
    if isinstance(documents, HashedDocuments):
        return documents.items
    return [document.item for document in documents]


def _runs_with_documents(scores: Sequence[Scores], runs: Sequence[RunRecord]) -> list[AskedRun]:
    """Return the runs of a task with their documents.

    A run whose file does not describe its documents has the items of its scores, without inputs.
    """
    asked_runs = asked_documents([file_scores.documents for file_scores in scores], runs)
    for k, file_scores in enumerate(scores):
        if not file_scores.documents:
            items = {str(item) for table in file_scores.values.values() for item in table["item"]}
            asked_runs[k] = replace(
                asked_runs[k], items=[ItemRecord(item) for item in sorted(items)]
            )
    return asked_runs


def asked_documents(
    documents: Sequence[Sequence[AskedDocument]], runs: Sequence[RunRecord]
) -> list[AskedRun]:
    """Return the runs of a task with their documents.

    A document has its place in the data set as id. If a place is unknown or given twice in any run,
    all documents of all runs have the ids of their items.

    Args:
        documents: the documents of each run.
        runs: the runs. In the result, they have no number of shots: the hash of a document does not
            contain the examples, so shots explain no difference.
    """
    have_distinct_places = []
    for documents_of_run in documents:
        places = [document.place for document in documents_of_run]
        have_distinct_places.append(_are_distinct(places))
    has_places = all(have_distinct_places)
    asked_runs = []
    for documents_of_run, run in zip(documents, runs, strict=True):
        records = [_document_as_item(document, has_places) for document in documents_of_run]
        asked_runs.append(AskedRun(replace(run, shots=None), records))
    return asked_runs


def _are_distinct(places: Sequence[str]) -> bool:
    """Return whether all places are known and distinct."""
    return "" not in places and len(set(places)) == len(places)


def _document_as_item(document: AskedDocument, has_places: bool) -> ItemRecord:
    """Return a document as an item, with a hash of the document as its only input.

    The hash is that of the document's words if these are given, else of the id of its item. If the
    document is unknown, the item has no input.

    Args:
        document: the document.
        has_places: whether the id is the document's place in the data set, and not that of its
            item.
    """
    inputs: tuple[int, ...] = ()
    if document.is_known:
        inputs = (hash_of_text(document.words or document.item),)
    name = document.place if has_places else document.item
    return ItemRecord(id=name, input=inputs, excerpt=document.excerpt, row=document.line)


def items_by_name(
    documents: Sequence[Sequence[AskedDocument]],
    asked_runs: Sequence[AskedRun],
    names: Sequence[Mapping[str, str]],
) -> list[dict[str, str]]:
    """Return, for each run, the new id of each item by its id. Paired items have one id.

    The id of paired items is that of the first run.

    Args:
        documents: the documents of each run.
        asked_runs: the same documents as `asked_documents` returns them.
        names: for each run, new ids of the records in `asked_runs`; records without one keep their
            id.
    """
    item_of_name: dict[str, str] = {}
    renamed = []
    for documents_of_run, run, new_names in zip(documents, asked_runs, names, strict=True):
        items = {}
        # A run without documents has the items of its scores, which keep their ids.
        for document, record in zip(documents_of_run, run.items, strict=False):
            name = new_names.get(record.id, record.id)
            items[document.item] = item_of_name.setdefault(name, document.item)
        renamed.append(items)
    return renamed


def _rename_items(scores: Scores, items: Mapping[str, str], *, are_accepted: bool) -> Scores:
    """Return scores with other ids of items.

    Args:
        scores: the scores of a run.
        items: new ids of items by their ids; other items keep theirs.
        are_accepted: whether the user accepted that documents differ. Targets then do not divide
            documents.
    """
    values = {}
    for metric, table in scores.values.items():
        renamed = table.assign(item=table["item"].map(lambda item: items.get(item, item)))
        if are_accepted:
            renamed = renamed.assign(target="")
        values[metric] = renamed
    asked_documents_renamed = []
    for document in scores.documents:
        asked_documents_renamed.append(
            replace(document, item=items.get(document.item, document.item))
        )
    return replace(scores, values=values, documents=tuple(asked_documents_renamed))


def settle_prompts(
    documents: Sequence[Sequence[AskedDocument]],
    choices: Sequence[str],
    runs: Sequence[RunRecord],
) -> list[RunRecord]:
    """Return the runs of a task with what the hashes of their prompts say.

    If all prompts of the shared documents are equal, no prompt differs, however it is written in
    the task and however examples are drawn: the records lose prompt, examples and seed, unless
    `choices` differ. If prompts differ between runs with the same recorded settings, each run has
    the hash of its prompts as its prompt. Runs without known prompts and runs that are not
    described are unchanged, and so are all runs if fewer than two others are left or these share no
    document.

    Args:
        documents: the documents of each run.
        choices: what makes the choices of each run's task; empty if unknown or if it has none.
        runs: the runs.
    """
    prompts_of_runs: list[dict[str, str]] = []
    for documents_of_run in documents:
        prompts_of_runs.append(
            {document.item: document.prompt for document in documents_of_run if document.prompt}
        )
    described = []
    for k, prompt_of_item in enumerate(prompts_of_runs):
        if prompt_of_item and runs[k].is_described:
            described.append(k)
    if len(described) < 2:
        return list(runs)
    shared_items = sorted(set.intersection(*(set(prompts_of_runs[k]) for k in described)))
    if not shared_items:
        return list(runs)
    hashes = {}
    for k in described:
        hashes[k] = _hash_of_prompts([prompts_of_runs[k][item] for item in shared_items])
    settled = list(runs)
    if len(set(hashes.values())) == 1:
        # The prompt's settings also make the choices, which are not in the hash of a prompt.
        if len({choices[k] for k in described}) == 1:
            for k in described:
                settled[k] = replace(runs[k], prompt=None, examples=None, fewshot_seed=None)
        return settled
    for group in _group_by_explaining_settings(runs, described):
        if len({hashes[k] for k in group}) > 1:
            for k in group:
                settled[k] = replace(runs[k], prompt=f"prompt_hash {hashes[k]}")
    return settled


def _group_by_explaining_settings(
    runs: Sequence[RunRecord], described: Sequence[int]
) -> list[list[int]]:
    """Group runs with the same settings that would explain a difference of prompts.

    Args:
        runs: the runs.
        described: positions of the runs that are grouped.

    Returns:
        The positions of the runs of each group, in the order of `described`.
    """
    runs_with_settings: dict[tuple[tuple[Setting, str], ...], list[int]] = defaultdict(list)
    for k in described:
        explaining_settings = []
        for setting, value in runs[k].settings().items():
            if setting.kind in EXPLAINING_KINDS:
                explaining_settings.append((setting, value))
        runs_with_settings[tuple(explaining_settings)].append(k)
    return list(runs_with_settings.values())


def _hash_of_prompts(prompts: Sequence[str]) -> str:
    """Return the first digits of a hash of the hashes of prompts."""
    joined = "\n".join(prompts)
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:8]
