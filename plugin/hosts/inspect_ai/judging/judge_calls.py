"""The solver that makes the judges' calls and stores every reply unchanged in the log.

A judgment is one verdict of one judge on a battle, in one order and repeat. A pairwise judge gives
it in one reply, and a pointwise judge in one reply per response.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import anyio
from inspect_ai.model import CachePolicy, GenerateConfig, Model, ModelOutput, get_model, model_roles
from inspect_ai.solver import TaskState
from inspect_ai.util import LimitExceededError

from podium.errors import UsageError, named_in_errors
from podium.hosts.inspect_ai.inspect_ai_compatibility import batch_of
from podium.hosts.inspect_ai.judging.call_control import (
    JudgeStoppedError,
    ModelCalls,
    cause_of,
    generate_output,
    make_calls,
    name_of_failure,
    repeating_failed_call,
    stopped_text,
)
from podium.hosts.inspect_ai.judging.call_settings import (
    CallSettings,
    ended_at_limit,
    is_about_schema,
    is_cut_in_reasoning,
    why_too_long,
    why_withheld,
)
from podium.hosts.inspect_ai.judging.call_timeouts import CALL_TIMEOUT, check_call_timeout
from podium.hosts.inspect_ai.judging.judge_models import (
    NO_JUDGE,
    has_batches,
    has_judge,
    judge_of,
    jury_of,
)
from podium.hosts.inspect_ai.judging.refused_options import is_rejection
from podium.hosts.inspect_ai.judging.reply_requests import (
    ReplyRequest,
    Schema,
    checklist_request,
    verdict_request,
)
from podium.hosts.inspect_ai.judging.token_estimates import (
    ESTIMATE,
    estimate_usage,
    estimating_tokens,
)
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE, is_log
from podium.hosts.inspect_ai.logs.podium_entries import (
    AGAIN,
    BATTLES,
    BattleMetadata,
    BattleReplies,
    KeptJudgment,
    KeptReply,
    PackMetadata,
    SampleReplies,
    has_failed,
    judgments_in,
    parse_battles,
    parse_sample,
    read_tournament,
)
from podium.hosts.inspect_ai.media import media_in, why_refused
from podium.printable import tell
from podium.scorers.battle import Judgment, compare_ratings
from podium.scorers.checklist import read_checklist
from podium.scorers.judge_record import REFUSED_OPTIONS, JudgeRecord
from podium.scorers.judging import Judging, dump_reply, load_reply
from podium.scorers.probabilities import FixedMode, settle_mode
from podium.scorers.prompt import Texts
from podium.scorers.reply import FILTERED, TOO_LONG, Rating, Reply, Token, Verdict
from podium.storage.remote import local_file, place_of
from podium.wording import quantity

if TYPE_CHECKING:
    from podium.hosts.inspect_ai.judging.judge_monitor import JudgedReply, JudgeMonitor

T = TypeVar("T")
FATAL_ERRORS = (JudgeStoppedError, LimitExceededError)
"""Errors that end a run or a sample, even if its other calls are answered."""
JudgmentKey = tuple[str, str, str, str, str, int]
"""Judge, item with number of the response, model_a, model_b, order, and repeat of a judgment.

