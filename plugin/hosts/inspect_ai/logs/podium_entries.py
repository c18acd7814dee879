"""What podium writes into an Inspect log and reads back.

The fields of these pydantic models are the keys in the log.

| place in the log | model |
|---|---|
| `eval.metadata` | `TournamentMetadata`, its keys beginning with `podium_`; `podium_stop` |
| `metadata` of a sample | one of `SampleMetadata` |
| `store["podium"]` of a sample | `SampleReplies` of the judges, or a `GivenAnswer` per model |
| `metadata["podium"]` of a score | `BattleVerdict` or `PackVerdicts` |
| `results.metadata["podium"]` | a ranking as JSON, see `kept_rankings` |

Parsing raises a DataError that names the field.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NotRequired, Self

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import Score
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from typing_extensions import TypedDict

from podium.errors import DataError, named_in_errors
from podium.format_version import FORMAT_VERSION, require_format
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.responses.transcripts import write_pieces
from podium.scorers.judge_record import JudgeRecord, refused_options
from podium.scorers.prompt import final_answer

ROUND_KEY = "podium round"
"""Key of a sample's metadata that marks an announced round."""
REQUEST_KEY = "podium asked"
"""Key of a sample's metadata that marks a request for answers."""
TRANSCRIPTS = "transcripts"
"""Key of a score's metadata with the pieces of both transcripts, by model, turn and piece."""
BATTLES = "battles"
"""Key of a sample's metadata that marks a pack of battles."""
AGAIN = "::again"
"""End of the id of a sample that repeats failed calls. The rest is the id of the first sample."""
PORTION_KEY = "podium portion"
"""Key of a sample's metadata that marks an announced portion (see `PortionMetadata`)."""
KEYS = {
    "pairings": ROUND_KEY,
    "replaced": "podium replaced",
    "answer": "podium answer",
    "asked_models": REQUEST_KEY,
    "portion": PORTION_KEY,
    "earlier": "podium earlier",
}
"""Keys in the log of the fields that have another name in this file."""


