"""The read cause `popular_value`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rowkey.hotspots.load_result import assign_row_codes
from rowkey.hotspots.read_contract import ReadCause
from rowkey.hotspots.read_load_result import (
    MIN_GAIN,
    ReadCauseFinding,
    ReadLoadResult,
    build_proposal_evidence,
)
from rowkey.messages import Message
from rowkey.proposals import MAX_HEAVY_VALUES, KeyProposal, is_heavy, propose_heavy_key

if TYPE_CHECKING:
    import numpy as np

MIN_EXPLAINED_SHARE = 1 / 3
"""Share of what the busiest server takes above its fair share from which a value explains it."""


class PopularValueCause(ReadCause):
    """One value of a field is asked for too often: as often as it has rows, or as `keys` says.

    More servers do not help, because its rows stay together. A cache does, or a bucket that spreads
    this value alone, where an answer reads many rows or gives all fields of the bucket.
    """

    name = "popular_value"

    @classmethod
    def recognise(cls, result: ReadLoadResult) -> ReadCauseFinding | None:
        """Return the cause if a value on the busiest server explains what it takes too much."""
        keys = result.read.keys
        if keys.shape != "sample" and len(result.read.parameter_fields) > 1:
            return None  # then combinations of values are popular
        share, field, value = _find_heaviest_value(result)
        surplus = result.busiest_share - 1 / result.servers
        if share < MIN_EXPLAINED_SHARE * surplus or not share:
            return None
        total_share = _measure_row_share(result, field, value)
        proposal = _propose_key(result, field, value, total_share)
        message = Message(
            "read_hot_spot.popular",
            "one {field} takes {share} of the sampled rows, and is asked for as often",
            field=field,
            share=f"{total_share:.0%}",
        )
        if keys.shape != "sample":
            message = Message(
                "read_hot_spot.asked",
                "it asks for one {field} in {share} of the answers, by keys = {keys}",
                field=field,
                share=f"{_measure_asked_share(result, field, value):.0%}",
                keys=f'"{keys}"',
            )
        return ReadCauseFinding(
            cls.name,
            message,
            _format_remedy(field, proposal),
            min(share / (result.busiest_share or 1.0), 1.0),
            {
                "fields": [field],
                "row_share": total_share,
                "operation_share": share,
                "proposal": build_proposal_evidence(proposal),
            },
        )


def _find_heaviest_value(result: ReadLoadResult) -> tuple[float, str, Any]:
    """Return the value on the busiest server with the largest share of the read's work.

    Returns:
        That share, the field and the value; a share of 0 if the read gives no value.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    row_servers = result.region_servers[result.row_regions]
    rows = result.rows.filter(pa.array(row_servers == result.busiest_server))
    found: list[tuple[float, str, Any]] = []
    for field in result.given_fields:
        values = pc.value_counts(rows.column(field))
        if len(values):
            place = int(np.argmax(values.field("counts").to_numpy()))
            count = values.field("counts")[place].as_py()
            share = _estimate_cost_share(result, field, count)
            found.append((share, field, values.field("values")[place]))
    return max(found, key=lambda one: one[:2], default=(0.0, "", None))


def _estimate_cost_share(result: ReadLoadResult, field: str, count: int) -> float:
    """Return the share of a read's work that answers for one value take.

    Args:
        result: the load of the read.
        field: the field whose value it gives.
        count: the sampled rows with that value.
    """
    import pyarrow.compute as pc

    counts = pc.value_counts(result.rows.column(field)).field("counts").to_numpy()
    work = _compute_work(result, counts)
    return float(work[(counts == count).argmax()] / work.sum())


def _measure_row_share(result: ReadLoadResult, field: str, value: Any) -> float:
    """Return the share of the sampled rows that have a value."""
    import pyarrow.compute as pc

    rows_with_value = pc.sum(pc.equal(result.rows.column(field), value)).as_py() or 0
    return float(rows_with_value / max(result.rows.num_rows, 1))


def _measure_asked_share(result: ReadLoadResult, field: str, value: Any) -> float:
    """Return the share of the answers that ask for a value."""
    import pyarrow.compute as pc

    found = pc.value_counts(result.rows.column(field))
    shares = result.read.keys.compute_shares(found.field("counts").to_numpy())
    return float(shares[pc.index(found.field("values"), value).as_py()])


def _propose_key(
    result: ReadLoadResult, field: str, value: Any, share: float
) -> KeyProposal | None:
    """Propose a key that spreads a value; None if its server would gain too little."""
    if field not in result.design.key.fields or not is_heavy(share, result.servers):
        return None
    plain = value.as_py()
    known = result.facts[field].heaviest_values if field in result.facts else ()
    others = [one for one in known if one[0] != plain and is_heavy(one[1], result.servers)]
    heavy = [(plain, share), *others][:MAX_HEAVY_VALUES]
    proposal = propose_heavy_key(result.design, result.facts, (field,), heavy)
    if proposal is None:
        return None
    expected = _estimate_spread_load(
        result, field, [one for one, _ in heavy], result.count_ranges(proposal)
    )
    return proposal if result.busiest_operations >= MIN_GAIN * expected else None


def _estimate_spread_load(
    result: ReadLoadResult, field: str, heavy_values: list[Any], ranges: float
) -> float:
    """Return the operations of a mean answer on the busiest server if some values are spread.

    Args:
        result: the load of the read.
        field: the field.
        heavy_values: its values whose rows lie on all servers, once they are spread.
        ranges: the ranges of an answer for one of them.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    column = result.rows.column(field)
    codes = assign_row_codes(result.rows, (field,))
    counts = np.bincount(codes)
    work = _compute_work(result, counts)
    row_work, row_servers = (work / counts)[codes], result.region_servers[result.row_regions]
    measured = result.server_operations / np.bincount(row_servers, row_work, result.servers).clip(1)
    row_work *= measured[row_servers]
    is_heavy_row = np.asarray(pc.is_in(column, value_set=pa.array(heavy_values, column.type)))
    asked = float((result.read.keys.compute_shares(counts) / counts)[codes][is_heavy_row].sum())
    row_operations = max(float(row_work[is_heavy_row].sum()) - asked, 0.0)
    others = np.bincount(row_servers[~is_heavy_row], row_work[~is_heavy_row], result.servers)
    return float((asked * ranges + row_operations) / result.servers + others.max())


def _compute_work(result: ReadLoadResult, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what the answers for each value of a field cost, as many answers as rows.

    Without a limit each answer returns all rows of its value, unless the read gives the whole key.

    Args:
        result: the load of the read.
        counts: the sampled rows of each value.
    """
    answers: np.ndarray[Any, Any] = counts.sum() * result.read.keys.compute_shares(counts)
    is_point = set(result.design.key.fields) <= set(result.read.equality_fields)
    return answers * counts if result.read.limit is None and not is_point else answers


def _format_remedy(field: str, proposal: KeyProposal | None) -> Message:
    """Return the remedy: a cache, or a key that spreads the value."""
    if proposal is None:
        return Message(
            "read_hot_spot.popular_cached",
            "Cache the answers for this {field}; more servers do not help.",
            field=field,
        )
    return Message(
        "read_hot_spot.popular_remedy",
        'Cache the answers for this {field}, or use key = "{key}" and splits = "{splits}" with '
        "heavy = {heavy} under {field}, which spreads its rows over several buckets; more servers "
        "do not help.",
        field=field,
        key=proposal.key,
        splits=proposal.splits,
        heavy=json.dumps(proposal.heavy_values[field], ensure_ascii=False),
    )
