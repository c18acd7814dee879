"""What podium writes into an Inspect log and reads back: pydantic models whose fields are the keys
in the log.

| place in the log | model |
|---|---|
| `eval.metadata` | `TournamentMetadata`, its keys beginning with `podium_` |
| `metadata` of a sample | `BattleMetadata`, `PackMetadata`, `RoundMetadata`, `RequestMetadata`, `PortionMetadata` |
| `store["podium"]` of a sample | `SampleReplies` of the judges, or a `GivenAnswer` per model |
| `metadata["podium"]` of a score | `BattleVerdict` or `PackVerdicts` |
| `results.metadata["podium"]` | a ranking as JSON, see `kept_rankings` |

Parsing raises a DataError that names the field.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NotRequired, Self

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import Score
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from typing_extensions import TypedDict

from podium.errors import DataError, named_in_errors
from podium.format_version import FORMAT_VERSION, require_format
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.scorers.judge_record import JudgeRecord
from podium.scorers.prompt import final_answer

STOPPED = "the judge is not asked any more"
"""Beginning of the error that ends a whole run."""
ROUND, REQUESTED, BATTLES = "podium round", "podium asked", "battles"
"""Keys of a sample's metadata that mark an announced round, a request for answers or a pack, not a
battle."""
AGAIN = "::again"
"""End of the id of a sample that repeats the failed calls of the sample before it."""
PORTION = "podium portion"
"""Key of a sample's metadata that marks an announced portion."""
KEYS = {
    "pairings": ROUND,
    "replaced": "podium replaced",
    "answer": "podium answer",
    "asked_models": REQUESTED,
    "portion": PORTION,
    "earlier": "podium earlier",
}
"""Keys in the log of the fields that are named otherwise here."""


class LogContents(
    BaseModel, populate_by_name=True, alias_generator=lambda name: KEYS.get(name, name)
):
    """Base of all models here; unknown keys are ignored."""

    model_config = ConfigDict(protected_namespaces=())

    @classmethod
    def parse(cls, kept: Any) -> Self:
        """Validate what a log holds."""
        try:
            return cls.model_validate(kept)
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            field = ".".join(map(str, wrong["loc"]))
            problem = (
                f"podium's field {field!r} is damaged ({wrong['msg']})" if field else wrong["msg"]
            )
            raise DataError(problem, remedy="run it again, or leave this log out") from None

    def to_log(self) -> dict[str, Any]:
        """Return the fields that were set, as a log keeps them."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class ShardMetadata(LogContents):
    """Which shard a log holds: `number` in 1..`of`; `battles` and `left_out` are those of all
    shards together."""

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
    """Metadata of a tournament's log: `left_out` and `scheduled` count battles of the first round
    without and with both responses, `planned` those of all rounds; `prompts` is a hash, `judging`
    how the judges are asked, `host` another host that plays and ranks, `ladder` what
    `podium.data.ladder.Ladder.to_dict` returns, `agents` notes on what the judge was shown of
    agents, `preferred` the model whose responses are known to be better, `jury` the judges that
    take turns."""

    format: str
    models: list[str]
    missing: dict[str, dict[str, int]] = {}
    left_out: int = 0
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


def is_tournament(log: EvalLog) -> bool:
    """Return whether a log is of a tournament, of whichever format version."""
    return not {"podium_models", "podium_entrants"}.isdisjoint(log.eval.metadata or {})


def read_tournament(log: EvalLog) -> TournamentMetadata | None:
    """Return what a log's header says of its tournament; None for an ordinary eval."""
    metadata = log.eval.metadata or {}
    if not is_tournament(log):
        return None
    version = metadata.get("podium_format", "0.1" if "podium_entrants" in metadata else None)
    require_format(version, "an Inspect log of a tournament", log.location)
    with named_in_errors(log.location):
        return TournamentMetadata.parse(metadata)


