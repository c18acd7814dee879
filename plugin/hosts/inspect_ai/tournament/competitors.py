"""Read the responses that compete, and decide how models and judges are asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from podium.data.pairings import Field, Pairing
from podium.errors import UsageError
from podium.hosts.inspect_ai.judging.judge_context import (
    choose_show,
    note_on_transcripts,
    notes_on_work,
)
from podium.hosts.inspect_ai.logs.recorded_battles import (
    RECORDED,
    RecordedBattles,
    recorded_battles,
)
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.tournament.answers_on_demand import AnswerRequests, split_requests
from podium.hosts.inspect_ai.tournament.tournament_request import (
    RunSettings,
    TournamentRequest,
    split_names,
)
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.plugins.catalogue import judging_settings
from podium.responses.collection import Responses
from podium.responses.read import read_responses
from podium.responses.transcripts import Show
from podium.scorers.judging import Judging
from podium.wording import some


@dataclass(frozen=True, slots=True)
class Questions:
    """How models and judges are asked. The options alone decide this, before responses are read.

    Attributes:
        requests: which models answer on demand, and to which prompts.
        judge_options: the options of the judge that were given, by name.
        judging: the settings that these options and the defaults make.
        show: what the judge is shown of agents.
        why_short: why transcripts are shorter than asked for; empty if they are not.
    """

    requests: AnswerRequests
    judge_options: Mapping[str, Any]
    judging: Judging
    show: Show
    why_short: str


@dataclass(frozen=True, slots=True)
class Competitors:
    """The responses that compete, and what a plan needs to know of them.

    Attributes:
        responses: the responses of all models that play, to all items that are played.
        field: the models and items.
        mean_number: mean number of responses to the item of a battle (`Responses.mean_number`).
        items_with_transcripts: the ids of the items whose responses are shown as transcripts.
        missing: number of missing responses by model and reason (`Responses.missing_reasons`).
        transcripts: a note on how many responses are shown as transcripts; empty if none is.
        work_not_shown: warnings on what the judge is not shown of agents' work.
        record: the battles that are re-judged; None if the tournament is not `recorded`.
        unanswered: the recorded battles for which a response is missing here.
    """

    responses: Responses
    field: Field
    mean_number: float
    items_with_transcripts: frozenset[str]
    missing: dict[str, dict[str, int]]
    transcripts: tuple[Notice, ...]
    work_not_shown: tuple[Notice, ...]
    record: RecordedBattles | None
    unanswered: tuple[Pairing, ...]

    @property
    def has_preference(self) -> bool:
        """Whether it is known for each pair of responses which one humans prefer."""
        return bool(self.record and self.record.preferred)


def settle_questions(request: TournamentRequest) -> Questions:
    """Decide how models and judges are asked, before responses are read; prompts are read here.

    A `recorded` tournament asks no models.

    Raises:
        UsageError: options contradict each other, prompts are given for recorded answers, or
            a source has no prompts.
        DataError: a file of prompts cannot be read.
    """
    name = request.name
    options = request.options
    if name != RECORDED:
        prompts = split_names(options.prompts)
        requests, options_of_judges = split_requests(
            prompts, options.answers, request.judge_options, options.cluster
        )
    elif options.prompts:
        why = f"{name} judges recorded answers; leave it out"
        raise UsageError(f"prompts={options.prompts}: {why}")
    else:
        requests = AnswerRequests()
        options_of_judges = dict(request.judge_options)
    judging = judging_settings(seed=options.seed, **options_of_judges)
    show, why_short = choose_show(options.show, options.transcript_tokens, judging)
    return Questions(
        requests=requests,
        judge_options=options_of_judges,
        judging=judging,
        show=replace(show, reasoning=options.reasoning),
        why_short=why_short,
    )


def read_competitors(
    responses: Sequence[str], request: TournamentRequest, questions: Questions
) -> Competitors:
    """Read the responses and, for `recorded`, the battles; then select models and items.

    Without sources of responses, those of the recorded battles compete, if their logs hold them.

    Args:
        responses: sources of responses: files, folders or globs, each optionally `label=path`.
        request: names the tournament; its options select models and items.
        questions: what is shown of agents, and which models answer on demand.

    Raises:
        UsageError: there is nothing to read, a model or category is unknown, or options would show
            recorded responses in another form than before.
        DataError: a file cannot be read, or rows contradict each other.
    """
    options = request.options
    record = _read_record(request, questions)
    if record is not None and record.responses is not None and not responses:
        _refuse_other_show(options, record)
        _refuse_other_groups(options, record.responses)
        competing = record.responses
    else:
        if record is not None and record.lacking and not responses:
            _refuse_without_responses(record.lacking)
        competing = _read_answers(responses, options, questions)
    if record is not None:
        competing = replace(competing, notes=(*record.lost, *competing.notes))
    unanswered = competing.battles_without_answer(record.pairings) if record is not None else []
    selected = competing.select(
        models=split_names(options.models),
        limit=options.limit,
        category=options.category,
        seed=options.seed,
        answered_by=options.answered_by,
    )
    return Competitors(
        responses=selected,
        field=selected.field(),
        mean_number=selected.mean_number(),
        items_with_transcripts=selected.items_with_transcripts(),
        missing=selected.missing_reasons(),
        transcripts=tuple(note_on_transcripts(selected, questions.show, questions.why_short)),
        work_not_shown=tuple(notes_on_work(selected)),
        record=record,
        unanswered=tuple(unanswered),
    )


def _refuse_without_responses(models: Sequence[str]) -> None:
    """Raise UsageError in any case: the logs of the battles hold no responses of these models."""
    option = option_text("responses", "PATH", kind="argument")
    raise UsageError(
        f"the logs of these battles hold no responses of {some(models)}: give the responses of all "
        f"models as {option}"
    )


def _read_record(request: TournamentRequest, questions: Questions) -> RecordedBattles | None:
    """Return the battles that are re-judged; None if the tournament is not `recorded`.

    Each battle then comes once, without its recorded order, if the option `orders` is given or the
    judge grades single responses.
    """
    if request.name != RECORDED:
        return None
    sources = split_names(request.settings.get("battles"))
    record = recorded_battles(*sources, show=questions.show)
    if "orders" not in questions.judge_options and questions.judging.is_pairwise:
        return record
    without_order = dict.fromkeys(pairing._replace(first=None) for pairing in record.pairings)
    return replace(record, pairings=tuple(without_order))


def _refuse_other_show(options: RunSettings, record: RecordedBattles) -> None:
    """Raise UsageError if an option would change how recorded responses are shown.

    The options are `show`, unless it is `auto`, and `transcript_tokens`. Pairs with a known
    preference may be shown in any form.
    """
    typed = {"show": options.show, "transcript_tokens": options.transcript_tokens}
    changed = [f"{name}={value}" for name, value in typed.items() if value not in ("auto", None)]
    if changed and record.preferred is None:
        problem = f"{RECORDED} shows the responses of these logs as they were shown before"
        remedy = "leave it out, or give the models' own logs as responses="
        raise UsageError(f"{', '.join(changed)}: {problem}; {remedy}")


def _refuse_other_groups(options: RunSettings, recorded: Responses) -> None:
    """Raise UsageError if `cluster` is given and names another column than the logs have."""
    if options.cluster not in (None, recorded.cluster):
        recorded_groups = (
            f"the groups {recorded.cluster!r}" if recorded.cluster else "no groups of items"
        )
        remedy = "leave it out, or give the models' own logs as responses="
        raise UsageError(f"cluster={options.cluster}: these logs have {recorded_groups}; {remedy}")


def _read_answers(sources: Sequence[str], options: RunSettings, questions: Questions) -> Responses:
    """Read the responses, with pending ones of the models that answer on demand.

    Items without a system prompt get that of these models.
    """
    requests = questions.requests
    competing = read_responses(
        *sources,
        readers=(READER,),
        reasoning=options.reasoning,
        show=questions.show,
        prompts=requests.prompts,
        on_demand=tuple(requests.models),
        allow=split_names(options.allow),
        allow_option=option_text("allow", "questions", kind="argument"),
        cluster=options.cluster,
    )
    items = tuple(replace(item, system=item.system or requests.system) for item in competing.items)
    return replace(competing, items=items, notes=(*requests.notes, *competing.notes))