class LogContents(
    BaseModel, populate_by_name=True, alias_generator=lambda name: KEYS.get(name, name)
):
    """Base of the models in this file. Unknown keys are ignored."""

    model_config = ConfigDict(protected_namespaces=())

    @classmethod
    def parse(cls, content: Any) -> Self:
        """Parse what a log holds, under the keys of the log or the names of the fields.

        Raises:
            DataError: a field is missing or has a wrong type. The error names the field.
        """
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            # The others often follow from the first.
            wrong, *_ = error.errors(include_url=False)
            field = ".".join(map(str, wrong["loc"]))
            problem = (
                f"podium's field {field!r} is damaged ({wrong['msg']})" if field else wrong["msg"]
            )
            raise DataError(problem, remedy="run it again, or leave this log out") from None

    def to_log(self) -> dict[str, Any]:
        """Return the fields that were set, under their keys in the log. Defaults are left out."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class ShardMetadata(LogContents):
    """Which shard of a tournament a log holds.

    Attributes:
        number: number of the shard, from 1.
        of: number of shards.
        battles: number of battles of all shards together that have both responses.
        left_out: number of battles of all shards together that lack a response.
    """

    number: int
    of: int
    battles: int
    left_out: int


class KeptNotice(LogContents):
    """A warning as a log keeps it; see `podium.notices.notice_text.notices_to_json`."""

    code: str
    fields: dict[str, Any] = {}
    text: str


class TournamentMetadata(LogContents, alias_generator=lambda name: f"{NAMESPACE}_{name}"):
    """Metadata of a tournament's log.

    Attributes:
        format: version of podium's format.
        models: names of the models.
        missing: number of missing responses, by model, then by reason.
        left_out: number of battles of the first round that lack a response.
        left_out_of: the same number by task; None if it is not known, or of a single task.
        sources: files of the responses.
        scheduled: number of battles of the first round that have both responses.
        planned: the maximum number of battles of all rounds.
        tasks: tasks of the responses.
        prompts: hash of the judge's prompts.
        shard: the shard that the log holds; None for a whole tournament.
        answers: which models are asked for responses, and how, as `AnswerRequests.to_log` writes
            it; None if all responses are recorded.
        judging: how the judges are asked, as `settings_to_log` writes it.
        host: the other host (lm-eval) that plays and ranks the tournament; None for Inspect.
        ladder: given ratings that new models join, as `podium.data.ladder.Ladder.to_dict` writes
            them.
        agents: notes on what the judge is shown of agents, and on the judge of the verdicts that
            the option `earlier` names.
        preferred: name of the model whose responses are known to be preferred by humans; None if
            no preferences are known.
        jury: names of the judges that take turns; empty if all judge every battle.
        runs: the runs that gave the responses, without the arguments of models, which may hold
            secrets; empty if nothing is known of them.
        questions: how the items of `runs` were paired by their questions, by task.
        accepted: sentences on findings that the user accepted by name.
        cluster: the column with the groups of items; None if each item is independent.
        item_columns: further columns that divide the items: the items of each value, by column and
            value.
    """

    format: str
    models: list[str]
    missing: dict[str, dict[str, int]] = {}
    left_out: int = 0
    left_out_of: dict[str, int] | None = None
    sources: list[str] = []
    scheduled: int = 0
    planned: int = 0
    tasks: list[str] = []
    prompts: str | None = None
    shard: ShardMetadata | None = None
    answers: dict[str, Any] | None = None
    judging: dict[str, Any] | None = None
    host: str | None = None
    ladder: dict[str, Any] | None = None
    agents: list[KeptNotice] = []
    preferred: str | None = None
    jury: list[str] = []
    runs: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    accepted: list[str] = []
    cluster: str | None = None
    item_columns: dict[str, dict[str, list[str]]] = {}


def is_tournament(log: EvalLog) -> bool:
    """Return whether a log is of a tournament, in any format version."""
    metadata = log.eval.metadata or {}
    # The first version called the models entrants.
    return "podium_models" in metadata or "podium_entrants" in metadata


def read_tournament(log: EvalLog) -> TournamentMetadata | None:
    """Return the tournament's metadata in a log's header; None for an ordinary eval.

    Raises:
        DataError: the metadata are damaged, or another version of podium wrote them.
    """
    metadata = log.eval.metadata or {}
    if not is_tournament(log):
        return None
    # The first version wrote none.
    first_version = "0.1" if "podium_entrants" in metadata else None
    version = metadata.get("podium_format", first_version)
    require_format(version, "an Inspect log of a tournament", log.location)
    with named_in_errors(log.location):
        return TournamentMetadata.parse(metadata)


def is_cancelled(message: str) -> bool:
    """Return whether the error message of a sample only says that the run was cancelled."""
    return message.startswith("CancelledError")


class ItemMetadata(LogContents):
    """The item that a sample is about.

    Attributes:
        item: id of the item.
        instruction: what the models were asked.
        category: category of the item; None if it has none.
        group: the group of the item in a run with groups of items (`TournamentMetadata.cluster`);
            None if there are no groups.
        reference: the reference answer; None if there is none.
        system: the system prompt of the models; None if there is none.
        transcript: whether all responses to the item are written as transcripts.
    """

    item: str
    instruction: str
    category: str | None = None
    group: str | None = None
    reference: str | None = None
    system: str | None = None
    transcript: bool = False


def _length_of(side: str) -> Callable[[dict[str, Any]], int]:
    """Return a function from a battle's fields to the length of an answer, in characters.

    In a transcript, only the final answer counts.

    Args:
        side: the field with the response, `response_a` or `response_b`.
    """

    def length(battle: dict[str, Any]) -> int:
        """Return the length of the answer in one battle."""
        text = battle[side]
        return len(final_answer(text) if battle["transcript"] else text)

    return length


class BattleMetadata(ItemMetadata):
    """A battle: two responses to one item.

    Attributes:
        response: which of the models' responses to the item it is about, from 1.
        earlier: if the sample repeats failed calls, the replies so far by epoch; otherwise None.
        model_a: the model to which credits refer.
        model_b: the other model.
        first: the model whose response is shown first; None if the options of the run decide it.
        judges: names of the judges whose turn it is; empty if all judges judge the battle.
        round: number of the round in which the battle is played.
        response_a: the response of model_a.
        response_b: the response of model_b.
        length_a: length of model_a's answer, in characters.
        length_b: length of model_b's answer, in characters.
        checklist: questions on a good response, which the judge is shown.
        media: images and other contents that are shown with the prompt. The log does not keep them
            here.
    """

    response: int | None = None
    earlier: "EarlierReplies | None" = None
    model_a: str
    model_b: str
    first: str | None = None
    judges: list[str] = []
    round: int | None = None
    response_a: str
    response_b: str
    length_a: int = Field(default_factory=_length_of("response_a"))
    length_b: int = Field(default_factory=_length_of("response_b"))
    checklist: tuple[str, ...] = ()
    media: Any = Field(default=(), exclude=True)  # contents shown beside the prompt

    @property
    def has_identical_responses(self) -> bool:
        """Whether both responses are the same text, white space at the ends aside."""
        return self.response_a.strip() == self.response_b.strip()

    def to_log(self) -> dict[str, Any]:
        """Return the fields that were set, under their keys in the log, and the lengths."""
        return super().to_log() | {"length_a": self.length_a, "length_b": self.length_b}


class PackMetadata(ItemMetadata):
    """A pack: the battles on one item in one round, in one sample. A response is stored once.

    Attributes:
        response: which of the models' responses to the item it is about, from 1.
        earlier: if the sample repeats failed calls, the replies so far by epoch; otherwise None.
        judges: names of the judges whose turn it is; empty if all judges judge the battles.
        round: number of the round in which the battles are played.
        battles: model_a and model_b of each battle, and the model shown first if that is set.
        responses: the text of the response, by model.
    """

    response: int | None = None
    earlier: "EarlierReplies | None" = None
    judges: list[str] = []
    round: int | None = None
    battles: list[list[str]]
    responses: dict[str, str]

    def to_battles(self) -> list[BattleMetadata]:
        """Return the battles of the pack, each as if it had a sample of its own."""
        common = self.model_dump(exclude={"battles", "responses", "earlier"}, exclude_unset=True)
        battles = []
        for a, b, *first in self.battles:
            fields_of_battle: dict[str, Any] = {**common, "model_a": a, "model_b": b}
            if first:
                fields_of_battle["first"] = first[0]
            battles.append(
                BattleMetadata(
                    **fields_of_battle, response_a=self.responses[a], response_b=self.responses[b]
                )
            )
        return battles


class RoundMetadata(LogContents):
    """A round that is announced: a sample records its battles before they are played.

    Attributes:
        pairings: item, both models and further details of each battle, as `announce_round` writes
            them.
        note: why these battles are played.
        left_out: number of battles that lack a response.
        left_out_of: the same number by item.
        replaced: if answers failed and the round was scheduled anew, the number of battles in the
            schedule before, then the number of battles that it left out; otherwise zeros.
        replaced_of: the number of battles that the schedule before left out, by item.
        answer: the answer of a tournament that stops by itself; only in the last round.
    """

    pairings: list[list[Any]]
    note: str = ""
    left_out: int = 0
    left_out_of: dict[str, int] = {}
    replaced: tuple[int, int] = (0, 0)
    replaced_of: dict[str, int] = {}
    answer: dict[str, Any] | None = None


class RequestMetadata(ItemMetadata):
    """A request for answers: models are asked for a response to the item.

    Attributes:
        asked_models: names of the models that are asked.
        pairings: the battles for which the answers are needed, each as a list.
        media: contents of the instruction beside its text, as text; None if there are none.
    """

    asked_models: list[str]
    pairings: list[list[Any]] = []
    media: str | None = None


class PortionMetadata(LogContents):
    """A portion that is announced: the number of samples that the cost limit allows next."""

    portion: int


SampleMetadata = BattleMetadata | PackMetadata | RoundMetadata | RequestMetadata | PortionMetadata
"""The metadata of a tournament's sample, one class for each kind of sample."""