def reason_of_stop(record: EvalLog | EvalSample) -> str | None:
    """Return why a run stopped asking its judge, from the error of its log or sample; None without
    such an error."""
    message = record.error.message if record.error else ""
    return message[message.index(STOPPED) :].rstrip("\"')") if STOPPED in message else None


class ItemMetadata(LogContents):
    """The item that a sample is about; `transcript` if all responses of the run are written as
    transcripts."""

    item: str
    instruction: str
    category: str | None = None
    reference: str | None = None
    system: str | None = None
    transcript: bool = False


def _length_of(side: str) -> Callable[[dict[str, Any]], int]:
    """Return a function of a battle's fields that returns the length of an answer, without the
    turns before it."""
    return lambda own: len(final_answer(own[side]) if own["transcript"] else own[side])


class BattleMetadata(ItemMetadata):
    """A battle: two responses to one item, with the lengths in characters of answers, and of
    transcripts if shown; `judges` whose turn it is, empty if all judge; `earlier` as of
    `PackMetadata`."""

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

    def to_log(self) -> dict[str, Any]:
        """Return the fields that were set, and the lengths."""
        return super().to_log() | {"length_a": self.length_a, "length_b": self.length_b}


class PackMetadata(ItemMetadata):
    """All battles of an item and a round: model_a, model_b and maybe the model shown first;
    responses by model. In a sample that repeats the failed calls of another one, `earlier` has all
    replies on its battles so far, by epoch."""

    response: int | None = None
    earlier: "EarlierReplies | None" = None
    judges: list[str] = []
    round: int | None = None
    battles: list[list[str]]
    responses: dict[str, str]

    def to_battles(self) -> list[BattleMetadata]:
        """Return the battles of the pack, each as if it had a sample of its own."""
        common, battles = (
            self.model_dump(exclude={"battles", "responses", "earlier"}, exclude_unset=True),
            [],
        )
        for a, b, *first in self.battles:
            own: dict[str, Any] = {
                **common,
                "model_a": a,
                "model_b": b,
                **({"first": first[0]} if first else {}),
            }
            battles.append(
                BattleMetadata(**own, response_a=self.responses[a], response_b=self.responses[b])
            )
        return battles


class RoundMetadata(LogContents):
    """A round that is announced; `replaced` counts the battles and left-out battles that it
    replaces because answers failed, `answer` (last round only) is what a tournament that stops by
    itself found."""

    pairings: list[list[Any]]
    note: str = ""
    left_out: int = 0
    replaced: tuple[int, int] = (0, 0)
    answer: dict[str, Any] | None = None


class RequestMetadata(ItemMetadata):
    """A request for answers: these models are asked for a response to the item."""

    asked_models: list[str]
    pairings: list[list[Any]] = []
    media: str | None = None


class PortionMetadata(LogContents):
    """A portion that is announced: how many samples a limited cost allows next."""

    portion: int


SampleMetadata = BattleMetadata | PackMetadata | RoundMetadata | RequestMetadata | PortionMetadata


def parse_sample(metadata: Mapping[str, Any]) -> SampleMetadata:
    """Return the metadata of a tournament's sample, as the model of its kind."""
    if REQUESTED in metadata:
        return RequestMetadata.parse(metadata)
    if ROUND in metadata:
        return RoundMetadata.parse(metadata)
    if PORTION in metadata:
        return PortionMetadata.parse(metadata)
    return (PackMetadata if BATTLES in metadata else BattleMetadata).parse(metadata)


def parse_battles(metadata: Mapping[str, Any]) -> list[BattleMetadata]:
    """Return the battles of a tournament's sample; none of an announced round or a request for
    answers."""
    sample = parse_sample(metadata)
    if isinstance(sample, PackMetadata):
        return sample.to_battles()
    return [sample] if isinstance(sample, BattleMetadata) else []


class KeptReply(TypedDict):
    """A judge's reply, as `podium.scorers.judging.dump_reply` writes it."""

    text: str
    truncated: NotRequired[bool]
    tokens: NotRequired[list[Any]]
    refused: NotRequired[str]
    rejection: NotRequired[str]
    structured: NotRequired[bool]
    cost: NotRequired[float]
    failed: NotRequired[str]
    withheld: NotRequired[str]


