"""Check that the runs of lm-eval asked the same documents with the same prompts.

A document is identified by its hash, from which the ids of items are made. The hash of a prompt
never decides: it differs with the examples and the chat template.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from podium.comparability.questions import (
    AskedRun,
    ItemRecord,
    QuestionFinding,
    hash_of_text,
    pair_questions,
)
from podium.comparability.run_settings import WORDING_KINDS
from podium.data.formats.lm_eval_documents import AskedDocument
from podium.data.formats.lm_eval_run_records import choices_of_run, run_of_samples
from podium.data.formats.lm_eval_scores import Scores
from podium.run_record import RunRecord, Setting, SettingKind

EXPLAINING_KINDS: frozenset[SettingKind] = WORDING_KINDS | {"dataset"}
"""Kinds of settings that explain why prompts of one document differ."""
REMEDY = "compare runs of one version of the dataset"
"""What to do if two runs of a task share no document."""


@dataclass(frozen=True, slots=True)
class ComparedDocuments:
    """Runs of lm-eval whose items are paired.

    Attributes:
        scores: the scores, with the ids of items by which they are paired.
        runs: the settings of each run, in the same order.
        findings: how the items of each task were paired.
        accepted: sentences on different questions that the user accepted.
    """

    scores: tuple[Scores, ...]
    runs: tuple[RunRecord, ...]
    findings: tuple[QuestionFinding, ...]
    accepted: tuple[str, ...]


def pair_documents(scores: Sequence[Scores], allowed: Collection[str]) -> ComparedDocuments:
    """Pair the documents of the runs of each task.

    Args:
        scores: the runs of all tasks.
        allowed: names of the findings that the user accepts.

    Raises:
        OtherQuestionError: two runs of a task have no document in common, although they number
            documents alike, and no recorded setting explains it.
    """
    paired = list(scores)
    runs = [run_of_samples(own.file) for own in scores]
    findings = []
    accepted: list[str] = []
    for task, positions in _positions_by_task(scores).items():
        asked = _runs_with_documents([paired[k] for k in positions], [runs[k] for k in positions])
        questions = pair_questions(task, asked, allowed, remedy=REMEDY)
        findings.append(questions.finding)
        accepted += questions.accepted
        if questions.finding.pairing == "other inputs":
            of_task = [paired[k].asked for k in positions]
            names = items_by_name(of_task, asked, questions.names)
            for k, own in zip(positions, names, strict=True):
                paired[k] = _rename_items(paired[k], own, are_accepted=bool(questions.accepted))
        if questions.accepted:
            # Prompts differ because the documents do, so their hashes say nothing more.
            continue
        documents = [paired[k].asked for k in positions]
        choices = [choices_of_run(paired[k].file) for k in positions]
        with_prompts = settle_prompts(documents, choices, [runs[k] for k in positions])
        for k, run in zip(positions, with_prompts, strict=True):
            runs[k] = run
    return ComparedDocuments(tuple(paired), tuple(runs), tuple(findings), tuple(accepted))


def _positions_by_task(scores: Sequence[Scores]) -> dict[str, list[int]]:
    """Return the positions of the runs of each task, in an order without the names of models."""
    by_task: dict[str, list[int]] = defaultdict(list)
    keys = [(own.file.time, sorted(each.item for each in own.asked)) for own in scores]
    for position in sorted(range(len(scores)), key=lambda k: keys[k]):
        by_task[scores[position].file.task].append(position)
    return by_task


def _runs_with_documents(scores: Sequence[Scores], runs: Sequence[RunRecord]) -> list[AskedRun]:
    """Return the runs of a task with their documents, or with the items of their scores."""
    asked = asked_documents([own.asked for own in scores], runs)
    for k, own in enumerate(scores):
        if not own.asked:
            items = {str(item) for table in own.values.values() for item in table["item"]}
            asked[k] = replace(asked[k], items=[ItemRecord(item) for item in sorted(items)])
    return asked


def asked_documents(
    documents: Sequence[Sequence[AskedDocument]], runs: Sequence[RunRecord]
) -> list[AskedRun]:
    """Return the runs of a task with their documents.

    A document has its place in the data set as id. If a place is unknown or given twice, all
    documents have the ids of their items.

    Args:
        documents: the documents of each run.
        runs: the runs. In the result, they have no number of shots: the hash of a document does not
            contain the examples, so shots explain no difference.
    """
    has_places = all(_are_distinct([each.place for each in own]) for own in documents)
    asked = []
    for own, run in zip(documents, runs, strict=True):
        records = [_document_as_item(each, has_places) for each in own]
        asked.append(AskedRun(replace(run, shots=None), records))
    return asked


def _are_distinct(places: Sequence[str]) -> bool:
    """Return whether all places are known and distinct."""
    return "" not in places and len(set(places)) == len(places)


def _document_as_item(document: AskedDocument, has_places: bool) -> ItemRecord:
    """Return a document as an item, whose input is the document."""
    return ItemRecord(
        id=document.place if has_places else document.item,
        input=(hash_of_text(document.item),) if document.is_known else (),
        excerpt=document.excerpt,
        row=document.line,
    )


def items_by_name(
    documents: Sequence[Sequence[AskedDocument]],
    asked: Sequence[AskedRun],
    names: Sequence[Mapping[str, str]],
) -> list[dict[str, str]]:
    """Return, for each run, the new id of each item by its id. Paired items have one id.

    Args:
        documents: the documents of each run.
        asked: the same documents as `asked_documents` returns them.
        names: for each run, new ids of the records in `asked`.
    """
    item_of_name: dict[str, str] = {}
    renamed = []
    for own, run, new in zip(documents, asked, names, strict=True):
        items = {}
        for document, record in zip(own, run.items, strict=False):
            name = new.get(record.id, record.id)
            items[document.item] = item_of_name.setdefault(name, document.item)
        renamed.append(items)
    return renamed


def _rename_items(scores: Scores, items: Mapping[str, str], *, are_accepted: bool) -> Scores:
    """Return scores with other ids of items.

    Args:
        scores: the scores of a run.
        items: the new id of each item by its id.
        are_accepted: whether the user accepted that documents differ. Targets then do not divide
            documents.
    """
    values = {}
    for metric, table in scores.values.items():
        renamed = table.assign(item=table["item"].map(lambda item: items.get(item, item)))
        values[metric] = renamed.assign(target="") if are_accepted else renamed
    asked = tuple(replace(own, item=items.get(own.item, own.item)) for own in scores.asked)
    return replace(scores, values=values, asked=asked)


def settle_prompts(
    documents: Sequence[Sequence[AskedDocument]],
    choices: Sequence[str],
    runs: Sequence[RunRecord],
) -> list[RunRecord]:
    """Return the runs of a task with what the hashes of their prompts say.

    If all prompts of the shared documents are equal, no prompt differs, however it is written in
    the task and however examples are drawn. If prompts differ between runs with the same recorded
    settings, each run has the hash of its prompts as its prompt.

    Args:
        documents: the documents of each run.
        choices: what makes the choices of each run's task; empty if unknown or if it has none.
        runs: the runs.
    """
    prompts = [{each.item: each.prompt for each in own if each.prompt} for own in documents]
    known = [k for k, own in enumerate(prompts) if own and runs[k].is_described]
    if len(known) < 2:
        return list(runs)
    shared = sorted(set.intersection(*(set(prompts[k]) for k in known)))
    if not shared:
        return list(runs)
    hashes = {k: _hash_of_prompts([prompts[k][item] for item in shared]) for k in known}
    settled = list(runs)
    if len(set(hashes.values())) == 1:
        if len({choices[k] for k in known}) == 1:
            for k in known:
                settled[k] = replace(runs[k], prompt=None, examples=None, fewshot_seed=None)
        return settled
    alike: dict[tuple[tuple[Setting, str], ...], list[int]] = defaultdict(list)
    for k in known:
        settings = runs[k].settings().items()
        alike[tuple(each for each in settings if each[0].kind in EXPLAINING_KINDS)].append(k)
    for group in alike.values():
        if len({hashes[k] for k in group}) > 1:
            for k in group:
                settled[k] = replace(runs[k], prompt=f"prompt_hash {hashes[k]}")
    return settled


def _hash_of_prompts(prompts: Sequence[str]) -> str:
    """Return the first digits of a hash of the hashes of prompts."""
    return sha256("\n".join(prompts).encode("utf-8", "surrogatepass")).hexdigest()[:8]