def parse_sample(metadata: Mapping[str, Any]) -> SampleMetadata:
    """Return the metadata of a tournament's sample, parsed by the class for its kind.

    `REQUEST_KEY`, `ROUND_KEY`, `PORTION_KEY` and `BATTLES` among the keys mark a request, a round,
    a portion and a pack. Without these keys, the sample is a single battle.

    Raises:
        DataError: the metadata are damaged, for example those of an ordinary sample.
    """
    if REQUEST_KEY in metadata:
        return RequestMetadata.parse(metadata)
    if ROUND_KEY in metadata:
        return RoundMetadata.parse(metadata)
    if PORTION_KEY in metadata:
        return PortionMetadata.parse(metadata)
    return (PackMetadata if BATTLES in metadata else BattleMetadata).parse(metadata)


def parse_battles(metadata: Mapping[str, Any]) -> list[BattleMetadata]:
    """Return the battles of a tournament's sample; empty for announcements and requests.

    Raises:
        DataError: the metadata are damaged, for example those of an ordinary sample.
    """
    sample = parse_sample(metadata)
    if isinstance(sample, PackMetadata):
        return sample.to_battles()
    return [sample] if isinstance(sample, BattleMetadata) else []


class KeptReply(TypedDict):
    """A judge's reply, as `podium.scorers.judging.dump_reply` writes it.

    A key that is missing stands for the default of the field in `podium.scorers.reply.Reply`.

    Attributes:
        text: the text of the reply; empty if there is none.
        truncated: whether the reply was cut off at a limit of tokens.
        tokens: tokens with the probabilities of their alternatives.
        refused: the server's words if it rejected the prompt, or the error of a failed call.
        rejection: why the prompt was rejected, as a code such as `TOO_LONG`.
        structured: whether the reply was asked for in a JSON schema.
        cost: money that the call cost.
        failed: short name of the failure if the call failed.
        withheld: why the provider withheld the reply.
        in_reasoning: whether the reply was cut off before its answer began.
    """

    text: str
    truncated: NotRequired[bool]
    tokens: NotRequired[list[Any]]
    refused: NotRequired[str]
    rejection: NotRequired[str]
    structured: NotRequired[bool]
    cost: NotRequired[float]
    failed: NotRequired[str]
    withheld: NotRequired[str]
    in_reasoning: NotRequired[bool]


