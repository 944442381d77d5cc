"""The key of a draft: made of the roles of columns, and explained part by part."""

from __future__ import annotations

from collections.abc import Iterator

from rowkey.advise.drafts.inferred_schema import InferredColumn
from rowkey.advise.drafts.roles import (
    MIN_SPREADING_VALUES,
    ColumnRoles,
    count_lost_rows,
    is_measured,
    is_prose,
)
from rowkey.design import Design
from rowkey.messages import join_names, pluralize
from rowkey.proposals import (
    BUCKETS_PER_SERVER,
    PER_BUCKET,
    KeyProposal,
    build_bucket,
    build_ordering_term,
    build_salt,
    is_spreading_term,
)
from rowkey.schema import FieldRef, FunctionCall, Term, find_field_refs, format_key

DIGEST_BYTES = 8
"""Bytes of a digest: a million values meet with odds of 3 in 100 million."""
VALUE_COUNT_RULES = ("few-leading-values", "hot-entity", "one-hot-row")
"""Rules that tell how many values lead a key."""


def build_first_key(roles: ColumnRoles, servers: int) -> KeyProposal:
    """Return the key that the search begins with: a bucket, the entity, its latest rows first.

    Args:
        roles: what the columns are for.
        servers: region servers.
    """
    buckets = BUCKETS_PER_SERVER * servers
    extras = [one for one in roles.extra_columns if not is_measured(one)]
    extras = [one for one in extras if not is_prose(one)] or extras
    spreading = [one for one in (roles.entity, *extras) if one is not None][:1]
    if not spreading and roles.time is None:
        spreading = list(roles.extra_columns)
    front = build_bucket([one.name for one in spreading], buckets) if spreading else None
    terms = (front or build_salt(buckets), *map(_build_term, roles.key_columns))
    return KeyProposal(key=format_key(terms), splits=PER_BUCKET)


def explain_key(roles: ColumnRoles, design: Design, objection: str) -> Iterator[str]:
    """Yield the reason for each part of the key of a draft, as sentences.

    Args:
        roles: what the columns are for.
        design: the draft.
        objection: what spoke against the key that the search began with; empty if nothing did.
    """
    columns = {one.name: one for one in roles.key_columns}
    for place, term in enumerate(design.key.terms):
        if place == 0 and is_spreading_term(term):
            yield _explain_front(roles, design, objection)
            continue
        column = columns[next(find_field_refs(term)).name]
        if column is roles.entity:
            why = f"rows of one {column.name} lie together"
        elif column is roles.time:
            within = f" of one {roles.entity.name}" if roles.entity is not None else ""
            why = (
                f"rows{within} are sorted by time, the latest first, so in each bucket a time "
                "range is one range of keys"
            )
        else:
            why = _explain_addition(roles, column)
        yield f"[{term}]: {why}.{_explain_digest(column, term)}"


def allow_few_values(roles: ColumnRoles, design: Design) -> dict[str, str]:
    """Return the rules to allow, with reasons, if the sample is too small to judge a key.

    Only a bucket of one field is concerned, as the sample may not show all values of the field.

    Args:
        roles: what the columns are for.
        design: the draft with the key.
    """
    names = {ref.name for ref in find_field_refs(design.key.terms[0])}
    if len(names) != 1:
        return {}
    (column,) = (one for one in roles.key_columns if one.name in names)
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


def _explain_front(roles: ColumnRoles, design: Design, objection: str) -> str:
    """Return the reason for the term that spreads the rows of a draft."""
    front, entity = design.key.terms[0], roles.entity
    names = [ref.name for ref in find_field_refs(front)]
    count = design.key.parts[0].cardinality or 0
    heavy = design.fields[names[0]].heavy_values if names else ()
    if not names:
        why = (
            "no field spreads the rows, so a random salt does; a row that is put twice may be "
            "stored under two salts"
        )
    elif heavy:
        show = design.fields[names[0]].type.format_value
        listed = ", ".join(show(value)[:24] for value in heavy)
        why = (
            f"each heavy value of {names[0]} ({listed}) is spread over several buckets, so its "
            "reads merge them; every other value has one bucket"
        )
    elif entity is not None and names == [entity.name]:
        why = f"rows of one {names[0]} share a bucket, so its reads scan one bucket"
    elif len(names) == 1:
        why = f"{names[0]} spreads the rows"
    else:
        why = f"it is computed from {join_names(names)}"
    if objection:
        why += f"; the key tried before was rejected ({objection.rstrip('.')})"
    servers = design.cluster.servers
    return f"[{front}]: {pluralize(count, 'bucket')} for {pluralize(servers, 'server')}; {why}."


def _build_term(column: InferredColumn) -> Term:
    """Return the key part of a column: of free text a digest, of a time the latest first."""
    field_type = column.field.type
    if field_type.name == "hex":
        return FieldRef(column.name, "bytes")
    if is_prose(column):
        return FunctionCall("digest", (FieldRef(column.name),), (DIGEST_BYTES,))
    is_time = field_type.unit_ns is not None
    return build_ordering_term(FieldRef(column.name), descending=is_time)


def _explain_digest(column: InferredColumn, term: Term) -> str:
    """Return a sentence on where the full value is stored, if the key has its digest."""
    if not isinstance(term, FunctionCall) or term.name != "digest":
        return ""
    size = column.facts.max_bytes or 0
    return (
        f" The full text of up to {size:,} bytes is stored in a column, because every cell "
        "repeats the key."
    )


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