See `_key_of`.
"""


class ParsedReply(NamedTuple):
    """What was read in a reply.

    Attributes:
        content: the verdict or rating; of a checklist, its questions or the reason.
        reason: why the reply is unparsed; None if it is parsed.
        mode: how token probabilities were used.
    """

    content: Any
    reason: str | None
    mode: FixedMode = "off"


class JudgeAnswer(NamedTuple):
    """The last reply of a call that may have had several attempts.

    Attributes:
        stored_reply: the reply as the log keeps it.
        attempts: number of attempts.
        parsed_reply: what was read in the reply; None if it was not read, such as a failed one.
    """

    stored_reply: KeptReply
    attempts: int
    parsed_reply: ParsedReply | None = None


class FailedCallsError(RuntimeError):
    """A sample would repeat calls that failed in this same run; a later run repeats them."""


class Run(ModelCalls):
    """State of one run: settings, shared ratings and checklists, earlier judgments, and calls.

    If judges take turns, each of them has its own circuit breaker.

    Args:
        judging: how the judges are asked.
        cache: whether calls are answered from Inspect's cache.
        call_timeout: seconds that each attempt of a call may take; None for no limit.
        reask: log of an earlier run. Judgments that are parsed in it are kept, and only the others
            are asked for. None to ask for all.
        jury: the judges; empty for the models of the roles.
        ends_run: whether the first refused call ends the run. It is ignored if judges take turns.
        rotating: number of the judges that take turns; 0 if all judge every battle.
        asked_before: number of repeats that were asked for before, by judge. New repeats are
            numbered on from there.

    Raises:
        UsageError: `reask` is no log of a tournament, or the time limit is not positive.
        DataError: the log `reask` is damaged.
    """

    def __init__(
        self,
        judging: Judging,
        *,
        cache: bool = True,
        call_timeout: float | None = CALL_TIMEOUT,
        reask: str | None = None,
        jury: Sequence[Model] = (),
        ends_run: bool = False,
        rotating: int = 0,
        asked_before: Mapping[str, int] | None = None,
    ) -> None:
        check_call_timeout(call_timeout)
        self._ends_run = ends_run and not rotating
        super().__init__(ends_run=self._ends_run)
        self.judging = judging
        self.cache = cache
        self.call_timeout = call_timeout
        self.jury = jury
        self.rotating = rotating
        self.asked_before = asked_before or {}
        self.known = readable_judgments(reask, judging) if reask else {}
        self.modes = {judgment["judge"]: judgment["mode"] for judgment in self.known.values()}
        # With `reask`, calls must not get the unparsed replies again from Inspect's cache.
        self.cache_suffix = f" again {reask}" if reask else ""
        # At most four packs run at once: each holds its transcript in memory, and four keep a
        # provider busy.
        self.packs = anyio.Semaphore(4)
        self.settings = CallSettings(judging, ends_run=self._ends_run)
        self._judges: dict[Model, JudgeRecord] = {}
        self._monitors: dict[str, JudgeMonitor] = {}
        # Why calls failed in this run, by id and epoch of the sample. The sample that repeats them
        # is for a later run.
        self.failed_calls: dict[tuple[str, int], str] = {}

    def cache_policy(self, call: str) -> CachePolicy | bool:
        """Return the policy by which the output of a call is cached; False without a cache.

        Args:
            call: name of the call. Inspect's key also contains the messages and settings.
        """
        if not self.cache:
            return False
        scopes = {NAMESPACE: f"{call}{self.cache_suffix}"}
        return CachePolicy(expiry=None, per_epoch=False, scopes=scopes)

    def refuse_repeat_in_same_run(self, state: TaskState) -> None:
        """Raise FailedCallsError, once, if a sample repeats calls that failed in this run.

        The id of such a sample ends with `AGAIN`, and its calls are those of the sample whose id
        comes before that.
        """
        sample_id = str(state.sample_id).removesuffix(AGAIN)
        if sample_id == state.sample_id:
            return
        why = self.failed_calls.pop((sample_id, state.epoch), None)
        if why:
            raise FailedCallsError(why)

    async def call_judge(self, model: Model, ask: Callable[[], Awaitable[T]]) -> T:
        """Make a call to a judge and return its answer.

        The error of a call that fails is raised, and nothing is repeated here. A judge whose first
        calls all fail alike is not asked any more (`CircuitBreaker`). If judges take turns, the
        other judges go on, and the run ends when the last judge has stopped. The calls of a judge
        whose provider collects them in batches never wait for its first calls.

        Args:
            model: the judge.
            ask: makes the call; its errors are raised.

        Raises:
            JudgeStoppedError: no more calls are made to any judge.
            RuntimeError: judges take turns, and only this one is not asked any more.
        """
        waits = not has_batches(model)
        return await self._ask_while_others(model, lambda name: self.call(name, ask, waits=waits))

    async def _ask_while_others(self, model: Model, ask: Callable[[str], Awaitable[T]]) -> T:
        """Return what `ask` returns. If judges take turns and one is stopped, the others go on.

        A message is printed when a judge is stopped.

        Args:
            model: the judge.
            ask: called with the name of the judge's circuit breaker, which is empty unless judges
                take turns.

        Raises:
            JudgeStoppedError: no more calls are made to any judge.
            RuntimeError: judges take turns, and only this one is not asked any more.
        """
        if not self.rotating:
            return await ask("")
        judge = self.judge_of(model)
        try:
            return await ask(judge.name)
        except JudgeStoppedError as error:
            text = stopped_text(judge.shown_model, error)
            if judge.name not in self.stopped:
                tell(f"{text}; the other judges go on")
            self.stopped.add(judge.name)
            if len(self.stopped) < self.rotating:
                raise RuntimeError(text) from None
            raise

    async def begin_judgment(self, model: Model, battle: BattleMetadata) -> "JudgeMonitor":
        """Begin a judgment of a judge, and return its monitor, whose `end` the caller must call.

        There is one monitor per judge in a run. It may let the judgment wait.

        Raises:
            JudgeStoppedError: the judge cannot judge, and no other judge goes on.
            RuntimeError: the judge cannot judge, and the other judges go on.
        """
        # Imported here because Inspect's registry loads this file even if nothing is judged.
        from podium.diagnosis.checks.finer_verdicts import FINEST_REALIZATIONS
        from podium.hosts.inspect_ai.judging.judge_monitor import JudgeMonitor

        name = self.judge_of(model).name
        if name not in self._monitors:
            # One order is shown only if `a` is always first: orders as given, and none drawn.
            both_orders_occur = self.judging.orders != "as-given" or battle.first is not None
            # How many judgments a battle has depends on whether `first` is set, and not on names.
            first = "a" if battle.first else None
            judgments_of_battle = self.judging.judgments("", "a", "b", first)
            self._monitors[name] = JudgeMonitor(
                self.judge_of(model).shown_model,
                tests_position=self.judging.is_pairwise and both_orders_occur,
                judgments=len(judgments_of_battle),
                is_on=(self.judging.on_bad_judge == "stop"),
                ends_run=self._ends_run,
                gives_fine_grades=self.judging.realization.name in FINEST_REALIZATIONS,
                is_asked_for_text=bool(self.judging.realization.form)
                and not self.judging.asks_schema_first,
            )
        monitor = self._monitors[name]
        waits = not has_batches(model)
        await self._ask_while_others(model, lambda _: monitor.begin(waits=waits))
        return monitor

    def judged_reply(
        self, judge: str, answers: Sequence[JudgeAnswer], battle: BattleMetadata
    ) -> "JudgedReply | None":
        """Return what a new judgment of a battle shows of its judge; None if a call failed.

        Args:
            judge: name of the judge.
            answers: the answer of each call of the judgment.
            battle: the battle.
        """
        from podium.hosts.inspect_ai.judging.judge_monitor import JudgedReply

        replies = [load_reply(answer.stored_reply) for answer in answers]
        if any(reply.failed for reply in replies):
            return None
        mode = self.mode(judge)
        words = next((reply.text or reply.refused for reply in replies), "")
        judging = self.judging_of(battle)
        contents = []
        for reply, answer in zip(replies, answers, strict=True):
            parsed_reply = answer.parsed_reply
            if parsed_reply is None or parsed_reply.mode != mode:
                parsed_reply = parse_reply(judging, reply, mode)
            contents.append(parsed_reply.content)
        verdict = contents[0] if judging.is_pairwise else compare_ratings(*contents)
        is_parsed = verdict.credit is not None
        is_of_equals = battle.has_identical_responses
        return JudgedReply(words, is_parsed, verdict.outcome, is_of_equals, battle.item)

    def judging_of(self, battle: BattleMetadata) -> Judging:
        """Return how the judges are asked about a battle, whose responses may be transcripts."""
        return self.judging.adapted_to(transcript=battle.transcript)

    def judge_of(self, model: Model) -> JudgeRecord:
        """Return the record of a judge, which is made once per run."""
        if model not in self._judges:
            self._judges[model] = judge_of(model, self.judging)
        return self._judges[model]

    def mode(self, judge: str) -> Any:
        """Return how a judge's token probabilities are used: `off` or `required`.

        It is the option `logprobs`, unless this is `auto`. Then it is `off` until `settle_mode` has
        set the mode of the judge.

        Args:
            judge: name of the judge.
        """
        return (
            self.modes.get(judge, "off")
            if self.judging.logprobs == "auto"
            else self.judging.logprobs
        )

    def settle_mode(self, judge: str, reply: Reply, judging: Judging) -> FixedMode:
        """Return how a judge's token probabilities are used, after it has replied.

        With `logprobs=auto`, the judge's first reply with probabilities or a verdict sets the mode
        for the rest of the run: `required` if the reply has probabilities, else `off`.

        Args:
            judge: name of the judge.
            reply: a reply of the judge.
            judging: how it was asked for the reply.
        """
        # For speed, a reply is only parsed here if it may set the mode.
        if judge not in self.modes:
            mode = settle_mode(reply)
            if mode == "required" or judging.reason(reply, "off") is None:
                self.modes[judge] = mode
        return cast(FixedMode, self.mode(judge))


def readable_judgments(path: str, judging: Judging) -> dict[JudgmentKey, KeptJudgment]:
    """Return the judgments in an earlier run's log whose replies can all be parsed, by key.

    Judgments that the log carried over from another sample are left out, and so are ties of
    identical responses.

    Args:
        path: path or URL of the log.
        judging: how the judges are asked now, by which the replies are parsed.

    Raises:
        UsageError: the file does not exist or is no log of a tournament.
        DataError: the log is damaged.
    """
    from podium.hosts.inspect_ai.logs.stored_samples import read_by_inspect

    file = local_file(place_of(path))
    log = None
    if file.is_file() and is_log(file):
        log = read_by_inspect(file, exclude_fields={"events", "messages", "attachments"})
    if log is None or read_tournament(log) is None:
        raise UsageError(
            f"reask={path}: no log of a tournament; name one, a file that ends with .eval"
        )
    readable: dict[JudgmentKey, KeptJudgment] = {}
    with named_in_errors(path):
        for sample in log.samples or []:
            for battle, judgment in judgments_in(sample):
                mode: Any = judgment["mode"] if judging.logprobs == "auto" else judging.logprobs
                adapted = judging.adapted_to(transcript=battle.transcript)
                reasons = [adapted.reason(load_reply(reply), mode) for reply in judgment["replies"]]
                if all(reason is None for reason in reasons):
                    key = _key_of(judgment["judge"], battle, judgment["order"], judgment["repeat"])
                    readable[key] = judgment
    return readable


def _key_of(judge: str, battle: BattleMetadata, order: str, repeat: int) -> JudgmentKey:
    """Return the key of a judgment on a battle.

    Args:
        judge: name of the judge's record.
        battle: the battle.
        order: `ab`, `ba` or `merged`.
        repeat: number of the repeat, from 0.
    """
    return judge, _response_key_of(battle), battle.model_a, battle.model_b, order, repeat


def _response_key_of(battle: BattleMetadata) -> str:
    """Return the item's id, with the number of the response if models gave several."""
    # Imported here because Inspect's registry loads this file even if no table is read.
    from podium.responses.collection import response_key

    return response_key(battle.item, battle.response or 1)