class KeptJudgment(TypedDict):
    """One judgment: one reply of a pairwise judge, or one reply per response of a pointwise judge.

    Attributes:
        order: `ab` or `ba`: which response was shown first; `merged` for a pointwise judge.
        repeat: number of the repeat, from 0.
        judge: name of the judge's record.
        replies: the replies; empty if the responses are identical, so that no judge was asked.
        attempts: how often the judge was asked until its reply could be parsed.
        mode: whether token probabilities are used: `off` or `required`.
        carried: whether another sample of this log made the calls, whose score holds the verdict.
    """

    order: str
    repeat: int
    judge: str
    replies: list[KeptReply]
    attempts: NotRequired[int]
    mode: str
    carried: NotRequired[bool]


def has_failed(judgment: KeptJudgment) -> bool:
    """Return whether any call for a judgment failed. A judgment without replies has not failed."""
    return any(reply.get("failed") for reply in judgment["replies"])


class BattleReplies(LogContents):
    """The judgments of one battle.

    Attributes:
        judgments: one per judge, order and repeat.
        judges: the records of the judges by name, as `JudgeRecord.to_json` writes them.
        checklist: the questions that the judge was shown.
        identical: whether the responses are identical, so that the battle is a tie without a call.
    """

    judgments: list[KeptJudgment]
    judges: dict[str, dict[str, Any]] = {}
    checklist: list[str] = []
    identical: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether any call on the battle failed."""
        return any(map(has_failed, self.judgments))


EarlierReplies = dict[str, list[BattleReplies]]
"""Replies by epoch (a number as text). A list has one element per battle of the sample."""


class SampleReplies(BattleReplies):
    """What a sample's store holds of its judgments.

    Attributes:
        judgments: the judgments of a single battle; empty for a pack.
        battles: the replies per battle of a pack; None for a single battle.
        options: the options of the judges.
    """

    judgments: list[KeptJudgment] = []
    battles: list[BattleReplies] | None = None
    options: dict[str, Any] = {}

    def to_battles(self) -> Sequence[BattleReplies]:
        """Return the replies per battle, in the order of the sample's battles."""
        return [self] if self.battles is None else self.battles


def was_judge_asked(entry: Any) -> bool:
    """Return whether an entry in a sample's store holds replies of judges (`SampleReplies`).

    Args:
        entry: podium's entry; None if there is none. The entry of a sample that asked models for
            answers holds no replies of judges.
    """
    return isinstance(entry, Mapping) and "options" in entry


