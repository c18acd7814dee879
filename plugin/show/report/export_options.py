"""Options of `podium export`, which docs/report.md explains.

The module imports nothing of podium, because `podium --help` loads it and must be fast.
"""

from dataclasses import dataclass

FORMS = ("conversational", "standard")
"""TRL's formats of preference data: lists of messages, or plain texts."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is said about the source of records.

    Attributes:
        dataset: the items' dataset on the Hugging Face hub; None if it is not said.
        task: the task of the items, where a ranking does not name it; None if it is not said.
        task_id: the task in the dataset's eval.yaml, for the hub.
        source_url: a link to verdicts or a page of the ranking, for the hub.
        developer: the developer of models that are not named DEVELOPER/MODEL.
        organization: who provides the records, for Every Eval Ever.
    """

    dataset: str | None
    task: str | None
    task_id: str
    source_url: str | None
    developer: str
    organization: str


@dataclass(frozen=True, slots=True)
class PreferenceOptions:
    """Which pairs are written as preference data, and how.

    Attributes:
        form: one of `FORMS`.
        flips: whether pairs are written whose two orders have different winners.
        ties: whether pairs are written whose credit is 0.5.
        pool: whether the verdicts of all judges on a pair make one row; else each judge's do.
    """

    form: str = FORMS[0]
    flips: bool = False
    ties: bool = False
    pool: bool = False