class KeptJudgment(TypedDict):
    """One judgment: its replies, one (pairwise) or one per response, and the `mode` of token
    probabilities; `carried` if another sample of this log made its calls."""

    order: str
    repeat: int
    judge: str
    replies: list[KeptReply]
    attempts: NotRequired[int]
    mode: str
    carried: NotRequired[bool]


def has_failed(shown: KeptJudgment) -> bool:
    """Return whether a call of a judgment failed."""
    return any(reply.get("failed") for reply in shown["replies"])


class BattleReplies(LogContents):
    """The judgments of one battle, what is known of the judges by name (`JudgeRecord.to_json`), and the
    checklist if the judge was shown one."""

    judgments: list[KeptJudgment]
    judges: dict[str, dict[str, Any]] = {}
    checklist: list[str] = []

    @property
    def has_failed(self) -> bool:
        """Whether a call of the battle failed."""
        return any(map(has_failed, self.judgments))


EarlierReplies = dict[str, list[BattleReplies]]
"""Replies by epoch, each a list in the order of a sample's battles."""


class SampleReplies(BattleReplies):
    """The judges' replies on a battle, or on the `battles` of a pack, and the options with which
    they were asked."""

    judgments: list[KeptJudgment] = []
    battles: list[BattleReplies] | None = None
    options: dict[str, Any] = {}

    def to_battles(self) -> Sequence[BattleReplies]:
        """Return the replies per battle, in the order of the sample's battles."""
        return [self] if self.battles is None else self.battles


def judgments_in(sample: EvalSample) -> Iterator[tuple[BattleMetadata, KeptJudgment]]:
    """Yield the judgments that a tournament's sample asked for and got, each with its battle; none
    if no judge was asked."""
    kept = sample.store.get(NAMESPACE)
    if kept and (battles := parse_battles(sample.metadata)):
        for battle, replies in zip(battles, SampleReplies.parse(kept).to_battles(), strict=True):
            own = (
                shown
                for shown in replies.judgments
                if not (shown.get("carried") or has_failed(shown))
            )
            yield from ((battle, shown) for shown in own)


BattleMetadata.model_rebuild()
PackMetadata.model_rebuild()


class GivenAnswer(LogContents):
    """What came of asking a model: its `text`, or why it `failed`; `gave_up` if the model is not
    asked any more."""

    text: str | None = None
    failed: str | None = None
    gave_up: bool = Field(default=False, validation_alias="gave up", serialization_alias="gave up")


def parse_answers(
    request: RequestMetadata, kept: Mapping[str, Any] | None
) -> dict[tuple[str, str], GivenAnswer]:
    """Return the answers to a request by model and item."""
    failed = {"failed": "the sample failed"}
    return {
        (name, request.item): GivenAnswer.parse((kept or {}).get(name, failed))
        for name in request.asked_models
    }


class VerdictRow(TypedDict):
    """The verdict of one judgment on model_a; `podium.scorers.judging.build_verdict_row` adds
    further columns."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    order: str
    repeat: int
    judge: str
    attempts: NotRequired[int]
    credit: float | None


class BattleVerdict(LogContents):
    """The verdict on one battle, what its score repeats of the battle, and what is known of the
    judges by name (`JudgeRecord.to_json`)."""

    item: str
    response: int | None = None
    model_a: str
    model_b: str
    first: str | None = None
    category: str | None = None
    length_a: int | None = None
    length_b: int | None = None
    margin: float | None = None
    prompt_hash: str | None = None
    judges: dict[str, dict[str, Any]] = {}
    judgments: list[VerdictRow]
    credit: float | None = None


class Columns(LogContents):
    """Rows kept by column; values that are the same in all rows are kept once: a fifth of the space
    of rows."""

    rows: int
    same: dict[str, Any]
    columns: dict[str, list[Any]]

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if short := [name for name, values in self.columns.items() if len(values) != self.rows]:
            raise ValueError(f"column {short[0]!r} does not have {self.rows} rows")
        return self

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> "Columns":
        """Build columns of rows; fields that are the same in all rows are stored once."""
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        same = {
            name: values[0]
            for name, values in columns.items()
            if all(value == values[0] for value in values)
        }
        varying = {name: values for name, values in columns.items() if name not in same}
        return cls(rows=len(rows), same=same, columns=varying)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the rows; a value that a row lacked is None."""
        return [
            {**self.same, **{name: values[k] for name, values in self.columns.items()}}
            for k in range(self.rows)
        ]