def judgments_in(sample: EvalSample) -> Iterator[tuple[BattleMetadata, KeptJudgment]]:
    """Yield the judgments that a sample itself asked for and got, each with its battle.

    Ties of identical responses are left out.
    """
    for battle, judgments in battles_with_replies(sample):
        for judgment in judgments:
            if not judgment.get("carried"):
                yield battle, judgment


def battles_with_replies(
    sample: EvalSample,
) -> Iterator[tuple[BattleMetadata, list[KeptJudgment]]]:
    """Yield each battle of a sample with its judgments that have replies; the list may be empty.

    Replies from earlier logs are among them. Judgments with a failed call are left out, and so are
    those of identical responses, which have no replies.

    Raises:
        DataError: the metadata or the replies of the sample are damaged.
    """
    battles = parse_battles(sample.metadata)
    entry = sample.store.get(NAMESPACE)
    if not battles or not entry:
        yield from ((battle, []) for battle in battles)
        return
    for battle, replies in zip(battles, SampleReplies.parse(entry).to_battles(), strict=True):
        answered = [judgment for judgment in replies.judgments if judgment["replies"]]
        yield battle, [judgment for judgment in answered if not has_failed(judgment)]


BattleMetadata.model_rebuild()
PackMetadata.model_rebuild()


class GivenAnswer(LogContents):
    """The result of asking a model for an answer.

    Attributes:
        text: the answer; None if there is none.
        failed: why there is none; None if there is one.
        refused: the options (such as `temperature`) that the model's server refuses, so that it was
            asked without them, each with the server's words.
        gave_up: whether the model is not asked any more.
    """

    text: str | None = None
    failed: str | None = None
    refused: dict[str, str] = {}
    gave_up: bool = Field(default=False, validation_alias="gave up", serialization_alias="gave up")


def parse_answers(
    request: RequestMetadata, entry: Mapping[str, Any] | None
) -> dict[tuple[str, str], GivenAnswer]:
    """Return the answers to a request by name of the model and id of the item.

    `entry` is the entry in the sample's store; None if the sample failed. A model without an answer
    in it has failed.
    """
    failed = {"failed": "the sample failed"}
    return {
        (name, request.item): GivenAnswer.parse((entry or {}).get(name, failed))
        for name in request.asked_models
    }


class VerdictRow(TypedDict):
    """The verdict of one judgment.

    `podium.scorers.judging.build_verdict_row` adds further columns.

    Attributes:
        order: as in `KeptJudgment`.
        repeat: as in `KeptJudgment`.
        judge: as in `KeptJudgment`.
        attempts: as in `KeptJudgment`.
        credit: the credit of model_a, in [0, 1]; None if the judgment is unparsed.
        words: the judge's reply where the sample's store has none, as with `pairwise`.
    """

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    order: str
    repeat: int
    judge: str
    attempts: NotRequired[int]
    credit: float | None
    words: NotRequired[str]


class BattleVerdict(LogContents):
    """The verdict on one battle, with the fields of the battle that its score repeats.

    The fields from `item` to `length_b` are those of `BattleMetadata`.

    Attributes:
        margin: by how much model_a is better, on the scale of the realization; None if unknown.
        prompt_hash: hash of the judge's prompts.
        identical: whether the responses are identical, so that the battle is a tie without a call.
        missing: why no judge was asked; such a battle has no judgments.
        merging: the settings by which the judgments were merged (`one_sided`, `rule`, `quorum`),
            without those that are defaults.
        response_b: the response of a reference that `pairwise` compared: the sample has only the
            other one. A transcript is not repeated here: the score has it under `transcripts`.
        judges: the records of the judges by name, as `JudgeRecord.to_json` writes them.
        judgments: the verdicts of the judgments that were made for this score.
        credit: the merged credit of model_a, in [0, 1]; None if the battle is unparsed.
    """

    item: str
    response: int | None = None
    model_a: str
    model_b: str
    first: str | None = None
    category: str | None = None
    group: str | None = None
    length_a: int | None = None
    length_b: int | None = None
    margin: float | None = None
    prompt_hash: str | None = None
    identical: bool | None = None
    missing: str | None = None
    merging: dict[str, Any] | None = None
    response_b: str | None = None
    judges: dict[str, dict[str, Any]] = {}
    judgments: list[VerdictRow]
    credit: float | None = None