async def judge_sample(run: Run, state: TaskState, options: Mapping[str, Any]) -> TaskState:
    """Ask the judges about one sample, put their replies into its store, and return the sample.

    Nothing is asked for a sample without battles, or if no call of this epoch has to be repeated.

    Args:
        run: the run.
        state: the sample, which is changed in place.
        options: options of the judge, which the log keeps.

    Raises:
        JudgeStoppedError: no model is the judge, or no more calls are made.
        FailedCallsError: the sample repeats calls that failed in this same run.
        LimitExceededError: a limit of the sample is exceeded.
        Exception: the first error, if none of the sample's own calls was answered.
    """
    state.output = ModelOutput.from_content(state.model.name, "judged")
    contents = parse_sample(state.metadata)
    if not isinstance(contents, BattleMetadata | PackMetadata):
        return state
    if not has_judge():
        raise JudgeStoppedError(NO_JUDGE)
    earlier = _earlier_replies(contents, state.epoch)
    if earlier == []:
        # No call of this epoch failed, so none is repeated.
        state.completed = True
        return state
    replies, errors = await _ask_for_sample(run, state, earlier)
    state.store.set(NAMESPACE, {**replies.to_log(), "options": options})
    _note_failed_calls(run, state, replies, errors)
    state.completed = True
    return state


