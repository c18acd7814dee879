"""Check the groups of items of responses (`cluster=`), such as passages or documents."""

from dataclasses import replace

from podium.data.item_columns import COLUMNS_OF_VERDICTS
from podium.errors import UsageError
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.responses.collection import Responses
from podium.wording import quantity, some, some_paths


def with_groups(responses: Responses, cluster: str | None, *, required: bool) -> Responses:
    """Return responses whose items have groups, with the column of the groups.

    They are returned unchanged if there is no column or no item.

    Args:
        responses: the responses; their items have the groups that were read.
        cluster: the column that was read; None if none was.
        required: whether the user named the column. If not, it is that of the logs' own standard
            errors, and items without groups are independent; a note says why.

    Raises:
        UsageError: the column is required and gives no groups: it cannot be of groups, an item has
            no value, or all have the same one.
    """
    if cluster is None or not responses.items:
        return responses
    try:
        _refuse_no_groups(responses, cluster)
    except UsageError as error:
        if required:
            raise
        note = Notice("groups-of-log-unused", {"column": cluster, "why": str(error)})
        items = tuple(replace(item, group=None) for item in responses.items)
        return replace(responses, items=items, notes=(*responses.notes, note))
    return replace(responses, cluster=cluster)


def _refuse_no_groups(responses: Responses, cluster: str) -> None:
    """Raise UsageError if a column gives no groups of the items, or not of all of them.

    A column of verdicts, and one with the same value for all items, gives no groups.
    """
    option = option_text("cluster", cluster, kind="argument")
    if cluster in COLUMNS_OF_VERDICTS:
        remedy = "name a column of the items' groups, such as the passage or the document"
        raise UsageError(f"{option}: the column does not group items; {remedy}")
    ungrouped = [item.id for item in responses.items if item.group is None]
    if len(ungrouped) == len(responses.items):
        where = some_paths(responses.sources) or "the responses"
        remedy = (
            "name a column of the table, a key of the samples' metadata, or a field of the "
            "documents of lm-eval"
        )
        raise UsageError(f"{option}: no item in {where} has it; {remedy}")
    if ungrouped:
        items_have = quantity(len(ungrouped), "item", "has|have")
        remedy = "fill in the group of each item, or leave out these items"
        raise UsageError(f"{option}: {items_have} no value ({some(ungrouped, most=5)}); {remedy}")
    values = {item.group for item in responses.items}
    if len(values) == 1:
        [only] = values
        remedy = "intervals need at least two groups; leave the option out, or name another column"
        raise UsageError(f"{option}: all items have the value {only!r}; {remedy}")
