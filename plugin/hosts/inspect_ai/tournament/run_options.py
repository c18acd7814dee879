"""Options that every tournament takes in Inspect (`-T NAME=VALUE`), with their descriptions.

`docs/make_options.py` writes the descriptions below each name into docs/options.md. Inspect
imports this module for every command, so that it imports nothing of podium.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class JudgeOptions(TypedDict, total=False):
    """How the judge is asked, and how its replies are merged to a verdict."""

    realization: str
    """How the judge is asked (`podium list scorers`). Pairwise: `direct` (one letter), `cot`
    (reasons, then a letter), `labels` (five levels), `rubric` (six criteria, 1 to 10). One
    response at a time: `numeric`, `likert`, `token-probs`, `reward`."""
    tie: bool
    """Let the judge declare a tie."""
    checklist: bool
    """Write a checklist for each item once, by the role `checklist`, and show it to the judge."""
    reference: bool
    """Show the judge the reference answer of the item."""
    system: bool | str
    """Show the judge the system prompt of the item. If the role `models` is given, this may also be
    a text: the system prompt of items that have none."""
    template: str | None
    """File of your own prompt, in place of the packaged one."""
    temperature: float | None
    """Temperature of the judge, or of the models if the role `models` is given. By default, that of
    the role; without one, 0 for the judge."""
    max_tokens: int | None
    """Maximum number of output tokens of a reply of the judge, or of an answer if the role `models`
    is given."""
    orders: Literal["both", "random", "as-given"]
    """Orders in which a pair is shown: `both`, or one that is drawn (`random`) or that of the pair
    (`as-given`)."""
    repeats: int
    """How often each order is judged."""
    replies: Literal["auto", "text", "schema"]
    """Form of the judge's replies: `text`, JSON by a `schema`, or `auto` (`direct`, `likert` and
    `numeric`: the schema, and text if the judge takes none; others: text, and the schema if the
    text could not be parsed)."""
    logprobs: Literal["auto", "required", "off"]
    """When credits are graded by the token probabilities of the verdict: if the provider gives them
    (`auto`), always (`required`), or never (`off`)."""
    attempts: int
    """Maximum number of times that a judge is asked until its reply can be parsed."""
    rule: Literal["mean", "majority"]
    """How the verdicts of a jury (`--model-role judge=[a,b,c]`) are merged."""
    quorum: int | None
    """Minimum number of judges of a jury whose replies must be readable; with fewer, the battle is
    unparsed. By default, more than half of the judges."""
    one_sided: Literal["unparsed", "keep"]
    """Whether a battle with one readable order is unparsed, or keeps that verdict."""
    identical: Literal["tie", "judge"]
    """Whether a battle of two responses that are the same text, white space at the ends aside, is
    a tie without a call, or is judged like any other."""
    on_bad_judge: Literal["stop", "continue"]
    """What happens if, after 20 judgments or when their number has doubled, no reply could be
    parsed, or one position has won all that are no ties though either response is shown first
    (exact binomial test at 0.001), or all verdicts of 20 battles on 10 items are ties: the run
    stops, and keeps what it has, or goes on."""


class RunOptions(JudgeOptions, total=False):
    """What is played, at which cost, and what the judge is shown of the responses."""

    models: str | Sequence[str] | None
    """Play only these models."""
    limit: int | None
    """Maximum number of items, drawn at random by the seed; all by default."""
    category: str | Sequence[str] | None
    """Play only the items of this category."""
    seed: int
    """Seed of all draws, 0 or more."""
    max_battles: int | None
    """Maximum number of battles; by default, all battles of the tournament."""
    shard: str | None
    """Part of the items on which this process plays, as `2/4` for the second of four parts."""
    pack: bool | Literal["auto"]
    """Make one sample per item instead of one per battle. With `auto`, this is done from 1,000
    battles on."""
    prompts: str | Sequence[str]
    """Files, tasks or datasets with the prompts that the models of the role `models` answer."""
    answers: Literal["on-demand", "first"]
    """When models of the role `models` answer: before their first battle on an item (`on-demand`),
    or before all battles, one model after the other (`first`)."""
    max_cost: float | None
    """Maximum amount of money that answers and verdicts may cost together; no limit by default."""
    prices: Mapping[str, Sequence[float]] | None
    """Prices of a million input tokens, of a million output tokens and, third and optional, of a
    million input tokens from a provider's prompt cache, by model, as `{openai/gpt-5: [1.25, 10,
    0.125]}`. Without the third, cached tokens cost as much as others. By default, the prices that
    Inspect knows."""
    judges: str | Sequence[Any]
    """Which judges judge a battle: `all`, or one in turn (`rotate`, or with weights as
    `rotate:2,1,1`)."""
    overlap: float
    """With `judges=rotate`: share of the battles, in [0, 1], that all judges judge."""
    cache: bool
    """Take replies to calls that were made before from Inspect's cache."""
    call_timeout: float | None
    """Seconds after which a call to a judge or model has failed (null: no limit). Each attempt of a
    repeated call has this limit; calls in a provider's batch have none."""
    reask: str | None
    """A log: repeat its calls whose replies could not be parsed, and keep its other replies."""
    earlier: str | None
    """A log or verdicts of models that were rated before; newcomers join them (`ring`, `swim`)."""
    reasoning: Literal["strip", "keep"]
    """Whether a model's reasoning (`<think>` and the marks of other families) is removed from its
    response or shown to the judge."""
    show: Literal["auto", "transcript", "answer"]
    """What the judge sees of an agent: the transcript if tools were called, else the last message
    (`auto`); always the `transcript`; or only the last message (`answer`)."""
    transcript_tokens: int | None
    """Maximum number of tokens of a transcript; by default 8,000, or less if the judge's context is
    smaller."""
    allow: str | Sequence[str]
    """Findings to accept that are errors otherwise: `questions` accepts responses to different
    questions under the same ids."""
    cluster: str | None
    """Items with one value of this column vary together (passage, document, seed, template):
    `until` and the ranking take such groups as the unit. In Inspect's logs it is a key of the
    samples' metadata, in lm-eval's samples a field of the documents."""
    answered_by: str | Sequence[str] | None
    """Play only the items that this model, or at least one of these models, answered."""