class Columns(LogContents):
    """Rows that are stored by column, which takes a fifth of the space.

    Attributes:
        rows: number of rows.
        same: the value of each column that has one value in all rows.
        columns: the values of each other column.
    """

    rows: int
    same: dict[str, Any]
    columns: dict[str, list[Any]]

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        """Raise ValueError if a column has more or fewer values than there are rows."""
        for name, values in self.columns.items():
            if len(values) != self.rows:
                raise ValueError(f"column {name!r} does not have {self.rows} rows")
        return self

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> "Columns":
        """Build columns from rows. A value that is the same in all rows is stored once.

        A field that a row lacks counts as None.
        """
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {}
        for name in names:
            columns[name] = [row.get(name) for row in rows]
        same = {}
        for name, values in columns.items():
            first = values[0]
            if all(value == first for value in values):
                same[name] = first
        varying = {name: values for name, values in columns.items() if name not in same}
        return cls(rows=len(rows), same=same, columns=varying)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the rows, each with a key per column. A field that a row did not have is None."""
        rows = []
        for k in range(self.rows):
            varying = {name: values[k] for name, values in self.columns.items()}
            rows.append({**self.same, **varying})
        return rows


class PackVerdicts(LogContents):
    """The verdicts on the battles of a pack.

    Attributes:
        battles: a row per battle, with its credit.
        judgments: a row per judgment; `battle` is the index of its row in `battles`.
        judges: the records of the judges by name, as `JudgeRecord.to_json` writes them.
    """

    battles: Columns
    judgments: Columns
    judges: dict[str, dict[str, Any]] = {}

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        """Raise ValueError if the battles, or the judgments, have rows and lack a needed column."""
        for columns, needed in (
            (self.battles, {"item", "model_a", "credit"}),
            (self.judgments, {"battle", "order"}),
        ):
            lacking_columns = needed - {*columns.same, *columns.columns}
            if columns.rows and lacking_columns:
                raise ValueError(f"column {min(lacking_columns)!r} is missing")
        return self

    @classmethod
    def from_verdicts(cls, verdicts: Sequence[BattleVerdict]) -> "PackVerdicts":
        """Return what the score of a pack keeps of the verdicts on its battles, in their order."""
        battles: list[dict[str, Any]] = []
        rows: list[dict[str, Any]] = []
        judges: dict[str, dict[str, Any]] = {}
        for k, verdict in enumerate(verdicts):
            row = verdict.to_log()
            judges |= row.pop("judges", {})
            rows += [{"battle": k, **judgment} for judgment in row.pop("judgments")]
            battles.append(row)
        return cls(
            battles=Columns.from_rows(battles), judgments=Columns.from_rows(rows), judges=judges
        )


def verdict_rows_in(score: Score) -> list[dict[str, Any]]:
    """Return a row per judgment of the verdicts in a score; empty if podium did not write it.

    A row has the fields of the judgment and of its battle (`BattleVerdict`), without `judgments`,
    `judges`, `first`, `missing`, `merging`, `response_b` and `words`. `credit` is that of the
    judgment.

    Raises:
        DataError: podium's entry in the score is damaged.
    """
    battles, rows = _battles_and_judgments(score)
    unwanted = ("judgments", "judges", "credit", "first", "missing", "merging", "response_b")
    for battle in battles:
        for name in unwanted:
            battle.pop(name, None)
    for row in rows:
        row.pop("words", None)
    return [{**battles[row.pop("battle")], **row} for row in rows]


def battles_in_score(score: Score) -> list[dict[str, Any]]:
    """Return the fields of each battle in a score; empty if podium did not write it.

    The keys are those of `BattleVerdict` that were written. Battles about which no judge was asked
    are among the battles (`missing`).

    Raises:
        DataError: podium's entry in the score is damaged.
    """
    battles, _ = _battles_and_judgments(score)
    return battles


def reference_texts_in(score: Score) -> Iterator[dict[str, Any]]:
    """Yield the battles of `pairwise` in a score with the texts of their references.

    A row has these keys:

    - `item`, `response` (None for the first response), `model_a` and `model_b`.
    - `response_b`: the text that the judge was shown of model_b. It is None in scores of older
      versions, unless it is a transcript, and in battles about which no judge was asked.
    - `transcript`: True, only if the text is a transcript.
    - `judgments`: a list with `order`, `judge` and `words` (the reply) of each judgment whose reply
      the score has.
    """
    transcripts = (score.metadata or {}).get(TRANSCRIPTS) or {}
    battles, judgments = _battles_and_judgments(score)
    replies: list[list[dict[str, Any]]] = [[] for _ in battles]
    for judgment in judgments:
        if judgment.get("words"):
            facts = {name: judgment.get(name) for name in ("order", "judge", "words")}
            replies[judgment["battle"]].append(facts)
    for battle, judgments_of_battle in zip(battles, replies, strict=True):
        row: dict[str, Any] = {"judgments": judgments_of_battle}
        row |= {name: battle.get(name) for name in ("item", "response", "model_a", "model_b")}
        text = battle.get("response_b")
        turns = transcripts.get(battle["model_b"])
        if turns is not None:
            pieces = [piece for turn in turns.values() for piece in turn.items()]
            yield {**row, "response_b": write_pieces(pieces), "transcript": True}
        else:
            yield {**row, "response_b": text}


def _battles_and_judgments(score: Score) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the battles in a score, and its judgments.

    A judgment has the index of its battle in the first list under the key `battle`. Both lists are
    empty if podium did not write the score.

    Raises:
        DataError: podium's entry in the score is damaged.
    """
    entry = (score.metadata or {}).get(NAMESPACE)
    if not isinstance(entry, Mapping):
        return [], []
    if BATTLES in entry:
        pack = PackVerdicts.parse(entry)
        return pack.battles.to_rows(), pack.judgments.to_rows()
    battle = BattleVerdict.parse(entry).to_log()
    return [battle], [{"battle": 0, **row} for row in battle["judgments"]]


