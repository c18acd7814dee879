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
    (reasons, then a letter), `labels` (five levels), `rubric` (six criteria, 1 to 10). One response
    at a time: `numeric`, `likert`, `token-probs`, `reward`."""
    tie: bool
    """Let the judge declare a tie."""
    checklist: bool
    """Write a checklist for each item once, by the role `checklist`, and show it to the judge."""
    reference: bool
    """Show the judge the reference answer of the item."""
    system: bool | str
    """Show the judge the system prompt of the item. If the role `models` is given: the text of the
    system prompt for prompts that have none."""
    template: str | None
    """File of your own prompt, in place of the packaged one."""
    temperature: float | None
    """Temperature of the judge, or of the models if the role `models` is given. By default that of
    the role, else 0 for the judge."""
    max_tokens: int | None
    """Most output tokens of a reply of the judge, or of an answer if the role `models` is given."""
    orders: Literal["both", "random", "as-given"]
    """In which orders a pair is shown: in both, or in one, random or as given."""
    repeats: int
    """How often each order is judged."""
    replies: Literal["auto", "text", "schema"]
    """Form of the judge's replies: `text`, by a JSON `schema`, or `auto`: text, and the schema if
    the text could not be parsed."""
    logprobs: Literal["auto", "required", "off"]
    """Grade credits by the token probabilities of the verdict: where the provider gives them
    (`auto`), always or never."""
    attempts: int
    """How often a judge is asked until its reply can be parsed."""
    rule: Literal["mean", "majority"]
    """How the verdicts of a jury (`--model-role judge=[a,b,c]`) are merged."""
    quorum: int | None
    """Fewest judges of a jury whose replies must be readable, else the battle is unparsed; more
    than half of them by default."""
    one_sided: Literal["unparsed", "keep"]
    """Whether a battle with one readable order is unparsed, or keeps that verdict."""
    identical: Literal["tie", "judge"]
    """Whether a battle of two responses that are the same text, white space at the ends aside, is
    a tie without a call, or is judged like any other."""


class RunOptions(JudgeOptions, total=False):
    """What is played, at which cost, and what the judge is shown of the responses."""

    models: str | Sequence[str] | None
    """Play only these models."""
    limit: int | None
    """Most items, drawn at random by the seed; all by default."""
    category: str | Sequence[str] | None
    """Play only the items of this category."""
    seed: int
    """Seed of all draws, 0 or more."""
    max_battles: int | None
    """Most battles; by default as many as the tournament plays."""
    shard: str | None
    """One of several processes, as `2/4`: play the battles on its part of the items."""
    pack: bool | Literal["auto"]
    """Make one sample per item instead of one per battle; `auto`: from 1,000 battles on."""
    prompts: str | Sequence[str]
    """Files, tasks or datasets whose prompts the models of the role `models` answer."""
    answers: Literal["on-demand", "first"]
    """When models of the role `models` answer: before their first battle on an item, or `first`:
    before all battles, one model after the other."""
    max_cost: float | None
    """Most money that answers and verdicts may cost together; no limit by default."""
    prices: Mapping[str, Sequence[float]] | None
    """By model: prices of a million input tokens and of a million output tokens. By default those
    that Inspect knows."""
    judges: str | Sequence[Any]
    """Which judges judge a battle: `all`, or `rotate`: one in turn, with weights as
    `rotate:2,1,1`."""
    overlap: float
    """With `judges=rotate`: share of the battles, in [0, 1], that all judges judge."""
    cache: bool
    """Take replies to calls that were made before from Inspect's cache."""
    call_timeout: float | None
    """Seconds that a call to a judge or model may take, else it has failed (null: no limit). Each
    attempt of a call that is repeated has this limit; calls in a provider's batch have none."""
    reask: str | None
    """A log: repeat its calls whose replies could not be parsed, and keep its other replies."""
    earlier: str | None
    """A log or verdicts of models that were rated before; newcomers join them (`ring`, `swim`)."""
    reasoning: Literal["strip", "keep"]
    """Whether a model's reasoning (`<think>` and the marks of other families) is removed from its
    response or shown to the judge."""
    show: Literal["auto", "transcript", "answer"]
    """What the judge sees of an agent: the transcript where tools were called (`auto`), always, or
    the last message."""
    transcript_tokens: int | None
    """Most tokens of a transcript; by default 8,000, or less if the judge's context is smaller."""
    allow: str | Sequence[str]
    """Accept a finding that is an error otherwise: `questions`, responses to different questions
    under the same ids."""
    answered_by: str | Sequence[str] | None
    """Play only the items that the files of this model, or of one of these, contain."""