def _earlier_replies(
    contents: BattleMetadata | PackMetadata, epoch: int
) -> Sequence[BattleReplies] | None:
    """Return the replies of an epoch so far, one element per battle.

    None if no call was made yet in any epoch, and an empty list if no call of this epoch failed.
    """
    return None if contents.earlier is None else contents.earlier.get(str(epoch), [])


def _note_failed_calls(
    run: Run, state: TaskState, replies: SampleReplies, errors: Sequence[Exception]
) -> None:
    """Remember in `run` why calls of a sample failed; raise the first error if none was answered.

    Args:
        run: the run, which is changed in place.
        state: the sample.
        replies: its replies.
        errors: the errors of its failed calls; empty if none failed.
    """
    if errors and not any(map(_has_new_reply, replies.to_battles())):
        raise errors[0]
    if errors:
        run.failed_calls[_sample_key(state)] = (
            f"{quantity(len(errors), 'call')} failed, the first by {cause_of(errors[0])}"
        )


def _sample_key(state: TaskState) -> tuple[str, int]:
    """Return the id and the epoch of a sample."""
    return str(state.sample_id), state.epoch


async def _ask_for_sample(
    run: Run, state: TaskState, earlier: Sequence[BattleReplies] | None
) -> tuple[SampleReplies, list[Exception]]:
    """Return the replies on a sample's battles, and the errors of calls that failed.

    If calls were made to servers that send no usage, the estimated tokens are put into the store of
    the sample.

    Args:
        run: the run.
        state: the sample.
        earlier: the replies so far, one element per battle. Only calls that failed are made again.
            None if no call was made yet.

    Raises:
        FailedCallsError: the sample repeats calls that failed in this same run.
        JudgeStoppedError: no more calls are made to the judges.
        LimitExceededError: a limit of the sample is exceeded.
    """
    run.refuse_repeat_in_same_run(state)
    media = {"media": media_in(state.input)}
    battles = parse_battles(state.metadata)
    replies_so_far = [None] * len(battles) if earlier is None else earlier
    calls = []
    for battle, replies in zip(battles, replies_so_far, strict=True):
        with_media = battle.model_copy(update=media)
        calls.append(partial(ask_judges, run, with_media, state.epoch, replies))
    is_pack = BATTLES in state.metadata
    # The number of packs that run at once is limited. Single battles do not wait, and neither does
    # a pack whose calls come into a batch, which has the calls of all packs.
    is_limited = is_pack and not any(map(has_batches, jury_of(run.judging, run.jury)))
    turn = run.packs if is_limited else nullcontext()
    with estimating_tokens() as estimate:
        async with turn:
            results = await make_calls(calls)
    if estimate:
        state.store.set(ESTIMATE, estimate)
    battle_replies = []
    errors: list[Exception] = []
    for replies_on_battle, errors_of_battle in results:
        battle_replies.append(replies_on_battle)
        errors += errors_of_battle
    if is_pack:
        return SampleReplies(battles=battle_replies), errors
    return SampleReplies.parse(battle_replies[0].to_log()), errors


def _has_new_reply(replies: BattleReplies) -> bool:
    """Return whether this sample's own calls on a battle got any answer, readable or not.

    Judgments that were carried over from an earlier sample do not count.
    """
    own_replies = []
    for judgment in replies.judgments:
        if not judgment.get("carried"):
            own_replies += judgment["replies"]
    return any(not reply.get("failed") for reply in own_replies)


async def ask_judges(
    run: Run, battle: BattleMetadata, epoch: int = 1, earlier: BattleReplies | None = None
) -> tuple[BattleReplies, list[Exception]]:
    """Ask all judges of a battle for every judgment (order and repeat).

    If the battle names judges, only these are asked. With `identical=tie`, none is asked about
    identical responses. If a checklist is wanted and cannot be written, all judgments count as
    failed.

    Args:
        run: the run.
        battle: the battle.
        epoch: number of the epoch, from 1; each adds its own repeats.
        earlier: the replies so far. Only calls that failed are made again. None if no call was
            made yet.

    Returns:
        The replies, also those of `earlier`, and the errors of calls that failed.

    Raises:
        JudgeStoppedError: no more calls are made to the judges.
        LimitExceededError: a limit of the sample is exceeded.
    """
    judgments = _judgments_of(run, battle, epoch)
    if run.judging.identical == "tie" and battle.has_identical_responses and earlier is None:
        return _tie_of_identical(run, battle, judgments), []
    errors: list[Exception] = []
    wants_checklist = run.judging.settings.checklist
    if wants_checklist and not battle.checklist:
        questions = tuple(earlier.checklist) if earlier else ()
        try:
            if not questions:
                key_of_item = ("checklist", battle.item)
                questions = await run.ask_once(key_of_item, partial(_ask_checklist, run, battle))
        except FATAL_ERRORS:
            raise
        except Exception as error:
            rows = [_failed_judgment(run, model, planned, error) for model, planned in judgments]
            judges = _judge_records(run, judgments, earlier=earlier)
            return BattleReplies(judgments=rows, judges=judges), [error]
        battle = battle.model_copy(update={"checklist": questions})
    rows = []
    calls = []
    earlier_by_key = _judgments_by_key(earlier)
    for model, planned in judgments:
        key = (run.judge_of(model).name, planned.order, planned.repeat)
        judgment = earlier_by_key.pop(key, None)
        if judgment is not None and not has_failed(judgment):
            run.modes.setdefault(judgment["judge"], judgment["mode"])
            rows.append(cast(KeptJudgment, {**judgment, "carried": True}))
        elif judgment is not None or earlier is None:
            replies = judgment["replies"] if judgment else ()
            calls.append(partial(_ask_judge, run, model, planned, battle, errors, replies))
    # Judgments of judges that are no longer asked are kept.
    rows += [cast(KeptJudgment, {**row, "carried": True}) for row in earlier_by_key.values()]
    new_judgments = await make_calls(calls)
    rows += [cast(KeptJudgment, {**row, "mode": run.mode(row["judge"])}) for row in new_judgments]
    checklist: Any = {"checklist": list(battle.checklist)} if wants_checklist else {}
    judges = _judge_records(run, judgments, earlier=earlier)
    return BattleReplies(judgments=rows, judges=judges, **checklist), errors


