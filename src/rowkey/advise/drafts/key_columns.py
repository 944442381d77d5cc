"""Key columns of a draft: what the sample shows of them, for the proposal of first keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.advise.drafts.roles import count_lost_rows, is_measured, is_prose
from rowkey.messages import pluralize
from rowkey.proposals import MIN_SPREADING_VALUES, KeyColumn, propose_first_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.advise.drafts.inferred_schema import InferredColumn
    from rowkey.advise.drafts.roles import ColumnRoles
    from rowkey.proposals import FirstKeyProposal

VALUE_COUNT_RULES = ("few-leading-values", "hot-entity", "one-hot-row")
"""Rules that tell how many values lead a key."""


def propose_keys_for_roles(
    roles: ColumnRoles, servers: int, find_objection: Callable[[], str] = str
) -> Iterator[FirstKeyProposal]:
    """Yield proposed first keys for the roles of columns, the cheapest to read first.

    Args:
        roles: what the columns are for.
        servers: region servers.
        find_objection: returns what spoke against the last proposal, called if there was one.
    """
    return propose_first_keys(
        None if roles.entity is None else _build_key_column(roles.entity),
        None if roles.time is None else _build_key_column(roles.time),
        [_build_key_column(one, _explain_addition(roles, one)) for one in roles.extra_columns],
        servers,
        is_missing_time=roles.is_missing_time,
        find_objection=find_objection,
    )


def _build_key_column(column: InferredColumn, reason: str = "") -> KeyColumn:
    """Return a column of the sample as a column of the key."""
    return KeyColumn(column.field, column.facts, is_prose(column), is_measured(column), reason)


def _explain_addition(roles: ColumnRoles, column: InferredColumn) -> str:
    """Return the reason for a key column that is neither the entity nor the time."""
    if roles.key_columns == (column,):
        return f"{column.name} is different in every row of the sample"
    lost_count = count_lost_rows(roles, column)
    if not lost_count and roles.rejected_sets:
        return "without it, rows of the file overwrite each other"
    if not lost_count:
        return "it keeps rows of the same moment apart"
    rows = "row of the sample overwrites" if lost_count == 1 else "rows of the sample overwrite"
    why = f"without it {lost_count:,} {rows} another"
    if is_measured(column):
        return f"{why}; remove {column.name} from the key if such rows correct a value"
    return why


def allow_few_values(roles: ColumnRoles, proposal: FirstKeyProposal) -> dict[str, str]:
    """Return the rules to allow, with reasons, if the sample is too small to judge a proposal.

    Only a bucket of one field is concerned, as the sample may not show all values of the field.

    Args:
        roles: what the columns are for.
        proposal: the proposed key.
    """
    if len(proposal.bucket_fields) != 1:
        return {}
    (column,) = (one for one in roles.key_columns if one.name == proposal.bucket_fields[0])
    distinct, events = column.facts.distinct_count or 0, roles.schema.event_count
    if roles.is_missing_time:
        missed = roles.schema.unparsed_time_columns[0].name
        return dict.fromkeys(
            VALUE_COUNT_RULES,
            f"the key has no time yet, because {missed} has an unsupported format",
        )
    if distinct >= MIN_SPREADING_VALUES or distinct * 20 <= events:
        return {}
    why = (
        f"{pluralize(distinct, 'value')} in {pluralize(events, 'row')} do not show how many "
        "values there are"
    )
    return dict.fromkeys(VALUE_COUNT_RULES, why)