class PackVerdicts(LogContents):
    """The verdicts of a pack: a row per battle with its credit, a row per judgment with its
    battle's number, and what is known of the judges by name (`JudgeRecord.to_json`)."""

    battles: Columns
    judgments: Columns
    judges: dict[str, dict[str, Any]] = {}

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        for kept, needed in (
            (self.battles, {"item", "model_a", "credit"}),
            (self.judgments, {"battle", "order"}),
        ):
            if kept.rows and (lacking := needed - {*kept.same, *kept.columns}):
                raise ValueError(f"column {min(lacking)!r} is missing")
        return self

    @classmethod
    def from_verdicts(cls, verdicts: Sequence[BattleVerdict]) -> "PackVerdicts":
        """Build the entry of a pack's score from the verdicts on its battles."""
        kept, rows = [], []
        judges: dict[str, dict[str, Any]] = {}
        for k, verdict in enumerate(verdicts):
            row = verdict.to_log()
            judges |= row.pop("judges", {})
            rows += [{"battle": k, **judgment} for judgment in row.pop("judgments")]
            kept.append(row)
        return cls(
            battles=Columns.from_rows(kept), judgments=Columns.from_rows(rows), judges=judges
        )


def verdict_rows_in(score: Score) -> list[dict[str, Any]]:
    """Return the verdicts that podium's scorers keep in a score, a row per judgment; none for other
    scores."""
    kept = (score.metadata or {}).get(NAMESPACE)
    if not isinstance(kept, Mapping):
        return []
    if BATTLES in kept:
        pack = PackVerdicts.parse(kept)
        battles, rows = pack.battles.to_rows(), pack.judgments.to_rows()
    else:
        battles = [BattleVerdict.parse(kept).to_log()]
        rows = [{"battle": 0, **row} for row in battles[0]["judgments"]]
    unwanted = ("judgments", "judges", "credit", "first")
    common = [
        {name: value for name, value in battle.items() if name not in unwanted}
        for battle in battles
    ]
    return [{**common[row.pop("battle")], **row} for row in rows]


def judges_in_score(score: Score) -> dict[str, JudgeRecord]:
    """Return what the verdicts in a score say of their judges, by name; empty for other scores."""
    kept = (score.metadata or {}).get(NAMESPACE)
    return read_judges(kept.get("judges")) if isinstance(kept, Mapping) else {}


def read_judges(kept: Any) -> dict[str, JudgeRecord]:
    """Return the judges of a log, kept by name; DataError if they are damaged."""
    try:
        return {name: JudgeRecord.from_json(name, own) for name, own in (kept or {}).items()}
    except (AttributeError, TypeError, ValueError) as error:
        problem = f"podium's field 'judges' is damaged ({error})"
        raise DataError(problem, remedy="run it again, or leave this log out") from None


def credit_in(score: Score) -> float | None:
    """Return the credit of model_a that a battle's score holds; None if it is unparsed."""
    return None if score.value is None or score.value != score.value else score.as_float()


def kept_rankings(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rankings of this format version that the metadata of a log's results hold."""
    kept = metadata.get(NAMESPACE)
    if not isinstance(kept, Mapping) or kept.get("podium") != FORMAT_VERSION:
        return []
    return [row for row in kept.get("rankings", ()) if isinstance(row, dict)]