def _tie_of_identical(
    run: Run, battle: BattleMetadata, judgments_of_judges: Sequence[tuple[Model, Judgment]]
) -> BattleReplies:
    """Return the replies on a battle of identical responses, about which no judge is asked.

    There is one judgment without replies for each judge and repeat, and `identical` is True.

    Args:
        run: the run.
        battle: the battle. If it sets which model is shown first, the judgments have this order,
            else `merged`.
        judgments_of_judges: the judgments that are not asked for, each with its judge.
    """
    judgments: dict[tuple[str, int], Any] = {}
    for model, planned in judgments_of_judges:
        name = run.judge_of(model).name
        order = "merged" if battle.first is None else planned.order
        about: Any = {"order": order, "repeat": planned.repeat, "judge": name, "replies": []}
        judgments[name, planned.repeat] = {**about, "mode": "off"}
    records = _judge_records(run, judgments_of_judges, earlier=None)
    return BattleReplies(judgments=[*judgments.values()], judges=records, identical=True)


def _judge_records(
    run: Run, judgments: Sequence[tuple[Model, Judgment]], earlier: BattleReplies | None
) -> dict[str, dict[str, Any]]:
    """Return the records that the log keeps of all judges, asked now or earlier, by name.

    A record has the options that the judge refuses under `REFUSED_OPTIONS`, if there are any.

    Args:
        run: the run.
        judgments: the judgments that are asked for, each with its judge.
        earlier: the replies so far; None if no call was made yet.
    """
    records = dict(earlier.judges) if earlier else {}
    for model, _ in judgments:
        judge = run.judge_of(model)
        refused = run.settings.state_of(judge).refused
        refused_as_json = {REFUSED_OPTIONS: dict(refused)} if refused else {}
        records[judge.name] = judge.to_json() | refused_as_json
    return records


async def ask_jury(run: Run, battle: BattleMetadata) -> BattleReplies:
    """Ask all judges of a battle for every judgment, as `ask_judges`, and return the replies.

    If any call fails, its error is raised, and no reply is returned.
    """
    replies, errors = await ask_judges(run, battle)
    if errors:
        raise errors[0]
    return replies


def _judgments_of(run: Run, battle: BattleMetadata, epoch: int) -> list[tuple[Model, Judgment]]:
    """Return the judgments that an epoch asks for, each with its judge.

    They are in the order of the judges. Repeats are numbered on from those of earlier runs and
    epochs. The epoch counts from 1.
    """
    item_and_models = (_response_key_of(battle), battle.model_a, battle.model_b)
    judgments = []

    def name_of(model: Model) -> str:
        """Return the name of a judge, whose record the run makes only once."""
        return run.judge_of(model).name

    for model in jury_of(run.judging, run.jury, battle.judges, name_of=name_of):
        before = run.asked_before.get(run.judge_of(model).name, 0) + run.judging.repeats * (
            epoch - 1
        )
        with_earlier = run.judging
        if before:
            with_earlier = replace(run.judging, repeats=before + run.judging.repeats)
        for judgment in with_earlier.judgments(*item_and_models, battle.first):
            if judgment.repeat >= before:
                judgments.append((model, judgment))
    return judgments


def _judgments_by_key(
    replies: BattleReplies | None,
) -> dict[tuple[str, str, int], KeptJudgment]:
    """Return the judgments of a battle by judge, order and repeat; empty without replies."""
    if replies is None:
        return {}
    return {_judgment_key(judgment): judgment for judgment in replies.judgments}


def _judgment_key(judgment: KeptJudgment) -> tuple[str, str, int]:
    """Return the judge, order and repeat, which identify a judgment of a battle."""
    return judgment["judge"], judgment["order"], judgment["repeat"]