def judges_in_score(score: Score) -> dict[str, JudgeRecord]:
    """Return the records of the judges in a score, by name; empty if podium did not write it.

    Raises:
        DataError: a record is damaged.
    """
    entry = (score.metadata or {}).get(NAMESPACE)
    return read_judges(entry.get("judges")) if isinstance(entry, Mapping) else {}


def read_judges(facts_by_name: Any) -> dict[str, JudgeRecord]:
    """Parse the records of judges that a log holds, by name of the judge.

    Args:
        facts_by_name: the records as JSON, by name; None gives an empty result.

    Raises:
        DataError: a record is damaged.
    """
    try:
        return {
            name: JudgeRecord.from_json(name, facts)
            for name, facts in (facts_by_name or {}).items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        problem = f"podium's field 'judges' is damaged ({error})"
        raise DataError(problem, remedy="run it again, or leave this log out") from None


def refused_in_score(score: Score) -> dict[str, dict[str, str]]:
    """Return the options that judges in a score refused, by name of the judge.

    For each judge, they are the server's words by option. Judges that refused none are left out.
    """
    entry = (score.metadata or {}).get(NAMESPACE)
    return refused_options(entry.get("judges") or {}) if isinstance(entry, Mapping) else {}


def round_for_lists(figure: float) -> float:
    """Return a figure with the three decimals that lists of samples have room for.

    Inspect's viewer shows all digits of a value. The full value is in the metadata of the score.
    """
    return round(figure, 3)


def credit_in(score: Score) -> float | None:
    """Return the credit of model_a that a battle's score holds; None if it is unparsed.

    The metadata hold the full credit, and the value has its first three decimals. A value that is
    not the rounded credit of the metadata was edited by the user, and is returned.
    """
    is_nan = score.value != score.value  # only NaN differs from itself
    if score.value is None or is_nan:
        return None
    value = score.as_float()
    entry = (score.metadata or {}).get(NAMESPACE)
    full = entry.get("credit") if isinstance(entry, Mapping) else None
    return full if full is not None and round_for_lists(full) == value else value


def kept_rankings(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rankings in the metadata of a log's results; empty for another format version."""
    entry = metadata.get(NAMESPACE)
    if not isinstance(entry, Mapping) or entry.get("podium") != FORMAT_VERSION:
        return []
    return [row for row in entry.get("rankings", ()) if isinstance(row, dict)]