async def _ask_judge(
    run: Run,
    model: Model,
    planned: Judgment,
    battle: BattleMetadata,
    errors: list[Exception],
    earlier_replies: Sequence[KeptReply] = (),
) -> KeptJudgment:
    """Return one judgment with its replies, some of which may be failed calls.

    A judgment that is parsed in the log of `reask` is returned from there. A new one has the mode
    `off`, which the caller replaces by that of the judge. A pointwise judge rates a response once,
    and the rating counts in all battles of the response. If the judge cannot be asked while other
    judges go on, all calls that have no reply yet count as failed.

    Raises:
        JudgeStoppedError: no more calls are made to any judge.
        LimitExceededError: a limit of the sample is exceeded.

    Args:
        run: the run.
        model: the judge.
        planned: order and repeat.
        battle: the battle.
        errors: changed in place: the errors of failed calls are added.
        earlier_replies: the replies of this judgment so far, in the order of its calls. Calls of
            those that did not fail are not made again.
    """
    name = run.judge_of(model).name
    earlier_judgment = run.known.get(_key_of(name, battle, planned.order, planned.repeat))
    if earlier_judgment:
        return earlier_judgment
    repeat = planned.repeat
    responses = {battle.model_b: battle.response_b, battle.model_a: battle.response_a}
    calls: list[Callable[[], Awaitable[JudgeAnswer]]] = []
    if run.judging.is_pairwise:
        texts = (responses[planned.first], responses[planned.second])
        calls.append(partial(_ask_for_verdict, run, model, texts, battle, repeat, planned.order))
    else:
        for rated in (battle.model_a, battle.model_b):
            rate = partial(_ask_for_verdict, run, model, (responses[rated],), battle, repeat)
            key = ("rating", name, _response_key_of(battle), rated, repeat)
            calls.append(partial(run.ask_once, key, rate))
    try:
        monitor = await run.begin_judgment(model, battle)
    except FATAL_ERRORS:
        raise
    except RuntimeError as error:
        errors.append(error)
        return _failed_judgment(run, model, planned, error, earlier_replies)
    judged_reply = None
    try:
        answers = await _make_new_calls(calls, earlier_replies, errors)
        judgment = _judgment_of_answers(name, planned, answers)
        judged_reply = run.judged_reply(name, answers, battle)
        return judgment
    finally:
        monitor.end(judged_reply)


def _judgment_of_answers(
    name: str, planned: Judgment, answers: Sequence[JudgeAnswer]
) -> KeptJudgment:
    """Return a judgment as a log keeps it, with the mode `off` until its real one is known.

    Args:
        name: name of the judge.
        planned: order and repeat.
        answers: the answer of each call. The largest number of attempts counts as that of the
            judgment.
    """
    about: Any = {
        "order": planned.order,
        "repeat": planned.repeat,
        "judge": name,
        "replies": [answer.stored_reply for answer in answers],
    }
    attempts = max(answer.attempts for answer in answers)
    return cast(KeptJudgment, {**about, "attempts": attempts, "mode": "off"})


async def _make_new_calls(
    calls: Sequence[Callable[[], Awaitable[JudgeAnswer]]],
    earlier_replies: Sequence[KeptReply],
    errors: list[Exception],
) -> list[JudgeAnswer]:
    """Return the answer of each call of a judgment.

    Args:
        calls: makes each call: one, or two by a pointwise judge, which come into one batch.
        earlier_replies: the replies of this judgment so far, in the order of `calls`. A call whose
            reply did not fail is not made again.
        errors: changed in place: the errors of failed calls are added.
    """

    async def answer(place: int) -> JudgeAnswer:
        """Return the answer of the call at a place in `calls`.

        A reply that is known and did not fail counts as one attempt.
        """
        earlier = earlier_replies[place] if place < len(earlier_replies) else None
        if earlier is not None and not earlier.get("failed"):
            return JudgeAnswer(earlier, 1)
        cause = earlier.get("refused", "") if earlier is not None else ""
        with repeating_failed_call(cause):
            return await _reply_or_failure(calls[place], errors)

    # `make_calls` gives a single call no task of its own: its failure has to reach the other order
    # before that is asked for.
    return await make_calls([partial(answer, place) for place in range(len(calls))])


async def _reply_or_failure(
    ask: Callable[[], Awaitable[JudgeAnswer]], errors: list[Exception]
) -> JudgeAnswer:
    """Make a call, and return its answer.

    If the call fails, its error is added to `errors`, the returned reply names the error, and the
    number of attempts is 1. Errors that end the run or the sample (`FATAL_ERRORS`) are raised.
    """
    try:
        return await ask()
    except FATAL_ERRORS:
        raise
    except Exception as error:
        errors.append(error)
        return JudgeAnswer(_failed_reply(error), 1)


def _failed_reply(error: Exception) -> KeptReply:
    """Return the reply that stands for a failed call: `failed` and `refused` name the error."""
    reply = Reply("", failed=name_of_failure(error), refused=cause_of(error))
    return cast(KeptReply, dump_reply(reply))


def _failed_judgment(
    run: Run,
    model: Model,
    planned: Judgment,
    error: Exception,
    earlier_replies: Sequence[KeptReply] = (),
) -> KeptJudgment:
    """Return the judgment that records that a judge could not be asked.

    It has a failed reply for each call that the judgment takes: two by a pointwise judge. Earlier
    replies that did not fail stay in their places.

    Args:
        run: the run.
        model: the judge.
        planned: order and repeat.
        error: why the judge could not be asked.
        earlier_replies: the replies of this judgment so far, in the order of its calls.
    """
    replies = [_failed_reply(error)] * (1 if run.judging.is_pairwise else 2)
    for place, earlier in enumerate(earlier_replies):
        if not earlier.get("failed"):
            replies[place] = earlier
    name = run.judge_of(model).name
    about: Any = {
        "order": planned.order,
        "repeat": planned.repeat,
        "judge": name,
        "replies": replies,
    }
    return cast(KeptJudgment, {**about, "attempts": 1, "mode": "off"})


async def _ask_for_verdict(
    run: Run,
    model: Model,
    responses: tuple[str, ...],
    battle: BattleMetadata,
    repeat: int,
    order: str = "",
) -> JudgeAnswer:
    """Ask a judge for a verdict on responses, or for the rating of one, until it can be parsed.

    Args:
        run: the run.
        model: the judge.
        responses: the responses, in the order in which they are shown.
        battle: the battle.
        repeat: number of the repeat, from 0.
        order: `ab` or `ba`; empty for a pointwise judge.

    Returns:
        The last reply, which may be unparsed.
    """
    name = run.judge_of(model).name
    # The number keeps the cache from answering for another, equal response of the same model.
    number = f" response {battle.response}" if (battle.response or 1) > 1 else ""
    texts = prompt_texts(battle, responses)
    judging = run.judging_of(battle)
    request = verdict_request(
        judging,
        texts,
        lambda attempt: f"{name} repeat {repeat} {order} attempt {attempt}{number}",
        battle.media,
    )

    def parse(reply: Reply) -> ParsedReply:
        """Return what is read in a reply, which may settle the mode of the judge."""
        return parse_reply(judging, reply, run.settle_mode(name, reply, judging))

    return await _ask_until_readable(run, model, request, parse)


def parse_reply(judging: Judging, reply: Reply, mode: FixedMode) -> ParsedReply:
    """Return the verdict of a pairwise judge, or the rating of a pointwise one, in a reply.

    Args:
        judging: how the judge was asked.
        reply: the reply.
        mode: how token probabilities are used.
    """
    read: Callable[[Reply, FixedMode], Verdict | Rating]
    read = judging.verdict if judging.is_pairwise else judging.rating
    content = read(reply, mode)
    return ParsedReply(content, content.reason, mode)


async def _ask_until_readable(
    run: Run,
    model: Model,
    request: ReplyRequest,
    parse: Callable[[Reply], ParsedReply],
) -> JudgeAnswer:
    """Ask a judge until its reply can be parsed, at most `attempts` times.

    A judge that rejects the prompt is not asked again, and neither is one whose reply the content
    filter of its provider ended, or whose reasoning does not fit its limit of tokens, after this
    was raised: a further call would cost as much and end alike.

    Args:
        run: the run.
        model: the judge.
        request: what it is asked for.
        parse: function that reads a reply.

    Returns:
        The last reply, which may be unparsed. If a call fails, its error is raised.
    """
    # Imported here because Inspect's registry loads this file even if nothing is judged.
    from podium.scorers.copied_responses import mark_copy

    for attempt in range(1, run.judging.attempts + 1):
        answer = await _ask_in_form(run, model, request, attempt)
        stored_reply: Any = dump_reply(mark_copy(answer, request.texts.responses))
        # The scorer will parse the stored reply, so the same form is parsed here.
        reply = load_reply(stored_reply)
        if reply.refused or reply.in_reasoning or reply.withheld == FILTERED:
            return JudgeAnswer(stored_reply, attempt)
        parsed_reply = parse(reply)
        if parsed_reply.reason is None:
            break
    return JudgeAnswer(stored_reply, attempt, parsed_reply)


async def _ask_in_form(run: Run, model: Model, request: ReplyRequest, attempt: int) -> Reply:
    """Return the reply of one attempt, whose errors are raised.

    The reply is asked for in a JSON schema if the attempt has one and the judge takes it. If the
    judge turns out to take none, or writes noise before it has ever written an object, the attempt
    asks for text, too. With `replies=schema`, no text is ever asked for.

    Args:
        run: the run.
        model: the judge.
        request: what it is asked for.
        attempt: number of the attempt, from 1.

    Raises:
        JudgeStoppedError: the judge takes no schema, and `replies=schema` requires one.
    """
    judge = run.judge_of(model)
    settings = run.settings
    has_schema = settings.schema_of(judge, request, attempt) is not None
    # A batch has all first calls, so none of them is made alone.
    is_batched = has_batches(model)
    alone = nullcontext() if is_batched else settings.first_alone(judge, has_schema=has_schema)
    async with alone:
        # Meanwhile, another call may have shown that the judge takes no schema.
        schema = settings.schema_of(judge, request, attempt)
        if schema:
            reply = await _call_judge(run, model, request, attempt, schema)
            if isinstance(reply, Reply):
                if not settings.note_garbled(judge, reply) or run.judging.replies == "schema":
                    return replace(reply, structured=not reply.refused)
            else:
                settings.refuse_schema(judge, f"its server says: {cause_of(reply)}")
        reply = await _call_judge(run, model, request, attempt)
        if isinstance(reply, Reply):
            return reply
        raise reply


async def _call_judge(
    run: Run, model: Model, request: ReplyRequest, attempt: int, schema: Schema | None = None
) -> Reply | Exception:
    """Return a judge's reply, or the error of a server that takes no JSON schema.

    The error is returned only if the call had a schema. Other errors are raised.

    If podium's limit of tokens cut off the judge's reasoning, the call is repeated once with a
    higher limit.

    Args:
        run: the run.
        model: the judge.
        request: what it is asked for.
        attempt: number of the attempt, from 1.
        schema: the schema of the reply; None for a text reply.
    """
    # Imported here because Inspect's registry loads this file even if nothing is judged.
    from podium.hosts.inspect_ai.judging.offline_api import pass_to_stand_in

    judge = run.judge_of(model)
    while True:
        limit = run.settings.limit_of_call(model, judge, request, schema)
        with pass_to_stand_in(request.judging, request.texts):
            output = await run.call_judge(
                model, partial(_call_model, run, model, request, attempt, schema)
            )
        if isinstance(output, Reply | Exception):
            return output
        if not run.settings.raise_limit(judge, model, limit, output):
            return _reply_of(output)


async def _call_model(
    run: Run, model: Model, request: ReplyRequest, attempt: int, schema: Schema | None
) -> ModelOutput | Reply | Exception:
    """Return a judge's output.

    If the judge rejects the prompt, a reply is returned that says why: the prompt is too long, or
    its media are refused. If its server takes no JSON schema, the error is returned. If an option
    of the call is refused, the call is repeated without the option. Other errors are raised.

    Args:
        run: the run.
        model: the judge.
        request: what it is asked for. `podium/offline` answers from its texts.
        attempt: number of the attempt, from 1.
        schema: the schema of the reply; None for a text reply.
    """
    # Imported here because Inspect's registry loads this file even if nothing is judged.
    from podium.hosts.inspect_ai.judging.judge_messages import judge_messages

    judge = run.judge_of(model)
    prompt, call = _prompt_and_call(request, attempt, schema)
    messages = judge_messages(model, prompt, request.media)
    batch = batch_of(model)
    call_options: Any = {"watch": run.watch_of(model), "timeout": run.call_timeout}
    call_options["cache"] = run.cache_policy(call)
    while True:
        config = run.settings.config(model, judge, request, schema)
        asked_model = run.settings.asked_model(model, judge)
        # A merge copies the settings, which costs time in each call.
        whole_config = config if batch is None else config.merge(GenerateConfig(batch=batch))
        try:
            output = await generate_output(
                asked_model, messages, config=whole_config, **call_options
            )
            break
        except Exception as error:
            if run.settings.adapt_to(judge, config, error):
                continue
            rejection = _rejection_by(error, config)
            if rejection is not None:
                return rejection
            ask_for_text = partial(_call_model, run, model, request, attempt, None)
            if await run.settings.try_without_schema(judge, config, error, ask_for_text):
                return error
            words = why_refused(error) if request.media and is_rejection(error) else None
            if words:
                return Reply("", refused=words)
            raise
    estimate_usage(model, prompt, output)
    why = why_too_long(output)
    return Reply("", refused=why, rejection=TOO_LONG) if why else output


def _prompt_and_call(request: ReplyRequest, attempt: int, schema: Schema | None) -> tuple[str, str]:
    """Return the prompt of a call, and the name under which its output is cached.

    Args:
        request: what is asked for.
        attempt: number of the attempt, from 1.
        schema: the schema of the reply; None for a text reply.
    """
    if schema:
        return request.schema_prompt(schema, attempt), f"{request.call(attempt)} {schema}"
    return request.text_prompt(attempt), request.call(attempt)


def _rejection_by(error: Exception, config: GenerateConfig) -> Reply | Exception | None:
    """Return what the message of a failed call shows about its prompt or its schema.

    Args:
        error: the error of the call.
        config: the settings of the call.

    Returns:
        A reply that says why the prompt was rejected, or the error about the schema; None if the
        error shows neither.
    """
    why = why_too_long(error)
    if why:
        return Reply("", refused=why, rejection=TOO_LONG)
    return error if config.response_schema and is_about_schema(error) else None


def _reply_of(output: ModelOutput) -> Reply:
    """Convert a model's output to a reply, with its token probabilities and its cost.

    Without probabilities, the reply has no tokens. The cost is None if it is unknown.
    """
    logprobs = output.choices[0].logprobs if output.choices else None
    tokens = []
    for token in logprobs.content if logprobs else []:
        probabilities = {}
        for alternative in token.top_logprobs or []:
            # Rounding may make a logarithm larger than 0.
            probabilities[alternative.token] = math.exp(min(alternative.logprob, 0.0))
        tokens.append(Token(token.token, probabilities))
    cost = output.usage.total_cost if output.usage else None
    return Reply(
        output.completion,
        ended_at_limit(output),
        tuple(tokens),
        cost=cost,
        withheld=why_withheld(output),
        in_reasoning=is_cut_in_reasoning(output),
    )


async def _ask_checklist(run: Run, battle: BattleMetadata) -> tuple[str, ...]:
    """Return the checklist of an item: questions on a good response.

    The model of the role `checklist` writes it; without this role, the first judge does.

    Raises:
        RuntimeError: no attempt gave a checklist.
    """
    if "checklist" in model_roles():
        model = get_model(role="checklist")
    else:
        model = jury_of(run.judging, run.jury)[0]
    name = run.judge_of(model).name
    request = checklist_request(
        run.judging_of(battle),
        prompt_texts(battle, ()),
        lambda attempt: f"{name} checklist {attempt}",
    )

    def parse(reply: Reply) -> ParsedReply:
        """Return the questions of a reply, or why it is no checklist."""
        content = read_checklist(reply)
        return ParsedReply(content, content if isinstance(content, str) else None)

    answer = await _ask_until_readable(run, model, request, parse)
    questions_or_problem = read_checklist(load_reply(answer.stored_reply))
    if isinstance(questions_or_problem, str):
        raise RuntimeError(f"no checklist for the item {battle.item!r}: {questions_or_problem}")
    return questions_or_problem


def prompt_texts(battle: BattleMetadata, responses: tuple[str, ...]) -> Texts:
    """Return the texts that a judge's prompt shows: the item's, and these responses.

    Args:
        battle: the battle, with the texts of the item.
        responses: the responses in the order in which they are shown; empty for a checklist.
    """
    return Texts(battle.instruction, responses, battle.reference, battle.system, battle.checklist)
